//! Import closures: which test files have a file in theirs. On the condensed file graph, uncapped.

use std::collections::BTreeSet;

use crate::graph::edge::FileUse;
use crate::impact::space::Bits;
use crate::view::FileIdx;

/// For each file, the test files whose import closure holds it.
#[derive(Clone, Debug)]
pub struct Closure {
    component: Vec<u32>,
    tests: Vec<Bits>,
    n_test_files: usize,
}

impl Closure {
    /// Computes the closures. `uses` are sorted; `test_files` are numbered by position.
    /// O(files + uses) and one bit per file component and test file.
    pub fn new(n_files: usize, uses: &[FileUse], test_files: &[FileIdx]) -> Self {
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); n_files];
        for edge in uses {
            next[edge.from.0 as usize].push(edge.to.0);
        }
        let (component, n_components) = components(&next);
        let mut tests = vec![Bits::new(test_files.len()); n_components];
        for (at, file) in test_files.iter().enumerate() {
            tests[component[file.0 as usize] as usize].insert(at);
        }
        let mut below: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); n_components];
        for (from, targets) in next.iter().enumerate() {
            for to in targets {
                let (a, b) = (component[from], component[*to as usize]);
                if a != b {
                    below[a as usize].insert(b);
                }
            }
        }
        // Tarjan numbers a component after all that it uses, so users have the higher numbers.
        for at in (0..n_components).rev() {
            let own = std::mem::take(&mut tests[at]);
            for to in &below[at] {
                tests[*to as usize].join(&own);
            }
            tests[at] = own;
        }
        Closure { component, tests, n_test_files: test_files.len() }
    }

    /// The test files whose closure holds a file.
    pub fn tests_of(&self, file: FileIdx) -> &Bits {
        &self.tests[self.component[file.0 as usize] as usize]
    }

    /// The test files whose closure holds one of some files.
    pub fn tests_of_any(&self, files: &[FileIdx]) -> Bits {
        let mut all = Bits::new(self.n_test_files);
        for file in files {
            all.join(self.tests_of(*file));
        }
        all
    }

    /// How many test files there are.
    pub fn n_test_files(&self) -> usize {
        self.n_test_files
    }

    /// Whether some test file has both in its closure.
    pub fn meet(&self, one: FileIdx, other: FileIdx) -> bool {
        self.tests_of(one).meets(self.tests_of(other))
    }
}

/// Strongly connected components (Tarjan, without recursion): for each node its component, and
/// how many there are. A component's number is above those that it leads to.
fn components(next: &[Vec<u32>]) -> (Vec<u32>, usize) {
    const UNSEEN: u32 = u32::MAX;
    let n = next.len();
    let (mut index, mut low) = (vec![UNSEEN; n], vec![0u32; n]);
    let mut component = vec![UNSEEN; n];
    let mut on_stack = vec![false; n];
    let (mut stack, mut calls) = (Vec::new(), Vec::new());
    let (mut counter, mut n_components) = (0u32, 0u32);
    for root in 0..n {
        if index[root] != UNSEEN {
            continue;
        }
        calls.push((root, 0usize));
        while let Some((at, edge)) = calls.pop() {
            if edge == 0 {
                (index[at], low[at]) = (counter, counter);
                counter += 1;
                stack.push(at);
                on_stack[at] = true;
            }
            if let Some(to) = next[at].get(edge).map(|to| *to as usize) {
                calls.push((at, edge + 1));
                if index[to] == UNSEEN {
                    calls.push((to, 0));
                } else if on_stack[to] {
                    low[at] = low[at].min(index[to]);
                }
                continue;
            }
            if low[at] == index[at] {
                while let Some(top) = stack.pop() {
                    on_stack[top] = false;
                    component[top] = n_components;
                    if top == at {
                        break;
                    }
                }
                n_components += 1;
            }
            if let Some((parent, _)) = calls.last() {
                low[*parent] = low[*parent].min(low[at]);
            }
        }
    }
    (component, n_components as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(pairs: &[(u32, u32)]) -> Vec<FileUse> {
        pairs.iter().map(|(a, b)| FileUse { from: FileIdx(*a), to: FileIdx(*b), type_only: false }).collect()
    }

    #[test]
    fn closures_cross_cycles_and_stay_apart() {
        // 0 and 1 are tests; 2 and 3 import each other; 4 is used by 1 alone; 5 by nobody.
        let closure = Closure::new(6, &uses(&[(0, 2), (1, 4), (2, 3), (3, 2)]), &[FileIdx(0), FileIdx(1)]);
        let tests = |file| (0..2).filter(|at| closure.tests_of(FileIdx(file)).has(*at)).collect::<Vec<_>>();
        assert_eq!(tests(2), [0]);
        assert_eq!(tests(3), [0]);
        assert_eq!(tests(4), [1]);
        assert_eq!(tests(5), [0usize; 0]);
        assert!(closure.meet(FileIdx(2), FileIdx(3)));
        assert!(!closure.meet(FileIdx(3), FileIdx(4)));
    }
}
