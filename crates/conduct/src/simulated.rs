//! What a simulated target needs beside others: room in memory for data that are verified, and a plan in which what is to go wrong
//! can.

use crate::Opened;
use model::{Failure, Plan, TargetKind, distinct_bytes_text};

/// Data that are kept at most, whatever memory there is.
const MOST_BYTES: u64 = 2 << 30;
/// A soak keeps at most so much.
const MOST_KEPT: u64 = 1 << 30;
/// Parameters that change data, which shows only where data are verified.
const OF_DATA: [&str; 3] = ["data-fault", "wraps-at", "limbo-from"];

/// How large a simulated device really is, where it is smaller than it says.
///
/// # Errors
/// Its name is none.
pub fn simulated_bytes(opened: &Opened) -> Result<Option<u64>, Failure> {
    if opened.target.kind != TargetKind::Sim {
        return Ok(None);
    }
    let model = spec::parse_sim(&opened.target.name).map_err(|e| Failure::usage(e.to_string()))?;
    Ok(model.faults.wraps_at_bytes.into_iter().chain(model.faults.limbo_from_bytes).min())
}

/// A simulated device keeps in memory what is verified.
pub(crate) fn data_fit_into_memory(plan: &Plan, opened: &Opened) -> Result<(), Failure> {
    if opened.target.kind != TargetKind::Sim {
        return Ok(());
    }
    let real = simulated_bytes(opened)?.unwrap_or(u64::MAX);
    let streams = plan.phases.iter().filter(|p| p.skip.is_none()).flat_map(|p| &p.streams);
    let verified = streams.filter_map(model::StreamPlan::blocks).filter(|stream| stream.verify.is_some());
    let kept = verified.map(|s| s.block.region_bytes.min(s.limits.total_bytes.unwrap_or(u64::MAX)).min(real)).max();
    let most = MOST_BYTES.min(opened.memory_bytes.map_or(u64::MAX, |free| free / 2));
    match kept.filter(|kept| *kept > most) {
        None => Ok(()),
        Some(kept) => {
            let (kept, most) = distinct_bytes_text(kept, most);
            let what = format!("{}: {kept} of data would be kept in memory, at most {most} can be", opened.target.name);
            Err(Failure::refused(what).remedy(
                "a smaller region; of a capacity --capacity quick, or a smaller device: sim:NAME,capacity=1GiB,wraps-at=64MiB",
            ))
        }
    }
}

/// What shows a fault of the data of this device, given that what is verified is kept in memory.
fn shown_by(opened: &Opened) -> Result<String, Failure> {
    let name = &opened.target.name;
    let quick = format!("narrows rate {name} --capacity quick");
    Ok(match simulated_bytes(opened)? {
        None => format!("narrows soak {name}, or a workload with verify"),
        Some(real) if real <= MOST_KEPT => {
            format!("{quick}, narrows soak {name}, narrows fill {name} --verify, or a workload with verify")
        }
        Some(_) => format!("{quick}; a soak or a fill keeps its data in memory, for which an earlier end is needed"),
    })
}

/// Whether what was to go wrong with a simulated device can come.
///
/// # Errors
/// It changes data, and none are verified.
pub(crate) fn faults_can_come(plan: &Plan, opened: &Opened) -> Result<(), Failure> {
    let mut streams = plan.phases.iter().filter(|p| p.skip.is_none()).flat_map(|p| &p.streams);
    let to_come = opened.rig.pending_faults();
    match to_come.iter().find(|name| OF_DATA.contains(name)) {
        Some(name) if !streams.any(|stream| stream.verify.is_some()) => {
            let what = format!("{}: {name} never shows where no data are verified, as here", opened.target.name);
            Err(Failure::usage(what).remedy(shown_by(opened)?))
        }
        _ => Ok(()),
    }
}
