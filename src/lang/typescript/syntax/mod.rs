//! The walk from nodes to facts: one descent of the tree, statements here and below, each idea
//! of the language in a file of its own. This file holds the walk's state and what they share.

mod assignments;
mod calls;
mod classes;
mod damage;
mod expressions;
mod fields;
mod functions;
mod interfaces;
mod jsdoc;
mod jsx;
pub(super) mod jsx_text;
pub(super) mod kinds;
pub(super) mod mend;
mod modules;
mod namespaces;
mod narrowing;
mod objects;
mod patterns;
mod signature;
mod statements;
mod tests;
mod types;

use std::borrow::Cow;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::base::dialect::Dialect;
use crate::facts::build::{Extent, ExtentOf, FactsBuilder, NewSymbol};
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::lang::node::{children, column, end_line, named_children, start_line, text};
use crate::lang::typescript::syntax::kinds::{Fields, Grammar, K};

/// Walks a file. See [`crate::lang::language::Language::lower`].
pub fn lower(dialect: Dialect, tree: &Tree, source: &[u8], builder: &mut FactsBuilder) {
    let grammar = Grammar::of(dialect);
    let mut walk = Walk {
        source,
        grammar,
        f: grammar.fields,
        var_scope: ScopeId::new(0),
        depth_in_functions: 0,
        holder: None,
        prefix: String::new(),
        anonymous: false,
        class: None,
        doc: None,
        defined_doc: None,
        documented: None,
        is_javascript: matches!(dialect, Dialect::Js | Dialect::Jsx),
        loops: 0,
        bound_require: None,
        assigned_symbol: None,
        conditions: 0,
        ambient: dialect == Dialect::Dts,
        jsx_runtime: jsx::jsx_runtime(source, tree.root_node()),
        members: fields::Members::new(dialect),
    };
    walk.references_in_directives(builder, tree.root_node());
    walk.typedefs(builder, tree.root_node());
    walk.statements(builder, tree.root_node(), 0);
    modules::publish_exported(builder);
}

/// The class whose body is being read.
#[derive(Clone, Copy)]
struct OpenClass {
    symbol: SymbolId,
    scope: ScopeId,
}

/// The walk's state. What the builder holds (scopes, branch, test blocks) is not repeated here.
struct Walk<'s> {
    source: &'s [u8],
    grammar: &'static Grammar,
    f: Fields,
    /// Where `var` declares: the scope of the nearest function, namespace or module.
    var_scope: ScopeId,
    /// How many functions and lambdas are open; definitions inside are `LOCAL`.
    depth_in_functions: u32,
    /// The variable or field whose initializer is being read, outside of its functions:
    /// members and lambdas in it belong to it.
    holder: Option<SymbolId>,
    /// The name that members of the object literal being read stand under, where no symbol has it.
    prefix: String,
    /// Whether the object literal being read is only part of what the holder or prefix names.
    anonymous: bool,
    /// The class whose members are being read, while `this` means it.
    class: Option<OpenClass>,
    /// The doc comment before the statement or member being read, until a definition takes it.
    doc: Option<Range<usize>>,
    /// The doc comment that the last definition took.
    defined_doc: Option<(SymbolId, Range<usize>)>,
    /// The doc comment of the function whose head is being read.
    documented: Option<Range<usize>>,
    /// Whether comments may hold types.
    is_javascript: bool,
    /// Loops around, inside the nearest test block.
    loops: u32,
    /// Where the argument of a `require` stands whose import the declaration around it makes.
    bound_require: Option<usize>,
    /// The function that the right side of a chained assignment is, already defined.
    assigned_symbol: Option<SymbolId>,
    /// Conditions read for the narrowing being made.
    conditions: u32,
    /// Whether declarations have no implementation: a declaration file, `declare` around.
    ambient: bool,
    /// Which runtime declares the intrinsic elements.
    jsx_runtime: jsx::JsxRuntime,
    members: fields::Members,
}

/// What a definition is made of; [`Walk::define`] adds place, doc and flags of its context.
struct Definition<'a, 't> {
    kind: SymbolKind,
    name: &'a str,
    prefix: &'a str,
    flags: SymbolFlags,
    visibility: Visibility,
    signature: &'a str,
    /// The whole definition, for lines.
    node: Node<'t>,
    name_node: Node<'t>,
}

impl<'s> Walk<'s> {
    fn k(&self, node: Node<'_>) -> K {
        self.grammar.kind(node)
    }

    fn text(&self, node: Node<'_>) -> Cow<'s, str> {
        text(node, self.source)
    }

    fn name(&self, b: &mut FactsBuilder, node: Node<'_>) -> NameId {
        b.intern(&self.text(node))
    }

    fn field<'t>(&self, node: Node<'t>, field: u16) -> Option<Node<'t>> {
        node.child_by_field_id(field)
    }

    fn is_comment(&self, node: Node<'_>) -> bool {
        matches!(self.k(node), K::Comment | K::HtmlComment)
    }

    /// Whether an anonymous or named child of this kind stands directly in `node`.
    fn has(&self, node: Node<'_>, kind: K) -> bool {
        children(node).any(|child| self.k(child) == kind)
    }

    /// The named children that are not comments.
    fn content<'t>(&self, node: Node<'t>) -> impl Iterator<Item = Node<'t>> + use<'t, 's> {
        let grammar = self.grammar;
        named_children(node).filter(move |c| !matches!(grammar.kind(*c), K::Comment | K::HtmlComment))
    }

    /// The named children of one kind.
    fn of_kind<'t>(&self, node: Node<'t>, kind: K) -> impl Iterator<Item = Node<'t>> + use<'t, 's> {
        let grammar = self.grammar;
        named_children(node).filter(move |c| grammar.kind(*c) == kind)
    }

    /// The first named child that is not a comment.
    fn first<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        named_children(node).find(|child| !self.is_comment(*child))
    }

    /// Looks through parentheses, `as`, `satisfies`, `!` and `<T>x`.
    fn bare<'t>(&self, node: Node<'t>) -> Node<'t> {
        let mut at = node;
        // Nobody writes more around a value; without an end, n levels cost n² steps.
        for _ in 0..16 {
            let inner = match self.k(at) {
                K::Parenthesized | K::AsExpression | K::SatisfiesExpression | K::NonNullExpression => self.first(at),
                K::TypeAssertion => named_children(at).last(),
                _ => return at,
            };
            match inner {
                Some(inner) => at = inner,
                None => return at,
            }
        }
        at
    }

    /// Whether a value is a function written out (through casts and parentheses).
    fn is_function(&self, node: Node<'_>) -> bool {
        matches!(self.k(self.bare(node)), K::ArrowFunction | K::FunctionExpression | K::GeneratorFunction)
    }

    /// The constant text of a string, or of a template without substitutions; `None` for others
    /// and for strings with escapes.
    fn constant(&self, node: Node<'_>) -> Option<Cow<'s, str>> {
        let plain = match self.k(node) {
            K::String | K::TemplateString => named_children(node).all(|child| self.k(child) == K::StringFragment),
            _ => false,
        };
        let range = node.byte_range();
        if !plain || range.len() < 2 {
            return None;
        }
        self.source.get(range.start + 1..range.end - 1).map(String::from_utf8_lossy)
    }

    /// The specifier of an `import("x")` that was mended into a name (see [`mend`]).
    fn mended_import(&self, node: Node<'_>) -> Option<Cow<'s, str>> {
        let bytes = self.source.get(node.byte_range())?;
        let inner = bytes.strip_prefix(b"import(")?.strip_suffix(b")")?.trim_ascii();
        inner.get(1..inner.len().checked_sub(1)?).map(String::from_utf8_lossy)
    }

    /// The text of a property name: identifiers, `#private`, constant strings and numbers are
    /// names; computed ones are not, but for well-known symbols (`[Symbol.iterator]`).
    fn property_name(&self, node: Node<'_>) -> Option<Cow<'s, str>> {
        match self.k(node) {
            K::PropertyIdentifier | K::PrivatePropertyIdentifier | K::Identifier | K::Number => Some(self.text(node)),
            K::String => self.constant(node).filter(|name| is_name(name)),
            K::ComputedName => {
                let inner = self.first(node)?;
                match self.k(inner) {
                    K::String | K::TemplateString => self.constant(inner).filter(|name| is_name(name)),
                    K::MemberExpression if self.text(inner).starts_with("Symbol.") => {
                        Some(Cow::Owned(format!("[{}]", self.text(inner))))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The text of a key that says in words what a function does (`"adds two numbers"() {}`): what
    /// suites and benches call their parts.
    fn title_of(&self, key: Node<'_>) -> Option<Cow<'s, str>> {
        self.constant(key).filter(|_| self.k(key) == K::String).filter(|text| is_title(text))
    }

    /// Defines a symbol in the innermost scope, under the holder or the owner.
    fn define(&mut self, b: &mut FactsBuilder, definition: Definition<'_, '_>) -> SymbolId {
        let parent = self.holder.unwrap_or_else(|| b.owner());
        let scope = b.scope();
        self.define_under(b, parent, scope, definition)
    }

    fn define_under(
        &mut self,
        b: &mut FactsBuilder,
        parent: SymbolId,
        declared_in: ScopeId,
        definition: Definition<'_, '_>,
    ) -> SymbolId {
        let range = self.doc.clone();
        let doc = self.take_doc();
        let mut flags = definition.flags;
        if self.depth_in_functions > 0 {
            flags |= SymbolFlags::LOCAL;
        }
        if b.branch() != Branch::Always {
            flags |= SymbolFlags::CONDITIONAL;
        }
        let branch = b.branch();
        let symbol = b.define_under(
            parent,
            declared_in,
            NewSymbol {
                kind: definition.kind,
                name: definition.name,
                prefix: definition.prefix,
                segment: None,
                visibility: definition.visibility,
                flags,
                branch,
                signature: definition.signature,
                doc: doc.as_deref(),
                ty: None,
                start_line: start_line(definition.node),
                end_line: end_line(definition.node),
                name_line: start_line(definition.name_node),
                name_column: column(definition.name_node),
            },
        );
        self.defined_doc = range.map(|range| (symbol, range));
        symbol
    }

    /// The visibility of what a module, namespace or function declares by itself.
    fn own_visibility(&self, exported: bool) -> Visibility {
        if exported || (self.ambient && self.depth_in_functions == 0) {
            Visibility::Public
        } else {
            Visibility::Private
        }
    }

    fn take_doc(&mut self) -> Option<String> {
        let range = self.doc.take()?;
        signature::doc_line(self.source.get(range)?)
    }

    fn extent(&self, b: &mut FactsBuilder, symbol: SymbolId, node: Range<usize>, body: Option<Node<'_>>) {
        let body = body.map_or(node.end..node.end, |body| body.byte_range());
        let doc = node.end..node.end;
        b.extent(Extent { of: ExtentOf::Symbol(symbol), node, body, doc });
    }

    fn member_extent(&self, b: &mut FactsBuilder, symbol: SymbolId, node: Range<usize>, body: Option<Node<'_>>) {
        let body = body.map_or(node.end..node.end, |body| body.byte_range());
        let doc = node.end..node.end;
        b.extent(Extent { of: ExtentOf::Member(symbol), node, body, doc });
    }

    /// Runs `f` as the inside of a function: definitions are local, `var` declares here, no
    /// holder, no prefix, no branch.
    fn in_function<R>(
        &mut self,
        b: &mut FactsBuilder,
        scope: ScopeId,
        f: impl FnOnce(&mut Self, &mut FactsBuilder) -> R,
    ) -> R {
        let (var_scope, holder) = (self.var_scope, self.holder.take());
        let (prefix, anonymous) = (std::mem::take(&mut self.prefix), self.anonymous);
        let branch = b.set_branch(Branch::Always);
        self.var_scope = scope;
        self.anonymous = false;
        self.doc = None;
        self.depth_in_functions += 1;
        let result = f(self, b);
        self.depth_in_functions -= 1;
        b.set_branch(branch);
        (self.var_scope, self.holder, self.prefix, self.anonymous) = (var_scope, holder, prefix, anonymous);
        result
    }
}

/// Whether a string can stand as a name in facts: an identifier, or a short word with dashes.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 64
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.' | '/' | ':' | '@' | '#'))
}

/// Whether a string reads as words on one line.
fn is_title(text: &str) -> bool {
    text.len() <= 120
        && text.trim() == text
        && text.contains(' ')
        && text.chars().all(|c| !c.is_control())
        && text.chars().filter(|c| c.is_alphabetic()).count() * 2 > text.len()
}
