//! A report of runs: what each arm cost and gave, and its paired differences to the arm `none`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::harness::run::Outcome;
use crate::harness::stats::{interval, mean};

/// A figure of a run: its name, and how it is read.
type Figure = (&'static str, fn(&Outcome) -> Option<f64>);

/// The figures, in the order they are printed.
const FIGURES: [Figure; 14] = [
    ("success", |run| Some(f64::from(u8::from(run.is_success)))),
    ("input_tokens", |run| Some(run.input as f64)),
    ("cached_tokens", |run| Some(run.cached as f64)),
    ("output_tokens", |run| Some(run.output as f64)),
    ("dollars", |run| Some(run.dollars)),
    ("turns", |run| Some(run.turns as f64)),
    ("tool_calls", |run| Some(run.tool_calls as f64)),
    ("ratlas_calls", |run| Some(run.ratlas_calls as f64)),
    ("adoption", |run| Some(f64::from(u8::from(run.ratlas_calls > 0)))),
    ("files_read", |run| Some(run.read.len() as f64)),
    ("read_precision", |run| share(run, run.read.len())),
    ("read_recall", |run| share(run, run.gold.len())),
    ("context_at_end", |run| Some(run.context_at_end as f64)),
    ("seconds", |run| Some(run.seconds)),
];

/// The share of `n` files that were read and are of the gold patch; nothing of nothing.
fn share(run: &Outcome, n: usize) -> Option<f64> {
    let gold: BTreeSet<&String> = run.gold.iter().collect();
    let n_both = run.read.iter().filter(|file| gold.contains(file)).count();
    (n > 0 && !gold.is_empty()).then(|| n_both as f64 / n as f64)
}

/// The size of a repository, by its files.
fn size(run: &Outcome) -> &'static str {
    match run.n_files {
        0..200 => "small",
        200..2_000 => "middle",
        _ => "large",
    }
}

/// The report as JSON: for all runs and for each size of repository, for each arm its number of
/// runs and, for each figure, the mean and the paired difference to `none` with its interval.
pub fn report(runs: &[Outcome]) -> Value {
    let sizes: BTreeSet<&str> = runs.iter().map(size).collect();
    let mut by_size = serde_json::Map::new();
    for name in sizes {
        let of_size: Vec<&Outcome> = runs.iter().filter(|run| size(run) == name).collect();
        by_size.insert(name.to_owned(), arms(&of_size));
    }
    json!({
        "schema": "ratlas.bench/1",
        "runs": runs.len(),
        "note": "figures are what the agent told; intervals are of paired differences, 95 %, by bootstrap",
        "all": arms(&runs.iter().collect::<Vec<_>>()),
        "by_size": by_size,
    })
}

fn arms(runs: &[&Outcome]) -> Value {
    let mut of_arm: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for run in runs {
        of_arm.entry(&run.arm).or_default().push(run);
    }
    let base: BTreeMap<(&str, usize), &Outcome> =
        of_arm.get("none").into_iter().flatten().map(|run| ((run.task.as_str(), run.repeat), *run)).collect();
    let mut arms = serde_json::Map::new();
    for (arm, runs) in of_arm {
        let mut figures = serde_json::Map::new();
        for (name, figure) in FIGURES {
            let values: Vec<f64> = runs.iter().filter_map(|run| figure(run)).collect();
            if values.is_empty() {
                continue;
            }
            let mut row = json!({ "mean": rounded(mean(&values)) });
            let pairs = runs.iter().filter_map(|run| {
                let none = base.get(&(run.task.as_str(), run.repeat))?;
                Some(figure(run)? - figure(none)?)
            });
            let differences: Vec<f64> = if arm == "none" { Vec::new() } else { pairs.collect() };
            if !differences.is_empty() {
                row["difference"] = rounded(mean(&differences)).into();
            }
            if let Some((low, high)) = interval(&differences) {
                row["interval"] = json!([rounded(low), rounded(high)]);
            }
            figures.insert(name.to_owned(), row);
        }
        arms.insert(arm.to_owned(), json!({ "runs": runs.len(), "figures": figures }));
    }
    Value::Object(arms)
}

fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// The report as text: one table for all runs, then one for each size where there are several.
pub fn text(report: &Value) -> String {
    let mut out = format!("{} runs; {}\n", report["runs"], report["note"].as_str().unwrap_or_default());
    out.push_str(&table("all", &report["all"]));
    if let Some(sizes) = report["by_size"].as_object().filter(|sizes| sizes.len() > 1) {
        for (name, arms) in sizes {
            out.push_str(&table(name, arms));
        }
    }
    out
}

fn table(name: &str, arms: &Value) -> String {
    let mut out = format!("\n{name}\n");
    let Some(arms) = arms.as_object() else { return out };
    for (figure, _) in FIGURES {
        let cells: Vec<String> = arms
            .iter()
            .filter_map(|(arm, row)| {
                let row = row["figures"].get(figure)?;
                let difference = match (row.get("difference"), row.get("interval")) {
                    (Some(difference), Some(interval)) => {
                        format!(" ({difference}, {} to {})", interval[0], interval[1])
                    }
                    (Some(difference), None) => format!(" ({difference})"),
                    _ => String::new(),
                };
                Some(format!("{arm} {}{difference}", row["mean"]))
            })
            .collect();
        if !cells.is_empty() {
            out.push_str(&format!("  {figure}: {}\n", cells.join(" | ")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{report, text};
    use crate::harness::run::{Outcome, add_events};

    fn run(task: &str, arm: &str, events: &str) -> Outcome {
        let gold = vec!["a.py".to_owned(), "b.py".to_owned()];
        let mut run = Outcome { task: task.into(), arm: arm.into(), gold, n_files: 5, ..Outcome::default() };
        add_events(&mut run, events);
        run
    }

    #[test]
    fn arms_are_held_against_none_in_pairs() {
        let turn = |n: u64| format!("{{\"event\":\"turn\",\"input\":{n},\"cached\":1,\"output\":2,\"context\":{n}}}\n");
        let read = "{\"event\":\"read\",\"file\":\"./a.py\"}\n{\"event\":\"tool\",\"name\":\"mcp__ratlas__get_context\"}\nnoise\n";
        let runs = [
            run("x", "none", &turn(100)),
            run("x", "tools", &(turn(60) + read)),
            run("y", "none", &turn(200)),
            run("y", "tools", &(turn(100) + read)),
        ];
        let report = report(&runs);
        let figures = &report["all"]["tools"]["figures"];
        assert_eq!(figures["input_tokens"]["mean"], 80.0);
        assert_eq!(figures["input_tokens"]["difference"], -70.0);
        assert_eq!((&figures["adoption"]["mean"], &figures["read_recall"]["mean"]), (&1.0.into(), &0.5.into()));
        assert!(figures["input_tokens"]["interval"][1].as_f64().unwrap() < 0.0);
        assert!(text(&report).contains("input_tokens: none 150.0 | tools 80.0 (-70.0, "), "{}", text(&report));
    }
}
