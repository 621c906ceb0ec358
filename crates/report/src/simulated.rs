//! `sim:help` as text: simulated devices and their parameters.

use crate::document::{SimulatedDocument, SimulatedParameter};
use crate::lines::Lines;
use crate::style::Style;

/// The devices, a line each; then the parameters, each with what it is where it is not given.
pub fn simulated_text(document: &SimulatedDocument, style: &Style) -> String {
    let mut out = Lines::new(style);
    out.wrapped("", "Simulated devices, in simulated time: sim:NAME or sim:NAME,PARAMETER=VALUE,...", None);
    let longest = document.devices.iter().map(|device| device.name.len()).max().unwrap_or(0);
    for device in &document.devices {
        out.line(&format!("  {:longest$}  {}", device.name, device.title));
    }
    out.line("");
    out.wrapped("", "Parameters, and what each is where it is not given", None);
    parameters(&mut out, &document.parameters);
    out.line("");
    out.wrapped("", "sim:bus, a bus with memory behind it, for narrows copy", None);
    parameters(&mut out, &document.bus);
    out.out
}

fn parameters(out: &mut Lines<'_>, all: &[SimulatedParameter]) {
    for parameter in all {
        let own: Vec<String> = parameter.devices.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let own = if own.is_empty() { String::new() } else { format!(" ({})", own.join(", ")) };
        out.wrapped(&format!("  {} = ", parameter.name), &format!("{}{own}", parameter.default), None);
        out.wrapped("      ", &format!("{} Expects {}.", parameter.meaning, parameter.expects), None);
    }
}
