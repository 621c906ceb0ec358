//! What else sets a value: files, and programs that run and are known to set such values anew.

use super::glob::matches;
use super::{Set, Settings};
use crate::facts;
use crate::root::Root;
use model::SetBy;

/// Programs by their name in the kernel, which has 15 letters of it, and a part of the paths that they set.
const PROGRAMS: [(&str, &str, &str); 5] = [
    ("tuned", "tuned", ""),
    ("power-profiles-", "power-profiles-daemon", "scaling_governor"),
    ("power-profiles-", "power-profiles-daemon", "energy_perf"),
    ("irqbalance", "irqbalance", "/proc/irq/"),
    ("tlp", "tlp", "link_power_management_policy"),
];

/// Who would set each of these values below /sys and /proc/sys, as far as it can be told.
pub fn set_by(root: &Root, paths: &[&str]) -> Vec<Vec<SetBy>> {
    let settings = Settings::read(root);
    let is_process = |name: &String| name.bytes().all(|b| b.is_ascii_digit());
    let processes = root.list("/proc").into_iter().filter(is_process);
    let running: Vec<String> =
        processes.filter_map(|id| Some(root.text(&format!("/proc/{id}/comm"))?.trim().to_owned())).collect();
    paths.iter().map(|path| settings.of_value(root, path, &running)).collect()
}

impl Settings {
    fn of_value(&self, root: &Root, path: &str, running: &[String]) -> Vec<SetBy> {
        let mut out: Vec<SetBy> = self.rules_of(root, path);
        let sysctl = path.strip_prefix("/proc/sys/").unwrap_or_default().replace('/', ".");
        let parameter = path.strip_prefix("/sys/module/").unwrap_or_default().replace("/parameters/", ".");
        let below = path.strip_prefix("/sys/").unwrap_or_default();
        let fact = match path.rsplit('/').next().unwrap_or_default() {
            "read_ahead_kb" => facts::READ_AHEAD_KB,
            "scheduler" => facts::SCHEDULER,
            "scaling_governor" => facts::CPU_GOVERNORS,
            "link_power_management_policy" => facts::LINK_POWER_POLICY,
            _ => "",
        };
        let named = |sets: &[Set], is_it: &dyn Fn(&str) -> bool| -> Vec<SetBy> {
            let found = sets.iter().filter(|set| is_it(&set.key));
            found.map(|set| of(&set.place, Some(set.value.clone()), true)).collect()
        };
        out.extend(named(&self.sysctl, &|key| key == sysctl));
        out.extend(named(&self.modules, &|key| key == parameter));
        out.extend(named(&self.sysfs, &|key| matches(key, below)));
        out.extend(named(&self.by_fact, &|key| key == fact));
        let mut runs: Vec<SetBy> = PROGRAMS
            .iter()
            .filter(|(name, _, part)| path.contains(part) && running.iter().any(|runs| runs == name))
            .map(|(_, program, _)| of(program, None, false))
            .collect();
        runs.dedup();
        out.extend(runs);
        out
    }

    /// Rules of udev that set an attribute of a disk, or of a device of a class.
    fn rules_of(&self, root: &Root, path: &str) -> Vec<SetBy> {
        let block = path.strip_prefix("/sys/block/").map(|rest| ("block", rest));
        let class = || path.strip_prefix("/sys/class/")?.split_once('/');
        let Some((subsystem, rest)) = block.or_else(class) else { return Vec::new() };
        let Some((name, attribute)) = rest.split_once('/') else { return Vec::new() };
        let directory = path.strip_suffix(attribute).unwrap_or_default().trim_end_matches('/');
        let sets = self.rules_on(root, directory, name, subsystem, &|set| set == attribute);
        sets.into_iter().map(|(_, value, place, certain)| of(place, Some(value.to_owned()), certain)).collect()
    }
}

fn of(by: &str, value: Option<String>, is_certain: bool) -> SetBy {
    SetBy { by: by.to_owned(), value, is_certain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_programs_that_set_a_value_are_named() {
        let directory = tempfile::tempdir().unwrap();
        for (file, text) in [
            (
                "etc/udev/rules.d/60-a.rules",
                "SUBSYSTEM==\"block\", ENV{ID_BUS}==\"ata\", ATTR{device/queue_depth}=\"1\"\n",
            ),
            (
                "etc/udev/rules.d/99-z.rules",
                "KERNEL==\"sd*\", ATTR{queue/read_ahead_kb}=\"64\", ATTR{queue/scheduler}=\"none\"\n",
            ),
            ("etc/sysctl.d/99-z.conf", "vm.dirty_bytes = 1\n"),
            ("etc/tmpfiles.d/z.conf", "w /sys/devices/system/cpu/cpufreq/policy*/scaling_governor - - - - powersave\n"),
            ("etc/modprobe.d/z.conf", "options nvme poll_queues=4\n"),
            ("etc/tuned/active_profile", "mine\n"),
            ("etc/tuned/mine/tuned.conf", "[disk]\nreadahead=>4096\n"),
            ("proc/17/comm", "power-profiles-\n"),
            ("proc/18/comm", "tuned\n"),
        ] {
            let file = directory.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let said = |path: &str| -> Vec<String> {
            let found = set_by(&Root::new(directory.path()), &[path]).remove(0);
            let line = |set: SetBy| format!("{} {} {}", set.by, set.value.unwrap_or_default(), set.is_certain);
            found.into_iter().map(line).filter(|line| !line.starts_with("tuned  ")).collect()
        };
        assert_eq!(
            said("/sys/block/sda/queue/read_ahead_kb"),
            ["/etc/udev/rules.d/99-z.rules:1 64 true", "tuned profile mine, /etc/tuned/mine/tuned.conf:2 >4096 true"]
        );
        assert_eq!(said("/sys/block/sda/device/queue_depth"), ["/etc/udev/rules.d/60-a.rules:1 1 false"]);
        assert_eq!(said("/proc/sys/vm/dirty_bytes"), ["/etc/sysctl.d/99-z.conf:1 1 true"]);
        assert_eq!(said("/sys/module/nvme/parameters/poll_queues"), ["/etc/modprobe.d/z.conf:1 4 true"]);
        assert_eq!(
            said("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor"),
            ["/etc/tmpfiles.d/z.conf:1 powersave true", "power-profiles-daemon  false"]
        );
        assert!(said("/sys/block/nvme0n1/queue/nr_requests").is_empty());
        let of_tuned = set_by(&Root::new(directory.path()), &["/proc/sys/vm/swappiness"]).remove(0);
        assert_eq!(of_tuned, [of("tuned", None, false)]);
    }
}
