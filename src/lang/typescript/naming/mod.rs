//! Module resolution for TypeScript and JavaScript: Node's rules, bundlers' rules and tsconfig's,
//! over nothing but the paths and configuration blobs of a view.
//!
//! `node_modules` is never read: a bare specifier is a package of the view or it is external.

mod package;
pub mod tsconfig;

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::Arc;

use crate::base::path::RepoPath;
use crate::lang::typescript::naming::package::Packages;
use crate::lang::typescript::naming::tsconfig::Projects;

/// Where a specifier leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// An indexed file: its index in the sorted paths that the resolver was made from.
    File(u32),
    /// A package or builtin outside of the repository, by its name (`react`, `node:fs`).
    External(String),
    /// Inside the repository by its form, but no file is there (or it is data, or generated).
    Missing,
}

/// Extensions tried for a specifier without one, TypeScript's order (source before declarations).
const TS_ORDER: &[&str] = &["ts", "tsx", "d.ts", "mts", "cts", "js", "jsx", "mjs", "cjs", "d.mts", "d.cts"];
/// The order seen from a JavaScript file: Node would load the `.js`.
const JS_ORDER: &[&str] = &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "d.ts", "d.mts", "d.cts"];

/// The files of a view by path.
pub(crate) struct Files {
    index: HashMap<String, u32>,
}

impl Files {
    /// The index of an exact path.
    pub(crate) fn get(&self, path: &str) -> Option<u32> {
        self.index.get(path).copied()
    }

    /// A path as an import may write it: exact, an output extension written for its source,
    /// or without extension.
    pub(crate) fn module(&self, path: &str, order: &[&str]) -> Option<u32> {
        if let Some(file) = self.get(path) {
            return Some(file);
        }
        for (written, sources) in [
            (".js", &["ts", "tsx", "d.ts", "jsx"][..]),
            (".jsx", &["tsx"][..]),
            (".mjs", &["mts", "d.mts", "ts"][..]),
            (".cjs", &["cts", "d.cts", "ts"][..]),
        ] {
            if let Some(stem) = path.strip_suffix(written)
                && let Some(file) = sources.iter().find_map(|e| self.get(&format!("{stem}.{e}")))
            {
                return Some(file);
            }
        }
        order.iter().find_map(|e| self.get(&format!("{path}.{e}")))
    }
}

/// The resolver of one view. Pure: equal paths and configuration resolve equally.
pub struct Resolver {
    files: Files,
    packages: Packages,
    projects: Projects,
}

impl Resolver {
    /// Makes the resolver of a view. `paths` are the indexed files in order of their indices;
    /// `config` holds at least every `package.json`, `pnpm-workspace.yaml`, `tsconfig*.json` and
    /// `jsconfig*.json`.
    pub fn new<'p>(paths: impl Iterator<Item = &'p RepoPath>, config: &BTreeMap<RepoPath, Arc<[u8]>>) -> Self {
        let index = paths.enumerate().map(|(at, path)| (path.as_str().to_string(), at as u32)).collect();
        let packages = Packages::new(config);
        let projects = Projects::new(config, &packages);
        Resolver { files: Files { index }, packages, projects }
    }

    /// Resolves a specifier written in the file `from`.
    pub fn resolve(&self, from: &RepoPath, specifier: &str) -> Resolution {
        let order = match from.extension() {
            "js" | "jsx" | "mjs" | "cjs" => JS_ORDER,
            _ => TS_ORDER,
        };
        // Bundlers' suffixes: `./a.svg?raw`.
        let specifier = specifier.split_once('?').map_or(specifier, |(path, _)| path);
        let folder = from.parent().unwrap_or_else(RepoPath::root);
        if specifier.is_empty() {
            return Resolution::Missing;
        }
        if specifier == "." || specifier == ".." || specifier.starts_with("./") || specifier.starts_with("../") {
            let Some(path) = folder.join(specifier) else { return Resolution::Missing };
            if let Some(file) = self.file_or_folder(&path, order, specifier.ends_with('/') || specifier.ends_with('.'))
            {
                return Resolution::File(file);
            }
            return self
                .projects
                .root_dirs(from, &path)
                .iter()
                .find_map(|path| self.file_or_folder(path, order, false))
                .map_or(Resolution::Missing, Resolution::File);
        }
        if specifier.starts_with('#') {
            let targets = self.packages.imports(&folder, specifier);
            return self.first(&targets, order).map_or(Resolution::Missing, Resolution::File);
        }
        // A `paths` key wins over a package of that name, as in the compiler.
        let mapped = self.projects.mapped(from, specifier);
        if let Some(file) = mapped.targets.iter().find_map(|path| self.file_or_folder(path, order, false)) {
            return Resolution::File(file);
        }
        if specifier.starts_with('/') {
            return Resolution::Missing;
        }
        let name = package_name(specifier);
        if let Some(package) = self.packages.visible(&folder, name) {
            let subpath = specifier[name.len()..].trim_start_matches('/');
            let targets = self.packages.targets(package, subpath);
            return self.first(&targets, order).map_or(Resolution::Missing, Resolution::File);
        }
        if mapped.matched { Resolution::Missing } else { Resolution::External(name.to_string()) }
    }

    /// The package whose `jsx-runtime` types the elements of a file, where its project names one.
    pub fn jsx_source(&self, file: &RepoPath) -> Option<&str> {
        self.projects.jsx_source(file)
    }

    fn first(&self, targets: &[RepoPath], order: &[&str]) -> Option<u32> {
        targets.iter().find_map(|path| self.file_or_folder(path, order, false))
    }

    /// A path as a file, else as a folder: its package.json's entry, else its index file.
    fn file_or_folder(&self, path: &RepoPath, order: &[&str], folder_only: bool) -> Option<u32> {
        if !folder_only && let Some(file) = self.files.module(path.as_str(), order) {
            return Some(file);
        }
        if let Some(package) = self.packages.at(path) {
            let targets = self.packages.targets(package, "");
            if let Some(file) =
                targets.iter().find_map(|p| self.files.module(p.as_str(), order).or_else(|| self.index_of(p, order)))
            {
                return Some(file);
            }
        }
        self.index_of(path, order)
    }

    fn index_of(&self, folder: &RepoPath, order: &[&str]) -> Option<u32> {
        let index = folder.join("index")?;
        order.iter().find_map(|e| self.files.get(&format!("{index}.{e}")))
    }
}

/// The package part of a bare specifier: `@scope/name` or `name`.
fn package_name(specifier: &str) -> &str {
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    match specifier.match_indices('/').nth(parts - 1) {
        Some((at, _)) => &specifier[..at],
        None => specifier,
    }
}

#[cfg(test)]
mod tests;
