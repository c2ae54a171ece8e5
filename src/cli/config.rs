//! `ratlas config show`: every key with its value and where it comes from.

use clap::{Args, Subcommand};
use serde_json::Value as Json;

use crate::base::error::Result;
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::output;
use crate::config::Value;
use crate::report::json;

#[derive(Debug, Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print every key with its value and its origin
    Show {
        /// The form of the answer
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
}

pub fn run(context: &Context, args: &ConfigArgs) -> Result<u8> {
    let ConfigCommand::Show { format } = args.command;
    let rows = context.config()?.rows();
    let text = match format {
        Format::Text => {
            rows.iter().map(|(name, value, origin)| format!("{name} = {} ({origin})\n", shown(value))).collect()
        }
        Format::Json => {
            let rows: Vec<Json> = rows
                .iter()
                .map(|(name, value, origin)| {
                    json::object([
                        ("key", (*name).into()),
                        ("value", shown(value)),
                        ("origin", origin.to_string().into()),
                    ])
                })
                .collect();
            json::compact(&Json::Array(rows)) + "\n"
        }
    };
    output::print(&text)?;
    Ok(0)
}

fn shown(value: &Value) -> Json {
    match value {
        Value::Text(text) => text.clone().into(),
        Value::Texts(texts) => texts.clone().into(),
        Value::Integer(n) => (*n).into(),
        Value::Number(n) => json::decimal(*n),
        Value::Map(rules) => rules
            .iter()
            .map(|rule| json::object([("when", rule.when.clone().into()), ("tests", rule.tests.clone().into())]))
            .collect(),
    }
}
