//! Puts and gets shards and manifests. Every file is written once, under a temporary name, and
//! renamed into place; nothing is ever changed or locked, so a process killed at any moment
//! leaves a store that does not lie, and any number of processes may share one.
//!
//! ```text
//! loose/3f/<blob>-<dialect>-<fingerprint>.parquet    one row, for a few new blobs
//! packs/<digest>.parquet, packs/<digest>.idx         many rows
//! manifests/<tree>.manifest                          a tree's files
//! compilers/<digest>.program                         what a compiler said of a tree
//! quarantine/                                        what was found to be wrong
//! flat/<digest>.flat                                 shards once more, quick to read; any may go
//! trees/<key>.kept, trees/<key>.<name>.note          a tree as it was linked; any may go
//! tokens/<tokenizer>.table                           a tokenizer's words; may go
//! tmp/                                               files on their way
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::{Digest, ShardKey};
use crate::facts::model::FileFacts;
use crate::store::manifest::Manifest;
use crate::store::pack::{Pack, PackIndex, read_loose};
use crate::store::shard::{self, Form, Shard};

/// Up to this many new shards are written as loose files, more as one pack (measured: a loose
/// file costs as much disk as seven packed rows, and a pack of 16 already saves half).
pub const MAX_LOOSE: usize = 16;

/// The most rows of one pack, so that writing one stays within some hundred MB of memory.
pub const MAX_PACK_ROWS: usize = 32 * shard::ROWS_PER_GROUP;

/// The largest loose file that is read: no blob under the byte cap makes a larger one.
const MAX_LOOSE_BYTES: u64 = 256 << 20;

/// A file whose time is this old is marked when it is used: half of what `sweep` leaves alone.
const MARK_AFTER: Duration = Duration::from_secs(30 * 60);

/// A store in a folder.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    packs: RwLock<BTreeMap<PathBuf, Option<Arc<Pack>>>>,
    /// Removes the folder with the store, where it is for this process alone.
    _scratch: Option<tempfile::TempDir>,
    /// Files that were read since they were last marked as used.
    used: Mutex<BTreeSet<PathBuf>>,
}

/// A piece of reading that stands alone: rows of one group of a pack, or one loose file.
#[derive(Debug)]
pub struct Batch {
    source: Source,
    /// Which row of the source goes to which position of the asked-for keys.
    wanted: Vec<(usize, usize)>,
}

#[derive(Debug)]
enum Source {
    Pack { pack: Arc<Pack>, group: usize, rows: Vec<usize> },
    Loose { path: PathBuf, key: ShardKey },
}

/// What a batch found: positions in the asked-for keys, and the facts.
pub type Found = Vec<(usize, Option<Arc<FileFacts>>)>;

impl Store {
    /// Opens the store in `dir`, which is made when missing.
    ///
    /// # Errors
    /// `Store`, when the folder cannot be made or listed.
    pub fn open(dir: &Path) -> Result<Self> {
        let store = Store { dir: dir.to_owned(), packs: RwLock::default(), _scratch: None, used: Mutex::default() };
        fs::create_dir_all(dir).map_err(|cause| store.error("open").source(cause))?;
        fs::read_dir(dir).map_err(|cause| store.error("read").source(cause))?;
        store.refresh();
        Ok(store)
    }

    /// Makes a store that only this process and its user can read, and that goes with it.
    ///
    /// # Errors
    /// `Store` when there is no place for temporary files either.
    pub fn temporary() -> Result<Self> {
        let scratch = tempfile::Builder::new().prefix("ratlas-").tempdir().map_err(|cause| {
            Error::new(ErrorKind::Store, "cannot make a temporary folder for the store")
                .hint("set `RATLAS_STORE` to a folder that you can write")
                .source(cause)
        })?;
        let store = Store::open(scratch.path())?;
        Ok(Store { _scratch: Some(scratch), ..store })
    }

    /// The folder it lies in.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Reads the facts of `keys`; `None` where there is no shard that is whole and right.
    pub fn get_many(&self, keys: &[ShardKey]) -> Vec<Option<Arc<FileFacts>>> {
        self.get_many_by(keys, |batches| batches.iter().map(Batch::read).collect())
    }

    /// As [`Store::get_many`], with the batches run by `run` (on several threads, say).
    pub fn get_many_by(&self, keys: &[ShardKey], run: impl Fn(&[Batch]) -> Vec<Found>) -> Vec<Option<Arc<FileFacts>>> {
        let mut facts: Vec<Option<Arc<FileFacts>>> = vec![None; keys.len()];
        let mut missing: Vec<usize> = (0..keys.len()).collect();
        let (mut nth, mut refreshed) = (0, false);
        while !missing.is_empty() {
            let batches = self.batches(keys, &missing, nth);
            if batches.is_empty() {
                // Another process may have written since this one looked.
                if refreshed || !self.refresh() {
                    break;
                }
                (nth, refreshed) = (0, true);
                continue;
            }
            for (position, found) in run(&batches).into_iter().flatten() {
                facts[position] = found;
            }
            // A damaged row may have a whole twin elsewhere.
            missing.retain(|position| facts[*position].is_none());
            nth += 1;
        }
        facts
    }

    /// Whether each key has a shard (its bytes are not read).
    pub fn contains_many(&self, keys: &[ShardKey]) -> Vec<bool> {
        self.refresh();
        let packs = self.packs();
        keys.iter()
            .map(|key| packs.iter().any(|pack| pack.find(key).is_some()) || self.loose_path(key).is_file())
            .collect()
    }

    /// Writes shards: up to [`MAX_LOOSE`] as loose files, more as packs.
    ///
    /// The order and repetition of `shards` do not matter.
    ///
    /// # Errors
    /// `Store`, when the folder cannot be written.
    pub fn put_many(&self, mut shards: Vec<Shard>) -> Result<()> {
        shards.sort_by_key(|(key, _)| *key);
        shards.dedup_by_key(|(key, _)| *key);
        if shards.len() <= MAX_LOOSE {
            for shard in &shards {
                self.write(&self.loose_path(&shard.0), &shard::encode(std::slice::from_ref(shard), Form::Loose)?)?;
            }
            return Ok(());
        }
        for shards in shards.chunks(MAX_PACK_ROWS) {
            self.put_pack(shards)?;
        }
        self.refresh();
        Ok(())
    }

    /// Writes one pack of shards that are sorted by key; gives the pack's path.
    ///
    /// # Errors
    /// `Store`, when the folder cannot be written.
    pub fn put_pack(&self, shards: &[Shard]) -> Result<PathBuf> {
        self.put_pack_of(shards, Form::Pack)
    }

    /// As [`Store::put_pack`], in a form for many rows.
    ///
    /// # Errors
    /// As [`Store::put_pack`].
    pub fn put_pack_of(&self, shards: &[Shard], form: Form) -> Result<PathBuf> {
        let bytes = shard::encode(shards, form)?;
        let name = Digest::of(&bytes).to_string();
        let path = self.dir.join("packs").join(format!("{}.parquet", &name[..32]));
        let index = PackIndex::of(&bytes);
        let index = index.ok_or_else(|| Error::new(ErrorKind::Store, "cannot index a pack of unsorted shards"))?;
        // The index first: alone it says nothing, and the pack never stands without it.
        self.write(&path.with_extension("idx"), &index.encode())?;
        self.write(&path, &bytes)?;
        Ok(path)
    }

    /// Reads the manifest of a tree; `None` when there is none, or it is not whole.
    pub fn get_manifest(&self, tree: &str) -> Option<Manifest> {
        Manifest::decode(&fs::read_to_string(self.manifest_path(tree)).ok()?)
    }

    /// Writes the manifest of a tree.
    ///
    /// # Errors
    /// `Store`, when the folder cannot be written.
    pub fn put_manifest(&self, tree: &str, manifest: &Manifest) -> Result<()> {
        self.write(&self.manifest_path(tree), manifest.encode().as_bytes())
    }

    /// Marks what was read since the last call as used now, by the files' times, so that the
    /// least lately used goes first. Failing to (a store of others) costs nothing but that.
    pub fn mark_used(&self) {
        let used = std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner));
        used.iter().for_each(|path| mark(path));
    }

    /// Marks a tree's manifest as used now.
    pub fn mark_manifest(&self, tree: &str) {
        mark(&self.manifest_path(tree));
    }

    /// How many shards there are: rows of packs and loose files, twins counted each.
    pub fn n_shards(&self) -> usize {
        self.refresh();
        let n_packed: usize = self.packs().iter().map(|pack| pack.n_rows()).sum();
        let folders = fs::read_dir(self.dir.join("loose")).into_iter().flatten().flatten();
        let n_loose: usize = folders.map(|folder| fs::read_dir(folder.path()).map_or(0, Iterator::count)).sum();
        n_packed + n_loose
    }

    /// The bytes of all files in the store.
    pub fn size_bytes(&self) -> u64 {
        size_of_folder(&self.dir)
    }

    /// Looks for packs written since the last look; says whether there are any.
    pub(crate) fn refresh(&self) -> bool {
        let mut found: Vec<PathBuf> = fs::read_dir(self.dir.join("packs"))
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|e| e == "parquet"))
            .collect();
        found.sort_unstable();
        let mut packs = self.packs.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        let n_before = packs.len();
        packs.retain(|path, _| found.binary_search(path).is_ok());
        for path in found {
            packs.entry(path).or_insert_with_key(|path| Pack::open(path).map(Arc::new));
        }
        packs.len() != n_before
    }

    /// The usable packs, by name.
    pub(crate) fn packs(&self) -> Vec<Arc<Pack>> {
        let packs = self.packs.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        packs.values().flatten().cloned().collect()
    }

    /// The batches that read the `missing` positions of `keys`, each from the `nth` place that
    /// claims to have it: packs by name, then the loose file.
    fn batches(&self, keys: &[ShardKey], missing: &[usize], nth: usize) -> Vec<Batch> {
        let packs = self.packs();
        let mut grouped: BTreeMap<(usize, usize), Vec<(usize, usize)>> = BTreeMap::new();
        let mut loose = Vec::new();
        for position in missing {
            let key = &keys[*position];
            let mut places = packs.iter().enumerate().filter_map(|(at, pack)| Some((at, pack.find(key)?)));
            let mut n_before = 0;
            let place = loop {
                match places.next() {
                    Some(place) if n_before == nth => break Some(place),
                    Some(_) => n_before += 1,
                    None => break None,
                }
            };
            match place {
                Some((pack, row)) => {
                    let (group, first) = packs[pack].group_of(row);
                    grouped.entry((pack, group)).or_default().push((row - first, *position));
                }
                None if n_before == nth => {
                    let path = self.loose_path(key);
                    if path.is_file() {
                        loose.push(Batch { source: Source::Loose { path, key: *key }, wanted: vec![(0, *position)] });
                    }
                }
                None => {}
            }
        }
        let packed = grouped.into_iter().map(|((pack, group), mut wanted)| {
            wanted.sort_unstable();
            let mut rows: Vec<usize> = Vec::with_capacity(wanted.len());
            for (row, _) in &mut wanted {
                if rows.last() != Some(row) {
                    rows.push(*row);
                }
                *row = rows.len() - 1;
            }
            Batch { source: Source::Pack { pack: packs[pack].clone(), group, rows }, wanted }
        });
        let batches: Vec<Batch> = packed.chain(loose).collect();
        let paths = batches.iter().map(|batch| match &batch.source {
            Source::Pack { pack, .. } => pack.path().to_owned(),
            Source::Loose { path, .. } => path.clone(),
        });
        self.used.lock().unwrap_or_else(PoisonError::into_inner).extend(paths);
        batches
    }

    pub(crate) fn loose_path(&self, key: &ShardKey) -> PathBuf {
        let blob = key.blob.to_string();
        let name = format!("{blob}-{}-{}.parquet", key.dialect, key.fingerprint);
        self.dir.join("loose").join(&blob[..2]).join(name)
    }

    fn manifest_path(&self, tree: &str) -> PathBuf {
        let plain =
            !tree.is_empty() && tree.len() <= 128 && tree.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let name = if plain { tree.to_owned() } else { format!("x{}", Digest::of(tree.as_bytes())) };
        self.dir.join("manifests").join(format!("{name}.manifest"))
    }

    /// Writes a file whole or not at all: under a temporary name, then renamed.
    ///
    /// # Errors
    /// `Store`, when the folder cannot be written.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let tmp = self.dir.join("tmp");
        let write = || {
            fs::create_dir_all(&tmp)?;
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            let mut builder = tempfile::Builder::new();
            // As any file of the user's: the process's mask decides who else may read a shared store.
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            let mut file = builder.tempfile_in(&tmp)?;
            file.write_all(bytes)?;
            file.persist(path).map_err(|e| e.error)?;
            Ok::<(), std::io::Error>(())
        };
        write().map_err(|cause| self.error("write to").source(cause))
    }

    /// The error of a store that cannot be used.
    pub fn error(&self, doing: &str) -> Error {
        Error::new(ErrorKind::Store, format!("cannot {doing} the store `{}`", self.dir.display()))
            .hint("set `RATLAS_STORE` (or `[store] path`) to a folder that you can read and write")
    }
}

impl Batch {
    /// Reads the batch: its positions, each with its facts or `None`.
    pub fn read(&self) -> Found {
        let rows: Vec<Option<Arc<FileFacts>>> = match &self.source {
            Source::Pack { pack, group, rows } => {
                pack.read(*group, rows).into_iter().map(|facts| facts.map(Arc::new)).collect()
            }
            Source::Loose { path, key } => vec![read_loose_file(path, key).map(Arc::new)],
        };
        self.wanted.iter().map(|(row, position)| (*position, rows[*row].clone())).collect()
    }
}

fn read_loose_file(path: &Path, key: &ShardKey) -> Option<FileFacts> {
    let (found, facts) = read_loose_shard(path)?;
    (found == *key).then_some(facts)
}

/// The shard of a loose file, under the key that it says it has.
pub(crate) fn read_loose_shard(path: &Path) -> Option<(ShardKey, FileFacts)> {
    if fs::metadata(path).ok()?.len() > MAX_LOOSE_BYTES {
        return None;
    }
    read_loose(&fs::read(path).ok()?)
}

fn mark(path: &Path) {
    let now = SystemTime::now();
    let is_old = |time: SystemTime| now.duration_since(time).is_ok_and(|age| age > MARK_AFTER);
    if fs::metadata(path).and_then(|metadata| metadata.modified()).is_ok_and(is_old) {
        let _ = fs::File::options().append(true).open(path).and_then(|file| file.set_modified(now));
    }
}

fn size_of_folder(dir: &Path) -> u64 {
    fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let metadata = entry.metadata().ok()?;
            Some(if metadata.is_dir() { size_of_folder(&entry.path()) } else { metadata.len() })
        })
        .sum()
}
