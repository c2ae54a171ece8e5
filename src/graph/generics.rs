//! Type parameters: those of a class, what they stand for in a receiver, and how arguments fill them.

use crate::facts::model::{ExprKind, FileFacts, HeritageKind, Role, SymbolId, TypeId, TypeKind, TypeParam, TypeRole};
use crate::graph::builtins::{self, jdk};
use crate::graph::java_library::{boxed, is_functional_value, simple};
use crate::graph::modules::Family;
use crate::graph::queries::{Base, Denoted, Query, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Args, MAX_DEPTH, Set, Value, no_args};
use crate::view::SymbolRef;
use std::sync::Arc;

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

    /// Whether a parameter has a meaning.
    pub fn has(&self, key: ParamKey) -> bool {
        self.get(key).is_some()
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

    /// What is known of a symbol's own type parameters, by position.
    fn of_owner(&self, owner: SymbolRef) -> Args {
        let start = self.0.partition_point(|row| row.0 < (owner, 0));
        let rows = self.0[start..].iter().take_while(|row| row.0.0 == owner && row.0.1 != SELF);
        let mut args = Vec::new();
        for ((_, at), set) in rows {
            args.resize(*at as usize, Set::unknown());
            args.push(set.clone());
        }
        Args::from(args)
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Replaces type parameters by what they stand for.
pub fn substitute(set: &Set, env: &Env) -> Set {
    if env.is_empty() || !set.mentions_param() {
        return set.clone();
    }
    Filler { env, cut: Vec::new(), is_cut: false }.set(set)
}

/// Replaces type parameters in each of several sets.
pub fn substitute_all(args: &Args, env: &Env) -> Args {
    if env.is_empty() || !args.mention_params() {
        return args.clone();
    }
    args.iter().map(|arg| substitute(arg, env)).collect()
}

/// Replaces type parameters from the outside in, so that what would nest too deep is not made.
struct Filler<'e> {
    env: &'e Env,
    /// What parameters stand for with type arguments only so deep.
    cut: Vec<(ParamKey, u32, Set)>,
    /// Whether something nested too deep.
    is_cut: bool,
}

impl Filler<'_> {
    fn set(&mut self, set: &Set) -> Set {
        set.flat_map(|value| match value {
            Value::TypeParam(owner, at) => {
                self.env.get((*owner, *at)).cloned().unwrap_or_else(|| Set::one(value.clone()))
            }
            Value::ExternalInstance(name, args) if &**name == "type" && args.len() == 1 => {
                self.set(&args[0]).flat_map(builtins::class_of)
            }
            Value::Bound(function, receiver) => {
                let receivers = self.set(&Set::one((**receiver).clone()));
                receivers.flat_map(|receiver| Set::one(Value::Bound(*function, Arc::new(receiver.clone()))))
            }
            other => {
                self.is_cut = false;
                let filled = self.value(other, MAX_DEPTH);
                // What is cut of one argument is cut of the others.
                Set::one(if self.is_cut { filled.pruned(MAX_DEPTH) } else { filled })
            }
        })
    }

    /// A value with type arguments at most `left` deep.
    fn value(&mut self, value: &Value, left: u32) -> Value {
        match value {
            Value::Instance(class, args) => Value::Instance(*class, self.args(args, left)),
            Value::ExternalInstance(name, args) => Value::ExternalInstance(name.clone(), self.args(args, left)),
            Value::Shape(file, ty, owner, args) if args.is_empty() => {
                let known = self.env.of_owner(SymbolRef { file: *file, symbol: *owner });
                Value::Shape(*file, *ty, *owner, self.shallow(&known, left))
            }
            Value::Shape(file, ty, owner, args) => Value::Shape(*file, *ty, *owner, self.args(args, left)),
            other => other.clone(),
        }
    }

    fn args(&mut self, args: &Args, left: u32) -> Args {
        if !args.mention_params() {
            return self.shallow(args, left);
        }
        let Some(left) = left.checked_sub(1) else {
            self.is_cut = true;
            return no_args();
        };
        args.iter().map(|arg| if arg.mentions_param() { self.arg(arg, left) } else { arg.clone() }).collect()
    }

    fn arg(&mut self, arg: &Set, left: u32) -> Set {
        arg.flat_map(|value| match value {
            Value::TypeParam(owner, at) => match self.env.get((*owner, *at)) {
                Some(set) if set.depth() > left => self.cut((*owner, *at), set, left),
                Some(set) => set.clone(),
                None => Set::one(value.clone()),
            },
            Value::ExternalInstance(name, args) if &**name == "type" && args.len() == 1 => {
                let is_cut = self.is_cut;
                let classes = self.set(&args[0]).flat_map(builtins::class_of);
                self.is_cut = is_cut;
                classes
            }
            Value::Bound(function, receiver) => {
                let receiver = self.value(receiver, left.saturating_sub(1));
                Set::one(Value::Bound(*function, Arc::new(receiver)))
            }
            other => Set::one(self.value(other, left)),
        })
    }

    fn cut(&mut self, key: ParamKey, set: &Set, left: u32) -> Set {
        self.is_cut = true;
        if let Some((.., known)) = self.cut.iter().find(|(of, depth, _)| (*of, *depth) == (key, left)) {
            return known.clone();
        }
        let pruned = set.pruned(left);
        self.cut.push((key, left, pruned.clone()));
        pruned
    }

    /// Arguments in which nothing is replaced.
    fn shallow(&mut self, args: &Args, left: u32) -> Args {
        if args.depth() <= left {
            return args.clone();
        }
        self.is_cut = true;
        match left.checked_sub(1) {
            Some(left) => args.iter().map(|arg| arg.pruned(left)).collect(),
            None => no_args(),
        }
    }
}

impl Session<'_, '_> {
    /// The type parameters of a class, in order of its type arguments. Python: those of
    /// `Generic[…]` or `Protocol[…]`, else those of the bases as they come.
    pub fn class_params(&mut self, class: SymbolRef) -> Vec<ParamKey> {
        let facts = self.shared.names.view.declared(class);
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
        if let Value::Shape(file, _, owner, args) = receiver {
            for (at, arg) in args.iter().enumerate() {
                env.add((SymbolRef { file: *file, symbol: *owner }, at as u32), arg.clone());
            }
        }
        if let Value::Instance(own, args) = receiver {
            let own_params = self.class_params(*own);
            let mut own_env = Env::default();
            let is_java = Family::of(self.shared.names.view.dialect(own.file)) == Family::Java;
            for (at, key) in own_params.iter().enumerate() {
                let mut arg = args.get(at).cloned().unwrap_or_default();
                // `C<?>` and the raw `C` are C of whatever the bound allows.
                if is_java && arg.is_unknown() {
                    arg = self.bound_of(key.0, key.1);
                }
                own_env.add(*key, arg);
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

    /// As `env_of`, through bounds of type parameters.
    pub fn env_of_any(&mut self, receiver: &Value, class: SymbolRef) -> Env {
        match receiver {
            Value::TypeParam(owner, at) => {
                let bound = self.bound_of(*owner, *at);
                let mut env = match bound.values().first() {
                    Some(value) => self.env_of(&value.clone(), class),
                    None => Env::default(),
                };
                let mut own = Env::default();
                own.add((class, crate::graph::generics::SELF), Set::one(receiver.clone()));
                std::mem::swap(&mut env, &mut own);
                own.merge_missing(env)
            }
            Value::Anonymous(file, scope) => {
                let bases = self.anonymous_bases(*file, *scope);
                let values: Vec<Value> = bases.values().to_vec();
                match values.iter().find(|v| matches!(v, Value::Instance(..))) {
                    Some(base) => self.env_of(base, class),
                    None => Env::default(),
                }
            }
            other => self.env_of(other, class),
        }
    }

    /// The bound of a type parameter: what an unfilled one may be.
    pub fn bound_of(&mut self, owner: SymbolRef, at: u32) -> Set {
        if at == SELF {
            let params = self.class_params(owner);
            let args: Vec<Set> = params.into_iter().map(|(o, at)| Set::one(Value::TypeParam(o, at))).collect();
            return Set::one(Value::Instance(owner, Args::from(args)));
        }
        let facts = self.shared.names.view.declared(owner);
        let param = type_params_of(facts, owner.symbol).get(at as usize);
        // A bound that is itself a parameter is not followed further: it may be circular.
        let is_plain = |value: &Value| !matches!(value, Value::TypeParam(..));
        match param.and_then(|p| p.bound.or(p.default)) {
            Some(bound) => self.type_value(bound, self.place_of(owner)).filter(is_plain),
            None if param.is_none() => self.bound_of_variable(owner).filter(is_plain),
            None => Set::unknown(),
        }
    }

    /// What `T = TypeVar("T", bound=B)` or `TypeVar("T", A, B)` says of an unfilled `T`.
    fn bound_of_variable(&mut self, variable: SymbolRef) -> Set {
        let facts = self.shared.names.view.declared(variable);
        let rows: Vec<u32> = self.shared.names.file(variable.file).bindings_of(variable.symbol).collect();
        let mut sets = Vec::new();
        for row in rows {
            let binding = &facts.bindings[row as usize];
            let Some(call) = binding.value.filter(|value| facts.expr(*value).kind == ExprKind::Call) else { continue };
            let place = Place { file: variable.file, scope: binding.scope, line: u32::MAX };
            for operand in facts.operands_of(call).iter().skip(1) {
                let is_bound = match operand.role {
                    Role::Keyword => facts.text(operand.name) == "bound",
                    _ => true,
                };
                let row = facts.expr(operand.expr);
                if let (true, ExprKind::TypeValue, Some(ty)) = (is_bound, row.kind, row.ty) {
                    sets.push(self.type_value(ty, place));
                }
            }
        }
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }

    /// Finds what the type parameters in `ty` must stand for, given a value of that type.
    pub fn unify(&mut self, ty: TypeId, place: Place, actual: &Set, env: &mut Env) {
        if !self.step() || actual.is_bare() {
            return;
        }
        let facts = self.shared.names.view.below(place.file);
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
                    match family {
                        // What a lambda gives says nothing of a bare parameter.
                        Family::Java if actual.values().iter().any(is_functional_value) => {}
                        Family::Java => env.add(key, boxed(&actual.non_null())),
                        Family::Python | Family::Ecma => env.add(key, actual.non_null()),
                    }
                    return;
                }
                if family == Family::Java {
                    for value in actual.values().to_vec() {
                        if is_functional_value(&value) {
                            self.unify_function(ty, place, &value, env);
                        }
                    }
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
        let denoted = self.type_denoted(ty, place);
        let wanted: Vec<SymbolRef> =
            denoted.iter().filter_map(|d| if let Denoted::Symbol(at) = d { Some(*at) } else { None }).collect();
        let library = denoted.iter().find_map(|d| match d {
            Denoted::External(path) if Family::of(self.shared.names.view.dialect(place.file)) == Family::Java => {
                Some(simple(path)).filter(|name| jdk::class(name).is_some())
            }
            _ => None,
        });
        let mut sets = Vec::new();
        for value in actual.values() {
            if let Some(library) = library {
                let seen = self.seen_as(value, library);
                sets.extend(seen.and_then(|args| args.get(position).cloned()));
                continue;
            }
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
}

/// The type parameters that a symbol declares, in order.
pub fn type_params_of(facts: &FileFacts, owner: SymbolId) -> &[TypeParam] {
    let start = facts.type_params.partition_point(|p| p.owner < owner);
    let end = facts.type_params.partition_point(|p| p.owner <= owner);
    &facts.type_params[start..end]
}
