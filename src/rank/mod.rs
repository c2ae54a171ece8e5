//! Scores of files and symbols: which lines of a repository are worth an agent's tokens.
//!
//! A task is read (`question`, `words`), each file gets signals (`lexical`, `pagerank` over
//! `files`' graph, `past`) that are mixed by weights (`order`); what hangs on no task is kept
//! (`ranking`). Pure: equal views, graphs, logs and tasks give equal scores.

pub mod files;
pub mod lexical;
pub mod order;
pub mod pagerank;
pub mod past;
pub mod question;
pub mod ranking;
pub mod surface;
pub mod words;
