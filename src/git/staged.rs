//! The snapshot of git's index: what the next commit would hold.

use crate::base::error::{Error, ErrorKind, Result};
use crate::git::snapshot::{Place, Snapshot, finish_entries};
use crate::git::worktree::{entry, expand_sparse, rows};

/// The files of the index, those of a sparse index's folders too.
///
/// What is only intended to be added (`git add --intent-to-add`) is not in it, as it would not be in
/// the commit. It is no commit's tree, so that it names none.
///
/// # Errors
/// `CannotAnswer` where it holds an open conflict, `Git` where it cannot be read.
pub(crate) fn snapshot(git: &gix::Repository) -> Result<Snapshot> {
    let broken = |source: gix::Error| {
        Error::new(ErrorKind::Git, "cannot read git's index").hint("`git status` says what is wrong").source(source)
    };
    let index = gix::index::File::at_or_default(git.index_path(), git.object_hash(), true, Default::default());
    let index = index.map_err(broken)?;
    if let Some(open) = index.entries().iter().find(|e| e.stage_raw() != 0) {
        let path = open.path(&index);
        return Err(Error::new(ErrorKind::CannotAnswer, format!("the index holds an open conflict in `{path}`"))
            .hint("resolve it and `git add` it; `--diff WORKTREE` answers about the files on disk"));
    }
    let sparse = expand_sparse(git, &index).map_err(broken)?;
    let entries = rows(&index, &sparse)
        .iter()
        .filter(|row| !row.is_open)
        .filter_map(|row| entry(row.path, row.kind, row.id, None, Place::Object, None))
        .collect();
    Ok(Snapshot { entries: finish_entries(entries), ..Snapshot::default() })
}
