//! Types that JavaScript writes in comments: `@param {T} name`, `@returns {T}`, `@type {T}`,
//! `@typedef {T} Name`. They give types and no references.

use std::ops::Range;

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::node::{column, named_children, start_line};
use crate::lang::typescript::syntax::Walk;
use crate::lang::typescript::syntax::kinds::K;

/// A longer type in a comment is not read.
const MAX_TYPE: usize = 600;
/// How deep a type in a comment nests.
const MAX_DEPTH: u32 = 12;
/// How many tags of one comment are read.
const MAX_TAGS: usize = 128;

/// A tag with a type.
struct Tag<'t> {
    name: &'t str,
    ty: &'t str,
    /// What follows the type: the parameter's or type's name.
    subject: &'t str,
}

/// The tags of a comment that have a type in braces.
fn tags(comment: &str) -> Vec<Tag<'_>> {
    let mut found = Vec::new();
    if !comment.starts_with("/**") {
        return found;
    }
    let mut rest = comment;
    while let Some(at) = rest.find('@')
        && found.len() < MAX_TAGS
    {
        rest = &rest[at + 1..];
        let len = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let name = &rest[..len];
        let after = rest[len..].trim_start_matches([' ', '\t']);
        if !after.starts_with('{') {
            continue;
        }
        let Some(end) = closing_brace(after) else { continue };
        let subject = after[end + 1..].trim_start_matches([' ', '\t']);
        let subject = subject.strip_prefix('[').unwrap_or(subject);
        let len =
            subject.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.'))).unwrap_or(subject.len());
        found.push(Tag { name, ty: &after[1..end], subject: &subject[..len] });
        rest = &after[end..];
    }
    found
}

/// Where the brace at the start of a text is closed.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0u32;
    for (at, c) in text.char_indices().take(MAX_TYPE) {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn row(kind: TypeKind) -> TypeRow {
    TypeRow { kind, expr: None, name: None, scope: None, detail: 0, first: 0, len: 0 }
}

fn argument(ty: TypeId) -> TypeOperand {
    TypeOperand { role: TypeRole::Argument, name: None, ty }
}

/// The type of arrays of a type.
pub(super) fn array_of(b: &mut FactsBuilder, ty: TypeId) -> TypeId {
    b.push_type(row(TypeKind::Array), &[argument(ty)])
}

impl Walk<'_> {
    /// The text of a comment, in JavaScript alone: TypeScript has its types in the code.
    fn comment(&self, range: Option<&Range<usize>>) -> Option<&str> {
        let range = range.filter(|_| self.is_javascript)?.clone();
        std::str::from_utf8(self.source.get(range)?).ok()
    }

    /// The type that the comment of the function being read gives a parameter.
    pub(super) fn documented_param(&self, b: &mut FactsBuilder, name: &str) -> Option<TypeId> {
        let comment = self.comment(self.documented.as_ref())?;
        let tag = tags(comment).into_iter().find(|tag| tag.name == "param" && tag.subject == name)?;
        read(b, tag.ty)
    }

    /// The type that the comment of the function being read gives its result.
    pub(super) fn documented_result(&self, b: &mut FactsBuilder) -> Option<TypeId> {
        let comment = self.comment(self.documented.as_ref())?;
        let tag = tags(comment).into_iter().find(|tag| matches!(tag.name, "returns" | "return"))?;
        read(b, tag.ty)
    }

    /// The type that a comment gives the variable, field or chain below it.
    pub(super) fn documented_type(&self, b: &mut FactsBuilder, comment: Option<&Range<usize>>) -> Option<TypeId> {
        let comment = self.comment(comment)?;
        let tag = tags(comment).into_iter().find(|tag| tag.name == "type")?;
        read(b, tag.ty)
    }

    /// Binds the names of `@typedef {T} Name` in the comments among a file's statements.
    pub(super) fn typedefs(&self, b: &mut FactsBuilder, root: Node<'_>) {
        for node in named_children(root).filter(|child| self.k(*child) == K::Comment) {
            let Some(comment) = self.comment(Some(&node.byte_range())) else { continue };
            let tags = tags(comment);
            for (at, tag) in tags.iter().enumerate() {
                if tag.name != "typedef" || tag.subject.is_empty() || tag.subject.contains('.') {
                    continue;
                }
                let plain = matches!(tag.ty.trim(), "Object" | "object" | "{}");
                let ty = if plain { members(b, &tags[at + 1..]) } else { read(b, tag.ty) };
                let Some(ty) = ty else { continue };
                let name = b.intern(tag.subject);
                let mut binding = b.binding(Origin::Declare, start_line(node), column(node));
                binding.scope = b.scope();
                binding.name = Some(name);
                binding.ty = Some(ty);
                b.bind(binding, &[]);
            }
        }
    }
}

/// The object type of the `@property` tags that follow a `@typedef {Object}`.
fn members(b: &mut FactsBuilder, tags: &[Tag<'_>]) -> Option<TypeId> {
    let own = tags.iter().take_while(|tag| matches!(tag.name, "property" | "prop"));
    let mut operands = Vec::new();
    for tag in own.filter(|tag| !tag.subject.is_empty() && !tag.subject.contains('.')) {
        let Some(ty) = read(b, tag.ty) else { continue };
        let name = Some(b.intern(tag.subject));
        operands.push(TypeOperand { role: TypeRole::Member, name, ty });
    }
    (!operands.is_empty()).then(|| b.push_type(row(TypeKind::Object), &operands))
}

/// Reads a type; `None` when it is not understood.
fn read(b: &mut FactsBuilder, text: &str) -> Option<TypeId> {
    let mut reader = Reader { rest: text.trim(), depth: 0 };
    let ty = reader.union(b)?;
    // `{T=}`: optional.
    reader.eat("=");
    reader.rest.trim().is_empty().then_some(ty)
}

struct Reader<'t> {
    rest: &'t str,
    depth: u32,
}

impl<'t> Reader<'t> {
    fn blank(&mut self) {
        // Lines of a comment start with `*`.
        self.rest = self.rest.trim_start();
        while let Some(rest) = self.rest.strip_prefix("* ").or_else(|| self.rest.strip_prefix("*\n")) {
            self.rest = rest.trim_start();
        }
    }

    fn eat(&mut self, token: &str) -> bool {
        self.blank();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> Option<&'t str> {
        self.blank();
        let len = self.rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(len);
        let starts = word.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'));
        self.rest = if starts { rest } else { self.rest };
        starts.then_some(word)
    }

    fn quoted(&mut self) -> Option<&'t str> {
        self.blank();
        let quote = self.rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (text, rest) = self.rest[1..].split_once(quote)?;
        self.rest = rest;
        Some(text)
    }

    fn union(&mut self, b: &mut FactsBuilder) -> Option<TypeId> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        self.eat("|");
        let mut parts = vec![argument(self.postfix(b)?)];
        while self.eat("|") {
            parts.push(argument(self.postfix(b)?));
        }
        self.depth -= 1;
        match &parts[..] {
            [one] => Some(one.ty),
            parts => Some(b.push_type(row(TypeKind::Union), parts)),
        }
    }

    fn postfix(&mut self, b: &mut FactsBuilder) -> Option<TypeId> {
        let optional = self.eat("?");
        if !optional {
            let _ = self.eat("!") || self.eat("...");
        }
        let mut ty = self.primary(b)?;
        while self.eat("[]") {
            ty = b.push_type(row(TypeKind::Array), &[argument(ty)]);
        }
        if optional {
            ty = b.push_type(TypeRow { detail: 1, ..row(TypeKind::Wrapped) }, &[argument(ty)]);
        }
        Some(ty)
    }

    fn primary(&mut self, b: &mut FactsBuilder) -> Option<TypeId> {
        if self.eat("(") {
            let inner = self.union(b)?;
            return self.eat(")").then_some(inner);
        }
        if self.eat("[") {
            let parts = self.list(b, "]")?;
            return Some(b.push_type(row(TypeKind::Tuple), &parts));
        }
        if self.eat("{") {
            return self.object(b);
        }
        if self.quoted().is_some() {
            return Some(b.push_type(TypeRow { detail: LiteralKind::String as u32, ..row(TypeKind::Literal) }, &[]));
        }
        if self.eat("*") {
            return Some(b.push_type(row(TypeKind::Opaque), &[]));
        }
        let word = self.word()?;
        match word {
            "import" => return self.import(b),
            // Function types and operators of types have forms of their own.
            "function" | "typeof" | "keyof" | "new" => return None,
            _ => {}
        }
        let name = b.intern(word);
        let mut expr = b.leaf(ExprKind::Name, Some(name), 0);
        while let Some(next) = self.member() {
            let name = b.intern(next);
            let operand = Operand { role: Role::Value, name: None, expr };
            expr = b.compound(ExprKind::Attr, Some(name), &[operand]);
        }
        let operands = self.arguments(b)?;
        Some(b.push_type(TypeRow { expr: Some(expr), ..row(TypeKind::Named) }, &operands))
    }

    /// `.name`, but not the dot of `Array.<T>`.
    fn member(&mut self) -> Option<&'t str> {
        let rest = self.rest.strip_prefix('.').filter(|rest| !rest.starts_with('<'))?;
        self.rest = rest;
        self.word()
    }

    fn arguments(&mut self, b: &mut FactsBuilder) -> Option<Vec<TypeOperand>> {
        if self.eat(".<") || self.eat("<") { self.list(b, ">") } else { Some(Vec::new()) }
    }

    fn list(&mut self, b: &mut FactsBuilder, end: &str) -> Option<Vec<TypeOperand>> {
        let mut parts = Vec::new();
        while !self.eat(end) {
            parts.push(argument(self.union(b)?));
            if !self.eat(",") && !self.rest.trim_start().starts_with(end) {
                return None;
            }
        }
        Some(parts)
    }

    fn object(&mut self, b: &mut FactsBuilder) -> Option<TypeId> {
        let mut members = Vec::new();
        while !self.eat("}") {
            let name = self.word()?;
            let optional = self.eat("?");
            if !self.eat(":") {
                return None;
            }
            let ty = self.union(b)?;
            let role = if optional { TypeRole::OptionalMember } else { TypeRole::Member };
            members.push(TypeOperand { role, name: Some(b.intern(name)), ty });
            let _ = self.eat(",") || self.eat(";");
        }
        Some(b.push_type(row(TypeKind::Object), &members))
    }

    /// `import("m").A.B`
    fn import(&mut self, b: &mut FactsBuilder) -> Option<TypeId> {
        if !self.eat("(") {
            return None;
        }
        let module = self.quoted()?;
        if !self.eat(")") {
            return None;
        }
        let mut expr = None;
        while let Some(next) = self.member() {
            let name = b.intern(next);
            expr = Some(match expr {
                None => b.leaf(ExprKind::Name, Some(name), 0),
                Some(inner) => {
                    b.compound(ExprKind::Attr, Some(name), &[Operand { role: Role::Value, name: None, expr: inner }])
                }
            });
        }
        let operands = self.arguments(b)?;
        let name = Some(b.intern(module));
        Some(b.push_type(TypeRow { name, expr, ..row(TypeKind::Import) }, &operands))
    }
}
