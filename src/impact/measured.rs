//! Coverage as evidence: tests that were seen to run the lines of a changed symbol.
//!
//! A measurement is of the tree it was made on: the base of a diff, the tree itself for a target.
//! It adds tests and ranks them first; only where it is trusted does it keep tests out, and then
//! only where the change is of bodies of functions in files that it knows.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::base::path::RepoPath;
use crate::coverage::Coverage;
use crate::facts::delta::Changes;
use crate::facts::model::SymbolKind;
use crate::facts::table::Id;
use crate::impact::answer::{Note, ViaStep};
use crate::impact::change::TreeChange;
use crate::impact::decide::{Because, Chain, Draft, Ground};
use crate::impact::reach::CERTAIN;
use crate::impact::seeds::{Origin, label};
use crate::impact::space::Node;
use crate::impact::tests::Tests;
use crate::lang::testing::Runner;
use crate::view::{FileIdx, SymbolRef, View};

impl Draft<'_> {
    /// Selects the tests that ran a changed symbol of the base.
    pub(super) fn select_measured(
        &mut self,
        origins: &[Origin],
        change: &TreeChange,
        old: &Ground<'_>,
        new: &Ground<'_>,
    ) {
        let Some(coverage) = self.options.coverage.clone() else { return };
        let changed: Vec<SymbolRef> = change
            .symbols
            .iter()
            .filter(|row| row.changes.any(Changes::BODY) || row.changes.is_contract())
            .filter_map(|row| row.base)
            .collect();
        let found = Measured::new(&coverage, &old.atlas.view, new);
        self.tell_unknown(&found);
        self.add_measured(&found, &changed, &old.atlas.view);
        if self.options.trusts_coverage {
            self.keep_out(&found, origins, change);
        }
    }

    /// Selects the tests that ran one of some symbols.
    pub(super) fn select_measured_targets(&mut self, targets: &[SymbolRef], ground: &Ground<'_>) {
        let Some(coverage) = self.options.coverage.clone() else { return };
        let found = Measured::new(&coverage, &ground.atlas.view, ground);
        self.tell_unknown(&found);
        self.add_measured(&found, targets, &ground.atlas.view);
    }

    fn add_measured(&mut self, found: &Measured<'_>, changed: &[SymbolRef], view: &View) {
        for at in changed {
            let to = label(view, Node::Symbol(*at));
            for (test, line) in found.runners_of(*at, view) {
                let step = ViaStep {
                    from: found.tests.tests[test].id.clone(),
                    to: to.clone(),
                    kind: "covers",
                    file: view.file(at.file).path.to_string(),
                    line,
                };
                let chain = Chain { confidence: CERTAIN, distance: 1, via: vec![step] };
                self.select(test, Because::Measured, Some(chain));
            }
        }
    }

    /// Under `--trust-coverage`: drops what is selected by links alone and was measured, without
    /// having run what changed. Nothing is dropped where a change is more than bodies of functions
    /// that were measured: what runs at import is seen with whichever test imports first.
    fn keep_out(&mut self, found: &Measured<'_>, origins: &[Origin], change: &TreeChange) {
        let is_body = |row: &crate::impact::change::SymbolChange| {
            row.base.zip(row.head).is_some_and(|(base, _)| {
                let kind = found.view.symbol(base).kind;
                !row.changes.is_contract()
                    && matches!(kind, SymbolKind::Function | SymbolKind::Method)
                    && found.files.contains_key(&base.file)
            })
        };
        let odd = change.symbols.iter().any(|row| !is_body(row))
            || origins.iter().any(|origin| origin.because.is_some() || origin.symbol.is_none());
        if odd {
            let sentence = "more changed than bodies of functions that were measured: no test is left out by coverage";
            self.answer.warnings.push(Note::new("coverage_not_trusted", "", sentence));
            return;
        }
        let by_links = |because: Because| matches!(because, Because::Reached | Because::Imports);
        let dropped: Vec<usize> = self
            .selection
            .iter()
            .filter(|(test, (because, _))| by_links(*because) && found.known.contains(test))
            .map(|(test, _)| *test)
            .collect();
        if dropped.is_empty() {
            return;
        }
        let sentence = format!("{} tests are left out since coverage did not see them run the change", dropped.len());
        self.answer.causes.push(Note::new("trusted_coverage", "", sentence));
        for test in dropped {
            self.selection.remove(&test);
            self.unmeasured.insert(test);
        }
    }

    fn tell_unknown(&mut self, found: &Measured<'_>) {
        for (code, (n, example), sentence) in [
            (
                "coverage_unknown_test",
                &found.unknown_tests,
                "names of tests in the coverage are no tests here, as this",
            ),
            ("coverage_unknown_file", &found.unknown_files, "paths in the coverage are no files here, as this"),
        ] {
            if let (Some(example), true) = (example, *n > 0) {
                self.answer.warnings.push(Note::new(code, example.as_str(), format!("{n} {sentence}")));
            }
        }
    }
}

/// A measurement held against the tests of the head and the files of the tree it was made on.
struct Measured<'a> {
    coverage: &'a Coverage,
    view: &'a View,
    tests: &'a Tests,
    /// The tests of each context.
    contexts: Vec<Vec<usize>>,
    /// Rows of the coverage by file.
    files: BTreeMap<FileIdx, Vec<usize>>,
    /// Tests that some context stands for.
    known: BTreeSet<usize>,
    /// How many contexts and paths stand for nothing, and the first of each.
    unknown_tests: (usize, Option<String>),
    unknown_files: (usize, Option<String>),
}

impl<'a> Measured<'a> {
    fn new(coverage: &'a Coverage, view: &'a View, new: &'a Ground<'_>) -> Self {
        let names = Names::of(&new.tests, &new.atlas.view);
        let contexts: Vec<Vec<usize>> = coverage.contexts.iter().map(|name| names.find(name)).collect();
        let paths = Paths::of(view);
        let places: Vec<Option<FileIdx>> = coverage.files.iter().map(|path| paths.find(path, view)).collect();
        let mut files: BTreeMap<FileIdx, Vec<usize>> = BTreeMap::new();
        for (at, row) in coverage.rows.iter().enumerate() {
            if let Some(file) = places[row.file as usize] {
                files.entry(file).or_default().push(at);
            }
        }
        let known = contexts.iter().flatten().copied().collect();
        let unknown = |names: Vec<&String>| {
            let first = names.iter().min().map(|name| crate::report::sanitize::line(name, 160));
            (names.len(), first)
        };
        let no_tests =
            coverage.contexts.iter().zip(&contexts).filter(|(name, tests)| !name.is_empty() && tests.is_empty());
        // A path outside of the repository (a library) is none of it, and may be absolute: not told.
        let no_files = coverage.files.iter().zip(&places).filter(|(path, place)| place.is_none() && !is_absolute(path));
        let (no_tests, no_files) = (no_tests.map(|(n, _)| n).collect(), no_files.map(|(n, _)| n).collect());
        Measured {
            coverage,
            view,
            tests: &new.tests,
            known,
            files,
            unknown_tests: unknown(no_tests),
            unknown_files: unknown(no_files),
            contexts,
        }
    }

    /// The tests that ran a line of a symbol's own, each with the first such line.
    fn runners_of(&self, at: SymbolRef, view: &View) -> BTreeMap<usize, u32> {
        let lines = own_lines(view, at);
        let mut out = BTreeMap::new();
        for row in self.files.get(&at.file).into_iter().flatten().map(|row| &self.coverage.rows[*row]) {
            let Some(line) = lines.iter().copied().find(|line| row.lines.has(*line)) else { continue };
            for test in &self.contexts[row.context as usize] {
                let known = out.entry(*test).or_insert(line);
                *known = (*known).min(line);
            }
        }
        out
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':')
}

/// The lines of a symbol that run when it does: those of definitions within it are theirs, and
/// the line of its name runs where it is defined.
fn own_lines(view: &View, at: SymbolRef) -> Vec<u32> {
    let facts = view.facts(at.file);
    let symbol = facts.symbol(at.symbol);
    let first = if symbol.end_line > symbol.name_line && at.symbol.index() != 0 {
        symbol.name_line + 1
    } else {
        symbol.start_line
    };
    let within: Vec<(u32, u32)> = facts
        .symbols
        .iter()
        .enumerate()
        .filter(|(idx, s)| {
            s.parent == Some(at.symbol) && *idx != at.symbol.index() && (s.kind.is_function() || s.kind.is_class())
        })
        .map(|(_, s)| (s.start_line, s.end_line))
        .collect();
    (first..=symbol.end_line).filter(|line| !within.iter().any(|(from, to)| (from..=to).contains(&line))).collect()
}

/// Tests by every name that a tool may give them.
struct Names(HashMap<String, Vec<usize>>);

impl Names {
    fn of(tests: &Tests, view: &View) -> Self {
        let mut names: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, test) in tests.tests.iter().enumerate() {
            let path = &view.file(test.file).path;
            let mut keys = vec![test.id.clone(), path.to_string(), munged(&test.id), munged(path.as_str())];
            match test.runner {
                Runner::Pytest | Runner::Unittest => keys.extend(dotted(&test.id)),
                Runner::Junit | Runner::TestNg => {
                    let (class, method) = test.id.split_once('#').unwrap_or((&test.id, ""));
                    keys.extend([class.to_string(), format!("{class}.{method}"), munged(class)]);
                }
                _ => {
                    // Titles alone, as reporters join them.
                    let titles = test.id.strip_prefix(path.as_str()).and_then(|rest| rest.strip_prefix(" > "));
                    keys.extend(
                        titles
                            .into_iter()
                            .flat_map(|t| [t.to_string(), t.replace(" > ", " "), munged(&t.replace(" > ", " "))]),
                    );
                }
            }
            keys.sort();
            keys.dedup();
            for key in keys {
                names.entry(key).or_default().push(at);
            }
        }
        Names(names)
    }

    /// The tests that a context names: `id`, `id|run`, `label|id|setup`, with parameters behind or not.
    fn find(&self, context: &str) -> Vec<usize> {
        context
            .split('|')
            .chain([context])
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .find_map(|part| {
                let bare = part.split(['[', '(']).next().unwrap_or(part);
                [part, bare].into_iter().find_map(|name| self.0.get(name))
            })
            .cloned()
            .unwrap_or_default()
    }
}

/// As tools write names that may hold letters, digits and `_` only.
fn munged(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// `pkg.test_a.TestX.test_y` of `src/pkg/test_a.py::TestX::test_y`, from every folder on.
fn dotted(id: &str) -> Vec<String> {
    let Some((path, names)) = id.split_once("::") else { return Vec::new() };
    let names = names.replace("::", ".");
    let parts: Vec<&str> = path.trim_end_matches(".py").split('/').collect();
    (0..parts.len()).map(|from| format!("{}.{names}", parts[from..].join("."))).collect()
}

/// The files of a view by name.
struct Paths<'v>(HashMap<&'v str, Vec<FileIdx>>);

impl<'v> Paths<'v> {
    fn of(view: &'v View) -> Self {
        let mut by_name: HashMap<&str, Vec<FileIdx>> = HashMap::new();
        for file in view.indices() {
            by_name.entry(view.file(file).path.file_name()).or_default().push(file);
        }
        Paths(by_name)
    }

    /// The file that a path of a tool means: the one path is the end of the other, and no second
    /// file fits as well.
    fn find(&self, path: &str, view: &View) -> Option<FileIdx> {
        let path = path.replace('\\', "/");
        let path = path.trim_start_matches("./");
        let name = path.rsplit('/').next()?;
        let ends = |long: &str, short: &str| {
            long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let mut best: Option<(usize, FileIdx)> = None;
        let mut is_tie = false;
        for file in self.0.get(name)? {
            let own: &RepoPath = &view.file(*file).path;
            if !ends(path, own.as_str()) && !ends(own.as_str(), path) {
                continue;
            }
            let n_common = own.as_str().len().min(path.len());
            match best {
                Some((n, _)) if n > n_common => {}
                Some((n, _)) if n == n_common => is_tie = true,
                _ => (best, is_tie) = (Some((n_common, *file)), false),
            }
        }
        best.filter(|_| !is_tie).map(|(_, file)| file)
    }
}
