//! stdout and stderr: buffered answers, errors in our form, broken pipes told apart.

use std::io::{self, BufWriter, Write};

use crate::base::error::{Error, ErrorKind, Result};

/// Where an answer goes.
pub struct Output {
    to: BufWriter<Box<dyn Write>>,
}

impl Output {
    /// The process's stdout.
    pub fn stdout() -> Self {
        Output { to: BufWriter::with_capacity(1 << 16, Box::new(io::stdout())) }
    }

    /// A file, made or overwritten.
    ///
    /// # Errors
    /// `Io`.
    pub fn file(path: &std::path::Path) -> Result<Self> {
        let file = std::fs::File::create(path)
            .map_err(|cause| Error::new(ErrorKind::Io, format!("cannot write `{}`", path.display())).source(cause))?;
        Ok(Output { to: BufWriter::with_capacity(1 << 16, Box::new(file)) })
    }

    /// Writes text as it is.
    ///
    /// # Errors
    /// `Io`; see [`is_broken_pipe`].
    pub fn text(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// As [`Output::text`].
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.to.write_all(bytes).map_err(write_error)
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// As [`Output::text`].
    pub fn finish(mut self) -> Result<()> {
        self.to.flush().map_err(write_error)
    }
}

/// Prints a whole text to stdout.
///
/// # Errors
/// As [`Output::text`].
pub fn print(text: &str) -> Result<()> {
    let mut output = Output::stdout();
    output.text(text)?;
    output.finish()
}

fn write_error(cause: io::Error) -> Error {
    Error::new(ErrorKind::Io, "cannot write the answer").source(cause)
}

/// Whether an error is a reader that went away.
pub fn is_broken_pipe(error: &Error) -> bool {
    let cause = error.source.as_ref().and_then(|source| source.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Prints a text as it is to stderr; a reader of stderr that went away changes nothing.
pub fn remark(text: impl std::fmt::Display) {
    let _ = write!(io::stderr(), "{text}");
}

/// Prints an error to stderr; a reader of stderr that went away changes nothing.
pub fn print_error(error: &Error, color: bool) {
    let text = error.to_string();
    let text = match text.split_once(':').filter(|_| color) {
        Some((head, rest)) => format!("\x1b[1;31m{head}\x1b[0m:{rest}"),
        None => text,
    };
    let _ = writeln!(io::stderr(), "{text}");
}
