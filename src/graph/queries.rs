//! The closed set of named queries, and how one is answered: memo, cycles, depth, records.
//!
//! An answer never depends on who asked first. What was computed without meeting a cycle (or
//! only its own) is a pure function of the view and is shared by all files; what hangs on a
//! longer cycle is kept within the link of one file, which is sequential; what the depth bound
//! cut is not kept at all. So equal views give equal answers on any number of threads.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::{Arc, RwLock};

use foldhash::fast::RandomState;
use rayon::prelude::*;

use crate::facts::model::{ExprId, ScopeId};
use crate::graph::hashing::HashMap;
use crate::graph::memo::{Expressions, Memo};
use crate::graph::modules::Modules;
use crate::graph::names::{Names, Text};
use crate::graph::scope::Place;
use crate::graph::solve;
use crate::graph::value::Set;
use crate::view::{FileIdx, SymbolRef};

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
}

/// What a name denotes, before evaluation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Denoted {
    Symbol(SymbolRef),
    Module(FileIdx),
    Namespace(Arc<str>),
    External(Arc<str>),
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
    Class(SymbolRef, Arc<[Set]>),
    /// An ancestor from outside.
    External(Arc<str>, Arc<[Set]>),
    /// An ancestor that could not be found out.
    Unknown,
}

/// The answer of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Values(Set),
    Denoted(Arc<[Denoted]>),
    Bases(Arc<[Base]>),
}

impl Query {
    /// The answer that knows nothing, from which cycles start.
    fn unknown(self) -> Answer {
        match self {
            Query::Export(..) | Query::Global(..) | Query::Import(..) => Answer::Denoted(Arc::from([])),
            Query::Bases(_) | Query::Mro(_) => Answer::Bases(Arc::from([])),
            Query::Symbol(_)
            | Query::Binding(..)
            | Query::Param(..)
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

#[derive(Clone, Debug)]
struct Known {
    answer: Answer,
    /// The longest chain of queries below this one.
    height: u32,
}

const N_SHARDS: usize = 64;

/// What all files share: names, modules, and the answers that hang on no cycle.
pub struct Shared<'v> {
    pub names: Names<'v>,
    pub modules: Modules,
    memo: Vec<RwLock<HashMap<Query, Known>>>,
    hasher: RandomState,
}

impl<'v> Shared<'v> {
    /// Wraps the tables of a view.
    pub fn new(names: Names<'v>, modules: Modules) -> Self {
        let memo = (0..N_SHARDS).map(|_| RwLock::default()).collect();
        Shared { names, modules, memo, hasher: RandomState::default() }
    }

    /// Drops everything, on all threads: answers are many and small.
    pub fn discard(self) {
        let Shared { names, modules, memo, .. } = self;
        rayon::join(|| drop((names, modules)), || memo.into_par_iter().for_each(drop));
    }

    fn shard(&self, query: &Query) -> &RwLock<HashMap<Query, Known>> {
        &self.memo[self.hasher.hash_one(query) as usize % N_SHARDS]
    }

    fn get(&self, query: &Query) -> Option<Known> {
        let shard = self.shard(query).read().unwrap_or_else(std::sync::PoisonError::into_inner);
        shard.get(query).cloned()
    }

    fn put(&self, query: Query, known: Known) {
        let mut shard = self.shard(&query).write().unwrap_or_else(std::sync::PoisonError::into_inner);
        shard.insert(query, known);
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
    /// The queries that the file itself asked, where they are recorded.
    asked: Option<BTreeMap<Query, Answer>>,
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
            asked: None,
            memo,
            fuel: FUEL,
        }
    }

    /// Starts the evaluation of a file whose queries are recorded.
    pub fn recording(shared: &'s Shared<'v>) -> Self {
        Session { asked: Some(BTreeMap::new()), ..Session::new(shared) }
    }

    /// The queries asked from outside of any query since the start with their answers; `None`
    /// when they were not recorded.
    pub fn take_asked(&mut self) -> Option<BTreeMap<Query, Answer>> {
        self.asked.take()
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

    /// Asks for values.
    pub fn values(&mut self, query: Query) -> Set {
        match self.ask(query) {
            Answer::Values(set) => set,
            Answer::Denoted(_) | Answer::Bases(_) => Set::unknown(),
        }
    }

    /// Asks what a name denotes.
    pub fn denoted(&mut self, query: Query) -> Arc<[Denoted]> {
        match self.ask(query) {
            Answer::Denoted(denoted) => denoted,
            Answer::Values(_) | Answer::Bases(_) => Arc::from([]),
        }
    }

    /// Asks for bases.
    pub fn bases(&mut self, query: Query) -> Arc<[Base]> {
        match self.ask(query) {
            Answer::Bases(bases) => bases,
            Answer::Values(_) | Answer::Denoted(_) => Arc::from([]),
        }
    }

    /// Asks a query.
    pub fn ask(&mut self, query: Query) -> Answer {
        let answer = self.answer(query);
        if let (true, Some(asked)) = (self.frames.is_empty(), &mut self.asked) {
            asked.entry(query).or_insert_with(|| answer.clone());
        }
        answer
    }

    fn answer(&mut self, query: Query) -> Answer {
        let depth = self.frames.len() as u32;
        if let Some(known) = self.shared.get(&query) {
            if let Some(frame) = self.frames.last_mut() {
                frame.height = frame.height.max(known.height + 1);
                frame.cut |= depth + known.height > MAX_OPEN;
            }
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
        let (mut answer, mut frame) = self.run(query, at);
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
                self.shared.put(query, Known { answer: answer.clone(), height: frame.height });
            } else if alone {
                self.local.insert(query, answer.clone());
            } else {
                frame.local = true;
            }
        } else {
            self.table.insert(query, answer.clone());
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
        });
        let answer = stacker::maybe_grow(192 * 1024, 4 * 1024 * 1024, || solve::solve(self, query));
        let frame = self.frames.pop().expect("because this frame was pushed above and each run pops its own");
        (answer, frame)
    }

    /// Solves the cycle of the queries on the trail from `at` on: from unknown, in rounds over
    /// the sorted queries, until nothing changes or the rounds are spent. A query that joins
    /// the cycle meanwhile starts it anew. When a round meets a query that was open before, the
    /// frame's `low` says so, and the cycle is left to that one.
    fn solve(&mut self, head: Query, at: usize, mut frame: Frame) -> (Answer, Frame) {
        for _restart in 0..MAX_ROUNDS {
            let mut members: Vec<Query> = self.trail[at..].to_vec();
            members.sort_unstable();
            for member in &members {
                self.table.insert(*member, member.unknown());
            }
            for _round in 0..MAX_ROUNDS {
                let mut changed = false;
                for member in &members {
                    let (answer, ran) = self.run(*member, usize::MAX);
                    frame.low = frame.low.min(ran.low);
                    frame.local |= ran.local;
                    frame.cut |= ran.cut;
                    frame.height = frame.height.max(ran.height);
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
