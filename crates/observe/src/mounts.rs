//! /proc/self/mountinfo (proc_pid_mountinfo(5)): which mount does a path lie on?

use crate::block_devices::{device_of_node, parse_device};
use crate::root::Root;
use model::{DeviceId, Mount};

/// A table of mounts may be long on container hosts.
const MOUNTINFO_LIMIT_BYTES: u64 = 16 << 20;

/// One line of mountinfo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountEntry {
    /// Mount id; the same as statx reports.
    pub id: u64,
    /// Id of the mount that it is mounted on.
    pub parent: u64,
    /// `st_dev` of the superblock; anonymous (major 0) for file systems without one block device.
    pub device: DeviceId,
    /// Directory of the file system that is mounted.
    pub root: String,
    pub mount_point: String,
    /// Options of the mount.
    pub options: Vec<String>,
    /// Type, with subtype: `fuse.sshfs`.
    pub fstype: String,
    /// What is mounted.
    pub source: String,
    /// Options of the superblock.
    pub super_options: Vec<String>,
}

impl MountEntry {
    /// As the model has it, with both kinds of options in one list without repeats.
    pub fn to_model(&self) -> Mount {
        let mut options: Vec<String> = Vec::new();
        for option in self.options.iter().chain(&self.super_options) {
            // A read-only mount of a writable superblock has `ro` first and `rw` after: the former decides.
            let opposite = match option.as_str() {
                "rw" => options.iter().any(|o| o == "ro"),
                _ => false,
            };
            if !opposite && !options.contains(option) {
                options.push(option.clone());
            }
        }
        let read_only = options.iter().any(|o| o == "ro");
        if read_only {
            options.retain(|o| o != "rw");
        }
        Mount {
            fstype: self.fstype.clone(),
            mount_point: self.mount_point.clone(),
            source: self.source.clone(),
            options,
            read_only,
        }
    }

    /// The value of the last option `key=`; paths in it are unescaped.
    pub fn option(&self, key: &str) -> Option<&str> {
        let value = |o: &&String| o.strip_prefix(key).is_some_and(|v| v.starts_with('='));
        self.options.iter().chain(&self.super_options).rfind(value).map(|o| &o[key.len() + 1..])
    }

    /// Whether an option without value is there.
    pub fn has(&self, option: &str) -> bool {
        self.options.iter().chain(&self.super_options).any(|o| o == option)
    }
}

/// Undoes `\040` and friends.
pub(crate) fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let octal = bytes
            .get(i + 1..i + 4)
            .filter(|d| bytes[i] == b'\\' && d[0] <= b'3' && d.iter().all(|b| (b'0'..=b'7').contains(b)));
        if let Some(d) = octal {
            out.push(((d[0] - b'0') << 6) | ((d[1] - b'0') << 3) | (d[2] - b'0'));
            i += 4;
        } else {
            out.push(bytes[i]);
            i += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Splits options at commas that are not escaped (overlayfs writes `\,` in paths).
fn options(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut escaped = false;
    for c in text.chars() {
        if c == ',' && !escaped {
            out.push(String::new());
        } else if let Some(last) = out.last_mut() {
            if c == ',' {
                last.pop();
            }
            last.push(c);
        }
        escaped = c == '\\';
    }
    out.retain(|o| !o.is_empty());
    out.into_iter().map(|o| unescape(&o)).collect()
}

fn parse_line(line: &str) -> Option<MountEntry> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ');
    let mut next = || fields.next();
    let (id, parent) = (next()?.parse().ok()?, next()?.parse().ok()?);
    let device = parse_device(next()?)?;
    let (root, mount_point, mount_options) = (unescape(next()?), unescape(next()?), options(next()?));
    let mut fields = after.split(' ');
    let mut next = || fields.next();
    let (fstype, source) = (unescape(next()?), unescape(next()?));
    let super_options = options(next().unwrap_or(""));
    Some(MountEntry { id, parent, device, root, mount_point, options: mount_options, fstype, source, super_options })
}

/// The entries of a mountinfo; lines that are not understood are left out.
pub(crate) fn entries_of(mountinfo: &str) -> Vec<MountEntry> {
    mountinfo.lines().filter_map(parse_line).collect()
}

/// All mounts that this process sees; lines that are not understood are left out. Where there is no mountinfo (kernels
/// before 2.6.26, trees that somebody put together by hand), /proc/mounts says less: devices are then known by the names
/// of their sources.
pub fn mounts(root: &Root) -> Vec<MountEntry> {
    let read = |path: &str| {
        let bytes = root.read_up_to(path, MOUNTINFO_LIMIT_BYTES).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    if let Some(text) = read("/proc/self/mountinfo") {
        return entries_of(&text);
    }
    let text = read("/proc/self/mounts").or_else(|| read("/proc/mounts")).unwrap_or_default();
    let lines = text.lines().zip(1..).filter_map(|(line, number)| parse_short_line(line, number));
    lines
        .map(|mut entry| {
            let node = Some(entry.source.as_str()).filter(|s| s.starts_with("/dev/"));
            if let Some(device) = node.and_then(|n| device_of_node(root, n)) {
                entry.device = device;
            }
            entry
        })
        .collect()
}

/// `/dev/sda1 / ext4 rw,noatime 0 0` (proc_pid_mounts(5)). Later lines are mounted over earlier ones, so that each one's
/// parent is the line before it.
fn parse_short_line(line: &str, number: u64) -> Option<MountEntry> {
    let mut fields = line.split(' ');
    let (source, mount_point) = (unescape(fields.next()?), unescape(fields.next()?));
    let (fstype, options) = (unescape(fields.next()?), options(fields.next()?));
    mount_point.starts_with('/').then(|| MountEntry {
        id: number,
        parent: number - 1,
        device: DeviceId { major: 0, minor: 0 },
        root: "/".to_owned(),
        mount_point,
        options,
        fstype,
        source,
        super_options: Vec::new(),
    })
}

fn contains(mount_point: &str, path: &str) -> bool {
    mount_point == "/"
        || path.strip_prefix(mount_point.trim_end_matches('/')).is_some_and(|r| r.is_empty() || r.starts_with('/'))
}

/// The mount that a path lies on. The mount id decides where it is known. Otherwise, of the mounts above the path, the
/// one with the path's `st_dev`; where none has it (btrfs subvolumes have a device of their own), all are looked at. Of
/// several the longest mount point wins, and of several on one mount point the uppermost.
pub fn mount_of<'a>(
    mounts: &'a [MountEntry],
    path: &str,
    device: Option<DeviceId>,
    mount_id: Option<u64>,
) -> Option<&'a MountEntry> {
    if let Some(entry) = mount_id.and_then(|id| mounts.iter().find(|m| m.id == id)) {
        return Some(entry);
    }
    let above: Vec<&MountEntry> = mounts.iter().filter(|m| contains(&m.mount_point, path)).collect();
    let same_device: Vec<&MountEntry> = above.iter().copied().filter(|m| Some(m.device) == device).collect();
    let candidates = if same_device.is_empty() { above } else { same_device };
    let longest = candidates.iter().map(|m| m.mount_point.len()).max()?;
    let on_longest: Vec<&MountEntry> = candidates.into_iter().filter(|m| m.mount_point.len() == longest).collect();
    let covered = |m: &MountEntry| on_longest.iter().any(|other| other.parent == m.id && other.id != m.id);
    on_longest.iter().rev().find(|m| !covered(m)).or(on_longest.last()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(lines: &[&str]) -> Vec<MountEntry> {
        lines.iter().map(|l| parse_line(l).unwrap()).collect()
    }

    #[test]
    fn a_line_with_optional_fields_and_escapes() {
        let m = parse_line(
            r"36 35 98:0 /mnt1 /mnt\0402 ro,noatime master:1 propagate_from:2 - ext4 /dev/root rw,errors=continue",
        )
        .unwrap();
        assert_eq!((m.id, m.parent, m.device), (36, 35, DeviceId { major: 98, minor: 0 }));
        assert_eq!((m.root.as_str(), m.mount_point.as_str()), ("/mnt1", "/mnt 2"));
        let mount = m.to_model();
        assert_eq!(mount.options, ["ro", "noatime", "errors=continue"]);
        assert!(mount.read_only);
        assert_eq!(m.option("errors"), Some("continue"));
        assert_eq!(m.option("err"), None);
    }

    #[test]
    fn garbage_is_left_out() {
        for line in ["", " - ", "1 2 3", "x 1 8:1 / / rw - ext4 /dev/sda rw", "1 1 8 / / rw - ext4 s rw", r"\400 - \4"]
        {
            assert!(parse_line(line).is_none(), "{line}");
        }
    }

    #[test]
    fn device_and_path_choose_the_mount() {
        let t = table(&[
            "1 0 8:1 / / rw - ext4 /dev/sda1 rw",
            "2 1 8:2 / /mnt/data rw - ext4 /dev/sda2 rw",
            "3 1 8:3 / /mnt rw - xfs /dev/sda3 rw",
            "4 1 0:40 /@ /srv rw - btrfs /dev/sdb1 rw",
        ]);
        let id = |path: &str, major, minor| mount_of(&t, path, Some(DeviceId { major, minor }), None).map(|m| m.id);
        assert_eq!(id("/mnt/data/x", 8, 2), Some(2));
        // /mnt was mounted over: the same path is on another device now.
        assert_eq!(id("/mnt/data/x", 8, 3), Some(3));
        assert_eq!(id("/mnt/database", 8, 3), Some(3));
        // A subvolume's device is in no line.
        assert_eq!(id("/srv/sub/file", 0, 55), Some(4));
        assert_eq!(id("/home", 8, 1), Some(1));
        assert_eq!(mount_of(&t, "/home", None, Some(2)).map(|m| m.id), Some(2));
        assert_eq!(mount_of(&[], "/", None, None), None);
    }

    #[test]
    fn of_two_mounts_on_one_point_the_upper_one_is_meant() {
        let t = table(&["25 24 0:23 / /dev/shm rw - tmpfs a rw", "30 25 0:23 / /dev/shm rw - tmpfs b rw"]);
        let device = Some(DeviceId { major: 0, minor: 23 });
        assert_eq!(mount_of(&t, "/dev/shm/x", device, None).map(|m| m.id), Some(30));
        let reversed: Vec<MountEntry> = t.into_iter().rev().collect();
        assert_eq!(mount_of(&reversed, "/dev/shm/x", device, None).map(|m| m.id), Some(30));
    }
}
