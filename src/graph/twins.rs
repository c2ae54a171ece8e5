//! Declarations in a file of their own beside what they declare: a Python stub beside its module, a
//! declaration file beside its JavaScript. An import leads to one of the two; who uses that one
//! uses the other as well.

use std::collections::BTreeMap;

use crate::facts::model::SymbolId;
use crate::facts::table::Id;
use crate::graph::edge::{EdgeKind, FileUse, Layer, Strategy};
use crate::graph::link::{Linker, Site};
use crate::view::{FileIdx, SymbolRef, View};

/// What a path ends with, and what its twin's may end with.
const TWINS: [(&str, &[&str]); 9] = [
    (".pyi", &[".py"]),
    (".py", &[".pyi"]),
    (".d.ts", &[".js", ".jsx"]),
    (".d.mts", &[".mjs"]),
    (".d.cts", &[".cjs"]),
    (".js", &[".d.ts"]),
    (".jsx", &[".d.ts"]),
    (".mjs", &[".d.mts"]),
    (".cjs", &[".d.cts"]),
];

/// The file that declares, or is declared by, a file beside it.
pub fn twin(view: &View, file: FileIdx) -> Option<FileIdx> {
    let path = view.file(file).path.as_str();
    let (end, others) = TWINS.iter().find(|(end, _)| path.ends_with(end))?;
    let stem = &path[..path.len() - end.len()];
    others.iter().find_map(|other| view.find(&format!("{stem}{other}")))
}

impl Linker<'_, '_> {
    /// Ties each symbol to that of the same name in the file's twin.
    pub fn twins(&mut self) {
        let view = self.view;
        let Some(other) = twin(view, self.file) else { return };
        self.link.uses.push(FileUse { from: self.file, to: other, type_only: false });
        let theirs: BTreeMap<&str, SymbolRef> = (0..view.facts(other).symbols.len())
            .map(|row| SymbolRef { file: other, symbol: SymbolId::new(row) })
            .map(|at| (exported_name(view.qualname(at)), at))
            .collect();
        for (row, symbol) in view.facts(self.file).symbols.iter().enumerate() {
            let at = SymbolRef { file: self.file, symbol: SymbolId::new(row) };
            if let Some(to) = theirs.get(exported_name(view.qualname(at))) {
                let site = Site { from: at, line: symbol.name_line, test_block: None, inside: false };
                self.edge(site, *to, EdgeKind::Overrides, Layer::Proved, Strategy::Twin);
            }
        }
    }
}

/// A qualname as importers know it: CommonJS's `exports.f` is `f`, and the overloads of a stub are
/// one function of the module.
fn exported_name(qualname: &str) -> &str {
    let name = qualname.split('#').next().unwrap_or_default();
    let name = name.strip_prefix("module.").unwrap_or(name);
    name.strip_prefix("exports.").unwrap_or(name)
}
