//! What a file's committed version has where the file does not parse now (FACTS.md §5): lines of
//! answers, marked. Never linked, ranked, exported, or taken for a change.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::atlas::Atlas;
use crate::base::id::symbol_handle;
use crate::facts::delta::plain_qualname;
use crate::facts::model::{FileFacts, Status, Symbol};
use crate::graph::edge::Unproved;
use crate::rank::surface;
use crate::report::{json, sanitize};
use crate::tools::links::{self, Named};
use crate::tools::param::Given;
use crate::tools::tool::{Answer, Desk};
use crate::tools::verdict::Verdict;
use crate::tools::{listing, show, target};
use crate::view::names;
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

/// What `asked` names among the symbols that only committed versions of broken files have: by
/// handle, `path::name`, a qualified name or the end of one. Files without any are left out.
pub fn find(desk: &Desk, atlas: &Atlas, asked: &str, file: Option<&str>) -> Vec<Retained> {
    let (path, name) = asked.trim().split_once("::").map_or((file, asked.trim()), |(path, name)| (Some(path), name));
    let Ok(within) = path.map(|path| target::find_file(&atlas.view, path)).transpose() else { return Vec::new() };
    let mut retained = all(desk, atlas, |_, file| within.is_none_or(|within| within == file));
    for file in &mut retained {
        let path = file.path.clone();
        file.keep(|_, qualname, _| {
            let plain = names::plain(qualname);
            plain == name
                || plain.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
                || (name.starts_with("sym_") && symbol_handle(&path, qualname) == name)
        });
    }
    retained.retain(|file| !file.is_empty());
    retained
}

/// The answer of `callers_of` and `callees_of` to a name that only a committed version has: links
/// are of code that parses, so that who uses it now is unknown. References of its simple name
/// that nothing proves are shown.
///
/// `None` where nothing of that name is retained.
pub fn unlinked(desk: &Desk, atlas: &Atlas, given: &Given, list: &'static str) -> Option<Answer> {
    let retained = find(desk, atlas, given.text("qualname").unwrap_or_default(), given.text("file"));
    let first = retained.first()?;
    let mut answer = Answer::new(atlas, desk.options.max_tokens);
    put(&mut answer, &retained, true);
    let what = format!("{} does not parse, and broken code is not linked", first.path);
    Verdict::unknown("retained", what).put(&mut answer);
    answer.field(list, Vec::<Value>::new());
    if list == CALLERS {
        let named = Named {
            names: retained.iter().flat_map(Retained::names).map(str::to_owned).collect(),
            languages: retained.iter().map(|file| file.facts.dialect.language()).collect(),
            members_only: false,
        };
        let same = links::unproved_of(&atlas.view, &atlas.graph, &named);
        let open: Vec<&Unproved> =
            same.open.iter().filter(|unproved| listing::fits(&atlas.view, unproved.from, given)).collect();
        listing::put_open(&mut answer, &atlas.view, &open, &[]);
    }
    answer.line("save it so that it parses, and ask again");
    Some(answer)
}

/// The field of `callers_of` that holds the list.
pub const CALLERS: &str = "callers";

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

    /// How many symbols there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The simple names of the symbols.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| self.facts.name(self.facts.symbols[*row].name))
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
