//! Did you mean: the nearest names of a view, at most five.

use std::collections::BTreeSet;

use crate::base::error::{Error, ErrorKind};
use crate::facts::table::Id;
use crate::report::sanitize;
use crate::tools::show;
use crate::tools::target::MAX_CANDIDATES;
use crate::view::{FileIdx, SymbolRef, View};

/// How near a name must be to be suggested. A guess: one letter off in a name of six.
const NEAR: f64 = 0.82;

/// The error for a name that nothing has, with the nearest ones.
pub fn unknown_symbol(view: &View, name: &str, within: Option<FileIdx>) -> Error {
    let shown = sanitize::line(name, 120);
    let what = match within {
        Some(file) => format!("no symbol `{shown}` in `{}`", sanitize::line(view.file(file).path.as_str(), 200)),
        None => format!("no symbol or file `{shown}`"),
    };
    let error = Error::new(ErrorKind::UnknownTarget, what);
    let near = nearest(view, name, within);
    if near.is_empty() {
        return error.hint("search with `ratlas query symbol PART_OF_NAME`");
    }
    let near: Vec<String> = near
        .into_iter()
        .map(|at| format!("`{}` ({}:{})", show::qualname(view, at), show::path(view, at), view.symbol(at).start_line))
        .collect();
    error.hint(format!("did you mean {}?", near.join(", ")))
}

/// The error for a path that no file has, with the nearest ones.
pub fn unknown_file(view: &View, path: &str) -> Error {
    let error = Error::new(ErrorKind::UnknownTarget, format!("no file `{}`", sanitize::line(path, 200)));
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut scored: Vec<(i64, &str)> = view
        .files
        .iter()
        .map(|file| {
            let near =
                strsim::jaro_winkler(name, file.path.file_name()) + strsim::jaro_winkler(path, file.path.as_str());
            ((near * 5e5) as i64, file.path.as_str())
        })
        .filter(|(near, _)| *near >= 800_000)
        .collect();
    scored.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
    if scored.is_empty() {
        return error.hint("`ratlas query map` lists the files that matter most");
    }
    let near: Vec<String> =
        scored.iter().take(MAX_CANDIDATES).map(|(_, path)| format!("`{}`", sanitize::line(path, 200))).collect();
    error.hint(format!("did you mean {}?", near.join(", ")))
}

/// The symbols with the names nearest to `name`, nearest first, one a simple name.
pub fn nearest(view: &View, name: &str, within: Option<FileIdx>) -> Vec<SymbolRef> {
    let last = name.rsplit(['.', ':', '/']).next().unwrap_or(name).to_lowercase();
    if last.is_empty() || last.len() > 200 {
        return Vec::new();
    }
    let mut scored: Vec<(i64, SymbolRef)> = Vec::new();
    for file in view.indices().filter(|file| within.is_none_or(|within| within == *file)) {
        let facts = view.facts(file);
        for (row, symbol) in facts.symbols.iter().enumerate().skip(1) {
            let simple = facts.name(symbol.name);
            if simple.len().abs_diff(last.len()) > 1 + last.len() / 2 {
                continue;
            }
            let simple = simple.to_lowercase();
            let near =
                strsim::jaro_winkler(&last, &simple).max(strsim::normalized_damerau_levenshtein(&last, &simple) + 0.1);
            if near >= NEAR {
                // Of equal names, the one whose whole name is nearer.
                let whole = strsim::jaro_winkler(name, facts.name(symbol.qualname));
                scored.push(((near * 1e6) as i64 + (whole * 1e3) as i64, SymbolRef { file, symbol: Id::new(row) }));
            }
        }
    }
    scored.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    let mut seen = BTreeSet::new();
    scored.into_iter().map(|(_, at)| at).filter(|at| seen.insert(show::name(view, *at))).take(MAX_CANDIDATES).collect()
}
