//! Exact token counts from a table of the vocabulary that lies in one piece of memory: reading it
//! takes a millisecond, where tiktoken builds maps of 100,000 words for 60. What is not known here
//! (rare letters, words without end) is left to tiktoken.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::base::id::Digest;
use crate::report::pieces;

/// Names the layout and [`hash`].
const MAGIC: &[u8] = b"RATTOK2\n";

/// Words longer than this are left to tiktoken, which has another way for them.
const MAX_PIECE_BYTES: usize = 400;

/// How many bits of a slot name a word (its rank plus 1, 0 for none); the others are of its hash.
const RANK_BITS: u32 = 17;

/// Slots for each word, at least: where none fits, a look ends after two on average.
const SLOTS_PER_WORD: usize = 2;

/// How many pieces that are no words are remembered; then all are forgotten.
const MAX_REMEMBERED: usize = 1 << 15;

/// The words of a tokenizer with their ranks.
#[derive(Debug)]
pub struct Vocabulary {
    bytes: Vec<u8>,
    n_words: usize,
    n_slots: usize,
    /// The tokens of pieces that are no words: names of code come again and again.
    remembered: Mutex<HashMap<Box<[u8]>, usize>>,
}

impl Vocabulary {
    /// The table of some words, each at the position that is its rank; `None` for more than it
    /// can name.
    pub fn encode(words: &[Vec<u8>]) -> Option<Vec<u8>> {
        if words.len() >= 1 << RANK_BITS {
            return None;
        }
        let n_slots = (words.len() * SLOTS_PER_WORD).next_power_of_two();
        let mut slots = vec![0u32; n_slots];
        for (rank, word) in words.iter().enumerate() {
            let hash = hash(word);
            let mut at = hash as usize & (n_slots - 1);
            while slots[at] != 0 {
                at = (at + 1) & (n_slots - 1);
            }
            slots[at] = mark(hash) | (rank as u32 + 1);
        }
        let mut out = MAGIC.to_vec();
        let number = |n: usize, out: &mut Vec<u8>| out.extend_from_slice(&(n as u32).to_le_bytes());
        number(words.len(), &mut out);
        let mut end = 0;
        number(end, &mut out);
        for word in words {
            end += word.len();
            number(end, &mut out);
        }
        slots.iter().for_each(|slot| number(*slot as usize, &mut out));
        words.iter().for_each(|word| out.extend_from_slice(word));
        let digest = Digest::of(&out);
        out.extend_from_slice(&digest.0);
        Some(out)
    }

    /// Takes a table; `None` when it is not whole.
    pub fn read(mut bytes: Vec<u8>) -> Option<Self> {
        let body = bytes.len().checked_sub(32)?;
        if !bytes.starts_with(MAGIC) || Digest::of(&bytes[..body]).0 != bytes[body..] {
            return None;
        }
        bytes.truncate(body);
        let mut vocabulary = Vocabulary { bytes, n_words: 0, n_slots: 0, remembered: Mutex::default() };
        vocabulary.n_words = vocabulary.number(MAGIC.len())? as usize;
        vocabulary.n_slots = vocabulary.n_words.checked_mul(SLOTS_PER_WORD)?.checked_next_power_of_two()?;
        let last = vocabulary.number(vocabulary.starts() + vocabulary.n_words * 4)? as usize;
        (vocabulary.words() + last == vocabulary.bytes.len()).then_some(vocabulary)
    }

    fn starts(&self) -> usize {
        MAGIC.len() + 4
    }

    fn slots(&self) -> usize {
        self.starts() + (self.n_words + 1) * 4
    }

    fn words(&self) -> usize {
        self.slots() + self.n_slots * 4
    }

    fn number(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes.get(at..at + 4)?.try_into().ok()?))
    }

    fn word(&self, rank: usize) -> Option<&[u8]> {
        let start = self.number(self.starts() + rank * 4)? as usize;
        let end = self.number(self.starts() + (rank + 1) * 4)? as usize;
        self.bytes.get(self.words()..)?.get(start..end)
    }

    /// The rank of a word. O(its length).
    fn rank(&self, word: &[u8]) -> Option<u32> {
        let hash = hash(word);
        let mut at = hash as usize & (self.n_slots - 1);
        for _ in 0..self.n_slots {
            let slot = self.number(self.slots() + at * 4).filter(|slot| *slot != 0)?;
            let rank = (slot & ((1 << RANK_BITS) - 1)).checked_sub(1)?;
            if slot & !((1 << RANK_BITS) - 1) == mark(hash) && self.word(rank as usize) == Some(word) {
                return Some(rank);
            }
            at = (at + 1) & (self.n_slots - 1);
        }
        None
    }

    /// The number of tokens of a text; `None` when it holds what is left to tiktoken.
    pub fn count(&self, text: &str) -> Option<usize> {
        if !pieces::knows(text) {
            return None;
        }
        // Another question at the same time counts without memory.
        let mut remembered = self.remembered.try_lock().ok();
        let (mut at, mut n) = (0, 0);
        while at < text.len() {
            let end = pieces::piece_end(text, at);
            let piece = &text.as_bytes()[at..end];
            n += match self.rank(piece) {
                Some(_) => 1,
                None => match remembered.as_ref().and_then(|remembered| remembered.get(piece)) {
                    Some(known) => *known,
                    None => {
                        let found = self.merge(piece)?;
                        if let Some(remembered) = &mut remembered {
                            if remembered.len() == MAX_REMEMBERED {
                                remembered.clear();
                            }
                            remembered.insert(piece.into(), found);
                        }
                        found
                    }
                },
            };
            at = end;
        }
        Some(n)
    }

    /// Byte pair encoding: the pair of lowest rank is joined, the first of several, until none is
    /// a word. Gives how many parts are left; `None` for a piece that is too long.
    fn merge(&self, piece: &[u8]) -> Option<usize> {
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

/// The bits of a hash that a slot keeps.
fn mark(hash: u64) -> u32 {
    ((hash >> 32) as u32) & !((1 << RANK_BITS) - 1)
}

/// A hash of a word; tables hang on it.
fn hash(word: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = (word.len() as u64).wrapping_mul(FACTOR);
    for chunk in word.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(bytes)).wrapping_mul(FACTOR);
    }
    hash ^ (hash >> 29)
}
