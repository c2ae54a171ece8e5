//! Per file the tables that answer "what declares this name in this scope" and "what stands in
//! this code" without walking facts.

use crate::base::dialect::{Dialect, LanguageName};
use crate::facts::model::{
    Binding, ExprId, ExprKind, FileFacts, NameId, Origin, ParamKind, ScopeId, ScopeKind, Symbol, SymbolId, SymbolKind,
};
use crate::facts::table::Id;
use crate::graph::hashing::HashSet;
use crate::graph::members::signature_of;
use crate::graph::texts::{ByText, Text};

/// What declares a name in a scope: a row of one of the file's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decl {
    Symbol(u32),
    Param(u32),
    Binding(u32),
    Import(u32),
}

/// What a file declares, for those who look names up in it. All rows sorted for binary search.
#[derive(Debug, Default)]
pub struct FileNames {
    /// The text of each interned name of the file.
    texts: Vec<Text>,
    by_text: ByText,
    /// (name, scope, declaration), sorted; declarations in row order.
    decls: Vec<(NameId, ScopeId, Decl)>,
    /// Where the declarations of each name start in `decls`, and where the last ones end.
    starts: Vec<u32>,
    /// Names that a scope other than a class's declares more than once, and names of type parameters;
    /// sorted.
    repeated: Vec<NameId>,
    type_params: Vec<NameId>,
    /// Of each scope of a Java file the number of its parameters.
    n_params: Vec<u32>,
    /// Of each method of a Java file a number that is the same for equal signatures; 0 of other symbols.
    signatures: Vec<u32>,
    /// (class, member name, binding row): `self.x = …` in a method, sorted.
    fields: Vec<(SymbolId, NameId, u32)>,
    /// (root name of the chain, its text with the last part cut, last part, binding row), sorted.
    assigned: Vec<(String, NameId, u32)>,
    /// Children of each symbol, (parent, child), sorted.
    children: Vec<(SymbolId, SymbolId)>,
    /// Import rows of star imports, sorted.
    stars: Vec<u32>,
    /// (symbol, binding row that defines it), sorted.
    of_symbol: Vec<(SymbolId, u32)>,
}

/// What stands in a file's code, for those who evaluate it. All rows sorted for binary search.
#[derive(Debug, Default)]
pub struct FileCode {
    /// (name, binding row of a re-assignment).
    reassigned: Vec<(NameId, u32)>,
    /// (scope, row of its returns), sorted.
    returns: Vec<(ScopeId, u32)>,
    /// (root name of the chain, row of `narrowings`), sorted; `None` is `this` without a name.
    narrowings: Vec<(Option<NameId>, u32)>,
    /// (returned expression, row of `returns`), sorted.
    returned: Vec<(ExprId, u32)>,
    /// (lambda or literal, the expression it is an operand of, position), sorted.
    context: Vec<(ExprId, ExprId, u32)>,
    /// (binding's value, binding row), sorted: which binding an expression initialises.
    values: Vec<(ExprId, u32)>,
    /// (lambda's scope, its expression), sorted.
    lambdas: Vec<(ScopeId, ExprId)>,
}

/// The rows of a sorted table whose key is `key`.
pub fn rows<T, K: Ord>(table: &[T], key: K, of: impl Fn(&T) -> K) -> &[T] {
    let start = table.partition_point(|row| of(row) < key);
    let end = table.partition_point(|row| of(row) <= key);
    &table[start..end]
}

/// A number of a text, to tell most texts apart without reading them: FNV-1a, eight bytes at a time.
fn checksum(text: &str) -> u32 {
    let add = |sum: u64, part: u64| (sum ^ part).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(29);
    let (eights, rest) = text.as_bytes().as_chunks::<8>();
    let sum = eights.iter().fold(0xCBF2_9CE4_8422_2325, |sum, eight| add(sum, u64::from_le_bytes(*eight)));
    let sum = rest.iter().fold(sum, |sum, byte| add(sum, u64::from(*byte)));
    (sum ^ (sum >> 32)) as u32
}

/// Where the rows of each of `n` names start, and where the last ones end.
fn starts(n: usize, decls: &[(NameId, ScopeId, Decl)]) -> Vec<u32> {
    let mut starts = vec![0; n + 1];
    for (name, ..) in decls {
        starts[name.index() + 1] += 1;
    }
    for at in 0..n {
        starts[at + 1] += starts[at];
    }
    starts
}

/// Whether a scope has some of a name's declarations. Mostly there are few of them.
pub fn declares(decls: &[(NameId, ScopeId, Decl)], scope: ScopeId) -> bool {
    match decls.len() {
        0 => false,
        1..=8 => decls.iter().any(|row| row.1 == scope),
        _ => decls.binary_search_by_key(&scope, |row| row.1).is_ok(),
    }
}

/// Of a name's declarations those of one scope.
pub fn in_scope(decls: &[(NameId, ScopeId, Decl)], scope: ScopeId) -> impl Iterator<Item = Decl> + '_ {
    rows(decls, scope, |row| row.1).iter().map(|row| row.2)
}

impl FileNames {
    /// Indexes a file's declarations; `texts` holds the text of each name, [`Text::NONE`] where
    /// nothing is looked up by it. O(facts).
    pub fn new(facts: &FileFacts, texts: Vec<Text>) -> Self {
        let mut table = FileNames { by_text: ByText::new(&texts), texts, ..FileNames::default() };
        let given: HashSet<SymbolId> = given_to_chains(facts).collect();
        let n_decls = facts.symbols.len() + facts.params.len() + facts.imports.len() + facts.bindings.len();
        table.decls.reserve_exact(n_decls);
        table.children.reserve_exact(facts.symbols.len());
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
        table.decls.sort_unstable();
        table.starts = starts(facts.names.len(), &table.decls);
        table.declare_what_is_only_assigned(facts);
        let same = table.decls.windows(2).filter(|two| (two[0].0, two[0].1) == (two[1].0, two[1].1));
        let of_no_class = same.filter(|two| facts.scope(two[0].1).kind != ScopeKind::Class);
        table.repeated = of_no_class.map(|two| two[0].0).collect();
        table.type_params = facts.type_params.iter().map(|param| param.name).collect();
        table.type_params.sort_unstable();
        if facts.dialect == Dialect::Java {
            let number = |symbol: &Symbol| match symbol.kind.is_function() {
                true => checksum(signature_of(facts.name(symbol.qualname))),
                false => 0,
            };
            table.n_params = vec![0; facts.scopes.len()];
            for param in facts.params.iter().filter(|param| param.kind != ParamKind::This) {
                table.n_params[param.scope.index()] += 1;
            }
            table.signatures = facts.symbols.iter().map(number).collect();
        }
        table.fields.sort_unstable();
        table.assigned.sort_unstable();
        table.children.sort_unstable();
        table.of_symbol.sort_unstable();
        table
    }

    /// ECMAScript: a name that nothing around declares is declared by what assigns it: an implicit
    /// global, or a declaration in a form that the grammar does not know (`await using`).
    fn declare_what_is_only_assigned(&mut self, facts: &FileFacts) {
        if !is_ecma(facts) {
            return;
        }
        let assigning = facts.bindings.iter().enumerate().filter(|(_, binding)| assigns_anew(facts, binding));
        let mut found = Vec::new();
        for (row, binding) in assigning {
            let Some(name) = binding.name else { continue };
            let named = self.decls_of(name);
            let mut at = Some(binding.scope);
            while let Some(scope) = at.filter(|scope| in_scope(named, *scope).next().is_none()) {
                at = facts.scope(scope).parent;
            }
            if at.is_none() {
                found.push((name, binding.scope, Decl::Binding(row as u32)));
            }
        }
        if !found.is_empty() {
            self.decls.append(&mut found);
            self.decls.sort_unstable();
            self.starts = starts(facts.names.len(), &self.decls);
        }
    }

    /// The texts of the file's names, one a name.
    pub fn texts(&self) -> &[Text] {
        &self.texts
    }

    /// The text of a name.
    pub fn text(&self, name: NameId) -> Text {
        self.texts[name.index()]
    }

    /// The name of a text; `None` when the file does not hold it.
    pub fn name_of(&self, text: Text) -> Option<NameId> {
        self.by_text.find(&self.texts, text)
    }

    fn index_binding(&mut self, facts: &FileFacts, row: u32, binding: &Binding) {
        if let Some(symbol) = binding.symbol {
            self.of_symbol.push((symbol, row));
        }
        if let Some(name) = binding.name.filter(|_| !assigns_anew(facts, binding)) {
            self.decls.push((name, binding.scope, Decl::Binding(row)));
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
        let at = name.index();
        &self.decls[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The number of parameters of a function's scope, the receiver left out; 0 outside of Java.
    pub fn n_params(&self, scope: ScopeId) -> usize {
        self.n_params.get(scope.index()).map_or(0, |n| *n as usize)
    }

    /// A number that is the same for symbols of equal signatures; 0 outside of Java.
    pub fn signature(&self, symbol: SymbolId) -> u32 {
        self.signatures.get(symbol.index()).copied().unwrap_or(0)
    }

    /// Whether where code stands within its scope tells what its names mean or what they may be.
    pub fn tells_lines(&self, facts: &FileFacts) -> bool {
        match facts.dialect.language() {
            LanguageName::Python => true,
            LanguageName::TypeScript | LanguageName::JavaScript => !facts.narrowings.is_empty(),
            LanguageName::Java => !self.repeated.is_empty(),
        }
    }

    /// Whether a scope other than a class's declares a name more than once.
    pub fn is_repeated(&self, name: NameId) -> bool {
        self.repeated.binary_search(&name).is_ok()
    }

    /// Whether a type parameter has that name.
    pub fn is_type_param(&self, name: NameId) -> bool {
        self.type_params.binary_search(&name).is_ok()
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

    /// The rows of bindings that define a symbol.
    pub fn bindings_of(&self, symbol: SymbolId) -> impl Iterator<Item = u32> + '_ {
        rows(&self.of_symbol, symbol, |row| row.0).iter().map(|row| row.1)
    }

    /// The symbols directly below a symbol, in order.
    pub fn children(&self, parent: SymbolId) -> impl Iterator<Item = SymbolId> + '_ {
        rows(&self.children, parent, |row| row.0).iter().map(|row| row.1)
    }

    /// The rows of star imports, in order.
    pub fn stars(&self) -> &[u32] {
        &self.stars
    }
}

impl FileCode {
    /// Indexes a file's code. O(facts).
    pub fn new(facts: &FileFacts) -> Self {
        let mut table = FileCode::default();
        for (row, binding) in facts.bindings.iter().enumerate() {
            if let Some(value) = binding.value {
                table.values.push((value, row as u32));
            }
            if let Some(name) = binding.name.filter(|_| assigns_anew(facts, binding)) {
                table.reassigned.push((name, row as u32));
            }
        }
        for (row, narrowing) in facts.narrowings.iter().enumerate() {
            if let Some(root) = root_name(facts, narrowing.chain) {
                table.narrowings.push((root, row as u32));
            }
        }
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
        table.reassigned.sort_unstable();
        table.narrowings.sort_unstable();
        table.returns.sort_unstable();
        table.returned.sort_unstable();
        table.context.sort_unstable();
        table.values.sort_unstable();
        table.lambdas.sort_unstable();
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

    /// The rows that assign a name anew, in any scope of the file.
    pub fn reassigned(&self, name: NameId) -> impl Iterator<Item = u32> + '_ {
        rows(&self.reassigned, name, |row| row.0).iter().map(|row| row.1)
    }

    /// The rows of `returns` of a function's scope.
    pub fn returns(&self, scope: ScopeId) -> impl Iterator<Item = u32> + '_ {
        rows(&self.returns, scope, |row| row.0).iter().map(|row| row.1)
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

/// Whether a binding gives a new value to a name that is declared elsewhere. ECMAScript's `x += y`
/// declares no more than `x = y` does.
fn assigns_anew(facts: &FileFacts, binding: &Binding) -> bool {
    binding.origin == Origin::Reassign || (is_ecma(facts) && binding.origin == Origin::Augmented)
}

fn is_ecma(facts: &FileFacts) -> bool {
    matches!(facts.dialect.language(), LanguageName::TypeScript | LanguageName::JavaScript)
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
