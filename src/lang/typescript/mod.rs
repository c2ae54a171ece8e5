//! TypeScript and JavaScript: `.ts .tsx .mts .cts .d.ts .js .jsx .mjs .cjs`.

pub mod naming;
pub mod tests;

use tree_sitter::{Node, Tree};

use crate::base::dialect::Dialect;
use crate::facts::build::FactsBuilder;
use crate::lang::language::Language;

/// TypeScript and JavaScript.
pub struct TypeScript;

impl Language for TypeScript {
    fn grammar(&self, dialect: Dialect) -> tree_sitter::Language {
        match dialect {
            Dialect::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Dialect::Js | Dialect::Jsx => tree_sitter_javascript::LANGUAGE.into(),
            _ => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        }
    }
    fn lower(&self, _tree: &Tree, _source: &[u8], _builder: &mut FactsBuilder) {}
    fn is_comment(&self, node: Node<'_>) -> bool {
        node.kind() == "comment"
    }
    fn is_raw_leaf(&self, _node: Node<'_>) -> bool {
        false
    }
    fn is_acting_comment(&self, _text: &str) -> bool {
        false
    }
}
