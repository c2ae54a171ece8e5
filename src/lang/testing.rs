//! What a test is, whatever the language: the shapes that each language's `tests` fills in, and
//! which recognizer reads which file. Knows one file at a time; what a class inherits from other
//! files is added by `impact::tests`.

use std::collections::BTreeMap;
use std::sync::Arc;

use globset::{Glob, GlobMatcher};

use crate::base::dialect::{Dialect, LanguageName};
use crate::base::path::RepoPath;
use crate::facts::model::*;
pub use crate::lang::python::tests::doctests::{OPTION as DOCTEST_OPTION, is_workflow};
use crate::lang::{java, python, typescript};

/// Who runs a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runner {
    Pytest,
    Unittest,
    Jest,
    Vitest,
    Mocha,
    NodeTest,
    Playwright,
    Cypress,
    Junit,
    TestNg,
    /// A runner that takes whole files (tap, ava, tape, uvu, QUnit, Jasmine, plain scripts).
    Script,
}

impl Runner {
    /// The name in outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            Runner::Pytest => "pytest",
            Runner::Unittest => "unittest",
            Runner::Jest => "jest",
            Runner::Vitest => "vitest",
            Runner::Mocha => "mocha",
            Runner::NodeTest => "node:test",
            Runner::Playwright => "playwright",
            Runner::Cypress => "cypress",
            Runner::Junit => "junit",
            Runner::TestNg => "testng",
            Runner::Script => "script",
        }
    }
}

/// A test of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestItem {
    /// What the runner calls it within its file: `TestX::test_y`, `outer > inner`,
    /// `pkg.Class#method` (Java: the whole id); empty for a file that is one test.
    pub name: String,
    /// Its function or method.
    pub symbol: Option<SymbolId>,
    /// The class that holds it.
    pub class: Option<SymbolId>,
    /// Its block.
    pub block: Option<TestBlockId>,
}

/// A class whose methods a runner collects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestClass {
    pub symbol: SymbolId,
    /// What stands before a method's name in an id: `TestX::`, `pkg.Class#`.
    pub prefix: String,
    /// Whether the runner takes it by its own file alone; else only when an ancestor is a test case.
    pub is_collected: bool,
}

/// What one file holds of tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTests {
    pub runner: Runner,
    /// In source order.
    pub items: Vec<TestItem>,
    pub classes: Vec<TestClass>,
    /// Functions that run around every test of the file (`setup_module`, root hooks).
    pub hooks: Vec<SymbolId>,
    /// They reach the code through a browser, a container or a process: no edge leads there.
    pub reaches_out: bool,
}

/// How the runners of a tree are set up, by folder.
#[derive(Clone, Debug, Default)]
pub struct TestSetup {
    pub python: python::tests::Setup,
    pub typescript: typescript::tests::Setup,
    /// `[index] tests` of ratlas.toml: which files are tests, or (`!` before it) are none.
    declared: Vec<(bool, GlobMatcher)>,
}

impl TestSetup {
    /// Reads the runners' configuration out of a view's configuration files.
    pub fn read(config: &BTreeMap<RepoPath, Arc<[u8]>>) -> Self {
        TestSetup {
            python: python::tests::Setup::read(config),
            typescript: typescript::tests::Setup::read(config),
            declared: RepoPath::new("ratlas.toml")
                .and_then(|path| config.get(&path))
                .map_or_else(Vec::new, |bytes| declared(bytes)),
        }
    }

    /// What the tree's own rules say of a file; the last that matches counts.
    fn says(&self, path: &RepoPath) -> Option<bool> {
        self.declared.iter().rev().find(|(_, glob)| glob.is_match(path.as_str())).map(|(is_test, _)| *is_test)
    }
}

/// `[index] tests`, in order.
fn declared(bytes: &[u8]) -> Vec<(bool, GlobMatcher)> {
    let Ok(table) = String::from_utf8_lossy(bytes).parse::<toml::Table>() else { return Vec::new() };
    let list = table.get("index").and_then(|index| index.get("tests")).and_then(toml::Value::as_array);
    let globs = list.into_iter().flatten().filter_map(toml::Value::as_str);
    globs
        .filter_map(|glob| {
            let (is_test, bare) = glob.strip_prefix('!').map_or((true, glob), |bare| (false, bare));
            Some((is_test, Glob::new(bare).ok()?.compile_matcher()))
        })
        .collect()
}

/// The tests of a file; `None` when no runner would take it.
pub fn recognize(path: &RepoPath, facts: &FileFacts, setup: &TestSetup) -> Option<FileTests> {
    let says = setup.says(path);
    if says == Some(false) {
        return None;
    }
    let is_declared = says == Some(true);
    match facts.dialect.language() {
        LanguageName::Python => python::tests::recognize(path, facts, &setup.python, is_declared),
        LanguageName::TypeScript | LanguageName::JavaScript => {
            typescript::tests::recognize(path, facts, &setup.typescript, is_declared)
        }
        LanguageName::Java => java::tests::recognize(path, facts, is_declared),
    }
}

/// Methods of a class that are tests or run around its tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassMethods {
    pub tests: Vec<SymbolId>,
    pub hooks: Vec<SymbolId>,
}

/// Which methods of a class are tests, besides those that are marked as such: it or an ancestor
/// says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collected {
    /// None.
    Marked,
    /// Those named `test…`: a runner's base class is among its ancestors.
    Named,
    /// All public ones: TestNG's `@Test` on the class.
    Whole,
}

impl Collected {
    /// How the methods of a class with these ancestors (itself first) are collected.
    pub fn of<'f>(mut line: impl Iterator<Item = (&'f FileFacts, SymbolId)> + Clone) -> Self {
        if line.clone().any(|(facts, class)| java::tests::is_whole(facts, class)) {
            Collected::Whole
        } else if line.any(|(facts, class)| is_test_case(facts, class)) {
            Collected::Named
        } else {
            Collected::Marked
        }
    }
}

/// The tests and hooks that a class defines itself, whatever file it is in (a base class of tests
/// need not be in a test file).
pub fn class_methods(
    path: &RepoPath,
    facts: &FileFacts,
    class: SymbolId,
    collected: Collected,
    setup: &TestSetup,
) -> ClassMethods {
    match facts.dialect.language() {
        LanguageName::Python => python::tests::class_methods(path, facts, class, &setup.python),
        LanguageName::TypeScript | LanguageName::JavaScript => ClassMethods::default(),
        LanguageName::Java => java::tests::class_methods(facts, class, collected),
    }
}

/// Whether a class names a runner's base class (`unittest.TestCase`, JUnit 3's `TestCase`).
pub fn is_test_case(facts: &FileFacts, class: SymbolId) -> bool {
    bases(facts, class).any(|name| name.ends_with("TestCase"))
}

/// The last names of a class's bases, in written order.
pub fn bases(facts: &FileFacts, class: SymbolId) -> impl Iterator<Item = &str> {
    facts
        .heritage
        .iter()
        .filter(move |row| row.owner == class && matches!(row.kind, HeritageKind::Extends | HeritageKind::Implements))
        .filter_map(|row| facts.type_row(row.ty).expr)
        .map(|expr| last_name(facts, expr))
}

/// The last name of what an expression calls or names: `pytest.fixture(scope="x")` gives `fixture`.
pub fn last_name(facts: &FileFacts, expr: ExprId) -> &str {
    let mut at = expr;
    // Operands are earlier rows, so this ends.
    while matches!(facts.expr(at).kind, ExprKind::Call | ExprKind::New | ExprKind::Index | ExprKind::Cast) {
        match facts.operand(at, 0) {
            Some(callee) if callee < at => at = callee,
            _ => break,
        }
    }
    facts.text(facts.expr(at).name)
}

/// The last names of a symbol's decorators or annotations, in written order.
pub fn decorator_names(facts: &FileFacts, symbol: SymbolId) -> impl Iterator<Item = &str> {
    decorators(facts, symbol).map(|row| last_name(facts, row.expr))
}

/// The decorators of a symbol itself (not of its parameters). O(log n + k).
pub fn decorators(facts: &FileFacts, symbol: SymbolId) -> impl Iterator<Item = &Decorator> {
    let start = facts.decorators.partition_point(|row| row.owner < symbol);
    facts.decorators[start..].iter().take_while(move |row| row.owner == symbol).filter(|row| row.param.0.is_none())
}

/// The names of the modules that a file imports, as written, those of computed imports left out.
pub fn imported_modules(facts: &FileFacts) -> impl Iterator<Item = &str> {
    facts.imports.iter().filter(|row| row.level == 0).filter_map(|row| row.module).map(|module| facts.name(module))
}

/// The symbols that are members of a class, in source order.
pub fn members(facts: &FileFacts, class: SymbolId) -> impl Iterator<Item = SymbolId> {
    use crate::facts::table::Id;
    facts.symbols.iter().enumerate().filter(move |(_, s)| s.parent == Some(class)).map(|(at, _)| SymbolId::new(at))
}

/// Whether a file's name alone says that it holds tests or sets them up, by the custom of its
/// language: all that is known of a file which was not read.
pub fn is_named_as_test(path: &RepoPath) -> bool {
    let Some(dialect) = Dialect::of_file_name(path.file_name()) else { return false };
    match dialect.language() {
        LanguageName::Python => python::tests::is_named_as_test(path),
        LanguageName::TypeScript | LanguageName::JavaScript => typescript::tests::is_named_as_test(path),
        LanguageName::Java => java::tests::is_named_as_test(path),
    }
}
