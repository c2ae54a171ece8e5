//! Members of classes: methods, constructors, annotation elements, fields, enum constants,
//! initializers, and the parameters of all that has some.

use tree_sitter::Node;

use crate::facts::build::{Extent, ExtentOf, FactsBuilder, NewSymbol};
use crate::facts::model::{
    Binding, Expr, ExprKind, Origin, Param, ParamKind, RefKind, ScopeId, ScopeKind, SymbolFlags, SymbolId, SymbolKind,
    TypeId, TypeKind, Visibility,
};
use crate::lang::java::syntax::declarations::Modifiers;
use crate::lang::java::syntax::kinds::{F, K, field, kind};
use crate::lang::java::syntax::mend::annotations_before;
use crate::lang::java::syntax::signature::{erased, n_dimensions, signature};
use crate::lang::java::syntax::types::{argument, arrays};
use crate::lang::java::syntax::{Walk, row, value};
use crate::lang::node;

/// The parts of a formal parameter.
#[derive(Default)]
pub(super) struct ParameterParts<'t> {
    pub name: Option<Node<'t>>,
    pub ty: Option<Node<'t>>,
    /// `int a[]`.
    pub dimensions: Option<Node<'t>>,
    /// `...`.
    pub dots: Option<Node<'t>>,
    pub annotations: Vec<Node<'t>>,
}

impl Walk<'_> {
    /// A method, constructor, compact constructor or annotation element, with its body.
    pub(super) fn method(&mut self, b: &mut FactsBuilder, at: Node<'_>, doc: Option<Node<'_>>) {
        let Some(name_node) = field(at, F::Name) else { return self.sequence(b, at) };
        let at_kind = kind(at);
        let children: Vec<_> = node::children(at).collect();
        let find = |wanted: K| children.iter().copied().find(|c| kind(*c) == wanted);
        let body = field(at, F::Body);
        let parameters = find(K::FormalParameters);
        let modifiers = self.modifiers(find(K::Modifiers));
        let default_value = match at_kind {
            K::AnnotationTypeElementDeclaration => field(at, F::Value),
            _ => None,
        };
        let erased_parameters = match at_kind {
            K::CompactConstructorDeclaration => self.class.components.clone(),
            _ => self.erased_parameters(parameters),
        };
        let is_constructor = matches!(at_kind, K::ConstructorDeclaration | K::CompactConstructorDeclaration);
        let name = if is_constructor { "<init>".to_owned() } else { self.text(name_node).into_owned() };
        let cut = [body, default_value].into_iter().flatten().map(|n| n.start_byte()).min().unwrap_or(usize::MAX);
        let in_signature = |c: &Node<'_>| c.start_byte() < cut && !matches!(self.text(*c).as_ref(), ";" | "default");
        let line = signature(self.source, children.iter().copied().filter(in_signature));
        let doc_line = self.doc_line(doc);
        let id = b.define(NewSymbol {
            kind: if is_constructor { SymbolKind::Constructor } else { SymbolKind::Method },
            name: &name,
            prefix: "",
            segment: Some(&format!("{name}({erased_parameters})")),
            visibility: self.member_visibility(&modifiers, is_constructor),
            flags: self.method_flags(&modifiers, body.is_some(), parameters),
            branch: b.branch(),
            signature: &line,
            doc: doc_line.as_deref(),
            ty: None,
            start_line: node::start_line(at),
            end_line: node::end_line(at),
            name_line: node::start_line(name_node),
            name_column: node::column(name_node),
        });
        let whole = at.byte_range();
        let body_range = body.or(default_value).map_or(whole.end..whole.end, |b| b.byte_range());
        b.extent(Extent { of: ExtentOf::Symbol(id), node: whole, body: body_range, doc: 0..0 });
        self.in_header(id, |walk| {
            for annotation in &modifiers.annotations {
                walk.decorator(b, id, None, *annotation);
            }
        });
        let scope = b.open_scope(ScopeKind::Function, Some(id), node::start_line(at), node::end_line(at));
        self.function_code(b, scope, node::end_line(at), |walk, b| {
            for child in &children {
                match kind(*child) {
                    K::TypeParameters => walk.type_parameters(b, id, *child),
                    K::FormalParameters => walk.parameters(b, Some(id), scope, *child),
                    K::Throws => {
                        for thrown in node::named_children(*child) {
                            walk.ty(b, thrown);
                        }
                    }
                    K::Dimensions => {
                        let n = walk.dimensions(b, *child);
                        let ty = b.symbol_mut(id).ty.map(|ty| (ty, n));
                        if let Some((ty, n)) = ty {
                            b.symbol_mut(id).ty = Some(arrays(b, ty, n));
                        }
                    }
                    K::Error => walk.recover(b, *child),
                    child_kind if child_kind.is_annotation() && child.start_byte() < cut => {
                        walk.annotation(b, *child);
                    }
                    child_kind if child_kind.is_type() => b.symbol_mut(id).ty = walk.ty(b, *child),
                    _ => {}
                }
            }
            if at_kind == K::CompactConstructorDeclaration {
                walk.compact_parameters(b, scope);
            }
            if let Some(value) = default_value {
                walk.element_default(b, value);
            }
            if let Some(body) = body {
                walk.sequence(b, body);
            }
        });
        b.close_scope();
    }

    fn element_default(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        if kind(at).is_annotation() {
            self.annotation(b, at);
        } else {
            self.expression(b, at);
        }
    }

    pub(super) fn member_visibility(&self, modifiers: &Modifiers<'_>, is_constructor: bool) -> Visibility {
        modifiers.visibility.unwrap_or(match () {
            () if self.class.interface => Visibility::Public,
            () if self.class.is_enum && is_constructor => Visibility::Private,
            () => Visibility::Package,
        })
    }

    pub(super) fn method_flags(
        &self,
        modifiers: &Modifiers<'_>,
        has_body: bool,
        parameters: Option<Node<'_>>,
    ) -> SymbolFlags {
        let mut flags = modifiers.flags;
        if self.class.interface && !has_body {
            flags |= SymbolFlags::ABSTRACT;
        }
        let instance_body = self.class.interface && has_body && !flags.has(SymbolFlags::STATIC);
        if modifiers.has_default || instance_body {
            flags |= SymbolFlags::DEFAULT_METHOD;
        }
        if parameters.is_some_and(|p| node::named_children(p).any(|c| kind(c) == K::SpreadParameter)) {
            flags |= SymbolFlags::VARIADIC;
        }
        if self.class.anonymous {
            flags |= SymbolFlags::ANONYMOUS_OWNER;
        }
        flags
    }

    /// The erased parameter types, joined by commas: `int,String[]`.
    pub(super) fn erased_parameters(&self, parameters: Option<Node<'_>>) -> String {
        let mut names = Vec::new();
        for parameter in parameters.into_iter().flat_map(node::named_children) {
            if !matches!(kind(parameter), K::FormalParameter | K::SpreadParameter) {
                continue;
            }
            let parts = self.parameter_parts(parameter);
            let mut name = parts.ty.map_or_else(|| "?".to_owned(), |ty| erased(ty, self.source));
            let n = parts.dimensions.map_or(0, n_dimensions) + usize::from(kind(parameter) == K::SpreadParameter);
            for _ in 0..n {
                name.push_str("[]");
            }
            names.push(name);
        }
        names.join(",")
    }

    pub(super) fn parameter_parts<'t>(&self, at: Node<'t>) -> ParameterParts<'t> {
        let mut parts = ParameterParts::default();
        for child in node::children(at) {
            match kind(child) {
                _ if !child.is_named() && self.text(child) == "..." => parts.dots = Some(child),
                _ if !child.is_named() => {}
                K::Modifiers => parts.annotations.extend(node::children(child).filter(|c| kind(*c).is_annotation())),
                K::Identifier | K::UnderscorePattern => parts.name = Some(child),
                K::Dimensions => parts.dimensions = Some(child),
                K::VariableDeclarator => {
                    parts.name = field(child, F::Name);
                    parts.dimensions = field(child, F::Dimensions);
                }
                child_kind if child_kind.is_annotation() => parts.annotations.push(child),
                child_kind if child_kind.is_type() => parts.ty = Some(child),
                _ => {}
            }
        }
        parts
    }

    /// The declared type of a parameter; a variadic one is an array.
    pub(super) fn parameter_type(
        &mut self,
        b: &mut FactsBuilder,
        parts: &ParameterParts<'_>,
        variadic: bool,
    ) -> Option<TypeId> {
        let ty = parts.ty.and_then(|ty| self.ty(b, ty))?;
        if let (true, Some(dots)) = (variadic, parts.dots) {
            self.blanked_annotations(b, dots);
        }
        let dimensions = parts.dimensions.map_or(0, |d| self.dimensions(b, d));
        Some(arrays(b, ty, dimensions + usize::from(variadic)))
    }

    /// References of the annotations that were blanked out before `...` is parsed.
    fn blanked_annotations(&mut self, b: &mut FactsBuilder, dots: Node<'_>) {
        for range in annotations_before(self.source, dots.start_byte()) {
            let text = String::from_utf8_lossy(&self.source[range.clone()]).into_owned();
            let before = &self.source[..range.start];
            let line = before.iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
            let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() as u32;
            let mut expr = None;
            for part in text.split('.') {
                let name = b.intern(part);
                expr = Some(match expr {
                    Some(outer) => b.compound(ExprKind::Attr, Some(name), &[value(outer)]),
                    None => b.leaf(ExprKind::Name, Some(name), 0),
                });
            }
            let Some(expr) = expr else { continue };
            let column = column + text.rfind('.').map_or(0, |at| at as u32 + 1);
            match self.header {
                Some(owner) => b.reference_of(owner, RefKind::Decorator, expr, line, column, line),
                None => b.reference(RefKind::Decorator, expr, line, column, line),
            }
        }
    }

    /// The parameters of a function or lambda scope that is open. A receiver parameter
    /// (`Foo this`) takes no argument and is left out.
    pub(super) fn parameters(&mut self, b: &mut FactsBuilder, owner: Option<SymbolId>, scope: ScopeId, at: Node<'_>) {
        let mut position = 0;
        for parameter in node::named_children(at) {
            match kind(parameter) {
                K::FormalParameter | K::SpreadParameter => {
                    let parts = self.parameter_parts(parameter);
                    for annotation in &parts.annotations {
                        match owner {
                            Some(owner) => self.decorator(b, owner, Some(position), *annotation),
                            None => {
                                self.annotation(b, *annotation);
                            }
                        }
                    }
                    let variadic = kind(parameter) == K::SpreadParameter;
                    let ty = self.parameter_type(b, &parts, variadic);
                    self.parameter(b, scope, parts.name.unwrap_or(parameter), ty, variadic);
                    position += 1;
                }
                K::Identifier => {
                    self.parameter(b, scope, parameter, None, false);
                    position += 1;
                }
                K::ReceiverParameter => {
                    for child in node::named_children(parameter).filter(|c| kind(*c).is_type()) {
                        self.ty(b, child);
                    }
                }
                K::Error => self.recover(b, parameter),
                _ => {}
            }
        }
    }

    /// One parameter, by its name.
    pub(super) fn parameter(
        &mut self,
        b: &mut FactsBuilder,
        scope: ScopeId,
        name_node: Node<'_>,
        ty: Option<TypeId>,
        variadic: bool,
    ) {
        let name = b.intern(&self.text(name_node));
        self.locals.push(name);
        b.param(Param {
            scope,
            name: Some(name),
            kind: if variadic { ParamKind::Rest } else { ParamKind::Positional },
            ty,
            default: None,
            optional: false,
            line: node::start_line(name_node),
            column: node::column(name_node),
        });
    }

    /// The parameters of a compact constructor are the record's components.
    fn compact_parameters(&mut self, b: &mut FactsBuilder, scope: ScopeId) {
        let Some(class_scope) = self.class.scope else { return };
        // Params are sorted only when the file ends, so the record's are found by a scan.
        let components: Vec<_> = b.facts().params.iter().filter(|p| p.scope == class_scope).cloned().collect();
        for component in components {
            self.locals.extend(component.name);
            b.param(Param { scope, ..component });
        }
    }

    /// A field declaration: a symbol and a binding for each name.
    pub(super) fn field(&mut self, b: &mut FactsBuilder, at: Node<'_>, doc: Option<Node<'_>>) {
        let children: Vec<_> = node::named_children(at).collect();
        let modifiers = self.modifiers(children.iter().copied().find(|c| kind(*c) == K::Modifiers));
        let ty_node = children.iter().copied().find(|c| kind(*c).is_type());
        let declarators: Vec<_> = children.iter().copied().filter(|c| kind(*c) == K::VariableDeclarator).collect();
        let mut flags = modifiers.flags;
        if self.class.interface {
            flags |= SymbolFlags::STATIC | SymbolFlags::CONST;
        }
        if self.class.anonymous {
            flags |= SymbolFlags::ANONYMOUS_OWNER;
        }
        let doc_line = self.doc_line(doc);
        let mut shared_ty = None;
        for (n, declarator) in declarators.iter().enumerate() {
            let Some(name_node) = field(*declarator, F::Name) else { continue };
            let dimensions = field(*declarator, F::Dimensions);
            let name = self.text(name_node).into_owned();
            let parts = children.iter().copied().filter(|c| kind(*c) == K::Modifiers).chain(ty_node);
            let line = signature(self.source, parts.chain([name_node]).chain(dimensions));
            let extent_node = if declarators.len() == 1 { at } else { *declarator };
            let id = b.define(NewSymbol {
                kind: SymbolKind::Field,
                name: &name,
                prefix: "",
                segment: None,
                visibility: self.member_visibility(&modifiers, false),
                flags,
                branch: b.branch(),
                signature: &line,
                doc: doc_line.as_deref(),
                ty: None,
                start_line: node::start_line(at),
                end_line: node::end_line(extent_node),
                name_line: node::start_line(name_node),
                name_column: node::column(name_node),
            });
            let value_node = field(*declarator, F::Value);
            let whole = extent_node.byte_range();
            let body = value_node.map_or(whole.end..whole.end, |v| v.byte_range());
            b.extent(Extent { of: ExtentOf::Symbol(id), node: whole, body, doc: 0..0 });
            let ty = self.in_header(id, |walk| {
                for annotation in &modifiers.annotations {
                    walk.decorator_once(b, id, *annotation, n == 0);
                }
                if n == 0 {
                    shared_ty = ty_node.and_then(|ty| walk.ty(b, ty));
                }
                let n_own = dimensions.map_or(0, |d| walk.dimensions(b, d));
                shared_ty.map(|ty| arrays(b, ty, n_own))
            });
            b.symbol_mut(id).ty = ty;
            let outer_code = std::mem::replace(&mut self.in_code, true);
            let value = value_node.map(|v| self.expression(b, v));
            self.in_code = outer_code;
            let origin = if value.is_some() { Origin::Assign } else { Origin::Declare };
            let name = b.intern(&name);
            let binding = b.binding(origin, node::start_line(name_node), node::column(name_node));
            b.bind(Binding { name: Some(name), ty, value, symbol: Some(id), ..binding }, &[]);
        }
        for error in children.iter().filter(|c| kind(**c) == K::Error) {
            self.recover(b, *error);
        }
    }

    /// An annotation of a declaration with several names: the first one reads it, the others
    /// only carry the same expression.
    fn decorator_once(&mut self, b: &mut FactsBuilder, id: SymbolId, at: Node<'_>, first: bool) {
        if first {
            return self.decorator(b, id, None, at);
        }
        let line = node::start_line(at);
        let same = b.facts().decorators.iter().rev().find(|d| d.line == line && d.owner < id).cloned();
        if let Some(same) = same {
            b.decorator(crate::facts::model::Decorator { owner: id, ..same });
        }
    }

    /// An enum constant: its value is a call of the enum's constructor, with the scope of its
    /// body if it has one.
    pub(super) fn enum_constant(&mut self, b: &mut FactsBuilder, at: Node<'_>, doc: Option<Node<'_>>) {
        let Some(name_node) = field(at, F::Name) else { return self.sequence(b, at) };
        let name = self.text(name_node).into_owned();
        let arguments = field(at, F::Arguments);
        let body = field(at, F::Body);
        let modifiers = self.modifiers(node::named_children(at).find(|c| kind(*c) == K::Modifiers));
        let doc_line = self.doc_line(doc);
        let id = b.define(NewSymbol {
            kind: SymbolKind::EnumMember,
            name: &name,
            prefix: "",
            segment: None,
            visibility: Visibility::Public,
            flags: SymbolFlags::STATIC | SymbolFlags::CONST,
            branch: b.branch(),
            signature: &name,
            doc: doc_line.as_deref(),
            ty: None,
            start_line: node::start_line(at),
            end_line: node::end_line(at),
            name_line: node::start_line(name_node),
            name_column: node::column(name_node),
        });
        let whole = at.byte_range();
        let body_start = arguments.or(body).map_or(whole.end, |n| n.start_byte());
        b.extent(Extent { of: ExtentOf::Symbol(id), body: body_start..whole.end, node: whole, doc: 0..0 });
        self.in_header(id, |walk| {
            for annotation in &modifiers.annotations {
                walk.decorator(b, id, None, *annotation);
            }
        });
        let class_name = b.intern(&self.class.name);
        let callee = b.leaf(ExprKind::Name, Some(class_name), 0);
        let mut operands = vec![value(callee)];
        let outer_code = std::mem::replace(&mut self.in_code, true);
        if let Some(arguments) = arguments {
            self.arguments(b, arguments, &mut operands);
        }
        let scope = body.map(|body| self.anonymous_body(b, body));
        self.in_code = outer_code;
        let expr = b.push_expr(Expr { scope, ..row(ExprKind::New) }, &operands);
        self.refer(b, RefKind::New, expr, name_node, at);
        let name = b.intern(&name);
        let binding = b.binding(Origin::Assign, node::start_line(name_node), node::column(name_node));
        b.bind(Binding { name: Some(name), value: Some(expr), symbol: Some(id), ..binding }, &[]);
    }

    /// The block of `static { … }` or `{ … }` in a class: code of the class.
    pub(super) fn initializer(&mut self, b: &mut FactsBuilder, block: Node<'_>) {
        let outer_code = std::mem::replace(&mut self.in_code, true);
        self.statement(b, block);
        self.in_code = outer_code;
    }

    /// The union of a multi-catch, or its one type.
    pub(super) fn union(&mut self, b: &mut FactsBuilder, types: &[TypeId]) -> Option<TypeId> {
        match types {
            [] => None,
            [one] => Some(*one),
            many => {
                let operands: Vec<_> = many.iter().copied().map(argument).collect();
                Some(b.type_of(TypeKind::Union, &operands))
            }
        }
    }
}
