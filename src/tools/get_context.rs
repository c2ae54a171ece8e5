//! `get_context`: what to read for a task: ranked files and definitions within a token budget.

use std::collections::BTreeMap;

use crate::base::error::Result;
use crate::rank::{files, lexical, surface};
use crate::tools::param::{self, Given, Param, ParamKind};
use crate::tools::sheet::{self, Ranked};
use crate::tools::tool::{Answer, Desk, Form, Tool};
use crate::tools::{listing, repo_map, target};
use crate::view::{FileIdx, SymbolRef};

pub const TOOL: Tool = Tool {
    name: "get_context",
    title: "Context for a task",
    description: "The files and definitions that matter for a task in plain words, with exact line ranges, best first, \
                  within a token budget. Call it before reading or searching files; name files you already know of in \
                  focus_files.",
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

/// How many of the best matching symbols seed the ranking.
const N_SEEDS: usize = 200;

/// The share of their words that tests and examples keep, unless the task is about tests. A guess.
const SECONDARY: f64 = 0.4;

fn run(desk: &Desk, given: &Given) -> Result<Answer> {
    let atlas = desk.atlas(given)?;
    let view = &*atlas.view;
    let task = given.text("task").unwrap_or_default();
    let focus: Vec<FileIdx> =
        given.texts("focus_files").into_iter().map(|path| target::find_file(view, path)).collect::<Result<_>>()?;
    let scored: Vec<(SymbolRef, f64)> =
        lexical::score_symbols(view, task).into_iter().filter(|(at, _)| listing::fits(view, *at, given)).collect();
    let best = scored.first().map_or(1.0, |(_, score)| *score);

    let mut seeds = vec![0.0; view.files.len()];
    let mut words: BTreeMap<FileIdx, f64> = BTreeMap::new();
    for (n_before, (at, score)) in scored.iter().take(N_SEEDS).enumerate() {
        // Later hits of the same file add less: ten weak matches are no strong one.
        let share = score / best;
        let sum = words.entry(at.file).or_default();
        *sum = sum.max(share) + 0.05 * share;
        seeds[at.file.0 as usize] += share / (1.0 + n_before as f64).sqrt();
    }
    for file in &focus {
        seeds[file.0 as usize] += 2.0;
    }
    let wants_tests = lexical::query_terms(task).iter().any(|term| term == "test");
    let ranks = files::rank_files(view, &atlas.graph, &seeds, &repo_map::rank_options(desk, given));
    let highest = ranks.iter().copied().fold(0.0, f64::max).max(1e-12);
    let mut marked: BTreeMap<FileIdx, Vec<(SymbolRef, f64)>> = BTreeMap::new();
    for (at, score) in scored.iter().take(N_SEEDS) {
        // Above any count of users: a definition that the task names comes first in its file.
        marked.entry(at.file).or_default().push((*at, 20.0 * score / best));
    }
    let mut ranked: Vec<Ranked> = view
        .indices()
        .filter(|file| listing::fits_file(view, *file, given))
        .map(|file| {
            let mut by_word = words.get(&file).copied().unwrap_or(0.0);
            if !wants_tests && surface::is_secondary(view.file(file).path.as_str()) {
                by_word *= SECONDARY;
            }
            let by_focus = if focus.contains(&file) { 2.0 } else { 0.0 };
            let score = ranks[file.0 as usize] / highest + by_word + by_focus;
            let mut symbols = marked.remove(&file).unwrap_or_default();
            symbols.retain(|(at, _)| crate::facts::table::Id::index(at.symbol) > 0);
            symbols.sort_by_key(|(at, _)| *at);
            Ranked { file, score: (score * 1e9).round() / 1e9, marked: symbols }
        })
        .filter(|ranked| ranked.score > 0.0)
        .collect();
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.file.cmp(&other.file)));

    let budget = given.integer("budget").unwrap_or(desk.options.default_context_tokens).min(desk.options.max_tokens);
    let mut answer = Answer::new(&atlas, budget);
    if scored.is_empty() {
        answer.line("no word of the task names anything here; ranked by the graph alone");
    }
    let n_shown = sheet::put(&mut answer, &atlas, &ranked, given.text("kind"));
    answer.field("files", repo_map::files_json(view, &ranked[..n_shown.min(ranked.len())]));
    Ok(answer)
}
