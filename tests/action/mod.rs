//! The GitHub Action over events of recorded shape and checkouts as `actions/checkout` makes them.

mod expression;
mod steps;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::git::{Scratch, git};
use steps::{Ran, Run, action};

/// A repository on a server, and the caches of its runs.
struct Forge {
    origin: Scratch,
    dir: tempfile::TempDir,
}

const CART: &str = "def total(prices):\n    return sum(prices)\n\n\ndef tax(price):\n    return price // 5\n";

impl Forge {
    fn new() -> Self {
        let origin = Scratch::new();
        origin.write("shop/__init__.py", "").write("shop/cart.py", CART);
        origin.write("shop/mail.py", "def send(to):\n    return to\n");
        origin.write(
            "tests/test_cart.py",
            "from shop.cart import tax, total\n\n\ndef test_total():\n    assert total([1]) == 1\n\n\ndef test_tax():\n    assert tax(5) == 1\n",
        );
        origin
            .write("tests/test_mail.py", "from shop.mail import send\n\n\ndef test_send():\n    assert send(1) == 1\n");
        origin.commit("one");
        for key in ["uploadpack.allowAnySHA1InWant", "uploadpack.allowFilter"] {
            origin.git(&["config", key, "true"]);
        }
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("caches")).unwrap();
        Forge { origin, dir }
    }

    fn head(&self) -> String {
        self.origin.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// A commit on top of what is checked out, that changes `total`.
    fn change_total(&self, how: &str) -> String {
        self.origin.write("shop/cart.py", &CART.replace("sum(prices)", how));
        self.origin.commit("change total")
    }

    /// Checks out a commit as `actions/checkout` does, with a number of commits of history.
    fn checkout(&self, commit: &str, depth: u32, more: &[&str]) -> PathBuf {
        let dir = tempfile::tempdir_in(self.dir.path()).unwrap().keep();
        let url = format!("file://{}", self.origin.root.display());
        git(&dir, &["init", "-q", "-b", "main", "--template="]);
        git(&dir, &["remote", "add", "origin", &url]);
        let depth = format!("--depth={depth}");
        let mut arguments = vec!["fetch", "-q", "--no-tags"];
        if depth != "--depth=0" {
            arguments.push(&depth);
        }
        arguments.extend(more);
        arguments.extend(["origin", commit]);
        git(&dir, &arguments);
        git(&dir, &["checkout", "-q", "--force", commit]);
        dir
    }

    fn run(
        &self,
        id: u64,
        workspace: &Path,
        event_name: &str,
        event: &Value,
        git_ref: &str,
        inputs: &[(&str, &str)],
    ) -> Ran {
        let mut all = vec![("binary-path", env!("CARGO_BIN_EXE_ratlas"))];
        all.extend(inputs);
        let caches = self.dir.path().join("caches");
        Run { workspace, caches: &caches, event_name, event, git_ref, inputs: &all, id }.start()
    }

    /// A push to a branch.
    fn push(&self, id: u64, branch: &str, before: &str, inputs: &[(&str, &str)]) -> Ran {
        let after = self.head();
        let event = json!({
            "ref": format!("refs/heads/{branch}"), "before": before, "after": after, "created": before.starts_with("000"),
            "deleted": false, "forced": false, "repository": {"full_name": "o/r", "default_branch": "main"},
        });
        let workspace = self.checkout(&after, 1, &[]);
        self.run(id, &workspace, "push", &event, &format!("refs/heads/{branch}"), inputs)
    }

    /// Merges a branch of one change into main, as the server does for a pull request, and gives
    /// the event, the merge's commit and the change's.
    fn pull_request(&self, is_fork: bool) -> (Value, String) {
        let base = self.head();
        self.origin.git(&["checkout", "-q", "-b", "topic"]);
        let head = self.change_total("sum(prices) + 0");
        self.origin.git(&["checkout", "-q", "--detach", &base]);
        self.origin.git(&["merge", "-q", "--no-ff", "-m", "Merge topic into main", &head]);
        let merge = self.head();
        let head_repo = if is_fork { "stranger/r" } else { "o/r" };
        let event = json!({
            "action": "synchronize", "number": 7, "repository": {"full_name": "o/r", "default_branch": "main"},
            "pull_request": {"number": 7, "labels": [], "title": "$(touch /tmp/x)",
                "base": {"ref": "main", "sha": base, "repo": {"full_name": "o/r"}},
                "head": {"ref": "topic", "sha": head, "repo": {"full_name": head_repo}}},
        });
        (event, merge)
    }
}

fn check(ran: &Ran, strategy: &str, mode: &str, tests: &[&str]) {
    assert!(ran.is_ok, "{}", ran.log);
    assert_eq!(ran.outputs["base-strategy"], strategy, "{}", ran.log);
    assert_eq!(ran.outputs["mode"], mode, "{}", ran.log);
    let found: Vec<String> = serde_json::from_str(&ran.outputs["tests"]).unwrap();
    let mut found: Vec<&str> = found.iter().map(String::as_str).collect();
    found.sort_unstable();
    assert_eq!(found, tests, "{}", ran.log);
    let matrix: Value = serde_json::from_str(&ran.outputs["matrix"]).unwrap();
    assert!(!matrix["include"].as_array().unwrap().is_empty());
    assert_eq!(ran.outputs["has-tests"], (mode != "none").to_string());
    assert!(Path::new(&ran.outputs["report-path"]).file_name().is_some());
}

const TOTAL: &[&str] = &["tests/test_cart.py::test_total"];
const ALL: &[&str] =
    &["tests/test_cart.py::test_tax", "tests/test_cart.py::test_total", "tests/test_mail.py::test_send"];

#[test]
fn a_pull_request_is_compared_with_its_first_parent() {
    for is_fork in [false, true] {
        let forge = Forge::new();
        let (event, merge) = forge.pull_request(is_fork);
        let workspace = forge.checkout(&merge, 2, &[]);
        let ran = forge.run(1, &workspace, "pull_request", &event, "refs/pull/7/merge", &[]);
        check(&ran, "merge_ref", "selected", TOTAL);
        assert!(ran.saved.is_empty(), "a pull request's facts are not everybody's");
        assert!(ran.summary.contains("test\\_total"), "{}", ran.summary);
        assert!(ran.log.contains("::stop-commands::"), "{}", ran.log);
        // With the pull request's own head and no history, the base is dug for.
        let head = event["pull_request"]["head"]["sha"].as_str().unwrap();
        let workspace = forge.checkout(head, 1, &[]);
        let ran = forge.run(2, &workspace, "pull_request", &event, "refs/pull/7/merge", &[]);
        check(&ran, "merge_base", "selected", TOTAL);
    }
}

#[test]
fn a_label_and_a_trailer_select_all() {
    let forge = Forge::new();
    let (mut event, merge) = forge.pull_request(false);
    event["pull_request"]["labels"] = json!([{"name": "ratlas:all"}]);
    let workspace = forge.checkout(&merge, 2, &[]);
    check(&forge.run(1, &workspace, "pull_request", &event, "refs/pull/7/merge", &[]), "merge_ref", "all", ALL);
    let forge = Forge::new();
    let before = forge.head();
    forge.origin.write("shop/cart.py", "def total(prices):\n    return 0\n");
    forge.origin.commit("change\n\nRatlas-Select: off");
    check(&forge.push(1, "main", &before, &[]), "before", "all", ALL);
}

#[test]
fn blobless_and_sparse_checkouts_answer_from_the_cache() {
    let forge = Forge::new();
    let zero = "0".repeat(40);
    let first = forge.push(1, "main", &zero, &[]);
    check(&first, "none", "all", ALL);
    assert_eq!(first.saved.len(), 1, "a push to the default branch fills the cache");
    let (event, merge) = forge.pull_request(false);
    let workspace = forge.checkout(&merge, 2, &["--filter=blob:none"]);
    let ran = forge.run(2, &workspace, "pull_request", &event, "refs/pull/7/merge", &[]);
    check(&ran, "merge_ref", "selected", TOTAL);
    let workspace = forge.checkout(&merge, 2, &[]);
    git(&workspace, &["sparse-checkout", "set", "shop"]);
    assert!(!workspace.join("tests").exists());
    check(&forge.run(3, &workspace, "pull_request", &event, "refs/pull/7/merge", &[]), "merge_ref", "selected", TOTAL);
}

#[test]
fn a_merge_group_is_compared_with_its_base() {
    let forge = Forge::new();
    let base = forge.head();
    let (_, merge) = forge.pull_request(false);
    let event = json!({"action": "checks_requested", "repository": {"full_name": "o/r", "default_branch": "main"},
        "merge_group": {"head_sha": merge, "base_sha": base, "base_ref": "refs/heads/main",
            "head_ref": "refs/heads/gh-readonly-queue/main/pr-7"}});
    let workspace = forge.checkout(&merge, 1, &[]);
    let git_ref = "refs/heads/gh-readonly-queue/main/pr-7";
    check(&forge.run(1, &workspace, "merge_group", &event, git_ref, &[]), "merge_group", "selected", TOTAL);
}

#[test]
fn a_red_run_does_not_hide_its_changes() {
    let forge = Forge::new();
    let first = forge.head();
    let marked = forge.push(1, "main", &first, &[("command", "mark-green")]);
    assert!(marked.is_ok && marked.saved.len() == 1, "{}", marked.log);
    let second = forge.change_total("max(prices)");
    // This run is red, or is cancelled: nothing is marked.
    check(&forge.push(2, "main", &first, &[]), "green", "selected", TOTAL);
    forge.origin.write("shop/mail.py", "def send(to):\n    return [to]\n");
    let third = forge.origin.commit("mail");
    let both = ["tests/test_cart.py::test_total", "tests/test_mail.py::test_send"];
    check(&forge.push(3, "main", &second, &[]), "green", "selected", &both);
    assert!(forge.push(4, "main", &second, &[("command", "mark-green")]).is_ok);
    forge.origin.write("README.md", "words\n");
    forge.origin.commit("words");
    check(&forge.push(5, "main", &third, &[]), "green", "none", &[]);
}

#[test]
fn pushes_new_branches_and_forced_ones() {
    let forge = Forge::new();
    let first = forge.head();
    forge.origin.git(&["checkout", "-q", "-b", "topic"]);
    let second = forge.change_total("max(prices)");
    let zero = "0".repeat(40);
    check(&forge.push(1, "topic", &zero, &[]), "merge_base", "selected", TOTAL);
    check(&forge.push(2, "topic", &first, &[]), "before", "selected", TOTAL);
    let event = json!({"ref": "refs/heads/topic", "before": second, "forced": true,
        "repository": {"default_branch": "main"}});
    let workspace = forge.checkout(&first, 1, &[]);
    check(&forge.run(3, &workspace, "push", &event, "refs/heads/topic", &[]), "before_forced", "selected", TOTAL);
    let gone = "12".repeat(20);
    let event = json!({"ref": "refs/heads/main", "before": gone, "repository": {"default_branch": "main"}});
    check(&forge.run(4, &workspace, "push", &event, "refs/heads/main", &[]), "none", "all", ALL);
    let ran = forge.run(5, &workspace, "push", &event, "refs/heads/main", &[("on-unknown", "error")]);
    assert!(!ran.is_ok && ran.log.contains("no base: the commit before this push cannot be fetched"), "{}", ran.log);
}

#[test]
fn what_compares_with_nothing_runs_all() {
    let forge = Forge::new();
    let head = forge.head();
    let workspace = forge.checkout(&head, 1, &[]);
    let event = json!({"repository": {"default_branch": "main"}});
    for (name, git_ref) in
        [("schedule", "refs/heads/main"), ("workflow_dispatch", "refs/heads/main"), ("push", "refs/tags/v1")]
    {
        check(&forge.run(1, &workspace, name, &event, git_ref, &[]), "none", "all", ALL);
    }
    let given = [("base", head.as_str())];
    check(&forge.run(2, &workspace, "workflow_dispatch", &event, "refs/heads/main", &given), "given", "none", &[]);
}

#[test]
fn tests_are_spread_by_how_long_they_took() {
    let forge = Forge::new();
    for n in 0..6 {
        let text = format!("from shop.cart import total\n\n\ndef test_{n}():\n    assert total([]) == 0\n");
        forge.origin.write(&format!("tests/test_more_{n}.py"), &text);
    }
    let before = forge.origin.commit("more");
    forge.change_total("max(prices)");
    let report = forge.dir.path().join("junit.xml");
    let case = |n: usize, seconds: usize| {
        format!("<testcase classname=\"tests.test_more_{n}\" name=\"test_{n}\" time=\"{seconds}\"/>")
    };
    let cases: String = [30, 1, 1, 1, 1, 1].iter().enumerate().map(|(n, seconds)| case(n, *seconds)).collect();
    std::fs::write(&report, format!("<testsuite>{cases}</testsuite>")).unwrap();
    let inputs = [("shards", "2"), ("durations", report.to_str().unwrap())];
    let ran = forge.push(1, "main", &before, &inputs);
    assert!(ran.is_ok, "{}", ran.log);
    let matrix: Value = serde_json::from_str(&ran.outputs["matrix"]).unwrap();
    let jobs = matrix["include"].as_array().unwrap();
    let args: Vec<&str> = jobs.iter().map(|job| job["args"].as_str().unwrap()).collect();
    assert_eq!(args.len(), 2, "{matrix}");
    assert_eq!(args[0], "tests/test_more_0.py::test_0", "the slow one stands alone: {matrix}");
    assert_eq!(args[1].lines().count(), 6);
    assert!(jobs.iter().all(|job| job["runner"] == "pytest"));
}

#[test]
fn a_poisoned_cache_is_found_and_not_believed() {
    let forge = Forge::new();
    let zero = "0".repeat(40);
    assert_eq!(forge.push(1, "main", &zero, &[]).saved.len(), 1);
    // The cached facts of the tests are swapped for those of files that use nothing.
    let cache = std::fs::read_dir(forge.dir.path().join("caches")).unwrap().flatten().next().unwrap().path();
    poison(&forge, &cache);
    let (event, merge) = forge.pull_request(false);
    let workspace = forge.checkout(&merge, 2, &[]);
    let ran = forge.run(2, &workspace, "pull_request", &event, "refs/pull/7/merge", &[]);
    check(&ran, "merge_ref", "selected", TOTAL);
    assert!(ran.log.contains("not what their files give"), "{}", ran.log);
}

/// Writes a shard of `shop/cart.py` with the facts of other bytes into a store.
fn poison(forge: &Forge, store: &Path) {
    use ratlas::base::dialect::Dialect;
    use ratlas::base::id::{BlobId, ShardKey};
    use ratlas::extract::{extract, fingerprint::fingerprint};
    let hex = forge.origin.git(&["rev-parse", "HEAD:shop/cart.py"]);
    let blob = BlobId::from_hex(hex.trim()).unwrap();
    let key = ShardKey { blob, dialect: Dialect::Py, fingerprint: fingerprint(Dialect::Py) };
    let wrong = extract(Dialect::Py, CART.replace("return sum", "return  len").as_bytes());
    for entry in std::fs::read_dir(store.join("packs")).unwrap().flatten() {
        std::fs::remove_file(entry.path()).unwrap();
    }
    let store = ratlas::store::objects::Store::open(store).unwrap();
    store.put_many(vec![(key, std::sync::Arc::new(wrong))]).unwrap();
}

#[test]
fn a_checkout_of_another_user_is_read() {
    let forge = Forge::new();
    let before = forge.head();
    forge.change_total("max(prices)");
    let event = json!({"ref": "refs/heads/main", "before": before, "repository": {"default_branch": "main"}});
    let workspace = forge.checkout(&forge.head(), 1, &[]);
    // Only root can give files away; elsewhere the checkout stays one's own.
    let _ = std::process::Command::new("chown").args(["-R", "12345:12345"]).arg(&workspace).output();
    check(&forge.run(1, &workspace, "push", &event, "refs/heads/main", &[]), "before", "selected", TOTAL);
}

#[test]
fn the_action_says_what_it_takes_and_gives() {
    let action = action();
    let names = |part: &str| -> Vec<String> {
        action[part].as_hash().unwrap().keys().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    for input in [
        "command",
        "version",
        "binary-path",
        "base",
        "head",
        "on-unknown",
        "working-directory",
        "config",
        "cache",
        "cache-suffix",
        "remote",
        "remote-mode",
        "shards",
        "policy",
        "summary",
        "annotations",
        "report-format",
        "token",
    ] {
        assert!(names("inputs").contains(&input.to_owned()), "{input}");
    }
    for output in [
        "mode",
        "has-tests",
        "tests",
        "tests-file",
        "matrix",
        "count",
        "report-path",
        "base",
        "head",
        "base-strategy",
        "cache-hit",
        "indexed",
        "reused",
        "ratlas-version",
    ] {
        assert!(names("outputs").contains(&output.to_owned()), "{output}");
    }
    // A wrong binary and a version that is not in the table are refused before anything runs.
    let forge = Forge::new();
    let workspace = forge.checkout(&forge.head(), 1, &[]);
    for inputs in [[("binary-path", "/nowhere/ratlas")], [("version", "0.1.0; touch x")]] {
        let mut all = vec![("binary-path", "")];
        all.extend(inputs);
        let ran = forge.run(1, &workspace, "schedule", &Value::Null, "refs/heads/main", &all);
        assert!(!ran.is_ok && ran.log.contains("::error title=ratlas::"), "{}", ran.log);
    }
}

/// Runs the script that finds the binary, with a PATH of the system and of `tools` before it.
fn find(tools: &Path, version: &str) -> (bool, String, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/find-ratlas");
    let mut command = std::process::Command::new("bash");
    command.arg(script).env_clear().env("PATH", format!("{}:/usr/bin:/bin", tools.display()));
    command.env("VERSION", version).env("TEMPORARY", tools);
    command.env("GITHUB_OUTPUT", tools.join("output")).env("GITHUB_PATH", tools.join("path"));
    let output = command.output().unwrap();
    let outputs = std::fs::read_to_string(tools.join("output")).unwrap_or_default();
    (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap(), outputs)
}

#[test]
fn a_version_that_nobody_released_names_the_remedies() {
    let tools = tempfile::tempdir().unwrap();
    let (is_ok, said, outputs) = find(tools.path(), "0.1.0");
    assert!(!is_ok && outputs.is_empty(), "{said}");
    assert!(said.starts_with("::error title=ratlas::there is no released ratlas-0.1.0-"), "{said}");
    assert!(said.contains("version 'source'") && said.contains("binary-path"), "{said}");
    assert!(find(tools.path(), "latest").1.contains("neither 'source' nor a version"));
    if !Path::new("/usr/bin/cargo").exists() {
        assert!(find(tools.path(), "source").1.contains("install Rust"));
    }
}

#[test]
fn the_source_is_built_where_that_is_asked_for() {
    use std::os::unix::fs::PermissionsExt;
    let tools = tempfile::tempdir().unwrap();
    // A cargo that notes what it was told, and puts something in the place.
    let cargo = tools.path().join("cargo");
    let script = "#!/bin/bash\necho \"$@\" >\"$TEMPORARY/told\"\nroot=\"${@: -1}\"\nmkdir -p \"$root/bin\"\necho x >\"$root/bin/ratlas\"\n";
    std::fs::write(&cargo, script).unwrap();
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (is_ok, said, outputs) = find(tools.path(), "source");
    assert!(is_ok, "{said}");
    let binary = tools.path().join("ratlas-bin/bin/ratlas");
    assert_eq!(outputs, format!("path={}\n", binary.display()));
    assert!(binary.is_file());
    let told = std::fs::read_to_string(tools.path().join("told")).unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert!(told.starts_with(&format!("install --quiet --locked --path {}", sources.display())), "{told}");
}

#[test]
fn every_input_does_what_it_says() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("action.yml")).unwrap();
    for name in action()["inputs"].as_hash().unwrap().keys() {
        assert!(text.contains(&format!("inputs.{}", name.as_str().unwrap())), "{name:?} is used by no step");
    }
    let forge = Forge::new();
    let before = forge.head();
    forge.change_total("max(prices)");
    let report = |inputs: &[(&str, &str)]| forge.push(1, "topic", &before, inputs);
    for (form, part) in
        [("json", "\"schema\":\"ratlas.impact/1\""), ("md", "test\\_total"), ("text", "::test_total  1 step")]
    {
        let ran = report(&[("report-format", form)]);
        assert!(ran.is_ok && ran.report.contains(part), "{form}: {}", ran.report);
    }
    let quiet = report(&[("summary", "false"), ("annotations", "false")]);
    assert!(quiet.is_ok && quiet.summary.is_empty() && !quiet.log.contains("::notice"), "{}", quiet.log);
    check(&report(&[("policy", "file")]), "before", "selected", &ALL[..2]);
    assert!(!report(&[("policy", "brave")]).is_ok && !report(&[("shards", "0")]).is_ok);
    check(&report(&[("base", "HEAD"), ("head", "HEAD")]), "given", "none", &[]);
    // A configuration of the pipeline's own, in the place of the repository's.
    let config = forge.dir.path().join("ci.toml");
    std::fs::write(&config, "[impact]\npolicy = \"file\"\n").unwrap();
    check(&report(&[("config", config.to_str().unwrap())]), "before", "selected", &ALL[..2]);
    // Only finding the binary.
    let ran = report(&[("command", "setup")]);
    assert!(ran.is_ok && ran.outputs["mode"].is_empty() && ran.saved.is_empty(), "{}", ran.log);
    // Caches: `auto` saves for the default branch alone, `write` too where it is asked for.
    assert_eq!(forge.push(2, "main", &before, &[]).saved.len(), 1);
    assert!(forge.push(3, "main", &before, &[("cache", "read")]).saved.is_empty());
    let ran = forge.push(4, "main", &before, &[("cache", "off")]);
    assert!(ran.saved.is_empty() && ran.outputs["reused"] == "0", "{}", ran.log);
    assert_ne!(forge.push(5, "main", &before, &[]).outputs["reused"], "0");
    let apart = forge.push(6, "main", &before, &[("cache-suffix", "other")]);
    assert_eq!(apart.outputs["reused"], "0", "another cache: {}", apart.log);
    // Remotes: trusted CI publishes, the next run fetches in the place of extracting.
    let remote = forge.dir.path().join("maps");
    let remote = remote.to_str().unwrap();
    let index = [("command", "index"), ("remote", remote), ("remote-mode", "write"), ("cache", "off")];
    assert!(forge.push(7, "main", &before, &index).is_ok);
    let ran = forge.push(8, "topic", &before, &[("remote", remote), ("cache", "off")]);
    check(&ran, "before", "selected", TOTAL);
    assert_ne!(ran.outputs["reused"], "0");
    let ran = forge.push(9, "topic", &before, &[("remote", remote), ("remote-mode", "off"), ("cache", "off")]);
    assert_eq!(ran.outputs["reused"], "0");
}
