//! JaCoCo's XML report: whose session it is, and the lines that ran
//! (<https://www.jacoco.org/jacoco/trunk/coverage/report.dtd>).

use std::collections::BTreeSet;

use crate::base::xml::{attribute, tag_end};
use crate::coverage::{Coverage, Draft};

/// Reads a report. Of several sessions at once nothing tells whose a line is.
pub(super) fn read(text: &str) -> Result<Coverage, &'static str> {
    let mut sessions = BTreeSet::new();
    let (mut package, mut file) = (String::new(), None);
    let mut lines: Vec<(String, u32)> = Vec::new();
    let mut is_report = false;
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, tail) = after.split_at(tag_end(after));
        let name = tag.split(|c: char| c.is_whitespace() || c == '/' || c == '>').next().unwrap_or("");
        match name {
            "report" => is_report = true,
            "sessioninfo" => drop(sessions.insert(attribute(tag, "id"))),
            "package" => package = attribute(tag, "name"),
            "sourcefile" => {
                let name = attribute(tag, "name");
                file = Some(if package.is_empty() { name } else { format!("{package}/{name}") });
            }
            "line" => {
                let number = |name: &str| attribute(tag, name).parse::<u32>().unwrap_or(0);
                if let (Some(file), true) = (&file, number("ci") > 0) {
                    lines.push((file.clone(), number("nr")));
                }
            }
            _ => {}
        }
        rest = tail;
    }
    if !is_report {
        return Err("it is no report of JaCoCo");
    }
    let session = match sessions.into_iter().collect::<Vec<_>>().as_slice() {
        [one] => one.clone(),
        _ => String::new(),
    };
    let mut draft = Draft::default();
    for (file, line) in lines {
        draft.lines(&session, &file).add(line);
    }
    Ok(draft.finish())
}
