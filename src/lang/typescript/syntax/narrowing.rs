//! Narrowings: what a condition says of a chain, over the lines where it holds.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::typescript::syntax::Walk;
use crate::lang::typescript::syntax::expressions::is_identifier;
use crate::lang::typescript::syntax::kinds::K;

/// How many conditions one narrowing looks at.
const MAX_CONDITIONS: u32 = 24;

/// Whether the condition is true or false where the narrowing holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    True,
    False,
}

impl Holds {
    fn other(self) -> Self {
        match self {
            Holds::True => Holds::False,
            Holds::False => Holds::True,
        }
    }
}

impl Walk<'_> {
    /// Narrows by a condition over `lines`.
    pub(super) fn narrow(&mut self, b: &mut FactsBuilder, condition: Node<'_>, holds: Holds, lines: (u32, u32)) {
        // Of `a && b && c && …` the first conditions are read; n of them would cost n² rows.
        if self.conditions >= MAX_CONDITIONS {
            return;
        }
        self.conditions += 1;
        let outermost = self.conditions == 1;
        self.narrow_here(b, condition, holds, lines);
        if outermost {
            self.conditions = 0;
        }
    }

    fn narrow_here(&mut self, b: &mut FactsBuilder, condition: Node<'_>, holds: Holds, lines: (u32, u32)) {
        let condition = self.bare(condition);
        match self.k(condition) {
            K::UnaryExpression => {
                let not = self.field(condition, self.f.operator).is_some_and(|o| self.k(o) == K::TNot);
                if let Some(inner) = self.first(condition).filter(|_| not) {
                    self.narrow(b, inner, holds.other(), lines);
                }
            }
            K::BinaryExpression => self.narrow_binary(b, condition, holds, lines),
            K::Identifier | K::MemberExpression => {
                let kind = if holds == Holds::True { NarrowingKind::NotNull } else { NarrowingKind::Null };
                self.narrowing(b, condition, kind, None, None, lines);
            }
            _ => {}
        }
    }

    fn narrow_binary(&mut self, b: &mut FactsBuilder, node: Node<'_>, holds: Holds, lines: (u32, u32)) {
        let (Some(left), Some(right)) = (self.field(node, self.f.left), self.field(node, self.f.right)) else { return };
        let operator = self.field(node, self.f.operator).map_or(K::Other, |o| self.k(o));
        match operator {
            // `a && b` is true where both are; `a || b` is false where neither is.
            K::TAnd if holds == Holds::True => {
                self.narrow(b, left, holds, lines);
                self.narrow(b, right, holds, lines);
            }
            K::TOr if holds == Holds::False => {
                self.narrow(b, left, holds, lines);
                self.narrow(b, right, holds, lines);
            }
            K::TInstanceof => {
                let kind = match holds {
                    Holds::True => NarrowingKind::Instance,
                    Holds::False => NarrowingKind::NotInstance,
                };
                let Some(class) = self.quiet(b, right) else { return };
                let row = TypeRow {
                    kind: TypeKind::Named,
                    expr: Some(class),
                    name: None,
                    scope: None,
                    detail: 0,
                    first: 0,
                    len: 0,
                };
                let ty = b.push_type(row, &[]);
                self.narrowing(b, left, kind, Some(ty), None, lines);
            }
            K::TIn if holds == Holds::True => {
                let Some(key) = self.constant(left).filter(|key| is_identifier(key)) else { return };
                let name = b.intern(&key);
                self.narrowing(b, right, NarrowingKind::Discriminant, None, Some(name), lines);
            }
            K::TStrictEq | K::TEq => self.narrow_equal(b, left, right, holds, lines),
            K::TStrictNe | K::TNe => self.narrow_equal(b, left, right, holds.other(), lines),
            _ => {}
        }
    }

    fn narrow_equal(&mut self, b: &mut FactsBuilder, left: Node<'_>, right: Node<'_>, holds: Holds, lines: (u32, u32)) {
        let (chain, other) = match self.k(self.bare(left)) {
            K::Null | K::Undefined | K::String => (self.bare(right), self.bare(left)),
            _ => (self.bare(left), self.bare(right)),
        };
        match (self.k(chain), self.k(other)) {
            (_, K::Null | K::Undefined) => {
                let kind = if holds == Holds::True { NarrowingKind::Null } else { NarrowingKind::NotNull };
                self.narrowing(b, chain, kind, None, None, lines);
            }
            // `typeof x === "function"`: the names of types are a closed set, not literals of the code.
            (K::UnaryExpression, K::String) => {
                let of = self.field(chain, self.f.operator).is_some_and(|o| self.k(o) == K::TTypeof);
                let name = self.constant(other).filter(|name| TYPEOF.contains(&&**name));
                let (Some(inner), Some(name)) = (self.first(chain).filter(|_| of), name) else { return };
                let kind = if holds == Holds::True { NarrowingKind::Typeof } else { NarrowingKind::NotTypeof };
                let name = b.intern(&name);
                self.narrowing(b, inner, kind, None, Some(name), lines);
            }
            // `x.kind === …` narrows `x` by `kind`.
            (K::MemberExpression, K::String | K::MemberExpression | K::True | K::False | K::Number)
                if holds == Holds::True =>
            {
                let (Some(object), Some(key)) = (self.field(chain, self.f.object), self.field(chain, self.f.property))
                else {
                    return;
                };
                let name = self.name(b, key);
                self.narrowing(b, object, NarrowingKind::Discriminant, None, Some(name), lines);
            }
            _ => {}
        }
    }

    /// Narrows in a `case` of `switch (on)`.
    pub(super) fn narrow_case(
        &mut self,
        b: &mut FactsBuilder,
        on: Node<'_>,
        value: Option<Node<'_>>,
        lines: (u32, u32),
    ) {
        let on = self.bare(on);
        if let Some(value) = value {
            self.narrow_equal(b, on, value, Holds::True, lines);
        }
    }

    /// After `if (c) return;` the condition is false up to the end of the block.
    pub(super) fn narrow_after(&mut self, b: &mut FactsBuilder, node: Node<'_>, end: u32) {
        if self.field(node, self.f.alternative).is_some() {
            return;
        }
        let (Some(condition), Some(then)) = (self.field(node, self.f.condition), self.field(node, self.f.consequence))
        else {
            return;
        };
        let start = crate::lang::node::end_line(node) + 1;
        if self.leaves(then) && start <= end {
            self.narrow(b, condition, Holds::False, (start, end));
        }
    }

    /// Whether a statement always leaves the block around it.
    fn leaves(&self, node: Node<'_>) -> bool {
        match self.k(node) {
            K::ReturnStatement | K::ThrowStatement | K::ContinueStatement | K::BreakStatement => true,
            K::StatementBlock => self.content(node).last().is_some_and(|last| {
                matches!(
                    self.k(last),
                    K::ReturnStatement | K::ThrowStatement | K::ContinueStatement | K::BreakStatement
                )
            }),
            _ => false,
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn narrowing(
        &mut self,
        b: &mut FactsBuilder,
        chain: Node<'_>,
        kind: NarrowingKind,
        ty: Option<TypeId>,
        name: Option<NameId>,
        (start_line, end_line): (u32, u32),
    ) {
        let Some(chain) = self.quiet(b, chain) else { return };
        let scope = b.scope();
        b.narrowing(Narrowing { scope, kind, chain, ty, name, start_line, end_line });
    }

    /// The row of a chain of plain names, without references (the condition has made them).
    fn quiet(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> Option<ExprId> {
        let chain = self.chain(self.bare(node))?;
        let mut expr = None;
        for part in chain.split('.') {
            expr = Some(match expr {
                None if part == "this" => b.leaf(ExprKind::This, None, 0),
                None => {
                    let name = b.intern(part);
                    b.leaf(ExprKind::Name, Some(name), 0)
                }
                Some(inner) => {
                    let name = b.intern(part);
                    b.compound(ExprKind::Attr, Some(name), &[Operand { role: Role::Value, name: None, expr: inner }])
                }
            });
        }
        expr
    }
}

const TYPEOF: &[&str] = &["string", "number", "bigint", "boolean", "symbol", "undefined", "object", "function"];
