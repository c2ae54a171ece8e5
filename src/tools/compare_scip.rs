//! `compare scip`: the graph held against a compiler's index, reference by reference.
//!
//! A reference is *matched* where both lead to the same definition, a *contradiction* where they
//! lead to different ones, a *miss* where only the compiler's leads into the repository, *outside*
//! where only the graph's does and the compiler's into another package (sources it took as
//! installed), and an *extra* where the compiler says nothing of a place that the graph has an edge
//! from. A class and its constructors count as one, and so do overloads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::Value;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::Digest;
use crate::facts::model::FileFacts;
use crate::graph::compiled::{self, FileWords, Word};
use crate::graph::edge::{EdgeKind, Graph};
use crate::graph::link::link;
use crate::graph::trace::{self, Tracer};
use crate::index::compiler::{self, Placing};
use crate::report::{json, sanitize};
use crate::scip::index::Index;
use crate::tools::param::Given;
use crate::tools::tool::{Answer, Desk};
use crate::tools::{links, show, target_text};
use crate::view::names::plain;
use crate::view::{FileIdx, SymbolRef, View};

/// How the two sides stand to each other at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Finding {
    Matched,
    Contradiction,
    Miss,
    Outside,
    Extra,
}

impl Finding {
    const ALL: [Finding; 5] =
        [Finding::Matched, Finding::Contradiction, Finding::Miss, Finding::Outside, Finding::Extra];

    fn as_str(self) -> &'static str {
        match self {
            Finding::Matched => "matched",
            Finding::Contradiction => "contradictions",
            Finding::Miss => "misses",
            Finding::Outside => "outside",
            Finding::Extra => "extras",
        }
    }
}

/// One place that was held against the index.
struct Row {
    finding: Finding,
    kind: EdgeKind,
    file: FileIdx,
    line: u32,
    column: u32,
    written: String,
    graph: Vec<SymbolRef>,
    compiler: Vec<SymbolRef>,
    /// Whether the compiler leads out of the repository.
    is_external: bool,
}

/// A definition as the two sides are compared by: its file and plain name, a constructor's class.
type Key = (FileIdx, String);

/// Compares the tree of a desk with an index of it; the number beside the answer is that of
/// contradictions.
///
/// # Errors
/// As [`Desk::atlas`]; `CannotAnswer` where no document fits a file of the tree.
pub fn answer(desk: &Desk, index: &Index, digest: Digest, limit: usize) -> Result<(Answer, usize)> {
    let atlas = desk.atlas(&Given::default())?;
    // What a compiler said before must not speak for the graph here.
    let mut view = View { compilers: Vec::new(), directory: None, ..(*atlas.view).clone() };
    let graph: Arc<Graph> = match atlas.view.compilers.is_empty() {
        true => Arc::clone(atlas.graph.shared()),
        false => Arc::new(link(&view)),
    };
    let (program, placing) = compiler::place(index, digest, &view, |path| desk.source.read(&atlas, path).ok());
    if program.documents.is_empty() {
        return Err(Error::new(ErrorKind::CannotAnswer, "no document of the index fits a file of this tree")
            .hint("run the indexer at the repository's root, on the tree as it is now"));
    }
    let files: Vec<(FileIdx, u32)> = view
        .indices()
        .filter(|file| {
            let at = view.file(*file);
            program.find(&at.path, at.blob, at.dialect).is_some()
        })
        .map(|file| (file, 0))
        .collect();
    let tool = program.tool.clone();
    view.compilers = vec![Arc::new(program)];
    let words = compiled::words(&view, &files);
    let tracer = Tracer::new(&view, &graph);
    let mut rows: Vec<Row> = files
        .par_iter()
        .filter_map(|(file, _)| Some((*file, words.get(file)?)))
        .flat_map_iter(|(file, words)| compare_file(&tracer, &graph, file, words))
        .collect();
    rows.sort_by_key(|row| (row.finding, row.file, row.line, row.column));
    let mut answer = Answer::new(&atlas, desk.options.max_tokens);
    answer.field("tool", sanitize::line(&tool, 80));
    put(&mut answer, &view, &placing, &rows, limit);
    let n_contradictions = rows.iter().filter(|row| row.finding == Finding::Contradiction).count();
    Ok((answer, n_contradictions))
}

fn compare_file(tracer: &Tracer<'_>, graph: &Graph, file: FileIdx, words: &FileWords) -> Vec<Row> {
    let mut rows = Vec::new();
    let view = tracer.view;
    let facts = view.facts(file);
    let mut found: BTreeMap<usize, Vec<SymbolRef>> = BTreeMap::new();
    for traced in tracer.references(file) {
        let ends = traced.edges.iter().filter(|edge| trace::is_written(edge)).map(|edge| edge.to);
        found.entry(traced.reference).or_default().extend(ends);
    }
    let guesses = guesses(view, graph, file);
    // Several references of one place (a call and the read of its callee) are one word's.
    let mut places: BTreeMap<(u32, u32), (EdgeKind, String, Vec<SymbolRef>)> = BTreeMap::new();
    for (at, reference) in facts.refs.iter().enumerate() {
        let written = target_text::of(facts, reference.expr);
        let mut ends = found.remove(&at).unwrap_or_default();
        let last = written.rsplit('.').next().unwrap_or_default();
        if ends.is_empty()
            && let Some(guessed) = guesses.get(&(reference.line, last))
        {
            ends = guessed.clone();
        }
        let kind = EdgeKind::of_reference(reference.kind);
        let known = places.entry((reference.line, reference.column));
        let known = known.or_insert_with(|| (kind, written.clone(), Vec::new()));
        if known.2.is_empty() {
            *known = (kind, written, ends);
        } else {
            known.2.extend(ends);
        }
    }
    for traced in tracer.imports(file) {
        places.entry((traced.line, traced.column)).or_insert((EdgeKind::Imports, traced.name, traced.symbols));
    }
    let seen: BTreeSet<(u32, u32)> = places.keys().copied().collect();
    for (place, (kind, written, ends)) in places {
        push(view, &mut rows, (file, place), kind, written, ends, words.at(place.0, place.1));
    }
    for (place, word) in words.iter().filter(|(place, _)| !seen.contains(place)) {
        let kind = if is_import(facts, place.0) { EdgeKind::Imports } else { EdgeKind::References };
        push(view, &mut rows, (file, place), kind, String::new(), Vec::new(), Some(word));
    }
    rows
}

/// The likely and candidate targets of a file's calls, by line and name: these are no trace's.
fn guesses<'v>(view: &'v View, graph: &Graph, file: FileIdx) -> BTreeMap<(u32, &'v str), Vec<SymbolRef>> {
    use crate::graph::edge::Strategy;
    let start = graph.edges.partition_point(|edge| edge.from.file < file);
    let mut guesses: BTreeMap<(u32, &str), Vec<SymbolRef>> = BTreeMap::new();
    for edge in graph.edges[start..].iter().take_while(|edge| edge.from.file == file) {
        if let Strategy::UniqueName = edge.strategy {
            let name = view.facts(edge.to.file).name(view.symbol(edge.to).name);
            guesses.entry((edge.line, name)).or_default().push(edge.to);
        }
    }
    guesses
}

fn is_import(facts: &FileFacts, line: u32) -> bool {
    facts.imports.iter().any(|import| import.line == line || import.name_line == line)
        || facts.exports.iter().any(|export| export.module.is_some() && export.line == line)
}

fn push(
    view: &View,
    rows: &mut Vec<Row>,
    (file, (line, column)): (FileIdx, (u32, u32)),
    kind: EdgeKind,
    written: String,
    graph: Vec<SymbolRef>,
    word: Option<&Word>,
) {
    let (compiler, is_external) = match word {
        Some(Word::Symbols(symbols)) => (symbols.clone(), false),
        Some(Word::External) => (Vec::new(), true),
        None => (Vec::new(), false),
    };
    let keys = |ends: &[SymbolRef]| -> BTreeSet<Key> { ends.iter().map(|at| key_of(view, *at)).collect() };
    let (ours, theirs) = (keys(&graph), keys(&compiler));
    let finding = match (ours.is_empty(), theirs.is_empty()) {
        (true, true) => return,
        (true, false) => Finding::Miss,
        (false, true) if is_external => Finding::Outside,
        (false, true) => Finding::Extra,
        (false, false) if ours.is_disjoint(&theirs) => Finding::Contradiction,
        (false, false) => Finding::Matched,
    };
    rows.push(Row { finding, kind, file, line, column, written, graph, compiler, is_external });
}

fn key_of(view: &View, at: SymbolRef) -> Key {
    let at = links::class_of_constructor(view, at).unwrap_or(at);
    (at.file, plain(view.qualname(at)))
}

fn put(answer: &mut Answer, view: &View, placing: &Placing, rows: &[Row], limit: usize) {
    answer.line(format!(
        "documents: {} compared, {} not in this tree, {} of other bytes",
        placing.n_placed,
        placing.unknown.len(),
        placing.misfits.len()
    ));
    let count = |kind: EdgeKind, finding| rows.iter().filter(|r| r.kind == kind && r.finding == finding).count();
    let mut kinds = Vec::new();
    for kind in EdgeKind::ALL {
        let counts = Finding::ALL.map(|finding| (finding.as_str(), count(kind, finding)));
        if counts.iter().all(|(_, n)| *n == 0) {
            continue;
        }
        let words: Vec<String> = counts.iter().map(|(name, n)| format!("{n} {name}")).collect();
        answer.line(format!("{}: {}", kind.as_str(), words.join(", ")));
        let mut fields = serde_json::Map::from_iter([("kind".to_owned(), Value::from(kind.as_str()))]);
        fields.extend(counts.iter().map(|(name, n)| ((*name).to_owned(), Value::from(*n))));
        kinds.push(Value::Object(fields));
    }
    answer.field("documents", placing.n_placed);
    answer.field("not_in_tree", placing.unknown.len());
    answer.field("of_other_bytes", placing.misfits.len());
    answer.field("kinds", kinds);
    let (mut n_shown, mut n_all) = (0, 0);
    for finding in [Finding::Contradiction, Finding::Miss, Finding::Outside, Finding::Extra] {
        let found: Vec<&Row> = rows.iter().filter(|row| row.finding == finding).collect();
        n_all += found.len();
        answer.line(format!("{}: {}", finding.as_str(), found.len()));
        let mut shown = Vec::new();
        for alike in alike(&found).iter().take(limit) {
            n_shown += alike.len();
            let times = if alike.len() > 1 { format!("×{} ", alike.len()) } else { String::new() };
            answer.line(format!("  {times}{}", line_of(view, alike[0])));
            shown.push(row_json(view, alike));
        }
        answer.field(finding.as_str(), json::object([("total", found.len().into()), ("shown", shown.into())]));
    }
    answer.shown(n_shown, n_all, "differences");
}

/// Differences of one cause: the same name with the same ends on both sides. The most frequent
/// first, then by place.
fn alike<'r>(rows: &[&'r Row]) -> Vec<Vec<&'r Row>> {
    let mut groups: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let last = row.written.rsplit('.').next().unwrap_or_default();
        groups.entry((row.kind, last, &*row.graph, &*row.compiler)).or_default().push(row);
    }
    let mut groups: Vec<Vec<&Row>> = groups.into_values().collect();
    groups.sort_by_key(|alike| (std::cmp::Reverse(alike.len()), alike[0].file, alike[0].line, alike[0].column));
    groups
}

fn ends_of(view: &View, ends: &[SymbolRef], is_external: bool) -> String {
    if ends.is_empty() {
        return if is_external { "something outside" } else { "nothing" }.to_owned();
    }
    let mut names: Vec<String> =
        ends.iter().map(|at| format!("{}::{}", show::path(view, *at), show::qualname(view, *at))).collect();
    names.dedup();
    names.join(", ")
}

fn line_of(view: &View, row: &Row) -> String {
    let path = sanitize::line(view.file(row.file).path.as_str(), 400);
    let written = if row.written.is_empty() { "(no reference)" } else { &row.written };
    let written = sanitize::line(written, 80);
    let (line, column, kind) = (row.line, row.column + 1, row.kind.as_str());
    let (graph, compiler) = (ends_of(view, &row.graph, false), ends_of(view, &row.compiler, row.is_external));
    format!("{path}:{line}:{column} {kind} {written}: graph {graph}; compiler {compiler}")
}

fn row_json(view: &View, alike: &[&Row]) -> Value {
    let row = alike[0];
    let ends = |ends: &[SymbolRef]| -> Value {
        ends.iter()
            .map(|at| {
                json::object([("file", show::path(view, *at).into()), ("qualname", show::qualname(view, *at).into())])
            })
            .collect()
    };
    json::object([
        ("file", sanitize::line(view.file(row.file).path.as_str(), 400).into()),
        ("line", row.line.into()),
        ("column", (row.column + 1).into()),
        ("kind", row.kind.as_str().into()),
        ("written", sanitize::line(&row.written, 80).into()),
        ("graph", ends(&row.graph)),
        ("compiler", ends(&row.compiler)),
        ("outside", row.is_external.into()),
        ("count", alike.len().into()),
    ])
}
