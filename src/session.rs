//! The session: the repository now, as a fresh atlas. Read and write wings meet here only.
//!
//! Each question takes a snapshot first; what has not changed since the last one costs a look
//! at the disk and nothing else.

mod keep;
pub mod place;
pub mod programs;
mod source;
mod tree;
mod upkeep;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::atlas::{Atlas, Header};
use crate::base::dialect::Dialect;
use crate::base::error::Result;
use crate::base::id::Digest;
use crate::base::lazy::Lazy;
use crate::base::path::RepoPath;
use crate::extract::fingerprint::fingerprint_with;
use crate::extract::redact::Redactor;
use crate::git::log::Log;
use crate::git::repo::Repo;
use crate::git::snapshot::{Snapshot, SnapshotOptions};
use crate::git::stat::StatCache;
use crate::graph::edge::Graph;
use crate::graph::link::link;
use crate::graph::relink::Linked;
use crate::index::build::{Builder, Built, Counts, Memory, Missing, counts_of};
use crate::index::select::{SelectOptions, Selector};
use crate::kept::shards::Shards;
use crate::scip::program::Program;
use crate::store::flat::Flats;
use crate::view::View;

/// How a session works.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// The store's folder; the user's cache folder when `None`.
    pub store: Option<PathBuf>,
    pub select: SelectOptions,
    /// Patterns to redact beside the built-in ones; they are part of every shard's key.
    pub redact_patterns: Vec<String>,
    /// SCIP files whose answers linking takes, where they are there.
    pub scip: Vec<PathBuf>,
    /// Threads; as many as the machine has, when 0.
    pub jobs: usize,
}

/// A repository that is being asked about.
pub struct Session {
    /// What facts are made of and where they lie.
    facts: Shards,
    select: SelectOptions,
    scip: Vec<PathBuf>,
    jobs: usize,
    /// The threads that link edits, made for the first one. What is done at leisure has its own, so
    /// that no edit waits for it.
    threads: OnceLock<Option<rayon::ThreadPool>>,
    state: Mutex<State>,
    /// What was indexed when a question could not wait, for reading its files.
    stale: Mutex<Option<(Snapshot, Arc<Atlas>)>>,
    /// The log that was read last, with its commit.
    log: Mutex<Option<(String, Arc<Log>)>>,
}

/// What is kept between questions.
#[derive(Default)]
struct State {
    stats: StatCache,
    stats_saved: Vec<u8>,
    /// Whether an answer was given before the stats were written down.
    owes_stats: bool,
    memory: Memory,
    /// The atlas of the worktree, with the snapshot it was made from.
    fresh: Option<(Snapshot, Arc<Atlas>)>,
    /// What the worktree's next link builds on, once there was a change or it was prepared for one.
    linked: Option<Linked>,
    /// Atlases of revisions with their snapshots, most recently asked for first.
    trees: VecDeque<(Arc<Snapshot>, Arc<Atlas>)>,
    /// What compilers said, with the names it was read under.
    programs: (Vec<String>, Vec<Arc<Program>>),
    /// Whether the configured SCIP files have been looked at.
    has_taken: bool,
    /// Linked trees that are still to be kept.
    unkept: Vec<(Digest, Snapshot, Arc<Atlas>)>,
}

/// Atlases of revisions that are kept: a diff asks for two, a review for a few more. Each holds a
/// view and a graph.
const MAX_TREES: usize = 4;

/// How often a snapshot is taken anew when files change while they are read.
const MAX_TRIES: usize = 3;

/// What `index` did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexReport {
    pub counts: Counts,
    /// HEAD's commit in hex.
    pub commit: Option<String>,
    /// The manifest's name in the store: equal for equal trees, dirty files included, that are
    /// selected and extracted alike.
    pub tree: String,
}

/// What there is, without writing anything.
#[derive(Clone, Debug)]
pub struct Peek {
    pub counts: Counts,
    pub commit: Option<String>,
    /// Names the tree, as [`Header::tree`].
    pub tree: String,
    /// The files that are indexed already.
    pub view: View,
    /// Paths that differ from HEAD's tree, sorted; those of `deleted` too.
    pub dirty: Vec<RepoPath>,
    /// Paths of HEAD's tree that are not on disk, sorted.
    pub deleted: Vec<RepoPath>,
    /// Bytes of all files in the store.
    pub store_bytes: u64,
}

impl Session {
    /// Opens a session on the repository that `dir` lies in.
    ///
    /// # Errors
    /// `NotARepository`, `Git`; `Config` for globs and patterns that are none; `Store` when it cannot be opened.
    pub fn open(dir: &Path, options: &SessionOptions) -> Result<Self> {
        let repo = Repo::open(dir)?;
        let selector = Selector::new(&options.select)?;
        let store = place::open_store(&repo, options)?;
        let jobs = match options.jobs {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            jobs => jobs,
        };
        let patterns = &options.redact_patterns;
        let redactor = Redactor::new(patterns)?;
        let fingerprints = Dialect::ALL.into_iter().map(|d| (d, fingerprint_with(d, patterns))).collect();
        let session = Session {
            facts: Shards {
                repo: Arc::new(repo),
                selector: Arc::new(selector),
                flats: Arc::new(Flats::open(&store)),
                store: Arc::new(store),
                fingerprints: Arc::new(fingerprints),
                redactor: Arc::new(redactor),
            },
            select: options.select.clone(),
            scip: options.scip.clone(),
            jobs,
            threads: OnceLock::new(),
            state: Mutex::default(),
            stale: Mutex::default(),
            log: Mutex::default(),
        };
        let saved = session.saved_stats();
        session.state().stats = StatCache::from_bytes(&saved);
        session.state().stats_saved = saved;
        Ok(session)
    }

    /// The repository.
    pub fn repo(&self) -> &Repo {
        &self.facts.repo
    }

    /// Extracts and stores what is missing of the tree as it is now, and writes its manifest.
    /// Under `full`, every file is extracted, whatever the store has. A tree that was indexed
    /// before costs a snapshot and no shard is read.
    ///
    /// # Errors
    /// `Git`, `Io`, `Store`.
    pub fn index(&self, full: bool) -> Result<IndexReport> {
        let mut state = self.state();
        if !full {
            let snapshot = self.snapshot(&mut state)?;
            let tree = self.tree_name(&snapshot);
            let known = self.facts.store.get_manifest(&tree);
            if let Some(counts) = known.and_then(|manifest| counts_of(&manifest, &self.facts.store)) {
                self.save_stats(&mut state);
                self.facts.store.mark_manifest(&tree);
                return Ok(IndexReport { counts, commit: snapshot.commit, tree });
            }
        }
        let missing = if full { Missing::ExtractAll } else { Missing::Extract };
        let (snapshot, built) = self.build_worktree(&mut state, missing)?;
        let tree = self.tree_name(&snapshot);
        if !built.is_torn {
            self.facts.store.put_manifest(&tree, &built.manifest)?;
        }
        Ok(IndexReport { counts: built.counts, commit: snapshot.commit, tree })
    }

    /// Names a tree's manifest: by the tree, by how it is selected, and by the extractor.
    fn tree_name(&self, snapshot: &Snapshot) -> String {
        let tree = snapshot.digest();
        let rules = format!("{:?}", self.select);
        let fingerprints: Vec<u8> = self.facts.fingerprints.values().flat_map(|f| f.0.0).collect();
        Digest::of_parts([&tree.0[..], rules.as_bytes(), &fingerprints]).to_string()
    }

    /// Looks at what is indexed of the tree as it is now. Writes nothing.
    ///
    /// # Errors
    /// `Git`, `Io`.
    pub fn peek(&self) -> Result<Peek> {
        let mut state = self.state();
        let snapshot = self.snapshot(&mut state)?;
        let mut built = self.builder().build(&snapshot, &mut state.memory, Missing::Leave)?;
        self.lay_programs(&mut state, &mut built.view);
        let mut dirty: Vec<RepoPath> = snapshot
            .entries
            .iter()
            .filter(|e| e.dirty)
            .map(|e| e.path.clone())
            .chain(snapshot.deleted.clone())
            .collect();
        dirty.sort();
        Ok(Peek {
            counts: built.counts,
            tree: tree_of(&snapshot),
            commit: snapshot.commit,
            view: built.view,
            dirty,
            deleted: snapshot.deleted,
            store_bytes: self.facts.store.size_bytes(),
        })
    }

    fn saved_stats(&self) -> Vec<u8> {
        std::fs::read(self.stat_file()).unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn builder(&self) -> Builder<'_> {
        self.facts.builder(self.jobs)
    }

    fn snapshot(&self, state: &mut State) -> Result<Snapshot> {
        let is_private = |path: &str| self.facts.selector.is_private(path);
        let options = SnapshotOptions { jobs: self.jobs, is_private: &is_private };
        Snapshot::worktree(&self.facts.repo, &options, &mut state.stats)
    }

    /// Builds the view of the worktree that a snapshot was taken of: from the last one where little
    /// differs. With it, whether a file changed meanwhile.
    fn view_of(&self, state: &mut State, snapshot: Snapshot) -> Result<(Snapshot, View, bool)> {
        let last = state.fresh.take();
        let rebuilt = last
            .as_ref()
            .map(|(last, atlas)| self.builder().rebuild((last, &atlas.view), &snapshot, &mut state.memory));
        state.fresh = last;
        if let Some((view, false)) = rebuilt.transpose()?.flatten() {
            state.owes_stats = true;
            return Ok((snapshot, view, false));
        }
        let (snapshot, built) = self.build_from(state, Missing::Extract, Some(snapshot))?;
        self.facts.store.count(&changeset(built.counts.parsed));
        Ok((snapshot, built.view, built.is_torn))
    }

    /// Builds the worktree's view.
    fn build_worktree(&self, state: &mut State, missing: Missing) -> Result<(Snapshot, Built)> {
        self.build_from(state, missing, None)
    }

    /// Builds the worktree's view, from a snapshot that was just taken where there is one, and again
    /// where files changed meanwhile.
    fn build_from(
        &self,
        state: &mut State,
        missing: Missing,
        mut taken: Option<Snapshot>,
    ) -> Result<(Snapshot, Built)> {
        let mut n_tries = 0;
        loop {
            let snapshot = match taken.take() {
                Some(snapshot) => snapshot,
                None => self.snapshot(state)?,
            };
            let built = self.builder().build(&snapshot, &mut state.memory, missing)?;
            n_tries += 1;
            if !built.is_torn || n_tries == MAX_TRIES {
                self.save_stats(state);
                return Ok((snapshot, built));
            }
        }
    }

    /// Makes the atlas of a tree that is not on disk, and keeps it.
    fn tree(&self, state: &mut State, snapshot: Snapshot) -> Result<Arc<Atlas>> {
        let same = |kept: &(Arc<Snapshot>, Arc<Atlas>)| *kept.0 == snapshot;
        if let Some((_, atlas)) = state.trees.iter().find(|kept| same(kept)) {
            return Ok(Arc::clone(atlas));
        }
        let atlas = match self.kept(state, &snapshot) {
            Some(atlas) => atlas,
            None => {
                let mut built = self.builder().build(&snapshot, &mut state.memory, Missing::Extract)?;
                self.lay_programs(state, &mut built.view);
                let known = known_graph(state, &snapshot);
                let atlas = self.atlas(&snapshot, built.view, known);
                if !built.is_torn {
                    self.keep(state, &snapshot, &atlas);
                }
                atlas
            }
        };
        state.trees.push_front((Arc::new(snapshot), Arc::clone(&atlas)));
        state.trees.truncate(MAX_TREES);
        Ok(atlas)
    }

    /// Links a view.
    fn atlas(&self, snapshot: &Snapshot, view: View, known: Option<Lazy<Graph>>) -> Arc<Atlas> {
        let graph = known.unwrap_or_else(|| Arc::new(self.link(&view)).into());
        Arc::new(Atlas { view: Arc::new(view), graph, header: self.header(snapshot) })
    }

    fn header(&self, snapshot: &Snapshot) -> Header {
        Header {
            repository: self.facts.repo.name(),
            commit: snapshot.commit.clone(),
            tree: tree_of(snapshot),
            n_dirty: snapshot.entries.iter().filter(|e| e.dirty).count() + snapshot.deleted.len(),
            n_pending: 0,
        }
    }

    /// Links the worktree's view from what was found out for the last one.
    fn relinked(&self, state: &mut State, snapshot: &Snapshot, view: View) -> Arc<Atlas> {
        let view = Arc::new(view);
        let before = state.linked.take();
        let link = || match before {
            Some(before) => before.next(Arc::clone(&view)),
            None => Linked::new(Arc::clone(&view)),
        };
        let linked = match self.threads.get_or_init(|| self.pool()) {
            Some(threads) => threads.install(link),
            None => link(),
        };
        let graph = Arc::clone(&linked.graph);
        state.linked = Some(linked);
        Arc::new(Atlas { view, graph: graph.into(), header: self.header(snapshot) })
    }

    /// Links a view on as many threads as asked for.
    pub fn link(&self, view: &View) -> Graph {
        self.on_threads(|| link(view))
    }

    fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match self.pool() {
            Some(threads) => threads.install(work),
            None => work(),
        }
    }

    fn pool(&self) -> Option<rayon::ThreadPool> {
        rayon::ThreadPoolBuilder::new().num_threads(self.jobs).build().ok()
    }

    /// Where ids of hashed files are remembered for the next process, one file a worktree.
    fn stat_file(&self) -> PathBuf {
        let root = Digest::of(self.facts.repo.root().as_os_str().as_encoded_bytes());
        self.facts.store.dir().join("stat").join(format!("{:016x}", root.short()))
    }

    /// Writes the stat cache down where an answer did not wait for it: a file that replaces another
    /// is flushed by some file systems (ext4, some milliseconds).
    fn save_owed_stats(&self) {
        let mut state = self.state();
        if std::mem::take(&mut state.owes_stats) {
            self.save_stats(&mut state);
        }
    }

    /// Writes the stat cache down when it has changed. Failing to costs time only.
    fn save_stats(&self, state: &mut State) {
        let bytes = state.stats.to_bytes();
        if bytes == state.stats_saved {
            return;
        }
        let file = self.stat_file();
        let temporary = file.with_extension(format!("{}.tmp", std::process::id()));
        let write = || {
            std::fs::create_dir_all(file.parent().unwrap_or(&file))?;
            std::fs::write(&temporary, &bytes)?;
            std::fs::rename(&temporary, &file)
        };
        match write() {
            Ok(()) => state.stats_saved = bytes,
            Err(error) => tracing::debug!("cannot remember hashed files: {error}"),
        }
    }
}

/// The classes of how many files a renewal of the tree parsed, as Prometheus series.
fn changeset(n_parsed: usize) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for class in [0usize, 1, 10, 100, 1_000].into_iter().filter(|class| n_parsed <= *class) {
        sums.insert(format!("ratlas_changeset_files_bucket{{le=\"{class}\"}}"), 1.0);
    }
    sums.insert("ratlas_changeset_files_bucket{le=\"+Inf\"}".to_owned(), 1.0);
    sums.insert("ratlas_changeset_files_sum".to_owned(), n_parsed as f64);
    sums.insert("ratlas_changeset_files_count".to_owned(), 1.0);
    sums
}

/// The name of a snapshot's tree in answers: the first half of its digest's digits.
fn tree_of(snapshot: &Snapshot) -> String {
    format!("{:016x}", snapshot.digest().short())
}

/// The graph of an equal tree: what is dirty does not matter to it.
fn known_graph(state: &State, snapshot: &Snapshot) -> Option<Lazy<Graph>> {
    let digest = snapshot.digest();
    let fresh = state.fresh.iter().map(|(kept, atlas)| (kept, atlas));
    let trees = state.trees.iter().map(|(kept, atlas)| (&**kept, atlas));
    fresh.chain(trees).find(|(kept, _)| kept.digest() == digest).map(|(_, atlas)| atlas.graph.clone())
}
