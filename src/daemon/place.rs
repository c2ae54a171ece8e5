//! Where the daemon of a worktree listens.

use std::path::{Path, PathBuf};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::Digest;

/// The longest path of a socket: 108 bytes with its end on Linux, 104 on macOS.
const MAX_SOCKET_PATH: usize = 100;

/// The files of one worktree's daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it listens; mode 0600 in a folder of mode 0700.
    pub socket: PathBuf,
    /// Held locked by the daemon for as long as it lives, by the kernel's hand.
    pub lock: PathBuf,
    /// What it says, overwritten at each start.
    pub log: PathBuf,
}

impl Place {
    /// The place for the worktree at `root`: in the store's folder, or, where the path would be
    /// too long for a socket, in the user's runtime folder, else in one of the user's own below
    /// the folder for temporary files.
    pub fn of(root: &Path, store: &Path) -> Self {
        let key = Digest::of_parts([root.as_os_str().as_encoded_bytes(), store.as_os_str().as_encoded_bytes()]);
        let name = format!("{:016x}", key.short());
        let folder = store.join("daemon");
        let fits = |folder: &Path| folder.join(format!("{name}.sock")).as_os_str().len() <= MAX_SOCKET_PATH;
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
        let candidates = [Some(folder.clone()), runtime.map(|folder| folder.join("ratlas"))];
        let temporary = || std::env::temp_dir().join(format!("ratlas-{}", owner_of(store)));
        let folder = candidates.into_iter().flatten().find(|folder| fits(folder)).unwrap_or_else(temporary);
        let file = |extension: &str| folder.join(format!("{name}.{extension}"));
        Place { socket: file("sock"), lock: file("lock"), log: file("log") }
    }

    /// Makes the folder, closed to others.
    ///
    /// # Errors
    /// `Io` when it cannot be made; `CannotAnswer` when it is another user's or open to others,
    /// or the socket's path is too long everywhere.
    pub fn make_folder(&self) -> Result<()> {
        let folder = self.socket.parent().unwrap_or(&self.socket);
        let shown = folder.display();
        if self.socket.as_os_str().len() > MAX_SOCKET_PATH {
            return Err(Error::new(ErrorKind::CannotAnswer, format!("`{shown}` is too long a path for a socket"))
                .hint("set RATLAS_STORE or XDG_RUNTIME_DIR to a folder with a shorter path"));
        }
        make_private(folder).map_err(|cause| {
            Error::new(ErrorKind::Io, format!("cannot make the daemon's folder `{shown}`"))
                .hint("set RATLAS_STORE to a folder that you can write")
                .source(cause)
        })?;
        if is_private(folder) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::CannotAnswer, format!("the daemon's folder `{shown}` is not yours alone"))
            .hint("remove it, or `chmod 700` it if it is yours"))
    }
}

#[cfg(unix)]
fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Whether a folder is a real one, of whoever runs this, and closed to others. Who runs this is
/// told by whose a new file in it is.
#[cfg(unix)]
fn is_private(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let Ok(metadata) = folder.symlink_metadata() else { return false };
    let own = tempfile::tempfile_in(folder).and_then(|file| file.metadata()).map(|file| file.uid());
    metadata.is_dir() && metadata.mode() & 0o077 == 0 && own.is_ok_and(|own| own == metadata.uid())
}

#[cfg(unix)]
fn owner_of(folder: &Path) -> u32 {
    use std::os::unix::fs::MetadataExt;
    folder.metadata().map_or(0, |metadata| metadata.uid())
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)
}

#[cfg(not(unix))]
fn is_private(_folder: &Path) -> bool {
    true
}

#[cfg(not(unix))]
fn owner_of(_folder: &Path) -> u32 {
    0
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{MAX_SOCKET_PATH, Place};

    #[test]
    fn a_long_store_path_gives_a_short_socket() {
        let near = Place::of(Path::new("/work/project"), Path::new("/home/a/.cache/ratlas/0123456789abcdef"));
        assert!(near.socket.starts_with("/home/a/.cache/ratlas/0123456789abcdef/daemon"));
        let deep = format!("/home/{}", "deep/".repeat(40));
        let far = Place::of(Path::new("/work/project"), Path::new(&deep));
        assert!(far.socket.as_os_str().len() <= MAX_SOCKET_PATH);
        assert_ne!(far.socket.file_name(), Place::of(Path::new("/work/other"), Path::new(&deep)).socket.file_name());
    }
}
