//! Methods that a language calls by itself, where no name is written: `len(x)`, string
//! concatenation, `try` with resources. No reference of them can be listed.

use crate::base::dialect::LanguageName;
use crate::facts::model::SymbolKind;
use crate::view::{SymbolRef, View};

/// Python's methods that are called by their class's name, which is written.
const PYTHON_WRITTEN: [&str; 2] = ["__init__", "__new__"];
/// Object's and AutoCloseable's, Iterable's and Comparable's (Java Language Specification 5.1.11,
/// 14.14.2, 14.20.3; `java.util` compares and hashes by them).
const JAVA: [&str; 6] = ["toString", "hashCode", "equals", "compareTo", "close", "iterator"];
/// Conversions, JSON and awaiting (ECMA-262 7.1.1, 25.5.2, 27.2.2.2).
const ECMA: [&str; 4] = ["toString", "valueOf", "toJSON", "then"];

/// Whether a symbol is a method that the language may call unwritten.
pub fn is_called_by_language(view: &View, at: SymbolRef) -> bool {
    let symbol = view.symbol(at);
    if symbol.kind != SymbolKind::Method {
        return false;
    }
    let file = view.file(at.file);
    let name = file.facts.name(symbol.name);
    match file.dialect.language() {
        LanguageName::Python => {
            name.len() > 4 && name.starts_with("__") && name.ends_with("__") && !PYTHON_WRITTEN.contains(&name)
        }
        LanguageName::TypeScript | LanguageName::JavaScript => ECMA.contains(&name),
        LanguageName::Java => JAVA.contains(&name),
    }
}
