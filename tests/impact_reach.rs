//! Which steps a reach takes and leaves out, by how code touches a name.

use crate::impact::{answer, check, selected};
use ratlas::impact::answer::{Mode, Verdict};

#[test]
fn a_setter_runs_only_where_its_name_is_written() {
    check(
        "
//- app.py
class App:
    @property
    def debug(self):
        return 1
    @debug.setter
    def debug(self, value):
-|        self.x = value
+|        self.y = value
//- tests/test_a.py
from app import App
def test_reads():
    assert App().debug
def test_writes():
    app = App()
    app.debug = True
",
        &["tests/test_a.py::test_writes"],
    );
}

#[test]
fn a_descriptors_setter_runs_only_where_the_attribute_is_written() {
    check(
        "
//- app.py
class Key:
    def __init__(self, name):
        self.name = name
    def __get__(self, obj, owner=None):
        return obj.config[self.name]
    def __set__(self, obj, value):
-|        obj.config[self.name] = value
+|        obj.config[self.name] = (value)
+|        pass
class App:
    testing = Key('x')
//- tests/test_a.py
from app import App
def test_reads():
    assert App().testing
def test_writes():
    app = App()
    app.testing = True
",
        &["tests/test_a.py::test_writes"],
    );
}

#[test]
fn a_method_that_each_made_class_overrides_runs_only_where_its_own_is_made() {
    check(
        "
//- app.py
class Tag:
    def check(self, value):
-|        raise NotImplementedError
+|        raise NotImplementedError()
class TagDict(Tag):
    def check(self, value):
        return True
def dump(tag: Tag):
    return tag.check(1)
//- tests/test_a.py
from app import TagDict, dump
def test_dump():
    assert dump(TagDict())
//- tests/test_b.py
from app import Tag
def test_base():
    tag = Tag()
    tag.check(1)
",
        &["tests/test_b.py::test_base"],
    );
}

#[test]
fn a_call_of_a_base_reaches_what_overrides_it() {
    check(
        "
//- app.py
class Store:
    def save(self):
        return 0
class Disk(Store):
    def save(self):
-|        return 1
+|        return 2
class Memory(Store):
    def save(self):
        return 3
//- use.py
from app import Store
def keep(store: Store):
    return store.save()
//- tests/test_disk.py
from app import Disk
from use import keep
def test_disk():
    assert keep(Disk())
",
        &["tests/test_disk.py::test_disk"],
    );
}

#[test]
fn asking_for_a_class_makes_no_instance() {
    check(
        "
//- app.py
class Blue:
    def __init__(self):
-|        self.a = 1
+|        self.a = 2
def is_blue(x):
    return isinstance(x, Blue)
//- tests/test_a.py
from app import Blue, is_blue
def test_asks():
    assert not is_blue(1)
def test_makes():
    assert Blue()
",
        &["tests/test_a.py::test_makes"],
    );
}

#[test]
fn a_decorator_from_outside_keeps_a_function_under_its_own_name() {
    let source = "
//- app/__init__.py
from app.cli import main
def other():
    return 1
//- app/cli.py
import lib
@lib.command('run')
def main():
-|    return 1
+|    return 2
//- tests/test_a.py
from app import main, other
def test_main():
    assert main
def test_other():
    assert other()
";
    let found = answer(source);
    assert_eq!(selected(&found), ["tests/test_a.py::test_main"]);
    assert_eq!(found.verdict, Verdict::LowerBound);
    assert_eq!(found.causes[0].code, "outside_decorator");
    // One that says that it registers hands the function to whoever imports the module.
    check(
        &source.replace("@lib.command('run')", "@lib.register('run')"),
        &["tests/test_a.py::test_main", "tests/test_a.py::test_other"],
    );
}

#[test]
fn what_a_register_of_the_repository_keeps_runs_where_the_register_is_used() {
    check(
        "
//- lib.py
class Library:
    def __init__(self):
        self.filters = {}
    def filter(self, func):
        self.add(func)
        return func
    def add(self, func):
        self.filters[func.__name__] = func
//- filters.py
from lib import Library
register = Library()
@register.filter
def lower(text):
-|    return text.lower()
+|    return text.lower().strip()
@register.filter
def upper(text):
    return text.upper()
def plain():
    return 1
//- tests/test_a.py
from filters import register, plain, upper
def test_register():
    assert register
def test_upper():
    assert upper('a')
def test_plain():
    assert plain()
",
        &["tests/test_a.py::test_register"],
    );
}

#[test]
fn an_import_over_a_changed_search_path_may_mean_a_folder_of_that_name() {
    check(
        "
//- app.py
def make():
-|    return 1
+|    return 2
//- tests/apps/blue/__init__.py
import app
made = app.make()
//- tests/test_a.py
def test_blue():
    from blue import made
    assert made
def test_other():
    assert True
",
        &["tests/test_a.py::test_blue"],
    );
}

#[test]
fn an_import_by_an_alias_of_a_bundler_may_mean_the_end_of_a_path() {
    check(
        "
//- package.json
{\"devDependencies\": {\"vitest\": \"1\"}, \"dependencies\": {\"lib\": \"1\"}}
//- src/price/due.ts
export function due() {
-|  return 1;
+|  return 2;
}
//- test/a.test.ts
import { test } from 'vitest';
import { due } from '@app/price/due';
test('due', () => { due(); });
//- test/b.test.ts
import { test } from 'vitest';
import { due } from 'lib/price/due';
test('lib', () => { due(); });
",
        &["test/a.test.ts > due"],
    );
}

#[test]
fn a_class_given_to_outside_code_may_come_back_as_an_instance() {
    check(
        "
//- app.py
class Info:
    def load(self):
-|        return 1
+|        return 2
    def other(self):
        return 3
def run(context):
    return context.ensure(Info).load()
//- tests/test_a.py
import outside
from app import run
def test_run():
    assert run(outside.Context())
",
        &["tests/test_a.py::test_run"],
    );
}

const DATA: &str = "
//- changes.xml
<a/>
//- app/__init__.py
def f():
    return 1
//- app/names.csv
a
//- tests/test_a.py
import app
def test_f():
    assert app.f()
//- tests/data/rows.csv
b
//- other/test_b.py
def test_b():
    assert True
";

#[test]
fn data_that_nothing_names_selects_what_lies_beside_it() {
    let change = |path: &str, text: &str| {
        let (old, new) = (format!("//- {path}\n{text}\n"), format!("//- {path}\n-|{text}\n+|{text} x\n"));
        assert!(DATA.contains(&old));
        answer(&DATA.replace(&old, &new))
    };
    assert_eq!(selected(&change("tests/data/rows.csv", "b")), ["tests/test_a.py::test_f"]);
    assert_eq!(selected(&change("app/names.csv", "a")), ["tests/test_a.py::test_f"]);
    // The root is everybody's folder, and so nobody's.
    let root = change("changes.xml", "<a/>");
    assert_eq!((root.mode, root.verdict), (Mode::None, Verdict::LowerBound));
    assert_eq!(root.causes[0].code, "unnamed_data");
}

#[test]
fn a_computed_import_is_told_as_the_reason() {
    let found = answer(
        "
//- app.py
import importlib
def load(name):
    return importlib.import_module('plugins.' + name)
//- plugins/one.py
def f():
-|    return 1
+|    return 2
//- tests/test_a.py
import app
def test_load():
    assert app.load('one')
",
    );
    assert_eq!(selected(&found), ["tests/test_a.py::test_load"]);
    let kinds: Vec<&str> = found.tests[0].via.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, ["imports", "computed_import"]);
}

#[test]
fn a_changed_package_reaches_what_imports_it() {
    let source = "
//- package.json
{\"name\": \"a\", \"devDependencies\": {\"vitest\": \"1\"}}
//- package-lock.json
-|{\"packages\": {\"\": {\"dependencies\": {\"x\": \"1\"}}, \"node_modules/x\": {\"version\": \"1\"}, \"node_modules/vitest\": {\"version\": \"1\"}}}
+|{\"packages\": {\"\": {\"dependencies\": {\"x\": \"1\"}}, \"node_modules/x\": {\"version\": \"2\"}, \"node_modules/vitest\": {\"version\": \"1\"}}}
//- src/a.ts
import { x } from 'x';
export function f() { return x(); }
//- test/a.test.ts
import { test } from 'vitest';
import { f } from '../src/a';
test('f', () => { f(); });
//- test/b.test.ts
import { test } from 'vitest';
test('g', () => {});
";
    check(source, &["test/a.test.ts > f"]);
    // White space, one that runs the tests, one that nothing imports.
    check(&source.replace("\"version\": \"2\"", "\"version\":   \"1\""), &["none: no_effect"]);
    let runner = source.replace(
        "{\"version\": \"2\"}, \"node_modules/vitest\": {\"version\": \"1\"",
        "{\"version\": \"1\"}, \"node_modules/vitest\": {\"version\": \"3\"",
    );
    check(&runner, &["all: package"]);
}

#[test]
fn code_outside_may_give_back_what_it_is_given() {
    let python = "
//- app.py
class App:
    def context(self):
-|        return 1
+|        return 2
class Info:
    def load(self):
        return App()
//- cli.py
import click
from app import Info
def run(ctx: click.Context):
    app = ctx.ensure_object(Info).load()
    return app.context()
//- tests/test_cli.py
from cli import run
def test_run():
    assert run(None)
//- tests/test_own.py
from app import App
def test_own():
    assert App().context()
";
    let both = ["tests/test_cli.py::test_run", "tests/test_own.py::test_own"];
    check(python, &both);
    check(&python.replace("ensure_object(Info)", "ensure_object(lambda: Info())"), &both);
    // Code outside that is given nothing of the repository gives nothing of it back.
    check(&python.replace("ensure_object(Info)", "ensure_object('Info')"), &both[1..]);
    let typescript = r#"
//- src/app.ts
export class App {
  context() {
-|    return 1;
+|    return 2;
  }
}
//- src/cli.ts
import { make } from "outside";
import { App } from "./app";
export const run = () => make(App).context();
//- test/cli.test.ts
import { run } from "../src/cli";
test("run", () => run());
//- test/own.test.ts
import { App } from "../src/app";
test("own", () => new App().context());
"#;
    let both = ["test/cli.test.ts > run", "test/own.test.ts > own"];
    check(typescript, &both);
    check(&typescript.replace("make(App)", "make(`x`)"), &both[1..]);
    let java = "
//- src/main/java/p/App.java
package p;
public class App {
  public int context() {
-|    return 1;
+|    return 2;
  }
}
//- src/main/java/p/Cli.java
package p;
import org.outside.Maker;
public class Cli {
  static Object run(Maker maker) {
    return maker.make(App.class).context();
  }
}
//- src/test/java/p/CliTest.java
package p;
import org.junit.jupiter.api.Test;
class CliTest {
  @Test void run() {
    Cli.run(null);
  }
}
//- src/test/java/p/OwnTest.java
package p;
import org.junit.jupiter.api.Test;
class OwnTest {
  @Test void own() {
    new App().context();
  }
}
";
    let both = ["p.CliTest#run", "p.OwnTest#own"];
    check(java, &both);
    check(&java.replace("make(App.class)", "make(1)"), &both[1..]);
}

#[test]
fn an_instance_of_a_subscripted_class_is_made_at_import() {
    let source = "
//- app.py
from kinds import Attribute
class App:
    testing = Attribute[bool]('testing')
def other():
    return 1
//- kinds.py
import typing as t
T = t.TypeVar('T')
class Attribute(t.Generic[T]):
    def __init__(self, name):
-|        self.name = name
+|        self.name = name + ''
//- tests/test_app.py
from app import App
def test_app():
    assert App.testing
//- tests/test_other.py
from app import other
def test_other():
    assert other()
";
    check(source, &["tests/test_app.py::test_app", "tests/test_other.py::test_other"]);
}
