//! The file graph and the ranks of files (PRODUCT.md §7).

use crate::graph::edge::{EdgeKind, Graph};
use crate::rank::pagerank::{N_ITERATIONS, Weighted, pagerank};
use crate::rank::surface;
use crate::report::pack::Gains;
use crate::view::{FileIdx, View};

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
    /// How the signals of a task are mixed.
    pub mix: Mix,
    /// What lines add to the answer to a task.
    pub pack: Gains,
}

/// How much each signal of a file counts for a task. Every signal is in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mix {
    /// Words of the task in the file.
    pub words: f64,
    /// Words of the task in its best definition.
    pub definitions: f64,
    /// How much nearer it is to what the words name, over the graph, than to all else.
    pub nearness: f64,
    /// How much of the repository rests on it.
    pub importance: f64,
    /// How often and how lately it changed.
    pub churn: f64,
    /// How often it changed together with what the words name.
    pub together: f64,
    /// Whether commits with words of the task changed it.
    pub commits: f64,
    /// Uncommitted edits.
    pub dirty: f64,
    /// Names that the task writes as code, files and lines that it names.
    pub named: f64,
    /// The share of its score that a test, example or generated file keeps.
    pub secondary: f64,
}

impl Default for Mix {
    /// As `bench/context/tune.py` has it on the older half of the tasks of `bench/context`, where
    /// `dirty` and `named` are not seen: those two are guesses, by which what a person points at
    /// comes before all.
    fn default() -> Self {
        Mix {
            words: 1.0,
            definitions: 0.1,
            nearness: 0.2,
            importance: 0.05,
            churn: 0.3,
            together: 0.3,
            commits: 0.6,
            dirty: 0.3,
            named: 3.0,
            secondary: 0.125,
        }
    }
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
            mix: Mix::default(),
            pack: Gains::default(),
        }
    }
}

/// The share of its rank that a test or generated file keeps: a map is of the product first.
pub const DEMOTED: f64 = 0.15;

/// The file graph: `n` edges of one kind between two files count `n / √n` times their weight.
/// O(edges log edges of a file).
pub fn file_graph(n_files: usize, graph: &Graph, options: &Options) -> Weighted {
    let weights = [options.calls, options.extends, options.imports, options.references, options.tests];
    let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n_files];
    // Edges are sorted by their source, so that those of a file lie together.
    let mut start = 0;
    let mut targets: Vec<(u32, usize)> = Vec::new();
    while start < graph.edges.len() {
        let from = graph.edges[start].from.file;
        let len = graph.edges[start..].partition_point(|edge| edge.from.file == from);
        targets.clear();
        targets.extend(
            graph.edges[start..start + len]
                .iter()
                .filter(|edge| edge.to.file != from && edge.confidence.as_f64() >= options.min_confidence)
                .map(|edge| (edge.to.file.0, slot(edge.kind))),
        );
        targets.sort_unstable();
        for of_target in targets.chunk_by(|one, other| one.0 == other.0) {
            let weight: f64 = of_target
                .chunk_by(|one, other| one.1 == other.1)
                .map(|of_kind| (of_kind.len() as f64).sqrt() * weights[of_kind[0].1])
                .sum();
            let to = of_target[0].0;
            rows[from.0 as usize].push((to, weight));
            rows[to as usize].push((from.0, weight * options.reverse_edge_weight));
        }
        start += len;
    }
    for row in &mut rows {
        row.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        row.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
    }
    Weighted::new(&rows)
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

/// Whether a file is of tests, examples, documents or generated code.
pub fn is_secondary(view: &View, file: FileIdx) -> bool {
    surface::is_secondary(view.file(file).path.as_str()) || view.figures(file).n_blocks > 0
}

/// The ranks of files for a map without a task, of PageRank from all files alike: tests, examples
/// and generated files behind.
pub fn map_ranks(ranks: &[f64], is_secondary: impl Iterator<Item = bool>) -> Vec<f64> {
    ranks.iter().zip(is_secondary).map(|(rank, secondary)| if secondary { rank * DEMOTED } else { *rank }).collect()
}

/// [`map_ranks`] of a view and its graph, by PageRank over its files.
pub fn ranks_of(view: &View, graph: &Graph, options: &Options) -> Vec<f64> {
    let weighted = file_graph(view.files.len(), graph, options);
    let ranks = pagerank(&weighted, &[], options.alpha, N_ITERATIONS);
    map_ranks(&ranks, view.indices().map(|file| is_secondary(view, file)))
}

/// [`ranks_of`] as they were kept with the view, where they were under such options.
pub fn kept_ranks<'v>(view: &'v View, options: &Options) -> Option<&'v [f64]> {
    // The mix and the gains are of tasks.
    let is_default = Options { mix: Mix::default(), pack: Gains::default(), ..options.clone() } == Options::default();
    view.directory.as_ref().filter(|_| is_default)?.ranks.as_deref()
}
