//! The distinct texts of a view's names, each held once and numbered. Numbers stay when files
//! change, so that what was found out by number stays as well.

use std::hash::BuildHasher;
use std::sync::RwLock;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::graph::hashing::HashSet;

/// A text of the view, by number. Its order is of no meaning: compare texts for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(pub u32);

/// Interned texts with the number of their users.
#[derive(Default)]
pub struct Texts {
    buffer: String,
    /// Where each text ends in the buffer; it starts where the one before ends.
    ends: Vec<usize>,
    table: HashTable<Text>,
    hasher: RandomState,
    /// How many files hold each text. Nobody finds a text without users.
    users: Vec<u32>,
    /// The texts that were looked for from outside of a file's names, where that is recorded.
    sought: Option<RwLock<HashSet<Box<str>>>>,
}

impl Texts {
    /// Interns distinct texts without users.
    pub fn new(distinct: &[&str]) -> Self {
        let mut texts = Texts::default();
        texts.buffer.reserve_exact(distinct.iter().map(|text| text.len()).sum());
        texts.table.reserve(distinct.len(), |_| 0);
        for text in distinct {
            texts.intern(text);
        }
        texts
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
        if let Some(sought) = &self.sought
            && !sought.read().unwrap_or_else(std::sync::PoisonError::into_inner).contains(text)
        {
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

#[cfg(test)]
mod tests {
    use super::Texts;

    #[test]
    fn a_text_is_found_while_something_uses_it() {
        let mut texts = Texts::new(&["a", "", "bc"]);
        texts.record();
        let bc = texts.number("bc").expect("it was interned");
        assert_eq!((texts.find("bc"), texts.str(bc)), (None, "bc"));
        assert!(texts.add_user(bc), "it was looked for");
        assert_eq!(texts.find("bc"), Some(bc));
        assert!(!texts.add_user(bc) && !texts.remove_user(bc) && texts.remove_user(bc));
        let new = texts.intern("new");
        assert!(!texts.add_user(new), "nobody looked for it");
        assert_eq!((texts.intern("a").0, texts.str(new)), (0, "new"));
    }
}
