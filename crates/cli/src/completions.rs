//! `narrows completions SHELL`.

use crate::args::CompletionsArgs;
use model::Failure;
use std::process::ExitCode;

/// Prints the script.
pub fn command(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    clap_complete::generate(args.shell, &mut crate::command(), "narrows", &mut std::io::stdout());
    Ok(ExitCode::SUCCESS)
}
