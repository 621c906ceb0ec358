//! Whether this program was the limit of its own measurement.

use super::{RuleInput, Validity};
use model::{Access, Flush, Reason, StreamPlan, Sync, Timing};

/// User CPU of a worker, in cores, from which its loop no longer waits for the device: a tenth of the time is left.
/// System time does not count: it belongs to the path that is measured.
pub const GENERATOR_USER_LIMIT: f64 = 0.9;

/// The most that a worker can compute, with the grain of the clock that counts it.
const MAX_USER: f64 = 1.05;

/// Mean depth over planned depth. Ramp and drain cost a slow card up to a fifth of its depth; half of it is missing only
/// where operations were not there to be sent.
pub const MIN_DEPTH_RATIO: f64 = 0.5;

/// A phase with fewer operations than this many times its depth is mostly ramp and drain.
const MIN_TURNS: u64 = 10;

pub(super) fn generator_not_limiting(case: RuleInput<'_>, out: &mut Validity) {
    let planned = case.plan.queue_depth();
    if case.plan.access == Access::Direct {
        let user = case.cores(case.record.usage.user_ns) / f64::from(case.workers());
        // A device whose own queue was full all the time was the limit, however busy we were.
        let queue_full = case
            .context
            .device_traffic(case.record)
            .is_some_and(|t| t.mean_in_flight >= GENERATOR_USER_LIMIT * f64::from(planned));
        // More than all of its time no thread computes: those are ticks of a processor that was taken away.
        let stolen = case.context.cpu_shares().iter().map(|s| s.steal).fold(0.0, f64::max);
        if user <= MAX_USER && user.min(1.0) - stolen >= GENERATOR_USER_LIMIT && !queue_full {
            out.refusals.push(Reason::GeneratorLimit { user_percent: user * 100.0 });
        }
    }
    // Rounds and layouts wait for their sync with nothing in flight; their depth is not what they are about.
    let syncs =
        case.plan.streams.iter().any(|s| s.durability.sync != Sync::None || s.durability.flush != Flush::default());
    // Nor is that of streams that were asked to hold back: paced, thinking, late, or ended before the others.
    let holds_back = case.plan.streams.iter().any(holds_back);
    if let Some(mean) = case.record.mean_depth
        && planned > 1
        && !syncs
        && !holds_back
        && case.record.operations >= MIN_TURNS * u64::from(planned)
        && mean < MIN_DEPTH_RATIO * f64::from(planned)
    {
        out.refusals.push(Reason::DepthNotReached { mean, planned });
    }
}

/// Whether it was asked to have less in flight than its depth, at least for a time.
fn holds_back(stream: &StreamPlan) -> bool {
    stream.timing != Timing::default()
        || stream.limits.time_limit_ns.is_some()
        || stream.limits.total_bytes.is_some()
        || stream.limits.total_operations.is_some()
        || stream.limits.latency_target.is_some()
        || stream.path.batch_complete.is_some_and(|n| n > 1)
}

#[cfg(test)]
mod tests {
    use crate::fixture::*;
    use model::{Flow, LatencyTarget, Pacing, Rate};

    #[test]
    fn our_own_loop_as_the_limit() {
        let mut f = Fixture::random_read();
        f.record.usage.user_ns = f.record.duration_ns() * 89 / 100;
        assert_eq!(f.codes(), NONE);
        f.record.usage.user_ns = f.record.duration_ns() * 95 / 100;
        assert_eq!(f.codes(), ["generator-limit"]);
        // Ticks of a processor that was taken away: more than all, or as much as may be stolen.
        f.record.usage.user_ns = f.record.duration_ns() * 178 / 100;
        assert_eq!(f.codes(), NONE);
        f.record.usage.user_ns = f.record.duration_ns() * 92 / 100;
        f.cpu_ticks(384, 16);
        assert_eq!(f.codes(), NONE);
        f.cpu_ticks(400, 0);
        assert_eq!(f.codes(), ["generator-limit"]);
        // System time is the path's.
        f.record.usage.system_ns = f.record.duration_ns() * 98 / 100;
        f.record.usage.user_ns = f.record.duration_ns() / 50;
        assert_eq!(f.codes(), NONE);
    }

    #[test]
    fn a_device_with_a_full_queue_is_the_limit_itself() {
        let mut f = Fixture::random_read().on_disk();
        f.record.usage.user_ns = f.record.duration_ns() * 95 / 100;
        assert_eq!(f.codes(), ["generator-limit"]);
        let last = f.samples.len() - 1;
        let ms = (f.samples[last].at_ns - f.samples[0].at_ns) / 1_000_000;
        f.samples[last].disks[0].weighted_ms = f.samples[0].disks[0].weighted_ms + ms * 31;
        assert_eq!(f.codes(), NONE);
    }

    #[test]
    fn a_depth_that_was_not_reached() {
        let mut f = Fixture::random_read();
        f.record.mean_depth = Some(16.1);
        assert_eq!(f.codes(), NONE);
        f.record.mean_depth = Some(15.9);
        assert_eq!(f.codes(), ["depth-not-reached"]);
        f.record.mean_depth = None;
        assert_eq!(f.codes(), NONE);
        // A paced stream is not asked to fill its depth.
        let mut f = Fixture::random_read();
        f.record.mean_depth = Some(0.1);
        f.plan.streams[0].timing.pacing = Some(Pacing { read: Some(Rate::OperationsPerS(1_000)), ..Pacing::default() });
        assert_eq!(f.codes(), NONE);
        // Nor is one that looks for the depth that keeps to a latency.
        let mut f = Fixture::random_read();
        f.record.mean_depth = Some(0.1);
        f.plan.streams[0].limits.latency_target = Some(LatencyTarget::default());
        assert_eq!(f.codes(), NONE);
        // Nor is one that keeps to its share.
        let mut f = Fixture::random_read();
        f.record.mean_depth = Some(0.1);
        f.plan.streams[0].timing.flow = Some(Flow { id: 1, weight: 8, sleep_ns: 0 });
        assert_eq!(f.codes(), NONE);
        // A few operations of a slow device are ramp and drain.
        let mut f = Fixture::random_read().at_rate(30, 4.0);
        f.record.mean_depth = Some(10.0);
        assert_eq!(f.codes(), NONE);
    }
}
