//! Which methods JUnit 3, 4, 5 and TestNG would run.

use crate::base::dialect::Dialect;
use crate::base::path::RepoPath;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::lang::testing::{
    ClassMethods, Collected, FileTests, Runner, TestClass, decorator_names, imported_modules, members,
};

/// The tests of a Java file; `None` when it names no test framework and is not named as a test.
///
/// Classes are given, not methods: inherited tests belong to the class that inherits them.
pub fn recognize(path: &RepoPath, facts: &FileFacts, is_declared: bool) -> Option<FileTests> {
    let runner = imported_modules(facts).find_map(runner_of);
    if runner.is_none() && !is_declared && !is_named_as_test(path) {
        return None;
    }
    let package = facts.package.first().map(|row| facts.name(row.name));
    let mut classes = Vec::new();
    for at in 1..facts.symbols.len() {
        let id = SymbolId::new(at);
        let symbol = facts.symbol(id);
        let is_class = matches!(symbol.kind, SymbolKind::Class | SymbolKind::Record);
        if !is_class || symbol.flags.has(SymbolFlags::LOCAL) || symbol.flags.has(SymbolFlags::ABSTRACT) {
            continue;
        }
        let name = facts.name(symbol.qualname).replace('.', "$");
        let prefix = match package {
            Some(package) => format!("{package}.{name}#"),
            None => format!("{name}#"),
        };
        let collected = Collected::of(std::iter::once((facts, id)));
        let has_tests = !class_methods(facts, id, collected).tests.is_empty();
        let is_collected = has_tests || collected == Collected::Named;
        classes.push(TestClass { symbol: id, prefix, is_collected });
    }
    if runner.is_none() && classes.is_empty() {
        return None;
    }
    Some(FileTests {
        runner: runner.unwrap_or(Runner::Junit),
        items: Vec::new(),
        classes,
        hooks: Vec::new(),
        reaches_out: reaches_out(facts),
    })
}

fn runner_of(module: &str) -> Option<Runner> {
    if module.starts_with("org.junit") || module.starts_with("junit.") {
        Some(Runner::Junit)
    } else if module.starts_with("org.testng") {
        Some(Runner::TestNg)
    } else {
        None
    }
}

/// Surefire's default patterns (<https://maven.apache.org/surefire/maven-surefire-plugin/examples/inclusion-exclusion.html>)
/// and Failsafe's.
pub fn is_named_as_test(path: &RepoPath) -> bool {
    let stem = path.stem();
    stem.starts_with("Test") || ["Test", "Tests", "TestCase", "IT", "ITCase"].iter().any(|end| stem.ends_with(end))
}

/// Whether all public methods of a class are tests: TestNG's `@Test` on it.
pub fn is_whole(facts: &FileFacts, class: SymbolId) -> bool {
    facts.dialect == Dialect::Java && decorator_names(facts, class).any(|name| name == "Test")
}

/// The tests and hooks that a class defines itself.
pub fn class_methods(facts: &FileFacts, class: SymbolId, collected: Collected) -> ClassMethods {
    let mut methods = ClassMethods::default();
    for id in members(facts, class) {
        let symbol = facts.symbol(id);
        if symbol.kind != SymbolKind::Method {
            continue;
        }
        let name = facts.name(symbol.name);
        let is_public = symbol.visibility == Visibility::Public;
        let annotated = decorator_names(facts, id).any(is_test_annotation);
        let is_collected = match collected {
            Collected::Marked => false,
            Collected::Named => name.starts_with("test"),
            Collected::Whole => true,
        };
        if decorator_names(facts, id).any(is_hook_annotation) {
            methods.hooks.push(id);
        } else if annotated || (is_public && is_collected) {
            methods.tests.push(id);
        } else if matches!(name, "setUp" | "tearDown") || is_named_by_annotation(facts, id) {
            methods.hooks.push(id);
        } else if is_public && name.starts_with("test") && symbol.flags.has(SymbolFlags::ABSTRACT) {
            methods.tests.push(id);
        }
    }
    methods
}

/// The annotations of JUnit 4, 5 and TestNG, and composed ones by their usual ending.
fn is_test_annotation(name: &str) -> bool {
    matches!(name, "TestFactory" | "TestTemplate" | "Theory" | "Property") || name.ends_with("Test")
}

/// Whether an annotation is one by which a runner finds tests and what runs around them.
pub fn is_runner_annotation(name: &str) -> bool {
    is_test_annotation(name)
        || is_hook_annotation(name)
        || matches!(name, "DisplayName" | "Disabled" | "Ignore" | "Tag")
}

fn is_hook_annotation(name: &str) -> bool {
    matches!(
        name,
        "Before"
            | "After"
            | "BeforeClass"
            | "AfterClass"
            | "BeforeEach"
            | "AfterEach"
            | "BeforeAll"
            | "AfterAll"
            | "BeforeMethod"
            | "AfterMethod"
            | "BeforeTest"
            | "AfterTest"
            | "BeforeSuite"
            | "AfterSuite"
            | "BeforeGroups"
            | "AfterGroups"
            | "Parameters"
            | "DataProvider"
            | "DataPoint"
            | "DataPoints"
            | "Rule"
            | "ClassRule"
    )
}

/// JUnit 5's parameter sources name a static method of the class, by default the test's own name:
/// a static method without annotation that gives a stream, list or array and has no parameters.
fn is_named_by_annotation(facts: &FileFacts, id: SymbolId) -> bool {
    let symbol = facts.symbol(id);
    symbol.flags.has(SymbolFlags::STATIC)
        && symbol.scope.is_none_or(|scope| facts.params_of(scope).is_empty())
        && symbol.ty.is_some_and(|ty| {
            let row = facts.type_row(ty);
            let name = row.expr.map_or("", |expr| crate::lang::testing::last_name(facts, expr));
            row.kind == TypeKind::Array
                || matches!(name, "Stream" | "List" | "Collection" | "Iterable" | "Iterator" | "IntStream" | "Set")
        })
}

/// Frameworks by which a test leaves its process.
fn reaches_out(facts: &FileFacts) -> bool {
    imported_modules(facts).any(|module| {
        ["org.testcontainers", "org.openqa.selenium", "com.microsoft.playwright", "com.codeborne.selenide"]
            .iter()
            .any(|root| module.starts_with(root))
    })
}
