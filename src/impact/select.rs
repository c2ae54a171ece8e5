//! Which tests a change selects: by reach, by import, by being changed themselves.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use crate::base::path::RepoPath;
use crate::facts::model::SymbolKind;
use crate::impact::answer::{Dependent, Note, ViaStep};
use crate::impact::change::{FileStatus, TreeChange};
use crate::impact::decide::{Because, Chain, Draft, Ground};
use crate::impact::reach::{CERTAIN, Hop, Reach, Seed, reach, reach_by_group};
use crate::impact::seeds::{Origin, label, seeds};
use crate::impact::space::Node;
use crate::impact::step::Why;
use crate::impact::tests::Test;
use crate::view::{FileIdx, SymbolRef};

/// More changed symbols than this are asked about by file, not one by one: each batch of 64 is a
/// walk of its own.
const MAX_SINGLE: usize = 512;

impl Draft<'_> {
    pub(super) fn select(&mut self, test: usize, because: Because, chain: Option<Chain>) {
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

    pub(super) fn select_reached(
        &mut self,
        origins: &[Origin],
        change: &TreeChange,
        old: &Ground<'_>,
        new: &Ground<'_>,
    ) {
        let (head_seeds, base_seeds) = seeds(origins);
        let contracts: BTreeSet<u32> = head_seeds.iter().filter(|s| s.is_contract).map(|s| s.node).collect();
        // Changes of the text itself; the others are unchanged code that means or reads something else.
        let own: BTreeSet<u32> =
            origins.iter().filter(|o| o.because.is_none()).flat_map(|o| &o.head).map(|seed| seed.node).collect();
        let found = reach(&new.steps, &new.closure, &head_seeds);
        for (at, test) in new.tests.tests.iter().enumerate() {
            if let Some(chain) = chain_of(test, new, &found) {
                let is_own = chain.distance == 0 && test.carriers.iter().any(|node| own.contains(node));
                let because = if is_own { Because::Changed } else { Because::Reached };
                self.select(at, because, Some(chain));
            }
        }
        self.list_dependents(new, &found, &contracts);
        self.note_members(new, &found);
        if base_seeds.is_empty() || std::ptr::eq(old, new) {
            return;
        }
        let found = reach(&old.steps, &old.closure, &base_seeds);
        self.note_members(old, &found);
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

    fn note_members(&mut self, ground: &Ground<'_>, found: &Reach) {
        for (node, hop) in &found.hops {
            ground.steps.note_member(*node, hop.distance == 0, &mut self.reached);
        }
    }

    /// A changed symbol that no test reaches adds the tests that import its file (FACTS.md §5).
    /// Of very many changed symbols, those of one file count as one.
    pub(super) fn select_unreached(&mut self, origins: &[Origin], old: &Ground<'_>, new: &Ground<'_>) {
        let mut groups: BTreeMap<(bool, FileIdx, usize), Vec<&Origin>> = BTreeMap::new();
        let loud: Vec<(SymbolRef, &Origin)> =
            origins.iter().filter(|o| o.because.is_none()).filter_map(|o| Some((o.symbol?, o))).collect();
        // A field that a changed function assigns comes and goes with that function.
        let changed = [(new, true), (old, false)].map(|(ground, is_head)| {
            let seeds = loud.iter().flat_map(|(_, o)| if is_head { &o.head } else { &o.base });
            let nodes = seeds.filter_map(|seed| match ground.steps.space.node(seed.node) {
                Node::Symbol(at) if ground.atlas.view.symbol(at).kind.is_function() => Some(at),
                Node::Symbol(_) | Node::Block(..) => None,
            });
            nodes.collect::<BTreeSet<SymbolRef>>()
        });
        let is_assigned = |at: SymbolRef, is_head: bool| {
            let view = if is_head { &new.atlas.view } else { &old.atlas.view };
            let row = view.symbol(at);
            let is_around = |other: &&SymbolRef| {
                let s = view.symbol(**other);
                other.file == at.file && (s.start_line..=s.end_line).contains(&row.start_line)
            };
            row.kind == SymbolKind::Field && changed[usize::from(!is_head)].iter().any(|other| is_around(&other))
        };
        for (at, (symbol, origin)) in loud.iter().enumerate() {
            if loud.len() <= MAX_SINGLE && is_assigned(*symbol, origin.is_head) {
                continue;
            }
            let own = if loud.len() > MAX_SINGLE { 0 } else { at };
            groups.entry((origin.is_head, symbol.file, own)).or_default().push(origin);
        }
        let groups: Vec<_> = groups.iter().collect();
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
                if group.iter().all(|o| o.symbol.is_some_and(|at| ground.steps.is_unmade(at))) {
                    let sentence = "no test reaches it; each class that is made has its own in its place";
                    self.answer.warnings.push(Note::new("no_test_reaches", name, sentence));
                    continue;
                }
                let sentence = match self.select_closure((*is_head, *file), None, old, new) {
                    0 => "no test reaches it, and none imports its file".to_string(),
                    n => format!("no test reaches it; the {n} test files that import its file are selected"),
                };
                self.answer.warnings.push(Note::new("no_test_reaches", name, sentence));
            }
        }
    }

    /// Selects the tests of every file that imports a file, transitively; how many files those are.
    /// `why`: what the file has to do with the change, when it is not the change itself.
    pub(super) fn select_closure(
        &mut self,
        (is_head, file): (bool, FileIdx),
        why: Option<&ViaStep>,
        old: &Ground<'_>,
        new: &Ground<'_>,
    ) -> usize {
        let ground = if is_head { new } else { old };
        let set = ground.closure.tests_of(file);
        let next = importers(ground, file);
        let files: BTreeMap<&RepoPath, FileIdx> = ground
            .tests
            .files
            .iter()
            .enumerate()
            .filter(|(at, _)| set.has(*at))
            .map(|(_, file)| (&ground.atlas.view.file(*file).path, *file))
            .collect();
        for (at, test) in new.tests.tests.iter().enumerate() {
            let Some(test_file) = files.get(&new.atlas.view.file(test.file).path) else { continue };
            let mut via = import_steps(ground, &next, *test_file);
            via.extend(why.cloned());
            let chain = Chain { confidence: IMPORTED, distance: via.len() as u32, via };
            self.select(at, Because::Imports, Some(chain));
        }
        files.len()
    }

    pub(super) fn select_importers(&mut self, change: &TreeChange, old: &Ground<'_>, new: &Ground<'_>) {
        for file in change.files.iter().filter(|f| f.status != FileStatus::Modified || !f.delta.is_empty()) {
            if let Some(idx) = file.head_file() {
                self.select_closure((true, idx), None, old, new);
            }
            if let Some(idx) = file.base_file() {
                self.select_closure((false, idx), None, old, new);
            }
        }
    }

    /// Tests of new and renamed files; whole files that could not be compared; what leaves the
    /// process; the rules' always and never.
    pub(super) fn select_changed_tests(&mut self, change: &TreeChange, new: &Ground<'_>) {
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
    pub(super) fn select_whole(&mut self, old: &Ground<'_>, new: &Ground<'_>) {
        for (is_head, file) in std::mem::take(&mut self.whole) {
            self.select_closure((is_head, file), None, old, new);
            let view = if is_head { &new.atlas.view } else { &old.atlas.view };
            let sentence = "it does not parse whole; the tests that import it are selected";
            self.answer.causes.push(Note::new("parse_failure", view.file(file).path.as_str(), sentence));
        }
    }

    pub(super) fn list_dependents(&mut self, ground: &Ground<'_>, found: &Reach, contracts: &BTreeSet<u32>) {
        let view = &ground.atlas.view;
        let test_files: BTreeSet<FileIdx> = ground.tests.files.iter().copied().collect();
        let mut listed = BTreeSet::new();
        for (node, hop) in &found.hops {
            let Node::Symbol(at) = ground.steps.space.node(*node) else { continue };
            // Plain nodes come first; the same under a condition says no more.
            if hop.distance == 0 || test_files.contains(&at.file) || !listed.insert(at) {
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
}

/// What being among a test's imports is worth (a guess; it only orders answers).
pub(super) const IMPORTED: u64 = CERTAIN / 1_000;

/// For each file that leads to `target` by imports, the next file on a shortest way there. O(uses).
fn importers(ground: &Ground<'_>, target: FileIdx) -> BTreeMap<FileIdx, FileIdx> {
    let mut next = BTreeMap::from([(target, target)]);
    let mut queue = VecDeque::from([target]);
    while let Some(at) = queue.pop_front() {
        for edge in ground.steps.users_of(at) {
            if let std::collections::btree_map::Entry::Vacant(slot) = next.entry(edge.from) {
                slot.insert(at);
                queue.push_back(edge.from);
            }
        }
    }
    next
}

fn import_steps(ground: &Ground<'_>, next: &BTreeMap<FileIdx, FileIdx>, start: FileIdx) -> Vec<ViaStep> {
    let path = |file: FileIdx| ground.atlas.view.file(file).path.to_string();
    let mut steps = Vec::new();
    let mut at = start;
    while let Some(to) = next.get(&at).copied().filter(|to| *to != at) {
        steps.push(ViaStep { from: path(at), to: path(to), kind: "imports", file: path(at), line: 0 });
        at = to;
    }
    steps
}

/// How a test was reached: by the best of its carriers that its own import closure allows.
pub(super) fn chain_of(test: &Test, ground: &Ground<'_>, found: &Reach) -> Option<Chain> {
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
