//! Snapshots: the files of a commit or of the worktree, by path, with their blob ids.

use std::cmp::Ordering;
use std::sync::OnceLock;

use crate::base::error::Result;
use crate::base::id::{BlobId, Digest};
use crate::base::path::RepoPath;
use crate::git::repo::Repo;
use crate::git::stat::StatCache;
use crate::git::{folder, history, staged, tree, worktree};

/// The files of one tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Sorted by path, unique.
    pub entries: Vec<Entry>,
    /// Paths of HEAD's tree that are not here; sorted. Empty for a commit's snapshot.
    pub deleted: Vec<RepoPath>,
    /// The commit in hex: HEAD's for the worktree. `None` before the first commit and without git.
    pub commit: Option<String>,
    /// The digest, once someone asked for it.
    pub(crate) named: Named,
}

/// A digest that is found out once. Says nothing that the entries do not say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named(OnceLock<Digest>);

impl PartialEq for Named {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Named {}

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub path: RepoPath,
    /// The bytes of the path where they are not UTF-8; `path` is then decoded lossily.
    pub raw_path: Option<Box<[u8]>>,
    pub kind: EntryKind,
    /// The id of the bytes as git would store them; of the commit, for a submodule.
    pub blob: BlobId,
    /// Bytes on disk; `None` where only git has it.
    pub len_bytes: Option<u64>,
    /// Whether it is not what HEAD's tree holds at this path. Never set in a commit's snapshot.
    pub dirty: bool,
    /// Where its bytes are read from.
    pub place: Place,
    /// Why `blob` is not the id of its bytes.
    pub trouble: Option<Trouble>,
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    File,
    Executable,
    /// Never followed; its blob is the text of its target.
    Symlink,
    /// Another repository's commit: a border.
    Submodule,
}

/// Where an entry's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// In git's object database.
    Object,
    /// In the worktree, behind git's conversions.
    Worktree,
}

/// Why an entry's blob id is not that of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    /// An external filter driver, which is never run, would change it; the id is of the raw bytes.
    Filter,
    /// It could not be read; the id is the index's, or zeros.
    Unreadable,
    /// It must not be opened; the id is the index's, or zeros.
    Private,
    /// Changed, and beyond [`MAX_HASHED_BYTES`]; the id is the index's, or zeros.
    TooLarge,
}

/// Changed files beyond this are not hashed: 64 MiB. A guess that bounds memory at one file a
/// thread; sources are far below it.
pub const MAX_HASHED_BYTES: u64 = 64 << 20;

/// How a snapshot of the worktree is taken.
pub struct SnapshotOptions<'a> {
    /// Threads; at least 1.
    pub jobs: usize,
    /// Paths whose files must never be opened.
    pub is_private: &'a (dyn Fn(&str) -> bool + Sync),
}

impl Snapshot {
    /// The files of a revision.
    ///
    /// # Errors
    /// `UnknownRevision`; `NotARepository` without git; `Git` for objects that cannot be read.
    pub fn at(repo: &Repo, revision: &str) -> Result<Self> {
        let local = repo.local()?;
        let commit = history::resolve(repo, revision)?;
        tree::snapshot(&local, &commit)
    }

    /// The files of a tree that no commit is named for (`HEAD^{tree}`, git's empty tree); `None`
    /// where the revision names none.
    ///
    /// # Errors
    /// `NotARepository` without git; `Git` for objects that cannot be read.
    pub fn of_tree(repo: &Repo, revision: &str) -> Result<Option<Self>> {
        let local = repo.local()?;
        history::resolve_tree(&local, revision).map(|id| tree::snapshot_of_tree(&local, &id, revision)).transpose()
    }

    /// The files of git's index: what the next commit would hold.
    ///
    /// # Errors
    /// `CannotAnswer` where it holds an open conflict; `NotARepository` without git; `Git`.
    pub fn staged(repo: &Repo) -> Result<Self> {
        staged::snapshot(&repo.local()?)
    }

    /// The file at a path of a commit (in hex); `None` where there is none, or no such path.
    ///
    /// # Errors
    /// `Git` when the commit's tree cannot be read; `NotARepository` without git.
    pub fn entry_at(repo: &Repo, commit: &str, path: &RepoPath) -> Result<Option<Entry>> {
        tree::entry(&repo.local()?, commit, path)
    }

    /// The files as they are on disk now: git's own set, tracked and untracked but not ignored.
    ///
    /// Staged or not, the worktree's bytes count; what sparse checkout left out has the index's.
    /// Of a bare repository, HEAD's tree. Reuses and refreshes `cache`.
    ///
    /// # Errors
    /// `Git` when the index or HEAD cannot be read; `Io` when the root cannot.
    pub fn worktree(repo: &Repo, options: &SnapshotOptions<'_>, cache: &mut StatCache) -> Result<Self> {
        if !repo.has_git() {
            return folder::snapshot(repo, options, cache);
        }
        let local = repo.local()?;
        if local.workdir().is_none() {
            return match history::head(&local)? {
                Some(commit) => tree::snapshot(&local, &commit),
                None => Ok(Snapshot::default()),
            };
        }
        worktree::snapshot(&local, options, cache)
    }

    /// Finds an entry by its path. O(log n).
    pub fn find(&self, path: &str) -> Option<&Entry> {
        self.entries.binary_search_by(|e| e.path.as_str().cmp(path)).ok().map(|at| &self.entries[at])
    }

    /// Names the tree: equal for equal paths, kinds and blobs, whatever is dirty. The entries are not
    /// to change after it was asked for.
    pub fn digest(&self) -> Digest {
        *self.named.0.get_or_init(|| self.find_digest())
    }

    fn find_digest(&self) -> Digest {
        let mut bytes = Vec::with_capacity(self.entries.len() * 64);
        for entry in &self.entries {
            bytes.extend_from_slice(entry.path.as_str().as_bytes());
            bytes.push(0);
            bytes.push(entry.kind as u8);
            bytes.push(entry.trouble.map_or(0, |t| t as u8 + 1));
            bytes.extend_from_slice(entry.blob.as_bytes());
        }
        Digest::of(&bytes)
    }
}

/// A path whose content or kind differs between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathChange {
    pub path: RepoPath,
    /// Its blob before; `None` when it was added.
    pub old: Option<BlobId>,
    /// Its blob after; `None` when it was removed.
    pub new: Option<BlobId>,
}

/// Lists the paths that differ between two snapshots, sorted by path.
pub fn changed_paths(old: &Snapshot, new: &Snapshot) -> Vec<PathChange> {
    let state = |entry: &Entry| (entry.kind, entry.blob, entry.trouble);
    let (mut olds, mut news) = (old.entries.iter().peekable(), new.entries.iter().peekable());
    let mut changed = Vec::new();
    loop {
        let order = match (olds.peek(), news.peek()) {
            (Some(old), Some(new)) => old.path.cmp(&new.path),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return changed,
        };
        let old = olds.next_if(|_| order.is_le());
        let new = news.next_if(|_| order.is_ge());
        if old.map(state) != new.map(state)
            && let Some(path) = old.or(new).map(|entry| entry.path.clone())
        {
            changed.push(PathChange { path, old: old.map(|e| e.blob), new: new.map(|e| e.blob) });
        }
    }
}

/// Lists the files of two snapshots whose bytes are equal and whose kind is not (an executable bit
/// that came or went), sorted.
pub fn changed_modes(old: &Snapshot, new: &Snapshot) -> Vec<RepoPath> {
    let is_file = |kind: EntryKind| matches!(kind, EntryKind::File | EntryKind::Executable);
    let other_mode = |entry: &&Entry| {
        old.find(entry.path.as_str()).is_some_and(|before| {
            let is_read = before.trouble.is_none() && entry.trouble.is_none();
            is_read
                && before.blob == entry.blob
                && before.kind != entry.kind
                && is_file(before.kind)
                && is_file(entry.kind)
        })
    };
    new.entries.iter().filter(other_mode).map(|entry| entry.path.clone()).collect()
}

/// Makes a snapshot's path of git's bytes; `None` for what no tree may hold (`..`, absolute).
pub(crate) fn decode_path(raw: &[u8]) -> Option<(RepoPath, Option<Box<[u8]>>)> {
    match std::str::from_utf8(raw) {
        Ok(text) => Some((RepoPath::new(text)?, None)),
        Err(_) => Some((RepoPath::new(&String::from_utf8_lossy(raw))?, Some(raw.into()))),
    }
}

/// Sorts entries by path and keeps paths apart that lossy decoding has made equal: the later
/// ones get `~` and 8 hex digits of their bytes' digest.
pub(crate) fn finish_entries(mut entries: Vec<Entry>) -> Vec<Entry> {
    let by_path = |a: &Entry, b: &Entry| a.path.cmp(&b.path).then_with(|| a.raw_path.cmp(&b.raw_path));
    entries.sort_by(by_path);
    let clash = |entries: &[Entry]| entries.windows(2).any(|pair| pair[0].path == pair[1].path);
    if clash(&entries) {
        for at in 1..entries.len() {
            let same = entries[at].path == entries[at - 1].path || entries[at].raw_path.is_some();
            if let (true, Some(raw)) = (same, &entries[at].raw_path) {
                let tag = Digest::of(raw).short() as u32;
                if let Some(path) = RepoPath::new(&format!("{}~{tag:08x}", entries[at].path)) {
                    entries[at].path = path;
                }
            }
        }
        entries.sort_by(by_path);
        entries.dedup_by(|a, b| a.path == b.path);
    }
    entries
}
