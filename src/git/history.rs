//! Revisions: what a name stands for, where two lines of history meet, how often paths changed.

use std::collections::BTreeMap;

use gix::bstr::BStr;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::path::RepoPath;
use crate::git::repo::Repo;
use crate::git::snapshot::decode_path;

/// Resolves a revision (`HEAD~3`, a branch, a tag, a commit) to its commit, in hex.
///
/// # Errors
/// `UnknownRevision`, with the command that fetches more history where the clone is shallow;
/// `NotARepository` without git.
pub fn resolve(repo: &Repo, revision: &str) -> Result<String> {
    let local = repo.local()?;
    let found = local
        .rev_parse_single(BStr::new(revision.as_bytes()))
        .and_then(|id| id.object())
        .and_then(|object| object.peel_to_commit());
    match found {
        Ok(commit) => Ok(commit.id.to_string()),
        Err(cause) => {
            // Git libraries' words for it name their own steps, not what the user typed.
            tracing::debug!("`{revision}` is no revision: {cause}");
            Err(unknown(&local, format!("no revision `{revision}`")))
        }
    }
}

/// The tree that a revision names, where it is no commit; git's empty tree is one everywhere.
pub(crate) fn resolve_tree(local: &gix::Repository, revision: &str) -> Option<gix::ObjectId> {
    let empty = local.object_hash().empty_tree();
    if gix::ObjectId::from_hex(revision.as_bytes()).is_ok_and(|id| id == empty) {
        return Some(empty);
    }
    let found = local.rev_parse_single(BStr::new(revision.as_bytes())).ok()?.object().ok()?;
    found.peel_to_tree().ok().map(|tree| tree.id)
}

/// The best common ancestor of two revisions, in hex.
///
/// # Errors
/// As [`resolve`], and `UnknownRevision` when there is none.
pub fn merge_base(repo: &Repo, one: &str, other: &str) -> Result<String> {
    let ids = [resolve(repo, one)?, resolve(repo, other)?];
    let mut local = repo.local()?;
    local.object_cache_size_if_unset(4 << 20);
    let parse = |hex: &str| gix::ObjectId::from_hex(hex.as_bytes());
    let base = parse(&ids[0]).and_then(|a| Ok((a, parse(&ids[1])?))).and_then(|(a, b)| local.merge_base(a, b));
    let what = format!("no merge base of `{one}` and `{other}`");
    match base {
        Ok(Some(base)) => Ok(base.to_string()),
        Ok(None) => Err(unknown(&local, what)),
        Err(cause) => {
            tracing::debug!("{what}: {cause}");
            Err(unknown(&local, what))
        }
    }
}

/// HEAD's commit in hex; `None` before the first commit.
pub(crate) fn head(local: &gix::Repository) -> Result<Option<String>> {
    let broken = |source| {
        Error::new(ErrorKind::Git, "cannot read `HEAD`").hint("`git status` says what is wrong with it").source(source)
    };
    let head = local.head().map_err(broken)?;
    if head.is_unborn() {
        return Ok(None);
    }
    let commit = head.into_peeled_object().and_then(|object| object.peel_to_commit()).map_err(broken)?;
    Ok(Some(commit.id.to_string()))
}

/// An unknown revision, with what to type next.
fn unknown(local: &gix::Repository, what: String) -> Error {
    let hint = if local.is_shallow().unwrap_or(false) {
        "this clone is shallow: run `git fetch --deepen=200` (or `git fetch --unshallow`) and try again"
    } else {
        "`git branch --all` and `git tag` list names; a remote's branch may need `git fetch`"
    };
    Error::new(ErrorKind::UnknownRevision, what).hint(hint)
}

/// How often and how lately a path changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Churn {
    pub n_commits: u32,
    /// The time of the latest commit that changed it, in seconds since 1970.
    pub last_seconds: i64,
}

/// What is wrong when commits or trees of a history cannot be read.
pub(super) fn unread(revision: &str, source: Box<dyn std::error::Error + Send + Sync>) -> Error {
    Error::new(ErrorKind::Git, format!("cannot read the history of `{revision}`"))
        .hint("`git fsck` says what is missing")
        .source(source)
}

/// Counts the changes of each path over the last `max_commits` of a line of first parents.
///
/// Sorted by path; paths that are gone are in it too, renames are not followed. A merge counts as
/// one change. In a shallow clone the walk ends at its border, whose commit is not counted:
/// against nothing, all its files would look changed. O(commits × changed folders).
///
/// # Errors
/// As [`resolve`]; `Git` for trees that cannot be read.
pub fn churn(repo: &Repo, revision: &str, max_commits: usize) -> Result<BTreeMap<RepoPath, Churn>> {
    let unread = |source| unread(revision, source);
    let broken = |source: gix::Error| unread(Box::new(source));
    let start = resolve(repo, revision)?;
    let mut local = repo.local()?;
    local.object_cache_size_if_unset(16 << 20);
    let mut churn: BTreeMap<RepoPath, Churn> = BTreeMap::new();
    let mut next = Some(gix::ObjectId::from_hex(start.as_bytes()).map_err(broken)?);
    for _ in 0..max_commits {
        let Some(commit) = next.and_then(|id| local.find_commit(id).ok()) else { break };
        next = commit.parent_ids().next().map(|id| id.detach());
        let old = match next {
            Some(parent) => match local.find_commit(parent) {
                Ok(parent) => parent.tree().map_err(broken)?,
                Err(_) => break,
            },
            None => local.empty_tree(),
        };
        let new = commit.tree().map_err(broken)?;
        let last_seconds = commit.time().map_err(broken)?.seconds;
        let files = changed_files(&local, &old, &new).map_err(|source| unread(Box::new(source)))?;
        for path in files {
            let seen = churn.entry(path).or_insert(Churn { n_commits: 0, last_seconds });
            seen.n_commits += 1;
            seen.last_seconds = seen.last_seconds.max(last_seconds);
        }
    }
    Ok(churn)
}

/// The files that differ between two trees; equal folders are not entered.
pub(crate) fn changed_files(
    local: &gix::Repository,
    old: &gix::Tree<'_>,
    new: &gix::Tree<'_>,
) -> std::result::Result<Vec<RepoPath>, gix::diff::tree::Error> {
    use gix::diff::tree::Recorder;
    use gix::diff::tree::recorder::Change;
    let [old, new] = [old, new].map(|tree| gix::objs::TreeRefIter::from_bytes(&tree.data, tree.id.kind()));
    let mut recorder = Recorder::default();
    gix::diff::tree(old, new, &mut gix::diff::tree::State::default(), &local.objects, &mut recorder)?;
    let files = recorder.records.into_iter().filter_map(|change| {
        let (mode, path) = match change {
            Change::Addition { entry_mode, path, .. } | Change::Deletion { entry_mode, path, .. } => (entry_mode, path),
            Change::Modification { entry_mode, path, .. } => (entry_mode, path),
        };
        if mode.is_tree() { None } else { decode_path(&path).map(|(path, _)| path) }
    });
    Ok(files.collect())
}
