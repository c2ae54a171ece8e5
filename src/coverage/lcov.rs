//! lcov tracefiles (`man geninfo`): `TN:` names the test of the records that follow it.

use crate::coverage::{Coverage, Draft};

/// Reads a tracefile.
pub(super) fn read(text: &str) -> Result<Coverage, &'static str> {
    let mut draft = Draft::default();
    let (mut test, mut file) = ("", None);
    let mut is_trace = false;
    for line in text.lines().map(str::trim_end) {
        if let Some(name) = line.strip_prefix("TN:") {
            // Tools put the kind of a test behind a comma.
            test = name.split(",diff").next().unwrap_or(name).trim();
        } else if let Some(path) = line.strip_prefix("SF:") {
            file = Some(path);
            is_trace = true;
        } else if line == "end_of_record" {
            file = None;
        } else if let (Some(rest), Some(file)) = (line.strip_prefix("DA:"), file) {
            let mut parts = rest.split(',');
            let line = parts.next().and_then(|n| n.parse().ok());
            let is_run = parts.next().is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()) && n != "0");
            if let (Some(line), true) = (line, is_run) {
                draft.lines(test, file).add(line);
            }
        }
    }
    if is_trace { Ok(draft.finish()) } else { Err("it is no lcov tracefile: no line starts with `SF:`") }
}
