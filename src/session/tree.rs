//! What a session says of whole trees to those who publish, fetch and pack: their shards' keys.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::ShardKey;
use crate::git::snapshot::Snapshot;
use crate::git::{history, line};
use crate::index::build::{Fingerprints, Missing};
use crate::session::Session;
use crate::store::manifest::EntryState;
use crate::store::objects::Store;

/// A commit's tree with all of its shards stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeShards {
    /// In hex, as the tree.
    pub commit: String,
    pub tree: String,
    /// Sorted, unique.
    pub keys: Vec<ShardKey>,
    pub n_files: usize,
    pub n_indexed: usize,
    /// Files without facts, by reason.
    pub skipped: BTreeMap<String, u64>,
}

impl Session {
    /// The store that the session reads and writes.
    pub fn shards(&self) -> &Store {
        &self.facts.store
    }

    /// The extractor's fingerprint of every dialect.
    pub fn fingerprints(&self) -> &Fingerprints {
        &self.facts.fingerprints
    }

    /// Extracts and stores what is missing of a revision's tree, and gives its shards.
    ///
    /// # Errors
    /// `UnknownRevision`, `Git`, `Store`; `NotARepository` without git.
    pub fn shards_of(&self, revision: &str) -> Result<TreeShards> {
        let mut state = self.state();
        let commit = history::resolve(&self.facts.repo, revision)?;
        let snapshot = Snapshot::at(&self.facts.repo, &commit)?;
        let built = self.builder().build(&snapshot, &mut state.memory, Missing::Extract)?;
        let entries = &built.manifest.entries;
        let keys: BTreeSet<ShardKey> = entries.iter().filter_map(|entry| entry.key()).collect();
        let mut skipped: BTreeMap<String, u64> = BTreeMap::new();
        for entry in entries {
            if let EntryState::Skipped { reason } = &entry.state {
                *skipped.entry(reason.clone()).or_default() += 1;
            }
        }
        Ok(TreeShards {
            tree: line::tree_of(&self.facts.repo, &commit)?,
            commit,
            keys: keys.into_iter().collect(),
            n_files: entries.len(),
            n_indexed: built.counts.indexed,
            skipped,
        })
    }

    /// The keys of the tree on disk.
    ///
    /// # Errors
    /// `Git`, `Io`.
    pub fn keys(&self) -> Result<Vec<ShardKey>> {
        let snapshot = self.snapshot(&mut self.state())?;
        Ok(self.keys_of(&snapshot, true))
    }

    /// The keys that the store lacks of what is clean on disk and of some revisions' trees, sorted.
    ///
    /// # Errors
    /// `Git`, `Io`; `UnknownRevision`.
    pub fn missing(&self, revisions: &[&str]) -> Result<Vec<ShardKey>> {
        let snapshot = self.snapshot(&mut self.state())?;
        let mut keys = self.keys_of(&snapshot, false);
        for revision in revisions {
            let commit = history::resolve(&self.facts.repo, revision)?;
            keys.extend(self.keys_of(&Snapshot::at(&self.facts.repo, &commit)?, true));
        }
        keys.sort_unstable();
        keys.dedup();
        let stored = self.facts.store.contains_many(&keys);
        Ok(keys.into_iter().zip(stored).filter(|(_, is_stored)| !is_stored).map(|(key, _)| key).collect())
    }

    fn keys_of(&self, snapshot: &Snapshot, with_dirty: bool) -> Vec<ShardKey> {
        let keys: BTreeSet<ShardKey> = snapshot
            .entries
            .iter()
            .filter(|entry| with_dirty || !entry.dirty)
            .filter_map(|entry| {
                let dialect = self.facts.selector.select(entry).ok()?;
                Some(ShardKey { blob: entry.blob, dialect, fingerprint: self.facts.fingerprints[&dialect] })
            })
            .collect();
        keys.into_iter().collect()
    }

    /// HEAD's commit and its first parents, nearest first, at most `max`; the branch that HEAD is on.
    ///
    /// # Errors
    /// `NotARepository`; `UnknownRevision` before the first commit.
    pub fn line(&self, max: usize) -> Result<(Vec<String>, Option<String>)> {
        if !self.facts.repo.has_git() {
            return Err(Error::new(
                ErrorKind::NotARepository,
                format!("`{}` is not a git repository", self.facts.repo.name()),
            )
            .hint("maps are published by commit: run this in a git repository"));
        }
        let head = history::resolve(&self.facts.repo, "HEAD")?;
        Ok((line::first_parents(&self.facts.repo, &head, max)?, line::branch(&self.facts.repo)?))
    }
}
