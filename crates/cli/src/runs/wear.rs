//! `narrows runs wear`: what the disks of the archive's runs and soaks said of their life, in the order of time.

use crate::output::Output;
use archive::Archive;
use conduct::soak::SoakState;
use judge::{emmc_used_percent, wear_of_disk};
use model::{CompactSort as _, Fact, Failure, Layer, LayerKind, ProcessIo, WearOfDisk, WearReading};
use observe::{Locator, ProbeOptions, Root, facts};
use report::document::WearDocument;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Processes that are named.
const MOST_WRITERS: usize = 5;

/// Executes the command.
pub fn command(archive: &Archive, wanted: Option<&str>, output: &Output) -> Result<ExitCode, Failure> {
    let mut disks: BTreeMap<String, (Option<String>, Vec<WearReading>)> = BTreeMap::new();
    let mut take = |serial: &str, model: Option<&str>, reading: WearReading| {
        let (known, readings) = disks.entry(serial.to_owned()).or_default();
        *known = known.take().or_else(|| model.map(str::to_owned));
        readings.push(reading);
    };
    for id in archive.ids()? {
        // What cannot be read `runs list` complains of.
        let Ok(run) = archive.load_summary(&id) else { continue };
        // A soak tells more of itself below, and a recording looks at its disk at its end only.
        if matches!(run.command.as_str(), "soak" | "record") {
            continue;
        }
        let Some(session) = run.sessions.first() else { continue };
        for layer in &run.target.stack.layers {
            let Some(serial) = layer.text(facts::SERIAL) else { continue };
            if let Some(reading) = reading(&session.started, &id, &|name| layer.fact(name)) {
                take(serial, layer.text(facts::MODEL), reading);
            }
        }
    }
    for soak in SoakState::all(archive) {
        for (layer, serial) in &soak.serials {
            let counter = |name: &str| soak.counters.get(&format!("{layer}: {name}"));
            let before = reading(&soak.started, &soak.id, &|name| Some(&counter(name)?.0));
            let after = reading(&later(&soak.started, soak.elapsed_ns), &soak.id, &|name| Some(&counter(name)?.1));
            before.into_iter().chain(after).for_each(|reading| take(serial, None, reading));
        }
    }
    let (root, mut since_boot) = (Root::new("/"), BTreeMap::new());
    for (name, layer) in disks_here(&root) {
        let serial = layer.text(facts::SERIAL).unwrap_or(&name).to_owned();
        let (known, readings) = disks.entry(serial.clone()).or_default();
        *known = known.take().or_else(|| layer.text(facts::MODEL).map(str::to_owned));
        readings.extend(reading(&format!("{:.0}", jiff::Timestamp::now()), "now", &|name| layer.fact(name)));
        since_boot.insert(serial, (observe::written_since_boot(&root, &name), name));
    }
    let fits = |disk: &WearOfDisk| {
        wanted.is_none_or(|text| disk.serial == text || disk.model.as_ref().is_some_and(|model| model.contains(text)))
    };
    let disks = disks.into_iter().map(|(serial, (model, readings))| {
        let (written, name) = since_boot.remove(&serial).map_or((None, None), |(written, name)| (written, Some(name)));
        WearOfDisk { name, ..wear_of_disk(serial, model, readings, written) }
    });
    let disks: Vec<WearOfDisk> = disks.filter(fits).collect();
    if let Some(text) = wanted.filter(|_| disks.is_empty()) {
        let what = format!("no run or soak in this archive knows the wear of a disk '{text}'");
        return Err(Failure::usage(what).remedy("narrows runs wear   shows all that are known"));
    }
    let document = WearDocument::new(disks, writers(&root));
    output.answer(&document, || report::wear(&document));
    Ok(ExitCode::SUCCESS)
}

/// The disks of this machine, as they are now.
fn disks_here(root: &Root) -> Vec<(String, Layer)> {
    let names = observe::disks(root).into_iter().filter(|disk| disk.layer == LayerKind::Disk).map(|disk| disk.name);
    let look = ProbeOptions { health: true, ..ProbeOptions::default() };
    let disk = |name: String| {
        let stack = observe::inventory_with(root, &Locator::DeviceName(name.clone()), look).stack;
        Some((name, stack.layers.iter().find(|layer| layer.kind == LayerKind::Disk)?.clone()))
    };
    names.filter_map(disk).collect()
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
