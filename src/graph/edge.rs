//! Edges, what could not be proved, and the graph that holds both ways of them.

use crate::facts::model::{NameId, RefKind, TestBlockId};
use crate::facts::table::Id;
use crate::view::{FileIdx, SymbolRef};

/// The kinds of edges in every output (PRODUCT.md §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EdgeKind {
    /// Constructors and applied decorators too.
    Calls,
    /// Implements too.
    Extends,
    /// To a file's `<module>` or to the imported symbol.
    Imports,
    /// Reads, type uses, JSX, callbacks, strings.
    References,
    /// From the overriding or implementing method to the one it overrides.
    Overrides,
    /// From a test to what it exercises by convention.
    Tests,
}

impl EdgeKind {
    pub const ALL: [EdgeKind; 6] = [
        EdgeKind::Calls,
        EdgeKind::Extends,
        EdgeKind::Imports,
        EdgeKind::References,
        EdgeKind::Overrides,
        EdgeKind::Tests,
    ];

    /// The kind of edge that a reference gives.
    pub fn of_reference(kind: RefKind) -> Self {
        match kind {
            RefKind::Call | RefKind::New | RefKind::Super | RefKind::Decorator => EdgeKind::Calls,
            RefKind::Extends | RefKind::Implements => EdgeKind::Extends,
            RefKind::Type | RefKind::Read | RefKind::Write | RefKind::Jsx | RefKind::Callback | RefKind::StringPath => {
                EdgeKind::References
            }
        }
    }

    /// The name in outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            EdgeKind::Calls => "calls",
            EdgeKind::Extends => "extends",
            EdgeKind::Imports => "imports",
            EdgeKind::References => "references",
            EdgeKind::Overrides => "overrides",
            EdgeKind::Tests => "tests",
        }
    }
}

/// How sure an edge is (FACTS.md §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Layer {
    /// By import, scope, type or compiler.
    Proved,
    /// A unique name that no evidence contradicts.
    Likely,
    /// One of at most 8 candidates.
    Candidate,
}

impl Layer {
    /// All layers, the surest first.
    pub const ALL: [Layer; 3] = [Layer::Proved, Layer::Likely, Layer::Candidate];

    /// The name in outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            Layer::Proved => "proved",
            Layer::Likely => "likely",
            Layer::Candidate => "candidate",
        }
    }
}

/// By which rule an edge was found; the list is closed, and `as_str` is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Strategy {
    /// A compiler's index says so.
    Compiler,
    /// Through an import, re-exports followed.
    Import,
    /// A name of an enclosing scope of the same file.
    Scope,
    /// A member of `self`, `cls`, `this`, `super` along the MRO.
    SelfMember,
    /// A member of a class named directly (static, enum member, namespace).
    StaticMember,
    /// A member on a receiver whose type is declared.
    DeclaredType,
    /// A member on a receiver whose type is inferred.
    InferredType,
    /// Same package without import (Java).
    SamePackage,
    /// An overload chosen by arity and argument types.
    Overload,
    /// By decorator, fixture or framework convention.
    Framework,
    /// A string that names it.
    StringPath,
    /// A method with the same signature in a base.
    Override,
    /// The same name in a type that an instance of its own is handed as, though it does not name it.
    StandIn,
    /// The same name in the declaration file beside a module, or in the module beside it.
    Twin,
    /// A unique name.
    UniqueName,
    /// One of several of that name.
    Candidates,
}

impl Strategy {
    /// The name in outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            Strategy::Compiler => "compiler",
            Strategy::Import => "import",
            Strategy::Scope => "scope",
            Strategy::SelfMember => "self_member",
            Strategy::StaticMember => "static_member",
            Strategy::DeclaredType => "declared_type",
            Strategy::InferredType => "inferred_type",
            Strategy::SamePackage => "same_package",
            Strategy::Overload => "overload",
            Strategy::Framework => "framework",
            Strategy::StringPath => "string_path",
            Strategy::Override => "override",
            Strategy::StandIn => "stand_in",
            Strategy::Twin => "twin",
            Strategy::UniqueName => "unique_name",
            Strategy::Candidates => "candidates",
        }
    }
}

/// A confidence in 1/10,000 (FACTS.md §4); printed with at most 4 decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(pub u16);

impl Confidence {
    /// As a number in (0, 1], exact to 4 decimals.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }
}

/// A link between two symbols, with its evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub from: SymbolRef,
    /// The line of the referenced name in `from`'s file.
    pub line: u32,
    pub to: SymbolRef,
    pub kind: EdgeKind,
    pub layer: Layer,
    pub strategy: Strategy,
    pub confidence: Confidence,
    /// The test block that the reference stands in, for impact.
    pub test_block: Option<TestBlockId>,
}

/// What is known of the receiver of a reference that could not be proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Receiver {
    /// No receiver: a bare name that resolves to nothing.
    None,
    /// Nothing is known.
    Unknown,
    /// It comes from outside the repository.
    External,
    /// Its class is in the repository and has no such member, though an ancestor outside or
    /// something at run time may give it one.
    PartlyExternal,
}

/// A reference without a proved target, kept as data (FACTS.md §4, may reach).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unproved {
    pub from: SymbolRef,
    pub line: u32,
    /// The member's or name's text, interned in `from`'s file.
    pub name: NameId,
    pub kind: RefKind,
    pub receiver: Receiver,
    /// Number of arguments of a call; `None` when not a call or when spread.
    pub arity: Option<u32>,
    pub test_block: Option<TestBlockId>,
}

/// An access to a member whose name is computed, or stands in a string alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Computed {
    /// The class of the receiver, the module, or what members were assigned to; `None` when unknown.
    pub of: Option<SymbolRef>,
    /// The name where a string says it, interned in `from`'s file.
    pub name: Option<NameId>,
    pub from: SymbolRef,
    pub line: u32,
    pub test_block: Option<TestBlockId>,
}

/// One file using another, for import closures: every import fact that resolved, same-package
/// use, conftest and set-up files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileUse {
    pub from: FileIdx,
    pub to: FileIdx,
    /// Only for types: no run-time edge.
    pub type_only: bool,
}

/// The linked graph of a view. Everything sorted and unique; equal views give equal graphs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Sorted by (from, line, to, kind, …).
    pub edges: Vec<Edge>,
    /// Sorted by (from, line, name, …).
    pub unproved: Vec<Unproved>,
    /// Sorted by (of, name, from, line).
    pub computed: Vec<Computed>,
    /// Sorted by (from, to).
    pub file_uses: Vec<FileUse>,
    /// Files whose imports or calls are blind: computed imports, eval (`safe` falls back to file reach).
    pub blind: Vec<FileIdx>,
    /// Classes with an ancestor outside of the repository, which may call their methods; sorted.
    pub open_classes: Vec<SymbolRef>,
    /// Classes with an instance that is an argument of a call to outside code, which may call
    /// their methods; sorted. Not for Java, where outside code calls by interfaces.
    pub handed_out: Vec<SymbolRef>,
    /// The files for which a compiler's index was believed, with its position in the view; sorted.
    pub compiled: Vec<(FileIdx, u32)>,
    /// References of each file that were judged external to the repository.
    pub n_external: Vec<u32>,
    /// Indices into `edges` sorted by (to, from, line): the reverse adjacency.
    pub by_target: Vec<u32>,
}

/// What a graph is to say of one file from now on.
#[derive(Clone, Debug)]
pub struct Splice<'l> {
    pub file: FileIdx,
    /// Sorted and unique.
    pub edges: Vec<Edge>,
    /// Sorted and unique.
    pub unproved: &'l [Unproved],
    pub computed: &'l [Computed],
    /// Sorted and unique.
    pub uses: &'l [FileUse],
    pub n_external: u32,
}

impl Graph {
    /// Sorts everything and builds the reverse order; edges that differ only in layer keep the surest.
    pub fn finish(mut self) -> Self {
        self.edges.sort_unstable();
        self.edges.dedup();
        self.unproved.sort_unstable();
        self.unproved.dedup();
        self.computed.sort_unstable();
        self.computed.dedup();
        self.file_uses.sort_unstable();
        // `false` (run time) sorts before `true`: a run-time use wins over a type-only one.
        self.file_uses.dedup_by_key(|u| (u.from, u.to));
        self.blind.sort_unstable();
        self.blind.dedup();
        self.open_classes.sort_unstable();
        self.open_classes.dedup();
        self.handed_out.sort_unstable();
        self.handed_out.dedup();
        self.by_target = by_target(&self.edges);
        self
    }

    /// Takes in other edges, unproved references and uses of some files, in order of file. What else
    /// is said of files is left as it is. Moves what lies behind them, and searches each edge.
    pub fn splice(&mut self, changes: &[Splice<'_>]) {
        let is_changed = |file: FileIdx| changes.binary_search_by_key(&file, |new| new.file).is_ok();
        let mut computed: Vec<Computed> = changes.iter().flat_map(|new| new.computed).copied().collect();
        computed.sort_unstable();
        if !self.computed.iter().filter(|row| is_changed(row.from.file)).eq(&computed) {
            self.computed.retain(|row| !is_changed(row.from.file));
            self.computed.extend(computed);
            self.computed.sort();
        }
        for new in changes {
            if let Some(known) = self.n_external.get_mut(new.file.0 as usize) {
                *known = new.n_external;
            }
        }
        let moves = edits(&self.edges, changes, |edge| edge.from.file, |new| &new.edges[..]);
        let same = moves.iter().zip(changes).all(|(at, new)| {
            let old = &self.edges[at.start..at.end];
            old.len() == new.edges.len() && old.iter().zip(&new.edges).all(|(old, new)| old.to == new.to)
        });
        if !same {
            self.drop_targets(&moves);
        }
        replace(&mut self.edges, &moves, changes, |new| &new.edges[..]);
        if !same {
            self.add_targets(&moves);
        }
        let moves = edits(&self.unproved, changes, |row| row.from.file, |new| new.unproved);
        replace(&mut self.unproved, &moves, changes, |new| new.unproved);
        let moves = edits(&self.file_uses, changes, |used| used.from, |new| new.uses);
        replace(&mut self.file_uses, &moves, changes, |new| new.uses);
    }

    /// Takes the edges that go out of `by_target`, and gives the others the places that they will have.
    fn drop_targets(&mut self, moves: &[Edit]) {
        let (Some(first), Some(last)) = (moves.first(), moves.last()) else { return };
        self.by_target.retain_mut(|at| {
            let old = *at as usize;
            if old < first.start {
                return true;
            }
            // Mostly one file is changed: what lies behind all of them needs no search.
            let before = match old >= last.start {
                true => last,
                false => &moves[moves.partition_point(|edit| edit.start <= old) - 1],
            };
            *at = (old + before.to + before.len).wrapping_sub(before.end) as u32;
            old >= before.end
        });
    }

    /// Takes the edges that came into `by_target`, by their places.
    fn add_targets(&mut self, moves: &[Edit]) {
        let key = |at: u32| (self.edges[at as usize].to, at);
        let mut new: Vec<u32> = moves.iter().flat_map(|edit| edit.to as u32..(edit.to + edit.len) as u32).collect();
        new.sort_unstable_by_key(|at| key(*at));
        let mut end = self.by_target.len();
        self.by_target.resize(end + new.len(), 0);
        // From the last one on, so that each of the others moves once.
        for (n_before, at) in new.iter().enumerate().rev() {
            // Mostly it is near to the one after it.
            let (mut start, mut step) = (end, 1);
            while start > 0 && key(self.by_target[start - 1]) >= key(*at) {
                start = start.saturating_sub(step);
                step *= 2;
            }
            let place = start + self.by_target[start..end].partition_point(|other| key(*other) < key(*at));
            self.by_target.copy_within(place..end, place + n_before + 1);
            self.by_target[place + n_before] = *at;
            end = place;
        }
    }

    /// The edges that leave a symbol, in order of line.
    pub fn edges_from(&self, from: SymbolRef) -> &[Edge] {
        let start = self.edges.partition_point(|e| e.from < from);
        let end = self.edges.partition_point(|e| e.from <= from);
        &self.edges[start..end]
    }

    /// As `edges_from`, each with its index in `edges`.
    pub fn indexed_edges_from(&self, from: SymbolRef) -> impl Iterator<Item = (u32, &Edge)> {
        let start = self.edges.partition_point(|e| e.from < from);
        (start as u32..).zip(self.edges[start..].iter().take_while(move |e| e.from == from))
    }

    /// What a symbol is in the file that declares its own, or that its own declares.
    pub fn twins(&self, at: SymbolRef) -> impl Iterator<Item = SymbolRef> + '_ {
        let edges = self.edges_from(at).iter();
        edges.filter(|e| e.kind == EdgeKind::Overrides && e.strategy == Strategy::Twin).map(|e| e.to)
    }

    /// The edges that reach a symbol, in order of source and line.
    pub fn edges_to(&self, to: SymbolRef) -> impl Iterator<Item = &Edge> {
        self.indices_to(to).map(|at| &self.edges[at as usize])
    }

    /// As `edges_to`, but the indices in `edges`.
    pub fn indices_to(&self, to: SymbolRef) -> impl Iterator<Item = u32> + '_ {
        let start = self.by_target.partition_point(|at| self.edges[*at as usize].to < to);
        let end = self.by_target.partition_point(|at| self.edges[*at as usize].to <= to);
        self.by_target[start..end].iter().copied()
    }
}

/// Rows that go and rows that come in their place.
struct Edit {
    /// Where those that go start and end.
    start: usize,
    end: usize,
    /// Where those that come will start, and their number.
    to: usize,
    len: usize,
}

/// What becomes of rows that are sorted by file, in order.
fn edits<'c, T: 'c>(
    rows: &[T],
    changes: &'c [Splice<'_>],
    file: impl Fn(&T) -> FileIdx,
    new: impl Fn(&'c Splice<'_>) -> &'c [T],
) -> Vec<Edit> {
    let (mut end, mut to) = (0, 0);
    let edit = |change: &'c Splice<'_>| {
        let start = rows.partition_point(|row| file(row) < change.file);
        // What lies between keeps its distance.
        to += start - end;
        end = start + rows[start..].partition_point(|row| file(row) <= change.file);
        let len = new(change).len();
        to += len;
        Edit { start, end, to: to - len, len }
    };
    changes.iter().map(edit).collect()
}

/// Puts rows in the place of others; those between move.
fn replace<'c, T: Copy + 'c>(
    rows: &mut Vec<T>,
    edits: &[Edit],
    changes: &'c [Splice<'_>],
    new: impl Fn(&'c Splice<'_>) -> &'c [T],
) {
    let (Some(last), Some(filler)) = (edits.last(), rows.first().copied().or_else(|| first_of(changes, &new))) else {
        return;
    };
    let n_before = rows.len();
    let n_after = last.to + last.len + n_before - last.end;
    if n_after > n_before {
        rows.resize(n_after, filler);
    }
    // What is kept behind each edit, up to the next one.
    let behind = |at: usize| (edits[at].end, edits.get(at + 1).map_or(n_before, |next| next.start));
    let moved_to = |at: usize| edits[at].to + edits[at].len;
    // Those that move forward from the first on, the others from the last on: none is written over
    // before it has moved.
    for at in (0..edits.len()).filter(|at| moved_to(*at) < edits[*at].end) {
        let (start, end) = behind(at);
        rows.copy_within(start..end, moved_to(at));
    }
    for at in (0..edits.len()).rev().filter(|at| moved_to(*at) > edits[*at].end) {
        let (start, end) = behind(at);
        rows.copy_within(start..end, moved_to(at));
    }
    for (edit, change) in edits.iter().zip(changes) {
        rows[edit.to..edit.to + edit.len].copy_from_slice(new(change));
    }
    rows.truncate(n_after);
}

fn first_of<'c, T: Copy + 'c>(changes: &'c [Splice<'_>], new: impl Fn(&'c Splice<'_>) -> &'c [T]) -> Option<T> {
    changes.iter().find_map(|change| new(change).first().copied())
}

/// The indices of edges sorted by target, those to one symbol in order: counted per symbol, then
/// laid out. O(edges + symbols).
pub fn by_target(edges: &[Edge]) -> Vec<u32> {
    let n_files = edges.iter().map(|edge| edge.to.file.0 as usize + 1).max().unwrap_or(0);
    let mut starts = vec![0usize; n_files + 1];
    for edge in edges {
        let n_symbols = &mut starts[edge.to.file.0 as usize + 1];
        *n_symbols = (*n_symbols).max(edge.to.symbol.index() + 1);
    }
    for file in 0..n_files {
        starts[file + 1] += starts[file];
    }
    let slot = |edge: &Edge| starts[edge.to.file.0 as usize] + edge.to.symbol.index();
    let mut next = vec![0u32; starts[n_files] + 1];
    for edge in edges {
        next[slot(edge) + 1] += 1;
    }
    for at in 0..starts[n_files] {
        next[at + 1] += next[at];
    }
    let mut sorted = vec![0u32; edges.len()];
    for (at, edge) in edges.iter().enumerate() {
        let place = &mut next[slot(edge)];
        sorted[*place as usize] = at as u32;
        *place += 1;
    }
    sorted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Confidence, Edge, EdgeKind, FileUse, Graph, Layer, Receiver, Splice, Strategy, Unproved};
    use crate::facts::model::{NameId, RefKind, SymbolId};
    use crate::facts::table::Id;
    use crate::view::{FileIdx, SymbolRef};

    fn edge((from, to): ((u32, usize), (u32, usize))) -> Edge {
        let symbol = |(file, symbol): (u32, usize)| SymbolRef { file: FileIdx(file), symbol: SymbolId::new(symbol) };
        Edge {
            from: symbol(from),
            line: 1,
            to: symbol(to),
            kind: EdgeKind::Calls,
            layer: Layer::Proved,
            strategy: Strategy::Scope,
            confidence: Confidence(9_000),
            test_block: None,
        }
    }

    /// Unproved references of a file, on lines of their own.
    fn unproved(file: u32, n: usize) -> Vec<Unproved> {
        let row = |line: usize| Unproved {
            from: SymbolRef { file: FileIdx(file), symbol: SymbolId::new(0) },
            line: line as u32,
            name: NameId::new(0),
            kind: RefKind::Call,
            receiver: Receiver::Unknown,
            arity: None,
            test_block: None,
        };
        (0..n).map(row).collect()
    }

    fn used(file: u32) -> FileUse {
        FileUse { from: FileIdx(file), to: FileIdx(file / 2), type_only: false }
    }

    proptest! {
        #[test]
        fn splicing_files_in_is_the_same_as_finishing_anew(
            rows in prop::collection::vec(((0u32..6, 0usize..3), (0u32..6, 0usize..3)), 0..60),
            new in prop::collection::vec(((0u32..6, 0usize..3), (0u32..6, 0usize..3)), 0..20),
            files in prop::collection::btree_set(0u32..6, 0..4),
        ) {
            let first = |file: u32| unproved(file, rows.len() / 2 % 3);
            let mut old = Graph {
                edges: rows.iter().copied().map(edge).collect(),
                unproved: (0..6).flat_map(first).collect(),
                file_uses: (0..5).map(used).collect(),
                ..Graph::default()
            }
            .finish();
            let of = |file: u32| -> Vec<Edge> {
                let mut edges: Vec<Edge> = new.iter().copied().map(edge).filter(|e| e.from.file.0 == file).collect();
                edges.sort_unstable();
                edges.dedup();
                edges
            };
            let (rows_of, uses_of): (Vec<_>, Vec<_>) =
                (0..6).map(|file| (unproved(file, new.len() % 3), vec![used(file); rows.len() % 2])).unzip();
            let splice = |file: &u32| Splice {
                file: FileIdx(*file),
                edges: of(*file),
                unproved: &rows_of[*file as usize],
                computed: &[],
                uses: &uses_of[*file as usize],
                n_external: 0,
            };
            let changes: Vec<Splice> = files.iter().map(splice).collect();
            let before = old.clone();
            let is_kept = |file: FileIdx| !files.contains(&file.0);
            let kept = before.edges.iter().copied().filter(|e| is_kept(e.from.file));
            let edges = kept.chain(changes.iter().flat_map(|new| new.edges.iter().copied())).collect();
            let kept = before.unproved.iter().copied().filter(|row| is_kept(row.from.file));
            let unproved = kept.chain(changes.iter().flat_map(|new| new.unproved.iter().copied())).collect();
            let kept = before.file_uses.iter().copied().filter(|used| is_kept(used.from));
            let file_uses = kept.chain(changes.iter().flat_map(|new| new.uses.iter().copied())).collect();
            let anew = Graph { edges, unproved, file_uses, ..Graph::default() }.finish();
            old.splice(&changes);
            prop_assert!(old == anew);
        }
    }
}
