//! Reads the canonical encoding back: for bytes of our own, whose digest was checked before.
//! What comes from elsewhere is read from shards, which trust nothing (`store::shard`).

use crate::base::dialect::Dialect;
use crate::facts::model::{FileFacts, NameId, Status};
use crate::facts::table::{Cell, Row, Width};
use crate::for_each_table;

/// As `canonical` writes it.
const MAGIC: &[u8] = b"ratlas.facts/1\0";

/// Reads what [`crate::facts::canonical::encode`] wrote; `None` for anything else. Ids are not
/// followed: [`crate::facts::validate::validate`] says whether they lead anywhere.
pub fn decode(bytes: &[u8]) -> Option<FileFacts> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    let dialect = Dialect::parse(std::str::from_utf8(&rest[..end]).ok()?)?;
    rest = &rest[end + 1..];
    let mut facts = FileFacts::empty(dialect);
    facts.status = Status::from_cell(varint(&mut rest)?)?;
    facts.status_reason = Option::<NameId>::from_cell(varint(&mut rest)?)?;
    facts.n_lines = u32::from_cell(varint(&mut rest)?)?;
    facts.n_bytes = u32::from_cell(varint(&mut rest)?)?;
    let n_names = count(&mut rest)?;
    facts.names = Vec::with_capacity(n_names);
    for _ in 0..n_names {
        let len = count(&mut rest)?;
        let (name, after) = rest.split_at_checked(len)?;
        facts.names.push(std::str::from_utf8(name).ok()?.into());
        rest = after;
    }
    let mut columns: Vec<Vec<u64>> = Vec::new();
    macro_rules! each {
        ($field:ident) => {
            facts.$field = table(&mut rest, &mut columns)?;
        };
    }
    for_each_table!(each);
    rest.is_empty().then_some(facts)
}

/// Reads a table: its number of rows, then its columns. `columns` is scratch space.
fn table<R: Row>(rest: &mut &[u8], columns: &mut Vec<Vec<u64>>) -> Option<Vec<R>> {
    let n_rows = count(rest)?;
    if n_rows == 0 {
        return Some(Vec::new());
    }
    if columns.len() < R::COLUMNS.len() {
        columns.resize(R::COLUMNS.len(), Vec::new());
    }
    for (cells, column) in columns.iter_mut().zip(R::COLUMNS) {
        cells.clear();
        cells.reserve(n_rows);
        for _ in 0..n_rows {
            cells.push(match column.width {
                Width::Narrow => varint(rest)?,
                Width::Wide => {
                    let (cell, after) = rest.split_first_chunk()?;
                    *rest = after;
                    u64::from_le_bytes(*cell)
                }
            });
        }
    }
    (0..n_rows).map(|at| R::read(columns, at)).collect()
}

/// A count of things that take at least one byte each.
fn count(rest: &mut &[u8]) -> Option<usize> {
    usize::try_from(varint(rest)?).ok().filter(|n| *n <= rest.len())
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let (mut value, mut shift) = (0u64, 0);
    loop {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::decode;
    use crate::base::dialect::Dialect;
    use crate::facts::build::FactsBuilder;
    use crate::facts::canonical::encode;

    #[test]
    fn what_was_encoded_reads_back() {
        let facts = FactsBuilder::new(Dialect::Ts, 3, 40).finish().0;
        let mut bytes = Vec::new();
        encode(&facts, &mut bytes);
        assert_eq!(decode(&bytes), Some(facts));
        for len in 0..bytes.len() {
            assert_eq!(decode(&bytes[..len]), None);
        }
        bytes.push(0);
        assert_eq!(decode(&bytes), None);
    }
}
