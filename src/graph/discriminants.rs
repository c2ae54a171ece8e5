//! Discriminated unions and type guards: what a test of one member, or a function that says so,
//! leaves of what a value may be.

use crate::facts::model::{ExprKind, Narrowing, NarrowingKind, SymbolKind, TypeId, TypeKind};
use crate::graph::generics::SELF;
use crate::graph::members::Outcome;
use crate::graph::modules::Family;
use crate::graph::narrowing::same_chain;
use crate::graph::queries::{Denoted, Session};
use crate::graph::scope::{Place, Space};
use crate::graph::value::{Args, Set, Value};
use crate::view::{FileIdx, SymbolRef};

/// How deep aliases of literal types are followed.
const MAX_ALIASES: u32 = 8;

/// How deep types over types are taken apart.
const MAX_PARTS: u32 = 3;

/// One value of a type that has few.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    /// A literal, by the detail of its type.
    Literal(u32),
    /// A member of an enum.
    Member(SymbolRef),
}

impl Session<'_, '_> {
    /// What remains of `set` where `x.key` is one of the tested values, where it is none of them,
    /// or where `"key" in x` holds. All of it when nothing would remain: the test knows better.
    pub fn discriminated(&mut self, set: Set, narrowing: &Narrowing, file: FileIdx) -> Set {
        let Some(name) = narrowing.name else { return set };
        if set.open && set.values().is_empty() {
            return set;
        }
        let apart = set.flat_map(|value| self.told_apart(value, 0));
        let set = if apart.open && !set.open { set } else { apart };
        if set.values().len() < 2 {
            return set;
        }
        let text = self.shared.names.text(file, name);
        let place = Place { file, scope: narrowing.scope, line: u32::MAX };
        let wanted = match narrowing.ty {
            Some(ty) => match self.tags(ty, place, 0) {
                Some(tags) => Some(tags),
                None => return set,
            },
            None => None,
        };
        let mut gone = Vec::new();
        for value in set.values() {
            let leaves = match (&wanted, value) {
                (_, Value::Null) => narrowing.kind == NarrowingKind::Discriminant,
                (None, _) => self.member(value, text, file).outcome == Outcome::Missing,
                (Some(wanted), _) => {
                    let Some(own) = self.tags_of_member(value, text, file) else { continue };
                    match narrowing.kind {
                        NarrowingKind::Discriminant => !own.iter().any(|tag| wanted.contains(tag)),
                        _ => own.iter().all(|tag| wanted.contains(tag)),
                    }
                }
            };
            if leaves {
                gone.push(value.clone());
            }
        }
        if gone.is_empty() || gone.len() == set.values().len() {
            return set;
        }
        set.filter(|value| !gone.contains(value))
    }

    /// The parts of a value that a test can tell apart: what the bound of a type parameter allows, and
    /// types over a union (`{ [K in keyof T]: … }`), which are a union themselves.
    fn told_apart(&mut self, value: &Value, depth: u32) -> Set {
        let whole = Set::one(value.clone());
        if depth > MAX_PARTS || !self.step() {
            return whole;
        }
        match value {
            Value::TypeParam(owner, at) if *at != SELF => {
                let bound = self.bound_of(*owner, *at);
                if bound.open || bound.values().len() < 2 { whole } else { bound }
            }
            Value::Shape(file, ty, owner, args) => {
                for (at, arg) in args.iter().enumerate() {
                    let parts = arg.flat_map(|value| self.told_apart(value, depth + 1));
                    if parts.open || parts.values().len() < 2 {
                        continue;
                    }
                    let of_part = |part: &Value| {
                        let mut args = args.to_vec();
                        args[at] = Set::one(part.clone());
                        Set::one(Value::Shape(*file, *ty, *owner, Args::from(args)))
                    };
                    return Set::union(parts.values().iter().map(of_part));
                }
                whole
            }
            _ => whole,
        }
    }

    /// The values that the declared type of a member allows; `None` when they are not few and known.
    fn tags_of_member(&mut self, value: &Value, text: crate::graph::names::Text, file: FileIdx) -> Option<Vec<Tag>> {
        let member = self.member(value, text, file);
        let mut tags = Vec::new();
        for denoted in &member.denoted {
            let Denoted::Symbol(at) = denoted else { return None };
            let symbol = self.shared.names.view.symbol(*at);
            if !matches!(symbol.kind, SymbolKind::Field | SymbolKind::Property) {
                return None;
            }
            tags.extend(self.tags(symbol.ty?, self.place_of(*at), 0)?);
        }
        (!tags.is_empty()).then_some(tags)
    }

    fn tags(&mut self, ty: TypeId, place: Place, depth: u32) -> Option<Vec<Tag>> {
        if depth > MAX_ALIASES || !self.step() {
            return None;
        }
        let facts = self.shared.names.view.facts(place.file);
        let row = facts.type_row(ty);
        match row.kind {
            // Without a tag it is a type of one value all the same: null and undefined.
            TypeKind::Literal => Some(vec![Tag::Literal(row.detail)]),
            TypeKind::Union => {
                let mut tags = Vec::new();
                for operand in facts.operands_of_type(ty) {
                    tags.extend(self.tags(operand.ty, place, depth + 1)?);
                }
                Some(tags)
            }
            TypeKind::Wrapped => self.tags(facts.operands_of_type(ty).first()?.ty, place, depth + 1),
            TypeKind::Named => {
                let denoted = self.type_denoted(ty, place);
                let [Denoted::Symbol(at)] = &*denoted else { return None };
                self.tags_of_symbol(*at, depth)
            }
            TypeKind::Typeof => {
                let targets = self.resolve(row.expr?, place, Space::Value);
                let [at] = targets.symbols.as_slice() else { return None };
                self.tags_of_symbol(*at, depth)
            }
            _ => None,
        }
    }

    fn tags_of_symbol(&mut self, at: SymbolRef, depth: u32) -> Option<Vec<Tag>> {
        let symbol = self.shared.names.view.symbol(at);
        match symbol.kind {
            SymbolKind::EnumMember => Some(vec![Tag::Member(at)]),
            SymbolKind::Enum => {
                let children = self.shared.names.file(at.file).children(at.symbol);
                Some(children.map(|symbol| Tag::Member(SymbolRef { symbol, ..at })).collect())
            }
            SymbolKind::TypeAlias | SymbolKind::Variable => self.tags(symbol.ty?, self.place_of(at), depth + 1),
            _ => None,
        }
    }

    /// What a type guard tests for, by the declared result of the called function; bare when it
    /// is no guard of what is narrowed.
    pub fn guarded(&mut self, narrowing: &Narrowing, file: FileIdx) -> Set {
        let facts = self.shared.names.view.facts(file);
        let callee = narrowing.ty.and_then(|ty| facts.type_row(ty).expr);
        let Some(callee) = callee else { return Set::unknown() };
        let of_receiver = facts.expr(callee).kind == ExprKind::Attr
            && facts.operand(callee, 0).is_some_and(|base| same_chain(facts, base, narrowing.chain));
        // After everything, so that this narrowing is not asked for its own callee.
        let place = Place { file, scope: narrowing.scope, line: u32::MAX };
        let callees = self.eval(callee, place);
        let mut sets = Vec::new();
        for value in callees.values() {
            let (Value::Function(at) | Value::Bound(at, _)) = value else { return Set::unknown() };
            let is_negative = narrowing.kind == NarrowingKind::NotGuard;
            sets.push(self.tested_by(*at, of_receiver, is_negative));
        }
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }

    /// `T` of a function that is declared to give `p is T` for its first parameter, or `this is T`.
    fn tested_by(&mut self, function: SymbolRef, of_receiver: bool, is_negative: bool) -> Set {
        for at in self.signatures_of(function) {
            let facts = self.shared.names.view.facts(at.file);
            let symbol = facts.symbol(at.symbol);
            let (Some(ty), Some(scope)) = (symbol.ty, symbol.scope) else { continue };
            let row = facts.type_row(ty);
            let (TypeKind::Predicate, 0, Some(tested)) = (row.kind, row.detail, facts.operands_of_type(ty).first())
            else {
                continue;
            };
            let first = facts.params_of(scope).first().and_then(|param| param.name);
            let is_tested = match Family::of(facts.dialect) {
                // A `TypeGuard` that fails says nothing.
                Family::Python => !is_negative || facts.text(row.name) == "TypeIs",
                _ if of_receiver => facts.text(row.name) == "this",
                _ => row.name == first,
            };
            if is_tested {
                return self.type_value(tested.ty, self.place_of(at));
            }
        }
        Set::unknown()
    }
}
