//! Clocks of the benches.

use std::time::{Duration, Instant};

/// How long a step took.
pub fn timed(step: impl FnOnce()) -> Duration {
    let start = Instant::now();
    step();
    start.elapsed()
}

/// Milliseconds, to a tenth.
pub fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e4).round() / 10.0
}
