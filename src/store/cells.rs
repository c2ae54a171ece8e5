//! Reads the columns of a row group side by side, some rows at a time, within a budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use crate::facts::table::Row;
use crate::store::window::Window;
use crate::store::{coding, names, schema};

/// The most list entries that the pages of one column may claim for one read of rows: a few
/// bytes of run-length code can claim billions. A file of 2 MB has below 1 M expressions.
const MAX_LEVELS: u64 = 16 << 20;

/// The readers of a row group's columns, all at the same row.
pub struct GroupReader {
    columns: Vec<OpenColumn>,
    /// The column to read next.
    next: usize,
    /// The first row of the current read.
    first: usize,
}

struct OpenColumn {
    reader: ColumnReader,
    budget: Arc<AtomicU64>,
    /// The row it stands at.
    row: usize,
}

impl GroupReader {
    /// Opens the first `n_columns` columns of a group that lies in `window`; `None` when its
    /// schema is not ours or it claims bytes outside of the window.
    pub fn open(window: &Window, group: &RowGroupMetaData, n_columns: usize) -> Option<Self> {
        let specs = schema::columns();
        if group.num_columns() != specs.len() || group.schema_descr().root_schema() != &*schema::parquet_schema() {
            return None;
        }
        let n_rows = usize::try_from(group.num_rows()).ok()?;
        let mut columns = Vec::with_capacity(n_columns);
        for (at, chunk) in group.columns().iter().take(n_columns).enumerate() {
            let start = u64::try_from(chunk.data_page_offset()).ok()?;
            let len = u64::try_from(chunk.compressed_size()).ok()?;
            if chunk.dictionary_page_offset().is_some() || !window.holds(start, len) {
                return None;
            }
            let budget = Arc::new(AtomicU64::new(0));
            let window = Arc::new(window.clone());
            let pages = SerializedPageReader::new(window.clone(), chunk, n_rows, None).ok()?;
            let pages = BoundedPages { pages, window, budget: budget.clone() };
            let reader = get_column_reader(group.schema_descr().column(at), Box::new(pages));
            columns.push(OpenColumn { reader, budget, row: 0 });
        }
        Some(GroupReader { columns, next: 0, first: 0 })
    }

    /// Reads rows `first .. first + n_rows` (never before an earlier read's) with `read`, which
    /// takes the columns in their order.
    pub fn take<R>(
        &mut self,
        first: usize,
        n_rows: usize,
        read: impl FnOnce(&mut Self, usize) -> Option<R>,
    ) -> Option<R> {
        (self.next, self.first) = (0, first);
        read(self, n_rows)
    }

    /// The next column, at the first wanted row and with a full budget.
    fn column(&mut self, n_rows: usize) -> Option<&mut ColumnReader> {
        let column = self.columns.get_mut(self.next)?;
        self.next += 1;
        let ahead = self.first.checked_sub(column.row)?;
        column.budget.store(MAX_LEVELS, Ordering::Relaxed);
        if skip(&mut column.reader, ahead).ok()? != ahead {
            return None;
        }
        column.row = self.first + n_rows;
        Some(&mut column.reader)
    }

    /// One byte string a row.
    pub fn bytes(&mut self, n_rows: usize) -> Option<Vec<Bytes>> {
        let ColumnReader::ByteArrayColumnReader(reader) = self.column(n_rows)? else { return None };
        let mut values: Vec<ByteArray> = Vec::with_capacity(n_rows);
        let (_, n_values, _) = reader.read_records(n_rows, None, None, &mut values).ok()?;
        (n_values == n_rows).then(|| values.into_iter().map(|v| bytes_of(&v)).collect())
    }

    /// One number a row.
    pub fn numbers(&mut self, n_rows: usize) -> Option<Vec<u64>> {
        let ColumnReader::Int32ColumnReader(reader) = self.column(n_rows)? else { return None };
        let mut values: Vec<i32> = Vec::with_capacity(n_rows);
        let (_, n_values, _) = reader.read_records(n_rows, None, None, &mut values).ok()?;
        (n_values == n_rows).then(|| values.into_iter().map(|v| u64::from(v as u32)).collect())
    }

    /// The names of each row; a row's `None` stands for a text that is none of names.
    pub fn names(&mut self, n_rows: usize) -> Option<Vec<Option<Vec<Box<str>>>>> {
        let ColumnReader::ByteArrayColumnReader(reader) = self.column(n_rows)? else { return None };
        let mut values: Vec<ByteArray> = Vec::with_capacity(n_rows);
        let (_, n_values, _) = reader.read_records(n_rows, None, None, &mut values).ok()?;
        (n_values == n_rows).then(|| values.iter().map(|value| names::split(value.data())).collect())
    }

    /// One table a row, from as many columns as the row type has; a row's `None` stands for a
    /// number that its field does not know.
    pub fn table<R: Row>(&mut self, n_rows: usize) -> Option<Vec<Option<Vec<R>>>> {
        let mut columns: Vec<Vec<u64>> = Vec::with_capacity(R::COLUMNS.len());
        let mut ends: Option<Vec<usize>> = None;
        let (mut definition, mut repetition) = (Vec::new(), Vec::new());
        for at in 0..R::COLUMNS.len() {
            if schema::derived_from::<R>(at).is_some() {
                columns.push(Vec::new());
                continue;
            }
            definition.clear();
            repetition.clear();
            let cells: Vec<u64> = match self.column(n_rows)? {
                ColumnReader::Int32ColumnReader(reader) => {
                    let mut values: Vec<i32> = Vec::new();
                    reader.read_records(n_rows, Some(&mut definition), Some(&mut repetition), &mut values).ok()?;
                    values.into_iter().map(|v| u64::from(v as u32)).collect()
                }
                ColumnReader::Int64ColumnReader(reader) => {
                    let mut values: Vec<i64> = Vec::new();
                    reader.read_records(n_rows, Some(&mut definition), Some(&mut repetition), &mut values).ok()?;
                    values.into_iter().map(|v| v as u64).collect()
                }
                _ => return None,
            };
            let column_ends = row_ends(n_rows, &definition, &repetition, cells.len())?;
            if ends.get_or_insert_with(|| column_ends.clone()) != &column_ends {
                return None;
            }
            columns.push(cells);
        }
        let ends = ends.unwrap_or_default();
        coding::decode::<R>(&mut columns, &ends);
        for at in 0..R::COLUMNS.len() {
            if let Some(len) = schema::derived_from::<R>(at) {
                columns[at] = run_starts(&columns[len], &ends);
            }
        }
        let mut start = 0;
        Some(
            ends.into_iter()
                .map(|end| (std::mem::replace(&mut start, end)..end).map(|at| R::read(&columns, at)).collect())
                .collect(),
        )
    }
}

fn bytes_of(value: &ByteArray) -> Bytes {
    Bytes::copy_from_slice(value.data())
}

fn skip(reader: &mut ColumnReader, n_rows: usize) -> Result<usize> {
    match reader {
        ColumnReader::ByteArrayColumnReader(reader) => reader.skip_records(n_rows),
        ColumnReader::Int32ColumnReader(reader) => reader.skip_records(n_rows),
        ColumnReader::Int64ColumnReader(reader) => reader.skip_records(n_rows),
        _ => Err(ParquetError::General("a column of no type of ours".to_owned())),
    }
}

/// The end of each row's list in the column's values; `None` unless there are exactly `n_rows`
/// rows and `n_values` values.
fn row_ends(n_rows: usize, definition: &[i16], repetition: &[i16], n_values: usize) -> Option<Vec<usize>> {
    let mut ends: Vec<usize> = Vec::with_capacity(n_rows);
    let mut n_seen = 0;
    for (definition, repetition) in definition.iter().zip(repetition) {
        if *repetition == 0 {
            ends.push(n_seen);
        }
        n_seen += usize::from(*definition == 1);
        *ends.last_mut()? = n_seen;
    }
    (ends.len() == n_rows && n_seen == n_values && definition.len() == repetition.len()).then_some(ends)
}

/// Where each list begins in its row's arena: the sum of the lengths before it, 0 for none.
fn run_starts(lens: &[u64], ends: &[usize]) -> Vec<u64> {
    let mut starts = Vec::with_capacity(lens.len());
    for end in ends {
        let mut sum = 0_u64;
        for len in &lens[starts.len()..*end] {
            starts.push(if *len == 0 { 0 } else { sum });
            sum += len;
        }
    }
    starts
}

/// The pages of a column, as long as what they claim stays within the budget.
struct BoundedPages {
    pages: SerializedPageReader<Window>,
    window: Arc<Window>,
    budget: Arc<AtomicU64>,
}

impl PageReader for BoundedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(next) = self.peek_next_page()? else { return Ok(None) };
        let claimed = next.num_levels.or(next.num_rows).unwrap_or(0) as u64;
        let left = self.budget.load(Ordering::Relaxed).checked_sub(claimed);
        let left = left.ok_or_else(|| ParquetError::General("page claims too many values".to_owned()))?;
        self.budget.store(left, Ordering::Relaxed);
        self.pages.get_next_page()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        let next = self.pages.peek_next_page()?;
        self.window.header_was_read(next.is_some());
        Ok(next)
    }

    fn skip_next_page(&mut self) -> Result<()> {
        let skipped = self.pages.skip_next_page();
        self.window.header_was_read(false);
        skipped
    }
}

impl Iterator for BoundedPages {
    type Item = Result<Page>;
    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
