//! Brackets that are never closed, as while someone types. To the grammar they swallow the
//! definitions that follow; here they are cut off where a statement cannot but have begun.
//!
//! The mended bytes are only parsed, and hold an error where they were cut: names, hashes and
//! positions come from the bytes as they are.

use std::borrow::Cow;
use std::ops::Range;

use tree_sitter::Parser;

/// What starts a statement and stands in no expression: a line that begins so is in no bracket.
const STATEMENTS: [&[u8]; 16] = [
    b"def",
    b"class",
    b"import",
    b"return",
    b"raise",
    b"while",
    b"with",
    b"assert",
    b"del",
    b"global",
    b"nonlocal",
    b"pass",
    b"break",
    b"continue",
    b"try",
    b"except",
];
/// What a line that opens a block begins with.
const HEADERS: [&[u8]; 10] =
    [b"def", b"class", b"if", b"elif", b"for", b"while", b"with", b"except", b"match", b"case"];
/// A character that no token of Python has: one error, where it stands.
const ERROR: u8 = b'?';
/// How deep brackets nest in code that people write; deeper ones are left as they are.
const MAX_DEPTH: usize = 200;

/// Cuts off brackets that are not closed before the next statement. Bytes that parse whole are
/// given back as they are. O(bytes) where nothing is cut.
pub fn mend(source: &[u8]) -> Cow<'_, [u8]> {
    let cuts = cuts(source);
    if cuts.is_empty() || parses(source) {
        return Cow::Borrowed(source);
    }
    let mut mended = source.to_vec();
    for Range { start, end } in cuts {
        match header_end(source, start) {
            // `def f(a, b:` becomes `def f(?):`: its body is whole.
            Some(colon) if colon >= start + 3 => {
                mended[start + 1..=colon].fill(b' ');
                mended[start + 1..start + 4].copy_from_slice(&[ERROR, b')', b':']);
            }
            _ => {
                for byte in &mut mended[start..end] {
                    if !matches!(*byte, b'\n' | b'\r') {
                        *byte = b' ';
                    }
                }
                mended[start] = ERROR;
            }
        }
    }
    Cow::Owned(mended)
}

fn parses(source: &[u8]) -> bool {
    let mut parser = Parser::new();
    let is_set = parser.set_language(&tree_sitter_python::LANGUAGE.into()).is_ok();
    let tree = if is_set { parser.parse(source, None) } else { None };
    tree.is_some_and(|tree| !tree.root_node().has_error())
}

/// From an unclosed bracket to the statement that shows it to be unclosed, in order, disjoint.
fn cuts(source: &[u8]) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    let mut is_line_start = true;
    while let Some(byte) = source.get(at) {
        if is_line_start {
            is_line_start = false;
            if let Some(first) = open.first().filter(|_| begins_statement(&source[at..])) {
                cuts.push(*first..before_decorators(source, at, *first));
                open.clear();
            }
        }
        match byte {
            b'\n' => {
                is_line_start = true;
                at += 1;
            }
            b'#' => at += line_len(&source[at..]),
            b'"' | b'\'' => at = string_end(source, at),
            b'(' | b'[' | b'{' => {
                if open.len() >= MAX_DEPTH {
                    return Vec::new();
                }
                open.push(at);
                at += 1;
            }
            b')' | b']' | b'}' => {
                open.pop();
                at += 1;
            }
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    cuts
}

/// Whether a line, from its start, begins with a word that stands in no expression.
fn begins_statement(line: &[u8]) -> bool {
    let mut rest = unindented(line);
    if let Some(after) = rest.strip_prefix(b"async ") {
        rest = unindented(after);
    }
    STATEMENTS.iter().any(|word| {
        rest.strip_prefix(*word).is_some_and(|after| {
            after.first().is_none_or(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'_' | b'=' | b'.') && *b < 0x80)
                && unindented(after).first() != Some(&b'=')
        })
    })
}

/// The start of the line at `at`, or of the decorators that stand directly above it.
fn before_decorators(source: &[u8], at: usize, limit: usize) -> usize {
    let mut start = at;
    while start > limit + 1 {
        let above = source[..start - 1].iter().rposition(|b| *b == b'\n').map_or(0, |newline| newline + 1);
        if above <= limit || unindented(&source[above..]).first() != Some(&b'@') {
            break;
        }
        start = above;
    }
    start
}

/// The colon that ends the line of an open bracket, when the line opens a block.
fn header_end(source: &[u8], bracket: usize) -> Option<usize> {
    let start = source[..bracket].iter().rposition(|b| *b == b'\n').map_or(0, |newline| newline + 1);
    let mut line = unindented(&source[start..]);
    line = line.strip_prefix(b"async ").unwrap_or(line);
    let word = line.iter().position(|b| !b.is_ascii_lowercase()).unwrap_or(line.len());
    if !HEADERS.contains(&&line[..word]) {
        return None;
    }
    let end = start + line_len(&source[start..]);
    let last = source[start..end].iter().rposition(|b| !b.is_ascii_whitespace())?;
    (source[start + last] == b':').then_some(start + last)
}

/// The bytes before the line's end.
fn line_len(rest: &[u8]) -> usize {
    rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())
}

/// Behind the string that a quote opens; a plain one ends with its line at the latest.
fn string_end(source: &[u8], quote: usize) -> usize {
    let byte = source[quote];
    let is_long = source[quote..].starts_with(&[byte, byte, byte]);
    let mut at = quote + if is_long { 3 } else { 1 };
    while let Some(next) = source.get(at) {
        match next {
            b'\\' => at += 2,
            b'\n' if !is_long => return at,
            _ if *next == byte && !is_long => return at + 1,
            _ if *next == byte && source[at..].starts_with(&[byte, byte, byte]) => return at + 3,
            _ => at += 1,
        }
    }
    source.len()
}

/// Bytes without the blanks that indent a line.
fn unindented(line: &[u8]) -> &[u8] {
    let n_blanks = line.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    &line[n_blanks..]
}
