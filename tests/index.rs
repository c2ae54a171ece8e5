//! The write path and the session: what is parsed, what is reused, and that both give one view.

use std::path::Path;

use ratlas::atlas::{Atlas, AtlasSource};
use ratlas::base::error::ErrorKind;
use ratlas::base::path::RepoPath;
use ratlas::facts::canonical;
use ratlas::index::build::Counts;
use ratlas::session::{Session, SessionOptions};
use ratlas::view::SkipReason;

use crate::git::Scratch;

fn session(root: &Path, store: &Path, jobs: usize) -> Session {
    let options = SessionOptions { store: Some(store.to_owned()), jobs, ..SessionOptions::default() };
    Session::open(root, &options).unwrap()
}

/// Indexes in a new session: no memory but the store.
fn index(scratch: &Scratch) -> Counts {
    session(&scratch.root, &scratch.store(), 2).index(false).unwrap().counts
}

/// A view as text: each file with the digest of its facts, each other file with its reason.
fn text(atlas: &Atlas) -> String {
    let files =
        atlas.view.files.iter().map(|f| format!("{} {} {} {}", f.path, f.blob, f.dialect, canonical::digest(&f.facts)));
    let others = atlas.view.others.iter().map(|o| format!("{} {} {}", o.path, o.blob, o.reason.as_str()));
    let config = atlas.view.config.iter().map(|(path, bytes)| format!("{path} {}", bytes.len()));
    files.chain(others).chain(config).collect::<Vec<_>>().join("\n")
}

fn polyglot() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("src/a.py", "import os\n\ndef f(x):\n    return os.path.join(x)\n");
    scratch.write("src/b.ts", "export function g(a: string) { return a.trim(); }\n");
    scratch.write("src/C.java", "package c;\nclass C { int m() { return 1; } }\n");
    scratch.write("src/broken.py", "def f(:\n    pass\n\ndef whole():\n    pass\n");
    scratch.write("src/twin.py", "import os\n\ndef f(x):\n    return os.path.join(x)\n");
    scratch.write("gen/api.ts", "// @generated\nexport const x = 1;\n");
    scratch.write("gen/min.js", &"function a(b){return b};".repeat(400));
    scratch.write("gen/nul.py", "x = '\0'\n").write("gen/large.py", &"x = 1\n".repeat(200_000));
    scratch.write("README.md", "# Read me\n").write("package.json", "{\"name\": \"x\"}\n");
    scratch.write(".env", "KEY=secret\n").write("secrets/load.py", "KEY = 1\n");
    scratch
}

#[test]
fn every_file_is_indexed_or_skipped_with_a_reason() {
    let scratch = polyglot();
    scratch.commit("one");
    let counts = index(&scratch);
    assert_eq!((counts.files, counts.indexed, counts.parsed, counts.reused, counts.pending), (13, 5, 4, 0, 0));
    let skipped: Vec<_> = counts.skipped.iter().map(|(reason, n)| (*reason, *n)).collect();
    let expected = [
        (SkipReason::Language, 2),
        (SkipReason::Private, 2),
        (SkipReason::TooLarge, 1),
        (SkipReason::Minified, 1),
        (SkipReason::Generated, 1),
        (SkipReason::Binary, 1),
    ];
    assert_eq!(skipped, expected);
    assert_eq!(counts.files, counts.indexed + counts.skipped.values().sum::<usize>());
    let view = session(&scratch.root, &scratch.store(), 1).fresh().unwrap().view.clone();
    assert_eq!(view.config.keys().map(|p| p.as_str()).collect::<Vec<_>>(), ["package.json"]);
}

#[test]
fn a_second_run_parses_nothing_and_an_edit_one_file() {
    let scratch = polyglot();
    scratch.commit("one");
    index(&scratch);
    let again = index(&scratch);
    assert_eq!((again.parsed, again.indexed), (0, 5));
    scratch.write("src/a.py", "def f(x, y):\n    return y\n").write("src/new.py", "n = 1\n");
    assert_eq!(index(&scratch).parsed, 2);
    assert_eq!(index(&scratch).parsed, 0);
    // Committed, it is the same blob; reverted, the old one is still known.
    scratch.commit("two");
    assert_eq!(index(&scratch).parsed, 0);
    scratch.git(&["checkout", "-q", "HEAD~1"]);
    assert_eq!(index(&scratch).parsed, 0);
}

#[test]
fn worktrees_share_a_store() {
    let scratch = polyglot();
    scratch.commit("one");
    index(&scratch);
    scratch.git(&["worktree", "add", "-q", "-b", "other", "../linked"]);
    let linked = scratch.root.parent().unwrap().join("linked");
    let counts = session(&linked, &scratch.store(), 2).index(false).unwrap().counts;
    assert_eq!((counts.parsed, counts.indexed), (0, 5));
}

#[test]
fn equal_trees_give_equal_views_and_stores() {
    let mut texts = Vec::new();
    let mut stores = Vec::new();
    for jobs in [1, 2, 3] {
        let scratch = polyglot();
        scratch.commit("one");
        for n in 0..40 {
            scratch.write(&format!("many/m{n}.py"), &format!("def f{n}():\n    return {n}\n"));
        }
        let session = session(&scratch.root, &scratch.store(), jobs);
        session.index(false).unwrap();
        texts.push(text(&session.fresh().unwrap()));
        let mut files = Vec::new();
        for folder in ["packs", "loose", "manifests"] {
            let mut stack = vec![scratch.store().join(folder)];
            while let Some(dir) = stack.pop() {
                for entry in std::fs::read_dir(dir).into_iter().flatten().map(Result::unwrap) {
                    match entry.file_type().unwrap().is_dir() {
                        true => stack.push(entry.path()),
                        false => files.push((entry.file_name(), std::fs::read(entry.path()).unwrap())),
                    }
                }
            }
        }
        files.sort();
        assert!(files.len() >= 3);
        let home = scratch.root.parent().unwrap().to_string_lossy().into_owned().into_bytes();
        assert!(!files.iter().any(|(_, bytes)| bytes.windows(home.len()).any(|w| w == home)));
        stores.push(files);
    }
    assert!(texts.windows(2).all(|pair| pair[0] == pair[1]));
    assert!(stores.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn overlay_equals_a_fresh_index_after_every_edit() {
    let scratch = polyglot();
    scratch.commit("one");
    let kept = session(&scratch.root, &scratch.store(), 2);
    let edits: [&dyn Fn(); 6] = [
        &|| assert!(scratch.write("src/a.py", "def changed():\n    pass\n").root.is_dir()),
        &|| std::fs::remove_file(scratch.root.join("src/b.ts")).unwrap(),
        &|| std::fs::rename(scratch.root.join("src/twin.py"), scratch.root.join("src/moved.py")).unwrap(),
        &|| assert!(scratch.write("src/broken.py", "def f():\n    pass\n").root.is_dir()),
        &|| drop(scratch.git(&["stash", "-q", "-u"])),
        &|| drop(scratch.git(&["stash", "pop", "-q"])),
    ];
    for edit in edits {
        edit();
        let overlay = kept.fresh().unwrap();
        let other = tempfile::tempdir().unwrap();
        let scratch_built = session(&scratch.root, other.path(), 1).fresh().unwrap();
        assert_eq!(text(&overlay), text(&scratch_built));
        assert_eq!(overlay.graph, scratch_built.graph);
        assert_eq!(overlay.header, scratch_built.header);
    }
}

#[test]
fn revisions_are_the_trees_they_name() {
    let scratch = polyglot();
    let one = scratch.commit("one");
    scratch.write("src/a.py", "def other():\n    pass\n").commit("two");
    let session = session(&scratch.root, &scratch.store(), 2);
    let fresh = session.fresh().unwrap();
    let head = session.at("HEAD").unwrap();
    assert_eq!(text(&fresh), text(&head));
    let old = session.at("HEAD~1").unwrap();
    assert_eq!(old.header.commit, Some(one.clone()));
    let path = RepoPath::new("src/a.py").unwrap();
    assert!(session.read(&old, &path).unwrap().starts_with(b"import os"));
    assert!(session.read(&fresh, &path).unwrap().starts_with(b"def other"));
    assert_eq!(session.read(&fresh, &RepoPath::new("README.md").unwrap()).unwrap(), b"# Read me\n");
    assert!(session.read(&fresh, &RepoPath::new("secrets/load.py").unwrap()).is_err());
    assert_eq!(session.merge_base("HEAD", "HEAD~1").unwrap(), one);
    assert_eq!(session.at("nonesuch").unwrap_err().kind, ErrorKind::UnknownRevision);
    scratch.write("src/a.py", "uncommitted = 1\n");
    assert!(session.read(&session.fresh().unwrap(), &path).unwrap().starts_with(b"uncommitted"));
    assert!(session.read(&session.at("HEAD").unwrap(), &path).unwrap().starts_with(b"def other"));
}

#[test]
fn patterns_of_the_user_are_redacted_into_shards_of_their_own() {
    let scratch = Scratch::new();
    scratch.write("a.py", "def f():\n    '''Asks the host zebra-9 for help.'''\n").commit("one");
    index(&scratch);
    let options = SessionOptions {
        store: Some(scratch.store()),
        redact_patterns: vec!["zebra-[0-9]".to_owned()],
        ..SessionOptions::default()
    };
    let session = Session::open(&scratch.root, &options).unwrap();
    assert_eq!(session.index(false).unwrap().counts.parsed, 1);
    let view = &session.fresh().unwrap().view;
    assert!(!view.files[0].facts.names.iter().any(|name| name.contains("zebra")));
    assert_eq!(session.store().unwrap().n_objects, 2);
    let bad = SessionOptions { redact_patterns: vec!["(".to_owned()], ..options };
    assert_eq!(Session::open(&scratch.root, &bad).err().unwrap().kind, ErrorKind::Config);
}

#[test]
fn peeking_writes_nothing() {
    let scratch = polyglot();
    scratch.commit("one");
    let peeked = session(&scratch.root, &scratch.store(), 1).peek().unwrap();
    assert_eq!((peeked.counts.pending, peeked.counts.indexed), (8, 0));
    assert_eq!(peeked.store_bytes, 0);
    index(&scratch);
    scratch.write("src/a.py", "x = 1\n");
    std::fs::remove_file(scratch.root.join("src/b.ts")).unwrap();
    let peeked = session(&scratch.root, &scratch.store(), 1).peek().unwrap();
    assert_eq!((peeked.counts.pending, peeked.counts.indexed), (1, 3));
    assert_eq!(peeked.dirty.iter().map(|p| p.as_str()).collect::<Vec<_>>(), ["src/a.py", "src/b.ts"]);
}

#[test]
fn folders_without_git_are_indexed_too() {
    let scratch = Scratch::folder();
    scratch.write("a.py", "x = 1\n").write("b.ts", "export const y = 2;\n");
    let counts = index(&scratch);
    assert_eq!((counts.files, counts.parsed), (2, 2));
    assert_eq!(index(&scratch).parsed, 0);
}

#[test]
fn damaged_shards_are_extracted_again() {
    let scratch = polyglot();
    scratch.commit("one");
    index(&scratch);
    let mut stack = vec![scratch.store()];
    while let Some(dir) = stack.pop() {
        for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => stack.push(entry.path()),
                false => std::fs::write(entry.path(), b"PAR1 not quite").unwrap(),
            }
        }
    }
    let session = session(&scratch.root, &scratch.store(), 2);
    let other = tempfile::tempdir().unwrap();
    assert_eq!(text(&session.fresh().unwrap()), text(&self::session(&scratch.root, other.path(), 2).fresh().unwrap()));
}

/// Indexes a clone twice: `RATLAS_BENCH_REPO=DIR cargo test --release clone -- --nocapture`.
#[test]
fn a_real_clone_is_accounted_for_and_parsed_once() {
    let Some(root) = std::env::var_os("RATLAS_BENCH_REPO").map(std::path::PathBuf::from) else { return };
    let store = tempfile::tempdir().unwrap();
    let mut counts = Vec::new();
    for jobs in [2, 1] {
        let start = std::time::Instant::now();
        let session = session(&root, store.path(), jobs);
        let report = session.index(false).unwrap();
        let index_ms = start.elapsed().as_millis();
        let start = std::time::Instant::now();
        let view = &session.fresh().unwrap().view;
        let n_failed = view.files.iter().filter(|f| f.facts.status != ratlas::facts::model::Status::Ok).count();
        println!(
            "jobs {jobs}: {index_ms} ms, fresh {} ms, {:?}, {n_failed} not ok",
            start.elapsed().as_millis(),
            report.counts
        );
        for other in view.others.iter().filter(|o| !matches!(o.reason, SkipReason::Language | SkipReason::Symlink)) {
            println!("  {} {}", other.reason.as_str(), other.path);
        }
        let counted = report.counts.indexed + report.counts.skipped.values().sum::<usize>();
        assert_eq!((counted, report.counts.pending), (report.counts.files, 0));
        counts.push(report.counts);
    }
    assert_eq!((counts[1].parsed, counts[1].indexed), (0, counts[0].indexed));
}
