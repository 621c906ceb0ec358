//! What is to be recorded, what happens meanwhile, and what came of it.

use crate::defer::Deferred;
use crate::limits::{GroupLimit, Limited};
use crate::priority::Priority;
use crate::ring::RingLevel;
use crate::scheduling::Scheduling;
use conduct::WriteAllowance;
use conduct::admission::{Consent, Loss};
use model::Ns;
use recorder::input::{Generated, RingFull};
use recorder::{Geometry, RecordingOutcome, StreamCounters, WhenFull};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use sys::{VideoFormat, VideoSettings};

/// Fewer frames have no 99th percentile.
const LEAST_FOR_P99: u64 = 1000;

/// Where frames come from.
#[derive(Clone, Debug)]
pub enum Input {
    /// Standard input.
    Stdin {
        /// What the stream is called.
        name: String,
    },
    /// A pipe or a file.
    Path {
        /// What the stream is called.
        name: String,
        path: PathBuf,
    },
    /// A camera of Video4Linux 2.
    Camera {
        /// What the stream is called.
        name: String,
        /// Its device, `/dev/video0`.
        path: PathBuf,
        /// What is asked of it.
        wish: VideoSettings,
    },
    /// A Unix socket that is made there, for any number of producers.
    Socket(PathBuf),
    /// Cameras that are made up.
    Cameras(Generated),
}

/// What is to be recorded, and where.
#[derive(Clone, Debug)]
pub struct Recording<'a> {
    /// A directory, a file that is there or not, a block device, a simulated device.
    pub target: &'a OsStr,
    /// What the user allows to be lost.
    pub consent: Consent<'a>,
    /// Whether what was recorded there before is given up.
    pub anew: bool,
    /// How long a new container is.
    pub size: Option<u64>,
    /// Whether room that was not used stays reserved at the end.
    pub keep_size: bool,
    /// How long its segments are.
    pub segment: Option<u64>,
    /// The largest frame it takes.
    pub largest_frame: u64,
    /// What happens when it is full; of one that is there it is what it is.
    pub when_full: Option<WhenFull>,
    /// Size of the ring.
    pub ring_bytes: Option<u64>,
    /// How old frames may be when they are acknowledged, the flush apart.
    pub max_latency_ns: Ns,
    /// How long.
    pub time_ns: Option<Ns>,
    /// Where frames come from.
    pub inputs: Vec<Input>,
    /// Whether producers wait where the ring is full.
    pub ring_full: RingFull,
    /// Whether writes ask for real-time priority.
    pub real_time: bool,
    /// Nice value of the recorder's threads.
    pub nice: Option<i32>,
    /// The CPUs that they may run on.
    pub cpus: Option<Vec<u32>>,
    /// Who stands still while the ring fills up: processes and control groups.
    pub defer: Vec<String>,
    /// For how long at a time.
    pub defer_at_most_ns: Ns,
    /// What control groups are limited to meanwhile, on the disks below the target.
    pub limits: Vec<GroupLimit>,
    /// Whether a file that is made for it goes with it: only the storage is of interest.
    pub temporary: bool,
    /// What it may write, where it is made only to see what the storage carries.
    pub bounds: Option<WriteAllowance>,
}

/// How far a recording is.
#[derive(Clone, Debug)]
pub struct RecordProgress {
    /// The streams, by their numbers.
    pub streams: Vec<StreamCounters>,
    /// Since the start.
    pub elapsed_ns: Ns,
    pub ring: RingLevel,
}

/// CPU time for a GB that is durable, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuPerGb {
    pub writer_s: f64,
    /// Of all threads.
    pub process_s: f64,
}

/// What happens.
#[derive(Clone, Debug)]
pub enum RecordEvent<'a> {
    /// This will be overwritten; nothing has been written yet.
    WillBeLost(&'a Loss),
    /// It begins: there, in a container of this geometry, which holds recordings already or not.
    Begins {
        path: &'a Path,
        /// Its places.
        geometry: &'a Geometry,
        /// Which opening it is.
        epoch: u32,
        /// What it has room for, as far as that is known now.
        room_bytes: u64,
        /// What it writes at most, where that is bounded.
        most_bytes: Option<u64>,
    },
    /// It goes on; said every few hundredths of a second.
    Runs(&'a RecordProgress),
}

/// How it went.
#[derive(Debug)]
pub struct Recorded {
    pub path: PathBuf,
    /// Which opening of the container it was.
    pub epoch: u32,
    /// Its places.
    pub geometry: Geometry,
    /// At its end.
    pub now: RecordProgress,
    /// The most that the ring held.
    pub ring_most: u64,
    /// What the writer and its device did.
    pub ran: RecordingOutcome,
    /// CPU of the whole process, nanoseconds: producers that are made up too.
    pub process_cpu_ns: u64,
    /// The priority in effect.
    pub priority: Priority,
    /// Nice value and CPUs of the writer's thread, as they were read there.
    pub scheduling: Scheduling,
    /// For how long others stood still, where any were to.
    pub deferred: Option<Deferred>,
    /// What came of limits.
    pub limits: Vec<Limited>,
    /// The cameras, by the names of their streams, and what each gives: drivers change what they cannot do.
    pub cameras: Vec<(String, VideoFormat)>,
    /// What producers said at their end that were not as they should be.
    pub complaints: Vec<String>,
    /// Whether its time is simulated.
    pub simulated: bool,
}

impl Recorded {
    fn durable_bytes(&self) -> u64 {
        self.now.streams.iter().map(|s| s.durable_bytes).sum()
    }

    /// Bytes of durable frames over its time.
    pub fn throughput_bytes_per_s(&self) -> f64 {
        self.durable_bytes() as f64 * 1e9 / self.now.elapsed_ns.max(1) as f64
    }

    /// CPU for a GB that is durable; `None` where nothing is.
    pub fn cpu_per_gb(&self) -> Option<CpuPerGb> {
        let durable = self.durable_bytes();
        // Nanoseconds a byte are seconds a GB.
        let per_gb = |ns: u64| ns as f64 / durable as f64;
        let writer = self.ran.stream.usage.user_ns + self.ran.stream.usage.system_ns;
        (durable > 0).then(|| CpuPerGb { writer_s: per_gb(writer), process_s: per_gb(self.process_cpu_ns) })
    }

    /// Age of frames when they were acknowledged, at a quantile; `None` where too few carry it.
    pub fn age_ns(&self, quantile: f64) -> Option<Ns> {
        let ages = &self.ran.written.ages;
        let carried = quantile <= 0.5 || quantile >= 1.0 || ages.count() >= LEAST_FOR_P99;
        ages.quantile(quantile).filter(|_| carried)
    }
}
