//! In what else the two runs of an event differ, down to the facts of each layer.

use crate::compare::{environment_differences, temperature};
use model::{EnvironmentDifference, Fact, Layer, Run, facts};

/// The hottest sensor of two runs differs by at least so much, degrees Celsius.
const TELLING_DEGREES: f64 = 10.0;
/// Facts that go on counting, or are of the moment of the inventory: they differ always.
const OF_THE_MOMENT: [&str; 19] = [
    facts::BRANCH_DEPTH,
    facts::IN_FLIGHT_READS,
    facts::IN_FLIGHT_WRITES,
    facts::ORIGINAL_DATA_BYTES,
    facts::COMPRESSED_DATA_BYTES,
    facts::MEMORY_USED_BYTES,
    facts::POWER_ON_HOURS,
    facts::WRITTEN_BYTES,
    facts::FLASH_WRITTEN_BYTES,
    facts::IRQS,
    facts::KERNEL_LOG_STORAGE,
    facts::MD_SYNC_COMPLETED,
    facts::TEMPERATURE_C,
    "fill_percent",
    "free_bytes",
    "available_bytes",
    // Said by the environment.
    facts::MOUNT_OPTIONS,
    facts::KERNEL_RELEASE,
    // Of a simulated device.
    "seed",
];

/// Kernel, mount options, fill level and the like, then each fact of a layer that both have and that differs: firmware, wear, errors,
/// settings of the queue; and how warm it was, where the samples of both were read.
pub fn change_differences(before: &Run, after: &Run) -> Vec<EnvironmentDifference> {
    let (before, after) = (std::slice::from_ref(before), std::slice::from_ref(after));
    let mut all = environment_differences(before, after);
    let ([before], [after]) = (before, after) else { return all };
    let mut counted: Vec<(model::LayerKind, usize)> = Vec::new();
    for layer in &before.target.stack.layers {
        let place = counted.iter().filter(|(kind, _)| *kind == layer.kind).count();
        counted.push((layer.kind, place));
        if let Some(same) = after.target.stack.all(layer.kind).nth(place) {
            all.extend(of_layer(layer, same));
        }
    }
    all.extend(warmth(before, after));
    all
}

fn of_layer(before: &Layer, after: &Layer) -> Vec<EnvironmentDifference> {
    let own = |name: &&String| !OF_THE_MOMENT.contains(&name.as_str()) && !name.ends_with("_exceeded_us");
    let differs = |name: &String| {
        let (a, b) = (before.fact(name)?, after.fact(name)?);
        (a != b).then(|| EnvironmentDifference {
            what: format!("{}: {name}", before.name),
            a: vec![text(a)],
            b: vec![text(b)],
        })
    };
    before.facts.keys().filter(own).filter_map(differs).collect()
}

fn text(fact: &Fact) -> String {
    match fact {
        Fact::Null => String::new(),
        Fact::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Fact::Int(n) => n.to_string(),
        Fact::Float(n) => model::four_figures(*n).to_string(),
        Fact::Text(text) => text.clone(),
        Fact::List(list) => list.join(", "),
    }
}

fn warmth(before: &Run, after: &Run) -> Option<EnvironmentDifference> {
    let (a, b) = (temperature(before)?, temperature(after)?);
    let degrees = |c: f64| vec![format!("{c:.0} C")];
    ((a - b).abs() >= TELLING_DEGREES).then(|| EnvironmentDifference {
        what: "hottest sensor".to_owned(),
        a: degrees(a),
        b: degrees(b),
    })
}
