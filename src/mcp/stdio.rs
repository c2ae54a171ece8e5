//! Pumps lines between the process's streams and the server.
//!
//! The end of input is passed on only when every request that was read has its response: a client
//! may write its questions, close its end, and still get all answers.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Bytes in flight between the pumps and the server.
const PIPE_BYTES: usize = 1 << 16;
/// How long the end of input waits for responses.
const LAST_WAIT: Duration = Duration::from_secs(60);

/// The server's ends of the pumps.
pub struct Pipes {
    pub input: DuplexStream,
    pub output: DuplexStream,
    /// Ends when all output is written.
    pub written: JoinHandle<()>,
}

/// Starts the pumps between `from`, `to` and the pipes they give.
pub fn connect(from: impl AsyncRead + Unpin + Send + 'static, to: impl AsyncWrite + Unpin + Send + 'static) -> Pipes {
    let (input, into_server) = tokio::io::duplex(PIPE_BYTES);
    let (output, out_of_server) = tokio::io::duplex(PIPE_BYTES);
    let open = Arc::new(watch::channel(0i64).0);
    tokio::spawn(read(from, into_server, Arc::clone(&open)));
    let written = tokio::spawn(write(out_of_server, to, open));
    Pipes { input, output, written }
}

async fn read(from: impl AsyncRead + Unpin, mut into: DuplexStream, open: Arc<watch::Sender<i64>>) {
    let mut lines = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        if is_request(&line) {
            open.send_modify(|n| *n += 1);
        }
        if into.write_all(&line).await.is_err() {
            return;
        }
    }
    let mut watched = open.subscribe();
    let _ = tokio::time::timeout(LAST_WAIT, watched.wait_for(|n| *n <= 0)).await;
    let _ = into.shutdown().await;
}

async fn write(out_of: DuplexStream, mut to: impl AsyncWrite + Unpin, open: Arc<watch::Sender<i64>>) {
    let mut lines = BufReader::new(out_of);
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        if to.write_all(&line).await.is_err() || to.flush().await.is_err() {
            break;
        }
        if is_response(&line) {
            open.send_modify(|n| *n -= 1);
        }
    }
    // Nothing can be answered any more: an end of input need not wait.
    open.send_modify(|n| *n = i64::MIN / 2);
}

fn is_request(line: &[u8]) -> bool {
    fields(line).is_some_and(|(has_id, has_method)| has_id && has_method)
}

fn is_response(line: &[u8]) -> bool {
    fields(line).is_some_and(|(has_id, has_method)| has_id && !has_method)
}

fn fields(line: &[u8]) -> Option<(bool, bool)> {
    let message: Value = serde_json::from_slice(line).ok()?;
    Some((message.get("id").is_some_and(|id| !id.is_null()), message.get("method").is_some()))
}
