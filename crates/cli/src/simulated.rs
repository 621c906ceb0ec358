//! `sim:help` in place of a target: which simulated devices there are, and their parameters.

use crate::output::Output;
use model::Failure;
use report::document::{SimulatedDocument, SimulatedFault};
use std::ffi::OsString;
use std::process::ExitCode;

/// Whether an argument of the command asks for it; what follows `--` belongs to another command.
pub fn is_asked_for(arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.take_while(|argument| argument != "--").any(|argument| argument == "sim:help")
}

/// Faults that are worth a look.
const FAULTS: [(&str, &str); 4] = [
    (
        "sim:a1-card,wraps-at=8GiB",
        "a FAKE (counterfeit) card: it says 32 GB, and what is written beyond 8 GiB goes over what lies before",
    ),
    ("sim:a1-card,limbo-from=8GiB", "another kind of fake: it says 32 GB, and keeps nothing beyond 8 GiB"),
    ("sim:a1-card,data-fault=lost-write,data-fault-at=300", "a card that loses a write, which narrows soak finds"),
    ("sim:a1-card,throttle-start=10s", "a card that becomes slow when it is warm"),
];

/// Prints it.
pub fn help(output: &Output) -> Result<ExitCode, Failure> {
    let help = spec::sim_help().map_err(|e| Failure::internal(e.to_string()))?;
    let document = SimulatedDocument {
        devices: help.devices,
        faults: FAULTS.into_iter().map(|(name, title)| SimulatedFault { name, title }).collect(),
        parameters: help.parameters,
        bus: help.bus,
    };
    output.answer(&document, || report::simulated(&document));
    Ok(ExitCode::SUCCESS)
}
