//! The names of the facts this room reads: one table, so that they can be checked against what `observe` sets.
//!
//! `observe` may not be imported here; `xtask` compares [`FACT_NAMES`] with `observe`'s own table.

macro_rules! names {
    ($($constant:ident = $name:literal;)+) => {
        $(pub(crate) const $constant: &str = $name;)+
        /// Every fact name that a condition or a cause of this room reads.
        pub const FACT_NAMES: &[&str] = &[$($name,)+];
    };
}

names! {
    ALIGNED = "aligned";
    ALIGNMENT_OFFSET_BYTES = "alignment_offset_bytes";
    APP_PERFORMANCE_CLASS = "app_performance_class";
    BUS_MODE = "bus_mode";
    CGROUP_READ_BYTES_PER_S = "cgroup_read_bytes_per_s";
    CGROUP_READ_IOPS = "cgroup_read_iops";
    CGROUP_WRITE_BYTES_PER_S = "cgroup_write_bytes_per_s";
    CGROUP_WRITE_IOPS = "cgroup_write_iops";
    CHECKSUMS = "checksums";
    CLOCK_HZ = "clock_hz";
    CMDQ_EN = "cmdq_en";
    CPU_GOVERNORS = "cpu_governors";
    DEGRADED = "degraded";
    DIO = "dio";
    DM_TYPE = "dm_type";
    FSTYPE = "fstype";
    HARDWARE_QUEUES = "hardware_queues";
    IO_IS_BUSY = "io_is_busy";
    LAZY_INIT_RUNNING = "lazy_init_running";
    LINK_POWER_POLICY = "link_power_policy";
    MAX_HW_SECTORS_KB = "max_hw_sectors_kb";
    MAX_SECTORS_KB = "max_sectors_kb";
    MMC_HOST_CQE = "mmc_host_cqe";
    MMC_HOST_MODES = "mmc_host_modes";
    MMC_REVISION = "mmc_revision";
    MMC_TYPE = "mmc_type";
    MOUNT_SOURCE = "mount_source";
    NCQ_HOST = "ncq_host";
    NVME_MAX_HOST_MEM_SIZE_MB = "nvme_max_host_mem_size_mb";
    NVME_HMB = "nvme_hmb";
    PCI_CLASS = "pci_class";
    PCIE_MAX_SPEED_GT_S = "pcie_max_speed_gt_s";
    PCIE_MAX_WIDTH = "pcie_max_width";
    PCIE_PORT_MAX_SPEED_GT_S = "pcie_port_max_speed_gt_s";
    PCIE_PORT_MAX_WIDTH = "pcie_port_max_width";
    PCIE_SPEED_GT_S = "pcie_speed_gt_s";
    PCIE_WIDTH = "pcie_width";
    QUEUE_DEPTH = "queue_depth";
    RASPBERRY_PI_THROTTLED = "raspberry_pi_throttled";
    READ_AHEAD_KB = "read_ahead_kb";
    REALISTIC_BYTES_PER_S = "realistic_bytes_per_s";
    ROTATIONAL = "rotational";
    SATA_SPEED_GBIT_S = "sata_speed_gbit_s";
    SATA_SPEED_MAX_GBIT_S = "sata_speed_max_gbit_s";
    ATA_SPEED_DOWNSHIFTS = "ata_speed_downshifts";
    SCHEDULER = "scheduler";
    SD_CARD_QUEUE_DEPTH = "sd_card_queue_depth";
    SIGNAL_VOLTAGE = "signal_voltage";
    START_BYTES = "start_bytes";
    SYNC_ACTION = "sync_action";
    SYNC_MOUNT = "sync_mount";
    TRANSPORT = "transport";
    UHS_GRADE = "uhs_grade";
    USB_DRIVER = "usb_driver";
    USB_SPEED_MBIT_S = "usb_speed_mbit_s";
    USB_UAS_CAPABLE = "usb_uas_capable";
    USB_VERSION = "usb_version";
    WRITE_CACHE = "write_cache";
}

#[cfg(test)]
mod tests {
    use super::FACT_NAMES;

    #[test]
    fn no_name_is_listed_twice() {
        let mut names = FACT_NAMES.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FACT_NAMES.len());
    }
}
