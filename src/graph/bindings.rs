//! Symbols and bindings as values: what a name was given, by declaration, assignment, loop,
//! context manager or unpacking.

use crate::facts::model::{Binding, LiteralKind, NameId, Origin, ScopeId, Step, StepKind, SymbolFlags, SymbolKind};
use crate::graph::builtins;
use crate::graph::modules::Family;
use crate::graph::queries::{Denoted, Query, Session};
use crate::graph::scope::{Place, Space};
use crate::graph::value::{Set, Value, no_args};
use crate::view::{FileIdx, SymbolRef};

/// How many assignments to one name are looked at; a name that is given more is not one thing.
const MAX_REASSIGNED: usize = 64;

impl Session<'_, '_> {
    /// What later assignments give a name whose declaration is `declared`, in `scope`.
    pub fn reassigned(&mut self, file: FileIdx, scope: ScopeId, name: NameId, declared: &Denoted) -> Vec<Set> {
        let facts = self.shared.names.view.facts(file);
        let around = facts.scope(scope);
        let rows: Vec<u32> = self.shared.names.code(file).reassigned(name).collect();
        let mut sets = Vec::new();
        if rows.len() > MAX_REASSIGNED {
            return vec![Set::unknown()];
        }
        for row in rows {
            let binding = &facts.bindings[row as usize];
            if binding.line < around.start_line || binding.line > around.end_line {
                continue;
            }
            let there = Place { file, scope: binding.scope, line: binding.line };
            if self.meaning(there, name, Space::Value).denoted.contains(declared) {
                sets.push(self.values(Query::Binding(file, row)));
            }
        }
        sets
    }

    /// Solves `Symbol`.
    pub fn solve_symbol(&mut self, at: SymbolRef) -> Set {
        let facts = self.shared.names.view.facts(at.file);
        let symbol = facts.symbol(at.symbol);
        match symbol.kind {
            SymbolKind::Module => Set::one(Value::Module(at.file)),
            kind if kind.is_class() => Set::one(Value::Class(at)),
            SymbolKind::Namespace => Set::one(Value::Symbol(at)),
            SymbolKind::Function | SymbolKind::Method | SymbolKind::Constructor => Set::one(Value::Function(at)),
            SymbolKind::TypeAlias | SymbolKind::Signature => Set::unknown(),
            SymbolKind::EnumMember => match symbol.parent {
                Some(parent) => Set::one(Value::Instance(SymbolRef { symbol: parent, ..at }, no_args())),
                None => Set::unknown(),
            },
            SymbolKind::Property | SymbolKind::Field | SymbolKind::Variable | SymbolKind::Record => {
                self.variable_value(at)
            }
            SymbolKind::Class | SymbolKind::Interface | SymbolKind::Enum | SymbolKind::Annotation => Set::unknown(),
        }
    }

    fn variable_value(&mut self, at: SymbolRef) -> Set {
        let facts = self.shared.names.view.facts(at.file);
        let symbol = facts.symbol(at.symbol);
        let mut sets = Vec::new();
        if let Some(ty) = symbol.ty {
            let declared = self.type_value(ty, self.place_of_declared(at));
            if !declared.is_bare() {
                return declared;
            }
            sets.push(declared);
        }
        let table = self.shared.names.file(at.file);
        let mut rows: Vec<u32> = table.bindings_of(at.symbol).collect();
        if let Some(parent) = symbol.parent.filter(|_| symbol.kind != SymbolKind::Variable) {
            rows.extend(table.fields(parent, symbol.name));
        }
        rows.sort_unstable();
        rows.dedup();
        for row in &rows {
            let binding = &facts.bindings[*row as usize];
            if binding.value.is_some() || binding.ty.is_some() {
                sets.push(self.values(Query::Binding(at.file, *row)));
            }
        }
        let name = facts.name(symbol.name);
        if table.all_assigned(name).next().is_some() {
            sets.push(Set::one(Value::Symbol(at)));
        }
        if let (SymbolKind::Property, Some(_), true) = (symbol.kind, symbol.scope, sets.is_empty()) {
            sets.push(self.values(Query::Returns(at)));
        }
        if symbol.kind == SymbolKind::Variable && rows.is_empty() && symbol.flags.has(SymbolFlags::DEFAULT_EXPORT) {
            // `export default value` binds nothing.
            let exports = facts.exports.iter().filter(|export| export.symbol == Some(at.symbol));
            let given: Vec<_> = exports.filter_map(|export| Some((export.expr?, export.scope))).collect();
            for (expr, scope) in given {
                sets.push(self.eval(expr, Place { file: at.file, scope, line: u32::MAX }));
            }
        }
        if symbol.kind == SymbolKind::Variable {
            sets.extend(self.reassigned(at.file, symbol.declared_in, symbol.name, &Denoted::Symbol(at)));
        }
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }

    /// Where the declared type of a variable or field is read: Python's where it is written, by
    /// what is bound there by then.
    fn place_of_declared(&self, at: SymbolRef) -> Place {
        let facts = self.shared.names.view.facts(at.file);
        let mut rows = self.shared.names.file(at.file).bindings_of(at.symbol);
        match rows.find(|row| facts.bindings[*row as usize].ty.is_some()) {
            Some(row) if Family::of(facts.dialect) == Family::Python => {
                let binding = &facts.bindings[row as usize];
                Place { file: at.file, scope: binding.scope, line: binding.line }
            }
            _ => self.place_of(at),
        }
    }

    /// Solves `Binding`.
    pub fn solve_binding(&mut self, file: FileIdx, row: u32) -> Set {
        let facts = self.shared.names.view.facts(file);
        let binding = &facts.bindings[row as usize];
        let place = Place { file, scope: binding.scope, line: binding.line };
        if let Some(ty) = binding.ty {
            let declared = self.type_value(ty, place);
            if !declared.is_bare() {
                // A pattern's class is that of what is captured, not of what the steps start from.
                return if matches!(binding.origin, Origin::Except | Origin::Pattern) {
                    declared
                } else {
                    self.stepped(declared, binding, place)
                };
            }
        }
        let mut sets = Vec::new();
        if let Some(value) = binding.value {
            let set = self.eval(value, place);
            let set = self.by_origin(set, binding.origin, place);
            sets.push(self.stepped(set, binding, place));
        }
        if let Some(default) = binding.default {
            sets.push(self.eval(default, place));
        }
        if let (Some(name), false) = (binding.name, binding.origin == Origin::Reassign) {
            sets.extend(self.reassigned(file, binding.scope, name, &Denoted::Binding(file, row)));
        }
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }

    fn by_origin(&mut self, set: Set, origin: Origin, place: Place) -> Set {
        let family = Family::of(self.shared.names.view.dialect(place.file));
        match origin {
            Origin::For | Origin::Comprehension => self.elements(&set, place),
            Origin::AsyncFor => self.async_elements(&set, place),
            Origin::ForIn => Set::external(builtins::literal_class(family, LiteralKind::String), &[]),
            Origin::With | Origin::AsyncWith => self.entered(&set, origin == Origin::AsyncWith, place),
            Origin::Except | Origin::Pattern => {
                let classes = set.flat_map(|value| match value {
                    Value::ExternalInstance(name, args) if &**name == "tuple" => Set::union(args.iter().cloned()),
                    other => Set::one(other.clone()),
                });
                self.instances(&classes, &[])
            }
            Origin::Assign
            | Origin::Declare
            | Origin::Augmented
            | Origin::Walrus
            | Origin::Resource
            | Origin::Parameter
            | Origin::ObjectAssign
            | Origin::DefineProperty
            | Origin::Reassign => set,
            Origin::Global | Origin::Nonlocal | Origin::Delete => Set::unknown(),
        }
    }

    /// Walks the steps of unpacking.
    fn stepped(&mut self, mut set: Set, binding: &Binding, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let family = Family::of(facts.dialect);
        let steps: &[Step] = facts.steps_of(binding);
        for step in steps {
            set = match (step.kind, step.name) {
                (StepKind::Position, _) => set.flat_map(|value| self.part(value, step.detail as usize, place)),
                (StepKind::Key, Some(name)) => {
                    self.attribute(&set, self.shared.names.text(place.file, name), place.file)
                }
                (StepKind::Rest, _) => {
                    let element = set.flat_map(|value| builtins::element(family, value));
                    Set::external(builtins::list_class(family), &[element])
                }
                (StepKind::Computed, _) if family == Family::Python && step.detail > 0 => {
                    set.flat_map(|value| self.matched_part(value, step.detail as usize - 1))
                }
                (StepKind::Key, None) | (StepKind::Computed, _) => {
                    set.flat_map(|value| builtins::element_at(family, value))
                }
            };
        }
        set
    }
}
