//! The names of all symbols of a view, in one text and in their order: where to look for a name,
//! for a part of one, or for one that is like it, without a look at any file's facts.

use std::sync::OnceLock;

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter, memrchr};

use crate::base::parallel;
use crate::facts::model::{FileFacts, Symbol, SymbolFlags, SymbolKind};
use crate::facts::table::{Cell, Id};
use crate::view::{FileIdx, SymbolRef};

/// The names of all symbols but the files' own.
#[derive(Debug, Default)]
pub struct Names {
    /// A line a symbol, of each file in order of its rows: its folded plain qualified name; where
    /// the simple name is not what stands after the last dot, a tab and the folded simple name.
    /// Starts and ends with a line's end.
    pub text: String,
    /// Where each file's lines start in `text`, at the end of the line before.
    pub starts: Vec<u32>,
    /// What is known of each symbol.
    pub marks: Vec<Mark>,
    lines: OnceLock<Lines>,
}

/// What is known of a symbol beside its name, in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(pub u8);

const KIND_BITS: u8 = 0b1_1111;
const ACCESSOR: u8 = 1 << 5;
const LOCAL: u8 = 1 << 6;
const ODD: u8 = 1 << 7;

/// The simple names alone, for who looks at all of them.
#[derive(Debug, Default)]
struct Lines {
    /// Of each file the number of its first line; one more than files.
    first: Vec<u32>,
    /// A line a symbol: its folded simple name. Starts and ends with a line's end.
    simple: String,
    /// Where each line starts in `simple`.
    at: Vec<u32>,
}

/// A symbol with what its line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'n> {
    pub at: SymbolRef,
    /// The folded simple name.
    pub simple: &'n str,
    pub mark: Mark,
}

impl Mark {
    fn of(symbol: &Symbol, is_odd: bool) -> Self {
        let is_accessor = symbol.flags.has(SymbolFlags::GETTER) || symbol.flags.has(SymbolFlags::SETTER);
        let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        let kind = symbol.kind.to_cell() as u8 & KIND_BITS;
        Mark(kind | bit(is_accessor, ACCESSOR) | bit(symbol.flags.has(SymbolFlags::LOCAL), LOCAL) | bit(is_odd, ODD))
    }

    /// The kind, and whether it is a getter or setter.
    pub fn kind(self) -> (SymbolKind, bool) {
        let kind = SymbolKind::from_cell(u64::from(self.0 & KIND_BITS)).unwrap_or(SymbolKind::Module);
        (kind, self.0 & ACCESSOR != 0)
    }

    /// Whether it is local to a function.
    pub fn is_local(self) -> bool {
        self.0 & LOCAL != 0
    }

    /// Whether the line does not say all of its name: who wants to be sure asks the facts.
    pub fn is_odd(self) -> bool {
        self.0 & ODD != 0
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, &self.starts, &self.marks) == (&other.text, &other.starts, &other.marks)
    }
}

impl Names {
    /// The names of files, given in a view's order. O(symbols), on all threads.
    pub fn of(files: &[&FileFacts]) -> Self {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        let parts = parallel::each(files.len(), jobs, || (), |(), at| of_file(files[at]));
        let mut names = Names { text: "\n".to_owned(), ..Names::default() };
        for (text, marks) in parts {
            names.starts.push(names.text.len() as u32 - 1);
            names.text.push_str(&text);
            names.marks.extend(marks);
        }
        names
    }

    /// Names that were kept; `None` where their parts are not of one another.
    pub fn from_parts(text: String, starts: Vec<u32>, marks: Vec<Mark>) -> Option<Self> {
        let n_ends = memchr_iter(b'\n', text.as_bytes()).count();
        (n_ends == marks.len() + 1).then(|| Names { text, starts, marks, lines: OnceLock::new() })
    }

    /// The symbols whose simple or plain qualified name is `name`, or whole parts of its end, in
    /// any case; maybe others. Ascending. `None` for what no line says: parameters, numbers.
    pub fn ending(&self, name: &str) -> Option<Vec<SymbolRef>> {
        if !is_sayable(name) || name.contains(['(', '#']) {
            return None;
        }
        let mut found = self.ending_with(name, '\n');
        if memchr(b'\t', self.text.as_bytes()).is_some() {
            found.extend(self.ending_with(name, '\t'));
            found.sort_unstable();
            found.dedup();
        }
        Some(found)
    }

    fn ending_with(&self, name: &str, end: char) -> Vec<SymbolRef> {
        let mut needle = fold(name);
        needle.push(end);
        let text = self.text.as_bytes();
        let is_whole = |hit: &usize| matches!(text[..*hit].last(), Some(b'\n' | b'.' | b'\t'));
        Finder::new(&needle).find_iter(text).filter(is_whole).map(|hit| self.symbol_at(hit)).collect()
    }

    /// The symbols whose simple name holds `part`, in any case; maybe others. Ascending.
    /// `None` for what no line says.
    pub fn holding(&self, part: &str) -> Option<Vec<Named<'_>>> {
        if !is_sayable(part) || part.contains(['(', '#']) {
            return None;
        }
        let lines = self.lines();
        let part = fold(part);
        let finder = Finder::new(&part);
        let (text, mut found, mut from) = (lines.simple.as_bytes(), Vec::new(), 0);
        // Lines come in order: the next one is looked for from the last one on.
        let (mut line, mut file) = (0, 0);
        while let Some(hit) = text.get(from..).and_then(|rest| finder.find(rest)).map(|hit| from + hit) {
            line += gallop(&lines.at[line..], hit as u32);
            while lines.first.get(file + 1).is_some_and(|first| (*first as usize) < line) {
                file += 1;
            }
            found.push(self.named_in(file, line - 1));
            from = lines.at.get(line).map_or(text.len(), |start| *start as usize);
        }
        Some(found)
    }

    /// The symbols whose plain qualified name holds `part`, in any case; maybe others. Ascending.
    /// `None` for what no line says.
    pub fn holding_whole(&self, part: &str) -> Option<Vec<SymbolRef>> {
        if !is_sayable(part) || part.contains(['(', '#']) {
            return None;
        }
        let part = fold(part);
        let hits = Finder::new(&part);
        let mut found: Vec<SymbolRef> = hits.find_iter(self.text.as_bytes()).map(|hit| self.symbol_at(hit)).collect();
        found.dedup();
        Some(found)
    }

    /// Every symbol, or those of one file, in order.
    pub fn each(&self, within: Option<FileIdx>) -> impl Iterator<Item = Named<'_>> {
        let files = match within {
            Some(FileIdx(file)) => file as usize..file as usize + 1,
            None => 0..self.starts.len(),
        };
        let first = &self.lines().first;
        files.flat_map(move |file| {
            (first[file] as usize..first[file + 1] as usize).map(move |line| self.named_in(file, line))
        })
    }

    /// The files with a name that holds `part`, or ends with it as a whole part; ascending.
    pub fn files(&self, part: &str, known: Known) -> Vec<FileIdx> {
        let mut files: Vec<FileIdx> = match known {
            Known::End => self.ending(part).unwrap_or_default().into_iter().map(|at| at.file).collect(),
            Known::Part => {
                let part = fold(part);
                let (finder, text) = (Finder::new(&part), self.text.as_bytes());
                let (mut found, mut from) = (Vec::new(), 0);
                while let Some(hit) = text.get(from..).and_then(|rest| finder.find(rest)) {
                    let file = self.file_at(from + hit);
                    found.push(FileIdx(file as u32));
                    // On to the next file's lines.
                    from = self.starts.get(file + 1).map_or(text.len(), |start| *start as usize);
                }
                found
            }
        };
        files.dedup();
        files
    }

    fn file_at(&self, at: usize) -> usize {
        self.starts.partition_point(|start| (*start as usize) < at) - 1
    }

    /// The symbol whose line holds a byte.
    fn symbol_at(&self, at: usize) -> SymbolRef {
        let file = self.file_at(at);
        let first = self.starts[file] as usize + 1;
        let row = memchr_iter(b'\n', &self.text.as_bytes()[first..at]).count() + 1;
        SymbolRef { file: FileIdx(file as u32), symbol: Id::new(row) }
    }

    fn named_in(&self, file: usize, line: usize) -> Named<'_> {
        let lines = self.lines();
        let start = lines.at[line] as usize;
        let end = lines.at.get(line + 1).map_or(lines.simple.len(), |next| *next as usize) - 1;
        let row = line - lines.first[file] as usize + 1;
        let at = SymbolRef { file: FileIdx(file as u32), symbol: Id::new(row) };
        Named { at, simple: &lines.simple[start..end], mark: self.marks[line] }
    }

    fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::of(&self.text, &self.starts))
    }
}

impl Lines {
    fn of(text: &str, starts: &[u32]) -> Self {
        let mut lines = Lines { simple: "\n".to_owned(), ..Lines::default() };
        let mut starts = starts.iter().peekable();
        let mut start = 1;
        for end in memchr_iter(b'\n', text.as_bytes()).skip(1) {
            while starts.next_if(|first| (**first as usize) < start).is_some() {
                lines.first.push(lines.at.len() as u32);
            }
            let line = &text[start..end];
            let dot = || memrchr(b'.', line.as_bytes());
            let simple = memrchr(b'\t', line.as_bytes()).or_else(dot).map_or(line, |end| &line[end + 1..]);
            lines.at.push(lines.simple.len() as u32);
            lines.simple.push_str(simple);
            lines.simple.push('\n');
            start = end + 1;
        }
        // Files without symbols come last, too.
        let n_left = starts.count();
        lines.first.extend(std::iter::repeat_n(lines.at.len() as u32, n_left + 1));
        lines
    }
}

/// How much of a name is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The simple name, or the qualified one, or whole parts of its end.
    End,
    /// Any part of either.
    Part,
}

fn of_file(facts: &FileFacts) -> (String, Vec<Mark>) {
    let (mut text, mut marks) = (String::new(), Vec::with_capacity(facts.symbols.len()));
    for symbol in facts.symbols.iter().skip(1) {
        let start = text.len();
        let qualname = facts.name(symbol.qualname);
        match qualname.contains(['(', '#']) {
            true => push_folded(&plain(qualname), &mut text),
            false => push_folded(qualname, &mut text),
        }
        let simple = facts.name(symbol.name);
        let last = text[start..].rsplit('.').next().unwrap_or_default();
        let is_last = match simple.is_ascii() {
            true => last.eq_ignore_ascii_case(simple),
            false => last == fold(simple),
        };
        if !is_last {
            text.push('\t');
            push_folded(simple, &mut text);
        }
        let is_odd = !is_last || !text[start..].is_ascii() || qualname.contains(['\n', '\t']);
        text.push('\n');
        marks.push(Mark::of(symbol, is_odd));
    }
    (text, marks)
}

/// Adds a folded text; line ends and tabs of names (keys of objects may have them) as blanks.
fn push_folded(name: &str, text: &mut String) {
    if name.is_ascii() && !name.contains(['\n', '\t']) {
        let start = text.len();
        text.push_str(name);
        text[start..].make_ascii_lowercase();
    } else {
        text.push_str(&fold(name).replace(['\n', '\t'], " "));
    }
}

/// Whether a text can stand in a line.
fn is_sayable(text: &str) -> bool {
    !text.is_empty() && !text.contains(['\n', '\t'])
}

/// How many of ascending numbers are at most `most`, found near the start where they are few.
fn gallop(ascending: &[u32], most: u32) -> usize {
    let mut end = 1;
    while end < ascending.len() && ascending[end] <= most {
        end *= 2;
    }
    let end = end.min(ascending.len());
    ascending[..end].partition_point(|number| *number <= most)
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

#[cfg(test)]
mod tests {
    use super::{Known, Mark, Names, fold, gallop, plain};
    use crate::base::dialect::Dialect;
    use crate::extract::extract;
    use crate::facts::model::SymbolKind;
    use crate::facts::table::Id;
    use crate::view::{FileIdx, SymbolRef};

    fn rows(found: Option<Vec<SymbolRef>>) -> Vec<(u32, usize)> {
        found.unwrap().into_iter().map(|at| (at.file.0, at.symbol.index())).collect()
    }

    fn names(lines: &[&[&str]]) -> Names {
        let mut names = Names { text: "\n".to_owned(), ..Names::default() };
        for file in lines {
            names.starts.push(names.text.len() as u32 - 1);
            file.iter().for_each(|line| names.text.push_str(&format!("{line}\n")));
            names.marks.extend(file.iter().map(|_| Mark(0)));
        }
        names
    }

    #[test]
    fn plain_names_have_no_parameters_and_numbers() {
        assert_eq!(plain("C.put(String,int[])"), "C.put");
        assert_eq!(plain("f#2.g#11"), "f.g");
        assert_eq!(plain("C.<init>(int)"), "C.<init>");
    }

    #[test]
    fn names_are_found_by_parts_and_by_ends() {
        let names = names(&[&["box"], &["box.put", "x"], &[], &["box.put_all"], &["input", "c.<init>\tput"], &[]]);
        let files = |part: &str, known| names.files(part, known).into_iter().map(|FileIdx(at)| at).collect::<Vec<_>>();
        assert_eq!(files("PUT", Known::Part), [1, 3, 4]);
        assert_eq!(files("put", Known::End), [1, 4]);
        assert_eq!(files("box", Known::End), [0]);
        assert_eq!(files("x.put", Known::Part), [1, 3]);
        assert_eq!(files("x.put", Known::End), [0; 0]);
        assert_eq!(files("none", Known::Part), [0; 0]);
        assert_eq!(rows(names.ending("put")), [(1, 1), (4, 2)]);
        assert_eq!(rows(names.ending("c.<init>")), [(4, 2)]);
        assert_eq!(rows(names.holding_whole("ox")), [(0, 1), (1, 1), (3, 1)]);
        let held: Vec<_> = names.holding("u").unwrap().iter().map(|n| (n.at.file.0, n.simple)).collect();
        assert_eq!(held, [(1, "put"), (3, "put_all"), (4, "input"), (4, "put")]);
        assert!(names.holding("o").unwrap().iter().map(|n| n.simple).eq(["box"]), "owners are no simple names");
        assert!(names.ending("put(int)").is_none() && names.holding("").is_none());
        let all: Vec<_> = names.each(None).map(|n| (n.at.file.0, n.at.symbol.index())).collect();
        assert_eq!(all, [(0, 1), (1, 1), (1, 2), (3, 1), (4, 1), (4, 2)]);
        assert_eq!(names.each(Some(FileIdx(2))).count() + names.each(Some(FileIdx(5))).count(), 0);
    }

    #[test]
    fn lines_say_what_the_facts_say() {
        let java = extract(Dialect::Java, b"class Ab { Ab(int x) {} void put(int a) {} void put(String s) {} }");
        let python = extract(Dialect::Py, "class É:\n    def ΑΣ(self):\n        def inner(): pass\n".as_bytes());
        let names = Names::of(&[&java, &python]);
        for (file, facts) in [&java, &python].into_iter().enumerate() {
            for named in names.each(Some(FileIdx(file as u32))) {
                let symbol = facts.symbol(named.at.symbol);
                assert_eq!(named.simple, fold(facts.name(symbol.name)));
                assert_eq!(named.mark.kind().0, symbol.kind);
            }
        }
        assert_eq!(names.ending("ab.put").unwrap().len(), 2);
        assert!(names.each(Some(FileIdx(1))).filter(|named| named.mark.is_local()).map(|n| n.simple).eq(["inner"]));
        assert!(names.each(Some(FileIdx(1))).all(|named| named.mark.is_odd()), "not ASCII");
        assert!(names.each(Some(FileIdx(0))).any(|named| named.mark.kind() == (SymbolKind::Class, false)));
    }

    #[test]
    fn folding_does_not_look_around() {
        assert_eq!(fold("ΑΣ.Σ"), fold("ας.σ"));
    }

    #[test]
    fn few_are_counted_near_the_start() {
        let numbers = [1, 3, 5, 7, 9, 11];
        for most in 0..13 {
            assert_eq!(gallop(&numbers, most), numbers.iter().filter(|n| **n <= most).count(), "{most}");
        }
        assert_eq!(gallop(&[], 3), 0);
    }
}
