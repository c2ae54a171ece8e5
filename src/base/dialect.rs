//! The dialects a file can be read as: same bytes, other grammar or meaning, other facts.

use std::fmt;

/// How bytes are read (FACTS.md §1): part of a shard's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Dialect {
    Py = 0,
    Pyi = 1,
    Ts = 2,
    Tsx = 3,
    Dts = 4,
    Js = 5,
    Jsx = 6,
    Java = 7,
}

/// The languages that answers are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LanguageName {
    Python,
    TypeScript,
    JavaScript,
    Java,
}

impl LanguageName {
    /// The name in outputs and options: `python`, `typescript`, `javascript`, `java`.
    pub fn as_str(self) -> &'static str {
        match self {
            LanguageName::Python => "python",
            LanguageName::TypeScript => "typescript",
            LanguageName::JavaScript => "javascript",
            LanguageName::Java => "java",
        }
    }
}

impl LanguageName {
    /// Whether code of the two languages can name each other's symbols.
    pub fn shares_names_with(self, other: LanguageName) -> bool {
        let is_ecmascript = |language| matches!(language, LanguageName::TypeScript | LanguageName::JavaScript);
        self == other || (is_ecmascript(self) && is_ecmascript(other))
    }
}

impl Dialect {
    /// Every dialect, in the order of its number.
    pub const ALL: [Dialect; 8] =
        [Dialect::Py, Dialect::Pyi, Dialect::Ts, Dialect::Tsx, Dialect::Dts, Dialect::Js, Dialect::Jsx, Dialect::Java];

    /// The dialect of a file by its name; `None` for a file of no indexed language.
    pub fn of_file_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        Some(match extension {
            "py" => Dialect::Py,
            "pyi" => Dialect::Pyi,
            "ts" | "mts" | "cts" => {
                let stem = &name[..name.len() - extension.len() - 1];
                if stem.ends_with(".d") { Dialect::Dts } else { Dialect::Ts }
            }
            "tsx" => Dialect::Tsx,
            "js" | "mjs" | "cjs" => Dialect::Js,
            "jsx" => Dialect::Jsx,
            "java" => Dialect::Java,
            _ => return None,
        })
    }

    /// The short name stored in shard keys: `py pyi ts tsx dts js jsx java`.
    pub fn as_str(self) -> &'static str {
        match self {
            Dialect::Py => "py",
            Dialect::Pyi => "pyi",
            Dialect::Ts => "ts",
            Dialect::Tsx => "tsx",
            Dialect::Dts => "dts",
            Dialect::Js => "js",
            Dialect::Jsx => "jsx",
            Dialect::Java => "java",
        }
    }

    /// Reads a short name back.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.as_str() == name)
    }

    /// The language that answers group it under.
    pub fn language(self) -> LanguageName {
        match self {
            Dialect::Py | Dialect::Pyi => LanguageName::Python,
            Dialect::Ts | Dialect::Tsx | Dialect::Dts => LanguageName::TypeScript,
            Dialect::Js | Dialect::Jsx => LanguageName::JavaScript,
            Dialect::Java => LanguageName::Java,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
