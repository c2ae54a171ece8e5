//! Java's subtyping: whether a value of one type may be given where another is wanted.

use crate::facts::model::{ExprKind, ReturnKind, SymbolFlags, SymbolKind};
use crate::graph::builtins::jdk;
use crate::graph::generics::SELF;
use crate::graph::java_library::{box_of, field_of_outside, is_functional_value, library_class, simple};
use crate::graph::queries::{Base, Query, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Name, Set, Value, no_args};
use crate::view::SymbolRef;

/// How an argument fits a parameter. Ordered from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    No,
    /// Only boxed or unboxed.
    Boxing,
    /// Not known: it counts as fitting and proves nothing.
    Maybe,
    Yes,
}

/// The primitive numbers from narrow to wide.
const NUMBERS: [&str; 6] = ["byte", "short", "int", "long", "float", "double"];

/// How often bounds of type parameters are passed.
const MAX_BOUNDS: u32 = 6;

/// The wider of two numbers, as arithmetic promotes them; at least `int`.
pub fn promoted<'a>(one: &'a str, other: &'a str) -> Option<&'static str> {
    let rank = |name: &str| {
        let plain = unboxed(name).unwrap_or(name);
        NUMBERS.iter().position(|n| *n == plain).or((plain == "char").then_some(1))
    };
    let wide = rank(one)?.max(rank(other)?).max(2);
    NUMBERS.get(wide).copied()
}

fn unboxed(name: &str) -> Option<&'static str> {
    let name = simple(name);
    ["int", "long", "double", "float", "boolean", "char", "byte", "short"].into_iter().find(|p| box_of(p) == Some(name))
}

fn is_primitive(name: &str) -> bool {
    box_of(name).is_some()
}

impl Session<'_, '_> {
    /// How an argument that may be any of `arg` fits a parameter of type `param`.
    pub fn fit(&mut self, arg: &Set, param: &Set, place: Place) -> Fit {
        if arg.values().is_empty() || param.values().is_empty() {
            return Fit::Maybe;
        }
        let (mut worst, mut best) = (Fit::Yes, Fit::No);
        for value in arg.values() {
            let fit = param.values().iter().map(|p| self.fit_value(value, p, place, 0)).max().unwrap_or(Fit::Maybe);
            (worst, best) = (worst.min(fit), best.max(fit));
        }
        match (worst, best) {
            (Fit::No, Fit::No) => Fit::No,
            // One of several values fits: the set says more than the type is.
            (Fit::No, _) => Fit::Maybe,
            (Fit::Yes, _) if arg.open => Fit::Maybe,
            (worst, _) => worst,
        }
    }

    fn fit_value(&mut self, value: &Value, param: &Value, place: Place, depth: u32) -> Fit {
        if depth > MAX_BOUNDS || !self.step() {
            return Fit::Maybe;
        }
        if value == param && !matches!(value, Value::External(_)) {
            return Fit::Yes;
        }
        if let Value::External(path) = value
            && let Some(field) = field_of_outside(path)
            && let [field] = field.values()
        {
            return self.fit_value(&field.clone(), param, place, depth + 1);
        }
        if let Value::TypeParam(owner, at) = param {
            return self.fit_type_param(value, *owner, *at, place, depth);
        }
        let wanted = match param {
            Value::ExternalInstance(name, _) => &**name,
            Value::Instance(..) => "",
            _ => return Fit::Maybe,
        };
        match value {
            Value::Null => {
                if is_primitive(wanted) {
                    Fit::No
                } else {
                    Fit::Yes
                }
            }
            Value::External(path) if &**path == "Array.new" => self.fit_function(value, param, place),
            _ if is_functional_value(value) => self.fit_function(value, param, place),
            Value::TypeParam(owner, at) => self.fit_variable(*owner, *at, param, place, depth),
            Value::Anonymous(file, scope) => {
                let bases = self.anonymous_bases(*file, *scope);
                let values: Vec<Value> = bases.values().to_vec();
                let fits = values.iter().filter(|v| !matches!(v, Value::Anonymous(..)));
                fits.map(|v| self.fit_value(v, param, place, depth + 1)).max().unwrap_or(Fit::Maybe)
            }
            Value::Instance(class, _) => match param {
                Value::Instance(other, _) => self.is_subclass(*class, *other),
                _ => self.fit_outside(*class, wanted),
            },
            Value::ExternalInstance(name, args) => match param {
                // What lies outside extends nothing in the repository.
                Value::Instance(..) if name.contains('#') => Fit::Maybe,
                Value::Instance(..) => Fit::No,
                Value::ExternalInstance(other, other_args) => {
                    self.fit_library((name, args), (other, other_args), place, depth)
                }
                _ => Fit::Maybe,
            },
            _ => Fit::Maybe,
        }
    }

    /// A type parameter as the wanted type: what its bound asks for.
    fn fit_type_param(&mut self, value: &Value, owner: SymbolRef, at: u32, place: Place, depth: u32) -> Fit {
        if let Value::Lambda(..) = value {
            return Fit::Maybe;
        }
        let bound = self.bound_of(owner, at);
        let own: Vec<Value> = bound.values().to_vec();
        let fits = if own.is_empty() {
            self.fit_value(value, &Value::ExternalInstance(Name::Known("Object"), no_args()), place, depth + 1)
        } else {
            own.iter().map(|b| self.fit_value(value, b, place, depth + 1)).min().unwrap_or(Fit::Maybe)
        };
        // `T extends Comparable<T>` and the like are read without their arguments.
        if fits == Fit::No && at == SELF { Fit::Maybe } else { fits }
    }

    /// A type parameter as the given type. One that does not belong to the code around was left
    /// unfilled, and may be anything.
    fn fit_variable(&mut self, owner: SymbolRef, at: u32, param: &Value, place: Place, depth: u32) -> Fit {
        if at == SELF {
            let bound = self.bound_of(owner, at);
            let own: Vec<Value> = bound.values().to_vec();
            return own.iter().map(|b| self.fit_value(b, param, place, depth + 1)).max().unwrap_or(Fit::Maybe);
        }
        if !self.is_around(place, owner) {
            return Fit::Maybe;
        }
        let bound = self.bound_of(owner, at);
        let own: Vec<Value> = bound.values().to_vec();
        if own.is_empty() {
            let object = Value::ExternalInstance(Name::Known("Object"), no_args());
            return self.fit_value(&object, param, place, depth + 1);
        }
        own.iter().map(|b| self.fit_value(b, param, place, depth + 1)).max().unwrap_or(Fit::Maybe)
    }

    /// Whether a symbol's code lies around a place.
    fn is_around(&self, place: Place, owner: SymbolRef) -> bool {
        let facts = self.shared.names.view.facts(place.file);
        let mut at = Some(place.scope);
        while let Some(id) = at.filter(|_| owner.file == place.file) {
            let row = facts.scope(id);
            if row.owner == owner.symbol {
                return true;
            }
            at = row.parent;
        }
        false
    }

    fn is_subclass(&mut self, class: SymbolRef, other: SymbolRef) -> Fit {
        let mro = self.bases(Query::Mro(class));
        let mut open = mro.is_empty();
        for base in mro.iter() {
            match base {
                Base::Class(at, _) if *at == other => return Fit::Yes,
                Base::Unknown => open = true,
                Base::Class(..) | Base::External(..) => {}
            }
        }
        if open { Fit::Maybe } else { Fit::No }
    }

    /// A class of the repository where an outside type is wanted.
    fn fit_outside(&mut self, class: SymbolRef, wanted: &str) -> Fit {
        if wanted == "Object" {
            return Fit::Yes;
        }
        if is_primitive(wanted) || wanted == "Array" {
            return Fit::No;
        }
        let implied: &[&str] = match self.shared.names.view.symbol(class).kind {
            SymbolKind::Enum => &["Enum", "Comparable", "Serializable", "Constable"],
            SymbolKind::Record => &["Record"],
            SymbolKind::Annotation => &["Annotation"],
            _ => &[],
        };
        if implied.contains(&wanted) {
            return Fit::Yes;
        }
        let mro = self.bases(Query::Mro(class));
        let is_final = library_class(wanted).is_some_and(|c| c.is_final);
        let mut open = mro.is_empty();
        for base in mro.iter() {
            match base {
                Base::External(name, _) if is_same_type(name, wanted) => return Fit::Yes,
                Base::External(name, _) => match (library_class(name), library_class(wanted)) {
                    (Some(_), Some(_)) if jdk::extends(simple(name), simple(wanted)) == Some(true) => return Fit::Yes,
                    // The library extends nothing of other libraries.
                    (Some(_), _) => {}
                    (None, _) => open |= !is_final,
                },
                Base::Unknown => open = true,
                Base::Class(..) => {}
            }
        }
        if open { Fit::Maybe } else { Fit::No }
    }

    fn fit_library(&mut self, one: (&str, &[Set]), other: (&str, &[Set]), place: Place, depth: u32) -> Fit {
        let (name, wanted) = (one.0, other.0);
        if one.0.contains('#') || other.0.contains('#') || name == "null" {
            return Fit::Maybe;
        }
        if name == "Array" || wanted == "Array" {
            return match (name, wanted) {
                ("Array", "Array") => {
                    let (mine, theirs) =
                        (one.1.first().cloned().unwrap_or_default(), other.1.first().cloned().unwrap_or_default());
                    let primitive = |set: &Set| {
                        set.values().iter().any(|v| matches!(v, Value::ExternalInstance(n, _) if is_primitive(n)))
                    };
                    if (primitive(&mine) || primitive(&theirs))
                        && !mine.values().is_empty()
                        && !theirs.values().is_empty()
                    {
                        return if mine == theirs { Fit::Yes } else { Fit::No };
                    }
                    let _ = depth;
                    match self.fit(&mine, &theirs, place) {
                        Fit::Boxing => Fit::No,
                        fit => fit,
                    }
                }
                ("Array", "Object" | "Cloneable" | "Serializable") => Fit::Yes,
                ("Object", "Array") | ("Array", _) | (_, "Array") => Fit::No,
                _ => Fit::Maybe,
            };
        }
        if is_same_type(name, wanted) {
            return Fit::Yes;
        }
        match (is_primitive(name), is_primitive(wanted)) {
            (true, true) => {
                if widens(name, wanted) {
                    Fit::Yes
                } else {
                    Fit::No
                }
            }
            (true, false) => {
                let boxed = box_of(name).unwrap_or(name);
                match jdk::extends(boxed, wanted) {
                    Some(true) => Fit::Boxing,
                    _ => Fit::No,
                }
            }
            (false, true) => match unboxed(name) {
                Some(plain) if plain == wanted || widens(plain, wanted) => Fit::Boxing,
                _ => Fit::No,
            },
            (false, false) if wanted == "Object" => Fit::Yes,
            (false, false) => match (library_class(name), library_class(wanted)) {
                (Some(_), Some(_)) => match jdk::extends(simple(name), simple(wanted)) {
                    Some(true) => Fit::Yes,
                    _ => Fit::No,
                },
                // The library extends nothing but itself.
                (Some(_), None) => Fit::No,
                (None, Some(class)) if class.is_final => Fit::No,
                (None, _) => Fit::Maybe,
            },
        }
    }

    /// A lambda or method reference where a functional interface is wanted.
    fn fit_function(&mut self, value: &Value, param: &Value, place: Place) -> Fit {
        if let Value::ExternalInstance(name, _) = param
            && library_class(name).is_none()
            && !is_primitive(name)
            && &**name != "Array"
        {
            return Fit::Maybe;
        }
        let Some(shape) = self.functional(param) else { return Fit::No };
        let Value::Lambda(file, expr) = value else { return self.fit_reference(value, &shape.params, place) };
        if self.lambda_arity(value).is_some_and(|n| n != shape.params.len()) {
            return Fit::No;
        }
        let facts = self.shared.names.view.facts(*file);
        let Some(scope) = facts.expr(*expr).scope else { return Fit::Maybe };
        let is_void = shape.result.values() == [Value::Null];
        let (mut gives, mut throws, mut statement) = (false, false, true);
        let rows: Vec<u32> = self.shared.names.code(*file).returns(scope).collect();
        let mut is_expression = false;
        for row in rows {
            let returned = &facts.returns[row as usize];
            match returned.kind {
                ReturnKind::Expression => {
                    is_expression = true;
                    let kind = facts.expr(returned.expr).kind;
                    statement = matches!(kind, ExprKind::Call | ExprKind::New | ExprKind::Value | ExprKind::Opaque)
                        || kind == ExprKind::Operator && facts.expr(returned.expr).detail == 0;
                }
                ReturnKind::Throw => throws = true,
                ReturnKind::Return | ReturnKind::Yield | ReturnKind::YieldFrom => gives = true,
            }
        }
        let fits = match (is_expression, is_void) {
            (true, true) => statement,
            (true, false) => true,
            (false, true) => !gives,
            (false, false) => gives || throws,
        };
        if fits { Fit::Yes } else { Fit::No }
    }

    /// A method reference: it must take such arguments, or those after its receiver.
    fn fit_reference(&mut self, value: &Value, params: &[Set], place: Place) -> Fit {
        let n = params.len();
        let (Value::Bound(at, _) | Value::Function(at)) = value else {
            // `T[]::new` takes the length.
            let of_array = matches!(value, Value::External(path) if &**path == "Array.new");
            return match (of_array, n) {
                (true, 1) => Fit::Yes,
                (true, _) => Fit::No,
                (false, _) => Fit::Maybe,
            };
        };
        let variadic = self.shared.names.view.symbol(*at).flags.has(SymbolFlags::VARIADIC);
        if variadic {
            return Fit::Yes;
        }
        let wanted = self.param_types(*at);
        let given = match n.checked_sub(wanted.len()) {
            Some(0) => params,
            Some(1) => &params[1..],
            _ => return Fit::No,
        };
        let fits = given.iter().zip(wanted.iter()).all(|(given, wanted)| self.fit(given, wanted, place) != Fit::No);
        if fits { Fit::Yes } else { Fit::No }
    }
}

/// Whether two names of outside types mean one: equal, or equal as far as one is written.
fn is_same_type(one: &str, other: &str) -> bool {
    let (last, other_last) = (simple(one), simple(other));
    // Both dotted, they differ in their packages.
    one == other || (last == other_last && (last.len() == one.len() || other_last.len() == other.len()))
}

/// Whether a primitive widens to another (JLS 5.1.2).
fn widens(name: &str, wanted: &str) -> bool {
    let rank = |n: &str| NUMBERS.iter().position(|known| *known == n);
    let from = if name == "char" { Some(1) } else { rank(name) };
    matches!((from, rank(wanted)), (Some(from), Some(to)) if from < to)
}
