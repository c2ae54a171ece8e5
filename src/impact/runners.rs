//! The answer as arguments of runners: one argument a line, nothing for what is not theirs.
//!
//! Each runner has three forms: the selected tests; all, which filters nothing, so that it finds
//! tests that ratlas does not know too; and a well-formed "run nothing", so that an empty selection
//! is never taken for "no filter". Names are written so that no runner reads them as an option, a
//! pattern or a parameter.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::path::RepoPath;
use crate::impact::answer::{Answer, Mode, SelectedTest};
use crate::impact::jvm;
use crate::lang::testing::{DOCTEST_OPTION, Runner};

/// A form in which runners take tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerFormat {
    /// Every test id, one a line, whoever runs it.
    Tests,
    /// Every file of tests, one a line, whoever runs it.
    Files,
    /// Node ids: `pytest @file` reads them.
    Pytest,
    /// Dotted names, as `python -m unittest` takes them.
    Unittest,
    /// The same, as `manage.py test` takes them from its own folder.
    Django,
    /// `--runTestsByPath` and files.
    Jest,
    /// Files, as `vitest run` takes them.
    Vitest,
    /// Files, as `mocha` takes them.
    Mocha,
    /// Files, as `node --test` takes them.
    Node,
    /// Patterns of paths, as `playwright test` takes them.
    Playwright,
    /// `-Dtest=…` for Surefire.
    Maven,
    /// `--tests …` for Gradle.
    Gradle,
}

impl RunnerFormat {
    /// Whether a test is run by what this form is for.
    pub(super) fn runs(self, test: &SelectedTest) -> bool {
        match self {
            RunnerFormat::Tests | RunnerFormat::Files => true,
            RunnerFormat::Pytest => matches!(test.runner, Runner::Pytest | Runner::Unittest),
            RunnerFormat::Unittest | RunnerFormat::Django => {
                matches!(test.runner, Runner::Pytest | Runner::Unittest) && in_class(test).is_some()
            }
            RunnerFormat::Jest => test.runner == Runner::Jest,
            RunnerFormat::Vitest => test.runner == Runner::Vitest,
            RunnerFormat::Mocha => test.runner == Runner::Mocha,
            RunnerFormat::Node => test.runner == Runner::NodeTest,
            RunnerFormat::Playwright => test.runner == Runner::Playwright,
            RunnerFormat::Maven | RunnerFormat::Gradle => matches!(test.runner, Runner::Junit | Runner::TestNg),
        }
    }

    /// What runs all that the runner is set up to run. Not empty where the runner has an option
    /// that changes nothing, for pipelines that run nothing on no output.
    fn all(self) -> &'static [&'static str] {
        match self {
            RunnerFormat::Pytest => &["--color=auto"],
            RunnerFormat::Unittest => &["discover"],
            RunnerFormat::Jest | RunnerFormat::Vitest => &["--passWithNoTests"],
            RunnerFormat::Playwright => &["--pass-with-no-tests"],
            _ => &[],
        }
    }

    /// What runs nothing and ends well.
    fn nothing(self) -> &'static [&'static str] {
        match self {
            RunnerFormat::Tests | RunnerFormat::Files => &[],
            // Collecting nothing is exit code 5; printing the version is 0.
            RunnerFormat::Pytest | RunnerFormat::Mocha | RunnerFormat::Node => &["--version"],
            // Without a name both look for all.
            RunnerFormat::Unittest | RunnerFormat::Django => &["--help"],
            RunnerFormat::Jest => &["--passWithNoTests", "--testPathIgnorePatterns=."],
            RunnerFormat::Vitest => &["--passWithNoTests", "--exclude=**"],
            RunnerFormat::Playwright => &["--pass-with-no-tests", "--grep-invert=."],
            RunnerFormat::Maven => &["-DskipTests"],
            RunnerFormat::Gradle => &["-x", "test"],
        }
    }
}

/// The arguments, one a line, in order of path and name.
pub fn lines(answer: &Answer, format: RunnerFormat) -> Vec<String> {
    let owned = |list: &[&str]| list.iter().map(|line| (*line).to_string()).collect();
    match format {
        RunnerFormat::Tests => return unique(answer, |t| flat(&t.id)),
        RunnerFormat::Files => return unique(answer, |t| flat(t.file.as_str())),
        _ => {}
    }
    if answer.mode == Mode::All {
        return owned(format.all());
    }
    if !answer.tests.iter().any(|test| format.runs(test)) {
        return owned(format.nothing());
    }
    match format {
        RunnerFormat::Tests | RunnerFormat::Files => Vec::new(),
        RunnerFormat::Pytest => pytest(answer),
        RunnerFormat::Unittest | RunnerFormat::Django => dotted(answer, format).unwrap_or_else(|| owned(format.all())),
        RunnerFormat::Maven => jvm::maven(answer).unwrap_or_default(),
        RunnerFormat::Gradle => jvm::gradle(answer),
        RunnerFormat::Jest
        | RunnerFormat::Vitest
        | RunnerFormat::Mocha
        | RunnerFormat::Node
        | RunnerFormat::Playwright => files(answer, format).unwrap_or_else(|| owned(format.all())),
    }
}

/// The answer for one package: its tests alone, their paths relative to its folder.
pub fn in_package(answer: &Answer, package: &RepoPath) -> Answer {
    let mut own = answer.clone();
    own.tests.retain(|test| test.package == *package);
    own.left_out.retain(|test| test.package == *package);
    if !package.as_str().is_empty() {
        for test in &mut own.tests {
            if let Some(file) = test.file.strip(package).and_then(RepoPath::new) {
                if let Some(rest) = test.id.strip_prefix(test.file.as_str()) {
                    test.id = format!("{file}{rest}");
                }
                test.file = file;
            }
        }
    }
    if own.mode == Mode::Selected && own.tests.is_empty() {
        own.mode = Mode::None;
    }
    own
}

fn unique(answer: &Answer, print: impl Fn(&SelectedTest) -> String) -> Vec<String> {
    let lines: BTreeSet<String> = answer.tests.iter().map(print).collect();
    lines.into_iter().collect()
}

/// A text on one line.
fn flat(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// A path that no runner takes for an option (`-x/a.py`) or a list of arguments (`@x/a.py`).
fn plain(path: &str) -> String {
    if path.starts_with(['-', '@']) { format!("./{path}") } else { path.to_string() }
}

/// Node ids. A path that pytest cannot take one in (with brackets, which are parameters to it,
/// with `::` or a line end) stands for its folder.
pub(super) fn pytest(answer: &Answer) -> Vec<String> {
    let is_odd = |path: &str| path.contains(['[', '\n', '\r']) || path.contains("::");
    let tests = answer.tests.iter().filter(|t| RunnerFormat::Pytest.runs(t));
    let lines: BTreeSet<String> = tests
        .map(|test| {
            if !is_odd(test.file.as_str()) {
                return plain(&test.id);
            }
            let mut folder = test.file.parent();
            while let Some(at) = folder.take_if(|at| is_odd(at.as_str())) {
                folder = at.parent();
            }
            match folder.as_ref().map_or("", |at| at.as_str()) {
                "" => ".".to_string(),
                folder => plain(folder),
            }
        })
        .collect();
    // A module stands for the examples of its docstrings, which pytest runs only where it is told to.
    let has_doctests = answer.tests.iter().any(|t| RunnerFormat::Pytest.runs(t) && t.id == t.file.as_str());
    has_doctests.then(|| DOCTEST_OPTION.to_string()).into_iter().chain(lines).collect()
}

/// The class and method of a test of Python, `TestX::test_y`; `None` for one that is a function.
fn in_class(test: &SelectedTest) -> Option<&str> {
    let names = test.id.strip_prefix(test.file.as_str())?.strip_prefix("::")?;
    names.contains("::").then_some(names)
}

/// Names as imports write them, `tests.test_a.TestX.test_y`; `None` where a path has none.
fn dotted(answer: &Answer, format: RunnerFormat) -> Option<Vec<String>> {
    let mut names = BTreeSet::new();
    for test in answer.tests.iter().filter(|t| format.runs(t)) {
        let module = test.file.as_str().strip_suffix(".py")?;
        if module.starts_with('-') || module.contains(['.', '\n', '\r']) {
            return None;
        }
        names.insert(format!("{}.{}", module.replace('/', "."), in_class(test)?.replace("::", ".")));
    }
    Some(names.into_iter().collect())
}

/// What a form leaves out of the selection: how many tests of each runner it is not for.
pub fn left_out(answer: &Answer, format: RunnerFormat) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for test in answer.tests.iter().filter(|test| !format.runs(test)) {
        *counts.entry(test.runner.as_str()).or_default() += 1;
    }
    counts
}

/// The files of a runner; `None` where one has no name on a line.
fn files(answer: &Answer, format: RunnerFormat) -> Option<Vec<String>> {
    let tests = answer.tests.iter().filter(|t| format.runs(t));
    let files: BTreeSet<&str> = tests.map(|t| t.file.as_str()).collect();
    if files.iter().any(|file| file.contains(['\n', '\r'])) {
        return None;
    }
    let before: &[&str] = if format == RunnerFormat::Jest { &["--runTestsByPath"] } else { &[] };
    let print = |file: &str| match format {
        RunnerFormat::Playwright => pattern(file),
        RunnerFormat::Node => plain(&glob(file)),
        _ => plain(file),
    };
    Some(before.iter().map(|line| (*line).to_string()).chain(files.into_iter().map(print)).collect())
}

/// A path as a regular expression that matches it alone.
fn pattern(path: &str) -> String {
    let mut out = String::new();
    for c in path.chars() {
        if matches!(c, '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '^' | '$' | '|' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A path as a glob: node:test reads its arguments as such, and escapes by `\` only elsewhere
/// than on Windows. `?` stands for any one character of a name.
fn glob(path: &str) -> String {
    path.replace(['[', ']', '{', '}', '*', '!'], "?")
}
