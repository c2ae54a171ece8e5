//! The build script: computes, per language, the digest of everything that shapes its facts
//! (FACTS.md §1), so that no one has to remember to raise a version.
//!
//! What is hashed is the stream of Rust tokens: comments, docs, layout and unit tests do not
//! count. `extract::fingerprint` adds dialect and redaction rules and gives it a type.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// The languages: folder below `src/lang`, environment variable, grammars in `Cargo.lock`.
pub const LANGUAGES: [(&str, &str, &[&str]); 3] = [
    ("python", "RATLAS_TOKENS_PYTHON", &["tree-sitter-python"]),
    ("typescript", "RATLAS_TOKENS_TYPESCRIPT", &["tree-sitter-javascript", "tree-sitter-typescript"]),
    ("java", "RATLAS_TOKENS_JAVA", &["tree-sitter-java"]),
];

/// What shapes the facts of every language; folders count with all that is in them.
const SHARED: [&str; 10] = [
    "src/base/dialect.rs",
    "src/base/id.rs",
    "src/extract",
    "src/facts/build.rs",
    "src/facts/canonical.rs",
    "src/facts/model.rs",
    "src/facts/table.rs",
    "src/lang/language.rs",
    "src/lang/node.rs",
    "src/store/schema.rs",
];

/// What of a language's folder belongs to the view and not to the facts.
const OF_THE_VIEW: [&str; 2] = ["naming", "tests"];

/// Pairs that mean something else together than apart.
const OPERATORS: [&str; 20] = [
    "&&", "||", "==", "!=", "<=", ">=", "->", "=>", "::", "..", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<<",
    ">>",
];

/// What shapes a linked graph, the figures of a view, its ranks, and notes on it, beside facts.
const LINKER: [&str; 11] = [
    "src/base",
    "src/extract/screen.rs",
    "src/facts",
    "src/graph",
    "src/impact",
    "src/index",
    "src/kept",
    "src/lang",
    "src/rank",
    "src/scip",
    "src/view",
];

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("because cargo sets it"));
    for watched in ["Cargo.lock", "src/base", "src/extract", "src/facts", "src/lang", "src/store/schema.rs"] {
        println!("cargo:rerun-if-changed={watched}");
    }
    for (language, variable, grammars) in LANGUAGES {
        println!("cargo:rustc-env={variable}={}", language_digest(&root, language, grammars));
    }
    LINKER.iter().for_each(|watched| println!("cargo:rerun-if-changed={watched}"));
    println!("cargo:rustc-env=RATLAS_LINKER={}", linker_digest(&root));
}

/// The digest of a language, in hex: its sources by path, then the versions of its parsers.
pub fn language_digest(root: &Path, language: &str, grammars: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for name in hashed_files(root, language) {
        let source = fs::read_to_string(root.join(&name)).unwrap_or_default();
        let tokens = tokens_of(&source);
        for part in [name.as_bytes(), &tokens] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    let lock = fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default();
    for grammar in ["tree-sitter"].iter().chain(grammars) {
        hasher.update(format!("{grammar} {}\n", locked_version(&lock, grammar)).as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// The digest of what links, in hex: its sources as they are. What is kept under it is this
/// machine's own, so that a comment may count.
pub fn linker_digest(root: &Path) -> String {
    let mut files = Vec::new();
    LINKER.iter().for_each(|name| all_files(root, Path::new(name), &mut files));
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for name in files {
        let source = fs::read(root.join(&name)).unwrap_or_default();
        for part in [name.as_bytes(), &source] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// The files that shape a language's facts, relative to the root with `/`, sorted.
pub fn hashed_files(root: &Path, language: &str) -> Vec<String> {
    let mut files = Vec::new();
    for shared in SHARED {
        rust_files(root, Path::new(shared), &mut files);
    }
    let folder = Path::new("src/lang").join(language);
    for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !OF_THE_VIEW.contains(&name.trim_end_matches(".rs")) {
            rust_files(root, &folder.join(name), &mut files);
        }
    }
    files.sort();
    files
}

fn rust_files(root: &Path, at: &Path, files: &mut Vec<String>) {
    let mut all = Vec::new();
    all_files(root, at, &mut all);
    files.extend(all.into_iter().filter(|name| name.ends_with(".rs")));
}

fn all_files(root: &Path, at: &Path, files: &mut Vec<String>) {
    if root.join(at).is_dir() {
        for entry in fs::read_dir(root.join(at)).into_iter().flatten().flatten() {
            all_files(root, &at.join(entry.file_name()), files);
        }
    } else {
        files.push(at.to_string_lossy().replace('\\', "/"));
    }
}

/// The tokens of a Rust source, one a line, without docs and without items under `#[cfg(test)]`;
/// the source itself when it is not Rust (then the build fails anyway).
pub fn tokens_of(source: &str) -> Vec<u8> {
    match source.parse::<TokenStream>() {
        Ok(stream) => {
            let mut tokens = Vec::with_capacity(source.len());
            flatten(stream, &mut tokens);
            tokens
        }
        Err(_) => source.as_bytes().to_vec(),
    }
}

fn flatten(stream: TokenStream, out: &mut Vec<u8>) {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut at = 0;
    while at < trees.len() {
        match attribute(&trees[at..]) {
            Some((len, text)) if text == "cfg (test)" => at = item_end(&trees, at + len),
            Some((len, text)) if text.starts_with("doc =") => at += len,
            _ => {
                match &trees[at] {
                    TokenTree::Group(group) => {
                        let (open, close) = match group.delimiter() {
                            Delimiter::Parenthesis => ("(", ")"),
                            Delimiter::Brace => ("{", "}"),
                            Delimiter::Bracket => ("[", "]"),
                            Delimiter::None => ("", ""),
                        };
                        push(open, out);
                        flatten(group.stream(), out);
                        push(close, out);
                    }
                    TokenTree::Punct(punct) => {
                        out.push(punct.as_char() as u8);
                        // What stands together only by layout (`?` before `.`) is not one operator.
                        let next = trees.get(at + 1).map(ToString::to_string).unwrap_or_default();
                        let pair = format!("{}{next}", punct.as_char());
                        if punct.spacing() == Spacing::Alone || !OPERATORS.contains(&pair.as_str()) {
                            out.push(b'\n');
                        }
                    }
                    leaf => push(&leaf.to_string(), out),
                }
                at += 1;
            }
        }
    }
}

fn push(token: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(token.as_bytes());
    out.push(b'\n');
}

/// The attribute that `trees` start with: how many trees it takes, and its text.
fn attribute(trees: &[TokenTree]) -> Option<(usize, String)> {
    let is = |tree: Option<&TokenTree>, c: char| matches!(tree, Some(TokenTree::Punct(p)) if p.as_char() == c);
    if !is(trees.first(), '#') {
        return None;
    }
    let at = if is(trees.get(1), '!') { 2 } else { 1 };
    match trees.get(at) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            Some((at + 1, group.stream().to_string()))
        }
        _ => None,
    }
}

/// Where the item that starts at `at` ends: after its `;` or its braces.
fn item_end(trees: &[TokenTree], mut at: usize) -> usize {
    while let Some((len, _)) = trees.get(at..).and_then(attribute) {
        at += len;
    }
    while at < trees.len() {
        let ends = match &trees[at] {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(punct) => punct.as_char() == ';',
            _ => false,
        };
        at += 1;
        if ends {
            // `use a::{b};` goes on after its braces.
            let semicolon = matches!(trees.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ';');
            return at + usize::from(semicolon);
        }
    }
    at
}

/// The version of a package in the lock file, empty when it is not there.
pub fn locked_version(lock: &str, package: &str) -> String {
    let lock: toml::Table = lock.parse().unwrap_or_default();
    let packages = lock.get("package").and_then(toml::Value::as_array);
    packages
        .into_iter()
        .flatten()
        .find(|entry| entry.get("name").and_then(toml::Value::as_str) == Some(package))
        .and_then(|entry| entry.get("version")?.as_str())
        .unwrap_or_default()
        .to_owned()
}
