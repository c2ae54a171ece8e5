//! Imports and exports in all their forms.

use std::borrow::Cow;

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::lang::node::{children, column, named_children, start_line};
use crate::lang::typescript::syntax::expressions::Use;
use crate::lang::typescript::syntax::kinds::K;
use crate::lang::typescript::syntax::{Definition, Walk};

/// `require("module")`, or `require("module").member`.
pub(super) struct Required {
    pub module: String,
    pub member: Option<String>,
}

impl<'s> Walk<'s> {
    /// The module that an initializer requires, when constant.
    pub(super) fn required_module(&mut self, node: Node<'_>) -> Option<Required> {
        let node = self.bare(node);
        match self.k(node) {
            K::CallExpression => {
                let callee = self.field(node, self.f.function)?;
                if self.k(callee) != K::Identifier || self.text(callee) != "require" {
                    return None;
                }
                let argument = self.first(self.field(node, self.f.arguments)?)?;
                let module = self.constant(argument)?.into_owned();
                self.bound_require = Some(argument.start_byte());
                Some(Required { module, member: None })
            }
            K::MemberExpression => {
                let object = self.field(node, self.f.object)?;
                if self.k(object) != K::CallExpression {
                    return None;
                }
                let required = self.required_module(object)?;
                let member = self.text(self.field(node, self.f.property)?).into_owned();
                Some(Required { member: Some(member), ..required })
            }
            _ => None,
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn import_row(
        &self,
        b: &mut FactsBuilder,
        kind: ImportKind,
        module: Option<&str>,
        name: Option<&str>,
        local: Option<&str>,
        at: Node<'_>,
        name_at: Node<'_>,
    ) {
        let row = Import {
            scope: b.scope(),
            kind,
            branch: b.branch(),
            module: module.map(|m| b.intern(m)),
            level: 0,
            name: name.map(|n| b.intern(n)),
            local: local.map(|l| b.intern(l)),
            type_only: kind == ImportKind::TypeQuery,
            line: start_line(at),
            column: column(at),
            name_line: start_line(name_at),
            name_column: column(name_at),
        };
        b.import(row);
    }

    /// `/// <reference path="…" />` and `types="…"` at the head of the file.
    pub(super) fn references_in_directives(&mut self, b: &mut FactsBuilder, root: Node<'_>) {
        for child in children(root).take_while(|c| self.is_comment(*c)) {
            let text = self.text(child);
            let Some(rest) = text.strip_prefix("///").map(str::trim_start).and_then(|t| t.strip_prefix("<reference"))
            else {
                continue;
            };
            for key in ["path", "types"] {
                let found = rest.split_once(&format!("{key}=")).map(|(_, rest)| rest);
                let quote = found.and_then(|found| found.chars().next()).filter(|c| matches!(c, '"' | '\''));
                let (Some(found), Some(quote)) = (found, quote) else { continue };
                let Some((module, _)) = found[1..].split_once(quote) else { continue };
                // A path is relative to the file even without `./`.
                let module = if key == "path" && !module.starts_with('.') && !module.starts_with('/') {
                    Cow::Owned(format!("./{module}"))
                } else {
                    Cow::Borrowed(module)
                };
                self.import_row(b, ImportKind::TypeQuery, Some(&module), None, None, child, child);
            }
        }
    }

    pub(super) fn import_statement(&mut self, b: &mut FactsBuilder, node: Node<'_>) {
        b.apart(node.byte_range());
        let type_only = self.has(node, K::TType) || self.has(node, K::TTypeof);
        let clause = named_children(node).find(|c| self.k(*c) == K::ImportClause);
        if let Some(clause) = named_children(node).find(|c| self.k(*c) == K::ImportRequireClause) {
            let module = self.field(clause, self.f.source).and_then(|s| self.constant(s));
            let Some(local) = self.first(clause) else { return };
            self.import_named(b, ImportKind::Namespace, module.as_deref(), None, Some(local), type_only, local);
            if self.has(node, K::TExport) {
                self.export_local(b, local, None);
            }
            return;
        }
        let Some(source) = self.field(node, self.f.source) else { return };
        let module = self.constant(source);
        let module = module.as_deref();
        let Some(clause) = clause else {
            self.import_row(b, ImportKind::SideEffect, module, None, None, source, source);
            return;
        };
        for child in named_children(clause) {
            match self.k(child) {
                K::Identifier => {
                    self.import_named(b, ImportKind::Default, module, Some("default"), Some(child), type_only, child);
                }
                K::NamespaceImport => {
                    let local = self.first(child);
                    self.import_named(b, ImportKind::Namespace, module, None, local, type_only, child);
                }
                K::NamedImports => {
                    for specifier in self.of_kind(child, K::ImportSpecifier) {
                        let Some(name_node) = self.field(specifier, self.f.name) else { continue };
                        let name = self.module_name(name_node);
                        let local = self.field(specifier, self.f.alias).unwrap_or(name_node);
                        let only = type_only || self.has(specifier, K::TType) || self.has(specifier, K::TTypeof);
                        self.import_named(b, ImportKind::Named, module, Some(&name), Some(local), only, name_node);
                    }
                }
                _ => {}
            }
        }
    }

    /// A name in an import or export clause; strings stand for arbitrary names.
    fn module_name(&self, node: Node<'_>) -> Cow<'s, str> {
        match self.k(node) {
            K::String => self.constant(node).unwrap_or_default(),
            _ => self.text(node),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn import_named(
        &self,
        b: &mut FactsBuilder,
        kind: ImportKind,
        module: Option<&str>,
        name: Option<&str>,
        local: Option<Node<'_>>,
        type_only: bool,
        at: Node<'_>,
    ) {
        let local_text = local.map(|l| self.text(l));
        let row = Import {
            scope: b.scope(),
            kind,
            branch: if type_only { Branch::TypeChecking } else { b.branch() },
            module: module.map(|m| b.intern(m)),
            level: 0,
            name: name.map(|n| b.intern(n)),
            local: local_text.map(|l| b.intern(&l)),
            type_only,
            line: start_line(local.unwrap_or(at)),
            column: column(local.unwrap_or(at)),
            name_line: start_line(at),
            name_column: column(at),
        };
        b.import(row);
    }

    /// `import x = A.B`. Gives the local name.
    pub(super) fn import_alias(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> Option<NameId> {
        let mut parts = self.content(node);
        let (local, value) = (parts.next()?, parts.next()?);
        let target = self.text(value);
        let type_only = self.has(node, K::TType);
        self.import_named(b, ImportKind::Alias, None, Some(&target), Some(local), type_only, value);
        self.expression(b, value, Use::Read);
        Some(self.name(b, local))
    }

    pub(super) fn export_statement(&mut self, b: &mut FactsBuilder, node: Node<'_>) {
        let source = self.field(node, self.f.source);
        let module = source.and_then(|s| self.constant(s));
        let mut default = false;
        let mut assign = false;
        let mut star = false;
        let mut type_only = false;
        let mut global = false;
        let mut clause = None;
        let mut namespace = None;
        for child in children(node) {
            match self.k(child) {
                K::TDefault => default = true,
                K::TEquals => assign = true,
                K::TStar => {
                    star = true;
                    // `type` before it is mended away: the grammar has no `export type *`.
                    let before = self.source.get(node.start_byte()..child.start_byte()).unwrap_or_default();
                    type_only |= before.trim_ascii_end().ends_with(b"type");
                }
                K::NamespaceExport => {
                    let before = self.source.get(node.start_byte()..child.start_byte()).unwrap_or_default();
                    type_only |= before.trim_ascii_end().ends_with(b"type");
                    namespace = Some(child);
                }
                K::TType => type_only = true,
                K::TNamespace => global = true,
                K::ExportClause => clause = Some(child),
                K::Identifier if global => {
                    let name = self.name(b, child);
                    self.export_row(b, ExportKind::Global, Some(name), None, None, false, child);
                    return;
                }
                _ => {}
            }
        }
        if clause.is_some() || namespace.is_some() || star {
            b.apart(node.byte_range());
        }
        if let Some(clause) = clause {
            self.export_clause(b, clause, module.as_deref(), source.is_some(), type_only);
        } else if let Some(namespace) = namespace {
            let Some(name_node) = self.first(namespace) else { return };
            let name = self.module_name(name_node);
            let name = b.intern(&name);
            self.export_row(b, ExportKind::Namespace, Some(name), None, module.as_deref(), type_only, name_node);
        } else if star {
            self.export_row(b, ExportKind::Star, None, None, module.as_deref(), type_only, source.unwrap_or(node));
        } else if let Some(declaration) = self.field(node, self.f.declaration) {
            let mut flags = SymbolFlags::EXPORTED;
            if default {
                flags |= SymbolFlags::DEFAULT_EXPORT;
            }
            if default && self.field(declaration, self.f.name).is_none() {
                self.export_value(b, declaration, node);
                return;
            }
            for (name, symbol) in self.declaration(b, declaration, node, flags) {
                let (kind, exported) =
                    if default { (ExportKind::Default, b.intern("default")) } else { (ExportKind::Named, name) };
                self.export_symbol(b, kind, exported, Some(name), symbol, node);
            }
        } else if default {
            let value = self.field(node, self.f.value).or_else(|| self.first(node));
            if let Some(value) = value {
                self.export_value(b, value, node);
            }
        } else if assign {
            let Some(value) = self.content(node).last() else { return };
            let local = (self.k(value) == K::Identifier).then(|| self.name(b, value));
            let expr = self.initializer(b, value, None, "");
            let row = self.new_export(b, ExportKind::Assign, node);
            b.export(Export { local, expr: Some(expr), ..row });
        } else {
            // Damaged, or `export import a = b`.
            for child in named_children(node) {
                if self.k(child) == K::ImportAlias {
                    if let Some(local) = self.import_alias(b, child) {
                        self.export_symbol(b, ExportKind::Named, local, Some(local), None, child);
                    }
                } else {
                    self.statement(b, child);
                }
            }
        }
    }

    fn export_clause(
        &mut self,
        b: &mut FactsBuilder,
        clause: Node<'_>,
        module: Option<&str>,
        from: bool,
        type_only: bool,
    ) {
        for specifier in self.of_kind(clause, K::ExportSpecifier) {
            let Some(name_node) = self.field(specifier, self.f.name) else { continue };
            let alias = self.field(specifier, self.f.alias).unwrap_or(name_node);
            let only = type_only || self.has(specifier, K::TType);
            let name = self.module_name(name_node);
            let exported = self.module_name(alias);
            let (name, exported) = (b.intern(&name), b.intern(&exported));
            if from {
                self.export_row(b, ExportKind::Reexport, Some(exported), Some(name), module, only, name_node);
                continue;
            }
            let expr = b.leaf(ExprKind::Name, Some(name), 0);
            let kind = if only { RefKind::Type } else { RefKind::Read };
            b.reference(kind, expr, start_line(name_node), column(name_node), start_line(name_node));
            let kind = if b.facts().name(exported) == "default" { ExportKind::Default } else { ExportKind::Named };
            let row = self.new_export(b, kind, name_node);
            b.export(Export { exported: Some(exported), local: Some(name), expr: Some(expr), type_only: only, ..row });
        }
    }

    fn new_export(&self, b: &FactsBuilder, kind: ExportKind, at: Node<'_>) -> Export {
        Export {
            scope: b.scope(),
            kind,
            exported: None,
            local: None,
            module: None,
            expr: None,
            symbol: None,
            type_only: false,
            line: start_line(at),
            column: column(at),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn export_row(
        &self,
        b: &mut FactsBuilder,
        kind: ExportKind,
        exported: Option<NameId>,
        local: Option<NameId>,
        module: Option<&str>,
        type_only: bool,
        at: Node<'_>,
    ) {
        let module = module.map(|m| b.intern(m));
        let row = self.new_export(b, kind, at);
        b.export(Export { exported, local, module, type_only, ..row });
    }

    fn export_symbol(
        &self,
        b: &mut FactsBuilder,
        kind: ExportKind,
        exported: NameId,
        local: Option<NameId>,
        symbol: Option<SymbolId>,
        at: Node<'_>,
    ) {
        let row = self.new_export(b, kind, at);
        let type_only = symbol.is_some_and(|symbol| {
            matches!(b.facts().symbol(symbol).kind, SymbolKind::Interface | SymbolKind::TypeAlias)
        });
        b.export(Export { exported: Some(exported), local, symbol, type_only, ..row });
    }

    fn export_local(&self, b: &mut FactsBuilder, local: Node<'_>, symbol: Option<SymbolId>) {
        let name = self.name(b, local);
        self.export_symbol(b, ExportKind::Named, name, Some(name), symbol, local);
    }

    /// Reads `export default value`: names are exported as they are, all else is the symbol `default`.
    fn export_value(&mut self, b: &mut FactsBuilder, node: Node<'_>, outer: Node<'_>) {
        let exported = Some(b.intern("default"));
        let bare = self.bare(node);
        let kind = self.k(bare);
        let row = self.new_export(b, ExportKind::Default, outer);
        if kind == K::Identifier {
            let local = Some(self.name(b, bare));
            let expr = Some(self.expression(b, node, Use::Read));
            b.export(Export { exported, local, expr, ..row });
            return;
        }
        let flags = SymbolFlags::EXPORTED | SymbolFlags::DEFAULT_EXPORT;
        let at = children(outer).find(|c| self.k(*c) == K::TDefault).unwrap_or(node);
        // `export default (function f() {})` and classes in parentheses keep their own name.
        let own_name = self.field(bare, self.f.name).filter(|_| kind == K::Class || self.is_function(bare));
        let name = own_name.map_or(Cow::Borrowed("default"), |n| self.text(n));
        let name_node = own_name.unwrap_or(at);
        if matches!(kind, K::Class | K::ClassDeclaration | K::AbstractClassDeclaration) {
            let symbol = self.class_value_named(b, bare, &name, outer, name_node, flags);
            let row = self.new_export(b, ExportKind::Default, outer);
            b.export(Export { exported, symbol: Some(symbol), ..row });
            return;
        }
        let declared = matches!(kind, K::FunctionDeclaration | K::GeneratorFunctionDeclaration | K::FunctionSignature);
        let function = declared || self.is_function(bare);
        let head = if function { self.function_head("", bare) } else { "default".to_owned() };
        let flags = if function { flags | self.function_flags(bare) } else { flags };
        let symbol = self.define(
            b,
            Definition {
                kind: if function { SymbolKind::Function } else { SymbolKind::Variable },
                name: &name,
                prefix: "",
                flags,
                visibility: Visibility::Public,
                signature: &head,
                node: outer,
                name_node,
            },
        );
        let body = if function { self.field(bare, self.f.body) } else { Some(node) };
        self.extent(b, symbol, outer.byte_range(), body);
        let expr = if function {
            self.function_value(b, bare, Some(symbol))
        } else {
            self.initializer(b, node, Some(symbol), "")
        };
        let row = self.new_export(b, ExportKind::Default, outer);
        b.export(Export { exported, expr: Some(expr), symbol: Some(symbol), ..row });
    }
}

/// Makes public what the module exports apart from its declaration (`export { f }`,
/// `module.exports = { f }`), and fills in the symbols of those exports.
pub(super) fn publish_exported(b: &mut FactsBuilder) {
    use std::collections::HashMap;
    let module = ScopeId::new(0);
    let mut by_name: HashMap<NameId, SymbolId> = HashMap::new();
    for at in 0..b.facts().symbols.len() {
        let symbol = &b.facts().symbols[at];
        if symbol.declared_in == module {
            by_name.entry(symbol.name).or_insert(SymbolId::new(at));
        }
    }
    let mut public = Vec::new();
    for export in b.facts().exports.iter().filter(|e| e.module.is_none() && e.scope == module) {
        public.extend(export.local.and_then(|local| by_name.get(&local)).copied());
        public.extend(export.symbol);
        if let Some(expr) = export.expr.filter(|_| export.kind == ExportKind::Assign) {
            let facts = b.facts();
            if facts.expr(expr).kind == ExprKind::Object {
                for operand in facts.operands_of(expr) {
                    let row = facts.expr(operand.expr);
                    let name = row.name.filter(|_| row.kind == ExprKind::Name);
                    public.extend(name.and_then(|name| by_name.get(&name)).copied());
                }
            }
        }
    }
    for symbol in public {
        b.symbol_mut(symbol).visibility = Visibility::Public;
    }
}
