//! What the machine itself says while a soak runs: the counters of errors and wear of its disks and file system before and
//! after, and the warnings of the kernel.

use crate::SoakState;
use conduct::Opened;
use model::{Amplification, Fact, Layer, Layers};
use observe::{Locator, ProbeOptions, Root, facts};
use std::collections::BTreeMap;

/// Facts that count what goes wrong, and what wears.
const COUNTERS: [&str; 19] = [
    facts::FILESYSTEM_ERRORS,
    facts::WRITE_ERRORS,
    facts::READ_ERRORS,
    facts::FLUSH_ERRORS,
    facts::CORRUPTION_ERRORS,
    facts::GENERATION_ERRORS,
    facts::INTEGRITY_MISMATCHES,
    facts::HEALTH_OK,
    facts::MEDIA_ERRORS,
    facts::REALLOCATED_SECTORS,
    facts::PENDING_SECTORS,
    facts::INTERFACE_CRC_ERRORS,
    facts::WEAR_PERCENT,
    facts::SPARE_PERCENT,
    facts::LIFE_TIME,
    facts::WRITTEN_BYTES,
    facts::FLASH_WRITTEN_BYTES,
    facts::TEMPERATURE_C,
    facts::THROTTLED_MINUTES,
];

/// Warnings of the kernel that are kept, the newest.
const MOST_LINES: usize = 64;
/// Warnings, errors and worse (k:include/linux/kern_levels.h).
const WARNING: u8 = 4;

/// Listens to the machine for a session.
pub(crate) struct Machine {
    place: Option<Locator>,
    log: Option<sys::KernelLog>,
}

impl Machine {
    /// From now on; what it counted before is kept with the first session.
    pub(crate) fn listen(opened: &Opened, state: &mut SoakState) -> Self {
        let log = opened.place.as_ref().and_then(|_| sys::KernelLog::from_now().ok());
        let machine = Self { place: opened.place.clone(), log };
        if state.counters.is_empty() {
            let layers = machine.layers();
            state.counters = counters(&layers).into_iter().map(|(name, now)| (name, (now.clone(), now))).collect();
            let serial = |layer: &Layer| Some((layer.name.clone(), layer.text(facts::SERIAL)?.to_owned()));
            state.serials = layers.iter().filter_map(serial).collect();
        }
        machine
    }

    /// Takes over the kernel's new warnings; how many.
    pub(crate) fn poll_kernel_log(&mut self, state: &mut SoakState) -> usize {
        let messages = self.log.as_mut().and_then(|log| log.drain().ok()).unwrap_or_default();
        let warnings = messages.iter().filter(|m| m.level <= WARNING);
        let before = state.kernel_warnings.len();
        state.kernel_warnings.extend(warnings.map(|m| format!("[{:.6}] {}", m.at_us as f64 / 1e6, m.text)));
        let new = state.kernel_warnings.len() - before;
        let beyond = state.kernel_warnings.len().saturating_sub(MOST_LINES);
        state.kernel_warnings.drain(..beyond);
        new
    }

    /// What it counts now.
    pub(crate) fn count(&self, state: &mut SoakState) {
        for (name, now) in counters(&self.layers()) {
            let kept = state.counters.entry(name).or_insert_with(|| (now.clone(), Fact::Null));
            kept.1 = now;
        }
    }

    fn layers(&self) -> Layers {
        let Some(place) = &self.place else { return Layers::default() };
        let look = ProbeOptions { health: true, ..ProbeOptions::default() };
        observe::inventory_with(&Root::new("/"), place, look).stack.layers
    }
}

/// By layer: `sda: media_errors`.
fn counters(layers: &[Layer]) -> BTreeMap<String, Fact> {
    let of_layer = |layer: &Layer| {
        let of_fact = |name: &&str| Some((format!("{}: {name}", layer.name), layer.fact(name)?.clone()));
        COUNTERS.iter().filter_map(of_fact).collect::<Vec<_>>()
    };
    layers.iter().flat_map(of_layer).collect()
}

impl SoakState {
    /// Of each device that counts both.
    pub fn write_amplification(&self) -> Vec<Amplification> {
        let grown = |layer: &str, counter: &str| {
            let (before, now) = self.counters.get(&format!("{layer}: {counter}"))?;
            u64::try_from(now.int()?.checked_sub(before.int()?)?).ok()
        };
        let of = |layer: &str| {
            let flash_bytes = grown(layer, facts::FLASH_WRITTEN_BYTES)?;
            let host_bytes = grown(layer, facts::WRITTEN_BYTES).filter(|bytes| *bytes > 0)?;
            let amplification = flash_bytes as f64 / host_bytes as f64;
            Some(Amplification { layer: layer.to_owned(), host_bytes, flash_bytes, amplification })
        };
        let names = self.counters.keys();
        let layers = names.filter_map(|name| name.strip_suffix(facts::FLASH_WRITTEN_BYTES)?.strip_suffix(": "));
        layers.filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TargetIdentity;

    #[test]
    fn what_the_flash_wrote_is_told_of_devices_that_count_it() {
        let mut state =
            SoakState::new("x-1".into(), "/t", "/t".into(), TargetIdentity::default(), 1 << 24, [1, 2, 3, 4]);
        let mut counts = |name: &str, before, now| state.counters.insert(name.into(), (Fact::Int(before), now));
        counts("nvme0n1: written_bytes", 1_000, Fact::Int(3_000));
        counts("nvme0n1: flash_written_bytes", 5_000, Fact::Int(8_000));
        counts("nvme1n1: written_bytes", 1_000, Fact::Int(3_000));
        counts("nvme2n1: flash_written_bytes", 1_000, Fact::Int(3_000));
        counts("nvme3n1: written_bytes", 1_000, Fact::Null);
        counts("nvme3n1: flash_written_bytes", 1_000, Fact::Int(3_000));
        let told = state.write_amplification();
        assert_eq!(told.len(), 1);
        let first = &told[0];
        assert_eq!((first.layer.as_str(), first.host_bytes, first.flash_bytes), ("nvme0n1", 2_000, 3_000));
        assert!((first.amplification - 1.5).abs() < 1e-9);
    }
}
