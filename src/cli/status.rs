//! `ratlas status`: what is indexed of the tree as it is now. Writes nothing.

use std::sync::Arc;

use clap::Args;

use crate::atlas::{Atlas, AtlasSource, Header};
use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::{output, query};
use crate::tools::{index_status, meter, show};

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Exit with 1 when something is not indexed yet
    #[arg(long)]
    check: bool,
    /// Print the figures, those of earlier processes summed in, as Prometheus text
    #[arg(long, conflicts_with = "format")]
    metrics: bool,
    /// The form of the answer
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub fn run(context: &Context, args: &StatusArgs) -> Result<u8> {
    let session = context.session()?;
    let max_tokens = context.config()?.tools().max_tokens;
    let peek = session.peek()?;
    let n_pending = peek.counts.pending;
    let graph = session.link(&peek.view);
    let header = Header {
        repository: session.repo().name(),
        commit: peek.commit,
        tree: peek.tree,
        n_dirty: peek.dirty.len(),
        n_pending,
    };
    let atlas = Atlas { view: Arc::new(peek.view), graph: Arc::new(graph).into(), header };
    if args.metrics {
        let text = meter::prometheus(&meter::gauges(&atlas, Some(peek.store_bytes)), &session.counters());
        output::print(&text)?;
        return Ok(0);
    }
    let deleted: Vec<String> = peek.deleted.iter().map(|path| path.as_str().to_owned()).collect();
    let answer = index_status::answer(&atlas, &deleted, Some(peek.store_bytes), max_tokens);
    query::print_answer(&answer, args.format)?;
    if args.check && n_pending > 0 {
        let what = format!("{} not indexed yet", show::count(n_pending, "file"));
        return Err(Error::new(ErrorKind::CheckFailed, what).hint("run `ratlas index`"));
    }
    Ok(0)
}
