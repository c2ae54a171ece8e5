//! `ratlas index`: extracts and stores what is missing, and says what was done.

use clap::Args;
use serde_json::{Map, Value};

use crate::base::error::Result;
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::{output, progress};
use crate::report::json;

#[derive(Debug, Args)]
pub struct IndexArgs {
    /// Extract every file again, whatever the store has
    #[arg(long)]
    full: bool,
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
                ("commit", report.commit.map_or(Value::Null, Value::from)),
                ("tree", report.tree.into()),
            ]);
            output::print(&(json::compact(&report) + "\n"))?;
        }
    }
    Ok(0)
}
