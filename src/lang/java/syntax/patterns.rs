//! Patterns, `switch`, `instanceof`, and what tests say of the chains they look at.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::{
    Binding, Expr, ExprId, ExprKind, LiteralKind, Narrowing, NarrowingKind, Origin, RefKind, Step, StepKind, TypeId,
};
use crate::facts::table::Cell;
use crate::lang::java::syntax::kinds::{F, K, field, kind};
use crate::lang::java::syntax::types::named;
use crate::lang::java::syntax::{Walk, row, value};
use crate::lang::node;

/// What an expression says about chains when it is true, and when it is false.
#[derive(Clone, Debug, Default)]
pub(super) struct Tests {
    pub yes: Vec<Test>,
    pub no: Vec<Test>,
}

/// A chain is, or is not, an instance of a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Test {
    chain: ExprId,
    ty: TypeId,
    kind: NarrowingKind,
}

impl Walk<'_> {
    /// Adds a narrowing for each test over a range of lines.
    pub(super) fn narrow(&mut self, b: &mut FactsBuilder, tests: &[Test], start_line: u32, end_line: u32) {
        for test in tests {
            let (scope, end_line) = (b.scope(), end_line.max(start_line));
            let Test { chain, ty, kind } = *test;
            b.narrowing(Narrowing { scope, kind, chain, ty: Some(ty), name: None, start_line, end_line });
        }
    }

    /// `e instanceof T`, `e instanceof T x`, `e instanceof R(T x, var y)`.
    pub(super) fn instanceof(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let mut subject = None;
        let mut ty = None;
        for child in node::named_children(at) {
            match kind(child) {
                K::RecordPattern => ty = self.record_pattern(b, child, subject, &mut Vec::new()),
                child_kind if child_kind.is_type() && subject.is_some() => ty = self.ty(b, child),
                child_kind if child_kind.is_expression() && subject.is_none() => {
                    subject = Some(self.expression(b, child));
                }
                K::Error => self.recover(b, child),
                _ => {}
            }
        }
        if let Some(name_node) = field(at, F::Name) {
            self.bind_name(b, Origin::Pattern, name_node, ty, subject);
        }
        self.tests = Tests::default();
        if let Some((chain, ty)) = tested(b, subject, ty) {
            self.tests.yes.push(Test { chain, ty, kind: NarrowingKind::Instance });
            self.tests.no.push(Test { chain, ty, kind: NarrowingKind::NotInstance });
        }
        let operands: Vec<_> = subject.into_iter().map(value).collect();
        b.push_expr(Expr { detail: LiteralKind::Bool.to_cell() as u32 + 1, ..row(ExprKind::Operator) }, &operands)
    }

    /// A `case` pattern: captures are bound to `subject`. Gives the type it asks for.
    fn pattern(&mut self, b: &mut FactsBuilder, at: Node<'_>, subject: Option<ExprId>) -> Option<TypeId> {
        let mut ty = None;
        for child in node::named_children(at) {
            match kind(child) {
                K::RecordPattern => ty = self.record_pattern(b, child, subject, &mut Vec::new()),
                K::TypePattern => ty = self.capture(b, child, subject, &[]),
                K::Error => self.recover(b, child),
                _ => {}
            }
        }
        ty
    }

    /// `T x` in a pattern: binds `x` to the part of `subject` that `steps` lead to.
    fn capture(
        &mut self,
        b: &mut FactsBuilder,
        at: Node<'_>,
        subject: Option<ExprId>,
        steps: &[Step],
    ) -> Option<TypeId> {
        let (mut ty, mut name_node) = (None, None);
        for child in node::named_children(at) {
            match kind(child) {
                K::Identifier => name_node = Some(child),
                child_kind if child_kind.is_type() => ty = self.ty(b, child),
                _ => {}
            }
        }
        if let Some(name_node) = name_node {
            let name = b.intern(&self.text(name_node));
            let binding = b.binding(Origin::Pattern, node::start_line(name_node), node::column(name_node));
            b.bind(Binding { name: Some(name), ty, value: subject, ..binding }, steps);
        }
        ty
    }

    /// `R(T x, var y, S(…))`: components are steps by position into `subject` seen as `R`.
    fn record_pattern(
        &mut self,
        b: &mut FactsBuilder,
        at: Node<'_>,
        subject: Option<ExprId>,
        steps: &mut Vec<Step>,
    ) -> Option<TypeId> {
        b.nested(|b| self.record_pattern_inner(b, at, subject, steps)).flatten()
    }

    fn record_pattern_inner(
        &mut self,
        b: &mut FactsBuilder,
        at: Node<'_>,
        subject: Option<ExprId>,
        steps: &mut Vec<Step>,
    ) -> Option<TypeId> {
        let mut ty = None;
        for child in node::named_children(at) {
            match kind(child) {
                K::Identifier => {
                    let expr = self.name(b, child);
                    self.refer(b, RefKind::Type, expr, child, child);
                    ty = Some(named(b, expr, 0, &[]));
                }
                child_kind if child_kind.is_type() => ty = self.ty(b, child),
                K::RecordPatternBody => {
                    // Inside a nested pattern the way in starts anew: its own type is known.
                    let whole = subject
                        .filter(|_| steps.is_empty())
                        .map(|s| b.push_expr(Expr { ty, ..row(ExprKind::Cast) }, &[value(s)]));
                    let subject = whole.or(subject);
                    let mut position = 0;
                    for component in node::named_children(child) {
                        match kind(component) {
                            K::RecordPattern | K::RecordPatternComponent => {
                                steps.push(Step { kind: StepKind::Position, name: None, detail: position });
                                position += 1;
                                if kind(component) == K::RecordPattern {
                                    self.record_pattern(b, component, subject, steps);
                                } else {
                                    self.capture(b, component, subject, steps);
                                }
                                steps.pop();
                            }
                            K::Error => self.recover(b, component),
                            _ => {}
                        }
                    }
                }
                K::Error => self.recover(b, child),
                _ => {}
            }
        }
        ty
    }

    /// A `switch`, as statement or expression: a choice of its rules' results and yields.
    pub(super) fn switch(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let subject = field(at, F::Condition).map(|c| self.expression(b, c));
        self.switches.push(Vec::new());
        if let Some(body) = field(at, F::Body) {
            let outer_end = std::mem::replace(&mut self.block_end, node::end_line(body));
            self.block_scope(b, body, |walk, b| {
                for part in node::named_children(body) {
                    match kind(part) {
                        K::SwitchRule => walk.block_scope(b, part, |walk, b| walk.switch_part(b, part, subject)),
                        K::SwitchBlockStatementGroup => walk.switch_part(b, part, subject),
                        part_kind if part_kind.is_comment() => {}
                        _ => walk.item(b, part, None),
                    }
                }
            });
            self.block_end = outer_end;
        }
        let operands = self.switches.pop().unwrap_or_default();
        b.compound(ExprKind::Choice, None, &operands)
    }

    /// `case A, B -> …` or `case A: …`.
    fn switch_part(&mut self, b: &mut FactsBuilder, at: Node<'_>, subject: Option<ExprId>) {
        let is_rule = kind(at) == K::SwitchRule;
        for child in node::named_children(at) {
            match kind(child) {
                K::SwitchLabel => self.switch_label(b, child, subject, node::end_line(at)),
                K::ExpressionStatement if is_rule => {
                    for expression in node::named_children(child).filter(|c| kind(*c).is_expression()) {
                        let given = self.expression(b, expression);
                        if let Some(values) = self.switches.last_mut() {
                            values.push(value(given));
                        }
                    }
                }
                child_kind if child_kind.is_comment() => {}
                _ => self.item(b, child, None),
            }
        }
    }

    /// A bare name in a label is a constant of the subject's enum, or else a name in scope.
    fn switch_label(&mut self, b: &mut FactsBuilder, at: Node<'_>, subject: Option<ExprId>, end_line: u32) {
        for child in node::named_children(at) {
            match kind(child) {
                // The grammar reads the keyword of `case null, default` as a name.
                K::Identifier if self.text(child) == "default" => {}
                K::Identifier => {
                    let name = b.intern(&self.text(child));
                    let expr = match subject {
                        Some(subject) => {
                            b.push_expr(Expr { name: Some(name), detail: 1, ..row(ExprKind::Attr) }, &[value(subject)])
                        }
                        None => b.leaf(ExprKind::Name, Some(name), 0),
                    };
                    self.refer(b, RefKind::Read, expr, child, child);
                }
                K::Pattern => {
                    let ty = self.pattern(b, child, subject);
                    if let Some((chain, ty)) = tested(b, subject, ty) {
                        let test = Test { chain, ty, kind: NarrowingKind::Instance };
                        self.narrow(b, &[test], node::start_line(child), end_line);
                    }
                }
                K::Guard => self.children(b, child),
                child_kind if child_kind.is_comment() => {}
                _ => self.item(b, child, None),
            }
        }
    }
}

/// The chain and type of a test, where the subject is a chain.
fn tested(b: &FactsBuilder, subject: Option<ExprId>, ty: Option<TypeId>) -> Option<(ExprId, TypeId)> {
    let chain = subject.filter(|s| matches!(b.facts().expr(*s).kind, ExprKind::Name | ExprKind::Attr))?;
    Some((chain, ty?))
}
