//! `get_context`: what to read for a task: ranked files and definitions within a token budget.

use crate::base::error::Result;
use crate::rank::order::{self, Hand};
use crate::rank::question;
use crate::tools::param::{self, Given, Param, ParamKind};
use crate::tools::sheet::{self, Purpose, Ranked};
use crate::tools::tool::{Answer, Desk, Form, Tool};
use crate::tools::{listing, repo_map, target};
use crate::view::{FileIdx, SymbolRef};

pub const TOOL: Tool = Tool {
    name: "get_context",
    title: "Context for a task",
    description: "The files and definitions that matter for a task in plain words, with exact line ranges, best first, \
                  within a token budget. Call it before reading or searching files; paste names, paths and stack \
                  traces as they are, name files you already know of in focus_files.",
    params: &[
        Param::new("task", ParamKind::Text, "what is to be done or understood, with the names you know").required(),
        repo_map::BUDGET,
        Param::new("focus_files", ParamKind::Texts, "paths of files that the task is about"),
        param::FRESH,
        param::PATH,
        param::LANG,
        param::KIND,
        param::MIN_CONFIDENCE.unlisted(),
    ],
    form: Form::Text,
    run,
};

fn run(desk: &Desk, given: &Given) -> Result<Answer> {
    let atlas = desk.atlas(given)?;
    let view = &*atlas.view;
    let focus: Vec<FileIdx> =
        given.texts("focus_files").into_iter().map(|path| target::find_file(view, path)).collect::<Result<_>>()?;
    let options = repo_map::rank_options(desk, given);
    let ranking = desk.ranking(&atlas, &options);
    let question = question::read(given.text("task").unwrap_or_default());
    let allowed = match given.text("path").is_some() || given.text("lang").is_some() {
        true => view.indices().map(|file| listing::fits_file(view, file, given)).collect(),
        false => Vec::new(),
    };
    let order = order::order(view, &ranking, &question, &Hand { focus, allowed }, &options);
    let fits = |at: &SymbolRef| listing::fits(view, *at, given);
    let ranked: Vec<Ranked> = order
        .files
        .into_iter()
        .map(|scored| {
            let mut marked = scored.symbols;
            marked.retain(|(at, _)| fits(at));
            Ranked { file: scored.file, score: scored.score, marked }
        })
        .collect();

    let budget = given.integer("budget").unwrap_or(desk.options.default_context_tokens).min(desk.options.max_tokens);
    let mut answer = Answer::new(&atlas, budget);
    answer.headline.shape = Some(question.shape.as_str());
    if !order.is_about_something {
        answer.line("no word of the task names anything here; ranked by the graph and the history alone");
    }
    let n_shown = sheet::put(&mut answer, &atlas, &ranked, given.text("kind"), Purpose::Task, &options.pack);
    answer.field("shape", question.shape.as_str());
    answer.field("files", repo_map::files_json(view, &ranked[..n_shown.min(ranked.len())]));
    Ok(answer)
}
