//! The answer for people: what to run and why, then what changed. Lines, already sanitized.

use std::collections::BTreeMap;

use crate::impact::answer::{Answer, Mode, Note, SelectedTest, ViaStep, confidence};
use crate::report::sanitize::line;

/// How many rows of each list are printed; totals are of all.
const MAX_ROWS: usize = 20;
const MAX_CHARS: usize = 160;

/// The answer as lines.
pub fn lines(answer: &Answer) -> Vec<String> {
    let mut out = vec![headline(answer)];
    for note in &answer.reasons {
        out.push(format!("  {}", note_line(note)));
    }
    out.push(format!("verdict: {}", answer.verdict.as_str()));
    for note in &answer.causes {
        out.push(format!("  {}", note_line(note)));
    }
    tests(answer, &mut out);
    changed(answer, &mut out);
    dependents(answer, &mut out);
    if answer.packages.len() > 1 {
        out.push(String::new());
        out.push("packages:".to_string());
        for package in &answer.packages {
            let path = if package.path.as_str().is_empty() { "." } else { package.path.as_str() };
            out.push(format!("  {}  {}", line(path, MAX_CHARS), count(package.n_tests, "test")));
        }
    }
    if !answer.warnings.is_empty() {
        out.push(String::new());
        out.push(format!("{}:", count(answer.warnings.len(), "warning")));
        push_rows(answer.warnings.iter().map(note_line), &mut out);
    }
    out
}

fn headline(answer: &Answer) -> String {
    let stats = &answer.stats;
    let files = format!("{} of {}", stats.n_selected_test_files, count(stats.n_test_files, "test file"));
    let question = line(&answer.question, 80);
    match answer.mode {
        Mode::All => format!("{question}: run all tests ({}, {files})", count(stats.n_tests, "test")),
        Mode::None => format!("{question}: no test to run (of {})", stats.n_tests),
        Mode::Selected => {
            let share = (answer.share() * 100.0).round();
            let n = stats.n_selected_tests;
            format!("{question}: {n} of {} ({share} %), in {files}", count(stats.n_tests, "test"))
        }
    }
}

fn note_line(note: &Note) -> String {
    let subject = if note.subject.is_empty() { String::new() } else { format!(" {}:", line(&note.subject, MAX_CHARS)) };
    format!("[{}]{subject} {}", note.code, line(&note.sentence, MAX_CHARS))
}

fn tests(answer: &Answer, out: &mut Vec<String>) {
    if answer.tests.is_empty() || answer.mode == Mode::All {
        return;
    }
    out.push(String::new());
    out.push("tests, likeliest first:".to_string());
    for test in answer.tests.iter().take(MAX_ROWS) {
        out.push(format!("  {}  {}", line(&test.id, MAX_CHARS), because(test)));
        if let Some(path) = short_chain(&test.via) {
            out.push(format!("      {path}"));
        }
    }
    if answer.tests.len() > MAX_ROWS {
        let mut by_file: BTreeMap<&str, usize> = BTreeMap::new();
        for test in answer.tests.iter().skip(MAX_ROWS) {
            *by_file.entry(test.file.as_str()).or_default() += 1;
        }
        let n_more = answer.tests.len() - MAX_ROWS;
        out.push(format!("  … and {n_more} more (`--format tests` lists all), in:"));
        push_rows(by_file.into_iter().map(|(file, n)| format!("{} ({n})", line(file, MAX_CHARS))), out);
    }
}

fn because(test: &SelectedTest) -> String {
    match test.because {
        "changed" => "changed itself".to_string(),
        "measured" => "was seen to run what changed (coverage)".to_string(),
        "reached" => match test.distance {
            Some(0) => "uses what changed by name".to_string(),
            Some(distance) => {
                format!("{} away, confidence {}", count(distance as usize, "step"), confidence(test.confidence))
            }
            None => "reached".to_string(),
        },
        "imports" => "imports a changed file".to_string(),
        "data" => "beside a changed data file".to_string(),
        "mapped" => "named by a map for a changed file".to_string(),
        "always" => "leaves its process, always run".to_string(),
        other => other.to_string(),
    }
}

/// `test → helper (calls, line 3) → change`.
fn short_chain(via: &[ViaStep]) -> Option<String> {
    let first = via.first()?;
    let mut text = line(&name(&first.from), MAX_CHARS);
    let n_shown = 4;
    for (at, step) in via.iter().enumerate() {
        if at >= n_shown && at + 1 < via.len() {
            if at == n_shown {
                text.push_str(&format!(" → … {} more", via.len() - n_shown - 1));
            }
            continue;
        }
        let site = if step.line == 0 { String::new() } else { format!(":{}", step.line) };
        text.push_str(&format!(" ─{}{site}→ {}", step.kind, line(&name(&step.to), MAX_CHARS)));
    }
    Some(text)
}

/// A label without its folders.
fn name(label: &str) -> String {
    let end = label.find("::").or_else(|| label.find(" > ")).unwrap_or(label.len());
    let start = label[..end].rfind('/').map_or(0, |at| at + 1);
    label[start..].to_string()
}

fn changed(answer: &Answer, out: &mut Vec<String>) {
    if !answer.files.is_empty() {
        out.push(String::new());
        out.push(format!("{} changed:", count(answer.files.len(), "file")));
        push_rows(
            answer.files.iter().map(|file| {
                let from = file.base_path.as_ref().map(|p| format!(" (was {})", line(p.as_str(), MAX_CHARS)));
                let path = line(file.path.as_str(), MAX_CHARS);
                format!("{} {path}{}  → {}", file.status.as_str(), from.unwrap_or_default(), file.decision)
            }),
            out,
        );
    }
    if !answer.symbols.is_empty() {
        out.push(String::new());
        out.push(format!("{} changed:", count(answer.symbols.len(), "symbol")));
        push_rows(
            answer.symbols.iter().map(|symbol| {
                let what = match symbol.because {
                    Some(because) => because.to_string(),
                    None => symbol.changes.names().join(", "),
                };
                format!(
                    "{}:{} {} ({what})",
                    line(symbol.path.as_str(), MAX_CHARS),
                    symbol.line,
                    line(&symbol.qualname, 80)
                )
            }),
            out,
        );
    }
}

fn dependents(answer: &Answer, out: &mut Vec<String>) {
    if answer.dependents.is_empty() {
        return;
    }
    let n_direct = answer.dependents.iter().filter(|d| d.distance == 1).count();
    let n_transitive = answer.dependents.len() - n_direct;
    out.push(String::new());
    out.push(format!("{n_direct} direct, {n_transitive} transitive dependents:"));
    push_rows(
        answer.dependents.iter().map(|d| {
            let change = if d.is_contract { ", contract" } else { "" };
            let path = line(d.path.as_str(), MAX_CHARS);
            format!("{path}:{} {} ({}{change})", d.line, line(&d.qualname, 80), count(d.distance as usize, "step"))
        }),
        out,
    );
}

fn push_rows(rows: impl Iterator<Item = String>, out: &mut Vec<String>) {
    let mut n_more = 0;
    for (at, row) in rows.enumerate() {
        if at < MAX_ROWS {
            out.push(format!("  {row}"));
        } else {
            n_more += 1;
        }
    }
    if n_more > 0 {
        out.push(format!("  … and {n_more} more"));
    }
}

fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Why one test is selected, step by step; `None` when no selected test has that id or file.
pub fn why(answer: &Answer, test: &str) -> Option<Vec<String>> {
    let found: Vec<&SelectedTest> =
        answer.tests.iter().filter(|t| t.id == test || t.file.as_str() == test || t.id.ends_with(test)).collect();
    if found.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    for test in found.into_iter().take(MAX_ROWS) {
        out.push(format!("{}: {}", line(&test.id, MAX_CHARS), because(test)));
        for step in &test.via {
            let site = if step.line == 0 { String::new() } else { format!(":{}", step.line) };
            let place = line(&step.file, MAX_CHARS);
            out.push(format!("  {}", line(&step.from, MAX_CHARS)));
            out.push(format!("    {} {}  ({place}{site})", step.kind, line(&step.to, MAX_CHARS)));
        }
    }
    Some(out)
}

/// What keeps one test out; `None` when no test that is left out has that id or file.
pub fn why_not(answer: &Answer, test: &str) -> Option<Vec<String>> {
    let found: Vec<_> =
        answer.left_out.iter().filter(|t| t.id == test || t.file.as_str() == test || t.id.ends_with(test)).collect();
    if found.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    for test in found.into_iter().take(MAX_ROWS) {
        let because = match test.because {
            "never_run" => "a rule of `[impact] never_run` matches its file",
            "not_measured" => "coverage, which is trusted, did not see it run what changed",
            "imports_nothing_changed" => "what it imports now, followed to the end, holds no changed file",
            _ => "it imports a changed file, and nothing that it runs leads to what changed there",
        };
        out.push(format!("{}: left out, {because}", line(&test.id, MAX_CHARS)));
        push_rows(test.imports.iter().map(|path| format!("imports {}", line(path.as_str(), MAX_CHARS))), &mut out);
    }
    Some(out)
}
