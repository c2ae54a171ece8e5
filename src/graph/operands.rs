//! What the operands of a call are expected to be, by the parameters that they are given for.

use crate::facts::model::{ExprId, ExprKind, ParamKind, Role};
use crate::graph::generics::{Env, mentions_param, substitute};
use crate::graph::modules::Family;
use crate::graph::queries::Session;
use crate::graph::scope::Place;
use crate::graph::value::{Set, Value};
use crate::view::SymbolRef;

/// What fills the type parameters of what is expected of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filling {
    /// The receiver, explicit type arguments, and the arguments, itself among them.
    ByArguments,
    /// The receiver and explicit type arguments: what is declared.
    ByReceiver,
}

impl Session<'_, '_> {
    /// What operand `position` of a call is expected to be by the parameter that it is given for.
    pub fn expected_operand(
        &mut self,
        call: ExprId,
        position: usize,
        place: Place,
        filling: Filling,
        nesting: u32,
    ) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let Some(callee) = facts.operand(call, 0) else { return Set::unknown() };
        let before = facts.operands_of(call)[1..position].iter();
        let argument = before.filter(|o| o.role != Role::TypeArgument).count();
        if Family::of(facts.dialect) == Family::Java {
            return self.java_expected(call, argument, place, nesting);
        }
        let callees = self.eval(callee, place);
        callees.flat_map(|value| self.type_of_argument(value, call, (position, argument), place, (filling, nesting)))
    }

    /// The type that a callee declares for an operand of a call that is its argument `argument`.
    fn type_of_argument(
        &mut self,
        callee: &Value,
        call: ExprId,
        (position, argument): (usize, usize),
        place: Place,
        depth: (Filling, u32),
    ) -> Set {
        let (at, receiver) = match callee {
            Value::Function(at) => (*at, None),
            Value::Bound(at, receiver) => (*at, Some(&**receiver)),
            Value::Class(class) => match self.constructors(*class).first() {
                Some(constructor) => (*constructor, None),
                None => return Set::unknown(),
            },
            Value::Shape(..) => return self.param_of_shape(callee, argument),
            Value::Instance(class, _) if self.is_ecma(class.file) => {
                let signatures = self.call_signatures(*class);
                return self.type_by_signatures(&signatures, Some(callee), call, argument, place, depth);
            }
            _ => return Set::unknown(),
        };
        if self.is_ecma(at.file) {
            let signatures = self.signatures_of(at);
            return self.type_by_signatures(&signatures, receiver, call, argument, place, depth);
        }
        let facts = self.shared.names.view.facts(at.file);
        let symbol = facts.symbol(at.symbol);
        let Some(scope) = symbol.scope else { return Set::unknown() };
        let is_bound = receiver.is_some() || matches!(callee, Value::Class(_));
        let skip = usize::from(is_bound && !self.has_decorator(at, &["staticmethod"]));
        let mut params = facts.params_of(scope).iter().filter(|p| p.kind != ParamKind::This).skip(skip);
        let own = self.shared.names.view.facts(place.file);
        let operand = &own.operands_of(call)[position];
        let param = match operand.role {
            Role::Keyword => params.find(|p| p.name.is_some() && facts.text(p.name) == own.text(operand.name)),
            _ => params.nth(argument),
        };
        let Some(ty) = param.and_then(|p| p.ty) else { return Set::unknown() };
        let set = self.type_value(ty, self.header_place(at.file, scope, symbol.name_line));
        let env = match (receiver, symbol.parent) {
            (Some(receiver), Some(parent)) => self.env_of_any(receiver, SymbolRef { symbol: parent, ..at }),
            _ => Env::default(),
        };
        let explicit = self.explicit_types(call, at, place);
        substitute(&set, &explicit.merge_missing(env))
    }

    /// The type that ECMAScript signatures declare for an argument, of those that the call can
    /// mean by its number of arguments; type parameters filled from what the call's result is
    /// expected to be and from the arguments that are no lambdas or literals, whose own types
    /// hang on this one.
    #[allow(clippy::too_many_arguments)]
    fn type_by_signatures(
        &mut self,
        signatures: &[SymbolRef],
        receiver: Option<&Value>,
        call: ExprId,
        argument: usize,
        place: Place,
        (filling, nesting): (Filling, u32),
    ) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let operands: Vec<_> = facts.operands_of(call)[1..].iter().filter(|o| o.role != Role::TypeArgument).collect();
        let spread = operands.iter().any(|o| o.role == Role::Spread);
        let n_args = (!spread).then_some(operands.len());
        let mut sets = Vec::new();
        for at in signatures {
            let Some(set) = self.param_of_signature(*at, argument, n_args) else { continue };
            let mut env = self.explicit_types(call, *at, place);
            if let (Some(receiver), Some(parent)) = (receiver, self.shared.names.view.symbol(*at).parent) {
                let known = self.env_of_any(receiver, SymbolRef { symbol: parent, ..*at });
                env = env.merge_missing(known);
            }
            if filling == Filling::ByArguments && set.values().iter().any(mentions_param) {
                let mut args = Vec::with_capacity(operands.len());
                for operand in &operands {
                    let kind = facts.expr(operand.expr).kind;
                    let hangs = matches!(kind, ExprKind::Lambda | ExprKind::Object) || operand.role != Role::Value;
                    args.push(if hangs { Set::unknown() } else { self.eval(operand.expr, place) });
                }
                let mut filled = Env::default();
                self.fill(*at, &args, &mut filled, 0);
                env = env.merge_missing(filled);
                let wanted = self.expected(place.file, call, nesting + 1);
                if let (Some(ty), false) = (self.shared.names.view.symbol(*at).ty, wanted.is_bare()) {
                    let mut by_result = Env::default();
                    self.unify(ty, self.place_of(*at), &wanted, &mut by_result);
                    env = env.merge_missing(by_result);
                }
            }
            self.add_defaults(*at, &mut env);
            sets.push(substitute(&set, &env));
        }
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
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
