//! What `lstat` says of a path, without ever stepping through a symlink; and the memory of
//! ids that were hashed, so that unchanged files are not hashed twice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gix::bstr::{BStr, ByteSlice};
use gix::index::entry::{Stat, stat};
use gix::index::fs::Metadata;

use crate::base::id::BlobId;

/// Looks at paths below a root. Fastest when asked in sorted order.
pub(crate) struct Lstat {
    root: PathBuf,
    /// The folder that was verified last, and whether it can be entered without a symlink.
    folder: Vec<u8>,
    is_real: bool,
}

impl Lstat {
    pub fn new(root: &Path) -> Self {
        Lstat { root: root.to_owned(), folder: Vec::new(), is_real: true }
    }

    /// What stands at a path; `None` where nothing does, or only beyond a symlink.
    pub fn of(&mut self, path: &BStr) -> std::io::Result<Option<Metadata>> {
        let folder = path.rfind_byte(b'/').map_or(&b""[..], |at| &path[..at]);
        if folder != self.folder {
            self.is_real = self.verify(folder);
            self.folder.clear();
            self.folder.extend_from_slice(folder);
        }
        if !self.is_real {
            return Ok(None);
        }
        let Some(full) = self.full(path) else { return Ok(None) };
        match Metadata::from_path_no_follow(&full) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if gix::fs::io_err::is_not_found(error.kind(), error.raw_os_error()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The path on disk.
    pub fn full(&self, path: &BStr) -> Option<PathBuf> {
        Some(self.root.join(gix::path::from_bstr(path).ok()?))
    }

    /// Whether each part of `folder` is a real folder.
    fn verify(&self, folder: &[u8]) -> bool {
        let mut at = 0;
        while at < folder.len() {
            let end = folder[at..].find_byte(b'/').map_or(folder.len(), |n| at + n);
            let known = self.is_real
                && self.folder.starts_with(&folder[..end])
                && self.folder.get(end).is_none_or(|next| *next == b'/');
            if !known {
                let is_folder = self
                    .full(folder[..end].as_bstr())
                    .and_then(|full| Metadata::from_path_no_follow(&full).ok())
                    .is_some_and(|m| m.is_dir());
                if !is_folder {
                    return false;
                }
            }
            at = end + 1;
        }
        true
    }
}

/// A point in time of a file system: seconds and nanoseconds.
type Moment = (u32, u32);

/// Ids of files that git's index does not answer for (untracked, changed, racy), by path and
/// stat. Holds nothing that needs trust: a wrong stat is a miss.
#[derive(Clone, Debug, Default)]
pub struct StatCache {
    files: BTreeMap<Vec<u8>, (Stat, BlobId)>,
}

/// Files touched this close to when they were looked at are hashed again next time: file
/// systems round their clocks (4 ms on Linux, more on others).
const SLOP_NS: u64 = 50_000_000;

impl StatCache {
    /// The id that a path had under exactly this stat.
    pub(crate) fn get(&self, path: &BStr, stat: &Stat) -> Option<BlobId> {
        self.files.get(path.as_bytes()).filter(|(known, _)| known == stat).map(|(_, blob)| *blob)
    }

    /// Replaces all it holds by ids that were hashed since `started`, but for files too fresh for
    /// their stat to answer for them.
    pub(crate) fn replace(&mut self, started: SystemTime, files: impl IntoIterator<Item = (Vec<u8>, Stat, BlobId)>) {
        let started = started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let started = (started.as_secs() as u32, started.subsec_nanos().max(1));
        self.files = files
            .into_iter()
            .filter(|(_, stat, _)| !is_racy(stat, started))
            .map(|(path, stat, blob)| (path, (stat, blob)))
            .collect();
    }

    /// Whether anything is remembered.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Writes it down, for the next process. One line a file, sorted by path.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (path, (stat, blob)) in &self.files {
            let fields = [
                stat.mtime.secs,
                stat.mtime.nsecs,
                stat.ctime.secs,
                stat.ctime.nsecs,
                stat.dev,
                stat.ino,
                stat.uid,
                stat.gid,
                stat.size,
            ];
            bytes.extend_from_slice(&(path.len() as u32).to_le_bytes());
            bytes.extend_from_slice(path);
            fields.iter().for_each(|field| bytes.extend_from_slice(&field.to_le_bytes()));
            bytes.push(blob.as_bytes().len() as u8);
            bytes.extend_from_slice(blob.as_bytes());
        }
        bytes
    }

    /// Reads it back; empty when the bytes are not whole.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut cache = StatCache::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let Some((path, stat, blob)) = read_row(&mut rest) else { return StatCache::default() };
            cache.files.insert(path, (stat, blob));
        }
        cache
    }
}

fn read_row(rest: &mut &[u8]) -> Option<(Vec<u8>, Stat, BlobId)> {
    let len = take_u32(rest)? as usize;
    let path = take(rest, len)?.to_vec();
    let mut fields = [0; 9];
    for field in &mut fields {
        *field = take_u32(rest)?;
    }
    let [m_secs, m_nsecs, c_secs, c_nsecs, dev, ino, uid, gid, size] = fields;
    let time = |secs, nsecs| gix::index::entry::stat::Time { secs, nsecs };
    let stat = Stat { mtime: time(m_secs, m_nsecs), ctime: time(c_secs, c_nsecs), dev, ino, uid, gid, size };
    let len = usize::from(*take(rest, 1)?.first()?);
    let blob = BlobId::from_bytes(take(rest, len)?)?;
    Some((path, stat, blob))
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(len)?;
    *rest = tail;
    Some(head)
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(take(rest, 4)?.try_into().ok()?))
}

/// Whether an id recorded at `recorded` for a file with this stat can be wrong although the
/// stat is the same: the file was touched at that moment or later, as far as the clock tells.
pub(crate) fn is_racy(stat: &Stat, recorded: Moment) -> bool {
    let (secs, nsecs) = recorded;
    if stat.mtime.nsecs == 0 || nsecs == 0 {
        // A file system that counts seconds only.
        return stat.mtime.secs >= secs;
    }
    let in_ns = |(secs, nsecs): Moment| u64::from(secs) * 1_000_000_000 + u64::from(nsecs);
    in_ns((stat.mtime.secs, stat.mtime.nsecs)) + SLOP_NS >= in_ns((secs, nsecs))
}

/// Whether a file still is what the index recorded: git's rule, and the nanoseconds too where
/// both sides have them. Those of `ctime` tell a write whose `mtime` was set back within the second.
pub(crate) fn matches(disk: &Stat, recorded: &Stat, options: stat::Options) -> bool {
    let same = |a: u32, b: u32| a == 0 || b == 0 || a == b;
    disk.matches(recorded, options)
        && (!options.check_stat || same(disk.mtime.nsecs, recorded.mtime.nsecs))
        && (!options.check_stat || !options.trust_ctime || same(disk.ctime.nsecs, recorded.ctime.nsecs))
}
