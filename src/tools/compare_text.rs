//! `compare text`: the graph held against a word search of the indexed files. What both find, what
//! only the words show (and whether it stands in a comment or a string), what only the graph knows.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::base::error::Result;
use crate::facts::model::{Binding, NameId, ScopeId};
use crate::facts::table::Id;
use crate::graph::edge::{Edge, EdgeKind, Graph};
use crate::lang::quiet::{self, Quiet};
use crate::report::{json, sanitize};
use crate::tools::param::{self, Given, Param, ParamKind};
use crate::tools::target::{self, Target};
use crate::tools::tool::{Answer, Desk, Form, Tool};
use crate::tools::{links, listing, show};
use crate::view::{FileIdx, SymbolRef, View};

pub const TOOL: Tool = Tool {
    name: "compare_text",
    title: "The graph against a word search",
    description: "What edges to a symbol and a search for its name have in common, and what only one of them finds.",
    params: &[
        Param::new("qualname", ParamKind::Text, "a qualified name, `path::name`, or a sym_ handle").required(),
        Param::new("file", ParamKind::Text, "the file it is in, where its name alone is ambiguous"),
        param::LIMIT,
        param::PATH,
        param::LANG,
    ],
    form: Form::Text,
    run,
};

/// Why a word has no edge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    /// In code, and nothing is known of it.
    Code,
    /// A reference whose target is not known.
    Unproved,
    /// The name of the definition, or of another one.
    Definition(String),
    /// The line has an edge to something else of that name.
    Other(String),
    Text,
    Comment,
}

/// A word of the search.
struct Word {
    file: FileIdx,
    line: u32,
    quiet: Option<Quiet>,
}

fn run(desk: &Desk, given: &Given) -> Result<Answer> {
    let atlas = desk.atlas(given)?;
    let (view, graph) = (&*atlas.view, &*atlas.graph);
    let target = target::resolve(&atlas, given.text("qualname").unwrap_or_default(), given.text("file"))?;
    let targets = target::symbols(&target);
    let name = match &target {
        Target::File(file) => sanitize::line(view.file(*file).path.stem(), 200),
        Target::Symbols(symbols) => written_name(view, symbols[0]),
    };
    let language = view.file(targets[0].file).dialect.language();
    let mut words = Vec::new();
    for file in view.indices().filter(|file| listing::fits_file(view, *file, given)) {
        let at = view.file(file);
        if at.dialect.language().shares_names_with(language)
            && let Ok(bytes) = desk.source.read(&atlas, &at.path)
        {
            words.extend(search(file, at.dialect, &bytes, &name));
        }
    }
    let edges = edges_to(view, graph, &targets);
    let lines_of_edges: BTreeMap<(FileIdx, u32), &Edge> =
        edges.iter().map(|edge| ((edge.from.file, edge.line), edge)).collect();
    let lines_of_words: BTreeSet<(FileIdx, u32)> = words.iter().map(|word| (word.file, word.line)).collect();

    let mut matched: BTreeSet<(FileIdx, u32)> = BTreeSet::new();
    let mut text_only: BTreeMap<(FileIdx, u32), Cause> = BTreeMap::new();
    for word in &words {
        let place = (word.file, word.line);
        let is_path = lines_of_edges.get(&place).is_some_and(|edge| is_of_string(edge));
        if lines_of_edges.contains_key(&place) && (word.quiet.is_none() || is_path) {
            matched.insert(place);
            continue;
        }
        let cause = match word.quiet {
            Some(Quiet::Comment) => Cause::Comment,
            Some(Quiet::Text) => Cause::Text,
            None => cause_of(view, graph, &targets, place, &name),
        };
        // The least explained word of a line speaks for it.
        text_only.entry(place).and_modify(|known| *known = known.clone().min(cause.clone())).or_insert(cause);
    }
    text_only.retain(|place, _| !matched.contains(place));
    let fits = |edge: &&Edge| listing::fits(view, edge.from, given);
    let graph_only: Vec<&Edge> =
        edges.iter().filter(fits).filter(|edge| !lines_of_words.contains(&(edge.from.file, edge.line))).collect();

    let mut answer = Answer::new(&atlas, desk.options.max_tokens);
    listing::put_target(&mut answer, view, &target);
    answer.field("word", name.clone());
    let limit = given.integer("limit").unwrap_or(50);
    put_matched(&mut answer, view, &matched);
    put_text_only(&mut answer, view, &text_only, limit);
    answer.line(format!("graph only: {}", graph_only.len()));
    let mut rows = Vec::new();
    for edge in graph_only.iter().take(limit) {
        answer.line(format!("  {}", listing::edge_line(view, edge)));
        rows.push(listing::edge_json(view, edge));
    }
    answer.field("graph_only", json::object([("total", graph_only.len().into()), ("shown", rows.into())]));
    let n_shown = text_only.len().min(limit) + graph_only.len().min(limit);
    answer.shown(n_shown, text_only.len() + graph_only.len(), "differences");
    Ok(answer)
}

fn put_matched(answer: &mut Answer, view: &View, matched: &BTreeSet<(FileIdx, u32)>) {
    answer.line(format!("matched: {}", show::count(matched.len(), "line")));
    let rows: Vec<Value> = matched
        .iter()
        .map(|(file, line)| json::object([("file", path_of(view, *file).into()), ("line", (*line).into())]))
        .collect();
    answer.field("matched", rows);
}

fn put_text_only(answer: &mut Answer, view: &View, text_only: &BTreeMap<(FileIdx, u32), Cause>, limit: usize) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for cause in text_only.values() {
        *counts.entry(cause.as_str()).or_default() += 1;
    }
    let words: Vec<String> = counts.iter().map(|(cause, n)| format!("{n} {cause}")).collect();
    answer.line(match words.is_empty() {
        true => "text only: 0".to_owned(),
        false => format!("text only: {} ({})", text_only.len(), words.join(", ")),
    });
    // What nothing explains is what a reader looks for.
    let mut sorted: Vec<(&Cause, &(FileIdx, u32))> = text_only.iter().map(|(place, cause)| (cause, place)).collect();
    sorted.sort_by_key(|(cause, place)| (cause.rank(), **place));
    let mut rows = Vec::new();
    for (cause, (file, line)) in sorted.into_iter().take(limit) {
        let path = path_of(view, *file);
        let detail = cause.detail().map(|detail| format!(" {detail}")).unwrap_or_default();
        answer.line(format!("  {path}:{line} {}{detail}", cause.as_str()));
        rows.push(json::object([
            ("file", path.into()),
            ("line", (*line).into()),
            ("cause", cause.as_str().into()),
            ("of", cause.detail().map_or(Value::Null, Value::from)),
        ]));
    }
    let counts: serde_json::Map<String, Value> =
        counts.into_iter().map(|(cause, n)| (cause.to_owned(), n.into())).collect();
    answer.field(
        "text_only",
        json::object([("total", text_only.len().into()), ("by_cause", counts.into()), ("shown", rows.into())]),
    );
}

impl Cause {
    fn as_str(&self) -> &'static str {
        match self {
            Cause::Code => "code",
            Cause::Unproved => "unproved",
            Cause::Definition(_) => "definition",
            Cause::Other(_) => "other",
            Cause::Text => "string",
            Cause::Comment => "comment",
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Cause::Code => 0,
            Cause::Unproved => 1,
            Cause::Other(_) => 2,
            Cause::Text => 3,
            Cause::Comment => 4,
            Cause::Definition(_) => 5,
        }
    }

    fn detail(&self) -> Option<&str> {
        match self {
            Cause::Definition(of) | Cause::Other(of) => Some(of),
            Cause::Code | Cause::Unproved | Cause::Text | Cause::Comment => None,
        }
    }
}

/// The name that a symbol's uses are written with: of a constructor its class's.
fn written_name(view: &View, at: SymbolRef) -> String {
    let owner = links::class_of_constructor(view, at).unwrap_or(at);
    view.facts(owner.file).name(view.symbol(owner).name).to_owned()
}

/// The edges to the targets, to their constructors where they are classes.
fn edges_to(view: &View, graph: &Graph, targets: &[SymbolRef]) -> Vec<Edge> {
    let mut ends: Vec<SymbolRef> = targets.to_vec();
    for at in targets {
        ends.extend(links::constructors(view, *at));
        ends.extend(links::class_of_constructor(view, *at));
    }
    ends.sort_unstable();
    ends.dedup();
    let mut edges: Vec<Edge> =
        ends.iter().flat_map(|at| graph.edges_to(*at)).filter(|e| e.kind != EdgeKind::Overrides).cloned().collect();
    edges.sort();
    edges.dedup_by_key(|edge| (edge.from, edge.line, edge.kind));
    edges
}

fn is_of_string(edge: &Edge) -> bool {
    edge.strategy == crate::graph::edge::Strategy::StringPath || edge.kind == EdgeKind::Imports
}

/// Why a word of code has no edge to the targets.
fn cause_of(view: &View, graph: &Graph, targets: &[SymbolRef], (file, line): (FileIdx, u32), name: &str) -> Cause {
    let facts = view.facts(file);
    let named = |at: &SymbolRef| facts.name(view.symbol(*at).name) == name && view.symbol(*at).name_line == line;
    let mut rows = (1..facts.symbols.len()).map(|row| SymbolRef { file, symbol: Id::new(row) });
    if let Some(at) = rows.find(named) {
        let own = targets.contains(&at) || targets.iter().any(|t| links::class_of_constructor(view, *t) == Some(at));
        let of = if own { "itself".to_owned() } else { show::qualname(view, at) };
        return Cause::Definition(of);
    }
    let start = graph.unproved.partition_point(|unproved| unproved.from.file < file);
    let mut of_file = graph.unproved[start..].iter().take_while(|unproved| unproved.from.file == file);
    if of_file.any(|unproved| unproved.line == line && facts.name(unproved.name) == name) {
        return Cause::Unproved;
    }
    let start = graph.edges.partition_point(|edge| edge.from.file < file);
    let mut of_file = graph.edges[start..].iter().take_while(|edge| edge.from.file == file);
    let other = of_file.find(|edge| edge.line == line && written_name(view, edge.to) == name);
    if let Some(edge) = other {
        return Cause::Other(format!("means {}:{}", show::path(view, edge.to), show::qualname(view, edge.to)));
    }
    let is_part = |text: &str| text.split(['.', '/']).any(|part| part == name);
    if facts.imports.iter().any(|import| import.line == line && is_part(facts.text(import.module))) {
        return Cause::Other("a module's path".to_owned());
    }
    // Within the function that declares a parameter or local of that name, that is what it is.
    let is_name = |id: Option<NameId>| id.is_some_and(|id| facts.name(id) == name);
    let around = |scope: ScopeId| {
        let owner = facts.symbol(facts.scope(scope).owner);
        owner.kind.is_function() && (owner.start_line..=owner.end_line).contains(&line)
    };
    if facts.params.iter().any(|param| is_name(param.name) && (param.line == line || around(param.scope))) {
        return Cause::Definition("a parameter".to_owned());
    }
    let is_local = |binding: &Binding| is_name(binding.name) && binding.symbol.is_none() && around(binding.scope);
    if facts.bindings.iter().any(is_local) {
        return Cause::Definition("a local".to_owned());
    }
    Cause::Code
}

/// The whole words of a source, in order.
fn search(file: FileIdx, dialect: crate::base::dialect::Dialect, bytes: &[u8], name: &str) -> Vec<Word> {
    let text = String::from_utf8_lossy(bytes);
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let found: Vec<usize> = text
        .match_indices(name)
        .map(|(at, _)| at)
        .filter(|at| !text[..*at].chars().next_back().is_some_and(is_word))
        .filter(|at| !text[at + name.len()..].chars().next().is_some_and(is_word))
        .collect();
    if found.is_empty() || name.is_empty() {
        return Vec::new();
    }
    let quiet = quiet::quiet(dialect, text.as_bytes());
    let mut words = Vec::with_capacity(found.len());
    let (mut line, mut counted) = (1, 0);
    for at in found {
        line += text.as_bytes()[counted..at].iter().filter(|byte| **byte == b'\n').count() as u32;
        counted = at;
        let before = quiet.partition_point(|(range, _)| range.end <= at);
        let around = quiet.get(before).filter(|(range, _)| range.contains(&at));
        words.push(Word { file, line, quiet: around.map(|row| row.1) });
    }
    words
}

fn path_of(view: &View, file: FileIdx) -> String {
    sanitize::line(view.file(file).path.as_str(), 400)
}
