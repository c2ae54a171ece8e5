//! Narrowing: what tests say of a chain where it stands, until something assigns it anew.

use crate::facts::model::{ExprId, ExprKind, FileFacts, Narrowing, NarrowingKind, Origin};
use crate::graph::modules::Family;
use crate::graph::names::{Decl, chain_text, root_name};
use crate::graph::queries::{Base, Query, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Set, Value};

impl Session<'_, '_> {
    /// Applies what tests say of a chain at a line.
    pub fn narrow(&mut self, expr: ExprId, place: Place, set: Set) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        // A test changes no static type in Java; its pattern variables are bindings.
        if place.line == u32::MAX || facts.narrowings.is_empty() || Family::of(facts.dialect) == Family::Java {
            return set;
        }
        let mut narrowed = set;
        let Some(root) = root_name(facts, expr) else { return narrowed };
        for row in self.shared.names.code(place.file).narrowings(root) {
            let narrowing = &facts.narrowings[row as usize];
            if narrowing.start_line > place.line || narrowing.end_line < place.line {
                continue;
            }
            if !same_chain(facts, narrowing.chain, expr) || self.is_rebound(narrowing, place) {
                continue;
            }
            match narrowing.kind {
                NarrowingKind::NotNull => narrowed = narrowed.non_null(),
                NarrowingKind::Instance | NarrowingKind::NotInstance => {
                    let Some(ty) = narrowing.ty else { continue };
                    let tested = self.type_value(ty, Place { scope: narrowing.scope, ..place });
                    if tested.is_bare() {
                        continue;
                    }
                    narrowed = match narrowing.kind {
                        NarrowingKind::Instance => self.narrowed_to(&narrowed, &tested),
                        _ => self.narrowed_from(&narrowed, &tested),
                    };
                }
                NarrowingKind::Discriminant | NarrowingKind::NotDiscriminant => {
                    narrowed = self.discriminated(narrowed, narrowing, place.file);
                }
                NarrowingKind::Guard | NarrowingKind::NotGuard => {
                    let tested = self.guarded(narrowing, place.file);
                    if tested.is_bare() {
                        continue;
                    }
                    narrowed = match narrowing.kind {
                        NarrowingKind::Guard => self.narrowed_to(&narrowed, &tested),
                        _ => self.narrowed_from(&narrowed, &tested),
                    };
                }
                NarrowingKind::Null | NarrowingKind::Typeof | NarrowingKind::NotTypeof => {}
            }
        }
        narrowed
    }

    /// Whether a name or the chain itself is assigned between the start of a narrowing and the
    /// place: the test was of another value.
    fn is_rebound(&self, narrowing: &Narrowing, place: Place) -> bool {
        let facts = self.shared.names.view.facts(place.file);
        let table = self.shared.names.file(place.file);
        let assigns = |row: u32| {
            let binding = &facts.bindings[row as usize];
            (narrowing.start_line..place.line).contains(&binding.line)
                && !matches!(binding.origin, Origin::Declare | Origin::Global | Origin::Nonlocal)
        };
        let scope = self.function_scope(place.file, narrowing.scope);
        let own_function = |row: &u32| self.function_scope(place.file, facts.bindings[*row as usize].scope) == scope;
        if let Some(Some(root)) = root_name(facts, narrowing.chain) {
            let mut decls = table.decls(scope, root);
            let by_name = decls.any(|decl| matches!(decl, Decl::Binding(row) if assigns(row)));
            if by_name || self.shared.names.code(place.file).reassigned(root).filter(own_function).any(assigns) {
                return true;
            }
        }
        let row = facts.expr(narrowing.chain);
        let (ExprKind::Attr, Some(name), Some(base)) = (row.kind, row.name, facts.operand(narrowing.chain, 0)) else {
            return false;
        };
        let class = self.class_around(place.file, scope);
        let on_self = class.into_iter().flat_map(|class| table.fields(class.symbol, name));
        if on_self.filter(own_function).any(assigns) {
            return true;
        }
        chain_text(facts, base).is_some_and(|base| table.assigned(&base, name).filter(own_function).any(assigns))
    }

    /// What remains where a test for instances of `tested` holds: values that are such already,
    /// else what was tested for.
    fn narrowed_to(&mut self, set: &Set, tested: &Set) -> Set {
        if set.open {
            return tested.clone();
        }
        let kept: Vec<Set> = set
            .values()
            .iter()
            .filter(|value| self.is_instance_of(value, tested))
            .map(|value| Set::one(value.clone()))
            .collect();
        if kept.is_empty() { tested.clone() } else { Set::union(kept) }
    }

    /// What remains where a test for instances of `tested` fails.
    fn narrowed_from(&mut self, set: &Set, tested: &Set) -> Set {
        let gone: Vec<Value> =
            set.values().iter().filter(|value| self.is_instance_of(value, tested)).cloned().collect();
        set.filter(|value| !gone.contains(value))
    }

    /// Whether a value is known to be an instance of one of the tested classes.
    fn is_instance_of(&mut self, value: &Value, tested: &Set) -> bool {
        match value {
            Value::Shape(..) => tested.values().contains(value),
            Value::Instance(class, _) => {
                let mro = self.bases(Query::Mro(*class));
                tested.values().iter().any(|test| match test {
                    Value::Instance(wanted, _) => {
                        mro.iter().any(|base| matches!(base, Base::Class(at, _) if at == wanted))
                    }
                    Value::ExternalInstance(wanted, _) => {
                        mro.iter().any(|base| matches!(base, Base::External(name, _) if name == wanted))
                    }
                    _ => false,
                })
            }
            Value::TypeParam(owner, at) => {
                let bound = self.bound_of(*owner, *at);
                let is_class = |value: &Value| matches!(value, Value::Instance(..));
                !bound.open
                    && !bound.values().is_empty()
                    && bound.values().iter().all(|value| is_class(value) && self.is_instance_of(value, tested))
            }
            // Names of containers stand for families of classes; those of scalars are exact.
            Value::ExternalInstance(name, _) => {
                matches!(&**name, "str" | "bytes" | "int" | "float" | "bool") && tested.values().contains(value)
            }
            _ => false,
        }
    }
}

/// Whether two expressions are the same chain of names.
pub fn same_chain(facts: &FileFacts, one: ExprId, other: ExprId) -> bool {
    let (mut one, mut other) = (one, other);
    loop {
        let (a, b) = (facts.expr(one), facts.expr(other));
        if a.kind != b.kind || a.name != b.name {
            return false;
        }
        match (a.kind, facts.operand(one, 0), facts.operand(other, 0)) {
            (ExprKind::Name | ExprKind::This, ..) => return true,
            (ExprKind::Attr, Some(x), Some(y)) => (one, other) = (x, y),
            _ => return false,
        }
    }
}
