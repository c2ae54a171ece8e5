//! The graph of files: who uses whom, and which pairs of files some file has both in its closure.

use std::borrow::Cow;

use crate::graph::edge::FileUse;
use crate::view::FileIdx;

/// The uses between the files of a view, both ways, in compressed rows.
#[derive(Clone, Debug, Default)]
pub struct FileGraph {
    forward: Rows,
    backward: Rows,
}

#[derive(Clone, Debug, Default)]
struct Rows {
    starts: Vec<u32>,
    to: Vec<u32>,
}

impl Rows {
    /// Lays pairs out by their first, each once; those of one first keep their order. O(pairs).
    fn build(n_files: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0u32; n_files + 2];
        for (from, _) in pairs.clone() {
            starts[from as usize + 2] += 1;
        }
        for at in 0..n_files {
            starts[at + 2] += starts[at + 1];
        }
        let mut to = vec![0u32; starts[n_files + 1] as usize];
        // Each start moves to its end, which is where the next one starts.
        for (from, target) in pairs {
            let place = &mut starts[from as usize + 1];
            to[*place as usize] = target;
            *place += 1;
        }
        starts.pop();
        Rows { starts, to }
    }

    fn of(&self, from: u32) -> &[u32] {
        &self.to[self.starts[from as usize] as usize..self.starts[from as usize + 1] as usize]
    }
}

/// A set of files of one view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSet(Vec<u64>);

impl FileSet {
    /// The empty set over `n_files` files.
    pub fn empty(n_files: usize) -> Self {
        FileSet(vec![0; n_files.div_ceil(64)])
    }

    /// Whether it holds a file.
    pub fn has(&self, file: FileIdx) -> bool {
        self.0.get(file.0 as usize / 64).is_some_and(|word| word >> (file.0 % 64) & 1 == 1)
    }

    /// Adds a file; whether it was new.
    pub fn insert(&mut self, file: FileIdx) -> bool {
        let word = &mut self.0[file.0 as usize / 64];
        let bit = 1 << (file.0 % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Adds every file of another set over the same files.
    pub fn extend(&mut self, other: &FileSet) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    /// Its files, in order.
    pub fn iter(&self) -> impl Iterator<Item = FileIdx> + '_ {
        self.0.iter().enumerate().flat_map(|(at, word)| {
            (0..64u32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| FileIdx(at as u32 * 64 + bit))
        })
    }
}

impl FileGraph {
    /// Builds the graph of `n_files` files from their uses, type-only ones included. O(uses), where
    /// they are sorted.
    pub fn new(n_files: usize, uses: &[FileUse]) -> Self {
        let is_sorted = uses.is_sorted_by(|a, b| (a.from, a.to) < (b.from, b.to));
        let sorted: Cow<'_, [FileUse]> = if is_sorted {
            Cow::Borrowed(uses)
        } else {
            let mut uses = uses.to_vec();
            uses.sort_unstable();
            uses.dedup_by_key(|used| (used.from, used.to));
            Cow::Owned(uses)
        };
        FileGraph {
            forward: Rows::build(n_files, sorted.iter().map(|used| (used.from.0, used.to.0))),
            backward: Rows::build(n_files, sorted.iter().map(|used| (used.to.0, used.from.0))),
        }
    }

    /// The number of files.
    pub fn n_files(&self) -> usize {
        self.forward.starts.len().saturating_sub(1)
    }

    /// The files that `file` uses, in order.
    pub fn uses(&self, file: FileIdx) -> impl Iterator<Item = FileIdx> + '_ {
        self.forward.of(file.0).iter().map(|at| FileIdx(*at))
    }

    /// The files that use `file`, in order.
    pub fn users(&self, file: FileIdx) -> impl Iterator<Item = FileIdx> + '_ {
        self.backward.of(file.0).iter().map(|at| FileIdx(*at))
    }

    /// Every file that reaches one of `files` through uses, these included. O(uses).
    pub fn closure_of_users(&self, files: impl IntoIterator<Item = FileIdx>) -> FileSet {
        self.closure(files, &self.backward)
    }

    /// Every file that one of `files` reaches through uses, these included. O(uses).
    pub fn closure_of_uses(&self, files: impl IntoIterator<Item = FileIdx>) -> FileSet {
        self.closure(files, &self.forward)
    }

    /// The files that share an importer with `file`: some file has both in its closure
    /// (FACTS.md §4, may reach). O(uses).
    pub fn covisible(&self, file: FileIdx) -> FileSet {
        let above = self.closure_of_users([file]);
        self.closure_of_uses(above.iter())
    }

    fn closure(&self, files: impl IntoIterator<Item = FileIdx>, rows: &Rows) -> FileSet {
        let mut set = FileSet::empty(self.n_files());
        let mut stack: Vec<FileIdx> = files.into_iter().filter(|file| set.insert(*file)).collect();
        while let Some(file) = stack.pop() {
            for to in rows.of(file.0) {
                if set.insert(FileIdx(*to)) {
                    stack.push(FileIdx(*to));
                }
            }
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::FileGraph;
    use crate::graph::edge::FileUse;
    use crate::view::FileIdx;

    #[test]
    fn files_are_covisible_when_a_third_imports_both() {
        let uses = |from, to| FileUse { from: FileIdx(from), to: FileIdx(to), type_only: false };
        // 0 is a test of 1 and 2; 3 stands alone.
        let graph = FileGraph::new(4, &[uses(0, 1), uses(0, 2)]);
        let seen: Vec<u32> = graph.covisible(FileIdx(1)).iter().map(|f| f.0).collect();
        assert_eq!(seen, [0, 1, 2]);
        let alone: Vec<u32> = graph.covisible(FileIdx(3)).iter().map(|f| f.0).collect();
        assert_eq!(alone, [3]);
    }
}
