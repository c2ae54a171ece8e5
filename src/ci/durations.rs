//! How long test files and classes took in earlier runs, from JUnit reports.

use std::collections::BTreeMap;

use crate::impact::junit::{Case, cases};

/// Seconds by file or class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Durations {
    /// Names as reports write them, with seconds and the number of tests.
    seen: BTreeMap<String, (f64, usize)>,
}

impl Durations {
    /// Reads reports; what is no report says nothing.
    pub fn of<'x>(reports: impl IntoIterator<Item = &'x str>) -> Self {
        let mut durations = Durations::default();
        for report in reports {
            for case in cases(report) {
                for name in names(&case) {
                    let seen = durations.seen.entry(name).or_default();
                    seen.0 += case.seconds;
                    seen.1 += 1;
                }
            }
        }
        durations
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// The seconds and tests of a file or class.
    pub fn get(&self, name: &str) -> Option<(f64, usize)> {
        self.seen.get(name).copied()
    }
}

/// What a test's file or class may be called: the file that the report names, the class, and the
/// Python file of a dotted class.
fn names(case: &Case) -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |name: String| {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    };
    add(case.test.file.trim_start_matches("./").to_owned());
    let class = case.test.class.trim();
    add(class.trim_start_matches("./").to_owned());
    if !class.contains(['/', ' ']) {
        // `tests.test_a.TestX` lies in tests/test_a.py; without a class, in itself.
        let parts: Vec<&str> = class.split('.').collect();
        for n in (1..=parts.len()).rev() {
            add(format!("{}.py", parts[..n].join("/")));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::Durations;

    #[test]
    fn seconds_add_up_by_file_and_class() {
        let report = "<testsuites><testcase classname=\"tests.test_a.TestX\" name=\"t\" time=\"1.5\"/>\
                      <testcase classname=\"tests.test_a\" name=\"u\" time=\"0.5\"><failure/></testcase>\
                      <testcase classname=\"p.C\" name=\"v\" time=\"2\"/>\
                      <testcase file=\"./web/a.test.ts\" classname=\"a b\" name=\"w\" time=\"NaN\"/></testsuites>";
        let durations = Durations::of([report, "no report"]);
        assert_eq!(durations.get("tests/test_a.py"), Some((2.0, 2)));
        assert_eq!(durations.get("p.C"), Some((2.0, 1)));
        assert_eq!(durations.get("web/a.test.ts"), Some((0.0, 1)));
        assert!(Durations::default().is_empty());
    }
}
