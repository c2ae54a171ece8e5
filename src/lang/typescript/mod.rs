//! TypeScript and JavaScript: `.ts .tsx .mts .cts .d.ts .js .jsx .mjs .cjs`.

pub mod naming;
mod syntax;
pub mod tests;

use std::borrow::Cow;

use tree_sitter::{Node, Tree};

use crate::base::dialect::Dialect;
use crate::facts::build::FactsBuilder;
use crate::lang::language::Language;

/// TypeScript and JavaScript.
pub struct TypeScript;

/// Starts of comments that a compiler, runner, linter, coverage tool or bundler obeys.
const ACTING: &[&str] = &[
    "@ts-ignore",
    "@ts-expect-error",
    "@ts-nocheck",
    "@ts-check",
    "eslint-",
    "eslint ",
    "global ",
    "globals ",
    "tslint:",
    "biome-ignore",
    "oxlint-",
    "prettier-ignore",
    "@jest-",
    "@vitest-",
    "@jsx",
    "istanbul ignore",
    "c8 ignore",
    "v8 ignore",
    "node:coverage",
    "webpack",
    "@vite-ignore",
    "@__PURE__",
    "#__PURE__",
    "@__NO_SIDE_EFFECTS__",
    "#__NO_SIDE_EFFECTS__",
    "@flow",
    "@noflow",
    "<reference",
    "<amd-module",
];

impl Language for TypeScript {
    fn grammar(&self, dialect: Dialect) -> tree_sitter::Language {
        match dialect {
            Dialect::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Dialect::Js | Dialect::Jsx => tree_sitter_javascript::LANGUAGE.into(),
            _ => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        }
    }

    fn mend<'s>(&self, _dialect: Dialect, source: &'s [u8]) -> Cow<'s, [u8]> {
        syntax::mend::mend(source)
    }

    fn suspects(&self, dialect: Dialect, mended: &[u8]) -> Vec<Vec<usize>> {
        match dialect {
            Dialect::Tsx | Dialect::Js | Dialect::Jsx => syntax::jsx_text::stray_ampersands(mended),
            _ => Vec::new(),
        }
    }

    fn lower(&self, tree: &Tree, source: &[u8], builder: &mut FactsBuilder) {
        let dialect = builder.facts().dialect;
        syntax::lower(dialect, tree, source, builder);
    }

    fn is_comment(&self, node: Node<'_>) -> bool {
        node.is_extra() && matches!(node.kind(), "comment" | "html_comment")
    }

    fn is_raw_leaf(&self, node: Node<'_>) -> bool {
        if !node.is_named() || node.child_count() == 0 {
            return false;
        }
        match node.kind() {
            "string" | "regex" => true,
            // With substitutions, the chunks between them are told apart by `template_string` itself.
            "template_string" => crate::lang::node::named_children(node).all(|c| c.kind() != "template_substitution"),
            _ => false,
        }
    }

    fn is_acting_comment(&self, text: &str) -> bool {
        let inner = text.trim_start_matches(['/', '*', ' ', '\t', '\r', '\n']);
        let starts = |text: &str| ACTING.iter().any(|start| text.starts_with(start));
        // In a block, each line may act (`@jest-environment` stands below others).
        starts(inner)
            || text.starts_with("/*")
                && text.lines().any(|line| {
                    let line = line.trim().trim_start_matches(['*', ' ']);
                    line.starts_with("@jest-") || line.starts_with("@vitest-") || line.starts_with("@jsx")
                })
    }
}
