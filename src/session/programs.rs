//! What compilers said, as a session takes it: SCIP files placed on its files, and laid over views.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::Digest;
use crate::git::read::Reader;
use crate::git::snapshot::Snapshot;
use crate::index::build::Missing;
use crate::index::compiler::{self, Placing};
use crate::scip::index::{self, Index, MAX_BYTES};
use crate::scip::program::Program;
use crate::session::{Session, State};
use crate::view::{View, ViewFile};

impl Session {
    /// Takes what a SCIP file says of the tree as it is now, beside the shards.
    ///
    /// # Errors
    /// `Usage` for a file that is no SCIP index, `Io` for one that cannot be read; `CannotAnswer`
    /// where none of its documents fits a file of the tree; else as [`Session::index`].
    pub fn take_scip(&self, file: &Path) -> Result<(Placing, String)> {
        let (index, digest) = read_scip(file)?;
        let mut state = self.state();
        let (snapshot, built) = self.build_worktree(&mut state, Missing::Extract)?;
        let (program, placing) = self.place(&index, digest, &snapshot, &built.view);
        if program.documents.is_empty() {
            let what = format!("no document of `{}` fits a file of this tree", file.display());
            return Err(Error::new(ErrorKind::CannotAnswer, what)
                .hint("run the indexer at the repository's root, on the tree as it is now"));
        }
        self.facts.store.put_program(&program)?;
        Ok((placing, program.tool))
    }

    /// Forgets what compilers said; says of how many indexes.
    ///
    /// # Errors
    /// `Store`.
    pub fn drop_scip(&self) -> Result<usize> {
        self.facts.store.drop_programs()
    }

    /// Places an index on the files of a view of a snapshot.
    fn place(&self, index: &Index, digest: Digest, snapshot: &Snapshot, view: &View) -> (Program, Placing) {
        let reader = RefCell::new(Reader::new(&self.facts.repo));
        compiler::place(index, digest, view, |path| {
            let entry = snapshot.find(path.as_str())?;
            reader.borrow_mut().read(entry).ok()
        })
    }

    /// Takes the SCIP files of the configuration that have not been taken yet. One that is not
    /// there, or is none, is passed over with a warning: links are found without it.
    pub(super) fn take_configured(&self, state: &mut State, snapshot: &Snapshot, view: &View) {
        if std::mem::replace(&mut state.has_taken, true) {
            return;
        }
        for file in &self.scip {
            let taken = scip_bytes(file).and_then(|bytes| {
                let digest = Digest::of(&bytes);
                if self.facts.store.has_program(&digest) {
                    return Ok(());
                }
                let (program, _) = self.place(&index::read(&bytes)?, digest, snapshot, view);
                self.facts.store.put_program(&program)
            });
            if let Err(error) = taken {
                tracing::warn!("linked without `{}`: {error}", file.display());
            }
        }
        self.read_programs(state);
    }

    /// Reads what compilers said where that has changed; then no atlas made before holds.
    pub(super) fn read_programs(&self, state: &mut State) {
        let names = self.facts.store.program_names();
        if names == state.programs.0 {
            return;
        }
        state.programs = (names, self.facts.store.programs());
        state.fresh = None;
        state.trees.clear();
    }

    /// Gives a view what compilers said: the index that fits most of its files first.
    pub(super) fn lay_programs(&self, state: &mut State, view: &mut View) {
        self.read_programs(state);
        let mut programs: Vec<(usize, Arc<Program>)> = state
            .programs
            .1
            .iter()
            .map(|program| {
                let fits = |file: &&ViewFile| program.find(&file.path, file.blob, file.dialect).is_some();
                (view.files.iter().filter(fits).count(), Arc::clone(program))
            })
            .filter(|(n_fit, _)| *n_fit > 0)
            .collect();
        programs.sort_by_key(|(n_fit, program)| (std::cmp::Reverse(*n_fit), program.digest));
        view.compilers = programs.into_iter().map(|(_, program)| program).collect();
    }
}

/// Reads a SCIP file; gives the digest of its bytes too.
///
/// # Errors
/// `Usage` for a file that is no SCIP index, `Io` for one that cannot be read.
pub fn read_scip(file: &Path) -> Result<(Index, Digest)> {
    let bytes = scip_bytes(file)?;
    Ok((index::read(&bytes)?, Digest::of(&bytes)))
}

fn scip_bytes(file: &Path) -> Result<Vec<u8>> {
    let shown = file.display();
    let unread = |cause| {
        Error::new(ErrorKind::Io, format!("cannot read `{shown}`"))
            .hint("give the index.scip that an indexer wrote")
            .source(cause)
    };
    let metadata = std::fs::metadata(file).map_err(unread)?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        let what = format!("`{shown}` is no file, or larger than {MAX_BYTES} bytes");
        return Err(Error::new(ErrorKind::Usage, what).hint("give the index.scip that an indexer wrote"));
    }
    std::fs::read(file).map_err(unread)
}
