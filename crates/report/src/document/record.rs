//! `narrows/record/1`, `narrows/recording/1`.

use serde::Serialize;
use std::collections::BTreeMap;

/// What became of the frames of a stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordStream {
    /// What it is called.
    pub name: String,
    /// Frames that came, lost ones too: as many as the other three together.
    pub received: u64,
    /// Frames that are on the storage, flushed.
    pub durable: u64,
    /// Frames that are neither durable nor lost.
    pub in_flight: u64,
    /// Frames that were lost, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
    /// Bytes of the frames that came.
    pub received_bytes: u64,
    /// Bytes of those that are durable.
    pub durable_bytes: u64,
    /// Time for which its producer was not read from, because the ring was full.
    pub blocked_s: f64,
}

/// For how long others stood still.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordDeferred {
    /// Who: processes and control groups.
    pub who: Vec<String>,
    /// In all, seconds.
    pub still_s: f64,
    /// How often.
    pub times: u64,
}

/// What came of a limit on one disk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordLimit {
    /// Directory of the control group.
    pub group: String,
    /// `weight`, `latency`, `read`, `write`, `read-iops`, `write-iops`.
    pub limit: &'static str,
    /// Its value: of a weight its number, of a latency nanoseconds, of rates bytes or operations a second.
    pub value: u64,
    /// The disk; null where it counts for all, or none is known.
    pub disk: Option<String>,
    /// Its number, major:minor.
    pub device: Option<String>,
    /// The file of the group that it was written to; null where there is none.
    pub file: Option<&'static str>,
    /// Whether it was read back as it was set, and something acts on it.
    pub in_effect: bool,
    /// Why not.
    pub reason: Option<String>,
    /// Whether what was there before is there again; null where nothing was written.
    pub put_back: Option<bool>,
    pub not_put_back: Option<String>,
}

/// What `narrows record --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/record/1")]
pub struct RecordDocument {
    /// Where it was recorded.
    pub target: String,
    /// The how manieth recording in the container it is.
    pub epoch: u32,
    pub streams: Vec<RecordStream>,
    /// How long it took, seconds; simulated where the target is.
    pub duration_s: f64,
    /// Bytes of durable frames over that time.
    pub throughput_bytes_per_s: f64,
    /// Bytes that were written to the storage, with heads and padding.
    pub written_bytes: u64,
    /// Bytes of frames that were copied between the ring and the storage.
    pub copied_bytes: u64,
    /// Those that were written from where they lay in the ring.
    pub uncopied_bytes: u64,
    /// Age of frames when they were acknowledged, median; null where none was.
    pub ack_ns_p50: Option<u64>,
    /// 99th percentile; null below 1,000 frames.
    pub ack_ns_p99: Option<u64>,
    /// The oldest.
    pub ack_ns_max: Option<u64>,
    /// What was asked of it, the flush apart.
    pub ack_ns_asked: u64,
    pub flushes: u64,
    /// The priority that writes have on this disk: `real-time`, before those of others, or `normal`; null where that is not known.
    pub priority_effective: Option<&'static str>,
    /// Why, or why not.
    pub priority_reason: String,
    /// The nice value that was asked for (`--nice`); null where none was.
    pub nice_asked: Option<i32>,
    /// That of the writer's thread, as it was read there; null where it could not be read.
    pub nice_effective: Option<i32>,
    /// The CPUs that were asked for (`--cpus`); null where none were.
    pub cpus_asked: Option<Vec<u32>>,
    /// Those on which the writer's thread may run, as they were read there; null where they could not be read.
    pub cpus_effective: Option<Vec<u32>>,
    /// For how long others stood still (`--defer`); null where none were to.
    pub deferred: Option<RecordDeferred>,
    /// What came of limits of control groups (`--limit`), by disk.
    pub limits: Vec<RecordLimit>,
    /// CPU of the writer for a GB that is durable, seconds.
    pub cpu_s_per_gb: Option<f64>,
    /// The same of the whole process, with what reads producers or makes frames up.
    pub process_cpu_s_per_gb: Option<f64>,
    /// Memory for frames on their way.
    pub ring_bytes: u64,
    /// The most of it that was used.
    pub ring_most_bytes: u64,
    /// What ended it before its producers did: `container-full`, `no-room`, `storage`.
    pub ended_by: Option<&'static str>,
    /// Writes and flushes that failed, after which what was not acknowledged was written elsewhere.
    pub storage_failures: u64,
    /// What the engine had to do without.
    pub missing: Vec<String>,
    /// What must be said with it.
    pub remarks: Vec<String>,
}

impl RecordDocument {
    /// Frames of all streams that came and are not durable.
    pub fn missing_frames(&self) -> u64 {
        self.streams.iter().map(|s| s.in_flight + s.dropped.values().sum::<u64>()).sum()
    }

    /// Whether no frame came.
    pub fn is_empty(&self) -> bool {
        self.streams.iter().all(|s| s.received == 0)
    }
}

/// What a recording holds of a stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordedStream {
    /// What it is called.
    pub name: String,
    /// `jpeg`, `opaque`.
    pub kind: &'static str,
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Frames that were lost before they were written.
    pub lost: u64,
    /// Arrival of the first.
    pub first: Option<String>,
    /// Arrival of the last.
    pub last: Option<String>,
}

/// What reading all of a recording showed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecordingChecked {
    /// Whether no frame that was acknowledged is missing or altered.
    pub whole: bool,
    /// Frames that were acknowledged and are as they were.
    pub frames: u64,
    /// Whole frames of the last moments, of which it is not known that they were acknowledged.
    pub unacknowledged: u64,
    /// Frames of the last moments that are not whole.
    pub torn: u64,
    /// What is wrong.
    pub damage: Vec<String>,
    /// Whether a damaged superblock was written anew.
    pub mended: bool,
    /// Room that was reserved and not used, and is free again.
    pub given_back_bytes: u64,
}

/// What `narrows record list`, `verify`, `recover` and `export` print with `--json`.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/recording/1")]
pub struct RecordingDocument {
    pub target: String,
    /// What is asked of it, as 32 hexadecimal digits.
    pub uuid: String,
    /// How many times it was recorded to.
    pub recordings: u32,
    /// `stop` or `wrap`.
    pub when_full: &'static str,
    /// Length of a segment.
    pub segment_bytes: u64,
    /// Segments that hold something, and all that there are.
    pub segments_used: u64,
    /// All that there are.
    pub segments: u64,
    pub streams: Vec<RecordedStream>,
    /// What is not overwritten, stretch by stretch.
    pub pinned: Vec<RecordingPinned>,
    /// What was overwritten, or not recorded, between what is there.
    pub gaps: Vec<RecordingGap>,
    /// Arrival of the oldest frame that is there, where older ones were overwritten.
    pub overwritten_before: Option<String>,
    /// Of a directory, which stands for its newest recording: the others in it.
    pub others: Vec<String>,
    /// What reading all of it showed; null where only its index was read.
    pub checked: Option<RecordingChecked>,
    /// Frames that were exported; null where none were to be.
    pub exported: Option<RecordingExported>,
}

/// Segments one behind the other that are not overwritten.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordingPinned {
    /// How many.
    pub segments: u64,
    /// Arrival of their first frame, RFC 3339; null where they hold none.
    pub first: Option<String>,
    pub last: Option<String>,
}

/// A time of which nothing is there, though there is something from before and after it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordingGap {
    /// Arrival of the last frame before it, RFC 3339.
    pub from: String,
    /// Arrival of the first frame after it.
    pub to: String,
    /// `overwritten`, or `not-recorded` between two recordings.
    pub why: &'static str,
}

/// What was exported.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordingExported {
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Frames that could not be read, or were overwritten meanwhile.
    pub unreadable: u64,
}

/// What `narrows record plan --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/record-plan/1")]
pub struct RecordPlanDocument {
    /// Which storage.
    pub target: String,
    /// How long it was written to, seconds.
    pub measured_s: f64,
    /// What was written meanwhile.
    pub bytes_written: u64,
    /// What it takes for long: its slower half; null where nothing was measured.
    pub sustained_bytes_per_s: Option<f64>,
    /// Its slowest second; null where it was not measured for a second.
    pub slowest_second_bytes_per_s: Option<f64>,
    /// The longest time in which nothing was written.
    pub longest_gap_ns: Option<u64>,
    pub slowest_flush_ns: u64,
    /// Streams that are planned for.
    pub streams: u32,
    /// Rate of each.
    pub stream_bytes_per_s: f64,
    /// The streams as they were asked for, where their rate is what is usual for such pictures; else null.
    pub assumed_rate: Option<String>,
    /// What it took before its rate fell for good, as at the end of a write cache; null where it did not fall.
    pub cache_bytes: Option<u64>,
    /// The run of `narrows fill` of the archive that knows what it takes after its cache, where there is one.
    pub fill_run: Option<String>,
    /// Up to how many bytes the answer is known, since nothing ended in what was written; null where it is for long.
    pub known_bytes: Option<u64>,
    /// How long the streams take to bring so much.
    pub known_s: Option<f64>,
    /// Whether it carries them without a loss, for as long as was asked; null where nothing was measured, or too little for a yes.
    pub carries: Option<bool>,
    /// How long it has to be written to at least, where that was too short; else null.
    pub needed_s: Option<f64>,
    /// About what has to be written for an answer, where bytes and not the time ended it; else null.
    pub needed_write_bytes: Option<u64>,
    /// The memory that they need; null where it does not carry them.
    pub ring_bytes: Option<u64>,
    /// How many of them it carries at most, with a ring of the size that is usual here.
    pub most_streams: u32,
    /// That size.
    pub usual_ring_bytes: u64,
    /// Room for recordings; of a directory what is free beyond what always stays free.
    pub room_bytes: u64,
    /// Whether a part of the file system stays free beside that.
    #[serde(skip)]
    pub keeps_free: bool,
    /// How long until that is full.
    pub full_after_s: f64,
    /// For how long it was asked (`--for`), seconds; null where that was left open.
    pub asked_s: Option<f64>,
    /// What it came to on each rank of its group; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<model::GroupAnswer>,
}
