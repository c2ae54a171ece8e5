//! Members: bases, method resolution order, and what a name is on a value.

use crate::facts::model::{ExprKind, HeritageKind, NameId, ScopeId, SymbolFlags, SymbolId, SymbolKind, Visibility};
use crate::facts::table::Id;
use crate::graph::builtins;
use crate::graph::few::Few;
use crate::graph::modules::{Family, java_package};
use crate::graph::names::{Decl, Text};
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
    /// It denotes something in the repository.
    pub fn found(denoted: impl Into<Few<Denoted>>) -> Self {
        Member { outcome: Outcome::Found, denoted: denoted.into(), values: None }
    }

    /// Nothing is known.
    pub fn unknown() -> Self {
        Member::none(Outcome::Unknown)
    }

    /// It denotes nothing here.
    pub fn none(outcome: Outcome) -> Self {
        Member { outcome, denoted: Few::None, values: None }
    }

    /// It is from outside, and has a value.
    pub fn external(values: Set) -> Self {
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
        let facts = self.shared.names.view.names_of(file);
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
        let is_java = Family::of(self.shared.names.view.dialect(class.file)) == Family::Java;
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
        let facts = self.shared.names.view.declared(at);
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
        let facts = self.shared.names.view.declared(at);
        let mut bindings = self.shared.names.file(at.file).bindings_of(at.symbol).peekable();
        facts.symbol(at.symbol).kind == SymbolKind::Field
            && bindings.peek().is_some()
            && bindings.all(|row| facts.bindings[row as usize].target.is_some())
    }

    /// Whether a Python field has no declaration: only methods assign it, without a type.
    pub fn is_only_assigned(&self, at: SymbolRef) -> bool {
        let facts = self.shared.names.view.declared(at);
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
        let told_apart = names.signature(one) != names.signature(other);
        !told_apart && signature_of(view.qualname(one)) == signature_of(view.qualname(other))
    }

    /// What a name is on a value.
    pub fn member(&mut self, value: &Value, text: Text, from: FileIdx) -> Member {
        self.member_within(value, text, from, 0)
    }

    fn member_within(&mut self, value: &Value, text: Text, from: FileIdx, passed: u32) -> Member {
        if !self.step() || passed > MAX_PASS {
            return Member::none(Outcome::Unknown);
        }
        let family = Family::of(self.shared.names.view.dialect(file_of(value).unwrap_or(from)));
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
        if Family::of(view.dialect(class.file)) != Family::Python {
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

    /// What a name is on the values of a set.
    pub fn member_of_set(&mut self, set: &Set, text: Text, from: FileIdx, passed: u32) -> Member {
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
        let facts = self.shared.names.view.names_of(file);
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
        if Family::of(view.dialect(from)) == Family::Java {
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

    /// Whether a symbol has a decorator of that (last) name.
    pub fn has_decorator(&self, at: SymbolRef, names: &[&str]) -> bool {
        let facts = self.shared.names.view.declared(at);
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
