//! The session: the repository now, as a fresh atlas. Read and write wings meet here only.
//!
//! Each question takes a snapshot first; what has not changed since the last one costs a look
//! at the disk and nothing else.

mod keep;
mod tree;
mod upkeep;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::atlas::{Atlas, AtlasSource, Header, StoreFigures};
use crate::base::dialect::Dialect;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::Digest;
use crate::base::lazy::Lazy;
use crate::base::path::RepoPath;
use crate::extract::fingerprint::fingerprint_with;
use crate::extract::redact::Redactor;
use crate::facts::model::FileFacts;
use crate::git::history;
use crate::git::log::{self, Log, Version};
use crate::git::read::Reader;
use crate::git::repo::Repo;
use crate::git::snapshot::{self, Snapshot, SnapshotOptions, changed_paths};
use crate::git::stat::StatCache;
use crate::graph::edge::Graph;
use crate::graph::link::link;
use crate::graph::relink::Linked;
use crate::index::build::{Builder, Built, Counts, Fingerprints, Memory, Missing, counts_of};
use crate::index::compiler::{self, Placing};
use crate::index::select::{SelectOptions, Selector};
use crate::scip::index::{self, Index, MAX_BYTES};
use crate::scip::program::Program;
use crate::store::flat::Flats;
use crate::store::objects::Store;
use crate::view::{View, ViewFile};

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
    repo: Arc<Repo>,
    selector: Arc<Selector>,
    select: SelectOptions,
    store: Arc<Store>,
    flats: Arc<Flats>,
    fingerprints: Arc<Fingerprints>,
    redactor: Arc<Redactor>,
    scip: Vec<PathBuf>,
    jobs: usize,
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

/// Files that an edit or a small commit touches; what touches more is a switch to another tree.
const MAX_NEAR: usize = 64;

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
        let store = open_store(&repo, options)?;
        let jobs = match options.jobs {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            jobs => jobs,
        };
        let patterns = &options.redact_patterns;
        let redactor = Redactor::new(patterns)?;
        let fingerprints = Dialect::ALL.into_iter().map(|d| (d, fingerprint_with(d, patterns))).collect();
        let session = Session {
            repo: Arc::new(repo),
            selector: Arc::new(selector),
            select: options.select.clone(),
            flats: Arc::new(Flats::open(&store)),
            store: Arc::new(store),
            fingerprints: Arc::new(fingerprints),
            redactor: Arc::new(redactor),
            scip: options.scip.clone(),
            jobs,
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
        &self.repo
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
            let known = self.store.get_manifest(&tree);
            if let Some(counts) = known.and_then(|manifest| counts_of(&manifest, &self.store)) {
                self.save_stats(&mut state);
                self.store.mark_manifest(&tree);
                return Ok(IndexReport { counts, commit: snapshot.commit, tree });
            }
        }
        let missing = if full { Missing::ExtractAll } else { Missing::Extract };
        let (snapshot, built) = self.build_worktree(&mut state, missing)?;
        let tree = self.tree_name(&snapshot);
        if !built.is_torn {
            self.store.put_manifest(&tree, &built.manifest)?;
        }
        Ok(IndexReport { counts: built.counts, commit: snapshot.commit, tree })
    }

    /// Names a tree's manifest: by the tree, by how it is selected, and by the extractor.
    fn tree_name(&self, snapshot: &Snapshot) -> String {
        let tree = snapshot.digest();
        let rules = format!("{:?}", self.select);
        let fingerprints: Vec<u8> = self.fingerprints.values().flat_map(|f| f.0.0).collect();
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
            store_bytes: self.store.size_bytes(),
        })
    }

    fn stale(&self) -> MutexGuard<'_, Option<(Snapshot, Arc<Atlas>)>> {
        self.stale.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn saved_stats(&self) -> Vec<u8> {
        std::fs::read(self.stat_file()).unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn builder(&self) -> Builder<'_> {
        Builder {
            repo: &self.repo,
            selector: &self.selector,
            store: &self.store,
            flats: &self.flats,
            fingerprints: &self.fingerprints,
            redactor: &self.redactor,
            jobs: self.jobs,
        }
    }

    fn snapshot(&self, state: &mut State) -> Result<Snapshot> {
        let is_private = |path: &str| self.selector.is_private(path);
        let options = SnapshotOptions { jobs: self.jobs, is_private: &is_private };
        Snapshot::worktree(&self.repo, &options, &mut state.stats)
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
            self.save_stats(state);
            return Ok((snapshot, view, false));
        }
        let (snapshot, built) = self.build_from(state, Missing::Extract, Some(snapshot))?;
        self.store.count(&changeset(built.counts.parsed));
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

    /// Takes what a SCIP file says of the tree as it is now, beside the shards.
    ///
    /// # Errors
    /// `Usage` for a file that is no SCIP index, `Io` for one that cannot be read; `CannotAnswer`
    /// where none of its documents fits a file of the tree; else as [`Session::index`].
    pub fn take_scip(&self, file: &Path) -> Result<(Placing, String)> {
        let (index, digest) = read_scip(file)?;
        let mut state = self.state();
        let (snapshot, built) = self.build_worktree(&mut state, Missing::Extract)?;
        let (program, placing) = self.place(&index, digest, &snapshot, &built.view);
        if program.documents.is_empty() {
            let what = format!("no document of `{}` fits a file of this tree", file.display());
            return Err(Error::new(ErrorKind::CannotAnswer, what)
                .hint("run the indexer at the repository's root, on the tree as it is now"));
        }
        self.store.put_program(&program)?;
        Ok((placing, program.tool))
    }

    /// Forgets what compilers said; says of how many indexes.
    ///
    /// # Errors
    /// `Store`.
    pub fn drop_scip(&self) -> Result<usize> {
        self.store.drop_programs()
    }

    /// Places an index on the files of a view of a snapshot.
    fn place(&self, index: &Index, digest: Digest, snapshot: &Snapshot, view: &View) -> (Program, Placing) {
        let reader = RefCell::new(Reader::new(&self.repo));
        compiler::place(index, digest, view, |path| {
            let entry = snapshot.find(path.as_str())?;
            reader.borrow_mut().read(entry).ok()
        })
    }

    /// Takes the SCIP files of the configuration that have not been taken yet. One that is not
    /// there, or is none, is passed over with a warning: links are found without it.
    fn take_configured(&self, state: &mut State, snapshot: &Snapshot, view: &View) {
        if std::mem::replace(&mut state.has_taken, true) {
            return;
        }
        for file in &self.scip {
            let taken = scip_bytes(file).and_then(|bytes| {
                let digest = Digest::of(&bytes);
                if self.store.has_program(&digest) {
                    return Ok(());
                }
                let (program, _) = self.place(&index::read(&bytes)?, digest, snapshot, view);
                self.store.put_program(&program)
            });
            if let Err(error) = taken {
                tracing::warn!("linked without `{}`: {error}", file.display());
            }
        }
        self.read_programs(state);
    }

    /// Reads what compilers said where that has changed; then no atlas made before holds.
    fn read_programs(&self, state: &mut State) {
        let names = self.store.program_names();
        if names == state.programs.0 {
            return;
        }
        state.programs = (names, self.store.programs());
        state.fresh = None;
        state.trees.clear();
    }

    /// Gives a view what compilers said: the index that fits most of its files first.
    fn lay_programs(&self, state: &mut State, view: &mut View) {
        self.read_programs(state);
        let mut programs: Vec<(usize, Arc<Program>)> = state
            .programs
            .1
            .iter()
            .map(|program| {
                let fits = |file: &&ViewFile| program.find(&file.path, file.blob, file.dialect).is_some();
                (view.files.iter().filter(fits).count(), Arc::clone(program))
            })
            .filter(|(n_fit, _)| *n_fit > 0)
            .collect();
        programs.sort_by_key(|(n_fit, program)| (std::cmp::Reverse(*n_fit), program.digest));
        view.compilers = programs.into_iter().map(|(_, program)| program).collect();
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
            repository: self.repo.name(),
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
        let linked = self.on_threads(|| match before {
            Some(before) => before.next(Arc::clone(&view)),
            None => Linked::new(Arc::clone(&view)),
        });
        let graph = Arc::clone(&linked.graph);
        state.linked = Some(linked);
        Arc::new(Atlas { view, graph: graph.into(), header: self.header(snapshot) })
    }

    /// Links a view on as many threads as asked for.
    pub fn link(&self, view: &View) -> Graph {
        self.on_threads(|| link(view))
    }

    fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match rayon::ThreadPoolBuilder::new().num_threads(self.jobs).build() {
            Ok(pool) => pool.install(work),
            Err(_) => work(),
        }
    }

    /// Where ids of hashed files are remembered for the next process, one file a worktree.
    fn stat_file(&self) -> PathBuf {
        let root = Digest::of(self.repo.root().as_os_str().as_encoded_bytes());
        self.store.dir().join("stat").join(format!("{:016x}", root.short()))
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

impl AtlasSource for Session {
    fn root(&self) -> Option<std::path::PathBuf> {
        Some(self.repo.root().to_owned())
    }

    fn fresh(&self) -> Result<Arc<Atlas>> {
        let mut state = self.state();
        self.read_programs(&mut state);
        let snapshot = self.snapshot(&mut state)?;
        if let Some((last, atlas)) = &state.fresh
            && snapshot == *last
        {
            return Ok(Arc::clone(atlas));
        }
        let is_near = is_near(&state, &snapshot);
        if !is_near && let Some(atlas) = self.kept(&mut state, &snapshot) {
            self.save_stats(&mut state);
            // It is of another tree; `prepare` makes it anew.
            state.linked = None;
            state.fresh = Some((snapshot, Arc::clone(&atlas)));
            return Ok(atlas);
        }
        let (snapshot, mut view, is_torn) = self.view_of(&mut state, snapshot)?;
        self.take_configured(&mut state, &snapshot, &view);
        self.lay_programs(&mut state, &mut view);
        let known = known_graph(&state, &snapshot);
        let has_changed = state.fresh.is_some() || state.linked.is_some();
        // Linking all without notes is quicker than looking at all that so many changes may reach;
        // `prepare` takes notes again.
        let is_far = known.is_none() && !is_near && state.linked.is_some();
        if let Some(before) = state.linked.take_if(|_| is_far) {
            // It is much to give back: nobody waits for that.
            std::thread::spawn(move || drop(before));
        }
        let atlas = match known {
            None if has_changed && !is_far => self.relinked(&mut state, &snapshot, view),
            known => self.atlas(&snapshot, view, known),
        };
        if !is_torn {
            self.keep(&mut state, &snapshot, &atlas);
            state.fresh = Some((snapshot, Arc::clone(&atlas)));
        }
        Ok(atlas)
    }

    /// Finds out what the next link of the worktree builds on, so that the first edit is as quick as
    /// later ones, and keeps what was linked. Questions are answered meanwhile. Does nothing before
    /// the first answer, and next to nothing where all is done.
    fn prepare(&self) {
        self.keep_all();
        let view = {
            let state = self.state();
            match (&state.fresh, &state.linked) {
                (Some((_, atlas)), None) => Arc::clone(&atlas.view),
                _ => return,
            }
        };
        let linked = self.on_threads(|| Linked::new(view));
        let mut state = self.state();
        if state.linked.is_none() {
            state.linked = Some(linked);
        }
    }

    fn at(&self, revision: &str) -> Result<Arc<Atlas>> {
        let mut state = self.state();
        self.read_programs(&mut state);
        let commit = match history::resolve(&self.repo, revision) {
            Ok(commit) => commit,
            Err(unknown) => match Snapshot::of_tree(&self.repo, revision)? {
                Some(snapshot) => return self.tree(&mut state, snapshot),
                None => return Err(unknown),
            },
        };
        let at = state.trees.iter().position(|(snapshot, _)| snapshot.commit.as_ref() == Some(&commit));
        if let Some(kept) = at.and_then(|at| state.trees.remove(at)) {
            state.trees.push_front(kept.clone());
            return Ok(kept.1);
        }
        let snapshot = Snapshot::at(&self.repo, &commit)?;
        self.tree(&mut state, snapshot)
    }

    fn staged(&self) -> Result<Arc<Atlas>> {
        let mut state = self.state();
        self.read_programs(&mut state);
        let snapshot = Snapshot::staged(&self.repo)?;
        self.tree(&mut state, snapshot)
    }

    fn changed_modes(&self, base: &Atlas, head: &Atlas) -> Vec<RepoPath> {
        let state = self.state();
        let trees = state.trees.iter().map(|(snapshot, kept)| (&**snapshot, kept));
        let kept: Vec<_> = trees.chain(state.fresh.iter().map(|(snapshot, kept)| (snapshot, kept))).collect();
        let of =
            |atlas: &Atlas| kept.iter().find(|(_, kept)| std::ptr::eq(&***kept, atlas)).map(|(snapshot, _)| *snapshot);
        match (of(base), of(head)) {
            (Some(old), Some(new)) => snapshot::changed_modes(old, new),
            _ => Vec::new(),
        }
    }

    fn merge_base(&self, one: &str, other: &str) -> Result<String> {
        history::merge_base(&self.repo, one, other)
    }

    fn indexed(&self) -> Result<Arc<Atlas>> {
        // The state is held by whoever is indexing: this look starts from nothing.
        let mut state = State { stats: StatCache::from_bytes(&self.saved_stats()), ..State::default() };
        let snapshot = self.snapshot(&mut state)?;
        let mut built = self.builder().build(&snapshot, &mut state.memory, Missing::Leave)?;
        self.lay_programs(&mut state, &mut built.view);
        let mut header = self.header(&snapshot);
        header.n_pending = built.counts.pending;
        let graph = Arc::new(self.link(&built.view));
        let atlas = Arc::new(Atlas { view: Arc::new(built.view), graph: graph.into(), header });
        *self.stale() = Some((snapshot, Arc::clone(&atlas)));
        Ok(atlas)
    }

    fn read(&self, atlas: &Atlas, path: &RepoPath) -> Result<Vec<u8>> {
        let stale = self.stale();
        let stale = stale.iter().map(|(snapshot, kept)| (snapshot, kept));
        let is_its = |(_, kept): &(&Snapshot, &Arc<Atlas>)| std::ptr::eq(&***kept, atlas);
        let state = match stale.clone().any(|kept| is_its(&kept)) {
            true => None,
            false => Some(self.state()),
        };
        let trees = state.iter().flat_map(|state| state.trees.iter().map(|(snapshot, kept)| (&**snapshot, kept)));
        let fresh = state.iter().flat_map(|state| state.fresh.iter().map(|(snapshot, kept)| (snapshot, kept)));
        let snapshot = stale.chain(fresh).chain(trees).find(is_its).map(|(snapshot, _)| snapshot);
        let mut reader = Reader::new(&self.repo);
        if let Some(entry) = snapshot.and_then(|snapshot| snapshot.find(path.as_str())) {
            if self.selector.is_private(path.as_str()) {
                return Err(Error::new(ErrorKind::CannotAnswer, format!("`{path}` is private and never opened")));
            }
            return reader.read(entry);
        }
        // An atlas that is no longer kept: its blobs may still be among git's objects.
        let blob = atlas.view.find(path.as_str()).map(|file| atlas.view.file(file).blob);
        match blob {
            Some(blob) => reader.object(&blob),
            None => Err(Error::new(ErrorKind::UnknownTarget, format!("no file `{path}` in this tree"))),
        }
    }

    fn log(&self, atlas: &Atlas) -> Result<Arc<Log>> {
        let Some(commit) = &atlas.header.commit else { return Ok(Arc::default()) };
        let mut last = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, log)) = last.as_ref().filter(|(known, _)| known == commit) {
            return Ok(Arc::clone(log));
        }
        let log = Arc::new(log::log(&self.repo, commit, log::MAX_COMMITS)?);
        *last = Some((commit.clone(), Arc::clone(&log)));
        Ok(log)
    }

    fn held(&self, atlas: &Arc<Atlas>) -> Result<Arc<Atlas>> {
        self.held_atlas(atlas)
    }

    fn committed(&self, atlas: &Atlas, path: &RepoPath) -> Result<Option<Arc<FileFacts>>> {
        self.committed_facts(atlas.header.commit.as_deref(), path)
    }

    fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    fn version(&self, commit: &str, path: &RepoPath) -> Result<Version> {
        if self.selector.is_private(path.as_str()) {
            return Err(Error::new(ErrorKind::CannotAnswer, format!("`{path}` is private and never opened")));
        }
        log::version(&self.repo, commit, path)
    }

    fn count(&self, added: &BTreeMap<String, f64>) {
        self.store.count(added);
    }

    fn counters(&self) -> BTreeMap<String, f64> {
        self.store.counters()
    }

    fn store(&self) -> Option<StoreFigures> {
        Some(StoreFigures { n_objects: self.store.n_shards(), n_bytes: self.store.size_bytes() })
    }
}

/// Reads a SCIP file; gives the digest of its bytes too.
///
/// # Errors
/// `Usage` for a file that is no SCIP index, `Io` for one that cannot be read.
pub fn read_scip(file: &Path) -> Result<(Index, Digest)> {
    let bytes = scip_bytes(file)?;
    Ok((index::read(&bytes)?, Digest::of(&bytes)))
}

fn scip_bytes(file: &Path) -> Result<Vec<u8>> {
    let shown = file.display();
    let unread = |cause| {
        Error::new(ErrorKind::Io, format!("cannot read `{shown}`"))
            .hint("give the index.scip that an indexer wrote")
            .source(cause)
    };
    let metadata = std::fs::metadata(file).map_err(unread)?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        let what = format!("`{shown}` is no file, or larger than {MAX_BYTES} bytes");
        return Err(Error::new(ErrorKind::Usage, what).hint("give the index.scip that an indexer wrote"));
    }
    std::fs::read(file).map_err(unread)
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

/// Whether a snapshot is so little other than the last one that linking on from there is quicker,
/// now and after the next edit, than taking a tree as it was kept.
fn is_near(state: &State, snapshot: &Snapshot) -> bool {
    state.linked.is_some()
        && state.fresh.as_ref().is_some_and(|(last, _)| changed_paths(last, snapshot).len() <= MAX_NEAR)
}

/// The graph of an equal tree: what is dirty does not matter to it.
fn known_graph(state: &State, snapshot: &Snapshot) -> Option<Lazy<Graph>> {
    let digest = snapshot.digest();
    let fresh = state.fresh.iter().map(|(kept, atlas)| (kept, atlas));
    let trees = state.trees.iter().map(|(kept, atlas)| (&**kept, atlas));
    fresh.chain(trees).find(|(kept, _)| kept.digest() == digest).map(|(_, atlas)| atlas.graph.clone())
}

/// Opens the store where `RATLAS_STORE` or the options place it, else below the user's cache folder,
/// where all worktrees of a repository share one. A user without a folder to write in (a container
/// of a pipeline) has one for this process alone.
fn open_store(repo: &Repo, options: &SessionOptions) -> Result<Store> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(folder) = variable("RATLAS_STORE").or_else(|| options.store.clone()) {
        return Store::open(&folder);
    }
    let cache = variable("XDG_CACHE_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| variable("HOME").map(|home| home.join(".cache")))
        .or_else(|| variable("LOCALAPPDATA"));
    if let Some(Ok(store)) = cache.map(|cache| Store::open(&cache.join("ratlas").join(repo.key()))) {
        return Ok(store);
    }
    tracing::warn!("no cache folder to write in: what is indexed is forgotten after this; set RATLAS_STORE to keep it");
    Store::temporary()
}

/// The folder of the store of a repository: `RATLAS_STORE`, the one that is set, or below the
/// user's cache folder; `None` for a user without one, whose store is for one process alone.
pub fn store_folder(repo: &Repo, set: Option<PathBuf>) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    variable("RATLAS_STORE").or(set).or_else(|| {
        let cache = variable("XDG_CACHE_HOME")
            .filter(|folder| folder.is_absolute())
            .or_else(|| variable("HOME").map(|home| home.join(".cache")))
            .or_else(|| variable("LOCALAPPDATA"))?;
        Some(cache.join("ratlas").join(repo.key()))
    })
}
