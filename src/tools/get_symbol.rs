//! `get_symbol`: one definition: where it is, its signature, doc and members; its lines on request.

use serde_json::Value;

use crate::atlas::{Atlas, AtlasSource};
use crate::base::error::{Error, ErrorKind, Result};
use crate::extract::redact::Redactor;
use crate::facts::table::Id;
use crate::report::sanitize;
use crate::tools::param::{self, Given, Param, ParamKind};
use crate::tools::retained::{self, Retained};
use crate::tools::target::{self, Target};
use crate::tools::tool::{Answer, Desk, Form, Tool};
use crate::tools::{find_symbol, past, show};
use crate::view::{FileIdx, SymbolRef};

pub const TOOL: Tool = Tool {
    name: "get_symbol",
    title: "Get a definition",
    description: "One definition: file, exact lines, signature, doc, members and handle; with include_body its source \
                  lines. Takes a qualified name, `path::name`, a path or a sym_ handle.",
    params: &[
        Param::new("qualname", ParamKind::Text, "the symbol: `Class.method`, `path::name`, a path, or a sym_ handle")
            .required(),
        Param::new("file", ParamKind::Text, "the file it is in, where its name alone is ambiguous"),
        Param::new("include_body", ParamKind::Flag, "add the source lines (default false)"),
        Param::new(
            "max_body_lines",
            ParamKind::Integer { min: 1, max: 2000 },
            "the most source lines to add (default 200)",
        ),
        param::FRESH,
        Param::new("history", ParamKind::Flag, "add the commits that touched it, newest first").unlisted(),
    ],
    form: Form::Text,
    run,
};

/// Source lines of a body when no maximum is given.
const DEFAULT_BODY_LINES: usize = 200;
/// Members listed of a class or file.
const MAX_MEMBERS: usize = 200;

fn run(desk: &Desk, given: &Given) -> Result<Answer> {
    let atlas = desk.atlas(given)?;
    let view = &*atlas.view;
    let asked = given.text("qualname").unwrap_or_default();
    let target = match target::resolve(&atlas, asked, given.text("file")) {
        Ok(target) => target,
        Err(error) => return retained_only(desk, &atlas, asked, given.text("file")).ok_or(error),
    };
    let symbols = target::symbols(&target);
    let mut answer = Answer::new(&atlas, desk.options.max_tokens);
    answer.shown(symbols.len(), symbols.len(), if symbols.len() == 1 { "definition" } else { "definitions" });
    answer.instead_of(view, symbols.iter().map(|at| at.file));
    let max_lines = given.integer("max_body_lines").unwrap_or(DEFAULT_BODY_LINES);
    let body = given.flag("include_body").unwrap_or(false);
    let mut shown = Vec::new();
    for at in symbols {
        let mut fields = put_definition(&mut answer, &atlas, at, &target);
        if given.flag("history").unwrap_or(false) {
            let history = past::put_history(&mut answer, &*desk.source, &atlas, at)?;
            if let Value::Object(fields) = &mut fields {
                fields.insert("history".to_owned(), history);
            }
        }
        if body {
            let symbol = view.symbol(at);
            let end = symbol.end_line.min(symbol.start_line.saturating_add(max_lines as u32 - 1));
            let lines = put_lines(&mut answer, desk, &atlas, at.file, symbol.start_line, end)?;
            let left_out = symbol.end_line - end;
            if left_out > 0 {
                answer.line(format!("  … {left_out} more lines; raise max_body_lines"));
            }
            if let Value::Object(fields) = &mut fields {
                fields.insert("body".to_owned(), lines.into());
                fields.insert("body_lines_left_out".to_owned(), left_out.into());
            }
        }
        shown.push(fields);
    }
    answer.field("definitions", shown);
    if let Target::File(file) = target {
        retained::put(&mut answer, &Vec::from_iter(retained::of(desk, &atlas, file)), false);
    }
    Ok(answer)
}

/// A definition that only the committed version of a broken file has.
fn retained_only(desk: &Desk, atlas: &Atlas, asked: &str, file: Option<&str>) -> Option<Answer> {
    let retained = retained::find(desk, atlas, asked, file);
    let n: usize = retained.iter().map(Retained::len).sum();
    if n == 0 {
        return None;
    }
    let mut answer = Answer::new(atlas, desk.options.max_tokens);
    answer.shown(n, n, if n == 1 { "retained definition" } else { "retained definitions" });
    answer.field("definitions", Vec::<Value>::new());
    retained::put(&mut answer, &retained, true);
    Some(answer)
}

fn put_definition(answer: &mut Answer, atlas: &Atlas, at: SymbolRef, target: &Target) -> Value {
    let view = &*atlas.view;
    let facts = view.facts(at.file);
    let symbol = view.symbol(at);
    let mut fields = show::symbol_json(view, at);
    match target {
        Target::File(_) => answer.line(format!(
            "{}:1-{} file, {} {}",
            show::path(view, at),
            symbol.end_line,
            facts.dialect.language().as_str(),
            show::handle(view, at)
        )),
        Target::Symbols(_) => answer.line(find_symbol::row_line(view, at)),
    }
    let doc = show::doc(facts, symbol);
    if let Some(doc) = &doc {
        answer.line(format!("  doc: {doc}"));
    }
    let members: Vec<SymbolRef> = (at.symbol.index() + 1..facts.symbols.len())
        .map(|row| SymbolRef { file: at.file, symbol: Id::new(row) })
        .filter(|member| view.symbol(*member).parent == Some(at.symbol))
        .collect();
    for member in members.iter().take(MAX_MEMBERS) {
        let row = view.symbol(*member);
        let signature = show::signature(facts, row);
        answer.line(format!("  {}-{} {} {signature}", row.start_line, row.end_line, show::kind(row)));
    }
    if members.len() > MAX_MEMBERS {
        answer.line(format!("  … {} more members; `ratlas query outline` lists all", members.len() - MAX_MEMBERS));
    }
    if let Value::Object(fields) = &mut fields {
        fields.insert("doc".to_owned(), doc.map_or(Value::Null, Value::from));
        let rows: Vec<Value> = members.iter().map(|member| show::symbol_json(view, *member)).collect();
        fields.insert("members".to_owned(), rows.into());
    }
    fields
}

/// Adds the lines `start..=end` of a file, numbered, and gives them as they are shown.
///
/// # Errors
/// As [`AtlasSource::read`].
pub fn put_lines(
    answer: &mut Answer,
    desk: &Desk,
    atlas: &Atlas,
    file: FileIdx,
    start: u32,
    end: u32,
) -> Result<Vec<String>> {
    let source: &dyn AtlasSource = &*desk.source;
    let bytes = source.read(atlas, &atlas.view.file(file).path)?;
    let lines = lines_of(&bytes, start, end, source.redactor());
    for (at, line) in lines.iter().enumerate() {
        answer.line(format!("{:>5} {line}", start as usize + at));
    }
    Ok(lines)
}

/// The lines `start..=end` (1-based) of a file's bytes, as they are shown: secrets taken out,
/// line by line where a rule would join lines.
pub fn lines_of(bytes: &[u8], start: u32, end: u32, redactor: &Redactor) -> Vec<String> {
    let n_lines = (end + 1).saturating_sub(start) as usize;
    let lines: Vec<String> = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .skip(start.saturating_sub(1) as usize)
        .take(n_lines)
        .map(|line| String::from_utf8_lossy(line).trim_end_matches('\n').to_string())
        .collect();
    let whole = lines.join("\n");
    let redacted = redactor.redact(&whole);
    let shown: Vec<&str> = redacted.split('\n').collect();
    if shown.len() == lines.len() {
        return shown.into_iter().map(sanitize::source_line).collect();
    }
    lines.iter().map(|line| sanitize::source_line(&redactor.redact(line))).collect()
}

/// Reads `FILE:A-B` or `FILE:A`.
///
/// # Errors
/// `Usage` for another form or an empty range.
pub fn parse_span(span: &str) -> Result<(&str, u32, u32)> {
    let wrong = || {
        Error::new(ErrorKind::Usage, format!("`{}` is no span", sanitize::line(span, 120)))
            .hint("write FILE:FIRST-LAST, as in `src/app.py:10-20`")
    };
    let (file, range) = span.rsplit_once(':').ok_or_else(wrong)?;
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let first: u32 = first.trim().parse().map_err(|_| wrong())?;
    let last: u32 = last.trim().parse().map_err(|_| wrong())?;
    if file.is_empty() || first == 0 || last < first {
        return Err(wrong());
    }
    Ok((file, first, last))
}

#[cfg(test)]
mod tests {
    use super::{lines_of, parse_span};
    use crate::extract::redact::Redactor;

    #[test]
    fn spans_are_exact() {
        let bytes = b"a\n  b\r\n\nd";
        let lines = |start, end| lines_of(bytes, start, end, Redactor::built_in());
        assert_eq!(lines(2, 3), ["  b", ""]);
        assert_eq!(lines(4, 9), ["d"]);
        assert!(lines(9, 12).is_empty());
    }

    #[test]
    fn spans_name_file_and_lines() {
        assert_eq!(parse_span("src/a.py:3-9").unwrap(), ("src/a.py", 3, 9));
        assert_eq!(parse_span("a.py:7").unwrap(), ("a.py", 7, 7));
        for bad in ["a.py", "a.py:0-3", "a.py:9-3", ":1-2", "a.py:x"] {
            assert!(parse_span(bad).is_err(), "{bad}");
        }
    }
}
