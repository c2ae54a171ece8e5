//! Doubts: steps that were left out on a guess, and reads of members by names that are not known.
//!
//! A doubt that leads to no test outside of the selection leaves the answer complete. One that leads
//! to few is settled by selecting those: a few tests more cost less than an answer that gates nothing.
//! Of all others the answer says the cause, and is a lower bound.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use globset::GlobSet;

use crate::base::path::RepoPath;
use crate::facts::model::SymbolKind;
use crate::impact::answer::{Note, ViaStep};
use crate::impact::decide::{Because, Chain, Draft, Ground};
use crate::impact::policy::Policy;
use crate::impact::reach::{Seed, reach, reach_by_group};
use crate::impact::seeds::label;
use crate::impact::select::{IMPORTED, chain_of};
use crate::impact::space::Node;
use crate::view::FileIdx;

/// Guesses are asked about one by one, up to this many: each batch of 64 is a walk of its own.
/// More of them are told as they are.
const MAX_ASKED: usize = 256;

/// One test in so many is what doubts may add, and one test file in so many. A guess at what a
/// pipeline gives for an answer that it can gate on.
const ADDED: usize = 20;

/// What may affect tests besides those that are selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Doubt {
    note: Note,
    /// Tests of the head by position; `None` when they were not looked for.
    tests: Option<BTreeSet<usize>>,
}

impl Draft<'_> {
    /// Notes where a step was left out on a guess, with the tests that following it would reach.
    /// `ground`: where the guesses were made.
    pub(super) fn doubt_guesses(&mut self, ground: &Ground<'_>, new: &Ground<'_>) {
        let mut guesses = ground.steps.guesses();
        let heads = self.heads_of(ground, new);
        let mut found: Vec<BTreeSet<usize>>;
        loop {
            found = vec![BTreeSet::new(); guesses.len()];
            if guesses.len() > MAX_ASKED {
                break;
            }
            for (at, chunk) in guesses.chunks(64).enumerate() {
                let nodes: Vec<&BTreeSet<u32>> = chunk.iter().map(|(_, nodes)| nodes).collect();
                for (group, test) in reaching(&nodes, ground, &heads) {
                    found[at * 64 + group].insert(test);
                }
            }
            // What was left out may lead to other guesses.
            let now = ground.steps.guesses();
            if now == guesses {
                break;
            }
            guesses = now;
        }
        let is_asked = guesses.len() <= MAX_ASKED;
        for (((guess, symbol), _), tests) in guesses.iter().zip(found) {
            let name = label(&ground.atlas.view, Node::Symbol(*symbol));
            let note = Note::new(guess.as_str(), name, guess.sentence());
            self.doubts.push(Doubt { note, tests: is_asked.then_some(tests) });
        }
    }

    /// The tests of a side, by position, that stand in the head too, with their position there.
    fn heads_of(&self, ground: &Ground<'_>, new: &Ground<'_>) -> Vec<(usize, usize)> {
        // Tests of the base are told by name; one that is gone cannot be missed.
        let by_name: HashMap<(&str, &RepoPath), usize> = new
            .tests
            .tests
            .iter()
            .enumerate()
            .map(|(at, test)| ((test.id.as_str(), &new.atlas.view.file(test.file).path), at))
            .collect();
        let head = |(at, test): (usize, &crate::impact::tests::Test)| {
            let path = &ground.atlas.view.file(test.file).path;
            let head = by_name.get(&(test.id.as_str(), path))?;
            (!self.selection.contains_key(head)).then_some((at, *head))
        };
        ground.tests.tests.iter().enumerate().filter_map(head).collect()
    }

    /// Notes where code reads members of what is not known, by names that are not known: a test that
    /// runs it and imports a file that was reached may be affected besides.
    pub(super) fn doubt_blind_reads(&mut self, ground: &Ground<'_>) {
        let view = &ground.atlas.view;
        // A field that changed may be reached as what assigns it.
        let kinds = [SymbolKind::Field, SymbolKind::EnumMember].map(SymbolKind::as_str);
        self.reached.has_fields |= self.answer.symbols.iter().any(|row| kinds.contains(&row.kind));
        let nodes = ground.steps.blind_reads(self.reached);
        if self.options.policy != Policy::Safe || nodes.is_empty() {
            return;
        }
        let changed = self.answer.symbols.iter().map(|row| &row.path);
        let paths: BTreeSet<&RepoPath> = changed.chain(self.answer.dependents.iter().map(|row| &row.path)).collect();
        let reached: Vec<FileIdx> = paths.into_iter().filter_map(|path| view.find(path.as_str())).collect();
        let near = ground.closure.tests_of_any(&reached);
        let seeds: Vec<Seed> = nodes.into_iter().map(|node| Seed { node, is_contract: false }).collect();
        let found = reach(&ground.steps, &ground.closure, &seeds);
        let mut blind: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for (at, test) in ground.tests.tests.iter().enumerate() {
            let bit = ground.tests.files.binary_search(&test.file).unwrap_or_default();
            if self.selection.contains_key(&at) || !near.has(bit) {
                continue;
            }
            if let Some(chain) = chain_of(test, ground, &found) {
                let name = chain.via.last().map_or_else(|| test.id.clone(), |step| step.to.clone());
                blind.entry(name).or_default().insert(at);
            }
        }
        let sentence =
            "it reads members of what is not known by names that are not known; what reaches it may be affected";
        let doubt = |(name, tests)| Doubt { note: Note::new("computed_member", name, sentence), tests: Some(tests) };
        self.doubts.extend(blind.into_iter().map(doubt));
    }

    /// Selects the tests of doubts that lead to few, the smallest first; says the causes of the others.
    /// `never`: tests that are not to be run whatever leads to them.
    pub(super) fn settle_doubts(&mut self, ground: &Ground<'_>, never: &GlobSet) {
        let view = &ground.atlas.view;
        let tests = &ground.tests.tests;
        let path = |at: usize| &view.file(tests[at].file).path;
        let (max_tests, max_files) = (tests.len() / ADDED, ground.tests.files.len() / ADDED);
        let mut doubts = std::mem::take(&mut self.doubts);
        doubts.sort_by(|a, b| {
            let size = |doubt: &Doubt| doubt.tests.as_ref().map_or(usize::MAX, BTreeSet::len);
            (size(a), &a.note).cmp(&(size(b), &b.note))
        });
        let mut files: BTreeSet<FileIdx> = self.selection.keys().map(|at| tests[*at].file).collect();
        let (mut n_tests, mut n_files) = (0, 0);
        for Doubt { note, tests: led } in doubts {
            let Some(led) = led else {
                self.answer.causes.push(note);
                continue;
            };
            let is_open = |at: &usize| !self.selection.contains_key(at) && !never.is_match(path(*at).as_str());
            let left: Vec<usize> = led.into_iter().filter(is_open).collect();
            let more: BTreeSet<FileIdx> =
                left.iter().map(|at| tests[*at].file).filter(|file| !files.contains(file)).collect();
            let is_cheap = n_tests + left.len() <= max_tests && n_files + more.len() <= max_files;
            if !left.is_empty() && (!is_cheap || self.options.policy != Policy::Safe) {
                self.answer.causes.push(note);
                continue;
            }
            (n_tests, n_files) = (n_tests + left.len(), n_files + more.len());
            files.extend(more);
            for at in left {
                let step = ViaStep {
                    from: tests[at].id.clone(),
                    to: note.subject.clone(),
                    kind: note.code,
                    file: path(at).to_string(),
                    line: 0,
                };
                self.select(at, Because::Reached, Some(Chain { confidence: IMPORTED, distance: 1, via: vec![step] }));
            }
        }
    }
}

/// Which of at most 64 sets of nodes lead to which of some tests of a side: (set, position in the head).
fn reaching(
    groups: &[&BTreeSet<u32>],
    ground: &Ground<'_>,
    tests: &[(usize, usize)],
) -> impl Iterator<Item = (usize, usize)> + use<> {
    let seeds: Vec<Vec<Seed>> = groups
        .iter()
        .map(|nodes| nodes.iter().map(|node| Seed { node: *node, is_contract: false }).collect())
        .collect();
    let masks = reach_by_group(&ground.steps, &ground.closure, &seeds);
    let mask_of = |at: usize| {
        let carriers = ground.tests.tests[at].carriers.iter();
        carriers.filter_map(|node| masks.get(node)).fold(0u64, |all, mask| all | mask)
    };
    let found: Vec<(u64, usize)> = tests.iter().map(|(at, head)| (mask_of(*at), *head)).collect();
    let n_groups = groups.len();
    found
        .into_iter()
        .filter(|(mask, _)| *mask != 0)
        .flat_map(move |(mask, head)| (0..n_groups).filter(move |at| mask & (1 << at) != 0).map(move |at| (at, head)))
}
