//! The `ratlas` binary: one call.

/// Facts and links are many small pieces: linking takes a seventh less time with it than with
/// the system's allocator (`bench/link.rs`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    ratlas::cli::main()
}
