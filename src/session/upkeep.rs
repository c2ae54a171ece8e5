//! Keeping the store in order: what it needs to hold, and whether it is whole.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::atlas::{Atlas, Header};
use crate::base::dialect::Dialect;
use crate::base::error::Result;
use crate::base::id::{BlobId, Digest, ShardKey};
use crate::base::path::RepoPath;
use crate::extract::{extract_with, screen};
use crate::facts::model::FileFacts;
use crate::git::live;
use crate::git::read::Reader;
use crate::git::snapshot::{Snapshot, SnapshotOptions};
use crate::git::stat::StatCache;
use crate::index::build::Missing;
use crate::session::{Session, State};
use crate::store::inventory::{Checked, Damaged, ShardName};
use crate::store::sweep::{SweepOptions, Swept};
use crate::view::View;

/// The tree as it is now, unlinked.
#[derive(Clone, Debug)]
pub struct Look {
    /// Names the tree.
    pub tree: Digest,
    pub view: View,
    /// The folders that hold files of it.
    pub folders: BTreeSet<RepoPath>,
    /// Blobs that were parsed for it.
    pub n_parsed: usize,
    /// Whether a file changed while it was read.
    pub is_torn: bool,
}

impl Session {
    /// A tree of before with the count of the files that are other now; itself when none is.
    ///
    /// Does not wait for whoever is indexing.
    pub(super) fn held_atlas(&self, atlas: &Arc<Atlas>) -> Result<Arc<Atlas>> {
        let mut state = State { stats: StatCache::from_bytes(&self.saved_stats()), ..State::default() };
        let snapshot = self.snapshot(&mut state)?;
        let view = &atlas.view;
        let of_files = view.files.iter().map(|file| (&file.path, file.blob));
        let mut gone: HashMap<&RepoPath, BlobId> =
            of_files.chain(view.others.iter().map(|other| (&other.path, other.blob))).collect();
        let n_other = snapshot.entries.iter().filter(|entry| gone.remove(&entry.path) != Some(entry.blob)).count();
        let n_pending = n_other + gone.len();
        if n_pending == 0 {
            return Ok(Arc::clone(atlas));
        }
        let header = Header { n_pending, ..atlas.header.clone() };
        Ok(Arc::new(Atlas { view: Arc::clone(view), graph: atlas.graph.clone(), header }))
    }

    /// The facts of a path in a commit's tree, from the store or from git's objects; so that a
    /// process that has just started says what one says that saw the file break.
    pub(super) fn committed_facts(&self, commit: Option<&str>, path: &RepoPath) -> Result<Option<Arc<FileFacts>>> {
        let Some(commit) = commit else { return Ok(None) };
        let Some(entry) = Snapshot::entry_at(&self.facts.repo, commit, path)? else { return Ok(None) };
        let Ok(dialect) = self.facts.selector.select(&entry) else { return Ok(None) };
        let key = ShardKey { blob: entry.blob, dialect, fingerprint: self.facts.fingerprints[&dialect] };
        if let Some(facts) = self.facts.store.get_many(&[key]).pop().flatten() {
            return Ok(Some(facts));
        }
        // What is not among git's objects (a partial clone) is not known.
        let Ok(bytes) = Reader::new(&self.facts.repo).object(&entry.blob) else { return Ok(None) };
        if bytes.len() as u64 > self.facts.selector.max_file_bytes || screen::screen(&bytes).is_some() {
            return Ok(None);
        }
        let facts = Arc::new(extract_with(dialect, &bytes, &self.facts.redactor));
        self.facts.store.put_many(vec![(key, Arc::clone(&facts))])?;
        Ok(Some(facts))
    }

    /// The tree as it is now without its links, extracted and stored; `None` when it is the one
    /// of `since`. Whoever watches asks again when a file changed while it was read.
    ///
    /// # Errors
    /// As [`Session::index`].
    pub fn look(&self, since: Option<Digest>) -> Result<Option<Look>> {
        let mut state = self.state();
        if since.is_some() && Some(self.snapshot(&mut state)?.digest()) == since {
            return Ok(None);
        }
        let (snapshot, built) = self.build_worktree(&mut state, Missing::Extract)?;
        let tree = snapshot.digest();
        let folders = snapshot.entries.iter().filter_map(|entry| entry.path.parent()).collect();
        Ok(Some(Look { tree, view: built.view, folders, n_parsed: built.counts.parsed, is_torn: built.is_torn }))
    }

    /// The folder of the store.
    pub fn store_dir(&self) -> &Path {
        self.facts.store.dir()
    }

    /// Names the extractors: equal for processes whose shards are each other's.
    pub fn extractors(&self) -> Digest {
        let fingerprints: Vec<u8> = self.facts.fingerprints.values().flat_map(|fingerprint| fingerprint.0.0).collect();
        Digest::of(&fingerprints)
    }

    /// Removes from the store what no branch, tag or worktree needs, nor a tree indexed lately.
    ///
    /// Whether a file is selected is not asked: what a reference holds is kept, whatever the
    /// configuration leaves out. Shards of another extractor are needed by recent trees only.
    ///
    /// # Errors
    /// `Git` when references or the worktree cannot be read, `Store` when a pack cannot be written.
    pub fn sweep(&self, max_bytes: Option<u64>, is_dry: bool) -> Result<Swept> {
        let is_private = |path: &str| self.facts.selector.is_private(path);
        let options = SnapshotOptions { jobs: self.jobs, is_private: &is_private };
        let mut blobs: HashSet<(BlobId, Dialect)> = HashSet::new();
        live::files(&self.facts.repo, &options, &mut |name: &str, blob: BlobId| {
            blobs.extend(Dialect::of_file_name(name).map(|dialect| (blob, dialect)));
        })?;
        let needed: HashSet<ShardName> = blobs
            .into_iter()
            .filter_map(|(blob, dialect)| {
                let fingerprint = *self.facts.fingerprints.get(&dialect)?;
                Some(ShardName::of(&ShardKey { blob, dialect, fingerprint }))
            })
            .collect();
        let options = SweepOptions { max_bytes, now: SystemTime::now(), is_dry };
        self.facts.store.sweep(&|shard| needed.contains(shard), &options)
    }

    /// Reads the whole store and says which files are not whole.
    pub fn check_store(&self) -> Checked {
        self.facts.store.check()
    }

    /// Removes damaged files; gives how many. What they held is extracted again when it is needed.
    pub fn remove_damaged(&self, damaged: &[Damaged]) -> usize {
        self.facts.store.remove_damaged(damaged)
    }
}
