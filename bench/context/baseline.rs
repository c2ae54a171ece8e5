//! What ratlas is measured against: BM25 over the text of files, the first hits of a word search,
//! and aider's repository map, read from the file that `repo_map.py` wrote.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use ratlas::atlas::{Atlas, AtlasSource};
use ratlas::base::id::BlobId;
use ratlas::rank::surface;
use ratlas::report::pack::Gains;
use ratlas::report::tokens;
use ratlas::session::Session;
use ratlas::tools::sheet::{self, Purpose, Ranked};
use ratlas::tools::tool::Answer;
use ratlas::view::{FileIdx, View};

use crate::Named;

/// Okapi's usual values.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// How many words an agent searches for, the rarest first, and how many hits of each it reads.
const N_WORDS: usize = 6;
const N_HITS: usize = 40;

const STOP_WORDS: &[&str] = &[
    "the", "and", "for", "with", "that", "this", "from", "when", "not", "are", "was", "were", "has", "have", "into",
    "its", "use", "add", "fix", "fixes", "only", "should", "now", "can", "will", "does", "than", "then", "also",
    "where", "which",
];

/// The texts of a view's files, in its order; `known` keeps them for other trees.
pub fn texts(session: &Session, atlas: &Atlas, known: &mut HashMap<BlobId, Arc<Counted>>) -> Vec<Arc<Counted>> {
    let read = |path| session.read(atlas, path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let files = atlas.view.files.iter();
    files
        .map(|file| {
            let counted =
                known.entry(file.blob).or_insert_with(|| Arc::new(Counted::of(&read(&file.path).unwrap_or_default())));
            Arc::clone(counted)
        })
        .collect()
}

/// Words in lower case, split at case changes and `_`; compounds are kept too.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let mut part = String::new();
        let mut n_parts = 0;
        let mut previous = ' ';
        for c in word.chars() {
            let breaks = c == '_' || (c.is_uppercase() && !previous.is_uppercase());
            if breaks && !part.is_empty() {
                found.push(std::mem::take(&mut part));
                n_parts += 1;
            }
            if c != '_' {
                part.extend(c.to_lowercase());
            }
            previous = c;
        }
        if !part.is_empty() {
            found.push(part);
            n_parts += 1;
        }
        if n_parts > 1 {
            found.push(word.to_lowercase());
        }
    }
    found
}

fn asked(task: &str) -> BTreeSet<String> {
    words(task).into_iter().filter(|word| word.len() > 2 && !STOP_WORDS.contains(&word.as_str())).collect()
}

/// The words of a text and how often each stands in it.
pub struct Counted {
    n_of: HashMap<String, u32>,
    n_words: usize,
    lower: String,
}

impl Counted {
    pub fn of(text: &str) -> Self {
        let words = words(text);
        let mut counted = Counted { n_of: HashMap::new(), n_words: words.len(), lower: text.to_lowercase() };
        for word in words {
            *counted.n_of.entry(word).or_default() += 1;
        }
        counted
    }
}

/// All files by BM25 over their texts, the best first; those without any word of the task left out.
pub fn bm25(view: &View, texts: &[Arc<Counted>], task: &str) -> Vec<Ranked> {
    let n = texts.len() as f64;
    let average = (texts.iter().map(|text| text.n_words as f64).sum::<f64>() / n).max(1.0);
    let mut scores = vec![0.0; texts.len()];
    for word in asked(task) {
        let n_of: Vec<f64> = texts.iter().map(|text| f64::from(text.n_of.get(&word).copied().unwrap_or(0))).collect();
        let with = n_of.iter().filter(|n| **n > 0.0).count() as f64;
        let idf = (1.0 + (n - with + 0.5) / (with + 0.5)).ln();
        for ((score, tf), text) in scores.iter_mut().zip(&n_of).zip(texts) {
            let norm = K1 * (1.0 - B + B * text.n_words as f64 / average);
            *score += idf * tf * (K1 + 1.0) / (tf + norm);
        }
    }
    let mut ranked: Vec<Ranked> = view
        .indices()
        .map(|file| Ranked { file, score: scores[file.0 as usize], marked: Vec::new() })
        .filter(|ranked| ranked.score > 0.0)
        .collect();
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.file.cmp(&other.file)));
    ranked
}

/// An answer of ranked files that is rendered as a map is.
pub fn map_of(atlas: &Atlas, ranked: &[Ranked], budget: usize) -> String {
    let mut answer = Answer::new(atlas, budget);
    sheet::put(&mut answer, atlas, ranked, None, Purpose::Map, &Gains::MAP);
    answer.text()
}

/// Whether a file is of tests, examples or generated code.
pub fn is_secondary(view: &View, ranked: &Ranked) -> bool {
    surface::is_secondary(view.file(ranked.file).path.as_str())
}

/// What the first hits of the rarest words show: `path:line: text`, until the budget is spent.
pub fn word_search(view: &View, texts: &[Arc<Counted>], task: &str, budget: usize) -> Named {
    let mut words: Vec<(usize, String)> = asked(task)
        .into_iter()
        .map(|word| (texts.iter().map(|text| text.lower.matches(word.as_str()).count()).sum::<usize>(), word))
        .filter(|(n, _)| *n > 0)
        .collect();
    words.sort();
    let mut named = Named::default();
    let mut left = budget;
    for (_, word) in words.iter().take(N_WORDS) {
        let mut n_hits = 0;
        for (at, text) in texts.iter().enumerate() {
            let path = view.files[at].path.as_str();
            for (line, row) in text.lower.lines().enumerate().filter(|(_, row)| row.contains(word.as_str())) {
                let cost = tokens::count(&format!("{path}:{}:{}\n", line + 1, row.trim()));
                if cost > left || n_hits == N_HITS {
                    break;
                }
                left -= cost;
                n_hits += 1;
                named.files.insert(path.to_owned());
                let facts = view.facts(FileIdx(at as u32));
                let line = line as u32 + 1;
                for symbol in facts.symbols.iter().skip(1) {
                    if surface::is_listed(symbol) && symbol.start_line <= line && line <= symbol.end_line {
                        named.symbols.insert((path.to_owned(), symbol.start_line));
                    }
                }
            }
        }
    }
    named
}

/// What a map of aider's shows: a path and a colon at the margin, lines of source below. A
/// definition counts as shown where a line of its file has its name.
pub fn aider(view: &View, map: &str) -> Named {
    let mut named = Named::default();
    let mut sections: BTreeMap<&str, String> = BTreeMap::new();
    let mut path = "";
    for line in map.lines() {
        if !line.starts_with(['│', '⋮', ' ']) && !line.is_empty() {
            path = line.trim_end_matches(':');
            sections.entry(path).or_default();
        } else if let Some(section) = sections.get_mut(path) {
            section.push_str(line);
            section.push('\n');
        }
    }
    for (path, section) in sections {
        named.files.insert(path.to_owned());
        let Some(file) = view.find(path) else { continue };
        let facts = view.facts(file);
        let shown: BTreeSet<&str> = section.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').collect();
        for symbol in facts.symbols.iter().skip(1).filter(|symbol| surface::is_listed(symbol)) {
            let name = facts.name(symbol.name);
            // A constructor's line of source has its class's name.
            let name =
                if name == "<init>" { facts.name(symbol.qualname).split('.').next().unwrap_or(name) } else { name };
            if shown.contains(name) {
                named.symbols.insert((path.to_owned(), symbol.start_line));
            }
        }
    }
    named
}
