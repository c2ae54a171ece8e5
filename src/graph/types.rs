//! Types as values: what an annotation says an expression may be, type parameters and how
//! arguments fill them.

use std::sync::Arc;

use crate::facts::model::{
    ExprId, ExprKind, FileFacts, HeritageKind, LiteralKind, NameId, ScopeKind, SymbolId, SymbolKind, TypeId, TypeKind,
    TypeParam, TypeRole,
};
use crate::facts::table::Cell;
use crate::graph::builtins;
use crate::graph::modules::Family;
use crate::graph::queries::{Base, Denoted, Query, Session};
use crate::graph::scope::{Place, Space};
use crate::graph::value::{Set, Value, no_args};
use crate::view::{FileIdx, SymbolRef};

/// The position that stands for the receiver's own type (`Self`, `this`, the `self` parameter).
pub const SELF: u32 = u32::MAX;
/// A type parameter: its owner and position.
pub type ParamKey = (SymbolRef, u32);
/// What type parameters stand for, sorted by key.
#[derive(Clone, Debug, Default)]
pub struct Env(Vec<(ParamKey, Set)>);

impl Env {
    /// Adds a possible meaning of a parameter.
    pub fn add(&mut self, key: ParamKey, set: Set) {
        match self.0.binary_search_by_key(&key, |row| row.0) {
            Ok(at) => self.0[at].1 = Set::union([self.0[at].1.clone(), set]),
            Err(at) => self.0.insert(at, (key, set)),
        }
    }

    fn get(&self, key: ParamKey) -> Option<&Set> {
        self.0.binary_search_by_key(&key, |row| row.0).ok().map(|at| &self.0[at].1)
    }

    /// Adds what another knows of parameters that this one does not.
    pub fn merge_missing(mut self, other: Env) -> Env {
        for (key, set) in other.0 {
            if self.get(key).is_none() {
                self.add(key, set);
            }
        }
        self
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Replaces type parameters by what they stand for.
pub fn substitute(set: &Set, env: &Env) -> Set {
    if env.is_empty() || set.values().iter().all(|v| !mentions_param(v)) {
        return set.clone();
    }
    set.flat_map(|value| match value {
        Value::TypeParam(owner, at) => match env.get((*owner, *at)) {
            Some(set) => set.clone(),
            None => Set::one(value.clone()),
        },
        Value::Instance(class, args) => Set::one(Value::Instance(*class, substitute_all(args, env))),
        Value::ExternalInstance(name, args) => {
            Set::one(Value::ExternalInstance(name.clone(), substitute_all(args, env)))
        }
        Value::Bound(function, receiver) => {
            let receiver = substitute(&Set::one((**receiver).clone()), env);
            receiver.flat_map(|receiver| Set::one(Value::Bound(*function, Arc::new(receiver.clone()))))
        }
        other => Set::one(other.clone()),
    })
}

/// Replaces type parameters in each of several sets.
pub fn substitute_all(args: &[Set], env: &Env) -> Arc<[Set]> {
    args.iter().map(|arg| substitute(arg, env)).collect()
}

fn mentions_param(value: &Value) -> bool {
    match value {
        Value::TypeParam(..) => true,
        Value::Instance(_, args) | Value::ExternalInstance(_, args) => {
            args.iter().any(|arg| arg.values().iter().any(mentions_param))
        }
        Value::Bound(_, receiver) => mentions_param(receiver),
        _ => false,
    }
}

impl Session<'_, '_> {
    /// What an annotation allows.
    pub fn type_value(&mut self, ty: TypeId, place: Place) -> Set {
        if !self.step() {
            return Set::unknown();
        }
        let facts = self.shared.names.view.facts(place.file);
        let family = Family::of(facts.dialect);
        let row = facts.type_row(ty);
        let operands = facts.operands_of_type(ty);
        match row.kind {
            TypeKind::Named => self.named_type(ty, place),
            TypeKind::Union | TypeKind::Intersection => {
                let sets: Vec<Set> = operands.iter().map(|o| self.type_value(o.ty, place)).collect();
                Set::union(sets)
            }
            TypeKind::Array => {
                let element = operands.first().map_or_else(Set::unknown, |o| self.type_value(o.ty, place));
                Set::external(builtins::list_class(family), &[element])
            }
            TypeKind::Tuple => {
                let elements: Vec<Set> = operands.iter().map(|o| self.type_value(o.ty, place)).collect();
                Set::external("tuple", &elements)
            }
            TypeKind::Func | TypeKind::Object => Set::one(Value::Shape(place.file, ty, facts.scope(place.scope).owner)),
            TypeKind::Typeof => row.expr.map_or_else(Set::unknown, |expr| self.eval(expr, place)),
            TypeKind::Keyof => Set::external(builtins::literal_class(family, LiteralKind::String), &[]),
            TypeKind::IndexedAccess => {
                let object = operands.first().map_or_else(Set::unknown, |o| self.type_value(o.ty, place));
                match row.name {
                    Some(name) => self.attribute(&object, self.shared.names.text(place.file, name), place.file),
                    None => object.flat_map(|value| builtins::element(family, value)),
                }
            }
            TypeKind::Conditional => {
                let sets: Vec<Set> = operands.iter().skip(2).map(|o| self.type_value(o.ty, place)).collect();
                Set::union(sets)
            }
            TypeKind::Literal => literal(family, row.detail),
            TypeKind::Wildcard | TypeKind::Wrapped => {
                let inner = operands.first().map_or_else(Set::unknown, |o| self.type_value(o.ty, place));
                if row.kind == TypeKind::Wrapped && row.detail == 1 {
                    return Set::union([inner, Set::one(Value::Null)]);
                }
                inner
            }
            TypeKind::Predicate => Set::external(builtins::literal_class(family, LiteralKind::Bool), &[]),
            TypeKind::Import => self.import_type(ty, place),
            TypeKind::Mapped | TypeKind::Opaque => Set::unknown(),
            TypeKind::This => match self.class_around(place.file, place.scope) {
                Some(class) => Set::one(Value::TypeParam(class, SELF)),
                None => Set::unknown(),
            },
        }
    }

    /// What the name of a type denotes.
    pub fn type_denoted(&mut self, ty: TypeId, place: Place) -> Vec<Denoted> {
        let facts = self.shared.names.view.facts(place.file);
        facts.type_row(ty).expr.map_or_else(Vec::new, |expr| self.denoted_type(expr, place))
    }

    /// What an expression denotes where a type is wanted.
    pub fn denoted_type(&mut self, expr: ExprId, place: Place) -> Vec<Denoted> {
        let facts = self.shared.names.view.facts(place.file);
        let row = facts.expr(expr);
        match (row.kind, row.name) {
            (ExprKind::Name, Some(name)) => self.name_meaning(place, name, Space::Type).denoted,
            (ExprKind::Attr, Some(name)) => {
                let Some(base) = facts.operand(expr, 0) else { return Vec::new() };
                let text = self.shared.names.text(place.file, name);
                let mut found = Vec::new();
                for denoted in self.denoted_type(base, place) {
                    found.extend(self.member_of_denoted(&denoted, text, place));
                }
                found.sort();
                found.dedup();
                self.in_space(&mut found, Space::Type);
                found
            }
            _ => self.denoted_by(expr, place),
        }
    }

    fn import_type(&mut self, ty: TypeId, place: Place) -> Set {
        use crate::graph::modules::Target;
        let facts = self.shared.names.view.facts(place.file);
        let row = facts.type_row(ty);
        let Target::File(file) = self.module_named(place.file, row.name) else { return Set::unknown() };
        match row.expr.map(|expr| facts.expr(expr).name) {
            Some(Some(name)) => {
                let text = self.shared.names.text(place.file, name);
                let denoted = self.denoted(Query::Export(file, text)).to_vec();
                self.denoted_types(&denoted, ty, place)
            }
            _ => Set::one(Value::Module(file)),
        }
    }

    fn named_type(&mut self, ty: TypeId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let family = Family::of(facts.dialect);
        let denoted = self.type_denoted(ty, place);
        if denoted.is_empty() {
            let Some(expr) = facts.type_row(ty).expr else { return Set::unknown() };
            let name = facts.text(facts.expr(expr).name);
            let args = self.type_args(ty, place);
            return builtins::named_type(family, name, &args).unwrap_or_else(Set::unknown);
        }
        self.denoted_types(&denoted, ty, place)
    }

    fn type_args(&mut self, ty: TypeId, place: Place) -> Vec<Set> {
        let facts = self.shared.names.view.facts(place.file);
        let operands = facts.operands_of_type(ty);
        operands.iter().filter(|o| o.role == TypeRole::Argument).map(|o| self.type_value(o.ty, place)).collect()
    }

    fn denoted_types(&mut self, denoted: &[Denoted], ty: TypeId, place: Place) -> Set {
        let family = Family::of(self.shared.names.view.facts(place.file).dialect);
        let args = self.type_args(ty, place);
        let mut sets = Vec::new();
        for denoted in denoted {
            sets.push(match denoted {
                Denoted::Symbol(at) => self.symbol_type(*at, &args),
                Denoted::TypeParam(owner, at) => Set::one(Value::TypeParam(*owner, *at)),
                Denoted::External(path) => {
                    builtins::named_type(family, path, &args).unwrap_or_else(|| Set::external(path, &args))
                }
                Denoted::Binding(file, row) => {
                    let values = self.values(Query::Binding(*file, *row));
                    self.instances(&values, &args)
                }
                Denoted::Module(_) | Denoted::Namespace(_) | Denoted::Export(..) | Denoted::Param(..) => Set::unknown(),
            });
        }
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }

    /// The values of a type that a symbol names.
    pub fn symbol_type(&mut self, at: SymbolRef, args: &[Set]) -> Set {
        let symbol = self.shared.names.view.symbol(at);
        match symbol.kind {
            kind if kind.is_class() => Set::one(Value::Instance(at, Arc::from(args))),
            SymbolKind::TypeAlias => {
                let aliased = self.values(Query::Alias(at));
                let mut env = Env::default();
                for (position, arg) in args.iter().enumerate() {
                    env.add((at, position as u32), arg.clone());
                }
                substitute(&aliased, &env)
            }
            SymbolKind::EnumMember => match symbol.parent {
                Some(parent) => Set::one(Value::Instance(SymbolRef { symbol: parent, ..at }, no_args())),
                None => Set::unknown(),
            },
            SymbolKind::Variable | SymbolKind::Field => {
                let values = self.values(Query::Symbol(at));
                let made = values.values().iter().any(|v| matches!(v, Value::ExternalInstance(name, _) | Value::External(name) if builtins::makes_type_param(name)));
                if made {
                    return Set::one(Value::TypeParam(at, 0));
                }
                self.instances(&values, args)
            }
            _ => Set::unknown(),
        }
    }

    /// Classes become their instances.
    pub fn instances(&mut self, classes: &Set, args: &[Set]) -> Set {
        classes.flat_map(|value| match value {
            Value::Class(class) => Set::one(Value::Instance(*class, Arc::from(args))),
            Value::External(path) => {
                builtins::named_type(Family::Python, path, args).unwrap_or_else(|| Set::external(path, args))
            }
            Value::Instance(..) | Value::ExternalInstance(..) | Value::Null => Set::one(value.clone()),
            _ => Set::unknown(),
        })
    }

    /// Solves `Alias`.
    pub fn solve_alias(&mut self, at: SymbolRef) -> Set {
        let symbol = self.shared.names.view.symbol(at);
        match symbol.ty {
            Some(ty) => self.type_value(ty, self.place_of(at)),
            None => Set::unknown(),
        }
    }

    /// Where the types of a symbol's declaration are read: in its own scope.
    pub fn place_of(&self, at: SymbolRef) -> Place {
        let symbol = self.shared.names.view.symbol(at);
        Place { file: at.file, scope: symbol.scope.unwrap_or(symbol.declared_in), line: u32::MAX }
    }

    /// The type parameters of a class, in order of its type arguments. Python: those of
    /// `Generic[…]` or `Protocol[…]`, else those of the bases as they come.
    pub fn class_params(&mut self, class: SymbolRef) -> Vec<ParamKey> {
        let facts = self.shared.names.view.facts(class.file);
        let n_declared = type_params_of(facts, class.symbol).len();
        if n_declared > 0 {
            return (0..n_declared).map(|at| (class, at as u32)).collect();
        }
        if Family::of(facts.dialect) != Family::Python {
            return Vec::new();
        }
        let place = Place { scope: facts.symbol(class.symbol).declared_in, ..self.place_of(class) };
        let start = facts.heritage.partition_point(|h| h.owner < class.symbol);
        let mut keys = Vec::new();
        for heritage in facts.heritage[start..].iter().take_while(|h| h.owner == class.symbol) {
            if heritage.kind != HeritageKind::Extends {
                continue;
            }
            for arg in self.type_args(heritage.ty, place) {
                for value in arg.values() {
                    if let Value::TypeParam(owner, at) = value
                        && !keys.contains(&(*owner, *at))
                    {
                        keys.push((*owner, *at));
                    }
                }
            }
        }
        keys
    }

    /// What the type parameters of `class` stand for in a receiver.
    pub fn env_of(&mut self, receiver: &Value, class: SymbolRef) -> Env {
        let mut env = Env::default();
        env.add((class, SELF), Set::one(receiver.clone()));
        if let Value::Instance(own, args) = receiver {
            let own_params = self.class_params(*own);
            let mut own_env = Env::default();
            for (at, key) in own_params.iter().enumerate() {
                own_env.add(*key, args.get(at).cloned().unwrap_or_default());
            }
            if *own == class {
                own_env.add((class, SELF), Set::one(receiver.clone()));
                return own_env;
            }
            let mro = self.bases(Query::Mro(*own));
            for base in mro.iter() {
                if let Base::Class(at, base_args) = base
                    && *at == class
                {
                    let params = self.class_params(class);
                    for (position, key) in params.into_iter().enumerate() {
                        let arg = base_args.get(position).cloned().unwrap_or_default();
                        env.add(key, substitute(&arg, &own_env));
                    }
                    break;
                }
            }
        }
        env
    }

    /// The bound of a type parameter: what an unfilled one may be.
    pub fn bound_of(&mut self, owner: SymbolRef, at: u32) -> Set {
        if at == SELF {
            let params = self.class_params(owner);
            let args: Vec<Set> = params.into_iter().map(|(o, at)| Set::one(Value::TypeParam(o, at))).collect();
            return Set::one(Value::Instance(owner, Arc::from(args)));
        }
        let facts = self.shared.names.view.facts(owner.file);
        let param = type_params_of(facts, owner.symbol).get(at as usize);
        match param.and_then(|p| p.bound.or(p.default)) {
            Some(bound) => {
                let set = self.type_value(bound, self.place_of(owner));
                // A bound that is itself a parameter is not followed further: it may be circular.
                set.filter(|value| !matches!(value, Value::TypeParam(..)))
            }
            None => Set::unknown(),
        }
    }

    /// Finds what the type parameters in `ty` must stand for, given a value of that type.
    pub fn unify(&mut self, ty: TypeId, place: Place, actual: &Set, env: &mut Env) {
        if !self.step() || actual.is_bare() {
            return;
        }
        let facts = self.shared.names.view.facts(place.file);
        let family = Family::of(facts.dialect);
        let row = facts.type_row(ty);
        let operands = facts.operands_of_type(ty);
        match row.kind {
            TypeKind::Named => {
                for denoted in self.type_denoted(ty, place) {
                    let key = match denoted {
                        Denoted::TypeParam(owner, at) => (owner, at),
                        Denoted::Symbol(at) if family == Family::Python => match self.symbol_type(at, &[]).values() {
                            [Value::TypeParam(owner, at)] => (*owner, *at),
                            _ => continue,
                        },
                        _ => continue,
                    };
                    env.add(key, actual.non_null());
                    return;
                }
                for (position, operand) in operands.iter().enumerate() {
                    let arg = self.argument_of(actual, position, ty, place);
                    self.unify(operand.ty, place, &arg, env);
                }
            }
            TypeKind::Array => {
                let element = actual.flat_map(|value| builtins::element(family, value));
                if let Some(operand) = operands.first() {
                    self.unify(operand.ty, place, &element, env);
                }
            }
            TypeKind::Union | TypeKind::Wrapped | TypeKind::Wildcard | TypeKind::Intersection => {
                for operand in operands {
                    self.unify(operand.ty, place, actual, env);
                }
            }
            TypeKind::Func => {
                if let Some(result) = operands.iter().find(|o| o.role == TypeRole::Return) {
                    let given = self.call_result(actual, &[], place);
                    self.unify(result.ty, place, &given, env);
                }
            }
            _ => {}
        }
    }

    /// Type argument `position` of values of a generic type, seen as that type.
    fn argument_of(&mut self, actual: &Set, position: usize, ty: TypeId, place: Place) -> Set {
        let wanted: Vec<SymbolRef> = self
            .type_denoted(ty, place)
            .into_iter()
            .filter_map(|d| if let Denoted::Symbol(at) = d { Some(at) } else { None })
            .collect();
        let mut sets = Vec::new();
        for value in actual.values() {
            match value {
                Value::ExternalInstance(_, args) => sets.extend(args.get(position).cloned()),
                Value::Instance(_, args) if wanted.is_empty() => sets.extend(args.get(position).cloned()),
                Value::Instance(..) => {
                    for class in &wanted {
                        let env = self.env_of(value, *class);
                        let params = self.class_params(*class);
                        sets.extend(params.get(position).and_then(|key| env.get(*key)).cloned());
                    }
                }
                Value::Class(class) => sets.push(Set::one(Value::Instance(*class, no_args()))),
                _ => {}
            }
        }
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }

    /// The scope kind in which a symbol is declared.
    pub fn declared_in_kind(&self, at: SymbolRef) -> ScopeKind {
        let facts = self.shared.names.view.facts(at.file);
        facts.scope(facts.symbol(at.symbol).declared_in).kind
    }

    /// What a name means, by the rules of the file's language.
    pub fn name_meaning(&mut self, place: Place, name: NameId, space: Space) -> crate::graph::scope::Meaning {
        match Family::of(self.shared.names.view.facts(place.file).dialect) {
            Family::Java => self.java_meaning(place, name, space),
            Family::Python | Family::Ecma => self.meaning(place, name, space),
        }
    }
}

/// The class of a literal type.
pub fn literal(family: Family, detail: u32) -> Set {
    match LiteralKind::from_cell(u64::from(detail)) {
        Some(LiteralKind::Null | LiteralKind::Undefined) => Set::one(Value::Null),
        Some(kind) => Set::external(builtins::literal_class(family, kind), &[]),
        None => Set::unknown(),
    }
}

/// The file of a value's definition, where it has one.
pub fn file_of(value: &Value) -> Option<FileIdx> {
    match value {
        Value::Module(file)
        | Value::Anonymous(file, _)
        | Value::Lambda(file, _)
        | Value::Object(file, _)
        | Value::Shape(file, ..) => Some(*file),
        Value::Class(at)
        | Value::Instance(at, _)
        | Value::Function(at)
        | Value::Bound(at, _)
        | Value::TypeParam(at, _)
        | Value::Super(at)
        | Value::Symbol(at) => Some(at.file),
        Value::Null | Value::Namespace(_) | Value::External(_) | Value::ExternalInstance(..) => None,
    }
}

/// The type parameters that a symbol declares, in order.
fn type_params_of(facts: &FileFacts, owner: SymbolId) -> &[TypeParam] {
    let start = facts.type_params.partition_point(|p| p.owner < owner);
    let end = facts.type_params.partition_point(|p| p.owner <= owner);
    &facts.type_params[start..end]
}
