//! Linking a view anew after a change: a file whose recorded queries have the answers that they
//! had keeps its link (FACTS.md §4). Equal to linking every file; a replay test compares.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::base::id::Digest;
use crate::facts::model::{FileFacts, SymbolKind};
use crate::facts::table::Id;
use crate::graph::edge::{Edge, FileUse, Graph, Unproved};
use crate::graph::link::{FileLink, assemble, link_recorded};
use crate::graph::modules::{Family, Modules, java_package};
use crate::graph::names::Names;
use crate::graph::queries::{Query, Session, Shared};
use crate::graph::record::{Asked, Record};
use crate::view::{FileIdx, SymbolRef, View};

/// A linked view with the records that linking the next one compares.
pub struct Linked {
    pub graph: Graph,
    /// Files that were linked anew for this view.
    pub n_linked: usize,
    view: Arc<View>,
    links: Vec<FileLink>,
    /// By family: what specifiers and package names are resolved against.
    tables: BTreeMap<Family, Digest>,
}

impl Linked {
    /// Links every file of a view and records what each asks.
    pub fn new(view: Arc<View>) -> Self {
        let shared = Shared::new(Names::new(&view), Modules::new(&view));
        let files: Vec<FileIdx> = view.indices().collect();
        let links: Vec<FileLink> = files.par_iter().map(|file| link_recorded(&view, &shared, *file)).collect();
        let graph = assemble(&view, shared, links.clone());
        Linked { graph, n_linked: files.len(), tables: tables(&view), links, view }
    }

    /// Links another view, taking over the links of files for which nothing that they asked for
    /// has changed.
    pub fn next(&self, view: Arc<View>) -> Self {
        let shared = Shared::new(Names::new(&view), Modules::new(&view));
        let tables = tables(&view);
        let moved = Moved::new(&self.view, &view);
        let files: Vec<FileIdx> = view.indices().collect();
        let links: Vec<(FileLink, bool)> = files
            .par_iter()
            .map(|file| {
                let family = Family::of(view.file(*file).dialect);
                let same_tables = self.tables.get(&family) == tables.get(&family);
                let old = moved.old[file.0 as usize].filter(|_| same_tables);
                let kept = old.and_then(|old| kept(&self.links[old.0 as usize], &shared, &moved));
                let anew = kept.is_none();
                (kept.unwrap_or_else(|| link_recorded(&view, &shared, *file)), anew)
            })
            .collect();
        let n_linked = links.iter().filter(|(_, anew)| *anew).count();
        let links: Vec<FileLink> = links.into_iter().map(|(link, _)| link).collect();
        let graph = assemble(&view, shared, links.clone());
        Linked { graph, n_linked, tables, links, view }
    }
}

/// A file's link in terms of the new view; `None` when something that it asked for, or may have
/// looked at, is not as it was.
fn kept(link: &FileLink, shared: &Shared<'_>, moved: &Moved) -> Option<FileLink> {
    let link = moved.link(link, &shared.names)?;
    let mut session = Session::new(shared);
    for asked in &link.record.asked {
        session.refuel();
        let answer = session.ask(asked.query);
        if Record::digest(&shared.names, &answer) != asked.answer {
            return None;
        }
    }
    Some(link)
}

/// Digests of what module names resolve against: the paths of a family's files, the
/// configuration, and what Java's packages hold.
fn tables(view: &View) -> BTreeMap<Family, Digest> {
    let mut parts: BTreeMap<Family, Vec<Vec<u8>>> = BTreeMap::new();
    for file in view.indices() {
        let at = view.file(file);
        let family = Family::of(at.dialect);
        let of_family = parts.entry(family).or_default();
        of_family.push(at.path.as_str().as_bytes().to_vec());
        if family == Family::Java {
            of_family.push(java_package(view, file).as_bytes().to_vec());
            of_family.extend(top_level_types(&at.facts));
        }
    }
    let config = view.config.iter().flat_map(|(path, bytes)| [path.as_str().as_bytes(), bytes]);
    let config = Digest::of_parts(config);
    let digest = |parts: Vec<Vec<u8>>| {
        let parts = parts.iter().map(Vec::as_slice);
        Digest::of_parts(parts.chain([config.0.as_slice()]))
    };
    parts.into_iter().map(|(family, parts)| (family, digest(parts))).collect()
}

/// The rows and names of the types at a file's top level.
fn top_level_types(facts: &FileFacts) -> impl Iterator<Item = Vec<u8>> + '_ {
    let rows = facts.symbols.iter().enumerate();
    let types = rows.filter(|(_, s)| s.kind.is_class() || s.kind == SymbolKind::TypeAlias);
    types.filter(|(_, s)| s.parent.is_none_or(|parent| parent.index() == 0)).map(|(row, symbol)| {
        let mut bytes = (row as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(facts.name(symbol.name).as_bytes());
        bytes
    })
}

/// Where the unchanged files of one view are in another.
struct Moved {
    /// By file of the old view; `None` when it is gone or its facts are others.
    new: Vec<Option<FileIdx>>,
    /// By file of the new view.
    old: Vec<Option<FileIdx>>,
}

impl Moved {
    fn new(from: &View, to: &View) -> Self {
        let mut moved = Moved { new: vec![None; from.files.len()], old: vec![None; to.files.len()] };
        for file in to.indices() {
            let at = to.file(file);
            let Some(before) = from.find(at.path.as_str()) else { continue };
            let was = from.file(before);
            let same = was.dialect == at.dialect && (Arc::ptr_eq(&was.facts, &at.facts) || was.facts == at.facts);
            if same {
                moved.new[before.0 as usize] = Some(file);
                moved.old[file.0 as usize] = Some(before);
            }
        }
        moved
    }

    fn file(&self, file: FileIdx) -> Option<FileIdx> {
        self.new[file.0 as usize]
    }

    fn symbol(&self, at: SymbolRef) -> Option<SymbolRef> {
        Some(SymbolRef { file: self.file(at.file)?, ..at })
    }

    /// A link whose files are all unchanged, in terms of the new view.
    fn link(&self, link: &FileLink, names: &Names<'_>) -> Option<FileLink> {
        let edge =
            |edge: &Edge| Some(Edge { from: self.symbol(edge.from)?, to: self.symbol(edge.to)?, ..edge.clone() });
        let unproved = |row: &Unproved| Some(Unproved { from: self.symbol(row.from)?, ..row.clone() });
        let used = |used: &FileUse| Some(FileUse { from: self.file(used.from)?, to: self.file(used.to)?, ..*used });
        let symbol = |at: &SymbolRef| self.symbol(*at);
        let asked = |asked: &Asked| {
            let query = self.query(asked.query, asked.text.as_deref(), names)?;
            Some(Asked { query, text: asked.text.clone(), answer: asked.answer })
        };
        Some(FileLink {
            edges: link.edges.iter().map(edge).collect::<Option<_>>()?,
            unproved: link.unproved.iter().map(unproved).collect::<Option<_>>()?,
            uses: link.uses.iter().map(used).collect::<Option<_>>()?,
            open_classes: link.open_classes.iter().map(symbol).collect::<Option<_>>()?,
            handed_out: link.handed_out.iter().map(symbol).collect::<Option<_>>()?,
            n_external: link.n_external,
            blind: link.blind,
            record: Record {
                asked: link.record.asked.iter().map(asked).collect::<Option<_>>()?,
                files: link.record.files.iter().map(|file| self.file(*file)).collect::<Option<_>>()?,
            },
        })
    }

    fn query(&self, query: Query, text: Option<&str>, names: &Names<'_>) -> Option<Query> {
        Some(match query {
            Query::Export(file, _) => Query::Export(self.file(file)?, names.find(text?)?),
            Query::Global(file, _) => Query::Global(self.file(file)?, names.find(text?)?),
            Query::Import(file, row) => Query::Import(self.file(file)?, row),
            Query::Symbol(at) => Query::Symbol(self.symbol(at)?),
            Query::Binding(file, row) => Query::Binding(self.file(file)?, row),
            Query::Param(file, row) => Query::Param(self.file(file)?, row),
            Query::Returns(at) => Query::Returns(self.symbol(at)?),
            Query::Lambda(file, scope) => Query::Lambda(self.file(file)?, scope),
            Query::Alias(at) => Query::Alias(self.symbol(at)?),
            Query::Bases(at) => Query::Bases(self.symbol(at)?),
            Query::Mro(at) => Query::Mro(self.symbol(at)?),
            Query::This(at) => Query::This(self.symbol(at)?),
        })
    }
}
