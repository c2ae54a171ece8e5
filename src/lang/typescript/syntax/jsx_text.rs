//! `&` in the text and attributes of JSX. The grammar takes it for the start of a character
//! reference (`&amp;`), the language for text where it starts none.

use std::ops::Range;

/// How far the tag or brace around a text is looked for.
const MAX_TEXT: usize = 400;
/// How many are looked at in one file.
const MAX_AMPERSANDS: usize = 2_000;

/// The positions of `&` that seem to be text: all of them, then those of each line.
pub fn stray_ampersands(source: &[u8]) -> Vec<Vec<usize>> {
    let is_stray = |at: &usize| {
        source[*at] == b'&' && !is_reference(&source[*at..]) && (in_quotes(source, *at) || in_text(source, *at))
    };
    let all: Vec<usize> = (0..source.len()).filter(is_stray).take(MAX_AMPERSANDS).collect();
    let mut lists = Vec::new();
    for at in &all {
        let line = line_around(source, *at);
        match lists.last_mut() {
            Some((known, list)) if *known == line => Vec::push(list, *at),
            _ => lists.push((line, vec![*at])),
        }
    }
    let by_line = lists.len() > 1;
    let lines = lists.into_iter().map(|(_, list)| list).filter(|_| by_line);
    (!all.is_empty()).then_some(all).into_iter().chain(lines).collect()
}

/// Whether a character reference starts here.
fn is_reference(rest: &[u8]) -> bool {
    let name = rest.iter().skip(1).take_while(|b| b.is_ascii_alphanumeric() || **b == b'#').count();
    name > 0 && rest.get(1 + name) == Some(&b';')
}

fn line_around(source: &[u8], at: usize) -> Range<usize> {
    let start = source[..at].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let end = source[at..].iter().position(|b| *b == b'\n').map_or(source.len(), |len| at + len);
    start..end
}

/// Whether quotes of one kind are open on the line before and close after.
fn in_quotes(source: &[u8], at: usize) -> bool {
    let line = line_around(source, at);
    let (before, after) = (&source[line.start..at], &source[at..line.end]);
    [b'"', b'\''].into_iter().any(|quote| {
        let n_before = before.iter().filter(|b| **b == quote).count();
        n_before % 2 == 1 && after.contains(&quote)
    })
}

/// Whether a tag or expression ends before and another starts after, with nothing but text between.
fn in_text(source: &[u8], at: usize) -> bool {
    let is_edge = |b: &u8| matches!(b, b'<' | b'>' | b'{' | b'}');
    let from = at.saturating_sub(MAX_TEXT);
    let Some(before) = source[from..at].iter().rposition(is_edge).map(|found| from + found) else { return false };
    let to = source.len().min(at + MAX_TEXT);
    let Some(after) = source[at..to].iter().position(is_edge) else { return false };
    if !matches!(source[at + after], b'<' | b'{') {
        return false;
    }
    let has_text = source[before + 1..at].iter().any(|b| !b.is_ascii_whitespace() && *b != b'&');
    match source[before] {
        b'>' if before > 0 && source[before - 1] == b'=' => false,
        b'>' => has_text || is_tag(&source[from..before]),
        b'}' => has_text,
        _ => false,
    }
}

/// Whether the `>` after these bytes ends a tag, not type arguments, which follow a name.
fn is_tag(before: &[u8]) -> bool {
    let Some(open) = before.iter().rposition(|b| *b == b'<') else { return false };
    let follows_name =
        open > 0 && (before[open - 1].is_ascii_alphanumeric() || matches!(before[open - 1], b'_' | b'$'));
    before.last() == Some(&b'/') || before.get(open + 1) == Some(&b'/') || !follows_name
}
