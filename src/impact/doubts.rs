//! What was left out of reach on a guess, and whether that can matter: a guess that keeps no test
//! out of the selection leaves the answer complete.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::base::path::RepoPath;
use crate::impact::answer::Note;
use crate::impact::decide::{Draft, Ground};
use crate::impact::reach::{Seed, reach_by_group};
use crate::impact::seeds::label;
use crate::impact::space::Node;
use crate::impact::tests::Test;

/// Guesses are asked about one by one, up to this many: each batch of 64 is a walk of its own.
/// More of them are told as they are.
const MAX_ASKED: usize = 256;

impl Draft<'_> {
    /// Says where a step was left out on a guess, if following it would reach a test that is not
    /// selected: then more may be affected. `ground`: where the guesses were made.
    pub(super) fn tell_guesses(&mut self, ground: &Ground<'_>, new: &Ground<'_>) {
        let mut guesses = ground.steps.guesses();
        let left_out = self.left_out_of(ground, new);
        let mut is_open: HashSet<usize>;
        loop {
            is_open = (0..guesses.len()).collect();
            if guesses.len() > MAX_ASKED {
                break;
            }
            let nodes: Vec<&BTreeSet<u32>> = guesses.iter().map(|(_, nodes)| nodes).collect();
            let chunks = nodes.chunks(64).enumerate();
            is_open =
                chunks.flat_map(|(at, chunk)| reaching(chunk, ground, &left_out).map(move |n| at * 64 + n)).collect();
            // What was left out may lead to other guesses.
            let now = ground.steps.guesses();
            if now == guesses {
                break;
            }
            guesses = now;
        }
        for (at, ((guess, symbol), _)) in guesses.iter().enumerate() {
            if is_open.contains(&at) {
                let name = label(&ground.atlas.view, Node::Symbol(*symbol));
                self.answer.causes.push(Note::new(guess.as_str(), name, guess.sentence()));
            }
        }
    }

    /// The tests of a side that stand in the head too and are not selected there.
    fn left_out_of<'g>(&self, ground: &'g Ground<'_>, new: &Ground<'_>) -> Vec<&'g Test> {
        // Tests of the base are told by name; one that is gone cannot be missed.
        let by_name: HashMap<(&str, &RepoPath), usize> = new
            .tests
            .tests
            .iter()
            .enumerate()
            .map(|(at, test)| ((test.id.as_str(), &new.atlas.view.file(test.file).path), at))
            .collect();
        let is_left_out = |test: &&Test| {
            let path = &ground.atlas.view.file(test.file).path;
            by_name.get(&(test.id.as_str(), path)).is_some_and(|at| !self.selection.contains_key(at))
        };
        ground.tests.tests.iter().filter(is_left_out).collect()
    }
}

/// Which of at most 64 sets of nodes lead to one of some tests.
fn reaching(groups: &[&BTreeSet<u32>], ground: &Ground<'_>, tests: &[&Test]) -> impl Iterator<Item = usize> + use<> {
    let seeds: Vec<Vec<Seed>> = groups
        .iter()
        .map(|nodes| nodes.iter().map(|node| Seed { node: *node, is_contract: false }).collect())
        .collect();
    let masks = reach_by_group(&ground.steps, &ground.closure, &seeds);
    let carriers = tests.iter().flat_map(|test| &test.carriers);
    let found = carriers.filter_map(|node| masks.get(node)).fold(0u64, |all, mask| all | mask);
    (0..groups.len()).filter(move |at| found & (1 << at) != 0)
}
