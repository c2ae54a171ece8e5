//! A small HTTP server on loopback over a folder, which can misbehave as told.

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
    token: Option<String>,
    plan: Mutex<Plan>,
    n_requests: AtomicU64,
    n_bytes: AtomicU64,
    is_over: AtomicBool,
}

impl Server {
    pub fn start(dir: &Path, token: Option<&str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            dir: dir.to_owned(),
            token: token.map(str::to_owned),
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
    if shared.token.as_ref().is_some_and(|token| headers.get("authorization") != Some(&format!("Bearer {token}"))) {
        return answer(&mut stream, "401 Unauthorized", "", b"");
    }
    let name = path.trim_start_matches('/');
    let file = shared.dir.join(name);
    let n = shared.n_requests.fetch_add(1, Ordering::Relaxed);
    let fault = (shared.plan.lock().unwrap())(n, name);
    if method == "PUT" {
        if headers.contains_key("if-none-match") && file.is_file() {
            return answer(&mut stream, "412 Precondition Failed", "", b"");
        }
        std::fs::create_dir_all(file.parent().unwrap())?;
        std::fs::write(&file, body)?;
        return answer(&mut stream, "201 Created", "", b"");
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
    let head = format!("Content-Range: bytes {start}-{}/{}\r\n", end - 1, whole.len());
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
