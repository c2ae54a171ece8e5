//! `index_status`: what is indexed, skipped, damaged, dirty and unresolved.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::atlas::Atlas;
use crate::base::error::Result;
use crate::facts::model::Status;
use crate::report::{json, sanitize};
use crate::tools::param::{self, Given};
use crate::tools::tool::{Answer, Desk, Form, Tool};
use crate::tools::{meter, show, verdict};
use crate::view::SkipReason;

pub const TOOL: Tool = Tool {
    name: "index_status",
    title: "State of the index",
    description: "What the answers rest on: files by language and status, skipped files by reason, parse failures, edges \
                  by layer, the share of unresolved references, uncommitted files.",
    params: &[param::FRESH],
    form: Form::Data,
    run,
};

/// How many paths a list of the answer holds; its total is always said.
const MAX_PATHS: usize = 50;

fn run(desk: &Desk, given: &Given) -> Result<Answer> {
    let atlas = desk.atlas(given)?;
    let mut answer = answer(&atlas, &[], desk.source.store().map(|store| store.n_bytes), desk.options.max_tokens);
    put_served(&mut answer, &desk.source.counters());
    Ok(answer)
}

/// The state of what `atlas` holds; `deleted` are paths of HEAD's tree that are gone from disk.
pub fn answer(atlas: &Atlas, deleted: &[String], store_bytes: Option<u64>, budget: usize) -> Answer {
    let view = &*atlas.view;
    let mut answer = Answer::new(atlas, budget);
    let (n_files, n_others) = (view.files.len(), view.others.len());
    answer.shown(n_files, n_files + n_others + atlas.header.n_pending, "files indexed");
    answer.field("repository", sanitize::line(&atlas.header.repository, 200));
    answer.field("commit", atlas.header.commit.clone().map_or(Value::Null, Value::from));
    answer.field("files", n_files + n_others + atlas.header.n_pending);
    answer.field("indexed", n_files);
    let n_symbols: usize = view.indices().map(|file| view.figures(file).n_symbols as usize - 1).sum();
    answer.field("symbols", n_symbols);
    put_languages(&mut answer, atlas);
    put_skips(&mut answer, atlas);
    put_paths(&mut answer, "parse_failures", "parsed in part or not", {
        view.indices()
            .filter(|file| view.status(*file) != Status::Ok)
            .map(|file| {
                let file = view.file(file);
                let reason = file.facts.text(file.facts.status_reason);
                let lines: Vec<String> =
                    file.facts.damage.iter().take(3).map(|d| format!("{}-{}", d.start_line, d.end_line)).collect();
                (file.path.as_str().to_owned(), format!("{} {reason} {}", file.facts.status.as_str(), lines.join(",")))
            })
            .collect()
    });
    put_graph(&mut answer, atlas);
    put_compilers(&mut answer, atlas);
    put_paths(&mut answer, "dirty", "not as committed", {
        let files = view.files.iter().filter(|file| file.dirty).map(|file| &file.path);
        let others = view.others.iter().filter(|other| other.dirty).map(|other| &other.path);
        let mut paths: Vec<(String, String)> =
            files.chain(others).map(|path| (path.as_str().to_owned(), String::new())).collect();
        paths.extend(deleted.iter().map(|path| (path.clone(), "deleted".to_owned())));
        paths.sort();
        paths
    });
    if let Some(n_bytes) = store_bytes {
        answer.line(format!("store: {n_bytes} bytes"));
        answer.field("store_bytes", n_bytes);
    }
    answer
}

/// What answers have cost so far, over all processes that share the store.
fn put_served(answer: &mut Answer, counters: &meter::Sums) {
    let total = |family: &str| meter::total(counters, family).max(0.0) as u64;
    let (n_answers, served, naive) =
        (total("ratlas_query_seconds_count"), total("ratlas_tokens_served_total"), total("ratlas_tokens_naive_total"));
    if n_answers > 0 {
        answer.line(format!(
            "served: {served} tokens in {n_answers} answers; reading the files that they name would be about {naive}"
        ));
    }
    let fields = [("answers", n_answers.into()), ("tokens", served.into()), ("tokens_of_files", naive.into())];
    answer.field("served", json::object(fields));
}

fn put_languages(answer: &mut Answer, atlas: &Atlas) {
    let mut languages: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (idx, file) in atlas.view.indices().zip(&atlas.view.files) {
        let counts = languages.entry(file.dialect.language().as_str()).or_default();
        *counts.entry(atlas.view.status(idx).as_str()).or_default() += 1;
    }
    let mut rows = serde_json::Map::new();
    for (language, counts) in &languages {
        let total: usize = counts.values().sum();
        let statuses: Vec<String> = counts.iter().map(|(status, n)| format!("{n} {status}")).collect();
        answer.line(format!("{language}: {} ({})", show::count(total, "file"), statuses.join(", ")));
        let counts = counts.iter().map(|(status, n)| ((*status).to_owned(), Value::from(*n))).collect();
        rows.insert((*language).to_owned(), Value::Object(counts));
    }
    answer.field("languages", rows);
}

fn put_skips(answer: &mut Answer, atlas: &Atlas) {
    let view = &*atlas.view;
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for other in &view.others {
        *reasons.entry(other.reason.as_str()).or_default() += 1;
    }
    let words: Vec<String> = reasons.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
    answer.line(match words.is_empty() {
        true => "skipped: none".to_owned(),
        false => format!("skipped: {} ({})", view.others.len(), words.join(", ")),
    });
    let counts: serde_json::Map<String, Value> =
        reasons.iter().map(|(reason, n)| ((*reason).to_owned(), (*n).into())).collect();
    answer.field("skipped", counts);
    if let Some(line) = verdict::not_indexed_line(view) {
        answer.line(format!("  {line}"));
    }
    let not_indexed: serde_json::Map<String, Value> =
        verdict::not_indexed(view).into_iter().map(|(extension, n)| (extension, n.into())).collect();
    answer.field("not_indexed", not_indexed);
    put_paths(answer, "skipped_sources", "skipped for another reason than their language", {
        view.others
            .iter()
            .filter(|other| other.reason != SkipReason::Language)
            .map(|other| (other.path.as_str().to_owned(), other.reason.as_str().to_owned()))
            .collect()
    });
}

fn put_graph(answer: &mut Answer, atlas: &Atlas) {
    let graph = &*atlas.graph;
    let layers = meter::edges_by_layer(graph);
    let n_external: u64 = graph.n_external.iter().map(|n| u64::from(*n)).sum();
    let n_unproved = graph.unproved.len();
    let words: Vec<String> = layers.iter().map(|(layer, n)| format!("{n} {layer}")).collect();
    let judged = graph.edges.len() + n_unproved;
    let ratio = if judged == 0 { 0.0 } else { n_unproved as f64 / judged as f64 };
    answer.line(format!(
        "edges: {}{}, unproved references: {n_unproved} ({:.1} % of both), outside: {n_external}",
        graph.edges.len(),
        if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) },
        ratio * 100.0
    ));
    let layers: serde_json::Map<String, Value> =
        layers.into_iter().map(|(layer, n)| (layer.to_owned(), n.into())).collect();
    answer.field("edges", graph.edges.len());
    answer.field("edges_by_layer", layers);
    answer.field("unproved", n_unproved);
    answer.field("unresolved_ratio", json::decimal(ratio));
    answer.field("external", n_external);
}

/// What compilers said beside the shards, and for how many files it still holds.
fn put_compilers(answer: &mut Answer, atlas: &Atlas) {
    let mut rows = Vec::new();
    for (at, program) in atlas.view.compilers.iter().enumerate() {
        let n_believed = atlas.graph.compiled.iter().filter(|(_, taken)| *taken == at as u32).count();
        let tool = sanitize::line(&program.tool, 80);
        let n_documents = program.documents.len();
        answer.line(format!("compiler: {tool}, believed for {n_believed} of {}", show::count(n_documents, "file")));
        rows.push(json::object([
            ("tool", tool.into()),
            ("documents", n_documents.into()),
            ("believed", n_believed.into()),
        ]));
    }
    answer.field("compilers", rows);
}

/// Adds a list of paths with a remark each: total and the first ones.
fn put_paths(answer: &mut Answer, name: &'static str, words: &str, paths: Vec<(String, String)>) {
    if !paths.is_empty() {
        answer.line(format!("{words}: {}", paths.len()));
    }
    let mut rows = Vec::new();
    for (path, remark) in paths.iter().take(MAX_PATHS) {
        let (path, remark) = (sanitize::line(path, 400), sanitize::line(remark, 120));
        answer.line(if remark.is_empty() { format!("  {path}") } else { format!("  {path} ({})", remark.trim_end()) });
        rows.push(match remark.is_empty() {
            true => Value::from(path),
            false => json::object([("file", path.into()), ("reason", remark.into())]),
        });
    }
    if paths.len() > MAX_PATHS {
        answer.line(format!("  … {} more", paths.len() - MAX_PATHS));
    }
    answer.field(name, json::object([("total", paths.len().into()), ("shown", rows.into())]));
}
