//! `ratlas man`: the manual page.

use clap::{Args, CommandFactory};

use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::args::Cli;
use crate::cli::output::Output;

#[derive(Debug, Args)]
pub struct ManArgs {
    /// The command whose page to print (default: ratlas itself)
    command: Option<String>,
}

pub fn run(args: &ManArgs) -> Result<u8> {
    let mut root = Cli::command();
    root.build();
    let command = match &args.command {
        None => root,
        Some(name) => root.find_subcommand(name).cloned().ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("no command `{name}`")).hint("`ratlas --help` lists the commands")
        })?,
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|cause| Error::new(ErrorKind::Io, "cannot write the manual page").source(cause))?;
    let mut output = Output::stdout();
    output.bytes(&page)?;
    output.finish()?;
    Ok(0)
}
