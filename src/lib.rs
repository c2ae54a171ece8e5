//! ratlas (RepoAtlas): the structural map of a code base. The rooms in reading order.
#![deny(unsafe_code)]

pub mod atlas;
pub mod base;
pub mod ci;
pub mod cli;
pub mod config;
pub mod coverage;
pub mod daemon;
pub mod extract;
pub mod facts;
pub mod git;
pub mod graph;
pub mod harness;
pub mod impact;
pub mod index;
pub mod kept;
pub mod lang;
pub mod mcp;
pub mod rank;
pub mod remote;
pub mod report;
pub mod scip;
pub mod session;
pub mod store;
pub mod tools;
pub mod view;
pub mod watch;
