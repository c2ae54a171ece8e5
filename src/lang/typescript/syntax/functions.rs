//! Functions: declarations, overload signatures, function values, their scopes and heads.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::node::{children, end_line, start_line};
use crate::lang::typescript::syntax::expressions::Use;
use crate::lang::typescript::syntax::kinds::K;
use crate::lang::typescript::syntax::signature::signature;
use crate::lang::typescript::syntax::{Definition, Walk};

impl Walk<'_> {
    /// Reads `function f() {}` and `function f();`; `outer` is the whole statement. Gives its symbol.
    pub(super) fn function_declaration(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        outer: Node<'_>,
        flags: SymbolFlags,
    ) -> Option<SymbolId> {
        let name_node = self.field(node, self.f.name)?;
        let name = self.text(name_node);
        let body = self.field(node, self.f.body);
        let mut flags = flags | self.function_flags(node);
        // `declare function` has no implementation beside it: each signature is the function.
        if self.k(node) == K::FunctionSignature && !flags.has(SymbolFlags::AMBIENT) && !self.ambient {
            flags |= SymbolFlags::OVERLOAD;
        }
        let head = self.head_of(node, body);
        let visibility = self.own_visibility(flags.has(SymbolFlags::EXPORTED));
        let symbol = self.define(
            b,
            Definition {
                kind: SymbolKind::Function,
                name: &name,
                prefix: "",
                flags,
                visibility,
                signature: &head,
                node: outer,
                name_node,
            },
        );
        self.extent(b, symbol, outer.byte_range(), body);
        let class = self.class.take();
        self.function_inside(b, node, Some(symbol));
        self.class = class;
        Some(symbol)
    }

    /// `async` and `*` of a function.
    pub(super) fn function_flags(&self, node: Node<'_>) -> SymbolFlags {
        let mut flags = SymbolFlags::default();
        if matches!(self.k(node), K::GeneratorFunction | K::GeneratorFunctionDeclaration) {
            flags |= SymbolFlags::GENERATOR;
        }
        for child in children(node) {
            match self.k(child) {
                K::TAsync => flags |= SymbolFlags::ASYNC,
                K::FormalParameters | K::Identifier => break,
                _ => {}
            }
        }
        flags
    }

    /// A declaration's text from where it starts to where its body does.
    pub(super) fn head_of(&self, node: Node<'_>, body: Option<Node<'_>>) -> String {
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let start = children(node).find(|c| !matches!(self.k(*c), K::Decorator | K::Comment)).unwrap_or(node);
        let head = self.source.get(start.start_byte()..end.max(start.start_byte())).unwrap_or_default();
        let head = signature(head);
        head.trim_end_matches([';', ',', ' ']).to_owned()
    }

    /// The head of a function value: `const f = async (a: T) => R`.
    pub(super) fn function_head(&self, before: &str, function: Node<'_>) -> String {
        let body = self.field(function, self.f.body);
        let arrow = self.k(function) == K::ArrowFunction;
        let mut text = String::from(before);
        if self.has(function, K::TAsync) {
            text.push_str("async ");
        }
        if !arrow {
            text.push_str(if self.k(function) == K::GeneratorFunction { "function* " } else { "function " });
        }
        let start = [self.f.type_parameters, self.f.parameters, self.f.parameter]
            .into_iter()
            .find_map(|field| self.field(function, field))
            .map_or(function.start_byte(), |n| n.start_byte());
        let returns = self.field(function, self.f.return_type);
        let end = returns.or(body).map_or(function.end_byte(), |n| n.start_byte());
        let parameters = signature(self.source.get(start..end.max(start)).unwrap_or_default());
        text.push_str(parameters.trim_end_matches("=>").trim_end());
        let result = returns.and_then(|r| self.source.get(r.byte_range())).map(signature).unwrap_or_default();
        if arrow {
            let result = result.trim_start_matches(':').trim();
            text.push_str(" => ");
            text.push_str(if result.is_empty() { "…" } else { result });
        } else {
            text.push_str(&result);
        }
        crate::lang::node::one_line(&text, 240)
    }

    /// Reads a function value. `symbol` is the function it is, when it has a name of its own;
    /// a named function expression without one becomes a local symbol by its name.
    pub(super) fn function_value(&mut self, b: &mut FactsBuilder, node: Node<'_>, symbol: Option<SymbolId>) -> ExprId {
        let name_node = self.field(node, self.f.name);
        let class = if self.k(node) == K::ArrowFunction { self.class } else { None };
        let outer_class = std::mem::replace(&mut self.class, class);
        let mut symbol = symbol;
        if let (Some(name_node), None) = (name_node, symbol) {
            let name = self.text(name_node);
            let body = self.field(node, self.f.body);
            let head = self.head_of(node, body);
            let flags = self.function_flags(node) | SymbolFlags::LOCAL;
            let parent = self.holder.unwrap_or_else(|| b.owner());
            // Its name is known inside of it only; the enclosing scope must not find it.
            let scope = b.open_scope(ScopeKind::Block, None, start_line(node), end_line(node));
            let defined = self.define_under(
                b,
                parent,
                scope,
                Definition {
                    kind: SymbolKind::Function,
                    name: &name,
                    prefix: "",
                    flags,
                    visibility: Visibility::Private,
                    signature: &head,
                    node,
                    name_node,
                },
            );
            self.extent(b, defined, node.byte_range(), body);
            symbol = Some(defined);
            let inner = self.function_inside(b, node, symbol);
            b.close_scope();
            self.class = outer_class;
            return self.lambda(b, inner, symbol, 0);
        }
        let inner = self.function_inside(b, node, symbol);
        self.class = outer_class;
        if let (Some(name_node), Some(_)) = (name_node, symbol) {
            // Inside, it is known by its own name, whatever chain or variable it is given to.
            let name = self.name(b, name_node);
            self.push_binding(b, (inner, Origin::Declare), name, None, None, symbol, name_node);
        }
        self.lambda(b, inner, symbol, u32::from(self.k(node) == K::ArrowFunction))
    }

    fn lambda(&self, b: &mut FactsBuilder, scope: ScopeId, symbol: Option<SymbolId>, detail: u32) -> ExprId {
        let row =
            Expr { kind: ExprKind::Lambda, name: None, ty: None, scope: Some(scope), symbol, detail, first: 0, len: 0 };
        b.push_expr(row, &[])
    }

    /// Reads type parameters, parameters, return type and body of any function-like node in a
    /// scope of its own. A function without a symbol belongs to the holder or owner.
    pub(super) fn function_inside(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        symbol: Option<SymbolId>,
    ) -> ScopeId {
        let (first, last) = (start_line(node), end_line(node));
        let doc = self.defined_doc.take().filter(|(of, _)| Some(*of) == symbol).map(|(_, range)| range);
        let scope = match (symbol, self.holder) {
            (Some(symbol), _) => b.open_scope(ScopeKind::Function, Some(symbol), first, last),
            (None, Some(holder)) => b.open_scope_for(ScopeKind::Lambda, holder, first, last),
            (None, None) => b.open_scope(ScopeKind::Lambda, None, first, last),
        };
        self.in_function(b, scope, |walk, b| {
            let outer = std::mem::replace(&mut walk.documented, doc);
            walk.head_inside(b, node, symbol);
            walk.documented = None;
            match walk.field(node, walk.f.body) {
                Some(body) if walk.k(body) == K::StatementBlock => walk.statements(b, body, 0),
                Some(body) => {
                    let expr = walk.expression(b, body, Use::Callback);
                    b.returns(Return { scope, kind: ReturnKind::Expression, expr, line: start_line(body) });
                }
                None => {}
            }
            walk.documented = outer;
        });
        b.close_scope();
        scope
    }

    /// Reads type parameters, parameters and return type into the open scope.
    pub(super) fn head_inside(&mut self, b: &mut FactsBuilder, node: Node<'_>, symbol: Option<SymbolId>) {
        if let Some(parameters) = self.field(node, self.f.type_parameters) {
            let owner = symbol.unwrap_or_else(|| b.owner());
            self.type_parameters(b, parameters, owner);
        }
        if let Some(parameters) = self.field(node, self.f.parameters).or_else(|| self.field(node, self.f.parameter)) {
            self.parameters(b, parameters);
        }
        let returns = self.field(node, self.f.return_type).or_else(|| self.field(node, self.f.type_));
        if let Some(returns) = returns {
            let ty = self.annotation(b, returns);
            if let Some(symbol) = symbol {
                b.symbol_mut(symbol).ty = ty;
            } else if let Some(ty) = ty {
                // A function without a symbol keeps its declared result as a cast of what it returns.
                let nothing = b.leaf(ExprKind::Opaque, None, 0);
                let row = Expr {
                    kind: ExprKind::Cast,
                    name: None,
                    ty: Some(ty),
                    scope: None,
                    symbol: None,
                    detail: 0,
                    first: 0,
                    len: 0,
                };
                let expr = b.push_expr(row, &[Operand { role: Role::Value, name: None, expr: nothing }]);
                let scope = b.scope();
                b.returns(Return { scope, kind: ReturnKind::Return, expr, line: start_line(returns) });
            }
        } else if let (Some(symbol), Some(ty)) = (symbol, self.documented_result(b)) {
            b.symbol_mut(symbol).ty = Some(ty);
        }
    }
}
