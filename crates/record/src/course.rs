//! The course of a recording: a target is opened and decided about, producers are started, and what they bring is written until
//! they end, the time is over, or somebody wants the end.

use crate::bounds::Bounds;
use crate::inputs::{Opened, Sockets, open_input, start};
use crate::others::OtherUsers;
use crate::pins::PinWatch;
use crate::place::{Continuation, RecordingTarget};
use crate::recording::{RecordEvent, RecordProgress, Recorded, Recording};
use crate::ring::{RingLevel, level, ring, ring_bytes};
use crate::room::give_back;
use crate::scheduling::{self, Scheduling};
use crate::{priority, simulated};
use conduct::Interrupts;
use engine::DeviceError;
use model::{Failure, IoPriority};
use observe::Root;
use recorder::input::Producer;
use recorder::{FrameChannel, PIECE_BYTES, SharedPins, WriterSettings};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use sys::{Epoch, EventFd, VideoFormat, process_usage};

/// How often it is looked at what goes on.
const LOOK: Duration = Duration::from_millis(50);
/// How often the ring is looked at where others are to stand still.
const LOOK_AT_RING: Duration = Duration::from_millis(5);

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
    let ring_bytes = ring_bytes(recording.ring_bytes, &place.geometry, &place.pins())?;
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
