//! Coverage as evidence: what it adds, ranks, and, when trusted, keeps out.

use std::sync::Arc;

use crate::impact::{answer_with, selected};
use ratlas::coverage;
use ratlas::impact::answer::Answer;
use ratlas::impact::policy::Options;

/// `table` is filled by a name that nothing tells, so that `by_name` is not reached.
const SHOP: &str = "
//- src/shop/a.py
def f():
-|    return 1
+|    return 2
def g():
    return 3
//- tests/test_a.py
from shop import a
class TestA:
    def test_f(self):
        assert a.f()
def test_g():
    assert a.g()
def test_f_unless():
    if False:
        a.f()
//- tests/test_b.py
def test_by_name(loaded):
    assert loaded
";

fn with(coverage: &str, trusts_coverage: bool) -> Answer {
    let coverage = Some(Arc::new(coverage::read(coverage.as_bytes()).unwrap()));
    answer_with(SHOP, &Options { coverage, trusts_coverage, ..Options::default() })
}

fn codes(answer: &Answer) -> Vec<&str> {
    answer.warnings.iter().map(|note| note.code).collect()
}

const BOTH: [&str; 2] = ["tests/test_a.py::TestA::test_f", "tests/test_a.py::test_f_unless"];

#[test]
fn what_ran_a_changed_function_is_added_and_comes_first() {
    assert_eq!(selected(&answer_with(SHOP, &Options::default())), BOTH);
    let json = r#"{"files": {"/ci/build/src/shop/a.py": {"contexts": {"1": ["tests/test_a.py::test_g|run"],
        "2": ["tests/test_b.py::test_by_name[x-1]|setup"], "4": ["tests/test_a.py::test_g|run"]}}}}"#;
    let found = with(json, false);
    // The line of a name runs where it is defined, and line 4 is another function's.
    assert_eq!(selected(&found), [BOTH[0], BOTH[1], "tests/test_b.py::test_by_name"]);
    let first = &found.tests[0];
    assert_eq!((first.id.as_str(), first.because), ("tests/test_b.py::test_by_name", "measured"));
    assert_eq!((first.via[0].kind, first.via[0].to.as_str(), first.via[0].line), ("covers", "src/shop/a.py::f", 2));
    assert!(codes(&found).is_empty(), "{:?}", found.warnings);
}

#[test]
fn nothing_is_hidden_unless_coverage_is_trusted() {
    let lcov = "TN:tests.test_a.TestA.test_f\nSF:src/shop/a.py\nDA:2,1\nend_of_record\n\
                TN:test_a.test_f_unless\nSF:src/shop/a.py\nDA:1,1\nDA:4,1\nend_of_record\n";
    assert_eq!(selected(&with(lcov, false)), BOTH);
    let trusted = with(lcov, true);
    assert_eq!(selected(&trusted), BOTH[..1]);
    assert_eq!(trusted.causes.iter().map(|note| note.code).collect::<Vec<_>>(), ["trusted_coverage"]);
    let out = trusted.left_out.iter().find(|test| test.id == BOTH[1]).unwrap();
    assert_eq!(out.because, "not_measured");
    // A test that the coverage does not know stays.
    let unknown = "TN:tests.test_a.TestA.test_f\nSF:src/shop/a.py\nDA:4,1\nend_of_record\n";
    assert_eq!(selected(&with(unknown, true)), BOTH[1..]);
}

#[test]
fn trust_is_for_bodies_of_measured_functions_alone() {
    let lcov = "TN:tests_test_a_py__test_g\nSF:src/shop/a.py\nDA:4,1\nend_of_record\n\
                TN:tests_test_a_py__test_f_unless\nSF:src/shop/a.py\nDA:4,1\nend_of_record\n";
    let coverage = Some(Arc::new(coverage::read(lcov.as_bytes()).unwrap()));
    let options = Options { coverage, trusts_coverage: true, ..Options::default() };
    let signature = SHOP.replace("def f():\n-|    return 1\n+|    return 2", "-|def f():\n+|def f(x=1):\n    return 1");
    let found = answer_with(&signature, &options);
    assert!(selected(&found).contains(&BOTH[1].to_string()));
    assert_eq!(codes(&found), ["coverage_not_trusted"]);
}

#[test]
fn names_that_stand_for_nothing_are_told() {
    let found = with("TN:other\nSF:lib/b.py\nDA:1,1\nend_of_record\nTN:\nSF:/usr/lib/c.py\nDA:1,1\n", false);
    assert_eq!(selected(&found), BOTH);
    assert_eq!(codes(&found), ["coverage_unknown_file", "coverage_unknown_test"]);
    assert_eq!(found.warnings[0].subject, "lib/b.py", "absolute paths are not told");
}

#[test]
fn jacoco_names_files_by_package() {
    let source = "
//- src/main/java/p/A.java
package p;
public class A {
    static int f() {
-|        return 1;
+|        return 2;
    }
}
//- src/test/java/p/ATest.java
package p;
import org.junit.jupiter.api.Test;
class ATest {
    @Test void other() { }
}
";
    let xml = "<report name=\"r\"><sessioninfo id=\"p.ATest.other\" start=\"0\" dump=\"0\"/><package name=\"p\">\
               <sourcefile name=\"A.java\"><line nr=\"4\" mi=\"0\" ci=\"1\" mb=\"0\" cb=\"0\"/></sourcefile></package></report>";
    let coverage = Some(Arc::new(coverage::read(xml.as_bytes()).unwrap()));
    let found = answer_with(source, &Options { coverage, ..Options::default() });
    assert_eq!(selected(&found), ["p.ATest#other"]);
}

/// Written by coverage.py 7 (`--cov-context=test`), with pages of 512 bytes so that rows spill over.
const DATABASES: [(&str, &[u8]); 2] = [
    ("lines", include_bytes!("../fixtures/coverage/lines.db")),
    ("branches", include_bytes!("../fixtures/coverage/branches.db")),
];

#[test]
fn databases_of_coverage_py_are_read() {
    for (name, bytes) in DATABASES {
        let found = coverage::read(bytes).unwrap_or_else(|why| panic!("{name}: {why}"));
        let context = found.contexts.iter().position(|c| c == "tests/test_long.py::test_last|run").expect("a context");
        let file = found.files.iter().position(|f| f.ends_with("pkg/long.py")).expect("a file");
        let row = found.rows.iter().find(|r| (r.context as usize, r.file as usize) == (context, file)).expect("a row");
        let lines: Vec<u32> = (1..7000).filter(|line| row.lines.has(*line)).collect();
        assert_eq!(lines, [6002, 6003], "{name}");
        assert!(found.contexts.len() > 40, "{name}: {}", found.contexts.len());
    }
}

#[test]
fn damaged_databases_are_refused_or_read_but_never_crash() {
    let whole = DATABASES[0].1;
    for at in (0..whole.len()).step_by(37) {
        let mut bytes = whole.to_vec();
        bytes[at] = bytes[at].wrapping_add(101);
        let _ = coverage::read(&bytes);
        let _ = coverage::read(&whole[..at]);
    }
}
