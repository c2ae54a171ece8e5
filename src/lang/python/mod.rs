//! Python: `.py` and `.pyi`.

pub mod naming;
pub mod tests;

use tree_sitter::{Node, Tree};

use crate::base::dialect::Dialect;
use crate::facts::build::FactsBuilder;
use crate::lang::language::Language;

/// The Python language.
pub struct Python;

impl Language for Python {
    fn grammar(&self, _dialect: Dialect) -> tree_sitter::Language {
        tree_sitter_python::LANGUAGE.into()
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
