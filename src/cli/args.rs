//! The grammar of the command line: global options and the list of commands.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cli::{
    bench, ci, compare, completions, config, daemon, demo, doctor, explain, export, gc, impact, index, init, man, pack,
    pull, push, query, serve, status, upkeep, verify, watch,
};

/// RepoAtlas: the structural map of a code base that CI builds once and everybody reuses.
#[derive(Debug, Parser)]
#[command(name = "ratlas", version, max_term_width = 100, propagate_version = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Work on the repository that DIR lies in
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub dir: Option<PathBuf>,
    /// Read FILE in the place of the repository's ratlas.toml
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Say nothing on stderr but errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Log to stderr; twice for debug, three times for trace
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Color errors
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    pub color: When,
    /// Show no progress
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// Use no network: nothing is fetched or published
    #[arg(long, global = true)]
    pub offline: bool,
    /// Use N threads; the answer never depends on it
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
}

/// When to color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    Auto,
    Always,
    Never,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a commented ratlas.toml, or print how to connect a client
    Init(init::InitArgs),
    /// Index what is not indexed yet
    Index(index::IndexArgs),
    /// Say what is indexed, skipped, damaged, dirty and unresolved
    Status(status::StatusArgs),
    /// Say what a change can break, and which tests to run for it
    Impact(impact::ImpactArgs),
    /// Ask the map
    Query(query::QueryArgs),
    /// Hold the graph against a word search or a compiler's index
    Compare(compare::CompareArgs),
    /// Serve the map to a coding agent, over stdio
    Serve(serve::ServeArgs),
    /// Index what is saved, and say what changed by kind
    Watch(watch::WatchArgs),
    /// Share one warm session among commands and servers
    Daemon(daemon::DaemonArgs),
    /// Unpack a small repository and walk through what ratlas says of it
    Demo(demo::DemoArgs),
    /// Measure what ratlas saves an agent of yours, over tasks with checks
    Bench(bench::BenchArgs),
    /// Write symbols, references or edges as a table, or all as a SCIP index
    Export(export::ExportArgs),
    /// Fetch what CI has indexed already, and index the rest
    Pull(pull::PullArgs),
    /// Publish HEAD's shards to a remote
    Push(push::PushArgs),
    /// Put loose shards into a pack, or a tree's into one of its own
    Pack(pack::PackArgs),
    /// Keep a remote in order: clear it, merge its packs
    Remote(upkeep::UpkeepArgs),
    /// Answer a pipeline: which tests, in how many jobs, against which base
    Ci(ci::CiArgs),
    /// Extract files again and compare them with the store
    Verify(verify::VerifyArgs),
    /// Check what answers rest on
    Doctor(doctor::DoctorArgs),
    /// Take away from the store what no branch, tag, worktree or recent index needs
    Gc(gc::GcArgs),
    /// Show the configuration
    Config(config::ConfigArgs),
    /// Explain an error code
    Explain(explain::ExplainArgs),
    /// Print completions for a shell
    Completions(completions::CompletionsArgs),
    /// Print the manual page
    Man(man::ManArgs),
}
