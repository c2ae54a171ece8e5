//! How `cl100k_base` splits a text before it joins pairs: the alternatives of its pattern,
//! `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`,
//! in their order, over bytes. Characters whose kind is not plain are not known.

/// Signs beyond ASCII that our own texts hold: neither letters nor digits nor space.
const SIGNS: [char; 12] = ['…', '–', '—', '·', '’', '‘', '“', '”', '→', '•', '×', '≤'];

/// Blocks of nothing but letters (Latin, Cyrillic, kana, Chinese, Hangul); `ſ`, which is an `s` to
/// the pattern, is none of them.
const LETTERS: [(char, char); 10] = [
    ('À', 'Ö'),
    ('Ø', 'ö'),
    ('ø', 'ž'),
    ('ƀ', 'ɏ'),
    ('Ѐ', 'ҁ'),
    ('Ҋ', 'ԯ'),
    ('ぁ', 'ゖ'),
    ('ァ', 'ヺ'),
    ('一', '鿿'),
    ('가', '힣'),
];

/// What the pattern tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    /// `\r` and `\n`, which are space too.
    Break,
    Space,
    Sign,
}

/// Whether every character of a text is known.
pub fn knows(text: &str) -> bool {
    text.is_ascii() || text.chars().all(|c| c.is_ascii() || class_of(c).is_some())
}

/// Where the piece that starts at a byte ends; `text` is known, and does not end there.
pub fn piece_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let Some((first, len)) = class_at(text, at) else { return text.len() };
    if bytes[at] == b'\'' {
        let lower = |n: usize| bytes.get(at + n).map(u8::to_ascii_lowercase);
        match (lower(1), lower(2)) {
            (Some(b's' | b'd' | b'm' | b't'), _) => return at + 2,
            (Some(b'l'), Some(b'l')) | (Some(b'v' | b'r'), Some(b'e')) => return at + 3,
            _ => {}
        }
    }
    let letters = match first {
        Class::Letter => Some(at),
        Class::Space | Class::Sign => Some(at + len),
        Class::Digit | Class::Break => None,
    };
    if let Some(start) = letters.filter(|start| is(text, *start, Class::Letter)) {
        return run(text, start, Class::Letter);
    }
    if first == Class::Digit {
        return run(text, at, Class::Digit).min(at + 3);
    }
    let signs = if bytes[at] == b' ' { at + 1 } else { at };
    if is(text, signs, Class::Sign) {
        return run(text, run(text, signs, Class::Sign), Class::Break);
    }
    // Every space is one byte.
    let mut end = at;
    while matches!(class_at(text, end), Some((Class::Space | Class::Break, _))) {
        end += 1;
    }
    if end == text.len() {
        return end;
    }
    match (at..end).rev().find(|at| is(text, *at, Class::Break)) {
        Some(last) => last + 1,
        None if end > at + 1 => end - 1,
        None => at + 1,
    }
}

fn is(text: &str, at: usize, class: Class) -> bool {
    class_at(text, at).is_some_and(|(found, _)| found == class)
}

/// The end of the run of a class that starts at a byte.
fn run(text: &str, mut at: usize, class: Class) -> usize {
    while let Some((found, len)) = class_at(text, at)
        && found == class
    {
        at += len;
    }
    at
}

/// The class of the character at a byte, and how many bytes it has; `None` at the text's end.
#[inline]
fn class_at(text: &str, at: usize) -> Option<(Class, usize)> {
    match *text.as_bytes().get(at)? {
        byte if byte.is_ascii() => Some((of_ascii(byte), 1)),
        _ => {
            let c = text[at..].chars().next()?;
            Some((class_of(c)?, c.len_utf8()))
        }
    }
}

#[inline]
fn of_ascii(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
        b'0'..=b'9' => Class::Digit,
        b'\r' | b'\n' => Class::Break,
        b' ' | b'\t' | 0xb | 0xc => Class::Space,
        _ => Class::Sign,
    }
}

fn class_of(c: char) -> Option<Class> {
    match c {
        c if SIGNS.contains(&c) => Some(Class::Sign),
        c if LETTERS.iter().any(|(first, last)| (*first..=*last).contains(&c)) => Some(Class::Letter),
        _ => None,
    }
}
