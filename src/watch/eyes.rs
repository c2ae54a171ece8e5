//! Waiting for the disk: events of the system where it gives them, else the clock. The only door
//! to `notify`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::base::path::RepoPath;
use crate::watch::Options;

/// How long a wait lasts before it is looked whether to stop.
const TICK: Duration = Duration::from_millis(100);

/// What a wait came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    Nothing,
    /// Something was written below a watched folder.
    Something,
    /// It is time to look.
    Time,
}

/// Watches folders, one by one: what is ignored is never watched.
pub struct Eyes {
    root: PathBuf,
    options: Options,
    /// `None` where events are not to be had.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    /// At most one token: that something was seen since the last look.
    seen: Receiver<()>,
    last_look: Instant,
}

impl Eyes {
    /// Eyes below `root` that look nowhere yet.
    pub fn new(root: &Path, options: Options) -> Self {
        let (to, seen) = mpsc::sync_channel(1);
        let tell = move |event: notify::Result<notify::Event>| {
            // That a file was read is no change: our own looks read.
            let is_change = event.map_or(true, |event| !matches!(event.kind, EventKind::Access(_)));
            if is_change {
                let _ = to.try_send(());
            }
        };
        let watcher = if options.polls { None } else { notify::recommended_watcher(tell).ok() };
        let (root, watched) = (root.to_owned(), BTreeSet::new());
        Eyes { root, options, watcher, watched, seen, last_look: Instant::now() }
    }

    /// Whether it goes by the clock.
    pub fn is_polling(&self) -> bool {
        self.watcher.is_none()
    }

    /// Watches these folders and no others. Gives the reason when it goes by the clock from now on.
    pub fn watch(&mut self, folders: &BTreeSet<RepoPath>) -> Option<String> {
        let watcher = self.watcher.as_mut()?;
        let wanted: BTreeSet<PathBuf> = folders.iter().map(|folder| self.root.join(folder.as_str())).collect();
        let mut trouble = (wanted.len() > self.options.max_folders)
            .then(|| format!("there are more than {} folders to watch", self.options.max_folders));
        for gone in self.watched.difference(&wanted) {
            // Gone from disk, its watch is gone too.
            let _ = watcher.unwatch(gone);
        }
        for new in wanted.difference(&self.watched) {
            if trouble.is_some() {
                break;
            }
            match watcher.watch(new, RecursiveMode::NonRecursive) {
                Ok(()) => {}
                // It went away meanwhile, which its parent's watch tells.
                Err(_) if !new.is_dir() => {}
                Err(error) => trouble = Some(error.to_string()),
            }
        }
        self.watched = wanted;
        if trouble.is_some() {
            self.watcher = None;
            self.watched.clear();
        }
        trouble
    }

    /// Waits a moment.
    pub fn wait(&mut self, stop: &AtomicBool) -> Seen {
        if self.is_polling() {
            while self.last_look.elapsed() < self.options.poll_every {
                if stop.load(Ordering::Relaxed) {
                    return Seen::Nothing;
                }
                std::thread::sleep(TICK.min(self.options.poll_every));
            }
            self.last_look = Instant::now();
            return Seen::Time;
        }
        match self.seen.recv_timeout(TICK) {
            Ok(()) => Seen::Something,
            Err(RecvTimeoutError::Timeout) => Seen::Nothing,
            Err(RecvTimeoutError::Disconnected) => {
                self.watcher = None;
                Seen::Time
            }
        }
    }

    /// Whether something was seen since the last wait.
    pub fn has_seen(&mut self) -> bool {
        self.seen.try_recv().is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::{Eyes, Seen};
    use crate::base::path::RepoPath;
    use crate::watch::Options;

    /// K13: no more watches than a user's limit leaves to other programs; beyond it, the clock.
    #[test]
    fn too_many_folders_are_looked_at_by_the_clock() {
        let root = std::env::temp_dir().join(format!("ratlas-eyes-{}", std::process::id()));
        let folders: BTreeSet<RepoPath> = ["a", "b"].into_iter().filter_map(RepoPath::new).collect();
        folders.iter().for_each(|folder| std::fs::create_dir_all(root.join(folder.as_str())).unwrap());
        let poll_every = Duration::from_millis(1);
        let options = Options { debounce: Duration::ZERO, poll_every, polls: false, max_folders: 1 };
        let mut eyes = Eyes::new(&root, options);
        let one = folders.iter().take(1).cloned().collect();
        assert_eq!(eyes.watch(&one), None);
        assert_eq!(eyes.watch(&folders), Some("there are more than 1 folders to watch".to_owned()));
        assert!(eyes.is_polling());
        assert_eq!(eyes.wait(&AtomicBool::new(false)), Seen::Time);
        assert_eq!(eyes.watch(&one), None, "it stays with the clock");
        assert!(eyes.is_polling());
        std::fs::remove_dir_all(root).unwrap();
    }
}
