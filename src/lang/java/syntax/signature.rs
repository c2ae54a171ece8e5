//! The one-line signature of a declaration, the erased parameter types of its qualified name,
//! and the first sentence of its Javadoc.

use tree_sitter::Node;

use crate::lang::java::syntax::kinds::{K, kind};
use crate::lang::node;

/// A signature longer than this is cut: it is for people and token budgets.
const MAX_SIGNATURE: usize = 400;

/// A doc line longer than this is cut.
const MAX_DOC: usize = 200;

/// Joins the tokens of `parts` to one line, in order. Annotations, comments and bodies are left out.
pub fn signature<'t>(source: &[u8], parts: impl IntoIterator<Item = Node<'t>>) -> String {
    let mut line = String::new();
    let mut last = Token::Start;
    for part in parts {
        let mut stack = vec![part];
        while let Some(at) = stack.pop() {
            let at_kind = kind(at);
            if at_kind.is_comment() || at_kind.is_annotation() {
                continue;
            }
            if at.child_count() > 0 {
                for child in (0..at.child_count()).rev().filter_map(|n| at.child(n)) {
                    stack.push(child);
                }
                continue;
            }
            let text = node::text(at, source);
            if text.is_empty() {
                continue;
            }
            let token = Token::of(&text);
            if last.blank_before(token) {
                line.push(' ');
            }
            line.push_str(&text);
            last = token;
            if line.len() > 2 * MAX_SIGNATURE {
                return node::one_line(&line, MAX_SIGNATURE);
            }
        }
    }
    node::one_line(&line, MAX_SIGNATURE)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Start,
    Word,
    /// A word after which `<` opens type parameters of the declaration, not arguments.
    Modifier,
    Opening,
    Closing,
    Angle,
    Comma,
    Other,
}

impl Token {
    fn of(text: &str) -> Self {
        match text {
            "public" | "protected" | "private" | "static" | "final" | "abstract" | "default" | "native"
            | "synchronized" | "strictfp" | "sealed" | "non-sealed" | "transient" | "volatile" => Token::Modifier,
            "(" | "[" | "." => Token::Opening,
            ")" | "]" | ">" | "..." => Token::Closing,
            "<" => Token::Angle,
            "," | ";" => Token::Comma,
            "&" | "?" | "=" => Token::Other,
            _ => Token::Word,
        }
    }

    fn blank_before(self, next: Token) -> bool {
        match (self, next) {
            (Token::Start | Token::Opening | Token::Angle, _) => false,
            (_, Token::Comma | Token::Closing) => false,
            (Token::Modifier | Token::Comma | Token::Other, _) => true,
            (_, Token::Opening | Token::Angle) => false,
            (_, _) => true,
        }
    }
}

/// The erased simple name of a type with its array dimensions: `Map.Entry<K, V>[]` gives `Entry[]`.
pub fn erased(ty: Node<'_>, source: &[u8]) -> String {
    let mut at = ty;
    let mut dimensions = 0;
    loop {
        let inner = match kind(at) {
            K::ArrayType => {
                dimensions += node::children(at).filter(|c| kind(*c) == K::Dimensions).map(n_dimensions).sum::<usize>();
                node::named_children(at).find(|c| kind(*c).is_type())
            }
            K::GenericType => node::named_children(at).find(|c| kind(*c).is_type()),
            K::AnnotatedType => node::named_children(at).find(|c| kind(*c).is_type()),
            K::ScopedTypeIdentifier => {
                node::named_children(at).filter(|c| kind(*c) == K::TypeIdentifier).last().filter(|c| c.id() != at.id())
            }
            _ => None,
        };
        match inner {
            Some(inner) => at = inner,
            None => break,
        }
    }
    let mut name = node::one_line(&node::text(at, source), MAX_SIGNATURE).replace([' ', '.', '(', ')'], "");
    for _ in 0..dimensions {
        name.push_str("[]");
    }
    name
}

/// How many `[]` a `dimensions` node holds.
pub fn n_dimensions(dimensions: Node<'_>) -> usize {
    node::children(dimensions).filter(|c| kind(*c) == K::BracketOpen).count()
}

/// The first sentence of a Javadoc comment, inline tags unwrapped and markup dropped;
/// `None` when it has no text before its block tags.
pub fn first_sentence(comment: &str) -> Option<String> {
    let inner = comment.strip_prefix("/**")?.strip_suffix("*/")?;
    let mut text = String::new();
    for line in inner.lines() {
        let line = line.trim().trim_start_matches('*').trim();
        let paragraph = line.starts_with("<p>") || line.is_empty();
        if line.starts_with('@') || (paragraph && !text.is_empty()) {
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(line);
        if text.len() > 4 * MAX_DOC {
            break;
        }
    }
    let text = unwrapped(&text);
    let mut end = text.len();
    for (at, _) in text.match_indices(". ") {
        // `e.g.`, `i.e.`: a single letter before the dot ends no sentence.
        let word = text[..at].rsplit([' ', '.', '(']).next().unwrap_or("");
        if word.len() > 1 && word != "vs" && word != "etc" {
            end = at + 1;
            break;
        }
    }
    let line = node::one_line(&text[..end], MAX_DOC);
    (!line.is_empty()).then_some(line)
}

/// Drops `<tags>` and unwraps `{@code x}` and `{@link Foo#bar label}`.
fn unwrapped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '<', '}']) {
        out.push_str(&rest[..at]);
        let tail = &rest[at..];
        if let Some(tag) = tail.strip_prefix("{@") {
            let skip = tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len());
            rest = tag[skip..].trim_start();
        } else if tail.starts_with('<') && tail[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') {
            rest = tail.find('>').map_or("", |end| &tail[end + 1..]);
        } else {
            let brace = tail.starts_with('}');
            if !brace {
                out.push_str(&tail[..1]);
            }
            rest = &tail[1..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn the_first_sentence_ends_at_dot_paragraph_or_tag() {
        assert_eq!(first_sentence("/** One. Two. */").as_deref(), Some("One."));
        assert_eq!(
            first_sentence("/**\n * See {@link Foo#bar}, e.g. <b>this</b>\n * and that.\n *\n * More. */").as_deref(),
            Some("See Foo#bar, e.g. this and that.")
        );
        assert_eq!(first_sentence("/** @param x y */"), None);
        assert_eq!(first_sentence("/**/"), None);
    }
}
