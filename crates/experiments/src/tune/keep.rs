//! What makes settings stay over a reboot, as text: by which mechanism, in which file, and how to take it back. Nothing is written.

use model::{CompactSort as _, KeepLine, LayerKind, Stack, TuneSetting};
use observe::Root;
use settings::{MountOption, Tree, Tunable, ValuePath, with_option};
use std::path::Path;

/// Files of ours come after the distribution's, and have this in their name.
pub(super) const UDEV: &str = "/etc/udev/rules.d/99-narrows-tune.rules";
pub(super) const SYSCTL: &str = "/etc/sysctl.d/99-narrows-tune.conf";
pub(super) const TMPFILES: &str = "/etc/tmpfiles.d/narrows-tune.conf";
pub(super) const MODPROBE: &str = "/etc/modprobe.d/narrows-tune.conf";
pub(super) const TUNED: &str = "/etc/tuned/profiles/narrows/tuned.conf";
/// Somebody else's; a line for it is text.
const FSTAB: &str = "/etc/fstab";
pub(super) const UNIT: &str = "/etc/systemd/system/narrows-tune.service";

/// What is looked up on the machine.
pub(super) struct Machine<'a> {
    pub tree: &'a Tree,
    pub stack: &'a Stack,
    /// The root below which udev and tuned keep what they know.
    pub root: &'a Path,
}

/// The lines that keep settings, one of each file.
pub(super) fn keep(settings: &[TuneSetting], machine: &Machine<'_>) -> Vec<KeepLine> {
    let is_of_mount = |s: &&TuneSetting| MountOption::named(s.name).is_some();
    let (of_mount, mut sorted): (Vec<&TuneSetting>, Vec<&TuneSetting>) = settings.iter().partition(is_of_mount);
    // A scheduler resets the depth of its queue.
    sorted.compact_sort_by_key(|s| ValuePath::new(&s.path).map_or(usize::MAX, |path| settings::rank(&path)));
    let mut out: Vec<KeepLine> = Vec::new();
    for line in sorted.into_iter().map(|setting| machine.line(setting)) {
        match out.iter_mut().find(|other| (other.mechanism, &other.file) == (line.mechanism, &line.file)) {
            // One line stands for all files of a pattern.
            Some(other) if other.text.lines().any(|text| text == line.text) => {
                other.undo.push_str(&format!("\n{}", line.undo.lines().last().unwrap_or_default()));
            }
            Some(other) => {
                other.text.push_str(&format!("\n{}", line.text));
                other.undo.push_str(&format!("\n{}", line.undo.lines().last().unwrap_or_default()));
                other.note = other.note.take().or(line.note);
            }
            None => out.push(line),
        }
    }
    out.extend(machine.fstab(&of_mount));
    out
}

impl Machine<'_> {
    fn line(&self, setting: &TuneSetting) -> KeepLine {
        let path = setting.path.as_str();
        if let Some(register) = observe::registers::named(setting.name) {
            return KeepLine {
                mechanism: "driver",
                file: register.set_by.to_owned(),
                text: format!("mask {:#x}, value {}", register.mask, setting.to),
                undo: "a kernel without it".to_owned(),
                note: Some(format!(
                    "only its driver {} can keep a register: it sets it at each start",
                    register.driver
                )),
            };
        }
        if let Some(key) = path.strip_prefix("/proc/sys/") {
            return self.sysctl(setting, key);
        }
        if let Some(rest) = path.strip_prefix("/sys/block/") {
            return self.of_disk(setting, rest);
        }
        if path.starts_with("/sys/class/bdi/") {
            return self.of_mount_without_disk(setting);
        }
        if let Some((module, parameter)) = path.strip_prefix("/sys/module/").and_then(|p| p.split_once("/parameters/"))
        {
            return self.of_module(setting, module, parameter);
        }
        let class = ["scsi_host", "scsi_disk"].into_iter().find_map(|class| {
            let (device, attribute) =
                path.strip_prefix("/sys/class/")?.strip_prefix(class)?.strip_prefix('/')?.split_once('/')?;
            Some((class, device.to_owned(), attribute.to_owned()))
        });
        if let Some((class, device, attribute)) = class {
            let text = format!(
                "ACTION==\"add|change\", SUBSYSTEM==\"{class}\", KERNEL==\"{device}\", ATTR{{{attribute}}}=\"{}\"",
                setting.to
            );
            return udev(
                setting,
                text,
                Some(format!("{device} is a number that may be another device's after a reboot")),
            );
        }
        if path.starts_with("/proc/irq/") {
            let text = format!("ExecStart=/bin/sh -c 'echo {} > {path}'", setting.to);
            let undo = format!("systemctl disable narrows-tune; rm {UNIT}\n{}", written_back(setting));
            let note = Some(
                "in [Service] with Type=oneshot; [Unit] has After=irqbalance.service, which moves it back, and [Install] \
                 WantedBy=multi-user.target; the number of the interrupt may change"
                    .to_owned(),
            );
            return KeepLine { mechanism: "systemd", file: UNIT.to_owned(), text, undo, note };
        }
        self.of_machine(setting)
    }

    fn sysctl(&self, setting: &TuneSetting, key: &str) -> KeepLine {
        let key = key.replace('/', ".");
        // 0 of a limit in bytes says that its ratio counts, and cannot be written.
        let ratio = || {
            let path = ValuePath::new(&setting.path.replace("_bytes", "_ratio")).ok()?;
            Some(format!("sysctl -w {}={}", key.replace("_bytes", "_ratio"), self.tree.read(&path).ok()?))
        };
        let back = (setting.from == "0" && key.ends_with("_bytes")).then(ratio).flatten();
        let back = back.unwrap_or_else(|| format!("sysctl -w {key}={}", setting.from));
        KeepLine {
            mechanism: "sysctl",
            file: SYSCTL.to_owned(),
            text: format!("{key} = {}", setting.to),
            undo: format!("rm {SYSCTL}\n{back}"),
            note: None,
        }
    }

    fn of_disk(&self, setting: &TuneSetting, rest: &str) -> KeepLine {
        let (disk, attribute) = rest.split_once('/').unwrap_or((rest, ""));
        let (matches, note) = match self.identity(disk) {
            Some((key, value)) => (format!("ENV{{{key}}}==\"{value}\""), None),
            None => (
                format!("KERNEL==\"{disk}\""),
                Some(format!(
                    "{disk} has no serial number that udev knows: its name may be another disk's after a reboot"
                )),
            ),
        };
        let text = format!(
            "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", {matches}, ATTR{{{attribute}}}=\"{}\"",
            setting.to
        );
        udev(setting, text, note)
    }

    /// Read-ahead of a mount without a block device, whose number is another one at each mount.
    fn of_mount_without_disk(&self, setting: &TuneSetting) -> KeepLine {
        let fstype = self.stack.mount.as_ref().map(|m| m.fstype.as_str()).unwrap_or_default();
        let kib = &setting.to;
        let bytes = || kib.parse::<u64>().map_or_else(|_| kib.clone(), |kib| (kib * 1024).to_string());
        let of_options = |text: String| KeepLine {
            mechanism: "mount options",
            file: FSTAB.to_owned(),
            undo: written_back(setting),
            note: Some("among the options of the mount, which takes them when it is mounted the next time".to_owned()),
            text,
        };
        match fstype {
            // Called by the udev rule of nfs-utils 2.6 and later for each new mount (nfsrahead(5)).
            "nfs" | "nfs4" => KeepLine {
                mechanism: "nfsrahead",
                file: "/etc/nfs.conf".to_owned(),
                text: format!("[nfsrahead]\n{fstype}={kib}"),
                undo: format!("take the line out of /etc/nfs.conf\n{}", written_back(setting)),
                note: Some("read by nfsrahead of nfs-utils 2.6 or later for every NFS mount; it takes effect when one is mounted".to_owned()),
            },
            "cifs" | "smb3" => of_options(format!("rasize={}", bytes())),
            "ceph" => of_options(format!("rasize={}", bytes())),
            _ => udev(
                setting,
                format!("ACTION==\"add\", SUBSYSTEM==\"bdi\", ATTR{{read_ahead_kb}}=\"{kib}\""),
                Some("it sets every new mount that has no block device, for their numbers change".to_owned()),
            ),
        }
    }

    /// By what udev knows a disk whatever its name is: its world wide name, else its serial number.
    fn identity(&self, disk: &str) -> Option<(&'static str, String)> {
        let layer = self.stack.layers.iter().find(|l| l.name == disk && l.kind != LayerKind::Partition)?;
        let device = layer.device?;
        let number = format!("{}:{}", device.major, device.minor);
        // What would end the text of a rule names nothing in it.
        let names = |value: &String| !value.is_empty() && !value.contains(['"', '\\', '*', '?', '[', '|']);
        ["ID_WWN", "ID_SERIAL"]
            .into_iter()
            .find_map(|key| Some((key, udev_property(self.root, &number, key).filter(names)?)))
    }

    fn of_module(&self, setting: &TuneSetting, module: &str, parameter: &str) -> KeepLine {
        // What is built in has no state of its loading (k:kernel/module/sysfs.c).
        let is_loaded = self.tree.names(&format!("/sys/module/{module}")).iter().any(|name| name == "initstate");
        if is_loaded {
            return KeepLine {
                mechanism: "modprobe",
                file: MODPROBE.to_owned(),
                text: format!("options {module} {parameter}={}", setting.to),
                undo: format!("rm {MODPROBE}\n{}", written_back(setting)),
                note: Some(
                    "update-initramfs -u, or what does it here, where the module is loaded from there".to_owned(),
                ),
            };
        }
        KeepLine {
            mechanism: "kernel command line",
            file: "the boot loader's configuration".to_owned(),
            text: format!("{module}.{parameter}={}", setting.to),
            undo: format!("take it out of the command line\n{}", written_back(setting)),
            note: None,
        }
    }

    /// The line of the mount that these are options of: the one that is there, else a new one.
    fn fstab(&self, settings: &[&TuneSetting]) -> Option<KeepLine> {
        let point = settings.first()?.path.as_str();
        let escaped = point.replace(' ', "\\040");
        let text = Root::new(self.root).text(FSTAB).unwrap_or_default();
        let fields = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
        let is_of_mount =
            |fields: &Vec<String>| fields.len() >= 4 && !fields[0].starts_with('#') && fields[1] == escaped;
        let new = || {
            let mount = self.stack.mount.as_ref()?;
            let uuid = self.stack.layers.iter().find_map(|layer| {
                let device = layer.device?;
                udev_property(self.root, &format!("{}:{}", device.major, device.minor), "ID_FS_UUID")
            });
            let source = uuid.map_or_else(|| mount.source.clone(), |uuid| format!("UUID={uuid}"));
            Some([&source, &escaped, &mount.fstype, "defaults", "0", "2"].map(str::to_owned).to_vec())
        };
        let mut fields = text.lines().map(fields).find(is_of_mount).or_else(new)?;
        fields[3] = settings.iter().fold(fields[3].clone(), |options, set| with_option(&options, &set.to));
        let from = settings.iter().map(|s| s.from.as_str()).collect::<Vec<_>>().join(",");
        let to = settings.iter().map(|s| s.to.as_str()).collect::<Vec<_>>().join(",");
        Some(KeepLine {
            mechanism: "fstab",
            file: FSTAB.to_owned(),
            text: fields.join(" "),
            undo: format!("the line as it was\nmount -o remount,{from} {point}"),
            note: (point == "/").then(|| format!("or rootflags={to} on the kernel's command line")),
        })
    }

    /// Where tuned runs it sets these anew: a profile of its own keeps them.
    fn of_machine(&self, setting: &TuneSetting) -> KeepLine {
        let pattern = Tunable::named(setting.name).map(|t| t.pattern).ok().filter(|p| !p.contains('{'));
        let path = pattern.unwrap_or(&setting.path);
        let active = std::fs::read_to_string(self.root.join("etc/tuned/active_profile")).unwrap_or_default();
        let back = written_back(setting);
        match active.trim() {
            "" => KeepLine {
                mechanism: "tmpfiles",
                file: TMPFILES.to_owned(),
                text: format!("w {path} - - - - {}", setting.to.replace(' ', "\\x20")),
                undo: format!("rm {TMPFILES}\n{back}"),
                note: None,
            },
            active => KeepLine {
                mechanism: "tuned",
                file: TUNED.to_owned(),
                text: format!("{path}={}", setting.to),
                undo: format!("tuned-adm profile {active}; rm {TUNED}\n{back}"),
                note: Some(format!(
                    "in [sysfs]; [main] has include={active}; tuned-adm profile narrows puts it in force"
                )),
            },
        }
    }
}

/// What udev knows of the block device of a number (`8:0`).
pub(super) fn udev_property(root: &Path, number: &str, key: &str) -> Option<String> {
    let text = std::fs::read_to_string(root.join(format!("run/udev/data/b{number}"))).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("E:")?.strip_prefix(key)?.strip_prefix('='));
    value.map(str::to_owned)
}

fn udev(setting: &TuneSetting, text: String, note: Option<String>) -> KeepLine {
    let undo = format!("rm {UDEV}; udevadm control --reload\n{}", written_back(setting));
    KeepLine { mechanism: "udev", file: UDEV.to_owned(), text, undo, note }
}

fn written_back(setting: &TuneSetting) -> String {
    let quoted = setting.from.contains(' ');
    let from = if quoted { format!("'{}'", setting.from) } else { setting.from.clone() };
    format!("echo {from} > {}", setting.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{DeviceId, Layer};

    fn setting(name: &'static str, path: &str, from: &str, to: &str) -> TuneSetting {
        TuneSetting { name, path: path.into(), from: from.into(), to: to.into() }
    }

    fn machine(files: &[(&str, &str)], check: impl FnOnce(&Machine<'_>)) {
        let directory = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let file = directory.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let disk = Layer {
            counted: true,
            device: Some(DeviceId { major: 8, minor: 0 }),
            ..Layer::new(LayerKind::Disk, "sda")
        };
        let stack = Stack { mount: None, layers: vec![disk].into() };
        let tree = Tree::below(directory.path()).unwrap();
        check(&Machine { tree: &tree, stack: &stack, root: directory.path() });
    }

    #[test]
    fn a_disk_is_matched_by_its_world_wide_name_and_the_scheduler_is_set_first() {
        let known = [("run/udev/data/b8:0", "S:disk/by-id/x\nE:ID_SERIAL=ACME_1\nE:ID_WWN=0x5000c500\n")];
        machine(&known, |machine| {
            let lines = keep(
                &[
                    setting("requests", "/sys/block/sda/queue/nr_requests", "64", "256"),
                    setting("scheduler", "/sys/block/sda/queue/scheduler", "none", "mq-deadline"),
                ],
                machine,
            );
            let [line] = lines.as_slice() else { panic!("{lines:?}") };
            let rules: Vec<&str> = line.text.lines().collect();
            assert_eq!(
                rules[0],
                "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", ENV{ID_WWN}==\"0x5000c500\", ATTR{queue/scheduler}=\"mq-deadline\""
            );
            assert!(rules[1].contains("ATTR{queue/nr_requests}=\"256\"") && line.note.is_none(), "{line:?}");
            assert_eq!(line.undo.lines().last(), Some("echo 64 > /sys/block/sda/queue/nr_requests"));
            assert!(line.undo.contains("echo none > /sys/block/sda/queue/scheduler"), "{}", line.undo);
        });
        machine(&[("sys/a", "")], |machine| {
            let line = &keep(&[setting("scheduler", "/sys/block/sda/queue/scheduler", "none", "bfq")], machine)[0];
            assert!(line.text.contains("KERNEL==\"sda\"") && line.note.is_some(), "{line:?}");
        });
    }

    #[test]
    fn each_kind_of_setting_has_its_own_mechanism() {
        let files = [
            ("proc/sys/vm/dirty_ratio", "20\n"),
            ("sys/module/nvme/initstate", "live\n"),
            ("sys/module/pcie_aspm/parameters/policy", "default\n"),
        ];
        machine(&files, |machine| {
            let of = |name, path, from, to| keep(&[setting(name, path, from, to)], machine).remove(0);
            let dirty = of("dirty-bytes", "/proc/sys/vm/dirty_bytes", "0", "16777216");
            assert_eq!((dirty.mechanism, dirty.text.as_str()), ("sysctl", "vm.dirty_bytes = 16777216"));
            assert!(dirty.undo.ends_with("sysctl -w vm.dirty_ratio=20"), "{}", dirty.undo);
            let module = of("io-polling", "/sys/module/nvme/parameters/poll_queues", "0", "2");
            assert_eq!((module.mechanism, module.text.as_str()), ("modprobe", "options nvme poll_queues=2"));
            let built_in = of("pcie-power", "/sys/module/pcie_aspm/parameters/policy", "default", "performance");
            assert_eq!(
                (built_in.mechanism, built_in.text.as_str()),
                ("kernel command line", "pcie_aspm.policy=performance")
            );
            let governor = "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
            let governor = of("governor", governor, "powersave", "performance");
            assert_eq!(governor.text, "w /sys/devices/system/cpu/cpufreq/policy*/scaling_governor - - - - performance");
            assert_eq!(of("interrupt-cpu", "/proc/irq/24/smp_affinity_list", "0-1", "1").mechanism, "systemd");
            assert_eq!(of("cache", "/sys/class/scsi_disk/0:0:0:0/cache_type", "a", "b").mechanism, "udev");
        });
        let fstab = "# a comment /mnt/card x y\nLABEL=card /mnt/card ext4 relatime,nofail 0 2\n";
        machine(&[("etc/fstab", fstab)], |machine| {
            let lines = keep(
                &[
                    setting("mount-atime", "/mnt/card", "relatime", "noatime"),
                    setting("mount-batch", "/mnt/card", "max_batch_time=15000", "max_batch_time=0"),
                ],
                machine,
            );
            assert_eq!(lines[0].text, "LABEL=card /mnt/card ext4 nofail,noatime,max_batch_time=0 0 2");
            assert_eq!(lines.len(), 1, "{lines:?}");
        });
        machine(&[("etc/tuned/active_profile", "balanced\n")], |machine| {
            let huge = setting("huge-pages", "/sys/kernel/mm/transparent_hugepage/enabled", "madvise", "always");
            let line = keep(&[huge], machine).remove(0);
            assert!(
                line.mechanism == "tuned" && line.note.as_ref().is_some_and(|n| n.contains("include=balanced")),
                "{line:?}"
            );
        });
    }
}
