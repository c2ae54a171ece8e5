//! `ratlas impact`: what a change or a target can break, and the tests to run for it.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::path::RepoPath;
use crate::cli::context::Context;
use crate::cli::output;
use crate::cli::pull::warn;
use crate::coverage::{self, Coverage};
use crate::impact::answer::Answer;
use crate::impact::argument_file::argument_file;
use crate::impact::policy::{OnUnknown, Options, Policy};
use crate::impact::runners::{self, RunnerFormat};
use crate::impact::tests::Packages;
use crate::impact::{forms, json as impact_json, junit, text};
use crate::report::{json, sanitize};
use crate::tools::{impact_of, past};
use crate::view::View;

#[derive(Debug, Args)]
pub struct ImpactArgs {
    /// A path, `path::name`, a qualified name or its end, or a sym_ handle
    #[arg(conflicts_with_all = ["diff", "base", "files_from"])]
    target: Option<String>,
    /// The file a target is in, where its name alone is ambiguous
    #[arg(long)]
    file: Option<String>,
    /// `A...B` (from their merge base), `A..B`, `A` (to the tree on disk), WORKTREE or STAGED
    #[arg(long, conflicts_with_all = ["base", "files_from"])]
    diff: Option<String>,
    /// The revision to compare from, by its merge base with --head
    #[arg(long, value_name = "REV", conflicts_with = "files_from")]
    base: Option<String>,
    /// The revision to compare to: HEAD by default, or WORKTREE or STAGED
    #[arg(long, value_name = "REV", requires = "base")]
    head: Option<String>,
    /// A file that lists changed paths, one a line, or `-` for stdin; only their names are used
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
    /// The form of the answer
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: ImpactFormat,
    /// How much is followed: safe, precise or file
    #[arg(long, value_name = "POLICY")]
    policy: Option<PolicyName>,
    /// When the base cannot be found: select all, or fail with exit code 3
    #[arg(long, value_name = "WHAT", default_value = "all")]
    on_unknown: Unknown,
    /// Print the chain of reasons of one selected test (its id, or its file)
    #[arg(long, value_name = "TEST")]
    why: Option<String>,
    /// Print what keeps a test out (its id, or its file)
    #[arg(long, value_name = "TEST", conflicts_with = "why")]
    why_not: Option<String>,
    /// Select all, and tell beside what would have been selected
    #[arg(long)]
    shadow: bool,
    /// Hold the selection against a run's JUnit report; exit code 1 when it misses a failed test
    #[arg(long, value_name = "JUNIT.XML")]
    judge: Option<PathBuf>,
    /// Arguments for the tests of one package alone, relative to its folder (`.` for the root)
    #[arg(long, value_name = "FOLDER")]
    package: Option<String>,
    /// Write the arguments into a file, and print those that make pytest, mvn or gradle read it
    #[arg(long, value_name = "FILE")]
    args_file: Option<PathBuf>,
    /// Lines that each test ran (coverage.py contexts, lcov, JaCoCo): adds and ranks tests
    #[arg(long, value_name = "FILE")]
    coverage: Vec<PathBuf>,
    /// Leave out tests that coverage did not see running a changed function
    #[arg(long, requires = "coverage")]
    trust_coverage: bool,
}

/// The forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ImpactFormat {
    /// For people
    Text,
    /// `ratlas.impact/1`
    Json,
    /// Markdown, for a summary or a comment
    Md,
    /// `name=value` lines for $GITHUB_OUTPUT
    Github,
    /// Test ids, one a line
    Tests,
    /// Files of tests, one a line
    Files,
    /// Arguments of pytest, one a line
    Pytest,
    /// Arguments of `python -m unittest`, one a line
    Unittest,
    /// Arguments of `manage.py test`, one a line
    Django,
    /// Arguments of jest, one a line
    Jest,
    /// Arguments of `vitest run`, one a line
    Vitest,
    /// Arguments of mocha, one a line
    Mocha,
    /// Arguments of `node --test`, one a line
    Node,
    /// Arguments of `playwright test`, one a line
    Playwright,
    /// Arguments of mvn, one a line
    Maven,
    /// Arguments of gradle, one a line
    Gradle,
}

impl ImpactFormat {
    /// Whose arguments it is; `None` for answers to be read.
    fn runner(self) -> Option<RunnerFormat> {
        match self {
            ImpactFormat::Text | ImpactFormat::Json | ImpactFormat::Md | ImpactFormat::Github => None,
            ImpactFormat::Tests => Some(RunnerFormat::Tests),
            ImpactFormat::Files => Some(RunnerFormat::Files),
            ImpactFormat::Pytest => Some(RunnerFormat::Pytest),
            ImpactFormat::Unittest => Some(RunnerFormat::Unittest),
            ImpactFormat::Django => Some(RunnerFormat::Django),
            ImpactFormat::Jest => Some(RunnerFormat::Jest),
            ImpactFormat::Vitest => Some(RunnerFormat::Vitest),
            ImpactFormat::Mocha => Some(RunnerFormat::Mocha),
            ImpactFormat::Node => Some(RunnerFormat::Node),
            ImpactFormat::Playwright => Some(RunnerFormat::Playwright),
            ImpactFormat::Maven => Some(RunnerFormat::Maven),
            ImpactFormat::Gradle => Some(RunnerFormat::Gradle),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PolicyName {
    Safe,
    Precise,
    File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Unknown {
    All,
    Error,
}

pub fn run(context: &Context, args: &ImpactArgs) -> Result<u8> {
    if args.format.runner().is_none() && (args.package.is_some() || args.args_file.is_some()) {
        return Err(Error::new(ErrorKind::Usage, "`--package` and `--args-file` go with the arguments of a runner")
            .hint("add the runner: `--format pytest`, `jest`, `vitest`, `maven`, `gradle` …"));
    }
    let coverage = read_coverage(&args.coverage)?;
    let given = |mut options: Options| -> Result<Options> {
        options.on_unknown = match args.on_unknown {
            Unknown::All => OnUnknown::All,
            Unknown::Error => OnUnknown::Error,
        };
        if let Some(policy) = args.policy {
            options.policy = match policy {
                PolicyName::Safe => Policy::Safe,
                PolicyName::Precise => Policy::Precise,
                PolicyName::File => Policy::File,
            };
        }
        options.is_off = is_off(std::env::var("RATLAS_SELECT").ok().as_deref())?;
        options.is_shadow = args.shadow;
        options.coverage.clone_from(&coverage);
        options.trusts_coverage = args.trust_coverage;
        Ok(options)
    };
    let options = given(context.config()?.impact())?;
    let source = context.source()?;
    let diff = match (&args.diff, &args.base) {
        (Some(diff), _) => Some(diff.clone()),
        (None, Some(base)) => Some(format!("{base}...{}", args.head.as_deref().unwrap_or("HEAD"))),
        (None, None) => None,
    };
    let (answer, atlas) = match (&args.target, &diff, &args.files_from) {
        (_, Some(diff), _) => {
            // A change does not soften its own gate: the base's rules hold.
            let rules = |text: Option<&str>| match context.config_of(text) {
                Ok(config) => given(config.impact()).map(Some),
                // Rules of another version, which cannot be read.
                Err(error) if error.kind == ErrorKind::Config => Ok(None),
                Err(error) => Err(error),
            };
            impact_of::of_diff(&*source, diff, &options, &rules)?
        }
        (_, None, Some(file)) => {
            let (paths, atlas) = (read_paths(file)?, source.fresh()?);
            (impact_of::of_files(&atlas, &paths, &options), atlas)
        }
        (Some(target), None, None) => {
            let atlas = source.fresh()?;
            (impact_of::of_target(&atlas, target, args.file.as_deref(), &options)?, atlas)
        }
        (None, None, None) => {
            return Err(Error::new(ErrorKind::Usage, "`impact` needs a change or a target")
                .hint("for uncommitted work: `ratlas impact --diff WORKTREE`; for a branch: `--diff main...HEAD`; for a definition: `ratlas impact path/to/file.py::name`"));
        }
    };
    if let Some(test) = &args.why {
        let lines = text::why(&answer, test).ok_or_else(|| not_selected(test, &answer))?;
        output::print(&with_ends(lines))?;
        return Ok(0);
    }
    if let Some(test) = &args.why_not {
        return why_not(test, &answer);
    }
    if let Some(report) = &args.judge {
        return judge(&answer, report);
    }
    let Some(runner) = args.format.runner() else {
        let past = match args.format {
            ImpactFormat::Text => past::of_files(&*source, &atlas, &answer.changed_paths()),
            _ => None,
        };
        let past = past.map_or(String::new(), |(lines, _)| format!("\n{}", with_ends(lines)));
        output::print(&(print(&answer, args.format) + &past))?;
        return Ok(0);
    };
    let own = match &args.package {
        Some(folder) => runners::in_package(&answer, &package(folder, &atlas.view)?),
        None => answer,
    };
    for (name, n_tests) in runners::left_out(&own, runner) {
        let tests = if n_tests == 1 { "1 test".to_owned() } else { format!("{n_tests} tests") };
        warn(context, &format!("{tests} to run for {name} left out: this form holds none of them; {}", form_for(name)));
    }
    let lines = match &args.args_file {
        Some(file) => write_arguments(&own, runner, file)?,
        None => runners::lines(&own, runner),
    };
    output::print(&with_ends(lines))?;
    Ok(0)
}

/// The form that holds the tests of a runner.
fn form_for(runner: &str) -> &'static str {
    match runner {
        "pytest" | "unittest" => "`--format pytest` does",
        "jest" => "`--format jest` does",
        "vitest" => "`--format vitest` does",
        "mocha" => "`--format mocha` does",
        "node:test" => "`--format node` does",
        "playwright" => "`--format playwright` does",
        "junit" | "testng" => "`--format maven` and `--format gradle` do",
        _ => "`--format files` lists their files",
    }
}

/// What coverage the given files hold, laid together.
///
/// # Errors
/// `Io` for a file that cannot be read, `Usage` for one that holds no coverage by test.
fn read_coverage(files: &[PathBuf]) -> Result<Option<Arc<Coverage>>> {
    let mut all: Option<Coverage> = None;
    for file in files {
        let shown = file.display();
        let unread = || {
            Error::new(ErrorKind::Io, format!("cannot read `{shown}`"))
                .hint("give the file that the measured run wrote: `.coverage`, an lcov file, or JaCoCo's XML")
        };
        let metadata = std::fs::metadata(file).map_err(|cause| unread().source(cause))?;
        if !metadata.is_file() || metadata.len() > coverage::MAX_BYTES {
            let what = format!("`{shown}` is no file, or larger than {} bytes", coverage::MAX_BYTES);
            return Err(Error::new(ErrorKind::Usage, what).hint("split the measurement, and give each part"));
        }
        let bytes = std::fs::read(file).map_err(|cause| unread().source(cause))?;
        let found = coverage::read(&bytes).map_err(|why| {
            Error::new(ErrorKind::Usage, format!("`{shown}` holds no coverage by test: {why}")).hint(
                "give a `.coverage` of `pytest --cov --cov-context=test`, lcov with a `TN:` a test, or JaCoCo's XML of one session",
            )
        })?;
        match &mut all {
            Some(all) => all.add(&found),
            None => all = Some(found),
        }
    }
    Ok(all.map(Arc::new))
}

/// The folder of a package of the tree.
///
/// # Errors
/// `Usage` for a folder that is none: a misspelled one must not run nothing.
fn package(folder: &str, view: &View) -> Result<RepoPath> {
    let known = Packages::of(view);
    let bare = folder.trim_end_matches('/');
    let path = match bare.strip_prefix("./").unwrap_or(bare) {
        "." | "" => Some(RepoPath::root()),
        bare => RepoPath::new(bare),
    };
    path.filter(|path| path.as_str().is_empty() || known.has(path)).ok_or_else(|| {
        let what = format!("no package in `{}`", sanitize::line(folder, 200));
        let near = known.near(bare);
        Error::new(ErrorKind::Usage, what).hint(match near.is_empty() {
            true => "packages are the folders of manifests, `.` is the root".to_string(),
            false => format!("did you mean `{}`?", near.join("`, `")),
        })
    })
}

/// Writes the file of arguments; gives those that point to it.
///
/// # Errors
/// `Usage` for a runner that reads none; `Io`.
fn write_arguments(answer: &Answer, runner: RunnerFormat, file: &Path) -> Result<Vec<String>> {
    let shown = file.display().to_string();
    let Some(made) = argument_file(answer, runner, &shown) else {
        return Err(Error::new(ErrorKind::Usage, "this runner reads no file of arguments")
            .hint("pytest, maven and gradle do; for the others pipe the lines through `xargs`"));
    };
    let unwritten = |cause: std::io::Error| Error::new(ErrorKind::Io, format!("cannot write `{shown}`")).source(cause);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(unwritten)?;
    temporary.write_all(made.content.as_bytes()).map_err(unwritten)?;
    temporary.persist(file).map_err(|failed| unwritten(failed.error))?;
    Ok(made.lines)
}

/// What `RATLAS_SELECT` says.
///
/// # Errors
/// `Config` for anything but `on`, `off` and nothing: a gate must not be misread.
pub(super) fn is_off(value: Option<&str>) -> Result<bool> {
    match value {
        None | Some("" | "on") => Ok(false),
        Some("off") => Ok(true),
        Some(other) => Err(Error::new(ErrorKind::Config, format!("RATLAS_SELECT is `{other}`, which says nothing"))
            .hint("`RATLAS_SELECT=off` selects all tests; `on`, or leaving it out, selects by the change")),
    }
}

/// The paths that a list holds, each once, in order. Names end at a NUL where there is one.
fn read_paths(file: &Path) -> Result<Vec<RepoPath>> {
    let mut bytes = Vec::new();
    let read = match file == Path::new("-") {
        true => std::io::stdin().read_to_end(&mut bytes).map(|_| ()),
        false => std::fs::read(file).map(|found| bytes = found),
    };
    read.map_err(|cause| Error::new(ErrorKind::Io, format!("cannot read `{}`", file.display())).source(cause))?;
    let end = if bytes.contains(&0) { '\0' } else { '\n' };
    let text = String::from_utf8_lossy(&bytes);
    let mut paths = Vec::new();
    for name in text.split(end).map(|name| name.trim_end_matches('\r')).filter(|name| !name.is_empty()) {
        let path = RepoPath::new(name.strip_prefix("./").unwrap_or(name)).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("`{}` is no path within the repository", sanitize::line(name, 200)))
                .hint("paths are relative to the root, with `/`, as `git diff --name-only` prints them")
        })?;
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    Ok(paths)
}

fn not_selected(test: &str, answer: &Answer) -> Error {
    let n = answer.tests.len();
    Error::new(ErrorKind::CheckFailed, format!("`{test}` is not among the {n} selected tests"))
        .hint("`--why-not` says what keeps a test out; `--format tests` lists those that are in")
}

fn why_not(test: &str, answer: &Answer) -> Result<u8> {
    if let Some(lines) = text::why_not(answer, test) {
        output::print(&with_ends(lines))?;
        return Ok(0);
    }
    if text::why(answer, test).is_some() {
        return Err(Error::new(ErrorKind::CheckFailed, format!("`{test}` is selected"))
            .hint("`--why` prints its chain of reasons"));
    }
    Err(Error::new(ErrorKind::UnknownTarget, format!("no test `{test}`"))
        .hint("give its id as `--format tests` prints it, or its file"))
}

/// How large a report may be, in bytes: a guess at far more than any run writes.
const MAX_REPORT: u64 = 256 << 20;

fn judge(answer: &Answer, report: &Path) -> Result<u8> {
    let shown = report.display();
    let unread = |cause: std::io::Error| {
        Error::new(ErrorKind::Io, format!("cannot read `{shown}`"))
            .source(cause)
            .hint("give the report that the run wrote, as `pytest --junit-xml=report.xml` does")
    };
    let metadata = std::fs::metadata(report).map_err(unread)?;
    let is_fit = metadata.is_file() && metadata.len() <= MAX_REPORT;
    let bytes = if is_fit { std::fs::read(report).map_err(unread)? } else { Vec::new() };
    let xml = String::from_utf8_lossy(&bytes);
    if !junit::is_report(&xml) {
        return Err(Error::new(ErrorKind::Usage, format!("`{shown}` is no JUnit report: no `<testsuite>` in it"))
            .hint("write one with the run: `pytest --junit-xml=report.xml`, `vitest --reporter=junit`, `mvn` in target/surefire-reports"));
    }
    let judgment = junit::judge(answer, &xml);
    let mut lines = vec![format!(
        "{} failed: {} selected, {} missed, {} unknown here",
        judgment.caught.len() + judgment.missed.len() + judgment.unknown.len(),
        judgment.caught.len(),
        judgment.missed.len(),
        judgment.unknown.len()
    )];
    for (word, ids) in [("missed", &judgment.missed), ("unknown", &judgment.unknown)] {
        lines.extend(ids.iter().map(|id| format!("  {word}: {}", sanitize::line(id, 200))));
    }
    output::print(&with_ends(lines))?;
    Ok(u8::from(!judgment.missed.is_empty()))
}

fn print(answer: &Answer, format: ImpactFormat) -> String {
    match (format, format.runner()) {
        (_, Some(runner)) => with_ends(runners::lines(answer, runner)),
        (ImpactFormat::Json, None) => json::compact(&impact_json::value(answer)) + "\n",
        (ImpactFormat::Md, None) => with_ends(forms::markdown(answer)),
        (ImpactFormat::Github, None) => with_ends(forms::github(answer)),
        (_, None) => with_ends(text::lines(answer)),
    }
}

fn with_ends(lines: Vec<String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}
