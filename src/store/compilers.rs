//! Compilers' answers beside the shards: one file an index, named by the index's digest, written
//! once. A few are kept; the least lately taken goes first.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crate::base::error::Result;
use crate::base::id::Digest;
use crate::scip::program::Program;
use crate::store::objects::Store;

/// The most indexes that are kept: those of a few languages on a few branches.
pub const MAX_PROGRAMS: usize = 8;

/// The largest file that is read.
const MAX_BYTES: u64 = 1 << 30;

impl Store {
    /// Keeps a compiler's answers.
    ///
    /// # Errors
    /// `Store`, when the folder cannot be written.
    pub fn put_program(&self, program: &Program) -> Result<()> {
        self.write(&self.program_path(&program.digest), &program.encode())?;
        let mut kept: Vec<(SystemTime, PathBuf)> = self
            .program_files()
            .into_iter()
            .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
            .collect();
        kept.sort();
        for (_, path) in &kept[..kept.len().saturating_sub(MAX_PROGRAMS)] {
            // Failing to leaves one more than needed.
            let _ = fs::remove_file(path);
        }
        Ok(())
    }

    /// Whether the answers of an index are kept.
    pub fn has_program(&self, digest: &Digest) -> bool {
        self.program_path(digest).is_file()
    }

    /// The names of the indexes that are kept, sorted.
    pub fn program_names(&self) -> Vec<String> {
        let stem = |path: PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
        self.program_files().into_iter().filter_map(stem).collect()
    }

    /// Every answer that is kept and whole, by name.
    pub fn programs(&self) -> Vec<Arc<Program>> {
        self.program_files()
            .iter()
            .filter(|path| fs::metadata(path).is_ok_and(|metadata| metadata.len() <= MAX_BYTES))
            .filter_map(|path| Program::decode(&fs::read(path).ok()?))
            .map(Arc::new)
            .collect()
    }

    /// Forgets what compilers said; says of how many indexes.
    ///
    /// # Errors
    /// `Store`, when a file cannot be removed.
    pub fn drop_programs(&self) -> Result<usize> {
        let files = self.program_files();
        for path in &files {
            fs::remove_file(path).map_err(|cause| self.error("remove a file of").source(cause))?;
        }
        Ok(files.len())
    }

    fn program_path(&self, digest: &Digest) -> PathBuf {
        self.dir().join("compilers").join(format!("{digest}.program"))
    }

    fn program_files(&self) -> Vec<PathBuf> {
        let folder = fs::read_dir(self.dir().join("compilers")).into_iter().flatten();
        let mut files: Vec<PathBuf> = folder
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "program"))
            .collect();
        files.sort();
        files
    }
}
