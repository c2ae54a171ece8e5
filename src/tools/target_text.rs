//! What a reference is written as: its chain of names.

use crate::facts::model::{ExprId, ExprKind, FileFacts};
use crate::facts::table::Id;

/// The chain of a reference as dotted text, of a call its callee's; parts without a name are `…`.
///
/// Empty where nothing is named.
pub fn of(facts: &FileFacts, expr: ExprId) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut at = Some(expr);
    while let Some(id) = at.filter(|_| parts.len() < 8) {
        let row = facts.expr(id);
        at = match row.kind {
            ExprKind::Call | ExprKind::New | ExprKind::Jsx if parts.is_empty() => facts.operand(id, 0),
            ExprKind::Attr | ExprKind::MethodRef => {
                parts.push(facts.text(row.name));
                facts.operand(id, 0)
            }
            ExprKind::Name => {
                parts.push(facts.text(row.name));
                None
            }
            ExprKind::This => {
                parts.push("this");
                None
            }
            ExprKind::Super => {
                parts.push("super");
                None
            }
            ExprKind::TypeValue | ExprKind::ClassValue if parts.is_empty() => {
                let named = row.ty.and_then(|ty| facts.type_row(ty).expr);
                named.filter(|named| named.index() < id.index())
            }
            _ if parts.is_empty() => None,
            _ => {
                parts.push("…");
                None
            }
        };
    }
    parts.reverse();
    parts.join(".")
}
