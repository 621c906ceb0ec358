//! `sim:help`: simulated devices and their parameters.

use crate::document::{SimulatedDocument, SimulatedParameter};
use crate::presentation::{Part, Presentation, SectionName, Tone, statements, under};

/// The devices; then the parameters, each with what it is where it is not given.
pub fn simulated(document: &SimulatedDocument) -> Presentation {
    let mut presentation = Presentation::default();
    let devices = statements(document.devices.iter().map(|device| (device.name.clone(), device.title.clone())));
    for (heading, parts) in [
        ("Simulated devices, in simulated time: sim:NAME or sim:NAME,PARAMETER=VALUE,...", vec![devices]),
        ("Parameters, and what each is where it is not given", parameters(&document.parameters)),
        ("sim:bus, a bus with memory behind it, for narrows copy", parameters(&document.bus)),
    ] {
        presentation.push(SectionName::Others, under(heading, parts));
    }
    presentation
}

fn parameters(all: &[SimulatedParameter]) -> Vec<Part> {
    let parameter = |parameter: &SimulatedParameter| {
        let own: Vec<String> = parameter.devices.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let own = if own.is_empty() { String::new() } else { format!(" ({})", own.join(", ")) };
        let SimulatedParameter { name, default, meaning, expects, .. } = parameter;
        [
            Part::Sentence(Tone::Plain, format!("{name} = {default}{own}")),
            Part::Hint(format!("{meaning} Expects {expects}.")),
        ]
    };
    all.iter().flat_map(parameter).collect()
}
