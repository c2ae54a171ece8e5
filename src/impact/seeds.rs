//! From a change to the nodes where reach starts, in the head's graph and in the base's.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::base::dialect::{Dialect, LanguageName};
use crate::base::path::RepoPath;
use crate::facts::delta::{Changes, plain_qualname};
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::graph::edge::{Edge, EdgeKind, Graph, Layer};
use crate::impact::change::{FileChange, TreeChange};
use crate::impact::reach::Seed;
use crate::impact::space::{Node, Space};
use crate::impact::{code, handing};
use crate::view::{FileIdx, SymbolRef, View};

/// A tree of a comparison, with its graph and numbering.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub view: &'a View,
    pub graph: &'a Graph,
    pub space: &'a Space,
}

/// One changed thing and where it starts; what the answer's `changed` and warnings speak of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub head: Vec<Seed>,
    pub base: Vec<Seed>,
    /// The symbol, in the head where it exists there.
    pub symbol: Option<SymbolRef>,
    pub is_head: bool,
    pub changes: Changes,
    /// Why it counts as changed when its own text is not: `resolves_otherwise`, `import`, `names_file`.
    pub because: Option<&'static str>,
}

/// Which changes start a reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedOptions {
    /// Docstrings and acting comments count as changes of the body (`safe`).
    pub docs_count: bool,
}

/// The origins of a change, in order of (side, symbol); nothing twice.
pub fn origins(change: &TreeChange, base: Side<'_>, head: Side<'_>, options: SeedOptions) -> Vec<Origin> {
    let mut out = Vec::new();
    for row in &change.symbols {
        let changes = row.changes;
        let counts = changes.any(Changes::BODY) || changes.is_contract() || options.docs_count;
        if !counts {
            continue;
        }
        let is_contract = changes.is_contract();
        let mut origin = Origin {
            head: Vec::new(),
            base: Vec::new(),
            symbol: row.head.or(row.base),
            is_head: row.head.is_some(),
            changes,
            because: None,
        };
        if let Some(at) = row.head {
            origin.head = seeds_of(head, at, changes, is_contract);
        }
        if let Some(at) = row.base {
            origin.base = seeds_of(base, at, changes, is_contract);
        }
        out.push(origin);
    }
    let known = Imported { view: base.view, packages: OnceCell::new() };
    for file in &change.files {
        blocks(file, base, head, &mut out);
        imports(file, base, head, &known, &mut out);
    }
    out.extend(resolves_otherwise(change, base, head));
    out
}

/// A changed symbol and, where its change runs at import, its module.
fn seeds_of(side: Side<'_>, at: SymbolRef, changes: Changes, is_contract: bool) -> Vec<Seed> {
    let facts = side.view.facts(at.file);
    let symbol = facts.symbol(at.symbol);
    if at.symbol.index() == 0 && facts.dialect == Dialect::Java {
        // Importing a Java file runs nothing; what it defines is compared by itself.
        return Vec::new();
    }
    let mut seeds = vec![Seed { node: side.space.symbol(at), is_contract }];
    let parent_is_type = symbol.parent.is_some_and(|p| facts.symbol(p).kind.is_class());
    let parent_is_module = symbol.parent.is_some_and(|p| p.index() == 0);
    let runs_at_import = facts.dialect.language() != LanguageName::Java
        && match symbol.kind {
            SymbolKind::Variable => parent_is_module && code::initializer_runs(facts, at.symbol),
            SymbolKind::Field => {
                (facts.dialect.language() == LanguageName::Python || symbol.flags.has(SymbolFlags::STATIC))
                    && parent_is_type
                    && code::initializer_runs(facts, at.symbol)
            }
            SymbolKind::Class => changes.any(Changes::BODY),
            // A decorator is called where the function is defined.
            SymbolKind::Function | SymbolKind::Method => {
                changes.any(Changes::SIGNATURE | Changes::ADDED | Changes::REMOVED)
                    && !symbol.flags.has(SymbolFlags::LOCAL)
                    && handing::strange_decorators(facts, at.symbol).next().is_some()
            }
            _ => false,
        };
    if let Some(class) = symbol.parent.filter(|_| parent_is_type && symbol.kind == SymbolKind::Field)
        && code::initializer_runs(facts, at.symbol)
    {
        // Its initializer runs when an instance is made, or the class.
        seeds.push(Seed { node: side.space.symbol(SymbolRef { symbol: class, ..at }), is_contract: false });
    }
    if runs_at_import && at.symbol.index() != 0 {
        seeds.push(Seed { node: side.space.module(at.file), is_contract: false });
    }
    seeds
}

fn blocks(file: &FileChange, base: Side<'_>, head: Side<'_>, out: &mut Vec<Origin>) {
    for row in &file.delta.blocks {
        let seed = |side: Side<'_>, file: Option<FileIdx>, block: Option<TestBlockId>| -> Vec<Seed> {
            let node = file.zip(block).map(|(file, block)| side.space.block(file, block));
            node.map(|node| Seed { node, is_contract: false }).into_iter().collect()
        };
        out.push(Origin {
            head: seed(head, file.head_file(), row.head),
            base: seed(base, file.base_file(), row.base),
            symbol: None,
            is_head: row.head.is_some(),
            changes: match (row.base, row.head) {
                (None, _) => Changes::ADDED,
                (_, None) => Changes::REMOVED,
                _ => Changes::BODY,
            },
            because: None,
        });
    }
}

/// A changed import changes what uses the imported name in its file. One that nothing uses is
/// there for what it runs: the module counts when other files of the repository are loaded now,
/// or when an import was added that may fail, since it leads to none of them.
fn imports(file: &FileChange, base: Side<'_>, head: Side<'_>, known: &Imported<'_>, out: &mut Vec<Origin>) {
    let rows = &file.delta.imports;
    let (head_file, base_file) = (file.head_file(), file.base_file());
    // Added and removed files count as a whole already.
    let (Some(head_file), Some(base_file)) = (head_file, base_file) else { return };
    let loads = loads_otherwise(base, base_file, head, head_file);
    let mut users: BTreeSet<SymbolId> = BTreeSet::new();
    let mut is_module_changed = false;
    for (side, idx, list) in [(base, base_file, &rows.removed), (head, head_file, &rows.added)] {
        let facts = side.view.facts(idx);
        for row in list.iter().map(|at| &facts.imports[*at as usize]) {
            let found = match row.local {
                Some(local) => users_of_name(facts, facts.name(local)),
                None => BTreeSet::new(),
            };
            let runs = !row.type_only && row.branch != Branch::TypeChecking && facts.dialect != Dialect::Java;
            let is_added = std::ptr::eq(list, &rows.added);
            let may_fail = is_added && !leads_inside(side, idx, row);
            match row.kind {
                ImportKind::SideEffect | ImportKind::Star => is_module_changed |= runs,
                _ if found.is_empty() => is_module_changed |= runs && (loads || may_fail),
                _ => is_module_changed |= runs && may_fail && is_new_module(known, facts, row),
            }
            if idx == head_file && std::ptr::eq(side.view, head.view) {
                users.extend(found);
            } else {
                // The same owners, as far as they still exist.
                let names: BTreeSet<&str> = found.iter().map(|id| facts.name(facts.symbol(*id).qualname)).collect();
                let head_facts = head.view.facts(head_file);
                users.extend(
                    (0..head_facts.symbols.len())
                        .map(SymbolId::new)
                        .filter(|id| names.contains(head_facts.name(head_facts.symbol(*id).qualname))),
                );
            }
        }
    }
    if is_module_changed {
        users.insert(SymbolId::new(0));
    }
    for symbol in users {
        let at = SymbolRef { file: head_file, symbol };
        if symbol.index() == 0 && !is_module_changed {
            // Module code that mentions the name: a call runs, a mere read is seen by its readers.
            if !module_runs_name(head.view.facts(head_file), head.graph, at) {
                continue;
            }
        }
        out.push(Origin {
            head: vec![Seed { node: head.space.symbol(at), is_contract: false }],
            base: Vec::new(),
            symbol: Some(at),
            is_head: true,
            changes: Changes::BODY,
            because: Some("import"),
        });
    }
}

/// Whether an import was followed to a file of the repository.
fn leads_inside(side: Side<'_>, file: FileIdx, row: &Import) -> bool {
    let module = SymbolRef { file, symbol: SymbolId::new(0) };
    let is_its = |line: u32| line == row.line || line == row.name_line;
    side.graph.edges_from(module).iter().any(|e| e.kind == EdgeKind::Imports && is_its(e.line))
}

/// The first names of all modules that a tree imports absolutely, gathered when one is asked for.
struct Imported<'a> {
    view: &'a View,
    packages: OnceCell<HashSet<&'a str>>,
}

impl<'a> Imported<'a> {
    fn has(&self, module: &str) -> bool {
        self.packages.get_or_init(|| Self::packages(self.view)).contains(first_name(module))
    }

    fn packages(view: &'a View) -> HashSet<&'a str> {
        let rows = view.files.iter().flat_map(|file| file.facts.imports.iter().map(move |row| (&*file.facts, row)));
        rows.filter(|(_, row)| row.level == 0)
            .filter_map(|(facts, row)| row.module.map(|module| first_name(facts.name(module))))
            .collect()
    }
}

fn first_name(module: &str) -> &str {
    module.split(['.', '/']).next().unwrap_or("")
}

/// Whether nothing in the base tree imports from the package that `row` names, so that it may
/// not be there; a relative import that leads nowhere always counts.
fn is_new_module(known: &Imported<'_>, facts: &FileFacts, row: &Import) -> bool {
    let Some(module) = row.module.map(|name| facts.name(name)) else { return row.level > 0 };
    row.level > 0 || module.starts_with('.') || !known.has(module)
}

/// Whether a module's own code makes calls at all.
fn module_runs_name(facts: &FileFacts, graph: &Graph, module: SymbolRef) -> bool {
    facts.refs.iter().any(|r| r.owner == module.symbol && matches!(r.kind, RefKind::Call | RefKind::New))
        || graph.edges_from(module).iter().any(|e| e.kind == EdgeKind::Calls)
}

fn loads_otherwise(base: Side<'_>, base_file: FileIdx, head: Side<'_>, head_file: FileIdx) -> bool {
    let loaded = |side: Side<'_>, file: FileIdx| -> BTreeSet<RepoPath> {
        let start = side.graph.file_uses.partition_point(|u| u.from < file);
        side.graph.file_uses[start..]
            .iter()
            .take_while(|u| u.from == file)
            .filter(|u| !u.type_only)
            .map(|u| side.view.file(u.to).path.clone())
            .collect()
    };
    loaded(base, base_file) != loaded(head, head_file)
}

/// The symbols whose code mentions a name as the root of a chain.
fn users_of_name(facts: &FileFacts, name: &str) -> BTreeSet<SymbolId> {
    let mut rows: Vec<bool> = vec![false; facts.exprs.len()];
    for (at, row) in facts.exprs.iter().enumerate() {
        rows[at] = row.kind == ExprKind::Name && facts.text(row.name) == name;
    }
    facts
        .refs
        .iter()
        .filter(|r| {
            let mut at = r.expr;
            loop {
                if rows[at.index()] {
                    return true;
                }
                match facts.operand(at, 0) {
                    Some(inner) if inner < at => at = inner,
                    _ => return false,
                }
            }
        })
        .map(|r| r.owner)
        .collect()
}

/// Owners whose references have another proved target, or another unproved set, in the head than
/// in the base, though their own text is the same (FACTS.md §5): a new override, a deleted file
/// that they import, a name that became ambiguous.
fn resolves_otherwise(change: &TreeChange, base: Side<'_>, head: Side<'_>) -> Vec<Origin> {
    let moved: HashMap<SymbolRef, SymbolRef> =
        change.symbols.iter().filter_map(|row| Some((row.base?, row.head?))).collect();
    let key = |view: &View, at: SymbolRef, path: &RepoPath| {
        let mut hasher = DefaultHasher::new();
        path.as_str().hash(&mut hasher);
        plain_qualname(view.qualname(at)).hash(&mut hasher);
        hasher.finish()
    };
    let head_key = |at: SymbolRef| key(head.view, at, &head.view.file(at.file).path);
    let base_key = |at: SymbolRef| match moved.get(&at) {
        Some(to) => head_key(*to),
        None => {
            let path = &base.view.file(at.file).path;
            key(base.view, at, change.renames.get(path).unwrap_or(path))
        }
    };
    let unlike = Unlike::of(base, head, |old, new| base_key(old) == head_key(new));
    let old = targets(base, &unlike.base, base_key);
    let new = targets(head, &unlike.head, head_key);
    let changed: BTreeSet<SymbolRef> = change.symbols.iter().filter_map(|row| row.head).collect();
    let mut out = Vec::new();
    let mut known: HashMap<u64, ()> = HashMap::new();
    for file in base.view.indices().filter(|file| unlike.base[file.0 as usize]) {
        for at in 0..base.view.facts(file).symbols.len() {
            known.insert(base_key(SymbolRef { file, symbol: SymbolId::new(at) }), ());
        }
    }
    for file in head.view.indices().filter(|file| unlike.head[file.0 as usize]) {
        for row in 0..head.view.facts(file).symbols.len() {
            let at = SymbolRef { file, symbol: SymbolId::new(row) };
            if changed.contains(&at) {
                continue;
            }
            let owner = head_key(at);
            if known.contains_key(&owner) && old.get(&owner) != new.get(&owner) {
                out.push(Origin {
                    head: vec![Seed { node: head.space.symbol(at), is_contract: false }],
                    base: Vec::new(),
                    symbol: Some(at),
                    is_head: true,
                    changes: Changes::BODY,
                    because: Some("resolves_otherwise"),
                });
            }
        }
    }
    out
}

/// Which files of two trees are not the same file whose references lead, one by one, to what they
/// led to before: only those can hold an owner that resolves otherwise.
struct Unlike {
    base: Vec<bool>,
    head: Vec<bool>,
}

impl Unlike {
    /// `is_same`: whether a symbol of the base and one of the head are one.
    fn of(base: Side<'_>, head: Side<'_>, is_same: impl Fn(SymbolRef, SymbolRef) -> bool) -> Self {
        let mut unlike = Unlike { base: vec![true; base.view.files.len()], head: vec![true; head.view.files.len()] };
        // For each file of the base the same one of the head: its path, bytes and dialect are equal.
        let twins: Vec<Option<FileIdx>> = base
            .view
            .files
            .iter()
            .map(|file| {
                let twin = head.view.find(file.path.as_str())?;
                let other = head.view.file(twin);
                (other.blob == file.blob && other.dialect == file.dialect).then_some(twin)
            })
            .collect();
        for (file, twin) in base.view.indices().zip(&twins) {
            let Some(twin) = *twin else { continue };
            let leads_alike = |(old, new): (&Edge, &Edge)| {
                old.from.symbol == new.from.symbol
                    && old.kind == new.kind
                    && ((twins[old.to.file.0 as usize] == Some(new.to.file) && old.to.symbol == new.to.symbol)
                        || is_same(old.to, new.to))
            };
            let (mut old, mut new) = (compared(base.graph, file), compared(head.graph, twin));
            let edges = loop {
                match (old.next(), new.next()) {
                    (Some(old), Some(new)) if leads_alike((old, new)) => {}
                    (None, None) => break true,
                    _ => break false,
                }
            };
            let names = |graph: &Graph, file: FileIdx| -> Vec<(SymbolId, NameId)> {
                let start = graph.unproved.partition_point(|row| row.from.file < file);
                let own = graph.unproved[start..].iter().take_while(|row| row.from.file == file);
                own.map(|row| (row.from.symbol, row.name)).collect()
            };
            if edges && names(base.graph, file) == names(head.graph, twin) {
                unlike.base[file.0 as usize] = false;
                unlike.head[twin.0 as usize] = false;
            }
        }
        unlike
    }
}

/// The edges of a file by which its owners are compared, in the graph's order.
fn compared(graph: &Graph, file: FileIdx) -> impl Iterator<Item = &Edge> {
    let start = graph.edges.partition_point(|edge| edge.from.file < file);
    graph.edges[start..].iter().take_while(move |edge| edge.from.file == file).filter(|edge| is_compared(edge))
}

/// Names that may mean many things come and go with their namesakes; those that matter are
/// reached by name. What a module imports is compared by the files that it loads and by its users.
fn is_compared(edge: &Edge) -> bool {
    edge.layer != Layer::Candidate && edge.kind != EdgeKind::Overrides && edge.kind != EdgeKind::Imports
}

/// What the references of each owner in some files mean: hashes of targets and of unproved names.
fn targets(side: Side<'_>, files: &[bool], key: impl Fn(SymbolRef) -> u64) -> HashMap<u64, BTreeSet<u64>> {
    let mut out: HashMap<u64, BTreeSet<u64>> = HashMap::new();
    for edge in side.graph.edges.iter().filter(|edge| files[edge.from.file.0 as usize] && is_compared(edge)) {
        let mut hasher = DefaultHasher::new();
        (key(edge.to), edge.kind.as_str()).hash(&mut hasher);
        out.entry(key(edge.from)).or_default().insert(hasher.finish());
    }
    for row in side.graph.unproved.iter().filter(|row| files[row.from.file.0 as usize]) {
        let mut hasher = DefaultHasher::new();
        (side.view.facts(row.from.file).name(row.name), "unproved").hash(&mut hasher);
        out.entry(key(row.from)).or_default().insert(hasher.finish());
    }
    out
}

/// The symbols whose code names a file in a string: by its path's end, or by its base name.
pub fn names_file(side: Side<'_>, path: &RepoPath) -> Vec<SymbolRef> {
    let mut out = BTreeSet::new();
    for file in side.view.indices() {
        let facts = side.view.facts(file);
        if !facts.names.iter().any(|text| names_path(text, path)) {
            continue;
        }
        for row in &facts.refs {
            let expr = facts.expr(row.expr);
            if expr.kind == ExprKind::Path && names_path(facts.text(expr.name), path) {
                let at = SymbolRef { file, symbol: row.owner };
                out.insert(at);
            }
        }
    }
    out.into_iter().collect()
}

/// Whether a string names a path: `a/b.json` its end, `b.json` its base name.
fn names_path(text: &str, path: &RepoPath) -> bool {
    // Resources of Java are named from the root of the class path.
    let text = text.strip_prefix("classpath*:").or_else(|| text.strip_prefix("classpath:")).unwrap_or(text);
    let text = text.trim_start_matches('/').trim_start_matches("./").trim_start_matches("../");
    if text.is_empty() || !text.contains('.') {
        return false;
    }
    match text.contains('/') {
        true => {
            let mut rest = text;
            while let Some(up) = rest.strip_prefix("../") {
                rest = up;
            }
            path.as_str() == rest || path.as_str().ends_with(&format!("/{rest}"))
        }
        false => path.file_name() == text,
    }
}

/// What a node is called in answers: `path::qualname`, or the path and the titles of a block.
pub fn label(view: &View, node: Node) -> String {
    match node {
        Node::Symbol(at) => {
            let path = &view.file(at.file).path;
            if at.symbol.index() == 0 { path.to_string() } else { format!("{path}::{}", view.qualname(at)) }
        }
        Node::Block(file, block) => {
            let facts = view.facts(file);
            let titles: Vec<&str> =
                crate::facts::delta::title_path(facts, block).into_iter().map(|t| t.unwrap_or("*")).collect();
            let row = &facts.test_blocks[block.index()];
            let kind = if row.kind == TestBlockKind::Hook { " > (hook)" } else { "" };
            format!("{} > {}{kind}", view.file(file).path, titles.join(" > "))
        }
    }
}

/// Seeds of the head and base sides of some origins, sorted and unique.
pub fn seeds(origins: &[Origin]) -> (Vec<Seed>, Vec<Seed>) {
    let gather = |side: fn(&Origin) -> &[Seed]| -> Vec<Seed> {
        let mut all: BTreeMap<u32, bool> = BTreeMap::new();
        for seed in origins.iter().flat_map(side) {
            *all.entry(seed.node).or_default() |= seed.is_contract;
        }
        all.into_iter().map(|(node, is_contract)| Seed { node, is_contract }).collect()
    };
    (gather(|o| &o.head), gather(|o| &o.base))
}
