//! Impact end to end: the real binary over a real repository with history.

use std::path::Path;
use std::process::{Command, Output};

use ratlas::base::path::RepoPath;
use ratlas::git::author::{NewCommit, write_history};

fn ratlas(dir: &Path, store: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ratlas"))
        .args(args)
        .current_dir(dir)
        .env("RATLAS_STORE", store)
        .env_remove("RATLAS_SELECT")
        .output()
        .expect("the binary runs")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A repository of two commits: `price` changes its body, then a file is moved.
fn shop(dir: &Path) {
    let path = |text: &str| RepoPath::new(text).expect("a relative path");
    let test: &[u8] = b"from shop.price import price, other\n\n\ndef test_price():\n    assert price()\n\n\ndef test_other():\n    assert other()\n";
    let source = |body: &str| format!("def price():\n    return {body}\n\n\ndef other():\n    return 5\n").into_bytes();
    let (one, two) = (source("1"), source("2"));
    let commits = [
        NewCommit {
            message: "start",
            files: vec![
                (path("shop/__init__.py"), b""),
                (path("shop/price.py"), &one),
                (path("tests/test_price.py"), test),
            ],
            removed: Vec::new(),
        },
        NewCommit { message: "price", files: vec![(path("shop/price.py"), &two)], removed: Vec::new() },
        NewCommit {
            message: "move the tests",
            files: vec![(path("tests/test_prices.py"), test)],
            removed: vec![path("tests/test_price.py")],
        },
    ];
    write_history(dir, &commits).expect("a new repository");
}

#[test]
fn a_pipeline_gets_the_tests_of_a_commit() {
    let (dir, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    shop(dir.path());
    let ask = |args: &[&str]| stdout(&ratlas(dir.path(), store.path(), args));
    let tests = ask(&["impact", "--diff", "HEAD~2...HEAD~1", "--format", "pytest"]);
    assert_eq!(tests, "tests/test_price.py::test_price\n");
    // A renamed test file runs as a whole, and its old name is never handed to the runner.
    let moved = ask(&["impact", "--diff", "HEAD~1..HEAD", "--format", "pytest"]);
    assert_eq!(moved, "tests/test_prices.py::test_other\ntests/test_prices.py::test_price\n");
    let why = ask(&["impact", "--diff", "HEAD~2...HEAD~1", "--why", "tests/test_price.py::test_price"]);
    assert!(why.contains("calls shop/price.py::price"), "{why}");
    // Uncommitted work.
    std::fs::write(dir.path().join("shop/price.py"), "def price():\n    return 2\n\n\ndef other():\n    return 6\n")
        .unwrap();
    let dirty = ask(&["impact", "--diff", "WORKTREE", "--format", "tests"]);
    assert_eq!(dirty, "tests/test_prices.py::test_other\n");
}

#[test]
fn an_unknown_base_is_never_an_empty_answer() {
    let (dir, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    shop(dir.path());
    let answer = stdout(&ratlas(dir.path(), store.path(), &["impact", "--diff", "gone...HEAD", "--format", "json"]));
    assert!(answer.contains("\"mode\":\"all\"") && answer.contains("\"base_unresolvable\""), "{answer}");
    assert!(answer.contains("\"verdict\":\"unknown\""), "{answer}");
    let args = ["impact", "--diff", "gone...HEAD", "--on-unknown", "error"];
    let refused = ratlas(dir.path(), store.path(), &args);
    assert_eq!(refused.status.code(), Some(3));
    assert!(refused.stdout.is_empty());
}

#[test]
fn answers_are_equal_bytes_at_any_number_of_jobs() {
    let (dir, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    shop(dir.path());
    let ask = |jobs: &str| {
        let args = ["--jobs", jobs, "impact", "--diff", "HEAD~2...HEAD", "--format", "json"];
        stdout(&ratlas(dir.path(), store.path(), &args))
    };
    assert_eq!(ask("1"), ask("2"));
}

#[test]
fn the_demonstration_walks_through() {
    let dir = tempfile::tempdir().unwrap();
    let into = dir.path().join("demo");
    let output = ratlas(dir.path(), &dir.path().join("store"), &["demo", into.to_str().unwrap()]);
    let text = stdout(&output);
    for expected in [
        "ledger/tests/test_invoice.py::test_total_includes_tax",
        "web/test/cart.test.ts > Cart > adds up what is due",
        "shop.orders.CheckoutTest#summerIsCheaper",
        "[documentation_only]",
    ] {
        assert!(text.contains(expected), "{expected} is missing in:\n{text}");
    }
    assert!(!text.contains("test_money.py"), "what does not depend is not selected");
}

#[test]
fn what_is_misspelled_is_refused() {
    let (dir, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    shop(dir.path());
    let refused = ratlas(dir.path(), store.path(), &["impact", "--diff", "worktree"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("did you mean `WORKTREE`?"));
    let banana = Command::new(env!("CARGO_BIN_EXE_ratlas"))
        .args(["impact", "--diff", "WORKTREE"])
        .current_dir(dir.path())
        .env("RATLAS_STORE", store.path())
        .env("RATLAS_SELECT", "banana")
        .output()
        .unwrap();
    assert_eq!(banana.status.code(), Some(2));
    let args = ["impact", "--diff", "HEAD~2...HEAD~1", "--why", "tests/test_price.py::test_other"];
    assert_eq!(ratlas(dir.path(), store.path(), &args).status.code(), Some(1));
}

#[test]
fn a_change_does_not_soften_its_own_gate() {
    let (dir, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    shop(dir.path());
    let ask = |args: &[&str]| stdout(&ratlas(dir.path(), store.path(), args));
    // Rules of the tree on disk that the base does not have: the base's hold.
    std::fs::write(dir.path().join("ratlas.toml"), "[impact]\nnever_run = [\"tests/**\"]\n").unwrap();
    assert_eq!(ask(&["impact", "--diff", "HEAD~2...HEAD~1", "--format", "tests"]), "tests/test_price.py::test_price\n");
    let dirty = ask(&["impact", "--diff", "WORKTREE", "--format", "json"]);
    assert!(dirty.contains("\"mode\":\"all\"") && dirty.contains("\"ratlas_config\""), "{dirty}");
}

#[test]
fn named_files_and_revisions_are_taken_as_well() {
    let (dir, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    shop(dir.path());
    let ask = |args: &[&str]| stdout(&ratlas(dir.path(), store.path(), args));
    let base = ask(&["impact", "--base", "HEAD~2", "--head", "HEAD~1", "--format", "tests"]);
    assert_eq!(base, "tests/test_price.py::test_price\n");
    std::fs::write(dir.path().join("list"), "shop/price.py\n").unwrap();
    let named = ask(&["impact", "--files-from", "list", "--format", "tests"]);
    assert_eq!(named, "tests/test_prices.py::test_other\ntests/test_prices.py::test_price\n");
    std::fs::write(dir.path().join("list"), "shop/gone.py\n").unwrap();
    assert!(ask(&["impact", "--files-from", "list", "--format", "json"]).contains("\"file_gone\""));
    let why = ask(&["impact", "--diff", "HEAD~2...HEAD~1", "--why-not", "tests/test_price.py::test_other"]);
    assert!(why.contains("left out"), "{why}");
}
