//! The client's end: asks a daemon where one lives, and says when none does.

use std::time::Duration;

use crate::daemon::place::Place;
use crate::daemon::wire::{Identity, Question, Reply};

/// How long a daemon may say nothing: several of its signs of life.
const SILENCE: Duration = Duration::from_secs(8);

/// Asks the daemon of a place; `None` where none lives, it is of another kind, or it went away
/// while it was asked. A socket that a dead one left is removed.
#[cfg(unix)]
pub fn ask(place: &Place, identity: &Identity, question: &Question) -> Option<Reply> {
    use std::os::unix::net::UnixStream;

    use crate::daemon::server::unix::take_lock;
    use crate::daemon::wire::{self, MAX_ANSWER};

    let mut stream = match UnixStream::connect(&place.socket) {
        Ok(stream) => stream,
        Err(error) => {
            let is_left = error.kind() == std::io::ErrorKind::ConnectionRefused;
            // Whoever has the lock can be sure that nobody listens.
            if is_left && let Ok(Some(_lock)) = take_lock(place) {
                let _ = std::fs::remove_file(&place.socket);
            }
            return None;
        }
    };
    stream.set_read_timeout(Some(SILENCE)).ok()?;
    stream.set_write_timeout(Some(SILENCE)).ok()?;
    wire::send(&mut stream, &wire::question_json(identity, question)).ok()?;
    loop {
        match wire::read_reply(&wire::receive(&mut stream, MAX_ANSWER).ok()?)? {
            Reply::Working => {}
            reply => return Some(reply),
        }
    }
}

/// As on Unix: there is never one.
#[cfg(not(unix))]
pub fn ask(_place: &Place, _identity: &Identity, _question: &Question) -> Option<Reply> {
    let _ = SILENCE;
    None
}
