//! `ratlas remote`: keeping a remote in order. `gc` clears it in two runs, `repack` publishes
//! HEAD's tree anew in packs of its own.

use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};

use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::context::Context;
use crate::cli::remote::{RemoteArgs, size};
use crate::cli::{output, push};
use crate::git::line;
use crate::remote::layout::Namespace;
use crate::remote::transfer::{Patience, Transfer};
use crate::remote::upkeep::{Keep, clear};
use crate::tools::show;

#[derive(Debug, Args)]
pub struct UpkeepArgs {
    #[command(subcommand)]
    command: UpkeepCommand,
}

#[derive(Debug, Subcommand)]
enum UpkeepCommand {
    /// Write down what nothing leads to, and remove what an earlier run wrote down
    Gc(GcArgs),
    /// Publish HEAD's tree anew, in packs of its own, so that many small ones are merged
    Repack(RepackArgs),
}

/// What is cleared of a remote.
#[derive(Debug, Args)]
struct GcArgs {
    #[command(flatten)]
    remote: RemoteArgs,
    #[command(flatten)]
    keep: KeepArgs,
}

/// What is kept of a remote.
#[derive(Debug, Args)]
pub struct KeepArgs {
    /// Of a remote, keep what is younger, beside what heads and tags lead to
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    keep_days: u64,
    /// Of a remote, the least time between writing down and removing
    #[arg(long, value_name = "HOURS", default_value_t = 24)]
    grace_hours: u64,
}

#[derive(Debug, Args)]
struct RepackArgs {
    #[command(flatten)]
    remote: RemoteArgs,
    /// Sign the manifest with a minisign secret key
    #[arg(long, value_name = "FILE")]
    sign: Option<std::path::PathBuf>,
}

pub fn run(context: &Context, args: &UpkeepArgs) -> Result<u8> {
    match &args.command {
        UpkeepCommand::Gc(args) => gc(context, &args.remote, &args.keep),
        UpkeepCommand::Repack(args) => repack(context, args),
    }
}

/// Clears a namespace of a remote.
pub fn gc(context: &Context, remote: &RemoteArgs, kept: &KeepArgs) -> Result<u8> {
    let session = context.session()?;
    let config = context.config_at(session.repo().root())?;
    let namespace = named(remote, &config)?;
    let backend = remote.backend(context, &config)?;
    let tags = line::tagged(session.repo())?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let keep = Keep {
        commits: &tags,
        n_days: kept.keep_days,
        grace_seconds: kept.grace_hours.saturating_mul(3_600),
        now_seconds: now,
    };
    let cleared = clear(&Transfer::new(&*backend, Patience::default()), &namespace, &keep)?;
    output::print(&format!(
        "`{namespace}`: {} kept, {} written down, {} removed ({})\n",
        show::count(cleared.n_kept, "file"),
        cleared.n_marked,
        cleared.n_removed,
        size(cleared.n_removed_bytes)
    ))?;
    Ok(0)
}

fn repack(context: &Context, args: &RepackArgs) -> Result<u8> {
    let session = context.session()?;
    let config = context.config_at(session.repo().root())?;
    let namespace = named(&args.remote, &config)?;
    let options = push::Options { sign: args.sign.clone(), branch: None, is_fresh: true };
    let (pushed, address) = push::publish(context, &session, &args.remote, &namespace, &options)?;
    output::print(&format!(
        "{} in {} ({}), as `{namespace}` to `{address}`\n",
        show::count(pushed.n_shards, "shard"),
        show::count(pushed.n_packs, "pack"),
        size(pushed.n_bytes)
    ))?;
    Ok(0)
}

fn named(remote: &RemoteArgs, config: &crate::config::Config) -> Result<Namespace> {
    remote.own(config)?.ok_or_else(|| {
        Error::new(ErrorKind::Usage, "no namespace to work in").hint("give one: `--namespace main` in trusted CI")
    })
}
