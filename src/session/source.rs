//! The session as a source of atlases: the tree as it is now, trees of revisions, and what tools ask
//! beside them.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use crate::atlas::{Atlas, AtlasSource, StoreFigures};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::path::RepoPath;
use crate::extract::redact::Redactor;
use crate::facts::model::FileFacts;
use crate::git::history;
use crate::git::log::{self, Log, Version};
use crate::git::read::Reader;
use crate::git::snapshot::{self, Snapshot, changed_paths};
use crate::git::stat::StatCache;
use crate::graph::relink::Linked;
use crate::index::build::Missing;
use crate::session::{Session, State, known_graph};

/// Files that an edit or a small commit touches; what touches more is a switch to another tree.
const MAX_NEAR: usize = 64;

impl AtlasSource for Session {
    fn root(&self) -> Option<std::path::PathBuf> {
        Some(self.facts.repo.root().to_owned())
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
        self.save_owed_stats();
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
        let commit = match history::resolve(&self.facts.repo, revision) {
            Ok(commit) => commit,
            Err(unknown) => match Snapshot::of_tree(&self.facts.repo, revision)? {
                Some(snapshot) => return self.tree(&mut state, snapshot),
                None => return Err(unknown),
            },
        };
        let at = state.trees.iter().position(|(snapshot, _)| snapshot.commit.as_ref() == Some(&commit));
        if let Some(kept) = at.and_then(|at| state.trees.remove(at)) {
            state.trees.push_front(kept.clone());
            return Ok(kept.1);
        }
        let snapshot = Snapshot::at(&self.facts.repo, &commit)?;
        self.tree(&mut state, snapshot)
    }

    fn staged(&self) -> Result<Arc<Atlas>> {
        let mut state = self.state();
        self.read_programs(&mut state);
        let snapshot = Snapshot::staged(&self.facts.repo)?;
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
        history::merge_base(&self.facts.repo, one, other)
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
        let mut reader = Reader::new(&self.facts.repo);
        if let Some(entry) = snapshot.and_then(|snapshot| snapshot.find(path.as_str())) {
            if self.facts.selector.is_private(path.as_str()) {
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
        let log = Arc::new(log::log(&self.facts.repo, commit, log::MAX_COMMITS)?);
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
        &self.facts.redactor
    }

    fn version(&self, commit: &str, path: &RepoPath) -> Result<Version> {
        if self.facts.selector.is_private(path.as_str()) {
            return Err(Error::new(ErrorKind::CannotAnswer, format!("`{path}` is private and never opened")));
        }
        log::version(&self.facts.repo, commit, path)
    }

    fn count(&self, added: &BTreeMap<String, f64>) {
        self.facts.store.count(added);
    }

    fn counters(&self) -> BTreeMap<String, f64> {
        self.facts.store.counters()
    }

    fn store(&self) -> Option<StoreFigures> {
        Some(StoreFigures { n_objects: self.facts.store.n_shards(), n_bytes: self.facts.store.size_bytes() })
    }
}

impl Session {
    fn stale(&self) -> MutexGuard<'_, Option<(Snapshot, Arc<Atlas>)>> {
        self.stale.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a snapshot is so little other than the last one that linking on from there is quicker,
/// now and after the next edit, than taking a tree as it was kept.
fn is_near(state: &State, snapshot: &Snapshot) -> bool {
    state.linked.is_some()
        && state.fresh.as_ref().is_some_and(|(last, _)| changed_paths(last, snapshot).len() <= MAX_NEAR)
}
