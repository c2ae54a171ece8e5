//! What questions cost: each is timed and counted, with what reading the files in the place of
//! asking would have cost. The figures are Prometheus series, summed over processes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::atlas::Atlas;
use crate::base::error::Result;
use crate::graph::edge::{Graph, Layer};
use crate::tools::param::Given;
use crate::tools::tool::{Answer, Desk, Form, Tool};

/// Upper ends of the classes of durations, in seconds.
const CLASSES: [f64; 9] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];

/// Bytes of source that make a token of `cl100k_base`, about: measured 3.5 to 4.5.
const BYTES_PER_TOKEN: f64 = 4.0;

/// Sums by the name of a series, labels included.
pub type Sums = BTreeMap<String, f64>;

/// Asks a tool, and counts what that took.
///
/// # Errors
/// The tool's; they are counted too.
pub fn ask(desk: &Desk, tool: &Tool, given: &Given) -> Result<Answer> {
    let started = Instant::now();
    let answer = (tool.run)(desk, given);
    let mut sums = Sums::new();
    let name = tool.name;
    put_duration(&mut sums, "ratlas_query_seconds", &format!("tool=\"{name}\""), started.elapsed());
    match &answer {
        Ok(answer) => {
            let n_tokens = match tool.form {
                Form::Text => answer.n_tokens() as f64,
                // Lists of tests can be long, and are not for a model to read whole.
                Form::Data => (answer.compact().len() as f64 / BYTES_PER_TOKEN).round(),
            };
            sums.insert(format!("ratlas_tokens_served_total{{tool=\"{name}\"}}"), n_tokens);
            let naive = (answer.n_bytes_instead as f64 / BYTES_PER_TOKEN).round();
            sums.insert(format!("ratlas_tokens_naive_total{{tool=\"{name}\"}}"), naive);
        }
        Err(error) => {
            sums.insert(format!("ratlas_query_errors_total{{tool=\"{name}\",code=\"{}\"}}", error.kind.code()), 1.0);
        }
    }
    let elapsed_ms = started.elapsed().as_millis() as u64;
    tracing::info!(tool = name, elapsed_ms, ok = answer.is_ok(), "answered");
    desk.source.count(&sums);
    answer
}

/// Adds a duration to a histogram.
pub fn put_duration(sums: &mut Sums, name: &str, labels: &str, elapsed: Duration) {
    let seconds = elapsed.as_secs_f64();
    let comma = if labels.is_empty() { "" } else { "," };
    for class in CLASSES.iter().filter(|class| seconds <= **class) {
        sums.insert(format!("{name}_bucket{{{labels}{comma}le=\"{class}\"}}"), 1.0);
    }
    sums.insert(format!("{name}_bucket{{{labels}{comma}le=\"+Inf\"}}"), 1.0);
    let braces = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    sums.insert(format!("{name}_sum{braces}"), (seconds * 1e6).round() / 1e6);
    sums.insert(format!("{name}_count{braces}"), 1.0);
}

/// What each family of series is, in the order it is printed.
const FAMILIES: &[(&str, &str, &str)] = &[
    ("ratlas_files", "gauge", "Files of the tree by language and status of their facts"),
    ("ratlas_skipped_files", "gauge", "Files of the tree without facts, by reason"),
    ("ratlas_pending_files", "gauge", "Files that are not indexed yet: the lag"),
    ("ratlas_dirty_files", "gauge", "Files that are not as committed"),
    ("ratlas_parse_failures", "gauge", "Files that parsed in part or not at all, by language"),
    ("ratlas_edges", "gauge", "Edges of the graph by how sure they are"),
    ("ratlas_unproved_references", "gauge", "References without a proved target"),
    ("ratlas_unresolved_ratio", "gauge", "Unproved references over edges and unproved references"),
    ("ratlas_store_bytes", "gauge", "Bytes of the store"),
    ("ratlas_generation_total", "counter", "Trees that were made ready for questions"),
    ("ratlas_changeset_files", "histogram", "Files that a renewal of the tree had to parse"),
    ("ratlas_refresh_seconds", "histogram", "How long renewals of the tree took"),
    ("ratlas_rank_seconds", "histogram", "How long renewals of the ranking took"),
    ("ratlas_query_seconds", "histogram", "How long questions took, by tool"),
    ("ratlas_query_errors_total", "counter", "Questions that were refused or failed, by tool and code"),
    ("ratlas_tokens_served_total", "counter", "Tokens of answers, by tool"),
    ("ratlas_tokens_naive_total", "counter", "About what reading the files that answers name would have cost"),
    ("ratlas_freshness_timeouts_total", "counter", "Questions that could not wait for the tree of now"),
];

/// How many edges there are of each layer that has any, by its name.
pub fn edges_by_layer(graph: &Graph) -> BTreeMap<&'static str, usize> {
    let mut counts = [0usize; Layer::ALL.len()];
    graph.edges.iter().for_each(|edge| counts[edge.layer as usize] += 1);
    Layer::ALL.iter().map(|layer| (layer.as_str(), counts[*layer as usize])).filter(|(_, n)| *n > 0).collect()
}

/// The gauges of an atlas.
pub fn gauges(atlas: &Atlas, store_bytes: Option<u64>) -> Sums {
    let mut sums = Sums::new();
    let mut add = |name: String, n: f64| *sums.entry(name).or_default() += n;
    let view = &*atlas.view;
    for (at, file) in view.indices().zip(&view.files) {
        let (language, status) = (file.dialect.language().as_str(), view.status(at).as_str());
        add(format!("ratlas_files{{language=\"{language}\",status=\"{status}\"}}"), 1.0);
        add(format!("ratlas_parse_failures{{language=\"{language}\"}}"), f64::from(u8::from(status != "ok")));
    }
    for other in &view.others {
        add(format!("ratlas_skipped_files{{reason=\"{}\"}}", other.reason.as_str()), 1.0);
    }
    for (layer, n) in edges_by_layer(&atlas.graph) {
        add(format!("ratlas_edges{{layer=\"{layer}\"}}"), n as f64);
    }
    let (n_edges, n_unproved) = (atlas.graph.edges.len() as f64, atlas.graph.unproved.len() as f64);
    add("ratlas_unproved_references".to_owned(), n_unproved);
    add("ratlas_unresolved_ratio".to_owned(), n_unproved / (n_edges + n_unproved).max(1.0));
    add("ratlas_pending_files".to_owned(), atlas.header.n_pending as f64);
    add("ratlas_dirty_files".to_owned(), atlas.header.n_dirty as f64);
    if let Some(n_bytes) = store_bytes {
        add("ratlas_store_bytes".to_owned(), n_bytes as f64);
    }
    sums
}

/// Prometheus text of gauges and counters: families in a fixed order, series sorted.
pub fn prometheus(gauges: &Sums, counters: &Sums) -> String {
    let mut text = String::new();
    for (family, kind, help) in FAMILIES {
        let series: Vec<(&String, &f64)> =
            gauges.iter().chain(counters).filter(|(name, _)| is_of(name, family, kind)).collect();
        if series.is_empty() {
            continue;
        }
        let _ = writeln!(text, "# HELP {family} {help}\n# TYPE {family} {kind}");
        for (name, n) in series {
            let _ = writeln!(text, "{name} {n}");
        }
    }
    text
}

fn is_of(name: &str, family: &str, kind: &str) -> bool {
    let base = name.split('{').next().unwrap_or(name);
    match kind {
        "histogram" => ["_bucket", "_sum", "_count"].iter().any(|end| base.strip_suffix(end) == Some(family)),
        _ => base == family,
    }
}

/// The sum of all series of one family.
pub fn total(sums: &Sums, family: &str) -> f64 {
    sums.iter().filter(|(name, _)| name.split('{').next() == Some(family)).map(|(_, n)| n).sum()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Sums, prometheus, put_duration};

    #[test]
    fn durations_fall_into_cumulative_classes() {
        let mut sums = Sums::new();
        put_duration(&mut sums, "ratlas_query_seconds", "tool=\"repo_map\"", Duration::from_millis(7));
        let text = prometheus(&Sums::new(), &sums);
        assert!(text.contains("# TYPE ratlas_query_seconds histogram\n"), "{text}");
        assert!(text.contains("ratlas_query_seconds_bucket{tool=\"repo_map\",le=\"0.01\"} 1\n"), "{text}");
        assert!(!text.contains("le=\"0.005\""), "{text}");
        assert!(text.contains("ratlas_query_seconds_count{tool=\"repo_map\"} 1\n"), "{text}");
    }
}
