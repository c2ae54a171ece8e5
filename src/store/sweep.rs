//! Takes away what nobody needs: the leftovers of killed processes, shards of no tree, and, over
//! a cap, the least lately used first. Never what is needed.
//!
//! Nothing is locked. A file goes in two steps: it is moved aside, manifests that appeared
//! meanwhile are asked whether they name it, and only then it is removed. A reader that comes
//! between finds a miss and extracts anew; a file that was written or used within
//! [`GRACE`] stays, so that an index in the making loses nothing.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::base::error::Result;
use crate::store::inventory::{FileKind, Inventory, ShardName, StoredFile};
use crate::store::manifest::Manifest;
use crate::store::objects::Store;
use crate::store::pack::{Pack, read_loose};
use crate::store::shard::Shard;

/// What was written or used this lately stays, whoever needs it: longer than any index takes.
pub const GRACE: Duration = Duration::from_secs(60 * 60);

/// What was written or used this lately stays unless there is a cap and it is passed; manifests
/// this young keep what they name even then. A week: a guess at how long a branch is gone
/// before it is come back to.
pub const RECENT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A pack with at least this share of rows that nobody needs is written anew without them.
const DEAD_SHARE: f64 = 0.25;

/// More needed loose files than this are put into packs.
const MAX_KEPT_LOOSE: usize = 256;

/// The most rows that are read at once to be packed anew.
const MAX_PACK_ROWS: usize = 8_192;

/// How to sweep.
#[derive(Clone, Debug)]
pub struct SweepOptions {
    /// The store is made no larger than this, as far as what is needed allows.
    pub max_bytes: Option<u64>,
    /// The time that ages are counted to.
    pub now: SystemTime,
    /// Whether everything is only counted.
    pub is_dry: bool,
}

/// What was taken away, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Bytes of the store before.
    pub before_bytes: u64,
    /// Bytes of the store after.
    pub after_bytes: u64,
    /// By kind, how many files and bytes went.
    pub removed: BTreeMap<FileKind, (usize, u64)>,
    /// Shards that were moved into new packs.
    pub n_repacked: usize,
    /// How many shards are needed, and present.
    pub n_needed: usize,
}

/// A pack, and which of its rows are needed and are in no other pack that stays.
struct Rated {
    pack: Arc<Pack>,
    needed: Vec<usize>,
}

impl Store {
    /// Removes what `needs` (and no recent manifest) asks for.
    ///
    /// # Errors
    /// `Store`, when a pack cannot be written. A file that cannot be removed stays, and is counted as there.
    pub fn sweep(&self, needs: &dyn Fn(&ShardName) -> bool, options: &SweepOptions) -> Result<Swept> {
        let inventory = Inventory::take(self.dir());
        self.refresh();
        let mut sweep = Sweep {
            store: self,
            options,
            swept: Swept { before_bytes: inventory.n_bytes(), ..Swept::default() },
            left: inventory.n_bytes(),
            seen: inventory.of(FileKind::Manifest).map(|file| (file.path.clone(), file.modified)).collect(),
        };
        let (recent, old): (Vec<&StoredFile>, Vec<&StoredFile>) =
            inventory.of(FileKind::Manifest).partition(|file| !sweep.is_older(file, RECENT));
        let named = shards_of(recent.iter().map(|file| file.path.as_path()));
        let needs = |shard: &ShardName| needs(shard) || named.contains(shard);

        let leftovers: Vec<&StoredFile> =
            inventory.of(FileKind::Temporary).filter(|file| sweep.is_older(file, GRACE)).collect();
        leftovers.into_iter().for_each(|file| sweep.remove(&[file], &HashSet::new()));
        sweep.packs(&inventory, &needs)?;
        sweep.loose(&inventory, &needs)?;
        sweep.manifests(&old, &needs);
        sweep.derived(&inventory);
        sweep.swept.after_bytes = if options.is_dry { sweep.left } else { Inventory::take(self.dir()).n_bytes() };
        Ok(sweep.swept)
    }
}

struct Sweep<'a> {
    store: &'a Store,
    options: &'a SweepOptions,
    swept: Swept,
    /// Bytes that are left so far.
    left: u64,
    /// Manifests that were there at the start, with their times.
    seen: BTreeMap<PathBuf, SystemTime>,
}

impl Sweep<'_> {
    fn is_older(&self, file: &StoredFile, age: Duration) -> bool {
        // A time to come (a clock that was set back) counts as now.
        self.options.now.duration_since(file.modified).is_ok_and(|passed| passed > age)
    }

    fn is_over(&self) -> bool {
        self.options.max_bytes.is_some_and(|max| self.left > max)
    }

    /// Whether a file that nobody needs goes now.
    fn goes(&self, file: &StoredFile) -> bool {
        self.is_older(file, RECENT) || (self.is_over() && self.is_older(file, GRACE))
    }

    /// Packs: those without a needed row go, those with too many others are written anew.
    fn packs(&mut self, inventory: &Inventory, needs: &dyn Fn(&ShardName) -> bool) -> Result<()> {
        let files: BTreeMap<&Path, &StoredFile> =
            inventory.of(FileKind::Pack).map(|file| (file.path.as_path(), file)).collect();
        let indexes: BTreeMap<&Path, &StoredFile> =
            inventory.of(FileKind::PackIndex).map(|file| (file.path.as_path(), file)).collect();
        let mut packs = self.store.packs();
        // The largest first: of twins, those in it stay.
        packs.sort_by_key(|pack| (std::cmp::Reverse(pack.n_rows()), pack.path().to_owned()));
        let mut claimed: HashSet<ShardName> = HashSet::new();
        let mut rated: Vec<(Rated, &StoredFile)> = Vec::new();
        for pack in packs {
            let Some(file) = files.get(pack.path()) else { continue };
            let rows = pack.keys().iter().enumerate();
            let needed: Vec<usize> = rows
                .map(|(row, key)| (row, ShardName::of(key)))
                .filter(|(_, shard)| needs(shard) && claimed.insert(*shard))
                .map(|(row, _)| row)
                .collect();
            rated.push((Rated { pack, needed }, file));
        }
        self.swept.n_needed += claimed.len();
        rated.sort_by_key(|(_, file)| (file.modified, file.path.clone()));
        let mut moving: Vec<(Rated, Vec<&StoredFile>)> = Vec::new();
        for (rated, file) in rated {
            let n_dead = rated.pack.n_rows() - rated.needed.len();
            if (n_dead as f64) < DEAD_SHARE * rated.pack.n_rows() as f64 || n_dead == 0 || !self.goes(file) {
                continue;
            }
            let index = indexes.get(file.path.with_extension("idx").as_path()).copied();
            let files: Vec<&StoredFile> = [file].into_iter().chain(index).collect();
            if rated.needed.is_empty() {
                let shards = rated.pack.keys().iter().map(ShardName::of).collect();
                self.remove(&files, &shards);
            } else {
                moving.push((rated, files));
            }
        }
        for (rated, files) in moving {
            self.repack(&rated, &files)?;
        }
        // A pack that cannot be opened answers nothing, nor does an index without its pack.
        let usable: HashSet<PathBuf> = self.store.packs().iter().map(|pack| pack.path().to_owned()).collect();
        for file in inventory.of(FileKind::Pack).filter(|file| !usable.contains(&file.path)) {
            if self.is_older(file, GRACE) {
                self.remove(&[file], &HashSet::new());
            }
        }
        for index in inventory.of(FileKind::PackIndex) {
            if self.is_older(index, GRACE) && !index.path.with_extension("parquet").exists() && index.path.exists() {
                self.remove(&[index], &HashSet::new());
            }
        }
        Ok(())
    }

    /// Writes the needed rows of a pack as others, and removes it.
    fn repack(&mut self, rated: &Rated, files: &[&StoredFile]) -> Result<()> {
        let pack = &rated.pack;
        self.swept.n_repacked += rated.needed.len();
        if self.options.is_dry {
            let share = (pack.n_rows() - rated.needed.len()) as f64 / pack.n_rows() as f64;
            let bytes: u64 = files.iter().map(|file| file.len_bytes).sum();
            let freed = (bytes as f64 * share) as u64;
            self.left = self.left.saturating_sub(freed);
            let tally = self.swept.removed.entry(FileKind::Pack).or_default();
            *tally = (tally.0 + 1, tally.1 + freed);
            return Ok(());
        }
        let mut written = Vec::new();
        for rows in rated.needed.chunks(MAX_PACK_ROWS) {
            let shards = read_rows(pack, rows);
            if !shards.is_empty() {
                written.push(self.store.put_pack(&shards)?);
            }
        }
        self.left += written.iter().map(|path| len_of(path) + len_of(&path.with_extension("idx"))).sum::<u64>();
        if written.iter().all(|path| path != pack.path()) {
            // Every needed row that could be read lies elsewhere now: the manifests need not be asked.
            let needed: HashSet<usize> = rated.needed.iter().copied().collect();
            let rows = pack.keys().iter().enumerate();
            let gone = rows.filter(|(row, _)| !needed.contains(row)).map(|(_, key)| ShardName::of(key)).collect();
            self.remove(files, &gone);
        }
        Ok(())
    }

    /// Loose files: twins of packed rows go, as do those that nobody needs; many become packs.
    fn loose(&mut self, inventory: &Inventory, needs: &dyn Fn(&ShardName) -> bool) -> Result<()> {
        let packs = self.store.packs();
        let packs = packs.iter().filter(|pack| pack.path().exists());
        let packed: HashSet<ShardName> = packs.flat_map(|pack| pack.keys().iter().map(ShardName::of)).collect();
        let mut files: Vec<&StoredFile> = inventory.of(FileKind::Loose).collect();
        files.sort_by_key(|file| (file.modified, &file.path));
        let mut kept: Vec<&StoredFile> = Vec::new();
        for file in files {
            let Some(shard) = file.shard else {
                // The name of no shard: nothing finds it.
                if self.is_older(file, GRACE) {
                    self.remove(&[file], &HashSet::new());
                }
                continue;
            };
            let is_packed = packed.contains(&shard);
            if needs(&shard) && !is_packed {
                self.swept.n_needed += 1;
                kept.extend(self.is_older(file, GRACE).then_some(file));
            } else if (is_packed && self.is_older(file, GRACE)) || self.goes(file) {
                let shards = if is_packed { HashSet::new() } else { HashSet::from([shard]) };
                self.remove(&[file], &shards);
            }
        }
        if kept.len() <= MAX_KEPT_LOOSE {
            return Ok(());
        }
        self.swept.n_repacked += kept.len();
        if self.options.is_dry {
            return Ok(());
        }
        for files in kept.chunks(MAX_PACK_ROWS) {
            let mut shards: Vec<Shard> = files
                .iter()
                .filter_map(|file| {
                    read_loose(&fs::read(&file.path).ok()?).filter(|(key, _)| Some(ShardName::of(key)) == file.shard)
                })
                .map(|(key, facts)| (key, Arc::new(facts)))
                .collect();
            shards.sort_by_key(|(key, _)| *key);
            if !shards.is_empty() {
                self.store.put_pack(&shards)?;
                files.iter().for_each(|file| self.remove(&[file], &HashSet::new()));
            }
        }
        Ok(())
    }

    /// Old manifests: those that are no longer whole, or name what is gone or needed by nobody.
    fn manifests(&mut self, old: &[&StoredFile], needs: &dyn Fn(&ShardName) -> bool) {
        for file in old {
            let is_live = read_manifest(&file.path).is_some_and(|manifest| {
                manifest.entries.iter().filter_map(|entry| entry.key()).all(|key| needs(&ShardName::of(&key)))
            });
            if !is_live {
                self.remove(&[file], &HashSet::new());
            }
        }
    }

    /// What can be made again from the rest, at the cost of time: the least lately used first.
    fn derived(&mut self, inventory: &Inventory) {
        let mut files: Vec<&StoredFile> = inventory.of(FileKind::Derived).collect();
        files.sort_by_key(|file| (file.modified, &file.path));
        for file in files {
            if self.goes(file) {
                self.remove(&[file], &HashSet::new());
            }
        }
    }

    /// Moves files that hold `shards` aside and removes them, unless a manifest that appeared since
    /// the start names one.
    fn remove(&mut self, files: &[&StoredFile], shards: &HashSet<ShardName>) {
        let bytes: u64 = files.iter().map(|file| file.len_bytes).sum();
        if !self.options.is_dry && !self.take_away(files, shards) {
            return;
        }
        self.left = self.left.saturating_sub(bytes);
        for file in files {
            let tally = self.swept.removed.entry(file.kind).or_default();
            *tally = (tally.0 + 1, tally.1 + file.len_bytes);
        }
    }

    fn take_away(&self, files: &[&StoredFile], shards: &HashSet<ShardName>) -> bool {
        let tmp = self.store.dir().join("tmp");
        let mut aside: Vec<(PathBuf, &Path)> = Vec::new();
        let back = |aside: &[(PathBuf, &Path)]| aside.iter().for_each(|(from, to)| drop(fs::rename(from, to)));
        for file in files {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let to = tmp.join(format!("gone-{}-{name}", std::process::id()));
            if fs::create_dir_all(&tmp).is_err() || fs::rename(&file.path, &to).is_err() {
                // Gone already, or not ours to remove.
                back(&aside);
                return false;
            }
            aside.push((to, &file.path));
        }
        if !shards.is_empty() && self.is_named_since(shards) {
            back(&aside);
            return false;
        }
        aside.iter().for_each(|(path, _)| drop(fs::remove_file(path)));
        true
    }

    /// Whether a manifest that was written or used since the start names one of the shards.
    fn is_named_since(&self, shards: &HashSet<ShardName>) -> bool {
        let now = Inventory::take_folder(self.store.dir(), FileKind::Manifest);
        let fresh = now.iter().filter(|file| self.seen.get(&file.path) != Some(&file.modified));
        shards_of(fresh.map(|file| file.path.as_path())).iter().any(|shard| shards.contains(shard))
    }
}

fn read_manifest(path: &Path) -> Option<Manifest> {
    Manifest::decode(&fs::read_to_string(path).ok()?)
}

fn shards_of<'p>(manifests: impl Iterator<Item = &'p Path>) -> HashSet<ShardName> {
    let entries = manifests.filter_map(read_manifest).flat_map(|manifest| manifest.entries);
    entries.filter_map(|entry| entry.key()).map(|key| ShardName::of(&key)).collect()
}

/// The rows of a pack that can be read, by key.
fn read_rows(pack: &Pack, rows: &[usize]) -> Vec<Shard> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for row in rows {
        let (group, first) = pack.group_of(*row);
        groups.entry(group).or_default().push(row - first);
    }
    let mut shards = Vec::with_capacity(rows.len());
    for (group, wanted) in groups {
        let first = pack.group_of(group * crate::store::shard::ROWS_PER_GROUP).1;
        for (at, facts) in wanted.iter().zip(pack.read(group, &wanted)) {
            shards.extend(facts.map(|facts| (pack.keys()[first + at], Arc::new(facts))));
        }
    }
    shards
}

fn len_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}
