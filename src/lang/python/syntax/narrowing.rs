//! What tests say of a chain: `isinstance`, `is None`, truth, `callable`, `and`, `or`, `not`.

use tree_sitter::Node;

use crate::facts::model::*;
use crate::lang::node::named_children;
use crate::lang::python::syntax::Walk;
use crate::lang::python::syntax::expressions::operand;
use crate::lang::python::syntax::grammar::{FIELDS, Kind, child, is_extra, kind};

/// One thing that a test says.
#[derive(Clone, Copy, Debug)]
pub struct Tested {
    pub kind: NarrowingKind,
    pub chain: ExprId,
    pub ty: Option<TypeId>,
    pub name: Option<NameId>,
}

/// What a condition says where it holds, and where it fails.
#[derive(Debug, Default)]
pub struct Tests {
    pub holds: Vec<Tested>,
    pub fails: Vec<Tested>,
}

impl Walk<'_> {
    /// What a condition, already read, says of chains. Records no reference.
    pub fn tests(&mut self, condition: Node<'_>) -> Tests {
        if self.s.quiet {
            return Tests::default();
        }
        self.quietly(|w| w.tests_in(condition))
    }

    /// Records what was tested for a range of lines; an empty range is nothing.
    pub fn narrow(&mut self, tested: &[Tested], (start_line, end_line): (u32, u32)) {
        if end_line < start_line || self.s.quiet {
            return;
        }
        let scope = self.b.scope();
        for Tested { kind, chain, ty, name } in tested.iter().copied() {
            self.b.narrowing(Narrowing { scope, kind, chain, ty, name, start_line, end_line });
        }
    }

    /// As [`Walk::narrow`], unless `other`, which the test does not cover, shares a line with the
    /// range and names the same chain.
    pub fn narrow_where(&mut self, tested: &[Tested], lines: (u32, u32), other: Node<'_>) {
        let shares = self.line(other) <= lines.1 && self.end_line(other) >= lines.0;
        for one in tested {
            let root = self.root_name(one.chain).map(|name| self.b.facts().name(name).to_owned());
            let named = root.is_some_and(|root| self.text(other).contains(root.as_str()));
            if !(shares && named) {
                self.narrow(&[*one], lines);
            }
        }
    }

    fn root_name(&self, chain: ExprId) -> Option<NameId> {
        let facts = self.b.facts();
        let mut at = chain;
        while let (ExprKind::Attr, Some(object)) = (facts.expr(at).kind, facts.operand(at, 0)) {
            at = object;
        }
        facts.expr(at).name
    }

    fn tests_in(&mut self, node: Node<'_>) -> Tests {
        self.deeper(|w| w.tests_of(node)).unwrap_or_default()
    }

    fn tests_of(&mut self, node: Node<'_>) -> Tests {
        match kind(node) {
            Kind::Parenthesized => match named_children(node).find(|part| !is_extra(*part)) {
                Some(inner) => self.tests_in(inner),
                None => Tests::default(),
            },
            Kind::Not => match child(node, FIELDS.argument) {
                Some(inner) => {
                    let Tests { holds, fails } = self.tests_in(inner);
                    Tests { holds: fails, fails: holds }
                }
                None => Tests::default(),
            },
            Kind::Boolean => {
                let (Some(left), Some(right)) = (child(node, FIELDS.left), child(node, FIELDS.right)) else {
                    return Tests::default();
                };
                let is_and = child(node, FIELDS.operator).is_some_and(|token| token.kind() == "and");
                let (left, right) = (self.tests_in(left), self.tests_in(right));
                match is_and {
                    true => Tests { holds: [left.holds, right.holds].concat(), fails: Vec::new() },
                    false => Tests {
                        holds: self.either(&left.holds, &right.holds).into_iter().collect(),
                        fails: [left.fails, right.fails].concat(),
                    },
                }
            }
            Kind::Named => {
                let Some(name) = child(node, FIELDS.name) else { return Tests::default() };
                self.truth(name)
            }
            Kind::Identifier | Kind::Attribute => self.truth(node),
            Kind::Comparison => self.compared(node),
            Kind::Call => self.called(node),
            _ => Tests::default(),
        }
    }

    /// `isinstance(x, A) or isinstance(x, B)`: an instance of one of them.
    fn either(&mut self, left: &[Tested], right: &[Tested]) -> Option<Tested> {
        let ([one], [other]) = (left, right) else { return None };
        let is_instance = |tested: &Tested| tested.kind == NarrowingKind::Instance;
        let (Some(a), Some(b)) = (one.ty, other.ty) else { return None };
        if !is_instance(one) || !is_instance(other) || !self.is_same_chain(one.chain, other.chain) {
            return None;
        }
        let of = |ty| TypeOperand { role: TypeRole::Argument, name: None, ty };
        let ty = self.b.type_of(TypeKind::Union, &[of(a), of(b)]);
        Some(Tested { ty: Some(ty), ..*one })
    }

    fn is_same_chain(&self, one: ExprId, other: ExprId) -> bool {
        let facts = self.b.facts();
        let (mut one, mut other) = (one, other);
        loop {
            let (a, b) = (facts.expr(one), facts.expr(other));
            match (facts.operand(one, 0), facts.operand(other, 0)) {
                _ if a.kind != b.kind || a.name != b.name => return false,
                (Some(x), Some(y)) if a.kind == ExprKind::Attr => (one, other) = (x, y),
                _ => return a.kind == ExprKind::Name,
            }
        }
    }

    /// A chain used as a condition is not `None` where it holds.
    fn truth(&mut self, node: Node<'_>) -> Tests {
        let Some(chain) = self.chain(node) else { return Tests::default() };
        let holds = Tested { kind: NarrowingKind::NotNull, chain, ty: None, name: None };
        Tests { holds: vec![holds], fails: Vec::new() }
    }

    /// `x is None`, `x is not None`, `x == None`, `type(x) is T`, `x.kind == "a"`.
    fn compared(&mut self, node: Node<'_>) -> Tests {
        let parts: Vec<Node<'_>> = named_children(node).filter(|part| !is_extra(*part)).collect();
        let [left, right] = parts[..] else { return Tests::default() };
        let Some(operator) = child(node, FIELDS.operators) else { return Tests::default() };
        let positive = match operator.kind() {
            "is" | "==" => true,
            "is not" | "!=" => false,
            _ => return Tests::default(),
        };
        let (left, right) = if kind(left) == Kind::None { (right, left) } else { (left, right) };
        let (yes, no) = if kind(right) == Kind::None {
            let tested = match kind(left) {
                Kind::Parenthesized => left.named_child(0).unwrap_or(left),
                _ => left,
            };
            let tested = if kind(tested) == Kind::Named { child(tested, FIELDS.name) } else { Some(tested) };
            let Some(chain) = tested.and_then(|tested| self.chain(tested)) else { return Tests::default() };
            let of = |kind| Tested { kind, chain, ty: None, name: None };
            (of(NarrowingKind::Null), of(NarrowingKind::NotNull))
        } else if kind(left) == Kind::Attribute {
            let Some((chain, name, ty)) = self.discriminant(left, right) else { return Tests::default() };
            let of = |kind| Tested { kind, chain, ty: Some(ty), name: Some(name) };
            (of(NarrowingKind::Discriminant), of(NarrowingKind::NotDiscriminant))
        } else {
            let Some((inner, callee)) = self.sole_argument(left) else { return Tests::default() };
            if callee != "type" || !matches!(kind(right), Kind::Identifier | Kind::Attribute) {
                return Tests::default();
            }
            let Some(chain) = self.chain(inner) else { return Tests::default() };
            let ty = Some(self.ty(right));
            let of = |kind| Tested { kind, chain, ty, name: None };
            let yes = of(NarrowingKind::Instance);
            // That it is not exactly `T` leaves subclasses of `T`.
            return match positive {
                true => Tests { holds: vec![yes], fails: Vec::new() },
                false => Tests { holds: Vec::new(), fails: vec![yes] },
            };
        };
        match positive {
            true => Tests { holds: vec![yes], fails: vec![no] },
            false => Tests { holds: vec![no], fails: vec![yes] },
        }
    }

    /// `x.kind == "a"`, `x.kind is Kind.A`: the chain `x`, the key and what it is compared with.
    fn discriminant(&mut self, left: Node<'_>, right: Node<'_>) -> Option<(ExprId, NameId, TypeId)> {
        let chain = self.chain(child(left, FIELDS.object)?)?;
        let name = self.name(child(left, FIELDS.attribute)?);
        let ty = match kind(right) {
            Kind::Attribute => {
                let member = self.chain(right)?;
                self.typeof_expr(member, None)
            }
            _ => self.one_literal(right)?,
        };
        Some((chain, name, ty))
    }

    fn sole_argument<'t>(&self, call: Node<'t>) -> Option<(Node<'t>, String)> {
        if kind(call) != Kind::Call {
            return None;
        }
        let callee = self.text(child(call, FIELDS.function)?).into_owned();
        let arguments = child(call, FIELDS.arguments)?;
        let mut given = named_children(arguments).filter(|part| !is_extra(*part));
        let only = given.next()?;
        given.next().is_none().then_some((only, callee))
    }

    /// `isinstance(x, T)`, `callable(x)`.
    fn called(&mut self, node: Node<'_>) -> Tests {
        let (Some(function), Some(arguments)) = (child(node, FIELDS.function), child(node, FIELDS.arguments)) else {
            return Tests::default();
        };
        let callee = self.text(function).into_owned();
        let given: Vec<Node<'_>> = named_children(arguments).filter(|part| !is_extra(*part)).collect();
        match (callee.as_str(), &given[..]) {
            ("isinstance", [tested, classes]) => {
                let Some(chain) = self.chain(*tested) else { return Tests::default() };
                let ty = Some(self.classes(*classes));
                let of = |kind| Tested { kind, chain, ty, name: None };
                Tests { holds: vec![of(NarrowingKind::Instance)], fails: vec![of(NarrowingKind::NotInstance)] }
            }
            ("issubclass", [tested, classes]) => {
                let Some(chain) = self.chain(*tested) else { return Tests::default() };
                let inner = TypeOperand { role: TypeRole::Argument, name: None, ty: self.classes(*classes) };
                let name = Some(self.b.intern("type"));
                let class = self.b.leaf(ExprKind::Name, name, 0);
                let ty = Some(self.named(class, &[inner]));
                Tests {
                    holds: vec![Tested { kind: NarrowingKind::Instance, chain, ty, name: None }],
                    fails: Vec::new(),
                }
            }
            ("callable", [tested]) => {
                let Some(chain) = self.chain(*tested) else { return Tests::default() };
                let name = Some(self.b.intern("callable"));
                let of = |kind| Tested { kind, chain, ty: None, name };
                Tests { holds: vec![of(NarrowingKind::Typeof)], fails: vec![of(NarrowingKind::NotTypeof)] }
            }
            // Whether it is a `TypeGuard` is for its declared result to say; those are named alike.
            (_, [tested, ..]) if is_question(&callee) => {
                let (Some(chain), Some(callee)) = (self.chain(*tested), self.chain(function)) else {
                    return Tests::default();
                };
                let ty = Some(self.typeof_expr(callee, None));
                let of = |kind| Tested { kind, chain, ty, name: None };
                Tests { holds: vec![of(NarrowingKind::Guard)], fails: vec![of(NarrowingKind::NotGuard)] }
            }
            _ => Tests::default(),
        }
    }

    /// A class, a union, or a tuple of them.
    fn classes(&mut self, node: Node<'_>) -> TypeId {
        if kind(node) != Kind::Tuple {
            return self.ty(node);
        }
        let parts: Vec<Node<'_>> = named_children(node).filter(|part| !is_extra(*part)).collect();
        let mut operands = Vec::with_capacity(parts.len());
        for part in parts {
            let ty = self.deeper(|w| w.classes(part)).unwrap_or_else(|| self.b.type_of(TypeKind::Opaque, &[]));
            operands.push(TypeOperand { role: TypeRole::Argument, name: None, ty });
        }
        self.b.type_of(TypeKind::Union, &operands)
    }

    /// A name or dotted chain as an expression; `None` for anything else.
    pub fn chain(&mut self, node: Node<'_>) -> Option<ExprId> {
        match kind(node) {
            Kind::Identifier => {
                let name = self.name(node);
                Some(self.b.leaf(ExprKind::Name, Some(name), 0))
            }
            Kind::Attribute => {
                let object = child(node, FIELDS.object)?;
                let attribute = child(node, FIELDS.attribute)?;
                let object = self.deeper(|w| w.chain(object)).flatten()?;
                let name = self.name(attribute);
                Some(self.b.compound(ExprKind::Attr, Some(name), &[operand(Role::Value, object)]))
            }
            Kind::Named => self.chain(child(node, FIELDS.name)?),
            _ => None,
        }
    }
}

/// Whether a callee is named as guards are: `is_x`, `pkg.has_x`, `_is_x`.
fn is_question(callee: &str) -> bool {
    let name = callee.rsplit('.').next().unwrap_or(callee).trim_start_matches('_');
    name.starts_with("is") || name.starts_with("has")
}
