//! How two views differ, file by file, by kind. Pure.

use std::collections::BTreeMap;

use crate::base::path::RepoPath;
use crate::facts::delta::{self, Changes};
use crate::facts::model::{FileFacts, Status, SymbolKind};
use crate::view::{View, ViewFile};

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Added,
    Removed,
    Modified,
    /// The same bytes under another path.
    Renamed {
        from: RepoPath,
    },
    /// It is in the tree, and no longer indexed; the reason's code.
    Skipped {
        reason: &'static str,
    },
}

impl Fate {
    /// The word in outputs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Fate::Added => "added",
            Fate::Removed => "removed",
            Fate::Modified => "modified",
            Fate::Renamed { .. } => "renamed",
            Fate::Skipped { .. } => "skipped",
        }
    }
}

/// A file that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    pub path: RepoPath,
    pub fate: Fate,
    /// Its symbols that differ, in order of the file; what is gone first. Empty where only layout
    /// or plain comments do.
    pub symbols: Vec<SymbolChange>,
    /// How many imports and exports came and went.
    pub n_imports: usize,
    /// The lines that do not parse now.
    pub damage: Vec<(u32, u32)>,
}

/// A symbol that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolChange {
    pub qualname: String,
    pub kind: SymbolKind,
    pub changes: Changes,
    /// The name it had before, when that was another.
    pub was: Option<String>,
}

/// The indexed files that differ between two views, sorted by path.
pub fn between(old: &View, new: &View) -> Vec<FileChange> {
    let files = |view: &View| -> BTreeMap<RepoPath, usize> {
        view.files.iter().enumerate().map(|(at, file)| (file.path.clone(), at)).collect()
    };
    let (before, after) = (files(old), files(new));
    let mut gone: Vec<&ViewFile> =
        before.iter().filter(|(path, _)| !after.contains_key(*path)).map(|(_, at)| &old.files[*at]).collect();
    let mut changes = Vec::new();
    for (path, at) in &after {
        let head = &new.files[*at];
        match before.get(path).map(|at| &old.files[*at]) {
            Some(base) if base.blob == head.blob && base.dialect == head.dialect => {}
            Some(base) => changes.push(change(path, Fate::Modified, Some(&base.facts), Some(&head.facts))),
            None => match gone.iter().position(|base| base.blob == head.blob && base.dialect == head.dialect) {
                Some(at) => {
                    let from = gone.remove(at).path.clone();
                    changes.push(change(path, Fate::Renamed { from }, None, None));
                }
                None => changes.push(change(path, Fate::Added, None, Some(&head.facts))),
            },
        }
    }
    for base in gone {
        let skipped = new.others.binary_search_by(|other| other.path.cmp(&base.path)).ok();
        let fate = match skipped {
            Some(at) => Fate::Skipped { reason: new.others[at].reason.as_str() },
            None => Fate::Removed,
        };
        changes.push(change(&base.path, fate, Some(&base.facts), None));
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes
}

fn change(path: &RepoPath, fate: Fate, base: Option<&FileFacts>, head: Option<&FileFacts>) -> FileChange {
    let found = delta::delta(base, head);
    let symbols = found.symbols.iter().filter_map(|row| {
        let name = |facts: &FileFacts, id| {
            let symbol = facts.symbol(id);
            (facts.name(symbol.qualname).to_owned(), symbol.kind)
        };
        let was = base.zip(row.base).map(|(facts, id)| name(facts, id));
        let is = head.zip(row.head).map(|(facts, id)| name(facts, id));
        let (qualname, kind) = is.or_else(|| was.clone())?;
        let was = was.map(|(name, _)| name).filter(|name| *name != qualname);
        Some(SymbolChange { qualname, kind, changes: row.changes, was })
    });
    let n_imports = [&found.imports, &found.exports].iter().map(|rows| rows.added.len() + rows.removed.len()).sum();
    let damage = head.filter(|facts| facts.status != Status::Ok);
    let damage = damage.map_or(Vec::new(), |facts| facts.damage.iter().map(|d| (d.start_line, d.end_line)).collect());
    // Of a file that comes or goes the symbols say enough, without the file's own.
    let is_whole = base.is_none() || head.is_none();
    let symbols = symbols.filter(|symbol| !(is_whole && symbol.kind == SymbolKind::Module)).collect();
    FileChange { path: path.clone(), fate, symbols, n_imports, damage }
}
