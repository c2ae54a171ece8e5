//! Assignments to names and chains: bindings, the functions that they define (`app.m =`,
//! `X.prototype.m =`, `exports.f =`), and CommonJS exports.

use std::borrow::Cow;

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::node::{column, start_line};
use crate::lang::typescript::syntax::expressions::{Use, value};
use crate::lang::typescript::syntax::kinds::K;
use crate::lang::typescript::syntax::patterns::Place;
use crate::lang::typescript::syntax::{Definition, Walk};

/// What a chain on the left of `=` means to CommonJS.
enum CommonJs<'a> {
    /// `module.exports =`, `exports =`.
    Whole,
    /// `exports.name =`, `module.exports.name =`.
    Member(&'a str),
}

impl Walk<'_> {
    /// Reads `left = right`; `outer` is the statement when it is one (`statement`).
    pub(super) fn assignment(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        outer: Node<'_>,
        statement: bool,
    ) -> ExprId {
        let (Some(left), Some(right)) = (self.field(node, self.f.left), self.field(node, self.f.right)) else {
            return b.leaf(ExprKind::Opaque, None, 0);
        };
        if matches!(self.k(left), K::ObjectPattern | K::ArrayPattern) {
            let right = self.expression(b, right, Use::Read);
            let place = Place {
                scope: b.scope(),
                origin: Origin::Reassign,
                ty: None,
                required: None,
                flags: SymbolFlags::default(),
                whole: outer,
                declares: false,
            };
            self.bind_pattern(b, left, Some(right), &place);
            return b.compound(ExprKind::Value, None, &[value(right)]);
        }
        let chain = self.chain(left);
        let common = chain.as_deref().and_then(common_js);
        let doc = self.doc.clone().filter(|_| statement);
        let first = b.n_references();
        let target = self.expression(b, left, Use::Write);
        let on_the_left = b.n_references();
        let name = if self.k(left) == K::Identifier { Some(self.name(b, left)) } else { None };
        let (symbol, right_expr) = self.assigned(b, chain.as_deref(), left, right, outer);
        // What another module made is changed by this one, not defined.
        let root = chain.as_deref().and_then(|chain| chain.split('.').next()).map(|root| b.intern(root));
        let imported = root.is_some() && b.facts().imports.iter().any(|import| import.local == root);
        if let Some(symbol) = symbol.filter(|_| !imported) {
            b.give_references(first..on_the_left, symbol);
        }
        // A name declares nothing here, wherever it is declared.
        let origin = if name.is_some() { Origin::Reassign } else { Origin::Assign };
        let mut binding = b.binding(origin, start_line(left), column(left));
        binding.name = name;
        binding.target = if name.is_some() { None } else { Some(target) };
        binding.value = Some(right_expr);
        let field = chain.as_deref().filter(|_| symbol.is_none());
        let field = field.and_then(|chain| self.assigned_field(b, chain, left, outer));
        binding.symbol = symbol.or(field);
        if name.is_none() {
            binding.ty = self.documented_type(b, doc.as_ref());
        }
        b.bind(binding, &[]);
        // `exports = x` alone exports nothing; in `exports = module.exports = x` the second does.
        let own = chain.as_deref() != Some("exports");
        if let Some(common) = common.filter(|_| own) {
            let (kind, exported) = match common {
                CommonJs::Whole => (ExportKind::Assign, None),
                CommonJs::Member(name) => (ExportKind::Member, Some(b.intern(name))),
            };
            let local = match self.k(right) {
                K::Identifier => Some(self.name(b, right)),
                _ => None,
            };
            let scope = b.scope();
            b.export(Export {
                scope,
                kind,
                exported,
                local,
                module: None,
                expr: Some(right_expr),
                symbol,
                type_only: false,
                line: start_line(left),
                column: column(left),
            });
        }
        if statement { right_expr } else { b.compound(ExprKind::Value, None, &[value(right_expr)]) }
    }

    /// Reads the right side, defining what it defines.
    fn assigned(
        &mut self,
        b: &mut FactsBuilder,
        chain: Option<&str>,
        left: Node<'_>,
        right: Node<'_>,
        outer: Node<'_>,
    ) -> (Option<SymbolId>, ExprId) {
        let bare = self.bare(right);
        let dotted = chain.filter(|chain| chain.contains('.'));
        let common = chain.and_then(common_js);
        let last = self.field(left, self.f.property).unwrap_or(left);
        let given = self.assigned_symbol.take();
        if given.is_some() && !self.is_function(right) {
            // `a.x = a.y = a.z = function …`: one function, named by the first.
            self.assigned_symbol = given;
            return (given, self.initializer(b, right, None, ""));
        }
        if given.is_some() {
            return (given, self.function_value(b, bare, given));
        }
        if matches!(common, Some(CommonJs::Whole))
            && chain != Some("exports")
            && (self.is_function(right) || self.k(bare) == K::Class)
        {
            return self.exported_whole(b, bare, left, outer);
        }
        if let Some(chain) = dotted {
            let this_member = chain.strip_prefix("this.").filter(|rest| !rest.contains('.'));
            let name = chain.rsplit('.').next().unwrap_or(chain).to_owned();
            let is_class = self.k(bare) == K::Class && self.field(bare, self.f.name).is_none();
            let function = self.innermost_right(right);
            if self.is_function(function) {
                let bare = self.bare(function);
                let (parent, declared_in, prefix) = match (this_member, self.class) {
                    (Some(_), Some(class)) => (class.symbol, class.scope, String::new()),
                    (Some(_), None) => (b.owner(), b.scope(), String::new()),
                    (None, _) => {
                        let prefix = chain[..chain.len() - name.len() - 1].replace(".prototype", "");
                        (b.owner(), b.scope(), prefix)
                    }
                };
                let head = self.function_head(&format!("{chain} = "), bare);
                let kind = if chain.contains(".prototype.") || this_member.is_some() {
                    SymbolKind::Method
                } else {
                    SymbolKind::Function
                };
                let flags = self.function_flags(bare);
                let visibility = if common.is_some() { Visibility::Public } else { self.own_visibility(true) };
                let symbol = self.define_under(
                    b,
                    parent,
                    declared_in,
                    Definition {
                        kind,
                        name: &name,
                        prefix: &prefix,
                        flags,
                        visibility,
                        signature: &head,
                        node: outer,
                        name_node: last,
                    },
                );
                self.extent(b, symbol, outer.byte_range(), self.field(bare, self.f.body));
                let class = self.class;
                if this_member.is_none() && self.k(bare) != K::ArrowFunction {
                    self.class = None;
                }
                let expr = if self.is_function(right) {
                    self.function_value(b, bare, Some(symbol))
                } else {
                    self.assigned_symbol = Some(symbol);
                    let expr = self.expression(b, right, Use::Read);
                    self.assigned_symbol = None;
                    expr
                };
                self.class = class;
                return (Some(symbol), expr);
            }
            let exported_value = matches!(common, Some(CommonJs::Member(_))) && self.depth_in_functions == 0;
            if is_class || exported_value {
                let prefix = chain[..chain.len() - name.len() - 1].replace(".prototype", "");
                if is_class {
                    let outer_prefix = std::mem::replace(&mut self.prefix, prefix);
                    let symbol = self.class_value_named(b, bare, &name, outer, last, SymbolFlags::default());
                    self.prefix = outer_prefix;
                    return (Some(symbol), class_expr(b, symbol));
                }
                // `exports.f = f` names what is there already; anything else is a variable.
                if !matches!(self.k(bare), K::Identifier | K::AssignmentExpression) {
                    let symbol = self.define(
                        b,
                        Definition {
                            kind: SymbolKind::Variable,
                            name: &name,
                            prefix: &prefix,
                            flags: SymbolFlags::default(),
                            visibility: Visibility::Public,
                            signature: chain,
                            node: outer,
                            name_node: last,
                        },
                    );
                    self.extent(b, symbol, outer.byte_range(), Some(right));
                    return (Some(symbol), self.initializer(b, right, Some(symbol), ""));
                }
            }
        }
        let prefix = chain.map(|chain| chain.replace(".prototype", "")).unwrap_or_default();
        let prefix = prefix.strip_prefix("this.").unwrap_or(&prefix).to_owned();
        (None, self.initializer(b, right, None, &prefix))
    }

    /// `z` of `x = y = z`.
    fn innermost_right<'t>(&self, right: Node<'t>) -> Node<'t> {
        let mut at = self.bare(right);
        for _ in 0..16 {
            match self.field(at, self.f.right).filter(|_| self.k(at) == K::AssignmentExpression) {
                Some(inner) => at = self.bare(inner),
                None => break,
            }
        }
        at
    }

    /// Reads the function or class of `module.exports = …`: its own name, else `default`.
    fn exported_whole(
        &mut self,
        b: &mut FactsBuilder,
        value: Node<'_>,
        left: Node<'_>,
        outer: Node<'_>,
    ) -> (Option<SymbolId>, ExprId) {
        let own_name = self.field(value, self.f.name);
        let name = own_name.map_or(Cow::Borrowed("default"), |n| self.text(n));
        let name_node = own_name.unwrap_or(left);
        let flags = SymbolFlags::DEFAULT_EXPORT;
        if self.k(value) == K::Class {
            let symbol = self.class_value_named(b, value, &name, outer, name_node, flags);
            return (Some(symbol), class_expr(b, symbol));
        }
        let head = self.function_head("module.exports = ", value);
        let flags = flags | self.function_flags(value);
        let symbol = self.define(
            b,
            Definition {
                kind: SymbolKind::Function,
                name: &name,
                prefix: "",
                flags,
                visibility: Visibility::Public,
                signature: &head,
                node: outer,
                name_node,
            },
        );
        self.extent(b, symbol, outer.byte_range(), self.field(value, self.f.body));
        (Some(symbol), self.function_value(b, value, Some(symbol)))
    }

    /// The dotted text of a chain of plain names (`a`, `this.x`, `X.prototype.m`), at most 6 long.
    pub(super) fn chain(&self, node: Node<'_>) -> Option<String> {
        let mut parts = Vec::new();
        let mut at = node;
        for _ in 0..6 {
            match self.k(at) {
                K::Identifier | K::This => {
                    parts.push(self.text(at).into_owned());
                    parts.reverse();
                    return Some(parts.join("."));
                }
                K::MemberExpression => {
                    parts.push(self.text(self.field(at, self.f.property)?).into_owned());
                    at = self.field(at, self.f.object)?;
                }
                K::SubscriptExpression => {
                    let key = self.constant(self.field(at, self.f.index)?)?;
                    parts.push(Some(key.into_owned()).filter(|key| super::expressions::is_identifier(key))?);
                    at = self.field(at, self.f.object)?;
                }
                _ => return None,
            }
        }
        None
    }

    pub(super) fn augmented(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> ExprId {
        let right = self.field(node, self.f.right).map(|right| self.expression(b, right, Use::Read));
        let Some(left) = self.field(node, self.f.left) else {
            return b.leaf(ExprKind::Opaque, None, 0);
        };
        let target = self.expression(b, left, Use::Write);
        let mut binding = b.binding(Origin::Augmented, start_line(left), column(left));
        if self.k(left) == K::Identifier {
            binding.name = Some(self.name(b, left));
        } else {
            binding.target = Some(target);
        }
        binding.value = right;
        b.bind(binding, &[]);
        match right {
            Some(right) => b.compound(ExprKind::Value, None, &[value(right)]),
            None => b.leaf(ExprKind::Opaque, None, 0),
        }
    }
}

fn common_js(chain: &str) -> Option<CommonJs<'_>> {
    match chain {
        "module.exports" | "exports" => Some(CommonJs::Whole),
        _ => chain
            .strip_prefix("module.exports.")
            .or_else(|| chain.strip_prefix("exports."))
            .filter(|name| !name.contains('.'))
            .map(CommonJs::Member),
    }
}

/// A class as a value.
pub(super) fn class_expr(b: &mut FactsBuilder, symbol: SymbolId) -> ExprId {
    let row = Expr {
        kind: ExprKind::ClassValue,
        name: None,
        ty: None,
        scope: None,
        symbol: Some(symbol),
        detail: 0,
        first: 0,
        len: 0,
    };
    b.push_expr(row, &[])
}
