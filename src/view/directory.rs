//! What is kept of a tree beside its files, so that a question about some of them need not open
//! all. It leaves nothing out: which files it names is always at least those that fit, and who
//! asks looks at each as if it had not been asked.

use std::sync::{Arc, OnceLock};

use memchr::memmem::Finder;

use crate::base::id::symbol_handle;
use crate::base::lazy::Lazy;
use crate::facts::model::{FileFacts, NameId, Status};
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

/// The names of all symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The folded names of each file's symbols, a line each: simple ones and plain qualified ones,
    /// sorted and unique in a file. Starts and ends with a line's end.
    pub text: String,
    /// Where each file's lines start in `text`, at the end of the line before.
    pub starts: Vec<u32>,
}

/// How much of a name is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The simple name, or the qualified one, or whole parts of its end.
    End,
    /// Any part of either.
    Part,
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

/// The names and handles of a view that nothing was kept of, once they were asked for. A clone is
/// empty: who clones a view may change it.
#[derive(Debug, Default)]
pub struct Made {
    names: OnceLock<Names>,
    handles: OnceLock<Vec<u64>>,
}

impl Clone for Made {
    fn clone(&self) -> Self {
        Made::default()
    }
}

impl Names {
    /// The names of the files of a view. O(symbols).
    pub fn of<'f>(files: impl Iterator<Item = &'f FileFacts>) -> Self {
        let mut names = Names { text: "\n".to_owned(), ..Names::default() };
        for facts in files {
            names.starts.push(names.text.len() as u32 - 1);
            let mut lines: Vec<String> = Vec::with_capacity(facts.symbols.len());
            for (row, symbol) in facts.symbols.iter().enumerate() {
                let qualname = facts.name(symbol.qualname);
                if row > 0 {
                    let line = fold(&plain(qualname));
                    let simple = fold(facts.name(symbol.name));
                    if line.strip_suffix(&simple).is_none_or(|rest| !rest.is_empty() && !rest.ends_with('.')) {
                        lines.push(simple);
                    }
                    lines.push(line);
                }
            }
            lines.sort_unstable();
            lines.dedup();
            for line in &lines {
                names.text.push_str(line);
                names.text.push('\n');
            }
        }
        names
    }

    /// The files with a symbol that may fit, ascending.
    fn files(&self, part: &str, known: Known) -> Vec<FileIdx> {
        let mut needle = fold(part);
        if known == Known::End {
            needle.push('\n');
        }
        let mut found = Vec::new();
        let mut at = 0;
        let finder = Finder::new(&needle);
        while let Some(hit) = self.text.as_bytes().get(at..).and_then(|text| finder.find(text)) {
            let hit = at + hit;
            if known == Known::Part || matches!(self.text.as_bytes()[..hit].last(), Some(b'\n' | b'.')) {
                let file = self.starts.partition_point(|start| (*start as usize) < hit) - 1;
                found.push(FileIdx(file as u32));
                // On to the next file's lines.
                at = self.starts.get(file + 1).map_or(self.text.len(), |start| *start as usize);
            } else {
                at = hit + needle.len() - 1;
            }
        }
        found
    }
}

impl View {
    /// How a file's extraction went.
    pub fn status(&self, file: FileIdx) -> Status {
        self.figures(file).status
    }

    /// How many symbols and test blocks a file has, and how its extraction went.
    pub fn figures(&self, file: FileIdx) -> Figures {
        match &self.directory {
            Some(directory) => directory.figures[file.0 as usize],
            None => Figures::of(self.facts(file)),
        }
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
        if part.is_empty() || part.contains('\n') {
            return self.indices().collect();
        }
        let names = match &self.directory {
            Some(directory) => &*directory.names,
            None => self.made.names.get_or_init(|| Names::of(self.files.iter().map(|file| &*file.facts))),
        };
        names.files(part, known)
    }

    /// Every file with a symbol of a handle, and maybe others; ascending.
    pub fn with_handle(&self, handle: &str) -> Vec<FileIdx> {
        let Some(number) = handle_number(handle) else { return self.indices().collect() };
        let made = || handles(self.files.iter().map(|file| (file.path.as_str(), &*file.facts)));
        let known = match &self.directory {
            Some(directory) => &*directory.handles,
            None => self.made.handles.get_or_init(made),
        };
        let hits = known.iter().enumerate().filter(|(_, known)| **known == number);
        let mut rows: Vec<usize> = hits.map(|(at, _)| at).collect();
        rows.reverse();
        let (mut found, mut first) = (Vec::new(), 0);
        for file in self.indices() {
            first += match &self.directory {
                Some(directory) => directory.figures[file.0 as usize].n_symbols as usize,
                None => self.facts(file).symbols.len(),
            };
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

/// The handles of the symbols of some files, given with their paths, as numbers. O(symbols).
pub fn handles<'f>(files: impl Iterator<Item = (&'f str, &'f FileFacts)>) -> Vec<u64> {
    let of_file = |(path, facts): (&'f str, &'f FileFacts)| {
        let handles = facts.symbols.iter().map(move |symbol| symbol_handle(path, facts.name(symbol.qualname)));
        handles.map(|handle| handle_number(&handle).unwrap_or_default())
    };
    files.flat_map(of_file).collect()
}

/// A qualified name without parameter lists and `#n`.
pub fn plain(qualname: &str) -> String {
    let mut out = String::with_capacity(qualname.len());
    let mut chars = qualname.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '(' => while chars.next().is_some_and(|c| c != ')') {},
            '#' => while chars.next_if(char::is_ascii_digit).is_some() {},
            _ => out.push(c),
        }
    }
    out
}

/// Lower case, letter by letter, so that what a text holds its folding holds too: the two small
/// sigmas, which differ by where they stand, are one.
fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(char::to_lowercase).map(|c| if c == 'ς' { 'σ' } else { c }).collect()
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
    use super::{Known, Names, fold, plain};
    use crate::view::FileIdx;

    #[test]
    fn plain_names_have_no_parameters_and_numbers() {
        assert_eq!(plain("C.put(String,int[])"), "C.put");
        assert_eq!(plain("f#2.g#11"), "f.g");
        assert_eq!(plain("C.<init>(int)"), "C.<init>");
    }

    #[test]
    fn names_are_found_by_parts_and_by_ends() {
        let names = Names { text: "\nbox\nbox.put\nbox.put_all\ninput\n".to_owned(), starts: vec![0, 4, 12, 12, 24] };
        let files = |part: &str, known| names.files(part, known).into_iter().map(|FileIdx(at)| at).collect::<Vec<_>>();
        assert_eq!(files("PUT", Known::Part), [1, 3, 4]);
        assert_eq!(files("put", Known::End), [1]);
        assert_eq!(files("box", Known::End), [0]);
        assert_eq!(files("x.put", Known::Part), [1, 3]);
        assert_eq!(files("x.put", Known::End), [0; 0]);
        assert_eq!(files("none", Known::Part), [0; 0]);
    }

    #[test]
    fn folding_does_not_look_around() {
        assert_eq!(fold("ΑΣ.Σ"), fold("ας.σ"));
    }
}
