//! The outline of a file: what those who look at it from outside may see without evaluating its
//! code. The rest is the inside of functions, of which others learn by queries only.

use crate::base::id::Digest;
use crate::base::reads::{Extent, Read};
use crate::facts::model::{Binding, ExprId, ExprKind, FileFacts, NameId, Param, ScopeId, ScopeKind, SymbolId, TypeId};
use crate::facts::table::{Cell, Id};
use crate::graph::queries::Query;

/// Digests of a file's outline: of what it declares under which names, and of what each symbol is
/// declared to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    names: Digest,
    /// One a symbol.
    rows: Vec<Digest>,
}

/// What of a file's outline has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Nothing: only its code.
    Same,
    /// What some symbols are declared to be, in order.
    Rows(Vec<u32>),
    /// Its names, and with them anything.
    Other,
}

impl Shown {
    /// Whether a look at the file may have seen what changed.
    pub fn touches(&self, read: Read) -> bool {
        match (read.extent(), self) {
            (Extent::Whole, _) | (_, Shown::Other) => true,
            (_, Shown::Same) => false,
            (Extent::Row(row), Shown::Rows(rows)) => rows.binary_search(&row).is_ok(),
            (Extent::Names, Shown::Rows(_)) => false,
            (Extent::Outline, Shown::Rows(_)) => true,
        }
    }
}

impl Outline {
    /// The outline of a file; `None` when its trees are none (rows of a hostile shard may lead to one
    /// another), which is to count as changed. Lines are no part of it. O(facts).
    ///
    /// Under names: kinds, names, places and flags of symbols, decorators, imports, exports, what is
    /// bound outside of functions to no symbol, which members functions give to objects (not their
    /// values). Under rows: types, parameters, bases, values.
    pub fn new(facts: &FileFacts) -> Option<Self> {
        let n_rows = facts.exprs.len() + facts.types.len() + facts.operands.len() + facts.type_operands.len();
        let mut writer = Writer {
            facts,
            bytes: Vec::new(),
            rows: vec![Vec::new(); facts.symbols.len()],
            steps: 4 * n_rows + 1_000,
            is_outer: outer_scopes(facts),
        };
        writer.all();
        let rows = writer.rows.iter().map(|bytes| Digest::of(bytes)).collect();
        (writer.steps > 0).then(|| Outline { names: Digest::of(&writer.bytes), rows })
    }

    /// What has changed from one version of a file to another.
    pub fn shown(was: &FileFacts, now: &FileFacts) -> Shown {
        let (Some(was), Some(now)) = (Outline::new(was), Outline::new(now)) else { return Shown::Other };
        if was.names != now.names || was.rows.len() != now.rows.len() {
            return Shown::Other;
        }
        let pairs = was.rows.iter().zip(&now.rows).zip(0..);
        let rows: Vec<u32> = pairs.filter(|((was, now), _)| was != now).map(|(_, row)| row).collect();
        if rows.is_empty() { Shown::Same } else { Shown::Rows(rows) }
    }
}

/// By scope, whether no function or lambda is around it.
fn outer_scopes(facts: &FileFacts) -> Vec<bool> {
    let mut outer: Vec<bool> = Vec::with_capacity(facts.scopes.len());
    for scope in &facts.scopes {
        let is_inside = matches!(scope.kind, ScopeKind::Function | ScopeKind::Lambda | ScopeKind::Comprehension);
        // A parent comes before its children; what does not is inside of something.
        let around = scope.parent.is_none_or(|parent| outer.get(parent.index()).copied().unwrap_or(false));
        outer.push(around && !is_inside);
    }
    outer
}

struct Writer<'f> {
    facts: &'f FileFacts,
    /// What is being written.
    bytes: Vec<u8>,
    /// What is written of each symbol.
    rows: Vec<Vec<u8>>,
    /// How many rows of trees may still be written.
    steps: usize,
    is_outer: Vec<bool>,
}

impl Writer<'_> {
    fn number(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn name(&mut self, name: Option<NameId>) {
        match name {
            Some(name) => self.text(self.facts.name(name)),
            None => self.number(u64::MAX),
        }
    }

    fn symbol(&mut self, symbol: Option<SymbolId>) {
        self.number(symbol.map_or(u64::MAX, |symbol| symbol.index() as u64));
    }

    /// A scope by whose it is: its number is another when functions before it change.
    fn scope(&mut self, scope: ScopeId) {
        let row = self.facts.scope(scope);
        self.number(row.kind.to_cell());
        self.symbol(Some(row.owner));
        self.number(u64::from(self.is_outer[scope.index()]));
    }

    /// Writes of a symbol alone.
    fn of(&mut self, symbol: SymbolId, write: impl FnOnce(&mut Self)) {
        let names = std::mem::take(&mut self.bytes);
        self.bytes = std::mem::take(&mut self.rows[symbol.index()]);
        write(self);
        self.rows[symbol.index()] = std::mem::replace(&mut self.bytes, names);
    }

    fn all(&mut self) {
        let facts = self.facts;
        self.number(facts.dialect as u64);
        self.number(facts.status.to_cell());
        self.number(facts.symbols.len() as u64);
        for (row, symbol) in facts.symbols.iter().enumerate() {
            self.number(symbol.kind.to_cell());
            self.name(Some(symbol.name));
            self.symbol(symbol.parent);
            self.scope(symbol.declared_in);
            self.number(symbol.flags.to_cell());
            self.number(symbol.branch.to_cell());
            self.of(SymbolId::new(row), |writer| {
                writer.number(symbol.kind.to_cell());
                writer.name(Some(symbol.name));
                writer.name(Some(symbol.qualname));
                writer.symbol(symbol.parent);
                writer.scope(symbol.declared_in);
                writer.number(symbol.visibility.to_cell());
                writer.number(symbol.flags.to_cell());
                writer.number(symbol.branch.to_cell());
                writer.name(Some(symbol.signature));
                writer.ty(symbol.ty);
                match symbol.scope {
                    Some(scope) => writer.params(scope),
                    None => writer.number(u64::MAX),
                }
            });
        }
        for row in &facts.type_params {
            self.symbol(Some(row.owner));
            self.name(Some(row.name));
            self.of(row.owner, |writer| {
                writer.name(Some(row.name));
                writer.ty(row.bound);
                writer.ty(row.default);
            });
        }
        for row in &facts.heritage {
            self.of(row.owner, |writer| {
                writer.number(row.kind.to_cell());
                writer.ty(Some(row.ty));
            });
        }
        self.number(facts.decorators.len() as u64);
        for row in &facts.decorators {
            self.symbol(Some(row.owner));
            self.number(row.param.to_cell());
            self.expr(Some(row.expr));
            self.of(row.owner, |writer| {
                writer.number(row.param.to_cell());
                writer.expr(Some(row.expr));
            });
        }
        for binding in &facts.bindings {
            self.binding(binding);
        }
        self.number(facts.imports.len() as u64);
        for row in &facts.imports {
            self.scope(row.scope);
            self.number(row.kind.to_cell());
            self.number(row.branch.to_cell());
            self.name(row.module);
            self.number(u64::from(row.level));
            self.name(row.name);
            self.name(row.local);
            self.number(u64::from(row.type_only));
        }
        self.number(facts.exports.len() as u64);
        for row in &facts.exports {
            self.scope(row.scope);
            self.number(row.kind.to_cell());
            self.name(row.exported);
            self.name(row.local);
            self.name(row.module);
            self.expr(row.expr);
            self.symbol(row.symbol);
            self.number(u64::from(row.type_only));
        }
        for row in &facts.package {
            self.name(Some(row.name));
        }
    }

    fn params(&mut self, scope: ScopeId) {
        let params = self.facts.params_of(scope);
        self.scope(scope);
        self.number(params.len() as u64);
        for param in params {
            self.name(param.name);
            self.number(param.kind.to_cell());
            self.ty(param.ty);
            self.expr(param.default);
            self.number(u64::from(param.optional));
        }
    }

    fn binding(&mut self, binding: &Binding) {
        let target = binding.target.map(|target| self.facts.expr(target));
        let gives_member = binding.symbol.is_some() || target.is_some_and(|target| target.kind == ExprKind::Attr);
        let is_outer = self.is_outer[binding.scope.index()];
        if !is_outer && !gives_member {
            return;
        }
        self.binding_at(binding);
        match binding.symbol {
            Some(symbol) => self.of(symbol, |writer| {
                writer.binding_at(binding);
                writer.binding_to(binding, is_outer);
            }),
            None => self.binding_to(binding, is_outer),
        }
    }

    /// Where a binding stands, and to what.
    fn binding_at(&mut self, binding: &Binding) {
        self.number(binding.origin.to_cell());
        self.number(binding.branch.to_cell());
        self.scope(binding.scope);
        self.name(binding.name);
        self.expr(binding.target);
        self.symbol(binding.symbol);
        self.number(u64::from(binding.ty.is_some()));
        self.number(u64::from(binding.value.is_some()));
    }

    /// What a binding assigns.
    fn binding_to(&mut self, binding: &Binding, is_outer: bool) {
        self.ty(binding.ty);
        if is_outer {
            self.expr(binding.value);
            self.expr(binding.default);
            for step in self.facts.steps_of(binding) {
                self.number(step.kind.to_cell());
                self.name(step.name);
                self.number(u64::from(step.detail));
            }
        }
    }

    /// Takes a step; `false` when there are none left.
    fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_sub(1);
        self.steps > 0
    }

    fn expr(&mut self, expr: Option<ExprId>) {
        let Some(expr) = expr.filter(|_| self.step()) else { return self.number(u64::MAX) };
        stacker::maybe_grow(32 * 1024, 1024 * 1024, || {
            let row = self.facts.expr(expr);
            self.number(row.kind.to_cell());
            self.name(row.name);
            self.ty(row.ty);
            self.symbol(row.symbol);
            self.number(u64::from(row.detail));
            self.number(u64::from(row.len));
            for operand in self.facts.operands_of(expr) {
                self.number(operand.role.to_cell());
                self.name(operand.name);
                self.expr(Some(operand.expr));
            }
        });
    }

    fn ty(&mut self, ty: Option<TypeId>) {
        let Some(ty) = ty.filter(|_| self.step()) else { return self.number(u64::MAX) };
        stacker::maybe_grow(32 * 1024, 1024 * 1024, || {
            let row = self.facts.type_row(ty);
            self.number(row.kind.to_cell());
            self.expr(row.expr);
            self.name(row.name);
            self.number(u64::from(row.detail));
            self.number(u64::from(row.len));
            for operand in self.facts.operands_of_type(ty) {
                self.number(operand.role.to_cell());
                self.name(operand.name);
                self.ty(Some(operand.ty));
            }
        });
    }
}

/// How a file differs from what it was.
pub struct FileChange {
    pub shown: Shown,
    /// Which rows mean the same; `None` when symbols may not.
    alignment: Option<Alignment>,
}

impl FileChange {
    /// Compares two versions of a file.
    pub fn new(was: &FileFacts, now: &FileFacts) -> Self {
        let shown = Outline::shown(was, now);
        let alignment = (shown != Shown::Other).then(|| Alignment::new(was, now));
        FileChange { shown, alignment }
    }

    /// What is gone, or leads elsewhere as a whole.
    pub fn other() -> Self {
        FileChange { shown: Shown::Other, alignment: None }
    }

    /// Whether a query is about the same row in both versions.
    pub fn keeps(&self, query: Query) -> bool {
        self.alignment.as_ref().is_some_and(|alignment| alignment.keeps(query))
    }
}

/// Which rows of a file mean the same in another version of it that has the same names.
struct Alignment {
    n_bindings: u32,
    n_params: u32,
    n_scopes: usize,
}

impl Alignment {
    fn new(was: &FileFacts, now: &FileFacts) -> Self {
        let same_name = |a: Option<NameId>, b: Option<NameId>| a.map(|a| was.name(a)) == b.map(|b| now.name(b));
        let binding = |(a, b): &(&Binding, &Binding)| {
            (a.scope, a.origin, a.target, a.value, a.symbol) == (b.scope, b.origin, b.target, b.value, b.symbol)
                && same_name(a.name, b.name)
        };
        let param = |(a, b): &(&Param, &Param)| (a.scope, a.kind) == (b.scope, b.kind) && same_name(a.name, b.name);
        let scopes = was.scopes.iter().zip(&now.scopes);
        let n_params = was.params.iter().zip(&now.params).take_while(param).count();
        // Of the last scope that begins alike a later parameter may be another.
        let is_whole = n_params == was.params.len() && n_params == now.params.len();
        let last = was.params.get(n_params.wrapping_sub(1)).map(|param| param.scope).filter(|_| !is_whole);
        let n_params = last.map_or(n_params, |last| was.params.partition_point(|param| param.scope < last));
        Alignment {
            n_bindings: was.bindings.iter().zip(&now.bindings).take_while(binding).count() as u32,
            n_params: n_params as u32,
            n_scopes: scopes.take_while(|(a, b)| (a.kind, a.parent, a.owner) == (b.kind, b.parent, b.owner)).count(),
        }
    }

    fn keeps(&self, query: Query) -> bool {
        match query {
            Query::Export(..)
            | Query::Global(..)
            | Query::Import(..)
            | Query::Symbol(_)
            | Query::Returns(_)
            | Query::Alias(_)
            | Query::Bases(_)
            | Query::Mro(_)
            | Query::This(_)
            | Query::Member(..)
            | Query::Types(_) => true,
            Query::Binding(_, row) => row < self.n_bindings,
            Query::Param(_, row) | Query::Declared(_, row) | Query::Filled(_, row) => row < self.n_params,
            Query::Expected(..) => false,
            Query::Lambda(_, scope) => scope.index() < self.n_scopes,
        }
    }
}
