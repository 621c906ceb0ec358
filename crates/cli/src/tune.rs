//! `narrows tune`: settings of this machine. It undoes what was left changed; a search for better ones is not part of it.

use crate::args::TuneArgs;
use crate::experiment;
use crate::output::Output;
use model::{Failure, FailureKind};
use std::process::ExitCode;

/// Executes the command.
pub fn command(args: &TuneArgs, output: &Output) -> Result<ExitCode, Failure> {
    if args.restore {
        return Ok(experiment::restore(output));
    }
    Err(Failure::new(FailureKind::Usage, "what about the settings?").remedy("narrows tune --restore"))
}
