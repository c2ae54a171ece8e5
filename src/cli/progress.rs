//! Progress on a terminal: a spinner on stderr while something long runs.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::context::Context;

/// Progress that is shown until dropped; nothing off a terminal.
pub struct Shown(Option<ProgressBar>);

/// Starts to show that `what` is going on.
pub fn start(context: &Context, what: &'static str) -> Shown {
    if !context.shows_progress() {
        return Shown(None);
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(what);
    bar.enable_steady_tick(Duration::from_millis(120));
    Shown(Some(bar))
}

/// Starts to show bytes of something that is fetched.
pub fn bytes(context: &Context) -> Shown {
    if !context.shows_progress() {
        return Shown(None);
    }
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("fetching {bar:24} {bytes}/{total_bytes} {bytes_per_sec} {eta}") {
        bar.set_style(style);
    }
    Shown(Some(bar))
}

impl Shown {
    /// Shows how much is done.
    pub fn set(&self, n_done: u64, n_planned: u64) {
        if let Some(bar) = &self.0 {
            bar.set_length(n_planned);
            bar.set_position(n_done);
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(bar) = self.0.take() {
            bar.finish_and_clear();
        }
    }
}
