//! Java's library in the interpreter: what its methods give, its types as seen from their
//! subtypes, and the functions that lambdas and method references are given for.

use crate::facts::model::{ParamKind, SymbolFlags, SymbolKind, TypeId, TypeRole};
use crate::graph::builtins;
use crate::graph::builtins::jdk::{self, Method, Ty};
use crate::graph::generics::{Env, substitute, substitute_all};
use crate::graph::modules::Family;
use crate::graph::queries::{Base, Query, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Name, Set, Value, no_args};
use crate::view::SymbolRef;

/// How far bases of the library are followed; its own hierarchy is less deep.
const MAX_BASES: u32 = 12;

/// What stands for type parameters while a method of the library is called.
#[derive(Clone, Debug, Default)]
struct Bound {
    own: Vec<Set>,
    vars: Vec<Option<Set>>,
}

impl Bound {
    fn new(own: &[Set]) -> Self {
        Bound { own: own.to_vec(), vars: Vec::new() }
    }

    fn add(slot: &mut Vec<Option<Set>>, at: usize, set: Set) {
        if slot.len() <= at {
            slot.resize(at + 1, None);
        }
        slot[at] = Some(match slot[at].take() {
            Some(known) => Set::union([known, set]),
            None => set,
        });
    }
}

/// What a lambda for a functional interface takes and gives.
#[derive(Clone, Debug)]
pub struct Functional {
    pub params: Vec<Set>,
    pub result: Set,
}

/// A type of the table with what is bound put in. A variable that nothing filled stays a mark
/// in results that only their user fills (`Collector`, `Comparator`), else it is unknown.
fn filled(ty: &Ty, bound: &Bound, keep: bool) -> Set {
    match ty {
        Ty::Any => Set::unknown(),
        Ty::Own(at) => bound.own.get(*at).cloned().unwrap_or_default(),
        Ty::Var(at) => match bound.vars.get(*at).cloned().flatten() {
            Some(set) => set,
            None if keep => Set::one(Value::External(mark(*at))),
            None => Set::unknown(),
        },
        Ty::Array(element) => Set::external("Array", &[filled(element, bound, keep)]),
        Ty::Named("void", _) => Set::one(Value::Null),
        Ty::Named(name, args) => {
            let args: Vec<Set> = args.iter().map(|arg| filled(arg, bound, keep)).collect();
            Set::external(*name, &args)
        }
    }
}

fn mark(at: usize) -> Name {
    Name::from(format!("%{at}"))
}

fn is_mark(value: &Value) -> bool {
    matches!(value, Value::External(name) if name.starts_with('%'))
}

/// Replaces the mark `of` by a set, everywhere in another.
fn unmarked(set: &Set, of: &Value, by: &Set) -> Set {
    set.flat_map(|value| match value {
        value if value == of => by.clone(),
        Value::ExternalInstance(name, args) => {
            let args: Vec<Set> = args.iter().map(|arg| unmarked(arg, of, by)).collect();
            Set::one(Value::ExternalInstance(name.clone(), args.into()))
        }
        other => Set::one(other.clone()),
    })
}

/// Whether a set says nothing, or only by a mark.
fn is_open_mark(set: &Set) -> bool {
    set.values().iter().all(is_mark)
}

/// The type arguments of a library type seen as one of its bases.
fn library_seen_as(name: &str, args: &[Set], wanted: &str, depth: u32) -> Option<Vec<Set>> {
    if simple(name) == wanted && (!name.contains('.') || is_library_path(name)) {
        return Some(args.to_vec());
    }
    if depth > MAX_BASES {
        return None;
    }
    let bound = Bound::new(args);
    library_class(name)?.bases.iter().find_map(|base| {
        let Ty::Named(base, base_args) = base else { return None };
        let args: Vec<Set> = base_args.iter().map(|arg| filled(arg, &bound, false)).collect();
        library_seen_as(base, &args, wanted, depth + 1)
    })
}

/// The methods of a library type that a call with `n_args` arguments may run, nearest base
/// first, with the type arguments of the base that has them.
fn library_methods(name: &str, own: &[Set], method: &str, n_args: usize) -> Vec<(&'static Method, Vec<Set>)> {
    let mut line = vec![(name.to_string(), own.to_vec())];
    let mut at = 0;
    let mut seen: Vec<String> = Vec::new();
    while let Some((name, own)) = line.get(at).cloned() {
        at += 1;
        if seen.contains(&name) {
            continue;
        }
        seen.push(name.clone());
        let Some(class) = library_class(&name) else { continue };
        let found: Vec<_> =
            class.methods(method).iter().filter(|m| m.takes(n_args)).map(|m| (m, own.clone())).collect();
        if !found.is_empty() {
            return found;
        }
        let bound = Bound::new(&own);
        for base in &class.bases {
            if let Ty::Named(base, args) = base {
                line.push((base.to_string(), args.iter().map(|arg| filled(arg, &bound, false)).collect()));
            }
        }
        if line.len() == at && !seen.iter().any(|name| name == "Object") {
            line.push(("Object".to_string(), Vec::new()));
        }
    }
    Vec::new()
}

/// The last part of a dotted name.
pub fn simple(name: &str) -> &str {
    match name.bytes().rposition(|byte| byte == b'.') {
        Some(dot) => &name[dot + 1..],
        None => name,
    }
}

/// The reference type of a primitive one; others as they are.
pub fn boxed(set: &Set) -> Set {
    set.flat_map(|value| match value {
        Value::ExternalInstance(name, _) => match box_of(name) {
            Some(boxed) => Set::external(boxed, &[]),
            None => Set::one(value.clone()),
        },
        other => Set::one(other.clone()),
    })
}

/// The class that a primitive type is boxed to.
pub fn box_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "int" => "Integer",
        "long" => "Long",
        "double" => "Double",
        "float" => "Float",
        "boolean" => "Boolean",
        "char" => "Character",
        "byte" => "Byte",
        "short" => "Short",
        _ => return None,
    })
}

impl Session<'_, '_> {
    /// What calling `class#method` of the library gives; `None` when the table does not say.
    pub fn library_call(&mut self, name: &str, own: &[Set], args: &[Set], place: Place) -> Option<Set> {
        let (class, method) = name.split_once('#')?;
        let found = library_methods(class, own, method, args.len());
        self.called(&found, args, place)
    }

    /// What calling a static method of the library by its dotted path gives; a method of its
    /// instances takes the receiver first, as a method reference does.
    pub fn library_static_call(&mut self, path: &str, args: &[Set], place: Place) -> Option<Set> {
        let (class, method) = static_parts(path)?;
        let mut found = library_methods(class, &[], method, args.len());
        found.retain(|(method, _)| method.is_static);
        if found.is_empty() {
            let receiver = args.first()?.clone();
            let sets: Vec<Set> = receiver
                .values()
                .iter()
                .filter_map(|value| self.seen_as(value, class))
                .collect::<Vec<_>>()
                .into_iter()
                .filter_map(|own| self.library_call(&format!("{class}#{method}"), &own, &args[1..], place))
                .collect();
            return (!sets.is_empty()).then(|| Set::union(sets));
        }
        self.called(&found, args, place)
    }

    fn called(&mut self, found: &[(&'static Method, Vec<Set>)], args: &[Set], place: Place) -> Option<Set> {
        let mut sets = Vec::new();
        for (method, own) in found {
            if !self.takes_lambdas(method, args) {
                continue;
            }
            let bound = self.bound_by(method, own, args, None, place);
            let keep = matches!(method.result, Ty::Named("Collector" | "Comparator", _));
            sets.push(filled(&method.result, &bound, keep));
        }
        (!sets.is_empty()).then(|| Set::union(sets))
    }

    /// Whether every lambda among the arguments has the number of parameters that is asked for.
    fn takes_lambdas(&self, method: &Method, args: &[Set]) -> bool {
        args.iter().enumerate().all(|(at, arg)| {
            let Some(arity) = arg.values().iter().find_map(|value| self.lambda_arity(value)) else { return true };
            let Some(Ty::Named(name, _)) = method.param(at, args.len()) else { return true };
            match jdk::class(name) {
                Some(class) => jdk::single(class).is_some_and(|single| single.n_params() == arity),
                None => true,
            }
        })
    }

    /// The number of parameters of a lambda.
    pub fn lambda_arity(&self, value: &Value) -> Option<usize> {
        let Value::Lambda(file, expr) = value else { return None };
        let facts = self.shared.names.view.facts(*file);
        let scope = facts.expr(*expr).scope?;
        Some(facts.params_of(scope).iter().filter(|p| p.kind != ParamKind::This).count())
    }

    /// What the arguments say of a method's type parameters; the argument at `without` is the
    /// one that asks.
    fn bound_by(
        &mut self,
        method: &'static Method,
        own: &[Set],
        args: &[Set],
        without: Option<usize>,
        place: Place,
    ) -> Bound {
        let mut bound = Bound::new(own);
        // Lambdas last: their parameters may be filled by the others.
        for functions in [false, true] {
            for (at, arg) in args.iter().enumerate() {
                let is_function = arg.values().iter().any(is_functional_value);
                // A lambda with parameters would ask for the others in turn.
                let waits =
                    without.is_some() && arg.values().iter().any(|v| self.lambda_arity(v).is_some_and(|n| n > 0));
                if Some(at) == without || is_function != functions || waits {
                    continue;
                }
                if let Some(ty) = method.param(at, args.len()) {
                    self.bind(ty, arg, &mut bound, place, 0);
                }
            }
        }
        bound
    }

    /// Finds what the variables in `ty` stand for, given a value of that type.
    fn bind(&mut self, ty: &Ty, actual: &Set, bound: &mut Bound, place: Place, depth: u32) {
        if depth > MAX_BASES || actual.is_bare() || !self.step() {
            return;
        }
        match ty {
            Ty::Any => {}
            Ty::Var(at) if !is_open_mark(actual) => Bound::add(&mut bound.vars, *at, boxed(&actual.non_null())),
            Ty::Own(_) | Ty::Var(_) => {}
            Ty::Array(element) => {
                let inner = actual.flat_map(|value| match value {
                    Value::ExternalInstance(name, args) if &**name == "Array" => {
                        args.first().cloned().unwrap_or_default()
                    }
                    _ => Set::unknown(),
                });
                self.bind(element, &inner, bound, place, depth + 1);
            }
            Ty::Named(name, args) => {
                for value in actual.values() {
                    if is_functional_value(value) {
                        self.bind_function(name, args, value, bound, place, depth);
                        continue;
                    }
                    let Some(mut seen) = self.seen_as(value, name) else { continue };
                    for (at, arg) in args.iter().enumerate() {
                        // What the place says fills what the value left open.
                        let known = filled(arg, bound, false);
                        let open =
                            seen.get(at).and_then(|set| set.values().first()).filter(|value| is_mark(value)).cloned();
                        if let (Some(open), false) = (open, known.is_unknown()) {
                            seen = seen.iter().map(|set| unmarked(set, &open, &known)).collect();
                        }
                        if let Some(set) = seen.get(at).cloned() {
                            self.bind(arg, &set, bound, place, depth + 1);
                        }
                    }
                }
            }
        }
    }

    /// A lambda or method reference for a functional interface of the library: its result is
    /// the interface's, and what an unbound method reference is of is its first parameter.
    fn bind_function(&mut self, name: &str, args: &[Ty], value: &Value, bound: &mut Bound, place: Place, depth: u32) {
        let Some(single) = jdk::class(name).and_then(jdk::single) else { return };
        let own: Vec<Set> = args.iter().map(|arg| filled(arg, bound, false)).collect();
        let shape = Bound::new(&own);
        let mut params: Vec<Set> = (0..single.n_params())
            .map(|at| single.param(at, single.n_params()).map_or_else(Set::unknown, |ty| filled(ty, &shape, false)))
            .collect();
        let receiver = self.unbound_receiver(value);
        if let (Some(receiver), Some(first)) = (receiver, params.first_mut())
            && first.is_unknown()
        {
            *first = receiver.clone();
            if let Some(Ty::Own(at)) = single.param(0, single.n_params())
                && let Some(arg) = args.get(*at)
            {
                self.bind(arg, &receiver, bound, place, depth + 1);
            }
        }
        let result = boxed(&self.functional_result(value, &params, place));
        if let Ty::Own(at) = single.result
            && let Some(arg) = args.get(at)
        {
            self.bind(arg, &result, bound, place, depth + 1);
        }
    }

    /// The instance that `Type::method` takes as its first argument.
    fn unbound_receiver(&self, value: &Value) -> Option<Set> {
        let view = self.shared.names.view;
        match value {
            Value::Bound(at, receiver) => match **receiver {
                Value::Class(class) if !view.symbol(*at).flags.has(SymbolFlags::STATIC) => {
                    Some(Set::one(Value::Instance(class, no_args())))
                }
                _ => None,
            },
            Value::External(path) => {
                let (class, method) = static_parts(path)?;
                let is_static = jdk::class(class)?.methods(method).iter().any(|m| m.is_static);
                (!is_static).then(|| Set::external(jdk::name_of(class), &[]))
            }
            _ => None,
        }
    }

    /// What calling a lambda or method reference with such arguments gives.
    pub fn functional_result(&mut self, value: &Value, params: &[Set], place: Place) -> Set {
        let view = self.shared.names.view;
        match value {
            Value::Bound(at, receiver) => match (&**receiver, params.split_first()) {
                (Value::Class(_), Some((first, rest))) if !view.symbol(*at).flags.has(SymbolFlags::STATIC) => {
                    let receivers = if first.values().is_empty() {
                        self.unbound_receiver(value).unwrap_or_default()
                    } else {
                        first.clone()
                    };
                    receivers.flat_map(|one| self.function_result(*at, Some(one), rest))
                }
                _ => self.call_result(&Set::one(value.clone()), params, place),
            },
            Value::External(path) if &**path == "Array.new" => Set::unknown(),
            Value::External(path) if path.ends_with(".new") => {
                let class = path.strip_suffix(".new").unwrap_or(path);
                builtins::named_type(Family::Java, class, &[]).unwrap_or_default()
            }
            _ => self.call_result(&Set::one(value.clone()), params, place),
        }
    }

    /// The type arguments of a value seen as a library type; `None` when it is none.
    pub fn seen_as(&mut self, value: &Value, wanted: &str) -> Option<Vec<Set>> {
        let wanted = simple(wanted);
        match value {
            Value::ExternalInstance(name, args) => library_seen_as(name, args, wanted, 0),
            Value::Instance(class, args) => {
                let mut env = Env::default();
                for (at, key) in self.class_params(*class).into_iter().enumerate() {
                    env.add(key, args.get(at).cloned().unwrap_or_default());
                }
                let mro = self.bases(Query::Mro(*class));
                mro.iter().find_map(|base| match base {
                    Base::External(name, args) => library_seen_as(name, &substitute_all(args, &env), wanted, 0),
                    Base::Class(..) | Base::Unknown => None,
                })
            }
            Value::TypeParam(owner, at) => {
                let bound = self.bound_of(*owner, *at);
                let values: Vec<Value> = bound.values().to_vec();
                values.iter().filter(|v| !matches!(v, Value::TypeParam(..))).find_map(|v| self.seen_as(v, wanted))
            }
            Value::Anonymous(file, scope) => {
                let bases = self.anonymous_bases(*file, *scope);
                let values: Vec<Value> = bases.values().to_vec();
                values.iter().filter(|v| !matches!(v, Value::Anonymous(..))).find_map(|v| self.seen_as(v, wanted))
            }
            _ => None,
        }
    }

    /// What a lambda for a value's type takes and gives; `None` when no lambda can be given.
    pub fn functional(&mut self, value: &Value) -> Option<Functional> {
        match value {
            Value::ExternalInstance(name, args) => {
                let single = jdk::single(library_class(name)?)?;
                let found = library_methods(name, args, single.name, single.n_params());
                let (method, own) = found.into_iter().find(|(m, _)| matches!(m.params, jdk::Params::Types(_)))?;
                let bound = Bound::new(&own);
                let n = method.n_params();
                let params =
                    (0..n).map(|at| method.param(at, n).map_or_else(Set::unknown, |ty| filled(ty, &bound, false)));
                Some(Functional { params: params.collect(), result: filled(&method.result, &bound, false) })
            }
            Value::Instance(class, _) => {
                if let Some(method) = self.single_method(*class) {
                    let facts = self.shared.names.view.facts(method.file);
                    let scope = facts.symbol(method.symbol).scope?;
                    let owner = SymbolRef { symbol: facts.symbol(method.symbol).parent?, ..method };
                    let env = self.env_of(value, owner);
                    let place = Place { file: method.file, scope, line: u32::MAX };
                    let types: Vec<Option<TypeId>> = facts.params_of(scope).iter().map(|p| p.ty).collect();
                    let params = types
                        .into_iter()
                        .map(|ty| match ty {
                            Some(ty) => substitute(&self.type_value(ty, place), &env),
                            None => Set::unknown(),
                        })
                        .collect();
                    let result = substitute(&self.values(Query::Returns(method)), &env);
                    return Some(Functional { params, result });
                }
                let mro = self.bases(Query::Mro(*class));
                let facts = self.shared.names.view.facts(class.file);
                let is_interface = facts.symbol(class.symbol).kind == SymbolKind::Interface;
                if !is_interface || self.abstract_methods(*class) > 0 {
                    return None;
                }
                let env = self.env_of(value, *class);
                mro.iter().find_map(|base| match base {
                    Base::External(name, args) => {
                        let base = Value::ExternalInstance(name.clone(), substitute_all(args, &env));
                        self.functional(&base)
                    }
                    Base::Class(..) | Base::Unknown => None,
                })
            }
            _ => None,
        }
    }

    /// The number of abstract methods along an interface's bases, by their names.
    fn abstract_methods(&mut self, class: SymbolRef) -> usize {
        let mro = self.bases(Query::Mro(class));
        let view = self.shared.names.view;
        let mut n = 0;
        for base in mro.iter() {
            let Base::Class(at, _) = base else { continue };
            let facts = view.facts(at.file);
            n += self
                .shared
                .names
                .file(at.file)
                .children(at.symbol)
                .filter(|child| is_abstract_method(facts.symbol(*child)))
                .count();
        }
        n
    }

    /// The one method without a body that a lambda for an interface gives: its own, or the
    /// nearest inherited one that nothing between implements.
    pub fn single_method(&mut self, class: SymbolRef) -> Option<SymbolRef> {
        let view = self.shared.names.view;
        if Family::of(view.dialect(class.file)) != Family::Java {
            let facts = view.facts(class.file);
            let children = self.shared.names.file(class.file).children(class.symbol);
            let methods: Vec<_> = children.filter(|child| is_abstract_method(facts.symbol(*child))).collect();
            return match methods[..] {
                [symbol] => Some(SymbolRef { symbol, ..class }),
                _ => None,
            };
        }
        let mro = self.bases(Query::Mro(class));
        let mut found: Option<SymbolRef> = None;
        let mut given: Vec<SymbolRef> = Vec::new();
        for base in mro.iter() {
            let Base::Class(at, _) = base else { continue };
            let facts = view.facts(at.file);
            if !matches!(facts.symbol(at.symbol).kind, SymbolKind::Interface) {
                return None;
            }
            for child in self.shared.names.file(at.file).children(at.symbol) {
                let method = SymbolRef { symbol: child, ..*at };
                let symbol = facts.symbol(child);
                if symbol.kind != SymbolKind::Method && symbol.kind != SymbolKind::Signature {
                    continue;
                }
                if !is_abstract_method(symbol) {
                    given.push(method);
                    continue;
                }
                let of_object = matches!(facts.name(symbol.name), "equals" | "hashCode" | "toString");
                let known = given.iter().chain(found.iter()).any(|known| self.overrides_java(*known, method));
                if of_object || known {
                    continue;
                }
                if found.is_some() {
                    return None;
                }
                found = Some(method);
            }
        }
        found
    }

    /// Finds what the type parameters in a functional interface's arguments stand for, given a
    /// lambda or method reference for it.
    pub fn unify_function(&mut self, ty: TypeId, place: Place, value: &Value, env: &mut Env) {
        let facts = self.shared.names.view.facts(place.file);
        let args: Vec<TypeId> =
            facts.operands_of_type(ty).iter().filter(|o| o.role == TypeRole::Argument).map(|o| o.ty).collect();
        if args.is_empty() {
            return;
        }
        let formal = substitute(&self.type_value(ty, place), env);
        for expected in formal.values().to_vec() {
            let Some(shape) = self.functional(&expected) else { continue };
            let mut params = shape.params.clone();
            if let (Some(receiver), Some(first)) = (self.unbound_receiver(value), params.first_mut()) {
                let asked = first.values().iter().find_map(|v| match v {
                    Value::TypeParam(owner, at) => Some((*owner, *at)),
                    _ => None,
                });
                if let Some(key) = asked {
                    env.add(key, receiver.clone());
                    *first = receiver;
                }
            }
            let result = boxed(&self.functional_result(value, &params, place));
            if result.is_bare() {
                continue;
            }
            for value in shape.result.values() {
                if let Value::TypeParam(owner, at) = value {
                    env.add((*owner, *at), result.non_null());
                }
            }
            self.unify_args(&shape.result, &result, env);
        }
    }

    /// Fills parameters inside of type arguments: `List<R>` by `List<String>`.
    fn unify_args(&mut self, formal: &Set, actual: &Set, env: &mut Env) {
        for value in formal.values().to_vec() {
            let (name, args) = match &value {
                Value::ExternalInstance(name, args) if !args.is_empty() => (Some(name.clone()), args.clone()),
                Value::Instance(_, args) if !args.is_empty() => (None, args.clone()),
                _ => continue,
            };
            for given in actual.values().to_vec() {
                let seen = match (&name, &value, &given) {
                    (Some(name), ..) => self.seen_as(&given, name),
                    (None, Value::Instance(class, _), Value::Instance(own, own_args)) if class == own => {
                        Some(own_args.to_vec())
                    }
                    _ => None,
                };
                for (formal, actual) in args.iter().zip(seen.unwrap_or_default()) {
                    if let [Value::TypeParam(owner, at)] = formal.values()
                        && !actual.is_bare()
                    {
                        env.add((*owner, *at), actual.non_null());
                    }
                }
            }
        }
    }

    /// What argument `argument` of a library method is expected to be, given the others and
    /// what is expected of the call itself.
    pub fn library_argument(
        &mut self,
        callee: &Value,
        args: &[Set],
        argument: usize,
        wanted: &Set,
        place: Place,
    ) -> Set {
        let found = match callee {
            Value::ExternalInstance(name, own) => match name.split_once('#') {
                Some((class, method)) => library_methods(class, own, method, args.len()),
                None => Vec::new(),
            },
            Value::External(path) => match static_parts(path) {
                Some((class, method)) => library_methods(class, &[], method, args.len()),
                None => Vec::new(),
            },
            _ => Vec::new(),
        };
        let mut sets = Vec::new();
        for (method, own) in found {
            if !self.takes_lambdas(method, args) {
                continue;
            }
            let Some(ty) = method.param(argument, args.len()) else { continue };
            let mut bound = self.bound_by(method, &own, args, Some(argument), place);
            if !wanted.is_unknown() {
                // What is wanted of the result says more than `Type::method` among the arguments.
                let mut by_result = Bound::new(&own);
                self.bind(&method.result, wanted, &mut by_result, place, 0);
                for (at, set) in by_result.vars.into_iter().enumerate() {
                    if let Some(set) = set {
                        if let Some(slot) = bound.vars.get_mut(at) {
                            *slot = None;
                        }
                        Bound::add(&mut bound.vars, at, set);
                    }
                }
            }
            sets.push(filled(ty, &bound, false));
        }
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }

    /// Whether a library type, or one of its bases, has a method of that name.
    pub fn library_has(&self, name: &str, method: &str) -> bool {
        library_class(name).is_some_and(|class| class.has(method))
    }
}

/// The instance that a dotted path to a constant from outside is: of the type that the table
/// says, else of the class that has it, as enum constants are.
pub fn field_of_outside(path: &str) -> Option<Set> {
    let (owner, field) = path.rsplit_once('.')?;
    if let Some((class, _)) = static_parts(path)
        && let Some(ty) = jdk::class(class)?.field(field)
    {
        return Some(filled(ty, &Bound::default(), false));
    }
    let is_constant = field.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let of_class = simple(owner).starts_with(|c: char| c.is_ascii_uppercase());
    (is_constant && of_class).then(|| builtins::named_type(Family::Java, owner, &[])).flatten()
}

/// The library's type of that name; a dotted name is another library's.
pub fn library_class(name: &str) -> Option<&'static jdk::Class> {
    let simple = simple(name);
    if simple.len() < name.len() && !is_library_path(name) {
        return None;
    }
    jdk::class(simple)
}

fn is_abstract_method(symbol: &crate::facts::model::Symbol) -> bool {
    matches!(symbol.kind, SymbolKind::Method | SymbolKind::Signature)
        && !symbol.flags.has(SymbolFlags::STATIC)
        && !symbol.flags.has(SymbolFlags::DEFAULT_METHOD)
}

/// Whether a value is a lambda or a method reference.
pub fn is_functional_value(value: &Value) -> bool {
    match value {
        Value::Lambda(..) | Value::Function(_) | Value::Bound(..) | Value::Class(_) => true,
        Value::External(path) if &**path == "Array.new" => true,
        Value::External(path) => {
            static_parts(path).is_some_and(|(_, member)| member.starts_with(|c: char| c.is_ascii_lowercase()))
        }
        _ => false,
    }
}

/// The class and member of a dotted path into the library.
fn static_parts(path: &str) -> Option<(&str, &str)> {
    let (class_path, member) = path.rsplit_once('.')?;
    let class = simple(class_path);
    let known = class_path == class || is_library_path(class_path);
    (known && jdk::class(class).is_some() && !member.contains("()")).then_some((class, member))
}

/// Whether a dotted path is of the JDK's own packages.
pub fn is_library_path(path: &str) -> bool {
    path.starts_with("java.") || path.starts_with("javax.")
}
