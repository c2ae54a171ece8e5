//! Patterns: what destructuring and parameters bind, by which steps, under which name.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::node::{children, column, named_children, start_line};
use crate::lang::typescript::syntax::expressions::Use;
use crate::lang::typescript::syntax::kinds::K;
use crate::lang::typescript::syntax::modules::Required;
use crate::lang::typescript::syntax::{Definition, Walk};

/// Where and how a pattern binds.
pub(super) struct Place<'t> {
    pub scope: ScopeId,
    pub origin: Origin,
    /// The declared type of the whole pattern.
    pub ty: Option<TypeId>,
    /// The module whose exports are destructured.
    pub required: Option<Required>,
    pub flags: SymbolFlags,
    /// The whole statement, for the extents of module variables.
    pub whole: Node<'t>,
    /// Whether names are declared here (else they are assigned).
    pub declares: bool,
}

impl Walk<'_> {
    /// Binds every name of a pattern. Gives the names, with the symbols of module variables.
    pub(super) fn bind_pattern(
        &mut self,
        b: &mut FactsBuilder,
        pattern: Node<'_>,
        value: Option<ExprId>,
        place: &Place<'_>,
    ) -> Vec<(NameId, Option<SymbolId>)> {
        let mut names = Vec::new();
        self.pattern(b, pattern, value, place, &mut Vec::new(), None, &mut names);
        names
    }

    #[allow(clippy::too_many_arguments)]
    fn pattern(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        value: Option<ExprId>,
        place: &Place<'_>,
        steps: &mut Vec<Step>,
        default: Option<ExprId>,
        names: &mut Vec<(NameId, Option<SymbolId>)>,
    ) {
        let done = b.nested(|b| match self.k(node) {
            K::Identifier | K::ShorthandPattern => self.bind_name(b, node, value, place, steps, default, names),
            K::ObjectPattern => {
                for child in named_children(node) {
                    self.object_part(b, child, value, place, steps, names);
                }
            }
            K::ArrayPattern => {
                let mut position = 0;
                for child in children(node) {
                    match self.k(child) {
                        K::TComma => position += 1,
                        K::RestPattern => {
                            if let Some(inner) = self.first(child) {
                                steps.push(Step { kind: StepKind::Rest, name: None, detail: position });
                                self.pattern(b, inner, value, place, steps, None, names);
                                steps.pop();
                            }
                        }
                        K::Comment => {}
                        _ if child.is_named() => {
                            steps.push(Step { kind: StepKind::Position, name: None, detail: position });
                            self.pattern(b, child, value, place, steps, None, names);
                            steps.pop();
                        }
                        _ => {}
                    }
                }
            }
            K::AssignmentPattern | K::ObjectAssignmentPattern => {
                let default = self.field(node, self.f.right).map(|right| self.expression(b, right, Use::Callback));
                if let Some(left) = self.field(node, self.f.left) {
                    self.pattern(b, left, value, place, steps, default, names);
                }
            }
            K::RestPattern => {
                if let Some(inner) = self.first(node) {
                    self.pattern(b, inner, value, place, steps, None, names);
                }
            }
            // Assignment to a chain inside a destructuring assignment.
            K::MemberExpression | K::SubscriptExpression | K::NonNullExpression | K::Parenthesized => {
                let target = self.expression(b, node, Use::Write);
                let mut binding = b.binding(place.origin, start_line(node), column(node));
                binding.target = Some(target);
                binding.value = value;
                binding.default = default;
                b.bind(binding, steps);
            }
            _ => {}
        });
        if done.is_none() {
            steps.clear();
        }
    }

    fn object_part(
        &mut self,
        b: &mut FactsBuilder,
        child: Node<'_>,
        value: Option<ExprId>,
        place: &Place<'_>,
        steps: &mut Vec<Step>,
        names: &mut Vec<(NameId, Option<SymbolId>)>,
    ) {
        let (key, inner) = match self.k(child) {
            K::ShorthandPattern => (Some(child), child),
            K::ObjectAssignmentPattern => (self.field(child, self.f.left), child),
            K::PairPattern => {
                let Some(inner) = self.field(child, self.f.value) else { return };
                (self.field(child, self.f.key), inner)
            }
            K::RestPattern => {
                if let Some(inner) = self.first(child) {
                    steps.push(Step { kind: StepKind::Rest, name: None, detail: 0 });
                    self.pattern(b, inner, value, place, steps, None, names);
                    steps.pop();
                }
                return;
            }
            _ => return,
        };
        let name = key.and_then(|key| match self.k(key) {
            K::ShorthandPattern => Some(self.text(key)),
            _ => self.property_name(key),
        });
        if let Some(computed) = key.filter(|key| self.k(*key) == K::ComputedName).and_then(|key| self.first(key)) {
            self.expression(b, computed, Use::Read);
        }
        let step = match name {
            Some(name) => Step { kind: StepKind::Key, name: Some(b.intern(&name)), detail: 0 },
            None => Step { kind: StepKind::Computed, name: None, detail: 0 },
        };
        steps.push(step);
        self.pattern(b, inner, value, place, steps, None, names);
        steps.pop();
    }

    #[allow(clippy::too_many_arguments)]
    fn bind_name(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        value: Option<ExprId>,
        place: &Place<'_>,
        steps: &[Step],
        default: Option<ExprId>,
        names: &mut Vec<(NameId, Option<SymbolId>)>,
    ) {
        let name = self.text(node);
        let name_id = b.intern(&name);
        let kind = b.facts().scope(place.scope).kind;
        let is_symbol = place.declares
            && self.depth_in_functions == 0
            && place.origin == Origin::Assign
            && matches!(kind, ScopeKind::Module | ScopeKind::Namespace | ScopeKind::Ambient);
        let mut symbol = None;
        if is_symbol {
            let visibility = self.own_visibility(place.flags.has(SymbolFlags::EXPORTED));
            let parent = b.owner();
            let keyword = if place.flags.has(SymbolFlags::CONST) { "const" } else { "let" };
            let defined = self.define_under(
                b,
                parent,
                place.scope,
                Definition {
                    kind: SymbolKind::Variable,
                    name: &name,
                    prefix: "",
                    flags: place.flags,
                    visibility,
                    signature: &format!("{keyword} {name}"),
                    node: place.whole,
                    name_node: node,
                },
            );
            self.member_extent(b, defined, node.byte_range(), None);
            symbol = Some(defined);
        }
        if let (Some(required), [Step { kind: StepKind::Key, name: Some(key), .. }]) = (&place.required, steps) {
            let key = b.facts().name(*key).to_owned();
            if required.member.is_none() {
                self.import_row(b, ImportKind::Require, Some(&required.module), Some(&key), Some(&name), node, node);
            }
        }
        if !place.declares {
            let target = b.leaf(ExprKind::Name, Some(name_id), 0);
            b.reference(RefKind::Write, target, start_line(node), column(node), start_line(node));
        }
        let mut binding = b.binding(place.origin, start_line(node), column(node));
        binding.scope = place.scope;
        binding.name = Some(name_id);
        binding.value = value;
        binding.ty = place.ty.filter(|_| steps.is_empty());
        binding.symbol = symbol;
        binding.default = default;
        b.bind(binding, steps);
        names.push((name_id, symbol));
    }

    /// Reads the parameters of a function whose scope is open. Parameter properties become
    /// fields of the open class.
    pub(super) fn parameters(&mut self, b: &mut FactsBuilder, node: Node<'_>) {
        if self.k(node) != K::FormalParameters {
            // `x => …`
            self.parameter(b, node, node, 0);
            return;
        }
        let mut position = 0;
        for child in named_children(node) {
            match self.k(child) {
                K::Comment | K::HtmlComment | K::Error => continue,
                _ => self.parameter(b, child, child, position),
            }
            position += 1;
        }
    }

    fn parameter(&mut self, b: &mut FactsBuilder, node: Node<'_>, whole: Node<'_>, position: u32) {
        let mut pattern = node;
        let mut ty = None;
        let mut default = None;
        let mut optional = false;
        match self.k(node) {
            K::RequiredParameter | K::OptionalParameter => {
                optional = self.k(node) == K::OptionalParameter;
                for decorator in self.of_kind(node, K::Decorator) {
                    let owner = b.owner();
                    self.decorator(b, decorator, owner, ParamPosition(Some(position)));
                }
                ty = self.field(node, self.f.type_).and_then(|t| self.annotation(b, t));
                default = self.field(node, self.f.value).map(|v| self.expression(b, v, Use::Callback));
                let inner = self.field(node, self.f.pattern).or_else(|| self.field(node, self.f.name));
                let Some(inner) = inner else { return };
                pattern = inner;
            }
            K::AssignmentPattern => {
                default = self.field(node, self.f.right).map(|v| self.expression(b, v, Use::Callback));
                let Some(left) = self.field(node, self.f.left) else { return };
                pattern = left;
            }
            _ => {}
        }
        let mut kind = ParamKind::Positional;
        if self.k(pattern) == K::RestPattern {
            kind = ParamKind::Rest;
            let Some(inner) = self.first(pattern) else { return };
            pattern = inner;
        }
        let name = match self.k(pattern) {
            K::This => {
                kind = ParamKind::This;
                Some(b.intern("this"))
            }
            K::Identifier => Some(self.name(b, pattern)),
            _ => None,
        };
        if let (None, Some(name)) = (ty, name) {
            let name = b.facts().name(name).to_owned();
            ty = self.documented_param(b, &name);
            if kind == ParamKind::Rest {
                ty = ty.map(|ty| super::jsdoc::array_of(b, ty));
            }
        }
        let scope = b.scope();
        optional |= default.is_some();
        let (line, column) = (start_line(pattern), column(pattern));
        b.param(Param { scope, name, kind, ty, default, optional, line, column });
        match name {
            None => {
                let row = Expr {
                    kind: ExprKind::Param,
                    name: None,
                    ty: None,
                    scope: Some(scope),
                    symbol: None,
                    detail: position,
                    first: 0,
                    len: 0,
                };
                let value = b.push_expr(row, &[]);
                let place = Place {
                    scope,
                    origin: Origin::Parameter,
                    ty: None,
                    required: None,
                    flags: SymbolFlags::default(),
                    whole,
                    declares: true,
                };
                self.bind_pattern(b, pattern, Some(value), &place);
            }
            Some(name) => self.parameter_property(b, node, pattern, name, ty),
        }
    }

    fn parameter_property(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        pattern: Node<'_>,
        name: NameId,
        ty: Option<TypeId>,
    ) {
        if !matches!(self.k(node), K::RequiredParameter | K::OptionalParameter) {
            return;
        }
        let mut flags = SymbolFlags::FROM_PARAMETER;
        let mut visibility = Visibility::Public;
        let mut is_property = false;
        for child in children(node) {
            match self.k(child) {
                K::AccessibilityModifier => {
                    is_property = true;
                    visibility = self.accessibility(child);
                }
                K::TReadonly => {
                    is_property = true;
                    flags |= SymbolFlags::READONLY;
                }
                K::OverrideModifier => {
                    is_property = true;
                    flags |= SymbolFlags::OVERRIDE;
                }
                _ => {}
            }
        }
        let Some(class) = self.class.filter(|_| is_property) else { return };
        if self.k(node) == K::OptionalParameter {
            flags |= SymbolFlags::OPTIONAL;
        }
        let text = self.text(pattern);
        let head = self.source.get(node.byte_range()).map(super::signature::signature).unwrap_or_default();
        let depth = self.depth_in_functions;
        self.depth_in_functions = depth.saturating_sub(1);
        let symbol = self.define_under(
            b,
            class.symbol,
            class.scope,
            Definition {
                kind: SymbolKind::Field,
                name: &text,
                prefix: "",
                flags,
                visibility,
                signature: &head,
                node,
                name_node: pattern,
            },
        );
        self.depth_in_functions = depth;
        self.member_extent(b, symbol, node.byte_range(), None);
        b.symbol_mut(symbol).ty = ty;
        let this = b.leaf(ExprKind::This, None, 0);
        let target = b.compound(ExprKind::Attr, Some(name), &[Operand { role: Role::Value, name: None, expr: this }]);
        let value = b.leaf(ExprKind::Name, Some(name), 0);
        let mut binding = b.binding(Origin::Assign, start_line(pattern), column(pattern));
        binding.target = Some(target);
        binding.value = Some(value);
        binding.ty = ty;
        binding.symbol = Some(symbol);
        b.bind(binding, &[]);
    }
}
