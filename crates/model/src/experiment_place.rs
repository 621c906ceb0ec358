//! Where a run stands in an experiment.

use serde::{Deserialize, Serialize};

/// The place of a run among the runs of its experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentPlace {
    /// Id of this execution of the experiment: its name and the moment it was started.
    pub id: String,
    /// The arm that was in force.
    pub arm: String,
    /// Number of the pair, from 0 on.
    pub pair: u32,
    /// Number of the run in the planned order, from 0 on; `None` where no order was drawn.
    pub order: Option<u32>,
    /// Seed that the order was drawn with.
    #[serde(default)]
    pub seed: Option<u64>,
}
