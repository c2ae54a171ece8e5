//! Builds a file's facts: interning, arenas, and the scope stack that a language's walk keeps.
//!
//! A language's `syntax` calls it while it descends the tree once; what order rows must be in
//! is settled here. It knows no grammar.

use std::collections::HashMap;

use crate::base::dialect::Dialect;
use crate::facts::model::*;
use crate::facts::table::{Hash64, Id};

/// Nesting beyond which an expression or statement becomes `Opaque`: hostile input must not
/// exhaust memory. Real code stays below 1,000 (long `a + b + …` chains).
pub const MAX_DEPTH: u32 = 4_000;

/// Bytes of the outer names in a qualname; what nests deeper shares a prefix and is told apart by
/// `#n`. Real code stays below 300; without a cap, n nested names cost n² bytes.
pub const MAX_QUALNAME: usize = 1_000;

/// What a new symbol is made of; the builder adds parent, scope, qualname.
#[derive(Clone, Debug)]
pub struct NewSymbol<'a> {
    pub kind: SymbolKind,
    pub name: &'a str,
    /// Between the parent's qualname and the last segment, where no symbol stands for it
    /// (a local `obj` whose members are `f.obj.m`); dotted, usually empty.
    pub prefix: &'a str,
    /// The last segment of the qualname where it is not the name: `put(String,int[])`.
    pub segment: Option<&'a str>,
    pub visibility: Visibility,
    pub flags: SymbolFlags,
    pub branch: Branch,
    pub signature: &'a str,
    pub doc: Option<&'a str>,
    pub ty: Option<TypeId>,
    pub start_line: u32,
    pub end_line: u32,
    pub name_line: u32,
    pub name_column: u32,
}

/// The bytes of a symbol's or test block's parts, from which `extract::normalize` hashes the tree.
///
/// `node` is the whole definition, decorators included; `body` and `doc` lie in it (empty: none).
/// What of `node` is outside of `body` and `doc` is the signature.
#[derive(Clone, Debug)]
pub struct Extent {
    pub of: ExtentOf,
    pub node: std::ops::Range<usize>,
    pub body: std::ops::Range<usize>,
    pub doc: std::ops::Range<usize>,
}

/// Whose extent it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtentOf {
    Symbol(SymbolId),
    /// A member that is part of its owner's contract: a member of an interface or object type, an
    /// enum member, a plain property of an object literal. Its tokens count for the owner too.
    Member(SymbolId),
    TestBlock(TestBlockId),
    /// An import or re-export statement: its rows are compared by themselves, so that its tokens
    /// count for no symbol (else each new import would be a change of the module's code).
    Apart,
}

/// The builder of one file's facts.
pub struct FactsBuilder {
    facts: FileFacts,
    lookup: HashMap<Box<str>, NameId>,
    qualnames: HashMap<String, u32>,
    stack: Vec<ScopeId>,
    test_stack: Vec<TestBlockId>,
    branch: Branch,
    depth: u32,
    extents: Vec<Extent>,
}

impl FactsBuilder {
    /// Starts a file: makes the module's symbol (`<module>`) and scope and opens the scope.
    pub fn new(dialect: Dialect, n_lines: u32, n_bytes: u32) -> Self {
        let mut builder = FactsBuilder {
            facts: FileFacts::empty(dialect),
            lookup: HashMap::new(),
            qualnames: HashMap::new(),
            stack: Vec::new(),
            test_stack: Vec::new(),
            branch: Branch::Always,
            depth: 0,
            extents: Vec::new(),
        };
        builder.facts.n_lines = n_lines;
        builder.facts.n_bytes = n_bytes;
        let name = builder.intern("<module>");
        let signature = builder.intern("");
        let scope = ScopeId::new(0);
        let module = SymbolId::new(0);
        builder.facts.symbols.push(Symbol {
            kind: SymbolKind::Module,
            name,
            qualname: name,
            parent: None,
            declared_in: scope,
            scope: Some(scope),
            visibility: Visibility::Public,
            flags: SymbolFlags::default(),
            branch: Branch::Always,
            signature,
            doc: None,
            ty: None,
            start_line: 1,
            end_line: n_lines.max(1),
            name_line: 1,
            name_column: 0,
            sig_hash: Hash64(0),
            body_hash: Hash64(0),
            doc_hash: Hash64(0),
            act_hash: Hash64(0),
        });
        builder.facts.scopes.push(Scope {
            kind: ScopeKind::Module,
            parent: None,
            owner: module,
            test_block: None,
            start_line: 1,
            end_line: n_lines.max(1),
        });
        builder.stack.push(scope);
        builder.extents.push(Extent {
            of: ExtentOf::Symbol(module),
            node: 0..n_bytes as usize,
            body: 0..n_bytes as usize,
            doc: 0..0,
        });
        builder
    }

    /// Interns a text.
    pub fn intern(&mut self, text: &str) -> NameId {
        if let Some(id) = self.lookup.get(text) {
            return *id;
        }
        let id = NameId::new(self.facts.names.len());
        self.facts.names.push(text.into());
        self.lookup.insert(text.into(), id);
        id
    }

    /// The facts so far, to read (names, rows already pushed).
    pub fn facts(&self) -> &FileFacts {
        &self.facts
    }

    /// The innermost open scope.
    pub fn scope(&self) -> ScopeId {
        *self.stack.last().expect("because the module's scope is never closed")
    }

    /// The symbol whose code is being read.
    pub fn owner(&self) -> SymbolId {
        self.facts.scope(self.scope()).owner
    }

    /// The nearest open test block.
    pub fn test_block(&self) -> Option<TestBlockId> {
        self.test_stack.last().copied()
    }

    /// The branch that statements being read stand in.
    pub fn branch(&self) -> Branch {
        self.branch
    }

    /// Runs `f` with `branch` as the branch of what it reads; an outer branch that is not
    /// `Always` is kept when `branch` is `Always`.
    pub fn in_branch<R>(&mut self, branch: Branch, f: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.branch;
        if branch != Branch::Always {
            self.branch = branch;
        }
        let result = f(self);
        self.branch = outer;
        result
    }

    /// Sets the branch of what is read next and gives the one before: a function's body starts
    /// from `Always`, whatever its definition stands in.
    pub fn set_branch(&mut self, branch: Branch) -> Branch {
        std::mem::replace(&mut self.branch, branch)
    }

    /// Runs `f` one level deeper on a stack that grows as needed; `None` beyond [`MAX_DEPTH`].
    pub fn nested<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let result = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || f(self));
        self.depth -= 1;
        Some(result)
    }

    /// Defines a symbol in the innermost scope, as a child of the owner. Its qualname is the
    /// parent's, the prefix and the last segment, dotted; repeated ones get `#2`, `#3`, ….
    pub fn define(&mut self, new: NewSymbol<'_>) -> SymbolId {
        let parent = self.owner();
        self.define_under(parent, self.scope(), new)
    }

    /// Defines a symbol below `parent` and in the name table of `declared_in`.
    pub fn define_under(&mut self, parent: SymbolId, declared_in: ScopeId, new: NewSymbol<'_>) -> SymbolId {
        let mut qualname = String::new();
        if parent.index() != 0 {
            let outer = without_ordinal(self.facts.name(self.facts.symbol(parent).qualname));
            let mut cut = outer.len().min(MAX_QUALNAME);
            while !outer.is_char_boundary(cut) {
                cut -= 1;
            }
            qualname.push_str(&outer[..cut]);
        }
        for part in [new.prefix, new.segment.unwrap_or(new.name)] {
            if !part.is_empty() {
                if !qualname.is_empty() {
                    qualname.push('.');
                }
                qualname.push_str(part);
            }
        }
        let count = self.qualnames.entry(qualname.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            qualname.push('#');
            qualname.push_str(&count.to_string());
        }
        let symbol = Symbol {
            kind: new.kind,
            name: self.intern(new.name),
            qualname: self.intern(&qualname),
            parent: Some(parent),
            declared_in,
            scope: None,
            visibility: new.visibility,
            flags: new.flags,
            branch: new.branch,
            signature: self.intern(new.signature),
            doc: new.doc.filter(|d| !d.is_empty()).map(|d| self.intern(d)),
            ty: new.ty,
            start_line: new.start_line,
            end_line: new.end_line.max(new.start_line),
            name_line: new.name_line,
            name_column: new.name_column,
            sig_hash: Hash64(0),
            body_hash: Hash64(0),
            doc_hash: Hash64(0),
            act_hash: Hash64(0),
        };
        let id = SymbolId::new(self.facts.symbols.len());
        self.facts.symbols.push(symbol);
        id
    }

    /// Changes a symbol after it was defined (its scope, type, flags, doc).
    pub fn symbol_mut(&mut self, id: SymbolId) -> &mut Symbol {
        &mut self.facts.symbols[id.index()]
    }

    /// Records the bytes of a symbol's parts, for hashing.
    pub fn extent(&mut self, extent: Extent) {
        self.extents.push(extent);
    }

    /// Records the bytes of an import or re-export statement, which count for no symbol's hash.
    pub fn apart(&mut self, node: std::ops::Range<usize>) {
        let nothing = node.start..node.start;
        self.extent(Extent { of: ExtentOf::Apart, node, body: nothing.clone(), doc: nothing });
    }

    /// Says where the module's doc text lies, and its first line.
    pub fn module_doc(&mut self, range: std::ops::Range<usize>, first_line: &str) {
        self.extents[0].doc = range;
        if !first_line.is_empty() {
            self.facts.symbols[0].doc = Some(self.intern(first_line));
        }
    }

    /// Adds flags to the module itself.
    pub fn module_flags(&mut self, flags: SymbolFlags) {
        self.facts.symbols[0].flags |= flags;
    }

    /// Opens a scope below the innermost one. `symbol`: the function, class, namespace whose
    /// body it is, which becomes the owner; else the owner stays.
    pub fn open_scope(&mut self, kind: ScopeKind, symbol: Option<SymbolId>, start_line: u32, end_line: u32) -> ScopeId {
        let id = ScopeId::new(self.facts.scopes.len());
        let owner = symbol.unwrap_or_else(|| self.owner());
        self.facts.scopes.push(Scope {
            kind,
            parent: Some(self.scope()),
            owner,
            test_block: self.test_block(),
            start_line,
            end_line: end_line.max(start_line),
        });
        if let Some(symbol) = symbol {
            self.facts.symbols[symbol.index()].scope.get_or_insert(id);
        }
        self.stack.push(id);
        id
    }

    /// Opens a scope whose code belongs to `owner`, which is not what opens it: the functions in a
    /// variable's initializer.
    pub fn open_scope_for(&mut self, kind: ScopeKind, owner: SymbolId, start_line: u32, end_line: u32) -> ScopeId {
        let id = self.open_scope(kind, None, start_line, end_line);
        self.facts.scopes[id.index()].owner = owner;
        id
    }

    /// Closes the innermost scope (never the module's).
    pub fn close_scope(&mut self) {
        if self.stack.len() > 1 {
            self.stack.pop();
        }
    }

    /// Runs `f` with an already made scope as the innermost one (class bodies met again,
    /// decorators of the enclosing scope).
    pub fn within_scope<R>(&mut self, scope: ScopeId, f: impl FnOnce(&mut Self) -> R) -> R {
        self.stack.push(scope);
        let result = f(self);
        self.stack.pop();
        result
    }

    /// Starts a test block below the open one.
    pub fn open_test_block(
        &mut self,
        kind: TestBlockKind,
        title: Option<&str>,
        start_line: u32,
        end_line: u32,
    ) -> TestBlockId {
        let id = TestBlockId::new(self.facts.test_blocks.len());
        let title = title.map(|t| self.intern(t));
        let parent = self.test_block();
        let owner = self.owner();
        self.facts.test_blocks.push(TestBlock {
            kind,
            parent,
            title,
            parametrized: false,
            skipped: false,
            scope: None,
            owner,
            start_line,
            end_line: end_line.max(start_line),
            body_hash: Hash64(0),
        });
        self.test_stack.push(id);
        id
    }

    /// Changes a test block after it was opened.
    pub fn test_block_mut(&mut self, id: TestBlockId) -> &mut TestBlock {
        &mut self.facts.test_blocks[id.index()]
    }

    /// Ends the innermost test block.
    pub fn close_test_block(&mut self) {
        self.test_stack.pop();
    }

    /// Adds an expression without operands.
    pub fn leaf(&mut self, kind: ExprKind, name: Option<NameId>, detail: u32) -> ExprId {
        self.push_expr(Expr { kind, name, ty: None, scope: None, symbol: None, detail, first: 0, len: 0 }, &[])
    }

    /// Adds an expression whose operands were added before it.
    pub fn compound(&mut self, kind: ExprKind, name: Option<NameId>, operands: &[Operand]) -> ExprId {
        self.push_expr(Expr { kind, name, ty: None, scope: None, symbol: None, detail: 0, first: 0, len: 0 }, operands)
    }

    /// Adds an expression row; `first` and `len` are filled in.
    pub fn push_expr(&mut self, mut row: Expr, operands: &[Operand]) -> ExprId {
        row.len = operands.len() as u32;
        row.first = if operands.is_empty() { 0 } else { self.facts.operands.len() as u32 };
        self.facts.operands.extend_from_slice(operands);
        let id = ExprId::new(self.facts.exprs.len());
        self.facts.exprs.push(row);
        id
    }

    /// Adds a type row; `first` and `len` are filled in.
    pub fn push_type(&mut self, mut row: TypeRow, operands: &[TypeOperand]) -> TypeId {
        row.len = operands.len() as u32;
        row.first = if operands.is_empty() { 0 } else { self.facts.type_operands.len() as u32 };
        self.facts.type_operands.extend_from_slice(operands);
        let id = TypeId::new(self.facts.types.len());
        self.facts.types.push(row);
        id
    }

    /// Adds a type that is only a kind and operands.
    pub fn type_of(&mut self, kind: TypeKind, operands: &[TypeOperand]) -> TypeId {
        self.push_type(TypeRow { kind, expr: None, name: None, scope: None, detail: 0, first: 0, len: 0 }, operands)
    }

    /// Adds a binding in the innermost scope; `steps` lead into its value.
    pub fn bind(&mut self, mut binding: Binding, steps: &[Step]) {
        binding.first_step = if steps.is_empty() { 0 } else { self.facts.steps.len() as u32 };
        binding.n_steps = steps.len() as u32;
        self.facts.steps.extend_from_slice(steps);
        self.facts.bindings.push(binding);
    }

    /// A binding of this scope and branch with nothing else set, to fill in.
    pub fn binding(&self, origin: Origin, line: u32, column: u32) -> Binding {
        Binding {
            scope: self.scope(),
            origin,
            branch: self.branch,
            name: None,
            target: None,
            value: None,
            ty: None,
            symbol: None,
            first_step: 0,
            n_steps: 0,
            default: None,
            line,
            column,
        }
    }

    /// Adds a reference from the innermost scope.
    pub fn reference(&mut self, kind: RefKind, expr: ExprId, line: u32, column: u32, start_line: u32) {
        let (owner, scope) = (self.owner(), self.scope());
        self.facts.refs.push(Reference { kind, owner, scope, expr, line, column, start_line });
    }

    /// Adds a reference from the innermost scope that is code of `owner` (headers and annotations
    /// of a definition, which are evaluated outside of its own scope).
    pub fn reference_of(
        &mut self,
        owner: SymbolId,
        kind: RefKind,
        expr: ExprId,
        line: u32,
        column: u32,
        start_line: u32,
    ) {
        let scope = self.scope();
        self.facts.refs.push(Reference { kind, owner, scope, expr, line, column, start_line });
    }

    /// How many references were added.
    pub fn n_references(&self) -> usize {
        self.facts.refs.len()
    }

    /// Makes those references code of `owner`: a definition's header, read before its scope is open.
    pub fn give_references(&mut self, rows: std::ops::Range<usize>, owner: SymbolId) {
        for reference in self.facts.refs.get_mut(rows).unwrap_or_default() {
            reference.owner = owner;
        }
    }

    /// Drops reads, writes and callbacks of bare names that a function, lambda or comprehension
    /// binds as a plain variable: such a name has no target of its own (what it was given has
    /// its reference where it was given). O(bindings + references × nesting).
    pub fn drop_local_reads(&mut self) {
        let facts = &self.facts;
        let mut bound: HashMap<(ScopeId, NameId), bool> = HashMap::new();
        let is_local = |scope: ScopeId| {
            matches!(facts.scope(scope).kind, ScopeKind::Function | ScopeKind::Lambda | ScopeKind::Comprehension)
        };
        for param in &facts.params {
            if let Some(name) = param.name {
                bound.insert((param.scope, name), true);
            }
        }
        for binding in &facts.bindings {
            if let Some(name) = binding.name {
                let local = is_local(binding.scope) && binding.symbol.is_none();
                let elsewhere = binding.origin == Origin::Global;
                if binding.origin == Origin::Nonlocal {
                    continue;
                }
                if elsewhere {
                    bound.insert((binding.scope, name), false);
                } else {
                    bound.entry((binding.scope, name)).and_modify(|b| *b &= local).or_insert(local);
                }
            }
        }
        for symbol in &facts.symbols[1..] {
            bound.insert((symbol.declared_in, symbol.name), false);
        }
        for import in &facts.imports {
            if let Some(local) = import.local {
                bound.insert((import.scope, local), false);
            }
        }
        let keep: Vec<bool> = facts
            .refs
            .iter()
            .map(|reference| {
                let row = facts.expr(reference.expr);
                let plain = matches!(reference.kind, RefKind::Read | RefKind::Write | RefKind::Callback);
                let (true, ExprKind::Name, Some(name)) = (plain, row.kind, row.name) else { return true };
                let mut at = Some(reference.scope);
                while let Some(scope) = at {
                    if let Some(local) = bound.get(&(scope, name)) {
                        return !*local;
                    }
                    at = facts.scope(scope).parent;
                }
                true
            })
            .collect();
        let mut keep = keep.into_iter();
        self.facts.refs.retain(|_| keep.next().unwrap_or(true));
    }

    /// Adds a parameter.
    pub fn param(&mut self, param: Param) {
        self.facts.params.push(param);
    }
    /// Adds a type parameter.
    pub fn type_param(&mut self, row: TypeParam) {
        self.facts.type_params.push(row);
    }
    /// Adds a base of a class.
    pub fn heritage(&mut self, row: Heritage) {
        self.facts.heritage.push(row);
    }
    /// Adds a decorator or annotation.
    pub fn decorator(&mut self, row: Decorator) {
        self.facts.decorators.push(row);
    }
    /// Adds a returned value.
    pub fn returns(&mut self, row: Return) {
        self.facts.returns.push(row);
    }
    /// Adds a narrowing.
    pub fn narrowing(&mut self, row: Narrowing) {
        self.facts.narrowings.push(row);
    }
    /// Adds an import.
    pub fn import(&mut self, row: Import) {
        self.facts.imports.push(row);
    }
    /// Adds an export.
    pub fn export(&mut self, row: Export) {
        self.facts.exports.push(row);
    }
    /// Sets the package.
    pub fn package(&mut self, name: &str, line: u32) {
        let name = self.intern(name);
        self.facts.package = vec![Package { name, line }];
    }

    /// Ends the file: rows get their order (params by scope; type parameters, heritage and
    /// decorators by owner; references by place), extents are handed over.
    pub fn finish(mut self) -> (FileFacts, Vec<Extent>) {
        self.facts.params.sort_by_key(|p| p.scope);
        self.facts.type_params.sort_by_key(|p| p.owner);
        self.facts.heritage.sort_by_key(|h| h.owner);
        self.facts.decorators.sort_by_key(|d| d.owner);
        self.facts.returns.sort_by_key(|r| (r.scope, r.line));
        self.facts.refs.sort_by_key(|r| (r.line, r.column, r.kind, r.expr));
        (self.facts, self.extents)
    }
}

impl FileFacts {
    /// Facts with nothing in them.
    pub fn empty(dialect: Dialect) -> Self {
        FileFacts {
            dialect,
            status: Status::Ok,
            status_reason: None,
            n_lines: 0,
            n_bytes: 0,
            names: Vec::new(),
            symbols: Vec::new(),
            scopes: Vec::new(),
            params: Vec::new(),
            type_params: Vec::new(),
            heritage: Vec::new(),
            decorators: Vec::new(),
            exprs: Vec::new(),
            operands: Vec::new(),
            types: Vec::new(),
            type_operands: Vec::new(),
            bindings: Vec::new(),
            steps: Vec::new(),
            returns: Vec::new(),
            narrowings: Vec::new(),
            imports: Vec::new(),
            exports: Vec::new(),
            refs: Vec::new(),
            test_blocks: Vec::new(),
            damage: Vec::new(),
            package: Vec::new(),
        }
    }
}

/// What stands below a repeated definition is named without its ordinal: `f#3.g` would be another
/// name with every overload that is written above. Where two of its kind have one name, that one
/// gets an ordinal of its own.
fn without_ordinal(qualname: &str) -> &str {
    match qualname.rsplit_once('#') {
        Some((plain, ordinal)) if !ordinal.is_empty() && ordinal.bytes().all(|b| b.is_ascii_digit()) => plain,
        _ => qualname,
    }
}
