//! `ratlas impact`: what a change or a target can break, and the tests to run for it.

use clap::{Args, ValueEnum};

use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::context::Context;
use crate::cli::output;
use crate::impact::answer::Answer;
use crate::impact::policy::{OnUnknown, Policy};
use crate::impact::runners::{self, RunnerFormat};
use crate::impact::{json as impact_json, text};
use crate::report::json;
use crate::tools::impact_of;

#[derive(Debug, Args)]
pub struct ImpactArgs {
    /// A path, `path::name`, a qualified name or its end, or a sym_ handle
    #[arg(required_unless_present = "diff", conflicts_with = "diff")]
    target: Option<String>,
    /// The file a target is in, where its name alone is ambiguous
    #[arg(long)]
    file: Option<String>,
    /// `A...B` (from their merge base), `A..B`, `A` (to the tree on disk), or WORKTREE
    #[arg(long)]
    diff: Option<String>,
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
}

/// The forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ImpactFormat {
    /// For people
    Text,
    /// `ratlas.impact/1`
    Json,
    /// Test ids, one a line
    Tests,
    /// Arguments of pytest, one a line
    Pytest,
    /// Arguments of jest, one a line
    Jest,
    /// Arguments of `vitest run`, one a line
    Vitest,
    /// Arguments of mvn, one a line
    Maven,
    /// Arguments of gradle, one a line
    Gradle,
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
    let mut options = context.config()?.impact();
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
    let source = context.source()?;
    let answer = match (&args.target, &args.diff) {
        (_, Some(diff)) => impact_of::of_diff(&*source, diff, &options)?.0,
        (Some(target), None) => impact_of::of_target(&*source.fresh()?, target, args.file.as_deref(), &options)?,
        (None, None) => {
            return Err(Error::new(ErrorKind::Usage, "`impact` needs a target or `--diff`")
                .hint("for uncommitted work: `ratlas impact --diff WORKTREE`"));
        }
    };
    if let Some(test) = &args.why {
        let lines = text::why(&answer, test).ok_or_else(|| not_selected(test, &answer))?;
        output::print(&with_ends(lines))?;
        return Ok(0);
    }
    output::print(&print(&answer, args.format))?;
    Ok(0)
}

/// What `RATLAS_SELECT` says.
///
/// # Errors
/// `Config` for anything but `on`, `off` and nothing: a gate must not be misread.
fn is_off(value: Option<&str>) -> Result<bool> {
    match value {
        None | Some("" | "on") => Ok(false),
        Some("off") => Ok(true),
        Some(other) => Err(Error::new(ErrorKind::Config, format!("RATLAS_SELECT is `{other}`, which says nothing"))
            .hint("`RATLAS_SELECT=off` selects all tests; `on`, or leaving it out, selects by the change")),
    }
}

fn not_selected(test: &str, answer: &Answer) -> Error {
    let n = answer.tests.len();
    Error::new(ErrorKind::CheckFailed, format!("`{test}` is not among the {n} selected tests"))
        .hint("`--why-not` says what keeps a test out; `--format tests` lists those that are in")
}

fn print(answer: &Answer, format: ImpactFormat) -> String {
    let runner = match format {
        ImpactFormat::Text => return with_ends(text::lines(answer)),
        ImpactFormat::Json => return json::compact(&impact_json::value(answer)) + "\n",
        ImpactFormat::Tests => RunnerFormat::Tests,
        ImpactFormat::Pytest => RunnerFormat::Pytest,
        ImpactFormat::Jest => RunnerFormat::Jest,
        ImpactFormat::Vitest => RunnerFormat::Vitest,
        ImpactFormat::Maven => RunnerFormat::Maven,
        ImpactFormat::Gradle => RunnerFormat::Gradle,
    };
    with_ends(runners::lines(answer, runner))
}

fn with_ends(lines: Vec<String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}
