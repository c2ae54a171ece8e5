//! What compilers said of a view's files (tier 0), as far as it still holds: for which files an
//! index is believed, and what it says a reference means.
//!
//! An index is of one tree, and a compiler's word on a file hangs on all that the file imports.
//! It is believed for a file of the same path and bytes, under the same configuration, when every
//! file in its import closure is one of the index's, unchanged. All else is linked as ever, so the
//! graph stays a function of the view and of the indexes kept beside the shards.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::facts::model::{SymbolFlags, SymbolKind};
use crate::facts::table::Id;
use crate::graph::edge::FileUse;
use crate::graph::file_graph::FileGraph;
use crate::scip::program::{Mark, Placed, Program, SymbolSort, digest_of_configuration};
use crate::view::{FileIdx, SymbolRef, View};

/// What a compiler says a reference means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// These symbols of the view; sorted, unique.
    Symbols(Vec<SymbolRef>),
    /// Something of another package.
    External,
}

/// The words on one file's references, by line and column.
#[derive(Clone, Debug, Default)]
pub struct FileWords {
    /// Sorted by place.
    words: Vec<((u32, u32), Word)>,
}

impl FileWords {
    /// The word on the reference at a place.
    pub fn at(&self, line: u32, column: u32) -> Option<&Word> {
        let at = self.words.binary_search_by_key(&(line, column), |row| row.0).ok()?;
        Some(&self.words[at].1)
    }

    /// Every word in order of place.
    pub fn iter(&self) -> impl Iterator<Item = ((u32, u32), &Word)> {
        self.words.iter().map(|(place, word)| (*place, word))
    }
}

/// The files for which an index of `view.compilers` is believed, with its position there; sorted.
/// The first index that holds for a file is taken.
pub fn believed(view: &View, uses: &[FileUse]) -> Vec<(FileIdx, u32)> {
    let mut taken: BTreeMap<FileIdx, u32> = BTreeMap::new();
    if view.compilers.is_empty() {
        return Vec::new();
    }
    let configuration = digest_of_configuration(view.config.iter().map(|(path, bytes)| (path.as_str(), &**bytes)));
    let files = FileGraph::new(view.files.len(), uses);
    for (at, program) in view.compilers.iter().enumerate() {
        if program.configuration != configuration {
            continue;
        }
        let changed = view.indices().filter(|file| placed(view, program, *file).is_none());
        let doubted = files.closure_of_users(changed);
        for file in view.indices().filter(|file| !doubted.has(*file)) {
            taken.entry(file).or_insert(at as u32);
        }
    }
    taken.into_iter().collect()
}

/// The words on the files of `believed`, by file.
pub fn words(view: &View, believed: &[(FileIdx, u32)]) -> HashMap<FileIdx, FileWords> {
    let mut words = HashMap::new();
    for (at, program) in view.compilers.iter().enumerate() {
        let mut files = believed.iter().filter(|(_, taken)| *taken == at as u32).peekable();
        if files.peek().is_none() {
            continue;
        }
        let definitions = Definitions::of(view, program);
        for (file, _) in files {
            if let Some(placed) = placed(view, program, *file) {
                words.insert(*file, words_of(placed, program, &definitions));
            }
        }
    }
    words
}

fn placed<'p>(view: &View, program: &'p Arc<Program>, file: FileIdx) -> Option<&'p Placed> {
    let file = view.file(file);
    program.find(&file.path, file.blob, file.dialect)
}

/// What the symbols of a program are in a view.
struct Definitions {
    /// By number; empty where no symbol stands at any of its places.
    symbols: Vec<Vec<SymbolRef>>,
}

impl Definitions {
    fn of(view: &View, program: &Arc<Program>) -> Self {
        let mut symbols: Vec<Vec<SymbolRef>> = vec![Vec::new(); program.symbols.len()];
        for file in view.indices() {
            let Some(placed) = placed(view, program, file) else { continue };
            let facts = view.facts(file);
            let mut named: Vec<((u32, u32), SymbolRef)> = (1..facts.symbols.len())
                .map(|row| SymbolRef { file, symbol: Id::new(row) })
                .map(|at| ((view.symbol(at).name_line, view.symbol(at).name_column), at))
                .collect();
            named.sort_unstable();
            for mark in &placed.definitions {
                let start = named.partition_point(|row| row.0 < (mark.line, mark.column));
                let here = named[start..].iter().take_while(|row| row.0 == (mark.line, mark.column));
                let here: Vec<SymbolRef> = here.map(|row| row.1).collect();
                symbols[mark.symbol as usize].extend(meant(view, &here, program.symbols[mark.symbol as usize]));
            }
        }
        for found in &mut symbols {
            found.sort_unstable();
            found.dedup();
            let is_overload = |at: &SymbolRef| view.symbol(*at).flags.has(SymbolFlags::OVERLOAD);
            if found.iter().any(|at| !is_overload(at)) {
                found.retain(|at| !is_overload(at));
            }
        }
        Definitions { symbols }
    }
}

/// Of the symbols at one place those that a compiler's symbol means: a class and its constructor
/// may stand at one name.
fn meant(view: &View, here: &[SymbolRef], sort: SymbolSort) -> Vec<SymbolRef> {
    let is_constructor = |at: &SymbolRef| view.symbol(*at).kind == SymbolKind::Constructor;
    let wanted = sort == SymbolSort::OwnConstructor;
    match here.iter().any(|at| is_constructor(at) == wanted) {
        true => here.iter().copied().filter(|at| is_constructor(at) == wanted).collect(),
        false => here.to_vec(),
    }
}

fn words_of(placed: &Placed, program: &Program, definitions: &Definitions) -> FileWords {
    let mut words = Vec::new();
    for marks in placed.references.chunk_by(|a, b| (a.line, a.column) == (b.line, b.column)) {
        let sort = |mark: &Mark| program.symbols[mark.symbol as usize];
        let mut symbols: Vec<SymbolRef> =
            marks.iter().flat_map(|mark| &definitions.symbols[mark.symbol as usize]).copied().collect();
        symbols.sort_unstable();
        symbols.dedup();
        let word = match symbols.is_empty() {
            false => Word::Symbols(symbols),
            true if marks.iter().all(|mark| sort(mark) == SymbolSort::External) => Word::External,
            true => continue,
        };
        words.push(((marks[0].line, marks[0].column), word));
    }
    FileWords { words }
}
