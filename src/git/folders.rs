//! The folders of a worktree that may hold files of its tree: those that are not ignored.

use std::collections::BTreeSet;

use ignore::WalkBuilder;

use crate::base::path::RepoPath;
use crate::git::repo::Repo;

/// The folders that are not ignored, and `known` ones, with all that lead to them; the root too.
///
/// Stops once there are more than `max`. No symlink is followed; other repositories are borders.
pub fn worktree_folders(repo: &Repo, known: &BTreeSet<RepoPath>, max: usize) -> BTreeSet<RepoPath> {
    let root = repo.root();
    let mut folders: BTreeSet<RepoPath> = BTreeSet::from([RepoPath::root()]);
    for folder in known {
        let mut at = Some(folder.clone());
        while let Some(folder) = at.filter(|folder| folders.insert(folder.clone())) {
            at = folder.parent();
        }
    }
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .parents(false)
        .ignore(false)
        .follow_links(false)
        .filter_entry(|at| {
            at.depth() == 0
                || (at.file_type().is_some_and(|kind| kind.is_dir())
                    && at.file_name() != ".git"
                    && at.path().join(".git").symlink_metadata().is_err())
        })
        .build();
    for entry in walk.flatten() {
        if folders.len() > max {
            break;
        }
        let relative = entry.path().strip_prefix(root).ok().and_then(|path| path.to_str());
        let relative = relative.map(|path| path.replace(std::path::MAIN_SEPARATOR, "/"));
        folders.extend(relative.and_then(|path| RepoPath::new(&path)));
    }
    folders.retain(|folder| root.join(folder.as_str()).is_dir());
    folders
}
