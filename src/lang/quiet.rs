//! Which bytes of a source are comments and which are text of strings: what a word search finds
//! and no reference stands for.

use std::ops::Range;

use tree_sitter::Parser;

use crate::base::dialect::Dialect;
use crate::lang;

/// What some bytes are, where they are not code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quiet {
    Comment,
    /// Of a string, template, regular expression or JSX text.
    Text,
}

/// The quiet ranges of a source, in order, apart from each other. Empty for what cannot be parsed.
pub fn quiet(dialect: Dialect, source: &[u8]) -> Vec<(Range<usize>, Quiet)> {
    let language = lang::of(dialect);
    let mut parser = Parser::new();
    let tree = parser
        .set_language(&language.grammar(dialect))
        .ok()
        .and_then(|()| parser.parse(&*language.mend(dialect, source), None));
    let Some(tree) = tree else { return Vec::new() };
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let quiet = match (language.is_comment(node), language.is_raw_leaf(node)) {
            (true, _) => Some(Quiet::Comment),
            (false, true) => Some(Quiet::Text),
            (false, false) => None,
        };
        if let Some(quiet) = quiet {
            found.push((node.byte_range(), quiet));
        }
        if quiet.is_none() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Quiet, quiet};
    use crate::base::dialect::Dialect;

    #[test]
    fn comments_and_strings_are_told_from_code() {
        for (dialect, source) in [
            (Dialect::Py, "x = \"word\"  # word\nword(f'word {word}')\n"),
            (Dialect::Ts, "const x = \"word\"; // word\nword(`word ${word}`)\n"),
            (Dialect::Java, "class A { String x = \"word\"; /* word */ int word = word(); }\n"),
        ] {
            let ranges = quiet(dialect, source.as_bytes());
            let of = |at: usize| ranges.iter().find(|(range, _)| range.contains(&at)).map(|row| row.1);
            let found: Vec<Option<Quiet>> = source.match_indices("word").map(|(at, _)| of(at)).collect();
            assert_eq!(found[..2], [Some(Quiet::Text), Some(Quiet::Comment)], "{source}");
            assert_eq!((found[2], found.last()), (None, Some(&None)), "{source}");
        }
    }
}
