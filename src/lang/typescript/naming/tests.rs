//! Resolution over small trees: paths, configuration, and where each specifier must lead.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::path::RepoPath;
use crate::lang::typescript::naming::{Resolution, Resolver};

/// Checks `from: specifier -> expected` lines over a tree; `expected` is a path, `external NAME`
/// or `missing`.
#[track_caller]
fn check(paths: &[&str], config: &[(&str, &str)], expected: &[(&str, &str, &str)]) {
    let mut sorted: Vec<RepoPath> = paths.iter().map(|p| RepoPath::new(p).unwrap()).collect();
    sorted.sort();
    let config: BTreeMap<RepoPath, Arc<[u8]>> =
        config.iter().map(|(p, text)| (RepoPath::new(p).unwrap(), Arc::from(text.as_bytes()))).collect();
    let resolver = Resolver::new(sorted.iter(), &config);
    for (from, specifier, expected) in expected {
        let found = match resolver.resolve(&RepoPath::new(from).unwrap(), specifier) {
            Resolution::File(at) => sorted[at as usize].as_str().to_string(),
            Resolution::External(name) => format!("external {name}"),
            Resolution::Missing => "missing".to_string(),
        };
        assert_eq!(found, *expected, "{specifier} from {from}");
    }
}

#[test]
fn relative_specifiers_find_sources_indexes_and_output_names() {
    check(
        &[
            "src/a.ts",
            "src/b/index.tsx",
            "src/c.d.ts",
            "src/d.js",
            "src/d.ts",
            "src/e.user.ts",
            "src/user.ts",
            "lib/x.js",
        ],
        &[],
        &[
            ("src/a.ts", "./b", "src/b/index.tsx"),
            ("src/a.ts", "./b/", "src/b/index.tsx"),
            ("src/a.ts", "./a.js", "src/a.ts"),
            ("src/a.ts", "./c", "src/c.d.ts"),
            ("src/a.ts", "./d", "src/d.ts"),
            ("lib/x.js", "../src/d", "src/d.js"),
            ("src/a.ts", "./e.user", "src/e.user.ts"),
            ("src/b/index.tsx", "..", "missing"),
            ("src/a.ts", "../../../etc/passwd", "missing"),
            ("src/a.ts", "./nothing", "missing"),
            ("src/a.ts", "node:fs", "external node:fs"),
            ("src/a.ts", "@scope/pkg/deep", "external @scope/pkg"),
        ],
    );
}

#[test]
fn aliases_come_through_extends_as_string_array_and_package() {
    let base = "{ // shared\n \"compilerOptions\": { \"baseUrl\": \".\", \"paths\": { \"@app/*\": [\"src/*\"], }, }, }";
    check(
        &["src/user.ts", "packages/ui/src/button.ts", "packages/ui/src/index.ts"],
        &[
            ("tsconfig.base.json", base),
            ("tsconfig.json", "{\"extends\": \"./tsconfig.base\"}"),
            ("packages/ui/tsconfig.json", "{\"extends\": [\"@cfg/ts/strict.json\", \"../../tsconfig.base.json\"]}"),
            ("packages/cfg/package.json", "{\"name\": \"@cfg/ts\"}"),
            ("packages/cfg/strict.json", "{\"compilerOptions\": {\"strict\": true}}"),
            ("package.json", "{\"workspaces\": [\"packages/*\"]}"),
        ],
        &[
            ("src/user.ts", "@app/user", "src/user.ts"),
            ("packages/ui/src/index.ts", "@app/user", "src/user.ts"),
            ("src/user.ts", "@app/none", "missing"),
            ("src/user.ts", "src/user", "src/user.ts"),
        ],
    );
}

#[test]
fn a_solution_file_hands_its_files_to_the_referenced_project() {
    check(
        &["app/src/main.ts", "app/src/util/x.ts", "app/test/t.ts"],
        &[
            ("app/tsconfig.json", "{\"files\": [], \"references\": [{\"path\": \"./tsconfig.app.json\"}]}"),
            (
                "app/tsconfig.app.json",
                "{\"include\": [\"src\"], \"compilerOptions\": {\"paths\": {\"~/*\": [\"./src/*\"]}}}",
            ),
        ],
        &[("app/src/main.ts", "~/util/x", "app/src/util/x.ts"), ("app/test/t.ts", "~/util/x", "external ~")],
    );
}

#[test]
fn base_url_without_paths_and_jsconfig_resolve() {
    check(
        &["src/components/a.js", "src/b.js", "web/lib/c.js", "web/d.js"],
        &[
            ("jsconfig.json", "{\"compilerOptions\": {\"baseUrl\": \"src\"}}"),
            ("web/jsconfig.json", "{\"compilerOptions\": {\"paths\": {\"lib\": [\"lib/c\"]}}}"),
        ],
        &[
            ("src/b.js", "components/a", "src/components/a.js"),
            ("src/b.js", "react", "external react"),
            ("web/d.js", "lib", "web/lib/c.js"),
        ],
    );
}

#[test]
fn workspace_packages_lead_to_source_through_unbuilt_output() {
    let server = r#"{"name": "@acme/server", "main": "dist/index.js", "exports": {
        ".": {"import": "./dist/index.mjs", "require": "./dist/index.cjs"},
        "./adapters/*": {"types": "./dist/adapters/*/index.d.ts"},
        "./internal": null,
        "./package.json": "./package.json"}}"#;
    check(
        &[
            "packages/server/src/index.ts",
            "packages/server/src/adapters/express/index.ts",
            "packages/client/src/a.ts",
            "other/x.ts",
        ],
        &[
            ("pnpm-workspace.yaml", "packages:\n  - 'packages/*'\n"),
            ("package.json", "{\"name\": \"root\"}"),
            ("packages/server/package.json", server),
            ("packages/client/package.json", "{\"name\": \"@acme/client\"}"),
            ("examples/react/package.json", "{\"name\": \"react\"}"),
        ],
        &[
            ("packages/client/src/a.ts", "@acme/server", "packages/server/src/index.ts"),
            (
                "packages/client/src/a.ts",
                "@acme/server/adapters/express",
                "packages/server/src/adapters/express/index.ts",
            ),
            ("packages/client/src/a.ts", "@acme/server/internal", "missing"),
            // A folder that only looks like a package is no workspace member: the name stays external.
            ("packages/client/src/a.ts", "react", "external react"),
            ("packages/server/src/index.ts", "@acme/server", "packages/server/src/index.ts"),
        ],
    );
}

#[test]
fn package_imports_and_nested_package_folders_resolve() {
    check(
        &["src/main.ts", "src/internal/db.ts", "lib/legacy/entry.js", "lib/use.js"],
        &[
            (
                "package.json",
                r##"{"name": "app", "imports": {"#db": {"node": "./src/internal/db.ts"}, "#i/*": "./src/internal/*.js"}}"##,
            ),
            ("lib/legacy/package.json", "{\"main\": \"entry.js\"}"),
        ],
        &[
            ("src/main.ts", "#db", "src/internal/db.ts"),
            ("src/main.ts", "#i/db", "src/internal/db.ts"),
            ("lib/use.js", "./legacy", "lib/legacy/entry.js"),
        ],
    );
}

#[test]
fn malformed_configuration_is_left_out() {
    check(
        &["a.ts", "b.ts"],
        &[
            ("tsconfig.json", "{\"compilerOptions\": [1, 2], \"extends\": {}}"),
            ("package.json", "not json"),
            ("x/tsconfig.json", "{"),
        ],
        &[("a.ts", "./b", "b.ts"), ("a.ts", "b", "external b")],
    );
}
