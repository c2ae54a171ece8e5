//! One step of impact: who may behave otherwise because this symbol does.
//!
//! The rule behind all of them: to run a piece of code, some code that runs must name it, or its
//! class, or load its file. So a change walks back over names. Steps decide membership; their
//! confidence only orders answers (PRODUCT.md §4.2).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::base::dialect::LanguageName;
use crate::facts::delta::plain_qualname;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::graph::edge::{Edge, EdgeKind, FileUse, Graph, Layer, Receiver};
use crate::impact::space::{Node, Space};
use crate::impact::{code, handing};
use crate::lang::testing::{bases, decorators, members};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    pub to: u32,
    pub why: Why,
    /// In 1/10,000.
    pub confidence: u16,
    /// Where `to`'s file says so; 0 where no line does.
    pub line: u32,
    /// Only tests whose import closure holds both files can take it.
    pub is_gated: bool,
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
const MAY_REACH: u16 = 500;
/// What a step from a member to its class is worth when nothing proves the use (a guess).
const MEMBER: u16 = 5_000;

/// Functions that give back functions, nested deeper, count as users of theirs.
const MAX_NESTED: u32 = 8;

/// The rules, over one tree.
pub struct Steps<'a> {
    view: &'a View,
    graph: &'a Graph,
    pub space: Space,
    follow: Follow,
    /// Rows of `graph.unproved` by the text of their name.
    by_name: HashMap<&'a str, Vec<u32>>,
    /// Importers by imported file: (importer, whether only for types), from `graph.file_uses`.
    users: HashMap<FileIdx, Vec<FileUse>>,
    /// Pairs of files where each import stands inside a function: not run at import.
    import_edges: BTreeSet<(FileIdx, FileIdx)>,
    /// Definitions of one plain name under one parent, where there are several.
    siblings: HashMap<SymbolRef, Vec<SymbolRef>>,
    /// Additional users that no reference names (fixtures): target to users with the line.
    implied: BTreeMap<SymbolRef, Vec<(u32, u32)>>,
}

impl<'a> Steps<'a> {
    /// Prepares the rules for a tree. O(symbols + unproved).
    pub fn new(
        view: &'a View,
        graph: &'a Graph,
        follow: Follow,
        implied: BTreeMap<SymbolRef, Vec<(u32, u32)>>,
    ) -> Self {
        let mut by_name: HashMap<&str, Vec<u32>> = HashMap::new();
        if follow.may_reach {
            for (at, row) in graph.unproved.iter().enumerate() {
                if row.receiver != Receiver::External {
                    by_name.entry(view.facts(row.from.file).name(row.name)).or_default().push(at as u32);
                }
            }
        }
        let mut users: HashMap<FileIdx, Vec<FileUse>> = HashMap::new();
        for edge in &graph.file_uses {
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
        }
    }

    /// The steps back from a node. `seed`: whether it is a change itself, and one of its name,
    /// place or declaration, so that files which merely import it, and methods that override it,
    /// are reached as well. Sorted, unique.
    pub fn from(&self, node: u32, seed: Option<bool>) -> Vec<Step> {
        let is_contract = seed == Some(true);
        let mut out = Vec::new();
        // Test blocks are ends: what they hold is run for them alone.
        if let Node::Symbol(at) = self.space.node(node) {
            if at.symbol.index() == 0 {
                self.loaded_by(at.file, &mut out);
            }
            self.named_by(at, is_contract, &mut out);
            self.belongs_to(at, seed.is_some(), &mut out);
            if self.follow.may_reach && at.symbol.index() != 0 {
                self.maybe_named_by(at, &mut out);
            }
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    fn push(&self, to: SymbolRef, why: Why, confidence: u16, line: u32, out: &mut Vec<Step>) {
        out.push(Step { to: self.space.symbol(to), why, confidence, line, is_gated: false });
    }

    /// A module's own code runs for each file that imports it.
    fn loaded_by(&self, file: FileIdx, out: &mut Vec<Step>) {
        for edge in self.users.get(&file).into_iter().flatten() {
            // Where the linker has an edge to the module, `named_by` takes it, from the function that imports.
            if !edge.type_only && !self.import_edges.contains(&(edge.from, edge.to)) {
                let module = SymbolRef { file: edge.from, symbol: SymbolId::new(0) };
                self.push(module, Why::Loads, 9_000, 0, out);
            }
        }
    }

    /// Whoever names it, by an edge.
    fn named_by(&self, at: SymbolRef, is_contract: bool, out: &mut Vec<Step>) {
        let facts = self.view.facts(at.file);
        let is_module = at.symbol.index() == 0;
        let symbol = facts.symbol(at.symbol);
        let name = facts.name(symbol.name);
        let around = symbol.parent.filter(|p| p.index() != 0 && facts.symbol(*p).kind.is_function());
        for edge in self.graph.edges_to(at) {
            let is_followed = match edge.kind {
                // Importing a name runs nothing of it; importing a module runs its code.
                EdgeKind::Imports if is_module => {
                    !code::is_type_only_import(self.view.facts(edge.from.file), edge.line)
                }
                EdgeKind::Imports => is_contract,
                EdgeKind::Overrides => is_contract,
                EdgeKind::Calls | EdgeKind::Extends | EdgeKind::References | EdgeKind::Tests => true,
            };
            if !is_followed || edge.layer > self.follow.layer {
                continue;
            }
            // A type that is mentioned runs nothing; it matters to checks of types, and when it changes its contract.
            let is_erased = edge.kind == EdgeKind::References
                && !is_contract
                && !matches!(symbol.kind, SymbolKind::Interface | SymbolKind::TypeAlias)
                && code::is_type_use(self.view.facts(edge.from.file), edge.from.symbol, edge.line, name);
            // Who writes a field runs nothing of what it held, but for a descriptor of the class.
            let is_written = edge.kind == EdgeKind::References
                && !is_contract
                && symbol.kind == SymbolKind::Field
                && !code::initializer_runs(facts, at.symbol)
                && code::is_only_written(self.view.facts(edge.from.file), edge.from.symbol, edge.line, name);
            if is_erased || is_written {
                continue;
            }
            let is_returned = edge.kind == EdgeKind::References
                && edge.from.file == at.file
                && around == Some(edge.from.symbol)
                && handing::is_given_back(facts, edge.from.symbol, edge.line, name);
            if is_returned {
                self.given_back_by(edge.from, (edge, name), 0, out);
            } else if let Some(class) = self.keeper(edge, name) {
                self.with_class(class, None, out);
            } else {
                self.push_user(edge, name, out);
            }
        }
        for (user, line) in self.implied.get(&at).into_iter().flatten() {
            let why = Why::Edge(EdgeKind::Tests);
            out.push(Step { to: *user, why, confidence: 9_000, line: *line, is_gated: false });
        }
        // Making an instance of a base runs no constructor of a class below.
        let is_constructor = is_constructor(facts, at.symbol);
        for edge in self.graph.edges_from(at) {
            if edge.kind == EdgeKind::Overrides && !is_constructor && edge.layer <= self.follow.layer {
                // The site is the overriding declaration, which is in this file and not in the other.
                // Only who has its class among what it imports can call it so, unless a framework
                // finds the class by its annotation.
                let is_found = symbol.parent.is_some_and(|p| decorators(facts, p).next().is_some());
                out.push(Step {
                    to: self.space.symbol(edge.to),
                    why: Why::Dispatch,
                    confidence: edge.confidence.0,
                    line: 0,
                    is_gated: !is_found,
                });
            }
        }
        if let (SymbolKind::Field, Some(parent)) = (symbol.kind, symbol.parent) {
            self.fields_above(SymbolRef { symbol: parent, ..at }, name, out);
        }
        if symbol.kind.is_class() {
            // Who makes an instance names the constructor where there is one.
            for member in self.constructors(at) {
                self.push(member, Why::Member, 9_000, 0, out);
            }
        }
    }

    /// The class whose instance keeps what an edge mentions: it runs where the instance is used.
    fn keeper(&self, edge: &Edge, name: &str) -> Option<SymbolRef> {
        if edge.kind != EdgeKind::References || edge.test_block.is_some() {
            return None;
        }
        let facts = self.view.facts(edge.from.file);
        let symbol = handing::stored_in_self(facts, edge.from.symbol, edge.line, name)?;
        Some(SymbolRef { file: edge.from.file, symbol })
    }

    /// The members of one name in the classes above: whoever reads one by a declared type of those
    /// may read this one.
    fn fields_above(&self, class: SymbolRef, name: &str, out: &mut Vec<Step>) {
        let (mut seen, mut stack) = (BTreeSet::from([class]), vec![class]);
        while let Some(at) = stack.pop() {
            for edge in self.graph.edges_from(at).iter().filter(|e| e.kind == EdgeKind::Extends) {
                if !seen.insert(edge.to) {
                    continue;
                }
                let facts = self.view.facts(edge.to.file);
                for symbol in members(facts, edge.to.symbol) {
                    if facts.name(facts.symbol(symbol).name) == name {
                        self.push(SymbolRef { symbol, ..edge.to }, Why::Dispatch, 8_000, 0, out);
                    }
                }
                stack.push(edge.to);
            }
        }
    }

    /// The source of an edge, as the code that runs it.
    fn push_user(&self, edge: &Edge, name: &str, out: &mut Vec<Step>) {
        let facts = self.view.facts(edge.from.file);
        let is_gated = edge.layer == Layer::Candidate;
        let mut push = |to: u32| {
            out.push(Step { to, why: Why::Edge(edge.kind), confidence: edge.confidence.0, line: edge.line, is_gated });
        };
        if let Some(block) = edge.test_block {
            push(self.space.block(edge.from.file, block));
            if facts.test_blocks[block.index()].owner == edge.from.symbol {
                return;
            }
        }
        for user in code::users_at(facts, edge.from.symbol, edge.line, edge.kind, name) {
            push(self.space.symbol(SymbolRef { file: edge.from.file, symbol: user }));
        }
    }

    /// A function is given back by the one around it: it runs where the result is called. What
    /// that one decorates runs it when called, and not when it is defined.
    fn given_back_by(&self, maker: SymbolRef, by: (&Edge, &str), depth: u32, out: &mut Vec<Step>) {
        let facts = self.view.facts(maker.file);
        let symbol = facts.symbol(maker.symbol);
        let name = facts.name(symbol.name);
        let around = symbol.parent.filter(|p| p.index() != 0 && facts.symbol(*p).kind.is_function());
        let mut n_users = 0;
        for edge in self.graph.edges_to(maker) {
            if matches!(edge.kind, EdgeKind::Imports | EdgeKind::Overrides) || edge.layer > self.follow.layer {
                continue;
            }
            n_users += 1;
            let user_facts = self.view.facts(edge.from.file);
            // `@f(x)` calls what `f` gives back where it stands, `@f` does not.
            let n_calls = match edge.kind {
                EdgeKind::Calls => handing::decorator_calls(user_facts, edge.from.symbol, edge.line),
                _ => 0,
            };
            let decorates = n_calls > 0 && depth + 1 >= n_calls;
            let is_returned = edge.kind == EdgeKind::References
                && edge.from.file == maker.file
                && around == Some(edge.from.symbol)
                && depth < MAX_NESTED
                && handing::is_given_back(facts, edge.from.symbol, edge.line, name);
            if decorates {
                self.push(edge.from, Why::Edge(EdgeKind::Calls), edge.confidence.0, edge.line, out);
            } else if is_returned {
                self.given_back_by(edge.from, by, depth + 1, out);
            } else {
                self.push_user(edge, name, out);
            }
        }
        if n_users == 0 || depth >= MAX_NESTED || self.follow.may_reach {
            // Names that are not proved reach the maker as usual, without its own users.
            self.maybe_named_by(maker, out);
        }
        if n_users == 0 {
            self.push_user(by.0, by.1, out);
        }
    }

    /// The constructors that a class defines itself.
    fn constructors(&self, class: SymbolRef) -> impl Iterator<Item = SymbolRef> {
        let facts = self.view.facts(class.file);
        members(facts, class.symbol)
            .filter(|id| is_constructor(facts, *id))
            .map(move |symbol| SymbolRef { file: class.file, symbol })
    }

    /// Whoever uses a class as a value (makes it, hands it on, extends it), for a member that
    /// runs without being named. Classes below that define the member anew keep it from theirs.
    /// Constructors run where an instance is made, others where it is held.
    /// Without a member, for what the instance keeps.
    fn with_class(&self, class: SymbolRef, member: Option<SymbolId>, out: &mut Vec<Step>) {
        let own = self.view.facts(class.file);
        let is_making = member.is_some_and(|member| is_constructor(own, member));
        let member = member.map(|member| own.name(own.symbol(member).name));
        let (mut seen, mut stack) = (BTreeSet::from([class]), vec![class]);
        while let Some(at) = stack.pop() {
            let facts = self.view.facts(at.file);
            let name = facts.name(facts.symbol(at.symbol).name);
            let targets = std::iter::once(at).chain(self.constructors(at));
            for edge in targets.flat_map(|to| self.graph.edges_to(to)) {
                if edge.layer > self.follow.layer {
                    continue;
                }
                let user = self.view.facts(edge.from.file);
                match edge.kind {
                    EdgeKind::Imports | EdgeKind::Overrides => {}
                    EdgeKind::Extends => {
                        let redefines =
                            members(user, edge.from.symbol).any(|m| Some(user.name(user.symbol(m).name)) == member);
                        let is_real = user.symbol(edge.from.symbol).branch != Branch::TypeChecking;
                        if !redefines && is_real && seen.insert(edge.from) {
                            stack.push(edge.from);
                        }
                    }
                    EdgeKind::References if code::is_type_use(user, edge.from.symbol, edge.line, name) => {}
                    EdgeKind::Calls | EdgeKind::References | EdgeKind::Tests if is_making => {
                        self.push_user(edge, name, out);
                    }
                    EdgeKind::Calls | EdgeKind::References | EdgeKind::Tests => self.push_holder(edge, name, out),
                }
            }
            if self.follow.may_reach {
                self.maybe_named_by(at, out);
            }
        }
    }

    /// What holds the instance that an edge makes or mentions the class of.
    fn push_holder(&self, edge: &Edge, class: &str, out: &mut Vec<Step>) {
        let facts = self.view.facts(edge.from.file);
        let is_gated = edge.layer == Layer::Candidate;
        let confidence = edge.confidence.0;
        if let Some(block) = edge.test_block {
            let to = self.space.block(edge.from.file, block);
            out.push(Step { to, why: Why::Edge(edge.kind), confidence, line: edge.line, is_gated });
            if facts.test_blocks[block.index()].owner == edge.from.symbol {
                return;
            }
        }
        let symbol = handing::holder_at(facts, edge.from.symbol, edge.line, class);
        let to = self.space.symbol(SymbolRef { file: edge.from.file, symbol });
        out.push(Step { to, why: Why::Edge(edge.kind), confidence, line: edge.line, is_gated });
    }

    /// Whether code outside may call a member of a class: a base that is not in the repository,
    /// of the class or of one above, may.
    fn is_called_outside(&self, class: SymbolRef, member: &str) -> bool {
        if self.graph.open_classes.binary_search(&class).is_err() {
            return false;
        }
        let (mut seen, mut stack) = (BTreeSet::from([class]), vec![class]);
        while let Some(at) = stack.pop() {
            let facts = self.view.facts(at.file);
            let above: Vec<SymbolRef> =
                self.graph.edges_from(at).iter().filter(|e| e.kind == EdgeKind::Extends).map(|e| e.to).collect();
            let is_found = |base: &str| {
                above.iter().any(|to| {
                    let other = self.view.facts(to.file);
                    other.name(other.symbol(to.symbol).name) == base
                })
            };
            let names: Vec<&str> = bases(facts, at.symbol).collect();
            // An alias of a base that was found is not outside.
            let n_missing = names.len().saturating_sub(above.len());
            let mut missing = names.iter().filter(|base| !is_found(base));
            if n_missing > 0 && missing.any(|base| code::base_may_call(base, member)) {
                return true;
            }
            stack.extend(above.into_iter().filter(|to| seen.insert(*to)));
        }
        false
    }

    /// Whether a decorator may keep what it decorates, so that it runs without being named. One of
    /// the repository is looked at; one from outside is taken to.
    fn is_handed_on(&self, at: SymbolRef) -> bool {
        let facts = self.view.facts(at.file);
        handing::strange_decorators(facts, at.symbol).any(|row| {
            let mut found = self
                .graph
                .edges_from(at)
                .iter()
                .filter(|e| e.line == row.line && e.kind == EdgeKind::Calls && e.layer == Layer::Proved)
                .peekable();
            found.peek().is_none()
                || found.any(|e| {
                    let to = self.view.facts(e.to.file);
                    let n_calls = handing::decorator_calls(facts, at.symbol, row.line);
                    !to.symbol(e.to.symbol).kind.is_function() || handing::keeps_argument(to, e.to.symbol, n_calls)
                })
        })
    }

    /// What it is part of, where it runs without being named.
    fn belongs_to(&self, at: SymbolRef, is_seed: bool, out: &mut Vec<Step>) {
        let facts = self.view.facts(at.file);
        let symbol = facts.symbol(at.symbol);
        for other in self.siblings.get(&at).into_iter().flatten() {
            self.push(*other, Why::Sibling, 9_000, 0, out);
        }
        let Some(parent) = symbol.parent else { return };
        let owner = SymbolRef { file: at.file, symbol: parent };
        let module = SymbolRef { file: at.file, symbol: SymbolId::new(0) };
        let parent_kind = facts.symbol(parent).kind;
        if self.is_handed_on(at) {
            self.push(owner, Why::Registers, MEMBER, symbol.start_line, out);
        }
        if parent_kind.is_class() {
            // A field is reached as a holder; only its own change is one of what outside code reads.
            let is_read = is_seed || !matches!(symbol.kind, SymbolKind::Field | SymbolKind::EnumMember);
            let outside = code::Outside {
                by_base: is_read && self.is_called_outside(owner, facts.name(symbol.name)),
                by_argument: self.graph.handed_out.binary_search(&owner).is_ok(),
            };
            match code::member_use(facts, at.symbol, outside) {
                code::MemberUse::Named => {}
                code::MemberUse::WithClass => self.with_class(owner, Some(at.symbol), out),
                code::MemberUse::WhenSubclassed => {
                    for below in self.subclasses(owner) {
                        let other = self.view.facts(below.file);
                        let to = SymbolRef { symbol: code::runner_of(other, below.symbol), ..below };
                        self.push(to, Why::Member, MEMBER, other.symbol(below.symbol).start_line, out);
                    }
                }
            }
        } else if parent.index() == 0 && code::is_module_hook(facts, at.symbol) {
            self.push(module, Why::Member, MEMBER, symbol.start_line, out);
        } else if symbol.flags.has(SymbolFlags::ANONYMOUS_OWNER) && parent.index() != 0 {
            // An object literal is handed around as a whole.
            self.push(owner, Why::Member, MEMBER, symbol.start_line, out);
        }
    }

    /// The classes below this one, at any depth.
    fn subclasses(&self, class: SymbolRef) -> BTreeSet<SymbolRef> {
        let (mut seen, mut stack) = (BTreeSet::new(), vec![class]);
        while let Some(at) = stack.pop() {
            for edge in self.graph.edges_to(at) {
                let is_real = self.view.symbol(edge.from).branch != Branch::TypeChecking;
                if edge.kind == EdgeKind::Extends && is_real && seen.insert(edge.from) {
                    stack.push(edge.from);
                }
            }
        }
        seen
    }

    /// Unproved references that may mean it (FACTS.md §4, may reach).
    fn maybe_named_by(&self, at: SymbolRef, out: &mut Vec<Step>) {
        let facts = self.view.facts(at.file);
        let symbol = facts.symbol(at.symbol);
        let is_member = symbol.parent.is_some_and(|p| p.index() != 0 && !facts.symbol(p).kind.is_function());
        if (symbol.flags.has(SymbolFlags::LOCAL) && !is_member) || is_constructor(facts, at.symbol) {
            // Seen by its own function alone, where names are proved; a constructor runs by its class.
            return;
        }
        if is_member && code::is_protocol(facts, at.symbol) {
            // Every object has it: the name says nothing, and whoever uses the class is reached.
            return;
        }
        let is_java = facts.dialect.language() == LanguageName::Java;
        for row in self.by_name.get(facts.name(symbol.name)).into_iter().flatten() {
            let unproved = &self.graph.unproved[*row as usize];
            let other = self.view.facts(unproved.from.file);
            let is_possible = is_java == (other.dialect.language() == LanguageName::Java)
                && is_python(facts) == is_python(other)
                // A bare name never means a member, but for Java's inherited ones.
                && (unproved.receiver != Receiver::None || !is_member || is_java)
                && code::takes(facts, at.symbol, unproved.arity);
            if !is_possible {
                continue;
            }
            let mut push = |to: u32| {
                let line = unproved.line;
                out.push(Step { to, why: Why::MayReach, confidence: MAY_REACH, line, is_gated: true });
            };
            if let Some(block) = unproved.test_block {
                push(self.space.block(unproved.from.file, block));
                if other.test_blocks[block.index()].owner == unproved.from.symbol {
                    continue;
                }
            }
            let kind = match unproved.kind {
                RefKind::Call | RefKind::New | RefKind::Super | RefKind::Decorator => EdgeKind::Calls,
                _ => EdgeKind::References,
            };
            for user in code::users_at(other, unproved.from.symbol, unproved.line, kind, facts.name(symbol.name)) {
                push(self.space.symbol(SymbolRef { file: unproved.from.file, symbol: user }));
            }
        }
    }
}

fn is_constructor(facts: &FileFacts, symbol: SymbolId) -> bool {
    let row = facts.symbol(symbol);
    row.kind == SymbolKind::Constructor || matches!(facts.name(row.name), "__init__" | "__new__" | "constructor")
}

fn is_python(facts: &FileFacts) -> bool {
    facts.dialect.language() == LanguageName::Python
}

fn siblings(view: &View) -> HashMap<SymbolRef, Vec<SymbolRef>> {
    let mut out = HashMap::new();
    for file in view.indices() {
        let facts = view.facts(file);
        if !facts.symbols.iter().any(|s| facts.name(s.qualname).contains('#')) {
            continue;
        }
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
