//! Java.

pub mod tests;

use tree_sitter::{Node, Tree};

use crate::base::dialect::Dialect;
use crate::facts::build::FactsBuilder;
use crate::lang::language::Language;

/// The Java language.
pub struct Java;

impl Language for Java {
    fn grammar(&self, _dialect: Dialect) -> tree_sitter::Language {
        tree_sitter_java::LANGUAGE.into()
    }
    fn lower(&self, _tree: &Tree, _source: &[u8], _builder: &mut FactsBuilder) {}
    fn is_comment(&self, node: Node<'_>) -> bool {
        matches!(node.kind(), "line_comment" | "block_comment")
    }
    fn is_raw_leaf(&self, _node: Node<'_>) -> bool {
        false
    }
    fn is_acting_comment(&self, _text: &str) -> bool {
        false
    }
}
