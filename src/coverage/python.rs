//! coverage.py's database (<https://coverage.readthedocs.io/en/latest/dbschema.html>): lines as
//! bits a file and context, or arcs between lines where branches were measured.

use std::collections::BTreeMap;

use crate::coverage::sqlite::{Database, Value};
use crate::coverage::{Coverage, Draft};

/// Reads a database.
pub(super) fn read(bytes: &[u8]) -> Result<Coverage, &'static str> {
    const DAMAGED: &str = "the database is damaged";
    const OTHER: &str = "the database is not coverage.py's";
    let database = Database::open(bytes).ok_or(DAMAGED)?;
    let names = |table: &str, column: &str| -> Result<BTreeMap<i64, String>, &'static str> {
        let table = database.table(table, &[column]).ok_or(OTHER)?;
        let mut found = BTreeMap::new();
        database
            .rows(&table, &mut |id, row| {
                if let Some(Value::Bytes(text)) = row.first() {
                    found.insert(id, String::from_utf8_lossy(text).into_owned());
                }
            })
            .ok_or(DAMAGED)?;
        Ok(found)
    };
    let (files, contexts) = (names("file", "path")?, names("context", "context")?);
    let mut draft = Draft::default();
    let place = |row: &[Value<'_>]| match row {
        [Value::Integer(file), Value::Integer(context), ..] => files.get(file).zip(contexts.get(context)),
        _ => None,
    };
    if let Some(table) = database.table("line_bits", &["file_id", "context_id", "numbits"]) {
        let visit = &mut |_, row: &[Value<'_>]| {
            if let (Some((file, context)), Some(Value::Bytes(bits))) = (place(row), row.get(2)) {
                draft.lines(context, file).add_all(bits);
            }
        };
        database.rows(&table, visit).ok_or(DAMAGED)?;
    }
    if let Some(table) = database.table("arc", &["file_id", "context_id", "fromno", "tono"]) {
        let visit = &mut |_, row: &[Value<'_>]| {
            let Some((file, context)) = place(row) else { return };
            // Negative ends are the entry and exit of a code object.
            for end in row.iter().skip(2) {
                if let Value::Integer(line) = end
                    && let Ok(line) = u32::try_from(*line)
                {
                    draft.lines(context, file).add(line);
                }
            }
        };
        database.rows(&table, visit).ok_or(DAMAGED)?;
    }
    Ok(draft.finish())
}
