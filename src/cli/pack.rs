//! `ratlas pack`: loose shards into a pack, or a tree's shards into packs of their own.

use clap::Args;

use crate::base::error::Result;
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::remote::size;
use crate::cli::{output, progress};
use crate::report::json;
use crate::tools::show;

#[derive(Debug, Args)]
pub struct PackArgs {
    /// Pack every shard of the tree on disk, in the same bytes for everybody with this binary
    #[arg(long)]
    all: bool,
    /// The form of the answer
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub fn run(context: &Context, args: &PackArgs) -> Result<u8> {
    let session = context.session()?;
    let shown = progress::start(context, "packing");
    let packed = match args.all {
        true => {
            session.index(false)?;
            session.shards().pack_all(&session.keys()?)?
        }
        false => session.shards().pack_loose()?,
    };
    drop(shown);
    match args.format {
        Format::Text => {
            let mut text = format!(
                "{} in {} ({}), {} replaced\n",
                show::count(packed.n_rows, "shard"),
                show::count(packed.packs.len(), "pack"),
                size(packed.n_bytes),
                show::count(packed.n_replaced, "file")
            );
            packed.packs.iter().for_each(|name| text.push_str(&format!("  {name}\n")));
            output::print(&text)?;
        }
        Format::Json => {
            let report = json::object([
                ("packs", packed.packs.clone().into()),
                ("shards", packed.n_rows.into()),
                ("bytes", packed.n_bytes.into()),
                ("replaced", packed.n_replaced.into()),
            ]);
            output::print(&(json::compact(&report) + "\n"))?;
        }
    }
    Ok(0)
}
