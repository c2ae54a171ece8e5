//! `callees_of`: what a symbol's code uses, how surely, and what lies outside.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::atlas::Atlas;
use crate::base::error::Result;
use crate::facts::model::{FileFacts, RefKind, Reference};
use crate::graph::edge::{Receiver, Unproved};
use crate::report::{json, sanitize};
use crate::tools::links::{self, Walk};
use crate::tools::param::Given;
use crate::tools::target::{self, Target};
use crate::tools::tool::{Answer, Desk, Form, Tool};
use crate::tools::verdict::Verdict;
use crate::tools::why::Explainer;
use crate::tools::{callers, listing, retained, show, target_text};
use crate::view::SymbolRef;

pub const TOOL: Tool = Tool {
    name: "callees_of",
    title: "Callees of a symbol",
    description: "What the code of a symbol calls, references or extends, with file and line of each definition. Says \
                  apart what is proved, what could not be proved, and what is outside the repository.",
    params: callers::PARAMS,
    form: Form::Text,
    run,
};

/// How many names outside of the repository are listed.
const MAX_OUTSIDE: usize = 30;

fn run(desk: &Desk, given: &Given) -> Result<Answer> {
    let atlas = desk.atlas(given)?;
    let view = &*atlas.view;
    let target = match target::resolve(&atlas, given.text("qualname").unwrap_or_default(), given.text("file")) {
        Ok(target) => target,
        Err(error) => return retained::unlinked(desk, &atlas, given, "callees").ok_or(error),
    };
    let sources = target::symbols(&target);
    let walk = Walk {
        depth: given.integer("depth").unwrap_or(1),
        min_confidence: given
            .number("min_confidence")
            .unwrap_or(desk.options.confidence_floor.max(links::CANDIDATES_BELOW)),
    };
    let mut walked = links::callees(view, &atlas.graph, &sources, walk);
    if let Target::File(file) = &target {
        walked.found.retain(|found| found.at.file != *file);
    }
    let n_left_out = listing::filter(view, &mut walked.found, given, |found| found.at)?;
    let own: Vec<SymbolRef> = sources.iter().flat_map(|at| links::with_nested(view, *at)).collect();
    let rest = rest_of(&atlas, &own);

    let mut answer = Answer::new(&atlas, desk.options.max_tokens);
    listing::put_target(&mut answer, view, &target);
    let mut verdict = Verdict::default();
    verdict.cause(rest.unproved.len(), "unproved_references", || {
        format!("{} in it", show::count(rest.unproved.len(), "unproved reference"))
    });
    let open: Vec<&Unproved> = rest.unproved.iter().collect();
    let weak = listing::weak_beside(view, &walked.weak, &open, given, listing::End::Target);
    verdict.cause(weak.len(), "candidates", || format!("{} in it", show::count(weak.len(), "candidate edge")));
    let damaged = sources.iter().any(|at| !view.facts(at.file).damage.is_empty());
    verdict.cause(usize::from(damaged), "parse_failures", || "its file did not parse whole".to_owned());
    verdict.put(&mut answer);
    let explainer = Explainer::asked(given, &atlas);
    let page = listing::page(given, walked.found.len())?;
    answer.shown(page.len(), walked.found.len(), "callees");
    let rows = listing::put_found(
        &mut answer,
        view,
        "proved",
        &walked.found,
        page.clone(),
        listing::End::Target,
        explainer.as_ref(),
    );
    answer.field("callees", rows);
    listing::put_next(&mut answer, page, walked.found.len());
    listing::put_filtered(&mut answer, n_left_out);
    listing::put_open(&mut answer, view, &open, &weak);
    put_outside(&mut answer, &rest.outside);
    Ok(answer)
}

fn put_outside(answer: &mut Answer, outside: &BTreeMap<String, usize>) {
    let names: Vec<String> = outside
        .iter()
        .take(MAX_OUTSIDE)
        .map(|(name, n)| if *n > 1 { format!("{name} ×{n}") } else { name.clone() })
        .collect();
    let more = outside.len().saturating_sub(MAX_OUTSIDE);
    let more = if more > 0 { format!(", … {more} more") } else { String::new() };
    answer.line(match names.is_empty() {
        true => "outside: none".to_owned(),
        false => format!("outside: {}: {}{more}", outside.len(), names.join(", ")),
    });
    let shown: Vec<Value> =
        outside.iter().map(|(name, n)| json::object([("name", name.clone().into()), ("count", (*n).into())])).collect();
    answer.field("outside", shown);
}

/// What of some symbols' references has no edge.
struct Rest {
    unproved: Vec<Unproved>,
    /// Calls, bases and decorators that mean something outside, as written, with their counts.
    outside: BTreeMap<String, usize>,
}

fn rest_of(atlas: &Atlas, own: &[SymbolRef]) -> Rest {
    let (view, graph) = (&*atlas.view, &*atlas.graph);
    let mut rest = Rest { unproved: Vec::new(), outside: BTreeMap::new() };
    let Some(file) = own.first().map(|at| at.file) else { return rest };
    let facts = view.facts(file);
    let mut named: Vec<(u32, &str)> = Vec::new();
    for at in own {
        let start = graph.unproved.partition_point(|unproved| unproved.from < *at);
        for unproved in graph.unproved[start..].iter().take_while(|unproved| unproved.from == *at) {
            if unproved.receiver != Receiver::External {
                named.push((unproved.line, facts.name(unproved.name)));
                rest.unproved.push(*unproved);
            }
        }
        // An alias has another name than its target: then the line must do.
        named.extend(
            graph
                .edges_from(*at)
                .iter()
                .map(|edge| (edge.line, view.facts(edge.to.file).name(view.symbol(edge.to).name))),
        );
    }
    let is_own = |reference: &Reference| own.iter().any(|at| at.symbol == reference.owner);
    for reference in facts.refs.iter().filter(|reference| is_call(reference.kind) && is_own(reference)) {
        let written = target_text::of(facts, reference.expr);
        let Some(last) = written.rsplit('.').next().filter(|last| !last.is_empty()) else { continue };
        let resolved = named.iter().any(|(line, name)| {
            *line == reference.line
                && (*name == last || matches!(*name, "<module>" | "<init>" | "__init__" | "constructor"))
        }) || is_renamed(facts, last);
        if !resolved {
            *rest.outside.entry(sanitize::line(&written, 80)).or_default() += 1;
        }
    }
    rest
}

fn is_call(kind: RefKind) -> bool {
    match kind {
        RefKind::Call | RefKind::New | RefKind::Extends | RefKind::Implements | RefKind::Decorator | RefKind::Jsx => {
            true
        }
        RefKind::Super | RefKind::Type | RefKind::Read | RefKind::Write | RefKind::Callback | RefKind::StringPath => {
            false
        }
    }
}

/// Whether a name is an import under another name, so that its target's name says nothing.
fn is_renamed(facts: &FileFacts, name: &str) -> bool {
    facts.imports.iter().any(|import| {
        import.local.is_some_and(|local| facts.name(local) == name)
            && import.name.is_some()
            && import.name != import.local
    })
}
