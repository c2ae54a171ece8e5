//! Code that runs only where an argument is given that may be left out: who calls the function
//! without it does not run that code.
//!
//! `if (!deep) return …`, then a call: callers that leave `deep` out do not reach the call. Told by
//! the ranges of lines over which a test says that the parameter is not null, where nothing assigns it.

use std::collections::HashSet;
use std::rc::Rc;

use crate::base::dialect::LanguageName;
use crate::facts::model::*;
use crate::facts::table::Cell;
use crate::graph::edge::{Edge, EdgeKind};
use crate::impact::code::refs_on;
use crate::impact::step::{Steps, is_constructor};
use crate::lang::testing::{decorator_names, last_name};
use crate::view::SymbolRef;

/// Lines of a function that run only where an argument is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnlyGiven {
    /// The parameter's position among the function's, `self` included.
    pub position: u32,
    /// Inclusive.
    pub lines: (u32, u32),
}

impl Steps<'_> {
    /// The node of a line of a symbol's code: of the symbol as run by those who give an argument,
    /// where the line runs only then.
    pub(super) fn node_at(&self, at: SymbolRef, line: u32) -> u32 {
        let known = self.given.borrow().get(&at).cloned();
        let known = known.unwrap_or_else(|| {
            let facts = self.view.facts(at.file);
            let is_run = !self.is_test(at) && facts.symbol(at.symbol).kind.is_function();
            let found: Rc<[OnlyGiven]> = if is_run { only_given(facts, at.symbol).into() } else { Rc::new([]) };
            self.given.borrow_mut().insert(at, found.clone());
            found
        });
        let row = known.iter().find(|row| row.lines.0 <= line && line <= row.lines.1);
        row.map_or_else(|| self.space.symbol(at), |row| self.space.when_given(at, row.position))
    }

    /// Whether an edge is a call that leaves the argument at a position of what it calls out.
    pub(super) fn leaves_out(&self, edge: &Edge, at: SymbolRef, position: u32) -> bool {
        if edge.kind != EdgeKind::Calls || edge.to != at {
            return false;
        }
        let (facts, user) = (self.view.facts(at.file), self.view.facts(edge.from.file));
        let symbol = facts.symbol(at.symbol);
        let class = symbol.parent.filter(|_| is_constructor(facts, at.symbol));
        let names = [Some(at.symbol), class].map(|of| of.map(|of| facts.name(facts.symbol(of).name)));
        let Some(scope) = symbol.scope else { return false };
        let Some(name) = facts.params_of(scope).get(position as usize).and_then(|param| param.name) else {
            return false;
        };
        // A method may be called on its class, with the receiver given: then this is too few.
        let is_method = symbol.parent.is_some_and(|p| facts.symbol(p).kind.is_class());
        let n_own = u32::from(is_method && facts.dialect.language() == LanguageName::Python);
        let n_before = position.saturating_sub(n_own) as usize;
        let mut calls = refs_on(user, edge.line)
            .filter(|row| row.owner == edge.from.symbol && names.contains(&Some(last_name(user, row.expr))))
            .peekable();
        calls.peek().is_some()
            && calls.all(|row| {
                let is_call = matches!(user.expr(row.expr).kind, ExprKind::Call | ExprKind::New)
                    && matches!(row.kind, RefKind::Call | RefKind::New);
                let arguments = || user.operands_of(row.expr).iter().skip(1);
                is_call
                    && arguments().filter(|o| o.role == Role::Value).count() <= n_before
                    && arguments().all(|o| match o.role {
                        Role::Value | Role::TypeArgument => true,
                        Role::Keyword => o.name.is_some_and(|given| user.name(given) != facts.name(name)),
                        _ => false,
                    })
            })
    }
}

/// The lines of a function that run only where an argument is given, by position and line.
fn only_given(facts: &FileFacts, function: SymbolId) -> Vec<OnlyGiven> {
    let symbol = facts.symbol(function);
    let Some(scope) = symbol.scope.filter(|_| facts.dialect.language() != LanguageName::Java) else {
        return Vec::new();
    };
    let is_inside = |line: u32| (symbol.start_line..=symbol.end_line).contains(&line);
    // A decorator may give arguments of its own; a declared `this` is no argument.
    let is_plain_call = decorator_names(facts, function).all(|name| matches!(name, "staticmethod" | "classmethod"))
        && facts.params_of(scope).iter().all(|param| param.kind != ParamKind::This);
    if !is_plain_call || !facts.narrowings.iter().any(|row| is_inside(row.start_line)) {
        return Vec::new();
    }
    // A lambda may have a parameter of the same name.
    let is_own = |row: &&Narrowing| {
        let mut at = row.scope;
        while at != scope {
            match facts.scope(at).parent.filter(|_| facts.scope(at).kind == ScopeKind::Block) {
                Some(parent) => at = parent,
                None => return false,
            }
        }
        true
    };
    let assigned: HashSet<NameId> =
        facts.bindings.iter().filter(|row| is_inside(row.line)).filter_map(|row| row.name).collect();
    let mut out = Vec::new();
    for (position, param) in facts.params_of(scope).iter().enumerate() {
        let is_null = |default: ExprId| {
            let row = facts.expr(default);
            let is_literal = row.kind == ExprKind::Literal
                && LiteralKind::from_cell(u64::from(row.detail)) == Some(LiteralKind::Null);
            is_literal || (row.kind == ExprKind::Name && facts.text(row.name) == "undefined")
        };
        let may_be_left_out = match facts.dialect.language() {
            LanguageName::Python => param.default.is_some_and(is_null),
            _ => param.default.is_none_or(is_null),
        };
        let is_plain = matches!(param.kind, ParamKind::Positional | ParamKind::PositionalOnly | ParamKind::Keyword);
        let Some(name) = param.name.filter(|_| may_be_left_out && is_plain) else { continue };
        if assigned.contains(&name) {
            continue;
        }
        let own: Vec<&Narrowing> = facts
            .narrowings
            .iter()
            .filter(|row| is_inside(row.start_line))
            .filter(is_own)
            .filter(|row| facts.expr(row.chain).kind == ExprKind::Name && facts.expr(row.chain).name == Some(name))
            .collect();
        for row in own.iter().filter(|row| row.kind == NarrowingKind::NotNull) {
            // Behind `if (!x) return`, to the end of the block.
            let is_behind = row.end_line == facts.scope(row.scope).end_line
                && own.iter().any(|other| {
                    other.kind == NarrowingKind::Null
                        && other.scope == row.scope
                        && other.end_line + 1 == row.start_line
                });
            // Of a branch the first and the last line may hold the test, or what is no part of it.
            let lines = if is_behind {
                (row.start_line, row.end_line)
            } else {
                (row.start_line + 1, row.end_line.saturating_sub(1))
            };
            if lines.0 <= lines.1 {
                out.push(OnlyGiven { position: position as u32, lines });
            }
        }
    }
    out
}
