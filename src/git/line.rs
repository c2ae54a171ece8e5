//! The line of first parents, and what a commit says of itself.

use crate::base::error::{Error, ErrorKind, Result};
use crate::git::repo::Repo;
use crate::git::tree;

/// A commit and its first parents, nearest first, at most `max`; ends at the border of a shallow
/// clone and at commits that are not here.
///
/// # Errors
/// `NotARepository`; `Git` for a commit that cannot be read.
pub fn first_parents(repo: &Repo, commit: &str, max: usize) -> Result<Vec<String>> {
    let mut line = Vec::new();
    let mut next = Some(commit.to_owned());
    while let Some(commit) = next.filter(|_| line.len() < max) {
        next = match parents(repo, &commit) {
            Ok(parents) => parents.into_iter().next(),
            Err(error) if line.is_empty() => return Err(error),
            Err(_) => break,
        };
        line.push(commit);
    }
    Ok(line)
}

/// The parents of a commit, in order; in a shallow clone they need not be here.
///
/// # Errors
/// `NotARepository`; `Git` for a commit that is not here or cannot be read.
pub fn parents(repo: &Repo, commit: &str) -> Result<Vec<String>> {
    let local = repo.local()?;
    let found = gix::ObjectId::from_hex(commit.as_bytes()).ok().and_then(|id| local.find_commit(id).ok());
    let found = found.ok_or_else(|| unread(commit))?;
    Ok(found.parent_ids().map(|id| id.detach().to_string()).collect())
}

/// The tree of a commit, in hex.
///
/// # Errors
/// As [`parents`].
pub fn tree_of(repo: &Repo, commit: &str) -> Result<String> {
    Ok(tree::id_of_commit(&repo.local()?, commit)?.to_string())
}

/// The message of a commit that is here.
///
/// # Errors
/// As [`parents`].
pub fn message(repo: &Repo, commit: &str) -> Result<String> {
    let local = repo.local()?;
    let found = gix::ObjectId::from_hex(commit.as_bytes()).ok().and_then(|id| local.find_commit(id).ok());
    let found = found.ok_or_else(|| unread(commit))?;
    Ok(found.message_raw().map(|message| message.to_string()).unwrap_or_default())
}

/// Whether a commit and its tree are here.
///
/// # Errors
/// `NotARepository`.
pub fn has_tree(repo: &Repo, commit: &str) -> Result<bool> {
    let local = repo.local()?;
    let tree = gix::ObjectId::from_hex(commit.as_bytes()).ok().and_then(|id| local.find_commit(id).ok());
    let tree = tree.and_then(|commit| commit.tree_id().ok().map(|id| id.detach()));
    Ok(tree.is_some_and(|tree| local.find_tree(tree).is_ok()))
}

/// Whether the clone lacks older history.
///
/// # Errors
/// `NotARepository`.
pub fn is_shallow(repo: &Repo) -> Result<bool> {
    Ok(repo.local()?.is_shallow().unwrap_or(false))
}

/// The branch that HEAD is on; `None` when it is on none.
///
/// # Errors
/// `NotARepository`; `Git` for a HEAD that cannot be read.
pub fn branch(repo: &Repo) -> Result<Option<String>> {
    let local = repo.local()?;
    let name = local.head_name().map_err(|cause| Error::new(ErrorKind::Git, "cannot read `HEAD`").source(cause))?;
    Ok(name.map(|name| name.shorten().to_string()))
}

/// The commits that tags lead to, in hex, sorted.
///
/// # Errors
/// `NotARepository`; `Git` for references that cannot be read.
pub fn tagged(repo: &Repo) -> Result<Vec<String>> {
    let local = repo.local()?;
    let unread = |cause: Box<dyn std::error::Error + Send + Sync>| {
        Error::new(ErrorKind::Git, "cannot read the tags").source(cause)
    };
    let references = local.references().map_err(|cause| unread(Box::new(cause)))?;
    let tags = references.tags().map_err(|cause| unread(Box::new(cause)))?;
    let mut commits: Vec<String> =
        tags.filter_map(|tag| Some(tag.ok()?.peel_to_id().ok()?.detach().to_string())).collect();
    commits.sort();
    commits.dedup();
    Ok(commits)
}

fn unread(commit: &str) -> Error {
    Error::new(ErrorKind::Git, format!("commit `{commit}` is not here"))
        .hint("`git fetch --deepen=200` brings older history")
}
