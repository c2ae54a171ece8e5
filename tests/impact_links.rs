//! Links that are not calls: names in strings and in files of configuration.

use crate::impact::{answer, check, selected};

/// Whether a test is among the selected.
#[track_caller]
fn reaches(source: &str, test: &str) {
    let found = selected(&answer(source));
    assert!(found.iter().any(|id| id == test), "{test} is not in {found:?}");
}

#[test]
fn a_patched_name_is_used() {
    check(
        "
//- shop/__init__.py
//- shop/price.py
-|def due():
-|    return 1
+|def owed():
+|    return 1
def other():
    return 2
//- tests/test_a.py
from unittest import mock
import shop.price
def test_patched():
    with mock.patch('shop.price.due'):
        pass
@mock.patch('shop.price.due', lambda: 3)
def test_decorated():
    pass
def test_other():
    shop.price.other()
",
        &["tests/test_a.py::test_decorated", "tests/test_a.py::test_patched"],
    );
}

#[test]
fn mocked_modules_are_named_by_strings() {
    for mock in ["jest", "vi"] {
        let source = format!(
            "
//- package.json
{{\"{}\": {{}}}}
//- src/price.ts
export function due() {{
-|  return 1;
+|  return 2;
}}
//- src/cart.ts
import {{ due }} from './price';
export const total = () => due();
//- src/cart.test.ts
import {{ total }} from './cart';
{mock}.mock('./price', () => ({{ ...{mock}.requireActual('./price'), other: 1 }}));
test('total', () => {{ total(); }});
",
            if mock == "jest" { "jest" } else { "vitest" }
        );
        reaches(&source, "src/cart.test.ts > total");
    }
}

#[test]
fn modules_are_loaded_by_constant_names() {
    reaches(
        "
//- package.json
{\"jest\": {}}
//- src/price.js
exports.due = () => {
-|  return 1;
+|  return 2;
};
//- src/a.test.js
test('loads', async () => {
  const { due } = await import('./price.js');
  due();
});
",
        "src/a.test.js > loads",
    );
}

#[test]
fn classes_are_found_by_name() {
    reaches(
        "
//- src/main/java/p/A.java
package p;
public class A {
    public A() {
-|        System.out.println(1);
+|        System.out.println(2);
    }
}
//- src/test/java/p/NameTest.java
package p;
import org.junit.jupiter.api.Test;
class NameTest {
    @Test void byName() throws Exception { Class.forName(\"p.A\").getConstructor().newInstance(); }
}
",
        "p.NameTest#byName",
    );
}

#[test]
fn services_are_made_by_whoever_loads_them() {
    let source = "
//- src/main/java/p/Api.java
package p;
public interface Api { int get(); }
//- src/main/java/p/Impl.java
package p;
public class Impl implements Api {
    public Impl() {
-|        System.out.println(1);
+|        System.out.println(2);
    }
    public int get() { return 1; }
}
//- src/main/java/p/Finder.java
package p;
import java.util.ServiceLoader;
public class Finder {
    public static Api find() { return ServiceLoader.load(Api.class).findFirst().get(); }
}
//- src/main/resources/META-INF/services/p.Api
# comment
p.Impl
//- src/test/java/p/FinderTest.java
package p;
import org.junit.jupiter.api.Test;
class FinderTest {
    @Test void finds() { Finder.find(); }
    @Test void other() { }
}
";
    check(source, &["p.FinderTest#finds"]);
    reaches(&source.replace("p.Impl\n", "-|p.Impl\n+|p.Other\n"), "p.FinderTest#finds");
}

#[test]
fn entry_points_are_loaded_by_their_group() {
    let source = "
//- src/app/__init__.py
//- src/app/plugin.py
class Plugin:
    def __init__(self):
-|        self.name = 1
+|        self.name = 2
//- src/app/host.py
from importlib.metadata import entry_points
def plugins():
    return [point.load()() for point in entry_points(group='app.plugins')]
def other():
    return 1
//- tests/test_host.py
from app import host
def test_plugins():
    assert host.plugins()
def test_other():
    assert host.other()
";
    let toml = "//- pyproject.toml\n[project.entry-points.\"app.plugins\"]\nown = \"app.plugin:Plugin\"\n";
    reaches(&format!("{toml}{source}"), "tests/test_host.py::test_plugins");
    let cfg = "//- setup.cfg\n[options.entry_points]\napp.plugins =\n    own = app.plugin:Plugin\n";
    reaches(&format!("{cfg}{source}"), "tests/test_host.py::test_plugins");
}

#[test]
fn plugins_of_pytest_run_in_every_test_below() {
    let source = "
//- tools/hooks.py
def pytest_runtest_setup(item):
-|    item.x = 1
+|    item.x = 2
//- tests/test_a.py
def test_a():
    pass
";
    let both = [
        "//- pytest.ini\n[pytest]\naddopts = -ra -p tools.hooks\n",
        "//- pyproject.toml\n[project.entry-points.pytest11]\nown = \"tools.hooks\"\n",
    ];
    for told in both {
        check(&format!("{told}{source}"), &["tests/test_a.py::test_a"]);
    }
}

#[test]
fn settings_of_django_are_strings_and_configuration() {
    let source = "
//- shop/__init__.py
//- shop/settings.py
from shop.env import debug
DEBUG = debug()
MIDDLEWARE = ['shop.middleware.Log']
ROOT_URLCONF = 'shop.urls'
//- shop/env.py
def debug():
-|    return 1
+|    return 2
//- shop/middleware.py
class Log:
    def __call__(self, request):
        return request
//- shop/urls.py
urlpatterns = []
//- tests/test_a.py
def test_a(client):
    assert client.get('/')
";
    check(
        &format!("//- pytest.ini\n[pytest]\nDJANGO_SETTINGS_MODULE = shop.settings\n{source}"),
        &["tests/test_a.py::test_a"],
    );
    let manage = "//- tests/conftest.py\nimport os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\n";
    reaches(&format!("{manage}{source}"), "tests/test_a.py::test_a");
    let middleware = format!("//- pytest.ini\n[pytest]\nDJANGO_SETTINGS_MODULE = shop.settings\n{source}")
        .replace("-|    return 1\n+|    return 2", "    return 1")
        .replace("        return request", "-|        return request\n+|        return None");
    reaches(&middleware, "tests/test_a.py::test_a");
}

#[test]
fn resources_are_files_that_strings_name() {
    let java = "
//- src/test/resources/p/data.json
-|[1]
+|[2]
//- src/test/java/p/DataTest.java
package p;
import org.junit.jupiter.api.Test;
class DataTest {
    @Test void reads() { DataTest.class.getResourceAsStream(\"/p/data.json\"); }
    @Test void other() { }
}
";
    check(java, &["p.DataTest#reads"]);
    let script = "
//- package.json
{\"jest\": {}}
//- test/fixtures/a.json
-|[1]
+|[2]
//- test/a.test.js
const fs = require('fs');
const path = require('path');
test('reads', () => { fs.readFileSync(path.join(__dirname, 'fixtures', 'a.json')); });
test('other', () => {});
";
    // By file: what a block names in a string counts for its module.
    check(script, &["test/a.test.js > other", "test/a.test.js > reads"]);
}

#[test]
fn parameters_may_name_code() {
    reaches(
        "
//- shop/__init__.py
//- shop/price.py
def due():
-|    return 1
+|    return 2
//- tests/test_a.py
import importlib
import pytest
@pytest.mark.parametrize('name', ['shop.price'])
def test_named(name):
    importlib.import_module(name).due()
",
        "tests/test_a.py::test_named",
    );
}
