//! The snapshot of a worktree: the index compared with the disk, untracked files beside it.
//!
//! Tracked files cost a look at their stat; only those are opened whose stat differs from the
//! index's or is too fresh to be believed, and untracked ones.

use gix::bstr::{BStr, ByteSlice};
use gix::index::entry::{Flags, Mode, Stat};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::BlobId;
use crate::base::parallel::each;
use crate::base::path::RepoPath;
use crate::git::blob;
use crate::git::history;
use crate::git::read::Reader;
use crate::git::scan::{Found, Row, Scan};
use crate::git::snapshot::{
    Entry, EntryKind, MAX_HASHED_BYTES, Place, Snapshot, SnapshotOptions, Trouble, decode_path, finish_entries,
};
use crate::git::stat::StatCache;
use crate::git::tree::{self, TreeFile, kind_of};

/// A path whose id the index does not know.
struct Unhashed<'i> {
    path: &'i BStr,
    kind: EntryKind,
    stat: Stat,
    len_bytes: u64,
    /// What the index has at this path.
    tracked: Option<BlobId>,
}

/// HEAD's tree, to tell what is dirty.
enum Head {
    /// There is none.
    Unborn,
    /// It is what the index has: git keeps the index's own tree id while nothing is staged.
    Index,
    /// Its files, sorted by path.
    Tree(Vec<TreeFile>),
}

pub(crate) fn snapshot(
    git: &gix::Repository,
    options: &SnapshotOptions<'_>,
    cache: &mut StatCache,
) -> Result<Snapshot> {
    let root = git.workdir().expect("because the caller took bare repositories apart").to_owned();
    let broken = |source: gix::Error| {
        Error::new(ErrorKind::Git, "cannot read git's index").hint("`git status` says what is wrong").source(source)
    };
    let started = std::time::SystemTime::now();
    // As git itself does, the index is read without hashing it.
    let index = gix::index::File::at_or_default(git.index_path(), git.object_hash(), true, Default::default());
    let index = index.map_err(broken)?;
    let commit = history::head(git)?;
    let head = head(git, &index, commit.as_deref())?;
    let sparse = expand_sparse(git, &index).map_err(broken)?;
    let whole = (!sparse.is_empty()).then(|| whole_index(&index, &sparse));
    let rows = rows(&index, &sparse);
    let fs = git.filesystem_options().map_err(broken)?;
    let scan = Scan {
        root: &root,
        index: whole.as_ref().unwrap_or(&index),
        rows: &rows,
        stat_options: git.stat_options().map_err(broken)?,
        index_time: (index.timestamp().unix_seconds().max(0) as u32, index.timestamp().nanoseconds()),
        has_symlinks: fs.symlink,
        has_executable_bit: fs.executable_bit,
        ignores_case: fs.ignore_case,
        precomposes: fs.precompose_unicode,
        empty_blob: blob::from_oid(&git.object_hash().empty_blob()),
        is_private: options.is_private,
    };
    let shared = git.clone().into_sync();
    let (found, untracked) = scan.run(&shared, options.jobs)?;

    let mut entries: Vec<(&BStr, Entry)> = Vec::with_capacity(rows.len() + untracked.len());
    let mut unhashed = Vec::new();
    for (row, found) in rows.iter().zip(&found) {
        let (place, len_bytes, trouble) = match *found {
            Found::Missing => continue,
            Found::Clean(len_bytes) => (Place::Worktree, len_bytes, None),
            Found::Sparse => (Place::Object, None, None),
            Found::Unreadable => (Place::Worktree, None, Some(Trouble::Unreadable)),
            Found::Changed { kind, stat, len_bytes } => {
                unhashed.push(Unhashed { path: row.path, kind, stat, len_bytes, tracked: Some(row.id) });
                continue;
            }
        };
        entries.extend(entry(row.path, row.kind, row.id, len_bytes, place, trouble).map(|entry| (row.path, entry)));
    }
    unhashed.extend(untracked.iter().map(|file| {
        let path = file.path.as_bstr();
        Unhashed { path, kind: file.kind, stat: file.stat, len_bytes: file.len_bytes, tracked: None }
    }));
    let hashed = hash_all(&shared, &root, &unhashed, options, cache);
    cache.replace(
        started,
        unhashed.iter().zip(&hashed).filter_map(|(file, entry)| {
            let entry = entry.as_ref().filter(|e| e.trouble.is_none())?;
            Some((file.path.to_vec(), file.stat, entry.blob))
        }),
    );
    entries.extend(unhashed.iter().zip(hashed).filter_map(|(file, entry)| Some((file.path, entry?))));

    let deleted = mark_dirty(&head, &rows, &mut entries);
    let entries = finish_entries(entries.into_iter().map(|(_, entry)| entry).collect());
    Ok(Snapshot { entries, deleted, commit, ..Snapshot::default() })
}

/// HEAD's tree, without reading it when the index says that it holds just that.
fn head(git: &gix::Repository, index: &gix::index::State, commit: Option<&str>) -> Result<Head> {
    let Some(commit) = commit else { return Ok(Head::Unborn) };
    let tree = tree::id_of_commit(git, commit)?;
    let is_index = index.tree().is_some_and(|known| known.num_entries.is_some() && known.id == tree);
    if is_index { Ok(Head::Index) } else { Ok(Head::Tree(tree::files_of_commit(git, commit)?)) }
}

pub(crate) fn entry(
    path: &BStr,
    kind: EntryKind,
    blob: BlobId,
    len_bytes: Option<u64>,
    place: Place,
    trouble: Option<Trouble>,
) -> Option<Entry> {
    let (path, raw_path) = decode_path(path)?;
    Some(Entry { path, raw_path, kind, blob, len_bytes, dirty: false, place, trouble })
}

/// The files below the folders that a sparse index keeps whole.
pub(crate) fn expand_sparse(
    git: &gix::Repository,
    index: &gix::index::State,
) -> std::result::Result<Vec<TreeFile>, gix::Error> {
    let mut files = Vec::new();
    for entry in index.entries().iter().filter(|e| e.mode.is_sparse()) {
        files.extend(tree::files_of_tree(git, &entry.id, entry.path(index))?);
    }
    Ok(files)
}

/// One row a path, sorted.
pub(crate) fn rows<'i>(index: &'i gix::index::State, sparse: &'i [TreeFile]) -> Vec<Row<'i>> {
    let mut rows: Vec<Row<'i>> = Vec::with_capacity(index.entries().len() + sparse.len());
    for entry in index.entries() {
        let Some(kind) = kind_of(entry.mode) else { continue };
        let path = entry.path(index);
        // The stages of a conflict are one path.
        if rows.last().is_some_and(|last| last.path == path) {
            continue;
        }
        rows.push(Row {
            path,
            kind,
            mode: entry.mode,
            id: blob::from_oid(&entry.id),
            stat: entry.stat,
            is_skipped: entry.flags.contains(Flags::SKIP_WORKTREE),
            is_open: entry.stage_raw() != 0 || entry.flags.contains(Flags::INTENT_TO_ADD),
        });
    }
    for file in sparse {
        rows.push(Row {
            path: file.path.as_bstr(),
            kind: file.kind,
            mode: mode_of(file.kind),
            id: file.blob,
            stat: Stat::default(),
            is_skipped: true,
            is_open: false,
        });
    }
    if !sparse.is_empty() {
        rows.sort_by(|a, b| a.path.cmp(b.path));
    }
    rows
}

fn mode_of(kind: EntryKind) -> Mode {
    match kind {
        EntryKind::File => Mode::FILE,
        EntryKind::Executable => Mode::FILE_EXECUTABLE,
        EntryKind::Symlink => Mode::SYMLINK,
        EntryKind::Submodule => Mode::COMMIT,
    }
}

/// A sparse index with its folders written out, for the ignore files that it holds below them.
fn whole_index(index: &gix::index::State, sparse: &[TreeFile]) -> gix::index::State {
    let mut whole = index.clone();
    whole.remove_entries(|_, _, entry| entry.mode.is_sparse());
    for file in sparse {
        let (id, mode) = (blob::to_oid(&file.blob), mode_of(file.kind));
        whole.dangerously_push_entry(Stat::default(), id, Flags::SKIP_WORKTREE, mode, file.path.as_bstr());
    }
    whole.sort_entries();
    whole
}

/// Names every path's bytes; in order. `None` for what vanished or has no usable path.
fn hash_all(
    git: &gix::ThreadSafeRepository,
    root: &std::path::Path,
    unhashed: &[Unhashed<'_>],
    options: &SnapshotOptions<'_>,
    cache: &StatCache,
) -> Vec<Option<Entry>> {
    let kind = git.to_thread_local().object_hash();
    let fallback = |file: &Unhashed<'_>| file.tracked.unwrap_or_else(|| blob::null(kind));
    // What needs no reading; the rest is worth threads.
    let told = |file: &Unhashed<'_>| {
        let is_link = file.kind == EntryKind::Symlink;
        if !is_link && (options.is_private)(&file.path.to_str_lossy()) {
            Some((fallback(file), Some(Trouble::Private)))
        } else if let Some(known) = cache.get(file.path, &file.stat) {
            Some((known, None))
        } else if file.len_bytes > MAX_HASHED_BYTES {
            Some((fallback(file), Some(Trouble::TooLarge)))
        } else {
            None
        }
    };
    let told: Vec<_> = unhashed.iter().map(told).collect();
    let unread: Vec<&Unhashed<'_>> =
        unhashed.iter().zip(&told).filter(|(_, told)| told.is_none()).map(|(f, _)| f).collect();
    let reader = || Reader::of(git.to_thread_local(), root);
    let read = each(unread.len(), options.jobs, reader, |reader, at| {
        let file = unread[at];
        match reader.hash(file.path, file.kind == EntryKind::Symlink) {
            Ok(hashed) => (hashed.blob, hashed.trouble),
            Err(_) => (fallback(file), Some(Trouble::Unreadable)),
        }
    });
    let mut read = read.into_iter();
    let named = unhashed.iter().zip(told).map(|(file, told)| {
        let (blob, trouble) = told.or_else(|| read.next())?;
        entry(file.path, file.kind, blob, Some(file.len_bytes), Place::Worktree, trouble)
    });
    named.collect()
}

/// Marks what HEAD's tree does not hold as it is; gives the paths that only HEAD's tree holds.
fn mark_dirty(head: &Head, rows: &[Row<'_>], entries: &mut [(&BStr, Entry)]) -> Vec<RepoPath> {
    let n_old = match head {
        Head::Unborn => 0,
        Head::Index => rows.len(),
        Head::Tree(files) => files.len(),
    };
    let position = |path: &BStr| match head {
        Head::Unborn => None,
        Head::Index => rows.binary_search_by(|row| row.path.cmp(path)).ok(),
        Head::Tree(files) => files.binary_search_by(|file| file.path.as_bstr().cmp(path)).ok(),
    };
    let old = |at: usize| match head {
        Head::Unborn | Head::Index => (rows[at].path, rows[at].kind, rows[at].id),
        Head::Tree(files) => (files[at].path.as_bstr(), files[at].kind, files[at].blob),
    };
    let mut is_here = vec![false; n_old];
    // Tracked files come first and in order: mostly, the next one is the one.
    let mut guess = 0;
    for (path, entry) in entries {
        let at = match guess < n_old && old(guess).0 == *path {
            true => Some(guess),
            false => position(path),
        };
        let same = at.is_some_and(|at| (old(at).1, old(at).2) == (entry.kind, entry.blob));
        entry.dirty = !same || entry.trouble.is_some();
        if let Some(at) = at {
            is_here[at] = true;
            guess = at + 1;
        }
    }
    let gone = (0..n_old).filter(|at| !is_here[*at]);
    let mut deleted: Vec<RepoPath> = gone.filter_map(|at| Some(decode_path(old(at).0)?.0)).collect();
    deleted.sort();
    deleted
}
