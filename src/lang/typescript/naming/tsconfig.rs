//! tsconfig and jsconfig: inheritance, references, `baseUrl`, `paths`, `rootDirs`, and which
//! project a file belongs to.

use std::collections::BTreeMap;
use std::sync::Arc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use jsonc_parser::ParseOptions;
use serde_json::Value;

use crate::base::path::RepoPath;
use crate::lang::typescript::naming::package::Packages;

/// Keys of `paths` with their targets, in written order.
type PathMap = Vec<(String, Vec<String>)>;

/// Depth of `extends` that is followed; the compiler refuses circles.
const MAX_EXTENDS: usize = 16;

/// One configuration with what it inherits.
struct Project {
    folder: RepoPath,
    /// Where non-relative names are looked up, when set.
    base_url: Option<RepoPath>,
    /// `paths` keys with their targets, relative to `paths_base`.
    paths: PathMap,
    paths_base: RepoPath,
    root_dirs: Vec<RepoPath>,
    /// Whose `jsx-runtime` types elements.
    jsx_source: Option<String>,
    /// `None`: every file below the folder.
    include: Option<GlobSet>,
    files: Vec<RepoPath>,
    exclude: GlobSet,
    references: Vec<RepoPath>,
}

/// The projects of a view, by the path of their configuration.
pub(crate) struct Projects {
    by_path: BTreeMap<RepoPath, Project>,
}

/// What `paths` and `baseUrl` make of a specifier.
pub(crate) struct Mapped {
    /// Paths to try, best first.
    pub(crate) targets: Vec<RepoPath>,
    /// Whether a `paths` key (other than `*`) matched: then the name is not a package's.
    pub(crate) matched: bool,
}

/// The keys that a configuration says itself or inherits.
#[derive(Default, Clone)]
struct Options {
    base_url: Option<RepoPath>,
    paths: Option<(RepoPath, PathMap)>,
    root_dirs: Option<Vec<RepoPath>>,
    jsx: Option<String>,
    jsx_source: Option<String>,
    include: Option<(RepoPath, Vec<String>)>,
    files: Option<(RepoPath, Vec<String>)>,
    exclude: Option<(RepoPath, Vec<String>)>,
}

impl Projects {
    /// Reads every tsconfig and jsconfig. Comments and trailing commas are allowed; what does not
    /// parse is left out. An `extends` of a package that is not of the view adds nothing.
    pub(crate) fn new(config: &BTreeMap<RepoPath, Arc<[u8]>>, packages: &Packages) -> Self {
        let mut values: BTreeMap<&RepoPath, Value> = BTreeMap::new();
        for (path, bytes) in config {
            let name = path.file_name();
            if name.ends_with(".json") && !matches!(name, "package.json" | "lerna.json") {
                let text = String::from_utf8_lossy(bytes);
                let text = text.trim_start_matches('\u{feff}');
                if let Ok(value) = jsonc_parser::parse_to_serde_value::<Value>(text, &ParseOptions::default()) {
                    values.insert(path, value);
                }
            }
        }
        let mut by_path = BTreeMap::new();
        for (path, value) in &values {
            let name = path.file_name();
            // One of another name is a project only where `references` leads to it.
            if !name.starts_with("tsconfig") && !name.starts_with("jsconfig") && value.get("compilerOptions").is_none()
            {
                continue;
            }
            let Some(folder) = path.parent() else { continue };
            let options = inherited(&values, packages, path, 0);
            let references =
                strings_at(value.get("references"), "path")
                    .iter()
                    .filter_map(|target| folder.join(target))
                    .map(|target| {
                        if target.extension() == "json" {
                            target
                        } else {
                            target.join("tsconfig.json").unwrap_or(target)
                        }
                    })
                    .collect();
            let (paths_base, paths) = options.paths.unwrap_or_else(|| (folder.clone(), Vec::new()));
            let paths_base = options.base_url.clone().unwrap_or(paths_base);
            let files: Vec<RepoPath> =
                options.files.iter().flat_map(|(base, list)| list.iter().filter_map(|f| base.join(f))).collect();
            let include = match (&options.include, &options.files) {
                (Some((base, globs)), _) => Some(globs_below(base, globs)),
                (None, Some(_)) => Some(GlobSet::empty()),
                (None, None) => None,
            };
            let exclude = options.exclude.map_or_else(GlobSet::empty, |(base, globs)| globs_below(&base, &globs));
            let project = Project {
                folder,
                base_url: options.base_url,
                paths,
                paths_base,
                root_dirs: options.root_dirs.unwrap_or_default(),
                jsx_source: jsx_source(options.jsx.as_deref(), options.jsx_source),
                include,
                files,
                exclude,
                references,
            };
            by_path.insert((*path).clone(), project);
        }
        Projects { by_path }
    }

    /// What `specifier` (not relative) may mean in the file `from` by its project's `paths` and
    /// `baseUrl`. The governing project is the nearest one that covers the file (through
    /// `references` of a solution file too), else the nearest one.
    pub(crate) fn mapped(&self, from: &RepoPath, specifier: &str) -> Mapped {
        let mut mapped = Mapped { targets: Vec::new(), matched: false };
        let Some(project) = self.governing(from) else { return mapped };
        let mut best: Option<(usize, &str, &[String])> = None;
        for (key, targets) in &project.paths {
            let found = match key.split_once('*') {
                None => (key == specifier).then_some((usize::MAX, "")),
                Some((prefix, suffix)) => (specifier.len() >= prefix.len() + suffix.len()
                    && specifier.starts_with(prefix)
                    && specifier.ends_with(suffix))
                .then(|| (prefix.len(), &specifier[prefix.len()..specifier.len() - suffix.len()])),
            };
            if let Some((len, filled)) = found
                && best.is_none_or(|(b, _, _)| len > b)
            {
                best = Some((len, filled, targets));
            }
        }
        if let Some((len, filled, targets)) = best {
            mapped.matched = len > 0;
            mapped.targets.extend(targets.iter().filter_map(|t| project.paths_base.join(&t.replace('*', filled))));
        }
        if let Some(base) = &project.base_url {
            mapped.targets.extend(base.join(specifier));
        }
        mapped
    }

    /// The other places a relative path may lie by `rootDirs`.
    pub(crate) fn root_dirs(&self, from: &RepoPath, path: &RepoPath) -> Vec<RepoPath> {
        let Some(project) = self.governing(from) else { return Vec::new() };
        let rest = project.root_dirs.iter().find_map(|root| path.strip(root));
        rest.map_or_else(Vec::new, |rest| project.root_dirs.iter().filter_map(|root| root.join(rest)).collect())
    }

    /// The package whose `jsx-runtime` types the elements of a file, where its project names one.
    pub(crate) fn jsx_source(&self, file: &RepoPath) -> Option<&str> {
        self.governing(file)?.jsx_source.as_deref()
    }

    fn governing(&self, file: &RepoPath) -> Option<&Project> {
        let mut nearest = None;
        let mut folder = file.parent();
        while let Some(at) = folder {
            for name in ["tsconfig.json", "jsconfig.json"] {
                let Some(project) = at.join(name).and_then(|path| self.by_path.get(&path)) else { continue };
                if let Some(covering) = self.covering(project, file, 0) {
                    return Some(covering);
                }
                nearest = nearest.or(Some(project));
            }
            folder = at.parent();
        }
        nearest
    }

    fn covering<'p>(&'p self, project: &'p Project, file: &RepoPath, depth: usize) -> Option<&'p Project> {
        if depth > MAX_EXTENDS {
            return None;
        }
        if project.covers(file) {
            return Some(project);
        }
        let references = project.references.iter().filter_map(|path| self.by_path.get(path));
        references.into_iter().find_map(|reference| self.covering(reference, file, depth + 1))
    }
}

impl Project {
    fn covers(&self, file: &RepoPath) -> bool {
        if self.files.contains(file) {
            return true;
        }
        if self.exclude.is_match(file.as_str()) {
            return false;
        }
        match &self.include {
            Some(include) => include.is_match(file.as_str()),
            None => file.is_within(&self.folder),
        }
    }
}

/// What `jsx` and `jsxImportSource` say together: the automatic runtime is React's where nothing
/// else is named, the classic one has no source.
fn jsx_source(jsx: Option<&str>, source: Option<String>) -> Option<String> {
    let automatic = matches!(jsx, Some("react-jsx" | "react-jsxdev"));
    source.or_else(|| automatic.then(|| "react".to_string()))
}

/// The options of a configuration: inherited ones first, own ones over them.
fn inherited(values: &BTreeMap<&RepoPath, Value>, packages: &Packages, path: &RepoPath, depth: usize) -> Options {
    let mut options = Options::default();
    let (Some(value), Some(folder)) = (values.get(path), path.parent()) else { return options };
    if depth < MAX_EXTENDS {
        let bases: Vec<&str> = match value.get("extends") {
            Some(Value::String(base)) => vec![base],
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        for base in bases {
            if let Some(base) = extended(values, packages, &folder, base) {
                let below = inherited(values, packages, &base, depth + 1);
                options = Options {
                    base_url: below.base_url.or(options.base_url),
                    paths: below.paths.or(options.paths),
                    root_dirs: below.root_dirs.or(options.root_dirs),
                    jsx: below.jsx.or(options.jsx),
                    jsx_source: below.jsx_source.or(options.jsx_source),
                    include: below.include.or(options.include),
                    files: below.files.or(options.files),
                    exclude: below.exclude.or(options.exclude),
                };
            }
        }
    }
    let compiler = value.get("compilerOptions");
    if let Some(base) = compiler.and_then(|c| c.get("baseUrl")).and_then(Value::as_str) {
        options.base_url = folder.join(&in_config_dir(base));
    }
    for (key, slot) in [("jsx", &mut options.jsx), ("jsxImportSource", &mut options.jsx_source)] {
        if let Some(text) = compiler.and_then(|c| c.get(key)).and_then(Value::as_str) {
            *slot = Some(text.to_string());
        }
    }
    if let Some(map) = compiler.and_then(|c| c.get("paths")).and_then(Value::as_object) {
        let paths = map.iter().map(|(key, targets)| (key.clone(), strings(Some(targets)))).collect();
        options.paths = Some((folder.clone(), paths));
    }
    if let Some(roots) = compiler.and_then(|c| c.get("rootDirs")) {
        options.root_dirs = Some(strings(Some(roots)).iter().filter_map(|r| folder.join(r)).collect());
    }
    for (key, slot) in
        [("include", &mut options.include), ("files", &mut options.files), ("exclude", &mut options.exclude)]
    {
        if let Some(list) = value.get(key) {
            *slot = Some((folder.clone(), strings(Some(list))));
        }
    }
    options
}

/// The files that a configuration may take its options from or hand its files to, whatever they
/// are called: what its `extends` and `references` name by a relative path, in the forms tried.
pub fn configurations_named(path: &RepoPath, bytes: &[u8]) -> Vec<RepoPath> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let parsed = jsonc_parser::parse_to_serde_value::<Value>(text, &ParseOptions::default());
    let (Ok(value), Some(folder)) = (parsed, path.parent()) else { return Vec::new() };
    let mut named = strings_at(value.get("references"), "path");
    match value.get("extends") {
        Some(Value::String(base)) => named.push(base.clone()),
        Some(list) => named.extend(strings(Some(list))),
        None => {}
    }
    let relative = named.iter().filter(|name| name.starts_with('.'));
    let stems = relative.filter_map(|name| folder.join(name));
    stems
        .flat_map(|stem| {
            let with_extension = RepoPath::new(&format!("{stem}.json"));
            let inside = stem.join("tsconfig.json");
            [Some(stem), with_extension, inside].into_iter().flatten()
        })
        .collect()
}

/// The configuration that `extends` names: a relative path with or without `.json`, or a file of
/// a package of the view.
fn extended(
    values: &BTreeMap<&RepoPath, Value>,
    packages: &Packages,
    folder: &RepoPath,
    base: &str,
) -> Option<RepoPath> {
    let stem = if base.starts_with('.') || base.starts_with('/') {
        folder.join(base.trim_start_matches('/'))?
    } else {
        let parts = if base.starts_with('@') { 2 } else { 1 };
        let at = base.match_indices('/').nth(parts - 1).map_or(base.len(), |(at, _)| at);
        packages.folder_of(&base[..at])?.join(base[at..].trim_start_matches('/'))?
    };
    let with_extension = RepoPath::new(&format!("{stem}.json"));
    [Some(stem.clone()), with_extension, stem.join("tsconfig.json")]
        .into_iter()
        .flatten()
        .find(|p| values.contains_key(p))
}

/// `${configDir}` is the folder of the configuration that is being resolved.
fn in_config_dir(path: &str) -> String {
    path.replace("${configDir}/", "./").replace("${configDir}", ".")
}

fn strings(value: Option<&Value>) -> Vec<String> {
    value
        .and_then(Value::as_array)
        .map_or_else(Vec::new, |list| list.iter().filter_map(Value::as_str).map(in_config_dir).collect())
}

fn strings_at(value: Option<&Value>, key: &str) -> Vec<String> {
    value.and_then(Value::as_array).map_or_else(Vec::new, |list| {
        list.iter().filter_map(|item| item.get(key)?.as_str()).map(in_config_dir).collect()
    })
}

/// Include and exclude globs as TypeScript reads them: a folder means all below it.
fn globs_below(base: &RepoPath, globs: &[String]) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        // A glob may climb (`../shared`): the fixed part is joined, the rest kept as written.
        let fixed_len =
            glob.find(['*', '?', '[']).map_or(glob.len(), |at| glob[..at].rfind('/').map_or(0, |slash| slash + 1));
        let (fixed, rest) = glob.split_at(fixed_len);
        let Some(folder) = base.join(fixed.trim_start_matches('/')) else { continue };
        let folder = globset::escape(folder.as_str());
        let mut patterns = Vec::new();
        match (folder.is_empty(), rest.is_empty()) {
            (true, true) => patterns.push("**".to_string()),
            (false, true) => patterns.extend([folder.clone(), format!("{folder}/**")]),
            (true, false) => patterns.push(rest.to_string()),
            (false, false) => patterns.push(format!("{folder}/{rest}")),
        }
        // `src/*` and `**/*` name files; a last part without dot or star may be a folder.
        let last = rest.rsplit('/').next().unwrap_or("");
        if !rest.is_empty() && !last.contains('.') && last != "**" && last != "*" {
            patterns.push(format!("{}/**", patterns[0]));
        }
        for pattern in patterns {
            if let Ok(glob) = GlobBuilder::new(&pattern).literal_separator(true).build() {
                builder.add(glob);
            }
        }
    }
    builder.build().unwrap_or_else(|_| GlobSet::empty())
}
