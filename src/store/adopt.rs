//! Packs as wholes: taking one in that came from elsewhere, making one out of loose shards or of
//! a tree's, setting one aside that was found to be wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::error::Result;
use crate::base::id::{Digest, ShardKey};
use crate::store::objects::{MAX_PACK_ROWS, Store, read_loose_shard};
use crate::store::pack::{Pack, PackIndex};
use crate::store::shard::{Form, Shard};

/// What packing did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// File names of the packs that were written, sorted.
    pub packs: Vec<String>,
    pub n_rows: usize,
    pub n_bytes: u64,
    /// Loose files and packs that are gone, since all they held is in these packs.
    pub n_replaced: usize,
}

impl Store {
    /// Where the pack of a digest lies, or would.
    pub fn pack_path(&self, digest: &Digest) -> PathBuf {
        self.dir().join("packs").join(format!("{}.parquet", &digest.to_string()[..32]))
    }

    /// The index of a pack that lies here.
    pub fn pack_index(&self, digest: &Digest) -> Option<PackIndex> {
        let path = self.pack_path(digest);
        path.is_file().then(|| Pack::open(&path)).flatten().map(|pack| pack.index().clone())
    }

    /// Takes a pack in: its file (whose digest is known to be right; it is moved) and its index.
    /// Says whether it was taken: not when its columns are not ours, or the index is not its own.
    ///
    /// # Errors
    /// `Store`, when the folder cannot be written.
    pub fn adopt_pack(&self, digest: &Digest, file: &Path, index: &PackIndex) -> Result<bool> {
        let failed = |cause| self.error("write to").source(cause);
        let bytes = fs::read(file).map_err(failed)?;
        if PackIndex::of(&bytes).as_ref() != Some(index) {
            let _ = fs::remove_file(file);
            return Ok(false);
        }
        let path = self.pack_path(digest);
        self.write(&path.with_extension("idx"), &index.encode())?;
        // From within the store's own folder for files on their way: renaming is atomic.
        fs::rename(file, &path).map_err(failed)?;
        self.refresh();
        Ok(true)
    }

    /// Packs the loose shards, and removes their files once the packs stand. Damaged ones go too:
    /// they hold nothing.
    ///
    /// # Errors
    /// `Store`, when the folder cannot be written.
    pub fn pack_loose(&self) -> Result<Packed> {
        let files = self.loose_files();
        let mut packed = Packed::default();
        // Some at a time, to stay within the memory of one pack.
        for files in files.chunks(MAX_PACK_ROWS) {
            let mut shards: Vec<Shard> =
                files.iter().filter_map(|file| read_loose_shard(file)).map(|(k, f)| (k, Arc::new(f))).collect();
            shards.sort_by_key(|(key, _)| *key);
            shards.dedup_by_key(|(key, _)| *key);
            self.put_packs(&shards, &mut packed)?;
            packed.n_replaced += files.iter().filter(|file| fs::remove_file(file).is_ok()).count();
        }
        self.refresh();
        Ok(packed)
    }

    /// Packs the shards of `keys`, as far as they are here, in packs of their own; what is wholly
    /// in them is removed. Equal shards give equal packs, by one binary.
    ///
    /// # Errors
    /// `Store`, when the folder cannot be written.
    pub fn pack_all(&self, keys: &[ShardKey]) -> Result<Packed> {
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        keys.dedup();
        let mut packed = Packed::default();
        for keys in keys.chunks(MAX_PACK_ROWS) {
            let facts = self.get_many(keys);
            let shards: Vec<Shard> = keys.iter().zip(facts).filter_map(|(key, facts)| Some((*key, facts?))).collect();
            self.put_packs(&shards, &mut packed)?;
        }
        self.refresh();
        for pack in self.packs() {
            let is_new = pack.path().file_name().is_some_and(|n| packed.packs.iter().any(|name| n == name.as_str()));
            if !is_new && pack.keys().iter().all(|key| keys.binary_search(key).is_ok()) {
                packed.n_replaced += usize::from(remove_pack(pack.path()));
            }
        }
        for file in self.loose_files() {
            let key = read_loose_shard(&file).map(|(key, _)| key);
            if key.is_none_or(|key| keys.binary_search(&key).is_ok()) {
                packed.n_replaced += usize::from(fs::remove_file(&file).is_ok());
            }
        }
        self.refresh();
        Ok(packed)
    }

    /// Packs the shards of `keys` and removes every other pack, loose shard and manifest.
    ///
    /// # Errors
    /// `Store`, when the folder cannot be written.
    pub fn keep_only(&self, keys: &[ShardKey]) -> Result<Packed> {
        let mut packed = self.pack_all(keys)?;
        for pack in self.packs() {
            if !pack.path().file_name().is_some_and(|n| packed.packs.iter().any(|name| n == name.as_str())) {
                packed.n_replaced += usize::from(remove_pack(pack.path()));
            }
        }
        for folder in ["loose", "manifests", "quarantine", "tmp", "stat"] {
            let folder = self.dir().join(folder);
            if folder.is_dir() {
                packed.n_replaced += usize::from(fs::remove_dir_all(&folder).is_ok());
            }
        }
        self.refresh();
        Ok(packed)
    }

    fn put_packs(&self, shards: &[Shard], packed: &mut Packed) -> Result<()> {
        for shards in shards.chunks(MAX_PACK_ROWS) {
            let path = self.put_pack_of(shards, Form::Published)?;
            packed.n_rows += shards.len();
            packed.n_bytes += fs::metadata(&path).map_or(0, |metadata| metadata.len());
            packed.packs.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
        packed.packs.sort();
        Ok(())
    }

    /// Sets aside every pack and loose file that holds one of `keys`, so that what they held is
    /// extracted again; gives their file names, sorted.
    ///
    /// # Errors
    /// `Store`, when a file can neither be set aside nor removed.
    pub fn quarantine(&self, keys: &[ShardKey]) -> Result<Vec<String>> {
        let packs = self.packs();
        let mut files: Vec<PathBuf> = packs
            .iter()
            .filter(|pack| keys.iter().any(|key| pack.find(key).is_some()))
            .map(|pack| pack.path().to_owned())
            .chain(keys.iter().map(|key| self.loose_path(key)).filter(|path| path.is_file()))
            .collect();
        files.sort();
        files.dedup();
        let folder = self.dir().join("quarantine");
        fs::create_dir_all(&folder).map_err(|cause| self.error("write to").source(cause))?;
        let mut names = Vec::new();
        for file in files {
            let Some(name) = file.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
            let aside = fs::rename(&file, folder.join(&name)).or_else(|_| fs::remove_file(&file));
            aside.map_err(|cause| self.error("remove a file of").source(cause))?;
            let _ = fs::remove_file(file.with_extension("idx"));
            names.push(name);
        }
        self.refresh();
        Ok(names)
    }

    fn loose_files(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.dir().join("loose")).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = folders
            .flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten())
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "parquet"))
            .collect();
        files.sort();
        files
    }
}

fn remove_pack(path: &Path) -> bool {
    let is_removed = fs::remove_file(path).is_ok();
    let _ = fs::remove_file(path.with_extension("idx"));
    is_removed
}
