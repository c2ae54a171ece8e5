//! `ratlas doctor`: whether everything that answers rest on is in order.

use clap::Args;

use crate::atlas::AtlasSource;
use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::context::Context;
use crate::cli::{output, verify};
use crate::facts::model::Status;
use crate::tools::show;

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Extract everything again when something stored is wrong
    #[arg(long)]
    repair: bool,
}

/// How many shards are extracted again.
const N_SAMPLED: usize = 20;

pub fn run(context: &Context, args: &DoctorArgs) -> Result<u8> {
    let session = context.session()?;
    let repo = session.repo();
    let git = if repo.has_git() { "git" } else { "a folder without git" };
    output::print(&format!("ok: repository `{}` ({git})\n", repo.name()))?;
    let n_set =
        context.config()?.rows().iter().filter(|(_, _, origin)| *origin != crate::config::Origin::Default).count();
    output::print(&format!("ok: configuration, {} set\n", show::count(n_set, "key")))?;
    let peek = session.peek()?;
    output::print(&match peek.counts.pending {
        0 => format!("ok: store, {} bytes, every file indexed\n", peek.store_bytes),
        n => format!("ok: store, {} bytes; {} still to be indexed\n", peek.store_bytes, show::count(n, "file")),
    })?;
    let atlas = session.fresh()?;
    let damaged = atlas.view.files.iter().filter(|file| file.facts.status != Status::Ok).count();
    output::print(&format!("ok: {} indexed, {damaged} parsed in part\n", show::count(atlas.view.files.len(), "file")))?;
    let wrong = verify::differing(&session, &atlas, verify::sample(atlas.view.files.len(), N_SAMPLED))?;
    if wrong.is_empty() {
        output::print("ok: sampled shards are what their files give\n")?;
        return Ok(0);
    }
    if args.repair {
        let report = session.index(true)?;
        output::print(&format!("repaired: {} extracted again\n", show::count(report.counts.parsed, "file")))?;
        return Ok(0);
    }
    let what = format!("{} of a sample not what their files give", show::count(wrong.len(), "shard"));
    Err(Error::new(ErrorKind::Integrity, what).hint("run `ratlas doctor --repair`"))
}
