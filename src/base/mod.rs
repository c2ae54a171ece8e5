//! The ground floor: errors, repository paths, and the identities everything is keyed by.
//!
//! Nothing here knows of git, languages or storage.

pub mod dialect;
pub mod error;
pub mod guard;
pub mod halt;
pub mod id;
pub mod lazy;
pub mod parallel;
pub mod path;
pub mod reads;
pub mod xml;
