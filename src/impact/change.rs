//! What differs between two trees: files first, then symbols, with moves between files.
//!
//! From both sides' facts alone, never from history. What follows from a change is the business
//! of `seeds`, `reach` and `policy`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::path::RepoPath;
use crate::facts::delta::{Changes, FileDelta, SymbolDelta, compare, delta};
use crate::facts::model::{Status, SymbolId, SymbolKind};
use crate::facts::table::Id;
use crate::view::{FileIdx, SkipReason, SymbolRef, View};

/// The difference of two trees.
#[derive(Clone, Debug, Default)]
pub struct TreeChange {
    /// Sorted by path (the head's where there is one), unique.
    pub files: Vec<FileChange>,
    /// Sorted by (head, base): removed symbols come first.
    pub symbols: Vec<SymbolChange>,
    /// Head paths of renamed files, by their base path.
    pub renames: BTreeMap<RepoPath, RepoPath>,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileStatus {
    Added,
    Removed,
    Modified,
    Renamed,
}

impl FileStatus {
    /// The name in outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            FileStatus::Added => "added",
            FileStatus::Removed => "removed",
            FileStatus::Modified => "modified",
            FileStatus::Renamed => "renamed",
        }
    }
}

/// What a side of a changed file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Code(FileIdx),
    /// Not indexed, for the reason.
    Other(SkipReason),
}

/// A file that differs.
#[derive(Clone, Debug)]
pub struct FileChange {
    pub path: RepoPath,
    /// Its path in the base, where another.
    pub base_path: Option<RepoPath>,
    pub status: FileStatus,
    pub base: Option<Content>,
    pub head: Option<Content>,
    /// Empty unless a side is code.
    pub delta: FileDelta,
}

impl FileChange {
    /// The indexed file of the head.
    pub fn head_file(&self) -> Option<FileIdx> {
        match self.head {
            Some(Content::Code(file)) => Some(file),
            _ => None,
        }
    }

    /// The indexed file of the base.
    pub fn base_file(&self) -> Option<FileIdx> {
        match self.base {
            Some(Content::Code(file)) => Some(file),
            _ => None,
        }
    }
}

/// A symbol that differs; `base` is `None` when added, `head` when removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SymbolChange {
    pub head: Option<SymbolRef>,
    pub base: Option<SymbolRef>,
    pub changes: Changes,
}

/// Compares two trees by blob ids, then the files that differ by their facts.
///
/// Files pair by path, then by equal blob, then by the share of equal definitions. Symbols that
/// are left over pair across files by equal (kind, declaration, body) where unique on both
/// sides, then by equal (kind, body); the rest are removed and added. O(files + changed symbols · log).
pub fn change(base: &View, head: &View) -> TreeChange {
    let mut sides: BTreeMap<RepoPath, (Option<Content>, Option<Content>)> = BTreeMap::new();
    let mut blobs: BTreeMap<RepoPath, [Option<crate::base::id::BlobId>; 2]> = BTreeMap::new();
    for (at, view) in [base, head].into_iter().enumerate() {
        let code = view.indices().map(|idx| (&view.file(idx).path, view.file(idx).blob, Content::Code(idx)));
        let other = view.others.iter().map(|o| (&o.path, o.blob, Content::Other(o.reason)));
        for (path, blob, content) in code.chain(other) {
            let side = sides.entry(path.clone()).or_default();
            let slot = if at == 0 { &mut side.0 } else { &mut side.1 };
            *slot = Some(content);
            blobs.entry(path.clone()).or_default()[at] = Some(blob);
        }
    }
    let is_code = |content: Option<Content>| matches!(content, Some(Content::Code(_)));
    sides.retain(|path, (old, new)| {
        let [a, b] = blobs[path];
        a != b || is_code(*old) != is_code(*new)
    });
    let renames = renames(base, head, &sides, &blobs);
    let mut files = Vec::new();
    for (path, (old, new)) in &sides {
        if new.is_none() && renames.contains_key(path) {
            continue;
        }
        let from = renames.iter().find(|(_, to)| *to == path).map(|(from, _)| from.clone());
        let old = match &from {
            Some(from) if old.is_none() => sides.get(from).and_then(|side| side.0),
            _ => *old,
        };
        let status = match (&from, old, new) {
            (Some(_), _, _) => FileStatus::Renamed,
            (None, None, _) => FileStatus::Added,
            (None, _, None) => FileStatus::Removed,
            (None, Some(_), Some(_)) => FileStatus::Modified,
        };
        let facts = |view: &'_ View, content: Option<Content>| match content {
            Some(Content::Code(idx)) => Some(Arc::clone(view.file(idx).facts.shared())),
            _ => None,
        };
        let delta = delta(facts(base, old).as_deref(), facts(head, *new).as_deref());
        files.push(FileChange { path: path.clone(), base_path: from, status, base: old, head: *new, delta });
    }
    let symbols = symbol_changes(base, head, &files);
    TreeChange { files, symbols, renames }
}

type Sides = BTreeMap<RepoPath, (Option<Content>, Option<Content>)>;
type Blobs = BTreeMap<RepoPath, [Option<crate::base::id::BlobId>; 2]>;

/// The least share of equal definitions by which two files count as one that was renamed; git's
/// own default for `-M`.
const MIN_SIMILAR: f64 = 0.5;

fn renames(base: &View, head: &View, sides: &Sides, blobs: &Blobs) -> BTreeMap<RepoPath, RepoPath> {
    let mut removed: Vec<&RepoPath> = sides.iter().filter(|(_, s)| s.1.is_none()).map(|(p, _)| p).collect();
    let mut added: Vec<&RepoPath> = sides.iter().filter(|(_, s)| s.0.is_none()).map(|(p, _)| p).collect();
    let mut renames = BTreeMap::new();
    let mut by_blob: BTreeMap<_, Vec<&RepoPath>> = BTreeMap::new();
    for path in &added {
        by_blob.entry(blobs[*path][1]).or_default().push(path);
    }
    removed.retain(|path| {
        let Some(found) = by_blob.get_mut(&blobs[*path][0]).filter(|found| !found.is_empty()) else { return true };
        // Of several copies the one with the same file name, else the first.
        let at = found.iter().position(|p| p.file_name() == path.file_name()).unwrap_or(0);
        renames.insert((*path).clone(), found.remove(at).clone());
        false
    });
    added.retain(|path| !renames.values().any(|to| to == *path));
    // By content: candidates share a definition.
    let mut holders: BTreeMap<(SymbolKind, u64, u64), Vec<usize>> = BTreeMap::new();
    let mut sizes = vec![0usize; added.len()];
    for (at, path) in added.iter().enumerate() {
        if let Some(Content::Code(idx)) = sides[*path].1 {
            let keys = definitions(head, idx);
            sizes[at] = keys.len();
            for key in keys {
                holders.entry(key).or_default().push(at);
            }
        }
    }
    let mut scores = Vec::new();
    for (from, path) in removed.iter().enumerate() {
        let Some(Content::Code(idx)) = sides[*path].0 else { continue };
        let keys = definitions(base, idx);
        let mut common: BTreeMap<usize, usize> = BTreeMap::new();
        for key in &keys {
            // A definition that many files hold (an empty constructor) says nothing.
            for at in holders.get(key).filter(|h| h.len() <= 16).into_iter().flatten() {
                *common.entry(*at).or_default() += 1;
            }
        }
        for (to, n) in common {
            let share = n as f64 / keys.len().max(sizes[to]) as f64;
            if share >= MIN_SIMILAR {
                scores.push((std::cmp::Reverse((share * 1e6) as u64), from, to));
            }
        }
    }
    scores.sort_unstable();
    let (mut used_from, mut used_to) = (vec![false; removed.len()], vec![false; added.len()]);
    for (_, from, to) in scores {
        if !used_from[from] && !used_to[to] {
            (used_from[from], used_to[to]) = (true, true);
            renames.insert(removed[from].clone(), added[to].clone());
        }
    }
    renames
}

fn definitions(view: &View, idx: FileIdx) -> std::collections::BTreeSet<(SymbolKind, u64, u64)> {
    let facts = view.facts(idx);
    facts.symbols.iter().skip(1).filter(|s| s.body_hash.0 != 0).map(|s| (s.kind, s.sig_hash.0, s.body_hash.0)).collect()
}

fn symbol_changes(base: &View, head: &View, files: &[FileChange]) -> Vec<SymbolChange> {
    let mut out = Vec::new();
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for file in files {
        // A file that is damaged or became unreadable has no reliable absences.
        for SymbolDelta { head: new, base: old, changes } in &file.delta.symbols {
            let new = new.and_then(|symbol| Some(SymbolRef { file: file.head_file()?, symbol }));
            let old = old.and_then(|symbol| Some(SymbolRef { file: file.base_file()?, symbol }));
            match (old, new) {
                (Some(old), None) => removed.push(old),
                (None, Some(new)) => added.push(new),
                _ => out.push(SymbolChange { head: new, base: old, changes: *changes }),
            }
        }
        if file.status == FileStatus::Renamed
            && let (Some(new), Some(old)) = (file.head_file(), file.base_file())
        {
            let module = SymbolId::new(0);
            out.push(SymbolChange {
                head: Some(SymbolRef { file: new, symbol: module }),
                base: Some(SymbolRef { file: old, symbol: module }),
                changes: Changes::RENAMED,
            });
        }
    }
    for with_declaration in [true, false] {
        let mut groups: BTreeMap<_, (Vec<SymbolRef>, Vec<SymbolRef>)> = BTreeMap::new();
        let key = |view: &View, at: SymbolRef| {
            let s = view.symbol(at);
            let sig = if with_declaration { s.sig_hash.0 } else { 0 };
            (s.kind != SymbolKind::Module && s.body_hash.0 != 0).then_some((s.kind, sig, s.body_hash.0))
        };
        for at in &removed {
            if let Some(key) = key(base, *at) {
                groups.entry(key).or_default().0.push(*at);
            }
        }
        for at in &added {
            if let Some(key) = key(head, *at) {
                groups.entry(key).or_default().1.push(*at);
            }
        }
        for (old, new) in groups.into_values() {
            if let ([old], [new]) = (old.as_slice(), new.as_slice()) {
                let changes = compare(base.facts(old.file), old.symbol, head.facts(new.file), new.symbol);
                out.push(SymbolChange { head: Some(*new), base: Some(*old), changes: changes | Changes::MOVED });
                removed.retain(|at| at != old);
                added.retain(|at| at != new);
            }
        }
    }
    out.extend(removed.into_iter().map(|old| SymbolChange { head: None, base: Some(old), changes: Changes::REMOVED }));
    out.extend(added.into_iter().map(|new| SymbolChange { head: Some(new), base: None, changes: Changes::ADDED }));
    out.sort_unstable();
    // A renamed file's module may stand twice: once by its rename, once by its own difference.
    out.dedup_by(|b, a| {
        let same = a.head == b.head && a.base == b.base;
        if same {
            a.changes |= b.changes;
        }
        same
    });
    out
}

/// Whether a changed file has a side that could not be read whole.
pub fn is_damaged(view: &View, content: Option<Content>) -> bool {
    match content {
        Some(Content::Code(idx)) => view.facts(idx).status != Status::Ok,
        _ => false,
    }
}
