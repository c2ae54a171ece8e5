//! The snapshot of a folder without git: what `.gitignore` files leave, named as git would.

use std::path::Path;

use gix::bstr::BStr;
use gix::index::entry::Stat;
use gix::index::fs::Metadata;
use ignore::WalkBuilder;

use crate::base::error::{Error, ErrorKind, Result};
use crate::git::blob;
use crate::git::read::Reader;
use crate::git::repo::Repo;
use crate::git::snapshot::{
    Entry, EntryKind, MAX_HASHED_BYTES, Place, Snapshot, SnapshotOptions, Trouble, decode_path, finish_entries,
};
use crate::git::stat::StatCache;

/// The files of a folder. Symlinks are not followed, nested repositories are borders; nothing
/// is dirty, since there is no HEAD to differ from.
pub(crate) fn snapshot(repo: &Repo, options: &SnapshotOptions<'_>, cache: &mut StatCache) -> Result<Snapshot> {
    let started = std::time::SystemTime::now();
    let root = repo.root();
    let mut reader = Reader::new(repo);
    let mut entries = Vec::new();
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .git_exclude(false)
        .parents(false)
        .ignore(false)
        .follow_links(false)
        .filter_entry(|at| at.depth() == 0 || (at.file_name() != ".git" && !is_nested_repository(at.path())))
        .build();
    let mut remembered = Vec::new();
    for step in walk {
        let Ok(step) = step else { continue };
        let Some(file_type) = step.file_type().filter(|t| t.is_file() || t.is_symlink()) else { continue };
        let relative = step.path().strip_prefix(root).map_err(|_| {
            Error::new(ErrorKind::Io, format!("`{}` lies outside of the folder", step.path().display()))
        })?;
        let raw = gix::path::to_unix_separators_on_windows(gix::path::into_bstr(relative).map_err(|source| {
            Error::new(ErrorKind::Io, format!("cannot name `{}`", relative.display())).source(source)
        })?);
        let raw: &BStr = raw.as_ref();
        let (Some((path, raw_path)), Ok(metadata)) = (decode_path(raw), Metadata::from_path_no_follow(step.path()))
        else {
            continue;
        };
        let kind = match file_type.is_symlink() {
            true => EntryKind::Symlink,
            false if metadata.is_executable() => EntryKind::Executable,
            false => EntryKind::File,
        };
        let stat = Stat::from_fs(&metadata).unwrap_or_default();
        let null = blob::null(gix::hash::Kind::Sha1);
        let (blob, trouble) = if (options.is_private)(path.as_str()) {
            (null, Some(Trouble::Private))
        } else if let Some(known) = cache.get(raw, &stat) {
            (known, None)
        } else if metadata.len() > MAX_HASHED_BYTES {
            (null, Some(Trouble::TooLarge))
        } else {
            match reader.hash(raw, kind == EntryKind::Symlink) {
                Ok(hashed) => (hashed.blob, hashed.trouble),
                Err(_) => (null, Some(Trouble::Unreadable)),
            }
        };
        if trouble.is_none() {
            remembered.push((raw.to_vec(), stat, blob));
        }
        let len_bytes = Some(metadata.len());
        entries.push(Entry { path, raw_path, kind, blob, len_bytes, dirty: false, place: Place::Worktree, trouble });
    }
    cache.replace(started, remembered);
    Ok(Snapshot { entries: finish_entries(entries), ..Snapshot::default() })
}

/// Whether a folder is a repository of its own.
fn is_nested_repository(path: &Path) -> bool {
    path.is_dir() && path.join(".git").exists()
}
