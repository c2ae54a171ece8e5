//! `coverage json --show-contexts`.

use serde_json::Value;

use crate::coverage::{Coverage, Draft};

/// Reads a report.
pub(super) fn read(text: &str) -> Result<Coverage, &'static str> {
    let report: Value = serde_json::from_str(text).map_err(|_| "it is no JSON")?;
    let files = report.get("files").and_then(Value::as_object).ok_or("it is no report of `coverage json`")?;
    let mut draft = Draft::default();
    let mut has_contexts = files.is_empty();
    for (path, file) in files {
        let Some(contexts) = file.get("contexts").and_then(Value::as_object) else { continue };
        has_contexts = true;
        for (line, names) in contexts {
            let Ok(line) = line.parse() else { continue };
            for name in names.as_array().into_iter().flatten().filter_map(Value::as_str) {
                draft.lines(name, path).add(line);
            }
        }
    }
    match has_contexts {
        true => Ok(draft.finish()),
        false => Err("it has no contexts: `coverage json --show-contexts` writes them"),
    }
}
