//! Statements: blocks, locals, loops, `try`, returns, `switch` bodies.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::{Binding, ExprId, ExprKind, Origin, RefKind, Return, ReturnKind, TypeId};
use crate::lang::java::syntax::kinds::{F, K, field, kind};
use crate::lang::java::syntax::types::arrays;
use crate::lang::java::syntax::{Walk, value};
use crate::lang::node;

impl Walk<'_> {
    /// A statement; an expression is read as one. Tokens and comments are passed over.
    pub(super) fn statement(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        if at.is_named() {
            b.nested(|b| self.statement_inner(b, at));
        }
    }

    fn statement_inner(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        match kind(at) {
            K::LineComment | K::BlockComment | K::BreakStatement | K::ContinueStatement => {}
            K::Block => {
                let outer_end = std::mem::replace(&mut self.block_end, node::end_line(at));
                self.block_scope(b, at, |walk, b| walk.sequence(b, at));
                self.block_end = outer_end;
            }
            K::LocalVariableDeclaration => self.local(b, at),
            K::IfStatement => self.if_statement(b, at),
            K::WhileStatement => self.while_statement(b, at),
            K::ForStatement => self.block_scope(b, at, |walk, b| walk.children(b, at)),
            K::EnhancedForStatement => self.for_each(b, at),
            K::ReturnStatement => self.gives_back(b, at, ReturnKind::Return),
            K::ThrowStatement => self.gives_back(b, at, ReturnKind::Throw),
            K::YieldStatement => {
                let given = self.only_expression(b, at).map(value);
                if let Some(values) = self.switches.last_mut() {
                    values.extend(given);
                }
            }
            K::LabeledStatement => {
                for child in node::named_children(at).filter(|c| kind(*c) != K::Identifier) {
                    self.statement(b, child);
                }
            }
            K::TryWithResourcesStatement => self.block_scope(b, at, |walk, b| walk.children(b, at)),
            K::ResourceSpecification => {
                for resource in node::named_children(at) {
                    self.resource(b, resource);
                }
            }
            K::CatchClause => self.catch(b, at),
            K::ExplicitConstructorInvocation => self.constructor_call(b, at),
            at_kind if at_kind.is_expression() => {
                self.expression(b, at);
            }
            _ => self.children(b, at),
        }
    }

    /// Reads every named child as what it is.
    pub(super) fn children(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        for child in node::named_children(at) {
            if !kind(child).is_comment() {
                self.item(b, child, None);
            }
        }
    }

    /// `T a = x, b[];`: a binding for each name.
    fn local(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        let mut ty = None;
        for child in node::named_children(at) {
            match kind(child) {
                K::Modifiers => self.local_annotations(b, child),
                K::VariableDeclarator => {
                    let Some(name_node) = field(child, F::Name) else { continue };
                    let own = field(child, F::Dimensions).map_or(0, |d| self.dimensions(b, d));
                    let name = b.intern(&self.text(name_node));
                    self.locals.push(name);
                    let value = field(child, F::Value).map(|v| self.expression(b, v));
                    let origin = if value.is_some() { Origin::Assign } else { Origin::Declare };
                    let own_ty = ty.map(|ty| arrays(b, ty, own));
                    self.bind_name(b, origin, name_node, own_ty, value);
                }
                K::Error => self.recover(b, child),
                child_kind if child_kind.is_type() => ty = self.ty(b, child),
                _ => {}
            }
        }
    }

    /// Annotations of a local: references without a symbol to stand on.
    fn local_annotations(&mut self, b: &mut FactsBuilder, modifiers: Node<'_>) {
        for child in node::children(modifiers).filter(|c| kind(*c).is_annotation()) {
            self.annotation(b, child);
        }
    }

    /// Binds a name in the innermost scope.
    pub(super) fn bind_name(
        &mut self,
        b: &mut FactsBuilder,
        origin: Origin,
        name_node: Node<'_>,
        ty: Option<TypeId>,
        value: Option<ExprId>,
    ) {
        let name = b.intern(&self.text(name_node));
        let binding = b.binding(origin, node::start_line(name_node), node::column(name_node));
        b.bind(Binding { name: Some(name), ty, value, ..binding }, &[]);
    }

    fn if_statement(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        let condition = field(at, F::Condition);
        if let Some(condition) = condition {
            self.expression(b, condition);
        }
        let tests = std::mem::take(&mut self.tests);
        let (consequence, alternative) = (field(at, F::Consequence), field(at, F::Alternative));
        if let Some(consequence) = consequence {
            self.narrow(b, &tests.yes, node::start_line(consequence), node::end_line(consequence));
            self.statement(b, consequence);
            if alternative.is_none() && leaves(consequence) && self.block_end > node::end_line(at) {
                self.narrow(b, &tests.no, node::end_line(at) + 1, self.block_end);
            }
        }
        if let Some(alternative) = alternative {
            self.narrow(b, &tests.no, node::start_line(alternative), node::end_line(alternative));
            self.statement(b, alternative);
        }
        for error in node::named_children(at).filter(|c| kind(*c) == K::Error) {
            self.recover(b, error);
        }
    }

    fn while_statement(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        if let Some(condition) = field(at, F::Condition) {
            self.expression(b, condition);
        }
        let tests = std::mem::take(&mut self.tests);
        if let Some(body) = field(at, F::Body) {
            self.narrow(b, &tests.yes, node::start_line(body), node::end_line(body));
            self.statement(b, body);
        }
    }

    /// `for (T x : e)`: the binding is the element of `e`.
    fn for_each(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        self.block_scope(b, at, |walk, b| {
            let value = field(at, F::Value).map(|v| walk.expression(b, v));
            let mut ty = None;
            for child in node::named_children(at) {
                match kind(child) {
                    K::Modifiers => walk.local_annotations(b, child),
                    child_kind if child_kind.is_type() => ty = walk.ty(b, child),
                    _ => {}
                }
            }
            if let Some(name_node) = field(at, F::Name) {
                let own = field(at, F::Dimensions).map_or(0, |d| walk.dimensions(b, d));
                let ty = ty.map(|ty| arrays(b, ty, own));
                walk.bind_name(b, Origin::For, name_node, ty, value);
                let name = b.intern(&walk.text(name_node));
                walk.locals.push(name);
            }
            if let Some(body) = field(at, F::Body) {
                walk.statement(b, body);
            }
        });
    }

    /// One resource: a declaration, or a variable already there.
    fn resource(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        if kind(at) != K::Resource {
            return self.item(b, at, None);
        }
        let Some(name_node) = field(at, F::Name) else { return self.children(b, at) };
        let mut ty = None;
        for child in node::named_children(at) {
            match kind(child) {
                K::Modifiers => self.local_annotations(b, child),
                child_kind if child_kind.is_type() => ty = self.ty(b, child),
                _ => {}
            }
        }
        let value = field(at, F::Value).map(|v| self.expression(b, v));
        self.bind_name(b, Origin::Resource, name_node, ty, value);
        let name = b.intern(&self.text(name_node));
        self.locals.push(name);
    }

    fn catch(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        self.block_scope(b, at, |walk, b| {
            for child in node::named_children(at) {
                if kind(child) != K::CatchFormalParameter {
                    walk.item(b, child, None);
                    continue;
                }
                let mut types = Vec::new();
                for part in node::named_children(child) {
                    match kind(part) {
                        K::CatchType => {
                            types.extend(
                                node::named_children(part).filter(|t| kind(*t).is_type()).filter_map(|t| walk.ty(b, t)),
                            );
                        }
                        K::Modifiers => walk.local_annotations(b, part),
                        _ => {}
                    }
                }
                let ty = walk.union(b, &types);
                if let Some(name_node) = field(child, F::Name) {
                    walk.bind_name(b, Origin::Except, name_node, ty, None);
                    let name = b.intern(&walk.text(name_node));
                    walk.locals.push(name);
                }
            }
        });
    }

    /// `return e;`, `throw e;`.
    fn gives_back(&mut self, b: &mut FactsBuilder, at: Node<'_>, return_kind: ReturnKind) {
        if let (Some(expr), Some(scope)) = (self.only_expression(b, at), self.functions.last().copied()) {
            b.returns(Return { scope, kind: return_kind, expr, line: node::start_line(at) });
        }
    }

    /// The one expression of a statement; damage beside it is read too.
    fn only_expression(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> Option<ExprId> {
        let mut found = None;
        for child in node::named_children(at) {
            match kind(child) {
                K::Error => self.recover(b, child),
                child_kind if child_kind.is_expression() => found = Some(self.expression(b, child)),
                _ => {}
            }
        }
        found
    }

    /// `this(…)`, `super(…)`, `outer.super(…)`.
    fn constructor_call(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        if let Some(object) = field(at, F::Object) {
            self.expression(b, object);
        }
        let Some(word) = field(at, F::Constructor) else { return };
        let callee = match kind(word) {
            K::This => b.leaf(ExprKind::This, None, 0),
            _ => b.leaf(ExprKind::Super, None, 0),
        };
        let mut operands = vec![value(callee)];
        if let Some(type_arguments) = field(at, F::TypeArguments) {
            self.type_argument_operands(b, type_arguments, &mut operands);
        }
        if let Some(arguments) = field(at, F::Arguments) {
            self.arguments(b, arguments, &mut operands);
        }
        let expr = b.compound(ExprKind::Call, None, &operands);
        self.refer(b, RefKind::Super, expr, word, at);
    }
}

/// Whether control never passes the end of a statement, as far as its last statement says.
fn leaves(at: Node<'_>) -> bool {
    match kind(at) {
        K::ReturnStatement | K::ThrowStatement | K::ContinueStatement | K::BreakStatement | K::YieldStatement => true,
        K::Block => {
            let last = node::named_children(at).filter(|c| !kind(*c).is_comment()).last();
            last.is_some_and(|last| kind(last) != K::Block && leaves(last))
        }
        _ => false,
    }
}
