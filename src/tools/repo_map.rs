//! `repo_map`: the files that matter most with their public definitions, within a token budget.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::atlas::Atlas;
use crate::base::error::{Error, ErrorKind, Result};
use crate::rank::files;
use crate::report::pack::Gains;
use crate::report::{json, sanitize, text};
use crate::tools::param::{self, Given, Param, ParamKind};
use crate::tools::sheet::{self, Purpose, Ranked};
use crate::tools::tool::{Answer, Desk, Form, Tool};
use crate::tools::{listing, overview, retained, suggest, verdict};
use crate::view::{FileIdx, View};

pub const TOOL: Tool = Tool {
    name: "repo_map",
    title: "Map of the repository",
    description: "The shape of the repository: its most important files with exact line ranges and signatures of their \
                  public definitions, best first, within a token budget. Start here in a repository you do not know.",
    params: &[
        BUDGET,
        Param::new("path_prefix", ParamKind::Text, "only files under this folder"),
        param::FRESH,
        param::LANG,
        param::KIND,
        param::MIN_CONFIDENCE.unlisted(),
    ],
    form: Form::Text,
    run,
};

pub const BUDGET: Param = Param::new(
    "budget",
    ParamKind::Integer { min: text::MIN_BUDGET as u64, max: 1_000_000 },
    "the most tokens to answer with; never passed",
);

/// Smaller budgets are spent on files alone.
const MIN_OVERVIEW: usize = 800;

/// The map of all files, before a budget is known.
pub struct MapOrder {
    /// Best first.
    ranked: Vec<Ranked>,
    /// The lines above it, as many as a large budget takes.
    overview: Vec<String>,
}

impl MapOrder {
    /// The map of an atlas whose files have some ranks.
    pub fn of(atlas: &Atlas, ranks: &[f64]) -> Self {
        let ranked = ordered(&atlas.view, ranks, |_| true);
        let overview = overview_of(atlas, &ranked);
        MapOrder { ranked, overview }
    }
}

/// The files that fit, best first.
fn ordered(view: &View, ranks: &[f64], fits: impl Fn(FileIdx) -> bool) -> Vec<Ranked> {
    let files = view.indices().filter(|file| fits(*file));
    let mut ranked: Vec<Ranked> =
        files.map(|file| Ranked { file, score: ranks[file.0 as usize], marked: Vec::new() }).collect();
    sort(&mut ranked);
    spread(view, &mut ranked);
    ranked
}

fn overview_of(atlas: &Atlas, ranked: &[Ranked]) -> Vec<String> {
    let files = ranked.iter().map(|ranked| ranked.file);
    let product: Vec<FileIdx> = files.filter(|file| !files::is_secondary(&atlas.view, *file)).collect();
    overview::lines(atlas, &product)
}

fn run(desk: &Desk, given: &Given) -> Result<Answer> {
    let atlas = desk.atlas(given)?;
    let view = &*atlas.view;
    let all = desk.ranked(&atlas, &rank_options(desk, given));
    let fits = |file: FileIdx| listing::fits_file(view, file, given);
    let is_filtered = given.text("path_prefix").is_some() || given.text("lang").is_some();
    let part = is_filtered.then(|| ordered(view, all.map_ranks(), fits));
    let ranked = part.as_ref().unwrap_or_else(|| &all.map().ranked);
    if let (true, Some(prefix)) = (ranked.is_empty(), given.text("path_prefix")) {
        if !view.others.iter().any(|other| listing::is_under(other.path.as_str(), prefix)) {
            return Err(suggest::unknown_file(view, prefix));
        }
        let what = format!("no file under `{}` is indexed", sanitize::line(prefix, 200));
        return Err(Error::new(ErrorKind::CannotAnswer, what).hint("`ratlas status` lists what is skipped, and why"));
    }
    let budget = given.integer("budget").unwrap_or(desk.options.default_map_tokens).min(desk.options.max_tokens);
    let mut answer = Answer::new(&atlas, budget);
    if let Some(line) = verdict::not_indexed_line(view).filter(|_| budget >= 400) {
        answer.line(line);
    }
    if budget >= 400 {
        retained::put_map(&mut answer, desk, &atlas, |_, file| fits(file));
    }
    if budget >= MIN_OVERVIEW && given.text("kind").is_none() {
        let of_part = part.as_ref().map(|part| overview_of(&atlas, part));
        let lines = of_part.as_ref().unwrap_or_else(|| &all.map().overview);
        overview::within(lines, budget / 6).iter().for_each(|line| answer.line(line));
    }
    let n_shown = sheet::put(&mut answer, &atlas, ranked, given.text("kind"), Purpose::Map, &Gains::MAP);
    answer.field("files", files_json(view, &ranked[..n_shown.min(ranked.len())]));
    Ok(answer)
}

fn sort(ranked: &mut [Ranked]) {
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.file.cmp(&other.file)));
}

/// After how many files of a folder one more counts half: a repository is known sooner from a few
/// files of each of its parts than from all helpers that its parts share.
const N_OF_FOLDER: f64 = 4.0;

/// Makes files count less that come after others of their folder, and sorts again.
fn spread(view: &View, ranked: &mut [Ranked]) {
    let mut n_before: BTreeMap<&str, usize> = BTreeMap::new();
    for one in ranked.iter_mut() {
        let path = view.file(one.file).path.as_str();
        let n = n_before.entry(path.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default();
        one.score /= 1.0 + *n as f64 / N_OF_FOLDER;
        *n += 1;
    }
    sort(ranked);
}

/// The options of ranking, with the asked-for floor.
pub fn rank_options(desk: &Desk, given: &Given) -> files::Options {
    let mut options = desk.options.rank.clone();
    options.min_confidence = given.number("min_confidence").unwrap_or(options.min_confidence);
    options
}

/// The ranked files in JSON: path and score, best first.
pub fn files_json(view: &View, ranked: &[Ranked]) -> Value {
    ranked
        .iter()
        .map(|ranked| {
            json::object([
                ("file", sanitize::line(view.file(ranked.file).path.as_str(), 400).into()),
                ("score", json::decimal(ranked.score)),
            ])
        })
        .collect()
}
