//! The portable index: what CI made, published to a plain store of files, and fetched from it.
//!
//! `backends` says what a remote must be able to do, with those there are. `layout` names what
//! lies there, `published` is what is said of a tree, `signature` proves who said it, `transfer`
//! moves bytes with patience, `push` and `pull` are set differences over keys. `upkeep` merges
//! and clears. Nothing that is fetched is believed before its digest is checked; no name and no
//! path of a remote's bytes is ever used on disk.

pub mod backends;
pub mod layout;
pub mod packs;
pub mod published;
pub mod pull;
pub mod push;
pub mod signature;
pub mod transfer;
pub mod upkeep;
