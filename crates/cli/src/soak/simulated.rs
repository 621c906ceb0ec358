//! A soak of a simulated device: what fits into memory, and a fault that is to be shown.

use conduct::Opened;
use model::Failure;
use report::quantity;
use soak::{LapVersions, SoakState};

/// Of a simulated device, where nothing else is asked.
const SIMULATED_BYTES: u64 = 64 << 20;
/// So far beyond the end of one that ends early.
const BEYOND_BYTES: u64 = 16 << 20;
/// Of one at most, in memory.
const MOST_SIMULATED_BYTES: u64 = 1 << 30;

/// Of a simulated device, what it keeps is kept in memory; where it is smaller than it says, the region reaches beyond that.
pub(super) fn region(opened: &Opened, size: Option<u64>) -> Result<u64, Failure> {
    let name = &opened.target.name;
    let real = conduct::simulated_bytes(opened)?;
    let usual = real.map_or(SIMULATED_BYTES, |real| SIMULATED_BYTES.max(real.saturating_add(BEYOND_BYTES)));
    let region = size.unwrap_or(usual).min(opened.max_bytes);
    let kept = real.map_or(region, |real| region.min(real));
    let memory = opened.memory_bytes.map_or(u64::MAX, |free| free / 2);
    if kept > MOST_SIMULATED_BYTES.min(memory) {
        let (option, most) = (if size.is_some() { "--size" } else { name }, MOST_SIMULATED_BYTES.min(memory));
        let what = format!(
            "{option}: a simulated device keeps its data in memory: at most {}, and this would be {}",
            quantity::binary_size(most),
            quantity::binary_size(kept)
        );
        return Err(Failure::usage(what).remedy(
            "a smaller --size; where the device ends early, an earlier end such as wraps-at=64MiB, or narrows rate sim:... \
             --capacity quick",
        ));
    }
    match real.filter(|real| region <= *real) {
        Some(real) => Err(Failure::usage(format!(
            "{name}: it ends at {}, and a region of {} never reaches that",
            quantity::binary_size(real),
            quantity::binary_size(region)
        ))
        .remedy(format!("--size {}MiB, or without --size", (real + BEYOND_BYTES).div_ceil(1 << 20)))),
        None => Ok(region),
    }
}

/// That nothing is kept beyond where a device ends shows in a lap of which a part is kept; one of which nothing is could be lost writes.
pub(super) fn lay_a_lap_across_the_end(state: &mut SoakState, opened: &Opened) -> Result<(), Failure> {
    if let Some(real) = conduct::simulated_bytes(opened)? {
        while real.is_multiple_of(state.lap_bytes) && state.lap_bytes < real {
            state.lap_bytes += 1 << 20;
        }
        let laps = state.region_bytes.div_ceil(state.lap_bytes);
        state.laps.resize(usize::try_from(laps).unwrap_or(0), LapVersions::default());
    }
    Ok(())
}

/// A demonstration that shows nothing.
pub(super) fn not_come(state: &SoakState, faults: &[&str]) -> Failure {
    let what = format!(
        "{}: nothing was wrong, since {} had not come after {} passes, {} written",
        state.target,
        faults.join(" and "),
        state.passes,
        quantity::size(state.bytes_written)
    );
    Failure::invalid(what).remedy(
        "more passes (--passes N) or an earlier fault: operations are counted from 1, 64 writes in the first pass",
    )
}
