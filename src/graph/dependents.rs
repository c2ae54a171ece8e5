//! Who hangs on what, the other way round: which answers and links were computed from a file or
//! an answer.

use crate::base::reads::Read;
use crate::graph::answers::{Answers, Inputs};
use crate::graph::hashing::{HashMap, HashSet};
use crate::graph::outline::Shown;
use crate::graph::queries::Query;
use crate::view::FileIdx;

/// Something that is computed: a shared answer, or the link of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    Answer(Query),
    Link(FileIdx),
}

/// The dependents of files and answers. May hold nodes that no longer hang on what they are
/// filed under: those are looked at in vain, and found to be as they were.
#[derive(Default)]
pub struct Dependents {
    /// By input, files and looks at tables: who looked at it, and how.
    of_input: HashMap<u32, Vec<(Node, Read)>>,
    of_answer: HashMap<Query, Vec<Node>>,
    /// By file: the answers about it.
    about: Vec<HashSet<Query>>,
    n_entries: usize,
    n_entries_at_first: usize,
}

impl Dependents {
    /// Files everything under what it was computed from. O(inputs).
    pub fn new<'i>(n_files: usize, answers: &Answers, links: impl Iterator<Item = (FileIdx, &'i Inputs)>) -> Self {
        let mut dependents = Dependents { about: vec![HashSet::default(); n_files], ..Dependents::default() };
        answers.each_inputs(|query, inputs| dependents.add(Node::Answer(query), inputs));
        for (file, inputs) in links {
            dependents.add(Node::Link(file), inputs);
        }
        dependents.n_entries_at_first = dependents.n_entries;
        dependents
    }

    /// Files a node under what it was computed from.
    pub fn add(&mut self, node: Node, inputs: &Inputs) {
        if let Node::Answer(query) = node {
            self.about[query.file().0 as usize].insert(query);
        }
        for read in &inputs.reads {
            self.of_input.entry(read.input()).or_default().push((node, *read));
        }
        for query in &inputs.asked {
            self.of_answer.entry(*query).or_default().push(node);
        }
        self.n_entries += inputs.reads.len() + inputs.asked.len();
    }

    /// Files a node under what it is computed from now and was not before.
    pub fn add_beyond(&mut self, node: Node, inputs: &Inputs, before: &Inputs) {
        if inputs == before {
            return;
        }
        let asked: HashSet<&Query> = before.asked.iter().collect();
        let beyond = Inputs {
            asked: inputs.asked.iter().filter(|query| !asked.contains(query)).copied().collect(),
            reads: inputs.reads.iter().filter(|read| before.reads.binary_search(read).is_err()).copied().collect(),
        };
        self.add(node, &beyond);
    }

    /// Whether so much was added that it is time to begin anew.
    pub fn is_worn(&self) -> bool {
        self.n_entries > 2 * self.n_entries_at_first + 100_000
    }

    /// Everything that may hang on some changed files, by what of their outlines changed, and on other
    /// changed inputs: answers, and links in order.
    pub fn of(&self, changed: &[(FileIdx, Shown)], lookups: &[u32]) -> (HashSet<Query>, Vec<FileIdx>) {
        let mut answers: HashSet<Query> = HashSet::default();
        let mut links: HashSet<FileIdx> = HashSet::default();
        let mut stack: Vec<Query> = Vec::new();
        let mut mark = |node: Node, stack: &mut Vec<Query>| match node {
            Node::Answer(query) => {
                if answers.insert(query) {
                    stack.push(query);
                }
            }
            Node::Link(file) => drop(links.insert(file)),
        };
        for (file, shown) in changed {
            let at = file.0 as usize;
            mark(Node::Link(*file), &mut stack);
            self.about[at].iter().for_each(|query| mark(Node::Answer(*query), &mut stack));
            let readers = self.of_input.get(&file.0).into_iter().flatten().filter(|(_, read)| shown.touches(*read));
            readers.for_each(|(node, _)| mark(*node, &mut stack));
        }
        for node in lookups.iter().filter_map(|lookup| self.of_input.get(lookup)).flatten() {
            mark(node.0, &mut stack);
        }
        while let Some(query) = stack.pop() {
            for node in self.of_answer.get(&query).into_iter().flatten() {
                mark(*node, &mut stack);
            }
        }
        let mut links: Vec<FileIdx> = links.into_iter().collect();
        links.sort_unstable();
        (answers, links)
    }
}
