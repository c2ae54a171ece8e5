//! Annotations: applied ones as expressions, on symbols and parameters as decorators.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::{Decorator, ExprId, ExprKind, Operand, ParamPosition, RefKind, Role, SymbolId};
use crate::lang::java::syntax::Walk;
use crate::lang::java::syntax::kinds::{F, K, field, kind};
use crate::lang::java::syntax::strings::annotation_takes_names;
use crate::lang::java::syntax::value;
use crate::lang::node;

impl Walk<'_> {
    /// An annotation that stands on `owner`, or on its parameter at `position`.
    pub(super) fn decorator(&mut self, b: &mut FactsBuilder, owner: SymbolId, position: Option<u32>, at: Node<'_>) {
        if let Some(expr) = self.annotation(b, at) {
            b.decorator(Decorator { owner, param: ParamPosition(position), expr, line: node::start_line(at) });
        }
    }

    /// An annotation as an expression: `A` for a marker, `A(…)` as a call whose keywords are its
    /// elements (a single value has no keyword).
    pub(super) fn annotation(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> Option<ExprId> {
        b.nested(|b| self.annotation_inner(b, at))?
    }

    fn annotation_inner(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> Option<ExprId> {
        let name_node = field(at, F::Name)?;
        let callee = self.scoped_name(b, name_node, RefKind::Decorator)?;
        if kind(at) == K::MarkerAnnotation {
            return Some(callee);
        }
        let last = field(name_node, F::Name).unwrap_or(name_node);
        let takes_names = annotation_takes_names(&self.text(last));
        let outer = std::mem::replace(&mut self.names_expected, takes_names);
        let mut operands = vec![value(callee)];
        for child in field(at, F::Arguments).into_iter().flat_map(node::named_children) {
            match kind(child) {
                child_kind if child_kind.is_comment() => {}
                K::ElementValuePair => {
                    let (Some(key), Some(element)) = (field(child, F::Key), field(child, F::Value)) else {
                        continue;
                    };
                    let name = b.intern(&self.text(key));
                    let expr = self.element_value(b, element);
                    operands.push(Operand { role: Role::Keyword, name: Some(name), expr });
                }
                _ => {
                    let expr = self.element_value(b, child);
                    operands.push(value(expr));
                }
            }
        }
        self.names_expected = outer;
        Some(b.compound(ExprKind::Call, None, &operands))
    }

    fn element_value(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        if kind(at).is_annotation() {
            let expr = self.annotation(b, at);
            return expr.unwrap_or_else(|| b.leaf(ExprKind::Opaque, None, 0));
        }
        self.expression(b, at)
    }
}
