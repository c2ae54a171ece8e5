//! Lists of found ends, unproved references and pages: what tools that list have in common.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::Value;

use crate::base::error::{Error, ErrorKind, Result};
use crate::graph::edge::{Edge, Layer, Strategy, Unproved};
use crate::report::{json, sanitize};
use crate::tools::links::Found;
use crate::tools::param::Given;
use crate::tools::show;
use crate::tools::target::{self, Target};
use crate::tools::tool::Answer;
use crate::tools::why::Explainer;
use crate::view::{FileIdx, SymbolRef, View};

/// How many are listed when no limit is given.
const DEFAULT_LIMIT: usize = 50;
/// How many unproved references are listed; their total is always said.
const MAX_UNPROVED: usize = 20;
/// How many lines of sites one row lists.
const MAX_SITES: usize = 8;

/// Whether a symbol passes the filters `path`, `lang` and `kind`.
pub fn fits(view: &View, at: SymbolRef, given: &Given) -> bool {
    fits_file(view, at.file, given) && given.text("kind").is_none_or(|kind| show::kind(view.symbol(at)) == kind)
}

/// Whether a file passes the filters `path` (or `path_prefix`) and `lang`.
pub fn fits_file(view: &View, file: FileIdx, given: &Given) -> bool {
    let file = view.file(file);
    let path = given.text("path").or(given.text("path_prefix"));
    path.is_none_or(|path| is_under(file.path.as_str(), path))
        && given.text("lang").is_none_or(|lang| file.dialect.language().as_str() == lang)
}

/// Keeps what passes the filters by the file and symbol that `at` gives; gives how many they
/// leave out.
///
/// # Errors
/// `Usage` for a path that no indexed file lies under: "nobody" would be said of a typing error.
pub fn filter<T>(view: &View, found: &mut Vec<T>, given: &Given, at: impl Fn(&T) -> SymbolRef) -> Result<usize> {
    if let Some(path) = given.text("path")
        && !view.files.iter().any(|file| is_under(file.path.as_str(), path))
    {
        let what = format!("no indexed file lies under `{}`", sanitize::line(path, 200));
        return Err(
            Error::new(ErrorKind::Usage, what).hint("give a path from the root of the repository, as in `src/app`")
        );
    }
    let n_all = found.len();
    found.retain(|row| fits(view, at(row), given));
    Ok(n_all - found.len())
}

/// Says how many the filters leave out, so that none is not taken for nobody.
pub fn put_filtered(answer: &mut Answer, n_left_out: usize) {
    if n_left_out > 0 {
        answer.line(format!("left out by the filters: {n_left_out}"));
        answer.field("left_out", n_left_out);
    }
}

/// Whether a path is `prefix` or lies under it; a trailing `/` is allowed.
pub fn is_under(path: &str, prefix: &str) -> bool {
    let prefix = prefix.trim_start_matches("./").trim_end_matches('/');
    prefix.is_empty()
        || prefix == "."
        || path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The rows of a list to show: from `cursor`, at most `limit`.
///
/// # Errors
/// `Usage` for a cursor that no answer gave.
pub fn page(given: &Given, total: usize) -> Result<Range<usize>> {
    let start = match given.text("cursor") {
        None => 0,
        Some(cursor) => cursor.strip_prefix('c').and_then(|n| n.parse::<usize>().ok()).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("`{}` is no cursor", sanitize::line(cursor, 40)))
                .hint("give the `next` of an earlier answer, or none to start again")
        })?,
    };
    let start = start.min(total);
    Ok(start..total.min(start.saturating_add(given.integer("limit").unwrap_or(DEFAULT_LIMIT))))
}

/// Says how to go on where not all was shown.
pub fn put_next(answer: &mut Answer, page: Range<usize>, total: usize) {
    if page.end < total {
        answer.line(format!("next: cursor c{} ({} more)", page.end, total - page.end));
        answer.field("next", format!("c{}", page.end));
    }
}

/// Says what the target was taken for.
pub fn put_target(answer: &mut Answer, view: &View, target: &Target) {
    match target {
        Target::File(file) => {
            let path = sanitize::line(view.file(*file).path.as_str(), 400);
            answer.line(format!("target: {path} (file)"));
            answer.field("target", json::object([("file", path.into())]));
        }
        Target::Symbols(symbols) => {
            for at in symbols {
                answer.line(format!("target: {} {}", show::place(view, *at), show::handle(view, *at)));
            }
            let shown: Vec<Value> = symbols.iter().map(|at| show::symbol_json(view, *at)).collect();
            answer.field("target", if shown.len() == 1 { shown[0].clone() } else { Value::Array(shown) });
        }
    }
    if let Target::File(_) = target {
        let handle = show::handle(view, target::symbols(target)[0]);
        answer.field("handle", handle);
    }
}

/// Which end of its edges a found symbol is: where its lines lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It uses: the lines are its own.
    Source,
    /// It is used: the lines are the user's.
    Target,
}

/// Adds the rows `page` of `found` under a heading, and gives their JSON.
pub fn put_found(
    answer: &mut Answer,
    view: &View,
    heading: &str,
    found: &[Found],
    page: Range<usize>,
    end: End,
    explainer: Option<&Explainer<'_>>,
) -> Vec<Value> {
    let n_likely = found.iter().filter(|found| found.sites.iter().all(|edge| edge.layer != Layer::Proved)).count();
    if !found.is_empty() {
        let likely = if n_likely > 0 { format!(", likely: {n_likely}") } else { String::new() };
        answer.line(format!("{heading}: {}{likely}", found.len() - n_likely));
    }
    let rows = &found[page];
    answer.instead_of(view, rows.iter().map(|row| row.at.file));
    for row in rows {
        answer.line(format!("  {}", found_line(view, row, end)));
        if let Some(explainer) = explainer {
            explainer.lines(&row.sites.iter().collect::<Vec<_>>()).into_iter().for_each(|line| answer.line(line));
        }
    }
    rows.iter().map(|row| found_json(view, row, explainer)).collect()
}

fn found_line(view: &View, found: &Found, end: End) -> String {
    let mut lines: Vec<u32> = found.sites.iter().map(|edge| edge.line).collect();
    lines.dedup();
    let mut sites = lines.iter().take(MAX_SITES).map(u32::to_string).collect::<Vec<_>>().join(",");
    if lines.len() > MAX_SITES {
        sites.push_str(&format!(",… {} in all", lines.len()));
    }
    let path = show::path(view, found.at);
    let name = show::qualname(view, found.at);
    let mut line = match end {
        End::Source => format!("{path}:{sites} {name}"),
        End::Target => format!("{path}:{} {name}", view.symbol(found.at).start_line),
    };
    if let Some(block) = found.test_block {
        line.push_str(&format!(" \"{}\"", show::test_title(view.facts(found.at.file), block)));
    }
    let kinds: BTreeSet<&str> = found.sites.iter().map(|edge| edge.kind.as_str()).collect();
    line.push_str(&format!(" {}", kinds.into_iter().collect::<Vec<_>>().join(",")));
    if end == End::Target && found.depth == 1 {
        line.push_str(&format!(" at {sites}"));
    }
    if let Some(best) = found.sites.iter().max_by_key(|edge| edge.confidence) {
        let confidence = json::compact(&json::decimal(best.confidence.as_f64()));
        line.push_str(&format!(" ({confidence} {}", best.strategy.as_str()));
        if found.dispatched {
            line.push_str(", by dispatch");
        }
        line.push(')');
    }
    if found.depth > 1 {
        line.push_str(&format!(" depth {} via {}", found.depth, show::qualname(view, found.via)));
    }
    line
}

fn found_json(view: &View, found: &Found, explainer: Option<&Explainer<'_>>) -> Value {
    let mut row = show::symbol_json(view, found.at);
    if let Value::Object(fields) = &mut row {
        fields.insert("depth".to_owned(), found.depth.into());
        fields.insert("via".to_owned(), show::qualname(view, found.via).into());
        fields.insert("dispatched".to_owned(), found.dispatched.into());
        if let Some(block) = found.test_block {
            fields.insert("test".to_owned(), show::test_title(view.facts(found.at.file), block).into());
        }
        fields.insert("sites".to_owned(), found.sites.iter().map(|edge| site_json(view, edge, explainer)).collect());
    }
    row
}

fn site_json(view: &View, edge: &Edge, explainer: Option<&Explainer<'_>>) -> Value {
    let mut site = json::object([
        ("file", show::path(view, edge.from).into()),
        ("line", edge.line.into()),
        ("kind", edge.kind.as_str().into()),
        ("confidence", json::decimal(edge.confidence.as_f64())),
        ("layer", edge.layer.as_str().into()),
        ("strategy", edge.strategy.as_str().into()),
    ]);
    if let (Value::Object(fields), Some(explainer)) = (&mut site, explainer) {
        fields.insert("why".to_owned(), explainer.json(edge));
    }
    site
}

/// Adds what is open: unproved references, and edges that are too weak for the list, each with
/// their total and the first ones.
pub fn put_open(answer: &mut Answer, view: &View, open: &[&Unproved], weak: &[&Edge]) {
    let rows = put_unproved(answer, view, open, weak.is_empty());
    answer.field("unproved", json::object([("total", open.len().into()), ("shown", rows.into())]));
    if !weak.is_empty() {
        answer.line(format!(
            "candidates: {}{} (`--min-confidence 0` walks them too)",
            weak.len(),
            first_of(weak.len())
        ));
    }
    let mut rows = Vec::new();
    for edge in weak.iter().take(MAX_UNPROVED) {
        answer.line(format!("  {}", edge_line(view, edge)));
        rows.push(edge_json(view, edge));
    }
    answer.field("candidates", weak.len());
    answer.field("candidate_edges", rows);
}

/// Adds the uses of other types' members that may mean a target by its shape: their total and the
/// first ones.
pub fn put_shaped(answer: &mut Answer, view: &View, shaped: &[&Edge]) {
    if !shaped.is_empty() {
        answer.line(format!("by shape: {}{}", shaped.len(), first_of(shaped.len())));
    }
    let mut rows = Vec::new();
    for edge in shaped.iter().take(MAX_UNPROVED) {
        answer.line(format!("  {}", edge_line(view, edge)));
        rows.push(edge_json(view, edge));
    }
    answer.field("by_shape", json::object([("total", shaped.len().into()), ("shown", rows.into())]));
}

/// The weak edges that no open reference stands for already, among those that pass the filters.
pub fn weak_beside<'e>(view: &View, weak: &'e [Edge], open: &[&Unproved], given: &Given, end: End) -> Vec<&'e Edge> {
    weak.iter()
        .filter(|edge| fits(view, if end == End::Source { edge.from } else { edge.to }, given))
        .filter(|edge| {
            edge.strategy != Strategy::Candidates
                || !open.iter().any(|unproved| (unproved.from, unproved.line) == (edge.from, edge.line))
        })
        .collect()
}

/// `src/a.py:3 f calls C.m (0.1 overload)`.
pub fn edge_line(view: &View, edge: &Edge) -> String {
    let confidence = json::compact(&json::decimal(edge.confidence.as_f64()));
    let (path, owner) = (show::path(view, edge.from), show::qualname(view, edge.from));
    let (kind, to, strategy) = (edge.kind.as_str(), show::qualname(view, edge.to), edge.strategy.as_str());
    format!("{path}:{} {owner} {kind} {to} ({confidence} {strategy})", edge.line)
}

/// An edge as a row of JSON, seen from its target.
pub fn edge_json(view: &View, edge: &Edge) -> Value {
    json::object([
        ("file", show::path(view, edge.from).into()),
        ("line", edge.line.into()),
        ("qualname", show::qualname(view, edge.from).into()),
        ("kind", edge.kind.as_str().into()),
        ("to", show::qualname(view, edge.to).into()),
        ("confidence", json::decimal(edge.confidence.as_f64())),
        ("layer", edge.layer.as_str().into()),
        ("strategy", edge.strategy.as_str().into()),
    ])
}

fn first_of(n: usize) -> String {
    if n > MAX_UNPROVED { format!(", the first {MAX_UNPROVED}") } else { String::new() }
}

/// Adds the first unproved references and their total, and gives their JSON; says "none" where
/// there is nothing open at all.
fn put_unproved(answer: &mut Answer, view: &View, open: &[&Unproved], says_none: bool) -> Vec<Value> {
    match open.is_empty() {
        true if says_none => answer.line("unproved: none"),
        true => {}
        false => answer.line(format!("unproved: {}{}", open.len(), first_of(open.len()))),
    }
    let mut rows = Vec::new();
    for unproved in open.iter().take(MAX_UNPROVED) {
        let name = sanitize::line(view.facts(unproved.from.file).name(unproved.name), 120);
        let path = show::path(view, unproved.from);
        let owner = show::qualname(view, unproved.from);
        answer.line(format!("  {path}:{} {owner} {} {name}", unproved.line, unproved.kind.as_str()));
        rows.push(json::object([
            ("file", path.into()),
            ("line", unproved.line.into()),
            ("qualname", owner.into()),
            ("kind", unproved.kind.as_str().into()),
            ("name", name.into()),
        ]));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::is_under;

    #[test]
    fn prefixes_end_at_path_parts() {
        assert!(is_under("src/app/x.py", "src/app/"));
        assert!(is_under("src/app/x.py", "./src"));
        assert!(is_under("src/app/x.py", "src/app/x.py"));
        assert!(!is_under("src/apple.py", "src/app"));
        assert!(is_under("a.py", ""));
    }
}
