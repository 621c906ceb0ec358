//! What is left of a budget while its plan is executed.

use model::{PhasePlan, Plan, Reason};
use spec::MIN_SHARE_NS;

/// Before phase `index` starts: if what is left of the budget no longer holds the rest of the plan (layout or a sync
/// took longer than foreseen), shortens this phase's share in proportion, or skips it when less than
/// [`MIN_SHARE_NS`] would be left for it. Never lengthens.
pub(super) fn fit_to_remaining(plan: &mut Plan, index: usize, remaining_ns: u64) {
    // Memory copy and layout take what they take: everything after them rests on them.
    let shares = |p: &PhasePlan| p.measures_target() && p.skip.is_none();
    if !shares(&plan.phases[index]) {
        return;
    }
    let to_come = plan.phases[index..].iter().filter(|p| shares(p));
    let (needed, windows) = to_come.fold((0u64, 0u64), |(n, w), p| (n + p.time_limit_ns, w + 1));
    let available = remaining_ns.saturating_sub(windows * plan.quiet_ns);
    if needed <= available {
        return;
    }
    let phase = &mut plan.phases[index];
    let shortened = (phase.time_limit_ns as f64 * available as f64 / needed as f64) as u64;
    if shortened.max(MIN_SHARE_NS) <= available && shortened * 2 >= MIN_SHARE_NS {
        phase.time_limit_ns = shortened.max(MIN_SHARE_NS).min(phase.time_limit_ns);
    } else {
        phase.skip = Some(Reason::of("budget", format!("{:.1} s were left", remaining_ns as f64 / 1e9)));
    }
}
