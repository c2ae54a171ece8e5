//! Types as values: what an annotation says an expression may be, type parameters and how
//! arguments fill them.

use crate::facts::model::{
    ExprId, ExprKind, ImportKind, LiteralKind, NameId, ScopeKind, SymbolId, SymbolKind, TypeId, TypeKind, TypeRole,
    literal_kind,
};
use crate::facts::table::Cell;
use crate::graph::builtins;
use crate::graph::few::Few;
use crate::graph::generics::{Env, SELF, substitute, type_params_of};
use crate::graph::members::united;
use crate::graph::modules::Family;
use crate::graph::names::declares;
use crate::graph::queries::{Denoted, Query, Session};
use crate::graph::scope::{Meaning, Place, Space};
use crate::graph::value::{Args, Set, Value, no_args};
use crate::view::{FileIdx, SymbolRef};

impl Session<'_, '_> {
    /// What an annotation allows.
    pub fn type_value(&mut self, ty: TypeId, place: Place) -> Set {
        if !self.step() {
            return Set::unknown();
        }
        let facts = self.shared.names.view.below(place.file);
        let family = Family::of(facts.dialect);
        let row = facts.type_row(ty);
        let operands = facts.operands_of_type(ty);
        match row.kind {
            TypeKind::Named => self.named_type(ty, place),
            TypeKind::Union | TypeKind::Intersection => {
                let sets: Vec<Set> = operands.iter().map(|o| self.type_value(o.ty, place)).collect();
                Set::union(sets)
            }
            TypeKind::Array => {
                let element = operands.first().map_or_else(Set::unknown, |o| self.type_value(o.ty, place));
                Set::external(builtins::list_class(family), &[element])
            }
            TypeKind::Tuple => {
                let elements: Vec<Set> = operands.iter().map(|o| self.type_value(o.ty, place)).collect();
                Set::external("tuple", &elements)
            }
            TypeKind::Func | TypeKind::Object => {
                Set::one(Value::Shape(place.file, ty, facts.scope(place.scope).owner, no_args()))
            }
            TypeKind::Typeof => row.expr.map_or_else(Set::unknown, |expr| self.eval(expr, place)),
            TypeKind::Keyof => Set::external(builtins::literal_class(family, LiteralKind::String), &[]),
            TypeKind::IndexedAccess => {
                let object = operands.first().map_or_else(Set::unknown, |o| self.type_value(o.ty, place));
                match row.name {
                    Some(name) => self.attribute(&object, self.shared.names.text(place.file, name), place.file),
                    None if operands.get(1).is_some_and(|key| facts.type_row(key.ty).kind == TypeKind::Keyof) => {
                        object.flat_map(|value| self.member_types(value))
                    }
                    None => object.flat_map(|value| builtins::element(family, value)),
                }
            }
            TypeKind::Conditional => {
                let sets: Vec<Set> = operands.iter().skip(2).map(|o| self.type_value(o.ty, place)).collect();
                Set::union(sets)
            }
            TypeKind::Literal => literal(family, literal_kind(row.detail)),
            TypeKind::Wildcard | TypeKind::Wrapped => {
                let inner = operands.first().map_or_else(Set::unknown, |o| self.type_value(o.ty, place));
                if row.kind == TypeKind::Wrapped && row.detail == 1 {
                    return Set::union([inner, Set::one(Value::Null)]);
                }
                inner
            }
            TypeKind::Predicate => Set::external(builtins::literal_class(family, LiteralKind::Bool), &[]),
            TypeKind::Import => self.import_type(ty, place),
            TypeKind::Mapped | TypeKind::Opaque => Set::unknown(),
            TypeKind::This => match self.class_around(place.file, place.scope) {
                Some(class) => Set::one(Value::TypeParam(class, SELF)),
                None => Set::unknown(),
            },
        }
    }

    /// What any member of an interface or object type may be: `T[keyof T]`.
    fn member_types(&mut self, value: &Value) -> Set {
        let mut sets = Vec::new();
        let owner = match value {
            Value::Instance(class, _) => {
                let facts = self.shared.names.view.facts(class.file);
                let children: Vec<SymbolId> = self.shared.names.file(class.file).children(class.symbol).collect();
                for symbol in children {
                    if matches!(facts.symbol(symbol).kind, SymbolKind::Property | SymbolKind::Field) {
                        sets.push(self.values(Query::Symbol(SymbolRef { symbol, ..*class })));
                    }
                }
                *class
            }
            Value::Shape(file, ty, owner, _) => {
                let symbol = SymbolRef { file: *file, symbol: *owner };
                let place = self.place_of(symbol);
                let facts = self.shared.names.view.facts(*file);
                for operand in facts.operands_of_type(*ty) {
                    if matches!(operand.role, TypeRole::Member | TypeRole::OptionalMember) {
                        sets.push(self.type_value(operand.ty, place));
                    }
                }
                symbol
            }
            _ => return Set::unknown(),
        };
        if sets.is_empty() {
            return Set::unknown();
        }
        let env = self.env_of(value, owner);
        substitute(&Set::union(sets), &env)
    }

    /// What the name of a type denotes.
    pub fn type_denoted(&mut self, ty: TypeId, place: Place) -> Few<Denoted> {
        let facts = self.shared.names.view.below(place.file);
        facts.type_row(ty).expr.map_or(Few::None, |expr| self.denoted_type(expr, place))
    }

    /// What an expression denotes where a type is wanted.
    pub fn denoted_type(&mut self, expr: ExprId, place: Place) -> Few<Denoted> {
        let facts = self.shared.names.view.below(place.file);
        let row = facts.expr(expr);
        match (row.kind, row.name) {
            (ExprKind::Name, Some(name)) => self.name_meaning(place, name, Space::Type).denoted.clone(),
            (ExprKind::Attr, Some(name)) => {
                let Some(base) = facts.operand(expr, 0) else { return Few::None };
                let text = self.shared.names.text(place.file, name);
                let bases = self.denoted_type(base, place);
                let found = united(bases.iter().map(|base| self.member_of_denoted(base, text, place)));
                self.in_space(found, Space::Type)
            }
            _ => self.denoted_by(expr, place),
        }
    }

    fn import_type(&mut self, ty: TypeId, place: Place) -> Set {
        use crate::graph::modules::Target;
        let facts = self.shared.names.view.below(place.file);
        let row = facts.type_row(ty);
        let Target::File(file) = self.module_named(place.file, row.name) else { return Set::unknown() };
        let Some(expr) = row.expr else { return self.whole_type(file) };
        let denoted = self.imported_chain(file, expr, place);
        self.denoted_types(&denoted, ty, place)
    }

    /// `import("m")` as a type: an instance of the class that a CommonJS module is, else the module.
    fn whole_type(&mut self, file: FileIdx) -> Set {
        let whole = self.whole_module(file, ImportKind::Require);
        let instances = whole.iter().filter_map(|denoted| {
            let Denoted::Symbol(at) = denoted else { return None };
            match self.shared.names.view.symbol(*at).kind {
                kind if kind.is_class() => Some(Set::one(Value::Instance(*at, no_args()))),
                kind if kind.is_function() => Some(Set::one(Value::Symbol(*at))),
                _ => None,
            }
        });
        let sets: Vec<Set> = instances.collect();
        if sets.is_empty() { Set::one(Value::Module(file)) } else { Set::union(sets) }
    }

    /// What the chain of names after `import("m")` denotes.
    fn imported_chain(&mut self, module: FileIdx, expr: ExprId, place: Place) -> Few<Denoted> {
        let facts = self.shared.names.view.below(place.file);
        let Some(name) = facts.expr(expr).name else { return Few::None };
        let text = self.shared.names.text(place.file, name);
        let Some(base) = facts.operand(expr, 0) else {
            return self.name_of_module(module, self.shared.names.str(text));
        };
        let bases = self.imported_chain(module, base, place);
        let found = united(bases.iter().map(|base| self.member_of_denoted(base, text, place)));
        self.in_space(found, Space::Type)
    }

    fn named_type(&mut self, ty: TypeId, place: Place) -> Set {
        let facts = self.shared.names.view.below(place.file);
        let family = Family::of(facts.dialect);
        let denoted = self.type_denoted(ty, place);
        if denoted.is_empty() {
            let Some(expr) = facts.type_row(ty).expr else { return Set::unknown() };
            let name = facts.text(facts.expr(expr).name);
            let args = self.type_args(ty, place);
            if let (Family::Ecma, Some(of)) = (family, args.first()) {
                match name {
                    "ReturnType" => return self.call_result(of, &[], place),
                    "InstanceType" => return self.instances(of, &[]),
                    _ => {}
                }
            }
            return builtins::named_type(family, name, &args).unwrap_or_else(Set::unknown);
        }
        self.denoted_types(&denoted, ty, place)
    }

    pub fn type_args(&mut self, ty: TypeId, place: Place) -> Vec<Set> {
        let facts = self.shared.names.view.below(place.file);
        let operands = facts.operands_of_type(ty);
        operands.iter().filter(|o| o.role == TypeRole::Argument).map(|o| self.type_value(o.ty, place)).collect()
    }

    fn denoted_types(&mut self, denoted: &[Denoted], ty: TypeId, place: Place) -> Set {
        let family = Family::of(self.shared.names.view.dialect(place.file));
        let args = self.type_args(ty, place);
        if let [Denoted::Symbol(at)] = denoted {
            return self.symbol_type(*at, &args);
        }
        let mut sets = Vec::new();
        for denoted in denoted {
            sets.push(match denoted {
                Denoted::Symbol(at) => self.symbol_type(*at, &args),
                Denoted::TypeParam(owner, at) => Set::one(Value::TypeParam(*owner, *at)),
                Denoted::External(path) => {
                    builtins::named_type(family, path, &args).unwrap_or_else(|| Set::external(path, &args))
                }
                Denoted::Binding(file, row) => {
                    let values = self.values(Query::Binding(*file, *row));
                    let binding = &self.shared.names.view.facts(*file).bindings[*row as usize];
                    // `@typedef {T} Name` names a type, not a class.
                    let is_alias = family == Family::Ecma && binding.value.is_none() && binding.ty.is_some();
                    if is_alias { values } else { self.instances(&values, &args) }
                }
                Denoted::Module(_) | Denoted::Namespace(_) | Denoted::Export(..) | Denoted::Param(..) => Set::unknown(),
            });
        }
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }

    /// The values of a type that a symbol names.
    pub fn symbol_type(&mut self, at: SymbolRef, args: &[Set]) -> Set {
        let symbol = self.shared.names.view.symbol(at);
        let args = &self.with_defaults(at, args)[..];
        match symbol.kind {
            kind if kind.is_class() => Set::one(Value::Instance(at, Args::from(args))),
            SymbolKind::TypeAlias => {
                let aliased = self.values(Query::Alias(at));
                let mut env = Env::default();
                for (position, arg) in args.iter().enumerate() {
                    env.add((at, position as u32), arg.clone());
                }
                substitute(&aliased, &env)
            }
            SymbolKind::EnumMember => match symbol.parent {
                Some(parent) => Set::one(Value::Instance(SymbolRef { symbol: parent, ..at }, no_args())),
                None => Set::unknown(),
            },
            SymbolKind::Variable | SymbolKind::Field => {
                let values = self.values(Query::Symbol(at));
                let made = values.values().iter().any(|v| matches!(v, Value::ExternalInstance(name, _) | Value::External(name) if builtins::makes_type_param(name)));
                if made {
                    return Set::one(Value::TypeParam(at, 0));
                }
                match self.assigned_type(at, args) {
                    Some(set) if !set.is_unknown() => set,
                    _ => self.instances(&values, args),
                }
            }
            _ => Set::unknown(),
        }
    }

    /// Type arguments with the defaults of type parameters for which none is written.
    fn with_defaults(&mut self, at: SymbolRef, args: &[Set]) -> Vec<Set> {
        let mut filled = args.to_vec();
        let facts = self.shared.names.view.declared(at);
        if Family::of(facts.dialect) != Family::Ecma {
            return filled;
        }
        let params = type_params_of(facts, at.symbol);
        if params.get(args.len()).is_none_or(|param| param.default.is_none()) {
            return filled;
        }
        let mut env = Env::default();
        for (position, arg) in filled.iter().enumerate() {
            env.add((at, position as u32), arg.clone());
        }
        for position in args.len()..params.len() {
            let Some(default) = self.default_type(at, position, &env) else { break };
            env.add((at, position as u32), default.clone());
            filled.push(default);
        }
        filled
    }

    /// Classes become their instances.
    pub fn instances(&mut self, classes: &Set, args: &[Set]) -> Set {
        classes.flat_map(|value| match value {
            Value::Class(class) => Set::one(Value::Instance(*class, Args::from(args))),
            Value::External(path) => {
                builtins::named_type(Family::Python, path, args).unwrap_or_else(|| Set::external(path, args))
            }
            Value::ExternalInstance(name, args) if &**name == "type" => args.first().cloned().unwrap_or_default(),
            Value::Instance(..) | Value::ExternalInstance(..) | Value::Null => Set::one(value.clone()),
            _ => Set::unknown(),
        })
    }

    /// Solves `Alias`.
    pub fn solve_alias(&mut self, at: SymbolRef) -> Set {
        let symbol = self.shared.names.view.symbol(at);
        match symbol.ty {
            Some(ty) => self.type_value(ty, self.place_of(at)),
            None => self.solve_assigned_type(at),
        }
    }

    /// Where the types of a symbol's declaration are read: in its own scope.
    pub fn place_of(&self, at: SymbolRef) -> Place {
        let symbol = self.shared.names.view.symbol(at);
        Place { file: at.file, scope: symbol.scope.unwrap_or(symbol.declared_in), line: u32::MAX }
    }

    /// The scope kind in which a symbol is declared.
    pub fn declared_in_kind(&self, at: SymbolRef) -> ScopeKind {
        let facts = self.shared.names.view.declared(at);
        facts.scope(facts.symbol(at.symbol).declared_in).kind
    }

    /// What a name means, by the rules of the file's language.
    pub fn name_meaning(&mut self, place: Place, name: NameId, space: Space) -> Meaning {
        let from = self.seen_from(place, name);
        let place = Place { scope: from.scope, ..place };
        self.remembered_meaning((from, name, space), |session| {
            match Family::of(session.shared.names.view.dialect(place.file)) {
                Family::Java => session.java_meaning(place, name, space),
                Family::Python | Family::Ecma => session.meaning(place, name, space),
            }
        })
    }

    /// The outermost place from which a name means the same, its line told only as far as it
    /// matters: scopes that do not declare the name are left.
    pub fn seen_from(&self, place: Place, name: NameId) -> Place {
        let facts = self.shared.names.view.names_of(place.file);
        match Family::of(facts.dialect) {
            Family::Python => place,
            Family::Java => self.java_seen_from(place, name),
            Family::Ecma => {
                let table = self.shared.names.file(place.file);
                let mut scope = place.scope;
                if !table.is_type_param(name) {
                    let decls = table.decls_of(name);
                    while let (false, Some(outer)) = (declares(decls, scope), facts.scope(scope).parent) {
                        scope = outer;
                    }
                }
                Place { line: 0, scope, ..place }
            }
        }
    }
}

/// The class of a literal type.
pub fn literal(family: Family, detail: u32) -> Set {
    match LiteralKind::from_cell(u64::from(detail)) {
        Some(LiteralKind::Null | LiteralKind::Undefined) => Set::one(Value::Null),
        Some(kind) => Set::external(builtins::literal_class(family, kind), &[]),
        None => Set::unknown(),
    }
}

/// The file of a value's definition, where it has one.
pub fn file_of(value: &Value) -> Option<FileIdx> {
    match value {
        Value::Module(file)
        | Value::Anonymous(file, _)
        | Value::Lambda(file, _)
        | Value::Object(file, _)
        | Value::Shape(file, ..) => Some(*file),
        Value::Class(at)
        | Value::Instance(at, _)
        | Value::Function(at)
        | Value::Bound(at, _)
        | Value::TypeParam(at, _)
        | Value::Super(at)
        | Value::Symbol(at) => Some(at.file),
        Value::Null | Value::Namespace(_) | Value::External(_) | Value::ExternalInstance(..) => None,
    }
}
