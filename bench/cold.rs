//! Measures a new process on a known tree over the clone that `RATLAS_BENCH_DIR` names, as one JSON
//! line: queries and impact as multiples of `git status --porcelain` in the same run, the
//! look at the worktree included. The symbol asked for is `RATLAS_BENCH_SYMBOL`, else a class of
//! the middle of the tree; the diff is HEAD's own commit.
//!
//! `RATLAS_BENCH_DIR=some/clone cargo bench --bench cold`

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ratlas::atlas::AtlasSource;
use ratlas::session::{Session, SessionOptions};
use serde_json::json;

/// Rounds; in each every command runs once, and medians count, the machine being shared.
const N_RUNS: usize = 15;

fn main() {
    let Some(folder) = std::env::var_os("RATLAS_BENCH_DIR").map(PathBuf::from) else {
        println!("{}", json!({ "bench": "cold", "skipped": "set RATLAS_BENCH_DIR to a clone" }));
        return;
    };
    let store = tempfile::tempdir().expect("a temporary folder");
    let options = SessionOptions { store: Some(store.path().to_path_buf()), ..SessionOptions::default() };
    let session = Session::open(&folder, &options).expect("a repository");
    let atlas = session.fresh().expect("an index");
    let symbol = std::env::var("RATLAS_BENCH_SYMBOL").unwrap_or_else(|_| {
        let middle = atlas.view.files.iter().skip(atlas.view.files.len() / 2);
        let mut classes = middle.filter_map(|file| {
            let class = file.facts.symbols.iter().find(|symbol| symbol.kind.is_class())?;
            Some(file.facts.name(class.name).to_owned())
        });
        classes.next().expect("a class")
    });
    let has_parent = session.at("HEAD~1").is_ok();
    let ratlas = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ratlas"));
        command.arg("-C").arg(&folder).args(arguments).env("RATLAS_STORE", store.path());
        command
    };
    let git = || {
        let mut command = Command::new("git");
        command.arg("-C").arg(&folder).args(["status", "--porcelain"]);
        command
    };
    let mut asked: Vec<(&str, Vec<&str>)> = vec![
        ("symbol", vec!["query", "symbol", &symbol]),
        ("callers", vec!["query", "callers", &symbol, "--limit", "20"]),
        ("map", vec!["query", "map"]),
        ("impact", vec!["impact", &symbol]),
    ];
    if has_parent {
        asked.push(("impact_diff", vec!["impact", "--diff", "HEAD~1..HEAD"]));
    }
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); asked.len() + 1];
    for _ in 0..N_RUNS {
        times[0].push(elapsed(git()));
        for (at, (_, arguments)) in asked.iter().enumerate() {
            times[at + 1].push(elapsed(ratlas(arguments)));
        }
    }
    let medians: Vec<f64> = times.into_iter().map(median).collect();
    let mut line = json!({
        "bench": "cold", "files": atlas.view.files.len(), "edges": atlas.graph.edges.len(),
        "symbol": symbol, "git_status_ms": millis(medians[0]),
    });
    for ((name, _), median) in asked.iter().zip(&medians[1..]) {
        line[format!("{name}_ms")] = json!(millis(*median));
        line[format!("{name}_over_status")] = json!((median / medians[0] * 1e2).round() / 1e2);
    }
    println!("{line}");
}

fn elapsed(mut command: Command) -> Duration {
    let start = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("the program starts");
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}

fn millis(seconds: f64) -> f64 {
    (seconds * 1e4).round() / 10.0
}
