//! Overriding: which methods replace or implement which, and classes whose ancestors are not
//! all in the repository.

use std::collections::BTreeSet;

use crate::facts::model::{HeritageKind, ScopeKind, SymbolFlags, SymbolId, SymbolKind};
use crate::facts::table::Id;
use crate::graph::edge::{EdgeKind, Layer, Strategy};
use crate::graph::link::{Linker, Site};
use crate::graph::modules::Family;
use crate::graph::overloads::parameter_names;
use crate::graph::queries::{Base, Denoted, Query};
use crate::graph::value::{Set, Value};
use crate::view::SymbolRef;

impl Linker<'_, '_> {
    /// Adds an edge from each member of a class to the nearest member that it overrides, by
    /// each direct base.
    pub fn overrides(&mut self, class: SymbolRef) {
        let view = self.view;
        let facts = view.facts(class.file);
        let is_java = Family::of(facts.dialect) == Family::Java;
        let mro = self.session.bases(Query::Mro(class));
        if mro.iter().any(|base| !matches!(base, Base::Class(..))) {
            self.link.open_classes.push(class);
        }
        let shapes = self.shapes_of(class);
        if mro.len() < 2 && shapes.is_empty() {
            return;
        }
        let bases = self.session.bases(Query::Bases(class));
        let members: Vec<SymbolRef> = self
            .session
            .shared
            .names
            .file(class.file)
            .children(class.symbol)
            .map(|symbol| SymbolRef { symbol, ..class })
            .collect();
        for member in members {
            let symbol = view.symbol(member);
            let hidden = is_java && symbol.flags.has(SymbolFlags::STATIC);
            if !matches!(symbol.kind, SymbolKind::Method | SymbolKind::Property | SymbolKind::Function) || hidden {
                continue;
            }
            let text = self.session.shared.names.text(class.file, symbol.name);
            let site = Site { from: member, line: symbol.name_line, test_block: None, inside: false };
            let mut found = BTreeSet::new();
            for base in bases.iter() {
                let Base::Class(at, _) = base else { continue };
                let line = self.session.bases(Query::Mro(*at));
                for ancestor in line.iter() {
                    let Base::Class(ancestor, _) = ancestor else { continue };
                    let mut own = self.session.own_members(*ancestor, text);
                    own.retain(|o| {
                        let kind = view.symbol(*o).kind;
                        matches!(kind, SymbolKind::Method | SymbolKind::Property | SymbolKind::Function)
                    });
                    if is_java {
                        own.retain(|o| self.session.overrides_java(member, *o));
                    }
                    if !own.is_empty() {
                        found.extend(own);
                        break;
                    }
                }
            }
            for shape in &shapes {
                found.extend(self.session.member(shape, text, self.file).denoted.iter().filter_map(|d| match d {
                    Denoted::Symbol(to) if *to != member => Some(*to),
                    _ => None,
                }));
            }
            for to in found {
                self.edge(site, to, EdgeKind::Overrides, Layer::Proved, Strategy::Override);
            }
        }
    }

    /// The object types that a TypeScript class says it implements, by the name of an alias.
    fn shapes_of(&mut self, class: SymbolRef) -> Vec<Value> {
        let facts = self.view.facts(class.file);
        if Family::of(facts.dialect) != Family::Ecma {
            return Vec::new();
        }
        let place = self.session.place_of(class);
        let rows = facts.heritage.iter().filter(|row| row.owner == class.symbol);
        let types = rows.filter(|row| matches!(row.kind, HeritageKind::Extends | HeritageKind::Implements));
        let sets: Vec<Set> = types.map(|row| self.session.type_value(row.ty, place)).collect();
        let values = sets.iter().flat_map(|set| set.values().iter());
        values.filter(|value| matches!(value, Value::Shape(..))).cloned().collect()
    }
}

impl Linker<'_, '_> {
    /// Adds the edges of methods in anonymous classes to what they implement.
    pub fn anonymous_overrides(&mut self) {
        let view = self.view;
        let facts = view.facts(self.file);
        if Family::of(facts.dialect) != Family::Java {
            return;
        }
        for (row, symbol) in facts.symbols.iter().enumerate() {
            let scope = facts.scope(symbol.declared_in);
            let anonymous =
                scope.kind == ScopeKind::Class && facts.symbol(scope.owner).scope != Some(symbol.declared_in);
            if !anonymous || symbol.kind != SymbolKind::Method {
                continue;
            }
            self.session.refuel();
            let member = SymbolRef { file: self.file, symbol: SymbolId::new(row) };
            let text = self.session.shared.names.text(self.file, symbol.name);
            let site = Site { from: member, line: symbol.name_line, test_block: None, inside: false };
            let bases = self.session.anonymous_bases(self.file, symbol.declared_in);
            for value in bases.values() {
                for denoted in self.session.member(value, text, self.file).denoted {
                    if let Denoted::Symbol(to) = denoted
                        && self.session.overrides_java(member, to)
                    {
                        self.edge(site, to, EdgeKind::Overrides, Layer::Proved, Strategy::Override);
                    }
                }
            }
        }
    }
}

impl crate::graph::queries::Session<'_, '_> {
    /// Whether a Java method may override another: equal erased parameters, or equal arity
    /// where the overridden one's differ by type parameters.
    pub fn overrides_java(&self, one: SymbolRef, other: SymbolRef) -> bool {
        let view = self.shared.names.view;
        if self.same_signature(one, other) {
            return true;
        }
        let mine = parameter_names(view.qualname(one));
        let theirs = parameter_names(view.qualname(other));
        let n_params = mine.clone().count();
        if n_params == 0 || n_params != theirs.clone().count() {
            return false;
        }
        let facts = view.names_of(other.file);
        let owner = view.symbol(other).parent;
        let is_param = |name: &str| {
            facts.type_params.iter().any(|p| {
                (Some(p.owner) == owner || p.owner == other.symbol) && facts.name(p.name) == name.trim_end_matches("[]")
            })
        };
        // `f(String)` beside `f(Object)` is another method (JLS 8.4.2).
        mine.zip(theirs).all(|(a, b)| a == b || is_param(b))
    }
}
