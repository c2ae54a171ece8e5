//! A changed package of a manifest or lockfile: whom it reaches, and when only all is safe.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::dialect::{Dialect, LanguageName};
use crate::facts::delta::Changes;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::impact::reach::Seed;
use crate::impact::seeds::{Origin, Side};
use crate::lang::dependencies::{DependencyChange, Ecosystem};
use crate::view::{FileIdx, SymbolRef};

/// Whom the packages of a change reach in one tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Importers {
    /// Sorted, unique.
    pub files: BTreeSet<FileIdx>,
    /// Packages that no file imports and that are no tool which only judges code: what they do,
    /// no import tells (plugins of runners, compilers).
    pub unknown: BTreeSet<String>,
}

/// The files that import a changed package, or one that needs it; of several trees, what is
/// imported in any is known.
pub fn importers(change: &DependencyChange, sides: &[Side<'_>]) -> Vec<Importers> {
    let imported: Vec<BTreeMap<String, BTreeSet<FileIdx>>> =
        sides.iter().map(|side| imported_by(*side, change.ecosystem)).collect();
    let mut out = vec![Importers::default(); sides.len()];
    for package in &change.packages {
        let (mut seen, mut stack) = (BTreeSet::from([package]), vec![package]);
        while let Some(at) = stack.pop() {
            let mut is_imported = false;
            for (found, by_package) in out.iter_mut().zip(&imported) {
                for (name, files) in by_package {
                    if means(change.ecosystem, at, name) {
                        is_imported = true;
                        found.files.extend(files);
                    }
                }
            }
            let by = change.needed_by.get(at).into_iter().flatten();
            let is_needed = change.needed_by.get(at).is_some_and(|by| !by.is_empty()) && !change.direct.contains(at);
            if runs_tests(at) || (!is_imported && !is_needed && !only_judges(at)) {
                out.iter_mut().for_each(|found| {
                    found.unknown.insert(at.clone());
                });
            }
            stack.extend(by.filter(|name| seen.insert(name)));
        }
    }
    out
}

/// The names of packages that imports of a tree begin with, with the files that hold them.
fn imported_by(side: Side<'_>, ecosystem: Ecosystem) -> BTreeMap<String, BTreeSet<FileIdx>> {
    let mut out: BTreeMap<String, BTreeSet<FileIdx>> = BTreeMap::new();
    for file in side.view.indices() {
        let language = match side.view.file(file).dialect.language() {
            LanguageName::Python => Ecosystem::PyPi,
            LanguageName::TypeScript | LanguageName::JavaScript => Ecosystem::Npm,
            LanguageName::Java => Ecosystem::Maven,
        };
        if language != ecosystem {
            continue;
        }
        let facts = side.view.facts(file);
        let rows = facts.imports.iter().filter(|row| row.level == 0).filter_map(|row| row.module);
        let exported = facts.exports.iter().filter_map(|row| row.module);
        // Plugins and applications are named in strings: `INSTALLED_APPS`, `require.resolve`.
        let strings = facts.exprs.iter().filter(|row| row.kind == ExprKind::Path).map(|row| facts.text(row.name));
        for module in rows.chain(exported).map(|name| facts.name(name)).chain(strings) {
            if let Some(name) = package_of(ecosystem, module) {
                out.entry(name).or_default().insert(file);
            }
        }
    }
    out
}

fn package_of(ecosystem: Ecosystem, module: &str) -> Option<String> {
    match ecosystem {
        Ecosystem::Npm => {
            let mut parts = module.split('/');
            let first = parts.next().filter(|first| !first.is_empty() && !first.starts_with('.'))?;
            Some(match first.starts_with('@') {
                true => format!("{first}/{}", parts.next()?),
                false => first.to_string(),
            })
        }
        // Namespace packages share their first name, so the whole is kept.
        Ecosystem::PyPi | Ecosystem::Maven => Some(module.to_ascii_lowercase()),
    }
}

/// Distributions whose modules have another name (the common ones of PyPI).
const MODULES: [(&str, &str); 24] = [
    ("attrs", "attr"),
    ("beautifulsoup4", "bs4"),
    ("django-rest-framework", "rest_framework"),
    ("djangorestframework", "rest_framework"),
    ("gitpython", "git"),
    ("grpcio", "grpc"),
    ("jinja2", "jinja2"),
    ("markupsafe", "markupsafe"),
    ("msgpack-python", "msgpack"),
    ("opencv-python", "cv2"),
    ("pillow", "pil"),
    ("protobuf", "google.protobuf"),
    ("psycopg2-binary", "psycopg2"),
    ("pycryptodome", "crypto"),
    ("pyjwt", "jwt"),
    ("pymysql", "pymysql"),
    ("pyserial", "serial"),
    ("python-dateutil", "dateutil"),
    ("python-dotenv", "dotenv"),
    ("pyyaml", "yaml"),
    ("pyzmq", "zmq"),
    ("scikit-learn", "sklearn"),
    ("setuptools", "pkg_resources"),
    ("typing-extensions", "typing_extensions"),
];

/// Whether an import may be of a package.
fn means(ecosystem: Ecosystem, package: &str, module: &str) -> bool {
    let within = |root: &str| module == root || module.strip_prefix(root).is_some_and(|rest| rest.starts_with('.'));
    match ecosystem {
        Ecosystem::Npm => {
            let typed = package.strip_prefix("@types/").map(|name| match name.split_once("__") {
                Some((scope, name)) => format!("@{scope}/{name}"),
                None => name.to_string(),
            });
            module == typed.as_deref().unwrap_or(package)
        }
        Ecosystem::PyPi => {
            within(&package.replace('-', "_"))
                || within(&package.replace('-', "."))
                || MODULES.iter().any(|(name, root)| *name == package && within(root))
        }
        Ecosystem::Maven => {
            let (group, artifact) = package.split_once(':').unwrap_or((package, ""));
            // Bundles bring packages of other groups.
            let is_bundle = ["starter", "bom", "parent", "platform", "all"]
                .iter()
                .any(|word| artifact.split(['-', '.']).any(|part| part == *word));
            group.contains('.') && !is_bundle && within(&group.to_ascii_lowercase())
        }
    }
}

/// Packages by which tests run: every test depends on them.
fn runs_tests(package: &str) -> bool {
    let name = package.rsplit([':']).next().unwrap_or(package);
    let is_scoped = ["@jest/", "@vitest/", "@babel/", "@swc/"].iter().any(|scope| package.starts_with(scope));
    is_scoped
        || ["pytest", "jest", "vitest", "mocha", "ts-jest", "babel", "junit", "testng", "surefire"]
            .iter()
            .any(|word| name == *word || name.starts_with(&format!("{word}-")))
        || matches!(name, "typescript" | "tsx" | "ts-node" | "esbuild" | "vite" | "tox" | "nox" | "nose" | "coverage")
}

/// Tools that judge, format or publish code; no test runs them.
fn only_judges(package: &str) -> bool {
    let words = [
        "eslint",
        "prettier",
        "stylelint",
        "husky",
        "lint-staged",
        "commitlint",
        "ruff",
        "mypy",
        "black",
        "flake8",
        "isort",
        "pylint",
        "pyright",
        "pre-commit",
        "sphinx",
        "codespell",
        "twine",
        "typedoc",
        "changesets",
    ];
    package.starts_with("@types/")
        || words.iter().any(|word| {
            package == *word
                || package.starts_with(&format!("{word}-"))
                || package.starts_with(&format!("@{word}/"))
                || package.ends_with(&format!("/{word}"))
        })
}

/// The origins of changed packages: all code of the files that import them.
pub fn origins(side: Side<'_>, files: &BTreeSet<FileIdx>, is_head: bool) -> Vec<Origin> {
    let mut out = Vec::new();
    for file in files {
        let facts = side.view.facts(*file);
        // Importing a Java file runs nothing; its definitions stand for it.
        let n_symbols = if facts.dialect == Dialect::Java { facts.symbols.len() } else { 1 };
        let seeds: Vec<Seed> = (0..n_symbols)
            .map(|at| SymbolRef { file: *file, symbol: SymbolId::new(at) })
            .map(|at| Seed { node: side.space.symbol(at), is_contract: false })
            .collect();
        out.push(Origin {
            head: if is_head { seeds.clone() } else { Vec::new() },
            base: if is_head { Vec::new() } else { seeds },
            symbol: Some(SymbolRef { file: *file, symbol: SymbolId::new(0) }),
            is_head,
            changes: Changes::BODY,
            because: Some("dependency"),
        });
    }
    out
}
