//! The green mark: the last commit of a branch whose whole run was green, as a file beside the
//! shards, so that it travels with the cache. A run that is red or cancelled leaves the mark, and
//! with it its changes stay changes.

use std::path::{Path, PathBuf};

use crate::base::id::Digest;

/// The mark's file below the store.
pub fn file(store: &Path, branch: &str) -> PathBuf {
    store.join("green").join(&Digest::of(branch.as_bytes()).to_string()[..16])
}

/// The text of a mark.
pub fn encode(commit: &str) -> String {
    format!("ratlas.green/1 {commit}\n")
}

/// The commit of a mark; `None` for a text that is none.
pub fn decode(text: &str) -> Option<String> {
    let commit = text.strip_prefix("ratlas.green/1 ")?.strip_suffix('\n')?;
    let is_id = matches!(commit.len(), 40 | 64) && commit.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    is_id.then(|| commit.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn a_mark_is_read_back_or_none() {
        let commit = "0a".repeat(20);
        assert_eq!(decode(&encode(&commit)), Some(commit));
        assert_eq!(decode("ratlas.green/1 HEAD\n"), None);
    }
}
