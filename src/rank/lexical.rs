//! BM25 over names split at camelCase and snake_case, docs and paths.

use std::collections::BTreeMap;

use crate::facts::table::Id;
use crate::rank::surface;
use crate::view::{FileIdx, SymbolRef, View};

/// BM25's saturation and length weight: the usual values of the literature.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// How much a term counts by where it stands.
const IN_NAME: f64 = 3.0;
const IN_OWNER: f64 = 1.0;
const IN_DOC: f64 = 1.0;
const IN_PATH: f64 = 1.5;

/// Words of questions that say nothing of code.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "have", "how", "i", "if",
    "in", "into", "is", "it", "its", "me", "my", "of", "on", "or", "our", "should", "so", "that", "the", "their",
    "then", "there", "this", "to", "want", "was", "we", "what", "when", "where", "which", "who", "why", "will", "with",
    "you",
];

/// The terms of a text, in order: words split at case changes, digits kept, lower case, plural
/// `s` dropped.
pub fn terms(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = text.chars().collect();
    for (at, c) in chars.iter().copied().enumerate() {
        if !c.is_alphanumeric() {
            push_term(&mut out, &mut word);
            continue;
        }
        let previous = at.checked_sub(1).map(|before| chars[before]);
        let next = chars.get(at + 1).copied();
        let starts = c.is_uppercase()
            && (previous.is_some_and(|p| p.is_lowercase() || p.is_numeric())
                || (previous.is_some_and(char::is_uppercase) && next.is_some_and(char::is_lowercase)));
        if starts {
            push_term(&mut out, &mut word);
        }
        word.extend(c.to_lowercase());
    }
    push_term(&mut out, &mut word);
    out
}

fn push_term(out: &mut Vec<String>, word: &mut String) {
    if word.is_empty() {
        return;
    }
    let mut term = std::mem::take(word);
    if term.len() > 3 && term.ends_with('s') && !term.ends_with("ss") {
        term.pop();
    }
    out.push(term);
}

/// The terms of a question: sorted, unique, without stop words.
pub fn query_terms(question: &str) -> Vec<String> {
    let mut found: Vec<String> =
        terms(question).into_iter().filter(|term| !STOP_WORDS.contains(&term.as_str())).collect();
    found.sort();
    found.dedup();
    found
}

/// Scores the listed symbols of a view against a question: those with any term, sorted by
/// (score descending, file, row). Scores are above 0, quantized to 1e-9.
pub fn score_symbols(view: &View, question: &str) -> Vec<(SymbolRef, f64)> {
    let query = query_terms(question);
    if query.is_empty() {
        return Vec::new();
    }
    let mut hits: Vec<(SymbolRef, Vec<f64>, f64)> = Vec::new();
    let mut document_counts = vec![0usize; query.len()];
    let (mut n_documents, mut total_length) = (0usize, 0f64);
    for (at, file) in view.files.iter().enumerate() {
        let facts = &file.facts;
        let path_terms = terms(file.path.as_str());
        let path_counts = counts(&query, &path_terms, IN_PATH);
        let mut name_cache: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (row, symbol) in facts.symbols.iter().enumerate() {
            if row > 0 && !surface::is_listed(symbol) {
                continue;
            }
            let mut found = path_counts.clone();
            let mut length = path_terms.len() as f64 + 2.0;
            if row > 0 {
                let own = name_cache
                    .entry(symbol.name.index() as u32)
                    .or_insert_with(|| counts(&query, &terms(facts.name(symbol.name)), IN_NAME));
                add(&mut found, own);
                if let Some(parent) = symbol.parent.filter(|parent| parent.index() > 0) {
                    let owner = terms(facts.name(facts.symbol(parent).name));
                    length += owner.len() as f64;
                    add(&mut found, &counts(&query, &owner, IN_OWNER));
                }
            }
            if let Some(doc) = symbol.doc {
                let doc = terms(facts.name(doc));
                length += doc.len() as f64;
                add(&mut found, &counts(&query, &doc, IN_DOC));
            }
            n_documents += 1;
            total_length += length;
            if found.iter().any(|n| *n > 0.0) {
                for (n, count) in found.iter().zip(&mut document_counts) {
                    *count += usize::from(*n > 0.0);
                }
                let at = SymbolRef { file: FileIdx(at as u32), symbol: Id::new(row) };
                hits.push((at, found, length));
            }
        }
    }
    let average = if n_documents == 0 { 1.0 } else { total_length / n_documents as f64 };
    let idf: Vec<f64> = document_counts
        .iter()
        .map(|n| (1.0 + (n_documents as f64 - *n as f64 + 0.5) / (*n as f64 + 0.5)).ln())
        .collect();
    let mut scored: Vec<(SymbolRef, f64)> = hits
        .into_iter()
        .map(|(at, found, length)| {
            let norm = K1 * (1.0 - B + B * length / average);
            let score: f64 = found.iter().zip(&idf).map(|(n, idf)| idf * n * (K1 + 1.0) / (n + norm)).sum();
            (at, (score * 1e9).round() / 1e9)
        })
        .collect();
    scored.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    scored
}

fn counts(query: &[String], terms: &[String], weight: f64) -> Vec<f64> {
    let mut found = vec![0.0; query.len()];
    for term in terms {
        if let Ok(at) = query.binary_search(term) {
            found[at] += weight;
        }
    }
    found
}

fn add(sum: &mut [f64], other: &[f64]) {
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
}

#[cfg(test)]
mod tests {
    use super::{query_terms, terms};

    #[test]
    fn names_split_at_case_and_underscore() {
        assert_eq!(terms("getHTTPResponse_codes2"), ["get", "http", "response", "codes2"]);
        assert_eq!(terms("src/url_rules.py"), ["src", "url", "rule", "py"]);
    }

    #[test]
    fn questions_lose_their_stop_words() {
        assert_eq!(query_terms("where is the request context pushed?"), ["context", "pushed", "request"]);
    }
}
