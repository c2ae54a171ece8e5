//! The snapshot of a worktree: the index compared with the disk, untracked files beside it.
//!
//! Tracked files cost an `lstat`; only those are opened whose stat differs from the index's or
//! is too fresh to be believed, and untracked ones.

use std::sync::atomic::AtomicBool;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Mode, Stat, stat};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::BlobId;
use crate::base::parallel::each;
use crate::git::blob;
use crate::git::history;
use crate::git::read::Reader;
use crate::git::snapshot::{
    Entry, EntryKind, MAX_HASHED_BYTES, Place, Snapshot, SnapshotOptions, Trouble, decode_path, finish_entries,
};
use crate::git::stat::{Lstat, StatCache, is_racy, matches};
use crate::git::tree::{self, TreeFile, kind_of};

/// Paths are compared in blocks: small enough that threads end together, large enough that
/// sorted neighbors share their folder.
const BLOCK: usize = 256;

/// What the index says of one path.
struct Row<'i> {
    path: &'i BStr,
    kind: EntryKind,
    mode: Mode,
    id: BlobId,
    stat: Stat,
    /// Left out by sparse checkout: the index's id counts while nothing is on disk.
    is_skipped: bool,
    /// Its id says nothing of the disk: in conflict, or only meant to be added.
    is_open: bool,
}

/// What was found of a path on disk.
enum Found {
    Missing,
    /// As the index has it.
    Clean(Option<u64>),
    /// Only the index has it.
    Sparse,
    /// Its bytes must be hashed.
    Changed {
        kind: EntryKind,
        stat: Stat,
        len_bytes: u64,
    },
    Unreadable,
}

/// A path whose id the index does not know.
struct Unhashed<'i> {
    path: &'i BStr,
    kind: EntryKind,
    stat: Stat,
    len_bytes: u64,
    /// What the index has at this path.
    tracked: Option<BlobId>,
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
    let index = git.index_or_empty().map_err(broken)?;
    let sparse = expand_sparse(git, &index).map_err(broken)?;
    let rows = rows(&index, &sparse);
    let fs = git.filesystem_options().map_err(broken)?;
    let comparison = Comparison {
        root: &root,
        stat_options: git.stat_options().map_err(broken)?,
        index_time: (index.timestamp().unix_seconds().max(0) as u32, index.timestamp().nanoseconds()),
        has_symlinks: fs.symlink,
        has_executable_bit: fs.executable_bit,
        empty_blob: blob::from_oid(&git.object_hash().empty_blob()),
        is_private: options.is_private,
    };

    let shared = git.clone().into_sync();
    let (found, untracked) = if options.jobs > 1 {
        std::thread::scope(|scope| {
            let walk = scope.spawn(|| untracked(&shared.to_thread_local(), &index, &sparse));
            let found = comparison.compare_all(&rows, options.jobs);
            let untracked =
                walk.join().unwrap_or_else(|_| Err(Error::new(ErrorKind::Git, "the folder walk broke off")));
            (found, untracked)
        })
    } else {
        (comparison.compare_all(&rows, 1), untracked(git, &index, &sparse))
    };
    let untracked = untracked?;

    let mut entries = Vec::with_capacity(rows.len() + untracked.len());
    let mut unhashed = Vec::new();
    for (row, found) in rows.iter().zip(found) {
        let known = |place, len_bytes, trouble| entry(row.path, row.kind, row.id, len_bytes, place, trouble);
        match found {
            Found::Missing => {}
            Found::Clean(len_bytes) => entries.extend(known(Place::Worktree, len_bytes, None)),
            Found::Sparse => entries.extend(known(Place::Object, None, None)),
            Found::Unreadable => entries.extend(known(Place::Worktree, None, Some(Trouble::Unreadable))),
            Found::Changed { kind, stat, len_bytes } => {
                unhashed.push(Unhashed { path: row.path, kind, stat, len_bytes, tracked: Some(row.id) });
            }
        }
    }
    let mut lstat = Lstat::new(&root);
    for (path, kind) in &untracked {
        let Ok(Some(metadata)) = lstat.of(path.as_bstr()) else { continue };
        let kind = match kind {
            EntryKind::File if fs.executable_bit && metadata.is_executable() => EntryKind::Executable,
            kind => *kind,
        };
        let stat = Stat::from_fs(&metadata).unwrap_or_default();
        unhashed.push(Unhashed { path: path.as_bstr(), kind, stat, len_bytes: metadata.len(), tracked: None });
    }
    let hashed = hash_all(&shared, &root, &unhashed, options, cache);
    cache.replace(
        started,
        unhashed.iter().zip(&hashed).filter_map(|(file, entry)| {
            let entry = entry.as_ref().filter(|e| e.trouble.is_none())?;
            Some((file.path.to_vec(), file.stat, entry.blob))
        }),
    );
    entries.extend(hashed.into_iter().flatten());

    let commit = history::head(git)?;
    let mut snapshot = Snapshot { entries: finish_entries(entries), deleted: Vec::new(), commit };
    mark_dirty(git, &mut snapshot)?;
    Ok(snapshot)
}

fn entry(
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
fn expand_sparse(git: &gix::Repository, index: &gix::index::State) -> std::result::Result<Vec<TreeFile>, gix::Error> {
    let mut files = Vec::new();
    for entry in index.entries().iter().filter(|e| e.mode.is_sparse()) {
        files.extend(tree::files_of_tree(git, &entry.id, entry.path(index))?);
    }
    Ok(files)
}

/// One row a path, sorted.
fn rows<'i>(index: &'i gix::index::State, sparse: &'i [TreeFile]) -> Vec<Row<'i>> {
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

/// How the index is compared with the disk.
struct Comparison<'a> {
    root: &'a std::path::Path,
    stat_options: stat::Options,
    index_time: (u32, u32),
    has_symlinks: bool,
    has_executable_bit: bool,
    empty_blob: BlobId,
    is_private: &'a (dyn Fn(&str) -> bool + Sync),
}

impl Comparison<'_> {
    /// Compares every row, in order, on `jobs` threads.
    fn compare_all(&self, rows: &[Row<'_>], jobs: usize) -> Vec<Found> {
        let blocks: Vec<&[Row<'_>]> = rows.chunks(BLOCK).collect();
        let found = each(
            blocks.len(),
            jobs,
            || Lstat::new(self.root),
            |lstat, at| blocks[at].iter().map(|row| self.compare(lstat, row)).collect::<Vec<_>>(),
        );
        found.into_iter().flatten().collect()
    }

    fn compare(&self, lstat: &mut Lstat, row: &Row<'_>) -> Found {
        let metadata = match lstat.of(row.path) {
            Ok(Some(metadata)) => metadata,
            Ok(None) if row.is_skipped => return Found::Sparse,
            // A submodule that was never checked out is still a border.
            Ok(None) if row.kind == EntryKind::Submodule => return Found::Clean(None),
            Ok(None) => return Found::Missing,
            Err(_) => return Found::Unreadable,
        };
        if metadata.is_dir() {
            return if row.kind == EntryKind::Submodule { Found::Clean(None) } else { Found::Missing };
        }
        let Ok(stat) = Stat::from_fs(&metadata) else { return Found::Unreadable };
        let change = row.mode.change_to_match_fs(&metadata, self.has_symlinks, self.has_executable_bit);
        let kind = change.map_or(Some(row.kind), |change| kind_of(change.apply(row.mode)));
        let Some(kind) = kind else { return Found::Missing };
        if !metadata.is_file() && !metadata.is_symlink() {
            // A pipe, socket or device: nothing that git would store.
            return Found::Missing;
        }
        let is_believed = change.is_none()
            && !row.is_open
            && matches(&stat, &row.stat, self.stat_options)
            // A private file is not opened to make sure.
            && (!is_racy(&stat, self.index_time) || (self.is_private)(&row.path.to_str_lossy()))
            // Git marks entries that it found racy by a size of 0, which only an empty file has.
            && (stat.size != 0 || self.empty_blob == row.id);
        if is_believed {
            Found::Clean(Some(metadata.len()))
        } else {
            Found::Changed { kind, stat, len_bytes: metadata.len() }
        }
    }
}

/// Lists untracked files that are not ignored: git's own rules, nested repositories apart.
fn untracked(
    git: &gix::Repository,
    index: &gix::index::State,
    sparse: &[TreeFile],
) -> Result<Vec<(BString, EntryKind)>> {
    let broken = |source: gix::Error| {
        Error::new(ErrorKind::Git, "cannot list untracked files").hint("`git status` says more").source(source)
    };
    let mut collect = Untracked::default();
    let options = git.dirwalk_options().map_err(broken)?;
    let whole;
    let index = if index.entries().iter().any(|e| e.flags.contains(Flags::SKIP_WORKTREE)) {
        whole = whole_index(index, sparse);
        &whole
    } else {
        index
    };
    git.dirwalk(index, None::<&BStr>, &AtomicBool::new(false), options, &mut collect).map_err(broken)?;
    Ok(collect.files)
}

/// The index as if sparse checkout had left nothing out, since the folders that it leaves out may
/// hold untracked files all the same. Only `.gitignore` files keep the mark: it says that they
/// are to be read from the index.
fn whole_index(index: &gix::index::State, sparse: &[TreeFile]) -> gix::index::State {
    let mut whole = index.clone();
    whole.remove_entries(|_, _, entry| entry.mode.is_sparse());
    for file in sparse {
        let (id, mode) = (blob::to_oid(&file.blob), mode_of(file.kind));
        whole.dangerously_push_entry(Stat::default(), id, Flags::SKIP_WORKTREE, mode, file.path.as_bstr());
    }
    whole.sort_entries();
    for (entry, path) in whole.entries_mut_with_paths() {
        if !path.ends_with(b".gitignore") {
            entry.flags.remove(Flags::SKIP_WORKTREE);
        }
    }
    whole
}

/// Keeps files and symlinks of what a walk meets.
#[derive(Default)]
struct Untracked {
    files: Vec<(BString, EntryKind)>,
}

impl gix::dir::walk::Delegate for Untracked {
    fn emit(&mut self, entry: gix::dir::EntryRef<'_>, _: Option<gix::dir::entry::Status>) -> gix::dir::walk::Action {
        use gix::dir::entry::{Kind, Status};
        if entry.status == Status::Untracked {
            let kind = match entry.disk_kind {
                Some(Kind::File) => Some(EntryKind::File),
                Some(Kind::Symlink) => Some(EntryKind::Symlink),
                Some(Kind::Untrackable | Kind::Directory | Kind::Repository) | None => None,
            };
            self.files.extend(kind.map(|kind| (entry.rela_path.into_owned(), kind)));
        }
        gix::dir::walk::Action::Continue(())
    }
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
    let reader = || Reader::of(git.to_thread_local(), root);
    each(unhashed.len(), options.jobs, reader, |reader, at| {
        let file = &unhashed[at];
        let fallback = file.tracked.unwrap_or_else(|| blob::null(kind));
        let is_link = file.kind == EntryKind::Symlink;
        let (blob, trouble) = if !is_link && (options.is_private)(&file.path.to_str_lossy()) {
            (fallback, Some(Trouble::Private))
        } else if let Some(known) = cache.get(file.path, &file.stat) {
            (known, None)
        } else if file.len_bytes > MAX_HASHED_BYTES {
            (fallback, Some(Trouble::TooLarge))
        } else {
            match reader.hash(file.path, is_link) {
                Ok(hashed) => (hashed.blob, hashed.trouble),
                Err(_) => (fallback, Some(Trouble::Unreadable)),
            }
        };
        entry(file.path, file.kind, blob, Some(file.len_bytes), Place::Worktree, trouble)
    })
}

/// Compares with HEAD's tree.
fn mark_dirty(git: &gix::Repository, snapshot: &mut Snapshot) -> Result<()> {
    let Some(commit) = snapshot.commit.clone() else {
        snapshot.entries.iter_mut().for_each(|e| e.dirty = true);
        return Ok(());
    };
    let head = tree::snapshot(git, &commit)?;
    let mut old = head.entries.into_iter().peekable();
    for entry in &mut snapshot.entries {
        while let Some(gone) = old.next_if(|o| o.path < entry.path) {
            snapshot.deleted.push(gone.path);
        }
        let same = old.next_if(|o| o.path == entry.path);
        entry.dirty = same.is_none_or(|o| o.blob != entry.blob || o.kind != entry.kind) || entry.trouble.is_some();
    }
    snapshot.deleted.extend(old.map(|o| o.path));
    Ok(())
}
