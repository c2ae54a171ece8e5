//! Names of what lies outside of a view.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A name or dotted path of something outside: one that rules know, or one that files hold.
/// Compared by its text.
#[derive(Clone)]
pub enum Name {
    Known(&'static str),
    Other(Arc<str>),
}

impl Name {
    /// The name of a text.
    pub fn of(text: &str) -> Self {
        Name::Other(Arc::from(text))
    }

    /// The name of a text that stands in parts.
    pub fn joined(parts: [&str; 3]) -> Self {
        Name::Other(Arc::from(parts.concat()))
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Name::Known(text) => text,
            Name::Other(text) => text,
        }
    }
}

impl From<&'static str> for Name {
    fn from(text: &'static str) -> Self {
        Name::Known(text)
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Name::Other(Arc::from(text))
    }
}

impl From<&Name> for Name {
    fn from(name: &Name) -> Self {
        name.clone()
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Name {}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self)
    }
}
