//! What manifests and lockfiles say of packages, so that two versions of one can be compared
//! package by package. Knows names and statements; who imports a package is `impact`'s question.

mod java;
mod npm;
mod python;

use std::collections::{BTreeMap, BTreeSet};

use crate::base::path::RepoPath;

/// Whose packages they are: how a name is imported follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ecosystem {
    Npm,
    PyPi,
    Maven,
}

/// What one file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// For each package all that is said of it: versions, sources, constraints.
    pub said: BTreeMap<String, BTreeSet<String>>,
    /// For each package those that need it, as far as a lockfile tells.
    pub needed_by: BTreeMap<String, BTreeSet<String>>,
    /// Packages that the project itself asks for, as far as a lockfile tells.
    pub direct: BTreeSet<String>,
    /// All else that acts, in canonical form: where it differs, packages alone do not tell the change.
    pub rest: String,
}

impl Dependencies {
    fn say(&mut self, package: &str, statement: impl Into<String>) {
        self.said.entry(package.to_string()).or_default().insert(statement.into());
    }

    fn need(&mut self, needed: &str, by: &str) {
        self.needed_by.entry(needed.to_string()).or_default().insert(by.to_string());
    }
}

/// What changed between two versions of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyChange {
    pub ecosystem: Ecosystem,
    /// Sorted: packages of which something else is said now.
    pub packages: BTreeSet<String>,
    /// As in [`Dependencies`], of both versions.
    pub needed_by: BTreeMap<String, BTreeSet<String>>,
    pub direct: BTreeSet<String>,
}

/// Compares two versions of a manifest or lockfile; `None` where they cannot be compared by
/// package: another format, text that does not parse, or a difference in something else.
pub fn compare(path: &RepoPath, old: &[u8], new: &[u8]) -> Option<DependencyChange> {
    let (ecosystem, old) = read(path, old)?;
    let (_, new) = read(path, new)?;
    if old.rest != new.rest {
        return None;
    }
    let names: BTreeSet<&String> = old.said.keys().chain(new.said.keys()).collect();
    let packages = names.into_iter().filter(|name| old.said.get(*name) != new.said.get(*name)).cloned().collect();
    let mut needed_by = old.needed_by;
    for (package, by) in new.needed_by {
        needed_by.entry(package).or_default().extend(by);
    }
    let direct = old.direct.union(&new.direct).cloned().collect();
    Some(DependencyChange { ecosystem, packages, needed_by, direct })
}

fn read(path: &RepoPath, bytes: &[u8]) -> Option<(Ecosystem, Dependencies)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let name = path.file_name().to_ascii_lowercase();
    let is_requirements = name.ends_with(".txt") || name.ends_with(".in");
    Some(match name.as_str() {
        "package.json" => (Ecosystem::Npm, npm::manifest(text)?),
        "package-lock.json" | "npm-shrinkwrap.json" => (Ecosystem::Npm, npm::package_lock(text)?),
        "yarn.lock" => (Ecosystem::Npm, npm::yarn(text)?),
        "pnpm-lock.yaml" => (Ecosystem::Npm, npm::pnpm(text)?),
        "pyproject.toml" => (Ecosystem::PyPi, python::pyproject(text)?),
        "uv.lock" | "poetry.lock" | "pdm.lock" => (Ecosystem::PyPi, python::lock(text)?),
        "pipfile.lock" => (Ecosystem::PyPi, python::pipfile_lock(text)?),
        _ if is_requirements => (Ecosystem::PyPi, python::requirements(text)),
        "pom.xml" => (Ecosystem::Maven, java::pom(text)?),
        "build.gradle" | "build.gradle.kts" => (Ecosystem::Maven, java::gradle(text)),
        "gradle.lockfile" => (Ecosystem::Maven, java::gradle_lock(text)),
        "libs.versions.toml" => (Ecosystem::Maven, java::catalog(text)?),
        _ => return None,
    })
}

/// Keys of a manifest that no build and no test reads.
pub const METADATA: [&str; 16] = [
    "version",
    "description",
    "keywords",
    "author",
    "authors",
    "maintainers",
    "contributors",
    "license",
    "license-files",
    "repository",
    "bugs",
    "homepage",
    "funding",
    "urls",
    "classifiers",
    "readme",
];

#[cfg(test)]
mod tests {
    use super::{RepoPath, compare};

    /// The changed packages, or `?` where only all is safe.
    fn changed(path: &str, old: &str, new: &str) -> String {
        match compare(&RepoPath::new(path).expect("a path"), old.as_bytes(), new.as_bytes()) {
            Some(change) => change.packages.into_iter().collect::<Vec<_>>().join(" "),
            None => "?".to_string(),
        }
    }

    #[test]
    fn manifests_of_npm() {
        let old = r#"{"name":"a","scripts":{"test":"jest"},"dependencies":{"x":"1","@s/y":"2"}}"#;
        assert_eq!(changed("package.json", old, &old.replace(":\"1\"", ":\"3\"")), "x");
        assert_eq!(changed("package.json", old, &old.replace(",", ",\n  ")), "");
        assert_eq!(changed("package.json", old, &old.replace("jest", "jest -i")), "?");
        assert_eq!(changed("package.json", old, "{"), "?");
    }

    #[test]
    fn lockfiles_of_npm() {
        let old = r#"{"packages":{"":{"dependencies":{"x":"1"}},"node_modules/x":{"version":"1.0.0","dependencies":{"z":"1"}},"node_modules/x/node_modules/@s/z":{"version":"1.0.0"}}}"#;
        assert_eq!(
            changed("package-lock.json", old, &old.replace("z\":{\"version\":\"1", "z\":{\"version\":\"2")),
            "@s/z"
        );
        let yarn = "# yarn lockfile v1\n\n\"@s/z@^1\", z2@^1:\n  version \"1.0.0\"\n\nx@^1:\n  version \"1.0.0\"\n  dependencies:\n    z2 \"^1\"\n";
        assert_eq!(
            changed("yarn.lock", yarn, &yarn.replace("z2@^1:\n  version \"1.0.0\"", "z2@^1:\n  version \"1.1.0\"")),
            "@s/z z2"
        );
        let pnpm = "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      x:\n        specifier: ^1\n        version: 1.0.0\n\npackages:\n\n  '@s/z@1.0.0':\n    resolution: {integrity: a}\n\n  x@1.0.0:\n    resolution: {integrity: b}\n";
        assert_eq!(changed("pnpm-lock.yaml", pnpm, &pnpm.replace("integrity: b", "integrity: c")), "x");
        assert_eq!(changed("pnpm-lock.yaml", pnpm, &pnpm.replace("'@s/z@1.0.0'", "'@s/z@1.2.0'")), "@s/z");
        assert_eq!(changed("pnpm-lock.yaml", pnpm, &pnpm.replace("\n\n", "\n")), "");
    }

    #[test]
    fn files_of_python() {
        let old = "flask==1.0 # web\n-r base.txt\nDateutil.x>=2 ; python_version < '3'\n";
        assert_eq!(changed("requirements.txt", old, &old.replace("1.0 # web", "2.0")), "flask");
        assert_eq!(changed("requirements.txt", old, &format!("\n{}", old.replace("# web", "# w"))), "");
        assert_eq!(changed("requirements.txt", old, &old.replace("base", "other")), "?");
        let toml = "[project]\nname = \"a\"\nversion = \"1\"\ndependencies = [\"x>=1\"]\n[tool.pytest.ini_options]\naddopts = \"-q\"\n[dependency-groups]\ntest = [\"y\"]\n";
        assert_eq!(changed("pyproject.toml", toml, &toml.replace("x>=1", "x>=2")), "x");
        assert_eq!(changed("pyproject.toml", toml, &toml.replace("version = \"1\"", "version = \"2\"")), "");
        assert_eq!(changed("pyproject.toml", toml, &toml.replace("-q", "-v")), "?");
        let sourced = format!("{toml}[tool.uv.sources]\nw = {{ path = \"../w\" }}\n");
        assert_eq!(changed("pyproject.toml", toml, &sourced), "w");
        let lock = "version = 1\n[[package]]\nname = \"x\"\nversion = \"1\"\n[[package]]\nname = \"y\"\nversion = \"1\"\ndependencies = [{ name = \"x\" }]\n";
        assert_eq!(changed("uv.lock", lock, &lock.replacen("version = \"1\"", "version = \"2\"", 1)), "x");
    }

    #[test]
    fn files_of_java() {
        let pom = "<project><properties><g.v>1</g.v></properties><build><x/></build><dependencies><dependency><groupId>a.b</groupId><artifactId>c</artifactId><version>${g.v}</version></dependency></dependencies></project>";
        assert_eq!(changed("pom.xml", pom, &pom.replace(">1<", ">2<")), "a.b:c");
        assert_eq!(changed("pom.xml", pom, &pom.replace("><", ">\n <")), "");
        assert_eq!(changed("pom.xml", pom, &pom.replace("<x/>", "<y/>")), "?");
        let gradle =
            "plugins { id 'java' }\ndependencies {\n  implementation 'a.b:c:1.0'\n  testImplementation(\"d:e:2\")\n}\n";
        assert_eq!(changed("build.gradle", gradle, &gradle.replace("1.0", "1.1")), "a.b:c");
        assert_eq!(changed("build.gradle", gradle, &gradle.replace("'java'", "'application'")), "?");
        let catalog = "[versions]\nv = \"1\"\n[libraries]\nc = { module = \"a.b:c\", version.ref = \"v\" }\n";
        assert_eq!(changed("gradle/libs.versions.toml", catalog, &catalog.replace("v = \"1\"", "v = \"2\"")), "a.b:c");
    }
}
