//! Token counts. The only door to tiktoken; its vocabulary is loaded when first asked for, and not
//! at all where a table of it was kept.

use std::sync::OnceLock;

use crate::report::vocabulary::Vocabulary;

/// The name of the tokenizer whose tokens are counted.
pub const TOKENIZER: &str = "cl100k_base";

/// Words of the vocabulary, special tokens left out.
const N_WORDS: u32 = 100_256;

/// A place where the table of the vocabulary is kept between processes.
pub trait Shelf: Send + Sync {
    /// Reads what was kept, if anything was.
    fn get(&self) -> Option<Vec<u8>>;
    /// Keeps a table. Failing to costs time only.
    fn put(&self, table: &[u8]);
}

static SHELF: OnceLock<Box<dyn Shelf>> = OnceLock::new();

/// Says where the table is kept, once for the whole process; later calls change nothing.
pub fn keep_on(shelf: Box<dyn Shelf>) {
    let _ = SHELF.set(shelf);
}

/// The number of `cl100k_base` tokens of `text`, special tokens read as plain text.
///
/// For texts made of non-blank lines the count is the sum over its lines (each with its line
/// end): the vocabulary's pre-tokenizer never joins across a line end that follows a non-blank.
pub fn count(text: &str) -> usize {
    kept().and_then(|vocabulary| vocabulary.count(text)).unwrap_or_else(|| counted(text))
}

fn counted(text: &str) -> usize {
    tiktoken_rs::cl100k_base_singleton().count_ordinary(text)
}

/// The kept vocabulary; made and kept for the next process where there is none.
fn kept() -> Option<&'static Vocabulary> {
    static KEPT: OnceLock<Option<Vocabulary>> = OnceLock::new();
    let read = || {
        let shelf = SHELF.get()?;
        if let Some(vocabulary) = shelf.get().and_then(Vocabulary::read) {
            return Some(vocabulary);
        }
        let table = table()?;
        shelf.put(&table);
        Vocabulary::read(table)
    };
    KEPT.get_or_init(read).as_ref()
}

/// The table of tiktoken's vocabulary.
fn table() -> Option<Vec<u8>> {
    let tokenizer = tiktoken_rs::cl100k_base_singleton();
    let words: Option<Vec<Vec<u8>>> = (0..N_WORDS).map(|rank| tokenizer.decode_bytes(&[rank]).ok()).collect();
    Vocabulary::encode(&words?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{count, counted, table};
    use crate::report::vocabulary::Vocabulary;

    #[test]
    fn counts_add_up_over_non_blank_lines() {
        let lines = ["src/a.py\n", "  10-12 def f(a: int) -> str:\n", "    \"doc\" …\n", "}\n", "  x\n"];
        let sum: usize = lines.iter().map(|l| count(l)).sum();
        assert_eq!(sum, count(&lines.concat()));
    }

    #[test]
    fn the_table_counts_as_tiktoken_does() {
        let table = table().unwrap();
        let vocabulary = Vocabulary::read(table.clone()).unwrap();
        let own = include_str!("vocabulary.rs");
        let known = ["", " ", "\n", "a  b", "it's WE'LL 12345 x\r\n\r\n y", "\t\t\n  \n x  ", own, &own.to_uppercase()];
        // The second time they are remembered.
        for text in known.iter().chain(&known).chain(&["ключ от größe’s 数字12 か ’été’ 한글\n", "é'S 'Ж"])
        {
            assert_eq!(vocabulary.count(text), Some(counted(text)), "{text:?}");
        }
        assert_eq!(vocabulary.count("it'ſ"), None, "left to tiktoken");
        assert_eq!(vocabulary.count("\u{1f389}"), None, "left to tiktoken");
        let mut broken = table.clone();
        broken[50] ^= 1;
        assert!(Vocabulary::read(broken).is_none() && Vocabulary::read(table[..99].to_vec()).is_none());
        let pieces = "[a-zA-Z0-9éжЖ中 '\\t\\n\\r_.(){}=…–,:;<>/\\\\#*-]{0,60}|( {0,5}[a-z]{1,9}\n?){0,9}|('[a-zA-Z]{1,3} ?){1,5}";
        proptest!(ProptestConfig::with_cases(600), |(text in pieces)| {
            prop_assert_eq!(vocabulary.count(&text), Some(counted(&text)));
        });
    }
}
