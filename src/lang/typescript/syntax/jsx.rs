//! JSX: tags, props, spreads and children. A lower-case tag is intrinsic: the name of a member of
//! the elements that the runtime declares, with the runtime's own path where a comment names it.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::node::{column, named_children, start_line};
use crate::lang::typescript::syntax::Walk;
use crate::lang::typescript::syntax::expressions::Use;
use crate::lang::typescript::syntax::kinds::K;

/// Longest path that `@jsxImportSource` is read with.
const MAX_SOURCE: usize = 200;

/// Which runtime declares the intrinsic elements of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JsxRuntime {
    /// The one that the project's configuration names.
    Project,
    /// `@jsxImportSource path` in a comment before the code.
    Named(String),
    /// `@jsx h`: the elements that the factory's namespace declares, which are not followed.
    Factory,
}

/// Reads the pragmas in the comments before the code.
pub(super) fn jsx_runtime(source: &[u8], root: Node<'_>) -> JsxRuntime {
    let mut runtime = JsxRuntime::Project;
    let comments = named_children(root).take_while(|child| matches!(child.kind(), "comment" | "hash_bang_line"));
    for comment in comments {
        let text = source.get(comment.byte_range()).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("");
        let mut words = text.split(|c: char| c.is_whitespace() || c == '*');
        while let Some(word) = words.next() {
            let mut value = || words.find(|word| !word.is_empty());
            match word {
                "@jsxImportSource" => {
                    let path = value().filter(|path| path.len() <= MAX_SOURCE && super::is_name(path));
                    return path.map_or(runtime, |path| JsxRuntime::Named(path.to_string()));
                }
                "@jsx" => runtime = JsxRuntime::Factory,
                _ => {}
            }
        }
    }
    runtime
}

impl Walk<'_> {
    /// Reads an element or fragment.
    pub(super) fn jsx(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> ExprId {
        let open = if self.k(node) == K::JsxSelfClosing { Some(node) } else { self.field(node, self.f.open_tag) };
        let mut operands = Vec::new();
        let tag = open.and_then(|open| self.field(open, self.f.name));
        let tag_expr = match tag {
            Some(tag) => self.tag(b, tag),
            None => b.leaf(ExprKind::Opaque, None, 0),
        };
        operands.push(Operand { role: Role::Value, name: None, expr: tag_expr });
        if let Some(open) = open {
            if let Some(types) = self.field(open, self.f.type_arguments) {
                self.type_arguments(b, types);
            }
            for child in named_children(open).filter(|c| Some(*c) != tag) {
                match self.k(child) {
                    K::JsxAttribute => operands.push(self.attribute(b, child)),
                    K::JsxExpression => {
                        if let Some(spread) = self.first(child) {
                            let expr = self.expression(b, spread, Use::Read);
                            operands.push(Operand { role: Role::Spread, name: None, expr });
                        }
                    }
                    _ => {}
                }
            }
        }
        if self.k(node) == K::JsxElement {
            for child in named_children(node) {
                let expr = match self.k(child) {
                    K::JsxElement | K::JsxSelfClosing => self.expression(b, child, Use::Read),
                    K::JsxExpression => match self.first(child) {
                        Some(inner) => self.expression(b, inner, Use::Callback),
                        None => continue,
                    },
                    K::Error => {
                        self.statements(b, child, 0);
                        continue;
                    }
                    _ => continue,
                };
                operands.push(Operand { role: Role::Child, name: None, expr });
            }
        }
        let expr = b.compound(ExprKind::Jsx, None, &operands);
        let is_declared = |tag: &Node<'_>| self.jsx_runtime != JsxRuntime::Factory || !self.is_intrinsic(*tag);
        if let Some(tag) = tag.filter(is_declared) {
            let at = self.field(tag, self.f.property).unwrap_or(tag);
            b.reference(RefKind::Jsx, tag_expr, start_line(at), column(at), start_line(node));
        }
        expr
    }

    fn is_intrinsic(&self, tag: Node<'_>) -> bool {
        match self.k(tag) {
            K::Identifier => self.text(tag).starts_with(|c: char| c.is_lowercase()) || self.text(tag).contains('-'),
            K::MemberExpression | K::NestedIdentifier => false,
            _ => true,
        }
    }

    fn tag(&mut self, b: &mut FactsBuilder, tag: Node<'_>) -> ExprId {
        if !self.is_intrinsic(tag) {
            return self.expression(b, tag, Use::Callee);
        }
        let name = self.text(tag).into_owned();
        let name = Some(b.intern(&name));
        let runtime = match &self.jsx_runtime {
            JsxRuntime::Named(path) => Some(b.intern(path)),
            JsxRuntime::Project | JsxRuntime::Factory => None,
        };
        match runtime {
            Some(path) => {
                let path = b.leaf(ExprKind::Path, Some(path), 0);
                b.compound(ExprKind::Opaque, name, &[Operand { role: Role::Value, name: None, expr: path }])
            }
            None => b.leaf(ExprKind::Opaque, name, 0),
        }
    }

    fn attribute(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> Operand {
        let mut parts = self.content(node);
        let name = parts.next().map(|n| self.name(b, n));
        let anonymous = std::mem::replace(&mut self.anonymous, true);
        let expr = match parts.next() {
            Some(value) if self.k(value) == K::JsxExpression => match self.first(value) {
                Some(inner) => self.expression(b, inner, Use::Callback),
                None => b.leaf(ExprKind::Opaque, None, 0),
            },
            Some(value) => self.expression(b, value, Use::Callback),
            None => b.leaf(ExprKind::Literal, None, LiteralKind::Bool as u32),
        };
        self.anonymous = anonymous;
        Operand { role: Role::Keyword, name, expr }
    }
}
