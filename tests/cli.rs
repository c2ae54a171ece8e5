//! The binary as people and pipelines use it: exit codes, pure stdout, errors that name the next step.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::git::Scratch;

/// A repository of three languages.
pub fn polyglot() -> Scratch {
    let scratch = Scratch::new();
    scratch.write(
        "src/shop/cart.py",
        "class Cart:\n    \"\"\"Holds what is bought.\"\"\"\n\n    def add_item(self, price: int) -> int:\n        return total(price)\n\n\ndef total(price: int) -> int:\n    return price\n",
    );
    scratch.write(
        "src/shop/order.py",
        "from shop.cart import Cart, total\n\n\ndef place():\n    cart = Cart()\n    return cart.add_item(3) + total(2)\n",
    );
    scratch
        .write("tests/test_cart.py", "from shop.cart import total\n\n\ndef test_total():\n    assert total(2) == 2\n");
    scratch.write("web/price.ts", "export function formatPrice(cents: number): string { return String(cents); }\n");
    scratch.write(
        "core/src/main/java/p/Ledger.java",
        "package p;\npublic class Ledger {\n  public int sum(int a, int b) { return a + b; }\n}\n",
    );
    scratch.write("tool/main.go", "package main\n");
    scratch.commit("one");
    scratch
}

/// The binary in `dir`, with a store of its own and no user configuration.
pub fn ratlas(dir: &Path, store: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ratlas"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("RATLAS_") {
            command.env_remove(name);
        }
    }
    command.current_dir(dir).env("RATLAS_STORE", store).env("XDG_CONFIG_HOME", store.join("no-config"));
    // A machine under load must not make an answer stale.
    command.env("RATLAS_BUDGET_FRESHNESS_MS", "60000").stdin(Stdio::null());
    command
}

fn run(scratch: &Scratch, arguments: &[&str]) -> Output {
    ratlas(&scratch.root, &scratch.store()).args(arguments).output().unwrap()
}

fn ok(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = run(scratch, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    assert_eq!(stderr, "", "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Asserts that a command fails with `code`, says nothing on stdout, and gives its stderr.
fn fails(scratch: &Scratch, arguments: &[&str], code: i32) -> String {
    let output = run(scratch, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{arguments:?}");
    assert!(stderr.starts_with("error[RAT") && stderr.contains("\nhelp: "), "{arguments:?}: {stderr}");
    stderr
}

#[test]
fn a_second_index_parses_nothing() {
    let scratch = polyglot();
    let first: Value = serde_json::from_str(&ok(&scratch, &["index", "--format", "json"])).unwrap();
    assert_eq!(
        (&first["files"], &first["parsed"], &first["reused"], &first["skipped"]),
        (&6.into(), &5.into(), &0.into(), &1.into())
    );
    let second: Value = serde_json::from_str(&ok(&scratch, &["index", "--format", "json"])).unwrap();
    assert_eq!((&second["parsed"], &second["reused"]), (&0.into(), &5.into()));
    assert_eq!(ok(&scratch, &["verify", "--sample", "0"]), "5 shards of 5: equal\n");
}

#[test]
fn codes_of_all_sorts_are_explained() {
    let scratch = polyglot();
    for (code, word) in [("RAT011", "help line"), ("too_large", "max_file_bytes"), ("implicit_calls", "len(x)")] {
        assert!(ok(&scratch, &["explain", code]).contains(word), "{code}");
    }
    for reason in ratlas::view::SkipReason::ALL {
        ok(&scratch, &["explain", reason.as_str()]);
    }
    assert!(fails(&scratch, &["explain", "nothing"], 2).contains("too_large"));
    for client in ["mcp", "claude", "codex", "vscode", "cursor", "zed", "agents"] {
        assert!(ok(&scratch, &["init", "--print", client]).contains("ratlas"), "{client}");
    }
}

#[test]
fn an_unknown_revision_is_said_in_our_words() {
    let scratch = polyglot();
    let error = fails(&scratch, &["export", "edges", "--at", "nowhere"], 3);
    assert!(error.starts_with("error[RAT012]: no revision `nowhere`\nhelp: "), "{error}");
}

#[test]
fn a_tree_says_where_its_sources_lie() {
    let scratch = Scratch::new();
    scratch.write("services/code/shop/cart.py", "def total():\n    return 1\n");
    scratch.write(
        "services/checks/test_cart.py",
        "from shop.cart import total\n\n\ndef test_total():\n    assert total()\n",
    );
    scratch.commit("one");
    let n_callers = |scratch: &Scratch| {
        let data = ok(scratch, &["query", "callers", "cart.total", "--format", "json"]);
        serde_json::from_str::<Value>(&data).unwrap()["total"].clone()
    };
    assert_eq!(n_callers(&scratch), 0);
    scratch.write("ratlas.toml", "[index]\nsource_roots = [\"services/code\"]\n");
    assert_eq!(n_callers(&scratch), 1);
    let mut command = ratlas(&scratch.root, &scratch.store());
    let output = command.args(["status"]).env("RATLAS_INDEX_SOURCE_ROOTS", "services").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    // A `src` folder is a root without being told.
    assert!(ok(&polyglot(), &["query", "callers", "shop.cart.total"]).contains("proved: 3"));
}

#[test]
fn status_says_the_same_at_any_number_of_threads() {
    let scratch = polyglot();
    ok(&scratch, &["index"]);
    assert_eq!(ok(&scratch, &["status", "--jobs", "1"]), ok(&scratch, &["status", "--jobs", "3"]));
}

#[test]
fn queries_need_no_index_before() {
    let scratch = polyglot();
    let text = ok(&scratch, &["query", "symbol", "add_item"]);
    assert!(text.lines().next().unwrap().contains("1 of 1 symbols"), "{text}");
    assert!(text.contains("src/shop/cart.py:4-5 method def Cart.add_item(self, price: int) -> int sym_"), "{text}");
}

#[test]
fn handles_and_paths_name_the_same_symbol() {
    let scratch = polyglot();
    let found = ok(&scratch, &["query", "symbol", "Cart.add_item"]);
    let handle = found.split_whitespace().find(|word| word.starts_with("sym_")).unwrap();
    let by_handle = ok(&scratch, &["query", "get", handle]);
    assert_eq!(by_handle, ok(&scratch, &["query", "get", "src/shop/cart.py::Cart.add_item"]));
    assert_eq!(by_handle, ok(&scratch, &["query", "get", "shop.cart.Cart.add_item"]));
    assert_eq!(by_handle, ok(&scratch, &["query", "get", "add_item", "--file", "cart.py"]));
}

#[test]
fn bodies_and_spans_are_the_lines_of_the_file() {
    let scratch = polyglot();
    let text = ok(&scratch, &["query", "get", "Cart.add_item", "--body"]);
    assert!(
        text.ends_with("    4     def add_item(self, price: int) -> int:\n    5         return total(price)\n"),
        "{text}"
    );
    let span: Value =
        serde_json::from_str(&ok(&scratch, &["query", "span", "src/shop/cart.py:8-9", "--format", "json"])).unwrap();
    assert_eq!(span["lines"], serde_json::json!(["def total(price: int) -> int:", "    return price"]));
    // The tree as it is now, not as committed.
    scratch.write("src/shop/cart.py", "x = 1\n");
    assert!(ok(&scratch, &["query", "span", "src/shop/cart.py:1"]).ends_with("    1 x = 1\n"));
}

#[test]
fn secrets_are_not_shown_with_bodies() {
    let scratch = polyglot();
    let secret = format!("AKIA{}", "Z7Q2M4X8P1W5R9T3");
    scratch.write("src/shop/keys.py", &format!("def key():\n    aws_key = \"{secret}\"\n    return aws_key\n"));
    for arguments in [&["query", "get", "key", "--body"][..], &["query", "span", "src/shop/keys.py:1-3"]] {
        let text = ok(&scratch, arguments);
        assert!(text.contains("return aws_key") && !text.contains(&secret), "{text}");
    }
}

#[test]
fn a_diff_without_base_is_no_empty_change() {
    let scratch = polyglot();
    for diff in ["", "...HEAD", "..HEAD"] {
        let error = fails(&scratch, &["impact", "--diff", diff], 2);
        assert!(error.contains("has no base") && error.contains("main...HEAD"), "{error}");
    }
}

#[test]
fn errors_name_the_thing_and_the_next_step() {
    let scratch = polyglot();
    let error = fails(&scratch, &["query", "get", "Cart.ad_item"], 2);
    assert!(error.contains("error[RAT011]: no symbol or file `Cart.ad_item`"), "{error}");
    assert!(error.contains("did you mean `Cart.add_item` (src/shop/cart.py:4)"), "{error}");
    let error = fails(&scratch, &["query", "outline", "src/shop/crat.py"], 2);
    assert!(error.contains("`src/shop/cart.py`"), "{error}");
    let error = fails(&scratch, &["query", "outline", "tool/main.go"], 3);
    assert!(error.contains("error[RAT013]: `tool/main.go` is not indexed: language"), "{error}");
    let error = fails(&scratch, &["query", "map", "--budgt", "9"], 2);
    assert!(error.contains("did you mean `--budget`"), "{error}");
    let error = fails(&scratch, &["query", "symbol", "ttal"], 2);
    assert!(error.contains("did you mean `total` (src/shop/cart.py:8)"), "{error}");
    fails(&scratch, &["quer"], 2);
    fails(&scratch, &["query", "map", "--budget", "3"], 2);
    fails(&scratch, &["query", "span", "src/shop/cart.py"], 2);
    fails(&scratch, &["query", "span", "src/shop/cart.py:900-901"], 2);
    fails(&scratch, &["explain", "RAT999"], 2);
    fails(&scratch, &["-C", "no/such/folder", "status"], 2);
    fails(&scratch, &["export", "edges", "--at", "no-such-branch"], 3);
    fails(&scratch, &["query", "callers", "x", "--cursor", "zzz"], 2);
}

#[test]
fn ambiguous_names_list_their_candidates() {
    let scratch = polyglot();
    scratch.write("src/shop/other.py", "def total():\n    pass\n");
    let error = fails(&scratch, &["query", "callers", "total"], 2);
    assert!(error.contains("`total` names 2 symbols"), "{error}");
    assert!(error.contains("`src/shop/cart.py::total` (line 8), `src/shop/other.py::total` (line 1)"), "{error}");
}

#[test]
fn configuration_is_strict_and_says_where_values_come_from() {
    let scratch = polyglot();
    scratch.write("ratlas.toml", "[index]\nexclude = [\"web/**\"]\n");
    assert!(ok(&scratch, &["config", "show"]).contains("index.exclude = [\"web/**\"] (ratlas.toml)\n"));
    let error = fails(&scratch, &["query", "get", "web/price.ts"], 3);
    assert!(error.contains("not indexed: excluded"), "{error}");
    scratch.write("ratlas.toml", "[index]\nexclde = []\n");
    let error = fails(&scratch, &["status"], 2);
    assert!(error.contains("error[RAT003]: ratlas.toml line 2: unknown key `index.exclde`"), "{error}");
    assert!(error.contains("did you mean `index.exclude`?"), "{error}");
    let mut command = ratlas(&scratch.root, &scratch.store());
    let output =
        command.args(["--config", "/dev/null", "config", "show"]).env("RATLAS_BUDGET_MAX_TOKENS", "900").output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(text.contains("budget.max_tokens = 900 (environment RATLAS_BUDGET_MAX_TOKENS)\n"), "{text}");
}

#[test]
fn status_writes_nothing_and_check_says_what_is_missing() {
    let scratch = polyglot();
    let output = run(&scratch, &["status", "--check"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("stale: 5 pending"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("error[RAT051]: 5 files not indexed yet"));
    ok(&scratch, &["index"]);
    let status: Value = serde_json::from_str(&ok(&scratch, &["status", "--check", "--format", "json"])).unwrap();
    assert_eq!(status["languages"]["python"]["ok"], 3);
    assert_eq!(status["not_indexed"]["go"], 1);
    assert_eq!(status["skipped"]["language"], 1);
    assert_eq!(status["dirty"]["total"], 0);
}

#[test]
fn exports_have_their_fields_and_are_stable() {
    let scratch = polyglot();
    let symbols = ok(&scratch, &["export", "symbols"]);
    let row: Value = serde_json::from_str(symbols.lines().find(|line| line.contains("add_item")).unwrap()).unwrap();
    let names: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["file", "qualname", "name", "kind", "start_line", "end_line", "signature", "is_public"]);
    assert_eq!((&row["kind"], &row["start_line"], &row["is_public"]), (&"method".into(), &4.into(), &true.into()));
    let edges = ok(&scratch, &["--jobs", "1", "export", "edges", "--unproved"]);
    assert_eq!(edges, ok(&scratch, &["--jobs", "2", "export", "edges", "--unproved"]));
    let parquet = run(&scratch, &["export", "symbols", "--format", "parquet"]).stdout;
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    fails(&scratch, &["export", "symbols", "--unproved"], 2);
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let scratch = polyglot();
    for n in 0..400 {
        scratch.write(&format!("many/module_{n}.py"), &"def some_function_with_a_long_name():\n    pass\n".repeat(20));
    }
    let mut command = ratlas(&scratch.root, &scratch.store());
    let mut child = command.args(["export", "symbols"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 10]).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn help_lists_only_what_there_is_and_goes_to_stdout() {
    let scratch = polyglot();
    let help = ok(&scratch, &["--help"]);
    for command in ["pull", "push", "ci", "watch", "gc"] {
        assert!(help.contains(&format!("  {command} ")), "{command}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(ok(&scratch, &["completions", shell]).contains("ratlas"));
    }
    assert!(ok(&scratch, &["man"]).contains(".TH ratlas"));
    assert!(ok(&scratch, &["explain", "rat011"]).starts_with("RAT011 (exit code 2)"));
    assert!(ok(&scratch, &["doctor"]).lines().all(|line| line.starts_with("ok: ")));
}

#[test]
fn init_writes_once_and_changes_nothing() {
    let scratch = polyglot();
    assert_eq!(ok(&scratch, &["init"]), "wrote ratlas.toml\n");
    assert!(
        ok(&scratch, &["config", "show"])
            .lines()
            .all(|line| line.ends_with("(default)") || line.contains("(environment RATLAS_"))
    );
    let error = fails(&scratch, &["init"], 2);
    assert!(error.contains("`ratlas.toml` is there already"), "{error}");
    assert!(ok(&scratch, &["init", "--print", "mcp"]).contains("\"serve\""));
}

#[test]
fn a_folder_without_git_is_fine() {
    let scratch = Scratch::folder();
    scratch.write("a.py", "def f():\n    pass\n");
    assert!(ok(&scratch, &["query", "get", "f"]).contains("a.py:1-2 function def f()"));
}

#[test]
fn questions_of_processes_are_counted_for_prometheus() {
    let scratch = polyglot();
    ok(&scratch, &["query", "map"]);
    ok(&scratch, &["query", "map"]);
    fails(&scratch, &["query", "get", "Crat"], 2);
    let text = ok(&scratch, &["status", "--metrics"]);
    assert!(text.contains("# TYPE ratlas_query_seconds histogram\n"), "{text}");
    assert!(text.contains("ratlas_query_seconds_count{tool=\"repo_map\"} 2\n"), "{text}");
    assert!(text.contains("ratlas_query_errors_total{tool=\"get_symbol\",code="), "{text}");
    assert!(text.contains("ratlas_pending_files 0\n") && text.contains("ratlas_unresolved_ratio "), "{text}");
    assert!(ok(&scratch, &["status", "--metrics"]) == text, "looking counts nothing");
}

#[test]
fn a_definition_has_its_history() {
    let scratch = Scratch::new();
    scratch.write("a.py", "def f():\n    return 1\n\n\ndef g():\n    return 1\n");
    scratch.commit("start");
    scratch.write("a.py", "# more lines\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n");
    scratch.commit("change g alone");
    let of = |name: &str| ok(&scratch, &["query", "get", name, "--history"]);
    assert!(of("g").contains(": change g alone\n") && of("g").contains(": start\n"), "{}", of("g"));
    assert!(!of("f").contains("change g alone") && of("f").contains(": start\n"), "{}", of("f"));
}

#[test]
fn log_lines_under_v_are_json() {
    let scratch = polyglot();
    let output = ratlas(&scratch.root, &scratch.store()).args(["-v", "query", "map"]).output().unwrap();
    let lines: Vec<serde_json::Value> = String::from_utf8(output.stderr)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    assert!(lines.iter().any(|line| line["fields"]["tool"] == "repo_map"), "{lines:?}");
}

#[test]
fn numbers_and_blanks_are_refused_in_plain_words() {
    let scratch = polyglot();
    let error = fails(&scratch, &["query", "map", "--budget", "many"], 2);
    assert!(error.contains("`many`") && error.contains("a whole number is expected"), "{error}");
    for text in ["nan", "inf", "-0.5", "1.5", "much"] {
        let error = fails(&scratch, &["query", "callers", "Ledger", &format!("--min-confidence={text}")], 2);
        assert!(error.contains("a number from 0 to 1 is expected"), "{text}: {error}");
    }
    let error = fails(&scratch, &["query", "context", " "], 2);
    assert!(error.contains("needs the argument `task`"), "{error}");
}

#[test]
fn without_a_home_the_store_is_for_one_run() {
    let scratch = polyglot();
    let temporary = scratch.store();
    std::fs::create_dir_all(&temporary).unwrap();
    let mut command = ratlas(&scratch.root, &scratch.store());
    for name in ["RATLAS_STORE", "HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"] {
        command.env_remove(name);
    }
    let output = command.env("TMPDIR", &temporary).args(["index", "--format", "json"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("set RATLAS_STORE to keep it"), "{stderr}");
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "nothing stays");
}
