//! `find_symbol`: definitions by name: exact, by the end, by a part; else the nearest names.

use std::borrow::Cow;

use rayon::prelude::*;
use serde_json::Value;

use crate::atlas::Atlas;
use crate::base::error::Result;
use crate::facts::model::SymbolFlags;
use crate::facts::table::Id;
use crate::rank::ranking::Ranking;
use crate::rank::{files, lexical, surface};
use crate::tools::param::{self, Given, Param, ParamKind};
use crate::tools::retained::Retained;
use crate::tools::tool::{Answer, Desk, Form, Tool};
use crate::tools::{listing, retained, show, suggest, target};
use crate::view::directory::{Known, plain};
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
    let kept = files::kept_ranks(view, &desk.options.rank);
    let ranking = kept.is_none().then(|| desk.ranking(&atlas, &desk.options.rank));
    let mut found = search(view, ranking.as_deref(), query, given);
    let retained = search_retained(desk, &atlas, query, given, found.iter().map(|(fit, _)| *fit).min());
    if found.is_empty() && retained.is_empty() {
        if let Ok(found) = target::resolve(&atlas, query, None) {
            return Ok(one_target(desk, &atlas, &found));
        }
        return Err(suggest::unknown_symbol(view, query, None));
    }
    let ranks = match (kept, &ranking) {
        (Some(kept), _) => Cow::Borrowed(kept),
        (None, Some(ranking)) => Cow::Owned(ranking.map_ranks()),
        (None, None) => Cow::default(),
    };
    let rank = |at: SymbolRef| (ranks[at.file.0 as usize] * 1e12) as i64;
    found.sort_by_key(|(fit, at)| {
        let symbol = view.symbol(*at);
        (*fit, symbol.flags.has(SymbolFlags::LOCAL), std::cmp::Reverse(rank(*at)), *at)
    });
    let mut answer = Answer::new(&atlas, desk.options.max_tokens);
    let page = listing::page(given, found.len())?;
    answer.shown(page.len(), found.len(), "symbols");
    let rows: Vec<Value> = found[page.clone()].iter().map(|(_, at)| show::symbol_json(view, *at)).collect();
    answer.instead_of(view, found[page.clone()].iter().map(|(_, at)| at.file));
    for (_, at) in &found[page.clone()] {
        answer.line(row_line(view, *at));
    }
    answer.field("symbols", rows);
    listing::put_next(&mut answer, page, found.len());
    retained::put(&mut answer, &retained, true);
    Ok(answer)
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

/// Whole names first: they are looked up, and where there are any no parts are listed (`get` should
/// not list every getter first). Without a ranking the names that were kept with the tree say where
/// to look.
fn search(view: &View, ranking: Option<&Ranking>, query: &str, given: &Given) -> Vec<(Fit, SymbolRef)> {
    let query = query.trim();
    let lower = query.to_lowercase();
    let folded = lower.as_str();
    let kind = given.text("kind");
    let is_wanted = |at: &SymbolRef| kind.is_none_or(|kind| show::kind(view.symbol(*at)) == kind);
    let fits = |at: SymbolRef| Some((fit_of(view, at, query, folded)?, at));
    let in_files = |files: Vec<FileIdx>| -> Vec<(Fit, SymbolRef)> {
        let of_file = |file: FileIdx| {
            (1..view.facts(file).symbols.len())
                .filter_map(move |row| fits(SymbolRef { file, symbol: Id::new(row) }))
                .filter(|(_, at)| is_wanted(at))
                .collect::<Vec<_>>()
        };
        let files: Vec<FileIdx> = files.into_iter().filter(|file| listing::fits_file(view, *file, given)).collect();
        files.into_par_iter().map(of_file).collect::<Vec<_>>().concat()
    };
    let whole = match ranking {
        Some(ranking) => {
            let simple = plain(query);
            let hash = lexical::name_hash(simple.rsplit('.').next().unwrap_or(&simple));
            view.indices()
                .filter(|file| listing::fits_file(view, *file, given))
                .flat_map(|file| {
                    ranking.words[file.0 as usize].defined(hash).map(move |symbol| SymbolRef { file, symbol })
                })
                .filter(is_wanted)
                .filter_map(fits)
                .filter(|(fit, _)| *fit <= Fit::End)
                .collect()
        }
        None => in_files(view.naming(query, Known::End)),
    };
    let mut found = match whole.iter().any(|(fit, _)| *fit <= Fit::Folded) {
        true => whole,
        false => in_files(view.naming(query, Known::Part)),
    };
    match found.iter().map(|(fit, _)| *fit).min() {
        Some(Fit::Exact | Fit::End) => found.retain(|(fit, _)| *fit <= Fit::End),
        Some(Fit::Folded) => found.retain(|(fit, _)| *fit == Fit::Folded),
        Some(Fit::Start | Fit::Part) | None => {}
    }
    found
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
