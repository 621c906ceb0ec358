//! The machine during the phase: heat and power, the hypervisor, the clock.

use super::{RuleInput, Validity};
use model::{Interval, Reason, SystemSample};

/// Largest share of one CPU's time that may be stolen. Stolen time cannot have delayed us by more than itself, so that
/// at 5 % the error is no larger than the one that foreign traffic may cause.
pub const STEAL_LIMIT: f64 = 0.05;

/// Fewest stolen ticks (1/100 s) that count: a tick or two in a short phase is the grain of the counter.
const STEAL_LEAST_TICKS: u64 = 10;

/// Share of a phase for which a worker waited for a CPU, from which the number is said to be of a busy machine. It stays
/// valid: who measures under load wants that number.
pub const CPU_WAIT_TOLD: f64 = 0.05;

/// Wall clock against monotonic clock, as a share of the phase. Slewing by NTP is at most 0.05 % (500 ppm).
pub const CLOCK_STEP_LIMIT: f64 = 0.01;

/// And at least this, nanoseconds: reading two clocks one after the other is not exact.
pub const CLOCK_STEP_LEAST_NS: u64 = 10_000_000;

/// Cores that our workers must use before a slower CPU can have slowed the phase.
pub const CPU_MATTERS: f64 = 0.5;

/// Fall of the highest CPU frequency, or of the rate, within the phase that counts together with a cooling device that
/// went up. The rate alone falls for many reasons (a cache runs out), a cooling device alone may be a fan.
pub const FREQUENCY_DROP_LIMIT: f64 = 0.10;

/// Raspberry Pi `get_throttled`: what is so now, and the same since boot 16 bits higher (k:raspberrypi-hwmon.c).
const PI_NOW: u32 = 0xf;
const PI_NAMES: [&str; 4] = ["undervoltage", "frequency capped", "throttled", "soft temperature limit"];

pub(super) fn machine_not_disturbed(case: RuleInput<'_>, out: &mut Validity) {
    throttling(case, out);
    steal(case, out);
    cpu_wait(case, out);
    if let Some(step_ns) = case.context.clock_step_ns {
        let limit = (case.record.duration_ns() as f64 * CLOCK_STEP_LIMIT) as u64;
        if step_ns > limit.max(CLOCK_STEP_LEAST_NS) {
            out.refusals.push(Reason::ClockStep { step_ns });
        }
    }
}

fn throttling(case: RuleInput<'_>, out: &mut Validity) {
    let samples = case.context.samples;
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return };

    // The firmware says it of this very moment, or it happened between two samples.
    let bits = |s: &SystemSample| s.throttle.raspberry_pi_bits;
    let now = samples.iter().filter_map(bits).fold(0, |all, b| all | (b & PI_NOW));
    let since_boot = |s: &SystemSample| bits(s).map_or(0, |b| (b >> 16) & PI_NOW);
    let pi = now | (since_boot(last) & !since_boot(first));
    if pi != 0 {
        let names: Vec<&str> = PI_NAMES.iter().enumerate().filter(|(i, _)| pi >> i & 1 == 1).map(|(_, n)| *n).collect();
        out.refusals.push(Reason::Throttled { evidence: format!("get_throttled says {}", names.join(", ")) });
    }

    // Laptops count throttle events under any load, and fans are cooling devices too: only where the CPU had a part
    // in the number does it become untrue.
    let cores = case.cores(case.record.usage.user_ns + case.record.usage.system_ns);
    let mut by_cpu = Vec::new();
    if let (Some(a), Some(b)) = (first.throttle.x86_throttle_events, last.throttle.x86_throttle_events)
        && b > a
    {
        by_cpu.push((true, format!("{} thermal throttle events", b - a)));
    }
    let cooling = match (first.throttle.cooling_state, last.throttle.cooling_state) {
        (Some(a), Some(b)) => b > a,
        _ => false,
    };
    if cooling {
        let drop = frequency_drop(samples);
        let evidence = format!("cooling increased and the CPU's highest frequency fell by {:.0} %", drop * 100.0);
        by_cpu.push((drop > FREQUENCY_DROP_LIMIT, evidence));
        // The device itself may be what is held back: then its rate falls with it, whatever the CPU does.
        let drop = rate_drop(case.record.counted_intervals());
        if drop > FREQUENCY_DROP_LIMIT {
            let evidence = format!("cooling increased and the rate fell by {:.0} %", drop * 100.0);
            out.refusals.push(Reason::Throttled { evidence });
        }
    } else if let (Some(start), Some(now)) =
        (case.context.at_start.and_then(|s| s.throttle.cooling_state), first.throttle.cooling_state)
        && now > start
    {
        // A dimmed screen is a cooling device as well, so that this is no proof.
        let evidence = "a cooling device works harder than at the start of the run".to_owned();
        out.remarks.push(Reason::ThrottlingSeen { evidence, core_percent: None });
    }
    for (slowed, evidence) in by_cpu {
        if slowed && cores >= CPU_MATTERS {
            out.refusals.push(Reason::Throttled { evidence });
        } else if slowed {
            out.remarks.push(Reason::ThrottlingSeen { evidence, core_percent: Some(cores * 100.0) });
        }
    }
}

/// Fall of the highest frequency of any CPU from the first third of the samples to the last, 0 to 1.
fn frequency_drop(samples: &[SystemSample]) -> f64 {
    let highest = |part: &[SystemSample]| part.iter().flat_map(|s| s.cpu_khz.iter().flatten()).max().copied();
    let third = samples.len().div_ceil(3);
    match (highest(&samples[..third]), highest(&samples[samples.len() - third..])) {
        (Some(a), Some(b)) if a > 0 => (1.0 - b as f64 / a as f64).max(0.0),
        _ => 0.0,
    }
}

/// Fall of the rate from the first third of the intervals to the last, 0 to 1.
fn rate_drop(intervals: &[Interval]) -> f64 {
    let rate = |part: &[Interval]| {
        stats::weighted_mean(
            part.iter().filter(|i| i.length_ns > 0).map(|i| (i.bytes as f64 / i.length_ns as f64, i.length_ns as f64)),
        )
    };
    let third = intervals.len() / 3;
    match (rate(&intervals[..third]), rate(&intervals[intervals.len() - third..])) {
        (Some(a), Some(b)) if a > 0.0 => (1.0 - b / a).max(0.0),
        _ => 0.0,
    }
}

fn steal(case: RuleInput<'_>, out: &mut Validity) {
    let (Some(first), Some(last)) = (case.context.samples.first(), case.context.samples.last()) else { return };
    let shares = case.context.cpu_shares();
    let ticks = first.cpus.iter().zip(&last.cpus).map(|(a, b)| b.steal.saturating_sub(a.steal)).max().unwrap_or(0);
    let worst = shares.iter().map(|s| s.steal).fold(0.0, f64::max);
    if worst > STEAL_LIMIT && ticks >= STEAL_LEAST_TICKS {
        out.refusals.push(Reason::Steal { percent: worst * 100.0 });
    }
}

fn cpu_wait(case: RuleInput<'_>, out: &mut Validity) {
    let share = case.record.usage.cpu_wait_ns.map_or(0.0, |ns| case.cores(ns)) / f64::from(case.workers());
    if share > CPU_WAIT_TOLD {
        out.remarks.push(Reason::CpuWait { percent: share * 100.0 });
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::*;

    #[test]
    fn the_firmware_of_a_raspberry_pi_is_believed() {
        let mut f = Fixture::random_read();
        // Since boot only, before the phase as well: history.
        f.each_sample(|_, s| s.throttle.raspberry_pi_bits = Some(0x5_0000));
        assert_eq!(f.codes(), NONE);
        f.samples[1].throttle.raspberry_pi_bits = Some(0x5_0001);
        assert_eq!(f.codes(), ["throttled"]);
        // Between two samples: only the history shows it.
        let mut f = Fixture::random_read();
        f.each_sample(|i, s| s.throttle.raspberry_pi_bits = Some(if i == 0 { 0 } else { 0x4_0000 }));
        assert_eq!(f.codes(), ["throttled"]);
        assert!(f.judge().reasons[0].to_string().contains("says throttled"));
    }

    #[test]
    fn throttling_of_a_laptop_counts_where_the_cpu_had_a_part() {
        let mut f = Fixture::random_read();
        f.each_sample(|i, s| s.throttle.x86_throttle_events = Some(7 + i as u64));
        f.record.usage.user_ns = 0;
        f.record.usage.system_ns = f.record.duration_ns() * 49 / 100;
        assert_eq!(f.codes(), NONE);
        assert!(f.judge().reasons.iter().any(|r| r.is("throttling-seen")));
        f.record.usage.system_ns = f.record.duration_ns() * 51 / 100;
        assert_eq!(f.codes(), ["throttled"]);
    }

    #[test]
    fn a_fan_that_spins_up_is_not_throttling() {
        let mut f = Fixture::random_read();
        f.record.usage.system_ns = f.record.duration_ns();
        f.each_sample(|i, s| {
            s.throttle.cooling_state = Some(i as u64);
            s.cpu_khz = vec![Some(1_500_000), None];
        });
        assert_eq!(f.codes(), NONE);
        let last = f.samples.len() - 1;
        f.samples[last].cpu_khz = vec![Some(1_000_000), None];
        f.samples[last - 1].cpu_khz = vec![Some(1_000_000), None];
        f.samples.drain(2..last - 1);
        assert_eq!(f.codes(), ["throttled"]);
    }

    #[test]
    fn a_device_that_is_held_back_slows_with_its_cooling() {
        let mut f = Fixture::random_read();
        f.record.intervals[25..].iter_mut().for_each(|i| i.bytes = i.bytes * 8 / 10);
        // A cache ran out.
        assert_eq!(f.codes(), NONE);
        f.each_sample(|i, s| s.throttle.cooling_state = Some(u64::from(i > 12)));
        assert_eq!(f.codes(), ["throttled"]);
        // It was so before the phase, and not at the start of the run: known, not proven.
        f.each_sample(|_, s| s.throttle.cooling_state = Some(1));
        f.at_start = Some(model::SystemSample::default());
        assert_eq!(f.codes(), NONE);
        f.at_start.as_mut().unwrap().throttle.cooling_state = Some(0);
        assert_eq!(f.codes(), NONE);
        assert!(f.judge().reasons.iter().any(|r| r.is("throttling-seen")));
    }

    #[test]
    fn steal_above_five_percent_of_a_cpu() {
        // 4 s are 400 ticks: 20 are 5 %.
        for (ticks, want) in [(20, NONE), (24, &["steal"][..])] {
            let mut f = Fixture::random_read();
            f.cpu_ticks(400 - ticks, ticks);
            assert_eq!(f.codes(), want, "{ticks} ticks");
        }
        // In a phase of half a second three ticks are 6 %, and mean nothing.
        let mut f = Fixture::random_read().at_rate(1_000, 0.5);
        f.cpu_ticks(47, 3);
        assert_eq!(f.codes(), NONE);
    }

    #[test]
    fn what_can_only_slow_makes_a_bound_of_each_number_that_it_can_slow() {
        use model::Bound::{AtLeast, AtMost};
        let mut f = Fixture::random_read().on_disk();
        f.cpu_ticks(360, 40);
        let bound = |f: &Fixture, id: &str| {
            let judged = f.judge();
            let metric = judged.metrics.into_iter().find(|m| m.id.ends_with(id)).unwrap();
            assert_eq!((metric.value, metric.rejected_value.is_some()), (None, true), "{metric:?}");
            metric.bound
        };
        assert_eq!(f.codes(), ["steal"]);
        assert_eq!((bound(&f, ".iops"), bound(&f, ".throughput_bytes_per_s")), (Some(AtLeast), Some(AtLeast)));
        assert_eq!(
            (bound(&f, "_p99"), bound(&f, "_max"), bound(&f, "_mean")),
            (Some(AtMost), Some(AtMost), Some(AtMost))
        );
        assert_eq!(bound(&f, "cpu_percent"), None);
        // What may be from the page cache may be too good whatever slowed it, and so may what has another reason.
        f.record.direct = Some(model::DirectProof::Fallback("btrfs".into()));
        assert_eq!(bound(&f, ".iops"), None);
        let mut f = Fixture::random_read();
        f.cpu_ticks(360, 40);
        f.record.direct = Some(model::DirectProof::Unproven("fuse".into()));
        assert_eq!(f.codes(), ["steal"]);
        assert_eq!(bound(&f, ".iops"), None);
        // Of two sides that suffer both alike it has a number all the same; what steal bends either way has none.
        let slowed = |f: &Fixture, id: &str| f.judge().metrics.iter().find(|m| m.id.ends_with(id)).unwrap().slowed();
        assert!(slowed(&f, ".iops").is_some() && slowed(&f, "_p99").is_some() && slowed(&f, "cpu_percent").is_none());
        let mut f = Fixture::random_read();
        f.cpu_ticks(360, 40);
        f.record.data = Some(model::DataProof::NotReal("holes".into()));
        assert_eq!(bound(&f, "_p50"), None);
        assert_eq!(f.judge().metrics[0].slowed(), None, "and what has another reason has none");
    }

    #[test]
    fn waiting_for_a_cpu_is_said_and_the_number_stays() {
        for (percent, refused) in [(5, false), (6, true), (80, true)] {
            let mut f = Fixture::random_read();
            f.record.usage.cpu_wait_ns = Some(f.record.duration_ns() * percent / 100);
            assert_eq!(f.codes(), NONE);
            let reasons = f.judge().reasons;
            assert_eq!(reasons.iter().any(|r| r.is("cpu-wait")), refused, "{percent}: {reasons:?}");
        }
    }

    #[test]
    fn a_stepped_clock_and_a_slewed_one() {
        let mut f = Fixture::random_read();
        f.clock_step_ns = Some(2_000_000); // 500 ppm of 4 s
        assert_eq!(f.codes(), NONE);
        f.clock_step_ns = Some(39_000_000);
        assert_eq!(f.codes(), NONE);
        f.clock_step_ns = Some(41_000_000);
        assert_eq!(f.codes(), ["clock-step"]);
        f.clock_step_ns = None;
        assert_eq!(f.codes(), NONE);
    }
}
