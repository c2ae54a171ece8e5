//! `ratlas pull`: fetches what is indexed already, and indexes the rest.

use clap::Args;
use serde_json::Value;

use crate::base::error::{ErrorKind, Result};
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::remote::{MAX_COMMITS, RemoteArgs, branches, size};
use crate::cli::{output, progress};
use crate::remote::layout::FingerprintSet;
use crate::remote::pull::{Pulled, Wanted, pull};
use crate::remote::transfer::{Patience, Transfer};
use crate::report::{json, sanitize};
use crate::session::Session;
use crate::tools::show;

#[derive(Debug, Args)]
pub struct PullArgs {
    #[command(flatten)]
    remote: RemoteArgs,
    /// Fail with exit code 5 when the remote is out of reach or has no tree of this history
    #[arg(long)]
    require_remote: bool,
    /// Fetch only; leave what did not come to the next question
    #[arg(long)]
    no_index: bool,
    /// The form of the answer
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub fn run(context: &Context, args: &PullArgs) -> Result<u8> {
    let session = context.session()?;
    let pulled = match fetch(context, &session, &args.remote, &[]) {
        Err(error) if error.kind == ErrorKind::Remote && !args.require_remote => {
            warn(context, &error.what);
            Pulled { warnings: vec![error.what], ..Pulled::default() }
        }
        pulled => {
            let pulled = pulled?;
            pulled.warnings.iter().for_each(|warning| warn(context, warning));
            pulled
        }
    };
    if args.require_remote && pulled.commit.is_none() && pulled.n_left > 0 {
        let what = pulled.warnings.last().cloned().unwrap_or_else(|| "the remote has nothing for this tree".to_owned());
        return Err(crate::base::error::Error::new(ErrorKind::Remote, what)
            .hint("leave out `--require-remote` to index here what the remote lacks"));
    }
    let counts = match args.no_index {
        true => None,
        false => {
            let shown = progress::start(context, "indexing");
            let report = session.index(false);
            drop(shown);
            Some(report?.counts)
        }
    };
    match args.format {
        Format::Text => {
            let mut text = said(&pulled);
            if let Some(counts) = counts {
                let n_skipped: usize = counts.skipped.values().sum();
                text.push_str(&format!(
                    "{} files: {} indexed ({} contents parsed, {} reused), {n_skipped} skipped\n",
                    counts.files, counts.indexed, counts.parsed, counts.reused
                ));
            }
            output::print(&text)?;
        }
        Format::Json => {
            let optional = |text: Option<String>| text.map_or(Value::Null, Value::from);
            let report = json::object([
                ("commit", optional(pulled.commit.clone())),
                ("behind", pulled.n_behind.map_or(Value::Null, Value::from)),
                ("namespace", optional(pulled.namespace.as_ref().map(|n| n.as_str().to_owned()))),
                ("signed", pulled.is_signed.into()),
                ("packs", pulled.n_packs.into()),
                ("shards", pulled.n_shards.into()),
                ("left", pulled.n_left.into()),
                ("bytes", pulled.n_bytes.into()),
                ("warnings", pulled.warnings.iter().map(|w| Value::from(sanitize::line(w, 400))).collect()),
                ("parsed", counts.as_ref().map_or(Value::Null, |counts| counts.parsed.into())),
            ]);
            output::print(&(json::compact(&report) + "\n"))?;
        }
    }
    Ok(0)
}

/// Fetches what the tree on disk and some revisions need.
///
/// # Errors
/// As [`RemoteArgs::backend`] and [`pull`].
pub fn fetch(context: &Context, session: &Session, remote: &RemoteArgs, revisions: &[&str]) -> Result<Pulled> {
    let config = context.config_at(session.repo().root())?;
    let backend = remote.backend(context, &config)?;
    let trust = remote.keys(&config)?;
    let readers = remote.readers(&config)?;
    let keys = session.missing(revisions)?;
    let (commits, branch) = session.line(MAX_COMMITS)?;
    let set = FingerprintSet::of(session.fingerprints().iter().map(|(d, f)| (*d, *f)));
    let branches = branches(branch.as_deref());
    let wanted = Wanted { commits: &commits, branches: &branches, set, readers: &readers, keys: &keys };
    let transfer = Transfer::new(&*backend, Patience::default());
    let shown = progress::bytes(context);
    pull(&transfer, session.shards(), &wanted, &trust, &|done, planned| shown.set(done, planned))
}

fn said(pulled: &Pulled) -> String {
    let Some(commit) = &pulled.commit else {
        return match pulled.warnings.last() {
            Some(warning) => format!("nothing fetched: {}\n", sanitize::line(warning, 400)),
            None => "nothing to fetch\n".to_owned(),
        };
    };
    let namespace = pulled.namespace.as_ref().map_or("", |namespace| namespace.as_str());
    let behind = match pulled.n_behind {
        Some(0) => String::new(),
        Some(n) => format!(", {} behind HEAD", show::count(n, "commit")),
        None => ", the head of a branch".to_owned(),
    };
    let signed = if pulled.is_signed { ", signed" } else { "" };
    format!(
        "fetched {} in {} ({}), {} left; from `{namespace}` at {commit:.12}{behind}{signed}\n",
        show::count(pulled.n_shards, "shard"),
        show::count(pulled.n_packs, "pack"),
        size(pulled.n_bytes),
        pulled.n_left
    )
}

/// Says on stderr what did not go as it should, and that it goes on.
pub fn warn(context: &Context, what: &str) {
    if !context.is_quiet() {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "warning: {}", sanitize::line(what, 400));
    }
}
