//! Parameters as values: declared types, receivers, fixtures, contexts, defaults.

use crate::facts::model::{ParamKind, ScopeKind};
use crate::graph::generics::SELF;
use crate::graph::modules::Family;
use crate::graph::queries::{Denoted, Query, Session};
use crate::graph::value::{Set, Value};
use crate::view::{FileIdx, SymbolRef};

impl Session<'_, '_> {
    /// Solves `Param`.
    pub fn solve_param(&mut self, file: FileIdx, row: u32) -> Set {
        let facts = self.shared.names.view.facts(file);
        let family = Family::of(facts.dialect);
        let param = &facts.params[row as usize];
        let place = self.header_place(file, param.scope, param.line);
        let scope = facts.scope(param.scope);
        let start = facts.params.partition_point(|p| p.scope < param.scope);
        let position = row as usize - start;
        let owner = SymbolRef { file, symbol: scope.owner };
        let in_class = scope.kind == ScopeKind::Function
            && scope.parent.is_some_and(|parent| facts.scope(parent).kind == ScopeKind::Class);
        let mut sets = Vec::new();
        if let Some(ty) = param.ty {
            let declared = match family {
                Family::Ecma => self.values(Query::Declared(file, row)),
                Family::Python | Family::Java => self.type_value(ty, place),
            };
            if !declared.is_unknown() {
                return rest_of(family, param.kind, declared);
            }
        } else if family == Family::Python
            && in_class
            && position == 0
            && let Some(set) = self.receiver_param(owner)
        {
            return set;
        }
        if family == Family::Python
            && let Some(fixture) = self.fixture_value(owner, param.name)
        {
            return fixture;
        }
        if param.ty.is_none() {
            let contextual = self.contextual_param(file, param.scope, position);
            if !contextual.is_unknown() {
                return rest_of(family, param.kind, contextual);
            }
        }
        if let Some(default) = param.default {
            let set = self.eval(default, place);
            // A default of `None` says nothing of what callers give.
            sets.push(if set.is_bare() { Set::unknown() } else { set.or_unknown() });
        }
        if let (Some(name), None) = (param.name, param.ty) {
            let later = self.reassigned(file, param.scope, name, &Denoted::Param(file, row));
            sets.extend(later.into_iter().map(Set::or_unknown));
        }
        let set = if sets.is_empty() { Set::unknown() } else { Set::union(sets) };
        rest_of(family, param.kind, set)
    }

    /// Python's first parameter of a method: the instance or the class.
    fn receiver_param(&mut self, method: SymbolRef) -> Option<Set> {
        let view = self.shared.names.view;
        let symbol = view.symbol(method);
        let class = SymbolRef { file: method.file, symbol: symbol.parent? };
        if self.has_decorator(method, &["staticmethod"]) {
            return None;
        }
        let name = view.facts(method.file).name(symbol.name);
        let of_class = self.has_decorator(method, &["classmethod"])
            || matches!(name, "__new__" | "__init_subclass__" | "__class_getitem__");
        let instance = Value::TypeParam(class, SELF);
        Some(if of_class { crate::graph::builtins::class_of(&instance) } else { Set::one(instance) })
    }
}

/// What a rest parameter of elements `set` is.
fn rest_of(family: Family, kind: ParamKind, set: Set) -> Set {
    match (kind, family) {
        (ParamKind::KeywordRest, _) => Set::external("dict", &[Set::external("str", &[]), set]),
        // ECMAScript and Java declare the array itself.
        (ParamKind::Rest, Family::Python) => Set::external("list", &[set]),
        _ => set,
    }
}
