//! Texts of Python facts: signatures, first lines of docstrings, shapes of strings, comments.
//! No literal's text gets into a signature.

use tree_sitter::Node;

use crate::lang::node;
use crate::lang::python::syntax::grammar::{Kind, kind};

/// A signature is cut here: it is one line of an answer.
const MAX_SIGNATURE: usize = 300;

/// A doc line is cut here.
const MAX_DOC: usize = 200;

/// A path-shaped string is no longer than this.
const MAX_PATH: usize = 160;

/// Comments that change what a tool does, by how their text starts after `#` and blanks.
/// `# fmt:` and `# isort:` only steer layout.
const ACTING: &[&str] = &[
    "type:",
    "noqa",
    "pragma",
    "pylint",
    "mypy:",
    "pyright:",
    "ruff:",
    "flake8:",
    "nosec",
    "pytype:",
    "pyre-",
    "cython:",
    "distutils:",
    "doctest:",
    "-*-",
    "coding",
    "vim:",
    "sourcery",
    "/// script",
];

/// Whether a comment acts.
pub fn is_acting_comment(text: &str) -> bool {
    let inner = text.trim_start_matches(['#', ':']).trim_start();
    let lower: String = inner.chars().take(24).collect::<String>().to_ascii_lowercase();
    text.starts_with("#!")
        || ACTING.iter().any(|start| lower.starts_with(start))
        || text.contains("# noqa")
        || text.contains("# type:")
        || text.contains("# pragma")
}

/// Whether `haystack` holds `needle`.
pub fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

/// Whether a string node has substitutions.
pub fn has_interpolation(string: Node<'_>) -> bool {
    node::children(string).any(|child| kind(child) == Kind::Interpolation)
}

/// The content of a plain string node: its bytes between the quotes, undecoded. `None` for
/// bytes, f-strings with substitutions and broken strings.
pub fn content<'s>(string: Node<'_>, source: &'s [u8]) -> Option<&'s str> {
    let start = string.child(0)?;
    let end = string.child(string.child_count().checked_sub(1)?)?;
    if kind(start) != Kind::StringStart || kind(end) != Kind::StringEnd || has_interpolation(string) {
        return None;
    }
    let prefix = source.get(start.byte_range())?;
    if prefix.iter().any(|b| matches!(b, b'b' | b'B')) {
        return None;
    }
    std::str::from_utf8(source.get(start.end_byte()..end.start_byte())?).ok()
}

/// The first line of a docstring that says something.
pub fn doc_line(content: &str) -> String {
    let line = content.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    node::one_line(line, MAX_DOC)
}

/// A node's source on one line for a signature, where every literal is `…`: strings other than
/// those shaped like a type, numbers, and all that stands in `Literal[…]`.
pub fn squeezed(node: Node<'_>, source: &[u8]) -> String {
    let mut line = String::new();
    let mut at = node.start_byte();
    squeeze(node, source, false, &mut at, &mut line, 0);
    line
}

fn squeeze(node: Node<'_>, source: &[u8], literal: bool, at: &mut usize, line: &mut String, depth: u32) {
    if line.len() > MAX_SIGNATURE * 4 || depth > 200 {
        return;
    }
    let gap = source.get(*at..node.start_byte()).unwrap_or_default();
    match kind(node) {
        Kind::Comment | Kind::LineContinuation => {
            *at = node.end_byte();
            return;
        }
        Kind::String | Kind::ConcatenatedString | Kind::Integer | Kind::Float => {
            blank(gap, line);
            let kept = content(node, source).filter(|text| !literal && is_type_text(text));
            match kept {
                Some(text) => {
                    line.push('"');
                    line.push_str(text);
                    line.push('"');
                }
                None => line.push('…'),
            }
            *at = node.end_byte();
            return;
        }
        _ => {}
    }
    if node.child_count() == 0 {
        blank(gap, line);
        line.push_str(&node::text(node, source));
        *at = node.end_byte();
        return;
    }
    let literal = literal
        || (matches!(kind(node), Kind::Subscript | Kind::GenericType)
            && node.child(0).is_some_and(|base| {
                let text = node::text(base, source);
                text.ends_with("Literal") || text.ends_with("Annotated")
            }))
        || kind(node) == Kind::Call;
    for child in node::children(node) {
        squeeze(child, source, literal, at, line, depth + 1);
    }
}

fn blank(gap: &[u8], line: &mut String) {
    let open = line.is_empty() || line.ends_with(['(', '[', ' ']);
    if gap.iter().any(u8::is_ascii_whitespace) && !open {
        line.push(' ');
    }
}

/// Cuts a signature to one line of an answer.
pub fn signature(text: &str) -> String {
    node::one_line(text, MAX_SIGNATURE)
}

/// Whether a string reads as an annotation: names, dots, brackets, bars, commas.
fn is_type_text(text: &str) -> bool {
    text.len() <= MAX_PATH
        && text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text
            .split(['[', ']', ',', '|'])
            .map(str::trim)
            .all(|name| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.')))
}

/// Whether a text is one identifier.
pub fn is_identifier(text: &str) -> bool {
    text.len() <= 80
        && text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Whether a text is identifiers joined by dots, relative dots in front allowed, at least one dot.
fn is_dotted(text: &str) -> bool {
    let rest = text.trim_start_matches('.');
    text.contains('.') && !rest.is_empty() && rest.split('.').all(is_identifier)
}

/// Whether a string is shaped like a module path (`a.b.c`, `a.b:c`) or a file path (a slash or
/// an extension); no blanks, no URLs, nothing long. Whether it is a secret is decided later.
pub fn is_path(text: &str) -> bool {
    if text.len() < 3 || text.len() > MAX_PATH || text.contains("://") || !text.is_ascii() {
        return false;
    }
    if let Some((module, object)) = text.split_once(':')
        && (is_dotted(module) || is_identifier(module))
        && object.split('.').all(is_identifier)
    {
        return is_dotted(module) || module.contains('.');
    }
    if is_dotted(text) {
        return true;
    }
    let plain =
        text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b'+' | b'@' | b'~'));
    let slashed = text.contains('/') && text.bytes().any(|b| b.is_ascii_alphabetic());
    plain && (slashed || has_extension(text)) && text.split('/').all(|part| part.len() <= 64)
}

fn has_extension(text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(stem, extension)| {
        stem.bytes().any(|b| b.is_ascii_alphabetic())
            && (1..=5).contains(&extension.len())
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}
