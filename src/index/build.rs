//! From a snapshot to a view: facts from the store where it has them, extracted and stored where
//! it has not. A file whose shard is known is never opened.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Weak};

use crate::base::dialect::Dialect;
use crate::base::error::{ErrorKind, Result};
use crate::base::id::{BlobId, Fingerprint, ShardKey};
use crate::base::parallel::each;
use crate::base::path::RepoPath;
use crate::extract::redact::Redactor;
use crate::extract::{extract_with, screen};
use crate::facts::model::{FileFacts, Status};
use crate::git::read::Reader;
use crate::git::repo::Repo;
use crate::git::snapshot::{Entry, EntryKind, Snapshot};
use crate::index::select::{Selector, is_configuration};
use crate::lang::typescript::naming::tsconfig::configurations_named;
use crate::store::flat::Flats;
use crate::store::manifest::{EntryState, Manifest, ManifestEntry};
use crate::store::objects::{Batch, Store};
use crate::view::{OtherFile, SkipReason, View, ViewFile};

/// Configuration files beyond this are left out: a lockfile under another name, not a manifest.
const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// How many steps configuration is followed by its `extends` and `references`.
const MAX_CONFIG_CHAIN: usize = 16;

/// After so many bytes of sources their shards are stored, so that one who cannot wait for a large
/// tree, or is killed, has them (some seconds of two cores).
const PART_BYTES: u64 = 32 << 20;

/// What building needs beside a snapshot.
pub struct Builder<'a> {
    pub repo: &'a Repo,
    pub selector: &'a Selector,
    pub store: &'a Store,
    /// Where shards are read first.
    pub flats: &'a Flats,
    /// The extractor's fingerprint of every dialect.
    pub fingerprints: &'a Fingerprints,
    /// What is taken out of facts; the fingerprints know its patterns.
    pub redactor: &'a Redactor,
    /// Threads; at least 1.
    pub jobs: usize,
}

/// The extractor's fingerprint of every dialect: one each in a view.
pub type Fingerprints = BTreeMap<Dialect, Fingerprint>;

/// What happens to files whose shard is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// They are extracted and stored.
    Extract,
    /// All files are, whatever the store has.
    ExtractAll,
    /// They are left out and counted; nothing is written.
    Leave,
}

/// What this process has read before, for as long as something uses it.
#[derive(Default)]
pub struct Memory {
    facts: HashMap<ShardKey, Weak<FileFacts>>,
    config: HashMap<BlobId, Weak<[u8]>>,
}

/// A view and how it came to be.
pub struct Built {
    pub view: View,
    pub counts: Counts,
    /// Whether a file changed between the snapshot and its reading; it is `unreadable` in the view.
    pub is_torn: bool,
    /// The keys of the view's files with their paths, and the reasons of the others.
    pub manifest: Manifest,
}

/// How many files there are, by what was done with them: `files = indexed + skipped + pending`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files of the tree.
    pub files: usize,
    /// Files with facts.
    pub indexed: usize,
    /// Blobs that were parsed now, whether or not anything could be read.
    pub parsed: usize,
    /// Blobs with facts that were known.
    pub reused: usize,
    /// Files without facts, by reason.
    pub skipped: BTreeMap<SkipReason, usize>,
    /// Files that are still to be extracted ([`Missing::Leave`]).
    pub pending: usize,
}

/// A file of the snapshot that is to have facts.
struct Candidate<'s> {
    entry: &'s Entry,
    key: ShardKey,
}

/// What came of a shard that was missing.
enum Outcome {
    Facts(Arc<FileFacts>),
    Skip(SkipReason),
    /// Its bytes are no longer those of the snapshot.
    Torn,
}

impl Builder<'_> {
    /// Builds the view of a snapshot.
    ///
    /// Equal snapshots give equal views on any number of threads. Sources are read one a thread
    /// and dropped once extracted.
    ///
    /// # Errors
    /// `Store` when shards cannot be written.
    pub fn build(&self, snapshot: &Snapshot, memory: &mut Memory, missing: Missing) -> Result<Built> {
        let mut candidates = Vec::new();
        let mut others = Vec::new();
        for entry in &snapshot.entries {
            match self.selector.select(entry) {
                Ok(dialect) => {
                    candidates.push(Candidate { entry, key: self.key(entry.blob, dialect) });
                }
                Err(reason) => others.push(other(entry, reason)),
            }
        }
        let mut outcomes = self.known(&candidates, memory, missing);
        let mut counts =
            Counts { files: snapshot.entries.len(), reused: n_fit(outcomes.values()), ..Counts::default() };
        if missing != Missing::Leave {
            self.store.mark_used();
            let todo = self.to_extract(&candidates, &outcomes);
            for part in parts(&todo) {
                let extracted = self.extract(part);
                let shards = extracted.iter().filter_map(|(key, outcome)| match outcome {
                    Outcome::Facts(facts) => Some((*key, Arc::clone(facts))),
                    Outcome::Skip(_) | Outcome::Torn => None,
                });
                let shards: Vec<(ShardKey, Arc<FileFacts>)> = shards.collect();
                counts.parsed += n_fit(extracted.iter().map(|(_, outcome)| outcome));
                self.store.put_many(shards)?;
                outcomes.extend(extracted);
            }
        } else {
            outcomes.extend(self.too_large(&candidates, &outcomes));
        }

        let mut files = Vec::with_capacity(candidates.len());
        let mut is_torn = false;
        for Candidate { entry, key } in &candidates {
            let outcome = match outcomes.get(key) {
                Some(Outcome::Facts(facts)) => self.fit(facts).map(|()| Arc::clone(facts)),
                Some(Outcome::Skip(reason)) => Err(*reason),
                Some(Outcome::Torn) => {
                    is_torn = true;
                    Err(SkipReason::Unreadable)
                }
                None => {
                    counts.pending += 1;
                    continue;
                }
            };
            match outcome {
                Ok(facts) => files.push(ViewFile {
                    path: entry.path.clone(),
                    blob: entry.blob,
                    dialect: key.dialect,
                    facts: facts.into(),
                    dirty: entry.dirty,
                }),
                Err(reason) => others.push(other(entry, reason)),
            }
        }
        others.sort_by(|a, b| a.path.cmp(&b.path));
        for other in &others {
            *counts.skipped.entry(other.reason).or_default() += 1;
        }
        counts.indexed = files.len();
        let config = self.configuration(snapshot, memory);
        let view = View { files, others, config, ..View::default() };
        memory.keep(&view, self.fingerprints);
        let manifest = manifest(&view, self.fingerprints);
        Ok(Built { view, counts, is_torn, manifest })
    }

    /// The key of a file's shard.
    pub fn key(&self, blob: BlobId, dialect: Dialect) -> ShardKey {
        ShardKey { blob, dialect, fingerprint: self.fingerprints[&dialect] }
    }

    /// Extracts a file whose shard was lost; `None` where its bytes cannot be had any more.
    pub fn extract_again(&self, entry: &Entry, dialect: Dialect) -> Option<Arc<FileFacts>> {
        match self.extract_one(&mut Reader::new(self.repo), entry, dialect, entry.len_bytes.unwrap_or(0)) {
            Outcome::Facts(facts) => Some(facts),
            Outcome::Skip(_) | Outcome::Torn => None,
        }
    }

    /// The facts that this process or the store has.
    fn known(&self, candidates: &[Candidate<'_>], memory: &Memory, missing: Missing) -> HashMap<ShardKey, Outcome> {
        let mut known = HashMap::new();
        if missing == Missing::ExtractAll {
            return known;
        }
        let mut asked = BTreeSet::new();
        for Candidate { key, .. } in candidates {
            match memory.facts.get(key).and_then(Weak::upgrade) {
                Some(facts) => drop(known.insert(*key, Outcome::Facts(facts))),
                None => drop(asked.insert(*key)),
            }
        }
        let mut keys: Vec<ShardKey> = asked.into_iter().collect();
        let flat = each(keys.len(), self.jobs, || (), |(), at| self.flats.get(&keys[at]));
        let mut flat = flat.into_iter();
        keys.retain(|key| match flat.next().flatten() {
            Some(facts) => known.insert(*key, Outcome::Facts(Arc::new(facts))).is_some(),
            None => true,
        });
        let run = |batches: &[Batch]| each(batches.len(), self.jobs, || (), |(), at| batches[at].read());
        let found = self.store.get_many_by(&keys, run);
        known.extend(keys.into_iter().zip(found).filter_map(|(key, facts)| Some((key, Outcome::Facts(facts?)))));
        known
    }

    /// What is not known and never will be, since it is too large; told without reading it.
    fn too_large(&self, candidates: &[Candidate<'_>], known: &HashMap<ShardKey, Outcome>) -> Vec<(ShardKey, Outcome)> {
        let reader = Reader::new(self.repo);
        let max = self.selector.max_file_bytes;
        candidates
            .iter()
            .filter(|c| !known.contains_key(&c.key) && c.entry.len_bytes.is_none_or(|len| len > max))
            .filter(|c| reader.object_len(&c.entry.blob).or(c.entry.len_bytes).is_some_and(|len| len > max))
            .map(|c| (c.key, Outcome::Skip(SkipReason::TooLarge)))
            .collect()
    }

    /// What is not known, each shard once, largest first.
    fn to_extract<'s>(
        &self,
        candidates: &[Candidate<'s>],
        known: &HashMap<ShardKey, Outcome>,
    ) -> Vec<(u64, ShardKey, &'s Entry)> {
        let mut todo: BTreeMap<ShardKey, &Entry> = BTreeMap::new();
        for Candidate { entry, key } in candidates {
            if !known.contains_key(key) {
                todo.entry(*key).or_insert(entry);
            }
        }
        if todo.is_empty() {
            return Vec::new();
        }
        let reader = Reader::new(self.repo);
        let mut todo: Vec<(u64, ShardKey, &Entry)> = todo
            .into_iter()
            .map(|(key, entry)| (entry.len_bytes.or_else(|| reader.object_len(&key.blob)).unwrap_or(0), key, entry))
            .collect();
        todo.sort_by_key(|(len_bytes, key, _)| (std::cmp::Reverse(*len_bytes), *key));
        todo
    }

    /// Extracts, in order of the keys.
    fn extract(&self, todo: &[(u64, ShardKey, &Entry)]) -> Vec<(ShardKey, Outcome)> {
        let outcomes = each(
            todo.len(),
            self.jobs,
            || Reader::new(self.repo),
            |reader, at| {
                let (len_bytes, key, entry) = todo[at];
                (key, self.extract_one(reader, entry, key.dialect, len_bytes))
            },
        );
        let mut outcomes: Vec<(ShardKey, Outcome)> = outcomes;
        outcomes.sort_by_key(|(key, _)| *key);
        outcomes
    }

    fn extract_one(&self, reader: &mut Reader, entry: &Entry, dialect: Dialect, len_bytes: u64) -> Outcome {
        let max = self.selector.max_file_bytes;
        // On disk a file may be longer than what git stores of it, seldom twice as long.
        if len_bytes > max && reader.object_len(&entry.blob).unwrap_or(len_bytes / 2) > max {
            return Outcome::Skip(SkipReason::TooLarge);
        }
        let bytes = match reader.read(entry) {
            Ok(bytes) => bytes,
            Err(error) if error.kind == ErrorKind::Io => return Outcome::Torn,
            Err(_) => return Outcome::Skip(SkipReason::Unreadable),
        };
        if bytes.len() as u64 > max {
            return Outcome::Skip(SkipReason::TooLarge);
        }
        Outcome::Facts(Arc::new(match screen::screen(&bytes) {
            Some(reason) => screen::skipped(dialect, &bytes, reason),
            None => extract_with(dialect, &bytes, self.redactor),
        }))
    }

    /// Whether facts make an indexed file; the reason when they do not.
    fn fit(&self, facts: &FileFacts) -> std::result::Result<(), SkipReason> {
        if u64::from(facts.n_bytes) > self.selector.max_file_bytes {
            return Err(SkipReason::TooLarge);
        }
        match facts.status {
            Status::Ok | Status::Partial | Status::Failed => Ok(()),
            Status::Skipped => {
                let reason = SkipReason::parse(facts.text(facts.status_reason));
                Err(reason.unwrap_or(SkipReason::Unreadable))
            }
        }
    }

    /// The bytes of configuration, by path: known by name, and what TypeScript's names in turn.
    pub fn configuration(&self, snapshot: &Snapshot, memory: &mut Memory) -> BTreeMap<RepoPath, Arc<[u8]>> {
        let readable: Vec<&Entry> = snapshot
            .entries
            .iter()
            .filter(|e| !self.selector.is_private(e.path.as_str()))
            .filter(|e| matches!(e.kind, EntryKind::File | EntryKind::Executable) && e.trouble.is_none())
            .filter(|e| e.len_bytes.unwrap_or(0) <= MAX_CONFIG_BYTES)
            .collect();
        let wanted: Vec<&Entry> = readable.iter().copied().filter(|e| is_configuration(e.path.as_str())).collect();
        let mut config = self.configuration_of(&wanted, memory);
        let mut fresh: Vec<RepoPath> = config.keys().cloned().collect();
        for _ in 0..MAX_CONFIG_CHAIN {
            let json = fresh.iter().filter(|path| path.extension() == "json");
            let named: BTreeSet<RepoPath> =
                json.flat_map(|path| configurations_named(path, config.get(path).map_or(&[][..], |b| b))).collect();
            let wanted: Vec<&Entry> = readable
                .iter()
                .copied()
                .filter(|entry| named.contains(&entry.path) && !config.contains_key(&entry.path))
                .collect();
            if wanted.is_empty() {
                break;
            }
            let more = self.configuration_of(&wanted, memory);
            fresh = more.keys().cloned().collect();
            config.extend(more);
        }
        memory.config.retain(|_, bytes| bytes.strong_count() > 0);
        config
    }

    /// The bytes of some entries, by path.
    fn configuration_of(&self, wanted: &[&Entry], memory: &mut Memory) -> BTreeMap<RepoPath, Arc<[u8]>> {
        let known = &memory.config;
        let read = each(
            wanted.len(),
            self.jobs,
            || None,
            |reader: &mut Option<Reader>, at| {
                let entry = wanted[at];
                if let Some(bytes) = known.get(&entry.blob).and_then(Weak::upgrade) {
                    return Some(bytes);
                }
                let reader = reader.get_or_insert_with(|| Reader::new(self.repo));
                let bytes = reader.read(entry).ok()?;
                (bytes.len() as u64 <= MAX_CONFIG_BYTES).then(|| Arc::from(bytes))
            },
        );
        let config: BTreeMap<RepoPath, Arc<[u8]>> =
            wanted.iter().zip(&read).filter_map(|(entry, bytes)| Some((entry.path.clone(), bytes.clone()?))).collect();
        for (entry, bytes) in wanted.iter().zip(read) {
            if let Some(bytes) = bytes {
                memory.config.insert(entry.blob, Arc::downgrade(&bytes));
            }
        }
        config
    }
}

/// Cuts what is to be extracted where a part has bytes enough: each is stored once it is done.
fn parts<'t, 's>(todo: &'t [(u64, ShardKey, &'s Entry)]) -> Vec<&'t [(u64, ShardKey, &'s Entry)]> {
    let mut parts = Vec::new();
    let (mut start, mut n_bytes) = (0, 0);
    for (at, (len_bytes, ..)) in todo.iter().enumerate() {
        n_bytes += len_bytes;
        if n_bytes >= PART_BYTES {
            parts.push(&todo[start..=at]);
            (start, n_bytes) = (at + 1, 0);
        }
    }
    parts.push(&todo[start..]);
    parts.retain(|part| !part.is_empty());
    parts
}

/// How many of the outcomes are facts of parsed bytes.
fn n_fit<'o>(outcomes: impl Iterator<Item = &'o Outcome>) -> usize {
    outcomes.filter(|o| matches!(o, Outcome::Facts(facts) if facts.status != Status::Skipped)).count()
}

/// The counts of a tree whose manifest is known and whose shards are all stored: nothing is read.
pub fn counts_of(manifest: &Manifest, store: &Store) -> Option<Counts> {
    let mut counts = Counts { files: manifest.entries.len(), ..Counts::default() };
    let mut keys = BTreeSet::new();
    for entry in &manifest.entries {
        match &entry.state {
            EntryState::Indexed { .. } => {
                counts.indexed += 1;
                keys.extend(entry.key());
            }
            EntryState::Skipped { reason } => *counts.skipped.entry(SkipReason::parse(reason)?).or_default() += 1,
        }
    }
    counts.reused = keys.len();
    let keys: Vec<ShardKey> = keys.into_iter().collect();
    store.contains_many(&keys).into_iter().all(|is_stored| is_stored).then_some(counts)
}

impl Memory {
    /// Remembers a view's facts, and forgets those that nothing uses any more.
    fn keep(&mut self, view: &View, fingerprints: &Fingerprints) {
        self.facts.retain(|_, facts| facts.strong_count() > 0);
        for file in &view.files {
            let key = ShardKey { blob: file.blob, dialect: file.dialect, fingerprint: fingerprints[&file.dialect] };
            if let Some(facts) = file.facts.made() {
                self.facts.insert(key, Arc::downgrade(facts));
            }
        }
    }
}

fn other(entry: &Entry, reason: SkipReason) -> OtherFile {
    OtherFile { path: entry.path.clone(), blob: entry.blob, dirty: entry.dirty, reason }
}

/// What a view is made of, by path.
fn manifest(view: &View, fingerprints: &Fingerprints) -> Manifest {
    let files = view.files.iter().map(|file| ManifestEntry {
        path: file.path.clone(),
        blob: file.blob,
        state: EntryState::Indexed { dialect: file.dialect, fingerprint: fingerprints[&file.dialect] },
    });
    let others = view.others.iter().map(|other| ManifestEntry {
        path: other.path.clone(),
        blob: other.blob,
        state: EntryState::Skipped { reason: other.reason.as_str().to_owned() },
    });
    let mut entries: Vec<ManifestEntry> = files.chain(others).collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Manifest { entries }
}
