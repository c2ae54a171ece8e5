//! What is kept of a tree beside its files, so that a question about some of them need not open
//! all. It leaves nothing out: which files it names is always at least those that fit, and who
//! asks looks at each as if it had not been asked.

use std::sync::{Arc, OnceLock};

use crate::base::id::Digest;
use crate::base::lazy::Lazy;
use crate::base::parallel;
use crate::facts::model::{FileFacts, NameId, Status, SymbolKind};
use crate::view::names::{Known, Names};
use crate::view::{FileIdx, View};

/// The directory of a view.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Of each file of the view.
    pub figures: Vec<Figures>,
    pub names: Lazy<Names>,
    /// The handles of all symbols, of each file in order of its rows, as numbers.
    pub handles: Lazy<Vec<u64>>,
    /// `None` where they cannot be read any more.
    pub texts: Lazy<Option<Texts>>,
    /// The files' ranks without seeds under the default options, where they were kept.
    pub ranks: Option<Vec<f64>>,
    pub notes: Arc<dyn Notes>,
}

/// What rooms above made of all files of a kept tree, each under a name of its own.
pub trait Notes: std::fmt::Debug + Send + Sync {
    /// Reads a note; `None` where there is none.
    fn get(&self, name: &str) -> Option<Vec<u8>>;
    /// Keeps a note. Failing to costs time only.
    fn put(&self, name: &str, bytes: &[u8]);
}

/// What walks over all files ask of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    pub status: Status,
    pub n_symbols: u32,
    pub n_blocks: u32,
    /// Whether several of its symbols have one name in one place (`#n`).
    pub has_repeats: bool,
    /// Whether it lists the classes below another (`__subclasses__`).
    pub lists_subclasses: bool,
    /// Whether a program may start in it: Java's `main(String[])`.
    pub has_main: bool,
}

/// The texts of a graph's unproved references.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// Sorted, unique.
    pub texts: Vec<Box<str>>,
    /// The text of each unproved reference, in the graph's order, by position.
    pub rows: Vec<u32>,
    /// Which files import a name under another one: the name by position, and the file; sorted.
    pub renamed: Vec<(u32, FileIdx)>,
}

impl Figures {
    /// The figures of a file.
    pub fn of(facts: &FileFacts) -> Self {
        Figures {
            status: facts.status,
            n_symbols: facts.symbols.len() as u32,
            n_blocks: facts.test_blocks.len() as u32,
            has_repeats: facts.symbols.iter().any(|symbol| facts.name(symbol.qualname).contains('#')),
            lists_subclasses: facts.names.iter().any(|name| &**name == "__subclasses__"),
            has_main: facts.symbols.iter().any(|symbol| {
                symbol.kind == SymbolKind::Method && facts.name(symbol.qualname).ends_with(".main(String[])")
            }),
        }
    }
}

impl Texts {
    /// The texts of unproved references, given with their file in the graph's order.
    pub fn of(view: &View, unproved: impl Iterator<Item = (FileIdx, NameId)> + Clone) -> Self {
        let renames = || {
            view.indices().flat_map(move |file| {
                let facts = view.facts(file);
                let renamed = facts.imports.iter().filter(|row| row.local.is_some() && row.local != row.name);
                renamed.filter_map(move |row| Some((facts.name(row.name?), file)))
            })
        };
        let mut texts: Vec<&str> = unproved.clone().map(|(file, name)| view.facts(file).name(name)).collect();
        texts.extend(renames().map(|(name, _)| name));
        texts.sort_unstable();
        texts.dedup();
        let position = |text: &str| texts.binary_search(&text).unwrap_or_default() as u32;
        let rows = unproved.map(|(file, name)| position(view.facts(file).name(name))).collect();
        let mut renamed: Vec<(u32, FileIdx)> = renames().map(|(name, file)| (position(name), file)).collect();
        renamed.sort_unstable();
        renamed.dedup();
        Texts { texts: texts.into_iter().map(Box::from).collect(), rows, renamed }
    }

    /// The text of an unproved reference.
    pub fn text(&self, row: usize) -> &str {
        &self.texts[self.rows[row] as usize]
    }

    /// The positions of some texts, sorted.
    pub fn positions<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<u32> {
        let found = names.filter_map(|name| self.texts.binary_search_by(|text| (**text).cmp(name)).ok());
        let mut found: Vec<u32> = found.map(|at| at as u32).collect();
        found.sort_unstable();
        found
    }

    /// The files that import one of the texts at `positions` under another name, sorted.
    pub fn renaming(&self, positions: &[u32]) -> Vec<FileIdx> {
        let is_it = |(text, _): &&(u32, FileIdx)| positions.binary_search(text).is_ok();
        let mut files: Vec<FileIdx> = self.renamed.iter().filter(is_it).map(|(_, file)| *file).collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// Which files of a graph have an unproved reference of some text, or import it under another
/// name, by the text's hash: files that have others of the same hash, too.
#[derive(Debug, Default)]
pub struct ByText {
    /// Sorted, unique.
    rows: Vec<(u32, FileIdx)>,
    n_unproved: usize,
}

/// What of a directory was asked for of a view that nothing was kept of. A clone is empty: who
/// clones a view may change it.
#[derive(Debug, Default)]
pub struct Made {
    figures: OnceLock<Vec<Figures>>,
    names: OnceLock<Names>,
    handles: OnceLock<Vec<u64>>,
    by_text: OnceLock<ByText>,
}

impl Clone for Made {
    fn clone(&self) -> Self {
        Made::default()
    }
}

impl View {
    /// How a file's extraction went.
    pub fn status(&self, file: FileIdx) -> Status {
        match &self.directory {
            Some(directory) => directory.figures[file.0 as usize].status,
            None => self.facts(file).status,
        }
    }

    /// How many symbols and test blocks a file has, and what else all files are asked for.
    pub fn figures(&self, file: FileIdx) -> Figures {
        let known = match &self.directory {
            Some(directory) => &directory.figures,
            None => self.made.figures.get_or_init(|| self.files.iter().map(|file| Figures::of(&file.facts)).collect()),
        };
        known[file.0 as usize]
    }

    /// The texts of the unproved references of the graph that was kept with it, where they were.
    pub fn texts(&self) -> Option<&Texts> {
        self.directory.as_ref()?.texts.as_ref()
    }

    /// Every file with a symbol of such a name, and maybe others; ascending. Parameter lists and
    /// numbers of `name` may be those of its symbol.
    pub fn naming(&self, name: &str, known: Known) -> Vec<FileIdx> {
        let literal = name.find(['(', '#']);
        let (part, known) = match literal {
            None => (name, known),
            // What stands before them is in the plain name, unless it is of a parameter list itself.
            Some(at) if is_balanced(name) => (&name[..at], Known::Part),
            Some(_) => ("", Known::Part),
        };
        if part.is_empty() || part.contains(['\n', '\t']) {
            return self.indices().collect();
        }
        self.names().files(part, known)
    }

    /// The names of all symbols.
    pub fn names(&self) -> &Names {
        match &self.directory {
            Some(directory) => &directory.names,
            None => self.made.names.get_or_init(|| Names::of(&self.all_facts())),
        }
    }

    fn all_facts(&self) -> Vec<&FileFacts> {
        self.files.iter().map(|file| &*file.facts).collect()
    }

    /// The files with an unproved reference of one of some texts, or that import one under another
    /// name, and maybe others; ascending. `unproved` are those of the graph of this view, with
    /// their file, in its order.
    pub fn using<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
        unproved: impl ExactSizeIterator<Item = (FileIdx, NameId)>,
    ) -> Vec<FileIdx> {
        let n_unproved = unproved.len();
        let by_text = self.made.by_text.get_or_init(|| ByText::of(self, unproved));
        if by_text.n_unproved != n_unproved {
            return self.indices().collect();
        }
        let mut files: Vec<FileIdx> = names.flat_map(|name| by_text.files(hash(name))).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The handles of all symbols, of each file in order of its rows, as numbers.
    pub fn handles(&self) -> &[u64] {
        let paths = || self.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>();
        match &self.directory {
            Some(directory) => &directory.handles,
            None => self.made.handles.get_or_init(|| handles(&paths(), &self.all_facts())),
        }
    }

    /// Every file with a symbol of a handle, and maybe others; ascending.
    pub fn with_handle(&self, handle: &str) -> Vec<FileIdx> {
        let Some(number) = handle_number(handle) else { return self.indices().collect() };
        let hits = self.handles().iter().enumerate().filter(|(_, known)| **known == number);
        let mut rows: Vec<usize> = hits.map(|(at, _)| at).collect();
        rows.reverse();
        let (mut found, mut first) = (Vec::new(), 0);
        for file in self.indices() {
            first += self.figures(file).n_symbols as usize;
            while rows.last().is_some_and(|row| *row < first) {
                rows.pop();
                if found.last() != Some(&file) {
                    found.push(file);
                }
            }
        }
        found
    }
}

/// The handles of the symbols of files, given with their paths, as numbers. O(symbols), on all
/// threads.
pub fn handles(paths: &[&str], files: &[&FileFacts]) -> Vec<u64> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let of_file = |at: usize| -> Vec<u64> {
        let names = files[at].symbols.iter().map(|symbol| files[at].name(symbol.qualname));
        names.map(|qualname| symbol_number(paths[at], qualname)).collect()
    };
    parallel::each(files.len(), jobs, || (), |(), at| of_file(at)).concat()
}

/// The number whose digits are those of [`crate::base::id::symbol_handle`].
fn symbol_number(path: &str, qualname: &str) -> u64 {
    Digest::of_parts([path.as_bytes(), qualname.as_bytes()]).short().swap_bytes()
}

impl ByText {
    fn of(view: &View, unproved: impl ExactSizeIterator<Item = (FileIdx, NameId)>) -> Self {
        let n_unproved = unproved.len();
        let mut rows: Vec<(u32, FileIdx)> =
            unproved.map(|(file, name)| (hash(view.facts(file).name(name)), file)).collect();
        for file in view.indices() {
            let facts = view.facts(file);
            let renamed = facts.imports.iter().filter(|row| row.local.is_some() && row.local != row.name);
            rows.extend(renamed.filter_map(|row| Some((hash(facts.name(row.name?)), file))));
        }
        rows.sort_unstable();
        rows.dedup();
        ByText { rows, n_unproved }
    }

    fn files(&self, hash: u32) -> impl Iterator<Item = FileIdx> + '_ {
        let start = self.rows.partition_point(|(known, _)| *known < hash);
        self.rows[start..].iter().take_while(move |(known, _)| *known == hash).map(|(_, file)| *file)
    }
}

/// FNV-1a, folded to 32 bits: equal hashes of different texts cost a look in vain.
fn hash(text: &str) -> u32 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (hash ^ (hash >> 32)) as u32
}

/// Whether every `)` closes a `(`.
fn is_balanced(name: &str) -> bool {
    let mut depth = 0usize;
    for c in name.chars() {
        match c {
            '(' => depth += 1,
            ')' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            _ => {}
        }
    }
    depth == 0
}

fn handle_number(handle: &str) -> Option<u64> {
    let digits = handle.strip_prefix("sym_").filter(|digits| digits.len() == 16)?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::{handle_number, symbol_number};
    use crate::base::id::symbol_handle;

    #[test]
    fn handles_are_numbers_in_hex() {
        let handle = symbol_handle("src/a.py", "C.f");
        assert_eq!(handle_number(&handle), Some(symbol_number("src/a.py", "C.f")));
    }
}
