//! Imports that lead nowhere by the rules, and may still lead to a file of the tree: a test adds
//! a folder to `sys.path`, a bundler's configuration gives a folder another name. As with names
//! that are not proved, every file that such an import may mean is reached, and no edge is made.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::base::dialect::{Dialect, LanguageName};
use crate::base::path::RepoPath;
use crate::graph::edge::{EdgeKind, FileUse, Graph};
use crate::view::{FileIdx, SymbolRef, View};

/// An import that may load a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MayImport {
    pub to: FileIdx,
    /// The code that the import stands in.
    pub from: SymbolRef,
    pub line: u32,
}

/// Files that one import may mean at most; a name that means more says nothing.
const MAX_CANDIDATES: usize = 8;

/// The imports of a tree that may lead to one of its files, sorted, unique.
pub fn may_imports(view: &View, graph: &Graph) -> Vec<MayImport> {
    let led: HashSet<(FileIdx, u32)> =
        graph.edges.iter().filter(|e| e.kind == EdgeKind::Imports).map(|e| (e.from.file, e.line)).collect();
    let mut by_root: BTreeMap<&str, Vec<FileIdx>> = BTreeMap::new();
    let mut by_tail: BTreeMap<String, Vec<FileIdx>> = BTreeMap::new();
    for file in view.indices() {
        let path = &view.file(file).path;
        match view.file(file).dialect.language() {
            LanguageName::Python => {
                if let Some(root) = python_root(view, path) {
                    by_root.entry(root).or_default().push(file);
                }
            }
            LanguageName::TypeScript | LanguageName::JavaScript => {
                by_tail.entry(path.stem().to_string()).or_default().push(file);
                if let Some(folder) = path.parent().filter(|_| path.stem() == "index") {
                    by_tail.entry(folder.file_name().to_string()).or_default().push(file);
                }
            }
            LanguageName::Java => {}
        }
    }
    let known = packages(view);
    let mut out = BTreeSet::new();
    // What Java imports is told by packages, whatever folder they lie in.
    for file in view.indices().filter(|file| view.file(*file).dialect != Dialect::Java) {
        let facts = view.facts(file);
        for row in &facts.imports {
            let Some(module) = row.module.map(|name| facts.name(name)).filter(|_| row.level == 0) else { continue };
            if led.contains(&(file, row.line)) || led.contains(&(file, row.name_line)) || row.type_only {
                continue;
            }
            let found = match facts.dialect.language() {
                LanguageName::Python => python(view, module, &by_root),
                LanguageName::TypeScript | LanguageName::JavaScript => ecma(view, module, &by_tail, &known),
                LanguageName::Java => continue,
            };
            let from = SymbolRef { file, symbol: facts.scope(row.scope).owner };
            for to in found.into_iter().filter(|to| *to != file) {
                out.insert(MayImport { to, from, line: row.line });
            }
        }
    }
    out.into_iter().collect()
}

/// The same as uses between files, for import closures.
pub fn uses(imports: &[MayImport]) -> Vec<FileUse> {
    imports.iter().map(|row| FileUse { from: row.from.file, to: row.to, type_only: false }).collect()
}

/// The first name by which a file is imported from the folder that its outermost package is in;
/// `None` inside of a package, whose files are named through it.
fn python_root<'v>(view: &'v View, path: &'v RepoPath) -> Option<&'v str> {
    let is_package = |folder: &RepoPath| folder.join("__init__.py").and_then(|init| view.find(init.as_str())).is_some();
    let folder = path.parent()?;
    if path.file_name() == "__init__.py" {
        let is_root = folder.parent().is_some_and(|above| !is_package(&above));
        let name = path.as_str().rsplit('/').nth(1)?;
        return is_root.then_some(name);
    }
    (!is_package(&folder)).then(|| path.stem())
}

fn python(view: &View, module: &str, by_root: &BTreeMap<&str, Vec<FileIdx>>) -> Vec<FileIdx> {
    let mut parts = module.split('.');
    let roots = parts.next().and_then(|first| by_root.get(first)).filter(|found| found.len() <= MAX_CANDIDATES);
    let mut out = Vec::new();
    for root in roots.into_iter().flatten() {
        out.push(*root);
        let mut folder = view.file(*root).path.parent();
        for part in parts.clone() {
            let Some(at) = folder.filter(|_| view.file(*root).path.file_name() == "__init__.py") else { break };
            let file = at.join(&format!("{part}.py")).and_then(|path| view.find(path.as_str()));
            let below = at.join(part);
            let init = below.as_ref().and_then(|b| b.join("__init__.py")).and_then(|path| view.find(path.as_str()));
            out.extend(init.or(file));
            folder = below;
        }
    }
    out
}

/// The names of packages that the manifests of a tree ask for, and Node's own.
fn packages(view: &View) -> BTreeSet<String> {
    let mut out: BTreeSet<String> = NODE.split_whitespace().map(str::to_string).collect();
    for (path, bytes) in view.config.iter().filter(|(path, _)| path.file_name() == "package.json") {
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(bytes) else { continue };
        for key in ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"] {
            let names = value.get(key).and_then(|v| v.as_object()).into_iter().flat_map(|map| map.keys().cloned());
            out.extend(names);
        }
        out.extend(value.get("name").and_then(|name| name.as_str()).map(str::to_string));
        out.extend(path.parent().map(|folder| folder.file_name().to_string()));
    }
    out
}

/// Modules of Node that are imported by a path (<https://nodejs.org/api/>); plain ones have no tail.
const NODE: &str = "assert dns fs inspector path readline stream timers util";

/// An alias stands for a folder: what follows its first name is the end of a path.
fn ecma(view: &View, module: &str, by_tail: &BTreeMap<String, Vec<FileIdx>>, known: &BTreeSet<String>) -> Vec<FileIdx> {
    let module = module.split(['?', '#']).next().filter(|text| !text.is_empty()).unwrap_or(module);
    let Some((first, tail)) = module.split_once('/') else { return Vec::new() };
    let scoped = tail.split('/').next().map(|second| format!("{first}/{second}"));
    if first.starts_with('.')
        || first.contains(':')
        || known.contains(first)
        || scoped.is_some_and(|n| known.contains(&n))
    {
        return Vec::new();
    }
    let last = tail.rsplit('/').next().unwrap_or(tail);
    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
    let bare = tail.strip_suffix(last).map(|folder| format!("{folder}{stem}")).unwrap_or_default();
    let ends = |text: &str, end: &str| text == end || text.ends_with(&format!("/{end}"));
    let names: BTreeSet<&str> = [last, stem].into_iter().collect();
    let found: BTreeSet<FileIdx> = names
        .into_iter()
        .filter_map(|name| by_tail.get(name))
        .flatten()
        .copied()
        .filter(|file| {
            let path = view.file(*file).path.as_str();
            let without = path.rsplit_once('.').map_or(path, |(rest, _)| rest);
            let folder = without.strip_suffix("/index").unwrap_or(without);
            ends(without, tail) || ends(without, &bare) || ends(folder, tail)
        })
        .collect();
    if found.len() > MAX_CANDIDATES { Vec::new() } else { found.into_iter().collect() }
}
