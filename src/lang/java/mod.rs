//! Java: `syntax` reads one file, `naming` says where sources lie, `tests` recognizes test frameworks.

pub mod naming;
pub mod syntax;
pub mod tests;

use std::borrow::Cow;

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

    fn mend<'s>(&self, _dialect: Dialect, source: &'s [u8]) -> Cow<'s, [u8]> {
        syntax::mend::mend(source)
    }

    fn lower(&self, tree: &Tree, source: &[u8], builder: &mut FactsBuilder) {
        syntax::lower(tree, source, builder);
    }

    fn is_comment(&self, node: Node<'_>) -> bool {
        syntax::is_comment(node)
    }

    fn is_raw_leaf(&self, node: Node<'_>) -> bool {
        syntax::is_raw_leaf(node)
    }

    /// No comment acts in Java: `// NOPMD`, `// NOSONAR`, `//noinspection` and `@formatter` speak
    /// to linters and formatters alone.
    fn is_acting_comment(&self, _text: &str) -> bool {
        false
    }
}
