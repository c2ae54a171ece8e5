//! Did you mean: the nearest names of a view, at most five.

use std::collections::{BTreeSet, HashMap};

use crate::base::error::{Error, ErrorKind};
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
    let letters = Letters::of(&last);
    // Many symbols have one name.
    let mut known: HashMap<&str, f64> = HashMap::new();
    for named in view.names().each(within) {
        let facts = view.facts(named.at.file);
        let near = match named.mark.is_odd() {
            true => {
                let simple = facts.name(view.symbol(named.at).name);
                if is_other_length(&last, simple) { 0.0 } else { nearness(&last, &simple.to_lowercase()) }
            }
            false if is_other_length(&last, named.simple) || !letters.may_be_near(named.simple) => 0.0,
            false => *known.entry(named.simple).or_insert_with(|| nearness(&last, named.simple)),
        };
        if near >= NEAR {
            // Of equal names, the one whose whole name is nearer.
            let whole = strsim::jaro_winkler(name, view.qualname(named.at));
            scored.push(((near * 1e6) as i64 + (whole * 1e3) as i64, named.at));
        }
    }
    scored.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    let mut seen = BTreeSet::new();
    scored.into_iter().map(|(_, at)| at).filter(|at| seen.insert(show::name(view, *at))).take(MAX_CANDIDATES).collect()
}

fn is_other_length(asked: &str, simple: &str) -> bool {
    simple.len().abs_diff(asked.len()) > 1 + asked.len() / 2
}

/// How near two names in lower case are; at least [`NEAR`] is near.
fn nearness(asked: &str, simple: &str) -> f64 {
    strsim::jaro_winkler(asked, simple).max(strsim::normalized_damerau_levenshtein(asked, simple) + 0.1)
}

/// How often a name has each byte: what has too few of them is not near.
struct Letters {
    counts: [u8; 256],
    len: usize,
    is_ascii: bool,
}

impl Letters {
    fn of(asked: &str) -> Self {
        let mut counts = [0u8; 256];
        asked.bytes().for_each(|byte| counts[usize::from(byte)] = counts[usize::from(byte)].saturating_add(1));
        Letters { counts, len: asked.len(), is_ascii: asked.is_ascii() }
    }

    /// Whether a name of ASCII can be near. A common beginning adds to Jaro's share (c/a + c/b + 1)/3
    /// of c common letters at most four tenths of what is missing; an edit mends at most one letter.
    fn may_be_near(&self, simple: &str) -> bool {
        if !self.is_ascii || self.len == 0 || simple.is_empty() {
            return true;
        }
        let mut left = self.counts;
        let is_common = |byte: &u8| {
            let left = &mut left[usize::from(*byte)];
            let has = *left > 0;
            *left = left.saturating_sub(1);
            has
        };
        let common = simple.as_bytes().iter().copied().filter(is_common).count() as f64;
        let (one, other) = (self.len as f64, simple.len() as f64);
        let jaro = (common / one + common / other + 1.0) / 3.0;
        let edits = common / one.max(other) + 0.1;
        (jaro + 0.4 * (1.0 - jaro)).max(edits) >= NEAR - 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::{Letters, NEAR, nearness};

    #[test]
    fn what_is_near_has_common_letters() {
        let names =
            ["bean", "beans", "getbean", "beanfactry", "beanfactory", "factory", "x", "xy", "yx", "aab", "baa", "tiny"];
        for one in names {
            for other in names {
                let may = Letters::of(one).may_be_near(other);
                assert!(may || nearness(one, other) < NEAR, "{one} {other}");
            }
        }
        assert!(!Letters::of("beanfactory").may_be_near("dispatcher"));
    }
}
