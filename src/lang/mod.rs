//! The bay of languages: what one must be (`language`), the ones, and the list.

pub mod dependencies;
pub mod java;
pub mod language;
pub mod node;
pub mod python;
pub mod quiet;
pub mod testing;
pub mod typescript;

use crate::base::dialect::Dialect;
use crate::lang::language::Language;

/// Every language, in the order of reports.
pub fn all() -> &'static [&'static dyn Language] {
    &[&python::Python, &typescript::TypeScript, &java::Java]
}

/// The language that reads a dialect.
pub fn of(dialect: Dialect) -> &'static dyn Language {
    match dialect {
        Dialect::Py | Dialect::Pyi => &python::Python,
        Dialect::Ts | Dialect::Tsx | Dialect::Dts | Dialect::Js | Dialect::Jsx => &typescript::TypeScript,
        Dialect::Java => &java::Java,
    }
}
