//! Python's protocols: what iterating, entering, unpacking and reading a descriptor give.

use crate::facts::model::{SymbolId, SymbolKind};
use crate::graph::builtins;
use crate::graph::members::Outcome;
use crate::graph::modules::Family;
use crate::graph::queries::{Base, Denoted, Query, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Name, Set, Value, no_args};
use crate::view::SymbolRef;

impl Session<'_, '_> {
    /// What iterating gives: containers' elements, or what `__iter__` and `__next__` say.
    pub fn elements(&mut self, set: &Set, place: Place) -> Set {
        let family = Family::of(self.shared.names.view.dialect(place.file));
        set.flat_map(|value| match value {
            Value::Instance(..) | Value::TypeParam(..) if family == Family::Python => {
                let iterated = self.iterated(value, ["__iter__", "__next__"], false, place);
                // A comprehension does not say whether it is an `async` one.
                if iterated.is_unknown() { self.async_elements(&Set::one(value.clone()), place) } else { iterated }
            }
            // Iterating over an enum gives its members.
            Value::Class(class) if self.shared.names.view.symbol(*class).kind == SymbolKind::Enum => {
                Set::one(Value::Instance(*class, no_args()))
            }
            _ => builtins::element(family, value),
        })
    }

    /// What `async for` gives.
    pub fn async_elements(&mut self, set: &Set, place: Place) -> Set {
        let family = Family::of(self.shared.names.view.dialect(place.file));
        set.flat_map(|value| match value {
            Value::Instance(..) | Value::TypeParam(..) if family == Family::Python => {
                self.iterated(value, ["__aiter__", "__anext__"], true, place)
            }
            _ => builtins::element(family, value),
        })
    }

    fn iterated(&mut self, value: &Value, [iter, next]: [&str; 2], is_async: bool, place: Place) -> Set {
        let receiver = Set::one(value.clone());
        let iterator = self.call_method(&receiver, iter, place);
        if iterator.is_unknown()
            && let Some(fields) = self.named_tuple_fields(value)
        {
            return Set::union(fields.into_iter().map(|field| self.value_on(&Denoted::Symbol(field), value)));
        }
        iterator.flat_map(|iterator| match iterator {
            Value::Instance(..) | Value::TypeParam(..) => {
                let next = self.call_method(&Set::one(iterator.clone()), next, place);
                if is_async { next.flat_map(|value| builtins::awaited(Family::Python, value)) } else { next }
            }
            _ => builtins::element(Family::Python, iterator),
        })
    }

    /// What calling a method without arguments gives; unknown where there is none.
    fn call_method(&mut self, receiver: &Set, name: &str, place: Place) -> Set {
        let Some(text) = self.shared.names.find(name) else { return Set::unknown() };
        let method = self.attribute(receiver, text, place.file);
        if method.values().iter().any(Value::is_external) {
            return Set::unknown();
        }
        self.call_result(&method, &[], place)
    }

    /// Position `at` of what is unpacked.
    pub fn part(&mut self, value: &Value, at: usize, place: Place) -> Set {
        let family = Family::of(self.shared.names.view.dialect(place.file));
        if family != Family::Python || !matches!(value, Value::Instance(..) | Value::TypeParam(..)) {
            return builtins::part(family, value, at);
        }
        match self.named_tuple_fields(value) {
            Some(fields) => match fields.get(at) {
                Some(field) => self.value_on(&Denoted::Symbol(*field), value),
                None => Set::unknown(),
            },
            None => self.elements(&Set::one(value.clone()), place),
        }
    }

    /// The fields of a `NamedTuple` class, in order; `None` for other values.
    fn named_tuple_fields(&mut self, value: &Value) -> Option<Vec<SymbolRef>> {
        let class = match value {
            Value::Instance(class, _) => *class,
            Value::TypeParam(owner, at) => match self.bound_of(*owner, *at).values() {
                [Value::Instance(class, _)] => *class,
                _ => return None,
            },
            _ => return None,
        };
        let mro = self.bases(Query::Mro(class));
        let is_tuple =
            |base: &Base| matches!(base, Base::External(name, _) if name.rsplit('.').next() == Some("NamedTuple"));
        if !mro.iter().any(is_tuple) {
            return None;
        }
        let view = self.shared.names.view;
        mro.iter().find_map(|base| {
            let Base::Class(at, _) = base else { return None };
            let children = self.shared.names.file(at.file).children(at.symbol);
            let fields: Vec<SymbolRef> = children
                .map(|symbol| SymbolRef { symbol, ..*at })
                .filter(|field| view.symbol(*field).kind == SymbolKind::Field && view.symbol(*field).ty.is_some())
                .collect();
            (!fields.is_empty()).then_some(fields)
        })
    }

    /// Position `at` of a class pattern (`case Point(x, y)`): a field of a named tuple or dataclass.
    pub fn matched_part(&mut self, value: &Value, at: usize) -> Set {
        let fields = match self.named_tuple_fields(value) {
            Some(fields) => fields,
            None => self.dataclass_fields(value),
        };
        match fields.get(at) {
            Some(field) => self.value_on(&Denoted::Symbol(*field), value),
            None => Set::unknown(),
        }
    }

    /// The fields that a dataclass takes in order, those of its bases first.
    fn dataclass_fields(&mut self, value: &Value) -> Vec<SymbolRef> {
        let Value::Instance(class, _) = value else { return Vec::new() };
        let view = self.shared.names.view;
        let mro = self.bases(Query::Mro(*class));
        let mut fields: Vec<SymbolRef> = Vec::new();
        for base in mro.iter().rev() {
            let Base::Class(at, _) = base else { continue };
            if !self.has_decorator(*at, &["dataclass", "define", "frozen", "attrs"]) {
                continue;
            }
            let children: Vec<SymbolId> = self.shared.names.file(at.file).children(at.symbol).collect();
            for symbol in children {
                let field = SymbolRef { symbol, ..*at };
                let row = view.symbol(field);
                if row.kind != SymbolKind::Field || row.ty.is_none() {
                    continue;
                }
                let name = view.facts(at.file).name(row.name);
                // What a class below declares anew keeps its place.
                let known = fields.iter().position(|of| view.facts(of.file).name(view.symbol(*of).name) == name);
                match known {
                    Some(known) => fields[known] = field,
                    None => fields.push(field),
                }
            }
        }
        fields
    }

    /// What `with` binds: the result of `__enter__`; what context managers of the standard
    /// library wrap.
    pub fn entered(&mut self, set: &Set, is_async: bool, place: Place) -> Set {
        let method = if is_async { "__aenter__" } else { "__enter__" };
        set.flat_map(|value| match value {
            Value::ExternalInstance(name, args) if &**name == "context" => args.first().cloned().unwrap_or_default(),
            Value::Instance(..) | Value::TypeParam(..) => match self.shared.names.find(method) {
                Some(text) => {
                    let enter = self.attribute(&Set::one(value.clone()), text, place.file);
                    let entered = self.call_result(&enter, &[], place);
                    if is_async { entered.flat_map(|value| builtins::awaited(Family::Python, value)) } else { entered }
                }
                None => Set::unknown(),
            },
            Value::External(_) | Value::ExternalInstance(..) => Set::one(Value::External(Name::Known("entered"))),
            _ => Set::unknown(),
        })
    }

    /// What reading a class attribute gives where its value has `__get__`, or is a `property(…)`.
    pub fn through_descriptor(&mut self, set: Set, receiver: &Value) -> Set {
        let is_descriptor = |value: &Value| match value {
            Value::Instance(..) => true,
            Value::ExternalInstance(name, _) => &**name == "property",
            _ => false,
        };
        if !set.values().iter().any(is_descriptor) {
            return set;
        }
        let getter = self.shared.names.find("__get__");
        set.flat_map(|value| match (value, getter) {
            (Value::ExternalInstance(name, args), _) if &**name == "property" => {
                let functions = args.first().cloned().unwrap_or_default();
                functions.flat_map(|function| match function {
                    Value::Function(at) => self.function_result(*at, Some(receiver), &[]),
                    _ => Set::unknown(),
                })
            }
            (Value::Instance(class, _), Some(text)) => {
                let member = self.member(value, text, class.file);
                match (member.outcome, member.denoted.first()) {
                    (Outcome::Found, Some(Denoted::Symbol(at))) => self.function_result(*at, Some(value), &[]),
                    _ => Set::one(value.clone()),
                }
            }
            _ => Set::one(value.clone()),
        })
    }

    /// What an operator gives by the method that implements it; `None` where the operands' own
    /// classes do not say.
    pub fn operated(&mut self, operator: &str, operands: &[Set], place: Place) -> Option<Set> {
        let method = match (operator, operands.len()) {
            ("<" | ">" | "<=" | ">=" | "==" | "!=" | "in" | "is" | "not", _) => {
                return Some(Set::external("bool", &[]));
            }
            ("-", 1) => "__neg__",
            ("+", 2) => "__add__",
            ("-", 2) => "__sub__",
            ("*", 2) => "__mul__",
            ("/", 2) => "__truediv__",
            ("//", 2) => "__floordiv__",
            ("%", 2) => "__mod__",
            ("@", 2) => "__matmul__",
            ("|", 2) => "__or__",
            ("&", 2) => "__and__",
            ("^", 2) => "__xor__",
            _ => return None,
        };
        let (left, other) = (operands.first()?, operands.get(1).cloned());
        if left.open || left.values().is_empty() {
            return None;
        }
        let text = self.shared.names.find(method);
        let mut sets = Vec::new();
        for value in left.values() {
            match (value, text) {
                (Value::Instance(..) | Value::TypeParam(..), Some(text)) => {
                    let implementing = self.attribute(&Set::one(value.clone()), text, place.file);
                    let args: Vec<Set> = other.clone().into_iter().collect();
                    sets.push(self.call_result(&implementing, &args, place));
                }
                (Value::ExternalInstance(name, _), _) if matches!(&**name, "list" | "str" | "set" | "bytes") => {
                    sets.push(Set::one(value.clone()));
                    // Adding lists of two kinds gives a list of both.
                    sets.extend(other.clone().filter(|_| matches!(&**name, "list" | "set")));
                }
                _ => return None,
            }
        }
        Some(Set::union(sets))
    }
}
