//! Reading the bytes of an entry, and hashing what the index does not know.

use gix::bstr::BStr;
use gix::prelude::FindExt;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::BlobId;
use crate::git::blob;
use crate::git::convert::{Converter, Stored};
use crate::git::repo::Repo;
use crate::git::snapshot::{Entry, EntryKind, Place, Trouble};
use crate::git::stat::Lstat;

/// Reads entries of one repository; one a thread.
pub struct Reader {
    git: Option<gix::Repository>,
    kind: gix::hash::Kind,
    lstat: Lstat,
    converter: Option<Converter>,
}

/// A file of the worktree, as git would store it.
pub(crate) struct Hashed {
    pub blob: BlobId,
    pub bytes: Vec<u8>,
    pub trouble: Option<Trouble>,
}

impl Reader {
    /// Makes a reader for this thread.
    pub fn new(repo: &Repo) -> Self {
        let git = repo.local().ok();
        Reader { kind: repo.hash_kind(), lstat: Lstat::new(repo.root()), converter: None, git }
    }

    /// Makes a reader over a git handle whose worktree is at `root`.
    pub(crate) fn of(git: gix::Repository, root: &std::path::Path) -> Self {
        Reader { kind: git.object_hash(), lstat: Lstat::new(root), converter: None, git: Some(git) }
    }

    /// The bytes of an entry as git stores them: exactly those that its blob id names.
    ///
    /// A file of the worktree that no longer is what the snapshot saw comes from git's objects
    /// where they have it. The text of its target for a symlink.
    ///
    /// # Errors
    /// `Io` when the file cannot be read or has changed since the snapshot; `Git` when git's
    /// objects lack it; `CannotAnswer` for submodules and for what must not be opened.
    pub fn read(&mut self, entry: &Entry) -> Result<Vec<u8>> {
        let cannot = |why: &str| Error::new(ErrorKind::CannotAnswer, format!("`{}` is not read: {why}", entry.path));
        match (entry.kind, entry.trouble) {
            (EntryKind::Submodule, _) => return Err(cannot("it is a submodule")),
            (_, Some(Trouble::Private)) => return Err(cannot("it is private")),
            (_, Some(Trouble::TooLarge)) => return Err(cannot("it is too large")),
            (_, Some(Trouble::Unreadable | Trouble::Filter) | None) => {}
        }
        if entry.place == Place::Worktree {
            let raw = entry.raw_path.as_deref().unwrap_or(entry.path.as_str().as_bytes());
            let is_link = entry.kind == EntryKind::Symlink;
            if let Ok(hashed) = self.hash(BStr::new(raw), is_link)
                && hashed.blob == entry.blob
            {
                return Ok(hashed.bytes);
            }
        }
        self.object(&entry.blob).map_err(|error| match entry.place {
            Place::Object => error,
            Place::Worktree => Error::new(ErrorKind::Io, format!("`{}` changed while it was read", entry.path))
                .hint("try again once nothing writes to it"),
        })
    }

    /// The bytes of a blob in git's object database.
    ///
    /// # Errors
    /// `Git` when it is not there (a partial clone) or cannot be read; `NotARepository` without git.
    pub fn object(&self, id: &BlobId) -> Result<Vec<u8>> {
        let git = self
            .git
            .as_ref()
            .ok_or_else(|| Error::new(ErrorKind::NotARepository, format!("no git objects here to read `{id}` from")))?;
        let mut bytes = Vec::new();
        git.objects.find_blob(&blob::to_oid(id), &mut bytes).map_err(|source| {
            Error::new(ErrorKind::Git, format!("cannot read blob `{id}`"))
                .hint("`git fsck` says what is missing; a partial clone may need `git fetch`")
                .source(source)
        })?;
        Ok(bytes)
    }

    /// The size of a blob in git's object database, without reading it; `None` when not there.
    pub fn object_len(&self, id: &BlobId) -> Option<u64> {
        self.git.as_ref()?.find_header(blob::to_oid(id)).ok().map(|header| header.size())
    }

    /// Reads a file of the worktree as git would store it, and names it.
    pub(crate) fn hash(&mut self, path: &BStr, is_link: bool) -> Result<Hashed> {
        let unread = || Error::new(ErrorKind::Io, format!("cannot read `{path}`"));
        let metadata = self.lstat.of(path).map_err(|source| unread().source(source))?.ok_or_else(unread)?;
        let full = self.lstat.full(path).ok_or_else(unread)?;
        if is_link && metadata.is_symlink() {
            let target = std::fs::read_link(&full).map_err(|source| unread().source(source))?;
            let target = gix::path::to_unix_separators_on_windows(
                gix::path::into_bstr(target).map_err(|source| unread().source(source))?,
            );
            let bytes = target.to_vec();
            return Ok(Hashed { blob: blob::hash(self.kind, &bytes)?, bytes, trouble: None });
        }
        // A named pipe would block for ever, a device never end.
        if !metadata.is_file() {
            return Err(unread());
        }
        let bytes = std::fs::read(&full).map_err(|source| unread().source(source))?;
        let (bytes, trouble) = match &self.git {
            // What core.symlinks=false checks out as a file is not converted.
            Some(git) if !is_link => {
                if self.converter.is_none() {
                    self.converter = Some(Converter::new(git)?);
                }
                let converter = self.converter.as_mut().expect("because it was made above");
                match converter.convert(git, path, bytes)? {
                    Stored::Bytes(bytes) => (bytes, None),
                    Stored::Filter(bytes) => (bytes, Some(Trouble::Filter)),
                }
            }
            _ => (bytes, None),
        };
        Ok(Hashed { blob: blob::hash(self.kind, &bytes)?, bytes, trouble })
    }
}
