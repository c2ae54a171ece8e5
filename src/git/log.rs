//! The log: the latest commits with the files that each changed, for ranking and for histories
//! of a file. A function of (commit, shallow border).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::path::RepoPath;
use crate::git::history::{changed_files, resolve, unread};
use crate::git::repo::Repo;

/// How many commits rankings look at: some months of a busy repository, and a few milliseconds
/// for every hundred.
pub const MAX_COMMITS: usize = 1_000;

/// How many commits are walked at most for each that is kept: merges are passed over.
const MAX_WALKED: usize = 4;

/// The latest commits of a line of history. Merges are left out: what they bring is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The paths that commits name, sorted and unique.
    pub paths: Vec<RepoPath>,
    /// The names of authors, sorted and unique.
    pub authors: Vec<String>,
    /// Newest first by commit time.
    pub changes: Vec<Change>,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The commit in hex.
    pub commit: String,
    /// The commit's time, in seconds since 1970.
    pub seconds: i64,
    /// An index into [`Log::authors`].
    pub author: u32,
    /// The first line of the message.
    pub subject: String,
    /// Indices into [`Log::paths`], sorted and unique.
    pub paths: Vec<u32>,
}

impl Log {
    /// The position of a path in `paths`.
    pub fn find(&self, path: &str) -> Option<u32> {
        self.paths.binary_search_by(|known| known.as_str().cmp(path)).ok().map(|at| at as u32)
    }

    /// The commits that changed a path, newest first.
    pub fn of_path<'l>(&'l self, path: &str) -> impl Iterator<Item = &'l Change> + use<'l> {
        let at = self.find(path);
        self.changes.iter().filter(move |change| at.is_some_and(|at| change.paths.binary_search(&at).is_ok()))
    }

    /// The name of an author.
    pub fn author(&self, change: &Change) -> &str {
        self.authors.get(change.author as usize).map_or("", String::as_str)
    }
}

/// The newest `max_commits` commits that `revision` holds.
///
/// Renames are not followed. In a shallow clone the commits of its border are left out: against
/// nothing, all their files would look changed. O(commits × changed folders).
///
/// # Errors
/// As [`resolve`]; `Git` for trees that cannot be read.
pub fn log(repo: &Repo, revision: &str, max_commits: usize) -> Result<Log> {
    let unread = |source| unread(revision, source);
    let broken = |source: gix::Error| unread(Box::new(source));
    let start = resolve(repo, revision)?;
    let mut local = repo.local()?;
    local.object_cache_size_if_unset(32 << 20);
    let start = gix::ObjectId::from_hex(start.as_bytes()).map_err(broken)?;
    let mut rows: Vec<(Change, String, Vec<RepoPath>)> = Vec::new();
    let mut queue = BinaryHeap::new();
    let mut seen = BTreeSet::from([start]);
    let push = |queue: &mut BinaryHeap<(i64, Reverse<gix::ObjectId>)>, id: gix::ObjectId| {
        if let Ok(commit) = local.find_commit(id) {
            let seconds = commit.time().map_or(0, |time| time.seconds);
            queue.push((seconds, Reverse(id)));
        }
    };
    push(&mut queue, start);
    let mut n_walked = 0;
    while let Some((seconds, Reverse(id))) = queue.pop() {
        n_walked += 1;
        if rows.len() == max_commits || n_walked > max_commits * MAX_WALKED {
            break;
        }
        let Ok(commit) = local.find_commit(id) else { continue };
        let parents: Vec<gix::ObjectId> = commit.parent_ids().map(|id| id.detach()).collect();
        for parent in &parents {
            if seen.insert(*parent) {
                push(&mut queue, *parent);
            }
        }
        let old = match parents.as_slice() {
            [] => local.empty_tree(),
            [parent] => match local.find_commit(*parent) {
                Ok(parent) => parent.tree().map_err(broken)?,
                Err(_) => continue,
            },
            _ => continue,
        };
        let Ok(new) = commit.tree() else { continue };
        // A tree that a partial clone lacks says nothing; it is no reason to say nothing at all.
        let Ok(mut files) = changed_files(&local, &old, &new) else { continue };
        files.sort();
        files.dedup();
        let author = commit.author().map(|author| author.name.to_string()).unwrap_or_default();
        let subject = commit.message_raw_sloppy().to_string();
        let subject = subject.lines().next().unwrap_or_default().to_owned();
        let change = Change { commit: id.to_string(), seconds, author: 0, subject, paths: Vec::new() };
        rows.push((change, author, files));
    }
    Ok(intern(rows))
}

fn intern(rows: Vec<(Change, String, Vec<RepoPath>)>) -> Log {
    let paths: BTreeSet<&RepoPath> = rows.iter().flat_map(|(_, _, files)| files).collect();
    let authors: BTreeSet<&String> = rows.iter().map(|(_, author, _)| author).collect();
    let at_path: BTreeMap<&RepoPath, u32> = paths.iter().copied().zip(0..).collect();
    let at_author: BTreeMap<&String, u32> = authors.iter().copied().zip(0..).collect();
    let changes = rows
        .iter()
        .map(|(change, author, files)| Change {
            author: at_author[author],
            paths: files.iter().map(|file| at_path[file]).collect(),
            ..change.clone()
        })
        .collect();
    Log { paths: paths.into_iter().cloned().collect(), authors: authors.into_iter().cloned().collect(), changes }
}

/// The bytes of a file before and after a commit; `None` where it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub before: Option<Vec<u8>>,
    pub after: Option<Vec<u8>>,
}

/// What a commit made of a file.
///
/// # Errors
/// `NotARepository`, and `Git` for objects that cannot be read.
pub fn version(repo: &Repo, commit: &str, path: &RepoPath) -> Result<Version> {
    let unread = |source: Box<dyn std::error::Error + Send + Sync>| {
        Error::new(ErrorKind::Git, format!("cannot read `{path}` at `{commit}`"))
            .hint("`git fsck` says what is missing")
            .source(source)
    };
    let local = repo.local()?;
    let id = gix::ObjectId::from_hex(commit.as_bytes()).map_err(|source| unread(Box::new(source)))?;
    let commit = local.find_commit(id).map_err(|source| unread(Box::new(source)))?;
    let at = |commit: &gix::Commit<'_>| -> Option<Vec<u8>> {
        let entry = commit.tree().ok()?.lookup_entry_by_path(path.as_str()).ok()??;
        let object = entry.object().ok()?;
        (object.kind == gix::object::Kind::Blob).then(|| object.data.clone())
    };
    let before =
        commit.parent_ids().next().and_then(|id| local.find_commit(id.detach()).ok()).and_then(|parent| at(&parent));
    Ok(Version { before, after: at(&commit) })
}
