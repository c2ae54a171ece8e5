//! Linking a view anew after a change: what hangs on no changed file, nor on an answer that has
//! become another, keeps its link (FACTS.md §4). Equal to linking every file; replay tests compare.

use std::cell::LazyCell;
use std::sync::Arc;

use rayon::prelude::*;

use crate::facts::model::{FileFacts, SymbolId, SymbolKind};
use crate::facts::table::Id;
use crate::graph::answers::{Answers, Inputs};
use crate::graph::assemble::{Guessed, assemble, edges_of, guess_all, guess_some, stand_ins, whole_of};
use crate::graph::candidates;
use crate::graph::dependents::{Dependents, Node};
use crate::graph::edge::{FileUse, Graph, Splice, Unproved};
use crate::graph::file_graph::FileGraph;
use crate::graph::hashing::{HashMap, HashSet};
use crate::graph::link::{FileLink, link, link_tracked};
use crate::graph::modules::{Family, Modules, java_package};
use crate::graph::names::{NameTables, Names, Text};
use crate::graph::outline::{FileChange, Shown};
use crate::graph::queries::{Query, Shared};
use crate::graph::renumber::{GONE, Renumber};
use crate::graph::verify::{Changed, Suspect, Verifier};
use crate::view::{FileIdx, View};

/// When more than one file in so many changed, linking all is as fast.
const MAX_CHANGED_SHARE: usize = 8;

/// A linked view with all that linking the next one builds on.
pub struct Linked {
    pub graph: Arc<Graph>,
    /// The graph of the view before, to be made that of the next one once nobody holds it.
    before: Option<Before>,
    /// Files that were linked anew for this view.
    pub n_linked: usize,
    view: Arc<View>,
    /// `None` where nothing was recorded: compilers' words are not told by files' facts.
    state: Option<State>,
}

/// A graph that differs in some files from the one that came after it.
struct Before {
    graph: Arc<Graph>,
    /// In order.
    files: Vec<FileIdx>,
    /// Whether it differs too in what is said of all files together.
    whole: bool,
}

/// What was found out about a view, to be changed into what holds for the next.
struct State {
    names: NameTables,
    modules: Modules,
    answers: Answers,
    links: Vec<(FileLink, Inputs)>,
    guessed: Vec<Guessed>,
    /// Made for the first change.
    dependents: Option<Dependents>,
}

impl Linked {
    /// Links every file of a view and records what each link was computed from.
    pub fn new(view: Arc<View>) -> Self {
        if !view.compilers.is_empty() {
            let graph = Arc::new(link(&view));
            return Linked { graph, before: None, n_linked: view.files.len(), view, state: None };
        }
        let mut names = NameTables::new(&view);
        names.record();
        let mut modules = Modules::new(&view);
        modules.record();
        let shared = Shared::with(Names::with(&view, names), modules, Answers::tracked());
        let files: Vec<FileIdx> = view.indices().collect();
        let links: Vec<(FileLink, Inputs)> = files.par_iter().map(|file| link_tracked(&view, &shared, *file)).collect();
        let guessed = guess_all(&shared, &uses(&links), |file| &links[file.0 as usize].0);
        let graph = Arc::new(assemble(&view, links.iter().map(|(link, _)| link), &guessed));
        let (names, modules, answers) = shared.into_parts();
        let state = Some(State { names, modules, answers, links, guessed, dependents: None });
        Linked { graph, before: None, n_linked: files.len(), view, state }
    }

    /// The view that is linked.
    pub fn view(&self) -> &Arc<View> {
        &self.view
    }

    /// Links another view, taking over what hangs on nothing that has changed. A view with other
    /// configuration, or of which much differs, is linked as from nothing.
    pub fn next(self, view: Arc<View>) -> Self {
        let renumber = Renumber::new(&self.view, &view);
        let change = Change::new(&self.view, &view, &renumber);
        let is_small = change.len() * MAX_CHANGED_SHARE <= view.files.len().max(MAX_CHANGED_SHARE);
        let same_rules = self.view.config == view.config && view.compilers.is_empty();
        match self.state.filter(|_| is_small && same_rules) {
            Some(state) if change.len() == 0 => {
                Linked { graph: self.graph, before: self.before, n_linked: 0, view, state: Some(state) }
            }
            Some(state) => match state.update(&self.view, &view, &renumber, change, (self.graph, self.before)) {
                Some((state, graph, before, n_linked)) => Linked { graph, before, n_linked, view, state: Some(state) },
                None => Linked::new(view),
            },
            None => Linked::new(view),
        }
    }
}

/// The files that differ between two views.
struct Change {
    /// In both, with other facts: the numbers before and after, in order.
    changed: Vec<(FileIdx, FileIdx)>,
    /// Numbers in the new view.
    added: Vec<FileIdx>,
    /// Numbers in the old view.
    removed: Vec<FileIdx>,
}

impl Change {
    fn new(was: &View, view: &View, renumber: &Renumber) -> Self {
        let mut change = Change { changed: Vec::new(), added: Vec::new(), removed: Vec::new() };
        let mut is_old = vec![false; view.files.len()];
        for old in was.indices() {
            let Some(new) = renumber.file(old) else {
                change.removed.push(old);
                continue;
            };
            is_old[new.0 as usize] = true;
            let (a, b) = (&was.files[old.0 as usize], &view.files[new.0 as usize]);
            // What was not read yet is told by its bytes, and needs not be.
            let is_other = match (a.facts.made(), b.facts.made()) {
                (Some(a), Some(b)) => !Arc::ptr_eq(a, b) && a != b,
                _ => a.blob != b.blob,
            };
            if is_other {
                change.changed.push((old, new));
            }
        }
        change.added = view.indices().filter(|file| !is_old[file.0 as usize]).collect();
        change
    }

    fn len(&self) -> usize {
        self.changed.len() + self.added.len() + self.removed.len()
    }
}

impl State {
    /// Changes everything into what holds for the new view; `None` when too much has changed.
    fn update(
        mut self,
        was: &View,
        view: &Arc<View>,
        renumber: &Renumber,
        change: Change,
        (graph, before): (Arc<Graph>, Option<Before>),
    ) -> Option<(State, Arc<Graph>, Option<Before>, usize)> {
        let has_moved = !renumber.is_idle(view.files.len());
        let dependents = self.dependents.take().filter(|dependents| !dependents.is_worn());
        let mut dependents = dependents.unwrap_or_else(|| {
            let links = was.indices().zip(&self.links).map(|(file, (_, inputs))| (file, inputs));
            Dependents::new(was.files.len(), &self.answers, links)
        });
        let State { mut names, mut modules, mut answers, mut links, mut guessed, .. } = self;
        // The names of members that may be guessed otherwise: others have them, or they take other arguments.
        let mut guessable: HashSet<Text> = HashSet::default();
        let mut changed = Changed::default();
        // What it is that may matter to others, by the numbers of before.
        let mut causes: Vec<(FileIdx, Shown)> = change.removed.iter().map(|file| (*file, Shown::Other)).collect();
        let mut has_other_types = has_moved;
        let facts = |(before, after): &(FileIdx, FileIdx)| (*before, was.facts(*before), view.facts(*after));
        let replaced = names.replace(&change.changed.iter().map(facts).collect::<Vec<_>>());
        if replaced.iter().any(|replaced| replaced.globals) {
            return None;
        }
        for ((before, after), replaced) in change.changed.iter().zip(replaced) {
            let (old, new) = (was.facts(*before), view.facts(*after));
            has_other_types |= top_level_types(was, *before) != top_level_types(view, *after);
            let file = FileChange::new(old, new);
            match &file.shown {
                Shown::Same => {}
                Shown::Rows(rows) => {
                    let named = |row: &u32| names.text(*before, new.symbol(SymbolId::new(*row as usize)).name);
                    guessable.extend(rows.iter().map(named));
                }
                Shown::Other => guessable.extend(replaced.members),
            }
            causes.push((*before, file.shown.clone()));
            changed.files.insert(*after, file);
        }
        let mut lookups = Vec::new();
        if has_other_types {
            let (next, led_elsewhere, failing) = modules.next(was, view, renumber);
            modules = next;
            let before_of: HashMap<FileIdx, FileIdx> =
                was.indices().filter_map(|old| Some((renumber.file(old)?, old))).collect();
            for after in led_elsewhere {
                causes.extend(before_of.get(&after).map(|before| (*before, Shown::Other)));
                changed.files.insert(after, FileChange::other());
            }
            changed.files.extend(failing.iter().map(|lookup| (FileIdx(*lookup), FileChange::other())));
            lookups = failing;
        } else {
            change.changed.iter().for_each(|(_, after)| modules.replace(view, *after));
        }
        if !change.removed.is_empty() {
            changed.files.insert(GONE, FileChange::other());
        }
        let (suspected, mut suspect_links) = dependents.of(&causes, &lookups);
        let suspect = |query: Query| {
            let (known, inputs) = answers.remove(&query)?;
            Some((query, Suspect { known, inputs, is_other: None }))
        };
        let mut suspects: HashMap<Query, Suspect> = suspected.into_iter().filter_map(suspect).collect();
        if has_moved {
            if names.renumber(was, view, renumber) {
                return None;
            }
            suspects =
                suspects.into_iter().filter_map(|(query, suspect)| renumbered(query, suspect, renumber)).collect();
            answers = answers.renumber(renumber)?;
            let mut moved: Vec<(FileLink, Inputs)> = view.indices().map(|_| Default::default()).collect();
            suspect_links = suspect_links.into_iter().filter_map(|file| renumber.file(file)).collect();
            for (old, (link, inputs)) in was.indices().zip(links) {
                let Some(new) = renumber.file(old) else { continue };
                match renumber.link(link) {
                    Some(link) => moved[new.0 as usize] = (link, renumber.inputs(inputs)),
                    // It leads to what is gone.
                    None => drop(changed.files.entry(new).or_insert_with(FileChange::other)),
                }
            }
            links = moved;
            suspect_links.extend(&change.added);
            suspect_links.extend(changed.files.keys().filter(|file| file.0 < GONE.0));
            suspect_links.sort_unstable();
            suspect_links.dedup();
        }
        answers.log();
        let shared = Shared::with(Names::with(view, names), modules, answers);
        let mut verifier = Verifier::new(&shared, &changed, suspects);
        let is_new = |file: &FileIdx| change.added.binary_search(file).is_ok() || changed.files.contains_key(file);
        let dirty: Vec<FileIdx> = suspect_links
            .into_iter()
            .filter(|file| is_new(file) || verifier.is_dirty(&links[file.0 as usize].1))
            .collect();
        let linked: Vec<(FileLink, Inputs)> = dirty.par_iter().map(|file| link_tracked(view, &shared, *file)).collect();
        let (mut whole, mut rewired) = (false, Vec::new());
        // The files that say something else now, and those whose methods stand in for others than before.
        let (mut relinked, mut standing): (Vec<FileIdx>, Vec<FileIdx>) = Default::default();
        for (file, new) in dirty.iter().zip(linked) {
            let old = &mut links[file.0 as usize];
            if old.0.uses != new.0.uses {
                rewired.push(*file);
            }
            if old.0.stand_ins != new.0.stand_ins {
                standing.extend(old.0.stand_ins.iter().chain(&new.0.stand_ins).map(|(at, _)| at.file));
            }
            whole |= !old.0.is_alike(&new.0);
            if old.0 != new.0 || is_new(file) {
                relinked.push(*file);
            }
            dependents.add_beyond(Node::Link(*file), &new.1, &old.1);
            *old = new;
        }
        for query in shared.answers().take_log() {
            if let Some(inputs) = shared.answers().inputs(&query).filter(|_| !has_moved) {
                dependents.add(Node::Answer(query), &inputs);
            }
        }
        let link_of = |file: FileIdx| &links[file.0 as usize].0;
        let (graph, before) = if has_moved {
            guessed = guess_all(&shared, &uses(&links), link_of);
            (assemble(view, links.iter().map(|(link, _)| link), &guessed), None)
        } else {
            let file_graph = LazyCell::new(|| FileGraph::new(view.files.len(), &uses(&links)));
            let file_graph = || &*file_graph;
            let guesses = guessed_otherwise(&shared, &relinked, &guessable, &rewired, file_graph, link_of);
            let mut other = guess_some(&shared, file_graph, &guesses, link_of, &mut guessed);
            other.append(&mut relinked);
            other.append(&mut standing);
            other.sort_unstable();
            other.dedup();
            // What the graph before that one does not say yet is said with the rest.
            let before =
                before.and_then(|Before { graph, files, whole }| Some((Arc::into_inner(graph)?, files, whole)));
            let (mut next, mut files, is_behind) = before.unwrap_or_else(|| (Graph::clone(&graph), Vec::new(), false));
            files.extend(&other);
            files.sort_unstable();
            files.dedup();
            let stand_ins = stand_ins(view, links.iter().map(|(link, _)| link));
            let splice = |file: &FileIdx| {
                let (link, guessed) = (link_of(*file), &guessed[file.0 as usize]);
                let (edges, unproved) = (edges_of(*file, link, guessed, &stand_ins), &guessed.unproved[..]);
                let FileLink { computed, uses, n_external, .. } = link;
                Splice { file: *file, edges, unproved, computed, uses, n_external: *n_external }
            };
            next.splice(&files.iter().map(splice).collect::<Vec<_>>());
            if whole || is_behind {
                whole_of(&mut next, links.iter().map(|(link, _)| link));
            }
            (next, Some(Before { graph, files: other, whole }))
        };
        let graph = Arc::new(graph);
        let (names, modules, answers) = shared.into_parts();
        // After a move what hangs on what has other numbers; it is found anew for the next change.
        let dependents = (!has_moved).then_some(dependents);
        Some((State { names, modules, answers, links, guessed, dependents }, graph, before, dirty.len()))
    }
}

/// The files about whose unproved references something else may be guessed, in order: those that
/// leave others now, those that mention a name that may be, and those that reach others now.
fn guessed_otherwise<'l>(
    shared: &Shared<'_>,
    relinked: &[FileIdx],
    guessable: &HashSet<Text>,
    rewired: &[FileIdx],
    file_graph: impl Fn() -> &'l FileGraph,
    link_of: impl Fn(FileIdx) -> &'l FileLink,
) -> Vec<FileIdx> {
    let mut files = relinked.to_vec();
    if guessable.is_empty() && rewired.is_empty() {
        return files;
    }
    let above = (!rewired.is_empty()).then(|| file_graph().closure_of_users(rewired.iter().copied()));
    files.extend(shared.names.view.indices().filter(|file| {
        let is_above = above.as_ref().is_some_and(|above| above.has(*file));
        let is_guessable = |row: &Unproved| {
            guessable.contains(&shared.names.text(*file, row.name))
                || (is_above && candidates::hangs_on_reach(shared, *file, row))
        };
        link_of(*file).unproved.iter().any(is_guessable)
    }));
    files.sort_unstable();
    files.dedup();
    files
}

/// A suspect under the numbers of the next view; one that names what is gone has become another.
fn renumbered(query: Query, suspect: Suspect, renumber: &Renumber) -> Option<(Query, Suspect)> {
    let query = renumber.query(query)?;
    let inputs = renumber.inputs(suspect.inputs);
    Some(match renumber.known(&suspect.known) {
        Some(known) => (query, Suspect { known, inputs, is_other: None }),
        None => (query, Suspect { known: suspect.known, inputs, is_other: Some(true) }),
    })
}

/// All uses of all files.
fn uses(links: &[(FileLink, Inputs)]) -> Vec<FileUse> {
    links.iter().flat_map(|(link, _)| link.uses.iter().copied()).collect()
}

/// The package of a Java file with the rows and names of its top-level types; nothing for others.
fn top_level_types(view: &View, file: FileIdx) -> Option<(&str, Vec<(usize, &str)>)> {
    if Family::of(view.dialect(file)) != Family::Java {
        return None;
    }
    let facts: &FileFacts = view.facts(file);
    let rows = facts.symbols.iter().enumerate();
    let types = rows.filter(|(_, s)| s.kind.is_class() || s.kind == SymbolKind::TypeAlias);
    let top = types.filter(|(_, s)| s.parent.is_none_or(|parent| parent == crate::facts::table::Id::new(0)));
    Some((java_package(view, file), top.map(|(row, s)| (row, facts.name(s.name))).collect()))
}
