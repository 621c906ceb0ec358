//! The catalogue: one text per finding, its condition beside it, and their evaluation.
//!
//! Texts are TOML files in `findings/`, packed into the binary (`build.rs`); [`ENTRIES`] is the one list of them. A text is `confirmed` when its
//! condition and its mechanism were read in a primary source (kernel source or documentation, a specification);
//! otherwise it is `probable`, and so is every finding made from it.

use crate::conditions::{self, Decision, NoCase};
use crate::missing;
use crate::stack_view::Missing;
use crate::subject::Subject;
use model::{CatalogueStatus, CompactSort as _, Confidence, Finding, FindingText, Undecided};
use std::collections::BTreeMap;
use std::sync::OnceLock;

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/findings.z"));

type Condition = fn(&Subject<'_>) -> Decision;

macro_rules! entries {
    ($($id:literal => $condition:path;)+) => {
        /// Every finding: its id, which is its text's name, and its condition.
        const ENTRIES: &[(&str, Condition)] = &[$(($id, $condition),)+];
    };
}

entries! {
    "sd-a2-without-queue" => conditions::mmc::sd_a2_without_queue;
    "sdr104-derated" => conditions::mmc::sdr104_derated;
    "sd-high-speed-only" => conditions::mmc::sd_high_speed_only;
    "emmc-without-queue" => conditions::mmc::emmc_without_queue;
    "emmc-cache-off" => conditions::mmc::emmc_cache_off;
    "mmc-bus-errors" => conditions::mmc_bus::errors;
    "emmc-below-host-mode" => conditions::mmc_bus::emmc_below_host_mode;
    "mmc-one-data-line" => conditions::mmc_bus::one_data_line;
    "mmc-clock-below-request" => conditions::mmc_bus::clock_below_request;
    "pi5-sd-queue-off" => conditions::sd_card::pi5_queue_off;
    "cqe-recovery" => conditions::sd_card::queue_recovery;
    "sd-counterfeit" => conditions::sd_card::counterfeit_identity;
    "emmc-slow-with-cmd23" => conditions::sd_card::slow_with_block_count;
    "emmc-worn" => conditions::sd_card::worn;
    "partition-off-allocation-unit" => conditions::sd_card::partition_off_allocation_unit;
    "ide-mode" => conditions::sata::ide_mode;
    "sata-link-downshift" => conditions::sata::link_downshift;
    "sata-older-port" => conditions::sata::older_port;
    "sata-cable-errors" => conditions::health::cable_errors;
    "disk-unwell" => conditions::health::predicts_failure;
    "no-ncq" => conditions::sata::no_ncq;
    "a20-sata-fifo" => conditions::sata::a20_fifo;
    "link-power-management" => conditions::sata::link_power_management;
    "ahci-host-without-ncq" => conditions::ahci::host_without_ncq;
    "ncq-samsung-on-ati" => conditions::ahci::samsung_on_ati;
    "ahci-short-dma" => conditions::ahci::short_addresses;
    "port-multiplier-serialised" => conditions::ahci::multiplier_serialised;
    "ata-slow-transfer-mode" => conditions::ahci::slow_transfer_mode;
    "ata-errors" => conditions::ahci::errors_recorded;
    "nvme-remapped" => conditions::ahci::remapped_nvme;
    "usb-bulk-only" => conditions::usb::bulk_only;
    "usb2-speed" => conditions::usb::usb2_speed;
    "usb-uas-unused" => conditions::usb::uas_unused;
    "usb-uas-unstable" => conditions::usb::uas_unstable;
    "pcie-link-degraded" => conditions::pcie::link_degraded;
    "nvme-host-memory-off" => conditions::pcie::host_memory_off;
    "nvme-power-states" => conditions::nvme::power_states;
    "nvme-single-queue" => conditions::nvme::single_queue;
    "pi5-pcie-gen2" => conditions::nvme::pi5_gen2;
    "aspm-powersave" => conditions::nvme::aspm_powersave;
    "pcie-bus-errors" => conditions::nvme::bus_errors;
    "nvme-overheated" => conditions::health::overheated;
    "nor-flash-cpu-copy" => conditions::flash::nor_read_by_processor;
    "kernel-copies-narrowly" => conditions::copies::kernel_copies_narrowly;
    "spi-nor-slow-read" => conditions::flash::spi_nor_slow_read;
    "virtio-single-queue" => conditions::queue::virtio_single_queue;
    "write-through-cache" => conditions::queue::write_through_cache;
    "nfs-packets-lost" => conditions::nfs::packets_lost;
    "nfs-attributes-uncached" => conditions::nfs::attributes_uncached;
    "nfs-small-transfers" => conditions::nfs::small_transfers;
    "nfs-client-slots" => conditions::nfs::client_slots;
    "nfs-read-ahead-small" => conditions::nfs::read_ahead_small;
    "nfs-commit-each-sync" => conditions::nfs::commit_each_sync;
    "smb-cache-off" => conditions::shares::smb_cache_off;
    "smb-single-channel" => conditions::shares::smb_single_channel;
    "smb-small-transfers" => conditions::shares::smb_small_transfers;
    "smb-signing" => conditions::shares::smb_signing;
    "smb-reconnects" => conditions::shares::smb_reconnects;
    "smb-small-files" => conditions::shares::smb_small_files;
    "zfs-sync-always" => conditions::shares::zfs_sync_always;
    "zfs-large-records" => conditions::shares::zfs_large_records;
    "cloud-published-limit" => conditions::paths::cloud_published_limit;
    "nfs-soft-mount" => conditions::nfs::soft_mount;
    "read-ahead-small" => conditions::queue::read_ahead_small;
    "traffic-not-counted" => conditions::queue::traffic_not_counted;
    "split-requests" => conditions::queue::split_requests;
    "max-sectors-below-hardware" => conditions::queue::max_sectors_below_hardware;
    "bfq-on-nvme" => conditions::queue::bfq_on_nvme;
    "misaligned-partition" => conditions::queue::misaligned_partition;
    "merging-off" => conditions::queue::merging_off;
    "writeback-throttled" => conditions::durability::writeback_throttled;
    "btrfs-direct-fallback" => conditions::filesystem::btrfs_direct_fallback;
    "ntfs-fuse" => conditions::filesystem::ntfs_fuse;
    "sync-mount" => conditions::filesystem::sync_mount;
    "ext4-lazy-init" => conditions::filesystem::ext4_lazy_init;
    "ext4-data-journal" => conditions::durability::data_journal;
    "long-commit-interval" => conditions::durability::long_commit_interval;
    "barriers-off" => conditions::durability::barriers_off;
    "discard-unqueued" => conditions::durability::discard_unqueued;
    "loop-double-cache" => conditions::stacking::loop_double_cache;
    "dm-crypt-queues" => conditions::stacking::dm_crypt_queues;
    "raid-resync" => conditions::stacking::raid_resync;
    "raid-degraded" => conditions::stacking::raid_degraded;
    "raid5-stripe-cache" => conditions::stacking::raid5_stripe_cache;
    "dm-integrity-journal" => conditions::stacking::integrity_journal;
    "cgroup-limit" => conditions::stacking::cgroup_limit;
    "cgroup-cpu-quota" => conditions::host::processor_quota;
    "cpu-governor-ondemand" => conditions::host::governor_ondemand;
    "raspberry-pi-throttled" => conditions::host::raspberry_pi_throttled;
    "processor-throttled" => conditions::host::processor_throttled;
    "cpu-frequency-capped" => conditions::host::frequency_capped;
    "slow-clock-source" => conditions::host::slow_clock_source;
    "interrupts-on-one-processor" => conditions::host::interrupts_on_one_processor;
    "io-uring-off" => conditions::host::io_uring_off;
    "buffered-far-below-direct" => conditions::paths::buffered_far_below_direct;
    "buffered-write-cpu-bound" => conditions::paths::buffered_write_by_processor;
    "write-cache-exhausted" => conditions::paths::write_cache_exhausted;
    "virtual-disk-cap" => conditions::paths::virtual_disk_cap;
    "burst-credit-spent" => conditions::paths::burst_credit_spent;
    "ebs-limit-exceeded" => conditions::paths::ebs_limit_exceeded;
    "cpu-steal" => conditions::paths::cpu_steal;
    "foreign-traffic" => conditions::paths::foreign_traffic;
}

/// The whole catalogue, in its own order.
pub fn catalogue() -> &'static [FindingText] {
    static TEXTS: OnceLock<Vec<FindingText>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        // They are part of the program and a test reads each of them, so none of this can fail at run time.
        let unpacked = miniz_oxide::inflate::decompress_to_vec_zlib(PACKED).expect("what the build packed");
        let unpacked = String::from_utf8(unpacked).expect("a text");
        let parts: Vec<&str> = unpacked.split('\0').collect();
        let texts: BTreeMap<&str, &str> = parts.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        ENTRIES
            .iter()
            .map(|(id, _)| {
                let text = texts.get(id).unwrap_or_else(|| panic!("there is no findings/{id}.toml"));
                let parsed: FindingText = toml::from_str(text).unwrap_or_else(|e| panic!("findings/{id}.toml: {e}"));
                assert_eq!(parsed.id, *id, "findings/{id}.toml has another id inside");
                parsed
            })
            .collect()
    })
}

/// The page of a finding; `None` if there is no such id.
pub fn page(id: &str) -> Option<&'static FindingText> {
    catalogue().iter().find(|t| t.id == id)
}

fn evaluated<'a>(on: Subject<'a>) -> impl Iterator<Item = (&'static FindingText, Decision)> + use<'a> {
    catalogue().iter().zip(ENTRIES).map(move |(text, (_, condition))| (text, condition(&on)))
}

/// The findings that hold, the surest first, otherwise in the order of the catalogue.
pub fn findings(on: Subject<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = evaluated(on)
        .filter_map(|(text, check)| {
            let case = check.ok()?;
            let ceiling = match text.status {
                CatalogueStatus::Confirmed => Confidence::High,
                CatalogueStatus::Probable => Confidence::Probable,
            };
            Some(Finding {
                id: text.id.clone(),
                title: text.title.clone(),
                layer: text.layer,
                confidence: case.confidence.min(ceiling),
                evidence: case.evidence,
                gain: case.gain,
                fix: text.fix.clone(),
                source: text.sources.join("; "),
            })
        })
        .collect();
    findings.compact_sort_by_key(|f| std::cmp::Reverse(f.confidence));
    findings
}

/// Findings that could not be decided, each with what is missing and how to get it, in the order of the catalogue. Those
/// that have no meaning on this path (a card's on an NVMe drive) are not among them: they are decided.
pub fn unknown(on: Subject<'_>) -> Vec<Undecided> {
    evaluated(on)
        .filter_map(|(text, check)| {
            let NoCase::Unknown(Missing(missing)) = check.err()? else { return None };
            Some(Undecided {
                id: text.id.clone(),
                title: text.title.clone(),
                layer: text.layer,
                missing: missing.to_owned(),
                how_to_get: missing::how_to_get(missing).to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_complete_and_every_file_is_listed() {
        let listed: Vec<&str> = ENTRIES.iter().map(|e| e.0).collect();
        for text in catalogue() {
            let filled = [&text.title, &text.meaning, &text.gain_basis, &text.fix, &text.undo];
            assert!(filled.iter().all(|t| !t.is_empty() && t.trim() == **t), "{}: empty or untrimmed text", text.id);
            assert!(!text.evidence.is_empty() && !text.sources.is_empty(), "{} lacks evidence or sources", text.id);
            assert!(text.title.len() <= 60, "{}: the title does not fit a card", text.id);
            let first = text.fix.lines().next().unwrap_or_default();
            assert!(first.len() <= 100, "{}: the first line of the fix does not fit a card", text.id);
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/findings");
        for entry in std::fs::read_dir(folder).expect("the folder of texts") {
            let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
            let id = name.trim_end_matches(".toml");
            assert!(listed.contains(&id), "findings/{name} is not in ENTRIES");
        }
        assert!(page("no-such-finding").is_none());
    }
}
