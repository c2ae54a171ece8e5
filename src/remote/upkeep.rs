//! Clearing a remote, in two steps: what nothing leads to any more is written down, and removed
//! by a later run that finds it so again. A reader or writer that is under way between the two
//! finds what it saw. Needs a backend that can list and remove.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::base::error::Result;
use crate::base::id::Digest;
use crate::remote::layout::{Namespace, is_git_id};
use crate::remote::published::{self, PublishedCommit, PublishedTree};
use crate::remote::pull::check_mark;
use crate::remote::transfer::Transfer;

/// What is kept, and when what is not is removed.
#[derive(Clone, Debug)]
pub struct Keep<'a> {
    /// Commits that are kept beside the heads: those of tags, say. Sorted.
    pub commits: &'a [String],
    /// Younger files are kept.
    pub n_days: u64,
    /// At least so long stands between writing down and removing.
    pub grace_seconds: u64,
    /// Now, in seconds since 1970.
    pub now_seconds: u64,
}

/// What clearing did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    pub n_kept: usize,
    /// Files that were written down, by this run or an earlier one, and still stand.
    pub n_marked: usize,
    pub n_removed: usize,
    pub n_removed_bytes: u64,
}

/// Clears a namespace.
///
/// # Errors
/// `Remote`.
pub fn clear(transfer: &Transfer<'_>, namespace: &Namespace, keep: &Keep<'_>) -> Result<Cleared> {
    check_mark(transfer)?;
    let files = transfer.list(&format!("v1/{namespace}"))?;
    let is_young = |seconds: u64| seconds + keep.n_days * 86_400 > keep.now_seconds;
    let text = |name: &str| transfer.small(name, published::MAX_BYTES);

    // The commits that are kept, with the trees they name, by set.
    let mut heads: BTreeSet<String> = keep.commits.iter().cloned().collect();
    for file in files.iter().filter(|file| parts(&file.name).is_some_and(|part| part.0 == "heads")) {
        heads.extend(text(&file.name)?.and_then(|bytes| PublishedCommit::decode(&bytes)).map(|head| head.commit));
    }
    let mut live: BTreeSet<String> = BTreeSet::new();
    let mut trees: BTreeSet<(String, String)> = BTreeSet::new();
    for file in &files {
        let Some(("commits", set, commit)) = parts(&file.name) else { continue };
        if heads.contains(commit) || is_young(file.changed_seconds) {
            live.insert(file.name.clone());
            let tree = text(&file.name)?.and_then(|bytes| PublishedCommit::decode(&bytes));
            trees.extend(tree.map(|tree| (set.to_owned(), tree.tree)));
        }
    }
    let mut packs: BTreeSet<Digest> = BTreeSet::new();
    for file in &files {
        let Some(("manifests", set, name)) = parts(&file.name) else { continue };
        let tree = name.split('.').next().unwrap_or_default();
        if !(trees.contains(&(set.to_owned(), tree.to_owned())) || is_young(file.changed_seconds)) {
            continue;
        }
        live.insert(file.name.clone());
        if name.ends_with(".json") {
            match text(&file.name)?.and_then(|bytes| PublishedTree::decode(&bytes, namespace)) {
                Some(tree) => packs.extend(tree.packs.iter().map(|pack| pack.digest)),
                // What leads from a manifest that cannot be read is not known: nothing is removed.
                None => return Ok(Cleared { n_kept: files.len(), ..Cleared::default() }),
            }
        }
    }

    let marks_name = format!("v1/{namespace}/gc/candidates.json");
    let before = text(&marks_name)?.map(|bytes| decode(&bytes)).unwrap_or_default();
    let mut marks: BTreeMap<String, u64> = BTreeMap::new();
    let mut cleared = Cleared::default();
    for file in &files {
        let is_live = match parts(&file.name) {
            _ if is_half(&file.name) => is_young(file.changed_seconds),
            Some(("packs", _, name)) => {
                let digest = name.rsplit('/').next().and_then(|name| Digest::from_hex(name.split('.').next()?));
                digest.is_none_or(|digest| packs.contains(&digest)) || is_young(file.changed_seconds)
            }
            Some(("commits" | "manifests", ..)) => live.contains(&file.name),
            // Heads, marks, and what is not ours to judge.
            _ => true,
        };
        if is_live {
            cleared.n_kept += 1;
            continue;
        }
        match before.get(&file.name) {
            Some(marked) if marked + keep.grace_seconds <= keep.now_seconds => {
                transfer.remove(&file.name)?;
                cleared.n_removed += 1;
                cleared.n_removed_bytes += file.len_bytes;
            }
            marked => drop(marks.insert(file.name.clone(), marked.copied().unwrap_or(keep.now_seconds))),
        }
    }
    cleared.n_marked = marks.len();
    if marks != before {
        let rows: Vec<Value> = marks.iter().map(|(name, at)| json!([name, at])).collect();
        transfer
            .put_over(&marks_name, (json!({"schema": "ratlas.gc/1", "marked": rows}).to_string() + "\n").as_bytes())?;
    }
    Ok(cleared)
}

/// Whether a file was on its way when its writer was killed; its place never had it.
fn is_half(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|part| part.starts_with('.') && part.ends_with(".tmp"))
}

fn decode(bytes: &[u8]) -> BTreeMap<String, u64> {
    let value: Value = serde_json::from_slice(bytes).unwrap_or(Value::Null);
    let rows = value["marked"].as_array().into_iter().flatten();
    rows.filter_map(|row| Some((row[0].as_str()?.to_owned(), row[1].as_u64()?))).collect()
}

/// Kind, set and the rest of a name below `v1/<namespace>/`.
fn parts(name: &str) -> Option<(&str, &str, &str)> {
    let mut parts = name.splitn(5, '/').skip(2);
    let (kind, set, rest) = (parts.next()?, parts.next()?, parts.next()?);
    (kind != "commits" || is_git_id(rest)).then_some((kind, set, rest))
}

#[cfg(test)]
mod tests {
    use super::parts;
    use crate::base::id::Digest;
    use crate::remote::layout::{FingerprintSet, Layout, Namespace};

    #[test]
    fn names_are_taken_apart_as_they_are_made() {
        let layout = Layout { namespace: Namespace::main(), set: FingerprintSet::of([]) };
        let set = layout.set.to_string();
        let commit = "a".repeat(40);
        assert_eq!(parts(&layout.commit(&commit)), Some(("commits", &*set, &*commit)));
        assert_eq!(parts(&layout.manifest(&commit)), Some(("manifests", &*set, &*format!("{commit}.json"))));
        let pack = layout.pack(&Digest::of(b"x"));
        assert!(matches!(parts(&pack), Some(("packs", _, rest)) if rest.ends_with(".parquet")));
        assert_eq!(parts("v1/main/heads/latest.json"), None);
    }
}
