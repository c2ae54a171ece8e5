//! A manifest: which files a tree holds, and under which shard or with which reason each is known.
//!
//! Plain lines, so that a person can read it; the last one is the digest of all before it, so
//! that a torn file is a miss.

use crate::base::dialect::Dialect;
use crate::base::id::{BlobId, Digest, Fingerprint, ShardKey};
use crate::base::path::RepoPath;

const MAGIC: &str = "ratlas.manifest/1";

/// A tree's files, sorted by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    pub entries: Vec<ManifestEntry>,
}

/// A file of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEntry {
    pub path: RepoPath,
    pub blob: BlobId,
    pub state: EntryState,
}

/// Whether the file has facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// Its facts are the shard of (blob, dialect, fingerprint).
    Indexed { dialect: Dialect, fingerprint: Fingerprint },
    /// It has none; the stable code of the reason.
    Skipped { reason: String },
}

impl ManifestEntry {
    /// The key of its shard, when it has one.
    pub fn key(&self) -> Option<ShardKey> {
        match self.state {
            EntryState::Indexed { dialect, fingerprint } => Some(ShardKey { blob: self.blob, dialect, fingerprint }),
            EntryState::Skipped { .. } => None,
        }
    }
}

impl Manifest {
    /// The text that is stored: the fingerprints in use, a line a file, the digest.
    pub fn encode(&self) -> String {
        let mut fingerprints: Vec<Fingerprint> =
            self.entries.iter().filter_map(|e| Some(e.key()?.fingerprint)).collect();
        fingerprints.sort_unstable();
        fingerprints.dedup();
        let mut text = format!("{MAGIC}\n");
        for fingerprint in &fingerprints {
            text.push_str(&format!("fingerprint {}\n", fingerprint.0));
        }
        for entry in &self.entries {
            let path = escape(entry.path.as_str());
            match &entry.state {
                EntryState::Indexed { dialect, fingerprint } => {
                    let at = fingerprints.binary_search(fingerprint).unwrap_or_default();
                    text.push_str(&format!("shard {} {dialect} {at} {path}\n", entry.blob));
                }
                EntryState::Skipped { reason } => {
                    text.push_str(&format!("skip {} {reason} {path}\n", entry.blob));
                }
            }
        }
        text.push_str(&format!("end {}\n", Digest::of(text.as_bytes())));
        text
    }

    /// Reads a stored text back; `None` unless it is whole, and sorted by path.
    pub fn decode(text: &str) -> Option<Self> {
        let body_len = text.strip_suffix('\n')?.rfind('\n')? + 1;
        let (body, end) = text.split_at(body_len);
        if Digest::from_hex(end.strip_prefix("end ")?.strip_suffix('\n')?)? != Digest::of(body.as_bytes()) {
            return None;
        }
        let mut lines = body.lines();
        if lines.next()? != MAGIC {
            return None;
        }
        let mut fingerprints: Vec<Fingerprint> = Vec::new();
        let mut entries: Vec<ManifestEntry> = Vec::new();
        for line in lines {
            let (kind, rest) = line.split_once(' ')?;
            let mut parts = rest.splitn(if kind == "shard" { 4 } else { 3 }, ' ');
            let entry = match kind {
                "fingerprint" => {
                    fingerprints.push(Fingerprint(Digest::from_hex(rest)?));
                    continue;
                }
                "shard" => {
                    let blob = BlobId::from_hex(parts.next()?)?;
                    let dialect = Dialect::parse(parts.next()?)?;
                    let fingerprint = *fingerprints.get(parts.next()?.parse::<usize>().ok()?)?;
                    let state = EntryState::Indexed { dialect, fingerprint };
                    ManifestEntry { path: RepoPath::new(&unescape(parts.next()?)?)?, blob, state }
                }
                "skip" => {
                    let blob = BlobId::from_hex(parts.next()?)?;
                    let state = EntryState::Skipped { reason: parts.next()?.to_owned() };
                    ManifestEntry { path: RepoPath::new(&unescape(parts.next()?)?)?, blob, state }
                }
                _ => return None,
            };
            if entries.last().is_some_and(|last| last.path >= entry.path) {
                return None;
            }
            entries.push(entry);
        }
        Some(Manifest { entries })
    }
}

fn escape(path: &str) -> String {
    path.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescape(text: &str) -> Option<String> {
    let mut path = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => path.push(match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                '\\' => '\\',
                _ => return None,
            }),
            c => path.push(c),
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::{EntryState, Manifest, ManifestEntry};
    use crate::base::dialect::Dialect;
    use crate::base::id::{BlobId, Digest, Fingerprint};
    use crate::base::path::RepoPath;

    fn manifest() -> Manifest {
        let entry = |path: &str, state| ManifestEntry {
            path: RepoPath::new(path).unwrap(),
            blob: BlobId::from_bytes(&[7; 20]).unwrap(),
            state,
        };
        let fingerprint = Fingerprint(Digest::of(b"x"));
        Manifest {
            entries: vec![
                entry("a b.py", EntryState::Indexed { dialect: Dialect::Py, fingerprint }),
                entry("c\n\\d.md", EntryState::Skipped { reason: "language".to_owned() }),
            ],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Manifest::decode(&manifest().encode()), Some(manifest()));
        assert_eq!(Manifest::decode(&Manifest::default().encode()), Some(Manifest::default()));
    }

    #[test]
    fn a_torn_or_changed_manifest_is_a_miss() {
        let text = manifest().encode();
        for cut in 0..text.len() {
            assert_eq!(Manifest::decode(&text[..cut]), None, "cut at {cut}");
        }
        assert_eq!(Manifest::decode(&text.replace("a b.py", "a c.py")), None);
    }
}
