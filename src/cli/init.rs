//! `ratlas init`: a commented ratlas.toml, or the lines that connect a client (printed only).

use clap::{Args, ValueEnum};

use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::context::Context;
use crate::cli::output;
use crate::config::FILE_NAME;

#[derive(Debug, Args)]
pub struct InitArgs {
    /// Print how to connect CLIENT, and write nothing
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

/// The file that `init` writes: every line a comment, so that it changes nothing.
const TEMPLATE: &str = "\
# ratlas.toml: all keys are optional; `ratlas config show` prints the values in force.
#
# [index]
# include = [\"src/**\"]
# exclude = [\"**/generated/**\"]
# languages = [\"python\", \"typescript\", \"javascript\", \"java\"]
# max_file_bytes = 1000000
# source_roots = [\"services/api/src\"]
#
# [resolve]
# scip = [\"index.scip\"]
#
# [budget]
# default_map_tokens = 2000
# default_context_tokens = 4000
# max_tokens = 16000
#
# [privacy]
# never_index = [\"internal/keys/**\"]
# redact_patterns = [\"CORP-[0-9]{8}\"]
";

pub fn run(context: &Context, args: &InitArgs) -> Result<u8> {
    if let Some(client) = args.print {
        output::print(snippet(client))?;
        return Ok(0);
    }
    let file = context.root()?.join(FILE_NAME);
    let mut options = std::fs::OpenOptions::new();
    let made = options.write(true).create_new(true).open(&file);
    let mut made = made.map_err(|cause| match cause.kind() {
        std::io::ErrorKind::AlreadyExists => Error::new(ErrorKind::Usage, format!("`{FILE_NAME}` is there already"))
            .hint("`ratlas config show` prints the values in force"),
        _ => Error::new(ErrorKind::Io, format!("cannot write `{FILE_NAME}`")).source(cause),
    })?;
    std::io::Write::write_all(&mut made, TEMPLATE.as_bytes())
        .map_err(|cause| Error::new(ErrorKind::Io, format!("cannot write `{FILE_NAME}`")).source(cause))?;
    output::print(&format!("wrote {FILE_NAME}\n"))?;
    Ok(0)
}

fn snippet(client: Client) -> &'static str {
    match client {
        Client::Mcp | Client::Cursor => {
            "{\n  \"mcpServers\": {\n    \"ratlas\": { \"command\": \"ratlas\", \"args\": [\"serve\"] }\n  }\n}\n"
        }
        Client::Claude => "claude mcp add ratlas -- ratlas serve\n",
        Client::Codex => "[mcp_servers.ratlas]\ncommand = \"ratlas\"\nargs = [\"serve\"]\n",
        Client::Vscode => {
            "{\n  \"servers\": {\n    \"ratlas\": { \"type\": \"stdio\", \"command\": \"ratlas\", \"args\": [\"serve\"] }\n  }\n}\n"
        }
        Client::Zed => {
            "{\n  \"context_servers\": {\n    \"ratlas\": { \"source\": \"custom\", \"command\": \"ratlas\", \"args\": [\"serve\"] }\n  }\n}\n"
        }
        Client::Agents => {
            "Before reading or searching files, ask ratlas: `ratlas query context \"TASK\"` for what matters to a task,\n\
             `ratlas query map` for the shape of the repository, `ratlas query callers NAME` before changing a symbol.\n"
        }
    }
}
