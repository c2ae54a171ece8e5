//! Members: bases, method resolution order, and what a name is on a value.

use crate::facts::model::{
    ExportKind, ExprId, ExprKind, HeritageKind, NameId, Role, ScopeId, SymbolFlags, SymbolId, SymbolKind, TypeKind,
    TypeRole, Visibility,
};
use crate::facts::table::Id;
use crate::graph::builtins;
use crate::graph::few::Few;
use crate::graph::generics::substitute;
use crate::graph::modules::{Family, java_package};
use crate::graph::names::{Decl, Text};
use crate::graph::narrowing::same_chain;
use crate::graph::queries::{Base, Denoted, Query, Session};
use crate::graph::scope::Place;
use crate::graph::types::file_of;
use crate::graph::value::{Name, Set, Value};
use crate::view::{FileIdx, SymbolRef};

/// How a member lookup went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Its definition is in the repository.
    Found,
    /// The value is known and has no such member.
    Missing,
    /// The value, or an ancestor met before any definition, is from outside.
    External,
    /// Not known.
    Unknown,
}

/// What a name is on one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub outcome: Outcome,
    /// What it denotes, where that is in the repository.
    pub denoted: Few<Denoted>,
    /// The value for members that denote nothing here.
    pub values: Option<Set>,
}

impl Member {
    fn found(denoted: impl Into<Few<Denoted>>) -> Self {
        Member { outcome: Outcome::Found, denoted: denoted.into(), values: None }
    }

    /// Nothing is known.
    pub fn unknown() -> Self {
        Member::none(Outcome::Unknown)
    }

    fn none(outcome: Outcome) -> Self {
        Member { outcome, denoted: Few::None, values: None }
    }

    fn external(values: Set) -> Self {
        Member { outcome: Outcome::External, denoted: Few::None, values: Some(values) }
    }
}

/// How deep lookups pass through bounds, spreads and aliases of values.
const MAX_PASS: u32 = 8;

impl Session<'_, '_> {
    /// The members of exactly this class with that name, in source order.
    pub fn own_members(&self, class: SymbolRef, text: Text) -> Vec<SymbolRef> {
        let scope = self.shared.names.view.symbol(class).scope;
        scope.map_or_else(Vec::new, |scope| self.members_of_scope(class.file, scope, text))
    }

    /// The symbols that a scope declares under a name, implementations before overload signatures.
    pub fn members_of_scope(&self, file: FileIdx, scope: ScopeId, text: Text) -> Vec<SymbolRef> {
        let facts = self.shared.names.view.facts(file);
        let Some(name) = self.shared.names.name_in(file, text) else { return Vec::new() };
        let decls = self.shared.names.file(file).decls(scope, name);
        let mut found: Vec<SymbolRef> = decls
            .filter_map(|decl| match decl {
                Decl::Symbol(row) => Some(SymbolRef { file, symbol: SymbolId::new(row as usize) }),
                _ => None,
            })
            .collect();
        // An implementation stands for its overload signatures.
        let is_overload = |at: &SymbolRef| facts.symbol(at.symbol).flags.has(SymbolFlags::OVERLOAD);
        if found.iter().any(|at| !is_overload(at)) {
            found.retain(|at| !is_overload(at));
        }
        found
    }

    /// The definitions of a member along an MRO from position `from` on. Java collects the
    /// overloads of all ancestors; elsewhere the first class that defines it wins.
    fn along_mro(&mut self, class: SymbolRef, text: Text, from: usize) -> Member {
        self.remembered_member((class, text, from), |session| session.member_along_mro(class, text, from))
    }

    /// Solves `Member`.
    pub fn find_along_mro(&mut self, class: SymbolRef, text: Text, from: usize) -> Member {
        let is_java = Family::of(self.shared.names.view.facts(class.file).dialect) == Family::Java;
        let mro = self.bases(Query::Mro(class));
        let mut outcome = if mro.is_empty() { Outcome::Unknown } else { Outcome::Missing };
        let mut found: Vec<SymbolRef> = Vec::new();
        let mut assigned: Vec<SymbolRef> = Vec::new();
        for base in mro.iter().skip(from) {
            match base {
                Base::Class(at, _) => {
                    let mut own = self.own_members(*at, text);
                    own.extend(self.assigned_members(*at, text));
                    if is_java {
                        own.retain(|m| self.is_inherited(*m, class));
                        for member in own {
                            self.add_inherited(&mut found, member);
                        }
                    } else if own.iter().all(|m| self.is_undeclared(*m)) {
                        // What an ancestor declares with a type (a property, `x: T`) is what a
                        // class below gives a value; checkers of types look it up so.
                        if assigned.is_empty() {
                            assigned = own;
                        }
                    } else {
                        return Member::found(own.into_iter().map(Denoted::Symbol).collect::<Few<Denoted>>());
                    }
                }
                Base::External(..) => outcome = Outcome::External,
                Base::Unknown if outcome == Outcome::Missing => outcome = Outcome::Unknown,
                Base::Unknown => {}
            }
        }
        if found.is_empty() {
            found = assigned;
        }
        if found.is_empty() {
            return Member::none(outcome);
        }
        Member::found(found.into_iter().map(Denoted::Symbol).collect::<Few<Denoted>>())
    }

    /// ECMAScript's `this.x = …` in a constructor function.
    fn fields_by_this(&self, at: SymbolRef, text: Text) -> Vec<Denoted> {
        if Family::of(self.shared.names.view.facts(at.file).dialect) != Family::Ecma {
            return Vec::new();
        }
        let Some(name) = self.shared.names.name_in(at.file, text) else { return Vec::new() };
        let rows = self.shared.names.file(at.file).fields(at.symbol, name);
        rows.map(|row| Denoted::Binding(at.file, row)).collect()
    }

    /// Adds a Java member that an ancestor further on has. Of equal signatures the overriding
    /// one counts; of unrelated ones that with a body, else the last (JLS 15.12.2.5).
    fn add_inherited(&mut self, found: &mut Vec<SymbolRef>, member: SymbolRef) {
        let view = self.shared.names.view;
        // Overloads of one class whose type parameters share a name are told apart by `#n`.
        let of_other_class =
            |known: SymbolRef| known.file != member.file || view.symbol(known).parent != view.symbol(member).parent;
        let same = found.iter().position(|known| of_other_class(*known) && self.same_signature(*known, member));
        let Some(at) = same else {
            found.push(member);
            return;
        };
        let known = found[at];
        let is_abstract = |at: SymbolRef| {
            view.symbol(at).kind == SymbolKind::Method && view.symbol(at).flags.has(SymbolFlags::ABSTRACT)
        };
        let parent = |at: SymbolRef| view.symbol(at).parent.map(|symbol| SymbolRef { symbol, ..at });
        let (Some(lower), Some(upper)) = (parent(known), parent(member)) else { return };
        if !is_abstract(known) {
            return;
        }
        let mro = self.bases(Query::Mro(lower));
        if !mro.iter().any(|base| matches!(base, Base::Class(at, _) if *at == upper)) {
            found[at] = member;
        }
    }

    /// Whether a field has no declaration with a type of which other classes' would be a part:
    /// Python's without a written type, ECMAScript's that only methods assign.
    fn is_undeclared(&self, at: SymbolRef) -> bool {
        let facts = self.shared.names.view.facts(at.file);
        let symbol = facts.symbol(at.symbol);
        let mut bindings = self.shared.names.file(at.file).bindings_of(at.symbol);
        match Family::of(facts.dialect) {
            Family::Python => {
                symbol.kind == SymbolKind::Field
                    && symbol.ty.is_none()
                    && bindings.all(|row| facts.bindings[row as usize].ty.is_none())
            }
            Family::Ecma => symbol.ty.is_none() && self.is_instance_field(at),
            Family::Java => false,
        }
    }

    /// Whether only methods assign a Python field.
    pub fn is_instance_field(&self, at: SymbolRef) -> bool {
        let facts = self.shared.names.view.facts(at.file);
        let mut bindings = self.shared.names.file(at.file).bindings_of(at.symbol).peekable();
        facts.symbol(at.symbol).kind == SymbolKind::Field
            && bindings.peek().is_some()
            && bindings.all(|row| facts.bindings[row as usize].target.is_some())
    }

    /// Whether a Python field has no declaration: only methods assign it, without a type.
    pub fn is_only_assigned(&self, at: SymbolRef) -> bool {
        let facts = self.shared.names.view.facts(at.file);
        Family::of(facts.dialect) == Family::Python
            && facts.symbol(at.symbol).ty.is_none()
            && self.is_instance_field(at)
    }

    /// Whether a Java member is one of `class` as well: private ones are not inherited, those of
    /// a package only within it. Within one file all are accessible.
    fn is_inherited(&self, member: SymbolRef, class: SymbolRef) -> bool {
        let view = self.shared.names.view;
        member.file == class.file
            || match view.symbol(member).visibility {
                Visibility::Public | Visibility::Protected => true,
                Visibility::Package => java_package(view, member.file) == java_package(view, class.file),
                Visibility::Private => false,
            }
    }

    /// Whether two Java methods have the same last segment of their qualnames.
    pub fn same_signature(&self, one: SymbolRef, other: SymbolRef) -> bool {
        let view = self.shared.names.view;
        let names = &self.shared.names;
        let told_apart = names.file(one.file).signature(one.symbol) != names.file(other.file).signature(other.symbol);
        !told_apart && signature_of(view.qualname(one)) == signature_of(view.qualname(other))
    }

    /// ECMAScript members that are assigned: `C.prototype.m = …`, `C.m = …`.
    fn assigned_members(&self, at: SymbolRef, text: Text) -> Vec<SymbolRef> {
        let view = self.shared.names.view;
        let facts = view.facts(at.file);
        if Family::of(facts.dialect) != Family::Ecma {
            return Vec::new();
        }
        let Some(name) = self.shared.names.name_in(at.file, text) else { return Vec::new() };
        let own = facts.name(facts.symbol(at.symbol).name);
        let table = self.shared.names.file(at.file);
        let mut found = Vec::new();
        for chain in [own.to_string(), format!("{own}.prototype")] {
            for row in table.assigned(&chain, name) {
                found.extend(facts.bindings[row as usize].symbol.map(|symbol| SymbolRef { file: at.file, symbol }));
            }
        }
        found.dedup();
        found
    }

    /// What a CommonJS module assigns to `exports.text` when this symbol is all that it exports:
    /// `exports = module.exports = f; exports.g = g`.
    fn members_by_exports(&mut self, at: SymbolRef, text: Text) -> Vec<Denoted> {
        let facts = self.shared.names.view.facts(at.file);
        if Family::of(facts.dialect) != Family::Ecma {
            return Vec::new();
        }
        let own = facts.symbol(at.symbol);
        let whole = facts.exports.iter().any(|export| {
            let by_name = export.local == Some(own.name) && own.declared_in == ScopeId::new(0);
            export.kind == ExportKind::Assign && (export.symbol == Some(at.symbol) || by_name)
        });
        let Some(name) = self.shared.names.name_in(at.file, text).filter(|_| whole) else { return Vec::new() };
        let table = self.shared.names.file(at.file);
        let rows: Vec<u32> = table.assigned("exports", name).chain(table.assigned("module.exports", name)).collect();
        let mut found = Vec::new();
        for row in rows {
            let binding = &facts.bindings[row as usize];
            let place = Place { file: at.file, scope: binding.scope, line: u32::MAX };
            let is_chain = |value: &ExprId| matches!(facts.expr(*value).kind, ExprKind::Attr | ExprKind::Call);
            let outside = binding.value.filter(is_chain).map(|value| self.eval(value, place));
            let outside = outside.as_ref().and_then(|set| match set.values() {
                // `exports.json = parser.json`: what is outside by another name.
                [Value::External(path)] if !set.open => Some(path.clone()),
                _ => None,
            });
            if let Some(path) = outside {
                found.push(Denoted::External(path));
            } else if let Some(symbol) = binding.symbol {
                found.push(Denoted::Symbol(SymbolRef { file: at.file, symbol }));
            } else if let Some(value) = binding.value {
                let named = self.denoted_by(value, place);
                found.extend(named.iter().cloned());
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// What a name is on a value.
    pub fn member(&mut self, value: &Value, text: Text, from: FileIdx) -> Member {
        self.member_within(value, text, from, 0)
    }

    fn member_within(&mut self, value: &Value, text: Text, from: FileIdx, passed: u32) -> Member {
        if !self.step() || passed > MAX_PASS {
            return Member::none(Outcome::Unknown);
        }
        let family = Family::of(self.shared.names.view.facts(file_of(value).unwrap_or(from)).dialect);
        let name = self.shared.names.str(text);
        match value {
            Value::Null => Member::none(Outcome::Missing),
            Value::Module(file) => self.member_of_module(*file, name),
            Value::Namespace(namespace) => {
                let found = self.member_of_namespace(namespace, name, from);
                if found.is_empty() { Member::none(Outcome::Unknown) } else { Member::found(found) }
            }
            Value::Class(class) => {
                let member = self.along_mro(*class, text, 0);
                if matches!(member.outcome, Outcome::Missing | Outcome::External) {
                    let exported = self.members_by_exports(*class, text);
                    if !exported.is_empty() {
                        return Member::found(exported);
                    }
                }
                if member.outcome == Outcome::Missing
                    && !builtins::is_object_member(family, name)
                    && let Some(metaclass) = self.metaclass_of(*class)
                {
                    let of_metaclass = self.along_mro(metaclass, text, 0);
                    if of_metaclass.outcome == Outcome::Found {
                        return of_metaclass;
                    }
                }
                if member.outcome == Outcome::Missing && builtins::is_class_member(family, name) {
                    return Member::external(Set::external(format!("class#{name}"), &[]));
                }
                member
            }
            Value::Instance(class, _) => {
                let member = self.along_mro(*class, text, 0);
                if member.outcome == Outcome::Missing && builtins::is_object_member(family, name) {
                    return Member::external(builtins::object_member(family, name));
                }
                if member.outcome == Outcome::External {
                    let bases = self.bases(Query::Mro(*class));
                    if family == Family::Java {
                        return Member::external(self.java_outside_member(value, *class, text));
                    }
                    for base in bases.iter() {
                        if let Base::External(name_of_base, args) = base {
                            let receiver = Value::ExternalInstance(name_of_base.clone(), args.clone());
                            return Member::external(builtins::member(family, &receiver, name));
                        }
                    }
                }
                member
            }
            Value::Anonymous(file, scope) => {
                let own = self.members_of_scope(*file, *scope, text);
                let bases = self.anonymous_bases(*file, *scope);
                let member = self.member_of_set(&bases, text, from, passed);
                if own.is_empty() {
                    return member;
                }
                // Its own methods join the overloads of its supertype; fields hide.
                let view = self.shared.names.view;
                let is_method = |at: &SymbolRef| view.symbol(*at).kind.is_function();
                let mut denoted = member.denoted.to_vec();
                denoted.retain(|denoted| match denoted {
                    Denoted::Symbol(at) => {
                        own.iter().all(is_method)
                            && is_method(at)
                            && !own.iter().any(|mine| self.overrides_java(*mine, *at))
                    }
                    _ => false,
                });
                denoted.extend(own.into_iter().map(Denoted::Symbol));
                denoted.sort();
                Member::found(denoted)
            }
            Value::Super(class) => self.along_mro(*class, text, 1),
            Value::TypeParam(owner, at) => {
                let bound = self.bound_of(*owner, *at);
                self.member_of_set(&bound, text, from, passed)
            }
            Value::Function(at) | Value::Bound(at, _) => {
                let assigned = self.assigned_members(*at, text);
                if !assigned.is_empty() {
                    return Member::found(assigned.into_iter().map(Denoted::Symbol).collect::<Few<Denoted>>());
                }
                let exported = self.members_by_exports(*at, text);
                if !exported.is_empty() {
                    return Member::found(exported);
                }
                if builtins::returns_itself(family, name) {
                    return Member::external(Set::one(value.clone()));
                }
                Member::none(Outcome::External)
            }
            Value::Lambda(..) => Member::none(Outcome::External),
            Value::Symbol(at) => self.member_of_symbol(*at, text),
            Value::Object(file, expr) => self.member_of_object(*file, *expr, text, passed),
            Value::Shape(..) => self.member_of_shape(value, text, from, passed),
            Value::External(path) => Member::external(Set::one(Value::External(Name::joined([path, ".", name])))),
            Value::ExternalInstance(class, args) if &**class == "type" && args.len() == 1 => {
                let classes = self.bounding_classes(&args[0]);
                self.member_of_set(&classes, text, from, passed)
            }
            Value::ExternalInstance(..) => Member::external(builtins::member(family, value, name)),
        }
    }

    /// The classes that a type parameter's class may be, by its bound.
    pub fn bounding_classes(&mut self, instances: &Set) -> Set {
        instances.flat_map(|value| match value {
            Value::TypeParam(owner, at) => {
                let bound = self.bound_of(*owner, *at);
                bound.flat_map(|value| match value {
                    Value::TypeParam(..) => Set::unknown(),
                    other => builtins::class_of(other),
                })
            }
            other => builtins::class_of(other),
        })
    }

    /// The class that `metaclass=` of a Python class or an ancestor names.
    fn metaclass_of(&mut self, class: SymbolRef) -> Option<SymbolRef> {
        let view = self.shared.names.view;
        if Family::of(view.facts(class.file).dialect) != Family::Python {
            return None;
        }
        let mro = self.bases(Query::Mro(class));
        mro.iter().find_map(|base| {
            let Base::Class(at, _) = base else { return None };
            let facts = view.facts(at.file);
            let start = facts.heritage.partition_point(|h| h.owner < at.symbol);
            let mut own = facts.heritage[start..].iter().take_while(|h| h.owner == at.symbol);
            let named = own.find(|h| h.kind == HeritageKind::Metaclass)?;
            let place = Place { line: crate::graph::java::HEADER, ..self.place_of(*at) };
            self.type_value(named.ty, place).values().iter().find_map(|value| match value {
                Value::Instance(metaclass, _) if metaclass != at => Some(*metaclass),
                _ => None,
            })
        })
    }

    fn member_of_set(&mut self, set: &Set, text: Text, from: FileIdx, passed: u32) -> Member {
        if let ([value], false) = (set.values(), set.open) {
            let member = self.member_within(value, text, from, passed + 1);
            return match member.outcome {
                Outcome::Found => Member { denoted: united([member.denoted]), values: None, ..member },
                Outcome::External => Member { denoted: Few::None, ..member },
                Outcome::Missing | Outcome::Unknown => Member::none(Outcome::Missing),
            };
        }
        let mut all = Member::none(if set.open { Outcome::Unknown } else { Outcome::Missing });
        let mut denoted: Vec<Few<Denoted>> = Vec::new();
        for value in set.values() {
            let member = self.member_within(value, text, from, passed + 1);
            match member.outcome {
                Outcome::Found => {
                    all.outcome = Outcome::Found;
                    denoted.push(member.denoted);
                }
                Outcome::External if all.outcome != Outcome::Found => {
                    all.outcome = Outcome::External;
                    all.values = member.values;
                }
                Outcome::External | Outcome::Missing | Outcome::Unknown => {}
            }
        }
        all.denoted = united(denoted);
        all
    }

    fn member_of_module(&mut self, file: FileIdx, name: &str) -> Member {
        let found = self.name_of_module(file, name).to_vec();
        if !found.is_empty() {
            return Member::found(found);
        }
        let facts = self.shared.names.view.facts(file);
        let is_open = facts.imports.iter().any(|i| i.kind.is_star())
            || facts
                .symbols
                .iter()
                .any(|s| facts.name(s.name) == "__getattr__" && s.parent.is_some_and(|p| p.index() == 0))
            || !facts.damage.is_empty();
        Member::none(if is_open { Outcome::Unknown } else { Outcome::Missing })
    }

    /// The member of a Python namespace package or a Java package.
    pub fn member_of_namespace(&mut self, namespace: &str, name: &str, from: FileIdx) -> Vec<Denoted> {
        let view = self.shared.names.view;
        if Family::of(view.facts(from).dialect) == Family::Java {
            if let Some(found) = self.shared.modules.java_type(view, from, namespace, name) {
                return vec![Denoted::Symbol(found)];
            }
            let package = format!("{namespace}.{name}");
            let is_package = self.shared.modules.is_java_package(&package);
            return is_package.then(|| Denoted::Namespace(Name::from(package))).into_iter().collect();
        }
        let target = self.shared.modules.in_namespace(namespace, name);
        target.and_then(crate::graph::exports::denoted_module).into_iter().collect()
    }

    /// Members of a namespace, or assigned to a constant or function.
    fn member_of_symbol(&mut self, at: SymbolRef, text: Text) -> Member {
        let mut found = self.own_members(at, text);
        let facts = self.shared.names.view.facts(at.file);
        if facts.symbol(at.symbol).kind.is_function() {
            // Functions inside of a constructor are members only by `this.m = …`.
            let table = self.shared.names.file(at.file);
            found.retain(|member| {
                let mut rows = table.bindings_of(member.symbol);
                rows.any(|row| facts.bindings[row as usize].target.is_some())
            });
        }
        found.extend(self.assigned_members(at, text));
        if found.is_empty() {
            let by_this = self.fields_by_this(at, text);
            return if by_this.is_empty() { Member::none(Outcome::Unknown) } else { Member::found(by_this) };
        }
        let mut denoted: Vec<Denoted> = found.into_iter().map(Denoted::Symbol).collect();
        denoted.sort();
        denoted.dedup();
        Member::found(denoted)
    }

    fn member_of_object(&mut self, file: FileIdx, expr: ExprId, text: Text, passed: u32) -> Member {
        let facts = self.shared.names.view.facts(file);
        let row = facts.expr(expr);
        let name = self.shared.names.name_in(file, text);
        if let (Some(scope), Some(name)) = (row.scope, name) {
            let symbols: Vec<Denoted> = self
                .shared
                .names
                .file(file)
                .decls(scope, name)
                .filter_map(|decl| match decl {
                    Decl::Symbol(row) => Some(Denoted::Symbol(SymbolRef { file, symbol: SymbolId::new(row as usize) })),
                    _ => None,
                })
                .collect();
            if !symbols.is_empty() {
                return Member::found(self.through_shorthand(symbols));
            }
        }
        let place = Place { line: u32::MAX, ..self.place_near(file, expr) };
        let mut outcome = Outcome::Missing;
        for operand in facts.operands_of(expr).iter().rev() {
            match operand.role {
                Role::Keyword if operand.name.is_some() && operand.name == name => {
                    if let Some(before) = self.without_copies(operand.expr, place) {
                        return self.member_of_set(&before, text, file, passed);
                    }
                    let (denoted, values) = stacker::maybe_grow(96 * 1024, 2 * 1024 * 1024, || {
                        (self.denoted_by(operand.expr, place), self.eval(operand.expr, place))
                    });
                    let outcome = if denoted.is_empty() { Outcome::External } else { Outcome::Found };
                    let outcome = if denoted.is_empty() && values.is_unknown() { Outcome::Unknown } else { outcome };
                    return Member { outcome, denoted, values: Some(values) };
                }
                Role::Spread | Role::KeywordSpread => {
                    let spread = self.eval(operand.expr, place);
                    let member = self.member_of_set(&spread, text, file, passed);
                    if member.outcome == Outcome::Found {
                        return member;
                    }
                    outcome = outcome.max(member.outcome);
                }
                Role::Computed => outcome = Outcome::Unknown,
                _ => {}
            }
        }
        // Members assigned to the name that holds the object.
        let table = self.shared.names.file(file);
        for row in self.shared.names.code(file).bindings_around(facts, expr) {
            let (Some(holder), Some(name)) = (facts.bindings[row as usize].name, name) else { continue };
            let rows: Vec<u32> = table.assigned(facts.name(holder), name).collect();
            if !rows.is_empty() {
                let denoted = rows.iter().map(|row| match facts.bindings[*row as usize].symbol {
                    Some(symbol) => Denoted::Symbol(SymbolRef { file, symbol }),
                    None => Denoted::Binding(file, *row),
                });
                return Member::found(denoted.collect::<Few<Denoted>>());
            }
        }
        Member::none(outcome)
    }

    /// In `x = { a: x.a }` the member `a` is the one that `x` had before: what `x` may be, without the
    /// objects that copy it so. `None` where no object does.
    fn without_copies(&mut self, member: ExprId, place: Place) -> Option<Set> {
        let facts = self.shared.names.view.facts(place.file);
        let row = facts.expr(member);
        if row.kind != ExprKind::Attr {
            return None;
        }
        let base = self.eval(facts.operand(member, 0)?, place);
        let copies = |value: &Value| match value {
            Value::Object(file, object) if *file == place.file => facts.operands_of(*object).iter().any(|operand| {
                let is_named = operand.role == Role::Keyword && operand.name == row.name;
                is_named && same_chain(facts, operand.expr, member)
            }),
            _ => false,
        };
        base.values().iter().any(copies).then(|| base.filter(|value| !copies(value)))
    }

    /// Members written `{ f }` are what `f` is, where that is a symbol.
    pub fn through_shorthand(&mut self, members: Vec<Denoted>) -> Vec<Denoted> {
        let mut found = Vec::new();
        for member in members {
            let Denoted::Symbol(at) = member else {
                found.push(member);
                continue;
            };
            let facts = self.shared.names.view.facts(at.file);
            let symbol = facts.symbol(at.symbol);
            let of_object = symbol.kind == SymbolKind::Property
                && facts.scope(symbol.declared_in).kind == crate::facts::model::ScopeKind::Object;
            let row = self.shared.names.file(at.file).bindings_of(at.symbol).next();
            let value = row.and_then(|row| facts.bindings[row as usize].value).filter(|value| {
                let row = facts.expr(*value);
                let is_name = row.kind == ExprKind::Name && row.name == Some(symbol.name);
                // In `{ f: f }` the name that is read stands elsewhere.
                let at = (symbol.name_line, symbol.name_column);
                let start = facts.refs.partition_point(|r| (r.line, r.column) < at);
                let here = facts.refs[start..].iter().take_while(|r| (r.line, r.column) == at);
                of_object && is_name && here.into_iter().any(|r| r.expr == *value)
            });
            let place = Place {
                file: at.file,
                scope: facts.scope(symbol.declared_in).parent.unwrap_or(ScopeId::new(0)),
                line: u32::MAX,
            };
            let named = value.map_or(Few::None, |value| self.denoted_by(value, place));
            if !named.is_empty() && named.iter().all(|d| matches!(d, Denoted::Symbol(_))) {
                found.extend(named.iter().cloned());
            } else {
                found.push(member);
            }
        }
        found
    }

    /// The member of an object type: its own, that of the type whose keys it maps, or what its
    /// index signature gives.
    fn member_of_shape(&mut self, shape: &Value, text: Text, from: FileIdx, passed: u32) -> Member {
        let Value::Shape(file, ty, owner, _) = shape else { return Member::none(Outcome::Unknown) };
        let facts = self.shared.names.view.facts(*file);
        let row = facts.type_row(*ty);
        if let (Some(scope), Some(name)) = (row.scope, self.shared.names.name_in(*file, text)) {
            let own: Vec<Denoted> = self
                .shared
                .names
                .file(*file)
                .decls(scope, name)
                .filter_map(|decl| match decl {
                    Decl::Symbol(row) => {
                        Some(Denoted::Symbol(SymbolRef { file: *file, symbol: SymbolId::new(row as usize) }))
                    }
                    _ => None,
                })
                .collect();
            if !own.is_empty() {
                return Member::found(own);
            }
        }
        let symbol = SymbolRef { file: *file, symbol: *owner };
        let place = self.place_of(symbol);
        let env = self.env_of(shape, symbol);
        // A type written in a comment has members without symbols.
        let named = self.shared.names.name_in(*file, text).filter(|_| row.scope.is_none());
        for operand in facts.operands_of_type(*ty) {
            let is_member = matches!(operand.role, TypeRole::Member | TypeRole::OptionalMember);
            if is_member && operand.name.is_some() && operand.name == named {
                return Member::external(self.type_value(operand.ty, place));
            }
        }
        for operand in facts.operands_of_type(*ty).iter().filter(|o| o.role == TypeRole::Index) {
            let mapped = facts.type_row(operand.ty).kind == TypeKind::Mapped;
            let parts = facts.operands_of_type(operand.ty);
            if let (true, [value, keys]) = (mapped, parts) {
                let of = facts.operands_of_type(keys.ty).first();
                let Some(of) = of.filter(|_| facts.type_row(keys.ty).kind == TypeKind::Keyof) else {
                    return Member::external(self.mapped_value(symbol, value.ty, keys.ty, text, &env));
                };
                // `{ [K in keyof T]: … }` has the members of T.
                let source = self.type_value(of.ty, place);
                let source = substitute(&source, &env);
                let mut member = self.member_of_set(&source, text, from, passed);
                if member.outcome == Outcome::Found && facts.type_row(value.ty).kind != TypeKind::IndexedAccess {
                    member.values = Some(self.mapped_value(symbol, value.ty, keys.ty, text, &env));
                }
                return member;
            }
            if !mapped {
                let set = self.type_value(operand.ty, place);
                return Member::external(substitute(&set, &env));
            }
        }
        Member::none(Outcome::Missing)
    }

    /// Whether a symbol has a decorator of that (last) name.
    pub fn has_decorator(&self, at: SymbolRef, names: &[&str]) -> bool {
        let facts = self.shared.names.view.facts(at.file);
        let start = facts.decorators.partition_point(|d| d.owner < at.symbol);
        facts.decorators[start..].iter().take_while(|d| d.owner == at.symbol).any(|d| {
            let mut expr = facts.expr(d.expr);
            if expr.kind == ExprKind::Call
                && let Some(callee) = facts.operand(d.expr, 0)
            {
                expr = facts.expr(callee);
            }
            names.contains(&facts.text(expr.name))
        })
    }

    /// The name of a text in a file, for tables.
    pub fn name_of(&self, file: FileIdx, text: Text) -> Option<NameId> {
        self.shared.names.name_in(file, text)
    }
}

/// The last segment of a qualname: a Java method's name with its parameter types.
pub fn signature_of(qualname: &str) -> &str {
    // Signatures are short: a loop from the end finds what a search of the whole prepares for.
    let last = |bytes: &[u8], wanted: u8| bytes.iter().rposition(|byte| *byte == wanted);
    let bytes = qualname.as_bytes();
    // Local classes have the parameters of the methods around them in their names.
    let open = last(bytes, b'(').unwrap_or(bytes.len());
    let start = last(&bytes[..open], b'.').map_or(0, |at| at + 1);
    let end = last(&bytes[start..], b'#').filter(|at| *at > 0).map_or(bytes.len(), |at| start + at);
    &qualname[start..end]
}

/// Several lists as one, sorted and unique.
pub fn united(lists: impl IntoIterator<Item = Few<Denoted>>) -> Few<Denoted> {
    let mut lists = lists.into_iter();
    let Some(first) = lists.next() else { return Few::None };
    let second = lists.next();
    if first.len() < 2 && second.is_none() {
        return first;
    }
    let mut all = first.to_vec();
    for list in second.into_iter().chain(lists) {
        all.extend_from_slice(&list);
    }
    all.sort();
    all.dedup();
    all.into()
}
