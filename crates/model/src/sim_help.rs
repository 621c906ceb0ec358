//! What can be said of simulated devices.

use serde::Serialize;
use std::collections::BTreeMap;

/// A simulated device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimDevice {
    pub name: String,
    /// Which device it is after.
    pub title: String,
    /// Where its figures are from.
    pub source: String,
}

/// A parameter of simulated devices.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimParameter {
    /// As it is written.
    pub name: &'static str,
    /// What it may be.
    pub expects: &'static str,
    pub meaning: &'static str,
    /// What it is where it is not given.
    pub default: String,
    /// The same on devices that have another default.
    pub devices: BTreeMap<String, String>,
}
