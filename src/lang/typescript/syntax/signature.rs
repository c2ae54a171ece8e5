//! Texts kept of a definition: its signature on one line without literals, its doc line.

use crate::lang::node::one_line;

/// Signatures longer than this are cut; the longest useful ones in real code stay below.
const MAX_SIGNATURE: usize = 240;
/// Doc lines longer than this are cut.
const MAX_DOC: usize = 160;

/// The source of a declaration's head as one line: comments dropped, defaults in parentheses and
/// texts of literals shown as `…`.
pub fn signature(source: &[u8]) -> String {
    // Twice what is kept, so that a huge head costs no more than a long one.
    let source = &source[..source.len().min(MAX_SIGNATURE * 8)];
    let text = String::from_utf8_lossy(source);
    let mut scan = Scan { rest: text.chars().collect(), at: 0, out: String::with_capacity(text.len()) };
    scan.run();
    one_line(&scan.out, MAX_SIGNATURE)
}

struct Scan {
    rest: Vec<char>,
    at: usize,
    out: String,
}

impl Scan {
    fn peek(&self, ahead: usize) -> char {
        self.rest.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn run(&mut self) {
        let mut parens = 0u32;
        while self.at < self.rest.len() {
            let c = self.peek(0);
            match c {
                '/' if matches!(self.peek(1), '/' | '*') => self.skip_comment(),
                '"' | '\'' | '`' => {
                    self.skip_string(c);
                    self.out.push('…');
                }
                '0'..='9'
                    if !self
                        .out
                        .chars()
                        .last()
                        .is_some_and(|p| p.is_alphanumeric() || matches!(p, '_' | '$' | '#')) =>
                {
                    while self.peek(0).is_ascii_alphanumeric() || matches!(self.peek(0), '.' | '_') {
                        self.at += 1;
                    }
                    self.out.push('…');
                }
                '=' if parens > 0 && self.peek(1) != '>' => {
                    self.at += 1;
                    if !self.out.ends_with(' ') {
                        self.out.push(' ');
                    }
                    self.out.push_str("= …");
                    self.skip_default();
                }
                _ => {
                    match c {
                        '(' => parens += 1,
                        ')' => parens = parens.saturating_sub(1),
                        _ => {}
                    }
                    self.out.push(c);
                    self.at += 1;
                }
            }
        }
    }

    fn skip_comment(&mut self) {
        let line = self.peek(1) == '/';
        self.at += 2;
        while self.at < self.rest.len() {
            if line && self.peek(0) == '\n' {
                return;
            }
            if !line && self.peek(0) == '*' && self.peek(1) == '/' {
                self.at += 2;
                self.out.push(' ');
                return;
            }
            self.at += 1;
        }
    }

    fn skip_string(&mut self, quote: char) {
        self.at += 1;
        while self.at < self.rest.len() {
            let c = self.peek(0);
            self.at += if c == '\\' { 2 } else { 1 };
            if c == quote {
                return;
            }
        }
    }

    /// Skips a default value up to the `,` or `)` that ends it.
    fn skip_default(&mut self) {
        let mut depth = 0u32;
        let mut before = '=';
        while self.at < self.rest.len() {
            let c = self.peek(0);
            match c {
                ',' | ')' | '}' | ']' if depth == 0 => return,
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                '"' | '\'' | '`' => {
                    self.skip_string(c);
                    before = c;
                    continue;
                }
                '/' if matches!(self.peek(1), '/' | '*') => {
                    self.skip_comment();
                    continue;
                }
                // A regex, where a value is expected.
                '/' if "=(,:[!&|?{};".contains(before) => {
                    self.skip_string('/');
                    before = '/';
                    continue;
                }
                _ => {}
            }
            if !c.is_whitespace() {
                before = c;
            }
            self.at += 1;
        }
    }
}

/// The first line of a `/** … */` comment; `None` for other comments and empty ones.
pub fn doc_line(comment: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(comment);
    let inner = text.strip_prefix("/**")?;
    let inner = inner.strip_suffix("*/").unwrap_or(inner);
    let line = inner.lines().map(|line| line.trim().trim_start_matches('*').trim()).find(|line| !line.is_empty())?;
    Some(one_line(line, MAX_DOC))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_shows_no_literal() {
        let head = b"async function f(a = 'k', { b = [1, ')'] }: X<'p', 12> = {}, r = /\\)x/, c2?: string): Promise<T>";
        assert_eq!(signature(head), "async function f(a = …, { b = …}: X<…, …> = …, r = …, c2?: string): Promise<T>");
    }

    #[test]
    fn doc_is_the_first_line_with_words() {
        assert_eq!(doc_line(b"/**\n *\n * Says it.\n * More.\n */").as_deref(), Some("Says it."));
        assert_eq!(doc_line(b"/* no */"), None);
    }
}
