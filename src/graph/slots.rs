//! Slots for answers to queries that are about a row of a file: filled once, read without a lock.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::facts::model::FileFacts;
use crate::facts::table::Id;
use crate::graph::answers::Known;
use crate::graph::queries::Query;
use crate::view::{FileIdx, View};

/// The place of an answer.
type Slot = OnceLock<Box<Known>>;

/// The slots of one kind of query: one for each row of a table, over all files.
struct Kind {
    /// Where each file's slots start.
    starts: Vec<usize>,
    slots: Vec<Slot>,
}

impl Kind {
    fn new(view: &View, rows: impl Fn(&FileFacts) -> usize) -> Self {
        let mut n = 0;
        let starts = view
            .files
            .iter()
            .map(|file| {
                n += rows(&file.facts);
                n - rows(&file.facts)
            })
            .collect();
        let mut slots = Vec::new();
        slots.resize_with(n, Slot::new);
        Kind { starts, slots }
    }

    fn at(&self, file: FileIdx, row: usize) -> Option<&Slot> {
        self.slots.get(self.starts.get(file.0 as usize)? + row)
    }
}

/// The slots of the queries that are asked most.
pub struct Slots {
    symbols: Kind,
    returns: Kind,
    bases: Kind,
    mros: Kind,
    types: Kind,
    imports: Kind,
    bindings: Kind,
    params: Kind,
    declared: Kind,
}

impl Slots {
    /// Empty slots. O(rows).
    pub fn new(view: &View) -> Self {
        let symbols = |facts: &FileFacts| facts.symbols.len();
        Slots {
            symbols: Kind::new(view, symbols),
            returns: Kind::new(view, symbols),
            bases: Kind::new(view, symbols),
            mros: Kind::new(view, symbols),
            types: Kind::new(view, symbols),
            imports: Kind::new(view, |facts| facts.imports.len()),
            bindings: Kind::new(view, |facts| facts.bindings.len()),
            params: Kind::new(view, |facts| facts.params.len()),
            declared: Kind::new(view, |facts| facts.params.len()),
        }
    }

    /// The slot of a query; `None` for those that have none.
    pub fn of(&self, query: &Query) -> Option<&Slot> {
        match *query {
            Query::Symbol(at) => self.symbols.at(at.file, at.symbol.index()),
            Query::Returns(at) => self.returns.at(at.file, at.symbol.index()),
            Query::Bases(at) => self.bases.at(at.file, at.symbol.index()),
            Query::Mro(at) => self.mros.at(at.file, at.symbol.index()),
            Query::Types(at) => self.types.at(at.file, at.symbol.index()),
            Query::Import(file, row) => self.imports.at(file, row as usize),
            Query::Binding(file, row) => self.bindings.at(file, row as usize),
            Query::Param(file, row) => self.params.at(file, row as usize),
            Query::Declared(file, row) => self.declared.at(file, row as usize),
            Query::Export(..)
            | Query::Global(..)
            | Query::Lambda(..)
            | Query::Expected(..)
            | Query::Filled(..)
            | Query::Alias(_)
            | Query::This(_)
            | Query::Member(..) => None,
        }
    }

    /// Drops all answers, on all threads: they are many and small.
    pub fn discard(self) {
        let Slots { symbols, returns, bases, mros, types, imports, bindings, params, declared } = self;
        let kinds = [symbols, returns, bases, mros, types, imports, bindings, params, declared];
        kinds
            .into_par_iter()
            .for_each(|mut kind| kind.slots.par_iter_mut().with_min_len(4_096).for_each(|slot| drop(slot.take())));
    }
}
