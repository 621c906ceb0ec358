//! Files of control groups: one value of one, read and written as the kernel has them (k:Documentation/admin-guide/cgroup-v2.rst, "Conventions";
//! cgroup-v1/blkio-controller.rst).

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The form of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupVersion {
    One,
    Two,
}

/// Of which version a directory is a control group, if it is one. Of the root of all groups nothing can be told.
pub fn group_version(directory: &Path) -> Option<GroupVersion> {
    let has = |file: &str| directory.join(file).is_file();
    match (has("cgroup.controllers"), has("cgroup.procs")) {
        (true, _) => Some(GroupVersion::Two),
        (false, true) => Some(GroupVersion::One),
        (false, false) => None,
    }
}

/// The processes of a control group, and of those below it.
pub fn group_members(directory: &Path) -> Vec<i32> {
    let own = std::fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
    let mut all: Vec<i32> = own.lines().filter_map(|line| line.parse().ok()).collect();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            all.extend(group_members(&entry.path()));
        }
    }
    all
}

/// Whether io.cost serves a disk, `MAJOR:MINOR`, in the hierarchy of a group: said in the root of all groups
/// (k:Documentation/admin-guide/cgroup-v2.rst, "io.cost.qos").
pub fn io_cost_is_on(group: &Path, device: &str) -> bool {
    let start = format!("{device} ");
    let said = group.ancestors().find_map(|directory| std::fs::read_to_string(directory.join("io.cost.qos")).ok());
    let is_on = |line: &str| line.starts_with(&start) && line.split_whitespace().any(|word| word == "enable=1");
    said.is_some_and(|text| text.lines().any(is_on))
}

/// Writes a line in one call: the kernel takes each for a line of its own.
pub(crate) fn write_line(file: &Path, line: &str) -> io::Result<()> {
    let line = format!("{line}\n");
    OpenOptions::new().write(true).truncate(true).open(file)?.write_all(line.as_bytes())
}

/// Where a value of a control group is.
#[derive(Clone, Debug)]
pub struct GroupValue {
    pub path: PathBuf,
    /// The line that it is in, `MAJOR:MINOR` of a device; `None` where the file has one value.
    pub device: Option<String>,
    /// Its name in the line; `None` where the line has one value.
    pub key: Option<&'static str>,
    /// What stands for "none", and undoes it: a line that is missing is that.
    pub none: &'static str,
}

impl GroupValue {
    /// The line that sets it to a value.
    pub fn line(&self, value: &str) -> String {
        match (&self.device, self.key) {
            (Some(device), Some(key)) => format!("{device} {key}={value}"),
            (Some(device), None) => format!("{device} {value}"),
            (None, _) => value.to_owned(),
        }
    }

    /// What it is now.
    ///
    /// # Errors
    /// Those of reading.
    pub fn read(&self) -> io::Result<String> {
        let text = std::fs::read_to_string(&self.path)?;
        let Some(device) = &self.device else { return Ok(text.trim().to_owned()) };
        let start = format!("{device} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&start));
        let value = match self.key {
            None => line,
            Some(key) => {
                let mut words = line.unwrap_or_default().split_whitespace().filter_map(|word| word.split_once('='));
                words.find(|(name, _)| *name == key).map(|(_, value)| value)
            }
        };
        Ok(value.map_or(self.none, str::trim).to_owned())
    }

    /// Writes the value.
    ///
    /// # Errors
    /// Those of writing: what the kernel says of the line.
    pub fn write(&self, value: &str) -> io::Result<()> {
        write_line(&self.path, &self.line(value))
    }
}
