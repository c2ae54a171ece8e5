//! `ratlas export --layout hive DIR`: flat tables for engines that read folders of Parquet, one
//! partition a repository, so that thousands of repositories lie side by side in one place.
//!
//! ```text
//! DIR/files/repository=<name>/part-0.parquet
//! DIR/symbols/… DIR/references/… DIR/edges/…
//! ```

use std::path::Path;

use serde_json::Value;

use crate::atlas::Atlas;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::symbol_handle;
use crate::cli::export::{Column, Holds, Row, edge_columns, edge_row, reference_columns, reference_rows};
use crate::cli::export::{symbol_columns, symbol_row, transpose};
use crate::facts::table::Id;
use crate::store::table_file::{TableColumn, table_file_with};
use crate::view::{SymbolRef, View};

/// The version of the tables' columns, in each file's metadata.
const SCHEMA: &str = "ratlas.export/1";

/// Writes the four tables below `dir`; gives their names and numbers of rows.
///
/// # Errors
/// `Io`, when a file cannot be written.
pub fn write(atlas: &Atlas, dir: &Path) -> Result<Vec<(&'static str, usize)>> {
    let view = &*atlas.view;
    let symbols = view
        .indices()
        .flat_map(|file| (0..view.facts(file).symbols.len()).map(move |row| SymbolRef { file, symbol: Id::new(row) }));
    let id = |at: SymbolRef| symbol_handle(view.file(at.file).path.as_str(), view.qualname(at));
    let with_id = |id: String, mut row: Row| {
        row.insert(0, id.into());
        row
    };
    let tables: Vec<(&'static str, Vec<Column>, Vec<Row>)> = vec![
        ("files", file_columns(), file_rows(view)),
        (
            "symbols",
            with_columns(&["symbol_id"], symbol_columns()),
            symbols.map(|at| with_id(id(at), symbol_row(view, at))).collect(),
        ),
        ("references", reference_columns(), view.indices().flat_map(|file| reference_rows(view, file)).collect()),
        (
            "edges",
            with_columns(&["src_id", "dst_id"], edge_columns()),
            atlas
                .graph
                .edges
                .iter()
                .map(|edge| with_id(id(edge.from), with_id(id(edge.to), edge_row(view, edge, false))))
                .collect(),
        ),
    ];
    let repository = partition(&atlas.header.repository);
    let mut metadata = vec![
        ("ratlas.schema".to_owned(), SCHEMA.to_owned()),
        ("ratlas.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("ratlas.repository".to_owned(), atlas.header.repository.clone()),
    ];
    metadata.extend(atlas.header.commit.clone().map(|commit| ("ratlas.commit".to_owned(), commit)));
    let mut written = Vec::new();
    for (name, columns, rows) in tables {
        let folder = dir.join(name).join(format!("repository={repository}"));
        let columns: Vec<TableColumn> = transpose(&columns, &rows);
        put(&folder, &table_file_with(&columns, &metadata)?)?;
        written.push((name, rows.len()));
    }
    Ok(written)
}

/// Writes a partition's one file whole or not at all.
fn put(folder: &Path, bytes: &[u8]) -> Result<()> {
    let write = || {
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut file, bytes)?;
        file.persist(folder.join("part-0.parquet")).map_err(|error| error.error)
    };
    write().map(drop).map_err(|cause| {
        Error::new(ErrorKind::Io, format!("cannot write below `{}`", folder.display()))
            .hint("give a folder that you can write: `ratlas export --layout hive DIR`")
            .source(cause)
    })
}

fn with_columns(first: &[&'static str], rest: Vec<Column>) -> Vec<Column> {
    first.iter().map(|name| (*name, Holds::Text)).chain(rest).collect()
}

fn file_columns() -> Vec<Column> {
    vec![
        ("file", Holds::Text),
        ("blob", Holds::Text),
        ("language", Holds::Text),
        ("dialect", Holds::Text),
        ("status", Holds::Text),
        ("skip_reason", Holds::Text),
        ("n_lines", Holds::Int),
        ("n_bytes", Holds::Int),
        ("n_symbols", Holds::Int),
        ("n_references", Holds::Int),
        ("is_dirty", Holds::Bool),
    ]
}

/// The indexed files and the others, by path.
fn file_rows(view: &View) -> Vec<Row> {
    let indexed = view.files.iter().map(|file| -> Row {
        vec![
            file.path.as_str().into(),
            file.blob.to_string().into(),
            file.dialect.language().as_str().into(),
            file.dialect.as_str().into(),
            file.facts.status.as_str().into(),
            Value::Null,
            file.facts.n_lines.into(),
            file.facts.n_bytes.into(),
            file.facts.symbols.len().into(),
            file.facts.refs.len().into(),
            file.dirty.into(),
        ]
    });
    let others = view.others.iter().map(|other| -> Row {
        let mut row: Row = vec![Value::Null; file_columns().len()];
        row[0] = other.path.as_str().into();
        row[1] = other.blob.to_string().into();
        row[4] = "skipped".into();
        row[5] = other.reason.as_str().into();
        row[10] = other.dirty.into();
        row
    });
    let mut rows: Vec<Row> = indexed.chain(others).collect();
    rows.sort_by(|a, b| a[0].as_str().cmp(&b[0].as_str()));
    rows
}

/// A repository's name as a partition's value.
fn partition(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    name.chars().map(plain).collect()
}
