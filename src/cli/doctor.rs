//! `ratlas doctor`: whether everything that answers rest on is in order.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::Args;

use crate::atlas::{Atlas, AtlasSource};
use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::context::Context;
use crate::cli::{output, verify};
use crate::facts::model::Status;
use crate::graph::edge::Graph;
use crate::graph::relink::Linked;
use crate::report::sanitize;
use crate::session::Session;
use crate::store::inventory::Checked;
use crate::tools::show;
use crate::view::View;

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Remove what is damaged and extract everything again when something stored is wrong
    #[arg(long)]
    repair: bool,
}

/// How many shards are extracted again.
const N_SAMPLED: usize = 20;

/// How many files are taken out of the tree and put back, to link incrementally.
const N_RELINKED: usize = 5;

pub fn run(context: &Context, args: &DoctorArgs) -> Result<u8> {
    let session = context.session()?;
    let repo = session.repo();
    let git = if repo.has_git() { "git" } else { "a folder without git" };
    output::print(&format!("ok: repository `{}` ({git})\n", repo.name()))?;
    let n_set =
        context.config()?.rows().iter().filter(|(_, _, origin)| *origin != crate::config::Origin::Default).count();
    output::print(&format!("ok: configuration, {} set\n", show::count(n_set, "key")))?;
    let checked = session.check_store();
    let mut n_wrong = checked.damaged.len();
    put_store(&session, &checked, args.repair)?;
    if !args.repair && checked.damaged.iter().any(|damaged| damaged.is_in_the_way()) {
        // Nothing can be indexed as long as it stands there.
        return Err(not_in_order(n_wrong));
    }
    let peek = session.peek()?;
    output::print(&match peek.counts.pending {
        0 => format!("ok: store, {} bytes, every file indexed\n", peek.store_bytes),
        n => format!("ok: store, {} bytes; {} still to be indexed\n", peek.store_bytes, show::count(n, "file")),
    })?;
    let atlas = session.fresh()?;
    let damaged = atlas.view.indices().filter(|file| atlas.view.status(*file) != Status::Ok).count();
    output::print(&format!("ok: {} indexed, {damaged} parsed in part\n", show::count(atlas.view.files.len(), "file")))?;
    let wrong = verify::differing(&session, &atlas, verify::sample(atlas.view.files.len(), N_SAMPLED))?;
    wrong.iter().try_for_each(|file| output::print(&format!("differs: {}\n", verify::name(&atlas, *file))))?;
    n_wrong += wrong.len();
    if wrong.is_empty() {
        output::print("ok: sampled shards are what their files give\n")?;
    }
    let full = session.link(&atlas.view);
    if *atlas.graph != full {
        output::print("differs: the links that were kept of this tree are not those of a full link\n")?;
        n_wrong += 1;
        if args.repair {
            session.forget_kept();
        }
    }
    let is_same = relinks(&atlas, &full);
    output::print(match is_same {
        true => "ok: incremental links are those of a full link\n",
        false => "differs: incremental links are not those of a full link\n",
    })?;
    if args.repair && n_wrong > 0 {
        let report = session.index(true)?;
        output::print(&format!("repaired: {} extracted again\n", show::count(report.counts.parsed, "file")))?;
        n_wrong = 0;
    }
    if !is_same {
        return Err(Error::new(ErrorKind::Integrity, "linking a change gives another graph than linking all")
            .hint("this is a fault of ratlas: report it; `ratlas export edges` links all files anew"));
    }
    if n_wrong > 0 {
        return Err(not_in_order(n_wrong));
    }
    Ok(0)
}

fn not_in_order(n_wrong: usize) -> Error {
    let what = format!("{} of the store not what it should be", show::count(n_wrong, "file"));
    Error::new(ErrorKind::Integrity, what).hint("run `ratlas doctor --repair`")
}

/// Says which files of the store are damaged, and removes them where asked to.
fn put_store(session: &Session, checked: &Checked, repair: bool) -> Result<()> {
    let n_checked: usize = checked.n_checked.values().sum();
    for damaged in &checked.damaged {
        let name = damaged.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        output::print(&format!(
            "damaged: {} {}: {}\n",
            damaged.kind.as_str(),
            sanitize::line(&name, 200),
            damaged.why
        ))?;
    }
    if checked.damaged.is_empty() {
        return output::print(&format!("ok: {} of the store, each whole\n", show::count(n_checked, "file")));
    }
    if repair {
        let n_removed = session.remove_damaged(&checked.damaged);
        output::print(&format!("repaired: {} removed\n", show::count(n_removed, "damaged file")))?;
    }
    Ok(())
}

/// Whether a tree that gets some of its files back is linked as it is in full.
fn relinks(atlas: &Atlas, full: &Graph) -> bool {
    let sampled: BTreeSet<usize> =
        verify::sample(atlas.view.files.len(), N_RELINKED).into_iter().map(|file| file.0 as usize).collect();
    let files = atlas.view.files.iter().enumerate().filter(|(at, _)| !sampled.contains(at));
    let without =
        View { files: files.map(|(_, file)| file.clone()).collect(), directory: None, ..(*atlas.view).clone() };
    let before = Linked::new(Arc::new(without));
    let after = before.next(Arc::clone(&atlas.view));
    *after.graph == *full
}
