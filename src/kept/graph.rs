//! A graph as bytes and back: numbers of few bytes, each edge by what differs from the one before.

use crate::facts::model::{NameId, RefKind, SymbolId, TestBlockId};
use crate::facts::table::{Cell, Id};
use crate::graph::edge::{Computed, Confidence, Edge, EdgeKind, FileUse, Graph, Layer, Receiver, Strategy, Unproved};
use crate::store::parts::{Cursor, put_varint};
use crate::view::{FileIdx, SymbolRef, View};

const LAYERS: [Layer; 3] = [Layer::Proved, Layer::Likely, Layer::Candidate];
const STRATEGIES: [Strategy; 16] = [
    Strategy::Compiler,
    Strategy::Import,
    Strategy::Scope,
    Strategy::SelfMember,
    Strategy::StaticMember,
    Strategy::DeclaredType,
    Strategy::InferredType,
    Strategy::SamePackage,
    Strategy::Overload,
    Strategy::Framework,
    Strategy::StringPath,
    Strategy::Override,
    Strategy::StandIn,
    Strategy::Twin,
    Strategy::UniqueName,
    Strategy::Candidates,
];
const RECEIVERS: [Receiver; 4] = [Receiver::None, Receiver::Unknown, Receiver::External, Receiver::PartlyExternal];

/// The number of each value that has one, by its own.
fn numbers<T: Copy, const N: usize>(known: [T; N], number: fn(T) -> u8) -> [Option<u8>; 256] {
    let mut numbers = [None; 256];
    for (at, value) in known.into_iter().enumerate() {
        numbers[usize::from(number(value))] = Some(at as u8);
    }
    numbers
}

/// Encodes a graph over so many files; `None` when it holds what has no number here.
pub fn encode(graph: &Graph, n_files: usize) -> Option<Vec<u8>> {
    let kinds = numbers(EdgeKind::ALL, |kind| kind as u8);
    let layers = numbers(LAYERS, |layer| layer as u8);
    let strategies = numbers(STRATEGIES, |strategy| strategy as u8);
    let receivers = numbers(RECEIVERS, |receiver| receiver as u8);
    // Every table of a graph is named, so that one that comes is not forgotten here.
    let Graph {
        edges,
        unproved,
        computed,
        file_uses,
        blind,
        open_classes,
        handed_out,
        compiled,
        n_external,
        by_target,
    } = graph;
    let mut out = Vec::with_capacity(edges.len() * 14 + unproved.len() * 8);
    put_varint(edges.len() as u64, &mut out);
    let mut rest = edges.as_slice();
    for file in 0..n_files as u32 {
        let n = rest.partition_point(|edge| edge.from.file.0 <= file);
        let (own, after) = rest.split_at(n);
        rest = after;
        put_varint(n as u64, &mut out);
        let mut symbol = 0;
        for edge in own {
            let from = edge.from.symbol.index() as u64;
            put_varint(from - symbol, &mut out);
            symbol = from;
            put_varint(u64::from(edge.line), &mut out);
            put_symbol(edge.to, &mut out);
            out.push(kinds[edge.kind as usize]? | layers[edge.layer as usize]? << 4);
            out.push(strategies[edge.strategy as usize]?);
            out.extend_from_slice(&edge.confidence.0.to_le_bytes());
            put_varint(edge.test_block.to_cell(), &mut out);
        }
    }
    put_varint(unproved.len() as u64, &mut out);
    let mut file = 0;
    for row in unproved {
        put_varint(u64::from(row.from.file.0 - file), &mut out);
        file = row.from.file.0;
        put_varint(row.from.symbol.index() as u64, &mut out);
        put_varint(u64::from(row.line), &mut out);
        put_varint(row.name.index() as u64, &mut out);
        out.push(row.kind.to_cell() as u8);
        out.push(receivers[row.receiver as usize]?);
        put_varint(row.arity.map_or(0, |n| u64::from(n) + 1), &mut out);
        put_varint(row.test_block.to_cell(), &mut out);
    }
    put_varint(computed.len() as u64, &mut out);
    for row in computed {
        match row.of {
            Some(of) => {
                out.push(1);
                put_symbol(of, &mut out);
            }
            None => out.push(0),
        }
        put_varint(row.name.to_cell(), &mut out);
        put_symbol(row.from, &mut out);
        put_varint(u64::from(row.line), &mut out);
        put_varint(row.test_block.to_cell(), &mut out);
    }
    put_varint(file_uses.len() as u64, &mut out);
    let mut file = 0;
    for row in file_uses {
        put_varint(u64::from(row.from.0 - file), &mut out);
        file = row.from.0;
        put_varint(u64::from(row.to.0) << 1 | u64::from(row.type_only), &mut out);
    }
    put_varint(blind.len() as u64, &mut out);
    blind.iter().for_each(|file| put_varint(u64::from(file.0), &mut out));
    for list in [open_classes, handed_out] {
        put_varint(list.len() as u64, &mut out);
        list.iter().for_each(|at| put_symbol(*at, &mut out));
    }
    put_varint(compiled.len() as u64, &mut out);
    for (file, program) in compiled {
        put_varint(u64::from(file.0), &mut out);
        put_varint(u64::from(*program), &mut out);
    }
    put_varint(n_external.len() as u64, &mut out);
    n_external.iter().for_each(|n| put_varint(u64::from(*n), &mut out));
    by_target.iter().for_each(|at| out.extend_from_slice(&at.to_le_bytes()));
    Some(out)
}

fn put_symbol(at: SymbolRef, out: &mut Vec<u8>) {
    put_varint(u64::from(at.file.0), out);
    put_varint(at.symbol.index() as u64, out);
}

/// Reads a graph back; `None` unless every number leads to something of the view.
pub fn decode(bytes: &[u8], view: &View) -> Option<Graph> {
    let mut reader = Reader { rest: Cursor(bytes), view, n_symbols: Vec::new() };
    reader.n_symbols = view.indices().map(|file| view.figures(file).n_symbols).collect();
    let mut graph = Graph { edges: reader.edges()?, unproved: reader.unproved()?, ..Graph::default() };
    graph.computed = reader.list(Reader::computed)?;
    graph.file_uses = reader.file_uses()?;
    graph.blind = reader.list(Reader::file)?;
    graph.open_classes = reader.list(Reader::symbol)?;
    graph.handed_out = reader.list(Reader::symbol)?;
    graph.compiled = reader.list(|reader| Some((reader.file()?, reader.rest.number()?)))?;
    graph.n_external = reader.list(|reader| reader.rest.number())?;
    let n_edges = graph.edges.len();
    let by_target = reader.rest.take(n_edges.checked_mul(4)?)?.as_chunks().0;
    graph.by_target = by_target.iter().map(|b| u32::from_le_bytes(*b)).collect();
    let within = graph.by_target.iter().all(|at| (*at as usize) < n_edges);
    (within && reader.rest.0.is_empty()).then_some(graph)
}

struct Reader<'b> {
    rest: Cursor<'b>,
    view: &'b View,
    n_symbols: Vec<u32>,
}

impl Reader<'_> {
    fn list<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let n = self.rest.count()?;
        let mut out = Vec::with_capacity(n);
        for _ in 0..n {
            out.push(read(self)?);
        }
        Some(out)
    }

    fn file(&mut self) -> Option<FileIdx> {
        let file = self.rest.number()?;
        ((file as usize) < self.n_symbols.len()).then_some(FileIdx(file))
    }

    fn symbol(&mut self) -> Option<SymbolRef> {
        let file = self.file()?;
        let row = self.rest.number()?;
        self.symbol_of(file, row)
    }

    fn symbol_of(&self, file: FileIdx, row: u32) -> Option<SymbolRef> {
        let n_symbols = *self.n_symbols.get(file.0 as usize)?;
        (row < n_symbols).then(|| SymbolRef { file, symbol: SymbolId::new(row as usize) })
    }

    fn block(&mut self, file: FileIdx) -> Option<Option<TestBlockId>> {
        let cell = self.rest.varint()?;
        let n_blocks = || u64::from(self.view.figures(file).n_blocks);
        if cell > 0 && cell > n_blocks() {
            return None;
        }
        Option::<TestBlockId>::from_cell(cell)
    }

    fn computed(&mut self) -> Option<Computed> {
        let of = match self.rest.byte()? {
            0 => None,
            _ => Some(self.symbol()?),
        };
        let name = Option::<NameId>::from_cell(self.rest.varint()?)?;
        let from = self.symbol()?;
        Some(Computed { of, name, from, line: self.rest.number()?, test_block: self.block(from.file)? })
    }

    fn edges(&mut self) -> Option<Vec<Edge>> {
        let n_edges = self.rest.count()?;
        let mut edges = Vec::with_capacity(n_edges);
        for file in 0..self.n_symbols.len() as u32 {
            let mut row = 0u32;
            for _ in 0..self.rest.count()? {
                row = row.checked_add(self.rest.number()?)?;
                let from = self.symbol_of(FileIdx(file), row)?;
                let line = self.rest.number()?;
                let to = self.symbol()?;
                let kinds = self.rest.byte()?;
                edges.push(Edge {
                    from,
                    line,
                    to,
                    kind: *EdgeKind::ALL.get(usize::from(kinds & 15))?,
                    layer: *LAYERS.get(usize::from(kinds >> 4))?,
                    strategy: *STRATEGIES.get(usize::from(self.rest.byte()?))?,
                    confidence: Confidence(u16::from_le_bytes([self.rest.byte()?, self.rest.byte()?])),
                    test_block: self.block(FileIdx(file))?,
                });
            }
        }
        (edges.len() == n_edges).then_some(edges)
    }

    fn unproved(&mut self) -> Option<Vec<Unproved>> {
        let n = self.rest.count()?;
        let mut rows = Vec::with_capacity(n);
        let mut file = 0u32;
        for _ in 0..n {
            file = file.checked_add(self.rest.number()?)?;
            let row = self.rest.number()?;
            rows.push(Unproved {
                from: self.symbol_of(FileIdx(file), row)?,
                line: self.rest.number()?,
                name: NameId::from_cell(self.rest.varint()?)?,
                kind: RefKind::from_cell(u64::from(self.rest.byte()?))?,
                receiver: *RECEIVERS.get(usize::from(self.rest.byte()?))?,
                arity: self.rest.number()?.checked_sub(1),
                test_block: self.block(FileIdx(file))?,
            });
        }
        Some(rows)
    }

    fn file_uses(&mut self) -> Option<Vec<FileUse>> {
        let n = self.rest.count()?;
        let n_files = self.n_symbols.len() as u32;
        let mut rows = Vec::with_capacity(n);
        let mut file = 0u32;
        for _ in 0..n {
            file = file.checked_add(self.rest.number()?)?;
            let to = self.rest.varint()?;
            let use_of =
                FileUse { from: FileIdx(file), to: FileIdx(u32::try_from(to >> 1).ok()?), type_only: to & 1 == 1 };
            if use_of.from.0 >= n_files || use_of.to.0 >= n_files {
                return None;
            }
            rows.push(use_of);
        }
        Some(rows)
    }
}
