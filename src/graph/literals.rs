//! Members of what has no class: namespaces and constants, what is assigned to them, object
//! literals and object types.

use crate::facts::model::{ExportKind, ExprId, ExprKind, Role, ScopeId, SymbolId, SymbolKind, TypeKind, TypeRole};
use crate::facts::table::Id;
use crate::graph::few::Few;
use crate::graph::generics::substitute;
use crate::graph::members::{Member, Outcome};
use crate::graph::modules::Family;
use crate::graph::names::{Decl, Text};
use crate::graph::narrowing::same_chain;
use crate::graph::queries::{Denoted, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Set, Value};
use crate::view::{FileIdx, SymbolRef};

impl Session<'_, '_> {
    /// ECMAScript's `this.x = …` in a constructor function.
    fn fields_by_this(&self, at: SymbolRef, text: Text) -> Vec<Denoted> {
        if Family::of(self.shared.names.view.dialect(at.file)) != Family::Ecma {
            return Vec::new();
        }
        let Some(name) = self.shared.names.name_in(at.file, text) else { return Vec::new() };
        let rows = self.shared.names.file(at.file).fields(at.symbol, name);
        rows.map(|row| Denoted::Binding(at.file, row)).collect()
    }

    /// ECMAScript members that are assigned: `C.prototype.m = …`, `C.m = …`.
    pub fn assigned_members(&self, at: SymbolRef, text: Text) -> Vec<SymbolRef> {
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
    pub fn members_by_exports(&mut self, at: SymbolRef, text: Text) -> Vec<Denoted> {
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

    /// Members of a namespace, or assigned to a constant or function.
    pub fn member_of_symbol(&mut self, at: SymbolRef, text: Text) -> Member {
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

    pub fn member_of_object(&mut self, file: FileIdx, expr: ExprId, text: Text, passed: u32) -> Member {
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
        let is_open = |role| matches!(role, Role::Spread | Role::KeywordSpread | Role::Computed);
        // What the file does not mention is no key, and nothing that is assigned.
        if name.is_none() && !facts.operands_of(expr).iter().any(|operand| is_open(operand.role)) {
            return Member::none(Outcome::Missing);
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
    pub fn member_of_shape(&mut self, shape: &Value, text: Text, from: FileIdx, passed: u32) -> Member {
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
}
