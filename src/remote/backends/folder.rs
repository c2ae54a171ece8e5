//! A remote in a folder: on this machine, or mounted.

use std::fs::{self, File};
use std::io::{self, ErrorKind as Io, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::base::error::{Error, ErrorKind, Result};
use crate::remote::backends::backend::{Backend, Fault, Found, Listed, Outcome, Put};

/// A folder of files.
pub struct Folder {
    dir: PathBuf,
}

impl Folder {
    /// The folder `dir`; it is made at the first write.
    pub fn new(dir: &Path) -> Self {
        Folder { dir: dir.to_owned() }
    }

    /// The folder of what follows `file://`.
    ///
    /// # Errors
    /// `Usage` for another machine's folder.
    pub fn of_url(rest: &str) -> Result<Self> {
        let path = rest.strip_prefix("localhost").unwrap_or(rest);
        if !path.starts_with('/') {
            let what = format!("`file://{rest}` names another machine");
            return Err(Error::new(ErrorKind::Usage, what).hint("write file:///folder, or the folder alone"));
        }
        Ok(Folder { dir: PathBuf::from(decode(path)) })
    }

    fn write(&self, name: &str, bytes: &[u8], place: impl FnOnce(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
        let path = self.dir.join(name);
        let parent = path.parent().unwrap_or(&self.dir);
        fs::create_dir_all(parent)?;
        // Beside its place, so that it can be linked; a name no other process takes.
        let tmp = parent.join(format!(".{}-{}.tmp", std::process::id(), next()));
        let written = File::create_new(&tmp).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        let placed = written.and_then(|()| place(&tmp, &path));
        let _ = fs::remove_file(&tmp);
        placed
    }
}

impl Backend for Folder {
    fn address(&self) -> String {
        self.dir.display().to_string()
    }

    fn read(&self, name: &str, range: Range<u64>, sink: &mut dyn Write) -> Outcome<Found> {
        let mut file = match File::open(self.dir.join(name)) {
            Ok(file) => file,
            Err(cause) if matches!(cause.kind(), Io::NotFound | Io::NotADirectory) => {
                // A remote that is not there at all is no empty remote.
                return match self.dir.is_dir() {
                    true => Ok(Found::No),
                    false => Err(Fault::lasting("there is no such folder")),
                };
            }
            Err(cause) => return Err(fault(cause)),
        };
        file.seek(SeekFrom::Start(range.start)).map_err(fault)?;
        io::copy(&mut file.take(range.end.saturating_sub(range.start)), sink).map_err(fault)?;
        Ok(Found::Yes)
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Outcome<Put> {
        if self.dir.join(name).is_file() {
            return Ok(Put::WasThere);
        }
        let place = |tmp: &Path, path: &Path| match fs::hard_link(tmp, path) {
            // File systems without links: the last of two writers wins, with equal content.
            Err(cause) if cause.kind() != Io::AlreadyExists => fs::rename(tmp, path),
            linked => linked,
        };
        match self.write(name, bytes, place) {
            Ok(()) => Ok(Put::Written),
            Err(cause) if cause.kind() == Io::AlreadyExists => Ok(Put::WasThere),
            Err(cause) => Err(fault(cause)),
        }
    }

    fn put_over(&self, name: &str, bytes: &[u8]) -> Outcome<()> {
        self.write(name, bytes, |tmp, path| fs::rename(tmp, path)).map_err(fault)
    }

    fn list(&self, folder: &str) -> Outcome<Vec<Listed>> {
        let mut listed = Vec::new();
        let mut todo = vec![folder.trim_end_matches('/').to_owned()];
        while let Some(folder) = todo.pop() {
            let entries = match fs::read_dir(self.dir.join(&folder)) {
                Ok(entries) => entries,
                Err(cause) if cause.kind() == Io::NotFound => continue,
                Err(cause) => return Err(fault(cause)),
            };
            for entry in entries {
                let entry = entry.map_err(fault)?;
                let Ok(part) = entry.file_name().into_string() else { continue };
                let name = format!("{folder}/{part}");
                let metadata = entry.metadata().map_err(fault)?;
                if metadata.is_dir() {
                    todo.push(name);
                } else if metadata.is_file() {
                    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                    let changed_seconds = changed.map_or(0, |since| since.as_secs());
                    listed.push(Listed { name, len_bytes: metadata.len(), changed_seconds });
                }
            }
        }
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listed)
    }

    fn remove(&self, name: &str) -> Outcome<()> {
        match fs::remove_file(self.dir.join(name)) {
            Err(cause) if cause.kind() != Io::NotFound => Err(fault(cause)),
            _ => Ok(()),
        }
    }
}

fn fault(cause: io::Error) -> Fault {
    match cause.kind() {
        Io::Interrupted | Io::TimedOut | Io::WouldBlock => Fault::passing(cause),
        _ => Fault::lasting(cause),
    }
}

fn next() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A path with its `%20` and the like resolved.
fn decode(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match hex.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
