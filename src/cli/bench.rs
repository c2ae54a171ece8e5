//! `ratlas bench`: measures what ratlas saves an agent of the user's, over tasks with checks.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Args, Subcommand};

use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::args::Format;
use crate::cli::{output, signals};
use crate::harness::{plan, report, run};
use crate::report::json;

#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Run an agent over tasks, without ratlas, with its map, and with its tools
    ///
    /// PLAN is a TOML file: `repeats`, `arms` (none, map, tools); `[agent]` command, timeout_seconds;
    /// `[prices]` input, cached_input, output in dollars a million tokens; each `[[task]]` name,
    /// repository, revision, prompt, check, gold. The agent finds its task in the file that
    /// RATLAS_BENCH_PROMPT names and appends events as lines of JSON to RATLAS_BENCH_EVENTS:
    /// {"event":"turn","input":N,"cached":N,"output":N,"context":N}, {"event":"tool","name":"…"},
    /// {"event":"read","file":"…"}. RATLAS_BENCH_SERVER is the server's command in the arm `tools`.
    Run {
        /// The plan
        plan: PathBuf,
        /// Where raw logs and results go
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Print what the arms cost and gave, of the logs of earlier runs
    Report {
        /// The folder of the logs
        out: PathBuf,
        /// The form of the report
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
}

pub fn run(args: &BenchArgs) -> Result<u8> {
    match &args.command {
        BenchCommand::Run { plan: file, out } => {
            let text = std::fs::read_to_string(file).map_err(|cause| {
                Error::new(ErrorKind::Usage, format!("cannot read the plan `{}`", file.display()))
                    .hint("give an existing file; `ratlas bench run --help` says what it holds")
                    .source(cause)
            })?;
            let plan = plan::read(&text)?;
            let ratlas = std::env::current_exe()
                .map_err(|cause| Error::new(ErrorKind::Io, "cannot find this program").source(cause))?;
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let stop = Arc::new(AtomicBool::new(false));
            signals::stop_on(&stop)?;
            let place = run::Place { plan: folder, out, ratlas: &ratlas, stop: &stop };
            let mut say = |outcome: &run::Outcome| {
                let result = if outcome.is_success { "passed" } else { "failed" };
                let run::Outcome { task, arm, repeat, input, .. } = outcome;
                output::remark(format_args!("{task} {arm} {repeat}: {result}, {input} tokens in\n"));
            };
            let outcomes = run::run(&plan, &place, &mut say)?;
            output::print(&report::text(&report::report(&outcomes)))?;
        }
        BenchCommand::Report { out, format } => {
            let report = report::report(&run::outcomes(out)?);
            match format {
                Format::Text => output::print(&report::text(&report))?,
                Format::Json => output::print(&(json::compact(&report) + "\n"))?,
            }
        }
    }
    Ok(0)
}
