//! The graph: facts linked across files, with evidence and confidence.

pub mod edge;
pub mod file_graph;
pub mod names;
pub mod reach;
pub mod value;
