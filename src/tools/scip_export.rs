//! Writes a tree as a SCIP index: every symbol with its definition, and every reference that the
//! graph proves. Guesses of names are left out: a SCIP index has no place for doubt.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use crate::atlas::Atlas;
use crate::base::dialect::Dialect;
use crate::base::path::RepoPath;
use crate::facts::model::{FileFacts, RefKind, Symbol, SymbolKind};
use crate::facts::table::Id;
use crate::graph::edge::{EdgeKind, Graph, Layer};
use crate::graph::trace::{self, Traced, TracedImport, Tracer};
use crate::report::sanitize;
use crate::scip::index::{DEFINITION, Document, Encoding, IMPORT, Index, Information, Occurrence, WRITE_ACCESS};
use crate::scip::symbol::{Suffix, put_descriptor};
use crate::view::{FileIdx, SymbolRef, View};

/// The index of an atlas; `read` gives the bytes of its files. Equal atlases, equal indexes.
pub fn index_of(atlas: &Atlas, read: impl Fn(&RepoPath) -> Option<Vec<u8>> + Sync) -> Index {
    let view = &*atlas.view;
    let files: Vec<FileIdx> = view.indices().collect();
    let tracer = Tracer::new(view, &atlas.graph);
    let drafts: Vec<Draft> = files
        .par_iter()
        .map(|file| Draft::of(&tracer, *file, &read(&view.file(*file).path).unwrap_or_default()))
        .collect();
    let mut symbols: Vec<Arc<str>> = Vec::new();
    let mut numbers: HashMap<SymbolRef, u32> = HashMap::new();
    for draft in &drafts {
        for (row, name) in draft.names.iter().enumerate() {
            // What has no place of its own is named by nothing.
            if draft.places.contains_key(&row) {
                numbers.insert(SymbolRef { file: draft.file, symbol: Id::new(row) }, symbols.len() as u32);
                symbols.push(Arc::from(name.as_str()));
            }
        }
    }
    let documents = drafts.iter().map(|draft| draft.document(view, &atlas.graph, &numbers)).collect();
    Index { tool: format!("ratlas {}", env!("CARGO_PKG_VERSION")), documents, symbols }
}

/// A range within one line: 0-based line, byte columns.
type Range = (u32, u32, u32);

/// One file's document before symbols are numbered.
struct Draft {
    file: FileIdx,
    /// The SCIP symbol of each row.
    names: Vec<String>,
    /// Where each row's name stands; rows without a name in the source have none.
    places: BTreeMap<usize, Range>,
    uses: BTreeSet<(Range, SymbolRef, u32)>,
}

impl Draft {
    fn of(tracer: &Tracer<'_>, file: FileIdx, bytes: &[u8]) -> Self {
        let view = tracer.view;
        let facts = view.facts(file);
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let mut places = BTreeMap::from([(0, (0, 0, 0))]);
        for (row, symbol) in facts.symbols.iter().enumerate().skip(1) {
            places.extend(word_at(&lines, symbol.name_line, symbol.name_column).map(|range| (row, range)));
        }
        let mut uses = BTreeSet::new();
        for traced in tracer.references(file) {
            put_reference(&mut uses, view, facts, &lines, &traced);
        }
        for TracedImport { line, column, symbols, .. } in tracer.imports(file) {
            if let Some(range) = word_at(&lines, line, column) {
                uses.extend(symbols.into_iter().map(|to| (range, to, IMPORT)));
            }
        }
        Draft { file, names: names_of(view.file(file).path.as_str(), facts), places, uses }
    }

    fn document(&self, view: &View, graph: &Graph, numbers: &HashMap<SymbolRef, u32>) -> Document {
        let facts = view.facts(self.file);
        let own = |row: usize| SymbolRef { file: self.file, symbol: Id::new(row) };
        let occurrence = |(line, start, end): Range, at: &SymbolRef, roles| {
            let symbol = *numbers.get(at)?;
            Some(Occurrence { start: (line, start), end: (line, end), symbol, roles })
        };
        let definitions = self.places.iter().filter_map(|(row, range)| occurrence(*range, &own(*row), DEFINITION));
        let uses = self.uses.iter().filter_map(|(range, to, roles)| occurrence(*range, to, *roles));
        let mut occurrences: Vec<Occurrence> = definitions.chain(uses).collect();
        occurrences.sort_unstable();
        occurrences.dedup();
        let information = self.places.keys().filter_map(|row| {
            let symbol = &facts.symbols[*row];
            let above = graph.edges_from(own(*row)).iter().filter(|edge| {
                edge.layer == Layer::Proved && matches!(edge.kind, EdgeKind::Extends | EdgeKind::Overrides)
            });
            let mut implements: Vec<u32> = above.filter_map(|edge| numbers.get(&edge.to).copied()).collect();
            implements.sort_unstable();
            implements.dedup();
            Some(Information {
                symbol: *numbers.get(&own(*row))?,
                kind: kind_of(symbol),
                name: match row {
                    0 => view.file(self.file).path.file_name().to_owned(),
                    _ => sanitize::line(facts.name(symbol.name), 200),
                },
                documentation: symbol.doc.map_or(String::new(), |doc| sanitize::line(facts.name(doc), 400)),
                implements,
            })
        });
        Document {
            path: view.file(self.file).path.as_str().to_owned(),
            language: language_of(facts.dialect).to_owned(),
            encoding: Encoding::Utf8,
            occurrences,
            information: information.collect(),
        }
    }
}

fn put_reference(
    uses: &mut BTreeSet<(Range, SymbolRef, u32)>,
    view: &View,
    facts: &FileFacts,
    lines: &[&[u8]],
    traced: &Traced,
) {
    let reference = &facts.refs[traced.reference];
    let Some(range) = word_at(lines, reference.line, reference.column) else { return };
    let role = if reference.kind == RefKind::Write { WRITE_ACCESS } else { 0 };
    let is_call = matches!(reference.kind, RefKind::Call | RefKind::New);
    for edge in traced.edges.iter().filter(|edge| edge.layer == Layer::Proved && trace::is_written(edge)) {
        // What a class inherits for its making runs too, but is not what the name means.
        let is_inherited = is_call && edge.kind == EdgeKind::References && is_constructor(view, edge.to);
        if !is_inherited {
            uses.insert((range, edge.to, role));
        }
    }
}

fn is_constructor(view: &View, at: SymbolRef) -> bool {
    view.symbol(at).kind == SymbolKind::Constructor || view.facts(at.file).name(view.symbol(at).name) == "__init__"
}

/// The word that starts at a place of the facts; `None` where none does.
fn word_at(lines: &[&[u8]], line: u32, column: u32) -> Option<Range> {
    let line = line.checked_sub(1)?;
    let rest = lines.get(line as usize)?.get(column as usize..)?;
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$#".contains(byte) || *byte >= 0x80;
    let len = rest.iter().take_while(|byte| is_word(byte)).count() as u32;
    (len > 0).then_some((line, column, column + len))
}

/// The SCIP symbol of each row of a file; no two are equal.
fn names_of(path: &str, facts: &FileFacts) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(facts.symbols.len());
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (row, symbol) in facts.symbols.iter().enumerate() {
        let mut name = match symbol.parent.filter(|parent| parent.index() < row) {
            Some(parent) => names[parent.index()].clone(),
            None => "ratlas . . . ".to_owned(),
        };
        if row == 0 {
            path.split('/').for_each(|part| put_descriptor(&mut name, part, Suffix::Namespace, ""));
        } else {
            let own = facts.name(symbol.name);
            let suffix = suffix_of(symbol.kind);
            let start = name.len();
            put_descriptor(&mut name, own, suffix, "");
            for n in 1.. {
                if !taken.contains(&name) {
                    break;
                }
                name.truncate(start);
                match suffix {
                    Suffix::Method => put_descriptor(&mut name, own, suffix, &format!("+{n}")),
                    Suffix::Namespace | Suffix::Type | Suffix::Term => {
                        put_descriptor(&mut name, &format!("{own}#{}", n + 1), suffix, "");
                    }
                }
            }
        }
        taken.insert(name.clone());
        names.push(name);
    }
    names
}

fn suffix_of(kind: SymbolKind) -> Suffix {
    match kind {
        SymbolKind::Module | SymbolKind::Namespace => Suffix::Namespace,
        SymbolKind::Class
        | SymbolKind::Enum
        | SymbolKind::Record
        | SymbolKind::Interface
        | SymbolKind::Annotation
        | SymbolKind::TypeAlias => Suffix::Type,
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Constructor | SymbolKind::Signature => Suffix::Method,
        SymbolKind::Property | SymbolKind::Field | SymbolKind::EnumMember | SymbolKind::Variable => Suffix::Term,
    }
}

/// `SymbolInformation.Kind` of `scip.proto`.
fn kind_of(symbol: &Symbol) -> u32 {
    match symbol.kind {
        SymbolKind::Module => 29,
        SymbolKind::Namespace => 30,
        SymbolKind::Class | SymbolKind::Record => 7,
        SymbolKind::Enum => 11,
        SymbolKind::Interface | SymbolKind::Annotation => 21,
        SymbolKind::TypeAlias => 55,
        SymbolKind::Function => 17,
        SymbolKind::Method | SymbolKind::Signature => 26,
        SymbolKind::Constructor => 9,
        SymbolKind::Property => 41,
        SymbolKind::Field => 15,
        SymbolKind::EnumMember => 12,
        SymbolKind::Variable => 61,
    }
}

/// The names of `scip.proto`'s `Language`.
fn language_of(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Py | Dialect::Pyi => "Python",
        Dialect::Ts | Dialect::Dts => "TypeScript",
        Dialect::Tsx => "TypeScriptReact",
        Dialect::Js => "JavaScript",
        Dialect::Jsx => "JavaScriptReact",
        Dialect::Java => "Java",
    }
}
