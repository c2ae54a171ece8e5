//! The `ratlas` binary: one call.

fn main() -> std::process::ExitCode {
    ratlas::cli::main()
}
