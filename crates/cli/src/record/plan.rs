//! `narrows record plan`: how many streams a storage carries.

use super::{Progress, recording};
use crate::args::{GlobalArgs, RecordArgs};
use crate::group;
use crate::option_value::{bytes, more_than_nothing, time_ns};
use crate::output::Output;
use crate::run_source::RunSource;
use crate::signals::{Ending, SecondSignal};
use conduct::WriteAllowance;
use judge::sizing;
use model::{CAMERA_STREAMS, CameraStreams, Failure, RankOutcome, Run};
use observe::Root;
use record::{Input, RecordEvent, Recorded, Recording, room_bytes};
use recorder::WhenFull;
use recorder::input::Generated;
use report::document::{Answered, RecordPlanDocument};
use report::quantity;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

/// What is written at a time.
const FRAME_BYTES: u64 = 1 << 20;
/// How long it is measured.
const USUAL_NS: u64 = 60_000_000_000;
/// An answer needs so much time of writing, as a check's rates do, or as many bytes as the streams bring in a minute.
const LEAST_S: f64 = 2.0;
const MINUTE_S: f64 = 60.0;
/// Beyond what the least time takes, since the end is left out.
const MARGIN: f64 = 1.5;
/// Of what may be written a little is left, since it is written in whole pieces.
const WHOLE_BLOCKS: f64 = 1.1;
/// The file that is written in a directory has so much, if that is free.
const FILE_BYTES: u64 = 4 << 30;

/// Executes it.
pub fn command(args: &RecordArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let Some(cameras) = CameraStreams::parse(&args.streams) else {
        let failure = Failure::usage(format!("--streams {}: streams are not written so", args.streams));
        return Err(failure.remedy(CAMERA_STREAMS));
    };
    let max_write =
        args.max_write.as_deref().map(|text| more_than_nothing("--max-write", bytes("--max-write", text), "2GB"));
    let max_write = max_write.transpose()?;
    let time_ns =
        args.time.as_deref().map_or(Ok(USUAL_NS), |text| more_than_nothing("--for", time_ns("--for", text), "60s"))?;
    let room = room_bytes(args.target())?;
    let saturating = Generated {
        streams: 1,
        frame_bytes: FRAME_BYTES,
        frames_per_s: None,
        jitter: 0.0,
        burst: 1,
        frames: None,
        seed: 1,
    };
    let asked = recording(args, vec![Input::Cameras(saturating)])?;
    let recording = Recording {
        size: asked.size.or(Some(room.min(FILE_BYTES))),
        largest_frame: asked.largest_frame.max(FRAME_BYTES),
        when_full: Some(WhenFull::Wrap),
        time_ns: Some(time_ns),
        temporary: true,
        bounds: Some(max_write.map_or(WriteAllowance::Usual, WriteAllowance::AtMost)),
        ..asked
    };
    let ending = Ending::install(SecondSignal::Ends)?;
    let progress = Progress::new(output);
    let asked = format!("record plan {} {max_write:?} {time_ns}", args.streams);
    let group = group::met(&args.group, asked, &ending.interrupts, &ending.control, output)?;
    group.as_ref().map_or(Ok(()), |group| group.start(false))?;
    let began_ns = sys::monotonic_ns();
    let recorded = record::record(&recording, &ending.interrupts, &|event| match event {
        RecordEvent::WillBeLost(loss) => {
            output.warning(&format!("{}: what it holds will be lost", loss.path.display()))
        }
        RecordEvent::Begins { path, most_bytes, .. } if !global.json => {
            announce(path, most_bytes, max_write.is_some(), output);
        }
        RecordEvent::Begins { .. } => {}
        RecordEvent::Runs(now) => progress.draw(now),
    });
    let times = (began_ns, sys::monotonic_ns());
    progress.line.wipe();
    // Who waits for this rank is told why it does not come.
    let recorded = recorded.inspect_err(|failure| group.iter().for_each(|group| group.leave(&failure.message)))?;
    let mut document = planned(args, &cameras, &recorded, (recording.max_latency_ns, time_ns), room);
    let fill = crate::archives::open(global).ok().and_then(|archive| RunSource::newest_fill(&archive, args.target()));
    // The same name may have another card by now.
    if let Some(fill) = fill.filter(|fill| is_of(fill, args.target(), recorded.simulated)) {
        known_of_fill(&mut document, &fill);
    }
    if args.time.is_some() {
        for_so_long(&mut document, time_ns as f64 / 1e9);
    }
    let own = RankOutcome {
        met: document.carries,
        statement: Answered::new(&document).answer().to_owned(),
        bytes_written: document.bytes_written,
        bytes_per_s: document.sustained_bytes_per_s,
        ..RankOutcome::default()
    };
    document.group = group::outcome(group.as_ref(), own, times, true, output);
    output.answer(&Answered::new(&document), || report::record_plan(&document));
    let own = match document.carries {
        Some(true) => 0,
        Some(false) => 1,
        None => 4,
    };
    Ok(ExitCode::from(group::exit_code(document.group.as_ref(), group.is_some(), own)))
}

/// What the course that was measured says of the streams: with the longest that frames wait for their flush and the time that was to be
/// written, nanoseconds, and the room that there is.
fn planned(
    args: &RecordArgs,
    cameras: &CameraStreams,
    recorded: &Recorded,
    (max_latency_ns, time_ns): (u64, u64),
    room: u64,
) -> RecordPlanDocument {
    let (streams, stream_bytes_per_s) = (cameras.count, cameras.bytes_per_s);
    let intervals = sizing::saturated(&recorded.ran.stream.intervals);
    // A frame waits for its batch, and may have to wait for the flush before its own.
    let flush_ns = max_latency_ns + 2 * recorded.ran.written.slowest_flush_ns;
    let demand = f64::from(streams) * stream_bytes_per_s;
    let sustained = sizing::sustained(intervals);
    let cache_end = sizing::cache_end(intervals);
    let ring_bytes = sizing::ring_needed(intervals, demand, flush_ns);
    let usual_ring_bytes = recorded.now.ring.size_bytes;
    let measured_s = recorded.now.elapsed_ns as f64 / 1e9;
    let bytes_written = recorded.ran.written.written_bytes;
    // What has not ended may still end, unless all of it was written.
    let known_bytes = Some(bytes_written).filter(|written| cache_end.is_none() && *written < room);
    let enough = measured_s >= LEAST_S || bytes_written as f64 >= MINUTE_S * demand || bytes_written >= room;
    // A cache makes little time look better than much, and one flush or a moment of others worse.
    let carries = sustained.map(|_| ring_bytes.is_some()).filter(|_| enough);
    let too_short = sustained.is_some() && carries.is_none();
    let by_time = measured_s >= 0.9 * time_ns as f64 / 1e9;
    let needed_write = sustained.filter(|_| !by_time).map(|s| ((MARGIN * LEAST_S * s.bytes_per_s) as u64).min(room));
    RecordPlanDocument {
        target: args.target().to_string_lossy().into_owned(),
        measured_s,
        bytes_written,
        sustained_bytes_per_s: sustained.map(|s| s.bytes_per_s),
        slowest_second_bytes_per_s: sustained.and_then(|s| s.slowest_second_bytes_per_s),
        longest_gap_ns: recorded.ran.stream.longest_gap_ns,
        slowest_flush_ns: recorded.ran.written.slowest_flush_ns,
        streams,
        stream_bytes_per_s,
        assumed_rate: cameras.is_assumed.then(|| args.streams.clone()),
        fill_run: None,
        cache_bytes: cache_end.map(|end| end.bytes_before),
        known_bytes,
        known_s: known_bytes.map(|bytes| bytes as f64 / demand),
        carries,
        needed_s: too_short.then_some(LEAST_S),
        needed_write_bytes: needed_write.filter(|_| too_short),
        ring_bytes,
        most_streams: sizing::most_streams(intervals, stream_bytes_per_s, flush_ns, usual_ring_bytes),
        usual_ring_bytes,
        room_bytes: room,
        keeps_free: Path::new(args.target()).is_dir(),
        full_after_s: room as f64 / demand,
        group: None,
        asked_s: None,
    }
}

/// Of a time that was asked for the answer is yes only if the room lasts so long, and as much was written.
fn for_so_long(document: &mut RecordPlanDocument, asked_s: f64) {
    document.asked_s = Some(asked_s);
    if document.carries != Some(true) {
        return;
    }
    if document.full_after_s < asked_s {
        document.carries = Some(false);
    } else if document.known_s.is_some_and(|known_s| known_s < asked_s) {
        let demand = f64::from(document.streams) * document.stream_bytes_per_s;
        document.carries = None;
        document.needed_write_bytes = Some(((WHOLE_BLOCKS * demand * asked_s) as u64).min(document.room_bytes));
    }
}

/// Whether a run was made on the disk that is there now, as far as that can be told.
fn is_of(fill: &Run, target: &OsStr, simulated: bool) -> bool {
    if simulated {
        return true;
    }
    let root = Root::new("/");
    let Ok(place) = crate::inspect_place::place(&root, target) else { return false };
    let now = Run {
        target: model::Target { stack: observe::inventory(&root, &place).stack, ..fill.target.clone() },
        environment: observe::environment(&root),
        ..fill.clone()
    };
    judge::is_same_target(fill, &now) && fill.target.stack.fstype() == now.target.stack.fstype()
}

/// What was not written here, and a fill has seen: what the storage takes after its cache, or that it has none.
fn known_of_fill(document: &mut RecordPlanDocument, fill: &Run) {
    // What may be a memory's rate and not the storage's is refused there, and says nothing here.
    let is_valid = |phase: &&model::PhaseRun| {
        let rates = phase.metrics.iter().filter(|m| m.id.ends_with(".throughput_bytes_per_s"));
        phase.plan.measures_target() && rates.clone().count() > 0 && rates.clone().all(|m| m.value.is_some())
    };
    let all = fill.phases.iter().find(is_valid).and_then(|phase| phase.record.as_ref());
    let Some(filled) = all.and_then(judge::filled).filter(|_| document.carries.is_some()) else { return };
    let known = document.known_bytes.filter(|known| filled.bytes > *known);
    let Some((cliff, sustained)) = known.map(|_| filled.cliff.as_ref()).zip(document.sustained_bytes_per_s) else {
        return;
    };
    document.fill_run = Some(fill.id.clone());
    let demand = f64::from(document.streams) * document.stream_bytes_per_s;
    // Of what it has room for beyond what was filled nothing is known.
    let is_all = filled.bytes as f64 >= 0.9 * document.room_bytes as f64;
    document.known_bytes = Some(filled.bytes).filter(|_| !is_all);
    document.known_s = document.known_bytes.map(|bytes| bytes as f64 / demand);
    if let Some(cliff) = cliff {
        let takes = cliff.after_bytes_per_s.min(sustained);
        document.cache_bytes = Some(cliff.bytes);
        document.sustained_bytes_per_s = Some(takes);
        let most = sizing::MAX_SHARE * takes / document.stream_bytes_per_s;
        document.most_streams = document.most_streams.min(most as u32);
        if demand > sizing::MAX_SHARE * takes {
            (document.carries, document.ring_bytes) = (Some(false), None);
        }
    }
}

/// Says what is written, and why no more.
fn announce(path: &Path, most_bytes: Option<u64>, is_asked: bool, output: &Output) {
    let why = if is_asked { "--max-write" } else { "as much as a check; --max-write SIZE" };
    let most = most_bytes.map_or_else(String::new, |bytes| format!("\n  at most {} ({why})", quantity::size(bytes)));
    output.aside(&format!("writes to {} as fast as it takes it{most}\n", path.display()));
}
