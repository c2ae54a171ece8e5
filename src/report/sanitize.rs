//! Makes text of the repository safe to print: it is untrusted (PRODUCT.md §8).
//!
//! Names, signatures and docs become one line without control, zero-width or bidirectional
//! characters. Source lines keep their bytes, with such characters shown as escapes.

/// Squeezes `text` to one line of at most `max_chars` characters, cut with `…`.
///
/// White space of any kind becomes single blanks; control, zero-width and bidirectional
/// characters are dropped.
pub fn line(text: &str, max_chars: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max_chars * 4));
    let mut n_chars = 0;
    let mut blank = false;
    for c in text.chars() {
        if c.is_whitespace() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{85}') {
            blank = n_chars > 0;
            continue;
        }
        if is_hidden(c) {
            continue;
        }
        let needed = 1 + usize::from(blank);
        if n_chars + needed > max_chars {
            if n_chars == max_chars && out.pop().is_none() {
                return out;
            }
            out.push('…');
            return out;
        }
        if blank {
            out.push(' ');
            blank = false;
        }
        out.push(c);
        n_chars += needed;
    }
    out
}

/// A source line as it is printed: without its line end, hidden characters as `\u{…}`.
pub fn source_line(text: &str) -> String {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\t' && is_hidden(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Whether a character is invisible or changes how its neighbors are shown.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::{line, source_line};

    #[test]
    fn one_line_without_hidden_characters() {
        assert_eq!(line("def f(\n\ta:\u{202e} int)\u{200b}\u{7} -> x", 80), "def f( a: int) -> x");
        assert_eq!(line("  a  ", 80), "a");
    }

    #[test]
    fn long_lines_are_cut_at_the_limit() {
        assert_eq!(line("abcdef", 4), "abc…");
        assert_eq!(line("abcd", 4), "abcd");
        assert_eq!(line("ab cd ef", 5), "ab c…");
        assert!(line("a b c d", 0).chars().count() <= 1);
    }

    #[test]
    fn source_keeps_its_bytes_but_for_hidden_ones() {
        assert_eq!(source_line("\tx = 1  \r\n"), "\tx = 1  ");
        assert_eq!(source_line("a\u{1b}[31m\u{202e}b"), "a\\u{1b}[31m\\u{202e}b");
    }
}
