//! The outline of a file: what those who look at it from outside may see without evaluating its
//! code. The rest is the inside of functions, of which others learn by queries only.

use crate::base::id::Digest;
use crate::facts::model::{Binding, ExprId, ExprKind, FileFacts, NameId, ScopeId, ScopeKind, SymbolId, TypeId};
use crate::facts::table::{Cell, Id};
use crate::graph::queries::Query;

/// The digest of a file's outline; `None` when its trees are none (rows of a hostile shard may
/// lead to one another), which is to count as changed. Lines are no part of it. O(facts).
///
/// In it: symbols with their types, parameters, heritage, decorators, imports, exports, what is
/// bound outside of functions, and which members functions give to objects (not their values).
pub fn outline(facts: &FileFacts) -> Option<Digest> {
    let n_rows = facts.exprs.len() + facts.types.len() + facts.operands.len() + facts.type_operands.len();
    let mut writer = Writer { facts, bytes: Vec::new(), steps: 4 * n_rows + 1_000, is_outer: outer_scopes(facts) };
    writer.all();
    (writer.steps > 0).then(|| Digest::of(&writer.bytes))
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
    bytes: Vec<u8>,
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

    fn all(&mut self) {
        let facts = self.facts;
        self.number(facts.dialect as u64);
        self.number(facts.status.to_cell());
        self.number(facts.symbols.len() as u64);
        for symbol in &facts.symbols {
            self.number(symbol.kind.to_cell());
            self.name(Some(symbol.name));
            self.name(Some(symbol.qualname));
            self.symbol(symbol.parent);
            self.scope(symbol.declared_in);
            self.number(symbol.visibility.to_cell());
            self.number(symbol.flags.to_cell());
            self.number(symbol.branch.to_cell());
            self.name(Some(symbol.signature));
            self.ty(symbol.ty);
            match symbol.scope {
                Some(scope) => self.params(scope),
                None => self.number(u64::MAX),
            }
        }
        for row in &facts.type_params {
            self.symbol(Some(row.owner));
            self.name(Some(row.name));
            self.ty(row.bound);
            self.ty(row.default);
        }
        self.number(facts.heritage.len() as u64);
        for row in &facts.heritage {
            self.symbol(Some(row.owner));
            self.number(row.kind.to_cell());
            self.ty(Some(row.ty));
        }
        self.number(facts.decorators.len() as u64);
        for row in &facts.decorators {
            self.symbol(Some(row.owner));
            self.number(row.param.to_cell());
            self.expr(Some(row.expr));
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
        self.number(binding.origin.to_cell());
        self.number(binding.branch.to_cell());
        self.scope(binding.scope);
        self.name(binding.name);
        self.expr(binding.target);
        self.symbol(binding.symbol);
        self.ty(binding.ty);
        self.number(u64::from(binding.value.is_some()));
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

/// Which rows of a file mean the same in another version of it that has the same outline.
pub struct Alignment {
    n_bindings: u32,
    n_scopes: usize,
    same_params: bool,
}

impl Alignment {
    /// Compares two versions of a file with equal outlines.
    pub fn new(was: &FileFacts, now: &FileFacts) -> Self {
        let same_name = |a: Option<NameId>, b: Option<NameId>| a.map(|a| was.name(a)) == b.map(|b| now.name(b));
        let binding = |(a, b): &(&Binding, &Binding)| {
            (a.scope, a.origin, a.target, a.value, a.symbol) == (b.scope, b.origin, b.target, b.value, b.symbol)
                && same_name(a.name, b.name)
        };
        let scopes = was.scopes.iter().zip(&now.scopes);
        Alignment {
            n_bindings: was.bindings.iter().zip(&now.bindings).take_while(binding).count() as u32,
            n_scopes: scopes.take_while(|(a, b)| (a.kind, a.parent, a.owner) == (b.kind, b.parent, b.owner)).count(),
            same_params: was.params.len() == now.params.len()
                && was
                    .params
                    .iter()
                    .zip(&now.params)
                    .all(|(a, b)| (a.scope, a.kind) == (b.scope, b.kind) && same_name(a.name, b.name)),
        }
    }

    /// Whether a query is about the same row in both versions.
    pub fn keeps(&self, query: Query) -> bool {
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
            Query::Param(..) | Query::Declared(..) => self.same_params,
            Query::Expected(..) => false,
            Query::Lambda(_, scope) => scope.index() < self.n_scopes,
        }
    }
}
