//! Methods that are called where no reference can be listed: by a language itself (`len(x)`, string
//! concatenation, `try` with resources), and by bases outside of the repository.

use std::collections::BTreeSet;

use crate::base::dialect::LanguageName;
use crate::facts::model::{ExprKind, FileFacts, ScopeKind, SymbolFlags, SymbolId, SymbolKind, Visibility};
use crate::graph::builtins::{is_common_member, jdk};
use crate::graph::edge::{EdgeKind, Graph};
use crate::graph::modules::Family;
use crate::impact::code::base_may_call;
use crate::lang::testing::{bases, decorators, last_name};
use crate::view::names::Known;
use crate::view::{SymbolRef, View};

/// Python's methods that are called by their class's name, which is written.
const PYTHON_WRITTEN: [&str; 2] = ["__init__", "__new__"];
/// Object's and AutoCloseable's, Iterable's and Comparable's (Java Language Specification 5.1.11,
/// 14.14.2, 14.20.3; `java.util` compares and hashes by them).
const JAVA: [&str; 6] = ["toString", "hashCode", "equals", "compareTo", "close", "iterator"];
/// Conversions, JSON and awaiting (ECMA-262 7.1.1, 25.5.2, 27.2.2.2).
const ECMA: [&str; 4] = ["toString", "valueOf", "toJSON", "then"];

/// Whether a symbol is a method that the language may call unwritten.
pub fn is_called_by_language(view: &View, at: SymbolRef) -> bool {
    let symbol = view.symbol(at);
    if symbol.kind != SymbolKind::Method {
        return false;
    }
    let file = view.file(at.file);
    let name = file.facts.name(symbol.name);
    match file.dialect.language() {
        LanguageName::Python => {
            name.len() > 4 && name.starts_with("__") && name.ends_with("__") && !PYTHON_WRITTEN.contains(&name)
        }
        LanguageName::TypeScript | LanguageName::JavaScript => ECMA.contains(&name),
        LanguageName::Java => JAVA.contains(&name),
    }
}

/// Whether code outside may call a method: a base that is not in the repository, of its class or
/// of one above or below, may; so may what an instance is given to, by a name that it knows.
pub fn is_called_outside(view: &View, graph: &Graph, at: SymbolRef) -> bool {
    let (facts, symbol) = (view.facts(at.file), view.symbol(at));
    let is_run = symbol.kind == SymbolKind::Method || symbol.flags.has(SymbolFlags::GETTER);
    if is_run && facts.dialect.language() == LanguageName::Java {
        let overrides = graph.edges_from(at).iter().any(|edge| edge.kind == EdgeKind::Overrides);
        let is_marked = decorators(facts, at.symbol).any(|row| last_name(facts, row.expr) == "Override");
        if !overrides && (is_marked || is_of_anonymous_outsider(view, at)) {
            return true;
        }
    }
    let Some(class) = symbol.parent.filter(|parent| is_run && facts.symbol(*parent).kind.is_class()) else {
        return false;
    };
    let (name, language) = (facts.name(symbol.name), facts.dialect.language());
    let is_own = match language {
        // A double underscore is mangled, so that nothing outside can call it.
        LanguageName::Python => name.starts_with("__") && !name.ends_with("__"),
        _ => symbol.visibility == Visibility::Private || symbol.flags.has(SymbolFlags::STATIC),
    };
    if is_own {
        return false;
    }
    let is_common = is_common_member(Family::of(facts.dialect), name);
    let class = SymbolRef { symbol: class, ..at };
    let (mut seen, mut stack) = (BTreeSet::from([class]), vec![class]);
    // Below: what inherits it may have a base that its own class has not.
    while let Some(below) = stack.pop() {
        let heirs = graph.edges_to(below).filter(|edge| edge.kind == EdgeKind::Extends).map(|edge| edge.from);
        stack.extend(heirs.filter(|heir| seen.insert(*heir)));
    }
    let mut above: Vec<SymbolRef> = seen.iter().copied().collect();
    while let Some(at) = above.pop() {
        let edges = graph.edges_from(at).iter().filter(|edge| edge.kind == EdgeKind::Extends);
        above.extend(edges.map(|edge| edge.to).filter(|to| seen.insert(*to)));
    }
    seen.iter().any(|at| {
        (is_common && graph.handed_out.binary_search(at).is_ok())
            || (graph.open_classes.binary_search(at).is_ok()
                && outside_bases(view, graph, *at).any(|base| {
                    match jdk::class(base).filter(|_| language == LanguageName::Java) {
                        Some(class) => class.has(name) || base_may_call(base, name),
                        None => base_may_call(base, name),
                    }
                }))
    })
}

/// Whether a method of an anonymous class of Java may be one of its supertype's, which is not in
/// the repository.
fn is_of_anonymous_outsider(view: &View, at: SymbolRef) -> bool {
    let (facts, symbol) = (view.facts(at.file), view.symbol(at));
    let scope = symbol.declared_in;
    if facts.scope(scope).kind != ScopeKind::Class || facts.symbol(facts.scope(scope).owner).scope == Some(scope) {
        return false;
    }
    let made = facts.exprs.iter().find(|row| row.kind == ExprKind::New && row.scope == Some(scope));
    let named = made.and_then(|row| row.ty).and_then(|ty| facts.type_row(ty).expr);
    // An enum constant's body has its enum as supertype.
    let Some(base) = named.map(|expr| last_name(facts, expr)) else { return false };
    if let Some(class) = jdk::class(base) {
        return class.has(facts.name(symbol.name));
    }
    let is_it = |facts: &FileFacts| {
        facts.symbols.iter().any(|symbol| symbol.kind.is_class() && facts.name(symbol.name) == base)
    };
    !view.naming(base, Known::End).into_iter().any(|file| is_it(view.facts(file)))
}

/// The names of a class's bases that are not in the repository.
fn outside_bases<'v>(view: &'v View, graph: &'v Graph, class: SymbolRef) -> impl Iterator<Item = &'v str> {
    let facts: &FileFacts = view.facts(class.file);
    let found: Vec<&str> = graph
        .edges_from(class)
        .iter()
        .filter(|edge| edge.kind == EdgeKind::Extends)
        .map(|edge| view.facts(edge.to.file).name(view.symbol(edge.to).name))
        .collect();
    let symbol: SymbolId = class.symbol;
    let n_missing = bases(facts, symbol).count().saturating_sub(found.len());
    // An alias of a base that was found is not outside.
    bases(facts, symbol).filter(move |base| n_missing > 0 && !found.contains(base))
}
