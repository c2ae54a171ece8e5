//! Kept trees: a new process that takes a tree as it was kept answers as one that links it anew,
//! to the byte, and whatever happens to the files it reads from.
//!
//! `RATLAS_KEPT=<clone> cargo test --release kept_tree_of_a_clone -- --nocapture` asks the same of
//! a real clone.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ratlas::atlas::{Atlas, AtlasSource};
use ratlas::session::{Session, SessionOptions};
use ratlas::tools;
use ratlas::tools::param::{Asker, Given};
use ratlas::tools::tool::{Desk, Options};
use serde_json::{Value, json};

use crate::git::Scratch;
use crate::link::files_of;

fn session(root: &Path, store: &Path) -> Session {
    let options = SessionOptions { store: Some(store.to_owned()), jobs: 1, ..SessionOptions::default() };
    Session::open(root, &options).unwrap()
}

/// A repository of all link fixtures and of all demos, a folder each.
fn fixtures() -> Scratch {
    let scratch = Scratch::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/link");
    for language in ["python", "typescript", "java"] {
        let mut found: Vec<PathBuf> = fs::read_dir(root.join(language)).unwrap().map(|e| e.unwrap().path()).collect();
        found.sort();
        for (at, fixture) in found.iter().enumerate() {
            for (path, content, _) in files_of(&fs::read_to_string(fixture).unwrap()) {
                scratch.write(&format!("{language}{at}/{path}"), &content);
            }
        }
    }
    scratch.write("README.md", "# Fixtures\n").write("tool.go", "package tool\n");
    scratch.write("broken.py", "def f(:\n    pass\n\ndef whole():\n    pass\n");
    scratch
}

/// What a tool answers, in both forms, or its error.
fn answer(desk: &Desk, name: &str, arguments: &Value) -> String {
    let tools = [tools::queries::REFS, tools::queries::DEPS, tools::queries::OUTLINE, tools::queries::NEIGHBORHOOD];
    let tool = tools::all().iter().chain(&tools).find(|tool| tool.name == name).unwrap();
    let given = Given::read(name, tool.params, arguments.as_object().unwrap(), Asker::Command);
    match given.and_then(|given| (tool.run)(desk, &given)) {
        Ok(mut answer) => {
            // The size of a store is not the tree's.
            answer.lines.retain(|line| !line.starts_with("store:"));
            answer.data.retain(|(field, _)| !field.starts_with("store"));
            format!("{}\n{}", answer.text(), answer.json())
        }
        Err(error) => format!("{error} {:?}", error.hint),
    }
}

/// Every tool about some symbols of a tree, and about the tree.
fn questions(atlas: &Atlas, n_symbols: usize) -> Vec<(&'static str, Value)> {
    let view = &atlas.view;
    let mut found = vec![
        ("repo_map", json!({})),
        ("index_status", json!({})),
        ("get_context", json!({"task": "where are orders placed and boxes opened"})),
        ("find_symbol", json!({"query": "no_such_name_at_all"})),
        ("find_symbol", json!({"query": "get"})),
        ("find_symbol", json!({"query": "e", "limit": 500})),
        ("find_symbol", json!({"query": "a.b"})),
        ("callers_of", json!({"qualname": "sym_0123456789abcdef"})),
    ];
    let all: usize = view.files.iter().map(|file| file.facts.symbols.len()).sum();
    let step = (all / n_symbols).max(1);
    let symbols = view.files.iter().flat_map(|file| file.facts.symbols.iter().map(move |symbol| (file, symbol)));
    for (file, symbol) in symbols.step_by(step) {
        let (name, qualname) = (file.facts.name(symbol.name), file.facts.name(symbol.qualname));
        let handle = ratlas::base::id::symbol_handle(file.path.as_str(), qualname);
        let half: String = name.chars().take(name.chars().count() / 2).collect();
        for query in [name, qualname, &name.to_uppercase(), &half, &format!("x.{name}")] {
            found.push(("find_symbol", json!({"query": query})));
        }
        found.push(("find_symbol", json!({"query": half, "kind": "method", "limit": 3})));
        found.push(("callers_of", json!({"qualname": handle})));
        found.push(("callers_of", json!({"qualname": name})));
        found.push(("callees_of", json!({"qualname": qualname, "file": file.path.as_str()})));
        found.push(("get_symbol", json!({"qualname": handle, "include_body": true})));
        found.push(("refs", json!({"qualname": handle})));
        found.push(("neighborhood", json!({"qualname": handle})));
        found.push(("outline", json!({"qualname": file.path.as_str()})));
        found.push(("deps", json!({"qualname": file.path.as_str()})));
    }
    // Impact walks the whole tree each time.
    for file in view.files.iter().step_by((view.files.len() / 8).max(1)) {
        found.push(("impact_of", json!({"target": file.path.as_str()})));
    }
    found
}

fn desk(session: Session) -> Desk {
    Desk::new(Arc::new(session), Options::default())
}

fn is_kept(atlas: &Atlas) -> bool {
    atlas.view.directory.is_some()
}

/// Asks a kept tree and a freshly linked one the same, a new process for some questions each.
fn compare(root: &Path, store: &Path, empty: &Path, n_symbols: usize) {
    let linked = session(root, store).fresh().unwrap();
    assert!(!is_kept(&linked), "it was linked just now");
    let fresh = session(root, empty);
    let expected = fresh.fresh().unwrap();
    let questions = questions(&expected, n_symbols);
    let fresh = desk(fresh);
    for some in questions.chunks(25) {
        let kept = session(root, store);
        let atlas = kept.fresh().unwrap();
        assert!(is_kept(&atlas));
        assert!(
            atlas.view.files.iter().all(|file| file.facts.made().is_none() || file.dirty),
            "what git has is not read before it is asked for"
        );
        let kept = desk(kept);
        for (name, arguments) in some {
            assert_eq!(answer(&kept, name, arguments), answer(&fresh, name, arguments), "{name} {arguments}");
        }
    }
    let kept = session(root, store).fresh().unwrap();
    assert!(is_kept(&kept));
    assert_eq!((&kept.graph, &kept.header), (&expected.graph, &expected.header));
    assert!(kept.view.files.iter().zip(&expected.view.files).all(|(kept, fresh)| kept.facts == fresh.facts));
    assert_eq!((&kept.view.others, &kept.view.config), (&expected.view.others, &expected.view.config));
}

#[test]
fn a_kept_tree_answers_as_a_fresh_link() {
    let scratch = fixtures();
    scratch.commit("one");
    let empty = tempfile::tempdir().unwrap();
    compare(&scratch.root, &scratch.store(), empty.path(), 25);
    // The same of a tree with changes in it.
    scratch
        .write("broken.py", "def f():\n    return whole()\n\ndef whole():\n    pass\n")
        .write("new.py", "import broken\n");
    compare(&scratch.root, &scratch.store(), &empty.path().join("other"), 2);
}

#[test]
fn kept_tree_of_a_clone() {
    let Some(clone) = std::env::var_os("RATLAS_KEPT") else { return };
    let stores = tempfile::tempdir().unwrap();
    compare(Path::new(&clone), &stores.path().join("one"), &stores.path().join("other"), 60);
}

#[test]
fn both_sides_of_a_diff_are_taken_as_kept() {
    let scratch = fixtures();
    scratch.commit("one");
    scratch.write("broken.py", "def f():\n    return whole()\n\ndef whole():\n    pass\n");
    scratch.commit("two");
    let ask = |store: &Path| {
        let desk = desk(session(&scratch.root, store));
        answer(&desk, "impact_of", &json!({"diff": "HEAD~1..HEAD"}))
    };
    let first = ask(&scratch.store());
    assert_eq!(ask(&scratch.store()), first);
    let session = session(&scratch.root, &scratch.store());
    assert!(is_kept(&session.at("HEAD").unwrap()) && is_kept(&session.at("HEAD~1").unwrap()));
}

/// The files that a kept tree is read from.
fn files_of_store(store: &Path, folders: &[&str]) -> Vec<PathBuf> {
    let files = folders.iter().flat_map(|folder| fs::read_dir(store.join(folder)).unwrap().map(|e| e.unwrap().path()));
    let files: Vec<PathBuf> = files.collect();
    assert!(!files.is_empty());
    files
}

/// What is done to a file under its reader.
type Damage = fn(&Path);

#[test]
fn files_may_vanish_change_and_shrink_under_a_reader() {
    let scratch = fixtures();
    scratch.commit("one");
    let expected = session(&scratch.root, &scratch.store()).fresh().unwrap();
    let damages: [(&str, Damage); 5] = [
        ("removed", |file| fs::remove_file(file).unwrap()),
        ("cut in half", |file| {
            let open = OpenOptions::new().write(true).open(file).unwrap();
            open.set_len(open.metadata().unwrap().len() / 2).unwrap();
        }),
        ("emptied", |file| OpenOptions::new().write(true).open(file).unwrap().set_len(0).unwrap()),
        ("overwritten", |file| fs::write(file, vec![7; fs::metadata(file).unwrap().len() as usize]).unwrap()),
        ("replaced", |file| {
            let other = file.with_extension("tmp");
            fs::write(&other, b"something else").unwrap();
            fs::rename(&other, file).unwrap();
        }),
    ];
    for (what, damage) in damages {
        let reader = session(&scratch.root, &scratch.store());
        let atlas = reader.fresh().unwrap();
        assert!(is_kept(&atlas), "before it is {what}");
        files_of_store(&scratch.store(), &["trees", "flat"]).iter().for_each(|file| damage(file));
        assert_eq!(atlas.graph, expected.graph, "{what}");
        let desk = desk(reader);
        let found = answer(&desk, "find_symbol", &json!({"query": "get"}));
        assert!(found.contains("get"), "{what}: {found}");
        assert!(atlas.view.files.iter().zip(&expected.view.files).all(|(a, b)| a.facts == b.facts), "{what}");
        // Who comes next makes it anew, and the one after that finds it.
        assert_eq!(session(&scratch.root, &scratch.store()).fresh().unwrap().graph, expected.graph, "{what}");
        let again = session(&scratch.root, &scratch.store()).fresh().unwrap();
        assert!(is_kept(&again), "after it was {what}");
        assert_eq!(again.graph, expected.graph, "{what}");
    }
}

#[test]
fn facts_that_nothing_holds_any_more_are_extracted_again() {
    let scratch = fixtures();
    scratch.commit("one");
    let expected = session(&scratch.root, &scratch.store()).fresh().unwrap();
    let atlas = session(&scratch.root, &scratch.store()).fresh().unwrap();
    assert!(is_kept(&atlas));
    for file in files_of_store(&scratch.store(), &["flat"]) {
        OpenOptions::new().write(true).open(file).unwrap().set_len(0).unwrap();
    }
    fs::remove_dir_all(scratch.store().join("packs")).unwrap();
    // One is another on disk by now: git has what it was.
    scratch.write("broken.py", "def other():\n    pass\n");
    assert!(atlas.view.files.iter().zip(&expected.view.files).all(|(a, b)| a.facts == b.facts));
    // A tree whose shards are gone is not taken as kept.
    scratch.git(&["checkout", "-q", "broken.py"]);
    assert!(!is_kept(&session(&scratch.root, &scratch.store()).fresh().unwrap()));
}

#[test]
fn facts_of_a_changed_file_outlive_its_shard_and_its_next_change() {
    let scratch = fixtures();
    scratch.commit("one");
    scratch.write("broken.py", "def f():\n    return whole()\n\ndef whole():\n    pass\n");
    let expected = session(&scratch.root, &scratch.store()).fresh().unwrap();
    let atlas = session(&scratch.root, &scratch.store()).fresh().unwrap();
    assert!(is_kept(&atlas));
    for folder in ["packs", "flat"] {
        fs::remove_dir_all(scratch.store().join(folder)).unwrap();
    }
    let loose = fs::read_dir(scratch.store()).unwrap().map(|entry| entry.unwrap().path());
    for folder in loose.filter(|path| path.is_dir() && !path.ends_with("trees")) {
        fs::remove_dir_all(folder).unwrap();
    }
    scratch.write("broken.py", "def other():\n    pass\n");
    assert!(atlas.view.files.iter().zip(&expected.view.files).all(|(a, b)| a.facts == b.facts));
}

#[test]
fn no_byte_of_a_kept_tree_may_change_unseen() {
    let scratch = Scratch::new();
    scratch.write("a.py", "def f(x):\n    return g(x)\n\n\ndef g(x):\n    return x\n");
    scratch.commit("one");
    let expected = session(&scratch.root, &scratch.store()).fresh().unwrap();
    let [file] = &files_of_store(&scratch.store(), &["trees"])[..] else { panic!("one tree is kept") };
    let whole = fs::read(file).unwrap();
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(file, &bytes).unwrap();
        let atlas = session(&scratch.root, &scratch.store()).fresh().unwrap();
        assert_eq!(atlas.graph, expected.graph, "byte {at}");
        let found = answer(&desk(session(&scratch.root, &scratch.store())), "find_symbol", &json!({"query": "g"}));
        assert!(found.contains("a.py:5-6"), "byte {at}: {found}");
    }
}

#[test]
fn a_warm_session_takes_a_kept_tree_for_a_switch_and_links_on_for_an_edit() {
    let scratch = Scratch::new();
    let write = |n_files: usize, value: usize| {
        for n in 0..n_files {
            scratch.write(&format!("m{n}.py"), &format!("def f{n}():\n    return {value}\n"));
        }
    };
    write(100, 0);
    scratch.commit("one");
    let warm = session(&scratch.root, &scratch.store());
    let first = warm.fresh().unwrap();
    warm.prepare();
    write(1, 1);
    assert!(!is_kept(&warm.fresh().unwrap()));
    write(1, 0);
    let back = warm.fresh().unwrap();
    assert!(!is_kept(&back), "an edit taken back is an edit");
    assert_eq!(back.graph, first.graph);
    write(100, 2);
    scratch.commit("two");
    assert!(!is_kept(&warm.fresh().unwrap()));
    warm.prepare();
    scratch.git(&["checkout", "-q", "HEAD~1"]);
    let back = warm.fresh().unwrap();
    assert!(is_kept(&back), "it was linked before");
    assert_eq!(back.graph, first.graph);
    write(1, 3);
    let edited = warm.fresh().unwrap();
    assert_eq!(edited.graph, session(&scratch.root, &scratch.store().join("other")).fresh().unwrap().graph);
}

#[test]
fn few_trees_are_kept() {
    let scratch = Scratch::new();
    for n in 0..12 {
        scratch.write("a.py", &format!("def f{n}():\n    pass\n"));
        scratch.commit("one more");
        session(&scratch.root, &scratch.store()).fresh().unwrap();
    }
    assert_eq!(files_of_store(&scratch.store(), &["trees"]).len(), 8);
}
