//! What a compiler said of a tree: an index placed on files, each named by path, blob and dialect,
//! with places as the facts count them. Its bytes are checked by a digest and by bounds; what does
//! not hold is no program.

use std::collections::BTreeMap;

use crate::base::dialect::Dialect;
use crate::base::id::{BlobId, Digest};
use crate::base::path::RepoPath;
use crate::scip::wire::{self, Fields, Malformed};

/// The form's version, first in its bytes.
const VERSION: u64 = 1;

/// An index placed on the files of one tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// `scip-typescript 0.4.0`.
    pub tool: String,
    /// The index's own digest, its name.
    pub digest: Digest,
    /// The digest of the tree's configuration, under which the compiler ran.
    pub configuration: Digest,
    /// Sorted by path, unique.
    pub documents: Vec<Placed>,
    /// What each symbol is, by number.
    pub symbols: Vec<SymbolSort>,
}

/// One file's marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub path: RepoPath,
    pub blob: BlobId,
    pub dialect: Dialect,
    /// Sorted, unique.
    pub definitions: Vec<Mark>,
    /// Sorted, unique.
    pub references: Vec<Mark>,
}

/// A symbol at a place: 1-based line, 0-based byte column, as in facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    pub line: u32,
    pub column: u32,
    /// A position in [`Program::symbols`].
    pub symbol: u32,
}

/// What is known of a symbol beside its places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SymbolSort {
    /// Of a package that the index has documents of, or local to one.
    Own,
    OwnConstructor,
    /// Of another package.
    External,
}

impl SymbolSort {
    fn of(number: u8) -> Option<Self> {
        [SymbolSort::Own, SymbolSort::OwnConstructor, SymbolSort::External].into_iter().find(|s| *s as u8 == number)
    }
}

/// The digest of a tree's configuration files; our own is none of a compiler's.
pub fn digest_of_configuration<'c>(files: impl IntoIterator<Item = (&'c str, &'c [u8])>) -> Digest {
    let of_compilers = files.into_iter().filter(|(path, _)| *path != "ratlas.toml");
    let parts: Vec<&[u8]> = of_compilers.flat_map(|(path, bytes)| [path.as_bytes(), bytes]).collect();
    Digest::of_parts(parts)
}

impl Program {
    /// The document of a file of these bytes at this path.
    pub fn find(&self, path: &RepoPath, blob: BlobId, dialect: Dialect) -> Option<&Placed> {
        let at = self.documents.binary_search_by(|document| document.path.cmp(path)).ok()?;
        Some(&self.documents[at]).filter(|document| (document.blob, document.dialect) == (blob, dialect))
    }

    /// Its bytes. Equal programs, equal bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        wire::put_number(&mut out, 1, VERSION);
        wire::put_text(&mut out, 2, &self.tool);
        wire::put_bytes(&mut out, 3, &self.digest.0);
        wire::put_bytes(&mut out, 4, &self.configuration.0);
        for document in &self.documents {
            let mut one = Vec::new();
            wire::put_text(&mut one, 1, document.path.as_str());
            wire::put_bytes(&mut one, 2, document.blob.as_bytes());
            wire::put_text(&mut one, 3, document.dialect.as_str());
            wire::put_numbers(&mut one, 4, numbers_of(&document.definitions));
            wire::put_numbers(&mut one, 5, numbers_of(&document.references));
            wire::put_bytes(&mut out, 5, &one);
        }
        let sorts: Vec<u8> = self.symbols.iter().map(|sort| *sort as u8).collect();
        wire::put_bytes(&mut out, 6, &sorts);
        let digest = Digest::of(&out);
        out.extend_from_slice(&digest.0);
        out
    }

    /// Reads a program back; `None` when its bytes are not whole and right.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, digest) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
        if Digest::of(body).0 != digest {
            return None;
        }
        decode_body(body).ok()
    }
}

/// Lines as steps from the one before, so that most numbers take a byte.
fn numbers_of(marks: &[Mark]) -> impl Iterator<Item = u64> + '_ {
    let mut last = 0;
    marks.iter().flat_map(move |mark| {
        let step = mark.line - last;
        last = mark.line;
        [step, mark.column, mark.symbol].map(u64::from)
    })
}

fn marks_of(numbers: &[u64]) -> Result<Vec<Mark>, Malformed> {
    let narrow = |number: u64| u32::try_from(number).map_err(|_| Malformed("a place is out of range"));
    let mut line = 0u32;
    let mut marks = Vec::with_capacity(numbers.len() / 3);
    for mark in numbers.chunks(3) {
        let [step, column, symbol] = mark else { return Err(Malformed("a place is cut")) };
        line = line.checked_add(narrow(*step)?).ok_or(Malformed("a place is out of range"))?;
        marks.push(Mark { line, column: narrow(*column)?, symbol: narrow(*symbol)? });
    }
    if !marks.is_sorted_by(|a, b| a < b) {
        return Err(Malformed("places are out of order"));
    }
    Ok(marks)
}

fn decode_body(body: &[u8]) -> Result<Program, Malformed> {
    let digest = |bytes: &[u8]| bytes.try_into().map(Digest).map_err(|_| Malformed("a digest is cut"));
    let (mut tool, mut own, mut configuration) = (String::new(), None, None);
    let mut documents: BTreeMap<RepoPath, Placed> = BTreeMap::new();
    let mut symbols = Vec::new();
    let mut version = 0;
    let mut fields = Fields::of(body);
    while let Some((field, value)) = fields.take_field()? {
        match field {
            1 => version = value.number()?,
            2 => tool = value.text()?.to_owned(),
            3 => own = Some(digest(value.bytes()?)?),
            4 => configuration = Some(digest(value.bytes()?)?),
            5 => {
                let placed = decode_document(value.bytes()?)?;
                documents.insert(placed.path.clone(), placed);
            }
            6 => {
                for number in value.bytes()? {
                    symbols.push(SymbolSort::of(*number).ok_or(Malformed("a symbol of unknown sort"))?);
                }
            }
            _ => return Err(Malformed("an unknown field")),
        }
    }
    let documents: Vec<Placed> = documents.into_values().collect();
    let marks = documents.iter().flat_map(|document| document.definitions.iter().chain(&document.references));
    if marks.clone().any(|mark| mark.symbol as usize >= symbols.len()) {
        return Err(Malformed("a symbol without a number"));
    }
    match (version, own, configuration) {
        (VERSION, Some(digest), Some(configuration)) => Ok(Program { tool, digest, configuration, documents, symbols }),
        _ => Err(Malformed("another version, or cut")),
    }
}

fn decode_document(bytes: &[u8]) -> Result<Placed, Malformed> {
    let (mut path, mut blob, mut dialect) = (None, None, None);
    let (mut definitions, mut references) = (Vec::new(), Vec::new());
    let mut fields = Fields::of(bytes);
    while let Some((field, value)) = fields.take_field()? {
        match field {
            1 => path = RepoPath::new(value.text()?),
            2 => blob = BlobId::from_bytes(value.bytes()?),
            3 => dialect = Dialect::parse(value.text()?),
            4 => value.numbers(&mut definitions)?,
            5 => value.numbers(&mut references)?,
            _ => return Err(Malformed("an unknown field")),
        }
    }
    match (path, blob, dialect) {
        (Some(path), Some(blob), Some(dialect)) => {
            Ok(Placed { path, blob, dialect, definitions: marks_of(&definitions)?, references: marks_of(&references)? })
        }
        _ => Err(Malformed("a document without path, blob or dialect")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Mark, Placed, Program, SymbolSort};
    use crate::base::dialect::Dialect;
    use crate::base::id::{BlobId, Digest};
    use crate::base::path::RepoPath;

    #[test]
    fn a_program_comes_back_as_written_and_damage_is_a_miss() {
        let mark = |line, column, symbol| Mark { line, column, symbol };
        let program = Program {
            tool: "t 1".into(),
            digest: Digest::of(b"x"),
            configuration: Digest::of(b"y"),
            documents: vec![Placed {
                path: RepoPath::new("a.py").unwrap(),
                blob: BlobId::from_bytes(&[7; 20]).unwrap(),
                dialect: Dialect::Py,
                definitions: vec![mark(1, 4, 0)],
                references: vec![mark(2, 0, 0), mark(900, 70, 1)],
            }],
            symbols: vec![SymbolSort::Own, SymbolSort::External],
        };
        let bytes = program.encode();
        assert_eq!(Program::decode(&bytes), Some(program));
        for at in 0..bytes.len() {
            assert_eq!(Program::decode(&bytes[..at]), None);
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert_eq!(Program::decode(&other), None);
        }
    }
}
