//! The answer as a file of arguments, for lists that are too long for a command line.

use crate::impact::answer::{Answer, Mode};
use crate::impact::jvm;
use crate::impact::runners::{self, RunnerFormat};

/// A file that a runner reads, and the arguments that point to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentFile {
    pub content: String,
    /// One argument a line.
    pub lines: Vec<String>,
}

/// The arguments by way of a file at `path`; `None` for runners that read none.
///
/// Where all or nothing is to run, no list is needed: the lines are the plain ones, and the file
/// holds nothing.
pub fn argument_file(answer: &Answer, format: RunnerFormat, path: &str) -> Option<ArgumentFile> {
    let pointing = match format {
        RunnerFormat::Pytest => vec![format!("@{path}")],
        RunnerFormat::Maven => [vec![format!("-Dsurefire.includesFile={path}")], jvm::quiet()].concat(),
        RunnerFormat::Gradle => vec!["--init-script".to_string(), path.to_string()],
        _ => return None,
    };
    if answer.mode != Mode::Selected || !answer.tests.iter().any(|test| format.runs(test)) {
        return Some(ArgumentFile { content: String::new(), lines: runners::lines(answer, format) });
    }
    let content = match format {
        RunnerFormat::Maven => ended(jvm::surefire(answer)),
        RunnerFormat::Gradle => init_script(&jvm::patterns(answer)),
        _ => ended(runners::pytest(answer)),
    };
    Some(ArgumentFile { content, lines: pointing })
}

fn ended(lines: Vec<String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}

/// A script that filters the test tasks of every project, and lets those be that have no such test
/// (`--tests` fails on them).
fn init_script(patterns: &[String]) -> String {
    let quoted: String = patterns
        .iter()
        .map(|pattern| {
            format!("            includeTestsMatching '{}'\n", pattern.replace('\\', "\\\\").replace('\'', "\\'"))
        })
        .collect();
    format!(
        "allprojects {{\n    tasks.withType(Test).configureEach {{\n        filter {{\n            \
         failOnNoMatchingTests = false\n{quoted}        }}\n    }}\n}}\n"
    )
}
