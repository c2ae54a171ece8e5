//! From Python's nodes to facts: what the walk carries, and its start. One descent, children by
//! index; each child module reads one family of nodes.

pub mod calls;
pub mod defs;
pub mod expressions;
pub mod grammar;
pub mod imports;
pub mod mend;
pub mod narrowing;
pub mod patterns;
pub mod statements;
pub mod strings;
pub mod targets;
pub mod text;
pub mod types;

use std::collections::HashMap;

use tree_sitter::{Node, Parser, Tree};

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::node;

/// Strings parsed as types inside strings parsed as types: no real code nests them twice.
const MAX_TEXT_DEPTH: u32 = 3;

/// Text beyond which a string annotation or type comment is not parsed.
const MAX_TYPE_TEXT: usize = 2_000;

/// What the walk carries beside the builder.
#[derive(Default)]
pub struct State {
    /// The definition that decorators, bases, defaults and annotations being read belong to.
    pub on_behalf: Option<SymbolId>,
    /// Whether names are read for their shape only, with no reference recorded (a test that is
    /// read a second time for what it narrows).
    pub quiet: bool,
    /// Enclosing classes, innermost last.
    pub classes: Vec<ClassFrame>,
    /// Enclosing functions, innermost last.
    pub functions: Vec<FunctionFrame>,
    /// What a name of a module or class scope was first defined as.
    pub defined: HashMap<(ScopeId, NameId), SymbolId>,
    /// Local names of what was imported from `typing` and its kin, with the original name.
    pub typing_names: HashMap<Box<str>, Box<str>>,
    /// Local names of `typing` and its kin themselves.
    pub typing_modules: Vec<Box<str>>,
    /// The last line of the block being read.
    pub block_end: u32,
    /// Whether `# type:` occurs in the file at all.
    pub has_type_comments: bool,
    /// How deep strings are being parsed as types.
    pub text_depth: u32,
}

/// An enclosing class.
pub struct ClassFrame {
    pub symbol: SymbolId,
    pub scope: ScopeId,
    /// Names of methods and class variables: `self.x = …` defines no field of such a name.
    pub declared: Vec<NameId>,
    /// Whether its plain assignments are enum members.
    pub is_enum: bool,
    /// How many functions were open around it.
    pub n_functions: usize,
}

/// An enclosing function.
pub struct FunctionFrame {
    pub scope: ScopeId,
    pub symbol: SymbolId,
    /// The first parameter of a method that is not static, with its class as position in `classes`.
    pub receiver: Option<(NameId, usize)>,
    /// Names of the other parameters: they hide an outer receiver.
    pub params: Vec<NameId>,
    /// Names under `global`.
    pub globals: Vec<NameId>,
}

/// The walk over one source text: the file's, or that of a string annotation in it.
pub struct Walk<'a> {
    pub b: &'a mut FactsBuilder,
    pub s: &'a mut State,
    pub source: &'a [u8],
    /// Line and column at which `source` starts in the file, 0-based.
    pub origin: (u32, u32),
}

/// Reads a whole file.
pub fn lower(tree: &Tree, source: &[u8], builder: &mut FactsBuilder) {
    let mut state = State { has_type_comments: text::contains(source, b"# type:"), ..State::default() };
    let mut walk = Walk { b: builder, s: &mut state, source, origin: (0, 0) };
    walk.module(tree.root_node());
    builder.drop_local_reads();
}

impl Walk<'_> {
    /// Runs `f` one level deeper; `None` when the nesting is beyond all measure.
    pub fn deeper<R>(&mut self, f: impl FnOnce(&mut Walk<'_>) -> R) -> Option<R> {
        let Walk { b, s, source, origin } = self;
        let (s, source, origin) = (&mut **s, *source, *origin);
        b.nested(|b| f(&mut Walk { b, s, source, origin }))
    }

    /// The text of a node.
    pub fn text(&self, node: Node<'_>) -> std::borrow::Cow<'_, str> {
        node::text(node, self.source)
    }

    /// The interned text of a node.
    pub fn name(&mut self, node: Node<'_>) -> NameId {
        let text = node::text(node, self.source);
        self.b.intern(&text)
    }

    /// The file's line on which a node starts.
    pub fn line(&self, node: Node<'_>) -> u32 {
        self.origin.0 + node::start_line(node)
    }

    /// The file's line on which a node ends.
    pub fn end_line(&self, node: Node<'_>) -> u32 {
        self.origin.0 + node::end_line(node)
    }

    /// The column at which a node starts.
    pub fn column(&self, node: Node<'_>) -> u32 {
        let column = node::column(node);
        if node.start_position().row == 0 { self.origin.1 + column } else { column }
    }

    /// Records a reference whose last name is `at`, in an expression that starts at `whole`.
    pub fn refer(&mut self, kind: RefKind, expr: ExprId, at: Node<'_>, whole: Node<'_>) {
        if self.s.quiet {
            return;
        }
        let (line, column, start) = (self.line(at), self.column(at), self.line(whole));
        match self.s.on_behalf {
            Some(owner) => self.b.reference_of(owner, kind, expr, line, column, start),
            None => self.b.reference(kind, expr, line, column, start),
        }
    }

    /// Runs `f` with references belonging to `owner`, evaluated in the scope that is open.
    pub fn on_behalf<R>(&mut self, owner: Option<SymbolId>, f: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.s.on_behalf, owner);
        let result = f(self);
        self.s.on_behalf = outer;
        result
    }

    /// Runs `f` without recording references.
    pub fn quietly<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.s.quiet, true);
        let result = f(self);
        self.s.quiet = outer;
        result
    }

    /// Parses `text`, which stands at (`line`, `column`) of the file (0-based), as an expression
    /// and reads it; `None` when it does not parse.
    pub fn parsed<R>(
        &mut self,
        text: &str,
        line: u32,
        column: u32,
        f: impl FnOnce(&mut Walk<'_>, Node<'_>) -> R,
    ) -> Option<R> {
        if self.s.text_depth >= MAX_TEXT_DEPTH || text.is_empty() || text.len() > MAX_TYPE_TEXT {
            return None;
        }
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_python::LANGUAGE.into()).ok()?;
        let tree = parser.parse(text, None)?;
        let root = tree.root_node();
        if root.has_error() || root.named_child_count() != 1 {
            return None;
        }
        let statement = root.named_child(0)?;
        if grammar::kind(statement) != grammar::Kind::ExpressionStatement || statement.named_child_count() == 0 {
            return None;
        }
        let expression = if statement.named_child_count() == 1 { statement.named_child(0)? } else { return None };
        self.s.text_depth += 1;
        let Walk { b, s, .. } = self;
        let mut inner = Walk { b, s, source: text.as_bytes(), origin: (line, column) };
        let result = f(&mut inner, expression);
        self.s.text_depth -= 1;
        Some(result)
    }

    /// What a name means where it comes from `typing` and its kin: `Optional` for `t.Optional`
    /// or for `Opt` imported as such.
    pub fn typing_name(&self, node: Node<'_>) -> Option<Box<str>> {
        match grammar::kind(node) {
            grammar::Kind::Identifier => self.s.typing_names.get(&*self.text(node)).cloned(),
            grammar::Kind::Attribute => {
                let object = grammar::child(node, grammar::FIELDS.object)?;
                let module = self.text(object);
                if !self.s.typing_modules.iter().any(|m| **m == *module) {
                    return None;
                }
                let attribute = grammar::child(node, grammar::FIELDS.attribute)?;
                Some(self.text(attribute).as_ref().into())
            }
            _ => None,
        }
    }
}
