//! Walks the edges around symbols, for `callers_of` and `callees_of`.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::dialect::LanguageName;
use crate::base::halt;
use crate::facts::model::{NameId, SymbolId, SymbolKind, TestBlockId};
use crate::facts::table::Id;
use crate::graph::edge::{Edge, EdgeKind, Graph, Layer, Receiver, Unproved};
use crate::view::{FileIdx, SymbolRef, View};

/// Which edges are walked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walk {
    pub depth: usize,
    /// Edges below it are passed over; candidates are walked only when it is below
    /// [`CANDIDATES_BELOW`].
    pub min_confidence: f64,
}

/// A floor that asks for candidates too (FACTS.md §4: 0.5 is a unique name).
pub const CANDIDATES_BELOW: f64 = 0.5;

/// One end found by the walk, with the sites that lead to it.
#[derive(Clone, Debug)]
pub struct Found {
    pub at: SymbolRef,
    /// The innermost test block of the sites, if they stand in one.
    pub test_block: Option<TestBlockId>,
    pub depth: usize,
    /// The symbol of the previous step.
    pub via: SymbolRef,
    /// Whether a step over an override lies between `via` and this.
    pub dispatched: bool,
    /// Sorted by line.
    pub sites: Vec<Edge>,
}

/// What a walk found.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// Sorted by (depth, path, row, test block).
    pub found: Vec<Found>,
    /// Edges of layer candidate, or below the floor, that were passed over at the first step.
    pub weak: Vec<Edge>,
}

/// Whether an edge makes its source a user of its target's code.
fn is_use(kind: EdgeKind) -> bool {
    match kind {
        EdgeKind::Calls | EdgeKind::Extends | EdgeKind::References | EdgeKind::Tests => true,
        EdgeKind::Imports | EdgeKind::Overrides => false,
    }
}

fn is_walked(edge: &Edge, walk: &Walk) -> bool {
    edge.confidence.as_f64() >= walk.min_confidence
        && (edge.layer != Layer::Candidate || walk.min_confidence < CANDIDATES_BELOW)
}

/// Walks from `targets` to what uses them, breadth first.
///
/// Uses from within `inside` (a file's own symbols) do not count. A call of a method that a target
/// overrides may land in the target: it is followed, marked `dispatched`.
pub fn callers(
    view: &View,
    graph: &Graph,
    targets: &[SymbolRef],
    walk: Walk,
    inside: impl Fn(SymbolRef) -> bool,
) -> Walked {
    let mut walked = Walked::default();
    let mut seen: BTreeSet<SymbolRef> = targets.iter().copied().collect();
    let mut frontier: Vec<SymbolRef> = targets.to_vec();
    for depth in 1..=walk.depth {
        let mut level: BTreeMap<(SymbolRef, Option<TestBlockId>), Found> = BTreeMap::new();
        for target in &frontier {
            halt::check();
            for (named, dispatched) in called_as(view, graph, *target) {
                for edge in graph.edges_to(named).filter(|edge| is_use(edge.kind)) {
                    // A constructor call is a call of its class; other uses of the class are not.
                    let is_made = view.symbol(named).kind.is_class() && is_constructor(view, *target);
                    if is_made && edge.kind != EdgeKind::Calls {
                        continue;
                    }
                    if inside(edge.from) || (edge.from == *target && depth > 1) {
                        continue;
                    }
                    if !is_walked(edge, &walk) {
                        walked.weak.extend((depth == 1).then_some(*edge));
                        continue;
                    }
                    level
                        .entry((edge.from, edge.test_block))
                        .or_insert_with(|| Found {
                            at: edge.from,
                            test_block: edge.test_block,
                            depth,
                            via: *target,
                            dispatched,
                            sites: Vec::new(),
                        })
                        .sites
                        .push(*edge);
                }
            }
        }
        close(&mut walked, &mut frontier, &mut seen, level);
    }
    walked
}

/// Walks from `sources` to what their code uses, breadth first.
///
/// A source's code holds that of its nested definitions. Where a used method is overridden, the
/// overriding ones follow, marked `dispatched`.
pub fn callees(view: &View, graph: &Graph, sources: &[SymbolRef], walk: Walk) -> Walked {
    let mut walked = Walked::default();
    let own: BTreeSet<SymbolRef> = sources.iter().flat_map(|at| with_nested(view, *at)).collect();
    let mut seen = own.clone();
    let mut frontier: Vec<SymbolRef> = own.iter().copied().collect();
    for depth in 1..=walk.depth {
        let mut level: BTreeMap<(SymbolRef, Option<TestBlockId>), Found> = BTreeMap::new();
        for source in &frontier {
            halt::check();
            for edge in graph.edges_from(*source).iter().filter(|edge| is_use(edge.kind)) {
                if own.contains(&edge.to) && !sources.contains(&edge.to) {
                    continue;
                }
                if !is_walked(edge, &walk) {
                    walked.weak.extend((depth == 1).then_some(*edge));
                    continue;
                }
                let mut ends = vec![(edge.to, false)];
                if edge.kind == EdgeKind::Calls {
                    ends.extend(overriding(graph, edge.to).into_iter().map(|at| (at, true)));
                }
                for (at, dispatched) in ends {
                    level
                        .entry((at, None))
                        .or_insert_with(|| Found {
                            at,
                            test_block: None,
                            depth,
                            via: *source,
                            dispatched,
                            sites: Vec::new(),
                        })
                        .sites
                        .push(*edge);
                }
            }
        }
        close(&mut walked, &mut frontier, &mut seen, level);
    }
    walked
}

/// Ends a level: what was not seen before is found, and is the next frontier.
fn close(
    walked: &mut Walked,
    frontier: &mut Vec<SymbolRef>,
    seen: &mut BTreeSet<SymbolRef>,
    level: BTreeMap<(SymbolRef, Option<TestBlockId>), Found>,
) {
    let fresh: BTreeSet<SymbolRef> =
        level.keys().map(|(at, _)| *at).filter(|at| !seen.contains(at) || walked.found.is_empty()).collect();
    for ((at, _), mut found) in level {
        if fresh.contains(&at) {
            found.sites.sort_by_key(|edge| (edge.line, edge.kind, edge.to));
            found.sites.dedup();
            walked.found.push(found);
        }
    }
    walked.weak.sort();
    walked.weak.dedup();
    // A file's own code is called by nobody: its importers run it, which impact follows.
    *frontier = fresh.iter().copied().filter(|at| at.symbol.index() > 0 && seen.insert(*at)).collect();
}

/// Under which symbols calls of `target` are written: itself, its constructors, and what it
/// overrides (true: the call may land elsewhere).
pub fn called_as(view: &View, graph: &Graph, target: SymbolRef) -> Vec<(SymbolRef, bool)> {
    // What stands for it in the declaration file beside its module, or in the module, is it too.
    let itself: Vec<SymbolRef> = std::iter::once(target).chain(graph.twins(target)).collect();
    let mut named: Vec<(SymbolRef, bool)> = itself.iter().map(|at| (*at, false)).collect();
    for at in itself {
        named.extend(constructors(view, at).into_iter().map(|at| (at, false)));
        if let Some(class) = class_of_constructor(view, at) {
            named.extend(makers(view, graph, class).into_iter().map(|class| (class, false)));
        }
    }
    if named.iter().any(|(at, _)| is_constructor(view, *at)) {
        // A constructor is called by its class's name, or by `super`: neither lands in an override.
        return named;
    }
    let mut at = 0;
    while at < named.len() && named.len() < 1_000 {
        for edge in graph.edges_from(named[at].0).iter().filter(|edge| edge.kind == EdgeKind::Overrides) {
            if !named.iter().any(|(known, _)| *known == edge.to) {
                named.push((edge.to, true));
            }
        }
        at += 1;
    }
    named
}

/// The methods that override `target`, at any remove.
pub fn overriding(graph: &Graph, target: SymbolRef) -> Vec<SymbolRef> {
    let mut found = vec![target];
    let mut at = 0;
    while at < found.len() && found.len() < 1_000 {
        for edge in graph.edges_to(found[at]).filter(|edge| edge.kind == EdgeKind::Overrides) {
            if !found.contains(&edge.from) {
                found.push(edge.from);
            }
        }
        at += 1;
    }
    found.split_off(1)
}

fn is_constructor(view: &View, at: SymbolRef) -> bool {
    let symbol = view.symbol(at);
    symbol.kind == SymbolKind::Constructor
        || matches!(view.facts(at.file).name(symbol.name), "__init__" | "__new__" | "constructor" | "<init>")
}

/// The constructors of a class.
pub fn constructors(view: &View, class: SymbolRef) -> Vec<SymbolRef> {
    let facts = view.facts(class.file);
    (class.symbol.index() + 1..facts.symbols.len())
        .map(|row| SymbolRef { file: class.file, symbol: Id::new(row) })
        .filter(|at| {
            view.symbol(*at).parent == Some(class.symbol) && class.symbol.index() > 0 && is_constructor(view, *at)
        })
        .collect()
}

/// The class that a constructor makes instances of; `None` for anything else.
pub fn class_of_constructor(view: &View, at: SymbolRef) -> Option<SymbolRef> {
    if !is_constructor(view, at) {
        return None;
    }
    let parent = view.symbol(at).parent.filter(|parent| parent.index() > 0)?;
    Some(SymbolRef { file: at.file, symbol: parent })
}

/// A class with those below it that inherit its constructor; Java's classes inherit none.
fn makers(view: &View, graph: &Graph, class: SymbolRef) -> Vec<SymbolRef> {
    let mut makers = vec![class];
    if view.file(class.file).dialect.language() == LanguageName::Java {
        return makers;
    }
    let mut at = 0;
    while at < makers.len() && makers.len() < 1_000 {
        for edge in graph.edges_to(makers[at]).filter(|edge| edge.kind == EdgeKind::Extends) {
            if !makers.contains(&edge.from) && constructors(view, edge.from).is_empty() {
                makers.push(edge.from);
            }
        }
        at += 1;
    }
    makers
}

/// A symbol with all that is defined in it. O(symbols of the file).
pub fn with_nested(view: &View, at: SymbolRef) -> Vec<SymbolRef> {
    let facts = view.facts(at.file);
    let mut inside = vec![false; facts.symbols.len()];
    inside[at.symbol.index()] = true;
    for row in at.symbol.index() + 1..facts.symbols.len() {
        inside[row] = facts.symbols[row].parent.is_some_and(|parent| inside[parent.index()]);
    }
    (0..inside.len())
        .filter(|row| inside[*row])
        .map(|row| SymbolRef { file: at.file, symbol: SymbolId::new(row) })
        .collect()
}

/// Unproved references by what they may mean.
#[derive(Clone, Debug, Default)]
pub struct SameName {
    /// May mean a target: sorted by (path, line).
    pub open: Vec<Unproved>,
    /// Proved to be of something outside the repository.
    pub n_external: usize,
}

/// What unproved references are asked for.
pub struct Named {
    /// Simple names.
    pub names: BTreeSet<String>,
    /// The languages that the names are of.
    pub languages: Vec<LanguageName>,
    /// Whether all are members, which a bare name never means: they are reached through a receiver.
    pub members_only: bool,
}

/// The unproved references with the simple name of any of `targets`.
pub fn unproved_named(view: &View, graph: &Graph, targets: &[SymbolRef]) -> SameName {
    let names: BTreeSet<String> = targets
        .iter()
        .filter(|at| at.symbol.index() > 0)
        .map(|at| class_of_constructor(view, *at).unwrap_or(*at))
        .map(|at| view.facts(at.file).name(view.symbol(at).name).to_owned())
        .collect();
    let languages: Vec<LanguageName> = targets.iter().map(|at| view.file(at.file).dialect.language()).collect();
    let members_only = targets.iter().all(|at| {
        matches!(
            view.symbol(*at).kind,
            SymbolKind::Method
                | SymbolKind::Field
                | SymbolKind::Property
                | SymbolKind::EnumMember
                | SymbolKind::Signature
        )
    });
    unproved_of(view, graph, &Named { names, languages, members_only })
}

/// The unproved references with any of the names. O(unproved references).
pub fn unproved_of(view: &View, graph: &Graph, named: &Named) -> SameName {
    let Named { names, languages, members_only } = named;
    let mut same = SameName::default();
    let mut file = None;
    let mut renamed: Vec<NameId> = Vec::new();
    let of_files = files_using(view, graph, names).into_iter().flat_map(|file| {
        let start = graph.unproved.partition_point(|row| row.from.file < file);
        graph.unproved[start..].iter().take_while(move |row| row.from.file == file)
    });
    for unproved in of_files {
        if file != Some(unproved.from.file) {
            file = Some(unproved.from.file);
            let facts = view.facts(unproved.from.file);
            // Imported under another name from where nothing is known: it may still be this one.
            let imports = facts.imports.iter().filter(|import| import.local != import.name);
            let imports = imports.filter(|import| import.name.is_some_and(|name| names.contains(facts.name(name))));
            renamed = imports.filter_map(|import| import.local).collect();
        }
        let is_named = names.contains(view.facts(unproved.from.file).name(unproved.name));
        if !is_named && !renamed.contains(&unproved.name) {
            continue;
        }
        let language = view.file(unproved.from.file).dialect.language();
        if !languages.iter().any(|own| own.shares_names_with(language)) {
            continue;
        }
        match unproved.receiver {
            Receiver::External => same.n_external += 1,
            Receiver::None if *members_only => {}
            Receiver::None | Receiver::Unknown | Receiver::PartlyExternal => same.open.push(*unproved),
        }
    }
    same
}

/// The files whose unproved references may have some names, and maybe others; ascending.
fn files_using(view: &View, graph: &Graph, names: &BTreeSet<String>) -> Vec<FileIdx> {
    let names = || names.iter().map(String::as_str);
    // The texts are those of the graph that the view was kept with.
    let Some(texts) = view.texts().filter(|texts| texts.rows.len() == graph.unproved.len()) else {
        return view.using(names(), graph.unproved.iter().map(|row| (row.from.file, row.name)));
    };
    let positions = texts.positions(names());
    let mut files = texts.renaming(&positions);
    let is_named = |row: &u32| positions.binary_search(row).is_ok();
    files.extend(texts.rows.iter().zip(&graph.unproved).filter(|(row, _)| is_named(row)).map(|(_, u)| u.from.file));
    files.sort_unstable();
    files.dedup();
    files
}
