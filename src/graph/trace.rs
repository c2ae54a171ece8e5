//! Which reference of a file gave which edges: linking one file again, reference by reference,
//! for those who show sites to the column.

use std::collections::HashMap;

use crate::facts::model::ExportKind;
use crate::graph::compiled::{self, FileWords};
use crate::graph::edge::{Edge, EdgeKind, Graph};
use crate::graph::link::Linker;
use crate::graph::modules::Target;
use crate::graph::queries::{Denoted, Query, Session, Shared};
use crate::view::{FileIdx, SymbolRef, View};

/// What is needed to link files of one view again.
pub struct Tracer<'v> {
    pub view: &'v View,
    pub shared: Shared<'v>,
    words: HashMap<FileIdx, FileWords>,
    compiled: Vec<(FileIdx, u32)>,
}

/// A reference with the edges that it gave.
#[derive(Clone, Debug)]
pub struct Traced {
    /// Its row among the file's references.
    pub reference: usize,
    pub edges: Vec<Edge>,
}

/// A name of an import or re-export with the symbols that it brings in.
#[derive(Clone, Debug)]
pub struct TracedImport {
    /// Where the name stands.
    pub line: u32,
    pub column: u32,
    pub name: String,
    pub symbols: Vec<SymbolRef>,
}

impl<'v> Tracer<'v> {
    /// A tracer of a view and the graph that it was linked to.
    pub fn new(view: &'v View, graph: &Graph) -> Self {
        let shared = Shared::of(view);
        let compiled = graph.compiled.clone();
        Tracer { view, shared, words: compiled::words(view, &compiled), compiled }
    }

    /// The references of a file that give edges, in order. As linking the whole view finds them;
    /// guesses of names are not among them.
    pub fn references(&self, file: FileIdx) -> Vec<Traced> {
        let mut traced = Vec::new();
        self.linker(file).each_reference(|row, _, link| {
            let edges = std::mem::take(&mut link.edges);
            if !edges.is_empty() {
                traced.push(Traced { reference: row, edges });
            }
        });
        traced
    }

    /// The names of a file's imports and re-exports that bring in symbols, in order of rows.
    pub fn imports(&self, file: FileIdx) -> Vec<TracedImport> {
        let mut session = Session::new(&self.shared);
        let facts = self.view.facts(file);
        let mut traced = Vec::new();
        for (row, import) in facts.imports.iter().enumerate() {
            session.refuel();
            let denoted = session.denoted(Query::Import(file, row as u32));
            let name = facts.text(import.name.or(import.local)).to_owned();
            let (line, column) = (import.name_line, import.name_column);
            traced.push(TracedImport { line, column, name, symbols: symbols_of(&denoted) });
        }
        for (row, export) in facts.exports.iter().enumerate() {
            session.refuel();
            let target = self.shared.modules.of_export(file, row as u32);
            if let (ExportKind::Reexport, Target::File(target), Some(local)) = (export.kind, target, export.local) {
                let denoted = session.denoted(Query::Export(*target, self.shared.names.text(file, local)));
                let name = facts.name(local).to_owned();
                let (line, column) = (export.line, export.column);
                traced.push(TracedImport { line, column, name, symbols: symbols_of(&denoted) });
            }
        }
        traced.retain(|traced| !traced.symbols.is_empty());
        traced
    }

    /// The compiler's words on a file, if an index is believed for it.
    pub fn words(&self, file: FileIdx) -> Option<&FileWords> {
        self.words.get(&file)
    }

    /// The compiler that is believed for a file.
    pub fn compiler_of(&self, file: FileIdx) -> Option<&str> {
        let at = self.compiled.binary_search_by_key(&file, |row| row.0).ok()?;
        Some(&self.view.compilers.get(self.compiled[at].1 as usize)?.tool)
    }

    fn linker(&self, file: FileIdx) -> Linker<'_, 'v> {
        Linker::new(Session::new(&self.shared), self.view, file, self.words.get(&file))
    }
}

fn symbols_of(denoted: &[Denoted]) -> Vec<SymbolRef> {
    let symbol = |denoted: &Denoted| if let Denoted::Symbol(at) = denoted { Some(*at) } else { None };
    denoted.iter().filter_map(symbol).collect()
}

/// Whether an edge stands for a reference of the source, and not for a declaration as such.
pub fn is_written(edge: &Edge) -> bool {
    match edge.kind {
        EdgeKind::Calls | EdgeKind::Extends | EdgeKind::Imports | EdgeKind::References => true,
        EdgeKind::Overrides | EdgeKind::Tests => false,
    }
}
