//! Blob ids: how git names bytes.

use gix::hash::{Kind, ObjectId, oid};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::BlobId;

/// The id that git gives to `bytes` stored as a blob.
pub(crate) fn hash(kind: Kind, bytes: &[u8]) -> Result<BlobId> {
    gix::objs::compute_hash(kind, gix::objs::Kind::Blob, bytes)
        .map(|id| from_oid(&id))
        .map_err(|source| Error::new(ErrorKind::Git, "cannot hash a blob").source(source))
}

/// The SHA-1 that git gives to `bytes` stored as a blob, for trees without git.
pub fn sha1(bytes: &[u8]) -> Result<BlobId> {
    hash(Kind::Sha1, bytes)
}

pub(crate) fn from_oid(id: &oid) -> BlobId {
    BlobId::from_bytes(id.as_bytes()).expect("because gix's ids have 20 or 32 bytes")
}

pub(crate) fn to_oid(id: &BlobId) -> ObjectId {
    ObjectId::from_bytes_or_panic(id.as_bytes())
}

/// The id of nothing: all zeros. Stands where bytes were not to be opened.
pub(crate) fn null(kind: Kind) -> BlobId {
    from_oid(&kind.null())
}
