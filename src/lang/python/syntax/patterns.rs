//! `match`: captures as bindings, classes as types, what each arm says of its subject.

use tree_sitter::Node;

use crate::facts::model::*;
use crate::lang::node::named_children;
use crate::lang::python::syntax::Walk;
use crate::lang::python::syntax::expressions::{Use, operand};
use crate::lang::python::syntax::grammar::{FIELDS, Kind, child, is_extra, kind};
use crate::lang::python::syntax::narrowing::Tested;

impl Walk<'_> {
    /// Reads a `match` statement.
    pub fn match_statement(&mut self, node: Node<'_>) {
        let body = child(node, FIELDS.body);
        let subjects: Vec<Node<'_>> =
            named_children(node).filter(|part| !is_extra(*part) && Some(*part) != body).collect();
        let mut operands = Vec::with_capacity(subjects.len());
        for subject in &subjects {
            operands.push(operand(Role::Value, self.read(*subject)));
        }
        let subject = match &operands[..] {
            [one] => one.expr,
            _ => self.seq(SeqKind::Tuple, &operands),
        };
        let chain = match subjects[..] {
            [one] => self.chain(one),
            _ => None,
        };
        for case in body.into_iter().flat_map(named_children) {
            match kind(case) {
                Kind::Case => self.case(case, subject, chain),
                _ => self.statement(case),
            }
        }
    }

    fn case(&mut self, node: Node<'_>, subject: ExprId, chain: Option<ExprId>) {
        let consequence = child(node, FIELDS.consequence);
        let guard = child(node, FIELDS.guard);
        let patterns: Vec<Node<'_>> = named_children(node).filter(|part| kind(*part) == Kind::CasePattern).collect();
        let mut steps = Vec::new();
        let several = patterns.len() > 1;
        for (at, pattern) in patterns.iter().enumerate() {
            if several {
                steps.push(Step { kind: StepKind::Position, name: None, detail: at as u32 });
            }
            self.pattern(*pattern, subject, None, &mut steps);
            if several {
                steps.pop();
            }
        }
        let lines = (self.line(node), self.end_line(node));
        if let (Some(chain), [pattern]) = (chain, &patterns[..])
            && let Some(ty) = self.quietly(|w| w.pattern_type(*pattern))
        {
            self.narrow(&[Tested { kind: NarrowingKind::Instance, chain, ty: Some(ty), name: None }], lines);
        }
        if let Some(test) = guard.and_then(|guard| named_children(guard).find(|part| !is_extra(*part))) {
            self.read(test);
            let facts = self.tests(test);
            self.narrow(&facts.holds, lines);
        }
        if let Some(body) = consequence {
            let Walk { b, s, source, origin } = self;
            let (s, source, origin) = (&mut **s, *source, *origin);
            b.in_branch(Branch::Other, |b| Walk { b, s, source, origin }.block(body));
        }
    }

    /// The class that a pattern demands of its whole subject.
    fn pattern_type(&mut self, node: Node<'_>) -> Option<TypeId> {
        match kind(node) {
            Kind::CasePattern | Kind::AsPattern => {
                let inner = named_children(node).find(|part| !is_extra(*part))?;
                self.deeper(|w| w.pattern_type(inner)).flatten()
            }
            Kind::ClassPattern => {
                let name = node.named_child(0)?;
                let expr = self.dotted_chain(name, Use::Read);
                Some(self.named(expr, &[]))
            }
            Kind::UnionPattern => {
                let parts: Vec<Node<'_>> = named_children(node).filter(|part| !is_extra(*part)).collect();
                let mut operands = Vec::with_capacity(parts.len());
                for part in parts {
                    let ty = self.deeper(|w| w.pattern_type(part)).flatten()?;
                    operands.push(TypeOperand { role: TypeRole::Argument, name: None, ty });
                }
                Some(self.b.type_of(TypeKind::Union, &operands))
            }
            _ => None,
        }
    }

    /// Reads a pattern; `steps` lead from `value` to what it matches, `ty` is the class that an
    /// enclosing `as` gives its capture.
    fn pattern(&mut self, node: Node<'_>, value: ExprId, ty: Option<TypeId>, steps: &mut Vec<Step>) {
        self.deeper(|w| w.pattern_inner(node, value, ty, steps));
    }

    fn pattern_inner(&mut self, node: Node<'_>, value: ExprId, ty: Option<TypeId>, steps: &mut Vec<Step>) {
        let parts: Vec<Node<'_>> = named_children(node).filter(|part| !is_extra(*part)).collect();
        match kind(node) {
            Kind::CasePattern => {
                for part in parts {
                    self.pattern(part, value, ty, steps);
                }
            }
            Kind::DottedName => match parts[..] {
                [name] => self.capture(name, value, ty, steps),
                _ => {
                    self.dotted_chain(node, Use::Read);
                }
            },
            Kind::AsPattern => {
                if let [inner, name] = parts[..] {
                    self.pattern(inner, value, None, steps);
                    let ty = self.quietly(|w| w.pattern_type(inner));
                    self.capture(name, value, ty, steps);
                }
            }
            Kind::ClassPattern => self.class_pattern(&parts, value, steps),
            Kind::ListPattern | Kind::TuplePattern => {
                for (at, part) in parts.into_iter().enumerate() {
                    let rest = inner_splat(part);
                    let step = if rest.is_some() { StepKind::Rest } else { StepKind::Position };
                    steps.push(Step { kind: step, name: None, detail: at as u32 });
                    self.pattern(rest.unwrap_or(part), value, None, steps);
                    steps.pop();
                }
            }
            Kind::SplatPattern => {
                if let Some(name) = parts.first() {
                    self.capture(*name, value, None, steps);
                }
            }
            Kind::DictPattern => {
                steps.push(Step { kind: StepKind::Computed, name: None, detail: 0 });
                for part in parts {
                    self.pattern(part, value, None, steps);
                }
                steps.pop();
            }
            Kind::UnionPattern => {
                for part in parts {
                    self.pattern(part, value, None, steps);
                }
            }
            Kind::Identifier => self.capture(node, value, ty, steps),
            _ => {}
        }
    }

    /// `C(a, b, key=c)`: what is inside are parts of the subject seen as a `C`.
    fn class_pattern(&mut self, parts: &[Node<'_>], value: ExprId, steps: &mut Vec<Step>) {
        let Some((class, rest)) = parts.split_first() else { return };
        let class = self.dotted_chain(*class, Use::Type);
        let ty = self.named(class, &[]);
        let seen = Expr {
            kind: ExprKind::Cast,
            name: None,
            ty: Some(ty),
            scope: None,
            symbol: None,
            detail: 0,
            first: 0,
            len: 0,
        };
        let seen = if steps.is_empty() { self.b.push_expr(seen, &[operand(Role::Value, value)]) } else { value };
        let mut n_positional = 0;
        for part in rest {
            let inner = named_children(*part).find(|inner| !is_extra(*inner));
            match inner {
                Some(keyword) if kind(keyword) == Kind::KeywordPattern => {
                    let inside: Vec<Node<'_>> = named_children(keyword).filter(|i| !is_extra(*i)).collect();
                    let Some((name, patterns)) = inside.split_first() else { continue };
                    let name = self.name(*name);
                    steps.push(Step { kind: StepKind::Key, name: Some(name), detail: 0 });
                    for pattern in patterns {
                        self.pattern(*pattern, seen, None, steps);
                    }
                    steps.pop();
                }
                _ => {
                    // By the order of the class's fields, counted from 1.
                    n_positional += 1;
                    steps.push(Step { kind: StepKind::Computed, name: None, detail: n_positional });
                    self.pattern(*part, seen, None, steps);
                    steps.pop();
                }
            }
        }
    }

    fn capture(&mut self, name: Node<'_>, value: ExprId, ty: Option<TypeId>, steps: &[Step]) {
        if kind(name) != Kind::Identifier || self.text(name) == "_" || self.s.quiet {
            return;
        }
        let id = self.name(name);
        let mut binding = self.b.binding(Origin::Pattern, self.line(name), self.column(name));
        binding.name = Some(id);
        binding.value = Some(value);
        binding.ty = ty;
        self.b.bind(binding, steps);
    }

    /// `a.b.c` written as a dotted name, as a chain.
    fn dotted_chain(&mut self, node: Node<'_>, usage: Use) -> ExprId {
        let parts: Vec<Node<'_>> = named_children(node).filter(|part| kind(*part) == Kind::Identifier).collect();
        let Some((first, rest)) = parts.split_first() else {
            return self.expr(node, usage);
        };
        let mut chain = self.expr(*first, if rest.is_empty() { usage } else { Use::Read });
        for (at, part) in rest.iter().enumerate() {
            let name = self.name(*part);
            chain = self.b.compound(ExprKind::Attr, Some(name), &[operand(Role::Value, chain)]);
            let kind = if at + 1 == rest.len() && usage == Use::Type { RefKind::Type } else { RefKind::Read };
            self.refer(kind, chain, *part, node);
        }
        chain
    }
}

/// The splat inside a case pattern (`[a, *rest]`).
fn inner_splat<'t>(node: Node<'t>) -> Option<Node<'t>> {
    if kind(node) == Kind::SplatPattern {
        return Some(node);
    }
    named_children(node).find(|part| kind(*part) == Kind::SplatPattern)
}
