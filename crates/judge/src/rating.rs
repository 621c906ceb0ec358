//! How a card stands to the published speed and application classes, from a short test.
//!
//! A short test through a file system cannot certify a class: `met` is always unknown, `indication` says on which side
//! of the threshold the card stands, and the reasons name the conditions that were not met (facts: SD Association,
//! speed class and application performance class definitions, as published; the full test procedures are not public).
//! Where a number is missing, refused, or too near to the threshold, the indication is unknown as well.

use crate::bounded::{Bounded, bounded_value, missing_reason, rate_of};
use crate::sustained::{after_changes, reason_of_heat};
use model::{
    Bound, ClassNeed, Interval, LayerKind, PhaseRun, RatedClass, Rating, Reason, Run, Stack, StopCause, Target,
    TargetKind, Unit, Work,
};

/// Fewest blocks in the window whose rate is the lowest sustained one: the grain of a block is then at most 5 %.
const MIN_BLOCKS: f64 = 20.0;
const WINDOW_NS: u64 = 1_000_000_000;

/// Sustained sequential rate that A1 and A2 both ask for, bytes per second.
const APPLICATION_SEQUENTIAL: f64 = 10e6;

/// Application performance classes: name, random read and write IOPS at 4 KiB (minimum averages), and the phases that
/// stand for them. A1 is defined without a command queue, A2 with one.
const APPLICATION: [(&str, f64, f64, Work, Work); 2] = [
    ("A1", 1_500.0, 500.0, Work::RandomRead, Work::RandomWrite),
    ("A2", 4_000.0, 2_000.0, Work::QueuedRead, Work::QueuedWrite),
];

/// Speed classes: minimum sequential write, MB/s.
pub(crate) const SPEED: [(&str, u32); 11] = [
    ("C2", 2),
    ("C4", 4),
    ("C6", 6),
    ("C10", 10),
    ("U1", 10),
    ("U3", 30),
    ("V6", 6),
    ("V10", 10),
    ("V30", 30),
    ("V60", 60),
    ("V90", 90),
];

/// A need, and why no number stands for it or decides it.
struct Part {
    need: ClassNeed,
    missing: Option<Reason>,
}

impl Part {
    fn new(what: &str, metric: String, threshold: f64, unit: Unit) -> Self {
        let what = what.to_owned();
        let none = None;
        let need = ClassNeed { what, metric, threshold, value: none, low: none, high: none, unit, holds: None };
        Self { need, missing: None }
    }

    fn without(mut self, why: Reason) -> Self {
        self.missing = Some(why);
        self
    }
}

/// Ratings of a run's target from its phases. Empty unless the target is a card (SD, eMMC, or a simulated one): the classes
/// are defined for nothing else. A card in a USB reader cannot be told from a stick and gets none.
pub fn ratings(run: &Run) -> Vec<Rating> {
    ratings_of(&run.target, &run.phases)
}

fn ratings_of(target: &Target, phases: &[PhaseRun]) -> Vec<Rating> {
    if is_card(target) { rated(target, phases).into_iter().map(|c| c.rating).collect() } else { Vec::new() }
}

/// How a target stands to every class, whatever it is: what is no card as far as can be seen has that among its reasons. Empty
/// where there is no storage.
pub fn rated_classes(run: &Run) -> Vec<RatedClass> {
    match run.target.kind {
        TargetKind::Null | TargetKind::Region => Vec::new(),
        _ => rated(&run.target, &run.phases),
    }
}

/// Names of all classes.
pub fn class_names() -> impl Iterator<Item = &'static str> {
    APPLICATION.iter().map(|class| class.0).chain(SPEED.iter().map(|class| class.0))
}

/// The kinds of work that decide a class, by the names of their phases in the check; of none that is known, all of them.
pub fn phases_of_class(class: Option<&str>) -> Vec<&'static str> {
    let application = APPLICATION.iter().filter(|c| class.is_none_or(|name| name == c.0));
    let random = application.flat_map(|c| [c.3.name(), c.4.name()]);
    std::iter::once(Work::SequentialWrite.name()).chain(random).collect()
}

fn rated(target: &Target, phases: &[PhaseRun]) -> Vec<RatedClass> {
    let sequential = lowest_sustained_write(phases);
    let mut list: Vec<RatedClass> =
        APPLICATION.iter().map(|&class| application(class, &sequential, target, phases)).collect();
    list.extend(SPEED.iter().map(|&(class, mb)| speed(class, f64::from(mb) * 1e6, &sequential, target, phases)));
    list
}

/// Whether the card's registers claim a class (SD Physical Layer Specification, SSR); `None` where they say nothing.
fn claimed(class: &str, target: &Target) -> Option<bool> {
    let (kind, number) = class.split_at(1);
    let number: i64 = number.parse().ok()?;
    let fact = match kind {
        "A" => "app_performance_class",
        "C" => "speed_class",
        "U" => "uhs_grade",
        _ => "video_class",
    };
    target.stack.layers.iter().find_map(|l| l.int(fact)).map(|claims| claims >= number)
}

fn is_card(target: &Target) -> bool {
    let mmc = |stack: &Stack| {
        stack
            .layers
            .iter()
            .filter(|l| matches!(l.kind, LayerKind::Disk | LayerKind::Sim))
            .any(|l| l.text("transport") == Some("mmc"))
    };
    target.kind != TargetKind::Null && mmc(&target.stack)
}

fn is_emmc(target: &Target) -> bool {
    target.stack.layers.iter().any(|l| l.text("mmc_type") == Some("MMC"))
}

/// Where a metric stands to a threshold.
fn side(phases: &[PhaseRun], work: Work, threshold: f64, what: &str) -> Part {
    let phase = Run::phase_of_work_in(phases, work);
    let id = phase.map_or(work.iops().to_owned(), |p| format!("{}.iops", p.plan.name));
    let mut part = Part::new(what, id.clone(), threshold, Unit::OpsPerS);
    let Some(metric) = phase.and_then(|p| p.metrics.iter().find(|m| m.id == id)) else {
        return part.without(Reason::of("missing", format!("{} is not part of this run", work.words())));
    };
    let found = phase.map_or(Ok(None), |p| bounded_value(p, metric));
    let Bounded { value, low, high, bound } = match found {
        Ok(Some(found)) => found,
        Ok(None) => {
            return part
                .without(Reason::of("missing", format!("{} has no value ({})", work.words(), missing_reason(metric))));
        }
        Err(why) => {
            return part.without(Reason::of("missing", format!("{} has no value that decides ({why})", work.words())));
        }
    };
    if bound.is_some() && low < threshold {
        return part.without(Reason::of(
            "bound",
            format!(
                "{id} is at least {value:.0}, which is below the {threshold:.0} asked for ({})",
                missing_reason(metric)
            ),
        ));
    }
    (part.need.value, part.need.low, part.need.high) = (Some(value), Some(low), Some(high).filter(|h| h.is_finite()));
    part.need.holds = match (low >= threshold, high < threshold) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    if part.need.holds.is_some() {
        return part;
    }
    part.without(Reason::of(
        "too-near",
        format!("{id} is {value:.0}, between {low:.0} and {high:.0}; the class asks for {threshold:.0}"),
    ))
}

/// Where the lowest sustained rate of sequential writes stands to a threshold, bytes per second.
fn sustained(phases: &[PhaseRun], sequential: &Result<Bounded, Reason>, threshold: f64) -> Part {
    let name =
        Run::phase_of_work_in(phases, Work::SequentialWrite).map_or(Work::SequentialWrite.name(), |p| &p.plan.name);
    let mut part = Part::new("sequential write, slowest second", format!("{name} series"), threshold, Unit::BytesPerS);
    match sequential_to(phases, sequential, threshold) {
        Ok(Bounded { value, bound, .. }) => {
            (part.need.value, part.need.holds) = (Some(value), Some(value >= threshold));
            match bound {
                Some(Bound::AtLeast) => part.need.low = Some(value),
                Some(Bound::AtMost) => part.need.high = Some(value),
                None => {}
            }
            part
        }
        Err(why) => part.without(why),
    }
}

/// The lowest sustained rate as far as it decides a threshold: all of it in less than a second, and what was disturbed, are bounds
/// that can only say yes.
pub(crate) fn sequential_to(
    phases: &[PhaseRun],
    sequential: &Result<Bounded, Reason>,
    threshold: f64,
) -> Result<Bounded, Reason> {
    match sequential {
        Ok(rate) if rate.bound == Some(Bound::AtMost) && rate.value >= threshold => {
            Err(reason_of_heat(phases, rate.value))
        }
        Ok(rate) if rate.bound != Some(Bound::AtLeast) || rate.value >= threshold => Ok(*rate),
        Ok(rate) => {
            let phase = Run::phase_of_work_in(phases, Work::SequentialWrite);
            let why = phase.and_then(|p| p.reasons.first()).map_or_else(String::new, Reason::to_string);
            Err(Reason::of(
                "bound",
                format!(
                    "the slowest second took at least {:.1} MB/s, which does not decide it ({why})",
                    rate.value / 1e6
                ),
            ))
        }
        Err(why) => least_of_the_only_second(phases)
            .filter(|least| *least >= threshold)
            .map(|least| Bounded::by(Bound::AtLeast, least))
            .ok_or_else(|| why.clone()),
    }
}

/// The lowest rate of sequential writes over any second after the warm-up cut, stalls included: the classes promise a minimum
/// that a recorder can rely on, and a mean hides the second in which frames are lost. For slow cards the window grows
/// until it holds [`MIN_BLOCKS`] blocks at the mean rate. What heat or the end of a cache did later in the run counts as well.
pub(crate) fn lowest_sustained_write(phases: &[PhaseRun]) -> Result<Bounded, Reason> {
    let phase = Run::phase_of_work_in(phases, Work::SequentialWrite);
    let phase =
        phase.ok_or_else(|| Reason::of("missing", "the run has no phase that writes large blocks in sequence"))?;
    let name = Work::SequentialWrite.words();
    let mean =
        rate_of(phase).map_err(|why| Reason::of("missing", format!("{name} has no value that decides ({why})")))?;
    let record = phase.record.as_ref().ok_or_else(|| Reason::of("missing", format!("{name} has no series")))?;
    let block =
        phase.plan.streams.first().and_then(model::StreamPlan::blocks).map_or(0, |s| s.block.block_size_bytes) as f64;
    let window_ns = WINDOW_NS.max((MIN_BLOCKS * block / mean.value * 1e9) as u64);
    let lowest = lowest_window(record.counted_intervals(), window_ns).ok_or_else(|| {
        Reason::of("missing", format!("{name} is shorter than one window of {:.1} s", window_ns as f64 / 1e9))
    })?;
    let lowest = mean.bound.map_or(Bounded::exactly(lowest), |bound| Bounded::by(bound, lowest));
    Ok(after_changes(phases, lowest))
}

/// What the only second of sequential writes took at least, where all that was to be written took less than a second: a bound of
/// bytes written, met by a fast disk. What it would have taken beside is not known.
fn least_of_the_only_second(phases: &[PhaseRun]) -> Option<f64> {
    let phase = Run::phase_of_work_in(phases, Work::SequentialWrite).filter(|p| rate_of(p).is_ok())?;
    // What was seen later is less, or not known.
    let all = after_changes(phases, Bounded::exactly(f64::INFINITY));
    if all.value.is_finite() || all.bound.is_some() {
        return None;
    }
    let record = phase.record.as_ref().filter(|r| r.stop == StopCause::RegionDone)?;
    let counted = record.counted_intervals();
    let within_one = counted.iter().map(|i| i.length_ns).sum::<u64>() < WINDOW_NS;
    within_one.then(|| counted.iter().map(|i| i.bytes).sum::<u64>() as f64).filter(|bytes| *bytes > 0.0)
}

/// Lowest rate over consecutive intervals that together last at least `window_ns`.
fn lowest_window(intervals: &[Interval], window_ns: u64) -> Option<f64> {
    let mut lowest: Option<f64> = None;
    let mut bytes = 0u64;
    let mut length = 0u64;
    let mut first = 0;
    for interval in intervals {
        bytes += interval.bytes;
        length += interval.length_ns;
        while length - intervals[first].length_ns >= window_ns {
            bytes -= intervals[first].bytes;
            length -= intervals[first].length_ns;
            first += 1;
        }
        if length >= window_ns && length > 0 {
            let rate = bytes as f64 * 1e9 / length as f64;
            lowest = Some(lowest.map_or(rate, |l| l.min(rate)));
        }
    }
    lowest
}

fn application(
    (class, read, write, reads, writes): (&str, f64, f64, Work, Work),
    sequential: &Result<Bounded, Reason>,
    target: &Target,
    phases: &[PhaseRun],
) -> RatedClass {
    let depth = if reads == Work::QueuedRead { " at depth 32" } else { "" };
    let parts = vec![
        side(phases, reads, read, &format!("random reads/s{depth}")),
        side(phases, writes, write, &format!("random writes/s{depth}")),
        sustained(phases, sequential, APPLICATION_SEQUENTIAL),
    ];
    let mut reasons = vec![
        Reason::of("not-erased", "the class is tested on a card that was erased as a whole"),
        Reason::of("not-filled", "the class is tested with three quarters of the card filled"),
        Reason::of("region", "the class is tested inside 256 MB that were written sequentially just before"),
        Reason::of("duration", "the class asks for averages over ten minutes"),
    ];
    if class == "A2" {
        let queue = target.stack.layers.iter().any(|l| l.bool("cmdq_en") == Some(true));
        reasons.push(if queue {
            Reason::of("cache", "A2 is tested with the card's cache switched on, which is not known here")
        } else {
            Reason::of(
                "queue-and-cache",
                "A2 is tested with the card's command queue and cache, and no queue is known to be in use; \
             below may be the host's doing",
            )
        });
    }
    finish(class, parts, reasons, target)
}

fn speed(
    class: &str,
    threshold: f64,
    sequential: &Result<Bounded, Reason>,
    target: &Target,
    phases: &[PhaseRun],
) -> RatedClass {
    let reasons = vec![
        Reason::of("free-units", "the class is tested on free allocation units, with writes of whole recording units"),
        Reason::of("commands", "the class is tested with speed class commands, which no card reader issues"),
    ];
    finish(class, vec![sustained(phases, sequential, threshold)], reasons, target)
}

/// Below if any part is, above if all are, else unknown.
fn finish(class: &str, parts: Vec<Part>, mut reasons: Vec<Reason>, target: &Target) -> RatedClass {
    let indication = if parts.iter().any(|p| p.need.holds == Some(false)) {
        Some("below")
    } else if parts.iter().all(|p| p.need.holds == Some(true)) {
        Some("above")
    } else {
        None
    };
    if !is_card(target) {
        reasons.push(Reason::of(
            "not-a-card",
            "no register says that this is an SD card; one in a USB reader cannot be told from a stick",
        ));
    }
    if is_emmc(target) {
        reasons.push(Reason::of("emmc", "the class is defined for SD cards; an eMMC is compared, not classed"));
    }
    // What is missing comes first: it explains an unknown indication.
    let mut all: Vec<Reason> = parts.iter().filter_map(|p| p.missing.clone()).collect();
    let slowest = parts.iter().map(|p| &p.need).find(|n| n.unit == Unit::BytesPerS && n.holds == Some(false));
    all.extend(slowest.and_then(|need| need.value).map(|rate| {
        let digits = if rate < 10e6 { 2 } else { 1 };
        Reason::of(Rating::SLOWEST_SECOND, format!("slowest second {:.digits$} MB/s", rate / 1e6))
    }));
    all.append(&mut reasons);
    RatedClass {
        rating: Rating {
            class: class.to_owned(),
            met: None,
            indication: indication.map(str::to_owned),
            approximation: true,
            reasons: all,
        },
        claimed: claimed(class, target),
        needs: parts.into_iter().map(|p| p.need).collect(),
    }
}

#[cfg(test)]
mod tests;
