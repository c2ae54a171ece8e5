//! Flat files: facts in the canonical encoding, one file after the other, each found and proved
//! alone. They are a copy of what shards hold, for the reader who wants a handful of files, or
//! all of them, at once: a row of a pack costs the unpacking of the pages it shares (8–13 ms), here
//! it is a read of some KB. Made by this process family alone, never sent or taken, and any of
//! them may vanish at any time: what is missing is read from shards.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use crate::base::dialect::Dialect;
use crate::base::error::Result;
use crate::base::id::{BlobId, Digest, Fingerprint, ShardKey};
use crate::base::parallel::each;
use crate::facts::canonical;
use crate::facts::decode::decode;
use crate::facts::model::FileFacts;
use crate::facts::validate::validate;
use crate::store::objects::Store;
use crate::store::parts::{Cursor, files_by_age, put_varint, read_at};
use crate::store::shard::Shard;

const MAGIC: &[u8] = b"RATFLAT1";

/// How many flat files are kept, the newest; each holds what none before it had.
const MAX_FLATS: usize = 12;

/// The largest head that is read: some 40 bytes a shard.
const MAX_HEAD_BYTES: u64 = 1 << 30;

/// The flat files of a store.
#[derive(Debug)]
pub struct Flats {
    dir: PathBuf,
    flats: RwLock<Vec<Arc<Flat>>>,
}

/// One file, held open: it can be replaced or removed under its readers.
#[derive(Debug)]
struct Flat {
    path: PathBuf,
    file: File,
    /// Sorted by key.
    rows: Vec<(ShardKey, Span)>,
}

/// Where a shard's facts lie, packed, and the digest of those bytes.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u64,
    len_bytes: u32,
    digest: u64,
}

impl Flats {
    /// Opens what flat files a store has.
    pub fn open(store: &Store) -> Self {
        let flats = Flats { dir: store.dir().join("flat"), flats: RwLock::default() };
        flats.refresh();
        flats
    }

    /// The facts of a shard; `None` where no flat file has them whole.
    pub fn get(&self, key: &ShardKey) -> Option<FileFacts> {
        self.flats().iter().find_map(|flat| flat.get(key))
    }

    /// Whether each key is in a flat file.
    pub fn contains_many(&self, keys: &[ShardKey]) -> Vec<bool> {
        let flats = self.flats();
        keys.iter().map(|key| flats.iter().any(|flat| flat.find(key).is_some())).collect()
    }

    /// Writes a flat file of shards, and drops the oldest beyond a few.
    ///
    /// # Errors
    /// `Store`, when the folder cannot be written.
    pub fn put(&self, store: &Store, mut shards: Vec<Shard>, jobs: usize) -> Result<()> {
        shards.sort_by_key(|(key, _)| *key);
        shards.dedup_by_key(|(key, _)| *key);
        let bytes = encode(&shards, jobs);
        let name = Digest::of(&bytes).to_string();
        store.write(&self.dir.join(format!("{}.flat", &name[..32])), &bytes)?;
        self.prune();
        self.refresh();
        Ok(())
    }

    fn flats(&self) -> Vec<Arc<Flat>> {
        self.flats.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Takes note of files that came or went.
    fn refresh(&self) {
        let found = files_by_age(&self.dir, "flat");
        let mut flats = self.flats.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        flats.retain(|flat| found.contains(&flat.path));
        for path in found {
            if !flats.iter().any(|flat| flat.path == path) {
                flats.extend(Flat::open(&path).map(Arc::new));
            }
        }
    }

    fn prune(&self) {
        for path in files_by_age(&self.dir, "flat").into_iter().skip(MAX_FLATS) {
            // Another process may have been quicker.
            let _ = fs::remove_file(path);
        }
    }
}

impl Flat {
    fn open(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        let start = read_at(&file, 0, 16)?;
        let len = u64::from_le_bytes(start.strip_prefix(MAGIC)?.try_into().ok()?);
        let head =
            read_at(&file, 16, usize::try_from(len.checked_add(32).filter(|len| *len <= MAX_HEAD_BYTES)?).ok()?)?;
        let (head, digest) = head.split_at(head.len() - 32);
        if Digest::of(head).0 != *digest {
            return None;
        }
        let mut head = Cursor(head);
        let mut fingerprints = Vec::new();
        for _ in 0..head.count()? {
            fingerprints.push(Fingerprint(Digest(head.take(32)?.try_into().ok()?)));
        }
        let mut rows: Vec<(ShardKey, Span)> = Vec::new();
        let mut start = 16 + len + 32;
        for _ in 0..head.count()? {
            let dialect = *Dialect::ALL.get(usize::from(head.take(1)?[0]))?;
            let fingerprint = *fingerprints.get(head.number()? as usize)?;
            let blob_len = usize::from(head.take(1)?[0]);
            let blob = BlobId::from_bytes(head.take(blob_len)?)?;
            let len_bytes = u32::try_from(head.varint()?).ok()?;
            let digest = u64::from_le_bytes(head.take(8)?.try_into().ok()?);
            rows.push((ShardKey { blob, dialect, fingerprint }, Span { start, len_bytes, digest }));
            start += u64::from(len_bytes);
        }
        let sorted = rows.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let whole = file.metadata().ok()?.len() == start;
        (head.0.is_empty() && sorted && whole).then(|| Flat { path: path.to_owned(), file, rows })
    }

    fn find(&self, key: &ShardKey) -> Option<Span> {
        self.rows.binary_search_by(|(known, _)| known.cmp(key)).ok().map(|at| self.rows[at].1)
    }

    fn get(&self, key: &ShardKey) -> Option<FileFacts> {
        let span = self.find(key)?;
        let packed = read_at(&self.file, span.start, span.len_bytes as usize)?;
        if Digest::of(&packed).short() != span.digest {
            return None;
        }
        let facts = decode(&snap::raw::Decoder::new().decompress_vec(&packed).ok()?)?;
        (facts.dialect == key.dialect && validate(&facts)).then_some(facts)
    }
}

fn encode(shards: &[Shard], jobs: usize) -> Vec<u8> {
    let packed = each(shards.len(), jobs, Vec::new, |plain, at| {
        plain.clear();
        canonical::encode(&shards[at].1, plain);
        snap::raw::Encoder::new().compress_vec(plain).unwrap_or_default()
    });
    let mut fingerprints: Vec<Fingerprint> = shards.iter().map(|(key, _)| key.fingerprint).collect();
    fingerprints.sort_unstable();
    fingerprints.dedup();
    let (mut head, mut body) = (Vec::new(), Vec::new());
    put_varint(fingerprints.len() as u64, &mut head);
    fingerprints.iter().for_each(|f| head.extend_from_slice(&f.0.0));
    let mut rows = Vec::new();
    let mut n_rows = 0u64;
    for ((key, _), packed) in shards.iter().zip(packed) {
        // Beyond 4 GiB, or refused by the codec: the shard has it.
        if packed.is_empty() || u32::try_from(packed.len()).is_err() {
            continue;
        }
        n_rows += 1;
        rows.push(key.dialect as u8);
        put_varint(fingerprints.binary_search(&key.fingerprint).unwrap_or_default() as u64, &mut rows);
        rows.push(key.blob.as_bytes().len() as u8);
        rows.extend_from_slice(key.blob.as_bytes());
        put_varint(packed.len() as u64, &mut rows);
        rows.extend_from_slice(&Digest::of(&packed).short().to_le_bytes());
        body.extend_from_slice(&packed);
    }
    put_varint(n_rows, &mut head);
    head.extend_from_slice(&rows);
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&(head.len() as u64).to_le_bytes());
    out.extend_from_slice(&head);
    out.extend_from_slice(&Digest::of(&head).0);
    out.extend_from_slice(&body);
    out
}
