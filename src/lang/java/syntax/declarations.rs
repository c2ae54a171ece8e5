//! Classes, interfaces, enums, records, annotation types, and the bodies of anonymous classes.

use tree_sitter::Node;

use crate::facts::build::{Extent, ExtentOf, FactsBuilder, NewSymbol};
use crate::facts::model::{
    Binding, Heritage, HeritageKind, Origin, Param, ParamKind, RefKind, ScopeId, ScopeKind, SymbolFlags, SymbolId,
    SymbolKind, Visibility,
};
use crate::facts::table::Id;
use crate::lang::java::syntax::kinds::{F, K, field, kind};
use crate::lang::java::syntax::signature::{erased, first_sentence, signature};
use crate::lang::java::syntax::{ClassContext, Walk};
use crate::lang::node;

/// What the modifiers of a declaration say.
#[derive(Default)]
pub(super) struct Modifiers<'t> {
    pub flags: SymbolFlags,
    pub visibility: Option<Visibility>,
    /// `default` or `native`: an interface member with a body, a method without one.
    pub has_default: bool,
    pub annotations: Vec<Node<'t>>,
}

impl Walk<'_> {
    /// Reads modifiers: flags, visibility, annotations in order (`@Override` sets its flag).
    pub(super) fn modifiers<'t>(&self, at: Option<Node<'t>>) -> Modifiers<'t> {
        let mut modifiers = Modifiers::default();
        for child in at.into_iter().flat_map(node::children) {
            match kind(child) {
                K::WordPublic => modifiers.visibility = Some(Visibility::Public),
                K::WordProtected => modifiers.visibility = Some(Visibility::Protected),
                K::WordPrivate => modifiers.visibility = Some(Visibility::Private),
                K::WordStatic => modifiers.flags |= SymbolFlags::STATIC,
                K::WordFinal => modifiers.flags |= SymbolFlags::CONST,
                K::WordAbstract => modifiers.flags |= SymbolFlags::ABSTRACT,
                K::WordDefault | K::WordNative => modifiers.has_default = true,
                child_kind if child_kind.is_annotation() => {
                    let name = field(child, F::Name).map(|n| self.text(n));
                    if matches!(name.as_deref(), Some("Override" | "java.lang.Override")) {
                        modifiers.flags |= SymbolFlags::OVERRIDE;
                    }
                    modifiers.annotations.push(child);
                }
                _ => {}
            }
        }
        modifiers
    }

    /// The first sentence of the Javadoc comment before a declaration.
    pub(super) fn doc_line(&self, doc: Option<Node<'_>>) -> Option<String> {
        first_sentence(&self.text(doc?))
    }

    /// A class, interface, enum, record or annotation type, with all its members.
    pub(super) fn class(&mut self, b: &mut FactsBuilder, at: Node<'_>, doc: Option<Node<'_>>) {
        let Some(name_node) = field(at, F::Name) else { return self.sequence(b, at) };
        let header: Vec<_> = node::named_children(at).collect();
        let find = |wanted: K| header.iter().copied().find(|c| kind(*c) == wanted);
        let body = field(at, F::Body);
        let modifiers = self.modifiers(find(K::Modifiers));
        let symbol_kind = match kind(at) {
            K::InterfaceDeclaration => SymbolKind::Interface,
            K::EnumDeclaration => SymbolKind::Enum,
            K::RecordDeclaration => SymbolKind::Record,
            K::AnnotationTypeDeclaration => SymbolKind::Annotation,
            _ => SymbolKind::Class,
        };
        let name = self.text(name_node).into_owned();
        let line = signature(self.source, node::children(at).filter(|c| body.is_none_or(|body| c.id() != body.id())));
        let doc_line = self.doc_line(doc);
        let id = self.define_class(
            b,
            symbol_kind,
            &modifiers,
            NewClass { name: &name, signature: &line, doc: doc_line.as_deref(), at, name_node },
        );
        let whole = at.byte_range();
        let body_range = body.map_or(whole.end..whole.end, |b| b.byte_range());
        b.extent(Extent { of: ExtentOf::Symbol(id), node: whole, body: body_range, doc: 0..0 });

        let n_variables = self.type_variables.len();
        self.in_header(id, |walk| {
            for annotation in &modifiers.annotations {
                walk.decorator(b, id, None, *annotation);
            }
            for child in &header {
                walk.class_header(b, id, *child);
            }
        });
        let scope = b.open_scope(ScopeKind::Class, Some(id), node::start_line(at), node::end_line(at));
        let mut class = ClassContext {
            name,
            interface: matches!(symbol_kind, SymbolKind::Interface | SymbolKind::Annotation),
            is_enum: symbol_kind == SymbolKind::Enum,
            scope: Some(scope),
            ..ClassContext::default()
        };
        if let Some(parameters) = find(K::FormalParameters) {
            class.components = self.components(b, scope, parameters);
        }
        self.class_code(b, class, node::end_line(at), |walk, b| {
            if let Some(body) = body {
                walk.sequence(b, body);
            }
            for error in header.iter().filter(|c| kind(**c) == K::Error) {
                walk.recover(b, *error);
            }
        });
        b.close_scope();
        self.type_variables.truncate(n_variables);
    }

    /// Defines the symbol of a class.
    pub(super) fn define_class(
        &mut self,
        b: &mut FactsBuilder,
        symbol_kind: SymbolKind,
        modifiers: &Modifiers<'_>,
        new: NewClass<'_, '_>,
    ) -> SymbolId {
        let top_level = b.owner().index() == 0;
        let visibility = modifiers.visibility.unwrap_or(match self.class.interface {
            true => Visibility::Public,
            false => Visibility::Package,
        });
        let mut flags = modifiers.flags;
        let nested_static = symbol_kind != SymbolKind::Class || self.class.interface;
        if !top_level && nested_static {
            flags |= SymbolFlags::STATIC;
        }
        if matches!(symbol_kind, SymbolKind::Interface | SymbolKind::Annotation) {
            flags |= SymbolFlags::ABSTRACT;
        }
        if top_level && visibility == Visibility::Public {
            flags |= SymbolFlags::EXPORTED;
        }
        if self.in_code {
            flags |= SymbolFlags::LOCAL;
        } else if self.class.anonymous {
            flags |= SymbolFlags::ANONYMOUS_OWNER;
        }
        b.define(NewSymbol {
            kind: symbol_kind,
            name: new.name,
            prefix: "",
            segment: None,
            visibility,
            flags,
            branch: b.branch(),
            signature: new.signature,
            doc: new.doc,
            ty: None,
            start_line: node::start_line(new.at),
            end_line: node::end_line(new.at),
            name_line: node::start_line(new.name_node),
            name_column: node::column(new.name_node),
        })
    }

    /// Type parameters and bases; other parts of the header are read by the caller.
    pub(super) fn class_header(&mut self, b: &mut FactsBuilder, id: SymbolId, at: Node<'_>) {
        let (heritage, ref_kind) = match kind(at) {
            K::TypeParameters => return self.type_parameters(b, id, at),
            K::Superclass | K::ExtendsInterfaces => (HeritageKind::Extends, RefKind::Extends),
            K::SuperInterfaces => (HeritageKind::Implements, RefKind::Implements),
            K::Permits => (HeritageKind::Permits, RefKind::Type),
            _ => return,
        };
        let bases: Vec<_> = node::named_children(at)
            .flat_map(|c| match kind(c) {
                K::TypeList => node::named_children(c).collect(),
                _ => vec![c],
            })
            .filter(|c| kind(*c).is_type())
            .collect();
        for base in bases {
            if let Some(ty) = self.ty_as(b, base, ref_kind) {
                let (line, column) = (node::start_line(base), node::column(base));
                b.heritage(Heritage { owner: id, kind: heritage, ty, line, column });
            }
        }
    }

    /// A record's components: fields of their own, and parameters in the record's scope.
    /// Gives their erased types, as the canonical constructor's name has them.
    fn components(&mut self, b: &mut FactsBuilder, scope: ScopeId, at: Node<'_>) -> String {
        let mut names = Vec::new();
        for component in node::named_children(at) {
            if !matches!(kind(component), K::FormalParameter | K::SpreadParameter) {
                continue;
            }
            let parts = self.parameter_parts(component);
            let (Some(name_node), Some(ty_node)) = (parts.name, parts.ty) else { continue };
            let variadic = kind(component) == K::SpreadParameter;
            let mut erased_name = erased(ty_node, self.source);
            if variadic {
                erased_name.push_str("[]");
            }
            names.push(erased_name);
            let name = self.text(name_node).into_owned();
            let line = signature(self.source, node::children(component));
            let (start_line, end_line) = (node::start_line(component), node::end_line(component));
            let id = b.define(NewSymbol {
                kind: SymbolKind::Field,
                name: &name,
                prefix: "",
                segment: None,
                visibility: Visibility::Public,
                flags: SymbolFlags::FROM_PARAMETER | SymbolFlags::CONST,
                branch: b.branch(),
                signature: &line,
                doc: None,
                ty: None,
                start_line,
                end_line,
                name_line: node::start_line(name_node),
                name_column: node::column(name_node),
            });
            // The record's own signature covers its components too.
            let whole = component.byte_range();
            b.extent(Extent { of: ExtentOf::Member(id), body: whole.end..whole.end, node: whole, doc: 0..0 });
            let ty = self.in_header(id, |walk| {
                for annotation in &parts.annotations {
                    walk.decorator(b, id, None, *annotation);
                }
                walk.parameter_type(b, &parts, variadic)
            });
            b.symbol_mut(id).ty = ty;
            let name = b.intern(&name);
            let (line, column) = (node::start_line(name_node), node::column(name_node));
            b.bind(Binding { name: Some(name), ty, symbol: Some(id), ..b.binding(Origin::Declare, line, column) }, &[]);
            let param_kind = if variadic { ParamKind::Rest } else { ParamKind::Positional };
            let param =
                Param { scope, name: Some(name), kind: param_kind, ty, default: None, optional: false, line, column };
            b.param(param);
        }
        names.join(",")
    }

    /// The body of an anonymous class: a class scope whose members belong to the symbol around it.
    pub(super) fn anonymous_body(&mut self, b: &mut FactsBuilder, body: Node<'_>) -> ScopeId {
        let scope = b.open_scope(ScopeKind::Class, None, node::start_line(body), node::end_line(body));
        let class = ClassContext { anonymous: true, scope: Some(scope), ..ClassContext::default() };
        self.class_code(b, class, node::end_line(body), |walk, b| walk.sequence(b, body));
        b.close_scope();
        scope
    }
}

/// The parts of a class that is being defined.
pub(super) struct NewClass<'a, 't> {
    pub name: &'a str,
    pub signature: &'a str,
    pub doc: Option<&'a str>,
    pub at: Node<'t>,
    pub name_node: Node<'t>,
}
