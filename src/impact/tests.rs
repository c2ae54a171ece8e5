//! Every test of a tree, with the nodes whose change is a change of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::path::RepoPath;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::graph::edge::{EdgeKind, Graph};
use crate::impact::space::Space;
use crate::lang::testing::{Collected, FileTests, Runner, TestItem, TestSetup, class_methods, recognize};
use crate::view::{FileIdx, SymbolRef, View};

/// A test that a runner can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// `tests/test_a.py::TestX::test_y`, `src/a.test.ts > outer > inner`, `pkg.Class#method`.
    pub id: String,
    pub file: FileIdx,
    pub runner: Runner,
    /// The folder of the nearest manifest; empty for the root.
    pub package: RepoPath,
    /// Reached when any of these is: itself first, then what runs around it.
    pub carriers: Vec<u32>,
    /// Reaches the code through a browser, a container or a process.
    pub reaches_out: bool,
}

/// The tests of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Sorted by (id, file), unique.
    pub tests: Vec<Test>,
    /// The files that hold them, sorted, unique.
    pub files: Vec<FileIdx>,
}

/// Finds the tests of a tree. O(symbols).
pub fn tests(view: &View, graph: &Graph, space: &Space) -> Tests {
    let setup = TestSetup::read(&view.config);
    let packages = Packages::of(view);
    let mut tests = Vec::new();
    for file in view.indices() {
        let path = &view.file(file).path;
        let facts = view.facts(file);
        let Some(found) = recognize(path, facts, &setup) else { continue };
        let make = Maker { view, graph, space, setup: &setup, file, found: &found, package: packages.of_path(path) };
        make.items(&mut tests);
        make.classes(&mut tests);
    }
    tests.sort_by(|a: &Test, b: &Test| (&a.id, a.file).cmp(&(&b.id, b.file)));
    // Tests of one id (parametrized titles, repeated definitions) are one to the runner.
    tests.dedup_by(|b, a| {
        let same = a.id == b.id && a.file == b.file;
        if same {
            a.carriers.extend(b.carriers.iter().copied());
        }
        same
    });
    let files: BTreeSet<FileIdx> = tests.iter().map(|t| t.file).collect();
    Tests { tests, files: files.into_iter().collect() }
}

struct Maker<'a> {
    view: &'a View,
    graph: &'a Graph,
    space: &'a Space,
    setup: &'a TestSetup,
    file: FileIdx,
    found: &'a FileTests,
    package: RepoPath,
}

impl Maker<'_> {
    fn test(&self, name: &str, own: u32, around: impl IntoIterator<Item = u32>) -> Test {
        let path = self.view.file(self.file).path.as_str();
        let id = match (self.found.runner, name) {
            (Runner::Junit | Runner::TestNg, _) => name.to_string(),
            (_, "") => path.to_string(),
            (Runner::Pytest | Runner::Unittest, _) => format!("{path}::{name}"),
            _ => format!("{path} > {name}"),
        };
        let mut carriers = vec![own];
        carriers.extend(around);
        carriers.push(self.space.module(self.file));
        carriers.extend(self.found.hooks.iter().map(|h| self.symbol(*h)));
        Test {
            id,
            file: self.file,
            runner: self.found.runner,
            package: self.package.clone(),
            carriers,
            reaches_out: self.found.reaches_out,
        }
    }

    fn symbol(&self, symbol: SymbolId) -> u32 {
        self.space.symbol(SymbolRef { file: self.file, symbol })
    }

    fn items(&self, out: &mut Vec<Test>) {
        let facts = self.view.facts(self.file);
        for TestItem { name, symbol, class, block } in &self.found.items {
            let mut around: Vec<u32> = class.iter().map(|c| self.symbol(*c)).collect();
            let own = match (block, symbol) {
                (Some(block), _) => {
                    let above = blocks_above(facts, *block);
                    around.extend(above.iter().map(|b| self.space.block(self.file, *b)));
                    // Hooks run for every test below the block that they stand in.
                    for (at, row) in facts.test_blocks.iter().enumerate() {
                        if row.kind == TestBlockKind::Hook && row.parent.is_none_or(|p| above.contains(&p)) {
                            around.push(self.space.block(self.file, TestBlockId::new(at)));
                        }
                    }
                    // Blocks made by a function (a shared suite) run when that function does.
                    let owner = facts.test_blocks[block.index()].owner;
                    if owner.index() != 0 {
                        around.push(self.symbol(owner));
                    }
                    self.space.block(self.file, *block)
                }
                (None, Some(symbol)) => {
                    // A file that is one test runs every block in it, whatever its runner calls them.
                    if name.is_empty() {
                        let blocks = (0..facts.test_blocks.len()).map(TestBlockId::new);
                        around.extend(blocks.map(|block| self.space.block(self.file, block)));
                        // So is a module whose docstrings are one, by all that it defines.
                        around.extend((1..facts.symbols.len()).map(|at| self.symbol(SymbolId::new(at))));
                    }
                    self.symbol(*symbol)
                }
                (None, None) => self.space.module(self.file),
            };
            out.push(self.test(name, own, around));
        }
    }

    /// The methods of collected classes, inherited ones under the class that inherits them.
    fn classes(&self, out: &mut Vec<Test>) {
        for class in &self.found.classes {
            let own = SymbolRef { file: self.file, symbol: class.symbol };
            let line = lineage(self.graph, own);
            let collected = Collected::of(line.iter().map(|c| (self.view.facts(c.file), c.symbol)));
            let around: Vec<u32> = line.iter().map(|c| self.space.symbol(*c)).collect();
            let mut methods: BTreeMap<String, u32> = BTreeMap::new();
            let mut hooks = Vec::new();
            for ancestor in &line {
                let facts = self.view.facts(ancestor.file);
                let path = &self.view.file(ancestor.file).path;
                let found = class_methods(path, facts, ancestor.symbol, collected, self.setup);
                let node = |symbol: SymbolId| self.space.symbol(SymbolRef { file: ancestor.file, symbol });
                for test in found.tests {
                    // The nearest definition is the one that runs.
                    methods.entry(facts.name(facts.symbol(test).name).to_string()).or_insert(node(test));
                }
                hooks.extend(found.hooks.into_iter().map(node));
            }
            let inherits = line.len() > 1 && self.found.runner != Runner::Pytest && !methods.is_empty();
            if !(class.is_collected || collected == Collected::Named || inherits) {
                continue;
            }
            for (name, node) in methods {
                let name = format!("{}{name}", class.prefix);
                out.push(self.test(&name, node, around.iter().chain(&hooks).copied()));
            }
        }
    }
}

/// A class and its ancestors within the repository, nearest first, each once.
fn lineage(graph: &Graph, class: SymbolRef) -> Vec<SymbolRef> {
    let (mut line, mut at) = (vec![class], 0);
    while at < line.len() {
        let bases: Vec<SymbolRef> =
            graph.edges_from(line[at]).iter().filter(|e| e.kind == EdgeKind::Extends).map(|e| e.to).collect();
        for base in bases {
            if !line.contains(&base) {
                line.push(base);
            }
        }
        at += 1;
    }
    line
}

fn blocks_above(facts: &FileFacts, block: TestBlockId) -> Vec<TestBlockId> {
    let mut above = Vec::new();
    let mut at = facts.test_blocks[block.index()].parent;
    while let Some(id) = at.filter(|_| above.len() <= facts.test_blocks.len()) {
        above.push(id);
        at = facts.test_blocks[id.index()].parent;
    }
    above
}

/// The folders that hold a manifest.
pub struct Packages(BTreeSet<RepoPath>);

impl Packages {
    /// The package folders of a view: by its configuration files.
    pub fn of(view: &View) -> Self {
        let folders = view.config.keys().filter(|path| is_manifest(path.file_name())).filter_map(RepoPath::parent);
        Packages(folders.collect())
    }

    /// Whether a folder is a package's.
    pub fn has(&self, folder: &RepoPath) -> bool {
        self.0.contains(folder)
    }

    /// Up to five package folders that are named like a text, nearest first.
    pub fn near(&self, text: &str) -> Vec<&str> {
        let mut found: Vec<(u64, &str)> = self
            .0
            .iter()
            .map(|folder| ((strsim::jaro_winkler(text, folder.as_str()) * 1e6) as u64, folder.as_str()))
            .filter(|(likeness, _)| *likeness > 800_000)
            .collect();
        found.sort_by_key(|(likeness, folder)| (std::cmp::Reverse(*likeness), *folder));
        found.into_iter().take(5).map(|(_, folder)| folder).collect()
    }

    /// The nearest package folder around a path, else the root.
    pub fn of_path(&self, path: &RepoPath) -> RepoPath {
        let mut folder = path.parent();
        while let Some(at) = folder {
            if self.0.contains(&at) {
                return at;
            }
            folder = at.parent();
        }
        RepoPath::root()
    }
}

fn is_manifest(name: &str) -> bool {
    matches!(name, "package.json" | "pyproject.toml" | "setup.py" | "setup.cfg" | "pom.xml")
        || name.starts_with("build.gradle")
}
