//! Types: nodes to the type arena, with a reference for every name; type parameters.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::node::{column, end_line, start_line};
use crate::lang::typescript::syntax::Walk;
use crate::lang::typescript::syntax::expressions::{Use, is_identifier};
use crate::lang::typescript::syntax::kinds::K;

pub(super) fn row(kind: TypeKind) -> TypeRow {
    TypeRow { kind, expr: None, name: None, scope: None, detail: 0, first: 0, len: 0 }
}

pub(super) fn argument(ty: TypeId) -> TypeOperand {
    TypeOperand { role: TypeRole::Argument, name: None, ty }
}

impl Walk<'_> {
    /// The type of an annotation (`: T`, `: x is T`, `: asserts x`), or of a bare type.
    pub(super) fn annotation(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> Option<TypeId> {
        match self.k(node) {
            K::TypeAnnotation
            | K::OptingTypeAnnotation
            | K::OmittingTypeAnnotation
            | K::AddingTypeAnnotation
            | K::AssertsAnnotation
            | K::TypePredicateAnnotation
            | K::Constraint
            | K::DefaultType => {
                let inner = self.first(node)?;
                self.ty(b, inner)
            }
            _ => self.ty(b, node),
        }
    }

    /// The annotation of a variable or field: its references are code of the symbol, members of
    /// its object types stand under it.
    pub(super) fn annotation_of(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        symbol: Option<SymbolId>,
    ) -> Option<TypeId> {
        let Some(symbol) = symbol else { return self.annotation(b, node) };
        let holder = self.holder.replace(symbol);
        let prefix = std::mem::take(&mut self.prefix);
        let first = b.n_references();
        let ty = self.annotation(b, node);
        b.give_references(first..b.n_references(), symbol);
        (self.holder, self.prefix) = (holder, prefix);
        ty
    }

    /// Reads a type; `None` beyond the nesting cap.
    pub(super) fn ty(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> Option<TypeId> {
        b.nested(|b| self.type_here(b, node, RefKind::Type, false))
    }

    /// Reads a type whose own name makes a reference of this kind (heritage).
    pub(super) fn type_with(&mut self, b: &mut FactsBuilder, node: Node<'_>, kind: RefKind) -> Option<TypeId> {
        b.nested(|b| self.type_here(b, node, kind, false))
    }

    /// Reads the body of a type alias: members of its object types are symbols.
    pub(super) fn type_defining(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> Option<TypeId> {
        b.nested(|b| self.type_here(b, node, RefKind::Type, true))
    }

    fn types(&mut self, b: &mut FactsBuilder, node: Node<'_>, defining: bool, kind: Option<K>) -> Vec<TypeOperand> {
        let mut operands = Vec::new();
        for child in self.content(node) {
            // The grammar nests `A | B | C` to the left.
            if matches!(kind, Some(kind) if kind == self.k(child)) {
                let inner = b.nested(|b| self.types(b, child, defining, kind));
                operands.extend(inner.unwrap_or_default());
                continue;
            }
            operands.extend(b.nested(|b| self.type_here(b, child, RefKind::Type, defining)).map(argument));
        }
        operands
    }

    /// The types of `<A, B>`.
    pub(super) fn type_arguments(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> Vec<TypeId> {
        self.types(b, node, false, None).into_iter().map(|operand| operand.ty).collect()
    }

    fn type_here(&mut self, b: &mut FactsBuilder, node: Node<'_>, used: RefKind, defining: bool) -> TypeId {
        match self.k(node) {
            K::TypeIdentifier | K::Identifier | K::NestedTypeIdentifier | K::NestedIdentifier | K::MemberExpression => {
                self.named_type(b, node, used, &[])
            }
            K::PredefinedType => {
                let name = self.name(b, node);
                let expr = b.leaf(ExprKind::Name, Some(name), 0);
                b.push_type(TypeRow { expr: Some(expr), ..row(TypeKind::Named) }, &[])
            }
            K::GenericType => {
                let arguments = self.field(node, self.f.type_arguments);
                let operands = arguments.map(|a| self.types(b, a, defining, None)).unwrap_or_default();
                match self.field(node, self.f.name) {
                    Some(name) => self.named_type(b, name, used, &operands),
                    None => b.push_type(row(TypeKind::Opaque), &operands),
                }
            }
            K::CallExpression => self.import_type(b, node, None, &[]),
            K::UnionType => self.many(b, node, TypeKind::Union, defining),
            K::IntersectionType => self.many(b, node, TypeKind::Intersection, defining),
            K::ArrayType => self.many(b, node, TypeKind::Array, defining),
            K::TupleType => self.tuple(b, node),
            K::ParenthesizedType => match self.first(node) {
                Some(inner) => {
                    let inner = b.nested(|b| self.type_here(b, inner, used, defining));
                    inner.unwrap_or_else(|| b.push_type(row(TypeKind::Opaque), &[]))
                }
                None => b.push_type(row(TypeKind::Opaque), &[]),
            },
            K::FunctionType | K::ConstructorType => self.function_type(b, node, None),
            K::ObjectType => self.object_type(b, node, defining),
            K::TypeQuery => self.type_query(b, node),
            K::IndexTypeQuery => self.many(b, node, TypeKind::Keyof, false),
            K::LookupType => {
                let operands = self.types(b, node, false, None);
                let key = self
                    .of_kind(node, K::LiteralType)
                    .last()
                    .and_then(|literal| self.first(literal))
                    .and_then(|literal| self.constant(literal))
                    .filter(|key| is_identifier(key));
                let name = key.map(|key| b.intern(&key));
                b.push_type(TypeRow { name, ..row(TypeKind::IndexedAccess) }, &operands)
            }
            K::ConditionalType => {
                let mut operands = Vec::new();
                for field in [self.f.left, self.f.right, self.f.consequence, self.f.alternative] {
                    if let Some(part) = self.field(node, field) {
                        operands.extend(b.nested(|b| self.type_here(b, part, RefKind::Type, defining)).map(argument));
                    }
                }
                b.push_type(row(TypeKind::Conditional), &operands)
            }
            K::LiteralType => match self.first(node) {
                Some(inner) => self.literal_type(b, inner),
                None => b.push_type(row(TypeKind::Opaque), &[]),
            },
            K::ReadonlyType | K::RestType => self.many(b, node, TypeKind::Wrapped, defining),
            K::OptionalType => {
                let operands = self.types(b, node, false, None);
                b.push_type(TypeRow { detail: 1, ..row(TypeKind::Wrapped) }, &operands)
            }
            K::ThisType | K::This => b.push_type(row(TypeKind::This), &[]),
            K::TypePredicate => self.predicate(b, node, 0),
            K::Asserts => match self.first(node) {
                Some(inner) if self.k(inner) == K::TypePredicate => self.predicate(b, inner, 1),
                Some(inner) => {
                    let name = Some(self.name(b, inner));
                    b.push_type(TypeRow { name, detail: 1, ..row(TypeKind::Predicate) }, &[])
                }
                None => b.push_type(row(TypeKind::Opaque), &[]),
            },
            K::InferType => {
                let mut parts = self.content(node);
                if let Some(name) = parts.next().map(|n| self.name(b, n)) {
                    let bound = parts.next().and_then(|bound| self.ty(b, bound));
                    let owner = b.owner();
                    b.type_param(TypeParam { owner, name, bound, default: None });
                }
                b.push_type(row(TypeKind::Opaque), &[])
            }
            // Template literal types and what has no shape: names inside still refer.
            _ => {
                let operands = self.types(b, node, false, None);
                b.push_type(row(TypeKind::Opaque), &operands)
            }
        }
    }

    /// The type of exactly one literal.
    pub(super) fn literal_type(&mut self, b: &mut FactsBuilder, literal: Node<'_>) -> TypeId {
        let kind = match self.k(literal) {
            K::Number | K::UnaryExpression => LiteralKind::Float,
            K::True | K::False => LiteralKind::Bool,
            K::Null => LiteralKind::Null,
            K::Undefined => LiteralKind::Undefined,
            _ => LiteralKind::String,
        };
        let text = match kind {
            LiteralKind::String => self.constant(literal),
            LiteralKind::Float | LiteralKind::Bool => Some(self.text(literal)),
            _ => None,
        };
        let detail = text.map_or(kind as u32, |text| literal_detail(kind, &text));
        b.push_type(TypeRow { detail, ..row(TypeKind::Literal) }, &[])
    }

    fn many(&mut self, b: &mut FactsBuilder, node: Node<'_>, kind: TypeKind, defining: bool) -> TypeId {
        let flat = matches!(kind, TypeKind::Union | TypeKind::Intersection).then(|| self.k(node));
        let operands = self.types(b, node, defining, flat);
        b.push_type(row(kind), &operands)
    }

    fn named_type(&mut self, b: &mut FactsBuilder, node: Node<'_>, used: RefKind, operands: &[TypeOperand]) -> TypeId {
        // `import("x").T`
        if let Some(import) = self.import_below(node) {
            return self.import_type(b, import, Some(node), operands);
        }
        let expr = self.expression(b, node, Use::Callee);
        let last = match self.k(node) {
            K::TypeIdentifier | K::Identifier => node,
            _ => {
                let property = self.field(node, self.f.name).or_else(|| self.field(node, self.f.property));
                property.unwrap_or(node)
            }
        };
        b.reference(used, expr, start_line(last), column(last), start_line(node));
        b.push_type(TypeRow { expr: Some(expr), ..row(TypeKind::Named) }, operands)
    }

    /// The `import("x")` that a chain of type names starts from.
    fn import_below<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        let mut at = node;
        loop {
            at = match self.k(at) {
                K::CallExpression => {
                    let callee = self.field(at, self.f.function)?;
                    return (self.k(callee) == K::Import).then_some(at);
                }
                K::Identifier | K::TypeIdentifier => return self.mended_import(at).map(|_| at),
                K::MemberExpression | K::NestedTypeIdentifier | K::NestedIdentifier => {
                    self.field(at, self.f.object).or_else(|| self.field(at, self.f.module))?
                }
                _ => return None,
            };
        }
    }

    /// `import("x")` in a type; `chain` is the whole chain that starts with it.
    fn import_type(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        chain: Option<Node<'_>>,
        operands: &[TypeOperand],
    ) -> TypeId {
        let specifier = self.field(node, self.f.arguments).and_then(|a| self.first(a));
        let module = specifier.and_then(|s| self.constant(s)).or_else(|| self.mended_import(node));
        let at = specifier.unwrap_or(node);
        let mut names = Vec::new();
        let mut step = chain;
        while let Some(link) = step.filter(|link| *link != node) {
            let property = self.field(link, self.f.property).or_else(|| self.field(link, self.f.name));
            names.extend(property);
            step = self.field(link, self.f.object).or_else(|| self.field(link, self.f.module));
        }
        names.reverse();
        let first_name = names.first().map(|n| self.text(*n));
        let name_at = names.first().copied().unwrap_or(at);
        self.import_row(b, ImportKind::TypeQuery, module.as_deref(), first_name.as_deref(), None, at, name_at);
        let mut expr = None;
        for name_node in names {
            let name = self.name(b, name_node);
            expr = Some(match expr {
                None => b.leaf(ExprKind::Name, Some(name), 0),
                Some(inner) => {
                    b.compound(ExprKind::Attr, Some(name), &[Operand { role: Role::Value, name: None, expr: inner }])
                }
            });
        }
        let name = module.map(|module| b.intern(&module));
        b.push_type(TypeRow { name, expr, ..row(TypeKind::Import) }, operands)
    }

    fn type_query(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> TypeId {
        let Some(inner) = self.first(node) else { return b.push_type(row(TypeKind::Opaque), &[]) };
        if let Some(import) = self.import_below(inner) {
            let ty = self.import_type(b, import, Some(inner), &[]);
            return b.push_type(row(TypeKind::Typeof), &[argument(ty)]);
        }
        let expr = self.expression(b, inner, Use::Callee);
        let kind = b.facts().expr(expr).kind;
        if matches!(kind, ExprKind::Name | ExprKind::Attr) {
            let last = self.field(inner, self.f.property).unwrap_or(inner);
            // What follows `typeof` is a value, also where a type has the same name.
            b.reference(RefKind::Read, expr, start_line(last), column(last), start_line(node));
        }
        b.push_type(TypeRow { expr: Some(expr), ..row(TypeKind::Typeof) }, &[])
    }

    fn predicate(&mut self, b: &mut FactsBuilder, node: Node<'_>, detail: u32) -> TypeId {
        let name = self.field(node, self.f.name).map(|n| self.name(b, n));
        let ty = self.field(node, self.f.type_).and_then(|t| self.ty(b, t));
        let operands: Vec<TypeOperand> = ty.into_iter().map(argument).collect();
        b.push_type(TypeRow { name, detail, ..row(TypeKind::Predicate) }, &operands)
    }

    fn tuple(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> TypeId {
        let mut operands = Vec::new();
        for child in self.content(node) {
            let (name, inner, optional) = match self.k(child) {
                K::RequiredParameter | K::OptionalParameter => {
                    let pattern = self.field(child, self.f.pattern).or_else(|| self.field(child, self.f.name));
                    let name = pattern.map(|p| self.name(b, p));
                    let Some(inner) = self.field(child, self.f.type_) else { continue };
                    (name, inner, self.k(child) == K::OptionalParameter)
                }
                _ => (None, child, false),
            };
            let Some(mut ty) = self.annotation(b, inner) else { continue };
            if optional {
                ty = b.push_type(TypeRow { detail: 1, ..row(TypeKind::Wrapped) }, &[argument(ty)]);
            }
            operands.push(TypeOperand { role: TypeRole::Argument, name, ty });
        }
        b.push_type(row(TypeKind::Tuple), &operands)
    }

    /// Reads `{ a: T }`: its members are symbols, in an annotation (not `defining`) too.
    fn object_type(&mut self, b: &mut FactsBuilder, node: Node<'_>, defining: bool) -> TypeId {
        let anonymous = std::mem::replace(&mut self.anonymous, !defining);
        let scope = b.open_scope(ScopeKind::Object, None, start_line(node), end_line(node));
        let operands = self.type_members(b, node);
        b.close_scope();
        self.anonymous = anonymous;
        b.push_type(TypeRow { scope: Some(scope), ..row(TypeKind::Object) }, &operands)
    }

    /// `{ [K in keyof T]: V }` inside an object type.
    pub(super) fn mapped_member(&mut self, b: &mut FactsBuilder, node: Node<'_>, clause: Node<'_>) -> TypeOperand {
        let keys = self.field(clause, self.f.type_).and_then(|t| self.ty(b, t));
        if let Some(name) = self.field(clause, self.f.name).map(|n| self.name(b, n)) {
            let owner = b.owner();
            b.type_param(TypeParam { owner, name, bound: keys, default: None });
        }
        if let Some(alias) = self.field(clause, self.f.alias) {
            self.ty(b, alias);
        }
        let value = self.field(node, self.f.type_).and_then(|t| self.annotation(b, t));
        let operands: Vec<TypeOperand> = value.into_iter().chain(keys).map(argument).collect();
        let ty = b.push_type(row(TypeKind::Mapped), &operands);
        TypeOperand { role: TypeRole::Index, name: None, ty }
    }

    /// The function type of a signature, function or constructor type. With a symbol, its result
    /// and type parameters are the symbol's and its parameters are rows of its scope.
    pub(super) fn function_type(&mut self, b: &mut FactsBuilder, node: Node<'_>, symbol: Option<SymbolId>) -> TypeId {
        let scope = b.open_scope(
            if symbol.is_some() { ScopeKind::Function } else { ScopeKind::Lambda },
            symbol,
            start_line(node),
            end_line(node),
        );
        let owner = symbol.unwrap_or_else(|| b.owner());
        if let Some(parameters) = self.field(node, self.f.type_parameters) {
            self.type_parameters(b, parameters, owner);
        }
        if let Some(parameters) = self.field(node, self.f.parameters) {
            let holder = self.holder.take();
            let class = self.class.take();
            self.parameters(b, parameters);
            self.holder = holder;
            self.class = class;
        }
        let result = self.field(node, self.f.return_type).or_else(|| self.field(node, self.f.type_));
        let result = result.and_then(|r| self.annotation(b, r));
        if let Some(symbol) = symbol {
            b.symbol_mut(symbol).ty = result;
        }
        b.close_scope();
        let params: Vec<(ParamKind, Option<NameId>, Option<TypeId>)> =
            b.facts().params.iter().rev().take_while(|p| p.scope == scope).map(|p| (p.kind, p.name, p.ty)).collect();
        let mut operands = Vec::new();
        for (kind, name, ty) in params.into_iter().rev() {
            let role = if kind == ParamKind::Rest { TypeRole::RestParam } else { TypeRole::Param };
            let ty = ty.unwrap_or_else(|| b.push_type(row(TypeKind::Opaque), &[]));
            operands.push(TypeOperand { role, name, ty });
        }
        let result = result.unwrap_or_else(|| b.push_type(row(TypeKind::Opaque), &[]));
        operands.push(TypeOperand { role: TypeRole::Return, name: None, ty: result });
        let detail = u32::from(self.k(node) == K::ConstructorType || self.k(node) == K::ConstructSignature);
        b.push_type(TypeRow { scope: Some(scope), detail, ..row(TypeKind::Func) }, &operands)
    }

    /// Reads `<T extends B = D>` for a symbol.
    pub(super) fn type_parameters(&mut self, b: &mut FactsBuilder, node: Node<'_>, owner: SymbolId) {
        for child in self.of_kind(node, K::TypeParameter) {
            let Some(name) = self.field(child, self.f.name).map(|n| self.name(b, n)) else { continue };
            let bound = self.field(child, self.f.constraint).and_then(|c| self.annotation(b, c));
            let default = self.field(child, self.f.value).and_then(|d| self.annotation(b, d));
            b.type_param(TypeParam { owner, name, bound, default });
        }
    }
}
