//! Reading and writing parts of files that are never changed once written: bytes at a place,
//! numbers of few bytes, and which files of a folder are the newest.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Reads exactly `len` bytes at `start`; `None` where the file has them not. Nothing is mapped, so
/// that a file which another process cuts or removes is a miss and no fault.
pub fn read_at(file: &File, start: u64, len: usize) -> Option<Vec<u8>> {
    // A length that the file cannot have is not worth its memory.
    if start.checked_add(len as u64)? > file.metadata().ok()?.len() {
        return None;
    }
    let mut bytes = vec![0; len];
    let mut done = 0;
    while done < len {
        match read_some(file, &mut bytes[done..], start + done as u64) {
            Ok(0) | Err(_) => return None,
            Ok(n) => done += n,
        }
    }
    Some(bytes)
}

#[cfg(unix)]
fn read_some(file: &File, bytes: &mut [u8], start: u64) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, start)
}

#[cfg(windows)]
fn read_some(file: &File, bytes: &mut [u8], start: u64) -> std::io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, start)
}

/// The files of a folder with an extension, the newest first; of one age, by name.
pub fn files_by_age(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let path = entry.path();
            let is_it = path.extension().is_some_and(|e| e == extension);
            is_it.then(|| Some((std::cmp::Reverse(entry.metadata().ok()?.modified().ok()?), path)))?
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// Appends a number, seven bits a byte (LEB128).
pub fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// What is still to be read of some bytes.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'b>(pub &'b [u8]);

impl<'b> Cursor<'b> {
    /// The next bytes.
    pub fn take(&mut self, len: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    /// A number that [`put_varint`] wrote.
    pub fn varint(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            shift += 7;
        }
    }

    /// As `varint`, for numbers below 2³².
    pub fn number(&mut self) -> Option<u32> {
        u32::try_from(self.varint()?).ok()
    }

    /// As `varint`, for how many things follow that take at least a byte each.
    pub fn count(&mut self) -> Option<usize> {
        usize::try_from(self.varint()?).ok().filter(|n| *n <= self.0.len())
    }

    /// A text with its length before it.
    pub fn text(&mut self) -> Option<&'b str> {
        let len = self.count()?;
        std::str::from_utf8(self.take(len)?).ok()
    }
}

/// Appends a text with its length before it.
pub fn put_text(text: &str, out: &mut Vec<u8>) {
    put_varint(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}
