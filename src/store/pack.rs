//! A pack: one Parquet file of many rows sorted by key, and the small index beside it that
//! finds a row and proves the bytes it lies in.
//!
//! The index is a convenience: when it is missing or damaged it is made anew from the pack.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use crate::base::dialect::Dialect;
use crate::base::guard::guarded;
use crate::base::id::{BlobId, Digest, Fingerprint, ShardKey};
use crate::facts::model::FileFacts;
use crate::store::shard::{self, Shard};
use crate::store::window::Window;

const MAGIC: &[u8] = b"RATIDX1\n";

/// The largest row group and footer that are read; ours are a few MB.
const MAX_PART_BYTES: u64 = 1 << 30;

/// A pack that lies in the store.
#[derive(Debug)]
pub struct Pack {
    path: PathBuf,
    index: PackIndex,
    metadata: OnceLock<Option<Arc<ParquetMetaData>>>,
}

/// What the index file of a pack says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackIndex {
    /// The key of every row, ascending.
    pub keys: Vec<ShardKey>,
    /// The row groups, in order.
    pub groups: Vec<Part>,
    /// From the end of the last group to the end of the file.
    pub footer: Part,
}

/// A part of the file, with the digest of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The rows in it.
    pub n_rows: usize,
    pub bytes: Range<u64>,
    pub digest: Digest,
}

impl Pack {
    /// Opens a pack with its index file, or by reading the pack when the index is not usable;
    /// `None` when the pack is not usable either.
    pub fn open(path: &Path) -> Option<Self> {
        let file_len = std::fs::metadata(path).ok()?.len();
        let read = std::fs::read(path.with_extension("idx")).ok();
        let index = read.and_then(|bytes| PackIndex::decode(&bytes)).filter(|index| index.footer.bytes.end == file_len);
        let index = match index {
            Some(index) => index,
            None => PackIndex::of(&std::fs::read(path).ok()?)?,
        };
        Some(Pack { path: path.to_owned(), index, metadata: OnceLock::new() })
    }

    /// The file it lies in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What its index says.
    pub fn index(&self) -> &PackIndex {
        &self.index
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.index.keys.len()
    }

    /// Every key, ascending.
    pub fn keys(&self) -> &[ShardKey] {
        &self.index.keys
    }

    /// The row of a key. O(log n).
    pub fn find(&self, key: &ShardKey) -> Option<usize> {
        self.index.keys.binary_search(key).ok()
    }

    /// The row group of a row and the first row of that group.
    pub fn group_of(&self, row: usize) -> (usize, usize) {
        (row / shard::ROWS_PER_GROUP, row / shard::ROWS_PER_GROUP * shard::ROWS_PER_GROUP)
    }

    /// Reads rows of one group (ascending positions within it); `None` for each that is not
    /// whole, right and of the key that the index says.
    pub fn read(&self, group: usize, wanted: &[usize]) -> Vec<Option<FileFacts>> {
        let mut rows = self.read_group(group, wanted).unwrap_or_default();
        rows.resize_with(wanted.len(), || None);
        let first = group * shard::ROWS_PER_GROUP;
        let keyed = rows.into_iter().zip(wanted).map(|(row, at)| {
            let (key, facts) = row?;
            (self.index.keys.get(first + at) == Some(&key)).then_some(facts)
        });
        keyed.collect()
    }

    fn read_group(&self, group: usize, wanted: &[usize]) -> Option<Vec<Option<(ShardKey, FileFacts)>>> {
        let metadata =
            self.metadata.get_or_init(|| read_metadata(&self.path, &self.index.footer).map(Arc::new)).clone()?;
        let window = read_part(&self.path, self.index.groups.get(group)?)?;
        Some(shard::decode(&window, metadata.row_groups().get(group)?, wanted))
    }
}

impl PackIndex {
    /// The index of a pack's bytes; `None` when they are no pack of ours, sorted by key.
    pub fn of(pack: &[u8]) -> Option<Self> {
        let len_bytes = pack.len() as u64;
        let footer_len = footer_len(pack)?;
        let footer = Part::of(pack, 0, len_bytes.checked_sub(footer_len)?..len_bytes)?;
        let metadata = parse_metadata(&pack[footer.bytes.start as usize..])?;
        let mut keys: Vec<ShardKey> = Vec::new();
        let mut groups = Vec::new();
        let mut start = 4;
        for group in metadata.row_groups() {
            let len = u64::try_from(group.compressed_size()).ok()?;
            let part = Part::of(pack, usize::try_from(group.num_rows()).ok()?, start..start.checked_add(len)?)?;
            start = part.bytes.end;
            let window = Window::new(part.bytes.start, pack[part.bytes.start as usize..start as usize].to_vec());
            keys.extend(shard::decode_keys(&window, group)?);
            groups.push(part);
        }
        let full = groups.iter().rev().skip(1).all(|g| g.n_rows == shard::ROWS_PER_GROUP);
        let sorted = keys.windows(2).all(|pair| pair[0] < pair[1]);
        (full && sorted).then_some(PackIndex { keys, groups, footer })
    }

    /// The bytes of the index file: fixed little-endian numbers, then their digest.
    pub fn encode(&self) -> Vec<u8> {
        let mut fingerprints: Vec<Fingerprint> = self.keys.iter().map(|key| key.fingerprint).collect();
        fingerprints.sort_unstable();
        fingerprints.dedup();
        let mut out = MAGIC.to_vec();
        let number = |out: &mut Vec<u8>, n: u64| out.extend_from_slice(&n.to_le_bytes());
        number(&mut out, fingerprints.len() as u64);
        fingerprints.iter().for_each(|f| out.extend_from_slice(&f.0.0));
        number(&mut out, self.groups.len() as u64);
        for part in self.groups.iter().chain([&self.footer]) {
            number(&mut out, part.n_rows as u64);
            number(&mut out, part.bytes.start);
            number(&mut out, part.bytes.end);
            out.extend_from_slice(&part.digest.0);
        }
        number(&mut out, self.keys.len() as u64);
        for key in &self.keys {
            out.push(key.dialect as u8);
            let at = fingerprints.binary_search(&key.fingerprint).unwrap_or_default();
            out.extend_from_slice(&(at as u32).to_le_bytes());
            out.push(key.blob.as_bytes().len() as u8);
            out.extend_from_slice(key.blob.as_bytes());
        }
        let digest = Digest::of(&out);
        out.extend_from_slice(&digest.0);
        out
    }

    /// Reads an index file back; `None` unless it is whole, sorted and of our groups' sizes.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, digest) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
        if Digest::of(body).0 != *digest {
            return None;
        }
        let mut rest = body.strip_prefix(MAGIC)?;
        let n_fingerprints = take_number(&mut rest)?;
        let mut fingerprints = Vec::new();
        for _ in 0..n_fingerprints {
            fingerprints.push(Fingerprint(Digest(take(&mut rest, 32)?.try_into().ok()?)));
        }
        let n_groups = take_number(&mut rest)?;
        let mut groups = Vec::new();
        for _ in 0..=n_groups {
            groups.push(Part {
                n_rows: usize::try_from(take_number(&mut rest)?).ok()?,
                bytes: take_number(&mut rest)?..take_number(&mut rest)?,
                digest: Digest(take(&mut rest, 32)?.try_into().ok()?),
            });
        }
        let footer = groups.pop()?;
        let n_keys = take_number(&mut rest)?;
        let mut keys: Vec<ShardKey> = Vec::new();
        for _ in 0..n_keys {
            let dialect = *Dialect::ALL.get(usize::from(take(&mut rest, 1)?[0]))?;
            let fingerprint = u32::from_le_bytes(take(&mut rest, 4)?.try_into().ok()?);
            let fingerprint = *fingerprints.get(fingerprint as usize)?;
            let blob_len = usize::from(take(&mut rest, 1)?[0]);
            let blob = BlobId::from_bytes(take(&mut rest, blob_len)?)?;
            keys.push(ShardKey { blob, dialect, fingerprint });
        }
        let sorted = keys.windows(2).all(|pair| pair[0] < pair[1]);
        let full = groups.iter().rev().skip(1).all(|g| g.n_rows == shard::ROWS_PER_GROUP);
        let counted = groups.iter().map(|g| g.n_rows).sum::<usize>() == keys.len();
        (rest.is_empty() && sorted && full && counted).then_some(PackIndex { keys, groups, footer })
    }
}

impl Part {
    fn of(file: &[u8], n_rows: usize, bytes: Range<u64>) -> Option<Self> {
        let range = usize::try_from(bytes.start).ok()?..usize::try_from(bytes.end).ok()?;
        Some(Part { n_rows, bytes, digest: Digest::of(file.get(range)?) })
    }
}

/// Reads rows of a group (ascending positions within it) from bytes that were fetched apart from
/// their pack: the footer, and the group. `None` for each that is not whole, right and of the key
/// that the index says; digests of both parts are checked.
pub fn read_fetched(
    index: &PackIndex,
    footer: &[u8],
    group: usize,
    bytes: Vec<u8>,
    wanted: &[usize],
) -> Vec<Option<Shard>> {
    let read = || {
        let part = index.groups.get(group)?;
        let is_whole = Digest::of(&bytes) == part.digest && Digest::of(footer) == index.footer.digest;
        let metadata = parse_metadata(footer).filter(|_| is_whole)?;
        let window = Window::new(part.bytes.start, bytes);
        Some(shard::decode(&window, metadata.row_groups().get(group)?, wanted))
    };
    let mut rows = read().unwrap_or_default();
    rows.resize_with(wanted.len(), || None);
    let first = group * shard::ROWS_PER_GROUP;
    let keyed = rows.into_iter().zip(wanted).map(|(row, at)| {
        let (key, facts) = row?;
        (index.keys.get(first + at) == Some(&key)).then(|| (key, Arc::new(facts)))
    });
    keyed.collect()
}

/// Reads the one row of a loose file.
pub fn read_loose(file: &[u8]) -> Option<(ShardKey, FileFacts)> {
    let footer = file.len().checked_sub(usize::try_from(footer_len(file)?).ok()?)?;
    let metadata = parse_metadata(&file[footer..])?;
    let [group] = metadata.row_groups() else { return None };
    if group.num_rows() != 1 {
        return None;
    }
    let window = Window::new(0, file[..footer].to_vec());
    shard::decode(&window, group, &[0]).pop().flatten()
}

/// The length of the footer with its length and magic: what follows the last row group.
fn footer_len(file: &[u8]) -> Option<u64> {
    let tail = file.len().checked_sub(8)?;
    let (len, magic) = file[tail..].split_at(4);
    let len = u64::from(u32::from_le_bytes(len.try_into().ok()?)) + 8;
    (magic == b"PAR1" && file.starts_with(b"PAR1") && len <= file.len() as u64).then_some(len)
}

/// Parses a footer (with its length and magic at the end).
fn parse_metadata(footer: &[u8]) -> Option<ParquetMetaData> {
    let encoded = footer.get(..footer.len().checked_sub(8)?)?;
    // The reader is built for files of any origin, but a panic on a crafted footer must stay a miss.
    guarded(|| ParquetMetaDataReader::decode_metadata(encoded).ok()).flatten()
}

fn read_metadata(path: &Path, footer: &Part) -> Option<ParquetMetaData> {
    parse_metadata(&read_range(path, footer)?)
}

fn read_part(path: &Path, part: &Part) -> Option<Window> {
    Some(Window::new(part.bytes.start, read_range(path, part)?))
}

/// The bytes of a part; `None` when they are not those that the index knows.
fn read_range(path: &Path, part: &Part) -> Option<Vec<u8>> {
    let len = part.bytes.end.checked_sub(part.bytes.start).filter(|len| *len <= MAX_PART_BYTES)?;
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(part.bytes.start)).ok()?;
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == len && Digest::of(&bytes) == part.digest).then_some(bytes)
}

fn take<'b>(rest: &mut &'b [u8], len: usize) -> Option<&'b [u8]> {
    let (taken, left) = rest.split_at_checked(len)?;
    *rest = left;
    Some(taken)
}

fn take_number(rest: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(take(rest, 8)?.try_into().ok()?))
}
