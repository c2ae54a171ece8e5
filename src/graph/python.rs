//! Python's frameworks as far as names go: pytest's fixtures by parameter name.

use crate::facts::model::{ExprId, ExprKind, NameId, Role, SymbolId};
use crate::facts::table::Id;
use crate::graph::builtins;
use crate::graph::modules::Family;
use crate::graph::queries::{Denoted, Query, Session};
use crate::graph::scope::Place;
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
        let facts = view.declared(function);
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
        let by_name = denoted.iter().find_map(|d| match d {
            Denoted::Symbol(at) if *at != but && self.is_fixture(*at) => Some(*at),
            _ => None,
        });
        by_name.or_else(|| self.renamed_fixture(file, text))
    }

    /// A fixture that `@pytest.fixture(name="…")` calls so.
    fn renamed_fixture(&self, file: FileIdx, text: crate::graph::names::Text) -> Option<SymbolRef> {
        let facts = self.shared.names.view.names_of(file);
        let name = self.shared.names.name_in(file, text)?;
        let found = facts.decorators.iter().find(|decorator| {
            let given = self.keyword_of(file, decorator.expr, "name");
            given.is_some_and(|given| {
                let row = facts.expr(given);
                row.kind == ExprKind::Path && row.name == Some(name)
            })
        })?;
        let at = SymbolRef { file, symbol: found.owner };
        self.is_fixture(at).then_some(at)
    }

    /// What a keyword argument of a call is given.
    fn keyword_of(&self, file: FileIdx, call: ExprId, keyword: &str) -> Option<ExprId> {
        let facts = self.shared.names.view.names_of(file);
        if facts.expr(call).kind != ExprKind::Call {
            return None;
        }
        let operands = facts.operands_of(call);
        let given = operands.iter().find(|o| o.role == Role::Keyword && facts.text(o.name) == keyword);
        given.map(|operand| operand.expr)
    }

    /// The fixtures that pytest applies to the tests of a file unasked: its own, and those of
    /// the conftest files above.
    pub fn autouse_fixtures(&mut self, file: FileIdx) -> Vec<SymbolRef> {
        let view = self.shared.names.view;
        if Family::of(view.dialect(file)) != Family::Python {
            return Vec::new();
        }
        let mut found = Vec::new();
        for at in [file].into_iter().chain(self.shared.modules.conftests(view, file)) {
            for decorator in &view.names_of(at).decorators {
                let symbol = SymbolRef { file: at, symbol: decorator.owner };
                if self.keyword_of(at, decorator.expr, "autouse").is_some() && self.is_fixture(symbol) {
                    found.push(symbol);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Those of the autouse fixtures that apply to a test function: module-level ones, and
    /// those of its class.
    pub fn applied_to(&self, test: SymbolRef, autouse: &[SymbolRef]) -> Vec<SymbolRef> {
        let view = self.shared.names.view;
        let symbol = view.symbol(test);
        if autouse.is_empty() || !view.declared(test).name(symbol.name).starts_with("test") {
            return Vec::new();
        }
        let applies = |fixture: &&SymbolRef| {
            let parent = view.symbol(**fixture).parent;
            parent == Some(SymbolId::new(0)) || (fixture.file == test.file && parent == symbol.parent)
        };
        autouse.iter().filter(applies).copied().collect()
    }

    /// What a bare string names by the call it is given to: a fixture (`usefixtures`,
    /// `getfixturevalue`), or a member of the first argument (`getattr`, `patch.object`).
    pub fn named_by_string(&mut self, expr: ExprId, place: Place) -> Vec<SymbolRef> {
        let view = self.shared.names.view;
        let facts = view.facts(place.file);
        if Family::of(facts.dialect) != Family::Python {
            return Vec::new();
        }
        let (Some(name), Some((call, _))) = (facts.expr(expr).name, self.shared.names.code(place.file).context(expr))
        else {
            return Vec::new();
        };
        let text = self.shared.names.text(place.file, name);
        let callee = facts.operand(call, 0).map_or("", |callee| facts.text(facts.expr(callee).name));
        match callee {
            "usefixtures" | "getfixturevalue" => {
                let module = self.module_symbol(place.file);
                let conftests = self.shared.modules.conftests(view, place.file);
                let files = [place.file].into_iter().chain(conftests);
                files.into_iter().find_map(|file| self.fixture_in(file, text, module)).into_iter().collect()
            }
            "getattr" | "setattr" | "hasattr" | "delattr" | "object" => {
                let Some(first) = facts.operand(call, 1).filter(|first| *first != expr) else { return Vec::new() };
                let receivers = self.eval(first, place);
                let mut found = Vec::new();
                for value in receivers.values() {
                    for denoted in self.member(value, text, place.file).denoted {
                        if let Denoted::Symbol(at) = denoted {
                            found.push(at);
                        }
                    }
                }
                found.sort_unstable();
                found.dedup();
                found
            }
            _ => Vec::new(),
        }
    }

    /// Whether a function is a pytest fixture.
    pub fn is_fixture(&self, at: SymbolRef) -> bool {
        self.has_decorator(at, &["fixture", "yield_fixture"])
    }

    /// Whether a name is a builtin of the language.
    pub fn is_builtin(&self, file: FileIdx, name: &str) -> bool {
        builtins::global(Family::of(self.shared.names.view.dialect(file)), name).is_some()
    }

    /// The module symbol of a file.
    pub fn module_symbol(&self, file: FileIdx) -> SymbolRef {
        SymbolRef { file, symbol: SymbolId::new(0) }
    }
}
