//! `ratlas export`: symbols, references and edges as rows, sorted and stable.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::atlas::{Atlas, AtlasSource};
use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::context::Context;
use crate::cli::output::Output;
use crate::facts::model::FileFacts;
use crate::facts::table::Id;
use crate::graph::edge::EdgeKind;
use crate::rank::surface;
use crate::report::json;
use crate::scip;
use crate::store::table_file::{TableColumn, TableValues, table_file};
use crate::tools::{scip_export, show, target_text};
use crate::view::{FileIdx, SymbolRef, View};

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// What to write
    table: Table,
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
enum RowFormat {
    Jsonl,
    Parquet,
}

/// A row: its values in the order of the table's columns.
type Row = Vec<Value>;

/// A column's name and what it holds.
type Column = (&'static str, Holds);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Text,
    Int,
    Float,
    Bool,
}

pub fn run(context: &Context, args: &ExportArgs) -> Result<u8> {
    if args.unproved && args.table != Table::Edges {
        return Err(
            Error::new(ErrorKind::Usage, "only edges have unproved rows").hint("`ratlas export edges --unproved`")
        );
    }
    if args.table == Table::Scip && args.format == RowFormat::Parquet {
        return Err(Error::new(ErrorKind::Usage, "a SCIP index is no table").hint("`ratlas export scip -o index.scip`"));
    }
    let session = context.session()?;
    let atlas = match &args.at {
        Some(revision) => session.at(revision)?,
        None => session.fresh()?,
    };
    let columns = columns(args);
    let mut output = match &args.output {
        Some(file) => Output::file(file)?,
        None => Output::stdout(),
    };
    if args.table == Table::Scip {
        let index = scip_export::index_of(&atlas, |path| session.read(&atlas, path).ok());
        output.bytes(&scip::index::write(&index))?;
        output.finish()?;
        return Ok(0);
    }
    match args.format {
        RowFormat::Jsonl => {
            let mut failed = None;
            each_row(&atlas, args, &mut |row| {
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
            each_row(&atlas, args, &mut |row| {
                rows.push(row);
                true
            });
            output.bytes(&table_file(&transpose(&columns, &rows))?)?;
        }
    }
    output.finish()?;
    Ok(0)
}

fn columns(args: &ExportArgs) -> Vec<Column> {
    use Holds::{Bool, Float, Int, Text};
    match args.table {
        Table::Symbols => vec![
            ("file", Text),
            ("qualname", Text),
            ("name", Text),
            ("kind", Text),
            ("start_line", Int),
            ("end_line", Int),
            ("signature", Text),
            ("is_public", Bool),
        ],
        Table::References => vec![
            ("src_file", Text),
            ("src_qualname", Text),
            ("kind", Text),
            ("line", Int),
            ("column", Int),
            ("dst_text", Text),
        ],
        Table::Edges => {
            let mut columns = vec![
                ("src_file", Text),
                ("src_qualname", Text),
                ("dst_file", Text),
                ("dst_qualname", Text),
                ("kind", Text),
                ("line", Int),
                ("confidence", Float),
                ("layer", Text),
                ("strategy", Text),
            ];
            if args.unproved {
                columns.push(("dst_text", Text));
            }
            columns
        }
        Table::Scip => Vec::new(),
    }
}

/// Gives the rows in order, until `take` wants no more.
fn each_row(atlas: &Atlas, args: &ExportArgs, take: &mut dyn FnMut(Row) -> bool) {
    let view = &*atlas.view;
    match args.table {
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
                atlas.graph.edges.iter().map(|edge| (edge.from, edge.line, edge_row(view, edge, args.unproved)));
            if !args.unproved {
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

fn symbol_row(view: &View, at: SymbolRef) -> Row {
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

fn reference_rows(view: &View, file: FileIdx) -> impl Iterator<Item = Row> {
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

fn edge_row(view: &View, edge: &crate::graph::edge::Edge, with_text: bool) -> Row {
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

fn transpose(columns: &[Column], rows: &[Row]) -> Vec<TableColumn> {
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
