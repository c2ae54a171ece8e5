//! Odd states of repositories, disks and clocks: what is on disk counts, whatever git's index says.

use std::path::Path;
use std::time::{Duration, SystemTime};

use ratlas::atlas::AtlasSource;
use ratlas::git::blob::sha1;
use ratlas::git::stat::StatCache;
use ratlas::session::{Session, SessionOptions};
use ratlas::view::SkipReason;

use crate::git::{Scratch, check, dirty, snapshot_with};

fn session(scratch: &Scratch, root: &Path) -> Session {
    let options = SessionOptions { store: Some(scratch.store()), jobs: 1, ..SessionOptions::default() };
    Session::open(root, &options).unwrap()
}

fn modified(path: &Path) -> SystemTime {
    path.metadata().unwrap().modified().unwrap()
}

fn set_modified(path: &Path, time: SystemTime) {
    std::fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

/// The bytes of a path as its snapshot names them are those on disk.
fn is_seen(scratch: &Scratch, path: &str, cache: &mut StatCache) {
    let bytes = std::fs::read(scratch.root.join(path)).unwrap();
    let snapshot = snapshot_with(&scratch.root, 1, cache);
    assert_eq!(snapshot.find(path).unwrap().blob, sha1(&bytes).unwrap(), "{path}");
}

#[test]
fn same_size_and_restored_time_are_seen() {
    let scratch = Scratch::new();
    scratch.write("tracked.py", "x = 1\n").commit("one");
    scratch.write("untracked.py", "y = 1\n");
    let long_ago = SystemTime::now() - Duration::from_secs(7_200);
    for path in ["tracked.py", "untracked.py"] {
        set_modified(&scratch.root.join(path), long_ago);
    }
    scratch.git(&["update-index", "--refresh"]);
    let mut cache = StatCache::default();
    for path in ["tracked.py", "untracked.py"] {
        is_seen(&scratch, path, &mut cache);
        let time = modified(&scratch.root.join(path));
        let text = std::fs::read_to_string(scratch.root.join(path)).unwrap().replace('1', "2");
        scratch.write(path, &text);
        set_modified(&scratch.root.join(path), time);
        is_seen(&scratch, path, &mut cache);
    }
}

#[test]
fn racy_entries_are_read() {
    let scratch = Scratch::new();
    scratch.write("a.py", "x = 1\n").commit("one");
    // Written in the very tick in which the index was: stat alone cannot tell.
    let moment = SystemTime::now();
    scratch.write("a.py", "x = 2\n");
    scratch.git(&["add", "a.py"]);
    scratch.write("a.py", "x = 3\n");
    for path in ["a.py", ".git/index"] {
        set_modified(&scratch.root.join(path), moment);
    }
    is_seen(&scratch, "a.py", &mut StatCache::default());
    check(&scratch.root);
}

#[test]
fn clocks_may_jump() {
    let scratch = Scratch::new();
    scratch.write("a.py", "x = 1\n").write("b.py", "y = 1\n").commit("one");
    scratch.write("new.py", "z = 1\n");
    let years = Duration::from_secs(20 * 365 * 24 * 3600);
    let mut cache = StatCache::default();
    for (at, time) in
        [SystemTime::now() + years, SystemTime::UNIX_EPOCH + Duration::from_secs(1)].into_iter().enumerate()
    {
        for path in ["a.py", "new.py", ".git/index"] {
            set_modified(&scratch.root.join(path), time);
        }
        for path in ["a.py", "new.py"] {
            is_seen(&scratch, path, &mut cache);
            scratch.write(path, &format!("{at} = {at}\n"));
            set_modified(&scratch.root.join(path), time);
            is_seen(&scratch, path, &mut cache);
        }
        check(&scratch.root);
    }
}

#[test]
fn every_form_of_the_index_is_read() {
    for form in [
        &["update-index", "--index-version", "4"][..],
        &["update-index", "--split-index"],
        &["update-index", "--untracked-cache"],
        &["update-index", "--force-untracked-cache"],
        &["update-index", "--assume-unchanged", "same.py"],
    ] {
        let scratch = Scratch::new();
        for path in ["a.py", "same.py", "src/deep/b.py", "src/deep/c.py", "src/d.py"] {
            scratch.write(path, path);
        }
        scratch.commit("one");
        scratch.git(form);
        assert!(dirty(&check(&scratch.root)).is_empty(), "{form:?}");
        scratch.write("src/deep/b.py", "edited\n").write("src/new.py", "untracked\n");
        assert_eq!(dirty(&check(&scratch.root)), ["src/deep/b.py", "src/new.py"], "{form:?}");
        scratch.git(&["add", "src/new.py"]);
        assert_eq!(dirty(&check(&scratch.root)), ["src/deep/b.py", "src/new.py"], "{form:?}");
    }
}

#[cfg(unix)]
#[test]
fn what_fsmonitor_believes_is_looked_at() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    scratch.write("a.py", "x = 1\n").write("b.py", "y = 1\n").commit("one");
    // A monitor that never sees a change.
    let hook = scratch.root.parent().unwrap().join("monitor");
    std::fs::write(&hook, "#!/bin/sh\nprintf 'token\\0'\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    scratch.git(&["config", "core.fsmonitor", hook.to_str().unwrap()]);
    scratch.git(&["update-index", "--fsmonitor"]);
    scratch.git(&["status"]);
    let index = std::fs::read(scratch.root.join(".git/index")).unwrap();
    assert!(index.windows(4).any(|four| four == b"FSMN"), "the index has the extension");
    scratch.write("a.py", "x = 2\n");
    let mut cache = StatCache::default();
    is_seen(&scratch, "a.py", &mut cache);
    assert_eq!(dirty(&snapshot_with(&scratch.root, 1, &mut cache)), ["a.py"]);
}

#[test]
fn a_rename_of_case_only_is_a_rename() {
    let scratch = Scratch::new();
    scratch.write("Case.py", "x = 1\n").write("dir/Other.py", "y = 1\n").commit("one");
    scratch.git(&["mv", "-f", "Case.py", "case.py"]);
    std::fs::rename(scratch.root.join("dir/Other.py"), scratch.root.join("dir/OTHER.py")).unwrap();
    let snapshot = check(&scratch.root);
    assert_eq!(dirty(&snapshot), ["case.py", "dir/OTHER.py"]);
    let paths: Vec<&str> = snapshot.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["case.py", "dir/OTHER.py"]);
}

#[test]
fn a_rebase_in_progress_shows_the_disk() {
    let scratch = Scratch::new();
    scratch.write("a.py", "x = 1\n").commit("base");
    scratch.git(&["checkout", "-q", "-b", "topic"]);
    scratch.write("a.py", "x = 2\n").commit("topic");
    scratch.write("b.py", "y = 2\n").commit("more");
    scratch.git(&["checkout", "-q", "main"]);
    let onto = scratch.write("a.py", "x = 3\n").commit("main");
    scratch.git(&["checkout", "-q", "topic"]);
    let mut rebase = std::process::Command::new("git");
    rebase.current_dir(&scratch.root).args(["-c", "user.name=A", "-c", "user.email=a@b.c", "rebase", "main"]);
    assert!(!rebase.stdin(std::process::Stdio::null()).output().unwrap().status.success());
    let stopped = check(&scratch.root);
    assert_eq!((stopped.commit.clone(), dirty(&stopped)), (Some(onto), vec!["a.py"]));
    scratch.write("a.py", "x = 4\n");
    scratch.git(&["add", "a.py"]);
    assert_eq!(dirty(&check(&scratch.root)), ["a.py"]);
    scratch.git(&["rebase", "--abort"]);
    assert!(dirty(&check(&scratch.root)).is_empty());
}

#[test]
fn pointers_of_git_lfs_are_skipped_checked_out_or_not() {
    let scratch = Scratch::new();
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n", "a".repeat(64));
    scratch.write("big.py", &pointer).write(".gitattributes", "*.big.py filter=lfs\n").write("x.big.py", &pointer);
    scratch.commit("pointers");
    let reasons = |scratch: &Scratch| -> Vec<(String, SkipReason)> {
        let view = session(scratch, &scratch.root).fresh().unwrap().view.clone();
        let sources = view.others.iter().filter(|other| other.path.as_str().ends_with(".py"));
        sources.map(|other| (other.path.to_string(), other.reason)).collect()
    };
    let lfs = |path: &str| (path.to_owned(), SkipReason::Lfs);
    assert_eq!(reasons(&scratch), [lfs("big.py"), lfs("x.big.py")]);
    // Smudged: on disk lies what the pointer stands for, and the driver is there, which is never run.
    scratch.git(&["config", "filter.lfs.clean", "false"]);
    scratch.git(&["config", "filter.lfs.smudge", "cat"]);
    scratch.write("x.big.py", "def real():\n    pass\n");
    assert_eq!(reasons(&scratch), [lfs("big.py"), ("x.big.py".to_owned(), SkipReason::Filter)]);
}

#[test]
fn a_clone_without_blobs_answers_from_what_it_has() {
    let scratch = Scratch::new();
    scratch.write("a.py", "def old():\n    pass\n").write("b.py", "def same():\n    pass\n").commit("one");
    scratch.write("a.py", "def new():\n    pass\n").commit("two");
    scratch.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", scratch.root.display());
    scratch.git(&["clone", "-q", "--filter=blob:none", &url, "../partial"]);
    let partial = scratch.root.parent().unwrap().join("partial");
    // No network from here on: what is missing stays missing.
    std::fs::rename(&scratch.root, scratch.root.with_extension("gone")).unwrap();
    let session = session(&scratch, &partial);
    let fresh = session.fresh().unwrap();
    assert_eq!((fresh.view.files.len(), fresh.header.n_dirty), (2, 0));
    let old = session.at("HEAD~1").unwrap();
    assert_eq!(old.view.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["b.py"]);
    assert_eq!(old.view.others.len(), 1, "the blob that is missing is said to be unreadable");
    assert_eq!(old.view.others[0].reason, SkipReason::Unreadable);
}

#[test]
fn coming_back_to_a_tree_parses_nothing() {
    let scratch = Scratch::new();
    scratch.write("a.py", "def one():\n    pass\n").commit("one");
    let kept = session(&scratch, &scratch.root);
    kept.index(false).unwrap();
    let steps: [&[&[&str]]; 4] = [
        &[&["checkout", "-q", "-b", "side"]],
        &[&["stash", "-q"], &["stash", "pop", "-q"]],
        &[&["commit", "-q", "-a", "-m", "side"], &["checkout", "-q", "main"], &["checkout", "-q", "side"]],
        &[&["reset", "-q", "--hard", "HEAD~1"], &["reset", "-q", "--hard", "ORIG_HEAD"]],
    ];
    scratch.write("a.py", "def two():\n    pass\n");
    assert_eq!(kept.index(false).unwrap().counts.parsed, 1);
    for step in steps {
        for arguments in step {
            scratch.git(arguments);
            assert_eq!(kept.index(false).unwrap().counts.parsed, 0, "{arguments:?}");
            let fresh = session(&scratch, &scratch.root).fresh().unwrap();
            assert_eq!(fresh.view.files[0].facts, kept.fresh().unwrap().view.files[0].facts, "{arguments:?}");
        }
    }
}
