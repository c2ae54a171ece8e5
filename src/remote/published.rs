//! What is published of a tree and of a commit, as JSON: small, sorted, without any path.
//!
//! Reading trusts nothing: sizes and counts are capped, digests are digests, what does not fit
//! is `None`. Fields that are not known are passed over, so that later writers may add some.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::base::dialect::Dialect;
use crate::base::id::{Digest, Fingerprint};
use crate::remote::layout::{Namespace, is_git_id};

/// The largest manifest, commit or hint that is read: 10,000 packs fit.
pub const MAX_BYTES: u64 = 4 << 20;

/// The most packs of a tree.
const MAX_PACKS: usize = 10_000;

/// The largest pack that is fetched; ours end at 32,768 rows, some 200 MB.
const MAX_PACK_BYTES: u64 = 4 << 30;

/// The largest index that is fetched: 32,768 rows of at most 38 bytes, and their groups.
pub const MAX_INDEX_BYTES: u64 = 16 << 20;

/// The most rows of a pack.
const MAX_ROWS: u64 = 1 << 20;

const TREE_SCHEMA: &str = "ratlas.tree/1";
const COMMIT_SCHEMA: &str = "ratlas.commit/1";
const LATEST_SCHEMA: &str = "ratlas.latest/1";

/// What is published of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedTree {
    /// Git's id of the tree.
    pub tree: String,
    pub fingerprints: BTreeMap<Dialect, Fingerprint>,
    pub n_files: u64,
    pub n_indexed: u64,
    /// Files without facts, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Packs that together hold the tree's shards, sorted by digest.
    pub packs: Vec<PublishedPack>,
}

/// A pack of a remote.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublishedPack {
    /// Of its bytes: its name.
    pub digest: Digest,
    pub len_bytes: u64,
    pub n_rows: u64,
    /// Of the index's bytes.
    pub index_digest: Digest,
    pub index_len_bytes: u64,
    /// Whose folder it lies in: the manifest's own, or `main`.
    pub namespace: Namespace,
}

impl PublishedTree {
    /// The stored bytes. Equal values, equal bytes.
    pub fn encode(&self, own: &Namespace) -> Vec<u8> {
        let fingerprints: Map<String, Value> =
            self.fingerprints.iter().map(|(d, f)| (d.as_str().to_owned(), f.0.to_string().into())).collect();
        let packs: Vec<Value> = self
            .packs
            .iter()
            .map(|pack| {
                let mut row = json!({
                    "digest": pack.digest.to_string(),
                    "bytes": pack.len_bytes,
                    "rows": pack.n_rows,
                    "index_digest": pack.index_digest.to_string(),
                    "index_bytes": pack.index_len_bytes,
                });
                if pack.namespace != *own {
                    row["namespace"] = pack.namespace.as_str().into();
                }
                row
            })
            .collect();
        let value = json!({
            "schema": TREE_SCHEMA,
            "tree": self.tree,
            "fingerprints": fingerprints,
            "files": self.n_files,
            "indexed": self.n_indexed,
            "skipped": self.skipped,
            "packs": packs,
        });
        (value.to_string() + "\n").into_bytes()
    }

    /// Reads a manifest of the namespace `own`; `None` unless it is one of ours, whole.
    pub fn decode(bytes: &[u8], own: &Namespace) -> Option<Self> {
        let value = read(bytes, TREE_SCHEMA)?;
        let fingerprints: Option<BTreeMap<Dialect, Fingerprint>> = value["fingerprints"]
            .as_object()?
            .iter()
            .map(|(d, f)| Some((Dialect::parse(d)?, Fingerprint(Digest::from_hex(f.as_str()?)?))))
            .collect();
        let skipped: Option<BTreeMap<String, u64>> =
            value["skipped"].as_object()?.iter().map(|(reason, n)| Some((reason.clone(), n.as_u64()?))).collect();
        let rows = value["packs"].as_array().filter(|rows| rows.len() <= MAX_PACKS)?;
        let packs: Option<Vec<PublishedPack>> = rows.iter().map(|row| pack(row, own)).collect();
        let packs = packs?;
        let tree = value["tree"].as_str().filter(|tree| is_git_id(tree))?.to_owned();
        packs.windows(2).all(|pair| pair[0].digest < pair[1].digest).then_some(())?;
        Some(PublishedTree {
            tree,
            fingerprints: fingerprints?,
            n_files: value["files"].as_u64()?,
            n_indexed: value["indexed"].as_u64()?,
            skipped: skipped?,
            packs,
        })
    }
}

fn pack(row: &Value, own: &Namespace) -> Option<PublishedPack> {
    let number = |name: &str, max: u64| row[name].as_u64().filter(|n| *n > 0 && *n <= max);
    let namespace = match row.get("namespace") {
        None => own.clone(),
        // A manifest names packs of its own folder and of trusted CI's, no other's.
        Some(name) => Namespace::parse(name.as_str()?).ok().filter(|name| name == own || name.is_main())?,
    };
    Some(PublishedPack {
        digest: Digest::from_hex(row["digest"].as_str()?)?,
        len_bytes: number("bytes", MAX_PACK_BYTES)?,
        n_rows: number("rows", MAX_ROWS)?,
        index_digest: Digest::from_hex(row["index_digest"].as_str()?)?,
        index_len_bytes: number("index_bytes", MAX_INDEX_BYTES)?,
        namespace,
    })
}

/// What is published of a commit; the hint of a branch is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedCommit {
    pub commit: String,
    pub tree: String,
    /// Of the manifest's bytes.
    pub manifest: Digest,
}

impl PublishedCommit {
    /// The stored bytes.
    pub fn encode(&self) -> Vec<u8> {
        let manifest = self.manifest.to_string();
        let value = json!({"schema": COMMIT_SCHEMA, "commit": self.commit, "tree": self.tree, "manifest": manifest});
        (value.to_string() + "\n").into_bytes()
    }

    /// Reads it back; `None` unless it is one of ours, whole.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let value = read(bytes, COMMIT_SCHEMA)?;
        let id = |name: &str| value[name].as_str().filter(|id| is_git_id(id)).map(str::to_owned);
        Some(PublishedCommit {
            commit: id("commit")?,
            tree: id("tree")?,
            manifest: Digest::from_hex(value["manifest"].as_str()?)?,
        })
    }
}

/// The hint of whose facts came last: the set of fingerprints, and the writer's version.
pub fn encode_latest(set: &str, version: &str) -> Vec<u8> {
    (json!({"schema": LATEST_SCHEMA, "fingerprints": set, "ratlas": version}).to_string() + "\n").into_bytes()
}

/// Reads the hint back: 16 hex digits, and a version of plain characters.
pub fn decode_latest(bytes: &[u8]) -> Option<(String, String)> {
    let value = read(bytes, LATEST_SCHEMA)?;
    let set = value["fingerprints"].as_str().filter(|s| s.len() == 16 && s.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let is_plain = |s: &&str| s.len() <= 40 && s.bytes().all(|b| b.is_ascii_alphanumeric() || b".-+".contains(&b));
    Some((set.to_owned(), value["ratlas"].as_str().filter(is_plain)?.to_owned()))
}

fn read(bytes: &[u8], schema: &str) -> Option<Value> {
    if bytes.len() as u64 > MAX_BYTES {
        return None;
    }
    // Nesting is capped by the reader (128).
    let value: Value = serde_json::from_slice(bytes).ok()?;
    (value["schema"] == schema).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::{PublishedCommit, PublishedPack, PublishedTree, decode_latest, encode_latest};
    use crate::base::dialect::Dialect;
    use crate::base::id::{Digest, Fingerprint};
    use crate::remote::layout::Namespace;

    fn tree() -> PublishedTree {
        PublishedTree {
            tree: "a".repeat(40),
            fingerprints: [(Dialect::Py, Fingerprint(Digest::of(b"py")))].into(),
            n_files: 3,
            n_indexed: 2,
            skipped: [("language".to_owned(), 1)].into(),
            packs: vec![PublishedPack {
                digest: Digest::of(b"pack"),
                len_bytes: 10,
                n_rows: 2,
                index_digest: Digest::of(b"index"),
                index_len_bytes: 5,
                namespace: Namespace::main(),
            }],
        }
    }

    #[test]
    fn what_is_published_is_read_back() {
        for own in ["main", "pr-3"] {
            let own = Namespace::parse(own).unwrap();
            assert_eq!(PublishedTree::decode(&tree().encode(&own), &own), Some(tree()));
        }
        let commit = PublishedCommit { commit: "b".repeat(40), tree: "a".repeat(40), manifest: Digest::of(b"m") };
        assert_eq!(PublishedCommit::decode(&commit.encode()), Some(commit));
        let set = "0123456789abcdef";
        assert_eq!(decode_latest(&encode_latest(set, "0.1.0")), Some((set.to_owned(), "0.1.0".to_owned())));
    }

    #[test]
    fn a_manifest_of_trusted_ci_names_no_other_packs() {
        let mut tree = tree();
        tree.packs[0].namespace = Namespace::parse("pr-3").unwrap();
        assert_eq!(PublishedTree::decode(&tree.encode(&Namespace::main()), &Namespace::main()), None);
    }

    #[test]
    fn torn_and_changed_texts_are_misses_or_still_well_formed() {
        let own = Namespace::main();
        let bytes = tree().encode(&own);
        for cut in 0..bytes.len() - 1 {
            assert_eq!(PublishedTree::decode(&bytes[..cut], &own), None, "cut at {cut}");
        }
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x20;
            let _ = PublishedTree::decode(&bytes, &own);
        }
        let nested = "[".repeat(100_000);
        assert_eq!(PublishedTree::decode(nested.as_bytes(), &own), None);
    }
}
