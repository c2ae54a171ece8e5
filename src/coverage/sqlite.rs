//! Reads the rows of tables in an SQLite file (<https://www.sqlite.org/fileformat2.html>): enough
//! for a database that one tool wrote and closed. No index, no journal, no `WITHOUT ROWID`.
//!
//! Every offset is checked, pages are visited once, nothing recurses: what is damaged gives `None`.

use std::borrow::Cow;

/// How such a file starts.
pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";

/// Rows of more columns are none of a tool's that we read.
const MAX_COLUMNS: usize = 64;

/// A database in memory.
pub(super) struct Database<'b> {
    bytes: &'b [u8],
    page_size: usize,
    /// Bytes of a page that hold content.
    usable: usize,
}

/// A value; reals are of no use here.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'b> {
    Null,
    Integer(i64),
    /// A text or a blob.
    Bytes(Cow<'b, [u8]>),
}

/// A table, and which of its columns are wanted, in the wanted order.
pub(super) struct Table {
    root: u32,
    columns: Vec<usize>,
}

impl<'b> Database<'b> {
    /// Opens a database; `None` for what is none, or has texts in another encoding than UTF-8.
    pub(super) fn open(bytes: &'b [u8]) -> Option<Self> {
        let header = bytes.get(..100)?;
        let page_size = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        let usable = page_size.checked_sub(usize::from(header[20]))?;
        let is_utf8 = matches!(header[56..60], [0, 0, 0, 0 | 1]);
        (header.starts_with(MAGIC) && page_size.is_power_of_two() && usable >= 480 && is_utf8).then_some(Database {
            bytes,
            page_size,
            usable,
        })
    }

    /// Finds a table that has all of `columns`.
    pub(super) fn table(&self, name: &str, columns: &[&str]) -> Option<Table> {
        let schema = Table { root: 1, columns: vec![0, 1, 3, 4] };
        let mut found = None;
        self.rows(&schema, &mut |_, row| {
            let text = |at: usize| match row.get(at) {
                Some(Value::Bytes(text)) => std::str::from_utf8(text).unwrap_or(""),
                _ => "",
            };
            if text(0) == "table" && text(1).eq_ignore_ascii_case(name) {
                let known = columns_of(text(3));
                let at = |column: &&str| known.iter().position(|k| k.eq_ignore_ascii_case(column));
                let columns: Option<Vec<usize>> = columns.iter().map(at).collect();
                if let (Some(Value::Integer(root)), Some(columns)) = (row.get(2), columns) {
                    found = u32::try_from(*root).ok().map(|root| Table { root, columns });
                }
            }
        })?;
        found
    }

    /// Visits every row of a table with its row id; the wanted columns in the wanted order.
    pub(super) fn rows(&self, table: &Table, visit: &mut dyn FnMut(i64, &[Value<'_>])) -> Option<()> {
        let n_pages = self.bytes.len().div_ceil(self.page_size);
        let mut seen = vec![false; n_pages + 1];
        let mut stack = vec![table.root];
        // Rows of an honest file do not share bytes.
        let mut left = self.bytes.len();
        while let Some(number) = stack.pop() {
            // A page that stands twice is a circle.
            if std::mem::replace(seen.get_mut(number as usize)?, true) {
                return None;
            }
            let page = self.page(number)?;
            // The first page starts with the file's header.
            let start = if number == 1 { 100 } else { 0 };
            let n_cells = usize::from(self.u16(page, start + 3)?);
            match *page.get(start)? {
                0x05 => {
                    stack.push(self.u32(page, start + 8)?);
                    for at in 0..n_cells {
                        let cell = usize::from(self.u16(page, start + 12 + 2 * at)?);
                        stack.push(self.u32(page, cell)?);
                    }
                }
                0x0d => {
                    for at in 0..n_cells {
                        let cell = page.get(usize::from(self.u16(page, start + 8 + 2 * at)?)..)?;
                        let (len, n) = varint(cell)?;
                        let (id, m) = varint(cell.get(n..)?)?;
                        let len = usize::try_from(len).ok()?;
                        left = left.checked_sub(len)?;
                        let payload = self.payload(len, cell.get(n + m..)?)?;
                        visit(id, &record(&payload, &table.columns)?);
                    }
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// A page's content, by its 1-based number.
    fn page(&self, number: u32) -> Option<&'b [u8]> {
        let start = (number as usize).checked_sub(1)?.checked_mul(self.page_size)?;
        self.bytes.get(start..start.checked_add(self.usable)?)
    }

    fn u16(&self, page: &[u8], at: usize) -> Option<u16> {
        Some(u16::from_be_bytes(page.get(at..at + 2)?.try_into().ok()?))
    }

    fn u32(&self, page: &[u8], at: usize) -> Option<u32> {
        Some(u32::from_be_bytes(page.get(at..at + 4)?.try_into().ok()?))
    }

    /// A cell's payload of `len` bytes: what the page holds, and the chain of overflow pages.
    fn payload(&self, len: usize, cell: &'b [u8]) -> Option<Cow<'b, [u8]>> {
        let most = self.usable - 35;
        if len <= most {
            return cell.get(..len).map(Cow::Borrowed);
        }
        let least = (self.usable - 12) * 32 / 255 - 23;
        let spread = least + (len - least) % (self.usable - 4);
        let local = if spread <= most { spread } else { least };
        let mut payload = cell.get(..local)?.to_vec();
        let mut next = self.u32(cell, local)?;
        // Each page adds bytes, so this ends.
        while payload.len() < len {
            let page = self.page(next)?;
            let n = (len - payload.len()).min(self.usable - 4);
            payload.extend_from_slice(page.get(4..4 + n)?);
            next = self.u32(page, 0)?;
        }
        Some(Cow::Owned(payload))
    }
}

/// The wanted columns of a record. Columns that were added to the table later are null.
fn record<'p>(payload: &'p [u8], columns: &[usize]) -> Option<Vec<Value<'p>>> {
    let (len, mut at) = varint(payload)?;
    let mut body = usize::try_from(len).ok()?;
    let end = body;
    let mut values = Vec::new();
    while at < end && values.len() < MAX_COLUMNS {
        let (kind, n) = varint(payload.get(at..end)?)?;
        at += n;
        let len = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind as usize,
            5 => 6,
            6 | 7 => 8,
            12.. => usize::try_from((kind - 12) / 2).ok()?,
            _ => return None,
        };
        let bytes = payload.get(body..body.checked_add(len)?)?;
        body += len;
        values.push(match kind {
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            1..=6 => {
                let sign = if bytes.first().is_some_and(|b| b & 0x80 != 0) { -1i64 } else { 0 };
                Value::Integer(bytes.iter().fold(sign, |n, byte| n << 8 | i64::from(*byte)))
            }
            12.. => Value::Bytes(Cow::Borrowed(bytes)),
            _ => Value::Null,
        });
    }
    Some(columns.iter().map(|at| values.get(*at).cloned().unwrap_or(Value::Null)).collect())
}

/// A variable-length integer and how many bytes it takes.
fn varint(bytes: &[u8]) -> Option<(i64, usize)> {
    let mut value = 0i64;
    for (at, byte) in bytes.iter().take(9).enumerate() {
        if at == 8 {
            return Some((value << 8 | i64::from(*byte), 9));
        }
        value = value << 7 | i64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
    }
    None
}

/// The names of a table's columns out of the text that made it; names of constraints follow them.
fn columns_of(sql: &str) -> Vec<String> {
    let body = sql.split_once('(').map_or("", |(_, body)| body);
    let mut columns = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    let mut push = |text: &str| {
        let word = text.split_whitespace().next().unwrap_or("");
        columns.push(word.trim_matches(['"', '`', '[', ']']).to_string());
    };
    // Comments to the line's end stand between columns.
    let text: String = body.lines().map(|line| line.split("--").next().unwrap_or("").to_string() + "\n").collect();
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => {
                push(&text[start..at]);
                return columns;
            }
            ')' => depth -= 1,
            ',' if depth == 0 => {
                push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::{Database, columns_of};

    #[test]
    fn columns_are_named_in_order() {
        let sql = "CREATE TABLE line_bits (\n    -- If recording lines, a row per context\n    file_id integer,  -- foreign\n    context_id integer,\n    numbits blob,\n    foreign key (file_id) references file (id),\n    unique (file_id, context_id)\n)";
        assert_eq!(columns_of(sql)[..3], ["file_id", "context_id", "numbits"]);
        assert_eq!(columns_of("create table x").len(), 0);
    }

    #[test]
    fn hostile_bytes_are_no_database() {
        for len in [0, 16, 99, 100, 512, 4096] {
            let mut bytes = vec![0u8; len];
            for (at, byte) in b"SQLite format 3\0\x02\0".iter().enumerate().take(len) {
                bytes[at] = *byte;
            }
            let found = Database::open(&bytes).and_then(|db| db.table("file", &["path"]));
            assert!(found.is_none(), "{len}");
        }
    }
}
