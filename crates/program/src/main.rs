//! The binary. Everything is in the crate `cli`; this package is apart from it because its level of optimisation is that of the
//! program as a whole (docs/design/program.md).

fn main() -> std::process::ExitCode {
    cli::main()
}
