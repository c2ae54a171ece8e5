//! Names of a view: every text interned once, the tables of each file, and the members and globals
//! of all files by name.

use rayon::prelude::*;

use crate::base::dialect::{Dialect, LanguageName};
use crate::base::reads::{self, Read};
use crate::facts::model::{ExportKind, FileFacts, ImportKind, NameId, ScopeId, ScopeKind, SymbolId, SymbolKind};
use crate::facts::table::Id;
use crate::graph::file_names::{FileCode, FileNames, rows};
use crate::graph::hashing::HashSet;
use crate::graph::intern::{intern, looked_up};
use crate::graph::renumber::Renumber;
use crate::graph::scope::Space;
use crate::graph::texts::Texts;
use crate::view::{FileIdx, SymbolRef, View};

pub use crate::graph::file_names::{Decl, chain_text, declares, in_scope, root_name};
pub use crate::graph::texts::Text;

/// Texts that rules ask for, whether a file holds them or not.
const WELL_KNOWN: [&str; 1] = ["default"];

/// The names of a view.
pub struct Names<'v> {
    pub view: &'v View,
    tables: NameTables,
}

/// The tables of a view's names, which outlive it: the next one changes those of changed files.
pub struct NameTables {
    texts: Texts,
    files: Vec<(FileNames, FileCode)>,
    /// Members (of classes and object shapes), sorted by text and symbol.
    members: Vec<(Text, SymbolRef)>,
    /// What ECMAScript declares for all files: `declare global`, declaration files that are no
    /// modules. Sorted by text and symbol.
    globals: Vec<(Text, SymbolRef)>,
    /// By text, which kinds of members of Java's classes had it when the tables were made.
    java_members: Vec<u8>,
}

/// Some class of Java has a type of that name as a member.
const MEMBER_TYPE: u8 = 1;
/// Some class of Java has a field or type of that name as a member.
const MEMBER_VALUE: u8 = 2;

/// What of the tables of all files a changed file has changed.
#[derive(Clone, Debug, Default)]
pub struct Replaced {
    /// The names of the members that it had, and of those that it has.
    pub members: Vec<Text>,
    /// The globals by name, or whether there is a text that was looked for.
    pub globals: bool,
}

impl NameTables {
    /// Interns and indexes every file of a view. O(facts) plus a sort of members.
    pub fn new(view: &View) -> Self {
        let (mut texts, numbers) = intern(view);
        let files: Vec<(FileNames, FileCode)> = view
            .files
            .par_iter()
            .zip(numbers)
            .map(|(file, texts)| (FileNames::new(&file.facts, texts), FileCode::new(&file.facts)))
            .collect();
        for text in WELL_KNOWN {
            texts.intern(text);
        }
        let indices: Vec<FileIdx> = view.indices().collect();
        let table = |rows: fn(&FileFacts) -> Vec<SymbolId>| {
            let of = |file: &FileIdx| named(*file, view.facts(*file), &files[file.0 as usize].0, rows);
            let mut table: Vec<(Text, SymbolRef)> = indices.par_iter().flat_map_iter(of).collect();
            table.par_sort_unstable();
            table
        };
        let (members, globals) = (table(members), table(ambient_globals));
        let kinds = |file: &FileIdx| {
            let (facts, names) = (view.facts(*file), &files[file.0 as usize].0);
            java_members(facts).map(move |(name, kinds)| (names.text(name), kinds))
        };
        let kinds: Vec<(Text, u8)> = indices.par_iter().flat_map_iter(kinds).collect();
        let mut java_members = vec![0; texts.n_texts()];
        for (text, kinds) in kinds {
            java_members[text.0 as usize] |= kinds;
        }
        NameTables { texts, files, members, globals, java_members }
    }

    /// Records which texts are looked for, and counts who has them, so that [`NameTables::replace`]
    /// can tell. O(names).
    pub fn record(&mut self) {
        self.texts.record();
        for text in self.files.iter().flat_map(|(names, _)| names.texts()) {
            self.texts.add_user(*text);
        }
        for text in WELL_KNOWN {
            let text = self.texts.intern(text);
            self.texts.add_user(text);
        }
    }

    /// The text of a file's name.
    pub fn text(&self, file: FileIdx, name: NameId) -> Text {
        self.files[file.0 as usize].0.text(name)
    }

    /// What a file declares, its new texts taken in without users.
    fn names_of(&mut self, facts: &FileFacts) -> FileNames {
        let names = facts.names.iter().zip(looked_up(facts));
        let texts = names.map(|(name, is_looked_up)| if is_looked_up { self.texts.intern(name) } else { Text::NONE });
        FileNames::new(facts, texts.collect())
    }

    /// Takes the changed facts of files in: the number of each, what it was and what it is. Gives for
    /// each what that changed. O(facts of the files), and a sort of members where they differ.
    pub fn replace(&mut self, changes: &[(FileIdx, &FileFacts, &FileFacts)]) -> Vec<Replaced> {
        let tables = [members, ambient_globals];
        let mut differing: [HashSet<FileIdx>; 2] = Default::default();
        let mut replaced = Vec::with_capacity(changes.len());
        for (file, was, now) in changes {
            let at = file.0 as usize;
            let old = tables.map(|rows| named(*file, was, &self.files[at].0, rows).collect::<Vec<_>>());
            let names = self.names_of(now);
            let mut sought = false;
            // Added first, so that a text that stays is never without users.
            for text in names.texts() {
                sought |= self.texts.add_user(*text);
            }
            for text in self.files[at].0.texts() {
                sought |= self.texts.remove_user(*text);
            }
            let new = tables.map(|rows| named(*file, now, &names, rows).collect::<Vec<_>>());
            self.files[at] = (names, FileCode::new(now));
            // Rows come in order of symbols, so that equal ones are alike.
            let differs = [0, 1].map(|table| old[table] != new[table]);
            for (differing, _) in differing.iter_mut().zip(differs).filter(|(_, differs)| *differs) {
                differing.insert(*file);
            }
            let members = old[0].iter().chain(&new[0]).map(|row| row.0).collect();
            replaced.push(Replaced { members, globals: differs[1] || sought });
        }
        let kept = [&mut self.members, &mut self.globals];
        for ((table, rows), differing) in kept.into_iter().zip(tables).zip(differing).filter(|(_, d)| !d.is_empty()) {
            table.retain(|row| !differing.contains(&row.1.file));
            for (file, _, now) in changes.iter().filter(|(file, ..)| differing.contains(file)) {
                table.extend(named(*file, now, &self.files[file.0 as usize].0, rows));
            }
            table.sort();
        }
        replaced
    }
}

impl NameTables {
    /// Gives the files the numbers of the next view, after those that are in both were replaced where
    /// they changed; takes the new ones in. Whether globals changed, or a text that was looked for.
    /// O(members + facts of what came and went).
    pub fn renumber(&mut self, was: &View, view: &View, renumber: &Renumber) -> bool {
        let mut shows = false;
        let mut files: Vec<Option<(FileNames, FileCode)>> = view.indices().map(|_| None).collect();
        for (old, table) in was.indices().zip(std::mem::take(&mut self.files)) {
            match renumber.file(old) {
                Some(new) => files[new.0 as usize] = Some(table),
                None => {
                    shows |= !ambient_globals(was.facts(old)).is_empty();
                    for text in table.0.texts() {
                        shows |= self.texts.remove_user(*text);
                    }
                }
            }
        }
        let moved = |rows: &mut Vec<(Text, SymbolRef)>| {
            rows.retain_mut(|row| match renumber.symbol(row.1) {
                Some(new) => {
                    row.1 = new;
                    true
                }
                None => false,
            });
        };
        moved(&mut self.members);
        moved(&mut self.globals);
        for (file, table) in view.indices().zip(&mut files).filter(|(_, table)| table.is_none()) {
            let facts = view.facts(file);
            let names = self.names_of(facts);
            for text in names.texts() {
                shows |= self.texts.add_user(*text);
            }
            self.members.extend(named(file, facts, &names, members));
            shows |= !ambient_globals(facts).is_empty();
            *table = Some((names, FileCode::new(facts)));
        }
        self.members.sort();
        self.files = files.into_iter().flatten().collect();
        shows
    }
}

/// Some symbols of a file with the texts of their names.
fn named<'f>(
    file: FileIdx,
    facts: &'f FileFacts,
    names: &'f FileNames,
    rows: fn(&FileFacts) -> Vec<SymbolId>,
) -> impl Iterator<Item = (Text, SymbolRef)> + 'f {
    rows(facts).into_iter().map(move |id| (names.text(facts.symbol(id).name), SymbolRef { file, symbol: id }))
}

impl<'v> Names<'v> {
    /// Interns and indexes every file of a view. O(facts) plus a sort of members.
    pub fn new(view: &'v View) -> Self {
        Names::with(view, NameTables::new(view))
    }

    /// Takes tables that fit the view.
    pub fn with(view: &'v View, tables: NameTables) -> Self {
        Names { view, tables }
    }

    /// The tables, for a view to come.
    pub fn into_tables(self) -> NameTables {
        self.tables
    }

    /// The text of an interned text.
    pub fn str(&self, text: Text) -> &str {
        self.tables.texts.str(text)
    }

    /// The interned form of a text; `None` when no file of the view holds it.
    pub fn find(&self, text: &str) -> Option<Text> {
        self.tables.texts.find(text)
    }

    /// The text of a file's name.
    pub fn text(&self, file: FileIdx, name: NameId) -> Text {
        self.file(file).text(name)
    }

    /// The name of a text in a file; `None` when the file does not hold it.
    pub fn name_in(&self, file: FileIdx, text: Text) -> Option<NameId> {
        self.file(file).name_of(text)
    }

    /// What a file declares under which names. Who looks for declarations in a function's scope
    /// looks at the function too, whose parameters are among them.
    pub fn file(&self, file: FileIdx) -> &FileNames {
        reads::note(Read::names(file.0));
        &self.tables.files[file.0 as usize].0
    }

    /// The number of a Java method's parameters, the receiver left out; `None` of one without a scope.
    pub fn n_params(&self, method: SymbolRef) -> Option<usize> {
        let scope = self.view.symbol(method).scope?;
        Some(self.tables.files[method.file.0 as usize].0.n_params(scope))
    }

    /// A number that is the same for Java methods of equal signatures; 0 of others.
    pub fn signature(&self, method: SymbolRef) -> u32 {
        reads::note(Read::row(method.file.0, method.symbol.index() as u32));
        self.tables.files[method.file.0 as usize].0.signature(method.symbol)
    }

    /// What stands in a file's code.
    pub fn code(&self, file: FileIdx) -> &FileCode {
        reads::note(Read::whole(file.0));
        &self.tables.files[file.0 as usize].1
    }

    /// The ambient declarations of that name, sorted.
    pub fn globals_named(&self, text: Text) -> Vec<SymbolRef> {
        rows(&self.tables.globals, text, |row| row.0).iter().map(|row| row.1).collect()
    }

    /// Whether some class of Java may have a member of that name that is no method. Of tables that
    /// have taken changed files in nothing of the kind is known.
    pub fn is_java_member(&self, text: Text, space: Space) -> bool {
        let kind = match space {
            Space::Type => MEMBER_TYPE,
            Space::Value => MEMBER_VALUE,
        };
        self.tables.java_members[text.0 as usize] & kind > 0
    }

    /// The members of that name in the whole view, sorted.
    pub fn members_named(&self, text: Text) -> impl Iterator<Item = SymbolRef> + '_ {
        rows(&self.tables.members, text, |row| row.0).iter().map(|row| row.1)
    }
}

/// The members of a file: of classes, interfaces, object shapes.
fn members(facts: &FileFacts) -> Vec<SymbolId> {
    (0..facts.symbols.len()).map(SymbolId::new).filter(|id| is_member(facts, *id)).collect()
}

/// Whether a symbol is a member: of a class, an interface, an object shape.
fn is_member(facts: &FileFacts, id: SymbolId) -> bool {
    let symbol = facts.symbol(id);
    if id.index() == 0 || symbol.kind == SymbolKind::Constructor {
        return false;
    }
    matches!(facts.scope(symbol.declared_in).kind, ScopeKind::Class | ScopeKind::Object)
        || matches!(symbol.kind, SymbolKind::Method | SymbolKind::Property | SymbolKind::Field)
}

/// The names of a Java file's members that are no methods, with what they are.
fn java_members(facts: &FileFacts) -> impl Iterator<Item = (NameId, u8)> + '_ {
    let is_java = facts.dialect == Dialect::Java;
    let rows = facts.symbols.iter().skip(1).filter(move |symbol| is_java && !symbol.kind.is_function());
    rows.filter(|symbol| facts.scope(symbol.declared_in).kind == ScopeKind::Class)
        .map(|symbol| (symbol.name, if symbol.kind.is_class() { MEMBER_TYPE | MEMBER_VALUE } else { MEMBER_VALUE }))
}

/// The symbols that a file declares for all files.
fn ambient_globals(facts: &FileFacts) -> Vec<SymbolId> {
    let is_ecma = matches!(facts.dialect.language(), LanguageName::TypeScript | LanguageName::JavaScript);
    if !is_ecma {
        return Vec::new();
    }
    let top = ScopeId::new(0);
    let is_module = facts.imports.iter().any(|import| import.kind != ImportKind::TypeQuery && import.scope == top)
        || facts.exports.iter().any(|export| export.scope == top && export.kind != ExportKind::Global);
    let is_script = facts.dialect == Dialect::Dts && !is_module;
    let rows = facts.symbols.iter().enumerate().skip(1);
    rows.filter(|(_, symbol)| {
        let scope = facts.scope(symbol.declared_in);
        let of_global = scope.kind == ScopeKind::Ambient && facts.name(facts.symbol(scope.owner).name) == "global";
        of_global || (is_script && symbol.declared_in == top)
    })
    .map(|(row, _)| SymbolId::new(row))
    .collect()
}
