//! Members that are read by computed names, or that a string alone names.
//!
//! Such an access names nothing, so it may mean any member of what it reads from: of its class and
//! the classes around that, of its module. A string where a name is expected means what is called so.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::base::dialect::LanguageName;
use crate::facts::model::{SymbolFlags, SymbolKind};
use crate::facts::table::Id;
use crate::graph::edge::{Computed, Edge, EdgeKind};
use crate::impact::access::Asks;
use crate::impact::space::Node;
use crate::impact::step::{MAY_REACH, Step, Steps, Why, is_constructor};
use crate::impact::{access, code, handing};
use crate::view::SymbolRef;

/// What reach came to, as far as accesses by computed names tell it apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReachedMembers {
    /// Fields that changed, or static ones whose initializers run what did.
    pub has_fields: bool,
    /// What runs where an attribute is written.
    pub has_setters: bool,
}

impl Steps<'_> {
    /// Notes what a node that was reached adds. `is_change`: it is a change itself.
    pub fn note_member(&self, node: u32, is_change: bool, reached: &mut ReachedMembers) {
        let Node::Symbol(at) = self.space.node(node) else { return };
        let facts = self.view.facts(at.file);
        let row = facts.symbol(at.symbol);
        let is_field = matches!(row.kind, SymbolKind::Field | SymbolKind::EnumMember);
        reached.has_fields |= is_field && (is_change || row.flags.has(SymbolFlags::STATIC));
        let name = facts.name(row.name);
        reached.has_setters |= access::is_setter(facts, at.symbol)
            || access::runs_on_write(name)
            || matches!(name, "__setattr__" | "__delattr__");
    }

    /// Code that may read a member by a computed name, or names it in a string.
    pub(super) fn computed_by(&self, at: SymbolRef, out: &mut Vec<Step>) {
        let facts = self.view.facts(at.file);
        let symbol = facts.symbol(at.symbol);
        let Some(parent) = symbol.parent.filter(|_| !self.graph.computed.is_empty()) else { return };
        let parent_kind = facts.symbol(parent).kind;
        if parent_kind.is_function() || is_constructor(facts, at.symbol) || code::is_protocol(facts, at.symbol) {
            return;
        }
        let owner = SymbolRef { symbol: parent, ..at };
        let owners = if parent_kind.is_class() { self.classes_beside(owner) } else { Rc::new(BTreeSet::from([owner])) };
        let made_in = self.made_in(at);
        for row in owners.iter().flat_map(|of| self.computed_of(Some(*of))).filter(|row| row.name.is_none()) {
            let is_meant = match access::asks(self.view.facts(row.from.file), row.from.symbol, row.line) {
                Asks::Any => true,
                Asks::Fields => !symbol.kind.is_function(),
                Asks::Writes => access::is_setter(facts, at.symbol),
            };
            if is_meant {
                self.push_computed(row, at, &made_in, out);
            }
        }
        let name = facts.name(symbol.name);
        let family = |language: LanguageName| (language == LanguageName::Python, language == LanguageName::Java);
        for row in self.computed_of(None) {
            let Some(text) = row.name else { continue };
            let other = self.view.facts(row.from.file);
            if other.name(text) == name && family(other.dialect.language()) == family(facts.dialect.language()) {
                self.push_computed(row, at, &made_in, out);
            }
        }
    }

    fn push_computed(
        &self,
        row: &Computed,
        at: SymbolRef,
        made_in: &Option<Rc<[crate::view::FileIdx]>>,
        out: &mut Vec<Step>,
    ) {
        let other = self.view.facts(row.from.file);
        let name = self.view.facts(at.file).name(self.view.symbol(at).name);
        let mut push = |to: u32| {
            let step = Step::new(to, Why::MayReach, MAY_REACH, row.line);
            out.push(step.gated(true).made_in(made_in.clone()));
        };
        if let Some(block) = row.test_block {
            push(self.space.block(row.from.file, block));
            if other.test_blocks[block.index()].owner == row.from.symbol {
                return;
            }
        }
        for user in code::users_at(other, row.from.symbol, row.line, EdgeKind::Calls, name) {
            push(self.space.symbol(SymbolRef { file: row.from.file, symbol: user }));
        }
    }

    /// Whether a symbol is what Python asks for names that a module does not define.
    pub(super) fn is_module_hook(&self, at: SymbolRef) -> bool {
        let facts = self.view.facts(at.file);
        let is_of_module = facts.symbol(at.symbol).parent.is_some_and(|p| p.index() == 0);
        is_of_module && code::is_module_hook(facts, at.symbol)
    }

    /// Whether an edge is the mention of a class or function that a module's hook gives back.
    pub(super) fn is_given_by_hook(&self, edge: &Edge, name: &str) -> bool {
        let (facts, to) = (self.view.facts(edge.from.file), self.view.facts(edge.to.file));
        let kind = to.symbol(edge.to.symbol).kind;
        edge.kind == EdgeKind::References
            && self.is_module_hook(edge.from)
            && (kind.is_function() || kind.is_class())
            && !access::is_accessor(to, edge.to.symbol)
            && access::names(facts, edge.from.symbol).any(|other| other == name)
            && handing::is_given_back(facts, edge.from.symbol, edge.line, name)
    }

    /// Code that asks a module for names that it does not define: what such a name gives is not run
    /// when others are asked for.
    pub(super) fn asked_of(&self, module: SymbolRef, out: &mut Vec<Step>) {
        for row in self.computed_of(Some(module)) {
            self.push_computed(row, module, &None, out);
        }
    }

    /// The accesses of a known receiver, or those of receivers that are not known.
    fn computed_of(&self, of: Option<SymbolRef>) -> &[Computed] {
        let rows = &self.graph.computed;
        let start = rows.partition_point(|row| row.of < of);
        let end = rows.partition_point(|row| row.of <= of);
        &rows[start..end]
    }

    /// The nodes of code that reads members of what is not known, by names that are not known, and
    /// may mean what `reached` holds.
    pub fn blind_reads(&self, reached: ReachedMembers) -> BTreeSet<u32> {
        let rows = self.computed_of(None).iter().filter(|row| row.name.is_none()).filter(|row| {
            match access::asks(self.view.facts(row.from.file), row.from.symbol, row.line) {
                Asks::Any => true,
                Asks::Fields => reached.has_fields,
                Asks::Writes => reached.has_setters,
            }
        });
        rows.map(|row| match row.test_block {
            Some(block) => self.space.block(row.from.file, block),
            None => self.space.symbol(row.from),
        })
        .collect()
    }

    /// The classes whose receivers may be instances of a class or of one below it: those below,
    /// and all that those and itself extend (a mixin reads members of what it is mixed with).
    pub(super) fn classes_beside(&self, class: SymbolRef) -> Rc<BTreeSet<SymbolRef>> {
        if let Some(known) = self.beside.borrow().get(&class) {
            return known.clone();
        }
        let mut found = self.subclasses(class);
        found.insert(class);
        let mut stack: Vec<SymbolRef> = found.iter().copied().collect();
        while let Some(at) = stack.pop() {
            let above = self.graph.edges_from(at).iter().filter(|e| e.kind == EdgeKind::Extends).map(|e| e.to);
            stack.extend(above.filter(|to| found.insert(*to)));
        }
        let found = Rc::new(found);
        self.beside.borrow_mut().insert(class, found.clone());
        found
    }
}
