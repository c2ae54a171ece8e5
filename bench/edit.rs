//! Measures what an edit of one file costs a warm session over a copy of the clone that
//! `RATLAS_BENCH_DIR` names, as one JSON line: from the save to an exact answer, as a multiple of
//! `git status --porcelain` and of parsing the file, in the same run.
//!
//! `RATLAS_BENCH_DIR=some/clone cargo bench --bench edit`

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ratlas::atlas::AtlasSource;
use ratlas::facts::model::SymbolKind;
use ratlas::lang;
use ratlas::session::{Session, SessionOptions};
use serde_json::json;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Files that are edited, spread over the tree.
const N_FILES: usize = 40;
/// The reference machine has two cores.
const N_THREADS: usize = 2;

fn main() {
    let Some(folder) = std::env::var_os("RATLAS_BENCH_DIR") else {
        println!("{}", json!({ "bench": "edit", "skipped": "set RATLAS_BENCH_DIR to a clone" }));
        return;
    };
    let place = tempfile::tempdir().expect("a temporary folder");
    let clone = place.path().join("clone");
    let run = Command::new("git").args(["clone", "-q", "--local"]).arg(&folder).arg(&clone).status();
    assert!(run.is_ok_and(|status| status.success()), "git clones {}", PathBuf::from(&folder).display());
    let options =
        SessionOptions { store: Some(place.path().join("store")), jobs: N_THREADS, ..SessionOptions::default() };
    let session = Session::open(&clone, &options).expect("a repository");
    let atlas = session.fresh().expect("an index");
    let editable: Vec<String> = atlas
        .view
        .files
        .iter()
        .filter(|file| file.facts.symbols.iter().any(|s| matches!(s.kind, SymbolKind::Function | SymbolKind::Method)))
        .map(|file| file.path.to_string())
        .collect();
    let step = (editable.len() / N_FILES).max(1);
    let chosen: Vec<&String> = editable.iter().step_by(step).take(N_FILES).collect();
    let (mut status, mut body, mut signature, mut parse) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // The first edit after a start makes what later ones stand on.
    edit(&session, &clone, chosen[0], false);
    let idle: Vec<Duration> = (0..10).map(|_| timed(|| drop(session.fresh().expect("an answer")))).collect();
    for path in &chosen {
        status.push(timed(|| {
            let run = Command::new("git").arg("-C").arg(&clone).args(["status", "--porcelain"]).output();
            assert!(run.is_ok_and(|run| run.status.success()), "git status runs");
        }));
        let source = std::fs::read(clone.join(path)).expect("a file of the clone");
        let dialect = atlas.view.file(atlas.view.find(path).expect("a file of the view")).dialect;
        parse.push(timed(|| {
            let mut parser = tree_sitter::Parser::new();
            parser.set_language(&lang::of(dialect).grammar(dialect)).expect("the grammar fits the library");
            drop(parser.parse(&source, None));
        }));
        body.push(edit(&session, &clone, path, false));
        signature.push(edit(&session, &clone, path, true));
    }
    let (git, parse) = (median(&status), median(&parse));
    println!(
        "{}",
        json!({
            "bench": "edit", "files": atlas.view.files.len(), "edited": chosen.len(),
            "git_status_ms": millis(git), "parse_ms": millis(parse),
            "no_op_ms": millis(median(&idle)), "no_op_over_status": ratio(median(&idle), git),
            "body_ms": { "median": millis(median(&body)), "p95": millis(p95(&body)) },
            "body_p95_over_goal": ratio(p95(&body), git.mul_f64(1.2) + parse * 3),
            "name_ms": { "median": millis(median(&signature)), "p95": millis(p95(&signature)) },
        })
    );
}

/// Edits a file and times the next answer: a statement's worth of text is added to a body, or a
/// function or method gets another name.
fn edit(session: &Session, clone: &Path, path: &str, rename: bool) -> Duration {
    let atlas = session.fresh().expect("an answer");
    let at = atlas.view.find(path).expect("a file of the view");
    let facts = &atlas.view.file(at).facts;
    let mut functions = facts.symbols.iter().filter(|s| matches!(s.kind, SymbolKind::Function | SymbolKind::Method));
    let Some(function) = functions.next() else { return Duration::ZERO };
    let file = clone.join(path);
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = function.name_line as usize - 1;
    if rename {
        let name = facts.name(function.name);
        lines[line] = lines[line].replacen(name, &format!("{name}Anew"), 1);
    } else {
        // A line more within the body, where there is one.
        let end = (function.end_line as usize - 1).min(lines.len() - 1);
        let indent: String = lines[end].chars().take_while(|c| c.is_whitespace()).collect();
        let is_python = path.ends_with(".py") || path.ends_with(".pyi");
        match is_python {
            true => lines.insert(end + 1, format!("{indent}print(len('anew'))")),
            false => lines.insert(end, format!("{indent}System.out.println(\"anew\");")),
        }
    }
    std::fs::write(&file, lines.join("\n") + "\n").expect("a file is written");
    timed(|| drop(session.fresh().expect("an answer")))
}

fn timed(step: impl FnOnce()) -> Duration {
    let start = Instant::now();
    step();
    start.elapsed()
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e4).round() / 10.0
}

fn ratio(time: Duration, yardstick: Duration) -> f64 {
    (time.as_secs_f64() / yardstick.as_secs_f64() * 1e3).round() / 1e3
}

fn median(times: &[Duration]) -> Duration {
    quantile(times, 50)
}

fn p95(times: &[Duration]) -> Duration {
    quantile(times, 95)
}

fn quantile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100]
}
