//! Import resolution over small trees.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::path::RepoPath;
use crate::lang::python::naming::{Module, Modules};

/// Checks `(from, level, module, expected)`; expected is a path, `namespace a, b`, `external x`
/// or `missing`.
#[track_caller]
fn check(paths: &[&str], config: &[(&str, &str)], expected: &[(&str, u32, &str, &str)]) -> Modules {
    let mut sorted: Vec<RepoPath> = paths.iter().map(|p| RepoPath::new(p).unwrap()).collect();
    sorted.sort();
    let config: BTreeMap<RepoPath, Arc<[u8]>> =
        config.iter().map(|(p, text)| (RepoPath::new(p).unwrap(), Arc::from(text.as_bytes()))).collect();
    let modules = Modules::new(sorted.iter(), &config);
    for (from, level, module, expected) in expected {
        let found = match modules.resolve(&RepoPath::new(from).unwrap(), *level, module) {
            Module::File(at) => sorted[at as usize].as_str().to_string(),
            Module::Namespace(folders) => {
                format!("namespace {}", folders.iter().map(|f| f.as_str()).collect::<Vec<_>>().join(", "))
            }
            Module::External(name) => format!("external {name}"),
            Module::Missing => "missing".to_string(),
        };
        assert_eq!(found, *expected, "{module} (level {level}) from {from}");
    }
    modules
}

#[test]
fn relative_import_climbs_packages() {
    check(
        &["pkg/__init__.py", "pkg/a.py", "pkg/sub/__init__.py", "pkg/sub/b.py"],
        &[],
        &[
            ("pkg/sub/b.py", 1, "", "pkg/sub/__init__.py"),
            ("pkg/sub/b.py", 2, "a", "pkg/a.py"),
            ("pkg/sub/__init__.py", 1, "b", "pkg/sub/b.py"),
            ("pkg/sub/b.py", 2, "", "pkg/__init__.py"),
            ("pkg/a.py", 4, "x", "missing"),
        ],
    );
}

#[test]
fn src_layout_is_seen_from_tests_and_the_standard_library_is_not_shadowed_from_afar() {
    check(
        &[
            "src/app/__init__.py",
            "src/app/json.py",
            "tests/test_app.py",
            "tests/helpers.py",
            "src/json.py",
            "src/types.py",
        ],
        &[("pyproject.toml", "[project]\nname = 'app'\n")],
        &[
            ("tests/test_app.py", 0, "app", "src/app/__init__.py"),
            ("tests/test_app.py", 0, "app.json", "src/app/json.py"),
            ("tests/test_app.py", 0, "helpers", "tests/helpers.py"),
            ("tests/test_app.py", 0, "json", "external json"),
            ("tests/test_app.py", 0, "requests.sessions", "external requests"),
            ("tests/test_app.py", 0, "app.none", "missing"),
            ("src/app/json.py", 0, "helpers", "external helpers"),
        ],
    );
}

#[test]
fn namespace_packages_join_over_roots() {
    check(
        &["a/ns/one/__init__.py", "b/ns/two/__init__.py", "a/run.py"],
        &[("a/pyproject.toml", ""), ("b/pyproject.toml", "")],
        &[
            ("a/run.py", 0, "ns.one", "a/ns/one/__init__.py"),
            ("a/run.py", 0, "ns.two", "b/ns/two/__init__.py"),
            ("a/run.py", 0, "ns", "namespace a/ns, b/ns"),
        ],
    );
}

#[test]
fn the_same_package_under_two_roots_is_the_nearer_one() {
    check(
        &["x/util/__init__.py", "x/main.py", "y/util/__init__.py", "y/main.py", "z.py"],
        &[("x/setup.py", ""), ("y/setup.py", "")],
        &[("x/main.py", 0, "util", "x/util/__init__.py"), ("y/main.py", 0, "util", "y/util/__init__.py")],
    );
}

#[test]
fn roots_are_read_from_every_kind_of_configuration() {
    for (name, text) in [
        ("pyproject.toml", "[tool.setuptools.packages.find]\nwhere = ['code']\n"),
        ("pyproject.toml", "[tool.poetry]\npackages = [{ include = 'app', from = 'code' }]\n"),
        ("pyproject.toml", "[tool.hatch.build.targets.wheel]\npackages = ['code/app']\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = 'code'\n"),
        ("setup.cfg", "[options]\npackage_dir =\n    = code\n"),
        ("setup.cfg", "[options.packages.find]\nwhere = code\n"),
        ("pytest.ini", "[pytest]\npythonpath = code\n"),
        ("setup.py", "setup(package_dir={'': 'code'}, packages=find_packages(where='code'))"),
    ] {
        check(
            &["code/app/__init__.py", "checks/t.py"],
            &[(name, text)],
            &[("checks/t.py", 0, "app", "code/app/__init__.py")],
        );
    }
}

#[test]
fn a_package_of_tests_does_not_hide_third_parties_from_the_product() {
    check(
        &[
            "product/__init__.py",
            "product/x.py",
            "tests/requests/__init__.py",
            "tests/queries/__init__.py",
            "tests/queries/t.py",
        ],
        &[("pyproject.toml", "")],
        &[
            ("product/x.py", 0, "requests", "external requests"),
            ("tests/queries/t.py", 0, "requests", "tests/requests/__init__.py"),
            ("tests/queries/t.py", 0, "product.x", "product/x.py"),
        ],
    );
}

#[test]
fn sources_win_over_stubs_and_modules_have_names() {
    let modules = check(
        &["src/p/__init__.py", "src/p/m.py", "src/p/m.pyi", "src/p/only.pyi"],
        &[("setup.cfg", "")],
        &[("src/p/m.py", 1, "m", "src/p/m.py"), ("src/p/m.py", 0, "p.only", "src/p/only.pyi")],
    );
    assert_eq!(modules.module_name(&RepoPath::new("src/p/m.py").unwrap()).as_deref(), Some("p.m"));
    assert_eq!(modules.module_name(&RepoPath::new("src/p/__init__.py").unwrap()).as_deref(), Some("p"));
}

#[test]
fn conftest_files_are_seen_nearest_first() {
    let modules =
        check(&["conftest.py", "tests/conftest.py", "tests/unit/conftest.py", "tests/unit/test_a.py"], &[], &[]);
    assert_eq!(modules.conftests(&RepoPath::new("tests/unit/test_a.py").unwrap()), vec![2, 1, 0]);
    assert_eq!(modules.conftests(&RepoPath::new("tests/conftest.py").unwrap()), vec![0]);
}
