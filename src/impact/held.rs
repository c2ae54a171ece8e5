//! What runs without being named, because its class, its instance or the code around it is held.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use crate::facts::model::*;
use crate::facts::table::Id;
use crate::graph::edge::{Edge, EdgeKind, Layer};
use crate::impact::space::Node;
use crate::impact::step::{Guess, MAY_REACH, MEMBER, Step, Steps, Why, is_constructor, is_python};
use crate::impact::{access, code, handing, outside};
use crate::lang::testing::{bases, decorators, last_name, members};
use crate::view::SymbolRef;

/// Who keeps what a decorator is given, from the surest to the least sure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Keeper {
    /// Nobody but its own name.
    Itself,
    /// What the decorator is a method of.
    Receiver,
    Unknown,
}

/// Code that gives a class to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Argued {
    pub from: SymbolRef,
    pub line: u32,
    pub test_block: Option<TestBlockId>,
}

impl Steps<'_> {
    /// Code that gives the class itself to a call and names the member: an instance that comes
    /// back may be meant (`context.ensure(Kind).member()`).
    pub(super) fn asked_for(&self, at: SymbolRef, out: &mut Vec<Step>) {
        let facts = self.view.facts(at.file);
        let symbol = facts.symbol(at.symbol);
        let name = facts.name(symbol.name);
        let Some(class) = symbol.parent.filter(|p| facts.symbol(*p).kind.is_class()) else { return };
        for row in self.argued(SymbolRef { symbol: class, ..at }).iter() {
            if !self.names_of(row.from).contains(name) {
                continue;
            }
            out.push(Step::new(self.space.symbol(row.from), Why::MayReach, MAY_REACH, row.line));
            let block = row.test_block.map(|block| self.space.block(row.from.file, block));
            out.extend(block.map(|to| Step::new(to, Why::MayReach, MAY_REACH, row.line)));
        }
    }

    /// The code that gives a class, or one below it, to a call; sorted, unique.
    fn argued(&self, class: SymbolRef) -> Rc<[Argued]> {
        if let Some(known) = self.argued.borrow().get(&class) {
            return known.clone();
        }
        let mut found = BTreeSet::new();
        let (mut seen, mut stack) = (BTreeSet::new(), vec![class]);
        while let Some(class) = stack.pop() {
            if !seen.insert(class) {
                continue;
            }
            let own = self.view.facts(class.file);
            let class_name = own.name(own.symbol(class.symbol).name);
            let targets = std::iter::once(class).chain(self.constructors(class));
            for edge in targets.flat_map(|to| self.graph.edges_to(to)) {
                let user = self.view.facts(edge.from.file);
                match edge.kind {
                    EdgeKind::Extends => stack.push(edge.from),
                    EdgeKind::References | EdgeKind::Calls
                        if access::is_argument(user, edge.from.symbol, edge.line, class_name) =>
                    {
                        found.insert(Argued { from: edge.from, line: edge.line, test_block: edge.test_block });
                    }
                    _ => {}
                }
            }
        }
        let found: Rc<[Argued]> = found.into_iter().collect();
        self.argued.borrow_mut().insert(class, found.clone());
        found
    }

    /// The last names in an owner's code.
    fn names_of(&self, owner: SymbolRef) -> Rc<HashSet<Box<str>>> {
        let mut known = self.named.borrow_mut();
        let names = || Rc::new(access::names(self.view.facts(owner.file), owner.symbol).map(Box::from).collect());
        known.entry(owner).or_insert_with(names).clone()
    }

    /// The constructors that a class defines itself.
    pub(super) fn constructors(&self, class: SymbolRef) -> impl Iterator<Item = SymbolRef> {
        let facts = self.view.facts(class.file);
        members(facts, class.symbol)
            .filter(|id| is_constructor(facts, *id))
            .map(move |symbol| SymbolRef { file: class.file, symbol })
    }

    /// Whoever uses a class as a value (makes it, hands it on, extends it), for a member that
    /// runs without being named. Classes below that define the member anew keep it from theirs.
    /// Constructors run where an instance is made, others where it is held.
    /// Without a member, for what the instance keeps. `given`: the position of an argument, where only
    /// those count who give it to the constructor that `member` is.
    pub(super) fn with_class(
        &self,
        class: SymbolRef,
        (member, given): (Option<SymbolId>, Option<u32>),
        out: &mut Vec<Step>,
    ) {
        let own = self.view.facts(class.file);
        let is_making = member.is_some_and(|member| is_constructor(own, member));
        let method = member.map(|symbol| SymbolRef { symbol, ..class });
        let member = member.map(|member| own.name(own.symbol(member).name));
        // Of a closed class, other members than those of its life run where an instance is operated
        // on or given to code outside.
        let is_operated = !is_making && member.is_some_and(|name| code::is_operated(own.dialect.language(), name));
        let is_closed = is_operated && self.is_closed(class);
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
                    // The constructor below calls the one above on its own instance: none is made.
                    EdgeKind::Calls
                        if !is_making && access::calls_constructor_above(user, edge.from.symbol, edge.line) => {}
                    EdgeKind::Extends => {
                        let redefines = method.is_some_and(|method| self.is_redefined_in(method, edge.from));
                        let is_real = user.symbol(edge.from.symbol).branch != Branch::TypeChecking;
                        if !redefines && is_real && seen.insert(edge.from) {
                            stack.push(edge.from);
                        }
                    }
                    EdgeKind::References if code::is_type_use(user, edge.from.symbol, edge.line, name) => {}
                    EdgeKind::References if self.is_given_by_hook(edge, name) => {
                        self.asked_of(SymbolRef { symbol: SymbolId::new(0), ..edge.from }, out);
                    }
                    EdgeKind::References
                        if is_making && access::only_asks_for_class(user, edge.from.symbol, edge.line, name) => {}
                    EdgeKind::Calls
                        if is_making
                            && given.zip(method).is_some_and(|(at, method)| self.leaves_out(edge, method, at)) => {}
                    EdgeKind::Calls | EdgeKind::References | EdgeKind::Tests if is_making => {
                        self.push_user(edge, name, out);
                    }
                    // Who makes an instance and only asks for its members does not operate on it.
                    EdgeKind::Calls if is_closed && edge.test_block.is_none() && self.only_receives(edge, name) => {}
                    EdgeKind::Calls | EdgeKind::References | EdgeKind::Tests => {
                        self.push_holder(edge, (name, member), out);
                    }
                }
            }
            if self.follow.may_reach {
                self.maybe_named_by(at, out);
            }
        }
        if is_closed {
            self.push_leaks(&seen, out);
        }
    }

    /// Whether the instance that an edge makes is never more there than what members are asked of. It
    /// is asked for each member of the class and of those above, and looks at a whole function.
    fn only_receives(&self, edge: &Edge, class: &str) -> bool {
        let key = (edge.from, edge.line, edge.to);
        if let Some(known) = self.receiving.borrow().get(&key) {
            return *known;
        }
        let facts = self.view.facts(edge.from.file);
        let found = handing::only_receives(facts, edge.from.symbol, edge.line, class);
        self.receiving.borrow_mut().insert(key, found);
        found
    }

    /// Whether neither a class nor one above or below it has a base outside, whose code could
    /// operate on its instances, or a metaclass.
    fn is_closed(&self, class: SymbolRef) -> bool {
        self.classes_beside(class).iter().all(|at| {
            let facts = self.view.facts(at.file);
            facts.symbol(at.symbol).kind == SymbolKind::Class
                && !self.has_strange_metaclass(*at)
                && handing::strange_decorators(facts, at.symbol).next().is_none()
                && self.graph.open_classes.binary_search(at).is_err()
        })
    }

    /// Whether a class has a metaclass that may operate on the instances that it makes: one from
    /// outside, or one of the repository that takes their making over.
    fn has_strange_metaclass(&self, class: SymbolRef) -> bool {
        let facts = self.view.facts(class.file);
        let mut rows =
            facts.heritage.iter().filter(|row| row.owner == class.symbol && row.kind == HeritageKind::Metaclass);
        rows.any(|row| {
            let is_plain = |edge: &&Edge| {
                let other = self.view.facts(edge.to.file);
                let is_taken = members(other, edge.to.symbol).any(|m| other.name(other.symbol(m).name) == "__call__");
                edge.line == row.line
                    && edge.kind == EdgeKind::References
                    && edge.layer == Layer::Proved
                    && !is_taken
                    && bases(other, edge.to.symbol).all(|base| base == "type")
                    && other.symbol(edge.to.symbol).kind == SymbolKind::Class
            };
            !self.graph.edges_from(class).iter().any(|edge| is_plain(&edge))
        })
    }

    /// The methods of some classes, and of those above them, that hand on their own instance.
    fn push_leaks(&self, classes: &BTreeSet<SymbolRef>, out: &mut Vec<Step>) {
        let mut all = classes.clone();
        let mut stack: Vec<SymbolRef> = classes.iter().copied().collect();
        while let Some(at) = stack.pop() {
            let above = self.graph.edges_from(at).iter().filter(|e| e.kind == EdgeKind::Extends).map(|e| e.to);
            stack.extend(above.filter(|to| all.insert(*to)));
        }
        for at in all {
            let facts = self.view.facts(at.file);
            for symbol in members(facts, at.symbol).filter(|m| facts.symbol(*m).kind.is_function()) {
                if handing::leaks_self(facts, symbol) {
                    let line = facts.symbol(symbol).start_line;
                    self.push(SymbolRef { symbol, ..at }, Why::Member, MEMBER, line, out);
                }
            }
        }
    }

    /// What holds the instance that an edge makes or mentions the class of, for a member of it.
    pub(super) fn push_holder(&self, edge: &Edge, (class, member): (&str, Option<&str>), out: &mut Vec<Step>) {
        let facts = self.view.facts(edge.from.file);
        let is_gated = edge.layer == Layer::Candidate;
        let confidence = edge.confidence.0;
        if let Some(block) = edge.test_block {
            let to = self.space.block(edge.from.file, block);
            out.push(Step::new(to, Why::Edge(edge.kind), confidence, edge.line).gated(is_gated));
            if facts.test_blocks[block.index()].owner == edge.from.symbol {
                return;
            }
        }
        let symbol = handing::holder_at(facts, edge.from.symbol, edge.line, class);
        let holder = SymbolRef { file: edge.from.file, symbol };
        let is_attribute = facts.symbol(symbol).kind == SymbolKind::Field;
        if is_attribute && member.is_some_and(access::runs_on_write) {
            self.push_writers(holder, out);
            return;
        }
        let mut push = |symbol: SymbolId| {
            let to = self.space.symbol(SymbolRef { symbol, ..holder });
            out.push(Step::new(to, Why::Edge(edge.kind), confidence, edge.line).gated(is_gated));
        };
        let is_protocol = member.is_some_and(|name| code::is_protocol_name(facts.dialect.language(), name));
        if !is_protocol && let Some(decorated) = self.decorated_with(edge) {
            let around = self.space.symbol(holder);
            let at = SymbolRef { symbol: decorated, ..holder };
            // What decorates a test is used when its runner runs it.
            if !self.is_test(at) {
                self.note(Guess::OutsideDecorator, at, [around]);
            }
            push(decorated);
            return;
        }
        push(holder.symbol);
        // What runs without being named runs at once where the instance is an operand or an
        // argument, is iterated or entered.
        if is_protocol && handing::is_put_to_use(facts, edge.from.symbol, edge.line, class) {
            code::users_at(facts, edge.from.symbol, edge.line, EdgeKind::Calls, class).into_iter().for_each(push);
        }
    }

    /// The definition whose decorator from outside is given what an edge of the code around makes:
    /// it keeps that, and uses it when the definition runs.
    fn decorated_with(&self, edge: &Edge) -> Option<SymbolId> {
        let facts = self.view.facts(edge.from.file);
        let owner = facts.symbol(edge.from.symbol);
        if !is_python(facts) || owner.kind.is_function() {
            return None;
        }
        let stands_in = |row: &&Decorator| row.line <= edge.line && facts.symbol(row.owner).name_line > edge.line;
        let row = facts.decorators.iter().filter(stands_in).max_by_key(|row| row.line)?;
        let at = SymbolRef { file: edge.from.file, symbol: row.owner };
        let is_call = |e: &&Edge| e.line == row.line && e.kind == EdgeKind::Calls && e.layer == Layer::Proved;
        let is_inside = self.graph.edges_from(at).iter().filter(is_call).any(|e| !self.is_argument(e, facts, row));
        let is_function = facts.symbol(row.owner).kind.is_function();
        (is_function && !is_inside && facts.symbol(row.owner).parent == Some(edge.from.symbol)).then_some(row.owner)
    }

    /// Whether an instance of a class is given to code outside, as itself or as one of a class
    /// above it.
    fn is_handed_out(&self, class: SymbolRef) -> bool {
        let (mut seen, mut stack) = (BTreeSet::from([class]), vec![class]);
        while let Some(at) = stack.pop() {
            if self.graph.handed_out.binary_search(&at).is_ok() {
                return true;
            }
            let above = self.graph.edges_from(at).iter().filter(|e| e.kind == EdgeKind::Extends).map(|e| e.to);
            stack.extend(above.filter(|to| seen.insert(*to)));
        }
        false
    }

    /// Whoever writes a field, by its own name or by the fields that it shadows.
    fn push_writers(&self, field: SymbolRef, out: &mut Vec<Step>) {
        let facts = self.view.facts(field.file);
        let symbol = facts.symbol(field.symbol);
        let name = facts.name(symbol.name);
        let mut fields = vec![field];
        if let Some(parent) = symbol.parent {
            let mut above = Vec::new();
            self.fields_above(SymbolRef { symbol: parent, ..field }, name, &mut above);
            fields.extend(above.iter().filter_map(|step| match self.space.node(step.to) {
                Node::Symbol(at) => Some(at),
                Node::Block(..) => None,
            }));
        }
        for edge in fields.into_iter().flat_map(|at| self.graph.edges_to(at)) {
            let user = self.view.facts(edge.from.file);
            if edge.layer <= self.follow.layer && access::writes(user, edge.from.symbol, edge.line, name) {
                self.push_user(edge, name, out);
            }
        }
        if self.follow.may_reach {
            self.maybe_written_by(name, facts, out);
        }
    }

    /// Whether code outside may call a member of a class: a base that is not in the repository,
    /// of the class or of one above, may.
    pub(super) fn is_called_outside(&self, class: SymbolRef, member: &str) -> bool {
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

    /// What may run a decorated definition without naming it: a decorator may keep what it
    /// decorates. One of the repository is looked at; one from outside is taken to, for what it is
    /// found on, or, where it is a plain function of Python, under the definition's own name.
    pub(super) fn handed_to(&self, at: SymbolRef, owner: SymbolRef) -> BTreeSet<SymbolRef> {
        let facts = self.view.facts(at.file);
        let mut out = BTreeSet::new();
        for row in handing::strange_decorators(facts, at.symbol) {
            let mut found = self
                .graph
                .edges_from(at)
                .iter()
                .filter(|e| e.line == row.line && e.kind == EdgeKind::Calls && e.layer == Layer::Proved)
                .filter(|e| !self.is_argument(e, facts, row) && !self.is_outside_value(e.to))
                .peekable();
            let is_outside = found.peek().is_none();
            let mut keeper = Keeper::Itself;
            for edge in found {
                let to = self.view.facts(edge.to.file);
                let n_calls = handing::decorator_calls(facts, at.symbol, row.line);
                let is_function = to.symbol(edge.to.symbol).kind.is_function();
                if is_function && !handing::keeps_argument(to, edge.to.symbol, n_calls) {
                    continue;
                }
                let is_own = is_function && handing::keeps_in_self(to, edge.to.symbol, n_calls);
                keeper = keeper.max(if is_own { Keeper::Receiver } else { Keeper::Unknown });
            }
            if is_outside {
                keeper = match self.register_of(at, row.line) {
                    Some(_) => Keeper::Receiver,
                    None if is_python(facts)
                        && !facts.symbol(owner.symbol).kind.is_class()
                        && !handing::registers(facts, row) =>
                    {
                        // A test is registered with its runner, which runs it as that.
                        let is_known = outside::only_wraps(facts, row) || self.is_wrapping_variable(at, row);
                        if !self.is_test(at) && !is_known {
                            self.note(Guess::OutsideDecorator, at, [self.space.symbol(owner)]);
                        }
                        Keeper::Itself
                    }
                    None => Keeper::Unknown,
                };
            }
            let register = self.register_of(at, row.line).filter(|_| owner.symbol.index() == 0);
            match (keeper, register) {
                (Keeper::Itself, _) => {}
                (Keeper::Receiver, Some(register)) => {
                    // What a function of the repository does with it was looked at.
                    if is_outside {
                        self.note(Guess::KeptValue, at, [self.space.symbol(owner)]);
                    }
                    out.insert(register);
                }
                (Keeper::Receiver, None) | (Keeper::Unknown, _) => {
                    out.insert(owner);
                }
            }
        }
        out
    }

    /// Whether a call on a decorator's line is one of its arguments (`type=Kind()`), not itself.
    fn is_argument(&self, edge: &Edge, facts: &FileFacts, decorator: &Decorator) -> bool {
        let to = self.view.facts(edge.to.file);
        let row = to.symbol(edge.to.symbol);
        let class = row.parent.filter(|_| is_constructor(to, edge.to.symbol));
        let name = to.name(to.symbol(class.unwrap_or(edge.to.symbol)).name);
        let is_call = |kind: RefKind| matches!(kind, RefKind::Call | RefKind::New);
        name != last_name(facts, decorator.expr)
            && code::refs_on(facts, edge.line)
                .any(|row| is_call(row.kind) && row.expr != decorator.expr && last_name(facts, row.expr) == name)
    }

    /// Whether a symbol is a variable that holds what code outside gave: nothing of the repository
    /// is called where it is made.
    fn is_outside_value(&self, at: SymbolRef) -> bool {
        let facts = self.view.facts(at.file);
        let symbol = facts.symbol(at.symbol);
        let module = SymbolRef { symbol: SymbolId::new(0), ..at };
        symbol.kind == SymbolKind::Variable
            && symbol.parent == Some(module.symbol)
            && code::initializer_runs(facts, at.symbol)
            && ![at, module].into_iter().flat_map(|from| self.graph.edges_from(from)).any(|e| {
                matches!(e.kind, EdgeKind::Calls | EdgeKind::References)
                    && (symbol.start_line..=symbol.end_line).contains(&e.line)
                    && (e.kind == EdgeKind::Calls || self.view.symbol(e.to).kind.is_function())
            })
    }

    /// The variable of the repository whose method decorates on a line: `@app.route("/")`.
    pub(super) fn register_of(&self, at: SymbolRef, line: u32) -> Option<SymbolRef> {
        let facts = self.view.facts(at.file);
        let row = decorators(facts, at.symbol).find(|row| row.line == line)?;
        let root = handing::receiver_of(facts, row.expr)?;
        let is_it = |to: SymbolRef| {
            let other = self.view.facts(to.file);
            let symbol = other.symbol(to.symbol);
            symbol.kind == SymbolKind::Variable && other.name(symbol.name) == root
        };
        self.graph
            .edges_from(at)
            .iter()
            .chain(self.graph.edges_from(SymbolRef { symbol: SymbolId::new(0), ..at }))
            .find(|e| e.line == line && e.kind == EdgeKind::References && e.layer == Layer::Proved && is_it(e.to))
            .map(|e| e.to)
    }

    /// What it is part of, where it runs without being named.
    pub(super) fn belongs_to(&self, at: SymbolRef, (seed, given): (Option<bool>, Option<u32>), out: &mut Vec<Step>) {
        let (is_seed, is_contract) = (seed.is_some(), seed == Some(true));
        let facts = self.view.facts(at.file);
        let symbol = facts.symbol(at.symbol);
        // The functions behind one attribute run each for its own use.
        let is_apart = !is_contract && access::is_accessor(facts, at.symbol);
        for other in self.siblings.get(&at).into_iter().flatten() {
            if !(is_apart && access::is_accessor(facts, other.symbol)) {
                self.push(*other, Why::Sibling, 9_000, 0, out);
            }
        }
        let Some(parent) = symbol.parent else { return };
        let owner = SymbolRef { file: at.file, symbol: parent };
        let module = SymbolRef { file: at.file, symbol: SymbolId::new(0) };
        let parent_kind = facts.symbol(parent).kind;
        for keeper in self.handed_to(at, owner) {
            self.push(keeper, Why::Registers, MEMBER, symbol.start_line, out);
        }
        if parent_kind.is_function() && handing::is_put_into(facts, at.symbol) {
            self.push(owner, Why::Registers, MEMBER, symbol.start_line, out);
        }
        if parent_kind.is_class() {
            // A field is reached as a holder; only its own change is one of what outside code reads.
            let is_read = is_seed || !matches!(symbol.kind, SymbolKind::Field | SymbolKind::EnumMember);
            let outside = code::Outside {
                by_base: is_read && self.is_called_outside(owner, facts.name(symbol.name)),
                // Code outside reads and calls what it is given; it writes nothing there, and
                // does not start it.
                by_argument: !access::is_setter(facts, at.symbol)
                    && !matches!(facts.name(symbol.name), "run" | "main")
                    && self.is_handed_out(owner),
            };
            for class in self.made_by(owner, facts.name(symbol.name)) {
                let other = self.view.facts(class.file);
                let to = SymbolRef { symbol: code::runner_of(other, class.symbol), ..class };
                self.push(to, Why::Member, MEMBER, other.symbol(class.symbol).start_line, out);
            }
            match code::member_use(facts, at.symbol, outside) {
                code::MemberUse::Named => {}
                code::MemberUse::WithClass => self.with_class(owner, (Some(at.symbol), given), out),
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
        } else if matches!(parent_kind, SymbolKind::Variable | SymbolKind::Field) && !is_python(facts) {
            self.push_whole(owner, out);
        }
    }

    /// Whoever uses an object literal that has a name as a whole: by a computed key, as an argument.
    fn push_whole(&self, object: SymbolRef, out: &mut Vec<Step>) {
        let facts = self.view.facts(object.file);
        let name = facts.name(facts.symbol(object.symbol).name);
        for edge in self.graph.edges_to(object).filter(|e| e.kind == EdgeKind::References) {
            let user = self.view.facts(edge.from.file);
            let is_named = code::refs_on(user, edge.line).any(|row| last_name(user, row.expr) == name);
            let is_whole = !is_named || handing::is_put_to_use(user, edge.from.symbol, edge.line, name);
            if edge.layer <= self.follow.layer && is_whole {
                self.push_user(edge, name, out);
            }
        }
    }

    /// The Python classes whose making runs a method of `owner`: those that it is the metaclass of,
    /// with what is below them, and those that hold an instance of it which is told its name.
    fn made_by(&self, owner: SymbolRef, method: &str) -> BTreeSet<SymbolRef> {
        let mut made = BTreeSet::new();
        if !matches!(method, "__new__" | "__init__" | "__prepare__" | "__set_name__") {
            return made;
        }
        let mut owners = self.subclasses(owner);
        owners.insert(owner);
        for edge in owners.iter().flat_map(|class| self.edges_to_class(*class)) {
            let facts = self.view.facts(edge.from.file);
            if !is_python(facts) || !facts.symbol(edge.from.symbol).kind.is_class() {
                continue;
            }
            if method == "__set_name__" {
                if edge.kind == EdgeKind::Calls {
                    made.insert(edge.from);
                }
                continue;
            }
            let start = facts.heritage.partition_point(|row| row.owner < edge.from.symbol);
            let own = facts.heritage[start..].iter().take_while(|row| row.owner == edge.from.symbol);
            // The bases beside it on the line are extended, and a metaclass is named.
            let is_meta = edge.kind == EdgeKind::References
                && own.into_iter().any(|row| row.kind == HeritageKind::Metaclass && row.line == edge.line);
            if is_meta {
                made.extend(self.subclasses(edge.from));
                made.insert(edge.from);
            }
        }
        made
    }

    /// The edges to a class or to its own constructor.
    fn edges_to_class(&self, class: SymbolRef) -> impl Iterator<Item = &Edge> {
        let facts = self.view.facts(class.file);
        let constructors = members(facts, class.symbol).filter(|member| is_constructor(facts, *member));
        let targets: Vec<SymbolRef> = constructors.map(|symbol| SymbolRef { symbol, ..class }).chain([class]).collect();
        targets.into_iter().flat_map(|to| self.graph.edges_to(to))
    }

    /// The classes below this one, at any depth.
    pub(super) fn subclasses(&self, class: SymbolRef) -> BTreeSet<SymbolRef> {
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
}
