//! Affected tests over real history (issue: a gate must not be `all` most of the time, and must
//! never leave out a test that the change itself touches).
//!
//! `RATLAS_HISTORY=<clone> N=100 cargo test --release history_of_a_clone -- --nocapture` asks
//! `impact` about each of the last commits against its first parent, and prints a table.
//! `RATLAS_BINARY` names another build of the binary.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use ratlas::base::dialect::Dialect;
use ratlas::base::path::RepoPath;
use ratlas::impact::files::{FileClass, classify};
use ratlas::lang::testing::is_named_as_test;
use serde_json::Value;

fn git(clone: &Path, args: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(clone).args(args).output().expect("git runs");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Whether a file of a commit holds a test in the plainest sense of its language.
fn holds_test(clone: &Path, commit: &str, path: &RepoPath) -> bool {
    let text = git(clone, &["show", &format!("{commit}:{path}")]);
    match path.extension() {
        "py" => text.lines().any(|line| line.trim_start().starts_with("def test") || line.contains("(TestCase)")),
        "java" => !text.contains("abstract class") && (text.contains("@Test") || text.contains("void test")),
        _ => text.contains("test(") || text.contains("it("),
    }
}

/// What became of a commit.
struct Row {
    mode: String,
    is_code_only: bool,
    reasons: Vec<String>,
    share: f64,
    left_out: Vec<String>,
}

fn row(clone: &Path, binary: &str, store: &Path, commit: &str) -> Option<Row> {
    let parent = git(clone, &["rev-list", "--parents", "-n", "1", commit]).split_whitespace().nth(1)?.to_string();
    let range = format!("{parent}..{commit}");
    let output = Command::new(binary)
        .arg("-C")
        .arg(clone)
        .args(["impact", "--diff", &range, "--format", "json"])
        .env("RATLAS_STORE", store)
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{range}: {}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let texts = |list: &Value, key: &str| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(|item| item[key].as_str()).map(str::to_string).collect()
    };
    let files = &answer["changed"]["files"];
    let is_code = |path: &String| {
        let path = RepoPath::new(path).expect("a path");
        Dialect::of_file_name(path.file_name()).is_some() && classify(&path, None) == FileClass::Code
    };
    let paths = texts(files, "path");
    let selected = texts(&answer["tests"], "file");
    let touched = files.as_array().into_iter().flatten().filter(|file| {
        file["status"] != "removed" && matches!(file["decision"].as_str(), Some("symbols" | "file_reach" | "run_all"))
    });
    let left_out = touched
        .filter_map(|file| RepoPath::new(file["path"].as_str()?))
        .filter(|path| is_named_as_test(path) && holds_test(clone, commit, path))
        // Where tests were only taken away nothing is left to run.
        .filter(|path| !git(clone, &["diff", "--numstat", &range, "--", path.as_str()]).starts_with("0\t"))
        .map(|path| path.to_string())
        .filter(|path| !selected.contains(path))
        .collect();
    Some(Row {
        mode: answer["mode"].as_str().expect("a mode").to_string(),
        is_code_only: !paths.is_empty() && paths.iter().all(is_code),
        reasons: texts(&answer["reasons"], "code"),
        share: answer["stats"]["share_test_files"].as_f64().unwrap_or(0.0),
        left_out,
    })
}

#[test]
fn history_of_a_clone() {
    let Some(clone) = std::env::var_os("RATLAS_HISTORY") else { return };
    let clone = Path::new(&clone);
    let n_commits = std::env::var("N").unwrap_or_else(|_| "100".to_string());
    let binary = std::env::var("RATLAS_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_ratlas").to_string());
    let store = tempfile::tempdir().expect("a temporary folder");
    let commits = git(clone, &["rev-list", "--first-parent", "-n", &n_commits, "HEAD"]);
    let (mut modes, mut n_code_only, mut n_all) = (BTreeMap::<String, usize>::new(), 0, 0);
    let (mut shares, mut left_out) = (Vec::new(), Vec::new());
    for commit in commits.lines() {
        let Some(row) = row(clone, &binary, store.path(), commit) else { continue };
        println!("{commit} {}{} {}", row.mode, if row.is_code_only { " (code)" } else { "" }, row.reasons.join(" "));
        *modes.entry(row.mode.clone()).or_default() += 1;
        left_out.extend(row.left_out.iter().map(|path| format!("{commit}: {path}")));
        if row.is_code_only {
            n_code_only += 1;
            n_all += usize::from(row.mode == "all");
            shares.push(row.share);
        }
    }
    let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    println!("{modes:?}; of {n_code_only} code-only commits {n_all} select all, mean share of test files {mean:.2}");
    assert!(left_out.is_empty(), "changed test files that are left out:\n{}", left_out.join("\n"));
    assert!(n_all * 100 < 15 * n_code_only.max(1), "{n_all} of {n_code_only} code-only commits select all");
}
