//! `ratlas index`: extracts and stores what is missing, and says what was done.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value};

use crate::base::error::Result;
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::{output, progress};
use crate::index::compiler::Placing;
use crate::report::{json, sanitize};
use crate::tools::show;

#[derive(Debug, Args)]
pub struct IndexArgs {
    /// Extract every file again, whatever the store has
    #[arg(long)]
    full: bool,
    /// Take a compiler's answers about this tree from a SCIP index; links follow them where they hold
    #[arg(long, value_name = "FILE")]
    scip: Vec<PathBuf>,
    /// Forget what compilers said
    #[arg(long)]
    drop_scip: bool,
    /// The form of the answer
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub fn run(context: &Context, args: &IndexArgs) -> Result<u8> {
    let session = context.session()?;
    let shown = progress::start(context, "indexing");
    let report = session.index(args.full);
    drop(shown);
    let report = report?;
    if args.drop_scip {
        session.drop_scip()?;
    }
    let mut taken = Vec::new();
    for file in &args.scip {
        taken.push(session.take_scip(file)?);
    }
    let counts = report.counts;
    let n_skipped: usize = counts.skipped.values().sum();
    match args.format {
        Format::Text => {
            let mut text = format!(
                "{} files: {} indexed ({} contents parsed, {} reused), {} skipped\n",
                counts.files, counts.indexed, counts.parsed, counts.reused, n_skipped
            );
            for (reason, n) in &counts.skipped {
                text.push_str(&format!("  {n} {}\n", reason.as_str()));
            }
            for (placing, tool) in &taken {
                text.push_str(&format!(
                    "taken from {}: {} (not in this tree: {}, of other bytes: {})\n",
                    sanitize::line(tool, 80),
                    show::count(placing.n_placed, "document"),
                    placing.unknown.len(),
                    placing.misfits.len()
                ));
            }
            output::print(&text)?;
        }
        Format::Json => {
            let reasons: Map<String, Value> =
                counts.skipped.iter().map(|(reason, n)| (reason.as_str().to_owned(), (*n).into())).collect();
            let report = json::object([
                ("files", counts.files.into()),
                ("indexed", counts.indexed.into()),
                ("parsed", counts.parsed.into()),
                ("reused", counts.reused.into()),
                ("skipped", n_skipped.into()),
                ("skipped_by_reason", reasons.into()),
                ("scip", taken.iter().map(|(placing, tool)| placing_json(placing, tool)).collect()),
                ("commit", report.commit.map_or(Value::Null, Value::from)),
                ("tree", report.tree.into()),
            ]);
            output::print(&(json::compact(&report) + "\n"))?;
        }
    }
    Ok(0)
}

fn placing_json(placing: &Placing, tool: &str) -> Value {
    let paths =
        |paths: &[String]| -> Value { paths.iter().map(|path| Value::from(sanitize::line(path, 400))).collect() };
    json::object([
        ("tool", sanitize::line(tool, 80).into()),
        ("documents", placing.n_placed.into()),
        ("unknown", paths(&placing.unknown)),
        ("misfits", paths(&placing.misfits)),
    ])
}
