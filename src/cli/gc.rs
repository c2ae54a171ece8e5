//! `ratlas gc`: takes away from the store what nobody needs; with `--remote`, from a remote.

use clap::Args;
use serde_json::{Map, Value};

use crate::base::error::Result;
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::remote::RemoteArgs;
use crate::cli::{output, upkeep};
use crate::report::json;
use crate::store::inventory::FileKind;
use crate::store::sweep::Swept;
use crate::tools::show;

#[derive(Debug, Args)]
pub struct GcArgs {
    /// Make the store no larger than this, as far as what is needed allows: bytes, or with K, M, G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_bytes: Option<u64>,
    /// Remove nothing, say what would go
    #[arg(long)]
    dry_run: bool,
    /// Clear a remote in the place of the store, as `ratlas remote gc` does; `[remote] url` by default
    #[arg(long, value_name = "URL", num_args = 0..=1, conflicts_with_all = ["max_bytes", "dry_run", "format"])]
    remote: Option<Option<String>>,
    /// With --remote: the namespace to clear
    #[arg(long, value_name = "NAME", requires = "remote")]
    namespace: Option<String>,
    #[command(flatten)]
    keep: upkeep::KeepArgs,
    /// The form of the answer
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub fn run(context: &Context, args: &GcArgs) -> Result<u8> {
    if let Some(url) = &args.remote {
        let remote = RemoteArgs { url: url.clone(), namespace: args.namespace.clone(), ..RemoteArgs::default() };
        return upkeep::gc(context, &remote, &args.keep);
    }
    let session = context.session()?;
    let max_bytes = match args.max_bytes {
        Some(max) => Some(max),
        None => context.config()?.store_max_bytes(),
    };
    let swept = session.sweep(max_bytes, args.dry_run)?;
    let is_over = max_bytes.is_some_and(|max| swept.after_bytes > max);
    match args.format {
        Format::Text => output::print(&text(&swept, args.dry_run, max_bytes.filter(|_| is_over)))?,
        Format::Json => {
            let removed: Map<String, Value> = swept
                .removed
                .iter()
                .map(|(kind, (n_files, bytes))| {
                    let tally = json::object([("files", (*n_files).into()), ("bytes", (*bytes).into())]);
                    (kind.as_str().to_owned(), tally)
                })
                .collect();
            let report = json::object([
                ("before_bytes", swept.before_bytes.into()),
                ("after_bytes", swept.after_bytes.into()),
                ("max_bytes", max_bytes.map_or(Value::Null, Value::from)),
                ("over_cap", is_over.into()),
                ("needed", swept.n_needed.into()),
                ("repacked", swept.n_repacked.into()),
                ("removed", removed.into()),
                ("dry_run", args.dry_run.into()),
            ]);
            output::print(&(json::compact(&report) + "\n"))?;
        }
    }
    Ok(0)
}

fn text(swept: &Swept, is_dry: bool, over: Option<u64>) -> String {
    let mut text = format!("store: {} bytes, {} needed\n", swept.before_bytes, show::count(swept.n_needed, "shard"));
    let verb = if is_dry { "would go" } else { "removed" };
    for (kind, (n_files, bytes)) in &swept.removed {
        text.push_str(&format!("{verb}: {}, {bytes} bytes\n", show::count(*n_files, noun(*kind))));
    }
    if swept.removed.is_empty() {
        text.push_str(&format!("{verb}: nothing\n"));
    }
    if swept.n_repacked > 0 {
        let verb = if is_dry { "would be packed anew" } else { "packed anew" };
        text.push_str(&format!("{verb}: {}\n", show::count(swept.n_repacked, "shard")));
    }
    text.push_str(&format!("{}: {} bytes\n", if is_dry { "then" } else { "now" }, swept.after_bytes));
    if let Some(max) = over {
        text.push_str(&format!("above the cap of {max} bytes: the rest is needed, or was used within the hour\n"));
    }
    text
}

fn noun(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Loose => "loose shard",
        FileKind::Pack => "pack",
        FileKind::PackIndex => "pack index file",
        FileKind::Manifest => "manifest",
        FileKind::Compiler => "compiler's answer",
        FileKind::Temporary => "temporary file",
        FileKind::Derived => "derived file",
    }
}

/// Reads `500000`, `500K`, `2M`, `1G`: powers of 1,024.
fn size(text: &str) -> std::result::Result<u64, String> {
    let wrong = || format!("`{text}` is no size: write bytes, or a number with K, M or G");
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let shift = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        _ => return Err(wrong()),
    };
    digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        assert_eq!((size("0"), size("7"), size("2K"), size("3 mb")), (Ok(0), Ok(7), Ok(2048), Ok(3 << 20)));
        for bad in ["", "x", "1T", "-1", "99999999999999999999", "9999999999999G"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
