//! Records streams of frames: a target is opened and decided about, producers are started, and what they bring is written until
//! they end, the time is over, or somebody wants the end.

mod bounds;
mod bundle;
mod defer;
mod export;
mod inputs;
mod limits;
mod others;
mod pins;
mod place;
mod priority;
mod read;
mod room;
mod scheduling;
mod simulated;
mod superblocks;
mod watcher;

pub use bundle::{begun_run, run_of};
pub use defer::Deferred;
pub use export::{Export, ExportFormat, Exported, Into as ExportInto, export, moment_ns};
pub use inputs::bind;
pub use limits::{GroupLimit, Limit, Limited, Rate};
pub use pins::{Pinned, pin};
pub(crate) use place::open_device;
pub use place::{RECORDING_SUFFIX, repair_recording, room_bytes};
pub use priority::Priority;
pub use read::{Read, open_recording};
pub(crate) use room::free_bytes;
pub use scheduling::Scheduling;

use crate::admission::{Consent, Loss};
use crate::{Interrupts, WriteAllowance};
use bounds::Bounds;
use engine::DeviceError;
use inputs::{Opened, Sockets, open_input, start};
use model::{Failure, IoPriority, Ns};
use observe::Root;
use others::OtherUsers;
use pins::PinWatch;
use place::{Continuation, RecordingTarget};
use recorder::input::{Generated, Producer, RingFull};
use recorder::{
    FrameChannel, Geometry, PIECE_BYTES, Pins, RecordingOutcome, Ring, SharedPins, StreamCounters, WhenFull,
    WriterSettings,
};
use room::give_back;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use sys::{Epoch, EventFd, VideoFormat, VideoSettings, process_usage};

/// The ring has so much, unless memory is short, or it is said otherwise.
const USUAL_RING_BYTES: u64 = 256 << 20;
/// Of what memory is available the ring takes one part in so many.
const RING_SHARE: u64 = 4;
/// A smaller ring holds no batch.
const LEAST_RING_BYTES: u64 = 2 << 20;
/// How often it is looked at what goes on.
const LOOK: Duration = Duration::from_millis(50);
/// How often the ring is looked at where others are to stand still.
const LOOK_AT_RING: Duration = Duration::from_millis(5);
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

/// How much of the ring holds frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingLevel {
    pub used_bytes: u64,
    pub size_bytes: u64,
}

impl RingLevel {
    /// In percent of its size.
    pub fn percent(self) -> u64 {
        100 * self.used_bytes / self.size_bytes.max(1)
    }
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

/// Records until nothing comes any more.
///
/// # Errors
/// The target may not be written to, is too small, full, or no recording; an input cannot be opened; a nice value or a CPU is not
/// to be had; the storage's interface failed. What the storage refused while it ran is in the result.
pub fn record(
    recording: &Recording<'_>,
    interrupts: &Interrupts,
    tell: &dyn Fn(RecordEvent<'_>),
) -> Result<Recorded, Failure> {
    scheduling::ask(recording.nice, recording.cpus.as_deref())?;
    match recording.target.to_str() {
        Some(name) if name.starts_with("sim:") => simulated::record(name, recording, tell),
        _ => record_to_storage(recording, interrupts, tell),
    }
}

fn usage(what: impl Into<String>) -> Failure {
    Failure::usage(what)
}

fn ring_bytes(recording: &Recording<'_>, geometry: &Geometry, pins: &Pins) -> Result<u64, Failure> {
    let most = WriterSettings::most_ring_bytes(geometry, pins);
    if most < LEAST_RING_BYTES && !pins.is_empty() {
        let what =
            format!("{} of {} segments are pinned: too few are left to record in", pins.segments(), geometry.segments);
        return Err(Failure::refused(what).remedy("narrows record unpin"));
    }
    let available = observe::memory_available(&Root::new("/")).map_or(USUAL_RING_BYTES, |n| n / RING_SHARE);
    let usual = USUAL_RING_BYTES.min(available).max(LEAST_RING_BYTES);
    let bytes = recording.ring_bytes.unwrap_or(usual).min(most);
    if recording.ring_bytes.is_some_and(|asked| asked < LEAST_RING_BYTES) {
        return Err(usage("--ring: a ring has 2 MiB or more"));
    }
    Ok(bytes)
}

/// The memory of frames.
fn ring(bytes: u64) -> Result<Arc<Ring>, Failure> {
    let failed = |e| {
        let what = format!("a ring of {}: {e}", model::bytes_text(bytes));
        Failure::environment(what).remedy("give it less memory, for example --ring 16MB")
    };
    Ring::new(usize::try_from(bytes).unwrap_or(usize::MAX)).map_err(failed)
}

/// The cameras among the inputs, with what they give.
fn formats(opened: &[(Opened, String)]) -> Vec<(String, VideoFormat)> {
    let format = |(input, name): &(Opened, String)| match input {
        Opened::Camera(camera) => Some((name.clone(), camera.format())),
        _ => None,
    };
    opened.iter().filter_map(format).collect()
}

fn begins(place: &RecordingTarget, begun: &Continuation, most_bytes: Option<u64>, tell: &dyn Fn(RecordEvent<'_>)) {
    tell(RecordEvent::Begins {
        path: &place.path,
        geometry: &place.geometry,
        epoch: begun.identity.epoch,
        room_bytes: place.room_bytes(begun.next_segment),
        most_bytes,
    });
}

/// A file into which something came stays, unless only a measurement wrote it.
fn keep_if_used(recording: &Recording<'_>, place: &RecordingTarget, now: &RecordProgress) {
    if !recording.temporary && now.streams.iter().any(|stream| stream.received > 0) {
        place.keep();
    }
}

/// What wakes the writer.
fn wakeup() -> Result<Arc<EventFd>, Failure> {
    let failed = |e| Failure::environment(format!("eventfd: {e}"));
    EventFd::new().map(Arc::new).map_err(failed)
}

fn record_to_storage(
    recording: &Recording<'_>,
    interrupts: &Interrupts,
    tell: &dyn Fn(RecordEvent<'_>),
) -> Result<Recorded, Failure> {
    // What cannot be opened is told before anything is written.
    let _sockets = Sockets(&recording.inputs);
    let mut opened = recording.inputs.iter().map(open_input).collect::<Result<Vec<_>, _>>()?;
    let cameras = formats(&opened);
    let mut others = OtherUsers::of(recording)?;
    let place = RecordingTarget::open(recording, tell)?;
    let ring_bytes = ring_bytes(recording, &place.geometry, &place.pins())?;
    let stack = observe::inventory(&Root::new("/"), &place.locator).stack;
    let bounds = Bounds::of(recording, &stack);
    bounds.limit(&mut opened);
    let (asked, priority) = priority::find(&stack, recording.real_time);
    others.begin(&stack)?;
    let event_fd = wakeup()?;
    let stop = Arc::new(AtomicBool::new(false));
    let begun = place.begin()?;
    let clock = Epoch::start();
    let settings = writer_settings(recording, &place, &begun, ring_bytes, asked);
    let when_full = place.geometry.when_full;
    let listening = PinWatch::new(&place.file, begun.identity.uuid, when_full, settings.pins.clone());
    let ring = ring(ring_bytes)?;
    let largest = place.geometry.largest_frame();
    let (channel, receiver) = FrameChannel::new(ring.clone(), largest, clock, event_fd.clone(), stop.clone());
    let accounts = Arc::clone(&channel.accounts);
    begins(&place, &begun, bounds.most, tell);
    let now = || {
        let ring = level(&ring, ring_bytes);
        RecordProgress { streams: accounts.counters(), elapsed_ns: clock.elapsed_ns(), ring }
    };
    let usage_before = process_usage();
    let write = || {
        // Signals come to a thread that looks at them.
        let _elsewhere = interrupts.mask_signals();
        let scheduling = Scheduling::in_effect();
        // Producers have a last moment to see that they are to end.
        recorder::run(&place.file, settings, Arc::clone(&accounts), receiver, (clock, event_fd.clone()), || {
            std::thread::sleep(2 * LOOK)
        })
        .map(|ran| (ran, scheduling))
    };
    let ends = || interrupts.end() || recording.time_ns.is_some_and(|ns| clock.elapsed_ns() >= ns);
    let ran = std::thread::scope(|scope| -> Result<_, Failure> {
        let writer = scope.spawn(write);
        let producers = start(opened, recording.ring_full, channel);
        while !writer.is_finished() {
            let counted = now();
            let durable = counted.streams.iter().map(|s| s.durable_bytes).sum();
            if ends() || producers.is_err() || bounds.reached(durable, counted.ring.used_bytes) {
                stop.store(true, Ordering::Relaxed);
                event_fd.signal();
            }
            tell(RecordEvent::Runs(&counted));
            listening.look();
            begun.growing.iter().for_each(|growing| growing.ahead());
            hold_back(&mut others, &|| level(&ring, ring_bytes), &|| writer.is_finished());
        }
        stop.store(true, Ordering::Relaxed);
        let ran = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let (ran, scheduling) = ran.map_err(|e| interface_failed(&place.path, &e))?;
        Ok((ran, scheduling, complaints(producers?)))
    });
    let now = now();
    keep_if_used(recording, &place, &now);
    let (deferred, limits) = others.end();
    let given_back = if place.gives_back { give_back(&place.file, &place.path) } else { Ok(0) };
    let (ran, scheduling, mut complaints) = ran?;
    complaints.extend(given_back.err().map(|e| format!("its room cannot be given back: {e}")));
    let usage = process_usage().since(&usage_before);
    Ok(Recorded {
        path: place.path.clone(),
        epoch: begun.identity.epoch,
        geometry: place.geometry,
        now,
        ring_most: ring.used().1 as u64,
        ran,
        process_cpu_ns: usage.user_ns + usage.system_ns,
        priority,
        scheduling,
        deferred,
        limits,
        cameras,
        complaints,
        simulated: false,
    })
}

fn level(ring: &Ring, size_bytes: u64) -> RingLevel {
    RingLevel { used_bytes: ring.used().0 as u64, size_bytes }
}

/// For a moment, or until the writer has ended, others are held back as the ring asks for.
fn hold_back(others: &mut OtherUsers, ring: &dyn Fn() -> RingLevel, ended: &dyn Fn() -> bool) {
    let next = Instant::now() + LOOK;
    while Instant::now() < next && !ended() {
        others.look(ring());
        std::thread::sleep(if others.needs_ring_level() { LOOK_AT_RING } else { LOOK });
    }
}

/// How the writer begins at this moment.
fn writer_settings(
    recording: &Recording<'_>,
    place: &RecordingTarget,
    begun: &Continuation,
    ring_bytes: u64,
    priority: Option<IoPriority>,
) -> WriterSettings {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    WriterSettings {
        identity: begun.identity,
        geometry: place.geometry,
        next_segment: begun.next_segment,
        next_batch: begun.next_batch,
        max_latency_ns: recording.max_latency_ns,
        ring_bytes,
        clock_start_ns: u64::try_from(since_1970.as_nanos()).unwrap_or(0),
        piece_bytes: PIECE_BYTES.min(place.geometry.segment_bytes / 4),
        priority,
        pins: SharedPins::new(begun.pins.clone()),
        keep_times: recording.temporary,
        room: begun.growing.clone().map(|growing| growing as _),
    }
}

fn interface_failed(path: &Path, e: &DeviceError) -> Failure {
    let failure = Failure::device(format!("{}: {e}", path.display()));
    match e.remedy() {
        Some(remedy) => failure.remedy(remedy),
        None => failure,
    }
}

/// What producers said at their end. One that does not end is not waited for: it has no door any more.
fn complaints(producers: Vec<Producer>) -> Vec<String> {
    let complaint = |producer: Producer| match producer.join() {
        Ok(said) => said.err(),
        Err(_) => Some("a producer's thread failed".to_owned()),
    };
    producers.into_iter().filter(Producer::is_finished).filter_map(complaint).collect()
}
