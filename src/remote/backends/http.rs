//! A remote behind HTTP: read with ranges, written with PUT where the server allows it. The only
//! door to the client.

use std::io::{self, Read, Write};
use std::ops::Range;
use std::time::Duration;

use ureq::http::{HeaderMap, Response, StatusCode};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use crate::base::error::{Error, ErrorKind, Result};
use crate::remote::backends::backend::{Access, Backend, Fault, Found, Listed, Outcome, Put};
use crate::remote::backends::shown;

/// The longest that a server's `Retry-After` is followed.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// How many bytes are read before those that were asked for, from a server that knows no ranges.
const MAX_SKIPPED: u64 = 4 << 30;

/// An HTTP server. Proxies come from `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`.
pub struct Http {
    agent: Agent,
    /// Without its query, without a `/` at its end.
    base: String,
    /// What followed `?` (a signature, say): sent with every request.
    query: Option<String>,
    token: Option<String>,
}

impl Http {
    /// The server at an address.
    ///
    /// # Errors
    /// `Config`, for certificates that cannot be read and a token that would travel in the open.
    pub fn new(address: &str, access: &Access) -> Result<Self> {
        let (base, query) = address.split_once('?').map_or((address, None), |(base, query)| (base, Some(query)));
        if access.token.is_some() && !base.starts_with("https://") && !is_this_machine(base) {
            let what = format!("a token would travel unencrypted to `{}`", shown(address));
            return Err(Error::new(ErrorKind::Config, what).hint("use https://, or unset RATLAS_REMOTE_TOKEN_FILE"));
        }
        Ok(Http {
            agent: agent(access, 5)?,
            base: base.trim_end_matches('/').to_owned(),
            query: query.map(str::to_owned),
            token: access.token.clone(),
        })
    }

    fn url(&self, name: &str) -> String {
        match &self.query {
            Some(query) => format!("{}/{name}?{query}", self.base),
            None => format!("{}/{name}", self.base),
        }
    }

    fn bearer(&self) -> Option<String> {
        self.token.as_ref().map(|token| format!("Bearer {token}"))
    }

    fn put(&self, name: &str, bytes: &[u8], is_new: bool) -> Outcome<Put> {
        let mut request = self.agent.put(self.url(name)).header("Content-Type", "application/octet-stream");
        if let Some(bearer) = self.bearer() {
            request = request.header("Authorization", bearer);
        }
        if is_new {
            request = request.header("If-None-Match", "*");
        }
        let response = request.send(bytes).map_err(|error| fault(&error))?;
        match response.status() {
            status if status.is_success() => Ok(Put::Written),
            StatusCode::PRECONDITION_FAILED | StatusCode::CONFLICT if is_new => Ok(Put::WasThere),
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => {
                Err(Fault::lasting("the server takes no PUT: this remote can only be read"))
            }
            status => Err(refused(status, response.headers())),
        }
    }
}

/// The client of all remotes that are reached over HTTP. It follows so many redirects, and hands
/// the next one on.
///
/// # Errors
/// `Config`, for certificates that cannot be read.
pub fn agent(access: &Access, max_redirects: u32) -> Result<Agent> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .user_agent(concat!("ratlas/", env!("CARGO_PKG_VERSION")))
        .max_redirects(max_redirects)
        .max_redirects_will_error(max_redirects > 0)
        .timeout_connect(Some(access.patience))
        .timeout_recv_response(Some(access.patience))
        .timeout_per_read(Some(access.patience))
        .timeout_per_write(Some(access.patience));
    if let Some(bundle) = &access.ca_bundle {
        config = config.tls_config(TlsConfig::builder().root_certs(certificates(bundle)?).build());
    }
    Ok(config.build().new_agent())
}

impl Backend for Http {
    fn address(&self) -> String {
        shown(&self.base)
    }

    fn read(&self, name: &str, range: Range<u64>, sink: &mut dyn Write) -> Outcome<Found> {
        if range.is_empty() {
            return Ok(Found::Yes);
        }
        // Packed bytes do not pack again, and a range of packed ones is none of the file.
        let mut request = self.agent.get(self.url(name)).header("Accept-Encoding", "identity");
        request = request.header("Range", format!("bytes={}-{}", range.start, range.end - 1));
        if let Some(bearer) = self.bearer() {
            request = request.header("Authorization", bearer);
        }
        let response = request.call().map_err(|error| fault(&error))?;
        match response.status() {
            StatusCode::PARTIAL_CONTENT => match content_start(response.headers()) {
                Some(start) if start == range.start => copy(response, 0, range, sink),
                _ => Err(Fault::passing("the server sent another range than was asked for")),
            },
            StatusCode::OK => copy(response, range.start, range, sink),
            // The file ends before the range.
            StatusCode::RANGE_NOT_SATISFIABLE => Ok(Found::Yes),
            StatusCode::NOT_FOUND | StatusCode::GONE => Ok(Found::No),
            status => Err(refused(status, response.headers())),
        }
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Outcome<Put> {
        // Not every server heeds `If-None-Match`; asking first also saves the body.
        if self.read(name, 0..1, &mut io::sink())? == Found::Yes {
            return Ok(Put::WasThere);
        }
        self.put(name, bytes, true)
    }

    fn put_over(&self, name: &str, bytes: &[u8]) -> Outcome<()> {
        self.put(name, bytes, false).map(|_| ())
    }

    fn list(&self, _folder: &str) -> Outcome<Vec<Listed>> {
        Err(Fault::lasting("HTTP cannot list files: run this on the folder or bucket behind the server"))
    }

    fn remove(&self, _name: &str) -> Outcome<()> {
        Err(Fault::lasting("files are not removed over HTTP: run this on the folder or bucket behind the server"))
    }
}

/// Copies a body, without its first `n_before` bytes, as far as the range goes. A body that ends
/// before what its head announced is a fault of its own, which the client reports.
fn copy(response: Response<Body>, n_before: u64, range: Range<u64>, sink: &mut dyn Write) -> Outcome<Found> {
    if n_before > MAX_SKIPPED {
        return Err(Fault::lasting("the server knows no ranges"));
    }
    let len = range.end - range.start;
    let mut body = response.into_body().into_with_config().limit(n_before.saturating_add(len) + 1).reader();
    io::copy(&mut (&mut body).take(n_before), &mut io::sink()).map_err(Fault::passing)?;
    io::copy(&mut body.take(len), sink).map_err(Fault::passing)?;
    Ok(Found::Yes)
}

/// Where a partial answer begins: `Content-Range: bytes 10-19/200`.
fn content_start(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get("content-range")?.to_str().ok()?;
    text.trim().strip_prefix("bytes ")?.split('-').next()?.parse().ok()
}

fn refused(status: StatusCode, headers: &HeaderMap) -> Fault {
    let passing = status.is_server_error()
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY);
    let advice = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => " (is RATLAS_REMOTE_TOKEN_FILE set and right?)",
        _ => "",
    };
    let wait = headers.get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
    Fault {
        what: format!("the server answers {}{advice}", status.as_u16()),
        is_passing: passing,
        wait: wait.map(|seconds| Duration::from_secs(seconds).min(MAX_WAIT)),
    }
}

fn fault(error: &ureq::Error) -> Fault {
    match error {
        ureq::Error::Io(_)
        | ureq::Error::Timeout(_)
        | ureq::Error::ConnectionFailed
        | ureq::Error::Protocol(_)
        | ureq::Error::BodyStalled => Fault::passing(error),
        _ => Fault::lasting(error),
    }
}

/// Whether an address is of this machine.
fn is_this_machine(base: &str) -> bool {
    let host = base.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn certificates(bundle: &std::path::Path) -> Result<RootCerts> {
    let wrong = || {
        Error::new(ErrorKind::Config, format!("cannot read certificates from `{}`", bundle.display()))
            .hint("let SSL_CERT_FILE name a file of PEM certificates, or unset it")
    };
    let pem = std::fs::read(bundle).map_err(|cause| wrong().source(cause))?;
    let certificates: Vec<_> = parse_pem(&pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(wrong());
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

#[cfg(test)]
mod tests {
    use super::{Http, is_this_machine};
    use crate::remote::backends::backend::Access;

    #[test]
    fn a_token_never_travels_in_the_open() {
        let access = Access { token: Some("t".into()), ..Access::default() };
        assert!(Http::new("http://maps.example/x", &access).is_err());
        assert!(Http::new("https://maps.example/x", &access).is_ok());
        assert!(Http::new("http://127.0.0.1:80/x", &access).is_ok());
    }

    #[test]
    fn this_machine_is_known_by_address_only() {
        for (base, is_own) in [
            ("http://localhost:1/x", true),
            ("http://[::1]:1/x", true),
            ("http://127.0.0.1.evil.example/x", false),
            ("http://localhost@evil.example/x", false),
        ] {
            assert_eq!(is_this_machine(base), is_own, "{base}");
        }
    }
}
