//! Runs a plan: each task in each arm, each time in a fresh checkout. Keeps raw logs and writes
//! one result a run, which a report is made of.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::error::{Error, ErrorKind, Result};
use crate::harness::plan::{Arm, Plan, Task};
use crate::harness::program::{self, End};

/// What a run cost and gave.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Outcome {
    pub task: String,
    pub arm: String,
    pub repeat: usize,
    pub is_success: bool,
    pub is_timeout: bool,
    pub seconds: f64,
    /// Tokens of all requests: what was sent, what of it was cached, what came back.
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    pub dollars: f64,
    pub turns: u64,
    pub tool_calls: u64,
    /// Calls of ratlas's tools.
    pub ratlas_calls: u64,
    /// Tokens that the conversation held at its end.
    pub context_at_end: u64,
    /// Files that were read, sorted, and those of the gold patch.
    pub read: Vec<String>,
    pub gold: Vec<String>,
    /// Files of the checkout.
    pub n_files: usize,
}

/// Where a run finds what it needs.
pub struct Place<'p> {
    /// The folder of the plan, which its paths are relative to.
    pub plan: &'p Path,
    /// Where logs go: `TASK/ARM/REPEAT/`.
    pub out: &'p Path,
    /// The program that serves and maps.
    pub ratlas: &'p Path,
    /// Set when the run is to end: what is running is stopped.
    pub stop: &'p AtomicBool,
}

/// The names of ratlas's tools, as clients show them.
const TOOLS: [&str; 8] =
    ["get_context", "repo_map", "find_symbol", "get_symbol", "callers_of", "callees_of", "impact_of", "index_status"];

/// Runs all of a plan; `say` is told each result. What was run before is run again.
///
/// # Errors
/// `Usage` for a repository or revision that is none, `Io` for logs that cannot be written and
/// programs that cannot be started.
pub fn run(plan: &Plan, place: &Place<'_>, say: &mut dyn FnMut(&Outcome)) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for task in &plan.tasks {
        for repeat in 0..plan.repeats {
            for arm in &plan.arms {
                let outcome = run_one(plan, task, *arm, repeat, place)?;
                say(&outcome);
                outcomes.push(outcome);
            }
        }
    }
    Ok(outcomes)
}

fn run_one(plan: &Plan, task: &Task, arm: Arm, repeat: usize, place: &Place<'_>) -> Result<Outcome> {
    let logs = place.out.join(&task.name).join(arm.as_str()).join(repeat.to_string());
    let unwritten = |cause| failed("cannot write logs").source(cause);
    fs::create_dir_all(&logs).map_err(unwritten)?;
    let logs = logs.canonicalize().map_err(unwritten)?;
    let folder = tempfile::tempdir().map_err(unwritten)?;
    let tree = folder.path().join("tree");
    let repository = place.plan.join(&task.repository);
    git(place.plan, &["clone", "--quiet", "--shared", "--no-checkout", &text(&repository), &text(&tree)])?;
    // Names like HEAD~1 mean another commit once one is checked out.
    let commit_of = |name: &str| {
        let found = git(&tree, &["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")])?;
        Ok::<_, Error>(found.trim().to_owned())
    };
    let base = commit_of(&task.revision)?;
    let gold = match &task.gold {
        Some(name) => lines(&git(&tree, &["diff", "--name-only", &base, &commit_of(name)?])?),
        None => Vec::new(),
    };
    git(&tree, &["checkout", "--quiet", "--detach", &base])?;
    let n_files = lines(&git(&tree, &["ls-files"])?).len();
    let events = logs.join("events.jsonl");
    fs::write(&events, "").map_err(unwritten)?;
    let mut prompt = task.prompt.clone();
    if arm == Arm::Map {
        let map = Command::new(place.ratlas).args(["query", "map"]).current_dir(&tree).stdin(Stdio::null()).output();
        let map = map.map_err(|cause| failed("cannot map the repository").source(cause))?;
        prompt.push_str(&format!("\n\n<map>\n{}</map>\n", String::from_utf8_lossy(&map.stdout)));
    }
    let prompt_file = logs.join("prompt.txt");
    fs::write(&prompt_file, prompt).map_err(unwritten)?;
    let mut command = Command::new(&plan.agent.command[0]);
    command.args(&plan.agent.command[1..]);
    command.env("RATLAS_BENCH_PROMPT", &prompt_file).env("RATLAS_BENCH_EVENTS", &events);
    command.env("RATLAS_BENCH_ARM", arm.as_str());
    if arm == Arm::Tools {
        let server = serde_json::json!([text(place.ratlas), "-C", text(&tree), "serve"]);
        command.env("RATLAS_BENCH_SERVER", server.to_string());
    }
    let started = Instant::now();
    let limit = Duration::from_secs(plan.agent.timeout_seconds);
    let end = program::run(&mut command, &tree, &logs.join("agent.log"), limit, place.stop)?;
    let seconds = started.elapsed().as_secs_f64();
    let mut check = Command::new(&task.check[0]);
    check.args(&task.check[1..]);
    let is_success = end != End::TimeOut
        && program::run(&mut check, &tree, &logs.join("check.log"), limit, place.stop)? == End::Success;
    let mut outcome = Outcome {
        task: task.name.clone(),
        arm: arm.as_str().to_owned(),
        repeat,
        is_success,
        is_timeout: end == End::TimeOut,
        seconds: (seconds * 1e3).round() / 1e3,
        gold,
        n_files,
        ..Outcome::default()
    };
    add_events(&mut outcome, &fs::read_to_string(&events).unwrap_or_default());
    let prices = &plan.prices;
    let fresh = outcome.input.saturating_sub(outcome.cached) as f64;
    let dollars =
        fresh * prices.input + outcome.cached as f64 * prices.cached_input + outcome.output as f64 * prices.output;
    // Prices are for a million tokens; millionths of a dollar are kept.
    outcome.dollars = dollars.round() / 1e6;
    let result = serde_json::to_string_pretty(&outcome).unwrap_or_default();
    fs::write(logs.join("result.json"), result + "\n").map_err(unwritten)?;
    Ok(outcome)
}

/// Adds up what an agent told.
pub fn add_events(outcome: &mut Outcome, events: &str) {
    let mut read: BTreeSet<String> = outcome.read.drain(..).collect();
    for event in events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let number = |name: &str| event[name].as_u64().unwrap_or(0);
        match event["event"].as_str() {
            Some("turn") => {
                outcome.turns += 1;
                outcome.input += number("input");
                outcome.cached += number("cached");
                outcome.output += number("output");
                outcome.context_at_end = number("context");
            }
            Some("tool") => {
                outcome.tool_calls += 1;
                let name = event["name"].as_str().unwrap_or_default();
                outcome.ratlas_calls += u64::from(TOOLS.iter().any(|tool| name.ends_with(tool)));
            }
            Some("read") => read.extend(event["file"].as_str().map(|file| file.trim_start_matches("./").to_owned())),
            _ => {}
        }
    }
    outcome.read = read.into_iter().collect();
}

fn git(dir: &Path, words: &[&str]) -> Result<String> {
    let output = Command::new("git").args(words).current_dir(dir).stdin(Stdio::null()).output();
    let output = output.map_err(|cause| failed("cannot run git").source(cause))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
        return Err(Error::new(ErrorKind::Usage, format!("git {} failed: {said}", words[0]))
            .hint("check `repository`, `revision` and `gold` of the task"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn failed(what: &str) -> Error {
    Error::new(ErrorKind::Io, what)
}

/// Reads the results below a folder of logs, sorted by task, arm and repeat.
///
/// # Errors
/// `Usage` when there is none.
pub fn outcomes(out: &Path) -> Result<Vec<Outcome>> {
    let mut found = Vec::new();
    let mut folders: Vec<(PathBuf, usize)> = vec![(out.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if depth < 3 && path.is_dir() {
                folders.push((path, depth + 1));
            } else if depth == 3 && path.file_name().is_some_and(|name| name == "result.json") {
                found.extend(fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Outcome>(&bytes).ok()));
            }
        }
    }
    found.sort_by(|one, other| (&one.task, &one.arm, one.repeat).cmp(&(&other.task, &other.arm, other.repeat)));
    if found.is_empty() {
        return Err(Error::new(ErrorKind::Usage, format!("no result lies below `{}`", out.display()))
            .hint("give the folder that `ratlas bench run --out` wrote"));
    }
    Ok(found)
}
