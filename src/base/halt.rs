//! Work that nobody waits for any more ends where it next looks: long loops call [`check`], and
//! whoever runs a question for somebody runs it [`within`] a flag that this one can set.
//!
//! It ends by unwinding, without a word, as a panic would: what is shared is left as after one. A
//! flag is of one thread; what work hands to others ends with its next look after them.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// What unwinds.
struct Halted;

/// Runs `work` on this thread; `None` when it ended because `flag` was set.
pub fn within<T>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> Option<T> {
    let before = FLAG.replace(Some(Arc::clone(flag)));
    let done = catch_unwind(AssertUnwindSafe(work));
    FLAG.replace(before);
    match done {
        Ok(value) => Some(value),
        Err(payload) if payload.is::<Halted>() => None,
        Err(payload) => resume_unwind(payload),
    }
}

/// Ends this thread's work when it was told to; else costs next to nothing.
#[inline]
pub fn check() {
    let is_set = FLAG.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)));
    if is_set {
        resume_unwind(Box::new(Halted));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{check, within};

    #[test]
    fn work_ends_where_it_looks() {
        let flag = Arc::new(AtomicBool::new(false));
        assert_eq!(within(&flag, || (check(), 3).1), Some(3));
        let mut n = 0;
        let done = within(&flag, || {
            loop {
                n += 1;
                flag.store(n == 5, Ordering::Relaxed);
                check();
            }
        });
        assert_eq!((done, n), (None::<()>, 5));
        check();
        // An inner flag alone ends inner work.
        let inner = Arc::new(AtomicBool::new(true));
        flag.store(false, Ordering::Relaxed);
        assert_eq!(within(&flag, || within(&inner, check)), Some(None));
    }

    #[test]
    fn other_panics_go_on() {
        let flag = Arc::default();
        let caught = std::panic::catch_unwind(|| within(&flag, || std::panic::resume_unwind(Box::new(7u8))));
        assert_eq!(caught.err().and_then(|payload| payload.downcast_ref::<u8>().copied()), Some(7));
    }
}
