//! Heat and power: throttling that the machine itself reports, and whether the rate fell with it.

use super::{Cause, CauseNature};
use crate::guard::exclude;
use crate::{machine, phrase, series};
use model::{
    Confidence, Evidence, LimitLayer, Ns, PhaseRecord, PhaseRun, PhaseStatus, Reason, Run, Step, SystemSample,
    four_figures,
};

/// Raspberry Pi get_throttled, state of the moment: under-voltage, frequency capped, throttled, soft temperature limit
/// (firmware documentation; k:drivers/hwmon/raspberrypi-hwmon.c reads the same word).
const PI_NOW: u32 = 0xf;
/// A fall counts as simultaneous with an event within this time: firmware polls every two seconds.
const NEAR_NS: Ns = 2_500_000_000;
/// A processor that runs this much slower than at the start of the phase was slowed.
const SLOWER: f64 = 0.85;

/// A processor this busy is full.
const FULL: f64 = 0.9;

/// A storage device this hot slows itself down, or is about to: consumer drives are specified to 70 degrees (JESD218A,
/// client class), and firmware begins to throttle there.
const DEVICE_HOT_MILLIDEGREES: i64 = 70_000;
/// Sensors of disks are read once in ten seconds (`observe`), and heat does not leave faster.
const SENSOR_NS: Ns = 11 * model::NS_PER_S;

struct Event {
    at_ns: Ns,
    what: &'static str,
    evidence: Evidence,
    /// The machine says itself that it is slowed. Throttle counts of a laptop rise under any load, and a fan is a
    /// cooling device too: those count only where the frequency fell as well.
    slowed: bool,
    /// Something is cooled harder; what it is, is not said.
    cooling: bool,
}

/// The first sample of a time in which more is reported than at the run's start: what slows a machine stays for many phases.
fn first_event(run: &Run, samples: &[SystemSample]) -> Option<Event> {
    let first = run.samples.first()?;
    samples.iter().find_map(|s| {
        if let Some(bits) = s.throttle.raspberry_pi_bits.filter(|b| b & PI_NOW != 0) {
            let what = if bits & 1 != 0 { "under-voltage" } else { "throttling by the firmware" };
            let evidence = Evidence::fact("get_throttled", format!("{bits:#x}"), "system samples: raspberry_pi_bits");
            return Some(Event { at_ns: s.at_ns, what, evidence, slowed: true, cooling: false });
        }
        if let (Some(a), Some(b)) = (first.throttle.x86_throttle_events, s.throttle.x86_throttle_events)
            && b > a
        {
            let evidence = Evidence::fact("thermal throttle events", b - a, "thermal_throttle/*_throttle_count");
            let what = "thermal throttling of a processor";
            return Some(Event { at_ns: s.at_ns, what, evidence, slowed: false, cooling: false });
        }
        if let (Some(a), Some(b)) = (first.throttle.cooling_state, s.throttle.cooling_state)
            && b > a
        {
            let evidence = Evidence::fact("cooling state", format!("{a} to {b}"), "cooling_device*/cur_state");
            return Some(Event { at_ns: s.at_ns, what: "stronger cooling", evidence, slowed: false, cooling: true });
        }
        None
    })
}

fn frequency_fall(samples: &[SystemSample]) -> Option<Evidence> {
    let top = |s: &SystemSample| s.cpu_khz.iter().flatten().copied().max();
    // Not the end: when the phase ends, the governor lowers the frequency for want of load.
    let (a, b) = (top(samples.first()?)?, top(samples.get(samples.len() * 3 / 4)?)?);
    ((b as f64) < a as f64 * SLOWER)
        .then(|| Evidence::fact("highest CPU frequency, kHz", format!("{a} to {b}"), "system samples: cpu_khz"))
}

/// Whether a sensor of the storage device itself was hot at a moment.
fn device_hot(run: &Run, at_ns: Ns) -> Option<Evidence> {
    let of_device = |name: &str| ["nvme", "drivetemp", "sim-device"].iter().any(|n| name.contains(n));
    run.samples
        .iter()
        .filter(|s| s.at_ns.abs_diff(at_ns) <= SENSOR_NS)
        .flat_map(|s| &s.temperatures)
        .filter(|t| of_device(&t.name) && t.millidegrees_c >= DEVICE_HOT_MILLIDEGREES)
        .max_by_key(|t| t.millidegrees_c)
        .map(|t| {
            Evidence::fact(format!("temperature of {}, 1/1000 degree C", t.name), t.millidegrees_c, "system samples")
        })
}

/// Whether the judge refused a phase for heat or power.
fn refused_for_it(phase: &PhaseRun) -> bool {
    Reason::find(&phase.reasons, "throttled").is_some()
}

fn cause_of(run: &Run, phase: &PhaseRun) -> Option<Cause> {
    let record = phase.record.as_ref()?;
    let samples = run.samples_of(phase);
    let event = first_event(run, samples)?;
    let name = &phase.plan.name;
    let refused = refused_for_it(phase);
    // A phase that was refused for heat holds no value, but it shows when the rate fell.
    let seen = phase.status == PhaseStatus::Measured || refused;
    let step = seen.then(|| series::fall(record)).flatten();
    // Heat comes slowly where the firmware slows down little by little.
    let slide = seen.then(|| series::slide(record)).flatten().map(|s| series::Step { at_ns: record.ended_ns, ..s });
    let slid = step.is_none() && slide.is_some();
    let fall = step.or(slide);
    let slower = frequency_fall(samples);
    // Writes fall when a cache runs out, and a fan may start at any time; reads have no cache to run out, and a device
    // that is hot itself needs no other explanation.
    let hot = device_hot(run, event.at_ns.max(fall.map_or(0, |f| f.at_ns)));
    let device = event.cooling && fall.is_some() && (!phase.plan.is_write() || hot.is_some());
    let slowed = event.slowed || slower.is_some() || device;
    let together = fall.filter(|f| slowed && f.at_ns + NEAR_NS >= event.at_ns);
    let statement = match together {
        Some(f) => {
            let (before, after) = (phrase::rate(f.before), phrase::rate(f.after));
            match slid {
                true => format!("{} during {name}: the rate slid from {before} to {after}", event.what),
                false => format!("{} during {name}: {before} before, {after} after", event.what),
            }
        }
        None => format!("{} was reported during {name}", event.what),
    };
    let mut cause = Cause::new(LimitLayer::ThermalPower, CauseNature::Distortion, statement)
        .with_evidence([event.evidence])
        .with_evidence(slower)
        .with_evidence(hot)
        .decided_by("the same phase with better cooling or supply, alternating with this one")
        .with_confidence(Confidence::Low);
    if let Some(f) = together {
        cause = cause
            .with_confidence(Confidence::Probable)
            .with_evidence([Evidence::measurement(
                "rate before and after the event, bytes per second",
                vec![four_figures(f.before), four_figures(f.after)],
                match slid {
                    true => format!("{name} series, its begin and its end"),
                    false => format!("{name} series, fall at {}", phrase::seconds(f.at_ns)),
                },
            )])
            .step(Step::FixPowerAndCooling, Some(f.before / f.after))
            .based_on(format!("rate of {name} before the event over the rate after it"));
    } else if phase.status == PhaseStatus::Refused && slowed {
        // The number was refused for it; the event itself was seen.
        cause = cause
            .with_confidence(Confidence::Probable)
            .step(Step::FixPowerAndCooling, None)
            .based_on(format!("{name} is refused, so there is no value to predict from"));
    }
    Some(cause)
}

/// A processor that was full and ran slower than before in this run, after it had reported heat: the load that heats it is
/// ours, so that within a phase nothing falls.
pub fn slowed_processor(run: &Run) -> Option<Cause> {
    let top = |s: &SystemSample| s.cpu_khz.iter().flatten().copied().max();
    let start = run.samples.first()?;
    // Those that were refused for it show it best.
    let measured_or_refused = |p: &PhaseRun| p.status == PhaseStatus::Measured || refused_for_it(p);
    let (phase, events, now, best) = machine::executed(run)
        .filter(|(p, _)| p.plan.measures_target() && measured_or_refused(p))
        .filter(|(p, _)| machine::cpus_during(run, p).is_some_and(|c| c.full() >= FULL))
        .filter_map(|(p, record)| {
            let samples = run.samples_of(p);
            // In the middle, where the load is on.
            let now = top(samples.get(samples.len() / 2)?)?;
            let best = run.samples.iter().filter(|s| s.at_ns <= record.started_ns).filter_map(top).max()?;
            let last = samples.last()?;
            let hotter = |of: fn(&SystemSample) -> Option<u64>| {
                let known = run.samples.iter().filter(|s| s.at_ns <= last.at_ns).filter_map(of).max();
                known.zip(of(start)).map_or(0, |(b, a)| b.saturating_sub(a))
            };
            let events = hotter(|s| s.throttle.x86_throttle_events) + hotter(|s| s.throttle.cooling_state);
            (events > 0 && (now as f64) < best as f64 * SLOWER).then_some((p, events, now, best))
        })
        .min_by(|a, b| (a.2 as f64 / a.3 as f64).total_cmp(&(b.2 as f64 / b.3 as f64)))?;
    let name = &phase.plan.name;
    let mhz = |khz: u64| khz as f64 / 1e3;
    Some(
        Cause::new(
            LimitLayer::ThermalPower,
            CauseNature::Distortion,
            format!(
                "a processor that heat slows down under this load: full during {name} at {:.0} MHz, {:.0} MHz before",
                mhz(now),
                mhz(best)
            ),
        )
        .with_evidence([
            Evidence::fact(
                "highest CPU frequency before and during it, kHz",
                vec![best, now],
                "system samples: cpu_khz",
            ),
            Evidence::fact("throttle events and cooling steps since the run's start", events, "system samples"),
        ])
        .decided_by("the same phase with better cooling, alternating with this one")
        .step(Step::CoolProcessor, Some(best as f64 / now as f64)),
    )
}

/// Throttling or under-voltage during any phase, the surest first; or during all of them, too slowly to be seen in one.
pub fn throttled(run: &Run) -> Option<Cause> {
    let in_one = machine::executed(run)
        .filter_map(|(p, _)| cause_of(run, p))
        .reduce(|a, b| if b.confidence > a.confidence { b } else { a });
    match in_one {
        Some(cause) if cause.confidence < Confidence::Probable => common_slide(run).or(Some(cause)),
        other => other,
    }
}

/// Reads that all slide down from the moment at which the machine reports heat or power, each a little. Writes may slide for other
/// reasons.
fn common_slide(run: &Run) -> Option<Cause> {
    /// Fewer phases have nothing in common, and a trend that is less sure, in standard errors, is noise.
    const PHASES: usize = 3;
    const SURE: f64 = 6.0;
    /// A rate that falls to less than this share is worth naming.
    const MAX: f64 = 0.8;
    let event = first_event(run, &run.samples)?;
    let reads: Vec<(&PhaseRun, &PhaseRecord)> = machine::executed(run)
        .filter(|(p, r)| !p.plan.is_write() && p.plan.measures_target() && r.ended_ns > event.at_ns)
        .filter(|(p, _)| p.status == PhaseStatus::Measured)
        .collect();
    let (each_second, errors) = series::common_trend(reads.iter().map(|(_, r)| *r))?;
    let since = reads.iter().map(|(_, r)| r.started_ns).min()?.max(event.at_ns);
    let seconds = reads.iter().map(|(_, r)| r.ended_ns).max()?.saturating_sub(since) as f64 / 1e9;
    let left = each_second.powf(seconds);
    let seen = event.slowed || event.cooling;
    exclude(reads.len() < PHASES || errors > -SURE || left > MAX || !seen)?;
    let statement = format!(
        "{} was reported, and all reads slid down from then on, each a little: in {seconds:.0} s to {} of what they were",
        event.what,
        phrase::percent(left)
    );
    Some(
        Cause::new(LimitLayer::ThermalPower, CauseNature::Distortion, statement)
            .with_evidence([event.evidence])
            .with_evidence(device_hot(run, reads.iter().map(|(_, r)| r.ended_ns).max()?))
            .with_evidence(reads.iter().map(|(p, _)| {
                let what = "share of a rate that a second leaves, all reads together";
                Evidence::measured(what, each_second, format!("{} series", p.plan.name))
            }))
            .decided_by("the same reads with better cooling or supply, alternating with these")
            .step(Step::FixPowerAndCooling, Some(1.0 / left)),
    )
}

/// Whether throttling explains what happened in this phase.
pub fn throttling_explains(run: &Run, phase: &PhaseRun) -> bool {
    cause_of(run, phase).is_some_and(|c| c.confidence >= Confidence::Probable)
}
