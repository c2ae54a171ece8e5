//! Remote layout, format 1: where what lies. Every name but those below `heads` is written once.
//!
//! ```text
//! ratlas-remote.json                                      which format this is
//! v1/<namespace>/manifests/<set>/<tree>.json              what is known of a tree (+ .minisig)
//! v1/<namespace>/commits/<set>/<commit>                   a commit's tree and manifest
//! v1/<namespace>/packs/<set>/<aa>/<blake3>.parquet, .idx  shards
//! v1/<namespace>/heads/<set>/<branch>                     a hint: the branch's last commit
//! v1/<namespace>/heads/latest.json                        a hint: whose facts came last
//! ```
//!
//! `<set>` names the fingerprints of all dialects, `<tree>` and `<commit>` are git's own ids.

use std::fmt;

use crate::base::dialect::Dialect;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::{Digest, Fingerprint};

/// The file that says which format a remote has.
pub const MARK: &str = "ratlas-remote.json";

/// What [`MARK`] holds.
pub const MARK_TEXT: &str = "{\"schema\":\"ratlas.remote/1\",\"format\":1}\n";

/// Who writes. `main` is trusted CI's, the others belong to one pull request or person.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(String);

impl Namespace {
    /// Trusted CI's.
    pub fn main() -> Self {
        Namespace("main".to_owned())
    }

    /// Reads `main`, `pr-<number>` or `dev-<name>`.
    ///
    /// # Errors
    /// `Usage` for anything else.
    pub fn parse(text: &str) -> Result<Self> {
        let is_number = |n: &str| !n.is_empty() && n.len() <= 12 && n.bytes().all(|b| b.is_ascii_digit());
        let is_name = |n: &str| {
            !n.is_empty() && n.len() <= 64 && n.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        };
        let is_one = text == "main"
            || text.strip_prefix("pr-").is_some_and(is_number)
            || text.strip_prefix("dev-").is_some_and(is_name);
        match is_one {
            true => Ok(Namespace(text.to_owned())),
            false => Err(Error::new(ErrorKind::Usage, format!("`{text}` is no namespace of a remote"))
                .hint("namespaces are main, pr-<number> and dev-<name>")),
        }
    }

    /// The namespace of a person; letters that no name has become `-`.
    pub fn of_person(name: &str) -> Option<Self> {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = name.chars().take(64).map(plain).collect();
        let name = name.trim_matches('-');
        (!name.is_empty()).then(|| Namespace(format!("dev-{name}")))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is trusted CI's.
    pub fn is_main(&self) -> bool {
        self.0 == "main"
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names the fingerprints of all dialects together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FingerprintSet(Fingerprint);

impl FingerprintSet {
    /// The set of these fingerprints, in the order of the dialects.
    pub fn of(fingerprints: impl IntoIterator<Item = (Dialect, Fingerprint)>) -> Self {
        let mut parts = Vec::new();
        for (dialect, fingerprint) in fingerprints {
            parts.extend_from_slice(dialect.as_str().as_bytes());
            parts.push(b'=');
            parts.extend_from_slice(&fingerprint.0.0);
        }
        FingerprintSet(Fingerprint(Digest::of(&parts)))
    }
}

impl fmt::Display for FingerprintSet {
    /// 16 hex digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The names of one namespace under one set of fingerprints.
#[derive(Clone, Debug)]
pub struct Layout {
    pub namespace: Namespace,
    pub set: FingerprintSet,
}

impl Layout {
    /// The manifest of a tree.
    pub fn manifest(&self, tree: &str) -> String {
        format!("v1/{}/manifests/{}/{tree}.json", self.namespace, self.set)
    }

    /// The signature of a tree's manifest.
    pub fn signature(&self, tree: &str) -> String {
        format!("{}.minisig", self.manifest(tree))
    }

    /// What is known of a commit.
    pub fn commit(&self, commit: &str) -> String {
        format!("v1/{}/commits/{}/{commit}", self.namespace, self.set)
    }

    /// A pack.
    pub fn pack(&self, digest: &Digest) -> String {
        let hex = digest.to_string();
        format!("v1/{}/packs/{}/{}/{hex}.parquet", self.namespace, self.set, &hex[..2])
    }

    /// The index of a pack.
    pub fn index(&self, digest: &Digest) -> String {
        let pack = self.pack(digest);
        format!("{}idx", pack.trim_end_matches("parquet"))
    }

    /// The hint of a branch.
    pub fn head(&self, branch: &str) -> String {
        format!("v1/{}/heads/{}/{}", self.namespace, self.set, plain(branch))
    }

    /// The hint of whose facts came last.
    pub fn latest(&self) -> String {
        format!("v1/{}/heads/latest.json", self.namespace)
    }
}

/// Whether a text is an id of git's: 40 or 64 lower-case hex digits.
pub fn is_git_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// A branch's name as one part of a path, letters of other sorts as `%XX`.
fn plain(branch: &str) -> String {
    let mut out = String::new();
    for byte in branch.bytes().take(200) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => out.push(byte as char),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{FingerprintSet, Layout, Namespace};
    use crate::base::id::Digest;

    #[test]
    fn namespaces_are_three_and_lead_nowhere_else() {
        for name in ["main", "pr-17", "dev-ann"] {
            assert_eq!(Namespace::parse(name).unwrap().as_str(), name);
        }
        for name in ["", "pr-", "pr-x", "dev-", "dev-a/b", "../x", "release"] {
            assert!(Namespace::parse(name).is_err(), "{name}");
        }
        assert_eq!(Namespace::of_person("Ann Bee").unwrap().as_str(), "dev-ann-bee");
        assert_eq!(Namespace::of_person("../.."), None);
    }

    #[test]
    fn names_are_plain() {
        let layout = Layout { namespace: Namespace::main(), set: FingerprintSet::of([]) };
        let set = layout.set.to_string();
        assert_eq!(layout.head("feat/a.b"), format!("v1/main/heads/{set}/feat%2Fa%2Eb"));
        let digest = Digest::of(b"x");
        assert!(layout.pack(&digest).ends_with(&format!("/{digest}.parquet")));
        assert!(layout.index(&digest).ends_with(&format!("/{digest}.idx")));
    }
}
