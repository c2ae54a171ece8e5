//! Where instances are made of the classes that have a method: elsewhere a call cannot mean it.
//!
//! A call by a declared or inferred type runs a method only on an instance of a class that has
//! it, not one that overrides it; some code names that class to make one. So only tests whose
//! import closure holds such code take the step (rapid type analysis, per file).

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::facts::model::*;
use crate::graph::edge::EdgeKind;
use crate::impact::step::{Steps, is_constructor};
use crate::impact::{access, code};
use crate::lang::testing::{decorators, members};
use crate::view::{FileIdx, SymbolRef};

/// Classes below one that are looked at; more are not told apart.
const MAX_CLASSES: usize = 512;

impl Steps<'_> {
    /// The files whose code names a class that has this method, sorted; `None` when instances may
    /// come from elsewhere.
    pub(super) fn made_in(&self, method: SymbolRef) -> Option<Rc<[FileIdx]>> {
        if let Some(known) = self.makers.borrow().get(&method) {
            return known.clone();
        }
        let found = self.find_makers(method).map(|files| files.into_iter().collect());
        self.makers.borrow_mut().insert(method, found.clone());
        found
    }

    fn find_makers(&self, method: SymbolRef) -> Option<BTreeSet<FileIdx>> {
        let facts = self.view.facts(method.file);
        let row = facts.symbol(method.symbol);
        let class = row.parent.filter(|p| facts.symbol(*p).kind == SymbolKind::Class)?;
        let is_bound = row.kind.is_function()
            && !row.flags.has(SymbolFlags::STATIC)
            && !is_constructor(facts, method.symbol)
            && !crate::lang::testing::decorator_names(facts, method.symbol)
                .any(|name| matches!(name, "staticmethod" | "classmethod"));
        if !is_bound {
            return None;
        }
        let name = facts.name(row.name);
        let mut files = BTreeSet::new();
        let (mut seen, mut stack) = (BTreeSet::new(), vec![SymbolRef { symbol: class, ..method }]);
        while let Some(at) = stack.pop() {
            if !seen.insert(at) {
                continue;
            }
            if seen.len() > MAX_CLASSES {
                return None;
            }
            let mut is_base = false;
            for edge in self.graph.edges_to(at).filter(|e| e.kind == EdgeKind::Extends) {
                is_base = true;
                let below = self.view.facts(edge.from.file);
                if !members(below, edge.from.symbol).any(|m| below.name(below.symbol(m).name) == name) {
                    stack.push(edge.from);
                }
            }
            self.makers_of(at, is_base, &mut files)?;
        }
        Some(files)
    }

    /// Adds the files that name a class to make or hand on an instance; `None` when it may be
    /// made without being named: by a framework, by whatever lists the classes below another.
    fn makers_of(&self, class: SymbolRef, is_base: bool, files: &mut BTreeSet<FileIdx>) -> Option<()> {
        let facts = self.view.facts(class.file);
        let symbol = facts.symbol(class.symbol);
        let name = facts.name(symbol.name);
        let is_anonymous = symbol.flags.has(SymbolFlags::ANONYMOUS_OWNER) || name.is_empty();
        let is_found = decorators(facts, class.symbol).next().is_some()
            || self.graph.open_classes.binary_search(&class).is_ok()
            || is_anonymous
            || symbol.kind != SymbolKind::Class;
        if is_found || self.lists_classes(class) {
            return None;
        }
        let n_before = files.len();
        let mut n_makers = 0;
        let targets = std::iter::once(class).chain(self.constructors(class));
        for edge in targets.flat_map(|to| self.graph.edges_to(to)) {
            let user = self.view.facts(edge.from.file);
            let is_naming = matches!(edge.kind, EdgeKind::Calls | EdgeKind::References | EdgeKind::Tests);
            let is_type = edge.kind == EdgeKind::References
                && ((code::is_type_use(user, edge.from.symbol, edge.line, name) && !has_type_values(user, edge.line))
                    || access::only_asks_for_class(user, edge.from.symbol, edge.line, name));
            if is_naming && !is_type {
                n_makers += 1;
                files.insert(edge.from.file);
            }
        }
        for row in self.by_name.get(name).into_iter().flatten() {
            n_makers += 1;
            files.insert(self.graph.unproved[*row as usize].from.file);
        }
        // A class that nobody names and nobody extends is made by what is not seen.
        (n_makers > 0 || is_base || files.len() > n_before).then_some(())
    }

    /// Whether a class or one above may be made by a list of subclasses or by a metaclass.
    fn lists_classes(&self, class: SymbolRef) -> bool {
        let (mut seen, mut stack) = (BTreeSet::from([class]), vec![class]);
        while let Some(at) = stack.pop() {
            let facts = self.view.facts(at.file);
            let is_meta =
                facts.heritage.iter().any(|row| row.owner == at.symbol && row.kind == HeritageKind::Metaclass);
            let is_told = members(facts, at.symbol)
                .any(|m| matches!(facts.name(facts.symbol(m).name), "__init_subclass__" | "__subclasses__"));
            if is_meta || is_told || self.has_subclass_lists {
                return true;
            }
            for edge in self.graph.edges_from(at).iter().filter(|e| e.kind == EdgeKind::Extends) {
                if seen.insert(edge.to) {
                    stack.push(edge.to);
                }
            }
        }
        false
    }
}

/// Whether a line holds a type as a value (`Kind.class`), by which instances may be made.
fn has_type_values(facts: &FileFacts, line: u32) -> bool {
    code::refs_on(facts, line).any(|row| {
        let operands = facts.operands_of(row.expr);
        operands.iter().any(|o| facts.expr(o.expr).kind == ExprKind::TypeValue)
    })
}
