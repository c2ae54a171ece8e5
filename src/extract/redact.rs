//! Takes secrets out of every text that facts hold, before a shard is made (PRODUCT.md §8).
//!
//! All stored text stands in the names table: names, signatures, docs, paths, titles. The
//! built-in rules and the judgment of random tokens belong to the fingerprint; rules that the
//! user adds are hashed into it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder, RegexSet};

use crate::base::error::{Error, ErrorKind, Result};
use crate::extract::random_token::{self, is_random, is_token_byte};
use crate::extract::secret_rules::{Check, PREFIXES, RULES};
use crate::facts::model::FileFacts;

/// The most memory that one user-given pattern may compile to.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// A run of token characters from this length on may hold a key (`AKIA` and 16 more are 20).
const MIN_RUN: usize = 16;

/// Takes out what the built-in rules and the user's find.
#[derive(Debug)]
pub struct Redactor {
    /// User-given patterns; the first group is taken out, else the whole match.
    extra: Vec<Regex>,
}

struct BuiltIn {
    set: RegexSet,
    rules: Vec<Regex>,
    prefixes: Regex,
    keywords: Regex,
}

impl Redactor {
    /// A redactor with the built-in rules and `redact_patterns`.
    ///
    /// # Errors
    /// `Config`, when a pattern is no regular expression.
    pub fn new(redact_patterns: &[String]) -> Result<Self> {
        let compile = |pattern: &String| {
            RegexBuilder::new(pattern).size_limit(MAX_PATTERN_BYTES).build().map_err(|cause| {
                Error::new(ErrorKind::Config, format!("cannot read the redact pattern `{pattern}`"))
                    .hint("patterns are regular expressions without look-around; escape `[`, `(` and `\\`")
                    .source(cause)
            })
        };
        Ok(Redactor { extra: redact_patterns.iter().map(compile).collect::<Result<_>>()? })
    }

    /// The redactor with the built-in rules only.
    pub fn built_in() -> &'static Redactor {
        static BUILT_IN: Redactor = Redactor { extra: Vec::new() };
        &BUILT_IN
    }

    /// Takes the secrets out of every text of `facts`.
    ///
    /// A name that becomes equal to another one by it gets `#2`, `#3`, … so that names stay unique.
    pub fn apply(&self, facts: &mut FileFacts) {
        let redacted: Vec<(usize, String)> = facts
            .names
            .iter()
            .enumerate()
            .filter_map(|(at, name)| match self.redact(name) {
                Cow::Borrowed(_) => None,
                Cow::Owned(text) => Some((at, text)),
            })
            .collect();
        if redacted.is_empty() {
            return;
        }
        let mut taken: HashSet<Box<str>> = facts.names.iter().cloned().collect();
        for (at, text) in redacted {
            let mut unique: Box<str> = text.as_str().into();
            let mut n = 1;
            while !taken.insert(unique.clone()) {
                n += 1;
                unique = format!("{text}#{n}").into();
            }
            facts.names[at] = unique;
        }
    }

    /// The text with each secret replaced by `[redacted:…]`, which names the rule.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut found: Vec<(Range<usize>, &'static str)> = Vec::new();
        if is_suspicious(text) {
            find_by_rules(text, &mut found);
            find_random(text, &mut found);
        }
        for pattern in &self.extra {
            for captures in pattern.captures_iter(text) {
                if let Some(part) = captures.get(1).or(captures.get(0)).filter(|part| !part.is_empty()) {
                    found.push((part.range(), "custom"));
                }
            }
        }
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(replace(text, found))
    }
}

fn built_in() -> &'static BuiltIn {
    static BUILT_IN: OnceLock<BuiltIn> = OnceLock::new();
    BUILT_IN.get_or_init(|| {
        let because = "because the built-in rules are tested";
        BuiltIn {
            set: RegexSet::new(RULES.iter().map(|rule| rule.pattern)).expect(because),
            rules: RULES.iter().map(|rule| Regex::new(rule.pattern).expect(because)).collect(),
            prefixes: Regex::new(PREFIXES).expect(because),
            keywords: Regex::new(r"(?i)passw|passphrase|pwd|db_?pass|secret|token|key|cred|salt|bearer|basic|sig=|://")
                .expect(because),
        }
    })
}

/// Whether the rules need to look at a text at all: most names are short, or words.
fn is_suspicious(text: &str) -> bool {
    if text.len() < 8 {
        return false;
    }
    let has_long_run = token_runs(text).any(|run| {
        run.len() >= MIN_RUN && (text[run.clone()].bytes().any(|b| b.is_ascii_digit()) || is_random(&text[run]))
    });
    has_long_run
        || (text.len() >= MIN_RUN && built_in().prefixes.is_match(text))
        || (text.contains([':', '=', ' ']) && built_in().keywords.is_match(text))
}

/// The runs of token characters, in order.
fn token_runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes[at..].iter().position(|b| is_token_byte(*b))?;
        let len = bytes[start..].iter().position(|b| !is_token_byte(*b)).unwrap_or(bytes.len() - start);
        at = start + len;
        Some(start..at)
    })
}

fn find_by_rules(text: &str, found: &mut Vec<(Range<usize>, &'static str)>) {
    let built_in = built_in();
    for at in built_in.set.matches(text) {
        for captures in built_in.rules[at].captures_iter(text) {
            let Some(part) = captures.get(1).or(captures.get(0)) else { continue };
            let has = |is: fn(&u8) -> bool| part.as_str().as_bytes().iter().any(is);
            let holds = match RULES[at].check {
                Check::Nothing => true,
                Check::Digit => has(u8::is_ascii_digit),
                Check::DigitAndLetter => has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic),
            };
            if holds {
                found.push((part.range(), RULES[at].name));
            }
        }
    }
}

/// Random tokens: a whole run, else a part of it between slashes and equal signs, else a piece.
fn find_random(text: &str, found: &mut Vec<(Range<usize>, &'static str)>) {
    for run in token_runs(text) {
        if run.len() < random_token::MIN_LEN {
            continue;
        }
        for separators in [&[][..], &[b'/', b'='][..], &[b'/', b'=', b'_', b'-', b'+'][..]] {
            let n_before = found.len();
            let mut start = run.start;
            for end in run.clone().chain([run.end]) {
                if end == run.end || separators.contains(&text.as_bytes()[end]) {
                    if is_random(&text[start..end]) {
                        found.push((start..end, "random"));
                    }
                    start = end + 1;
                }
            }
            if found.len() > n_before {
                break;
            }
        }
    }
}

/// Replaces the found parts; of overlapping ones the first found names the whole.
fn replace(text: &str, found: Vec<(Range<usize>, &'static str)>) -> String {
    let mut order: Vec<(usize, (Range<usize>, &'static str))> = found.into_iter().enumerate().collect();
    order.sort_by_key(|(nth, (part, _))| (part.start, *nth));
    let mut merged: Vec<(usize, Range<usize>, &'static str)> = Vec::new();
    for (nth, (part, name)) in order {
        match merged.last_mut() {
            Some((best, last, last_name)) if part.start < last.end => {
                last.end = last.end.max(part.end);
                if nth < *best {
                    (*best, *last_name) = (nth, name);
                }
            }
            _ => merged.push((nth, part, name)),
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (_, part, name) in merged {
        out.push_str(&text[at..part.start]);
        out.push_str("[redacted:");
        out.push_str(name);
        out.push(']');
        at = part.end;
    }
    out.push_str(&text[at..]);
    out
}
