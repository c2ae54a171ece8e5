//! `ratlas push`: publishes HEAD's shards.

use std::path::PathBuf;

use clap::Args;

use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::remote::{MAX_COMMITS, RemoteArgs, size};
use crate::cli::{output, progress};
use crate::remote::layout::{FingerprintSet, Namespace};
use crate::remote::push::{Publication, Pushed, push};
use crate::remote::signature::Signer;
use crate::remote::transfer::{Patience, Transfer};
use crate::report::json;
use crate::session::Session;
use crate::tools::show;

#[derive(Debug, Args)]
pub struct PushArgs {
    #[command(flatten)]
    remote: RemoteArgs,
    /// Sign the manifest with a minisign secret key (RATLAS_SIGN_PASSWORD opens an encrypted one)
    #[arg(long, value_name = "FILE")]
    sign: Option<PathBuf>,
    /// The branch whose hint is to lead to this commit; the one that HEAD is on by default
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// The form of the answer
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub fn run(context: &Context, args: &PushArgs) -> Result<u8> {
    let session = context.session()?;
    let config = context.config_at(session.repo().root())?;
    let namespace = args.remote.own(&config)?.ok_or_else(|| {
        Error::new(ErrorKind::Usage, "no namespace to publish in").hint("give one: `--namespace main` in trusted CI")
    })?;
    let shown = progress::start(context, "publishing");
    let options = Options { sign: args.sign.clone(), branch: args.branch.clone(), is_fresh: false };
    let (pushed, address) = publish(context, &session, &args.remote, &namespace, &options)?;
    drop(shown);
    match args.format {
        Format::Text => {
            let known = if pushed.was_there { "; the tree was published already" } else { "" };
            output::print(&format!(
                "published {} in {} ({}), {} reused, as `{namespace}` to `{address}`{known}\n",
                show::count(pushed.n_shards, "shard"),
                show::count(pushed.n_packs, "pack"),
                size(pushed.n_bytes),
                pushed.n_reused,
            ))?;
        }
        Format::Json => {
            let report = json::object([
                ("namespace", namespace.as_str().into()),
                ("packs", pushed.n_packs.into()),
                ("shards", pushed.n_shards.into()),
                ("reused", pushed.n_reused.into()),
                ("bytes", pushed.n_bytes.into()),
                ("was_there", pushed.was_there.into()),
            ]);
            output::print(&(json::compact(&report) + "\n"))?;
        }
    }
    Ok(0)
}

/// How HEAD's tree is published.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The secret key to sign with.
    pub sign: Option<PathBuf>,
    /// The branch whose hint is to lead here; the one that HEAD is on when `None`.
    pub branch: Option<String>,
    /// Whether it is written anew, in packs of its own.
    pub is_fresh: bool,
}

/// Publishes HEAD's tree; gives the remote's address, too.
///
/// # Errors
/// As [`RemoteArgs::backend`] and [`push`].
pub fn publish(
    context: &Context,
    session: &Session,
    remote: &RemoteArgs,
    namespace: &Namespace,
    options: &Options,
) -> Result<(Pushed, String)> {
    let config = context.config_at(session.repo().root())?;
    let backend = remote.backend(context, &config)?;
    let trust = remote.keys(&config)?;
    let signer = match &options.sign {
        Some(file) => Some(Signer::from_file(file, std::env::var("RATLAS_SIGN_PASSWORD").ok())?),
        None => None,
    };
    let (commits, branch) = session.line(MAX_COMMITS)?;
    let tree = session.shards_of("HEAD")?;
    let set = FingerprintSet::of(session.fingerprints().iter().map(|(d, f)| (*d, *f)));
    let publication = Publication {
        commit: &tree.commit,
        tree: &tree.tree,
        branch: options.branch.as_deref().or(branch.as_deref()),
        fingerprints: session.fingerprints(),
        set,
        keys: &tree.keys,
        n_files: tree.n_files as u64,
        n_indexed: tree.n_indexed as u64,
        skipped: tree.skipped.clone(),
        commits: &commits,
    };
    let transfer = Transfer::new(&*backend, Patience::default());
    let pushed = push(&transfer, session.shards(), &publication, namespace, &trust, signer.as_ref(), options.is_fresh)?;
    Ok((pushed, backend.address()))
}
