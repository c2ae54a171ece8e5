//! Where Java sources lie: build modules and source sets, from paths and build files. Of twin
//! types in two places, [`Layout::nearness`] says which one a file sees.
//!
//! Maven's and Gradle's standard layout (`src/<set>/java`) is known; other layouts fall back to
//! the folders' names. Build files are scanned for module dependencies, not evaluated.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::path::RepoPath;

/// The build modules of a tree.
#[derive(Debug, Default)]
pub struct Layout {
    /// Sorted by folder.
    modules: Vec<Module>,
}

#[derive(Debug)]
struct Module {
    folder: RepoPath,
    /// The names that other modules depend on it by: Maven's artifact, Gradle's project path.
    names: Vec<String>,
    /// The names that it depends on.
    needs: Vec<String>,
    /// Rows of the modules that it sees, through others as well; sorted.
    sees: Vec<u32>,
}

/// Where a source file belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The row of its module; `None` when no build file lies above it.
    module: Option<u32>,
    /// `main`, `test`, `testFixtures`, …
    set: Arc<str>,
}

/// How near a type is to the file that names it; nearer sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nearness {
    /// The same source set of the same module.
    SameSet,
    /// Another source set of the module that is seen from here (`main` from `test`).
    SameModule,
    /// A module that the build file names as a dependency, in a set that dependents see.
    Dependency,
    /// The same kind of source set elsewhere.
    SameKind,
    /// Product code elsewhere, seen from tests.
    Product,
    /// Test code seen from product code: no build allows it.
    Hidden,
}

impl Layout {
    /// Reads the build files among `config`.
    pub fn new(config: &BTreeMap<RepoPath, Arc<[u8]>>) -> Self {
        let mut by_folder: BTreeMap<RepoPath, Module> = BTreeMap::new();
        for (path, bytes) in config {
            let Some(folder) = path.parent() else { continue };
            let text = String::from_utf8_lossy(bytes);
            let (names, needs) = match path.file_name() {
                "pom.xml" => maven(&text),
                "build.gradle" | "build.gradle.kts" => (vec![project_path(&folder)], gradle(&text)),
                _ => continue,
            };
            let module = by_folder.entry(folder.clone()).or_insert_with(|| Module {
                folder,
                names: Vec::new(),
                needs: Vec::new(),
                sees: Vec::new(),
            });
            module.names.extend(names);
            module.needs.extend(needs);
        }
        let mut modules: Vec<Module> = by_folder.into_values().collect();
        let by_name: BTreeMap<String, u32> = modules
            .iter()
            .enumerate()
            .flat_map(|(row, module)| module.names.iter().map(move |name| (name.clone(), row as u32)))
            .collect();
        let direct: Vec<Vec<u32>> =
            modules.iter().map(|m| m.needs.iter().filter_map(|n| by_name.get(n).copied()).collect()).collect();
        for (row, module) in modules.iter_mut().enumerate() {
            module.sees = closure(row as u32, &direct);
        }
        Layout { modules }
    }

    /// The module and source set of a file.
    pub fn place(&self, path: &RepoPath) -> SourcePlace {
        let mut module = None;
        let mut folder = path.parent();
        while let Some(at) = folder {
            if let Ok(row) = self.modules.binary_search_by(|m| m.folder.cmp(&at)) {
                module = Some(row as u32);
                break;
            }
            folder = at.parent();
        }
        SourcePlace { module, set: Arc::from(source_set(path)) }
    }

    /// How near a type in `to` is to a file in `from`.
    pub fn nearness(&self, from: &SourcePlace, to: &SourcePlace) -> Nearness {
        let (from_tests, to_tests) = (is_test_set(&from.set), is_test_set(&to.set));
        if !from_tests && to_tests {
            return Nearness::Hidden;
        }
        if from.module == to.module {
            return if from.set == to.set { Nearness::SameSet } else { Nearness::SameModule };
        }
        let sees = |(one, other): (u32, u32)| self.modules[one as usize].sees.binary_search(&other).is_ok();
        let shared = !to_tests || &*to.set == "testFixtures";
        if shared && from.module.zip(to.module).is_some_and(sees) {
            return Nearness::Dependency;
        }
        if from_tests == to_tests { Nearness::SameKind } else { Nearness::Product }
    }
}

/// Whether a source set holds tests.
fn is_test_set(set: &str) -> bool {
    set.to_ascii_lowercase().contains("test")
}

/// The source set of a path: `src/<set>/java`; in other layouts `test` below a folder of that
/// name, else `main`.
fn source_set(path: &RepoPath) -> &str {
    let parts: Vec<&str> = path.as_str().split('/').collect();
    for window in parts.windows(3) {
        if window[0] == "src" && matches!(window[2], "java" | "kotlin" | "groovy") {
            return window[1];
        }
    }
    let folders = &parts[..parts.len().saturating_sub(1)];
    let tests = folders.iter().any(|f| matches!(*f, "test" | "tests" | "javatests" | "testing"));
    if tests { "test" } else { "main" }
}

/// Rows that can be reached from `start`, itself excluded; sorted.
fn closure(start: u32, direct: &[Vec<u32>]) -> Vec<u32> {
    let mut seen = vec![false; direct.len()];
    let mut stack = vec![start];
    while let Some(at) = stack.pop() {
        for next in &direct[at as usize] {
            if !std::mem::replace(&mut seen[*next as usize], true) {
                stack.push(*next);
            }
        }
    }
    (0..direct.len() as u32).filter(|row| seen[*row as usize] && *row != start).collect()
}

/// A Maven project's artifact and those it depends on. Only `artifactId` is compared: within one
/// repository it is unique in practice, and groups are often inherited.
fn maven(text: &str) -> (Vec<String>, Vec<String>) {
    let own = without(text, "parent");
    let own = without(&own, "build");
    let own = without(&own, "profiles");
    let head = without(&without(&own, "dependencyManagement"), "dependencies");
    let names = elements(&head, "artifactId").into_iter().take(1).collect();
    let mut needs = Vec::new();
    for block in elements(&without(&own, "dependencyManagement"), "dependencies") {
        for dependency in elements(&block, "dependency") {
            needs.extend(elements(&without(&dependency, "exclusions"), "artifactId").into_iter().take(1));
        }
    }
    (names, needs)
}

/// The text of each `<tag>…</tag>`, trimmed, comments included as they stand.
fn elements(text: &str, tag: &str) -> Vec<String> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(&open) {
        let inner = &rest[start + open.len()..];
        let Some(end) = inner.find(&close) else { break };
        found.push(inner[..end].trim().to_owned());
        rest = &inner[end + close.len()..];
    }
    found
}

/// The text without its `<tag>…</tag>` blocks.
fn without(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(&open) {
        kept.push_str(&rest[..start]);
        match rest[start..].find(&close) {
            Some(end) => rest = &rest[start + end + close.len()..],
            None => return kept,
        }
    }
    kept.push_str(rest);
    kept
}

/// The Gradle projects that a build script names: `project(":a:b")`, `project(path: ':a')`,
/// `projects.a.b` of type-safe accessors.
fn gradle(text: &str) -> Vec<String> {
    let mut needs = Vec::new();
    for (at, _) in text.match_indices("project(") {
        let inside = text[at + "project(".len()..].split(')').next().unwrap_or("");
        let quoted = inside.split(['"', '\'']).nth(1).unwrap_or("");
        if quoted.starts_with(':') {
            needs.push(quoted.to_owned());
        }
    }
    for (at, _) in text.match_indices("projects.") {
        let name: String = text[at + "projects.".len()..]
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))
            .collect();
        // `fooBar.baz` stands for `:foo-bar:baz`.
        let mut path = String::from(":");
        for c in name.trim_end_matches('.').chars() {
            match c {
                '.' => path.push(':'),
                c if c.is_ascii_uppercase() => {
                    path.push('-');
                    path.push(c.to_ascii_lowercase());
                }
                c => path.push(c),
            }
        }
        needs.push(path);
    }
    needs
}

/// A folder as Gradle's project path: `a/b` is `:a:b`.
fn project_path(folder: &RepoPath) -> String {
    format!(":{}", folder.as_str().replace('/', ":"))
}

/// Whether a simple name is a type of `java.lang`, which every file imports.
pub fn is_java_lang(name: &str) -> bool {
    JAVA_LANG.binary_search(&name).is_ok()
}

/// The public types of `java.lang` (Java SE 25), sorted.
#[rustfmt::skip]
const JAVA_LANG: &[&str] = &[
    "AbstractMethodError", "Appendable", "ArithmeticException", "ArrayIndexOutOfBoundsException",
    "ArrayStoreException", "AssertionError", "AutoCloseable", "Boolean", "BootstrapMethodError", "Byte",
    "CharSequence", "Character", "Class", "ClassCastException", "ClassCircularityError", "ClassFormatError",
    "ClassLoader", "ClassNotFoundException", "ClassValue", "CloneNotSupportedException", "Cloneable", "Comparable",
    "Deprecated", "Double", "Enum", "EnumConstantNotPresentException", "Error", "Exception",
    "ExceptionInInitializerError", "Float", "FunctionalInterface", "IO", "IllegalAccessError",
    "IllegalAccessException", "IllegalArgumentException", "IllegalCallerException", "IllegalMonitorStateException",
    "IllegalStateException", "IllegalThreadStateException", "IncompatibleClassChangeError",
    "IndexOutOfBoundsException", "InheritableThreadLocal", "InstantiationError", "InstantiationException", "Integer",
    "InternalError", "InterruptedException", "Iterable", "LayerInstantiationException", "LinkageError", "Long",
    "MatchException", "Math", "Module", "ModuleLayer", "NegativeArraySizeException", "NoClassDefFoundError",
    "NoSuchFieldError", "NoSuchFieldException", "NoSuchMethodError", "NoSuchMethodException", "NullPointerException",
    "Number", "NumberFormatException", "Object", "OutOfMemoryError", "Override", "Package", "Process",
    "ProcessBuilder", "ProcessHandle", "Readable", "Record", "ReflectiveOperationException", "Runnable", "Runtime",
    "RuntimeException", "RuntimePermission", "SafeVarargs", "ScopedValue", "SecurityException", "SecurityManager",
    "Short", "StableValue", "StackOverflowError", "StackTraceElement", "StackWalker", "StrictMath", "String",
    "StringBuffer", "StringBuilder", "StringIndexOutOfBoundsException", "SuppressWarnings", "System", "Thread",
    "ThreadDeath", "ThreadGroup", "ThreadLocal", "Throwable", "TypeNotPresentException", "UnknownError",
    "UnsatisfiedLinkError", "UnsupportedClassVersionError", "UnsupportedOperationException", "VerifyError",
    "VirtualMachineError", "Void", "WrongThreadException",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(files: &[(&str, &str)]) -> Layout {
        let config =
            files.iter().map(|(path, text)| (RepoPath::new(path).expect("a path"), Arc::from(text.as_bytes())));
        Layout::new(&config.collect())
    }

    fn nearness(layout: &Layout, from: &str, to: &str) -> Nearness {
        let place = |path: &str| layout.place(&RepoPath::new(path).expect("a path"));
        layout.nearness(&place(from), &place(to))
    }

    #[test]
    fn java_lang_is_sorted() {
        assert!(JAVA_LANG.is_sorted());
        assert!(is_java_lang("String") && !is_java_lang("List"));
    }

    #[test]
    fn of_twins_the_same_source_set_is_nearest() {
        let pom = |artifact: &str, needs: &str| {
            format!(
                "<project><parent><artifactId>up</artifactId></parent><artifactId>{artifact}</artifactId>\
                 <dependencies><dependency><groupId>g</groupId><artifactId>{needs}</artifactId></dependency>\
                 </dependencies></project>"
            )
        };
        let (app, core, other) = (pom("app", "core"), pom("core", "junit"), pom("other", "junit"));
        let layout = layout(&[("app/pom.xml", &app), ("core/pom.xml", &core), ("other/pom.xml", &other)]);
        let from = "app/src/test/java/a/T.java";
        assert_eq!(nearness(&layout, from, "app/src/test/java/a/U.java"), Nearness::SameSet);
        assert_eq!(nearness(&layout, from, "app/src/main/java/a/U.java"), Nearness::SameModule);
        assert_eq!(nearness(&layout, from, "core/src/main/java/a/U.java"), Nearness::Dependency);
        assert_eq!(nearness(&layout, from, "other/src/test/java/a/U.java"), Nearness::SameKind);
        assert_eq!(nearness(&layout, from, "other/src/main/java/a/U.java"), Nearness::Product);
        let product = "app/src/main/java/a/P.java";
        assert_eq!(nearness(&layout, product, "app/src/test/java/a/U.java"), Nearness::Hidden);
        assert!(Nearness::SameSet < Nearness::Dependency && Nearness::Dependency < Nearness::Hidden);
    }

    #[test]
    fn gradle_projects_see_what_they_name_through_others_too() {
        let layout = layout(&[
            ("app/build.gradle", "dependencies { api(project(':mid')) }"),
            ("mid/build.gradle.kts", "dependencies { implementation(projects.deepCore) }"),
            ("deep-core/build.gradle", ""),
        ]);
        let from = "app/src/main/java/A.java";
        assert_eq!(nearness(&layout, from, "deep-core/src/main/java/B.java"), Nearness::Dependency);
        assert_eq!(nearness(&layout, "deep-core/src/main/java/B.java", from), Nearness::SameKind);
        let fixtures = "deep-core/src/testFixtures/java/F.java";
        assert_eq!(nearness(&layout, "app/src/test/java/T.java", fixtures), Nearness::Dependency);
    }
}
