//! Python's expressions read as types: `Names = list[Name]`, `Key = str | Name`.

use crate::facts::model::{ExprId, ExprKind, LiteralKind, Role, SeqKind};
use crate::facts::table::Cell;
use crate::graph::builtins;
use crate::graph::generics::{Env, ParamKey, substitute};
use crate::graph::modules::Family;
use crate::graph::queries::{Denoted, Query, Session};
use crate::graph::scope::{Place, Space};
use crate::graph::value::{Set, Value};
use crate::view::SymbolRef;

impl Session<'_, '_> {
    /// The type that a variable with one assignment stands for, with its arguments; `None` when
    /// what it is given is not written as a type.
    pub fn assigned_type(&mut self, variable: SymbolRef, args: &[Set]) -> Option<Set> {
        self.written_alias(variable)?;
        let set = self.values(Query::Alias(variable));
        // Of one type variable it is clear what an argument stands for.
        let mut keys = Vec::new();
        params_in(&set, &mut keys);
        if let ([key], Some(arg)) = (&keys[..], args.first()) {
            let mut env = Env::default();
            env.add(*key, arg.clone());
            return Some(substitute(&set, &env));
        }
        Some(set)
    }

    /// As [`Session::assigned_type`], for the query.
    pub fn solve_assigned_type(&mut self, variable: SymbolRef) -> Set {
        match self.written_alias(variable) {
            Some((value, place)) => self.written_type(value, place),
            None => Set::unknown(),
        }
    }

    /// The one expression that a variable is given, where it has the form of a type.
    fn written_alias(&self, variable: SymbolRef) -> Option<(ExprId, Place)> {
        let facts = self.shared.names.view.facts(variable.file);
        if Family::of(facts.dialect) != Family::Python {
            return None;
        }
        let mut rows = self.shared.names.file(variable.file).bindings_of(variable.symbol);
        let (row, None) = (rows.next()?, rows.next()) else { return None };
        let binding = &facts.bindings[row as usize];
        let value = binding.value.filter(|_| binding.n_steps == 0)?;
        let row = facts.expr(value);
        let is_type = match row.kind {
            ExprKind::TypeValue | ExprKind::Index => true,
            ExprKind::Operator => facts.text(row.name) == "|",
            _ => false,
        };
        is_type.then_some((value, Place { file: variable.file, scope: binding.scope, line: u32::MAX }))
    }

    /// What an expression means where a type is wanted.
    fn written_type(&mut self, expr: ExprId, place: Place) -> Set {
        if !self.step() {
            return Set::unknown();
        }
        let facts = self.shared.names.view.facts(place.file);
        let row = facts.expr(expr);
        match (row.kind, facts.operand(expr, 0)) {
            (ExprKind::TypeValue, _) => row.ty.map_or_else(Set::unknown, |ty| self.type_value(ty, place)),
            (ExprKind::Name | ExprKind::Attr, _) => self.named_by(expr, &[], place),
            (ExprKind::Index, Some(base)) => {
                let keys: Vec<ExprId> = match facts.operand(expr, 1) {
                    Some(key) if facts.expr(key).kind == ExprKind::Seq => {
                        let is_tuple = SeqKind::from_cell(u64::from(facts.expr(key).detail)) == Some(SeqKind::Tuple);
                        match is_tuple {
                            true => facts.operands_of(key).iter().map(|o| o.expr).collect(),
                            false => vec![key],
                        }
                    }
                    key => key.into_iter().collect(),
                };
                let args: Vec<Set> = keys.into_iter().map(|key| self.written_type(key, place)).collect();
                self.named_by(base, &args, place)
            }
            (ExprKind::Operator, _) if facts.text(row.name) == "|" => {
                let operands = facts.operands_of(expr).iter().filter(|o| o.role == Role::Value);
                let sets: Vec<Set> = operands.map(|o| self.written_type(o.expr, place)).collect();
                Set::union(sets)
            }
            (ExprKind::Literal, _) if LiteralKind::from_cell(u64::from(row.detail)) == Some(LiteralKind::Null) => {
                Set::one(Value::Null)
            }
            _ => Set::unknown(),
        }
    }

    /// The type that a chain of names and its arguments denote.
    fn named_by(&mut self, expr: ExprId, args: &[Set], place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let row = facts.expr(expr);
        if let (ExprKind::Name, Some(name)) = (row.kind, row.name)
            && self.name_meaning(place, name, Space::Type).denoted.is_empty()
        {
            return builtins::named_type(Family::Python, facts.name(name), args).unwrap_or_else(Set::unknown);
        }
        let sets: Vec<Set> = self
            .denoted_type(expr, place)
            .iter()
            .map(|denoted| match denoted {
                Denoted::Symbol(at) => self.symbol_type(*at, args),
                Denoted::External(path) => {
                    builtins::named_type(Family::Python, path, args).unwrap_or_else(|| Set::external(path, args))
                }
                _ => Set::unknown(),
            })
            .collect();
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }
}

/// The type parameters that values mention.
fn params_in(set: &Set, keys: &mut Vec<ParamKey>) {
    for value in set.values() {
        match value {
            Value::TypeParam(owner, at) if !keys.contains(&(*owner, *at)) => keys.push((*owner, *at)),
            Value::Instance(_, args) | Value::ExternalInstance(_, args) => {
                args.iter().for_each(|arg| params_in(arg, keys));
            }
            _ => {}
        }
    }
}
