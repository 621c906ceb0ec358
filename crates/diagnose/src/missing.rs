//! How to get what a condition lacks.

/// Read from debugfs, which only root may see.
const DEBUGFS: &str = "run as root with debugfs mounted: mount -t debugfs none /sys/kernel/debug";
const KERNEL_LOG: &str = "run as root, or with kernel.dmesg_restrict=0, to read the kernel's messages";
const CHECK: &str = "narrows check TARGET measures it";

/// One line for a person: how to get the fact or measurement of that name.
pub fn how_to_get(missing: &str) -> &'static str {
    match missing {
        "bus_mode" | "bus_width" | "clock_hz" | "clock_requested_hz" | "signal_voltage" | "mmc_host_modes"
        | "mmc_host_cqe" | "mmc_error_kinds" | "emmc_cache_bytes" | "emmc_cache_on" => DEBUGFS,
        "kernel log" | "kernel log since boot" => KERNEL_LOG,
        "direct I/O proof" => "narrows check TARGET on kernel 6.1 or later (STATX_DIOALIGN)",
        "system samples" | "quiet windows" | "interrupts_by_cpu" => CHECK,
        "a direct read phase of an MTD device" => "narrows run on the /dev/mtdblock device, reading directly",
        "a phase that reads and writes at once" => {
            "narrows run of a job that reads and writes at once through the page cache"
        }
        "environment: machine" => "mount /sys (DMI) or /proc/device-tree: the board is not known",
        "environment: kernel" => "mount /proc: the kernel's release is not known",
        "environment: clock source" => "mount /sys: /sys/devices/system/clocksource is not there",
        "environment: io_uring_disabled" => "kernel 6.6 or later, with /proc mounted: kernel.io_uring_disabled",
        "processors" | "cpus_online" => "mount /sys: /sys/devices/system/cpu/online is not there",
        "driver" | "transport" => "mount /sys: the device's place and driver are not known",
        "raspberry_pi_throttled" => {
            "a kernel with the firmware's get_throttled attribute, or: vcgencmd get_throttled (root, group video)"
        }
        "cpu_governors" | "io_is_busy" | "cpu_max_khz" | "cpu_limit_khz" => {
            "mount /sys; a machine without cpufreq, or a guest, has none"
        }
        "app_performance_class" | "uhs_grade" | "allocation_unit_bytes" => {
            "kernel 4.14 or later shows the card's status: /sys/block/mmcblkN/device/ssr"
        }
        "sata_speed_gbit_s" | "sata_speed_max_gbit_s" | "ata_speed_downshifts" | "ata_dma_mode" | "ata_trim" => {
            "mount /sys: the port has no /sys/class/ata_link or ata_device entry"
        }
        "link_power_policy" | "ncq_host" | "ahci_64bit_dma" | "ahci_fbs" => {
            "mount /sys: /sys/class/scsi_host/hostN of the port shows it, where the driver is an AHCI one"
        }
        "health_ok" | "interface_crc_errors" | "throttled_minutes" => {
            "run as root to read the drive's health record (SMART); some drives and bridges keep none"
        }
        "ebs_volume_iops_exceeded_run_us" => {
            "run narrows check as root: an EBS volume's own counters, begin against end"
        }
        "sunxi_ahci_p0dmacr" => {
            "as root: narrows inspect TARGET --read-registers; or narrows check TARGET compares writing with reading"
        }
        "ata_sata_generation" => "/sys/class/ata_device/*/id of the disk was not readable",
        "lazy_init_running" => "mount /proc without hidepid, or run as root, to see the kernel's threads",
        "dm_type" => "run as root to see the mapping's UUID, or: dmsetup info -C",
        name if name.starts_with("pcie_") => "mount /sys: the PCI device's link attributes are not there",
        name if is_metric(name) => CHECK,
        _ => "this kernel or driver does not have it; narrows inspect TARGET --json names the file",
    }
}

/// `<phase>.<quantity>`; names of facts have no dot.
fn is_metric(name: &str) -> bool {
    name.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_and_root_only_facts_say_how() {
        assert_eq!(how_to_get("rand-read-qd32.iops"), CHECK);
        assert!(how_to_get("clock_hz").contains("debugfs"));
        assert!(how_to_get("pcie_width").contains("link attributes"));
        for name in model::facts::ALL.iter().map(|fact| fact.name) {
            assert!(!how_to_get(name).is_empty() && !how_to_get(name).ends_with('.'), "{name}");
        }
    }
}
