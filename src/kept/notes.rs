//! Notes beside a kept tree: what a room above made of all its files, under that room's own name,
//! so that the next process need not. As whole or as absent as the tree itself.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::id::Digest;
use crate::kept::file::folder;
use crate::store::objects::Store;
use crate::store::parts::{files_by_age, read_at};
use crate::view::directory::Notes;

/// The ending of notes' names.
const EXTENSION: &str = "note";

/// How many notes a store holds, the newest.
const MAX_NOTES: usize = 8;

/// The largest note that is read.
const MAX_BYTES: u64 = 1 << 30;

/// The notes of one kept tree.
#[derive(Debug)]
pub struct NotesOfTree {
    pub store: Arc<Store>,
    pub key: Digest,
}

impl NotesOfTree {
    fn path(&self, name: &str) -> PathBuf {
        folder(&self.store).join(format!("{}.{name}.{EXTENSION}", &self.key.to_string()[..32]))
    }

    /// What the digest of a note is of: the tree's name too.
    fn digest(&self, bytes: &[u8]) -> Digest {
        Digest::of_parts([&self.key.0[..], bytes])
    }
}

impl Notes for NotesOfTree {
    fn get(&self, name: &str) -> Option<Vec<u8>> {
        let file = File::open(self.path(name)).ok()?;
        let len = file.metadata().ok()?.len().checked_sub(32).filter(|len| *len <= MAX_BYTES)?;
        let digest = read_at(&file, 0, 32)?;
        let bytes = read_at(&file, 32, usize::try_from(len).ok()?)?;
        (self.digest(&bytes).0 == *digest).then_some(bytes)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        let whole = [&self.digest(bytes).0[..], bytes].concat();
        if let Err(error) = self.store.write(&self.path(name), &whole) {
            tracing::debug!("a note on the linked tree is not kept: {error}");
        }
        for path in files_by_age(&folder(&self.store), EXTENSION).into_iter().skip(MAX_NOTES) {
            // Another process may have been quicker.
            let _ = std::fs::remove_file(path);
        }
    }
}
