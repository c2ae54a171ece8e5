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

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(bar) = self.0.take() {
            bar.finish_and_clear();
        }
    }
}
