//! Who set a setting, where it can be told: rules of udev, sysctl.d, tuned, sysfs.conf, tmpfiles.d, TLP, modprobe.d and the
//! kernel's command line.
//!
//! What is found is who *would* set it: files may have been changed since, and programs set things on their own. The value
//! in force is a fact of its own beside it.

mod glob;
mod set_by;
mod udev;

use crate::facts;
use crate::root::{Root, file_name};
use model::Layer;
pub use set_by::set_by;
use std::collections::BTreeMap;
pub(crate) use udev::is_relevant;
use udev::{Device, Rule};

/// Files of one kind, and lines that one layer lists.
const FILE_LIMIT: usize = 512;
const LINE_LIMIT: usize = 32;
/// tuned profiles that include each other.
const INCLUDE_LIMIT: usize = 8;

/// Modules whose parameters belong to a kind of layer.
pub(crate) const NVME_MODULES: [&str; 2] = ["nvme", "nvme_core"];
pub(crate) const USB_MODULES: [&str; 3] = ["usb_storage", "uas", "usbcore"];
pub(crate) const ATA_MODULES: [&str; 4] = ["libata", "ahci", "ata_piix", "scsi_mod"];
pub(crate) const PCI_MODULES: [&str; 2] = ["pcie_aspm", "pci"];

/// One value that a file sets.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Set {
    /// What: `vm.dirty_ratio`, `nvme_core.default_ps_max_latency_us`, `block/sda/queue/scheduler`.
    key: String,
    value: String,
    /// `/etc/sysctl.d/10.conf:3`, `kernel command line`.
    place: String,
}

/// All that is known of the machine's settings, read once for an inventory.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    rules: Vec<Rule>,
    /// sysctl.d and tuned's `[sysctl]`.
    sysctl: Vec<Set>,
    /// Module parameters from modprobe.d and the command line; bare words of the command line as well.
    modules: Vec<Set>,
    /// Paths below /sys.
    sysfs: Vec<Set>,
    /// tuned's `[disk]`, `[cpu]` and TLP's variables, by the fact that they become.
    by_fact: Vec<Set>,
}

impl Settings {
    pub(crate) fn read(root: &Root) -> Self {
        let mut settings = Self::default();
        for (path, text) in files(root, "udev/rules.d", ".rules", is_relevant) {
            settings.rules.extend(udev::rules(&path, &text));
        }
        let mut sysctl = files(root, "sysctl.d", ".conf", |_| true);
        // Read last, as sysctl(8) and systemd's link 99-sysctl.conf do.
        sysctl.extend(root.text("/etc/sysctl.conf").map(|t| ("/etc/sysctl.conf".to_owned(), t)));
        for (path, text) in sysctl {
            settings.sysctl.extend(assignments(&path, &text));
        }
        for (path, text) in files(root, "modprobe.d", ".conf", |_| true) {
            settings.modules.extend(module_options(&path, &text));
        }
        settings.modules.extend(command_line(&root.text("/proc/cmdline").unwrap_or_default()));
        for path in root.list("/etc/sysfs.d").into_iter().take(FILE_LIMIT).map(|n| format!("/etc/sysfs.d/{n}")) {
            let text = root.text(&path).unwrap_or_default();
            settings.sysfs.extend(assignments(&path, &text));
        }
        settings.sysfs.extend(assignments("/etc/sysfs.conf", &root.text("/etc/sysfs.conf").unwrap_or_default()));
        for (path, text) in files(root, "tmpfiles.d", ".conf", |t| t.windows(5).any(|w| w == b"/sys/")) {
            settings.sysfs.extend(temporary_files(&path, &text));
        }
        settings.tuned(root);
        settings.tlp(root);
        settings
    }

    /// tuned's active profile and those that it includes (tuned.conf(5)).
    fn tuned(&mut self, root: &Root) {
        let mut names: Vec<String> = root.text("/etc/tuned/active_profile").into_iter().collect();
        names = names.iter().flat_map(|n| n.split_ascii_whitespace().map(str::to_owned)).collect();
        let mut at = 0;
        while at < names.len() && at < INCLUDE_LIMIT {
            let name = names[at].replace(['/', '.'], "_");
            at += 1;
            let places = ["/etc/tuned", "/etc/tuned/profiles", "/usr/lib/tuned", "/usr/lib/tuned/profiles"];
            let found = places.iter().map(|p| format!("{p}/{name}/tuned.conf"));
            let Some((path, text)) = found.into_iter().find_map(|p| root.text(&p).map(|t| (p, t))) else { continue };
            let mut section = String::new();
            for (number, line) in text.lines().enumerate() {
                let line = line.trim();
                if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                    section = name.to_owned();
                    continue;
                }
                let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with(['#', ';'])) else {
                    continue;
                };
                let (key, value) = (key.trim(), value.trim());
                let set = |key: &str| Set {
                    key: key.to_owned(),
                    value: value.to_owned(),
                    place: format!("tuned profile {name}, {path}:{}", number + 1),
                };
                match (section.as_str(), key) {
                    ("main", "include") => {
                        names.extend(value.split([',', ' ']).filter(|n| !n.is_empty()).map(str::to_owned))
                    }
                    ("sysctl", key) => self.sysctl.push(set(key)),
                    ("disk", "readahead") => self.by_fact.push(set(facts::READ_AHEAD_KB)),
                    ("disk", "elevator") => self.by_fact.push(set(facts::SCHEDULER)),
                    ("disk", "scheduler_quantum") => self.by_fact.push(set("queue/iosched/quantum")),
                    ("cpu", "governor") => self.by_fact.push(set(facts::CPU_GOVERNORS)),
                    ("scsi_host", "alpm") => self.by_fact.push(set(facts::LINK_POWER_POLICY)),
                    _ => {}
                }
            }
        }
    }

    /// TLP (tlp.conf), which sets link power and schedulers on laptops.
    fn tlp(&mut self, root: &Root) {
        let mut paths: Vec<String> = root.list("/etc/tlp.d").into_iter().filter(|n| n.ends_with(".conf")).collect();
        paths = paths.into_iter().take(FILE_LIMIT).map(|n| format!("/etc/tlp.d/{n}")).collect();
        paths.push("/etc/tlp.conf".to_owned());
        for path in paths {
            for set in assignments(&path, &root.text(&path).unwrap_or_default()) {
                let fact = match set.key.as_str() {
                    "SATA_LINKPWR_ON_AC" | "SATA_LINKPWR_ON_BAT" => facts::LINK_POWER_POLICY,
                    "DISK_IOSCHED" => facts::SCHEDULER,
                    "PCIE_ASPM_ON_AC" | "PCIE_ASPM_ON_BAT" => facts::PCIE_ASPM_POLICY,
                    "CPU_SCALING_GOVERNOR_ON_AC" | "CPU_SCALING_GOVERNOR_ON_BAT" => facts::CPU_GOVERNORS,
                    _ => continue,
                };
                let place = format!("TLP {}, {}", set.key, set.place);
                self.by_fact.push(Set { key: fact.to_owned(), place, ..set });
            }
        }
    }

    /// Names on a layer with a request queue who sets its attributes.
    pub(crate) fn on_queue(&self, root: &Root, layer: &mut Layer, directory: &str) {
        let name = file_name(directory).to_owned();
        let mut lines = self.by_rules(root, directory, &name, "block", &["queue/", "bdi/"]);
        let below = format!("block/{name}/");
        for set in &self.sysfs {
            lines.extend(set.key.strip_prefix(&below).map(|attribute| line(attribute, set)));
        }
        let facts = [facts::READ_AHEAD_KB, facts::SCHEDULER];
        lines.extend(self.by_fact.iter().filter(|s| facts.contains(&s.key.as_str())).map(|s| line(&s.key, s)));
        lines.extend(self.modules.iter().filter(|s| s.key == "elevator").map(|s| line(&s.key, s)));
        add(layer, lines);
    }

    /// Who sets the power management of a SATA link, by its host's directory.
    pub(crate) fn on_sata_host(&self, root: &Root, layer: &mut Layer, directory: &str) {
        let mut lines =
            self.by_rules(root, directory, file_name(directory), "scsi_host", &["link_power_management_policy"]);
        lines.extend(self.by_fact.iter().filter(|s| s.key == facts::LINK_POWER_POLICY).map(|s| line(&s.key, s)));
        add(layer, lines);
    }

    /// Who sets parameters of kernel modules.
    pub(crate) fn on_modules(&self, layer: &mut Layer, modules: &[&str]) {
        let ours = |set: &&Set| modules.contains(&set.key.split('.').next().unwrap_or_default());
        add(layer, self.modules.iter().filter(ours).map(|s| line(&s.key, s)).collect());
    }

    /// Who sets what concerns all storage: writing back, and the processors' frequency.
    pub(crate) fn on_host(&self, layer: &mut Layer) {
        // Of several files the last one counts.
        let mut last: BTreeMap<&str, &Set> = BTreeMap::new();
        let of_storage =
            |k: &str| ["vm.dirty", "vm.swappiness", "vm.vfs_cache", "fs.aio-max"].iter().any(|p| k.starts_with(p));
        for set in self.sysctl.iter().filter(|s| of_storage(&s.key)) {
            last.insert(&set.key, set);
        }
        let mut lines: Vec<String> = last.values().map(|s| line(&s.key, s)).collect();
        lines.extend(self.by_fact.iter().filter(|s| s.key == facts::CPU_GOVERNORS).map(|s| line(&s.key, s)));
        lines.extend(self.modules.iter().filter(|s| s.key.starts_with("cpufreq.")).map(|s| line(&s.key, s)));
        add(layer, lines);
    }

    fn by_rules(&self, root: &Root, directory: &str, name: &str, subsystem: &str, wanted: &[&str]) -> Vec<String> {
        let is_wanted = |attribute: &str| wanted.iter().any(|start| attribute.starts_with(start));
        let line = |(attribute, value, place, certain): (&str, &str, &str, bool)| {
            let doubt = if certain { "" } else { ", if its other conditions hold" };
            format!("{}={value}: {place}{doubt}", attribute.strip_prefix("queue/").unwrap_or(attribute))
        };
        self.rules_on(root, directory, name, subsystem, &is_wanted).into_iter().map(line).collect()
    }

    /// What rules set of a device: attribute, value, where, and whether they are known to apply.
    fn rules_on(
        &self,
        root: &Root,
        directory: &str,
        name: &str,
        subsystem: &str,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Vec<(&str, &str, &str, bool)> {
        let attribute = |attribute: &str| {
            // No way out of the device's own directory.
            if attribute.split('/').any(|p| p == "..") { None } else { root.text(&format!("{directory}/{attribute}")) }
        };
        let device = Device { kernel: name, subsystem, attribute: &attribute };
        let mut out = Vec::new();
        for rule in &self.rules {
            if !rule.sets.iter().any(|(a, _)| is_wanted(a)) {
                continue;
            }
            let applies = rule.applies(&device);
            let sets = rule.sets.iter().filter(|(a, _)| applies != Some(false) && is_wanted(a));
            out.extend(sets.map(|(a, v)| (a.as_str(), v.as_str(), rule.place.as_str(), applies.is_some())));
        }
        out
    }
}

fn line(attribute: &str, set: &Set) -> String {
    format!("{}={}: {}", attribute.strip_prefix("queue/").unwrap_or(attribute), set.value, set.place)
}

fn add(layer: &mut Layer, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    let mut all = match layer.fact(facts::SET_BY) {
        Some(model::Fact::List(known)) => known.clone(),
        _ => Vec::new(),
    };
    all.extend(lines);
    all.dedup();
    all.truncate(LINE_LIMIT);
    layer.set(facts::SET_BY, all);
}

/// Files of a directory that several places have: of one name the first place counts, then all in order of their names.
fn files(root: &Root, directory: &str, suffix: &str, matters: impl Fn(&[u8]) -> bool) -> Vec<(String, String)> {
    let mut by_name: BTreeMap<String, String> = BTreeMap::new();
    for place in ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"] {
        for name in root.list(&format!("{place}/{directory}")).into_iter().filter(|n| n.ends_with(suffix)) {
            if by_name.len() < FILE_LIMIT {
                by_name.entry(name.clone()).or_insert_with(|| format!("{place}/{directory}/{name}"));
            }
        }
    }
    let read = |path: String| {
        let bytes = root.read(&path).ok().filter(|b| matters(b))?;
        Some((path, String::from_utf8_lossy(&bytes).into_owned()))
    };
    by_name.into_values().filter_map(read).collect()
}

/// `key = value` lines; sysctl allows slashes for dots and a dash in front for "do not complain".
fn assignments(path: &str, text: &str) -> Vec<Set> {
    let line = |(number, line): (usize, &str)| {
        let line = line.trim();
        let (key, value) = line.split_once('=').filter(|_| !line.starts_with(['#', ';']))?;
        let key = key.trim().trim_start_matches('-');
        let key = if key.starts_with("vm/") || key.starts_with("fs/") { key.replace('/', ".") } else { key.to_owned() };
        Some(Set { key, value: value.trim().trim_matches('"').to_owned(), place: format!("{path}:{}", number + 1) })
    };
    text.lines().enumerate().filter_map(line).collect()
}

/// `options MODULE key=value ...` (modprobe.d(5)).
fn module_options(path: &str, text: &str) -> Vec<Set> {
    let mut out = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split_ascii_whitespace();
        let Some("options") = words.next() else { continue };
        let Some(module) = words.next().map(|m| m.replace('-', "_")) else { continue };
        out.extend(words.filter_map(|w| w.split_once('=')).map(|(key, value)| Set {
            key: format!("{module}.{key}"),
            value: value.to_owned(),
            place: format!("{path}:{}", number + 1),
        }));
    }
    out
}

/// `module.parameter=value`, and the few bare words that concern storage (kernel-parameters.txt).
fn command_line(text: &str) -> Vec<Set> {
    let words = text.split_ascii_whitespace().filter_map(|w| w.split_once('='));
    let telling = |key: &str| key.contains('.') || matches!(key, "elevator" | "pcie_aspm" | "pci" | "scsi_mod");
    let sets = words.filter(|(key, _)| telling(key)).map(|(key, value)| {
        // Dashes and underscores mean the same there.
        let key = match key.split_once('.') {
            Some((module, parameter)) => format!("{}.{parameter}", module.replace('-', "_")),
            None => key.to_owned(),
        };
        Set { key, value: value.to_owned(), place: "kernel command line".to_owned() }
    });
    sets.collect()
}

/// `w /sys/block/sda/queue/scheduler - - - - none` (tmpfiles.d(5)).
fn temporary_files(path: &str, text: &str) -> Vec<Set> {
    let line = |(number, line): (usize, &str)| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let target = words.get(1)?.strip_prefix("/sys/")?;
        let value = words.get(6..)?.join(" ");
        words[0].starts_with('w').then(|| Set {
            key: target.to_owned(),
            value,
            place: format!("{path}:{}", number + 1),
        })
    };
    text.lines().enumerate().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_each_kind_of_file() {
        let keys =
            |sets: Vec<Set>| sets.into_iter().map(|s| format!("{}={} {}", s.key, s.value, s.place)).collect::<Vec<_>>();
        assert_eq!(keys(assignments("/a", "# x=1\n-vm/dirty_ratio = 5\n\nx")), ["vm.dirty_ratio=5 /a:2"]);
        assert_eq!(
            keys(module_options("/m", "blacklist x\noptions usb-storage quirks=152d:0578:u delay_use=1")),
            ["usb_storage.quirks=152d:0578:u /m:2", "usb_storage.delay_use=1 /m:2"]
        );
        assert_eq!(
            keys(command_line("root=/dev/sda quiet usb-storage.quirks=1:2:u elevator=bfq nvme_core.x=0")),
            [
                "usb_storage.quirks=1:2:u kernel command line",
                "elevator=bfq kernel command line",
                "nvme_core.x=0 kernel command line"
            ]
        );
        let text = "d /run/x 0755\nw /sys/block/sda/queue/scheduler - - - - none\nw /etc/x - - - - y\nw /sys/x";
        assert_eq!(keys(temporary_files("/t", text)), ["block/sda/queue/scheduler=none /t:2"]);
    }
}
