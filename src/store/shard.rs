//! Facts to rows and back: many files' facts as the bytes of one Parquet file, and the rows of
//! one row group as facts again.
//!
//! Reading trusts nothing: sizes are capped before memory is given, numbers are read through
//! the model's checks, facts must keep every promise ([`validate`]) and have the digest that
//! their row names. What fails is `None`.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use crate::base::dialect::Dialect;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::guard::guarded;
use crate::base::id::{BlobId, Digest, Fingerprint, ShardKey};
use crate::facts::canonical;
use crate::facts::model::{FileFacts, NameId, Status};
use crate::facts::table::{Cell, Row, Width};
use crate::facts::validate::validate;
use crate::for_each_table;
use crate::store::cells::GroupReader;
use crate::store::window::Window;
use crate::store::{coding, names, operands, schema};

/// A shard to write: its key and its facts.
pub type Shard = (ShardKey, Arc<FileFacts>);

/// Rows of a row group: what a reader of one row may have to touch, against the cost of
/// one set of column chunks (about 9 KB of metadata) per group.
pub const ROWS_PER_GROUP: usize = 1_024;

/// Rows of a page: a reader unpacks whole pages, of each column.
pub const ROWS_PER_PAGE: usize = 256;

/// The bytes of a page of names: names repeat from file to file, and a page of four times the rows
/// takes a twentieth less. A reader of one row unpacks it in a few milliseconds.
const NAMES_PAGE_BYTES: usize = 4 << 20;

/// How the pages of a file are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A file of one row: a fast codec, since a zstd context a column costs more than the row.
    Loose,
    /// A file of many rows, made while its facts are.
    Pack,
    /// A file of many rows that is made once and fetched often: twice the work for 7 % fewer bytes.
    Published,
}

/// Encodes shards, in the given order, as one Parquet file.
///
/// Equal shards in equal order give equal bytes: no statistics, no page index, no foreign
/// metadata, a fixed `created_by`.
///
/// # Errors
/// `Store`, when the Parquet writer refuses (it writes to memory, so never for want of space).
pub fn encode(shards: &[Shard], form: Form) -> Result<Vec<u8>> {
    write_file(shards, form).map_err(|cause| Error::new(ErrorKind::Store, "cannot encode shards").source(cause))
}

/// The writer's properties of a form.
fn properties(form: Form) -> WriterProperties {
    let compression = match form {
        Form::Loose => Compression::SNAPPY,
        Form::Pack => Compression::ZSTD(ZstdLevel::try_new(3).expect("because 3 is a zstd level")),
        Form::Published => Compression::ZSTD(ZstdLevel::try_new(9).expect("because 9 is a zstd level")),
    };
    WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_created_by("ratlas".to_owned())
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false)
        .set_compression(compression)
        .set_max_row_group_row_count(None)
        .set_data_page_row_count_limit(ROWS_PER_PAGE)
        .build()
}

fn write_file(shards: &[Shard], form: Form) -> std::result::Result<Vec<u8>, ParquetError> {
    let mut base = properties(form).into_builder();
    for column in schema::columns() {
        let encoding = match column.holds {
            // Measured on 826 files: split bytes under zstd take 30 % less than deltas or dictionaries.
            schema::Holds::Ints if form != Form::Loose => Encoding::BYTE_STREAM_SPLIT,
            schema::Holds::Ints => Encoding::DELTA_BINARY_PACKED,
            schema::Holds::Bytes | schema::Holds::Text | schema::Holds::Int | schema::Holds::Longs => Encoding::PLAIN,
        };
        base = base.set_column_encoding(column.name.as_str().into(), encoding);
    }
    let names = &schema::columns()[schema::NAMES].name;
    base = base.set_column_data_page_row_count_limit(names.as_str().into(), ROWS_PER_GROUP);
    base = base.set_column_data_page_size_limit(names.as_str().into(), NAMES_PAGE_BYTES);
    let mut writer = SerializedFileWriter::new(Vec::new(), schema::parquet_schema(), Arc::new(base.build()))?;
    for group in shards.chunks(ROWS_PER_GROUP) {
        let mut columns = writer.next_row_group()?;
        write_scalars(&mut columns, group)?;
        write_names(&mut columns, group)?;
        macro_rules! each {
            ($field:ident) => {
                write_table(&mut columns, group, |facts| &facts.$field)?;
            };
        }
        for_each_table!(each);
        columns.close()?;
    }
    writer.into_inner()
}

type RowGroup<'w> = SerializedRowGroupWriter<'w, Vec<u8>>;

fn write_scalars(out: &mut RowGroup<'_>, shards: &[Shard]) -> std::result::Result<(), ParquetError> {
    let bytes = |of: fn(&Shard) -> Vec<u8>| shards.iter().map(|s| ByteArray::from(of(s))).collect::<Vec<_>>();
    let numbers = |of: fn(&Shard) -> u64| shards.iter().map(|s| of(s) as u32 as i32).collect::<Vec<_>>();
    write_bytes(out, &bytes(|(key, _)| key.blob.as_bytes().to_vec()))?;
    write_bytes(out, &bytes(|(key, _)| key.dialect.as_str().as_bytes().to_vec()))?;
    write_bytes(out, &bytes(|(key, _)| key.fingerprint.0.0.to_vec()))?;
    write_bytes(out, &bytes(|(_, facts)| canonical::digest(facts).0.to_vec()))?;
    write_bytes(out, &bytes(|(_, facts)| facts.status.as_str().as_bytes().to_vec()))?;
    write_numbers(out, &numbers(|(_, facts)| facts.status_reason.to_cell()))?;
    write_numbers(out, &numbers(|(_, facts)| u64::from(facts.n_lines)))?;
    write_numbers(out, &numbers(|(_, facts)| u64::from(facts.n_bytes)))
}

fn write_bytes(out: &mut RowGroup<'_>, values: &[ByteArray]) -> std::result::Result<(), ParquetError> {
    write_column(out, |column| match column {
        ColumnWriter::ByteArrayColumnWriter(column) => column.write_batch(values, None, None),
        _ => Err(unexpected_column()),
    })
}

fn write_numbers(out: &mut RowGroup<'_>, values: &[i32]) -> std::result::Result<(), ParquetError> {
    write_column(out, |column| match column {
        ColumnWriter::Int32ColumnWriter(column) => column.write_batch(values, None, None),
        _ => Err(unexpected_column()),
    })
}

fn write_names(out: &mut RowGroup<'_>, shards: &[Shard]) -> std::result::Result<(), ParquetError> {
    let names: Vec<ByteArray> = shards.iter().map(|(_, facts)| names::join(&facts.names).into_bytes().into()).collect();
    write_bytes(out, &names)
}

fn write_table<R: Row>(
    out: &mut RowGroup<'_>,
    shards: &[Shard],
    rows: fn(&FileFacts) -> &Vec<R>,
) -> std::result::Result<(), ParquetError> {
    let levels = Levels::of(shards, |facts| rows(facts).len());
    let mut columns = vec![Vec::with_capacity(levels.n_cells()); R::COLUMNS.len()];
    for (_, facts) in shards {
        rows(facts).iter().for_each(|row| row.write(&mut columns));
    }
    let ends: Vec<usize> = shards
        .iter()
        .scan(0, |end, (_, facts)| {
            *end += rows(facts).len();
            Some(*end)
        })
        .collect();
    coding::encode::<R>(&mut columns, &ends);
    for (at, _) in schema::coded::<R>().filter(|(_, coding)| *coding == schema::Coding::Expected) {
        let mut start = 0;
        for ((_, facts), end) in shards.iter().zip(&ends) {
            operands::encode(&facts.exprs, &mut columns[at][start..*end]);
            start = *end;
        }
    }
    for (at, (column, cells)) in R::COLUMNS.iter().zip(columns).enumerate() {
        if schema::derived_from::<R>(at).is_some() {
            continue;
        }
        match column.width {
            Width::Narrow => {
                let cells: Vec<i32> = cells.into_iter().map(|cell| cell as u32 as i32).collect();
                write_column(out, |column| match column {
                    ColumnWriter::Int32ColumnWriter(column) => {
                        levels.pages(|at, levels| column.write_batch(&cells[at], Some(levels.0), Some(levels.1)))
                    }
                    _ => Err(unexpected_column()),
                })?;
            }
            Width::Wide => {
                let cells: Vec<i64> = cells.into_iter().map(|cell| cell as i64).collect();
                write_column(out, |column| match column {
                    ColumnWriter::Int64ColumnWriter(column) => {
                        levels.pages(|at, levels| column.write_batch(&cells[at], Some(levels.0), Some(levels.1)))
                    }
                    _ => Err(unexpected_column()),
                })?;
            }
        }
    }
    Ok(())
}

fn write_column(
    out: &mut RowGroup<'_>,
    write: impl FnOnce(&mut ColumnWriter<'_>) -> std::result::Result<usize, ParquetError>,
) -> std::result::Result<(), ParquetError> {
    let mut column = out.next_column()?.ok_or_else(unexpected_column)?;
    write(column.untyped())?;
    column.close()
}

fn unexpected_column() -> ParquetError {
    ParquetError::General("columns out of step with the schema".to_owned())
}

/// Where each row's list begins: Parquet's definition and repetition levels of one table,
/// which all of its columns share.
struct Levels {
    definition: Vec<i16>,
    repetition: Vec<i16>,
    /// For each page: the ends of its cells and of its levels.
    pages: Vec<(usize, usize)>,
}

impl Levels {
    fn of(shards: &[Shard], len: impl Fn(&FileFacts) -> usize) -> Self {
        let mut levels = Levels { definition: Vec::new(), repetition: Vec::new(), pages: Vec::new() };
        let mut n_cells = 0;
        for page in shards.chunks(ROWS_PER_PAGE) {
            for (_, facts) in page {
                let n = len(facts);
                levels.repetition.push(0);
                levels.definition.push(i16::from(n > 0));
                levels.repetition.resize(levels.repetition.len() + n.saturating_sub(1), 1);
                levels.definition.resize(levels.repetition.len(), 1);
                n_cells += n;
            }
            levels.pages.push((n_cells, levels.definition.len()));
        }
        levels
    }

    fn n_cells(&self) -> usize {
        self.pages.last().map_or(0, |(cells, _)| *cells)
    }

    /// Calls `write` with the cells and the levels of each page.
    fn pages(
        &self,
        mut write: impl FnMut(std::ops::Range<usize>, (&[i16], &[i16])) -> std::result::Result<usize, ParquetError>,
    ) -> std::result::Result<usize, ParquetError> {
        let (mut cell, mut level) = (0, 0);
        for (cell_end, level_end) in &self.pages {
            let levels = (&self.definition[level..*level_end], &self.repetition[level..*level_end]);
            write(cell..*cell_end, levels)?;
            (cell, level) = (*cell_end, *level_end);
        }
        Ok(cell)
    }
}

/// Decodes rows `wanted` (ascending positions in the group) of a row group.
///
/// One entry a wanted row, in order; `None` for a row that is not whole and right.
/// Never panics, whatever the bytes.
pub fn decode(window: &Window, group: &RowGroupMetaData, wanted: &[usize]) -> Vec<Option<(ShardKey, FileFacts)>> {
    // The Parquet reader may panic on bytes made to harm; such a group is a miss as a whole.
    let rows = guarded(|| read_rows(window, group, wanted)).flatten();
    let mut rows = rows.unwrap_or_default();
    rows.resize_with(wanted.len(), || None);
    rows
}

/// The keys of all rows of a row group, in order; `None` when they cannot be read.
pub fn decode_keys(window: &Window, group: &RowGroupMetaData) -> Option<Vec<ShardKey>> {
    guarded(|| {
        let n_rows = usize::try_from(group.num_rows()).ok().filter(|n| *n <= ROWS_PER_GROUP)?;
        let mut reader = GroupReader::open(window, group, 3)?;
        let keys: Option<Vec<_>> = reader.take(0, n_rows, read_keys)?.into_iter().collect();
        keys
    })
    .flatten()
}

fn read_rows(
    window: &Window,
    group: &RowGroupMetaData,
    wanted: &[usize],
) -> Option<Vec<Option<(ShardKey, FileFacts)>>> {
    let mut reader = GroupReader::open(window, group, schema::columns().len())?;
    let mut rows = Vec::with_capacity(wanted.len());
    let mut rest = wanted;
    while let Some(first) = rest.first().copied() {
        // A run of neighbors is read at once; pages between runs are skipped unread.
        let n_rows = rest.iter().enumerate().take(ROWS_PER_PAGE).take_while(|(at, row)| **row == first + at).count();
        rest = &rest[n_rows..];
        rows.extend(reader.take(first, n_rows, read_facts)?);
    }
    Some(rows)
}

fn read_keys(reader: &mut GroupReader, n_rows: usize) -> Option<Vec<Option<ShardKey>>> {
    let blobs = reader.bytes(n_rows)?;
    let dialects = reader.bytes(n_rows)?;
    let fingerprints = reader.bytes(n_rows)?;
    let key = |at: usize| {
        Some(ShardKey {
            blob: BlobId::from_bytes(&blobs[at])?,
            dialect: Dialect::parse(std::str::from_utf8(&dialects[at]).ok()?)?,
            fingerprint: Fingerprint(Digest(fingerprints[at].as_ref().try_into().ok()?)),
        })
    };
    Some((0..n_rows).map(key).collect())
}

fn read_facts(reader: &mut GroupReader, n_rows: usize) -> Option<Vec<Option<(ShardKey, FileFacts)>>> {
    let keys = read_keys(reader, n_rows)?;
    let digests = reader.bytes(n_rows)?;
    let statuses = reader.bytes(n_rows)?;
    let reasons = reader.numbers(n_rows)?;
    let lines = reader.numbers(n_rows)?;
    let sizes = reader.numbers(n_rows)?;
    let header = |at: usize| {
        let key = keys[at]?;
        let mut facts = FileFacts::empty(key.dialect);
        facts.status = Status::ALL.iter().copied().find(|s| s.as_str().as_bytes() == &*statuses[at])?;
        facts.status_reason = Option::<NameId>::from_cell(reasons[at])?;
        facts.n_lines = u32::from_cell(lines[at])?;
        facts.n_bytes = u32::from_cell(sizes[at])?;
        Some((key, facts))
    };
    let mut rows: Vec<Option<(ShardKey, FileFacts)>> = (0..n_rows).map(header).collect();
    for (row, names) in rows.iter_mut().zip(reader.names(n_rows)?) {
        match (row.as_mut(), names) {
            (Some((_, facts)), Some(names)) => facts.names = names,
            _ => *row = None,
        }
    }
    macro_rules! each {
        ($field:ident) => {
            for (row, table) in rows.iter_mut().zip(reader.table(n_rows)?) {
                match (row.as_mut(), table) {
                    (Some((_, facts)), Some(table)) => facts.$field = table,
                    _ => *row = None,
                }
            }
        };
    }
    for_each_table!(each);
    for (row, digest) in rows.iter_mut().zip(&digests) {
        let right = row.as_mut().is_some_and(|(_, facts)| {
            operands::decode(&facts.exprs, &mut facts.operands).is_some()
                && canonical::digest(facts).0[..] == **digest
                && validate(facts)
        });
        if !right {
            *row = None;
        }
    }
    Some(rows)
}
