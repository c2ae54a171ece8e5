//! Reverse reach over a graph: what may behave otherwise when symbols change. Depth is
//! unbounded; confidence decides the order of answers and never membership (PRODUCT.md §4).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use crate::facts::model::{NameId, SymbolId, SymbolKind};
use crate::facts::table::Id;
use crate::graph::edge::{EdgeKind, Graph, Layer, Receiver};
use crate::graph::file_graph::{FileGraph, FileSet};
use crate::view::{FileIdx, SymbolRef, View};

/// A symbol that reach starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seed {
    pub symbol: SymbolRef,
    /// Whether its contract changed (signature, renamed, removed): then files that merely
    /// import it, and methods that override it, are reached too.
    pub contract: bool,
}

/// What reach follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReachOptions {
    /// The least sure layer whose edges are followed.
    pub layer: Layer,
    /// Whether references that could not be proved reach every symbol that they may mean.
    pub may_reach: bool,
    /// The longest path in edges; `None` for no bound.
    pub max_distance: Option<u32>,
}

impl Default for ReachOptions {
    /// The `safe` policy: everything, at any depth.
    fn default() -> Self {
        ReachOptions { layer: Layer::Candidate, may_reach: true, max_distance: None }
    }
}

/// By what a symbol was reached from the next one on its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Via {
    /// It is a seed.
    Seed,
    /// `graph.edges[.0]` leads from it to the next symbol.
    Edge(u32),
    /// The next symbol overrides it, by `graph.edges[.0]`: a call of it may run that one.
    Dispatch(u32),
    /// `graph.unproved[.0]` may mean the next symbol.
    Name(u32),
    /// It is the class whose method code outside of the repository may call.
    External,
    /// It is the constructor of the next symbol, a class.
    Construct,
}

/// How a symbol was reached: by its best path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Number of steps to the seed.
    pub distance: u32,
    /// Product of the confidences on the path, in 1/1,000,000,000; at least 1.
    pub confidence: u64,
    pub via: Via,
    /// The next symbol on the path to the seed; itself for a seed.
    pub next: SymbolRef,
}

/// The whole of a path's confidence.
pub const CERTAIN: u64 = 1_000_000_000;
/// What a step through an unproved name is worth (a guess; it only orders answers).
const MAY_REACH: u64 = 500;
/// What a step from a method to its class is worth when code outside may call it (a guess).
const EXTERNAL_CALL: u64 = 3_000;

/// Finds everything that reaches one of `seeds`, each with its best path: the surest, then
/// the shortest, then the first in order of symbols.
///
/// A reached `<module>` stands for the code that runs when its file is imported; so each file
/// that imports it is reached, transitively. O(edges + unproved) times a logarithm, and one
/// closure of files for each reached file that holds an unproved name's possible target.
pub fn reach(graph: &Graph, view: &View, seeds: &[Seed], options: &ReachOptions) -> BTreeMap<SymbolRef, Hop> {
    let mut search = Search::new(graph, view, options);
    for seed in seeds {
        search.offer(seed.symbol, Hop { distance: 0, confidence: CERTAIN, via: Via::Seed, next: seed.symbol });
    }
    let mut contracts: Vec<SymbolRef> = seeds.iter().filter(|s| s.contract).map(|s| s.symbol).collect();
    contracts.sort_unstable();
    let mut done: BTreeMap<SymbolRef, Hop> = BTreeMap::new();
    while let Some((_, Reverse(_), Reverse(at))) = search.heap.pop() {
        if done.contains_key(&at) {
            continue;
        }
        let Some(hop) = search.best.get(&at).copied() else { continue };
        done.insert(at, hop);
        if options.max_distance.is_none_or(|max| hop.distance < max) {
            search.step(at, hop, contracts.binary_search(&at).is_ok());
        }
    }
    done
}

struct Search<'a> {
    graph: &'a Graph,
    view: &'a View,
    options: &'a ReachOptions,
    files: FileGraph,
    /// Rows of `graph.unproved` by the text of their name.
    by_name: HashMap<&'a str, Vec<u32>>,
    covisible: HashMap<FileIdx, FileSet>,
    best: HashMap<SymbolRef, Hop>,
    heap: BinaryHeap<(u64, Reverse<u32>, Reverse<SymbolRef>)>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph, view: &'a View, options: &'a ReachOptions) -> Self {
        let mut by_name: HashMap<&str, Vec<u32>> = HashMap::new();
        if options.may_reach {
            for (at, row) in graph.unproved.iter().enumerate() {
                if row.receiver != Receiver::External {
                    by_name.entry(view.facts(row.from.file).name(row.name)).or_default().push(at as u32);
                }
            }
        }
        Search {
            graph,
            view,
            options,
            files: FileGraph::new(view.files.len(), &graph.file_uses),
            by_name,
            covisible: HashMap::new(),
            best: HashMap::new(),
            heap: BinaryHeap::new(),
        }
    }

    fn offer(&mut self, at: SymbolRef, hop: Hop) {
        let better = self.best.get(&at).is_none_or(|old| {
            (hop.confidence, Reverse(hop.distance), Reverse(hop.next))
                > (old.confidence, Reverse(old.distance), Reverse(old.next))
        });
        if better {
            self.best.insert(at, hop);
            self.heap.push((hop.confidence, Reverse(hop.distance), Reverse(at)));
        }
    }

    fn extend(&mut self, at: SymbolRef, hop: Hop, to: SymbolRef, worth: u64, via: Via) {
        let confidence = (hop.confidence * worth / 10_000).max(1);
        self.offer(to, Hop { distance: hop.distance + 1, confidence, via, next: at });
    }

    fn step(&mut self, at: SymbolRef, hop: Hop, contract: bool) {
        let graph = self.graph;
        let is_module = at.symbol == SymbolId::new(0);
        for index in graph.indices_to(at) {
            let edge = &graph.edges[index as usize];
            let followed = match edge.kind {
                // Importing a name runs nothing of it; importing a module runs its code.
                EdgeKind::Imports => is_module || contract,
                EdgeKind::Overrides => contract,
                EdgeKind::Calls | EdgeKind::Extends | EdgeKind::References | EdgeKind::Tests => true,
            };
            if followed && edge.layer <= self.options.layer {
                self.extend(at, hop, edge.from, u64::from(edge.confidence.0), Via::Edge(index));
            }
        }
        for (index, edge) in graph.indexed_edges_from(at) {
            if edge.kind == EdgeKind::Overrides && edge.layer <= self.options.layer {
                self.extend(at, hop, edge.to, u64::from(edge.confidence.0), Via::Dispatch(index));
            }
        }
        self.step_class(at, hop);
        if self.options.may_reach && !is_module {
            self.step_name(at, hop);
        }
    }

    /// A class that changed changes what its constructor makes; a method that code outside of
    /// the repository may call is used wherever its class is.
    fn step_class(&mut self, at: SymbolRef, hop: Hop) {
        let facts = self.view.facts(at.file);
        let symbol = facts.symbol(at.symbol);
        if symbol.kind.is_class() {
            for (row, member) in facts.symbols.iter().enumerate() {
                let constructs = member.kind == SymbolKind::Constructor
                    || matches!(facts.name(member.name), "__init__" | "__new__" | "constructor");
                if member.parent == Some(at.symbol) && constructs {
                    let to = SymbolRef { file: at.file, symbol: SymbolId::new(row) };
                    self.extend(at, hop, to, 10_000, Via::Construct);
                }
            }
        } else if symbol.kind == SymbolKind::Method
            && let Some(parent) = symbol.parent
        {
            let class = SymbolRef { file: at.file, symbol: parent };
            if self.graph.open_classes.binary_search(&class).is_ok() {
                self.extend(at, hop, class, EXTERNAL_CALL, Via::External);
            }
        }
    }

    fn step_name(&mut self, at: SymbolRef, hop: Hop) {
        let facts = self.view.facts(at.file);
        let name: NameId = facts.symbol(at.symbol).name;
        let rows = self.by_name.get(facts.name(name)).cloned().unwrap_or_default();
        if rows.is_empty() {
            return;
        }
        let files = &self.files;
        let seen = self.covisible.entry(at.file).or_insert_with(|| files.covisible(at.file));
        let sources: Vec<(u32, SymbolRef)> = rows
            .into_iter()
            .map(|row| (row, self.graph.unproved[row as usize].from))
            .filter(|(_, from)| seen.has(from.file))
            .collect();
        for (row, from) in sources {
            self.extend(at, hop, from, MAY_REACH, Via::Name(row));
        }
    }
}
