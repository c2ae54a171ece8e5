//! Calls into libraries that may panic on hostile bytes: a panic there is a `None` here, and
//! nothing of it reaches stderr.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What `work` gives; `None` when it panics. Whatever it may have left half done must not be used
/// after a `None`.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // A panic that is caught is told by what was asked for, not by a stack of a library's.
            if !IS_GUARDED.with(Cell::get) {
                before(info);
            }
        }));
    });
    let was_guarded = IS_GUARDED.with(|is| is.replace(true));
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.with(|is| is.set(was_guarded));
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_is_none_and_the_next_call_is_as_ever() {
        assert_eq!(guarded(|| guarded(|| -> u8 { panic!("none") })), Some(None));
        assert_eq!(guarded(|| 1), Some(1));
    }
}
