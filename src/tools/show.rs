//! How symbols, files and edges are shown, in text and in JSON.

use serde_json::Value;

use crate::base::id::symbol_handle;
use crate::facts::model::{FileFacts, Symbol, SymbolFlags, SymbolKind, TestBlockId};
use crate::facts::table::Id;
use crate::rank::surface;
use crate::report::{json, sanitize};
use crate::view::{SymbolRef, View};

/// The longest signature of one line, in characters.
const MAX_SIGNATURE: usize = 160;
/// The longest doc line, in characters.
const MAX_DOC: usize = 120;
/// The longest name, in characters.
const MAX_NAME: usize = 200;

/// The kind of a symbol in every output: what the languages' own kinds come down to.
pub fn kind(symbol: &Symbol) -> &'static str {
    kind_of(symbol.kind, symbol.flags.has(SymbolFlags::GETTER) || symbol.flags.has(SymbolFlags::SETTER))
}

/// The kind in outputs of a language's own kind; `is_accessor`: whether it is a getter or setter.
pub fn kind_of(kind: SymbolKind, is_accessor: bool) -> &'static str {
    match kind {
        SymbolKind::Module => "module",
        SymbolKind::Class | SymbolKind::Enum | SymbolKind::Record => "class",
        SymbolKind::Interface | SymbolKind::Annotation | SymbolKind::TypeAlias => "type",
        SymbolKind::Namespace => "namespace",
        SymbolKind::Function => "function",
        SymbolKind::Method | SymbolKind::Constructor => "method",
        SymbolKind::Property if is_accessor => "method",
        SymbolKind::Property | SymbolKind::Field | SymbolKind::EnumMember | SymbolKind::Signature => "field",
        SymbolKind::Variable => "const",
    }
}

/// The kinds that `kind` gives, for filters.
pub const KINDS: &[&str] = &["module", "class", "type", "namespace", "function", "method", "field", "const"];

/// The qualified name of a symbol, safe to print.
pub fn qualname(view: &View, at: SymbolRef) -> String {
    sanitize::line(view.qualname(at), MAX_NAME)
}

/// The path of a symbol's file, safe to print.
pub fn path(view: &View, at: SymbolRef) -> String {
    sanitize::line(view.file(at.file).path.as_str(), 400)
}

/// The stable handle of a symbol.
pub fn handle(view: &View, at: SymbolRef) -> String {
    symbol_handle(view.file(at.file).path.as_str(), view.qualname(at))
}

/// `src/a.py:12 Flask.route (method)`.
pub fn place(view: &View, at: SymbolRef) -> String {
    let symbol = view.symbol(at);
    format!("{}:{} {} ({})", path(view, at), symbol.start_line, qualname(view, at), kind(symbol))
}

/// The signature with the qualified name in the place of the simple one: `def Flask.route(self)`.
pub fn signature(facts: &FileFacts, symbol: &Symbol) -> String {
    let written = facts.name(symbol.signature);
    let mut name = facts.name(symbol.name);
    let owner = symbol.parent.filter(|parent| parent.index() > 0).map(|id| facts.name(facts.symbol(id).qualname));
    let Some(owner) = owner else {
        let text = if written.is_empty() { name } else { written };
        return sanitize::line(text, MAX_SIGNATURE);
    };
    let mut prefix = format!("{owner}.");
    if symbol.kind == SymbolKind::Constructor && find_word(written, name).is_none() {
        // Java writes the class's own name, which the owner's then stands for.
        name = owner.rsplit('.').next().unwrap_or(owner);
        prefix.truncate(owner.len() - name.len());
    }
    match find_word(written, name) {
        Some(start) => sanitize::line(&format!("{}{prefix}{}", &written[..start], &written[start..]), MAX_SIGNATURE),
        None if written.is_empty() => sanitize::line(facts.name(symbol.qualname), MAX_SIGNATURE),
        None => sanitize::line(&format!("{owner}: {written}"), MAX_SIGNATURE),
    }
}

/// Where `name` stands in `text` as a whole word.
fn find_word(text: &str, name: &str) -> Option<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        !text[..*at].chars().next_back().is_some_and(is_word)
            && !text[at + name.len()..].chars().next().is_some_and(is_word)
    })
}

/// The first doc line, if there is one with text.
pub fn doc(facts: &FileFacts, symbol: &Symbol) -> Option<String> {
    let line = sanitize::line(facts.name(symbol.doc?), MAX_DOC);
    (!line.is_empty()).then_some(line)
}

/// The fields of a symbol in JSON.
pub fn symbol_json(view: &View, at: SymbolRef) -> Value {
    let facts = view.facts(at.file);
    let symbol = view.symbol(at);
    json::object([
        ("file", path(view, at).into()),
        ("qualname", qualname(view, at).into()),
        ("name", name(view, at).into()),
        ("kind", kind(symbol).into()),
        ("start_line", symbol.start_line.into()),
        ("end_line", symbol.end_line.into()),
        ("signature", sanitize::line(facts.name(symbol.signature), MAX_SIGNATURE).into()),
        ("is_public", surface::is_public(facts, symbol).into()),
        ("handle", handle(view, at).into()),
    ])
}

/// The simple name of a symbol; a file's stem for `<module>`.
pub fn name(view: &View, at: SymbolRef) -> String {
    let file = view.file(at.file);
    match at.symbol.index() {
        0 => sanitize::line(file.path.stem(), MAX_NAME),
        _ => sanitize::line(file.facts.name(view.symbol(at).name), MAX_NAME),
    }
}

/// The titles from the outermost test block to this one, with ` > ` between.
pub fn test_title(facts: &FileFacts, block: TestBlockId) -> String {
    let mut titles = Vec::new();
    let mut at = Some(block);
    while let Some(id) = at {
        let row = &facts.test_blocks[id.index()];
        titles.push(match row.title {
            Some(title) => sanitize::line(facts.name(title), 80),
            None => "…".to_owned(),
        });
        at = row.parent.filter(|parent| *parent < id);
    }
    titles.reverse();
    titles.join(" > ")
}

/// `1 file`, `2 files`.
pub fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::find_word;

    #[test]
    fn names_are_found_as_whole_words() {
        assert_eq!(find_word("public void putAll(put p), put()", "put"), Some(19));
        assert_eq!(find_word("def route(self)", "route"), Some(4));
        assert_eq!(find_word("routes", "route"), None);
    }
}
