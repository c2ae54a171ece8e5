//! `ratlas watch`: indexes what is saved, and says what changed by kind.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::base::error::Result;
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::{output, signals};
use crate::report::{json, sanitize};
use crate::watch::changes::{Fate, FileChange, SymbolChange};
use crate::watch::{self, Event, MAX_FOLDERS, Options};

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Look every so often in the place of waiting for events of the system
    #[arg(long)]
    poll: bool,
    /// How often to look where events are not to be had
    #[arg(long, value_name = "MS", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(10..=3_600_000))]
    poll_ms: u64,
    /// The form of what is printed: lines for people, or one JSON object a line
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub fn run(context: &Context, args: &WatchArgs) -> Result<u8> {
    let session = context.session()?;
    let options = Options {
        debounce: context.config()?.debounce(),
        poll_every: Duration::from_millis(args.poll_ms),
        polls: args.poll,
        max_folders: MAX_FOLDERS,
    };
    let stop = Arc::new(AtomicBool::new(false));
    signals::stop_on(&stop)?;
    let name = session.repo().name();
    let mut report = |event: Event| match args.format {
        Format::Text => put_text(&name, &event),
        Format::Json => put_json(&name, &event),
    };
    watch::run(&session, options, &stop, &mut report)?;
    Ok(0)
}

fn put_text(name: &str, event: &Event) -> Result<()> {
    match event {
        Event::Watching { n_files, n_folders, is_polling } => {
            let how = if *is_polling { "by looking again and again" } else { "by events" };
            let hint = if std::io::stdout().is_terminal() { "; Ctrl-C ends" } else { "" };
            output::print(&format!(
                "watching {}: {n_files} files in {n_folders} folders, {how}{hint}\n",
                sanitize::line(name, 200)
            ))
        }
        Event::Polling { why } => {
            tracing::warn!("looks again and again from now on: {why}");
            Ok(())
        }
        Event::Changed { files, .. } => output::print(&files.iter().map(file_text).collect::<String>()),
    }
}

/// `modified src/a.py: f body; g signature,body; C.m added`.
fn file_text(change: &FileChange) -> String {
    let mut line = format!("{} {}", change.fate.as_str(), sanitize::line(change.path.as_str(), 400));
    match &change.fate {
        Fate::Renamed { from } => line.push_str(&format!(" from {}", sanitize::line(from.as_str(), 400))),
        Fate::Skipped { reason } => line.push_str(&format!(" ({reason})")),
        Fate::Added | Fate::Removed | Fate::Modified => {}
    }
    let symbols: Vec<String> = change
        .symbols
        .iter()
        .map(|symbol| {
            let was = symbol.was.as_ref().map_or(String::new(), |was| format!(" (was {})", sanitize::line(was, 200)));
            format!("{}{was} {}", sanitize::line(&symbol.qualname, 200), symbol.changes.names().join(","))
        })
        .collect();
    if !symbols.is_empty() {
        line.push_str(&format!(": {}", symbols.join("; ")));
    } else if change.n_imports > 0 {
        line.push_str(": imports or exports");
    } else if change.fate == Fate::Modified {
        line.push_str(": layout or comments only");
    }
    if !change.damage.is_empty() {
        let lines: Vec<String> = change.damage.iter().take(3).map(|(start, end)| format!("{start}-{end}")).collect();
        line.push_str(&format!(" (does not parse: lines {})", lines.join(", ")));
    }
    line.push('\n');
    line
}

fn put_json(name: &str, event: &Event) -> Result<()> {
    let value = match event {
        Event::Watching { n_files, n_folders, is_polling } => json::object([
            ("event", "watching".into()),
            ("repository", sanitize::line(name, 200).into()),
            ("files", (*n_files).into()),
            ("folders", (*n_folders).into()),
            ("polling", (*is_polling).into()),
        ]),
        Event::Polling { why } => {
            json::object([("event", "polling".into()), ("reason", sanitize::line(why, 200).into())])
        }
        Event::Changed { files, n_parsed } => json::object([
            ("event", "changed".into()),
            ("files", files.iter().map(file_json).collect()),
            ("parsed", (*n_parsed).into()),
        ]),
    };
    output::print(&(json::compact(&value) + "\n"))
}

fn file_json(change: &FileChange) -> Value {
    let symbol = |symbol: &SymbolChange| {
        json::object([
            ("qualname", sanitize::line(&symbol.qualname, 200).into()),
            ("kind", symbol.kind.as_str().into()),
            ("changes", symbol.changes.names().into()),
            ("was", symbol.was.as_ref().map_or(Value::Null, |was| sanitize::line(was, 200).into())),
        ])
    };
    let from = match &change.fate {
        Fate::Renamed { from } => Value::from(sanitize::line(from.as_str(), 400)),
        Fate::Added | Fate::Removed | Fate::Modified | Fate::Skipped { .. } => Value::Null,
    };
    let damage: Vec<Value> = change.damage.iter().map(|(start, end)| vec![*start, *end].into()).collect();
    json::object([
        ("file", sanitize::line(change.path.as_str(), 400).into()),
        ("change", change.fate.as_str().into()),
        ("from", from),
        ("symbols", change.symbols.iter().map(symbol).collect()),
        ("imports", change.n_imports.into()),
        ("damage", damage.into()),
    ])
}
