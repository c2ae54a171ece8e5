//! The one integration-test binary; each area is a module.

mod cli;
mod extract;
mod fingerprint;
mod git;
mod hashes;
mod house;
mod impact;
mod impact_end;
mod impact_reach;
mod impact_rules;
mod index;
mod java_hashes;
mod link;
mod mcp;
mod replay;
mod scip;
mod secrets;
mod store;
mod tools;
mod typescript;
