//! The server over streamable HTTP: one endpoint, `/mcp`, behind a bearer token. Host and Origin
//! of requests are checked against rebinding; the address is a loopback one unless told otherwise.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::base::error::{Error, ErrorKind, Result};
use crate::mcp::server::Server;

/// The path of the protocol's endpoint.
const ENDPOINT: &str = "/mcp";
/// The path of the figures.
const METRICS: &str = "/metrics";
/// Connections that are held at once; more wait to be accepted.
const MAX_CONNECTIONS: usize = 64;
/// How long a client may take for its headers.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// The largest body of a request: questions are small.
const MAX_BODY: usize = 4 << 20;

/// Where and for whom to serve.
#[derive(Clone, Debug)]
pub struct Http {
    pub bind: SocketAddr,
    /// What clients must send as `Authorization: Bearer …`.
    pub token: String,
    /// Names by which clients may call this host beside loopback ones.
    pub hosts: Vec<String>,
}

/// Gives the figures as Prometheus text.
pub type Metrics = Arc<dyn Fn() -> String + Send + Sync>;

type Body = BoxBody<Bytes, Infallible>;

/// What every connection shares.
struct Gate {
    token: String,
    protocol: StreamableHttpService<Server, LocalSessionManager>,
    metrics: Metrics,
}

/// Serves until the process ends. `ready` is told the address that is listened at.
///
/// # Errors
/// `Io` when the address cannot be listened at.
pub async fn serve(server: Server, http: &Http, metrics: Metrics, ready: impl FnOnce(SocketAddr)) -> Result<()> {
    let listener = TcpListener::bind(http.bind).await.map_err(|cause| {
        Error::new(ErrorKind::Io, format!("cannot listen at `{}`", http.bind))
            .hint("give another address or port: `--http 127.0.0.1:7078`")
            .source(cause)
    })?;
    let bound = listener.local_addr().unwrap_or(http.bind);
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1", "[::1]"].map(str::to_owned).to_vec();
    hosts.push(bound.ip().to_string());
    hosts.extend(http.hosts.iter().cloned());
    let origins: Vec<String> =
        hosts.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]).collect();
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .with_max_request_body_bytes(MAX_BODY);
    let protocol = StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config);
    let gate = Arc::new(Gate { token: http.token.clone(), protocol, metrics });
    ready(bound);
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return Ok(()) };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(cause) => {
                tracing::warn!("cannot accept a connection: {cause}");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let gate = Arc::clone(&gate);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let gate = Arc::clone(&gate);
                async move { Ok::<_, Infallible>(answer(&gate, request).await) }
            });
            let mut builder = hyper::server::conn::http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME);
            if let Err(cause) = builder.serve_connection(TokioIo::new(stream), service).await {
                tracing::debug!("a connection ended: {cause}");
            }
            drop(place);
        });
    }
}

async fn answer(gate: &Gate, request: Request<Incoming>) -> Response<Body> {
    if !is_authorized(&gate.token, request.headers().get(AUTHORIZATION)) {
        let mut refused = plain(StatusCode::UNAUTHORIZED, "send the token as `Authorization: Bearer TOKEN`\n");
        refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"ratlas\""));
        return refused;
    }
    match (request.method(), request.uri().path()) {
        (_, ENDPOINT) => gate.protocol.handle(request).await,
        (&Method::GET, METRICS) => {
            let metrics = Arc::clone(&gate.metrics);
            let text = tokio::task::spawn_blocking(move || metrics()).await.unwrap_or_default();
            let mut response = plain(StatusCode::OK, text);
            let form = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, form);
            response
        }
        _ => plain(StatusCode::NOT_FOUND, "there are /mcp and /metrics\n"),
    }
}

/// Whether the header carries the token; takes as long for a wrong one as for the right one.
fn is_authorized(token: &str, header: Option<&HeaderValue>) -> bool {
    let Some(given) = header.and_then(|header| header.to_str().ok()) else { return false };
    let Some((scheme, given)) = given.split_once(' ') else { return false };
    let given = given.trim();
    let differs = given.bytes().zip(token.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
    scheme.eq_ignore_ascii_case("bearer") && given.len() == token.len() && differs == 0 && !token.is_empty()
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Full::new(text.into()).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::is_authorized;

    #[test]
    fn only_the_token_opens() {
        let check = |header: &str| is_authorized("s3cret", Some(&HeaderValue::from_str(header).unwrap()));
        assert!(check("Bearer s3cret") && check("bearer  s3cret"));
        for wrong in ["Bearer s3creT", "Bearer s3cre", "Bearer ", "Basic s3cret", "s3cret", "Bearer s3cret2"] {
            assert!(!check(wrong), "{wrong}");
        }
        assert!(!is_authorized("s3cret", None) && !is_authorized("", Some(&HeaderValue::from_static("Bearer "))));
    }
}
