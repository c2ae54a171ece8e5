//! Java's tests as Maven's and Gradle's filters take them.
//!
//! Surefire: <https://maven.apache.org/surefire/maven-surefire-plugin/examples/single-test.html> and
//! its `TestListResolver`: patterns `pkg.Class#one+other*` apart by commas, `*` any characters; the
//! class is matched by its class file, so that a nested one has its own pattern.
//! Gradle: <https://docs.gradle.org/current/userguide/java_testing.html#test_filtering>.

use std::collections::{BTreeMap, BTreeSet};

use crate::impact::answer::Answer;
use crate::impact::runners::RunnerFormat;

/// A single argument must stay below this on Linux (`MAX_ARG_STRLEN` is 131,072).
const MAX_ARGUMENT: usize = 100_000;
/// All arguments together, with room for the environment.
const MAX_ARGUMENTS: usize = 1_000_000;

/// The selected methods of each class; `None` for a class whose known tests are all selected.
fn classes(answer: &Answer) -> BTreeMap<&str, Option<BTreeSet<&str>>> {
    let mut classes: BTreeMap<&str, Option<BTreeSet<&str>>> = BTreeMap::new();
    let left: BTreeSet<&str> =
        answer.left_out.iter().filter_map(|t| t.id.split_once('#')).map(|(class, _)| class).collect();
    for test in answer.tests.iter().filter(|t| RunnerFormat::Maven.runs(t)) {
        let Some((class, method)) = test.id.split_once('#') else { continue };
        let methods = classes.entry(class).or_insert_with(|| left.contains(class).then(BTreeSet::new));
        if let Some(methods) = methods {
            methods.insert(method);
        }
    }
    classes
}

/// Surefire's patterns, one a class. A parametrized method's reported name has an index behind it,
/// which `*` takes.
pub(super) fn surefire(answer: &Answer) -> Vec<String> {
    let print = |(class, methods): (&str, Option<BTreeSet<&str>>)| match methods {
        None => class.to_string(),
        Some(methods) => {
            let names: Vec<String> = methods.into_iter().map(|m| format!("{m}*")).collect();
            format!("{class}#{}", names.join("+"))
        }
    };
    classes(answer).into_iter().map(print).collect()
}

/// `-Dtest=…`, by class alone where methods make it too long; `None` where classes do as well.
pub(super) fn maven(answer: &Answer) -> Option<Vec<String>> {
    let whole = || classes(answer).into_keys().collect::<Vec<_>>().join(",");
    let tests = Some(surefire(answer).join(",")).filter(|tests| tests.len() <= MAX_ARGUMENT).unwrap_or_else(whole);
    (tests.len() <= MAX_ARGUMENT).then(|| [vec![format!("-Dtest={tests}")], quiet()].concat())
}

/// Modules without a selected test are no failure.
pub(super) fn quiet() -> Vec<String> {
    vec!["-Dsurefire.failIfNoSpecifiedTests=false".into(), "-DfailIfNoTests=false".into()]
}

/// Gradle's patterns: `pkg.Class` or `pkg.Class.method*`.
pub(super) fn patterns(answer: &Answer) -> Vec<String> {
    let print = |(class, methods): (&str, Option<BTreeSet<&str>>)| match methods {
        None => vec![class.to_string()],
        Some(methods) => methods.into_iter().map(|m| format!("{class}.{m}*")).collect(),
    };
    classes(answer).into_iter().flat_map(print).collect()
}

/// `--tests …`; by class alone where methods make it too long, else none: all run.
pub(super) fn gradle(answer: &Answer) -> Vec<String> {
    let flags = |patterns: Vec<String>| -> Vec<String> {
        patterns.into_iter().flat_map(|pattern| ["--tests".to_string(), pattern]).collect()
    };
    let fits = |lines: &Vec<String>| lines.iter().map(|line| line.len() + 9).sum::<usize>() <= MAX_ARGUMENTS;
    let whole = || classes(answer).into_keys().map(str::to_string).collect();
    let by_method = Some(flags(patterns(answer))).filter(fits);
    by_method.or_else(|| Some(flags(whole())).filter(fits)).unwrap_or_default()
}
