//! What is kept of a tree that was linked before: its graph, its names and the figures that
//! questions ask of every file, in one file of the store, so that a new process answers from a
//! known tree without reading its facts and without linking.
//!
//! `file` is the container, `graph` and `tree` what is in it, `shards` reads facts one file at a
//! time, `notes` keeps what rooms above made of the whole. A kept tree is named by all that shaped
//! it, the linker's own code included; written once and whole; read by parts, each with its
//! digest. What is not whole, or not there any more, is made anew: an answer from a kept tree is
//! the answer of a fresh link.

pub mod file;
pub mod graph;
pub mod notes;
pub mod shards;
pub mod tree;

use std::sync::Arc;

use crate::base::error::Result;
use crate::base::id::Digest;
use crate::base::lazy::{Lazy, Source};
use crate::facts::model::FileFacts;
use crate::git::snapshot::Snapshot;
use crate::graph::edge::Graph;
use crate::graph::link::link;
use crate::index::build::Builder;
use crate::kept::file::{KeptFile, Section};
use crate::kept::notes::NotesOfTree;
use crate::kept::shards::{Shards, ShardsOfView};
use crate::rank::files::{Options, ranks_of};
use crate::store::objects::Store;
use crate::store::parts::files_by_age;
use crate::store::shard::Shard;
use crate::view::directory::{Directory, Texts};
use crate::view::names::Names;
use crate::view::{SkipReason, View};

/// The digest of the sources that shape a graph, a view's figures and ranks (`src/build.rs`).
const LINKER: &str = env!("RATLAS_LINKER");

/// How many kept trees a store holds, the newest: a branch, its base, and some before them. One is
/// about as large as the tree's shards.
const MAX_KEPT: usize = 8;

/// How many new shards are worth a flat file of their own: fewer are read as quickly from loose files.
const MIN_FLAT: usize = 17;

/// The name of a kept tree: of the snapshot with how it is selected and extracted (`tree`), and
/// of what compilers said.
pub fn key(tree: &str, programs: &[String]) -> Digest {
    let programs = programs.iter().map(String::as_bytes);
    Digest::of_parts([tree.as_bytes(), LINKER.as_bytes()].into_iter().chain(programs))
}

/// Keeps what was linked. Shards that are in no flat file yet are written to one.
///
/// # Errors
/// `Store`, when the store cannot be written.
pub fn save(builder: &Builder<'_>, key: &Digest, snapshot: &Snapshot, view: &View, graph: &Graph) -> Result<()> {
    // What could not be read now may be readable the next time, and the tree's name is the same.
    if view.others.iter().any(|other| other.reason == SkipReason::Unreadable) {
        return Ok(());
    }
    let (store, flats) = (builder.store, builder.flats);
    let keys: Vec<_> = view.files.iter().map(|file| builder.key(file.blob, file.dialect)).collect();
    let shards: Vec<Shard> = keys
        .iter()
        .zip(flats.contains_many(&keys))
        .zip(&view.files)
        .filter(|((_, is_flat), _)| !is_flat)
        .map(|((key, _), file)| (*key, Arc::clone(file.facts.shared())))
        .collect();
    if shards.len() >= MIN_FLAT {
        flats.put(store, shards, builder.jobs)?;
    }
    let (names, handles) = (view.names(), view.handles());
    let texts = Texts::of(view, graph.unproved.iter().map(|row| (row.from.file, row.name)));
    let ranks = ranks_of(view, graph, &Options::default());
    let (Some(states), Some(linked)) = (tree::encode_states(snapshot, view), graph::encode(graph, view.files.len()))
    else {
        return Ok(());
    };
    let sections = [
        (Section::States, states),
        (Section::Starts, tree::encode_starts(names)),
        (Section::Names, names.text.clone().into_bytes()),
        (Section::Marks, tree::encode_marks(names)),
        (Section::Handles, tree::encode_handles(handles)),
        (Section::Texts, tree::encode_texts(&texts)),
        (Section::Ranks, tree::encode_ranks(&ranks)),
        (Section::Graph, linked),
    ];
    file::write(store, key, &sections)?;
    for path in files_by_age(&file::folder(store), file::EXTENSION).into_iter().skip(MAX_KEPT) {
        // Another process may have been quicker.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

/// Removes all kept trees of a store.
pub fn forget(store: &Store) {
    for path in files_by_age(&file::folder(store), file::EXTENSION) {
        // One that stays, or that another process removed, costs nothing but time.
        let _ = std::fs::remove_file(path);
    }
}

/// What is kept of a snapshot: its view, without compilers' programs, whose facts are read when
/// they are asked for. `None` where nothing is kept, or some shard is not in the store any more.
pub fn load(key: &Digest, snapshot: &Snapshot, shards: Shards) -> Option<(View, KeptGraph)> {
    let kept = Arc::new(KeptFile::open(&shards.store, key)?);
    let notes = Arc::new(NotesOfTree { store: Arc::clone(&shards.store), key: *key });
    let (mut view, figures) = tree::decode_states(&kept.section(Section::States)?, snapshot)?;
    let shards = Arc::new(shards.of(snapshot, &view)?);
    let source: Arc<dyn Source<FileFacts>> = Arc::clone(&shards) as _;
    for (at, file) in view.files.iter_mut().enumerate() {
        file.facts = match shards.may_be_lost(at) {
            true => shards.load(at).into(),
            false => Lazy::of(Arc::clone(&source), at),
        };
    }
    let ranks = tree::decode_ranks(&kept.section(Section::Ranks)?, view.files.len());
    let n_symbols = figures.iter().map(|figures| figures.n_symbols as usize).sum();
    let names = Arc::new(NamesOf { kept: Arc::clone(&kept), shards, n_files: view.files.len(), n_symbols });
    let handles = Lazy::of(Arc::clone(&names) as Arc<dyn Source<Vec<u64>>>, 0);
    let names = Lazy::of(names as Arc<dyn Source<Names>>, 0);
    let texts = TextsOf { kept: Arc::clone(&kept), n_files: view.files.len() };
    let texts = Lazy::of(Arc::new(texts) as Arc<dyn Source<Option<Texts>>>, 0);
    view.directory = Some(Arc::new(Directory { figures, names, handles, texts, ranks, notes }));
    Some((view, KeptGraph(kept)))
}

/// A graph that is still in its file.
pub struct KeptGraph(Arc<KeptFile>);

impl KeptGraph {
    /// The graph of the view that it was kept with, read when it is asked for, and linked anew
    /// where it cannot be read.
    pub fn of(self, view: &Arc<View>) -> Lazy<Graph> {
        let source = GraphOf { kept: self.0, view: Arc::clone(view) };
        Lazy::of(Arc::new(source) as Arc<dyn Source<Graph>>, 0)
    }
}

struct GraphOf {
    kept: Arc<KeptFile>,
    view: Arc<View>,
}

impl Source<Graph> for GraphOf {
    fn load(&self, _: usize) -> Arc<Graph> {
        let read = self.kept.section(Section::Graph).and_then(|bytes| graph::decode(&bytes, &self.view));
        Arc::new(read.unwrap_or_else(|| link(&self.view)))
    }
}

struct NamesOf {
    kept: Arc<KeptFile>,
    shards: Arc<ShardsOfView>,
    n_files: usize,
    n_symbols: usize,
}

impl Source<Names> for NamesOf {
    fn load(&self, _: usize) -> Arc<Names> {
        let [starts, text, marks] =
            [Section::Starts, Section::Names, Section::Marks].map(|section| self.kept.section(section));
        let read = starts.zip(text).zip(marks);
        let names = read.and_then(|((starts, text), marks)| tree::decode_names(&starts, text, &marks, self.n_files));
        Arc::new(names.unwrap_or_else(|| self.shards.names()))
    }
}

impl Source<Vec<u64>> for NamesOf {
    fn load(&self, _: usize) -> Arc<Vec<u64>> {
        let read = self.kept.section(Section::Handles);
        let handles = read.and_then(|bytes| tree::decode_handles(&bytes, self.n_symbols));
        Arc::new(handles.unwrap_or_else(|| self.shards.handles()))
    }
}

struct TextsOf {
    kept: Arc<KeptFile>,
    n_files: usize,
}

impl Source<Option<Texts>> for TextsOf {
    fn load(&self, _: usize) -> Arc<Option<Texts>> {
        let read = self.kept.section(Section::Texts);
        Arc::new(read.and_then(|bytes| tree::decode_texts(&bytes, self.n_files)))
    }
}
