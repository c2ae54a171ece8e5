//! Java's names: members of enclosing and inherited classes, imports, packages; calls by
//! arity, then by argument types.

use std::borrow::Cow;
use std::sync::Arc;

use crate::facts::model::{ExprId, ExprKind, FileFacts, ImportKind, NameId, ScopeId, ScopeKind, SymbolKind};
use crate::facts::table::Id;
use crate::graph::builtins;
use crate::graph::few::Few;
use crate::graph::generics::substitute;
use crate::graph::members::Outcome;
use crate::graph::memo::Callees;
use crate::graph::modules::{Family, java_package};
use crate::graph::names::{Text, declares};
use crate::graph::queries::{Base, Denoted, Query, Session};
use crate::graph::scope::{Meaning, Place, Space};
use crate::graph::value::{Name, Set, Value, no_args};
use crate::view::{FileIdx, SymbolRef};

/// The line of a place in a class's own header, where its inherited names are not yet visible.
pub const HEADER: u32 = 0;

/// A class around a place.
#[derive(Clone, Copy, Debug)]
enum Around {
    Class(SymbolRef),
    Anonymous(ScopeId),
}

impl<'v> Session<'_, 'v> {
    /// What a simple name means (JLS 6.4, 6.5): locals, fields of the classes around, types.
    pub fn java_meaning(&mut self, place: Place, name: NameId, space: Space) -> Meaning {
        let view = self.shared.names.view;
        let text = self.shared.names.text(place.file, name);
        let local = self.meaning(place, name, space);
        let at_top = local.imported
            || local.denoted.iter().all(|d| match d {
                Denoted::Symbol(at) => view.symbol(*at).declared_in == ScopeId::new(0),
                _ => false,
            });
        if local.declared && !at_top {
            return local;
        }
        for around in self.classes_around(place) {
            let found = match around {
                Around::Class(class) => self.java_members(class, text, space),
                Around::Anonymous(scope) => self.anonymous_members(place.file, scope, text, space),
            };
            if !found.is_empty() {
                return Meaning { denoted: found, imported: false, declared: true };
            }
        }
        if local.declared {
            return local;
        }
        let simple = self.shared.names.str(text);
        let package = java_package(view, place.file);
        if let Some(found) = self.shared.modules.java_type(view, place.file, package, simple) {
            return Meaning { denoted: Few::One(Denoted::Symbol(found)), imported: false, declared: true };
        }
        let mut external = false;
        for row in self.shared.names.file(place.file).stars() {
            let facts = view.names_of(place.file);
            let import = &facts.imports[*row as usize];
            let path = facts.text(import.module).trim_end_matches(".*");
            if import.kind == ImportKind::Star
                && let Some(found) = self.shared.modules.java_type(view, place.file, path, simple)
            {
                return Meaning { denoted: Few::One(Denoted::Symbol(found)), imported: true, declared: true };
            }
            match self.java_path(place.file, path) {
                Some(Denoted::Symbol(class)) => {
                    let found = self.java_members(class, text, space);
                    if !found.is_empty() {
                        return Meaning { denoted: found, imported: true, declared: true };
                    }
                }
                _ => external |= !self.shared.modules.is_java_package(path),
            }
        }
        if self.shared.modules.is_java_package(simple) && !simple.is_empty() {
            return Meaning {
                denoted: Few::One(Denoted::Namespace(Name::of(simple))),
                imported: false,
                declared: true,
            };
        }
        // A type that no package of the view declares comes from a star import or `java.lang`.
        let is_type = simple.starts_with(char::is_uppercase);
        if is_type && (external || space == Space::Type || builtins::global(Family::Java, simple).is_some()) {
            return Meaning { denoted: Few::One(Denoted::External(Name::of(simple))), imported: true, declared: true };
        }
        Meaning::default()
    }

    /// As `seen_from`: blocks that do not declare the name are left.
    pub fn java_seen_from(&self, place: Place, name: NameId) -> Place {
        // A class's own header sees less than its body.
        if place.line == HEADER {
            return place;
        }
        let facts = self.shared.names.view.names_of(place.file);
        let table = self.shared.names.file(place.file);
        let decls = table.decls_of(name);
        // A pattern variable ends where the next of its name begins.
        let line = if table.is_repeated(name) { place.line } else { 1 };
        if table.is_type_param(name) {
            return Place { line, ..place };
        }
        let mut scope = place.scope;
        loop {
            let row = facts.scope(scope);
            let (ScopeKind::Block | ScopeKind::Lambda | ScopeKind::Function, Some(outer)) = (row.kind, row.parent)
            else {
                break;
            };
            if declares(decls, scope) {
                break;
            }
            scope = outer;
        }
        Place { line, scope, ..place }
    }

    /// The classes around a place, innermost first; in a class's header without that class.
    fn classes_around(&self, place: Place) -> impl Iterator<Item = Around> + use<'v> {
        let facts: &'v FileFacts = self.shared.names.view.names_of(place.file);
        let scopes = std::iter::successors(Some(place.scope), move |id| facts.scope(*id).parent);
        scopes.filter_map(move |id| {
            let row = facts.scope(id);
            if row.kind != ScopeKind::Class || (place.line == HEADER && id == place.scope) {
                return None;
            }
            Some(match facts.symbol(row.owner).scope == Some(id) {
                true => Around::Class(SymbolRef { file: place.file, symbol: row.owner }),
                false => Around::Anonymous(id),
            })
        })
    }

    /// What the instances of an anonymous class are besides: its supertype.
    pub fn anonymous_bases(&mut self, file: FileIdx, scope: ScopeId) -> Set {
        let facts = self.shared.names.view.facts(file);
        let Some(expr) = self.shared.names.code(file).expr_of_scope(scope) else { return Set::unknown() };
        let place = Place { file, scope: facts.scope(scope).parent.unwrap_or(ScopeId::new(0)), line: u32::MAX };
        match (facts.expr(expr).ty, facts.operand(expr, 0)) {
            (Some(ty), _) => self.type_value(ty, place),
            // The body of an enum constant: its class is the enum.
            (None, Some(callee)) => {
                let denoted = self.denoted_type(callee, place);
                let classes = denoted.iter().filter_map(|d| match d {
                    Denoted::Symbol(class) => Some(Set::one(Value::Instance(*class, no_args()))),
                    _ => None,
                });
                let classes: Vec<Set> = classes.collect();
                if classes.is_empty() { Set::unknown() } else { Set::union(classes) }
            }
            (None, None) => Set::unknown(),
        }
    }

    fn anonymous_members(&mut self, file: FileIdx, scope: ScopeId, text: Text, space: Space) -> Few<Denoted> {
        let own = self.members_of_scope(file, scope, text);
        let kept: Few<Denoted> = own.into_iter().filter(|m| self.is_in_space(*m, space)).map(Denoted::Symbol).collect();
        if !kept.is_empty() {
            return kept;
        }
        let bases = self.anonymous_bases(file, scope);
        let mut found = Vec::new();
        for value in bases.values() {
            if let Value::Instance(class, _) = value {
                found.extend_from_slice(&self.java_members(*class, text, space));
            }
        }
        found.into()
    }

    fn is_in_space(&self, member: SymbolRef, space: Space) -> bool {
        let kind = self.shared.names.view.symbol(member).kind;
        match space {
            Space::Type => kind.is_class(),
            Space::Value => !kind.is_function(),
        }
    }

    /// Fields (value space) or member types (type space, and values that name a type) of a class
    /// and its ancestors.
    pub fn java_members(&mut self, class: SymbolRef, text: Text, space: Space) -> Few<Denoted> {
        // What no class has need not be looked for; but a link that is tracked must say what it asked.
        if !self.shared.answers().is_tracked() && !self.shared.names.is_java_member(text, space) {
            return Few::None;
        }
        self.remembered_java_members((class, text, space), |session| session.inherited_java_members(class, text, space))
    }

    fn inherited_java_members(&mut self, class: SymbolRef, text: Text, space: Space) -> Few<Denoted> {
        let mro = self.bases(Query::Mro(class));
        for base in mro.iter() {
            let Base::Class(at, _) = base else { continue };
            let own = self.own_members(*at, text);
            let kept: Few<Denoted> =
                own.into_iter().filter(|m| self.is_in_space(*m, space)).map(Denoted::Symbol).collect();
            if !kept.is_empty() {
                return kept;
            }
        }
        Few::None
    }

    /// A dotted path: the longest package of the view, then types within types.
    pub fn java_path(&mut self, from: FileIdx, path: &str) -> Option<Denoted> {
        let view = self.shared.names.view;
        let is_plain = !path.contains("..") && !path.contains('*') && !path.starts_with('.') && !path.ends_with('.');
        let path = if is_plain {
            Cow::Borrowed(path)
        } else {
            let parts: Vec<&str> = path.split('.').filter(|p| !p.is_empty() && *p != "*").collect();
            Cow::Owned(parts.join("."))
        };
        // The package grows shorter, what lies in it longer.
        let mut end = path.len();
        while end > 0 {
            let start = path[..end].rfind('.').map_or(0, |dot| dot + 1);
            let package = &path[..start.saturating_sub(1)];
            if let Some(top) = self.shared.modules.java_type(view, from, package, &path[start..end]) {
                let mut at = Denoted::Symbol(top);
                for part in path[end..].split('.').skip(1) {
                    let text = self.shared.names.find(part)?;
                    let Denoted::Symbol(class) = at else { return None };
                    at = self.java_members(class, text, Space::Type).first()?.clone();
                }
                return Some(at);
            }
            end = start.saturating_sub(1);
        }
        None
    }

    /// What an import row brings in.
    pub fn java_import(&mut self, file: FileIdx, row: u32) -> Few<Denoted> {
        let facts = self.shared.names.view.facts(file);
        let import = &facts.imports[row as usize];
        let path = facts.text(import.module);
        let name = facts.text(import.name);
        let ends_with_name = path.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        match import.kind {
            ImportKind::Static => {
                let mut path = path;
                if name.is_empty() || ends_with_name {
                    let Some((class, _)) = path.rsplit_once('.') else { return Few::None };
                    path = class;
                }
                let member = if name.is_empty() { facts.text(import.local) } else { name };
                let Some(Denoted::Symbol(class)) = self.java_path(file, path) else {
                    return Few::One(Denoted::External(Name::joined([path, ".", member])));
                };
                let Some(text) = self.shared.names.find(member) else { return Few::None };
                self.member(&Value::Class(class), text, file).denoted
            }
            _ => {
                let path = if name.is_empty() || ends_with_name {
                    Cow::Borrowed(path)
                } else {
                    Cow::Owned([path, ".", name].concat())
                };
                match self.java_path(file, &path) {
                    Some(found) => Few::One(found),
                    None if import.kind.is_star() => Few::None,
                    None => Few::One(Denoted::External(Name::of(&path))),
                }
            }
        }
    }

    /// The methods that a callee's name may mean, the receivers they are called on, and the
    /// value from outside where it is one.
    pub fn java_callees(&mut self, callee: ExprId, place: Place) -> Arc<Callees> {
        let facts = self.shared.names.view.facts(place.file);
        let row = facts.expr(callee);
        match row.name.filter(|name| row.kind == ExprKind::Name && !matches!(facts.name(*name), "this" | "super")) {
            Some(name) => {
                // Blocks declare no methods: a name means the same in all of a class's body.
                let line = u32::from(place.line != HEADER);
                let scope = if line == HEADER { place.scope } else { self.class_scope(place) };
                let from = Place { scope, line, ..place };
                self.remembered_named_callees((from, name), |session| Arc::new(session.named_java_callees(name, from)))
            }
            None => {
                self.remembered_callees((place, callee), |session| Arc::new(session.find_java_callees(callee, place)))
            }
        }
    }

    /// The scope of the nearest class around a place, else that of the file.
    fn class_scope(&self, place: Place) -> ScopeId {
        let facts = self.shared.names.view.facts(place.file);
        let mut scope = place.scope;
        while let (false, Some(outer)) = (facts.scope(scope).kind == ScopeKind::Class, facts.scope(scope).parent) {
            scope = outer;
        }
        scope
    }

    fn find_java_callees(&mut self, callee: ExprId, place: Place) -> Callees {
        let view = self.shared.names.view;
        let facts = view.facts(place.file);
        let row = facts.expr(callee);
        let text = facts.text(row.name);
        let is_this = row.kind == ExprKind::This || (row.kind == ExprKind::Name && text == "this");
        let is_super = row.kind == ExprKind::Super || (row.kind == ExprKind::Name && text == "super");
        if is_this || is_super {
            let Some(class) = self.class_around(place.file, place.scope) else { return Default::default() };
            let mut found = Vec::new();
            if is_this {
                found = self.constructors(class);
            } else {
                let bases = self.bases(Query::Bases(class));
                if let Some(Base::Class(base, _)) = bases.first() {
                    found = self.constructors(*base);
                }
            }
            return (found.into(), Few::None, None);
        }
        let Some(name) = row.name else { return Default::default() };
        let name_text = self.shared.names.text(place.file, name);
        let Some(base) = facts.operand(callee, 0) else { return Default::default() };
        let set = self.eval(base, place);
        let on = |value: &Value| match value {
            Value::Super(class) => Value::TypeParam(*class, crate::graph::generics::SELF),
            other => other.clone(),
        };
        // Mostly there is one receiver, and one method.
        if let [value] = set.values() {
            let member = self.member(value, name_text, place.file);
            let outside = member.values.map(|values| if set.open { values.or_unknown() } else { values });
            return match &*member.denoted {
                [denoted] => match self.methods_of(std::slice::from_ref(denoted)).next() {
                    Some(method) => (Few::One(method), Few::One(on(value)), None),
                    None => (Few::None, Few::None, outside),
                },
                several => {
                    let mut methods: Vec<SymbolRef> = self.methods_of(several).collect();
                    if methods.is_empty() {
                        return (Few::None, Few::None, outside);
                    }
                    methods.sort_unstable();
                    methods.dedup();
                    (methods.into(), Few::One(on(value)), None)
                }
            };
        }
        let mut methods = Vec::new();
        let mut receivers = Vec::new();
        let mut outside = Vec::new();
        for value in set.values() {
            let member = self.member(value, name_text, place.file);
            let n_before = methods.len();
            methods.extend(self.methods_of(&member.denoted));
            if methods.len() > n_before {
                receivers.push(on(value));
            } else if let Some(values) = member.values {
                outside.push(values);
            }
        }
        methods.sort_unstable();
        methods.dedup();
        (methods.into(), receivers.into(), (!outside.is_empty()).then(|| Set::union(outside)))
    }

    /// As `java_callees`, for a name without a receiver.
    fn named_java_callees(&mut self, name: NameId, place: Place) -> Callees {
        let text = self.shared.names.view.facts(place.file).name(name);
        let name_text = self.shared.names.text(place.file, name);
        let mut external = false;
        for around in self.classes_around(place) {
            let receiver = match around {
                Around::Class(class) => Value::TypeParam(class, crate::graph::generics::SELF),
                Around::Anonymous(scope) => Value::Anonymous(place.file, scope),
            };
            let member = self.member(&receiver, name_text, place.file);
            let methods: Few<SymbolRef> = self.methods_of(&member.denoted).collect();
            if !methods.is_empty() {
                return (methods, Few::One(receiver), None);
            }
            // Every class has the methods of `Object`, so none further out is meant.
            if self.library_has("Object", text) {
                let outside = Set::external(format!("Object#{text}"), &[]);
                return (Few::None, Few::None, Some(outside));
            }
            // An outside ancestor may have it; a class further out that does is likelier,
            // unless the ancestor is of the library and is known to have it.
            if member.outcome == Outcome::External {
                external = true;
                if let Some(values) = member.values.filter(|v| self.is_library_member(v)) {
                    return (Few::None, Few::None, Some(values));
                }
            }
        }
        let found = self.java_static(name, place);
        if found.0.is_empty() && found.2.is_none() && external {
            return (Few::None, Few::None, Some(Set::one(Value::External(Name::of(text)))));
        }
        found
    }

    /// Whether a member of something outside is one that the library's table has.
    fn is_library_member(&self, values: &Set) -> bool {
        values.values().iter().any(|value| match value {
            Value::ExternalInstance(name, _) => {
                name.split_once('#').is_some_and(|(class, method)| self.library_has(class, method))
            }
            _ => false,
        })
    }

    /// What a field that a class around inherits is there: its type parameters filled.
    pub fn inherited_value(&mut self, field: SymbolRef, values: &Set, place: Place) -> Set {
        let Some(symbol) = self.shared.names.view.symbol(field).parent else { return values.clone() };
        let owner = SymbolRef { symbol, ..field };
        for around in self.classes_around(place) {
            let receiver = match around {
                Around::Class(class) if class == owner => return values.clone(),
                Around::Class(class) => Value::TypeParam(class, crate::graph::generics::SELF),
                Around::Anonymous(scope) => Value::Anonymous(place.file, scope),
            };
            let env = self.env_of_any(&receiver, owner);
            let filled = substitute(values, &env);
            if filled != *values {
                return filled;
            }
        }
        values.clone()
    }

    /// What `super` is, alone or behind the name of an interface or of a class around.
    pub fn java_super(&mut self, name: Option<NameId>, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        for around in self.classes_around(place) {
            match (around, name) {
                (Around::Anonymous(scope), None) => return self.anonymous_bases(place.file, scope),
                (Around::Class(class), None) => return Set::one(Value::Super(class)),
                (Around::Class(class), Some(name)) if facts.symbol(class.symbol).name == name => {
                    return Set::one(Value::Super(class));
                }
                (Around::Class(_) | Around::Anonymous(_), Some(_)) => {}
            }
        }
        let Some(name) = name else { return Set::unknown() };
        let denoted = self.java_meaning(place, name, Space::Type).denoted;
        let classes = denoted.iter().filter_map(|d| match d {
            Denoted::Symbol(class) => Some(Set::one(Value::Instance(*class, no_args()))),
            _ => None,
        });
        let sets: Vec<Set> = classes.collect();
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }

    /// Methods imported statically, by name or by star.
    fn java_static(&mut self, name: NameId, place: Place) -> Callees {
        let view = self.shared.names.view;
        let facts = view.facts(place.file);
        let text = self.shared.names.text(place.file, name);
        let mut methods = Vec::new();
        let mut external: Option<Name> = None;
        for (row, import) in facts.imports.iter().enumerate() {
            match import.kind {
                ImportKind::Static if import.local == Some(name) || import.name == Some(name) => {
                    let denoted = self.denoted(Query::Import(place.file, row as u32));
                    methods.extend(self.methods_of(&denoted));
                    for denoted in denoted.iter() {
                        if let Denoted::External(path) = denoted {
                            external = Some(path.clone());
                        }
                    }
                }
                ImportKind::StaticStar => {
                    let path = facts.text(import.module).trim_end_matches(".*");
                    match self.java_path(place.file, path) {
                        Some(Denoted::Symbol(class)) => {
                            let member = self.member(&Value::Class(class), text, place.file);
                            methods.extend(self.methods_of(&member.denoted));
                        }
                        _ => {
                            let member = self.shared.names.str(text);
                            let class = path.rsplit('.').next().unwrap_or(path);
                            if external.is_none() || self.library_has(class, member) {
                                external = Some(Name::from(format!("{path}.{member}")));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        methods.sort_unstable();
        methods.dedup();
        let outside = external.filter(|_| methods.is_empty()).map(|path| Set::one(Value::External(path)));
        (methods.into(), Few::None, outside)
    }

    fn methods_of<'d>(&self, denoted: &'d [Denoted]) -> impl Iterator<Item = SymbolRef> + use<'d, 'v> {
        let view = self.shared.names.view;
        denoted.iter().filter_map(move |d| match d {
            Denoted::Symbol(at) if view.symbol(*at).kind.is_function() => Some(*at),
            _ => None,
        })
    }
}

/// Whether a symbol kind may have overloads by parameter types.
pub fn has_overloads(kind: SymbolKind) -> bool {
    kind.is_function()
}
