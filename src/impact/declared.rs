//! Links that configuration declares: what is loaded without any code naming it.
//!
//! `META-INF/services/p.Api` names what `ServiceLoader` makes; entry points name what
//! `entry_points()` loads, and those of the group `pytest11` what pytest does; pytest's
//! configuration names plugins (`-p name`) and Django's settings, which every test below it has.

use std::collections::BTreeSet;

use crate::base::dialect::{Dialect, LanguageName};
use crate::base::path::RepoPath;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::graph::edge::FileUse;
use crate::lang::python::naming::entry_points::entry_points;
use crate::lang::python::tests::pytest_options;
use crate::lang::testing::members;
use crate::view::{FileIdx, SymbolRef, View};

/// `from` loads `to`, since a file of configuration says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Declared {
    pub to: SymbolRef,
    pub from: SymbolRef,
}

/// Files that one name may mean at most; a name that means more says nothing.
const MAX_CANDIDATES: usize = 8;

/// The declared links of a tree, sorted, unique. `test_files` are sorted. O(symbols) where
/// anything is declared.
pub fn links(view: &View, test_files: &[FileIdx]) -> Vec<Declared> {
    let mut out = BTreeSet::new();
    let mut add = |targets: &[SymbolRef], loaders: &[SymbolRef]| {
        for to in targets {
            out.extend(loaders.iter().filter(|from| *from != to).map(|from| Declared { to: *to, from: *from }));
        }
    };
    let services: Vec<SymbolRef> = services(view);
    if !services.is_empty() {
        add(&services, &users_of(view, LanguageName::Java, &["ServiceLoader"]));
    }
    let points = entry_points(&view.config);
    let loaded: Vec<SymbolRef> =
        points.iter().filter(|(group, _)| group != "pytest11").flat_map(|(_, name)| python_names(view, name)).collect();
    if !loaded.is_empty() {
        add(&loaded, &users_of(view, LanguageName::Python, &LOADERS));
    }
    let below = |folder: &RepoPath| -> Vec<SymbolRef> {
        let is_below =
            |file: &&FileIdx| view.facts(**file).dialect == Dialect::Py && view.file(**file).path.is_within(folder);
        test_files.iter().filter(is_below).map(|file| module(*file)).collect()
    };
    for (_, name) in points.iter().filter(|(group, _)| group == "pytest11") {
        add(&python_names(view, name), &below(&RepoPath::root()));
    }
    for (folder, options) in pytest_options(&view.config) {
        let words = |key: &str| options.get(key).cloned().unwrap_or_default();
        let options = words("addopts");
        let plugins = options.iter().enumerate().filter_map(|(at, word)| match word.strip_prefix("-p") {
            Some("") => options.get(at + 1),
            Some(_) | None => None,
        });
        let joined = options.iter().filter_map(|word| word.strip_prefix("-p")).filter(|name| !name.is_empty());
        let names: BTreeSet<String> =
            plugins.cloned().chain(joined.map(str::to_string)).chain(words("DJANGO_SETTINGS_MODULE")).collect();
        for name in names.iter().filter(|name| !name.starts_with("no:")) {
            add(&python_names(view, name), &below(&folder));
        }
    }
    out.into_iter().collect()
}

/// The same as uses between files, for import closures.
pub fn uses(links: &[Declared]) -> Vec<FileUse> {
    let mut uses: Vec<FileUse> =
        links.iter().map(|link| FileUse { from: link.from.file, to: link.to.file, type_only: false }).collect();
    uses.sort_unstable();
    uses.dedup();
    uses
}

/// Functions by which Python loads entry points.
const LOADERS: [&str; 6] = [
    "entry_points",
    "iter_entry_points",
    "load_entry_point",
    "load_setuptools_entrypoints",
    "ExtensionManager",
    "DriverManager",
];

fn module(file: FileIdx) -> SymbolRef {
    SymbolRef { file, symbol: SymbolId::new(0) }
}

/// The code that names one of `names`, at the start or the end of a chain.
fn users_of(view: &View, language: LanguageName, names: &[&str]) -> Vec<SymbolRef> {
    let mut out = BTreeSet::new();
    for file in view.indices() {
        let facts = view.facts(file);
        if facts.dialect.language() != language || !facts.names.iter().any(|name| names.contains(&&**name)) {
            continue;
        }
        for row in &facts.refs {
            let mut at = row.expr;
            // Operands are earlier rows, so this ends.
            loop {
                if names.contains(&facts.text(facts.expr(at).name)) {
                    out.insert(SymbolRef { file, symbol: row.owner });
                    break;
                }
                match facts.operand(at, 0) {
                    Some(inner) if inner < at => at = inner,
                    _ => break,
                }
            }
        }
    }
    out.into_iter().collect()
}

/// The classes that service files name, with their constructors.
fn services(view: &View) -> Vec<SymbolRef> {
    let mut names = BTreeSet::new();
    for (path, bytes) in &view.config {
        if path.parent().is_some_and(|folder| folder.as_str().ends_with("META-INF/services")) {
            let text = String::from_utf8_lossy(bytes);
            names.extend(text.lines().map(|line| line.split('#').next().unwrap_or("").trim().to_string()));
        }
    }
    names.iter().filter(|name| !name.is_empty()).flat_map(|name| java_class(view, name)).collect()
}

/// `p.Outer$Inner` and its constructors.
fn java_class(view: &View, name: &str) -> Vec<SymbolRef> {
    let (package, nested) = name.rsplit_once('.').unwrap_or(("", name));
    let outer = nested.split('$').next().unwrap_or(nested);
    let tail = format!("{outer}.java");
    let mut out = Vec::new();
    for file in view.indices().filter(|file| view.file(*file).path.file_name() == tail) {
        let facts = view.facts(file);
        if facts.package.first().map_or("", |row| facts.name(row.name)) != package {
            continue;
        }
        let qualname = nested.replace('$', ".");
        let classes = (1..facts.symbols.len())
            .map(SymbolId::new)
            .filter(|id| facts.symbol(*id).kind.is_class() && facts.name(facts.symbol(*id).qualname) == qualname);
        for class in classes {
            let made = members(facts, class).filter(|m| facts.name(facts.symbol(*m).name) == "<init>");
            out.extend(std::iter::once(class).chain(made).map(|symbol| SymbolRef { file, symbol }));
        }
    }
    out
}

/// What `pkg.module:name` or `pkg.module` names, in whatever folder sources lie.
fn python_names(view: &View, text: &str) -> Vec<SymbolRef> {
    let text = text.split('[').next().unwrap_or(text).trim();
    let (path, name) = text.split_once(':').unwrap_or((text, ""));
    let name = name.trim();
    if path.is_empty() || !path.split('.').all(|part| part.chars().all(|c| c.is_alphanumeric() || c == '_')) {
        return Vec::new();
    }
    let stem = path.trim().replace('.', "/");
    let ends = [format!("{stem}.py"), format!("{stem}/__init__.py")];
    let is_it = |file: &FileIdx| {
        let path = view.file(*file).path.as_str();
        ends.iter()
            .any(|end| path.strip_suffix(end.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/')))
    };
    let files: Vec<FileIdx> = view.indices().filter(is_it).collect();
    if files.len() > MAX_CANDIDATES {
        return Vec::new();
    }
    let mut out = Vec::new();
    for file in files {
        out.push(module(file));
        let facts = view.facts(file);
        let named = (1..facts.symbols.len()).map(SymbolId::new).filter(|id| {
            let qualname = facts.name(facts.symbol(*id).qualname);
            // A plugin's module is loaded for its hooks.
            let is_hook = name.is_empty() && qualname.starts_with("pytest_");
            is_hook || (!name.is_empty() && qualname == name)
        });
        out.extend(named.map(|symbol| SymbolRef { file, symbol }));
    }
    out
}
