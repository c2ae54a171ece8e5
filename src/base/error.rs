//! The one error type of the rim: a kind for machines, words for people.
//!
//! The core (facts, link, rank) does not fail on odd input; it gives what it can and a status.
//! Rooms that do IO return [`Error`]; `cli` turns its kind into an exit code.

use std::fmt;

/// The result of a room that does IO.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, by kind; each has a stable code that `ratlas explain` describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorKind {
    /// Command line arguments that do not fit.
    Usage,
    /// The folder is no git repository, or must not be indexed (a home folder, `/`).
    NotARepository,
    /// `ratlas.toml` or an environment variable is malformed or has an unknown key.
    Config,
    /// A target (path, qualified name, handle) that names nothing.
    UnknownTarget,
    /// A revision git cannot resolve, or two trees without a merge base.
    UnknownRevision,
    /// The question cannot be answered without guessing.
    CannotAnswer,
    /// Stored bytes that do not match their digest or schema.
    Integrity,
    /// The store cannot be read or written.
    Store,
    /// A remote that is needed is out of reach.
    Remote,
    /// Reading or writing a file failed.
    Io,
    /// Git data that cannot be read.
    Git,
    /// An asked-for check is negative.
    CheckFailed,
}

impl ErrorKind {
    /// Every kind, in the order of its code.
    pub const ALL: [ErrorKind; 12] = [
        ErrorKind::Usage,
        ErrorKind::NotARepository,
        ErrorKind::Config,
        ErrorKind::UnknownTarget,
        ErrorKind::UnknownRevision,
        ErrorKind::CannotAnswer,
        ErrorKind::Integrity,
        ErrorKind::Store,
        ErrorKind::Remote,
        ErrorKind::Io,
        ErrorKind::Git,
        ErrorKind::CheckFailed,
    ];

    /// The stable code printed with the error, such as `RAT011`.
    pub fn code(self) -> &'static str {
        match self {
            ErrorKind::Usage => "RAT001",
            ErrorKind::NotARepository => "RAT002",
            ErrorKind::Config => "RAT003",
            ErrorKind::UnknownTarget => "RAT011",
            ErrorKind::UnknownRevision => "RAT012",
            ErrorKind::CannotAnswer => "RAT013",
            ErrorKind::Integrity => "RAT021",
            ErrorKind::Store => "RAT022",
            ErrorKind::Remote => "RAT031",
            ErrorKind::Io => "RAT041",
            ErrorKind::Git => "RAT042",
            ErrorKind::CheckFailed => "RAT051",
        }
    }

    /// The exit code of the process (PRODUCT.md §5): 1 a check is negative, 2 usage,
    /// 3 cannot answer, 4 integrity, 5 remote out of reach.
    pub fn exit_code(self) -> u8 {
        match self {
            ErrorKind::CheckFailed => 1,
            ErrorKind::Usage | ErrorKind::NotARepository | ErrorKind::Config | ErrorKind::UnknownTarget => 2,
            ErrorKind::UnknownRevision | ErrorKind::CannotAnswer | ErrorKind::Io | ErrorKind::Git => 3,
            ErrorKind::Integrity | ErrorKind::Store => 4,
            ErrorKind::Remote => 5,
        }
    }
}

/// An error of the rim: what failed, of which thing, and what to type next.
#[derive(Debug)]
pub struct Error {
    /// The kind, for machines.
    pub kind: ErrorKind,
    /// Lower case, no period, names in ticks: what we were doing, and to what.
    pub what: String,
    /// What to type next.
    pub hint: Option<String>,
    /// The cause, where another library reported one.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Makes an error of `kind` that says `what`.
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Error { kind, what: what.into(), hint: None, source: None }
    }

    /// Adds what to type next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the cause.
    pub fn source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for Error {
    /// Prints `error[RAT011]: what: cause`, then a `help:` line where there is a hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.kind.code(), self.what)?;
        let mut source = self.source.as_ref().map(|s| s.as_ref() as &dyn std::error::Error);
        while let Some(cause) = source {
            write!(f, ": {cause}")?;
            source = cause.source();
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhelp: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|s| s.as_ref() as &(dyn std::error::Error + 'static))
    }
}
