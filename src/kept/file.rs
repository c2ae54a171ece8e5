//! The container: one file of sections, each found by a table at the start and proved by its
//! digest when it is read. Written under a temporary name and renamed, never changed; held open
//! while it is used, and read, not mapped: whoever removes, replaces or cuts it under a reader
//! makes a miss, and no fault.

use std::fs::File;
use std::path::PathBuf;

use crate::base::error::Result;
use crate::base::id::Digest;
use crate::store::objects::Store;
use crate::store::parts::read_at;

const MAGIC: &[u8] = b"RATKEPT3";

/// The ending of kept trees' names.
pub const EXTENSION: &str = "kept";

/// The largest section that is read: a graph of some hundred million edges.
const MAX_SECTION_BYTES: u64 = 4 << 30;

/// What a kept tree is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Section {
    /// What became of each file, and figures of those that are indexed.
    States,
    /// Where each file's names start.
    Starts,
    Names,
    /// What is known of each symbol beside its name.
    Marks,
    Handles,
    Texts,
    Ranks,
    Graph,
}

/// How many sections there are.
const N_SECTIONS: usize = 8;

/// Magic, the tree's name, where each section lies with its digest, and the digest of all that.
const HEAD_LEN: usize = 8 + 32 + N_SECTIONS * (8 + 8 + 32) + 32;

/// A kept tree, open for reading.
#[derive(Debug)]
pub struct KeptFile {
    file: File,
    sections: [(u64, usize, Digest); N_SECTIONS],
}

/// The folder of a store's kept trees.
pub fn folder(store: &Store) -> PathBuf {
    store.dir().join("trees")
}

fn path(store: &Store, key: &Digest) -> PathBuf {
    folder(store).join(format!("{}.{EXTENSION}", &key.to_string()[..32]))
}

/// Writes a kept tree; `sections` in their order.
///
/// # Errors
/// `Store`, when the store cannot be written.
pub fn write(store: &Store, key: &Digest, sections: &[(Section, Vec<u8>); N_SECTIONS]) -> Result<()> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&key.0);
    let mut start = HEAD_LEN as u64;
    for (_, section) in sections {
        bytes.extend_from_slice(&start.to_le_bytes());
        bytes.extend_from_slice(&(section.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&Digest::of(section).0);
        start += section.len() as u64;
    }
    bytes.extend_from_slice(&Digest::of(&bytes).0);
    sections.iter().for_each(|(_, section)| bytes.extend_from_slice(section));
    store.write(&path(store, key), &bytes)
}

impl KeptFile {
    /// Opens a kept tree; `None` where there is none of this name that is whole at its start.
    pub fn open(store: &Store, key: &Digest) -> Option<Self> {
        let file = File::open(path(store, key)).ok()?;
        let head = read_at(&file, 0, HEAD_LEN)?;
        let (head, digest) = head.split_at(HEAD_LEN - 32);
        if Digest::of(head).0 != *digest || head.strip_prefix(MAGIC)?[..32] != key.0 {
            return None;
        }
        let mut sections = [(0, 0, Digest([0; 32])); N_SECTIONS];
        for (section, row) in sections.iter_mut().zip(head[8 + 32..].chunks_exact(48)) {
            let number = |at: usize| Some(u64::from_le_bytes(row.get(at..at + 8)?.try_into().ok()?));
            let len = number(8).filter(|len| *len <= MAX_SECTION_BYTES)?;
            *section = (number(0)?, usize::try_from(len).ok()?, Digest(row[16..].try_into().ok()?));
        }
        Some(KeptFile { file, sections })
    }

    /// The bytes of a section; `None` when they are not those that were written.
    pub fn section(&self, section: Section) -> Option<Vec<u8>> {
        let (start, len, digest) = self.sections[section as usize];
        read_at(&self.file, start, len).filter(|bytes| Digest::of(bytes) == digest)
    }
}
