//! Fields that are stored as differences: lines and ids that run along with the rows of their
//! file are small numbers then, a fifth of a pack's bytes.

use crate::facts::table::Row;
use crate::store::schema::{Coding, coded, usual_len};

/// Turns the cells of a table's columns into what is stored. `ends` are where each file's rows
/// end; a file's first row is its difference from 0.
pub fn encode<R: Row>(columns: &mut [Vec<u64>], ends: &[usize]) {
    let stored: Vec<(usize, Vec<u64>)> = coded::<R>()
        .filter_map(|(at, coding)| {
            let cells = &columns[at];
            let differences = match coding {
                Coding::Previous => {
                    let mut out = Vec::with_capacity(cells.len());
                    for end in ends {
                        let mut before = 0;
                        for cell in &cells[out.len()..*end] {
                            out.push(zigzag(*cell, before));
                            before = *cell;
                        }
                    }
                    out
                }
                Coding::From(other) => {
                    cells.iter().zip(&columns[other]).map(|(cell, from)| zigzag(*cell, *from)).collect()
                }
                Coding::Usual(kind) => {
                    cells.iter().zip(&columns[kind]).map(|(cell, kind)| zigzag(*cell, usual_len(*kind))).collect()
                }
                Coding::Set => {
                    let mut out = Vec::with_capacity(cells.len());
                    for end in ends {
                        let mut last = 0;
                        for cell in &cells[out.len()..*end] {
                            out.push(set(*cell, last));
                            last = if *cell == 0 { last } else { *cell };
                        }
                    }
                    out
                }
                // By `operands`, which knows the expressions.
                Coding::Expected => return None,
            };
            Some((at, differences))
        })
        .collect();
    for (at, differences) in stored {
        columns[at] = differences;
    }
}

/// Turns stored numbers into cells again. Every number stands for some cell.
pub fn decode<R: Row>(columns: &mut [Vec<u64>], ends: &[usize]) {
    // In the order of the list: what a field differs from comes before it.
    for (at, coding) in coded::<R>() {
        let mut cells = std::mem::take(&mut columns[at]);
        match coding {
            Coding::Previous => {
                let mut start = 0;
                for end in ends {
                    let mut before = 0;
                    for cell in &mut cells[start..*end] {
                        before = unzigzag(*cell, before);
                        *cell = before;
                    }
                    start = *end;
                }
            }
            Coding::From(other) => {
                cells.iter_mut().zip(&columns[other]).for_each(|(cell, from)| *cell = unzigzag(*cell, *from));
            }
            Coding::Usual(kind) => {
                cells.iter_mut().zip(&columns[kind]).for_each(|(cell, kind)| *cell = unzigzag(*cell, usual_len(*kind)));
            }
            Coding::Set => {
                let mut start = 0;
                for end in ends {
                    let mut last = 0;
                    for cell in &mut cells[start..*end] {
                        *cell = unset(*cell, last);
                        last = if *cell == 0 { last } else { *cell };
                    }
                    start = *end;
                }
            }
            Coding::Expected => {}
        }
        columns[at] = cells;
    }
}

/// The difference of two 32-bit numbers, wrapping, with its sign in the lowest bit.
pub fn zigzag(cell: u64, from: u64) -> u64 {
    let difference = (cell as u32).wrapping_sub(from as u32) as i32;
    u64::from(((difference << 1) ^ (difference >> 31)) as u32)
}

/// The number whose difference from another was stored.
pub fn unzigzag(stored: u64, from: u64) -> u64 {
    let stored = stored as u32;
    let difference = (stored >> 1) ^ (stored & 1).wrapping_neg();
    u64::from((from as u32).wrapping_add(difference))
}

/// An id that may be absent (0) against the last that was there: 0, or the difference and 1.
/// The one difference that would need a 33rd bit, half of all numbers, no id can have.
fn set(cell: u64, last: u64) -> u64 {
    if cell == 0 { 0 } else { zigzag(cell, last).wrapping_add(1) & u64::from(u32::MAX) }
}

fn unset(stored: u64, last: u64) -> u64 {
    if stored == 0 { 0 } else { unzigzag(stored - 1, last) }
}

#[cfg(test)]
mod tests {
    use super::{decode, encode, set, unset, unzigzag, zigzag};
    use crate::facts::model::Reference;
    use crate::facts::table::Row;

    #[test]
    fn every_pair_comes_back() {
        let numbers = [0, 1, 2, 77, (1 << 31) - 1, 1 << 31, u64::from(u32::MAX) - 1, u64::from(u32::MAX)];
        for one in numbers {
            for other in numbers {
                assert_eq!(unzigzag(zigzag(one, other), other), one, "{one} {other}");
            }
        }
        assert_eq!((zigzag(5, 5), zigzag(4, 5), zigzag(7, 5)), (0, 1, 4));
        for (cell, last) in [(0, 7), (7, 7), (1, 7), (1 << 30, 1), (1, 1 << 30), (9, 0)] {
            assert_eq!(unset(set(cell, last), last), cell, "{cell} {last}");
        }
        assert_eq!((set(0, 5), set(5, 5), set(6, 5)), (0, 1, 3));
    }

    #[test]
    fn columns_come_back_file_by_file() {
        let n_columns = Reference::COLUMNS.len();
        let columns: Vec<Vec<u64>> =
            (0..n_columns).map(|c| (0..7).map(|row| (row * 31 + c as u64 * 17) % 23).collect()).collect();
        let ends = [0, 3, 3, 7];
        let mut stored = columns.clone();
        encode::<Reference>(&mut stored, &ends);
        assert_ne!(stored, columns);
        decode::<Reference>(&mut stored, &ends);
        assert_eq!(stored, columns);
    }
}
