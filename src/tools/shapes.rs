//! Which uses of other types' members may mean a method: where types are compared by what they have
//! (TypeScript's, Python's protocols), a receiver of another name may hold its instance.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::dialect::LanguageName;
use crate::facts::model::{
    Expr, ExprId, ExprKind, FileFacts, NameId, Role, ScopeId, ScopeKind, SymbolFlags, SymbolKind, Visibility,
};
use crate::facts::table::Id;
use crate::graph::edge::{Edge, EdgeKind, Graph};
use crate::lang::testing::bases;
use crate::view::names::Known;
use crate::view::{SymbolRef, View};

/// Members that a type has by their names.
#[derive(Default)]
struct Members {
    names: BTreeSet<String>,
    /// Whether it may have others: by a base outside, a spread, a computed name.
    is_open: bool,
    /// Whether nothing but its own classes can be one, for a private member.
    is_closed: bool,
}

/// The uses of members of the same name in types whose shape a target's own type has. Members in
/// `known` are those that a target is tied to. Sorted by (from, line).
pub fn uses_by_shape(
    view: &View,
    graph: &Graph,
    targets: &[SymbolRef],
    known: impl Fn(SymbolRef) -> bool,
) -> Vec<Edge> {
    let mut found: BTreeSet<Edge> = BTreeSet::new();
    let mut required: BTreeMap<(SymbolRef, ScopeId), Option<Members>> = BTreeMap::new();
    for target in targets.iter().filter(|at| is_method(view, **at)) {
        let name = view.facts(target.file).name(view.symbol(*target).name);
        let own = had(view, graph, *target);
        for member in named(view, *target, name) {
            if known(member) || targets.contains(&member) {
                continue;
            }
            let scope = view.symbol(member).declared_in;
            let Some(owner) = view.symbol(member).parent else { continue };
            let owner = SymbolRef { symbol: owner, ..member };
            let wanted = required.entry((owner, scope)).or_insert_with(|| wanted_members(view, graph, owner, scope));
            let Some(wanted) = wanted.as_ref().filter(|wanted| !wanted.is_closed) else { continue };
            if own.is_open || wanted.names.is_subset(&own.names) {
                found.extend(graph.edges_to(member).filter(|edge| is_use(edge.kind)));
            }
        }
    }
    found.into_iter().collect()
}

fn is_use(kind: EdgeKind) -> bool {
    matches!(kind, EdgeKind::Calls | EdgeKind::References)
}

fn is_ecma(language: LanguageName) -> bool {
    matches!(language, LanguageName::TypeScript | LanguageName::JavaScript)
}

/// Whether a symbol is a method that an instance or object has, and others may see.
fn is_method(view: &View, at: SymbolRef) -> bool {
    let file = view.file(at.file);
    let symbol = view.symbol(at);
    let has_body = match file.facts.scope(symbol.declared_in).kind {
        ScopeKind::Class => symbol.parent.is_some_and(|p| file.facts.symbol(p).kind != SymbolKind::Interface),
        _ => literal(&file.facts, symbol.declared_in).is_some(),
    };
    file.dialect.language() != LanguageName::Java
        && at.symbol.index() > 0
        && (symbol.kind == SymbolKind::Method || symbol.flags.has(SymbolFlags::GETTER))
        && has_body
        && !symbol.flags.has(SymbolFlags::STATIC)
        && (!is_ecma(file.dialect.language())
            || symbol.visibility == Visibility::Public
            || symbol.flags.has(SymbolFlags::ANONYMOUS_OWNER))
}

/// The object literal whose members a scope declares; object types have scopes alike.
fn literal(facts: &FileFacts, scope: ScopeId) -> Option<ExprId> {
    let is_it = |row: &Expr| row.kind == ExprKind::Object && row.scope == Some(scope);
    facts.exprs.iter().position(is_it).map(ExprId::new)
}

/// The members of that name in files of the same family.
fn named<'v>(view: &'v View, target: SymbolRef, name: &'v str) -> impl Iterator<Item = SymbolRef> + 'v {
    let language = view.file(target.file).dialect.language();
    let files = view.naming(name, Known::End).into_iter();
    let alike = files.filter(move |file| view.file(*file).dialect.language().shares_names_with(language));
    alike.flat_map(move |file| {
        let facts = view.facts(file);
        let name = facts.names.iter().position(|text| &**text == name).map(NameId::new);
        let rows = facts.symbols.iter().enumerate().skip(1);
        rows.filter(move |(_, symbol)| Some(symbol.name) == name)
            .map(move |(row, _)| SymbolRef { file, symbol: Id::new(row) })
    })
}

/// What instances of a member's class, or its object literal, have.
fn had(view: &View, graph: &Graph, at: SymbolRef) -> Members {
    let facts = view.facts(at.file);
    let scope = view.symbol(at).declared_in;
    let mut members = Members::default();
    if let Some(literal) = literal(facts, scope) {
        add_scope(facts, scope, false, &mut members);
        for operand in facts.operands_of(literal) {
            members.is_open |= matches!(operand.role, Role::Spread | Role::KeywordSpread | Role::Computed);
            members.names.extend(operand.name.map(|name| facts.name(name).to_owned()));
        }
    } else if let Some(class) = view.symbol(at).parent {
        for (class, scope) in classes_above(view, graph, SymbolRef { symbol: class, ..at }) {
            add_scope(view.facts(class.file), scope, false, &mut members);
            members.is_open |= graph.open_classes.binary_search(&class).is_ok();
        }
    }
    members
}

/// What a type must have by its declaration; `None` for one that is not compared by its members.
fn wanted_members(view: &View, graph: &Graph, owner: SymbolRef, scope: ScopeId) -> Option<Members> {
    let facts = view.facts(owner.file);
    let row = facts.symbol(owner.symbol);
    let mut members = Members::default();
    if literal(facts, scope).is_some() {
        // A value; its type has no name to be used by.
        return None;
    }
    let is_type = row.scope == Some(scope) && row.kind.is_class();
    if !is_type {
        // An object type in an annotation or alias.
        add_scope(facts, scope, true, &mut members);
        return Some(members);
    }
    let is_compared = match facts.dialect.language() {
        LanguageName::Java => false,
        LanguageName::Python => bases(facts, owner.symbol).any(|base| base == "Protocol"),
        LanguageName::TypeScript | LanguageName::JavaScript => true,
    };
    if !is_compared {
        return None;
    }
    for (class, scope) in classes_above(view, graph, owner) {
        add_scope(view.facts(class.file), scope, true, &mut members);
    }
    Some(members)
}

/// Adds the members of a scope; those that must be there alone where `is_wanted`.
fn add_scope(facts: &FileFacts, scope: ScopeId, is_wanted: bool, members: &mut Members) {
    let is_ecma = is_ecma(facts.dialect.language());
    for symbol in facts.symbols.iter().filter(|symbol| symbol.declared_in == scope) {
        let is_left_out = symbol.flags.has(SymbolFlags::OPTIONAL)
            || symbol.flags.has(SymbolFlags::STATIC)
            || matches!(symbol.kind, SymbolKind::Constructor | SymbolKind::Signature);
        if is_wanted && is_left_out {
            continue;
        }
        let is_named = !symbol.flags.has(SymbolFlags::ANONYMOUS_OWNER);
        members.is_closed |= is_wanted && is_ecma && is_named && symbol.visibility != Visibility::Public;
        members.names.insert(facts.name(symbol.name).to_owned());
    }
}

/// A class with those that it extends or implements in the repository, each with its scope.
fn classes_above(view: &View, graph: &Graph, class: SymbolRef) -> Vec<(SymbolRef, ScopeId)> {
    let (mut seen, mut stack) = (BTreeSet::from([class]), vec![class]);
    let mut classes = Vec::new();
    while let Some(at) = stack.pop() {
        classes.extend(view.symbol(at).scope.map(|scope| (at, scope)));
        let above = graph.edges_from(at).iter().filter(|edge| edge.kind == EdgeKind::Extends);
        stack.extend(above.map(|edge| edge.to).filter(|to| seen.insert(*to)));
    }
    classes
}
