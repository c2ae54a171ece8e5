//! The closed set of named queries, and how one is answered: memo, cycles, depth, records.
//!
//! An answer never depends on who asked first. What was computed without meeting a cycle (or
//! only its own) is a pure function of the view and is shared by all files; what hangs on a
//! longer cycle is kept within the link of one file, which is sequential; what the depth bound
//! cut is not kept at all. So equal views give equal answers on any number of threads.

use std::sync::Arc;

use crate::base::reads;
use crate::facts::model::{ExprId, ScopeId};
use crate::graph::answers::{Answers, Inputs, Known};
use crate::graph::few::Few;
use crate::graph::hashing::HashMap;
use crate::graph::members::Member;
use crate::graph::memo::{Expressions, Memo};
use crate::graph::modules::Modules;
use crate::graph::names::{NameTables, Names, Text};
use crate::graph::scope::Place;
use crate::graph::solve;
use crate::graph::value::{Args, Name, Set};
use crate::view::{FileIdx, SymbolRef, View};

/// A query. Ordered, so that cycles are solved in sorted rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Query {
    /// What a name of a module's namespace denotes, for importers.
    Export(FileIdx, Text),
    /// What a name means that no scope of an ECMAScript file declares: ambient declarations.
    Global(FileIdx, Text),
    /// What an import row denotes.
    Import(FileIdx, u32),
    /// What a symbol's name evaluates to.
    Symbol(SymbolRef),
    /// What a binding row assigns.
    Binding(FileIdx, u32),
    /// What a parameter row holds.
    Param(FileIdx, u32),
    /// What the annotation of a parameter row allows, for who calls an ECMAScript function.
    Declared(FileIdx, u32),
    /// The same with the function's type parameters as they are by default.
    Filled(FileIdx, u32),
    /// What operand `position` of a call is expected to be by the parameter that it is given for.
    Expected(FileIdx, ExprId, u32),
    /// What a call of a function gives, its type parameters left open.
    Returns(SymbolRef),
    /// What a call of a lambda's scope gives.
    Lambda(FileIdx, ScopeId),
    /// The type that an alias stands for.
    Alias(SymbolRef),
    /// The direct bases of a class.
    Bases(SymbolRef),
    /// The classes that members are looked up in, in order.
    Mro(SymbolRef),
    /// What `this` is inside of a function.
    This(SymbolRef),
    /// What a class has under a name, from a position of its MRO on.
    Member(SymbolRef, Text, u32),
    /// What the parameters of a Java method are declared to take; what the type parameters of an
    /// ECMAScript function or type are by default.
    Types(SymbolRef),
}

/// What a name denotes, before evaluation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Denoted {
    Symbol(SymbolRef),
    Module(FileIdx),
    Namespace(Name),
    External(Name),
    /// A binding row without a symbol.
    Binding(FileIdx, u32),
    /// An exported expression without a name: an export row.
    Export(FileIdx, u32),
    /// A parameter row.
    Param(FileIdx, u32),
    /// A type parameter: its owner and position among the owner's.
    TypeParam(SymbolRef, u32),
}

/// A class in an MRO with its type arguments in terms of the class asked about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    Class(SymbolRef, Args),
    /// An ancestor from outside.
    External(Name, Args),
    /// An ancestor that could not be found out.
    Unknown,
}

/// The answer of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Values(Set),
    Denoted(Few<Denoted>),
    Bases(Arc<[Base]>),
    Types(Args),
    /// Larger than the others: not in each answer's room.
    Member(Arc<Member>),
}

/// An answer about bases: lent by the answers of all files, or shared with them.
pub enum Bases<'s> {
    Lent(&'s [Base]),
    Shared(Arc<[Base]>),
}

impl std::ops::Deref for Bases<'_> {
    type Target = [Base];

    fn deref(&self) -> &[Base] {
        match self {
            Bases::Lent(bases) => bases,
            Bases::Shared(bases) => bases,
        }
    }
}

impl Query {
    /// The file that it is about.
    pub fn file(self) -> FileIdx {
        match self {
            Query::Export(file, _)
            | Query::Global(file, _)
            | Query::Import(file, _)
            | Query::Binding(file, _)
            | Query::Param(file, _)
            | Query::Declared(file, _)
            | Query::Filled(file, _)
            | Query::Expected(file, ..)
            | Query::Lambda(file, _) => file,
            Query::Symbol(at)
            | Query::Returns(at)
            | Query::Alias(at)
            | Query::Bases(at)
            | Query::Mro(at)
            | Query::This(at)
            | Query::Member(at, ..)
            | Query::Types(at) => at.file,
        }
    }

    /// The answer that knows nothing, from which cycles start.
    fn unknown(self) -> Answer {
        match self {
            Query::Export(..) | Query::Global(..) | Query::Import(..) => Answer::Denoted(Few::None),
            Query::Bases(_) | Query::Mro(_) => Answer::Bases(Arc::from([])),
            Query::Types(_) => Answer::Types(Args::default()),
            Query::Member(..) => Answer::Member(Arc::new(Member::unknown())),
            Query::Symbol(_)
            | Query::Binding(..)
            | Query::Param(..)
            | Query::Declared(..)
            | Query::Filled(..)
            | Query::Expected(..)
            | Query::Returns(_)
            | Query::Lambda(..)
            | Query::Alias(_)
            | Query::This(_) => Answer::Values(Set::never()),
        }
    }
}

/// How many queries may be open at once; a chain beyond it is unknown.
const MAX_OPEN: u32 = 200;
/// How many rounds a cycle is solved in.
const MAX_ROUNDS: usize = 6;
/// How many steps of evaluation one query may take by itself.
pub const FUEL: u32 = 4_000;

/// What all files share: names, modules, and the answers that hang on no cycle.
pub struct Shared<'v> {
    pub names: Names<'v>,
    pub modules: Modules,
    answers: Answers,
}

impl<'v> Shared<'v> {
    /// The tables of a view, made on the threads of the pool around.
    pub fn of(view: &'v View) -> Self {
        let (names, (modules, answers)) =
            rayon::join(|| Names::new(view), || rayon::join(|| Modules::new(view), || Answers::new(view)));
        Shared::with(names, modules, answers)
    }

    /// Wraps the tables of a view.
    pub fn new(names: Names<'v>, modules: Modules) -> Self {
        let answers = Answers::new(names.view);
        Shared::with(names, modules, answers)
    }

    /// Wraps the tables of a view with answers that hold for it.
    pub fn with(names: Names<'v>, modules: Modules, answers: Answers) -> Self {
        Shared { names, modules, answers }
    }

    /// The tables and answers, for a view to come.
    pub fn into_parts(self) -> (NameTables, Modules, Answers) {
        (self.names.into_tables(), self.modules, self.answers)
    }

    /// The answers that hang on no cycle.
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// Drops everything, on all threads: answers are many and small.
    pub fn discard(self) {
        let Shared { names, modules, answers } = self;
        rayon::join(|| drop((names, modules)), || answers.discard());
    }
}

/// An open query.
struct Frame {
    query: Query,
    /// The earliest query on the trail that its evaluation met.
    low: usize,
    /// Whether it met itself.
    own_cycle: bool,
    /// Whether it used what only this file knows.
    local: bool,
    /// Whether the depth bound cut it.
    cut: bool,
    height: u32,
    fuel: u32,
    evaluated: Expressions,
    inputs: Inputs,
}

/// The evaluation of one file.
pub struct Session<'s, 'v> {
    pub shared: &'s Shared<'v>,
    local: HashMap<Query, Answer>,
    frames: Vec<Frame>,
    /// Queries that are open or wait for their cycle's head, by position on the trail.
    on_trail: HashMap<Query, usize>,
    trail: Vec<Query>,
    table: HashMap<Query, Answer>,
    /// What was asked and looked at outside of any query, where that is tracked.
    inputs: Inputs,
    memo: Memo,
    fuel: u32,
}

impl<'s, 'v> Session<'s, 'v> {
    /// Starts the evaluation of a file.
    pub fn new(shared: &'s Shared<'v>) -> Self {
        Session::with_memo(shared, Memo::default())
    }

    /// Starts the evaluation of a file with the tables of another, emptied.
    pub fn with_memo(shared: &'s Shared<'v>, mut memo: Memo) -> Self {
        memo.clear();
        Session {
            shared,
            local: HashMap::default(),
            frames: Vec::new(),
            on_trail: HashMap::default(),
            trail: Vec::new(),
            table: HashMap::default(),
            inputs: Inputs::default(),
            memo,
            fuel: FUEL,
        }
    }

    /// What was asked outside of any query since the start, and what parts that are not shared
    /// were computed from.
    pub fn take_inputs(&mut self) -> Inputs {
        std::mem::take(&mut self.inputs).settle()
    }

    /// The tables, for the next file.
    pub fn into_memo(self) -> Memo {
        self.memo
    }

    /// What an expression was found to be by the open query, or outside of any.
    ///
    /// Within one run of a query nothing that it may use changes, and outside of any query
    /// answers are final, so that a chain's links and a call's arguments are evaluated once.
    pub fn evaluated(&self, expr: ExprId, place: Place) -> Option<Set> {
        let known = self.frames.last().map_or(&self.memo.expressions, |frame| &frame.evaluated);
        known.get(&(place, expr)).cloned()
    }

    /// What was found out outside of any query; `None` within one, or when fuel has run out.
    pub fn memo(&mut self) -> Option<&mut Memo> {
        (self.frames.is_empty() && self.fuel > 0).then_some(&mut self.memo)
    }

    /// Keeps what an expression was found to be, unless fuel cut it.
    pub fn keep_evaluated(&mut self, expr: ExprId, place: Place, set: &Set) {
        let (known, fuel) = match self.frames.last_mut() {
            Some(frame) => (&mut frame.evaluated, frame.fuel),
            None => (&mut self.memo.expressions, self.fuel),
        };
        if fuel > 0 {
            known.insert((place, expr), set.clone());
        }
    }

    /// Refills the fuel of what is evaluated outside of any query (one reference).
    pub fn refuel(&mut self) {
        self.fuel = FUEL;
    }

    /// Takes one step; `false` when the open query has spent its fuel.
    pub fn step(&mut self) -> bool {
        let fuel = match self.frames.last_mut() {
            Some(frame) => &mut frame.fuel,
            None => &mut self.fuel,
        };
        *fuel = fuel.saturating_sub(1);
        *fuel > 0
    }

    /// What is known already, and stays: without a copy.
    fn lent(&mut self, query: &Query) -> Option<&'s Answer> {
        let shared: &'s Shared<'v> = self.shared;
        let known = shared.answers.lent(query)?;
        self.build_on(known.height);
        Some(&known.answer)
    }

    /// Notes that what is computed stands on an answer with chains of queries below it.
    fn build_on(&mut self, height: u32) {
        let depth = self.frames.len() as u32;
        if let Some(frame) = self.frames.last_mut() {
            frame.height = frame.height.max(height + 1);
            frame.cut |= depth + height > MAX_OPEN;
        }
    }

    /// Asks for values.
    pub fn values(&mut self, query: Query) -> Set {
        if let Some(Answer::Values(set)) = self.lent(&query) {
            return set.clone();
        }
        match self.ask(query) {
            Answer::Values(set) => set,
            Answer::Denoted(_) | Answer::Bases(_) | Answer::Types(_) | Answer::Member(_) => Set::unknown(),
        }
    }

    /// Asks what a name denotes.
    pub fn denoted(&mut self, query: Query) -> Few<Denoted> {
        if let Some(Answer::Denoted(denoted)) = self.lent(&query) {
            return denoted.clone();
        }
        match self.ask(query) {
            Answer::Denoted(denoted) => denoted,
            Answer::Values(_) | Answer::Bases(_) | Answer::Types(_) | Answer::Member(_) => Few::None,
        }
    }

    /// Asks for bases.
    pub fn bases(&mut self, query: Query) -> Bases<'s> {
        if let Some(Answer::Bases(bases)) = self.lent(&query) {
            return Bases::Lent(bases);
        }
        match self.ask(query) {
            Answer::Bases(bases) => Bases::Shared(bases),
            Answer::Values(_) | Answer::Denoted(_) | Answer::Types(_) | Answer::Member(_) => Bases::Lent(&[]),
        }
    }

    /// Asks for the types of parameters.
    pub fn types(&mut self, query: Query) -> Args {
        match self.ask(query) {
            Answer::Types(types) => types,
            Answer::Values(_) | Answer::Denoted(_) | Answer::Bases(_) | Answer::Member(_) => Args::default(),
        }
    }

    /// What a class has under a name, from a position of its MRO on; all files ask for it alike.
    pub fn member_along_mro(&mut self, class: SymbolRef, text: Text, from: usize) -> Member {
        // Within a query it is a part of that one; and where nobody will ask what it was found by,
        // looking costs less than sharing.
        if !self.frames.is_empty() || !self.shared.answers.is_tracked() {
            return self.find_along_mro(class, text, from);
        }
        match self.ask(Query::Member(class, text, from as u32)) {
            Answer::Member(member) => Arc::unwrap_or_clone(member),
            Answer::Values(_) | Answer::Denoted(_) | Answer::Bases(_) | Answer::Types(_) => Member::unknown(),
        }
    }

    /// The inputs of what is being computed.
    fn inputs(&mut self) -> &mut Inputs {
        match self.frames.last_mut() {
            Some(frame) => &mut frame.inputs,
            None => &mut self.inputs,
        }
    }

    /// Asks a query.
    pub fn ask(&mut self, query: Query) -> Answer {
        let depth = self.frames.len() as u32;
        if let Some(known) = self.shared.answers.get(&query) {
            if self.shared.answers.is_tracked() {
                self.inputs().asked.push(query);
            }
            self.build_on(known.height);
            return known.answer;
        }
        if let Some(answer) = self.local.get(&query) {
            if let Some(frame) = self.frames.last_mut() {
                frame.local = true;
            }
            return answer.clone();
        }
        if let Some(at) = self.on_trail.get(&query).copied() {
            if let Some(frame) = self.frames.last_mut() {
                frame.low = frame.low.min(at);
                frame.own_cycle |= frame.query == query;
            }
            return self.table.get(&query).cloned().unwrap_or_else(|| query.unknown());
        }
        if depth >= MAX_OPEN {
            if let Some(frame) = self.frames.last_mut() {
                frame.cut = true;
            }
            return query.unknown();
        }
        self.evaluate(query)
    }

    fn evaluate(&mut self, query: Query) -> Answer {
        let at = self.trail.len();
        self.trail.push(query);
        self.on_trail.insert(query, at);
        let is_tracked = self.shared.answers.is_tracked();
        let (mut answer, mut frame) = self.run(query, at);
        let mut is_shared = false;
        if frame.low == at && (self.trail.len() > at + 1 || frame.own_cycle) {
            (answer, frame) = self.solve(query, at, frame);
        }
        if frame.low == at {
            let alone = self.trail.len() == at + 1;
            for member in self.trail.split_off(at) {
                self.on_trail.remove(&member);
                let value = self.table.remove(&member);
                if let (Some(value), false, false) = (value, alone, frame.cut) {
                    self.local.insert(member, value);
                }
            }
            if frame.cut {
                if self.frames.is_empty() {
                    answer = query.unknown();
                }
            } else if alone && !frame.local {
                is_shared = true;
                let inputs = is_tracked.then(|| std::mem::take(&mut frame.inputs).settle());
                self.shared.answers.put(query, Known { answer: answer.clone(), height: frame.height }, inputs);
            } else if alone {
                self.local.insert(query, answer.clone());
            } else {
                frame.local = true;
            }
        } else {
            self.table.insert(query, answer.clone());
        }
        match is_shared {
            _ if !is_tracked => {}
            true => self.inputs().asked.push(query),
            false => self.inputs().take(&mut frame.inputs, query.file()),
        }
        if let Some(outer) = self.frames.last_mut() {
            if frame.low < at {
                outer.low = outer.low.min(frame.low);
            }
            outer.local |= frame.local;
            outer.cut |= frame.cut;
            outer.height = outer.height.max(frame.height + 1);
        }
        answer
    }

    /// Runs a query's own evaluation in a new frame.
    fn run(&mut self, query: Query, low: usize) -> (Answer, Frame) {
        let evaluated = Expressions::default();
        self.frames.push(Frame {
            query,
            low,
            own_cycle: false,
            local: false,
            cut: false,
            height: 0,
            fuel: FUEL,
            evaluated,
            inputs: Inputs::default(),
        });
        let is_tracked = self.shared.answers.is_tracked();
        let mut solve = || stacker::maybe_grow(192 * 1024, 4 * 1024 * 1024, || solve::solve(self, query));
        let (answer, mut reads) = if is_tracked { reads::listen(query.file().0, solve) } else { (solve(), Vec::new()) };
        let mut frame = self.frames.pop().expect("because this frame was pushed above and each run pops its own");
        frame.inputs.reads.append(&mut reads);
        (answer, frame)
    }

    /// The order of queries in a cycle: texts by what they are, not by their numbers.
    fn order(&self, one: &Query, other: &Query) -> std::cmp::Ordering {
        let names = &self.shared.names;
        match (one, other) {
            (Query::Export(a, one), Query::Export(b, other)) | (Query::Global(a, one), Query::Global(b, other)) => {
                a.cmp(b).then_with(|| names.str(*one).cmp(names.str(*other)))
            }
            _ => one.cmp(other),
        }
    }

    /// Solves the cycle of the queries on the trail from `at` on: from unknown, in rounds over
    /// the sorted queries, until nothing changes or the rounds are spent. A query that joins
    /// the cycle meanwhile starts it anew. When a round meets a query that was open before, the
    /// frame's `low` says so, and the cycle is left to that one.
    fn solve(&mut self, head: Query, at: usize, mut frame: Frame) -> (Answer, Frame) {
        for _restart in 0..MAX_ROUNDS {
            let mut members: Vec<Query> = self.trail[at..].to_vec();
            members.sort_by(|a, b| self.order(a, b));
            for member in &members {
                self.table.insert(*member, member.unknown());
            }
            for _round in 0..MAX_ROUNDS {
                let mut changed = false;
                for member in &members {
                    let (answer, mut ran) = self.run(*member, usize::MAX);
                    frame.low = frame.low.min(ran.low);
                    frame.local |= ran.local;
                    frame.cut |= ran.cut;
                    frame.height = frame.height.max(ran.height);
                    if self.shared.answers.is_tracked() {
                        frame.inputs.take(&mut ran.inputs, member.file());
                    }
                    changed |= self.table.get(member) != Some(&answer);
                    self.table.insert(*member, answer);
                }
                if !changed || self.trail.len() - at > members.len() {
                    break;
                }
            }
            if self.trail.len() - at == members.len() {
                break;
            }
        }
        let answer = self.table.get(&head).cloned().unwrap_or_else(|| head.unknown());
        frame.own_cycle = true;
        (answer, frame)
    }
}
