//! Moving bytes with patience: trying again where that may help, going on where a transfer broke
//! off, and never more bytes than expected. What was moved is checked by whoever asked for it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::Digest;
use crate::remote::backends::backend::{Backend, Fault, Found, Listed, Outcome, Put};

/// How often a thing is tried, and how long the first pause is; each next one is twice as long.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub n_tries: u32,
    pub first_pause: Duration,
}

impl Default for Patience {
    /// Five tries over three seconds: a guess, long enough for a restarted proxy.
    fn default() -> Self {
        Patience { n_tries: 5, first_pause: Duration::from_millis(200) }
    }
}

/// The most tries that brought some bytes each: a server that drips is left.
const MAX_TRIES: u32 = 100;

/// A remote and how it is dealt with.
pub struct Transfer<'b> {
    backend: &'b dyn Backend,
    patience: Patience,
    n_received: AtomicU64,
    n_sent: AtomicU64,
}

impl<'b> Transfer<'b> {
    /// Deals with a backend.
    pub fn new(backend: &'b dyn Backend, patience: Patience) -> Self {
        Transfer { backend, patience, n_received: AtomicU64::new(0), n_sent: AtomicU64::new(0) }
    }

    /// The remote's address, for messages.
    pub fn address(&self) -> String {
        self.backend.address()
    }

    /// Bytes received so far.
    pub fn n_received(&self) -> u64 {
        self.n_received.load(Ordering::Relaxed)
    }

    /// Bytes sent so far.
    pub fn n_sent(&self) -> u64 {
        self.n_sent.load(Ordering::Relaxed)
    }

    /// Reads a small file; `None` where there is none, or it is larger than `max`.
    ///
    /// # Errors
    /// `Remote`, when it is out of reach.
    pub fn small(&self, name: &str, max: u64) -> Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let found = self.read(name, 0..max + 1, &mut bytes)?;
        Ok((found == Found::Yes && bytes.len() as u64 <= max).then_some(bytes))
    }

    /// Reads a part of a file that has a known digest; `None` where the file is not there or is
    /// another one, also when asked again.
    ///
    /// # Errors
    /// `Remote`, when it is out of reach.
    pub fn part(&self, name: &str, range: Range<u64>, digest: &Digest) -> Result<Option<Vec<u8>>> {
        for _ in 0..2 {
            let mut bytes = Vec::new();
            if self.read(name, range.clone(), &mut bytes)? == Found::No {
                return Ok(None);
            }
            if Digest::of(&bytes) == *digest {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// Reads a whole file of known size and digest into a file in `folder`, going on with what an
    /// earlier try left there; gives that file. `None` where it is not there or is another one.
    ///
    /// # Errors
    /// `Remote`, when it is out of reach; what has come by then is kept. `Store`, when `folder`
    /// cannot be written.
    pub fn whole(&self, name: &str, len_bytes: u64, digest: &Digest, folder: &Path) -> Result<Option<PathBuf>> {
        let kept = folder.join(format!("{digest}.part"));
        // Renaming claims the part: of two processes one goes on with it, the other begins anew.
        let own = folder.join(format!("{digest}.{}.part", std::process::id()));
        let write = |cause: io::Error| {
            Error::new(ErrorKind::Store, format!("cannot write `{}`", folder.display())).source(cause)
        };
        fs::create_dir_all(folder).map_err(write)?;
        let _ = fs::rename(&kept, &own);
        for _ in 0..2 {
            let mut file = OpenOptions::new().create(true).append(true).open(&own).map_err(write)?;
            let start = file.metadata().map_err(write)?.len();
            if start < len_bytes {
                match self.read(name, start..len_bytes, &mut file) {
                    Ok(Found::Yes) => {}
                    Ok(Found::No) => {
                        let _ = fs::remove_file(&own);
                        return Ok(None);
                    }
                    Err(error) => {
                        drop(file);
                        let _ = fs::rename(&own, &kept);
                        return Err(error);
                    }
                }
            }
            drop(file);
            if is_file_of(&own, len_bytes, digest) {
                return Ok(Some(own));
            }
            let _ = fs::remove_file(&own);
        }
        Ok(None)
    }

    /// Writes a file unless there is one of that name.
    ///
    /// # Errors
    /// `Remote`.
    pub fn put_new(&self, name: &str, bytes: &[u8]) -> Result<Put> {
        let put = self.patiently("write to", || self.backend.put_new(name, bytes))?;
        if put == Put::Written {
            self.n_sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        Ok(put)
    }

    /// Writes a file over what there may be.
    ///
    /// # Errors
    /// `Remote`.
    pub fn put_over(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.patiently("write to", || self.backend.put_over(name, bytes))?;
        self.n_sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// The files below a folder.
    ///
    /// # Errors
    /// `Remote`, also where the backend cannot list.
    pub fn list(&self, folder: &str) -> Result<Vec<Listed>> {
        self.patiently("list", || self.backend.list(folder))
    }

    /// Removes a file.
    ///
    /// # Errors
    /// `Remote`, also where the backend cannot remove.
    pub fn remove(&self, name: &str) -> Result<()> {
        self.patiently("remove a file of", || self.backend.remove(name))
    }

    /// Reads a range, going on where a try broke off.
    fn read(&self, name: &str, range: Range<u64>, sink: &mut dyn Write) -> Result<Found> {
        let mut counted = Counted { sink, n_bytes: 0, left: range.end - range.start };
        let (mut n_idle, mut n_all) = (0, 0);
        loop {
            let before = counted.n_bytes;
            let outcome = self.backend.read(name, range.start + before..range.end, &mut counted);
            self.n_received.fetch_add(counted.n_bytes - before, Ordering::Relaxed);
            let fault = match outcome {
                Ok(found) => return Ok(found),
                Err(fault) => fault,
            };
            n_all += 1;
            n_idle = if counted.n_bytes > before { 1 } else { n_idle + 1 };
            if !fault.is_passing || n_idle >= self.patience.n_tries || n_all >= MAX_TRIES {
                return Err(self.error("read from", &fault));
            }
            self.pause(&fault, n_idle);
        }
    }

    fn patiently<T>(&self, doing: &str, mut work: impl FnMut() -> Outcome<T>) -> Result<T> {
        let mut n_tries = 0;
        loop {
            let fault = match work() {
                Ok(value) => return Ok(value),
                Err(fault) => fault,
            };
            n_tries += 1;
            if !fault.is_passing || n_tries >= self.patience.n_tries {
                return Err(self.error(doing, &fault));
            }
            self.pause(&fault, n_tries);
        }
    }

    fn pause(&self, fault: &Fault, n_tries: u32) {
        tracing::debug!("{}: {}; trying again", self.address(), fault.what);
        let own = self.patience.first_pause.saturating_mul(1 << n_tries.saturating_sub(1).min(8));
        sleep(fault.wait.unwrap_or(own));
    }

    fn error(&self, doing: &str, fault: &Fault) -> Error {
        Error::new(ErrorKind::Remote, format!("cannot {doing} the remote `{}`: {}", self.address(), fault.what))
            .hint("check the address and the network; without a remote everything is indexed here")
    }
}

/// A sink that counts, and takes no more than was asked for.
struct Counted<'s> {
    sink: &'s mut dyn Write,
    n_bytes: u64,
    left: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.left {
            return Err(io::Error::other("more bytes than were asked for"));
        }
        let n = self.sink.write(bytes)?;
        self.n_bytes += n as u64;
        self.left -= n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

fn is_file_of(path: &Path, len_bytes: u64, digest: &Digest) -> bool {
    let is_of = || -> io::Result<bool> {
        if File::open(path)?.metadata()?.len() != len_bytes {
            return Ok(false);
        }
        Ok(Digest::of(&fs::read(path)?) == *digest)
    };
    is_of().unwrap_or(false)
}
