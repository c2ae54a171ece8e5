//! `ratlas explain`: what a code means, and what to do: codes of errors, of skipped files, and of
//! what makes an answer a lower bound.

use clap::Args;

use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::context::Context;
use crate::cli::output;
use crate::impact;

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A code such as RAT011 or too_large; without one, all are listed
    code: Option<String>,
}

pub fn run(_context: &Context, args: &ExplainArgs) -> Result<u8> {
    let Some(code) = &args.code else {
        let mut lines: String = ErrorKind::ALL.iter().map(|kind| format!("{}\n", head(*kind))).collect();
        for (code, what, _) in pages() {
            lines.push_str(&format!("{code}: {what}\n"));
        }
        output::print(&lines)?;
        return Ok(0);
    };
    if let Some((code, what, text)) = pages().find(|(known, ..)| known.eq_ignore_ascii_case(code)) {
        output::print(&format!("{code}: {what}\n\n{text}\n"))?;
        return Ok(0);
    }
    let kind = ErrorKind::ALL.into_iter().find(|kind| kind.code().eq_ignore_ascii_case(code)).ok_or_else(|| {
        let codes = ErrorKind::ALL.iter().map(|kind| kind.code()).chain(pages().map(|(code, ..)| *code));
        let codes: Vec<&str> = codes.collect();
        Error::new(ErrorKind::Usage, format!("no code `{code}`")).hint(format!("codes are {}", codes.join(", ")))
    })?;
    output::print(&format!("{}\n\n{}\n", head(kind), text(kind)))?;
    Ok(0)
}

/// The codes that are not errors, those of impact answers last.
fn pages() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    PAGES.iter().chain(impact::pages::PAGES)
}

/// The codes that are not errors: what each is, and what to do. Why a file of the tree is not
/// indexed, then why an answer is a lower bound.
const PAGES: &[(&str, &str, &str)] = &[
    (
        "language",
        "a file of no language that is indexed",
        "Documents, data and other programming languages have no symbols here. Those of programming languages are\n\
         counted in `ratlas status`; where they may use what was asked about, answers are lower bounds.",
    ),
    (
        "excluded",
        "a file that the configuration leaves out",
        "`[index] exclude`, or outside of `include` or `languages`. `ratlas config show` has the values in force.",
    ),
    (
        "private",
        "a private file, never opened",
        "`.env*`, keys, `secrets/` and what `[privacy] never_index` adds. A rule cannot be taken away, only added to.",
    ),
    (
        "too_large",
        "a file over the byte cap",
        "`[index] max_file_bytes` (1,000,000) bounds time and memory. Raise it, or exclude the file by name.",
    ),
    (
        "minified",
        "a file written by a minifier",
        "Very long lines with hardly any white space. Its source is what should be indexed; exclude the output.",
    ),
    (
        "generated",
        "a file that says it is generated",
        "A mark of its generator stands in its first lines. Nothing of it is linked, so code that uses it is unproved.",
    ),
    ("binary", "a file with bytes of no text", "It has NUL bytes, or is in an encoding that is not read (UTF-8 is)."),
    (
        "symlink",
        "a symbolic link",
        "Links are never followed; what they point at is indexed where it lies, if it is in the tree.",
    ),
    ("submodule", "a submodule", "Another repository's tree: index it there, with `-C`."),
    ("lfs", "a git-lfs pointer", "The bytes lie on an lfs server, and no network is used."),
    (
        "filter",
        "a changed file under a filter of git's configuration",
        "Its bytes as git would store them are made by a program that is never run here. Commit it, and it is read.",
    ),
    ("unreadable", "a file that could not be read", "It is missing from git's objects, or its rights forbid it."),
    (
        "budget",
        "a file that took too much work",
        "The work spent on one file is bounded; it may be nested very deeply.",
    ),
    (
        "unproved_references",
        "references of that name whose target is not known",
        "A name is called or read on something of unknown type, and may mean what was asked about. They are listed\n\
         below \"unproved\"; a type annotation where the value comes in proves them.",
    ),
    (
        "candidates",
        "edges too weak for the list",
        "One of several targets is meant (an overload, a common name), or the confidence is below the floor.\n\
         `--min-confidence 0` lists and walks them.",
    ),
    (
        "implicit_calls",
        "a method that the language calls by itself",
        "`len(x)`, `for`, `with`, string conversion, comparing and hashing call methods without writing their names.",
    ),
    (
        "still_indexing",
        "files that are still to be indexed",
        "The question was answered from what there was, since the client would not have waited. Ask again.",
    ),
    (
        "parse_failures",
        "files that did not parse whole",
        "What stands in their damaged lines is not known. `ratlas status` lists files and lines.",
    ),
    (
        "skipped_sources",
        "sources that are not indexed",
        "A file of the same language was skipped, and may use what was asked about. `ratlas status` lists the reasons.",
    ),
    (
        "languages_not_indexed",
        "files of other languages that may use it",
        "Kotlin may call Java, a Vue file may call TypeScript: what they use is not seen.",
    ),
];

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
             not indexed yet; for `compare scip --check`, a compiler says something else."
        }
    }
}
