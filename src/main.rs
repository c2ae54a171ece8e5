//! The `ratlas` binary: one call.

fn main() {}
