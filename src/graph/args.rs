//! Type arguments of a value. What is asked of them again and again, how deep they nest and whether
//! they mention type parameters, is found out once, when they are made.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use crate::graph::value::Set;

/// Type arguments by position.
#[derive(Clone, Default)]
pub struct Args(Option<Arc<Held>>);

struct Held {
    sets: Vec<Set>,
    /// How deep type arguments nest, these among them.
    depth: u32,
    is_neat: bool,
    mention_params: bool,
}

/// No type arguments.
pub fn no_args() -> Args {
    Args::default()
}

impl Args {
    /// How deep type arguments nest, these among them. O(1).
    pub fn depth(&self) -> u32 {
        self.0.as_ref().map_or(0, |held| held.depth)
    }

    /// Whether pruning takes nothing from them but what is too deep. O(1).
    pub fn is_neat(&self) -> bool {
        self.0.as_ref().is_none_or(|held| held.is_neat)
    }

    /// Whether type parameters, or shapes that may hold some, are anywhere in them. O(1).
    pub fn mention_params(&self) -> bool {
        self.0.as_ref().is_some_and(|held| held.mention_params)
    }

    fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (None, None) => true,
            _ => false,
        }
    }
}

impl From<Vec<Set>> for Args {
    fn from(sets: Vec<Set>) -> Self {
        if sets.is_empty() {
            return Args(None);
        }
        let held = Held {
            depth: sets.iter().map(|arg| arg.depth() + 1).max().unwrap_or(0),
            is_neat: sets.iter().all(Set::is_neat),
            mention_params: sets.iter().any(Set::mentions_param),
            sets,
        };
        Args(Some(Arc::new(held)))
    }
}

impl From<&[Set]> for Args {
    fn from(sets: &[Set]) -> Self {
        Args::from(sets.to_vec())
    }
}

impl FromIterator<Set> for Args {
    fn from_iter<I: IntoIterator<Item = Set>>(sets: I) -> Self {
        Args::from(sets.into_iter().collect::<Vec<Set>>())
    }
}

impl Deref for Args {
    type Target = [Set];

    fn deref(&self) -> &[Set] {
        self.0.as_ref().map_or(&[], |held| &held.sets)
    }
}

impl PartialEq for Args {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || **self == **other
    }
}

impl Eq for Args {}

impl PartialOrd for Args {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Args {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is_same(other) { Ordering::Equal } else { (**self).cmp(&**other) }
    }
}

impl Hash for Args {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl std::fmt::Debug for Args {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}
