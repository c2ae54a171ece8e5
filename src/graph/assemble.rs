//! From the links of all files to one graph: guesses about what they left unproved, and everything
//! in its order.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::graph::candidates;
use crate::graph::closures::Closures;
use crate::graph::confidence;
use crate::graph::edge::{Edge, EdgeKind, FileUse, Graph, Layer, Strategy, Unproved, by_target};
use crate::graph::file_graph::FileGraph;
use crate::graph::link::FileLink;
use crate::graph::queries::Shared;
use crate::view::{FileIdx, SymbolRef, View};

/// What was guessed about a file's unproved references.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guessed {
    /// Likely and candidate edges, sorted.
    pub edges: Vec<Edge>,
    /// What stays unproved, sorted.
    pub unproved: Vec<Unproved>,
}

/// Guesses about the references of every file, by the members of the view and by what each file
/// reaches through `uses`.
pub fn guess_all<'l>(
    shared: &Shared<'_>,
    uses: &[FileUse],
    link: impl Fn(FileIdx) -> &'l FileLink + Sync,
) -> Vec<Guessed> {
    let files: Vec<FileIdx> = shared.names.view.indices().collect();
    // Many views leave nothing to guess.
    let (file_graph, closures) = (OnceLock::new(), OnceLock::new());
    let closure = |file| {
        let file_graph = file_graph.get_or_init(|| FileGraph::new(files.len(), uses));
        closures.get_or_init(|| Closures::new(file_graph)).of(file)
    };
    files.par_iter().map(|file| guess(shared, *file, link(*file), || closure(*file))).collect()
}

/// From so many files on, what each reaches is found out for all of a view at once.
const MANY: usize = 24;

/// Guesses anew about the references of some files; gives those about which something else is guessed.
pub fn guess_some<'l>(
    shared: &Shared<'_>,
    file_graph: impl Fn() -> &'l FileGraph,
    files: &[FileIdx],
    link: impl Fn(FileIdx) -> &'l FileLink,
    guessed: &mut [Guessed],
) -> Vec<FileIdx> {
    let (closures, n_walks) = (OnceCell::new(), Cell::new(0));
    let closure = |file: FileIdx| {
        n_walks.set(n_walks.get() + 1);
        match n_walks.get() < MANY {
            true => Cow::Owned(file_graph().closure_of_uses([file])),
            false => closures.get_or_init(|| Closures::new(file_graph())).of(file),
        }
    };
    let guess_anew = |file: &FileIdx| {
        let new = guess(shared, *file, link(*file), || closure(*file));
        let old = &mut guessed[file.0 as usize];
        let is_other = *old != new;
        *old = new;
        is_other
    };
    files.iter().copied().filter(guess_anew).collect()
}

fn guess<'c>(
    shared: &Shared<'_>,
    file: FileIdx,
    link: &FileLink,
    closure: impl FnOnce() -> Cow<'c, crate::graph::file_graph::FileSet>,
) -> Guessed {
    let (mut edges, mut unproved) = candidates::guess(shared, closure, file, &link.unproved);
    edges.sort_unstable();
    unproved.sort_unstable();
    unproved.dedup();
    Guessed { edges, unproved }
}

/// The edges from methods to the members that they stand in for, whichever file hands their
/// instances over; sorted and unique.
pub fn stand_ins<'l>(view: &View, links: impl Iterator<Item = &'l FileLink>) -> Vec<Edge> {
    let mut edges: Vec<Edge> = links
        .flat_map(|link| &link.stand_ins)
        .map(|(from, to)| Edge {
            from: *from,
            line: view.symbol(*from).name_line,
            to: *to,
            kind: EdgeKind::Overrides,
            layer: Layer::Proved,
            strategy: Strategy::StandIn,
            confidence: confidence::of(Strategy::StandIn, EdgeKind::Overrides),
            test_block: None,
        })
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// The part of edges that are sorted which leave a file.
fn from_file(edges: &[Edge], file: FileIdx) -> &[Edge] {
    let start = edges.partition_point(|edge| edge.from.file < file);
    let end = edges.partition_point(|edge| edge.from.file <= file);
    &edges[start..end]
}

/// The edges of one file, found and guessed, and those of its methods that stand in for others;
/// sorted and unique.
pub fn edges_of(file: FileIdx, link: &FileLink, guessed: &Guessed, stand_ins: &[Edge]) -> Vec<Edge> {
    let mut edges = [&link.edges[..], &guessed.edges[..], from_file(stand_ins, file)].concat();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Says of all files together what their links say: which are blind, whose classes are open or
/// handed out.
pub fn whole_of<'l>(graph: &mut Graph, links: impl Iterator<Item = &'l FileLink> + Clone) {
    let blind = links.clone().enumerate().filter(|(_, link)| link.blind);
    graph.blind = blind.map(|(at, _)| FileIdx(at as u32)).collect();
    graph.open_classes = each_once(links.clone().flat_map(|link| &link.open_classes));
    graph.handed_out = each_once(links.flat_map(|link| &link.handed_out));
}

fn each_once<'s>(symbols: impl Iterator<Item = &'s SymbolRef>) -> Vec<SymbolRef> {
    let mut symbols: Vec<SymbolRef> = symbols.copied().collect();
    symbols.sort_unstable();
    symbols.dedup();
    symbols
}

/// Puts the links of all files, in order, together with what was guessed. O(edges).
pub fn assemble<'l>(view: &View, links: impl Iterator<Item = &'l FileLink> + Clone, guessed: &[Guessed]) -> Graph {
    let mut graph = Graph::default();
    let stand_ins = stand_ins(view, links.clone());
    let n_found: usize = links.clone().zip(guessed).map(|(l, g)| l.edges.len() + g.edges.len()).sum();
    graph.edges.reserve_exact(n_found + stand_ins.len());
    graph.unproved.reserve_exact(guessed.iter().map(|guessed| guessed.unproved.len()).sum());
    for (at, (link, guessed)) in links.clone().zip(guessed).enumerate() {
        let file = FileIdx(at as u32);
        // Sorted file by file, they are sorted as a whole: files come in order.
        match guessed.edges.is_empty() && from_file(&stand_ins, file).is_empty() {
            true => graph.edges.extend_from_slice(&link.edges),
            false => graph.edges.extend(edges_of(file, link, guessed, &stand_ins)),
        }
        graph.unproved.extend_from_slice(&guessed.unproved);
        graph.computed.extend_from_slice(&link.computed);
        graph.file_uses.extend_from_slice(&link.uses);
        graph.n_external.push(link.n_external);
    }
    whole_of(&mut graph, links);
    graph.computed.sort_unstable();
    graph.by_target = by_target(&graph.edges);
    graph
}
