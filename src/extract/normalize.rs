//! Hashes of definitions over the *tree* (FACTS.md §3): layout and comments change nothing,
//! structure and every leaf do.
//!
//! One cursor pass. Each node of a definition (comments and nested definitions apart) adds
//! "enter kind, leaf bytes, leave" to the buffer of the part it lies in: signature, body or doc.
//! Members of a type count for their owner as well ([`ExtentOf::Member`]).

use tree_sitter::Node;

use crate::base::id::Digest;
use crate::facts::build::{Extent, ExtentOf};
use crate::facts::model::{FileFacts, SymbolKind};
use crate::facts::table::{Hash64, Id};
use crate::lang::language::Language;

/// The open definition: its extent and the token buffers of its parts.
struct Open<'e> {
    extent: &'e Extent,
    parts: [Vec<u8>; 4],
}

const SIGNATURE: usize = 0;
const BODY: usize = 1;
const DOC: usize = 2;
const ACTING: usize = 3;

/// Fills the hashes of every symbol and test block that has an extent. Definitions whose
/// extents are equal (a `const` and its function) are nested in the order they were recorded.
pub fn hash(language: &dyn Language, root: Node<'_>, source: &[u8], extents: &[Extent], facts: &mut FileFacts) {
    let mut order: Vec<&Extent> = extents.iter().collect();
    order.sort_by_key(|e| (e.node.start, std::cmp::Reverse(e.node.end)));
    let mut next = 0;
    let mut stack: Vec<Open<'_>> = Vec::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        while stack.last().is_some_and(|open| {
            open.extent.node.end <= node.start_byte() && open.extent.node.end < node.end_byte().max(1)
        }) {
            close(stack.pop(), facts);
        }
        while next < order.len() && order[next].node.start <= node.start_byte() {
            if order[next].node.start == node.start_byte()
                && order[next].node.end < node.end_byte()
                && !stack.is_empty()
            {
                // A call that starts its statement: a child that starts here as well is its node.
                break;
            }
            // An extent that ends before it could be entered has no node of its own; it stays unhashed.
            if order[next].node.end >= node.end_byte() || stack.is_empty() {
                if let Some(outer) = stack.last_mut().filter(|outer| leaves_mark(outer.extent, order[next], facts)) {
                    // A nested definition leaves a mark, so that moving one is seen by its owner only as order.
                    let part = part_of(outer.extent, order[next].node.start);
                    outer.parts[part].push(0xfe);
                }
                stack.push(Open { extent: order[next], parts: Default::default() });
            }
            next += 1;
        }
        let comment = language.is_comment(node);
        let raw = !comment && language.is_raw_leaf(node);
        for at in owners(&stack) {
            let open = &mut stack[at];
            let bytes = source.get(node.byte_range()).unwrap_or_default();
            if comment {
                let text = String::from_utf8_lossy(bytes);
                if language.is_acting_comment(&text) {
                    open.parts[ACTING].extend_from_slice(text.trim().as_bytes());
                    open.parts[ACTING].push(0);
                }
            } else {
                let part = &mut open.parts[part_of(open.extent, node.start_byte())];
                part.extend_from_slice(&node.kind_id().to_le_bytes());
                if raw || node.child_count() == 0 {
                    part.push(1);
                    part.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
                    part.extend_from_slice(bytes);
                } else {
                    part.push(2);
                }
            }
        }
        if !comment && !raw && cursor.goto_first_child() {
            continue;
        }
        loop {
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                while let Some(open) = stack.pop() {
                    close(Some(open), facts);
                }
                return;
            }
            let parent = cursor.node();
            while stack.len() > 1 && stack.last().is_some_and(|open| !contains(open.extent, parent)) {
                close(stack.pop(), facts);
            }
            for at in owners(&stack) {
                let open = &mut stack[at];
                if contains(open.extent, parent) {
                    let part = part_of(open.extent, parent.start_byte());
                    open.parts[part].push(0xff);
                }
            }
        }
    }
}

/// Whether a nested definition is seen by its owner at all. In a function its place counts; a
/// module, type or test block does not change by getting one more definition, test or import.
fn leaves_mark(outer: &Extent, inner: &Extent, facts: &FileFacts) -> bool {
    match (outer.of, inner.of) {
        (_, ExtentOf::Apart) | (ExtentOf::TestBlock(_) | ExtentOf::Apart, _) => false,
        (ExtentOf::Symbol(id) | ExtentOf::Member(id), _) => {
            matches!(facts.symbol(id).kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Constructor)
        }
    }
}

/// The definitions whose tokens those read now are, as positions on the stack: the innermost
/// one, and the one around it for as long as what is inside is only a member.
fn owners(stack: &[Open<'_>]) -> std::ops::Range<usize> {
    let mut first = stack.len().saturating_sub(1);
    while first > 0 && matches!(stack[first].extent.of, ExtentOf::Member(_)) {
        first -= 1;
    }
    first..stack.len()
}

fn contains(extent: &Extent, node: Node<'_>) -> bool {
    extent.node.start <= node.start_byte() && node.end_byte() <= extent.node.end
}

fn part_of(extent: &Extent, byte: usize) -> usize {
    if extent.doc.contains(&byte) {
        DOC
    } else if extent.body.contains(&byte) {
        BODY
    } else {
        SIGNATURE
    }
}

fn close(open: Option<Open<'_>>, facts: &mut FileFacts) {
    let Some(open) = open else { return };
    let [signature, body, doc, acting] = open.parts.map(|part| short(&part));
    match open.extent.of {
        ExtentOf::Symbol(id) | ExtentOf::Member(id) => {
            let symbol = &mut facts.symbols[id.index()];
            (symbol.sig_hash, symbol.body_hash, symbol.doc_hash, symbol.act_hash) = (signature, body, doc, acting);
        }
        ExtentOf::TestBlock(id) => {
            let whole = Digest::of_parts([
                &signature.0.to_le_bytes()[..],
                &body.0.to_le_bytes(),
                &doc.0.to_le_bytes(),
                &acting.0.to_le_bytes(),
            ]);
            facts.test_blocks[id.index()].body_hash = Hash64(whole.short());
        }
        ExtentOf::Apart => {}
    }
}

fn short(part: &[u8]) -> Hash64 {
    if part.is_empty() { Hash64(0) } else { Hash64(Digest::of(part).short().max(1)) }
}
