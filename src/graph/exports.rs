//! What modules give to importers: `export(file, name)` and `import(file, row)`, with
//! re-exports, stars and CommonJS followed to any depth.

use crate::base::dialect::LanguageName;
use crate::facts::model::{ExportKind, ExprId, ExprKind, FileFacts, ImportKind, NameId, Role, ScopeId, ScopeKind};
use crate::facts::table::Id;
use crate::graph::few::Few;
use crate::graph::modules::{Family, Target};
use crate::graph::names::{Decl, Text};
use crate::graph::queries::{Denoted, Query, Session};
use crate::graph::scope::{Place, Space};
use crate::graph::value::Name;
use crate::view::{FileIdx, SymbolRef};
use std::collections::BTreeSet;

/// How many modules one star lookup visits at most (barrels of generated code).
const MAX_STARS: usize = 10_000;

impl Session<'_, '_> {
    /// Solves `Export`: the module's own name, else what its star imports or exports give.
    pub fn solve_export(&mut self, file: FileIdx, text: Text) -> Few<Denoted> {
        let own = self.own_export(file, text);
        if !own.is_empty() {
            return own.into();
        }
        // Stars form a graph with circles; it is walked here, in order, rather than by queries.
        let mut seen = BTreeSet::from([file]);
        let mut queue: Vec<FileIdx> = self.star_targets(file, text);
        queue.reverse();
        let mut found = Vec::new();
        while let Some(at) = queue.pop() {
            if !seen.insert(at) || seen.len() > MAX_STARS {
                continue;
            }
            let own = self.own_export(at, text);
            if !own.is_empty() {
                found = own;
                break;
            }
            let mut more = self.star_targets(at, text);
            more.reverse();
            queue.extend(more);
        }
        found.into()
    }

    /// The files whose names a module takes over by stars, the later ones first in Python,
    /// where they win. A default is never taken over.
    fn star_targets(&self, file: FileIdx, text: Text) -> Vec<FileIdx> {
        let view = self.shared.names.view;
        let facts = view.facts(file);
        let name = self.shared.names.str(text);
        let mut targets = Vec::new();
        match Family::of(facts.dialect) {
            Family::Python => {
                for row in self.shared.names.file(file).stars().iter().rev() {
                    if let Target::File(target) = self.shared.modules.of_import(file, *row)
                        && (name == "__all__" || self.gives_by_star(*target, text))
                    {
                        targets.push(*target);
                    }
                }
            }
            Family::Ecma if name != "default" => {
                for (row, export) in facts.exports.iter().enumerate() {
                    if export.kind == ExportKind::Star
                        && let Target::File(target) = self.shared.modules.of_export(file, row as u32)
                    {
                        targets.push(*target);
                    }
                }
            }
            Family::Ecma | Family::Java => {}
        }
        targets
    }

    /// Whether `from m import *` takes a name: `__all__` says so where there is one, else names
    /// without a leading underscore are taken.
    fn gives_by_star(&self, module: FileIdx, text: Text) -> bool {
        let facts = self.shared.names.view.facts(module);
        let is_public = !self.shared.names.str(text).starts_with('_');
        let mut all =
            facts.exports.iter().filter(|e| matches!(e.kind, ExportKind::All | ExportKind::AllFrom)).peekable();
        if all.peek().is_none() {
            return is_public;
        }
        let name = self.shared.names.name_in(module, text);
        all.any(|export| match export.kind {
            // What another module's `__all__` adds is not followed.
            ExportKind::AllFrom => is_public,
            _ => name.is_some() && export.exported == name,
        })
    }

    /// What a specifier of a file resolves to.
    pub fn module_named(&self, file: FileIdx, module: Option<NameId>) -> Target {
        let view = self.shared.names.view;
        let at = view.file(file);
        match module {
            Some(module) => self.shared.modules.specifier(view, &at.path, at.dialect, 0, at.facts.name(module)),
            None => Target::Missing,
        }
    }

    fn own_export(&mut self, file: FileIdx, text: Text) -> Vec<Denoted> {
        let view = self.shared.names.view;
        match Family::of(view.dialect(file)) {
            Family::Python => self.module_name(file, text),
            Family::Ecma => self.ecma_export(file, text),
            Family::Java => Vec::new(),
        }
    }

    /// What a name of the module's own scope denotes, after all of it has run.
    pub fn module_name(&mut self, file: FileIdx, text: Text) -> Vec<Denoted> {
        let Some(name) = self.shared.names.name_in(file, text) else { return Vec::new() };
        self.module_meaning(file, name, Space::Value)
    }

    fn module_meaning(&mut self, file: FileIdx, name: NameId, space: Space) -> Vec<Denoted> {
        let place = Place { file, scope: ScopeId::new(0), line: u32::MAX };
        if self.shared.names.file(file).decls(place.scope, name).next().is_none() {
            return Vec::new();
        }
        let mut both = self.meaning(place, name, space).denoted.to_vec();
        // An exported name carries its type with it.
        if Family::of(self.shared.names.view.dialect(file)) == Family::Ecma {
            both.extend(self.meaning(place, name, Space::Type).denoted);
            both.sort();
            both.dedup();
        }
        both
    }

    fn ecma_export(&mut self, file: FileIdx, text: Text) -> Vec<Denoted> {
        let view = self.shared.names.view;
        let facts = view.facts(file);
        let wanted = self.shared.names.str(text);
        let name = self.shared.names.name_in(file, text);
        let mut found: Vec<Denoted> = Vec::new();
        for (row, export) in facts.exports.iter().enumerate() {
            let named = export.exported.is_some() && export.exported == name;
            // What a namespace exports is a member of the namespace.
            if facts.scope(export.scope).kind == ScopeKind::Namespace {
                continue;
            }
            match export.kind {
                ExportKind::Named | ExportKind::Member if named => {
                    self.exported(file, row as u32, &mut found);
                }
                ExportKind::Default if wanted == "default" => self.exported(file, row as u32, &mut found),
                ExportKind::Reexport if named => {
                    let target = self.shared.modules.of_export(file, row as u32);
                    if let (Target::File(target), Some(local)) = (target, export.local) {
                        let text = self.shared.names.text(file, local);
                        found.extend(self.denoted(Query::Export(*target, text)).iter().cloned());
                    } else if let Target::External(module) = target {
                        found.push(Denoted::External(Name::from(format!("{module}.{}", facts.text(export.local)))));
                    }
                }
                ExportKind::Namespace if named => match self.shared.modules.of_export(file, row as u32) {
                    Target::File(target) => found.push(Denoted::Module(*target)),
                    Target::External(module) => found.push(Denoted::External(module.clone())),
                    Target::Namespace(_) | Target::Missing => {}
                },
                ExportKind::Assign if wanted == "default" => self.exported(file, row as u32, &mut found),
                ExportKind::Assign => {
                    if let Some(expr) = export.expr {
                        self.member_of_assigned(file, export.scope, expr, text, &mut found);
                    }
                }
                ExportKind::Named
                | ExportKind::Default
                | ExportKind::Star
                | ExportKind::Namespace
                | ExportKind::Reexport
                | ExportKind::Member
                | ExportKind::All
                | ExportKind::AllFrom
                | ExportKind::Global => {}
            }
        }
        if found.is_empty() {
            found = self.given_to_alias(file, text);
        }
        found.sort();
        found.dedup();
        found
    }

    /// What a CommonJS module assigns to its exports under another name: `var api = exports; api.f = …`.
    fn given_to_alias(&mut self, file: FileIdx, text: Text) -> Vec<Denoted> {
        let facts = self.shared.names.view.facts(file);
        let Some(name) = self.shared.names.name_in(file, text) else { return Vec::new() };
        if facts.dialect.language() != LanguageName::JavaScript {
            return Vec::new();
        }
        let table = self.shared.names.file(file);
        let aliases = facts.bindings.iter().filter(|binding| {
            binding.scope == ScopeId::new(0) && binding.value.is_some_and(|value| is_exports(facts, value))
        });
        let rows: Vec<u32> = aliases
            .filter_map(|binding| binding.name)
            .flat_map(|alias| table.assigned(facts.name(alias), name).collect::<Vec<_>>())
            .collect();
        let mut found = Vec::new();
        for row in rows {
            let binding = &facts.bindings[row as usize];
            if let Some(symbol) = binding.symbol {
                found.push(Denoted::Symbol(SymbolRef { file, symbol }));
            } else if let Some(value) = binding.value {
                let place = Place { file, scope: binding.scope, line: u32::MAX };
                found.extend(self.denoted_by(value, place));
            }
        }
        found
    }

    /// What an export row exports by itself.
    fn exported(&mut self, file: FileIdx, row: u32, found: &mut Vec<Denoted>) {
        let facts = self.shared.names.view.facts(file);
        let export = &facts.exports[row as usize];
        if let Some(symbol) = export.symbol {
            found.push(Denoted::Symbol(SymbolRef { file, symbol }));
            if let Some(name) = export.local.or(export.exported) {
                found.extend(self.module_meaning(file, name, Space::Type));
            }
            return;
        }
        if let Some(expr) = export.expr {
            let place = Place { file, scope: export.scope, line: u32::MAX };
            let named = self.denoted_by(expr, place);
            if !named.is_empty() {
                found.extend(named);
                return;
            }
            found.push(Denoted::Export(file, row));
            return;
        }
        if let Some(local) = export.local.or(export.exported) {
            found.extend(self.module_meaning(file, local, Space::Value));
        }
    }

    /// The member `text` of the expression given to `module.exports`.
    fn member_of_assigned(
        &mut self,
        file: FileIdx,
        scope: ScopeId,
        expr: ExprId,
        text: Text,
        found: &mut Vec<Denoted>,
    ) {
        let facts = self.shared.names.view.facts(file);
        let place = Place { file, scope, line: u32::MAX };
        if facts.expr(expr).kind == ExprKind::Object {
            let Some(name) = self.shared.names.name_in(file, text) else { return };
            if let Some(scope) = facts.expr(expr).scope {
                let own: Vec<Denoted> = self
                    .shared
                    .names
                    .file(file)
                    .decls(scope, name)
                    .filter_map(|decl| match decl {
                        Decl::Symbol(row) => {
                            let symbol = crate::facts::model::SymbolId::new(row as usize);
                            Some(Denoted::Symbol(SymbolRef { file, symbol }))
                        }
                        _ => None,
                    })
                    .collect();
                if !own.is_empty() {
                    found.extend(self.through_shorthand(own));
                    return;
                }
            }
            for operand in facts.operands_of(expr) {
                match operand.role {
                    Role::Keyword if operand.name == Some(name) => {
                        found.extend(self.denoted_by(operand.expr, place));
                    }
                    Role::Spread => self.member_of_assigned(file, scope, operand.expr, text, found),
                    _ => {}
                }
            }
            return;
        }
        let targets = self.member_targets(expr, text, place);
        found.extend(targets);
    }

    /// Solves `Import`.
    pub fn solve_import(&mut self, file: FileIdx, row: u32) -> Few<Denoted> {
        let view = self.shared.names.view;
        let facts = view.facts(file);
        let import = &facts.imports[row as usize];
        let family = Family::of(facts.dialect);
        if family == Family::Java {
            return self.java_import(file, row);
        }
        let mut target = self.shared.modules.of_import(file, row).clone();
        if family == Family::Python && import.kind == ImportKind::Module && import.name.is_none() {
            // `import a.b` binds `a`; with `as` it binds the module itself.
            let module = facts.text(import.module);
            if let Some((top, _)) = module.split_once('.')
                && facts.text(import.local) == top
            {
                let at = view.file(file);
                target = self.shared.modules.specifier(view, &at.path, at.dialect, import.level, top);
            }
        }
        let name = match import.kind {
            ImportKind::Default => Some("default"),
            // `import a.b as c` names the module twice.
            ImportKind::Namespace | ImportKind::Module => None,
            _ => import.name.map(|name| facts.name(name)),
        };
        match (target, name) {
            (Target::Missing, _) => Few::None,
            (Target::External(module), None) => Few::One(Denoted::External(module)),
            (Target::External(module), Some(name)) => {
                Few::One(Denoted::External(Name::from(format!("{module}.{name}"))))
            }
            (Target::Namespace(namespace), None) => Few::One(Denoted::Namespace(namespace)),
            (Target::Namespace(namespace), Some(name)) => {
                self.shared.modules.in_namespace(&namespace, name).and_then(denoted_module).into_iter().collect()
            }
            (Target::File(target), None) => self.whole_module(target, import.kind),
            (Target::File(target), Some(name)) => self.name_of_module(target, name),
        }
    }

    /// What `require` or a namespace import of a file gives.
    pub fn whole_module(&mut self, target: FileIdx, kind: ImportKind) -> Few<Denoted> {
        let facts = self.shared.names.view.facts(target);
        let assigned = facts.exports.iter().any(|e| e.kind == ExportKind::Assign);
        if kind == ImportKind::Require
            && assigned
            && let Some(text) = self.shared.names.find("default")
        {
            let found = self.denoted(Query::Export(target, text));
            if !found.is_empty() {
                return found;
            }
        }
        Few::One(Denoted::Module(target))
    }

    /// What a name imported from a file denotes: a name of its namespace, else a submodule.
    pub fn name_of_module(&mut self, target: FileIdx, name: &str) -> Few<Denoted> {
        let view = self.shared.names.view;
        if let Some(text) = self.shared.names.find(name) {
            let found = self.denoted(Query::Export(target, text));
            if !found.is_empty() {
                return found;
            }
        }
        match Family::of(view.dialect(target)) {
            Family::Python => {
                self.shared.modules.submodule(view, target, name).and_then(denoted_module).into_iter().collect()
            }
            // A CommonJS module without `module.exports =` is its own default.
            Family::Ecma
                if name == "default" && view.facts(target).exports.iter().any(|e| e.kind == ExportKind::Member) =>
            {
                Few::One(Denoted::Module(target))
            }
            Family::Ecma | Family::Java => Few::None,
        }
    }
}

/// Whether an expression is `exports` or `module.exports`.
fn is_exports(facts: &FileFacts, expr: ExprId) -> bool {
    let row = facts.expr(expr);
    match (row.kind, facts.operand(expr, 0)) {
        (ExprKind::Name, _) => facts.text(row.name) == "exports",
        (ExprKind::Attr, Some(base)) => {
            let base = facts.expr(base);
            facts.text(row.name) == "exports" && base.kind == ExprKind::Name && facts.text(base.name) == "module"
        }
        _ => false,
    }
}

/// A resolved module as what a name denotes.
pub fn denoted_module(target: Target) -> Option<Denoted> {
    match target {
        Target::File(file) => Some(Denoted::Module(file)),
        Target::Namespace(namespace) => Some(Denoted::Namespace(namespace)),
        Target::External(name) => Some(Denoted::External(name)),
        Target::Missing => None,
    }
}
