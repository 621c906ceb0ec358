//! `narrows record`: streams of frames onto storage, and what was recorded.

mod limits;
mod metrics;
mod plan;
mod reading;

use crate::archives;
use crate::args::{GlobalArgs, RecordArgs, RecordFull, RecordPriority, RecordRingFull};
use crate::option_value::{self, more_than_nothing, time_ns};
use crate::output::Output;
use crate::progress_line::ProgressLine;
use crate::report_page;
use crate::signals::{Ending, SecondSignal};
use archive::Partial;
use conduct::WallClock;
use conduct::admission::Consent;
use metrics::Metrics;
use model::{Failure, FailureKind, Ns};
use record::{Input, Priority, RecordEvent, RecordProgress, Recorded, Recording};
use recorder::input::{Generated, RingFull, parse_camera_format};
use recorder::{StreamCounters, WhenFull};
use report::document::{Answered, RecordDeferred, RecordDocument, RecordStream};
use report::quantity;
use spec::parse_cpus;
use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use sys::VideoFormat;

/// A line of progress is drawn anew that often.
const DRAW_NS: Ns = 500_000_000;

/// Executes the command.
pub fn command(args: &RecordArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    if args.list || args.verify || args.recover || args.pin || args.unpin || args.export.is_some() {
        return reading::command(args, output);
    }
    if args.plan {
        return plan::command(args, global, output);
    }
    let recording = recording(args, inputs(args)?)?;
    let started = WallClock::start().started();
    let ending = Ending::install(SecondSignal::Ends)?;
    let metrics = args.metrics.as_deref().map(Metrics::open).transpose()?;
    let progress = Progress::new(output);
    let begun = Cell::new(None);
    let recorded = record::record(&recording, &ending.interrupts, &|event| match event {
        RecordEvent::WillBeLost(loss) => {
            let content =
                if loss.content.is_empty() { "nothing that is known".into() } else { loss.content.join(", ") };
            output.warning(&format!("{}: what it holds will be lost: {content}", loss.path.display()));
        }
        RecordEvent::Begins { path, epoch, room_bytes, .. } => {
            let named = args.target().to_string_lossy();
            let run = record::begun_run(path, &named, named.starts_with("sim:"), &started);
            begun.set(archives::open(global).ok().and_then(|archive| report_page::begin(&archive, run)));
            if !global.json {
                let room = quantity::binary_size(room_bytes);
                output.aside(&format!("records to {} (recording {epoch} there; room for {room})\n", path.display()));
            }
        }
        RecordEvent::Runs(now) => {
            progress.draw(now);
            metrics.iter().for_each(|metrics| metrics.tell(now));
        }
    });
    progress.line.wipe();
    // What is killed from here on has its frames, and no run.
    begun.into_inner().map(Partial::discard);
    let recorded = recorded?;
    metrics.iter().for_each(|metrics| metrics.tell_last(&recorded.now));
    let document = document(&recorded, &recording);
    let keep = || keep(&recorded, args, &started, &document, global, output);
    let kept = if document.is_empty() { None } else { keep() };
    if document.is_empty() && !recorded.complaints.is_empty() {
        let what = recorded.complaints.join("; ");
        return Err(Failure::invalid(what).remedy(
            "send JPEG pictures (ffmpeg -f mjpeg -), or frames with their length before them (docs/recorder.md)",
        ));
    }
    let answered = Answered::new(&document).kept(kept.clone());
    output.answer(&answered, || report::record(&document).kept(kept.as_ref()));
    if document.is_empty() {
        return Ok(ExitCode::from(FailureKind::Invalid.exit_code()));
    }
    Ok(ExitCode::from(u8::from(document.missing_frames() > 0)))
}

/// Keeps it as a run of the archive.
fn keep(
    recorded: &Recorded,
    args: &RecordArgs,
    started: &str,
    document: &RecordDocument,
    global: &GlobalArgs,
    output: &Output,
) -> Option<(String, String)> {
    let archive = archives::open(global).inspect_err(|failure| output.beside(failure)).ok()?;
    let run = record::run_of(recorded, &args.target().to_string_lossy(), started, &document.remarks);
    report_page::keep(&archive, run, output)
}

fn bytes(option: &str, text: Option<&str>) -> Result<Option<u64>, Failure> {
    text.map(|text| option_value::bytes(option, text)).transpose()
}

fn recording(args: &RecordArgs, inputs: Vec<Input>) -> Result<Recording<'_>, Failure> {
    let max_latency_ns = more_than_nothing("--max-latency", time_ns("--max-latency", &args.max_latency), "20ms")?;
    Ok(Recording {
        target: args.target(),
        consent: Consent { overwrite: args.overwrite, destroy: args.destroy.as_deref(), only: None },
        anew: args.new,
        size: bytes("--size", args.size.as_deref())?,
        keep_size: args.keep_size,
        segment: bytes("--segment", args.segment.as_deref())?,
        largest_frame: bytes("--max-frame", args.max_frame.as_deref())?.unwrap_or_else(|| largest_generated(&inputs)),
        when_full: args.when_full.map(|full| match full {
            RecordFull::Stop => WhenFull::Stop,
            RecordFull::Wrap => WhenFull::Wrap,
        }),
        ring_bytes: bytes("--ring", args.ring.as_deref())?,
        max_latency_ns,
        time_ns: args.time.as_deref().map(|text| time_ns("--for", text)).transpose()?,
        inputs,
        ring_full: match args.ring_full {
            Some(RecordRingFull::Drop) => RingFull::Drop,
            Some(RecordRingFull::Wait) | None => RingFull::Wait,
        },
        real_time: args.priority == RecordPriority::RealTime,
        nice: args.nice,
        cpus: args
            .cpus
            .as_deref()
            .map(|list| parse_cpus(list).map_err(|e| Failure::usage(format!("--cpus: {e}"))))
            .transpose()?,
        defer: args.defer.clone(),
        limits: args.limit.iter().map(limits::parse).collect::<Result<Vec<_>, _>>()?.concat(),
        defer_at_most_ns: time_ns("--defer-at-most", &args.defer_at_most)?,
        temporary: false,
        bounds: None,
    })
}

/// The largest frame that the cameras that are made up bring; of others that is not known before.
fn largest_generated(inputs: &[Input]) -> u64 {
    inputs.iter().filter_map(Input::largest_generated_frame).max().unwrap_or(0)
}

fn inputs(args: &RecordArgs) -> Result<Vec<Input>, Failure> {
    let mut inputs = args.inputs.iter().map(input).collect::<Result<Vec<_>, _>>()?;
    if let Some(text) = &args.generate {
        let cameras =
            Generated::parse(text, args.seed.unwrap_or(1)).map_err(|e| Failure::usage(format!("--generate {e}")))?;
        inputs.push(Input::Cameras(Generated {
            jitter: f64::from(args.jitter.unwrap_or(0)) / 100.0,
            burst: args.burst.unwrap_or(1),
            frames: args.frames,
            ..cameras
        }));
    }
    for text in &args.camera {
        inputs.push(camera(text)?);
    }
    inputs.extend(args.listen.clone().map(Input::Socket));
    if inputs.is_empty() {
        if std::io::stdin().is_terminal() {
            return Err(Failure::usage("no frames come from anywhere").remedy(
                "a pipe, files, --listen SOCKET --camera /dev/video0 or --generate 4x2MB@30; narrows record --help",
            ));
        }
        inputs.push(Input::Stdin { name: "stdin".into() });
    }
    Ok(inputs)
}

/// The name of a stream and where it comes from, as `NAME=PATH`, `PATH`, or `-`.
fn named(text: &OsStr) -> Result<(String, &Path), Failure> {
    let bytes = text.as_bytes();
    // What is there under the whole name is that.
    let split = if Path::new(text).exists() { None } else { bytes.iter().position(|b| *b == b'=') };
    let (name, path) = split.map_or((None, bytes), |at| (Some(&bytes[..at]), &bytes[at + 1..]));
    let path = Path::new(OsStr::from_bytes(path));
    let name = match name {
        Some(name) => String::from_utf8_lossy(name).into_owned(),
        None if path == Path::new("-") => "stdin".to_owned(),
        None => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    };
    if name.is_empty() {
        return Err(Failure::usage(format!("{}: a stream needs a name", text.to_string_lossy())));
    }
    Ok((name, path))
}

/// `front=/dev/video0,1280x720@30`.
fn camera(text: &OsStr) -> Result<Input, Failure> {
    let bytes = text.as_bytes();
    let (device, wish) = bytes
        .iter()
        .position(|b| *b == b',')
        .map_or((bytes, None), |at| (&bytes[..at], Some(String::from_utf8_lossy(&bytes[at + 1..]))));
    let wish = wish
        .map(|text| parse_camera_format(&text))
        .transpose()
        .map_err(|e| Failure::usage(format!("--camera: {e}")))?;
    let (name, path) = named(OsStr::from_bytes(device))?;
    Ok(Input::Camera { name, path: path.to_owned(), wish: wish.unwrap_or_default() })
}

fn input(text: &OsString) -> Result<Input, Failure> {
    let (name, path) = named(text)?;
    Ok(if path == Path::new("-") { Input::Stdin { name } } else { Input::Path { name, path: PathBuf::from(path) } })
}

/// How far it is, drawn anew now and then.
struct Progress {
    line: ProgressLine,
    drawn: Cell<Option<Ns>>,
}

impl Progress {
    fn new(output: &Output) -> Self {
        Self { line: ProgressLine::new(output.is_json(), output.style().columns()), drawn: Cell::new(None) }
    }

    fn draw(&self, now: &RecordProgress) {
        if !self.line.is_shown() || now.elapsed_ns < self.drawn.get().unwrap_or(0) + DRAW_NS {
            return;
        }
        self.drawn.set(Some(now.elapsed_ns));
        self.line.draw(&progress_text(now));
    }
}

fn progress_text(now: &RecordProgress) -> String {
    let sum = |of: fn(&StreamCounters) -> u64| now.streams.iter().map(of).sum::<u64>();
    format!(
        "{}: {} frames durable ({}), {} lost, ring {} %",
        // Of more than ten seconds no tenths are told.
        quantity::duration(now.elapsed_ns / 100_000_000 * 100_000_000),
        quantity::count(sum(|s| s.durable)),
        quantity::size(sum(|s| s.durable_bytes)),
        quantity::count(sum(StreamCounters::lost_total)),
        now.ring.percent()
    )
}

/// What a camera gives, which may be other than what was asked of it.
fn given(name: &str, format: &VideoFormat) -> String {
    let rate = format.frames_per_s.map_or_else(String::new, |(count, seconds)| {
        format!(", {} a second", quantity::significant(f64::from(count) / f64::from(seconds), 3))
    });
    let VideoFormat { width, height, most_bytes, .. } = format;
    let size = quantity::binary_size(u64::from(*most_bytes));
    format!("{name}: {} {width}x{height}{rate}, pictures of at most {size}", format.letters())
}

fn stream(counted: &StreamCounters) -> RecordStream {
    RecordStream {
        name: counted.name.name.clone(),
        received: counted.received,
        durable: counted.durable,
        in_flight: counted.in_flight(),
        dropped: counted.lost.iter().map(|(loss, n)| (loss.name(), *n)).collect(),
        received_bytes: counted.received_bytes,
        durable_bytes: counted.durable_bytes,
        blocked_s: counted.blocked_ns as f64 / 1e9,
    }
}

/// The priority that writes have, and why.
fn priority(priority: &Priority) -> (Option<&'static str>, String) {
    const NORMAL: Option<&str> = Some("normal");
    match priority {
        Priority::NotAsked => (NORMAL, "that of others (--priority normal)".into()),
        Priority::NotPermitted => (NORMAL, "that of others: real time needs root (CAP_SYS_NICE)".into()),
        Priority::RealTime { scheduler } => (Some("real-time"), format!("real time, by which {scheduler} orders")),
        Priority::Ignored { scheduler } => {
            (NORMAL, format!("real time was asked for, and the scheduler {scheduler} takes no notice"))
        }
        Priority::Unknown => (None, "real time was asked for; whether it counts is not known".into()),
        Priority::Simulated => (None, "a simulated device has one user".into()),
    }
}

fn document(recorded: &Recorded, asked: &Recording<'_>) -> RecordDocument {
    let ran = &recorded.ran;
    let cpu = recorded.cpu_per_gb();
    let (priority_effective, priority_reason) = priority(&recorded.priority);
    let mut remarks: Vec<String> = recorded.cameras.iter().map(|(name, format)| given(name, format)).collect();
    remarks.extend(recorded.complaints.iter().cloned());
    match ran.written.ended_by {
        Some(recorder::Loss::ContainerFull) => remarks.push("the recording is full".into()),
        Some(recorder::Loss::NoRoom) => remarks.push(
            "the file system has no more room for it, but for what stays free (a twentieth, and 256 MiB or a quarter): free some, or \
             record with --when-full wrap, which overwrites the oldest"
                .into(),
        ),
        Some(recorder::Loss::Storage) => {
            let errno = ran.written.errno.map_or_else(String::new, |errno| format!(" ({})", sys::errno_name(errno)));
            remarks.push(format!("the storage failed{errno}: what was acknowledged before is there"));
        }
        _ => {}
    }
    if recorded.geometry.when_full == WhenFull::Wrap && ran.written.segments > recorded.geometry.segments {
        remarks.push("it went round: the newest frames are there, and older ones of these were overwritten (record list says which)".into());
    }
    if let Some(why) = recorded.deferred.as_ref().and_then(|deferred| deferred.failed.as_ref()) {
        remarks.push(format!("not all of those who were to be paused were: {why}"));
    }
    let blocked_ns: u64 = recorded.now.streams.iter().map(|s| s.blocked_ns).sum();
    let (most, ring) = (recorded.ring_most, recorded.now.ring.size_bytes);
    let comes_anyway = asked.inputs.iter().any(|input| !matches!(input, Input::Path { .. } | Input::Stdin { .. }));
    let waited = blocked_ns > recorded.now.elapsed_ns / 100 || most > ring / 4 * 3;
    if comes_anyway && waited && recorded.now.streams.iter().all(|s| s.lost_total() == 0) {
        remarks.push(format!(
            "the ring was up to {} % full: the storage is slower than what comes, at times or always, and in a longer recording frames may \
             be lost (narrows record plan measures it)",
            100 * most.min(ring) / ring.max(1)
        ));
    }
    if recorded.simulated {
        remarks.push("simulated device in simulated time: nothing was kept".into());
    }
    RecordDocument {
        target: recorded.path.display().to_string(),
        epoch: recorded.epoch,
        streams: recorded.now.streams.iter().map(stream).collect(),
        duration_s: recorded.now.elapsed_ns as f64 / 1e9,
        throughput_bytes_per_s: recorded.throughput_bytes_per_s(),
        written_bytes: ran.written.written_bytes,
        copied_bytes: ran.written.copied_bytes,
        uncopied_bytes: ran.written.uncopied_bytes,
        ack_ns_p50: recorded.age_ns(0.5),
        ack_ns_p99: recorded.age_ns(0.99),
        ack_ns_max: recorded.age_ns(1.0),
        ack_ns_asked: asked.max_latency_ns,
        flushes: ran.written.flushes,
        priority_effective,
        priority_reason,
        nice_asked: asked.nice,
        nice_effective: recorded.scheduling.nice,
        cpus_asked: asked.cpus.clone(),
        cpus_effective: recorded.scheduling.cpus.clone(),
        deferred: recorded.deferred.as_ref().map(|deferred| RecordDeferred {
            who: deferred.who.clone(),
            still_s: deferred.still_ns as f64 / 1e9,
            times: deferred.times,
        }),
        limits: recorded.limits.iter().map(limits::document).collect(),
        cpu_s_per_gb: cpu.map(|cpu| cpu.writer_s),
        process_cpu_s_per_gb: cpu.map(|cpu| cpu.process_s),
        ring_bytes: recorded.now.ring.size_bytes,
        ring_most_bytes: recorded.ring_most,
        ended_by: ran.written.ended_by.map(recorder::Loss::name),
        storage_failures: ran.written.failures,
        missing: ran.missing.clone(),
        remarks,
    }
}
