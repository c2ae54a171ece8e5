//! Package, imports and the module descriptor (`module-info.java`).

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::{ExprId, ExprKind, Import, ImportKind, RefKind, SymbolId};
use crate::facts::table::Id;
use crate::lang::java::syntax::Walk;
use crate::lang::java::syntax::kinds::{F, K, field, kind};
use crate::lang::java::syntax::value;
use crate::lang::node;

impl Walk<'_> {
    /// `package a.b;`, with the annotations of a `package-info.java`.
    pub(super) fn package(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        for child in node::named_children(at) {
            match kind(child) {
                K::Identifier | K::ScopedIdentifier => {
                    let name = self.dotted(child);
                    b.package(&name, node::start_line(at));
                }
                child_kind if child_kind.is_annotation() => self.decorator(b, SymbolId::new(0), None, child),
                _ => {}
            }
        }
    }

    /// One import: `a.B` (module is the whole name, local its last part), `a.*`, `static a.B.m`
    /// (module is the class, name the member), `static a.B.*`.
    pub(super) fn import(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        let (mut is_static, mut is_star, mut path) = (false, false, None);
        for child in node::children(at) {
            match kind(child) {
                K::WordStatic => is_static = true,
                K::Asterisk => is_star = true,
                K::Identifier | K::ScopedIdentifier => path = Some(child),
                _ => {}
            }
        }
        let Some(path) = path else { return };
        let last = field(path, F::Name).unwrap_or(path);
        let whole = self.dotted(path);
        let (class, member) = whole.rsplit_once('.').unwrap_or(("", &whole));
        let (import_kind, module, name, local) = match (is_static, is_star) {
            (false, false) => (ImportKind::Module, whole.as_str(), None, Some(member)),
            (false, true) => (ImportKind::Star, whole.as_str(), None, None),
            (true, false) => (ImportKind::Static, class, Some(member), Some(member)),
            (true, true) => (ImportKind::StaticStar, whole.as_str(), None, None),
        };
        let row = Import {
            scope: b.scope(),
            kind: import_kind,
            branch: b.branch(),
            module: Some(b.intern(module)),
            level: 0,
            name: name.map(|n| b.intern(n)),
            local: local.map(|n| b.intern(n)),
            type_only: false,
            line: node::start_line(at),
            column: node::column(at),
            name_line: node::start_line(last),
            name_column: node::column(last),
        };
        b.import(row);
        b.apart(at.byte_range());
    }

    /// A module descriptor: services it uses and provides are referred to.
    pub(super) fn module(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        for child in node::named_children(at) {
            match kind(child) {
                child_kind if child_kind.is_annotation() => self.decorator(b, SymbolId::new(0), None, child),
                K::ModuleBody => {
                    for directive in node::named_children(child) {
                        if matches!(kind(directive), K::ProvidesDirective | K::UsesDirective) {
                            for class in node::named_children(directive) {
                                self.scoped_name(b, class, RefKind::Type);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// `a.b.C` of a `scoped_identifier` as an expression; the last part gets a reference of
    /// `ref_kind`, parts before it are types or packages.
    pub(super) fn scoped_name(&mut self, b: &mut FactsBuilder, at: Node<'_>, ref_kind: RefKind) -> Option<ExprId> {
        let mut parts = Vec::new();
        let mut inner = at;
        while kind(inner) == K::ScopedIdentifier {
            parts.push(field(inner, F::Name)?);
            inner = field(inner, F::Scope)?;
        }
        if kind(inner) != K::Identifier {
            return None;
        }
        let mut expr = self.name(b, inner);
        let first_kind = if parts.is_empty() { ref_kind } else { RefKind::Type };
        self.refer(b, first_kind, expr, inner, at);
        while let Some(part) = parts.pop() {
            let name = b.intern(&self.text(part));
            expr = b.compound(ExprKind::Attr, Some(name), &[value(expr)]);
            self.refer(b, if parts.is_empty() { ref_kind } else { RefKind::Type }, expr, part, at);
        }
        Some(expr)
    }

    /// The dotted text of a name, layout and comments inside it left out.
    pub(super) fn dotted(&self, at: Node<'_>) -> String {
        let mut parts = Vec::new();
        let mut inner = at;
        while kind(inner) == K::ScopedIdentifier {
            let (Some(name), Some(scope)) = (field(inner, F::Name), field(inner, F::Scope)) else { break };
            parts.push(self.text(name));
            inner = scope;
        }
        let mut name = self.text(inner).into_owned();
        for part in parts.iter().rev() {
            name.push('.');
            name.push_str(part);
        }
        name
    }
}
