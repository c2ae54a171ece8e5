//! Which numbered inputs the computation on this thread looks at, for recomputing only what hangs
//! on an input that changed. The doors to the inputs note each look; off unless something listens.

use std::cell::{Cell, RefCell};

/// A look at an input, packed: its number, and whether more than its outline was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Read(u32);

impl Read {
    /// A look at what an input shows to others.
    pub fn outline(input: u32) -> Self {
        Read(input << 1)
    }

    /// A look that may have seen anything of an input.
    pub fn whole(input: u32) -> Self {
        Read(input << 1 | 1)
    }

    /// The input's number.
    pub fn input(self) -> u32 {
        self.0 >> 1
    }

    /// Whether more than the outline was looked at.
    pub fn is_whole(self) -> bool {
        self.0 & 1 == 1
    }
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
            self.reads.sort_unstable();
            self.reads.dedup();
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
    reads.sort_unstable();
    reads.dedup();
    (value, reads)
}

#[cfg(test)]
mod tests {
    use super::{Read, listen, note};

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
}
