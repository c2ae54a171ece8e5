//! Which bytes: repositories, snapshots of commits and of the worktree, history. The only door
//! to gix and to `ignore`.
//!
//! Nothing here takes a lock, writes into a repository of the user's, runs a filter driver or a
//! hook, or speaks to a network; `author` makes new repositories only.

pub mod author;
pub mod blob;
pub mod convert;
mod folder;
pub mod folders;
pub mod history;
pub mod line;
pub mod live;
pub mod log;
pub mod owners;
pub mod read;
pub mod repo;
mod scan;
pub mod snapshot;
mod staged;
pub mod stat;
mod tree;
mod worktree;
