//! Impact: what a change can break, from two trees or from a target in one.
//!
//! `change` compares trees, `seeds` says where reach starts, `step` and `reach` walk back over
//! names, `tests` knows what can be run, `policy` knows when only all is safe, `measured` adds
//! what tests were seen to run, `answer` is what comes out, and `runners`, `json`, `text` print it. Pure: atlases in, answer out.

pub mod access;
pub mod answer;
pub mod argument_file;
pub mod change;
pub mod closure;
pub mod code;
mod computed;
pub mod decide;
pub mod declared;
pub mod dependency;
mod doubts;
pub mod files;
pub mod fixtures;
pub mod forms;
pub mod given;
pub mod handing;
pub mod held;
pub mod json;
mod judge;
pub mod junit;
pub mod jvm;
mod made;
mod may_import;
mod measured;
mod named;
mod outside;
mod packages;
pub mod pages;
pub mod policy;
pub mod reach;
pub mod runners;
pub mod seeds;
mod select;
pub mod space;
pub mod step;
pub mod tests;
pub mod text;
mod walked;
