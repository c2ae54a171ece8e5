//! Extraction: the bytes of one file become facts. Pure: bytes and dialect in, facts out.

pub mod fingerprint;
pub mod normalize;
pub mod random_token;
pub mod redact;
pub mod screen;
pub mod secret_rules;

use tree_sitter::{Node, Parser, Tree};

use crate::base::dialect::Dialect;
use crate::extract::redact::Redactor;
use crate::facts::build::FactsBuilder;
use crate::facts::model::{Damage, FileFacts, Status};
use crate::lang;
use crate::lang::language::Language;
use crate::lang::node;

/// Extracts the facts of one file under the built-in redaction rules.
///
/// Never panics. Bytes with syntax errors give `partial` facts with the damaged line ranges.
pub fn extract(dialect: Dialect, source: &[u8]) -> FileFacts {
    extract_with(dialect, source, Redactor::built_in())
}

/// Extracts the facts of one file; no text in them holds what `redactor` takes out. Hashes are
/// of the bytes as they are.
pub fn extract_with(dialect: Dialect, source: &[u8], redactor: &Redactor) -> FileFacts {
    let mut facts = read(dialect, source);
    redactor.apply(&mut facts);
    facts
}

fn read(dialect: Dialect, source: &[u8]) -> FileFacts {
    let language = lang::of(dialect);
    let mut builder = FactsBuilder::new(dialect, count_lines(source), source.len() as u32);
    let mut parser = Parser::new();
    let tree = parser.set_language(&language.grammar(dialect)).ok();
    let tree = tree.and_then(|()| parse(language, dialect, source, &mut parser));
    let Some(tree) = tree else {
        let reason = builder.intern("parser");
        let (mut facts, _) = builder.finish();
        facts.status = Status::Failed;
        facts.status_reason = Some(reason);
        return facts;
    };
    language.lower(&tree, source, &mut builder);
    let damage = damage(tree.root_node());
    let reason = (!damage.is_empty()).then(|| builder.intern("syntax"));
    let (mut facts, extents) = builder.finish();
    normalize::hash(language, tree.root_node(), source, &extents, &mut facts);
    if reason.is_some() {
        facts.status = Status::Partial;
        facts.status_reason = reason;
        facts.damage = damage;
    }
    facts
}

/// How often a file with errors is parsed again.
const MAX_MENDINGS: usize = 9;

/// Parses the source; where that leaves errors, again without what may have caused them.
fn parse(language: &dyn Language, dialect: Dialect, source: &[u8], parser: &mut Parser) -> Option<Tree> {
    let mended = language.mend(dialect, source);
    let mut best = parser.parse(&*mended, None)?;
    let mut n_best = n_errors(best.root_node());
    if n_best == 0 {
        return Some(best);
    }
    let mut bytes = mended.into_owned();
    for (nth, suspects) in language.suspects(dialect, &bytes).into_iter().take(MAX_MENDINGS).enumerate() {
        let mut tried = bytes.clone();
        suspects.iter().for_each(|at| tried[*at] = b'_');
        let Some(tree) = parser.parse(&tried, None) else { continue };
        let n_left = n_errors(tree.root_node());
        if n_left < n_best {
            (best, n_best, bytes) = (tree, n_left, tried);
            // The first list is all of them.
            if nth == 0 || n_best == 0 {
                break;
            }
        }
    }
    Some(best)
}

/// How many ERROR and MISSING nodes a tree has.
fn n_errors(root: Node<'_>) -> usize {
    let mut n = 0;
    let mut stack: Vec<Node<'_>> = root.has_error().then_some(root).into_iter().collect();
    while let Some(at) = stack.pop() {
        n += usize::from(at.is_error() || at.is_missing());
        stack.extend(node::children(at).filter(|child| child.has_error()));
    }
    n
}

/// How many lines there are; a last one without a line end counts.
fn count_lines(source: &[u8]) -> u32 {
    source.iter().filter(|b| **b == b'\n').count() as u32 + u32::from(source.last().is_some_and(|b| *b != b'\n'))
}

/// The damaged line ranges, sorted and disjoint: what lies directly in ERROR nodes (their
/// whole children are read as usual) and where tokens are missing.
fn damage(root: Node<'_>) -> Vec<Damage> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    if root.has_error() {
        let mut stack = vec![root];
        while let Some(at) = stack.pop() {
            if at.is_missing() {
                ranges.push((node::start_line(at), node::end_line(at)));
            }
            for child in node::children(at) {
                if at.is_error() && child.named_child_count() == 0 && !child.is_error() {
                    ranges.push((node::start_line(child), node::end_line(child)));
                }
                if child.has_error() {
                    stack.push(child);
                }
            }
            if at.is_error() && at.child_count() == 0 {
                ranges.push((node::start_line(at), node::end_line(at)));
            }
        }
        if ranges.is_empty() {
            ranges.push((node::start_line(root), node::end_line(root)));
        }
    }
    ranges.sort_unstable();
    let mut merged: Vec<Damage> = Vec::new();
    for (start_line, end_line) in ranges {
        match merged.last_mut() {
            Some(last) if start_line <= last.end_line + 1 => last.end_line = last.end_line.max(end_line),
            _ => merged.push(Damage { start_line, end_line }),
        }
    }
    merged
}
