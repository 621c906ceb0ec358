//! A target that is open.

use crate::admission::FileIdentity;
use crate::group::TargetFacts;
use engine::Rig;
use model::{Capacity, Environment, Stack, Target, TargetKind};
use observe::{Locator, Root, Sampler};
use spec::Readiness;

/// A target that is ready to be measured.
pub struct Opened {
    /// What it is, with the stack below it.
    pub target: Target,
    /// What it is to the kernel; `None` where the rig simulates it.
    pub object: Option<FileIdentity>,
    /// Where it is on this machine; `None` where the rig simulates one.
    pub place: Option<Locator>,
    /// The machine.
    pub environment: Environment,
    /// Carries phases out.
    pub rig: Box<dyn Rig>,
    /// Watches the real machine; `None` where the rig simulates one.
    pub sampler: Option<Sampler>,
    /// What may be done to it.
    pub readiness: Readiness,
    /// The most it offers.
    pub max_bytes: u64,
    /// Unit of direct I/O.
    pub sector_bytes: u64,
    /// Memory that may be used, where that is known and a limit.
    pub memory_bytes: Option<u64>,
    /// Sequential write rate of the probe, where one was made.
    pub probe_bytes_per_s: Option<f64>,
    /// Rate of the probe's rounds through the page cache, where one was made.
    pub probe_round_bytes_per_s: Option<f64>,
    /// How large it really is, where that was measured before.
    pub capacity: Option<Capacity>,
    /// What all ranks of the group know of their targets together, which their plan rests on.
    pub agreed: Option<TargetFacts>,
    /// All ranks of the group work in one file.
    pub shared_in_group: bool,
    /// What the user should know of the target.
    pub remarks: Vec<String>,
}

impl Opened {
    /// Bytes that were written to it before there is a plan; in a group the most that any rank wrote.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.agreed.map_or_else(|| self.rig.bytes_written(), |agreed| agreed.written_bytes)
    }

    /// What lies at no place of this machine. Of a machine nothing is known yet: that is the rig's, or this one.
    pub(crate) fn unlocated(name: &str, kind: TargetKind, rig: Box<dyn Rig>, max_bytes: u64) -> Self {
        let target = Target {
            name: name.to_owned(),
            kind,
            path: None,
            size_bytes: Some(max_bytes),
            writable: true,
            stack: Stack::default(),
        };
        Self {
            target,
            object: None,
            place: None,
            environment: Environment::default(),
            rig,
            sampler: None,
            readiness: Readiness::Writable,
            max_bytes,
            sector_bytes: 1,
            memory_bytes: observe::memory_available(&Root::new("/")),
            probe_bytes_per_s: None,
            probe_round_bytes_per_s: None,
            agreed: None,
            shared_in_group: false,
            capacity: None,
            remarks: Vec::new(),
        }
    }
}
