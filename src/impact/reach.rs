//! Reach from changes back to tests: who is a member, and by which best path.
//!
//! Membership is a fixed point over sets of test files: a step over an unproved name is open
//! only to tests whose import closure holds both of its files (FACTS.md §4). Best paths are a
//! second pass over the same steps: the surest, then the shortest, then the first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::rc::Rc;

use crate::impact::closure::Closure;
use crate::impact::space::Bits;
use crate::impact::step::{Step, Steps, Why};

/// Where a change starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seed {
    pub node: u32,
    /// Its name, place or declaration changed.
    pub is_contract: bool,
}

/// How a node was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Steps to the change.
    pub distance: u32,
    /// Product of the confidences, in 1/1,000,000,000; at least 1.
    pub confidence: u64,
    pub why: Why,
    pub line: u32,
    /// The next node on the way to the change; itself for a change.
    pub next: u32,
}

/// A path whose every step is proved by a compiler.
pub const CERTAIN: u64 = 1_000_000_000;

/// What seeds reach.
pub struct Reach {
    /// For each reached node, the test files that can take a path to it.
    pub members: HashMap<u32, Bits>,
    /// For each reached node, its best path.
    pub hops: BTreeMap<u32, Hop>,
}

/// Walks back from `seeds`. O(steps · words of a set of test files) and a logarithm.
pub fn reach(steps: &Steps<'_>, closure: &Closure, seeds: &[Seed]) -> Reach {
    let mut is_contract: HashMap<u32, bool> = HashMap::new();
    for seed in seeds {
        *is_contract.entry(seed.node).or_default() |= seed.is_contract;
    }
    let mut known: HashMap<u32, Rc<[Step]>> = HashMap::new();
    let mut all = Bits::new(closure.n_test_files());
    (0..closure.n_test_files()).for_each(|at| {
        all.insert(at);
    });
    let mut members: HashMap<u32, Bits> = HashMap::new();
    let mut work: std::collections::BTreeSet<u32> = std::collections::BTreeSet::new();
    for node in is_contract.keys() {
        members.insert(*node, all.clone());
        work.insert(*node);
    }
    while let Some(node) = work.pop_first() {
        let found = known.entry(node).or_insert_with(|| steps.from(node, is_contract.get(&node).copied()));
        let here = members[&node].clone();
        for step in found.iter() {
            let mut taken = if step.is_gated {
                let (one, other) = (steps.space.file(node), steps.space.file(step.to));
                here.and(closure.tests_of(one)).and(closure.tests_of(other))
            } else {
                here.clone()
            };
            if let Some(files) = &step.made_in {
                taken = taken.and(&closure.tests_of_any(files));
            }
            if taken.is_empty() && (step.is_gated || step.made_in.is_some()) {
                continue;
            }
            let is_new = match members.entry(step.to) {
                std::collections::hash_map::Entry::Occupied(mut set) => set.get_mut().join(&taken),
                std::collections::hash_map::Entry::Vacant(slot) => {
                    slot.insert(taken);
                    true
                }
            };
            if is_new {
                work.insert(step.to);
            }
        }
    }
    let hops = best_paths(steps, closure, seeds, &known);
    Reach { members, hops }
}

/// Whether some test can take a step.
fn is_open(step: &Step, node: u32, steps: &Steps<'_>, closure: &Closure) -> bool {
    let is_made = step.made_in.as_ref().is_none_or(|files| !closure.tests_of_any(files).is_empty());
    is_made && (!step.is_gated || closure.meet(steps.space.file(node), steps.space.file(step.to)))
}

fn best_paths(
    steps: &Steps<'_>,
    closure: &Closure,
    seeds: &[Seed],
    known: &HashMap<u32, Rc<[Step]>>,
) -> BTreeMap<u32, Hop> {
    let mut best: HashMap<u32, Hop> = HashMap::new();
    let mut heap = BinaryHeap::new();
    for seed in seeds {
        let hop = Hop { distance: 0, confidence: CERTAIN, why: Why::Changed, line: 0, next: seed.node };
        best.insert(seed.node, hop);
        heap.push((CERTAIN, Reverse(0), Reverse(seed.node)));
    }
    let mut done = BTreeMap::new();
    while let Some((_, _, Reverse(node))) = heap.pop() {
        if done.contains_key(&node) {
            continue;
        }
        let hop = best[&node];
        done.insert(node, hop);
        for step in known.get(&node).into_iter().flat_map(|steps| steps.iter()) {
            if !is_open(step, node, steps, closure) {
                continue;
            }
            let offer = Hop {
                distance: hop.distance + 1,
                confidence: (hop.confidence * u64::from(step.confidence) / 10_000).max(1),
                why: step.why,
                line: step.line,
                next: node,
            };
            let rank = |hop: &Hop| (hop.confidence, Reverse(hop.distance), Reverse(hop.next), Reverse(hop.why));
            if best.get(&step.to).is_none_or(|old| rank(&offer) > rank(old)) {
                best.insert(step.to, offer);
                heap.push((offer.confidence, Reverse(offer.distance), Reverse(step.to)));
            }
        }
    }
    done
}

/// Which of at most 64 groups of seeds reach each node: bit `at` for group `at`. The gates hold
/// by pairs of files here, so that this may only say too much.
pub fn reach_by_group(steps: &Steps<'_>, closure: &Closure, groups: &[Vec<Seed>]) -> HashMap<u32, u64> {
    let mut masks: HashMap<u32, u64> = HashMap::new();
    let mut is_contract: HashMap<u32, bool> = HashMap::new();
    let mut work = std::collections::BTreeSet::new();
    for (at, group) in groups.iter().take(64).enumerate() {
        for seed in group {
            *masks.entry(seed.node).or_default() |= 1 << at;
            *is_contract.entry(seed.node).or_default() |= seed.is_contract;
            work.insert(seed.node);
        }
    }
    let mut known: HashMap<u32, Rc<[Step]>> = HashMap::new();
    while let Some(node) = work.pop_first() {
        let found = known.entry(node).or_insert_with(|| steps.from(node, is_contract.get(&node).copied()));
        let here = masks[&node];
        for step in found.iter() {
            if !is_open(step, node, steps, closure) {
                continue;
            }
            let mask = masks.entry(step.to).or_default();
            if here & !*mask != 0 {
                *mask |= here;
                work.insert(step.to);
            }
        }
    }
    masks
}
