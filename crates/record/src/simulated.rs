//! A recording on a simulated device, in its time: cameras that are made up, and nothing is kept.

use crate::bounds::frames_within;
use crate::ring::{ring, ring_bytes};
use crate::{Input, Priority, RecordEvent, RecordProgress, Recorded, Recording, RingLevel, Scheduling};
use conduct::DeviceSize;
use engine::{SimDevice, SimRig};
use model::{Failure, Ns};
use recorder::input::{Generated, GeneratedSource};
use recorder::{Accounts, DEPTH, Geometry, Identity, PIECE_BYTES, Pins, SharedPins, WriterSettings};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sys::process_usage;

/// There is no clock to wait for: without an end there would be none.
const USUAL_NS: Ns = 60_000_000_000;

/// Records until its time is over.
///
/// # Errors
/// There is no such device, or what is asked for needs a real one.
pub(crate) fn record(
    name: &str,
    recording: &Recording<'_>,
    tell: &dyn Fn(RecordEvent<'_>),
) -> Result<Recorded, Failure> {
    let model = spec::parse_sim(name).map_err(|e| {
        Failure::usage(e.to_string()).remedy("sim:help   lists devices and parameters, with their defaults")
    })?;
    if model.faults.data.is_some() || model.faults.wraps_at_bytes.or(model.faults.limbo_from_bytes).is_some() {
        return Err(Failure::usage(format!(
            "{name}: nothing of a simulated recording is kept, so that no data can come back wrong"
        ))
        .remedy("narrows soak sim:...   shows data-fault, wraps-at and limbo-from"));
    }
    let [Input::Cameras(asked)] = recording.inputs.as_slice() else {
        return Err(Failure::usage("on a simulated device only generated cameras can be recorded")
            .remedy("--generate 4x2MB@30"));
    };
    if !recording.limits.is_empty() {
        return Err(Failure::usage("--limit: a simulated device has one user"));
    }
    let size = SimRig::new(model.clone(), 1_000_000_000).max_bytes();
    // What is simulated wears nothing, and is written as much as the real one.
    let most_bytes = recording
        .bounds
        .map(|allowance| allowance.usual_bytes(DeviceSize { bytes: Some(size), worn_bytes: Some(size) }));
    let frames = most_bytes.map_or(asked.frames, |most| Some(frames_within(most, asked)));
    let cameras = Generated { frames, ..*asked };
    let geometry = Geometry::fit(
        recording.size.unwrap_or(size).min(size),
        512,
        recording.largest_frame.max(cameras.frame_bytes * 2),
        recording.segment,
        recording.when_full.unwrap_or_default(),
    )
    .map_err(|e| Failure::usage(format!("{name}: {e}")))?;
    let ring_bytes = ring_bytes(recording.ring_bytes, &geometry, &Pins::default())?;
    let (ring, accounts) = (ring(ring_bytes)?, Arc::new(Accounts::default()));
    let time_ns = recording.time_ns.unwrap_or(USUAL_NS);
    let frame_source =
        GeneratedSource::new(cameras, Arc::clone(&ring), geometry.largest_frame(), &accounts).until(time_ns);
    let identity = Identity { uuid: [0; 16], epoch: 1 };
    let settings = WriterSettings {
        identity,
        geometry,
        next_segment: 0,
        next_batch: 0,
        max_latency_ns: recording.max_latency_ns,
        ring_bytes,
        clock_start_ns: 0,
        piece_bytes: PIECE_BYTES,
        priority: None,
        pins: SharedPins::default(),
        keep_times: false,
        room: None,
    };
    let mut device = SimDevice::new(model);
    device.prepare_buffers(DEPTH, PIECE_BYTES);
    let room_bytes = geometry.segments * geometry.segment_bytes;
    tell(RecordEvent::Begins { path: Path::new(name), geometry: &geometry, epoch: 1, room_bytes, most_bytes });
    let usage_before = process_usage();
    let ran = recorder::run_on_device(device, settings, Arc::clone(&accounts), frame_source, || {})
        .map_err(|e| Failure::internal(format!("{name}: {e}")))?;
    let usage = process_usage().since(&usage_before);
    let (used, most) = ring.used();
    let elapsed_ns = ran.stream.ended_ns.saturating_sub(ran.stream.started_ns);
    Ok(Recorded {
        path: PathBuf::from(name),
        epoch: 1,
        geometry,
        now: RecordProgress {
            streams: accounts.counters(),
            elapsed_ns,
            ring: RingLevel { used_bytes: used as u64, size_bytes: ring_bytes },
        },
        ring_most: most as u64,
        ran,
        process_cpu_ns: usage.user_ns + usage.system_ns,
        priority: Priority::Simulated,
        scheduling: Scheduling::in_effect(),
        deferred: None,
        limits: Vec::new(),
        cameras: Vec::new(),
        complaints: Vec::new(),
        simulated: true,
    })
}
