//! Small reading aids over tree-sitter nodes that every language's walk uses.

use std::borrow::Cow;

use tree_sitter::Node;

/// The source text of a node; bytes that are not UTF-8 are replaced.
pub fn text<'s>(node: Node<'_>, source: &'s [u8]) -> Cow<'s, str> {
    String::from_utf8_lossy(source.get(node.byte_range()).unwrap_or_default())
}

/// The 1-based line on which a node starts.
pub fn start_line(node: Node<'_>) -> u32 {
    node.start_position().row as u32 + 1
}

/// The 1-based line on which a node ends (inclusive: a node ending at column 0 ends on the line before).
pub fn end_line(node: Node<'_>) -> u32 {
    let end = node.end_position();
    let line = end.row as u32 + 1;
    if end.column == 0 && line > start_line(node) { line - 1 } else { line }
}

/// The 0-based byte column at which a node starts.
pub fn column(node: Node<'_>) -> u32 {
    node.start_position().column as u32
}

/// The children of a node in order. By index: the fastest visit in tree-sitter 0.27 (LIMITS).
pub fn children<'t>(node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    (0..node.child_count()).filter_map(move |at| node.child(at))
}

/// The named children of a node in order, extras (comments) included.
pub fn named_children<'t>(node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    children(node).filter(|child| child.is_named())
}

/// The child in a field.
pub fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// Squeezes runs of white space into single blanks and trims; cuts at `max` characters with `…`.
pub fn one_line(text: &str, max: usize) -> String {
    let mut line = String::with_capacity(text.len().min(max));
    for (n, word) in text.split_whitespace().enumerate() {
        if n > 0 {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > max * 4 {
            break;
        }
    }
    if line.chars().count() > max {
        line = line.chars().take(max.saturating_sub(1)).collect();
        line.push('…');
    }
    line
}
