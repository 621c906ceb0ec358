//! What an operation or a GB cost the processors. A share of a processor says nothing across sides: who does more work in
//! the same time needs more of it.

use model::{Better, Metric, MetricKey, MetricStatus, Reason, Run, Unit};

/// Why a share is shown and not judged.
pub(super) fn a_share() -> Reason {
    let text = "a share of a processor grows with the work that is done; it is compared per operation and per GB";
    Reason::of("not-judged", text)
}

const SHARES: &str = "cpu_percent";
const PER_OPERATION: &str = "cpu_ns_per_op";
const PER_GB: &str = "cpu_s_per_gb";
/// Rates of operations, in the words of all formats.
const RATES: [&str; 3] = ["iops", "ops_per_s", "files_per_s"];
const BYTES: &str = "throughput_bytes_per_s";

/// Whether it is a share of a processor.
pub(super) fn is_share(id: &str) -> bool {
    let quantity = MetricKey::of(id).quantity;
    quantity.starts_with("cpu_") && quantity.ends_with("_percent")
}

/// The ids of what can be derived from a share of a run that has this id; none of those that the run has itself.
pub(super) fn derived(run: &Run, id: &str) -> Vec<String> {
    let Some(of) = id.strip_suffix(SHARES) else { return Vec::new() };
    let has = |quantity: &str| {
        run.metric(&format!("{of}{quantity}")).is_some_and(|m| m.status != MetricStatus::NotApplicable)
    };
    let per_operation = RATES.iter().any(|r| has(r)).then_some(PER_OPERATION);
    let all = per_operation.into_iter().chain(has(BYTES).then_some(PER_GB));
    all.filter(|quantity| !has(quantity)).map(|quantity| format!("{of}{quantity}")).collect()
}

/// What an operation or a GB cost, where the run has a share and a rate and not the cost itself.
pub(super) fn cost(run: &Run, id: &str) -> Option<Metric> {
    let (of, rates, unit, per): (&str, &[&str], Unit, f64) =
        match (id.strip_suffix(PER_OPERATION), id.strip_suffix(PER_GB)) {
            (Some(of), _) => (of, &RATES, Unit::Ns, 1e9),
            (None, Some(of)) => (of, &[BYTES], Unit::S, 1e9),
            (None, None) => return None,
        };
    let share = run.metric(&format!("{of}{SHARES}"))?;
    let rate = rates.iter().find_map(|quantity| run.metric(&format!("{of}{quantity}")))?;
    let missing = [share, rate].into_iter().find(|m| m.value.is_none());
    if let Some(missing) = missing {
        let reason =
            missing.reasons.first().cloned().unwrap_or_else(|| Reason::of("no-data", "a part of it is not known"));
        return Some(Metric::absent(id, unit, Some(Better::Lower), missing.status, reason));
    }
    let (share, n, rate) = (share.value?, share.n.min(rate.n), rate.value.filter(|r| *r > 0.0)?);
    Some(Metric::measured(id, unit, Some(Better::Lower), share / 100.0 * per / rate, n))
}
