//! `ratlas init`: a commented ratlas.toml with what was found of the repository, or the lines that
//! connect a client (printed only).

use std::collections::{BTreeMap, BTreeSet};

use clap::{Args, ValueEnum};

use crate::base::dialect::Dialect;
use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::context::Context;
use crate::cli::output;
use crate::config::FILE_NAME;
use crate::git::repo::Repo;
use crate::git::snapshot::{Snapshot, SnapshotOptions};
use crate::git::stat::StatCache;

#[derive(Debug, Args)]
pub struct InitArgs {
    /// Print how to connect CLIENT and what to tell its model, and write nothing
    #[arg(long, value_name = "CLIENT")]
    print: Option<Client>,
}

/// A client of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Client {
    /// `.mcp.json` of a project, as Claude Code and others read it
    Mcp,
    /// The command for Claude Code
    Claude,
    /// `~/.codex/config.toml`
    Codex,
    /// `.vscode/mcp.json`
    Vscode,
    /// `.cursor/mcp.json`
    Cursor,
    /// `settings.json` of Zed
    Zed,
    /// A paragraph for AGENTS.md
    Agents,
}

/// How many roots are named.
const MAX_ROOTS: usize = 12;

/// What a model is told, whatever its client.
const INSTRUCTION: &str = "\
Before reading or searching files, ask ratlas: `get_context` with the task in plain words, `repo_map` for the shape of
the repository, `callers_of` before changing a symbol, `impact_of` with diff WORKTREE for the tests to run. On a command
line the same are `ratlas query context \"TASK\"`, `ratlas query map`, `ratlas query callers NAME`, `ratlas impact --diff WORKTREE`.
";

pub fn run(context: &Context, args: &InitArgs) -> Result<u8> {
    if let Some(client) = args.print {
        output::print(&snippet(client))?;
        return Ok(0);
    }
    let root = context.root()?;
    let file = root.join(FILE_NAME);
    let is_there = || {
        Error::new(ErrorKind::Usage, format!("`{FILE_NAME}` is there already"))
            .hint("`ratlas config show` prints the values in force")
    };
    if file.exists() {
        return Err(is_there());
    }
    let text = template(&found(&Repo::open(&root)?)?);
    let mut options = std::fs::OpenOptions::new();
    let made = options.write(true).create_new(true).open(&file);
    let mut made = made.map_err(|cause| match cause.kind() {
        std::io::ErrorKind::AlreadyExists => is_there(),
        _ => Error::new(ErrorKind::Io, format!("cannot write `{FILE_NAME}`")).source(cause),
    })?;
    std::io::Write::write_all(&mut made, text.as_bytes())
        .map_err(|cause| Error::new(ErrorKind::Io, format!("cannot write `{FILE_NAME}`")).source(cause))?;
    output::print(&format!("wrote {FILE_NAME}\n"))?;
    Ok(0)
}

/// What the names of a repository's files say of it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    /// Files by language.
    languages: BTreeMap<&'static str, usize>,
    /// Folders that imports start from, sorted.
    roots: BTreeSet<String>,
}

fn found(repo: &Repo) -> Result<Found> {
    // Names are enough: nothing needs to be opened.
    let options = SnapshotOptions { jobs: 1, is_private: &|_| true };
    let snapshot = Snapshot::worktree(repo, &options, &mut StatCache::default())?;
    Ok(found_in(snapshot.entries.iter().map(|entry| entry.path.as_str())))
}

fn found_in<'p>(paths: impl Iterator<Item = &'p str> + Clone) -> Found {
    let mut found = Found::default();
    let folder = |path: &'p str| path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let packages: BTreeSet<&str> = paths.clone().filter(|path| path.ends_with("__init__.py")).map(folder).collect();
    let manifests: BTreeSet<&str> =
        paths.clone().filter(|path| path.rsplit('/').next() == Some("package.json")).map(folder).collect();
    for path in paths {
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some(dialect) = Dialect::of_file_name(name) else { continue };
        *found.languages.entry(dialect.language().as_str()).or_default() += 1;
        let root = match dialect {
            Dialect::Py | Dialect::Pyi => {
                let package = folder(path);
                let outer = folder(package);
                (packages.contains(package) && !packages.contains(outer)).then(|| outer.to_owned())
            }
            Dialect::Java => path.find("src/main/java/").map(|at| format!("{}src/main/java", &path[..at])),
            Dialect::Ts | Dialect::Tsx | Dialect::Dts | Dialect::Js | Dialect::Jsx => {
                let at = path.find("/src/").map(|at| &path[..at]).filter(|outer| manifests.contains(outer));
                let top = path.starts_with("src/") && manifests.contains("");
                at.map(|outer| format!("{outer}/src")).or_else(|| top.then(|| "src".to_owned()))
            }
        };
        found.roots.extend(root.map(|root| if root.is_empty() { ".".to_owned() } else { root }));
    }
    found
}

/// The file that `init` writes: every line a comment, so that it changes nothing.
fn template(found: &Found) -> String {
    let quoted =
        |names: &mut dyn Iterator<Item = &str>| names.map(|name| format!("{:?}", name)).collect::<Vec<_>>().join(", ");
    let counts: Vec<String> = found.languages.iter().map(|(language, n)| format!("{language} ({n} files)")).collect();
    let counts = if counts.is_empty() { "none of the languages that are read".to_owned() } else { counts.join(", ") };
    let languages = match found.languages.is_empty() {
        true => "\"python\", \"typescript\", \"javascript\", \"java\"".to_owned(),
        false => quoted(&mut found.languages.keys().copied()),
    };
    let roots = quoted(&mut found.roots.iter().take(MAX_ROOTS).map(String::as_str));
    let more = found.roots.len().saturating_sub(MAX_ROOTS);
    let more = if more > 0 { format!(" # and {more} more") } else { String::new() };
    format!(
        "\
# ratlas.toml: all keys are optional; `ratlas config show` prints the values in force.
#
# Found when this was written: {counts}.
#
# [index]
# include = [\"src/**\"]
# exclude = [\"**/generated/**\"]
# languages = [{languages}]
# max_file_bytes = 1000000
# source_roots = [{roots}]{more}
# tests = [\"checks/**\", \"!tests/data/**\"]
#
# [resolve]
# scip = [\"index.scip\"]
#
# [rank.mix]
# churn = 0.3
#
# [rank.pack]
# callers = 0.7
#
# [budget]
# default_map_tokens = 2000
# default_context_tokens = 4000
# max_tokens = 16000
#
# [impact]
# run_all = [\"build/**\"]
# always_run = [\"tests/smoke/**\"]
#
# [privacy]
# never_index = [\"internal/keys/**\"]
# redact_patterns = [\"CORP-[0-9]{{8}}\"]
"
    )
}

/// The registration, then where the instruction goes.
fn snippet(client: Client) -> String {
    let with = |registration: &str, place: &str| format!("{registration}\n# for {place}:\n{INSTRUCTION}");
    match client {
        // A file of JSON that a script may write as it is.
        Client::Mcp => {
            "{\n  \"mcpServers\": {\n    \"ratlas\": { \"command\": \"ratlas\", \"args\": [\"serve\"] }\n  }\n}\n"
                .to_owned()
        }
        Client::Cursor => with(
            "# .cursor/mcp.json\n{\n  \"mcpServers\": {\n    \"ratlas\": { \"command\": \"ratlas\", \"args\": [\"serve\"] }\n  }\n}\n",
            ".cursor/rules/ratlas.mdc or AGENTS.md",
        ),
        Client::Claude => with("claude mcp add ratlas -- ratlas serve\n", "CLAUDE.md"),
        Client::Codex => with(
            "# ~/.codex/config.toml\n[mcp_servers.ratlas]\ncommand = \"ratlas\"\nargs = [\"serve\"]\n",
            "AGENTS.md",
        ),
        Client::Vscode => with(
            "# .vscode/mcp.json\n{\n  \"servers\": {\n    \"ratlas\": { \"type\": \"stdio\", \"command\": \"ratlas\", \"args\": [\"serve\"] }\n  }\n}\n",
            ".github/copilot-instructions.md",
        ),
        Client::Zed => with(
            "# settings.json\n{\n  \"context_servers\": {\n    \"ratlas\": { \"source\": \"custom\", \"command\": \"ratlas\", \"args\": [\"serve\"] }\n  }\n}\n",
            ".rules",
        ),
        Client::Agents => INSTRUCTION.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, found_in, template};

    #[test]
    fn languages_and_roots_are_found_by_names() {
        let paths = [
            "py/src/shop/__init__.py",
            "py/src/shop/cart/__init__.py",
            "py/src/shop/cart/item.py",
            "tool.py",
            "web/package.json",
            "web/src/a.ts",
            "api/src/main/java/a/B.java",
            "README.md",
        ];
        let found = found_in(paths.iter().copied());
        assert_eq!(found.languages.values().sum::<usize>(), 6);
        assert_eq!(
            found.roots.iter().map(String::as_str).collect::<Vec<_>>(),
            ["api/src/main/java", "py/src", "web/src"]
        );
        let text = template(&found);
        assert!(text.contains("python (4 files)") && text.contains("\"web/src\""), "{text}");
        assert!(text.lines().all(|line| line.starts_with('#')));
        assert!(template(&Found::default()).lines().all(|line| line.starts_with('#')));
    }
}
