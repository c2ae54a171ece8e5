//! A view: the files of one tree with their facts, base and dirty overlay already laid over
//! each other. Dense indices; nothing here is linked.

pub mod directory;
pub mod names;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::dialect::Dialect;
use crate::base::id::BlobId;
use crate::base::lazy::Lazy;
use crate::base::path::RepoPath;
use crate::base::reads::{self, Read};
use crate::facts::model::{FileFacts, Symbol, SymbolId};
use crate::facts::table::Id;
use crate::scip::program::Program;
use crate::view::directory::{Directory, Made};

/// The index of a file in [`View::files`]. Dense, valid in one view only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIdx(pub u32);

/// A symbol of a view: file and row. Orders as (path, row).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolRef {
    pub file: FileIdx,
    pub symbol: SymbolId,
}

/// An indexed file.
#[derive(Clone, Debug)]
pub struct ViewFile {
    pub path: RepoPath,
    pub blob: BlobId,
    pub dialect: Dialect,
    /// There from the start, or read when first asked for.
    pub facts: Lazy<FileFacts>,
    /// Whether the bytes are not those of HEAD's tree.
    pub dirty: bool,
}

/// A file of the tree that has no facts, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherFile {
    pub path: RepoPath,
    pub blob: BlobId,
    /// Whether the bytes are not those of HEAD's tree.
    pub dirty: bool,
    pub reason: SkipReason,
}

/// Why a file of the tree has no facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// Of no language that is indexed (documents, data, other languages).
    Language,
    /// `[index] exclude`, or outside of `include` or `languages`.
    Excluded,
    /// Private by rule: `.env*`, keys, `secrets/` (PRODUCT.md §8). Never opened.
    Private,
    TooLarge,
    Minified,
    Generated,
    Binary,
    Symlink,
    Submodule,
    /// A git-lfs pointer.
    Lfs,
    /// Dirty, and under an external filter driver that is never run.
    Filter,
    /// Could not be read.
    Unreadable,
    /// The per-file work budget was spent.
    Budget,
}

impl SkipReason {
    /// Every reason.
    pub const ALL: [SkipReason; 13] = [
        SkipReason::Language,
        SkipReason::Excluded,
        SkipReason::Private,
        SkipReason::TooLarge,
        SkipReason::Minified,
        SkipReason::Generated,
        SkipReason::Binary,
        SkipReason::Symlink,
        SkipReason::Submodule,
        SkipReason::Lfs,
        SkipReason::Filter,
        SkipReason::Unreadable,
        SkipReason::Budget,
    ];

    /// Reads a stable code back.
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == code)
    }

    /// The stable code in outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            SkipReason::Language => "language",
            SkipReason::Excluded => "excluded",
            SkipReason::Private => "private",
            SkipReason::TooLarge => "too_large",
            SkipReason::Minified => "minified",
            SkipReason::Generated => "generated",
            SkipReason::Binary => "binary",
            SkipReason::Symlink => "symlink",
            SkipReason::Submodule => "submodule",
            SkipReason::Lfs => "lfs",
            SkipReason::Filter => "filter",
            SkipReason::Unreadable => "unreadable",
            SkipReason::Budget => "budget",
        }
    }
}

/// One tree with the facts of its files. Immutable.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Sorted by path, unique.
    pub files: Vec<ViewFile>,
    /// Sorted by path, unique, disjoint from `files`.
    pub others: Vec<OtherFile>,
    /// The bytes of configuration that linking and test recognition read (tsconfig, jsconfig,
    /// package.json, pnpm-workspace.yaml, pyproject.toml, setup.cfg, setup.py, pytest.ini,
    /// tox.ini, pom.xml, build.gradle, settings.gradle, jest/vitest configs), by path.
    pub config: BTreeMap<RepoPath, Arc<[u8]>>,
    /// What compilers said of trees like this one; linking asks the first that holds for a file.
    pub compilers: Vec<Arc<Program>>,
    /// What was kept of an equal view, where it was; answers do not hang on it.
    pub directory: Option<Arc<Directory>>,
    /// What of a directory was asked for where nothing was kept.
    pub made: Made,
}

impl View {
    /// The file at an index.
    #[inline]
    pub fn file(&self, file: FileIdx) -> &ViewFile {
        reads::note(Read::outline(file.0));
        &self.files[file.0 as usize]
    }

    /// The facts of a file.
    #[inline]
    pub fn facts(&self, file: FileIdx) -> &FileFacts {
        &self.file(file).facts
    }

    /// The dialect of a file, which is a matter of its name: no look at what is in it.
    #[inline]
    pub fn dialect(&self, file: FileIdx) -> Dialect {
        self.files[file.0 as usize].dialect
    }

    /// The path of a file: no look at what is in it.
    #[inline]
    pub fn path(&self, file: FileIdx) -> &RepoPath {
        &self.files[file.0 as usize].path
    }

    /// The facts of a file for who looks only at what it declares under which names: scopes,
    /// imports, exports, decorators, the kinds and flags of symbols. Not at what a symbol is declared to be.
    #[inline]
    pub fn names_of(&self, file: FileIdx) -> &FileFacts {
        reads::note(Read::names(file.0));
        &self.files[file.0 as usize].facts
    }

    /// The facts of a file for who looks only at what a symbol of it is declared to be: its row,
    /// parameters, type parameters, bases, decorators, its type, all trees below these.
    #[inline]
    pub fn declared(&self, at: SymbolRef) -> &FileFacts {
        reads::note(Read::row(at.file.0, at.symbol.index() as u32));
        &self.files[at.file.0 as usize].facts
    }

    /// The facts of a file for who walks down from a row that was looked at already: no look of its own.
    #[inline]
    pub fn below(&self, file: FileIdx) -> &FileFacts {
        &self.files[file.0 as usize].facts
    }

    /// Finds a file by its path. O(log n).
    pub fn find(&self, path: &str) -> Option<FileIdx> {
        self.files.binary_search_by(|f| f.path.as_str().cmp(path)).ok().map(|at| FileIdx(at as u32))
    }

    /// The row of a symbol.
    #[inline]
    pub fn symbol(&self, at: SymbolRef) -> &Symbol {
        self.declared(at).symbol(at.symbol)
    }

    /// The qualified name of a symbol within its file.
    pub fn qualname(&self, at: SymbolRef) -> &str {
        let facts = self.declared(at);
        facts.name(facts.symbol(at.symbol).qualname)
    }

    /// The indices of all files, in order of path.
    pub fn indices(&self) -> impl Iterator<Item = FileIdx> + use<> {
        (0..self.files.len() as u32).map(FileIdx)
    }
}
