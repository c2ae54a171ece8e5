//! The order of files and definitions for a task: signals, each in [0, 1], mixed by weights.

use std::collections::BTreeMap;

use crate::facts::model::SymbolId;
use crate::facts::table::Id;
use crate::rank::files::{Mix, Options};
use crate::rank::lexical::{self, FileScores};
use crate::rank::pagerank::{N_NEAR_ITERATIONS, pagerank};
use crate::rank::question::{Place, Question, Shape};
use crate::rank::ranking::Ranking;
use crate::rank::surface;
use crate::view::{FileIdx, SymbolRef, View};

/// In how many of the best files definitions are scored by words.
const N_LOOKED_INTO: usize = 80;
/// How many of the best files seed nearness.
const N_SEEDS: usize = 24;
/// A rank, of the highest, that counts as much as the file's own against its nearness: it keeps
/// files that nothing uses from being near to everything.
const EVERYWHERE: f64 = 0.02;
/// A name that more definitions have than this points at nothing.
const MAX_OF_NAME: usize = 40;
/// How much a definition that the task names or points at counts beside one that its words fit
/// best, which counts 1.
const POINTED_AT: f64 = 3.0;

/// What is known of one file for a task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals {
    pub words: f64,
    pub definitions: f64,
    pub nearness: f64,
    pub importance: f64,
    pub churn: f64,
    pub together: f64,
    pub commits: f64,
    pub dirty: f64,
    pub named: f64,
    pub secondary: bool,
}

impl Signals {
    /// The score of a file with these signals, quantized to 1e-9.
    pub fn score(&self, mix: &Mix, wants_tests: bool) -> f64 {
        let by_task = mix.words * self.words
            + mix.definitions * self.definitions
            + mix.nearness * self.nearness
            + mix.importance * self.importance
            + mix.churn * self.churn
            + mix.together * self.together
            + mix.commits * self.commits;
        let kept = if self.secondary && !wants_tests { mix.secondary } else { 1.0 };
        let score = by_task * kept + mix.dirty * self.dirty + mix.named * self.named;
        (score * 1e9).round() / 1e9
    }
}

/// What else the asker has at hand.
#[derive(Clone, Debug, Default)]
pub struct Hand {
    /// Files that the task is about.
    pub focus: Vec<FileIdx>,
    /// Which files may be answered with, one a file; empty for all.
    pub allowed: Vec<bool>,
}

/// A file for a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    pub file: FileIdx,
    pub score: f64,
    pub signals: Signals,
    /// The definitions that the task's words or names fit, sorted by symbol, each with its weight:
    /// 1 for the best by words.
    pub symbols: Vec<(SymbolRef, f64)>,
}

/// What a task found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    /// Best first; equal ones in order of path.
    pub files: Vec<Scored>,
    /// Whether anything in the tree has a word, a name or a file of the task.
    pub is_about_something: bool,
}

/// Orders the files of a view for a task. Pure; equal inputs give equal orders.
pub fn order(view: &View, ranking: &Ranking, question: &Question, hand: &Hand, options: &Options) -> Order {
    let (n_files, standing) = (view.files.len(), &*ranking.standing);
    let mut by_words = lexical::score_files(&ranking.words, &ranking.paths, &question.terms);
    for (at, score) in by_words.scores.iter_mut().enumerate() {
        if hand.allowed.get(at) == Some(&false) {
            *score = 0.0;
        } else if standing.is_secondary[at] && !question.wants_tests {
            *score *= options.mix.secondary;
        }
    }
    normalize(&mut by_words.scores);
    let mut pointed: BTreeMap<SymbolRef, f64> = BTreeMap::new();
    let mut named = vec![0.0f64; n_files];
    point_at_names(view, ranking, question, &mut pointed, &mut named);
    point_at_places(view, question, &mut pointed, &mut named);
    let is_about_something = by_words.scores.iter().chain(&named).any(|score| *score > 0.0);
    for file in &hand.focus {
        named[file.0 as usize] = named[file.0 as usize].max(1.0);
    }
    let (definitions, symbols) = definitions(view, question, &by_words, &named, pointed);

    let mut seeds: Vec<f64> =
        (0..n_files).map(|at| (by_words.scores[at] + 0.5 * definitions[at]).powi(2) + 2.0 * named[at]).collect();
    keep_best(&mut seeds, N_SEEDS);
    let mut nearness = match seeds.iter().any(|seed| *seed > 0.0) {
        true => pagerank(&standing.graph, &seeds, options.alpha, N_NEAR_ITERATIONS),
        false => vec![0.0; n_files],
    };
    normalize(&mut seeds);
    normalize(&mut nearness);
    let highest = standing.ranks.iter().copied().fold(0.0, f64::max).max(1e-12);
    // What all files are near to is near to no task: what counts is how much nearer it is to this one.
    for (near, rank) in nearness.iter_mut().zip(&standing.ranks) {
        *near = (near.max(0.0) / (rank.max(0.0) / highest + EVERYWHERE)).sqrt();
    }
    normalize(&mut nearness);
    let together = ranking.past.together_with(&seeds);
    let commits = ranking.past.like_words(n_files, &question.terms);
    let mut symbols = symbols;
    let mut files: Vec<Scored> = view
        .indices()
        .filter(|file| hand.allowed.get(file.0 as usize) != Some(&false))
        .map(|file| {
            let at = file.0 as usize;
            let signals = Signals {
                words: by_words.scores[at],
                definitions: definitions[at],
                nearness: nearness[at],
                importance: (standing.ranks[at] / highest).max(0.0).sqrt(),
                churn: ranking.past.churn.get(at).copied().unwrap_or(0.0),
                together: together[at],
                commits: commits[at],
                dirty: f64::from(u8::from(view.files[at].dirty)),
                named: named[at],
                secondary: standing.is_secondary[at],
            };
            let score = signals.score(&options.mix, question.wants_tests);
            Scored { file, score, signals, symbols: symbols.remove(&file).unwrap_or_default() }
        })
        .filter(|scored| scored.score > 0.0)
        .collect();
    files.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.file.cmp(&other.file)));
    Order { files, is_about_something }
}

fn normalize(values: &mut [f64]) {
    let most = values.iter().copied().fold(0.0, f64::max);
    if most > 0.0 {
        values.iter_mut().for_each(|value| *value /= most);
    }
}

/// Sets all but the `n` highest values to 0; of equal ones the first stay.
fn keep_best(values: &mut [f64], n: usize) {
    let mut order: Vec<usize> = (0..values.len()).filter(|at| values[*at] > 0.0).collect();
    order.sort_by(|one, other| values[*other].total_cmp(&values[*one]).then(one.cmp(other)));
    for at in order.into_iter().skip(n) {
        values[at] = 0.0;
    }
}

/// Marks what the task names as code: the more definitions share a name, the less each counts.
fn point_at_names(
    view: &View,
    ranking: &Ranking,
    question: &Question,
    pointed: &mut BTreeMap<SymbolRef, f64>,
    named: &mut [f64],
) {
    for name in &question.names {
        let (owner, simple) = match name.rsplit_once('.') {
            Some((owner, simple)) => (Some(owner.rsplit('.').next().unwrap_or(owner)), simple),
            None => (None, name.as_str()),
        };
        let hash = lexical::name_hash(simple);
        let mut found: Vec<SymbolRef> = Vec::new();
        for (at, words) in ranking.words.iter().enumerate() {
            found.extend(words.defined(hash).map(|symbol| SymbolRef { file: FileIdx(at as u32), symbol }));
        }
        // Hashes may meet.
        found.retain(|at| {
            let symbol = view.symbol(*at);
            surface::is_listed(symbol) && view.facts(at.file).name(symbol.name) == simple
        });
        if let Some(owner) = owner {
            let is_owned = |at: &SymbolRef| {
                let facts = view.facts(at.file);
                let parent = view.symbol(*at).parent.filter(|parent| parent.index() > 0);
                match parent {
                    Some(parent) => facts.name(facts.symbol(parent).name) == owner,
                    None => view.file(at.file).path.stem() == owner,
                }
            };
            if found.iter().any(is_owned) {
                found.retain(is_owned);
            }
        }
        let is_secondary = |at: &SymbolRef| ranking.standing.is_secondary[at.file.0 as usize];
        if found.iter().any(|at| !is_secondary(at)) && !question.wants_tests {
            found.retain(|at| !is_secondary(at));
        }
        if found.is_empty() || found.len() > MAX_OF_NAME {
            continue;
        }
        // Beside a stack, names of its message or of quoted lines matter less than its frames.
        let share = if question.shape == Shape::StackTrace { 0.4 } else { 1.0 };
        let weight = share / (found.len() as f64).sqrt();
        for at in found {
            let mark = pointed.entry(at).or_default();
            *mark = mark.max(POINTED_AT * weight);
            let file = &mut named[at.file.0 as usize];
            *file = (*file + weight).min(1.0);
        }
    }
}

/// Marks the files that the task names, and the definitions at their lines.
fn point_at_places(view: &View, question: &Question, pointed: &mut BTreeMap<SymbolRef, f64>, named: &mut [f64]) {
    let found =
        question.places.iter().map(|place| (place, files_of(view, place))).filter(|(_, files)| !files.is_empty());
    for (at, (place, files)) in found.enumerate() {
        // The innermost frame of ours first: what is far out on the stack matters less. Files that
        // are merely named matter alike.
        let depth = if question.shape == Shape::StackTrace { 1.0 + at as f64 } else { 1.0 };
        let weight = 1.0 / depth / (files.len() as f64).sqrt();
        for file in files {
            let sum = &mut named[file.0 as usize];
            *sum = (*sum).max(weight);
            if let Some(symbol) = place.line.and_then(|line| symbol_at(view, file, line)) {
                let mark = pointed.entry(SymbolRef { file, symbol }).or_default();
                *mark = mark.max(POINTED_AT * weight);
            }
        }
    }
}

/// The files that a place may be: its path, one that ends with it, or the end of it. Several only
/// where none is better, and at most three.
fn files_of(view: &View, place: &Place) -> Vec<FileIdx> {
    if let Some(file) = view.find(&place.path) {
        return vec![file];
    }
    let ends =
        |whole: &str, end: &str| whole.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    let longer: Vec<FileIdx> =
        view.indices().filter(|file| ends(view.file(*file).path.as_str(), &place.path)).collect();
    if !longer.is_empty() {
        return if longer.len() <= 3 { longer } else { Vec::new() };
    }
    // A path from outside of the repository: the longest path of it that ends it.
    let inner = view.indices().filter(|file| {
        let path = view.file(*file).path.as_str();
        path.contains('/') && ends(&place.path, path)
    });
    inner.max_by_key(|file| view.file(*file).path.as_str().len()).into_iter().collect()
}

/// The innermost listed definition around a line.
fn symbol_at(view: &View, file: FileIdx, line: u32) -> Option<SymbolId> {
    let facts = view.facts(file);
    let around = facts
        .symbols
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, symbol)| surface::is_listed(symbol) && symbol.start_line <= line && line <= symbol.end_line);
    around.min_by_key(|(row, symbol)| (symbol.end_line - symbol.start_line, *row)).map(|(row, _)| Id::new(row))
}

type Marked = BTreeMap<FileIdx, Vec<(SymbolRef, f64)>>;

/// Scores definitions in the best files; gives each file's best and all that have a weight.
fn definitions(
    view: &View,
    question: &Question,
    by_words: &FileScores,
    named: &[f64],
    pointed: BTreeMap<SymbolRef, f64>,
) -> (Vec<f64>, Marked) {
    let mut looked: Vec<f64> = by_words.scores.iter().zip(named).map(|(words, named)| words + named).collect();
    keep_best(&mut looked, N_LOOKED_INTO);
    let mut found: Vec<(SymbolRef, f64)> = Vec::new();
    for (at, _) in looked.iter().enumerate().filter(|(_, score)| **score > 0.0) {
        found.extend(lexical::score_symbols(view, FileIdx(at as u32), &question.terms, &by_words.rarity));
    }
    let best = found.iter().map(|(_, score)| *score).fold(0.0, f64::max).max(1e-12);
    let mut of_file = vec![0.0f64; view.files.len()];
    let mut marked: BTreeMap<SymbolRef, f64> = pointed;
    for (at, score) in found {
        let share = score / best;
        let file = &mut of_file[at.file.0 as usize];
        *file = file.max(share);
        *marked.entry(at).or_default() += share;
    }
    let mut symbols = Marked::new();
    for (at, weight) in marked {
        symbols.entry(at.file).or_default().push((at, weight));
    }
    (of_file, symbols)
}
