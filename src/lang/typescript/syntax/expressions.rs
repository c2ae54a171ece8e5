//! Expressions: nodes to the arena, with a reference for every part of a chain.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::node::{column, named_children, start_line};
use crate::lang::typescript::syntax::Walk;
use crate::lang::typescript::syntax::kinds::K;
use crate::lang::typescript::syntax::narrowing::Holds;

/// What is done with the value of an expression: the kind of reference its last name makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    /// Given away as it is: an argument, a returned value, a prop, an element.
    Callback,
    Write,
    /// The callee of a call, which has the reference.
    Callee,
    Extends,
    Decorator,
}

impl Use {
    fn reference(self) -> Option<RefKind> {
        match self {
            Use::Read => Some(RefKind::Read),
            Use::Callback => Some(RefKind::Callback),
            Use::Write => Some(RefKind::Write),
            Use::Callee => None,
            Use::Extends => Some(RefKind::Extends),
            Use::Decorator => Some(RefKind::Decorator),
        }
    }

    /// The use of what is inside parentheses, casts and choices.
    fn inside(self) -> Use {
        match self {
            Use::Callee | Use::Write => Use::Read,
            other => other,
        }
    }
}

pub(super) fn value(expr: ExprId) -> Operand {
    Operand { role: Role::Value, name: None, expr }
}

impl Walk<'_> {
    /// Reads an expression and gives its row.
    pub(super) fn expression(&mut self, b: &mut FactsBuilder, node: Node<'_>, used: Use) -> ExprId {
        b.nested(|b| self.expression_here(b, node, used)).unwrap_or_else(|| b.leaf(ExprKind::Opaque, None, 0))
    }

    fn expression_here(&mut self, b: &mut FactsBuilder, node: Node<'_>, used: Use) -> ExprId {
        match self.k(node) {
            K::Identifier | K::TypeIdentifier if self.mended_import(node).is_some() => {
                let module = self.mended_import(node);
                self.import_row(b, ImportKind::Dynamic, module.as_deref(), None, None, node, node);
                let name = module.map(|module| b.intern(&module));
                b.leaf(ExprKind::DynamicImport, name, 0)
            }
            K::Identifier | K::ShorthandProperty | K::TypeIdentifier => {
                let name = self.name(b, node);
                let expr = b.leaf(ExprKind::Name, Some(name), 0);
                self.refer(b, used, expr, node, node);
                expr
            }
            K::MemberExpression | K::NestedIdentifier | K::NestedTypeIdentifier => match self.misread_cast(node) {
                Some((cast, names)) => self.cast_to_member(b, cast, &names, used, node),
                None => self.member(b, node, used),
            },
            K::SubscriptExpression => self.subscript(b, node, used),
            K::CallExpression => self.call_used(b, node, node.byte_range(), used),
            K::NewExpression => self.new_expression(b, node),
            K::This => b.leaf(ExprKind::This, None, 0),
            K::Super => b.leaf(ExprKind::Super, None, 0),
            K::String => self.string(b, node),
            K::TemplateString => self.template(b, node),
            K::Number => {
                let big = self.source.get(node.end_byte().saturating_sub(1)) == Some(&b'n');
                let kind = if big { LiteralKind::BigInt } else { LiteralKind::Float };
                literal(b, kind)
            }
            K::Regex => literal(b, LiteralKind::Regex),
            K::True | K::False => literal(b, LiteralKind::Bool),
            K::Null => literal(b, LiteralKind::Null),
            K::Undefined => literal(b, LiteralKind::Undefined),
            K::ArrowFunction | K::FunctionExpression | K::GeneratorFunction => self.function_value(b, node, None),
            K::Class => self.class_value(b, node),
            K::Object => self.object(b, node),
            K::Array => self.array(b, node),
            K::Parenthesized => match self.first(node) {
                Some(inner) => self.expression(b, inner, used.inside()),
                None => b.leaf(ExprKind::Opaque, None, 0),
            },
            K::AsExpression | K::SatisfiesExpression | K::TypeAssertion | K::NonNullExpression => {
                self.cast(b, node, used)
            }
            K::InstantiationExpression => {
                let inner = self.first(node).map(|inner| self.expression(b, inner, used));
                if let Some(arguments) = self.field(node, self.f.type_arguments) {
                    self.type_arguments(b, arguments);
                }
                inner.unwrap_or_else(|| b.leaf(ExprKind::Opaque, None, 0))
            }
            K::AwaitExpression => {
                let inner = self.first(node).map(|inner| self.expression(b, inner, Use::Read));
                wrap(b, ExprKind::Await, inner)
            }
            K::YieldExpression => {
                let inner = self.first(node).map(|inner| self.expression(b, inner, Use::Callback));
                let from = self.has(node, K::TStar);
                if let Some(expr) = inner {
                    let kind = if from { ReturnKind::YieldFrom } else { ReturnKind::Yield };
                    let scope = self.var_scope;
                    b.returns(Return { scope, kind, expr, line: start_line(node) });
                }
                wrap(b, if from { ExprKind::YieldFrom } else { ExprKind::Yield }, inner)
            }
            K::AssignmentExpression => self.assignment(b, node, node, false),
            K::AugmentedAssignment => self.augmented(b, node),
            K::UpdateExpression => {
                let inner = self.first(node).map(|inner| self.expression(b, inner, Use::Write));
                wrap(b, ExprKind::Operator, inner)
            }
            K::UnaryExpression => {
                let inner = self.first(node).map(|inner| self.expression(b, inner, Use::Read));
                wrap(b, ExprKind::Operator, inner)
            }
            K::BinaryExpression => self.binary(b, node, used),
            K::TernaryExpression => self.ternary(b, node, used),
            K::SequenceExpression => {
                let mut last = None;
                for child in self.content(node) {
                    last = Some(self.expression(b, child, Use::Read));
                }
                wrap(b, ExprKind::Value, last)
            }
            K::SpreadElement => match self.first(node) {
                Some(inner) => self.expression(b, inner, Use::Read),
                None => b.leaf(ExprKind::Opaque, None, 0),
            },
            K::JsxElement | K::JsxSelfClosing => self.jsx(b, node),
            K::InternalModule | K::FunctionDeclaration | K::ClassDeclaration | K::StatementBlock => {
                self.statement(b, node);
                b.leaf(ExprKind::Opaque, None, 0)
            }
            K::MetaProperty | K::Import | K::Comment | K::HtmlComment => b.leaf(ExprKind::Opaque, None, 0),
            // Damage, or a node of a newer grammar: what is inside still refers.
            _ => {
                for child in named_children(node) {
                    self.expression(b, child, Use::Read);
                }
                b.leaf(ExprKind::Opaque, None, 0)
            }
        }
    }

    /// Adds the reference of a use; `at` is the last name of the chain, `whole` the expression.
    fn refer(&self, b: &mut FactsBuilder, used: Use, expr: ExprId, at: Node<'_>, whole: Node<'_>) {
        if let Some(kind) = used.reference() {
            b.reference(kind, expr, start_line(at), column(at), start_line(whole));
        }
    }

    fn member(&mut self, b: &mut FactsBuilder, node: Node<'_>, used: Use) -> ExprId {
        let object = self.field(node, self.f.object).or_else(|| self.field(node, self.f.module));
        let property = self.field(node, self.f.property).or_else(|| self.field(node, self.f.name));
        let (Some(object), Some(property)) = (object, property) else {
            for child in named_children(node) {
                self.expression(b, child, Use::Read);
            }
            return b.leaf(ExprKind::Opaque, None, 0);
        };
        let object = self.expression(b, object, Use::Read);
        let name = self.name(b, property);
        let expr = b.compound(ExprKind::Attr, Some(name), &[value(object)]);
        self.refer(b, used, expr, property, node);
        expr
    }

    fn subscript(&mut self, b: &mut FactsBuilder, node: Node<'_>, used: Use) -> ExprId {
        let object = self.field(node, self.f.object).map(|object| self.expression(b, object, Use::Read));
        let index = self.field(node, self.f.index);
        let object = object.unwrap_or_else(|| b.leaf(ExprKind::Opaque, None, 0));
        // `a["b"]` is `a.b`.
        if let Some(key) = index.and_then(|index| self.constant(index)).filter(|key| is_identifier(key))
            && let Some(index) = index
        {
            let name = b.intern(&key);
            let expr = b.compound(ExprKind::Attr, Some(name), &[value(object)]);
            self.refer(b, used, expr, index, node);
            return expr;
        }
        let index = index.map(|index| self.expression(b, index, Use::Read));
        let operands: Vec<Operand> = [Some(object), index].into_iter().flatten().map(value).collect();
        b.compound(ExprKind::Index, None, &operands)
    }

    /// The cast in `x satisfies a.b.C`, which the grammar reads as the member `C` of a cast to `a.b`
    /// or `a`, and the names behind it. A cast whose member is taken stands in parentheses.
    fn misread_cast<'t>(&self, node: Node<'t>) -> Option<(Node<'t>, Vec<Node<'t>>)> {
        let mut names = Vec::new();
        let mut at = node;
        while self.k(at) == K::MemberExpression && names.len() < 16 {
            names.push(self.field(at, self.f.property)?);
            at = self.field(at, self.f.object)?;
        }
        names.reverse();
        matches!(self.k(at), K::SatisfiesExpression | K::AsExpression).then_some((at, names))
    }

    /// Reads a cast to a type whose name goes on behind the cast's node.
    fn cast_to_member(
        &mut self,
        b: &mut FactsBuilder,
        cast: Node<'_>,
        names: &[Node<'_>],
        used: Use,
        whole: Node<'_>,
    ) -> ExprId {
        let parts: Vec<Node<'_>> = self.content(cast).collect();
        let (Some(inner), Some(ty)) = (parts.first(), parts.get(1)) else {
            return b.leaf(ExprKind::Opaque, None, 0);
        };
        let inner = self.expression(b, *inner, used.inside());
        let mut chain = self.expression(b, *ty, Use::Callee);
        for name_node in names {
            let name = self.name(b, *name_node);
            chain = b.compound(ExprKind::Attr, Some(name), &[value(chain)]);
        }
        let last = names.last().copied().unwrap_or(whole);
        b.reference(RefKind::Type, chain, start_line(last), column(last), start_line(whole));
        let row =
            TypeRow { kind: TypeKind::Named, expr: Some(chain), name: None, scope: None, detail: 0, first: 0, len: 0 };
        let ty = Some(b.push_type(row, &[]));
        let row = Expr { kind: ExprKind::Cast, name: None, ty, scope: None, symbol: None, detail: 0, first: 0, len: 0 };
        b.push_expr(row, &[value(inner)])
    }

    fn cast(&mut self, b: &mut FactsBuilder, node: Node<'_>, used: Use) -> ExprId {
        let mut inner = None;
        let mut ty = None;
        let prefix = self.k(node) == K::TypeAssertion;
        for child in self.content(node) {
            if prefix && self.k(child) == K::TypeArguments {
                ty = self.type_arguments(b, child).first().copied();
            } else if inner.is_none() {
                inner = Some(self.expression(b, child, used.inside()));
            } else {
                ty = self.ty(b, child);
            }
        }
        let inner = inner.unwrap_or_else(|| b.leaf(ExprKind::Opaque, None, 0));
        let row = Expr { kind: ExprKind::Cast, name: None, ty, scope: None, symbol: None, detail: 0, first: 0, len: 0 };
        b.push_expr(row, &[value(inner)])
    }

    fn binary(&mut self, b: &mut FactsBuilder, node: Node<'_>, used: Use) -> ExprId {
        let (left_node, right_node) = (self.field(node, self.f.left), self.field(node, self.f.right));
        let operator = self.field(node, self.f.operator).map_or(K::Other, |operator| self.k(operator));
        let choice = matches!(operator, K::TAnd | K::TOr | K::TNullish);
        let used = if choice { used.inside() } else { Use::Read };
        let left = left_node.map(|left| self.expression(b, left, if operator == K::TAnd { Use::Read } else { used }));
        if let (Some(left), Some(right)) = (left_node, right_node) {
            let holds = match operator {
                K::TAnd => Some(Holds::True),
                K::TOr => Some(Holds::False),
                _ => None,
            };
            if let Some(holds) = holds {
                let lines = (start_line(right), crate::lang::node::end_line(right));
                self.narrow(b, left, holds, lines);
            }
        }
        let right = right_node.map(|right| self.expression(b, right, used));
        let operands: Vec<Operand> = [left, right].into_iter().flatten().map(value).collect();
        b.compound(if choice { ExprKind::Choice } else { ExprKind::Operator }, None, &operands)
    }

    fn ternary(&mut self, b: &mut FactsBuilder, node: Node<'_>, used: Use) -> ExprId {
        let condition = self.field(node, self.f.condition);
        if let Some(condition) = condition {
            self.expression(b, condition, Use::Read);
        }
        let parts = [self.field(node, self.f.consequence), self.field(node, self.f.alternative)];
        if let (Some(condition), [Some(then), Some(other)]) = (condition, parts) {
            let then = (start_line(then), crate::lang::node::end_line(then));
            let other = (start_line(other), crate::lang::node::end_line(other));
            // Narrowings are by line: of branches that share one, neither can be told apart.
            if then.1 < other.0 {
                self.narrow(b, condition, Holds::True, then);
                self.narrow(b, condition, Holds::False, other);
            }
        }
        let mut operands = Vec::with_capacity(2);
        for part in parts.into_iter().flatten() {
            operands.push(value(self.expression(b, part, used.inside())));
        }
        b.compound(ExprKind::Choice, None, &operands)
    }

    fn array(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> ExprId {
        let anonymous = std::mem::replace(&mut self.anonymous, true);
        let mut operands = Vec::new();
        for child in self.content(node) {
            let role = if self.k(child) == K::SpreadElement { Role::Spread } else { Role::Value };
            operands.push(Operand { role, name: None, expr: self.expression(b, child, Use::Callback) });
        }
        self.anonymous = anonymous;
        let row = Expr {
            kind: ExprKind::Seq,
            name: None,
            ty: None,
            scope: None,
            symbol: None,
            detail: SeqKind::Array as u32,
            first: 0,
            len: 0,
        };
        b.push_expr(row, &operands)
    }

    fn string(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> ExprId {
        match self.constant(node).filter(|text| is_path(text)) {
            Some(path) => self.path(b, &path, node),
            None => literal(b, LiteralKind::String),
        }
    }

    /// Adds a string that names a module, file or member, with its reference.
    pub(super) fn path(&self, b: &mut FactsBuilder, text: &str, node: Node<'_>) -> ExprId {
        let name = b.intern(text);
        let expr = b.leaf(ExprKind::Path, Some(name), 0);
        b.reference(RefKind::StringPath, expr, start_line(node), column(node), start_line(node));
        expr
    }

    pub(super) fn template(&mut self, b: &mut FactsBuilder, node: Node<'_>) -> ExprId {
        if let Some(path) = self.constant(node).filter(|text| is_path(text)) {
            return self.path(b, &path, node);
        }
        let mut operands = Vec::new();
        for child in self.of_kind(node, K::TemplateSubstitution) {
            if let Some(inner) = self.first(child) {
                operands.push(value(self.expression(b, inner, Use::Read)));
            }
        }
        b.compound(ExprKind::Template, None, &operands)
    }
}

fn literal(b: &mut FactsBuilder, kind: LiteralKind) -> ExprId {
    b.leaf(ExprKind::Literal, None, kind as u32)
}

fn wrap(b: &mut FactsBuilder, kind: ExprKind, inner: Option<ExprId>) -> ExprId {
    match inner {
        Some(inner) => b.compound(kind, None, &[value(inner)]),
        None => b.leaf(kind, None, 0),
    }
}

/// Whether a constant key is written like an identifier.
pub(super) fn is_identifier(text: &str) -> bool {
    text.len() <= 64
        && text.chars().next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$'))
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}

/// Whether a string is shaped like a module or file path. Strings that could as well be a token
/// or a key are not: segments that mix cases and digits, more than 200 bytes, URLs.
fn is_path(text: &str) -> bool {
    let relative = text.starts_with("./") || text.starts_with("../");
    if text.len() > 200 || text.len() < 3 || text.contains("//") || text.contains("..../") {
        return false;
    }
    let shaped = text.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-./@~#$*+()[]".contains(&c));
    if !shaped {
        return false;
    }
    let slash = text.contains('/');
    let file = text
        .rsplit('/')
        .next()
        .and_then(|last| last.rsplit_once('.'))
        .is_some_and(|(stem, extension)| !stem.is_empty() && FILE_EXTENSIONS.contains(&extension));
    if relative || file {
        return true;
    }
    slash && text.starts_with(['@', '~', '#']) && text.split('/').all(is_word)
        || slash && !text.starts_with('/') && text.split('/').all(|part| !part.is_empty() && is_word(part))
}

/// A path segment that a person named: no mix of upper case, lower case and digits, not all digits.
fn is_word(part: &str) -> bool {
    let upper = part.bytes().any(|c| c.is_ascii_uppercase());
    let lower = part.bytes().any(|c| c.is_ascii_lowercase());
    let digit = part.bytes().any(|c| c.is_ascii_digit());
    part.len() <= 40 && (lower || upper) && !(upper && lower && digit)
}

/// Extensions that make a string a file's name: sources, and data that code reads.
const FILE_EXTENSIONS: &[&str] = &[
    "ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "json", "jsonc", "json5", "yaml", "yml", "toml", "html",
    "htm", "css", "scss", "less", "vue", "svelte", "md", "mdx", "txt", "csv", "tsv", "xml", "svg", "png", "jpg",
    "jpeg", "gif", "sql", "graphql", "gql", "proto", "wasm", "snap", "hbs", "ejs", "pug", "tmpl", "env", "pem", "crt",
    "sh", "py", "java",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_other_strings() {
        for path in ["./a", "../b/c.js", "config.json", "@scope/pkg", "src/lib/x", "lodash/fp"] {
            assert!(is_path(path), "{path}");
        }
        for other in
            ["/", "hello world", "https://x.org/a", "wJalrXUtnFEMI/K7MDENG/bPxRfi0CYEX", "1/2/3", "a", "/users/x y"]
        {
            assert!(!is_path(other), "{other}");
        }
    }
}
