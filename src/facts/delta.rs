//! The delta of two files: which symbols, imports, exports and test blocks differ. Pure.
//!
//! Only hashes and names are compared, so layout and comments change nothing but for comments
//! that act. What moves between files is settled by `impact::change`, which sees both trees.

use std::collections::BTreeMap;

use crate::facts::model::*;
use crate::facts::table::Id;

/// How a symbol differs, a bit set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Changes(pub u16);

impl Changes {
    pub const ADDED: Self = Changes(1);
    pub const REMOVED: Self = Changes(1 << 1);
    /// Another name, same body.
    pub const RENAMED: Self = Changes(1 << 2);
    /// Same name, declaration and body under another parent or in another file.
    pub const MOVED: Self = Changes(1 << 3);
    pub const SIGNATURE: Self = Changes(1 << 4);
    /// The body; of `<module>` and classes: the code that runs when they are defined.
    pub const BODY: Self = Changes(1 << 5);
    pub const DOC: Self = Changes(1 << 6);
    /// Comments that act (`# type: ignore`, `@jest-environment`).
    pub const ACTING: Self = Changes(1 << 7);

    const NAMES: [(Self, &'static str); 8] = [
        (Self::ADDED, "added"),
        (Self::REMOVED, "removed"),
        (Self::RENAMED, "renamed"),
        (Self::MOVED, "moved"),
        (Self::SIGNATURE, "signature"),
        (Self::BODY, "body"),
        (Self::DOC, "doc"),
        (Self::ACTING, "acting_comment"),
    ];

    /// Whether nothing differs.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether any bit of `other` is set.
    pub fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The names in outputs, in the order of the bits.
    pub fn names(self) -> Vec<&'static str> {
        Self::NAMES.iter().filter(|(bit, _)| self.any(*bit)).map(|(_, name)| *name).collect()
    }

    /// Whether those who use the symbol must look at it anew: its name, place or declaration differ.
    pub fn is_contract(self) -> bool {
        self.any(Self::ADDED | Self::REMOVED | Self::RENAMED | Self::MOVED | Self::SIGNATURE)
    }
}

impl std::ops::BitOr for Changes {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Changes(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for Changes {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// A symbol that differs: `base` is `None` when added, `head` when removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SymbolDelta {
    pub head: Option<SymbolId>,
    pub base: Option<SymbolId>,
    pub changes: Changes,
}

/// A test block that differs, by title path and hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockDelta {
    pub head: Option<TestBlockId>,
    pub base: Option<TestBlockId>,
}

/// The rows of one table that stand on one side only: indices into that side's table, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowDelta {
    pub added: Vec<u32>,
    pub removed: Vec<u32>,
}

/// How two files differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDelta {
    /// Sorted by (head, base): removed symbols come first.
    pub symbols: Vec<SymbolDelta>,
    /// Sorted by (head, base).
    pub blocks: Vec<BlockDelta>,
    pub imports: RowDelta,
    pub exports: RowDelta,
    /// Whether a side has damage or no facts, so that absence of a change proves nothing.
    pub is_damaged: bool,
}

impl FileDelta {
    /// Whether nothing but layout and plain comments differs.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
            && self.blocks.is_empty()
            && self.imports == RowDelta::default()
            && self.exports == RowDelta::default()
    }
}

/// Compares two versions of a file; `None` stands for a side where it does not exist.
///
/// Symbols pair by qualified name; of several of one name (`f`, `f#2`) equal hashes pair first,
/// the rest in order. What is left pairs by equal (kind, declaration, body), then by equal
/// (kind, body), each only where unique on both sides. O(n log n).
pub fn delta(base: Option<&FileFacts>, head: Option<&FileFacts>) -> FileDelta {
    let damaged = |facts: Option<&FileFacts>| facts.is_some_and(|f| f.status != Status::Ok);
    FileDelta {
        symbols: symbol_deltas(base, head),
        blocks: block_deltas(base, head),
        imports: row_delta(base.map(import_keys), head.map(import_keys)),
        exports: row_delta(base.map(export_keys), head.map(export_keys)),
        is_damaged: damaged(base) || damaged(head),
    }
}

/// A symbol of the base and the one of the head that it became.
type Pair = (SymbolId, SymbolId);

fn symbol_deltas(base: Option<&FileFacts>, head: Option<&FileFacts>) -> Vec<SymbolDelta> {
    let ids = |facts: Option<&FileFacts>| -> Vec<SymbolId> {
        facts.map_or(Vec::new(), |f| (0..f.symbols.len()).map(SymbolId::new).collect())
    };
    let (mut left, mut right) = (ids(base), ids(head));
    let mut out = Vec::new();
    if let (Some(base), Some(head)) = (base, head) {
        let mut pairs = pair_by_name(base, head);
        remove_paired(&mut left, &mut right, &pairs);
        for key in [declaration_and_body as fn(&FileFacts, SymbolId) -> _, body_alone] {
            let found = pair_unique(base, &left, head, &right, key);
            remove_paired(&mut left, &mut right, &found);
            pairs.extend(found);
        }
        for (old, new) in pairs {
            let changes = compare(base, old, head, new);
            if !changes.is_empty() {
                out.push(SymbolDelta { head: Some(new), base: Some(old), changes });
            }
        }
    }
    out.extend(left.into_iter().map(|old| SymbolDelta { head: None, base: Some(old), changes: Changes::REMOVED }));
    out.extend(right.into_iter().map(|new| SymbolDelta { head: Some(new), base: None, changes: Changes::ADDED }));
    out.sort_unstable();
    out
}

fn remove_paired(left: &mut Vec<SymbolId>, right: &mut Vec<SymbolId>, pairs: &[Pair]) {
    let mut gone: (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    gone.0.sort_unstable();
    gone.1.sort_unstable();
    left.retain(|id| gone.0.binary_search(id).is_err());
    right.retain(|id| gone.1.binary_search(id).is_err());
}

/// The qualname without the ordinals of repeated definitions: `f#2.g` gives `f.g`.
pub fn plain_qualname(qualname: &str) -> String {
    if !qualname.contains('#') {
        return qualname.to_string();
    }
    let mut plain = String::with_capacity(qualname.len());
    let mut rest = qualname.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '#' {
            plain.push(c);
            continue;
        }
        // ECMAScript's `#private` names keep their sign: only `#` and digits is an ordinal.
        if !rest.peek().is_some_and(char::is_ascii_digit) {
            plain.push(c);
            continue;
        }
        while rest.peek().is_some_and(char::is_ascii_digit) {
            rest.next();
        }
    }
    plain
}

fn pair_by_name(base: &FileFacts, head: &FileFacts) -> Vec<Pair> {
    let mut groups: BTreeMap<String, (Vec<SymbolId>, Vec<SymbolId>)> = BTreeMap::new();
    for at in 0..base.symbols.len() {
        let id = SymbolId::new(at);
        groups.entry(plain_qualname(base.name(base.symbol(id).qualname))).or_default().0.push(id);
    }
    for at in 0..head.symbols.len() {
        let id = SymbolId::new(at);
        if let Some(group) = groups.get_mut(&plain_qualname(head.name(head.symbol(id).qualname))) {
            group.1.push(id);
        }
    }
    let mut pairs = Vec::new();
    for (_, (mut old, mut new)) in groups {
        if old.len() > 1 || new.len() > 1 {
            for level in [Equal::Whole, Equal::Body, Equal::Signature] {
                pair_equal(base, &mut old, head, &mut new, level, &mut pairs);
            }
        }
        // What is left keeps its order; a kind that differs is another thing of the same name,
        // and still the one that users of the name meet.
        pairs.extend(old.into_iter().zip(new));
    }
    pairs
}

#[derive(Clone, Copy)]
enum Equal {
    Whole,
    Body,
    Signature,
}

fn pair_equal(
    base: &FileFacts,
    old: &mut Vec<SymbolId>,
    head: &FileFacts,
    new: &mut Vec<SymbolId>,
    level: Equal,
    pairs: &mut Vec<Pair>,
) {
    let key = |facts: &FileFacts, id: SymbolId| {
        let s = facts.symbol(id);
        match level {
            Equal::Whole => (s.kind, s.sig_hash.0, s.body_hash.0, s.doc_hash.0),
            Equal::Body => (s.kind, 0, s.body_hash.0, 0),
            Equal::Signature => (s.kind, s.sig_hash.0, 0, 0),
        }
    };
    let mut free: BTreeMap<_, Vec<SymbolId>> = BTreeMap::new();
    for id in new.iter().rev() {
        free.entry(key(head, *id)).or_default().push(*id);
    }
    let mut taken = Vec::new();
    old.retain(|id| match free.get_mut(&key(base, *id)).and_then(Vec::pop) {
        Some(found) => {
            pairs.push((*id, found));
            taken.push(found);
            false
        }
        None => true,
    });
    new.retain(|id| !taken.contains(id));
}

fn declaration_and_body(facts: &FileFacts, id: SymbolId) -> Option<(SymbolKind, u64, u64)> {
    let symbol = facts.symbol(id);
    (symbol.body_hash.0 != 0).then_some((symbol.kind, symbol.sig_hash.0, symbol.body_hash.0))
}

fn body_alone(facts: &FileFacts, id: SymbolId) -> Option<(SymbolKind, u64, u64)> {
    let symbol = facts.symbol(id);
    (symbol.body_hash.0 != 0).then_some((symbol.kind, 0, symbol.body_hash.0))
}

/// Pairs what has an equal key that is unique on both sides.
fn pair_unique<K: Ord>(
    base: &FileFacts,
    left: &[SymbolId],
    head: &FileFacts,
    right: &[SymbolId],
    key: fn(&FileFacts, SymbolId) -> Option<K>,
) -> Vec<Pair> {
    let mut groups: BTreeMap<K, (Vec<SymbolId>, Vec<SymbolId>)> = BTreeMap::new();
    for id in left {
        if let Some(key) = key(base, *id) {
            groups.entry(key).or_default().0.push(*id);
        }
    }
    for id in right {
        if let Some(key) = key(head, *id) {
            groups.entry(key).or_default().1.push(*id);
        }
    }
    groups
        .into_values()
        .filter_map(|(old, new)| match (old.as_slice(), new.as_slice()) {
            ([old], [new]) => Some((*old, *new)),
            _ => None,
        })
        .collect()
}

/// How two paired symbols differ; empty when not at all.
pub fn compare(base: &FileFacts, old: SymbolId, head: &FileFacts, new: SymbolId) -> Changes {
    let (a, b) = (base.symbol(old), head.symbol(new));
    let mut changes = Changes::default();
    if base.name(a.name) != head.name(b.name) {
        changes |= Changes::RENAMED;
    }
    let parent = |facts: &FileFacts, symbol: &Symbol| {
        symbol.parent.map(|p| plain_qualname(facts.name(facts.symbol(p).qualname)))
    };
    if parent(base, a) != parent(head, b) {
        changes |= Changes::MOVED;
    }
    if a.sig_hash != b.sig_hash || a.kind != b.kind || a.flags != b.flags {
        changes |= Changes::SIGNATURE;
    }
    if a.body_hash != b.body_hash {
        changes |= Changes::BODY;
    }
    if a.doc_hash != b.doc_hash {
        changes |= Changes::DOC;
    }
    if a.act_hash != b.act_hash {
        changes |= Changes::ACTING;
    }
    if a.kind == SymbolKind::Module {
        let package = |facts: &FileFacts| facts.package.first().map(|p| facts.name(p.name).to_string());
        if package(base) != package(head) {
            changes |= Changes::MOVED;
        }
    }
    changes
}

/// The titles from the outermost block down, `None` where computed.
pub fn title_path(facts: &FileFacts, block: TestBlockId) -> Vec<Option<&str>> {
    let mut path = Vec::new();
    let mut at = Some(block);
    // Parents come before children, so the walk ends; the bound keeps a hostile shard from circling.
    while let Some(id) = at.filter(|_| path.len() <= facts.test_blocks.len()) {
        let row = &facts.test_blocks[id.index()];
        path.push(row.title.map(|t| facts.name(t)));
        at = row.parent;
    }
    path.reverse();
    path
}

type BlockKey<'f> = (TestBlockKind, Vec<Option<&'f str>>);

fn block_deltas(base: Option<&FileFacts>, head: Option<&FileFacts>) -> Vec<BlockDelta> {
    let mut groups: BTreeMap<BlockKey<'_>, (Vec<TestBlockId>, Vec<TestBlockId>)> = BTreeMap::new();
    if let Some(base) = base {
        for at in 0..base.test_blocks.len() {
            let id = TestBlockId::new(at);
            groups.entry((base.test_blocks[at].kind, title_path(base, id))).or_default().0.push(id);
        }
    }
    if let Some(head) = head {
        for at in 0..head.test_blocks.len() {
            let id = TestBlockId::new(at);
            groups.entry((head.test_blocks[at].kind, title_path(head, id))).or_default().1.push(id);
        }
    }
    let hash = |facts: Option<&FileFacts>, id: TestBlockId| facts.map(|f| f.test_blocks[id.index()].body_hash);
    let mut out = Vec::new();
    for (mut old, mut new) in groups.into_values() {
        let mut kept = Vec::new();
        for id in old {
            match new.iter().position(|n| hash(head, *n) == hash(base, id)) {
                Some(at) => {
                    new.remove(at);
                }
                None => kept.push(id),
            }
        }
        old = kept;
        for at in 0..old.len().max(new.len()) {
            let (base, head) = (old.get(at).copied(), new.get(at).copied());
            out.push(BlockDelta { head, base });
        }
    }
    out.sort_unstable();
    out
}

/// A row as text that does not depend on interning, so that rows of two files compare.
fn import_keys(facts: &FileFacts) -> Vec<String> {
    let key = |row: &Import| {
        let owner = facts.scope(row.scope).owner;
        format!(
            "{}|{}|{}{}|{}|{}|{}|{}",
            row.kind.as_str(),
            row.branch.as_str(),
            ".".repeat(row.level.min(64) as usize),
            row.module.map_or("?", |m| facts.name(m)),
            facts.text(row.name),
            facts.text(row.local),
            row.type_only,
            facts.name(facts.symbol(owner).qualname),
        )
    };
    facts.imports.iter().map(key).collect()
}

fn export_keys(facts: &FileFacts) -> Vec<String> {
    let key = |row: &Export| {
        format!(
            "{}|{}|{}|{}|{}",
            row.kind.as_str(),
            facts.text(row.exported),
            facts.text(row.local),
            facts.text(row.module),
            row.type_only,
        )
    };
    facts.exports.iter().map(key).collect()
}

/// Compares two lists of rows as multisets.
fn row_delta(base: Option<Vec<String>>, head: Option<Vec<String>>) -> RowDelta {
    let mut count: BTreeMap<String, (Vec<u32>, Vec<u32>)> = BTreeMap::new();
    for (at, key) in base.unwrap_or_default().into_iter().enumerate() {
        count.entry(key).or_default().0.push(at as u32);
    }
    for (at, key) in head.unwrap_or_default().into_iter().enumerate() {
        count.entry(key).or_default().1.push(at as u32);
    }
    let mut out = RowDelta::default();
    for (old, new) in count.into_values() {
        let n_common = old.len().min(new.len());
        out.removed.extend(&old[n_common..]);
        out.added.extend(&new[n_common..]);
    }
    out.removed.sort_unstable();
    out.added.sort_unstable();
    out
}
