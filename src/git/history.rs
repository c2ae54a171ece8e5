//! Revisions: what a name stands for, and where two lines of history meet.

use gix::bstr::BStr;

use crate::base::error::{Error, ErrorKind, Result};
use crate::git::repo::Repo;

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
        Err(source) => Err(unknown(&local, format!("no revision `{revision}`")).source(source)),
    }
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
        Err(source) => Err(unknown(&local, what).source(source)),
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
