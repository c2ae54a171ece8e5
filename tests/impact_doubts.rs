//! Doubts: what may affect tests besides those that are selected, settled by a few tests more or told.

use crate::impact::{answer, selected};
use ratlas::impact::answer::{Answer, Verdict};

/// A source with `n` tests more that reach nothing.
fn with_others(source: &str, n: usize) -> String {
    let more: String = (0..n).map(|at| format!("def test_other_{at}():\n    pass\n")).collect();
    format!("{source}{more}")
}

fn causes(answer: &Answer) -> Vec<(&str, &str)> {
    answer.causes.iter().map(|note| (note.code, note.subject.as_str())).collect()
}

const WRAPPED: &str = "
//- core.py
import lib
@lib.wrapped
def run():
-|    return 1
+|    return 2
def other():
    return 1
//- test_core.py
from core import run, other
def test_run():
    assert run()
def test_imports():
    assert other()
";

#[test]
fn a_doubt_that_leads_to_few_tests_selects_them() {
    let few = answer(WRAPPED);
    assert_eq!((selected(&few).len(), few.verdict), (1, Verdict::LowerBound));
    assert_eq!(causes(&few), [("outside_decorator", "core.py::run")]);
    // Each test of the file imports the module that would register it.
    let many = with_others(WRAPPED, 40);
    assert_eq!((selected(&answer(&many)).len(), answer(&many).verdict), (1, Verdict::LowerBound));
    let apart = "//- test_more.py\n";
    let found = answer(&with_others(&format!("{WRAPPED}{apart}"), 40));
    assert_eq!((causes(&found), found.verdict), (vec![], Verdict::Complete));
    assert_eq!(selected(&found), ["test_core.py::test_imports", "test_core.py::test_run"]);
    let step = &found.tests.last().expect("two tests").via[0];
    assert_eq!((step.kind, step.to.as_str()), ("outside_decorator", "core.py::run"));
}

#[test]
fn what_decorators_of_known_packages_do_is_no_guess() {
    let known = WRAPPED.replace("import lib", "import click as c").replace("@lib.wrapped", "@c.command(\"run\")");
    let found = answer(&known);
    assert_eq!((selected(&found).len(), found.verdict), (1, Verdict::Complete), "{:?}", causes(&found));
    let named = WRAPPED.replace("import lib", "from hypothesis import given").replace("@lib.wrapped", "@given(1)");
    assert_eq!(answer(&named).verdict, Verdict::Complete);
    // The same name of another package is.
    let other = WRAPPED.replace("@lib.wrapped", "@lib.command");
    assert_eq!(answer(&other).verdict, Verdict::LowerBound);
}

#[test]
fn a_test_that_is_decorated_is_registered_with_its_runner() {
    let source = "
//- core.py
def run():
-|    return 1
+|    return 2
//- test_core.py
import pytest
import lib
from core import run
needs_fd = pytest.mark.skipif(False, reason='')
@needs_fd
def test_run():
    assert run()
@lib.settings(max_examples=1)
def test_more():
    assert run()
def test_other():
    pass
";
    let found = answer(source);
    assert_eq!((selected(&found).len(), found.verdict), (2, Verdict::Complete), "{:?}", causes(&found));
}

#[test]
fn a_variable_may_hold_a_decorator_that_only_wraps() {
    let held = WRAPPED.replace("import lib", "import click\npass_info = click.make_pass_decorator(dict)");
    let held = held.replace("@lib.wrapped", "@pass_info");
    let found = answer(&held);
    assert_eq!((selected(&found).len(), found.verdict), (1, Verdict::Complete), "{:?}", causes(&found));
    let unknown = held.replace("click.make_pass_decorator", "click.make_register");
    assert_eq!(answer(&unknown).verdict, Verdict::LowerBound);
}

#[test]
fn reflection_over_fields_does_not_run_methods() {
    let source = "
//- src/main/java/p/App.java
package p;
public class App {
  public int size = 1;
  public int context() {
-|    return 1;
+|    return 2;
  }
}
//- src/main/java/p/Fields.java
package p;
public class Fields {
  static Object all(Class<?> type) throws Exception {
    App app = null;
    return type.getDeclaredFields();
  }
}
//- src/test/java/p/AppTest.java
package p;
import org.junit.jupiter.api.Test;
class AppTest {
  @Test void run() {
    new App().context();
  }
}
//- src/test/java/p/FieldsTest.java
package p;
import org.junit.jupiter.api.Test;
class FieldsTest {
  @Test void run() throws Exception {
    Fields.all(null);
  }
}
";
    let found = answer(source);
    assert_eq!((selected(&found), found.verdict), (vec!["p.AppTest#run".to_owned()], Verdict::Complete));
    let methods = answer(&source.replace("getDeclaredFields", "getDeclaredMethods"));
    assert_eq!((methods.verdict, methods.causes[0].code), (Verdict::LowerBound, "computed_member"));
    let field = "  public int size = 1;\n  public int context() {\n-|    return 1;\n+|    return 2;";
    let changed = "-|  public int size = 1;\n+|  public int size = 2;\n  public int context() {\n    return 1;";
    // Who reads fields is selected then, or told.
    let found = answer(&source.replace(field, changed));
    assert!(found.verdict == Verdict::LowerBound || selected(&found).len() == 2, "{:?}", selected(&found));
}

#[test]
fn writing_by_a_computed_name_runs_setters_alone() {
    let source = "
//- core.py
class Box:
    def run(self):
-|        return 1
+|        return 2
def fill(box, items):
    for name, value in items:
        setattr(box, name, value)
//- test_core.py
from core import Box, fill
def test_run():
    assert Box().run()
def test_fill():
    fill(object(), [])
";
    let found = answer(source);
    assert_eq!((selected(&found).len(), found.verdict), (1, Verdict::Complete), "{:?}", causes(&found));
    let setter = source.replace("    def run(self):", "    @run.setter\n    def run(self, value):");
    assert_eq!(answer(&setter).verdict, Verdict::LowerBound);
    assert_eq!(
        answer(&source.replace("setattr(box, name, value)", "getattr(box, name)()")).verdict,
        Verdict::LowerBound
    );
}
