//! A soak as a run of the archive: a part for each pass, and one for what was found.

use crate::{SoakEnd, SoakState};
use conduct::kept_run;
use model::{
    Better, Environment, Failure, Metric, PhaseRecord, ReadBack, Run, RunState, Target, Unit, VerifyKind, VerifyRecord,
};

/// The part that holds what was verified and found.
const VERIFIED: &str = "verified";

/// The run of a soak as far as it came.
///
/// # Errors
/// The kernel gives no random numbers.
pub fn run_of(
    state: &SoakState,
    ended: Option<SoakEnd>,
    target: Target,
    environment: Environment,
) -> Result<Run, Failure> {
    let target = Target { name: state.target.clone(), size_bytes: Some(state.region_bytes), ..target };
    let mut run = kept_run::blank("soak", &state.started, target, environment)?;
    run.state = match ended {
        Some(SoakEnd::Done | SoakEnd::Found) => RunState::Complete,
        Some(SoakEnd::Interrupted) => RunState::Interrupted,
        None => RunState::Failed,
    };
    (run.duration_ns, run.bytes_written) = (state.elapsed_ns, state.bytes_written);
    run.remarks.push(format!("soak {}, session {}", state.id, state.sessions.max(1)));
    run.remarks.extend(
        state.in_memory.iter().map(|why| format!("what was read back came from memory, not from the device: {why}")),
    );
    run.kernel_log = (!state.kernel_warnings.is_empty()).then(|| state.kernel_warnings.clone());
    for pass in state.times.passes() {
        let name = format!("pass-{}", pass.pass);
        let metric = |quantity: &str, unit, better, value| {
            Metric::measured(format!("{name}.{quantity}"), unit, Some(better), value, 1)
        };
        let rate = pass.bytes as f64 * 1e9 / pass.write_ns.max(1) as f64;
        let rate = metric("throughput_bytes_per_s", Unit::BytesPerS, Better::Higher, rate);
        let mut metrics: Vec<Metric> = Some(rate).filter(|_| pass.write_ns > 0).into_iter().collect();
        metrics.push(metric("latency_ns_p50", Unit::Ns, Better::Lower, pass.median_ns as f64));
        metrics.push(metric("latency_ns_p99", Unit::Ns, Better::Lower, pass.p99_ns as f64));
        kept_run::push(&mut run, name, metrics, None);
    }
    let record = PhaseRecord {
        ended_ns: state.elapsed_ns,
        bytes: state.bytes_written,
        errors: state.errors.clone(),
        verify: Some(verified(state)),
        ..PhaseRecord::default()
    };
    kept_run::push(&mut run, VERIFIED.to_owned(), Vec::new(), Some(record));
    Ok(run)
}

fn verified(state: &SoakState) -> VerifyRecord {
    let mut record = VerifyRecord {
        kinds: vec![VerifyKind::Stamp],
        bytes_verified: state.bytes_verified,
        blocks_verified: state.bytes_verified / state.unit_bytes.max(1),
        findings: state.findings.clone(),
        findings_dropped: state.findings_dropped,
        read_back: ReadBack::Complete,
        ..VerifyRecord::default()
    };
    state.findings.iter().for_each(|finding| record.count(finding.class, 1));
    record
}
