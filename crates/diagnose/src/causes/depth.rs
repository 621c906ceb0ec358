//! Depth scaling by Little's law: depth = rate x latency. A queue that works one command at a time answers more depth with
//! more latency and no more rate.

use super::probes::{self, Probe};
use super::{Cause, CauseKind, CauseNature, Trial};
use crate::guard::exclude;
use crate::stack_view::{self, DiskPath, Facts};
use crate::{machine, phrase};
use model::facts as names;
use model::{Confidence, Direction, Evidence, LimitLayer, Run, Step};

/// The deepest setting gives at most this many times depth 1: serialised.
pub(crate) const SERIALISED: f64 = 1.15;
/// The depth must have been there: at least half of what was asked was in flight on average.
const DEPTH_REACHED: f64 = 0.5;
/// Latency grew with depth to at least this share of proportionality.
const PROPORTIONAL: f64 = 0.6;
/// A processor this busy explains missing scaling by itself.
const BUSY: f64 = 0.85;
/// A queue of n slots gives n times the rate of depth 1, as long as the device keeps up: full to within this share.
const FULL_QUEUE: (f64, f64) = (0.85, 1.1);
/// Queues up to this many slots are short. Beyond it the device is as likely to be the limit (SATA has 32 slots).
const SHORT_QUEUE: i64 = 16;

/// How the random rate of a direction scales from depth 1 to the deepest setting that was measured.
#[derive(Clone, Copy)]
pub(crate) struct Scaling<'a> {
    /// The phase at depth 1.
    shallow: Probe<'a>,
    deepest: Probe<'a>,
    /// IOPS at depth 1.
    pub one: f64,
    /// IOPS at the deeper setting.
    pub deep: f64,
    /// The depth that was asked for.
    pub depth: f64,
    /// Mean number in flight, from the record or from Little's law.
    pub reached: Option<f64>,
    /// Mean latency at depth over mean latency at depth 1.
    pub latency_ratio: Option<f64>,
}

impl Scaling<'_> {
    /// Rate at depth over rate at depth 1.
    pub fn ratio(&self) -> f64 {
        self.deep / self.one
    }

    fn gains(&self, direction: Direction) -> String {
        let what = if direction == Direction::Read { "reads" } else { "writes" };
        let times = phrase::times(self.ratio());
        format!("depth {:.0} gives {times} the rate of depth 1 for random {what}", self.depth)
    }

    /// Whether the depth that was asked for was really in flight; `None` if nothing tells.
    pub fn depth_was_there(&self) -> Option<bool> {
        self.reached.map(|r| r >= self.depth * DEPTH_REACHED)
    }

    pub fn evidence(&self) -> Vec<Evidence> {
        let mut evidence = vec![
            Evidence::measured("rate at depth 1", self.one, self.shallow.id("iops")),
            Evidence::measured(format!("rate at depth {:.0}", self.depth), self.deep, self.deepest.id("iops")),
        ];
        evidence.extend(
            self.latency_ratio.map(|r| {
                Evidence::measured("mean latency at depth over depth 1", r, self.deepest.id("latency_ns_mean"))
            }),
        );
        evidence
            .extend(self.reached.map(|r| Evidence::measured("mean operations in flight", r, self.deepest.id("iops"))));
        evidence
    }
}

/// Scaling of a direction, if a phase at depth 1 and a deeper one stand.
pub(crate) fn scaling(run: &Run, direction: Direction) -> Option<Scaling<'_>> {
    let probes = probes::depths(run, direction);
    let (shallow, deepest) = (*probes.first()?, *probes.last()?);
    exclude(shallow.depth != 1.0 || deepest.depth <= 1.0)?;
    let (one, deep) = (shallow.iops(run), deepest.iops(run));
    let latency_ratio = deepest.latency_ns(run).zip(shallow.latency_ns(run)).map(|(d, o)| d / o);
    let reached = deepest.record.mean_depth.or_else(|| deepest.latency_ns(run).map(|ns| deep * ns / 1e9));
    Some(Scaling { shallow, deepest, one, deep, depth: deepest.depth, reached, latency_ratio })
}

/// Whether a processor is so busy in the deepest phase that missing scaling is no wonder.
fn processor_explains(run: &Run, scaling: &Scaling<'_>) -> bool {
    machine::cpus_during(run, scaling.deepest.phase).is_some_and(|c| c.full() >= BUSY)
}

/// A queue of a few slots, all of them full: so many times the rate of depth 1, and no more.
pub fn short_queue(run: &Run) -> Option<Cause> {
    let scaling = scaling(run, Direction::Read).filter(|s| s.depth_was_there() != Some(false))?;
    let path = stack_view::only_disk(&run.target.stack)?;
    let slots = path.disk.int(names::QUEUE_DEPTH).filter(|q| (2..=SHORT_QUEUE).contains(q))?;
    let full = scaling.ratio() / slots as f64;
    exclude(
        scaling.depth < 2.0 * slots as f64
            || !(FULL_QUEUE.0..=FULL_QUEUE.1).contains(&full)
            || processor_explains(run, &scaling),
    )?;
    let ceiling = probes::fastest(run, Direction::Read).map(|p| p.bytes_per_s / scaling.deepest.block);
    let ratio = ceiling.map(|c| (c / scaling.deep).min(scaling.depth / slots as f64));
    let full = format!("the host keeps {slots} commands with the device, and all slots are full");
    let gains = scaling.gains(Direction::Read);
    Some(
        Cause::new(LimitLayer::Driver, CauseNature::Path, format!("{full} ({gains})"))
            .with_short(full)
            .with_evidence(scaling.evidence())
            .with_evidence([path.disk.evidence(names::QUEUE_DEPTH)])
            .decided_by("the same random phases with a longer queue (queue_depth), alternating")
            .tried_by(Trial::Depths)
            .step(Step::LongerQueue, ratio),
    )
}

/// Who serialises, as far as facts tell.
struct Explanation {
    layer: LimitLayer,
    words: &'static str,
    /// What a row of a check has no room for.
    detail: &'static str,
    evidence: Vec<Evidence>,
    remedy: Step,
}

fn explain(run: &Run, path: &DiskPath<'_>) -> Option<Explanation> {
    let disk = path.disk;
    let some = |layer, words, evidence, remedy| Some(Explanation { layer, words, detail: "", evidence, remedy });
    if let Some(l) = path.holder(names::USB_DRIVER).filter(|l| l.text(names::USB_DRIVER) == Some("usb-storage")) {
        let words = "the USB bulk-only protocol carries one command at a time";
        return some(LimitLayer::Link, words, vec![l.evidence(names::USB_DRIVER)], Step::UasBridge);
    }
    if let Some(l) = path.has_driver("ata_piix") {
        let words = "the controller runs in IDE mode, without command queueing";
        return some(LimitLayer::Controller, words, vec![stack_view::driver_evidence(l)], Step::AhciMode);
    }
    if disk.text(names::TRANSPORT) == Some("mmc") {
        let queueing = disk.bool(names::CMDQ_EN);
        exclude(queueing == Some(true))?;
        let host = path.holder(names::MMC_HOST_CQE);
        let host_can = host.and_then(|l| l.bool(names::MMC_HOST_CQE));
        let layer = if host_can == Some(true) { LimitLayer::Driver } else { LimitLayer::Controller };
        // SD: A2 or a depth in the status register; eMMC: from revision 5.1 on it may have one.
        let class = disk.int(names::APP_PERFORMANCE_CLASS);
        let depth = disk.int(names::SD_CARD_QUEUE_DEPTH);
        let revision = disk.int(names::MMC_REVISION);
        let offered = class == Some(2) || depth.is_some_and(|d| d > 0);
        if !offered && (class.is_some() || depth == Some(0) || revision.is_some_and(|r| r < 8)) {
            let evidence = [names::APP_PERFORMANCE_CLASS, names::SD_CARD_QUEUE_DEPTH, names::MMC_REVISION]
                .into_iter()
                .filter(|n| disk.fact(n).is_some())
                .map(|n| disk.evidence(n))
                .collect();
            let words = "the card offers no command queue and takes one command at a time";
            return some(LimitLayer::Device, words, evidence, Step::QueueingCardAndHost);
        }
        let words = if offered {
            "the host's command path: the card offers a command queue, the host runs none"
        } else {
            "the host's command path runs no command queue"
        };
        let mut evidence = vec![disk.evidence(names::CMDQ_EN)];
        if offered {
            evidence.push(disk.evidence(names::APP_PERFORMANCE_CLASS));
            evidence.push(disk.evidence(names::SD_CARD_QUEUE_DEPTH));
        }
        evidence.extend(host.map(|l| l.evidence(names::MMC_HOST_CQE)));
        return some(layer, words, evidence, Step::QueueingHost);
    }
    if disk.int(names::QUEUE_DEPTH) == Some(1) {
        let host_can = path.holder(names::NCQ_HOST).and_then(|l| l.bool(names::NCQ_HOST));
        let (layer, words) = match host_can {
            Some(false) => (LimitLayer::Controller, "the controller has no command queueing"),
            Some(true) => (LimitLayer::Driver, "command queueing is off for this disk, though the controller has it"),
            None => (LimitLayer::Driver, "the device is given one command at a time"),
        };
        let detail = if host_can.is_none() { " (queue depth 1)" } else { "" };
        let evidence = vec![disk.evidence(names::QUEUE_DEPTH)];
        return Some(Explanation { layer, words, detail, evidence, remedy: Step::CommandQueueing });
    }
    stack_view::has_heads(run).then(|| Explanation {
        layer: LimitLayer::Device,
        words: "one head assembly serves one place at a time",
        detail: "",
        evidence: vec![disk.evidence(names::ROTATIONAL)],
        remedy: Step::NoMovingHeads,
    })
}

/// Random I/O that does not gain from depth.
pub fn serialised(run: &Run) -> Option<Cause> {
    // Reads decide: a cache may absorb writes at any depth, so writes that do not gain prove no serialised queue where
    // reads do gain.
    let scaling = scaling(run, Direction::Read)
        .or_else(|| scaling(run, Direction::Write))
        .filter(|s| s.ratio() <= SERIALISED && s.depth_was_there() != Some(false))?;
    exclude(processor_explains(run, &scaling))?;
    let direction = scaling.deepest.direction;
    let explanation = stack_view::only_disk(&run.target.stack).and_then(|path| explain(run, &path));
    let grew = scaling.latency_ratio.map(|r| r >= scaling.depth * PROPORTIONAL);
    exclude(grew == Some(false))?;
    let confidence = match (&explanation, grew) {
        (Some(_), Some(true)) if direction == Direction::Read => Confidence::Probable,
        _ => Confidence::Low,
    };
    let gains = scaling.gains(direction);
    let (layer, words, detail) = match &explanation {
        Some(e) => (e.layer, e.words, e.detail),
        None => (LimitLayer::Unknown, "one command at a time, somewhere between the queue and the device", ""),
    };
    // The sequential rate of the same run is what the rest of the path carries: the next ceiling for 4 KiB operations.
    let sequential = probes::fastest(run, direction);
    let ceiling = sequential.map(|p| p.bytes_per_s / scaling.deepest.block);
    let ratio = ceiling.map(|c| (c / scaling.deep).min(scaling.depth));
    let remedy = explanation.as_ref().map_or(Step::FindSerialisingLayer, |e| e.remedy.clone());
    let basis = sequential.zip(ceiling).map_or_else(
        || remedy.basis().to_owned(),
        |(p, c)| {
            let name = p.name();
            let now = phrase::iops(scaling.deep);
            format!("{name} at this block size would be {}; {now} now", phrase::iops(c))
        },
    );
    Some(
        Cause::new(layer, CauseNature::Path, format!("{words}{detail} ({gains})"))
            .with_short(words)
            .of_kind(if stack_view::has_heads(run) { CauseKind::OfItsLayer } else { CauseKind::OneCommand })
            .with_confidence(confidence)
            .with_evidence(scaling.evidence())
            .with_evidence(explanation.map(|e| e.evidence).unwrap_or_default())
            .decided_by("the same random phases with command queueing on and off, or on a host that has it")
            .tried_by(Trial::Depths)
            .step(remedy, ratio)
            .based_on(basis),
    )
}
