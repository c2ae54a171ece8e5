//! Measures a branch switch over a copy of the clone that `RATLAS_BENCH_DIR` names, as one JSON line:
//! from a checkout that touches 500 files (all, in a smaller clone) to an exact answer of a warm
//! session, against indexing and linking the same tree from nothing, in the same run.
//!
//! `RATLAS_BENCH_DIR=some/clone cargo bench --bench switch`

mod timing;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ratlas::atlas::AtlasSource;
use ratlas::session::{Session, SessionOptions};
use serde_json::json;

use timing::{millis, timed};

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Files that differ between the branches, spread over the tree.
const N_FILES: usize = 500;
/// Branches that are switched to, each with files of its own.
const N_BRANCHES: usize = 3;
/// The reference machine has two cores.
const N_THREADS: usize = 2;

fn main() {
    let Some(folder) = std::env::var_os("RATLAS_BENCH_DIR") else {
        println!("{}", json!({ "bench": "switch", "skipped": "set RATLAS_BENCH_DIR to a clone" }));
        return;
    };
    let place = tempfile::tempdir().expect("a temporary folder");
    let clone = place.path().join("clone");
    let run = Command::new("git").args(["clone", "-q", "--local"]).arg(&folder).arg(&clone).status();
    assert!(run.is_ok_and(|status| status.success()), "git clones {}", PathBuf::from(&folder).display());
    git(&clone, &["config", "user.name", "bench"]);
    git(&clone, &["config", "user.email", "bench@example.org"]);
    git(&clone, &["checkout", "-q", "-b", "start"]);
    let open = |store: &str| {
        let options =
            SessionOptions { store: Some(place.path().join(store)), jobs: N_THREADS, ..SessionOptions::default() };
        Session::open(&clone, &options).expect("a repository")
    };
    let session = open("warm");
    let atlas = session.fresh().expect("an index");
    let paths: Vec<String> = atlas.view.files.iter().map(|file| file.path.to_string()).collect();
    session.prepare();
    let mut forth = Vec::new();
    let mut back = Vec::new();
    let step = (paths.len() / N_FILES).max(1);
    for branch in 0..N_BRANCHES {
        let name = format!("branch{branch}");
        git(&clone, &["checkout", "-q", "-b", &name, "start"]);
        for path in paths.iter().skip(branch % step).step_by(step).take(N_FILES) {
            edit(&clone.join(path), branch);
        }
        git(&clone, &["commit", "-q", "-a", "-m", &name]);
        git(&clone, &["checkout", "-q", "start"]);
        drop(session.fresh().expect("an answer"));
        // As `serve` does after an answer.
        session.prepare();
        git(&clone, &["checkout", "-q", &name]);
        forth.push(timed(|| drop(session.fresh().expect("an answer"))));
        git(&clone, &["checkout", "-q", "start"]);
        back.push(timed(|| drop(session.fresh().expect("an answer"))));
    }
    let full: Vec<Duration> = (0..N_BRANCHES)
        .map(|at| {
            let session = open(&format!("cold{at}"));
            timed(|| drop(session.fresh().expect("an index")))
        })
        .collect();
    println!(
        "{}",
        json!({
            "bench": "switch", "files": paths.len(), "switched": paths.len().div_ceil(step).min(N_FILES),
            "full_ms": millis(median(&full)), "switch_ms": millis(median(&forth)), "back_ms": millis(median(&back)),
            "full_over_switch": ratio(median(&full), median(&forth)),
            "full_over_back": ratio(median(&full), median(&back)),
        })
    );
}

/// Adds a declaration to a file, in its language: a function, in Java a method of its last class.
fn edit(path: &Path, branch: usize) {
    let Ok(mut text) = std::fs::read_to_string(path) else { return };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("py" | "pyi") => text.push_str(&format!("\n\ndef added{branch}():\n    return len(\"added\")\n")),
        Some("java") => {
            let end = text.rfind('}').unwrap_or(text.len());
            text.insert_str(
                end,
                &format!("\n    int added{branch}() {{\n        return \"added\".length();\n    }}\n"),
            );
        }
        _ => text.push_str(&format!("\nfunction added{branch}() {{\n    return \"added\".length;\n}}\n")),
    }
    std::fs::write(path, text).expect("a file is written");
}

fn git(clone: &Path, arguments: &[&str]) {
    let run = Command::new("git").arg("-C").arg(clone).args(arguments).status();
    assert!(run.is_ok_and(|status| status.success()), "git {arguments:?}");
}

fn ratio(time: Duration, yardstick: Duration) -> f64 {
    (time.as_secs_f64() / yardstick.as_secs_f64() * 1e2).round() / 1e2
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[times.len() / 2]
}
