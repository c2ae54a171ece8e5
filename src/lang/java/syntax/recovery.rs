//! Damage: what is whole inside an ERROR node is read as usual.
//!
//! A class or method whose closing brace is missing leaves its header as loose tokens in an
//! ERROR node. Such headers are put together again, so that members keep their qualified names
//! while someone types.

use tree_sitter::Node;

use crate::facts::build::{Extent, ExtentOf, FactsBuilder, NewSymbol};
use crate::facts::model::{ScopeKind, SymbolKind};
use crate::lang::java::syntax::declarations::NewClass;
use crate::lang::java::syntax::kinds::{K, kind};
use crate::lang::java::syntax::signature::signature;
use crate::lang::java::syntax::{ClassContext, Walk};
use crate::lang::node;

impl Walk<'_> {
    /// Reads what is whole in an ERROR node. Loose names and tokens are damage and give nothing.
    pub(super) fn recover(&mut self, b: &mut FactsBuilder, at: Node<'_>) {
        let children: Vec<_> = node::children(at).collect();
        let end = End { line: node::end_line(at), byte: at.end_byte() };
        b.nested(|b| self.recover_run(b, &children, 0, end, false));
    }

    /// Reads loose nodes from `start` on; gives the place behind them. Inside a cut-off body the
    /// first closing brace ends it.
    fn recover_run(&mut self, b: &mut FactsBuilder, run: &[Node<'_>], start: usize, end: End, nested: bool) -> usize {
        let mut doc = None;
        let mut n = start;
        while n < run.len() {
            if let Some(header) = Header::at(run, n) {
                // Beyond the depth limit the rest is given up.
                n = b.nested(|b| self.recovered(b, run, header, doc.take(), end)).unwrap_or(run.len());
                continue;
            }
            let at = run[n];
            n += 1;
            match kind(at) {
                K::BraceClose if nested => return n,
                K::BlockComment => doc = Some(at),
                K::LineComment | K::Identifier | K::TypeIdentifier | K::This | K::Super | K::Modifiers => {}
                at_kind if at_kind.is_literal() => {}
                _ => self.item(b, at, doc.take()),
            }
        }
        n
    }

    /// A class or method that is cut off: its header from tokens, its body from what follows.
    /// Gives the place behind it.
    fn recovered(
        &mut self,
        b: &mut FactsBuilder,
        run: &[Node<'_>],
        header: Header,
        doc: Option<Node<'_>>,
        end: End,
    ) -> usize {
        let parts = &run[header.start..header.body];
        let name_node = run[header.name];
        let modifiers = self.modifiers(parts.iter().copied().find(|c| kind(*c) == K::Modifiers));
        let line = signature(self.source, parts.iter().copied());
        let doc_line = self.doc_line(doc);
        let name = self.text(name_node).into_owned();
        let body_start = match run.get(header.body) {
            Some(at) if kind(*at) == K::BraceOpen => header.body + 1,
            _ => header.body,
        };
        let end_line = end.line;
        let (start_line, n_variables) = (node::start_line(parts[0]), self.type_variables.len());
        let mut next = run.len();
        let id;
        if let Some(symbol_kind) = header.class {
            let new = NewClass { name: &name, signature: &line, doc: doc_line.as_deref(), at: parts[0], name_node };
            id = self.define_class(b, symbol_kind, &modifiers, new);
            b.symbol_mut(id).end_line = end_line;
            self.in_header(id, |walk| {
                for annotation in &modifiers.annotations {
                    walk.decorator(b, id, None, *annotation);
                }
                for part in parts {
                    walk.class_header(b, id, *part);
                }
            });
            let scope = b.open_scope(ScopeKind::Class, Some(id), start_line, end_line);
            let class = ClassContext {
                name,
                interface: matches!(symbol_kind, SymbolKind::Interface | SymbolKind::Annotation),
                is_enum: symbol_kind == SymbolKind::Enum,
                scope: Some(scope),
                ..ClassContext::default()
            };
            self.class_code(b, class, end_line, |walk, b| next = walk.recover_run(b, run, body_start, end, true));
        } else {
            let parameters = parts.iter().copied().find(|c| kind(*c) == K::FormalParameters);
            let is_constructor = header.constructor && name == self.class.name;
            let simple = if is_constructor { "<init>" } else { name.as_str() };
            id = b.define(NewSymbol {
                kind: if is_constructor { SymbolKind::Constructor } else { SymbolKind::Method },
                name: simple,
                prefix: "",
                segment: Some(&format!("{simple}({})", self.erased_parameters(parameters))),
                visibility: self.member_visibility(&modifiers, is_constructor),
                flags: self.method_flags(&modifiers, true, parameters),
                branch: b.branch(),
                signature: &line,
                doc: doc_line.as_deref(),
                ty: None,
                start_line,
                end_line,
                name_line: node::start_line(name_node),
                name_column: node::column(name_node),
            });
            self.in_header(id, |walk| {
                for annotation in &modifiers.annotations {
                    walk.decorator(b, id, None, *annotation);
                }
            });
            let scope = b.open_scope(ScopeKind::Function, Some(id), start_line, end_line);
            self.function_code(b, scope, end_line, |walk, b| {
                for (n, part) in parts.iter().enumerate() {
                    match kind(*part) {
                        K::TypeParameters => walk.type_parameters(b, id, *part),
                        K::FormalParameters => walk.parameters(b, Some(id), scope, *part),
                        part_kind if part_kind.is_type() && header.start + n != header.name => {
                            b.symbol_mut(id).ty = walk.ty(b, *part);
                        }
                        _ => {}
                    }
                }
                next = walk.recover_run(b, run, body_start, end, true);
            });
        }
        b.close_scope();
        self.type_variables.truncate(n_variables);
        let closing = run[..next].last().filter(|at| next < run.len() || kind(**at) == K::BraceClose);
        let end = closing.map_or(end, |at| End { line: node::end_line(*at), byte: at.end_byte() });
        b.symbol_mut(id).end_line = end.line;
        let body_byte = run.get(header.body).map_or(end.byte, |at| at.start_byte());
        b.extent(Extent {
            of: ExtentOf::Symbol(id),
            node: parts[0].start_byte()..end.byte,
            body: body_byte.min(end.byte)..end.byte,
            doc: 0..0,
        });
        next
    }
}

/// Where a run of loose nodes ends.
#[derive(Clone, Copy)]
struct End {
    line: u32,
    byte: usize,
}

/// Where the parts of a cut-off header stand in a run of nodes.
#[derive(Clone, Copy)]
struct Header {
    start: usize,
    name: usize,
    /// The opening brace, or the end of the run.
    body: usize,
    class: Option<SymbolKind>,
    /// A method without return type.
    constructor: bool,
}

impl Header {
    /// Recognizes `[modifiers] class Name …{` and `[modifiers] [<T>] [type] name(…) … {`.
    fn at(run: &[Node<'_>], start: usize) -> Option<Header> {
        let kind_at = |n: usize| run.get(n).map(|c| kind(*c));
        let mut n = start;
        if kind_at(n) == Some(K::Modifiers) {
            n += 1;
        }
        let class = match kind_at(n)? {
            K::WordClass => Some(SymbolKind::Class),
            K::WordInterface => Some(SymbolKind::Interface),
            K::WordEnum => Some(SymbolKind::Enum),
            K::WordRecord => Some(SymbolKind::Record),
            K::WordAnnotation => Some(SymbolKind::Annotation),
            _ => None,
        };
        if class.is_some() {
            let name = n + 1;
            if kind_at(name) != Some(K::Identifier) {
                return None;
            }
            return Some(Header { start, name, body: brace_after(run, name), class, constructor: false });
        }
        if kind_at(n) == Some(K::TypeParameters) {
            n += 1;
        }
        let typed = kind_at(n).is_some_and(K::is_type) && kind_at(n + 1) == Some(K::Identifier);
        let name = if typed { n + 1 } else { n };
        if kind_at(name) != Some(K::Identifier) || kind_at(name + 1) != Some(K::FormalParameters) {
            return None;
        }
        let body = brace_after(run, name);
        (body < run.len()).then_some(Header { start, name, body, class: None, constructor: !typed })
    }
}

/// The first opening brace behind `name`, before anything that is no header.
fn brace_after(run: &[Node<'_>], name: usize) -> usize {
    let header = |at: &Node<'_>| {
        matches!(
            kind(*at),
            K::TypeParameters
                | K::Superclass
                | K::SuperInterfaces
                | K::ExtendsInterfaces
                | K::Permits
                | K::FormalParameters
                | K::Throws
                | K::Dimensions
                | K::LineComment
                | K::BlockComment
        )
    };
    let mut n = name + 1;
    while run.get(n).is_some_and(header) {
        n += 1;
    }
    match run.get(n) {
        Some(at) if kind(*at) == K::BraceOpen => n,
        // A header without its brace ends before what follows it.
        _ => run.len().min(n),
    }
}
