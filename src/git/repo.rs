//! Finding a repository from a folder, or taking the folder as it is where there is none.

use std::path::{Path, PathBuf};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::Digest;

/// A repository, or a folder without git. Cheap to share between threads.
pub struct Repo {
    git: Option<gix::ThreadSafeRepository>,
    root: PathBuf,
}

impl Repo {
    /// Finds the repository that `dir` lies in (a worktree, linked or not, a submodule, a bare
    /// repository), else takes `dir` as a folder without git.
    ///
    /// # Errors
    /// `NotARepository` when `dir` is no folder, or when what would be indexed is a home folder
    /// or the root of the file system; `Git` when there is a repository that cannot be read.
    pub fn open(dir: &Path) -> Result<Self> {
        let shown = dir.display();
        let dir = dir.canonicalize().ok().filter(|d| d.is_dir()).ok_or_else(|| {
            Error::new(ErrorKind::NotARepository, format!("no folder `{shown}`"))
                .hint("give the folder of a repository: `ratlas -C DIR …`")
        })?;
        let git = match gix::ThreadSafeRepository::discover(&dir) {
            Ok(git) => Some(git),
            Err(source) if dir.ancestors().any(|d| d.join(".git").exists()) => {
                return Err(Error::new(ErrorKind::Git, format!("cannot open the git repository of `{shown}`"))
                    .hint("`git status` there says more")
                    .source(source));
            }
            Err(_) => None,
        };
        let root = match &git {
            Some(git) => git.work_dir().unwrap_or(git.git_dir()).to_owned(),
            None => dir.clone(),
        };
        let root = root.canonicalize().unwrap_or(root);
        refuse_wide(&root)?;
        Ok(Repo { git, root })
    }

    /// The folder that paths are relative to; the git folder itself for a bare repository.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder's name, which answers print as the repository's.
    pub fn name(&self) -> String {
        self.root.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
    }

    /// Whether there is git at all.
    pub fn has_git(&self) -> bool {
        self.git.is_some()
    }

    /// Names what all worktrees of one repository share: 16 hex digits over the common git folder.
    pub fn key(&self) -> String {
        let common = match &self.git {
            Some(git) => git.to_thread_local().common_dir().to_owned(),
            None => self.root.clone(),
        };
        let common = common.canonicalize().unwrap_or(common);
        format!("{:016x}", Digest::of(common.as_os_str().as_encoded_bytes()).short())
    }

    /// A handle for this thread.
    ///
    /// # Errors
    /// `NotARepository` in a folder without git.
    pub(crate) fn local(&self) -> Result<gix::Repository> {
        match &self.git {
            Some(git) => Ok(git.to_thread_local()),
            None => Err(Error::new(ErrorKind::NotARepository, format!("`{}` is not a git repository", self.name()))
                .hint("run `git init` and commit, or give another folder with `-C DIR`")),
        }
    }

    /// How ids are made here: SHA-1 without git.
    pub(crate) fn hash_kind(&self) -> gix::hash::Kind {
        self.git.as_ref().map_or(gix::hash::Kind::Sha1, |git| git.to_thread_local().object_hash())
    }
}

/// Refuses folders that hold everything: a home folder, the root of the file system.
fn refuse_wide(root: &Path) -> Result<()> {
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
    let is_home = home.and_then(|h| h.canonicalize().ok()).is_some_and(|h| h == root);
    if is_home || root.parent().is_none() {
        let what = if is_home { "the home folder" } else { "the root of the file system" };
        return Err(Error::new(ErrorKind::NotARepository, format!("{what} is not indexed"))
            .hint("give the folder of one project: `ratlas -C DIR …`"));
    }
    Ok(())
}
