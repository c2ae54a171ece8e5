//! What a repository still points at: the files of every branch, tag and HEAD, and those of its
//! worktrees as they are on disk now.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::BlobId;
use crate::git::blob;
use crate::git::repo::Repo;
use crate::git::snapshot::{Snapshot, SnapshotOptions};
use crate::git::stat::StatCache;

/// How deep a tree may nest; deeper ones are not looked into.
const MAX_DEPTH: usize = 4_096;

/// Names the last part of the path and the blob of every file that a branch, a tag, another
/// reference, or the HEAD, index and disk of any worktree holds; repeatedly, in no order.
///
/// Trees that are in several commits are walked once. What is not among git's objects (partial
/// and shallow clones) is passed over, as is a worktree whose folder is gone.
///
/// # Errors
/// `Git` when references cannot be listed or this worktree cannot be read.
pub fn files(repo: &Repo, options: &SnapshotOptions<'_>, keep: &mut dyn FnMut(&str, BlobId)) -> Result<()> {
    if repo.has_git() {
        let git = repo.local()?;
        let mut seen = HashSet::new();
        for tip in tips(&git)? {
            walk(&git, tip, &mut seen, keep);
        }
        for folder in other_worktrees(&git, repo) {
            let Ok(other) = Repo::open(&folder) else { continue };
            if let Ok(snapshot) = Snapshot::worktree(&other, options, &mut StatCache::default()) {
                keep_snapshot(&snapshot, keep);
            }
        }
    }
    keep_snapshot(&Snapshot::worktree(repo, options, &mut StatCache::default())?, keep);
    Ok(())
}

fn keep_snapshot(snapshot: &Snapshot, keep: &mut dyn FnMut(&str, BlobId)) {
    for entry in &snapshot.entries {
        keep(entry.path.file_name(), entry.blob);
    }
}

/// The trees that references and HEADs lead to.
fn tips(git: &gix::Repository) -> Result<Vec<gix::ObjectId>> {
    let broken = |source: gix::Error| Error::new(ErrorKind::Git, "cannot list git's references").source(source);
    let mut commits = Vec::new();
    let references = git.references().map_err(broken)?;
    for reference in references.all().map_err(broken)? {
        // A broken reference holds nothing.
        let Ok(mut reference) = reference else { continue };
        commits.extend(reference.peel_to_id().ok().map(gix::Id::detach));
    }
    if let Ok(worktrees) = git.worktrees_including_main() {
        commits.extend(worktrees.flatten().filter_map(|tree| tree.head_id().ok().map(gix::Id::detach)));
    }
    commits.extend(git.head_id().ok().map(gix::Id::detach));
    commits.sort_unstable();
    commits.dedup();
    let tree_of = |id: gix::ObjectId| Some(git.find_object(id).ok()?.peel_to_tree().ok()?.id);
    Ok(commits.into_iter().filter_map(tree_of).collect())
}

/// Names the files below a tree, each folder once.
fn walk(
    git: &gix::Repository,
    root: gix::ObjectId,
    seen: &mut HashSet<gix::ObjectId>,
    keep: &mut dyn FnMut(&str, BlobId),
) {
    let mut waiting = vec![(root, 0)];
    while let Some((id, depth)) = waiting.pop() {
        if depth > MAX_DEPTH || !seen.insert(id) {
            continue;
        }
        let Ok(tree) = git.find_tree(id) else { continue };
        let Ok(decoded) = tree.decode() else { continue };
        for entry in &decoded.entries {
            if entry.mode.is_tree() {
                waiting.push((entry.oid.to_owned(), depth + 1));
            } else if entry.mode.is_blob() {
                keep(&String::from_utf8_lossy(entry.filename), blob::from_oid(entry.oid));
            }
        }
    }
}

/// The folders of the repository's worktrees other than this one.
fn other_worktrees(git: &gix::Repository, repo: &Repo) -> Vec<PathBuf> {
    let Ok(worktrees) = git.worktrees_including_main() else { return Vec::new() };
    worktrees
        .flatten()
        .filter_map(|tree| tree.workdir()?.canonicalize().ok())
        .filter(|folder| folder != repo.root())
        .collect()
}
