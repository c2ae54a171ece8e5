//! A shared value that is there from the start, or is made when it is first asked for.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Makes values by their position. The same position always gives equal values.
pub trait Source<T>: Send + Sync {
    /// Makes the value at a position.
    fn load(&self, at: usize) -> Arc<T>;
}

/// A value, or where it comes from. Clones share it, and it is made once at most.
pub struct Lazy<T> {
    /// The value, once this clone knows it: who reads it again and again takes no way round.
    known: OnceLock<Arc<T>>,
    /// Where it comes from, with what the clones share.
    made: Option<Arc<Made<T>>>,
}

struct Made<T> {
    value: OnceLock<Arc<T>>,
    source: Arc<dyn Source<T>>,
    at: usize,
}

impl<T> Lazy<T> {
    /// A value that `source` makes when it is first asked for.
    pub fn of(source: Arc<dyn Source<T>>, at: usize) -> Self {
        Lazy { known: OnceLock::new(), made: Some(Arc::new(Made { value: OnceLock::new(), source, at })) }
    }

    /// The value, shared.
    #[inline]
    pub fn shared(&self) -> &Arc<T> {
        self.known.get_or_init(|| {
            let made = self.made.as_ref().expect("because it has a value or a source");
            Arc::clone(made.value.get_or_init(|| made.source.load(made.at)))
        })
    }

    /// The value, where it has been made.
    pub fn made(&self) -> Option<&Arc<T>> {
        self.known.get().or_else(|| self.made.as_ref()?.value.get())
    }
}

impl<T> From<Arc<T>> for Lazy<T> {
    fn from(value: Arc<T>) -> Self {
        Lazy { known: OnceLock::from(value), made: None }
    }
}

impl<T> Deref for Lazy<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.shared()
    }
}

impl<T> Clone for Lazy<T> {
    fn clone(&self) -> Self {
        Lazy { known: self.made().cloned().map(OnceLock::from).unwrap_or_default(), made: self.made.clone() }
    }
}

impl<T: PartialEq> PartialEq for Lazy<T> {
    fn eq(&self, other: &Self) -> bool {
        let same = match (&self.made, &other.made) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        same || Arc::ptr_eq(self.shared(), other.shared()) || **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.made().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{Lazy, Source};

    struct Squares(AtomicUsize);

    impl Source<usize> for Squares {
        fn load(&self, at: usize) -> Arc<usize> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Arc::new(at * at)
        }
    }

    #[test]
    fn a_value_is_made_once_for_all_its_clones() {
        let squares = Arc::new(Squares(AtomicUsize::new(0)));
        let nine = Lazy::of(Arc::clone(&squares) as Arc<dyn Source<usize>>, 3);
        let other = nine.clone();
        assert!(other.made().is_none());
        assert_eq!((*nine, *other), (9, 9));
        assert_eq!(squares.0.load(Ordering::Relaxed), 1);
        assert!(other.made().is_some());
        assert_eq!(*Lazy::from(Arc::new(5)), 5);
    }
}
