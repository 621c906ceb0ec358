//! What the runs of an archive say together: a series for each metric, and the events at which series changed.

use crate::{Better, EnvironmentDifference, Unit};
use serde::{Deserialize, Serialize};

/// What the runs of a series have in common; runs of different keys are never held side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct HistoryKey {
    /// Host name, the latest one of a machine that was renamed; empty where it is not known.
    pub machine: String,
    /// Model and serial numbers of the disks, or the target where they do not tell.
    pub device: String,
    /// Name of the plan: `check`, or a workload.
    pub workload: String,
    /// What the plan asks for, as 16 hex digits: size, budget, and the options of each job; the same for the same work.
    pub plan: String,
}

/// A run in a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryPoint {
    pub run_id: String,
    /// Wall clock at the start, RFC 3339; null where the run does not tell.
    pub time: Option<String>,
    pub value: f64,
}

/// A metric, run by run in the order in which the runs ended, whatever their clocks say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistorySeries {
    pub key: HistoryKey,
    /// Id of the metric.
    pub metric: String,
    pub unit: Unit,
    pub better: Option<Better>,
    pub points: Vec<HistoryPoint>,
}

/// Whether a change is one for the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeDirection {
    Better,
    Worse,
}

/// A metric that changed at an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedMetric {
    pub id: String,
    /// Level after over level before.
    pub ratio: f64,
    /// Lower end of the 95 % interval of the ratio.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Null where no direction of the metric is the better one.
    pub direction: Option<ChangeDirection>,
    /// Level before, a geometric mean.
    pub from: f64,
    /// Level after.
    pub to: f64,
    pub unit: Unit,
}

/// That somebody knows of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acknowledgement {
    /// Why it is no cause for alarm, or what was done.
    pub why: String,
    /// When, RFC 3339.
    pub at: String,
}

/// A place at which metrics of one key changed together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryEvent {
    /// Eight hex digits, of the key and the run after.
    pub id: String,
    pub key: HistoryKey,
    /// The last run before.
    pub before: String,
    /// The first run after.
    pub after: String,
    /// When that was made, RFC 3339.
    pub time: Option<String>,
    /// The largest change first.
    pub metrics: Vec<ChangedMetric>,
    /// In what else the two runs differ: it may be the cause.
    pub environment_differences: Vec<EnvironmentDifference>,
    /// What has to be known of it: that no run was made for months between the two.
    pub notes: Vec<String>,
    /// Null while nobody has said that it is known.
    pub acknowledged: Option<Acknowledgement>,
    /// Runs at which the change may be as well, `after` among them.
    #[serde(skip)]
    pub within: Vec<String>,
}

impl HistoryEvent {
    /// Whether any of its metrics became worse.
    pub fn is_worse(&self) -> bool {
        self.metrics.iter().any(|m| m.direction == Some(ChangeDirection::Worse))
    }
}

/// The whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct History {
    pub series: Vec<HistorySeries>,
    /// In the order of the runs.
    pub events: Vec<HistoryEvent>,
    /// What has to be known of the runs: a machine that was renamed, a disk that moved, a clock that went back.
    pub notes: Vec<String>,
    /// Runs that could not be read, with the reason.
    pub unreadable: Vec<String>,
    /// Runs that were looked at.
    pub runs: usize,
}

impl History {
    /// Events for the worse that nobody acknowledged.
    pub fn open(&self) -> impl Iterator<Item = &HistoryEvent> {
        self.events.iter().filter(|e| e.is_worse() && e.acknowledged.is_none())
    }
}
