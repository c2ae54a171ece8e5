//! The write path: from a snapshot to facts, taking from the store what it has.

pub mod build;
pub mod compiler;
pub mod rebuild;
pub mod select;
