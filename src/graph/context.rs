//! Contextual types: what a lambda or literal is expected to be where it stands, so that its
//! parameters have types without being annotated.

use crate::base::dialect::LanguageName;
use crate::facts::model::{ExprId, ExprKind, Origin, ReturnKind, Role, ScopeId, SymbolFlags, SymbolId, TypeRole};
use crate::facts::table::Id;
use crate::graph::builtins;
use crate::graph::generics::{Env, substitute};
use crate::graph::modules::Family;
use crate::graph::queries::{Denoted, Query, Session};
use crate::graph::scope::{Place, Space};
use crate::graph::value::{Set, Value, no_args};
use crate::view::{FileIdx, SymbolRef};

/// How many literals and lambdas an expectation passes through.
const MAX_NESTING: u32 = 12;

impl Session<'_, '_> {
    /// The type of a lambda's parameter by what is expected where the lambda stands.
    pub fn contextual_param(&mut self, file: FileIdx, scope: ScopeId, position: usize) -> Set {
        let facts = self.shared.names.view.facts(file);
        let table = self.shared.names.code(file);
        let Some(lambda) = table.expr_of_scope(scope) else { return Set::unknown() };
        // A callback of a builtin's method has no function type to look into.
        if Family::of(facts.dialect) != Family::Java
            && let Some((call, argument)) = table.context(lambda)
            && matches!(facts.expr(call).kind, ExprKind::Call | ExprKind::New)
            && argument > 0
            && let Some(callee) = facts.operand(call, 0)
        {
            let place = self.place_of_scope(file, scope);
            let family = Family::of(facts.dialect);
            let callees = self.eval(callee, place);
            let mut builtin = Vec::new();
            for value in callees.values() {
                match value {
                    Value::ExternalInstance(name, args) => {
                        builtin.push(builtins::callback_param(family, name, args, position));
                    }
                    Value::External(path) => builtin.extend(self.given_elements(path, call, position, place)),
                    _ => {}
                }
            }
            if !builtin.is_empty() {
                return Set::union(builtin);
            }
        }
        let expected = self.expected(file, lambda, 0);
        expected.flat_map(|value| self.param_of_shape(value, position))
    }

    /// What a builtin of Python (`map`, `sorted`) calls a function with: elements of an argument.
    fn given_elements(&mut self, path: &str, call: ExprId, position: usize, place: Place) -> Option<Set> {
        let facts = self.shared.names.view.facts(place.file);
        if Family::of(facts.dialect) != Family::Python {
            return None;
        }
        let source = builtins::callback_source(path, position)?;
        let operand = facts.operands_of(call).get(source + 1).filter(|o| o.role == Role::Value)?;
        let iterated = self.eval(operand.expr, place);
        Some(self.elements(&iterated, place))
    }

    /// Where the expression that opens a scope stands.
    fn place_of_scope(&self, file: FileIdx, scope: ScopeId) -> Place {
        let facts = self.shared.names.view.facts(file);
        let row = facts.scope(scope);
        Place { file, scope: row.parent.unwrap_or(ScopeId::new(0)), line: row.start_line }
    }

    /// What an expression is expected to be: by the parameter that it is given for, the type of
    /// the binding, of the function that returns it, or of the literal around it.
    pub fn expected(&mut self, file: FileIdx, expr: ExprId, nesting: u32) -> Set {
        if nesting > MAX_NESTING || !self.step() {
            return Set::unknown();
        }
        let facts = self.shared.names.view.facts(file);
        let table = self.shared.names.code(file);
        if let Some(row) = table.binding_of_value(expr) {
            let binding = &facts.bindings[row as usize];
            let place = Place { file, scope: binding.scope, line: u32::MAX };
            // The type of a function's symbol is that of its result.
            let of_symbol =
                binding.symbol.map(|symbol| facts.symbol(symbol)).filter(|symbol| !symbol.kind.is_function());
            let declared = binding.ty.or_else(|| of_symbol.and_then(|symbol| symbol.ty));
            return match declared {
                _ if binding.n_steps > 0 => Set::unknown(),
                Some(ty) => self.type_value(ty, place),
                None => self.expected_by_target(file, row),
            };
        }
        if let Some(row) = table.return_of(expr) {
            let returned = &facts.returns[row as usize];
            if !matches!(returned.kind, ReturnKind::Return | ReturnKind::Expression) {
                return Set::unknown();
            }
            return self.expected_result(file, returned.scope, nesting);
        }
        let Some((around, position)) = table.context(expr) else { return Set::unknown() };
        let row = facts.expr(around);
        match row.kind {
            ExprKind::Call | ExprKind::New if position > 0 => self.values(Query::Expected(file, around, position)),
            ExprKind::Object => {
                let operand = &facts.operands_of(around)[position as usize];
                let Some(name) = operand.name else { return Set::unknown() };
                let object = self.expected(file, around, nesting + 1);
                self.attribute(&object, self.shared.names.text(file, name), file)
            }
            ExprKind::Seq => {
                let family = Family::of(facts.dialect);
                let list = self.expected(file, around, nesting + 1);
                list.flat_map(|value| builtins::part(family, value, position as usize))
            }
            ExprKind::Cast => match row.ty {
                Some(ty) => {
                    let place = self.place_near(file, expr);
                    self.type_value(ty, place)
                }
                None => self.expected(file, around, nesting + 1),
            },
            ExprKind::Choice | ExprKind::Value => self.expected(file, around, nesting + 1),
            ExprKind::Jsx => {
                let operand = &facts.operands_of(around)[position as usize];
                let name = match operand.role {
                    Role::Child => self.shared.names.find("children"),
                    _ => operand.name.map(|name| self.shared.names.text(file, name)),
                };
                let (Some(name), Some(tag)) = (name, facts.operand(around, 0)) else { return Set::unknown() };
                let components = self.eval(tag, self.place_near(file, expr));
                let props = components.flat_map(|component| self.props_of(component));
                self.attribute(&props, name, file)
            }
            _ => Set::unknown(),
        }
    }

    /// Whether [`Session::expected`] may say anything, found out without evaluating.
    pub fn may_expect(&self, file: FileIdx, expr: ExprId) -> bool {
        let facts = self.shared.names.view.facts(file);
        let table = self.shared.names.code(file);
        let mut at = expr;
        for _ in 0..=MAX_NESTING {
            if let Some(row) = table.binding_of_value(at) {
                let binding = &facts.bindings[row as usize];
                let is_typed = |symbol: SymbolId| facts.symbol(symbol).ty.is_some();
                let is_assigned = binding.target.is_some() || binding.origin == Origin::Reassign;
                let may_say = binding.ty.is_some() || binding.symbol.is_some_and(is_typed) || is_assigned;
                return binding.n_steps == 0 && may_say;
            }
            if let Some(row) = table.return_of(at) {
                let scope = facts.returns[row as usize].scope;
                let owner = facts.symbol(facts.scope(scope).owner);
                if owner.scope == Some(scope) && owner.ty.is_some() {
                    return true;
                }
                let Some(lambda) = table.expr_of_scope(scope) else { return false };
                at = lambda;
                continue;
            }
            let Some((around, _)) = table.context(at) else { return false };
            let row = facts.expr(around);
            match row.kind {
                ExprKind::Call | ExprKind::New | ExprKind::Jsx => return true,
                ExprKind::Cast if row.ty.is_some() => return true,
                ExprKind::Object | ExprKind::Seq | ExprKind::Cast | ExprKind::Choice | ExprKind::Value => at = around,
                _ => return false,
            }
        }
        false
    }

    /// The type of a component's properties: its first parameter, or the field of its class.
    fn props_of(&mut self, component: &Value) -> Set {
        match component {
            Value::Function(at) if self.is_ecma(at.file) => {
                let signatures = self.signatures_of(*at);
                let sets: Vec<Set> =
                    signatures.into_iter().filter_map(|at| self.param_of_signature(at, 0, None)).collect();
                if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
            }
            Value::Class(class) if self.is_ecma(class.file) => match self.shared.names.find("props") {
                Some(props) => self.attribute(&Set::one(Value::Instance(*class, no_args())), props, class.file),
                None => Set::unknown(),
            },
            Value::Shape(..) | Value::Instance(..) | Value::Bound(..) => self.param_of_shape(component, 0),
            _ => Set::unknown(),
        }
    }

    /// What TypeScript expects of the right side of `x = …` and `a.m = …`: the declared type of the
    /// left.
    fn expected_by_target(&mut self, file: FileIdx, row: u32) -> Set {
        let facts = self.shared.names.view.facts(file);
        let binding = &facts.bindings[row as usize];
        if facts.dialect.language() != LanguageName::TypeScript {
            return Set::unknown();
        }
        let place = Place { file, scope: binding.scope, line: binding.line };
        let denoted = match (binding.target, binding.name) {
            (Some(target), _) => self.denoted_by(target, place),
            (None, Some(name)) if binding.origin == Origin::Reassign => {
                self.name_meaning(place, name, Space::Value).denoted.clone()
            }
            _ => return Set::unknown(),
        };
        let mut declared = false;
        for denoted in &denoted {
            declared |= match denoted {
                Denoted::Symbol(at) => {
                    let symbol = self.shared.names.view.symbol(*at);
                    Some(at.symbol) != binding.symbol && (symbol.ty.is_some() || symbol.kind.is_function())
                }
                Denoted::Param(file, row) => self.shared.names.view.facts(*file).params[*row as usize].ty.is_some(),
                Denoted::Binding(file, row) => self.shared.names.view.facts(*file).bindings[*row as usize].ty.is_some(),
                _ => false,
            };
        }
        if !declared {
            return Set::unknown();
        }
        match (binding.target, binding.name) {
            (Some(target), _) => self.eval(target, place).non_null(),
            (None, _) => {
                let sets: Vec<Set> = denoted.iter().map(|denoted| self.denoted_value(denoted)).collect();
                Set::union(sets).non_null()
            }
        }
    }

    /// What a function's or lambda's scope is expected to return.
    fn expected_result(&mut self, file: FileIdx, scope: ScopeId, nesting: u32) -> Set {
        let facts = self.shared.names.view.facts(file);
        let owner = facts.symbol(facts.scope(scope).owner);
        if owner.scope == Some(scope)
            && let Some(ty) = owner.ty
        {
            let declared = self.type_value(ty, Place { file, scope, line: u32::MAX });
            if owner.flags.has(SymbolFlags::ASYNC) {
                let family = Family::of(facts.dialect);
                return declared.flat_map(|value| builtins::awaited(family, value));
            }
            return declared;
        }
        let Some(lambda) = self.shared.names.code(file).expr_of_scope(scope) else { return Set::unknown() };
        let expected = self.expected(file, lambda, nesting + 1);
        let place = self.place_of_scope(file, scope);
        expected.flat_map(|value| match value {
            Value::Shape(..) => self.call_result(&Set::one(value.clone()), &[], place),
            Value::Instance(class, _) if self.is_ecma(class.file) => {
                self.call_result(&Set::one(value.clone()), &[], place)
            }
            Value::Bound(at, _) if self.is_ecma(at.file) => self.call_result(&Set::one(value.clone()), &[], place),
            value if Family::of(facts.dialect) == Family::Java => {
                self.functional(value).map_or_else(Set::unknown, |shape| shape.result)
            }
            Value::Instance(class, _) => match self.single_method(*class) {
                Some(method) => self.function_result(method, Some(value), &[]),
                None => Set::unknown(),
            },
            _ => Set::unknown(),
        })
    }

    /// Where an expression of a literal stands: the parent of its own scope, or of the first
    /// scope around that is known.
    pub fn place_near(&self, file: FileIdx, expr: ExprId) -> Place {
        let facts = self.shared.names.view.facts(file);
        let table = self.shared.names.code(file);
        let mut at = expr;
        for _ in 0..MAX_NESTING {
            if let Some(scope) = facts.expr(at).scope {
                return self.place_of_scope(file, scope);
            }
            let lambda = facts.operands_of(at).iter().find(|o| facts.expr(o.expr).scope.is_some());
            if let Some(operand) = lambda {
                at = operand.expr;
                continue;
            }
            match table.context(at) {
                Some((around, _)) => at = around,
                None => break,
            }
        }
        let binding = table.binding_of_value(at).map(|row| facts.bindings[row as usize].scope);
        let returned = table.return_of(at).map(|row| facts.returns[row as usize].scope);
        Place { file, scope: binding.or(returned).unwrap_or(ScopeId::new(0)), line: u32::MAX }
    }

    /// Whether a file is of ECMAScript.
    pub fn is_ecma(&self, file: FileIdx) -> bool {
        Family::of(self.shared.names.view.dialect(file)) == Family::Ecma
    }

    /// Whether a value is of Java. What is outside has no file; its functional interfaces are
    /// looked up in Java's table alone.
    fn is_java(&self, value: &Value) -> bool {
        match value {
            Value::Instance(class, _) => Family::of(self.shared.names.view.dialect(class.file)) == Family::Java,
            _ => true,
        }
    }

    /// Parameter `position` of a function type, or of the one method of an interface.
    pub fn param_of_shape(&mut self, shape: &Value, position: usize) -> Set {
        match shape {
            Value::Shape(file, ty, owner, _) => {
                let facts = self.shared.names.view.facts(*file);
                let symbol = SymbolRef { file: *file, symbol: *owner };
                let place = self.place_of(symbol);
                let env = self.env_of(shape, symbol);
                let mut sets = Vec::new();
                for function in self.call_types(*file, *ty) {
                    let operands = facts.operands_of_type(function);
                    let params: Vec<_> =
                        operands.iter().filter(|o| matches!(o.role, TypeRole::Param | TypeRole::RestParam)).collect();
                    let rest = params.iter().position(|p| p.role == TypeRole::RestParam);
                    let set = match rest.filter(|rest| position >= *rest) {
                        Some(rest) => {
                            let list = self.type_value_in(params[rest].ty, place, &env);
                            list.flat_map(|value| builtins::part(Family::of(facts.dialect), value, position - rest))
                        }
                        None => match params.get(position) {
                            Some(param) => self.type_value_in(param.ty, place, &env),
                            None => continue,
                        },
                    };
                    sets.push(set);
                }
                if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
            }
            Value::Bound(at, receiver) if self.is_ecma(at.file) => {
                let Some(set) = self.param_of_signature(*at, position, None) else { return Set::unknown() };
                let parent = self.shared.names.view.symbol(*at).parent;
                let env =
                    parent.map_or_else(Env::default, |symbol| self.env_of_any(receiver, SymbolRef { symbol, ..*at }));
                substitute(&set, &env)
            }
            Value::Instance(class, _) if self.is_ecma(class.file) => {
                let mut sets = Vec::new();
                for at in self.call_signatures(*class) {
                    let Some(set) = self.param_of_signature(at, position, None) else { continue };
                    let parent = self.shared.names.view.symbol(at).parent;
                    let env = parent.map_or_else(Env::default, |symbol| self.env_of(shape, SymbolRef { symbol, ..at }));
                    sets.push(substitute(&set, &env));
                }
                if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
            }
            Value::ExternalInstance(..) | Value::Instance(..) if self.is_java(shape) => {
                let functional = self.functional(shape);
                functional.and_then(|f| f.params.get(position).cloned()).unwrap_or_default()
            }
            Value::Instance(class, _) => {
                let Some(method) = self.single_method(*class) else { return Set::unknown() };
                let facts = self.shared.names.view.facts(class.file);
                let Some(scope) = facts.symbol(method.symbol).scope else { return Set::unknown() };
                let Some(ty) = facts.params_of(scope).get(position).and_then(|p| p.ty) else { return Set::unknown() };
                let set = self.type_value(ty, Place { file: class.file, scope, line: u32::MAX });
                let env = self.env_of(shape, *class);
                substitute(&set, &env)
            }
            _ => Set::unknown(),
        }
    }
}
