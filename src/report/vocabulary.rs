//! Exact token counts from a table of the vocabulary that lies sorted in one piece of memory:
//! reading it takes a millisecond, where tiktoken builds maps of 100,000 words for 60. What the
//! table's reader does not know (rare letters, words without end) is left to tiktoken.

use std::ops::Range;

use crate::base::id::Digest;

const MAGIC: &[u8] = b"RATTOK1\n";

/// Words longer than this are left to tiktoken, which has another way for them.
const MAX_PIECE_BYTES: usize = 400;

/// Signs beyond ASCII that our own texts hold: neither letters nor digits nor space.
const SIGNS: [char; 12] = ['…', '–', '—', '·', '’', '‘', '“', '”', '→', '•', '×', '≤'];

/// The words of a tokenizer with their ranks.
#[derive(Debug)]
pub struct Vocabulary {
    bytes: Vec<u8>,
    n_words: usize,
}

/// What the tokenizer's pattern tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    /// `\r` and `\n`, which are space too.
    Break,
    Space,
    Sign,
}

impl Vocabulary {
    /// The table of some words, each at the position that is its rank.
    pub fn encode(words: &[Vec<u8>]) -> Vec<u8> {
        let mut order: Vec<usize> = (0..words.len()).collect();
        order.sort_by(|one, other| words[*one].cmp(&words[*other]));
        let mut out = MAGIC.to_vec();
        let number = |n: usize, out: &mut Vec<u8>| out.extend_from_slice(&(n as u32).to_le_bytes());
        number(words.len(), &mut out);
        let mut end = 0;
        number(end, &mut out);
        for at in &order {
            end += words[*at].len();
            number(end, &mut out);
        }
        order.iter().for_each(|rank| number(*rank, &mut out));
        order.iter().for_each(|at| out.extend_from_slice(&words[*at]));
        let digest = Digest::of(&out);
        out.extend_from_slice(&digest.0);
        out
    }

    /// Takes a table; `None` when it is not whole.
    pub fn read(mut bytes: Vec<u8>) -> Option<Self> {
        let body = bytes.len().checked_sub(32)?;
        if Digest::of(&bytes[..body]).0 != bytes[body..] || !bytes.starts_with(MAGIC) {
            return None;
        }
        bytes.truncate(body);
        let mut vocabulary = Vocabulary { bytes, n_words: 0 };
        vocabulary.n_words = vocabulary.number(MAGIC.len())? as usize;
        let last = vocabulary.number(vocabulary.starts() + vocabulary.n_words * 4)? as usize;
        (vocabulary.words() + last == vocabulary.bytes.len()).then_some(vocabulary)
    }

    fn starts(&self) -> usize {
        MAGIC.len() + 4
    }

    fn words(&self) -> usize {
        self.starts() + (self.n_words + 1) * 4 + self.n_words * 4
    }

    fn number(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes.get(at..at + 4)?.try_into().ok()?))
    }

    fn word(&self, at: usize) -> Option<&[u8]> {
        let range: Range<usize> =
            self.number(self.starts() + at * 4)? as usize..self.number(self.starts() + (at + 1) * 4)? as usize;
        self.bytes.get(self.words()..)?.get(range)
    }

    /// The rank of a word. O(log n).
    fn rank(&self, word: &[u8]) -> Option<u32> {
        let (mut low, mut high) = (0, self.n_words);
        while low < high {
            let middle = (low + high) / 2;
            match self.word(middle)?.cmp(word) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    return self.number(self.starts() + (self.n_words + 1) * 4 + middle * 4);
                }
            }
        }
        None
    }

    /// The number of tokens of a text; `None` when it holds what is left to tiktoken.
    pub fn count(&self, text: &str) -> Option<usize> {
        let chars: Option<Vec<(usize, Class)>> = text.char_indices().map(|(at, c)| Some((at, class(c)?))).collect();
        let chars = chars?;
        let offset = |at: usize| chars.get(at).map_or(text.len(), |(offset, _)| *offset);
        let (mut at, mut n) = (0, 0);
        while at < chars.len() {
            let end = piece_end(text.as_bytes(), &chars, at);
            n += self.count_piece(&text.as_bytes()[offset(at)..offset(end)])?;
            at = end;
        }
        Some(n)
    }

    /// Byte pair encoding: the pair of lowest rank is joined, the first of several, until none is
    /// a word.
    fn count_piece(&self, piece: &[u8]) -> Option<usize> {
        if piece.len() <= 1 || self.rank(piece).is_some() {
            return Some(1);
        }
        if piece.len() > MAX_PIECE_BYTES {
            return None;
        }
        // Each part's start, and the rank of it joined with the next.
        let mut parts: Vec<(usize, Option<u32>)> = (0..=piece.len()).map(|at| (at, None)).collect();
        let joined = |parts: &[(usize, Option<u32>)], at: usize| match parts.get(at + 2) {
            Some((end, _)) => self.rank(&piece[parts[at].0..*end]),
            None => None,
        };
        for at in 0..parts.len() {
            parts[at].1 = joined(&parts, at);
        }
        loop {
            let best = parts.iter().enumerate().filter_map(|(at, (_, rank))| Some((*rank.as_ref()?, at))).min();
            let Some((_, at)) = best else { break };
            parts.remove(at + 1);
            parts[at].1 = joined(&parts, at);
            if at > 0 {
                parts[at - 1].1 = joined(&parts, at - 1);
            }
        }
        Some(parts.len() - 1)
    }
}

fn class(c: char) -> Option<Class> {
    Some(match c {
        'a'..='z' | 'A'..='Z' => Class::Letter,
        '0'..='9' => Class::Digit,
        '\r' | '\n' => Class::Break,
        ' ' | '\t' | '\u{b}' | '\u{c}' => Class::Space,
        c if c.is_ascii() || SIGNS.contains(&c) => Class::Sign,
        _ => return None,
    })
}

/// Where the piece that starts at a character ends: the alternatives of `cl100k_base`'s pattern,
/// `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`,
/// in their order.
fn piece_end(text: &[u8], chars: &[(usize, Class)], at: usize) -> usize {
    let is = |at: usize, class: Class| chars.get(at).is_some_and(|(_, c)| *c == class);
    let run = |mut at: usize, classes: &[Class]| {
        while classes.iter().any(|class| is(at, *class)) {
            at += 1;
        }
        at
    };
    let (offset, first) = chars[at];
    if text[offset] == b'\'' {
        let lower = |n: usize| text.get(offset + n).map(u8::to_ascii_lowercase);
        match (lower(1), lower(2)) {
            (Some(b's' | b'd' | b'm' | b't'), _) => return at + 2,
            (Some(b'l'), Some(b'l')) | (Some(b'v' | b'r'), Some(b'e')) => return at + 3,
            _ => {}
        }
    }
    let letters = match first {
        Class::Letter => Some(at),
        Class::Space | Class::Sign => Some(at + 1),
        Class::Digit | Class::Break => None,
    };
    if let Some(start) = letters.filter(|start| is(*start, Class::Letter)) {
        return run(start, &[Class::Letter]);
    }
    if first == Class::Digit {
        return run(at, &[Class::Digit]).min(at + 3);
    }
    let signs = if text[offset] == b' ' { at + 1 } else { at };
    if is(signs, Class::Sign) {
        return run(run(signs, &[Class::Sign]), &[Class::Break]);
    }
    let end = run(at, &[Class::Space, Class::Break]);
    if end == chars.len() {
        return end;
    }
    match (at..end).rev().find(|at| is(*at, Class::Break)) {
        Some(last) => last + 1,
        None if end > at + 1 => end - 1,
        None => at + 1,
    }
}
