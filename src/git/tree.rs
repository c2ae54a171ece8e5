//! The snapshot of a commit: its tree, flattened.

use gix::bstr::BString;
use gix::index::entry::Mode;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::BlobId;
use crate::base::path::RepoPath;
use crate::git::blob;
use crate::git::snapshot::{Entry, EntryKind, Place, Snapshot, decode_path, finish_entries};

/// The files of a commit.
pub(crate) fn snapshot(repo: &gix::Repository, commit: &str) -> Result<Snapshot> {
    Ok(Snapshot { commit: Some(commit.to_owned()), ..of_files(files_of_commit(repo, commit)?) })
}

/// The files of a tree, which is no commit's by name.
pub(crate) fn snapshot_of_tree(repo: &gix::Repository, tree: &gix::oid, shown: &str) -> Result<Snapshot> {
    if *tree == *repo.object_hash().empty_tree() {
        return Ok(Snapshot::default());
    }
    Ok(of_files(files_of_tree(repo, tree, b"").map_err(|source| broken(shown, source))?))
}

fn of_files(files: Vec<TreeFile>) -> Snapshot {
    let entries = files
        .into_iter()
        .filter_map(|file| {
            let (path, raw_path) = decode_path(&file.path)?;
            Some(Entry {
                path,
                raw_path,
                kind: file.kind,
                blob: file.blob,
                len_bytes: None,
                dirty: false,
                place: Place::Object,
                trouble: None,
            })
        })
        .collect();
    Snapshot { entries: finish_entries(entries), ..Snapshot::default() }
}

/// The file at a path of a commit, without reading the rest of its tree.
pub(crate) fn entry(repo: &gix::Repository, commit: &str, path: &RepoPath) -> Result<Option<Entry>> {
    let id = id_of_commit(repo, commit)?;
    let tree = repo.find_tree(id).map_err(|source| broken(commit, source))?;
    let found = tree.lookup_entry_by_path(path.as_str()).map_err(|source| broken(commit, source))?;
    Ok(found.and_then(|found| {
        let kind = match found.mode().kind() {
            gix::objs::tree::EntryKind::Blob => EntryKind::File,
            gix::objs::tree::EntryKind::BlobExecutable => EntryKind::Executable,
            gix::objs::tree::EntryKind::Link => EntryKind::Symlink,
            gix::objs::tree::EntryKind::Commit => EntryKind::Submodule,
            gix::objs::tree::EntryKind::Tree => return None,
        };
        Some(Entry {
            path: path.clone(),
            raw_path: None,
            kind,
            blob: blob::from_oid(&found.object_id()),
            len_bytes: None,
            dirty: false,
            place: Place::Object,
            trouble: None,
        })
    }))
}

/// A file of a tree object.
#[derive(Clone, Debug)]
pub(crate) struct TreeFile {
    pub path: BString,
    pub kind: EntryKind,
    pub blob: BlobId,
}

/// The id of a commit's tree.
pub(crate) fn id_of_commit(repo: &gix::Repository, commit: &str) -> Result<gix::ObjectId> {
    gix::ObjectId::from_hex(commit.as_bytes())
        .and_then(|id| repo.find_commit(id))
        .and_then(|c| c.tree_id().map(|t| t.detach()))
        .map_err(|source| broken(commit, source))
}

/// Flattens a commit's tree, sorted by the bytes of the path.
pub(crate) fn files_of_commit(repo: &gix::Repository, commit: &str) -> Result<Vec<TreeFile>> {
    let tree = id_of_commit(repo, commit)?;
    files_of_tree(repo, &tree, b"").map_err(|source| broken(commit, source))
}

fn broken(commit: &str, source: gix::Error) -> Error {
    Error::new(ErrorKind::Git, format!("cannot read the tree of `{commit}`"))
        .hint("`git fsck` says what is missing; a partial clone may need `git fetch --refetch --filter=blob:none`")
        .source(source)
}

/// Flattens a tree, each path after `prefix` (empty, or ending in `/`).
pub(crate) fn files_of_tree(
    repo: &gix::Repository,
    tree: &gix::oid,
    prefix: &[u8],
) -> std::result::Result<Vec<TreeFile>, gix::Error> {
    let index = repo.index_from_tree(tree)?;
    let files = index.entries().iter().filter_map(|entry| {
        let mut path = BString::from(prefix);
        path.extend_from_slice(entry.path(&index));
        Some(TreeFile { path, kind: kind_of(entry.mode)?, blob: blob::from_oid(&entry.id) })
    });
    Ok(files.collect())
}

/// The kind of an index mode; `None` for folders.
pub(crate) fn kind_of(mode: Mode) -> Option<EntryKind> {
    match mode {
        Mode::FILE => Some(EntryKind::File),
        Mode::FILE_EXECUTABLE => Some(EntryKind::Executable),
        Mode::SYMLINK => Some(EntryKind::Symlink),
        Mode::COMMIT => Some(EntryKind::Submodule),
        _ => None,
    }
}
