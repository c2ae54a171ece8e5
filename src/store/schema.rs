//! The row schema: which Parquet columns hold the facts of one blob.
//!
//! One row a blob. First its key and status, then its interned names as one text, a name a line
//! (`names`), then the fields of every fact table as lists of integers, `symbol_kind`,
//! `ref_column`, …; what is stored as a difference is called `ref_line_delta`.
//! All of it is derived from the model. The schema is part of the extractor's fingerprint.

use std::sync::{Arc, OnceLock};

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::schema::types::{Type, TypePtr};

use crate::facts::model::{ExprKind, FileFacts};
use crate::facts::table::{Row, Width};
use crate::for_each_table;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// One byte string a row.
    Bytes,
    /// One text a row.
    Text,
    /// One INT32 a row.
    Int,
    /// A list of INT32.
    Ints,
    /// A list of INT64.
    Longs,
}

/// A column of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    pub name: String,
    /// The table that it belongs to, empty for what a row has once and its names.
    pub table: &'static str,
    pub holds: Holds,
}

/// The columns that every row has once, in stored order.
pub const SCALARS: [(&str, Holds); 8] = [
    ("blob", Holds::Bytes),
    ("dialect", Holds::Text),
    ("fingerprint", Holds::Bytes),
    ("facts_digest", Holds::Bytes),
    ("status", Holds::Text),
    ("reason", Holds::Int),
    ("n_lines", Holds::Int),
    ("n_bytes", Holds::Int),
];

/// The position of the names column; the tables' columns follow it.
pub const NAMES: usize = SCALARS.len();

/// Fields that have no column: (table, field, field of the length). Where a list begins in its
/// arena is the sum of the lengths before it (0 for an empty list), a tenth of a pack's bytes.
const DERIVED: [(&str, &str, &str); 3] =
    [("expr", "first", "len"), ("type", "first", "len"), ("binding", "first_step", "n_steps")];

/// The field whose running sum gives field `at` of a table; `None` for a field that is stored.
pub fn derived_from<R: Row>(at: usize) -> Option<usize> {
    let (_, _, len) =
        DERIVED.into_iter().find(|(table, field, _)| (*table, *field) == (R::TABLE, R::COLUMNS[at].name))?;
    R::COLUMNS.iter().position(|column| column.name == len)
}

/// How a field's numbers are stored, where they are not stored as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// As differences from the row before, of the same file.
    Previous,
    /// As differences from another field of the same row, given by its position.
    From(usize),
    /// Ids that may be absent: 0 for none, else 1 + the difference from the last that was there.
    Set,
    /// How many operands more or fewer than an expression of its kind has, given by the kind's
    /// position ([`usual_len`]).
    Usual(usize),
    /// As differences from what the order of expressions lets expect ([`crate::store::operands`]).
    Expected,
}

/// The row before, in the third place of [`DELTAS`].
const PREVIOUS: &str = "";
/// The last id that was there.
const SET: &str = "?";
/// What an expression's kind and place let expect.
const USUAL: &str = "kind?";

/// Fields that are stored as differences: (table, field, what they differ from: another field, or
/// one of the above). Measured by zstd over split bytes on 1,652 TypeScript files and on
/// spring-framework; what gains less than a two-thousandth of a pack is not listed. What a field
/// differs from comes before it.
const DELTAS: [(&str, &str, &str); 48] = [
    ("ref", "line", ""),
    ("ref", "start_line", "line"),
    ("ref", "expr", ""),
    ("ref", "scope", ""),
    ("ref", "owner", ""),
    ("operand", "expr", USUAL),
    ("expr", "len", USUAL),
    ("expr", "ty", SET),
    ("type_operand", "ty", ""),
    ("symbol", "name_line", ""),
    ("symbol", "start_line", "name_line"),
    ("symbol", "end_line", "start_line"),
    ("symbol", "signature", ""),
    ("symbol", "qualname", "signature"),
    ("symbol", "name", "signature"),
    ("symbol", "ty", SET),
    ("symbol", "scope", SET),
    ("symbol", "doc", SET),
    ("symbol", "declared_in", "parent"),
    ("scope", "start_line", ""),
    ("scope", "end_line", "start_line"),
    ("scope", "parent", ""),
    ("scope", "owner", ""),
    ("binding", "line", ""),
    ("binding", "value", SET),
    ("binding", "name", SET),
    ("binding", "target", SET),
    ("binding", "ty", SET),
    ("binding", "symbol", SET),
    ("binding", "scope", ""),
    ("param", "line", ""),
    ("param", "scope", ""),
    ("param", "name", SET),
    ("param", "ty", SET),
    ("decorator", "owner", ""),
    ("decorator", "expr", ""),
    ("decorator", "line", ""),
    ("return", "line", ""),
    ("return", "scope", ""),
    ("return", "expr", ""),
    ("import", "line", ""),
    ("import", "module", SET),
    ("import", "name", SET),
    ("import", "local", SET),
    ("import", "name_line", "line"),
    ("import", "name_column", "column"),
    ("type", "expr", SET),
    ("expr", "scope", SET),
];

/// The fields of a table that are stored as differences, what one differs from before it.
pub fn coded<R: Row>() -> impl Iterator<Item = (usize, Coding)> {
    let position = |name: &str| R::COLUMNS.iter().position(|column| column.name == name);
    DELTAS.into_iter().filter(|(table, ..)| *table == R::TABLE).filter_map(move |(_, field, from)| {
        let coding = match from {
            PREVIOUS => Coding::Previous,
            SET => Coding::Set,
            USUAL if R::TABLE == "expr" => Coding::Usual(position("kind")?),
            USUAL => Coding::Expected,
            other => Coding::From(position(other)?),
        };
        Some((position(field)?, coding))
    })
}

/// How many operands an expression of a kind, given by its stored number, most often has.
pub fn usual_len(kind: u64) -> u64 {
    let kind = usize::try_from(kind).ok().and_then(|kind| ExprKind::ALL.get(kind));
    match kind {
        Some(ExprKind::Call | ExprKind::Index | ExprKind::Choice | ExprKind::Operator) => 2,
        Some(
            ExprKind::Attr
            | ExprKind::New
            | ExprKind::Await
            | ExprKind::Yield
            | ExprKind::YieldFrom
            | ExprKind::Cast
            | ExprKind::MethodRef
            | ExprKind::Comprehension
            | ExprKind::Jsx
            | ExprKind::Value
            | ExprKind::Template,
        ) => 1,
        Some(
            ExprKind::Name
            | ExprKind::Lambda
            | ExprKind::ClassValue
            | ExprKind::Object
            | ExprKind::Seq
            | ExprKind::Literal
            | ExprKind::Path
            | ExprKind::Param
            | ExprKind::DynamicImport
            | ExprKind::Opaque
            | ExprKind::TypeValue
            | ExprKind::Super
            | ExprKind::This,
        )
        | None => 0,
    }
}

/// Every column, in stored order.
pub fn columns() -> &'static [ColumnSpec] {
    static COLUMNS: OnceLock<Vec<ColumnSpec>> = OnceLock::new();
    COLUMNS.get_or_init(|| {
        let mut columns: Vec<ColumnSpec> = SCALARS
            .iter()
            .map(|(name, holds)| ColumnSpec { name: (*name).to_owned(), table: "", holds: *holds })
            .collect();
        columns.push(ColumnSpec { name: "names".to_owned(), table: "", holds: Holds::Text });
        macro_rules! each {
            ($field:ident) => {
                table_columns(|facts| &facts.$field, &mut columns);
            };
        }
        for_each_table!(each);
        columns
    })
}

/// Appends the columns of one table; `_rows` only names the row type.
fn table_columns<R: Row>(_rows: fn(&FileFacts) -> &Vec<R>, columns: &mut Vec<ColumnSpec>) {
    for (at, column) in R::COLUMNS.iter().enumerate() {
        if derived_from::<R>(at).is_some() {
            continue;
        }
        let holds = match column.width {
            Width::Narrow => Holds::Ints,
            Width::Wide => Holds::Longs,
        };
        let is_coded = coded::<R>().any(|(coded, _)| coded == at);
        let suffix = if is_coded { "_delta" } else { "" };
        columns.push(ColumnSpec { name: format!("{}_{}{suffix}", R::TABLE, column.name), table: R::TABLE, holds });
    }
}

/// The Parquet schema of packs and loose files.
pub fn parquet_schema() -> TypePtr {
    static SCHEMA: OnceLock<TypePtr> = OnceLock::new();
    SCHEMA
        .get_or_init(|| {
            let fields = columns().iter().map(|column| Arc::new(parquet_type(column))).collect();
            let root = Type::group_type_builder("shard").with_fields(fields).build();
            Arc::new(root.expect("because a group of named columns is a valid schema"))
        })
        .clone()
}

fn parquet_type(column: &ColumnSpec) -> Type {
    let (physical, repetition) = match column.holds {
        Holds::Bytes | Holds::Text => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
        Holds::Int => (Physical::INT32, Repetition::REQUIRED),
        Holds::Ints => (Physical::INT32, Repetition::REPEATED),
        Holds::Longs => (Physical::INT64, Repetition::REPEATED),
    };
    let mut builder = Type::primitive_type_builder(&column.name, physical).with_repetition(repetition);
    if column.holds == Holds::Text {
        builder = builder.with_logical_type(Some(LogicalType::String)).with_converted_type(ConvertedType::UTF8);
    }
    builder.build().expect("because a primitive column with a name is a valid type")
}

#[cfg(test)]
mod tests {
    use super::{columns, parquet_schema};
    use std::collections::BTreeSet;

    #[test]
    fn column_names_are_unique_and_say_their_table() {
        let names: BTreeSet<&str> = columns().iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names.len(), columns().len());
        let n_coded = columns().iter().filter(|column| column.name.ends_with("_delta")).count();
        assert_eq!(n_coded, super::DELTAS.len(), "every listed field is one");
        for name in ["blob", "names", "symbol_kind", "ref_line_delta", "type_operand_role", "symbol_body_hash"] {
            assert!(names.contains(name), "{name}");
        }
        assert!(!names.contains("expr_first") && !names.contains("binding_first_step"), "derived");
        assert_eq!(parquet_schema().get_fields().len(), columns().len());
    }
}
