//! Writes plain flat tables as Parquet, for exports: one value a row and column.

use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::base::error::{Error, ErrorKind, Result};

/// A column: its name and a value for each row.
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    pub name: String,
    pub values: TableValues,
}

/// The values of a column, one a row; `None` is null.
#[derive(Clone, Debug, PartialEq)]
pub enum TableValues {
    Text(Vec<Option<String>>),
    Int(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
    Bool(Vec<Option<bool>>),
}

/// Rows of a row group.
const ROWS_PER_GROUP: usize = 1 << 17;

impl TableValues {
    fn len(&self) -> usize {
        match self {
            TableValues::Text(values) => values.len(),
            TableValues::Int(values) => values.len(),
            TableValues::Float(values) => values.len(),
            TableValues::Bool(values) => values.len(),
        }
    }
}

/// The bytes of a Parquet file with these columns, in this order. Equal columns, equal bytes.
///
/// # Errors
/// `Store`, when the columns have different lengths or equal names.
pub fn table_file(columns: &[TableColumn]) -> Result<Vec<u8>> {
    table_file_with(columns, &[])
}

/// As [`table_file`], with names and values in the file's metadata.
///
/// # Errors
/// As [`table_file`].
pub fn table_file_with(columns: &[TableColumn], metadata: &[(String, String)]) -> Result<Vec<u8>> {
    let n_rows = columns.first().map_or(0, |column| column.values.len());
    if columns.iter().any(|column| column.values.len() != n_rows) {
        return Err(Error::new(ErrorKind::Store, "cannot write a table whose columns have different lengths"));
    }
    write(columns, n_rows, metadata).map_err(|cause| Error::new(ErrorKind::Store, "cannot write a table").source(cause))
}

fn write(
    columns: &[TableColumn],
    n_rows: usize,
    metadata: &[(String, String)],
) -> std::result::Result<Vec<u8>, ParquetError> {
    let fields = columns.iter().map(|column| field(column).map(Arc::new)).collect::<std::result::Result<_, _>>()?;
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
    let metadata = metadata.iter().map(|(name, value)| KeyValue::new(name.clone(), value.clone())).collect();
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(metadata).filter(|pairs: &Vec<KeyValue>| !pairs.is_empty()))
        .set_created_by("ratlas".to_owned())
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    for start in (0..n_rows).step_by(ROWS_PER_GROUP) {
        let rows = start..n_rows.min(start + ROWS_PER_GROUP);
        let mut group = writer.next_row_group()?;
        for column in columns {
            let mut out = group.next_column()?.ok_or_else(out_of_step)?;
            write_values(out.untyped(), &column.values, rows.clone())?;
            out.close()?;
        }
        group.close()?;
    }
    writer.into_inner()
}

fn field(column: &TableColumn) -> std::result::Result<Type, ParquetError> {
    let physical = match column.values {
        TableValues::Text(_) => Physical::BYTE_ARRAY,
        TableValues::Int(_) => Physical::INT64,
        TableValues::Float(_) => Physical::DOUBLE,
        TableValues::Bool(_) => Physical::BOOLEAN,
    };
    let builder = Type::primitive_type_builder(&column.name, physical).with_repetition(Repetition::OPTIONAL);
    match column.values {
        TableValues::Text(_) => {
            builder.with_logical_type(Some(LogicalType::String)).with_converted_type(ConvertedType::UTF8).build()
        }
        TableValues::Int(_) | TableValues::Float(_) | TableValues::Bool(_) => builder.build(),
    }
}

fn write_values(
    out: &mut ColumnWriter<'_>,
    values: &TableValues,
    rows: std::ops::Range<usize>,
) -> std::result::Result<usize, ParquetError> {
    fn levels<T>(values: &[Option<T>]) -> Vec<i16> {
        values.iter().map(|value| i16::from(value.is_some())).collect()
    }
    match (out, values) {
        (ColumnWriter::ByteArrayColumnWriter(out), TableValues::Text(values)) => {
            let values = &values[rows];
            let present: Vec<ByteArray> =
                values.iter().flatten().map(|text| ByteArray::from(text.as_bytes().to_vec())).collect();
            out.write_batch(&present, Some(&levels(values)), None)
        }
        (ColumnWriter::Int64ColumnWriter(out), TableValues::Int(values)) => {
            let values = &values[rows];
            out.write_batch(&values.iter().flatten().copied().collect::<Vec<_>>(), Some(&levels(values)), None)
        }
        (ColumnWriter::DoubleColumnWriter(out), TableValues::Float(values)) => {
            let values = &values[rows];
            out.write_batch(&values.iter().flatten().copied().collect::<Vec<_>>(), Some(&levels(values)), None)
        }
        (ColumnWriter::BoolColumnWriter(out), TableValues::Bool(values)) => {
            let values = &values[rows];
            out.write_batch(&values.iter().flatten().copied().collect::<Vec<_>>(), Some(&levels(values)), None)
        }
        _ => Err(out_of_step()),
    }
}

fn out_of_step() -> ParquetError {
    ParquetError::General("columns out of step with the schema".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{TableColumn, TableValues, table_file};
    use parquet::file::reader::{FileReader, SerializedFileReader};

    #[test]
    fn a_table_reads_back_with_its_nulls() {
        let column = |name: &str, values| TableColumn { name: name.to_owned(), values };
        let columns = [
            column("file", TableValues::Text(vec![Some("a.py".to_owned()), None])),
            column("line", TableValues::Int(vec![Some(-1), Some(1 << 40)])),
            column("confidence", TableValues::Float(vec![Some(0.9), None])),
            column("is_public", TableValues::Bool(vec![Some(true), Some(false)])),
        ];
        let bytes = table_file(&columns).unwrap();
        assert_eq!(bytes, table_file(&columns).unwrap());
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let rows: Vec<String> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(
            rows,
            [
                "{file: \"a.py\", line: -1, confidence: 0.9, is_public: true}",
                "{file: null, line: 1099511627776, confidence: null, is_public: false}",
            ]
        );
    }

    #[test]
    fn columns_of_different_lengths_are_refused() {
        let column = |values| TableColumn { name: "x".to_owned(), values };
        let uneven = [column(TableValues::Int(vec![None])), column(TableValues::Int(Vec::new()))];
        assert!(table_file(&uneven).is_err());
    }
}
