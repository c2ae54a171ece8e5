//! Syntax that the grammar does not know, blanked out byte for byte.
//!
//! The mended bytes are only parsed: names, hashes and positions come from the bytes as they are.

use std::borrow::Cow;

/// Arguments of an annotation longer than this are not looked through.
const MAX_ARGUMENTS: usize = 200;

/// Blanks out the annotations of a variadic parameter's array (`Object @Nullable ... x`, JLS
/// 8.4.1); the walk reads them from the source by [`annotations_before`].
pub fn mend(source: &[u8]) -> Cow<'_, [u8]> {
    let mut mended = Cow::Borrowed(source);
    let mut at = 0;
    while let Some(found) = source[at..].windows(3).position(|three| three == b"...") {
        let dots = at + found;
        if let Some(start) = annotations_before(source, dots).first().map(|name| name.start - 1) {
            mended.to_mut()[start..dots].fill(b' ');
        }
        at = dots + 3;
    }
    mended
}

/// The names of the annotations between a type and the `...` at `dots`, in order.
pub fn annotations_before(source: &[u8], dots: usize) -> Vec<std::ops::Range<usize>> {
    let mut names = Vec::new();
    let mut end = dots;
    loop {
        let mut rest = source[..end].trim_ascii_end();
        if rest.ends_with(b")") {
            let floor = rest.len().saturating_sub(MAX_ARGUMENTS);
            let mut depth = 0usize;
            let open = (floor..rest.len()).rev().find(|at| {
                match rest[*at] {
                    b')' => depth += 1,
                    b'(' => depth -= 1,
                    _ => {}
                }
                depth == 0
            });
            let Some(open) = open else { break };
            rest = rest[..open].trim_ascii_end();
        }
        let n = rest.iter().rev().take_while(|b| is_word(**b) || **b == b'.').count();
        let start = rest.len() - n;
        if n == 0 || start == 0 || rest[start - 1] != b'@' {
            break;
        }
        let before = source[..start - 1].trim_ascii_end();
        // The type that is annotated ends here, or another annotation does.
        if !before.last().is_some_and(|b| is_word(*b) || matches!(b, b'>' | b']' | b')')) {
            return Vec::new();
        }
        names.push(start..rest.len());
        end = start - 1;
    }
    names.reverse();
    names
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, mended: &str) {
        assert_eq!(String::from_utf8_lossy(&mend(source.as_bytes())), mended);
    }

    #[test]
    fn only_annotations_before_dots_are_blanked() {
        check("void f(Object @Nullable ... x)", "void f(Object           ... x)");
        check("void f(List<?> @A @b.C(x = 1) ... x)", "void f(List<?>                ... x)");
        check("void f(Object @Nullable [] x, @A int... y)", "void f(Object @Nullable [] x, @A int... y)");
        check("/** @see ... */ f(@A ... x) \"@a ...\"", "/** @see ... */ f(@A ... x) \"@a ...\"");
        check("...", "...");
    }
}
