//! From one view to the next where few files differ: only those are looked at.

use std::cmp::Ordering;

use crate::base::error::Result;
use crate::base::path::RepoPath;
use crate::git::snapshot::{Entry, Snapshot};
use crate::index::build::{Builder, Memory, Missing};
use crate::index::select::is_configuration;
use crate::view::View;

/// When more than one file in so many differs, building the whole view costs as much.
const MAX_CHANGED_SHARE: usize = 8;

impl Builder<'_> {
    /// Builds the view of a snapshot from the view of another; with it, whether a file changed
    /// while it was read. Equal to building it from nothing. `None` when too much differs, or
    /// something that may be configuration.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn rebuild(
        &self,
        before: (&Snapshot, &View),
        snapshot: &Snapshot,
        memory: &mut Memory,
    ) -> Result<Option<(View, bool)>> {
        let (was, view) = before;
        let (gone, changed) = differences(was, snapshot);
        let n_changed = gone.len() + changed.len();
        let configures = |path: &RepoPath| {
            is_configuration(path.as_str()) || path.extension() == "json" || view.config.contains_key(path)
        };
        let is_configured = gone.iter().copied().chain(changed.iter().map(|entry| &entry.path)).any(configures);
        if n_changed * MAX_CHANGED_SHARE > snapshot.entries.len().max(MAX_CHANGED_SHARE) || is_configured {
            return Ok(None);
        }
        let part = Snapshot { entries: changed.into_iter().cloned().collect(), ..Snapshot::default() };
        let built = self.build(&part, memory, Missing::Extract)?;
        let is_other = |path: &RepoPath| {
            gone.binary_search(&path).is_ok() || part.entries.binary_search_by(|entry| entry.path.cmp(path)).is_ok()
        };
        let kept = view.files.iter().filter(|file| !is_other(&file.path)).cloned();
        let mut files: Vec<_> = kept.chain(built.view.files).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let kept = view.others.iter().filter(|other| !is_other(&other.path)).cloned();
        let mut others: Vec<_> = kept.chain(built.view.others).collect();
        others.sort_by(|a, b| a.path.cmp(&b.path));
        let config = view.config.clone();
        Ok(Some((View { files, others, config, ..View::default() }, built.is_torn)))
    }
}

/// The paths that are gone, and the entries that are new or not as they were; both in order.
fn differences<'s>(was: &'s Snapshot, now: &'s Snapshot) -> (Vec<&'s RepoPath>, Vec<&'s Entry>) {
    let (mut gone, mut changed) = (Vec::new(), Vec::new());
    let (mut old, mut new) = (was.entries.iter().peekable(), now.entries.iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some(a), Some(b)) => a.path.cmp(&b.path),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return (gone, changed),
        };
        let before = if order.is_le() { old.next() } else { None };
        let after = if order.is_ge() { new.next() } else { None };
        match (before, after) {
            (Some(before), None) => gone.push(&before.path),
            (before, Some(after)) if before != Some(after) => changed.push(after),
            _ => {}
        }
    }
}
