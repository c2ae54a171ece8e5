//! The daemon itself: one connection a question, one thread a connection, one desk for all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::base::error::{Error, ErrorKind, Result};
use crate::daemon::place::Place;
use crate::tools::tool::Desk;

/// The most questions at once; further ones are closed on, and their clients answer alone.
const MAX_OPEN: usize = 64;
/// How long a client may take to say what it asks.
const QUESTION_WAIT: Duration = Duration::from_secs(5);
/// How often it is looked whether to end.
const TICK: Duration = Duration::from_millis(200);

/// Opens the desk; gives it with the name of the configuration that it works under.
pub type Open = Arc<dyn Fn() -> Result<(Desk, String)> + Send + Sync>;

/// How a daemon runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// The build that it is, as clients name theirs.
    pub build: String,
    /// It ends when nobody has asked anything for this long.
    pub idle: Duration,
}

struct Daemon {
    open: Open,
    options: Options,
    opened: Mutex<Option<(Arc<Desk>, String)>>,
    started: Instant,
    /// Milliseconds from the start to the last question.
    last_ms: AtomicU64,
    n_answered: AtomicU64,
    is_preparing: Arc<AtomicBool>,
    n_open: AtomicUsize,
    stop: Arc<AtomicBool>,
}

impl Daemon {
    fn new(open: Open, options: Options, stop: Arc<AtomicBool>) -> Self {
        Daemon {
            open,
            options,
            opened: Mutex::new(None),
            started: Instant::now(),
            last_ms: AtomicU64::new(0),
            n_answered: AtomicU64::new(0),
            is_preparing: Arc::default(),
            n_open: AtomicUsize::new(0),
            stop,
        }
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn idle_ms(&self) -> u64 {
        self.elapsed_ms().saturating_sub(self.last_ms.load(Ordering::Relaxed))
    }

    /// Whether it is to end: told to, or idle for too long with nobody waiting.
    fn is_over(&self) -> bool {
        let idle = u64::try_from(self.options.idle.as_millis()).unwrap_or(u64::MAX);
        self.stop.load(Ordering::Relaxed) || (self.n_open.load(Ordering::Relaxed) == 0 && self.idle_ms() > idle)
    }

    /// The desk for a configuration: opened again when the configuration in force is that one now;
    /// `None` when it is another.
    fn desk(&self, config: &str) -> Result<Option<Arc<Desk>>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((desk, held)) = opened.as_ref()
            && held == config
        {
            return Ok(Some(Arc::clone(desk)));
        }
        let (desk, now) = (self.open)()?;
        if now != config {
            return Ok(None);
        }
        let desk = Arc::new(desk);
        *opened = Some((Arc::clone(&desk), now));
        Ok(Some(desk))
    }
}

/// Serves until told to stop, or idle for too long; takes its socket away at the end.
///
/// # Errors
/// `CannotAnswer` when another daemon serves this worktree, or where there are no such sockets;
/// `Io` when the socket cannot be made.
#[cfg(unix)]
pub fn run(place: &Place, open: Open, options: Options, stop: &Arc<AtomicBool>) -> Result<()> {
    place.make_folder()?;
    let _lock = unix::take_lock(place)?.ok_or_else(|| {
        Error::new(ErrorKind::CannotAnswer, "a daemon serves this worktree already")
            .hint("`ratlas daemon status` says which; `ratlas daemon stop` ends it")
    })?;
    unix::serve(place, Arc::new(Daemon::new(open, options, Arc::clone(stop))))
}

/// As on Unix, where there are local sockets.
///
/// # Errors
/// `CannotAnswer`, always.
#[cfg(not(unix))]
pub fn run(_place: &Place, open: Open, options: Options, stop: &Arc<AtomicBool>) -> Result<()> {
    let daemon = Daemon::new(open, options, Arc::clone(stop));
    let _ = (daemon.is_over(), daemon.desk(""));
    Err(Error::new(ErrorKind::CannotAnswer, "the daemon needs local sockets of Unix")
        .hint("every command works without it"))
}

#[cfg(unix)]
pub(super) mod unix {
    use std::fs::{File, TryLockError};
    use std::io;
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::sync::mpsc::{self, RecvTimeoutError};

    use serde_json::Value;

    use super::{Daemon, MAX_OPEN, QUESTION_WAIT, TICK};
    use crate::base::error::{Error, ErrorKind, Result};
    use crate::daemon::place::Place;
    use crate::daemon::wire::{self, HEARTBEAT, MAX_QUESTION, Question, Reply};
    use crate::tools;
    use crate::tools::param::Asker;
    use crate::tools::tool::{Answers, Now};

    /// Locks the place; `None` while another process lives that has. The kernel unlocks it when
    /// that process ends, however it does.
    pub fn take_lock(place: &Place) -> Result<Option<File>> {
        let failed = |cause: io::Error| {
            Error::new(ErrorKind::Io, format!("cannot lock `{}`", place.lock.display())).source(cause)
        };
        let file =
            File::options().create(true).truncate(false).write(true).mode(0o600).open(&place.lock).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(cause)) => Err(failed(cause)),
        }
    }

    pub(super) fn serve(place: &Place, daemon: Arc<Daemon>) -> Result<()> {
        let failed = |cause: io::Error| {
            Error::new(ErrorKind::Io, format!("cannot listen on `{}`", place.socket.display())).source(cause)
        };
        // The lock is ours: whoever made this socket is dead.
        let _ = std::fs::remove_file(&place.socket);
        let listener = UnixListener::bind(&place.socket).map_err(failed)?;
        std::fs::set_permissions(&place.socket, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let watchdog = {
            let (daemon, socket) = (Arc::clone(&daemon), place.socket.clone());
            std::thread::spawn(move || {
                while !daemon.is_over() {
                    std::thread::sleep(TICK);
                    // A socket that was removed by hand can never be asked again.
                    if !socket.exists() {
                        break;
                    }
                }
                daemon.stop.store(true, Ordering::Relaxed);
                // Wakes the thread that waits for a connection.
                let _ = UnixStream::connect(&socket);
                if !socket.exists() {
                    std::process::exit(0);
                }
            })
        };
        for stream in listener.incoming() {
            if daemon.stop.load(Ordering::Relaxed) {
                break;
            }
            let Ok(stream) = stream else { continue };
            if daemon.n_open.fetch_add(1, Ordering::Relaxed) >= MAX_OPEN {
                daemon.n_open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let daemon = Arc::clone(&daemon);
            std::thread::spawn(move || {
                if let Err(error) = converse(&daemon, stream) {
                    tracing::debug!("a client went away: {error}");
                }
                daemon.last_ms.store(daemon.elapsed_ms(), Ordering::Relaxed);
                daemon.n_open.fetch_sub(1, Ordering::Relaxed);
            });
        }
        let _ = std::fs::remove_file(&place.socket);
        let _ = watchdog.join();
        Ok(())
    }

    /// One connection: a question, signs of life, a reply.
    fn converse(daemon: &Arc<Daemon>, mut stream: UnixStream) -> io::Result<()> {
        stream.set_read_timeout(Some(QUESTION_WAIT))?;
        stream.set_write_timeout(Some(QUESTION_WAIT))?;
        let message = wire::receive(&mut stream, MAX_QUESTION)?;
        let reply = match wire::read_question(&message) {
            None => Reply::Refused("another protocol"),
            Some((_, Question::Status)) => Reply::Status {
                pid: u64::from(std::process::id()),
                n_answered: daemon.n_answered.load(Ordering::Relaxed),
                idle_ms: daemon.idle_ms(),
            },
            Some((_, Question::Stop)) => {
                wire::send(&mut stream, &wire::reply_json(&Reply::Stopping))?;
                daemon.stop.store(true, Ordering::Relaxed);
                return Ok(());
            }
            Some((identity, _)) if identity.build != daemon.options.build => Reply::Refused("another build"),
            Some((identity, Question::Ask { tool, arguments, is_command, is_held })) => {
                daemon.last_ms.store(daemon.elapsed_ms(), Ordering::Relaxed);
                let (to, from) = mpsc::channel();
                let worker = Arc::clone(daemon);
                std::thread::spawn(move || {
                    let reply = answer(&worker, &identity.config, &tool, arguments, is_command, is_held);
                    let _ = to.send(reply);
                });
                loop {
                    match from.recv_timeout(HEARTBEAT) {
                        Ok(reply) => break reply,
                        Err(RecvTimeoutError::Timeout) => wire::send(&mut stream, &wire::reply_json(&Reply::Working))?,
                        // The question stopped the work: the client answers by itself.
                        Err(RecvTimeoutError::Disconnected) => return Ok(()),
                    }
                }
            }
        };
        stream.set_write_timeout(None)?;
        wire::send(&mut stream, &wire::reply_json(&reply))
    }

    fn answer(daemon: &Daemon, config: &str, tool: &str, arguments: Value, is_command: bool, is_held: bool) -> Reply {
        let desk = match daemon.desk(config) {
            Ok(Some(desk)) => desk,
            Ok(None) => return Reply::Refused("another configuration"),
            Err(error) => return Reply::Failed(error),
        };
        let (Some(tool), Value::Object(raw)) = (tools::named(tool), arguments) else {
            return Reply::Failed(Error::new(ErrorKind::Usage, "the daemon has no such tool"));
        };
        let asker = if is_command { Asker::Command } else { Asker::Client };
        let now = if is_held { Now::Held } else { Now::Fresh };
        daemon.n_answered.fetch_add(1, Ordering::Relaxed);
        let answer = desk.answer(tool, &raw, asker, now);
        if !daemon.is_preparing.swap(true, Ordering::Relaxed) {
            let (desk, is_preparing) = (Arc::clone(&desk), Arc::clone(&daemon.is_preparing));
            std::thread::spawn(move || {
                desk.prepare();
                is_preparing.store(false, Ordering::Relaxed);
            });
        }
        match answer {
            Ok(answer) => Reply::Answer(answer),
            Err(error) => Reply::Failed(error),
        }
    }
}
