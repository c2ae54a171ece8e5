//! The store kept in order: `gc` never takes what is needed, `doctor` finds and mends what is broken.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ratlas::atlas::AtlasSource;
use ratlas::session::{Session, SessionOptions};

use crate::cli::ratlas;
use crate::git::Scratch;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn session(root: &Path, store: &Path) -> Session {
    let options = SessionOptions { store: Some(store.to_owned()), jobs: 1, ..SessionOptions::default() };
    Session::open(root, &options).unwrap()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut stack = vec![dir.to_owned()];
    while let Some(dir) = stack.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => stack.push(entry.path()),
                false => found.push(entry.path()),
            }
        }
    }
    found.sort();
    found
}

/// Makes every file of a store this old.
fn age(store: &Path, age: Duration) {
    for path in files(store) {
        let file = std::fs::File::options().append(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }
}

/// A repository with a branch, a tag, a linked worktree, a stash of an old state, and a state
/// that nothing points at any more.
fn busy() -> Scratch {
    let scratch = Scratch::new();
    let store = scratch.store();
    scratch.write("kept.py", "def kept():\n    return 1\n").commit("one");
    scratch.git(&["tag", "v1"]);
    scratch.git(&["checkout", "-q", "-b", "side"]);
    scratch.write("side.py", "def side():\n    return 2\n").commit("side");
    scratch.git(&["checkout", "-q", "main"]);
    scratch.write("main.py", "def of_main():\n    return 3\n").commit("two");
    scratch.git(&["worktree", "add", "-q", "-b", "linked", "../linked"]);
    let linked = scratch.root.parent().unwrap().join("linked");
    std::fs::write(linked.join("loose.py"), "def in_linked():\n    return 4\n").unwrap();
    for revision in ["side", "v1"] {
        session(&scratch.root, &store).at(revision).unwrap();
    }
    session(&linked, &store).index(false).unwrap();
    for n in 0..5 {
        scratch.write("main.py", &format!("def of_main():\n    return 'was {n}'\n"));
        session(&scratch.root, &store).index(false).unwrap();
    }
    scratch.write("untracked.py", "def untracked():\n    return 5\n");
    scratch.git(&["checkout", "-q", "main.py"]);
    session(&scratch.root, &store).index(false).unwrap();
    scratch
}

/// How many blobs are parsed to come back to every tree that something points at.
fn parsed_anew(scratch: &Scratch) -> usize {
    let store = scratch.store();
    let linked = scratch.root.parent().unwrap().join("linked");
    let mut n_parsed = session(&linked, &store).index(false).unwrap().counts.parsed;
    for revision in ["main", "side", "v1"] {
        scratch.git(&["checkout", "-q", "--detach", revision]);
        n_parsed += session(&scratch.root, &store).index(false).unwrap().counts.parsed;
    }
    scratch.git(&["checkout", "-q", "main"]);
    n_parsed
}

#[test]
fn gc_keeps_what_any_worktree_branch_or_tag_needs() {
    let scratch = busy();
    let store = scratch.store();
    age(&store, 30 * DAY);
    let session = session(&scratch.root, &store);
    let n_before = files(&store).len();
    let dry = session.sweep(Some(0), true).unwrap();
    assert_eq!(files(&store).len(), n_before, "a dry run removes nothing");
    let swept = session.sweep(Some(0), false).unwrap();
    assert_eq!((swept.removed.clone(), swept.after_bytes), (dry.removed, dry.after_bytes));
    assert!(swept.after_bytes < swept.before_bytes, "{swept:?}");
    assert_eq!(swept.n_needed, 5, "kept, side, main, in_linked, untracked");
    assert_eq!(parsed_anew(&scratch), 0);
    assert_eq!(session.sweep(None, false).unwrap().removed.len(), 0, "nothing is left to remove");
}

#[test]
fn gc_leaves_what_is_recent_or_being_written() {
    let scratch = busy();
    let store = scratch.store();
    std::fs::create_dir_all(store.join("tmp")).unwrap();
    std::fs::write(store.join("tmp/half"), "on its way").unwrap();
    let session = session(&scratch.root, &store);
    let n_before = files(&store).len();
    session.sweep(Some(0), false).unwrap();
    assert_eq!(files(&store).len(), n_before, "all is younger than the hour of grace");
    // Shards of an hour and more, named by manifests of this week: needed, cap or not.
    age(&store, Duration::from_secs(2 * 60 * 60));
    session.sweep(Some(0), false).unwrap();
    assert!(!store.join("tmp/half").exists());
    for n in 0..5 {
        scratch.write("main.py", &format!("def of_main():\n    return 'was {n}'\n"));
        assert_eq!(self::session(&scratch.root, &store).index(false).unwrap().counts.parsed, 0);
    }
}

#[test]
fn what_is_used_is_marked_and_stays() {
    let scratch = busy();
    let store = scratch.store();
    age(&store, 30 * DAY);
    scratch.write("main.py", "def of_main():\n    return 'was 3'\n");
    let session = session(&scratch.root, &store);
    session.fresh().unwrap();
    scratch.git(&["checkout", "-q", "main.py"]);
    session.sweep(Some(0), false).unwrap();
    scratch.write("main.py", "def of_main():\n    return 'was 3'\n");
    assert_eq!(self::session(&scratch.root, &store).index(false).unwrap().counts.parsed, 0);
    scratch.write("main.py", "def of_main():\n    return 'was 2'\n");
    assert_eq!(self::session(&scratch.root, &store).index(false).unwrap().counts.parsed, 1);
}

#[test]
fn packs_are_written_anew_without_what_nobody_needs() {
    let scratch = Scratch::new();
    let store = scratch.store();
    for n in 0..40 {
        scratch.write(&format!("m{n}.py"), &format!("def f{n}():\n    return {n}\n"));
    }
    scratch.commit("many");
    session(&scratch.root, &store).index(false).unwrap();
    for n in 0..30 {
        std::fs::remove_file(scratch.root.join(format!("m{n}.py"))).unwrap();
    }
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "--amend", "-m", "few"]);
    age(&store, 30 * DAY);
    let swept = session(&scratch.root, &store).sweep(None, false).unwrap();
    assert_eq!((swept.n_needed, swept.n_repacked), (10, 10), "{swept:?}");
    let session = session(&scratch.root, &store);
    assert_eq!(session.index(false).unwrap().counts.parsed, 0);
    assert_eq!(session.store().unwrap().n_objects, 10);
    assert!(session.check_store().damaged.is_empty());
}

#[test]
fn gc_says_what_it_did_in_both_forms() {
    let scratch = busy();
    age(&scratch.store(), 30 * DAY);
    let run = |arguments: &[&str]| {
        let output = ratlas(&scratch.root, &scratch.store()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let dry: serde_json::Value = serde_json::from_str(&run(&["gc", "--dry-run", "--format", "json"])).unwrap();
    assert_eq!((&dry["dry_run"], &dry["needed"]), (&true.into(), &5.into()), "{dry}");
    let text = run(&["gc", "--max-bytes", "1K"]);
    assert!(text.contains("removed: ") && text.contains("above the cap of 1024 bytes"), "{text}");
    assert!(run(&["gc"]).contains("removed: nothing"));
}

#[test]
fn doctor_finds_damage_and_repair_mends_it() {
    let scratch = Scratch::new();
    for n in 0..20 {
        scratch.write(&format!("m{n}.py"), &format!("import m{}\n\ndef f():\n    return {n}\n", (n + 1) % 20));
    }
    scratch.commit("one");
    let doctor = |arguments: &[&str]| {
        let output = ratlas(&scratch.root, &scratch.store()).arg("doctor").args(arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!errors.contains("panicked"), "{errors}");
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let run = |arguments: &[&str]| {
        assert!(ratlas(&scratch.root, &scratch.store()).args(arguments).output().unwrap().status.success());
    };
    run(&["index"]);
    scratch.write("m3.py", "def other():\n    pass\n");
    run(&["index"]);
    let (code, text) = doctor(&[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("ok: incremental links are those of a full link"), "{text}");
    for (folder, extension) in [("packs", "parquet"), ("packs", "idx"), ("loose", "parquet"), ("manifests", "manifest")]
    {
        let found = files(&scratch.store().join(folder));
        let path = found.iter().find(|path| path.extension().is_some_and(|e| e == extension)).unwrap();
        let whole = std::fs::read(path).unwrap();
        for broken in [whole[..whole.len() / 2].to_vec(), {
            let mut flipped = whole.clone();
            flipped[whole.len() / 3] ^= 0x55;
            flipped
        }] {
            std::fs::write(path, broken).unwrap();
            let (code, text) = doctor(&[]);
            assert_eq!(code, Some(4), "{folder} {extension}: {text}");
            assert!(text.contains("damaged: "), "{text}");
            let (code, text) = doctor(&["--repair"]);
            assert_eq!(code, Some(0), "{text}");
            let (code, text) = doctor(&[]);
            assert_eq!(code, Some(0), "{text}");
            run(&["index"]);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &whole).unwrap();
        }
    }
}

#[test]
fn doctor_mends_what_stands_where_the_store_is_to_write() {
    let scratch = Scratch::new();
    scratch.write("a.py", "def f():\n    pass\n").commit("one");
    let store = scratch.store();
    let run = |arguments: &[&str]| {
        let output = ratlas(&scratch.root, &store).args(arguments).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    };
    for place in ["packs", "loose", "manifests", "tmp", "stat", "trees"] {
        assert_eq!(run(&["index"]).0, Some(0));
        let _ = std::fs::remove_dir_all(store.join(place));
        std::fs::write(store.join(place), "no folder").unwrap();
        let (code, said) = run(&["doctor"]);
        assert!(code == Some(4) && said.contains(&format!("{place}: it is no folder")), "{place}: {said}");
        assert!(said.contains("help: run `ratlas doctor --repair`"), "{said}");
        let (code, said) = run(&["doctor", "--repair"]);
        assert_eq!(code, Some(0), "{place}: {said}");
        assert_eq!(run(&["doctor"]).0, Some(0), "{place}");
    }
    std::fs::create_dir_all(store.join("packs/x.parquet/below")).unwrap();
    let (code, said) = run(&["doctor"]);
    assert!(code == Some(4) && said.contains("x.parquet: it is no file"), "{said}");
    assert_eq!(run(&["doctor", "--repair"]).0, Some(0));
    assert!(!store.join("packs/x.parquet").exists());
}
