//! The little of XML that reports of test runs and of coverage need: where a tag ends, and what its
//! attributes hold. No tree is built; hostile text is walked once.

/// Where a tag ends: at the first `>` outside of quotes.
pub fn tag_end(text: &str) -> usize {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '>') => return at,
            _ => {}
        }
    }
    text.len()
}

/// The value of an attribute of a tag, the five entities read; empty where the tag has none.
pub fn attribute(tag: &str, name: &str) -> String {
    for quote in ['"', '\''] {
        let start = format!(" {name}={quote}");
        if let Some((_, after)) = tag.split_once(start.as_str()) {
            let value = after.split(quote).next().unwrap_or("");
            let texts = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
            return texts.iter().fold(value.to_string(), |text, (from, to)| text.replace(from, to));
        }
    }
    String::new()
}
