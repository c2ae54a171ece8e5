//! `ratlas explain`: what an error code means, and what to do.

use clap::Args;

use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::context::Context;
use crate::cli::output;

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A code such as RAT011; without one, all are listed
    code: Option<String>,
}

pub fn run(_context: &Context, args: &ExplainArgs) -> Result<u8> {
    let Some(code) = &args.code else {
        let lines: String = ErrorKind::ALL.iter().map(|kind| format!("{}\n", head(*kind))).collect();
        output::print(&lines)?;
        return Ok(0);
    };
    let kind = ErrorKind::ALL.into_iter().find(|kind| kind.code().eq_ignore_ascii_case(code)).ok_or_else(|| {
        let codes: Vec<&str> = ErrorKind::ALL.iter().map(|kind| kind.code()).collect();
        Error::new(ErrorKind::Usage, format!("no error code `{code}`")).hint(format!("codes are {}", codes.join(", ")))
    })?;
    output::print(&format!("{}\n\n{}\n", head(kind), text(kind)))?;
    Ok(0)
}

fn head(kind: ErrorKind) -> String {
    format!("{} (exit code {}): {}", kind.code(), kind.exit_code(), title(kind))
}

fn title(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Usage => "arguments that do not fit",
        ErrorKind::NotARepository => "not a repository",
        ErrorKind::Config => "configuration that cannot be read",
        ErrorKind::UnknownTarget => "a target that names nothing, or several things",
        ErrorKind::UnknownRevision => "a revision that git cannot resolve",
        ErrorKind::CannotAnswer => "a question that cannot be answered without guessing",
        ErrorKind::Integrity => "stored bytes that do not match their digest",
        ErrorKind::Store => "a store that cannot be read or written",
        ErrorKind::Remote => "a remote that is needed and out of reach",
        ErrorKind::Io => "a file that cannot be read or written",
        ErrorKind::Git => "git data that cannot be read",
        ErrorKind::CheckFailed => "an asked-for check is negative",
    }
}

fn text(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Usage => {
            "A command, option or value is unknown or missing. The help line names the nearest one;\n\
             `ratlas COMMAND --help` lists what a command takes."
        }
        ErrorKind::NotARepository => {
            "The folder does not exist, or is one that must not be indexed (a home folder, the root of the\n\
             file system). Give the folder of a repository with `-C DIR`. A folder without git is fine."
        }
        ErrorKind::Config => {
            "ratlas.toml, the user's file or an environment variable has a key that is not known, a value of\n\
             another type, or a key that is not the repository's to set. The message has the line;\n\
             `ratlas config show` lists keys, values and where they come from."
        }
        ErrorKind::UnknownTarget => {
            "A path, name or handle fits nothing in the tree, or fits several symbols. The help line lists the\n\
             nearest names or the candidates; `path::qualname` and sym_ handles are never ambiguous.\n\
             `ratlas query symbol PART` searches."
        }
        ErrorKind::UnknownRevision => {
            "Git does not know the revision, or two revisions have no merge base here. In a shallow clone,\n\
             fetch more history: `git fetch --deepen=100` or `git fetch --unshallow`."
        }
        ErrorKind::CannotAnswer => {
            "The question is understood, but an answer would be a guess: the file is not indexed, or what it\n\
             rests on cannot be seen. `ratlas status` lists what is skipped, and why."
        }
        ErrorKind::Integrity => {
            "A stored object does not match its digest. The store is a cache: run `ratlas index --full` to\n\
             extract everything again."
        }
        ErrorKind::Store => {
            "The store's folder cannot be read or written: check its rights and the space left, or place it\n\
             elsewhere with RATLAS_STORE=DIR."
        }
        ErrorKind::Remote => "A remote store did not answer. Work goes on without it under `--offline`.",
        ErrorKind::Io => "A file could not be read or written; the cause follows the message.",
        ErrorKind::Git => "Git's own data could not be read; `git fsck` in the repository says more.",
        ErrorKind::CheckFailed => {
            "The command did its work, and the answer to the check is no: for `status --check`, something is\n\
             not indexed yet."
        }
    }
}
