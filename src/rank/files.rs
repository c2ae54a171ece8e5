//! The file graph and the ranks of files (PRODUCT.md §7).

use std::collections::BTreeMap;

use crate::graph::edge::{EdgeKind, Graph};
use crate::rank::pagerank::{Weighted, pagerank};
use crate::rank::surface;
use crate::view::View;

/// How edges count. The defaults are PRODUCT.md §7's.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The chance to follow an edge.
    pub alpha: f64,
    pub extends: f64,
    pub calls: f64,
    pub references: f64,
    pub imports: f64,
    pub tests: f64,
    /// The share of an edge's weight that leads back.
    pub reverse_edge_weight: f64,
    /// Edges below it do not count.
    pub min_confidence: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            alpha: 0.85,
            extends: 1.5,
            calls: 1.0,
            references: 0.7,
            imports: 0.5,
            tests: 0.3,
            reverse_edge_weight: 0.3,
            min_confidence: 0.15,
        }
    }
}

/// The share of its rank that a test or generated file keeps: a map is of the product first.
const DEMOTED: f64 = 0.15;

/// The file graph: `n` edges of one kind between two files count `n / √n` times their weight.
pub fn file_graph(view: &View, graph: &Graph, options: &Options) -> Weighted {
    let mut pairs: BTreeMap<(u32, u32), [u32; 5]> = BTreeMap::new();
    for edge in &graph.edges {
        if edge.from.file != edge.to.file && edge.confidence.as_f64() >= options.min_confidence {
            let counts = pairs.entry((edge.from.file.0, edge.to.file.0)).or_default();
            counts[slot(edge.kind)] += 1;
        }
    }
    let weights = [options.calls, options.extends, options.imports, options.references, options.tests];
    let mut sums: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for ((from, to), counts) in pairs {
        let weight: f64 = counts.iter().zip(weights).map(|(n, weight)| f64::from(*n).sqrt() * weight).sum();
        *sums.entry((from, to)).or_default() += weight;
        *sums.entry((to, from)).or_default() += weight * options.reverse_edge_weight;
    }
    let mut targets = vec![Vec::new(); view.files.len()];
    for ((from, to), weight) in sums {
        targets[from as usize].push((to, weight));
    }
    Weighted { targets }
}

fn slot(kind: EdgeKind) -> usize {
    match kind {
        EdgeKind::Calls => 0,
        EdgeKind::Extends | EdgeKind::Overrides => 1,
        EdgeKind::Imports => 2,
        EdgeKind::References => 3,
        EdgeKind::Tests => 4,
    }
}

/// The ranks of all files, in order of the view. `seeds` as in [`pagerank`].
pub fn rank_files(view: &View, graph: &Graph, seeds: &[f64], options: &Options) -> Vec<f64> {
    let mut ranks = pagerank(&file_graph(view, graph, options), seeds, options.alpha);
    for (rank, file) in ranks.iter_mut().zip(&view.files) {
        if surface::is_secondary(file.path.as_str()) || !file.facts.test_blocks.is_empty() {
            *rank *= DEMOTED;
        }
    }
    ranks
}
