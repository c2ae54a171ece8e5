//! Java's names: members of enclosing and inherited classes, imports, packages; calls by
//! arity, then by argument types.

use std::sync::Arc;

use crate::facts::model::{ExprId, ExprKind, ImportKind, NameId, ScopeId, ScopeKind, SymbolKind};
use crate::facts::table::Id;
use crate::graph::builtins;
use crate::graph::generics::substitute;
use crate::graph::members::Outcome;
use crate::graph::memo::Callees;
use crate::graph::modules::{Family, java_package};
use crate::graph::names::Text;
use crate::graph::queries::{Base, Denoted, Query, Session};
use crate::graph::scope::{Meaning, Place, Space};
use crate::graph::value::{Set, Value};
use crate::view::{FileIdx, SymbolRef};

/// The line of a place in a class's own header, where its inherited names are not yet visible.
pub const HEADER: u32 = 0;

/// A class around a place.
#[derive(Clone, Copy, Debug)]
enum Around {
    Class(SymbolRef),
    Anonymous(ScopeId),
}

impl Session<'_, '_> {
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
            return Meaning { denoted: vec![Denoted::Symbol(found)], imported: false, declared: true };
        }
        let mut external = false;
        for row in self.shared.names.file(place.file).stars().to_vec() {
            let import = &view.facts(place.file).imports[row as usize];
            let path = view.facts(place.file).text(import.module).trim_end_matches(".*").to_string();
            if import.kind == ImportKind::Star
                && let Some(found) = self.shared.modules.java_type(view, place.file, &path, simple)
            {
                return Meaning { denoted: vec![Denoted::Symbol(found)], imported: true, declared: true };
            }
            match self.java_path(place.file, &path) {
                Some(Denoted::Symbol(class)) => {
                    let found = self.java_members(class, text, space);
                    if !found.is_empty() {
                        return Meaning { denoted: found, imported: true, declared: true };
                    }
                }
                _ => external |= !self.shared.modules.is_java_package(&path),
            }
        }
        if self.shared.modules.is_java_package(simple) && !simple.is_empty() {
            return Meaning { denoted: vec![Denoted::Namespace(Arc::from(simple))], imported: false, declared: true };
        }
        // A type that no package of the view declares comes from a star import or `java.lang`.
        let is_type = simple.starts_with(char::is_uppercase);
        if is_type && (external || builtins::global(Family::Java, simple).is_some() || space == Space::Type) {
            return Meaning { denoted: vec![Denoted::External(Arc::from(simple))], imported: true, declared: true };
        }
        Meaning::default()
    }

    /// The classes around a place, innermost first; in a class's header without that class.
    fn classes_around(&self, place: Place) -> Vec<Around> {
        let facts = self.shared.names.view.facts(place.file);
        let mut classes = Vec::new();
        let mut at = Some(place.scope);
        while let Some(id) = at {
            let row = facts.scope(id);
            if row.kind == ScopeKind::Class && !(place.line == HEADER && id == place.scope) {
                classes.push(if facts.symbol(row.owner).scope == Some(id) {
                    Around::Class(SymbolRef { file: place.file, symbol: row.owner })
                } else {
                    Around::Anonymous(id)
                });
            }
            at = row.parent;
        }
        classes
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
                    Denoted::Symbol(class) => Some(Set::one(Value::Instance(*class, Arc::from([])))),
                    _ => None,
                });
                let classes: Vec<Set> = classes.collect();
                if classes.is_empty() { Set::unknown() } else { Set::union(classes) }
            }
            (None, None) => Set::unknown(),
        }
    }

    fn anonymous_members(&mut self, file: FileIdx, scope: ScopeId, text: Text, space: Space) -> Vec<Denoted> {
        let own = self.members_of_scope(file, scope, text);
        let kept: Vec<Denoted> = own.into_iter().filter(|m| self.is_in_space(*m, space)).map(Denoted::Symbol).collect();
        if !kept.is_empty() {
            return kept;
        }
        let bases = self.anonymous_bases(file, scope);
        let mut found = Vec::new();
        for value in bases.values() {
            if let Value::Instance(class, _) = value {
                found.extend(self.java_members(*class, text, space));
            }
        }
        found
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
    pub fn java_members(&mut self, class: SymbolRef, text: Text, space: Space) -> Vec<Denoted> {
        self.remembered_java_members((class, text, space), |session| {
            session.inherited_java_members(class, text, space).into()
        })
        .to_vec()
    }

    fn inherited_java_members(&mut self, class: SymbolRef, text: Text, space: Space) -> Vec<Denoted> {
        let mro = self.bases(Query::Mro(class));
        for base in mro.iter() {
            let Base::Class(at, _) = base else { continue };
            let own = self.own_members(*at, text);
            let kept: Vec<Denoted> =
                own.into_iter().filter(|m| self.is_in_space(*m, space)).map(Denoted::Symbol).collect();
            if !kept.is_empty() {
                return kept;
            }
        }
        Vec::new()
    }

    /// A dotted path: the longest package of the view, then types within types.
    pub fn java_path(&mut self, from: FileIdx, path: &str) -> Option<Denoted> {
        let view = self.shared.names.view;
        let parts: Vec<&str> = path.split('.').filter(|p| !p.is_empty() && *p != "*").collect();
        for cut in (0..parts.len()).rev() {
            let package = parts[..cut].join(".");
            let Some(top) = self.shared.modules.java_type(view, from, &package, parts[cut]) else { continue };
            let mut at = Denoted::Symbol(top);
            for part in &parts[cut + 1..] {
                let text = self.shared.names.find(part)?;
                let Denoted::Symbol(class) = at else { return None };
                at = self.java_members(class, text, Space::Type).into_iter().next()?;
            }
            return Some(at);
        }
        None
    }

    /// What an import row brings in.
    pub fn java_import(&mut self, file: FileIdx, row: u32) -> Vec<Denoted> {
        let facts = self.shared.names.view.facts(file);
        let import = &facts.imports[row as usize];
        let mut path = facts.text(import.module).to_string();
        let name = facts.text(import.name).to_string();
        match import.kind {
            ImportKind::Static => {
                if name.is_empty() || path.ends_with(&format!(".{name}")) {
                    let Some((class, _)) = path.rsplit_once('.') else { return Vec::new() };
                    path = class.to_string();
                }
                let member = if name.is_empty() { facts.text(import.local).to_string() } else { name };
                let Some(Denoted::Symbol(class)) = self.java_path(file, &path) else {
                    return vec![Denoted::External(Arc::from(format!("{path}.{member}")))];
                };
                let Some(text) = self.shared.names.find(&member) else { return Vec::new() };
                self.member(&Value::Class(class), text, file).denoted
            }
            _ => {
                if !name.is_empty() && !path.ends_with(&format!(".{name}")) {
                    path = format!("{path}.{name}");
                }
                match self.java_path(file, &path) {
                    Some(found) => vec![found],
                    None if import.kind.is_star() => Vec::new(),
                    None => vec![Denoted::External(Arc::from(path))],
                }
            }
        }
    }

    /// The methods that a callee's name may mean, the receivers they are called on, and the
    /// value from outside where it is one.
    pub fn java_callees(&mut self, callee: ExprId, place: Place) -> Arc<Callees> {
        self.remembered_callees((place, callee), |session| Arc::new(session.find_java_callees(callee, place)))
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
            return (found, Vec::new(), None);
        }
        let Some(name) = row.name else { return Default::default() };
        let name_text = self.shared.names.text(place.file, name);
        if row.kind == ExprKind::Name {
            let mut external = false;
            for around in self.classes_around(place) {
                let (value, receiver) = match around {
                    Around::Class(class) => {
                        let receiver = Value::TypeParam(class, crate::graph::generics::SELF);
                        (receiver.clone(), receiver)
                    }
                    Around::Anonymous(scope) => {
                        (Value::Anonymous(place.file, scope), Value::Anonymous(place.file, scope))
                    }
                };
                let member = self.member(&value, name_text, place.file);
                let methods = self.methods_of(&member.denoted);
                if !methods.is_empty() {
                    return (methods, vec![receiver], None);
                }
                // Every class has the methods of `Object`, so none further out is meant.
                if self.library_has("Object", text) {
                    let outside = Set::external(&format!("Object#{text}"), &[]);
                    return (Vec::new(), Vec::new(), Some(outside));
                }
                // An outside ancestor may have it; a class further out that does is likelier,
                // unless the ancestor is of the library and is known to have it.
                if member.outcome == Outcome::External {
                    external = true;
                    if let Some(values) = member.values.filter(|v| self.is_library_member(v)) {
                        return (Vec::new(), Vec::new(), Some(values));
                    }
                }
            }
            let found = self.java_static(name, place);
            if found.0.is_empty() && found.2.is_none() && external {
                return (Vec::new(), Vec::new(), Some(Set::one(Value::External(Arc::from(text)))));
            }
            return found;
        }
        let Some(base) = facts.operand(callee, 0) else { return Default::default() };
        let set = self.eval(base, place);
        let mut methods = Vec::new();
        let mut receivers = Vec::new();
        let mut outside = Vec::new();
        for value in set.values() {
            let member = self.member(value, name_text, place.file);
            let found = self.methods_of(&member.denoted);
            if !found.is_empty() {
                methods.extend(found);
                receivers.push(match value {
                    Value::Super(class) => Value::TypeParam(*class, crate::graph::generics::SELF),
                    other => other.clone(),
                });
            } else if let Some(values) = member.values {
                outside.push(values);
            }
        }
        methods.sort_unstable();
        methods.dedup();
        (methods, receivers, (!outside.is_empty()).then(|| Set::union(outside)))
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
        let classes = denoted.into_iter().filter_map(|d| match d {
            Denoted::Symbol(class) => Some(Set::one(Value::Instance(class, Arc::from([])))),
            _ => None,
        });
        let sets: Vec<Set> = classes.collect();
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }

    /// Methods imported statically, by name or by star.
    fn java_static(&mut self, name: NameId, place: Place) -> (Vec<SymbolRef>, Vec<Value>, Option<Set>) {
        let view = self.shared.names.view;
        let facts = view.facts(place.file);
        let text = self.shared.names.text(place.file, name);
        let mut methods = Vec::new();
        let mut external: Option<Arc<str>> = None;
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
                    let path = facts.text(import.module).trim_end_matches(".*").to_string();
                    match self.java_path(place.file, &path) {
                        Some(Denoted::Symbol(class)) => {
                            let member = self.member(&Value::Class(class), text, place.file);
                            methods.extend(self.methods_of(&member.denoted));
                        }
                        _ => {
                            let member = self.shared.names.str(text);
                            let class = path.rsplit('.').next().unwrap_or(&path);
                            if external.is_none() || self.library_has(class, member) {
                                external = Some(Arc::from(format!("{path}.{member}")));
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
        (methods, Vec::new(), outside)
    }

    fn methods_of(&self, denoted: &[Denoted]) -> Vec<SymbolRef> {
        let view = self.shared.names.view;
        let symbols = denoted.iter().filter_map(|d| match d {
            Denoted::Symbol(at) if view.symbol(*at).kind.is_function() => Some(*at),
            _ => None,
        });
        symbols.collect()
    }
}

/// Whether a symbol kind may have overloads by parameter types.
pub fn has_overloads(kind: SymbolKind) -> bool {
    kind.is_function()
}
