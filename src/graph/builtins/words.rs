//! Lists of words that a rule asks for by name.

use std::sync::LazyLock;

use crate::graph::hashing::HashSet;

/// Words separated by white space, looked up by hash.
pub struct Words(LazyLock<HashSet<&'static str>, fn() -> HashSet<&'static str>>);

impl Words {
    /// A list that `make` splits when it is first asked.
    pub const fn new(make: fn() -> HashSet<&'static str>) -> Self {
        Words(LazyLock::new(make))
    }

    /// Whether a word is among them.
    pub fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }
}

/// The words of a text.
pub fn split(text: &'static str) -> HashSet<&'static str> {
    text.split_whitespace().collect()
}
