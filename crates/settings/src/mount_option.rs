//! Options of a mounted file system that remounting changes, by name: which values are worth a try, and what they can cost.

use crate::error::SettingError;
use crate::mount::same_key;
use model::{Mount, SettingRisk};

/// An option of a mount that has a name of its own among settings.
#[derive(Debug, PartialEq, Eq)]
pub struct MountOption {
    /// `mount-atime`.
    pub name: &'static str,
    /// File systems that take it when they are mounted again; empty: each of [`ON_DEVICES`].
    kinds: &'static [&'static str],
    /// What is in force where the mount shows none of its values.
    default: &'static str,
    /// All values, as options.
    worth: &'static [&'static str],
    /// What it decides.
    pub about: &'static str,
    /// What its other values can cost.
    pub risk: SettingRisk,
    /// Only a new mount takes it: it is said how, and never done.
    new_mount: bool,
}

/// File systems that keep data on a device of this machine.
const ON_DEVICES: &[&str] = &["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat", "exfat"];

/// mount(8); k:Documentation/admin-guide/ext4.rst, k:Documentation/admin-guide/btrfs (mount options), k:fs/xfs/xfs_super.c (xfs_fs_reconfigure),
/// k:Documentation/filesystems/f2fs.rst, k:fs/fat/inode.c. Not here: what only the first mount takes (`data=`, `logbsize=`).
pub const MOUNT_OPTIONS: &[MountOption] = &[
    MountOption {
        name: "mount-atime",
        kinds: &[],
        default: "strictatime",
        worth: &["relatime", "noatime", "strictatime"],
        about: "whether reading a file writes its time of access",
        risk: SettingRisk::Harmless,
        new_mount: false,
    },
    MountOption {
        name: "mount-lazytime",
        kinds: &["ext4", "xfs", "btrfs", "f2fs"],
        default: "nolazytime",
        worth: &["lazytime", "nolazytime"],
        about: "whether times alone are written late",
        risk: SettingRisk::Harmless,
        new_mount: false,
    },
    MountOption {
        name: "mount-batch",
        kinds: &["ext4"],
        default: "max_batch_time=15000",
        worth: &["max_batch_time=0", "max_batch_time=15000"],
        about: "how long fsync waits for others to join its commit, us",
        risk: SettingRisk::Harmless,
        new_mount: false,
    },
    MountOption {
        name: "mount-discard",
        kinds: &["ext4", "btrfs", "f2fs"],
        default: "nodiscard",
        worth: &["discard", "nodiscard"],
        about: "whether deleting tells the device at once",
        risk: SettingRisk::Harmless,
        new_mount: false,
    },
    MountOption {
        name: "mount-commit",
        kinds: &["ext4", "btrfs"],
        default: "commit=0",
        worth: &["commit=15", "commit=60", "commit=300"],
        about: "how often what nobody synced is committed, s; 0: the default",
        risk: SettingRisk::LosesData,
        new_mount: false,
    },
    MountOption {
        name: "mount-barrier",
        kinds: &["ext4", "btrfs"],
        default: "barrier",
        worth: &["barrier", "nobarrier"],
        about: "whether a commit flushes the device's cache",
        risk: SettingRisk::LosesData,
        new_mount: false,
    },
    MountOption {
        name: "mount-sync",
        kinds: &["ext2", "ext3", "ext4", "vfat", "exfat"],
        default: "async",
        worth: &["async"],
        about: "whether each write waits for the device",
        risk: SettingRisk::LosesData,
        new_mount: false,
    },
    MountOption {
        name: "mount-nconnect",
        kinds: &["nfs", "nfs4"],
        default: "nconnect=1",
        worth: &["nconnect=4", "nconnect=8"],
        about: "connections to the NFS server",
        risk: SettingRisk::Harmless,
        new_mount: true,
    },
    MountOption {
        name: "mount-rsize",
        kinds: &["nfs", "nfs4"],
        default: "rsize=0",
        worth: &["rsize=1048576"],
        about: "most that one READ asks for, bytes; the server may offer less",
        risk: SettingRisk::Harmless,
        new_mount: true,
    },
    MountOption {
        name: "mount-wsize",
        kinds: &["nfs", "nfs4"],
        default: "wsize=0",
        worth: &["wsize=1048576"],
        about: "most that one WRITE carries, bytes; the server may offer less",
        risk: SettingRisk::Harmless,
        new_mount: true,
    },
    MountOption {
        name: "mount-channels",
        kinds: &["cifs", "smb3"],
        default: "max_channels=1",
        worth: &["max_channels=4"],
        about: "connections to the SMB server; with multichannel",
        risk: SettingRisk::Harmless,
        new_mount: true,
    },
    MountOption {
        name: "mount-smb-cache",
        kinds: &["cifs", "smb3"],
        default: "cache=strict",
        worth: &["cache=strict"],
        about: "how file data of an SMB share are cached",
        risk: SettingRisk::Harmless,
        new_mount: true,
    },
];

impl MountOption {
    /// The one of this name; only names that begin with `mount-` are.
    pub fn named(name: &str) -> Option<&'static Self> {
        MOUNT_OPTIONS.iter().find(|option| option.name == name)
    }

    /// What is in force of it, and its other values; `None` where this file system has no such option.
    pub fn on(&self, mount: &Mount) -> Option<(String, Vec<String>)> {
        let kinds = if self.kinds.is_empty() { ON_DEVICES } else { self.kinds };
        kinds.contains(&mount.fstype.as_str()).then_some(())?;
        let is_it = |option: &&String| self.worth.iter().chain([&self.default]).any(|w| same_key(w, option));
        // `sync` has no value but its opposite.
        let is_sync = |option: &&String| self.name == "mount-sync" && *option == "sync";
        let now = mount.options.iter().find(|option| is_it(option) || is_sync(option));
        let now = now.map_or(self.default, String::as_str);
        let others = self.worth.iter().filter(|worth| **worth != now).map(|worth| (*worth).to_owned());
        Some((now.to_owned(), others.collect()))
    }

    /// Whether it can be changed on this mount.
    ///
    /// # Errors
    /// Why not.
    pub fn changeable(&self, mount: &Mount) -> Result<(), SettingError> {
        if self.new_mount {
            let Mount { mount_point, source, .. } = mount;
            let value = self.on(mount).and_then(|(_, others)| others.first().cloned()).unwrap_or_default();
            let with = if self.name == "mount-channels" { "multichannel," } else { "" };
            return Err(SettingError::Mount(format!(
                "only a new mount takes it: umount {mount_point}; mount -o OPTIONS,{with}{value} {source} {mount_point}"
            )));
        }
        if mount.read_only {
            return Err(SettingError::Mount(format!("{} is mounted read-only", mount.mount_point)));
        }
        if rustix::process::geteuid().is_root() {
            return Ok(());
        }
        Err(SettingError::Mount("only root can remount a file system".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mount::opposite;

    fn mount(kind: &str, options: &str) -> Mount {
        Mount {
            fstype: kind.to_owned(),
            mount_point: "/mnt/card".to_owned(),
            source: "/dev/sda1".to_owned(),
            options: options.split(',').map(str::to_owned).collect(),
            read_only: false,
        }
    }

    #[test]
    fn what_is_in_force_is_shown_and_is_none_of_the_others() {
        let of = |name: &str, kind: &str, options: &str| MountOption::named(name).unwrap().on(&mount(kind, options));
        let found = |name, kind, options| of(name, kind, options).unwrap();
        let (now, others) = found("mount-atime", "ext4", "rw,relatime");
        assert_eq!(
            (now.as_str(), others.as_slice()),
            ("relatime", ["noatime", "strictatime"].map(String::from).as_slice())
        );
        assert_eq!(found("mount-atime", "xfs", "rw").0, "strictatime");
        assert_eq!(found("mount-commit", "ext4", "rw,relatime,commit=30").0, "commit=30");
        assert_eq!(found("mount-batch", "ext4", "rw").1, ["max_batch_time=0"]);
        assert_eq!(found("mount-barrier", "ext4", "rw,nobarrier").1, ["barrier"]);
        assert_eq!(found("mount-sync", "vfat", "rw,sync"), ("sync".to_owned(), vec!["async".to_owned()]));
        assert_eq!(found("mount-sync", "vfat", "rw"), ("async".to_owned(), Vec::new()));
        assert_eq!((of("mount-batch", "xfs", "rw"), of("mount-atime", "tmpfs", "rw")), (None, None));
        assert_eq!(MountOption::named("read-ahead"), None);
    }

    #[test]
    fn what_only_a_new_mount_takes_is_said_and_not_done() {
        let nfs = Mount { source: "nas:/x".to_owned(), ..mount("nfs4", "rw,vers=4.2,rsize=65536,wsize=1048576") };
        let option = |name| MountOption::named(name).unwrap();
        assert_eq!(option("mount-nconnect").on(&nfs).unwrap().0, "nconnect=1");
        assert_eq!(option("mount-rsize").on(&nfs), Some(("rsize=65536".to_owned(), vec!["rsize=1048576".to_owned()])));
        assert!(option("mount-wsize").on(&nfs).unwrap().1.is_empty(), "it has the most");
        let why = option("mount-nconnect").changeable(&nfs).unwrap_err().to_string();
        assert!(why.contains("umount /mnt/card; mount -o OPTIONS,nconnect=4 nas:/x /mnt/card"), "{why}");
        let share = Mount { source: "//nas/x".to_owned(), ..mount("cifs", "rw,cache=none") };
        assert_eq!(option("mount-smb-cache").on(&share).unwrap().1, ["cache=strict"]);
        let why = option("mount-channels").changeable(&share).unwrap_err().to_string();
        assert!(why.contains("multichannel,max_channels=4"), "{why}");
        assert_eq!(option("mount-nconnect").on(&mount("ext4", "rw")), None);
    }

    /// Each value can be undone: by naming what was in force, or by an opposite.
    #[test]
    fn each_value_has_a_way_back_from_the_default() {
        for option in MOUNT_OPTIONS.iter().filter(|option| !option.new_mount) {
            let before = ["rw".to_owned(), if option.name == "mount-atime" { "relatime" } else { "x" }.to_owned()];
            for worth in option.worth.iter().filter(|w| !matches!(**w, "async" | "strictatime" | "relatime")) {
                assert!(opposite(worth, &before).is_some(), "{worth}");
            }
        }
    }
}
