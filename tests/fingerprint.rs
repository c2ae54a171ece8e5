//! The fingerprint out of the build: what changes it, and that it covers what shapes facts.

#[allow(dead_code)]
#[path = "../src/build.rs"]
mod build_script;

use std::collections::BTreeSet;
use std::path::Path;

use build_script::{LANGUAGES, hashed_files, language_digest, locked_version, tokens_of};

fn same(one: &str, other: &str) -> bool {
    tokens_of(one) == tokens_of(other)
}

#[test]
fn comments_docs_layout_and_unit_tests_do_not_count() {
    let code = "fn f(a: u32) -> u32 { a + 1 }";
    assert!(!same(code, "fn f(a: u32,) -> u32 { a + 1 }"), "a trailing comma is a token");
    assert!(same(
        code,
        "//! Module.\n\n/// Doc.\n#[doc = \"more\"]\nfn f(a: u32) -> u32 {\n    // why\n    a + /* so */ 1\n}\n"
    ));
    assert!(same(code, &format!("{code}\n#[cfg(test)]\nmod tests {{ fn g() {{}} }}")));
    assert!(same(code, &format!("#[cfg(test)]\n#[allow(unused)]\nuse a::{{b}};\n{code}")));
    assert!(same(code, &format!("#[cfg(test)]\nfn only() -> u8 {{ 1 }}\n{code}")));
    assert!(same("mod m { fn f() {} }", "mod m { fn f() {} #[cfg(test)] mod tests { } }"));
}

#[test]
fn every_other_token_counts() {
    let code = "#[derive(Debug)]\nfn f(a: u32) -> u32 { g(\"x y\", 'c', a + 1) }";
    for (from, to) in [
        ("u32)", "u64)"),
        ("+ 1", "- 1"),
        ("+ 1", "+ 2"),
        ("\"x y\"", "\"x  y\""),
        ("'c'", "'d'"),
        ("g(", "h("),
        ("Debug", "Clone"),
        ("{ g", "{ return g"),
        ("(\"x y\", 'c', a + 1)", "[\"x y\", 'c', a + 1]"),
    ] {
        assert!(code.contains(from));
        assert!(!same(code, &code.replacen(from, to, 1)), "{from} → {to}");
    }
    assert!(!same("fn f() {}", "#[cfg(unix)] fn f() {}"));
    assert!(!same("a && b", "a & &b"), "joint and separate punctuation differ");
}

#[test]
fn versions_come_from_the_lock_file() {
    let lock =
        "[[package]]\nname = \"tree-sitter\"\nversion = \"0.27.1\"\n\n[[package]]\nname = \"x\"\nversion = \"1\"\n";
    assert_eq!(locked_version(lock, "tree-sitter"), "0.27.1");
    assert_eq!(locked_version(lock, "tree-sitter-java"), "");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).unwrap();
    for (_, _, grammars) in LANGUAGES {
        for grammar in grammars.iter().chain(&["tree-sitter"]) {
            assert!(!locked_version(&lock, grammar).is_empty(), "{grammar}");
        }
    }
}

#[test]
fn languages_have_different_digests_and_the_build_used_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let digests: BTreeSet<String> =
        LANGUAGES.iter().map(|(name, _, grammars)| language_digest(root, name, grammars)).collect();
    assert_eq!(digests.len(), LANGUAGES.len());
    for built in [env!("RATLAS_TOKENS_PYTHON"), env!("RATLAS_TOKENS_TYPESCRIPT"), env!("RATLAS_TOKENS_JAVA")] {
        assert!(digests.contains(built));
    }
}

/// What a hashed file imports is hashed too: else a change there would change facts under an
/// unchanged fingerprint. `regex` and the parsers come from outside; the former is pinned by use.
#[test]
fn everything_that_shapes_facts_is_hashed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut missing = BTreeSet::new();
    for (language, _, _) in LANGUAGES {
        let files = hashed_files(root, language);
        assert!(files.len() > 10, "{files:?}");
        for file in &files {
            let source = std::fs::read_to_string(root.join(file)).unwrap();
            let code = String::from_utf8(tokens_of(&source)).unwrap().replace('\n', "");
            for (at, _) in code.match_indices("crate::") {
                let path: Vec<&str> = code[at + 7..].split("::").take(3).collect();
                let [room, module, ..] = path[..] else { continue };
                let module: String = module.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let known = |name: String| {
                    files.iter().any(|f| *f == format!("{name}.rs") || f.starts_with(&format!("{name}/")))
                };
                // The bay's head only says which language reads a dialect; it is no part of any.
                let defined = root.join(format!("src/{room}/{module}.rs")).is_file()
                    || root.join(format!("src/{room}/{module}")).is_dir();
                let module = if defined { module } else { "mod".to_owned() };
                let is_bay = room == "lang" && LANGUAGES.iter().any(|(name, _, _)| *name == module);
                // The words of an error are no facts.
                let shapes_nothing = room == "base" && module == "error";
                if !is_bay
                    && !shapes_nothing
                    && root.join(format!("src/{room}")).is_dir()
                    && !known(format!("src/{room}/{module}"))
                {
                    missing.insert(format!("{file} imports {room}::{module}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
