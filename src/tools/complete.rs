//! Completions for clients: paths and qualified names that begin like what was typed.

use crate::report::sanitize;
use crate::tools::show;
use crate::view::{SymbolRef, View, names};

/// What completes: at most a hundred, and how many there are.
pub struct Completed {
    pub values: Vec<String>,
    pub total: usize,
}

/// The most values that the protocol takes.
const MAX_VALUES: usize = 100;

/// Files, and the folders above them, that begin with `typed`; those with a part that does after
/// them. Sorted within each.
pub fn paths(view: &View, typed: &str) -> Completed {
    let typed = typed.trim_start_matches("./");
    let mut found: Vec<(bool, String)> = Vec::new();
    for file in &view.files {
        let path = file.path.as_str();
        let mut end = Some(path.len());
        while let Some(at) = end {
            let part = &path[..at];
            let inner = part.match_indices('/').any(|(slash, _)| part[slash + 1..].starts_with(typed));
            if part.starts_with(typed) || inner {
                found.push((!part.starts_with(typed), sanitize::line(part, 400)));
            }
            end = part.rfind('/');
        }
    }
    found.sort();
    found.dedup();
    cut(found.into_iter().map(|(_, path)| path).collect())
}

/// Qualified names that begin with `typed`, or whose last part does; shorter ones first.
pub fn qualnames(view: &View, typed: &str) -> Completed {
    let folded = typed.to_lowercase();
    let mut found: Vec<(bool, usize, String)> = Vec::new();
    for file in view.indices() {
        let facts = view.facts(file);
        for (row, symbol) in facts.symbols.iter().enumerate().skip(1) {
            let name = facts.name(symbol.name);
            let qualname = facts.name(symbol.qualname);
            let begins = |text: &str| text.get(..folded.len()).is_some_and(|start| start.to_lowercase() == folded);
            if crate::rank::surface::is_listed(symbol) && (begins(name) || begins(qualname)) {
                let at = SymbolRef { file, symbol: crate::facts::table::Id::new(row) };
                let shown = names::plain(&show::qualname(view, at));
                found.push((!name.starts_with(typed), shown.len(), shown));
            }
        }
    }
    found.sort();
    found.dedup();
    cut(found.into_iter().map(|(_, _, name)| name).collect())
}

fn cut(mut values: Vec<String>) -> Completed {
    let total = values.len();
    values.truncate(MAX_VALUES);
    Completed { values, total }
}
