//! Syntax that the grammars do not know yet, written so that they do, byte for byte in place.
//!
//! The mended bytes are only parsed: names, hashes and positions come from the bytes as they are.

use std::borrow::Cow;

/// Mends `import("x")` (a type with arguments or brackets after it breaks the grammar) into a
/// name as long, `export type *` into `export *`, drops `in` and `out` of type parameters, and ends
/// the member before a line that starts a generic call signature.
pub fn mend(source: &[u8]) -> Cow<'_, [u8]> {
    let mut mended = Cow::Borrowed(source);
    let mut at = 0;
    let edited = |b: &u8| matches!(b, b'i' | b'o' | b'e' | b'<');
    while let Some(found) = source.get(at..).and_then(|rest| rest.iter().position(edited)) {
        let start = at + found;
        let rest = &source[start..];
        if rest[0] == b'<' {
            if ends_a_member(source, start) {
                mended.to_mut()[start - 1] = b';';
            }
            at = start + 1;
            continue;
        }
        let whole_word = start == 0 || !is_word(source[start - 1]);
        let edit = if !whole_word {
            None
        } else if rest.starts_with(b"import(") {
            import_call(rest).map(|len| (start..start + len, b'_', 6))
        } else if rest.starts_with(b"export type") {
            export_type(rest).map(|len| (start + 7..start + 7 + len, b' ', 0))
        } else if rest.starts_with(b"in ") || rest.starts_with(b"out ") {
            variance(source, start).map(|range| (range, b' ', 0))
        } else {
            None
        };
        match edit {
            Some((range, with, keep)) => {
                at = range.end;
                mended.to_mut()[range.start + keep..range.end].fill(with);
            }
            None => {
                at = start + 1;
                while source.get(at).is_some_and(|b| is_word(*b)) {
                    at += 1;
                }
            }
        }
    }
    mended
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

/// How far a generic call signature is looked at.
const MAX_SIGNATURE: usize = 4_000;

/// Whether `<` at `start` begins, on a line of its own, a call signature of an interface or object
/// type whose member above has no `;`: the grammar reads on, as type arguments of that member's
/// type. Indented by at least one blank, which becomes the `;`.
fn ends_a_member(source: &[u8], start: usize) -> bool {
    let line_start = source[..start].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let indent = &source[line_start..start];
    if indent.is_empty() || !indent.iter().all(|b| matches!(b, b' ' | b'\t')) {
        return false;
    }
    if !last_code_byte(&source[..line_start]).is_some_and(|b| is_word(b) || b"]>})'\"`".contains(&b)) {
        return false;
    }
    let end = source.len().min(start + MAX_SIGNATURE);
    let Some(types) = closing(&source[start..end], b'<', b'>') else { return false };
    let after = blanks(&source[start + types..end]);
    let Some(params) = closing(&source[start + types + after..end], b'(', b')') else { return false };
    let at = start + types + after + params;
    source.get(at + blanks(&source[at..])) == Some(&b':')
}

/// The last byte before a line that is no blank and in no comment.
fn last_code_byte(before: &[u8]) -> Option<u8> {
    let mut rest = before.trim_ascii_end();
    // Comments between two members; code with more of them in a row is not looked through.
    for _ in 0..64 {
        let line = rest.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        if rest.ends_with(b"*/") {
            let open = rest.windows(2).rposition(|pair| pair == b"/*")?;
            rest = rest[..open].trim_ascii_end();
        } else if rest[line..].trim_ascii_start().starts_with(b"//") {
            rest = rest[..line].trim_ascii_end();
        } else {
            return rest.last().copied();
        }
    }
    None
}

/// The length of what `open` at the start and its `close` enclose, both included; `=>` closes nothing.
fn closing(bytes: &[u8], open: u8, close: u8) -> Option<usize> {
    if bytes.first() != Some(&open) {
        return None;
    }
    let mut depth = 0usize;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == open {
            depth += 1;
        } else if *byte == close && (close != b'>' || bytes[at - 1] != b'=') {
            depth -= 1;
            if depth == 0 {
                return Some(at + 1);
            }
        }
    }
    None
}

fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(bytes.len())
}

/// The length of `import("x")` with one constant string on one line.
fn import_call(rest: &[u8]) -> Option<usize> {
    let mut at = 7;
    while rest.get(at) == Some(&b' ') {
        at += 1;
    }
    let quote = *rest.get(at).filter(|b| matches!(b, b'"' | b'\''))?;
    let inner = rest.get(at + 1..)?;
    let len = inner.iter().position(|b| *b == quote || matches!(b, b'\n' | b'\\'))?;
    // `"import(" + x + ")"` in code that writes code is no specifier.
    let specifier = |b: &u8| b.is_ascii_alphanumeric() || b"_@./~#$:?=&%-".contains(b);
    if len == 0 || !inner[..len].iter().all(specifier) {
        return None;
    }
    at += 1 + len;
    if rest.get(at) != Some(&quote) {
        return None;
    }
    at += 1;
    while rest.get(at) == Some(&b' ') {
        at += 1;
    }
    (rest.get(at) == Some(&b')')).then_some(at + 1)
}

/// The length of `type` where `export type` is followed by `*`.
fn export_type(rest: &[u8]) -> Option<usize> {
    let after = rest.get(11..)?;
    let star = after.iter().position(|b| !b.is_ascii_whitespace())?;
    (star > 0 || after.first() == Some(&b'*')).then_some(())?;
    (after.get(star) == Some(&b'*')).then_some(4)
}

/// The bytes of `in` or `out` before a type parameter's name: after `<` or `,` or the other of the
/// two, before a name. No expression has that.
fn variance(source: &[u8], start: usize) -> Option<std::ops::Range<usize>> {
    let len = if source[start] == b'i' { 2 } else { 3 };
    let mut before = source[..start].trim_ascii_end();
    if before.ends_with(b"*/")
        && let Some(comment) = before.windows(2).rposition(|pair| pair == b"/*")
    {
        before = before[..comment].trim_ascii_end();
    }
    for other in [&b"in"[..], b"out", b"const"] {
        if let Some(shorter) = before.strip_suffix(other)
            && !shorter.last().is_some_and(|b| is_word(*b))
        {
            before = shorter.trim_ascii_end();
        }
    }
    let opens = matches!(before.last(), Some(b'<' | b','));
    let after = source[start + len..].trim_ascii_start();
    let name_len = after.iter().position(|b| !is_word(*b))?;
    let name = &after[..name_len];
    let named = name.first().is_some_and(|b| is_word(*b) && !b.is_ascii_digit());
    let next = after[name_len..].trim_ascii_start();
    let ends = matches!(next.first(), Some(b',' | b'>' | b'='))
        || next.starts_with(b"extends")
        || matches!(name, b"out" | b"in");
    (opens && named && ends).then_some(start..start + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, mended: &str) {
        assert_eq!(String::from_utf8_lossy(&mend(source.as_bytes())), mended);
    }

    #[test]
    fn only_what_the_grammar_lacks_is_mended() {
        check("x: import('./a').B[]", "x: import_______.B[]");
        check("export type * from 'a'; export type {A}", "export      * from 'a'; export type {A}");
        check(
            "interface A<in out T, out U = 1, in V extends X> {}",
            "interface A<       T,     U = 1,    V extends X> {}",
        );
        check("for (const k in out) f(a, out, k in o)", "for (const k in out) f(a, out, k in o)");
        check("import(x); import('a', {}); important('b')", "import(x); import('a', {}); important('b')");
        check(
            "interface A {\n  <T>(a: () => T): B[T]\n  // two\n  <U extends X<Y>>(\n    a: U,\n  ): B\n}",
            "interface A {\n  <T>(a: () => T): B[T]\n  // two\n ;<U extends X<Y>>(\n    a: U,\n  ): B\n}",
        );
        check(
            "a\n  < b\nreturn (\n  <T>(a)\n)\nx =\n  <T>(a): T => a",
            "a\n  < b\nreturn (\n  <T>(a)\n)\nx =\n  <T>(a): T => a",
        );
        check("'import(' + x + ')'; \"import(\"+x+\")\"", "'import(' + x + ')'; \"import(\"+x+\")\"");
    }
}
