//! Calls and `new`: arguments to operands, and the calls that mean more than a call: `require`,
//! `import()`, `Object.assign`, `Object.defineProperty`, mocks by path.

use std::ops::Range;

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::node::{column, named_children, start_line};
use crate::lang::typescript::syntax::Walk;
use crate::lang::typescript::syntax::expressions::{Use, is_identifier, value};
use crate::lang::typescript::syntax::kinds::K;

/// Methods of `jest` and `vi` whose first argument is a module's specifier.
const MOCKERS: &[&str] = &[
    "mock",
    "doMock",
    "unmock",
    "doUnmock",
    "dontMock",
    "unstable_mockModule",
    "setMock",
    "requireMock",
    "importMock",
    "createMockFromModule",
    "genMockFromModule",
];
/// Those of them that load the module.
const LOADERS: &[&str] = &["requireActual", "importActual"];

impl Walk<'_> {
    /// Reads a call that stands as a statement of these bytes, or anywhere (its own bytes).
    pub(super) fn call(&mut self, b: &mut FactsBuilder, node: Node<'_>, whole: Range<usize>) -> ExprId {
        b.nested(|b| self.call_used(b, node, whole, Use::Read)).unwrap_or_else(|| b.leaf(ExprKind::Opaque, None, 0))
    }

    pub(super) fn call_used(&mut self, b: &mut FactsBuilder, node: Node<'_>, whole: Range<usize>, used: Use) -> ExprId {
        let Some(callee) = self.field(node, self.f.function) else {
            for child in named_children(node) {
                self.expression(b, child, Use::Read);
            }
            return b.leaf(ExprKind::Opaque, None, 0);
        };
        let arguments = self.field(node, self.f.arguments);
        if self.k(callee) == K::Import {
            return self.dynamic_import(b, arguments);
        }
        if let Some(test) = self.test_call(b, callee, arguments) {
            return self.test_block(b, node, callee, arguments, test, whole);
        }
        self.plain_call(b, node, callee, arguments, used)
    }

    /// Reads a call without asking whether it is a test block.
    pub(super) fn plain_call(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        callee: Node<'_>,
        arguments: Option<Node<'_>>,
        used: Use,
    ) -> ExprId {
        let object = self.field(callee, self.f.object).filter(|o| self.k(*o) == K::Identifier).map(|o| self.text(o));
        let method = self.field(callee, self.f.property).map(|p| self.text(p));
        let known = match (object.as_deref(), method.as_deref()) {
            (Some("jest" | "vi"), Some(method)) if MOCKERS.contains(&method) => Known::Mock,
            (Some("jest" | "vi"), Some(method)) if LOADERS.contains(&method) => Known::Load,
            (Some("require"), Some("resolve")) => Known::Mock,
            (Some("Object" | "Reflect"), Some("defineProperty")) => Known::DefineProperty,
            (Some("Object"), Some("assign")) => Known::Assign,
            (None, None) if self.k(callee) == K::Identifier && self.text(callee) == "require" => Known::Require,
            _ => Known::Nothing,
        };
        let function = self.is_function(callee);
        let callee_expr = self.expression(b, callee, Use::Callee);
        let mut operands = vec![value(callee_expr)];
        if let Some(types) = self.field(node, self.f.type_arguments) {
            self.type_operands(b, types, &mut operands);
        }
        let repeats = matches!(method.as_deref(), Some("forEach" | "map" | "each"));
        self.loops += u32::from(repeats);
        match arguments {
            Some(arguments) if self.k(arguments) == K::TemplateString => {
                let template = self.template(b, arguments);
                operands.push(value(template));
            }
            Some(arguments) => self.arguments(b, arguments, known, &mut operands),
            None => {}
        }
        self.loops -= u32::from(repeats);
        let expr = b.compound(ExprKind::Call, None, &operands);
        if known == Known::Require {
            self.require(b, arguments);
        } else if !function {
            let kind = match used {
                Use::Decorator => RefKind::Decorator,
                _ if self.k(callee) == K::Super => RefKind::Super,
                _ => RefKind::Call,
            };
            let at = self.last_name(callee);
            b.reference(kind, expr, start_line(at), column(at), start_line(node));
        }
        match known {
            Known::Assign => self.object_assign(b, &operands, node),
            Known::DefineProperty => self.define_property(b, &operands, arguments, node),
            _ => {}
        }
        expr
    }

    /// Where the last name of a callee stands.
    fn last_name<'t>(&self, callee: Node<'t>) -> Node<'t> {
        let bare = self.bare(callee);
        match self.k(bare) {
            K::MemberExpression => self.field(bare, self.f.property).unwrap_or(bare),
            K::SubscriptExpression => self.field(bare, self.f.index).unwrap_or(bare),
            K::InstantiationExpression => self.first(bare).unwrap_or(bare),
            _ => bare,
        }
    }

    fn type_operands(&mut self, b: &mut FactsBuilder, types: Node<'_>, operands: &mut Vec<Operand>) {
        for ty in self.type_arguments(b, types) {
            let row = Expr {
                kind: ExprKind::TypeValue,
                name: None,
                ty: Some(ty),
                scope: None,
                symbol: None,
                detail: 0,
                first: 0,
                len: 0,
            };
            let expr = b.push_expr(row, &[]);
            operands.push(Operand { role: Role::TypeArgument, name: None, expr });
        }
    }

    fn arguments(&mut self, b: &mut FactsBuilder, node: Node<'_>, known: Known, operands: &mut Vec<Operand>) {
        let anonymous = std::mem::replace(&mut self.anonymous, true);
        for (position, child) in self.content(node).enumerate() {
            let names = match known {
                Known::Mock | Known::Load => position == 0,
                Known::DefineProperty => position == 1,
                _ => false,
            };
            let constant = self.constant(child).filter(|text| match known {
                Known::DefineProperty => is_identifier(text),
                _ => super::is_name(text),
            });
            let role = if self.k(child) == K::SpreadElement { Role::Spread } else { Role::Value };
            let expr = match constant {
                Some(text) if names => self.path(b, &text, child),
                // A required module is an import, not a string.
                Some(text) if known == Known::Require => {
                    let name = b.intern(&text);
                    b.leaf(ExprKind::Path, Some(name), 0)
                }
                _ => self.expression(b, child, Use::Callback),
            };
            operands.push(Operand { role, name: None, expr });
            if known == Known::Load && position == 0 {
                self.load(b, child, ImportKind::Dynamic);
            }
        }
        self.anonymous = anonymous;
    }

    /// The import of `require(…)` that no declaration bound by name.
    fn require(&mut self, b: &mut FactsBuilder, arguments: Option<Node<'_>>) {
        let Some(first) = arguments.and_then(|a| self.first(a)) else { return };
        if self.bound_require.take() == Some(first.start_byte()) {
            return;
        }
        self.load(b, first, ImportKind::Require);
    }

    /// The import of a loading call whose argument is `node`; computed ones have no module.
    fn load(&self, b: &mut FactsBuilder, node: Node<'_>, kind: ImportKind) {
        let module = self.constant(node);
        self.import_row(b, kind, module.as_deref(), None, None, node, node);
    }

    fn dynamic_import(&mut self, b: &mut FactsBuilder, arguments: Option<Node<'_>>) -> ExprId {
        let first = arguments.and_then(|a| self.first(a));
        let module = first.and_then(|f| self.constant(f));
        if let Some(first) = first {
            if module.is_none() {
                self.expression(b, first, Use::Read);
            }
            self.load(b, first, ImportKind::Dynamic);
        }
        let name = module.map(|module| b.intern(&module));
        b.leaf(ExprKind::DynamicImport, name, 0)
    }

    pub(super) fn new_expression(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> ExprId {
        let Some(callee) = self.field(node, self.f.constructor) else {
            for child in named_children(node) {
                self.expression(b, child, Use::Read);
            }
            return b.leaf(ExprKind::Opaque, None, 0);
        };
        let class = self.k(self.bare(callee)) == K::Class;
        let callee_expr = self.expression(b, callee, Use::Callee);
        let mut operands = vec![value(callee_expr)];
        if let Some(types) = self.field(node, self.f.type_arguments) {
            self.type_operands(b, types, &mut operands);
        }
        if let Some(arguments) = self.field(node, self.f.arguments) {
            self.arguments(b, arguments, Known::Nothing, &mut operands);
        }
        let expr = b.compound(ExprKind::New, None, &operands);
        if !class {
            let at = self.last_name(callee);
            b.reference(RefKind::New, expr, start_line(at), column(at), start_line(node));
        }
        expr
    }

    fn object_assign(&self, b: &mut FactsBuilder, operands: &[Operand], node: Node<'_>) {
        let mut given = operands.iter().filter(|o| o.role != Role::TypeArgument).skip(1);
        let Some(target) = given.next() else { return };
        for source in given.filter(|o| o.role == Role::Value) {
            let mut binding = b.binding(Origin::ObjectAssign, start_line(node), column(node));
            binding.target = Some(target.expr);
            binding.value = Some(source.expr);
            b.bind(binding, &[]);
        }
    }

    fn define_property(&self, b: &mut FactsBuilder, operands: &[Operand], arguments: Option<Node<'_>>, node: Node<'_>) {
        let mut given = operands.iter().filter(|o| o.role == Role::Value).skip(1).map(|o| o.expr);
        let (Some(object), Some(key), Some(descriptor)) = (given.next(), given.next(), given.next()) else { return };
        let row = b.facts().expr(key);
        let Some(name) = row.name.filter(|_| row.kind == ExprKind::Path) else { return };
        let of = |text: &str| {
            let facts = b.facts();
            facts.operands_of(descriptor).iter().find(|o| facts.text(o.name) == text).map(|o| o.expr)
        };
        let (constant, getter) = (of("value"), of("get"));
        let given = match (constant, getter) {
            (Some(value), _) => value,
            // Reading the property calls the getter.
            (None, Some(getter)) => b.compound(ExprKind::Call, None, &[value(getter)]),
            (None, None) => descriptor,
        };
        let target = b.compound(ExprKind::Attr, Some(name), &[value(object)]);
        let at = arguments.unwrap_or(node);
        let mut binding = b.binding(Origin::DefineProperty, start_line(at), column(at));
        binding.target = Some(target);
        binding.value = Some(given);
        b.bind(binding, &[]);
    }
}

/// What a callee is known to do with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Nothing,
    Require,
    /// Names a module by its first argument.
    Mock,
    /// Names and loads it.
    Load,
    DefineProperty,
    Assign,
}
