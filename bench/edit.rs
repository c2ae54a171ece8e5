//! Measures what an edit of one file costs a warm session over a copy of the clone that
//! `RATLAS_BENCH_DIR` names, as one JSON line: from the save to an exact answer, as a multiple of
//! the goal, which is 1.2 times `git status --porcelain` and 3 times parsing that file, in the same run.
//!
//! `RATLAS_BENCH_DIR=some/clone cargo bench --bench edit`; with `RATLAS_BENCH_EACH` a line an edit too.

mod timing;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ratlas::atlas::{Atlas, AtlasSource};
use ratlas::facts::model::{Symbol, SymbolId};
use ratlas::facts::table::Id;
use ratlas::lang;
use ratlas::session::{Session, SessionOptions};
use ratlas::view::{FileIdx, SymbolRef};
use serde_json::json;

use timing::{millis, timed};

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Files that are edited, spread over the tree.
const N_FILES: usize = 40;
/// Functions whose parameters are edited: those that most is linked to.
const N_USED: usize = 10;
/// The reference machine has two cores.
const N_THREADS: usize = 2;

/// What is done to a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    /// A statement more at its end.
    Body,
    /// Another name.
    Name,
    /// A parameter more.
    Signature,
}

/// An edit: its time, and what it is to be held against.
struct Taken {
    time: Duration,
    goal: Duration,
}

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
    let editable: Vec<SymbolRef> = atlas.view.indices().filter_map(|file| editable(&clone, &atlas, file)).collect();
    let step = (editable.len() / N_FILES).max(1);
    let chosen: Vec<SymbolRef> = editable.iter().copied().step_by(step).take(N_FILES).collect();
    let used = most_used(&clone, &atlas);
    // The first edit after a start makes what later ones stand on, the second a graph to change.
    edit(&session, &clone, &atlas, chosen[0], Edit::Body);
    edit(&session, &clone, &atlas, chosen[0], Edit::Body);
    let idle: Vec<Duration> = (0..10).map(|_| timed(|| drop(session.fresh().expect("an answer")))).collect();
    let git: Vec<Duration> = (0..N_FILES).map(|_| git_status(&clone)).collect();
    let git = median(&git);
    let parse = |at: SymbolRef| {
        let file = atlas.view.file(at.file);
        let source = std::fs::read(clone.join(file.path.as_str())).expect("a file of the clone");
        timed(|| {
            let mut parser = tree_sitter::Parser::new();
            parser.set_language(&lang::of(file.dialect).grammar(file.dialect)).expect("the grammar fits the library");
            drop(parser.parse(&source, None));
        })
    };
    let run = |symbols: &[SymbolRef], kind: Edit| -> Vec<Taken> {
        let take = |at: &SymbolRef| {
            let goal = git.mul_f64(1.2) + parse(*at) * 3;
            let time = edit(&session, &clone, &atlas, *at, kind);
            if std::env::var_os("RATLAS_BENCH_EACH").is_some() {
                eprintln!("{} {} {:?} of {goal:?}", kind as u8, atlas.view.file(at.file).path, time);
            }
            Taken { time, goal }
        };
        symbols.iter().map(take).collect()
    };
    let body = run(&chosen, Edit::Body);
    let name = run(&chosen, Edit::Name);
    let signature = run(&used, Edit::Signature);
    println!(
        "{}",
        json!({
            "bench": "edit", "files": atlas.view.files.len(), "edited": chosen.len(),
            "git_status_ms": millis(git), "parse_ms": millis(median(&chosen.iter().map(|at| parse(*at)).collect::<Vec<_>>())),
            "no_op_ms": millis(median(&idle)), "no_op_over_status": ratio(median(&idle), git),
            "body": shown(&body), "name": shown(&name), "signature_of_most_used": shown(&signature),
        })
    );
}

/// Medians and 95th of 100 of some edits, in ms and as multiples of each one's goal.
fn shown(taken: &[Taken]) -> serde_json::Value {
    let times: Vec<Duration> = taken.iter().map(|taken| taken.time).collect();
    // As durations of a second each, for the same quantiles.
    let ratios: Vec<Duration> = taken
        .iter()
        .map(|taken| Duration::from_secs_f64(taken.time.as_secs_f64() / taken.goal.as_secs_f64()))
        .collect();
    json!({
        "median_ms": millis(median(&times)), "p95_ms": millis(quantile(&times, 95)),
        "median_over_goal": ratio(median(&ratios), Duration::from_secs(1)),
        "p95_over_goal": ratio(quantile(&ratios, 95), Duration::from_secs(1)),
    })
}

/// The first function of a file that has a body of several lines, closed by a line of its own.
fn editable(clone: &Path, atlas: &Atlas, file: FileIdx) -> Option<SymbolRef> {
    let lines = lines_of(clone, atlas, file)?;
    let facts = atlas.view.facts(file);
    let rows = facts.symbols.iter().enumerate().skip(1);
    let mut fit = rows.filter(|(_, symbol)| symbol.kind.is_function() && has_body(&lines, symbol));
    fit.next().map(|(row, _)| SymbolRef { file, symbol: SymbolId::new(row) })
}

fn lines_of(clone: &Path, atlas: &Atlas, file: FileIdx) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(clone.join(atlas.view.file(file).path.as_str())).ok()?;
    Some(text.lines().map(str::to_owned).collect())
}

fn has_body(lines: &[String], symbol: &Symbol) -> bool {
    let end = lines.get(symbol.end_line as usize - 1).map_or("", |line| line.trim());
    let first = lines.get(symbol.name_line as usize - 1).map_or("", |line| line.trim_start());
    let is_python = first.starts_with("def ") || first.starts_with("async def ");
    symbol.end_line > symbol.name_line && (is_python || (end == "}" && first.contains('(') && first.ends_with('{')))
}

/// The functions with a body and parameters on one line that most is linked to.
fn most_used(clone: &Path, atlas: &Atlas) -> Vec<SymbolRef> {
    let mut counted: Vec<(usize, SymbolRef)> = Vec::new();
    for to in atlas.graph.by_target.chunk_by(|a, b| target(atlas, *a) == target(atlas, *b)) {
        let at = target(atlas, to[0]);
        if atlas.view.symbol(at).kind.is_function() {
            counted.push((to.len(), at));
        }
    }
    counted.sort_unstable_by_key(|(n, at)| (std::cmp::Reverse(*n), *at));
    let fit = counted.into_iter().map(|(_, at)| at).filter(|at| {
        let symbol = atlas.view.symbol(*at);
        lines_of(clone, atlas, at.file).is_some_and(|lines| {
            let line = lines.get(symbol.name_line as usize - 1);
            has_body(&lines, symbol) && line.is_some_and(|line| line.contains('(') && line.contains(')'))
        })
    });
    fit.take(N_USED).collect()
}

fn target(atlas: &Atlas, edge: u32) -> SymbolRef {
    atlas.graph.edges[edge as usize].to
}

/// Edits a function and times the next answer.
fn edit(session: &Session, clone: &Path, atlas: &Atlas, at: SymbolRef, kind: Edit) -> Duration {
    let path = &atlas.view.file(at.file).path;
    let name = {
        let symbol = atlas.view.symbol(at);
        atlas.view.facts(at.file).name(symbol.name).to_owned()
    };
    // Lines move from edit to edit, rows do not.
    let now = session.fresh().expect("an answer");
    let file = now.view.find(path.as_str()).expect("a file of the view");
    let symbol = now.view.symbol(SymbolRef { file, symbol: at.symbol }).clone();
    drop(now);
    let on_disk = clone.join(path.as_str());
    let mut lines: Vec<String> =
        std::fs::read_to_string(&on_disk).expect("a file of the clone").lines().map(str::to_owned).collect();
    let line = symbol.name_line as usize - 1;
    match kind {
        Edit::Body => {
            let end = symbol.end_line as usize - 1;
            let indent: String = lines[end].chars().take_while(|c| c.is_whitespace()).collect();
            match path.extension() {
                "py" => lines.insert(end + 1, format!("{indent}print(len('anew'))")),
                "java" => lines.insert(end, format!("{indent}System.out.println(\"anew\");")),
                _ => lines.insert(end, format!("{indent}console.log(\"anew\");")),
            }
        }
        Edit::Name => lines[line] = lines[line].replacen(&name, &format!("{name}Anew"), 1),
        Edit::Signature => {
            let open = lines[line].find('(').expect("a function with parameters on its line");
            let close = open + lines[line][open..].rfind(')').expect("a function with parameters on its line");
            let has_some = !lines[line][open + 1..close].trim().is_empty();
            let param = match (path.extension(), has_some) {
                ("py", _) => ", anew=None",
                ("java", true) => ", int anew",
                ("java", false) => "int anew",
                (_, true) => ", anew = 1",
                (_, false) => "anew = 1",
            };
            lines[line].insert_str(close, param);
        }
    }
    std::fs::write(&on_disk, lines.join("\n") + "\n").expect("a file is written");
    timed(|| drop(session.fresh().expect("an answer")))
}

fn git_status(clone: &Path) -> Duration {
    timed(|| {
        let run = Command::new("git").arg("-C").arg(clone).args(["status", "--porcelain"]).output();
        assert!(run.is_ok_and(|run| run.status.success()), "git status runs");
    })
}

fn ratio(time: Duration, yardstick: Duration) -> f64 {
    (time.as_secs_f64() / yardstick.as_secs_f64() * 1e3).round() / 1e3
}

fn median(times: &[Duration]) -> Duration {
    quantile(times, 50)
}

fn quantile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100]
}
