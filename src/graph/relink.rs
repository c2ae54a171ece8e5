//! Linking a view anew after a change: what hangs on no changed file, nor on an answer that has
//! become another, keeps its link (FACTS.md §4). Equal to linking every file; replay tests compare.

use std::sync::Arc;

use rayon::prelude::*;

use crate::facts::model::{FileFacts, SymbolKind};
use crate::graph::answers::{Answers, Inputs};
use crate::graph::assemble::{Guessed, assemble, edges_of, guess_all, guess_some};
use crate::graph::dependents::{Dependents, Node};
use crate::graph::edge::{FileUse, Graph, Splice};
use crate::graph::link::{FileLink, link, link_tracked};
use crate::graph::modules::{Family, Modules, java_package};
use crate::graph::names::{NameTables, Names};
use crate::graph::outline::{Alignment, outline};
use crate::graph::queries::Shared;
use crate::graph::verify::{Changed, Verifier};
use crate::view::{FileIdx, View};

/// When more than one file in so many changed, linking all is as fast.
const MAX_CHANGED_SHARE: usize = 8;

/// A linked view with all that linking the next one builds on.
pub struct Linked {
    pub graph: Arc<Graph>,
    /// Files that were linked anew for this view.
    pub n_linked: usize,
    view: Arc<View>,
    /// `None` where nothing was recorded: compilers' words are not told by files' facts.
    state: Option<State>,
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
            return Linked { graph, n_linked: view.files.len(), view, state: None };
        }
        let mut names = NameTables::new(&view);
        names.record();
        let shared = Shared::with(Names::with(&view, names), Modules::new(&view), Answers::new(true));
        let files: Vec<FileIdx> = view.indices().collect();
        let links: Vec<(FileLink, Inputs)> = files.par_iter().map(|file| link_tracked(&view, &shared, *file)).collect();
        let guessed = guess_all(&shared, &uses(&links), |file| &links[file.0 as usize].0);
        let graph = Arc::new(assemble(links.iter().map(|(link, _)| link), &guessed));
        let (names, modules, answers) = shared.into_parts();
        let state = Some(State { names, modules, answers, links, guessed, dependents: None });
        Linked { graph, n_linked: files.len(), view, state }
    }

    /// The view that is linked.
    pub fn view(&self) -> &Arc<View> {
        &self.view
    }

    /// Links another view, taking over what hangs on nothing that has changed. A view with other
    /// files, other configuration or other Java types is linked as from nothing.
    pub fn next(self, view: Arc<View>) -> Self {
        let changed = changed_files(&self.view, &view);
        match (changed, self.state) {
            (Some(changed), Some(state))
                if changed.len() * MAX_CHANGED_SHARE <= view.files.len().max(MAX_CHANGED_SHARE) =>
            {
                match state.update(&self.view, &view, &changed, &self.graph) {
                    Some((state, graph, n_linked)) => Linked { graph, n_linked, view, state: Some(state) },
                    None => Linked::new(view),
                }
            }
            _ => Linked::new(view),
        }
    }
}

impl State {
    /// Changes everything into what holds for the new view; `None` when too much has changed.
    fn update(
        mut self,
        was: &View,
        view: &Arc<View>,
        files: &[FileIdx],
        graph: &Arc<Graph>,
    ) -> Option<(State, Arc<Graph>, usize)> {
        if files.is_empty() {
            return Some((self, Arc::clone(graph), 0));
        }
        let n_files = view.files.len();
        let dependents = self.dependents.take().filter(|dependents| !dependents.is_worn());
        let mut dependents = dependents.unwrap_or_else(|| {
            let links = was.indices().zip(&self.links).map(|(file, (_, inputs))| (file, inputs));
            Dependents::new(n_files, &self.answers, links)
        });
        let mut members_changed = false;
        let mut changed = Changed::default();
        for file in files {
            let (old, new) = (was.facts(*file), view.facts(*file));
            if top_level_types(was, *file) != top_level_types(view, *file) {
                return None;
            }
            let replaced = self.names.replace(*file, old, new);
            if replaced.globals {
                return None;
            }
            members_changed |= replaced.members;
            self.modules.replace(view, *file);
            let same = outline(old).is_some_and(|digest| Some(digest) == outline(new));
            changed.files.insert(*file, same.then(|| Alignment::new(old, new)));
        }
        let outlines: Vec<(FileIdx, bool)> =
            files.iter().map(|file| (*file, changed.files.get(file).is_some_and(Option::is_none))).collect();
        let (suspects, suspect_links) = dependents.of(&outlines);
        let State { names, modules, answers, mut links, mut guessed, .. } = self;
        answers.log();
        let shared = Shared::with(Names::with(view, names), modules, answers);
        let mut verifier = Verifier::new(&shared, &changed, suspects);
        let dirty: Vec<FileIdx> = suspect_links
            .into_iter()
            .filter(|file| changed.files.contains_key(file) || verifier.is_dirty(&links[file.0 as usize].1))
            .collect();
        let linked: Vec<(FileLink, Inputs)> = dirty.par_iter().map(|file| link_tracked(view, &shared, *file)).collect();
        let (mut uses_changed, mut same_whole) = (false, true);
        for (file, new) in dirty.iter().zip(linked) {
            let old = &mut links[file.0 as usize];
            uses_changed |= old.0.uses != new.0.uses;
            same_whole &= old.0.is_alike(&new.0);
            dependents.add(Node::Link(*file), &new.1);
            *old = new;
        }
        for query in shared.answers().take_log() {
            if let Some(inputs) = shared.answers().inputs(&query) {
                dependents.add(Node::Answer(query), &inputs);
            }
        }
        let link_of = |file: FileIdx| &links[file.0 as usize].0;
        if uses_changed || members_changed {
            guessed = guess_all(&shared, &uses(&links), link_of);
        } else {
            guess_some(&shared, &graph.file_uses, &dirty, link_of, &mut guessed);
        }
        let graph = Arc::new(if same_whole && !uses_changed && !members_changed {
            let splice = |file: &FileIdx| {
                let (link, guessed) = (link_of(*file), &guessed[file.0 as usize]);
                let (edges, unproved) = (edges_of(link, guessed), &guessed.unproved[..]);
                Splice { file: *file, edges, unproved, n_external: link.n_external }
            };
            graph.spliced(&dirty.iter().map(splice).collect::<Vec<_>>())
        } else {
            assemble(links.iter().map(|(link, _)| link), &guessed)
        });
        let (names, modules, answers) = shared.into_parts();
        let state = State { names, modules, answers, links, guessed, dependents: Some(dependents) };
        Some((state, graph, dirty.len()))
    }
}

/// All uses of all files.
fn uses(links: &[(FileLink, Inputs)]) -> Vec<FileUse> {
    links.iter().flat_map(|(link, _)| link.uses.iter().copied()).collect()
}

/// The files with other facts, in order; `None` when the views differ in anything else.
fn changed_files(from: &View, to: &View) -> Option<Vec<FileIdx>> {
    let same_files = from.files.len() == to.files.len()
        && from.files.iter().zip(&to.files).all(|(a, b)| a.path == b.path && a.dialect == b.dialect);
    if !same_files || from.config != to.config || !to.compilers.is_empty() {
        return None;
    }
    let differs = |file: &FileIdx| {
        let (a, b) = (&from.files[file.0 as usize].facts, &to.files[file.0 as usize].facts);
        !Arc::ptr_eq(a, b) && a != b
    };
    Some(to.indices().filter(differs).collect())
}

/// The package of a Java file with the rows and names of its top-level types; nothing for others.
fn top_level_types(view: &View, file: FileIdx) -> Option<(&str, Vec<(usize, &str)>)> {
    if Family::of(view.file(file).dialect) != Family::Java {
        return None;
    }
    let facts: &FileFacts = view.facts(file);
    let rows = facts.symbols.iter().enumerate();
    let types = rows.filter(|(_, s)| s.kind.is_class() || s.kind == SymbolKind::TypeAlias);
    let top = types.filter(|(_, s)| s.parent.is_none_or(|parent| parent == crate::facts::table::Id::new(0)));
    Some((java_package(view, file), top.map(|(row, s)| (row, facts.name(s.name))).collect()))
}
