//! Answers that hang on no cycle, shared by all files; and what each was computed from, for
//! finding out which still hold when files change.

use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError, RwLock};

use foldhash::fast::RandomState;
use rayon::prelude::*;

use crate::base::reads::{self, Read};
use crate::graph::hashing::{HashMap, HashSet};
use crate::graph::queries::{Answer, Query};
use crate::graph::renumber::Renumber;
use crate::graph::slots::Slots;
use crate::view::{FileIdx, View};

/// An answer that hangs on no cycle.
#[derive(Clone, Debug)]
pub struct Known {
    pub answer: Answer,
    /// The longest chain of queries below this one.
    pub height: u32,
}

/// What something was computed from, beside the file that it is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    /// Queries whose answers are shared, in the order in which they were asked.
    pub asked: Vec<Query>,
    /// Files that were looked at.
    pub reads: Vec<Read>,
}

impl Inputs {
    /// Takes over what a part was computed from, which is about `subject`.
    pub fn take(&mut self, part: &mut Inputs, subject: FileIdx) {
        self.asked.append(&mut part.asked);
        self.reads.append(&mut part.reads);
        self.reads.push(Read::whole(subject.0));
    }

    /// Each once, in small room.
    pub fn settle(mut self) -> Self {
        let mut seen = HashSet::default();
        self.asked.retain(|query| seen.insert(*query));
        self.asked.shrink_to_fit();
        reads::settle(&mut self.reads);
        self.reads.shrink_to_fit();
        self
    }
}

const N_SHARDS: usize = 64;

/// Shared answers, and what each was computed from where that is tracked.
#[derive(Default)]
pub struct Answers {
    /// Those about rows of a view that is linked once.
    slots: Option<Slots>,
    shards: Vec<RwLock<Shard>>,
    hasher: RandomState,
    is_tracked: bool,
    /// The queries answered of late, where that is logged.
    log: Mutex<Option<Vec<Query>>>,
}

#[derive(Default)]
struct Shard {
    known: HashMap<Query, Known>,
    inputs: HashMap<Query, Inputs>,
}

impl Answers {
    /// No answer yet, for a view that is linked once.
    pub fn new(view: &View) -> Self {
        Answers { slots: Some(Slots::new(view)), is_tracked: false, ..Answers::tracked() }
    }

    /// No answer yet; what answers are computed from is noted.
    pub fn tracked() -> Self {
        let shards = (0..N_SHARDS).map(|_| RwLock::default()).collect();
        Answers { slots: None, shards, hasher: RandomState::default(), is_tracked: true, log: Mutex::default() }
    }

    fn shard(&self, query: &Query) -> &RwLock<Shard> {
        &self.shards[self.hasher.hash_one(query) as usize % N_SHARDS]
    }

    /// The answer of a query that stays as long as all of them.
    #[inline]
    pub fn lent(&self, query: &Query) -> Option<&Known> {
        self.slots.as_ref()?.of(query)?.get().map(|known| &**known)
    }

    /// The answer of a query.
    pub fn get(&self, query: &Query) -> Option<Known> {
        if let Some(slot) = self.slots.as_ref().and_then(|slots| slots.of(query)) {
            return slot.get().map(|known| Known::clone(known));
        }
        let shard = self.shard(query).read().unwrap_or_else(PoisonError::into_inner);
        shard.known.get(query).cloned()
    }

    /// What an answer was computed from.
    pub fn inputs(&self, query: &Query) -> Option<Inputs> {
        let shard = self.shard(query).read().unwrap_or_else(PoisonError::into_inner);
        shard.inputs.get(query).cloned()
    }

    /// Keeps an answer.
    pub fn put(&self, query: Query, known: Known, inputs: Option<Inputs>) {
        if let Some(slot) = self.slots.as_ref().and_then(|slots| slots.of(&query)) {
            // Who comes second has found the same.
            slot.get_or_init(|| Box::new(known));
            return;
        }
        let mut shard = self.shard(&query).write().unwrap_or_else(PoisonError::into_inner);
        shard.known.insert(query, known);
        if self.is_tracked
            && let Some(log) = &mut *self.log.lock().unwrap_or_else(PoisonError::into_inner)
        {
            log.push(query);
        }
        if let Some(inputs) = inputs {
            shard.inputs.insert(query, inputs);
        }
    }

    /// Takes an answer out with what it was computed from.
    pub fn remove(&self, query: &Query) -> Option<(Known, Inputs)> {
        let mut shard = self.shard(query).write().unwrap_or_else(PoisonError::into_inner);
        let known = shard.known.remove(query)?;
        Some((known, shard.inputs.remove(query).unwrap_or_default()))
    }

    /// The same answers under the numbers of another view; `None` when one names what is gone.
    pub fn renumber(self, renumber: &Renumber) -> Option<Self> {
        let new = Answers::tracked();
        let shards: Vec<Shard> =
            self.shards.into_iter().map(|s| s.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
        let is_whole = shards.into_par_iter().all(|shard| {
            let Shard { known, mut inputs } = shard;
            known.into_iter().all(|(query, known)| {
                let inputs = inputs.remove(&query).map(|inputs| renumber.inputs(inputs));
                match (renumber.query(query), renumber.known(&known)) {
                    (Some(query), Some(known)) => {
                        new.put(query, known, inputs);
                        true
                    }
                    _ => false,
                }
            })
        });
        is_whole.then_some(new)
    }

    /// Logs from now on which queries are answered.
    pub fn log(&self) {
        *self.log.lock().unwrap_or_else(PoisonError::into_inner) = Some(Vec::new());
    }

    /// The queries that were answered since, in no order, some twice.
    pub fn take_log(&self) -> Vec<Query> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }

    /// Shows every query with what it was computed from, in no order.
    pub fn each_inputs(&self, mut show: impl FnMut(Query, &Inputs)) {
        for shard in &self.shards {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            shard.inputs.iter().for_each(|(query, inputs)| show(*query, inputs));
        }
    }

    /// Whether it is noted what answers are computed from.
    pub fn is_tracked(&self) -> bool {
        self.is_tracked
    }

    /// Drops everything, on all threads.
    pub fn discard(self) {
        let Answers { slots, shards, .. } = self;
        if let Some(slots) = slots {
            slots.discard();
        }
        shards.into_par_iter().for_each(drop);
    }
}
