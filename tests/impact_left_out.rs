//! What a change does not reach, though names and classes of it stand near: each case was once
//! selected for no reason.

use crate::impact::{answer, selected};
use ratlas::impact::answer::Verdict;
use ratlas::impact::runners::{RunnerFormat, left_out, lines};
use ratlas::impact::text::why_not;

/// The last parts of the ids of tests that a change reaches, sorted.
#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let answer = answer(source);
    let ids = answer.tests.iter().filter(|test| test.because != "imports");
    let mut found: Vec<&str> = ids.filter_map(|test| test.id.rsplit("::").next()).collect();
    found.sort_unstable();
    assert_eq!(found, expected, "{}", ratlas::impact::text::lines(&answer).join("\n"));
}

#[test]
fn a_base_beside_a_metaclass_is_no_metaclass() {
    let source = r"
//- p/__init__.py
//- p/core.py
class Meta(type):
    def __instancecheck__(cls, other):
        return True
class Group:
    def __init__(self):
-|        self.x = 1
+|        self.x = 2
class Old(Group, metaclass=Meta):
    pass
def other():
    return 1
//- tests/test_core.py
from p.core import Group, other
def test_group():
    assert Group().x
def test_other():
    assert other()
";
    check(source, &["test_group"]);
}

#[test]
fn a_constructor_that_calls_the_one_above_makes_no_instance_of_that_class() {
    let source = r"
//- p/__init__.py
//- p/core.py
class Command:
    def __init__(self, name):
        self.name = name
    def __call__(self):
-|        return 1
+|        return 2
class Group(Command):
    def __init__(self, name):
        super().__init__(name)
    def __call__(self):
        return 3
//- tests/test_core.py
from p.core import Command, Group
def test_command():
    assert Command('a')()
def test_group():
    assert Group('a')()
";
    check(source, &["test_command"]);
}

#[test]
fn a_class_that_partial_keeps_is_not_made_there() {
    let source = r"
//- p/__init__.py
//- p/fields.py
class Field:
    def __init__(self, kind):
-|        self.kind = kind
+|        self.kind = (kind,)
//- tests/test_fields.py
import functools
from p import fields
ALL = [
    functools.partial(fields.Field, 1),
]
def test_all():
    assert ALL[0]()
def test_none():
    assert 1
";
    check(source, &["test_all"]);
}

#[test]
fn names_of_listed_functions_are_those_that_getattr_asks_for() {
    let source = r"
//- p/__init__.py
//- p/app.py
class App:
    def handle(self):
        return 1
    def post(self):
-|        return 1
+|        return 2
    def __init_subclass__(cls):
        for method in (cls.handle,):
            base = getattr(App, method.__name__)
            base(None)
//- tests/test_app.py
from p.app import App
def test_post():
    assert App().post()
def test_below():
    class Own(App):
        pass
    assert Own().handle()
";
    check(source, &["test_post"]);
    let listed = source.replace("def post(self):\n-|", "def put(self):\n-|").replace("cls.handle,", "cls.put,");
    let listed = listed.replace("App().post", "App().put");
    check(&listed, &["test_below", "test_post"]);
}

#[test]
fn a_guess_that_keeps_no_test_out_leaves_the_answer_complete() {
    let source = r"
//- p/__init__.py
//- p/core.py
import outside
@outside.wrapped
def run():
-|    return 1
+|    return 2
def other():
    return 1
//- tests/test_core.py
from p.core import run, other
def test_run():
    assert run()
def test_other():
    assert other()
";
    let found = answer(source);
    assert_eq!(found.verdict, Verdict::LowerBound);
    assert_eq!(found.causes[0].code, "outside_decorator");
    let all = answer(&source.replace("assert other()", "assert other() and run()"));
    assert_eq!((all.verdict, all.causes.len()), (Verdict::Complete, 0));
    // A mark of pytest is a note for the runner.
    let marked = "\n//- p.py\ndef f():\n-|    return 1\n+|    return 2\n//- test_p.py\nimport pytest\nfrom p import f\n\
                  @pytest.mark.slow\ndef test_f():\n    f()\ndef test_g():\n    pass\n";
    assert_eq!(
        (selected(&answer(marked)), answer(marked).verdict),
        (vec!["test_p.py::test_f".to_owned()], Verdict::Complete)
    );
}

#[test]
fn unittest_and_django_take_dotted_names_and_say_what_they_leave_out() {
    let source = r"
//- app/models.py
def f():
-|    return 1
+|    return 2
//- app/tests/test_models.py
import unittest
from app.models import f
class TestF(unittest.TestCase):
    def test_f(self):
        assert f()
    def test_g(self):
        pass
def test_plain():
    assert f()
";
    let found = answer(source);
    for format in [RunnerFormat::Unittest, RunnerFormat::Django] {
        assert_eq!(lines(&found, format), ["app.tests.test_models.TestF.test_f"]);
        assert_eq!(left_out(&found, format).into_iter().collect::<Vec<_>>(), [("pytest", 1)]);
    }
    assert_eq!(lines(&found, RunnerFormat::Jest), ["--passWithNoTests", "--testPathIgnorePatterns=."]);
    assert_eq!(left_out(&found, RunnerFormat::Jest).into_iter().collect::<Vec<_>>(), [("pytest", 2)]);
    let nothing = answer("\n//- a.py\n-|x = 1\n+|x = 1  # one\n//- test_a.py\nimport a\ndef test_a():\n    pass\n");
    assert_eq!(lines(&nothing, RunnerFormat::Unittest), ["--help"]);
}

#[test]
fn why_not_names_the_file_that_a_test_imports() {
    let source = r"
//- p.py
def f():
-|    return 1
+|    return 2
def g():
    return 1
//- q.py
def h():
    return 1
//- test_p.py
from p import g
def test_g():
    g()
//- test_q.py
from q import h
def test_h():
    h()
//- test_f.py
from p import f
def test_f():
    f()
";
    let found = answer(source);
    let lines = why_not(&found, "test_p.py").expect("it is left out");
    assert!(lines[0].contains("it imports a changed file") && lines[1].contains("imports p.py"), "{lines:?}");
    let lines = why_not(&found, "test_q.py").expect("it is left out");
    assert!(lines[0].contains("holds no changed file"), "{lines:?}");
    // Asked about a definition, its file counts as the changed one.
    let mut of_target = found.clone();
    of_target.files.clear();
    assert_eq!(of_target.changed_paths(), ["p.py"]);
}

#[test]
fn callers_that_leave_an_argument_out_do_not_run_what_hangs_on_it() {
    let source = r#"
//- src/utils.ts
export function ends(input: string) {
-|  return input.endsWith("/");
+|  return input.endsWith("/") || false;
}
export function slashed(input = "", strict?: boolean) {
  if (!strict) {
    return input + "/";
  }
  if (ends(input)) {
    return input;
  }
  return input + "/";
}
export const join = (a: string, b: string) => slashed(a) + b;
export const resolve = (a: string, rest: unknown[]) => slashed(a, ...rest);
//- test/given.test.ts
import { slashed } from "../src/utils";
test("given", () => slashed("a", true));
test("left out", () => slashed("a"));
//- test/join.test.ts
import { join } from "../src/utils";
test("join", () => join("a", "b"));
//- test/resolve.test.ts
import { resolve } from "../src/utils";
test("resolve", () => resolve("a", []));
"#;
    let found = selected(&answer(source));
    assert_eq!(found, ["test/given.test.ts > given", "test/resolve.test.ts > resolve"]);
    // What assigns the parameter may give it a value.
    let assigned = source.replace("  if (!strict) {", "  strict = strict ?? true;\n  if (!strict) {");
    assert_eq!(selected(&answer(&assigned)).len(), 4);
    // A default that is no null may be what the test asks for.
    let default = source.replace("strict?: boolean", "strict = true");
    assert_eq!(selected(&answer(&default)).len(), 4);
    // A lambda's parameter of the same name is another.
    let inner = source.replace("  if (!strict) {\n    return input + \"/\";\n  }\n", "").replace(
        "  if (ends(input)) {",
        "  const g = (strict: boolean) => {\n    if (!strict) {\n      return 1;\n    }\n    return ends(input);\n  };\n  if (g(true)) {",
    );
    assert_eq!(selected(&answer(&inner)).len(), 4);
}

#[test]
fn python_callers_give_an_argument_by_position_keyword_or_mapping() {
    let source = r"
//- core.py
def wrap(text):
-|    return text
+|    return text + ''
class Option:
    def __init__(self, name, help=None):
        self.name = name
        if help is not None:
            self.n = 1
            self.help = wrap(help)
            self.m = 2
    def show(self, width=None, *, color=None):
        if width is None:
            return ''
        return wrap(self.name)
//- test_core.py
from core import Option
def test_name():
    assert Option('a')
def test_position():
    assert Option('a', 'b')
def test_keyword():
    assert Option('a', help='b')
def test_mapping():
    assert Option('a', **{})
def test_show():
    assert Option('a').show()
def test_color():
    assert Option('a').show(color=1)
def test_width():
    assert Option('a').show(2)
def test_by_class():
    assert Option.show(Option('a'), 2)
def test_value():
    show = Option('a').show
    assert show(2)
";
    check(source, &["test_by_class", "test_keyword", "test_mapping", "test_position", "test_value", "test_width"]);
    // A decorator may give it, and may register the method for whoever makes an instance.
    check(
        &source.replace("    def show(", "    @lib.sized\n    def show("),
        &[
            "test_by_class",
            "test_color",
            "test_keyword",
            "test_mapping",
            "test_name",
            "test_position",
            "test_show",
            "test_value",
            "test_width",
        ],
    );
}

#[test]
fn a_decorator_that_gives_back_a_function_which_uses_its_argument_keeps_nothing() {
    let source = r"
//- core.py
import functools
import lib
def within(f):
    def run(*args):
        return lib.invoke(f, *args)
    return functools.update_wrapper(run, f)
def help():
-|    return 1
+|    return 2
@within
def show():
    return help()
def other():
    return 1
//- test_core.py
from core import show, other
def test_show():
    assert show()
def test_other():
    assert other()
";
    check(source, &["test_show"]);
    // One that is put somewhere else is run by whoever finds it there.
    check(
        &source.replace("    return functools.update_wrapper(run, f)", "    lib.add(run)\n    return f"),
        &["test_other", "test_show"],
    );
    check(
        &source.replace("    return functools.update_wrapper(run, f)", "    lib.add(f)\n    return run"),
        &["test_other", "test_show"],
    );
}
