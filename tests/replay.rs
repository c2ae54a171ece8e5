//! Merged equals fresh (K1, K3): after every step of a history a session that has seen all steps
//! before, and one that starts over the same store, give the view and the graph that are built from
//! nothing.
//!
//! `RATLAS_REPLAY=<clone> N=200 cargo test --release replay_of_a_clone -- --nocapture` does it for the
//! last commits of a real clone: each commit, then the diff to the next one laid over it hunk by hunk
//! (`HUNKS` looks a commit, 8 unless it is set).

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use ratlas::atlas::AtlasSource;
use ratlas::base::dialect::Dialect;
use ratlas::extract::fingerprint::fingerprint_with;
use ratlas::extract::redact::Redactor;
use ratlas::git::repo::Repo;
use ratlas::git::snapshot::{Snapshot, SnapshotOptions};
use ratlas::git::stat::StatCache;
use ratlas::graph::edge::Graph;
use ratlas::graph::link::link;
use ratlas::graph::relink::Linked;
use ratlas::index::build::{Builder, Fingerprints, Memory, Missing};
use ratlas::index::select::{SelectOptions, Selector};
use ratlas::session::{Session, SessionOptions};
use ratlas::store::flat::Flats;
use ratlas::store::objects::Store;
use ratlas::view::View;

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

pub fn session(repository: &Path, store: &Path, jobs: usize) -> Session {
    let options = SessionOptions { store: Some(store.to_path_buf()), jobs, ..SessionOptions::default() };
    Session::open(repository, &options).expect("a repository")
}

/// The first difference of two views, in words; `None` when they are equal.
fn difference(found: &View, expected: &View) -> Option<String> {
    let paths = |view: &View| {
        let files = view.files.iter().map(|f| format!("{} {} {} {}", f.path, f.blob, f.dialect, f.dirty));
        let others = view.others.iter().map(|o| format!("{} {} {:?} {}", o.path, o.blob, o.reason, o.dirty));
        files.chain(others).collect::<Vec<_>>()
    };
    let (a, b) = (paths(found), paths(expected));
    if a != b {
        let first = a.iter().zip(&b).find(|(a, b)| a != b);
        return Some(format!("files differ: {first:?} ({} and {})", a.len(), b.len()));
    }
    for (a, b) in found.files.iter().zip(&expected.files) {
        if a.facts != b.facts {
            return Some(format!("facts of {} differ", a.path));
        }
    }
    (found.config != expected.config).then(|| "configuration differs".to_owned())
}

/// The first difference of two graphs.
fn difference_of_graphs(found: &Graph, expected: &Graph) -> Option<String> {
    if found == expected {
        return None;
    }
    let edge = found.edges.iter().zip(&expected.edges).find(|(a, b)| a != b);
    Some(format!("graphs differ, first at {edge:?} ({} and {} edges)", found.edges.len(), expected.edges.len()))
}

/// What is built from nothing: each tree from a snapshot of its own without a stat cache, without a
/// store, and linked whole. Bytes that it has parsed for the tree before it does not parse again.
struct Fresh<'a> {
    repo: Repo,
    selector: Selector,
    fingerprints: Fingerprints,
    redactor: Redactor,
    /// Knows what something still holds: the links of the step before do.
    memory: Memory,
    scratch: &'a Path,
}

impl<'a> Fresh<'a> {
    fn new(repository: &Path, scratch: &'a Path) -> Self {
        Fresh {
            repo: Repo::open(repository).expect("a repository"),
            selector: Selector::new(&SelectOptions::default()).expect("the defaults hold"),
            fingerprints: Dialect::ALL.into_iter().map(|d| (d, fingerprint_with(d, &[]))).collect(),
            redactor: Redactor::new(&[]).expect("no pattern is wrong"),
            memory: Memory::default(),
            scratch,
        }
    }

    fn view(&mut self) -> Arc<View> {
        let is_private = |path: &str| self.selector.is_private(path);
        let options = SnapshotOptions { jobs: 1, is_private: &is_private };
        let snapshot = Snapshot::worktree(&self.repo, &options, &mut StatCache::default()).expect("a snapshot");
        let empty = self.scratch.join("empty");
        let _ = std::fs::remove_dir_all(&empty);
        let store = Store::open(&empty).expect("an empty store");
        let builder = Builder {
            repo: &self.repo,
            selector: &self.selector,
            store: &store,
            flats: &Flats::open(&store),
            fingerprints: &self.fingerprints,
            redactor: &self.redactor,
            jobs: 1,
        };
        let built = builder.build(&snapshot, &mut self.memory, Missing::Extract).expect("a view");
        assert!(!built.is_torn, "nobody writes meanwhile");
        Arc::new(built.view)
    }
}

/// Every so many steps the process that starts over the same store links and is asked for its graph too,
/// and everything is extracted anew. Linking is pure: elsewhere equal views are enough.
const WHOLE: usize = 10;

/// What a replay keeps from step to step.
pub struct Replayed<'a> {
    warm: Session,
    repository: &'a Path,
    store: &'a Path,
    fresh: Fresh<'a>,
    linked: Option<Linked>,
    n_steps: usize,
    /// Every so many steps all is looked at.
    whole: usize,
    /// Files of all steps, and how many of them were linked anew.
    n_files: usize,
    n_linked: usize,
}

impl<'a> Replayed<'a> {
    /// A replay by a kept session; `scratch` is a folder for stores that are thrown away.
    pub fn new(warm: Session, repository: &'a Path, store: &'a Path, scratch: &'a Path) -> Self {
        let fresh = Fresh::new(repository, scratch);
        Replayed { warm, repository, store, fresh, linked: None, n_steps: 0, whole: 1, n_files: 0, n_linked: 0 }
    }

    /// Compares the warm session, a cold one over the same store, and the links by the records of the
    /// step before with what is built from nothing.
    pub fn check(&mut self, step: &str) -> Arc<Graph> {
        let is_whole = self.n_steps.is_multiple_of(self.whole);
        if is_whole {
            self.fresh.memory = Memory::default();
        }
        self.n_steps += 1;
        let view = self.fresh.view();
        let graph = Arc::new(link(&view));
        let same = |name: &str, found: Option<String>| {
            if let Some(difference) = found {
                panic!("{name} after `{step}`: {difference}");
            }
        };
        let kept = self.warm.fresh().expect("warm");
        same("the warm session", difference(&kept.view, &view));
        same("the warm session", difference_of_graphs(&kept.graph, &graph));
        let cold = session(self.repository, self.store, 2);
        if is_whole {
            let cold = cold.fresh().expect("cold");
            same("a cold session", difference(&cold.view, &view));
            same("a cold session", difference_of_graphs(&cold.graph, &graph));
        } else {
            let look = cold.look(None).expect("cold").expect("there is no tree before");
            same("a cold session", difference(&look.view, &view));
        }
        self.n_files += view.files.len();
        let next = match self.linked.take() {
            Some(before) => before.next(view),
            None => Linked::new(view),
        };
        same("linking by recorded queries", difference_of_graphs(&next.graph, &graph));
        self.n_linked += next.n_linked;
        self.linked = Some(next);
        graph
    }
}

fn replay_script(script: &str) -> usize {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let repository = scratch.path().join("repository");
    let store = scratch.path().join("store");
    std::fs::create_dir_all(&repository).expect("folder");
    let mut replayed: Option<Replayed<'_>> = None;
    let mut n_steps = 0;
    for step in script.split("#---").skip(1) {
        let (title, commands) = step.split_once('\n').expect("a title line");
        run(&repository, "sh", &["-euc", commands]);
        let replayed = replayed
            .get_or_insert_with(|| Replayed::new(session(&repository, &store, 2), &repository, &store, scratch.path()));
        let graph = replayed.check(title.trim());
        assert!(!graph.edges.is_empty(), "no edges after `{title}`: the comparison would be empty");
        n_steps += 1;
    }
    let replayed = replayed.expect("because there are steps");
    assert!(replayed.n_linked < replayed.n_files, "no link was ever kept: the comparison would be empty");
    n_steps
}

#[test]
fn every_step_of_a_history_equals_a_fresh_index() {
    assert!(replay_script(include_str!("../fixtures/history/equivalence.sh")) > 20);
}

#[test]
fn replay_of_a_clone() {
    let Some(clone) = std::env::var_os("RATLAS_REPLAY") else { return };
    let number = |name: &str, default: usize| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (n_commits, max_hunks) = (number("N", 20), number("HUNKS", 8));
    replay_commits(Path::new(&clone), n_commits, max_hunks);
}

/// The short replay of every run: the same over the history of a script.
#[test]
fn commits_and_their_hunks_equal_a_fresh_index() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let script = include_str!("../fixtures/history/hunks.sh");
    run(scratch.path(), "sh", &["-euc", script]);
    assert!(replay_commits(scratch.path(), 20, 8) >= 8, "hunks were laid over their parents");
}

/// Replays the last commits of a clone: each commit, then its successor's diff hunk by hunk, at
/// most `max_hunks` of it, spread evenly. Gives how many hunks were applied.
fn replay_commits(clone: &Path, n_commits: usize, max_hunks: usize) -> usize {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let repository = scratch.path().join("repository");
    let store = scratch.path().join("store");
    let at = |path: &Path| path.to_string_lossy().into_owned();
    run(scratch.path(), "git", &["clone", "-q", &at(clone), &at(&repository)]);
    let commits = run(&repository, "git", &["rev-list", "--first-parent", "-n", &format!("{}", n_commits + 1), "HEAD"]);
    let mut commits: Vec<&str> = commits.lines().collect();
    commits.reverse();
    let mut replayed: Option<Replayed<'_>> = None;
    let (mut n_applied, mut n_views) = (0, 0);
    for pair in commits.windows(2) {
        run(&repository, "git", &["checkout", "-qf", pair[0]]);
        run(&repository, "git", &["clean", "-qfd"]);
        let replayed = replayed.get_or_insert_with(|| Replayed {
            whole: WHOLE,
            ..Replayed::new(session(&repository, &store, 2), &repository, &store, scratch.path())
        });
        replayed.check(pair[0]);
        n_views += 1;
        let diff = Command::new("git")
            .args(["diff", "--no-color", "--no-ext-diff", "--no-renames", "-U0", pair[0], pair[1]])
            .current_dir(&repository)
            .output()
            .expect("the program starts");
        if !diff.status.success() {
            println!("{}: not among the clone's objects as a whole", &pair[1][..10]);
            continue;
        }
        let diff = String::from_utf8_lossy(&diff.stdout).into_owned();
        let hunks = hunks_of(&diff);
        let step = hunks.len().div_ceil(max_hunks.max(1)).max(1);
        let mut n_hunks = 0;
        for (nth, hunks) in hunks.chunks(step).enumerate() {
            // Of those between two looks all are applied; what does not apply alone (modes,
            // binaries, a file's end) is left to the next commit.
            n_hunks += hunks.iter().filter(|hunk| apply_hunk(&repository, hunk)).count();
            let graph = replayed.check(&format!("hunks up to {nth} of {}", pair[1]));
            n_views += 1;
            let (n_edges, n_unproved) = (graph.edges.len(), graph.unproved.len());
            println!("{} {}: {n_edges} edges, {n_unproved} unproved: equal", &pair[1][..10], nth + 1);
        }
        n_applied += n_hunks;
    }
    let (n_files, n_linked) = replayed.map_or((0, 0), |replayed| (replayed.n_files, replayed.n_linked));
    println!(
        "{} commits, {n_applied} hunks, {n_views} views, {n_linked} of {n_files} links anew: 0 differences",
        commits.len() - 1
    );
    n_applied
}

/// Each hunk of a diff as a patch of its own: the file's head and the hunk. Later hunks of a file
/// are searched by their place in the old file, so that any may be applied before any other.
fn hunks_of(diff: &str) -> Vec<String> {
    let mut hunks = Vec::new();
    for file in diff.split_inclusive('\n').collect::<Vec<_>>().chunk_by(|_, next| !next.starts_with("diff --git ")) {
        let n_head = file.iter().position(|line| line.starts_with("@@ ")).unwrap_or(file.len());
        let head: String = file[..n_head].concat();
        for hunk in file[n_head..].chunk_by(|_, next| !next.starts_with("@@ ")) {
            hunks.push(format!("{head}{}", hunk.concat()));
        }
        if n_head == file.len() {
            hunks.push(head);
        }
    }
    // From the end of each file to its start, so that line numbers of the old file stay true.
    hunks.reverse();
    hunks
}

fn apply_hunk(repository: &Path, hunk: &str) -> bool {
    let mut command = Command::new("git");
    command.args(["apply", "--unidiff-zero", "--whitespace=nowarn", "-"]).current_dir(repository);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("git");
    let wrote = child.stdin.take().map(|mut stdin| std::io::Write::write_all(&mut stdin, hunk.as_bytes()));
    drop(wrote);
    child.wait().is_ok_and(|status| status.success())
}
