//! What was looked up in the tables of a whole view's modules, each look an input by number, so
//! that whoever hangs on one is found when it comes to something else.

use std::hash::BuildHasher;
use std::sync::{PoisonError, RwLock};

use foldhash::fast::RandomState;

use crate::base::path::RepoPath;
use crate::base::reads::{self, Read};
use crate::graph::hashing::HashMap;
use crate::graph::renumber::FIRST_LOOKUP;

/// A look at a table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Lookup {
    /// A specifier where it is written: path, dots, text.
    Specifier(RepoPath, u32, Box<str>),
    /// A submodule of the module at a path.
    Submodule(RepoPath, Box<str>),
    /// A module of a namespace package.
    InNamespace(Box<str>, Box<str>),
    /// The conftest files that the file at a path sees.
    Conftests(RepoPath),
    /// The Python file at a path.
    PythonFile(RepoPath),
    /// Whether a dotted text is a Java package.
    JavaPackage(Box<str>),
    /// A top-level type of a Java package.
    JavaType(Box<str>, Box<str>),
    /// The files of a Java package.
    JavaFiles(Box<str>),
}

/// The looks so far, by hash of what was looked up.
#[derive(Default)]
pub struct Lookups {
    hasher: RandomState,
    known: RwLock<HashMap<u64, (u32, Lookup)>>,
}

impl Lookups {
    /// Notes a look for whoever computes on this thread. `key` tells it from all others.
    pub fn note<'k>(&self, kind: u32, key: impl IntoIterator<Item = &'k str>, lookup: impl FnOnce() -> Lookup) {
        let key: Vec<&str> = key.into_iter().collect();
        let hash = self.hasher.hash_one((kind, key));
        let number = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&hash).map(|known| known.0);
        let number = number.unwrap_or_else(|| {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            let next = FIRST_LOOKUP + known.len() as u32;
            known.entry(hash).or_insert_with(|| (next, lookup())).0
        });
        reads::note(Read::outline(number));
    }

    /// The numbers of the looks that a test fails, in order.
    pub fn failing(&self, holds: impl Fn(&Lookup) -> bool) -> Vec<u32> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut failing: Vec<u32> =
            known.values().filter(|(_, lookup)| !holds(lookup)).map(|(number, _)| *number).collect();
        failing.sort_unstable();
        failing
    }
}
