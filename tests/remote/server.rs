//! A small HTTP server on loopback over a folder, which can misbehave as told; also as a bucket of
//! S3's kind, which lists and removes.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What goes wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// The connection ends within the body.
    Cut,
    /// The body ends early, and its announced length agrees.
    Truncated,
    Flipped,
    NotFound,
    ServerError,
    /// It drips.
    Slow,
    /// The bytes of another file.
    Wrong,
    /// It ignores the range.
    Unranged,
}

pub const FAULTS: [Fault; 8] = [
    Fault::Cut,
    Fault::Truncated,
    Fault::Flipped,
    Fault::NotFound,
    Fault::ServerError,
    Fault::Slow,
    Fault::Wrong,
    Fault::Unranged,
];

type Plan = Box<dyn Fn(u64, &str) -> Fault + Send + Sync>;

/// A running server; it ends when dropped.
pub struct Server {
    pub address: String,
    shared: Arc<Shared>,
}

struct Shared {
    dir: PathBuf,
    /// What `Authorization` is to begin with.
    authorization: Option<String>,
    plan: Mutex<Plan>,
    n_requests: AtomicU64,
    n_bytes: AtomicU64,
    is_over: AtomicBool,
}

impl Server {
    pub fn start(dir: &Path, token: Option<&str>) -> Self {
        Self::with(dir, token.map(|token| format!("Bearer {token}")))
    }

    /// Buckets of S3's kind, one a folder below `dir`, for who signs with a key.
    #[cfg(feature = "cloud")]
    pub fn of_buckets(dir: &Path, key: &str) -> Self {
        Self::with(dir, Some(format!("AWS4-HMAC-SHA256 Credential={key}/")))
    }

    fn with(dir: &Path, authorization: Option<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            dir: dir.to_owned(),
            authorization,
            plan: Mutex::new(Box::new(|_, _| Fault::None)),
            n_requests: AtomicU64::new(0),
            n_bytes: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        });
        let served = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if served.is_over.load(Ordering::Relaxed) {
                    break;
                }
                let (Ok(stream), served) = (stream, Arc::clone(&served)) else { continue };
                std::thread::spawn(move || drop(serve(stream, &served)));
            }
        });
        Server { address, shared }
    }

    /// Lets answers go wrong: by the number of the request and its path.
    pub fn misbehave(&self, plan: impl Fn(u64, &str) -> Fault + Send + Sync + 'static) {
        self.shared.n_requests.store(0, Ordering::Relaxed);
        *self.shared.plan.lock().unwrap() = Box::new(plan);
    }

    /// Bytes of bodies that were sent.
    pub fn n_bytes(&self) -> u64 {
        self.shared.n_bytes.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // One connection more, so that the listener sees it.
        let _ = TcpStream::connect(self.address.trim_start_matches("http://"));
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next().unwrap_or("").to_owned(), words.next().unwrap_or("").to_owned());
    let mut headers = HashMap::new();
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.trim().to_lowercase(), value.trim().to_owned());
        }
    }
    let mut body = vec![0; headers.get("content-length").and_then(|n| n.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let given = headers.get("authorization").map(String::as_str).unwrap_or_default();
    if shared.authorization.as_ref().is_some_and(|wanted| !given.starts_with(wanted)) {
        return answer(&mut stream, "401 Unauthorized", "", b"");
    }
    let (path, query) = path.split_once('?').unwrap_or((&path, ""));
    let name = &plain(path.trim_start_matches('/'));
    let file = shared.dir.join(name);
    let n = shared.n_requests.fetch_add(1, Ordering::Relaxed);
    let fault = (shared.plan.lock().unwrap())(n, name);
    if method == "PUT" {
        if headers.contains_key("if-none-match") && file.is_file() {
            return answer(&mut stream, "412 Precondition Failed", "", b"");
        }
        std::fs::create_dir_all(file.parent().unwrap())?;
        std::fs::write(&file, body)?;
        return answer(&mut stream, "201 Created", "ETag: \"1\"\r\n", b"");
    }
    if method == "DELETE" {
        let _ = std::fs::remove_file(&file);
        return answer(&mut stream, "204 No Content", "", b"");
    }
    if query.contains("list-type=2") && fault == Fault::None {
        return answer(&mut stream, "200 OK", "", listing(&file, query).as_bytes());
    }
    let is_there = file.is_file() && fault != Fault::NotFound;
    match fault {
        Fault::ServerError => return answer(&mut stream, "500 Internal Server Error", "", b"sorry"),
        _ if !is_there => return answer(&mut stream, "404 Not Found", "", b"no such file"),
        _ => {}
    }
    let mut whole = std::fs::read(&file)?;
    if fault == Fault::Wrong {
        whole = other(&shared.dir, &file).unwrap_or(whole);
    }
    let range = headers.get("range").filter(|_| fault != Fault::Unranged);
    let range = range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let (start, status) = match range {
        Some((start, _)) => (start.parse().unwrap_or(0), "206 Partial Content"),
        None => (0, "200 OK"),
    };
    if start >= whole.len() {
        return answer(&mut stream, "416 Range Not Satisfiable", "", b"");
    }
    let end = range.and_then(|(_, end)| end.parse::<usize>().ok()).map_or(whole.len(), |end| whole.len().min(end + 1));
    let dated = "ETag: \"1\"\r\nLast-Modified: Tue, 01 Dec 2026 00:00:00 GMT\r\n";
    let head = format!("{dated}Content-Range: bytes {start}-{}/{}\r\n", end - 1, whole.len());
    let mut bytes = whole[start..end].to_vec();
    shared.n_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    match fault {
        Fault::Cut => {
            write!(stream, "HTTP/1.1 {status}\r\n{head}Content-Length: {}\r\nConnection: close\r\n\r\n", bytes.len())?;
            return stream.write_all(&bytes[..bytes.len() / 2]);
        }
        Fault::Truncated => bytes.truncate(bytes.len() / 2),
        Fault::Flipped => {
            let at = n as usize * 7919 % bytes.len();
            bytes[at] ^= 0x10;
        }
        Fault::Slow => {
            write!(stream, "HTTP/1.1 {status}\r\n{head}Content-Length: {}\r\nConnection: close\r\n\r\n", bytes.len())?;
            for piece in bytes.chunks(bytes.len() / 3 + 1) {
                std::thread::sleep(Duration::from_millis(3));
                stream.write_all(piece)?;
            }
            return Ok(());
        }
        Fault::None | Fault::Wrong | Fault::Unranged | Fault::NotFound | Fault::ServerError => {}
    }
    answer(&mut stream, status, &head, &bytes)
}

fn answer(stream: &mut TcpStream, status: &str, head: &str, body: &[u8]) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {status}\r\n{head}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    stream.write_all(body)
}

/// A text with its `%2F` and the like resolved.
fn plain(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut parts = text.split('%');
    bytes.extend(parts.next().unwrap().bytes());
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend(part[2..].bytes());
    }
    String::from_utf8(bytes).unwrap()
}

/// A folder of a bucket as `ListObjectsV2` tells it, files and folders two at a time.
fn listing(bucket: &Path, query: &str) -> String {
    let value = |name: &str| {
        let pair = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        pair.map(plain).unwrap_or_default()
    };
    let prefix = value("prefix");
    let mut found: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(bucket.join(&prefix)).into_iter().flatten().flatten() {
        let key = format!("{prefix}{}", entry.file_name().into_string().unwrap());
        found.push(match entry.metadata().unwrap() {
            folder if folder.is_dir() => format!("<CommonPrefixes><Prefix>{key}/</Prefix></CommonPrefixes>"),
            file => format!(
                "<Contents><Key>{key}</Key><LastModified>2026-12-01T00:00:00.000Z</LastModified><ETag>\"1\"</ETag>\
                 <Size>{}</Size></Contents>",
                file.len()
            ),
        });
    }
    found.sort();
    let start: usize = value("continuation-token").parse().unwrap_or(0);
    let next = match start + 2 < found.len() {
        true => format!("<NextContinuationToken>{}</NextContinuationToken>", start + 2),
        false => String::new(),
    };
    let shown: String = found.into_iter().skip(start).take(2).collect();
    format!("<ListBucketResult><Name>b</Name><Prefix>{prefix}</Prefix>{shown}{next}</ListBucketResult>")
}

/// Another file of the same folder, of the same kind if there is one.
fn other(dir: &Path, file: &Path) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(folder) = todo.pop() {
        for path in std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()) {
            if path.is_dir() { todo.push(path) } else { all.push(path) }
        }
    }
    all.sort();
    all.retain(|path| path != file);
    all.sort_by_key(|path| path.extension() != file.extension());
    std::fs::read(all.first()?).ok()
}
