//! Edges of declarations as such: aliases, overriding, fixtures by parameter name.

use crate::facts::model::{ExprId, ExprKind, ScopeId, SymbolId, SymbolKind};
use crate::facts::table::Id;
use crate::graph::edge::{EdgeKind, Layer, Strategy};
use crate::graph::link::{Linker, Site};
use crate::graph::modules::Family;
use crate::graph::names::Decl;
use crate::graph::queries::{Denoted, Query};
use crate::graph::scope::Place;
use crate::view::SymbolRef;

impl Linker<'_, '_> {
    /// Edges of declarations as such: aliases, overriding, fixtures by parameter name.
    pub fn declarations(&mut self) {
        self.anonymous_overrides();
        self.annotation_elements();
        let view = self.view;
        let facts = view.facts(self.file);
        let autouse = self.session.autouse_fixtures(self.file);
        for (row, symbol) in facts.symbols.iter().enumerate() {
            self.session.refuel();
            let at = SymbolRef { file: self.file, symbol: SymbolId::new(row) };
            let site = Site { from: at, line: symbol.name_line, test_block: None, inside: false };
            match symbol.kind {
                kind if kind.is_class() => {
                    self.overrides(at);
                }
                SymbolKind::Variable | SymbolKind::Field => self.alias(at, site),
                SymbolKind::Function | SymbolKind::Method if Family::of(facts.dialect) == Family::Python => {
                    let Some(scope) = symbol.scope else { continue };
                    for to in self.session.applied_to(at, &autouse) {
                        self.edge(site, to, EdgeKind::Tests, Layer::Proved, Strategy::Framework);
                    }
                    for param in facts.params_of(scope).to_vec() {
                        let Some(name) = param.name else { continue };
                        if let Some(to) = self.session.fixture_of(at, name) {
                            let site = Site { line: param.line, ..site };
                            self.edge(site, to, EdgeKind::Tests, Layer::Proved, Strategy::Framework);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// A constant that holds a function or class leads on to it.
    fn alias(&mut self, at: SymbolRef, site: Site) {
        let facts = self.view.facts(self.file);
        let is_ecma = Family::of(facts.dialect) == Family::Ecma;
        let symbol = self.view.symbol(at);
        let table = self.session.shared.names.file(self.file);
        // `const x = require("m")` is an import, which has its edges.
        let mut declared = table.decls(symbol.declared_in, symbol.name);
        if is_ecma && declared.any(|decl| matches!(decl, Decl::Import(_))) {
            return;
        }
        let values: Vec<(ExprId, ScopeId)> = table
            .bindings_of(at.symbol)
            .filter_map(|row| {
                let binding = &facts.bindings[row as usize];
                binding.value.map(|value| (value, binding.scope))
            })
            .filter(|(value, _)| {
                matches!(
                    facts.expr(*value).kind,
                    ExprKind::Name | ExprKind::Attr | ExprKind::Call | ExprKind::Choice | ExprKind::Lambda
                )
            })
            .collect();
        if values.is_empty() {
            return;
        }
        let set = self.session.values(Query::Symbol(at));
        let mut held = self.session.callable_symbols(&set);
        // What a call gives refers to nothing, but for what a wrapper was given (`memo(C)`).
        if is_ecma && values.iter().all(|(value, _)| facts.expr(*value).kind == ExprKind::Call) {
            let mut given = Vec::new();
            for (value, scope) in values {
                let place = Place { file: self.file, scope, line: u32::MAX };
                for operand in facts.operands_of(value).iter().skip(1) {
                    let set = self.session.eval(operand.expr, place);
                    given.extend(self.session.callable_symbols(&set));
                }
            }
            held.retain(|denoted| given.contains(denoted));
        }
        for denoted in held {
            if let Denoted::Symbol(to) = denoted {
                self.edge(site, to, EdgeKind::References, Layer::Proved, Strategy::InferredType);
            }
        }
    }
}
