//! A limit that a control group of this process sets, and that the run met.

use super::probes::{self, Probe};
use super::{Cause, CauseKind, CauseNature, Trial};
use crate::phrase;
use crate::stack_view::Facts;
use model::facts as names;
use model::{Confidence, Direction, Evidence, Layer, LimitLayer, Run, Step};

/// A rate this near to the limit may be held by it.
const NEAR: f64 = 0.03;
/// A rate this near is: the kernel's limiter is exact over a phase, and what a device gives by itself rarely falls so.
const MET: f64 = 0.01;
/// Requests larger than the device takes are split, and the kernel charges the whole and its parts (measured on 6.18: 1 MiB
/// reads reach half of a limit on bytes and a third of one on operations). The most parts that are looked for.
const MAX_CHARGES: u32 = 4;

/// One limit: its fact, what it limits, the metric that shows it.
struct Kind {
    fact: &'static str,
    what: &'static str,
    quantity: &'static str,
    direction: Direction,
}

const KINDS: [Kind; 4] = [
    Kind { fact: names::CGROUP_READ_IOPS, what: "read operations", quantity: "iops", direction: Direction::Read },
    Kind {
        fact: names::CGROUP_READ_BYTES_PER_S,
        what: "bytes read",
        quantity: "throughput_bytes_per_s",
        direction: Direction::Read,
    },
    Kind { fact: names::CGROUP_WRITE_IOPS, what: "write operations", quantity: "iops", direction: Direction::Write },
    Kind {
        fact: names::CGROUP_WRITE_BYTES_PER_S,
        what: "bytes written",
        quantity: "throughput_bytes_per_s",
        direction: Direction::Write,
    },
];

/// Said where a rate only comes near to its limit.
const OR_DEVICE: &str = ", or the device, which may give a little less than that by itself";

/// Requests up to this size are charged once: no device in use takes less.
const CHARGED_ONCE_BYTES: f64 = 65_536.0;

/// A page, which one segment of a request holds at least.
const PAGE_BYTES: f64 = 4_096.0;
/// What is charged once runs this much faster than what is split, where the same limit holds both.
const FASTER_UNSPLIT: f64 = 1.1;

/// Whether the device's queue splits requests of this size, as far as it tells.
fn may_split(layer: &Layer, block: f64) -> bool {
    let whole = |name| layer.int(name).filter(|n| *n > 0).map(|n| n as f64);
    let bytes = whole(names::MAX_SECTORS_KB).map(|kib| kib * 1_024.0);
    // Neighbouring pages may share a segment; where each has its own, this is what fits.
    let pages = whole(names::MAX_SEGMENTS).map(|n| n * PAGE_BYTES);
    bytes.is_none_or(|most| block > most) || pages.is_none_or(|most| block > most)
}

/// The limits that the run met, in one cause.
pub fn limit(run: &Run) -> Option<Cause> {
    let all = probes::with_other_io(run);
    let mut met = Vec::new();
    let mut evidence = Vec::new();
    let mut sure = false;
    // Limits of which a whole part was reached, and what speaks for a limit besides.
    let (mut parts, mut borne_out) = (0, 0);
    let mut limited = CauseKind::OfItsLayer;
    for layer in &run.target.stack.layers {
        for kind in &KINDS {
            let Some(cap) = layer.int(kind.fact).filter(|n| *n > 0).map(|n| n as f64) else { continue };
            let id = |phase: &str| format!("{phase}.{}", kind.quantity);
            let near = |v: f64| (v / cap - 1.0).abs() <= NEAR;
            let of_kind = |p: &&Probe<'_>| p.direction == kind.direction && (p.direct || kind.quantity != "iops");
            let value = |p: &Probe<'_>| p.value_despite_others(kind.quantity);
            // Small requests first, which are charged once; what passes the page cache is merged, and counts by bytes.
            // A device that gives a little less than the limit by itself comes near to it too; more than it, it does not get.
            // The phase of the most operations has the finest grain, so it decides whether the limit was met.
            let close = |p: &&Probe<'_>| value(p).is_some_and(near);
            let finest = all.iter().filter(of_kind).filter(close).max_by_key(|p| p.record.operations).and_then(value);
            let reached = finest.is_some_and(|v| v / cap >= 1.0 - MET);
            let once =
                || all.iter().filter(of_kind).filter(|p| p.block <= CHARGED_ONCE_BYTES || !p.direct).filter(close);
            let held = once().next().filter(|_| reached);
            let at = held.or_else(|| once().next()).and_then(|p| Some((p.name(), value(p)?)));
            let split = all.iter().filter(of_kind).filter(|p| p.direct && p.block > CHARGED_ONCE_BYTES).find_map(|p| {
                let v = value(p)?;
                let most = if may_split(layer, p.block) { MAX_CHARGES } else { 1 };
                (1..=most).find(|n| near(v * f64::from(*n))).map(|n| (p.name(), v, n))
            });
            if at.is_none() && split.is_none() {
                continue;
            }
            let shown = |v: f64| if kind.quantity == "iops" { phrase::iops(v) } else { phrase::rate(v) };
            let mut words = format!("{} per second on {} ({})", kind.what, layer.name, shown(cap));
            evidence.push(layer.evidence(kind.fact));
            let seen = finest.is_some_and(|v| (v / cap - 1.0).abs() <= MET);
            if let Some((phase, v)) = at {
                sure |= seen;
                borne_out += usize::from(held.is_some());
                if held.is_none() {
                    words += OR_DEVICE;
                }
                evidence.push(Evidence::measured(phase, v, id(phase)));
            }
            if let Some((phase, v, charges)) = split {
                sure |= charges == 1 && seen;
                borne_out += usize::from(charges == 1 && reached);
                if charges == 1 && !reached && at.is_none() {
                    words += OR_DEVICE;
                }
                evidence.push(Evidence::measured(phase, v, id(phase)));
                if charges > 1 {
                    // One in five rates is near a half, a third or a quarter of a limit by chance. What is charged once then runs
                    // faster, up to the limit, if it is held by it as well; a device has no reason to be faster that way.
                    let unsplit = all.iter().filter(of_kind).filter(|p| p.block <= CHARGED_ONCE_BYTES || !p.direct);
                    let faster = |o: f64| o > v * FASTER_UNSPLIT && o <= cap * (1.0 + NEAR);
                    parts += 1;
                    borne_out += usize::from(kind.quantity != "iops" && unsplit.filter_map(value).any(faster));
                    words +=
                        &format!("; {phase} gets {}: large requests are split and charged {charges} times", shown(v));
                }
            }
            if kind.quantity == "iops" {
                limited = CauseKind::Operations;
            }
            met.push(words);
        }
    }
    (!met.is_empty()).then(|| cause(&met, (sure, borne_out > 0 || parts > 1), evidence).of_kind(limited))
}

/// Of limits that were met, in words; whether one surely was, and whether more than a coincidence speaks for it.
fn cause(met: &[String], sure: (bool, bool), evidence: Vec<Evidence>) -> Cause {
    Cause::new(
        LimitLayer::Throttle,
        CauseNature::Distortion,
        format!("a limit of this control group: {}", met.join(", and ")),
    )
    .with_confidence(match sure {
        (true, _) => Confidence::High,
        (false, true) => Confidence::Probable,
        (false, false) => Confidence::Low,
    })
    .with_evidence(evidence)
    .decided_by("the same check outside of the control group")
    .tried_by(Trial::Sizes)
    .step(Step::RaiseGroupLimit, None)
}
