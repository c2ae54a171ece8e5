//! Python's frameworks as far as names go: pytest's fixtures by parameter name.

use crate::facts::model::{NameId, SymbolId};
use crate::facts::table::Id;
use crate::graph::builtins;
use crate::graph::modules::Family;
use crate::graph::queries::{Denoted, Query, Session};
use crate::graph::value::Set;
use crate::view::{FileIdx, SymbolRef};

impl Session<'_, '_> {
    /// What pytest passes for a parameter of a test or fixture; `None` when it is no fixture.
    pub fn fixture_value(&mut self, function: SymbolRef, param: Option<NameId>) -> Option<Set> {
        let fixture = self.fixture_of(function, param?)?;
        let result = self.function_result(fixture, None, &[]);
        Some(result.flat_map(|value| match value {
            crate::graph::value::Value::ExternalInstance(name, args) if &**name == "iter" => {
                args.first().cloned().unwrap_or_default()
            }
            other => Set::one(other.clone()),
        }))
    }

    /// The fixture that a parameter of a test or fixture names: of its class, its module, what
    /// the module imports, then of the conftest files above, nearest first.
    pub fn fixture_of(&mut self, function: SymbolRef, param: NameId) -> Option<SymbolRef> {
        let view = self.shared.names.view;
        let facts = view.facts(function.file);
        if Family::of(facts.dialect) != Family::Python {
            return None;
        }
        let own = facts.symbol(function.symbol);
        if !own.kind.is_function() {
            return None;
        }
        let name = facts.name(own.name);
        if !name.starts_with("test") && !self.is_fixture(function) {
            return None;
        }
        let text = self.shared.names.text(function.file, param);
        if let Some(parent) = own.parent.filter(|p| p.index() != 0) {
            let class = SymbolRef { symbol: parent, ..function };
            for member in self.own_members(class, text) {
                if member != function && self.is_fixture(member) {
                    return Some(member);
                }
            }
        }
        if let Some(found) = self.fixture_in(function.file, text, function) {
            return Some(found);
        }
        let conftests = self.shared.modules.conftests(view, function.file);
        conftests.into_iter().find_map(|file| self.fixture_in(file, text, function))
    }

    fn fixture_in(&mut self, file: FileIdx, text: crate::graph::names::Text, but: SymbolRef) -> Option<SymbolRef> {
        let denoted = self.denoted(Query::Export(file, text));
        denoted.iter().find_map(|d| match d {
            Denoted::Symbol(at) if *at != but && self.is_fixture(*at) => Some(*at),
            _ => None,
        })
    }

    /// Whether a function is a pytest fixture.
    pub fn is_fixture(&self, at: SymbolRef) -> bool {
        self.has_decorator(at, &["fixture", "yield_fixture"])
    }

    /// Whether a name is a builtin of the language.
    pub fn is_builtin(&self, file: FileIdx, name: &str) -> bool {
        builtins::global(Family::of(self.shared.names.view.facts(file).dialect), name).is_some()
    }

    /// The module symbol of a file.
    pub fn module_symbol(&self, file: FileIdx) -> SymbolRef {
        SymbolRef { file, symbol: SymbolId::new(0) }
    }
}
