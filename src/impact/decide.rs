//! The decision: changes, reach and policy become an answer. What files mean is judged in
//! `judge`, which tests follow is found in `select`.

use std::collections::{BTreeMap, BTreeSet};

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::atlas::Atlas;
use crate::base::dialect::{Dialect, LanguageName};
use crate::base::path::RepoPath;
use crate::facts::delta::Changes;
use crate::facts::model::Status;
use crate::impact::answer::*;
use crate::impact::change::{FileStatus, TreeChange, change};
use crate::impact::closure::Closure;
use crate::impact::computed::ReachedMembers;
use crate::impact::declared;
use crate::impact::doubts::Doubt;
use crate::impact::may_import;
use crate::impact::policy::{Options, Policy, ReasonCode};
use crate::impact::reach::{CERTAIN, Seed};
use crate::impact::seeds::{Origin, SeedOptions, Side, origins};
use crate::impact::space::Space;
use crate::impact::step::Steps;
use crate::impact::tests::{Packages, Tests};
use crate::impact::walked::Walked;
use crate::lang::testing::is_named_as_test;
use crate::view::{FileIdx, SkipReason, SymbolRef};

/// Reads a file's bytes of the base (`false`) or the head (`true`); `None` when it cannot be read.
pub type ReadBytes<'a> = &'a dyn Fn(bool, &RepoPath) -> Option<Vec<u8>>;

/// What is known of two trees beside their views.
pub struct Beside<'a> {
    pub read: ReadBytes<'a>,
    /// Files whose bytes are equal and whose mode is not, sorted.
    pub modes: Vec<RepoPath>,
}

/// One tree, prepared for reach.
pub(super) struct Ground<'a> {
    pub(super) atlas: &'a Atlas,
    pub(super) tests: Tests,
    pub(super) closure: Closure,
    pub(super) steps: Steps<'a>,
}

impl<'a> Ground<'a> {
    fn new(atlas: &'a Atlas, options: &Options) -> Self {
        let (view, graph) = (&*atlas.view, &*atlas.graph);
        let space = Space::new(view);
        let Walked { tests, may_imports, implied, declared } = Walked::of(atlas, &space);
        let may_imports = if options.policy == Policy::Precise { Vec::new() } else { may_imports };
        let mut uses = graph.file_uses.clone();
        uses.extend(may_import::uses(&may_imports));
        uses.extend(declared::uses(&declared));
        uses.sort_unstable();
        let closure = Closure::new(view.files.len(), &uses, &tests.files);
        let steps = Steps::new(view, graph, options.policy.follow(), implied, &may_imports, &uses, &tests);
        Ground { atlas, tests, closure, steps }
    }

    pub(super) fn side(&self) -> Side<'_> {
        Side { view: &self.atlas.view, graph: &self.atlas.graph, space: &self.steps.space }
    }
}

/// Why a test is selected, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Because {
    Changed,
    /// Coverage saw it run the change.
    Measured,
    Reached,
    Imports,
    Data,
    Mapped,
    Always,
    All,
}

impl Because {
    fn as_str(self) -> &'static str {
        match self {
            Because::Changed => "changed",
            Because::Measured => "measured",
            Because::Reached => "reached",
            Because::Imports => "imports",
            Because::Data => "data",
            Because::Mapped => "mapped",
            Because::Always => "always",
            Because::All => "all",
        }
    }
}

/// The selected tests of the head, by position.
pub(super) type Selection = BTreeMap<usize, (Because, Option<Chain>)>;

/// How a test was reached.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) confidence: u64,
    pub(super) distance: u32,
    pub(super) via: Vec<ViaStep>,
}
/// What the change from `base` to `head` can break.
pub fn impact_of_diff(base: &Atlas, head: &Atlas, beside: &Beside<'_>, options: &Options, question: &str) -> Answer {
    let old = Ground::new(base, options);
    let new = Ground::new(head, options);
    let change = change(&base.view, &head.view);
    let mut draft = Draft::new(&new, options, question);
    draft.answer.base = base.header.commit.clone();
    draft.judge_files(&change, &old, &new, beside);
    let mut found =
        origins(&change, old.side(), new.side(), SeedOptions { docs_count: options.policy == Policy::Safe });
    found.extend(draft.data_origins(&old, &new));
    draft.list_symbols(&found, &old, &new);
    match options.policy {
        Policy::File => draft.select_importers(&change, &old, &new),
        Policy::Safe | Policy::Precise => {
            draft.select_reached(&found, &change, &old, &new);
            draft.select_unreached(&found, &old, &new);
        }
    }
    draft.select_measured(&found, &change, &old, &new);
    draft.select_changed_tests(&change, &new);
    draft.select_whole(&old, &new);
    draft.doubt_blind_reads(&new);
    draft.doubt_guesses(&old, &new);
    let is_changed = !draft.answer.files.is_empty();
    draft.finish(&new, is_changed)
}

/// What depends on some symbols of one tree, and which tests reach them.
///
/// They are taken as changed in behavior: what a new name or signature breaks besides (files that
/// only import them, overriding methods) a diff says.
pub fn impact_of_target(head: &Atlas, targets: &[SymbolRef], options: &Options, question: &str) -> Answer {
    of_target(&Ground::new(head, options), targets, options, question)
}

/// What depends on each of several targets: as [`impact_of_target`], in their order.
pub fn impact_of_each(head: &Atlas, targets: &[Vec<SymbolRef>], options: &Options) -> Vec<Answer> {
    let ground = Ground::new(head, options);
    targets.iter().map(|target| of_target(&ground, target, options, "")).collect()
}

fn of_target(ground: &Ground<'_>, targets: &[SymbolRef], options: &Options, question: &str) -> Answer {
    ground.steps.forget_guesses();
    let mut draft = Draft::new(ground, options, question);
    let origins: Vec<Origin> = targets
        .iter()
        .map(|at| Origin {
            head: vec![Seed { node: ground.steps.space.symbol(*at), is_contract: false }],
            base: Vec::new(),
            symbol: Some(*at),
            is_head: true,
            changes: Changes::BODY,
            because: None,
        })
        .collect();
    draft.list_symbols(&origins, ground, ground);
    draft.select_reached(&origins, &TreeChange::default(), ground, ground);
    draft.select_unreached(&origins, ground, ground);
    draft.select_measured_targets(targets, ground);
    draft.doubt_blind_reads(ground);
    draft.finish(ground, true)
}

/// What a change of some files of one tree can break, of which nothing but the names is known:
/// whatever imports them, or names them.
pub fn impact_of_files(head: &Atlas, paths: &[RepoPath], options: &Options, question: &str) -> Answer {
    let ground = Ground::new(head, options);
    let mut draft = Draft::new(&ground, options, question);
    draft.judge_names(paths, &ground);
    let found = draft.data_origins(&ground, &ground);
    draft.list_symbols(&found, &ground, &ground);
    draft.select_reached(&found, &TreeChange::default(), &ground, &ground);
    draft.finish(&ground, !paths.is_empty())
}

/// The answer when the base cannot be found: all, with the reason.
pub fn all_of(head: &Atlas, options: &Options, question: &str, code: ReasonCode, subject: &str) -> Answer {
    let ground = Ground::new(head, options);
    let mut draft = Draft::new(&ground, options, question);
    draft.answer.reasons.push(Note::reason(code, subject));
    draft.finish(&ground, true)
}
pub(super) struct Draft<'o> {
    pub(super) options: &'o Options,
    pub(super) answer: Answer,
    pub(super) selection: Selection,
    /// Data files that changed, to be looked for in strings.
    pub(super) data: Vec<(RepoPath, FileStatus, bool)>,
    /// Code that imports a changed package.
    pub(super) packages: Vec<Origin>,
    /// Files whose importers are reached as a whole: (in the head, file).
    pub(super) whole: BTreeSet<(bool, FileIdx)>,
    pub(super) n_ignored: usize,
    /// Tests that trusted coverage keeps out.
    pub(super) unmeasured: BTreeSet<usize>,
    /// What was reached, for reads by computed names.
    pub(super) reached: ReachedMembers,
    pub(super) doubts: Vec<Doubt>,
}

impl<'o> Draft<'o> {
    fn new(ground: &Ground<'_>, options: &'o Options, question: &str) -> Self {
        let header = &ground.atlas.header;
        let stats =
            Stats { n_tests: ground.tests.tests.len(), n_test_files: ground.tests.files.len(), ..Stats::default() };
        let answer = Answer {
            repository: header.repository.clone(),
            head: header.commit.clone(),
            question: question.to_string(),
            ..Answer::bare(options.policy, Mode::Selected, Verdict::Complete, stats)
        };
        let mut draft = Draft {
            options,
            answer,
            selection: BTreeMap::new(),
            data: Vec::new(),
            packages: Vec::new(),
            whole: BTreeSet::new(),
            n_ignored: 0,
            unmeasured: BTreeSet::new(),
            reached: ReachedMembers::default(),
            doubts: Vec::new(),
        };
        if options.is_off {
            draft.answer.reasons.push(Note::reason(ReasonCode::SelectOff, ""));
        }
        if options.policy == Policy::Precise {
            let sentence = "only proved and likely links are followed";
            draft.answer.causes.push(Note::new("policy_precise", "", sentence));
        }
        draft
    }

    fn list_symbols(&mut self, origins: &[Origin], old: &Ground<'_>, new: &Ground<'_>) {
        let mut listed = BTreeMap::new();
        for origin in origins {
            let Some(at) = origin.symbol else { continue };
            let view = if origin.is_head { &new.atlas.view } else { &old.atlas.view };
            let symbol = view.symbol(at);
            let path = &view.file(at.file).path;
            let row = ChangedSymbol {
                path: path.clone(),
                qualname: view.qualname(at).to_string(),
                kind: symbol.kind.as_str(),
                changes: origin.changes,
                because: origin.because,
                line: symbol.start_line,
            };
            let key = (path.clone(), symbol.start_line, row.qualname.clone(), origin.is_head, origin.because);
            listed.entry(key).or_insert(row);
        }
        self.answer.stats.n_changed_symbols = listed.values().filter(|row| row.because.is_none()).count();
        self.answer.symbols = listed.into_values().collect();
    }

    fn finish(mut self, ground: &Ground<'_>, is_changed: bool) -> Answer {
        let view = &ground.atlas.view;
        self.doubt_guesses(ground, ground);
        self.blind_files(ground);
        let (always, never) = (globs(&self.options.always_run), globs(&self.options.never_run));
        // Tests that leave their process run always, unless a map says for what.
        let mapped: Vec<String> = self.options.map.iter().flat_map(|rule| rule.tests.clone()).collect();
        let mapped = globs(&mapped);
        self.select_mapped(ground);
        // Tests that leave their process may read what no code names, documents too.
        let n_seen = self.answer.files.iter().filter(|f| !matches!(f.decision, "layout" | "unchanged_meaning")).count();
        let has_effect = is_changed && (self.answer.files.is_empty() || n_seen > 0);
        if has_effect {
            self.unread_tests(ground);
        }
        for (at, test) in ground.tests.tests.iter().enumerate() {
            let path = view.file(test.file).path.as_str();
            let reaches_out = test.reaches_out && !mapped.is_match(path);
            if has_effect && (reaches_out || always.is_match(path)) {
                self.select(at, Because::Always, None);
            }
            if never.is_match(path) {
                self.selection.remove(&at);
            }
        }
        self.settle_doubts(ground, &never);
        if let Some(max) = self.options.max_ratio {
            let share = self.selection.len() as f64 / ground.tests.tests.len().max(1) as f64;
            if share > max && self.answer.reasons.is_empty() {
                self.answer.reasons.push(Note::reason(ReasonCode::RatioReached, format!("{share:.2}")));
            }
        }
        if self.options.is_shadow {
            self.answer.shadow = Some(self.shadow(ground));
            self.answer.reasons.push(Note::reason(ReasonCode::Shadow, ""));
        }
        if self.selection.is_empty() && self.answer.reasons.is_empty() {
            self.untested(ground);
        }
        if !self.answer.reasons.is_empty() {
            self.answer.mode = Mode::All;
            for at in 0..ground.tests.tests.len() {
                self.select(at, Because::All, None);
            }
        } else if self.selection.is_empty() {
            self.answer.mode = Mode::None;
            self.answer.reasons.push(self.why_none(is_changed));
        }
        self.leave_out(ground, &never);
        self.write_tests(ground);
        self.answer.stats.n_changed_files = self.answer.files.len();
        self.answer.reasons.sort();
        self.answer.reasons.dedup();
        self.answer.causes.sort();
        self.answer.causes.dedup();
        self.answer.warnings.sort();
        self.answer.warnings.dedup();
        let is_all = self.answer.tests.len() == ground.tests.tests.len();
        if self.answer.mode == Mode::Selected && is_all {
            // No known test is left out; causes that speak of unknown ones stay.
            self.answer.causes.retain(|note| matches!(note.code, "skipped_test" | "damaged_test"));
        }
        if self.answer.mode != Mode::All && !self.answer.causes.is_empty() {
            self.answer.verdict = Verdict::LowerBound;
        }
        if self.answer.mode == Mode::All {
            self.answer.causes.clear();
        }
        self.answer
    }

    /// The tests that a map of the rules names for a changed file.
    fn select_mapped(&mut self, ground: &Ground<'_>) {
        for rule in &self.options.map {
            let (when, tests) = (globs(&rule.when), globs(&rule.tests));
            let is_hit = |file: &&ChangedFile| {
                !matches!(file.decision, "layout" | "unchanged_meaning")
                    && (when.is_match(file.path.as_str())
                        || file.base_path.as_ref().is_some_and(|path| when.is_match(path.as_str())))
            };
            let Some(changed) = self.answer.files.iter().find(is_hit).map(|file| file.path.to_string()) else {
                continue;
            };
            for (at, test) in ground.tests.tests.iter().enumerate() {
                let path = ground.atlas.view.file(test.file).path.as_str();
                if tests.is_match(path) {
                    let step = ViaStep {
                        from: path.into(),
                        to: changed.clone(),
                        kind: "map",
                        file: "ratlas.toml".into(),
                        line: 0,
                    };
                    let chain = Chain { confidence: CERTAIN / 2, distance: 1, via: vec![step] };
                    self.select(at, Because::Mapped, Some(chain));
                }
            }
        }
    }

    /// What would have been selected.
    fn shadow(&self, ground: &Ground<'_>) -> Shadow {
        let is_all = !self.answer.reasons.is_empty();
        let known = ground.tests.tests.iter().enumerate();
        let tests: Vec<String> =
            known.filter(|(at, _)| is_all || self.selection.contains_key(at)).map(|(_, t)| t.id.clone()).collect();
        let mode = match (is_all, tests.is_empty()) {
            (true, _) => Mode::All,
            (false, true) => Mode::None,
            (false, false) => Mode::Selected,
        };
        Shadow { mode, tests }
    }

    /// Lists the tests that are not selected, and what keeps each out.
    fn leave_out(&mut self, ground: &Ground<'_>, never: &GlobSet) {
        let view = &ground.atlas.view;
        let changed: Vec<(&RepoPath, FileIdx)> = self
            .answer
            .changed_paths()
            .into_iter()
            .filter_map(|path| view.find(path))
            .map(|idx| (&view.file(idx).path, idx))
            .collect();
        for (at, test) in ground.tests.tests.iter().enumerate() {
            if self.selection.contains_key(&at) {
                continue;
            }
            let path = &view.file(test.file).path;
            let bit = ground.tests.files.binary_search(&test.file).unwrap_or_default();
            let imports: Vec<RepoPath> = changed
                .iter()
                .filter(|(_, idx)| ground.closure.tests_of(*idx).has(bit))
                .map(|(path, _)| (*path).clone())
                .collect();
            let because = match (never.is_match(path.as_str()), imports.is_empty()) {
                (true, _) => "never_run",
                (false, _) if self.unmeasured.contains(&at) => "not_measured",
                (false, true) => "imports_nothing_changed",
                (false, false) => "reaches_nothing_changed",
            };
            let package = test.package.clone();
            self.answer.left_out.push(LeftOut { id: test.id.clone(), file: path.clone(), package, because, imports });
        }
    }

    /// Tests that could not be read, wholly or in part, may use what changed.
    fn unread_tests(&mut self, ground: &Ground<'_>) {
        let view = &ground.atlas.view;
        for other in &view.others {
            let path = &other.path;
            let is_source = Dialect::of_file_name(path.file_name()).is_some();
            let is_chosen = matches!(other.reason, SkipReason::Excluded | SkipReason::Symlink | SkipReason::Submodule);
            if is_source && !is_chosen && is_named_as_test(path) {
                let sentence =
                    format!("it was not read ({}); run it if it may use what changed", other.reason.as_str());
                self.answer.causes.push(Note::new("skipped_test", path.as_str(), sentence));
            }
        }
        for file in &ground.tests.files {
            if view.facts(*file).status == Status::Partial {
                let sentence = "it does not parse whole; tests in its damaged lines are not seen";
                self.answer.causes.push(Note::new("damaged_test", view.file(*file).path.as_str(), sentence));
            }
        }
    }

    fn n_effective(&self) -> usize {
        let is_idle = |decision: &str| matches!(decision, "layout" | "documentation" | "mode" | "unchanged_meaning");
        self.answer.files.iter().filter(|f| !is_idle(f.decision)).count()
    }

    /// Code of a language of which no test is known here: "none" would say that nothing breaks.
    fn untested(&mut self, ground: &Ground<'_>) {
        let view = &ground.atlas.view;
        let tested: Vec<LanguageName> = ground.tests.files.iter().map(|f| view.file(*f).dialect.language()).collect();
        let untested = self.answer.files.iter().find(|file| {
            let dialect = Dialect::of_file_name(file.path.file_name());
            dialect.is_some_and(|dialect| !tested.iter().any(|other| other.shares_names_with(dialect.language())))
                && matches!(file.decision, "symbols" | "file_reach")
        });
        if let Some(file) = untested {
            self.answer.reasons.push(Note::reason(ReasonCode::NoTestsKnown, file.path.as_str()));
        }
    }

    fn why_none(&self, is_changed: bool) -> Note {
        let files = &self.answer.files;
        let all = |decision: &str| !files.is_empty() && files.iter().all(|f| f.decision == decision);
        if !is_changed {
            Note::new("nothing_changed", "", "the two trees are equal")
        } else if all("documentation") {
            Note::new("documentation_only", "", "only documentation and tooling changed")
        } else if all("layout") {
            Note::new("layout_only", "", "only layout and comments changed")
        } else if !files.is_empty() && self.n_effective() == 0 {
            Note::new("no_effect", "", "nothing that code or tests can see changed")
        } else {
            Note::new("no_test_reaches", "", "no test reaches or imports what changed")
        }
    }

    /// Files that load or call what no name tells (computed imports, `eval`): when a changed file
    /// is imported by nothing that a test imports, they may be what loads it.
    fn blind_files(&mut self, ground: &Ground<'_>) {
        let view = &ground.atlas.view;
        if self.options.policy != Policy::Safe || ground.atlas.graph.blind.is_empty() {
            return;
        }
        let mut hidden = None;
        for file in &self.answer.files {
            let Some(idx) = view.find(file.path.as_str()) else { continue };
            let is_test = ground.tests.files.binary_search(&idx).is_ok();
            if matches!(file.decision, "symbols" | "file_reach") && !is_test && ground.closure.tests_of(idx).is_empty()
            {
                hidden.get_or_insert_with(|| file.path.clone());
            }
        }
        let Some(hidden) = hidden else { return };
        for blind in &ground.atlas.graph.blind {
            let path = view.file(*blind).path.as_str();
            let why = ViaStep {
                from: path.to_string(),
                to: hidden.to_string(),
                kind: "computed_import",
                file: path.to_string(),
                line: 0,
            };
            if self.select_closure((true, *blind), Some(&why), ground, ground) > 0 {
                let sentence = "it loads code by computed names; a changed file that no test imports may be among it";
                self.answer.warnings.push(Note::new("computed_import", path, sentence));
            }
        }
    }

    fn write_tests(&mut self, ground: &Ground<'_>) {
        let view = &ground.atlas.view;
        let mut packages: BTreeMap<RepoPath, AffectedPackage> = BTreeMap::new();
        let known = Packages::of(view);
        for file in &self.answer.files {
            if matches!(file.decision, "documentation" | "layout" | "mode" | "unchanged_meaning") {
                continue;
            }
            let path = known.of_path(&file.path);
            let row = AffectedPackage { path: path.clone(), n_tests: 0, is_changed: true };
            packages.entry(path).or_insert(row);
        }
        for dependent in &self.answer.dependents {
            let path = known.of_path(&dependent.path);
            let row = AffectedPackage { path: path.clone(), n_tests: 0, is_changed: true };
            packages.entry(path).or_insert(row);
        }
        let mut files = BTreeSet::new();
        for (at, (because, chain)) in std::mem::take(&mut self.selection) {
            let test = &ground.tests.tests[at];
            files.insert(test.file);
            let row = AffectedPackage { path: test.package.clone(), n_tests: 0, is_changed: false };
            packages.entry(test.package.clone()).or_insert(row).n_tests += 1;
            let (confidence, distance, via) = match chain {
                Some(chain) => (chain.confidence, Some(chain.distance), chain.via),
                // Run without a chain: behind all that have one.
                None => (CERTAIN / 10_000, None, Vec::new()),
            };
            self.answer.tests.push(SelectedTest {
                id: test.id.clone(),
                file: view.file(test.file).path.clone(),
                runner: test.runner,
                package: test.package.clone(),
                confidence,
                distance,
                because: because.as_str(),
                via,
            });
        }
        self.answer.tests.sort_by(|a, b| {
            let rank = |t: &SelectedTest| (std::cmp::Reverse(t.confidence), t.distance.unwrap_or(u32::MAX));
            rank(a).cmp(&rank(b)).then_with(|| (&a.id, &a.file).cmp(&(&b.id, &b.file)))
        });
        self.answer.packages = packages.into_values().collect();
        self.answer.stats.n_selected_tests = self.answer.tests.len();
        self.answer.stats.n_selected_test_files = files.len();
    }
}

pub(super) fn globs(patterns: &[String]) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    for glob in patterns.iter().filter_map(|p| Glob::new(p).ok()) {
        builder.add(glob);
    }
    builder.build().unwrap_or_else(|_| GlobSet::empty())
}
