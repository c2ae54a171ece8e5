//! ECMAScript's signatures: which of a function's overloads a call means by its arguments, and
//! the call signatures of types.

use crate::facts::model::{
    FileFacts, Param, ParamKind, ScopeId, SymbolFlags, SymbolId, SymbolKind, TypeId, TypeKind, TypeRole,
};
use crate::facts::table::Id;
use crate::graph::builtins;
use crate::graph::generics::Env;
use crate::graph::modules::Family;
use crate::graph::names::Decl;
use crate::graph::queries::{Base, Query, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Set, Value};
use crate::view::{FileIdx, SymbolRef};

/// Whether an argument can be given for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    No,
    Maybe,
    Yes,
}

/// What a value is by the coarsest measure that tells overloads apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form<'a> {
    Function,
    Object,
    List,
    Primitive(&'a str),
    /// A class of the repository, or what may be called and have members at once.
    Unclear,
}

impl Session<'_, '_> {
    /// The signatures of a function that callers see: its overloads where it has some, else itself.
    pub fn signatures_of(&self, at: SymbolRef) -> Vec<SymbolRef> {
        let facts = self.shared.names.view.names_of(at.file);
        let symbol = facts.symbol(at.symbol);
        if Family::of(facts.dialect) != Family::Ecma || symbol.flags.has(SymbolFlags::OVERLOAD) {
            return vec![at];
        }
        let decls = self.shared.names.file(at.file).decls(symbol.declared_in, symbol.name);
        let overloads: Vec<SymbolRef> = decls
            .filter_map(|decl| match decl {
                Decl::Symbol(row) => Some(SymbolRef { symbol: SymbolId::new(row as usize), ..at }),
                _ => None,
            })
            .filter(|other| facts.symbol(other.symbol).flags.has(SymbolFlags::OVERLOAD))
            .filter(|other| {
                let other = facts.symbol(other.symbol);
                (other.parent, other.flags.has(SymbolFlags::STATIC))
                    == (symbol.parent, symbol.flags.has(SymbolFlags::STATIC))
            })
            .collect();
        if overloads.is_empty() { vec![at] } else { overloads }
    }

    /// The overloads that a call with these arguments may mean: up to the first that surely fits.
    /// All of them when none can.
    pub fn fitting(&mut self, signatures: Vec<SymbolRef>, args: &[Set]) -> Vec<SymbolRef> {
        if signatures.len() < 2 {
            return signatures;
        }
        let mut found = Vec::new();
        for at in &signatures {
            let fit = self.fit_all(*at, args);
            if fit != Fit::No {
                found.push(*at);
            }
            if fit == Fit::Yes {
                break;
            }
        }
        if found.is_empty() { signatures } else { found }
    }

    /// Of several functions of one name and owner (an interface's overloads), those that a call
    /// with these arguments may mean.
    pub fn fitting_callees(&mut self, callees: Set, args: &[Set]) -> Set {
        let view = self.shared.names.view;
        let functions: Vec<SymbolRef> = callees
            .values()
            .iter()
            .filter_map(|value| match value {
                Value::Function(at) | Value::Bound(at, _) => Some(*at),
                _ => None,
            })
            .collect();
        let key = |at: &SymbolRef| (at.file, view.symbol(*at).declared_in, view.symbol(*at).name);
        let overloaded = functions.len() > 1 && functions.iter().all(|at| key(at) == key(&functions[0]));
        if !overloaded || Family::of(view.dialect(functions[0].file)) != Family::Ecma {
            return callees;
        }
        let kept = self.fitting(functions, args);
        callees.filter(|value| match value {
            Value::Function(at) | Value::Bound(at, _) => kept.contains(at),
            _ => true,
        })
    }

    fn fit_all(&mut self, at: SymbolRef, args: &[Set]) -> Fit {
        let facts = self.shared.names.view.declared(at);
        let Some(scope) = facts.symbol(at.symbol).scope else { return Fit::Maybe };
        let (params, rows) = params_and_rows(facts, scope);
        if !takes(&params, args.len()) {
            return Fit::No;
        }
        let mut worst = Fit::Yes;
        for ((param, row), arg) in params.iter().zip(rows).zip(args) {
            let Some(ty) = param.ty.filter(|_| param.kind != ParamKind::Rest) else { continue };
            let allowed = self.values(Query::Declared(at.file, row));
            worst = worst.min(self.fit_type(facts, ty, &allowed, arg));
        }
        worst
    }

    fn fit_type(&mut self, facts: &FileFacts, ty: TypeId, allowed: &Set, arg: &Set) -> Fit {
        if arg.values().is_empty() || allowed.values().is_empty() {
            return Fit::Maybe;
        }
        // Which literal it is, is not known.
        let literal = facts.type_row(ty).kind == TypeKind::Literal
            || facts.operands_of_type(ty).iter().any(|o| facts.type_row(o.ty).kind == TypeKind::Literal);
        let mut worst = if arg.open || literal { Fit::Maybe } else { Fit::Yes };
        for value in arg.values() {
            let mut best = if allowed.open { Fit::Maybe } else { Fit::No };
            for param in allowed.values() {
                best = best.max(self.fit_param(value, param));
            }
            worst = worst.min(best);
        }
        worst
    }

    fn fit_param(&mut self, arg: &Value, param: &Value) -> Fit {
        if *arg == Value::Null {
            return if *param == Value::Null { Fit::Yes } else { Fit::Maybe };
        }
        if let Value::TypeParam(owner, at) = param {
            let bound = self.bound_of(*owner, *at);
            let mut best = if bound.values().is_empty() { Fit::Yes } else { Fit::No };
            for value in bound.values() {
                let value = value.clone();
                if !matches!(value, Value::TypeParam(..)) {
                    best = best.max(self.fit_param(arg, &value));
                }
            }
            return best;
        }
        if let (Value::Instance(class, _), Value::Instance(wanted, _)) = (arg, param) {
            let mro = self.bases(Query::Mro(*class));
            let is_one = mro.iter().any(|base| matches!(base, Base::Class(at, _) if at == wanted));
            return if is_one { Fit::Yes } else { Fit::Maybe };
        }
        match (self.form(arg), self.form(param)) {
            (Form::Unclear, _) | (_, Form::Unclear) => Fit::Maybe,
            (one, other) if one == other => Fit::Yes,
            _ => Fit::No,
        }
    }

    fn form<'a>(&mut self, value: &'a Value) -> Form<'a> {
        match value {
            Value::Function(_) | Value::Lambda(..) | Value::Bound(..) => Form::Function,
            Value::Object(..) => Form::Object,
            Value::Shape(file, ty, ..) => {
                let facts = self.shared.names.view.facts(*file);
                match facts.type_row(*ty).kind {
                    TypeKind::Func => Form::Function,
                    _ if self.call_types(*file, *ty).is_empty() => Form::Object,
                    _ => Form::Unclear,
                }
            }
            Value::Instance(class, _) if self.call_signatures(*class).is_empty() => Form::Object,
            Value::ExternalInstance(name, _) => match &**name {
                "string" | "number" | "boolean" | "bigint" | "symbol" => Form::Primitive(name),
                "Array" | "tuple" => Form::List,
                "Record" | "Map" | "Set" | "Promise" | "RegExp" | "Date" => Form::Object,
                _ => Form::Unclear,
            },
            _ => Form::Unclear,
        }
    }

    /// The call signatures of a class-like type, inherited ones too.
    pub fn call_signatures(&mut self, class: SymbolRef) -> Vec<SymbolRef> {
        let mut found = Vec::new();
        for base in self.bases(Query::Mro(class)).iter() {
            let Base::Class(at, _) = base else { continue };
            let facts = self.shared.names.view.facts(at.file);
            let children = self.shared.names.file(at.file).children(at.symbol);
            found.extend(
                children
                    .filter(|child| {
                        let symbol = facts.symbol(*child);
                        symbol.kind == SymbolKind::Signature && facts.name(symbol.name) == "<call>"
                    })
                    .map(|symbol| SymbolRef { symbol, ..*at }),
            );
        }
        found
    }

    /// The function types of a structural type: itself, or its call signatures.
    pub fn call_types(&self, file: FileIdx, ty: TypeId) -> Vec<TypeId> {
        let facts = self.shared.names.view.facts(file);
        match facts.type_row(ty).kind {
            TypeKind::Func => vec![ty],
            TypeKind::Object => facts
                .operands_of_type(ty)
                .iter()
                .filter(|o| o.name.is_some_and(|name| facts.name(name) == "<call>"))
                .map(|o| o.ty)
                .filter(|ty| facts.type_row(*ty).kind == TypeKind::Func)
                .collect(),
            _ => Vec::new(),
        }
    }

    /// What calling a structural type gives, its function's own type parameters filled.
    pub fn call_shape(&mut self, shape: &Value, args: &[Set]) -> Set {
        let Value::Shape(file, ty, owner, _) = shape else { return Set::unknown() };
        let facts = self.shared.names.view.facts(*file);
        let symbol = SymbolRef { file: *file, symbol: *owner };
        let place = self.place_of(symbol);
        let mut sets = Vec::new();
        for function in self.call_types(*file, *ty) {
            let operands = facts.operands_of_type(function);
            let Some(result) = operands.iter().find(|o| o.role == TypeRole::Return) else { continue };
            let known = self.env_of(shape, symbol);
            let set = self.type_value_in(result.ty, place, &known);
            let mut filled = Env::default();
            let params = operands.iter().filter(|o| o.role == TypeRole::Param);
            for (param, arg) in params.zip(args) {
                self.unify(param.ty, place, arg, &mut filled);
            }
            sets.push(crate::graph::generics::substitute(&set, &known.merge_missing(filled)));
        }
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }

    /// The type of parameter `position` of a signature for a call with `n_args` arguments, its
    /// rest parameter spread; `None` when such a call cannot mean it.
    pub fn param_of_signature(&mut self, at: SymbolRef, position: usize, n_args: Option<usize>) -> Option<Set> {
        let param = self.row_of_signature(at, position, n_args)?;
        Some(self.part_of_param(Query::Declared(at.file, param.0), param.1))
    }

    /// The row of that parameter; with the position in it where it is a rest parameter.
    pub fn row_of_signature(
        &mut self,
        at: SymbolRef,
        position: usize,
        n_args: Option<usize>,
    ) -> Option<(u32, Option<usize>)> {
        let facts = self.shared.names.view.facts(at.file);
        let scope = facts.symbol(at.symbol).scope?;
        let (params, rows) = params_and_rows(facts, scope);
        if n_args.is_some_and(|n| !takes(&params, n)) {
            return None;
        }
        let rest = params.iter().position(|p| p.kind == ParamKind::Rest);
        let rest = rest.filter(|rest| position >= *rest);
        let at_row = rest.unwrap_or(position);
        params.get(at_row)?.ty?;
        Some((rows[at_row], rest.map(|rest| position - rest)))
    }

    /// What a query says of a parameter, of a rest parameter the element at a position.
    pub fn part_of_param(&mut self, query: Query, in_rest: Option<usize>) -> Set {
        let set = self.values(query);
        match in_rest {
            Some(position) => set.flat_map(|value| builtins::part(Family::Ecma, value, position)),
            None => set,
        }
    }

    /// Solves `Declared`.
    pub fn solve_declared(&mut self, file: FileIdx, row: u32) -> Set {
        let param = &self.shared.names.view.facts(file).params[row as usize];
        let place = Place { file, scope: param.scope, line: u32::MAX };
        param.ty.map_or_else(Set::unknown, |ty| self.type_value(ty, place))
    }
}

impl Session<'_, '_> {
    /// Solves `Filled`.
    pub fn solve_filled(&mut self, file: FileIdx, row: u32) -> Set {
        let declared = self.values(Query::Declared(file, row));
        if !declared.mentions_param() {
            return declared;
        }
        let facts = self.shared.names.view.facts(file);
        let owner = facts.scope(facts.params[row as usize].scope).owner;
        let mut env = Env::default();
        self.add_defaults(SymbolRef { file, symbol: owner }, &mut env);
        crate::graph::generics::substitute(&declared, &env)
    }
}

/// The parameters that arguments are given for, and their rows.
fn params_and_rows(facts: &FileFacts, scope: ScopeId) -> (Vec<&Param>, Vec<u32>) {
    let start = facts.params.partition_point(|p| p.scope < scope) as u32;
    facts.params_of(scope).iter().zip(start..).filter(|(p, _)| p.kind != ParamKind::This).unzip()
}

/// Whether parameters take that many arguments.
fn takes(params: &[&Param], n_args: usize) -> bool {
    let needed = params.iter().filter(|p| !p.optional && p.kind != ParamKind::Rest).count();
    let rest = params.iter().any(|p| p.kind == ParamKind::Rest);
    n_args >= needed && (rest || n_args <= params.len())
}
