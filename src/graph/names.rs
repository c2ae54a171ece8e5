//! Names of a view: every text interned once in sorted order, and per file the tables that
//! answer "what declares this name in this scope" without walking facts.

use rayon::prelude::*;

use crate::base::dialect::{Dialect, LanguageName};
use crate::facts::model::{
    Binding, ExportKind, ExprId, ExprKind, FileFacts, ImportKind, NameId, Origin, ScopeId, ScopeKind, SymbolId,
    SymbolKind,
};
use crate::facts::table::Id;
use crate::graph::hashing::{HashMap, HashSet};
use crate::view::{FileIdx, SymbolRef, View};

/// A text of the view. Ordered as the texts are, so that orders by it are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(pub u32);

/// What declares a name in a scope: a row of one of the file's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decl {
    Symbol(u32),
    Param(u32),
    Binding(u32),
    Import(u32),
}

/// The tables of one file. All rows sorted for binary search.
#[derive(Debug, Default)]
pub struct FileNames {
    /// The text of each interned name of the file.
    texts: Vec<Text>,
    /// (text, name), sorted.
    by_text: Vec<(Text, NameId)>,
    /// (name, scope, declaration), sorted; declarations in row order.
    decls: Vec<(NameId, ScopeId, Decl)>,
    /// (class, member name, binding row): `self.x = …` in a method, sorted.
    fields: Vec<(SymbolId, NameId, u32)>,
    /// (root name of the chain, its text with the last part cut, last part, binding row), sorted.
    assigned: Vec<(String, NameId, u32)>,
    /// (binding row of a re-assignment by its name).
    reassigned: Vec<(NameId, u32)>,
    /// Children of each symbol, (parent, child), sorted.
    children: Vec<(SymbolId, SymbolId)>,
    /// (scope, row of its returns), sorted.
    returns: Vec<(ScopeId, u32)>,
    /// (root name of the chain, row of `narrowings`), sorted; `None` is `this` without a name.
    narrowings: Vec<(Option<NameId>, u32)>,
    /// (returned expression, row of `returns`), sorted.
    returned: Vec<(ExprId, u32)>,
    /// (scope, import row) of star imports, sorted.
    stars: Vec<u32>,
    /// (lambda or literal, the expression it is an operand of, position), sorted.
    context: Vec<(ExprId, ExprId, u32)>,
    /// (binding's value, binding row), sorted: which binding an expression initialises.
    values: Vec<(ExprId, u32)>,
    /// (symbol, binding row that defines it), sorted.
    of_symbol: Vec<(SymbolId, u32)>,
    /// (lambda's scope, its expression), sorted.
    lambdas: Vec<(ScopeId, ExprId)>,
}

/// Texts that rules ask for, whether a file holds them or not.
const WELL_KNOWN: [&str; 1] = ["default"];

/// The names of a view.
pub struct Names<'v> {
    pub view: &'v View,
    texts: Vec<&'v str>,
    by_text: HashMap<&'v str, Text>,
    files: Vec<FileNames>,
    /// Members (of classes and object shapes), sorted by text and symbol.
    members: Vec<(Text, SymbolRef)>,
    /// What ECMAScript declares for all files: `declare global`, declaration files that are no
    /// modules. Sorted by text and symbol.
    globals: Vec<(Text, SymbolRef)>,
}

impl<'v> Names<'v> {
    /// Interns and indexes every file of a view. O(facts) plus a sort of distinct texts.
    pub fn new(view: &'v View) -> Self {
        let mut distinct: HashSet<&str> = view
            .files
            .par_iter()
            .fold(HashSet::default, |mut all: HashSet<&str>, file| {
                all.extend(file.facts.names.iter().map(|name| &**name));
                all
            })
            .reduce(HashSet::default, |mut one, mut other| {
                if one.len() < other.len() {
                    std::mem::swap(&mut one, &mut other);
                }
                one.extend(other);
                one
            });
        distinct.extend(WELL_KNOWN);
        let mut texts: Vec<&str> = distinct.into_iter().collect();
        texts.par_sort_unstable();
        let by_text: HashMap<&str, Text> =
            texts.iter().enumerate().map(|(at, text)| (*text, Text(at as u32))).collect();
        let files: Vec<FileNames> = view.files.par_iter().map(|file| FileNames::new(&file.facts, &by_text)).collect();
        let indices: Vec<FileIdx> = view.indices().collect();
        let mut members: Vec<(Text, SymbolRef)> = indices
            .par_iter()
            .flat_map_iter(|file| {
                let facts = view.facts(*file);
                let texts = &files[file.0 as usize].texts;
                let rows = (0..facts.symbols.len()).map(SymbolId::new).filter(|id| is_member(facts, *id));
                rows.map(|id| (texts[facts.symbol(id).name.index()], SymbolRef { file: *file, symbol: id }))
            })
            .collect();
        members.par_sort_unstable();
        let mut globals: Vec<(Text, SymbolRef)> = indices
            .par_iter()
            .flat_map_iter(|file| {
                let facts = view.facts(*file);
                let texts = &files[file.0 as usize].texts;
                let rows = ambient_globals(facts).into_iter();
                rows.map(|id| (texts[facts.symbol(id).name.index()], SymbolRef { file: *file, symbol: id }))
            })
            .collect();
        globals.par_sort_unstable();
        Names { view, texts, by_text, files, members, globals }
    }

    /// The text of an interned text.
    pub fn str(&self, text: Text) -> &'v str {
        self.texts[text.0 as usize]
    }

    /// The interned form of a text; `None` when no file of the view holds it.
    pub fn find(&self, text: &str) -> Option<Text> {
        self.by_text.get(text).copied()
    }

    /// The text of a file's name.
    pub fn text(&self, file: FileIdx, name: NameId) -> Text {
        self.file(file).texts[name.index()]
    }

    /// The name of a text in a file; `None` when the file does not hold it.
    pub fn name_in(&self, file: FileIdx, text: Text) -> Option<NameId> {
        let by_text = &self.file(file).by_text;
        by_text.binary_search_by_key(&text, |row| row.0).ok().map(|at| by_text[at].1)
    }

    /// The tables of a file.
    pub fn file(&self, file: FileIdx) -> &FileNames {
        &self.files[file.0 as usize]
    }

    /// The ambient declarations of that name, sorted.
    pub fn globals_named(&self, text: Text) -> Vec<SymbolRef> {
        rows(&self.globals, text, |row| row.0).iter().map(|row| row.1).collect()
    }

    /// The members of that name in the whole view, sorted.
    pub fn members_named(&self, text: Text) -> impl Iterator<Item = SymbolRef> + '_ {
        rows(&self.members, text, |row| row.0).iter().map(|row| row.1)
    }
}

/// Whether a symbol is a member: of a class, an interface, an object shape.
fn is_member(facts: &FileFacts, id: SymbolId) -> bool {
    let symbol = facts.symbol(id);
    if id.index() == 0 || symbol.kind == SymbolKind::Constructor {
        return false;
    }
    matches!(facts.scope(symbol.declared_in).kind, ScopeKind::Class | ScopeKind::Object)
        || matches!(symbol.kind, SymbolKind::Method | SymbolKind::Property | SymbolKind::Field)
}

/// The symbols that a file declares for all files.
fn ambient_globals(facts: &FileFacts) -> Vec<SymbolId> {
    let is_ecma = matches!(facts.dialect.language(), LanguageName::TypeScript | LanguageName::JavaScript);
    if !is_ecma {
        return Vec::new();
    }
    let top = ScopeId::new(0);
    let is_module = facts.imports.iter().any(|import| import.kind != ImportKind::TypeQuery && import.scope == top)
        || facts.exports.iter().any(|export| export.scope == top && export.kind != ExportKind::Global);
    let is_script = facts.dialect == Dialect::Dts && !is_module;
    let rows = facts.symbols.iter().enumerate().skip(1);
    rows.filter(|(_, symbol)| {
        let scope = facts.scope(symbol.declared_in);
        let of_global = scope.kind == ScopeKind::Ambient && facts.name(facts.symbol(scope.owner).name) == "global";
        of_global || (is_script && symbol.declared_in == top)
    })
    .map(|(row, _)| SymbolId::new(row))
    .collect()
}

/// The rows of a sorted table whose key is `key`.
fn rows<T, K: Ord>(table: &[T], key: K, of: impl Fn(&T) -> K) -> &[T] {
    let start = table.partition_point(|row| of(row) < key);
    let end = table.partition_point(|row| of(row) <= key);
    &table[start..end]
}

/// Of a name's declarations those of one scope.
pub fn in_scope(decls: &[(NameId, ScopeId, Decl)], scope: ScopeId) -> impl Iterator<Item = Decl> + '_ {
    rows(decls, scope, |row| row.1).iter().map(|row| row.2)
}

impl FileNames {
    fn new(facts: &FileFacts, all: &HashMap<&str, Text>) -> Self {
        let texts: Vec<Text> = facts
            .names
            .iter()
            .map(|name| *all.get(&**name).expect("because every name of the view was collected"))
            .collect();
        let mut table = FileNames { texts, ..FileNames::default() };
        table.by_text = table.texts.iter().enumerate().map(|(at, text)| (*text, NameId::new(at))).collect();
        let given: HashSet<SymbolId> = given_to_chains(facts).collect();
        for (row, symbol) in facts.symbols.iter().enumerate().skip(1) {
            if !given.contains(&SymbolId::new(row)) {
                table.decls.push((symbol.name, symbol.declared_in, Decl::Symbol(row as u32)));
            }
            if let Some(parent) = symbol.parent {
                table.children.push((parent, SymbolId::new(row)));
            }
        }
        for (row, param) in facts.params.iter().enumerate() {
            if let Some(name) = param.name {
                table.decls.push((name, param.scope, Decl::Param(row as u32)));
            }
        }
        for (row, import) in facts.imports.iter().enumerate() {
            if let Some(local) = import.local {
                table.decls.push((local, import.scope, Decl::Import(row as u32)));
            }
            if import.local.is_none() && import.kind.is_star() {
                table.stars.push(row as u32);
            }
        }
        for (row, binding) in facts.bindings.iter().enumerate() {
            table.index_binding(facts, row as u32, binding);
        }
        for (row, narrowing) in facts.narrowings.iter().enumerate() {
            if let Some(root) = root_name(facts, narrowing.chain) {
                table.narrowings.push((root, row as u32));
            }
        }
        table.narrowings.sort_unstable();
        table.returns = facts.returns.iter().enumerate().map(|(row, r)| (r.scope, row as u32)).collect();
        table.returned = facts.returns.iter().enumerate().map(|(row, r)| (r.expr, row as u32)).collect();
        for (row, expr) in facts.exprs.iter().enumerate() {
            let id = ExprId::new(row);
            match expr.kind {
                ExprKind::Call | ExprKind::New => {
                    table.index_context(facts, id);
                    if let Some(scope) = expr.scope {
                        table.lambdas.push((scope, id));
                    }
                }
                ExprKind::Seq | ExprKind::Choice | ExprKind::Cast | ExprKind::Value | ExprKind::Jsx => {
                    table.index_context(facts, id);
                }
                ExprKind::Lambda | ExprKind::Object | ExprKind::ClassValue => {
                    if let Some(scope) = expr.scope {
                        table.lambdas.push((scope, id));
                    }
                    if expr.kind == ExprKind::Object {
                        table.index_context(facts, id);
                    }
                }
                _ => {}
            }
        }
        table.by_text.sort_unstable();
        table.decls.sort_unstable();
        table.fields.sort_unstable();
        table.assigned.sort_unstable();
        table.reassigned.sort_unstable();
        table.children.sort_unstable();
        table.returns.sort_unstable();
        table.returned.sort_unstable();
        table.context.sort_unstable();
        table.values.sort_unstable();
        table.lambdas.sort_unstable();
        table.of_symbol.sort_unstable();
        table
    }

    /// Notes in what a lambda or object literal stands.
    fn index_context(&mut self, facts: &FileFacts, id: ExprId) {
        for (at, operand) in facts.operands_of(id).iter().enumerate() {
            let kind = facts.expr(operand.expr).kind;
            let noted = matches!(kind, ExprKind::Lambda | ExprKind::Object | ExprKind::Path)
                || matches!(kind, ExprKind::Seq | ExprKind::Choice | ExprKind::Value)
                // Java: a call's own context fills the types of the lambdas given to it.
                || (facts.dialect == Dialect::Java
                    && matches!(kind, ExprKind::Call | ExprKind::New)
                    && facts.operands_of(operand.expr).iter().any(|o| {
                        matches!(facts.expr(o.expr).kind, ExprKind::Lambda | ExprKind::Call | ExprKind::MethodRef)
                    }));
            if noted {
                self.context.push((operand.expr, id, at as u32));
            }
        }
    }

    fn index_binding(&mut self, facts: &FileFacts, row: u32, binding: &Binding) {
        if let Some(value) = binding.value {
            self.values.push((value, row));
        }
        if let Some(symbol) = binding.symbol {
            self.of_symbol.push((symbol, row));
        }
        if let Some(name) = binding.name {
            if binding.origin == Origin::Reassign {
                self.reassigned.push((name, row));
            } else {
                self.decls.push((name, binding.scope, Decl::Binding(row)));
            }
        }
        let Some(target) = binding.target else { return };
        let expr = facts.expr(target);
        let (ExprKind::Attr, Some(name), Some(base)) = (expr.kind, expr.name, facts.operand(target, 0)) else {
            return;
        };
        if let Some(class) = self_class(facts, base, binding.scope) {
            self.fields.push((class, name, row));
        } else if let Some(chain) = chain_text(facts, base) {
            self.assigned.push((chain, name, row));
        }
    }

    /// The declarations of a name in exactly this scope, in row order by table.
    pub fn decls(&self, scope: ScopeId, name: NameId) -> impl Iterator<Item = Decl> + '_ {
        in_scope(self.decls_of(name), scope)
    }

    /// The declarations of a name in all scopes, sorted by scope.
    pub fn decls_of(&self, name: NameId) -> &[(NameId, ScopeId, Decl)] {
        rows(&self.decls, name, |row| row.0)
    }

    /// The rows of bindings that assign `self.name` in a class's methods.
    pub fn fields(&self, class: SymbolId, name: NameId) -> impl Iterator<Item = u32> + '_ {
        rows(&self.fields, (class, name), |row| (row.0, row.1)).iter().map(|row| row.2)
    }

    /// The rows of bindings that assign `chain.name`, where `chain` is dotted text.
    pub fn assigned<'s>(&'s self, chain: &'s str, name: NameId) -> impl Iterator<Item = u32> + 's {
        self.all_assigned(chain).filter(move |row| row.0 == name).map(|row| row.1)
    }

    /// Every (member name, binding row) that is assigned to `chain`.
    pub fn all_assigned<'s>(&'s self, chain: &'s str) -> impl Iterator<Item = (NameId, u32)> + 's {
        let start = self.assigned.partition_point(|row| row.0.as_str() < chain);
        self.assigned[start..].iter().take_while(move |row| row.0 == chain).map(|row| (row.1, row.2))
    }

    /// The rows that assign a name anew, in any scope of the file.
    pub fn reassigned(&self, name: NameId) -> impl Iterator<Item = u32> + '_ {
        rows(&self.reassigned, name, |row| row.0).iter().map(|row| row.1)
    }

    /// The rows of bindings that define a symbol.
    pub fn bindings_of(&self, symbol: SymbolId) -> impl Iterator<Item = u32> + '_ {
        rows(&self.of_symbol, symbol, |row| row.0).iter().map(|row| row.1)
    }

    /// The symbols directly below a symbol, in order.
    pub fn children(&self, parent: SymbolId) -> impl Iterator<Item = SymbolId> + '_ {
        rows(&self.children, parent, |row| row.0).iter().map(|row| row.1)
    }

    /// The rows of `returns` of a function's scope.
    pub fn returns(&self, scope: ScopeId) -> impl Iterator<Item = u32> + '_ {
        rows(&self.returns, scope, |row| row.0).iter().map(|row| row.1)
    }

    /// The rows of star imports, in order.
    pub fn stars(&self) -> &[u32] {
        &self.stars
    }

    /// The rows of narrowings of chains that start with a name, in source order.
    pub fn narrowings(&self, root: Option<NameId>) -> impl Iterator<Item = u32> + '_ {
        rows(&self.narrowings, root, |row| row.0).iter().map(|row| row.1)
    }

    /// The row of `returns` that gives an expression back.
    pub fn return_of(&self, expr: ExprId) -> Option<u32> {
        rows(&self.returned, expr, |row| row.0).first().map(|row| row.1)
    }

    /// The expression in which a lambda or literal stands as an operand, and its position.
    pub fn context(&self, expr: ExprId) -> Option<(ExprId, u32)> {
        rows(&self.context, expr, |row| row.0).first().map(|row| (row.1, row.2))
    }

    /// The binding that an expression is the value of.
    pub fn binding_of_value(&self, value: ExprId) -> Option<u32> {
        rows(&self.values, value, |row| row.0).first().map(|row| row.1)
    }

    /// The bindings of names that an expression is the value of, through assignments within
    /// (`a = b = {}`).
    pub fn bindings_around(&self, facts: &FileFacts, value: ExprId) -> Vec<u32> {
        let mut found = Vec::new();
        let mut at = value;
        // Contexts lead to later expressions only, so this ends.
        loop {
            let here = rows(&self.values, at, |row| row.0).iter().map(|row| row.1);
            found.extend(here.filter(|row| facts.bindings[*row as usize].name.is_some()));
            match self.context(at) {
                Some((around, _)) if facts.expr(around).kind == ExprKind::Value => at = around,
                _ => return found,
            }
        }
    }

    /// The expression that opens a lambda's, object's or class expression's scope.
    pub fn expr_of_scope(&self, scope: ScopeId) -> Option<ExprId> {
        rows(&self.lambdas, scope, |row| row.0).first().map(|row| row.1)
    }
}

/// The ECMAScript functions and constants that are given to a chain of names (`a.m = function () {}`),
/// which their scope does not know by name.
fn given_to_chains(facts: &FileFacts) -> impl Iterator<Item = SymbolId> + '_ {
    let is_ecma = matches!(facts.dialect.language(), LanguageName::TypeScript | LanguageName::JavaScript);
    let rows = facts.bindings.iter().filter(move |binding| {
        let chain = binding.target.filter(|_| is_ecma).and_then(|target| root_name(facts, target));
        // `this.m = …` is a member of the class or function around.
        chain.flatten().is_some_and(|root| facts.name(root) != "this")
    });
    rows.filter_map(|binding| binding.symbol).filter(|symbol| {
        let symbol = facts.symbol(*symbol);
        let in_class = matches!(facts.scope(symbol.declared_in).kind, ScopeKind::Class | ScopeKind::Object);
        !in_class && matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Variable)
    })
}

/// The class whose instance `base` is, when it is `this` or the first parameter of a method.
fn self_class(facts: &FileFacts, base: ExprId, scope: ScopeId) -> Option<SymbolId> {
    let expr = facts.expr(base);
    let is_this = expr.kind == ExprKind::This || (expr.kind == ExprKind::Name && facts.text(expr.name) == "this");
    if !is_this && expr.kind != ExprKind::Name {
        return None;
    }
    let mut at = Some(scope);
    while let Some(id) = at {
        let row = facts.scope(id);
        if row.kind == ScopeKind::Function {
            let in_class = row.parent.filter(|p| facts.scope(*p).kind == ScopeKind::Class);
            let names_it =
                is_this || facts.params_of(id).first().is_some_and(|p| p.name.is_some() && p.name == expr.name);
            if let (Some(class), true) = (in_class, names_it) {
                return Some(facts.scope(class).owner);
            }
            if is_this && in_class.is_none() {
                // What a constructor function gives its instances.
                return Some(row.owner);
            }
        }
        if row.kind == ScopeKind::Class {
            return is_this.then_some(row.owner);
        }
        at = row.parent;
    }
    None
}

/// The dotted text of a chain of names (`a.b.c`); `None` when it is anything else.
pub fn chain_text(facts: &FileFacts, expr: ExprId) -> Option<String> {
    let mut parts = Vec::new();
    let mut at = expr;
    loop {
        let row = facts.expr(at);
        match row.kind {
            ExprKind::Name => {
                parts.push(facts.text(row.name));
                break;
            }
            ExprKind::This => {
                parts.push("this");
                break;
            }
            ExprKind::Attr => {
                parts.push(facts.text(row.name));
                at = facts.operand(at, 0)?;
            }
            _ => return None,
        }
    }
    parts.reverse();
    Some(parts.join("."))
}

/// The name that a chain starts with; `Some(None)` for `this` without one, `None` for other shapes.
pub fn root_name(facts: &FileFacts, expr: ExprId) -> Option<Option<NameId>> {
    let mut at = expr;
    loop {
        let row = facts.expr(at);
        match row.kind {
            ExprKind::Name | ExprKind::This => return Some(row.name),
            ExprKind::Attr => at = facts.operand(at, 0)?,
            _ => return None,
        }
    }
}
