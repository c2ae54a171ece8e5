//! Java's syntax to facts: one descent of the tree that keeps a scope stack.
//!
//! `Walk` holds what the descent knows of its surroundings; the children files read one family
//! of nodes each. Names of locals and type variables cannot have a target in another file, so
//! their plain reads are no references (bindings and parameters keep their types).

mod annotations;
mod declarations;
mod expressions;
mod imports;
mod kinds;
mod members;
pub mod mend;
mod patterns;
mod recovery;
mod signature;
mod statements;
mod strings;
mod types;

use tree_sitter::{Node, Tree};

use crate::facts::build::FactsBuilder;
use crate::facts::model::{
    Expr, ExprId, ExprKind, NameId, Operand, RefKind, Role, ScopeId, ScopeKind, SymbolId, TypeId,
};
use crate::lang::java::syntax::kinds::{K, kind};
use crate::lang::java::syntax::patterns::Tests;
use crate::lang::node;

/// Walks a file's tree and says all that it says alone.
pub fn lower(tree: &Tree, source: &[u8], b: &mut FactsBuilder) {
    let root = tree.root_node();
    let mut walk = Walk::new(source, node::end_line(root));
    if kind(root) == K::Error {
        walk.recover(b, root);
    } else {
        walk.sequence(b, root);
    }
}

/// Whether a node is a comment.
pub fn is_comment(node: Node<'_>) -> bool {
    kind(node).is_comment()
}

/// Whether a node's subtree hashes as one leaf: strings, text blocks and characters.
pub fn is_raw_leaf(node: Node<'_>) -> bool {
    match kind(node) {
        K::CharacterLiteral => true,
        K::StringLiteral => !node::children(node).any(|c| kind(c) == K::StringInterpolation),
        _ => false,
    }
}

/// What the descent knows of its surroundings.
struct Walk<'s> {
    source: &'s [u8],
    /// The scopes of the open functions and lambdas, innermost last: where returns go.
    functions: Vec<ScopeId>,
    /// Values of the open `switch`es: rule results and yields.
    switches: Vec<Vec<Operand>>,
    /// The symbol whose header or annotation is read, which owns its references.
    header: Option<SymbolId>,
    /// Names of locals and parameters in reach; those below `locals_base` belong to an outer class.
    locals: Vec<NameId>,
    locals_base: usize,
    /// Type variables in reach.
    type_variables: Vec<NameId>,
    /// The class whose body is read.
    class: ClassContext,
    /// Whether code of a function, lambda or initializer is read (a class there is local).
    in_code: bool,
    /// The last line of the innermost block.
    block_end: u32,
    /// What the expression just read says when it is true, and when it is false.
    tests: Tests,
    /// Whether strings just met are names (arguments of reflection calls, elements of `@MethodSource`).
    names_expected: bool,
}

/// The class whose body is read.
#[derive(Clone, Debug, Default)]
struct ClassContext {
    name: String,
    /// Members of interfaces and annotation types are public, their fields static and final.
    interface: bool,
    is_enum: bool,
    anonymous: bool,
    /// A record's erased components, for its compact constructor.
    components: String,
    /// The class's own scope, where a record's components stand as parameters.
    scope: Option<ScopeId>,
}

impl<'s> Walk<'s> {
    fn new(source: &'s [u8], last_line: u32) -> Self {
        Walk {
            source,
            functions: Vec::new(),
            switches: Vec::new(),
            header: None,
            locals: Vec::new(),
            locals_base: 0,
            type_variables: Vec::new(),
            class: ClassContext::default(),
            in_code: false,
            block_end: last_line,
            tests: Tests::default(),
            names_expected: false,
        }
    }

    /// Reads every child, each with the Javadoc comment before it.
    fn sequence(&mut self, b: &mut FactsBuilder, parent: Node<'_>) {
        let mut doc = None;
        for child in node::children(parent) {
            match kind(child) {
                K::BlockComment => doc = Some(child),
                K::LineComment => {}
                _ => self.item(b, child, doc.take()),
            }
        }
    }

    /// Reads a member, statement, type or expression; tokens are passed over.
    fn item(&mut self, b: &mut FactsBuilder, at: Node<'_>, doc: Option<Node<'_>>) {
        match kind(at) {
            K::PackageDeclaration => self.package(b, at),
            K::ImportDeclaration => self.import(b, at),
            K::ModuleDeclaration => self.module(b, at),
            K::ClassDeclaration
            | K::InterfaceDeclaration
            | K::EnumDeclaration
            | K::RecordDeclaration
            | K::AnnotationTypeDeclaration => {
                b.nested(|b| self.class(b, at, doc));
            }
            K::MethodDeclaration
            | K::ConstructorDeclaration
            | K::CompactConstructorDeclaration
            | K::AnnotationTypeElementDeclaration => {
                b.nested(|b| self.method(b, at, doc));
            }
            K::FieldDeclaration | K::ConstantDeclaration => {
                b.nested(|b| self.field(b, at, doc));
            }
            // A field of a compact source file, which has no class around its members.
            K::LocalVariableDeclaration if !self.in_code => {
                b.nested(|b| self.field(b, at, doc));
            }
            K::EnumConstant => {
                b.nested(|b| self.enum_constant(b, at, doc));
            }
            K::StaticInitializer => {
                for block in node::named_children(at).filter(|c| kind(*c) == K::Block) {
                    self.initializer(b, block);
                }
            }
            K::Block if !self.in_code => self.initializer(b, at),
            K::EnumBodyDeclarations
            | K::ClassBody
            | K::InterfaceBody
            | K::EnumBody
            | K::AnnotationTypeBody
            | K::ConstructorBody => {
                b.nested(|b| self.sequence(b, at));
            }
            K::Error => {
                b.nested(|b| self.recover(b, at));
            }
            at_kind if at_kind.is_type() => {
                self.ty(b, at);
            }
            at_kind if at_kind.is_annotation() => {
                self.annotation(b, at);
            }
            _ => self.statement(b, at),
        }
    }

    /// The text of a node.
    fn text(&self, at: Node<'_>) -> std::borrow::Cow<'s, str> {
        node::text(at, self.source)
    }

    /// A name as an expression, without a reference.
    fn name(&self, b: &mut FactsBuilder, at: Node<'_>) -> ExprId {
        let name = b.intern(&self.text(at));
        b.leaf(ExprKind::Name, Some(name), 0)
    }

    /// Whether a name is a local or parameter of the code being read.
    fn is_local(&self, name: NameId) -> bool {
        self.locals[self.locals_base.min(self.locals.len())..].contains(&name)
    }

    /// Whether an expression is the bare name of a local.
    fn is_local_expr(&self, b: &FactsBuilder, expr: ExprId) -> bool {
        let row = b.facts().expr(expr);
        row.kind == ExprKind::Name && row.name.is_some_and(|n| self.is_local(n))
    }

    /// Adds a reference whose last name is `name`, of an expression that starts at `whole`.
    fn refer(&mut self, b: &mut FactsBuilder, ref_kind: RefKind, expr: ExprId, name: Node<'_>, whole: Node<'_>) {
        let place = name.start_position();
        let (line, column) = (place.row as u32 + 1, place.column as u32);
        let start = if name.id() == whole.id() { line } else { node::start_line(whole) };
        match self.header {
            Some(owner) => b.reference_of(owner, ref_kind, expr, line, column, start),
            None => b.reference(ref_kind, expr, line, column, start),
        }
    }

    /// Runs `f` with `owner` as the owner of references, in the scope around its definition.
    fn in_header<R>(&mut self, owner: SymbolId, f: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.header.replace(owner);
        let result = f(self);
        self.header = outer;
        result
    }

    /// Runs `f` in a new block scope; locals declared in it end with it.
    fn block_scope(&mut self, b: &mut FactsBuilder, at: Node<'_>, f: impl FnOnce(&mut Self, &mut FactsBuilder)) {
        b.open_scope(ScopeKind::Block, None, node::start_line(at), node::end_line(at));
        let n_locals = self.locals.len();
        f(self, b);
        self.locals.truncate(n_locals);
        b.close_scope();
    }

    /// Runs `f` as code of a function or lambda whose scope is already open.
    fn function_code(
        &mut self,
        b: &mut FactsBuilder,
        scope: ScopeId,
        end: u32,
        f: impl FnOnce(&mut Self, &mut FactsBuilder),
    ) {
        self.functions.push(scope);
        let (n_locals, n_variables) = (self.locals.len(), self.type_variables.len());
        let outer_code = std::mem::replace(&mut self.in_code, true);
        let outer_end = std::mem::replace(&mut self.block_end, end);
        let outer_header = self.header.take();
        f(self, b);
        self.header = outer_header;
        self.block_end = outer_end;
        self.in_code = outer_code;
        self.type_variables.truncate(n_variables);
        self.locals.truncate(n_locals);
        self.functions.pop();
    }

    /// Runs `f` as the body of a class whose scope is already open: outer locals are out of
    /// the way of its members' names.
    fn class_code(
        &mut self,
        b: &mut FactsBuilder,
        class: ClassContext,
        end: u32,
        f: impl FnOnce(&mut Self, &mut FactsBuilder),
    ) {
        let outer_class = std::mem::replace(&mut self.class, class);
        let outer_base = std::mem::replace(&mut self.locals_base, self.locals.len());
        let outer_code = std::mem::replace(&mut self.in_code, false);
        let outer_end = std::mem::replace(&mut self.block_end, end);
        let outer_header = self.header.take();
        f(self, b);
        self.header = outer_header;
        self.block_end = outer_end;
        self.in_code = outer_code;
        self.locals_base = outer_base;
        self.class = outer_class;
    }
}

/// An operand by position.
fn value(expr: ExprId) -> Operand {
    Operand { role: Role::Value, name: None, expr }
}

/// An expression row of a kind with nothing else set.
fn row(kind: ExprKind) -> Expr {
    Expr { kind, name: None, ty: None, scope: None, symbol: None, detail: 0, first: 0, len: 0 }
}

/// A type used as an expression's operand.
fn type_value(b: &mut FactsBuilder, ty: Option<TypeId>) -> ExprId {
    b.push_expr(Expr { ty, ..row(ExprKind::TypeValue) }, &[])
}
