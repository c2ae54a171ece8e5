//! Arguments of runners: quoting, all, nothing, packages, files of arguments.

use crate::impact::{answer, answer_with};
use ratlas::base::path::RepoPath;
use ratlas::impact::answer::{Answer, Mode};
use ratlas::impact::argument_file::argument_file;
use ratlas::impact::policy::Options;
use ratlas::impact::runners::{RunnerFormat, in_package, lines};

const FORMATS: [RunnerFormat; 8] = [
    RunnerFormat::Pytest,
    RunnerFormat::Jest,
    RunnerFormat::Vitest,
    RunnerFormat::Mocha,
    RunnerFormat::Node,
    RunnerFormat::Playwright,
    RunnerFormat::Maven,
    RunnerFormat::Gradle,
];

fn all(source: &str) -> Answer {
    answer_with(source, &Options { run_all: vec!["**".into()], ..Options::default() })
}

/// A change that a test in each of `paths` names.
fn python(paths: &[&str]) -> String {
    let mut text = "//- app.py\ndef f():\n-|    return 1\n+|    return 2\ndef g():\n    return 3\n".to_string();
    for path in paths {
        let test = "import app\n\ndef test_f():\n    app.f()\n\ndef test_g():\n    app.g()\n";
        text.push_str(&format!("//- {path}\n{test}"));
    }
    text
}

#[test]
fn pytest_reads_each_line_as_one_argument() {
    let paths = ["tests/test_a b.py", "tests/test_é.py", "-x/test_c.py", "@y/test_d.py"];
    assert_eq!(
        lines(&answer(&python(&paths)), RunnerFormat::Pytest),
        ["./-x/test_c.py::test_f", "./@y/test_d.py::test_f", "tests/test_a b.py::test_f", "tests/test_é.py::test_f"]
    );
    // Brackets are parameters to pytest, wherever they stand: the folder runs in the file's place.
    let odd = ["tests/a[1]/test_e.py", "b[2]/test_g.py", "tests/test_[3].py"];
    assert_eq!(lines(&answer(&python(&odd)), RunnerFormat::Pytest), [".", "tests"]);
}

#[test]
fn a_parametrized_test_is_named_without_its_parameters() {
    let source = "
//- app.py
def f():
-|    return 1
+|    return 2
//- tests/test_a.py
import pytest
import app
@pytest.mark.parametrize('x', ['a b', '[c]', 'é'])
def test_f(x):
    assert app.f()
class TestX:
    class TestY:
        def test_z(self):
            app.f()
";
    let expected = ["tests/test_a.py::TestX::TestY::test_z", "tests/test_a.py::test_f"];
    assert_eq!(lines(&answer(source), RunnerFormat::Pytest), expected);
}

/// A change that no test can see.
const DOCUMENTS: &str = "
//- README.md
-|one
+|two
//- tests/test_a.py
def test_a(): pass
";

#[test]
fn all_filters_nothing_and_nothing_is_well_formed() {
    let source = python(&["tests/test_a.py"]);
    for format in FORMATS {
        let whole = lines(&all(&source), format);
        assert!(whole.iter().all(|line| !line.contains("test_a")), "{format:?}: what is not known runs too: {whole:?}");
        let none = lines(&answer(DOCUMENTS), format);
        assert!(!none.is_empty(), "{format:?}: an empty selection would be no filter");
        assert_ne!(whole, none, "{format:?}");
    }
    // Tests of one runner are nothing to the others.
    let found = answer(&source);
    for format in FORMATS.into_iter().skip(1) {
        assert_eq!(lines(&found, format), lines(&answer(DOCUMENTS), format), "{format:?}");
    }
}

fn javascript(runner: &str, path: &str) -> String {
    format!(
        "
//- package.json
{{\"scripts\": {{\"test\": \"{runner}\"}}}}
//- a.js
export const f = () => {{
-|  return 1;
+|  return 2;
}};
//- {path}
import {{ f }} from '{}a.js';
describe('x', () => {{ it('is\\n one', () => {{ f(); }}); }});
",
        "../".repeat(path.matches('/').count()).to_string() + if path.contains('/') { "" } else { "./" }
    )
}

#[test]
fn paths_of_javascript_are_no_patterns() {
    let path = "t/a (b)[c].test.js";
    let print = |runner: &str, format| lines(&answer(&javascript(runner, path)), format);
    assert_eq!(print("jest", RunnerFormat::Jest), ["--runTestsByPath", path]);
    assert_eq!(print("vitest run", RunnerFormat::Vitest), [path]);
    assert_eq!(print("mocha", RunnerFormat::Mocha), [path]);
    assert_eq!(print("node --test", RunnerFormat::Node), ["t/a (b)?c?.test.js"]);
    let dashed = answer(&javascript("vitest run", "-t.test.js"));
    assert_eq!(lines(&dashed, RunnerFormat::Vitest), ["./-t.test.js"]);
    assert_eq!(lines(&dashed, RunnerFormat::Files), ["-t.test.js"]);
    // A title over two lines is one line.
    let ids = lines(&answer(&javascript("jest", path)), RunnerFormat::Tests);
    assert_eq!(ids.len(), 1, "{ids:?}");
    let browser = "
//- a.spec.ts
+|import { test } from '@playwright/test';
+|test('opens', async () => {});
";
    assert_eq!(lines(&answer(browser), RunnerFormat::Playwright), ["a\\.spec\\.ts"]);
}

const JAVA: &str = "
//- src/main/java/p/A.java
package p;
public class A {
    public static int f() {
-|        return 1;
+|        return 2;
    }
    public static int g() { return 3; }
}
//- src/test/java/p/OneTest.java
package p;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
class OneTest {
    @Test void pays() { A.f(); }
    @Test void names() { A.g(); }
    @Nested class Inner {
        @Test void deep() { A.f(); }
    }
}
//- src/test/java/p/TwoTest.java
package p;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
class TwoTest {
    @ParameterizedTest @ValueSource(ints = {1, 2}) void each(int n) { A.f(); }
}
";

#[test]
fn java_is_filtered_by_class_where_all_of_it_is_selected() {
    let found = answer(JAVA);
    assert_eq!(
        lines(&found, RunnerFormat::Maven),
        [
            "-Dtest=p.OneTest#pays*,p.OneTest$Inner,p.TwoTest",
            "-Dsurefire.failIfNoSpecifiedTests=false",
            "-DfailIfNoTests=false"
        ]
    );
    assert_eq!(
        lines(&found, RunnerFormat::Gradle),
        ["--tests", "p.OneTest.pays*", "--tests", "p.OneTest$Inner", "--tests", "p.TwoTest"]
    );
}

#[test]
fn long_lists_go_through_a_file_that_the_runner_reads() {
    let found = answer(JAVA);
    let maven = argument_file(&found, RunnerFormat::Maven, "out/tests.txt").unwrap();
    assert_eq!(maven.lines[0], "-Dsurefire.includesFile=out/tests.txt");
    assert_eq!(maven.content, "p.OneTest#pays*\np.OneTest$Inner\np.TwoTest\n");
    let gradle = argument_file(&found, RunnerFormat::Gradle, "f.gradle").unwrap();
    assert_eq!(gradle.lines, ["--init-script", "f.gradle"]);
    assert!(gradle.content.contains("includeTestsMatching 'p.OneTest$Inner'"), "{}", gradle.content);
    assert!(gradle.content.contains("failOnNoMatchingTests = false"));
    let pytest = argument_file(&answer(&python(&["t/test_a.py"])), RunnerFormat::Pytest, "list").unwrap();
    assert_eq!((pytest.lines, pytest.content.as_str()), (vec!["@list".to_string()], "t/test_a.py::test_f\n"));
    // All and nothing need no list.
    let whole = argument_file(&all(JAVA), RunnerFormat::Maven, "list").unwrap();
    assert_eq!((whole.lines.len(), whole.content.len()), (0, 0));
    let nothing = argument_file(&found, RunnerFormat::Pytest, "list").unwrap();
    assert_eq!(nothing.lines, lines(&found, RunnerFormat::Pytest));
    assert!(argument_file(&found, RunnerFormat::Vitest, "list").is_none());
}

#[test]
fn a_package_has_its_tests_relative_to_its_folder() {
    let source = "
//- packages/a/package.json
{\"scripts\": {\"test\": \"vitest\"}}
//- packages/a/f.ts
export function f() {
-|  return 1;
+|  return 2;
}
//- packages/a/f.test.ts
import { test } from 'vitest';
import { f } from './f';
test('f', () => { f(); });
//- packages/b/package.json
{\"scripts\": {\"test\": \"vitest\"}}
//- packages/b/g.test.ts
import { test } from 'vitest';
import { f } from '../a/f';
test('g', () => { f(); });
//- packages/c/package.json
{}
";
    let found = answer(source);
    let of = |path: &str, format| lines(&in_package(&found, &RepoPath::new(path).unwrap()), format);
    assert_eq!(of("packages/a", RunnerFormat::Vitest), ["f.test.ts"]);
    assert_eq!(of("packages/b", RunnerFormat::Tests), ["g.test.ts > g"]);
    let none = in_package(&found, &RepoPath::new("packages/c").unwrap());
    assert_eq!((none.mode, lines(&none, RunnerFormat::Vitest).len()), (Mode::None, 2));
}
