//! `narrows completions SHELL`.

use crate::args::CompletionsArgs;
use crate::output::Output;
use model::Failure;
use report::document::CompletionsDocument;
use std::process::ExitCode;

/// Prints the script.
pub fn command(args: &CompletionsArgs, output: &Output) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "narrows", &mut script);
    let script = String::from_utf8_lossy(&script);
    if output.is_json() {
        let shell = args.shell.to_string();
        output.document(&CompletionsDocument::new(&shell, &script));
    } else {
        output.text(&script);
    }
    Ok(ExitCode::SUCCESS)
}
