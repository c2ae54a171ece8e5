//! The forms in which GitHub takes an answer: outputs of a step, annotations, the job's summary.
//! Every text may be a stranger's: none can end its field, or be taken for a command.

use crate::base::id::Digest;
use crate::impact::answer::{Answer, Note};
use crate::impact::forms;
use crate::report::sanitize;

/// The most bytes of `tests`; more go into the file only.
pub const MAX_TESTS_BYTES: usize = 512 << 10;

/// The most bytes of a summary; GitHub takes 1 MiB a step.
const MAX_SUMMARY_BYTES: usize = 900 << 10;

/// The most annotations; GitHub shows ten of a kind.
const MAX_ANNOTATIONS: usize = 10;

/// Fields as `$GITHUB_OUTPUT` takes them: each between lines that its text does not hold.
pub fn fields(fields: &[(&str, String)]) -> String {
    let mut text = String::new();
    for (name, value) in fields {
        let mut n = 0_u64;
        let end = loop {
            let end = format!("ratlas_{:016x}", Digest::of_parts([value.as_bytes(), &n.to_le_bytes()]).short());
            if !value.contains(&end) {
                break end;
            }
            n += 1;
        };
        text.push_str(&format!("{name}<<{end}\n{value}\n{end}\n"));
    }
    text
}

/// Reasons, causes and warnings as workflow commands, one a line.
pub fn annotations(answer: &Answer) -> Vec<String> {
    let line = |level: &str, note: &Note| {
        let about = if note.subject.is_empty() { String::new() } else { format!("{}: ", note.subject) };
        let message = sanitize::line(&format!("{about}{}", note.sentence), 400);
        format!("::{level} title=ratlas {}::{}", note.code, message.replace('%', "%25"))
    };
    let reasons = answer.reasons.iter().map(|note| line("notice", note)).take(MAX_ANNOTATIONS);
    let causes = answer.causes.iter().chain(&answer.warnings).map(|note| line("warning", note)).take(MAX_ANNOTATIONS);
    reasons.chain(causes).collect()
}

/// Lines that GitHub does not read for commands.
pub fn quoted(text: &str) -> String {
    let token = format!("ratlas-{:016x}", Digest::of(text.as_bytes()).short());
    format!("::stop-commands::{token}\n{text}::{token}::\n")
}

/// The job's summary, in Markdown.
pub fn summary(answer: &Answer, against: &str) -> String {
    let mut text = String::new();
    let lines = forms::markdown(answer).into_iter().chain([String::new(), format!("<sub>{against}</sub>")]);
    for line in lines {
        if text.len() + line.len() > MAX_SUMMARY_BYTES {
            text.push_str("\n… the rest is in the report\n");
            break;
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{fields, quoted};

    #[test]
    fn no_value_ends_its_field() {
        let first = fields(&[("tests", "a\nb".to_owned())]);
        let end = first.lines().last().unwrap().to_owned();
        let hostile = format!("a\n{end}\nmode<<x\nnone\nx");
        let text = fields(&[("tests", hostile.clone()), ("mode", "all".to_owned())]);
        let end = text.lines().next().unwrap().split_once("<<").unwrap().1;
        let value = text.split_once('\n').unwrap().1.split_once(&format!("\n{end}\n")).unwrap();
        assert_eq!(value.0, hostile);
        assert!(value.1.starts_with("mode<<"));
    }

    #[test]
    fn quoted_text_gives_no_command() {
        let text = quoted("::error::x\n");
        let lines: Vec<&str> = text.lines().collect();
        let token = lines[0].strip_prefix("::stop-commands::").unwrap();
        assert_eq!(lines, [&format!("::stop-commands::{token}"), "::error::x", &format!("::{token}::")]);
    }
}
