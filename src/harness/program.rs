//! Programs that the harness runs: each in a process group of its own, with its output in a file,
//! until it ends, its time is over, or the whole run is to end. What it started ends with it.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::base::error::{Error, ErrorKind, Result};

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With 0.
    Success,
    /// With another code, or by a signal.
    Failure,
    /// It had to be stopped.
    TimeOut,
}

/// How often a program is looked at.
const TICK: Duration = Duration::from_millis(20);

/// Runs a command in `dir`, with its output in `log`, for at most `limit`.
///
/// # Errors
/// `Io` when it cannot be started, its log cannot be written, or `stop` was set meanwhile.
pub fn run(command: &mut Command, dir: &Path, log: &Path, limit: Duration, stop: &AtomicBool) -> Result<End> {
    let unwritten = |cause| failed("cannot write logs").source(cause);
    let file = fs::File::create(log).map_err(unwritten)?;
    let errors = file.try_clone().map_err(unwritten)?;
    command.current_dir(dir).stdin(Stdio::null()).stdout(file).stderr(errors);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|cause| {
        Error::new(ErrorKind::Io, format!("cannot start `{name}`"))
            .hint("give the program of `agent.command` or `check` by its whole path")
            .source(cause)
    })?;
    let started = Instant::now();
    loop {
        let ended = child.try_wait().map_err(|cause| failed("cannot wait for a program").source(cause))?;
        let is_over = started.elapsed() >= limit;
        let is_stopped = stop.load(Ordering::Relaxed);
        if ended.is_none() && !is_over && !is_stopped {
            std::thread::sleep(TICK);
            continue;
        }
        end_all(&mut child);
        return match ended {
            Some(status) if status.success() => Ok(End::Success),
            Some(_) => Ok(End::Failure),
            None if is_stopped => Err(failed("the run was interrupted")),
            None => Ok(End::TimeOut),
        };
    }
}

/// Ends a program with all that it started and left in its group: a server in the background
/// would disturb the runs after it.
fn end_all(child: &mut Child) {
    #[cfg(unix)]
    {
        // The shell's own `kill`: the standard library has none for groups. It fails where nobody
        // is left.
        let mut kill = Command::new("sh");
        kill.args(["-c", "kill -s KILL -- \"-$1\"", "sh", &child.id().to_string()]);
        let _ = kill.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn failed(what: &str) -> Error {
    Error::new(ErrorKind::Io, what)
}
