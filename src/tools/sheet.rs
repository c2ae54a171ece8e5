//! Sheets of files: what of each file a map or context offers to the packer.

use std::collections::BTreeSet;

use crate::atlas::Atlas;
use crate::facts::model::{Symbol, SymbolKind};
use crate::facts::table::Id;
use crate::graph::edge::{Edge, EdgeKind, Layer};
use crate::rank::surface;
use crate::report::pack::{Entry, Gains, Line, count_line};
use crate::report::{pack, sanitize};
use crate::tools::show;
use crate::tools::tool::Answer;
use crate::view::names;
use crate::view::{FileIdx, SymbolRef};

/// A file with its score and the weights of some of its symbols.
#[derive(Clone, Debug)]
pub struct Ranked {
    pub file: FileIdx,
    pub score: f64,
    /// Symbols that matter by themselves: shown even where not public. Sorted by symbol; 1 is the
    /// best match of words.
    pub marked: Vec<(SymbolRef, f64)>,
}

/// What a sheet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The public surface, the most used first.
    Map,
    /// What a task is about; the best matches with who uses them and what they use.
    Task,
}

/// What another overload, or the setter beside a getter, adds beside the one that is used most.
const NAMESAKE_SHARE: f64 = 0.3;
/// After how many matches of a file one more counts half.
const N_MATCHES: f64 = 5.0;
/// Matches this good have their callers and calls offered.
const MIN_RELATED: f64 = 0.5;
/// Matches less good are shown no sooner than others.
const MIN_MATCH: f64 = 0.12;
/// The longest signature, in characters: what is cut off is parameters and bounds, and another
/// definition says more for the same tokens.
const MAX_SIGNATURE: usize = 110;
/// How many ends a line of callers or calls names.
const MAX_ENDS: usize = 4;
/// Smaller budgets have no line that counts what is left out.
const MIN_REST: usize = 200;

/// Packs ranked files (best first) into the answer's budget, below the lines it already has;
/// of their symbols those of `kind`, where one is asked for.
///
/// Gives how many files are shown.
pub fn put(
    answer: &mut Answer,
    atlas: &Atlas,
    ranked: &[Ranked],
    kind: Option<&str>,
    purpose: Purpose,
    gains: &Gains,
) -> usize {
    answer.shown(ranked.len(), ranked.len(), "files");
    let above: usize = answer.lines.iter().map(|line| count_line(line)).sum();
    // No number of files that are left out is longer than that of all.
    let rest = if answer.budget >= MIN_REST { count_line(&rest_line(ranked.len())) } else { 0 };
    let room = answer.budget.saturating_sub(answer.headline.reserve(answer.budget) + above + rest);
    // A file takes at least six tokens; more than can fit are not prepared.
    let entries: Vec<Entry> = ranked
        .iter()
        .take(room / 6 + 1)
        .map(|ranked| Entry {
            score: ranked.score,
            head: sanitize::line(atlas.view.file(ranked.file).path.as_str(), 400),
        })
        .collect();
    let best = ranked.first().map_or(0.0, |ranked| ranked.score).max(1e-12);
    let packed = pack::pack(&entries, gains.path, room, |at| {
        let share = (ranked[at].score / best).powf(gains.focus);
        lines(
            atlas,
            &ranked[at],
            kind,
            purpose,
            &Gains { surface: gains.surface * share, matches: gains.matches * share, ..*gains },
        )
    });
    answer.shown(packed.n_entries, ranked.len(), "files");
    let n_left = ranked.len() - packed.n_entries;
    answer.instead_of(&atlas.view, ranked[..packed.n_entries.min(ranked.len())].iter().map(|ranked| ranked.file));
    answer.lines.extend(packed.lines);
    if n_left > 0 && answer.budget >= MIN_REST {
        answer.line(rest_line(n_left));
    }
    packed.n_entries
}

fn rest_line(n_files: usize) -> String {
    format!("… {n_files} more files; raise the budget or narrow the path")
}

fn lines(atlas: &Atlas, ranked: &Ranked, kind: Option<&str>, purpose: Purpose, shares: &Gains) -> Vec<Line> {
    let view = &*atlas.view;
    let facts = view.facts(ranked.file);
    // Row, mark, value as a part of the surface.
    let mut rows: Vec<(usize, f64, f64)> = Vec::new();
    for (row, symbol) in facts.symbols.iter().enumerate().skip(1) {
        let at = SymbolRef { file: ranked.file, symbol: Id::new(row) };
        let marked = ranked.marked.binary_search_by_key(&at, |(at, _)| *at).ok().map_or(0.0, |at| ranked.marked[at].1);
        if kind.is_some_and(|kind| show::kind(symbol) != kind) {
            continue;
        }
        // Who asks for a kind wants it, however little a line of it says.
        let offered =
            (kind.is_some() || is_offered(symbol)) && surface::is_listed(symbol) && surface::is_public(facts, symbol);
        if marked >= MIN_MATCH || offered {
            let value = if offered { value(atlas, at, symbol) } else { 0.0 };
            rows.push((row, marked, value));
        }
    }
    let mut by_value: Vec<usize> = (0..rows.len()).collect();
    by_value.sort_by(|one, other| rows[*other].2.total_cmp(&rows[*one].2).then(one.cmp(other)));
    let mut fallings = vec![0.0; rows.len()];
    let mut names: BTreeSet<String> = BTreeSet::new();
    for (place, at) in by_value.into_iter().enumerate().filter(|(_, at)| rows[*at].2 > 0.0) {
        let is_first = names.insert(names::plain(facts.name(facts.symbols[rows[at].0].qualname)));
        fallings[at] = if is_first { 1.0 } else { NAMESAKE_SHARE } / (1.0 + place as f64);
    }
    let gains: Vec<f64> = rows
        .iter()
        .zip(fallings)
        .map(|((_, marked, _), falling)| shares.surface * falling + shares.matches * marked)
        .collect();
    let mut by_gain: Vec<usize> = (0..rows.len()).collect();
    by_gain.sort_by(|one, other| gains[*other].total_cmp(&gains[*one]).then(one.cmp(other)));
    let mut lines: Vec<(usize, Line)> = by_gain
        .into_iter()
        .enumerate()
        .map(|(place, at)| {
            let symbol = SymbolRef { file: ranked.file, symbol: Id::new(rows[at].0) };
            // One more match of a file that shows many says less than the first of another.
            let gain = match purpose {
                Purpose::Map => gains[at],
                Purpose::Task => gains[at] / (1.0 + place as f64 / N_MATCHES),
            };
            (at, line(atlas, symbol, gain, shares, purpose == Purpose::Task && rows[at].1 >= MIN_RELATED))
        })
        .collect();
    lines.sort_by_key(|(at, _)| *at);
    lines.into_iter().map(|(_, line)| line).collect()
}

fn line(atlas: &Atlas, at: SymbolRef, gain: f64, shares: &Gains, with_related: bool) -> Line {
    let facts = atlas.view.facts(at.file);
    let symbol = atlas.view.symbol(at);
    let span = match symbol.end_line == symbol.start_line {
        true => symbol.start_line.to_string(),
        false => format!("{}-{}", symbol.start_line, symbol.end_line),
    };
    let mut notes = Vec::new();
    if let Some(doc) = show::doc(facts, symbol) {
        notes.push((format!("  {doc}"), gain * shares.docs));
    }
    if with_related {
        let callers =
            ends(atlas, at, atlas.graph.edges_to(at).filter(|edge| is_use(edge)).map(|edge| (edge.from, edge.line)));
        if let Some(text) = callers {
            notes.push((format!("  used by {text}"), gain * shares.callers));
        }
        let calls = atlas.graph.edges_from(at).iter().filter(|edge| edge.kind == EdgeKind::Calls && is_use(edge));
        let calls = ends(atlas, at, calls.map(|edge| (edge.to, atlas.view.symbol(edge.to).start_line)));
        if let Some(text) = calls {
            notes.push((format!("  calls {text}"), gain * shares.calls));
        }
    }
    let signature = sanitize::line(&show::signature(facts, symbol), MAX_SIGNATURE);
    Line { text: format!(" {span} {signature}"), gain, notes }
}

/// Whether an edge is worth a word beside a definition.
fn is_use(edge: &Edge) -> bool {
    edge.layer != Layer::Candidate
        && match edge.kind {
            EdgeKind::Calls | EdgeKind::Extends | EdgeKind::References => true,
            EdgeKind::Imports | EdgeKind::Overrides | EdgeKind::Tests => false,
        }
}

/// The first ends, each once with its line, those of the product first; how many there are more.
fn ends(atlas: &Atlas, at: SymbolRef, found: impl Iterator<Item = (SymbolRef, u32)>) -> Option<String> {
    let view = &*atlas.view;
    let mut seen = BTreeSet::new();
    let mut ends: Vec<(bool, SymbolRef, u32)> = found
        .filter(|(end, _)| *end != at && seen.insert(*end))
        .map(|(end, line)| (surface::is_secondary(view.file(end.file).path.as_str()), end, line))
        .collect();
    ends.sort_by_key(|(is_secondary, ..)| *is_secondary);
    let shown: Vec<String> = ends
        .iter()
        .take(MAX_ENDS)
        .map(|(_, end, line)| {
            let name = show::qualname(view, *end);
            match end.file == at.file {
                true => format!("{name}:{line}"),
                false => format!("{name} ({}:{line})", sanitize::line(view.file(end.file).path.file_name(), 120)),
            }
        })
        .collect();
    let n_more = ends.len() - shown.len();
    let more = if n_more > 0 { format!(", {n_more} more") } else { String::new() };
    (!shown.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}

/// Fields and constants say little a line; they are shown only when marked.
fn is_offered(symbol: &Symbol) -> bool {
    match symbol.kind {
        SymbolKind::Class
        | SymbolKind::Interface
        | SymbolKind::Enum
        | SymbolKind::Record
        | SymbolKind::Annotation
        | SymbolKind::Namespace
        | SymbolKind::TypeAlias
        | SymbolKind::Function
        | SymbolKind::Method
        | SymbolKind::Constructor => true,
        SymbolKind::Module
        | SymbolKind::Property
        | SymbolKind::Field
        | SymbolKind::Variable
        | SymbolKind::EnumMember
        | SymbolKind::Signature => false,
    }
}

/// How much a symbol matters in its file: how many other files use it, weighted by its kind.
fn value(atlas: &Atlas, at: SymbolRef, symbol: &Symbol) -> f64 {
    let mut n_files = 0u32;
    let mut last = None;
    for edge in atlas.graph.edges_to(at) {
        if edge.kind != EdgeKind::Overrides && edge.from.file != at.file && last != Some(edge.from.file) {
            n_files += 1;
            last = Some(edge.from.file);
        }
    }
    let kind = match symbol.kind {
        SymbolKind::Class | SymbolKind::Interface | SymbolKind::Enum | SymbolKind::Record => 1.5,
        SymbolKind::Function | SymbolKind::TypeAlias | SymbolKind::Namespace | SymbolKind::Annotation => 1.0,
        SymbolKind::Method | SymbolKind::Constructor => 0.8,
        SymbolKind::Module
        | SymbolKind::Property
        | SymbolKind::Field
        | SymbolKind::Variable
        | SymbolKind::EnumMember
        | SymbolKind::Signature => 0.3,
    };
    (1.0 + f64::from(n_files)).ln() + kind
}
