//! What a selection would have missed: an answer held against a run's report in JUnit's XML.

use std::collections::BTreeSet;

use crate::base::xml::{attribute, tag_end};
use crate::impact::answer::Answer;

/// A test of a report.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reported {
    pub class: String,
    pub name: String,
    pub file: String,
}

/// How a selection stands against a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgment {
    /// Sorted ids of failed tests that are selected.
    pub caught: BTreeSet<String>,
    /// Failed tests that are known and were left out.
    pub missed: BTreeSet<String>,
    /// Failed tests that no known test stands for, as the report writes them.
    pub unknown: BTreeSet<String>,
}

/// Whether a text is a report of a run: it has the root that JUnit's XML has. One without a test is.
pub fn is_report(xml: &str) -> bool {
    ["<testsuites", "<testsuite"].into_iter().any(|root| {
        let after = xml.split_once(root).and_then(|(_, rest)| rest.chars().next());
        after.is_some_and(|next| next.is_whitespace() || matches!(next, '>' | '/'))
    })
}

/// Holds an answer against the failed tests of a report. Under `--shadow`, what would have been
/// selected is judged.
pub fn judge(answer: &Answer, xml: &str) -> Judgment {
    let ids: Vec<&str> = match &answer.shadow {
        Some(shadow) => shadow.tests.iter().map(String::as_str).collect(),
        None => answer.tests.iter().map(|t| t.id.as_str()).collect(),
    };
    let selected: BTreeSet<&str> = ids.into_iter().collect();
    let in_or_out = answer.tests.iter().map(|t| (t.id.as_str(), t.file.as_str()));
    let known: Vec<(&str, &str)> =
        in_or_out.chain(answer.left_out.iter().map(|t| (t.id.as_str(), t.file.as_str()))).collect();
    let mut out = Judgment::default();
    for failed in failures(xml) {
        let is_it = |(id, file): &(&str, &str)| stands_for(id, file, &failed);
        let found: Vec<&str> = known.iter().copied().filter(is_it).map(|(id, _)| id).collect();
        match (found.iter().find(|id| selected.contains(**id)), found.first()) {
            (Some(id), _) => out.caught.insert((*id).to_string()),
            (None, Some(id)) => out.missed.insert((*id).to_string()),
            (None, None) => out.unknown.insert(format!("{} {}", failed.class, failed.name).trim().to_string()),
        };
    }
    out
}

/// Whether a test's id is the one that a report writes as class and name. `file`: the test's, with
/// which ids of all but Java begin; it may hold what divides ids.
fn stands_for(id: &str, file: &str, test: &Reported) -> bool {
    // Parameters stand behind a name in brackets or parentheses.
    let bare = test.name.split(['[', '(']).next().unwrap_or(&test.name).trim_end();
    let within = id.strip_prefix(file);
    if within.is_none()
        && let Some((class, method)) = id.split_once('#')
    {
        return class == test.class.trim() && (method == bare || method == test.name);
    }
    if let Some(names) = within.and_then(|rest| rest.strip_prefix("::")) {
        let dotted = file.trim_end_matches(".py").replace('/', ".");
        let (class, name) = names.rsplit_once("::").unwrap_or(("", names));
        let whole = if class.is_empty() { dotted } else { format!("{dotted}.{}", class.replace("::", ".")) };
        let is_class = test.class == whole
            || whole.ends_with(&format!(".{}", test.class))
            || test.class.ends_with(&format!(".{whole}"));
        return name == bare && is_class;
    }
    let Some(titles) = within.and_then(|rest| rest.strip_prefix(" > ")) else {
        return id == test.file || test.class.contains(id);
    };
    // Jest writes titles joined by blanks, Vitest by ` > `, either in the name or in the class.
    let joined = titles.replace(" > ", " ");
    let written = [test.name.clone(), format!("{} {}", test.class, test.name)].map(|t| t.replace(" > ", " "));
    let is_file = [&test.file, &test.class].into_iter().any(|text| text.ends_with(file)) || !test.file.contains('.');
    is_file && written.iter().any(|text| *text == joined || text.ends_with(&format!(" {joined}")))
}

/// A test of a report, how long it took, and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub test: Reported,
    /// Seconds; 0 where the report says none.
    pub seconds: f64,
    pub is_failed: bool,
}

/// The failed tests of a report, in its order. Text that is no such report holds none.
pub fn failures(xml: &str) -> Vec<Reported> {
    cases(xml).into_iter().filter(|case| case.is_failed).map(|case| case.test).collect()
}

/// The tests of a report, in its order. Text that is no such report holds none.
pub fn cases(xml: &str) -> Vec<Case> {
    let mut out = Vec::new();
    let mut rest = xml;
    while let Some((_, after)) = rest.split_once("<testcase") {
        let end = tag_end(after);
        let (tag, tail) = after.split_at(end);
        let is_closed = tag.ends_with('/');
        let body = if is_closed { "" } else { tail.split("</testcase>").next().unwrap_or("") };
        let value = |name: &str| attribute(tag, name);
        let seconds = value("time").parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0).unwrap_or(0.0);
        out.push(Case {
            test: Reported { class: value("classname"), name: value("name"), file: value("file") },
            seconds,
            is_failed: body.contains("<failure") || body.contains("<error"),
        });
        rest = tail;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Reported, failures, is_report, stands_for};

    #[test]
    fn reports_of_each_runner_are_read() {
        let xml = "<testsuite>\n<testcase classname=\"tests.test_a.TestX\" name=\"test_y[1]\" time=\"0\"><failure message=\"a &gt; b\"/></testcase>\n<testcase classname=\"x\" name='ok > fine'/><testcase name=\"z\" classname=\"p.C\"><error/></testcase></testsuite>";
        let found = failures(xml);
        assert_eq!(found.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["test_y[1]", "z"]);
        assert!(stands_for("tests/test_a.py::TestX::test_y", "tests/test_a.py", &found[0]));
        assert!(!stands_for("tests/test_b.py::TestX::test_y", "tests/test_b.py", &found[0]));
        assert!(stands_for("p.C#z", "src/test/java/p/C.java", &found[1]));
        let jest = Reported { class: "outer inner".into(), name: "outer inner".into(), file: "".into() };
        assert!(stands_for("src/a.test.ts > outer > inner", "src/a.test.ts", &jest));
        let vitest = Reported { class: "src/a.test.ts".into(), name: "outer > inner".into(), file: "".into() };
        assert!(stands_for("src/a.test.ts > outer > inner", "src/a.test.ts", &vitest));
    }

    #[test]
    fn a_file_whose_name_divides_ids_is_told_apart() {
        let failed = Reported { class: "tests.a::b.test_c".into(), name: "test_d".into(), file: "".into() };
        assert!(stands_for("tests/a::b/test_c.py::test_d", "tests/a::b/test_c.py", &failed));
        assert!(!stands_for("tests/a.py::b::test_d", "tests/a.py", &failed));
        let titled = Reported { class: "x > y/a.test.ts".into(), name: "inner".into(), file: "".into() };
        assert!(stands_for("x > y/a.test.ts > inner", "x > y/a.test.ts", &titled));
    }

    #[test]
    fn a_report_has_its_root() {
        for text in ["<testsuites/>", "<?xml version=\"1.0\"?>\n<testsuite name=\"a\"></testsuite>", "<testsuite>"] {
            assert!(is_report(text), "{text}");
        }
        for text in ["", "{}", "<html></html>", "<testsuite", "<testsuitable>", "FAILED tests/a.py"] {
            assert!(!is_report(text), "{text}");
        }
    }

    #[test]
    fn text_that_is_no_report_holds_nothing() {
        for text in ["", "<testcase", "<testcase name=\"a", "<testcase name=\"a\">", "\u{0}<testcase/>"] {
            assert!(failures(text).is_empty(), "{text:?}");
        }
    }
}
