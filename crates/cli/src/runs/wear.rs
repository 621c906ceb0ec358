//! `narrows runs wear`: what the disks of the archive's runs and soaks said of their life, in the order of time.

use crate::args::WearArgs;
use crate::inspect_place;
use crate::option_value::{self, more_than_nothing};
use crate::output::Output;
use archive::Archive;
use engine::SimRig;
use judge::{DiskSeen, emmc_used_percent, wear_medium, wear_of_disk};
use model::{CompactSort as _, Fact, Failure, Layer, LayerKind, NS_PER_S, ProcessIo, Stack, TargetKind, WearReading};
use observe::{Locator, ProbeOptions, Root, facts};
use report::document::{WearDocument, WearPlace};
use soak::SoakState;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

/// Processes that are named.
const MOST_WRITERS: usize = 5;

/// Executes the command.
pub fn command(archive: &Archive, args: &WearArgs, output: &Output) -> Result<ExitCode, Failure> {
    let root = Root::new("/");
    let said_a_day = args
        .per_day
        .as_deref()
        .map(|text| more_than_nothing("--per-day", option_value::bytes("--per-day", text), "5GB"))
        .transpose()?;
    let wanted = args.disk.as_deref().map(|disk| Wanted::of(&root, disk)).transpose()?;
    let mut disks = Disks::default();
    disks.take_runs(archive)?;
    disks.take_soaks(archive);
    disks.take_machine(&root);
    let simulated = wanted.as_ref().filter(|wanted| wanted.is_simulated);
    disks.take_simulated(simulated.map(|wanted| wanted.text.as_str()));
    // Nobody here writes to a simulated device.
    let writers = if simulated.is_some() { Vec::new() } else { writers(&root) };
    let place = wanted.as_ref().and_then(Wanted::place);
    let mut found = disks.0;
    found.retain(|key, disk| match &wanted {
        Some(wanted) => wanted.is(key, disk),
        // Of what is not here, and of what is simulated, only what was told.
        None => !disk.seen.readings.is_empty() || disk.seen.name.is_some() && !disk.simulated,
    });
    if let Some(wanted) = wanted.filter(|_| found.is_empty()) {
        return Err(wanted.nothing());
    }
    let disk = |disk: Disk| wear_of_disk(DiskSeen { said_a_day, own_runs: disk.own_runs(), ..disk.seen });
    let document = WearDocument::new(
        found.into_values().map(disk).collect(),
        writers,
        observe::environment(&root).root != Some(false),
    );
    let document = document.of_place(place);
    output.answer(&document, || report::wear(&document));
    Ok(ExitCode::SUCCESS)
}

/// One disk, as it is put together.
#[derive(Default)]
struct Disk {
    seen: DiskSeen,
    /// What this program wrote to it.
    own_bytes: u64,
    /// When it did so first, seconds of Unix time.
    first_s: Option<i64>,
    simulated: bool,
}

impl Disk {
    /// What this program wrote to it, and in which time; of a simulated device that would be no time of this world.
    fn own_runs(&self) -> Option<(u64, f64)> {
        let since = jiff::Timestamp::now().as_second().checked_sub(self.first_s?)?;
        (!self.simulated).then_some((self.own_bytes, since as f64))
    }
}

/// By their serial numbers, or where there is none by name.
#[derive(Default)]
struct Disks(BTreeMap<String, Disk>);

impl Disks {
    /// The disk of a layer; `simulated` is the name of a device that has its serial number in common with others.
    fn of(&mut self, layer: &Layer, simulated: Option<&str>) -> &mut Disk {
        let serial = layer.text(facts::SERIAL).unwrap_or(&layer.name);
        let disk = self.0.entry(simulated.unwrap_or(serial).to_owned()).or_default();
        disk.simulated = simulated.is_some();
        let seen = &mut disk.seen;
        seen.serial = serial.to_owned();
        seen.name = seen.name.take().or_else(|| simulated.map(str::to_owned));
        seen.model = seen.model.take().or_else(|| layer.text(facts::MODEL).map(str::to_owned));
        seen.medium = wear_medium(layer);
        seen.size_bytes = layer.int(facts::SIZE_BYTES).and_then(|n| u64::try_from(n).ok()).or(seen.size_bytes);
        disk
    }

    fn take_runs(&mut self, archive: &Archive) -> Result<(), Failure> {
        for id in archive.ids()? {
            // What cannot be read `runs list` complains of.
            let Ok(run) = archive.load_summary(&id) else { continue };
            let Some(session) = run.sessions.first() else { continue };
            let started_s = session.started.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second);
            let simulated = Some(run.target.name.as_str()).filter(|_| run.target.kind == TargetKind::Sim);
            for layer in of_disks(&run.target.stack).filter(|layer| layer.text(facts::SERIAL).is_some()) {
                let disk = self.of(layer, simulated);
                disk.own_bytes = disk.own_bytes.saturating_add(run.bytes_written);
                disk.first_s = disk.first_s.into_iter().chain(started_s).min();
                // A soak tells more of itself below, and a recording looks at its disk at its end only.
                if !matches!(run.command.as_str(), "soak" | "record") {
                    disk.seen.readings.extend(reading(&session.started, &id, &|name| layer.fact(name)));
                }
            }
        }
        Ok(())
    }

    fn take_soaks(&mut self, archive: &Archive) {
        for soak in SoakState::all(archive) {
            for (layer, serial) in &soak.serials {
                let counter = |name: &str| soak.counters.get(&format!("{layer}: {name}"));
                let before = reading(&soak.started, &soak.id, &|name| Some(&counter(name)?.0));
                let after = reading(&later(&soak.started, soak.elapsed_ns), &soak.id, &|name| Some(&counter(name)?.1));
                let disk = self.0.entry(serial.clone()).or_default();
                disk.seen.serial = serial.clone();
                disk.seen.readings.extend(before.into_iter().chain(after));
            }
        }
    }

    /// The disks of this machine, as they are now.
    fn take_machine(&mut self, root: &Root) {
        let here = observe::disks(root).into_iter().filter(|disk| disk.layer == LayerKind::Disk);
        let look = ProbeOptions { health: true, ..ProbeOptions::default() };
        for name in here.map(|disk| disk.name) {
            let stack = observe::inventory_with(root, &Locator::DeviceName(name.clone()), look).stack;
            let Some(layer) = of_disks(&stack).next() else { continue };
            let disk = self.of(layer, None);
            let now = format!("{:.0}", jiff::Timestamp::now());
            disk.seen.readings.extend(reading(&now, "now", &|name| layer.fact(name)));
            disk.seen.since_boot = observe::written_since_boot(root, &name);
            disk.seen.name = Some(name);
        }
    }

    /// A simulated device that is asked about, whether or not there are runs on it.
    fn take_simulated(&mut self, asked: Option<&str>) {
        let Some(rig) = asked.and_then(|name| Some(SimRig::new(spec::parse_sim(name).ok()?, NS_PER_S))) else { return };
        for layer in of_disks(&rig.stack()) {
            self.of(layer, asked);
        }
    }
}

fn of_disks(stack: &Stack) -> impl Iterator<Item = &Layer> {
    stack.layers.iter().filter(|layer| layer.kind == LayerKind::Disk)
}

/// The disk that is asked about: by a serial number, a part of a model, a device by node or bare name, any place, or as a simulated one.
struct Wanted {
    text: String,
    /// Serial numbers, or else names, of the disks below the place that it is.
    below: Vec<String>,
    /// The names of these disks, and of the devices between them and the place.
    disks: Vec<String>,
    between: Vec<String>,
    is_simulated: bool,
}

impl Wanted {
    /// # Errors
    /// A simulated device that there is not.
    fn of(root: &Root, disk: &OsStr) -> Result<Self, Failure> {
        let text = disk.to_string_lossy().into_owned();
        if inspect_place::is_no_place(disk) {
            if text == "null:" {
                return Err(Failure::usage("null: keeps no data, so nothing of it wears").remedy("narrows runs wear"));
            }
            spec::parse_sim(&text).map_err(|e| {
                Failure::usage(e.to_string()).remedy("sim:help   lists devices and parameters, with their defaults")
            })?;
            let (disks, between) = (Vec::new(), Vec::new());
            return Ok(Self { below: vec![text.clone()], text, disks, between, is_simulated: true });
        }
        let look = ProbeOptions { health: true, ..ProbeOptions::default() };
        let stack = inspect_place::place(root, disk).map(|place| observe::inventory_with(root, &place, look).stack);
        let key = |layer: &Layer| layer.text(facts::SERIAL).unwrap_or(&layer.name).to_owned();
        let stack = stack.unwrap_or_default();
        let below = of_disks(&stack).map(key).collect();
        let disks = of_disks(&stack).map(|disk| disk.name.clone()).collect();
        let is_between =
            |l: &&Layer| matches!(l.kind, LayerKind::Loop | LayerKind::Dm | LayerKind::Md | LayerKind::Partition);
        let between = stack.layers.iter().filter(is_between).map(|l| l.name.clone()).collect();
        Ok(Self { text, below, disks, between, is_simulated: false })
    }

    /// What it lies on, unless it is a disk itself.
    fn place(&self) -> Option<WearPlace> {
        let is_disk =
            self.between.is_empty() && self.disks.iter().any(|disk| self.text.trim_start_matches("/dev/") == disk);
        let shown = !is_disk && !self.disks.is_empty() && Path::new(&self.text).exists();
        let Self { text, between, disks, .. } = self;
        shown.then(|| WearPlace { place: text.clone(), devices: between.clone(), disks: disks.clone() })
    }

    fn is(&self, key: &String, disk: &Disk) -> bool {
        let of_model = || disk.seen.model.as_ref().is_some_and(|model| model.contains(&self.text));
        if self.below.is_empty() { disk.seen.serial == self.text || of_model() } else { self.below.contains(key) }
    }

    /// There is none.
    fn nothing(&self) -> Failure {
        let place = Path::new(&self.text);
        let what = match place.exists() {
            true => format!("{} lies on no disk whose wear could be known", place.display()),
            false => format!("no disk '{}' is here, and no run or soak in this archive knows one", self.text),
        };
        Failure::usage(what).remedy(
            "narrows runs wear   shows all that are known; a disk is named by its device, a place on it, its serial number or model",
        )
    }
}

/// Who wrote most.
fn writers(root: &Root) -> Vec<ProcessIo> {
    let mut all = observe::process_io(root);
    all.retain(|process| process.write_bytes > 0);
    all.compact_sort_by_key(|process| Reverse(process.write_bytes));
    all.truncate(MOST_WRITERS);
    all
}

/// What was said at a moment; `None` if nothing was.
fn reading<'f>(at: &str, from: &str, fact: &dyn Fn(&str) -> Option<&'f Fact>) -> Option<WearReading> {
    let count = |name: &str| fact(name).and_then(Fact::int).and_then(|n| u64::try_from(n).ok());
    let percent = count(facts::WEAR_PERCENT).map(|percent| percent as f64);
    let used_percent = percent.or_else(|| fact(facts::LIFE_TIME).and_then(Fact::text).and_then(emmc_used_percent));
    let reading = WearReading {
        at: at.to_owned(),
        at_s: at.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second),
        from: from.to_owned(),
        used_percent,
        // A tenth is all that an eMMC tells.
        step_percent: if percent.is_some() { 1.0 } else { 10.0 },
        written_bytes: count(facts::WRITTEN_BYTES),
        flash_written_bytes: count(facts::FLASH_WRITTEN_BYTES),
    };
    let has_counter =
        reading.used_percent.is_some() || reading.written_bytes.is_some() || reading.flash_written_bytes.is_some();
    has_counter.then_some(reading)
}

/// A moment so much later, as far as it can be said.
fn later(started: &str, ns: u64) -> String {
    let moment = started
        .parse::<jiff::Timestamp>()
        .ok()
        .and_then(|at| at.checked_add(jiff::SignedDuration::from_nanos(i64::try_from(ns).unwrap_or(i64::MAX))).ok());
    moment.map_or_else(|| started.to_owned(), |at| format!("{at:.0}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_what_the_device_reports() {
        let life = Fact::Text("0x01 0x03".into());
        let found = reading("2026-01-01T00:00:00Z", "r", &|name| (name == facts::LIFE_TIME).then_some(&life)).unwrap();
        assert_eq!((found.used_percent, found.step_percent), (Some(30.0), 10.0));
        assert_eq!(reading("2026-01-01T00:00:00Z", "r", &|_| None), None);
        assert_eq!(later("2026-01-01T00:00:00Z", 90_000_000_000), "2026-01-01T00:01:30Z");
    }
}
