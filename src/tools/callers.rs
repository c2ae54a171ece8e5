//! `callers_of`: what uses a symbol, how surely, and what may use it.

use std::collections::BTreeSet;

use crate::atlas::Atlas;
use crate::base::error::Result;
use crate::graph::edge::Edge;
use crate::tools::implicit;
use crate::tools::links::{self, Walk};
use crate::tools::listing;
use crate::tools::param::{self, Given, Param, ParamKind};
use crate::tools::retained;
use crate::tools::shapes;
use crate::tools::show;
use crate::tools::target::{self, Target};
use crate::tools::tool::{Answer, Desk, Form, Tool};
use crate::tools::verdict::Verdict;
use crate::tools::why::{self, Explainer};
use crate::view::SymbolRef;

pub const TOOL: Tool = Tool {
    name: "callers_of",
    title: "Callers of a symbol",
    description: "Who calls, references or extends a symbol, with file and lines. Says apart what is proved, what may \
                  mean it but could not be proved, and what is outside. Takes a qualified name, `path::name`, a path \
                  or a sym_ handle.",
    params: PARAMS,
    form: Form::Text,
    run,
};

pub const PARAMS: &[Param] = &[
    Param::new("qualname", ParamKind::Text, "the symbol: `Class.method`, `path::name`, a path, or a sym_ handle")
        .required(),
    Param::new("file", ParamKind::Text, "the file it is in, where its name alone is ambiguous"),
    Param::new("depth", ParamKind::Integer { min: 1, max: 20 }, "how many steps to follow (default 1)"),
    param::LIMIT,
    param::CURSOR,
    param::MIN_CONFIDENCE,
    param::FRESH,
    param::PATH,
    param::LANG,
    param::KIND,
    why::WHY,
];

fn run(desk: &Desk, given: &Given) -> Result<Answer> {
    let atlas = desk.atlas(given)?;
    let (view, graph) = (&*atlas.view, &*atlas.graph);
    let name = given.text("qualname").unwrap_or_default();
    let target = match target::resolve(&atlas, name, given.text("file")) {
        Ok(target) => target,
        Err(error) => return retained::unlinked(desk, &atlas, given, retained::CALLERS).ok_or(error),
    };
    let targets: Vec<SymbolRef> = match &target {
        Target::File(file) => {
            links::with_nested(view, target::symbols(&target)[0]).into_iter().filter(|at| at.file == *file).collect()
        }
        Target::Symbols(symbols) => symbols.clone(),
    };
    let walk = Walk {
        depth: given.integer("depth").unwrap_or(1),
        min_confidence: given
            .number("min_confidence")
            .unwrap_or(desk.options.confidence_floor.max(links::CANDIDATES_BELOW)),
    };
    let own_file = match &target {
        Target::File(file) => Some(*file),
        Target::Symbols(_) => None,
    };
    let mut walked = links::callers(view, graph, &targets, walk, |at| own_file == Some(at.file));
    let n_left_out = listing::filter(view, &mut walked.found, given, |found| found.at)?;
    let same = links::unproved_named(view, graph, &targets);
    let open: Vec<_> = same.open.iter().filter(|unproved| listing::fits(view, unproved.from, given)).collect();

    let mut answer = Answer::new(&atlas, desk.options.max_tokens);
    listing::put_target(&mut answer, view, &target);
    let weak = listing::weak_beside(view, &walked.weak, &open, given, listing::End::Source);
    let (verdict, shaped) = verdict_of_uses(&atlas, &targets, noun_of(&target), (open.len(), weak.len()), given);
    let shaped: Vec<&Edge> = shaped.iter().collect();
    verdict.put(&mut answer);
    let explainer = Explainer::asked(given, &atlas);
    let page = listing::page(given, walked.found.len())?;
    answer.shown(page.len(), walked.found.len(), "callers");
    let rows = listing::put_found(
        &mut answer,
        view,
        "proved",
        &walked.found,
        page.clone(),
        listing::End::Source,
        explainer.as_ref(),
    );
    answer.field(retained::CALLERS, rows);
    listing::put_next(&mut answer, page, walked.found.len());
    listing::put_filtered(&mut answer, n_left_out);
    listing::put_open(&mut answer, view, &open, &weak);
    listing::put_shaped(&mut answer, view, &shaped);
    let outside = same.n_external;
    answer.line(match outside {
        0 => "outside: callers in other repositories are not seen".to_owned(),
        n => format!("outside: {} of that name proved to mean something outside", show::count(n, "reference")),
    });
    answer.field("outside", outside);
    Ok(answer)
}

/// Whether what is known of the uses of some symbols is all there is, and if not, why; with the uses
/// by which types of their shape may mean them. `n_open`, `n_weak`: the unproved references and
/// candidates that may mean `noun`.
pub fn verdict_of_uses(
    atlas: &Atlas,
    targets: &[SymbolRef],
    noun: &str,
    (n_open, n_weak): (usize, usize),
    given: &Given,
) -> (Verdict, Vec<Edge>) {
    let (view, graph) = (&*atlas.view, &*atlas.graph);
    let mut verdict = Verdict::default();
    verdict.cause(n_open, "unproved_references", || {
        format!("{} may mean {noun}", show::count(n_open, "unproved reference"))
    });
    verdict.cause(n_weak, "candidates", || format!("{} may mean {noun}", show::count(n_weak, "candidate edge")));
    let n_implicit = targets.iter().filter(|at| implicit::is_called_by_language(view, **at)).count();
    verdict.cause(n_implicit, "implicit_calls", || format!("the language itself may call {noun}, unwritten"));
    let n_outside = targets.iter().filter(|at| implicit::is_called_outside(view, graph, **at)).count();
    verdict.cause(n_outside, "outside_bases", || {
        format!("code outside of the repository may call {noun}, as what it knows")
    });
    let tied: BTreeSet<SymbolRef> =
        targets.iter().flat_map(|at| links::called_as(view, graph, *at)).map(|(at, _)| at).collect();
    let mut shaped = shapes::uses_by_shape(view, graph, targets, |at| tied.contains(&at));
    shaped.retain(|edge| listing::fits(view, edge.from, given));
    verdict.cause(shaped.len(), "structural_types", || {
        format!("{} of a member of that name in a type of that shape may mean {noun}", show::count(shaped.len(), "use"))
    });
    verdict.unseen(view, view.file(targets[0].file).dialect.language());
    (verdict, shaped)
}

/// How a target is spoken of.
pub fn noun_of(target: &Target) -> &'static str {
    match target {
        Target::File(_) => "something in it",
        Target::Symbols(_) => "it",
    }
}
