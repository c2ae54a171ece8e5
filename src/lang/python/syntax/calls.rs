//! Calls: callee, arguments, and the few callees whose arguments are types, names or modules.

use tree_sitter::Node;

use crate::facts::model::*;
use crate::lang::node::named_children;
use crate::lang::python::syntax::Walk;
use crate::lang::python::syntax::expressions::{Use, operand};
use crate::lang::python::syntax::grammar::{FIELDS, Kind, child, is_extra, kind};
use crate::lang::python::syntax::text;

/// Callees (by their last name) whose string arguments are names of attributes, fixtures,
/// parameters or modules. `patch.object` ends in `object`.
const TAKES_NAMES: &[&str] = &[
    "getattr",
    "hasattr",
    "setattr",
    "delattr",
    "attrgetter",
    "methodcaller",
    "patch",
    "object",
    "multiple",
    "usefixtures",
    "getfixturevalue",
    "getfuncargvalue",
    "parametrize",
    "fixture",
    "import_module",
    "__import__",
    "importorskip",
    "spy",
    "stub",
];

impl Walk<'_> {
    /// Reads a call and records its reference.
    pub fn call(&mut self, node: Node<'_>, usage: Use) -> ExprId {
        let (Some(function), Some(arguments)) = (child(node, FIELDS.function), child(node, FIELDS.arguments)) else {
            return self.opaque(&[]);
        };
        let typing = self.typing_name(function);
        match typing.as_deref() {
            Some("cast") => {
                if let Some(expr) = self.cast(function, arguments) {
                    return expr;
                }
            }
            Some("TypeVar" | "NewType" | "ParamSpec" | "TypeVarTuple" | "TypeAliasType") => {
                return self.type_variable(node, function, arguments);
            }
            _ => {}
        }
        let callee = self.expr(function, Use::Callee);
        let last = self.last_name(function);
        let last_text: Box<str> = last.map(|name| self.text(name).as_ref().into()).unwrap_or_default();
        let mut operands = vec![operand(Role::Value, callee)];
        let takes_names = TAKES_NAMES.contains(&&*last_text);
        if kind(arguments) == Kind::Generator {
            operands.push(operand(Role::Value, self.read(arguments)));
        } else {
            for argument in named_children(arguments) {
                if !is_extra(argument) {
                    let argument = self.argument(argument, takes_names, &last_text);
                    operands.push(argument);
                }
            }
        }
        let expr = self.b.compound(ExprKind::Call, None, &operands);
        let reference = match usage {
            Use::Decorator => RefKind::Decorator,
            Use::Extends => RefKind::Extends,
            _ if kind(function) == Kind::Identifier && &*last_text == "super" => RefKind::Super,
            _ => RefKind::Call,
        };
        self.refer(reference, expr, last.unwrap_or(function), node);
        if matches!(&*last_text, "import_module" | "__import__") {
            return self.dynamic_import(node, expr, &operands);
        }
        expr
    }

    /// The node of the last name of a chain.
    pub fn last_name<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        match kind(node) {
            Kind::Identifier => Some(node),
            Kind::Attribute => child(node, FIELDS.attribute),
            _ => None,
        }
    }

    fn argument(&mut self, node: Node<'_>, takes_names: bool, callee: &str) -> Operand {
        let split = callee == "parametrize";
        match kind(node) {
            Kind::KeywordArgument => {
                let value = child(node, FIELDS.value);
                let name = child(node, FIELDS.name).map(|name| self.name(name));
                // `autouse=False` says what holds without it, and no value of a literal is kept.
                let is_default = |name: &NameId| {
                    callee == "fixture"
                        && self.b.facts().name(*name) == "autouse"
                        && value.is_some_and(|value| kind(value) == Kind::False)
                };
                let name = name.filter(|name| !is_default(name));
                let expr = match value {
                    Some(value) if takes_names && is_text(value) && self.is_name_keyword(name) => {
                        self.names(value, split)
                    }
                    Some(value) => self.expr(value, Use::Argument),
                    None => self.opaque(&[]),
                };
                Operand { role: Role::Keyword, name, expr }
            }
            Kind::String | Kind::List | Kind::Tuple if takes_names => {
                let is_values = split && kind(node) != Kind::String && !all_strings(node);
                let expr = if is_values { self.read(node) } else { self.names(node, split) };
                operand(Role::Value, expr)
            }
            _ => self.element(node, Use::Argument),
        }
    }

    /// Keywords of such calls whose value is a name.
    fn is_name_keyword(&self, name: Option<NameId>) -> bool {
        name.is_some_and(|name| matches!(self.b.facts().name(name), "name" | "target" | "attribute" | "argnames"))
    }

    /// `cast(T, x)` of `typing`: the value seen as `T`.
    fn cast(&mut self, function: Node<'_>, arguments: Node<'_>) -> Option<ExprId> {
        let arguments: Vec<Node<'_>> = named_children(arguments).filter(|a| !is_extra(*a)).collect();
        let [ty, value] = arguments[..] else { return None };
        if kind(ty) == Kind::KeywordArgument || kind(value) == Kind::KeywordArgument {
            return None;
        }
        self.read(function);
        let ty = self.ty(ty);
        let value = self.expr(value, Use::Argument);
        let row = Expr {
            kind: ExprKind::Cast,
            name: None,
            ty: Some(ty),
            scope: None,
            symbol: None,
            detail: 0,
            first: 0,
            len: 0,
        };
        Some(self.b.push_expr(row, &[operand(Role::Value, value)]))
    }

    /// `TypeVar("T", A, bound="B")`, `NewType("N", int)`: what follows the name are types.
    fn type_variable(&mut self, node: Node<'_>, function: Node<'_>, arguments: Node<'_>) -> ExprId {
        let callee = self.expr(function, Use::Callee);
        let mut operands = vec![operand(Role::Value, callee)];
        for (at, argument) in named_children(arguments).filter(|a| !is_extra(*a)).enumerate() {
            let (name, value) = match kind(argument) {
                Kind::KeywordArgument => {
                    (child(argument, FIELDS.name).map(|n| self.name(n)), child(argument, FIELDS.value))
                }
                _ => (None, Some(argument)),
            };
            let is_type = match name {
                None => at > 0,
                Some(name) => matches!(self.b.facts().name(name), "bound" | "default" | "value"),
            };
            let expr = match value {
                Some(value) if is_type => self.type_value(value),
                Some(value) => self.read(value),
                None => self.opaque(&[]),
            };
            let role = if name.is_some() { Role::Keyword } else { Role::Value };
            operands.push(Operand { role, name, expr });
        }
        let expr = self.b.compound(ExprKind::Call, None, &operands);
        let last = self.last_name(function).unwrap_or(function);
        self.refer(RefKind::Call, expr, last, node);
        expr
    }

    /// A type used as a value.
    pub fn type_value(&mut self, node: Node<'_>) -> ExprId {
        let ty = self.ty(node);
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
        self.b.push_expr(row, &[])
    }

    /// `import_module("a.b")`, `__import__(x)`: an import too, blind when computed.
    fn dynamic_import(&mut self, node: Node<'_>, call: ExprId, operands: &[Operand]) -> ExprId {
        let given = operands.get(1).map(|o| self.b.facts().expr(o.expr));
        let path = given.filter(|row| row.kind == ExprKind::Path).and_then(|row| row.name);
        let path: Option<String> = path.map(|name| self.b.facts().name(name).to_owned());
        let module =
            path.as_deref().map(|p| p.trim_start_matches('.')).filter(|m| m.split('.').all(text::is_identifier));
        let level = match (&path, module) {
            (Some(path), Some(module)) => (path.len() - module.len()) as u32,
            _ => 0,
        };
        let (line, column) = (self.line(node), self.column(node));
        let name = module.map(|m| self.b.intern(m));
        let row = Import {
            scope: self.b.scope(),
            kind: ImportKind::Dynamic,
            branch: self.b.branch(),
            module: name,
            level,
            name: None,
            local: None,
            type_only: false,
            line,
            column,
            name_line: line,
            name_column: column,
        };
        self.b.import(row);
        match path {
            Some(path) if name.is_some() => {
                let specifier = self.b.intern(&path);
                self.b.compound(ExprKind::DynamicImport, Some(specifier), &[operand(Role::Value, call)])
            }
            _ => call,
        }
    }
}

fn is_text(node: Node<'_>) -> bool {
    matches!(kind(node), Kind::String | Kind::List | Kind::Tuple)
}

/// Whether a list or tuple holds nothing but strings.
fn all_strings(node: Node<'_>) -> bool {
    named_children(node).all(|element| matches!(kind(element), Kind::String | Kind::Comment))
}
