//! Verdicts: whether an answer is all there is, and if not, why (PRODUCT.md: answers that cannot lie).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::base::dialect::{Dialect, LanguageName};
use crate::facts::model::Status;
use crate::report::json;
use crate::tools::show;
use crate::tools::tool::Answer;
use crate::view::{SkipReason, View};

/// The causes by which an answer is a lower bound; none means complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Whether nothing is known at all, by the first cause.
    is_unknown: bool,
    /// Stable code and words, in the order they were found.
    pub causes: Vec<(&'static str, String)>,
}

impl Verdict {
    /// The verdict on what cannot be known.
    pub fn unknown(code: &'static str, words: String) -> Self {
        Verdict { is_unknown: true, causes: vec![(code, words)] }
    }

    /// Adds a cause where `n` is not 0.
    pub fn cause(&mut self, n: usize, code: &'static str, words: impl FnOnce() -> String) {
        if n > 0 {
            self.causes.push((code, words()));
        }
    }

    /// Adds what of the view cannot be seen by one who asks for users of code in `language`:
    /// damaged and skipped sources, files of languages that may use it and are not indexed.
    pub fn unseen(&mut self, view: &View, language: LanguageName) {
        let damaged = view
            .indices()
            .filter(|f| view.status(*f) != Status::Ok)
            .filter(|f| view.file(*f).dialect.language().shares_names_with(language))
            .count();
        self.cause(damaged, "parse_failures", || format!("{} did not parse whole", show::count(damaged, "file")));
        let skipped = view
            .others
            .iter()
            .filter(|other| is_skipped_source(other.path.file_name(), other.reason))
            .filter(|other| {
                let dialect = Dialect::of_file_name(other.path.file_name());
                dialect.is_some_and(|dialect| dialect.language().shares_names_with(language))
            })
            .count();
        self.cause(skipped, "skipped_sources", || format!("{} skipped", show::count(skipped, "source file")));
        let kin: usize = not_indexed(view)
            .iter()
            .filter(|(extension, _)| kin_of(extension).is_some_and(|kin| kin.shares_names_with(language)))
            .map(|(_, n)| n)
            .sum();
        self.cause(kin, "languages_not_indexed", || {
            format!("{} of languages that are not indexed may use it", show::count(kin, "file"))
        });
    }

    /// `complete`, `lower_bound` or `unknown`.
    pub fn as_str(&self) -> &'static str {
        match (self.is_unknown, self.causes.is_empty()) {
            (true, _) => "unknown",
            (false, true) => "complete",
            (false, false) => "lower_bound",
        }
    }

    /// Adds the verdict to an answer, in both forms.
    pub fn put(&self, answer: &mut Answer) {
        let n_pending = answer.headline.n_pending;
        let mut whole = self.clone();
        whole.cause(n_pending, "still_indexing", || format!("{} not indexed yet", show::count(n_pending, "file")));
        whole.put_causes(answer);
    }

    fn put_causes(&self, answer: &mut Answer) {
        let words: Vec<&str> = self.causes.iter().map(|(_, words)| words.as_str()).collect();
        answer.line(match words.is_empty() {
            true => "verdict: complete".to_owned(),
            false => format!("verdict: {} ({})", self.as_str(), words.join("; ")),
        });
        answer.field("verdict", self.as_str());
        let causes: Vec<Value> = self
            .causes
            .iter()
            .map(|(code, words)| json::object([("code", (*code).into()), ("what", words.clone().into())]))
            .collect();
        answer.field("causes", causes);
    }
}

/// Whether a skipped file would have been a source of an indexed language.
pub fn is_skipped_source(file_name: &str, reason: SkipReason) -> bool {
    let of_language = Dialect::of_file_name(file_name).is_some();
    match reason {
        SkipReason::Language
        | SkipReason::Private
        | SkipReason::Minified
        | SkipReason::Symlink
        | SkipReason::Submodule
        | SkipReason::Excluded => false,
        SkipReason::TooLarge
        | SkipReason::Generated
        | SkipReason::Binary
        | SkipReason::Lfs
        | SkipReason::Filter
        | SkipReason::Unreadable
        | SkipReason::Budget => of_language,
    }
}

/// The files of programming languages that are not indexed, counted by extension, sorted by
/// (count descending, extension).
pub fn not_indexed(view: &View) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for other in view.others.iter().filter(|other| other.reason == SkipReason::Language) {
        let extension = other.path.extension();
        if is_code(extension) {
            *counts.entry(extension).or_default() += 1;
        }
    }
    let mut sorted: Vec<(String, usize)> = counts.into_iter().map(|(name, n)| (name.to_owned(), n)).collect();
    sorted.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
    sorted
}

/// `12 .go, 3 .rb files not indexed`, if there are any.
pub fn not_indexed_line(view: &View) -> Option<String> {
    let counts = not_indexed(view);
    let total: usize = counts.iter().map(|(_, n)| n).sum();
    let shown: Vec<String> = counts.iter().take(5).map(|(extension, n)| format!("{n} .{extension}")).collect();
    let more = if counts.len() > 5 { ", …" } else { "" };
    (total > 0).then(|| format!("{}{more} files not indexed", shown.join(", ")))
}

fn is_code(extension: &str) -> bool {
    kin_of(extension).is_some()
        || matches!(
            extension,
            "go" | "rs"
                | "c"
                | "h"
                | "cc"
                | "cpp"
                | "hpp"
                | "cxx"
                | "m"
                | "mm"
                | "cs"
                | "rb"
                | "php"
                | "swift"
                | "dart"
                | "ex"
                | "exs"
                | "erl"
                | "hs"
                | "ml"
                | "lua"
                | "pl"
                | "r"
                | "jl"
                | "sh"
                | "zig"
                | "sol"
                | "fs"
                | "vb"
                | "clj"
                | "el"
                | "nim"
        )
}

/// The indexed language that files of a language that is not import from.
fn kin_of(extension: &str) -> Option<LanguageName> {
    Some(match extension {
        "vue" | "svelte" | "astro" | "mdx" | "coffee" => LanguageName::JavaScript,
        "kt" | "kts" | "scala" | "groovy" => LanguageName::Java,
        "pyx" | "pxd" | "ipynb" => LanguageName::Python,
        _ => return None,
    })
}
