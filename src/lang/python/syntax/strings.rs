//! Strings as expressions: literals without text, templates, and the strings that are names of
//! modules, files, fixtures or attributes.

use tree_sitter::Node;

use crate::facts::model::*;
use crate::lang::node::named_children;
use crate::lang::python::syntax::Walk;
use crate::lang::python::syntax::expressions::operand;
use crate::lang::python::syntax::grammar::{FIELDS, Kind, child, kind};
use crate::lang::python::syntax::text;

impl Walk<'_> {
    /// Reads a string; `is_name`: it is given to a call that takes names, so that a bare
    /// identifier is kept as well.
    pub fn string(&mut self, node: Node<'_>, is_name: bool) -> ExprId {
        if kind(node) == Kind::ConcatenatedString {
            return self.template(node).unwrap_or_else(|| self.literal(LiteralKind::String));
        }
        if let Some(content) = text::content(node, self.source) {
            let keep = text::is_path(content) || (is_name && text::is_identifier(content));
            return match keep {
                true => {
                    let name = self.b.intern(content);
                    let expr = self.b.leaf(ExprKind::Path, Some(name), 0);
                    self.refer(RefKind::StringPath, expr, node, node);
                    expr
                }
                false => self.literal(LiteralKind::String),
            };
        }
        if let Some(template) = self.template(node) {
            return template;
        }
        let bytes = node.child(0).is_some_and(|start| self.text(start).contains(['b', 'B']));
        self.literal(if bytes { LiteralKind::Bytes } else { LiteralKind::String })
    }

    /// The substitutions of an f-string, or of a run of strings; `None` where there is none.
    fn template(&mut self, node: Node<'_>) -> Option<ExprId> {
        let mut operands = Vec::new();
        self.substitutions(node, &mut operands);
        (!operands.is_empty()).then(|| self.b.compound(ExprKind::Template, None, &operands))
    }

    fn substitutions(&mut self, node: Node<'_>, operands: &mut Vec<Operand>) {
        for part in named_children(node) {
            match kind(part) {
                Kind::String | Kind::FormatSpecifier => {
                    self.deeper(|w| w.substitutions(part, operands));
                }
                Kind::Interpolation | Kind::FormatExpression => {
                    if let Some(expression) = child(part, FIELDS.expression) {
                        operands.push(operand(Role::Value, self.read(expression)));
                    }
                    self.deeper(|w| w.substitutions(part, operands));
                }
                _ => {}
            }
        }
    }

    /// Reads an argument of a call that takes names: a string, or a list or tuple of strings.
    /// `split`: a string may hold several, with commas between (`parametrize("a,b", …)`).
    pub fn names(&mut self, node: Node<'_>, split: bool) -> ExprId {
        match kind(node) {
            Kind::String => {
                let several = text::content(node, self.source).filter(|content| split && content.contains(','));
                let Some(content) = several else { return self.string(node, true) };
                let parts: Vec<String> =
                    content.split(',').map(str::trim).filter(|p| text::is_identifier(p)).map(String::from).collect();
                let mut operands = Vec::with_capacity(parts.len());
                for part in parts {
                    let name = self.b.intern(&part);
                    let expr = self.b.leaf(ExprKind::Path, Some(name), 0);
                    self.refer(RefKind::StringPath, expr, node, node);
                    operands.push(operand(Role::Value, expr));
                }
                self.seq(SeqKind::List, &operands)
            }
            Kind::List | Kind::Tuple => {
                let seq = if kind(node) == Kind::List { SeqKind::List } else { SeqKind::Tuple };
                let mut operands = Vec::new();
                for element in named_children(node) {
                    operands.push(match kind(element) {
                        Kind::Comment | Kind::LineContinuation => continue,
                        Kind::String => operand(Role::Value, self.string(element, true)),
                        _ => self.element(element, crate::lang::python::syntax::expressions::Use::Read),
                    });
                }
                self.seq(seq, &operands)
            }
            _ => self.expr(node, crate::lang::python::syntax::expressions::Use::Argument),
        }
    }
}
