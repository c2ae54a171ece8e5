//! What one file says alone: the model, its tables, its canonical text, and the delta of two files.
//!
//! Facts hold names and never links: no path, no global id, no resolved target.

pub mod build;
pub mod canonical;
pub mod decode;
pub mod delta;
pub mod dump;
pub mod model;
pub mod table;
pub mod validate;
