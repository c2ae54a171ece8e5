//! The canonical encoding of facts, and the digest over it that every shard carries.
//!
//! Our own bytes, so that the digest stays the same whichever library stores the rows: a
//! header, the names, then each table column by column. Counts and narrow numbers are
//! varints (LEB128), wide ones eight bytes, little endian.

use crate::base::id::Digest;
use crate::facts::model::FileFacts;
use crate::facts::table::{Cell, Row, Width};
use crate::for_each_table;

/// The first bytes of every encoding: what it is, and its version.
const MAGIC: &[u8] = b"ratlas.facts/1\0";

/// The digest of `facts` (`facts_digest`, FACTS.md §1): equal exactly for equal facts.
pub fn digest(facts: &FileFacts) -> Digest {
    let mut bytes = Vec::with_capacity(16 * 1024);
    encode(facts, &mut bytes);
    Digest::of(&bytes)
}

/// Appends the canonical encoding of `facts` to `out`.
pub fn encode(facts: &FileFacts, out: &mut Vec<u8>) {
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(facts.dialect.as_str().as_bytes());
    out.push(0);
    varint(facts.status.to_cell(), out);
    varint(facts.status_reason.to_cell(), out);
    varint(u64::from(facts.n_lines), out);
    varint(u64::from(facts.n_bytes), out);
    varint(facts.names.len() as u64, out);
    for name in &facts.names {
        varint(name.len() as u64, out);
        out.extend_from_slice(name.as_bytes());
    }
    let mut columns: Vec<Vec<u64>> = Vec::new();
    macro_rules! each {
        ($field:ident) => {
            encode_table(&facts.$field, &mut columns, out);
        };
    }
    for_each_table!(each);
}

/// Appends a table: its number of rows, then its columns. `columns` is scratch space.
fn encode_table<R: Row>(rows: &[R], columns: &mut Vec<Vec<u64>>, out: &mut Vec<u8>) {
    varint(rows.len() as u64, out);
    if rows.is_empty() {
        return;
    }
    if columns.len() < R::COLUMNS.len() {
        columns.resize(R::COLUMNS.len(), Vec::new());
    }
    columns.iter_mut().for_each(Vec::clear);
    for row in rows {
        row.write(columns);
    }
    for (cells, column) in columns.iter().zip(R::COLUMNS) {
        match column.width {
            Width::Narrow => cells.iter().for_each(|cell| varint(*cell, out)),
            Width::Wide => cells.iter().for_each(|cell| out.extend_from_slice(&cell.to_le_bytes())),
        }
    }
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::{digest, encode};
    use crate::base::dialect::Dialect;
    use crate::facts::build::FactsBuilder;
    use crate::facts::model::FileFacts;

    #[test]
    fn the_encoding_is_fixed() {
        let mut bytes = Vec::new();
        encode(&FileFacts::empty(Dialect::Py), &mut bytes);
        // Header, `py`, status, reason, lines, bytes, no names, twenty empty tables.
        let mut expected = b"ratlas.facts/1\0py\0".to_vec();
        expected.extend_from_slice(&[0; 25]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn any_difference_is_seen() {
        let facts = FactsBuilder::new(Dialect::Py, 3, 40).finish().0;
        let mut other = facts.clone();
        other.symbols[0].name_column = 1;
        assert_ne!(digest(&facts), digest(&other));
        let mut renamed = facts.clone();
        renamed.names[0] = "<modulf>".into();
        assert_ne!(digest(&facts), digest(&renamed));
        assert_eq!(digest(&facts), digest(&facts.clone()));
    }
}
