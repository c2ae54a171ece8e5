//! Scores of files and symbols: which lines of a repository are worth an agent's tokens.
//!
//! Plain for now: PageRank over the file graph, BM25 over names, docs and paths, tests and
//! generated files demoted. Pure: equal graphs and seeds give equal scores.

pub mod files;
pub mod lexical;
pub mod pagerank;
pub mod surface;
