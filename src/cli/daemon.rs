//! `ratlas daemon`: one warm session for many clients; and how commands and servers use it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use serde_json::{Map, Value};

use crate::atlas::Atlas;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::Digest;
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::{output, signals};
use crate::daemon::client;
use crate::daemon::place::Place;
use crate::daemon::server::{self, Options};
use crate::daemon::wire::{Identity, Question, Reply};
use crate::git::repo::Repo;
use crate::report::json;
use crate::session::Session;
use crate::session::place::store_folder;
use crate::tools;
use crate::tools::param::Asker;
use crate::tools::tool::{Answers, Desk, Now, Rendered, Tool};

#[derive(Debug, Args)]
pub struct DaemonArgs {
    #[command(subcommand)]
    command: DaemonCommand,
}

#[derive(Debug, Subcommand)]
enum DaemonCommand {
    /// Start one for this worktree, if none runs
    Start {
        /// End it when nobody has asked for this many minutes
        #[arg(long, value_name = "MINUTES", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=100_000))]
        idle_minutes: u64,
    },
    /// End it, if one runs
    Stop,
    /// Say whether one runs
    Status {
        /// Exit with 1 when none runs
        #[arg(long)]
        check: bool,
        /// The form of the answer
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
    /// Be one, in the foreground
    Run {
        /// End when nobody has asked for this many milliseconds
        #[arg(long, value_name = "MS", default_value_t = 30 * 60 * 1_000)]
        idle_ms: u64,
    },
}

/// How long a start or stop is waited for.
const WAIT: Duration = Duration::from_secs(10);

pub fn run(context: &Context, args: &DaemonArgs) -> Result<u8> {
    match args.command {
        DaemonCommand::Start { idle_minutes } => start(context, idle_minutes),
        DaemonCommand::Stop => stop(context),
        DaemonCommand::Status { check, format } => status(context, check, format),
        DaemonCommand::Run { idle_ms } => serve(context, Duration::from_millis(idle_ms)),
    }
}

/// Asks the daemon of the context's repository; `None` where none answers for this process, or
/// `RATLAS_DAEMON=off` forbids it.
pub fn ask(
    context: &Context,
    tool: &str,
    raw: &Map<String, Value>,
    asker: Asker,
    now: Now,
) -> Option<Result<Rendered>> {
    ask_at(context, context.dir(), tool, raw, asker, now)
}

fn ask_at(
    context: &Context,
    dir: &Path,
    tool: &str,
    raw: &Map<String, Value>,
    asker: Asker,
    now: Now,
) -> Option<Result<Rendered>> {
    let is_off = std::env::var_os("RATLAS_DAEMON").is_some_and(|value| value == "off");
    if is_off || tools::named(tool).is_none() {
        return None;
    }
    let (place, root) = place_at(context, dir).ok()?;
    if !place.socket.exists() {
        return None;
    }
    let question = Question::Ask {
        tool: tool.to_owned(),
        arguments: Value::Object(raw.clone()),
        is_command: asker == Asker::Command,
        is_held: now == Now::Held,
    };
    match client::ask(&place, &identity(context, &root).ok()?, &question)? {
        Reply::Answer(answer) => Some(Ok(answer)),
        Reply::Failed(error) => Some(Err(error)),
        Reply::Refused(_) | Reply::Working | Reply::Status { .. } | Reply::Stopping => None,
    }
}

/// Answers a server's questions: by the daemon of a worktree where one lives, else by this
/// process, which opens the repository when it first has to.
pub struct Attached {
    context: Context,
    dir: PathBuf,
    own: Mutex<Option<Arc<Desk>>>,
    opened: Arc<OnceLock<Arc<Session>>>,
    has_answered: AtomicBool,
}

impl Attached {
    /// Of the worktree that `dir` lies in. The session, once it is opened, is put into `opened`.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn new(context: Context, dir: &Path, opened: Arc<OnceLock<Arc<Session>>>) -> Result<Self> {
        let attached = Attached {
            context,
            dir: dir.to_owned(),
            own: Mutex::default(),
            opened,
            has_answered: AtomicBool::new(false),
        };
        // Without a daemon, what is wrong with the folder is said at once.
        if !place_at(&attached.context, dir).is_ok_and(|(place, _)| place.socket.exists()) {
            attached.own()?;
        }
        Ok(attached)
    }

    fn own(&self) -> Result<Arc<Desk>> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(desk) = own.as_ref() {
            return Ok(Arc::clone(desk));
        }
        let session = Arc::new(self.context.session_at(&self.dir)?);
        session.keep_tokens();
        let options = self.context.config_at(session.repo().root())?.tools();
        let _ = self.opened.set(Arc::clone(&session));
        let desk = Arc::new(Desk::new(session, options));
        *own = Some(Arc::clone(&desk));
        Ok(desk)
    }
}

impl Answers for Attached {
    fn answer(&self, tool: &'static Tool, raw: &Map<String, Value>, asker: Asker, now: Now) -> Result<Rendered> {
        let answer = match ask_at(&self.context, &self.dir, tool.name, raw, asker, now) {
            Some(answer) => answer,
            None => self.own()?.answer(tool, raw, asker, now),
        };
        self.has_answered.fetch_or(answer.is_ok(), Ordering::Relaxed);
        answer
    }

    fn atlas(&self) -> Result<Arc<Atlas>> {
        Answers::atlas(&*self.own()?)
    }

    fn is_warm(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }

    fn prepare(&self) {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(own) = own {
            own.prepare();
        }
    }
}

/// Where the daemon of the worktree that `dir` lies in listens, and the worktree's root.
fn place_at(context: &Context, dir: &Path) -> Result<(Place, std::path::PathBuf)> {
    let repo = Repo::open(dir)?;
    let store = store_folder(&repo, context.config_at(repo.root())?.store_path(repo.root()));
    let store = store.ok_or_else(|| {
        Error::new(ErrorKind::Store, "no folder for a store that processes share: there is no home folder")
            .hint("set `RATLAS_STORE` to a folder that you can write")
    })?;
    Ok((Place::of(repo.root(), &store), repo.root().to_owned()))
}

/// What answers hang on beside the tree: this program, and the configuration in force.
fn identity(context: &Context, root: &Path) -> Result<Identity> {
    Ok(Identity { build: build().to_owned(), config: config_name(context, root)? })
}

fn config_name(context: &Context, root: &Path) -> Result<String> {
    let config = context.config_at(root)?;
    Ok(Digest::of(format!("{:?} {:?}", config.rows(), config.store_path(root)).as_bytes()).to_string())
}

/// Names this program: its version and its file as it was when the process started.
fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| {
        let file = std::env::current_exe().and_then(|path| path.metadata());
        let modified = file.as_ref().ok().and_then(|metadata| metadata.modified().ok());
        let since = modified.and_then(|time| time.duration_since(std::time::SystemTime::UNIX_EPOCH).ok());
        let len_bytes = file.map_or(0, |metadata| metadata.len());
        let text = format!("{} {len_bytes} {}", env!("CARGO_PKG_VERSION"), since.map_or(0, |since| since.as_nanos()));
        Digest::of(text.as_bytes()).to_string()
    })
}

/// A question that only asks whether a daemon is there: who asks does not matter.
fn look(place: &Place, question: &Question) -> Option<Reply> {
    client::ask(place, &Identity { build: String::new(), config: String::new() }, question)
}

fn start(context: &Context, idle_minutes: u64) -> Result<u8> {
    let (place, root) = place_at(context, context.dir())?;
    if let Some(Reply::Status { pid, .. }) = look(&place, &Question::Status) {
        output::print(&format!("a daemon runs already (process {pid})\n"))?;
        return Ok(0);
    }
    place.make_folder()?;
    let failed = |cause: std::io::Error| Error::new(ErrorKind::Io, "cannot start the daemon").source(cause);
    let log = std::fs::File::create(&place.log).map_err(failed)?;
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.arg("-C").arg(&root).args(context.forwarded()).args(["daemon", "run", "--idle-ms"]);
    command.arg((idle_minutes * 60_000).to_string());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).current_dir(&root);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(failed)?;
    let started = Instant::now();
    while started.elapsed() < WAIT {
        if let Some(Reply::Status { pid, .. }) = look(&place, &Question::Status) {
            output::print(&format!("started (process {pid}), ends after {idle_minutes} idle minutes\n"))?;
            return Ok(0);
        }
        if child.try_wait().map_err(failed)?.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let said = std::fs::read_to_string(&place.log).unwrap_or_default();
    let said = crate::report::sanitize::line(said.lines().next().unwrap_or("it said nothing"), 400);
    Err(Error::new(ErrorKind::CannotAnswer, format!("the daemon did not come up: {said}"))
        .hint("`ratlas daemon run` shows more; every command works without it"))
}

fn stop(context: &Context) -> Result<u8> {
    let (place, _) = place_at(context, context.dir())?;
    if look(&place, &Question::Stop).is_none() {
        output::print("no daemon runs\n")?;
        return Ok(0);
    }
    let started = Instant::now();
    while started.elapsed() < WAIT && place.socket.exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    output::print("stopped\n")?;
    Ok(0)
}

fn status(context: &Context, check: bool, format: Format) -> Result<u8> {
    let (place, root) = place_at(context, context.dir())?;
    let found = look(&place, &Question::Status);
    let is_ours = identity(context, &root).is_ok_and(|identity| is_for(&place, &identity));
    let (text, answer) = match &found {
        Some(Reply::Status { pid, n_answered, idle_ms }) => {
            let whose = if is_ours { "" } else { ", of another build or configuration: commands work without it" };
            let text = format!(
                "a daemon runs (process {pid}), {n_answered} answered, idle for {} s{whose}\n",
                idle_ms / 1_000
            );
            let rows = [
                ("running", true.into()),
                ("pid", (*pid).into()),
                ("answered", (*n_answered).into()),
                ("idle_ms", (*idle_ms).into()),
                ("serves_this_client", is_ours.into()),
            ];
            (text, json::object(rows))
        }
        _ => ("no daemon runs\n".to_owned(), json::object([("running", false.into())])),
    };
    output::print(&match format {
        Format::Text => text,
        Format::Json => json::compact(&answer) + "\n",
    })?;
    match check && found.is_none() {
        true => Err(Error::new(ErrorKind::CheckFailed, "no daemon runs").hint("`ratlas daemon start` starts one")),
        false => Ok(0),
    }
}

/// Whether the daemon of a place answers for an identity.
fn is_for(place: &Place, identity: &Identity) -> bool {
    let question =
        Question::Ask { tool: String::new(), arguments: Value::Object(Map::new()), is_command: false, is_held: true };
    matches!(client::ask(place, identity, &question), Some(Reply::Failed(_)))
}

fn serve(context: &Context, idle: Duration) -> Result<u8> {
    let (place, root) = place_at(context, context.dir())?;
    let stop = Arc::new(AtomicBool::new(false));
    signals::stop_on(&stop)?;
    let context = context.clone();
    let open = move || {
        // The name first: a change of the configuration in between is seen at the next question.
        let config = config_name(&context, &root)?;
        let session = context.session_at(&root)?;
        session.keep_tokens();
        let options = context.config_at(&root)?.tools();
        Ok((Desk::new(Arc::new(session), options), config))
    };
    server::run(&place, Arc::new(open), Options { build: build().to_owned(), idle }, &stop)?;
    Ok(0)
}
