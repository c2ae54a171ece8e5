//! Arguments of a Python call in the order of a callee's parameters: keywords by name, defaults
//! where nothing is given. They fill the type parameters of generic functions and classes.

use crate::facts::model::{ExprId, Role, ScopeKind};
use crate::graph::generics::SELF;
use crate::graph::queries::{Query, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Set, Value};

impl Session<'_, '_> {
    /// The arguments of `call` by the parameters of a generic callee; `None` where the order in
    /// the call will do. `args` are the call's arguments as they stand.
    pub fn arranged(&mut self, callee: &Value, call: ExprId, args: &[Set], place: Place) -> Option<Vec<Set>> {
        let (at, n_bound) = match callee {
            Value::Function(at) => (*at, 0),
            Value::Bound(at, _) => (*at, 1),
            Value::Class(class) if !self.class_params(*class).is_empty() => (*self.constructors(*class).first()?, 1),
            _ => return None,
        };
        if !matches!(callee, Value::Class(_)) && !self.gives_parameter(&Query::Returns(at)) {
            return None;
        }
        let view = self.shared.names.view;
        let (facts, own) = (view.facts(place.file), view.declared(at));
        let given = facts.operands_of(call).get(1..)?;
        if given.iter().any(|o| matches!(o.role, Role::Spread | Role::KeywordSpread)) {
            return None;
        }
        let n_positional = given.iter().filter(|o| o.role == Role::Value).count();
        let scope = view.symbol(at).scope?;
        let skip = if self.declared_in_kind(at) == ScopeKind::Class { n_bound } else { 0 };
        let params = own.params_of(scope).iter().skip(skip);
        let arranged = params.enumerate().map(|(position, param)| {
            if position < n_positional {
                return args.get(position).cloned().unwrap_or_default();
            }
            let named = |name| own.text(param.name) == facts.text(name) && param.name.is_some();
            let keyword = given.iter().find(|o| o.role == Role::Keyword && named(o.name));
            match (keyword, param.default) {
                (Some(operand), _) => self.eval(operand.expr, place),
                (None, Some(default)) => self.eval(default, self.header_place(at.file, scope, param.line)),
                (None, None) => Set::unknown(),
            }
        });
        Some(arranged.collect())
    }

    /// Whether values mention a type parameter, or have type arguments that may.
    fn gives_parameter(&mut self, query: &Query) -> bool {
        self.values(*query).values().iter().any(|value| match value {
            Value::TypeParam(_, at) => *at != SELF,
            Value::Instance(_, args) | Value::ExternalInstance(_, args) => !args.is_empty(),
            _ => false,
        })
    }
}
