//! Types as written: names with arguments, arrays, wildcards, bounds.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::{
    ExprId, ExprKind, RefKind, SymbolId, TypeId, TypeKind, TypeOperand, TypeParam, TypeRole, TypeRow,
};
use crate::lang::java::syntax::Walk;
use crate::lang::java::syntax::kinds::{K, kind};
use crate::lang::java::syntax::signature::n_dimensions;
use crate::lang::java::syntax::value;
use crate::lang::node;

impl Walk<'_> {
    /// A type with a `type` reference for every class it names; `None` for `var`.
    pub(super) fn ty(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> Option<TypeId> {
        self.ty_as(b, at, RefKind::Type)
    }

    /// A type whose own name gets a reference of `ref_kind` (`extends`, `new`), its arguments `type`.
    pub(super) fn ty_as(&mut self, b: &mut FactsBuilder, at: Node<'_>, ref_kind: RefKind) -> Option<TypeId> {
        b.nested(|b| self.ty_inner(b, at, ref_kind))?
    }

    fn ty_inner(&mut self, b: &mut FactsBuilder, at: Node<'_>, ref_kind: RefKind) -> Option<TypeId> {
        match kind(at) {
            K::TypeIdentifier if self.text(at) == "var" => None,
            K::TypeIdentifier | K::ScopedTypeIdentifier | K::Identifier | K::ScopedIdentifier => {
                let expr = self.type_name(b, at, Some(ref_kind))?;
                Some(named(b, expr, 0, &[]))
            }
            K::GenericType => {
                let mut expr = None;
                let mut arguments = None;
                for child in node::named_children(at) {
                    match kind(child) {
                        K::TypeArguments => arguments = Some(child),
                        child_kind if child_kind.is_type() => expr = self.type_name(b, child, Some(ref_kind)),
                        _ => {}
                    }
                }
                let (operands, diamond) = arguments.map_or((Vec::new(), false), |a| self.type_arguments(b, a));
                Some(named(b, expr?, u32::from(diamond), &operands))
            }
            K::ArrayType => {
                let mut element = None;
                let mut dimensions = 0;
                for child in node::named_children(at) {
                    match kind(child) {
                        K::Dimensions => dimensions += self.dimensions(b, child),
                        child_kind if child_kind.is_type() => element = self.ty_as(b, child, ref_kind),
                        _ => {}
                    }
                }
                Some(arrays(b, element?, dimensions))
            }
            K::AnnotatedType => {
                let mut ty = None;
                for child in node::named_children(at) {
                    match kind(child) {
                        child_kind if child_kind.is_annotation() => {
                            self.annotation(b, child);
                        }
                        child_kind if child_kind.is_type() => ty = self.ty_as(b, child, ref_kind),
                        _ => {}
                    }
                }
                ty
            }
            K::IntegralType | K::FloatingPointType | K::BooleanType | K::VoidType => {
                let expr = self.name(b, at);
                Some(named(b, expr, 0, &[]))
            }
            K::Wildcard => Some(self.wildcard(b, at)),
            _ => None,
        }
    }

    /// `?`, `? extends T` (`detail` 0), `? super T` (`detail` 1).
    fn wildcard(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> TypeId {
        let mut bound = None;
        let mut lower = false;
        for child in node::named_children(at) {
            match kind(child) {
                K::Super => lower = true,
                child_kind if child_kind.is_annotation() => {
                    self.annotation(b, child);
                }
                _ => bound = self.ty(b, child).or(bound),
            }
        }
        let operands: Vec<_> = bound.into_iter().map(argument).collect();
        b.push_type(TypeRow { detail: u32::from(lower), ..bare(TypeKind::Wildcard) }, &operands)
    }

    /// The arguments of `<…>`, and whether it is the empty `<>`.
    pub(super) fn type_arguments(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> (Vec<TypeOperand>, bool) {
        let mut operands = Vec::new();
        let mut empty = true;
        for child in node::named_children(at).filter(|c| !kind(*c).is_comment()) {
            empty = false;
            let ty = match kind(child) {
                K::Error => None,
                _ => self.ty(b, child),
            };
            let ty = ty.unwrap_or_else(|| b.type_of(TypeKind::Opaque, &[]));
            operands.push(argument(ty));
        }
        (operands, empty)
    }

    /// The chain that names a type; `ref_kind` is the reference of its last part, earlier parts
    /// are `type`. Type variables are no references.
    pub(super) fn type_name(
        &mut self,
        b: &mut FactsBuilder,
        at: Node<'_>,
        ref_kind: Option<RefKind>,
    ) -> Option<ExprId> {
        match kind(at) {
            K::TypeIdentifier | K::Identifier => {
                let name = b.intern(&self.text(at));
                let expr = b.leaf(ExprKind::Name, Some(name), 0);
                if let Some(ref_kind) = ref_kind.filter(|_| !self.type_variables.contains(&name)) {
                    self.refer(b, ref_kind, expr, at, at);
                }
                Some(expr)
            }
            K::GenericType => {
                let mut expr = None;
                for child in node::named_children(at) {
                    match kind(child) {
                        K::TypeArguments => {
                            self.type_arguments(b, child);
                        }
                        _ => expr = b.nested(|b| self.type_name(b, child, ref_kind)).flatten(),
                    }
                }
                expr
            }
            K::ScopedTypeIdentifier => {
                let children: Vec<_> = node::named_children(at).collect();
                let (last, scope) = children.split_last()?;
                let mut outer = None;
                for child in scope {
                    match kind(*child) {
                        child_kind if child_kind.is_annotation() => {
                            self.annotation(b, *child);
                        }
                        child_kind if child_kind.is_comment() => {}
                        _ => outer = b.nested(|b| self.type_name(b, *child, Some(RefKind::Type))).flatten(),
                    }
                }
                let name = b.intern(&self.text(*last));
                let expr = match outer {
                    Some(outer) => b.compound(ExprKind::Attr, Some(name), &[value(outer)]),
                    None => b.leaf(ExprKind::Name, Some(name), 0),
                };
                if let Some(ref_kind) = ref_kind {
                    self.refer(b, ref_kind, expr, *last, at);
                }
                Some(expr)
            }
            K::ScopedIdentifier => self.scoped_name(b, at, ref_kind.unwrap_or(RefKind::Type)),
            K::AnnotatedType => {
                let inner = node::named_children(at).find(|c| kind(*c).is_type())?;
                b.nested(|b| self.type_name(b, inner, ref_kind)).flatten()
            }
            _ => None,
        }
    }

    /// `<T extends A & B>` of a class or method. The names stay in reach until the caller drops them.
    pub(super) fn type_parameters(&mut self, b: &mut FactsBuilder, owner: SymbolId, at: Node<'_>) {
        let parameters: Vec<_> = node::named_children(at).filter(|c| kind(*c) == K::TypeParameter).collect();
        // A bound may name a later parameter.
        for name in parameters.iter().filter_map(|p| parameter_name(*p)) {
            let name = b.intern(&self.text(name));
            self.type_variables.push(name);
        }
        for parameter in &parameters {
            let Some(name_node) = parameter_name(*parameter) else { continue };
            let name = b.intern(&self.text(name_node));
            let mut bounds = Vec::new();
            for child in node::named_children(*parameter) {
                match kind(child) {
                    K::TypeBound => bounds.extend(node::named_children(child).filter_map(|t| self.ty(b, t))),
                    child_kind if child_kind.is_annotation() => {
                        self.annotation(b, child);
                    }
                    _ => {}
                }
            }
            let bound = match bounds.as_slice() {
                [] => None,
                [one] => Some(*one),
                many => {
                    let operands: Vec<_> = many.iter().copied().map(argument).collect();
                    Some(b.type_of(TypeKind::Intersection, &operands))
                }
            };
            b.type_param(TypeParam { owner, name, bound, default: None });
        }
    }

    /// The number of dimensions of `[][]`; annotations in them are read.
    pub(super) fn dimensions(&mut self, b: &mut FactsBuilder, at: Node<'_>) -> usize {
        for child in node::named_children(at).filter(|c| kind(*c).is_annotation()) {
            self.annotation(b, child);
        }
        n_dimensions(at)
    }
}

/// The name of a type parameter.
fn parameter_name(at: Node<'_>) -> Option<Node<'_>> {
    node::named_children(at).find(|c| matches!(kind(*c), K::TypeIdentifier | K::Identifier))
}

/// A named type.
pub(super) fn named(b: &mut FactsBuilder, expr: ExprId, detail: u32, operands: &[TypeOperand]) -> TypeId {
    b.push_type(TypeRow { expr: Some(expr), detail, ..bare(TypeKind::Named) }, operands)
}

/// `ty` with `dimensions` times `[]`.
pub(super) fn arrays(b: &mut FactsBuilder, ty: TypeId, dimensions: usize) -> TypeId {
    (0..dimensions).fold(ty, |element, _| b.type_of(TypeKind::Array, &[argument(element)]))
}

/// A type argument.
pub(super) fn argument(ty: TypeId) -> TypeOperand {
    TypeOperand { role: TypeRole::Argument, name: None, ty }
}

fn bare(kind: TypeKind) -> TypeRow {
    TypeRow { kind, expr: None, name: None, scope: None, detail: 0, first: 0, len: 0 }
}
