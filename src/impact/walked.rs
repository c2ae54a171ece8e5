//! What impact asks of every file of a tree, whatever the change: its tests, the imports that may
//! lead to a file, the users of fixtures. Kept beside a kept tree, so that its files need not
//! be walked again.

use std::collections::{BTreeMap, BTreeSet};

use crate::atlas::Atlas;
use crate::base::path::RepoPath;
use crate::facts::model::SymbolId;
use crate::facts::table::Id;
use crate::impact::declared::{self, Declared};
use crate::impact::fixtures;
use crate::impact::may_import::{MayImport, may_imports};
use crate::impact::space::Space;
use crate::impact::tests::{Test, Tests, tests};
use crate::lang::testing::Runner;
use crate::store::parts::{Cursor, put_text, put_varint};
use crate::view::{FileIdx, SymbolRef, View};

/// The name of the note.
const NAME: &str = "impact";

const RUNNERS: [Runner; 11] = [
    Runner::Pytest,
    Runner::Unittest,
    Runner::Jest,
    Runner::Vitest,
    Runner::Mocha,
    Runner::NodeTest,
    Runner::Playwright,
    Runner::Cypress,
    Runner::Junit,
    Runner::TestNg,
    Runner::Script,
];

/// What was found by walking over all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Walked {
    pub(super) tests: Tests,
    pub(super) may_imports: Vec<MayImport>,
    /// Users of fixtures that no reference names: (node, line).
    pub(super) implied: BTreeMap<SymbolRef, Vec<(u32, u32)>>,
    /// What configuration says is loaded; its users are among the implied ones.
    pub(super) declared: Vec<Declared>,
}

impl Walked {
    /// Walks over the files of a tree, or takes what was kept of such a walk.
    pub(super) fn of(atlas: &Atlas, space: &Space) -> Self {
        let view = &*atlas.view;
        let notes = view.directory.as_ref().map(|directory| &directory.notes);
        let kept = notes.and_then(|notes| decode(&notes.get(NAME)?, view, space));
        kept.unwrap_or_else(|| {
            let tests = tests(view, &atlas.graph, space);
            let may_imports = may_imports(view, &atlas.graph);
            let declared = declared::links(view, &tests.files);
            let mut implied = fixtures::users(view, space, &tests.files);
            for link in &declared {
                implied.entry(link.to).or_default().push((space.symbol(link.from), 0));
            }
            let walked = Walked { tests, may_imports, implied, declared };
            if let Some(bytes) = encode(&walked)
                && let Some(notes) = notes
            {
                notes.put(NAME, &bytes);
            }
            walked
        })
    }
}

fn encode(walked: &Walked) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let packages: BTreeSet<&RepoPath> = walked.tests.tests.iter().map(|test| &test.package).collect();
    let packages: Vec<&RepoPath> = packages.into_iter().collect();
    put_varint(packages.len() as u64, &mut out);
    packages.iter().for_each(|package| put_text(package.as_str(), &mut out));
    put_varint(walked.tests.tests.len() as u64, &mut out);
    for Test { id, file, runner, package, carriers, reaches_out } in &walked.tests.tests {
        put_text(id, &mut out);
        put_varint(u64::from(file.0), &mut out);
        out.push(RUNNERS.iter().position(|known| known == runner)? as u8);
        put_varint(packages.binary_search(&package).ok()? as u64, &mut out);
        put_varint(carriers.len() as u64, &mut out);
        carriers.iter().for_each(|node| put_varint(u64::from(*node), &mut out));
        out.push(u8::from(*reaches_out));
    }
    put_varint(walked.may_imports.len() as u64, &mut out);
    for MayImport { to, from, line } in &walked.may_imports {
        put_varint(u64::from(to.0), &mut out);
        put_symbol(*from, &mut out);
        put_varint(u64::from(*line), &mut out);
    }
    put_varint(walked.implied.len() as u64, &mut out);
    for (at, users) in &walked.implied {
        put_symbol(*at, &mut out);
        put_varint(users.len() as u64, &mut out);
        for (node, line) in users {
            put_varint(u64::from(*node), &mut out);
            put_varint(u64::from(*line), &mut out);
        }
    }
    put_varint(walked.declared.len() as u64, &mut out);
    for Declared { to, from } in &walked.declared {
        put_symbol(*to, &mut out);
        put_symbol(*from, &mut out);
    }
    Some(out)
}

fn put_symbol(at: SymbolRef, out: &mut Vec<u8>) {
    put_varint(u64::from(at.file.0), out);
    put_varint(at.symbol.index() as u64, out);
}

/// Reads back what `encode` wrote of this view; `None` for anything else.
fn decode(bytes: &[u8], view: &View, space: &Space) -> Option<Walked> {
    let mut rest = Cursor(bytes);
    let n_nodes = space.len();
    let node = |rest: &mut Cursor<'_>| rest.number().filter(|node| (*node as usize) < n_nodes);
    let file = |rest: &mut Cursor<'_>| rest.number().filter(|at| (*at as usize) < view.files.len()).map(FileIdx);
    let symbol = |rest: &mut Cursor<'_>| {
        let file = file(rest)?;
        let row = rest.number().filter(|row| *row < view.figures(file).n_symbols)?;
        Some(SymbolRef { file, symbol: SymbolId::new(row as usize) })
    };
    let mut packages = Vec::new();
    for _ in 0..rest.count()? {
        let text = rest.text()?;
        packages.push(if text.is_empty() { RepoPath::root() } else { RepoPath::new(text)? });
    }
    let mut walked = Walked::default();
    for _ in 0..rest.count()? {
        let id = rest.text()?.to_owned();
        let (file, runner) = (file(&mut rest)?, *RUNNERS.get(usize::from(rest.byte()?))?);
        let package = packages.get(rest.number()? as usize)?.clone();
        let mut carriers = Vec::new();
        for _ in 0..rest.count()? {
            carriers.push(node(&mut rest)?);
        }
        let reaches_out = rest.byte()? == 1;
        walked.tests.tests.push(Test { id, file, runner, package, carriers, reaches_out });
    }
    let files: BTreeSet<FileIdx> = walked.tests.tests.iter().map(|test| test.file).collect();
    walked.tests.files = files.into_iter().collect();
    for _ in 0..rest.count()? {
        walked.may_imports.push(MayImport { to: file(&mut rest)?, from: symbol(&mut rest)?, line: rest.number()? });
    }
    for _ in 0..rest.count()? {
        let at = symbol(&mut rest)?;
        let mut users = Vec::new();
        for _ in 0..rest.count()? {
            users.push((node(&mut rest)?, rest.number()?));
        }
        walked.implied.insert(at, users);
    }
    for _ in 0..rest.count()? {
        walked.declared.push(Declared { to: symbol(&mut rest)?, from: symbol(&mut rest)? });
    }
    rest.0.is_empty().then_some(walked)
}
