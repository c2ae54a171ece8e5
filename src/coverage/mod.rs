//! Coverage: which lines each test ran, as tools measured them.
//!
//! Read from coverage.py's database (`coverage run --contexts`, `pytest --cov-context=test`) or its
//! JSON (`coverage json --show-contexts`), from lcov tracefiles with a `TN:` a test, and from
//! JaCoCo's XML of one session. Which test a context is, and which file a path, is told by
//! `impact`, which knows them. Bytes are hostile: lengths are checked, nothing recurses.

mod jacoco;
mod json;
mod lcov;
mod python;
mod sqlite;

use std::collections::BTreeMap;

/// Files of coverage beyond this are refused: 512 MiB, which is read whole.
pub const MAX_BYTES: u64 = 512 << 20;

/// Lines beyond this are no lines of a source that is indexed (1 MB at most).
const MAX_LINE: u32 = 1 << 20;

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Names of tests as the tool writes them; unique. The empty one stands for lines that no test
    /// is named for.
    pub contexts: Vec<String>,
    /// Paths as the tool writes them; unique.
    pub files: Vec<String>,
    /// One a context and file, sorted.
    pub rows: Vec<Row>,
}

/// The lines of a file that ran in a context.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// Positions in [`Coverage::contexts`] and [`Coverage::files`].
    pub context: u32,
    pub file: u32,
    pub lines: Lines,
}

/// A set of lines: line *n* is bit *n* mod 8 of byte *n* / 8, as in coverage.py's `numbits`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lines(Vec<u8>);

impl Lines {
    /// Whether a 1-based line is in it.
    pub fn has(&self, line: u32) -> bool {
        self.0.get(line as usize / 8).is_some_and(|byte| byte >> (line % 8) & 1 == 1)
    }

    fn add(&mut self, line: u32) {
        if line == 0 || line > MAX_LINE {
            return;
        }
        let at = line as usize / 8;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] |= 1 << (line % 8);
    }

    fn add_all(&mut self, other: &[u8]) {
        let other = &other[..other.len().min(MAX_LINE as usize / 8 + 1)];
        if self.0.len() < other.len() {
            self.0.resize(other.len(), 0);
        }
        self.0.iter_mut().zip(other).for_each(|(mine, byte)| *mine |= byte);
    }
}

/// Reads a file of coverage, whatever tool wrote it.
///
/// # Errors
/// A sentence on what it is not.
pub fn read(bytes: &[u8]) -> Result<Coverage, &'static str> {
    let text = || std::str::from_utf8(bytes).map_err(|_| "it is neither text nor a database of coverage.py");
    if bytes.starts_with(sqlite::MAGIC) {
        return python::read(bytes);
    }
    let start = text()?.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with('{') {
        json::read(start)
    } else if start.starts_with('<') {
        jacoco::read(start)
    } else {
        lcov::read(start)
    }
}

impl Coverage {
    /// Lays another measurement beside this one.
    pub fn add(&mut self, other: &Coverage) {
        let mut all = Draft::default();
        for coverage in [&*self, other] {
            for row in &coverage.rows {
                let context = &coverage.contexts[row.context as usize];
                let file = &coverage.files[row.file as usize];
                all.lines(context, file).add_all(&row.lines.0);
            }
        }
        *self = all.finish();
    }
}

/// What is being read: lines by context and file.
#[derive(Default)]
struct Draft {
    contexts: BTreeMap<String, u32>,
    files: BTreeMap<String, u32>,
    rows: BTreeMap<(u32, u32), Lines>,
}

impl Draft {
    fn lines(&mut self, context: &str, file: &str) -> &mut Lines {
        fn number(known: &mut BTreeMap<String, u32>, name: &str) -> u32 {
            if let Some(at) = known.get(name) {
                return *at;
            }
            let at = known.len() as u32;
            known.insert(name.to_string(), at);
            at
        }
        let key = (number(&mut self.contexts, context), number(&mut self.files, file));
        self.rows.entry(key).or_default()
    }

    fn finish(self) -> Coverage {
        fn names(known: BTreeMap<String, u32>) -> Vec<String> {
            let mut names = vec![String::new(); known.len()];
            for (name, at) in known {
                names[at as usize] = name;
            }
            names
        }
        let rows = self.rows.into_iter().map(|((context, file), lines)| Row { context, file, lines }).collect();
        Coverage { contexts: names(self.contexts), files: names(self.files), rows }
    }
}

#[cfg(test)]
mod tests {
    use super::{Coverage, read};

    /// `context file: lines`, sorted.
    fn rows(found: &Coverage) -> Vec<String> {
        let mut out: Vec<String> = found
            .rows
            .iter()
            .map(|row| {
                let lines: Vec<String> = (1..100).filter(|n| row.lines.has(*n)).map(|n: u32| n.to_string()).collect();
                let (context, file) = (&found.contexts[row.context as usize], &found.files[row.file as usize]);
                format!("{context} {file}: {}", lines.join(" "))
            })
            .collect();
        out.sort();
        out
    }

    #[test]
    fn lcov_names_a_test_before_its_files() {
        let text =
            "TN:test_a\nSF:/ci/p/a.ts\nDA:1,1\nDA:2,0\nDA:9,3,x\nend_of_record\nTN:\nSF:b.ts\nDA:1,1\nend_of_record\n";
        assert_eq!(rows(&read(text.as_bytes()).unwrap()), [" b.ts: 1", "test_a /ci/p/a.ts: 1 9"]);
        assert!(read(b"hello").is_err());
    }

    #[test]
    fn json_of_coverage_py_has_contexts_by_line() {
        let text = r#"{"meta": {"show_contexts": true}, "files": {"src/a.py": {"contexts": {"3": ["t.py::a|run", ""], "4": ["t.py::a|run"]}}}}"#;
        assert_eq!(rows(&read(text.as_bytes()).unwrap()), [" src/a.py: 3", "t.py::a|run src/a.py: 3 4"]);
        assert!(read(b"{\"files\": {\"a.py\": {\"executed_lines\": [1]}}}").is_err(), "no contexts, nothing to learn");
        assert!(read(b"{").is_err());
    }

    #[test]
    fn jacoco_names_the_session_of_a_report() {
        let text = |sessions: &str| {
            format!(
                "<?xml version=\"1.0\"?><report name=\"x\">{sessions}<package name=\"p/q\"><class name=\"p/q/A\"/>\
                 <sourcefile name=\"A.java\"><line nr=\"3\" mi=\"0\" ci=\"2\"/><line nr=\"4\" mi=\"1\" ci=\"0\"/>\
                 </sourcefile></package></report>"
            )
        };
        let one = read(text("<sessioninfo id=\"p.q.ATest#t\" start=\"1\" dump=\"2\"/>").as_bytes()).unwrap();
        assert_eq!(rows(&one), ["p.q.ATest#t p/q/A.java: 3"]);
        let two = "<sessioninfo id=\"a\"/><sessioninfo id=\"b\"/>";
        assert_eq!(rows(&read(text(two).as_bytes()).unwrap()), [" p/q/A.java: 3"]);
    }

    #[test]
    fn measurements_lie_beside_each_other() {
        let mut one = read(b"TN:a\nSF:x\nDA:1,1\n").unwrap();
        one.add(&read(b"TN:a\nSF:x\nDA:9,1\nend_of_record\nTN:b\nSF:x\nDA:2,1\n").unwrap());
        assert_eq!(rows(&one), ["a x: 1 9", "b x: 2"]);
    }
}
