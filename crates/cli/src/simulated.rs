//! `sim:help` in place of a target: which simulated devices there are, and their parameters.

use crate::output::Output;
use model::Failure;
use report::document::{SimulatedDevice, SimulatedDocument, SimulatedParameter};
use spec::SimParameter;
use std::ffi::OsString;
use std::process::ExitCode;

/// Whether an argument of the command asks for it; what follows `--` belongs to another command.
pub fn is_asked_for(arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.take_while(|argument| argument != "--").any(|argument| argument == "sim:help")
}

/// Prints it.
pub fn help(output: &Output) -> Result<ExitCode, Failure> {
    let help = spec::sim_help().map_err(|e| Failure::internal(e.to_string()))?;
    let document = SimulatedDocument {
        schema: SimulatedDocument::SCHEMA,
        devices: help
            .devices
            .into_iter()
            .map(|[name, title, source]| SimulatedDevice { name, title, source })
            .collect(),
        parameters: help.parameters.into_iter().map(parameter).collect(),
        bus: help.bus.into_iter().map(parameter).collect(),
    };
    output.answer(&document, || report::simulated(&document));
    Ok(ExitCode::SUCCESS)
}

fn parameter(from: SimParameter) -> SimulatedParameter {
    let SimParameter { name, expects, meaning, default, of_devices } = from;
    SimulatedParameter { name, expects, meaning, default, devices: of_devices.into_iter().collect() }
}
