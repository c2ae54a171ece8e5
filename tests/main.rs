//! The one integration-test binary; each area is a module.

mod extract;
mod git;
mod house;
mod store;
