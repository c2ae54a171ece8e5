//! Which blocks Jest, Vitest, Mocha, node:test, Playwright and Cypress would run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::base::dialect::Dialect;
use crate::base::path::RepoPath;
use crate::facts::delta::title_path;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::lang::testing::{FileTests, Runner, TestItem, imported_modules};

/// Which runner each package folder uses, the nearest wins.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    folders: BTreeMap<RepoPath, Runner>,
}

impl Setup {
    /// Reads which runner each folder is set up for, from configuration files first, then from
    /// `package.json` (its `jest` and `mocha` keys, its test script, its dependencies).
    pub fn read(config: &BTreeMap<RepoPath, Arc<[u8]>>) -> Self {
        let mut folders = BTreeMap::new();
        for (path, bytes) in config {
            if path.file_name() == "package.json"
                && let (Some(folder), Some(runner)) = (path.parent(), runner_of_package(bytes))
            {
                folders.insert(folder, runner);
            }
        }
        for path in config.keys() {
            let (name, Some(folder)) = (path.file_name(), path.parent()) else { continue };
            let runner = if name.starts_with("vitest.") {
                Runner::Vitest
            } else if name.starts_with("jest.config.") {
                Runner::Jest
            } else if name.starts_with(".mocharc") {
                Runner::Mocha
            } else {
                continue;
            };
            folders.insert(folder, runner);
        }
        Setup { folders }
    }

    fn runner(&self, path: &RepoPath) -> Option<Runner> {
        let mut folder = path.parent();
        while let Some(at) = folder {
            if let Some(runner) = self.folders.get(&at) {
                return Some(*runner);
            }
            folder = at.parent();
        }
        None
    }
}

fn runner_of_package(bytes: &[u8]) -> Option<Runner> {
    let package: Value = serde_json::from_slice(bytes).ok()?;
    for (key, runner) in [("jest", Runner::Jest), ("vitest", Runner::Vitest), ("mocha", Runner::Mocha)] {
        if package.get(key).is_some_and(Value::is_object) {
            return Some(runner);
        }
    }
    let by_word =
        [("vitest", Runner::Vitest), ("jest", Runner::Jest), ("mocha", Runner::Mocha), ("--test", Runner::NodeTest)];
    if let Some(Value::Object(scripts)) = package.get("scripts") {
        // `test` first: it is what CI runs; then `test:unit` and the like.
        let mut lines: Vec<(&String, &str)> = scripts
            .iter()
            .filter(|(name, _)| name.contains("test"))
            .filter_map(|(name, line)| Some((name, line.as_str()?)))
            .collect();
        lines.sort_by_key(|(name, _)| (name.as_str() != "test", name.as_str()));
        for (_, line) in lines {
            let words: BTreeSet<&str> =
                line.split(|c: char| c.is_whitespace() || matches!(c, '/' | '&' | ';' | '"')).collect();
            if let Some((_, runner)) = by_word.iter().find(|(word, _)| words.contains(word)) {
                return Some(*runner);
            }
        }
    }
    for key in ["devDependencies", "dependencies"] {
        let Some(dependencies) = package.get(key) else { continue };
        if let Some((_, runner)) = by_word.iter().find(|(word, _)| dependencies.get(word).is_some()) {
            return Some(*runner);
        }
    }
    None
}

/// The tests of an ECMAScript or TypeScript file; `None` when no runner would take it.
///
/// A file is a test file when it imports a runner, or when it holds test blocks (or is named
/// `*.test.*`, `*.spec.*`) in a package that has a runner.
pub fn recognize(path: &RepoPath, facts: &FileFacts, setup: &Setup, is_declared: bool) -> Option<FileTests> {
    let imported = imported_runner(facts);
    let is_named = is_declared || is_named_as_test(path);
    let has_tests = facts.test_blocks.iter().any(|block| block.kind == TestBlockKind::Test);
    let is_cypress = path.file_name().contains(".cy.");
    let runner = match imported {
        Some(runner) => runner,
        None if is_cypress => Runner::Cypress,
        None if is_named || has_tests => match setup.runner(path) {
            Some(runner) => runner,
            // What is declared and has no known runner is run as a file, by whatever runs it.
            None if is_declared => Runner::Script,
            None if is_named => Runner::Jest,
            None if lies_among_tests(path) => Runner::Script,
            None => return None,
        },
        None if setup.runner(path).is_none() && lies_among_tests(path) => Runner::Script,
        None => return None,
    };
    if runner == Runner::Script {
        if is_declaration(facts) {
            return None;
        }
        let items = vec![whole_file()];
        let reaches_out = leaves_process(facts);
        return Some(FileTests { runner, items, classes: Vec::new(), hooks: Vec::new(), reaches_out });
    }
    if !has_tests && !is_named && !is_cypress {
        // A helper of tests: it imports the runner and holds no test.
        return None;
    }
    let reaches_out = matches!(runner, Runner::Playwright | Runner::Cypress) || leaves_process(facts);
    Some(FileTests { runner, items: items(facts), classes: Vec::new(), hooks: Vec::new(), reaches_out })
}

/// The blocks of kind test, by title path; those whose title is computed stand for the block
/// around them. A file without any is one test.
fn items(facts: &FileFacts) -> Vec<TestItem> {
    let mut items = Vec::new();
    for (at, block) in facts.test_blocks.iter().enumerate() {
        if block.kind != TestBlockKind::Test {
            continue;
        }
        let id = TestBlockId::new(at);
        let titles: Vec<&str> = title_path(facts, id).into_iter().map_while(|title| title).collect();
        items.push(TestItem { name: titles.join(" > "), symbol: None, class: None, block: Some(id) });
    }
    if items.is_empty() {
        items.push(whole_file());
    }
    items
}

/// A file that is one test.
fn whole_file() -> TestItem {
    TestItem { name: String::new(), symbol: Some(SymbolId::new(0)), class: None, block: None }
}

fn is_declaration(facts: &FileFacts) -> bool {
    facts.dialect == Dialect::Dts
}

/// Whether a file of a package without a known runner is a test by where it lies or how it is
/// named: whole files are what scripts, tap, tape, QUnit and Jasmine are given.
fn lies_among_tests(path: &RepoPath) -> bool {
    const TESTS: [&str; 6] = ["test", "tests", "__tests__", "spec", "specs", "testing"];
    const BESIDE: [&str; 14] = [
        "fixtures",
        "fixture",
        "__fixtures__",
        "helpers",
        "helper",
        "support",
        "data",
        "mocks",
        "__mocks__",
        "lib",
        "utils",
        "util",
        "common",
        "snapshots",
    ];
    let folders: Vec<&str> = path.as_str().split('/').rev().skip(1).collect();
    let stem = path.stem();
    let is_among = folders.iter().any(|folder| TESTS.contains(folder));
    let is_beside = folders.iter().any(|folder| BESIDE.contains(folder)) && is_among;
    let named = stem.ends_with("Spec") || stem.ends_with("Test") || stem.starts_with("test-") || stem == "test";
    named || (is_among && !is_beside)
}

fn imported_runner(facts: &FileFacts) -> Option<Runner> {
    imported_modules(facts).find_map(|module| {
        Some(match module {
            "vitest" => Runner::Vitest,
            "@jest/globals" => Runner::Jest,
            "mocha" => Runner::Mocha,
            "node:test" | "test" => Runner::NodeTest,
            "@playwright/test" => Runner::Playwright,
            "cypress" => Runner::Cypress,
            "bun:test" => Runner::Jest,
            "tap" | "tape" | "ava" | "uvu" | "qunit" | "jasmine" | "@hapi/lab" | "zora" | "tapzero" => Runner::Script,
            _ => return None,
        })
    })
}

/// Jest's and Vitest's default patterns: `x.test.ts`, `x.spec.ts`, anything in `__tests__`,
/// and type tests `x.test-d.ts`.
pub fn is_named_as_test(path: &RepoPath) -> bool {
    let stem = path.stem();
    [".test", ".spec", ".test-d", "-test", "_test"].iter().any(|end| stem.ends_with(end))
        || path.as_str().split('/').rev().skip(1).any(|folder| folder == "__tests__")
}

fn leaves_process(facts: &FileFacts) -> bool {
    imported_modules(facts).any(|module| {
        matches!(
            module,
            "child_process" | "node:child_process" | "execa" | "puppeteer" | "playwright" | "testcontainers" | "zx"
        )
    })
}
