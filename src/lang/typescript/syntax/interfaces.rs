//! Interfaces, object types and their members, type aliases, enums.

use tree_sitter::Node;

use crate::facts::build::{FactsBuilder, MAX_QUALNAME};
use crate::facts::model::*;
use crate::lang::node::{column, end_line, named_children, start_line};
use crate::lang::typescript::syntax::classes::Modifiers;
use crate::lang::typescript::syntax::expressions::Use;
use crate::lang::typescript::syntax::kinds::K;
use crate::lang::typescript::syntax::{Definition, OpenClass, Walk};

impl Walk<'_> {
    pub(super) fn interface_declaration(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        outer: Node<'_>,
        flags: SymbolFlags,
    ) -> Option<SymbolId> {
        let name_node = self.field(node, self.f.name)?;
        let name = self.text(name_node);
        let body = self.field(node, self.f.body);
        let head = self.head_of(node, body);
        let visibility = self.own_visibility(flags.has(SymbolFlags::EXPORTED));
        let kind = SymbolKind::Interface;
        let symbol = self.define(
            b,
            Definition { kind, name: &name, prefix: "", flags, visibility, signature: &head, node: outer, name_node },
        );
        self.extent(b, symbol, outer.byte_range(), None);
        let scope = b.open_scope(ScopeKind::Class, Some(symbol), start_line(node), end_line(node));
        if let Some(parameters) = self.field(node, self.f.type_parameters) {
            self.type_parameters(b, parameters, symbol);
        }
        for clause in self.of_kind(node, K::ExtendsTypeClause) {
            for part in self.content(clause) {
                if let Some(ty) = self.type_with(b, part, RefKind::Extends) {
                    let (line, column) = (start_line(part), column(part));
                    b.heritage(Heritage { owner: symbol, kind: HeritageKind::Extends, ty, line, column });
                }
            }
        }
        if let Some(body) = body {
            let outer = self.class.replace(OpenClass { symbol, scope });
            let anonymous = std::mem::replace(&mut self.anonymous, false);
            self.type_members(b, body);
            self.anonymous = anonymous;
            self.class = outer;
        }
        b.close_scope();
        Some(symbol)
    }

    /// Reads the members of an interface or object type, whose scope is open. Gives the operands
    /// of an object type.
    pub(super) fn type_members(&mut self, b: &mut FactsBuilder, body: Node<'_>) -> Vec<TypeOperand> {
        let mut operands = Vec::new();
        let mut comment = None;
        for child in named_children(body) {
            if self.k(child) == K::Comment {
                comment = Some(child.byte_range());
                continue;
            }
            self.doc = comment.take();
            operands.extend(self.type_member(b, child));
            self.doc = None;
        }
        operands
    }

    pub(super) fn type_member(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> Option<TypeOperand> {
        let kind = self.k(node);
        let name_node = self.field(node, self.f.name);
        let (name, symbol_kind) = match kind {
            K::PropertySignature => {
                let name_node = name_node?;
                self.computed_name(b, name_node);
                (self.property_name(name_node)?, SymbolKind::Property)
            }
            K::MethodSignature => {
                let name_node = name_node?;
                self.computed_name(b, name_node);
                let accessor = self.has(node, K::TGet) || self.has(node, K::TSet);
                let kind = if accessor { SymbolKind::Property } else { SymbolKind::Method };
                (self.property_name(name_node)?, kind)
            }
            K::CallSignature => ("<call>".into(), SymbolKind::Signature),
            K::ConstructSignature => ("<new>".into(), SymbolKind::Signature),
            K::IndexSignature => {
                let mapped = named_children(node).find(|c| self.k(*c) == K::MappedTypeClause);
                if let Some(mapped) = mapped {
                    return Some(self.mapped_member(b, node, mapped));
                }
                ("<index>".into(), SymbolKind::Signature)
            }
            _ => return None,
        };
        let head = self.head_of(node, None);
        let Modifiers { mut flags, mut visibility } = self.modifiers(node, name_node);
        if self.anonymous {
            // Nobody names a member of a type that has no name but through what it annotates.
            flags |= SymbolFlags::ANONYMOUS_OWNER;
            visibility = Visibility::Private;
        }
        let symbol = self.define(
            b,
            Definition {
                kind: symbol_kind,
                name: &name,
                prefix: &self.prefix.clone(),
                flags,
                visibility,
                signature: &head,
                node,
                name_node: if kind == K::IndexSignature { node } else { name_node.unwrap_or(node) },
            },
        );
        self.member_extent(b, symbol, node.byte_range(), None);
        let name = b.intern(&name);
        match kind {
            K::PropertySignature => {
                let deeper = self.prefix.len();
                if deeper < MAX_QUALNAME {
                    if deeper > 0 {
                        self.prefix.push('.');
                    }
                    self.prefix.push_str(b.facts().name(name));
                }
                let ty = self.field(node, self.f.type_).and_then(|t| self.annotation(b, t));
                self.prefix.truncate(deeper);
                b.symbol_mut(symbol).ty = ty;
                let role = if flags.has(SymbolFlags::OPTIONAL) { TypeRole::OptionalMember } else { TypeRole::Member };
                ty.map(|ty| TypeOperand { role, name: Some(name), ty })
            }
            K::IndexSignature => {
                let ty = self.field(node, self.f.type_).and_then(|t| self.annotation(b, t));
                if let Some(key) = self.field(node, self.f.index_type) {
                    self.ty(b, key);
                }
                b.symbol_mut(symbol).ty = ty;
                ty.map(|ty| TypeOperand { role: TypeRole::Index, name: None, ty })
            }
            _ => {
                let ty = self.function_type(b, node, Some(symbol));
                Some(TypeOperand { role: TypeRole::Member, name: Some(name), ty })
            }
        }
    }

    pub(super) fn type_alias(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        outer: Node<'_>,
        flags: SymbolFlags,
    ) -> Option<SymbolId> {
        let name_node = self.field(node, self.f.name)?;
        let name = self.text(name_node);
        let head = self.head_of(node, None);
        let visibility = self.own_visibility(flags.has(SymbolFlags::EXPORTED));
        let kind = SymbolKind::TypeAlias;
        let symbol = self.define(
            b,
            Definition { kind, name: &name, prefix: "", flags, visibility, signature: &head, node: outer, name_node },
        );
        self.extent(b, symbol, outer.byte_range(), None);
        b.open_scope(ScopeKind::Block, Some(symbol), start_line(node), end_line(node));
        if let Some(parameters) = self.field(node, self.f.type_parameters) {
            self.type_parameters(b, parameters, symbol);
        }
        if let Some(value) = self.field(node, self.f.value) {
            let ty = self.type_defining(b, value);
            b.symbol_mut(symbol).ty = ty;
        }
        b.close_scope();
        Some(symbol)
    }

    pub(super) fn enum_declaration(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        outer: Node<'_>,
        flags: SymbolFlags,
    ) -> Option<SymbolId> {
        let name_node = self.field(node, self.f.name)?;
        let name = self.text(name_node);
        let body = self.field(node, self.f.body);
        let head = self.head_of(node, body);
        let visibility = self.own_visibility(flags.has(SymbolFlags::EXPORTED));
        let flags = if self.has(node, K::TConst) { flags | SymbolFlags::CONST } else { flags };
        let kind = SymbolKind::Enum;
        let symbol = self.define(
            b,
            Definition { kind, name: &name, prefix: "", flags, visibility, signature: &head, node: outer, name_node },
        );
        self.extent(b, symbol, outer.byte_range(), body);
        b.open_scope(ScopeKind::Class, Some(symbol), start_line(node), end_line(node));
        let mut comment = None;
        for child in body.into_iter().flat_map(named_children) {
            let (name_node, value) = match self.k(child) {
                K::Comment => {
                    comment = Some(child.byte_range());
                    continue;
                }
                K::EnumAssignment => (self.field(child, self.f.name).unwrap_or(child), self.field(child, self.f.value)),
                _ => (child, None),
            };
            self.doc = comment.take();
            let Some(name) = self.property_name(name_node) else { continue };
            let member = self.define(
                b,
                Definition {
                    kind: SymbolKind::EnumMember,
                    name: &name,
                    prefix: "",
                    flags: SymbolFlags::default(),
                    visibility: Visibility::Public,
                    signature: &name,
                    node: child,
                    name_node,
                },
            );
            self.member_extent(b, member, child.byte_range(), value);
            let value = value.map(|value| self.expression(b, value, Use::Read));
            let name = b.intern(&name);
            let scope = b.scope();
            self.push_binding(b, (scope, Origin::Assign), name, value, None, Some(member), name_node);
        }
        b.close_scope();
        Some(symbol)
    }
}
