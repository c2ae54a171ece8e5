//! `impact_of`: what a change or a symbol can break, and which tests to run for it.

use serde_json::Value;

use crate::atlas::{Atlas, AtlasSource};
use crate::base::error::{Error, ErrorKind, Result};
use crate::impact::answer::Answer as Impact;
use crate::impact::decide::{Beside, all_of, impact_of_diff, impact_of_files, impact_of_target};
use crate::impact::policy::{OnUnknown, Options, Policy, ReasonCode};
use crate::impact::{answer, json as impact_json, text};
use crate::report::sanitize;
use crate::tools::param::{self, Given, Param, ParamKind};
use crate::tools::tool::{Answer, Desk, Form, Tool};
use crate::tools::{links, past, target};

pub const TOOL: Tool = Tool {
    name: "impact_of",
    title: "What a change can break",
    description: "The tests to run and the code that depends, for a diff (`main...HEAD`, `A..B`, `WORKTREE` for \
                  uncommitted work) or a target (a qualified name, `path::name`, a path, a sym_ handle). Each test \
                  has its chain of reasons. mode says selected, all or none; verdict says how far it can be trusted.",
    params: PARAMS,
    form: Form::Data,
    run,
};

pub const PARAMS: &[Param] = &[
    Param::new("target", ParamKind::Text, "the symbol or file: `Class.method`, `path::name`, a path, or a sym_ handle"),
    Param::new(
        "diff",
        ParamKind::Text,
        "in its place a diff: `A...B`, `A..B`, `A` (to the tree on disk), `WORKTREE`, `STAGED`",
    ),
    Param::new(
        "depth",
        ParamKind::Integer { min: 1, max: 1000 },
        "list dependents up to this many steps; tests are never cut",
    ),
    param::MIN_CONFIDENCE,
    param::LIMIT,
    param::FRESH,
    Param::new("file", ParamKind::Text, "the file a target is in, where its name alone is ambiguous").unlisted(),
    Param::new("policy", ParamKind::Choice(&["safe", "precise", "file"]), "how much is followed (default safe)")
        .unlisted(),
];

/// How many tests and dependents are listed by default.
const DEFAULT_LIMIT: usize = 50;

fn run(desk: &Desk, given: &Given) -> Result<Answer> {
    let mut options = desk.options.impact.clone();
    if let Some(policy) = given.text("policy").and_then(Policy::parse) {
        options.policy = policy;
    }
    let (impact, atlas) = match (given.text("target"), given.text("diff")) {
        (Some(name), None) => {
            let atlas = desk.atlas(given)?;
            (of_target(&atlas, name, given.text("file"), &options)?, atlas)
        }
        (None, Some(diff)) => {
            let now = desk.source.fresh()?;
            let rules = |text: Option<&str>| Ok((rules_text(&now).as_deref() == text).then(|| options.clone()));
            of_diff(&*desk.source, diff, &options, &rules)?
        }
        _ => {
            return Err(Error::new(ErrorKind::Usage, "`impact_of` takes either `target` or `diff`")
                .hint("for uncommitted work: `diff` = `WORKTREE`"));
        }
    };
    let mut shown = impact.clone();
    let floor = given.number("min_confidence").unwrap_or(0.0);
    let depth = given.integer("depth").unwrap_or(usize::MAX);
    shown.dependents.retain(|d| d.distance as usize <= depth && answer::confidence(d.confidence) >= floor);
    let limit = given.integer("limit").unwrap_or(DEFAULT_LIMIT);
    let mut out = Answer::new(&atlas, desk.options.max_tokens);
    out.shown(impact.tests.len().min(limit), impact.tests.len(), "tests");
    for line in text::lines(&shown) {
        out.line(line);
    }
    for (name, value) in fields(&shown, limit) {
        out.field(name, value);
    }
    if let Some(past) = past::put_files(&mut out, &*desk.source, &atlas, &impact.changed_paths()) {
        out.field("history", past);
    }
    Ok(out)
}

/// The fields of the JSON form, lists cut at `limit`; counts stay those of all.
fn fields(impact: &Impact, limit: usize) -> Vec<(&'static str, Value)> {
    const NAMES: [&str; 13] = [
        "schema",
        "question",
        "policy",
        "mode",
        "verdict",
        "causes",
        "reasons",
        "tests",
        "packages",
        "changed",
        "dependents",
        "not_selected",
        "stats",
    ];
    let mut whole = impact_json::value(impact);
    let cut = |value: &mut Value| {
        if let Value::Array(rows) = value {
            rows.truncate(limit);
        }
    };
    cut(&mut whole["tests"]);
    for name in ["direct", "transitive"] {
        cut(&mut whole["dependents"][name]);
    }
    for name in ["files", "symbols"] {
        cut(&mut whole["changed"][name]);
    }
    cut(&mut whole["warnings"]);
    NAMES.into_iter().chain(["warnings"]).map(|name| (name, whole[name].take())).collect()
}

/// What depends on a target of the tree as it is now.
///
/// # Errors
/// As [`target::resolve`].
pub fn of_target(atlas: &Atlas, name: &str, file: Option<&str>, options: &Options) -> Result<Impact> {
    let found = target::resolve(atlas, name, file)?;
    let symbols = match &found {
        // A file stands for all that it defines.
        target::Target::File(_) => links::with_nested(&atlas.view, target::symbols(&found)[0]),
        target::Target::Symbols(symbols) => {
            symbols.iter().flat_map(|at| links::with_nested(&atlas.view, *at)).collect()
        }
    };
    Ok(impact_of_target(atlas, &symbols, options, name))
}

/// The two ends of a diff as written.
struct Ends<'d> {
    base: Base<'d>,
    head: Tree<'d>,
}

enum Base<'d> {
    Literal(Tree<'d>),
    MergeBase(&'d str, &'d str),
}

/// A tree that a diff names.
#[derive(Clone, Copy)]
enum Tree<'d> {
    Revision(&'d str),
    /// The index: what the next commit would hold.
    Staged,
    /// The files on disk.
    Worktree,
}

impl<'d> Tree<'d> {
    fn parse(text: &'d str) -> Self {
        match text {
            "WORKTREE" => Tree::Worktree,
            "STAGED" => Tree::Staged,
            "" => Tree::Revision("HEAD"),
            revision => Tree::Revision(revision),
        }
    }

    fn read(self, source: &dyn AtlasSource) -> Result<std::sync::Arc<Atlas>> {
        match self {
            Tree::Revision(revision) => source.at(revision),
            Tree::Staged => source.staged(),
            Tree::Worktree => source.fresh(),
        }
    }
}

/// Reads `A...B`, `A..B`, `A`, `WORKTREE`, `STAGED`; an empty side is HEAD.
fn parse(diff: &str) -> Ends<'_> {
    fn or_head(text: &str) -> &str {
        if text.is_empty() { "HEAD" } else { text }
    }
    if let Some((one, other)) = diff.split_once("...") {
        let head = Tree::parse(other);
        let other = match head {
            Tree::Worktree | Tree::Staged => "HEAD",
            Tree::Revision(revision) => revision,
        };
        return Ends { base: Base::MergeBase(or_head(one), other), head };
    }
    if let Some((one, other)) = diff.split_once("..") {
        return Ends { base: Base::Literal(Tree::parse(one)), head: Tree::parse(other) };
    }
    match Tree::parse(diff) {
        Tree::Revision(one) => Ends { base: Base::Literal(Tree::Revision(one)), head: Tree::Worktree },
        head => Ends { base: Base::Literal(Tree::Revision("HEAD")), head },
    }
}

/// The names of trees that are no revisions.
const TREES: [&str; 2] = ["WORKTREE", "STAGED"];

/// An unknown revision that is one of our own names in other letters is a slip of the keyboard,
/// and no base that cannot be found.
fn misspelled(diff: &str, error: Error) -> Error {
    let found = diff.split("..").map(|side| side.trim_matches('.')).find_map(|side| {
        let tree = TREES.iter().find(|tree| tree.eq_ignore_ascii_case(side) && **tree != side)?;
        Some((side, *tree))
    });
    match found {
        Some((side, tree)) if error.kind == ErrorKind::UnknownRevision => {
            Error::new(ErrorKind::Usage, format!("no revision `{side}`")).hint(format!("did you mean `{tree}`?"))
        }
        _ => error,
    }
}

/// A revision that is not found in a repository without a commit wants the first one, not another name.
fn unborn(source: &dyn AtlasSource, error: Error) -> Error {
    let has_none = error.kind == ErrorKind::UnknownRevision
        && source.at("HEAD").is_err()
        && source.fresh().is_ok_and(|now| now.header.commit.is_none());
    match has_none {
        true => error.hint(NO_COMMIT),
        false => error,
    }
}

const NO_COMMIT: &str = "the repository has no commit yet, so there is nothing to compare with: make the first one";

/// Gives the options where the repository's `ratlas.toml` holds a text (`None`: there is none);
/// none where they cannot be told.
pub type RulesOf<'a> = &'a dyn Fn(Option<&str>) -> Result<Option<Options>>;

fn rules_text(atlas: &Atlas) -> Option<String> {
    let path = crate::base::path::RepoPath::new("ratlas.toml")?;
    atlas.view.config.get(&path).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// What a change of the named files can break, in the tree as it is now.
pub fn of_files(atlas: &Atlas, paths: &[crate::base::path::RepoPath], options: &Options) -> Impact {
    impact_of_files(atlas, paths, options, &format!("{} named files", paths.len()))
}

/// What a diff can break, and the head's atlas. The rules are the base's. A base that cannot be
/// found selects all, with the reason, unless the options ask for the error.
///
/// # Errors
/// `UnknownRevision` for the head, and for the base under `OnUnknown::Error`; what the source gives.
pub fn of_diff(
    source: &dyn AtlasSource,
    diff: &str,
    options: &Options,
    rules: RulesOf<'_>,
) -> Result<(Impact, std::sync::Arc<Atlas>)> {
    let diff = diff.trim();
    if diff.is_empty() || diff.starts_with("..") {
        // An unset variable of a pipeline must not turn into an empty change.
        return Err(Error::new(ErrorKind::Usage, format!("the diff `{diff}` has no base"))
            .hint("write it out: `--diff main...HEAD`, or `--diff WORKTREE` for uncommitted work"));
    }
    let ends = parse(diff);
    let head = ends.head.read(source).map_err(|error| unborn(source, misspelled(diff, error)))?;
    let base = match ends.base {
        Base::Literal(tree) => tree.read(source),
        Base::MergeBase(one, other) => source.merge_base(one, other).and_then(|commit| source.at(&commit)),
    };
    let base = match base.map_err(|error| misspelled(diff, error)) {
        Ok(base) => base,
        // Objects that a shallow or partial clone lacks are a base that cannot be found as well.
        Err(error)
            if matches!(error.kind, ErrorKind::UnknownRevision | ErrorKind::Git)
                && options.on_unknown == OnUnknown::All =>
        {
            let subject = sanitize::line(&error.what, 200);
            let mut impact = all_of(&head, options, diff, ReasonCode::BaseUnresolvable, &subject);
            impact.verdict = answer::Verdict::Unknown;
            if let Some(hint) = &unborn(source, error).hint {
                impact.warnings.push(answer::Note::new("base_unresolvable", "", hint.clone()));
            }
            return Ok((impact, head));
        }
        Err(error) => return Err(error),
    };
    let read =
        |is_head: bool, path: &crate::base::path::RepoPath| source.read(if is_head { &head } else { &base }, path).ok();
    let Some(options) = rules(rules_text(&base).as_deref())? else {
        let subject = "the base's ratlas.toml is not the one that was read";
        return Ok((all_of(&head, options, diff, ReasonCode::RatlasConfig, subject), head));
    };
    let beside = Beside { read: &read, modes: source.changed_modes(&base, &head) };
    let mut impact = impact_of_diff(&base, &head, &beside, &options, diff);
    if impact.reasons.iter().any(|reason| reason.code == ReasonCode::Unreadable.as_str()) {
        let sentence = format!("where a partial clone lacks old versions, `git diff {diff} > {NOWHERE}` fetches them");
        impact.warnings.push(answer::Note::new("unreadable", "", sanitize::line(&sentence, 300)));
    }
    Ok((impact, head))
}

/// Where output goes that nobody reads; git fetches what it compares.
const NOWHERE: &str = "/dev/null";

#[cfg(test)]
mod tests {
    use super::{Base, Tree, parse};

    #[test]
    fn sides_that_are_left_out_are_head() {
        let written = |diff| {
            let ends = parse(diff);
            let name = |tree: Tree<'_>| match tree {
                Tree::Revision(revision) => revision.to_string(),
                Tree::Staged => "index".to_string(),
                Tree::Worktree => "disk".to_string(),
            };
            let base = match ends.base {
                Base::Literal(one) => name(one),
                Base::MergeBase(one, other) => format!("{one}...{other}"),
            };
            (base, name(ends.head))
        };
        assert_eq!(written("main...HEAD"), ("main...HEAD".into(), "HEAD".into()));
        assert_eq!(written("main..."), ("main...HEAD".into(), "HEAD".into()));
        assert_eq!(written("a..b"), ("a".into(), "b".into()));
        assert_eq!(written("a.."), ("a".into(), "HEAD".into()));
        assert_eq!(written("HEAD~3"), ("HEAD~3".into(), "disk".into()));
        assert_eq!(written("WORKTREE"), ("HEAD".into(), "disk".into()));
        assert_eq!(written("STAGED"), ("HEAD".into(), "index".into()));
        assert_eq!(written("STAGED..WORKTREE"), ("index".into(), "disk".into()));
        assert_eq!(written("main...STAGED"), ("main...HEAD".into(), "index".into()));
        assert_eq!(written("main...WORKTREE"), ("main...HEAD".into(), "disk".into()));
    }
}
