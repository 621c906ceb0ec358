//! `narrows/simulated/1`.

use serde::Serialize;
use std::collections::BTreeMap;

/// What `sim:help` prints with `--json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulatedDocument {
    /// `narrows/simulated/1`.
    pub schema: &'static str,
    pub devices: Vec<SimulatedDevice>,
    /// Faults that are worth a look, as they are written: fake cards, cards that lose data.
    pub faults: Vec<SimulatedFault>,
    /// Parameters of all of them.
    pub parameters: Vec<SimulatedParameter>,
    /// Those of `sim:bus`, a bus with memory behind it.
    pub bus: Vec<SimulatedParameter>,
}

/// A simulated device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulatedDevice {
    pub name: String,
    /// Which device it is after.
    pub title: String,
    /// Where its figures are from.
    pub source: String,
}

/// A simulated device with a fault.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulatedFault {
    /// For example `sim:a1-card,wraps-at=8GiB`.
    pub name: &'static str,
    /// What is wrong with it, and what finds that.
    pub title: &'static str,
}

/// A parameter of simulated devices.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulatedParameter {
    pub name: &'static str,
    /// What it may be.
    pub expects: &'static str,
    pub meaning: &'static str,
    /// What it is where it is not given.
    pub default: String,
    /// The same on devices that have another default.
    pub devices: BTreeMap<String, String>,
}

impl SimulatedDocument {
    /// Schema of the document.
    pub const SCHEMA: &'static str = "narrows/simulated/1";
}
