//! Trees that were linked before, by this process or another: taken as they were kept, and kept
//! once they are linked. And the tokenizer's table, kept beside them.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use crate::atlas::Atlas;
use crate::base::id::Digest;
use crate::git::snapshot::Snapshot;
use crate::kept;
use crate::report::tokens::{self, Shelf};
use crate::session::{Session, State};
use crate::store::objects::Store;

impl Session {
    /// The atlas of a snapshot, where its tree was kept and this process has not linked it itself.
    pub(super) fn kept(&self, state: &mut State, snapshot: &Snapshot) -> Option<Arc<Atlas>> {
        // What the configuration says of compilers is not known before it was looked at once.
        if (!self.scip.is_empty() && !state.has_taken) || is_linked_here(state, snapshot) {
            return None;
        }
        let (mut view, graph) = kept::load(&self.kept_key(state, snapshot), snapshot, self.facts.clone())?;
        view.config = self.builder().configuration(snapshot, &mut state.memory);
        self.lay_programs(state, &mut view);
        let view = Arc::new(view);
        let graph = graph.of(&view);
        Some(Arc::new(Atlas { view, graph, header: self.header(snapshot) }))
    }

    /// Has a tree that was linked be kept once there is time: the first that this process sees, and
    /// trees as they were committed; what is on its way between two edits is not worth its writing.
    pub(super) fn keep(&self, state: &mut State, snapshot: &Snapshot, atlas: &Arc<Atlas>) {
        if atlas.header.n_dirty > 0 && state.fresh.is_some() {
            return;
        }
        let key = self.kept_key(state, snapshot);
        state.unkept.retain(|(other, ..)| *other != key);
        // Who comes by many trees before there is time keeps the last ones.
        if state.unkept.len() == MAX_UNKEPT {
            state.unkept.remove(0);
        }
        state.unkept.push((key, snapshot.clone(), Arc::clone(atlas)));
    }

    /// Keeps the trees that are still to be kept. Failing to costs the next process its time only.
    pub(super) fn keep_all(&self) {
        let unkept = std::mem::take(&mut self.state().unkept);
        for (key, snapshot, atlas) in unkept {
            let kept = kept::save(&self.builder(), &key, &snapshot, &atlas.view, &atlas.graph);
            if let Err(error) = kept {
                tracing::debug!("the linked tree is not kept: {error}");
            }
        }
    }

    /// Forgets all trees that were kept: the next question of each links it anew.
    pub fn forget_kept(&self) {
        kept::forget(&self.facts.store);
    }

    fn kept_key(&self, state: &State, snapshot: &Snapshot) -> Digest {
        kept::key(&self.tree_name(snapshot), &state.programs.0)
    }
}

/// A process that ends keeps what it linked and hashed, after its answer.
impl Drop for Session {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.keep_all();
            self.save_owed_stats();
        }
    }
}

/// Trees that wait to be kept, each with its view and graph: the two sides of a diff.
const MAX_UNKEPT: usize = 2;

/// Whether this process holds an equal tree that it has linked itself: then its facts are here too.
fn is_linked_here(state: &State, snapshot: &Snapshot) -> bool {
    let digest = snapshot.digest();
    let fresh = state.fresh.iter().map(|(kept, atlas)| (kept, atlas));
    let trees = state.trees.iter().map(|(kept, atlas)| (&**kept, atlas));
    fresh.chain(trees).any(|(kept, atlas)| atlas.view.directory.is_none() && kept.digest() == digest)
}

impl Session {
    /// Keeps the tokenizer's table in this session's store, for the whole process.
    pub fn keep_tokens(&self) {
        tokens::keep_on(Box::new(TokenTable(Arc::downgrade(&self.facts.store))));
    }
}

/// The tokenizer's table in a store, as long as that is open: a store of one process goes with it.
struct TokenTable(Weak<Store>);

impl TokenTable {
    fn path(store: &Store) -> PathBuf {
        store.dir().join("tokens").join(format!("{}.table", tokens::TOKENIZER))
    }
}

impl Shelf for TokenTable {
    fn get(&self) -> Option<Vec<u8>> {
        std::fs::read(Self::path(&*self.0.upgrade()?)).ok()
    }

    fn put(&self, table: &[u8]) {
        let Some(store) = self.0.upgrade() else { return };
        if let Err(error) = store.write(&Self::path(&store), table) {
            tracing::debug!("the table of tokens is not kept: {error}");
        }
    }
}
