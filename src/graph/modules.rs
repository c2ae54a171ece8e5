//! The modules of a view: what each specifier resolves to, and Java's types by package.

use rayon::prelude::*;
use std::collections::BTreeSet;

use crate::base::dialect::{Dialect, LanguageName};
use crate::base::path::RepoPath;
use crate::facts::model::{Import, SymbolId};
use crate::facts::table::Id;
use crate::graph::hashing::{HashMap, HashSet};
use crate::graph::lookups::{Lookup, Lookups};
use crate::graph::renumber::Renumber;
use crate::graph::value::Name;
use crate::lang::java::naming::{Layout, SourcePlace};
use crate::lang::{python, typescript};
use crate::view::{FileIdx, SymbolRef, View, ViewFile};

/// What a specifier is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    File(FileIdx),
    /// A namespace package's folders, or a Java package; see [`Modules::in_namespace`].
    Namespace(Name),
    /// Outside of the repository, by the name as written.
    External(Name),
    /// It should be inside and is not there, or it is computed.
    Missing,
}

/// Families of languages that link with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    Python,
    Ecma,
    Java,
}

impl Family {
    /// The family of a dialect.
    pub fn of(dialect: Dialect) -> Self {
        match dialect.language() {
            LanguageName::Python => Family::Python,
            LanguageName::TypeScript | LanguageName::JavaScript => Family::Ecma,
            LanguageName::Java => Family::Java,
        }
    }
}

/// Between the folders of a namespace that has several; no path holds it.
const BETWEEN: char = '\0';

/// The module tables of a view.
pub struct Modules {
    python: python::naming::Modules,
    ecma: typescript::naming::Resolver,
    /// (package, simple name) → top-level types, sorted.
    java_types: HashMap<String, HashMap<String, Vec<SymbolRef>>>,
    /// Every package and its prefixes.
    java_packages: HashSet<String>,
    java_layout: Layout,
    /// Where each Java file lies; `None` for other languages.
    java_places: Vec<Option<SourcePlace>>,
    /// What each import row of each file resolves to.
    imports: Vec<Vec<Target>>,
    /// What each export row's module resolves to; `Missing` where it names none.
    exports: Vec<Vec<Target>>,
    /// What was looked up besides, where that is recorded.
    lookups: Option<Lookups>,
}

impl Modules {
    /// Builds the tables and resolves every import of the view.
    pub fn new(view: &View) -> Self {
        let paths = || view.files.iter().map(|f| &f.path);
        let (python, (ecma, java_layout)) = rayon::join(
            || python::naming::Modules::new(paths(), &view.config),
            || rayon::join(|| typescript::naming::Resolver::new(paths(), &view.config), || Layout::new(&view.config)),
        );
        let mut modules = Modules {
            python,
            ecma,
            java_types: HashMap::default(),
            java_packages: HashSet::default(),
            java_layout,
            java_places: Vec::new(),
            imports: Vec::new(),
            exports: Vec::new(),
            lookups: None,
        };
        let is_java = |file: &&ViewFile| file.dialect == Dialect::Java;
        let place = |file: &ViewFile| Some(file).filter(is_java).map(|file| modules.java_layout.place(&file.path));
        modules.java_places = view.files.par_iter().map(place).collect();
        for file in view.indices() {
            if view.dialect(file) == Dialect::Java {
                modules.add_java(view, file);
            }
        }
        let indices: Vec<FileIdx> = view.indices().collect();
        (modules.imports, modules.exports) = indices.par_iter().map(|file| modules.targets(view, *file)).unzip();
        modules
    }

    /// Records what is looked up from now on, beside what imports and exports lead to.
    pub fn record(&mut self) {
        self.lookups = Some(Lookups::default());
    }

    /// Takes the changed imports and exports of a file in; no file came or went, and no Java file
    /// has another package or other top-level types.
    pub fn replace(&mut self, view: &View, file: FileIdx) {
        let at = file.0 as usize;
        (self.imports[at], self.exports[at]) = self.targets(view, file);
    }

    /// The tables of the next view. With them the files whose imports or exports lead elsewhere, of
    /// those that are in both views, in order; and the looks that come to something else.
    pub fn next(self, was: &View, view: &View, renumber: &Renumber) -> (Self, Vec<FileIdx>, Vec<u32>) {
        let mut next = Modules::new(view);
        let same = |old: &[Target], new: &[Target]| {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| renumber.target(old).as_ref() == Some(new))
        };
        let led_elsewhere = was.indices().filter_map(|old| {
            let new = renumber.file(old)?;
            let (from, to) = (old.0 as usize, new.0 as usize);
            let is_same = same(&self.imports[from], &next.imports[to]) && same(&self.exports[from], &next.exports[to]);
            (!is_same).then_some(new)
        });
        let led_elsewhere = led_elsewhere.collect();
        let failing =
            self.lookups.as_ref().map(|lookups| lookups.failing(|lookup| self.agrees(&next, lookup, renumber)));
        next.lookups = self.lookups;
        (next, led_elsewhere, failing.unwrap_or_default())
    }

    /// Whether a look comes to the same in the tables of the next view.
    fn agrees(&self, next: &Modules, lookup: &Lookup, renumber: &Renumber) -> bool {
        let same = |old: Option<Target>, new: Option<Target>| match old {
            Some(old) => renumber.target(&old) == new,
            None => new.is_none(),
        };
        let files = |old: Vec<FileIdx>, new: Vec<FileIdx>| {
            old.into_iter().map(|file| renumber.file(file)).collect::<Option<Vec<_>>>() == Some(new)
        };
        match lookup {
            Lookup::Specifier(from, level, text) => {
                let Some(dialect) = Dialect::of_file_name(from.file_name()) else { return false };
                let of = |modules: &Modules| Some(modules.resolve(from, dialect, *level, text));
                same(of(self), of(next))
            }
            Lookup::Submodule(path, name) => {
                let of = |modules: &Modules| modules.python.submodule(path, name).map(python_target);
                same(of(self), of(next))
            }
            Lookup::InNamespace(namespace, name) => {
                let of = |modules: &Modules| modules.child_of_namespace(namespace, name);
                same(of(self), of(next))
            }
            Lookup::Conftests(path) => {
                let of = |modules: &Modules| modules.python.conftests(path).into_iter().map(FileIdx).collect();
                files(of(self), of(next))
            }
            Lookup::PythonFile(path) => {
                let of = |modules: &Modules| modules.python.file(path).map(|file| Target::File(FileIdx(file)));
                same(of(self), of(next))
            }
            Lookup::JavaPackage(package) => {
                self.java_packages.contains(&**package) == next.java_packages.contains(&**package)
            }
            Lookup::JavaType(package, name) => {
                let of = |modules: &Modules| -> Vec<SymbolRef> {
                    modules.java_types.get(&**package).and_then(|types| types.get(&**name)).cloned().unwrap_or_default()
                };
                of(self).into_iter().map(|at| renumber.symbol(at)).collect::<Option<Vec<_>>>() == Some(of(next))
            }
            Lookup::JavaFiles(package) => files(self.files_of_package(package), next.files_of_package(package)),
        }
    }

    fn note<'k>(&self, kind: u32, key: impl IntoIterator<Item = &'k str>, lookup: impl FnOnce() -> Lookup) {
        if let Some(lookups) = &self.lookups {
            lookups.note(kind, key, lookup);
        }
    }

    /// What each import row and each export row of a file leads to.
    fn targets(&self, view: &View, file: FileIdx) -> (Vec<Target>, Vec<Target>) {
        let file = view.file(file);
        let target = |module| self.resolve(&file.path, file.dialect, 0, module);
        let imports = file.facts.imports.iter().map(|import| self.import(file, import)).collect();
        let exports = file.facts.exports.iter();
        let exports = exports.map(|e| e.module.map_or(Target::Missing, |m| target(file.facts.name(m)))).collect();
        (imports, exports)
    }

    /// What an export row's module resolves to.
    pub fn of_export(&self, file: FileIdx, row: u32) -> &Target {
        &self.exports[file.0 as usize][row as usize]
    }

    /// What an import row resolves to; `Missing` in Java, whose packages and types the linker finds.
    pub fn of_import(&self, file: FileIdx, row: u32) -> &Target {
        &self.imports[file.0 as usize][row as usize]
    }

    fn import(&self, file: &ViewFile, import: &Import) -> Target {
        let text = file.facts.text(import.module);
        if (import.module.is_none() && import.level == 0) || file.dialect == Dialect::Java {
            return Target::Missing;
        }
        self.resolve(&file.path, file.dialect, import.level, text)
    }

    /// Resolves a specifier written in the file at `from`; `level` counts Python's dots.
    pub fn specifier(&self, _view: &View, from: &RepoPath, dialect: Dialect, level: u32, text: &str) -> Target {
        let kind = level.saturating_add(1).saturating_mul(16);
        self.note(kind, [from.as_str(), text], || Lookup::Specifier(from.clone(), level, Box::from(text)));
        self.resolve(from, dialect, level, text)
    }

    fn resolve(&self, from: &RepoPath, dialect: Dialect, level: u32, text: &str) -> Target {
        match Family::of(dialect) {
            Family::Python => match self.python.resolve(from, level, text) {
                python::naming::Module::External(_) => Target::External(Name::of(text)),
                module => python_target(module),
            },
            Family::Ecma => match self.ecma.resolve(from, text) {
                typescript::naming::Resolution::File(file) => Target::File(FileIdx(file)),
                typescript::naming::Resolution::External(_) => Target::External(Name::of(text)),
                typescript::naming::Resolution::Missing => Target::Missing,
            },
            Family::Java if self.java_packages.contains(text) => Target::Namespace(Name::of(text)),
            Family::Java => Target::External(Name::of(text)),
        }
    }

    /// The package whose `jsx-runtime` types the elements of an ECMAScript file, where its project
    /// names one.
    pub fn jsx_source(&self, view: &View, file: FileIdx) -> Option<&str> {
        self.ecma.jsx_source(view.path(file))
    }

    /// Python's submodule `name` of the module in a file.
    pub fn submodule(&self, view: &View, file: FileIdx, name: &str) -> Option<Target> {
        let path = view.path(file);
        self.note(1, [path.as_str(), name], || Lookup::Submodule(path.clone(), Box::from(name)));
        self.python.submodule(path, name).map(python_target)
    }

    /// The module `name` in a namespace package.
    pub fn in_namespace(&self, namespace: &str, name: &str) -> Option<Target> {
        self.note(2, [namespace, name], || Lookup::InNamespace(Box::from(namespace), Box::from(name)));
        self.child_of_namespace(namespace, name)
    }

    fn child_of_namespace(&self, namespace: &str, name: &str) -> Option<Target> {
        let folders = namespace.split(BETWEEN).filter_map(RepoPath::new);
        folders.filter_map(|folder| self.python.child(&folder, name)).map(python_target).min()
    }

    /// The conftest files that a file sees, nearest first.
    pub fn conftests(&self, view: &View, file: FileIdx) -> Vec<FileIdx> {
        let path = view.path(file);
        self.note(3, [path.as_str()], || Lookup::Conftests(path.clone()));
        self.python.conftests(path).into_iter().map(FileIdx).collect()
    }

    /// The Python file at a path.
    pub fn python_file(&self, path: &RepoPath) -> Option<FileIdx> {
        self.note(7, [path.as_str()], || Lookup::PythonFile(path.clone()));
        self.python.file(path).map(FileIdx)
    }

    /// Whether a dotted text is a Java package of the view, or a prefix of one.
    pub fn is_java_package(&self, package: &str) -> bool {
        self.note(4, [package], || Lookup::JavaPackage(Box::from(package)));
        self.java_packages.contains(package)
    }

    /// The top-level type of a package, as seen from a file: of twins the one in the same
    /// source set, then as the build files say, then the nearest by path.
    pub fn java_type(&self, view: &View, from: FileIdx, package: &str, name: &str) -> Option<SymbolRef> {
        self.note(5, [package, name], || Lookup::JavaType(Box::from(package), Box::from(name)));
        let twins = self.java_types.get(package)?.get(name)?;
        if let [only] = twins.as_slice() {
            return Some(*only);
        }
        let place = |file: FileIdx| self.java_places.get(file.0 as usize)?.as_ref();
        let near = view.path(from);
        twins.iter().copied().min_by_key(|twin| {
            let path = view.path(twin.file);
            let shared = path.as_str().split('/').zip(near.as_str().split('/')).take_while(|(a, b)| a == b).count();
            let nearness = place(from).zip(place(twin.file)).map(|(from, to)| self.java_layout.nearness(from, to));
            (nearness, std::cmp::Reverse(shared), *twin)
        })
    }

    /// The files of a package, sorted and unique.
    pub fn java_files(&self, package: &str) -> Vec<FileIdx> {
        self.note(6, [package], || Lookup::JavaFiles(Box::from(package)));
        self.files_of_package(package)
    }

    fn files_of_package(&self, package: &str) -> Vec<FileIdx> {
        let types = self.java_types.get(package).into_iter().flat_map(|types| types.values().flatten());
        let files: BTreeSet<FileIdx> = types.map(|symbol| symbol.file).collect();
        files.into_iter().collect()
    }

    fn add_java(&mut self, view: &View, file: FileIdx) {
        let facts = view.facts(file);
        let package = java_package(view, file);
        if !self.java_types.contains_key(package) {
            self.java_types.insert(package.to_string(), HashMap::default());
        }
        let Some(types) = self.java_types.get_mut(package) else { return };
        for (row, symbol) in facts.symbols.iter().enumerate().skip(1) {
            if symbol.parent == Some(SymbolId::new(0)) && symbol.kind.is_class() {
                let at = SymbolRef { file, symbol: SymbolId::new(row) };
                types.entry(facts.name(symbol.name).to_string()).or_default().push(at);
            }
        }
        let mut prefix = package;
        while !self.java_packages.contains(prefix) {
            self.java_packages.insert(prefix.to_string());
            prefix = prefix.rsplit_once('.').map_or("", |(prefix, _)| prefix);
        }
    }
}

/// The package of a Java file, `""` for the unnamed one.
pub fn java_package(view: &View, file: FileIdx) -> &str {
    let facts = view.names_of(file);
    facts.package.first().map_or("", |package| facts.name(package.name))
}

fn python_target(module: python::naming::Module) -> Target {
    match module {
        python::naming::Module::File(file) => Target::File(FileIdx(file)),
        python::naming::Module::Namespace(folders) => {
            let folders: Vec<&str> = folders.iter().map(RepoPath::as_str).collect();
            Target::Namespace(Name::from(folders.join(&BETWEEN.to_string())))
        }
        python::naming::Module::External(name) => Target::External(Name::from(name)),
        python::naming::Module::Missing => Target::Missing,
    }
}
