//! Fields that JavaScript's classes do not declare: `this.x = …` in a constructor or method
//! defines one, unless the class body has a member of that name. In TypeScript such a field is
//! declared, here or in a class above.

use std::collections::HashSet;

use tree_sitter::Node;

use crate::base::dialect::{Dialect, LanguageName};
use crate::facts::build::FactsBuilder;
use crate::facts::model::{ScopeId, SymbolFlags, SymbolId, SymbolKind, Visibility};
use crate::lang::node::named_children;
use crate::lang::typescript::syntax::kinds::K;
use crate::lang::typescript::syntax::{Definition, Walk};

/// The member names that the classes around have by now.
#[derive(Default)]
pub(super) struct Members {
    /// Whether assignments define fields at all.
    by_assignment: bool,
    known: HashSet<(ScopeId, String)>,
}

impl Members {
    /// No members yet; assignments define fields in JavaScript only.
    pub(super) fn new(dialect: Dialect) -> Self {
        Members { by_assignment: dialect.language() == LanguageName::JavaScript, known: HashSet::new() }
    }
}

impl Walk<'_> {
    /// Notes what a class body declares, before its methods are read.
    pub(super) fn note_members(&mut self, scope: ScopeId, body: Node<'_>) {
        if !self.members.by_assignment {
            return;
        }
        for child in named_children(body) {
            let name = match self.k(child) {
                K::MethodDefinition => self.field(child, self.f.name),
                K::PublicFieldDefinition | K::FieldDefinition => self.field(child, self.f.property),
                _ => None,
            };
            if let Some(name) = name {
                self.members.known.insert((scope, self.text(name).into_owned()));
            }
        }
    }

    /// Defines the field that `this.name = …` makes; `None` when the class has it already, or
    /// when the chain is none of its own.
    pub(super) fn assigned_field(
        &mut self,
        b: &mut FactsBuilder,
        chain: &str,
        left: Node<'_>,
        outer: Node<'_>,
    ) -> Option<SymbolId> {
        let class = self.class.filter(|_| self.members.by_assignment)?;
        let name = chain.strip_prefix("this.").filter(|rest| !rest.contains('.'))?;
        if !self.members.known.insert((class.scope, name.to_owned())) {
            return None;
        }
        // It is as local as its class, whatever method assigns it.
        let is_local = b.facts().symbol(class.symbol).flags.has(SymbolFlags::LOCAL);
        let depth = std::mem::replace(&mut self.depth_in_functions, u32::from(is_local));
        let visibility = if name.starts_with('#') { Visibility::Private } else { Visibility::Public };
        let symbol = self.define_under(
            b,
            class.symbol,
            class.scope,
            Definition {
                kind: SymbolKind::Field,
                name,
                prefix: "",
                flags: SymbolFlags::default(),
                visibility,
                signature: chain,
                node: outer,
                name_node: self.field(left, self.f.property).unwrap_or(left),
            },
        );
        self.depth_in_functions = depth;
        Some(symbol)
    }
}
