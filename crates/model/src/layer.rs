//! One layer of a storage path, and what is known of it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What kind of layer; the order of the variants is the usual order from top to bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerKind {
    /// A mounted file system.
    Filesystem,
    /// A loop device.
    Loop,
    /// A device-mapper device.
    Dm,
    /// A software RAID.
    Md,
    /// A compressed memory disk.
    Zram,
    /// A partition of a disk.
    Partition,
    /// A whole disk with its request queue.
    Disk,
    /// The link or bus between disk and controller, with its negotiated speed.
    Link,
    /// The controller (host adapter).
    Controller,
    /// The machine.
    Host,
    /// A simulated device.
    Sim,
}

/// A value read from the system. `Null` means: looked for, not there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fact {
    /// Looked for, not found or not readable.
    Null,
    /// A yes or no.
    Bool(bool),
    /// A whole number; the unit is in the fact's name.
    Int(i64),
    /// A fraction; the unit is in the fact's name.
    Float(f64),
    /// Text, as the system gave it.
    Text(String),
    /// Several texts.
    List(Vec<String>),
}

impl Fact {
    /// The whole number, if it is one.
    pub fn int(&self) -> Option<i64> {
        match self {
            Self::Int(v) => Some(*v),
            _ => None,
        }
    }
    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(v) => Some(v),
            _ => None,
        }
    }
    /// The truth value, if it is one.
    pub fn bool(&self) -> Option<bool> {
        match self {
            Self::Bool(v) => Some(*v),
            _ => None,
        }
    }
    /// Whether the fact is missing.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

macro_rules! fact_from {
    ($($t:ty => $v:ident $(as $c:ty)?),* $(,)?) => {$(
        impl From<$t> for Fact { fn from(v: $t) -> Self { Self::$v(v $(as $c)?) } }
    )*};
}
fact_from!(bool => Bool, i64 => Int, u32 => Int as i64, f64 => Float, String => Text, Vec<String> => List);

impl From<u64> for Fact {
    fn from(v: u64) -> Self {
        i64::try_from(v).map_or(Self::Text(v.to_string()), Self::Int)
    }
}

impl From<&str> for Fact {
    fn from(v: &str) -> Self {
        Self::Text(v.to_owned())
    }
}

impl<T: Into<Fact>> From<Option<T>> for Fact {
    fn from(v: Option<T>) -> Self {
        v.map_or(Self::Null, Into::into)
    }
}

/// A block device's number, as in /sys/dev/block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeviceId {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

impl std::fmt::Display for DeviceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// One layer of the storage path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    pub kind: LayerKind,
    /// Its name: `ext4`, `sda1`, `mmcblk0`, `0000:00:1f.2`.
    pub name: String,
    /// The kernel driver that serves it, where there is one.
    pub driver: Option<String>,
    /// What was read about it; names carry units; missing values are null.
    pub facts: BTreeMap<String, Fact>,
    /// The most that this layer can carry (line rate), bytes per second.
    pub ceiling_bytes_per_s: Option<u64>,
    /// Where the ceiling comes from.
    pub ceiling_source: Option<String>,
    /// Block device number where the layer is one; the key to its counters.
    pub device: Option<DeviceId>,
    /// Whether /proc/diskstats counts its traffic.
    pub counted: bool,
}

impl Layer {
    /// A layer without facts.
    pub fn new(kind: LayerKind, name: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            driver: None,
            facts: BTreeMap::new(),
            ceiling_bytes_per_s: None,
            ceiling_source: None,
            device: None,
            counted: false,
        }
    }

    /// Records a fact (or its absence, as `None`).
    pub fn set(&mut self, name: &str, value: impl Into<Fact>) {
        self.facts.insert(name.to_owned(), value.into());
    }

    /// The fact, unless missing.
    pub fn fact(&self, name: &str) -> Option<&Fact> {
        self.facts.get(name).filter(|f| !f.is_null())
    }

    /// A whole-number fact.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.fact(name).and_then(Fact::int)
    }

    /// A text fact.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fact(name).and_then(Fact::text)
    }

    /// A yes-or-no fact.
    pub fn bool(&self, name: &str) -> Option<bool> {
        self.fact(name).and_then(Fact::bool)
    }
}
