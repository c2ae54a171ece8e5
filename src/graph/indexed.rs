//! Types by what type parameters stand for: `T["def"]` and `Map[K]` are known only once `T` and
//! `K` are, so that they are read with the arguments at hand.

use crate::facts::model::{TypeId, TypeKind};
use crate::graph::builtins;
use crate::graph::generics::{Env, substitute, type_params_of};
use crate::graph::modules::Family;
use crate::graph::names::Text;
use crate::graph::queries::{Query, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Args, Name, Set, Value, no_args};
use crate::view::SymbolRef;

/// What the name of the type of one key starts with; no type of a language does.
const KEY: char = '\'';

/// The type of one known key.
pub fn key_type(key: &str) -> Set {
    let name = Name::from(format!("{KEY}{key}"));
    Set::one(Value::ExternalInstance(name, no_args()))
}

fn key_of(value: &Value) -> Option<&str> {
    let Value::ExternalInstance(name, _) = value else { return None };
    name.strip_prefix(KEY)
}

impl Session<'_, '_> {
    /// What an annotation allows where its type parameters stand for what `env` says.
    pub fn type_value_in(&mut self, ty: TypeId, place: Place, env: &Env) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let row = facts.type_row(ty);
        let operands = facts.operands_of_type(ty);
        match row.kind {
            _ if env.is_empty() => self.type_value(ty, place),
            TypeKind::IndexedAccess => {
                let Some(object) = operands.first() else { return Set::unknown() };
                let object = self.type_value_in(object.ty, place, env);
                let keys = operands.get(1).map(|key| (facts.type_row(key.ty).kind, key.ty));
                match (row.name, keys) {
                    (Some(name), _) => self.attribute(&object, self.shared.names.text(place.file, name), place.file),
                    (None, Some((TypeKind::Named, key))) => {
                        let keys = self.type_value_in(key, place, env);
                        let known: Vec<Text> = keys
                            .values()
                            .iter()
                            .filter_map(key_of)
                            .filter_map(|key| self.shared.names.find(key))
                            .collect();
                        if known.is_empty() {
                            return substitute(&self.type_value(ty, place), env);
                        }
                        let parts: Vec<Set> =
                            known.into_iter().map(|key| self.attribute(&object, key, place.file)).collect();
                        Set::union(parts)
                    }
                    _ => substitute(&self.type_value(ty, place), env),
                }
            }
            TypeKind::Union | TypeKind::Intersection => {
                let parts: Vec<Set> = operands.iter().map(|o| self.type_value_in(o.ty, place, env)).collect();
                Set::union(parts)
            }
            TypeKind::Array => {
                let element = operands.first().map(|o| self.type_value_in(o.ty, place, env)).unwrap_or_default();
                Set::external(builtins::list_class(Family::of(facts.dialect)), &[element])
            }
            _ => substitute(&self.type_value(ty, place), env),
        }
    }

    /// What a mapped type gives for a key: its value where the type parameter of its keys is that key.
    pub fn mapped_value(&mut self, owner: SymbolRef, value: TypeId, keys: TypeId, key: Text, env: &Env) -> Set {
        let facts = self.shared.names.view.facts(owner.file);
        let params = type_params_of(facts, owner.symbol);
        let mut inner = Env::default();
        if let Some(at) = params.iter().position(|param| param.bound == Some(keys)) {
            inner.add((owner, at as u32), key_type(self.shared.names.str(key)));
        }
        let inner = inner.merge_missing(env.clone());
        self.type_value_in(value, self.place_of(owner), &inner)
    }

    /// Adds what the type parameters of a function that nothing fills are by default.
    pub fn add_defaults(&mut self, function: SymbolRef, env: &mut Env) {
        let facts = self.shared.names.view.facts(function.file);
        if Family::of(facts.dialect) != Family::Ecma {
            return;
        }
        for at in 0..type_params_of(facts, function.symbol).len() {
            let key = (function, at as u32);
            if !env.has(key)
                && let Some(set) = self.default_type(function, at, env)
            {
                env.add(key, set);
            }
        }
    }

    /// What a type parameter is by default where others stand for what `env` says; `None` where
    /// it has no default.
    pub fn default_type(&mut self, owner: SymbolRef, position: usize, env: &Env) -> Option<Set> {
        let facts = self.shared.names.view.facts(owner.file);
        let default = type_params_of(facts, owner.symbol).get(position)?.default?;
        let set = match facts.type_row(default).kind {
            TypeKind::IndexedAccess | TypeKind::Union | TypeKind::Intersection | TypeKind::Array => {
                self.type_value_in(default, self.place_of(owner), env)
            }
            _ => {
                let defaults = self.types(Query::Types(owner));
                substitute(defaults.get(position)?, env)
            }
        };
        Some(set)
    }

    /// What the type parameters of an ECMAScript function or type are by default, each by itself.
    pub fn default_types(&mut self, owner: SymbolRef) -> Args {
        let place = self.place_of(owner);
        let params = type_params_of(self.shared.names.view.facts(owner.file), owner.symbol);
        params.iter().map(|param| param.default.map_or_else(Set::unknown, |ty| self.type_value(ty, place))).collect()
    }
}
