//! The text form of a workload, as TOML holds it.

use model::{Access, Operation, Order, ParseUnitError, PhaseKind, Sync, parse_bytes, parse_duration_ns};
use serde::{Deserialize, Deserializer};

/// Why a text is no plan.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The TOML does not have the form of a workload.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A phase lacks something.
    #[error("phase '{phase}': {what}")]
    Phase {
        /// Its name.
        phase: String,
        /// What is wrong with it.
        what: String,
    },
    /// The budget holds nothing.
    #[error("a budget of {given_s} s is too short: the shortest useful check takes {least_s} s")]
    Budget {
        /// What was asked for, seconds.
        given_s: f64,
        /// What is needed, seconds.
        least_s: f64,
    },
    /// The target holds nothing.
    #[error("the target offers {bytes} bytes; {least} bytes are the least that can be measured")]
    TooSmall {
        /// What it offers.
        bytes: u64,
        /// What is needed.
        least: u64,
    },
}

fn with<'de, D: Deserializer<'de>>(d: D, f: fn(&str) -> Result<u64, ParseUnitError>) -> Result<u64, D::Error> {
    let text = String::deserialize(d)?;
    f(&text).map_err(serde::de::Error::custom)
}

fn bytes<'de, D: Deserializer<'de>>(d: D) -> Result<u64, D::Error> {
    with(d, parse_bytes)
}

fn duration<'de, D: Deserializer<'de>>(d: D) -> Result<u64, D::Error> {
    with(d, parse_duration_ns)
}

fn some_duration<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u64>, D::Error> {
    with(d, parse_duration_ns).map(Some)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WarmupText {
    #[serde(deserialize_with = "duration")]
    pub min: u64,
    pub share: f64,
    #[serde(deserialize_with = "duration")]
    pub max: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PhaseText {
    pub name: String,
    #[serde(default = "measure")]
    pub kind: PhaseKind,
    #[serde(default = "read")]
    pub operation: Operation,
    #[serde(default = "sequential")]
    pub order: Order,
    #[serde(default = "buffered")]
    pub access: Access,
    #[serde(deserialize_with = "bytes")]
    pub block_size: u64,
    #[serde(default = "one")]
    pub depth: u32,
    #[serde(default = "no_sync")]
    pub sync: Sync,
    #[serde(default)]
    pub cold: bool,
    /// Fixed time; without it the phase takes its weighted share.
    #[serde(default, deserialize_with = "some_duration")]
    pub time: Option<u64>,
    #[serde(default)]
    pub weight: f64,
    #[serde(default)]
    pub priority: u32,
}

fn measure() -> PhaseKind {
    PhaseKind::Measure
}
fn read() -> Operation {
    Operation::Read
}
fn sequential() -> Order {
    Order::Sequential
}
fn buffered() -> Access {
    Access::Buffered
}
fn one() -> u32 {
    1
}
fn no_sync() -> Sync {
    Sync::None
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckText {
    pub name: String,
    #[serde(deserialize_with = "duration")]
    pub interval: u64,
    #[serde(deserialize_with = "duration")]
    pub quiet: u64,
    /// Share of the budget that layout may take.
    pub layout_share: f64,
    #[serde(deserialize_with = "duration")]
    pub least_share: u64,
    pub warmup: WarmupText,
    #[serde(rename = "phase")]
    pub phases: Vec<PhaseText>,
}
