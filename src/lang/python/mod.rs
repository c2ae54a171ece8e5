//! Python: `.py` and `.pyi`.

pub mod naming;
pub mod syntax;
pub mod tests;

use std::borrow::Cow;

use tree_sitter::{Node, Tree};

use crate::base::dialect::Dialect;
use crate::facts::build::FactsBuilder;
use crate::lang::language::Language;
use crate::lang::python::syntax::grammar::{Kind, is_extra, kind};
use crate::lang::python::syntax::text;

/// The Python language.
pub struct Python;

impl Language for Python {
    fn grammar(&self, _dialect: Dialect) -> tree_sitter::Language {
        tree_sitter_python::LANGUAGE.into()
    }

    fn mend<'s>(&self, _dialect: Dialect, source: &'s [u8]) -> Cow<'s, [u8]> {
        syntax::mend::mend(source)
    }

    fn lower(&self, tree: &Tree, source: &[u8], builder: &mut FactsBuilder) {
        syntax::lower(tree, source, builder);
    }

    /// Comments, and `\` at a line's end.
    fn is_comment(&self, node: Node<'_>) -> bool {
        is_extra(node)
    }

    /// Strings without substitutions, and the chunks of f-strings: text between escapes is in
    /// no leaf of its own.
    fn is_raw_leaf(&self, node: Node<'_>) -> bool {
        match kind(node) {
            Kind::StringContent | Kind::FormatSpecifier => true,
            Kind::String => !text::has_interpolation(node),
            _ => false,
        }
    }

    fn is_transparent(&self, node: Node<'_>) -> bool {
        kind(node) == Kind::ExpressionStatement
    }

    fn is_acting_comment(&self, text: &str) -> bool {
        text::is_acting_comment(text)
    }
}
