//! BM25 over the words of files and of their definitions: names split at case and `_`, paths,
//! docs, signatures, and the names that bodies use.

use std::sync::Arc;

use crate::facts::model::{ExprKind, FileFacts, NameId, SymbolId};
use crate::facts::table::Id;
use crate::rank::surface;
use crate::rank::words::{self, Asked, Term};
use crate::view::{FileIdx, SymbolRef, View};

/// BM25's saturation and length weight over files. Guesses: names of code repeat without saying more.
const K1: f64 = 1.6;
const B: f64 = 0.35;
/// The same over definitions, whose names and docs are short.
const SYMBOL_K1: f64 = 1.2;
const SYMBOL_B: f64 = 0.4;

/// How much a word of a file counts by where it stands.
const IN_PATH: f64 = 4.0;
const IN_NAME: f64 = 2.0;
const IN_DOC: f64 = 1.0;
const IN_BODY: f64 = 0.35;

/// How much a word of a definition counts by where it stands.
const SYMBOL_NAME: f64 = 3.0;
const SYMBOL_OWNER: f64 = 0.8;
const SYMBOL_DOC: f64 = 1.2;
const SYMBOL_SIGNATURE: f64 = 0.6;
const SYMBOL_BODY: f64 = 0.25;

/// How often a term stands where in a file; counts stop at 255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    names: u8,
    docs: u8,
    body: u8,
}

/// The words of one file, without those of its path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileWords {
    terms: Vec<Term>,
    counts: Vec<Counts>,
    /// The sum of all counts by their weights.
    length: f64,
    /// Simple names of definitions as terms of the whole name, sorted, with their rows.
    defined: Vec<(u64, u32)>,
}

/// The hash of a whole name, for exact look-ups.
pub fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl FileWords {
    /// Collects the words of a file. O(its expressions).
    pub fn of(facts: &FileFacts) -> Self {
        // How often each interned name is used, so that each is split once.
        let mut n_used = vec![Counts::default(); facts.names.len()];
        let bump = |count: &mut u8| *count = count.saturating_add(1);
        for expr in &facts.exprs {
            if let Some(name) = expr.name.filter(|_| expr.kind != ExprKind::Path) {
                bump(&mut n_used[name.index()].body);
            }
        }
        for param in &facts.params {
            if let Some(name) = param.name {
                bump(&mut n_used[name.index()].body);
            }
        }
        for ty in &facts.types {
            if let Some(name) = ty.name {
                bump(&mut n_used[name.index()].body);
            }
        }
        let mut defined = Vec::new();
        for (row, symbol) in facts.symbols.iter().enumerate() {
            if let Some(doc) = symbol.doc {
                bump(&mut n_used[doc.index()].docs);
            }
            if row > 0 {
                bump(&mut n_used[symbol.name.index()].names);
                defined.push((name_hash(facts.name(symbol.name)), row as u32));
            }
        }
        for block in &facts.test_blocks {
            if let Some(title) = block.title {
                bump(&mut n_used[title.index()].docs);
            }
        }
        defined.sort_unstable();
        let mut found: Vec<(Term, Counts)> = Vec::new();
        let mut word = String::new();
        for (name, counts) in facts.names.iter().zip(&n_used) {
            if *counts != Counts::default() {
                words::each_term(name, &mut word, |term| found.push((term, *counts)));
            }
        }
        found.sort_unstable_by_key(|(term, _)| *term);
        let mut words = FileWords { defined, ..FileWords::default() };
        for (term, counts) in found {
            words.length += weight(counts);
            match words.terms.last() {
                Some(last) if *last == term => {
                    let sum = words.counts.last_mut().expect("because each term has counts");
                    sum.names = sum.names.saturating_add(counts.names);
                    sum.docs = sum.docs.saturating_add(counts.docs);
                    sum.body = sum.body.saturating_add(counts.body);
                }
                _ => {
                    words.terms.push(term);
                    words.counts.push(counts);
                }
            }
        }
        words
    }

    fn count(&self, term: Term) -> f64 {
        self.terms.binary_search(&term).map_or(0.0, |at| weight(self.counts[at]))
    }

    /// The rows of the definitions of a name.
    pub fn defined(&self, hash: u64) -> impl Iterator<Item = SymbolId> + '_ {
        let start = self.defined.partition_point(|(known, _)| *known < hash);
        self.defined[start..].iter().take_while(move |(known, _)| *known == hash).map(|(_, row)| Id::new(*row as usize))
    }
}

fn weight(counts: Counts) -> f64 {
    f64::from(counts.names) * IN_NAME + f64::from(counts.docs) * IN_DOC + f64::from(counts.body) * IN_BODY
}

/// The terms of a path: folders count less the farther they are from the file's name.
pub fn path_terms(path: &str) -> Vec<(Term, f64)> {
    let mut found: Vec<(Term, f64)> = Vec::new();
    let mut word = String::new();
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    for (depth, part) in stem.rsplit('/').take(4).enumerate() {
        let weight = IN_PATH / (1.0 + depth as f64);
        words::each_term(part, &mut word, |term| match found.iter_mut().find(|(known, _)| *known == term) {
            Some((_, sum)) => *sum = sum.max(weight),
            None => found.push((term, weight)),
        });
    }
    found
}

/// How rare each asked word is over files, times its weight in the question.
#[derive(Clone, Debug, PartialEq)]
pub struct Rarity(pub Vec<f64>);

/// What files say of a question.
pub struct FileScores {
    /// One a file of the view; 0 where no word of the question stands in it.
    pub scores: Vec<f64>,
    pub rarity: Rarity,
}

/// Scores every file. `words` and `paths` are the view's, in its order.
pub fn score_files(words: &[Arc<FileWords>], paths: &[Vec<(Term, f64)>], asked: &[Asked]) -> FileScores {
    let n_files = words.len();
    let n_terms = asked.len();
    let mut found = vec![0.0f64; n_files * n_terms];
    let mut n_with = vec![0usize; n_terms];
    let mut total_length = 0.0;
    for (at, (file, path)) in words.iter().zip(paths).enumerate() {
        total_length += file.length;
        for (term_at, asked) in asked.iter().enumerate() {
            let in_path = path.iter().find(|(term, _)| *term == asked.term).map_or(0.0, |(_, weight)| *weight);
            let count = file.count(asked.term) + in_path;
            if count > 0.0 {
                n_with[term_at] += 1;
                found[at * n_terms + term_at] = count;
            }
        }
    }
    let average = (total_length / n_files.max(1) as f64).max(1.0);
    let rarity: Vec<f64> = n_with.iter().zip(asked).map(|(n, asked)| idf(n_files, *n) * asked.weight).collect();
    let scores = words
        .iter()
        .enumerate()
        .map(|(at, file)| {
            let norm = K1 * (1.0 - B + B * file.length / average);
            let row = &found[at * n_terms..(at + 1) * n_terms];
            row.iter().zip(&rarity).map(|(n, idf)| idf * n * (K1 + 1.0) / (n + norm)).sum()
        })
        .collect();
    FileScores { scores, rarity: Rarity(rarity) }
}

fn idf(n_all: usize, n_with: usize) -> f64 {
    (1.0 + (n_all as f64 - n_with as f64 + 0.5) / (n_with as f64 + 0.5)).ln()
}

/// Scores the listed definitions of one file: those with any word, in order of rows.
pub fn score_symbols(view: &View, file: FileIdx, asked: &[Asked], rarity: &Rarity) -> Vec<(SymbolRef, f64)> {
    let facts = view.facts(file);
    if asked.is_empty() {
        return Vec::new();
    }
    let n_terms = asked.len();
    let hits = name_hits(facts, asked);
    let mut found = vec![0.0f64; facts.symbols.len() * n_terms];
    let mut lengths = vec![0.0f64; facts.symbols.len()];
    let mut add = |row: usize, name: NameId, weight: f64| {
        lengths[row] += weight;
        for at in hits.of(name) {
            found[row * n_terms + at] += weight;
        }
    };
    for (row, symbol) in facts.symbols.iter().enumerate().skip(1) {
        add(row, symbol.name, SYMBOL_NAME);
        add(row, symbol.signature, SYMBOL_SIGNATURE);
        if let Some(doc) = symbol.doc {
            add(row, doc, SYMBOL_DOC);
        }
        if let Some(parent) = symbol.parent.filter(|parent| parent.index() > 0) {
            add(row, facts.symbol(parent).name, SYMBOL_OWNER);
        }
    }
    for reference in &facts.refs {
        if let Some(name) = facts.exprs.get(reference.expr.index()).and_then(|expr| last_name(facts, expr)) {
            add(listed_owner(facts, reference.owner).index(), name, SYMBOL_BODY);
        }
    }
    // Nested functions and locals have no line of their own: their words are their owner's.
    facts
        .symbols
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, symbol)| surface::is_listed(symbol))
        .filter_map(|(row, _)| {
            let norm = SYMBOL_K1 * (1.0 - SYMBOL_B + SYMBOL_B * lengths[row] / SYMBOL_LENGTH);
            let counts = &found[row * n_terms..(row + 1) * n_terms];
            let score: f64 =
                counts.iter().zip(&rarity.0).map(|(n, idf)| idf * n * (SYMBOL_K1 + 1.0) / (n + norm)).sum();
            (score > 0.0).then(|| (SymbolRef { file, symbol: Id::new(row) }, score))
        })
        .collect()
}

/// The usual weighted length of a definition, over the benchmark's repositories.
const SYMBOL_LENGTH: f64 = 9.0;

/// The name of a reference's last part: a call's callee, else its own.
fn last_name(facts: &FileFacts, expr: &crate::facts::model::Expr) -> Option<NameId> {
    match expr.kind {
        ExprKind::Call | ExprKind::New | ExprKind::Jsx => {
            let operand = facts.operands.get(expr.first as usize).filter(|_| expr.len > 0)?;
            facts.exprs.get(operand.expr.index()).and_then(|callee| callee.name)
        }
        ExprKind::Path => None,
        _ => expr.name,
    }
}

/// The nearest definition around `owner` that has a line in maps; the module's where none has.
fn listed_owner(facts: &FileFacts, owner: SymbolId) -> SymbolId {
    let mut at = owner;
    while at.index() > 0 && !surface::is_listed(facts.symbol(at)) {
        match facts.symbol(at).parent {
            Some(parent) if parent < at => at = parent,
            _ => return SymbolId::new(0),
        }
    }
    at
}

/// Which names of a file hold which asked words.
struct Hits {
    /// For each name the first of its hits; one more than names.
    starts: Vec<u32>,
    terms: Vec<u32>,
}

impl Hits {
    fn of(&self, name: NameId) -> impl Iterator<Item = usize> + '_ {
        let (start, end) = (self.starts[name.index()] as usize, self.starts[name.index() + 1] as usize);
        self.terms[start..end].iter().map(|at| *at as usize)
    }
}

fn name_hits(facts: &FileFacts, asked: &[Asked]) -> Hits {
    let mut hits = Hits { starts: Vec::with_capacity(facts.names.len() + 1), terms: Vec::new() };
    let mut word = String::new();
    // Equal terms begin alike, and most words begin otherwise.
    let mut begins = [false; 256];
    asked.iter().for_each(|asked| begins[usize::from(asked.first)] = true);
    for name in &facts.names {
        hits.starts.push(hits.terms.len() as u32);
        let start = hits.terms.len();
        words::each_word(name, &mut word, |word| {
            if !word.bytes().next().is_some_and(|first| begins[usize::from(first)]) {
                return;
            }
            if let Ok(at) = asked.binary_search_by_key(&words::term_of(word), |asked| asked.term)
                && !hits.terms[start..].contains(&(at as u32))
            {
                hits.terms.push(at as u32);
            }
        });
    }
    hits.starts.push(hits.terms.len() as u32);
    hits
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{FileWords, name_hash, path_terms, score_files};
    use crate::base::dialect::Dialect;
    use crate::extract::extract;
    use crate::rank::words::query_terms;

    fn scores(files: &[(&str, &str)], question: &str) -> Vec<f64> {
        let words: Vec<Arc<FileWords>> =
            files.iter().map(|(_, text)| Arc::new(FileWords::of(&extract(Dialect::Py, text.as_bytes())))).collect();
        let paths: Vec<_> = files.iter().map(|(path, _)| path_terms(path)).collect();
        score_files(&words, &paths, &query_terms(question)).scores
    }

    #[test]
    fn words_of_bodies_names_and_paths_are_found() {
        let files = [
            ("cookies.py", "def a():\n    pass\n"),
            ("b.py", "def cookie_jar():\n    pass\n"),
            ("c.py", "def c(x):\n    return x.cookie.clear()\n"),
            ("d.py", "def d():\n    return 1\n"),
        ];
        let scores = scores(&files, "where are cookies kept?");
        assert!(scores[0] > scores[2] && scores[1] > scores[2] && scores[2] > 0.0 && scores[3] == 0.0, "{scores:?}");
    }

    #[test]
    fn rare_words_weigh_more() {
        let files = [
            ("a.py", "def load():\n    pass\n"),
            ("b.py", "def load():\n    pass\n"),
            ("c.py", "def zip():\n    pass\n"),
        ];
        let scores = scores(&files, "load the zip");
        assert!(scores[2] > scores[0] && scores[0] == scores[1]);
    }

    #[test]
    fn names_are_looked_up_whole() {
        let facts = extract(Dialect::Py, b"class A:\n    def f(self):\n        pass\n\ndef f():\n    pass\n");
        let words = FileWords::of(&facts);
        assert_eq!(words.defined(name_hash("f")).count(), 2);
        assert_eq!(words.defined(name_hash("g")).count(), 0);
    }
}
