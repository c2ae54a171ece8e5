//! What the operands of a call are expected to be, by the parameters that they are given for.

use crate::facts::model::{ExprId, ExprKind, ParamKind, Role};
use crate::graph::generics::{Env, substitute};
use crate::graph::modules::Family;
use crate::graph::queries::{Query, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Set, Value};
use crate::view::{FileIdx, SymbolRef};

/// What a parameter is declared to be for an operand of a call, its type parameters open.
#[derive(Clone, Debug)]
pub struct Wanted {
    declared: Set,
    /// The function that declares it, and what it is called on; `None` where nothing fills type
    /// parameters.
    by: Option<(SymbolRef, Option<Value>)>,
    /// The parameter of an ECMAScript signature: its row, and the position in a rest parameter.
    param: Option<(u32, Option<usize>)>,
}

impl Wanted {
    /// What is wanted as it stands.
    fn plain(declared: Set) -> Self {
        Wanted { declared, by: None, param: None }
    }

    /// Whether anything is declared.
    pub fn is_told(&self) -> bool {
        !self.declared.is_bare()
    }
}

impl Session<'_, '_> {
    /// Solves `Expected`: type parameters are filled by the receiver, explicit type arguments, and
    /// the arguments, the operand itself among them.
    pub fn expected_operand(&mut self, file: FileIdx, call: ExprId, position: u32) -> Set {
        let operand = &self.shared.names.view.facts(file).operands_of(call)[position as usize];
        let place = self.place_near(file, operand.expr);
        let mut sets = Vec::new();
        for wanted in self.wanted_operand(call, position as usize, place) {
            if !wanted.declared.mentions_param() {
                sets.push(wanted.declared);
                continue;
            }
            let mut env = self.receiver_types(&wanted, call, place);
            if let Some((at, _)) = wanted.by
                && self.is_ecma(at.file)
            {
                env = self.argument_types(at, call, place, env);
            }
            sets.push(self.filled_by(&wanted, env));
        }
        Set::union(sets)
    }

    /// What the functions that a call may mean declare for its operand `position`.
    pub fn wanted_operand(&mut self, call: ExprId, position: usize, place: Place) -> Vec<Wanted> {
        let facts = self.shared.names.view.facts(place.file);
        let Some(callee) = facts.operand(call, 0) else { return vec![Wanted::plain(Set::unknown())] };
        let before = facts.operands_of(call)[1..position].iter();
        let argument = before.filter(|o| o.role != Role::TypeArgument).count();
        if Family::of(facts.dialect) == Family::Java {
            return vec![Wanted::plain(self.java_expected(call, argument, place, 0))];
        }
        let callees = self.eval(callee, place);
        let mut wanted = Vec::new();
        for value in callees.values() {
            self.wanted_by(value, call, (position, argument), place, &mut wanted);
        }
        if callees.open {
            wanted.push(Wanted::plain(Set::unknown()));
        }
        wanted
    }

    /// The types that a callee declares for an operand of a call that is its argument `argument`.
    fn wanted_by(
        &mut self,
        callee: &Value,
        call: ExprId,
        (position, argument): (usize, usize),
        place: Place,
        all: &mut Vec<Wanted>,
    ) {
        let unknown = Wanted::plain(Set::unknown());
        let (at, receiver) = match callee {
            Value::Function(at) => (*at, None),
            Value::Bound(at, receiver) => (*at, Some(&**receiver)),
            Value::Class(class) => match self.constructors(*class).first() {
                Some(constructor) => (*constructor, None),
                None => return all.push(unknown),
            },
            Value::Shape(..) => return all.push(Wanted::plain(self.param_of_shape(callee, argument))),
            Value::Instance(class, _) if self.is_ecma(class.file) => {
                let signatures = self.call_signatures(*class);
                return self.wanted_by_signatures(&signatures, Some(callee), call, argument, place, all);
            }
            _ => return all.push(unknown),
        };
        if self.is_ecma(at.file) {
            let signatures = self.signatures_of(at);
            return self.wanted_by_signatures(&signatures, receiver, call, argument, place, all);
        }
        let facts = self.shared.names.view.declared(at);
        let symbol = facts.symbol(at.symbol);
        let Some(scope) = symbol.scope else { return all.push(unknown) };
        let is_bound = receiver.is_some() || matches!(callee, Value::Class(_));
        let skip = usize::from(is_bound && !self.has_decorator(at, &["staticmethod"]));
        let mut params = facts.params_of(scope).iter().filter(|p| p.kind != ParamKind::This).skip(skip);
        let own = self.shared.names.view.facts(place.file);
        let operand = &own.operands_of(call)[position];
        let param = match operand.role {
            Role::Keyword => params.find(|p| p.name.is_some() && facts.text(p.name) == own.text(operand.name)),
            _ => params.nth(argument),
        };
        let Some(ty) = param.and_then(|p| p.ty) else { return all.push(unknown) };
        let declared = self.type_value(ty, self.header_place(at.file, scope, symbol.name_line));
        all.push(Wanted { declared, by: Some((at, receiver.cloned())), param: None });
    }

    /// The types that ECMAScript signatures declare for an argument, of those that the call can
    /// mean by its number of arguments.
    fn wanted_by_signatures(
        &mut self,
        signatures: &[SymbolRef],
        receiver: Option<&Value>,
        call: ExprId,
        argument: usize,
        place: Place,
        all: &mut Vec<Wanted>,
    ) {
        let facts = self.shared.names.view.facts(place.file);
        let operands = facts.operands_of(call)[1..].iter().filter(|o| o.role != Role::TypeArgument);
        let spread = operands.clone().any(|o| o.role == Role::Spread);
        let n_args = (!spread).then(|| operands.count());
        let n_before = all.len();
        for at in signatures {
            let Some(param) = self.row_of_signature(*at, argument, n_args) else { continue };
            let declared = self.part_of_param(Query::Declared(at.file, param.0), param.1);
            all.push(Wanted { declared, by: Some((*at, receiver.cloned())), param: Some(param) });
        }
        if all.len() == n_before {
            all.push(Wanted::plain(Set::unknown()));
        }
    }

    /// What explicit type arguments of a call, and what its function is called on, say of the type
    /// parameters of what is wanted.
    fn receiver_types(&mut self, wanted: &Wanted, call: ExprId, place: Place) -> Env {
        let Some((at, receiver)) = &wanted.by else { return Env::default() };
        let explicit = self.explicit_types(call, *at, place);
        match (receiver, self.shared.names.view.symbol(*at).parent) {
            (Some(receiver), Some(parent)) => {
                let known = self.env_of_any(receiver, SymbolRef { symbol: parent, ..*at });
                explicit.merge_missing(known)
            }
            _ => explicit,
        }
    }

    /// What is wanted, its type parameters filled by what declares them where they are no arguments
    /// of another type.
    pub fn heads_wanted(&mut self, wanted: &Wanted, call: ExprId, place: Place) -> Set {
        match wanted.declared.values().iter().any(|value| matches!(value, Value::TypeParam(..))) {
            true => self.filled_wanted(wanted, call, place),
            false => wanted.declared.clone(),
        }
    }

    /// What is wanted, its type parameters filled by what declares them.
    pub fn filled_wanted(&mut self, wanted: &Wanted, call: ExprId, place: Place) -> Set {
        if !wanted.declared.mentions_param() {
            return wanted.declared.clone();
        }
        let env = self.receiver_types(wanted, call, place);
        self.filled_by(wanted, env)
    }

    /// What is wanted where type parameters stand for what `env` says, else for their defaults.
    fn filled_by(&mut self, wanted: &Wanted, mut env: Env) -> Set {
        match (&wanted.by, wanted.param) {
            // Nothing of the call: the same for all such calls.
            (Some((at, _)), Some((row, in_rest))) if env.is_empty() => {
                self.part_of_param(Query::Filled(at.file, row), in_rest)
            }
            (Some((at, _)), _) => {
                self.add_defaults(*at, &mut env);
                substitute(&wanted.declared, &env)
            }
            (None, _) => substitute(&wanted.declared, &env),
        }
    }

    /// Adds what the arguments that are no lambdas or literals, whose own types hang on this one,
    /// and what the call's result is expected to be say of a signature's type parameters.
    fn argument_types(&mut self, at: SymbolRef, call: ExprId, place: Place, env: Env) -> Env {
        let facts = self.shared.names.view.facts(place.file);
        let mut args = Vec::new();
        for operand in facts.operands_of(call)[1..].iter().filter(|o| o.role != Role::TypeArgument) {
            let kind = facts.expr(operand.expr).kind;
            let hangs = matches!(kind, ExprKind::Lambda | ExprKind::Object) || operand.role != Role::Value;
            args.push(if hangs { Set::unknown() } else { self.eval(operand.expr, place) });
        }
        let mut filled = Env::default();
        self.fill(at, &args, &mut filled, 0);
        let env = env.merge_missing(filled);
        let wanted = self.expected(place.file, call, 0);
        match (self.shared.names.view.symbol(at).ty, wanted.is_bare()) {
            (Some(ty), false) => {
                let mut by_result = Env::default();
                self.unify(ty, self.place_of(at), &wanted, &mut by_result);
                env.merge_missing(by_result)
            }
            _ => env,
        }
    }

    /// What explicit type arguments of a call say of its function's type parameters.
    pub fn explicit_types(&mut self, call: ExprId, at: SymbolRef, place: Place) -> Env {
        let facts = self.shared.names.view.facts(place.file);
        let mut env = Env::default();
        let types = facts.operands_of(call).iter().filter(|o| o.role == Role::TypeArgument);
        for (position, operand) in types.enumerate() {
            if let Some(ty) = facts.expr(operand.expr).ty {
                env.add((at, position as u32), self.type_value(ty, place));
            }
        }
        env
    }
}
