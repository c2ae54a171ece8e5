//! What a remote must be able to do.

use std::fmt;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

/// A store of named files. Names are made by `layout`: relative, with `/`, of plain characters.
pub trait Backend: Send + Sync {
    /// Its address for messages, without secrets.
    fn address(&self) -> String;

    /// Writes the bytes of a file within `range` to `sink` as they come; fewer where the file
    /// ends. After a fault, what `sink` took is right so far. Says whether there is such a file.
    fn read(&self, name: &str, range: Range<u64>, sink: &mut dyn Write) -> Outcome<Found>;

    /// Writes a file whole, unless there is one of that name.
    fn put_new(&self, name: &str, bytes: &[u8]) -> Outcome<Put>;

    /// Writes a file whole over what there may be: for hints, and for upkeep.
    fn put_over(&self, name: &str, bytes: &[u8]) -> Outcome<()>;

    /// The files below a folder. Only upkeep asks.
    fn list(&self, folder: &str) -> Outcome<Vec<Listed>>;

    /// Removes a file; one that is gone already is no fault. Only upkeep asks.
    fn remove(&self, name: &str) -> Outcome<()>;
}

/// What became of a request.
pub type Outcome<T> = std::result::Result<T, Fault>;

/// Whether a file is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Yes,
    No,
}

/// Whether a file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    Written,
    /// There was one of that name.
    WasThere,
}

/// A file of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub len_bytes: u64,
    /// Seconds since 1970, by the remote's clock.
    pub changed_seconds: u64,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub what: String,
    /// Whether trying again may help.
    pub is_passing: bool,
    /// How long the remote asks to wait.
    pub wait: Option<Duration>,
}

impl Fault {
    /// A fault that may pass.
    pub fn passing(what: impl fmt::Display) -> Self {
        Fault { what: what.to_string(), is_passing: true, wait: None }
    }

    /// A fault that will stay.
    pub fn lasting(what: impl fmt::Display) -> Self {
        Fault { what: what.to_string(), is_passing: false, wait: None }
    }
}

/// How a remote is reached: the user's alone to say.
#[derive(Clone, Debug)]
pub struct Access {
    /// Sent as `Authorization: Bearer`, over https and to this machine only.
    pub token: Option<String>,
    /// PEM certificates that are trusted in the place of the built-in ones.
    pub ca_bundle: Option<PathBuf>,
    /// How long a connection, and each piece of an answer, may take.
    pub patience: Duration,
}

impl Default for Access {
    fn default() -> Self {
        Access { token: None, ca_bundle: None, patience: Duration::from_secs(30) }
    }
}
