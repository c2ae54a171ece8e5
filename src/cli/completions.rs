//! `ratlas completions`: completion scripts for shells.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::base::error::Result;
use crate::cli::args::Cli;
use crate::cli::output::Output;

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub fn run(args: &CompletionsArgs) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ratlas", &mut script);
    let mut output = Output::stdout();
    output.bytes(&script)?;
    output.finish()?;
    Ok(0)
}
