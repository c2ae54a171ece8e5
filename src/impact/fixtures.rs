//! pytest's fixtures: who uses one without any reference to it (FACTS.md §4, PRODUCT.md §3).
//!
//! A fixture is asked for by a parameter's name, by `usefixtures`, by `getfixturevalue`, or by
//! nobody (`autouse`). Its scope is its file, a conftest's folder, or, for one that is defined
//! elsewhere (a plugin module), every test.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::dialect::Dialect;
use crate::base::path::RepoPath;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::impact::space::Space;
use crate::lang::testing::{decorators, last_name};
use crate::view::{FileIdx, SymbolRef, View};

/// The users of every fixture: (node, line), sorted. `test_files` are sorted.
pub fn users(view: &View, space: &Space, test_files: &[FileIdx]) -> BTreeMap<SymbolRef, Vec<(u32, u32)>> {
    let mut fixtures: Vec<(SymbolRef, &Decorator)> = Vec::new();
    let mut askers: BTreeMap<&str, Vec<(FileIdx, u32, u32)>> = BTreeMap::new();
    for file in view.indices() {
        if view.file(file).dialect != Dialect::Py {
            continue;
        }
        let facts = view.facts(file);
        let is_asking = test_files.binary_search(&file).is_ok() || has_fixtures(facts);
        if !is_asking {
            continue;
        }
        // Names that a decorator gives are those of its definition alone.
        let mut decorating = BTreeSet::new();
        for at in 1..facts.symbols.len() {
            let id = SymbolId::new(at);
            let row = facts.symbol(id);
            let node = space.symbol(SymbolRef { file, symbol: id });
            for decorator in decorators(facts, id) {
                match last_name(facts, decorator.expr) {
                    "fixture" => fixtures.push((SymbolRef { file, symbol: id }, decorator)),
                    "usefixtures" => {
                        for (expr, name) in path_operands(facts, decorator.expr) {
                            decorating.insert(expr);
                            askers.entry(name).or_default().push((file, node, decorator.line));
                        }
                    }
                    _ => {}
                }
            }
            if let (true, Some(scope)) = (row.kind.is_function(), row.scope) {
                for param in facts.params_of(scope) {
                    if let Some(name) = param.name {
                        askers.entry(facts.name(name)).or_default().push((file, node, param.line));
                    }
                }
            }
        }
        // `pytestmark = pytest.mark.usefixtures("x")`, `request.getfixturevalue("x")`.
        let module = space.module(file);
        if facts.names.iter().any(|n| matches!(&**n, "usefixtures" | "getfixturevalue" | "getfuncargvalue")) {
            let paths = facts.exprs.iter().enumerate().filter(|(_, e)| e.kind == ExprKind::Path);
            for (_, row) in paths.filter(|(at, _)| !decorating.contains(&ExprId::new(*at))) {
                askers.entry(facts.text(row.name)).or_default().push((file, module, 0));
            }
        }
    }
    let mut out: BTreeMap<SymbolRef, Vec<(u32, u32)>> = BTreeMap::new();
    for (fixture, decorator) in fixtures {
        let facts = view.facts(fixture.file);
        let scope = Scope::of(&view.file(fixture.file).path, fixture.file, test_files);
        let mut found = Vec::new();
        let operands = facts.operands_of(decorator.expr);
        let has = |key: &str| operands.iter().any(|o| o.role == Role::Keyword && facts.text(o.name) == key);
        if has("autouse") || has("name") {
            // Nothing tells its users, or the name that they use.
            for file in test_files.iter().filter(|file| scope.holds(view, **file)) {
                found.push((space.module(*file), 0));
            }
        }
        let name = facts.name(facts.symbol(fixture.symbol).name);
        for (file, node, line) in askers.get(name).into_iter().flatten() {
            if scope.holds(view, *file) && *node != space.symbol(fixture) {
                found.push((*node, *line));
            }
        }
        found.sort_unstable();
        found.dedup();
        if !found.is_empty() {
            out.insert(fixture, found);
        }
    }
    out
}

fn has_fixtures(facts: &FileFacts) -> bool {
    facts.decorators.iter().any(|row| last_name(facts, row.expr) == "fixture")
}

fn path_operands(facts: &FileFacts, expr: ExprId) -> impl Iterator<Item = (ExprId, &str)> {
    facts
        .operands_of(expr)
        .iter()
        .map(|o| (o.expr, facts.expr(o.expr)))
        .filter(|(_, row)| row.kind == ExprKind::Path)
        .map(|(expr, row)| (expr, facts.text(row.name)))
}

/// Where a fixture is seen.
enum Scope {
    File(FileIdx),
    Folder(RepoPath),
    Everywhere,
}

impl Scope {
    fn of(path: &RepoPath, file: FileIdx, test_files: &[FileIdx]) -> Self {
        if path.file_name() == "conftest.py" {
            Scope::Folder(path.parent().unwrap_or_else(RepoPath::root))
        } else if test_files.binary_search(&file).is_ok() {
            Scope::File(file)
        } else {
            Scope::Everywhere
        }
    }

    fn holds(&self, view: &View, file: FileIdx) -> bool {
        match self {
            Scope::File(own) => *own == file,
            Scope::Folder(folder) => view.file(file).path.is_within(folder),
            Scope::Everywhere => true,
        }
    }
}
