//! The HTTP client of buckets: object_store's requests over the client that all remotes share, so
//! that proxies, certificates and patience are the same, and one TLS is built.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use http_body_util::BodyExt;
use object_store::client::{HttpClient, HttpConnector, HttpError, HttpErrorKind};
use object_store::client::{HttpRequest, HttpResponse, HttpService};
use object_store::{ClientConfigKey, ClientOptions};
use ureq::Agent;
use ureq::http::{Request, Uri};

/// The largest answer that is read: a piece of a pack, or a page of a listing.
const MAX_ANSWER_BYTES: u64 = 64 << 20;

/// How long the service that hands out a machine's credentials may take: elsewhere there is none.
const METADATA_PATIENCE: Duration = Duration::from_secs(1);

thread_local! {
    static STATUS: Cell<Option<u16>> = const { Cell::new(None) };
}

/// What `work` gives, and the status of the last whole answer that it had on this thread:
/// object_store's errors do not tell it.
pub fn with_status<T>(work: impl FnOnce() -> T) -> (T, Option<u16>) {
    STATUS.with(|status| status.set(None));
    let outcome = work();
    (outcome, STATUS.with(Cell::get))
}

/// Makes clients over an agent.
#[derive(Debug)]
pub struct Connector(pub Agent);

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let is_open = options.get_config_value(&ClientConfigKey::AllowHttp).as_deref() == Some("true");
        Ok(HttpClient::new(Client { agent: self.0.clone(), is_open }))
    }
}

#[derive(Debug)]
struct Client {
    agent: Agent,
    /// Whether requests may travel unencrypted.
    is_open: bool,
}

type Answer<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>;

impl HttpService for Client {
    // As `#[async_trait]` writes it.
    fn call<'a, 'b>(&'a self, request: HttpRequest) -> Answer<'b>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            if !self.is_open && parts.uri.scheme_str() != Some("https") {
                let what = "a bucket is asked over https only; AWS_ALLOW_HTTP=true (or its like) allows http";
                return Err(HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(what)));
            }
            let is_metadata = is_link_local(&parts.uri);
            let body = body.collect().await?.to_bytes();
            // Blocking is right here: whoever waits for this future does so on a thread of its own.
            let answer = match body.is_empty() {
                true => self.run(Request::from_parts(parts, ()), is_metadata),
                false => self.run(Request::from_parts(parts, &body[..]), is_metadata),
            };
            answer.map_err(|error| HttpError::new(kind(&error), error))
        })
    }
}

impl Client {
    fn run(&self, request: Request<impl ureq::AsSendBody>, is_metadata: bool) -> Result<HttpResponse, ureq::Error> {
        STATUS.with(|status| status.set(None));
        let response = match is_metadata {
            true => {
                let hasty = self.agent.configure_request(request).timeout_global(Some(METADATA_PATIENCE));
                self.agent.run(hasty.build())?
            }
            false => self.agent.run(request)?,
        };
        let (parts, body) = response.into_parts();
        let bytes = body.into_with_config().limit(MAX_ANSWER_BYTES).read_to_vec()?;
        STATUS.with(|status| status.set(Some(parts.status.as_u16())));
        Ok(HttpResponse::from_parts(parts, bytes.into()))
    }
}

/// Whether an address is that of the machine's own service for credentials.
fn is_link_local(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    host == "metadata.google.internal"
        || host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_link_local())
}

fn kind(error: &ureq::Error) -> HttpErrorKind {
    match error {
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => HttpErrorKind::Connect,
        ureq::Error::Io(_) | ureq::Error::Protocol(_) | ureq::Error::BodyStalled => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    }
}
