//! Which file of a control group a limit is in, and what acts on it.

use super::{Disk, Limit, Rate};
use std::path::Path;
use sys::{GroupValue, GroupVersion};

/// Where a value is.
#[derive(Clone, Debug)]
pub(super) struct LimitFile {
    /// The file.
    pub file: &'static str,
    pub value: GroupValue,
    /// Why nothing acts on it, though it can be set.
    why_ineffective: Option<String>,
}

impl LimitFile {
    /// The place of a limit on a disk.
    ///
    /// # Errors
    /// There is none, and why.
    pub fn of(group: &Path, limit: Limit, version: GroupVersion, disk: &Disk) -> Result<Self, String> {
        let place = |file, key, none| Self {
            file,
            value: GroupValue { path: group.join(file), device: Some(disk.device.to_string()), key, none },
            why_ineffective: None,
        };
        let place = match (limit, version) {
            (Limit::Most(rate, _), GroupVersion::Two) => place("io.max", Some(key(rate)), "max"),
            (Limit::Most(rate, _), GroupVersion::One) => place(old_file(rate), None, "0"),
            (Limit::Latency(_), GroupVersion::Two) => place("io.latency", Some("target"), "0"),
            (Limit::Latency(_), GroupVersion::One) => {
                return Err("this control group is of version 1, and only those of version 2 have io.latency".into());
            }
            (Limit::Weight(_), version) => weight(group, version, disk, place)?,
        };
        let missing = |why: &str| Err(format!("there is no {} in the group: {why}", place.file));
        match (place.value.path.is_file(), version) {
            (true, _) => Ok(place),
            (false, GroupVersion::Two) => missing(
                "the kernel has no such controller, or io is not in cgroup.subtree_control of the group above it",
            ),
            (false, GroupVersion::One) => missing("the kernel has no such controller, or it is the root of all groups"),
        }
    }

    /// A limit's value, as the file has it.
    pub fn text_of(limit: Limit) -> String {
        match limit {
            // Microseconds (k:Documentation/admin-guide/cgroup-v2.rst, "io.latency").
            Limit::Latency(ns) => ns.div_ceil(1000).to_string(),
            Limit::Weight(value) | Limit::Most(_, value) => value.to_string(),
        }
    }

    /// Why nothing acts on it.
    pub fn why_ineffective(&self) -> Option<String> {
        self.why_ineffective.clone()
    }
}

fn key(rate: Rate) -> &'static str {
    match rate {
        Rate::Read => "rbps",
        Rate::Write => "wbps",
        Rate::ReadOperations => "riops",
        Rate::WriteOperations => "wiops",
    }
}

fn old_file(rate: Rate) -> &'static str {
    match rate {
        Rate::Read => "blkio.throttle.read_bps_device",
        Rate::Write => "blkio.throttle.write_bps_device",
        Rate::ReadOperations => "blkio.throttle.read_iops_device",
        Rate::WriteOperations => "blkio.throttle.write_iops_device",
    }
}

/// The weight that something on this disk acts on: that of bfq where bfq is its scheduler, else that of io.cost.
fn weight(
    group: &Path,
    version: GroupVersion,
    disk: &Disk,
    place: impl Fn(&'static str, Option<&'static str>, &'static str) -> LimitFile,
) -> Result<LimitFile, String> {
    let is = |scheduler: &str| disk.scheduler.as_deref() == Some(scheduler);
    let has = |file: &str| group.join(file).is_file();
    let of_all = |file| {
        let place = place(file, None, "");
        LimitFile { value: GroupValue { device: None, ..place.value.clone() }, ..place }
    };
    let no_bfq = || {
        let scheduler = disk.scheduler.as_deref().unwrap_or("not known");
        format!("the scheduler of {} is {scheduler}, and only bfq orders by this weight", disk.name)
    };
    Ok(match version {
        GroupVersion::Two if is("bfq") => place("io.bfq.weight", None, "default"),
        GroupVersion::Two if has("io.weight") => {
            let why_ineffective = (!sys::io_cost_is_on(group, &disk.device.to_string())).then(|| {
                format!("nothing orders by it: io.cost is off for {} (io.cost.qos), and {}", disk.name, no_bfq())
            });
            LimitFile { why_ineffective, ..place("io.weight", None, "default") }
        }
        GroupVersion::One if is("bfq") && has("blkio.bfq.weight_device") => {
            place("blkio.bfq.weight_device", None, "default")
        }
        GroupVersion::One if is("bfq") => of_all("blkio.bfq.weight"),
        // Of the scheduler that kernels before 5.0 had.
        GroupVersion::One if is("cfq") => of_all("blkio.weight"),
        GroupVersion::One | GroupVersion::Two => return Err(no_bfq()),
    })
}
