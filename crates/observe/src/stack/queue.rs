//! The request queue of a block device: `queue/*`, `mq/*`, `inflight` (k:Documentation/ABI/stable/sysfs-block).

use crate::facts;
use crate::root::{Root, natural};
use model::{CompactSort as _, Fact, Layer};

/// The choice in brackets: `[none] mq-deadline`; a list without brackets (`none`) is its own choice.
pub(crate) fn bracketed(text: &str) -> Option<String> {
    let chosen = text.split_ascii_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
    chosen.or_else(|| text.split_ascii_whitespace().next()).map(str::to_owned)
}

/// Attributes that are one whole number.
const NUMBERS: [(&str, &str); 22] = [
    (facts::NR_REQUESTS, "nr_requests"),
    (facts::READ_AHEAD_KB, "read_ahead_kb"),
    (facts::MAX_SECTORS_KB, "max_sectors_kb"),
    (facts::MAX_HW_SECTORS_KB, "max_hw_sectors_kb"),
    (facts::MAX_SEGMENTS, "max_segments"),
    (facts::MAX_SEGMENT_SIZE_BYTES, "max_segment_size"),
    (facts::VIRT_BOUNDARY_MASK, "virt_boundary_mask"),
    (facts::NOMERGES, "nomerges"),
    (facts::RQ_AFFINITY, "rq_affinity"),
    (facts::WBT_LAT_USEC, "wbt_lat_usec"),
    (facts::LOGICAL_BLOCK_SIZE_BYTES, "logical_block_size"),
    (facts::PHYSICAL_BLOCK_SIZE_BYTES, "physical_block_size"),
    (facts::MINIMUM_IO_SIZE_BYTES, "minimum_io_size"),
    (facts::OPTIMAL_IO_SIZE_BYTES, "optimal_io_size"),
    (facts::DISCARD_GRANULARITY_BYTES, "discard_granularity"),
    (facts::CHUNK_SECTORS, "chunk_sectors"),
    (facts::MAX_DISCARD_BYTES, "discard_max_bytes"),
    (facts::MAX_HW_DISCARD_BYTES, "discard_max_hw_bytes"),
    (facts::WRITE_ZEROES_MAX_BYTES, "write_zeroes_max_bytes"),
    (facts::MAX_DISCARD_SEGMENTS, "max_discard_segments"),
    (facts::ATOMIC_WRITE_MAX_BYTES, "atomic_write_max_bytes"),
    (facts::IO_TIMEOUT_MS, "io_timeout"),
];
/// Attributes that are yes or no.
const FLAGS: [(&str, &str); 6] = [
    (facts::IO_POLL, "io_poll"),
    (facts::FUA, "fua"),
    (facts::ROTATIONAL, "rotational"),
    (facts::STABLE_WRITES, "stable_writes"),
    (facts::DAX, "dax"),
    (facts::IO_STATISTICS, "iostats"),
];
/// More hardware queues than any device has.
const HARDWARE_QUEUE_LIMIT: usize = 1_024;
/// Settings of one scheduler; bfq has about fifteen.
const SETTINGS_LIMIT: usize = 32;

/// Sets all facts of the queue of the device in `directory`.
pub(super) fn set(root: &Root, layer: &mut Layer, directory: &str) {
    let queue = |file: &str| format!("{directory}/queue/{file}");
    let schedulers = root.text(&queue("scheduler"));
    layer.set(facts::SCHEDULER, schedulers.as_deref().and_then(bracketed));
    let available = schedulers.as_deref().map(|s| {
        let names = s.split_ascii_whitespace().map(|w| w.trim_matches(['[', ']']).to_owned());
        names.collect::<Vec<String>>()
    });
    layer.set(facts::SCHEDULERS_AVAILABLE, available);
    for (fact, file) in NUMBERS {
        layer.set(fact, root.number::<u64>(&queue(file)));
    }
    for (fact, file) in FLAGS {
        layer.set(fact, root.flag(&queue(file)));
    }
    layer.set(facts::WRITE_CACHE, root.text(&queue("write_cache")));
    layer.set(facts::ZONED, root.text(&queue("zoned")));
    let alignment: Option<u64> = root.number(&queue("dma_alignment"));
    layer.set(facts::DMA_ALIGNMENT_BYTES, alignment.and_then(|mask| mask.checked_add(1)));
    let offset = root.number::<i64>(&format!("{directory}/alignment_offset"));
    layer.set(facts::QUEUE_ALIGNMENT_OFFSET_BYTES, offset);
    let settings: Vec<String> = root
        .list(&queue("iosched"))
        .into_iter()
        .take(SETTINGS_LIMIT)
        .filter_map(|name| root.text(&queue(&format!("iosched/{name}"))).map(|value| format!("{name}={value}")))
        .collect();
    layer.set(facts::SCHEDULER_SETTINGS, (!settings.is_empty()).then_some(settings));
    hardware_queues(root, layer, directory);
    let in_flight = root.text(&format!("{directory}/inflight")).unwrap_or_default();
    let mut in_flight = in_flight.split_ascii_whitespace().map(|n| n.parse::<u64>().ok());
    layer.set(facts::IN_FLIGHT_READS, in_flight.next().flatten());
    layer.set(facts::IN_FLIGHT_WRITES, in_flight.next().flatten());
}

fn hardware_queues(root: &Root, layer: &mut Layer, directory: &str) {
    let mut hardware = root.list(&format!("{directory}/mq"));
    hardware.retain(|q| q.bytes().all(|b| b.is_ascii_digit()));
    hardware.compact_sort_by(|a, b| natural(a, b));
    layer.set(facts::HARDWARE_QUEUES, Some(hardware.len() as u64).filter(|n| *n > 0));
    layer.set(facts::QUEUE_TAGS, root.number::<u64>(&format!("{directory}/mq/0/nr_tags")));
    let cpus = hardware.iter().take(HARDWARE_QUEUE_LIMIT);
    let cpus: Vec<String> = cpus.filter_map(|q| root.text(&format!("{directory}/mq/{q}/cpu_list"))).collect();
    layer.set(facts::QUEUE_CPUS, if cpus.is_empty() { Fact::Null } else { cpus.into() });
}
