//! The distinct texts of a view's names, each held once and numbered. Numbers stay when files
//! change, so that what was found out by number stays as well.

use std::hash::BuildHasher;
use std::sync::RwLock;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::facts::model::NameId;
use crate::facts::table::Id;
use crate::graph::hashing::HashSet;

/// A text of the view, by number. Its order is of no meaning: compare texts for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(pub u32);

impl Text {
    /// The empty text, and that of what nothing is looked up by.
    pub const NONE: Text = Text(0);
}

/// Interned texts with the number of their users.
#[derive(Default)]
pub struct Texts {
    buffer: String,
    /// Where each text ends in the buffer; it starts where the one before ends.
    ends: Vec<usize>,
    table: HashTable<Text>,
    hasher: RandomState,
    /// How many files hold each text. Nobody finds a text without users, where that is recorded:
    /// before, there is none.
    users: Vec<u32>,
    /// The texts that were looked for from outside of a file's names, where that is recorded.
    sought: Option<RwLock<HashSet<Box<str>>>>,
}

impl Texts {
    /// Takes distinct texts with their hashes, without users. The first is the empty one.
    pub fn of_distinct(distinct: &[(u64, &str)], hasher: RandomState) -> Self {
        let mut texts = Texts { hasher, users: vec![0; distinct.len()], ..Texts::default() };
        texts.buffer.reserve_exact(distinct.iter().map(|(_, text)| text.len()).sum());
        texts.ends.reserve_exact(distinct.len());
        texts.table.reserve(distinct.len(), |_| 0);
        for (at, (hash, text)) in distinct.iter().enumerate() {
            texts.buffer.push_str(text);
            texts.ends.push(texts.buffer.len());
            // There is room for all: none is hashed again.
            texts.table.insert_unique(*hash, Text(at as u32), |at| distinct[at.0 as usize].0);
        }
        texts
    }

    /// The number of texts.
    pub fn n_texts(&self) -> usize {
        self.ends.len()
    }

    /// Records what is looked for from now on.
    pub fn record(&mut self) {
        self.sought = Some(RwLock::default());
    }

    /// The text of a number.
    pub fn str(&self, text: Text) -> &str {
        let at = text.0 as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.buffer[start..self.ends[at]]
    }

    /// The number of a text, whether or not something uses it.
    pub fn number(&self, text: &str) -> Option<Text> {
        self.table.find(self.hasher.hash_one(text), |at| self.str(*at) == text).copied()
    }

    /// The number of a text that some file holds.
    pub fn find(&self, text: &str) -> Option<Text> {
        let Some(sought) = &self.sought else { return self.number(text) };
        if !sought.read().unwrap_or_else(std::sync::PoisonError::into_inner).contains(text) {
            sought.write().unwrap_or_else(std::sync::PoisonError::into_inner).insert(Box::from(text));
        }
        self.number(text).filter(|text| self.users[text.0 as usize] > 0)
    }

    /// Adds a text, or gives the number that it has.
    pub fn intern(&mut self, text: &str) -> Text {
        if let Some(known) = self.number(text) {
            return known;
        }
        let number = Text(self.ends.len() as u32);
        self.buffer.push_str(text);
        self.ends.push(self.buffer.len());
        self.users.push(0);
        let Texts { table, hasher, buffer, ends, .. } = self;
        let str = |text: &Text| {
            let at = text.0 as usize;
            &buffer[at.checked_sub(1).map_or(0, |before| ends[before])..ends[at]]
        };
        table.insert_unique(hasher.hash_one(text), number, |at| hasher.hash_one(str(at)));
        number
    }

    /// Counts one more file that holds a text. Whether that shows to someone who looked for it.
    pub fn add_user(&mut self, text: Text) -> bool {
        let users = &mut self.users[text.0 as usize];
        *users += 1;
        *users == 1 && self.was_sought(text)
    }

    /// Counts one file less that holds a text. Whether that shows to someone who looked for it.
    pub fn remove_user(&mut self, text: Text) -> bool {
        let users = &mut self.users[text.0 as usize];
        *users -= 1;
        *users == 0 && self.was_sought(text)
    }

    fn was_sought(&self, text: Text) -> bool {
        let Some(sought) = &self.sought else { return false };
        sought.read().unwrap_or_else(std::sync::PoisonError::into_inner).contains(self.str(text))
    }
}

/// Finds the name of a file that has a text: slots of names, by a hash of their texts' numbers.
#[derive(Debug, Default)]
pub struct ByText {
    /// The name's index + 1; 0 is free. A power of two of slots, at least half of them free.
    slots: Vec<u32>,
    shift: u32,
}

impl ByText {
    /// The table of a file's names.
    pub fn new(texts: &[Text]) -> Self {
        let n_words = texts.iter().filter(|text| **text != Text::NONE).count();
        let n_slots = (n_words * 2).next_power_of_two().max(2);
        let mut table = ByText { slots: vec![0; n_slots], shift: 32 - n_slots.trailing_zeros() };
        for (at, text) in texts.iter().enumerate().filter(|(_, text)| **text != Text::NONE) {
            let slot = table.probe(texts, *text);
            if table.slots[slot] == 0 {
                table.slots[slot] = at as u32 + 1;
            }
        }
        table
    }

    /// The slot that holds a text, or that would.
    fn probe(&self, texts: &[Text], text: Text) -> usize {
        // Multiplying by the golden ratio spreads neighbours (Knuth 6.4).
        let mut slot = (text.0.wrapping_mul(0x9E37_79B9) >> self.shift) as usize;
        loop {
            match self.slots[slot] {
                0 => return slot,
                name if texts[name as usize - 1] == text => return slot,
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// The name that has a text; `None` when the file does not hold it.
    pub fn find(&self, texts: &[Text], text: Text) -> Option<NameId> {
        let name = *self.slots.get(self.probe(texts, text))?;
        (name > 0 && text != Text::NONE).then(|| NameId::new(name as usize - 1))
    }
}

#[cfg(test)]
mod tests {
    use foldhash::fast::RandomState;

    use super::{ByText, Text, Texts};
    use crate::facts::model::NameId;
    use crate::facts::table::Id;

    #[test]
    fn names_are_found_by_their_texts() {
        let texts: Vec<Text> = (0..100).map(|n| Text(n * 7)).collect();
        let table = ByText::new(&texts);
        for n in 0..700 {
            let wanted = (n > 0 && n % 7 == 0).then(|| NameId::new(n as usize / 7));
            assert_eq!(table.find(&texts, Text(n)), wanted);
        }
        assert_eq!(ByText::new(&[]).find(&[], Text(3)), None);
    }

    #[test]
    fn a_text_is_found_while_something_uses_it() {
        let mut texts = Texts::of_distinct(&[], RandomState::default());
        for text in ["", "a", "bc"] {
            texts.intern(text);
        }
        texts.record();
        let bc = texts.number("bc").expect("it was interned");
        assert_eq!((texts.find("bc"), texts.str(bc)), (None, "bc"));
        assert!(texts.add_user(bc), "it was looked for");
        assert_eq!(texts.find("bc"), Some(bc));
        assert!(!texts.add_user(bc) && !texts.remove_user(bc) && texts.remove_user(bc));
        let new = texts.intern("new");
        assert!(!texts.add_user(new), "nobody looked for it");
        assert_eq!((texts.intern("a").0, texts.str(new)), (1, "new"));
    }
}
