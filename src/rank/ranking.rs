//! What ranking keeps of an atlas between questions: what the graph alone says of its files, and,
//! for tasks, words of files and the past.

use std::collections::HashMap;
use std::sync::Arc;

use crate::base::dialect::Dialect;
use crate::base::id::BlobId;
use crate::base::parallel;
use crate::git::log::Log;
use crate::graph::edge::Graph;
use crate::rank::files::{self, Options};
use crate::rank::lexical::{self, FileWords};
use crate::rank::pagerank::{self, Weighted};
use crate::rank::past::Past;
use crate::rank::words::Term;
use crate::view::View;

/// What the graph alone says of the files of a view. Every list has one item a file.
pub struct Standing {
    pub graph: Weighted,
    /// PageRank from all files alike.
    pub ranks: Vec<f64>,
    pub is_secondary: Vec<bool>,
}

impl Standing {
    /// Ranks the files of a view by its graph.
    pub fn new(view: &View, graph: &Graph, options: &Options) -> Self {
        let weighted = files::file_graph(view.files.len(), graph, options);
        let ranks = pagerank::pagerank(&weighted, &[], options.alpha, pagerank::N_ITERATIONS);
        let is_secondary = view.indices().map(|file| files::is_secondary(view, file)).collect();
        Standing { graph: weighted, ranks, is_secondary }
    }

    /// The ranks of files for a map without a task: tests, examples and generated files behind.
    pub fn map_ranks(&self) -> Vec<f64> {
        files::map_ranks(&self.ranks, self.is_secondary.iter().copied())
    }
}

/// The state of ranking for tasks over one view and graph. Every list has one item a file.
pub struct Ranking {
    pub standing: Arc<Standing>,
    pub words: Vec<Arc<FileWords>>,
    pub paths: Vec<Vec<(Term, f64)>>,
    pub past: Past,
    by_blob: HashMap<(BlobId, Dialect), Arc<FileWords>>,
}

impl Ranking {
    /// Prepares a view; words of files that `before` has seen are taken from it. On `jobs`
    /// threads; equal inputs give equal values on any number of them.
    pub fn new(view: &View, standing: Arc<Standing>, log: &Log, jobs: usize, before: Option<&Ranking>) -> Self {
        let of_file = |at: usize| {
            let file = &view.files[at];
            let known = before.and_then(|before| before.by_blob.get(&(file.blob, file.dialect)));
            let words = known.cloned().unwrap_or_else(|| Arc::new(FileWords::of(&file.facts)));
            (words, lexical::path_terms(file.path.as_str()))
        };
        let (words, paths): (Vec<Arc<FileWords>>, Vec<_>) =
            parallel::each(view.files.len(), jobs, || (), |(), at| of_file(at)).into_iter().unzip();
        let by_blob =
            view.files.iter().zip(&words).map(|(file, words)| ((file.blob, file.dialect), Arc::clone(words))).collect();
        Ranking { standing, words, paths, past: Past::new(view, log), by_blob }
    }
}
