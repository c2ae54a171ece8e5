//! Java's expressions: calls, creations, arrays, arithmetic, and what a lambda is expected to be
//! where it is an argument.

use std::sync::Arc;

use crate::facts::model::{ExprId, ExprKind, ParamKind, Role, SymbolFlags, SymbolKind};
use crate::graph::builtins;
use crate::graph::generics::{Env, substitute, substitute_all};
use crate::graph::java_subtypes::promoted;
use crate::graph::modules::Family;
use crate::graph::names::Text;
use crate::graph::overloads::constant_types;
use crate::graph::queries::{Base, Denoted, Query, Session};
use crate::graph::scope::{Place, Space};
use crate::graph::value::{Set, Value, no_args};
use crate::view::SymbolRef;

impl Session<'_, '_> {
    /// What a Java call gives, by the methods that it may run.
    pub fn java_call(&mut self, expr: ExprId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let Some(callee) = facts.operand(expr, 0) else { return Set::unknown() };
        let row = facts.expr(expr);
        if row.kind == ExprKind::New {
            return match row.scope {
                Some(scope) => Set::one(Value::Anonymous(place.file, scope)),
                None => self.java_made(expr, place),
            };
        }
        let callees = self.java_callees(callee, place);
        let (targets, receivers, outside) = &*callees;
        let args = self.java_args(expr, place);
        if targets.is_empty() {
            if let Some(constants) = self.enum_constants(callee, place) {
                return constants;
            }
            return outside.as_ref().map_or_else(Set::unknown, |outside| self.call_result(outside, &args, place));
        }
        let chosen = self.pick_overload(targets, expr, place);
        let mut sets = Vec::new();
        for at in chosen.iter().copied() {
            let all = receivers.iter().map(Some).chain(receivers.is_empty().then_some(None));
            for receiver in all {
                let result = self.function_result(at, receiver, &args);
                if !result.mentions_param() {
                    sets.push(result);
                    continue;
                }
                let explicit = self.explicit_types(expr, at, place);
                sets.push(substitute(&result, &explicit));
            }
        }
        Set::union(sets)
    }

    /// What the `values` and `valueOf` that every enum has give (JLS 8.9.3), named with the enum or
    /// inside of it.
    fn enum_constants(&mut self, callee: ExprId, place: Place) -> Option<Set> {
        let facts = self.shared.names.view.facts(place.file);
        let name = facts.text(facts.expr(callee).name);
        if !matches!(name, "values" | "valueOf") {
            return None;
        }
        let class = match facts.operand(callee, 0) {
            Some(base) => match self.eval(base, place).values() {
                [Value::Class(class)] => *class,
                _ => return None,
            },
            None => self.class_around(place.file, place.scope)?,
        };
        if self.shared.names.view.symbol(class).kind != SymbolKind::Enum {
            return None;
        }
        let constant = Set::one(Value::Instance(class, no_args()));
        Some(if name == "values" { Set::external("Array", &[constant]) } else { constant })
    }

    /// The number of a call's arguments.
    pub fn n_java_args(&self, expr: ExprId, place: Place) -> usize {
        let operands = self.shared.names.view.facts(place.file).operands_of(expr);
        operands.iter().skip(1).filter(|o| o.role != Role::TypeArgument).count()
    }

    /// The values of a call's arguments.
    pub fn java_args(&mut self, expr: ExprId, place: Place) -> Vec<Set> {
        let facts = self.shared.names.view.facts(place.file);
        let operands = facts.operands_of(expr).iter().skip(1).filter(|o| o.role != Role::TypeArgument);
        operands.map(|o| self.eval(o.expr, place)).collect()
    }

    /// An instance of the class that is named behind `new`, a body after it left aside.
    pub fn java_made(&mut self, expr: ExprId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let row = facts.expr(expr);
        let Some(callee) = facts.operand(expr, 0) else { return Set::unknown() };
        // The created type, its arguments included, stands on the creation itself.
        let Some(ty) = row.ty.or(facts.expr(callee).ty) else {
            // An enum constant: the enum is named as such.
            let denoted = self.denoted_type(callee, place);
            let classes = denoted.iter().filter_map(|d| match d {
                Denoted::Symbol(class) => Some(Set::one(Value::Instance(*class, no_args()))),
                _ => None,
            });
            let sets: Vec<Set> = classes.collect();
            return if sets.is_empty() { Set::unknown() } else { Set::union(sets) };
        };
        let made = self.type_value(ty, place);
        let callee_row = facts.expr(callee);
        let is_diamond = facts.type_row(ty).detail == 1;
        if let (ExprKind::Attr, Some(name), true) =
            (callee_row.kind, callee_row.name, self.denoted_type(callee, place).is_empty())
        {
            // `outer.new Inner()`: the class is a member of the outer instance's.
            let text = self.shared.names.text(place.file, name);
            let outer = facts.operand(callee, 0).map_or_else(Set::unknown, |outer| self.eval(outer, place));
            let inner = outer.flat_map(|value| {
                let inner = self.java_member_types(value, text);
                let sets: Vec<Set> =
                    inner.into_iter().map(|class| Set::one(Value::Instance(class, no_args()))).collect();
                if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
            });
            return if inner.is_unknown() { made } else { inner };
        }
        if !is_diamond {
            return made;
        }
        let args = self.java_args(expr, place);
        made.flat_map(|value| match value {
            Value::Instance(class, own) if own.is_empty() && !args.is_empty() => self.constructed(*class, &args),
            Value::ExternalInstance(name, own) if own.is_empty() => {
                let copied = args.first().and_then(|arg| arg.values().first().cloned());
                let filled = copied
                    .and_then(|copied| ["Collection", "Map"].into_iter().find_map(|base| self.seen_as(&copied, base)));
                Set::one(Value::ExternalInstance(name.clone(), filled.unwrap_or_default().into()))
            }
            other => Set::one(other.clone()),
        })
    }

    /// The classes of a name that are members of an instance's class.
    fn java_member_types(&mut self, value: &Value, text: Text) -> Vec<SymbolRef> {
        let class = match value {
            Value::Instance(class, _) | Value::TypeParam(class, crate::graph::generics::SELF) => *class,
            _ => return Vec::new(),
        };
        let found = self.java_members(class, text, Space::Type);
        found.into_iter().filter_map(|d| if let Denoted::Symbol(at) = d { Some(at) } else { None }).collect()
    }

    /// An array: of the type that is written, else of what its elements are.
    pub fn java_array(&mut self, expr: ExprId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        if let Some(ty) = facts.expr(expr).ty {
            return self.type_value(ty, place);
        }
        let sets: Vec<Set> = facts.operands_of(expr).iter().map(|o| self.eval(o.expr, place)).collect();
        let element = if sets.is_empty() { Set::unknown() } else { Set::union(sets) };
        Set::external("Array", &[element])
    }

    /// What an operator gives whose result its operands decide (JLS 5.6, 15.18.1).
    pub fn java_operator(&mut self, expr: ExprId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let operands = facts.operands_of(expr);
        let mut number: Option<&'static str> = None;
        let mut is_boolean = !operands.is_empty();
        let mut all_known = true;
        for operand in operands {
            let set = constant_types(&self.eval(operand.expr, place));
            let [Value::ExternalInstance(name, _)] = set.values() else {
                all_known = false;
                continue;
            };
            if &**name == "String" {
                return Set::external("String", &[]);
            }
            is_boolean &= matches!(&**name, "boolean" | "Boolean");
            match promoted(name, number.unwrap_or("int")) {
                Some(wide) => number = Some(wide),
                None => all_known &= is_boolean,
            }
        }
        match (all_known, is_boolean, number) {
            (true, true, _) => Set::external("boolean", &[]),
            (true, false, Some(number)) => Set::external(number, &[]),
            _ => Set::unknown(),
        }
    }

    /// A member that an outside ancestor of a class has: of the one that is known to have it,
    /// else of the nearest.
    pub fn java_outside_member(&mut self, receiver: &Value, class: SymbolRef, text: Text) -> Set {
        let name = self.shared.names.str(text);
        let mro = self.bases(Query::Mro(class));
        let outside = |base: &Base| match base {
            Base::External(name, args) => Some((name.clone(), args.clone())),
            Base::Class(..) | Base::Unknown => None,
        };
        let known = mro.iter().filter_map(outside).find(|(base, _)| self.library_has(base, name));
        let Some((base, args)) = known.or_else(|| mro.iter().find_map(outside)) else { return Set::unknown() };
        let env = self.env_of(receiver, class);
        builtins::member(Family::Java, &Value::ExternalInstance(base, substitute_all(&args, &env)), name)
    }

    /// What argument `argument` of a call is expected to be.
    pub fn java_expected(&mut self, call: ExprId, argument: usize, place: Place, nesting: u32) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let Some(callee) = facts.operand(call, 0) else { return Set::unknown() };
        let args = self.java_args(call, place);
        let callees = if facts.expr(call).kind == ExprKind::New {
            let made = self.java_made(call, place);
            let mut constructors = Vec::new();
            for value in made.values() {
                if let Value::Instance(class, _) = value {
                    constructors.extend(self.constructors(*class));
                }
            }
            Arc::new((constructors.into(), made.values().iter().cloned().collect(), None))
        } else {
            self.java_callees(callee, place)
        };
        let (methods, receivers, outside) = &*callees;
        let wanted = self.expected(place.file, call, nesting + 1);
        if methods.is_empty() {
            let Some(outside) = outside else { return Set::unknown() };
            return outside.flat_map(|value| self.library_argument(value, &args, argument, &wanted, place));
        }
        let chosen = self.pick_overload(methods, call, place);
        let mut sets = Vec::new();
        for at in chosen.iter().copied() {
            let mut env = self.explicit_types(call, at, place);
            if let Some(receiver) = receivers.first() {
                let parent = self.shared.names.view.symbol(at).parent;
                if let Some(symbol) = parent {
                    env = env.merge_missing(self.env_of_any(receiver, SymbolRef { symbol, ..at }));
                }
            }
            sets.push(self.expected_argument(at, &args, argument, &wanted, env));
        }
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }

    /// The declared type of a parameter, its type parameters filled by what is known, by the
    /// other arguments and by what is wanted of the result.
    fn expected_argument(&mut self, at: SymbolRef, args: &[Set], argument: usize, wanted: &Set, env: Env) -> Set {
        let facts = self.shared.names.view.facts(at.file);
        let symbol = facts.symbol(at.symbol);
        let Some(scope) = symbol.scope else { return Set::unknown() };
        let place = Place { file: at.file, scope, line: u32::MAX };
        let params: Vec<_> = facts.params_of(scope).iter().filter(|p| p.kind != ParamKind::This).cloned().collect();
        let variadic = symbol.flags.has(SymbolFlags::VARIADIC);
        let last = params.len().saturating_sub(1);
        let row = params.get(argument).or(if variadic { params.last() } else { None });
        let Some(ty) = row.and_then(|p| p.ty) else { return Set::unknown() };
        let mut set = self.type_value(ty, place);
        if variadic && argument >= last {
            set = set.flat_map(|value| builtins::element(Family::Java, value));
        }
        let mut by_args = Env::default();
        let others: Vec<Set> = args
            .iter()
            .enumerate()
            .map(|(position, arg)| {
                // A lambda with parameters would ask for the others in turn.
                let waits = arg.values().iter().any(|v| self.lambda_arity(v).is_some_and(|n| n > 0));
                if position == argument || waits { Set::unknown() } else { arg.clone() }
            })
            .collect();
        self.fill(at, &others, &mut by_args, 0);
        let mut by_result = Env::default();
        if let (Some(ty), false) = (symbol.ty, wanted.is_unknown()) {
            self.unify(ty, place, wanted, &mut by_result);
        }
        substitute(&set, &env.merge_missing(by_args).merge_missing(by_result))
    }
}
