//! Pumps lines between the process's streams and the server.
//!
//! What is no message (broken JSON, a line too long, parameters of another shape) is answered
//! here and never reaches the server, which would drop it in silence. The end of input is passed
//! on only when every request that was read has its response: a client may write its questions,
//! close its end, and still get all answers.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;

use crate::mcp::message::{self, Kind, Session};

/// Bytes in flight between the pumps and the server.
const PIPE_BYTES: usize = 1 << 16;
/// How long the end of input waits for responses.
const LAST_WAIT: Duration = Duration::from_secs(60);
/// The longest line that is read; a longer one is passed over and answered as an error.
pub const MAX_LINE: usize = 16 << 20;

/// The server's ends of the pumps.
pub struct Pipes {
    pub input: DuplexStream,
    pub output: DuplexStream,
    /// Ends when all output is written.
    pub written: JoinHandle<()>,
}

/// What one reading gave.
enum Line {
    Text,
    /// It was longer than [`MAX_LINE`]; its bytes are gone.
    TooLong,
    End,
}

/// Starts the pumps between `from`, `to` and the pipes they give.
pub fn connect<W>(from: impl AsyncRead + Unpin + Send + 'static, to: W) -> Pipes
where
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (input, into_server) = tokio::io::duplex(PIPE_BYTES);
    let (output, out_of_server) = tokio::io::duplex(PIPE_BYTES);
    let open = Arc::new(watch::channel(0i64).0);
    let to = Arc::new(Mutex::new(to));
    tokio::spawn(read(from, into_server, Arc::clone(&to), Arc::clone(&open)));
    let written = tokio::spawn(write(out_of_server, to, open));
    Pipes { input, output, written }
}

async fn read<W>(from: impl AsyncRead + Unpin, mut into: DuplexStream, to: Arc<Mutex<W>>, open: Arc<watch::Sender<i64>>)
where
    W: AsyncWrite + Unpin,
{
    let mut lines = BufReader::new(from);
    let mut line = Vec::new();
    let mut session = Session::None;
    loop {
        let refusal = match read_line(&mut lines, &mut line).await {
            Line::End => break,
            Line::TooLong => Some(message::too_long(MAX_LINE)),
            Line::Text if line.iter().all(u8::is_ascii_whitespace) => continue,
            Line::Text => match message::check(&line, session) {
                Ok(kind) => {
                    match kind {
                        Kind::Initialize => {
                            session = Session::Open;
                            open.send_modify(|n| *n += 1);
                        }
                        Kind::Request => open.send_modify(|n| *n += 1),
                        Kind::Notification | Kind::Response => {}
                    }
                    None
                }
                Err(refusal) => Some(refusal),
            },
        };
        match refusal {
            Some(refusal) => {
                if put_line(&to, refusal.to_string().as_bytes()).await.is_err() {
                    break;
                }
            }
            None => {
                line.push(b'\n');
                if into.write_all(&line).await.is_err() {
                    return;
                }
            }
        }
    }
    let mut watched = open.subscribe();
    let _ = tokio::time::timeout(LAST_WAIT, watched.wait_for(|n| *n <= 0)).await;
    let _ = into.shutdown().await;
}

/// Reads up to a line's end, which is left out, in bounded memory.
async fn read_line(lines: &mut (impl AsyncBufReadExt + Unpin), line: &mut Vec<u8>) -> Line {
    line.clear();
    let (mut any, mut too_long) = (false, false);
    loop {
        let chunk = match lines.fill_buf().await {
            Ok(chunk) if !chunk.is_empty() => chunk,
            Ok(_) | Err(_) => break,
        };
        any = true;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        too_long |= line.len() + part.len() > MAX_LINE;
        if too_long {
            *line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let n_used = part.len() + usize::from(end.is_some());
        lines.consume(n_used);
        if end.is_some() {
            break;
        }
    }
    match (any, too_long) {
        (false, _) => Line::End,
        (true, true) => Line::TooLong,
        (true, false) => Line::Text,
    }
}

async fn put_line<W: AsyncWrite + Unpin>(to: &Mutex<W>, line: &[u8]) -> std::io::Result<()> {
    let mut to = to.lock().await;
    to.write_all(line).await?;
    if !line.ends_with(b"\n") {
        to.write_all(b"\n").await?;
    }
    to.flush().await
}

async fn write<W>(out_of: DuplexStream, to: Arc<Mutex<W>>, open: Arc<watch::Sender<i64>>)
where
    W: AsyncWrite + Unpin,
{
    let mut lines = BufReader::new(out_of);
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        if put_line(&to, &line).await.is_err() {
            break;
        }
        if is_response(&line) {
            open.send_modify(|n| *n -= 1);
        }
    }
    // Nothing can be answered any more: an end of input need not wait.
    open.send_modify(|n| *n = i64::MIN / 2);
}

fn is_response(line: &[u8]) -> bool {
    let Ok(message) = serde_json::from_slice::<Value>(line) else { return false };
    message.get("id").is_some_and(|id| !id.is_null()) && message.get("method").is_none()
}
