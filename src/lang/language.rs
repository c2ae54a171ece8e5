//! What a language must be to be indexed.

use std::borrow::Cow;

use tree_sitter::{Node, Tree};

use crate::base::dialect::Dialect;
use crate::facts::build::FactsBuilder;

/// A language: its grammars and its walk from nodes to facts.
pub trait Language: Sync {
    /// The grammar of one of its dialects.
    fn grammar(&self, dialect: Dialect) -> tree_sitter::Language;

    /// The bytes to parse in place of the source: as many, each token where it was, with syntax
    /// that the grammar lacks written so that it has it. All else reads the source.
    fn mend<'s>(&self, _dialect: Dialect, source: &'s [u8]) -> Cow<'s, [u8]> {
        Cow::Borrowed(source)
    }

    /// Bytes that a tree with errors may have come to grief on, each list to be tried in order as
    /// plain text (`_`) in its place.
    fn suspects(&self, _dialect: Dialect, _mended: &[u8]) -> Vec<Vec<usize>> {
        Vec::new()
    }

    /// Walks the tree once and says all that the file says alone.
    ///
    /// Must not panic on any tree (ERROR and MISSING nodes included) and must not depend on
    /// anything but `source` and the dialect. Statements inside an ERROR node that are whole
    /// are read as if the node were not there.
    fn lower(&self, tree: &Tree, source: &[u8], builder: &mut FactsBuilder);

    /// Whether a node is a comment (left out of hashes).
    fn is_comment(&self, node: Node<'_>) -> bool;

    /// Whether a node's subtree hashes as one leaf with its raw bytes (strings without
    /// substitutions, regexes, JSX text, template chunks).
    fn is_raw_leaf(&self, node: Node<'_>) -> bool;

    /// Whether a node is only a wrapper of its one child (an expression statement): it adds
    /// nothing to hashes, so that a definition in it leaves nothing behind in its owner.
    fn is_transparent(&self, _node: Node<'_>) -> bool {
        false
    }

    /// Whether a comment acts (`# type: ignore`, `// @ts-expect-error`, …): its text is hashed
    /// into `act_hash` of the symbol around it.
    fn is_acting_comment(&self, text: &str) -> bool;
}
