//! Who names a symbol, proved or not: the steps back over references.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::base::dialect::LanguageName;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::graph::edge::{Edge, EdgeKind, Layer, Receiver, Strategy};
use crate::impact::step::{Guess, MAX_NESTED, MAY_REACH, MEMBER, Step, Steps, Why, is_constructor, is_python};
use crate::impact::{access, code, handing};
use crate::lang::testing::{decorators, members};
use crate::view::{FileIdx, SymbolRef};

impl Steps<'_> {
    /// Whoever names it, by an edge. `seed`: as for [`Steps::from`]; `given`: the position of an
    /// argument, where only those count who give it.
    pub(super) fn named_by(&self, at: SymbolRef, (seed, given): (Option<bool>, Option<u32>), out: &mut Vec<Step>) {
        let is_contract = seed == Some(true);
        let facts = self.view.facts(at.file);
        let symbol = facts.symbol(at.symbol);
        let name = facts.name(symbol.name);
        let made_in = if is_contract { None } else { self.made_in(at) };
        for edge in self.graph.edges_to(at) {
            if !given.is_some_and(|position| self.leaves_out(edge, at, position)) {
                self.used_by(edge, seed, &made_in, out);
            }
        }
        for twin in self.graph.twins(at) {
            for edge in self.graph.edges_to(twin) {
                self.used_by(edge, seed, &made_in, out);
            }
        }
        self.dispatched_by(at, &made_in, out);
        for (user, line) in self.implied.get(&at).into_iter().flatten() {
            let why = Why::Edge(EdgeKind::Tests);
            out.push(Step::new(*user, why, 9_000, *line));
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

    /// The steps over one edge, to the code that runs what it leads to.
    fn used_by(&self, edge: &Edge, seed: Option<bool>, made_in: &Option<Rc<[FileIdx]>>, out: &mut Vec<Step>) {
        let at = edge.to;
        let is_contract = seed == Some(true);
        let facts = self.view.facts(at.file);
        let is_module = at.symbol.index() == 0;
        let symbol = facts.symbol(at.symbol);
        let name = facts.name(symbol.name);
        let around = symbol.parent.filter(|p| p.index() != 0 && facts.symbol(*p).kind.is_function());
        let is_followed = match edge.kind {
            // Importing a name runs nothing of it; importing a module runs its code.
            EdgeKind::Imports if is_module => !code::is_type_only_import(self.view.facts(edge.from.file), edge.line),
            EdgeKind::Imports => is_contract,
            EdgeKind::Overrides => is_contract,
            EdgeKind::Calls | EdgeKind::Extends | EdgeKind::References | EdgeKind::Tests => true,
        };
        if !is_followed || edge.layer > self.follow.layer {
            return;
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
        if is_erased || is_written || self.is_idle(edge, at, name, seed) {
            return;
        }
        let is_returned = edge.kind == EdgeKind::References
            && edge.from.file == at.file
            && around == Some(edge.from.symbol)
            && handing::is_given_back(facts, edge.from.symbol, edge.line, name);
        if is_returned {
            self.given_back_by(edge.from, (edge, name), 0, out);
        } else if !is_contract && self.is_given_by_hook(edge, name) {
            self.asked_of(SymbolRef { symbol: SymbolId::new(0), ..edge.from }, out);
        } else if let Some(class) = self.keeper(edge, name) {
            self.with_class(class, (None, None), out);
        } else {
            let n_before = out.len();
            self.push_user(edge, name, out);
            if made_in.is_some() && self.is_virtual(edge, name) {
                out[n_before..].iter_mut().for_each(|step| step.made_in.clone_from(made_in));
            }
        }
    }

    /// Whoever calls a method that this one overrides: the call may run it, where an instance of
    /// a class that has it is made.
    fn dispatched_by(&self, at: SymbolRef, made_in: &Option<Rc<[FileIdx]>>, out: &mut Vec<Step>) {
        let facts = self.view.facts(at.file);
        // Making an instance of a base runs no constructor of a class below.
        if is_constructor(facts, at.symbol) {
            return;
        }
        // Only who has its class among what it imports can call it so, unless a framework finds
        // the class by its annotation.
        let parent = facts.symbol(at.symbol).parent;
        let is_found = parent.is_some_and(|p| decorators(facts, p).next().is_some());
        let name = facts.name(facts.symbol(at.symbol).name);
        let (mut seen, mut stack) = (BTreeSet::from([at]), vec![at]);
        while let Some(below) = stack.pop() {
            let overridden = self.graph.edges_from(below).iter().filter(|e| e.kind == EdgeKind::Overrides);
            for above in overridden.filter(|e| e.layer <= self.follow.layer) {
                if !seen.insert(above.to) {
                    continue;
                }
                stack.push(above.to);
                let n_before = out.len();
                for edge in self.graph.edges_to(above.to) {
                    let is_use = matches!(edge.kind, EdgeKind::Calls | EdgeKind::References | EdgeKind::Tests);
                    let user = self.view.facts(edge.from.file);
                    if is_use
                        && edge.strategy != Strategy::StaticMember
                        && !access::names_above(user, edge.from.symbol, edge.line, name)
                    {
                        self.used_by(edge, None, &None, out);
                    }
                }
                for (user, line) in self.implied.get(&above.to).into_iter().flatten() {
                    out.push(Step::new(*user, Why::Dispatch, 9_000, *line));
                }
                for step in &mut out[n_before..] {
                    step.why = Why::Dispatch;
                    step.confidence = step.confidence.min(above.confidence.0);
                    step.is_gated |= !is_found;
                    step.made_in.clone_from(made_in);
                }
            }
        }
    }

    /// Whether a mention runs nothing of what it names: a setter's name that is only read, a held
    /// instance of which an attribute is only written.
    fn is_idle(&self, edge: &Edge, at: SymbolRef, name: &str, seed: Option<bool>) -> bool {
        if edge.kind != EdgeKind::References || seed == Some(true) {
            return false;
        }
        let facts = self.view.facts(at.file);
        let user = self.view.facts(edge.from.file);
        if access::is_setter(facts, at.symbol) {
            return !access::writes(user, edge.from.symbol, edge.line, name);
        }
        let is_holder = matches!(facts.symbol(at.symbol).kind, SymbolKind::Field | SymbolKind::Variable);
        // Another thing that is registered with it does not run it.
        let registers = || {
            self.register_of(edge.from, edge.line) == Some(at)
                && handing::is_decorator_line(user, edge.from.symbol, edge.line)
        };
        is_holder
            && seed.is_none()
            && (access::only_writes_through(user, edge.from.symbol, edge.line, name) || registers())
    }

    /// Whether an edge means a method by the class of its receiver, so that another may run.
    fn is_virtual(&self, edge: &Edge, name: &str) -> bool {
        let is_by_class = matches!(
            edge.strategy,
            Strategy::DeclaredType | Strategy::InferredType | Strategy::SelfMember | Strategy::Overload
        );
        let facts = self.view.facts(edge.from.file);
        is_by_class && !access::names_above(facts, edge.from.symbol, edge.line, name)
    }

    /// The class whose instance keeps what an edge mentions: it runs where the instance is used.
    pub(super) fn keeper(&self, edge: &Edge, name: &str) -> Option<SymbolRef> {
        if edge.kind != EdgeKind::References || edge.test_block.is_some() {
            return None;
        }
        let facts = self.view.facts(edge.from.file);
        let symbol = handing::stored_in_self(facts, edge.from.symbol, edge.line, name)?;
        if !self.is_seen_to_keep(edge) && !self.is_kept_outside(edge, SymbolRef { file: edge.from.file, symbol }) {
            self.note(Guess::KeptValue, edge.from, [self.space.symbol(edge.from)]);
        }
        Some(SymbolRef { file: edge.from.file, symbol })
    }

    /// Whether what a line gives to its own object is kept there by code that can be looked at, or by
    /// a collection.
    fn is_seen_to_keep(&self, edge: &Edge) -> bool {
        let calls =
            self.graph.edges_from(edge.from).iter().filter(|e| e.line == edge.line && e.kind == EdgeKind::Calls);
        let mut callees = calls.filter(|e| self.view.symbol(e.to).kind.is_function()).peekable();
        if callees.peek().is_none() {
            return handing::adds_to_collection(self.view.facts(edge.from.file), edge.from.symbol, edge.line);
        }
        callees.all(|e| e.layer == Layer::Proved && handing::keeps_in_self(self.view.facts(e.to.file), e.to.symbol, 1))
    }

    /// The members of one name in the classes above: whoever reads one by a declared type of those
    /// may read this one.
    pub(super) fn fields_above(&self, class: SymbolRef, name: &str, out: &mut Vec<Step>) {
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
    pub(super) fn push_user(&self, edge: &Edge, name: &str, out: &mut Vec<Step>) {
        let facts = self.view.facts(edge.from.file);
        let is_gated = edge.layer == Layer::Candidate;
        let mut push = |to: u32| {
            let step = Step::new(to, Why::Edge(edge.kind), edge.confidence.0, edge.line);
            out.push(step.gated(is_gated));
        };
        if let Some(block) = edge.test_block {
            push(self.space.block(edge.from.file, block));
            if facts.test_blocks[block.index()].owner == edge.from.symbol {
                return;
            }
        }
        // Reading an attribute runs the function behind it, and an operator what its operand holds.
        let to = self.view.facts(edge.to.file);
        let owner = facts.symbol(edge.from.symbol);
        let is_run = edge.kind == EdgeKind::References
            && !owner.kind.is_function()
            && (access::is_accessor(to, edge.to.symbol)
                || access::calls_subscript(facts, edge.from.symbol, edge.line, self.called_name(edge.to))
                || (matches!(to.symbol(edge.to.symbol).kind, SymbolKind::Variable | SymbolKind::Field)
                    && code::initializer_runs(to, edge.to.symbol)
                    && handing::stored_at(facts, edge.line, name).is_none()
                    && handing::is_put_to_use(facts, edge.from.symbol, edge.line, name)));
        let kind = if is_run { EdgeKind::Calls } else { edge.kind };
        for user in code::users_at(facts, edge.from.symbol, edge.line, edge.kind, name) {
            push(self.node_at(SymbolRef { file: edge.from.file, symbol: user }, edge.line));
        }
        if kind != edge.kind {
            for user in code::users_at(facts, edge.from.symbol, edge.line, kind, name) {
                push(self.space.symbol(SymbolRef { file: edge.from.file, symbol: user }));
            }
        }
    }

    /// The name that a call of a symbol says: a class's for its constructor.
    fn called_name(&self, at: SymbolRef) -> &str {
        let facts = self.view.facts(at.file);
        let class = facts.symbol(at.symbol).parent.filter(|_| is_constructor(facts, at.symbol));
        facts.name(facts.symbol(class.unwrap_or(at.symbol)).name)
    }

    /// A function is given back by the one around it: it runs where the result is called. What
    /// that one decorates runs it when called, and not when it is defined.
    pub(super) fn given_back_by(&self, maker: SymbolRef, by: (&Edge, &str), depth: u32, out: &mut Vec<Step>) {
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
        let class = symbol.parent.filter(|p| facts.symbol(*p).kind.is_class());
        if class.is_some_and(|class| self.is_called_outside(SymbolRef { symbol: class, ..maker }, name)) {
            // Code outside may call it, and then what it gives back.
            self.push(maker, Why::Edge(EdgeKind::References), MEMBER, by.0.line, out);
        }
        if n_users == 0 {
            self.push_user(by.0, by.1, out);
        }
    }

    /// Unproved references that may mean it (FACTS.md §4, may reach).
    pub(super) fn maybe_named_by(&self, at: SymbolRef, out: &mut Vec<Step>) {
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
            let is_read = access::is_setter(facts, at.symbol) && unproved.kind != RefKind::Write;
            if !is_possible || is_read {
                continue;
            }
            let mut push = |to: u32| {
                let line = unproved.line;
                out.push(Step::new(to, Why::MayReach, MAY_REACH, line).gated(true));
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
                push(self.node_at(SymbolRef { file: unproved.from.file, symbol: user }, unproved.line));
            }
        }
    }

    /// Unproved references of the same language that write a member of this name.
    pub(super) fn maybe_written_by(&self, name: &str, facts: &FileFacts, out: &mut Vec<Step>) {
        for row in self.by_name.get(name).into_iter().flatten() {
            let unproved = &self.graph.unproved[*row as usize];
            let other = self.view.facts(unproved.from.file);
            if unproved.kind == RefKind::Write && is_python(facts) == is_python(other) {
                let to = self.space.symbol(unproved.from);
                out.push(Step::new(to, Why::MayReach, MAY_REACH, unproved.line).gated(true));
            }
        }
    }
}
