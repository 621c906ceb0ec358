//! Options of a mounted file system: as they are, their opposites, and how they are set.

use std::process::{Command, Stdio};

/// Whether both are the same options, in any order.
pub fn same_options(a: &[String], b: &[String]) -> bool {
    a.len() == b.len() && a.iter().all(|o| b.contains(o))
}

/// The options of a mount as /proc/mounts shows them; of several on one place the last.
pub fn mounted_with(mount_point: &str) -> Option<Vec<String>> {
    let text = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let line = text.lines().rev().find(|l| l.split(' ').nth(1).map(unescape).as_deref() == Some(mount_point))?;
    Some(line.split(' ').nth(3)?.split(',').map(str::to_owned).collect())
}

/// Spaces and the like are octal in /proc/mounts (fs/proc_namespace.c, mangle).
fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |t, (e, c)| t.replace(e, c))
}

/// What undoes an option that is a word: `noatime` and `atime`. Of `key=value` nothing is known.
pub fn opposite(option: &str) -> Option<String> {
    match option.strip_prefix("no") {
        _ if option.is_empty()
            || option.contains('=')
            || matches!(option, "ro" | "rw" | "sync" | "async" | "relatime") =>
        {
            None
        }
        Some(positive) => {
            Some(positive.to_owned()).filter(|p| !matches!(p.as_str(), "atime" | "suid" | "dev" | "exec"))
        }
        None => Some(format!("no{option}")),
    }
}

/// Mounts it again with these options.
pub fn remount(mount_point: &str, options: &str) -> Result<(), String> {
    let status = Command::new("mount")
        .args(["-o", &format!("remount,{options}"), mount_point])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|e| format!("mount could not be started: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{mount_point} could not be remounted with {options}: mount ended with {status}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_opposites_where_they_are_words() {
        for (option, undone) in [
            ("discard", Some("nodiscard")),
            ("nobarrier", Some("barrier")),
            ("commit=30", None),
            ("noatime", None),
            ("", None),
        ] {
            assert_eq!(opposite(option).as_deref(), undone, "{option}");
        }
    }
}
