//! Narrowings: what a condition says of a chain, over the lines where it holds.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::node::start_line;
use crate::lang::typescript::syntax::Walk;
use crate::lang::typescript::syntax::expressions::is_identifier;
use crate::lang::typescript::syntax::kinds::K;
use crate::lang::typescript::syntax::types::{argument, row};

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
            K::CallExpression => self.narrow_by_call(b, condition, holds, lines),
            _ => {}
        }
    }

    /// `isFoo(x)` and `x.isFoo()`: whether they narrow `x` is for the declared result to say.
    fn narrow_by_call(&mut self, b: &mut FactsBuilder, call: Node<'_>, holds: Holds, lines: (u32, u32)) {
        let Some(callee) = self.field(call, self.f.function) else { return };
        let argument = self.field(call, self.f.arguments).and_then(|arguments| self.first(arguments));
        let kind = if holds == Holds::True { NarrowingKind::Guard } else { NarrowingKind::NotGuard };
        let narrowed = match (argument, self.k(callee)) {
            (Some(argument), _) => argument,
            (None, K::MemberExpression) => match self.field(callee, self.f.object) {
                Some(object) => object,
                None => return,
            },
            _ => return,
        };
        if self.chain(self.bare(narrowed)).is_none() {
            return;
        }
        // The test itself is of what is not narrowed yet.
        let Some(lines) = (if argument.is_some() { Some(lines) } else { after(call, lines) }) else { return };
        let Some(callee) = self.quiet(b, callee) else { return };
        let ty = self.typeof_row(b, callee);
        self.narrowing(b, narrowed, kind, Some(ty), None, lines);
    }

    fn typeof_row(&self, b: &mut FactsBuilder, expr: ExprId) -> TypeId {
        let row =
            TypeRow { kind: TypeKind::Typeof, expr: Some(expr), name: None, scope: None, detail: 0, first: 0, len: 0 };
        b.push_type(row, &[])
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
            K::TOr => {
                // `x.kind === "a" || x.kind === "b"`.
                let mut values = Vec::new();
                if let Some((object, key)) = self.alternatives(node, &mut values, 0) {
                    self.narrow_by_key(b, object, key, &values, Holds::True, lines);
                }
                // `x instanceof A || x instanceof B`.
                let mut classes = Vec::new();
                if let Some(tested) = self.instances(node, &mut classes, 0) {
                    let types: Vec<TypeOperand> =
                        classes.into_iter().filter_map(|class| self.instance_row(b, class)).map(argument).collect();
                    let ty = b.push_type(row(TypeKind::Union), &types);
                    self.narrowing(b, tested, NarrowingKind::Instance, Some(ty), None, lines);
                }
            }
            K::TInstanceof => {
                let kind = match holds {
                    Holds::True => NarrowingKind::Instance,
                    Holds::False => NarrowingKind::NotInstance,
                };
                let Some(ty) = self.instance_row(b, right) else { return };
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

    /// The type of what is an instance of a class that is named in a test.
    fn instance_row(&mut self, b: &mut FactsBuilder, class: Node<'_>) -> Option<TypeId> {
        let class = self.quiet(b, class)?;
        Some(b.push_type(TypeRow { expr: Some(class), ..row(TypeKind::Named) }, &[]))
    }

    /// What an `or` tests for instances of several classes, which it adds to `classes`; `None` for
    /// one that tests anything else, too.
    fn instances<'t>(&self, node: Node<'t>, classes: &mut Vec<Node<'t>>, depth: u32) -> Option<Node<'t>> {
        let node = self.bare(node);
        if depth > MAX_CONDITIONS || self.k(node) != K::BinaryExpression {
            return None;
        }
        let (left, right) = (self.field(node, self.f.left)?, self.field(node, self.f.right)?);
        match self.field(node, self.f.operator).map(|o| self.k(o))? {
            K::TOr => {
                let one = self.instances(left, classes, depth + 1)?;
                let other = self.instances(right, classes, depth + 1)?;
                (self.text(one) == self.text(other)).then_some(one)
            }
            K::TInstanceof => {
                classes.push(right);
                Some(self.bare(left))
            }
            _ => None,
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
            (K::MemberExpression, K::String | K::MemberExpression | K::True | K::False | K::Number) => {
                let (Some(object), Some(key)) = (self.field(chain, self.f.object), self.field(chain, self.f.property))
                else {
                    return;
                };
                self.narrow_by_key(b, object, key, &[other], holds, lines);
            }
            _ => {}
        }
    }

    /// `object.key` is, or is not, one of several values.
    fn narrow_by_key(
        &mut self,
        b: &mut FactsBuilder,
        object: Node<'_>,
        key: Node<'_>,
        values: &[Node<'_>],
        holds: Holds,
        lines: (u32, u32),
    ) {
        let Some(lines) = after(key, lines) else { return };
        if self.chain(self.bare(object)).is_none() {
            return;
        }
        let mut types = Vec::with_capacity(values.len());
        for value in values {
            let ty = match self.k(*value) {
                K::String | K::Number | K::True | K::False => self.literal_type(b, *value),
                K::MemberExpression => match self.quiet(b, *value) {
                    Some(expr) => self.typeof_row(b, expr),
                    None => return,
                },
                _ => return,
            };
            types.push(TypeOperand { role: TypeRole::Argument, name: None, ty });
        }
        let ty = match types.as_slice() {
            [] => return,
            [only] => only.ty,
            several => {
                let row =
                    TypeRow { kind: TypeKind::Union, expr: None, name: None, scope: None, detail: 0, first: 0, len: 0 };
                b.push_type(row, several)
            }
        };
        let kind = if holds == Holds::True { NarrowingKind::Discriminant } else { NarrowingKind::NotDiscriminant };
        let name = self.name(b, key);
        self.narrowing(b, object, kind, Some(ty), Some(name), lines);
    }

    /// The object and key that every part of `x.k === a || x.k === b || …` compares, with the values.
    fn alternatives<'t>(&self, node: Node<'t>, values: &mut Vec<Node<'t>>, depth: u32) -> Option<(Node<'t>, Node<'t>)> {
        let node = self.bare(node);
        if depth > MAX_CONDITIONS || self.k(node) != K::BinaryExpression {
            return None;
        }
        let (left, right) = (self.field(node, self.f.left)?, self.field(node, self.f.right)?);
        match self.field(node, self.f.operator).map(|operator| self.k(operator))? {
            K::TOr => {
                let (object, key) = self.alternatives(left, values, depth + 1)?;
                let (other_object, other_key) = self.alternatives(right, values, depth + 1)?;
                let is_same = self.text(key) == self.text(other_key)
                    && self.chain(self.bare(object)) == self.chain(self.bare(other_object));
                is_same.then_some((object, key))
            }
            K::TStrictEq | K::TEq => {
                let chain = self.bare(left);
                if self.k(chain) != K::MemberExpression {
                    return None;
                }
                values.push(self.bare(right));
                Some((self.field(chain, self.f.object)?, self.field(chain, self.f.property)?))
            }
            _ => None,
        }
    }

    /// Narrows in a `case` of `switch (on)`, whose values may be several where cases fall through,
    /// and in its `default`, where it is none of them.
    pub(super) fn narrow_case(
        &mut self,
        b: &mut FactsBuilder,
        on: Node<'_>,
        values: &[Node<'_>],
        holds: Holds,
        lines: (u32, u32),
    ) {
        let on = self.bare(on);
        if self.k(on) == K::MemberExpression
            && let (Some(object), Some(key)) = (self.field(on, self.f.object), self.field(on, self.f.property))
        {
            let values: Vec<Node<'_>> = values.iter().map(|value| self.bare(*value)).collect();
            self.narrow_by_key(b, object, key, &values, holds, lines);
        } else if let ([value], Holds::True) = (values, holds) {
            self.narrow_equal(b, on, *value, Holds::True, lines);
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
    pub(super) fn leaves(&self, node: Node<'_>) -> bool {
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

/// The lines below a test: narrowings are by line, and on its own all values are still possible.
fn after(test: Node<'_>, (start, end): (u32, u32)) -> Option<(u32, u32)> {
    let first = start.max(crate::lang::node::end_line(test) + 1);
    // A branch may stand above its test only in `do … while`.
    if end < start_line(test) {
        return Some((start, end));
    }
    (first <= end).then_some((first, end))
}

const TYPEOF: &[&str] = &["string", "number", "bigint", "boolean", "symbol", "undefined", "object", "function"];
