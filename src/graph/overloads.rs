//! Java overloads: which of several methods a call binds to, by arity, then by what is known
//! of the types of its arguments (JLS 15.12.2, over erased types).

use std::sync::Arc;

use crate::facts::model::{ExprId, SymbolFlags};
use crate::graph::members::signature_of;
use crate::graph::queries::{Base, Query, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Set, Value};
use crate::view::SymbolRef;

impl Session<'_, '_> {
    /// Of overloads those that a call binds to: by arity, then by what is known of the
    /// arguments' types; several when that does not decide.
    ///
    /// `candidates` are always those that the call itself names.
    pub fn pick_overload(&mut self, candidates: &[SymbolRef], expr: ExprId, place: Place) -> Arc<[SymbolRef]> {
        if candidates.len() < 2 {
            return candidates.into();
        }
        self.remembered_overloads((place, expr), |session| session.best_overloads(candidates, expr, place).into())
    }

    fn best_overloads(&mut self, candidates: &[SymbolRef], expr: ExprId, place: Place) -> Vec<SymbolRef> {
        let args = self.java_args(expr, place);
        let view = self.shared.names.view;
        let mut scored: Vec<(i32, SymbolRef)> = Vec::new();
        for at in candidates {
            let params = parameter_names(view.qualname(*at));
            let variadic = view.symbol(*at).flags.has(SymbolFlags::VARIADIC);
            let fits = params.len() == args.len() || (variadic && args.len() + 1 >= params.len());
            if !fits {
                continue;
            }
            let mut score = if variadic { -1 } else { 0 };
            let mut possible = true;
            for (position, arg) in args.iter().enumerate() {
                let mut param = params.get(position).or(params.last()).copied().unwrap_or("Object");
                if variadic && position + 1 >= params.len() && args.len() != params.len() {
                    param = param.strip_suffix("[]").unwrap_or(param);
                }
                match self.fit(arg, param) {
                    Some(points) => score += points,
                    None => possible = false,
                }
            }
            if possible {
                scored.push((score, *at));
            }
        }
        let best = scored.iter().map(|(score, _)| *score).max();
        let chosen: Vec<SymbolRef> =
            scored.into_iter().filter(|(score, _)| Some(*score) == best).map(|(_, at)| at).collect();
        if chosen.is_empty() { self.by_arity(candidates, args.len()) } else { chosen }
    }

    fn by_arity(&self, candidates: &[SymbolRef], n_args: usize) -> Vec<SymbolRef> {
        let view = self.shared.names.view;
        let same: Vec<SymbolRef> =
            candidates.iter().copied().filter(|at| parameter_names(view.qualname(*at)).len() == n_args).collect();
        same
    }

    /// How well an argument fits a parameter's erased type; `None` when it cannot.
    fn fit(&mut self, arg: &Set, param: &str) -> Option<i32> {
        if arg.values().is_empty() {
            return Some(2);
        }
        let fits: Vec<Option<i32>> = arg.values().iter().map(|value| self.fit_value(value, param)).collect();
        fits.into_iter().flatten().max()
    }

    fn fit_value(&mut self, value: &Value, param: &str) -> Option<i32> {
        let primitive = param.starts_with(char::is_lowercase) && !param.ends_with("[]");
        match value {
            Value::Null => (!primitive).then_some(if param == "Object" { 1 } else { 2 }),
            Value::Lambda(..) | Value::Function(_) | Value::Bound(..) => {
                (!primitive && !matches!(param, "String" | "Object" | "Class")).then_some(4)
            }
            Value::Class(_) => match param {
                "Class" => Some(10),
                "Type" | "Object" | "Serializable" => Some(3),
                _ => None,
            },
            Value::Instance(class, _) => {
                let mro = self.bases(Query::Mro(*class));
                let view = self.shared.names.view;
                let mut open = false;
                for (distance, base) in mro.iter().enumerate() {
                    match base {
                        Base::Class(at, _) => {
                            if view.facts(at.file).name(view.symbol(*at).name) == param {
                                return Some(10 - (distance as i32).min(6));
                            }
                        }
                        Base::External(name, _) => {
                            if name.rsplit('.').next() == Some(param) {
                                return Some(4);
                            }
                            open = true;
                        }
                        Base::Unknown => open = true,
                    }
                }
                match param {
                    "Object" => Some(1),
                    _ if primitive => None,
                    _ => open.then_some(1),
                }
            }
            Value::ExternalInstance(name, _) => fit_external(name, param, primitive),
            Value::Anonymous(file, scope) => {
                let bases = self.anonymous_bases(*file, *scope);
                self.fit(&bases, param)
            }
            Value::TypeParam(owner, at) => {
                let bound = self.bound_of(*owner, *at);
                match bound.values().first() {
                    Some(Value::TypeParam(..)) | None => Some(if param == "Object" { 4 } else { 1 }),
                    Some(value) => self.fit_value(&value.clone(), param),
                }
            }
            _ => Some(1),
        }
    }
}

fn fit_external(name: &str, param: &str, primitive: bool) -> Option<i32> {
    const NUMBERS: [&str; 6] = ["byte", "short", "int", "long", "float", "double"];
    const BOXES: [(&str, &str); 8] = [
        ("int", "Integer"),
        ("long", "Long"),
        ("double", "Double"),
        ("float", "Float"),
        ("boolean", "Boolean"),
        ("char", "Character"),
        ("byte", "Byte"),
        ("short", "Short"),
    ];
    let name = name.rsplit('.').next().unwrap_or(name);
    if name == param || (name == "Array" && param.ends_with("[]")) {
        return Some(10);
    }
    if name.contains('#') {
        return Some(1);
    }
    let rank = |n: &str| NUMBERS.iter().position(|known| *known == n);
    let from = if name == "char" { rank("short") } else { rank(name) };
    if let (Some(from), Some(to)) = (from, rank(param)) {
        return (from < to).then(|| 8 - (to - from) as i32);
    }
    let value_is_primitive = rank(name).is_some() || matches!(name, "boolean" | "char");
    let boxed = BOXES.iter().any(|(small, big)| (*small == name && *big == param) || (*big == name && *small == param));
    if boxed {
        return Some(4);
    }
    if value_is_primitive {
        return match param {
            "Object" => Some(1),
            "Number" => (!matches!(name, "boolean" | "char")).then_some(2),
            "Comparable" | "Serializable" => Some(2),
            _ => None,
        };
    }
    match (name, param) {
        (_, "Object") => Some(1),
        ("String", "CharSequence" | "Comparable" | "Serializable") => Some(5),
        ("String", _) => None,
        ("Class", "Type" | "Serializable" | "GenericDeclaration" | "AnnotatedElement") => Some(5),
        ("Class", _) => None,
        (_, "String" | "Class") => None,
        (_, "Throwable" | "Exception" | "RuntimeException" | "IOException") if is_exception(name) => Some(5),
        _ if is_exception(name)
            || BOXES.iter().any(|(_, big)| *big == name && param != "Number" && param != "Comparable") =>
        {
            None
        }
        _ if primitive => None,
        _ if name.ends_with(param) => Some(5),
        // How outside types relate is not known.
        _ => Some(2),
    }
}

/// The erased parameter types in a method's qualname.
pub fn parameter_names(qualname: &str) -> Vec<&str> {
    let signature = signature_of(qualname);
    let Some((_, rest)) = signature.split_once('(') else { return Vec::new() };
    let inside = rest.strip_suffix(')').unwrap_or(rest);
    if inside.is_empty() { Vec::new() } else { inside.split(',').collect() }
}

fn is_exception(name: &str) -> bool {
    name.ends_with("Exception") || name.ends_with("Error") || name == "Throwable"
}
