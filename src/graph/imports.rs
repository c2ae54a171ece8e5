//! Edges and uses that import facts give: to the module, to the imported symbol through
//! re-exports, and which files a file pulls in.

use crate::facts::model::{Branch, ExportKind, ImportKind, SymbolId};
use crate::facts::table::Id;
use crate::graph::edge::{EdgeKind, FileUse, Layer, Strategy};
use crate::graph::link::{Linker, Site};
use crate::graph::modules::{Family, Target};
use crate::graph::queries::{Denoted, Query, Shared};
use crate::view::{FileIdx, SymbolRef, View};

impl Linker<'_, '_> {
    /// Adds the edges and uses of every import and re-export.
    pub fn imports(&mut self) {
        let view = self.view;
        let facts = view.facts(self.file);
        for (row, import) in facts.imports.iter().enumerate() {
            self.session.refuel();
            let site = self.site_of_scope(import.scope, import.line);
            let type_only = import.type_only || import.branch == Branch::TypeChecking;
            if import.module.is_none() && import.level == 0 && import.kind != ImportKind::Alias {
                self.link.blind = true;
            }
            let target = self.session.shared.modules.of_import(self.file, row as u32).clone();
            if let Target::File(target) = target {
                self.module(site, target, type_only);
            }
            let mut is_found = false;
            let named = Site { line: if import.name.is_some() { import.name_line } else { import.line }, ..site };
            for denoted in self.session.denoted(Query::Import(self.file, row as u32)).iter() {
                is_found = true;
                match denoted {
                    // `const x = require("m")` names the module, not what it happens to be.
                    Denoted::Symbol(to) if import.kind == ImportKind::Require && import.name.is_none() => {
                        self.uses(to.file, type_only);
                    }
                    // What `const { f } = require("m")` takes out of the module's value is no import of
                    // the file that `m` has it from.
                    Denoted::Symbol(to) if import.kind == ImportKind::Require && Target::File(to.file) != target => {
                        self.edge(named, *to, EdgeKind::References, Layer::Proved, Strategy::Import);
                        self.uses(to.file, type_only);
                    }
                    Denoted::Symbol(to) => {
                        self.edge(named, *to, EdgeKind::Imports, Layer::Proved, Strategy::Import);
                        self.uses(to.file, type_only);
                        if Family::of(facts.dialect) == Family::Java {
                            self.module(site, to.file, type_only);
                        }
                    }
                    // A namespace under a name (`export * as ns`): the file that gives it is imported.
                    Denoted::Module(file) if Family::of(facts.dialect) == Family::Ecma => self.uses(*file, type_only),
                    Denoted::Module(file) if Target::File(*file) != target => self.module(named, *file, type_only),
                    _ => {}
                }
            }
            if let (Target::File(target), Some(name), false) = (target, import.name, is_found) {
                self.ask_hook(target, name, site);
            }
        }
        for export in &facts.exports {
            if export.module.is_none() {
                continue;
            }
            self.session.refuel();
            let site = self.site_of_scope(export.scope, export.line);
            let Target::File(target) = self.session.module_named(self.file, export.module) else { continue };
            self.module(site, target, export.type_only);
            if let (ExportKind::Reexport, Some(local)) = (export.kind, export.local) {
                let text = self.session.shared.names.text(self.file, local);
                for denoted in self.session.denoted(Query::Export(target, text)).iter() {
                    if let Denoted::Symbol(to) = denoted {
                        self.edge(site, *to, EdgeKind::Imports, Layer::Proved, Strategy::Import);
                    }
                }
            }
        }
    }

    fn module(&mut self, site: Site, target: FileIdx, type_only: bool) {
        if target == self.file {
            return;
        }
        let to = SymbolRef { file: target, symbol: SymbolId::new(0) };
        self.edge(site, to, EdgeKind::Imports, Layer::Proved, Strategy::Import);
        self.uses(target, type_only);
        // Importing `a.b.c` runs the packages `a` and `a.b` first.
        if Family::of(self.view.dialect(target)) == Family::Python {
            let mut folder = self.view.path(target).parent();
            while let Some(at) = folder {
                let init = at.join("__init__.py").and_then(|path| self.session.shared.modules.python_file(&path));
                let Some(init) = init else { break };
                if init != self.file {
                    self.uses(init, type_only);
                }
                folder = at.parent();
            }
        }
    }

    fn uses(&mut self, to: FileIdx, type_only: bool) {
        if to != self.file {
            self.link.uses.push(FileUse { from: self.file, to, type_only });
        }
    }
}

/// The conftest files that pytest loads for a Python file.
pub fn conftest_uses(shared: &Shared<'_>, view: &View, file: FileIdx) -> Vec<FileUse> {
    if Family::of(view.dialect(file)) != Family::Python {
        return Vec::new();
    }
    let name = view.path(file).file_name();
    if !(name.starts_with("test") || name.contains("_test.") || name == "conftest.py") {
        return Vec::new();
    }
    let conftests = shared.modules.conftests(view, file);
    conftests.into_iter().map(|to| FileUse { from: file, to, type_only: false }).collect()
}
