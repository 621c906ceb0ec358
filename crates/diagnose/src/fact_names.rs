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
    AER_CORRECTABLE = "aer_correctable";
    AER_UNCORRECTABLE = "aer_uncorrectable";
    AHCI_64BIT_DMA = "ahci_64bit_dma";
    AHCI_FBS = "ahci_fbs";
    ALIGNED = "aligned";
    ALIGNMENT_OFFSET_BYTES = "alignment_offset_bytes";
    ALLOCATION_UNIT_BYTES = "allocation_unit_bytes";
    APP_PERFORMANCE_CLASS = "app_performance_class";
    ARCHITECTURE = "architecture";
    ATA_DMA_MODE = "ata_dma_mode";
    ATA_ERRORS = "ata_errors";
    ATA_NCQ_DEPTH = "ata_ncq_depth";
    ATA_SATA_GENERATION = "ata_sata_generation";
    ATA_SPEED_DOWNSHIFTS = "ata_speed_downshifts";
    ATA_TRIM = "ata_trim";
    ATA_WRITE_CACHE_ENABLED = "ata_write_cache_enabled";
    BACKING = "backing";
    BARRIERS = "barriers";
    BUS_MODE = "bus_mode";
    BUS_WIDTH = "bus_width";
    CGROUP_CPU_PROCESSORS = "cgroup_cpu_processors";
    CGROUP_MEMORY_BYTES = "cgroup_memory_bytes";
    CGROUP_READ_BYTES_PER_S = "cgroup_read_bytes_per_s";
    CGROUP_READ_IOPS = "cgroup_read_iops";
    CGROUP_WRITE_BYTES_PER_S = "cgroup_write_bytes_per_s";
    CGROUP_WRITE_IOPS = "cgroup_write_iops";
    CHECKSUMS = "checksums";
    CLOCK_HZ = "clock_hz";
    CLOCK_REQUESTED_HZ = "clock_requested_hz";
    CMDQ_EN = "cmdq_en";
    COMMIT_INTERVAL_S = "commit_interval_s";
    CPUS_ONLINE = "cpus_online";
    CPU_GOVERNORS = "cpu_governors";
    CPU_LIMIT_KHZ = "cpu_limit_khz";
    CPU_MAX_KHZ = "cpu_max_khz";
    DEGRADED = "degraded";
    DIO = "dio";
    DM_TYPE = "dm_type";
    EBS_INSTANCE_BYTES_EXCEEDED_RUN_US = "ebs_instance_bytes_exceeded_run_us";
    EBS_INSTANCE_IOPS_EXCEEDED_RUN_US = "ebs_instance_iops_exceeded_run_us";
    EBS_VOLUME_BYTES_EXCEEDED_RUN_US = "ebs_volume_bytes_exceeded_run_us";
    EBS_VOLUME_IOPS_EXCEEDED_RUN_US = "ebs_volume_iops_exceeded_run_us";
    EMMC_CACHE_BYTES = "emmc_cache_bytes";
    EMMC_CACHE_ON = "emmc_cache_on";
    EMMC_MODES = "emmc_modes";
    EMMC_QUEUE_SUPPORTED = "emmc_queue_supported";
    EMULATED = "emulated";
    FSTYPE = "fstype";
    HARDWARE_QUEUES = "hardware_queues";
    HEALTH_OK = "health_ok";
    HEALTH_WARNINGS = "health_warnings";
    INTERFACE_CRC_ERRORS = "interface_crc_errors";
    IO_IS_BUSY = "io_is_busy";
    IO_STATISTICS = "io_statistics";
    JOURNAL_MODE = "journal_mode";
    KERNEL_LOG_STORAGE = "kernel_log_storage";
    LAZY_INIT_RUNNING = "lazy_init_running";
    LIFE_TIME = "life_time";
    LINK_POWER_POLICY = "link_power_policy";
    MANFID = "manfid";
    MAX_HW_SECTORS_KB = "max_hw_sectors_kb";
    MAX_SECTORS_KB = "max_sectors_kb";
    MAX_SEGMENTS = "max_segments";
    MD_LEVEL = "md_level";
    MEDIA_ERRORS = "media_errors";
    MEMORY_BYTES = "memory_bytes";
    MMC_ERROR_KINDS = "mmc_error_kinds";
    MMC_HOST = "mmc_host";
    MMC_HOST_CQE = "mmc_host_cqe";
    MMC_HOST_MODES = "mmc_host_modes";
    MMC_REVISION = "mmc_revision";
    MMC_TYPE = "mmc_type";
    MODEL = "model";
    MOUNT_OPTIONS = "mount_options";
    MOUNT_SOURCE = "mount_source";
    MTD_FLASH_DRIVER = "mtd_flash_driver";
    MTD_JEDEC_ID = "mtd_jedec_id";
    MTD_BANK_WIDTH_BYTES = "mtd_bank_width_bytes";
    MTD_TYPE = "mtd_type";
    NCQ_HOST = "ncq_host";
    NOMERGES = "nomerges";
    NVME_HMB = "nvme_hmb";
    NVME_MAX_HOST_MEM_SIZE_MB = "nvme_max_host_mem_size_mb";
    NVME_PS_MAX_LATENCY_US = "nvme_ps_max_latency_us";
    OEMID = "oemid";
    ONLINE_DISCARD = "online_discard";
    PCIE_ASPM_L0S = "pcie_aspm_l0s";
    PCIE_ASPM_L1 = "pcie_aspm_l1";
    PCIE_ASPM_POLICY = "pcie_aspm_policy";
    PCIE_MAX_SPEED_GT_S = "pcie_max_speed_gt_s";
    PCIE_MAX_WIDTH = "pcie_max_width";
    PCIE_NARROWEST = "pcie_narrowest";
    PCIE_NARROWEST_MAX_SPEED_GT_S = "pcie_narrowest_max_speed_gt_s";
    PCIE_NARROWEST_MAX_WIDTH = "pcie_narrowest_max_width";
    PCIE_PORT_MAX_SPEED_GT_S = "pcie_port_max_speed_gt_s";
    PCIE_PORT_MAX_WIDTH = "pcie_port_max_width";
    PCIE_SPEED_GT_S = "pcie_speed_gt_s";
    PCIE_WIDTH = "pcie_width";
    PCI_ADDRESS = "pci_address";
    PCI_CLASS = "pci_class";
    PCI_VENDOR_ID = "pci_vendor_id";
    PENDING_SECTORS = "pending_sectors";
    PORT_MULTIPLIER = "port_multiplier";
    PRE_EOL = "pre_eol";
    QUEUE_DEPTH = "queue_depth";
    RAID_DISKS = "raid_disks";
    RASPBERRY_PI_THROTTLED = "raspberry_pi_throttled";
    READ_AHEAD_KB = "read_ahead_kb";
    REALISTIC_BYTES_PER_S = "realistic_bytes_per_s";
    REALLOCATED_SECTORS = "reallocated_sectors";
    REMAPPED_NVME = "remapped_nvme";
    ROTATIONAL = "rotational";
    SATA_SPEED_GBIT_S = "sata_speed_gbit_s";
    SATA_SPEED_LIMIT_GBIT_S = "sata_speed_limit_gbit_s";
    SATA_SPEED_MAX_GBIT_S = "sata_speed_max_gbit_s";
    SCHEDULER = "scheduler";
    SD_BUS_WIDTHS = "sd_bus_widths";
    SD_CARD_QUEUE_DEPTH = "sd_card_queue_depth";
    SERIAL = "serial";
    SIGNAL_VOLTAGE = "signal_voltage";
    SPI_FAST_READ = "spi_fast_read";
    SPI_MAX_HZ = "spi_max_hz";
    SPI_READ_LINES = "spi_read_lines";
    START_BYTES = "start_bytes";
    STRIPE_CACHE_SIZE = "stripe_cache_size";
    SUNXI_AHCI_P0DMACR = "sunxi_ahci_p0dmacr";
    SYNC_ACTION = "sync_action";
    SYNC_MOUNT = "sync_mount";
    TEMPERATURE_C = "temperature_c";
    THROTTLED_MINUTES = "throttled_minutes";
    TRANSPORT = "transport";
    UHS_GRADE = "uhs_grade";
    USB_DRIVER = "usb_driver";
    USB_ID = "usb_id";
    USB_PATH = "usb_path";
    USB_PRODUCT = "usb_product";
    USB_SPEED_MBIT_S = "usb_speed_mbit_s";
    USB_STORAGE_QUIRKS = "usb_storage_quirks";
    USB_UAS_CAPABLE = "usb_uas_capable";
    USB_VERSION = "usb_version";
    WBT_LAT_USEC = "wbt_lat_usec";
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
