//! What a file's committed version has where the file does not parse now (FACTS.md §5): lines of
//! answers, marked. Never linked, ranked, exported, or taken for a change.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::atlas::Atlas;
use crate::base::id::symbol_handle;
use crate::facts::delta::plain_qualname;
use crate::facts::model::{FileFacts, Status, Symbol};
use crate::rank::surface;
use crate::report::{json, sanitize};
use crate::tools::show;
use crate::tools::tool::{Answer, Desk};
use crate::view::{FileIdx, View};

/// The symbols that one broken file retains.
pub struct Retained {
    path: String,
    facts: Arc<FileFacts>,
    /// Rows of `facts`, in order.
    rows: Vec<usize>,
}

/// Files that a map names as broken, and the symbols that it names of each.
const MAX_OF_MAP: (usize, usize) = (5, 8);

/// What a file retains; `None` for one that parses, is as committed, or lost nothing.
pub fn of(desk: &Desk, atlas: &Atlas, file: FileIdx) -> Option<Retained> {
    let at = atlas.view.file(file);
    if !at.dirty || at.facts.status == Status::Ok {
        return None;
    }
    let committed = desk.source.committed(atlas, &at.path);
    let facts = committed.unwrap_or_else(|error| {
        tracing::debug!("nothing is known of {} as committed: {error}", at.path);
        None
    })?;
    let rows = lost(&facts, &at.facts);
    (!rows.is_empty()).then(|| Retained { path: sanitize::line(at.path.as_str(), 400), facts, rows })
}

/// What every broken file of a view retains, by path, where `fits` holds for the file.
pub fn all(desk: &Desk, atlas: &Atlas, fits: impl Fn(&View, FileIdx) -> bool) -> Vec<Retained> {
    atlas.view.indices().filter(|file| fits(&atlas.view, *file)).filter_map(|file| of(desk, atlas, file)).collect()
}

/// The listed symbols of a committed version that stood where its successor is damaged.
///
/// Lines of the two versions are held against each other by the symbols that both have: what is
/// lost stood between the last one that starts before the damage and the first one after it.
fn lost(committed: &FileFacts, now: &FileFacts) -> Vec<usize> {
    let name = |facts: &FileFacts, symbol: &Symbol| plain_qualname(facts.name(symbol.qualname));
    let mut starts: BTreeMap<String, u32> = BTreeMap::new();
    for symbol in now.symbols.iter().skip(1) {
        starts.entry(name(now, symbol)).or_insert(symbol.start_line);
    }
    let rows = committed.symbols.iter().enumerate().skip(1);
    let named: Vec<(usize, &Symbol, Option<u32>)> =
        rows.map(|(row, symbol)| (row, symbol, starts.get(&name(committed, symbol)).copied())).collect();
    let whole = [(0, u32::MAX)];
    let damage: Vec<(u32, u32)> = now.damage.iter().map(|damage| (damage.start_line, damage.end_line)).collect();
    let damage = if damage.is_empty() { &whole[..] } else { &damage };
    let spans: Vec<(u32, u32)> = damage
        .iter()
        .map(|(first, last)| {
            let before = named.iter().filter(|(.., start)| start.is_some_and(|start| start < *first));
            let after = named.iter().filter(|(.., start)| start.is_some_and(|start| start > *last));
            let low = before.map(|(_, symbol, _)| symbol.start_line).max().unwrap_or(0);
            let high = after.map(|(_, symbol, _)| symbol.start_line).min().unwrap_or(u32::MAX);
            (low, high)
        })
        .collect();
    named
        .iter()
        .filter(|(_, symbol, start)| start.is_none() && surface::is_listed(symbol))
        .filter(|(_, symbol, _)| spans.iter().any(|(low, high)| (*low..*high).contains(&symbol.start_line)))
        .map(|(row, ..)| *row)
        .collect()
}

impl Retained {
    /// Keeps the symbols for which `fits` holds, by simple and qualified name and kind.
    pub fn keep(&mut self, fits: impl Fn(&str, &str, &'static str) -> bool) {
        let facts = &self.facts;
        self.rows.retain(|row| {
            let symbol = &facts.symbols[*row];
            fits(facts.name(symbol.name), facts.name(symbol.qualname), show::kind(symbol))
        });
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a line a symbol; the rows go into the JSON by [`Retained::json`].
    pub fn put_lines(&self, answer: &mut Answer, has_path: bool) {
        for row in &self.rows {
            let symbol = &self.facts.symbols[*row];
            let path = if has_path { format!("{}:", self.path) } else { String::new() };
            answer.line(format!(
                "{path}{}-{} {} {} (retained: as committed, the file does not parse)",
                symbol.start_line,
                symbol.end_line,
                show::kind(symbol),
                show::signature(&self.facts, symbol)
            ));
        }
    }

    /// The symbols as rows of JSON; lines are those of the committed version.
    pub fn json(&self) -> Vec<Value> {
        let row = |row: &usize| {
            let symbol = &self.facts.symbols[*row];
            let qualname = self.facts.name(symbol.qualname);
            json::object([
                ("file", self.path.clone().into()),
                ("qualname", sanitize::line(qualname, 200).into()),
                ("name", sanitize::line(self.facts.name(symbol.name), 200).into()),
                ("kind", show::kind(symbol).into()),
                ("start_line", symbol.start_line.into()),
                ("end_line", symbol.end_line.into()),
                ("signature", sanitize::line(self.facts.name(symbol.signature), 160).into()),
                ("handle", symbol_handle(&self.path, qualname).into()),
                ("retained", true.into()),
            ])
        };
        self.rows.iter().map(row).collect()
    }
}

/// Adds what files retain: lines, and the field `retained` of the JSON, which is there only where
/// something is retained.
pub fn put(answer: &mut Answer, retained: &[Retained], has_path: bool) {
    if retained.iter().all(Retained::is_empty) {
        return;
    }
    retained.iter().for_each(|retained| retained.put_lines(answer, has_path));
    let rows: Vec<Value> = retained.iter().flat_map(Retained::json).collect();
    answer.field("retained", rows);
}

/// Adds a line a broken file to a map, above what is ranked.
pub fn put_map(answer: &mut Answer, desk: &Desk, atlas: &Atlas, fits: impl Fn(&View, FileIdx) -> bool) {
    let retained = all(desk, atlas, fits);
    for file in retained.iter().take(MAX_OF_MAP.0) {
        let names = file.rows.iter().take(MAX_OF_MAP.1).map(|row| {
            let symbol = &file.facts.symbols[*row];
            let name = sanitize::line(file.facts.name(symbol.qualname), 80);
            format!("{name} {}-{}", symbol.start_line, symbol.end_line)
        });
        let names: Vec<String> = names.collect();
        let more = file.rows.len().saturating_sub(MAX_OF_MAP.1);
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        answer.line(format!("{} does not parse; retained, as committed: {}{more}", file.path, names.join(", ")));
    }
    if !retained.is_empty() {
        let rows: Vec<Value> = retained.iter().flat_map(Retained::json).collect();
        answer.field("retained", rows);
    }
}
