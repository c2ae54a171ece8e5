//! The one integration-test binary; each area is a module.

mod cli;
mod context;
mod extract;
mod fingerprint;
mod git;
mod harness;
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
#[cfg(feature = "http")]
mod mcp_http;
mod replay;
mod scip;
mod secrets;
mod store;
mod tools;
mod typescript;
