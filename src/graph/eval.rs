//! The interpreter: what an expression may be, and what the chains in it denote.

use crate::base::reads::{self, Read};
use crate::facts::model::{
    ExprId, ExprKind, ImportKind, LiteralKind, NameId, Role, ScopeId, ScopeKind, SeqKind, SymbolId, SymbolKind,
};
use crate::facts::table::Cell;
use crate::graph::builtins;
use crate::graph::few::Few;
use crate::graph::generics::SELF;
use crate::graph::members::united;
use crate::graph::modules::{Family, Target};
use crate::graph::names::Text;
use crate::graph::queries::{Denoted, Query, Session};
use crate::graph::scope::{Place, Space};
use crate::graph::types::literal;
use crate::graph::value::{Name, Set, Value, no_args};
use crate::view::{FileIdx, SymbolRef};

impl Session<'_, '_> {
    /// What an expression may be at a place.
    pub fn eval(&mut self, expr: ExprId, place: Place) -> Set {
        if !self.step() {
            return Set::unknown();
        }
        // An expression of another file may stand anywhere in it.
        reads::note(Read::whole(place.file.0));
        let kind = self.shared.names.view.facts(place.file).expr(expr).kind;
        let is_leaf = matches!(
            kind,
            ExprKind::Name
                | ExprKind::This
                | ExprKind::Super
                | ExprKind::Literal
                | ExprKind::Lambda
                | ExprKind::ClassValue
                | ExprKind::Path
                | ExprKind::Template
                | ExprKind::Param
                | ExprKind::Opaque
                | ExprKind::Jsx
        );
        if is_leaf {
            return self.eval_kind(expr, place);
        }
        if let Some(known) = self.evaluated(expr, place) {
            return known;
        }
        let set = stacker::maybe_grow(96 * 1024, 2 * 1024 * 1024, || self.eval_kind(expr, place));
        self.keep_evaluated(expr, place, &set);
        set
    }

    fn eval_kind(&mut self, expr: ExprId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let family = Family::of(facts.dialect);
        let row = facts.expr(expr);
        let first = facts.operand(expr, 0);
        match row.kind {
            ExprKind::Name | ExprKind::This => {
                let set = self.eval_name(expr, place);
                self.narrow(expr, place, set)
            }
            ExprKind::Attr => {
                let (Some(base), Some(name)) = (first, row.name) else { return Set::unknown() };
                if self.is_module_exports(base, name, place) {
                    return self.own_exports(place.file);
                }
                let receivers = self.eval(base, place);
                let set = self.attribute(&receivers, self.shared.names.text(place.file, name), place.file);
                self.narrow(expr, place, set)
            }
            ExprKind::Call | ExprKind::New => self.eval_call(expr, place),
            ExprKind::Index => {
                let object = first.map_or_else(Set::unknown, |base| self.eval(base, place));
                let key = facts.operand(expr, 1);
                self.eval_index(&object, key, place)
            }
            ExprKind::Await => {
                let inner = first.map_or_else(Set::unknown, |e| self.eval(e, place));
                inner.flat_map(|value| builtins::awaited(family, value))
            }
            ExprKind::Yield | ExprKind::YieldFrom | ExprKind::Opaque => Set::unknown(),
            ExprKind::Choice => {
                let sets: Vec<Set> = facts.operands_of(expr).iter().map(|o| self.eval(o.expr, place)).collect();
                Set::union(sets)
            }
            ExprKind::Cast => match row.ty {
                Some(ty) => {
                    let cast = self.type_value(ty, place);
                    match first {
                        Some(inner) if cast.is_unknown() => self.eval(inner, place),
                        _ => cast,
                    }
                }
                None => first.map_or_else(Set::unknown, |e| self.eval(e, place).non_null()),
            },
            ExprKind::Lambda => match row.symbol {
                Some(symbol) => Set::one(Value::Function(SymbolRef { file: place.file, symbol })),
                None => Set::one(Value::Lambda(place.file, expr)),
            },
            ExprKind::ClassValue => match row.symbol {
                Some(symbol) => Set::one(Value::Class(SymbolRef { file: place.file, symbol })),
                None => Set::unknown(),
            },
            ExprKind::Object if family == Family::Python => {
                let sets: Vec<Set> = facts.operands_of(expr).iter().map(|o| self.eval(o.expr, place)).collect();
                let value = if sets.is_empty() { Set::unknown() } else { Set::union(sets) };
                Set::external("dict", &[Set::unknown(), value])
            }
            ExprKind::Object => Set::one(Value::Object(place.file, expr)),
            ExprKind::Seq if family == Family::Java => self.java_array(expr, place),
            ExprKind::Seq => self.eval_sequence(expr, place),
            ExprKind::Comprehension => {
                let inner = Place { scope: row.scope.unwrap_or(place.scope), ..place };
                let element = first.map_or_else(Set::unknown, |e| self.eval(e, inner));
                let class = match SeqKind::from_cell(u64::from(row.detail)) {
                    Some(SeqKind::Set) => "set",
                    Some(SeqKind::Dict) => {
                        let key = facts.operand(expr, 1).map_or_else(Set::unknown, |key| self.eval(key, inner));
                        return Set::external("dict", &[key, element]);
                    }
                    Some(SeqKind::Generator) => "iter",
                    _ => "list",
                };
                Set::external(class, &[element])
            }
            ExprKind::Literal => literal(family, row.detail),
            ExprKind::Path | ExprKind::Template => {
                Set::external(builtins::literal_class(family, LiteralKind::String), &[])
            }
            ExprKind::Param => {
                let function = self.param_scope(place);
                let params = facts.params_of(function);
                let start = facts.params.partition_point(|p| p.scope < function);
                if (row.detail as usize) < params.len() {
                    return self.values(Query::Param(place.file, (start + row.detail as usize) as u32));
                }
                Set::unknown()
            }
            ExprKind::MethodRef => self.eval_method_ref(expr, place),
            ExprKind::DynamicImport => match self.module_named(place.file, row.name) {
                Target::File(file) => Set::external("Promise", &[Set::one(Value::Module(file))]),
                Target::External(name) => Set::external("Promise", &[Set::one(Value::External(name))]),
                Target::Namespace(_) | Target::Missing => Set::unknown(),
            },
            ExprKind::Jsx => Set::one(Value::External(Name::Known("jsx"))),
            ExprKind::Value => first.map_or_else(Set::unknown, |e| self.eval(e, place)),
            // Its kind is stored one up, so that 0 says that it is not known.
            ExprKind::Operator if row.detail > 0 => literal(family, row.detail - 1),
            ExprKind::Operator if family == Family::Java => self.java_operator(expr, place),
            ExprKind::Operator => {
                let known = match family {
                    Family::Python => {
                        let operands = facts.operands_of(expr);
                        let sets: Vec<Set> = operands.iter().map(|o| self.eval(o.expr, place)).collect();
                        self.operated(facts.text(row.name), &sets, place)
                    }
                    Family::Ecma | Family::Java => None,
                };
                known.unwrap_or_else(|| Set::one(Value::External(Name::Known("operator"))).or_unknown())
            }
            ExprKind::TypeValue if family == Family::Java => {
                let class = row.ty.map_or_else(Set::unknown, |ty| self.type_value(ty, place));
                Set::external("Class", &[class])
            }
            ExprKind::TypeValue => match row.ty {
                Some(ty) => self.type_value(ty, place).flat_map(|value| match value {
                    Value::Instance(class, _) => Set::one(Value::Class(*class)),
                    Value::ExternalInstance(name, _) => Set::one(Value::External(name.clone())),
                    _ => Set::unknown(),
                }),
                None => Set::unknown(),
            },
            ExprKind::Super if family == Family::Java => self.java_super(row.name, place),
            ExprKind::Super => match self.class_around(place.file, place.scope) {
                Some(class) => Set::one(Value::Super(class)),
                None => Set::unknown(),
            },
        }
    }

    fn eval_name(&mut self, expr: ExprId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let family = Family::of(facts.dialect);
        let row = facts.expr(expr);
        let text = facts.text(row.name);
        if row.kind == ExprKind::This || (family != Family::Python && text == "this") {
            return self.this_value(place, text);
        }
        if family != Family::Python && text == "super" {
            return self.class_around(place.file, place.scope).map_or_else(Set::unknown, |c| Set::one(Value::Super(c)));
        }
        let Some(name) = row.name else { return Set::unknown() };
        let from = self.seen_from(place, name);
        self.remembered_value((from, name), |session| session.name_value(name, place))
    }

    /// What a name may be, its meaning aside that `this` and `super` have.
    fn name_value(&mut self, name: NameId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let family = Family::of(facts.dialect);
        let text = facts.name(name);
        let meaning = self.name_meaning(place, name, Space::Value);
        if meaning.denoted.is_empty() {
            if meaning.declared {
                return Set::unknown();
            }
            if family == Family::Ecma && text == "exports" {
                return self.own_exports(place.file);
            }
            // In Java a name that nothing declares is a package (JLS 6.5.2).
            let package = family == Family::Java && text.starts_with(|c: char| c.is_ascii_lowercase());
            let otherwise = if package { Set::one(Value::External(Name::of(text))) } else { Set::unknown() };
            return builtins::global(family, text).unwrap_or(otherwise);
        }
        let mut value = |denoted: &Denoted| {
            let values = self.denoted_value(denoted);
            match denoted {
                Denoted::Symbol(field) if family == Family::Java && values.mentions_param() => {
                    self.inherited_value(*field, &values, place)
                }
                _ => values,
            }
        };
        match &*meaning.denoted {
            [one] => value(one),
            several => Set::union(several.iter().map(value)),
        }
    }

    /// Whether a member is CommonJS's own `module.exports`.
    fn is_module_exports(&mut self, base: ExprId, name: NameId, place: Place) -> bool {
        let facts = self.shared.names.view.facts(place.file);
        let row = facts.expr(base);
        if Family::of(facts.dialect) != Family::Ecma || row.kind != ExprKind::Name || facts.name(name) != "exports" {
            return false;
        }
        let Some(module) = row.name.filter(|name| facts.name(*name) == "module") else { return false };
        !self.name_meaning(place, module, Space::Value).declared
    }

    /// What `exports` and `module.exports` are in a CommonJS module: what is assigned to the
    /// latter, else the module.
    fn own_exports(&mut self, file: FileIdx) -> Set {
        let whole = self.whole_module(file, ImportKind::Require);
        let sets: Vec<Set> = whole.iter().map(|denoted| self.denoted_value(denoted)).collect();
        Set::union(sets)
    }

    /// `this`, or Java's `Outer.this` with its name.
    fn this_value(&mut self, place: Place, name: &str) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let mut at = Some(place.scope);
        while let Some(id) = at {
            let row = facts.scope(id);
            match row.kind {
                ScopeKind::Class => {
                    let is_anonymous =
                        facts.symbol(row.owner).scope != Some(id) && Family::of(facts.dialect) == Family::Java;
                    // `Outer.this` names no anonymous class, in whatever it stands.
                    let named = !is_anonymous && facts.name(facts.symbol(row.owner).name) == name;
                    let wanted = name.is_empty() || name == "this" || named;
                    if wanted && is_anonymous {
                        return Set::one(Value::Anonymous(place.file, id));
                    }
                    if wanted {
                        return Set::one(Value::TypeParam(SymbolRef { file: place.file, symbol: row.owner }, SELF));
                    }
                }
                ScopeKind::Object => {
                    if let Some(expr) = self.shared.names.code(place.file).expr_of_scope(id) {
                        return Set::one(Value::Object(place.file, expr));
                    }
                }
                ScopeKind::Function => {
                    let in_member =
                        row.parent.is_some_and(|p| matches!(facts.scope(p).kind, ScopeKind::Class | ScopeKind::Object));
                    let lambda = self.shared.names.code(place.file).expr_of_scope(id);
                    let is_arrow = lambda.is_some_and(|lambda| facts.expr(lambda).detail == 1);
                    if !in_member && !is_arrow && Family::of(facts.dialect) == Family::Ecma {
                        return self.values(Query::This(SymbolRef { file: place.file, symbol: row.owner }));
                    }
                }
                _ => {}
            }
            at = row.parent;
        }
        Set::unknown()
    }

    /// Solves `This`: `a.m = function () { this }` and `C.prototype.m = function`.
    pub fn solve_this(&mut self, function: SymbolRef) -> Set {
        let facts = self.shared.names.view.facts(function.file);
        let rows: Vec<u32> = self.shared.names.file(function.file).bindings_of(function.symbol).collect();
        for row in rows {
            let binding = &facts.bindings[row as usize];
            let Some(base) = binding.target.and_then(|target| facts.operand(target, 0)) else { continue };
            let place = Place { file: function.file, scope: binding.scope, line: u32::MAX };
            let base_row = facts.expr(base);
            if base_row.kind == ExprKind::Attr && facts.text(base_row.name) == "prototype" {
                let class = facts.operand(base, 0).map_or_else(Set::unknown, |e| self.eval(e, place));
                return class.flat_map(|value| match value {
                    Value::Class(at) | Value::Function(at) | Value::Symbol(at) => Set::one(Value::Symbol(*at)),
                    _ => Set::unknown(),
                });
            }
            return self.eval(base, place);
        }
        Set::unknown()
    }

    fn param_scope(&self, place: Place) -> ScopeId {
        let facts = self.shared.names.view.facts(place.file);
        let mut at = place.scope;
        loop {
            let row = facts.scope(at);
            match (row.kind, row.parent) {
                (ScopeKind::Function | ScopeKind::Lambda, _) | (_, None) => return at,
                (_, Some(parent)) => at = parent,
            }
        }
    }

    fn eval_sequence(&mut self, expr: ExprId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let family = Family::of(facts.dialect);
        let operands = facts.operands_of(expr);
        let mut sets = Vec::new();
        for operand in operands {
            let set = self.eval(operand.expr, place);
            sets.push(match operand.role {
                Role::Spread => set.flat_map(|value| builtins::element(family, value)),
                _ => set,
            });
        }
        let spread = operands.iter().any(|o| o.role == Role::Spread);
        match SeqKind::from_cell(u64::from(facts.expr(expr).detail)) {
            Some(SeqKind::Tuple) if !spread => Set::external("tuple", &sets),
            Some(SeqKind::Array) if !spread && sets.len() <= 4 && sets.len() > 1 => Set::external("tuple", &sets),
            Some(SeqKind::Set) => Set::external("set", &[element_of(sets)]),
            _ => Set::external(builtins::list_class(family), &[element_of(sets)]),
        }
    }

    fn eval_index(&mut self, object: &Set, key: Option<ExprId>, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let family = Family::of(facts.dialect);
        let mut sets = Vec::new();
        for value in object.values() {
            let is_slice = family == Family::Python && key.is_some_and(|key| facts.expr(key).kind == ExprKind::Opaque);
            if let (true, Value::ExternalInstance(name, args)) = (is_slice, value) {
                sets.push(match &**name {
                    "tuple" => Set::external("iter", &[Set::union(args.iter().cloned())]),
                    _ => Set::one(value.clone()),
                });
                continue;
            }
            let method = match (family, value) {
                (Family::Python, Value::Instance(..) | Value::TypeParam(..)) => self.shared.names.find("__getitem__"),
                _ => None,
            };
            if let Some(text) = method {
                let getter = self.attribute(&Set::one(value.clone()), text, place.file);
                let args: Vec<Set> = key.into_iter().map(|key| self.eval(key, place)).collect();
                sets.push(self.call_result(&getter, &args, place));
                continue;
            }
            sets.push(match value {
                Value::Class(class)
                    if family == Family::Python && self.shared.names.view.symbol(*class).kind == SymbolKind::Enum =>
                {
                    Set::one(Value::Instance(*class, no_args()))
                }
                // `Generic[T]` used as a value stays the class.
                Value::Class(_) | Value::External(_) => Set::one(value.clone()),
                Value::ExternalInstance(name, _) if &**name == "type" => Set::one(value.clone()),
                _ => builtins::element_at(family, value),
            });
        }
        if object.open {
            sets.push(Set::unknown());
        }
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }

    fn eval_method_ref(&mut self, expr: ExprId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let row = facts.expr(expr);
        let Some(name) = row.name else { return Set::unknown() };
        let receivers = self.method_ref_receivers(expr, place);
        if facts.name(name) == "new" {
            return receivers.flat_map(|value| match value {
                Value::Instance(class, _) => Set::one(Value::Class(*class)),
                Value::External(path) | Value::ExternalInstance(path, _) => {
                    Set::one(Value::External(Name::from(format!("{path}.new"))))
                }
                other => Set::one(other.clone()),
            });
        }
        self.attribute(&receivers, self.shared.names.text(place.file, name), place.file)
    }

    /// What stands before `::`.
    pub fn method_ref_receivers(&mut self, expr: ExprId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        match (facts.operand(expr, 0), facts.expr(expr).ty) {
            (Some(base), _) => self.eval(base, place),
            (None, Some(ty)) => self.type_value(ty, place),
            (None, None) => Set::unknown(),
        }
    }

    /// What a chain of names denotes: a symbol, a module, or something outside.
    pub fn denoted_by(&mut self, expr: ExprId, place: Place) -> Few<Denoted> {
        let facts = self.shared.names.view.facts(place.file);
        let row = facts.expr(expr);
        match (row.kind, row.name, facts.operand(expr, 0)) {
            (ExprKind::Name, Some(name), _) => self.name_meaning(place, name, Space::Value).denoted.clone(),
            (ExprKind::Attr, Some(name), Some(base)) => {
                let text = self.shared.names.text(place.file, name);
                self.member_targets(base, text, place)
            }
            (ExprKind::Lambda | ExprKind::ClassValue, ..) => {
                row.symbol.map(|symbol| Denoted::Symbol(SymbolRef { file: place.file, symbol })).into_iter().collect()
            }
            (ExprKind::Value | ExprKind::Cast, _, Some(inner)) => self.denoted_by(inner, place),
            (ExprKind::Call, _, Some(callee)) if facts.text(facts.expr(callee).name) == "require" => {
                match facts.operand(expr, 1).map(|path| self.module_named(place.file, facts.expr(path).name)) {
                    Some(Target::File(file)) => self.whole_module(file, ImportKind::Require),
                    Some(Target::External(name)) => Few::One(Denoted::External(name)),
                    _ => Few::None,
                }
            }
            _ => Few::None,
        }
    }

    /// What a member of an expression denotes.
    pub fn member_targets(&mut self, base: ExprId, text: Text, place: Place) -> Few<Denoted> {
        let receivers = self.eval(base, place);
        united(receivers.values().iter().map(|value| self.member(value, text, place.file).denoted))
    }

    /// The member of something denoted, where a type or module is wanted.
    pub fn member_of_denoted(&mut self, denoted: &Denoted, text: Text, place: Place) -> Few<Denoted> {
        let value = match denoted {
            Denoted::Symbol(at) => match self.shared.names.view.symbol(*at).kind {
                kind if kind.is_class() => Value::Class(*at),
                _ => Value::Symbol(*at),
            },
            Denoted::Module(file) => Value::Module(*file),
            Denoted::Namespace(namespace) => Value::Namespace(namespace.clone()),
            Denoted::External(path) => {
                let name = self.shared.names.str(text);
                return Few::One(Denoted::External(Name::from(format!("{path}.{name}"))));
            }
            Denoted::Binding(..) | Denoted::Export(..) | Denoted::Param(..) | Denoted::TypeParam(..) => {
                return Few::None;
            }
        };
        self.member(&value, text, place.file).denoted
    }

    /// The value of what a name denotes.
    pub fn denoted_value(&mut self, denoted: &Denoted) -> Set {
        match denoted {
            Denoted::Symbol(at) => self.values(Query::Symbol(*at)),
            Denoted::Module(file) => Set::one(Value::Module(*file)),
            Denoted::Namespace(namespace) => Set::one(Value::Namespace(namespace.clone())),
            Denoted::External(path) => Set::one(Value::External(path.clone())),
            Denoted::Binding(file, row) => self.values(Query::Binding(*file, *row)),
            Denoted::Param(file, row) => self.values(Query::Param(*file, *row)),
            Denoted::TypeParam(owner, at) => Set::one(Value::TypeParam(*owner, *at)),
            Denoted::Export(file, row) => {
                let export = &self.shared.names.view.facts(*file).exports[*row as usize];
                let place = Place { file: *file, scope: export.scope, line: u32::MAX };
                export.expr.map_or_else(Set::unknown, |expr| self.eval(expr, place))
            }
        }
    }

    /// The nearest function or class symbol's reference, for a symbol row.
    pub fn at(&self, file: FileIdx, symbol: SymbolId) -> SymbolRef {
        SymbolRef { file, symbol }
    }
}

fn element_of(sets: Vec<Set>) -> Set {
    if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
}
