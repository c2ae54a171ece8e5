//! Why an edge is there: the steps from a reference to its target, found again from the facts by
//! the same queries that linking asked. For people who doubt an edge; nothing is stored of it.

use std::collections::BTreeSet;

use crate::facts::model::{ExportKind, ExprId, ExprKind, FileFacts, NameId, ScopeId, Symbol, SymbolKind};
use crate::facts::table::Id;
use crate::graph::edge::{Edge, EdgeKind, Strategy};
use crate::graph::generics::SELF;
use crate::graph::modules::Target;
use crate::graph::names::{Decl, chain_text};
use crate::graph::queries::{Denoted, Query, Session};
use crate::graph::scope::Place;
use crate::graph::trace::{Traced, Tracer};
use crate::graph::value::Value;
use crate::view::{FileIdx, SymbolRef, View};

/// One step of a proof.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// `import`, `re-export`, `receiver`, `type`, `member`, `overload`, `definition`, …
    pub rule: &'static str,
    pub file: FileIdx,
    pub line: u32,
    /// In words, with names in ticks.
    pub what: String,
}

/// The most steps of one proof.
const MAX_STEPS: usize = 24;
/// How far the origin of a receiver's type is followed.
const MAX_NESTING: u32 = 4;

impl Tracer<'_> {
    /// The steps of an edge's proof, the definition last. `traced` are the references of its file.
    pub fn why(&self, edge: &Edge, traced: &[Traced]) -> Vec<Step> {
        let session = Session::new(&self.shared);
        let mut proof = Proof { session, view: self.view, steps: Vec::new(), to: edge.to };
        match edge.kind {
            EdgeKind::Overrides => proof.overriding(edge),
            EdgeKind::Tests => proof.step("framework", edge.from.file, edge.line, "asked for by its name".to_owned()),
            EdgeKind::Imports => proof.import_at(edge),
            EdgeKind::Calls | EdgeKind::Extends | EdgeKind::References => {
                if edge.strategy == Strategy::Compiler {
                    let tool = self.compiler_of(edge.from.file).unwrap_or("a compiler").to_owned();
                    proof.step("compiler", edge.from.file, edge.line, format!("`{tool}` says so"));
                }
                proof.reference_at(edge, traced);
            }
        }
        proof.definition();
        proof.steps
    }
}

/// A proof as it grows.
struct Proof<'s, 'v> {
    session: Session<'s, 'v>,
    view: &'v View,
    steps: Vec<Step>,
    to: SymbolRef,
}

impl<'v> Proof<'_, 'v> {
    fn step(&mut self, rule: &'static str, file: FileIdx, line: u32, what: String) {
        let step = Step { rule, file, line, what };
        if self.steps.len() < MAX_STEPS && !self.steps.contains(&step) {
            self.steps.push(step);
        }
    }

    fn facts(&self, file: FileIdx) -> &'v FileFacts {
        self.view.facts(file)
    }

    fn definition(&mut self) {
        let (to, view) = (self.to, self.view);
        let symbol = view.symbol(to);
        let line = if to.symbol.index() == 0 { 1 } else { symbol.name_line };
        self.steps.truncate(MAX_STEPS - 1);
        self.step("definition", to.file, line, format!("`{}`", view.qualname(to)));
    }

    fn overriding(&mut self, edge: &Edge) {
        let view = self.view;
        if edge.strategy == Strategy::Twin {
            let what = format!("stands beside `{}`, of the same name", view.file(edge.to.file).path);
            return self.step("twin", edge.from.file, edge.line, what);
        }
        let owner = |at: SymbolRef| view.symbol(at).parent.map(|symbol| SymbolRef { symbol, ..at });
        if let (Some(class), Some(base)) = (owner(edge.from), owner(edge.to)) {
            let what = format!("`{}` has `{}` among its bases", view.qualname(class), view.qualname(base));
            self.step("extends", class.file, view.symbol(class).name_line, what);
        }
    }

    fn import_at(&mut self, edge: &Edge) {
        let (file, to) = (edge.from.file, edge.to);
        let facts = self.facts(file);
        for (row, import) in facts.imports.iter().enumerate() {
            if import.line == edge.line || import.name_line == edge.line {
                let denoted = self.session.denoted(Query::Import(file, row as u32));
                let leads = denoted.iter().any(|d| matches!(d, Denoted::Symbol(at) if *at == to));
                if leads || denoted.iter().any(|d| matches!(d, Denoted::Module(f) if *f == to.file)) {
                    self.import(file, row as u32);
                    return;
                }
            }
        }
        for export in facts.exports.iter().filter(|export| export.line == edge.line && export.module.is_some()) {
            let what = format!("exports from `{}`", facts.text(export.module));
            self.step("re-export", file, export.line, what);
        }
    }

    fn reference_at(&mut self, edge: &Edge, traced: &[Traced]) {
        let file = edge.from.file;
        let facts = self.facts(file);
        let gives = |traced: &&Traced| traced.edges.contains(edge);
        let mut rows: Vec<usize> = traced.iter().filter(gives).map(|traced| traced.reference).collect();
        if rows.is_empty() {
            let name = self.view.facts(edge.to.file).name(self.view.symbol(edge.to).name);
            let named = |row: &usize| {
                let reference = &facts.refs[*row];
                reference.line == edge.line && last_name(facts, reference.expr) == Some(name)
            };
            rows = (0..facts.refs.len()).filter(named).collect();
        }
        let Some(row) = rows.first() else {
            let symbol = self.view.symbol(edge.from);
            let what = format!("`{}` holds it", facts.name(symbol.qualname));
            return self.step("value", file, edge.line, what);
        };
        let reference = &facts.refs[*row];
        let place = Place { file, scope: reference.scope, line: reference.line };
        match edge.strategy {
            Strategy::UniqueName | Strategy::Candidates => {
                let what = format!("the receiver of `{}` is of unknown type", text_of(facts, reference.expr));
                self.step("receiver", file, reference.line, what);
                let only = if edge.strategy == Strategy::UniqueName { "the only one" } else { "one of several" };
                let what = format!("{only} of that name, arity and import closure");
                self.step("name", file, reference.line, what);
            }
            Strategy::StringPath => {
                self.step(
                    "string",
                    file,
                    reference.line,
                    format!("the text `{}` names it", text_of(facts, reference.expr)),
                );
            }
            _ => self.expression(reference.expr, place, 0),
        }
        if edge.strategy == Strategy::Overload {
            let what = "chosen, or left, among overloads by the arguments' number and types".to_owned();
            self.step("overload", file, reference.line, what);
        }
        if edge.strategy == Strategy::SamePackage {
            let package =
                self.facts(edge.to.file).package.first().map_or("", |row| self.facts(edge.to.file).name(row.name));
            self.step("package", file, reference.line, format!("of the same package `{package}`, or a wildcard's"));
        }
    }

    /// How what an expression names is found.
    fn expression(&mut self, expr: ExprId, place: Place, nesting: u32) {
        let facts = self.facts(place.file);
        let row = facts.expr(expr);
        let named_type = row.ty.and_then(|ty| facts.type_row(ty).expr).filter(|named| named.index() < expr.index());
        match (row.kind, row.name, facts.operand(expr, 0), named_type) {
            (ExprKind::Name, Some(name), ..) => self.name(place, name),
            (ExprKind::New | ExprKind::TypeValue | ExprKind::ClassValue, _, _, Some(named)) => {
                self.expression(named, place, nesting);
            }
            (ExprKind::Attr | ExprKind::MethodRef, Some(name), Some(base), _) => {
                self.receiver(base, place, nesting);
                self.member(name, base, place);
            }
            (_, _, Some(inner), _) if nesting < MAX_NESTING => self.expression(inner, place, nesting + 1),
            _ => {}
        }
    }

    /// How a name is found: by an import, or where it is declared.
    fn name(&mut self, place: Place, name: NameId) {
        let facts = self.facts(place.file);
        let mut at = Some(place.scope);
        while let Some(scope) = at {
            let decls: Vec<Decl> = self.session.shared.names.file(place.file).decls(scope, name).collect();
            let imports: Vec<u32> =
                decls.iter().filter_map(|decl| if let Decl::Import(row) = decl { Some(*row) } else { None }).collect();
            for row in &imports {
                self.import(place.file, *row);
            }
            if !decls.is_empty() {
                if imports.is_empty() {
                    let line = self.line_of(place.file, decls[0]);
                    self.step("scope", place.file, line, format!("`{}` is declared here", facts.name(name)));
                }
                return;
            }
            at = facts.scope(scope).parent;
        }
    }

    fn line_of(&self, file: FileIdx, decl: Decl) -> u32 {
        let facts = self.facts(file);
        match decl {
            Decl::Symbol(row) => facts.symbols[row as usize].name_line,
            Decl::Param(row) => facts.params[row as usize].line,
            Decl::Import(row) => facts.imports[row as usize].line,
            Decl::Binding(row) => facts.bindings[row as usize].line,
        }
    }

    /// An import and the re-exports that it leads through.
    fn import(&mut self, file: FileIdx, row: u32) {
        let facts = self.facts(file);
        let import = &facts.imports[row as usize];
        let module = format!("{}{}", ".".repeat(import.level.min(64) as usize), facts.text(import.module));
        let what = match (import.name, import.local) {
            (Some(name), Some(local)) if name != local => {
                format!("`{}` of `{module}`, as `{}`", facts.name(name), facts.name(local))
            }
            (Some(name), _) => format!("`{}` of `{module}`", facts.name(name)),
            (None, _) => format!("`{module}`"),
        };
        self.step("import", file, import.line, what);
        if let Target::File(target) = self.session.shared.modules.of_import(file, row).clone() {
            let name = match import.kind {
                crate::facts::model::ImportKind::Default => "default",
                _ => facts.text(import.name),
            };
            self.hops(target, name, &mut BTreeSet::new());
        }
    }

    /// The re-exports from a module's name to its definition.
    fn hops(&mut self, file: FileIdx, name: &str, seen: &mut BTreeSet<FileIdx>) {
        if file == self.to.file || name.is_empty() || !seen.insert(file) || self.steps.len() >= MAX_STEPS {
            return;
        }
        let facts = self.facts(file);
        for (row, export) in facts.exports.iter().enumerate() {
            if export.kind != ExportKind::Reexport || facts.text(export.exported) != name {
                continue;
            }
            let local = facts.text(export.local);
            let renamed = if local == name { String::new() } else { format!(" (there `{local}`)") };
            let what = format!("`{name}`{renamed} of `{}`", facts.text(export.module));
            self.step("re-export", file, export.line, what);
            if let Target::File(target) = self.session.shared.modules.of_export(file, row as u32).clone() {
                self.hops(target, local, seen);
            }
            return;
        }
        // What is imported may be exported under another name.
        let local = facts.exports.iter().find(|e| e.module.is_none() && facts.text(e.exported) == name);
        let local = local.and_then(|export| export.local).map_or(name, |local| facts.name(local));
        for row in 0..facts.imports.len() {
            if facts.text(facts.imports[row].local) == local {
                self.import_from(file, row as u32, seen);
                return;
            }
        }
        for (target, line, module) in self.stars(file) {
            if self.exports_it(target, name) {
                self.step("re-export", file, line, format!("all names of `{module}`"));
                self.hops(target, name, seen);
                return;
            }
        }
    }

    fn import_from(&mut self, file: FileIdx, row: u32, seen: &mut BTreeSet<FileIdx>) {
        let facts = self.facts(file);
        let import = &facts.imports[row as usize];
        let module = format!("{}{}", ".".repeat(import.level.min(64) as usize), facts.text(import.module));
        let name = facts.text(import.name);
        self.step("re-export", file, import.line, format!("`{name}` of `{module}`"));
        if let Target::File(target) = self.session.shared.modules.of_import(file, row).clone() {
            self.hops(target, name, seen);
        }
    }

    fn stars(&self, file: FileIdx) -> Vec<(FileIdx, u32, &'v str)> {
        let facts = self.facts(file);
        let modules = &self.session.shared.modules;
        let exports = facts.exports.iter().enumerate().filter(|(_, export)| export.kind == ExportKind::Star);
        let exports = exports.map(|(row, e)| (modules.of_export(file, row as u32), e.line, facts.text(e.module)));
        let imports = self.session.shared.names.file(file).stars().iter().map(|row| {
            let import = &facts.imports[*row as usize];
            (modules.of_import(file, *row), import.line, facts.text(import.module))
        });
        exports
            .chain(imports)
            .filter_map(|(target, line, module)| match target {
                Target::File(target) => Some((*target, line, module)),
                _ => None,
            })
            .collect()
    }

    fn exports_it(&mut self, file: FileIdx, name: &str) -> bool {
        let Some(text) = self.session.shared.names.find(name) else { return false };
        let found = self.session.denoted(Query::Export(file, text));
        found.iter().any(|denoted| matches!(denoted, Denoted::Symbol(at) if at.file == self.to.file))
    }

    /// What a receiver is, and where that comes from.
    fn receiver(&mut self, base: ExprId, place: Place, nesting: u32) {
        let facts = self.facts(place.file);
        let text = text_of(facts, base);
        let set = self.session.eval(base, place);
        let values: Vec<String> = set.values().iter().take(3).filter_map(|value| self.described(value)).collect();
        if !values.is_empty() {
            let what = format!("`{text}` is {}", values.join(" or "));
            self.step("receiver", place.file, place.line.min(facts.n_lines), what);
        }
        self.origin(base, place, nesting);
    }

    fn described(&self, value: &Value) -> Option<String> {
        let name = |at: &SymbolRef| self.view.qualname(*at).to_owned();
        Some(match value {
            Value::Instance(class, _) => format!("a `{}`", name(class)),
            Value::Class(class) => format!("the class `{}`", name(class)),
            Value::Module(file) => format!("the module `{}`", self.view.file(*file).path),
            Value::Namespace(namespace) => format!("the package `{namespace}`"),
            Value::Super(class) => format!("what `{}` inherits", name(class)),
            Value::TypeParam(class, SELF) => format!("a `{}` or a subclass of it", name(class)),
            Value::TypeParam(owner, _) => format!("a type parameter of `{}`", name(owner)),
            Value::Function(at) | Value::Bound(at, _) => format!("the function `{}`", name(at)),
            Value::Symbol(at) => format!("`{}`", name(at)),
            Value::Object(file, _) => format!("an object literal of `{}`", self.view.file(*file).path),
            Value::Shape(..) => "of an object type".to_owned(),
            Value::Anonymous(..) => "of an anonymous class".to_owned(),
            Value::Lambda(..) => "a function".to_owned(),
            Value::External(path) => format!("`{path}` from outside"),
            Value::ExternalInstance(path, _) => format!("a `{path}` from outside"),
            Value::Null => return None,
        })
    }

    /// Where the type of an expression comes from.
    fn origin(&mut self, expr: ExprId, place: Place, nesting: u32) {
        if nesting > MAX_NESTING {
            return;
        }
        let facts = self.facts(place.file);
        let row = facts.expr(expr);
        match (row.kind, facts.operand(expr, 0)) {
            (ExprKind::Name | ExprKind::Attr, _) => {
                if let (ExprKind::Name, Some(name)) = (row.kind, row.name)
                    && self.is_imported(place, name)
                {
                    return self.name(place, name);
                }
                for denoted in self.session.denoted_by(expr, place).into_iter().take(2) {
                    self.origin_of(&denoted, nesting);
                }
            }
            (ExprKind::Call | ExprKind::New, Some(callee)) => {
                for denoted in self.session.denoted_by(callee, place).into_iter().take(2) {
                    if let Denoted::Symbol(at) = denoted {
                        self.result_of(at);
                    }
                }
            }
            (ExprKind::Await | ExprKind::Cast | ExprKind::Value | ExprKind::Index | ExprKind::Choice, Some(inner)) => {
                self.origin(inner, place, nesting + 1);
            }
            _ => {}
        }
    }

    fn is_imported(&self, place: Place, name: NameId) -> bool {
        let facts = self.facts(place.file);
        let table = self.session.shared.names.file(place.file);
        let mut scopes = std::iter::successors(Some(place.scope), |scope: &ScopeId| facts.scope(*scope).parent);
        let found = scopes.find_map(|scope| table.decls(scope, name).next());
        matches!(found, Some(Decl::Import(_)))
    }

    fn origin_of(&mut self, denoted: &Denoted, nesting: u32) {
        match denoted {
            Denoted::Param(file, row) => {
                let facts = self.facts(*file);
                let param = &facts.params[*row as usize];
                let how = if param.ty.is_some() { "is declared with its type" } else { "takes it from its context" };
                let what = format!("parameter `{}` {how}", facts.text(param.name));
                self.step("type", *file, param.line, what);
            }
            Denoted::Binding(file, row) => self.binding(*file, *row, nesting),
            Denoted::Symbol(at) => {
                let (symbol, facts) = (self.view.symbol(*at), self.facts(at.file));
                if symbol.ty.is_some() && !symbol.kind.is_function() {
                    let what = format!("`{}` is declared with its type", facts.name(symbol.qualname));
                    return self.step("type", at.file, symbol.name_line, what);
                }
                let rows: Vec<u32> = self.session.shared.names.file(at.file).bindings_of(at.symbol).take(2).collect();
                for row in rows {
                    self.binding(at.file, row, nesting);
                }
            }
            _ => {}
        }
    }

    fn binding(&mut self, file: FileIdx, row: u32, nesting: u32) {
        let facts = self.facts(file);
        let binding = &facts.bindings[row as usize];
        let name = match (binding.name, binding.target) {
            (Some(name), _) => facts.name(name).to_owned(),
            (None, Some(target)) => text_of(facts, target),
            (None, None) => "…".to_owned(),
        };
        if binding.ty.is_some() {
            return self.step("type", file, binding.line, format!("`{name}` is declared with its type"));
        }
        let Some(value) = binding.value else { return };
        let how = if binding.n_steps > 0 { "is a part of" } else { "is assigned" };
        self.step("type", file, binding.line, format!("`{name}` {how} `{}`", text_of(facts, value)));
        let place = Place { file, scope: binding.scope, line: binding.line };
        self.origin(value, place, nesting + 1);
    }

    fn result_of(&mut self, at: SymbolRef) {
        let (symbol, facts): (&Symbol, _) = (self.view.symbol(at), self.facts(at.file));
        let name = facts.name(symbol.qualname);
        let what = match (symbol.kind, symbol.ty.is_some()) {
            (kind, _) if kind.is_class() => format!("`{name}` is called: an instance"),
            (_, true) => format!("`{name}` is declared to return it"),
            (SymbolKind::Variable, false) => format!("`{name}` is called"),
            (_, false) => format!("`{name}` returns it"),
        };
        self.step("type", at.file, symbol.name_line, what);
    }

    /// In which class of a receiver's a member stands.
    fn member(&mut self, name: NameId, base: ExprId, place: Place) {
        let view = self.view;
        let set = self.session.eval(base, place);
        let text = self.facts(place.file).name(name);
        for value in set.values() {
            if let Value::Module(file) = value {
                return self.hops(*file, text, &mut BTreeSet::new());
            }
        }
        let Some(owner) = view.symbol(self.to).parent.filter(|parent| parent.index() > 0) else { return };
        let owner = SymbolRef { symbol: owner, ..self.to };
        let is_own = set.values().iter().any(|value| match value {
            Value::Instance(class, _) | Value::Class(class) | Value::TypeParam(class, SELF) => *class == owner,
            _ => false,
        });
        let how = if is_own { "a member of" } else { "inherited from" };
        let what = format!("`{text}` is {how} `{}`", view.qualname(owner));
        self.step("member", owner.file, view.symbol(owner).name_line, what);
    }
}

/// The last name of a reference's chain, of a call its callee's.
fn last_name(facts: &FileFacts, expr: ExprId) -> Option<&str> {
    let row = facts.expr(expr);
    match row.kind {
        ExprKind::Call | ExprKind::New => facts.expr(facts.operand(expr, 0)?).name.map(|name| facts.name(name)),
        _ => row.name.map(|name| facts.name(name)),
    }
}

/// An expression in short: its chain of names, `(…)` after a callee.
fn text_of(facts: &FileFacts, expr: ExprId) -> String {
    let row = facts.expr(expr);
    if let Some(text) = chain_text(facts, expr) {
        return text;
    }
    match (row.kind, facts.operand(expr, 0)) {
        (ExprKind::Call | ExprKind::New, Some(callee)) => match chain_text(facts, callee) {
            Some(text) => format!("{text}(…)"),
            None => format!("….{}(…)", facts.text(facts.expr(callee).name)),
        },
        (ExprKind::Await, Some(inner)) => match chain_text(facts, inner) {
            Some(text) => format!("await {text}"),
            None => "await …".to_owned(),
        },
        _ if row.name.is_some() => format!("….{}", facts.text(row.name)),
        _ => "…".to_owned(),
    }
}
