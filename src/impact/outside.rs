//! What well-known packages outside do with what they are given: decorators that give a definition
//! back under its own name, methods that keep what they are given until their object is used.
//! What others do is guessed by its name (`handing`), and told.

use std::collections::BTreeSet;

use crate::base::dialect::LanguageName;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::graph::edge::{Edge, EdgeKind};
use crate::impact::code::refs_on;
use crate::impact::handing;
use crate::impact::step::Steps;
use crate::lang::testing::last_name;
use crate::view::SymbolRef;

/// Decorators of Python's packages after which a definition still runs by its own name alone:
/// nothing outside finds it by another way.
const WRAPPING: [(&str, &str); 22] = [
    (
        "click",
        "command group option argument pass_context pass_obj version_option help_option password_option \
         confirmation_option",
    ),
    ("rich_click", "command group option argument pass_context pass_obj version_option help_option"),
    ("attr", "s attrs define frozen mutable dataclass"),
    ("attrs", "define frozen mutable dataclass"),
    ("hypothesis", "given settings example seed reproduce_failure"),
    ("unittest", "patch object dict multiple expectedFailure skip skipIf skipUnless"),
    ("mock", "patch object dict multiple"),
    ("jinja2", "pass_context pass_environment pass_eval_context"),
    ("pydantic", "validate_call validate_arguments"),
    ("freezegun", "freeze_time"),
    ("time_machine", "travel"),
    ("responses", "activate"),
    ("tenacity", "retry"),
    ("backoff", "on_exception on_predicate"),
    ("numba", "jit njit vectorize guvectorize"),
    ("torch", "no_grad inference_mode"),
    ("asgiref", "sync_to_async async_to_sync"),
    ("types", "coroutine"),
    ("warnings", "deprecated catch_warnings"),
    ("typing", "dataclass_transform type_check_only"),
    ("typing_extensions", "dataclass_transform type_check_only deprecated"),
    ("wrapt", "decorator"),
];

/// Methods of classes of Python's packages that keep their argument and run nothing of it.
const KEEPING: [(&str, &str); 5] = [
    ("click", "add_command add_source"),
    ("rich_click", "add_command"),
    ("argparse", "add_argument add_argument_group add_mutually_exclusive_group register set_defaults"),
    ("logging", "addHandler addFilter setFormatter"),
    ("unittest", "addTest addTests addCleanup"),
];

/// Whether a decorator from outside is known to give back what it decorates, and to do no more.
pub fn only_wraps(facts: &FileFacts, decorator: &Decorator) -> bool {
    is_known(&WRAPPING, facts, decorator.expr, last_name(facts, decorator.expr))
}

fn is_known(table: &[(&str, &str)], facts: &FileFacts, expr: ExprId, name: &str) -> bool {
    let Some(package) = package_of(facts, expr) else { return false };
    table.iter().any(|(known, names)| *known == package && names.split_whitespace().any(|known| known == name))
}

/// The package that an import brings the first name of a chain from: `click` of `c.command()` after
/// `import click as c`.
fn package_of(facts: &FileFacts, expr: ExprId) -> Option<&str> {
    let mut root = expr;
    while let Some(inner) = facts.operand(root, 0).filter(|inner| *inner < root) {
        root = inner;
    }
    let name = facts.expr(root).name.filter(|_| facts.expr(root).kind == ExprKind::Name)?;
    let import = facts.imports.iter().find(|row| row.local == Some(name) && row.level == 0)?;
    facts.name(import.module?).split('.').next()
}

/// Functions of Python's packages that make a decorator which only wraps.
const MAKING: [(&str, &str); 2] =
    [("click", "make_pass_decorator option argument version_option"), ("hypothesis", "settings")];

impl Steps<'_> {
    /// Whether a decorator is a variable of the repository that holds one which only wraps: what a known
    /// package made, or a mark.
    pub(super) fn is_wrapping_variable(&self, at: SymbolRef, decorator: &Decorator) -> bool {
        let name = last_name(self.view.facts(at.file), decorator.expr);
        let module = SymbolRef { symbol: SymbolId::new(0), ..at };
        let edges = [at, module].into_iter().flat_map(|from| self.graph.edges_from(from));
        let mut found = edges.filter(|e| e.line == decorator.line).map(|e| e.to).filter(|to| {
            let other = self.view.facts(to.file);
            let row = other.symbol(to.symbol);
            row.kind == SymbolKind::Variable && other.name(row.name) == name
        });
        found.any(|to| {
            let other = self.view.facts(to.file);
            let mut values = other.bindings.iter().filter(|row| row.symbol == Some(to.symbol)).peekable();
            let is_made = |row: &Binding| {
                let value =
                    row.value.filter(|value| matches!(other.expr(*value).kind, ExprKind::Call | ExprKind::Attr));
                value.is_some_and(|value| {
                    handing::is_mark(other, value) || is_known(&MAKING, other, value, last_name(other, value))
                })
            };
            values.peek().is_some() && values.all(is_made)
        })
    }

    /// Whether a line of a class's code hands what it mentions to methods that the class has from a base
    /// outside which is known to keep it.
    pub(super) fn is_kept_outside(&self, edge: &Edge, class: SymbolRef) -> bool {
        let facts = self.view.facts(edge.from.file);
        if facts.dialect.language() != LanguageName::Python {
            return false;
        }
        let mut packages: BTreeSet<&str> = BTreeSet::new();
        let (mut seen, mut stack) = (BTreeSet::from([class]), vec![class]);
        while let Some(at) = stack.pop() {
            let own = self.view.facts(at.file);
            let rows = own.heritage.iter().filter(|row| row.owner == at.symbol);
            packages.extend(rows.filter_map(|row| package_of(own, own.type_row(row.ty).expr?)));
            let above = self.graph.edges_from(at).iter().filter(|e| e.kind == EdgeKind::Extends).map(|e| e.to);
            stack.extend(above.filter(|to| seen.insert(*to)));
        }
        let mut calls = refs_on(facts, edge.line)
            .filter(|row| row.owner == edge.from.symbol && row.kind == RefKind::Call)
            .map(|row| last_name(facts, row.expr))
            .peekable();
        let is_keeping = |name: &str| {
            KEEPING.iter().any(|(package, names)| {
                packages.contains(package) && names.split_whitespace().any(|known| known == name)
            })
        };
        calls.peek().is_some() && calls.all(is_keeping)
    }
}
