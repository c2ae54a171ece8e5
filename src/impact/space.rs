//! The nodes that reach walks over: every symbol and every test block of a view, numbered.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::facts::model::{SymbolId, TestBlockId};
use crate::facts::table::Id;
use crate::view::{FileIdx, SymbolRef, View};

/// A symbol or a test block of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    Symbol(SymbolRef),
    Block(FileIdx, TestBlockId),
}

/// The numbering: per file its symbols, then its test blocks. Ordered as files are.
#[derive(Clone, Debug)]
pub struct Space {
    /// For each file its first number; one more at the end.
    starts: Vec<u32>,
    n_symbols: Vec<u32>,
    given: RefCell<Given>,
}

/// Functions as they are run by those who give an argument that may be left out: numbered behind all
/// else, as they come up.
#[derive(Clone, Debug, Default)]
struct Given {
    /// The function's number and the parameter's position.
    rows: Vec<(u32, u32)>,
    numbers: HashMap<(u32, u32), u32>,
}

impl Space {
    /// Numbers a view. O(files).
    pub fn new(view: &View) -> Self {
        let mut starts = Vec::with_capacity(view.files.len() + 1);
        let mut n_symbols = Vec::with_capacity(view.files.len());
        let mut next = 0u32;
        for idx in view.indices() {
            let figures = view.figures(idx);
            starts.push(next);
            n_symbols.push(figures.n_symbols);
            next += figures.n_symbols + figures.n_blocks;
        }
        starts.push(next);
        Space { starts, n_symbols, given: RefCell::default() }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.starts.last().map_or(0, |n| *n as usize)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of a symbol.
    pub fn symbol(&self, at: SymbolRef) -> u32 {
        self.starts[at.file.0 as usize] + at.symbol.index() as u32
    }

    /// The number of a file's module.
    pub fn module(&self, file: FileIdx) -> u32 {
        self.starts[file.0 as usize]
    }

    /// The number of a test block.
    pub fn block(&self, file: FileIdx, block: TestBlockId) -> u32 {
        self.starts[file.0 as usize] + self.n_symbols[file.0 as usize] + block.index() as u32
    }

    /// The number of a function as run by those who give its argument at a position.
    pub fn when_given(&self, function: SymbolRef, position: u32) -> u32 {
        let key = (self.symbol(function), position);
        let given = &mut *self.given.borrow_mut();
        let next = (self.len() + given.rows.len()) as u32;
        *given.numbers.entry(key).or_insert_with(|| {
            given.rows.push(key);
            next
        })
    }

    /// The position of the argument that those give by whom a function is run under this number.
    pub fn given(&self, number: u32) -> Option<u32> {
        let row = (number as usize).checked_sub(self.len())?;
        self.given.borrow().rows.get(row).map(|(_, position)| *position)
    }

    /// The number of the same symbol or block, whoever runs it.
    pub fn plain(&self, number: u32) -> u32 {
        let row = (number as usize).checked_sub(self.len());
        row.and_then(|row| self.given.borrow().rows.get(row).map(|(function, _)| *function)).unwrap_or(number)
    }

    /// What a number stands for. O(log files).
    pub fn node(&self, number: u32) -> Node {
        let number = self.plain(number);
        let file = self.starts.partition_point(|start| *start <= number) - 1;
        let within = number - self.starts[file];
        let idx = FileIdx(file as u32);
        if within < self.n_symbols[file] {
            Node::Symbol(SymbolRef { file: idx, symbol: SymbolId::new(within as usize) })
        } else {
            Node::Block(idx, TestBlockId::new((within - self.n_symbols[file]) as usize))
        }
    }

    /// The file of a number.
    pub fn file(&self, number: u32) -> FileIdx {
        let number = self.plain(number);
        FileIdx((self.starts.partition_point(|start| *start <= number) - 1) as u32)
    }
}

/// A set of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits(pub Vec<u64>);

impl Bits {
    /// The empty set of numbers below `n`.
    pub fn new(n: usize) -> Self {
        Bits(vec![0; n.div_ceil(64)])
    }

    /// Adds a number; whether it was new.
    pub fn insert(&mut self, at: usize) -> bool {
        let (word, bit) = (&mut self.0[at / 64], 1u64 << (at % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Whether a number is in it.
    pub fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    /// Adds all of `other`; whether anything was new.
    pub fn join(&mut self, other: &Bits) -> bool {
        let mut is_new = false;
        for (word, add) in self.0.iter_mut().zip(&other.0) {
            is_new |= add & !*word != 0;
            *word |= add;
        }
        is_new
    }

    /// Whether the two have a number in common.
    pub fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// What both have.
    pub fn and(&self, other: &Bits) -> Bits {
        Bits(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
}
