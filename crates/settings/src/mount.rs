//! Options of a mounted file system: as they are, their opposites, and how they are set.

use crate::command::{CommandLimits, CommandLine};
use crate::error::{Result, SettingError};
use serde::{Deserialize, Serialize};

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mounted {
    pub mount_point: String,
    /// What: a device, as /proc/mounts names it.
    pub source: String,
    /// `ext4`; empty in journals of earlier versions.
    #[serde(default)]
    pub fstype: String,
    /// With which options, as /proc/mounts shows them.
    pub options: Vec<String>,
}

/// Whether both are the same options, in any order.
pub fn same_options(a: &[String], b: &[String]) -> bool {
    a.len() == b.len() && a.iter().all(|o| b.contains(o))
}

/// What is mounted at a place, as /proc/mounts shows it; of several the last. `None` where nothing is.
pub fn mount_at(mount_point: &str) -> Option<Mounted> {
    let text = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let line = text.lines().rev().find(|l| l.split(' ').nth(1).map(unescape).as_deref() == Some(mount_point))?;
    let mut fields = line.split(' ');
    let source = unescape(fields.next()?);
    let fstype = fields.nth(1)?.to_owned();
    let options = fields.next()?.split(',').map(str::to_owned).collect();
    Some(Mounted { mount_point: mount_point.to_owned(), source, fstype, options })
}

/// Spaces and the like are octal in /proc/mounts (fs/proc_namespace.c, mangle).
fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |t, (e, c)| t.replace(e, c))
}

/// Whether both are values of one option: `commit=5` and `commit=30`, `noatime` and `relatime`, `barrier` and `nobarrier`.
pub(crate) fn same_key(a: &str, b: &str) -> bool {
    const ATIMES: [&str; 4] = ["relatime", "noatime", "strictatime", "atime"];
    let key = |option: &str| {
        let name = option.split('=').next().unwrap_or_default().to_owned();
        name.strip_prefix("no").map_or(name.clone(), str::to_owned)
    };
    (ATIMES.contains(&a) && ATIMES.contains(&b)) || key(a) == key(b)
}

/// Options as fstab has them, with this one in place of other values of it.
pub fn with_option(options: &str, option: &str) -> String {
    let others =
        options.split(',').filter(|other| !other.is_empty() && *other != "defaults" && !same_key(other, option));
    others.chain([option]).collect::<Vec<_>>().join(",")
}

/// What undoes an option, of a file system that was mounted with these: remounting keeps what is not named, so that naming
/// the old options is not enough (mount(8); with `noatime` there, `relatime` has no effect). `None` where an option of the
/// same key is named anyway, and where nothing is known.
pub fn opposite(option: &str, before: &[String]) -> Option<String> {
    let (key, value) = option.split_once('=').map_or((option, None), |(k, v)| (k, Some(v)));
    // `nodiscard` is undone by naming the `discard=async` that was there; by `discard` it would become another one.
    let keys = [Some(key), key.strip_prefix("no")];
    if before.iter().any(|have| have.split('=').next().is_some_and(|have| keys.contains(&Some(have)))) {
        return None;
    }
    match (key, value) {
        // ext4 and btrfs take their default for 0 (Documentation/admin-guide/ext4.rst; fs/btrfs/super.c).
        ("commit", Some(_)) => Some("commit=0".to_owned()),
        ("barrier", Some("0")) => Some("barrier=1".to_owned()),
        // k:fs/ext4/ext4.h, EXT4_DEF_MAX_BATCH_TIME; at its default it is not shown.
        ("max_batch_time", Some(_)) => Some("max_batch_time=15000".to_owned()),
        (_, Some(_)) | ("" | "ro" | "rw" | "async" | "defaults", None) => None,
        ("sync", None) => Some("async".to_owned()),
        // Of file systems that showed none of the three, each time of access was kept.
        ("relatime", None) => (!before.iter().any(|o| o == "noatime")).then(|| "strictatime".to_owned()),
        (key, None) => Some(key.strip_prefix("no").map_or_else(|| format!("no{key}"), str::to_owned)),
    }
}

/// Mounts it again with these options (mount(8)).
///
/// # Errors
/// That `mount` refused, could not be started, or was not waited for.
pub(crate) fn remount(mount_point: &str, options: &str, mark: &str, limits: &CommandLimits<'_>) -> Result<()> {
    let options = format!("remount,{options}");
    let line = ["mount", "-o", &options, "--", mount_point].map(str::to_owned).to_vec();
    let command = CommandLine::new(line).ok_or_else(|| SettingError::Mount(format!("{mount_point} is not a place")))?;
    command.run(mark, limits, &mut |_| Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_opposites_where_they_are_words() {
        let before = ["rw", "relatime", "stripe=4"].map(str::to_owned);
        for (option, undone) in [
            ("discard", Some("nodiscard")),
            ("nobarrier", Some("barrier")),
            ("barrier=0", Some("barrier=1")),
            ("commit=30", Some("commit=0")),
            ("noatime", Some("atime")),
            ("nodiratime", Some("diratime")),
            ("noexec", Some("exec")),
            ("sync", Some("async")),
            ("strictatime", Some("nostrictatime")),
            ("data=journal", None),
            ("relatime", None),
            ("stripe=8", None),
            ("ro", None),
            ("", None),
        ] {
            assert_eq!(opposite(option, &before).as_deref(), undone, "{option}");
        }
        assert_eq!(opposite("relatime", &["rw".to_owned()]).as_deref(), Some("strictatime"));
        assert_eq!(opposite("relatime", &["noatime".to_owned()]), None);
        assert_eq!(opposite("nodiscard", &["discard=async".to_owned()]), None);
    }
}
