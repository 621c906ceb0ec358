//! A file of /sys, /proc/sys or /proc/irq that holds one value: found, read, written.

use crate::error::{Result, SettingError};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, fstatfs, openat, readlinkat};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A file there has a page at most (Documentation/filesystems/sysfs.rst), and few in /proc/sys have more.
const MAX_BYTES: u64 = 64 << 10;

/// File systems whose files are settings: sysfs and proc (k:include/uapi/linux/magic.h). What is mounted below /sys beside
/// them (control groups, debugfs, EFI's variables) is not.
const OF_THE_KERNEL: [u64; 2] = [0x6265_6572, 0x9fa0];

/// Values that name a program which the kernel starts (k:Documentation/admin-guide/sysctl/kernel.rst; k:lib/kobject_uevent.c;
/// k:drivers/base/firmware_loader), in /proc/sys/kernel, /sys/kernel and beside.
const PROGRAMS: [&str; 5] = ["core_pattern", "modprobe", "hotplug", "poweroff_cmd", "uevent_helper"];

/// Where values are.
const ROOTS: [&str; 3] = ["/sys/", "/proc/sys/", "/proc/irq/"];

/// The path of a value, below /sys, /proc/sys or /proc/irq.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ValuePath(String);

impl ValuePath {
    /// Takes a path without `..` below one of these.
    ///
    /// # Errors
    /// [`SettingError::Outside`] for any other.
    pub fn new(path: &str) -> Result<Self> {
        let inside = ROOTS.iter().any(|root| path.starts_with(root));
        if !inside || path.split('/').skip(1).any(|part| matches!(part, "" | "." | "..")) || path.contains('\0') {
            return Err(SettingError::Outside(path.to_owned(), "it is not a file below /sys, /proc/sys or /proc/irq"));
        }
        Ok(Self(path.to_owned()))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Name of the file.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    pub fn directory_name(&self) -> &str {
        self.0.rsplit('/').nth(1).unwrap_or_default()
    }

    /// Whether the kernel starts programs by it, so that to write it is to run them.
    pub fn runs_programs(&self) -> bool {
        PROGRAMS.contains(&self.name()) || self.0.contains("/usermodehelper/") || self.0.contains("/firmware_class/")
    }

    /// Another file of the same directory, or of one below it.
    pub fn sibling(&self, name: &str) -> Self {
        let directory = self.0.rsplit_once('/').map_or("", |(directory, _)| directory);
        Self(format!("{directory}/{name}"))
    }

    /// Whether the file is one of sysfs, where a number of an inode belongs to one file for as long as that exists
    /// (k:fs/kernfs/dir.c, kernfs_new_node); those of /proc/sys change.
    fn is_numbered(&self) -> bool {
        self.0.starts_with("/sys/")
    }
}

impl TryFrom<String> for ValuePath {
    type Error = SettingError;

    fn try_from(path: String) -> Result<Self> {
        Self::new(&path)
    }
}

impl From<ValuePath> for String {
    fn from(path: ValuePath) -> Self {
        path.0
    }
}

impl fmt::Display for ValuePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where /sys and /proc are.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
    of_the_kernel: bool,
}

impl Tree {
    /// The trees of this machine: /sys and /proc.
    pub fn machine() -> Self {
        Self { root: PathBuf::from("/"), of_the_kernel: true }
    }

    /// Regular files in another directory, for tests.
    ///
    /// # Errors
    /// That there is no such directory.
    pub fn below(directory: &Path) -> std::io::Result<Self> {
        Ok(Self { root: directory.canonicalize()?, of_the_kernel: false })
    }

    /// The file itself, not yet open for anything. Opened first, then judged: what a name leads to can change between two
    /// looks, what a descriptor refers to cannot. Links are followed, as most of /sys/block and /sys/class are links; where
    /// they led is read from the descriptor.
    fn find(&self, path: &ValuePath) -> Result<OwnedFd> {
        let access = |source: rustix::io::Errno| match source {
            rustix::io::Errno::NOENT | rustix::io::Errno::NODEV | rustix::io::Errno::NOTDIR => {
                SettingError::Missing(path.to_string())
            }
            other => SettingError::Access { path: path.to_string(), done: "read", source: other.into() },
        };
        let outside = |why| SettingError::Outside(path.to_string(), why);
        let place = self.root.join(path.as_str().trim_start_matches('/'));
        let found = openat(CWD, &place, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(access)?;
        if FileType::from_raw_mode(fstat(&found).map_err(access)?.st_mode) != FileType::RegularFile {
            return Err(outside("it is not a file"));
        }
        if self.of_the_kernel && !OF_THE_KERNEL.contains(&(fstatfs(&found).map_err(access)?.f_type as u32 as u64)) {
            return Err(outside("it is on no file system of the kernel's settings"));
        }
        let led = readlinkat(CWD, reopening(&found), Vec::new()).map_err(access)?;
        let led = Path::new(led.to_str().map_err(|_| outside("its path is not UTF-8"))?);
        if !ROOTS.iter().any(|top| led.starts_with(self.root.join(top.trim_matches('/')))) {
            return Err(outside("it leads out of /sys, /proc/sys and /proc/irq"));
        }
        Ok(found)
    }

    /// Reads a value, in the form in which it would be written.
    ///
    /// # Errors
    /// That there is no such value, and why it cannot be read.
    pub fn read(&self, path: &ValuePath) -> Result<String> {
        Ok(as_written(path, &self.text(path)?))
    }

    /// All that a value's file says: `none [mq-deadline] kyber`.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn text(&self, path: &ValuePath) -> Result<String> {
        let found = self.find(path)?;
        let access = |source| SettingError::Access { path: path.to_string(), done: "read", source };
        let mut text = String::new();
        let file = openat(CWD, reopening(&found), OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty());
        let file = File::from(file.map_err(|e| access(e.into()))?);
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(access)?;
        Ok(text)
    }

    /// Whether a file that lists what it takes, as `none [mq-deadline] kyber`, lists this. Schedulers may come with a module of the
    /// kernel that is loaded when they are asked for (k:block/elevator.c, `elv_iosched_load_module`).
    ///
    /// # Errors
    /// What it takes.
    pub fn offers(&self, path: &ValuePath, value: &str) -> Result<()> {
        let text = self.text(path)?;
        let offered: Vec<&str> = text.split_whitespace().map(|w| w.trim_matches(['[', ']'])).collect();
        let is_list = text.split_whitespace().any(|w| w.starts_with('[') && w.ends_with(']'));
        let may_be_loaded = path.name() == "scheduler" && SCHEDULERS.contains(&value);
        if !is_list || offered.contains(&value) || may_be_loaded {
            return Ok(());
        }
        let why = format!("it offers {}", offered.join(", "));
        Err(SettingError::NotTaken { path: path.to_string(), value: value.to_owned(), why })
    }

    /// Writes a value.
    ///
    /// # Errors
    /// That there is no such value, that it cannot be written, or that the kernel does not take this one.
    pub fn write(&self, path: &ValuePath, value: &str) -> Result<()> {
        self.writer(path, OFlags::TRUNC)?.write_all(value.as_bytes()).map_err(|e| SettingError::NotTaken {
            path: path.to_string(),
            value: value.to_owned(),
            why: e.to_string(),
        })
    }

    /// Whether a value can be written, without writing it.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn writable(&self, path: &ValuePath) -> Result<()> {
        self.writer(path, OFlags::empty()).map(drop)
    }

    fn writer(&self, path: &ValuePath, more: OFlags) -> Result<File> {
        let found = self.find(path)?;
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | more;
        let opened = openat(CWD, reopening(&found), flags, Mode::empty());
        Ok(File::from(opened.map_err(|e| SettingError::Access {
            path: path.to_string(),
            done: "written",
            source: e.into(),
        })?))
    }

    /// What tells a file from a later one of the same name, as a device that was replaced has: the number of its inode in
    /// sysfs. `None` where there is none that stays, and where there is no such file.
    pub fn identity(&self, path: &ValuePath) -> Option<u64> {
        let found = path.is_numbered().then(|| self.find(path).ok()).flatten()?;
        Some(fstat(&found).ok()?.st_ino as u64)
    }

    /// Names of the files in a directory of values, in order; none where there is no such directory.
    pub fn names(&self, directory: &str) -> Vec<String> {
        let place = self.root.join(directory.trim_start_matches('/'));
        let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Who holds which physical addresses; empty where that is not to be had.
    pub(crate) fn iomem(&self) -> String {
        std::fs::read_to_string(self.root.join("proc/iomem")).unwrap_or_default()
    }

    /// The parts of the path of a directory once all links are followed; none where there is no such directory.
    pub fn parts(&self, directory: &str) -> Vec<String> {
        let led = self.root.join(directory.trim_start_matches('/')).canonicalize().unwrap_or_default();
        let below = led.strip_prefix(&self.root).unwrap_or(Path::new(""));
        below.iter().filter_map(|part| part.to_str().map(str::to_owned)).collect()
    }
}

/// The name by which a descriptor is opened once more, and nothing else in its place.
fn reopening(found: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", found.as_raw_fd())
}

/// A value as it would be written: of `none [mq-deadline] kyber` the one in brackets, which is the one in force; of md's
/// `1000 (system)` the word that means the system's, of `1000 (local)` the number (k:drivers/md/md.c, sync_min_show).
/// Schedulers that Linux has had.
const SCHEDULERS: [&str; 8] = ["none", "mq-deadline", "kyber", "bfq", "noop", "deadline", "cfq", "anticipatory"];

fn as_written(path: &ValuePath, text: &str) -> String {
    if let Some(chosen) = text.split_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']')) {
        return chosen.to_owned();
    }
    if path.directory_name() == "md" {
        match text.trim().rsplit_once(' ') {
            Some((_, "(system)")) => return "system".to_owned(),
            Some((number, "(local)")) => return number.to_owned(),
            _ => {}
        }
    }
    text.trim().to_owned()
}

/// Whether two values are the same, whatever stands between their parts.
pub fn same_value(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let tree = Tree::below(directory.path()).unwrap();
        (directory, tree)
    }

    pub(crate) fn path(text: &str) -> ValuePath {
        ValuePath::new(text).unwrap()
    }

    #[test]
    fn a_file_that_lists_what_it_takes_takes_nothing_else() {
        let (_kept, tree) = tree(&[
            ("sys/block/sda/queue/scheduler", "none [mq-deadline] kyber\n"),
            ("sys/block/sda/queue/nr_requests", "64\n"),
        ]);
        let offers = |file: &str, value: &str| {
            tree.offers(&ValuePath::new(&format!("/sys/block/sda/queue/{file}")).unwrap(), value)
        };
        for (file, value) in
            [("scheduler", "none"), ("scheduler", "mq-deadline"), ("scheduler", "bfq"), ("nr_requests", "7")]
        {
            assert!(offers(file, value).is_ok(), "{file} {value}");
        }
        let refused = offers("scheduler", "bogus").unwrap_err().to_string();
        assert!(refused.contains("does not take bogus: it offers none, mq-deadline, kyber"), "{refused}");
    }

    #[test]
    fn the_value_in_force_is_the_one_in_brackets() {
        let (_kept, tree) = tree(&[
            ("sys/a", "none [mq-deadline] kyber\n"),
            ("sys/b", "128\n"),
            ("sys/c", ""),
            ("sys/md/sync_speed_min", "1000 (system)\n"),
            ("sys/md/sync_speed_max", "5000 (local)\n"),
        ]);
        for (name, value) in [
            ("/sys/a", "mq-deadline"),
            ("/sys/b", "128"),
            ("/sys/c", ""),
            ("/sys/md/sync_speed_min", "system"),
            ("/sys/md/sync_speed_max", "5000"),
        ] {
            assert_eq!(tree.read(&path(name)).unwrap(), value);
        }
    }

    #[test]
    fn only_paths_below_sys_and_proc_sys_are_values() {
        for bad in
            ["/etc/passwd", "/sys/../etc/passwd", "/sys", "/proc/1/mem", "sys/a", "/sys//a", "/proc/sysrq-trigger"]
        {
            assert!(matches!(ValuePath::new(bad), Err(SettingError::Outside(..))), "{bad}");
        }
        assert!(serde_json::from_str::<ValuePath>("\"/etc/passwd\"").is_err());
        assert!(serde_json::from_str::<ValuePath>("\"/proc/sys/vm/swappiness\"").is_ok());
    }

    #[test]
    fn a_link_that_leads_out_is_refused_and_one_that_stays_is_followed() {
        let (kept, tree) = tree(&[("sys/devices/x/value", "1"), ("etc/secret", "old")]);
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, kept.path().join(name)).unwrap();
        link("devices/x", "sys/block");
        link("../etc/secret", "sys/out");
        link("../etc", "sys/outside");
        tree.write(&path("/sys/block/value"), "2").unwrap();
        assert_eq!(tree.read(&path("/sys/devices/x/value")).unwrap(), "2");
        for bad in ["/sys/out", "/sys/outside/secret"] {
            assert!(matches!(tree.read(&path(bad)), Err(SettingError::Outside(..))), "{bad}");
            assert!(matches!(tree.write(&path(bad), "new"), Err(SettingError::Outside(..))), "{bad}");
        }
        assert_eq!(std::fs::read_to_string(kept.path().join("etc/secret")).unwrap(), "old");
        assert!(matches!(tree.read(&path("/sys/none")), Err(SettingError::Missing(_))));
        assert!(matches!(tree.read(&path("/sys/devices/x")), Err(SettingError::Outside(..))));
    }

    #[test]
    fn this_machine_has_values() {
        let tree = Tree::machine();
        assert!(!tree.read(&path("/proc/sys/kernel/random/boot_id")).unwrap().is_empty());
        assert_eq!(tree.identity(&path("/proc/sys/kernel/ostype")), None);
    }
}
