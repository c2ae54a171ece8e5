//! The queries that are commands only: `span`, `outline`, `refs`, `deps`, `neighborhood`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::atlas::Atlas;
use crate::base::error::{Error, ErrorKind, Result};
use crate::facts::table::Id;
use crate::graph::edge::{Edge, EdgeKind};
use crate::report::{json, sanitize};
use crate::tools::links::{self, Walk};
use crate::tools::param::{self, Given, Param, ParamKind};
use crate::tools::target::{self, Target};
use crate::tools::tool::{Answer, Desk, Form, Tool};
use crate::tools::why::{self, Explainer};
use crate::tools::{callers, get_symbol, listing, retained, show};
use crate::view::{FileIdx, SymbolRef};

const TARGET: Param =
    Param::new("qualname", ParamKind::Text, "a path, `path::name`, a qualified name, or a sym_ handle").required();
const FILE: Param = Param::new("file", ParamKind::Text, "the file it is in, where its name alone is ambiguous");

pub const SPAN: Tool = Tool {
    name: "span",
    title: "Lines of a file",
    description: "The lines FIRST-LAST of a file, as the view has them.",
    params: &[Param::new("span", ParamKind::Text, "FILE:FIRST-LAST").required()],
    form: Form::Text,
    run: run_span,
};

pub const OUTLINE: Tool = Tool {
    name: "outline",
    title: "Symbols of a file",
    description: "The definitions of a file (or of one symbol) in order, with their lines.",
    params: &[TARGET, FILE],
    form: Form::Text,
    run: run_outline,
};

pub const REFS: Tool = Tool {
    name: "refs",
    title: "References to a symbol",
    description: "Every edge that ends at a symbol, imports included, a line each.",
    params: &[
        TARGET,
        FILE,
        param::LIMIT,
        param::CURSOR,
        param::MIN_CONFIDENCE,
        param::PATH,
        param::LANG,
        param::KIND,
        why::WHY,
    ],
    form: Form::Text,
    run: run_refs,
};

pub const DEPS: Tool = Tool {
    name: "deps",
    title: "Imports of a file",
    description: "What a file imports, and which files use it.",
    params: &[TARGET, FILE, param::LIMIT],
    form: Form::Text,
    run: run_deps,
};

pub const NEIGHBORHOOD: Tool = Tool {
    name: "neighborhood",
    title: "The graph around a symbol",
    description: "Callers, callees, bases and overrides of a symbol within some steps.",
    params: &[
        TARGET,
        FILE,
        Param::new("depth", ParamKind::Integer { min: 1, max: 5 }, "how many steps each way (default 1)"),
        param::LIMIT,
    ],
    form: Form::Text,
    run: run_neighborhood,
};

fn run_span(desk: &Desk, given: &Given) -> Result<Answer> {
    let atlas = desk.atlas(given)?;
    let (file, first, last) = get_symbol::parse_span(given.text("span").unwrap_or_default())?;
    let file = target::find_file(&atlas.view, file)?;
    let n_lines = atlas.view.facts(file).n_lines;
    let path = sanitize::line(atlas.view.file(file).path.as_str(), 400);
    if first > n_lines {
        return Err(Error::new(ErrorKind::UnknownTarget, format!("`{path}` has {n_lines} lines, not {first}"))
            .hint(format!("ask for lines from 1 to {n_lines}")));
    }
    let last = last.min(n_lines);
    let mut answer = Answer::new(&atlas, usize::MAX);
    answer.shown((last + 1 - first) as usize, n_lines as usize, "lines");
    answer.field("file", path);
    answer.field("start_line", first);
    answer.field("end_line", last);
    let lines = get_symbol::put_lines(&mut answer, desk, &atlas, file, first, last)?;
    answer.field("lines", lines);
    Ok(answer)
}

fn run_outline(desk: &Desk, given: &Given) -> Result<Answer> {
    let atlas = desk.atlas(given)?;
    let view = &*atlas.view;
    let target = target::resolve(&atlas, given.text("qualname").unwrap_or_default(), given.text("file"))?;
    let mut answer = Answer::new(&atlas, desk.options.max_tokens);
    listing::put_target(&mut answer, view, &target);
    let mut rows = Vec::new();
    for root in target::symbols(&target) {
        let facts = view.facts(root.file);
        for at in links::with_nested(view, root).into_iter().skip(usize::from(root.symbol.index() == 0)) {
            let symbol = view.symbol(at);
            let depth = std::iter::successors(symbol.parent, |parent| facts.symbol(*parent).parent).count();
            let signature = facts.name(symbol.signature);
            let signature = if signature.is_empty() { facts.name(symbol.name) } else { signature };
            answer.line(format!(
                "{}{}-{} {} {}",
                "  ".repeat(depth.min(20)),
                symbol.start_line,
                symbol.end_line,
                show::kind(symbol),
                sanitize::line(signature, 160)
            ));
            rows.push(show::symbol_json(view, at));
        }
    }
    answer.shown(rows.len(), rows.len(), "symbols");
    answer.field("symbols", rows);
    if let Target::File(file) = target {
        retained::put(&mut answer, &Vec::from_iter(retained::of(desk, &atlas, file)), false);
    }
    Ok(answer)
}

fn run_refs(desk: &Desk, given: &Given) -> Result<Answer> {
    let atlas = desk.atlas(given)?;
    let view = &*atlas.view;
    let target = target::resolve(&atlas, given.text("qualname").unwrap_or_default(), given.text("file"))?;
    let symbols = match &target {
        Target::File(file) => links::with_nested(view, SymbolRef { file: *file, symbol: Id::new(0) }),
        Target::Symbols(symbols) => symbols.clone(),
    };
    let floor = given.number("min_confidence").unwrap_or(desk.options.confidence_floor);
    let mut edges: Vec<_> = symbols
        .iter()
        .flat_map(|at| atlas.graph.edges_to(*at))
        .filter(|edge| !matches!(target, Target::File(file) if edge.from.file == file))
        .collect();
    edges.sort();
    let n_left_out = listing::filter(view, &mut edges, given, |edge| edge.from)?;
    let (edges, weak): (Vec<&Edge>, Vec<&Edge>) = edges.into_iter().partition(|edge| edge.confidence.as_f64() >= floor);
    let mut answer = Answer::new(&atlas, desk.options.max_tokens);
    listing::put_target(&mut answer, view, &target);
    let same = links::unproved_named(view, &atlas.graph, &symbols);
    let open: Vec<_> = same.open.iter().filter(|unproved| listing::fits(view, unproved.from, given)).collect();
    let counts = (open.len(), weak.len());
    let (verdict, shaped) = callers::verdict_of_uses(&atlas, &symbols, callers::noun_of(&target), counts, given);
    let shaped: Vec<&Edge> = shaped.iter().collect();
    verdict.put(&mut answer);
    let explainer = Explainer::asked(given, &atlas);
    let page = listing::page(given, edges.len())?;
    answer.shown(page.len(), edges.len(), "references");
    let mut rows = Vec::new();
    for edge in &edges[page.clone()] {
        answer.line(listing::edge_line(view, edge));
        let mut row = listing::edge_json(view, edge);
        if let (Value::Object(fields), Some(explainer)) = (&mut row, &explainer) {
            explainer.lines(&[edge]).into_iter().for_each(|line| answer.line(line));
            fields.insert("why".to_owned(), explainer.json(edge));
        }
        rows.push(row);
    }
    answer.field("references", rows);
    listing::put_next(&mut answer, page, edges.len());
    listing::put_filtered(&mut answer, n_left_out);
    listing::put_open(&mut answer, view, &open, &weak);
    listing::put_shaped(&mut answer, view, &shaped);
    Ok(answer)
}

fn run_deps(desk: &Desk, given: &Given) -> Result<Answer> {
    let atlas = desk.atlas(given)?;
    let view = &*atlas.view;
    let text = given.text("qualname").unwrap_or_default();
    let file = match target::resolve(&atlas, text, given.text("file"))? {
        Target::File(file) => file,
        Target::Symbols(symbols) => symbols[0].file,
    };
    let limit = given.integer("limit").unwrap_or(200);
    let mut answer = Answer::new(&atlas, desk.options.max_tokens);
    listing::put_target(&mut answer, view, &Target::File(file));
    let uses = &atlas.graph.file_uses;
    let out: Vec<(FileIdx, bool)> = uses.iter().filter(|u| u.from == file).map(|u| (u.to, u.type_only)).collect();
    let back: Vec<(FileIdx, bool)> = uses.iter().filter(|u| u.to == file).map(|u| (u.from, u.type_only)).collect();
    answer.shown(out.len().min(limit) + back.len().min(limit), out.len() + back.len(), "files");
    put_uses(&mut answer, &atlas, "imports", &out, limit);
    put_uses(&mut answer, &atlas, "imported_by", &back, limit);
    let facts = view.facts(file);
    let mut written: BTreeMap<String, u32> = BTreeMap::new();
    for import in &facts.imports {
        let module = format!("{}{}", ".".repeat(import.level.min(64) as usize), facts.text(import.module));
        if !module.is_empty() {
            written.entry(sanitize::line(&module, 120)).or_insert(import.line);
        }
    }
    answer.line(format!("written: {}", written.keys().cloned().collect::<Vec<_>>().join(", ")));
    let rows: Vec<Value> = written
        .into_iter()
        .map(|(module, line)| json::object([("module", module.into()), ("line", line.into())]))
        .collect();
    answer.field("written", rows);
    Ok(answer)
}

fn put_uses(answer: &mut Answer, atlas: &Atlas, name: &'static str, uses: &[(FileIdx, bool)], limit: usize) {
    answer.line(format!("{name}: {}", uses.len()));
    let mut rows = Vec::new();
    for (file, type_only) in uses.iter().take(limit) {
        let path = sanitize::line(atlas.view.file(*file).path.as_str(), 400);
        answer.line(format!("  {path}{}", if *type_only { " (types only)" } else { "" }));
        rows.push(json::object([("file", path.into()), ("type_only", (*type_only).into())]));
    }
    answer.field(name, rows);
}

fn run_neighborhood(desk: &Desk, given: &Given) -> Result<Answer> {
    let atlas = desk.atlas(given)?;
    let (view, graph) = (&*atlas.view, &*atlas.graph);
    let target = target::resolve(&atlas, given.text("qualname").unwrap_or_default(), given.text("file"))?;
    let symbols = target::symbols(&target);
    let walk = Walk {
        depth: given.integer("depth").unwrap_or(1),
        min_confidence: desk.options.confidence_floor.max(links::CANDIDATES_BELOW),
    };
    let limit = given.integer("limit").unwrap_or(50);
    let mut answer = Answer::new(&atlas, desk.options.max_tokens);
    listing::put_target(&mut answer, view, &target);
    let callers = links::callers(view, graph, &symbols, walk, |_| false).found;
    let callees = links::callees(view, graph, &symbols, walk).found;
    let n_shown = callers.len().min(limit) + callees.len().min(limit);
    answer.shown(n_shown, callers.len() + callees.len(), "neighbors");
    let page = 0..callers.len().min(limit);
    let rows = listing::put_found(&mut answer, view, "callers", &callers, page, listing::End::Source, None);
    answer.field("callers", rows);
    let page = 0..callees.len().min(limit);
    let rows = listing::put_found(&mut answer, view, "callees", &callees, page, listing::End::Target, None);
    answer.field("callees", rows);
    for (name, up) in [("overrides", true), ("overridden_by", false)] {
        let mut ends: Vec<SymbolRef> = symbols
            .iter()
            .flat_map(|at| -> Vec<SymbolRef> {
                if up {
                    graph.edges_from(*at).iter().filter(|e| e.kind == EdgeKind::Overrides).map(|e| e.to).collect()
                } else {
                    links::overriding(graph, *at)
                }
            })
            .collect();
        ends.sort();
        ends.dedup();
        for at in &ends {
            answer.line(format!("{name}: {}", show::place(view, *at)));
        }
        answer.field(name, ends.iter().map(|at| show::symbol_json(view, *at)).collect::<Vec<_>>());
    }
    Ok(answer)
}
