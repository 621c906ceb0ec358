//! Workloads whose phases share a budget of time: how long each has.

use super::ResolveError;
use crate::job::{Job, Phase, Workload};
use crate::run_inputs::{Probe, Readiness, RunInputs};
use crate::share::share;
use model::{Reason, SteadyState, TargetKind};

/// A round through the page cache without a probe.
const USUAL_ROUND_BYTES: u64 = 16 << 20;

/// What a budget gives a phase: its share, or why it has none; `None`: it takes what it says itself.
pub(super) type Share = Option<Result<u64, Reason>>;

/// The time that a phase says itself.
fn own_ns(phase: &Phase) -> Option<u64> {
    let whole = |j: &Job| Some(j.start_ns().saturating_add(j.steady.and_then(SteadyState::most_ns).or(j.time_ns)?));
    phase.jobs.iter().map(whole).max().flatten()
}

impl Workload {
    /// Whether its phases share a budget of time: they may be shortened, and left out.
    pub fn has_budget(&self) -> bool {
        self.budget.total_ns.is_some()
    }

    /// Whether the budget holds anything at all, before a target is touched.
    ///
    /// # Errors
    /// [`ResolveError::Budget`] with the least that is needed: one phase with its windows, after those that say their time.
    pub fn check_budget(&self) -> Result<(), ResolveError> {
        let Some(given) = self.budget.total_ns else { return Ok(()) };
        let least = self.own_times_ns().saturating_add(self.budget.least_share_ns).saturating_add(3 * self.quiet_ns);
        if given < least {
            let least_s = (least as f64 / 1e8).ceil() / 10.0;
            return Err(ResolveError::Budget { given_s: given as f64 / 1e9, least_s });
        }
        Ok(())
    }

    /// What phases take that say their time, with the window after each that measures.
    fn own_times_ns(&self) -> u64 {
        let window = |p: &Phase| if p.measures_target() { self.quiet_ns } else { 0 };
        self.phases.iter().filter_map(|p| Some(own_ns(p)?.saturating_add(window(p)))).fold(0, u64::saturating_add)
    }

    /// What layout may take.
    pub(super) fn layout_ns(&self, inputs: &RunInputs) -> Option<u64> {
        let total = self.budget.total_ns?;
        let writable = inputs.readiness == Readiness::Writable;
        Some(if writable { (total as f64 * (f64::from(self.budget.layout_percent) / 100.0)) as u64 } else { 0 })
    }

    /// Shares the budget among the phases, on a region of so many bytes.
    pub(super) fn shares(&self, inputs: &RunInputs, region_bytes: u64) -> Vec<Share> {
        let mut shares = vec![None; self.phases.len()];
        let (Some(total), Some(layout_ns)) = (self.budget.total_ns, self.layout_ns(inputs)) else { return shares };
        let skipped = |p: &Phase| inputs.readiness != Readiness::Writable && p.changes_data();
        let open = |p: &Phase| p.jobs.iter().all(|j| j.time_ns.is_none() && j.steady.is_none());
        let takes = |p: &Phase| p.measures_target() && open(p) && !skipped(p);
        let shared: Vec<usize> = (0..self.phases.len()).filter(|&i| takes(&self.phases[i])).collect();
        let expected_layout_ns = match inputs.probe.bytes_per_s {
            _ if inputs.kind == TargetKind::Null => 0,
            Some(rate) => ((region_bytes as f64 / rate * 1e9) as u64).min(layout_ns),
            None => layout_ns,
        };
        let spent = [inputs.probe.used_ns, expected_layout_ns, self.own_times_ns(), self.quiet_ns];
        let available = total.saturating_sub(spent.into_iter().fold(0, u64::saturating_add));
        let weights: Vec<(f64, u32)> = shared.iter().map(|&i| self.phases[i].weight()).collect();
        let given = share(available, self.budget.least_share_ns, self.quiet_ns, &weights);
        for (at, share) in shared.into_iter().zip(given) {
            let none = || Reason::of("budget", format!("{:.0} s do not hold this phase", total as f64 / 1e9));
            shares[at] = Some(share.ok_or_else(none));
        }
        shares
    }
}

/// A round that fits about sixteen times into the phase, a power of two from 1 to 64 MiB: small enough for a slow card
/// to give several samples, large enough for one fsync not to be all that is measured. Where the page cache writes back
/// far more slowly than the direct rate, at least four rounds fit: a sync that has begun cannot be cut short.
pub(super) fn round_bytes(probe: &Probe, time_ns: u64, region_bytes: u64) -> u64 {
    const MIN: u64 = 1 << 20;
    const MAX: u64 = 64 << 20;
    let part = |rate: f64, parts: f64| (rate * time_ns as f64 / 1e9 / parts) as u64;
    let wanted = probe.bytes_per_s.map_or(USUAL_ROUND_BYTES, |r| part(r, 16.0));
    let fits = probe.round_bytes_per_s.map_or(u64::MAX, |r| part(r, 4.0));
    1 << wanted.min(fits).clamp(MIN, MAX.min(region_bytes).max(MIN)).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::NS_PER_S;

    #[test]
    fn rounds_suit_the_speed() {
        let bytes = |bytes_per_s, round_bytes_per_s| {
            round_bytes(&Probe { bytes_per_s, round_bytes_per_s, ..Probe::default() }, 4 * NS_PER_S, 4 << 30)
        };
        assert_eq!(bytes(Some(2e9), None), 64 << 20);
        assert_eq!(bytes(Some(10e6), None), 2 << 20);
        assert_eq!(bytes(Some(1e3), None), 1 << 20);
        // A small round is mostly its sync: only where the page cache is slower by far does it decide.
        assert_eq!(bytes(Some(107e6), Some(35e6)), 16 << 20);
        assert_eq!(bytes(Some(107e6), Some(1.2e6)), 1 << 20);
        assert_eq!(bytes(None, Some(9e6)), 8 << 20);
    }
}
