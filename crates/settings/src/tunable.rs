//! What can be tuned on the path to a target, by name: which files that is on this machine, what they hold, and which other
//! values are worth a try.

use crate::error::{Result, SettingError};
use crate::path::paths;
use crate::value::{Tree, ValuePath, same_value};
use model::{SettingRisk, Stack};

/// A setting that has a name of its own.
#[derive(Debug, PartialEq, Eq)]
pub struct Tunable {
    /// As an arm's `settings` has it: `read-ahead`.
    pub name: &'static str,
    /// Its files, with `{disk}` and the like (see [`paths`]).
    pub pattern: &'static str,
    worth: CandidateValues,
    /// What it decides, and its unit.
    pub about: &'static str,
    /// What its other values can cost.
    pub risk: SettingRisk,
    /// What a workload needs to have for it to make a difference.
    pub felt: Felt,
}

/// What feels a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Felt {
    /// Any operation may.
    Always,
    /// Reads through the page cache.
    BufferedReads,
    /// Writes through the page cache.
    BufferedWrites,
    /// Programs whose memory is short.
    MemoryPressure,
    /// The device or its driver, when it is started the next time.
    NextStart,
    /// Who measures: what is counted.
    Measurement,
}

/// Drivers without a limit say one of 1 TiB; nobody waits for such a request.
const LARGEST_REQUEST_KIB: u64 = 16 << 10;

/// Which values are worth a try.
#[derive(Debug, PartialEq, Eq)]
enum CandidateValues {
    /// What the file itself offers: `none [mq-deadline] kyber`.
    Offered,
    /// What a file beside it lists.
    ListedIn(&'static str),
    /// The first number, doubled until it is the one that a file beside it has.
    UpTo(u64, &'static str),
    /// The present number, halved down to 1: the driver sets the greatest one that the device takes.
    Halved,
    /// A fixed list of values.
    Of(&'static [&'static str]),
    /// Each processor that is on line, and all.
    Processors,
}

use CandidateValues::{Halved, ListedIn, Of, Offered, Processors, UpTo};
use Felt::{BufferedReads, BufferedWrites, Measurement, MemoryPressure, NextStart};
use SettingRisk::{CostsMemory, CostsPower, LosesData};

const fn tunable(name: &'static str, pattern: &'static str, worth: CandidateValues, about: &'static str) -> Tunable {
    Tunable { name, pattern, worth, about, risk: SettingRisk::Harmless, felt: Felt::Always }
}

impl Tunable {
    const fn risk(self, risk: SettingRisk) -> Self {
        Self { risk, ..self }
    }

    const fn felt(self, felt: Felt) -> Self {
        Self { felt, ..self }
    }
}

/// All of them, from the disk upwards. k:Documentation/ABI/stable/sysfs-block, k:Documentation/scsi/scsi_mid_low_api.rst,
/// k:Documentation/admin-guide/sysctl/vm.rst, k:Documentation/admin-guide/pm/cpufreq.rst and cpuidle.rst,
/// k:Documentation/core-api/irq/irq-affinity.rst, k:Documentation/admin-guide/kernel-parameters.txt, k:drivers/scsi/sd.c.
pub const TUNABLES: &[Tunable] = &[
    tunable("scheduler", "/sys/block/{lowest}/queue/scheduler", Offered, "order of requests before the driver"),
    tunable(
        "requests",
        "/sys/block/{lowest}/queue/nr_requests",
        Of(&["32", "64", "128", "256", "1024"]),
        "requests that may wait",
    )
    .risk(CostsMemory),
    tunable(
        "request-size",
        "/sys/block/{lowest}/queue/max_sectors_kb",
        UpTo(64, "max_hw_sectors_kb"),
        "largest request, KiB",
    ),
    tunable(
        "merges",
        "/sys/block/{lowest}/queue/nomerges",
        Of(&["0", "1", "2"]),
        "2: neighbouring requests are not merged",
    ),
    tunable(
        "completion-cpu",
        "/sys/block/{lowest}/queue/rq_affinity",
        Of(&["0", "1", "2"]),
        "2: completed on the CPU that asked",
    ),
    tunable(
        "write-throttling",
        "/sys/block/{lowest}/queue/wbt_lat_usec",
        Of(&["0", "2000", "75000"]),
        "read latency that write-back keeps, us; 0: off",
    )
    .felt(BufferedWrites),
    tunable("io-statistics", "/sys/block/{lowest}/queue/iostats", Of(&["0", "1"]), "counting in /proc/diskstats")
        .felt(Measurement),
    tunable(
        "read-ahead",
        "/sys/block/{disk}/queue/read_ahead_kb",
        Of(&["0", "128", "512", "1024", "4096", "8192"]),
        "read ahead of buffered reads, KiB",
    )
    .risk(CostsMemory)
    .felt(BufferedReads),
    tunable("queue-depth", "/sys/block/{lowest}/device/queue_depth", Halved, "commands in the device; 1: no NCQ"),
    tunable(
        "cache",
        "/sys/class/scsi_disk/{scsi}/cache_type",
        Of(&["write back", "write through"]),
        "write cache of a SCSI or SATA disk",
    )
    .risk(LosesData),
    tunable(
        "link-power",
        "/sys/class/scsi_host/{host}/link_power_management_policy",
        Of(&["max_performance", "medium_power", "med_power_with_dipm", "min_power"]),
        "power saving of a SATA link",
    )
    .risk(CostsPower),
    tunable(
        "device-power",
        "/sys/block/{lowest}/device/power/control",
        Of(&["on", "auto"]),
        "auto: the device may sleep",
    )
    .risk(CostsPower),
    tunable(
        "md-stripes",
        "/sys/block/{disk}/md/stripe_cache_size",
        Of(&["256", "1024", "4096", "8192"]),
        "stripes that RAID 4, 5 and 6 cache",
    )
    .risk(CostsMemory),
    tunable("btrfs-read-policy", "/sys/fs/btrfs/*/read_policy", Offered, "which copy btrfs reads"),
    tunable("pcie-power", "/sys/module/pcie_aspm/parameters/policy", Offered, "power saving of PCIe links")
        .risk(CostsPower),
    tunable(
        "nvme-power",
        "/sys/module/nvme_core/parameters/default_ps_max_latency_us",
        Of(&["0", "100000"]),
        "wake-up that NVMe may take, us; from the next start of the device",
    )
    .felt(NextStart),
    tunable(
        "usb-quirks",
        "/sys/module/usb_storage/parameters/quirks",
        Of(&[]),
        "VID:PID:u makes UAS bulk-only; from the next plugging in",
    )
    .felt(NextStart),
    tunable(
        "usb-autosuspend",
        "/sys/module/usbcore/parameters/autosuspend",
        Of(&["-1", "2"]),
        "idle seconds before a USB device sleeps; of devices plugged in later",
    )
    .felt(NextStart),
    tunable(
        "interrupt-cpu",
        "/proc/irq/{irq}/smp_affinity_list",
        Processors,
        "where the controller's interrupts are served",
    ),
    tunable(
        "governor",
        "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
        ListedIn("scaling_available_governors"),
        "how the processor's frequency is chosen",
    )
    .risk(CostsPower),
    tunable(
        "energy-preference",
        "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference",
        ListedIn("energy_performance_available_preferences"),
        "speed against power, where the hardware chooses",
    )
    .risk(CostsPower),
    tunable(
        "idle-latency",
        "/sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us",
        Of(&["0", "n/a"]),
        "0: any idle state; n/a: none; else wake-up at most, us",
    )
    .risk(CostsPower),
    tunable(
        "timer-migration",
        "/proc/sys/kernel/timer_migration",
        Of(&["0", "1"]),
        "timers of an idle CPU move to a busy one",
    ),
    tunable(
        "swappiness",
        "/proc/sys/vm/swappiness",
        Of(&["0", "10", "60", "100"]),
        "pages of programs against pages of files",
    )
    .felt(MemoryPressure),
    tunable(
        "dirty-ratio",
        "/proc/sys/vm/dirty_ratio",
        Of(&["5", "10", "20", "40"]),
        "dirty memory at which writers wait, percent",
    )
    .risk(CostsMemory)
    .felt(BufferedWrites),
    tunable(
        "dirty-background-ratio",
        "/proc/sys/vm/dirty_background_ratio",
        Of(&["1", "5", "10", "20"]),
        "dirty memory at which write-back starts, percent",
    )
    .risk(CostsMemory)
    .felt(BufferedWrites),
    tunable(
        "dirty-bytes",
        "/proc/sys/vm/dirty_bytes",
        Of(&["16777216", "67108864", "268435456"]),
        "the same as dirty-ratio, bytes",
    )
    .risk(CostsMemory)
    .felt(BufferedWrites),
    tunable(
        "dirty-background-bytes",
        "/proc/sys/vm/dirty_background_bytes",
        Of(&["4194304", "16777216", "67108864"]),
        "the same as dirty-background-ratio, bytes",
    )
    .risk(CostsMemory)
    .felt(BufferedWrites),
    tunable(
        "dirty-expire",
        "/proc/sys/vm/dirty_expire_centisecs",
        Of(&["500", "3000", "6000"]),
        "age at which dirty memory is written, 1/100 s",
    )
    .risk(LosesData)
    .felt(BufferedWrites),
    tunable(
        "dirty-interval",
        "/proc/sys/vm/dirty_writeback_centisecs",
        Of(&["100", "500", "1500"]),
        "how often write-back wakes, 1/100 s",
    )
    .risk(LosesData)
    .felt(BufferedWrites),
    tunable(
        "cache-pressure",
        "/proc/sys/vm/vfs_cache_pressure",
        Of(&["50", "100", "200"]),
        "memory for names and inodes against pages",
    )
    .felt(MemoryPressure),
    tunable(
        "swap-cluster",
        "/proc/sys/vm/page-cluster",
        Of(&["0", "3", "5"]),
        "pages that come back from swap at once, as a power of two",
    )
    .felt(MemoryPressure),
    tunable("free-memory", "/proc/sys/vm/min_free_kbytes", Of(&[]), "memory that stays free, KiB").felt(MemoryPressure),
    tunable("huge-pages", "/sys/kernel/mm/transparent_hugepage/enabled", Offered, "huge pages without being asked for")
        .risk(CostsMemory),
    tunable(
        "defragmentation",
        "/sys/kernel/mm/transparent_hugepage/defrag",
        Offered,
        "whether a huge page is waited for",
    )
    .risk(CostsMemory),
    tunable(
        "io-polling",
        "/sys/module/nvme/parameters/poll_queues",
        Of(&[]),
        "queues that are polled; from the next load of the driver",
    )
    .felt(NextStart),
];

/// What a tunable is on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunableState {
    /// Its file.
    pub path: ValuePath,
    /// What it holds.
    pub now: String,
    /// Other values that are worth a try.
    pub candidates: Vec<String>,
    /// Why it cannot be changed, if it cannot.
    pub fixed: Option<String>,
}

impl Tunable {
    /// The one of this name.
    ///
    /// # Errors
    /// [`SettingError::Unknown`] with the nearest name.
    pub fn named(name: &str) -> Result<&'static Self> {
        TUNABLES.iter().find(|t| t.name == name).ok_or_else(|| {
            let near = TUNABLES.iter().map(|t| (strsim::damerau_levenshtein(name, t.name), t.name)).min();
            let near = near.filter(|(far, _)| *far <= 3).map(|(_, near)| near);
            let near = Self::of_file(name).map(|t| t.name).or(near);
            SettingError::Unknown { name: name.to_owned(), near }
        })
    }

    /// The one whose files are called so in the kernel: `nr_requests`.
    pub fn of_file(name: &str) -> Option<&'static Self> {
        // A name without one may be that of something else.
        TUNABLES.iter().find(|t| name.contains('_') && t.pattern.rsplit('/').next() == Some(name))
    }

    /// Its files on the path to a target, with what they hold. Empty where this machine or this path has none.
    pub fn on(&self, stack: &Stack, tree: &Tree) -> Vec<TunableState> {
        let places = paths(self.pattern, stack, tree).unwrap_or_default();
        places.iter().filter_map(|path| self.tuned(ValuePath::new(path).ok()?, tree)).collect()
    }

    fn tuned(&self, path: ValuePath, tree: &Tree) -> Option<TunableState> {
        let now = tree.read(&path).ok()?;
        let mut candidates = self.candidates(&path, &now, tree);
        candidates.retain(|c| !same_value(c, &now));
        let fixed = tree.writable(&path).err().map(|e| e.to_string());
        Some(TunableState { path, now, candidates, fixed })
    }

    fn candidates(&self, path: &ValuePath, now: &str, tree: &Tree) -> Vec<String> {
        let words = |text: String| text.split_whitespace().map(|w| w.trim_matches(['[', ']']).to_owned()).collect();
        let number = |name: &str| tree.read(&path.sibling(name)).ok()?.parse::<u64>().ok();
        match &self.worth {
            Offered => tree.text(path).map_or_else(|_| Vec::new(), words),
            ListedIn(beside) => tree.text(&path.sibling(beside)).map_or_else(|_| Vec::new(), words),
            Of(values) => values.iter().map(|v| (*v).to_owned()).collect(),
            UpTo(least, beside) => {
                let most = number(beside).unwrap_or(0).min(LARGEST_REQUEST_KIB);
                let doubled = std::iter::successors(Some(*least), |n| n.checked_mul(2)).take_while(|n| *n < most);
                doubled.chain((most > 0).then_some(most)).map(|n| n.to_string()).collect()
            }
            Halved => {
                let now = now.parse::<u64>().unwrap_or(0);
                std::iter::successors(Some(now / 2), |n| Some(n / 2))
                    .take_while(|n| *n > 0)
                    .map(|n| n.to_string())
                    .collect()
            }
            Processors => {
                let online = ValuePath::new("/sys/devices/system/cpu/online").and_then(|p| tree.read(&p));
                let Ok(online) = online else { return Vec::new() };
                let each = online.split(',').filter_map(range).flatten().map(|cpu| cpu.to_string());
                each.chain([online.clone()]).collect()
            }
        }
    }
}

/// `3` or `0-3` of a list of processors; no more than a machine has (k:kernel/Kconfig, NR_CPUS is 8192 at most).
fn range(part: &str) -> Option<std::ops::RangeInclusive<u32>> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    Some(first.parse().ok()?..=last.parse().ok().filter(|last| *last < 8192)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::tree;
    use model::{Layer, LayerKind};

    fn stack() -> Stack {
        let disk = Layer {
            counted: true,
            device: Some(model::DeviceId { major: 8, minor: 0 }),
            ..Layer::new(LayerKind::Disk, "sda")
        };
        Stack { mount: None, layers: vec![Layer::new(LayerKind::Filesystem, "ext4"), disk].into() }
    }

    #[test]
    fn names_are_told_apart_and_near_ones_suggested() {
        let mut names: Vec<&str> = TUNABLES.iter().map(|t| t.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TUNABLES.len());
        assert_eq!(Tunable::named("read-ahead").unwrap().pattern, "/sys/block/{disk}/queue/read_ahead_kb");
        let unknown = Tunable::named("readahead").unwrap_err().to_string();
        assert!(unknown.contains("read-ahead"), "{unknown}");
        let of_kernel = Tunable::named("nr_requests").unwrap_err().to_string();
        assert!(of_kernel.contains("did you mean requests?"), "{of_kernel}");
        assert_eq!(Tunable::of_file("nr_requests").map(|t| t.name), Some("requests"));
        assert!(Tunable::of_file("scheduler").is_none() && Tunable::of_file("no_such").is_none());
        assert!(!Tunable::named("nonsense").unwrap_err().to_string().contains("did you mean"));
    }

    #[test]
    fn what_is_there_has_its_value_and_others_worth_a_try() {
        let (_kept, tree) = tree(&[
            ("sys/block/sda/queue/scheduler", "none [mq-deadline] kyber\n"),
            ("sys/block/sda/queue/max_sectors_kb", "128\n"),
            ("sys/block/sda/queue/max_hw_sectors_kb", "320\n"),
            ("sys/block/sda/device/queue_depth", "31\n"),
            ("sys/devices/system/cpu/online", "0-1,3\n"),
            ("proc/irq/24/smp_affinity_list", "0-1\n"),
            ("sys/devices/pci/ata1/msi_irqs/24", "msi\n"),
            ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors", "performance powersave\n"),
            ("sys/devices/system/cpu/cpufreq/policy4/scaling_governor", "performance\n"),
        ]);
        let on = |name: &str| Tunable::named(name).unwrap().on(&stack(), &tree);
        assert_eq!(on("scheduler")[0].now, "mq-deadline");
        assert_eq!(on("scheduler")[0].candidates, ["none", "kyber"]);
        assert_eq!(on("request-size")[0].candidates, ["64", "256", "320"]);
        assert_eq!(on("queue-depth")[0].candidates, ["15", "7", "3", "1"]);
        let governors: Vec<_> = on("governor").into_iter().map(|t| (t.path.to_string(), t.now, t.candidates)).collect();
        assert_eq!(governors.len(), 2);
        assert_eq!(governors[0].1, "powersave");
        assert_eq!(governors[0].2, ["performance"]);
        assert!(governors[1].0.contains("policy4") && governors[1].2.is_empty());
        assert!(on("read-ahead").is_empty());
    }

    #[test]
    fn a_file_system_without_a_block_device_reads_ahead_by_its_own_number() {
        let (_kept, tree) =
            tree(&[("sys/class/bdi/0:40/read_ahead_kb", "128\n"), ("sys/class/bdi/cifs-1/read_ahead_kb", "4096\n")]);
        let mut fs = Layer::new(LayerKind::Filesystem, "nfs4");
        let on = |fs: &Layer| {
            let stack = Stack { mount: None, layers: vec![fs.clone()].into() };
            Tunable::named("read-ahead").unwrap().on(&stack, &tree)
        };
        assert!(on(&fs).is_empty(), "its number is not known");
        fs.set(model::facts::BDI, "0:40");
        let found = on(&fs);
        assert_eq!(
            (found[0].path.to_string().as_str(), found[0].now.as_str()),
            ("/sys/class/bdi/0:40/read_ahead_kb", "128")
        );
        assert_eq!(found[0].candidates, ["0", "512", "1024", "4096", "8192"]);
        fs.set(model::facts::BDI, "cifs-1");
        assert_eq!(on(&fs)[0].now, "4096");
        for elsewhere in ["../../x:1", "../../x-1", "x-", "-1", "0:"] {
            fs.set(model::facts::BDI, elsewhere);
            assert!(on(&fs).is_empty(), "{elsewhere}");
        }
    }
}
