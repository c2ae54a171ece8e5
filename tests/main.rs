//! The one integration-test binary; each area is a module.

mod cli;
mod context;
mod extract;
mod fingerprint;
mod git;
mod harness;
mod hashes;
mod history;
mod house;
mod impact;
mod impact_coverage;
mod impact_diffs;
mod impact_end;
mod impact_frameworks;
mod impact_links;
mod impact_reach;
mod impact_rules;
mod impact_runners;
mod impact_unnamed;
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
