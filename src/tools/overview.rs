//! What a newcomer asks first: where execution and imports enter, and which folders use which.

use std::collections::{BTreeMap, BTreeSet};

use crate::atlas::Atlas;
use crate::base::dialect::LanguageName;
use crate::base::path::RepoPath;
use crate::report::pack::count_line;
use crate::report::sanitize;
use crate::tools::show;
use crate::view::{FileIdx, View};

/// How many entries and folders are named at most.
const MAX_ENTRIES: usize = 6;
const MAX_FOLDERS: usize = 8;
/// How many folders one line says are used.
const MAX_USED: usize = 4;
/// A folder with a larger share of the files is told apart into its own folders.
const LARGE: f64 = 0.4;
/// Uses that are fewer beside those the other way are no layer's: a comment, a guess, an exception.
const MIN_SHARE: f64 = 0.05;

/// The lines of the overview over `files` (best first, those of the product): none where there is
/// too little to tell.
pub fn lines(atlas: &Atlas, files: &[FileIdx]) -> Vec<String> {
    let mut lines = Vec::new();
    if files.len() >= 4 {
        lines.extend(entry_line(&atlas.view, files));
        lines.extend(folder_lines(atlas, files));
    }
    lines
}

/// The first lines, as many as fit into `budget` tokens.
pub fn within(lines: &[String], budget: usize) -> &[String] {
    let mut left = budget;
    let fits = |line: &&String| {
        let cost = count_line(line);
        let fits = cost <= left;
        left = left.saturating_sub(cost);
        fits
    };
    &lines[..lines.iter().take_while(fits).count()]
}

fn entry_line(view: &View, files: &[FileIdx]) -> Option<String> {
    let names: Vec<String> = files
        .iter()
        .filter(|file| is_entry(view, **file))
        .take(MAX_ENTRIES)
        .map(|file| sanitize::line(view.file(*file).path.as_str(), 400))
        .collect();
    (!names.is_empty()).then(|| format!("entry points: {}", names.join(", ")))
}

/// Whether a file is where a program starts or where a package is imported from.
fn is_entry(view: &View, file: FileIdx) -> bool {
    let path = &view.file(file).path;
    let folder = path.parent();
    match view.file(file).dialect.language() {
        LanguageName::Python => {
            let outer = folder.as_ref().and_then(|folder| folder.parent()).and_then(|outer| outer.join("__init__.py"));
            let is_inner = outer.is_some_and(|outer| view.find(outer.as_str()).is_some());
            path.stem() == "__main__" || (path.stem() == "__init__" && !is_inner && folder.is_some())
        }
        LanguageName::TypeScript | LanguageName::JavaScript => {
            let is_named = matches!(path.stem(), "index" | "main" | "cli" | "server" | "bin");
            let has_manifest = |folder: &RepoPath| {
                folder.join("package.json").is_some_and(|manifest| view.config.contains_key(&manifest))
            };
            let is_source = |folder: &RepoPath| {
                matches!(folder.file_name(), "src" | "lib") && folder.parent().is_some_and(|outer| has_manifest(&outer))
            };
            is_named && folder.is_some_and(|folder| has_manifest(&folder) || is_source(&folder))
        }
        LanguageName::Java => view.figures(file).has_main,
    }
}

fn folder_lines(atlas: &Atlas, files: &[FileIdx]) -> Vec<String> {
    let view = &*atlas.view;
    let (folders, left_out) = folders(view, files);
    if folders.len() < 2 {
        return Vec::new();
    }
    let of_file: BTreeMap<FileIdx, usize> =
        folders.iter().enumerate().flat_map(|(at, (_, files))| files.iter().map(move |file| (*file, at))).collect();
    let mut uses: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for one in &atlas.graph.file_uses {
        if let (Some(from), Some(to)) = (of_file.get(&one.from), of_file.get(&one.to))
            && from != to
        {
            *uses.entry((*from, *to)).or_default() += 1;
        }
    }
    // Those that are used most, net of what they use, carry the others: they come last.
    let mut order: Vec<(i64, usize)> = (0..folders.len())
        .map(|at| {
            let sum = |end: fn(&(usize, usize)) -> usize| -> i64 {
                uses.iter().filter(|(pair, _)| end(pair) == at).map(|(_, n)| *n as i64).sum()
            };
            (sum(|pair| pair.1) - sum(|pair| pair.0), at)
        })
        .collect();
    order.sort();
    let mut lines = vec!["folders, from what uses to what is used:".to_owned()];
    for (_, at) in order {
        let (name, files) = &folders[at];
        let mut used: Vec<(usize, &str)> = uses
            .iter()
            .filter(|((from, to), n)| {
                let back = uses.get(&(*to, *from)).copied().unwrap_or(0);
                *from == at && **n as f64 >= MIN_SHARE * back as f64
            })
            .map(|((_, to), n)| (*n, folders[*to].0.as_str()))
            .collect();
        used.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
        let names: Vec<&str> = used.iter().take(MAX_USED).map(|(_, name)| *name).collect();
        let arrow = if names.is_empty() { String::new() } else { format!(" → {}", names.join(", ")) };
        lines.push(format!(" {} ({}){arrow}", sanitize::line(name, 200), show::count(files.len(), "file")));
    }
    if left_out > 0 {
        lines.push(format!(" … {left_out} smaller folders"));
    }
    lines
}

/// The largest folders that files lie in, each with its files, sorted by name: large ones are told
/// apart, and where there are too many the smallest are left out. Gives how many those are, too.
fn folders(view: &View, files: &[FileIdx]) -> (Vec<(String, Vec<FileIdx>)>, usize) {
    let mut groups: BTreeMap<String, Vec<FileIdx>> = BTreeMap::from([(String::new(), files.to_vec())]);
    let mut whole: BTreeSet<String> = BTreeSet::new();
    while groups.len() < MAX_FOLDERS {
        let largest = groups
            .iter()
            .filter(|(name, files)| !whole.contains(*name) && files.len() >= 4)
            .max_by_key(|(name, files)| (files.len(), std::cmp::Reverse((*name).clone())))
            .map(|(name, files)| (name.clone(), files.len()));
        let Some((name, n)) = largest else { break };
        if groups.len() >= 4 && (n as f64) < LARGE * files.len() as f64 {
            break;
        }
        let mut inner: BTreeMap<String, Vec<FileIdx>> = BTreeMap::new();
        for file in &groups[&name] {
            let path = view.file(*file).path.as_str();
            let rest = if name.is_empty() { path } else { &path[name.len() + 1..] };
            let part = rest.split_once('/').map(|(folder, _)| folder);
            let key = match (part, name.is_empty()) {
                (Some(part), true) => part.to_owned(),
                (Some(part), false) => format!("{name}/{part}"),
                (None, _) => name.clone(),
            };
            inner.entry(key).or_default().push(*file);
        }
        if inner.len() == 1 && inner.contains_key(&name) {
            whole.insert(name);
            continue;
        }
        groups.remove(&name);
        if inner.contains_key(&name) {
            whole.insert(name);
        }
        groups.extend(inner);
    }
    let mut folders: Vec<(String, Vec<FileIdx>)> =
        groups.into_iter().map(|(name, files)| (if name.is_empty() { ".".to_owned() } else { name }, files)).collect();
    folders.sort_by(|one, other| other.1.len().cmp(&one.1.len()).then(one.0.cmp(&other.0)));
    let left_out = folders.len().saturating_sub(MAX_FOLDERS);
    folders.truncate(MAX_FOLDERS);
    folders.sort();
    (folders, left_out)
}
