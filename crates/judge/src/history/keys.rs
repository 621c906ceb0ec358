//! Which runs may stand in one series: same machine, same device, same work.

use model::{CompactSort as _, LayerKind, Run, facts, job_options, json_name};
use std::collections::{BTreeMap, BTreeSet};

/// Where a run was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    pub host: Option<String>,
    /// Board and processors: what stays when a machine is renamed.
    hardware: Option<String>,
    /// Models of the disks.
    model: Option<String>,
    /// Serial numbers of the disks; they need rights to be read on some.
    serial: Option<String>,
    /// Partition or mapping on them.
    part: String,
    /// What was named, for what has no serial number.
    target: String,
    run: String,
}

impl Place {
    pub fn of(run: &Run) -> Self {
        let stack = &run.target.stack;
        let disks = || stack.layers.iter().filter(|l| l.kind == LayerKind::Disk);
        let of_all = |name: &str| -> Option<String> {
            let mut texts: Vec<&str> = disks().filter_map(|l| l.text(name)).collect();
            texts.sort_unstable();
            texts.dedup();
            (!texts.is_empty()).then(|| texts.join(" + "))
        };
        let partition = stack.first(LayerKind::Partition).and_then(|l| l.int(facts::PARTITION_NUMBER));
        let mapping = stack.first(LayerKind::Dm).and_then(|l| l.text(facts::DM_NAME));
        let file = stack.first(LayerKind::Loop).and_then(|l| l.text(facts::BACKING_FILE));
        let parts = partition.map(|n| format!("partition {n}")).into_iter();
        let parts = parts.chain(mapping.map(str::to_owned)).chain(file.map(str::to_owned));
        let environment = &run.environment;
        let cpus: Vec<String> = environment.cpus.iter().map(|c| format!("{} x {}", c.count, c.name)).collect();
        let hardware = format!("{} / {}", environment.machine.as_deref().unwrap_or_default(), cpus.join(", "));
        Self {
            host: environment.hostname.clone(),
            hardware: Some(hardware).filter(|_| environment.machine.is_some() || !cpus.is_empty()),
            model: of_all(facts::MODEL),
            serial: of_all(facts::SERIAL),
            part: parts.collect::<Vec<_>>().join(", "),
            target: run.target.path.clone().unwrap_or_else(|| run.target.name.clone()),
            run: run.id.clone(),
        }
    }

    /// One of which only the names are known.
    pub fn named(machine: String, device: String) -> Self {
        Self { host: Some(machine), target: device, ..Self::default() }
    }

    /// The device as it is named.
    pub fn device(&self) -> String {
        let Some(serial) = &self.serial else { return self.target.clone() };
        let model = self.model.iter().map(String::as_str);
        let all: Vec<&str> = model.chain([serial.as_str(), self.part.as_str()]).filter(|t| !t.is_empty()).collect();
        all.join(" ")
    }
}

/// Finds what belongs together of runs in their order: runs that could not read a serial number which others of the same target
/// could, and machines that were renamed. Gives what has to be known of that.
pub fn settle(places: &mut [&mut Place]) -> Vec<String> {
    type Of = (Option<String>, Option<String>, String);
    let of = |p: &Place| -> Of { (p.host.clone(), p.model.clone(), p.target.clone()) };
    let mut serials: BTreeMap<Of, BTreeSet<String>> = BTreeMap::new();
    for place in places.iter() {
        serials.entry(of(place)).or_default().extend(place.serial.clone());
    }
    for place in places.iter_mut().filter(|p| p.serial.is_none()) {
        let known = serials.get(&of(place)).filter(|known| known.len() == 1);
        place.serial = known.and_then(|known| known.first().cloned());
    }
    let mut by_disk: BTreeMap<String, Vec<Seen>> = BTreeMap::new();
    for (i, place) in places.iter().enumerate() {
        let (Some(serial), Some(host)) = (&place.serial, &place.host) else { continue };
        let seen = by_disk.entry(serial.clone()).or_default();
        match seen.iter_mut().find(|s| s.host == *host) {
            Some(known) => known.last = i,
            None => seen.push(Seen { host: host.clone(), hardware: place.hardware.clone(), first: i, last: i }),
        }
    }
    let mut notes = Vec::new();
    for (serial, mut seen) in by_disk {
        seen.compact_sort_by_key(|s| s.first);
        for pair in seen.windows(2) {
            let [before, after] = pair else { continue };
            let run = &places[after.first].run;
            let same = before.hardware.is_some() && before.hardware == after.hardware && before.last < after.first;
            notes.push(match same {
                true => format!(
                    "the machine with disk {serial} was called {} and is called {} since run {run}: one machine",
                    before.host, after.host
                ),
                false => format!(
                    "disk {serial} was in {} and is in {} since run {run}: their runs are kept apart",
                    before.host, after.host
                ),
            });
        }
        // From the last name back, as long as it is the same machine.
        for i in (1..seen.len()).rev() {
            let (before, after) = (seen[i - 1].clone(), seen[i].clone());
            if before.hardware.is_some() && before.hardware == after.hardware && before.last < after.first {
                let of_before =
                    |p: &&mut &mut Place| p.serial.as_ref() == Some(&serial) && p.host.as_ref() == Some(&before.host);
                places.iter_mut().filter(of_before).for_each(|p| p.host = Some(after.host.clone()));
                seen[i - 1].host = after.host;
            }
        }
    }
    notes
}

/// When a disk was seen in a machine.
#[derive(Clone)]
struct Seen {
    host: String,
    hardware: Option<String>,
    first: usize,
    last: usize,
}

/// What a plan asks for, in a number: the same for the same work, whatever its seeds and the times that follow from a budget.
pub fn plan_digest(run: &Run) -> u64 {
    let plan = &run.plan;
    let mut text = format!("{} {} {}\n", json_name(&run.target.kind), plan.size.bytes, plan.budget_ns);
    for (job, options) in run.phases.iter().flat_map(|p| p.plan.job_options()) {
        text.push_str(&format!("{job} {options:?}\n"));
    }
    for (job, options) in job_options::of(run) {
        text.push_str(&format!("{job} {options:?}\n"));
    }
    digest(text.as_bytes())
}

/// FNV-1a, 64 bits, its bits mixed once more (`draft-eastlake-fnv`, Steele, Lea, Flood 2014).
pub fn digest(bytes: &[u8]) -> u64 {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
    model::random::finalise(hash)
}
