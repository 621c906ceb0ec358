//! One value of a control group's file: which file it is in, how it is read, and the line that sets it.

use super::{Disk, Limit, Rate, Version};
use model::DeviceId;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where a value is.
#[derive(Clone, Debug)]
pub(super) struct LimitFile {
    /// The file.
    pub path: PathBuf,
    pub file: &'static str,
    /// The line that it is in; `None` where the file has one value.
    pub device: Option<DeviceId>,
    /// Its name in the line; `None` where the line has one value.
    key: Option<&'static str>,
    /// What stands for "none", and undoes it: a line that is missing is that.
    none: &'static str,
    /// Why nothing acts on it, though it can be set.
    why_ineffective: Option<String>,
}

impl LimitFile {
    /// The place of a limit on a disk.
    ///
    /// # Errors
    /// There is none, and why.
    pub fn of(group: &Path, limit: Limit, version: Version, disk: &Disk) -> Result<Self, String> {
        let place = |file, key, none| Self {
            path: group.join(file),
            file,
            device: Some(disk.device),
            key,
            none,
            why_ineffective: None,
        };
        let place = match (limit, version) {
            (Limit::Most(rate, _), Version::Two) => place("io.max", Some(key(rate)), "max"),
            (Limit::Most(rate, _), Version::One) => place(old_file(rate), None, "0"),
            (Limit::Latency(_), Version::Two) => place("io.latency", Some("target"), "0"),
            (Limit::Latency(_), Version::One) => {
                return Err("this control group is of version 1, and only those of version 2 have io.latency".into());
            }
            (Limit::Weight(_), version) => weight(group, version, disk, place)?,
        };
        let missing = |why: &str| Err(format!("there is no {} in the group: {why}", place.file));
        match (place.path.is_file(), version) {
            (true, _) => Ok(place),
            (false, Version::Two) => missing(
                "the kernel has no such controller, or io is not in cgroup.subtree_control of the group above it",
            ),
            (false, Version::One) => missing("the kernel has no such controller, or it is the root of all groups"),
        }
    }

    /// A limit's value, as the file has it.
    pub fn value(&self, limit: Limit) -> String {
        match limit {
            // Microseconds (k:Documentation/admin-guide/cgroup-v2.rst, "io.latency").
            Limit::Latency(ns) => ns.div_ceil(1000).to_string(),
            Limit::Weight(value) | Limit::Most(_, value) => value.to_string(),
        }
    }

    /// The line that sets it to a value.
    pub fn line(&self, value: &str) -> String {
        match (self.device, self.key) {
            (Some(device), Some(key)) => format!("{device} {key}={value}"),
            (Some(device), None) => format!("{device} {value}"),
            (None, _) => value.to_owned(),
        }
    }

    /// What it is now.
    pub fn read(&self) -> io::Result<String> {
        let text = std::fs::read_to_string(&self.path)?;
        let Some(device) = self.device else { return Ok(text.trim().to_owned()) };
        let start = format!("{device} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&start));
        let value = match self.key {
            None => line,
            Some(key) => {
                let of_key = |word: &&str| word.split_once('=').is_some_and(|(name, _)| name == key);
                let word = line.and_then(|line| line.split_whitespace().find(of_key));
                word.and_then(|word| word.split_once('=')).map(|(_, value)| value)
            }
        };
        Ok(value.map_or(self.none, str::trim).to_owned())
    }

    /// Writes the value.
    pub fn write(&self, value: &str) -> io::Result<()> {
        // In one call: the kernel takes each for a line of its own.
        let line = format!("{}\n", self.line(value));
        OpenOptions::new().write(true).truncate(true).open(&self.path)?.write_all(line.as_bytes())
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
    version: Version,
    disk: &Disk,
    place: impl Fn(&'static str, Option<&'static str>, &'static str) -> LimitFile,
) -> Result<LimitFile, String> {
    let is = |scheduler: &str| disk.scheduler.as_deref() == Some(scheduler);
    let has = |file: &str| group.join(file).is_file();
    let of_all = |file| LimitFile { device: None, ..place(file, None, "") };
    let no_bfq = || {
        let scheduler = disk.scheduler.as_deref().unwrap_or("not known");
        format!("the scheduler of {} is {scheduler}, and only bfq orders by this weight", disk.name)
    };
    Ok(match version {
        Version::Two if is("bfq") => place("io.bfq.weight", None, "default"),
        Version::Two if has("io.weight") => {
            let why_ineffective = (!cost_is_on(group, disk)).then(|| {
                format!("nothing orders by it: io.cost is off for {} (io.cost.qos), and {}", disk.name, no_bfq())
            });
            LimitFile { why_ineffective, ..place("io.weight", None, "default") }
        }
        Version::One if is("bfq") && has("blkio.bfq.weight_device") => {
            place("blkio.bfq.weight_device", None, "default")
        }
        Version::One if is("bfq") => of_all("blkio.bfq.weight"),
        // Of the scheduler that kernels before 5.0 had.
        Version::One if is("cfq") => of_all("blkio.weight"),
        Version::One | Version::Two => return Err(no_bfq()),
    })
}

/// Whether io.cost serves a disk: said in the root of all groups (k:Documentation/admin-guide/cgroup-v2.rst, "io.cost.qos").
fn cost_is_on(group: &Path, disk: &Disk) -> bool {
    let start = format!("{} ", disk.device);
    let said = group.ancestors().find_map(|directory| std::fs::read_to_string(directory.join("io.cost.qos")).ok());
    let is_on = |line: &str| line.starts_with(&start) && line.split_whitespace().any(|word| word == "enable=1");
    said.is_some_and(|text| text.lines().any(is_on))
}
