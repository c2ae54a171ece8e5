//! Python's import system over the paths and configuration of a view: source roots, packages,
//! namespace packages, relative imports, stubs, and which conftest files a test sees.

pub mod entry_points;
mod roots;
mod stdlib;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::base::path::RepoPath;
use crate::lang::python::naming::roots::Roots;

/// Where a module name leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Module {
    /// A module or a package's `__init__`: its index in the sorted paths.
    File(u32),
    /// A namespace package: its folders, in order of the roots; never empty.
    Namespace(Vec<RepoPath>),
    /// Outside of the repository; the top-level name.
    External(String),
    /// The first part is of the repository, the rest is not there (or only made at run time).
    Missing,
}

/// The modules of one view. Pure: equal paths and configuration resolve equally.
pub struct Modules {
    files: HashMap<String, u32>,
    /// Folders that hold Python files at any depth.
    folders: BTreeSet<String>,
    roots: Roots,
}

impl Modules {
    /// Makes the table. `paths` are the indexed files (of any language) in order of their
    /// indices; `config` holds pyproject.toml, setup.cfg, setup.py, pytest.ini, tox.ini.
    pub fn new<'p>(paths: impl Iterator<Item = &'p RepoPath>, config: &BTreeMap<RepoPath, Arc<[u8]>>) -> Self {
        let mut files = HashMap::new();
        let mut folders = BTreeSet::new();
        for (at, path) in paths.enumerate() {
            if !matches!(path.extension(), "py" | "pyi") {
                continue;
            }
            files.insert(path.as_str().to_string(), at as u32);
            let mut folder = path.parent();
            while let Some(at) = folder {
                if !folders.insert(at.as_str().to_string()) {
                    break;
                }
                folder = at.parent();
            }
        }
        let roots = Roots::new(&files, &folders, config);
        Modules { files, folders, roots }
    }

    /// Resolves `module` (dotted, may be empty) as written in `from`, with `level` leading dots.
    pub fn resolve(&self, from: &RepoPath, level: u32, module: &str) -> Module {
        if level > 0 {
            return self.relative(from, level, module);
        }
        let Some(first) = module.split('.').next().filter(|name| !name.is_empty()) else { return Module::Missing };
        let mut namespaces = Vec::new();
        let mut found_first = false;
        for (root, nearby) in self.roots.visible(from) {
            if !nearby && stdlib::is_stdlib(first) {
                continue;
            }
            match self.walk(&root, module) {
                Some(Module::Namespace(folders)) => namespaces.extend(folders),
                Some(found) => return found,
                // A regular package or module of that name ends the search, as on `sys.path`.
                None if self.child(&root, first).is_some_and(|m| matches!(m, Module::File(_))) => {
                    found_first = true;
                    break;
                }
                None => {}
            }
        }
        if !namespaces.is_empty() && !stdlib::is_stdlib(first) {
            namespaces.dedup();
            return Module::Namespace(namespaces);
        }
        if found_first { Module::Missing } else { Module::External(first.to_string()) }
    }

    fn relative(&self, from: &RepoPath, level: u32, module: &str) -> Module {
        let mut folder = from.parent();
        for _ in 1..level {
            folder = folder.and_then(|f| f.parent());
        }
        let Some(folder) = folder else { return Module::Missing };
        if module.is_empty() {
            return self.package(&folder).unwrap_or(Module::Missing);
        }
        self.walk(&folder, module).unwrap_or(Module::Missing)
    }

    /// Walks a dotted name down from a folder.
    fn walk(&self, folder: &RepoPath, module: &str) -> Option<Module> {
        let mut at = folder.clone();
        let mut parts = module.split('.').peekable();
        while let Some(part) = parts.next() {
            let found = self.child(&at, part)?;
            if parts.peek().is_none() {
                return Some(found);
            }
            at = at.join(part)?;
        }
        None
    }

    /// The module `name` directly in a folder: a package before a module before a namespace
    /// folder, source before stub.
    pub fn child(&self, folder: &RepoPath, name: &str) -> Option<Module> {
        if name.is_empty() || name.contains('/') {
            return None;
        }
        let base = folder.join(name)?;
        for suffix in ["/__init__.py", ".py", "/__init__.pyi", ".pyi"] {
            if let Some(file) = self.files.get(&format!("{base}{suffix}")) {
                return Some(Module::File(*file));
            }
        }
        self.folders.contains(base.as_str()).then(|| Module::Namespace(vec![base]))
    }

    /// The Python file at a path.
    pub fn file(&self, path: &RepoPath) -> Option<u32> {
        self.files.get(path.as_str()).copied()
    }

    /// The package that a folder is.
    fn package(&self, folder: &RepoPath) -> Option<Module> {
        for name in ["__init__.py", "__init__.pyi"] {
            if let Some(file) = folder.join(name).and_then(|path| self.files.get(path.as_str()).copied()) {
                return Some(Module::File(file));
            }
        }
        self.folders.contains(folder.as_str()).then(|| Module::Namespace(vec![folder.clone()]))
    }

    /// The submodule `name` of the module in the file `of`; only packages have submodules.
    pub fn submodule(&self, of: &RepoPath, name: &str) -> Option<Module> {
        let folder = matches!(of.file_name(), "__init__.py" | "__init__.pyi").then(|| of.parent())??;
        self.child(&folder, name)
    }

    /// The dotted name under which a file is imported from its nearest root; `None` when a part
    /// is no identifier.
    pub fn module_name(&self, path: &RepoPath) -> Option<String> {
        let root = self.roots.of(path);
        let inner = path.strip(root)?;
        let inner = inner.strip_suffix(".pyi").or_else(|| inner.strip_suffix(".py"))?;
        let inner = inner.strip_suffix("/__init__").unwrap_or(inner);
        let is_name = |part: &str| !part.is_empty() && !part.contains(['-', ' ', '.']);
        inner.split('/').all(is_name).then(|| inner.replace('/', "."))
    }

    /// The conftest files that a test file sees, nearest first (pytest collects every folder from
    /// the root down to the file's).
    pub fn conftests(&self, of: &RepoPath) -> Vec<u32> {
        let mut found = Vec::new();
        let mut folder = of.parent();
        while let Some(at) = folder {
            if let Some(path) = at.join("conftest.py")
                && path != *of
                && let Some(file) = self.files.get(path.as_str())
            {
                found.push(*file);
            }
            folder = at.parent();
        }
        found
    }
}

#[cfg(test)]
mod tests;
