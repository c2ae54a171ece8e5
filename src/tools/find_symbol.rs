//! `find_symbol`: definitions by name: exact, by the end, by a part; else the nearest names.

use std::borrow::Cow;
use std::cmp::Reverse;

use rayon::prelude::*;
use serde_json::Value;

use crate::atlas::Atlas;
use crate::base::error::Result;
use crate::facts::model::SymbolFlags;
use crate::facts::table::Id;
use crate::rank::surface;
use crate::tools::param::{self, Given, Param, ParamKind};
use crate::tools::retained::Retained;
use crate::tools::tool::{Answer, Desk, Form, Tool};
use crate::tools::{listing, retained, show, suggest, target};
use crate::view::names::{Known, Named, plain};
use crate::view::{FileIdx, SymbolRef, View};

pub const TOOL: Tool = Tool {
    name: "find_symbol",
    title: "Find definitions by name",
    description: "Where something is defined: file, exact line range, kind, signature and handle. Matches whole names \
                  first, then ends of qualified names, then parts; suggests the nearest names when nothing fits.",
    params: &[
        Param::new("query", ParamKind::Text, "a name, a part of one, or `Class.method`").required(),
        Param::new("kind", ParamKind::Choice(show::KINDS), "only symbols of this kind"),
        param::LIMIT,
        param::CURSOR,
        param::FRESH,
        param::PATH,
        param::LANG,
    ],
    form: Form::Text,
    run,
};

/// How well a name fits, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Exact,
    End,
    /// Whole, but for case.
    Folded,
    Start,
    Part,
}

fn run(desk: &Desk, given: &Given) -> Result<Answer> {
    let atlas = desk.atlas(given)?;
    let view = &*atlas.view;
    let query = given.text("query").unwrap_or_default();
    let found = search(view, query, given);
    let retained = search_retained(desk, &atlas, query, given, found.iter().map(|hit| hit.fit).min());
    if found.is_empty() && retained.is_empty() {
        if let Ok(found) = target::resolve(&atlas, query, None) {
            return Ok(one_target(desk, &atlas, &found));
        }
        return Err(suggest::unknown_symbol(view, query, None));
    }
    let page = listing::page(given, found.len())?;
    let total = found.len();
    let ranked = desk.ranked(&atlas, &desk.options.rank);
    let shown = &sorted(found, page.end, ranked.map_ranks())[page.clone()];
    let mut answer = Answer::new(&atlas, desk.options.max_tokens);
    answer.shown(page.len(), total, "symbols");
    let rows: Vec<Value> = shown.iter().map(|at| show::symbol_json(view, *at)).collect();
    answer.instead_of(view, shown.iter().map(|at| at.file));
    for at in shown {
        answer.line(row_line(view, *at));
    }
    answer.field("symbols", rows);
    listing::put_next(&mut answer, page, total);
    retained::put(&mut answer, &retained, true);
    Ok(answer)
}

/// The best `n` of what was found, the best first: by fit, what others can name, rank of the file.
fn sorted(found: Vec<Hit>, n: usize, ranks: &[f64]) -> Vec<SymbolRef> {
    let rank = |at: SymbolRef| (ranks[at.file.0 as usize] * 1e12) as i64;
    let mut keys: Vec<_> =
        found.into_iter().map(|hit| (hit.fit, hit.is_local, Reverse(rank(hit.at)), hit.at)).collect();
    if n < keys.len() {
        keys.select_nth_unstable(n);
        keys.truncate(n);
    }
    keys.sort_unstable();
    keys.into_iter().map(|(.., at)| at).collect()
}

/// What broken files retain of a name: what fits at least as well as what was found.
fn search_retained(desk: &Desk, atlas: &Atlas, query: &str, given: &Given, found: Option<Fit>) -> Vec<Retained> {
    let query = query.trim();
    let folded = query.to_lowercase();
    let asked = given.text("kind");
    let mut retained = retained::all(desk, atlas, |view, file| listing::fits_file(view, file, given));
    for file in &mut retained {
        file.keep(|name, qualname, kind| {
            let fits = fit(name, qualname, query, &folded);
            asked.is_none_or(|asked| asked == kind)
                && fits.is_some_and(|fit| found.is_none_or(|found| fit <= found.max(Fit::End)))
        });
    }
    retained.retain(|file| !file.is_empty());
    retained
}

/// `src/a.py:12-20 method def Flask.route(self) sym_…`.
pub fn row_line(view: &View, at: SymbolRef) -> String {
    let symbol = view.symbol(at);
    let hidden = if surface::is_public(view.facts(at.file), symbol) { "" } else { " (not public)" };
    format!(
        "{}:{}-{} {} {}{hidden} {}",
        show::path(view, at),
        symbol.start_line,
        symbol.end_line,
        show::kind(symbol),
        show::signature(view.facts(at.file), symbol),
        show::handle(view, at)
    )
}

fn one_target(desk: &Desk, atlas: &Atlas, found: &target::Target) -> Answer {
    let symbols = target::symbols(found);
    let mut answer = Answer::new(atlas, desk.options.max_tokens);
    answer.shown(symbols.len(), symbols.len(), "symbols");
    for at in &symbols {
        answer.line(row_line(&atlas.view, *at));
    }
    let rows: Vec<Value> = symbols.iter().map(|at| show::symbol_json(&atlas.view, *at)).collect();
    answer.field("symbols", rows);
    answer
}

/// A symbol that fits.
struct Hit {
    fit: Fit,
    is_local: bool,
    at: SymbolRef,
}

/// Whole names first: they are looked up, and where there are any no parts are listed (`get` should
/// not list every getter first).
fn search(view: &View, query: &str, given: &Given) -> Vec<Hit> {
    let query = query.trim();
    let lower = query.to_lowercase();
    let search = Search { view, query, folded: &lower, kind: given.text("kind"), files: files(view, given) };
    let mut found = match view.names().ending(query) {
        Some(rows) => search.those(rows),
        None => return best(search.in_files(view.naming(query, Known::Part))),
    };
    if !found.iter().any(|hit| hit.fit <= Fit::Folded) {
        found = search.parts();
    }
    best(found)
}

/// Which files pass the filters, one a file; `None` where there are none.
fn files(view: &View, given: &Given) -> Option<Vec<bool>> {
    let is_filtered = given.text("path").is_some() || given.text("lang").is_some();
    is_filtered.then(|| view.indices().map(|file| listing::fits_file(view, file, given)).collect())
}

/// Those that fit best, where whole names do: whole names and ends in their case, else whole names
/// in any.
fn best(mut found: Vec<Hit>) -> Vec<Hit> {
    match found.iter().map(|hit| hit.fit).min() {
        Some(Fit::Exact | Fit::End) => found.retain(|hit| hit.fit <= Fit::End),
        Some(Fit::Folded) => found.retain(|hit| hit.fit == Fit::Folded),
        Some(Fit::Start | Fit::Part) | None => {}
    }
    found
}

/// What is looked for, and where.
struct Search<'q> {
    view: &'q View,
    query: &'q str,
    /// `query` in lower case.
    folded: &'q str,
    kind: Option<&'q str>,
    files: Option<Vec<bool>>,
}

impl Search<'_> {
    fn is_in(&self, file: FileIdx) -> bool {
        self.files.as_ref().is_none_or(|files| files[file.0 as usize])
    }

    /// A symbol by its facts, if it fits.
    fn hit(&self, at: SymbolRef) -> Option<Hit> {
        let symbol = self.view.symbol(at);
        let is_wanted = self.kind.is_none_or(|kind| show::kind(symbol) == kind);
        let fit = fit_of(self.view, at, self.query, self.folded).filter(|_| is_wanted)?;
        Some(Hit { fit, is_local: symbol.flags.has(SymbolFlags::LOCAL), at })
    }

    fn those(&self, rows: Vec<SymbolRef>) -> Vec<Hit> {
        rows.into_par_iter().filter(|at| self.is_in(at.file)).filter_map(|at| self.hit(at)).collect()
    }

    fn in_files(&self, files: Vec<FileIdx>) -> Vec<Hit> {
        let rows = |file: FileIdx| 1..self.view.facts(file).symbols.len();
        let of_file = |file: FileIdx| -> Vec<Hit> {
            rows(file).filter_map(|row| self.hit(SymbolRef { file, symbol: Id::new(row) })).collect()
        };
        let files: Vec<FileIdx> = files.into_iter().filter(|file| self.is_in(*file)).collect();
        files.into_par_iter().map(of_file).collect::<Vec<_>>().into_iter().flatten().collect()
    }

    /// Symbols whose names hold the query, where no whole name is one.
    fn parts(&self) -> Vec<Hit> {
        let names = self.view.names();
        if self.folded.len() < 2 {
            return Vec::new();
        }
        if self.query.contains('.') || !self.query.is_ascii() {
            return match names.holding_whole(self.query) {
                Some(rows) => self.those(rows),
                None => self.in_files(self.view.naming(self.query, Known::Part)),
            };
        }
        let of_line = |named: Named<'_>| {
            if !self.is_in(named.at.file) {
                return None;
            }
            if named.mark.is_odd() {
                return self.hit(named.at);
            }
            let (kind, is_accessor) = named.mark.kind();
            if self.kind.is_some_and(|asked| show::kind_of(kind, is_accessor) != asked) {
                return None;
            }
            let fit = if named.simple.starts_with(self.folded) { Fit::Start } else { Fit::Part };
            Some(Hit { fit, is_local: named.mark.is_local(), at: named.at })
        };
        names.holding(self.query).unwrap_or_default().into_iter().filter_map(of_line).collect()
    }
}

fn fit_of(view: &View, at: SymbolRef, query: &str, folded: &str) -> Option<Fit> {
    let facts = view.facts(at.file);
    let symbol = view.symbol(at);
    fit(facts.name(symbol.name), facts.name(symbol.qualname), query, folded)
}

/// Whether a text holds `folded` in any case: a look without copies for ASCII, where most names
/// that do not fit end.
fn holds_folded(text: &str, folded: &str) -> bool {
    if !text.is_ascii() || !folded.is_ascii() {
        return text.to_lowercase().contains(folded);
    }
    let first = folded.as_bytes()[0];
    text.len() >= folded.len()
        && (0..=text.len() - folded.len()).any(|at| {
            text.as_bytes()[at].to_ascii_lowercase() == first
                && text.as_bytes()[at..at + folded.len()].eq_ignore_ascii_case(folded.as_bytes())
        })
}

fn fit(name: &str, qualname: &str, query: &str, folded: &str) -> Option<Fit> {
    if query.is_empty() {
        return None;
    }
    if name == query || qualname == query {
        return Some(Fit::Exact);
    }
    let plain: Cow<'_, str> = match qualname.contains(['(', '#']) {
        true => plain(qualname).into(),
        false => qualname.into(),
    };
    if plain == query {
        return Some(Fit::Exact);
    }
    if plain.strip_suffix(query).is_some_and(|rest| rest.ends_with('.')) {
        return Some(Fit::End);
    }
    if !holds_folded(&plain, folded) {
        return None;
    }
    let name = name.to_lowercase();
    if name == folded || plain.to_lowercase() == folded {
        return Some(Fit::Folded);
    }
    if folded.len() < 2 {
        return None;
    }
    if name.starts_with(folded) {
        return Some(Fit::Start);
    }
    (name.contains(folded) || (folded.contains('.') && plain.to_lowercase().contains(folded))).then_some(Fit::Part)
}
