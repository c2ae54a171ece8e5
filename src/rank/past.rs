//! What the history says of a view's files: how often and how lately they changed, what changed
//! with what, and what commits of like words changed.

use crate::git::log::Log;
use crate::rank::words::{self, Asked, Term};
use crate::view::{FileIdx, View};

/// After how many commits a change counts half. A guess that `bench/context` is to settle.
const HALF_LIFE: f64 = 150.0;
/// Commits that change more files say nothing of which belong together.
const MAX_TOGETHER: usize = 24;

/// The history of a view's files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Past {
    /// For each file of the view its changes, lately ones more, in [0, 1] of the most changed.
    pub churn: Vec<f64>,
    commits: Vec<Together>,
}

/// A commit's files that are in the view.
#[derive(Clone, Debug, PartialEq)]
struct Together {
    files: Vec<u32>,
    /// The terms of its subject, sorted and unique.
    terms: Vec<Term>,
    /// How much it counts, by its age.
    weight: f64,
}

impl Past {
    /// What `log` (newest first) says of the files of `view`.
    pub fn new(view: &View, log: &Log) -> Self {
        let at_path: Vec<Option<FileIdx>> = log.paths.iter().map(|path| view.find(path.as_str())).collect();
        let mut past = Past { churn: vec![0.0; view.files.len()], commits: Vec::new() };
        for (age, change) in log.changes.iter().enumerate() {
            let weight = (-(age as f64) / HALF_LIFE).exp2();
            let files: Vec<u32> =
                change.paths.iter().filter_map(|path| at_path[*path as usize]).map(|file| file.0).collect();
            // A sweep over all files makes none of them likelier.
            let share = weight / (1.0 + files.len() as f64 / 4.0);
            for file in &files {
                past.churn[*file as usize] += share;
            }
            if files.is_empty() || files.len() > MAX_TOGETHER {
                continue;
            }
            let mut terms = words::terms(&change.subject);
            terms.sort_unstable();
            terms.dedup();
            past.commits.push(Together { files, terms, weight });
        }
        let most = past.churn.iter().copied().fold(0.0, f64::max);
        if most > 0.0 {
            past.churn.iter_mut().for_each(|churn| *churn = (*churn / most).sqrt());
        }
        past
    }

    /// How much each file changed with the seeds (one weight a file), in [0, 1] of the most.
    pub fn together_with(&self, seeds: &[f64]) -> Vec<f64> {
        self.spread(seeds.len(), |commit| {
            let best = commit.files.iter().map(|file| seeds[*file as usize]).fold(0.0, f64::max);
            if commit.files.len() < 2 { 0.0 } else { best * commit.weight }
        })
    }

    /// How much each file changed in commits whose subjects have words of the question, in [0, 1].
    pub fn like_words(&self, n_files: usize, asked: &[Asked]) -> Vec<f64> {
        let n_commits = self.commits.len() as f64;
        let holds = |commit: &Together, term: Term| commit.terms.binary_search(&term).is_ok();
        let rarity: Vec<f64> = asked
            .iter()
            .map(|asked| {
                let n = self.commits.iter().filter(|commit| holds(commit, asked.term)).count() as f64;
                if n == 0.0 { 0.0 } else { asked.weight * (1.0 + (n_commits - n + 0.5) / (n + 0.5)).ln() }
            })
            .collect();
        self.spread(n_files, |commit| {
            let sum: f64 =
                asked.iter().zip(&rarity).filter(|(asked, _)| holds(commit, asked.term)).map(|(_, idf)| idf).sum();
            // Two common words in a subject are no likeness; the square parts them from a rare one.
            sum * sum * commit.weight.sqrt()
        })
    }

    fn spread(&self, n_files: usize, score: impl Fn(&Together) -> f64) -> Vec<f64> {
        let mut found = vec![0.0; n_files];
        for commit in &self.commits {
            let score = score(commit);
            if score > 0.0 {
                for file in &commit.files {
                    found[*file as usize] += score / (commit.files.len() as f64).sqrt();
                }
            }
        }
        let most = found.iter().copied().fold(0.0, f64::max);
        if most > 0.0 {
            found.iter_mut().for_each(|value| *value /= most);
        }
        found
    }
}
