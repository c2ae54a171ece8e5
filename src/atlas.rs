//! An atlas: one tree, linked. Immutable; every tool answers from one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::lazy::Lazy;
use crate::base::path::RepoPath;
use crate::extract::redact::Redactor;
use crate::facts::model::FileFacts;
use crate::git::log::{Log, Version};
use crate::graph::edge::Graph;
use crate::view::View;

/// One immutable tree with its graph.
#[derive(Debug)]
pub struct Atlas {
    pub view: Arc<View>,
    /// There from the start, or read when first asked for.
    pub graph: Lazy<Graph>,
    pub header: Header,
}

/// Which tree an answer speaks of; printed in its first line.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Header {
    /// The repository's folder name (never an absolute path).
    pub repository: String,
    /// HEAD's commit in hex, `None` before the first commit or outside git.
    pub commit: Option<String>,
    /// Names the files with their bytes and modes: equal for equal trees, wherever they lie. Empty where
    /// that is not known.
    pub tree: String,
    /// How many files differ from HEAD's tree.
    pub n_dirty: usize,
    /// Whether something was still to be indexed when the answer was asked for.
    pub n_pending: usize,
}

/// Where tools get atlases from: the session in production, in-memory trees in tests.
pub trait AtlasSource {
    /// The tree as it is now, uncommitted edits included.
    ///
    /// # Errors
    /// `NotARepository`, `Git`, `Io`, `Store`.
    fn fresh(&self) -> Result<Arc<Atlas>>;

    /// The folder that paths are of, for arguments that name it; `None` for trees in memory.
    fn root(&self) -> Option<std::path::PathBuf> {
        None
    }

    /// The tree as it is now, as far as it is indexed: nothing is extracted, and `n_pending` of its
    /// header counts what is missing.
    ///
    /// # Errors
    /// As `fresh`.
    fn indexed(&self) -> Result<Arc<Atlas>> {
        self.fresh()
    }

    /// Makes ready for edits and processes to come, at leisure; answers nothing.
    fn prepare(&self) {}

    /// A tree of before, for who cannot wait: `n_pending` of its header counts the files that are
    /// other now. As it is, where that is not known.
    ///
    /// # Errors
    /// As `fresh`.
    fn held(&self, atlas: &Arc<Atlas>) -> Result<Arc<Atlas>> {
        Ok(Arc::clone(atlas))
    }

    /// The facts that a path had in HEAD's tree when an atlas of the worktree was made; `None`
    /// where it had none, or that is not known.
    ///
    /// # Errors
    /// `Git` and `Store`.
    fn committed(&self, atlas: &Atlas, path: &RepoPath) -> Result<Option<Arc<FileFacts>>> {
        let _ = (atlas, path);
        Ok(None)
    }

    /// The tree of a revision (`HEAD~3`, a branch, a tag, a commit).
    ///
    /// # Errors
    /// As `fresh`, and `UnknownRevision` with the command that fetches it when the clone is shallow.
    fn at(&self, revision: &str) -> Result<Arc<Atlas>>;

    /// The tree of git's index: what the next commit would hold.
    ///
    /// # Errors
    /// As `fresh`, and `CannotAnswer` where there is none, or it holds an open conflict.
    fn staged(&self) -> Result<Arc<Atlas>> {
        Err(Error::new(ErrorKind::CannotAnswer, "nothing is staged here: there is no index"))
    }

    /// The files of two atlases of this source whose bytes are equal and whose mode is not, sorted.
    fn changed_modes(&self, _base: &Atlas, _head: &Atlas) -> Vec<RepoPath> {
        Vec::new()
    }

    /// The best merge base of two revisions.
    ///
    /// # Errors
    /// `UnknownRevision` when there is none (then never an empty answer).
    fn merge_base(&self, one: &str, other: &str) -> Result<String>;

    /// The bytes of a file of the view an atlas was made from, as git stores them.
    ///
    /// # Errors
    /// `Io`, `Git`.
    fn read(&self, atlas: &Atlas, path: &RepoPath) -> Result<Vec<u8>>;

    /// What takes secrets out of the lines of files that answers show.
    fn redactor(&self) -> &Redactor {
        Redactor::built_in()
    }

    /// The latest commits of the tree that an atlas was made from; none outside of git.
    ///
    /// # Errors
    /// `Git`, `UnknownRevision`.
    fn log(&self, _atlas: &Atlas) -> Result<Arc<Log>> {
        Ok(Arc::default())
    }

    /// What a commit made of a file.
    ///
    /// # Errors
    /// `Git`; `NotARepository` where there is no history.
    fn version(&self, _commit: &str, _path: &RepoPath) -> Result<Version> {
        Err(Error::new(ErrorKind::NotARepository, "this tree has no history"))
    }

    /// Adds to counters that outlive the process; nowhere for trees in memory.
    fn count(&self, _added: &BTreeMap<String, f64>) {}

    /// The sums of what processes counted, by series.
    fn counters(&self) -> BTreeMap<String, f64> {
        BTreeMap::new()
    }

    /// How much the store holds; `None` where there is none (trees in memory).
    fn store(&self) -> Option<StoreFigures> {
        None
    }
}

/// The size of a store, all trees of the repository together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct StoreFigures {
    pub n_objects: usize,
    pub n_bytes: u64,
}
