//! Places a SCIP index on the files of a view: which file each document is of, and where its
//! symbols stand as facts count columns. A document that does not fit its file is left out, with
//! the reason: it was made from other bytes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::base::id::Digest;
use crate::base::path::RepoPath;
use crate::scip::index::{self, Document, Encoding, Index, Occurrence};
use crate::scip::program::{self, Mark, Placed, Program, SymbolSort};
use crate::scip::symbol::{self, Package};
use crate::view::View;

/// Of a document's occurrences at most one in so many may lie where no name stands; one with more
/// is of other bytes. A guess: indexers put a few marks on keywords and operators.
const MISFIT: usize = 20;

/// What came of the documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placing {
    /// Documents that fit a file.
    pub n_placed: usize,
    /// Documents of paths that the view does not have; sorted.
    pub unknown: Vec<String>,
    /// Documents whose places are not those of their file's bytes; sorted.
    pub misfits: Vec<String>,
}

/// The digest of a view's configuration.
pub fn configuration(view: &View) -> Digest {
    program::digest_of_configuration(view.config.iter().map(|(path, bytes)| (path.as_str(), &**bytes)))
}

/// Places an index on a view, whose files' bytes `read` gives.
pub fn place(
    index: &Index,
    digest: Digest,
    view: &View,
    read: impl Fn(&RepoPath) -> Option<Vec<u8>>,
) -> (Program, Placing) {
    let mut placing = Placing::default();
    let mut numbers = Numbers::of(index);
    let mut documents: BTreeMap<RepoPath, Placed> = BTreeMap::new();
    for (at, document) in index.documents.iter().enumerate() {
        let path = RepoPath::root().join(&document.path.replace('\\', "/"));
        let Some(file) = path.as_ref().and_then(|path| view.find(path.as_str())).map(|file| view.file(file)) else {
            placing.unknown.push(document.path.clone());
            continue;
        };
        let marks = read(&file.path).and_then(|bytes| marks_of(document, at, &bytes, &mut numbers));
        let Some((definitions, references)) = marks else {
            placing.misfits.push(document.path.clone());
            continue;
        };
        placing.n_placed += 1;
        let placed = documents.entry(file.path.clone()).or_insert_with(|| Placed {
            path: file.path.clone(),
            blob: file.blob,
            dialect: file.dialect,
            definitions: Vec::new(),
            references: Vec::new(),
        });
        placed.definitions.extend(definitions);
        placed.references.extend(references);
    }
    for placed in documents.values_mut() {
        for marks in [&mut placed.definitions, &mut placed.references] {
            marks.sort_unstable();
            marks.dedup();
        }
    }
    placing.unknown.sort();
    placing.misfits.sort();
    let documents = documents.into_values().collect();
    let tool = index.tool.clone();
    (Program { tool, digest, configuration: configuration(view), documents, symbols: numbers.sorts }, placing)
}

/// Numbers of symbols: those of one name are one, local ones are each document's own.
struct Numbers<'i> {
    index: &'i Index,
    own_packages: BTreeSet<(String, String)>,
    known: HashMap<(usize, u32), u32>,
    sorts: Vec<SymbolSort>,
}

impl<'i> Numbers<'i> {
    fn of(index: &'i Index) -> Self {
        let defined = index.documents.iter().flat_map(|document| &document.occurrences);
        let defined: BTreeSet<u32> =
            defined.filter(|o| o.roles & index::DEFINITION != 0).map(|occurrence| occurrence.symbol).collect();
        let own_packages = defined
            .iter()
            .filter_map(|at| symbol::package(&index.symbols[*at as usize]))
            .map(|Package { manager, name, .. }| (manager, name))
            .collect();
        Numbers { index, own_packages, known: HashMap::new(), sorts: Vec::new() }
    }

    fn number(&mut self, document: usize, symbol: u32) -> u32 {
        let text = &self.index.symbols[symbol as usize];
        // Index 0 stands for the whole index.
        let key = (if symbol::is_local(text) { document + 1 } else { 0 }, symbol);
        if let Some(number) = self.known.get(&key) {
            return *number;
        }
        let sort = match symbol::package(text) {
            Some(Package { manager, name, .. }) if !self.own_packages.contains(&(manager.clone(), name.clone())) => {
                SymbolSort::External
            }
            _ if symbol::is_constructor(text) => SymbolSort::OwnConstructor,
            _ => SymbolSort::Own,
        };
        let number = self.sorts.len() as u32;
        self.sorts.push(sort);
        self.known.insert(key, number);
        number
    }
}

/// The definitions and references of a document; `None` when it is of other bytes.
fn marks_of(document: &Document, at: usize, bytes: &[u8], numbers: &mut Numbers<'_>) -> Option<(Vec<Mark>, Vec<Mark>)> {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let (mut definitions, mut references) = (Vec::new(), Vec::new());
    let mut n_misfits = 0;
    for occurrence in &document.occurrences {
        let Some(column) = place_of(occurrence, document.encoding, &lines) else {
            n_misfits += 1;
            continue;
        };
        // An empty range at the very start stands for the file itself, whose line is 0 here.
        let is_file = (occurrence.start, occurrence.end) == ((0, 0), (0, 0));
        let line = if is_file { 0 } else { occurrence.start.0 + 1 };
        let mark = Mark { line, column, symbol: numbers.number(at, occurrence.symbol) };
        if occurrence.roles & index::DEFINITION != 0 {
            definitions.push(mark);
        } else if occurrence.roles & index::FORWARD_DEFINITION == 0 {
            references.push(mark);
        }
    }
    (n_misfits * MISFIT <= document.occurrences.len()).then_some((definitions, references))
}

/// The byte column of an occurrence; `None` where its range is none of the file, or cuts a word.
fn place_of(occurrence: &Occurrence, encoding: Encoding, lines: &[&[u8]]) -> Option<u32> {
    let line = *lines.get(occurrence.start.0 as usize)?;
    let start = byte_of(line, occurrence.start.1, encoding)?;
    if occurrence.start.0 == occurrence.end.0 {
        let end = byte_of(line, occurrence.end.1, encoding)?;
        let cuts = |at: usize| at > 0 && at < line.len() && is_word(line[at - 1]) && is_word(line[at]);
        if end < start || (start < end && (cuts(start) || cuts(end))) {
            return None;
        }
    }
    u32::try_from(start).ok()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// The byte of a line that a column of an encoding is; `None` beyond its end or within a character.
fn byte_of(line: &[u8], column: u32, encoding: Encoding) -> Option<usize> {
    let column = column as usize;
    if encoding == Encoding::Utf8 || line.is_ascii() {
        return (column <= line.len()).then_some(column);
    }
    let (mut byte, mut counted) = (0, 0);
    for chunk in line.utf8_chunks() {
        for c in chunk.valid().chars() {
            if counted >= column {
                return (counted == column).then_some(byte);
            }
            byte += c.len_utf8();
            counted += match encoding {
                Encoding::Utf32 => 1,
                Encoding::Utf8 | Encoding::Utf16 | Encoding::Unsaid => c.len_utf16(),
            };
        }
        for _ in chunk.invalid() {
            if counted >= column {
                return (counted == column).then_some(byte);
            }
            byte += 1;
            counted += 1;
        }
    }
    (counted == column).then_some(byte)
}

#[cfg(test)]
mod tests {
    use super::byte_of;
    use crate::scip::index::Encoding;

    #[test]
    fn columns_count_in_their_encoding() {
        let line = "é = \"𝄞\" + x".as_bytes();
        let x = line.len() - 1;
        assert_eq!(byte_of(line, 11, Encoding::Unsaid), Some(x));
        assert_eq!(byte_of(line, 10, Encoding::Utf32), Some(x));
        assert_eq!(byte_of(line, x as u32, Encoding::Utf8), Some(x));
        assert_eq!(byte_of(line, 6, Encoding::Utf16), None, "within a character");
        assert_eq!(byte_of(line, 99, Encoding::Utf16), None);
    }
}
