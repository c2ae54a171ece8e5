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
    /// Extents of the same bytes and parts (`a = b = 1`): they get the same hashes.
    twins: Vec<&'e Extent>,
}

const SIGNATURE: usize = 0;
const BODY: usize = 1;
const DOC: usize = 2;
const ACTING: usize = 3;

/// Fills the hashes of every symbol and test block that has an extent.
///
/// An extent opens at the first node that lies within it; where several nodes have its very
/// bytes, at the innermost, so that a block with one definition counts for the block's owner
/// and not for the definition. Equal extents with equal parts share their hashes; equal ones
/// with other parts (a `const` and its function) are nested in the order they were recorded.
pub fn hash(language: &dyn Language, root: Node<'_>, source: &[u8], extents: &[Extent], facts: &mut FileFacts) {
    let mut order: Vec<&Extent> = extents.iter().filter(|e| e.node.start < e.node.end).collect();
    order.sort_by_key(|e| (e.node.start, std::cmp::Reverse(e.node.end)));
    let mut next = 0;
    let mut stack: Vec<Open<'_>> = Vec::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        while stack.last().is_some_and(|open| !contains(open.extent, node)) {
            close_innermost(&mut stack, facts);
        }
        while let Some(extent) = order.get(next) {
            if extent.node.end <= node.start_byte() {
                // No node lies within it: it stays unhashed.
                next += 1;
                continue;
            }
            // The module opens with the root, even in a file of one statement.
            let module = node == root && stack.is_empty();
            if !contains(extent, node) || (extent.node == node.byte_range() && has_twin_child(node) && !module) {
                break;
            }
            let same = |open: &Open<'_>| {
                open.extent.node == extent.node && open.extent.body == extent.body && open.extent.doc == extent.doc
            };
            match stack.last_mut() {
                Some(outer) if same(outer) && outer.extent.of != ExtentOf::Apart => outer.twins.push(extent),
                outer => {
                    if let Some(outer) = outer.filter(|outer| leaves_mark(outer.extent, extent, facts)) {
                        // A nested definition leaves a mark, so that moving one is seen by its owner only as order.
                        outer.parts[part_of(outer.extent, node)].push(0xfe);
                    }
                    stack.push(Open { extent, parts: Default::default(), twins: Vec::new() });
                }
            }
            next += 1;
        }
        let comment = language.is_comment(node);
        let raw = !comment && language.is_raw_leaf(node);
        if !language.is_transparent(node) {
            // An empty file is a module without code, as one with definitions alone.
            let leaf = raw || (node.child_count() == 0 && node != root);
            if let Some(open) = stack.last_mut() {
                let bytes = source.get(node.byte_range()).unwrap_or_default();
                if comment {
                    let text = String::from_utf8_lossy(bytes);
                    if language.is_acting_comment(&text) {
                        open.parts[ACTING].extend_from_slice(text.trim().as_bytes());
                        open.parts[ACTING].push(0);
                    }
                } else {
                    let part = &mut open.parts[part_of(open.extent, node)];
                    part.extend_from_slice(&node.kind_id().to_le_bytes());
                    if leaf {
                        part.push(1);
                        part.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
                        part.extend_from_slice(bytes);
                    } else {
                        part.push(2);
                        if node.child_count() == 0 {
                            part.push(0xff);
                        }
                    }
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
                while !stack.is_empty() {
                    close_innermost(&mut stack, facts);
                }
                return;
            }
            let parent = cursor.node();
            while stack.len() > 1 && stack.last().is_some_and(|open| !contains(open.extent, parent)) {
                close_innermost(&mut stack, facts);
            }
            // A node of the very bytes of an extent that opened below it: its end is the owner's.
            while stack.last().is_some_and(|open| {
                stack.len() > 1 && open.extent.node == parent.byte_range() && has_twin_child(parent)
            }) {
                close_innermost(&mut stack, facts);
            }
            if language.is_transparent(parent) {
                continue;
            }
            if let Some(open) = stack.last_mut()
                && contains(open.extent, parent)
            {
                let part = part_of(open.extent, parent);
                open.parts[part].push(0xff);
            }
        }
    }
}

/// Whether the first child spans the same bytes as the node.
fn has_twin_child(node: Node<'_>) -> bool {
    node.child(0).is_some_and(|child| child.byte_range() == node.byte_range())
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

fn contains(extent: &Extent, node: Node<'_>) -> bool {
    extent.node.start <= node.start_byte() && node.end_byte() <= extent.node.end
}

/// The part of a definition that a node lies in; one that spans several is of the outer one.
fn part_of(extent: &Extent, node: Node<'_>) -> usize {
    part_at(extent, node.byte_range())
}

fn part_at(extent: &Extent, bytes: std::ops::Range<usize>) -> usize {
    let within =
        |part: &std::ops::Range<usize>| part.start <= bytes.start && bytes.end <= part.end && part.start < part.end;
    // Nothing but a body can be empty as a whole: an empty file.
    if within(&extent.doc) {
        DOC
    } else if within(&extent.body) || extent.node.is_empty() {
        BODY
    } else {
        SIGNATURE
    }
}

/// Closes the innermost definition; a member's hashes count for its owner, at its place. (Were its
/// tokens given to every owner, n nested members would cost n² bytes.)
fn close_innermost(stack: &mut Vec<Open<'_>>, facts: &mut FileFacts) {
    let Some(open) = stack.pop() else { return };
    let [signature, body, doc, acting] = open.parts.map(|part| short(&part));
    if let (ExtentOf::Member(_), Some(owner)) = (open.extent.of, stack.last_mut()) {
        let part = part_at(owner.extent, open.extent.node.clone());
        owner.parts[part].push(0xfd);
        for hash in [signature, body, doc] {
            owner.parts[part].extend_from_slice(&hash.0.to_le_bytes());
        }
        if acting != Hash64(0) {
            owner.parts[ACTING].extend_from_slice(&acting.0.to_le_bytes());
        }
    }
    for extent in [open.extent].into_iter().chain(open.twins) {
        match extent.of {
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
}

fn short(part: &[u8]) -> Hash64 {
    if part.is_empty() { Hash64(0) } else { Hash64(Digest::of(part).short().max(1)) }
}
