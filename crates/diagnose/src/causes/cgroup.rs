//! A limit that a control group of this process sets, and that the run met.

use super::probes::{self, Probe};
use super::{Cause, Standing, Trial};
use crate::stack_view::Facts;
use crate::{fact_names as names, phrase};
use model::{Confidence, Direction, Evidence, LimitLayer, Run};

/// A rate this near to the limit is held by it.
const NEAR: f64 = 0.03;
/// Requests larger than the device takes are split, and the kernel charges the whole and its parts (measured on 6.18: 1 MiB
/// reads reach half of a limit on bytes and a third of one on operations). The most parts that are looked for.
const MOST_CHARGES: u32 = 4;

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

/// Requests up to this size are charged once: no device in use takes less.
const CHARGED_ONCE_BYTES: f64 = 65_536.0;

/// The limits that the run met, in one cause.
pub fn limit(run: &Run) -> Option<Cause> {
    let all = probes::with_company(run);
    let mut met = Vec::new();
    let (mut evidence, mut sure) = (Vec::new(), false);
    for layer in &run.target.stack.layers {
        for kind in &KINDS {
            let Some(cap) = layer.int(kind.fact).filter(|n| *n > 0).map(|n| n as f64) else { continue };
            let id = |phase: &str| format!("{phase}.{}", kind.quantity);
            let near = |v: f64| (v / cap - 1.0).abs() <= NEAR;
            let of_kind = |p: &&Probe<'_>| p.direction == kind.direction && (p.direct || kind.quantity != "iops");
            let value = |p: &Probe<'_>| p.whatever_beside(kind.quantity);
            // Small requests first, which are charged once; what passes the page cache is merged, and counts by bytes.
            let at = all
                .iter()
                .filter(of_kind)
                .filter(|p| p.block <= CHARGED_ONCE_BYTES || !p.direct)
                .find_map(|p| value(p).filter(|v| near(*v)).map(|v| (p.name(), v)));
            let split = all.iter().filter(of_kind).filter(|p| p.direct && p.block > CHARGED_ONCE_BYTES).find_map(|p| {
                let v = value(p)?;
                (1..=MOST_CHARGES).find(|n| near(v * f64::from(*n))).map(|n| (p.name(), v, n))
            });
            if at.is_none() && split.is_none() {
                continue;
            }
            let shown = |v: f64| if kind.quantity == "iops" { phrase::iops(v) } else { phrase::rate(v) };
            let mut words = format!("{} per second on {} ({})", kind.what, layer.name, shown(cap));
            evidence.push(layer.evidence(kind.fact));
            if let Some((phase, v)) = at {
                sure = true;
                evidence.push(Evidence::measurement(phase, phrase::rounded(v), id(phase)));
            }
            if let Some((phase, v, charges)) = split {
                sure |= charges == 1;
                evidence.push(Evidence::measurement(phase, phrase::rounded(v), id(phase)));
                if charges > 1 {
                    words +=
                        &format!("; {phase} gets {}: large requests are split and charged {charges} times", shown(v));
                }
            }
            met.push(words);
        }
    }
    (!met.is_empty()).then(|| {
        Cause::new(
            LimitLayer::Throttle,
            Standing::Distortion,
            format!("a limit of this control group: {}", met.join(", and ")),
        )
        .sure(if sure { Confidence::High } else { Confidence::Probable })
        .because(evidence)
        .decided_by("the same check outside of the control group")
        .tried_by(Trial::Sizes)
        .step(
            "raise or remove the group's limit (io.max, blkio.throttle), or check from outside of it",
            None,
            "what the device can do is hidden by the limit",
        )
    })
}
