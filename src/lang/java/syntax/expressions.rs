//! Expressions: chains, calls, constructions, lambdas, operators, literals.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::{
    Binding, Expr, ExprId, ExprKind, LiteralKind, NameId, Operand, Origin, RefKind, Return, ReturnKind, Role,
    ScopeKind, SeqKind, TypeId, TypeKind,
};
use crate::facts::table::Cell;
use crate::lang::java::syntax::kinds::{F, K, field, kind};
use crate::lang::java::syntax::patterns::Tests;
use crate::lang::java::syntax::strings::{name_shaped, path_shaped, takes_names};
use crate::lang::java::syntax::types::{argument, arrays};
use crate::lang::java::syntax::{Walk, row, type_value, value};
use crate::lang::node;

impl Walk<'_> {
    /// An expression, with the references in it. Damage gives `Opaque`.
    pub(super) fn expression(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        match b.nested(|b| self.expression_inner(b, at)) {
            Some(expr) => expr,
            None => b.leaf(ExprKind::Opaque, None, 0),
        }
    }

    fn expression_inner(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let at_kind = kind(at);
        let expr = match at_kind {
            // Tests pass through these.
            K::ParenthesizedExpression => return self.parenthesized(b, at),
            K::BinaryExpression => return self.binary(b, at),
            K::UnaryExpression => return self.unary(b, at),
            K::InstanceofExpression => return self.instanceof(b, at),
            K::Identifier | K::UnderscorePattern => self.read_name(b, at, RefKind::Read),
            K::MethodInvocation => self.call(b, at),
            K::FieldAccess => self.field_access(b, at, RefKind::Read),
            K::This => b.leaf(ExprKind::This, None, 0),
            K::Super => b.leaf(ExprKind::Super, None, 0),
            K::ObjectCreationExpression => self.construction(b, at),
            K::AssignmentExpression => self.assignment(b, at),
            K::UpdateExpression => self.update(b, at),
            K::LambdaExpression => self.lambda(b, at),
            K::MethodReference => self.method_reference(b, at),
            K::SwitchExpression => self.switch(b, at),
            K::TernaryExpression => self.ternary(b, at),
            K::CastExpression => self.cast(b, at),
            K::ArrayAccess => {
                let operands: Vec<_> = self.expressions(b, at).into_iter().map(value).collect();
                b.compound(ExprKind::Index, None, &operands)
            }
            K::ArrayCreationExpression => self.array_creation(b, at),
            K::ArrayInitializer | K::ElementValueArrayInitializer => self.array_elements(b, at, None),
            K::ClassLiteral => {
                let ty = node::named_children(at).find(|c| kind(*c).is_type()).and_then(|c| self.ty(b, c));
                type_value(b, ty)
            }
            K::StringLiteral => self.string(b, at),
            K::TemplateExpression => {
                let operands: Vec<_> = self.expressions(b, at).into_iter().map(value).collect();
                b.compound(ExprKind::Template, None, &operands)
            }
            _ if at_kind.is_literal() => {
                let literal = self.literal_kind(at);
                b.leaf(ExprKind::Literal, None, literal.to_cell() as u32)
            }
            _ => {
                // Damage, or what the grammar does not give a value: its parts are still read.
                if at_kind == K::Error {
                    self.recover(b, at);
                } else {
                    self.children(b, at);
                }
                b.leaf(ExprKind::Opaque, None, 0)
            }
        };
        self.tests = Tests::default();
        expr
    }

    /// The expressions among the named children; damage beside them is read too.
    fn expressions(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> Vec<ExprId> {
        let mut found = Vec::new();
        for child in node::children(at) {
            match kind(child) {
                K::Error => self.recover(b, child),
                child_kind if child_kind.is_annotation() => {
                    // An element of an annotation's array.
                    found.extend(self.annotation(b, child));
                }
                child_kind if child_kind.is_expression() => found.push(self.expression(b, child)),
                _ => {}
            }
        }
        found
    }

    fn parenthesized(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let mut found = None;
        for child in node::named_children(at) {
            match kind(child) {
                child_kind if child_kind.is_comment() => {}
                K::Error => self.recover(b, child),
                _ => found = Some(self.expression(b, child)),
            }
        }
        found.unwrap_or_else(|| b.leaf(ExprKind::Opaque, None, 0))
    }

    /// A bare name; a local's has no reference.
    fn read_name(&mut self, b: &mut FactsBuilder, at: Node<'_>, ref_kind: RefKind) -> ExprId {
        let expr = self.name(b, at);
        if !self.is_local_expr(b, expr) {
            self.refer(b, ref_kind, expr, at, at);
        }
        expr
    }

    /// `e.f`, `Outer.this`, `super.f`, `Outer.super.f`.
    fn field_access(&mut self, b: &mut FactsBuilder, at: Node<'_>, ref_kind: RefKind) -> ExprId {
        let Some(Chain { object: Some(object), name: last, qualified, .. }) = Chain::of(at) else {
            self.children(b, at);
            return b.leaf(ExprKind::Opaque, None, 0);
        };
        if kind(last) == K::This {
            return self.qualified(b, ExprKind::This, object);
        }
        let receiver = match qualified {
            true => self.qualified(b, ExprKind::Super, object),
            false => self.expression(b, object),
        };
        let name = b.intern(&self.text(last));
        let expr = b.compound(ExprKind::Attr, Some(name), &[value(receiver)]);
        self.refer(b, ref_kind, expr, last, at);
        expr
    }

    /// `Outer.this`, `Outer.super`: `name` is the qualifier, which is a type.
    fn qualified(&mut self, b: &mut FactsBuilder, expr_kind: ExprKind, qualifier: Node<'_>) -> ExprId {
        let name = b.intern(&self.text(qualifier));
        self.type_chain(b, qualifier);
        b.leaf(expr_kind, Some(name), 0)
    }

    /// An expression that can only name a type: `A`, `a.b.C`.
    fn type_chain(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> Option<ExprId> {
        match kind(at) {
            K::Identifier => {
                let expr = self.name(b, at);
                self.refer(b, RefKind::Type, expr, at, at);
                Some(expr)
            }
            K::FieldAccess => {
                let (object, field) = (field(at, F::Object)?, field(at, F::Field)?);
                let outer = b.nested(|b| self.type_chain(b, object)).flatten()?;
                let name = b.intern(&self.text(field));
                let expr = b.compound(ExprKind::Attr, Some(name), &[value(outer)]);
                self.refer(b, RefKind::Type, expr, field, at);
                Some(expr)
            }
            _ => None,
        }
    }

    /// `m(…)`, `e.m(…)`, `super.m(…)`, `e.<T>m(…)`.
    fn call(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let Some(chain) = Chain::of(at).filter(|c| kind(c.name) == K::Identifier) else {
            self.children(b, at);
            return b.leaf(ExprKind::Opaque, None, 0);
        };
        let name_text = self.text(chain.name);
        let name = b.intern(&name_text);
        let callee = match chain.object {
            Some(object) => {
                let receiver = match chain.qualified {
                    true => self.qualified(b, ExprKind::Super, object),
                    false => self.expression(b, object),
                };
                b.compound(ExprKind::Attr, Some(name), &[value(receiver)])
            }
            None => b.leaf(ExprKind::Name, Some(name), 0),
        };
        let mut operands = vec![value(callee)];
        if let Some(type_arguments) = chain.type_arguments {
            self.type_argument_operands(b, type_arguments, &mut operands);
        }
        if let Some(arguments) = chain.arguments {
            let outer = std::mem::replace(&mut self.names_expected, takes_names(&name_text));
            self.arguments(b, arguments, &mut operands);
            self.names_expected = outer;
        }
        let expr = b.compound(ExprKind::Call, None, &operands);
        self.refer(b, RefKind::Call, expr, chain.name, at);
        expr
    }

    /// Adds the arguments of a call.
    pub(super) fn arguments(&mut self, b: &mut FactsBuilder, at: Node<'_>, operands: &mut Vec<Operand>) {
        operands.extend(self.expressions(b, at).into_iter().map(value));
    }

    /// Adds explicit type arguments of a call.
    pub(super) fn type_argument_operands(&mut self, b: &mut FactsBuilder, at: Node<'_>, operands: &mut Vec<Operand>) {
        let (arguments, _) = self.type_arguments(b, at);
        for argument in arguments {
            let expr = type_value(b, Some(argument.ty));
            operands.push(Operand { role: Role::TypeArgument, name: None, expr });
        }
    }

    /// `new C<T>(…)`, `outer.new C(…)`, with or without a class body.
    fn construction(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let (mut outer, mut ty_node, mut type_arguments, mut body) = (None, None, None, None);
        let mut seen_new = false;
        for child in node::children(at) {
            match kind(child) {
                K::WordNew => seen_new = true,
                K::ClassBody => body = Some(child),
                K::TypeArguments => type_arguments = Some(child),
                K::Error => self.recover(b, child),
                child_kind if child_kind.is_annotation() => {
                    self.annotation(b, child);
                }
                child_kind if child_kind.is_type() && seen_new => ty_node = Some(child),
                child_kind if child_kind.is_expression() && !seen_new => outer = Some(self.expression(b, child)),
                _ => {}
            }
        }
        let Some(ty_node) = ty_node else {
            return b.leaf(ExprKind::Opaque, None, 0);
        };
        let (ty, callee, name_node) = self.constructed(b, ty_node, outer);
        let callee = callee.unwrap_or_else(|| b.leaf(ExprKind::Opaque, None, 0));
        let mut operands = vec![value(callee)];
        if let Some(type_arguments) = type_arguments {
            self.type_argument_operands(b, type_arguments, &mut operands);
        }
        if let Some(arguments) = field(at, F::Arguments) {
            let outer_names = std::mem::replace(&mut self.names_expected, false);
            self.arguments(b, arguments, &mut operands);
            self.names_expected = outer_names;
        }
        let outer_code = std::mem::replace(&mut self.in_code, true);
        let scope = body.map(|body| self.anonymous_body(b, body));
        self.in_code = outer_code;
        let expr = b.push_expr(Expr { ty, scope, ..row(ExprKind::New) }, &operands);
        self.refer(b, RefKind::New, expr, name_node, at);
        if scope.is_some() {
            // The supertype of the anonymous class.
            self.refer(b, RefKind::Type, callee, name_node, at);
        }
        expr
    }

    /// The type that `new` makes: with its arguments, the chain that names it, and where its last
    /// name stands. With an outer instance the class is a member of it.
    fn constructed<'t>(
        &mut self,
        b: &mut FactsBuilder,
        ty_node: Node<'t>,
        outer: Option<ExprId>,
    ) -> (Option<TypeId>, Option<ExprId>, Node<'t>) {
        let mut name_node = ty_node;
        let mut arguments = None;
        if kind(ty_node) == K::GenericType {
            for child in node::named_children(ty_node) {
                match kind(child) {
                    K::TypeArguments => arguments = Some(child),
                    child_kind if child_kind.is_type() => name_node = child,
                    _ => {}
                }
            }
        }
        let callee = match outer {
            Some(outer) => {
                let name = b.intern(&self.text(name_node));
                Some(b.compound(ExprKind::Attr, Some(name), &[value(outer)]))
            }
            None => self.type_name(b, name_node, None),
        };
        let (operands, diamond) = arguments.map_or((Vec::new(), false), |a| self.type_arguments(b, a));
        let ty = callee.map(|callee| crate::lang::java::syntax::types::named(b, callee, u32::from(diamond), &operands));
        while kind(name_node) == K::ScopedTypeIdentifier {
            match node::named_children(name_node).last() {
                Some(last) => name_node = last,
                None => break,
            }
        }
        (ty, callee, name_node)
    }

    /// `x = e`, `a.f += e`, `a[i] = e`. The target is a chain: it declares no name.
    fn assignment(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let (Some(left), Some(right)) = (field(at, F::Left), field(at, F::Right)) else {
            self.children(b, at);
            return b.leaf(ExprKind::Opaque, None, 0);
        };
        let target = match kind(left) {
            K::Identifier => Some(self.read_name(b, left, RefKind::Write)),
            K::FieldAccess => Some(self.field_access(b, left, RefKind::Write)),
            _ => {
                self.expression(b, left);
                None
            }
        };
        let given = self.expression(b, right);
        let plain = field(at, F::Operator).is_none_or(|o| kind(o) == K::Assign);
        if let Some(target) = target {
            let name = b.facts().expr(target).name.filter(|_| kind(left) == K::Identifier);
            let origin = match (plain, name) {
                (false, _) => Origin::Augmented,
                (true, Some(_)) => Origin::Reassign,
                (true, None) => Origin::Assign,
            };
            // `x += e` on a bare name is a chain as well: only a declaration declares.
            let (name, target) = if origin == Origin::Reassign { (name, None) } else { (None, Some(target)) };
            let binding = b.binding(origin, node::start_line(left), node::column(left));
            b.bind(Binding { name, target, value: Some(given), ..binding }, &[]);
        }
        b.compound(ExprKind::Value, None, &[value(given)])
    }

    /// `i++`: a write.
    fn update(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let mut operands = Vec::new();
        for child in node::named_children(at) {
            match kind(child) {
                K::Identifier => operands.push(value(self.read_name(b, child, RefKind::Write))),
                K::FieldAccess => operands.push(value(self.field_access(b, child, RefKind::Write))),
                child_kind if child_kind.is_comment() => {}
                _ => operands.push(value(self.expression(b, child))),
            }
        }
        b.compound(ExprKind::Operator, None, &operands)
    }

    /// `(a, b) -> e`: a scope with parameters; the body's value or its returns are the scope's.
    fn lambda(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let scope = b.open_scope(ScopeKind::Lambda, None, node::start_line(at), node::end_line(at));
        let outer_header = self.header;
        let outer_names = std::mem::replace(&mut self.names_expected, false);
        self.function_code(b, scope, node::end_line(at), |walk, b| {
            walk.header = outer_header;
            if let Some(parameters) = field(at, F::Parameters) {
                match kind(parameters) {
                    K::Identifier => walk.parameter(b, scope, parameters, None, false),
                    _ => walk.parameters(b, None, scope, parameters),
                }
            }
            if let Some(body) = field(at, F::Body) {
                if kind(body) == K::Block {
                    walk.sequence(b, body);
                } else {
                    let expr = walk.expression(b, body);
                    b.returns(Return { scope, kind: ReturnKind::Expression, expr, line: node::start_line(body) });
                }
            }
        });
        self.names_expected = outer_names;
        b.close_scope();
        b.push_expr(Expr { scope: Some(scope), ..row(ExprKind::Lambda) }, &[])
    }

    /// `T::m`, `e::m`, `super::m`, `T::new`, `int[]::new`.
    fn method_reference(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let mut qualifier = None;
        let mut ty = None;
        let mut name_node = None;
        let mut first = true;
        for child in node::children(at) {
            let child_kind = kind(child);
            if child_kind.is_comment() {
                continue;
            }
            match child_kind {
                _ if first && child_kind.is_type() => ty = self.ty(b, child),
                _ if first => qualifier = Some(self.expression(b, child)),
                K::TypeArguments => {
                    self.type_arguments(b, child);
                }
                K::Super => {
                    // `Outer.super::m`; the qualifier before it was a type.
                    qualifier = Some(b.leaf(ExprKind::Super, None, 0));
                }
                K::Identifier | K::WordNew => name_node = Some(child),
                K::Error => self.recover(b, child),
                _ => {}
            }
            first = false;
        }
        let Some(name_node) = name_node else {
            return b.leaf(ExprKind::Opaque, None, 0);
        };
        let name = b.intern(&self.text(name_node));
        let operands: Vec<_> = qualifier.into_iter().map(value).collect();
        let expr = b.push_expr(Expr { name: Some(name), ty, ..row(ExprKind::MethodRef) }, &operands);
        self.refer(b, RefKind::Callback, expr, name_node, at);
        expr
    }

    fn ternary(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        if let Some(condition) = field(at, F::Condition) {
            self.expression(b, condition);
        }
        let tests = std::mem::take(&mut self.tests);
        let mut operands = Vec::new();
        for (branch_field, tests) in [(F::Consequence, &tests.yes), (F::Alternative, &tests.no)] {
            if let Some(branch) = field(at, branch_field) {
                self.narrow(b, tests, node::start_line(branch), node::end_line(branch));
                operands.push(value(self.expression(b, branch)));
            }
        }
        b.compound(ExprKind::Choice, None, &operands)
    }

    /// `(T) e`, `(A & B) e`.
    fn cast(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let given = field(at, F::Value);
        let mut types = Vec::new();
        for child in node::named_children(at).filter(|c| given.is_none_or(|g| g.id() != c.id())) {
            match kind(child) {
                K::Error => self.recover(b, child),
                child_kind if child_kind.is_type() => types.extend(self.ty(b, child)),
                _ => {}
            }
        }
        let ty = match types.as_slice() {
            [] => None,
            [one] => Some(*one),
            many => {
                let operands: Vec<_> = many.iter().copied().map(argument).collect();
                Some(b.type_of(TypeKind::Intersection, &operands))
            }
        };
        let operands: Vec<_> = given.map(|g| self.expression(b, g)).into_iter().map(value).collect();
        b.push_expr(Expr { ty, ..row(ExprKind::Cast) }, &operands)
    }

    /// `new T[n][]`, `new T[] { … }`: an array whose elements are those written.
    fn array_creation(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let mut element = None;
        let mut dimensions = 0;
        for child in node::named_children(at) {
            match kind(child) {
                K::DimensionsExpr => {
                    self.children(b, child);
                    dimensions += 1;
                }
                K::Dimensions => dimensions += self.dimensions(b, child),
                K::Error => self.recover(b, child),
                child_kind if child_kind.is_annotation() => {
                    self.annotation(b, child);
                }
                child_kind if child_kind.is_type() => element = self.ty(b, child),
                _ => {}
            }
        }
        let ty = element.map(|element| arrays(b, element, dimensions));
        match field(at, F::Value) {
            Some(elements) => self.array_elements(b, elements, ty),
            None => b.push_expr(Expr { ty, detail: SeqKind::Array.to_cell() as u32, ..row(ExprKind::Seq) }, &[]),
        }
    }

    fn array_elements(&mut self, b: &mut FactsBuilder, at: Node<'_>, ty: Option<TypeId>) -> ExprId {
        let operands: Vec<_> = self.expressions(b, at).into_iter().map(value).collect();
        b.push_expr(Expr { ty, detail: SeqKind::Array.to_cell() as u32, ..row(ExprKind::Seq) }, &operands)
    }

    fn unary(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let operand = field(at, F::Operand).map(|o| self.expression(b, o));
        let negates = field(at, F::Operator).is_some_and(|o| kind(o) == K::Bang);
        let tests = std::mem::take(&mut self.tests);
        if negates {
            self.tests = Tests { yes: tests.no, no: tests.yes };
        }
        let detail = match operand {
            _ if negates => LiteralKind::Bool.to_cell() as u32 + 1,
            Some(operand) => literal_of(b, operand),
            None => 0,
        };
        let operands: Vec<_> = operand.into_iter().map(value).collect();
        b.push_expr(Expr { detail, ..row(ExprKind::Operator) }, &operands)
    }

    /// A chain of one operator, `a + b + c`, is one expression: long concatenations stay flat.
    fn binary(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let operator = self.operator(at);
        let mut rights = Vec::new();
        let mut inner = at;
        let first = loop {
            rights.extend(field(inner, F::Right));
            match field(inner, F::Left) {
                Some(left) if kind(left) == K::BinaryExpression && self.operator(left) == operator => inner = left,
                left => break left,
            }
        };
        let mut operands: Vec<Operand> = Vec::with_capacity(rights.len() + 1);
        let mut tests = Tests::default();
        for operand in first.into_iter().chain(rights.into_iter().rev()) {
            // What holds before `&& x` holds in `x`; what fails before `|| x` fails in `x`.
            let known = match operator.as_deref() {
                Some("&&") => tests.yes.as_slice(),
                Some("||") => tests.no.as_slice(),
                _ => &[],
            };
            self.narrow(b, known, node::start_line(operand), node::end_line(operand));
            operands.push(value(self.expression(b, operand)));
            let own = std::mem::take(&mut self.tests);
            match operator.as_deref() {
                Some("&&") => tests.yes.extend(own.yes),
                Some("||") => tests.no.extend(own.no),
                _ => {}
            }
        }
        self.tests = tests;
        let detail = self.operator_value(b, operator.as_deref(), &operands);
        b.push_expr(Expr { detail, ..row(ExprKind::Operator) }, &operands)
    }

    fn operator(&self, at: Node<'_>) -> Option<String> {
        field(at, F::Operator).map(|o| self.text(o).into_owned())
    }

    /// The literal kind + 1 that an operator gives by itself: comparisons, string concatenation,
    /// arithmetic of literals; else 0.
    fn operator_value(&self, b: &FactsBuilder, operator: Option<&str>, operands: &[Operand]) -> u32 {
        let of = |kind: LiteralKind| kind.to_cell() as u32 + 1;
        match operator {
            Some("&&" | "||" | "==" | "!=" | "<" | ">" | "<=" | ">=") => of(LiteralKind::Bool),
            _ => {
                let kinds: Vec<u32> = operands.iter().map(|o| literal_of(b, o.expr)).collect();
                if operator == Some("+") && kinds.contains(&of(LiteralKind::String)) {
                    return of(LiteralKind::String);
                }
                match kinds.first() {
                    Some(first) if kinds.iter().all(|k| k == first) => *first,
                    _ => 0,
                }
            }
        }
    }

    /// A string or text block: a path where it is shaped like one, else a literal without text.
    fn string(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let mut substitutions = Vec::new();
        for child in node::named_children(at).filter(|c| kind(*c) == K::StringInterpolation) {
            substitutions.extend(self.expressions(b, child).into_iter().map(value));
        }
        if !substitutions.is_empty() {
            return b.compound(ExprKind::Template, None, &substitutions);
        }
        let text = self.text(at);
        let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or("");
        let kept = path_shaped(inner) || (self.names_expected && name_shaped(inner));
        if !kept {
            return b.leaf(ExprKind::Literal, None, LiteralKind::String.to_cell() as u32);
        }
        let name: NameId = b.intern(inner);
        let expr = b.leaf(ExprKind::Path, Some(name), 0);
        self.refer(b, RefKind::StringPath, expr, at, at);
        expr
    }

    fn literal_kind(&self, at: Node<'_>) -> LiteralKind {
        let ends_in = |suffixes: [char; 2]| self.text(at).ends_with(suffixes);
        match kind(at) {
            K::CharacterLiteral => LiteralKind::Char,
            K::True | K::False => LiteralKind::Bool,
            K::Null => LiteralKind::Null,
            K::DecimalFloat | K::HexFloat if ends_in(['f', 'F']) => LiteralKind::Float,
            K::DecimalFloat | K::HexFloat => LiteralKind::Double,
            K::StringLiteral => LiteralKind::String,
            _ if ends_in(['l', 'L']) => LiteralKind::Long,
            _ => LiteralKind::Int,
        }
    }
}

/// The parts of `object.super.<T>name(arguments)`, found in one pass over the children.
struct Chain<'t> {
    object: Option<Node<'t>>,
    /// `super` stands behind the object, which is then a type.
    qualified: bool,
    name: Node<'t>,
    type_arguments: Option<Node<'t>>,
    arguments: Option<Node<'t>>,
}

impl<'t> Chain<'t> {
    /// `None` when damage left no name. ERROR nodes beside the parts are left to the caller's fallback.
    fn of(at: Node<'t>) -> Option<Chain<'t>> {
        let (mut object, mut last, mut qualified) = (None, None, false);
        let (mut type_arguments, mut arguments) = (None, None);
        for child in node::children(at) {
            match kind(child) {
                K::ArgumentList => arguments = Some(child),
                K::TypeArguments => type_arguments = Some(child),
                K::Super if last.is_some() => qualified = true,
                K::Error => return None,
                child_kind if child_kind.is_expression() => {
                    object = last.or(object);
                    last = Some(child);
                }
                _ => {}
            }
        }
        Some(Chain { object, qualified, name: last?, type_arguments, arguments })
    }
}

/// The literal kind + 1 of an expression where it is a literal or an operator over some, else 0.
fn literal_of(b: &FactsBuilder, expr: ExprId) -> u32 {
    let row = b.facts().expr(expr);
    match row.kind {
        ExprKind::Literal => row.detail + 1,
        ExprKind::Path | ExprKind::Template => LiteralKind::String.to_cell() as u32 + 1,
        ExprKind::Operator => row.detail,
        _ => 0,
    }
}
