//! What the build file of one package means: that package's tests, and those of what depends on it.
//!
//! A package is a folder with a manifest, other than the root. What depends on it imports its files,
//! or has a manifest or configuration that names it: by its folder, or as it is published.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::path::RepoPath;
use crate::impact::answer::ViaStep;
use crate::impact::decide::{Because, Chain, Draft, Ground};
use crate::impact::policy::ReasonCode;
use crate::impact::select::IMPORTED;
use crate::impact::tests::Packages;
use crate::view::{FileIdx, View};

/// The package whose build alone a file is part of; `None` for one of the root, and for what other
/// builds may read unseen.
pub(super) fn package_of(view: &View, path: &RepoPath, code: ReasonCode) -> Option<RepoPath> {
    let folder = path.parent().filter(|folder| *folder != RepoPath::root())?;
    let lower = path.file_name().to_ascii_lowercase();
    let is_own = match code {
        ReasonCode::Lockfile => !lower.ends_with(".toml"),
        ReasonCode::RunnerConfig => true,
        ReasonCode::BuildFile => {
            matches!(
                lower.as_str(),
                "package.json" | "pyproject.toml" | "setup.py" | "setup.cfg" | "pom.xml" | "gradle.properties"
            ) || lower.starts_with("build.gradle")
                || lower.starts_with("tsconfig")
                || lower.contains(".config.")
        }
        _ => false,
    };
    // What builds others, and packages that tests read as data.
    const SHARED: [&str; 12] = [
        "buildsrc",
        ".mvn",
        "gradle",
        "test",
        "tests",
        "__tests__",
        "spec",
        "e2e",
        "fixtures",
        "__fixtures__",
        "testdata",
        "test-fixtures",
    ];
    let is_shared = folder.as_str().split('/').any(|part| SHARED.contains(&part.to_ascii_lowercase().as_str()));
    (is_own && !is_shared && Packages::of(view).has(&folder)).then_some(folder)
}

impl Draft<'_> {
    /// Selects the tests of a package of the head and those of what depends on it. `path`: the file that
    /// changed.
    pub(super) fn select_package(&mut self, package: &RepoPath, path: &RepoPath, new: &Ground<'_>) {
        let view = &*new.atlas.view;
        let named = dependents(view, package);
        let files: Vec<FileIdx> = view.indices().filter(|file| is_below(&view.file(*file).path, package)).collect();
        let near = new.closure.tests_of_any(&files);
        for (at, test) in new.tests.tests.iter().enumerate() {
            let bit = new.tests.files.binary_search(&test.file).unwrap_or_default();
            let own = &view.file(test.file).path;
            let step = |to: &RepoPath, kind| ViaStep {
                from: own.to_string(),
                to: to.to_string(),
                kind,
                file: own.to_string(),
                line: 0,
            };
            let via = match named.get(&test.package) {
                _ if is_below(own, package) => vec![step(path, "package")],
                Some(by) => vec![
                    step(by, "package"),
                    ViaStep { from: by.to_string(), file: by.to_string(), ..step(path, "package") },
                ],
                None if near.has(bit) => vec![step(package, "imports"), step(path, "package")],
                None => continue,
            };
            let chain = Chain { confidence: IMPORTED, distance: via.len() as u32, via };
            self.select(at, Because::Imports, Some(chain));
        }
    }
}

/// The packages with a configuration that names a package, or one of those; each with the file that does.
/// The root's says which packages there are, so that whoever names the root is not among them.
fn dependents(view: &View, package: &RepoPath) -> BTreeMap<RepoPath, RepoPath> {
    let known = Packages::of(view);
    let mut found: BTreeMap<RepoPath, RepoPath> = BTreeMap::new();
    let mut seen = BTreeSet::from([package.clone()]);
    let mut stack = vec![package.clone()];
    while let Some(at) = stack.pop() {
        let names = names_of(view, &at);
        for (path, bytes) in &view.config {
            let owner = known.of_path(path);
            if is_below(path, package) || seen.contains(&owner) {
                continue;
            }
            let text = String::from_utf8_lossy(bytes);
            if names.iter().any(|name| mentions(&text, name)) {
                found.insert(owner.clone(), path.clone());
                seen.insert(owner.clone());
                if owner != RepoPath::root() {
                    stack.push(owner);
                }
            }
        }
    }
    found
}

/// What configuration calls a package: its folder's name, and what its manifests say.
fn names_of(view: &View, package: &RepoPath) -> BTreeSet<String> {
    let mut names = BTreeSet::from([package.file_name().to_string()]);
    for (path, bytes) in &view.config {
        if path.parent().as_ref() != Some(package) {
            continue;
        }
        let text = String::from_utf8_lossy(bytes);
        let name = match path.file_name() {
            "package.json" => serde_json::from_slice::<serde_json::Value>(bytes)
                .ok()
                .and_then(|value| Some(value.get("name")?.as_str()?.to_string())),
            "pom.xml" => {
                // The parent's name stands first.
                let own = text.split_once("</parent>").map_or(&*text, |(_, own)| own);
                let rest = own.split_once("<artifactId>").map(|(_, rest)| rest);
                rest.and_then(|rest| Some(rest.split_once('<')?.0.trim().to_string()))
            }
            "pyproject.toml" | "setup.cfg" => text.lines().find_map(|line| {
                let (key, value) = line.split_once('=')?;
                (key.trim() == "name").then(|| value.trim().trim_matches(['"', '\'']).to_string())
            }),
            _ => None,
        };
        names.extend(name.filter(|name| !name.is_empty()));
    }
    names
}

/// Whether a text holds a name that is no part of a longer one.
fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}

fn is_below(path: &RepoPath, folder: &RepoPath) -> bool {
    path.as_str().strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
}
