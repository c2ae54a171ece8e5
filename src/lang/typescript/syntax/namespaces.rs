//! Namespaces, ambient declarations, and whatever an `export` or `declare` stands before.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::node::{children, end_line, start_line};
use crate::lang::typescript::syntax::kinds::K;
use crate::lang::typescript::syntax::{Definition, Walk};

/// Parts of a dotted namespace's name beyond which the rest is left out: each opens a scope.
const MAX_DOTTED: usize = 16;

impl Walk<'_> {
    /// Reads `namespace A.B {}`, `module "x" {}`. A dotted name nests; gives the outermost symbol.
    pub(super) fn namespace(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        outer: Node<'_>,
        flags: SymbolFlags,
    ) -> Option<SymbolId> {
        let name_node = self.field(node, self.f.name)?;
        let quoted = self.k(name_node) == K::String;
        let text = if quoted { self.constant(name_node)? } else { self.text(name_node) };
        let names: Vec<&str> = if quoted { vec![&text] } else { text.split('.').map(str::trim).collect() };
        let names = &names[..names.len().min(MAX_DOTTED)];
        let body = self.field(node, self.f.body);
        let exported = flags.has(SymbolFlags::EXPORTED) || quoted;
        let kind = if quoted { ScopeKind::Ambient } else { ScopeKind::Namespace };
        let ambient = self.ambient;
        self.ambient |= flags.has(SymbolFlags::AMBIENT);
        let var_scope = self.var_scope;
        let mut first = None;
        for (at, name) in names.iter().enumerate() {
            let visibility = self.own_visibility(exported || at > 0);
            let signature = format!("{} {name}", if quoted { "module" } else { "namespace" });
            let definition = Definition {
                kind: SymbolKind::Namespace,
                name,
                prefix: "",
                flags,
                visibility,
                signature: &signature,
                node: outer,
                name_node,
            };
            let symbol = self.define(b, definition);
            first.get_or_insert(symbol);
            if at == 0 {
                self.extent(b, symbol, outer.byte_range(), body);
            }
            self.var_scope = b.open_scope(kind, Some(symbol), start_line(outer), end_line(outer));
        }
        if let Some(body) = body {
            self.statements(b, body, 0);
        }
        for _ in names {
            b.close_scope();
        }
        self.var_scope = var_scope;
        self.ambient = ambient;
        first
    }

    /// Reads `declare …` and `declare global {}`.
    pub(super) fn ambient(&mut self, b: &mut FactsBuilder, node: Node<'_>, outer: Node<'_>, flags: SymbolFlags) {
        let flags = flags | SymbolFlags::AMBIENT;
        let mut global = None;
        for child in children(node) {
            match self.k(child) {
                K::TGlobal => global = Some(child),
                K::StatementBlock => {
                    let Some(keyword) = global else { continue };
                    let symbol = self.define(
                        b,
                        Definition {
                            kind: SymbolKind::Namespace,
                            name: "global",
                            prefix: "",
                            flags,
                            visibility: Visibility::Public,
                            signature: "global",
                            node: outer,
                            name_node: keyword,
                        },
                    );
                    self.extent(b, symbol, outer.byte_range(), Some(child));
                    let scope = b.open_scope(ScopeKind::Ambient, Some(symbol), start_line(outer), end_line(outer));
                    let var_scope = std::mem::replace(&mut self.var_scope, scope);
                    let ambient = std::mem::replace(&mut self.ambient, true);
                    self.statements(b, child, 0);
                    self.ambient = ambient;
                    self.var_scope = var_scope;
                    b.close_scope();
                }
                _ if child.is_named() => {
                    self.declaration(b, child, outer, flags);
                }
                _ => {}
            }
        }
    }

    /// Reads any declaration under `export` or `declare`; gives what it names.
    pub(super) fn declaration(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        outer: Node<'_>,
        flags: SymbolFlags,
    ) -> Vec<(NameId, Option<SymbolId>)> {
        let symbol = match self.k(node) {
            K::LexicalDeclaration | K::VariableDeclaration | K::UsingDeclaration => {
                return self.variables(b, node, outer, flags);
            }
            K::FunctionDeclaration | K::GeneratorFunctionDeclaration | K::FunctionSignature => {
                self.function_declaration(b, node, outer, flags)
            }
            K::ClassDeclaration | K::AbstractClassDeclaration => self.class_declaration(b, node, outer, flags),
            K::InterfaceDeclaration => self.interface_declaration(b, node, outer, flags),
            K::TypeAliasDeclaration => self.type_alias(b, node, outer, flags),
            K::EnumDeclaration => self.enum_declaration(b, node, outer, flags),
            K::InternalModule | K::Module => self.namespace(b, node, outer, flags),
            K::AmbientDeclaration => {
                let first = b.facts().symbols.len();
                self.ambient(b, node, outer, flags);
                return self.declared_since(b, first);
            }
            K::ImportAlias => {
                let local = self.import_alias(b, node);
                return local.map(|name| (name, None)).into_iter().collect();
            }
            _ => None,
        };
        symbol.map(|symbol| (b.facts().symbol(symbol).name, Some(symbol))).into_iter().collect()
    }

    /// The symbols defined in the innermost scope from row `first` on.
    fn declared_since(&self, b: &FactsBuilder, first: usize) -> Vec<(NameId, Option<SymbolId>)> {
        use crate::facts::table::Id;
        let scope = b.scope();
        (first..b.facts().symbols.len())
            .map(SymbolId::new)
            .filter(|id| b.facts().symbol(*id).declared_in == scope)
            .map(|id| (b.facts().symbol(id).name, Some(id)))
            .collect()
    }
}
