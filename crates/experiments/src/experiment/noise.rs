//! noise.json: what the same arm under two names differed by, of each machine, target and workload.

use super::ready::ReadyArm;
use archive::Archive;
use conduct::WallClock;
use judge::Noise;
use model::{Comparison, Environment, Failure, Run, Target, TargetKind};
use serde::{Deserialize, Serialize};
use spec::Experiment;
use std::collections::BTreeMap;

const FILE: &str = "noise.json";

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct NoiseFile {
    schema: String,
    entries: Vec<Entry>,
}

/// One calibration.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    rig: Rig,
    /// Execution that it comes from.
    experiment: String,
    /// When, RFC 3339.
    taken: String,
    metrics: BTreeMap<String, MetricNoise>,
}

/// On what it was measured. Another machine, target or workload has another noise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Rig {
    machine: String,
    target: String,
    workload: String,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct MetricNoise {
    paired_percent: f64,
    single_percent: f64,
    pairs: u32,
    /// Whether it was asked.
    primary: bool,
}

impl MetricNoise {
    fn noise(self) -> Noise {
        Noise { paired: self.paired_percent / 100.0, single: self.single_percent / 100.0, pairs: self.pairs }
    }
}

impl Rig {
    fn of(environment: &Environment, target: &Target, workload: &str) -> Self {
        let part = |text: &Option<String>| text.clone().unwrap_or_default();
        let serials = target.stack.lowest_counted();
        let disks: Vec<String> =
            serials.iter().map(|l| l.text("serial").map_or_else(|| l.name.clone(), str::to_owned)).collect();
        let target = match (target.kind, disks.is_empty()) {
            (TargetKind::Sim | TargetKind::Null | TargetKind::Region | TargetKind::Foreign, _) | (_, true) => {
                target.name.clone()
            }
            _ => {
                let mount = target.stack.mount.as_ref().map(|m| format!(" {}", m.fstype)).unwrap_or_default();
                format!("{}{mount}", disks.join("+"))
            }
        };
        Self {
            machine: format!("{} {}", part(&environment.hostname), part(&environment.machine)).trim().to_owned(),
            target,
            workload: workload.to_owned(),
        }
    }

    fn of_run(run: &Run) -> Self {
        Self::of(&run.environment, &run.target, &run.plan.name)
    }
}

/// What the archive knows; a file that cannot be read is as none (a calibration replaces it).
fn book(archive: &Archive) -> NoiseFile {
    let text = archive.read_side_file(FILE).ok().flatten();
    text.and_then(|t| serde_json::from_slice(t.as_bytes()).ok()).unwrap_or_default()
}

/// Keeps what a calibration found, instead of what was known before of the same rig.
pub fn keep(
    archive: &Archive,
    experiment: &str,
    run: &Run,
    comparison: &Comparison,
) -> Result<BTreeMap<String, Noise>, Failure> {
    let noise = judge::noise(comparison);
    let primary = |id: &str| comparison.metrics.iter().any(|m| m.primary && m.id == id);
    let metrics = noise.iter().map(|(id, n)| {
        let kept = MetricNoise {
            paired_percent: n.paired * 100.0,
            single_percent: n.single * 100.0,
            pairs: n.pairs,
            primary: primary(id),
        };
        (id.clone(), kept)
    });
    let rig = Rig::of_run(run);
    let mut book = book(archive);
    book.schema = "narrows/noise/1".to_owned();
    book.entries.retain(|e| e.rig != rig);
    book.entries.push(Entry {
        rig,
        experiment: experiment.to_owned(),
        taken: WallClock::now(),
        metrics: metrics.collect(),
    });
    let text = serde_json::to_string_pretty(&book)
        .map_err(|e| Failure::internal(format!("the noise of {experiment}: {e}")))?;
    archive.write_side_file(FILE, text.as_bytes())?;
    Ok(noise)
}

/// Noise of single runs by metric, as a ratio, where all runs come from one calibrated rig.
pub fn noise_floor_of(archive: &Archive, a: &[Run], b: &[Run]) -> BTreeMap<String, f64> {
    let mut rigs = a.iter().chain(b).map(Rig::of_run);
    let Some(rig) = rigs.next().filter(|rig| rigs.all(|other| other == *rig)) else { return BTreeMap::new() };
    let entry = book(archive).entries.into_iter().find(|e| e.rig == rig);
    entry.map(|e| e.metrics.into_iter().map(|(id, n)| (id, n.single_percent / 100.0)).collect()).unwrap_or_default()
}

/// A margin that this rig's noise does not allow is refused before anything is run.
pub fn refuse_small_margins(
    archive: &Archive,
    experiment: &Experiment,
    arms: &[ReadyArm],
    calibrate: bool,
) -> Result<(), Failure> {
    if calibrate {
        return Ok(());
    }
    let book = book(archive);
    let asked = super::declared::asked(experiment);
    for here in arms.iter().filter_map(|a| a.target_state.as_ref()) {
        let rig = Rig::of(&here.environment, &here.target, &here.plan.name);
        let Some(entry) = book.entries.iter().find(|e| e.rig == rig) else { continue };
        for (id, kept) in &entry.metrics {
            let is_asked = if experiment.primary.is_empty() { kept.primary } else { experiment.primary.contains(id) };
            let (margin, least) =
                (judge::margin_percent(id, &asked), kept.noise().least_margin_percent(experiment.pairs));
            if is_asked && margin < least {
                let message = format!(
                    "the margin of {id} is {margin} %, and this rig's noise allows {least:.2} % with {} pairs ({}, {})",
                    experiment.pairs, entry.experiment, entry.taken
                );
                let pairs = f64::from(experiment.pairs) * (least / margin).powi(2);
                return Err(Failure::refused(message).remedy(format!(
                    "a margin of {:.1} % or more, or pairs = {:.0}; --calibrate again if the rig is quieter now",
                    (least * 10.0).ceil() / 10.0,
                    pairs.ceil()
                )));
            }
        }
    }
    Ok(())
}
