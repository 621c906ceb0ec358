//! What the diagnosis and the judge conclude: the limit, findings, ratings.

use crate::{Evidence, NextStep, Reason, Unit};
use serde::{Deserialize, Serialize};

/// How sure a statement is. Nothing is `high` that was not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// One of several explanations that fit.
    Low,
    /// The evidence agrees, no controlled comparison was made.
    Probable,
    /// Measured or read directly.
    High,
}

/// The layers to which a limit can be attributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitLayer {
    /// Memory bandwidth.
    Memory,
    /// A processor.
    Cpu,
    /// Copying through and flushing the page cache.
    PageCache,
    /// The file system.
    Filesystem,
    /// Request queue, scheduler, splitting.
    BlockLayer,
    /// dm, md, loop, zram.
    Stacking,
    /// The kernel's driver.
    Driver,
    /// The link between controller and device.
    Link,
    /// The controller or host adapter.
    Controller,
    /// The device itself.
    Device,
    /// Heat or power.
    ThermalPower,
    /// A limit set on purpose (cgroup, hypervisor).
    Throttle,
    /// The generator of the load, this program.
    Generator,
    /// Not known.
    Unknown,
}

/// The bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    pub layer: LimitLayer,
    /// In one sentence.
    pub statement: String,
    /// How sure.
    pub confidence: Confidence,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
}

/// One thing that may hold a run back; the surest of them is the [`Limit`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Where it sits.
    pub layer: LimitLayer,
    /// In one sentence, with the numbers.
    pub statement: String,
    /// How sure.
    pub confidence: Confidence,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// The measurement that would decide it.
    pub decided_by: String,
    /// What to do about it, where something can be done; where documents have it, it stands beside the cause.
    #[serde(skip)]
    pub next_step: Option<NextStep>,
    /// Whether it is the bottleneck.
    #[serde(skip)]
    pub is_limit: bool,
}

/// What a measurement that decides a cause gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confirmation {
    /// The run of that measurement.
    pub run_id: String,
    /// The layer of the cause.
    pub layer: LimitLayer,
    /// Whether the cause holds; `None`: the measurement leaves it open.
    pub holds: Option<bool>,
    /// How sure the cause is now.
    pub confidence: Confidence,
    /// What came out, in one sentence.
    pub statement: String,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
}

/// A predicted gain: the next ceiling over the current value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// Which metric gains.
    pub metric: String,
    /// At most this many times; `None` where it cannot be predicted.
    pub at_most_ratio: Option<f64>,
    /// What the prediction rests on.
    pub basis: String,
}

/// A named condition of the storage path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable id; `narrows explain ID` prints its page.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// Where it sits.
    pub layer: LimitLayer,
    /// How sure.
    pub confidence: Confidence,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// What mending it would bring.
    pub gain: Option<Gain>,
    /// What to do.
    pub fix: String,
    /// Where the knowledge comes from.
    pub source: String,
}

/// A finding that can neither be named nor ruled out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undecided {
    /// Id of the finding; `narrows explain ID` prints its page.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// Where it would sit.
    pub layer: LimitLayer,
    /// The fact or measurement that is missing.
    pub missing: String,
    pub how_to_get: String,
}

/// How a target stands to a published class, from a short test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// `A1`, `A2`, `C10`, `U3`, `V30`.
    pub class: String,
    /// Whether the class is met; `None` where this test cannot decide it.
    pub met: Option<bool>,
    /// Where a short test stands to the class's threshold: `above`, `below`, or unknown.
    pub indication: Option<String>,
    /// Whether the test departs from the class's conditions.
    pub approximation: bool,
    /// Which conditions were not met, which numbers were missing.
    pub reasons: Vec<Reason>,
}

impl Rating {
    /// Code of the reason of a class that the slowest second of sequential writes is below, however high the mean is.
    pub const SLOWEST_SECOND: &str = "slowest-second";

    /// That reason.
    pub fn slowest_second(&self) -> Option<&Reason> {
        self.reasons.iter().find(|r| r.is(Self::SLOWEST_SECOND))
    }
}

/// A class with what it asks for beside what was measured: `narrows rate`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatedClass {
    /// How the target stands to it.
    #[serde(flatten)]
    pub rating: Rating,
    /// Whether the card's own registers claim the class; `None` where they say nothing of it.
    pub claimed: Option<bool>,
    /// What it asks for.
    pub needs: Vec<ClassNeed>,
}

/// One number that a class asks for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassNeed {
    /// What cannot be decided, as a sentence.
    pub what: String,
    /// The metric, or the phase of whose series it was made.
    pub metric: String,
    /// The least that the class asks for.
    pub threshold: f64,
    /// What was measured; `None` where no number stands.
    pub value: Option<f64>,
    /// The interval of it.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// Unit of all of them.
    pub unit: Unit,
    /// Whether it is there; `None` where that cannot be told.
    pub holds: Option<bool>,
}
