//! Source roots: the folders that `sys.path` would hold for a file.
//!
//! Declared ones come from pyproject.toml, setup.cfg, setup.py, pytest's `pythonpath` and
//! `[index] source_roots` of the tree's own ratlas.toml; the others from the layout.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::base::path::RepoPath;

/// The names of files that make a folder a project.
const PROJECT_FILES: &[&str] = &["pyproject.toml", "setup.cfg", "setup.py"];
/// Folders that are a root when a project has them without an `__init__`.
const SOURCE_FOLDERS: &[&str] = &["src", "lib", "python"];

/// The roots of a view.
pub(crate) struct Roots {
    /// Declared roots and project folders, sorted: visible to every file of the repository.
    shared: Vec<RepoPath>,
    /// Folders that hold a top-level package, sorted: visible to the files below them.
    layout: Vec<RepoPath>,
    packages: BTreeSet<String>,
}

impl Roots {
    pub(crate) fn new(
        files: &HashMap<String, u32>,
        folders: &BTreeSet<String>,
        config: &BTreeMap<RepoPath, Arc<[u8]>>,
    ) -> Self {
        let packages: BTreeSet<String> = files
            .keys()
            .filter_map(|p| p.strip_suffix("__init__.py").or_else(|| p.strip_suffix("__init__.pyi")))
            .map(|folder| folder.trim_end_matches('/').to_string())
            .collect();
        // The repository is a project, whether or not it says so.
        let mut shared = BTreeSet::from([RepoPath::root()]);
        shared.extend(SOURCE_FOLDERS.iter().filter_map(|name| RepoPath::new(name)));
        for (path, bytes) in config {
            let Some(folder) = path.parent() else { continue };
            let text = String::from_utf8_lossy(bytes);
            let declared = match path.file_name() {
                "pyproject.toml" => declared_in_pyproject(&text),
                "setup.cfg" | "pytest.ini" | "tox.ini" => declared_in_ini(&text),
                "setup.py" => declared_in_setup(&text),
                "ratlas.toml" if folder.as_str().is_empty() => declared_in_ratlas(&text),
                _ => continue,
            };
            if PROJECT_FILES.contains(&path.file_name()) {
                shared.insert(folder.clone());
                shared.extend(SOURCE_FOLDERS.iter().filter_map(|name| folder.join(name)));
            }
            shared.extend(declared.iter().filter_map(|root| folder.join(root)));
        }
        // A root is no package, and has Python below it.
        shared.retain(|root| {
            root.as_str().is_empty() || (folders.contains(root.as_str()) && !packages.contains(root.as_str()))
        });
        let layout: BTreeSet<RepoPath> = packages
            .iter()
            .filter_map(|package| RepoPath::new(package)?.parent())
            .filter(|parent| !packages.contains(parent.as_str()))
            .collect();
        Roots { shared: shared.into_iter().collect(), layout: layout.into_iter().collect(), packages }
    }

    /// The nearest root of a file: the first folder upward that is no package, or a declared
    /// root above it where namespace packages lie between.
    pub(crate) fn of(&self, file: &RepoPath) -> &RepoPath {
        let base = self.base(file);
        let declared = self.shared.iter().filter(|root| !root.as_str().is_empty() && base.is_within(root));
        let layout = self.layout.iter().filter(|root| **root == base);
        layout.chain(declared).max_by_key(|root| root.as_str().len()).unwrap_or_else(|| &self.shared[0])
    }

    /// The first folder upward from a file that is no package: `sys.path[0]` of a script, and
    /// what pytest's default import mode inserts.
    fn base(&self, file: &RepoPath) -> RepoPath {
        let mut folder = file.parent().unwrap_or_else(RepoPath::root);
        while self.packages.contains(folder.as_str()) {
            match folder.parent() {
                Some(parent) => folder = parent,
                None => break,
            }
        }
        folder
    }

    /// The roots that a file sees, in order of search, with whether each is above the file (then
    /// it comes before the standard library): its own base, roots above it, then all others by
    /// how much of their path they share.
    pub(crate) fn visible(&self, file: &RepoPath) -> Vec<(RepoPath, bool)> {
        let base = self.base(file);
        let mut above: Vec<&RepoPath> =
            self.layout.iter().chain(&self.shared).filter(|root| file.is_within(root)).collect();
        above.sort_by_key(|root| std::cmp::Reverse(root.as_str().len()));
        above.dedup();
        let shares = |root: &RepoPath| {
            root.as_str().split('/').zip(file.as_str().split('/')).take_while(|(a, b)| a == b).count()
        };
        let mut others: Vec<&RepoPath> = self.shared.iter().filter(|root| !file.is_within(root)).collect();
        others.sort_by_key(|root| (std::cmp::Reverse(shares(root)), root.as_str().len(), root.as_str()));
        // The base may be no root of anybody else (a folder of scripts or tests).
        above.retain(|root| **root != base);
        let mut visible = vec![(base, true)];
        visible.extend(above.into_iter().map(|root| (root.clone(), true)));
        visible.extend(others.into_iter().map(|root| (root.clone(), false)));
        visible
    }
}

/// `[index] source_roots`: a tree says itself where its sources lie, so that linking it is a
/// function of it.
fn declared_in_ratlas(text: &str) -> Vec<String> {
    let Ok(value) = text.parse::<toml::Table>() else { return Vec::new() };
    let roots = value.get("index").and_then(|index| index.get("source_roots")).and_then(|roots| roots.as_array());
    roots
        .into_iter()
        .flatten()
        .filter_map(|root| root.as_str())
        .map(|root| root.trim_matches('/').to_string())
        .collect()
}

/// Roots that pyproject.toml declares: setuptools, poetry, hatch, pdm, pytest's `pythonpath`.
fn declared_in_pyproject(text: &str) -> Vec<String> {
    let Ok(value) = text.parse::<toml::Table>() else { return Vec::new() };
    let tool = value.get("tool");
    let at = |path: &[&str]| path.iter().try_fold(tool?, |value, key| value.get(key));
    let mut roots = Vec::new();
    for path in [
        &["setuptools", "packages", "find", "where"][..],
        &["pytest", "ini_options", "pythonpath"],
        &["pytest", "pythonpath"],
        &["hatch", "build", "sources"],
        &["hatch", "build", "targets", "wheel", "sources"],
        &["pyright", "extraPaths"],
        &["mypy", "mypy_path"],
    ] {
        match at(path) {
            Some(toml::Value::Array(list)) => roots.extend(list.iter().filter_map(|v| v.as_str()).map(str::to_string)),
            Some(toml::Value::String(one)) => roots.extend(one.split([' ', ',', ':']).map(str::to_string)),
            _ => {}
        }
    }
    if let Some(map) = at(&["setuptools", "package-dir"]).and_then(|v| v.as_table()) {
        roots.extend(map.get("").and_then(|v| v.as_str()).map(str::to_string));
    }
    if let Some(packages) = at(&["poetry", "packages"]).and_then(|v| v.as_array()) {
        roots.extend(packages.iter().filter_map(|p| p.get("from")?.as_str()).map(str::to_string));
    }
    if let Some(packages) = at(&["hatch", "build", "targets", "wheel", "packages"]).and_then(|v| v.as_array()) {
        let parents = packages.iter().filter_map(|p| p.as_str()?.rsplit_once('/'));
        roots.extend(parents.map(|(parent, _)| parent.to_string()));
    }
    if let Some(one) = at(&["pdm", "build", "package-dir"]).and_then(|v| v.as_str()) {
        roots.push(one.to_string());
    }
    if let Some(one) = at(&["maturin", "python-source"]).and_then(|v| v.as_str()) {
        roots.push(one.to_string());
    }
    clean(roots)
}

/// Roots in the INI files: setuptools' `package_dir` and `where`, pytest's `pythonpath`.
fn declared_in_ini(text: &str) -> Vec<String> {
    let mut roots = Vec::new();
    let mut key = String::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with(['#', ';'])) {
        let value = if line.starts_with([' ', '\t']) {
            line.trim()
        } else if let Some((name, value)) = line.split_once('=') {
            key = name.trim().to_string();
            value.trim()
        } else {
            key.clear();
            continue;
        };
        match key.as_str() {
            "package_dir" | "package-dir" => {
                // `package_dir =` and then `= src` on a line of its own, or `=src` after it.
                roots.extend(value.strip_prefix('=').map(|v| v.trim().to_string()));
            }
            "where" | "pythonpath" => roots.extend(value.split([' ', ',']).map(str::to_string)),
            _ => {}
        }
    }
    clean(roots)
}

/// Roots that a literal `package_dir={"": "src"}` or `find_packages("src")` of setup.py says.
fn declared_in_setup(text: &str) -> Vec<String> {
    let mut roots = Vec::new();
    for marker in ["package_dir", "find_packages(", "find_namespace_packages("] {
        for (at, _) in text.match_indices(marker) {
            let rest: String = text[at + marker.len()..].chars().take(80).collect();
            let end = rest.find([')', '}', '\n']).unwrap_or(rest.len());
            // The last quoted text before the end: `{"": "src"}`, `where="src"`, `"src"`.
            let quoted: Vec<&str> = rest[..end].split(['"', '\'']).collect();
            if quoted.len() >= 3
                && let Some(last) = quoted.iter().skip(1).step_by(2).next_back()
            {
                roots.push((*last).to_string());
            }
        }
    }
    clean(roots)
}

fn clean(roots: Vec<String>) -> Vec<String> {
    roots
        .into_iter()
        .map(|root| root.trim().trim_end_matches('/').to_string())
        .filter(|root| !root.is_empty())
        .collect()
}
