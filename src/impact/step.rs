//! One step of impact: who may behave otherwise because this symbol does.
//!
//! The rule behind all of them: to run a piece of code, some code that runs must name it, or its
//! class, or load its file. So a change walks back over names. Steps decide membership; their
//! confidence only orders answers (PRODUCT.md §4.2).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use crate::base::dialect::LanguageName;
use crate::base::halt;
use crate::facts::delta::plain_qualname;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::graph::edge::{EdgeKind, FileUse, Graph, Layer, Receiver};
use crate::impact::given::OnlyGiven;
use crate::impact::held::Argued;
use crate::impact::may_import::MayImport;
use crate::impact::space::{Node, Space};
use crate::impact::tests::Tests;
use crate::view::{FileIdx, SymbolRef, View};

/// Why a node is reached from the next one on its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// It is a change itself.
    Changed,
    /// It names it, by an edge of the graph.
    Edge(EdgeKind),
    /// It calls by a name that could not be proved, and that may mean it.
    MayReach,
    /// A call of it may run the other, which overrides it.
    Dispatch,
    /// It is the class whose member the other is, and that member runs without being named.
    Member,
    /// It is the code around a definition that a decorator or a value hands on.
    Registers,
    /// It is another definition of the same name in the same place (accessor pairs, overloads).
    Sibling,
    /// Its module runs the other's module when it is imported.
    Loads,
}

impl Why {
    /// The name in outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            Why::Changed => "changed",
            Why::Edge(kind) => kind.as_str(),
            Why::MayReach => "may_reach",
            Why::Dispatch => "dispatch",
            Why::Member => "member",
            Why::Registers => "registers",
            Why::Sibling => "sibling",
            Why::Loads => "loads",
        }
    }
}

/// A step back: `to` may behave otherwise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    pub to: u32,
    pub why: Why,
    /// In 1/10,000.
    pub confidence: u16,
    /// Where `to`'s file says so; 0 where no line does.
    pub line: u32,
    /// Only tests whose import closure holds both files can take it.
    pub is_gated: bool,
    /// Only tests whose import closure holds one of these can take it; `None` when all can.
    pub made_in: Option<Rc<[FileIdx]>>,
}

impl Step {
    /// A step that every test can take.
    pub fn new(to: u32, why: Why, confidence: u16, line: u32) -> Self {
        Step { to, why, confidence, line, is_gated: false, made_in: None }
    }

    /// The same, for tests whose import closure holds both files alone.
    pub fn gated(self, is_gated: bool) -> Self {
        Step { is_gated, ..self }
    }

    /// The same, for tests whose import closure holds one of these files alone.
    pub fn made_in(self, files: Option<Rc<[FileIdx]>>) -> Self {
        Step { made_in: files, ..self }
    }
}

/// What a step was left out for, where names and shapes of code tell it and nothing proves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guess {
    /// A decorator from outside is taken to give the definition back under its name.
    OutsideDecorator,
    /// A call by whose name a value is kept is taken not to run it.
    KeptValue,
}

impl Guess {
    /// All, in order.
    pub const ALL: [Guess; 2] = [Guess::OutsideDecorator, Guess::KeptValue];

    /// The code in outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            Guess::OutsideDecorator => "outside_decorator",
            Guess::KeptValue => "kept_value",
        }
    }

    /// What was guessed, for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Guess::OutsideDecorator => "a decorator from outside is taken to register it under its own name only",
            Guess::KeptValue => "what it hands on is taken to be kept, and run where its keeper is used",
        }
    }
}

/// What steps follow (the policies of PRODUCT.md §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follow {
    /// The least sure layer whose edges are followed.
    pub layer: Layer,
    /// Whether references that could not be proved reach every symbol that they may mean.
    pub may_reach: bool,
}

/// What a step over an unproved name is worth (a guess; it only orders answers).
pub(super) const MAY_REACH: u16 = 500;
/// What a step from a member to its class is worth when nothing proves the use (a guess).
pub(super) const MEMBER: u16 = 5_000;

/// Functions that give back functions, nested deeper, count as users of theirs.
pub(super) const MAX_NESTED: u32 = 8;

/// The steps from a node, sorted, unique, with the guesses of what they leave out.
#[derive(Clone)]
struct Known {
    steps: Rc<[Step]>,
    guesses: Rc<[(Guess, SymbolRef, u32)]>,
}

/// The rules, over one tree.
pub struct Steps<'a> {
    pub(super) view: &'a View,
    pub(super) graph: &'a Graph,
    pub space: Space,
    pub(super) follow: Follow,
    /// Rows of `graph.unproved` by the text of their name.
    pub(super) by_name: HashMap<&'a str, Vec<u32>>,
    /// Uses by the used file, those that merely may be among them.
    users: HashMap<FileIdx, Vec<FileUse>>,
    /// Pairs of files where each import stands inside a function: not run at import.
    import_edges: BTreeSet<(FileIdx, FileIdx)>,
    /// Definitions of one plain name under one parent, where there are several.
    pub(super) siblings: HashMap<SymbolRef, Vec<SymbolRef>>,
    /// Additional users that no reference names (fixtures): target to users with the line.
    pub(super) implied: BTreeMap<SymbolRef, Vec<(u32, u32)>>,
    /// Imports that may load a file, sorted by that file.
    may_imports: Vec<MayImport>,
    /// Where a step was left out on a guess, with where it would have led.
    guesses: RefCell<BTreeMap<(Guess, SymbolRef), BTreeSet<u32>>>,
    /// The steps from each node that was asked for, and the guesses that were made on the way.
    known: RefCell<HashMap<(u32, Option<bool>), Known>>,
    /// Guesses since they were last taken.
    noted: RefCell<Vec<(Guess, SymbolRef, u32)>>,
    /// The definitions that are tests, whatever runs around them.
    tested: HashSet<u32>,
    /// Code that gives a class, or one below it, to a call, as far as it was asked for.
    pub(super) argued: RefCell<HashMap<SymbolRef, Rc<[Argued]>>>,
    /// The last names in an owner's code, as far as they were asked for.
    pub(super) named: RefCell<HashMap<SymbolRef, Rc<HashSet<Box<str>>>>>,
    /// The classes beside one, as far as they were asked for.
    pub(super) beside: RefCell<HashMap<SymbolRef, Rc<BTreeSet<SymbolRef>>>>,
    /// Lines of functions that run only where an argument is given, as far as they were asked for.
    pub(super) given: RefCell<HashMap<SymbolRef, Rc<[OnlyGiven]>>>,
    /// Files that make instances with a method, as far as they were asked for.
    pub(super) makers: RefCell<HashMap<SymbolRef, Option<Rc<[FileIdx]>>>>,
    /// Whether what an edge makes is only asked for members, as far as it was asked: by its source,
    /// line and target.
    pub(super) receiving: RefCell<HashMap<(SymbolRef, u32, SymbolRef), bool>>,
    /// Files with tests, sorted.
    pub(super) test_files: Vec<FileIdx>,
    /// Whether some code lists the classes below another (`__subclasses__`).
    pub(super) has_subclass_lists: bool,
}

impl<'a> Steps<'a> {
    /// Prepares the rules for a tree. O(symbols + unproved).
    pub fn new(
        view: &'a View,
        graph: &'a Graph,
        follow: Follow,
        implied: BTreeMap<SymbolRef, Vec<(u32, u32)>>,
        may_imports: &[MayImport],
        uses: &[FileUse],
        tests: &Tests,
    ) -> Self {
        let mut by_name: HashMap<&str, Vec<u32>> = HashMap::new();
        if follow.may_reach {
            // The texts are those of the graph that the view was kept with.
            let texts = view.texts().filter(|texts| texts.rows.len() == graph.unproved.len());
            for (at, row) in graph.unproved.iter().enumerate() {
                if row.receiver != Receiver::External {
                    let name = match texts {
                        Some(texts) => texts.text(at),
                        None => view.facts(row.from.file).name(row.name),
                    };
                    by_name.entry(name).or_default().push(at as u32);
                }
            }
        }
        let mut users: HashMap<FileIdx, Vec<FileUse>> = HashMap::new();
        for edge in uses {
            users.entry(edge.to).or_default().push(*edge);
        }
        let module = SymbolId::new(0);
        let import_edges = graph
            .edges
            .iter()
            .filter(|e| e.kind == EdgeKind::Imports && e.to.symbol == module)
            .map(|e| (e.from.file, e.to.file))
            .collect();
        Steps {
            view,
            graph,
            space: Space::new(view),
            follow,
            by_name,
            users,
            import_edges,
            siblings: siblings(view),
            implied,
            may_imports: may_imports.to_vec(),
            guesses: RefCell::default(),
            known: RefCell::default(),
            noted: RefCell::default(),
            tested: tests.tests.iter().filter_map(|test| test.carriers.first().copied()).collect(),
            argued: RefCell::default(),
            named: RefCell::default(),
            beside: RefCell::default(),
            given: RefCell::default(),
            makers: RefCell::default(),
            receiving: RefCell::default(),
            test_files: tests.files.clone(),
            has_subclass_lists: view.indices().any(|file| view.figures(file).lists_subclasses),
        }
    }

    /// The steps back from a node. `seed`: whether it is a change itself, and one of its name,
    /// place or declaration, so that files which merely import it, and methods that override it,
    /// are reached as well. Sorted, unique.
    pub fn from(&self, node: u32, seed: Option<bool>) -> Rc<[Step]> {
        halt::check();
        let known = self.known.borrow().get(&(node, seed)).cloned();
        let known = known.unwrap_or_else(|| {
            self.noted.borrow_mut().clear();
            let steps = self.find(node, seed).into();
            let known = Known { steps, guesses: self.noted.take().into() };
            self.known.borrow_mut().insert((node, seed), known.clone());
            known
        });
        if !known.guesses.is_empty() {
            let mut all = self.guesses.borrow_mut();
            for (guess, at, node) in known.guesses.iter().copied() {
                all.entry((guess, at)).or_default().insert(node);
            }
        }
        known.steps
    }

    fn find(&self, node: u32, seed: Option<bool>) -> Vec<Step> {
        let mut out = Vec::new();
        // Test blocks are ends: what they hold is run for them alone.
        if let Node::Symbol(at) = self.space.node(node) {
            if at.symbol.index() == 0 {
                self.loaded_by(at.file, &mut out);
            }
            self.named_by(at, (seed, self.space.given(node)), &mut out);
            self.belongs_to(at, (seed, self.space.given(node)), &mut out);
            if self.follow.may_reach && at.symbol.index() != 0 {
                self.maybe_named_by(at, &mut out);
                self.asked_for(at, &mut out);
                self.computed_by(at, &mut out);
            }
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    /// The files that use a file, each with how.
    pub fn users_of(&self, file: FileIdx) -> &[FileUse] {
        self.users.get(&file).map_or(&[], Vec::as_slice)
    }

    /// Notes a guess that was made on the way, and the nodes that would have been reached without.
    pub(super) fn note(&self, guess: Guess, at: SymbolRef, left_out: impl IntoIterator<Item = u32>) {
        self.noted.borrow_mut().extend(left_out.into_iter().map(|node| (guess, at, node)));
    }

    /// The guesses that were made so far, with the nodes that each left out; sorted.
    pub fn guesses(&self) -> Vec<((Guess, SymbolRef), BTreeSet<u32>)> {
        self.guesses.borrow().iter().map(|(guess, nodes)| (*guess, nodes.clone())).collect()
    }

    /// Forgets the guesses of an earlier answer.
    pub fn forget_guesses(&self) {
        self.guesses.borrow_mut().clear();
    }

    /// Whether a definition is a test itself, so that its runner runs it as that.
    pub(super) fn is_test(&self, at: SymbolRef) -> bool {
        self.tested.contains(&self.space.symbol(at))
    }

    pub(super) fn push(&self, to: SymbolRef, why: Why, confidence: u16, line: u32, out: &mut Vec<Step>) {
        out.push(Step::new(self.space.symbol(to), why, confidence, line));
    }

    fn may_import(&self, edge: &FileUse) -> bool {
        let start = self.may_imports.partition_point(|row| row.to < edge.to);
        self.may_imports[start..].iter().take_while(|row| row.to == edge.to).any(|row| row.from.file == edge.from)
            && self.graph.file_uses.binary_search(edge).is_err()
    }

    /// A module's own code runs for each file that imports it.
    fn loaded_by(&self, file: FileIdx, out: &mut Vec<Step>) {
        for edge in self.users.get(&file).into_iter().flatten() {
            // Where the linker has an edge to the module, `named_by` takes it, from the function that
            // imports; what merely may import it follows below.
            let is_taken = self.import_edges.contains(&(edge.from, edge.to)) || self.may_import(edge);
            if !edge.type_only && !is_taken {
                let module = SymbolRef { file: edge.from, symbol: SymbolId::new(0) };
                self.push(module, Why::Loads, 9_000, 0, out);
            }
        }
        let start = self.may_imports.partition_point(|row| row.to < file);
        for row in self.may_imports[start..].iter().take_while(|row| row.to == file) {
            self.push(row.from, Why::MayReach, MAY_REACH, row.line, out);
        }
    }
}

pub(super) fn is_constructor(facts: &FileFacts, symbol: SymbolId) -> bool {
    let row = facts.symbol(symbol);
    row.kind == SymbolKind::Constructor || matches!(facts.name(row.name), "__init__" | "__new__" | "constructor")
}

pub(super) fn is_python(facts: &FileFacts) -> bool {
    facts.dialect.language() == LanguageName::Python
}

fn siblings(view: &View) -> HashMap<SymbolRef, Vec<SymbolRef>> {
    let mut out = HashMap::new();
    for file in view.indices().filter(|file| view.figures(*file).has_repeats) {
        let facts = view.facts(file);
        let mut groups: BTreeMap<String, Vec<SymbolRef>> = BTreeMap::new();
        for (at, symbol) in facts.symbols.iter().enumerate() {
            let symbol_ref = SymbolRef { file, symbol: SymbolId::new(at) };
            groups.entry(plain_qualname(facts.name(symbol.qualname))).or_default().push(symbol_ref);
        }
        for group in groups.into_values().filter(|g| g.len() > 1) {
            for at in &group {
                out.insert(*at, group.iter().copied().filter(|other| other != at).collect());
            }
        }
    }
    out
}
