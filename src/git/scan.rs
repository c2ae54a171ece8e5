//! One walk over a worktree that answers two questions at once: what became of each tracked
//! path, and which files are untracked and not ignored.
//!
//! Each folder is opened once, and its files are looked at relative to it, so that the kernel
//! walks no long path. Folders are claimed by threads one at a time; no symlink is stepped through.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

use gix::bstr::{BStr, BString, ByteSlice, ByteVec};
use gix::index::entry::{Mode, Stat, stat};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::BlobId;
use crate::git::snapshot::EntryKind;
use crate::git::stat::{is_racy, matches};
use crate::git::tree::kind_of;

/// What the index says of one path.
pub(crate) struct Row<'i> {
    pub path: &'i BStr,
    pub kind: EntryKind,
    pub mode: Mode,
    pub id: BlobId,
    pub stat: Stat,
    /// Left out by sparse checkout: the index's id counts while nothing is on disk.
    pub is_skipped: bool,
    /// Its id says nothing of the disk: in conflict, or only meant to be added.
    pub is_open: bool,
}

/// What was found of a tracked path on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
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

/// An untracked file.
pub(crate) struct Untracked {
    pub path: BString,
    pub kind: EntryKind,
    pub stat: Stat,
    pub len_bytes: u64,
}

/// How the index is compared with the disk.
pub(crate) struct Scan<'a> {
    pub root: &'a Path,
    pub index: &'a gix::index::State,
    /// Sorted by path, unique.
    pub rows: &'a [Row<'a>],
    pub stat_options: stat::Options,
    pub index_time: (u32, u32),
    pub has_symlinks: bool,
    pub has_executable_bit: bool,
    pub ignores_case: bool,
    pub precomposes: bool,
    pub empty_blob: BlobId,
    pub is_private: &'a (dyn Fn(&str) -> bool + Sync),
}

/// A folder to look into: its path (empty, or ending in `/`) and the rows below it.
struct Folder {
    path: BString,
    first: usize,
    end: usize,
}

/// Folders that wait, and how many are being looked into.
#[derive(Default)]
struct Queue {
    waiting: Vec<Folder>,
    n_open: usize,
}

/// What one thread found: positions of rows, and untracked files.
#[derive(Default)]
struct Findings {
    tracked: Vec<(usize, Found)>,
    untracked: Vec<Untracked>,
}

/// The rows of a folder under one name: a file, or all that lies below.
struct Slot<'a> {
    name: &'a [u8],
    file: Option<usize>,
    below: std::ops::Range<usize>,
}

impl Scan<'_> {
    /// Scans on `jobs` threads. Gives what became of each row, in order, and the untracked files
    /// sorted by path.
    ///
    /// # Errors
    /// `Git` when ignore rules cannot be read; `Io` when the root cannot be listed.
    pub fn run(&self, git: &gix::ThreadSafeRepository, jobs: usize) -> Result<(Vec<Found>, Vec<Untracked>)> {
        std::fs::read_dir(self.root)
            .map_err(|source| Error::new(ErrorKind::Io, "cannot list the worktree's root").source(source))?;
        let root = Folder { path: BString::default(), first: 0, end: self.rows.len() };
        let queue = Mutex::new(Queue { waiting: vec![root], n_open: 0 });
        let wake = Condvar::new();
        let work = || self.work(git, &queue, &wake);
        let all: Vec<Result<Findings>> = if jobs <= 1 {
            vec![work()]
        } else {
            std::thread::scope(|scope| {
                let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
                let broken = || Err(Error::new(ErrorKind::Git, "the walk over the worktree broke off"));
                threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| broken())).collect()
            })
        };
        let absent = |row: &Row<'_>| match (row.is_skipped, row.kind) {
            (true, _) => Found::Sparse,
            // A submodule that was never checked out is still a border.
            (false, EntryKind::Submodule) => Found::Clean(None),
            (false, _) => Found::Missing,
        };
        let mut found: Vec<Found> = self.rows.iter().map(absent).collect();
        let mut untracked = Vec::new();
        for findings in all {
            let findings = findings?;
            findings.tracked.into_iter().for_each(|(at, what)| found[at] = what);
            untracked.extend(findings.untracked);
        }
        untracked.sort_by(|a, b| a.path.cmp(&b.path));
        Ok((found, untracked))
    }

    /// Looks into folders until none is left.
    fn work(&self, git: &gix::ThreadSafeRepository, queue: &Mutex<Queue>, wake: &Condvar) -> Result<Findings> {
        let git = git.to_thread_local();
        let mut visit =
            Visit { scan: self, git: &git, excludes: None, findings: Findings::default(), next: Vec::new() };
        let mut outcome = Ok(());
        loop {
            let mut waiting = queue.lock().unwrap_or_else(PoisonError::into_inner);
            let folder = loop {
                match waiting.waiting.pop() {
                    Some(folder) => break Some(folder),
                    None if waiting.n_open == 0 => break None,
                    None => waiting = wake.wait(waiting).unwrap_or_else(PoisonError::into_inner),
                }
            };
            let Some(folder) = folder else { break };
            waiting.n_open += 1;
            drop(waiting);
            // After an error the rest is only drained, so that other threads come to an end.
            if outcome.is_ok() {
                outcome = visit.folder(&folder);
            }
            let mut waiting = queue.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.n_open -= 1;
            waiting.waiting.append(&mut visit.next);
            wake.notify_all();
        }
        wake.notify_all();
        outcome.map(|()| visit.findings)
    }

    /// The rows of a folder by name, sorted by name.
    fn slots(&self, folder: &Folder) -> Vec<Slot<'_>> {
        let mut slots: Vec<Slot<'_>> = Vec::new();
        let mut at = folder.first;
        while at < folder.end {
            let rest = &self.rows[at].path[folder.path.len()..];
            let Some(slash) = rest.find_byte(b'/') else {
                slots.push(Slot { name: rest, file: Some(at), below: at..at });
                at += 1;
                continue;
            };
            let prefix = &self.rows[at].path[..folder.path.len() + slash + 1];
            let n_below = self.rows[at..folder.end].partition_point(|row| row.path.starts_with(prefix));
            slots.push(Slot { name: &rest[..slash], file: None, below: at..at + n_below });
            at += n_below;
        }
        slots.sort_by(|a, b| a.name.cmp(b.name));
        // In a conflict between a file and a folder the index may hold both.
        slots.dedup_by(|later, kept| {
            let is_same = later.name == kept.name;
            if is_same {
                kept.file = kept.file.or(later.file);
                if kept.below.is_empty() {
                    kept.below = later.below.clone();
                }
            }
            is_same
        });
        slots
    }

    /// Compares a tracked path with what stands there (no folder).
    fn compare(&self, row: &Row<'_>, disk: &Disk) -> Found {
        let (is_file, is_link) = (disk.kind == DiskKind::File, disk.kind == DiskKind::Symlink);
        if !is_file && !is_link {
            // A pipe, socket or device: nothing that git would store.
            return Found::Missing;
        }
        let change = row.mode.change_to_match_fs_with_values(
            is_file,
            false,
            is_link,
            // A symlink is open to everybody, which says nothing.
            is_file && disk.is_executable,
            self.has_symlinks,
            self.has_executable_bit,
        );
        let Some(kind) = change.as_ref().map_or(Some(row.kind), |change| kind_of(change.apply(row.mode))) else {
            return Found::Missing;
        };
        let stat = &disk.stat;
        let is_believed = change.is_none()
            && !row.is_open
            && matches(stat, &row.stat, self.stat_options)
            // A private file is not opened to make sure.
            && (!is_racy(stat, self.index_time) || (self.is_private)(&row.path.to_str_lossy()))
            // Git marks entries that it found racy by a size of 0, which only an empty file has.
            && (stat.size != 0 || self.empty_blob == row.id);
        if is_believed {
            Found::Clean(Some(disk.len_bytes))
        } else {
            Found::Changed { kind, stat: *stat, len_bytes: disk.len_bytes }
        }
    }
}

/// One thread's walk.
struct Visit<'s, 'g> {
    scan: &'s Scan<'s>,
    git: &'g gix::Repository,
    /// Made when the first untracked path is met.
    excludes: Option<gix::AttributeStack<'g>>,
    findings: Findings,
    /// Folders met in the one being looked into.
    next: Vec<Folder>,
}

impl Visit<'_, '_> {
    fn folder(&mut self, folder: &Folder) -> Result<()> {
        let scan = self.scan;
        let on_disk = match folder.path.strip_suffix(b"/") {
            Some(path) => match gix::path::from_bstr(path.as_bstr()) {
                Ok(path) => scan.root.join(path),
                Err(_) => return Ok(()),
            },
            None => scan.root.to_owned(),
        };
        let slots = scan.slots(folder);
        let Ok(listing) = std::fs::read_dir(&on_disk) else {
            // It was there a moment ago: gone, or not ours to read.
            if on_disk.symlink_metadata().is_ok() {
                let rows = folder.first..folder.end;
                self.findings.tracked.extend(rows.map(|at| (at, Found::Unreadable)));
            }
            return Ok(());
        };
        for listed in listing.flatten() {
            let Ok(name) = gix::path::os_string_into_bstring(listed.file_name()) else { continue };
            let name = if scan.precomposes { precomposed(name) } else { name };
            if name == ".git" || (scan.ignores_case && name.eq_ignore_ascii_case(b".git")) {
                continue;
            }
            let Ok(file_type) = listed.file_type() else { continue };
            let slot = match slots.binary_search_by(|slot| slot.name.cmp(&name)) {
                Ok(at) => Some(at),
                Err(_) if scan.ignores_case => slots.iter().position(|slot| slot.name.eq_ignore_ascii_case(&name)),
                Err(_) => None,
            };
            let slot = slot.map(|at| &slots[at]);
            if file_type.is_dir() {
                self.met_folder(folder, slot, name.as_bstr(), &on_disk)?;
            } else {
                self.met_file(folder, slot, name.as_bstr(), &listed, file_type)?;
            }
        }
        Ok(())
    }

    fn met_folder(&mut self, folder: &Folder, slot: Option<&Slot<'_>>, name: &BStr, parent: &Path) -> Result<()> {
        let row = slot.and_then(|slot| slot.file);
        if let Some(row) = row.filter(|row| self.scan.rows[*row].kind == EntryKind::Submodule) {
            self.findings.tracked.push((row, Found::Clean(None)));
            return Ok(());
        }
        let below = slot.map(|slot| slot.below.clone()).filter(|below| !below.is_empty());
        // The index's spelling, where the file system ignores case.
        let name = slot.filter(|_| below.is_some()).map_or(name.as_bytes(), |slot| slot.name);
        let mut path = folder.path.clone();
        path.push_str(name);
        if below.is_none()
            && (self.is_nested_repository(parent, name) || self.is_excluded(path.as_bstr(), Mode::DIR)?)
        {
            return Ok(());
        }
        path.push(b'/');
        let below = below.unwrap_or_default();
        self.next.push(Folder { path, first: below.start, end: below.end });
        Ok(())
    }

    fn met_file(
        &mut self,
        folder: &Folder,
        slot: Option<&Slot<'_>>,
        name: &BStr,
        listed: &std::fs::DirEntry,
        file_type: std::fs::FileType,
    ) -> Result<()> {
        let mut path = folder.path.clone();
        path.push_str(name);
        if let Some(row) = slot.and_then(|slot| slot.file) {
            let found = match Disk::of(listed) {
                Ok(disk) => self.scan.compare(&self.scan.rows[row], &disk),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
                Err(_) => Found::Unreadable,
            };
            self.findings.tracked.push((row, found));
            return Ok(());
        }
        let kind = match (file_type.is_file(), file_type.is_symlink()) {
            (true, _) => EntryKind::File,
            (_, true) => EntryKind::Symlink,
            (false, false) => return Ok(()),
        };
        if self.is_excluded(path.as_bstr(), Mode::FILE)? {
            return Ok(());
        }
        let Ok(disk) = Disk::of(listed) else { return Ok(()) };
        let is_executable = kind == EntryKind::File && self.scan.has_executable_bit && disk.is_executable;
        let kind = if is_executable { EntryKind::Executable } else { kind };
        self.findings.untracked.push(Untracked { path, kind, stat: disk.stat, len_bytes: disk.len_bytes });
        Ok(())
    }

    /// Whether an untracked folder is a repository of its own, and not ours under another name.
    fn is_nested_repository(&self, parent: &Path, name: &[u8]) -> bool {
        let Ok(name) = gix::path::from_bstr(name.as_bstr()) else { return false };
        let inner: PathBuf = parent.join(name).join(".git");
        if inner.symlink_metadata().is_err() || gix::discover::is_git(&inner).is_err() {
            return false;
        }
        let real = |path: &Path| path.canonicalize().ok();
        real(&inner) != real(self.git.git_dir())
    }

    fn is_excluded(&mut self, path: &BStr, mode: Mode) -> Result<bool> {
        use gix::worktree::stack::state::ignore::Source;
        let broken = || Error::new(ErrorKind::Git, "cannot read git's ignore rules").hint("`git status` says more");
        if self.excludes.is_none() {
            let source = Source::WorktreeThenIdMappingIfNotSkipped;
            let stack = self.git.excludes(self.scan.index, None, source).map_err(|source| broken().source(source))?;
            self.excludes = Some(stack);
        }
        let excludes = self.excludes.as_mut().expect("because it was made above");
        match excludes.at_entry(path, Some(mode)) {
            Ok(at) => Ok(at.is_excluded()),
            Err(source) => Err(broken().source(source)),
        }
    }
}

/// What stands at a path, no folder.
struct Disk {
    kind: DiskKind,
    is_executable: bool,
    stat: Stat,
    len_bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DiskKind {
    File,
    Symlink,
    Other,
}

impl Disk {
    /// Looks at a name of an open folder; a symlink is looked at itself.
    fn of(listed: &std::fs::DirEntry) -> std::io::Result<Self> {
        let metadata = listed.metadata()?;
        let kind = match (metadata.is_file(), metadata.is_symlink()) {
            (true, _) => DiskKind::File,
            (_, true) => DiskKind::Symlink,
            (false, false) => DiskKind::Other,
        };
        let (stat, is_executable) = stat_of(&metadata);
        Ok(Disk { kind, is_executable, stat, len_bytes: metadata.len() })
    }
}

/// The stat as git's index records it, truncated as there, and whether the owner may execute.
#[cfg(unix)]
fn stat_of(metadata: &std::fs::Metadata) -> (Stat, bool) {
    use std::os::unix::fs::MetadataExt;
    let time = |secs: i64, nsecs: i64| stat::Time { secs: secs as u32, nsecs: nsecs as u32 };
    let stat = Stat {
        mtime: time(metadata.mtime(), metadata.mtime_nsec()),
        ctime: time(metadata.ctime(), metadata.ctime_nsec()),
        dev: metadata.dev() as u32,
        ino: metadata.ino() as u32,
        uid: metadata.uid(),
        gid: metadata.gid(),
        size: metadata.len() as u32,
    };
    (stat, metadata.mode() & 0o100 != 0)
}

/// The stat as git's index records it, truncated as there; nothing is executable.
#[cfg(not(unix))]
fn stat_of(metadata: &std::fs::Metadata) -> (Stat, bool) {
    let time = |at: std::io::Result<std::time::SystemTime>| {
        at.ok().and_then(|at| stat::Time::try_from(at).ok()).unwrap_or_default()
    };
    let (mtime, ctime) = (time(metadata.modified()), time(metadata.created()));
    (Stat { mtime, ctime, size: metadata.len() as u32, ..Stat::default() }, false)
}

/// A name as the index spells it where the file system takes letters and accents apart.
fn precomposed(name: BString) -> BString {
    gix::utils::str::precompose_bstr(std::borrow::Cow::Owned(name)).into_owned()
}
