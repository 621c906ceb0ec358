//! What several ranks did together: when all of them were active, what each did in that time, and the metrics of the group.

use crate::quantity::{self, Quantity};
use crate::scope::{MetricOwner, Scope};
use model::{Active, GroupPhase, Interval, Metric, MetricStatus, Ns, PhasePlan, RankShare, Reason, Together};

/// When all of these ranks were active, and how much of the time that was.
pub fn together(ranks: &[Active]) -> Together {
    let least = |of: fn(&Active) -> Ns| ranks.iter().map(of).min().unwrap_or(0);
    let most = |of: fn(&Active) -> Ns| ranks.iter().map(of).max().unwrap_or(0);
    let (began, last_began) = (least(|a| a.started_ns), most(|a| a.started_ns));
    let (first_done, last_done) = (least(|a| a.ended_ns), most(|a| a.ended_ns));
    let mut stopped: Vec<(Ns, Ns)> = ranks.iter().flat_map(|a| a.stopped.iter().copied()).collect();
    stopped.sort_unstable();
    let stretches_from = |from: Ns| {
        let (mut stretches, mut at) = (Vec::new(), from);
        for (stop, goes_on) in &stopped {
            let end = (*stop).min(first_done);
            if end > at {
                stretches.push((at, end));
            }
            at = at.max(*goes_on);
        }
        if first_done > at {
            stretches.push((at, first_done));
        }
        stretches
    };
    let all = last_done.saturating_sub(began);
    let active: Ns = length(&stretches_from(last_began));
    let activity = |a: &Active| a.ended_ns.saturating_sub(a.started_ns).saturating_sub(length(&a.stopped));
    let least_active = ranks.iter().enumerate().min_by_key(|(_, a)| activity(a)).map_or(0, |(rank, _)| rank as u32);
    let error_ns = most(|a| a.error_ns);
    Together {
        began_ns: began,
        stretches: stretches_from(most(|a| a.counted_ns.max(a.started_ns))),
        skew_ns: (last_began - began).saturating_add(error_ns),
        error_ns,
        first_done_ns: first_done.saturating_sub(began),
        last_done_ns: all,
        overlap_percent: if all == 0 { 100.0 } else { 100.0 * active as f64 / all as f64 },
        least_active,
    }
}

fn length(stretches: &[(Ns, Ns)]) -> Ns {
    stretches.iter().map(|(from, to)| to.saturating_sub(*from)).sum()
}

/// What a rank did while all were active, of its intervals, whose times are `ahead_ns` before those of the group. An interval that
/// lies in that time partly counts by the part.
pub fn share(together: &Together, rank: u32, own: &Active, intervals: &[Interval], ahead_ns: i64) -> RankShare {
    let (mut operations, mut bytes) = (0.0, 0.0);
    for interval in intervals.iter().filter(|i| i.length_ns > 0) {
        let from = interval.start_ns.saturating_add_signed(ahead_ns);
        let to = from.saturating_add(interval.length_ns);
        let within: Ns = together.stretches.iter().map(|(a, b)| to.min(*b).saturating_sub(from.max(*a))).sum();
        let part = within as f64 / interval.length_ns as f64;
        operations += interval.operations as f64 * part;
        bytes += interval.bytes as f64 * part;
    }
    RankShare {
        rank,
        started_ns: own.started_ns.saturating_sub(together.began_ns),
        ended_ns: own.ended_ns.saturating_sub(together.began_ns),
        stopped_ns: length(&own.stopped),
        operations: operations.round() as u64,
        bytes: bytes.round() as u64,
        refused: None,
        limit: None,
    }
}

/// The phase of this name, with these shares.
pub fn phase(together: &Together, name: &str, shares: Vec<RankShare>) -> GroupPhase {
    let Together { skew_ns, error_ns, first_done_ns, last_done_ns, overlap_percent, least_active, .. } = *together;
    let (name, together_ns) = (name.to_owned(), length(&together.stretches));
    GroupPhase {
        name,
        skew_ns,
        error_ns,
        first_done_ns,
        last_done_ns,
        together_ns,
        overlap_percent,
        least_active,
        shares,
    }
}

/// Why the numbers of a phase do not stand: the ranks were not active together.
pub(crate) fn not_together(phase: &GroupPhase) -> Option<Reason> {
    let GroupPhase { overlap_percent, least_active, .. } = *phase;
    (!phase.is_together()).then_some(Reason::NotTogether { overlap_percent, rank: least_active })
}

/// The part of a metric's id that says it is of all ranks.
pub const GROUP_PART: &str = "group";

/// Why the sums of a phase do not stand.
fn refusals(phase: &GroupPhase) -> Vec<Reason> {
    let refused = phase.shares.iter().filter_map(|s| Some((s.rank, s.refused.as_ref()?)));
    let rank = |(rank, codes)| Reason::of("rank-refused", format!("rank {rank} refuses its own numbers: {codes}"));
    not_together(phase).into_iter().chain(refused.take(MOST_NAMED).map(rank)).collect()
}

/// Ranks that are named as reasons.
const MOST_NAMED: usize = 3;

/// The sums of a phase over all ranks, `<phase>.group.<quantity>`.
pub fn metrics(plan: &PhasePlan, phase: &GroupPhase) -> Vec<Metric> {
    let refusals = refusals(phase);
    let prefix = model::metric_id(&plan.name, GROUP_PART);
    let scope = Scope { of: MetricOwner::Phase, prefix, quantities: Vec::new() };
    let summed = |q: &Quantity| matches!(q, Quantity::Throughput | Quantity::Iops | Quantity::Files);
    let count: u64 = phase.shares.iter().map(|s| s.operations).sum();
    quantity::of_phase(plan)
        .into_iter()
        .filter(summed)
        .map(|quantity| {
            let Some((bytes, operations)) = phase.sum() else {
                return scope.absent(quantity, MetricStatus::Skipped, Reason::NoData {});
            };
            let value = if quantity == Quantity::Throughput { bytes } else { operations };
            let mut metric = scope.measured(quantity, value, count);
            if !refusals.is_empty() {
                metric.refuse(&refusals);
            }
            metric
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn active(started_ns: Ns, ended_ns: Ns) -> Active {
        Active { started_ns, counted_ns: started_ns, ended_ns, stopped: Vec::new(), error_ns: 1 }
    }

    #[test]
    fn the_window_is_that_in_which_all_were_active() {
        let all = together(&[active(100, 1100), active(120, 1100), active(110, 1060)]);
        assert_eq!((all.began_ns, all.skew_ns, all.first_done_ns, all.last_done_ns), (100, 21, 960, 1000));
        assert_eq!((all.stretches.as_slice(), all.overlap_percent), (&[(120, 1060)][..], 94.0));
        assert!(phase(&all, "p", Vec::new()).is_together());
        assert_eq!(not_together(&phase(&all, "p", Vec::new())), None);
    }

    #[test]
    fn what_one_stood_still_none_was_active_together() {
        let mut stopped = active(0, 1000);
        stopped.stopped = vec![(300, 700)];
        let all = together(&[active(0, 1000), stopped]);
        assert_eq!((all.stretches.as_slice(), all.overlap_percent), (&[(0, 300), (700, 1000)][..], 60.0));
        let phase = phase(&all, "p", Vec::new());
        assert_eq!(not_together(&phase), Some(Reason::NotTogether { overlap_percent: 60.0, rank: 1 }));
        assert_eq!(phase.together_ns, 600);
    }

    #[test]
    fn the_beginning_that_does_not_count_is_active_and_not_summed() {
        let warm = Active { counted_ns: 200, ..active(0, 1000) };
        let all = together(&[warm, active(0, 1000)]);
        assert_eq!((all.overlap_percent, all.stretches.as_slice()), (100.0, &[(200, 1000)][..]));
    }

    #[test]
    fn ranks_that_never_were_active_together_have_nothing_in_common() {
        let all = together(&[active(0, 100), active(200, 300)]);
        assert_eq!((all.stretches.len(), all.overlap_percent), (0, 0.0));
        assert_eq!(phase(&all, "p", Vec::new()).sum(), None);
        assert_eq!(together(&[]).overlap_percent, 100.0);
    }

    #[test]
    fn an_interval_counts_by_the_part_that_lies_in_the_window() {
        let all = together(&[active(1050, 1250), active(1000, 1300)]);
        let interval =
            |start_ns| Interval { start_ns, length_ns: 100, operations: 10, bytes: 1000, ..Interval::default() };
        let own = active(1000, 1300);
        // Its own clock begins 1,000 after that of the group.
        let share = share(&all, 1, &own, &[interval(0), interval(100), interval(200)], 1000);
        assert_eq!((share.operations, share.bytes, share.started_ns, share.ended_ns), (20, 2000, 0, 300));
    }
}
