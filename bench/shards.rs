//! Measures extraction and shards over the folder that `RATLAS_BENCH_DIR` names, as JSON lines:
//! times as multiples of parsing and dropping the tree, bytes by group of columns.
//!
//! `RATLAS_BENCH_DIR=some/clone cargo bench --bench shards`

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parquet::file::metadata::ParquetMetaDataReader;
use ratlas::base::dialect::Dialect;
use ratlas::base::id::{BlobId, Digest, ShardKey};
use ratlas::extract::extract;
use ratlas::extract::fingerprint::fingerprint;
use ratlas::extract::redact::Redactor;
use ratlas::extract::screen::screen;
use ratlas::facts::canonical;
use ratlas::facts::model::FileFacts;
use ratlas::facts::validate::validate;
use ratlas::lang;
use ratlas::store::pack::{PackIndex, read_loose};
use ratlas::store::schema;
use ratlas::store::shard::{self, Form, Shard};
use ratlas::store::window::Window;
use serde_json::json;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Each step is run this often; the fastest counts, the machine being shared.
const N_RUNS: usize = 3;

fn main() {
    let Some(folder) = std::env::var_os("RATLAS_BENCH_DIR") else {
        println!("{}", json!({ "bench": "shards", "skipped": "set RATLAS_BENCH_DIR to a folder of sources" }));
        return;
    };
    let sources = read_sources(PathBuf::from(folder));
    if sources.is_empty() {
        println!("{}", json!({ "bench": "shards", "skipped": "no sources of an indexed language" }));
        return;
    }
    let n_bytes: usize = sources.iter().map(|(_, source)| source.len()).sum();
    let parse = fastest(|| sources.iter().for_each(|(dialect, source)| parse_and_drop(*dialect, source)));
    let extracted = fastest(|| sources.iter().for_each(|(dialect, source)| drop(extract(*dialect, source))));
    let shards = shards_of(&sources);
    let redactor = Redactor::built_in();
    let redact = fastest(|| {
        shards.iter().flat_map(|(_, facts)| &facts.names).for_each(|name| drop(redactor.redact(name)));
    });
    let digest = fastest(|| {
        shards.iter().for_each(|(_, facts)| {
            std::hint::black_box(canonical::digest(facts));
        })
    });
    let check = fastest(|| assert!(shards.iter().all(|(_, facts)| validate(facts))));
    let mut pack = Vec::new();
    let write = fastest(|| pack = shard::encode(&shards, Form::Pack).expect("writes to memory"));
    let mut decoded = Vec::new();
    let read = fastest(|| decoded = decode_all(&pack));
    assert!(decoded.iter().zip(&shards).all(|(one, other)| *one == *other.1), "the pack reads back");
    let one = fastest(|| drop(decode_rows(&pack, &[shards.len() / 2])));
    let mut loose = Vec::new();
    let write_loose = fastest(|| {
        loose = shards.chunks(1).map(|s| shard::encode(s, Form::Loose).expect("writes to memory")).collect()
    });
    let read_loose_files = fastest(|| assert!(loose.iter().all(|file| read_loose(file).is_some())));

    let n = shards.len() as f64;
    let micros = |time: Duration| round(time.as_secs_f64() * 1e6 / n);
    let ratio = |time: Duration| round(time.as_secs_f64() / parse.as_secs_f64() * 1e3) / 1e3;
    println!(
        "{}",
        json!({
            "bench": "shards", "blobs": shards.len(), "source_bytes": n_bytes,
            "parse_and_drop_ms": round(parse.as_secs_f64() * 1e3),
            "over_parse": {
                "extract": ratio(extracted), "redact": ratio(redact), "digest": ratio(digest), "validate": ratio(check),
                "pack_write": ratio(write), "pack_read": ratio(read),
                "loose_write": ratio(write_loose), "loose_read": ratio(read_loose_files),
            },
            "us_per_blob": {
                "pack_write": micros(write), "pack_read": micros(read),
                "loose_write": micros(write_loose), "loose_read": micros(read_loose_files),
                "digest": micros(digest), "validate": micros(check),
            },
            "one_row_of_the_pack_us": round(one.as_secs_f64() * 1e6),
        })
    );
    let n_loose: usize = loose.iter().map(Vec::len).sum();
    for (form, files) in [("pack", std::slice::from_ref(&pack)), ("loose", &loose)] {
        let total: usize = files.iter().map(Vec::len).sum();
        let mut groups: BTreeMap<&'static str, u64> = BTreeMap::new();
        files.iter().for_each(|file| count_groups(file, &mut groups));
        let counted: u64 = groups.values().sum();
        groups.insert("(metadata)", total as u64 - counted);
        let share: serde_json::Map<String, serde_json::Value> = groups
            .into_iter()
            .map(|(group, bytes)| {
                let of_source = round(bytes as f64 / n_bytes as f64 * 1e4) / 1e2;
                (group.to_owned(), json!({ "per_blob": round(bytes as f64 / n), "percent_of_source": of_source }))
            })
            .collect();
        println!(
            "{}",
            json!({
                "bench": "shard_bytes", "form": form, "per_blob": round(total as f64 / n),
                "percent_of_source": round(total as f64 / n_bytes as f64 * 1e4) / 1e2, "groups": share,
            })
        );
    }
    let smallest = loose.iter().map(Vec::len).min().unwrap_or_default();
    println!("{}", json!({ "bench": "loose_files", "bytes": n_loose, "smallest": smallest }));
}

fn round(value: f64) -> f64 {
    value.round()
}

/// The sources below a folder in order of path, each content of a dialect once.
fn read_sources(folder: PathBuf) -> Vec<(Dialect, Vec<u8>)> {
    let mut folders = vec![folder];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() && name != ".git" && name != "node_modules" {
                folders.push(entry.path());
            } else if let (true, Some(dialect)) = (kind.is_file(), Dialect::of_file_name(&name)) {
                files.push((entry.path(), dialect));
            }
        }
    }
    files.sort();
    let mut seen = std::collections::BTreeSet::new();
    files
        .into_iter()
        .filter_map(|(path, dialect)| Some((dialect, std::fs::read(path).ok()?)))
        .filter(|(dialect, source)| screen(source).is_none() && seen.insert((*dialect, Digest::of(source))))
        .collect()
}

fn parse_and_drop(dialect: Dialect, source: &[u8]) {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&lang::of(dialect).grammar(dialect)).expect("the grammar fits the library");
    drop(parser.parse(source, None));
}

fn shards_of(sources: &[(Dialect, Vec<u8>)]) -> Vec<Shard> {
    let mut shards: Vec<Shard> = sources
        .iter()
        .map(|(dialect, source)| {
            let blob = BlobId::from_bytes(&Digest::of(source).0[..20]).expect("twenty bytes");
            let key = ShardKey { blob, dialect: *dialect, fingerprint: fingerprint(*dialect) };
            (key, Arc::new(extract(*dialect, source)))
        })
        .collect();
    shards.sort_by_key(|(key, _)| *key);
    shards
}

fn fastest(mut step: impl FnMut()) -> Duration {
    (0..N_RUNS)
        .map(|_| {
            let start = Instant::now();
            step();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn decode_all(pack: &[u8]) -> Vec<FileFacts> {
    let index = PackIndex::of(pack).expect("a pack of ours");
    decode_rows(pack, &(0..index.keys.len()).collect::<Vec<_>>())
}

fn decode_rows(pack: &[u8], rows: &[usize]) -> Vec<FileFacts> {
    let metadata =
        ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::copy_from_slice(pack)).expect("parquet");
    let window = Window::new(0, pack.to_vec());
    let mut facts = Vec::new();
    for (nth, group) in metadata.row_groups().iter().enumerate() {
        let first = nth * shard::ROWS_PER_GROUP;
        let wanted: Vec<usize> =
            rows.iter().filter_map(|row| row.checked_sub(first)).filter(|row| *row < shard::ROWS_PER_GROUP).collect();
        if !wanted.is_empty() {
            facts.extend(shard::decode(&window, group, &wanted).into_iter().map(|row| row.expect("a whole row").1));
        }
    }
    facts
}

/// Adds the packed bytes of each column to its group: the key, the names, or a table.
fn count_groups(file: &[u8], groups: &mut BTreeMap<&'static str, u64>) {
    let metadata =
        ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::copy_from_slice(file)).expect("parquet");
    for group in metadata.row_groups() {
        for (at, (chunk, column)) in group.columns().iter().zip(schema::columns()).enumerate() {
            let name = if at < schema::NAMES {
                "key"
            } else if column.name == "names" {
                "names"
            } else if column.holds == schema::Holds::Longs {
                "hashes"
            } else {
                column.table
            };
            *groups.entry(name).or_default() += u64::try_from(chunk.compressed_size()).unwrap_or_default();
        }
    }
}
