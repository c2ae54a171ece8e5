//! Interning the names of all files at once: parts of the files by themselves, then parts of the
//! texts by themselves, on all threads.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use rayon::prelude::*;

use crate::base::dialect::Dialect;
use crate::facts::model::{FileFacts, NameId};
use crate::facts::table::Id;
use crate::graph::texts::{Text, Texts};
use crate::view::{View, ViewFile};

/// How many parts the files are cut into for each thread, which differ in weight.
const PARTS_PER_THREAD: usize = 4;
/// How many parts the texts are cut into, by their hashes.
const N_SHARDS: usize = 16;
/// What stands in a part for a name that nothing is looked up by.
const SILENT: u32 = u32::MAX;

/// A distinct text of some files.
#[derive(Clone, Copy)]
struct Row<'v> {
    hash: u64,
    text: &'v str,
}

impl Row<'_> {
    /// Of the hash the middle, of which tables make no use.
    fn shard(&self) -> usize {
        (self.hash >> 32) as usize % N_SHARDS
    }
}

/// The names of some files: their distinct texts, and of each file the position of each name's text.
struct Part<'v> {
    texts: Vec<Row<'v>>,
    files: Vec<Vec<u32>>,
}

/// The distinct texts of one shard, and of each part the numbers within the shard of its texts that
/// fall there, in order.
struct Shard<'v> {
    texts: Vec<Row<'v>>,
    of_parts: Vec<Vec<u32>>,
}

/// Interns the names of all files: the texts, without users, and of each file the text of each name;
/// [`Text::NONE`] for what nothing is looked up by. O(names).
pub fn intern(view: &View) -> (Texts, Vec<Vec<Text>>) {
    let hasher = RandomState::default();
    let n_parts = rayon::current_num_threads() * PARTS_PER_THREAD;
    let chunks = view.files.par_chunks(view.files.len().div_ceil(n_parts).max(1));
    let parts: Vec<Part<'_>> = chunks.map(|files| Part::new(files, &hasher)).collect();
    let shards: Vec<Shard<'_>> = (0..N_SHARDS).into_par_iter().map(|at| Shard::new(&parts, at)).collect();
    // The empty text comes before all others.
    let mut start = 1;
    let starts: Vec<u32> = shards
        .iter()
        .map(|shard| {
            start += shard.texts.len() as u32;
            start - shard.texts.len() as u32
        })
        .collect();
    let none = Row { hash: hasher.hash_one(""), text: "" };
    let all = std::iter::once(&none).chain(shards.iter().flat_map(|shard| &shard.texts));
    let distinct: Vec<(u64, &str)> = all.map(|row| (row.hash, row.text)).collect();
    rayon::join(
        || Texts::of_distinct(&distinct, hasher.clone()),
        || {
            let parts = parts.par_iter().enumerate();
            parts.flat_map_iter(|(at, part)| part.numbered(at, &shards, &starts)).collect()
        },
    )
}

impl<'v> Part<'v> {
    fn new(files: &'v [ViewFile], hasher: &RandomState) -> Self {
        let mut texts: Vec<Row<'_>> = Vec::new();
        let mut known: HashTable<u32> = HashTable::new();
        let mut number = |text: &'v str| {
            let hash = hasher.hash_one(text);
            let found = known.find(hash, |at| {
                let row = &texts[*at as usize];
                row.hash == hash && row.text == text
            });
            if let Some(at) = found {
                return *at;
            }
            let at = texts.len() as u32;
            texts.push(Row { hash, text });
            known.insert_unique(hash, at, |at| texts[*at as usize].hash);
            at
        };
        let files = files
            .iter()
            .map(|file| {
                let names = file.facts.names.iter().zip(looked_up(&file.facts));
                names.map(|(name, is_looked_up)| if is_looked_up { number(name) } else { SILENT }).collect()
            })
            .collect();
        Part { texts, files }
    }

    /// The texts of each file's names, by their numbers among all.
    fn numbered(&self, part: usize, shards: &[Shard<'v>], starts: &[u32]) -> Vec<Vec<Text>> {
        let mut next: Vec<std::slice::Iter<'_, u32>> = shards.iter().map(|shard| shard.of_parts[part].iter()).collect();
        let numbers: Vec<Text> = self
            .texts
            .iter()
            .map(|row| match next[row.shard()].next() {
                Some(at) if !row.text.is_empty() => Text(starts[row.shard()] + at),
                _ => Text::NONE,
            })
            .collect();
        let text = |at: &u32| numbers.get(*at as usize).copied().unwrap_or(Text::NONE);
        self.files.iter().map(|names| names.iter().map(text).collect()).collect()
    }
}

impl<'v> Shard<'v> {
    fn new(parts: &[Part<'v>], shard: usize) -> Self {
        let mut texts: Vec<Row<'_>> = Vec::new();
        let mut known: HashTable<u32> = HashTable::new();
        let of_parts = parts
            .iter()
            .map(|part| {
                let rows = part.texts.iter().filter(|row| row.shard() == shard);
                rows.map(|row| {
                    let found = known.find(row.hash, |at| {
                        let other: &Row<'_> = &texts[*at as usize];
                        other.hash == row.hash && other.text == row.text
                    });
                    if let Some(at) = found {
                        return *at;
                    }
                    let at = texts.len() as u32;
                    texts.push(*row);
                    known.insert_unique(row.hash, at, |at| texts[*at as usize].hash);
                    at
                })
                .collect()
            })
            .collect();
        Shard { texts, of_parts }
    }
}

/// Whether a text has no dot, parenthesis or blank. Eight bytes at a time (Hacker's Delight 6-1).
fn is_word(text: &str) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let has = |bytes: u64, byte: u8| {
        let zeroed = bytes ^ (ONES * u64::from(byte));
        zeroed.wrapping_sub(ONES) & !zeroed & (ONES << 7)
    };
    let (eights, rest) = text.as_bytes().as_chunks::<8>();
    let has_any = |eight: &[u8; 8]| {
        let bytes = u64::from_le_bytes(*eight);
        (has(bytes, b'.') | has(bytes, b'(') | has(bytes, b' ')) > 0
    };
    !eights.iter().any(has_any) && !rest.iter().any(|byte| matches!(byte, b'.' | b'(' | b' '))
}

/// Which names of a file are names of something, and not only a signature, a doc or a qualified name,
/// by which nothing is looked up.
pub fn looked_up(facts: &FileFacts) -> Vec<bool> {
    if facts.dialect == Dialect::Java {
        // Java names nothing by a text of several words or parts.
        return facts.names.iter().map(|name| is_word(name)).collect();
    }
    let mut looked_up = vec![true; facts.names.len()];
    for symbol in &facts.symbols {
        for silent in [Some(symbol.qualname), Some(symbol.signature), symbol.doc].into_iter().flatten() {
            looked_up[silent.index()] = false;
        }
    }
    let mut keep = |name: Option<NameId>| {
        if let Some(name) = name {
            looked_up[name.index()] = true;
        }
    };
    facts.symbols.iter().for_each(|row| keep(Some(row.name)));
    facts.params.iter().for_each(|row| keep(row.name));
    facts.type_params.iter().for_each(|row| keep(Some(row.name)));
    facts.exprs.iter().for_each(|row| keep(row.name));
    facts.operands.iter().for_each(|row| keep(row.name));
    facts.types.iter().for_each(|row| keep(row.name));
    facts.type_operands.iter().for_each(|row| keep(row.name));
    facts.bindings.iter().for_each(|row| keep(row.name));
    facts.steps.iter().for_each(|row| keep(row.name));
    facts.narrowings.iter().for_each(|row| keep(row.name));
    facts.imports.iter().for_each(|row| [row.module, row.name, row.local].into_iter().for_each(&mut keep));
    facts.exports.iter().for_each(|row| [row.exported, row.local, row.module].into_iter().for_each(&mut keep));
    facts.package.iter().for_each(|row| keep(Some(row.name)));
    looked_up
}
