//! What commands share: where the repository is, its configuration, a session, the log.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracing_subscriber::EnvFilter;

use crate::atlas::AtlasSource;
use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::args::{Global, When};
use crate::config::{self, Config, Sources};
use crate::git::repo::Repo;
use crate::session::{Session, SessionOptions};

/// The global options, and what follows from them.
#[derive(Clone)]
pub struct Context {
    global: Global,
}

impl Context {
    /// A context of these options.
    pub fn new(global: Global) -> Self {
        Context { global }
    }

    /// Sends the log to stderr: warnings, or as `RATLAS_LOG` and `-v` say, under `-v` as lines of
    /// JSON; nothing under `-q`.
    pub fn start_log(&self) {
        let level = match (self.global.quiet, self.global.verbose) {
            (true, _) => "off",
            (false, 0) => "warn",
            (false, 1) => "info",
            (false, 2) => "debug",
            (false, _) => "trace",
        };
        let filter = EnvFilter::try_from_env("RATLAS_LOG").unwrap_or_else(|_| EnvFilter::new(level));
        // Who reads stderr may have gone away: an answer does not fail for a line of the log.
        let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
        let log = log.log_internal_errors(false);
        // A second start in one process (tests) keeps the first.
        let _ = match self.global.verbose {
            0 => log.with_ansi(self.colors_errors()).try_init(),
            // Who asks for more has a program read it.
            _ => log.json().try_init(),
        };
    }

    /// Whether errors are colored.
    pub fn colors_errors(&self) -> bool {
        match self.global.color {
            When::Always => true,
            When::Never => false,
            When::Auto => std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        }
    }

    /// Whether progress is shown: on a terminal only.
    pub fn shows_progress(&self) -> bool {
        !self.global.quiet && !self.global.no_progress && std::io::stderr().is_terminal()
    }

    /// The folder to work in.
    pub fn dir(&self) -> &Path {
        self.global.dir.as_deref().unwrap_or(Path::new("."))
    }

    /// Whether the folder was named by `-C`.
    pub fn is_dir_given(&self) -> bool {
        self.global.dir.is_some()
    }

    /// The global options that a process in the background works under too.
    pub fn forwarded(&self) -> Vec<std::ffi::OsString> {
        let mut arguments = Vec::new();
        if let Some(file) = &self.global.config {
            arguments.push("--config".into());
            arguments.push(std::path::absolute(file).unwrap_or_else(|_| file.clone()).into());
        }
        if let Some(jobs) = self.global.jobs {
            arguments.push("--jobs".into());
            arguments.push(jobs.to_string().into());
        }
        arguments
    }

    /// Whether the network is not to be used.
    pub fn is_offline(&self) -> bool {
        self.global.offline
    }

    /// Whether nothing but errors is to be said on stderr.
    pub fn is_quiet(&self) -> bool {
        self.global.quiet
    }

    /// The root of the repository.
    ///
    /// # Errors
    /// As [`Repo::open`].
    pub fn root(&self) -> Result<PathBuf> {
        Ok(Repo::open(self.dir())?.root().to_owned())
    }

    /// The configuration in force.
    ///
    /// # Errors
    /// `Config`; `Io` for a file that is there and cannot be read.
    pub fn config(&self) -> Result<Config> {
        self.config_at(&self.root()?)
    }

    /// The configuration in force for the repository at `root`.
    ///
    /// # Errors
    /// As [`Context::config`].
    pub fn config_at(&self, root: &Path) -> Result<Config> {
        self.config_of(read_text(&root.join(config::FILE_NAME))?.as_deref())
    }

    /// The configuration in force where the repository's file holds `text`; what `--config`, the
    /// user's file and the environment say stays.
    ///
    /// # Errors
    /// As [`Context::config`].
    pub fn config_of(&self, text: Option<&str>) -> Result<Config> {
        let repository = match &self.global.config {
            Some(file) => Some(read_text(file)?.ok_or_else(|| {
                Error::new(ErrorKind::Config, format!("no file `{}`", file.display()))
                    .hint("give an existing file to `--config`, or leave it out")
            })?),
            None => text.map(str::to_owned),
        };
        let user = match user_file() {
            Some(file) => read_text(&file)?,
            None => None,
        };
        let environment = std::env::vars_os()
            .filter_map(|(name, text)| Some((name.into_string().ok()?, text.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with("RATLAS_"));
        let mut environment: Vec<(String, String)> = environment.collect();
        environment.sort();
        Config::read(&Sources { repository, given: self.global.config.is_some(), user, environment })
    }

    /// A session on the repository.
    ///
    /// # Errors
    /// As [`Session::open`], and `Config`.
    pub fn session(&self) -> Result<Session> {
        self.session_at(self.dir())
    }

    /// A session on the repository that `dir` lies in.
    ///
    /// # Errors
    /// As [`Context::session`].
    pub fn session_at(&self, dir: &Path) -> Result<Session> {
        let root = Repo::open(dir)?.root().to_owned();
        let config = self.config_at(&root)?;
        let options = SessionOptions {
            store: config.store_path(&root),
            select: config.select(),
            redact_patterns: config.redact_patterns(),
            scip: config.scip(&root),
            jobs: self.global.jobs.map_or(0, usize::from),
        };
        Session::open(dir, &options)
    }

    /// The session as a source of atlases.
    ///
    /// # Errors
    /// As [`Context::session`].
    pub fn source(&self) -> Result<Arc<dyn AtlasSource + Send + Sync>> {
        let session = self.session()?;
        session.keep_tokens();
        Ok(Arc::new(session))
    }
}

/// The user's file: below `$XDG_CONFIG_HOME`, else `~/.config`.
fn user_file() -> Option<PathBuf> {
    Some(user_folder()?.join("config.toml"))
}

/// The folder of what is the user's own to say.
pub fn user_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = variable("XDG_CONFIG_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| variable("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("ratlas"))
}

/// A file's text; `None` when there is no such file.
fn read_text(file: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        // A home that is no folder (`HOME=/dev/null`) holds no file either.
        Err(cause) if matches!(cause.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(cause) => Err(Error::new(ErrorKind::Config, format!("cannot read `{}`", file.display())).source(cause)),
    }
}
