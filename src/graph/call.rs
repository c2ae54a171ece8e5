//! Calls: which functions a callee may be, what they give back, and how arguments fill type
//! parameters.

use std::sync::Arc;

use crate::facts::model::{ExprId, ExprKind, ParamKind, ReturnKind, Role, ScopeId, ScopeKind, SymbolFlags, SymbolKind};
use crate::facts::table::Id;
use crate::graph::builtins;
use crate::graph::generics::{Env, SELF, substitute};
use crate::graph::modules::{Family, Target};
use crate::graph::queries::{Denoted, Query, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Args, Set, Value, no_args};
use crate::view::{FileIdx, SymbolRef};

/// Decorators of Python that make a method an attribute.
const PROPERTIES: [&str; 8] = [
    "property",
    "cached_property",
    "locked_cached_property",
    "abstractproperty",
    "hybrid_property",
    "lazy_property",
    "lazyproperty",
    "reify",
];

impl Session<'_, '_> {
    /// What a call or `new` expression gives.
    pub fn eval_call(&mut self, expr: ExprId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let family = Family::of(facts.dialect);
        let Some(callee) = facts.operand(expr, 0) else { return Set::unknown() };
        let callee_row = facts.expr(callee);
        let text = facts.text(callee_row.name);
        if callee_row.kind == ExprKind::Name {
            match (family, text) {
                (Family::Python, "super") => {
                    // `super(C, self)` starts after `C`.
                    if let Some(first) = facts.operand(expr, 1)
                        && let [Value::Class(class)] = self.eval(first, place).values()
                    {
                        return Set::one(Value::Super(*class));
                    }
                    return self
                        .class_around(place.file, place.scope)
                        .map_or_else(Set::unknown, |class| Set::one(Value::Super(class)));
                }
                (Family::Ecma, "require") => return self.required(expr, place),
                _ => {}
            }
        }
        if family == Family::Python
            && text == "import_module"
            && let Some(module) = self.module_by_name(expr, place)
        {
            return module;
        }
        if family == Family::Java {
            return self.java_call(expr, place);
        }
        let callees = self.eval(callee, place);
        if family == Family::Python && text == "__new__" && callees.values().iter().all(Value::is_external) {
            // `object.__new__(C)`, `super().__new__(C)`.
            let class = facts.operand(expr, 1).map_or_else(Set::unknown, |class| self.eval(class, place));
            return self.instances(&class, &[]);
        }
        let mut args = Vec::new();
        let mut type_args = Vec::new();
        for operand in facts.operands_of(expr).iter().skip(1) {
            match operand.role {
                Role::TypeArgument => {
                    if let Some(ty) = facts.expr(operand.expr).ty {
                        type_args.push(self.type_value(ty, place));
                    }
                }
                Role::Value => args.push(self.eval(operand.expr, place)),
                _ => args.push(Set::unknown()),
            }
        }
        if family == Family::Ecma && facts.expr(expr).kind == ExprKind::New {
            let made = callees.values().iter().any(|value| matches!(value, Value::Function(_)));
            if made {
                // A constructor function: its instances have what is given to its prototype.
                return callees.flat_map(|value| match value {
                    Value::Function(at) => Set::one(Value::Symbol(*at)),
                    other => self.call_result(&Set::one(other.clone()), &args, place),
                });
            }
        }
        let callees = if family == Family::Ecma { self.fitting_callees(callees, &args) } else { callees };
        if !type_args.is_empty() {
            return self.call_with_types(&callees, &args, &type_args, place);
        }
        if family == Family::Python {
            return callees.non_null().flat_map(|callee| {
                let arranged = self.arranged(callee, expr, &args, place);
                self.call_one(callee, arranged.as_deref().unwrap_or(&args), place)
            });
        }
        self.call_result(&callees, &args, place)
    }

    /// What `importlib.import_module("a.b")` gives; `None` for a computed name.
    fn module_by_name(&mut self, expr: ExprId, place: Place) -> Option<Set> {
        let at = self.shared.names.view.file(place.file);
        let path = at.facts.operand(expr, 1)?;
        let row = at.facts.expr(path);
        let name = row.name.filter(|_| row.kind == ExprKind::Path)?;
        let view = self.shared.names.view;
        match self.shared.modules.specifier(view, &at.path, at.dialect, 0, at.facts.name(name)) {
            Target::File(file) => Some(Set::one(Value::Module(file))),
            Target::External(name) => Some(Set::one(Value::External(name))),
            Target::Namespace(_) | Target::Missing => None,
        }
    }

    /// What `require("m")` gives.
    fn required(&mut self, expr: ExprId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let Some(path) = facts.operand(expr, 1) else { return Set::unknown() };
        match self.module_named(place.file, facts.expr(path).name) {
            Target::File(file) => {
                let denoted = self.whole_module(file, crate::facts::model::ImportKind::Require);
                let sets: Vec<Set> = denoted.iter().map(|d| self.denoted_value(d)).collect();
                Set::union(sets)
            }
            Target::External(name) => Set::one(Value::External(name)),
            Target::Namespace(_) | Target::Missing => Set::unknown(),
        }
    }

    fn call_with_types(&mut self, callees: &Set, args: &[Set], types: &[Set], place: Place) -> Set {
        callees.flat_map(|callee| match callee {
            Value::Class(class) => Set::one(Value::Instance(*class, Args::from(types))),
            Value::External(path) => {
                let family = Family::of(self.shared.names.view.dialect(place.file));
                builtins::named_type(family, path, types).unwrap_or_else(|| self.call_one(callee, args, place))
            }
            Value::Function(at) | Value::Bound(at, _) => {
                let signatures = self.signatures_of(*at);
                let signatures = self.fitting(signatures, args);
                let mut sets = Vec::new();
                for at in signatures {
                    let mut env = Env::default();
                    for (position, set) in types.iter().enumerate() {
                        env.add((at, position as u32), set.clone());
                    }
                    let plain = self.values(Query::Returns(at));
                    let given = substitute(&plain, &env);
                    let unchanged = given == plain;
                    sets.push(if unchanged { self.call_one(callee, args, place) } else { given });
                }
                Set::union(sets)
            }
            _ => self.call_one(callee, args, place),
        })
    }

    /// What calling any of a set's values gives.
    pub fn call_result(&mut self, callees: &Set, args: &[Set], place: Place) -> Set {
        callees.non_null().flat_map(|callee| self.call_one(callee, args, place))
    }

    fn call_one(&mut self, callee: &Value, args: &[Set], place: Place) -> Set {
        if !self.step() {
            return Set::unknown();
        }
        let family = Family::of(self.shared.names.view.dialect(place.file));
        match callee {
            Value::Class(class) => self.constructed(*class, args),
            Value::Function(at) => self.function_result(*at, None, args),
            Value::Bound(at, receiver) => self.function_result(*at, Some(receiver), args),
            Value::Lambda(file, expr) => match self.shared.names.view.facts(*file).expr(*expr).scope {
                Some(scope) => self.values(Query::Lambda(*file, scope)),
                None => Set::unknown(),
            },
            Value::TypeParam(owner, at) => {
                let bound = self.bound_of(*owner, *at);
                bound.flat_map(|value| match value {
                    Value::TypeParam(..) => Set::unknown(),
                    other => self.call_one(other, args, place),
                })
            }
            Value::Instance(class, _) => self.called_instance(callee, *class, args, place),
            Value::Symbol(at) => match self.shared.names.view.symbol(*at).kind {
                SymbolKind::Function => self.function_result(*at, None, args),
                _ => Set::unknown(),
            },
            Value::Shape(..) => self.call_shape(callee, args),
            Value::External(path) if family == Family::Python && &**path == "map" => {
                let parts: Vec<Set> = args.iter().skip(1).map(|arg| self.elements(arg, place)).collect();
                let given =
                    args.first().map_or_else(Set::unknown, |function| self.call_result(function, &parts, place));
                Set::external("iter", &[given])
            }
            Value::External(path) => {
                let known = if family == Family::Java { self.library_static_call(path, args, place) } else { None };
                let given = known.unwrap_or_else(|| builtins::call(family, path, args));
                self.or_what_was_given(given, args)
            }
            Value::ExternalInstance(name, own) if matches!(&**name, "type" | "ref") && family == Family::Python => {
                own.first().cloned().unwrap_or_default()
            }
            Value::ExternalInstance(name, own) => {
                if family == Family::Java
                    && let Some(known) = self.library_call(name, own, args, place)
                {
                    return known;
                }
                let mut by_lambda = |at: usize| match args.get(at) {
                    Some(set) => self.call_result(set, &[], place),
                    None => Set::unknown(),
                };
                let given = builtins::call_method(family, name, own, args, &mut by_lambda);
                self.or_what_was_given(given, args)
            }
            Value::Null
            | Value::Module(_)
            | Value::Namespace(_)
            | Value::Object(..)
            | Value::Super(_)
            | Value::Anonymous(..) => Set::unknown(),
        }
    }

    /// What a call of code outside gives, of which nothing is known: where it is given a class of
    /// the repository, an instance of one, or what makes one, it may give that back, or something
    /// that holds it.
    fn or_what_was_given(&mut self, given: Set, args: &[Set]) -> Set {
        let is_opaque = !given.open
            && !given.values().is_empty()
            && given.values().iter().all(|value| matches!(value, Value::External(_)));
        if is_opaque && args.iter().any(|arg| self.holds_own(arg, true)) { given.or_unknown() } else { given }
    }

    /// Whether a set may be something of the repository's classes. `with_results`: or a function that
    /// gives such a thing.
    fn holds_own(&mut self, set: &Set, with_results: bool) -> bool {
        set.values().iter().any(|value| match value {
            Value::Class(_) | Value::Instance(..) | Value::Anonymous(..) | Value::TypeParam(_, SELF) => true,
            Value::ExternalInstance(_, args) => args.iter().any(|arg| self.holds_own(arg, false)),
            Value::Function(at) | Value::Bound(at, _) if with_results => {
                let result = self.values(Query::Returns(*at));
                self.holds_own(&result, false)
            }
            Value::Lambda(file, expr) if with_results => match self.shared.names.view.facts(*file).expr(*expr).scope {
                Some(scope) => {
                    let result = self.values(Query::Lambda(*file, scope));
                    self.holds_own(&result, false)
                }
                None => false,
            },
            Value::Function(_)
            | Value::Bound(..)
            | Value::Lambda(..)
            | Value::Null
            | Value::Module(_)
            | Value::Namespace(_)
            | Value::Object(..)
            | Value::Shape(..)
            | Value::TypeParam(..)
            | Value::Super(_)
            | Value::Symbol(_)
            | Value::External(_) => false,
        })
    }

    /// An instance of a class, its type parameters filled from constructor arguments.
    pub fn constructed(&mut self, class: SymbolRef, args: &[Set]) -> Set {
        let params = self.class_params(class);
        if params.is_empty() {
            return Set::one(Value::Instance(class, no_args()));
        }
        let mut env = Env::default();
        for constructor in self.constructors(class) {
            self.fill(constructor, args, &mut env, 1);
        }
        let filled: Vec<Set> = params
            .into_iter()
            .map(|(owner, at)| {
                let param = Set::one(Value::TypeParam(owner, at));
                let set = substitute(&param, &env);
                if set == param { Set::unknown() } else { set }
            })
            .collect();
        Set::one(Value::Instance(class, Args::from(filled)))
    }

    /// The constructors that `new` or a call of a class runs: its own, else the nearest inherited.
    pub fn constructors(&mut self, class: SymbolRef) -> Vec<SymbolRef> {
        use crate::graph::queries::Base;
        let names: &[&str] = match Family::of(self.shared.names.view.dialect(class.file)) {
            Family::Python => &["__init__", "__new__"],
            Family::Ecma => &["constructor"],
            Family::Java => &["<init>"],
        };
        let texts: Vec<_> = names.iter().filter_map(|name| self.shared.names.find(name)).collect();
        let mro = self.bases(Query::Mro(class));
        for base in mro.iter() {
            let Base::Class(at, _) = base else { continue };
            for text in &texts {
                let own = self.own_members(*at, *text);
                if !own.is_empty() {
                    return own;
                }
            }
            if Family::of(self.shared.names.view.dialect(class.file)) == Family::Java {
                break;
            }
        }
        Vec::new()
    }

    /// Calls an instance: `__call__`, or a call signature.
    fn called_instance(&mut self, receiver: &Value, class: SymbolRef, args: &[Set], place: Place) -> Set {
        let facts = self.shared.names.view.facts(class.file);
        if Family::of(facts.dialect) == Family::Python {
            let Some(text) = self.shared.names.find("__call__") else { return Set::unknown() };
            let method = self.attribute(&Set::one(receiver.clone()), text, place.file);
            return self.call_result(&method, args, place);
        }
        let signatures = self.call_signatures(class);
        let signatures = self.fitting(signatures, args);
        if signatures.is_empty() {
            return Set::unknown();
        }
        Set::union(signatures.into_iter().map(|at| self.function_result(at, Some(receiver), args)).collect::<Vec<_>>())
    }

    /// What a call of a function gives, with the receiver's and the arguments' types filled in.
    /// An overloaded function gives what its fitting overloads do.
    pub fn function_result(&mut self, at: SymbolRef, receiver: Option<&Value>, args: &[Set]) -> Set {
        let signatures = self.signatures_of(at);
        if signatures == [at] {
            return self.signature_result(at, receiver, args);
        }
        let fitting = self.fitting(signatures, args);
        Set::union(fitting.into_iter().map(|at| self.signature_result(at, receiver, args)).collect::<Vec<_>>())
    }

    fn signature_result(&mut self, at: SymbolRef, receiver: Option<&Value>, args: &[Set]) -> Set {
        let result = self.values(Query::Returns(at));
        if !result.mentions_param() {
            return result;
        }
        let mut env = Env::default();
        let symbol = self.shared.names.view.symbol(at);
        if let (Some(receiver), Some(parent)) = (receiver, symbol.parent) {
            env = self.env_of_any(receiver, SymbolRef { symbol: parent, ..at });
        }
        if result.values().iter().any(|v| matches!(v, Value::TypeParam(_, n) if *n != SELF) || has_args(v)) {
            if let Some(receiver) = receiver {
                self.fill_receiver(at, receiver, &mut env);
            }
            self.fill(at, args, &mut env, u32::from(receiver.is_some()));
        }
        substitute(&result, &env)
    }

    /// Fills the type parameter that Python's `self: T` or `cls: type[T]` names.
    fn fill_receiver(&mut self, at: SymbolRef, receiver: &Value, env: &mut Env) {
        let facts = self.shared.names.view.declared(at);
        let Some(scope) = facts.symbol(at.symbol).scope else { return };
        let is_method = self.declared_in_kind(at) == ScopeKind::Class;
        if Family::of(facts.dialect) != Family::Python || !is_method {
            return;
        }
        let Some(ty) = facts.params_of(scope).first().and_then(|param| param.ty) else { return };
        let actual = match self.has_decorator(at, &["classmethod"]) {
            true => Set::external("type", &[Set::one(receiver.clone())]),
            false => Set::one(receiver.clone()),
        };
        let place = self.header_place(at.file, scope, facts.symbol(at.symbol).name_line);
        self.unify(ty, place, &actual, env);
    }

    /// Fills type parameters of a function from its arguments. `bound` is 1 when Python's first
    /// parameter is the receiver.
    pub fn fill(&mut self, at: SymbolRef, args: &[Set], env: &mut Env, bound: u32) {
        let facts = self.shared.names.view.declared(at);
        let Some(scope) = facts.symbol(at.symbol).scope else { return };
        let place = self.header_place(at.file, scope, facts.symbol(at.symbol).name_line);
        let is_method = self.declared_in_kind(at) == ScopeKind::Class;
        let skip = if Family::of(facts.dialect) == Family::Python && is_method { bound as usize } else { 0 };
        let params = facts.params_of(scope).iter().filter(|p| p.kind != ParamKind::This).skip(skip);
        for (param, arg) in params.zip(args) {
            if let Some(ty) = param.ty {
                self.unify(ty, place, arg, env);
            }
        }
    }

    /// Solves `Returns`: the declared type, else what is returned; wrapped as the function's
    /// kind and decorators say.
    pub fn solve_returns(&mut self, at: SymbolRef) -> Set {
        let facts = self.shared.names.view.facts(at.file);
        let family = Family::of(facts.dialect);
        let symbol = facts.symbol(at.symbol);
        if let Some(ty) = symbol.ty {
            let place = match family {
                Family::Python => {
                    self.header_place(at.file, symbol.scope.unwrap_or(symbol.declared_in), symbol.name_line)
                }
                Family::Ecma | Family::Java => self.place_of(at),
            };
            let declared = self.type_value(ty, place);
            if !declared.is_unknown() {
                return self.wrapped(at, declared, true);
            }
        }
        if symbol.kind == SymbolKind::Constructor {
            return match symbol.parent {
                Some(parent) => Set::one(Value::Instance(SymbolRef { symbol: parent, ..at }, no_args())),
                None => Set::unknown(),
            };
        }
        let Some(scope) = symbol.scope else { return Set::unknown() };
        let is_abstract = symbol.flags.has(SymbolFlags::ABSTRACT) || symbol.flags.has(SymbolFlags::OVERLOAD);
        let inferred = self.returned(at.file, scope, !is_abstract && family != Family::Java);
        self.wrapped(at, inferred, false)
    }

    /// Solves `Lambda`.
    pub fn solve_lambda(&mut self, file: FileIdx, scope: ScopeId) -> Set {
        self.returned(file, scope, true)
    }

    /// The union of what a scope returns; `Null` when it returns nothing.
    fn returned(&mut self, file: FileIdx, scope: ScopeId, has_body: bool) -> Set {
        let facts = self.shared.names.view.facts(file);
        let rows: Vec<u32> = self.shared.names.code(file).returns(scope).collect();
        let mut sets = Vec::new();
        let mut yields = Vec::new();
        for row in rows {
            let returned = &facts.returns[row as usize];
            let place = Place { file, scope: self.scope_at(file, scope, returned.line), line: returned.line };
            match returned.kind {
                ReturnKind::Return | ReturnKind::Expression => sets.push(self.eval(returned.expr, place)),
                ReturnKind::Yield => yields.push(self.eval(returned.expr, place)),
                ReturnKind::YieldFrom => {
                    let family = Family::of(facts.dialect);
                    let inner = self.eval(returned.expr, place);
                    yields.push(inner.flat_map(|value| builtins::element(family, value)));
                }
                ReturnKind::Throw => {}
            }
        }
        if !yields.is_empty() {
            return Set::external("iter", &[Set::union(yields)]);
        }
        if sets.is_empty() {
            return if has_body { Set::one(Value::Null) } else { Set::unknown() };
        }
        Set::union(sets)
    }

    /// The innermost block of a function's own body at a line, for names of blocks.
    fn scope_at(&self, file: FileIdx, function: ScopeId, line: u32) -> ScopeId {
        let facts = self.shared.names.view.facts(file);
        let mut found = function;
        for row in function.index() + 1..facts.scopes.len() {
            let scope = &facts.scopes[row];
            if scope.start_line > line {
                break;
            }
            if scope.kind == ScopeKind::Block && scope.end_line >= line && scope.parent == Some(found) {
                found = ScopeId::new(row);
            }
        }
        found
    }

    /// Applies `async`, generators and known decorators to a result.
    fn wrapped(&mut self, at: SymbolRef, result: Set, declared: bool) -> Set {
        let facts = self.shared.names.view.facts(at.file);
        let symbol = facts.symbol(at.symbol);
        let is_generator = symbol.flags.has(SymbolFlags::GENERATOR);
        match Family::of(facts.dialect) {
            Family::Python => {
                if self.has_decorator(at, &["contextmanager", "asynccontextmanager"]) {
                    let yielded = result.flat_map(|value| builtins::element(Family::Python, value));
                    return Set::external("context", &[yielded]);
                }
                if symbol.flags.has(SymbolFlags::ASYNC) && !is_generator {
                    return Set::external("Awaitable", &[result]);
                }
                result
            }
            Family::Ecma if symbol.flags.has(SymbolFlags::ASYNC) && !declared && !is_generator => {
                let inner = result.flat_map(|value| builtins::awaited(Family::Ecma, value));
                Set::external("Promise", &[inner])
            }
            Family::Ecma | Family::Java => result,
        }
    }

    /// A method as a value on a receiver: properties are their results; the rest is bound.
    pub fn method_on(&mut self, at: SymbolRef, receiver: &Value) -> Set {
        let symbol = self.shared.names.view.symbol(at);
        let of_class = match receiver {
            Value::Class(class) => Some(Value::Instance(*class, no_args())),
            Value::ExternalInstance(name, args) if &**name == "type" && args.len() == 1 => {
                args[0].values().first().cloned()
            }
            _ => None,
        };
        let is_instance = of_class.is_none()
            && matches!(receiver, Value::Instance(..) | Value::TypeParam(..) | Value::ExternalInstance(..));
        if Family::of(self.shared.names.view.dialect(at.file)) == Family::Python {
            if self.has_decorator(at, &PROPERTIES) || symbol.flags.has(SymbolFlags::GETTER) {
                return if is_instance { self.function_result(at, Some(receiver), &[]) } else { Set::unknown() };
            }
            if self.has_decorator(at, &["classproperty"]) {
                return self.function_result(at, of_class.as_ref().or(Some(receiver)), &[]);
            }
            if self.has_decorator(at, &["staticmethod"]) {
                return Set::one(Value::Function(at));
            }
            if !is_instance && !self.has_decorator(at, &["classmethod"]) {
                return Set::one(Value::Function(at));
            }
            // A class method gives instances of the class that it is called on.
            let receiver = of_class.unwrap_or_else(|| receiver.clone());
            return Set::one(Value::Bound(at, Arc::new(receiver)));
        }
        if symbol.flags.has(SymbolFlags::GETTER) {
            return self.function_result(at, Some(receiver), &[]);
        }
        Set::one(Value::Bound(at, Arc::new(receiver.clone())))
    }

    /// The symbols that a set's callable values are, for references to them.
    pub fn callable_symbols(&mut self, set: &Set) -> Vec<Denoted> {
        let mut symbols = Vec::new();
        for value in set.values() {
            match value {
                Value::Function(at) | Value::Bound(at, _) | Value::Class(at) => symbols.push(Denoted::Symbol(*at)),
                Value::ExternalInstance(name, args) if &**name == "type" && args.len() == 1 => {
                    for class in self.bounding_classes(&args[0]).values() {
                        if let Value::Class(at) = class {
                            symbols.push(Denoted::Symbol(*at));
                        }
                    }
                }
                _ => {}
            }
        }
        symbols
    }
}

fn has_args(value: &Value) -> bool {
    match value {
        Value::Instance(_, args) | Value::ExternalInstance(_, args) => !args.is_empty(),
        Value::Shape(..) => true,
        _ => false,
    }
}
