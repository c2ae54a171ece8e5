//! Policy: how much is followed, and the reasons why only all is safe.

use std::sync::Arc;

use crate::coverage::Coverage;
use crate::graph::edge::Layer;
use crate::impact::step::Follow;

/// How much is followed (PRODUCT.md §4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// All layers and may reach; file reach where even those are blind.
    #[default]
    Safe,
    /// Proved and likely edges.
    Precise,
    /// Whoever imports a changed file.
    File,
}

impl Policy {
    /// The name in options and outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            Policy::Safe => "safe",
            Policy::Precise => "precise",
            Policy::File => "file",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        [Policy::Safe, Policy::Precise, Policy::File].into_iter().find(|p| p.as_str() == name)
    }

    /// What steps it follows.
    pub fn follow(self) -> Follow {
        match self {
            Policy::Safe | Policy::File => Follow { layer: Layer::Candidate, may_reach: true },
            Policy::Precise => Follow { layer: Layer::Likely, may_reach: false },
        }
    }
}

/// What to do when the base cannot be found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnknown {
    #[default]
    All,
    Error,
}

/// Tests that stand for files which no code leads from: `[[impact.map]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapRule {
    /// Globs of changed files.
    pub when: Vec<String>,
    /// Globs of the test files that are then selected.
    pub tests: Vec<String>,
}

/// Whether a text is a glob.
pub fn is_glob(text: &str) -> bool {
    globset::Glob::new(text).is_ok()
}

/// The choices of one question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    pub policy: Policy,
    pub on_unknown: OnUnknown,
    /// Globs of paths whose change selects all.
    pub run_all: Vec<String>,
    /// Globs of test files that are always, or never, selected.
    pub always_run: Vec<String>,
    pub never_run: Vec<String>,
    pub map: Vec<MapRule>,
    /// More changed files than this select all.
    pub max_changed_files: Option<usize>,
    /// A larger selected share of the tests than this selects all.
    pub max_ratio: Option<f64>,
    /// `RATLAS_SELECT=off`: all, whatever changed.
    pub is_off: bool,
    /// All are to be run, and what would have been selected is told beside.
    pub is_shadow: bool,
    /// Which lines each test ran when it was measured: adds tests, and ranks them.
    pub coverage: Option<Arc<Coverage>>,
    /// What coverage measured not to run a change is left out.
    pub trusts_coverage: bool,
}

/// Why all is selected; the codes are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReasonCode {
    SelectOff,
    Shadow,
    BaseUnresolvable,
    FileGone,
    NoTestsKnown,
    RatlasConfig,
    Lockfile,
    Package,
    BuildFile,
    RunnerConfig,
    CiConfig,
    UnknownLanguage,
    SkippedSource,
    Unreadable,
    PrivateFile,
    Submodule,
    ParseFailure,
    RunAllRule,
    TooManyFiles,
    RatioReached,
}

impl ReasonCode {
    /// All, in order.
    pub const ALL: [ReasonCode; 20] = [
        ReasonCode::SelectOff,
        ReasonCode::Shadow,
        ReasonCode::BaseUnresolvable,
        ReasonCode::FileGone,
        ReasonCode::NoTestsKnown,
        ReasonCode::RatlasConfig,
        ReasonCode::Lockfile,
        ReasonCode::Package,
        ReasonCode::BuildFile,
        ReasonCode::RunnerConfig,
        ReasonCode::CiConfig,
        ReasonCode::UnknownLanguage,
        ReasonCode::SkippedSource,
        ReasonCode::Unreadable,
        ReasonCode::PrivateFile,
        ReasonCode::Submodule,
        ReasonCode::ParseFailure,
        ReasonCode::RunAllRule,
        ReasonCode::TooManyFiles,
        ReasonCode::RatioReached,
    ];

    /// The code in outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            ReasonCode::SelectOff => "select_off",
            ReasonCode::Shadow => "shadow",
            ReasonCode::BaseUnresolvable => "base_unresolvable",
            ReasonCode::FileGone => "file_gone",
            ReasonCode::NoTestsKnown => "no_tests_known",
            ReasonCode::RatlasConfig => "ratlas_config",
            ReasonCode::Lockfile => "lockfile",
            ReasonCode::Package => "package",
            ReasonCode::BuildFile => "build_file",
            ReasonCode::RunnerConfig => "runner_config",
            ReasonCode::CiConfig => "ci_config",
            ReasonCode::UnknownLanguage => "unknown_language",
            ReasonCode::SkippedSource => "skipped_source",
            ReasonCode::Unreadable => "unreadable",
            ReasonCode::PrivateFile => "private_file",
            ReasonCode::Submodule => "submodule",
            ReasonCode::ParseFailure => "parse_failure",
            ReasonCode::RunAllRule => "run_all_rule",
            ReasonCode::TooManyFiles => "too_many_files",
            ReasonCode::RatioReached => "ratio_reached",
        }
    }

    /// What it means, for people.
    pub fn sentence(self) -> &'static str {
        match self {
            ReasonCode::SelectOff => "selection is switched off (RATLAS_SELECT=off)",
            ReasonCode::Shadow => "all run, and what would have been selected is told beside (`--shadow`)",
            ReasonCode::NoTestsKnown => "code changed in a language of which no test is recognized here",
            ReasonCode::FileGone => "a changed file is not in the tree, and without a base nothing tells who used it",
            ReasonCode::BaseUnresolvable => "the base of the comparison cannot be found in this clone",
            ReasonCode::RatlasConfig => "the rules of selection themselves changed",
            ReasonCode::Lockfile => "the resolved dependencies changed, and cannot be compared by package",
            ReasonCode::Package => "a package changed that tests run by, or that no file imports",
            ReasonCode::BuildFile => "a build file changed",
            ReasonCode::RunnerConfig => "the configuration of a test runner changed",
            ReasonCode::CiConfig => "the pipeline that runs the tests changed",
            ReasonCode::UnknownLanguage => "a source file of a language that is not indexed changed",
            ReasonCode::SkippedSource => "a source file that is not indexed changed",
            ReasonCode::Unreadable => "a changed source file cannot be read in one of the trees",
            ReasonCode::PrivateFile => "a private file changed, which is never opened",
            ReasonCode::Submodule => "a submodule points elsewhere",
            ReasonCode::ParseFailure => "a changed file does not parse",
            ReasonCode::RunAllRule => "a rule of `[impact] run_all` matches",
            ReasonCode::TooManyFiles => "more files changed than `[impact] max_changed_files`",
            ReasonCode::RatioReached => "more is selected than `[impact] max_ratio`",
        }
    }
}
