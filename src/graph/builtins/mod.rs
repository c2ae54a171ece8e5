//! What is known of builtin and well-known outside types: results and elements, no edges.
//!
//! An outside class is named by a plain text (`list`, `Promise`, `Map`); a method taken from
//! one by `class#method`. Unknown methods give something that is still outside.

mod ecma;
mod java;
pub mod jdk;
mod python;
mod words;

use crate::facts::model::LiteralKind;
use crate::graph::modules::Family;
use crate::graph::value::{Name, Set, Value};

/// The class of a list or array display.
pub fn list_class(family: Family) -> &'static str {
    match family {
        Family::Python => "list",
        Family::Ecma | Family::Java => "Array",
    }
}

/// The class of a literal.
pub fn literal_class(family: Family, kind: LiteralKind) -> &'static str {
    match family {
        Family::Python => python::literal_class(kind),
        Family::Ecma => ecma::literal_class(kind),
        Family::Java => java::literal_class(kind),
    }
}

/// The values of an outside type by its name or dotted path; `None` when nothing is known of it.
pub fn named_type(family: Family, path: &str, args: &[Set]) -> Option<Set> {
    match family {
        Family::Python => python::named_type(path, args),
        Family::Ecma => ecma::named_type(path, args),
        Family::Java => java::named_type(path, args),
    }
}

/// What a global name is, when no declaration in the repository has it.
pub fn global(family: Family, name: &str) -> Option<Set> {
    let known = match family {
        Family::Python => python::is_global(name),
        Family::Ecma => ecma::is_global(name),
        Family::Java => java::is_global(name),
    };
    known.then(|| Set::one(Value::External(Name::of(name))))
}

/// Whether a path names a maker of type parameters.
pub fn makes_type_param(path: &str) -> bool {
    let path = path.strip_suffix("()").unwrap_or(path);
    let last = path.rsplit('.').next().unwrap_or(path);
    matches!(last, "TypeVar" | "ParamSpec" | "TypeVarTuple")
}

fn arg(args: &[Set], at: usize) -> Set {
    args.get(at).cloned().unwrap_or_default()
}

/// What iterating over a value gives.
pub fn element(family: Family, value: &Value) -> Set {
    let Value::ExternalInstance(name, args) = value else {
        return match value {
            Value::External(path) => Set::one(Value::External(Name::from(format!("{path}[]")))),
            Value::Null => Set::never(),
            _ => Set::unknown(),
        };
    };
    match &**name {
        "tuple" => Set::union(args.iter().cloned()),
        "Map" if family == Family::Ecma => Set::external("tuple", &[arg(args, 0), arg(args, 1)]),
        "str" | "string" | "bytes" => Set::one(value.clone()),
        _ if args.is_empty() => external_of(name, "element"),
        _ => arg(args, 0),
    }
}

/// What subscripting a value gives.
pub fn element_at(family: Family, value: &Value) -> Set {
    match value {
        Value::ExternalInstance(name, args) => match &**name {
            "dict" | "Map" | "Record" | "Mapping" => arg(args, 1),
            "tuple" => Set::union(args.iter().cloned()),
            _ => element(family, value),
        },
        _ => element(family, value),
    }
}

/// The class of an instance; of a type parameter, `type` of it.
pub fn class_of(value: &Value) -> Set {
    match value {
        Value::Instance(class, _) => Set::one(Value::Class(*class)),
        Value::TypeParam(..) => Set::external("type", &[Set::one(value.clone())]),
        Value::ExternalInstance(name, _) if !name.contains('#') => Set::one(Value::External(name.clone())),
        _ => Set::unknown(),
    }
}

/// Position `at` of a destructured value.
pub fn part(family: Family, value: &Value, at: usize) -> Set {
    match value {
        Value::ExternalInstance(name, args) if &**name == "tuple" => match args.get(at) {
            Some(set) => set.clone(),
            None => Set::unknown(),
        },
        _ => element(family, value),
    }
}

/// What awaiting a value gives.
pub fn awaited(family: Family, value: &Value) -> Set {
    match value {
        Value::ExternalInstance(name, args) => match (&**name, family) {
            ("Promise" | "PromiseLike", Family::Ecma) => arg(args, 0).flat_map(|inner| match inner {
                Value::ExternalInstance(name, args) if &**name == "Promise" => arg(args, 0),
                other => Set::one(other.clone()),
            }),
            ("Awaitable" | "Coroutine" | "Future" | "Task", Family::Python) => arg(args, 0),
            (_, Family::Ecma) => Set::one(value.clone()),
            _ => external_of(name, "await"),
        },
        Value::External(path) => Set::one(Value::External(Name::from(format!("{path}.await")))),
        _ if family == Family::Ecma => Set::one(value.clone()),
        _ => Set::unknown(),
    }
}

/// A member of an outside instance: its type where known, else the method as such.
pub fn member(family: Family, receiver: &Value, name: &str) -> Set {
    let Value::ExternalInstance(class, args) = receiver else {
        return Set::one(Value::External(Name::from(format!("?.{name}"))));
    };
    let property = match family {
        Family::Python => python::property(class, args, name),
        Family::Ecma => ecma::property(class, args, name),
        Family::Java => java::property(class, name),
    };
    property.unwrap_or_else(|| {
        if class.contains('#') {
            return external_of(class, name);
        }
        Set::one(Value::ExternalInstance(Name::joined([class, "#", name]), args.clone()))
    })
}

/// Whether every class has a member of that name.
pub fn is_class_member(family: Family, name: &str) -> bool {
    match family {
        Family::Python => name.starts_with("__") && name.ends_with("__") || name == "mro",
        Family::Ecma => matches!(name, "name" | "prototype" | "length" | "call" | "apply" | "bind" | "toString"),
        Family::Java => matches!(name, "class" | "length" | "values" | "valueOf"),
    }
}

/// Whether every object has a member of that name.
pub fn is_object_member(family: Family, name: &str) -> bool {
    match family {
        Family::Python => name.starts_with("__") && name.ends_with("__"),
        Family::Ecma => matches!(
            name,
            "constructor"
                | "hasOwnProperty"
                | "isPrototypeOf"
                | "propertyIsEnumerable"
                | "toLocaleString"
                | "toString"
                | "valueOf"
        ),
        Family::Java => matches!(
            name,
            "equals"
                | "hashCode"
                | "toString"
                | "getClass"
                | "notify"
                | "notifyAll"
                | "wait"
                | "clone"
                | "finalize"
                | "name"
                | "ordinal"
                | "compareTo"
                | "getDeclaringClass"
        ),
    }
}

/// The value of a member that every object has.
pub fn object_member(family: Family, name: &str) -> Set {
    let class = match (family, name) {
        (Family::Java, "name" | "ordinal" | "compareTo" | "getDeclaringClass") => "Enum",
        (Family::Java, _) => "Object",
        (Family::Python | Family::Ecma, _) => "object",
    };
    Set::external(Name::joined([class, "#", name]), &[])
}

/// Whether a member of a function gives the function back.
pub fn returns_itself(family: Family, name: &str) -> bool {
    match family {
        Family::Python => name == "__wrapped__",
        Family::Ecma => name == "bind",
        Family::Java => false,
    }
}

/// What calling something from outside gives.
pub fn call(family: Family, path: &str, args: &[Set]) -> Set {
    let known = match family {
        Family::Python => python::call(path, args),
        Family::Ecma => ecma::call(path, args),
        Family::Java => java::call(path, args),
    };
    known.unwrap_or_else(|| match path.strip_suffix("()") {
        Some(_) => Set::one(Value::External(Name::of(path))),
        None => Set::one(Value::External(Name::joined([path, "()", ""]))),
    })
}

/// What calling `class#method` of an outside instance gives. `own` are the instance's type
/// arguments; `by_lambda(i)` evaluates what argument `i` gives when called.
pub fn call_method(
    family: Family,
    name: &str,
    own: &[Set],
    args: &[Set],
    by_lambda: &mut dyn FnMut(usize) -> Set,
) -> Set {
    let Some((class, method)) = name.split_once('#') else { return external_of(name, "()") };
    let known = match family {
        Family::Python => python::call_method(class, method, own, args),
        Family::Ecma => ecma::call_method(class, method, own, args, by_lambda),
        Family::Java => java::call_method(class, method, own, args, by_lambda),
    };
    known.unwrap_or_else(|| match family {
        // `Class.method` without the mark of a call is a method reference.
        Family::Java => Set::one(Value::External(Name::from(format!("{class}.{method}()")))),
        Family::Python | Family::Ecma => external_of(class, method),
    })
}

/// Parameter `position` of a callback given to `class#method`.
pub fn callback_param(family: Family, name: &str, own: &[Set], position: usize) -> Set {
    let Some((class, method)) = name.split_once('#') else { return Set::unknown() };
    let known = match family {
        Family::Python => python::callback_param(class, method, own),
        Family::Ecma => ecma::callback_param(class, method, own, position),
        Family::Java => java::callback_param(class, method, own, position),
    };
    known.unwrap_or_else(Set::unknown)
}

pub use python::callback_source;

/// Whether builtin or outside types commonly have a member of that name, so that the name is
/// no evidence of the repository's.
pub fn is_common_member(family: Family, name: &str) -> bool {
    let own = match family {
        Family::Python => &python::COMMON,
        Family::Ecma => &ecma::COMMON,
        Family::Java => &java::COMMON,
    };
    let is_builtin = family == Family::Python && python::is_global(name);
    name.len() < 3 || own.has(name) || is_builtin || is_object_member(family, name)
}

/// Something from outside that came out of `class` by `way`.
fn external_of(class: &str, way: &str) -> Set {
    // Bounded: chains of calls on outside things stay one short name.
    let class = class.split(['#', '.']).next().unwrap_or(class);
    Set::one(Value::External(Name::from(format!("{class}.{way}"))))
}
