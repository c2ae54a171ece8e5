//! What a file is to selection, by its path: code, data, documentation, or a reason for all.

use crate::base::path::RepoPath;
use crate::impact::policy::ReasonCode;
use crate::lang::dependencies::METADATA;
use crate::view::SkipReason;

/// What a file is to selection, by its name (and, unless it is code, why it is not indexed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileClass {
    /// Judged by its symbols.
    Code,
    /// Its change selects all.
    RunAll(ReasonCode),
    /// Prose and tooling of the house: selects only what names it.
    Documentation,
    /// Selects what names it, else the tests beside it.
    Data,
}

/// Judges a file by its path. `skip`: why it is not indexed; `None` for code.
pub fn classify(path: &RepoPath, skip: Option<SkipReason>) -> FileClass {
    if let Some(class) = by_name(path) {
        return class;
    }
    match skip {
        None => FileClass::Code,
        Some(SkipReason::Private) => FileClass::RunAll(ReasonCode::PrivateFile),
        Some(SkipReason::Submodule) => FileClass::RunAll(ReasonCode::Submodule),
        Some(SkipReason::Unreadable) if is_indexed_extension(path.extension()) => {
            FileClass::RunAll(ReasonCode::Unreadable)
        }
        // It may well lead to a folder of code.
        Some(SkipReason::Symlink) if path.extension().is_empty() && !is_documentation(path) => {
            FileClass::RunAll(ReasonCode::SkippedSource)
        }
        Some(reason) if reason != SkipReason::Language && is_indexed_extension(path.extension()) => {
            FileClass::RunAll(ReasonCode::SkippedSource)
        }
        Some(_) if is_foreign_source(path) => FileClass::RunAll(ReasonCode::UnknownLanguage),
        Some(_) if is_documentation(path) => FileClass::Documentation,
        Some(_) => FileClass::Data,
    }
}

fn is_indexed_extension(extension: &str) -> bool {
    matches!(extension, "py" | "pyi" | "ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs" | "java")
}

/// Files whose name says what they are, code (`setup.py`, `jest.config.ts`) included.
fn by_name(path: &RepoPath) -> Option<FileClass> {
    let name = path.file_name();
    let lower = name.to_ascii_lowercase();
    let all = |code| Some(FileClass::RunAll(code));
    if name == "ratlas.toml" {
        return all(ReasonCode::RatlasConfig);
    }
    let in_folder = |folder: &str| path.as_str().starts_with(&format!("{folder}/"));
    if in_folder(".github/workflows")
        || in_folder(".github/actions")
        || in_folder(".circleci")
        || in_folder(".buildkite")
        || matches!(
            lower.as_str(),
            ".gitlab-ci.yml" | ".travis.yml" | "jenkinsfile" | "azure-pipelines.yml" | "appveyor.yml" | ".drone.yml"
        )
    {
        return all(ReasonCode::CiConfig);
    }
    let is_requirements = (lower.starts_with("requirements") || lower.starts_with("constraints"))
        && (lower.ends_with(".txt") || lower.ends_with(".in"));
    let in_requirements = lower.ends_with(".txt") && path.as_str().split('/').any(|part| part == "requirements");
    if is_requirements
        || in_requirements
        || matches!(
            lower.as_str(),
            "package-lock.json"
                | "npm-shrinkwrap.json"
                | "pnpm-lock.yaml"
                | "yarn.lock"
                | "bun.lock"
                | "bun.lockb"
                | "deno.lock"
                | "uv.lock"
                | "poetry.lock"
                | "pdm.lock"
                | "pipfile"
                | "pipfile.lock"
                | "gradle.lockfile"
                | "libs.versions.toml"
                | "cargo.lock"
                | "go.sum"
                | "gemfile.lock"
                | "composer.lock"
        )
    {
        return all(ReasonCode::Lockfile);
    }
    let stem_is = |stems: &[&str]| stems.iter().any(|stem| lower.starts_with(&format!("{stem}.")));
    if matches!(lower.as_str(), "pytest.ini" | ".pytest.ini" | "tox.ini" | "testng.xml" | "junit-platform.properties")
        || lower.starts_with(".mocharc")
        || stem_is(&[
            "jest.config",
            "jest.setup",
            "vitest.config",
            "vitest.workspace",
            "vitest.setup",
            "karma.conf",
            "playwright.config",
            "cypress.config",
            "jasmine",
            "ava.config",
            "setuptests",
        ])
    {
        return all(ReasonCode::RunnerConfig);
    }
    if matches!(
        lower.as_str(),
        "package.json"
            | "pnpm-workspace.yaml"
            | "lerna.json"
            | "nx.json"
            | "turbo.json"
            | ".npmrc"
            | ".nvmrc"
            | ".node-version"
            | ".python-version"
            | ".tool-versions"
            | ".java-version"
            | "pyproject.toml"
            | "setup.py"
            | "setup.cfg"
            | "manifest.in"
            | "noxfile.py"
            | "pom.xml"
            | "build.gradle"
            | "build.gradle.kts"
            | "settings.gradle"
            | "settings.gradle.kts"
            | "gradle.properties"
            | "gradle-wrapper.properties"
            | "build.xml"
            | "makefile"
            | "justfile"
            | "cmakelists.txt"
            | "dockerfile"
            | "meson.build"
            | "jsconfig.json"
            | ".babelrc"
            | ".swcrc"
            | ".gitmodules"
            | "build.bazel"
            | "workspace"
    ) || (lower.starts_with("tsconfig") && lower.ends_with(".json"))
        || (lower.starts_with("docker-compose") && lower.ends_with("ml"))
        || stem_is(&[
            "babel.config",
            "vite.config",
            "webpack.config",
            "rollup.config",
            "esbuild.config",
            "tsup.config",
            "swc.config",
            "metro.config",
            "next.config",
            "build.config",
        ])
        || in_folder(".mvn")
        || in_folder("buildsrc")
    {
        return all(ReasonCode::BuildFile);
    }
    if is_tooling(path, &lower) {
        return Some(FileClass::Documentation);
    }
    None
}

/// Whether the text of a pipeline's file may run tests: it says so, or it runs what may.
///
/// Publishing, labelling and formatting are jobs beside them.
pub fn may_run_tests(bytes: &[u8]) -> bool {
    const WORDS: [&str; 34] = [
        "test",
        "tests",
        "testing",
        "pytest",
        "unittest",
        "tox",
        "nox",
        "nose",
        "jest",
        "vitest",
        "mocha",
        "karma",
        "playwright",
        "cypress",
        "junit",
        "mvn",
        "mvnw",
        "maven",
        "gradle",
        "gradlew",
        "ant",
        "bazel",
        "make",
        "just",
        "task",
        "coverage",
        "check",
        "ci",
        "ratlas",
        "npx",
        "bun",
        "deno",
        "matrix",
        "script",
    ];
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    // `npm t`, `yarn`, `pnpm` and local actions may run anything of the manifest.
    let runs_local = ["./", "npm ", "pnpm ", "yarn "].iter().any(|mark| text.contains(mark));
    runs_local || text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| WORDS.contains(&word))
}

/// Linters, formatters, editors, the forge: they judge code and run none of it.
fn is_tooling(path: &RepoPath, lower: &str) -> bool {
    let prefixes = [
        ".eslint",
        ".prettier",
        ".stylelint",
        ".editorconfig",
        ".gitignore",
        ".gitattributes",
        ".mailmap",
        ".pre-commit",
        ".readthedocs",
        ".codecov",
        "codecov.",
        ".coveragerc",
        ".flake8",
        ".pylintrc",
        ".markdownlint",
        ".npmignore",
        ".dockerignore",
        ".git-blame-ignore",
        "eslint.config.",
        "prettier.config.",
        "ruff.toml",
        ".ruff.toml",
        "mypy.ini",
        "biome.json",
        "renovate.json",
        ".typos.toml",
        ".lintstaged",
        "lint-staged.config.",
        "commitlint.config.",
        "codeowners",
        ".cspell",
        "cspell.",
        ".all-contributors",
    ];
    let folders = [".github/", ".vscode/", ".idea/", ".devcontainer/", ".husky/", ".changeset/"];
    prefixes.iter().any(|p| lower.starts_with(p)) || folders.iter().any(|f| path.as_str().starts_with(f))
}

fn is_documentation(path: &RepoPath) -> bool {
    let lower = path.file_name().to_ascii_lowercase();
    let is_prose = matches!(path.extension(), "md" | "rst" | "adoc" | "markdown" | "mdx" | "po" | "pot");
    let is_text = matches!(path.extension(), "txt" | "");
    let names =
        ["license", "licence", "copying", "notice", "authors", "changelog", "changes", "readme", "contributors"];
    let is_named = names.iter().any(|n| lower.starts_with(n));
    let top = path.as_str().split('/').next().unwrap_or("");
    // Maven's folders for its site and its reports of changes.
    let is_site = ["src/site/", "src/changes/"]
        .iter()
        .any(|folder| path.as_str().starts_with(folder) || path.as_str().contains(&format!("/{folder}")));
    let in_docs = matches!(top, "docs" | "doc" | "documentation" | "website") || is_site;
    is_prose || (is_text && is_named) || in_docs
}

/// Sources of languages without an extractor: other code may well run them.
fn is_foreign_source(path: &RepoPath) -> bool {
    matches!(
        path.extension(),
        "go" | "rs"
            | "c"
            | "h"
            | "cc"
            | "cpp"
            | "cxx"
            | "hh"
            | "hpp"
            | "cs"
            | "fs"
            | "vb"
            | "rb"
            | "php"
            | "swift"
            | "m"
            | "mm"
            | "kt"
            | "kts"
            | "scala"
            | "groovy"
            | "gradle"
            | "clj"
            | "cljs"
            | "ex"
            | "exs"
            | "erl"
            | "hs"
            | "ml"
            | "mli"
            | "dart"
            | "lua"
            | "r"
            | "jl"
            | "pl"
            | "pm"
            | "sh"
            | "bash"
            | "ps1"
            | "bat"
            | "cmd"
            | "pyx"
            | "pxd"
            | "vue"
            | "svelte"
            | "astro"
            | "coffee"
            | "zig"
            | "nim"
            | "asm"
            | "s"
            | "cu"
            | "wat"
            | "wasm"
            | "proto"
            | "thrift"
            | "graphql"
            | "gql"
            | "g4"
            | "jsp"
    )
}

/// Whether two versions of a configuration file say the same: layout, comments where the format
/// is known, and a manifest's metadata put aside.
pub fn same_meaning(path: &RepoPath, old: &[u8], new: &[u8]) -> bool {
    if old == new {
        return true;
    }
    let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else { return false };
    match path.extension() {
        "json" => {
            let read = |text: &str| -> Option<serde_json::Value> {
                let mut value: serde_json::Value = serde_json::from_str(text).ok()?;
                if let (Some(map), "package.json") = (value.as_object_mut(), path.file_name()) {
                    METADATA.iter().for_each(|key| {
                        map.shift_remove(*key);
                    });
                }
                Some(value)
            };
            matches!((read(old), read(new)), (Some(a), Some(b)) if a == b)
        }
        "xml" => old.split_whitespace().eq(new.split_whitespace()),
        _ => {
            fn lines(text: &str) -> impl Iterator<Item = &str> {
                text.lines().map(str::trim_end).filter(|line| !line.is_empty())
            }
            lines(old).eq(lines(new))
        }
    }
}
