//! Guesses about members of unknown receivers: a unique name that nothing contradicts is
//! likely, a few are candidates. The rest stays unproved.

use std::borrow::Cow;
use std::cell::LazyCell;

use crate::facts::model::{RefKind, SymbolFlags, SymbolKind};
use crate::graph::builtins;
use crate::graph::confidence;
use crate::graph::edge::{Edge, EdgeKind, Layer, Receiver, Strategy, Unproved};
use crate::graph::file_graph::FileSet;
use crate::graph::modules::Family;
use crate::graph::queries::Shared;
use crate::view::{FileIdx, SymbolRef};

/// The most candidates that are kept.
const MAX_CANDIDATES: usize = 8;

/// Turns a file's unproved references into likely and candidate edges where names allow;
/// gives the edges and what stays unproved (everything but the likely ones).
/// `closure` is what the file reaches through uses, asked for at most once.
pub fn guess<'c>(
    shared: &Shared<'_>,
    closure: impl FnOnce() -> Cow<'c, FileSet>,
    file: FileIdx,
    unproved: &[Unproved],
) -> (Vec<Edge>, Vec<Unproved>) {
    let closure = LazyCell::new(closure);
    let mut edges = Vec::new();
    let mut rest = Vec::new();
    for row in unproved {
        let Some((n_members, callable)) = callable(shared, file, row) else {
            rest.push(*row);
            continue;
        };
        let reached: Vec<SymbolRef> = callable.into_iter().filter(|at| closure.has(at.file)).collect();
        let n = reached.len();
        if n == 0 {
            rest.push(*row);
            continue;
        }
        let unique = n == 1 && n_members == 1;
        if !unique {
            rest.push(*row);
        }
        let (layer, strategy, confidence) = if unique {
            (Layer::Likely, Strategy::UniqueName, confidence::of(Strategy::UniqueName, EdgeKind::Calls))
        } else {
            (Layer::Candidate, Strategy::Candidates, confidence::of_candidates(n))
        };
        edges.extend(reached.into_iter().map(|to| Edge {
            from: row.from,
            line: row.line,
            to,
            kind: EdgeKind::Calls,
            layer,
            strategy,
            confidence,
            test_block: row.test_block,
        }));
    }
    (edges, rest)
}

/// Whether what the file reaches matters to the guess about an unproved reference of it.
pub fn hangs_on_reach(shared: &Shared<'_>, file: FileIdx, row: &Unproved) -> bool {
    callable(shared, file, row).is_some()
}

/// The number of members that have the name of an unproved call, and those of them that it may call;
/// `None` where there are none, or too many, or nothing is guessed.
fn callable(shared: &Shared<'_>, file: FileIdx, row: &Unproved) -> Option<(usize, Vec<SymbolRef>)> {
    let view = shared.names.view;
    let family = Family::of(view.dialect(file));
    let text = shared.names.text(file, row.name);
    let is_call = matches!(row.kind, RefKind::Call | RefKind::New | RefKind::Decorator);
    if row.receiver != Receiver::Unknown || !is_call || builtins::is_common_member(family, shared.names.str(text)) {
        return None;
    }
    let of_family = |at: &SymbolRef| Family::of(view.dialect(at.file)) == family;
    let members = shared.names.members_named(text).filter(of_family);
    let mut members: Vec<SymbolRef> = members.take(MAX_CANDIDATES + 1).collect();
    let n_members = members.len();
    if n_members > MAX_CANDIDATES {
        return None;
    }
    members.retain(|at| matches!(view.symbol(*at).kind, SymbolKind::Method | SymbolKind::Function));
    members.retain(|at| arity_fits(shared, *at, row.arity));
    (!members.is_empty()).then_some((n_members, members))
}

/// Whether a call with that many arguments can be of a function.
fn arity_fits(shared: &Shared<'_>, at: SymbolRef, arity: Option<u32>) -> bool {
    use crate::facts::model::ParamKind;
    let view = shared.names.view;
    let facts = view.facts(at.file);
    let symbol = facts.symbol(at.symbol);
    let (Some(arity), Some(scope)) = (arity, symbol.scope) else { return true };
    let params = facts.params_of(scope);
    let rest = params.iter().any(|p| matches!(p.kind, ParamKind::Rest | ParamKind::KeywordRest));
    let receiver = u32::from(Family::of(facts.dialect) == Family::Python);
    let n_params = params.len() as u32;
    let needed = params
        .iter()
        .filter(|p| {
            p.default.is_none() && !p.optional && matches!(p.kind, ParamKind::Positional | ParamKind::PositionalOnly)
        })
        .count() as u32;
    let is_java = Family::of(facts.dialect) == Family::Java;
    let too_many = arity + receiver > n_params && !rest && Family::of(facts.dialect) != Family::Ecma;
    let too_few = arity + receiver < needed && !(rest && is_java) && !symbol.flags.has(SymbolFlags::VARIADIC);
    !too_many && !too_few
}
