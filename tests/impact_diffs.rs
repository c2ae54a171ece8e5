//! Every way to name a change, over real repositories that git itself makes.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::git::{Scratch, git};

fn ratlas(root: &Path, store: &Path, args: &[&str], stdin: Option<&str>) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ratlas"))
        .args(args)
        .current_dir(root)
        .env("RATLAS_STORE", store)
        .env_remove("RATLAS_SELECT")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    child.stdin.take().expect("a pipe").write_all(stdin.unwrap_or("").as_bytes()).expect("stdin is read");
    child.wait_with_output().expect("it ends")
}

fn ask_at(root: &Path, store: &Path, args: &[&str]) -> Value {
    let output = ratlas(root, store, &[&["impact", "--format", "json"], args].concat(), None);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The selected tests by their last names, else the mode with its reasons.
fn said(answer: &Value) -> String {
    let codes = |name: &str| -> Vec<String> {
        answer[name].as_array().unwrap().iter().map(|note| note["code"].as_str().unwrap().to_string()).collect()
    };
    match answer["mode"].as_str().unwrap() {
        "selected" => {
            let ids = answer["tests"].as_array().unwrap().iter().map(|t| t["id"].as_str().unwrap());
            let mut names: Vec<&str> = ids.map(|id| id.rsplit("::").next().unwrap()).collect();
            names.sort_unstable();
            names.join(" ")
        }
        mode => format!("{mode}: {}", codes("reasons").join(" ")),
    }
}

/// A repository whose `a`, `b` and `c` have a test each.
struct Shop(Scratch);

impl Shop {
    fn new() -> Self {
        let scratch = Scratch::new();
        for name in ["a", "b", "c"] {
            scratch.write(&format!("shop/{name}.py"), &format!("def {name}():\n    return 1\n"));
            let test = format!("from shop.{name} import {name}\n\n\ndef test_{name}():\n    assert {name}()\n");
            scratch.write(&format!("tests/test_{name}.py"), &test);
        }
        scratch.write("shop/__init__.py", "");
        let shop = Shop(scratch);
        shop.0.commit("start");
        shop
    }

    fn edit(&self, name: &str, value: u32) -> &Self {
        self.0.write(&format!("shop/{name}.py"), &format!("def {name}():\n    return {value}\n"));
        self
    }

    fn ask(&self, args: &[&str]) -> Value {
        ask_at(&self.0.root, &self.0.store(), args)
    }

    fn diff(&self, diff: &str) -> String {
        said(&self.ask(&["--diff", diff]))
    }
}

#[test]
fn what_is_staged_is_a_tree_of_its_own() {
    let shop = Shop::new();
    shop.edit("a", 2);
    shop.0.git(&["add", "-A"]);
    shop.edit("b", 2);
    assert_eq!(shop.diff("STAGED"), "test_a");
    assert_eq!(shop.diff("STAGED..WORKTREE"), "test_b");
    assert_eq!(shop.diff("HEAD..STAGED"), "test_a");
    assert_eq!(shop.diff("WORKTREE"), "test_a test_b");
    assert_eq!(shop.diff("HEAD"), "test_a test_b");
    assert_eq!(shop.ask(&["--base", "HEAD", "--head", "STAGED"])["head"], Value::Null);
    // What is only meant to be added is not in the commit to come.
    shop.0.write("tests/test_new.py", "def test_new():\n    pass\n");
    shop.0.git(&["add", "--intent-to-add", "tests/test_new.py"]);
    assert_eq!(shop.diff("STAGED"), "test_a");
    assert_eq!(shop.diff("staged".to_uppercase().as_str()), "test_a");
    let slip = ratlas(&shop.0.root, &shop.0.store(), &["impact", "--diff", "staged"], None);
    assert_eq!(slip.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&slip.stderr).contains("did you mean `STAGED`?"));
}

#[test]
fn an_open_conflict_in_the_index_is_no_answer() {
    let shop = Shop::new();
    shop.0.git(&["checkout", "-q", "-b", "other"]);
    shop.edit("a", 2).0.commit("two");
    shop.0.git(&["checkout", "-q", "main"]);
    shop.edit("a", 3).0.commit("three");
    let merge = Command::new("git").args(["merge", "-q", "other"]).current_dir(&shop.0.root).output().unwrap();
    assert!(!merge.status.success());
    let refused = ratlas(&shop.0.root, &shop.0.store(), &["impact", "--diff", "STAGED"], None);
    assert_eq!(refused.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("conflict in `shop/a.py`"));
    // The files on disk are what they are: with conflict marks, which do not parse.
    assert_eq!(shop.diff("WORKTREE"), "all: parse_failure");
}

#[test]
fn a_root_commit_has_the_empty_tree_before_it() {
    let shop = Shop::new();
    assert_eq!(shop.diff("HEAD~1..HEAD"), "all: base_unresolvable");
    // What a push event of a new branch gives as the commit before.
    assert_eq!(shop.diff("0000000000000000000000000000000000000000...HEAD"), "all: base_unresolvable");
    let empty = shop.0.git(&["hash-object", "-t", "tree", "/dev/null"]);
    assert_eq!(shop.diff(&format!("{}..HEAD", empty.trim())), "test_a test_b test_c");
    shop.edit("a", 2).0.commit("two");
    assert_eq!(shop.diff("HEAD~1^{tree}..HEAD^{tree}"), "test_a");
}

#[test]
fn merges_are_compared_with_the_parent_that_is_named() {
    let shop = Shop::new();
    for name in ["a", "b", "c"] {
        shop.0.git(&["checkout", "-q", "-b", name, "main"]);
        shop.edit(name, 2).0.commit(name);
    }
    shop.0.git(&["checkout", "-q", "main"]);
    shop.0.git(&["merge", "-q", "--no-ff", "-m", "one", "a"]);
    assert_eq!(shop.diff("HEAD^1..HEAD"), "test_a");
    assert_eq!(shop.diff("HEAD^2..HEAD"), "none: nothing_changed");
    shop.0.git(&["merge", "-q", "--no-ff", "-m", "octopus", "b", "c"]);
    assert_eq!(shop.0.git(&["rev-list", "--parents", "-n", "1", "HEAD"]).split_whitespace().count(), 4);
    assert_eq!(shop.diff("HEAD^1..HEAD"), "test_b test_c");
    assert_eq!(shop.diff("HEAD^2..HEAD"), "test_a test_c");
    assert_eq!(shop.diff("HEAD^3...HEAD"), "test_a test_b");
    assert_eq!(shop.diff("a...HEAD"), "test_b test_c");
    // From where the lines parted: what the other side did is not this change's.
    assert_eq!(shop.diff("HEAD...c"), "none: nothing_changed");
    assert_eq!(shop.diff("b...c"), "test_c");
    assert_eq!(shop.diff("b..c"), "test_b test_c");
}

#[test]
fn lines_that_cross_have_a_merge_base_still() {
    let shop = Shop::new();
    shop.0.git(&["checkout", "-q", "-b", "left"]);
    shop.edit("a", 2).0.commit("left");
    shop.0.git(&["checkout", "-q", "-b", "right", "main"]);
    shop.edit("b", 2).0.commit("right");
    shop.0.git(&["merge", "-q", "--no-ff", "-m", "x", "left"]);
    shop.0.git(&["checkout", "-q", "left"]);
    shop.0.git(&["merge", "-q", "--no-ff", "-m", "y", "right~1"]);
    shop.edit("c", 2).0.commit("c");
    let found = shop.diff("right...left");
    assert!(found.split(' ').any(|test| test == "test_c"), "{found}");
    // Lines that share nothing have none.
    shop.0.git(&["checkout", "-q", "--orphan", "alone"]);
    shop.edit("c", 3).0.commit("alone");
    assert_eq!(shop.diff("left...alone"), "all: base_unresolvable");
    assert_eq!(shop.diff("left..alone"), "test_c");
}

#[test]
fn a_submodule_that_points_elsewhere_selects_all() {
    let (shop, other) = (Shop::new(), Scratch::new());
    other.write("x.py", "x = 1\n");
    other.commit("one");
    shop.0.git(&["submodule", "-q", "add", other.root.to_str().unwrap(), "vendored"]);
    shop.0.commit("add");
    other.write("x.py", "x = 2\n");
    let next = other.commit("two");
    git(&shop.0.root.join("vendored"), &["pull", "-q"]);
    shop.0.commit("bump");
    assert_eq!(git(&shop.0.root.join("vendored"), &["rev-parse", "HEAD"]), format!("{next}\n").into_bytes());
    let answer = shop.ask(&["--diff", "HEAD~1..HEAD"]);
    assert_eq!(said(&answer), "all: submodule");
    assert_eq!(answer["reasons"][0]["subject"], "vendored");
}

#[cfg(unix)]
#[test]
fn a_mode_reaches_whoever_names_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let shop = Shop::new();
    shop.0.write("bin/start.sh", "echo 1\n").write("bin/unused.sh", "echo 1\n");
    shop.0.write(
        "tests/test_start.py",
        "import os\n\n\ndef test_start():\n    assert os.access('bin/start.sh', os.X_OK)\n",
    );
    shop.0.commit("files");
    let set = |path: &str, mode| {
        std::fs::set_permissions(shop.0.root.join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set("bin/start.sh", 0o755);
    let answer = shop.ask(&["--diff", "WORKTREE"]);
    assert_eq!((said(&answer).as_str(), &answer["changed"]["files"][0]["decision"]), ("test_start", &"mode".into()));
    shop.0.commit("mode");
    assert_eq!(shop.diff("HEAD~1..HEAD"), "test_start");
    set("bin/unused.sh", 0o755);
    set("shop/a.py", 0o755);
    assert_eq!(shop.diff("WORKTREE"), "none: no_effect");
}

#[cfg(unix)]
#[test]
fn symlinks_are_judged_by_what_they_may_lead_to() {
    use std::os::unix::fs::symlink;
    let shop = Shop::new();
    let link = |target: &str, path: &str| {
        let full = shop.0.root.join(path);
        let _ = std::fs::remove_file(&full);
        symlink(target, full).unwrap();
    };
    link("shop", "lib");
    link("data/one.json", "tests/latest.json");
    shop.0.write("tests/test_data.py", "def test_data():\n    open('tests/latest.json')\n");
    shop.0.commit("links");
    link("data/two.json", "tests/latest.json");
    assert_eq!(shop.diff("WORKTREE"), "test_data");
    link("tests", "lib");
    assert_eq!(shop.diff("WORKTREE"), "all: skipped_source");
    shop.0.commit("links");
    // A source becomes a symlink.
    link("b.py", "shop/a.py");
    assert_eq!(shop.diff("WORKTREE"), "all: skipped_source");
}

#[test]
fn a_name_in_other_letters_is_a_rename() {
    let shop = Shop::new();
    shop.0.git(&["mv", "shop/a.py", "shop/A.py"]);
    shop.0.git(&["commit", "-q", "-m", "case"]);
    let answer = shop.ask(&["--diff", "HEAD~1..HEAD"]);
    let file = &answer["changed"]["files"][0];
    assert_eq!((&file["path"], &file["base_path"]), (&"shop/A.py".into(), &"shop/a.py".into()));
    assert_eq!(answer["changed"]["files"].as_array().unwrap().len(), 1);
    assert_eq!(said(&answer), "test_a");
}

#[test]
fn names_are_read_from_stdin() {
    let shop = Shop::new();
    let ask = |names: &str| {
        let args = ["impact", "--files-from", "-", "--format", "json"];
        let output = ratlas(&shop.0.root, &shop.0.store(), &args, Some(names));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        said(&serde_json::from_slice(&output.stdout).unwrap())
    };
    assert_eq!(ask("shop/a.py\n./shop/b.py\r\n"), "test_a test_b");
    assert_eq!(ask("shop/a.py\0shop/c.py\0"), "test_a test_c");
    assert_eq!(ask(""), "none: nothing_changed");
    assert_eq!(ask("gone.py\n"), "all: file_gone");
    let args = ["impact", "--files-from", "-"];
    let outside = ratlas(&shop.0.root, &shop.0.store(), &args, Some("../x.py\n"));
    assert_eq!(outside.status.code(), Some(2));
}

#[test]
fn a_shallow_clone_says_how_to_deepen() {
    let shop = Shop::new();
    shop.edit("a", 2).0.commit("two");
    let clone = Scratch::folder();
    let url = format!("file://{}", shop.0.root.display());
    git(&clone.root, &["clone", "-q", "--depth", "1", &url, "."]);
    let answer = ask_at(&clone.root, &clone.store(), &["--diff", "HEAD~1...HEAD"]);
    assert_eq!((said(&answer).as_str(), &answer["verdict"]), ("all: base_unresolvable", &"unknown".into()));
    assert!(
        answer["warnings"][0]["message"].as_str().unwrap().contains("git fetch --deepen"),
        "{}",
        answer["warnings"]
    );
    let args = ["impact", "--diff", "HEAD~1...HEAD", "--on-unknown", "error"];
    let refused = ratlas(&clone.root, &clone.store(), &args, None);
    assert_eq!((refused.status.code(), refused.stdout.is_empty()), (Some(3), true));
    git(&clone.root, &["fetch", "-q", "--unshallow"]);
    assert_eq!(said(&ask_at(&clone.root, &clone.store(), &["--diff", "HEAD~1...HEAD"])), "test_a");
}

#[test]
fn a_partial_clone_says_how_to_get_what_it_lacks() {
    let shop = Shop::new();
    shop.edit("a", 2).0.commit("two");
    shop.0.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", shop.0.root.display());
    let clone = |filter: &str| {
        let clone = Scratch::folder();
        git(&clone.root, &["clone", "-q", &format!("--filter={filter}"), &url, "."]);
        clone
    };
    let blobless = clone("blob:none");
    let answer = ask_at(&blobless.root, &blobless.store(), &["--diff", "HEAD~1..HEAD"]);
    assert_eq!(said(&answer), "all: unreadable");
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("git diff HEAD~1..HEAD"), "{warnings}");
    git(&blobless.root, &["diff", "HEAD~1..HEAD"]);
    assert_eq!(said(&ask_at(&blobless.root, &blobless.store(), &["--diff", "HEAD~1..HEAD"])), "test_a");
    let treeless = clone("tree:0");
    let answer = ask_at(&treeless.root, &treeless.store(), &["--diff", "HEAD~1..HEAD"]);
    assert_eq!(said(&answer), "all: base_unresolvable");
}
