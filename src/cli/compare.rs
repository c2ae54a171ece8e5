//! `ratlas compare`: the graph held against something else: a word search, a compiler's index.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Map, Value};

use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::query;
use crate::session::programs::read_scip;
use crate::tools::tool::Desk;
use crate::tools::{compare_scip, compare_text};

#[derive(Debug, Args)]
pub struct CompareArgs {
    #[command(subcommand)]
    command: CompareCommand,
}

#[derive(Debug, Subcommand)]
enum CompareCommand {
    /// A symbol's edges against a search for its name in the indexed files
    Text {
        /// A qualified name or its end, `path::name`, or a sym_ handle
        target: String,
        /// The file it is in, where its name alone is ambiguous
        #[arg(long)]
        file: Option<String>,
        /// Only what lies under this folder or file
        #[arg(long)]
        path: Option<String>,
        /// How many differences to list of each sort (default 50)
        #[arg(long, value_name = "N")]
        limit: Option<u64>,
        /// The form of the answer
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
    /// Every reference against a compiler's answers in a SCIP index
    Scip {
        /// The index, as scip-typescript, scip-python or scip-java write it
        file: PathBuf,
        /// Exit with 1 when there is a contradiction
        #[arg(long)]
        check: bool,
        /// How many differences to list of each sort (default 20)
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// The form of the answer
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
}

/// How many differences of each sort are listed unless told otherwise.
const DEFAULT_LIMIT: usize = 20;

pub fn run(context: &Context, args: CompareArgs) -> Result<u8> {
    match args.command {
        CompareCommand::Text { target, file, path, limit, format } => {
            let mut raw: Map<String, Value> = Map::new();
            raw.insert("qualname".to_owned(), target.into());
            for (name, value) in [("file", file.map(Value::from)), ("path", path.map(Value::from))] {
                raw.extend(value.map(|value| (name.to_owned(), value)));
            }
            raw.extend(limit.map(|limit| ("limit".to_owned(), limit.into())));
            query::ask(context, &compare_text::TOOL, &raw, format)
        }
        CompareCommand::Scip { file, check, limit, format } => {
            let (index, digest) = read_scip(&file)?;
            let desk = Desk::new(context.source()?, context.config()?.tools());
            let (answer, n_contradictions) =
                compare_scip::answer(&desk, &index, digest, limit.unwrap_or(DEFAULT_LIMIT))?;
            query::print_answer(&answer, format)?;
            if check && n_contradictions > 0 {
                let what = format!("the graph and the index contradict each other {n_contradictions} times");
                return Err(Error::new(ErrorKind::CheckFailed, what).hint("the answer lists where"));
            }
            Ok(0)
        }
    }
}
