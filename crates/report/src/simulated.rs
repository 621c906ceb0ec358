//! `sim:help`: simulated devices and their parameters.

use crate::document::SimulatedDocument;
use crate::presentation::{End, Part, Presentation, SectionName, Tone, statements, under};
use model::SimParameter;

/// The devices; then the parameters, each with what it is where it is not given.
pub fn simulated(document: &SimulatedDocument) -> Presentation {
    // What most who ask look for: the genuine ones are above.
    let answers = vec!["A fake card to try: narrows rate sim:a1-card,wraps-at=8GiB --capacity quick".to_owned()];
    let end = End { answers, ..End::default() };
    let mut presentation = Presentation { end, ..Presentation::default() };
    let said = presentation.end.answers.iter().cloned().map(|text| Part::Sentence(Tone::Plain, text)).collect();
    presentation.push(SectionName::Answer, said);
    let faults = document.faults.iter().map(|fault| (fault.name.to_owned(), fault.title.to_owned()));
    let faults = faults.flat_map(|(name, title)| [Part::Sentence(Tone::Plain, name), Part::Hint(title)]);
    let devices = statements(document.devices.iter().map(|device| (device.name.clone(), device.title.clone())));
    for (heading, parts) in [
        ("Simulated devices, in simulated time: sim:NAME or sim:NAME,PARAMETER=VALUE,...", vec![devices]),
        ("With faults: fake cards, cards that lose data", faults.collect()),
    ] {
        presentation.push(SectionName::Numbers, under(heading, parts));
    }
    for (heading, parts) in [
        ("Parameters, and what each is where it is not given", parameters(&document.parameters)),
        ("sim:bus, a bus with memory behind it, for narrows copy", parameters(&document.bus)),
    ] {
        presentation.push(SectionName::Others, under(heading, parts));
    }
    presentation
}

fn parameters(all: &[SimParameter]) -> Vec<Part> {
    let parameter = |parameter: &SimParameter| {
        let own: Vec<String> = parameter.devices.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let own = if own.is_empty() { String::new() } else { format!(" ({})", own.join(", ")) };
        let SimParameter { name, default, meaning, expects, .. } = parameter;
        [
            Part::Sentence(Tone::Plain, format!("{name} = {default}{own}")),
            Part::Hint(format!("{meaning} Expects {expects}.")),
        ]
    };
    all.iter().flat_map(parameter).collect()
}
