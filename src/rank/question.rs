//! What a task says of code: its shape, words, names and places. Text only; no tree is looked at.

use std::collections::BTreeSet;

use crate::base::dialect::Dialect;
use crate::rank::words::{self, Asked};

/// The form of a task, said in the header line of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One name: `Class.method`, `parse_url`.
    Identifier,
    /// One path, with or without a line.
    Path,
    /// Frames of a stack, with files and lines.
    StackTrace,
    /// Words.
    Question,
}

impl Shape {
    /// The name in outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            Shape::Identifier => "identifier",
            Shape::Path => "path",
            Shape::StackTrace => "stack trace",
            Shape::Question => "question",
        }
    }
}

/// A file that a task names, perhaps with a line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// With `/`; whole, from anywhere above the repository, or the end of a path.
    pub path: String,
    /// 1-based.
    pub line: Option<u32>,
}

/// A task, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub shape: Shape,
    /// Sorted by term.
    pub terms: Vec<Asked>,
    /// Names that the task writes as code (quoted, called, or shaped like none but code is), in
    /// order, unique: simple or dotted.
    pub names: Vec<String>,
    /// In order, unique. The innermost frame of a stack comes first.
    pub places: Vec<Place>,
    /// Whether it speaks of tests.
    pub wants_tests: bool,
}

/// The most names and the most places that count: a pasted log holds more than anyone asks for.
const MAX_NAMES: usize = 24;
const MAX_PLACES: usize = 24;
/// The most bytes of a task that are read.
const MAX_BYTES: usize = 16_384;

/// Reads a task.
pub fn read(task: &str) -> Question {
    let task = cut(task.trim());
    let (places, n_frames, is_python, message) = places(task);
    let names = names(task);
    let n_words = task.split_whitespace().count();
    let shape = match (n_words, places.len(), names.len()) {
        _ if n_frames >= 2 => Shape::StackTrace,
        (1, 1.., _) => Shape::Path,
        (1, 0, _) if is_name(task.trim_end_matches("()")) => Shape::Identifier,
        (_, 1.., _) if n_frames >= 1 && n_words < 8 => Shape::StackTrace,
        _ => Shape::Question,
    };
    let mut places = places;
    if is_python {
        // Python prints the innermost frame last.
        places.reverse();
    }
    let mut names = names;
    if shape == Shape::Identifier && names.is_empty() {
        names.push(task.trim_end_matches("()").to_owned());
    }
    let wants_tests = task.split(|c: char| !c.is_alphanumeric()).any(|word| {
        matches!(word.to_lowercase().as_str(), "test" | "tests" | "testing" | "spec" | "specs" | "fixture" | "fixtures")
    });
    Question { shape, terms: words::query_terms(&message), names, places, wants_tests }
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The places of a task, how many are frames of a stack, whether of Python's kind, and the lines
/// that are no frames: their words say what went wrong, those of frames only where.
fn places(task: &str) -> (Vec<Place>, usize, bool, String) {
    let (mut found, mut n_frames, mut is_python, mut message) = (Vec::new(), 0, false, String::new());
    for line in task.lines() {
        if let Some(place) = python_frame(line) {
            is_python = true;
            n_frames += 1;
            found.push(place);
            continue;
        }
        let n_before = found.len();
        let is_frame = line.trim_start().starts_with("at ");
        for token in line.split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ',' | ';' | '<' | '>')) {
            let Some(place) = java_frame(token).or_else(|| plain_place(token)) else { continue };
            n_frames += usize::from(is_frame || place.line.is_some());
            found.push(place);
        }
        if !is_frame || found.len() == n_before {
            message.push_str(line);
            message.push('\n');
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|place| seen.insert(place.clone()));
    found.truncate(MAX_PLACES);
    (found, n_frames, is_python, message)
}

/// `File "a/b.py", line 3, in f`.
fn python_frame(line: &str) -> Option<Place> {
    let rest = line.trim_start().strip_prefix("File \"")?;
    let (path, rest) = rest.split_once("\", line ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some(Place { path: path.replace('\\', "/"), line: digits.parse().ok() })
}

/// `a.b.C.method(C.java:12)`: the file lies where its package says.
fn java_frame(token: &str) -> Option<Place> {
    let (owner, rest) = token.trim_end_matches([')', ':']).split_once('(')?;
    let (file, line) = rest.split_once(':')?;
    if owner.is_empty() || file.contains('/') || Dialect::of_file_name(file) != Some(Dialect::Java) {
        return None;
    }
    // Modules and loaders stand before a slash.
    let owner = owner.rsplit('/').next().unwrap_or(owner);
    let package: Vec<&str> = owner.split('.').take_while(|part| part.starts_with(|c: char| c.is_lowercase())).collect();
    let mut path = package.join("/");
    if !path.is_empty() {
        path.push('/');
    }
    path.push_str(file);
    Some(Place { path, line: line.parse().ok() })
}

/// `a/b.ts`, `a/b.ts:12`, `(a/b.ts:12:5)`, `a/b.ts#L12`.
fn plain_place(token: &str) -> Option<Place> {
    let token =
        token.trim_matches(|c: char| matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | '.' | ':' | '!' | '?' | '*'));
    let token = token.rsplit_once("://").map_or(token, |(_, rest)| rest);
    let mut parts = token.splitn(3, [':', '#']);
    let mut path = parts.next()?.to_owned();
    let mut number = parts.next();
    if path.len() == 1 && number.is_some_and(|rest| rest.starts_with(['/', '\\'])) {
        // `C:\a\b.py:3`.
        path = number?.to_owned();
        number = parts.next().and_then(|rest| rest.split(':').next());
    }
    let path = path.replace('\\', "/");
    let name = path.rsplit('/').next()?;
    let is_source = Dialect::of_file_name(name).is_some() && name.len() > 3;
    let line = number.and_then(|text| text.trim_start_matches('L').parse().ok());
    is_source.then(|| Place { path: path.trim_start_matches("./").trim_start_matches('/').to_owned(), line })
}

/// Names that are written as code.
fn names(task: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut put = |name: &str| {
        let name = name.trim_end_matches("()").trim_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
        if is_name(name) && name.len() >= 2 && seen.insert(name.to_owned()) {
            found.push(name.to_owned());
        }
    };
    // Quoted names are meant, whatever they look like.
    for quote in ['`', '"', '\''] {
        for (at, part) in task.split(quote).enumerate() {
            let name = part.trim().trim_end_matches("()");
            if at % 2 == 1 && part.len() <= 120 && is_name(name) && Dialect::of_file_name(name).is_none() {
                put(name);
            }
        }
    }
    for token in
        task.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '`' | '"' | '\'' | '<' | '>' | '[' | ']'))
    {
        let token = token.trim_matches(|c: char| matches!(c, '.' | ':' | '!' | '?' | '@' | '#'));
        let called = token.split_once('(').filter(|(name, _)| !name.is_empty());
        let (name, is_called) = called.map_or((token, false), |(name, _)| (name, true));
        let name = name.trim_matches(|c: char| matches!(c, '(' | ')' | '{' | '}'));
        if Dialect::of_file_name(name.rsplit('/').next().unwrap_or(name)).is_some() || name.contains('/') {
            continue;
        }
        let name = name.rsplit("::").next().unwrap_or(name);
        if is_name(name) && (is_called || is_code_shaped(name)) {
            put(name);
        }
    }
    found.truncate(MAX_NAMES);
    found
}

/// Whether a text is one name, dots allowed.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 120
        && text.split('.').all(|part| {
            let mut chars = part.chars();
            chars.next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$')
                && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
        })
}

/// Whether a word looks like no word of a language: `snake_case`, `camelCase`, `a.b`, `$x`.
fn is_code_shaped(name: &str) -> bool {
    let inner = &name[name.chars().next().map_or(0, char::len_utf8)..];
    let has_hump = inner.chars().zip(inner.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase())
        || (inner.chars().any(char::is_uppercase) && inner.chars().any(char::is_lowercase));
    let is_dotted = name.contains('.') && name.split('.').all(|part| part.len() >= 2);
    inner.contains('_') || name.contains('$') || has_hump || is_dotted
}

#[cfg(test)]
mod tests {
    use super::{Place, Shape, read};

    fn place(path: &str, line: Option<u32>) -> Place {
        Place { path: path.to_owned(), line }
    }

    #[test]
    fn shapes_are_told_apart() {
        assert_eq!(read("Session.open").shape, Shape::Identifier);
        assert_eq!(read("parse_url()").shape, Shape::Identifier);
        assert_eq!(read("src/a/b.py").shape, Shape::Path);
        assert_eq!(read("src/a/b.py:12").shape, Shape::Path);
        assert_eq!(read("why is the cookie lost").shape, Shape::Question);
        assert_eq!(read("").shape, Shape::Question);
    }

    #[test]
    fn stacks_of_three_languages_are_read() {
        let python = read(
            "Traceback:\n  File \"/app/src/flask/app.py\", line 10, in wsgi\n    f()\n  File \"/app/src/flask/ctx.py\", line 7, in push\nKeyError: 'x'",
        );
        assert_eq!(python.shape, Shape::StackTrace);
        assert_eq!(python.places[0], place("/app/src/flask/ctx.py", Some(7)));
        let java = read("java.lang.X: y\n\tat a.b.Cache.put(Cache.java:12)\n\tat java.base/a.Main.main(Main.java:3)");
        assert_eq!(java.places, [place("a/b/Cache.java", Some(12)), place("a/Main.java", Some(3))]);
        let script = read("TypeError: x\n    at patch (packages/core/src/r.ts:812:5)\n    at file:///w/s/q.js:4:1");
        assert_eq!(script.places, [place("packages/core/src/r.ts", Some(812)), place("w/s/q.js", Some(4))]);
        assert_eq!(read("C:\\w\\a.py:3").places, [place("w/a.py", Some(3))]);
    }

    #[test]
    fn names_written_as_code_are_exact() {
        let asked = read("make `clear` and resetAll() of Cart.items drop max_size, see `web/price.ts` please");
        assert_eq!(asked.names, ["clear", "resetAll", "Cart.items", "max_size"]);
        assert_eq!(asked.places, [place("web/price.ts", None)]);
        assert!(read("Why does this fail e.g. on Windows? Fix it.").names.is_empty());
        assert!(read("add a test for carts").wants_tests);
    }

    #[test]
    fn hostile_text_is_read() {
        for text in ["(((:::", "\"", "`", "a:", "at (", "File \"x", &"é(".repeat(20_000), "C:", "://", "$.$"] {
            read(text);
        }
    }
}
