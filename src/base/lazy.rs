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
pub struct Lazy<T>(Arc<Inner<T>>);

struct Inner<T> {
    value: OnceLock<Arc<T>>,
    source: Option<(Arc<dyn Source<T>>, usize)>,
}

impl<T> Lazy<T> {
    /// A value that `source` makes when it is first asked for.
    pub fn of(source: Arc<dyn Source<T>>, at: usize) -> Self {
        Lazy(Arc::new(Inner { value: OnceLock::new(), source: Some((source, at)) }))
    }

    /// The value, shared.
    pub fn shared(&self) -> &Arc<T> {
        self.0.value.get_or_init(|| {
            let (source, at) = self.0.source.as_ref().expect("because it has a value or a source");
            source.load(*at)
        })
    }

    /// The value, where it has been made.
    pub fn made(&self) -> Option<&Arc<T>> {
        self.0.value.get()
    }
}

impl<T> From<Arc<T>> for Lazy<T> {
    fn from(value: Arc<T>) -> Self {
        Lazy(Arc::new(Inner { value: OnceLock::from(value), source: None }))
    }
}

impl<T> Deref for Lazy<T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.shared()
    }
}

impl<T> Clone for Lazy<T> {
    fn clone(&self) -> Self {
        Lazy(Arc::clone(&self.0))
    }
}

impl<T: PartialEq> PartialEq for Lazy<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || Arc::ptr_eq(self.shared(), other.shared()) || **self == **other
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
