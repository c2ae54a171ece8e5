//! `ratlas export`: symbols, references and edges as rows, sorted and stable.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::atlas::{Atlas, AtlasSource};
use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::context::Context;
use crate::cli::output::Output;
use crate::cli::{export_hive, output};
use crate::facts::model::FileFacts;
use crate::facts::table::Id;
use crate::graph::edge::EdgeKind;
use crate::rank::surface;
use crate::report::{json, sanitize};
use crate::scip;
use crate::session::Session;
use crate::store::table_file::{TableColumn, TableValues, table_file};
use crate::tools::{scip_export, show, target_text};
use crate::view::{FileIdx, SymbolRef, View};

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// symbols, references, edges or scip; under `--layout`, the folder to write to
    #[arg(value_name = "TABLE|DIR")]
    what: PathBuf,
    /// Write all tables as a folder of Parquet, one partition a repository
    #[arg(long, value_name = "LAYOUT", conflicts_with_all = ["format", "unproved", "output"])]
    layout: Option<Layout>,
    /// The form of the rows
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    format: RowFormat,
    /// Add references without a target to the edges, with their text
    #[arg(long)]
    unproved: bool,
    /// Write to FILE in the place of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Export the tree of a revision in the place of the tree on disk
    #[arg(long, value_name = "REVISION")]
    at: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    Symbols,
    References,
    Edges,
    /// A SCIP index of all proved edges, for tools that read such
    Scip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Layout {
    /// `DIR/<table>/repository=<name>/part-0.parquet`
    Hive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RowFormat {
    Jsonl,
    Parquet,
}

/// A row: its values in the order of the table's columns.
pub type Row = Vec<Value>;

/// A column's name and what it holds.
pub type Column = (&'static str, Holds);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    Text,
    Int,
    Float,
    Bool,
}

pub fn run(context: &Context, args: &ExportArgs) -> Result<u8> {
    if args.layout.is_some() {
        let session = context.session()?;
        let atlas = at(&session, args)?;
        let text: String =
            export_hive::write(&atlas, &args.what)?.iter().map(|(name, n)| format!("{name}: {n} rows\n")).collect();
        output::print(&text)?;
        return Ok(0);
    }
    let table = table(&args.what)?;
    if args.unproved && table != Table::Edges {
        return Err(
            Error::new(ErrorKind::Usage, "only edges have unproved rows").hint("`ratlas export edges --unproved`")
        );
    }
    if table == Table::Scip && args.format == RowFormat::Parquet {
        return Err(Error::new(ErrorKind::Usage, "a SCIP index is no table").hint("`ratlas export scip -o index.scip`"));
    }
    let session = context.session()?;
    let atlas = at(&session, args)?;
    let columns = columns(table, args.unproved);
    let mut output = match &args.output {
        Some(file) => Output::file(file)?,
        None => Output::stdout(),
    };
    if table == Table::Scip {
        let index = scip_export::index_of(&atlas, |path| session.read(&atlas, path).ok());
        output.bytes(&scip::index::write(&index))?;
        output.finish()?;
        return Ok(0);
    }
    match args.format {
        RowFormat::Jsonl => {
            let mut failed = None;
            each_row(&atlas, table, args.unproved, &mut |row| {
                let line = json::compact_row(columns.iter().map(|(name, _)| *name).zip(&row)) + "\n";
                match output.text(&line) {
                    Ok(()) => true,
                    Err(error) => {
                        failed = Some(error);
                        false
                    }
                }
            });
            if let Some(error) = failed {
                return Err(error);
            }
        }
        RowFormat::Parquet => {
            let mut rows = Vec::new();
            each_row(&atlas, table, args.unproved, &mut |row| {
                rows.push(row);
                true
            });
            output.bytes(&table_file(&transpose(&columns, &rows))?)?;
        }
    }
    output.finish()?;
    Ok(0)
}

/// The tree to export.
fn at(session: &Session, args: &ExportArgs) -> Result<Arc<Atlas>> {
    match &args.at {
        Some(revision) => session.at(revision),
        None => session.fresh(),
    }
}

fn table(name: &Path) -> Result<Table> {
    let name = name.to_string_lossy();
    Table::from_str(&name, false).map_err(|_| {
        Error::new(ErrorKind::Usage, format!("no table `{}`", sanitize::line(&name, 80)))
            .hint("tables are symbols, references, edges and scip; `--layout hive DIR` writes all")
    })
}

fn columns(table: Table, with_unproved: bool) -> Vec<Column> {
    match table {
        Table::Symbols => symbol_columns(),
        Table::References => reference_columns(),
        Table::Edges => {
            let mut columns = edge_columns();
            if with_unproved {
                columns.push(("dst_text", Holds::Text));
            }
            columns
        }
        Table::Scip => Vec::new(),
    }
}

/// The columns of [`symbol_row`].
pub fn symbol_columns() -> Vec<Column> {
    use Holds::{Bool, Int, Text};
    vec![
        ("file", Text),
        ("qualname", Text),
        ("name", Text),
        ("kind", Text),
        ("start_line", Int),
        ("end_line", Int),
        ("signature", Text),
        ("is_public", Bool),
    ]
}

/// The columns of [`reference_rows`].
pub fn reference_columns() -> Vec<Column> {
    use Holds::{Int, Text};
    vec![("src_file", Text), ("src_qualname", Text), ("kind", Text), ("line", Int), ("column", Int), ("dst_text", Text)]
}

/// The columns of [`edge_row`].
pub fn edge_columns() -> Vec<Column> {
    use Holds::{Float, Int, Text};
    vec![
        ("src_file", Text),
        ("src_qualname", Text),
        ("dst_file", Text),
        ("dst_qualname", Text),
        ("kind", Text),
        ("line", Int),
        ("confidence", Float),
        ("layer", Text),
        ("strategy", Text),
    ]
}

/// Gives the rows in order, until `take` wants no more.
fn each_row(atlas: &Atlas, table: Table, with_unproved: bool, take: &mut dyn FnMut(Row) -> bool) {
    let view = &*atlas.view;
    match table {
        Table::Symbols => {
            for file in view.indices() {
                for row in 0..view.facts(file).symbols.len() {
                    if !take(symbol_row(view, SymbolRef { file, symbol: Id::new(row) })) {
                        return;
                    }
                }
            }
        }
        Table::References => {
            for file in view.indices() {
                for row in reference_rows(view, file) {
                    if !take(row) {
                        return;
                    }
                }
            }
        }
        Table::Edges => {
            let edges =
                atlas.graph.edges.iter().map(|edge| (edge.from, edge.line, edge_row(view, edge, with_unproved)));
            if !with_unproved {
                let _ = edges.map(|(_, _, row)| row).try_for_each(|row| take(row).then_some(()));
                return;
            }
            let unproved = atlas.graph.unproved.iter().map(|open| (open.from, open.line, unproved_row(view, open)));
            let mut rows: Vec<(SymbolRef, u32, Row)> = edges.chain(unproved).collect();
            // Stable: at one line, edges come before what is unproved.
            rows.sort_by_key(|(from, line, _)| (*from, *line));
            let _ = rows.into_iter().try_for_each(|(_, _, row)| take(row).then_some(()));
        }
        Table::Scip => {}
    }
}

/// A symbol's row.
pub fn symbol_row(view: &View, at: SymbolRef) -> Row {
    let facts = view.facts(at.file);
    let symbol = view.symbol(at);
    vec![
        view.file(at.file).path.as_str().into(),
        view.qualname(at).into(),
        show::name(view, at).into(),
        show::kind(symbol).into(),
        symbol.start_line.into(),
        symbol.end_line.into(),
        facts.name(symbol.signature).into(),
        surface::is_public(facts, symbol).into(),
    ]
}

/// A file's references, in order.
pub fn reference_rows(view: &View, file: FileIdx) -> impl Iterator<Item = Row> {
    let facts: &FileFacts = view.facts(file);
    facts.refs.iter().map(move |reference| {
        vec![
            view.file(file).path.as_str().into(),
            view.qualname(SymbolRef { file, symbol: reference.owner }).into(),
            reference.kind.as_str().into(),
            reference.line.into(),
            reference.column.into(),
            target_text::of(facts, reference.expr).into(),
        ]
    })
}

/// An edge's row.
pub fn edge_row(view: &View, edge: &crate::graph::edge::Edge, with_text: bool) -> Row {
    let mut row = vec![
        view.file(edge.from.file).path.as_str().into(),
        view.qualname(edge.from).into(),
        view.file(edge.to.file).path.as_str().into(),
        view.qualname(edge.to).into(),
        edge.kind.as_str().into(),
        edge.line.into(),
        json::decimal(edge.confidence.as_f64()),
        edge.layer.as_str().into(),
        edge.strategy.as_str().into(),
    ];
    if with_text {
        row.push(Value::Null);
    }
    row
}

fn unproved_row(view: &View, open: &crate::graph::edge::Unproved) -> Row {
    vec![
        view.file(open.from.file).path.as_str().into(),
        view.qualname(open.from).into(),
        Value::Null,
        Value::Null,
        EdgeKind::of_reference(open.kind).as_str().into(),
        open.line.into(),
        0.into(),
        "unproved".into(),
        Value::Null,
        view.facts(open.from.file).name(open.name).into(),
    ]
}

/// Rows as columns.
pub fn transpose(columns: &[Column], rows: &[Row]) -> Vec<TableColumn> {
    let column = |at: usize, holds: Holds| match holds {
        Holds::Text => TableValues::Text(rows.iter().map(|row| row[at].as_str().map(str::to_owned)).collect()),
        Holds::Int => TableValues::Int(rows.iter().map(|row| row[at].as_i64()).collect()),
        Holds::Float => TableValues::Float(rows.iter().map(|row| row[at].as_f64()).collect()),
        Holds::Bool => TableValues::Bool(rows.iter().map(|row| row[at].as_bool()).collect()),
    };
    columns
        .iter()
        .enumerate()
        .map(|(at, (name, holds))| TableColumn { name: (*name).to_owned(), values: column(at, *holds) })
        .collect()
}
