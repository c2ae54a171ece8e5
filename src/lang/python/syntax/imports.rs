//! Imports, one row a bound name.

use tree_sitter::Node;

use crate::facts::model::*;
use crate::lang::node::named_children;
use crate::lang::python::syntax::Walk;
use crate::lang::python::syntax::grammar::{FIELDS, Kind, child, kind};

/// Modules whose names are the special forms of typing.
const TYPING: &[&str] = &["typing", "typing_extensions", "collections.abc"];

impl Walk<'_> {
    /// `import a.b`, `import a.b as c`: without alias the first part is bound, and `name` is none;
    /// with one, `name` is the module that the alias stands for.
    pub fn import_statement(&mut self, node: Node<'_>) {
        self.b.apart(node.byte_range());
        for part in named_children(node) {
            let (dotted, alias) = match kind(part) {
                Kind::DottedName => (part, None),
                Kind::AliasedImport => match child(part, FIELDS.name) {
                    Some(name) => (name, child(part, FIELDS.alias)),
                    None => continue,
                },
                _ => continue,
            };
            let module = self.dotted(dotted);
            if module.is_empty() {
                continue;
            }
            let local: String = match alias {
                Some(alias) => self.text(alias).into_owned(),
                None => module.split('.').next().unwrap_or("").to_owned(),
            };
            if TYPING.contains(&module.as_str()) {
                self.s.typing_modules.push(if alias.is_some() { local.as_str() } else { module.as_str() }.into());
            }
            let module = self.b.intern(&module);
            let local = self.b.intern(&local);
            let last = last_part(dotted);
            let row = Import {
                scope: self.b.scope(),
                kind: ImportKind::Module,
                branch: self.b.branch(),
                module: Some(module),
                level: 0,
                name: alias.map(|_| module),
                local: Some(local),
                type_only: false,
                line: self.line(node),
                column: self.column(node),
                name_line: self.line(last),
                name_column: self.column(last),
            };
            self.b.import(row);
        }
    }

    /// `from m import n as l`, `from . import x`, `from m import *`.
    pub fn import_from(&mut self, node: Node<'_>) {
        self.b.apart(node.byte_range());
        let mut level = 0;
        let mut module = String::new();
        let source = child(node, FIELDS.module_name);
        match source {
            Some(from) if kind(from) == Kind::RelativeImport => {
                for part in named_children(from) {
                    match kind(part) {
                        Kind::ImportPrefix => level = self.text(part).matches('.').count() as u32,
                        Kind::DottedName => module = self.dotted(part),
                        _ => {}
                    }
                }
            }
            Some(from) => module = self.dotted(from),
            None if kind(node) == Kind::FutureImport => module.push_str("__future__"),
            None => return,
        }
        let is_typing = level == 0 && TYPING.contains(&module.as_str());
        let module = (!module.is_empty()).then(|| self.b.intern(&module));
        for part in named_children(node) {
            if Some(part) == source {
                continue;
            }
            let (name_node, alias) = match kind(part) {
                Kind::DottedName => (part, None),
                Kind::AliasedImport => match child(part, FIELDS.name) {
                    Some(name) => (name, child(part, FIELDS.alias)),
                    None => continue,
                },
                Kind::WildcardImport => (part, None),
                _ => continue,
            };
            let star = kind(part) == Kind::WildcardImport;
            let name = if star { None } else { Some(self.name(name_node)) };
            let local = match alias {
                Some(alias) => Some(self.name(alias)),
                None => name,
            };
            if is_typing && let (Some(name), Some(local)) = (name, local) {
                let original = self.b.facts().name(name).into();
                let local = self.b.facts().name(local).into();
                self.s.typing_names.insert(local, original);
            }
            let row = Import {
                scope: self.b.scope(),
                kind: if star { ImportKind::Star } else { ImportKind::Named },
                branch: self.b.branch(),
                module,
                level,
                name,
                local,
                type_only: false,
                line: self.line(node),
                column: self.column(node),
                name_line: self.line(name_node),
                name_column: self.column(name_node),
            };
            self.b.import(row);
        }
    }

    /// The text of a dotted name without blanks.
    fn dotted(&self, node: Node<'_>) -> String {
        let parts: Vec<String> = named_children(node)
            .filter(|part| kind(*part) == Kind::Identifier)
            .map(|part| self.text(part).into_owned())
            .collect();
        parts.join(".")
    }
}

fn last_part<'t>(dotted: Node<'t>) -> Node<'t> {
    named_children(dotted).filter(|part| kind(*part) == Kind::Identifier).last().unwrap_or(dotted)
}
