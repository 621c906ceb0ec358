//! `narrows/simulated/1`.

use model::{SimDevice, SimParameter};
use serde::Serialize;

/// What `sim:help` prints with `--json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "schema", rename = "narrows/simulated/1")]
pub struct SimulatedDocument {
    pub devices: Vec<SimDevice>,
    /// Faults that are worth a look, as they are written: fake cards, cards that lose data.
    pub faults: Vec<SimulatedFault>,
    /// Parameters of all of them.
    pub parameters: Vec<SimParameter>,
    /// Those of `sim:bus`, a bus with memory behind it.
    pub bus: Vec<SimParameter>,
}

/// A simulated device with a fault.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulatedFault {
    /// For example `sim:a1-card,wraps-at=8GiB`.
    pub name: &'static str,
    /// What is wrong with it, and what finds that.
    pub title: &'static str,
}
