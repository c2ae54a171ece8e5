//! `ratlas serve`: the tools for a client, over the Model Context Protocol on stdio or HTTP.

#[cfg(feature = "http")]
use std::collections::hash_map::RandomState;
#[cfg(feature = "http")]
use std::hash::BuildHasher;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::Args;

#[cfg(feature = "http")]
use crate::atlas::AtlasSource;
use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::context::Context;
use crate::cli::daemon::Attached;
#[cfg(feature = "http")]
use crate::cli::output;
use crate::git::repo::Repo;
#[cfg(feature = "http")]
use crate::mcp::http::Http;
use crate::mcp::{self, Open, Place};
use crate::session::Session;
#[cfg(feature = "http")]
use crate::tools::meter;
use crate::tools::tool::Answers;

#[cfg(feature = "http")]
/// The variable that holds the token of HTTP clients.
const TOKEN: &str = "RATLAS_HTTP_TOKEN";

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Serve over HTTP at ADDRESS in the place of stdio; clients send the token of
    /// RATLAS_HTTP_TOKEN, or the one that is printed to stderr
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:7077")]
    http: Option<SocketAddr>,
    /// A name by which HTTP clients may call this host, beside loopback ones
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,
}

pub fn run(context: Context, args: &ServeArgs) -> Result<u8> {
    let place = place(&context);
    let opened: Arc<OnceLock<Arc<Session>>> = Arc::default();
    let open: Open = {
        let opened = Arc::clone(&opened);
        Arc::new(move |dir: &Path| {
            let attached = Attached::new(context.clone(), dir, Arc::clone(&opened))?;
            Ok(Arc::new(attached) as Arc<dyn Answers>)
        })
    };
    match args.http {
        None => mcp::serve(place, open)?,
        Some(bind) => serve_http(place, open, bind, &args.allow_host, opened)?,
    }
    Ok(0)
}

#[cfg(not(feature = "http"))]
fn serve_http(_: Place, _: Open, bind: SocketAddr, _: &[String], _: Arc<OnceLock<Arc<Session>>>) -> Result<()> {
    Err(Error::new(ErrorKind::Usage, format!("this build cannot serve at `{bind}`: it was made without HTTP"))
        .hint("build it with its default features, or serve over stdio"))
}

#[cfg(feature = "http")]
fn serve_http(
    place: Place,
    open: Open,
    bind: SocketAddr,
    hosts: &[String],
    opened: Arc<OnceLock<Arc<Session>>>,
) -> Result<()> {
    let given = std::env::var(TOKEN).ok().filter(|token| !token.trim().is_empty());
    if given.is_none() && !bind.ip().is_loopback() {
        return Err(Error::new(ErrorKind::Usage, format!("`{bind}` can be reached from other machines"))
            .hint(format!("set {TOKEN} to a token of your own, or listen at 127.0.0.1")));
    }
    let is_made = given.is_none();
    let token = given.unwrap_or_else(random_token);
    let http = Http { bind, token: token.clone(), hosts: hosts.to_vec() };
    let metrics = Arc::new(move || opened.get().map_or_else(String::new, |session| figures(session)));
    mcp::serve_http(place, open, &http, metrics, move |address| {
        output::remark(format_args!("serving at http://{address}/mcp\n"));
        if is_made {
            output::remark(format_args!("token: {token}\n"));
        }
    })
}

#[cfg(feature = "http")]
/// The figures of what is served; of a tree that cannot be read now, the counters alone.
fn figures(session: &Session) -> String {
    let counters = session.counters();
    match session.fresh() {
        Ok(atlas) => meter::prometheus(&meter::gauges(&atlas, session.store().map(|store| store.n_bytes)), &counters),
        Err(_) => meter::prometheus(&meter::Sums::new(), &counters),
    }
}

#[cfg(feature = "http")]
/// 256 bits in hex that nobody can guess: the standard library seeds its hashers from the
/// system's randomness.
fn random_token() -> String {
    (0..4u64).map(|at| format!("{:016x}", RandomState::new().hash_one(at))).collect()
}

/// `RATLAS_PATIENCE_MS`, for clients that give up sooner than most.
fn patience() -> Duration {
    let given = std::env::var("RATLAS_PATIENCE_MS").ok().and_then(|text| text.parse().ok());
    given.map_or(mcp::PATIENCE, Duration::from_millis)
}

/// `-C`, else the working directory where it lies in a git repository, else the client's to say.
fn place(context: &Context) -> Place {
    let dir: PathBuf = context.dir().to_owned();
    let is_known = context.is_dir_given() || Repo::open(&dir).is_ok_and(|repo| repo.has_git());
    Place { known: is_known.then(|| dir.clone()), fallback: dir, patience: patience() }
}
