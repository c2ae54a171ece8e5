//! What each framework takes for a test, and what its configuration says of it.

use crate::impact::{answer, answer_with, selected};
use ratlas::impact::policy::Options;

/// Every test that is known of a tree, as `runner id`, sorted.
fn known(source: &str) -> Vec<String> {
    let source = format!("{source}//- Makefile\n-|a\n+|b\n");
    let all = answer_with(&source, &Options { run_all: vec!["Makefile".into()], ..Options::default() });
    let mut tests: Vec<String> = all.tests.iter().map(|t| format!("{} {}", t.runner.as_str(), t.id)).collect();
    tests.sort();
    tests
}

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    assert_eq!(known(source), expected);
}

mod python {
    use super::{answer, check, selected};

    #[test]
    fn functions_classes_and_methods_by_name() {
        check(
            "
//- test_a.py
import pytest
@pytest.fixture
def test_data():
    return 1
def test_f(): pass
async def test_g(): pass
def helper(): pass
class TestX:
    def test_m(self): pass
    def other(self): pass
    class TestIn:
        def test_n(self): pass
class TestMade:
    def __init__(self): pass
    def test_never(self): pass
class Plain:
    def test_never(self): pass
//- b_test.py
def test_b(): pass
//- tests/helpers.py
def test_never(): pass
",
            &[
                "pytest b_test.py::test_b",
                "pytest test_a.py::TestX::TestIn::test_n",
                "pytest test_a.py::TestX::test_m",
                "pytest test_a.py::test_f",
                "pytest test_a.py::test_g",
            ],
        );
    }

    #[test]
    fn cases_of_unittest_in_files_of_its_own_pattern() {
        check(
            "
//- app/tests.py
from django.test import TestCase
class Base(TestCase):
    def test_base(self): pass
class Case(Base):
    def test_own(self): pass
def test_function(): pass
",
            &[
                "pytest app/tests.py::Base::test_base",
                "pytest app/tests.py::Case::test_base",
                "pytest app/tests.py::Case::test_own",
            ],
        );
    }

    #[test]
    fn names_are_the_configuration_s() {
        let tests = "
//- checks/check_a.py
def check_f(): pass
def test_f(): pass
class ACheck:
    def check_m(self): pass
//- checks/test_b.py
def check_g(): pass
";
        let expected = ["pytest checks/check_a.py::ACheck::check_m", "pytest checks/check_a.py::check_f"];
        let options = "python_files = check_*.py\npython_functions = check_*\npython_classes = *Check\n";
        for (file, head) in [("pytest.ini", "[pytest]"), ("tox.ini", "[pytest]"), ("setup.cfg", "[tool:pytest]")] {
            check(&format!("//- {file}\n{head}\n{options}{tests}"), &expected);
        }
        let toml = "python_files = ['check_*.py']\npython_functions = 'check_*'\npython_classes = '*Check'\n";
        check(&format!("//- pyproject.toml\n[tool.pytest.ini_options]\n{toml}{tests}"), &expected);
    }

    const DOCTESTS: &str = "
//- src/a.py
def f():
    '''
    One.

    >>> f()
    1
    '''
-|    return 1
+|    return 2
def g():
    '''No example: >>> not at the start.'''
//- src/b.py
import a
def h():
    '''
    >>> h()
    '''
    return a.f()
//- src/c.py
def i():
    '''Nothing to run.'''
//- tests/test_a.py
def test_a(): pass
";

    #[test]
    fn docstrings_are_tests_where_pytest_runs_them() {
        check(DOCTESTS, &["pytest tests/test_a.py::test_a"]);
        let told = format!("//- pytest.ini\n[pytest]\naddopts = -q --doctest-modules\n{DOCTESTS}");
        check(&told, &["pytest src/a.py", "pytest src/b.py", "pytest tests/test_a.py::test_a"]);
        assert_eq!(selected(&answer(&told)), ["src/a.py", "src/b.py"]);
        let below = told.replace("addopts", "testpaths = tests\naddopts");
        check(&below, &["pytest tests/test_a.py::test_a"]);
        let tox = "//- tox.ini\n[testenv]\ncommands = pytest --doctest-modules src tests\n";
        let commanded = format!("{tox}{DOCTESTS}");
        check(&commanded, &["pytest src/a.py", "pytest src/b.py", "pytest tests/test_a.py::test_a"]);
        assert_eq!(selected(&answer(&commanded)), ["src/a.py", "src/b.py"]);
    }

    #[test]
    fn what_pytest_runs_around_tests_belongs_to_them() {
        let case = |around: &str| {
            format!(
                "
//- app.py
def f():
-|    return 1
+|    return 2
//- tests/plugin.py
import pytest
import app
@pytest.fixture
def made():
    return app.f()
//- tests/test_a.py
import pytest
import app
{around}
def test_two():
    pass
"
            )
        };
        let reached = |around: &str| selected(&answer(&case(around)));
        let one = ["tests/test_a.py::test_one"];
        let both = ["tests/test_a.py::test_one", "tests/test_a.py::test_two"];
        assert_eq!(reached("def test_one(made):\n    pass"), one);
        assert_eq!(reached("@pytest.mark.usefixtures('made')\ndef test_one():\n    pass"), one);
        assert_eq!(reached("@pytest.mark.parametrize('x', [app.f()])\ndef test_one(x):\n    pass"), both);
        assert_eq!(reached("def setup_module():\n    app.f()\ndef test_one():\n    pass"), both);
        assert_eq!(reached("pytestmark = pytest.mark.usefixtures('made')\ndef test_one():\n    pass"), both);
        let names = ["tests/test_a.py::TestX::test_in", "tests/test_a.py::test_two"];
        let class = "class TestX:\n    def setup_method(self):\n        app.f()\n    def test_in(self):\n        pass";
        assert_eq!(reached(class), names[..1]);
        let marked = "@pytest.mark.usefixtures('made')\nclass TestX:\n    def test_in(self):\n        pass";
        assert_eq!(reached(marked), names[..1]);
    }
}

mod javascript {
    use super::{check, known};

    const BLOCKS: &str = "
import { f } from './f';
describe('outer', () => {
  beforeEach(() => {});
  it('one', () => {});
  it.each([1, 2])('each %i', () => {});
  describe.skip('inner', () => { test.only('two', () => {}); });
});
test('three', () => {});
";

    fn ids(runner: &str, path: &str) -> Vec<String> {
        let titles = ["outer > each %i", "outer > inner > two", "outer > one", "three"];
        titles.map(|title| format!("{runner} {path} > {title}")).to_vec()
    }

    #[test]
    fn blocks_are_the_runner_s_that_the_package_is_set_up_for() {
        let cases = [
            ("jest", "package.json", "{\"jest\": {}}"),
            ("jest", "jest.config.ts", "export default {}"),
            ("jest", "package.json", "{\"scripts\": {\"test\": \"jest --ci\"}}"),
            ("vitest", "vitest.config.mts", "export default {}"),
            ("vitest", "package.json", "{\"devDependencies\": {\"vitest\": \"3\"}}"),
            ("mocha", ".mocharc.json", "{}"),
            ("mocha", "package.json", "{\"scripts\": {\"test\": \"nyc mocha test\"}}"),
            ("node:test", "package.json", "{\"scripts\": {\"test\": \"node --test\"}}"),
        ];
        for (runner, file, text) in cases {
            let source = format!("//- {file}\n{text}\n//- src/x.test.ts\n{BLOCKS}");
            assert_eq!(known(&source), ids(runner, "src/x.test.ts"), "{file}: {text}");
        }
    }

    #[test]
    fn an_import_of_a_runner_says_whose_blocks_they_are() {
        for (module, runner) in [
            ("vitest", "vitest"),
            ("@jest/globals", "jest"),
            ("node:test", "node:test"),
            ("@playwright/test", "playwright"),
            ("mocha", "mocha"),
        ] {
            let source = format!("//- e2e/x.ts\nimport {{ describe, it, test }} from '{module}';\n{BLOCKS}");
            assert_eq!(known(&source), ids(runner, "e2e/x.ts"), "{module}");
        }
    }

    #[test]
    fn a_folder_named_test_makes_no_test_of_a_helper() {
        check(
            "
//- package.json
{\"jest\": {}}
//- test/helper.js
exports.make = () => 1;
//- test/a.js
const { make } = require('./helper');
it('makes', () => { make(); });
//- __tests__/b.js
test('b', () => {});
",
            &["jest __tests__/b.js > b", "jest test/a.js > makes"],
        );
    }
}

mod java {
    use super::{answer, check, selected};

    #[test]
    fn annotations_of_each_framework() {
        check(
            "
//- src/test/java/p/Five.java
package p;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
class Five {
    @BeforeEach void before() {}
    @Test void plain() {}
    @ParameterizedTest void each(int n) {}
    @RepeatedTest(3) void again() {}
    @TestFactory Object made() { return null; }
    @TestTemplate void template() {}
    void helper() {}
    @Nested class In { @Test void deep() {} }
    @Nested abstract class Never { @Test void none() {} }
}
//- src/test/java/p/Four.java
package p;
import org.junit.Before;
import org.junit.Test;
public class Four {
    @Before public void before() {}
    @Test(expected = Error.class) public void plain() {}
}
//- src/test/java/p/Three.java
package p;
import junit.framework.TestCase;
public class Three extends TestCase {
    public void testPlain() {}
    void testHidden() {}
    public void helper() {}
}
//- src/test/java/p/Ng.java
package p;
import org.testng.annotations.DataProvider;
import org.testng.annotations.Test;
@Test
public class Ng {
    @DataProvider public Object[][] rows() { return null; }
    public void byClass() {}
    void hidden() {}
    @Test(dataProvider = \"rows\") public void each(int n) {}
}
",
            &[
                "junit p.Five#again",
                "junit p.Five#each",
                "junit p.Five#made",
                "junit p.Five#plain",
                "junit p.Five#template",
                "junit p.Five$In#deep",
                "junit p.Four#plain",
                "junit p.Three#testPlain",
                "testng p.Ng#byClass",
                "testng p.Ng#each",
            ],
        );
    }

    #[test]
    fn inherited_tests_are_the_heir_s() {
        check(
            "
//- src/test/java/p/Contract.java
package p;
import org.junit.jupiter.api.Test;
interface Contract {
    @Test default void holds() {}
}
//- src/test/java/p/Base.java
package p;
import org.junit.jupiter.api.Test;
abstract class Base implements Contract {
    @Test void base() {}
    @Test void replaced() {}
}
//- src/test/java/p/HeirTest.java
package p;
class HeirTest extends Base {
    @Override @org.junit.jupiter.api.Test void replaced() {}
}
//- src/test/java/p/NgBase.java
package p;
import org.testng.annotations.Test;
@Test
public abstract class NgBase {
    public void base() {}
}
//- src/test/java/p/NgHeir.java
package p;
import org.testng.annotations.BeforeMethod;
public class NgHeir extends NgBase {
    @BeforeMethod public void before() {}
    public void own() {}
}
",
            &[
                "junit p.HeirTest#base",
                "junit p.HeirTest#holds",
                "junit p.HeirTest#replaced",
                "testng p.NgHeir#base",
                "testng p.NgHeir#own",
            ],
        );
    }

    #[test]
    fn sources_of_parameters_and_rules_belong_to_their_tests() {
        let source = |around: &str| {
            format!(
                "
//- src/main/java/p/A.java
package p;
public class A {{
    public static int f() {{
-|        return 1;
+|        return 2;
    }}
}}
//- src/test/java/p/ATest.java
package p;
import java.util.stream.Stream;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
class ATest {{
{around}
}}
"
            )
        };
        let reached = |around: &str| selected(&answer(&source(around)));
        let by_name = "    static Stream<Integer> rows() { return Stream.of(A.f()); }\n    @ParameterizedTest @MethodSource(\"rows\") void each(int n) {}";
        assert_eq!(reached(by_name), ["p.ATest#each"]);
        let default = "    static Stream<Integer> each() { return Stream.of(A.f()); }\n    @ParameterizedTest @MethodSource void each(int n) {}";
        assert_eq!(reached(default), ["p.ATest#each"]);
        let before = "    @BeforeAll static void all() { A.f(); }\n    @Test void one() {}\n    @Test void two() {}";
        assert_eq!(reached(before), ["p.ATest#one", "p.ATest#two"]);
    }
}

#[test]
fn a_tree_says_itself_what_is_a_test() {
    let source = "
//- ratlas.toml
[index]
tests = [\"checks/*\", \"!tests/data/**\"]
//- checks/prices.py
def test_price(): pass
//- checks/run.js
require('assert');
//- tests/data/test_sample.py
def test_never(): pass
//- tests/test_a.py
def test_a(): pass
";
    check(source, &["pytest checks/prices.py::test_price", "pytest tests/test_a.py::test_a", "script checks/run.js"]);
}
