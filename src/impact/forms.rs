//! The answer for pipelines that read neither JSON nor a runner's arguments: outputs of a GitHub
//! step, and Markdown for its summary or a comment.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::impact::answer::{Answer, Mode, Note};
use crate::report::sanitize::line;

/// How many rows a list of the Markdown form has.
const MAX_ROWS: usize = 50;
const MAX_CHARS: usize = 160;

/// Lines of `name=value` for `$GITHUB_OUTPUT`; lists are JSON on one line, as `fromJSON` takes them.
pub fn github(answer: &Answer) -> Vec<String> {
    let list = |texts: BTreeSet<&str>| Value::from(texts.into_iter().collect::<Vec<_>>()).to_string();
    let files = answer.tests.iter().map(|t| t.file.as_str()).collect();
    let packages = answer.packages.iter().filter(|p| p.n_tests > 0).map(|p| folder(p.path.as_str())).collect();
    let affected = answer.packages.iter().map(|p| folder(p.path.as_str())).collect();
    vec![
        format!("mode={}", answer.mode.as_str()),
        format!("verdict={}", answer.verdict.as_str()),
        format!("n_tests={}", answer.stats.n_selected_tests),
        format!("tests={}", list(answer.tests.iter().map(|t| t.id.as_str()).collect())),
        format!("test_files={}", list(files)),
        format!("test_packages={}", list(packages)),
        format!("packages={}", list(affected)),
        format!("reasons={}", list(answer.reasons.iter().map(|r| r.code).collect())),
    ]
}

fn folder(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

/// Markdown: what to run and why, then what changed.
pub fn markdown(answer: &Answer) -> Vec<String> {
    let stats = &answer.stats;
    let head = match answer.mode {
        Mode::All => format!("run all {} tests", stats.n_tests),
        Mode::None => format!("no test to run (of {})", stats.n_tests),
        Mode::Selected => {
            let share = (answer.share() * 100.0).round();
            format!("{} of {} tests ({share} %)", stats.n_selected_tests, stats.n_tests)
        }
    };
    let mut out = vec![
        format!("### {}: {head}", cell(&answer.question)),
        String::new(),
        format!(
            "{} of {} test files · verdict `{}` · policy `{}`",
            stats.n_selected_test_files,
            stats.n_test_files,
            answer.verdict.as_str(),
            answer.policy.as_str()
        ),
    ];
    notes("Reasons", &answer.reasons, &mut out);
    notes("Causes", &answer.causes, &mut out);
    if answer.mode == Mode::Selected {
        table("| test | why | steps |", answer.tests.len(), &mut out);
        out.extend(answer.tests.iter().take(MAX_ROWS).map(|test| {
            let steps = test.distance.map_or(String::new(), |n| n.to_string());
            format!("| {} | {} | {steps} |", cell(&test.id), test.because)
        }));
        more(answer.tests.len(), &mut out);
    }
    if !answer.files.is_empty() {
        table("| changed file | status | decision |", answer.files.len(), &mut out);
        out.extend(
            answer
                .files
                .iter()
                .take(MAX_ROWS)
                .map(|file| format!("| {} | {} | {} |", cell(file.path.as_str()), file.status.as_str(), file.decision)),
        );
        more(answer.files.len(), &mut out);
    }
    notes("Warnings", &answer.warnings, &mut out);
    out
}

fn notes(title: &str, list: &[Note], out: &mut Vec<String>) {
    if list.is_empty() {
        return;
    }
    out.extend([String::new(), format!("{title}:"), String::new()]);
    out.extend(list.iter().take(MAX_ROWS).map(|note| {
        let subject = if note.subject.is_empty() { String::new() } else { format!(" {}:", cell(&note.subject)) };
        format!("- `{}`{subject} {}", note.code, cell(&note.sentence))
    }));
    if list.len() > MAX_ROWS {
        out.push(format!("- … and {} more", list.len() - MAX_ROWS));
    }
}

fn table(head: &str, n_rows: usize, out: &mut Vec<String>) {
    if n_rows > 0 {
        let rule = "|---".repeat(head.matches('|').count() - 1) + "|";
        out.extend([String::new(), head.to_string(), rule]);
    }
}

fn more(n_rows: usize, out: &mut Vec<String>) {
    if n_rows > MAX_ROWS {
        out.extend([String::new(), format!("… and {} more", n_rows - MAX_ROWS)]);
    }
}

/// A text as Markdown that is no markup: the repository's names are not trusted.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in line(text, MAX_CHARS).chars() {
        if matches!(c, '|' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '\\' | '#' | '@' | '!') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
