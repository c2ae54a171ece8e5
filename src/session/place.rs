//! Where the store of a repository lies.

use std::path::PathBuf;

use crate::base::error::Result;
use crate::git::repo::Repo;
use crate::session::SessionOptions;
use crate::store::objects::Store;

/// Opens the store where `RATLAS_STORE` or the options place it, else below the user's cache folder,
/// where all worktrees of a repository share one. A user without a folder to write in (a container
/// of a pipeline) has one for this process alone.
pub(super) fn open_store(repo: &Repo, options: &SessionOptions) -> Result<Store> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(folder) = variable("RATLAS_STORE").or_else(|| options.store.clone()) {
        return Store::open(&folder);
    }
    let cache = variable("XDG_CACHE_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| variable("HOME").map(|home| home.join(".cache")))
        .or_else(|| variable("LOCALAPPDATA"));
    if let Some(Ok(store)) = cache.map(|cache| Store::open(&cache.join("ratlas").join(repo.key()))) {
        return Ok(store);
    }
    tracing::warn!("no cache folder to write in: what is indexed is forgotten after this; set RATLAS_STORE to keep it");
    Store::temporary()
}

/// The folder of the store of a repository: `RATLAS_STORE`, the one that is set, or below the
/// user's cache folder; `None` for a user without one, whose store is for one process alone.
pub fn store_folder(repo: &Repo, set: Option<PathBuf>) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    variable("RATLAS_STORE").or(set).or_else(|| {
        let cache = variable("XDG_CACHE_HOME")
            .filter(|folder| folder.is_absolute())
            .or_else(|| variable("HOME").map(|home| home.join(".cache")))
            .or_else(|| variable("LOCALAPPDATA"))?;
        Some(cache.join("ratlas").join(repo.key()))
    })
}
