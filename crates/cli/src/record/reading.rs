//! What a recording holds, whether it is whole, and frames out of it.

use crate::args::{RecordArgs, RecordExport};
use crate::option_value;
use crate::output::Output;
use crate::output_file::OutputFile;
use crate::signals::Signals;
use conduct::admission::Consent;
use model::{Failure, parse_duration_ns};
use record::{Export, ExportFormat, ExportInto, Exported, Read, export, open_recording, pin, repair_recording};
use recorder::{Damage, Gap, ReadError, StreamContents, Verified};
use report::document::{
    RecordedStream, RecordingChecked, RecordingDocument, RecordingExported, RecordingGap, RecordingPinned,
};
use report::quantity;
use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// Progress is said after so much.
const PROGRESS_BYTES: u64 = 1 << 30;

/// Executes what reads.
pub fn command(args: &RecordArgs, output: &Output) -> Result<ExitCode, Failure> {
    let read = open_recording(args.target())?;
    let failed = |e: ReadError| Failure::device(format!("{}: {e}", read.path.display()));
    let streams = read.container.streams().map_err(failed)?;
    if args.pin || args.unpin {
        return pinning(args, output, &streams);
    }
    let mut document = document(&read, &streams).map_err(failed)?;
    if args.verify || args.recover {
        let (done, told) = (Cell::new(0), Cell::new(0));
        let tell = |bytes| {
            done.set(done.get() + bytes);
            if done.get() >= told.get() + PROGRESS_BYTES && std::io::stderr().is_terminal() && !output.is_json() {
                told.set(done.get());
                output.aside(&format!("{} read\n", quantity::size(done.get())));
            }
        };
        let verified = read.container.verify(&tell).map_err(failed)?;
        let damaged =
            read.container.damage.iter().any(|d| matches!(d, Damage::Superblock { .. } | Damage::BothSuperblocks));
        let consent = Consent { overwrite: args.overwrite, destroy: args.destroy.as_deref(), only: None };
        document.checked = Some(checked(&verified));
        if args.recover && (damaged || read.container.superblock.gives_back) {
            let path = read.path.clone();
            drop(read);
            let (mended, given_back_bytes) = repair_recording(path.as_os_str(), consent)?;
            document.checked = Some(RecordingChecked { mended, given_back_bytes, ..checked(&verified) });
        }
        answer(&document, output);
        // What was lost as a whole is no recording.
        let all_lost = document.streams.iter().all(|s| s.frames == 0) && document.streams.iter().any(|s| s.lost > 0);
        return Ok(ExitCode::from(u8::from(all_lost || !verified.is_intact())));
    }
    let Some(format) = args.export else {
        answer(&document, output);
        return Ok(ExitCode::SUCCESS);
    };
    let exported = exported(args, format, &read, &streams, output)?;
    let Exported { frames, bytes, unreadable } = exported;
    document.exported = Some(RecordingExported { frames, bytes, unreadable });
    match (&args.into, output.is_json()) {
        (None, _) => {
            output.aside(&format!("{} frames exported ({})\n", quantity::count(frames), quantity::size(bytes)))
        }
        (Some(_), _) => answer(&document, output),
    }
    Ok(ExitCode::from(u8::from(unreadable > 0)))
}

/// Pins, or lets go, and says what is pinned then.
fn pinning(args: &RecordArgs, output: &Output, streams: &[StreamContents]) -> Result<ExitCode, Failure> {
    if args.pin && args.from.is_none() && args.to.is_none() && args.last.is_none() {
        return Err(
            Failure::usage("--pin: which time is to be kept?").remedy("--last 2m, or --from TIME and --to TIME")
        );
    }
    let pinned = pin(args.target(), &time_of(args, streams)?, args.pin)?;
    let read = open_recording(args.target())?;
    let failed = |e: ReadError| Failure::device(format!("{}: {e}", read.path.display()));
    let document = document(&read, &read.container.streams().map_err(failed)?).map_err(failed)?;
    answer(&document, output);
    if pinned.too_late > 0 {
        let what = format!("{} segments were overwritten before they could be kept", quantity::count(pinned.too_late));
        output.warning(&what);
    }
    Ok(ExitCode::from(u8::from(pinned.too_late > 0)))
}

/// The time that is meant.
fn time_of(args: &RecordArgs, streams: &[StreamContents]) -> Result<std::ops::Range<u64>, Failure> {
    let held = || streams.iter().map(|stream| &stream.held).filter(|held| held.frames > 0);
    let start = held().map(|held| held.first_ns).min().unwrap_or(0);
    if let Some(text) = &args.last {
        let long = option_value::time_ns("--last", text)?;
        let end = held().map(|held| held.last_ns).max().unwrap_or(0);
        return Ok(end.saturating_sub(long)..u64::MAX);
    }
    let moment =
        |option: &str, text: Option<&str>, else_ns| text.map_or(Ok(else_ns), |text| moment_ns(option, text, start));
    Ok(moment("--from", args.from.as_deref(), 0)?..moment("--to", args.to.as_deref(), u64::MAX)?)
}

fn answer(document: &RecordingDocument, output: &Output) {
    output.answer(document, || report::recording(document));
}

fn exported(
    args: &RecordArgs,
    format: RecordExport,
    read: &Read,
    streams: &[StreamContents],
    output: &Output,
) -> Result<Exported, Failure> {
    let time_ns = time_of(args, streams)?;
    let format = match format {
        RecordExport::Jpeg => ExportFormat::Jpeg,
        RecordExport::Mjpeg => ExportFormat::Mjpeg,
        RecordExport::Mkv => ExportFormat::Mkv,
        RecordExport::Raw => ExportFormat::Raw,
    };
    let wanted = Export { format, stream: args.stream.as_deref(), time_ns };
    let signals = Signals::install()?;
    let stops = || signals.seen();
    match (format, &args.into) {
        (ExportFormat::Jpeg, Some(directory)) => {
            std::fs::create_dir_all(directory)
                .map_err(|e| Failure::environment(format!("{}: {e}", directory.display())))?;
            export(read, &wanted, ExportInto::Directory(directory), &stops)
        }
        (ExportFormat::Jpeg, None) => Err(Failure::usage("--export jpeg makes many files").remedy("--into DIRECTORY")),
        (_, Some(path)) => {
            let mut file = OutputFile::open(path)?;
            let done = export(read, &wanted, ExportInto::Bytes(&mut file), &stops)?;
            file.finish()?;
            Ok(done)
        }
        (_, None) if output.is_json() || std::io::stdout().is_terminal() => {
            Err(Failure::usage("frames are not text for stdout").remedy("--into FILE, or a pipe"))
        }
        (_, None) => export(read, &wanted, ExportInto::Bytes(&mut std::io::stdout().lock() as &mut dyn Write), &stops),
    }
}

/// A time of RFC 3339, or that long after the first frame.
fn moment_ns(option: &str, text: &str, start: u64) -> Result<u64, Failure> {
    if let Ok(after) = parse_duration_ns(text) {
        return Ok(start.saturating_add(after));
    }
    let time: jiff::Timestamp = text.parse().map_err(|_| {
        Failure::usage(format!("{option} {text}: neither a time nor a duration")).remedy("2026-11-25T13:00:00Z, or 90s")
    })?;
    u64::try_from(time.as_nanosecond()).map_err(|_| Failure::usage(format!("{option} {text}: before 1970")))
}

fn time_text(ns: u64) -> String {
    let time = jiff::Timestamp::from_nanosecond(i128::from(ns)).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

fn document(read: &Read, streams: &[StreamContents]) -> Result<RecordingDocument, ReadError> {
    let container = &read.container;
    let geometry = container.geometry();
    let stream = |stream: &StreamContents| {
        let held = &stream.held;
        let any = held.frames > 0;
        RecordedStream {
            name: stream.name.name.clone(),
            kind: stream.name.kind.name(),
            frames: held.frames,
            bytes: held.bytes,
            lost: held.lost,
            first: any.then(|| time_text(held.first_ns)),
            last: any.then(|| time_text(held.last_ns)),
        }
    };
    let superblock = &container.superblock;
    let spans = if superblock.pins.is_empty() { Vec::new() } else { container.spans()? };
    let pinned = |range: &std::ops::Range<u64>| {
        let inside = || spans.iter().filter(|span| range.contains(&span.segment));
        RecordingPinned {
            segments: range.end - range.start,
            first: inside().map(|span| span.from_ns).min().map(time_text),
            last: inside().map(|span| span.to_ns).max().map(time_text),
        }
    };
    let gap = |gap: &Gap| RecordingGap {
        from: time_text(gap.from_ns),
        to: time_text(gap.to_ns),
        why: if gap.overwritten { "overwritten" } else { "not-recorded" },
    };
    let identity = &superblock.identity;
    Ok(RecordingDocument {
        target: read.path.display().to_string(),
        uuid: identity.uuid.iter().map(|b| format!("{b:02x}")).collect(),
        recordings: identity.epoch,
        when_full: geometry.when_full.name(),
        segment_bytes: geometry.segment_bytes,
        segments_used: container.segments().len() as u64,
        segments: if geometry.grows() { container.segments().len() as u64 } else { geometry.segments },
        streams: streams.iter().map(stream).collect(),
        pinned: superblock.pins.ranges().iter().map(pinned).collect(),
        gaps: container.gaps()?.iter().map(gap).collect(),
        overwritten_before: container.overwritten_before()?.map(time_text),
        others: read.others.iter().map(|path| path.display().to_string()).collect(),
        checked: None,
        exported: None,
    })
}

fn checked(verified: &Verified) -> RecordingChecked {
    RecordingChecked {
        whole: verified.is_intact(),
        frames: verified.frames,
        unacknowledged: verified.unacknowledged,
        torn: verified.torn,
        damage: verified.damage.iter().map(damage).collect(),
        mended: false,
        given_back_bytes: 0,
    }
}

fn damage(damage: &Damage) -> String {
    match damage {
        Damage::Superblock { offset } => {
            format!("the copy of the superblock at {offset} is damaged; the other is whole")
        }
        Damage::BothSuperblocks => {
            "both superblocks are damaged; the segments said what they held, and what was pinned is not known".into()
        }
        Damage::Batches { epoch, from, until } => {
            format!("batches {from} to {} of recording {epoch} are missing, which were acknowledged", until - 1)
        }
        Damage::Frame { stream, sequence, offset } => {
            format!("frame {sequence} of {stream}, at {offset}, is not what was written")
        }
        Damage::Pinned { from, until } => format!("segments {from} to {} were pinned and are not there", until - 1),
        Damage::Footer { segment } => format!("the last block of segment {segment} does not say what it holds"),
    }
}
