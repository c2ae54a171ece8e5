//! Identities: git's blob ids, our digests, and the key of a shard. The only door to blake3.

use std::fmt;

use crate::base::dialect::Dialect;

/// A blob id as git names it: SHA-1 (20 bytes) or SHA-256 (32 bytes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId {
    len: u8,
    bytes: [u8; 32],
}

impl BlobId {
    /// Takes 20 (SHA-1) or 32 (SHA-256) bytes; `None` for another length.
    pub fn from_bytes(raw: &[u8]) -> Option<Self> {
        if raw.len() != 20 && raw.len() != 32 {
            return None;
        }
        let mut bytes = [0; 32];
        bytes[..raw.len()].copy_from_slice(raw);
        Some(BlobId { len: raw.len() as u8, bytes })
    }

    /// Reads 40 or 64 lower-case hex digits.
    pub fn from_hex(hex: &str) -> Option<Self> {
        Self::from_bytes(&decode_hex(hex)?)
    }

    /// The raw bytes, 20 or 32.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, self.as_bytes())
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, self.as_bytes())
    }
}

/// A blake3 digest, 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Digest(*blake3::hash(bytes).as_bytes())
    }

    /// The digest of several byte strings, each prefixed by its length, so that borders count.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Digest(*hasher.finalize().as_bytes())
    }

    /// Reads 64 hex digits.
    pub fn from_hex(hex: &str) -> Option<Self> {
        Some(Digest(decode_hex(hex)?.try_into().ok()?))
    }

    /// The first eight bytes as a number (little endian): a short hash for in-file comparison.
    pub fn short(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

/// Which extractor made a shard: blake3 over the sources that shape the facts (FACTS.md §1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fingerprint(pub Digest);

impl fmt::Display for Fingerprint {
    /// Prints the first 16 hex digits, as everywhere in outputs and file names.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0.0[..8])
    }
}

/// The name of a shard: same key, same facts, on any machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ShardKey {
    /// Git's id of the bytes.
    pub blob: BlobId,
    /// Under which grammar and meaning they were read.
    pub dialect: Dialect,
    /// By which extractor.
    pub fingerprint: Fingerprint,
}

/// The handle of a symbol in outputs: `sym_` and 16 hex digits of blake3 over (path, qualname).
pub fn symbol_handle(path: &str, qualname: &str) -> String {
    let digest = Digest::of_parts([path.as_bytes(), qualname.as_bytes()]);
    let mut handle = String::from("sym_");
    for byte in &digest.0[..8] {
        handle.push_str(&format!("{byte:02x}"));
    }
    handle
}

fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|b| write!(f, "{b:02x}"))
}

fn decode_hex(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let value = |d: u8| (d as char).to_digit(16).map(|v| v as u8);
    digits.chunks(2).map(|pair| Some(value(pair[0])? << 4 | value(pair[1])?)).collect()
}
