//! Which functions and classes pytest and unittest would run, and how pytest is set up.

pub mod doctests;

use std::collections::BTreeMap;
use std::sync::Arc;

use globset::{Glob, GlobMatcher};

use crate::base::dialect::Dialect;
use crate::base::path::RepoPath;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::lang::python::tests::doctests::{Commands, OPTION};
use crate::lang::testing::{
    ClassMethods, FileTests, Runner, TestClass, TestItem, decorator_names, imported_modules, is_test_case, members,
};

/// pytest's naming rules per folder that has a configuration, the nearest wins.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    folders: BTreeMap<RepoPath, Rules>,
    doctests: Commands,
}

/// The naming rules of one pytest configuration.
#[derive(Clone, Debug)]
struct Rules {
    files: Vec<GlobMatcher>,
    classes: Vec<String>,
    functions: Vec<String>,
    /// Whether the examples of docstrings are tests (`--doctest-modules`), and below which folders
    /// (`testpaths`; everywhere, when empty).
    has_doctests: bool,
    paths: Vec<RepoPath>,
}

impl Default for Rules {
    /// pytest's own defaults (<https://docs.pytest.org/en/stable/reference/reference.html#confval-python_files>).
    fn default() -> Self {
        Rules {
            files: globs(&["test_*.py".into(), "*_test.py".into()]),
            classes: vec!["Test".into()],
            functions: vec!["test".into()],
            has_doctests: false,
            paths: Vec::new(),
        }
    }
}

impl Setup {
    /// Reads `pytest.ini`, `tox.ini`, `setup.cfg` and `pyproject.toml` wherever they stand.
    pub fn read(config: &BTreeMap<RepoPath, Arc<[u8]>>) -> Self {
        let folders = pytest_options(config);
        let folders = folders.into_iter().map(|(folder, found)| (folder.clone(), rules(&found, &folder)));
        Setup { folders: folders.collect(), doctests: Commands::read(config) }
    }

    fn rules(&self, path: &RepoPath) -> Rules {
        let mut folder = path.parent();
        while let Some(at) = folder {
            if let Some(rules) = self.folders.get(&at) {
                return rules.clone();
            }
            folder = at.parent();
        }
        Rules::default()
    }
}

/// The words of each option of pytest's configuration, by the folder that it stands in.
pub fn pytest_options(config: &BTreeMap<RepoPath, Arc<[u8]>>) -> BTreeMap<RepoPath, BTreeMap<String, Vec<String>>> {
    let mut folders: BTreeMap<RepoPath, (u8, BTreeMap<String, Vec<String>>)> = BTreeMap::new();
    for (path, bytes) in config {
        let text = String::from_utf8_lossy(bytes);
        // The order in which pytest looks for its configuration in one folder.
        let (order, options) = match path.file_name() {
            "pytest.ini" | ".pytest.ini" => (0, Some(ini_section(&text, "pytest").unwrap_or_default())),
            "pyproject.toml" => (1, toml_options(&text)),
            "tox.ini" => (2, ini_section(&text, "pytest")),
            "setup.cfg" => (3, ini_section(&text, "tool:pytest")),
            _ => continue,
        };
        let (Some(options), Some(folder)) = (options, path.parent()) else { continue };
        if folders.get(&folder).is_none_or(|(found, _)| *found > order) {
            folders.insert(folder, (order, options));
        }
    }
    folders.into_iter().map(|(folder, (_, options))| (folder, options)).collect()
}

fn rules(options: &BTreeMap<String, Vec<String>>, folder: &RepoPath) -> Rules {
    let mut rules = Rules::default();
    if let Some(files) = options.get("python_files") {
        rules.files = globs(files);
    }
    if let Some(classes) = options.get("python_classes") {
        rules.classes = classes.clone();
    }
    if let Some(functions) = options.get("python_functions") {
        rules.functions = functions.clone();
    }
    let words = options.get("addopts");
    rules.has_doctests = words.is_some_and(|words| words.iter().any(|word| word == OPTION));
    // Globs of folders are left to stand for everywhere.
    let paths: Option<Vec<RepoPath>> =
        options.get("testpaths").into_iter().flatten().map(|path| folder.join(path.trim_end_matches('/'))).collect();
    rules.paths = paths.filter(|paths| !paths.iter().any(|p| p.as_str().contains(['*', '?', '[']))).unwrap_or_default();
    rules
}

fn globs(patterns: &[String]) -> Vec<GlobMatcher> {
    patterns.iter().filter_map(|p| Glob::new(p).ok()).map(|g| g.compile_matcher()).collect()
}

/// The options of one section of an INI file, values split at blanks and line ends; `None`
/// without the section.
fn ini_section(text: &str, section: &str) -> Option<BTreeMap<String, Vec<String>>> {
    let mut options: Option<BTreeMap<String, Vec<String>>> = None;
    let mut is_inside = false;
    let mut key = String::new();
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = bare.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            is_inside = name.trim() == section;
            if is_inside {
                options.get_or_insert_default();
            }
            continue;
        }
        if !is_inside {
            continue;
        }
        let values = if line.starts_with([' ', '\t']) {
            bare
        } else {
            let (name, value) = bare.split_once(['=', ':']).unwrap_or((bare, ""));
            key = name.trim().to_string();
            value
        };
        let known = options.get_or_insert_default().entry(key.clone()).or_default();
        known.extend(values.split_whitespace().map(str::to_string));
    }
    options
}

fn toml_options(text: &str) -> Option<BTreeMap<String, Vec<String>>> {
    let table: toml::Table = text.parse().ok()?;
    let pytest = table.get("tool")?.get("pytest")?;
    let options = pytest.get("ini_options").unwrap_or(pytest).as_table()?;
    let values = |value: &toml::Value| match value {
        toml::Value::String(text) => text.split_whitespace().map(str::to_string).collect(),
        toml::Value::Array(list) => list.iter().filter_map(|v| v.as_str()).map(str::to_string).collect(),
        _ => Vec::new(),
    };
    Some(options.iter().map(|(key, value)| (key.clone(), values(value))).collect())
}

fn matches_name(name: &str, patterns: &[String]) -> bool {
    patterns.iter().any(|pattern| {
        if pattern.contains(['*', '?', '[']) {
            Glob::new(pattern).is_ok_and(|g| g.compile_matcher().is_match(name))
        } else {
            name.starts_with(pattern.as_str())
        }
    })
}

/// The tests of a Python file; `None` when neither pytest nor unittest would read it.
pub fn recognize(path: &RepoPath, facts: &FileFacts, setup: &Setup, is_declared: bool) -> Option<FileTests> {
    if facts.dialect != Dialect::Py {
        return None;
    }
    let rules = setup.rules(path);
    let name = path.file_name();
    let is_pytest_file = is_declared || rules.files.iter().any(|g| g.is_match(name) || g.is_match(path.as_str()));
    // unittest's discovery pattern is `test*.py`; Django's as well.
    let is_unittest_file = name.starts_with("test");
    if !is_pytest_file && !is_unittest_file {
        return doctests(path, facts, &rules, setup.doctests.run(path));
    }
    let mut tests = FileTests {
        runner: Runner::Pytest,
        items: Vec::new(),
        classes: Vec::new(),
        hooks: Vec::new(),
        reaches_out: reaches_out(facts),
    };
    for at in 1..facts.symbols.len() {
        let id = SymbolId::new(at);
        let symbol = facts.symbol(id);
        let name = facts.name(symbol.name);
        let is_top = symbol.parent == Some(SymbolId::new(0));
        match symbol.kind {
            SymbolKind::Function if is_top && is_pytest_file => {
                if is_test_function(facts, id, &rules) {
                    tests.items.push(TestItem { name: name.into(), symbol: Some(id), class: None, block: None });
                } else if is_module_hook(name) {
                    tests.hooks.push(id);
                }
            }
            SymbolKind::Class if !symbol.flags.has(SymbolFlags::LOCAL) => {
                let qualname = facts.name(symbol.qualname);
                let is_case = is_test_case(facts, id);
                let is_named = is_pytest_file && is_collected_by_name(facts, id, &rules);
                let prefix = format!("{}::", crate::facts::delta::plain_qualname(qualname).replace('.', "::"));
                tests.classes.push(TestClass { symbol: id, prefix, is_collected: is_case || is_named });
            }
            _ => {}
        }
    }
    Some(tests)
}

/// A module whose docstrings hold examples, where pytest is told to run them, by its configuration
/// or a command: one test, for which its path stands.
fn doctests(path: &RepoPath, facts: &FileFacts, rules: &Rules, is_commanded: bool) -> Option<FileTests> {
    let is_below = rules.paths.is_empty() || rules.paths.iter().any(|folder| path.is_within(folder));
    let has_examples = facts.symbols.iter().any(|symbol| symbol.flags.has(SymbolFlags::DOCTEST));
    (has_examples && (is_commanded || rules.has_doctests && is_below)).then(|| FileTests {
        runner: Runner::Pytest,
        items: vec![TestItem { name: String::new(), symbol: Some(SymbolId::new(0)), class: None, block: None }],
        classes: Vec::new(),
        hooks: Vec::new(),
        reaches_out: false,
    })
}

/// pytest's and unittest's default patterns, Django's `tests.py`, and pytest's set-up files.
pub fn is_named_as_test(path: &RepoPath) -> bool {
    let stem = path.stem();
    stem.starts_with("test_") || stem.ends_with("_test") || matches!(stem, "conftest" | "tests" | "test")
}

/// A class that pytest takes by its name: this and those around it match, none has a constructor.
fn is_collected_by_name(facts: &FileFacts, class: SymbolId, rules: &Rules) -> bool {
    let mut at = Some(class);
    while let Some(id) = at.filter(|id| id.index() != 0) {
        let symbol = facts.symbol(id);
        let has_constructor = members(facts, id).any(|m| facts.name(facts.symbol(m).name) == "__init__");
        if symbol.kind != SymbolKind::Class || has_constructor || !matches_name(facts.name(symbol.name), &rules.classes)
        {
            return false;
        }
        at = symbol.parent.filter(|parent| *parent < id);
    }
    true
}

fn is_test_function(facts: &FileFacts, id: SymbolId, rules: &Rules) -> bool {
    matches_name(facts.name(facts.symbol(id).name), &rules.functions)
        && !decorator_names(facts, id).any(|name| name == "fixture")
}

/// The tests and hooks that a class defines itself.
pub fn class_methods(path: &RepoPath, facts: &FileFacts, class: SymbolId, setup: &Setup) -> ClassMethods {
    let rules = setup.rules(path);
    let mut methods = ClassMethods::default();
    for id in members(facts, class) {
        let symbol = facts.symbol(id);
        if !matches!(symbol.kind, SymbolKind::Method | SymbolKind::Function) {
            continue;
        }
        if is_test_function(facts, id, &rules) {
            methods.tests.push(id);
        } else if is_class_hook(facts.name(symbol.name)) {
            methods.hooks.push(id);
        }
    }
    methods
}

fn is_module_hook(name: &str) -> bool {
    matches!(
        name,
        "setup_module"
            | "teardown_module"
            | "setUpModule"
            | "tearDownModule"
            | "setup_function"
            | "teardown_function"
            | "load_tests"
    ) || name.starts_with("pytest_")
}

fn is_class_hook(name: &str) -> bool {
    matches!(
        name,
        "setUp"
            | "tearDown"
            | "setUpClass"
            | "tearDownClass"
            | "setUpTestData"
            | "asyncSetUp"
            | "asyncTearDown"
            | "setup_method"
            | "teardown_method"
            | "setup_class"
            | "teardown_class"
            | "setup"
            | "teardown"
            | "run"
            | "__init_subclass__"
    )
}

/// Modules by which a test leaves its process.
fn reaches_out(facts: &FileFacts) -> bool {
    imported_modules(facts).any(|module| {
        let root = module.split('.').next().unwrap_or(module);
        matches!(root, "subprocess" | "pexpect" | "selenium" | "playwright" | "testcontainers" | "splinter")
    })
}
