//! What of a file is its public surface, and which files are secondary by their path.

use crate::base::dialect::LanguageName;
use crate::facts::model::{FileFacts, ScopeKind, Symbol, SymbolFlags, SymbolKind, Visibility};

/// Whether a symbol can be used from other files, as far as its own file says.
///
/// Public, not inside a function or an anonymous object, in a public owner; in ECMAScript modules
/// with exports, exported too.
pub fn is_public(facts: &FileFacts, symbol: &Symbol) -> bool {
    let mut at = symbol;
    loop {
        if at.kind == SymbolKind::Module {
            return true;
        }
        let hidden = matches!(at.visibility, Visibility::Private | Visibility::Protected)
            || (at.visibility == Visibility::Package && std::ptr::eq(at, symbol))
            || at.flags.has(SymbolFlags::LOCAL)
            || (at.flags.has(SymbolFlags::ANONYMOUS_OWNER) && !is_ecmascript(facts));
        if hidden || (is_module_level(facts, at) && !is_exported(facts, at)) {
            return false;
        }
        let Some(parent) = at.parent else { return true };
        at = facts.symbol(parent);
    }
}

/// In ECMAScript a member of an object literal is used by its name; elsewhere one of an anonymous
/// class is not.
fn is_ecmascript(facts: &FileFacts) -> bool {
    match facts.dialect.language() {
        LanguageName::TypeScript | LanguageName::JavaScript => true,
        LanguageName::Python | LanguageName::Java => false,
    }
}

fn is_module_level(facts: &FileFacts, symbol: &Symbol) -> bool {
    facts.scope(symbol.declared_in).kind == ScopeKind::Module
}

fn is_exported(facts: &FileFacts, symbol: &Symbol) -> bool {
    match facts.dialect.language() {
        LanguageName::Python | LanguageName::Java => true,
        LanguageName::TypeScript | LanguageName::JavaScript => {
            facts.exports.is_empty()
                || symbol.flags.has(SymbolFlags::EXPORTED)
                || symbol.flags.has(SymbolFlags::DEFAULT_EXPORT)
                || symbol.flags.has(SymbolFlags::AMBIENT)
                || facts.exports.iter().any(|export| {
                    export.module.is_none()
                        && (export.local == Some(symbol.name)
                            || export.symbol.is_some_and(|id| std::ptr::eq(facts.symbol(id), symbol)))
                })
        }
    }
}

/// Whether a symbol is worth a line of a map or an outline: a definition, not the file itself,
/// nothing inside a function.
pub fn is_listed(symbol: &Symbol) -> bool {
    symbol.kind != SymbolKind::Module && !symbol.flags.has(SymbolFlags::LOCAL)
}

/// Whether a path is of tests, examples, docs, build scripts, a tool's configuration or generated
/// code: such files rank behind the product.
///
/// Whole path parts are compared, so that `latest` or `contest` are no tests.
pub fn is_secondary(path: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    let folder = parts.iter().any(|part| {
        matches!(
            *part,
            "test"
                | "tests"
                | "testing"
                | "__tests__"
                | "spec"
                | "specs"
                | "e2e"
                | "cypress"
                | "androidTest"
                | "examples"
                | "example"
                | "samples"
                | "fixtures"
                | "__fixtures__"
                | "__mocks__"
                | "mocks"
                | "testdata"
                | "docs"
                | "doc"
                | "benchmarks"
                | "benchmark"
                | "bench"
                | "node_modules"
                | "vendor"
                | "third_party"
                | "generated"
                | "dist"
                | "migrations"
                | "testFixtures"
                | "jmh"
                | "integrationTest"
                | "playground"
                | "demo"
                | "demos"
                | "scripts"
                | "website"
        )
    });
    let (stem, _) = name.rsplit_once('.').unwrap_or((name, ""));
    folder
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem == "conftest"
        || stem == "tests"
        || [".test", ".spec", ".bench", ".stories", ".cy", ".e2e", ".generated", ".gen", ".config"]
            .iter()
            .any(|end| stem.ends_with(end))
        || (name.ends_with(".java") && ["Test", "Tests", "IT", "TestCase"].iter().any(|end| stem.ends_with(end)))
        || stem.ends_with("_pb2")
        || stem.ends_with("_pb2_grpc")
}

#[cfg(test)]
mod tests {
    use super::is_secondary;

    #[test]
    fn tests_are_known_by_whole_parts_of_the_path() {
        for path in [
            "vitest.config.ts",
            "scripts/release.js",
            "tests/a.py",
            "src/a.test.ts",
            "core/src/test/java/x/A.java",
            "a/test_b.py",
            "x/FooTest.java",
        ] {
            assert!(is_secondary(path), "{path}");
        }
        for path in ["src/latest/a.py", "contest/b.ts", "src/Attest.java", "src/testament.py"] {
            assert!(!is_secondary(path), "{path}");
        }
    }
}
