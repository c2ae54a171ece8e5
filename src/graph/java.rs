//! Java's names: members of enclosing and inherited classes, imports, packages; calls by
//! arity, then by argument types.

use std::sync::Arc;

use crate::facts::model::{ExprId, ExprKind, ImportKind, NameId, Role, ScopeId, ScopeKind, SymbolKind};
use crate::facts::table::Id;
use crate::graph::builtins;
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
        let Some(expr) = self.shared.names.file(file).expr_of_scope(scope) else { return Set::unknown() };
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
    fn java_members(&mut self, class: SymbolRef, text: Text, space: Space) -> Vec<Denoted> {
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

    /// The methods or constructors that a Java call may run, and the value that it gives.
    pub fn java_call(&mut self, expr: ExprId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        let Some(callee) = facts.operand(expr, 0) else { return Set::unknown() };
        if facts.expr(expr).kind == ExprKind::New {
            return self.java_new(expr, callee, place);
        }
        let row = facts.expr(callee);
        let callees = self.java_callees(callee, place);
        let (targets, receivers, outside) = &*callees;
        if targets.is_empty() {
            let args = self.java_args(expr, place);
            return match (outside, row.kind) {
                (Some(outside), _) => self.call_result(outside, &args, place),
                _ => Set::unknown(),
            };
        }
        let chosen = self.pick_overload(targets, expr, place);
        let args = self.java_args(expr, place);
        let mut sets = Vec::new();
        for at in chosen.iter().copied() {
            for receiver in receivers {
                sets.push(self.function_result(at, Some(receiver), &args));
            }
            if receivers.is_empty() {
                sets.push(self.function_result(at, None, &args));
            }
        }
        Set::union(sets)
    }

    pub fn java_args(&mut self, expr: ExprId, place: Place) -> Vec<Set> {
        let facts = self.shared.names.view.facts(place.file);
        let operands = facts.operands_of(expr).iter().skip(1).filter(|o| o.role != Role::TypeArgument);
        operands.map(|o| self.eval(o.expr, place)).collect()
    }

    fn java_new(&mut self, expr: ExprId, callee: ExprId, place: Place) -> Set {
        let facts = self.shared.names.view.facts(place.file);
        if let Some(symbol) = facts.expr(expr).symbol {
            return Set::one(Value::Instance(SymbolRef { file: place.file, symbol }, Arc::from([])));
        }
        let row = facts.expr(callee);
        // The created type, its arguments included, stands on the creation itself.
        if let Some(ty) = facts.expr(expr).ty.or(row.ty) {
            return self.type_value(ty, place);
        }
        if let Some(symbol) = row.symbol {
            return Set::one(Value::Instance(SymbolRef { file: place.file, symbol }, Arc::from([])));
        }
        let mut args = Vec::new();
        for operand in facts.operands_of(expr).iter().filter(|o| o.role == Role::TypeArgument) {
            if let Some(ty) = facts.expr(operand.expr).ty {
                args.push(self.type_value(ty, place));
            }
        }
        let denoted = self.denoted_type(callee, place);
        let sets: Vec<Set> = denoted
            .iter()
            .map(|d| match d {
                Denoted::Symbol(class) => Set::one(Value::Instance(*class, Arc::from(args.as_slice()))),
                Denoted::External(path) => builtins::named_type(Family::Java, path, &args).unwrap_or_default(),
                _ => Set::unknown(),
            })
            .collect();
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
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
                        (Value::Class(class), Value::TypeParam(class, crate::graph::generics::SELF))
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
                // An outside ancestor may have it; a class further out that does is likelier.
                external |= member.outcome == Outcome::External;
            }
            let found = self.java_static(name, place);
            if found.0.is_empty() && external {
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

    /// Methods imported statically, by name or by star.
    fn java_static(&mut self, name: NameId, place: Place) -> (Vec<SymbolRef>, Vec<Value>, Option<Set>) {
        let view = self.shared.names.view;
        let facts = view.facts(place.file);
        let text = self.shared.names.text(place.file, name);
        let mut methods = Vec::new();
        let mut external = false;
        for (row, import) in facts.imports.iter().enumerate() {
            match import.kind {
                ImportKind::Static if import.local == Some(name) || import.name == Some(name) => {
                    let denoted = self.denoted(Query::Import(place.file, row as u32));
                    external |= denoted.iter().any(|d| matches!(d, Denoted::External(_)));
                    methods.extend(self.methods_of(&denoted));
                }
                ImportKind::StaticStar => {
                    let path = facts.text(import.module).trim_end_matches(".*").to_string();
                    match self.java_path(place.file, &path) {
                        Some(Denoted::Symbol(class)) => {
                            let member = self.member(&Value::Class(class), text, place.file);
                            methods.extend(self.methods_of(&member.denoted));
                        }
                        _ => external = true,
                    }
                }
                _ => {}
            }
        }
        methods.sort_unstable();
        methods.dedup();
        let outside =
            (methods.is_empty() && external).then(|| Set::one(Value::External(Arc::from(self.shared.names.str(text)))));
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
