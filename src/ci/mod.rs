//! A pipeline's questions: what happened, against what it is to be compared, how the tests are
//! spread over jobs, and in which form the pipeline takes the answer. Decisions are pure; only
//! `checkout` asks git, and fetches what a shallow clone lacks.

pub mod base;
pub mod checkout;
pub mod durations;
pub mod event;
pub mod green;
pub mod outputs;
pub mod shards;
