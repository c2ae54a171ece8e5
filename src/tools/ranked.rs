//! The ranking of the atlas that was asked about last, made part by part when something is asked
//! that needs it: a map needs no words of any file, and a kept tree no ranks.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::atlas::{Atlas, AtlasSource};
use crate::rank::files::{self, Options};
use crate::rank::ranking::{Ranking, Standing};
use crate::tools::meter;
use crate::tools::repo_map::MapOrder;

/// What was found out of an atlas's order.
pub struct Ranked {
    atlas: Arc<Atlas>,
    options: Options,
    /// Of the atlas before: words of unchanged files are its words.
    before: Option<Arc<Ranking>>,
    standing: OnceLock<Arc<Standing>>,
    ranking: OnceLock<Arc<Ranking>>,
    map_ranks: OnceLock<Vec<f64>>,
    map: OnceLock<MapOrder>,
}

impl Ranked {
    /// The ranking of an atlas, with nothing found out yet. What `last` knows of words is used.
    pub fn new(atlas: &Arc<Atlas>, options: &Options, last: Option<&Ranked>) -> Self {
        let before = last.and_then(|last| last.ranking.get().cloned().or_else(|| last.before.clone()));
        Ranked {
            atlas: Arc::clone(atlas),
            options: options.clone(),
            before,
            standing: OnceLock::new(),
            ranking: OnceLock::new(),
            map_ranks: OnceLock::new(),
            map: OnceLock::new(),
        }
    }

    /// Whether it is of an atlas under such options.
    pub fn is_of(&self, atlas: &Arc<Atlas>, options: &Options) -> bool {
        Arc::ptr_eq(&self.atlas, atlas) && self.options.min_confidence == options.min_confidence
    }

    fn standing(&self) -> &Arc<Standing> {
        self.standing.get_or_init(|| Arc::new(Standing::new(&self.atlas.view, &self.atlas.graph, &self.options)))
    }

    /// The ranks of files for a map without a task.
    pub fn map_ranks(&self) -> &[f64] {
        let kept = files::kept_ranks(&self.atlas.view, &self.options);
        kept.unwrap_or_else(|| self.map_ranks.get_or_init(|| self.standing().map_ranks()))
    }

    /// The map of all files, before a budget is known.
    pub fn map(&self) -> &MapOrder {
        self.map.get_or_init(|| MapOrder::of(&self.atlas, self.map_ranks()))
    }

    /// What tasks need. A history that cannot be read ranks nothing.
    pub fn ranking(&self, source: &dyn AtlasSource) -> &Arc<Ranking> {
        self.ranking.get_or_init(|| {
            let log = source.log(&self.atlas).unwrap_or_else(|error| {
                tracing::debug!("ranked without history: {error}");
                Arc::default()
            });
            let started = Instant::now();
            let jobs = std::thread::available_parallelism().map_or(1, usize::from);
            let standing = Arc::clone(self.standing());
            let ranking = Ranking::new(&self.atlas.view, standing, &log, jobs, self.before.as_deref());
            let mut sums = meter::Sums::new();
            meter::put_duration(&mut sums, "ratlas_rank_seconds", "", started.elapsed());
            source.count(&sums);
            Arc::new(ranking)
        })
    }
}
