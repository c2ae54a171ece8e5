//! Expressions: nodes to rows of the arena, with a reference for every part of a chain.

use tree_sitter::Node;

use crate::facts::model::*;
use crate::lang::node::{children, named_children};
use crate::lang::python::syntax::Walk;
use crate::lang::python::syntax::grammar::{FIELDS, Kind, child, is_extra, kind};

/// What the last name of an expression is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Read,
    Write,
    /// A value given to a call.
    Argument,
    /// The callee of a call, which records the reference itself.
    Callee,
    Decorator,
    Extends,
    Type,
}

impl Use {
    fn reference(self) -> Option<RefKind> {
        match self {
            Use::Read => Some(RefKind::Read),
            Use::Write => Some(RefKind::Write),
            Use::Argument => Some(RefKind::Callback),
            Use::Callee => None,
            Use::Decorator => Some(RefKind::Decorator),
            Use::Extends => Some(RefKind::Extends),
            Use::Type => Some(RefKind::Type),
        }
    }
}

/// An operand of a role without a name.
pub fn operand(role: Role, expr: ExprId) -> Operand {
    Operand { role, name: None, expr }
}

impl Walk<'_> {
    /// Reads an expression whose value is used.
    pub fn read(&mut self, node: Node<'_>) -> ExprId {
        self.expr(node, Use::Read)
    }

    /// Reads an expression; `usage` says what its last name is for.
    pub fn expr(&mut self, node: Node<'_>, usage: Use) -> ExprId {
        match kind(node) {
            Kind::Identifier => {
                let name = self.name(node);
                let expr = self.b.leaf(ExprKind::Name, Some(name), 0);
                if let Some(kind) = usage.reference() {
                    self.refer(kind, expr, node, node);
                }
                expr
            }
            Kind::Integer => self.literal(LiteralKind::Int),
            Kind::Float => self.literal(LiteralKind::Float),
            Kind::True | Kind::False => self.literal(LiteralKind::Bool),
            Kind::None => self.literal(LiteralKind::Null),
            Kind::Ellipsis => self.literal(LiteralKind::Ellipsis),
            Kind::String | Kind::ConcatenatedString => self.string(node, false),
            _ => self.deeper(|w| w.compound(node, usage)).unwrap_or_else(|| self.opaque(&[])),
        }
    }

    /// A literal of that kind.
    pub fn literal(&mut self, literal: LiteralKind) -> ExprId {
        self.b.leaf(ExprKind::Literal, None, literal as u32)
    }

    /// Something without shape, over operands kept for their references.
    pub fn opaque(&mut self, operands: &[Operand]) -> ExprId {
        self.b.compound(ExprKind::Opaque, None, operands)
    }

    fn compound(&mut self, node: Node<'_>, usage: Use) -> ExprId {
        match kind(node) {
            Kind::Attribute => self.attribute(node, usage),
            Kind::Call => self.call(node, usage),
            Kind::Subscript => self.subscript(node),
            Kind::Parenthesized => match node.named_child(0) {
                Some(inner) if node.named_child_count() == 1 => self.expr(inner, usage),
                _ => self.shapeless(node),
            },
            Kind::Await => {
                let value = self.only_child(node);
                self.b.compound(ExprKind::Await, None, &[operand(Role::Value, value)])
            }
            Kind::Yield => self.yielded(node),
            Kind::Lambda => self.lambda(node),
            Kind::Conditional => self.conditional(node),
            Kind::Boolean => self.boolean(node),
            Kind::Comparison | Kind::Not | Kind::Binary | Kind::Unary => self.operator(node),
            Kind::Named => self.walrus(node),
            Kind::List | Kind::ListPattern => self.sequence(node, SeqKind::List),
            Kind::Set => self.sequence(node, SeqKind::Set),
            Kind::Tuple | Kind::ExpressionList | Kind::PatternList | Kind::TuplePattern => {
                self.sequence(node, SeqKind::Tuple)
            }
            Kind::Dictionary => self.dictionary(node),
            Kind::ListComprehension => self.comprehension(node, SeqKind::List),
            Kind::SetComprehension => self.comprehension(node, SeqKind::Set),
            Kind::DictComprehension => self.comprehension(node, SeqKind::Dict),
            Kind::Generator => self.comprehension(node, SeqKind::Generator),
            Kind::AsPattern => match node.named_child(0) {
                Some(inner) => self.expr(inner, usage),
                None => self.opaque(&[]),
            },
            Kind::Type => match node.named_child(0) {
                Some(inner) => self.expr(inner, usage),
                None => self.opaque(&[]),
            },
            _ => self.shapeless(node),
        }
    }

    /// Reads all children of a node that has no shape of its own.
    fn shapeless(&mut self, node: Node<'_>) -> ExprId {
        let mut operands = Vec::new();
        for child in named_children(node) {
            match kind(child) {
                Kind::Comment | Kind::LineContinuation => {}
                Kind::Function | Kind::Class | Kind::Decorated | Kind::Block => self.statement(child),
                _ => operands.push(operand(Role::Value, self.read(child))),
            }
        }
        self.opaque(&operands)
    }

    fn only_child(&mut self, node: Node<'_>) -> ExprId {
        match named_children(node).find(|child| !is_extra(*child)) {
            Some(inner) => self.read(inner),
            None => self.opaque(&[]),
        }
    }

    fn attribute(&mut self, node: Node<'_>, usage: Use) -> ExprId {
        let (Some(object), Some(attribute)) = (child(node, FIELDS.object), child(node, FIELDS.attribute)) else {
            return self.shapeless(node);
        };
        let object = self.read(object);
        let name = self.name(attribute);
        let expr = self.b.compound(ExprKind::Attr, Some(name), &[operand(Role::Value, object)]);
        if let Some(kind) = usage.reference() {
            self.refer(kind, expr, attribute, node);
        }
        expr
    }

    fn subscript(&mut self, node: Node<'_>) -> ExprId {
        let mut parts = named_children(node).filter(|part| !is_extra(*part));
        let Some(value) = parts.next() else { return self.opaque(&[]) };
        let value = self.read(value);
        let keys: Vec<Node<'_>> = parts.collect();
        let mut read = Vec::with_capacity(keys.len());
        for key in keys {
            let key = match kind(key) {
                Kind::Slice => self.shapeless(key),
                _ => self.read(key),
            };
            read.push(operand(Role::Value, key));
        }
        let key = match &read[..] {
            [one] => one.expr,
            _ => self.seq(SeqKind::Tuple, &read),
        };
        self.b.compound(ExprKind::Index, None, &[operand(Role::Value, value), operand(Role::Value, key)])
    }

    /// A sequence of already read operands.
    pub fn seq(&mut self, seq: SeqKind, operands: &[Operand]) -> ExprId {
        self.b.push_expr(
            Expr {
                kind: ExprKind::Seq,
                name: None,
                ty: None,
                scope: None,
                symbol: None,
                detail: seq as u32,
                first: 0,
                len: 0,
            },
            operands,
        )
    }

    fn sequence(&mut self, node: Node<'_>, seq: SeqKind) -> ExprId {
        let mut operands = Vec::with_capacity(node.named_child_count());
        for element in named_children(node) {
            if !is_extra(element) {
                operands.push(self.element(element, Use::Read));
            }
        }
        self.seq(seq, &operands)
    }

    /// An element of a sequence or a positional argument; `*x` spreads.
    pub fn element(&mut self, node: Node<'_>, usage: Use) -> Operand {
        match kind(node) {
            Kind::ListSplat | Kind::ListSplatPattern => operand(Role::Spread, self.only_child(node)),
            Kind::DictSplat | Kind::DictSplatPattern => operand(Role::KeywordSpread, self.only_child(node)),
            Kind::ParenthesizedSplat => match node.named_child(0) {
                Some(inner) => {
                    self.deeper(|w| w.element(inner, usage)).unwrap_or_else(|| operand(Role::Spread, self.opaque(&[])))
                }
                None => operand(Role::Spread, self.opaque(&[])),
            },
            _ => operand(Role::Value, self.expr(node, usage)),
        }
    }

    /// A dict: the values are its operands. Keys are read for their references; their text is
    /// not kept.
    fn dictionary(&mut self, node: Node<'_>) -> ExprId {
        let mut operands = Vec::with_capacity(node.named_child_count());
        for entry in named_children(node) {
            match kind(entry) {
                Kind::Pair => {
                    if let Some(key) = child(entry, FIELDS.key) {
                        self.read(key);
                    }
                    if let Some(value) = child(entry, FIELDS.value) {
                        operands.push(operand(Role::Computed, self.read(value)));
                    }
                }
                Kind::DictSplat => operands.push(operand(Role::KeywordSpread, self.only_child(entry))),
                Kind::Comment | Kind::LineContinuation => {}
                _ => operands.push(operand(Role::Computed, self.read(entry))),
            }
        }
        self.b.compound(ExprKind::Object, None, &operands)
    }

    fn yielded(&mut self, node: Node<'_>) -> ExprId {
        let from = children(node).any(|token| token.kind() == "from");
        let value = named_children(node).find(|part| !is_extra(*part)).map(|part| self.read(part));
        let (expr_kind, return_kind) = match from {
            true => (ExprKind::YieldFrom, ReturnKind::YieldFrom),
            false => (ExprKind::Yield, ReturnKind::Yield),
        };
        let line = self.line(node);
        if let Some(frame) = self.s.functions.last() {
            let (scope, symbol) = (frame.scope, frame.symbol);
            self.b.symbol_mut(symbol).flags |= SymbolFlags::GENERATOR;
            let expr = match value {
                Some(value) => value,
                None => self.literal(LiteralKind::Null),
            };
            self.b.returns(Return { scope, kind: return_kind, expr, line });
        }
        let operands: Vec<Operand> = value.map(|v| operand(Role::Value, v)).into_iter().collect();
        self.b.compound(expr_kind, None, &operands)
    }

    fn lambda(&mut self, node: Node<'_>) -> ExprId {
        let parameters = child(node, FIELDS.parameters);
        let collected = parameters.map(|p| self.collect_params(p)).unwrap_or_default();
        let (start, end) = (self.line(node), self.end_line(node));
        let scope = self.b.open_scope(ScopeKind::Lambda, None, start, end);
        self.add_params(scope, collected);
        if let Some(body) = child(node, FIELDS.body) {
            let expr = self.read(body);
            let line = self.line(body);
            self.b.returns(Return { scope, kind: ReturnKind::Expression, expr, line });
        }
        self.b.close_scope();
        let row = Expr {
            kind: ExprKind::Lambda,
            name: None,
            ty: None,
            scope: Some(scope),
            symbol: None,
            detail: 0,
            first: 0,
            len: 0,
        };
        self.b.push_expr(row, &[])
    }

    /// `a if c else b`: `c` is read for its references and for what it narrows.
    fn conditional(&mut self, node: Node<'_>) -> ExprId {
        let parts: Vec<Node<'_>> = named_children(node).filter(|part| !is_extra(*part)).collect();
        let [then, test, other] = parts[..] else { return self.shapeless(node) };
        self.read(test);
        let lines = (self.line(then), self.end_line(then));
        let other_lines = (self.line(other), self.end_line(other));
        let facts = self.tests(test);
        self.narrow_where(&facts.holds, lines, other);
        self.narrow_where(&facts.fails, other_lines, then);
        let operands = [operand(Role::Value, self.read(then)), operand(Role::Value, self.read(other))];
        self.b.compound(ExprKind::Choice, None, &operands)
    }

    fn boolean(&mut self, node: Node<'_>) -> ExprId {
        let (Some(left), Some(right)) = (child(node, FIELDS.left), child(node, FIELDS.right)) else {
            return self.shapeless(node);
        };
        let is_and = child(node, FIELDS.operator).is_some_and(|token| token.kind() == "and");
        let first = self.read(left);
        let facts = self.tests(left);
        let lines = (self.line(right), self.end_line(right));
        self.narrow(if is_and { &facts.holds } else { &facts.fails }, lines);
        let operands = [operand(Role::Value, first), operand(Role::Value, self.read(right))];
        self.b.compound(ExprKind::Choice, None, &operands)
    }

    /// Comparison, arithmetic, `not`; `name` keeps the operator, for the methods that implement it.
    fn operator(&mut self, node: Node<'_>) -> ExprId {
        let mut operands = Vec::with_capacity(2);
        let mut operator = None;
        for part in children(node) {
            if !part.is_named() {
                operator = operator.or_else(|| (part.child_count() == 0).then(|| part.kind()));
            } else if !is_extra(part) {
                operands.push(operand(Role::Value, self.read(part)));
            }
        }
        let name = operator.map(|text| self.b.intern(text));
        self.b.compound(ExprKind::Operator, name, &operands)
    }

    fn walrus(&mut self, node: Node<'_>) -> ExprId {
        let (Some(name), Some(value)) = (child(node, FIELDS.name), child(node, FIELDS.value)) else {
            return self.shapeless(node);
        };
        let value = self.read(value);
        self.bind_walrus(name, value);
        self.b.compound(ExprKind::Value, None, &[operand(Role::Value, value)])
    }

    /// A comprehension: its first iterable belongs to the scope around it. Operand 0 is the
    /// element; of a dict, the value, and operand 1 the key.
    fn comprehension(&mut self, node: Node<'_>, seq: SeqKind) -> ExprId {
        let clauses: Vec<Node<'_>> =
            named_children(node).filter(|part| matches!(kind(*part), Kind::ForIn | Kind::IfClause)).collect();
        let mut first = clauses.first().map(|clause| self.iterated(*clause));
        let (start, end) = (self.line(node), self.end_line(node));
        let scope = self.b.open_scope(ScopeKind::Comprehension, None, start, end);
        for clause in clauses {
            if kind(clause) == Kind::ForIn {
                let value = match first.take() {
                    Some(value) => value,
                    None => self.iterated(clause),
                };
                if let Some(left) = child(clause, FIELDS.left) {
                    self.bind_plain(left, Origin::Comprehension, Some(value), None);
                }
            } else if let Some(test) = named_children(clause).find(|part| !is_extra(*part)) {
                self.read(test);
                let facts = self.tests(test);
                self.narrow(&facts.holds, (start, end));
            }
        }
        let mut operands = Vec::with_capacity(2);
        match child(node, FIELDS.body) {
            Some(pair) if kind(pair) == Kind::Pair => {
                let key = child(pair, FIELDS.key).map(|key| self.read(key));
                if let Some(value) = child(pair, FIELDS.value) {
                    operands.push(operand(Role::Value, self.read(value)));
                }
                operands.extend(key.map(|key| operand(Role::Computed, key)));
            }
            Some(body) => operands.push(operand(Role::Value, self.read(body))),
            None => {}
        }
        self.b.close_scope();
        let row = Expr {
            kind: ExprKind::Comprehension,
            name: None,
            ty: None,
            scope: Some(scope),
            symbol: None,
            detail: seq as u32,
            first: 0,
            len: 0,
        };
        self.b.push_expr(row, &operands)
    }

    /// What a `for … in` clause runs over.
    fn iterated(&mut self, clause: Node<'_>) -> ExprId {
        let mut operands = Vec::new();
        let mut seen_in = false;
        for part in children(clause) {
            if part.kind() == "in" && !part.is_named() {
                seen_in = true;
            } else if seen_in && part.is_named() && !is_extra(part) {
                operands.push(self.element(part, Use::Read));
            }
        }
        match &operands[..] {
            [one] if one.role == Role::Value => one.expr,
            _ => self.seq(SeqKind::Tuple, &operands),
        }
    }
}
