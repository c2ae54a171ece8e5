//! The command line: one file a command, the list, and errors as exit codes.
//!
//! stdout carries the answer and nothing else; progress, logs and errors go to stderr.

mod args;
mod bench;
mod ci;
mod ci_check;
mod compare;
mod completions;
mod config;
mod context;
mod daemon;
mod demo;
mod doctor;
mod explain;
mod export;
mod export_hive;
mod gc;
mod impact;
mod index;
mod init;
mod man;
mod output;
mod pack;
mod progress;
mod pull;
mod push;
mod query;
mod remote;
mod serve;
mod signals;
mod status;
mod upkeep;
mod verify;
mod watch;

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};

use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::args::{Cli, Command};
use crate::cli::context::Context;
use crate::cli::output::Output;

/// Runs the command line of this process and gives its exit code (PRODUCT.md §5).
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let context = Context::new(cli.global);
    context.start_log();
    let colors = context.colors_errors();
    let code = run(context, cli.command).unwrap_or_else(|error| {
        // A reader that went away (`ratlas … | head`) is no failure of ours.
        if output::is_broken_pipe(&error) {
            return 0;
        }
        output::print_error(&error, colors);
        error.kind.exit_code()
    });
    ExitCode::from(code)
}

fn run(context: Context, command: Command) -> Result<u8> {
    match command {
        Command::Init(args) => init::run(&context, &args),
        Command::Index(args) => index::run(&context, &args),
        Command::Status(args) => status::run(&context, &args),
        Command::Impact(args) => impact::run(&context, &args),
        Command::Demo(args) => demo::run(&context, &args),
        Command::Query(args) => query::run(&context, args),
        Command::Compare(args) => compare::run(&context, args),
        Command::Watch(args) => watch::run(&context, &args),
        Command::Daemon(args) => daemon::run(&context, &args),
        Command::Serve(args) => serve::run(context, &args),
        Command::Bench(args) => bench::run(&args),
        Command::Export(args) => export::run(&context, &args),
        Command::Pull(args) => pull::run(&context, &args),
        Command::Push(args) => push::run(&context, &args),
        Command::Pack(args) => pack::run(&context, &args),
        Command::Remote(args) => upkeep::run(&context, &args),
        Command::Ci(args) => ci::run(&context, &args),
        Command::Verify(args) => verify::run(&context, &args),
        Command::Doctor(args) => doctor::run(&context, &args),
        Command::Gc(args) => gc::run(&context, &args),
        Command::Config(args) => config::run(&context, &args),
        Command::Explain(args) => explain::run(&context, &args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

/// Prints help and version to stdout, and turns other complaints into our form of errors.
fn usage(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ClapKind::DisplayHelp | ClapKind::DisplayVersion => {
            let mut output = Output::stdout();
            let _ = output.text(&error.render().to_string()).and_then(|()| output.finish());
            ExitCode::SUCCESS
        }
        ClapKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            output::remark(error.render());
            ExitCode::from(ErrorKind::Usage.exit_code())
        }
        _ => {
            let rendered = error.render().to_string();
            let first = rendered.split("\n\n").next().unwrap_or(&rendered);
            let what: Vec<&str> = first.trim_start_matches("error:").split_whitespace().collect();
            let near: Vec<String> =
                [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue]
                    .into_iter()
                    .filter_map(|kind| error.get(kind))
                    .flat_map(|value| match value {
                        ContextValue::String(one) => vec![one.clone()],
                        ContextValue::Strings(several) => several.clone(),
                        _ => Vec::new(),
                    })
                    .take(5)
                    .map(|name| format!("`{name}`"))
                    .collect();
            let what = what.join(" ").replace('\'', "`");
            let error = Error::new(ErrorKind::Usage, plain_numbers(&what)).hint(match near.is_empty() {
                true => "`ratlas --help` and `ratlas COMMAND --help` list what there is".to_owned(),
                false => format!("did you mean {}?", near.join(", ")),
            });
            output::print_error(&error, false);
            ExitCode::from(error.kind.exit_code())
        }
    }
}

/// The parser of numbers speaks of its own types; people are told what is expected.
fn plain_numbers(what: &str) -> String {
    const WORDS: [(&str, &str); 6] = [
        ("invalid digit found in string", "a whole number is expected"),
        ("cannot parse integer from empty string", "a whole number is expected"),
        ("number too large to fit in target type", "the number is too large"),
        ("number too small to fit in target type", "the number is too small"),
        ("invalid float literal", "a number is expected"),
        ("cannot parse float from empty string", "a number is expected"),
    ];
    WORDS.iter().fold(what.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
}
