//! A window of a file for the Parquet reader: bytes of one row group, with caps on what they claim.

use std::io::Cursor;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// The most bytes that one page may unpack to. Pages we write hold at most 256 files' worth of
/// one column; a page that claims more is hostile.
const MAX_PAGE_BYTES: u64 = 64 << 20;

/// Bytes `start .. start + bytes.len()` of a file, read at the file's own offsets.
#[derive(Debug)]
pub struct Window {
    start: u64,
    bytes: Bytes,
    /// Whether the header of the next page was read ahead, so that the next read is of its body.
    body_next: AtomicBool,
}

impl Clone for Window {
    /// The same bytes for another column: where this one stands is its own affair.
    fn clone(&self) -> Self {
        Window::new(self.start, self.bytes.clone())
    }
}

impl Window {
    /// Takes bytes that stand at offset `start` of their file.
    pub fn new(start: u64, bytes: impl Into<Bytes>) -> Self {
        Window { start, bytes: bytes.into(), body_next: AtomicBool::new(false) }
    }

    /// Whether the window holds `len` bytes from `offset`.
    pub fn holds(&self, offset: u64, len: u64) -> bool {
        offset >= self.start && offset.checked_add(len).is_some_and(|end| end <= self.len())
    }

    /// Says whether the next page's header was already read, and with that checked.
    pub fn header_was_read(&self, was_read: bool) {
        self.body_next.store(was_read, Ordering::Relaxed);
    }

    fn slice(&self, start: u64) -> Result<Bytes> {
        let at = start.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        match at {
            Some(at) if at <= self.bytes.len() => Ok(self.bytes.slice(at..)),
            _ => Err(ParquetError::EOF("offset outside of the row group".to_owned())),
        }
    }
}

impl Length for Window {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for Window {
    type T = Cursor<Bytes>;

    /// Called at each page header, and at the body of a page whose header was read ahead.
    /// Reads the sizes that a header claims and refuses what no pack of ours holds, before
    /// anything is allocated for it.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        let bytes = self.slice(start)?;
        if self.body_next.swap(false, Ordering::Relaxed) {
            return Ok(Cursor::new(bytes));
        }
        match page_sizes(&bytes) {
            Some((unpacked, packed)) if unpacked <= MAX_PAGE_BYTES && packed <= bytes.len() as u64 => {
                Ok(Cursor::new(bytes))
            }
            _ => Err(ParquetError::General("page header out of bounds".to_owned())),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.slice(start)?;
        if length > bytes.len() {
            return Err(ParquetError::EOF("page outside of the row group".to_owned()));
        }
        Ok(bytes.slice(..length))
    }
}

/// The unpacked and packed size in a page header: fields 2 and 3 of a Thrift compact struct,
/// `0x15 type 0x15 unpacked 0x15 packed`, each a zigzag varint of a non-negative i32.
fn page_sizes(bytes: &[u8]) -> Option<(u64, u64)> {
    let mut rest = bytes;
    let mut values = [0; 3];
    for value in &mut values {
        let (first, tail) = rest.split_first()?;
        if *first != 0x15 {
            return None;
        }
        rest = tail;
        let mut shift = 0;
        loop {
            let (byte, tail) = rest.split_first()?;
            rest = tail;
            *value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift > 28 {
                return None;
            }
        }
        if *value & 1 != 0 {
            return None;
        }
        *value >>= 1;
    }
    Some((values[1], values[2]))
}

#[cfg(test)]
mod tests {
    use super::{Window, page_sizes};
    use parquet::file::reader::ChunkReader;

    #[test]
    fn page_sizes_are_read_from_the_header() {
        assert_eq!(page_sizes(&[0x15, 0x06, 0x15, 0x90, 0x01, 0x15, 0x08]), Some((72, 4)));
        assert_eq!(page_sizes(&[0x15, 0x06, 0x15, 0x01, 0x15, 0x08]), None, "negative");
        assert_eq!(page_sizes(&[0x15, 0x06, 0x25]), None);
        assert_eq!(page_sizes(&[0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), None);
    }

    #[test]
    fn nothing_outside_of_the_window_is_read() {
        let window = Window::new(10, vec![1, 2, 3, 4]);
        assert_eq!(&window.get_bytes(11, 2).unwrap()[..], &[2, 3]);
        assert!(window.get_bytes(9, 1).is_err());
        assert!(window.get_bytes(12, 3).is_err());
        assert!(window.get_read(10).is_err());
    }
}
