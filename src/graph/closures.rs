//! What each file reaches through uses, computed once for all files over the condensed graph:
//! files that use each other in a circle share one closure.

use std::borrow::Cow;

use crate::graph::file_graph::{FileGraph, FileSet};
use crate::view::FileIdx;

/// Bytes that closures may take; beyond it each is walked when it is asked for.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// The closures of all files of a view.
#[derive(Clone, Debug)]
pub struct Closures<'g> {
    graph: &'g FileGraph,
    /// The component of each file.
    component: Vec<u32>,
    /// What each component reaches, its own files included; empty when that is too much to keep.
    reached: Vec<FileSet>,
}

impl<'g> Closures<'g> {
    /// Computes all closures. O(uses × files / 64) in time, O(components × files / 8) bytes.
    pub fn new(graph: &'g FileGraph) -> Self {
        Closures::within(graph, MAX_BYTES)
    }

    fn within(graph: &'g FileGraph, max_bytes: usize) -> Self {
        let component = components(graph);
        let n_components = component.iter().map(|c| *c as usize + 1).max().unwrap_or(0);
        if n_components * (graph.n_files() / 8 + 32) > max_bytes {
            return Closures { graph, component, reached: Vec::new() };
        }
        let mut members: Vec<Vec<FileIdx>> = vec![Vec::new(); n_components];
        for (file, of) in component.iter().enumerate() {
            members[*of as usize].push(FileIdx(file as u32));
        }
        let mut reached: Vec<FileSet> = Vec::with_capacity(n_components);
        // What a component uses was numbered before it.
        for (own, files) in members.iter().enumerate() {
            let mut set = FileSet::empty(graph.n_files());
            for file in files {
                set.insert(*file);
            }
            let used = files.iter().flat_map(|file| graph.uses(*file)).map(|to| component[to.0 as usize]);
            let mut used: Vec<u32> = used.filter(|of| *of as usize != own).collect();
            used.sort_unstable();
            used.dedup();
            for of in used {
                set.extend(&reached[of as usize]);
            }
            reached.push(set);
        }
        Closures { graph, component, reached }
    }

    /// Every file that `file` reaches through uses, itself included.
    pub fn of(&self, file: FileIdx) -> Cow<'_, FileSet> {
        match self.reached.get(self.component[file.0 as usize] as usize) {
            Some(set) => Cow::Borrowed(set),
            None => Cow::Owned(self.graph.closure_of_uses([file])),
        }
    }
}

/// The strongly connected component of each file (Tarjan 1972, without recursion); a component
/// has a lower number than those that use it.
fn components(graph: &FileGraph) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let n = graph.n_files();
    let mut component = vec![NONE; n];
    let mut index = vec![NONE; n];
    let mut low = vec![NONE; n];
    let mut stack: Vec<u32> = Vec::new();
    let mut open: Vec<(u32, Vec<FileIdx>)> = Vec::new();
    let (mut next_index, mut next_component) = (0, 0);
    let mut enter = |file: u32, index: &mut Vec<u32>, low: &mut Vec<u32>, stack: &mut Vec<u32>| {
        index[file as usize] = next_index;
        low[file as usize] = next_index;
        next_index += 1;
        stack.push(file);
        (file, graph.uses(FileIdx(file)).collect::<Vec<FileIdx>>())
    };
    for root in 0..n as u32 {
        if index[root as usize] != NONE {
            continue;
        }
        open.push(enter(root, &mut index, &mut low, &mut stack));
        while let Some((file, uses)) = open.last_mut() {
            let file = *file;
            let Some(to) = uses.pop() else {
                open.pop();
                if let Some((outer, _)) = open.last() {
                    low[*outer as usize] = low[*outer as usize].min(low[file as usize]);
                }
                if low[file as usize] == index[file as usize] {
                    while let Some(member) = stack.pop() {
                        component[member as usize] = next_component;
                        if member == file {
                            break;
                        }
                    }
                    next_component += 1;
                }
                continue;
            };
            if index[to.0 as usize] == NONE {
                open.push(enter(to.0, &mut index, &mut low, &mut stack));
            } else if component[to.0 as usize] == NONE {
                low[file as usize] = low[file as usize].min(index[to.0 as usize]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Closures;
    use crate::graph::edge::FileUse;
    use crate::graph::file_graph::FileGraph;
    use crate::view::FileIdx;

    proptest! {
        #[test]
        fn closures_equal_a_walk_from_each_file(pairs in prop::collection::vec((0..40u32, 0..40u32), 0..90)) {
            let uses: Vec<FileUse> = pairs
                .into_iter()
                .map(|(from, to)| FileUse { from: FileIdx(from), to: FileIdx(to), type_only: false })
                .collect();
            let graph = FileGraph::new(40, &uses);
            for max_bytes in [usize::MAX, 0] {
                let closures = Closures::within(&graph, max_bytes);
                for file in (0..40).map(FileIdx) {
                    prop_assert_eq!(&*closures.of(file), &graph.closure_of_uses([file]));
                }
            }
        }
    }
}
