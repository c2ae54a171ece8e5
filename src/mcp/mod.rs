//! The server: the tools over the Model Context Protocol, on stdio or HTTP. The only door to rmcp,
//! hyper and tokio.
//!
//! The handshake is answered before any repository is opened. Nothing but JSON-RPC reaches stdout.

#[cfg(feature = "http")]
pub mod http;
mod message;
mod server;
mod stdio;
mod words;

#[cfg(feature = "http")]
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use crate::base::error::{Error, ErrorKind, Result};
#[cfg(feature = "http")]
use crate::mcp::http::{Http, Metrics};
use crate::mcp::server::Server;
use crate::tools::tool::Answers;

/// Opens the repository that a folder lies in.
pub type Open = Arc<dyn Fn(&Path) -> Result<Arc<dyn Answers>> + Send + Sync>;

/// Where the repository is.
#[derive(Clone, Debug)]
pub struct Place {
    /// The folder that was named, or that lies in a repository; else the client's roots decide.
    pub known: Option<PathBuf>,
    /// The folder to work in when the client has no roots either.
    pub fallback: PathBuf,
    /// How long a call waits for an index in the making before it answers from what there is.
    pub patience: Duration,
}

/// How long a call waits unless told otherwise: clients give up after 60 seconds.
pub const PATIENCE: Duration = Duration::from_secs(45);

/// Serves on stdin and stdout until stdin ends.
///
/// # Errors
/// `Io` when the runtime cannot start or the transport fails; an end of input is none.
pub fn serve(place: Place, open: Open) -> Result<()> {
    let runtime = runtime()?;
    let served = runtime.block_on(run(Server::new(place, open)));
    // Reading stdin may still block a thread of the runtime: it is not waited for.
    runtime.shutdown_background();
    served
}

#[cfg(feature = "http")]
/// Serves over HTTP until the process ends. `ready` is told the address that is listened at.
///
/// # Errors
/// `Io` when the runtime cannot start or the address cannot be listened at.
pub fn serve_http(
    place: Place,
    open: Open,
    http: &Http,
    metrics: Metrics,
    ready: impl FnOnce(SocketAddr),
) -> Result<()> {
    runtime()?.block_on(http::serve(Server::new(place, open), http, metrics, ready))
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|cause| Error::new(ErrorKind::Io, "cannot start the server").source(cause))
}

async fn run(server: Server) -> Result<()> {
    let pipes = stdio::connect(tokio::io::stdin(), tokio::io::stdout());
    let served = match server.serve((pipes.input, pipes.output)).await {
        Ok(running) => {
            running.waiting().await.map(|_| ()).map_err(|cause| failed("cannot go on serving").source(cause))
        }
        // The client went away before it asked anything.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        Err(cause) => Err(failed("cannot serve").source(cause)),
    };
    let _ = pipes.written.await;
    served
}

fn failed(what: &str) -> Error {
    Error::new(ErrorKind::Io, what)
}
