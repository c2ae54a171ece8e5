//! The graph: facts linked across files, with evidence and confidence.

pub mod builtins;
pub mod call;
pub mod candidates;
pub mod context;
pub mod edge;
pub mod eval;
pub mod exports;
pub mod file_graph;
pub mod imports;
pub mod java;
pub mod link;
pub mod members;
pub mod modules;
pub mod names;
pub mod overrides;
pub mod python;
pub mod queries;
pub mod reach;
pub mod resolve;
pub mod scope;
pub mod solve;
pub mod types;
pub mod value;
