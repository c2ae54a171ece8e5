//! Merged equals fresh (K1, K3): after every step of a history a session that has seen all steps
//! before, one over the same store, and one over an empty store give equal views and graphs.
//!
//! `RATLAS_REPLAY=<clone> N=200 cargo test --release replay_of_a_clone -- --nocapture` does it for the
//! last commits of a real clone: each commit, then half of its files laid over its parent.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use ratlas::atlas::{Atlas, AtlasSource};
use ratlas::graph::relink::Linked;
use ratlas::session::{Session, SessionOptions};

fn run(dir: &Path, program: &str, args: &[&str]) -> String {
    let output = Command::new(program)
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@example.org")
        .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
        .output()
        .expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn session(repository: &Path, store: &Path, jobs: usize) -> Session {
    let options = SessionOptions { store: Some(store.to_path_buf()), jobs, ..SessionOptions::default() };
    Session::open(repository, &options).expect("a repository")
}

/// The first difference of two atlases, in words; `None` when they are equal.
fn difference(found: &Atlas, expected: &Atlas) -> Option<String> {
    let paths = |atlas: &Atlas| {
        let files = atlas.view.files.iter().map(|f| format!("{} {} {} {}", f.path, f.blob, f.dialect, f.dirty));
        let others = atlas.view.others.iter().map(|o| format!("{} {} {:?} {}", o.path, o.blob, o.reason, o.dirty));
        files.chain(others).collect::<Vec<_>>()
    };
    let (a, b) = (paths(found), paths(expected));
    if a != b {
        let first = a.iter().zip(&b).find(|(a, b)| a != b);
        return Some(format!("files differ: {first:?} ({} and {})", a.len(), b.len()));
    }
    for (a, b) in found.view.files.iter().zip(&expected.view.files) {
        if a.facts != b.facts {
            return Some(format!("facts of {} differ", a.path));
        }
    }
    if found.view.config != expected.view.config {
        return Some("configuration differs".to_string());
    }
    if found.graph != expected.graph {
        let edge = found.graph.edges.iter().zip(&expected.graph.edges).find(|(a, b)| a != b);
        return Some(format!("graphs differ, first at {edge:?}"));
    }
    None
}

/// Compares the warm session, a cold one over the same store, and a fresh one.
fn check(repository: &Path, store: &Path, warm: &Session, scratch: &Path, step: &str) -> Arc<Atlas> {
    let empty = scratch.join("empty");
    let _ = std::fs::remove_dir_all(&empty);
    let fresh = session(repository, &empty, 1).fresh().expect("fresh");
    let kept = warm.fresh().expect("warm");
    let cold = session(repository, store, 2).fresh().expect("cold");
    for (name, atlas) in [("warm", &kept), ("cold", &cold)] {
        if let Some(difference) = difference(atlas, &fresh) {
            panic!("{name} session after `{step}`: {difference}");
        }
    }
    fresh
}

/// Links a view from the records of the one before, and compares with linking all.
fn relinked(before: Option<Linked>, atlas: &Atlas, step: &str) -> Linked {
    let view = Arc::clone(&atlas.view);
    let next = match before {
        Some(before) => before.next(view),
        None => Linked::new(view),
    };
    assert!(*next.graph == *atlas.graph, "linking by recorded queries after `{step}` differs");
    next
}

fn replay_script(script: &str) -> usize {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let repository = scratch.path().join("repository");
    let store = scratch.path().join("store");
    std::fs::create_dir_all(&repository).expect("folder");
    let mut warm = None;
    let mut n_steps = 0;
    let mut linked: Option<Linked> = None;
    let (mut n_files, mut n_linked) = (0, 0);
    for step in script.split("#---").skip(1) {
        let (title, commands) = step.split_once('\n').expect("a title line");
        run(&repository, "sh", &["-euc", commands]);
        let warm = warm.get_or_insert_with(|| session(&repository, &store, 2));
        let atlas = check(&repository, &store, warm, scratch.path(), title.trim());
        assert!(!atlas.graph.edges.is_empty(), "no edges after `{title}`: the comparison would be empty");
        n_steps += 1;
        let next = relinked(linked.take(), &atlas, title.trim());
        n_files += atlas.view.files.len();
        n_linked += next.n_linked;
        linked = Some(next);
    }
    assert!(n_linked < n_files, "no link was ever kept: the comparison would be empty");
    n_steps
}

#[test]
fn every_step_of_a_history_equals_a_fresh_index() {
    assert!(replay_script(include_str!("../fixtures/history/equivalence.sh")) > 20);
}

#[test]
fn replay_of_a_clone() {
    let Some(clone) = std::env::var_os("RATLAS_REPLAY") else { return };
    let n_commits = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let repository = scratch.path().join("repository");
    let store = scratch.path().join("store");
    let at = |path: &Path| path.to_string_lossy().into_owned();
    run(scratch.path(), "git", &["clone", "-q", &at(Path::new(&clone)), &at(&repository)]);
    let commits = run(&repository, "git", &["rev-list", "--first-parent", "-n", &format!("{}", n_commits + 1), "HEAD"]);
    let mut commits: Vec<&str> = commits.lines().collect();
    commits.reverse();
    let mut warm = None;
    let mut linked: Option<Linked> = None;
    for pair in commits.windows(2) {
        run(&repository, "git", &["checkout", "-qf", pair[0]]);
        run(&repository, "git", &["clean", "-qfd"]);
        let warm = warm.get_or_insert_with(|| session(&repository, &store, 2));
        let whole = check(&repository, &store, warm, scratch.path(), pair[0]);
        linked = Some(relinked(linked.take(), &whole, pair[0]));
        // Every second file of the next commit, uncommitted.
        let changed = run(&repository, "git", &["diff", "--name-only", "--diff-filter=AM", "-z", pair[0], pair[1]]);
        for path in changed.split('\0').filter(|p| !p.is_empty()).step_by(2) {
            run(&repository, "git", &["checkout", "-q", pair[1], "--", path]);
        }
        let atlas = check(&repository, &store, warm, scratch.path(), &format!("half of {}", pair[1]));
        let next = relinked(linked.take(), &atlas, pair[1]);
        let (n_edges, n_unproved, n_linked) = (atlas.graph.edges.len(), atlas.graph.unproved.len(), next.n_linked);
        println!("{}: {n_edges} edges, {n_unproved} unproved, {n_linked} files linked anew: equal", pair[1]);
        linked = Some(next);
    }
}
