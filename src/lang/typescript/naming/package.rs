//! The packages of a view: names, workspaces, `exports`, `imports`, `main`, and from unbuilt
//! output back to source.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde_json::Value;

use crate::base::path::RepoPath;

/// Folders that builds write to; a target in one of them is looked for in the source folders.
const OUTPUT_FOLDERS: &[&str] = &["dist", "lib", "build", "out", "esm", "cjs", "es", "types", "output", "module"];
/// Where sources of such targets lie, in order; `""` is the package's folder itself.
const SOURCE_FOLDERS: &[&str] = &["src", "source", "lib", ""];
/// Conditions in the order in which a reader of sources prefers them; unknown ones come last.
const CONDITIONS: &[&str] =
    &["source", "typescript", "types", "import", "module", "node", "browser", "default", "require"];
/// Nesting of `exports` that is followed.
const MAX_NESTING: usize = 8;

/// One package.json.
pub(crate) struct Package {
    folder: RepoPath,
    name: String,
    manifest: Value,
}

/// All packages of a view.
pub(crate) struct Packages {
    /// Sorted by folder.
    list: Vec<Package>,
    by_name: BTreeMap<String, Vec<usize>>,
    /// Packages that a workspace root counts as members.
    members: BTreeSet<usize>,
}

impl Packages {
    /// Reads every package.json; one that is not JSON is left out.
    pub(crate) fn new(config: &BTreeMap<RepoPath, Arc<[u8]>>) -> Self {
        let mut list = Vec::new();
        for (path, bytes) in config.iter().filter(|(path, _)| path.file_name() == "package.json") {
            if let (Some(folder), Ok(manifest)) = (path.parent(), serde_json::from_slice::<Value>(bytes)) {
                let name = manifest.get("name").and_then(Value::as_str).unwrap_or("").to_string();
                list.push(Package { folder, name, manifest });
            }
        }
        list.sort_by(|a, b| a.folder.cmp(&b.folder));
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, package) in list.iter().enumerate() {
            if !package.name.is_empty() {
                by_name.entry(package.name.clone()).or_default().push(at);
            }
        }
        let mut members = BTreeSet::new();
        for (root, globs) in workspace_roots(&list, config) {
            for (at, package) in list.iter().enumerate() {
                if package.folder == root || package.folder.strip(&root).is_some_and(|rest| globs.is_match(rest)) {
                    members.insert(at);
                }
            }
        }
        Packages { list, by_name, members }
    }

    /// The package whose folder is `folder`.
    pub(crate) fn at(&self, folder: &RepoPath) -> Option<&Package> {
        self.list.binary_search_by(|p| p.folder.cmp(folder)).ok().map(|at| &self.list[at])
    }

    /// The folder of a package by name, when only one workspace member has it.
    pub(crate) fn folder_of(&self, name: &str) -> Option<&RepoPath> {
        self.choose(name, None).map(|p| &p.folder)
    }

    /// The package that `name` means in `folder`: the package itself, a workspace member, or one
    /// that the importing package depends on by a local path. Anything else is not of the view.
    pub(crate) fn visible(&self, folder: &RepoPath, name: &str) -> Option<&Package> {
        let importer = self.nearest(folder);
        if let Some(own) = importer
            && own.name == name
        {
            return Some(own);
        }
        if let Some(own) = importer
            && let Some(path) = local_dependency(&own.manifest, name)
        {
            return own.folder.join(path).and_then(|folder| self.at(&folder));
        }
        self.choose(name, importer)
    }

    fn choose(&self, name: &str, importer: Option<&Package>) -> Option<&Package> {
        let candidates = self.by_name.get(name)?;
        let mut members = candidates.iter().filter(|at| self.members.contains(at));
        let first = members.next()?;
        if members.next().is_none() {
            return Some(&self.list[*first]);
        }
        // Twins: the one that shares the longest folder with the importer, if it is the only one.
        let importer = importer?;
        let shared = |at: &usize| {
            let folder = self.list[*at].folder.as_str();
            folder.split('/').zip(importer.folder.as_str().split('/')).take_while(|(a, b)| a == b).count()
        };
        let best = candidates.iter().filter(|at| self.members.contains(at)).map(shared).max()?;
        let mut nearest = candidates.iter().filter(|at| self.members.contains(at) && shared(at) == best);
        let one = nearest.next()?;
        nearest.next().is_none().then(|| &self.list[*one])
    }

    /// The package.json that governs a folder.
    fn nearest(&self, folder: &RepoPath) -> Option<&Package> {
        let mut at = Some(folder.clone());
        while let Some(folder) = at {
            if let Some(package) = self.at(&folder) {
                return Some(package);
            }
            at = folder.parent();
        }
        None
    }

    /// The paths that `#name` may mean in `folder`, best first.
    pub(crate) fn imports(&self, folder: &RepoPath, specifier: &str) -> Vec<RepoPath> {
        let Some(package) = self.nearest(folder) else { return Vec::new() };
        let mut targets = Vec::new();
        if let Some(map) = package.manifest.get("imports") {
            conditional(map, specifier, &mut targets);
        }
        expand(package, &targets)
    }

    /// The paths that `package/subpath` may mean, best first; `""` is the package itself.
    pub(crate) fn targets(&self, package: &Package, subpath: &str) -> Vec<RepoPath> {
        let manifest = &package.manifest;
        let mut targets = Vec::new();
        let key = if subpath.is_empty() { ".".to_string() } else { format!("./{subpath}") };
        if let Some(exports) = manifest.get("exports") {
            match exports {
                Value::Object(map) if map.keys().any(|k| k.starts_with('.')) => {
                    conditional(exports, &key, &mut targets)
                }
                _ if subpath.is_empty() => leaves(exports, 0, &mut targets),
                _ => {}
            }
        }
        if subpath.is_empty() {
            for field in ["source", "types", "typings", "module", "main", "browser"] {
                if let Some(target) = manifest.get(field).and_then(Value::as_str) {
                    targets.push(target.to_string());
                }
            }
        } else if manifest.get("exports").is_none() {
            targets.push(format!("./{subpath}"));
        }
        let mut paths = expand(package, &targets);
        if subpath.is_empty() {
            paths.extend(["src/index", "index", "src/main", "lib/index"].iter().filter_map(|p| package.folder.join(p)));
        } else if !targets.is_empty() || manifest.get("exports").is_none() {
            paths.extend(package.folder.join("src").and_then(|f| f.join(subpath)));
        }
        paths
    }
}

/// The paths of written targets, each followed by where its source may lie.
fn expand(package: &Package, targets: &[String]) -> Vec<RepoPath> {
    let mut paths = Vec::new();
    for target in targets {
        let Some(path) = package.folder.join(target) else { continue };
        let Some(inner) = path.strip(&package.folder).map(str::to_string) else { continue };
        paths.push(path);
        let Some((first, rest)) = inner.split_once('/') else {
            let bare = without_output_extension(&inner);
            paths.extend(package.folder.join(&format!("src/{bare}")));
            continue;
        };
        if !OUTPUT_FOLDERS.contains(&first) {
            continue;
        }
        // `dist/esm/index.js` and `dist/src/index.js` both come from `src/index.ts`.
        let mut rests = vec![rest];
        if let Some((second, deeper)) = rest.split_once('/')
            && (OUTPUT_FOLDERS.contains(&second) || SOURCE_FOLDERS.contains(&second))
        {
            rests.push(deeper);
        }
        for rest in rests {
            let bare = without_output_extension(rest);
            for source in SOURCE_FOLDERS {
                let path = if source.is_empty() { bare.to_string() } else { format!("{source}/{bare}") };
                paths.extend(package.folder.join(&path));
            }
        }
    }
    paths
}

fn without_output_extension(path: &str) -> &str {
    [".d.ts", ".d.mts", ".d.cts", ".mjs", ".cjs", ".js", ".jsx"]
        .iter()
        .find_map(|e| path.strip_suffix(e))
        .unwrap_or(path)
}

/// Collects the targets of `key` in an `exports` or `imports` map: an exact key, else the
/// longest pattern with `*`.
fn conditional(map: &Value, key: &str, out: &mut Vec<String>) {
    let Some(map) = map.as_object() else { return };
    if let Some(value) = map.get(key) {
        leaves(value, 0, out);
        return;
    }
    let mut best: Option<(&str, &str, &Value)> = None;
    for (pattern, value) in map {
        let Some((prefix, suffix)) =
            pattern.split_once('*').or_else(|| pattern.ends_with('/').then_some((pattern, "")))
        else {
            continue;
        };
        if key.len() >= prefix.len() + suffix.len()
            && key.starts_with(prefix)
            && key.ends_with(suffix)
            && best.is_none_or(|(b, _, _)| prefix.len() > b.len())
        {
            best = Some((prefix, suffix, value));
        }
    }
    if let Some((prefix, suffix, value)) = best {
        let filled = &key[prefix.len()..key.len() - suffix.len()];
        let mut targets = Vec::new();
        leaves(value, 0, &mut targets);
        out.extend(
            targets.into_iter().map(|t| if t.ends_with('/') { format!("{t}{filled}") } else { t.replace('*', filled) }),
        );
    }
}

/// The strings of nested conditions, preferred conditions first.
fn leaves(value: &Value, depth: usize, out: &mut Vec<String>) {
    if depth > MAX_NESTING {
        return;
    }
    match value {
        Value::String(target) => out.push(target.clone()),
        Value::Array(list) => list.iter().for_each(|v| leaves(v, depth + 1, out)),
        Value::Object(map) => {
            let rank = |key: &str| CONDITIONS.iter().position(|c| *c == key).unwrap_or(CONDITIONS.len());
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| rank(key));
            entries.iter().for_each(|(_, v)| leaves(v, depth + 1, out));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The local path of a dependency declared as `file:`, `link:` or `portal:`.
fn local_dependency<'m>(manifest: &'m Value, name: &str) -> Option<&'m str> {
    ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"].iter().find_map(|field| {
        let range = manifest.get(field)?.get(name)?.as_str()?;
        ["file:", "link:", "portal:"].iter().find_map(|scheme| range.strip_prefix(scheme))
    })
}

/// The workspace roots of a view with the globs of their members: npm and yarn (`workspaces`,
/// a list or `{packages}`), lerna, and pnpm.
fn workspace_roots(list: &[Package], config: &BTreeMap<RepoPath, Arc<[u8]>>) -> Vec<(RepoPath, GlobSet)> {
    let mut roots = Vec::new();
    for package in list {
        let field = package.manifest.get("workspaces");
        let globs = field.and_then(|f| f.as_array().or_else(|| f.get("packages")?.as_array()));
        if let Some(globs) = globs {
            let globs: Vec<&str> = globs.iter().filter_map(Value::as_str).collect();
            roots.push((package.folder.clone(), glob_set(&globs)));
        }
    }
    for (path, bytes) in config {
        let text = String::from_utf8_lossy(bytes);
        let Some(folder) = path.parent() else { continue };
        if path.file_name() == "pnpm-workspace.yaml" {
            roots.push((folder, glob_set(&yaml_list(&text, "packages"))));
        } else if path.file_name() == "lerna.json"
            && let Ok(lerna) = serde_json::from_str::<Value>(&text)
            && let Some(globs) = lerna.get("packages").and_then(Value::as_array)
        {
            let globs: Vec<&str> = globs.iter().filter_map(Value::as_str).collect();
            roots.push((folder, glob_set(&globs)));
        }
    }
    roots
}

/// The items of a top-level block or flow list in YAML: all that pnpm's workspace file needs.
fn yaml_list<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    let unquoted = |item: &'t str| {
        let item = item.split(" #").next().unwrap_or(item).trim();
        item.trim_matches(|c| c == '"' || c == '\'')
    };
    let mut items = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix(key).and_then(|rest| rest.trim_start().strip_prefix(':')) {
            inside = true;
            if let Some(flow) = rest.trim().strip_prefix('[') {
                items.extend(flow.trim_end_matches(']').split(',').map(unquoted).filter(|i| !i.is_empty()));
                inside = false;
            }
        } else if let Some(item) = line.trim_start().strip_prefix("- ").filter(|_| inside) {
            items.push(unquoted(item));
        } else if !line.starts_with([' ', '#', '-']) && !line.trim().is_empty() {
            inside = false;
        }
    }
    items
}

/// Globs of workspace members; a leading `!` and malformed ones are left out.
fn glob_set(globs: &[&str]) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    for glob in globs.iter().filter(|g| !g.starts_with('!')) {
        let glob = glob.trim_start_matches("./").trim_end_matches('/');
        if let Ok(glob) = globset::GlobBuilder::new(glob).literal_separator(true).build() {
            builder.add(glob);
        } else if let Ok(glob) = Glob::new(&globset::escape(glob)) {
            builder.add(glob);
        }
    }
    builder.build().unwrap_or_else(|_| GlobSet::empty())
}
