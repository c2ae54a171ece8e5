//! The decision: changes, reach and policy become an answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::atlas::Atlas;
use crate::base::path::RepoPath;
use crate::facts::delta::Changes;
use crate::facts::model::{Status, SymbolId};
use crate::facts::table::Id;
use crate::impact::answer::*;
use crate::impact::change::{FileChange, FileStatus, TreeChange, change, is_damaged};
use crate::impact::closure::Closure;
use crate::impact::fixtures;
use crate::impact::policy::{FileClass, Options, Policy, ReasonCode, classify, same_meaning};
use crate::impact::reach::{CERTAIN, Hop, Reach, Seed, reach, reach_by_group};
use crate::impact::seeds::{Origin, SeedOptions, Side, label, names_file, origins, seeds};
use crate::impact::space::{Node, Space};
use crate::impact::step::{Steps, Why};
use crate::impact::tests::{Packages, Test, Tests, tests};
use crate::view::{FileIdx, SkipReason, SymbolRef};

/// Reads a file's bytes of the base (`false`) or the head (`true`); `None` when it cannot be read.
pub type ReadBytes<'a> = &'a dyn Fn(bool, &RepoPath) -> Option<Vec<u8>>;

/// More changed symbols than this are asked about by file, not one by one: each batch of 64 is a
/// walk of its own.
const MAX_SINGLE: usize = 512;

/// One tree, prepared for reach.
struct Ground<'a> {
    atlas: &'a Atlas,
    tests: Tests,
    closure: Closure,
    steps: Steps<'a>,
}

impl<'a> Ground<'a> {
    fn new(atlas: &'a Atlas, options: &Options) -> Self {
        let (view, graph) = (&*atlas.view, &*atlas.graph);
        let space = Space::new(view);
        let tests = tests(view, graph, &space);
        let closure = Closure::new(view.files.len(), &graph.file_uses, &tests.files);
        let implied = fixtures::users(view, &space, &tests.files);
        let steps = Steps::new(view, graph, options.policy.follow(), implied);
        Ground { atlas, tests, closure, steps }
    }

    fn side(&self) -> Side<'_> {
        Side { view: &self.atlas.view, graph: &self.atlas.graph, space: &self.steps.space }
    }
}

/// Why a test is selected, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Because {
    Changed,
    Reached,
    Imports,
    Data,
    Always,
    All,
}

impl Because {
    fn as_str(self) -> &'static str {
        match self {
            Because::Changed => "changed",
            Because::Reached => "reached",
            Because::Imports => "imports",
            Because::Data => "data",
            Because::Always => "always",
            Because::All => "all",
        }
    }
}

/// The selected tests of the head, by position.
type Selection = BTreeMap<usize, (Because, Option<Chain>)>;

/// How a test was reached.
#[derive(Clone, Debug)]
struct Chain {
    confidence: u64,
    distance: u32,
    via: Vec<ViaStep>,
}

/// What the change from `base` to `head` can break.
pub fn impact_of_diff(base: &Atlas, head: &Atlas, read: ReadBytes<'_>, options: &Options, question: &str) -> Answer {
    let old = Ground::new(base, options);
    let new = Ground::new(head, options);
    let change = change(&base.view, &head.view);
    let mut draft = Draft::new(&new, options, question);
    draft.answer.base = base.header.commit.clone();
    draft.judge_files(&change, &old, &new, read);
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
    draft.select_changed_tests(&change, &new);
    draft.select_whole(&old, &new);
    draft.finish(&new, !change.files.is_empty())
}

/// What depends on some symbols of one tree, and which tests reach them.
pub fn impact_of_target(head: &Atlas, targets: &[SymbolRef], options: &Options, question: &str) -> Answer {
    let ground = Ground::new(head, options);
    let mut draft = Draft::new(&ground, options, question);
    let origins: Vec<Origin> = targets
        .iter()
        .map(|at| Origin {
            head: vec![Seed { node: ground.steps.space.symbol(*at), is_contract: true }],
            base: Vec::new(),
            symbol: Some(*at),
            is_head: true,
            changes: Changes::BODY | Changes::SIGNATURE,
            because: None,
        })
        .collect();
    draft.list_symbols(&origins, &ground, &ground);
    draft.select_reached(&origins, &TreeChange::default(), &ground, &ground);
    draft.select_unreached(&origins, &ground, &ground);
    draft.finish(&ground, true)
}

/// The answer when the base cannot be found: all, with the reason.
pub fn all_of(head: &Atlas, options: &Options, question: &str, code: ReasonCode, subject: &str) -> Answer {
    let ground = Ground::new(head, options);
    let mut draft = Draft::new(&ground, options, question);
    draft.answer.reasons.push(Note::reason(code, subject));
    draft.finish(&ground, true)
}

struct Draft<'o> {
    options: &'o Options,
    answer: Answer,
    selection: Selection,
    /// Data files that changed, to be looked for in strings.
    data: Vec<(RepoPath, FileStatus, bool)>,
    /// Files whose importers are reached as a whole: (in the head, file).
    whole: BTreeSet<(bool, FileIdx)>,
    n_ignored: usize,
}

impl<'o> Draft<'o> {
    fn new(ground: &Ground<'_>, options: &'o Options, question: &str) -> Self {
        let header = &ground.atlas.header;
        let answer = Answer {
            repository: header.repository.clone(),
            base: None,
            head: header.commit.clone(),
            question: question.to_string(),
            policy: options.policy,
            mode: Mode::Selected,
            verdict: Verdict::Complete,
            causes: Vec::new(),
            reasons: Vec::new(),
            tests: Vec::new(),
            packages: Vec::new(),
            files: Vec::new(),
            symbols: Vec::new(),
            dependents: Vec::new(),
            stats: Stats {
                n_tests: ground.tests.tests.len(),
                n_test_files: ground.tests.files.len(),
                ..Stats::default()
            },
            warnings: Vec::new(),
        };
        let mut draft = Draft {
            options,
            answer,
            selection: BTreeMap::new(),
            data: Vec::new(),
            whole: BTreeSet::new(),
            n_ignored: 0,
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

    /// Decides on every changed file what it means before its symbols are looked at.
    fn judge_files(&mut self, change: &TreeChange, old: &Ground<'_>, new: &Ground<'_>, read: ReadBytes<'_>) {
        let run_all = globs(&self.options.run_all);
        for file in &change.files {
            let decision = self.judge_file(file, old, new, read, &run_all);
            self.answer.files.push(ChangedFile {
                path: file.path.clone(),
                base_path: file.base_path.clone(),
                status: file.status,
                decision,
            });
        }
        if self.options.max_changed_files.is_some_and(|max| change.files.len() > max) {
            self.answer.reasons.push(Note::reason(ReasonCode::TooManyFiles, change.files.len().to_string()));
        }
    }

    fn judge_file(
        &mut self,
        file: &FileChange,
        old: &Ground<'_>,
        new: &Ground<'_>,
        read: ReadBytes<'_>,
        run_all: &GlobSet,
    ) -> &'static str {
        let mut paths = vec![&file.path];
        paths.extend(&file.base_path);
        if paths.iter().any(|p| run_all.is_match(p.as_str())) {
            self.answer.reasons.push(Note::reason(ReasonCode::RunAllRule, file.path.as_str()));
            return "run_all";
        }
        let is_code = file.head_file().is_some() || file.base_file().is_some();
        let skip = skip_reason(file);
        let class = paths
            .iter()
            .map(|p| classify(p, if is_code && skip.is_none() { None } else { skip }))
            .find(|class| matches!(class, FileClass::RunAll(_)))
            .unwrap_or_else(|| classify(&file.path, if is_code && skip.is_none() { None } else { skip }));
        match class {
            FileClass::RunAll(code) => {
                if is_code && file.status == FileStatus::Modified && file.delta.is_empty() && !file.delta.is_damaged {
                    return "layout";
                }
                let base_path = file.base_path.as_ref().unwrap_or(&file.path);
                if !is_code
                    && file.status == FileStatus::Modified
                    && matches!((read(false, base_path), read(true, &file.path)), (Some(a), Some(b)) if same_meaning(&file.path, &a, &b))
                {
                    return "unchanged_meaning";
                }
                self.answer.reasons.push(Note::reason(code, file.path.as_str()));
                "run_all"
            }
            FileClass::Documentation => {
                self.data.push((file.path.clone(), file.status, false));
                "documentation"
            }
            FileClass::Data => {
                self.data.push((file.path.clone(), file.status, true));
                "data"
            }
            FileClass::Code => self.judge_code(file, old, new),
        }
    }

    fn judge_code(&mut self, file: &FileChange, old: &Ground<'_>, new: &Ground<'_>) -> &'static str {
        let was_damaged = is_damaged(&old.atlas.view, file.base);
        let now_damaged = is_damaged(&new.atlas.view, file.head);
        if now_damaged && !was_damaged {
            self.answer.reasons.push(Note::reason(ReasonCode::ParseFailure, file.path.as_str()));
            return "run_all";
        }
        if was_damaged || now_damaged {
            self.whole.extend(file.head_file().map(|f| (true, f)));
            self.whole.extend(file.base_file().map(|f| (false, f)));
            return "file_reach";
        }
        if file.delta.is_empty() && file.status == FileStatus::Modified { "layout" } else { "symbols" }
    }

    /// What names a changed data file starts a reach; one that nothing names selects the tests
    /// beside it.
    fn data_origins(&mut self, old: &Ground<'_>, new: &Ground<'_>) -> Vec<Origin> {
        let mut found = Vec::new();
        for (path, status, is_data) in std::mem::take(&mut self.data) {
            let mut is_named = false;
            for (ground, is_head) in [(new, true), (old, false)] {
                if !is_head && status == FileStatus::Added {
                    continue;
                }
                for at in names_file(ground.side(), &path) {
                    is_named = true;
                    let seed = vec![Seed { node: ground.steps.space.symbol(at), is_contract: false }];
                    found.push(Origin {
                        head: if is_head { seed.clone() } else { Vec::new() },
                        base: if is_head { Vec::new() } else { seed },
                        symbol: Some(at),
                        is_head,
                        changes: Changes::BODY,
                        because: Some("names_file"),
                    });
                }
            }
            if is_data && !is_named {
                self.select_beside(&path, new);
            } else if !is_data && !is_named {
                self.n_ignored += 1;
            }
        }
        found
    }

    /// The tests in the nearest folder around a path that has any.
    fn select_beside(&mut self, path: &RepoPath, new: &Ground<'_>) {
        let mut folder = path.parent();
        while let Some(at) = folder {
            let within: Vec<usize> = (0..new.tests.tests.len())
                .filter(|n| new.atlas.view.file(new.tests.tests[*n].file).path.is_within(&at))
                .collect();
            if !within.is_empty() {
                within.into_iter().for_each(|n| self.select(n, Because::Data, None));
                return;
            }
            folder = at.parent();
        }
    }

    fn select(&mut self, test: usize, because: Because, chain: Option<Chain>) {
        match self.selection.get_mut(&test) {
            None => {
                self.selection.insert(test, (because, chain));
            }
            Some((known, old)) => {
                let rank = |c: &Option<Chain>| c.as_ref().map(|c| (c.confidence, std::cmp::Reverse(c.distance)));
                *known = (*known).min(because);
                if rank(&chain) > rank(old) {
                    *old = chain;
                }
            }
        }
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

    fn select_reached(&mut self, origins: &[Origin], change: &TreeChange, old: &Ground<'_>, new: &Ground<'_>) {
        let (head_seeds, base_seeds) = seeds(origins);
        let contracts: BTreeSet<u32> = head_seeds.iter().filter(|s| s.is_contract).map(|s| s.node).collect();
        let found = reach(&new.steps, &new.closure, &head_seeds);
        for (at, test) in new.tests.tests.iter().enumerate() {
            if let Some(chain) = chain_of(test, new, &found) {
                let because = if chain.distance == 0 { Because::Changed } else { Because::Reached };
                self.select(at, because, Some(chain));
            }
        }
        self.list_dependents(new, &found, &contracts);
        if base_seeds.is_empty() || std::ptr::eq(old, new) {
            return;
        }
        let found = reach(&old.steps, &old.closure, &base_seeds);
        let by_key: HashMap<(&str, &RepoPath), usize> = new
            .tests
            .tests
            .iter()
            .enumerate()
            .map(|(at, t)| ((t.id.as_str(), &new.atlas.view.file(t.file).path), at))
            .collect();
        for test in &old.tests.tests {
            let Some(chain) = chain_of(test, old, &found) else { continue };
            let path = &old.atlas.view.file(test.file).path;
            let now = change.renames.get(path).unwrap_or(path);
            let id = match test.id.strip_prefix(path.as_str()) {
                Some(rest) => format!("{now}{rest}"),
                None => test.id.clone(),
            };
            // A test that is gone is never handed to a runner.
            if let Some(at) = by_key.get(&(id.as_str(), now)) {
                self.select(*at, Because::Reached, Some(chain));
            }
        }
    }

    /// A changed symbol that no test reaches adds the tests that import its file (FACTS.md §5).
    /// Of very many changed symbols, those of one file count as one.
    fn select_unreached(&mut self, origins: &[Origin], old: &Ground<'_>, new: &Ground<'_>) {
        let mut groups: BTreeMap<(bool, FileIdx, usize), Vec<&Origin>> = BTreeMap::new();
        let loud: Vec<(SymbolRef, &Origin)> =
            origins.iter().filter(|o| o.because.is_none()).filter_map(|o| Some((o.symbol?, o))).collect();
        for (at, (symbol, origin)) in loud.iter().enumerate() {
            let own = if loud.len() > MAX_SINGLE { 0 } else { at };
            groups.entry((origin.is_head, symbol.file, own)).or_default().push(origin);
        }
        let groups: Vec<(&(bool, FileIdx, usize), &Vec<&Origin>)> = groups.iter().collect();
        for batch in groups.chunks(64) {
            let mut is_reached = 0u64;
            for (ground, is_head) in [(new, true), (old, false)] {
                let seeds: Vec<Vec<Seed>> = batch
                    .iter()
                    .map(|(_, group)| {
                        let side = |o: &&Origin| if is_head { o.head.clone() } else { o.base.clone() };
                        group.iter().flat_map(side).collect()
                    })
                    .collect();
                let masks = reach_by_group(&ground.steps, &ground.closure, &seeds);
                for test in &ground.tests.tests {
                    for carrier in &test.carriers {
                        is_reached |= masks.get(carrier).copied().unwrap_or(0);
                    }
                }
            }
            for (at, ((is_head, file, _), group)) in batch.iter().enumerate() {
                if is_reached & (1 << at) != 0 {
                    continue;
                }
                let ground = if *is_head { new } else { old };
                let Some(symbol) = group.first().and_then(|o| o.symbol) else { continue };
                let name = label(&ground.atlas.view, Node::Symbol(symbol));
                let sentence = match self.select_closure(*is_head, *file, old, new) {
                    0 => "no test reaches it, and none imports its file".to_string(),
                    n => format!("no test reaches it; the {n} test files that import its file are selected"),
                };
                self.answer.warnings.push(Note::new("no_test_reaches", name, sentence));
            }
        }
    }

    /// Selects the tests of every file that imports a file, transitively; how many files those are.
    fn select_closure(&mut self, is_head: bool, file: FileIdx, old: &Ground<'_>, new: &Ground<'_>) -> usize {
        let ground = if is_head { new } else { old };
        let set = ground.closure.tests_of(file);
        let files: BTreeSet<&RepoPath> = ground
            .tests
            .files
            .iter()
            .enumerate()
            .filter(|(at, _)| set.has(*at))
            .map(|(_, file)| &ground.atlas.view.file(*file).path)
            .collect();
        for (at, test) in new.tests.tests.iter().enumerate() {
            if files.contains(&new.atlas.view.file(test.file).path) {
                self.select(at, Because::Imports, None);
            }
        }
        files.len()
    }

    fn select_importers(&mut self, change: &TreeChange, old: &Ground<'_>, new: &Ground<'_>) {
        for file in change.files.iter().filter(|f| f.status != FileStatus::Modified || !f.delta.is_empty()) {
            if let Some(idx) = file.head_file() {
                self.select_closure(true, idx, old, new);
            }
            if let Some(idx) = file.base_file() {
                self.select_closure(false, idx, old, new);
            }
        }
    }

    /// Tests of new and renamed files; whole files that could not be compared; what leaves the
    /// process; the rules' always and never.
    fn select_changed_tests(&mut self, change: &TreeChange, new: &Ground<'_>) {
        for file in &change.files {
            let is_whole = matches!(file.status, FileStatus::Added | FileStatus::Renamed);
            let Some(idx) = file.head_file().filter(|_| is_whole) else { continue };
            for (at, test) in new.tests.tests.iter().enumerate() {
                if test.file == idx {
                    let chain = Chain { confidence: CERTAIN, distance: 0, via: Vec::new() };
                    self.select(at, Because::Changed, Some(chain));
                }
            }
        }
    }

    /// Files that parse on neither side: by what imports them.
    fn select_whole(&mut self, old: &Ground<'_>, new: &Ground<'_>) {
        for (is_head, file) in std::mem::take(&mut self.whole) {
            self.select_closure(is_head, file, old, new);
            let view = if is_head { &new.atlas.view } else { &old.atlas.view };
            let sentence = "it does not parse whole; the tests that import it are selected";
            self.answer.causes.push(Note::new("parse_failure", view.file(file).path.as_str(), sentence));
        }
    }

    fn list_dependents(&mut self, ground: &Ground<'_>, found: &Reach, contracts: &BTreeSet<u32>) {
        let view = &ground.atlas.view;
        let test_files: BTreeSet<FileIdx> = ground.tests.files.iter().copied().collect();
        for (node, hop) in &found.hops {
            let Node::Symbol(at) = ground.steps.space.node(*node) else { continue };
            if hop.distance == 0 || test_files.contains(&at.file) {
                continue;
            }
            let symbol = view.symbol(at);
            self.answer.dependents.push(Dependent {
                path: view.file(at.file).path.clone(),
                qualname: view.qualname(at).to_string(),
                kind: symbol.kind.as_str(),
                line: symbol.start_line,
                distance: hop.distance,
                confidence: hop.confidence,
                is_contract: hop.distance == 1 && contracts.contains(&hop.next),
            });
        }
        self.answer
            .dependents
            .sort_by(|a, b| (a.distance, &a.path, &a.qualname).cmp(&(b.distance, &b.path, &b.qualname)));
    }

    fn finish(mut self, ground: &Ground<'_>, is_changed: bool) -> Answer {
        let view = &ground.atlas.view;
        self.blind_files(ground);
        let (always, never) = (globs(&self.options.always_run), globs(&self.options.never_run));
        let has_effect = is_changed && (self.answer.files.is_empty() || self.n_effective() > 0);
        for (at, test) in ground.tests.tests.iter().enumerate() {
            let path = view.file(test.file).path.as_str();
            if has_effect && (test.reaches_out || always.is_match(path)) {
                self.select(at, Because::Always, None);
            }
            if never.is_match(path) {
                self.selection.remove(&at);
            }
        }
        if let Some(max) = self.options.max_ratio {
            let share = self.selection.len() as f64 / ground.tests.tests.len().max(1) as f64;
            if share > max && self.answer.reasons.is_empty() {
                self.answer.reasons.push(Note::reason(ReasonCode::RatioReached, format!("{share:.2}")));
            }
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
        self.write_tests(ground);
        self.answer.stats.n_changed_files = self.answer.files.len();
        self.answer.reasons.sort();
        self.answer.reasons.dedup();
        self.answer.causes.sort();
        self.answer.causes.dedup();
        self.answer.warnings.sort();
        self.answer.warnings.dedup();
        if self.answer.mode != Mode::All && !self.answer.causes.is_empty() {
            self.answer.verdict = Verdict::LowerBound;
        }
        if self.answer.mode == Mode::All {
            self.answer.causes.clear();
        }
        self.answer
    }

    fn n_effective(&self) -> usize {
        let is_idle = |decision: &str| matches!(decision, "layout" | "documentation" | "unchanged_meaning");
        self.answer.files.iter().filter(|f| !is_idle(f.decision)).count()
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
        let mut is_hidden = false;
        for file in &self.answer.files {
            let Some(idx) = view.find(file.path.as_str()) else { continue };
            let is_test = ground.tests.files.binary_search(&idx).is_ok();
            if file.decision == "symbols" && !is_test && ground.closure.tests_of(idx).is_empty() {
                is_hidden = true;
            }
        }
        if !is_hidden {
            return;
        }
        for blind in &ground.atlas.graph.blind {
            let path = view.file(*blind).path.as_str();
            if self.select_closure(true, *blind, ground, ground) > 0 {
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
            if matches!(file.decision, "documentation" | "layout" | "unchanged_meaning") {
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

fn skip_reason(file: &FileChange) -> Option<SkipReason> {
    [file.head, file.base].into_iter().flatten().find_map(|content| match content {
        crate::impact::change::Content::Other(reason) => Some(reason),
        crate::impact::change::Content::Code(_) => None,
    })
}

fn globs(patterns: &[String]) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    for glob in patterns.iter().filter_map(|p| Glob::new(p).ok()) {
        builder.add(glob);
    }
    builder.build().unwrap_or_else(|_| GlobSet::empty())
}

/// How a test was reached: by the best of its carriers that its own import closure allows.
fn chain_of(test: &Test, ground: &Ground<'_>, found: &Reach) -> Option<Chain> {
    let bit = ground.tests.files.binary_search(&test.file).ok()?;
    let is_open = |node: &&u32| found.members.get(node).is_some_and(|set| set.has(bit));
    let best = test
        .carriers
        .iter()
        .filter(is_open)
        .filter_map(|node| Some((*node, found.hops.get(node)?)))
        .max_by_key(|(node, hop)| (hop.confidence, std::cmp::Reverse(hop.distance), std::cmp::Reverse(*node)))?;
    let own = test.carriers.first().copied().unwrap_or(best.0);
    Some(Chain {
        confidence: best.1.confidence,
        distance: best.1.distance + u32::from(best.0 != own && best.1.distance > 0),
        via: via(ground, found, best.0, (own != best.0).then_some(&test.id)),
    })
}

/// The chain of reasons from a node to the change.
fn via(ground: &Ground<'_>, found: &Reach, start: u32, test: Option<&String>) -> Vec<ViaStep> {
    let view = &ground.atlas.view;
    let space = &ground.steps.space;
    let name = |node: u32| label(view, space.node(node));
    let path = |node: u32| view.file(space.file(node)).path.to_string();
    let mut steps = Vec::new();
    if let Some(test) = test {
        // What runs around it: its module, class, hook or enclosing block.
        steps.push(ViaStep { from: test.clone(), to: name(start), kind: "runs_with", file: path(start), line: 0 });
    }
    let mut node = start;
    while let Some(Hop { why, line, next, .. }) = found.hops.get(&node).copied() {
        if why == Why::Changed || next == node || steps.len() > found.hops.len() {
            break;
        }
        steps.push(ViaStep { from: name(node), to: name(next), kind: why.as_str(), file: path(node), line });
        node = next;
    }
    steps
}

/// Whether every indexed file of an atlas parsed whole.
pub fn parses_whole(atlas: &Atlas) -> bool {
    atlas.view.files.iter().all(|file| file.facts.status == Status::Ok)
}

/// The module symbol of a file, for targets that are paths.
pub fn module_of(file: FileIdx) -> SymbolRef {
    SymbolRef { file, symbol: SymbolId::new(0) }
}
