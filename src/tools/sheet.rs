//! Sheets of files: what of each file a map or context offers to the packer.

use crate::atlas::Atlas;
use crate::facts::model::{Symbol, SymbolKind};
use crate::facts::table::Id;
use crate::graph::edge::EdgeKind;
use crate::rank::surface;
use crate::report::pack::{Entry, Line};
use crate::report::{pack, sanitize};
use crate::tools::show;
use crate::tools::tool::Answer;
use crate::view::{FileIdx, SymbolRef};

/// A file with its score and the extra scores of some of its symbols.
#[derive(Clone, Debug)]
pub struct Ranked {
    pub file: FileIdx,
    pub score: f64,
    /// Symbols that matter by themselves: shown even where not public. Sorted by symbol.
    pub marked: Vec<(SymbolRef, f64)>,
}

/// Packs ranked files (best first) into the answer's budget, below the lines it already has;
/// of their symbols those of `kind`, where one is asked for.
///
/// Gives how many files are shown.
pub fn put(answer: &mut Answer, atlas: &Atlas, ranked: &[Ranked], kind: Option<&str>) -> usize {
    answer.shown(ranked.len(), ranked.len(), "files");
    let above: usize = answer.lines.iter().map(|line| crate::report::tokens::count(&format!("{line}\n"))).sum();
    let room = answer.budget.saturating_sub(answer.headline.reserve(answer.budget) + above);
    // A file takes at least six tokens; more than can fit are not prepared.
    let entries: Vec<Entry> = ranked.iter().take(room / 6 + 1).map(|ranked| entry(atlas, ranked, kind)).collect();
    let packed = pack::pack(&entries, room);
    answer.shown(packed.n_entries, ranked.len(), "files");
    answer.lines.extend(packed.lines);
    packed.n_entries
}

fn entry(atlas: &Atlas, ranked: &Ranked, kind: Option<&str>) -> Entry {
    let view = &*atlas.view;
    let file = view.file(ranked.file);
    let facts = &file.facts;
    let mut rows: Vec<(usize, f64)> = Vec::new();
    for (row, symbol) in facts.symbols.iter().enumerate().skip(1) {
        let at = SymbolRef { file: ranked.file, symbol: Id::new(row) };
        let marked = ranked.marked.binary_search_by_key(&at, |(at, _)| *at).ok().map(|at| ranked.marked[at].1);
        if kind.is_some_and(|kind| show::kind(symbol) != kind) {
            continue;
        }
        // Who asks for a kind wants it, however little a line of it says.
        let offered =
            (kind.is_some() || is_offered(symbol)) && surface::is_listed(symbol) && surface::is_public(facts, symbol);
        if marked.is_some() || offered {
            rows.push((row, value(atlas, at, symbol) + marked.unwrap_or(0.0)));
        }
    }
    let mut by_value: Vec<usize> = (0..rows.len()).collect();
    by_value.sort_by(|one, other| rows[*other].1.total_cmp(&rows[*one].1).then(one.cmp(other)));
    let mut places = vec![0; rows.len()];
    for (place, at) in by_value.into_iter().enumerate() {
        places[at] = place;
    }
    let lines = rows
        .iter()
        .zip(places)
        .map(|((row, _), place)| {
            let symbol = &facts.symbols[*row];
            let span = match symbol.end_line == symbol.start_line {
                true => symbol.start_line.to_string(),
                false => format!("{}-{}", symbol.start_line, symbol.end_line),
            };
            Line {
                text: format!(" {span} {}", show::signature(facts, symbol)),
                doc: show::doc(facts, symbol).map(|doc| format!("  {doc}")),
                place,
            }
        })
        .collect();
    Entry { score: ranked.score, head: sanitize::line(file.path.as_str(), 400), lines }
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
