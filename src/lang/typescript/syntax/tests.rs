//! Test blocks: `describe`, `it`, `test`, hooks, with their modifiers (Jest, Vitest, Mocha,
//! node:test). Which files hold tests is settled where paths are known.

use std::ops::Range;

use tree_sitter::Node;

use crate::facts::build::{Extent, ExtentOf, FactsBuilder};
use crate::facts::model::*;
use crate::lang::node::{end_line, named_children, one_line, start_line};
use crate::lang::typescript::syntax::Walk;
use crate::lang::typescript::syntax::expressions::Use;
use crate::lang::typescript::syntax::kinds::K;

const SUITES: &[&str] = &["describe", "suite", "context", "xdescribe", "fdescribe", "xcontext"];
const TESTS: &[&str] = &["it", "test", "specify", "xit", "fit", "xtest", "xspecify", "bench"];
const HOOKS: &[&str] = &["beforeEach", "afterEach", "beforeAll", "afterAll", "before", "after"];
/// Mocha's TDD hooks are common words elsewhere: hooks inside a suite only.
const SUITE_HOOKS: &[&str] = &["setup", "teardown", "suiteSetup", "suiteTeardown"];
/// What may stand between the name and the call.
const MODIFIERS: &[&str] = &[
    "only",
    "skip",
    "todo",
    "concurrent",
    "sequential",
    "failing",
    "fails",
    "each",
    "for",
    "skipIf",
    "runIf",
    "if",
    "shuffle",
    "serial",
    "extend",
];
/// Test titles longer than this are cut.
const MAX_TITLE: usize = 200;

/// What a call that makes a test block is.
pub(super) struct TestCall {
    kind: TestBlockKind,
    parametrized: bool,
    skipped: bool,
}

impl Walk<'_> {
    /// Whether a call makes a test block: its callee's chain starts from a runner's name, and it is
    /// given a function, or only a title under `.todo`.
    pub(super) fn test_call(
        &self,
        b: &FactsBuilder,
        callee: Node<'_>,
        arguments: Option<Node<'_>>,
    ) -> Option<TestCall> {
        let arguments = arguments.filter(|a| self.k(*a) == K::Arguments)?;
        let mut found = TestCall { kind: TestBlockKind::Test, parametrized: false, skipped: false };
        let mut todo = false;
        let mut modifiers = 0;
        let mut at = callee;
        let root = loop {
            match self.k(at) {
                K::Identifier => break self.text(at),
                K::MemberExpression => {
                    let property = self.text(self.field(at, self.f.property)?);
                    let object = self.field(at, self.f.object)?;
                    if !MODIFIERS.contains(&&*property) {
                        // `t.test(…)` of node:test, `test.describe(…)`, `vitest.it(…)`.
                        let runner = self.k(object) == K::Identifier
                            && matches!(&*self.text(object), "t" | "test" | "vitest" | "context" | "suite" | "mocha");
                        if runner || (self.k(object) == K::Identifier && self.test_root(&property, b).is_some()) {
                            if !runner {
                                return None;
                            }
                            break property;
                        }
                        return None;
                    }
                    match &*property {
                        "each" | "for" => found.parametrized = true,
                        "skip" => found.skipped = true,
                        "todo" => (found.skipped, todo) = (true, true),
                        "extend" => return None,
                        _ => {}
                    }
                    modifiers += 1;
                    if modifiers > 6 {
                        return None;
                    }
                    at = object;
                }
                // `it.each([…])(…)`, `it.each`…`(…)`, `it.skipIf(…)(…)`.
                K::CallExpression => {
                    at = self.field(at, self.f.function)?;
                    if self.k(at) != K::MemberExpression {
                        return None;
                    }
                }
                _ => return None,
            }
        };
        found.kind = self.test_root(&root, b)?;
        found.skipped |= root.starts_with('x');
        let given: Vec<Node<'_>> = self.content(arguments).take(8).collect();
        let first = *given.first()?;
        let has_function = given.iter().any(|argument| self.is_function(*argument));
        // A suite or test is named by what comes first; a hook may be given the function alone.
        let named = !self.is_function(first) || found.kind == TestBlockKind::Hook;
        let title_alone = todo && self.k(first) == K::String;
        // `it("title", done => …)`, `it("title", helper)`, `beforeEach(reset)`.
        let by_name = matches!(self.k(first), K::String | K::TemplateString)
            && given[1..].iter().any(|a| matches!(self.k(*a), K::Identifier | K::MemberExpression | K::CallExpression));
        ((has_function && named) || title_alone || by_name || (has_function && b.test_block().is_some()))
            .then_some(found)
    }

    fn test_root(&self, name: &str, b: &FactsBuilder) -> Option<TestBlockKind> {
        if SUITES.contains(&name) {
            Some(TestBlockKind::Describe)
        } else if TESTS.contains(&name) {
            Some(TestBlockKind::Test)
        } else if HOOKS.contains(&name) || (SUITE_HOOKS.contains(&name) && b.test_block().is_some()) {
            Some(TestBlockKind::Hook)
        } else {
            None
        }
    }

    /// Reads the call with a test block around its arguments.
    pub(super) fn test_block(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        callee: Node<'_>,
        arguments: Option<Node<'_>>,
        test: TestCall,
        whole: Range<usize>,
    ) -> ExprId {
        let first = arguments.and_then(|a| self.first(a)).filter(|_| test.kind != TestBlockKind::Hook);
        let title = first.and_then(|f| self.title(f));
        let computed = first.is_some_and(|f| title.is_none() && !self.is_function(f));
        // What is in the callee (`it.each(cases)`) belongs to the code around.
        let block = b.open_test_block(test.kind, title.as_deref(), start_line(node), end_line(node));
        let parametrized = test.parametrized || computed || self.loops > 0;
        {
            let row = b.test_block_mut(block);
            row.parametrized = parametrized;
            row.skipped = test.skipped;
        }
        let end = whole.end;
        b.extent(Extent { of: ExtentOf::TestBlock(block), node: whole, body: end..end, doc: end..end });
        let first_scope = b.facts().scopes.len();
        let loops = std::mem::replace(&mut self.loops, 0);
        let holder = self.holder.take();
        let expr = self.plain_call(b, node, callee, arguments, Use::Read);
        self.holder = holder;
        self.loops = loops;
        let scope = self.block_scope(b, expr, first_scope);
        b.test_block_mut(block).scope = scope;
        b.close_test_block();
        expr
    }

    /// The scope of the last function given to the call.
    fn block_scope(&self, b: &FactsBuilder, call: ExprId, first_scope: usize) -> Option<ScopeId> {
        use crate::facts::table::Id;
        let facts = b.facts();
        facts
            .operands_of(call)
            .iter()
            .skip(1)
            .rev()
            .map(|operand| facts.expr(operand.expr))
            .find(|row| row.kind == ExprKind::Lambda)
            .and_then(|row| row.scope)
            .filter(|scope| scope.index() >= first_scope)
    }

    /// A constant title: a string (escapes as written), or a template without substitutions.
    fn title(&self, node: Node<'_>) -> Option<String> {
        match self.k(node) {
            K::String | K::TemplateString => {}
            _ => return None,
        }
        if named_children(node).any(|child| self.k(child) == K::TemplateSubstitution) {
            return None;
        }
        let range = node.byte_range();
        let text = self.source.get(range.start + 1..range.end.saturating_sub(1).max(range.start + 1))?;
        Some(one_line(&unescaped(&String::from_utf8_lossy(text)), MAX_TITLE))
    }
}

/// Undoes the simple escapes of a title (`\'`, `\"`, `\\`, `` \` ``); others become blanks.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some(quote @ ('\'' | '"' | '`' | '\\')) => out.push(quote),
            Some(_) => out.push(' '),
            None => {}
        }
    }
    out
}
