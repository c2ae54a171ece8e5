//! Types: annotations, string annotations and type comments to rows of the type arena.

use tree_sitter::Node;

use crate::facts::model::*;
use crate::lang::node::named_children;
use crate::lang::python::syntax::Walk;
use crate::lang::python::syntax::expressions::Use;
use crate::lang::python::syntax::grammar::{FIELDS, Kind, child, is_extra, kind};
use crate::lang::python::syntax::text;

fn argument(ty: TypeId) -> TypeOperand {
    TypeOperand { role: TypeRole::Argument, name: None, ty }
}

impl Walk<'_> {
    /// Reads a type.
    pub fn ty(&mut self, node: Node<'_>) -> TypeId {
        self.deeper(|w| w.ty_inner(node)).unwrap_or_else(|| self.b.type_of(TypeKind::Opaque, &[]))
    }

    fn ty_inner(&mut self, node: Node<'_>) -> TypeId {
        match kind(node) {
            Kind::Type | Kind::Parenthesized | Kind::ConstrainedType => match first_part(node) {
                Some(inner) => self.ty(inner),
                None => self.b.type_of(TypeKind::Opaque, &[]),
            },
            Kind::Identifier if self.text(node) == "Self" => {
                self.expr(node, Use::Type);
                self.b.type_of(TypeKind::This, &[])
            }
            Kind::Identifier | Kind::Attribute => {
                let expr = self.expr(node, Use::Type);
                if self.typing_name(node).as_deref() == Some("Self") {
                    return self.b.type_of(TypeKind::This, &[]);
                }
                self.named(expr, &[])
            }
            Kind::None => self.literal_type(LiteralKind::Null),
            Kind::Integer => self.literal_type(LiteralKind::Int),
            Kind::True | Kind::False => self.literal_type(LiteralKind::Bool),
            Kind::String => self.string_type(node),
            Kind::Binary if child(node, FIELDS.operator).is_some_and(|o| o.kind() == "|") => self.union(node),
            Kind::UnionType => self.union(node),
            Kind::Subscript | Kind::GenericType => self.generic(node),
            Kind::List | Kind::Tuple => {
                let parts = self.type_parts(node);
                self.b.type_of(TypeKind::Tuple, &parts)
            }
            Kind::ListSplat | Kind::SplatType | Kind::ListSplatPattern => match first_part(node) {
                Some(inner) => {
                    let inner = self.ty(inner);
                    self.b.type_of(TypeKind::Wrapped, &[argument(inner)])
                }
                None => self.b.type_of(TypeKind::Opaque, &[]),
            },
            _ => {
                self.expr(node, Use::Type);
                self.b.type_of(TypeKind::Opaque, &[])
            }
        }
    }

    /// A type named by an expression, with its arguments.
    pub fn named(&mut self, expr: ExprId, arguments: &[TypeOperand]) -> TypeId {
        let row =
            TypeRow { kind: TypeKind::Named, expr: Some(expr), name: None, scope: None, detail: 0, first: 0, len: 0 };
        self.b.push_type(row, arguments)
    }

    /// The type of whatever an expression gives (a computed base class).
    pub fn typeof_expr(&mut self, expr: ExprId, name: Option<NameId>) -> TypeId {
        let row = TypeRow { kind: TypeKind::Typeof, expr: Some(expr), name, scope: None, detail: 0, first: 0, len: 0 };
        self.b.push_type(row, &[])
    }

    fn literal_type(&mut self, literal: LiteralKind) -> TypeId {
        self.literal_row(literal as u32)
    }

    fn literal_row(&mut self, detail: u32) -> TypeId {
        let row = TypeRow { kind: TypeKind::Literal, expr: None, name: None, scope: None, detail, first: 0, len: 0 };
        self.b.push_type(row, &[])
    }

    /// A forward reference: the string's text is parsed.
    fn string_type(&mut self, node: Node<'_>) -> TypeId {
        let content: Option<String> = text::content(node, self.source).map(String::from);
        let (Some(content), Some(start)) = (content, node.child(0)) else {
            self.read(node);
            return self.b.type_of(TypeKind::Opaque, &[]);
        };
        let lead = content.len() - content.trim_start().len();
        let line = self.line(start) - 1;
        let column = self.column(start) + (start.end_byte() - start.start_byte() + lead) as u32;
        self.parsed(content.trim(), line, column, |w, node| w.ty(node))
            .unwrap_or_else(|| self.b.type_of(TypeKind::Opaque, &[]))
    }

    /// Parses a `# type:` text that stands at (`line`, `column`), 0-based.
    pub fn comment_type(&mut self, text: &str, line: u32, column: u32) -> Option<TypeId> {
        self.parsed(text, line, column, |w, node| w.ty(node))
    }

    fn union(&mut self, node: Node<'_>) -> TypeId {
        let mut parts = Vec::new();
        let mut rest = vec![node];
        while let Some(at) = rest.pop() {
            let nested = matches!(kind(at), Kind::UnionType)
                || (kind(at) == Kind::Binary && child(at, FIELDS.operator).is_some_and(|o| o.kind() == "|"));
            let inner = if kind(at) == Kind::Type { first_part(at) } else { None };
            match inner {
                Some(inner) => rest.push(inner),
                None if nested => {
                    let sides: Vec<Node<'_>> = named_children(at).filter(|part| !is_extra(*part)).collect();
                    rest.extend(sides.into_iter().rev());
                }
                None => parts.push(argument(self.ty(at))),
            }
        }
        self.b.type_of(TypeKind::Union, &parts)
    }

    fn type_parts(&mut self, node: Node<'_>) -> Vec<TypeOperand> {
        let parts: Vec<Node<'_>> = named_children(node).filter(|part| !is_extra(*part)).collect();
        parts.into_iter().map(|part| argument(self.ty(part))).collect()
    }

    /// `Base[arguments]`. The special forms of `typing` are known by their last name, however
    /// they were imported: a class of one's own named `Optional` is not worth a miss of aliases.
    fn generic(&mut self, node: Node<'_>) -> TypeId {
        let mut parts = named_children(node).filter(|part| !is_extra(*part));
        let Some(base) = parts.next() else { return self.b.type_of(TypeKind::Opaque, &[]) };
        let arguments: Vec<Node<'_>> = match kind(node) {
            Kind::GenericType => parts
                .next()
                .map(|list| named_children(list).filter(|part| !is_extra(*part)).collect())
                .unwrap_or_default(),
            _ => parts.collect(),
        };
        let arguments: Vec<Node<'_>> = match arguments[..] {
            [one] if kind(one) == Kind::Tuple => named_children(one).filter(|part| !is_extra(*part)).collect(),
            _ => arguments,
        };
        let written = self.last_name(base).map(|name| self.text(name).into_owned()).unwrap_or_default();
        let known = self.typing_name(base);
        let expr = self.expr(base, Use::Type);
        match known.as_deref().unwrap_or(&written) {
            "Literal" => return self.literal_types(&arguments),
            "Annotated" => {
                let Some((first, rest)) = arguments.split_first() else { return self.named(expr, &[]) };
                let ty = self.ty(*first);
                for extra in rest {
                    self.read(*extra);
                }
                return self.b.type_of(TypeKind::Wrapped, &[argument(ty)]);
            }
            "Callable" => return self.callable(&arguments),
            "tuple" | "Tuple" => {
                if let [element, rest] = arguments[..]
                    && self.is_ellipsis(rest)
                {
                    let element = self.ty(element);
                    return self.b.type_of(TypeKind::Array, &[argument(element)]);
                }
                let parts: Vec<TypeOperand> = arguments.into_iter().map(|part| argument(self.ty(part))).collect();
                return self.b.type_of(TypeKind::Tuple, &parts);
            }
            _ => {}
        }
        let form = known.as_deref().unwrap_or(&written).to_owned();
        let parts: Vec<TypeOperand> = arguments.into_iter().map(|part| argument(self.ty(part))).collect();
        match form.as_str() {
            "Optional" => {
                let none = self.literal_type(LiteralKind::Null);
                let parts: Vec<TypeOperand> = parts.into_iter().chain([argument(none)]).collect();
                self.b.type_of(TypeKind::Union, &parts)
            }
            "Union" => self.b.type_of(TypeKind::Union, &parts),
            "ClassVar" | "Final" | "Required" | "NotRequired" | "ReadOnly" | "InitVar" | "Unpack" => {
                self.b.type_of(TypeKind::Wrapped, &parts)
            }
            "TypeGuard" | "TypeIs" => {
                // Only the latter says something where it fails.
                let name = Some(self.b.intern(&form));
                let (expr, scope) = (None, None);
                let row = TypeRow { kind: TypeKind::Predicate, expr, name, scope, detail: 0, first: 0, len: 0 };
                self.b.push_type(row, &parts)
            }
            _ => self.named(expr, &parts),
        }
    }

    fn is_ellipsis(&self, node: Node<'_>) -> bool {
        kind(node) == Kind::Ellipsis || self.text(node) == "..."
    }

    /// `Literal["a", 1, E.X]`: kinds only; members of enums are read.
    fn literal_types(&mut self, arguments: &[Node<'_>]) -> TypeId {
        let mut parts = Vec::with_capacity(arguments.len());
        for node in arguments {
            let mut node = *node;
            while let (Kind::Type, Some(inner)) = (kind(node), first_part(node)) {
                node = inner;
            }
            let ty = match self.one_literal(node) {
                Some(ty) => ty,
                None => self.ty(node),
            };
            parts.push(argument(ty));
        }
        match &parts[..] {
            [one] => one.ty,
            _ => self.b.type_of(TypeKind::Union, &parts),
        }
    }

    /// The type of exactly one literal; `None` for what is none.
    pub fn one_literal(&mut self, node: Node<'_>) -> Option<TypeId> {
        let literal = match kind(node) {
            Kind::String | Kind::ConcatenatedString => {
                let bytes = node.child(0).is_some_and(|start| self.text(start).contains(['b', 'B']));
                if bytes { LiteralKind::Bytes } else { LiteralKind::String }
            }
            Kind::Integer | Kind::Unary => LiteralKind::Int,
            Kind::True | Kind::False => LiteralKind::Bool,
            Kind::None => LiteralKind::Null,
            _ => return None,
        };
        let text = match kind(node) {
            Kind::String => text::content(node, self.source).map(String::from),
            Kind::Integer | Kind::Unary | Kind::True | Kind::False => Some(self.text(node).into_owned()),
            _ => None,
        };
        let detail = text.map_or(literal as u32, |text| literal_detail(literal, &text));
        Some(self.literal_row(detail))
    }

    /// `Callable[[A, B], R]`; `...` and parameter specifications give a rest parameter.
    fn callable(&mut self, arguments: &[Node<'_>]) -> TypeId {
        let mut operands = Vec::new();
        if let Some(list) = arguments.first() {
            let mut list = *list;
            while let (Kind::Type, Some(inner)) = (kind(list), first_part(list)) {
                list = inner;
            }
            match kind(list) {
                Kind::List => {
                    let params: Vec<Node<'_>> = named_children(list).filter(|part| !is_extra(*part)).collect();
                    for param in params {
                        let ty = self.ty(param);
                        operands.push(TypeOperand { role: TypeRole::Param, name: None, ty });
                    }
                }
                _ => {
                    let ty = match self.is_ellipsis(list) {
                        true => self.b.type_of(TypeKind::Opaque, &[]),
                        false => self.ty(list),
                    };
                    operands.push(TypeOperand { role: TypeRole::RestParam, name: None, ty });
                }
            }
        }
        let result = match arguments.get(1) {
            Some(result) => self.ty(*result),
            None => self.b.type_of(TypeKind::Opaque, &[]),
        };
        operands.push(TypeOperand { role: TypeRole::Return, name: None, ty: result });
        self.b.type_of(TypeKind::Func, &operands)
    }
}

fn first_part<'t>(node: Node<'t>) -> Option<Node<'t>> {
    named_children(node).find(|part| !is_extra(*part))
}
