//! `push`, `pull`, `pack` as people and pipelines use them.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::cli::{polyglot, ratlas};
use crate::git::Scratch;

use super::server::Server;

fn run(scratch: &Scratch, store: &Path, arguments: &[&str]) -> Output {
    let mut command = ratlas(&scratch.root, store);
    command.env("USER", "ann").env_remove("GITHUB_BASE_REF");
    command.args(arguments).output().unwrap()
}

fn ok(scratch: &Scratch, store: &Path, arguments: &[&str]) -> (String, String) {
    let output = run(scratch, store, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    (String::from_utf8(output.stdout).unwrap(), stderr)
}

fn json(scratch: &Scratch, store: &Path, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--format", "json"]).collect();
    serde_json::from_str(&ok(scratch, store, &arguments).0).unwrap()
}

/// A clone of a repository, elsewhere.
fn clone(of: &Scratch) -> Scratch {
    let clone = Scratch::folder();
    let from = of.root.to_str().unwrap().to_owned();
    std::fs::remove_dir(&clone.root).unwrap();
    let parent = clone.root.parent().unwrap().to_owned();
    crate::git::git(&parent, &["clone", "-q", &from, "project"]);
    clone
}

#[test]
fn a_laptop_parses_nothing_that_ci_has_parsed() {
    let ci = polyglot();
    let remote = tempfile::tempdir().unwrap();
    let server = Server::start(remote.path(), None);
    let pushed = json(&ci, &ci.store(), &["push", &server.address, "--namespace", "main"]);
    assert_eq!((&pushed["shards"], &pushed["was_there"]), (&5.into(), &false.into()));
    assert!(remote.path().join("ratlas-remote.json").is_file());

    let laptop = clone(&ci);
    let pulled = json(&laptop, &laptop.store(), &["pull", &server.address]);
    assert_eq!((&pulled["shards"], &pulled["left"], &pulled["parsed"]), (&5.into(), &0.into(), &0.into()), "{pulled}");
    let graph = ["export", "edges", "--format", "jsonl"];
    assert_eq!(ok(&laptop, &laptop.store(), &graph), ok(&ci, &ci.store(), &graph));

    // Work on top of it: what CI has is used, the rest is extracted here.
    laptop.write("src/shop/cart.py", "def total(price):\n    return price\n");
    laptop.commit("two");
    let other = laptop.root.parent().unwrap().join("other-store");
    let pulled = json(&laptop, &other, &["pull", &server.address]);
    assert_eq!((&pulled["behind"], &pulled["left"], &pulled["parsed"]), (&1.into(), &1.into(), &1.into()), "{pulled}");
    let (said, _) = ok(&laptop, &laptop.store(), &["push", &server.address]);
    assert!(said.contains("4 reused, as `dev-ann`"), "{said}");
}

#[test]
fn without_a_remote_the_tree_is_indexed_here() {
    let scratch = polyglot();
    let store = scratch.store();
    let nowhere = scratch.root.parent().unwrap().join("nowhere");
    let nowhere = nowhere.to_str().unwrap();
    let (said, warned) = ok(&scratch, &store, &["pull", nowhere]);
    assert!(
        said.contains("5 contents parsed") && warned.starts_with("warning: cannot read from the remote"),
        "{warned}"
    );
    let fresh = scratch.root.parent().unwrap().join("fresh");
    let (_, warned) = ok(&scratch, &fresh, &["pull", nowhere, "--offline"]);
    assert!(warned.contains("offline"), "{warned}");
    for arguments in [
        vec!["pull", nowhere, "--require-remote"],
        vec!["pull", "--require-remote"],
        vec!["push", nowhere, "--offline"],
    ] {
        let fresh = scratch.root.parent().unwrap().join("fresher");
        let output = run(&scratch, &fresh, &arguments);
        assert_eq!(output.status.code(), Some(5), "{arguments:?}");
    }
}

#[test]
fn a_remote_that_the_repository_names_waits_for_the_users_word() {
    let ci = polyglot();
    let remote = tempfile::tempdir().unwrap();
    let address = remote.path().to_str().unwrap().to_owned();
    ok(&ci, &ci.store(), &["push", &address, "--namespace", "main"]);
    ci.write("ratlas.toml", &format!("[remote]\nurl = \"{address}\"\n"));
    let store = ci.root.parent().unwrap().join("laptop");
    let output = run(&ci, &store, &["pull", "--require-remote"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(5) && error.contains("have not agreed") && error.contains("--trust"),
        "{error}"
    );
    let pulled = json(&ci, &store, &["pull", "--trust"]);
    assert_eq!(pulled["shards"], 5, "{pulled}");
    let (said, _) = ok(&ci, &store, &["pull", "--require-remote"]);
    assert!(said.starts_with("nothing to fetch"), "agreed once: {said}");
    ci.write("ratlas.toml", "[remote]\nnamespace = \"pr-3\"\n");
    assert_eq!(run(&ci, &store, &["pull"]).status.code(), Some(2), "whose facts are believed is the user's to say");
    ci.write("ratlas.toml", "required_version = \"99\"\n");
    let output = run(&ci, &store, &["pull"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("ratlas 99 is required"), "{output:?}");
}

#[test]
fn a_packed_tree_is_the_same_file_for_everybody() {
    let scratch = polyglot();
    let pack = |store: &Path| json(&scratch, store, &["pack", "--all"]);
    let other = scratch.root.parent().unwrap().join("other");
    ok(&scratch, &other, &["index", "--jobs", "1"]);
    let (one, two) = (pack(&scratch.store()), pack(&other));
    assert_eq!((&one["packs"], &one["shards"]), (&two["packs"], &5.into()));
    let name = one["packs"][0].as_str().unwrap();
    let bytes = |store: &Path| std::fs::read(store.join("packs").join(name)).unwrap();
    assert_eq!(bytes(&scratch.store()), bytes(&other));
    assert_eq!(json(&scratch, &other, &["index"])["parsed"], 0);

    // Loose shards become a pack, and nothing is lost.
    scratch.write("src/shop/new.py", "def fresh():\n    pass\n");
    ok(&scratch, &other, &["index"]);
    let packed = json(&scratch, &other, &["pack"]);
    assert_eq!((&packed["shards"], &packed["replaced"]), (&1.into(), &1.into()), "{packed}");
    assert_eq!(json(&scratch, &other, &["index", "--full"])["parsed"], 6);
}

#[test]
fn a_false_shard_is_found_and_its_pack_set_aside() {
    use ratlas::base::dialect::Dialect;
    use ratlas::base::id::{BlobId, ShardKey};
    use ratlas::extract::{extract, fingerprint::fingerprint};
    let scratch = polyglot();
    let hex = scratch.git(&["rev-parse", "HEAD:src/shop/cart.py"]);
    let blob = BlobId::from_hex(hex.trim()).unwrap();
    let key = ShardKey { blob, dialect: Dialect::Py, fingerprint: fingerprint(Dialect::Py) };
    // Well-formed facts under the right name, of other bytes.
    let store = ratlas::store::objects::Store::open(&scratch.store()).unwrap();
    let wrong = std::sync::Arc::new(extract(Dialect::Py, b"def total(price):\n    pass\n"));
    store.put_pack(&[(key, wrong)]).unwrap();
    let output = run(&scratch, &scratch.store(), &["verify", "--all"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("differs: src/shop/cart.py\nset aside: "), "{said}");
    assert_eq!(std::fs::read_dir(scratch.store().join("quarantine")).unwrap().count(), 1);
    assert_eq!(ok(&scratch, &scratch.store(), &["verify", "--sample", "100%"]).0, "5 shards of 5: equal\n");
}

#[test]
fn flat_tables_lie_side_by_side() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let scratch = polyglot();
    let maps = scratch.root.parent().unwrap().join("maps");
    let (said, _) = ok(&scratch, &scratch.store(), &["export", "--layout", "hive", maps.to_str().unwrap()]);
    assert!(said.starts_with("files: 6 rows\nsymbols: "), "{said}");
    let read = |table: &str| {
        let file = maps.join(table).join("repository=project/part-0.parquet");
        SerializedFileReader::new(std::fs::File::open(file).unwrap()).unwrap()
    };
    let files = read("files");
    let rows: Vec<String> = files.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
    assert!(rows[0].starts_with("{file: \"core/src/main/java/p/Ledger.java\", blob: \""), "{rows:?}");
    assert!(rows.iter().any(|row| row.contains("main.go") && row.contains("skip_reason: \"language\"")), "{rows:?}");
    let metadata = files.metadata().file_metadata().key_value_metadata().unwrap();
    assert!(metadata.iter().any(|pair| pair.key == "ratlas.schema"));
    // Rows print as `{symbol_id: "sym_…", …}`.
    let ids = |table: &str, column: &str| -> Vec<String> {
        let rows = read(table).get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect::<Vec<_>>();
        let id =
            |row: &String| row.split_once(&format!("{column}: \"")).unwrap().1.split('"').next().unwrap().to_owned();
        rows.iter().map(id).collect()
    };
    let symbols = ids("symbols", "symbol_id");
    assert!(symbols.iter().all(|id| id.starts_with("sym_")));
    for end in ["src_id", "dst_id"] {
        assert!(ids("edges", end).iter().all(|id| symbols.contains(id)), "{end}");
    }
    let output = run(&scratch, &scratch.store(), &["export", "edgez"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn repacking_merges_what_many_pushes_left() {
    let ci = polyglot();
    let remote = tempfile::tempdir().unwrap();
    let address = remote.path().to_str().unwrap();
    for n in 0..4 {
        ci.write(&format!("src/shop/more_{n}.py"), &format!("def more_{n}():\n    return {n}\n"));
        ci.commit("more");
        ok(&ci, &ci.store(), &["push", address, "--namespace", "main"]);
    }
    let pulled = |store: &str| {
        let store = ci.root.parent().unwrap().join(store);
        let pulled = json(&ci, &store, &["pull", address, "--require-remote"]);
        assert_eq!((&pulled["left"], &pulled["parsed"]), (&0.into(), &0.into()), "{pulled}");
        (pulled["packs"].as_u64().unwrap(), ok(&ci, &store, &["export", "edges"]).0)
    };
    let (n_before, graph) = pulled("before");
    let (said, _) = ok(&ci, &ci.store(), &["remote", "repack", address, "--namespace", "main"]);
    assert!(said.starts_with("9 shards in 1 pack"), "{said}");
    assert!(n_before > 1);
    assert_eq!(pulled("after"), (1, graph));
    // Once more, nothing is another: packs are named by content.
    ok(&ci, &ci.store(), &["remote", "repack", address, "--namespace", "main"]);
    assert_eq!(pulled("again").0, 1);
}

#[test]
fn a_remote_is_cleared_under_both_names_of_the_command() {
    let ci = polyglot();
    let remote = tempfile::tempdir().unwrap();
    let address = remote.path().to_str().unwrap();
    ok(&ci, &ci.store(), &["push", address, "--namespace", "main"]);
    let first = ci.git(&["rev-parse", "HEAD"]);
    ci.write("src/shop/cart.py", "def total(price):\n    return 0\n");
    ci.git(&["commit", "-q", "-a", "--amend", "-m", "other"]);
    ok(&ci, &ci.store(), &["remote", "repack", address, "--namespace", "main"]);
    // Left by a writer that was killed.
    let half = remote.path().join("v1/main/commits/.77-0.tmp");
    std::fs::write(&half, "half").unwrap();
    let young = ["gc", "--remote", address, "--namespace", "main"];
    assert!(ok(&ci, &ci.store(), &young).0.contains("0 written down, 0 removed"), "all is younger than 30 days");
    let mut clear: Vec<Vec<&str>> = vec![young.to_vec(), ["remote", "gc", address, "--namespace", "main"].to_vec()];
    clear.iter_mut().for_each(|arguments| arguments.extend(["--keep-days", "0", "--grace-hours", "0"]));
    // The first tree: its commit, manifest, pack and index; and what is half.
    assert!(ok(&ci, &ci.store(), &clear[0]).0.contains("5 written down, 0 removed"));
    assert!(ok(&ci, &ci.store(), &clear[1]).0.contains("0 written down, 5 removed"));
    assert!(!half.exists());
    let fetched = ci.root.parent().unwrap().join("fetched");
    let pulled = json(&ci, &fetched, &["pull", address, "--require-remote"]);
    assert_eq!((&pulled["left"], &pulled["parsed"]), (&0.into(), &0.into()), "{pulled}");
    ci.git(&["checkout", "-q", first.trim()]);
    let pulled = json(&ci, &fetched, &["pull", address]);
    assert_eq!(pulled["parsed"], 1, "what is gone is extracted: {pulled}");
    for wrong in [["gc", "--namespace", "main"].as_slice(), &["gc", "--remote", address, "--dry-run"]] {
        assert_eq!(run(&ci, &ci.store(), wrong).status.code(), Some(2));
    }
}

#[test]
fn a_build_without_clouds_says_so() {
    if cfg!(feature = "cloud") {
        return;
    }
    let scratch = polyglot();
    for address in ["s3://b/x", "gs://b", "az://c/x"] {
        let output = run(&scratch, &scratch.store(), &["pull", address]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains("this build has no cloud"), "{said}");
        assert!(said.contains("--features cloud"), "{said}");
    }
}
