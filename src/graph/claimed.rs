//! Work on the threads of the pool around, claimed one piece at a time.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `work` for each of `0..n` on the threads of the pool around, each with a state of its own;
/// results come in no order.
pub fn each<S, R: Send>(n: usize, state: impl Fn() -> S + Sync, work: impl Fn(&mut S, usize) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let parts = rayon::broadcast(|_| {
        let mut state = state();
        let mut own = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= n {
                return own;
            }
            own.push(work(&mut state, at));
        }
    });
    parts.into_iter().flatten().collect()
}
