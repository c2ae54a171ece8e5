//! A compiler's words on the references of a file: believed where they are sound, before its facts.

use crate::facts::model::{ExprKind, RefKind, Reference, SymbolKind};
use crate::graph::compiled::Word;
use crate::graph::edge::{EdgeKind, Strategy};
use crate::graph::link::{Linker, Site};
use crate::graph::modules::Family;
use crate::graph::resolve::Targets;
use crate::view::SymbolRef;

impl Linker<'_, '_> {
    /// Links a reference by a compiler's word where there is one, else by the facts.
    pub fn by_word_or_facts(&mut self, reference: &Reference, site: Site) {
        match self.words.and_then(|words| words.at(reference.line, reference.column)) {
            Some(Word::Symbols(symbols)) if self.is_sound(reference, symbols) => {
                self.by_word(reference, symbols, site);
            }
            Some(Word::External) => {
                let (n_edges, n_unproved) = (self.link.edges.len(), self.link.unproved.len());
                self.reference(reference, site);
                // What is proved may be sources of a package that the compiler took as built.
                if self.link.edges.len() == n_edges && self.link.unproved.len() > n_unproved {
                    self.link.unproved.truncate(n_unproved);
                    self.link.n_external += 1;
                }
            }
            Some(Word::Symbols(_)) | None => self.reference(reference, site),
        }
    }

    /// Whether a member's word leads to something of that name. Indexers name the class for a member
    /// that they have no symbol for (scip-python 0.6 for `__slots__`); what a module gives under
    /// another name is found by the facts as well.
    fn is_sound(&self, reference: &Reference, symbols: &[SymbolRef]) -> bool {
        let facts = self.facts();
        let row = facts.expr(reference.expr);
        let named = match (row.kind, facts.operand(reference.expr, 0)) {
            (ExprKind::Call | ExprKind::New, Some(callee)) => facts.expr(callee),
            _ => row,
        };
        let name = facts.text(named.name);
        named.kind != ExprKind::Attr
            || symbols.iter().any(|at| {
                let symbol = self.view.symbol(*at);
                let (facts, parent) = (self.view.facts(at.file), symbol.parent);
                facts.name(symbol.name) == name
                    || (symbol.kind == SymbolKind::Constructor
                        && parent.is_some_and(|parent| facts.name(facts.symbol(parent).name) == name))
            })
    }

    fn by_word(&mut self, reference: &Reference, symbols: &[SymbolRef], site: Site) {
        let view = self.view;
        let mut targets = Targets {
            symbols: symbols.to_vec(),
            strategy: Strategy::Compiler,
            ambiguous: false,
            held: false,
            missing: None,
        };
        // The write that defines a field is no reference to it.
        targets.symbols.retain(|to| {
            let symbol = view.symbol(*to);
            reference.kind != RefKind::Write
                || to.file != self.file
                || (symbol.name_line, symbol.name_column) != (reference.line, reference.column)
        });
        match reference.kind {
            RefKind::Decorator if Family::of(self.facts().dialect) == Family::Java => {
                self.push(&targets, EdgeKind::References, site);
            }
            RefKind::Call | RefKind::New | RefKind::Super | RefKind::Decorator => self.calls(&targets, site),
            RefKind::Extends | RefKind::Implements => self.push(&targets, EdgeKind::Extends, site),
            RefKind::Type | RefKind::Read | RefKind::Write | RefKind::Jsx | RefKind::Callback | RefKind::StringPath => {
                self.push(&targets, EdgeKind::References, site)
            }
        }
    }
}
