//! The answer as arguments of runners: one argument or line each, nothing for what is not theirs.
//!
//! Each runner has three forms: the selected tests, everything, and a well-formed "run nothing",
//! so that an empty selection is never taken for "no filter".

use std::collections::{BTreeMap, BTreeSet};

use crate::impact::answer::{Answer, Mode, SelectedTest};
use crate::lang::testing::Runner;

/// A form in which runners take tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerFormat {
    /// Every test id, one a line, whoever runs it.
    Tests,
    /// Node ids, one a line: `pytest @file` reads them.
    Pytest,
    /// Arguments of `jest`: `--runTestsByPath` and files.
    Jest,
    /// Files, as `vitest run` takes them.
    Vitest,
    /// `-Dtest=…` for Surefire.
    Maven,
    /// `--tests …` for Gradle.
    Gradle,
}

impl RunnerFormat {
    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "tests" => RunnerFormat::Tests,
            "pytest" => RunnerFormat::Pytest,
            "jest" => RunnerFormat::Jest,
            "vitest" => RunnerFormat::Vitest,
            "maven" => RunnerFormat::Maven,
            "gradle" => RunnerFormat::Gradle,
            _ => return None,
        })
    }
}

/// The arguments, one a line, in order of path and name.
pub fn lines(answer: &Answer, format: RunnerFormat) -> Vec<String> {
    match format {
        RunnerFormat::Tests => sorted(answer, |_| true, |t| t.id.clone()),
        RunnerFormat::Pytest => pytest(answer),
        RunnerFormat::Jest => {
            files(answer, Runner::Jest, &["--runTestsByPath"], &["--passWithNoTests", "--testPathIgnorePatterns=."])
        }
        RunnerFormat::Vitest => files(answer, Runner::Vitest, &[], &["--passWithNoTests", "--exclude=**"]),
        RunnerFormat::Maven => maven(answer),
        RunnerFormat::Gradle => gradle(answer),
    }
}

fn sorted(answer: &Answer, keep: fn(&SelectedTest) -> bool, print: fn(&SelectedTest) -> String) -> Vec<String> {
    let lines: BTreeSet<String> = answer.tests.iter().filter(|t| keep(t)).map(print).collect();
    lines.into_iter().collect()
}

fn pytest(answer: &Answer) -> Vec<String> {
    let keep: fn(&SelectedTest) -> bool = |t| matches!(t.runner, Runner::Pytest | Runner::Unittest);
    let lines = match answer.mode {
        // Everything by file: shorter, and what a file makes up as it runs is in it.
        Mode::All => sorted(answer, keep, |t| t.file.to_string()),
        Mode::Selected | Mode::None => sorted(answer, keep, |t| t.id.clone()),
    };
    if lines.is_empty() { vec!["--collect-only".into(), "--quiet".into()] } else { lines }
}

fn files(answer: &Answer, runner: Runner, before: &[&str], nothing: &[&str]) -> Vec<String> {
    let files: BTreeSet<&str> = answer.tests.iter().filter(|t| t.runner == runner).map(|t| t.file.as_str()).collect();
    if files.is_empty() {
        return nothing.iter().map(|line| line.to_string()).collect();
    }
    before.iter().copied().chain(files).map(str::to_string).collect()
}

/// The selected methods by class (`pkg.Class`), for Java's runners.
fn methods(answer: &Answer) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut classes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for test in answer.tests.iter().filter(|t| matches!(t.runner, Runner::Junit | Runner::TestNg)) {
        if let Some((class, method)) = test.id.split_once('#') {
            classes.entry(class).or_default().insert(method);
        }
    }
    classes
}

/// Surefire's `-Dtest` (<https://maven.apache.org/surefire/maven-surefire-plugin/examples/single-test.html>).
fn maven(answer: &Answer) -> Vec<String> {
    if answer.mode == Mode::All {
        return Vec::new();
    }
    let classes = methods(answer);
    if classes.is_empty() {
        return vec!["-DskipTests".into()];
    }
    // A parametrized method's reported name has an index behind it, which `*` takes.
    let tests: Vec<String> = classes
        .into_iter()
        .map(|(class, methods)| {
            let names: Vec<String> = methods.into_iter().map(|m| format!("{m}*")).collect();
            format!("{class}#{}", names.join("+"))
        })
        .collect();
    vec![
        format!("-Dtest={}", tests.join(",")),
        "-Dsurefire.failIfNoSpecifiedTests=false".into(),
        "-DfailIfNoTests=false".into(),
    ]
}

/// Gradle's test filters (<https://docs.gradle.org/current/userguide/java_testing.html#test_filtering>).
fn gradle(answer: &Answer) -> Vec<String> {
    if answer.mode == Mode::All {
        return Vec::new();
    }
    let classes = methods(answer);
    if classes.is_empty() {
        return vec!["-x".into(), "test".into()];
    }
    let mut lines = Vec::new();
    for (class, methods) in classes {
        for method in methods {
            lines.push("--tests".into());
            lines.push(format!("{class}.{method}*"));
        }
    }
    lines
}
