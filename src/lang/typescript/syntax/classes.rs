//! Classes and their members.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::node::{children, column, end_line, named_children, start_line};
use crate::lang::typescript::syntax::expressions::Use;
use crate::lang::typescript::syntax::kinds::K;
use crate::lang::typescript::syntax::{Definition, OpenClass, Walk};

/// What stands before a member's name.
pub(super) struct Modifiers {
    pub(super) flags: SymbolFlags,
    pub(super) visibility: Visibility,
}

impl Walk<'_> {
    pub(super) fn accessibility(&self, node: Node<'_>) -> Visibility {
        match &*self.text(node) {
            "private" => Visibility::Private,
            "protected" => Visibility::Protected,
            _ => Visibility::Public,
        }
    }

    /// Reads `class C …`; `outer` is the whole statement.
    pub(super) fn class_declaration(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        outer: Node<'_>,
        flags: SymbolFlags,
    ) -> Option<SymbolId> {
        let name_node = self.field(node, self.f.name)?;
        let name = self.text(name_node);
        Some(self.class_value_named(b, node, &name, outer, name_node, flags))
    }

    /// Reads a class, declared or as a value, under a name.
    pub(super) fn class_value_named(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        name: &str,
        outer: Node<'_>,
        name_node: Node<'_>,
        flags: SymbolFlags,
    ) -> SymbolId {
        let mut flags = flags;
        if self.k(node) == K::AbstractClassDeclaration {
            flags |= SymbolFlags::ABSTRACT;
        }
        let body = self.field(node, self.f.body);
        let head = self.head_of(node, body);
        let head = if self.field(node, self.f.name).is_some() || self.k(node) != K::Class {
            head
        } else {
            head.replacen("class", &format!("class {name}"), 1)
        };
        let visibility = self.own_visibility(flags.has(SymbolFlags::EXPORTED));
        let symbol = self.define(
            b,
            Definition {
                kind: SymbolKind::Class,
                name,
                prefix: &self.prefix.clone(),
                flags,
                visibility,
                signature: &head,
                node: outer,
                name_node,
            },
        );
        self.extent(b, symbol, outer.byte_range(), body);
        let before_export = self.of_kind(outer, K::Decorator).filter(|_| outer != node);
        for decorator in before_export.chain(self.of_kind(node, K::Decorator)) {
            self.decorator(b, decorator, symbol, ParamPosition(None));
        }
        self.class_inside(b, node, symbol, None);
        symbol
    }

    /// Reads a class value that has no name: its members stand under `parent`'s name.
    pub(super) fn class_value(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> ExprId {
        let name_node = self.field(node, self.f.name);
        let symbol = match name_node {
            Some(name_node) => {
                let name = self.text(name_node);
                self.class_value_named(b, node, &name, node, name_node, SymbolFlags::LOCAL)
            }
            None => self.anonymous_class(b, node),
        };
        super::assignments::class_expr(b, symbol)
    }

    /// A class without a name is a symbol for its bases and members; these stand where it stands.
    fn anonymous_class(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> SymbolId {
        let parent = self.holder.unwrap_or_else(|| b.owner());
        let body = self.field(node, self.f.body);
        let head = self.head_of(node, body);
        let keyword = children(node).find(|c| self.k(*c) != K::Decorator).unwrap_or(node);
        let symbol = self.define(
            b,
            Definition {
                kind: SymbolKind::Class,
                name: "<class>",
                prefix: &self.prefix.clone(),
                flags: SymbolFlags::ANONYMOUS_OWNER,
                visibility: Visibility::Private,
                signature: &head,
                node,
                name_node: keyword,
            },
        );
        self.extent(b, symbol, node.byte_range(), body);
        for decorator in self.of_kind(node, K::Decorator) {
            self.decorator(b, decorator, symbol, ParamPosition(None));
        }
        self.class_inside(b, node, symbol, Some(parent));
        symbol
    }

    /// Reads type parameters, bases and members. `stands_in`: what members of an anonymous class
    /// are named under.
    fn class_inside(&mut self, b: &mut FactsBuilder, node: Node<'_>, symbol: SymbolId, stands_in: Option<SymbolId>) {
        let holder = std::mem::replace(&mut self.holder, stands_in);
        let prefix = std::mem::take(&mut self.prefix);
        let anonymous = std::mem::replace(&mut self.anonymous, stands_in.is_some());
        let scope = b.open_scope(ScopeKind::Class, Some(symbol), start_line(node), end_line(node));
        if let Some(parameters) = self.field(node, self.f.type_parameters) {
            self.type_parameters(b, parameters, symbol);
        }
        for child in named_children(node) {
            if self.k(child) == K::ClassHeritage {
                self.class_heritage(b, child, symbol);
            }
        }
        let outer = self.class.replace(OpenClass { symbol, scope });
        let depth = std::mem::replace(&mut self.depth_in_functions, 0);
        let var_scope = std::mem::replace(&mut self.var_scope, scope);
        if let Some(body) = self.field(node, self.f.body) {
            self.note_members(scope, body);
            self.class_body(b, body);
        }
        self.var_scope = var_scope;
        self.depth_in_functions = depth;
        self.class = outer;
        b.close_scope();
        (self.holder, self.prefix, self.anonymous) = (holder, prefix, anonymous);
    }

    fn class_heritage(&mut self, b: &mut FactsBuilder, node: Node<'_>, symbol: SymbolId) {
        for child in named_children(node) {
            match self.k(child) {
                K::ExtendsClause => {
                    let mut arguments = None;
                    let mut base = None;
                    for part in named_children(child) {
                        match self.k(part) {
                            K::TypeArguments => arguments = Some(part),
                            K::Comment => {}
                            _ => base = base.or(Some(part)),
                        }
                    }
                    if let Some(base) = base {
                        self.base(b, base, arguments, symbol);
                    }
                }
                K::ImplementsClause => {
                    for part in self.content(child) {
                        if let Some(ty) = self.type_with(b, part, RefKind::Implements) {
                            let (line, column) = (start_line(part), column(part));
                            b.heritage(Heritage { owner: symbol, kind: HeritageKind::Implements, ty, line, column });
                        }
                    }
                }
                K::Comment => {}
                // JavaScript: the expression itself.
                _ => self.base(b, child, None, symbol),
            }
        }
    }

    fn base(&mut self, b: &mut FactsBuilder, base: Node<'_>, arguments: Option<Node<'_>>, symbol: SymbolId) {
        let expr = self.expression(b, base, Use::Extends);
        let arguments = arguments.map(|a| self.type_arguments(b, a)).unwrap_or_default();
        let operands: Vec<TypeOperand> =
            arguments.into_iter().map(|ty| TypeOperand { role: TypeRole::Argument, name: None, ty }).collect();
        let row =
            TypeRow { kind: TypeKind::Named, expr: Some(expr), name: None, scope: None, detail: 0, first: 0, len: 0 };
        let ty = b.push_type(row, &operands);
        let (line, column) = (start_line(base), column(base));
        b.heritage(Heritage { owner: symbol, kind: HeritageKind::Extends, ty, line, column });
    }

    fn class_body(&mut self, b: &mut FactsBuilder, body: Node<'_>) {
        let mut comment = None;
        // In TypeScript's grammar a method's decorators are its elder siblings.
        let mut decorators: Vec<Node<'_>> = Vec::new();
        for child in named_children(body) {
            let kind = self.k(child);
            match kind {
                K::Comment => {
                    comment = Some(child.byte_range());
                    continue;
                }
                K::Decorator => {
                    decorators.push(child);
                    continue;
                }
                _ => {}
            }
            self.doc = comment.take();
            if kind == K::Error {
                if b.nested(|b| self.class_body(b, child)).is_none() {
                    return;
                }
            } else {
                self.class_member(b, child, &decorators);
            }
            self.doc = None;
            decorators.clear();
        }
    }

    /// Reads a member of the open class.
    pub(super) fn class_member(&mut self, b: &mut FactsBuilder, node: Node<'_>, decorators: &[Node<'_>]) {
        match self.k(node) {
            K::MethodDefinition | K::MethodSignature | K::AbstractMethodSignature => self.method(b, node, decorators),
            K::PublicFieldDefinition | K::FieldDefinition => self.class_field(b, node, decorators),
            K::IndexSignature => {
                self.type_member(b, node);
            }
            K::ClassStaticBlock => {
                if let Some(block) = self.field(node, self.f.body) {
                    let scope = b.open_scope(ScopeKind::Block, None, start_line(block), end_line(block));
                    let var_scope = std::mem::replace(&mut self.var_scope, scope);
                    self.depth_in_functions += 1;
                    self.statements(b, block, 0);
                    self.depth_in_functions -= 1;
                    self.var_scope = var_scope;
                    b.close_scope();
                }
            }
            _ => self.statement(b, node),
        }
    }

    pub(super) fn modifiers(&self, node: Node<'_>, name: Option<Node<'_>>) -> Modifiers {
        let mut found = Modifiers { flags: SymbolFlags::default(), visibility: Visibility::Public };
        for child in children(node) {
            if Some(child) == name {
                if self.k(child) == K::PrivatePropertyIdentifier {
                    found.visibility = Visibility::Private;
                }
                continue;
            }
            found.flags |= match self.k(child) {
                K::AccessibilityModifier => {
                    found.visibility = self.accessibility(child);
                    continue;
                }
                K::TStatic => SymbolFlags::STATIC,
                K::OverrideModifier => SymbolFlags::OVERRIDE,
                K::TReadonly => SymbolFlags::READONLY,
                K::TAbstract => SymbolFlags::ABSTRACT,
                K::TDeclare => SymbolFlags::AMBIENT,
                K::TAsync => SymbolFlags::ASYNC,
                K::TStar => SymbolFlags::GENERATOR,
                K::TGet => SymbolFlags::GETTER,
                K::TSet => SymbolFlags::SETTER,
                K::TQuestion => SymbolFlags::OPTIONAL,
                K::FormalParameters | K::StatementBlock => break,
                _ => continue,
            };
        }
        found
    }

    /// Reads a method of the open class: definition, overload signature, abstract signature.
    fn method(&mut self, b: &mut FactsBuilder, node: Node<'_>, decorators: &[Node<'_>]) {
        let Some(name_node) = self.field(node, self.f.name) else { return };
        let Modifiers { mut flags, visibility } = self.modifiers(node, Some(name_node));
        if self.anonymous {
            flags |= SymbolFlags::ANONYMOUS_OWNER;
        }
        let body = self.field(node, self.f.body);
        match self.k(node) {
            K::AbstractMethodSignature => flags |= SymbolFlags::ABSTRACT,
            K::MethodSignature if !self.ambient => flags |= SymbolFlags::OVERLOAD,
            _ => {}
        }
        self.computed_name(b, name_node);
        let Some(name) = self.property_name(name_node) else {
            for decorator in decorators {
                let owner = b.owner();
                self.decorator(b, *decorator, owner, ParamPosition(None));
            }
            self.function_inside(b, node, None);
            return;
        };
        let accessor = flags.has(SymbolFlags::GETTER) || flags.has(SymbolFlags::SETTER);
        let kind = match &*name {
            _ if accessor => SymbolKind::Property,
            "constructor" if !flags.has(SymbolFlags::STATIC) => SymbolKind::Constructor,
            _ => SymbolKind::Method,
        };
        let head = self.head_of(node, body);
        let symbol = self.define(
            b,
            Definition { kind, name: &name, prefix: "", flags, visibility, signature: &head, node, name_node },
        );
        let start = decorators.first().map_or(node.start_byte(), |d| d.start_byte());
        self.extent(b, symbol, start..node.end_byte(), body);
        for decorator in decorators.iter().copied().chain(self.of_kind(node, K::Decorator)) {
            self.decorator(b, decorator, symbol, ParamPosition(None));
        }
        self.function_inside(b, node, Some(symbol));
    }

    pub(super) fn computed_name(&mut self, b: &mut FactsBuilder, name: Node<'_>) {
        if self.k(name) == K::ComputedName
            && let Some(inner) = self.first(name)
        {
            self.expression(b, inner, Use::Read);
        }
    }

    fn class_field(&mut self, b: &mut FactsBuilder, node: Node<'_>, decorators: &[Node<'_>]) {
        let name_node = self.field(node, self.f.name).or_else(|| self.field(node, self.f.property));
        let Some(name_node) = name_node else { return };
        let value_node = self.field(node, self.f.value);
        let doc = self.doc.clone();
        let Modifiers { mut flags, visibility } = self.modifiers(node, Some(name_node));
        if self.anonymous {
            flags |= SymbolFlags::ANONYMOUS_OWNER;
        }
        self.computed_name(b, name_node);
        let Some(name) = self.property_name(name_node) else {
            if let Some(value) = value_node {
                self.expression(b, value, Use::Read);
            }
            return;
        };
        let function = value_node.filter(|v| self.is_function(*v)).map(|v| self.bare(v));
        let type_node = self.field(node, self.f.type_);
        let (kind, head, flags) = match function {
            Some(function) => (
                SymbolKind::Method,
                self.function_head(&format!("{name} = "), function),
                flags | self.function_flags(function),
            ),
            None => (SymbolKind::Field, self.head_of(node, value_node), flags),
        };
        let head = head.trim_end_matches(['=', ' ']).to_owned();
        let symbol = self.define(
            b,
            Definition { kind, name: &name, prefix: "", flags, visibility, signature: &head, node, name_node },
        );
        let start = decorators.first().map_or(node.start_byte(), |d| d.start_byte());
        let body = function.and_then(|f| self.field(f, self.f.body)).or(value_node);
        self.extent(b, symbol, start..node.end_byte(), body);
        for decorator in decorators.iter().copied().chain(self.of_kind(node, K::Decorator)) {
            self.decorator(b, decorator, symbol, ParamPosition(None));
        }
        let ty = type_node.and_then(|t| self.annotation_of(b, t, Some(symbol)));
        let ty = ty.or_else(|| self.documented_type(b, doc.as_ref()));
        // `readonly kind = "a"` is of the type `"a"`, by which unions of classes are told apart.
        let literal =
            value_node.filter(|value| ty.is_none() && flags.has(SymbolFlags::READONLY) && self.k(*value) == K::String);
        let ty = ty.or_else(|| literal.map(|value| self.literal_type(b, value)));
        let value = match function {
            Some(function) => Some(self.function_value(b, function, Some(symbol))),
            None => {
                b.symbol_mut(symbol).ty = ty;
                value_node.map(|value| self.initializer(b, value, Some(symbol), ""))
            }
        };
        let origin = if value.is_some() { Origin::Assign } else { Origin::Declare };
        let name = b.intern(&name);
        let scope = b.scope();
        self.push_binding(b, (scope, origin), name, value, ty, Some(symbol), name_node);
    }

    /// Reads a decorator for `owner`; the reference is the enclosing scope's code.
    pub(super) fn decorator(&mut self, b: &mut FactsBuilder, node: Node<'_>, owner: SymbolId, param: ParamPosition) {
        let Some(inner) = self.first(node) else { return };
        let expr = self.expression(b, inner, Use::Decorator);
        b.decorator(Decorator { owner, param, expr, line: start_line(node) });
    }
}
