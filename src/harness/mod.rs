//! The token-savings harness: an agent of the user's works on tasks with pass or fail checks, once
//! without ratlas, once with its map, once with all tools; what each arm costs is measured.
//!
//! The agent is any command. It finds its task in a file and tells what it does as lines of JSON;
//! see [`plan`]. Raw logs are kept, and a report can be made of them at any time.

pub mod plan;
pub mod program;
pub mod report;
pub mod run;
pub mod stats;
