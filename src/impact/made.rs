//! Where instances are made of the classes that have a method: elsewhere a call cannot mean it.
//!
//! A call by a declared or inferred type runs a method only on an instance of a class that has
//! it, not one that overrides it; some code names that class to make one. So only tests whose
//! import closure holds such code take the step (rapid type analysis, per file).

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::base::dialect::LanguageName;
use crate::facts::model::*;
use crate::graph::edge::{EdgeKind, Strategy};
use crate::impact::step::{Steps, is_constructor};
use crate::impact::{access, code};
use crate::lang::testing::{decorators, last_name, members};
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

    /// Whether no code makes an instance that has this method.
    pub fn is_unmade(&self, method: SymbolRef) -> bool {
        self.made_in(method).is_some_and(|files| files.is_empty())
    }

    fn find_makers(&self, method: SymbolRef) -> Option<BTreeSet<FileIdx>> {
        let facts = self.view.facts(method.file);
        let row = facts.symbol(method.symbol);
        if row.kind.is_function() && row.flags.has(SymbolFlags::ANONYMOUS_OWNER) {
            // Its object is made where it stands.
            return Some(BTreeSet::from([method.file]));
        }
        let class = row.parent.filter(|p| facts.symbol(*p).kind.is_class())?;
        if facts.symbol(class).kind != SymbolKind::Class && !self.is_of_test(SymbolRef { symbol: class, ..method }) {
            return None;
        }
        let is_bound = row.kind.is_function()
            && !row.flags.has(SymbolFlags::STATIC)
            && !is_constructor(facts, method.symbol)
            && !crate::lang::testing::decorator_names(facts, method.symbol)
                .any(|name| matches!(name, "staticmethod" | "classmethod"));
        if !is_bound {
            return None;
        }
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
                if !self.is_redefined_in(method, edge.from) {
                    stack.push(edge.from);
                }
            }
            self.makers_of(at, is_base, &mut files)?;
        }
        Some(files)
    }

    /// Whether a class has a member of its own in place of one above. In Java another of that name may
    /// be an overload beside it.
    pub(super) fn is_redefined_in(&self, method: SymbolRef, class: SymbolRef) -> bool {
        let (above, below) = (self.view.facts(method.file), self.view.facts(class.file));
        let name = above.name(above.symbol(method.symbol).name);
        // Of two parameter lists that merely may be one by type arguments nothing is taken for sure.
        let params = |facts: &'_ FileFacts, symbol: SymbolId| {
            let name = facts.name(facts.symbol(symbol).qualname);
            name.split_once('(').map(|(_, params)| params.to_string())
        };
        let overrides = |member: SymbolId| {
            if params(below, member) != params(above, method.symbol) {
                return false;
            }
            let edges = self.graph.edges_from(SymbolRef { symbol: member, ..class });
            edges.iter().any(|e| e.kind == EdgeKind::Overrides && e.to == method)
        };
        match below.dialect.language() {
            LanguageName::Java => members(below, class.symbol).any(overrides),
            LanguageName::Python | LanguageName::TypeScript | LanguageName::JavaScript => {
                redefines(below, class.symbol, name)
            }
        }
    }

    /// Adds the files that name a class to make or hand on an instance; `None` when it may be
    /// made without being named: by a framework, by whatever lists the classes below another.
    fn makers_of(&self, class: SymbolRef, is_base: bool, files: &mut BTreeSet<FileIdx>) -> Option<()> {
        let facts = self.view.facts(class.file);
        let symbol = facts.symbol(class.symbol);
        let name = facts.name(symbol.name);
        if symbol.flags.has(SymbolFlags::ANONYMOUS_OWNER) || name.is_empty() {
            // It is made where it stands.
            files.insert(class.file);
            return Some(());
        }
        let is_found = decorators(facts, class.symbol).next().is_some()
            || self.graph.open_classes.binary_search(&class).is_ok()
            || symbol.kind != SymbolKind::Class;
        if is_found || self.lists_classes(class) {
            if !self.is_of_test(class) {
                return None;
            }
            files.insert(class.file);
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
            // A class that comes as a value is named where the value comes from.
            let is_by_value = facts.dialect.language() != LanguageName::Java
                && matches!(edge.strategy, Strategy::DeclaredType | Strategy::InferredType | Strategy::SelfMember)
                && !names_class(user, edge.from.symbol, edge.line, name);
            if is_naming && !is_type && !is_by_value {
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

    /// Whether a class is one of a test file, which nothing finds by itself: whatever makes it, the
    /// test file is among what is loaded then. Frameworks of Java look for annotated classes.
    fn is_of_test(&self, class: SymbolRef) -> bool {
        let facts = self.view.facts(class.file);
        let is_sought =
            facts.dialect.language() == LanguageName::Java && decorators(facts, class.symbol).next().is_some();
        self.test_files.binary_search(&class.file).is_ok() && !is_sought
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

/// Whether a class has a member of its own in place of one above: what is assigned to an instance
/// (`self.x = …`) is none, since it stands there only after it was assigned.
fn redefines(facts: &FileFacts, class: SymbolId, name: &str) -> bool {
    members(facts, class).filter(|m| facts.name(facts.symbol(*m).name) == name).any(|member| {
        facts.symbol(member).kind != SymbolKind::Field
            || facts.bindings.iter().any(|row| row.symbol == Some(member) && row.target.is_none())
    })
}

/// Whether a line of an owner's code calls something by a class's own name.
fn names_class(facts: &FileFacts, owner: SymbolId, line: u32, name: &str) -> bool {
    code::refs_on(facts, line).any(|row| row.owner == owner && last_name(facts, row.expr) == name)
}

/// Whether a line holds a type as a value (`Kind.class`), by which instances may be made.
fn has_type_values(facts: &FileFacts, line: u32) -> bool {
    code::refs_on(facts, line).any(|row| {
        let operands = facts.operands_of(row.expr);
        operands.iter().any(|o| facts.expr(o.expr).kind == ExprKind::TypeValue)
    })
}
