//! `find_symbol`: definitions by name: exact, by the end, by a part; else the nearest names.

use serde_json::Value;

use crate::atlas::Atlas;
use crate::base::error::Result;
use crate::facts::model::SymbolFlags;
use crate::facts::table::Id;
use crate::rank::{files, surface};
use crate::tools::param::{self, Given, Param, ParamKind};
use crate::tools::tool::{Answer, Desk, Form, Tool};
use crate::tools::{listing, show, suggest, target};
use crate::view::{SymbolRef, View};

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
    let mut found = search(view, query, given);
    if found.is_empty() {
        if let Ok(found) = target::resolve(&atlas, query, None) {
            return Ok(one_target(desk, &atlas, &found));
        }
        return Err(suggest::unknown_symbol(view, query, None));
    }
    let ranks = files::rank_files(view, &atlas.graph, &[], &desk.options.rank);
    let rank = |at: SymbolRef| (ranks[at.file.0 as usize] * 1e12) as i64;
    found.sort_by_key(|(fit, at)| {
        let symbol = view.symbol(*at);
        (*fit, symbol.flags.has(SymbolFlags::LOCAL), std::cmp::Reverse(rank(*at)), *at)
    });
    let mut answer = Answer::new(&atlas, desk.options.max_tokens);
    let page = listing::page(given, found.len())?;
    answer.shown(page.len(), found.len(), "symbols");
    let rows: Vec<Value> = found[page.clone()].iter().map(|(_, at)| show::symbol_json(view, *at)).collect();
    for (_, at) in &found[page.clone()] {
        answer.line(row_line(view, *at));
    }
    answer.field("symbols", rows);
    listing::put_next(&mut answer, page, found.len());
    Ok(answer)
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

fn search(view: &View, query: &str, given: &Given) -> Vec<(Fit, SymbolRef)> {
    let query = query.trim();
    let folded = query.to_lowercase();
    let kind = given.text("kind");
    let mut found = Vec::new();
    for file in view.indices().filter(|file| listing::fits_file(view, *file, given)) {
        let facts = view.facts(file);
        for (row, symbol) in facts.symbols.iter().enumerate().skip(1) {
            if kind.is_some_and(|kind| show::kind(symbol) != kind) {
                continue;
            }
            let name = facts.name(symbol.name);
            let qualname = facts.name(symbol.qualname);
            if let Some(fit) = fit(name, qualname, query, &folded) {
                found.push((fit, SymbolRef { file, symbol: Id::new(row) }));
            }
        }
    }
    // Parts are listed only where no whole name fits: `get` should not list every getter first.
    match found.iter().map(|(fit, _)| *fit).min() {
        Some(Fit::Exact | Fit::End) => found.retain(|(fit, _)| *fit <= Fit::End),
        Some(Fit::Folded) => found.retain(|(fit, _)| *fit == Fit::Folded),
        Some(Fit::Start | Fit::Part) | None => {}
    }
    found
}

fn fit(name: &str, qualname: &str, query: &str, folded: &str) -> Option<Fit> {
    if query.is_empty() {
        return None;
    }
    if name == query || qualname == query {
        return Some(Fit::Exact);
    }
    let plain = target::plain(qualname);
    if plain == query {
        return Some(Fit::Exact);
    }
    if plain.strip_suffix(query).is_some_and(|rest| rest.ends_with('.')) {
        return Some(Fit::End);
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
