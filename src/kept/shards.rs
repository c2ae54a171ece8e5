//! Facts of a kept tree, one file at a time: from a flat file, else from a shard, else by
//! extracting the file again. Its bytes are proved by its blob's name each time, so that what is
//! found is what was linked.

use std::sync::Arc;

use crate::base::id::ShardKey;
use crate::base::lazy::Source;
use crate::extract::redact::Redactor;
use crate::facts::model::FileFacts;
use crate::git::repo::Repo;
use crate::git::snapshot::{Entry, Snapshot};
use crate::index::build::{Builder, Fingerprints};
use crate::index::select::Selector;
use crate::store::flat::Flats;
use crate::store::objects::Store;
use crate::view::View;
use crate::view::directory;
use crate::view::names::Names;

/// Where facts come from.
#[derive(Clone)]
pub struct Shards {
    pub repo: Arc<Repo>,
    pub selector: Arc<Selector>,
    pub store: Arc<Store>,
    pub flats: Arc<Flats>,
    pub fingerprints: Arc<Fingerprints>,
    pub redactor: Arc<Redactor>,
}

/// The facts of one view's files.
pub struct ShardsOfView {
    shards: Shards,
    keys: Vec<ShardKey>,
    entries: Vec<Entry>,
}

impl Shards {
    /// The facts of a view of a snapshot; `None` unless all of them are stored.
    pub fn of(self, snapshot: &Snapshot, view: &View) -> Option<ShardsOfView> {
        let builder = self.builder(1);
        let keys: Vec<ShardKey> = view.files.iter().map(|file| builder.key(file.blob, file.dialect)).collect();
        let in_flats = self.flats.contains_many(&keys);
        let others: Vec<ShardKey> =
            keys.iter().zip(&in_flats).filter(|(_, flat)| !**flat).map(|(key, _)| *key).collect();
        if !others.is_empty() && !self.store.contains_many(&others).into_iter().all(|is_stored| is_stored) {
            return None;
        }
        let mut files = view.files.iter().peekable();
        let is_indexed = |entry: &&Entry| files.next_if(|file| file.path == entry.path).is_some();
        let entries: Vec<Entry> = snapshot.entries.iter().filter(is_indexed).cloned().collect();
        Some(ShardsOfView { entries, keys, shards: self })
    }

    /// What builds views by these, on so many threads.
    pub fn builder(&self, jobs: usize) -> Builder<'_> {
        Builder {
            repo: &self.repo,
            selector: &self.selector,
            store: &self.store,
            flats: &self.flats,
            fingerprints: &self.fingerprints,
            redactor: &self.redactor,
            jobs,
        }
    }
}

impl ShardsOfView {
    /// The names of all files, read from their facts.
    pub fn names(&self) -> Names {
        let facts = self.facts();
        Names::of(&facts.iter().map(|facts| &**facts).collect::<Vec<_>>())
    }

    /// The handles of all symbols, read from the facts.
    pub fn handles(&self) -> Vec<u64> {
        let facts = self.facts();
        let paths: Vec<&str> = self.entries.iter().map(|entry| entry.path.as_str()).collect();
        directory::handles(&paths, &facts.iter().map(|facts| &**facts).collect::<Vec<_>>())
    }

    /// Whether a file's facts may be lost before they are asked for: its bytes are nowhere but on disk,
    /// and its shard lies in a file of its own.
    pub fn may_be_lost(&self, at: usize) -> bool {
        self.entries[at].dirty && self.shards.flats.contains_many(&self.keys[at..=at]) == [false]
    }

    fn facts(&self) -> Vec<Arc<FileFacts>> {
        (0..self.keys.len()).map(|at| self.load(at)).collect()
    }
}

impl Source<FileFacts> for ShardsOfView {
    fn load(&self, at: usize) -> Arc<FileFacts> {
        let (key, entry) = (&self.keys[at], &self.entries[at]);
        if let Some(facts) = self.shards.flats.get(key) {
            return Arc::new(facts);
        }
        let stored = self.shards.store.get_many(&[*key]).pop().flatten();
        let facts = stored.or_else(|| self.shards.builder(1).extract_again(entry, key.dialect));
        // There is no answer without these facts, and none is better than a wrong one. Who asks hears
        // it in words (`base::guard`).
        facts.unwrap_or_else(|| panic!("the shard of `{}` was removed while it was in use; ask again", entry.path))
    }
}
