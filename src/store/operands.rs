//! Which expression an operand is, against what the order of expressions lets expect.
//!
//! Expressions are made children first, so that the operands of the next one are, nearly always,
//! those last made that are nobody's operand yet. What is stored is the difference from that
//! guess: 0 for 97 of 100 operands, where the difference from the operand before took a
//! fiftieth of a pack.

use crate::facts::model::{Expr, ExprId, Operand};
use crate::facts::table::Cell;
use crate::store::coding::{unzigzag, zigzag};

/// Turns the expressions of a file's operands into what is stored.
pub fn encode(exprs: &[Expr], cells: &mut [u64]) {
    let n_operands = cells.len();
    walk(exprs, n_operands, |at, guess| {
        let actual = cells[at];
        cells[at] = zigzag(actual, guess);
        actual
    });
}

/// Turns what is stored into the expressions of a file's operands again; `None` where a number
/// stands for no expression.
pub fn decode(exprs: &[Expr], operands: &mut [Operand]) -> Option<()> {
    let mut is_whole = true;
    walk(exprs, operands.len(), |at, guess| {
        let actual = unzigzag(operands[at].expr.to_cell(), guess);
        match ExprId::from_cell(actual) {
            Some(expr) => operands[at].expr = expr,
            None => is_whole = false,
        }
        actual
    });
    is_whole.then_some(())
}

/// Visits every operand once, the last of an expression first, with the guess; `visit` gives what
/// it is. O(expressions + operands), whatever their numbers.
fn walk(exprs: &[Expr], n_operands: usize, mut visit: impl FnMut(usize, u64) -> u64) {
    // Expressions that are nobody's operand yet, ascending.
    let mut free: Vec<u64> = Vec::new();
    let mut first = 0;
    for (expr, row) in (0..).zip(exprs) {
        let end = n_operands.min(first + row.len as usize);
        for at in (first..end).rev() {
            let actual = visit(at, free.last().copied().unwrap_or_default());
            // What was made after an operand lies within the operands to its right.
            while free.last().is_some_and(|last| *last >= actual) {
                free.pop();
            }
        }
        first = end;
        free.push(expr);
    }
    for at in first..n_operands {
        visit(at, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};
    use crate::facts::model::{Expr, ExprId, ExprKind, NameId, Operand, Role};
    use crate::facts::table::{Cell, Id};

    fn expr(len: u32) -> Expr {
        let name: Option<NameId> = None;
        Expr { kind: ExprKind::Call, name, ty: None, scope: None, symbol: None, detail: 0, first: 0, len }
    }

    fn check(lens: &[u32], operands: &[usize], stored: Option<&[u64]>) {
        let exprs: Vec<Expr> = lens.iter().map(|len| expr(*len)).collect();
        let mut cells: Vec<u64> = operands.iter().map(|at| *at as u64).collect();
        encode(&exprs, &mut cells);
        if let Some(stored) = stored {
            assert_eq!(cells, stored);
        }
        let row = |cell: &u64| Operand { role: Role::Value, name: None, expr: ExprId::from_cell(*cell).unwrap() };
        let mut rows: Vec<Operand> = cells.iter().map(row).collect();
        decode(&exprs, &mut rows).unwrap();
        assert_eq!(rows.iter().map(|row| row.expr.index()).collect::<Vec<_>>(), operands);
    }

    #[test]
    fn what_is_made_children_first_is_stored_as_nothing() {
        // f(x, g(y)): f 0, x 1, g 2, y 3, g(y) 4, f(…) 5.
        check(&[0, 0, 0, 0, 2, 3], &[2, 3, 0, 1, 4], Some(&[0; 5]));
        // A statement's expression (1) that stands between an operand and its parent.
        check(&[0, 0, 0, 2], &[0, 2], Some(&[1, 0]));
    }

    #[test]
    fn any_operands_come_back() {
        check(&[2, 0, 3], &[7, 0, 5, 5, 1, 900], None);
        check(&[u32::MAX, 1], &[3, 4], None);
        check(&[], &[1], None);
    }
}
