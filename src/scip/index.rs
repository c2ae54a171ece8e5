//! A SCIP index: what is read of one and written to one (`scip.proto` of the SCIP project).
//! Documentation, diagnostics and syntax highlighting are passed over.

use std::collections::HashMap;
use std::sync::Arc;

use crate::base::error::{Error, ErrorKind, Result};
use crate::scip::wire::{self, Fields, Malformed, Value};

/// `SymbolRole.Definition`.
pub const DEFINITION: u32 = 1;
/// `SymbolRole.Import`.
pub const IMPORT: u32 = 2;
/// `SymbolRole.WriteAccess`.
pub const WRITE_ACCESS: u32 = 4;
/// `SymbolRole.ForwardDefinition`.
pub const FORWARD_DEFINITION: u32 = 64;

/// The largest index that is read.
pub const MAX_BYTES: u64 = 1 << 30;
/// The longest symbol; a longer one names nothing of ours.
const MAX_SYMBOL: usize = 16 << 10;
/// The most documents and occurrences of one index.
const MAX_DOCUMENTS: usize = 1_000_000;
const MAX_OCCURRENCES: usize = 200_000_000;

/// An index as read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// `scip-typescript 0.4.0`.
    pub tool: String,
    pub documents: Vec<Document>,
    /// The symbols' texts; occurrences name them by position.
    pub symbols: Vec<Arc<str>>,
}

/// One file's occurrences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    pub path: String,
    pub language: String,
    pub encoding: Encoding,
    pub occurrences: Vec<Occurrence>,
    /// Written only: what is said of the symbols that are defined here.
    pub information: Vec<Information>,
}

/// How columns count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Not said: as UTF-16, since the indexers that leave it out run on JavaScript and the JVM.
    #[default]
    Unsaid,
    Utf8,
    Utf16,
    Utf32,
}

/// A symbol at a place. Lines and columns are 0-based, the end exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    pub start: (u32, u32),
    pub end: (u32, u32),
    /// Position in [`Index::symbols`].
    pub symbol: u32,
    pub roles: u32,
}

/// What is said of a symbol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Information {
    pub symbol: u32,
    /// `SymbolInformation.Kind`.
    pub kind: u32,
    pub name: String,
    pub documentation: String,
    /// Symbols that it implements or overrides.
    pub implements: Vec<u32>,
}

/// Reads an index.
///
/// # Errors
/// `Usage` for bytes that are no SCIP index, or one beyond the caps.
pub fn read(bytes: &[u8]) -> Result<Index> {
    read_index(bytes).map_err(|Malformed(what)| {
        Error::new(ErrorKind::Usage, format!("this is no SCIP index: {what}"))
            .hint("make one with an indexer, such as scip-typescript, scip-python or scip-java")
    })
}

fn read_index(bytes: &[u8]) -> std::result::Result<Index, Malformed> {
    let mut index = Index::default();
    let mut known: HashMap<&str, u32> = HashMap::new();
    let mut n_occurrences = 0;
    let mut has_metadata = false;
    let mut fields = Fields::of(bytes);
    while let Some((field, value)) = fields.take_field()? {
        match field {
            1 => {
                has_metadata = true;
                index.tool = read_tool(value.bytes()?)?;
            }
            2 => {
                let document = read_document(value.bytes()?, &mut index.symbols, &mut known)?;
                n_occurrences += document.occurrences.len();
                index.documents.push(document);
                if index.documents.len() > MAX_DOCUMENTS || n_occurrences > MAX_OCCURRENCES {
                    return Err(Malformed("it has too many documents or occurrences"));
                }
            }
            _ => {}
        }
    }
    // Text that happens to parse as fields has neither.
    if !has_metadata && index.documents.is_empty() {
        return Err(Malformed("it has no metadata and no documents"));
    }
    Ok(index)
}

fn read_tool(metadata: &[u8]) -> std::result::Result<String, Malformed> {
    let mut parts = [String::new(), String::new()];
    let mut fields = Fields::of(metadata);
    while let Some((field, value)) = fields.take_field()? {
        if field != 2 {
            continue;
        }
        let mut tool = Fields::of(value.bytes()?);
        while let Some((field, value)) = tool.take_field()? {
            if let 1 | 2 = field {
                parts[field as usize - 1] = value.text()?.chars().take(80).collect();
            }
        }
    }
    Ok(parts.join(" ").trim().to_owned())
}

fn read_document<'b>(
    bytes: &'b [u8],
    symbols: &mut Vec<Arc<str>>,
    known: &mut HashMap<&'b str, u32>,
) -> std::result::Result<Document, Malformed> {
    let mut document = Document::default();
    let mut fields = Fields::of(bytes);
    let mut range = Vec::new();
    while let Some((field, value)) = fields.take_field()? {
        match field {
            1 => document.path = value.text()?.to_owned(),
            2 => {
                if let Some(occurrence) = read_occurrence(value, &mut range, symbols, known)? {
                    document.occurrences.push(occurrence);
                }
            }
            4 => document.language = value.text()?.to_owned(),
            6 => {
                document.encoding = match value.number()? {
                    1 => Encoding::Utf8,
                    2 => Encoding::Utf16,
                    3 => Encoding::Utf32,
                    _ => Encoding::Unsaid,
                };
            }
            _ => {}
        }
    }
    Ok(document)
}

fn read_occurrence<'b>(
    value: Value<'b>,
    range: &mut Vec<u64>,
    symbols: &mut Vec<Arc<str>>,
    known: &mut HashMap<&'b str, u32>,
) -> std::result::Result<Option<Occurrence>, Malformed> {
    range.clear();
    let (mut symbol, mut roles) = ("", 0);
    let mut fields = Fields::of(value.bytes()?);
    while let Some((field, value)) = fields.take_field()? {
        match field {
            1 => {
                value.numbers(range)?;
                if range.len() > 4 {
                    return Err(Malformed("a range has more than four numbers"));
                }
            }
            2 => symbol = value.text()?,
            3 => roles = value.number()? as u32,
            _ => {}
        }
    }
    // Occurrences without a symbol are there for highlighting and diagnostics.
    if symbol.is_empty() || symbol.len() > MAX_SYMBOL {
        return Ok(None);
    }
    let number = |at: usize| u32::try_from(range[at]).map_err(|_| Malformed("a line or column is negative"));
    let (start, end) = match range.len() {
        3 => ((number(0)?, number(1)?), (number(0)?, number(2)?)),
        4 => ((number(0)?, number(1)?), (number(2)?, number(3)?)),
        _ => return Err(Malformed("a range has neither three nor four numbers")),
    };
    let next = symbols.len() as u32;
    let symbol = *known.entry(symbol).or_insert_with(|| {
        symbols.push(Arc::from(symbol));
        next
    });
    Ok(Some(Occurrence { start, end, symbol, roles }))
}

/// The bytes of an index. Equal indexes, equal bytes.
///
/// The project's root is left empty: no absolute path is in what we write, and the tools that
/// read sources take paths from their working directory then.
pub fn write(index: &Index) -> Vec<u8> {
    let mut out = Vec::new();
    let mut metadata = Vec::new();
    let mut tool = Vec::new();
    let (name, version) = index.tool.split_once(' ').unwrap_or((&index.tool, ""));
    wire::put_text(&mut tool, 1, name);
    wire::put_text(&mut tool, 2, version);
    wire::put_bytes(&mut metadata, 2, &tool);
    wire::put_number(&mut metadata, 4, 1);
    wire::put_bytes(&mut out, 1, &metadata);
    for document in &index.documents {
        wire::put_bytes(&mut out, 2, &write_document(index, document));
    }
    out
}

fn write_document(index: &Index, document: &Document) -> Vec<u8> {
    let mut out = Vec::new();
    wire::put_text(&mut out, 1, &document.path);
    for occurrence in &document.occurrences {
        let mut one = Vec::new();
        let ((line, column), (end_line, end_column)) = (occurrence.start, occurrence.end);
        if line == end_line {
            wire::put_numbers(&mut one, 1, [line, column, end_column].map(u64::from));
        } else {
            wire::put_numbers(&mut one, 1, [line, column, end_line, end_column].map(u64::from));
        }
        wire::put_text(&mut one, 2, &index.symbols[occurrence.symbol as usize]);
        wire::put_number(&mut one, 3, u64::from(occurrence.roles));
        wire::put_bytes(&mut out, 2, &one);
    }
    for information in &document.information {
        let mut one = Vec::new();
        wire::put_text(&mut one, 1, &index.symbols[information.symbol as usize]);
        wire::put_text(&mut one, 3, &information.documentation);
        for base in &information.implements {
            let mut relationship = Vec::new();
            wire::put_text(&mut relationship, 1, &index.symbols[*base as usize]);
            wire::put_number(&mut relationship, 3, 1);
            wire::put_bytes(&mut one, 4, &relationship);
        }
        wire::put_number(&mut one, 5, u64::from(information.kind));
        wire::put_text(&mut one, 6, &information.name);
        wire::put_bytes(&mut out, 3, &one);
    }
    wire::put_text(&mut out, 4, &document.language);
    let encoding = match document.encoding {
        Encoding::Unsaid => 0,
        Encoding::Utf8 => 1,
        Encoding::Utf16 => 2,
        Encoding::Utf32 => 3,
    };
    wire::put_number(&mut out, 6, encoding);
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{DEFINITION, Document, Encoding, Index, Occurrence, read, write};

    fn sample() -> Index {
        let at = |start, end, symbol, roles| Occurrence { start, end, symbol, roles };
        Index {
            tool: "ratlas 1".into(),
            documents: vec![Document {
                path: "a.py".into(),
                language: "Python".into(),
                encoding: Encoding::Utf8,
                occurrences: vec![at((0, 4), (0, 5), 0, DEFINITION), at((1, 0), (2, 3), 1, 0)],
                information: Vec::new(),
            }],
            symbols: vec![Arc::from("ratlas . . . `a.py`/f()."), Arc::from("local 0")],
        }
    }

    #[test]
    fn an_index_comes_back_as_written() {
        assert_eq!(read(&write(&sample())).unwrap(), sample());
    }

    #[test]
    fn cut_and_flipped_bytes_never_panic() {
        let bytes = write(&sample());
        for at in 0..bytes.len() {
            let _ = read(&bytes[..at]);
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                let _ = read(&other);
            }
        }
        for text in ["", "not an index", "{\"a\": 1}"] {
            assert!(read(text.as_bytes()).unwrap_err().to_string().contains("no SCIP index"), "{text}");
        }
    }
}
