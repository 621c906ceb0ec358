//! What a soak came to, as a document.

use model::Reason;
use report::document::{CounterChange, SoakDocument};
use soak::{SoakEnd, SoakState};

/// The document of a soak that ended; of the device whether it is simulated, how large it is, and whether no flush reaches it.
pub(super) fn document(
    state: &SoakState,
    ended: SoakEnd,
    (simulated, device_bytes, keeps_flushes): (bool, Option<u64>, bool),
) -> SoakDocument<'_> {
    let mut remarks = Vec::new();
    if let Some(why) = &state.in_memory {
        remarks.push(format!("what was read back came from memory, not from the device: {why}"));
    }
    if keeps_flushes {
        remarks.push(Reason::NoFlushes {}.text());
    }
    if state.tester_fault {
        remarks.push("data were newer than any that were issued: this program is wrong, please report it".to_owned());
    }
    if !state.is_clean() && state.own_file && state.path.exists() {
        remarks.push(format!("{} is kept, with what it holds", state.path.display()));
    }
    SoakDocument {
        id: &state.id,
        target: &state.target,
        state: ended.name(),
        clean: state.is_clean(),
        duration_s: state.elapsed_ns as f64 / 1e9,
        sessions: state.sessions,
        region_bytes: state.region_bytes,
        device_bytes,
        resumable: !simulated,
        bytes_written: state.bytes_written,
        bytes_verified: state.bytes_verified,
        bytes_read_beside: state.bytes_read_beside,
        passes: state.passes,
        findings: &state.findings,
        findings_dropped: state.findings_dropped,
        errors: &state.errors,
        counters: state
            .counters
            .iter()
            .map(|(name, (b, a))| (name.as_str(), CounterChange { before: b, after: a }))
            .collect(),
        median_growth: state.times.median_growth(),
        p99_growth: state.times.p99_growth(),
        write_amplification: state.write_amplification(),
        kernel_warnings: &state.kernel_warnings,
        scrub: state.scrub.as_ref(),
        group: None,
        remarks,
    }
}
