//! Which numbered inputs the computation on this thread looks at, for recomputing only what hangs
//! on an input that changed. The doors to the inputs note each look; off unless something listens.

use std::cell::{Cell, RefCell};

/// A look at an input, packed: its number, and how much of it was looked at. Sorted by number, wider
/// looks after narrower ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Read(u64);

/// How much of an input was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extent {
    /// What one of its rows shows.
    Row(u32),
    /// What it has under which names, and nothing that a row shows beside.
    Names,
    /// All that it shows to others.
    Outline,
    /// Anything.
    Whole,
}

/// Rows beyond this one are not told apart: a look at one is at the outline.
const MAX_ROW: u32 = u32::MAX - 3;

impl Read {
    fn new(input: u32, extent: u32) -> Self {
        Read(u64::from(input) << 32 | u64::from(extent))
    }

    /// A look at one row of what an input shows.
    pub fn row(input: u32, row: u32) -> Self {
        if row > MAX_ROW { Read::outline(input) } else { Read::new(input, row) }
    }

    /// A look at what an input has under which names.
    pub fn names(input: u32) -> Self {
        Read::new(input, MAX_ROW + 1)
    }

    /// A look at what an input shows to others.
    pub fn outline(input: u32) -> Self {
        Read::new(input, MAX_ROW + 2)
    }

    /// A look that may have seen anything of an input.
    pub fn whole(input: u32) -> Self {
        Read::new(input, MAX_ROW + 3)
    }

    /// The same look at another input.
    pub fn at(self, input: u32) -> Self {
        Read::new(input, self.0 as u32)
    }

    /// The input's number.
    pub fn input(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// How much was looked at.
    pub fn extent(self) -> Extent {
        match self.0 as u32 {
            row if row <= MAX_ROW => Extent::Row(row),
            names if names == MAX_ROW + 1 => Extent::Names,
            outline if outline == MAX_ROW + 2 => Extent::Outline,
            _ => Extent::Whole,
        }
    }
}

/// Who looks at more rows of an input than this is taken to look at its outline.
const MAX_ROWS: usize = 16;

/// Brings looks in order, each once, those left out that a wider one holds.
pub fn settle(reads: &mut Vec<Read>) {
    reads.sort_unstable();
    reads.dedup();
    let (mut kept, mut start) = (0, 0);
    while start < reads.len() {
        let input = reads[start].input();
        let end = start + reads[start..].partition_point(|read| read.input() == input);
        let widest = reads[end - 1];
        if widest.extent() >= Extent::Outline || end - start > MAX_ROWS {
            reads[kept] = widest.max(Read::outline(input));
            kept += 1;
        } else {
            reads.copy_within(start..end, kept);
            kept += end - start;
        }
        start = end;
    }
    reads.truncate(kept);
}

/// Beyond so many notes doubles are taken out.
const MAX_NOTES: usize = 256;

thread_local! {
    static IS_ON: Cell<bool> = const { Cell::new(false) };
    static NOTES: RefCell<Notes> = const { RefCell::new(Notes { subject: 0, reads: Vec::new(), next_sort: MAX_NOTES }) };
}

struct Notes {
    /// The input that needs no notes.
    subject: u32,
    reads: Vec<Read>,
    next_sort: usize,
}

/// Notes a look, where something listens.
#[inline]
pub fn note(read: Read) {
    if IS_ON.get() {
        keep(read);
    }
}

#[cold]
#[inline(never)]
fn keep(read: Read) {
    NOTES.with_borrow_mut(|notes| notes.add(read));
}

impl Notes {
    fn add(&mut self, read: Read) {
        if read.input() == self.subject || self.reads.last() == Some(&read) {
            return;
        }
        self.reads.push(read);
        if self.reads.len() >= self.next_sort {
            settle(&mut self.reads);
            self.next_sort = (self.reads.len() * 2).max(MAX_NOTES);
        }
    }
}

/// Runs a computation about one input and gives the other inputs that it looked at, sorted and
/// unique. What a computation within it looks at is that one's alone.
pub fn listen<T>(subject: u32, compute: impl FnOnce() -> T) -> (T, Vec<Read>) {
    let fresh = Notes { subject, reads: Vec::new(), next_sort: MAX_NOTES };
    let outer = NOTES.with_borrow_mut(|notes| std::mem::replace(notes, fresh));
    let was_on = IS_ON.replace(true);
    let value = compute();
    IS_ON.set(was_on);
    let mut reads = NOTES.with_borrow_mut(|notes| std::mem::replace(notes, outer)).reads;
    settle(&mut reads);
    (value, reads)
}

#[cfg(test)]
mod tests {
    use super::{Extent, MAX_ROWS, Read, listen, note, settle};

    #[test]
    fn looks_are_noted_for_the_innermost_listener() {
        note(Read::whole(9));
        let ((inner, seen), outer) = listen(1, || {
            note(Read::outline(1));
            note(Read::outline(2));
            let inner = listen(2, || {
                note(Read::outline(1));
                note(Read::whole(2));
            });
            note(Read::whole(3));
            (inner.1, 4)
        });
        assert_eq!((inner, seen), (vec![Read::outline(1)], 4));
        assert_eq!(outer, [Read::outline(2), Read::whole(3)]);
    }
    #[test]
    fn wider_looks_hold_narrower_ones() {
        let settled = |mut reads: Vec<Read>| {
            settle(&mut reads);
            reads
        };
        let mixed = [Read::row(2, 7), Read::names(2), Read::row(1, 5), Read::outline(1), Read::row(2, 7)];
        assert_eq!(settled(mixed.to_vec()), [Read::outline(1), Read::row(2, 7), Read::names(2)]);
        assert_eq!(settled(vec![Read::whole(3), Read::row(3, 0), Read::names(3)]), [Read::whole(3)]);
        let many = (0..=MAX_ROWS as u32).map(|row| Read::row(4, row)).collect();
        assert_eq!(settled(many), [Read::outline(4)]);
        assert_eq!((Read::row(5, 6).at(7), Read::row(5, 6).extent()), (Read::row(7, 6), Extent::Row(6)));
    }
}
