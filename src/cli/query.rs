//! `ratlas query`: the tools and lookups as commands; each prints what the tool answers.

use clap::{Args, Subcommand};
use serde_json::{Map, Value};

use crate::base::error;
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::{daemon, output};
use crate::tools::param::{Asker, Given};
use crate::tools::tool::{Answer, Desk, Now, Rendered, Tool};
use crate::tools::{callees, callers, find_symbol, get_context, get_symbol, meter, queries, repo_map};

#[derive(Debug, Args)]
pub struct QueryArgs {
    #[command(subcommand)]
    command: QueryCommand,
}

#[derive(Debug, Subcommand)]
enum QueryCommand {
    /// The files that matter most, with their public definitions, within a token budget
    Map {
        /// The most tokens to print
        #[arg(long)]
        budget: Option<u64>,
        #[command(flatten)]
        filters: Filters,
        #[command(flatten)]
        common: Common,
    },
    /// What to read for a task, within a token budget
    Context {
        /// The task in plain words
        #[arg(required = true, num_args = 1..)]
        task: Vec<String>,
        /// The most tokens to print
        #[arg(long)]
        budget: Option<u64>,
        /// A file that the task is about; may be repeated
        #[arg(long = "focus", value_name = "FILE")]
        focus: Vec<String>,
        #[command(flatten)]
        filters: Filters,
        #[command(flatten)]
        common: Common,
    },
    /// Find definitions by name
    Symbol {
        /// A name, a part of one, or `Class.method`
        query: String,
        #[command(flatten)]
        paging: Paging,
        #[command(flatten)]
        filters: Filters,
        #[command(flatten)]
        common: Common,
    },
    /// One definition: lines, signature, doc and members
    Get {
        #[command(flatten)]
        target: TargetArgs,
        /// Add the source lines
        #[arg(long)]
        body: bool,
        /// The most source lines to add (default 200)
        #[arg(long, value_name = "N")]
        max_body_lines: Option<u64>,
        /// Add the commits that touched it, newest first
        #[arg(long)]
        history: bool,
        #[command(flatten)]
        common: Common,
    },
    /// The lines of a file, as the view has them
    Span {
        /// FILE:FIRST-LAST
        span: String,
        #[command(flatten)]
        common: Common,
    },
    /// Who calls, references or extends a symbol
    Callers {
        #[command(flatten)]
        target: TargetArgs,
        /// How many steps to follow
        #[arg(long)]
        depth: Option<u64>,
        /// Add how each edge was proved
        #[arg(long)]
        why: bool,
        #[command(flatten)]
        paging: Paging,
        #[command(flatten)]
        filters: Filters,
        #[command(flatten)]
        common: Common,
    },
    /// What a symbol's code calls, references or extends
    Callees {
        #[command(flatten)]
        target: TargetArgs,
        /// How many steps to follow
        #[arg(long)]
        depth: Option<u64>,
        /// Add how each edge was proved
        #[arg(long)]
        why: bool,
        #[command(flatten)]
        paging: Paging,
        #[command(flatten)]
        filters: Filters,
        #[command(flatten)]
        common: Common,
    },
    /// Every edge that ends at a symbol or file, imports included
    Refs {
        #[command(flatten)]
        target: TargetArgs,
        /// Add how each edge was proved
        #[arg(long)]
        why: bool,
        #[command(flatten)]
        paging: Paging,
        #[command(flatten)]
        filters: Filters,
        #[command(flatten)]
        common: Common,
    },
    /// What a file imports, and which files use it
    Deps {
        #[command(flatten)]
        target: TargetArgs,
        #[command(flatten)]
        common: Common,
    },
    /// The definitions of a file, or of one symbol, in order
    Outline {
        #[command(flatten)]
        target: TargetArgs,
        #[command(flatten)]
        common: Common,
    },
    /// Callers, callees and overrides around a symbol
    Neighborhood {
        #[command(flatten)]
        target: TargetArgs,
        /// How many steps each way
        #[arg(long)]
        depth: Option<u64>,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Debug, Args)]
struct TargetArgs {
    /// A path, `path::name`, a qualified name or its end, or a sym_ handle
    target: String,
    /// The file it is in, where its name alone is ambiguous
    #[arg(long)]
    file: Option<String>,
}

#[derive(Debug, Args)]
struct Paging {
    /// How many to list (default 50)
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Where to go on: the `next` of an answer that listed not all
    #[arg(long)]
    cursor: Option<String>,
}

#[derive(Debug, Args)]
struct Filters {
    /// Only what lies under this folder or file
    #[arg(long)]
    path: Option<String>,
    /// Only files of this language: python, typescript, javascript, java
    #[arg(long)]
    lang: Option<String>,
    /// Only symbols of this kind: class, type, namespace, function, method, field, const
    #[arg(long)]
    kind: Option<String>,
    /// Only edges at least this sure (0 to 1)
    #[arg(long, value_name = "CONFIDENCE", value_parser = share)]
    min_confidence: Option<f64>,
}

#[derive(Debug, Args)]
struct Common {
    /// The form of the answer
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Reads a number from 0 to 1; `nan` is none.
fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "a number from 0 to 1 is expected".to_owned())
}

/// The arguments of a tool, gathered.
#[derive(Default)]
struct Raw(Map<String, Value>);

impl Raw {
    fn with(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.into());
        }
        self
    }

    fn filters(self, filters: Filters) -> Self {
        self.with("path", filters.path)
            .with("lang", filters.lang)
            .with("kind", filters.kind)
            .with("min_confidence", filters.min_confidence)
    }

    fn paging(self, paging: Paging) -> Self {
        self.with("limit", paging.limit).with("cursor", paging.cursor)
    }

    fn target(self, target: TargetArgs) -> Self {
        self.with("qualname", Some(target.target)).with("file", target.file)
    }
}

pub fn run(context: &Context, args: QueryArgs) -> error::Result<u8> {
    let (tool, raw, common) = parse(args.command);
    ask(context, &tool, &raw.0, common.format)
}

fn parse(command: QueryCommand) -> (Tool, Raw, Common) {
    let raw = Raw::default();
    match command {
        QueryCommand::Map { budget, filters, common } => {
            (repo_map::TOOL, raw.with("budget", budget).filters(filters), common)
        }
        QueryCommand::Context { task, budget, focus, filters, common } => {
            let focus = (!focus.is_empty()).then_some(focus);
            let raw = raw.with("task", Some(task.join(" "))).with("budget", budget).with("focus_files", focus);
            (get_context::TOOL, raw.filters(filters), common)
        }
        QueryCommand::Symbol { query, paging, filters, common } => {
            (find_symbol::TOOL, raw.with("query", Some(query)).paging(paging).filters(filters), common)
        }
        QueryCommand::Get { target, body, max_body_lines, history, common } => {
            let raw = raw.target(target).with("include_body", Some(body)).with("max_body_lines", max_body_lines);
            (get_symbol::TOOL, raw.with("history", history.then_some(true)), common)
        }
        QueryCommand::Span { span, common } => (queries::SPAN, raw.with("span", Some(span)), common),
        QueryCommand::Callers { target, why, depth, paging, filters, common } => (
            callers::TOOL,
            raw.target(target).with("depth", depth).with("why", why.then_some(true)).paging(paging).filters(filters),
            common,
        ),
        QueryCommand::Callees { target, why, depth, paging, filters, common } => (
            callees::TOOL,
            raw.target(target).with("depth", depth).with("why", why.then_some(true)).paging(paging).filters(filters),
            common,
        ),
        QueryCommand::Refs { target, why, paging, filters, common } => {
            (queries::REFS, raw.target(target).with("why", why.then_some(true)).paging(paging).filters(filters), common)
        }
        QueryCommand::Deps { target, common } => (queries::DEPS, raw.target(target), common),
        QueryCommand::Outline { target, common } => (queries::OUTLINE, raw.target(target), common),
        QueryCommand::Neighborhood { target, depth, common } => {
            (queries::NEIGHBORHOOD, raw.target(target).with("depth", depth), common)
        }
    }
}

/// Asks a tool as a command does, and prints its answer.
pub fn ask(context: &Context, tool: &Tool, raw: &Map<String, Value>, format: Format) -> error::Result<u8> {
    let given = Given::read(tool.name, tool.params, raw, Asker::Command)?;
    if let Some(answer) = daemon::ask(context, tool.name, raw, Asker::Command, Now::Fresh) {
        return print_rendered(&answer?, format).map(|()| 0);
    }
    let desk = Desk::new(context.source()?, context.config()?.tools());
    let given = given.within(desk.source.root().as_deref());
    print_answer(&meter::ask(&desk, tool, &given)?, format)?;
    Ok(0)
}

/// Prints an answer in a form.
pub fn print_answer(answer: &Answer, format: Format) -> error::Result<()> {
    print_rendered(&answer.rendered(), format)
}

fn print_rendered(answer: &Rendered, format: Format) -> error::Result<()> {
    match format {
        Format::Text => output::print(&answer.text),
        Format::Json => output::print(&format!("{}\n", answer.json)),
    }
}
