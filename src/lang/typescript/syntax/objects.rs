//! Object literals: fields and spreads to the arena; methods, function-valued and named plain
//! properties to symbols.

use tree_sitter::Node;

use crate::facts::build::{FactsBuilder, MAX_QUALNAME};
use crate::facts::model::*;
use crate::lang::node::{children, end_line, named_children, start_line};
use crate::lang::typescript::syntax::expressions::Use;
use crate::lang::typescript::syntax::kinds::K;
use crate::lang::typescript::syntax::{Definition, Walk};

impl Walk<'_> {
    /// Reads an object literal.
    pub(super) fn object(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> ExprId {
        // Plain properties are symbols where a reader would name them: in the literal that a
        // module variable or field holds, not in every options argument.
        let plain =
            self.depth_in_functions == 0 && !self.anonymous && (self.holder.is_some() || !self.prefix.is_empty());
        let has_members = named_children(node).any(|child| match self.k(child) {
            K::MethodDefinition => true,
            K::Pair => plain || self.field(child, self.f.value).is_some_and(|v| self.is_function(v)),
            K::ShorthandProperty => plain,
            _ => false,
        });
        let scope = has_members.then(|| b.open_scope(ScopeKind::Object, None, start_line(node), end_line(node)));
        let mut operands = Vec::new();
        let mut comment = None;
        for child in named_children(node) {
            let kind = self.k(child);
            if kind == K::Comment {
                comment = Some(child.byte_range());
                continue;
            }
            self.doc = comment.take();
            match kind {
                K::Pair => operands.extend(self.pair(b, child, plain)),
                K::MethodDefinition => operands.push(self.object_method(b, child)),
                K::ShorthandProperty => {
                    let symbol = plain.then(|| self.property(b, child, child, &self.text(child), None));
                    let expr = self.expression(b, child, Use::Callback);
                    let name = self.name(b, child);
                    self.bind_member(b, name, expr, symbol, child);
                    operands.push(Operand { role: Role::Keyword, name: Some(name), expr });
                }
                K::SpreadElement => {
                    let expr = self.expression(b, child, Use::Read);
                    operands.push(Operand { role: Role::Spread, name: None, expr });
                }
                _ => {
                    self.expression(b, child, Use::Read);
                }
            }
            self.doc = None;
        }
        if scope.is_some() {
            b.close_scope();
        }
        let row =
            Expr { kind: ExprKind::Object, name: None, ty: None, scope, symbol: None, detail: 0, first: 0, len: 0 };
        b.push_expr(row, &operands)
    }

    fn bind_member(&self, b: &mut FactsBuilder, name: NameId, expr: ExprId, symbol: Option<SymbolId>, at: Node<'_>) {
        if symbol.is_some() {
            let scope = b.scope();
            self.push_binding(b, (scope, Origin::Assign), name, Some(expr), None, symbol, at);
        }
    }

    fn member_flags(&self) -> SymbolFlags {
        if self.anonymous || (self.holder.is_none() && self.prefix.is_empty()) {
            SymbolFlags::ANONYMOUS_OWNER
        } else {
            SymbolFlags::default()
        }
    }

    /// Defines a member whose value is a function.
    fn object_function(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        name_node: Node<'_>,
        name: &str,
        head: &str,
        flags: SymbolFlags,
    ) -> SymbolId {
        let accessor = flags.has(SymbolFlags::GETTER) || flags.has(SymbolFlags::SETTER);
        let flags = flags | self.member_flags();
        self.define(
            b,
            Definition {
                kind: if accessor { SymbolKind::Property } else { SymbolKind::Method },
                name,
                prefix: &self.prefix.clone(),
                flags,
                visibility: Visibility::Public,
                signature: head,
                node,
                name_node,
            },
        )
    }

    fn property(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        name_node: Node<'_>,
        name: &str,
        value: Option<Node<'_>>,
    ) -> SymbolId {
        let symbol = self.define(
            b,
            Definition {
                kind: SymbolKind::Property,
                name,
                prefix: &self.prefix.clone(),
                flags: SymbolFlags::default(),
                visibility: Visibility::Public,
                signature: name,
                node,
                name_node,
            },
        );
        self.member_extent(b, symbol, node.byte_range(), value);
        symbol
    }

    fn pair(&mut self, b: &mut FactsBuilder, node: Node<'_>, plain: bool) -> Option<Operand> {
        let (key, value) = (self.field(node, self.f.key)?, self.field(node, self.f.value)?);
        let name = self.property_name(key).or_else(|| self.title_of(key).filter(|_| self.is_function(value)));
        if self.k(key) == K::ComputedName
            && let Some(inner) = self.first(key)
        {
            self.expression(b, inner, Use::Read);
        }
        let Some(name) = name else {
            let anonymous = std::mem::replace(&mut self.anonymous, true);
            let expr = self.expression(b, value, Use::Callback);
            self.anonymous = anonymous;
            return Some(Operand { role: Role::Computed, name: None, expr });
        };
        let name_id = b.intern(&name);
        let bare = self.bare(value);
        if self.is_function(value) {
            let head = self.function_head(&format!("{name}: "), bare);
            let flags = self.function_flags(bare);
            let symbol = self.object_function(b, node, key, &name, &head, flags);
            self.extent(b, symbol, node.byte_range(), self.field(bare, self.f.body));
            let expr = self.function_value(b, bare, Some(symbol));
            self.bind_member(b, name_id, expr, Some(symbol), key);
            return Some(Operand { role: Role::Keyword, name: Some(name_id), expr });
        }
        let symbol = plain.then(|| self.property(b, node, key, &name, Some(value)));
        // Members of a nested literal stand under this property.
        let outer_holder = self.holder;
        let outer_prefix = self.prefix.clone();
        let expr = match symbol {
            Some(symbol) => {
                self.holder = Some(symbol);
                self.prefix.clear();
                self.expression(b, value, Use::Callback)
            }
            None => {
                let room = self.prefix.len() < MAX_QUALNAME;
                if room && !self.prefix.is_empty() {
                    self.prefix.push('.');
                }
                if room && (self.holder.is_some() || !self.prefix.is_empty()) {
                    self.prefix.push_str(&name);
                }
                self.expression(b, value, Use::Callback)
            }
        };
        self.holder = outer_holder;
        self.prefix = outer_prefix;
        self.bind_member(b, name_id, expr, symbol, key);
        Some(Operand { role: Role::Keyword, name: Some(name_id), expr })
    }

    fn object_method(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> Operand {
        let body = self.field(node, self.f.body);
        let name_node = self.field(node, self.f.name);
        let name = name_node.and_then(|n| self.property_name(n).or_else(|| self.title_of(n)));
        if let Some(computed) = name_node.filter(|n| self.k(*n) == K::ComputedName).and_then(|n| self.first(n)) {
            self.expression(b, computed, Use::Read);
        }
        let mut flags = SymbolFlags::default();
        for child in children(node) {
            flags |= match self.k(child) {
                K::TAsync => SymbolFlags::ASYNC,
                K::TStar => SymbolFlags::GENERATOR,
                K::TGet if Some(child) != name_node => SymbolFlags::GETTER,
                K::TSet if Some(child) != name_node => SymbolFlags::SETTER,
                K::FormalParameters => break,
                _ => continue,
            };
        }
        let class = self.class.take();
        let (symbol, scope) = match (&name, name_node) {
            (Some(name), Some(name_node)) => {
                let head = self.head_of(node, body);
                let symbol = self.object_function(b, node, name_node, name, &head, flags);
                self.extent(b, symbol, node.byte_range(), body);
                (Some(symbol), self.function_inside(b, node, Some(symbol)))
            }
            _ => (None, self.function_inside(b, node, None)),
        };
        self.class = class;
        let name = name.map(|name| b.intern(&name));
        let row = Expr {
            kind: ExprKind::Lambda,
            name: None,
            ty: None,
            scope: Some(scope),
            symbol,
            detail: 0,
            first: 0,
            len: 0,
        };
        let expr = b.push_expr(row, &[]);
        let role = if name.is_some() { Role::Method } else { Role::Computed };
        Operand { role, name, expr }
    }
}
