//! The answer: which tests, why, and how sure. Plain values, sorted; the formats read them.

use std::collections::BTreeSet;

use crate::base::path::RepoPath;
use crate::facts::delta::Changes;
use crate::impact::change::FileStatus;
use crate::impact::policy::{Policy, ReasonCode};
use crate::impact::reach::CERTAIN;
use crate::lang::testing::Runner;

/// How much is to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The listed tests.
    Selected,
    /// Everything; the reasons say why nothing smaller is safe.
    All,
    /// Nothing: no code, data or configuration changed that a test could see.
    None,
}

impl Mode {
    /// The name in outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Selected => "selected",
            Mode::All => "all",
            Mode::None => "none",
        }
    }
}

/// How far the answer can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No test that is left out can break by this change, as far as the rules see.
    Complete,
    /// What is listed holds; more may be affected, for the causes given.
    LowerBound,
    /// It cannot be told.
    Unknown,
}

impl Verdict {
    /// The name in outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Complete => "complete",
            Verdict::LowerBound => "lower_bound",
            Verdict::Unknown => "unknown",
        }
    }
}

/// A reason or cause: a stable code, what it is about, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    pub code: &'static str,
    /// The path or symbol; empty where it is about everything.
    pub subject: String,
    pub sentence: String,
}

impl Note {
    /// A reason for selecting all.
    pub fn reason(code: ReasonCode, subject: impl Into<String>) -> Self {
        Note { code: code.as_str(), subject: subject.into(), sentence: code.sentence().to_string() }
    }

    /// Any other note.
    pub fn new(code: &'static str, subject: impl Into<String>, sentence: impl Into<String>) -> Self {
        Note { code, subject: subject.into(), sentence: sentence.into() }
    }
}

/// One step of a chain of reasons: `from` depends on `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViaStep {
    pub from: String,
    pub to: String,
    /// An edge kind, or `may_reach dispatch member registers sibling loads runs_with computed_import map covers`.
    pub kind: &'static str,
    /// The file that says so, and the line; 0 where no line does.
    pub file: String,
    pub line: u32,
}

/// A test that is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedTest {
    pub id: String,
    pub file: RepoPath,
    pub runner: Runner,
    pub package: RepoPath,
    /// In 1/1,000,000,000.
    pub confidence: u64,
    /// Steps from the test to the change; `None` when it is run without a chain.
    pub distance: Option<u32>,
    /// Why it is run: `changed`, `measured`, `reached`, `imports`, `data`, `mapped`, `always`, `all`.
    pub because: &'static str,
    /// From the test to the change; empty when it is the change itself or has no chain.
    pub via: Vec<ViaStep>,
}

/// A test that is not run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub id: String,
    pub file: RepoPath,
    pub package: RepoPath,
    /// `never_run not_measured imports_nothing_changed reaches_nothing_changed`.
    pub because: &'static str,
    /// The changed files, or those of the target, among itself and what it imports.
    pub imports: Vec<RepoPath>,
}

/// A selection that was not acted on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadow {
    pub mode: Mode,
    /// Sorted ids.
    pub tests: Vec<String>,
}

/// A package with tests to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffectedPackage {
    pub path: RepoPath,
    pub n_tests: usize,
    /// Whether a changed file or a reached symbol lies in it, so that it is to be built anew.
    pub is_changed: bool,
}

/// A changed file and what was decided on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: RepoPath,
    pub base_path: Option<RepoPath>,
    pub status: FileStatus,
    /// `symbols layout run_all data documentation mode unchanged_meaning file_reach dependencies mapped`.
    pub decision: &'static str,
}

/// A changed symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedSymbol {
    pub path: RepoPath,
    pub qualname: String,
    pub kind: &'static str,
    pub changes: Changes,
    /// Set when its own text is as before: `resolves_otherwise`, `import`.
    pub because: Option<&'static str>,
    pub line: u32,
}

/// A symbol that depends on a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependent {
    pub path: RepoPath,
    pub qualname: String,
    pub kind: &'static str,
    pub line: u32,
    pub distance: u32,
    pub confidence: u64,
    /// Whether the contract of the change that it depends on changed, or only its behavior.
    pub is_contract: bool,
}

/// Counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub n_tests: usize,
    pub n_selected_tests: usize,
    pub n_test_files: usize,
    pub n_selected_test_files: usize,
    pub n_changed_files: usize,
    pub n_changed_symbols: usize,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub repository: String,
    /// The two trees, as asked for and as commits; `None` for the tree on disk, or no base.
    pub base: Option<String>,
    pub head: Option<String>,
    /// What was asked: a diff or a target, as written.
    pub question: String,
    pub policy: Policy,
    pub mode: Mode,
    pub verdict: Verdict,
    /// Why the verdict is not `complete`; sorted.
    pub causes: Vec<Note>,
    /// Why all, or why none; sorted.
    pub reasons: Vec<Note>,
    /// Likeliest first: by confidence, then distance, then id.
    pub tests: Vec<SelectedTest>,
    /// Sorted by path.
    pub packages: Vec<AffectedPackage>,
    /// Sorted by path.
    pub files: Vec<ChangedFile>,
    /// Sorted by path, then line.
    pub symbols: Vec<ChangedSymbol>,
    /// Nearest first: by distance, then path, then qualname. Tests are not among them.
    pub dependents: Vec<Dependent>,
    pub stats: Stats,
    pub warnings: Vec<Note>,
    /// The tests that are not selected, in order of their ids.
    pub left_out: Vec<LeftOut>,
    /// Under `--shadow`: what would have been selected.
    pub shadow: Option<Shadow>,
}

/// A confidence as a number in (0, 1] with at most 4 decimals.
pub fn confidence(value: u64) -> f64 {
    let in_ten_thousandths = (value * 10_000 + CERTAIN / 2) / CERTAIN;
    in_ten_thousandths.max(1) as f64 / 10_000.0
}

impl Answer {
    /// An answer that names no tree, no change and no test.
    pub fn bare(policy: Policy, mode: Mode, verdict: Verdict, stats: Stats) -> Self {
        Answer {
            repository: String::new(),
            base: None,
            head: None,
            question: String::new(),
            policy,
            mode,
            verdict,
            causes: Vec::new(),
            reasons: Vec::new(),
            tests: Vec::new(),
            packages: Vec::new(),
            files: Vec::new(),
            symbols: Vec::new(),
            dependents: Vec::new(),
            stats,
            warnings: Vec::new(),
            left_out: Vec::new(),
            shadow: None,
        }
    }

    /// The share of tests that are selected, 0 when there is none.
    pub fn share(&self) -> f64 {
        match self.stats.n_tests {
            0 => 0.0,
            n => self.stats.n_selected_tests as f64 / n as f64,
        }
    }

    /// The files that changed; those of the target where it is asked about one. Sorted, unique.
    pub fn changed_paths(&self) -> Vec<&str> {
        let of_target = self.symbols.iter().filter(|row| self.files.is_empty() && row.because.is_none());
        let paths: BTreeSet<&str> = self
            .files
            .iter()
            .map(|file| &file.path)
            .chain(of_target.map(|row| &row.path))
            .map(|p| p.as_str())
            .collect();
        paths.into_iter().collect()
    }
}
