//! Watching a worktree: what is saved is indexed, and what changed is said by kind.
//!
//! No need of any answer, which look at the tree themselves. `eyes` waits for the disk, `changes`
//! says how two trees differ.

pub mod changes;
mod eyes;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::base::error::Result;
use crate::git::folders::worktree_folders;
use crate::session::Session;
use crate::watch::changes::FileChange;
use crate::watch::eyes::{Eyes, Seen};

/// How to watch.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long the disk must be quiet before it is looked at.
    pub debounce: Duration,
    /// How often the tree is looked at where events are not to be had.
    pub poll_every: Duration,
    /// Whether events are not even tried.
    pub polls: bool,
    /// The most folders that are watched for events; beyond it is polled.
    pub max_folders: usize,
}

/// The most folders that are watched: systems give 8,192 and more to a user, for all programs.
pub const MAX_FOLDERS: usize = 8_000;

/// A look that found nothing doubles the pause before the next one, up to this many times the
/// first: a program that writes ignored files all day costs no core.
const MAX_PAUSE: u32 = 16;

/// What happens while watching.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The first look is done.
    Watching { n_files: usize, n_folders: usize, is_polling: bool },
    /// Events are no longer to be had, for this reason.
    Polling { why: String },
    /// Files changed; sorted by path, never empty.
    Changed { files: Vec<FileChange>, n_parsed: usize },
}

/// Watches until `stop` is set, or `report` fails.
///
/// # Errors
/// Those of `report`, and of the first look at the tree. Later looks that fail (a git command is
/// half done) are tried again.
pub fn run(
    session: &Session,
    options: Options,
    stop: &AtomicBool,
    report: &mut dyn FnMut(Event) -> Result<()>,
) -> Result<()> {
    let mut eyes = Eyes::new(session.repo().root(), options);
    let Some(mut last) = session.look(None)? else { return Ok(()) };
    let mut folders = worktree_folders(session.repo(), &last.folders, options.max_folders);
    let mut trouble = eyes.watch(&folders);
    // What changed while the watches were set is seen by a second look.
    let mut is_due = true;
    report(Event::Watching {
        n_files: last.view.files.len(),
        n_folders: folders.len(),
        is_polling: eyes.is_polling(),
    })?;
    let mut pause = options.debounce;
    while !stop.load(Ordering::Relaxed) {
        if let Some(why) = trouble.take() {
            report(Event::Polling { why })?;
        }
        if !is_due {
            match eyes.wait(stop) {
                Seen::Nothing => continue,
                Seen::Something => settle(&mut eyes, pause, options.debounce, stop),
                Seen::Time => {}
            }
        }
        is_due = false;
        let look = match session.look(Some(last.tree)) {
            Ok(Some(look)) => look,
            Ok(None) => {
                pause = (pause * 2).min(options.debounce * MAX_PAUSE);
                let now = worktree_folders(session.repo(), &last.folders, options.max_folders);
                if now != folders {
                    trouble = eyes.watch(&now);
                    folders = now;
                    is_due = true;
                }
                continue;
            }
            Err(error) => {
                tracing::debug!("looks again: {error}");
                std::thread::sleep(options.debounce.max(Duration::from_millis(50)));
                is_due = true;
                continue;
            }
        };
        pause = options.debounce;
        let files = changes::between(&last.view, &look.view);
        let n_parsed = look.n_parsed;
        is_due = look.is_torn;
        last = look;
        let now = worktree_folders(session.repo(), &last.folders, options.max_folders);
        if now != folders {
            trouble = eyes.watch(&now);
            folders = now;
            is_due = true;
        }
        if !files.is_empty() {
            report(Event::Changed { files, n_parsed })?;
        }
    }
    Ok(())
}

/// Waits until nothing was seen for `pause`, at most ten times that.
fn settle(eyes: &mut Eyes, pause: Duration, debounce: Duration, stop: &AtomicBool) {
    let started = Instant::now();
    let longest = (debounce * 10).max(pause);
    loop {
        let quiet = Instant::now();
        while quiet.elapsed() < pause && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(10).min(pause));
        }
        if !eyes.has_seen() || started.elapsed() > longest || stop.load(Ordering::Relaxed) {
            return;
        }
    }
}
