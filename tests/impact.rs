//! Impact: two trees in one text, the tests that must be selected beside it.
//!
//! `//- path` starts a file of both trees, `//+ path` of the head alone, `//x path` of the base
//! alone. A line that starts with `-|` stands in the base alone, one with `+|` in the head alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use ratlas::atlas::{Atlas, Header};
use ratlas::base::dialect::Dialect;
use ratlas::base::id::{BlobId, Digest};
use ratlas::base::path::RepoPath;
use ratlas::extract::extract;
use ratlas::graph::link::link;
use ratlas::impact::answer::{Answer, Mode};
use ratlas::impact::decide::{Beside, impact_of_diff};
use ratlas::impact::policy::{Options, Policy};
use ratlas::impact::runners::{RunnerFormat, lines};
use ratlas::impact::{json, text};
use ratlas::index::select::is_configuration;
use ratlas::view::{OtherFile, SkipReason, View, ViewFile};

type Tree = BTreeMap<String, String>;

fn trees(source: &str) -> (Tree, Tree) {
    let (mut base, mut head) = (Tree::new(), Tree::new());
    let (mut path, mut sides) = (String::new(), (true, true));
    for line in source.lines() {
        let start = [("//- ", (true, true)), ("//+ ", (false, true)), ("//x ", (true, false))];
        if let Some((name, on)) = start.iter().find_map(|(mark, on)| Some((line.strip_prefix(mark)?, *on))) {
            (path, sides) = (name.trim().to_string(), on);
            for (tree, is_on) in [(&mut base, on.0), (&mut head, on.1)] {
                if is_on {
                    tree.insert(path.clone(), String::new());
                }
            }
            continue;
        }
        let (line, in_base, in_head) = match (line.strip_prefix("-|"), line.strip_prefix("+|")) {
            (Some(rest), _) => (rest, true, false),
            (_, Some(rest)) => (rest, false, true),
            _ => (line, true, true),
        };
        for (tree, is_on) in [(&mut base, sides.0 && in_base), (&mut head, sides.1 && in_head)] {
            if let Some(content) = tree.get_mut(&path).filter(|_| is_on) {
                content.push_str(line);
                content.push('\n');
            }
        }
    }
    (base, head)
}

fn atlas(tree: &Tree) -> Atlas {
    let mut view = View::default();
    for (name, content) in tree {
        let path = RepoPath::new(name).unwrap();
        let blob = BlobId::from_bytes(&Digest::of(content.as_bytes()).0[..20]).unwrap();
        if is_configuration(name) {
            view.config.insert(path.clone(), Arc::from(content.as_bytes()));
        }
        match Dialect::of_file_name(path.file_name()) {
            Some(dialect) => {
                let facts = Arc::new(extract(dialect, content.as_bytes())).into();
                view.files.push(ViewFile { path, blob, dialect, facts, dirty: false });
            }
            None => view.others.push(OtherFile { path, blob, dirty: false, reason: SkipReason::Language }),
        }
    }
    let graph = link(&view);
    let header = Header { repository: "shop".into(), ..Header::default() };
    Atlas { view: Arc::new(view), graph: Arc::new(graph).into(), header }
}

pub fn answer_with(source: &str, options: &Options) -> Answer {
    let (base, head) = trees(source);
    let (old, new) = (atlas(&base), atlas(&head));
    let read = |is_head: bool, path: &RepoPath| {
        let tree = if is_head { &head } else { &base };
        tree.get(path.as_str()).map(|text| text.clone().into_bytes())
    };
    let beside = Beside { read: &read, modes: Vec::new() };
    impact_of_diff(&old, &new, &beside, options, "base..head")
}

pub fn answer(source: &str) -> Answer {
    answer_with(source, &Options::default())
}

/// The selected ids, sorted; the mode in their place when it is `all` or `none`.
pub fn selected(answer: &Answer) -> Vec<String> {
    let codes = |answer: &Answer| answer.reasons.iter().map(|r| r.code.to_string()).collect::<Vec<_>>().join(" ");
    match answer.mode {
        Mode::All => vec![format!("all: {}", codes(answer))],
        Mode::None => vec![format!("none: {}", codes(answer))],
        Mode::Selected => {
            let mut ids: Vec<String> = answer.tests.iter().map(|t| t.id.clone()).collect();
            ids.sort();
            ids
        }
    }
}

#[track_caller]
pub fn check(source: &str, expected: &[&str]) {
    let answer = answer(source);
    assert_eq!(selected(&answer), expected, "{}", text::lines(&answer).join("\n"));
}

mod python {
    use super::{answer, answer_with, check, selected};
    use ratlas::impact::policy::{Options, Policy};

    const SHOP: &str = "
//- shop/__init__.py
//- shop/tax.py
def rate(kind):
    return 19
def tax(amount):
    return amount * rate('x') // 100
def other():
    return 1
//- tests/test_tax.py
from shop.tax import tax, other
def test_tax():
    assert tax(100) == 19
def test_other():
    assert other() == 1
";

    /// What runs when a module is imported breaks whoever imports it, whatever else it names.
    #[test]
    fn what_runs_as_classes_and_functions_are_made_reaches_every_importer() {
        let case = |helper: &str| {
            format!(
                "
//- p/__init__.py
//- p/tools.py
def {helper}():
-|    return 1
+|    raise ValueError
def plain():
    return 2
class Meta(type):
    def __new__(mcs, name, bases, space):
        tagged()
        return super().__new__(mcs, name, bases, space)
class Named:
    def __set_name__(self, owner, name):
        named()
def tagged():
    pass
def named():
    pass
//- p/a.py
from p.tools import Meta, Named, given
class Model(metaclass=Meta):
    field = Named()
def keep(x=given()):
    return 2
def other():
    return 3
//- p/b.py
from p.tools import plain
def far():
    return plain()
//- tests/test_a.py
from p import a
def test_a():
    assert a.other() == 3
//- tests/test_b.py
from p.b import far
def test_b():
    assert far() == 2
//- tests/test_{helper}.py
from p.tools import {helper}
def test_it():
    {helper}()
"
            )
        };
        for helper in ["tagged", "named", "given"] {
            let empty = format!("def {helper}():\n    pass\n");
            let text = case(helper).replace(&empty, "");
            let expected = format!("tests/test_{helper}.py::test_it");
            let mut all = vec!["tests/test_a.py::test_a", expected.as_str()];
            all.sort_unstable();
            check(&text, &all);
        }
    }

    #[test]
    fn a_module_imported_by_a_constant_name_is_that_module() {
        let found = selected(&answer(
            "
//- p/__init__.py
//- p/a.py
def cal():
-|    return 4
+|    return 5
def other():
    return 6
//- tests/test_a.py
import importlib
def test_cal():
    assert importlib.import_module('p.a').cal() == 4
def test_other():
    assert importlib.import_module('p.a').other() == 6
",
        ));
        assert!(found.iter().any(|id| id == "tests/test_a.py::test_cal"), "{found:?}");
    }

    #[test]
    fn a_body_selects_what_calls_it_and_nothing_else() {
        check(&SHOP.replace("    return 19", "-|    return 19\n+|    return 20"), &["tests/test_tax.py::test_tax"]);
    }

    #[test]
    fn layout_and_comments_select_nothing() {
        let source = SHOP.replace("    return 19", "-|    return 19\n+|    # nineteen\n+|    return  19");
        check(&source, &["none: layout_only"]);
    }

    #[test]
    fn a_docstring_counts_under_safe_alone() {
        let source = SHOP.replace("    return 19", "+|    \"\"\"The rate.\"\"\"\n    return 19");
        check(&source, &["tests/test_tax.py::test_tax"]);
        let options = Options { policy: Policy::Precise, ..Options::default() };
        assert_eq!(selected(&answer_with(&source, &options)), ["none: no_test_reaches"]);
    }

    #[test]
    fn new_and_changed_tests_are_selected_and_deleted_ones_never_printed() {
        let source = SHOP.replace(
            "def test_other():\n    assert other() == 1",
            "-|def test_other():\n-|    assert other() == 1\n+|def test_new():\n+|    assert True",
        );
        check(&source, &["tests/test_tax.py::test_new"]);
    }

    #[test]
    fn a_removed_function_reaches_through_the_base() {
        let source = SHOP.replace("def other():\n    return 1", "-|def other():\n-|    return 1");
        let ids = selected(&answer(&source));
        assert!(ids.contains(&"tests/test_tax.py::test_other".to_string()), "{ids:?}");
    }

    #[test]
    fn fixtures_reach_by_parameter_name_within_their_folder() {
        check(
            "
//- app.py
def make():
    return 1
//- tests/conftest.py
import pytest
import app
@pytest.fixture
def thing():
-|    return app.make()
+|    return app.make() + 1
//- tests/test_a.py
def test_uses(thing):
    assert thing
def test_does_not():
    assert True
//- other/test_b.py
def test_far(thing):
    assert thing
",
            &["tests/test_a.py::test_uses"],
        );
    }

    #[test]
    fn autouse_fixtures_reach_every_test_below() {
        check(
            "
//- tests/conftest.py
import pytest
@pytest.fixture(autouse=True)
def clean():
-|    yield 1
+|    yield 2
//- tests/test_a.py
def test_a():
    assert True
//- other/test_b.py
def test_b():
    assert True
",
            &["tests/test_a.py::test_a"],
        );
    }

    #[test]
    fn module_code_reaches_every_importer() {
        check(
            "
//- app/__init__.py
//- app/registry.py
THINGS = []
def register(f):
-|    THINGS.append(f)
+|    THINGS.insert(0, f)
    return f
//- app/plugin.py
from app.registry import register
@register
def plug():
    return 1
//- tests/test_plugin.py
import app.plugin
def test_any():
    assert app.plugin
//- tests/test_far.py
def test_far():
    assert True
",
            &["tests/test_plugin.py::test_any"],
        );
    }

    #[test]
    fn a_method_of_unknown_receiver_is_reached_by_name() {
        check(
            "
//- app.py
class Store:
    def save(self):
-|        return 1
+|        return 2
    def load(self):
        return 3
//- helper.py
def keep(x):
    return x.save()
//- tests/test_a.py
import app
import helper
def test_save():
    assert helper.keep(app.Store())
def test_load():
    assert app.Store().load()
",
            &["tests/test_a.py::test_save"],
        );
    }

    #[test]
    fn inherited_tests_belong_to_the_class_that_inherits() {
        check(
            "
//- app.py
def f():
-|    return 1
+|    return 2
//- tests/base.py
import app
class Common:
    def test_f(self):
        assert app.f()
//- tests/test_a.py
from tests.base import Common
class TestA(Common):
    def test_own(self):
        assert True
",
            &["tests/test_a.py::TestA::test_f"],
        );
    }

    #[test]
    fn unittest_set_up_reaches_each_test_of_the_class() {
        check(
            "
//- app.py
def f():
-|    return 1
+|    return 2
//- tests/test_a.py
import unittest
import app
class Case(unittest.TestCase):
    def setUp(self):
        self.f = app.f()
    def test_one(self):
        assert True
    def test_two(self):
        assert True
class Other(unittest.TestCase):
    def test_three(self):
        assert True
",
            &["tests/test_a.py::Case::test_one", "tests/test_a.py::Case::test_two"],
        );
    }

    #[test]
    fn data_files_reach_what_names_them() {
        check(
            "
//- tests/data/a.json
-|[1]
+|[2]
//- tests/test_a.py
def test_a():
    open('tests/data/a.json')
def test_b():
    assert True
",
            &["tests/test_a.py::test_a"],
        );
    }

    #[test]
    fn a_new_override_reaches_the_callers_of_what_it_overrides() {
        check(
            "
//- app.py
class Base:
    def run(self):
        return 1
class Sub(Base):
+|    def run(self):
+|        return 2
    def name(self):
        return 'sub'
def drive(x: Base):
    return x.run()
//- tests/test_a.py
from app import Sub, drive
def test_drive():
    assert drive(Sub())
def test_name():
    assert Sub().name()
",
            &["tests/test_a.py::test_drive"],
        );
    }

    #[test]
    fn a_syntax_error_selects_all() {
        check(&SHOP.replace("    return 19", "-|    return 19\n+|    return (("), &["all: parse_failure"]);
    }
}

mod typescript {
    use super::check;

    #[test]
    fn barrels_hooks_and_titles() {
        check(
            "
//- package.json
{\"devDependencies\": {\"vitest\": \"1\"}}
//- src/price.ts
export function due(cents: number): number {
-|  return cents;
+|  return cents + 0;
}
export const other = () => 1;
//- src/index.ts
export * from './price';
//- test/a.test.ts
import { describe, it, beforeEach } from 'vitest';
import { due, other } from '../src';
describe('with hook', () => {
  beforeEach(() => { due(1); });
  it('one', () => {});
  it('two', () => {});
});
describe('without', () => {
  it('three', () => { other(); });
  it('four', () => { due(2); });
});
",
            &[
                "test/a.test.ts > with hook > one",
                "test/a.test.ts > with hook > two",
                "test/a.test.ts > without > four",
            ],
        );
    }

    #[test]
    fn files_of_other_runners_are_tests_as_wholes() {
        check(
            "
//- package.json
{\"scripts\": {\"test\": \"tap\"}, \"devDependencies\": {\"tap\": \"16\"}}
//- lib/a.js
-|exports.f = () => 1;
+|exports.f = () => 2;
exports.g = () => 3;
//- test/a.js
const t = require('tap');
const { f } = require('../lib/a');
t.test('f', t => { t.equal(f(), 1); t.end(); });
//- test/b.js
const assert = require('assert');
assert.equal(require('../lib/a').f(), 1);
//- test/c.js
const { g } = require('../lib/a');
require('assert').equal(g(), 3);
//- test/fixtures/d.js
exports.used = require('../../lib/a').f();
//- spec/aSpec.js
const { f } = require('../lib/a');
describe('f', () => { it('is one', () => { expect(f()).toBe(1); }); });
",
            &["spec/aSpec.js", "test/a.js", "test/b.js"],
        );
    }

    #[test]
    fn a_new_import_is_no_change_of_the_module() {
        check(
            "
//- package.json
{\"jest\": {}}
//- src/a.ts
+|import { b } from './b';
export function f() {
-|  return 1;
+|  return b();
}
export function g() { return 2; }
//- src/b.ts
export function b() { return 1; }
//- src/a.test.ts
import { f, g } from './a';
test('f', () => { f(); });
test('g', () => { g(); });
",
            &["src/a.test.ts > f"],
        );
    }

    #[test]
    fn a_runner_configuration_selects_all() {
        check(
            "
//- package.json
{\"devDependencies\": {\"vitest\": \"1\"}}
//- vitest.config.ts
-|export default { test: { globals: false } };
+|export default { test: { globals: true } };
//- src/a.test.ts
import { test } from 'vitest';
test('a', () => {});
",
            &["all: runner_config"],
        );
    }

    #[test]
    fn a_version_in_a_manifest_selects_nothing() {
        check(
            "
//- package.json
-|{\"version\": \"1.0.0\", \"devDependencies\": {\"vitest\": \"1\"}}
+|{\"version\": \"1.0.1\",   \"devDependencies\": {\"vitest\": \"1\"}}
//- src/a.test.ts
import { test } from 'vitest';
test('a', () => {});
",
            &["none: no_effect"],
        );
    }

    #[test]
    fn browser_tests_always_run() {
        check(
            "
//- package.json
{\"devDependencies\": {\"vitest\": \"1\"}}
//- src/a.ts
export function f() {
-|  return 1;
+|  return 2;
}
//- src/a.test.ts
import { test } from 'vitest';
import { f } from './a';
test('f', () => { f(); });
//- e2e/page.spec.ts
import { test } from '@playwright/test';
test('page', async () => {});
",
            &["e2e/page.spec.ts > page", "src/a.test.ts > f"],
        );
    }
}

mod java {
    use super::check;

    const SHOP: &str = "
//- pom.xml
<project/>
//- src/main/java/shop/Discount.java
package shop;
public interface Discount { int off(int cents); }
//- src/main/java/shop/Season.java
package shop;
public class Season implements Discount {
    @Override
    public int off(int cents) {
        return cents / 10;
    }
    public String name() { return \"season\"; }
}
//- src/main/java/shop/Checkout.java
package shop;
public class Checkout {
    private final Discount discount;
    public Checkout(Discount discount) { this.discount = discount; }
    public int toPay(int cents) { return cents - discount.off(cents); }
}
//- src/test/java/shop/CheckoutTest.java
package shop;
import org.junit.jupiter.api.Test;
class CheckoutTest {
    @Test
    void pays() { new Checkout(new Season()).toPay(5); }
    @Test
    void names() { new Season().name(); }
}
";

    #[test]
    fn an_implementation_reaches_the_callers_of_its_interface() {
        let source =
            SHOP.replace("        return cents / 10;", "-|        return cents / 10;\n+|        return cents / 20;");
        check(&source, &["shop.CheckoutTest#pays"]);
    }

    #[test]
    fn junit3_tests_inherit_and_set_up_reaches_all() {
        check(
            "
//- src/main/java/shop/A.java
package shop;
public class A {
    public static int f() {
-|        return 1;
+|        return 2;
    }
}
//- src/test/java/shop/BaseTest.java
package shop;
import junit.framework.TestCase;
public abstract class BaseTest extends TestCase {
    protected void setUp() { A.f(); }
    public void testBase() {}
}
//- src/test/java/shop/OneTest.java
package shop;
public class OneTest extends BaseTest {
    public void testOwn() {}
}
//- src/test/java/shop/FarTest.java
package shop;
import junit.framework.TestCase;
public class FarTest extends TestCase {
    public void testFar() {}
}
",
            &["shop.OneTest#testBase", "shop.OneTest#testOwn"],
        );
    }

    #[test]
    fn a_build_file_selects_all() {
        check(&SHOP.replace("<project/>", "-|<project/>\n+|<project><x/></project>"), &["all: build_file"]);
    }
}

#[test]
fn documentation_selects_nothing_and_unknown_languages_all() {
    let source = "
//- README.md
-|one
+|two
//- a.py
x = 1
";
    check(source, &["none: documentation_only"]);
    check(&source.replace("README.md", "native.rs"), &["all: unknown_language"]);
}

#[test]
fn runners_get_nothing_of_each_other_and_a_form_for_nothing() {
    let source = "
//- a.py
def f():
-|    return 1
+|    return 2
//- test_a.py
import a
def test_f():
    a.f()
";
    let answer = answer(source);
    assert_eq!(lines(&answer, RunnerFormat::Pytest), ["test_a.py::test_f"]);
    assert_eq!(lines(&answer, RunnerFormat::Maven), ["-DskipTests"]);
    assert_eq!(lines(&answer, RunnerFormat::Gradle), ["-x", "test"]);
    assert!(!lines(&answer, RunnerFormat::Jest).is_empty());
}

#[test]
fn equal_questions_give_equal_bytes_and_file_policy_selects_importers() {
    let source = "
//- a.py
def f():
-|    return 1
+|    return 2
def g():
    return 3
//- test_a.py
import a
def test_f():
    a.f()
def test_g():
    a.g()
";
    let print = |answer: &Answer| json::value(answer).to_string();
    assert_eq!(print(&answer(source)), print(&answer(source)));
    let options = Options { policy: Policy::File, ..Options::default() };
    assert_eq!(selected(&answer_with(source, &options)), ["test_a.py::test_f", "test_a.py::test_g"]);
    let off = Options { is_off: true, ..Options::default() };
    assert_eq!(selected(&answer_with(source, &off)), ["all: select_off"]);
}

mod changes {
    use super::{answer, trees};

    /// The changed symbols as `path::qualname: kinds`.
    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let (base, head) = trees(source);
        assert_ne!(base, head, "the text holds two trees");
        let found: Vec<String> = answer(source)
            .symbols
            .iter()
            .filter(|s| s.because.is_none())
            .map(|s| format!("{}::{}: {}", s.path, s.qualname, s.changes.names().join(" ")))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_rename_keeps_its_body() {
        check(
            "
//- a.py
-|def f(x):
+|def g(x):
    return x * 1234
",
            &["a.py::g: renamed signature"],
        );
    }

    #[test]
    fn a_function_moves_between_files() {
        check(
            "
//- a.py
def stays():
    return 1
-|def f(x):
-|    return x * 1234
//- b.py
def other():
    return 2
+|def f(x):
+|    return x * 1234
",
            &["b.py::f: moved"],
        );
    }

    #[test]
    fn ambiguous_moves_are_removed_and_added() {
        check(
            "
//- a.py
one = 1
-|def f(x):
-|    return x * 1234
-|def g(x):
-|    return x * 1234
//- b.py
two = 2
+|def h(x):
+|    return x * 1234
",
            &["a.py::f: removed", "a.py::g: removed", "b.py::h: added"],
        );
    }

    #[test]
    fn repeated_definitions_pair_by_hash() {
        check(
            "
//- a.py
-|def f():
-|    return 1
def f():
    return 2
def f():
    return 3
",
            &["a.py::f: removed"],
        );
    }

    #[test]
    fn a_renamed_file_is_no_new_code() {
        check(
            "
//x a.py
def f(x):
    return x * 1234
//+ b.py
def f(x):
    return x * 1234
",
            &["b.py::<module>: renamed"],
        );
    }

    #[test]
    fn a_definition_more_is_no_change_of_what_is_around_it() {
        check(
            "
//- a.ts
import { x } from './x';
+|import { y } from './y';
export class C {
  one() { return x; }
+|  two() { return y; }
}
+|export function f() { return 1; }
//- x.ts
export const x = 1;
//- y.ts
export const y = 1;
",
            &["a.ts::C.two: added", "a.ts::f: added"],
        );
    }

    #[test]
    fn a_comment_that_acts_is_a_change() {
        check(
            "
//- a.ts
export function f(x: any): number {
+|  // @ts-expect-error
  return x.y;
}
",
            &["a.ts::f: acting_comment"],
        );
    }

    #[test]
    fn signature_body_and_module_code_are_told_apart() {
        check(
            "
//- a.py
-|print(1)
+|print(2)
-|def f(a):
+|def f(a, b=1):
    return a
def g():
-|    return 1
+|    return 2
",
            &["a.py::<module>: body", "a.py::f: signature", "a.py::g: body"],
        );
    }
}

#[test]
fn an_added_import_that_may_fail_reaches_every_importer() {
    let select = |line: &str| {
        let edited = format!(
            "
//- a.py
+|{line}
def f():
    return 1
//- tests/test_a.py
import a
def test_f():
    assert a.f()
"
        );
        selected(&answer(&edited))
    };
    assert_eq!(select("import nosuchmodule"), ["tests/test_a.py::test_f"]);
    assert_eq!(select("from .nosuch import x"), ["tests/test_a.py::test_f"]);
}

#[test]
fn a_test_that_was_not_read_makes_a_lower_bound() {
    let source = "
//- a.py
def f():
-|    return 1
+|    return 2
//- tests/test_a.py
import a
def test_f():
    assert a.f()
//- tests/test_big.py
import a
";
    let (base, head) = trees(source);
    let without_big = |tree: &Tree| {
        let mut atlas = atlas(tree);
        let mut view = View::clone(&atlas.view);
        let big = view.files.pop().expect("the last path");
        view.others.push(OtherFile { path: big.path, blob: big.blob, dirty: false, reason: SkipReason::TooLarge });
        atlas.graph = Arc::new(link(&view)).into();
        atlas.view = Arc::new(view);
        atlas
    };
    let (old, new) = (without_big(&base), without_big(&head));
    let answer = impact_of_diff(
        &old,
        &new,
        &Beside { read: &|_, _| None, modes: Vec::new() },
        &Options::default(),
        "base..head",
    );
    assert_eq!(answer.causes.iter().map(|c| c.code).collect::<Vec<_>>(), ["skipped_test"]);
    assert!(text::lines(&answer).join("\n").contains("tests/test_big.py"));
}
