//! The selected tests spread over the jobs of a matrix: by package and runner, which a job never
//! mixes, each balanced by how long its files took.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::base::path::RepoPath;
use crate::ci::durations::Durations;
use crate::impact::answer::{Answer, Mode, SelectedTest};
use crate::impact::runners::{self, RunnerFormat};
use crate::lang::testing::Runner;

/// The most jobs of a matrix
/// (<https://docs.github.com/en/actions/reference/limits>).
pub const MAX_JOBS: usize = 256;

/// The most bytes of the matrix: outputs of a step end at 1 MiB.
pub const MAX_BYTES: usize = 700 << 10;

/// A job of the matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub package: String,
    pub runner: &'static str,
    /// From 1, of `n_shards` of this package and runner.
    pub shard: usize,
    pub n_shards: usize,
    pub mode: Mode,
    /// The runner's arguments; none where all of the package is to run.
    pub args: Vec<String>,
    pub n_tests: usize,
    /// Seconds by earlier reports; `None` without any.
    pub seconds: Option<f64>,
}

/// What is not split: a file, or a class of Java.
struct Unit<'a> {
    tests: Vec<&'a SelectedTest>,
    weight: f64,
}

/// The build that runs Java's tests of a package.
pub type BuildOf<'a> = &'a dyn Fn(&RepoPath) -> Option<RunnerFormat>;

/// The jobs that run an answer's tests, at most `n_jobs` but one for each package and runner at
/// least; sorted by package, runner, shard. Never empty: without a test to run, one job that says so.
pub fn jobs(answer: &Answer, durations: &Durations, n_jobs: usize, build_of: BuildOf<'_>) -> Vec<Job> {
    if answer.mode == Mode::None {
        return vec![Job {
            package: ".".to_owned(),
            runner: "none",
            shard: 1,
            n_shards: 1,
            mode: Mode::None,
            args: Vec::new(),
            n_tests: 0,
            seconds: None,
        }];
    }
    let mut groups: BTreeMap<(&RepoPath, &'static str), Vec<&SelectedTest>> = BTreeMap::new();
    for test in &answer.tests {
        groups.entry((&test.package, test.runner.as_str())).or_default().push(test);
    }
    if groups.is_empty() || groups.len() > MAX_JOBS {
        return vec![everything(answer)];
    }
    let groups: Vec<(&RepoPath, &'static str, Vec<Unit<'_>>)> =
        groups.into_iter().map(|((package, runner), tests)| (package, runner, units(tests, durations))).collect();
    let weights: Vec<f64> = groups.iter().map(|(_, _, units)| units.iter().map(|unit| unit.weight).sum()).collect();
    let counts = counts(&weights, &groups.iter().map(|g| g.2.len()).collect::<Vec<_>>(), n_jobs.min(MAX_JOBS));
    let mut jobs = Vec::new();
    for ((package, runner, units), n_shards) in groups.into_iter().zip(counts) {
        jobs.extend(match answer.mode {
            Mode::All => whole(package, runner, &units, n_shards),
            Mode::Selected | Mode::None => split(units, n_shards)
                .into_iter()
                .enumerate()
                .map(|(at, units)| {
                    let tests: Vec<SelectedTest> = units.iter().flat_map(|u| &u.tests).map(|t| (*t).clone()).collect();
                    Job {
                        package: folder(package),
                        runner,
                        shard: at + 1,
                        n_shards,
                        mode: Mode::Selected,
                        n_tests: tests.len(),
                        seconds: (!durations.is_empty()).then(|| units.iter().map(|unit| unit.weight).sum()),
                        args: arguments(answer, tests, build_of(package)),
                    }
                })
                .collect(),
        });
    }
    jobs
}

/// All tests of a package and runner. Only what knows its tests itself can split them without
/// losing one that is not known here.
fn whole(package: &RepoPath, runner: &'static str, units: &[Unit<'_>], n_shards: usize) -> Vec<Job> {
    let n_tests: usize = units.iter().map(|unit| unit.tests.len()).sum();
    let can_split = matches!(runner, "jest" | "vitest" | "playwright");
    let n_shards = if can_split { n_shards } else { 1 };
    (1..=n_shards)
        .map(|shard| Job {
            package: folder(package),
            runner,
            shard,
            n_shards,
            mode: Mode::All,
            args: if n_shards > 1 { vec![format!("--shard={shard}/{n_shards}")] } else { Vec::new() },
            n_tests: n_tests / n_shards,
            seconds: None,
        })
        .collect()
}

fn everything(answer: &Answer) -> Job {
    Job {
        package: ".".to_owned(),
        runner: "all",
        shard: 1,
        n_shards: 1,
        mode: Mode::All,
        args: Vec::new(),
        n_tests: answer.tests.len(),
        seconds: None,
    }
}

fn folder(package: &RepoPath) -> String {
    if package.as_str().is_empty() { ".".to_owned() } else { package.to_string() }
}

/// The tests by file or class with their weight: seconds where reports tell, and the mean of
/// those for the others.
fn units<'a>(tests: Vec<&'a SelectedTest>, durations: &Durations) -> Vec<Unit<'a>> {
    let mut by_name: BTreeMap<&str, Vec<&SelectedTest>> = BTreeMap::new();
    for test in tests {
        let class = test.id.split_once('#').map(|(class, _)| class);
        by_name.entry(class.unwrap_or(test.file.as_str())).or_default().push(test);
    }
    let known: Vec<Option<(f64, usize)>> = by_name.keys().map(|name| durations.get(name)).collect();
    let (seconds, n) = known.iter().flatten().fold((0.0, 0), |(s, n), (seconds, count)| (s + seconds, n + count));
    let mean = if n > 0 && seconds > 0.0 { seconds / n as f64 } else { 1.0 };
    by_name
        .into_values()
        .zip(known)
        .map(|(tests, known)| {
            let weight = match known {
                // Of a file of which some tests are selected, their share.
                Some((seconds, n)) => seconds * (tests.len() as f64 / n.max(tests.len()) as f64),
                None => mean * tests.len() as f64,
            };
            Unit { tests, weight }
        })
        .collect()
}

/// How many shards each group gets: one each, the rest where a shard is heaviest.
fn counts(weights: &[f64], n_units: &[usize], n_jobs: usize) -> Vec<usize> {
    let mut counts = vec![1; weights.len()];
    for _ in weights.len()..n_jobs {
        let heaviest = (0..weights.len()).filter(|at| counts[*at] < n_units[*at]).max_by(|a, b| {
            (weights[*a] / counts[*a] as f64).total_cmp(&(weights[*b] / counts[*b] as f64)).then(b.cmp(a))
        });
        let Some(at) = heaviest else { break };
        counts[at] += 1;
    }
    counts
}

/// Units in `n` lots of about equal weight: the heaviest goes first, to the lightest lot.
fn split(mut units: Vec<Unit<'_>>, n: usize) -> Vec<Vec<Unit<'_>>> {
    units.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.tests[0].id.cmp(&b.tests[0].id)));
    let mut lots: Vec<(f64, Vec<Unit<'_>>)> = (0..n).map(|_| (0.0, Vec::new())).collect();
    for unit in units {
        let lightest = (0..n).min_by(|a, b| {
            (lots[*a].0, lots[*a].1.len())
                .partial_cmp(&(lots[*b].0, lots[*b].1.len()))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let lot = &mut lots[lightest.unwrap_or(0)];
        lot.0 += unit.weight;
        lot.1.push(unit);
    }
    lots.into_iter().map(|(_, units)| units).collect()
}

/// The arguments that run exactly these tests; ids or files, where the runner takes no other form.
fn arguments(answer: &Answer, tests: Vec<SelectedTest>, build: Option<RunnerFormat>) -> Vec<String> {
    let Some(runner) = tests.first().map(|test| test.runner) else { return Vec::new() };
    let files: BTreeSet<String> = tests.iter().map(|test| test.file.to_string()).collect();
    let format = match runner {
        Runner::Pytest | Runner::Unittest => RunnerFormat::Pytest,
        Runner::Jest => RunnerFormat::Jest,
        Runner::Vitest => RunnerFormat::Vitest,
        Runner::Junit | Runner::TestNg => build.unwrap_or(RunnerFormat::Tests),
        Runner::Mocha | Runner::NodeTest | Runner::Playwright | Runner::Cypress | Runner::Script => {
            return files.into_iter().collect();
        }
    };
    let part = Answer { tests, ..Answer::bare(answer.policy, Mode::Selected, answer.verdict, answer.stats) };
    runners::lines(&part, format)
}

/// The matrix as GitHub's `fromJSON` takes it. Where it would be too large, jobs lose their
/// arguments and run all of their package, which takes longer and misses nothing.
pub fn matrix(jobs: &[Job]) -> String {
    let text = matrix_of(jobs);
    if text.len() <= MAX_BYTES {
        return text;
    }
    let mut whole: Vec<Job> = jobs.to_vec();
    whole.dedup_by(|b, a| {
        let is_same = (&a.package, a.runner) == (&b.package, b.runner);
        a.n_tests += if is_same { b.n_tests } else { 0 };
        is_same
    });
    for job in &mut whole {
        (job.shard, job.n_shards, job.mode) = (1, 1, Mode::All);
        job.args.clear();
    }
    matrix_of(&whole)
}

fn matrix_of(jobs: &[Job]) -> String {
    let rows: Vec<Value> = jobs
        .iter()
        .map(|job| {
            let shard = if job.n_shards > 1 { format!(" {}/{}", job.shard, job.n_shards) } else { String::new() };
            json!({
                "name": format!("{} {}{shard}", job.package, job.runner),
                "package": job.package,
                "runner": job.runner,
                "shard": job.shard,
                "shards": job.n_shards,
                "mode": job.mode.as_str(),
                "count": job.n_tests,
                "seconds": job.seconds.map(|seconds| (seconds * 10.0).round() / 10.0),
                "args": job.args.join("\n"),
            })
        })
        .collect();
    json!({ "include": rows }).to_string()
}
