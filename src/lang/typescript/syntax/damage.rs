//! What can still be read where the parser gave up: whole statements, functions taken for
//! expressions, members of a class that never closed.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::node::{children, end_line, start_line};
use crate::lang::typescript::syntax::kinds::K;
use crate::lang::typescript::syntax::{Definition, OpenClass, Walk};

impl Walk<'_> {
    /// Reads the children of an ERROR node.
    pub(super) fn damaged(&mut self, b: &mut FactsBuilder, node: Node<'_>) {
        let mut comment = None;
        let mut flags = SymbolFlags::default();
        // `class C` without its end: the name is awaited, then members follow among the children.
        let mut class_keyword: Option<Node<'_>> = None;
        let mut class: Option<OpenClass> = None;
        for child in children(node) {
            let kind = self.k(child);
            match kind {
                K::Comment => {
                    comment = Some(child.byte_range());
                    continue;
                }
                K::TExport => flags |= SymbolFlags::EXPORTED,
                K::Identifier if self.text(child) == "export" => flags |= SymbolFlags::EXPORTED,
                K::TClass => {
                    class_keyword = Some(child);
                    continue;
                }
                K::Identifier | K::TypeIdentifier if class_keyword.is_some() => {
                    self.doc = comment.take();
                    class = class_keyword.take().map(|keyword| self.unclosed_class(b, node, keyword, child, flags));
                    self.doc = None;
                    flags = SymbolFlags::default();
                    continue;
                }
                K::MethodDefinition | K::PublicFieldDefinition | K::FieldDefinition | K::MethodSignature => {
                    self.doc = comment.take();
                    if let Some(class) = class {
                        let outer = self.class.replace(class);
                        b.within_scope(class.scope, |b| self.class_member(b, child, &[]));
                        self.class = outer;
                    } else {
                        self.class_member(b, child, &[]);
                    }
                    self.doc = None;
                    continue;
                }
                K::FunctionExpression | K::GeneratorFunction if self.field(child, self.f.name).is_some() => {
                    self.doc = comment.take();
                    self.function_declaration(b, child, child, flags);
                    self.doc = None;
                    flags = SymbolFlags::default();
                    continue;
                }
                K::Error => {
                    let read = b.nested(|b| self.damaged(b, child));
                    if read.is_none() {
                        return;
                    }
                }
                _ if child.is_named() => {
                    self.doc = comment.take();
                    self.statement(b, child);
                    self.doc = None;
                    flags = SymbolFlags::default();
                }
                _ => {}
            }
            class_keyword = None;
        }
    }

    /// Defines a class of which only the head and some members are whole.
    fn unclosed_class(
        &mut self,
        b: &mut FactsBuilder,
        error: Node<'_>,
        keyword: Node<'_>,
        name_node: Node<'_>,
        flags: SymbolFlags,
    ) -> OpenClass {
        let name = self.text(name_node);
        let visibility = self.own_visibility(flags.has(SymbolFlags::EXPORTED));
        let symbol = self.define(
            b,
            Definition {
                kind: SymbolKind::Class,
                name: &name,
                prefix: "",
                flags,
                visibility,
                signature: &format!("class {name}"),
                node: keyword,
                name_node,
            },
        );
        b.symbol_mut(symbol).end_line = end_line(error);
        let scope = b.open_scope(ScopeKind::Class, Some(symbol), start_line(keyword), end_line(error));
        b.close_scope();
        OpenClass { symbol, scope }
    }
}
