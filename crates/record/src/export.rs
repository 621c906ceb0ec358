//! Frames of a recording as pictures, films and bytes, also while it is being written: it never takes the disk from the recorder.

use crate::Read;
use model::{Failure, IoClass, IoPriority};
use recorder::{FrameEntry, FrameKind, Matroska, MatroskaError, ReadError, VideoTimes};
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::ops::{ControlFlow, Range};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What frames are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// A file for each picture, in a directory.
    Jpeg,
    /// Pictures one behind the other.
    Mjpeg,
    /// A film with its times.
    Mkv,
    /// The frames' bytes one behind the other.
    Raw,
}

/// Which frames, and as what.
#[derive(Clone, Debug)]
pub struct Export<'a> {
    pub format: ExportFormat,
    /// Of which stream; needed where there are several.
    pub stream: Option<&'a str>,
    /// Of which time, nanoseconds since 1970: by the moment that the producer gave, else that of arrival.
    pub time_ns: Range<u64>,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Frames that were.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Frames that are not what was recorded, or were overwritten while they were read.
    pub unreadable: u64,
}

/// The moment of a frame, nanoseconds since 1970.
pub fn moment_ns(frame: &FrameEntry) -> u64 {
    if frame.capture_ns > 0 { frame.capture_ns } else { frame.arrival_ns }
}

enum Sink<'a> {
    Directory(&'a Path),
    Bytes(BufWriter<&'a mut dyn Write>),
    Film(Matroska<BufWriter<&'a mut dyn Write>>),
}

/// Where it goes.
pub enum Into<'a> {
    /// A file for each frame, in this directory.
    Directory(&'a Path),
    /// One stream of bytes.
    Bytes(&'a mut dyn Write),
}

fn failed(path: &Path, e: &ReadError) -> Failure {
    Failure::device(format!("{}: {e}", path.display()))
}

/// Writes the frames, until `stops` says so.
///
/// # Errors
/// There is no such stream, or there are several; the recording cannot be read, or what is written not be written.
pub fn export(read: &Read, export: &Export<'_>, into: Into<'_>, stops: &dyn Fn() -> bool) -> Result<Exported, Failure> {
    // Whoever records goes first.
    let idle = IoPriority { class: IoClass::Idle, level: 0, hint: 0 };
    let _ = sys::set_io_priority(idle.bits());
    let stream = chosen(read, export)?;
    let mut time_ns = export.time_ns.clone();
    let mut sink = match (into, export.format) {
        (Into::Directory(directory), _) => Sink::Directory(directory),
        (Into::Bytes(bytes), ExportFormat::Mkv) => {
            let times = video_times(read, stream.as_deref(), &time_ns)?;
            // What is recorded from here on is not in it: its length has been said.
            time_ns.end = times.last_ns().map_or(time_ns.end, |last| time_ns.end.min(last + 1));
            Sink::Film(Matroska::new(BufWriter::new(bytes), times))
        }
        (Into::Bytes(bytes), _) => Sink::Bytes(BufWriter::new(bytes)),
    };
    let mut done = Exported::default();
    let mut wrong = None;
    let went = read.container.frames(stream.as_deref(), &mut |name, frame, bytes| {
        let at = moment_ns(&frame.entry);
        if !time_ns.contains(&at) {
            return ControlFlow::Continue(());
        }
        let Some(bytes) = bytes else {
            done.unreadable += 1;
            return ControlFlow::Continue(());
        };
        let file = || format!("{}-{:08}.{}", file_name(&name.name), frame.entry.sequence, extension(name.kind));
        let written = match &mut sink {
            Sink::Bytes(into) => into.write_all(bytes).map_err(MatroskaError::from),
            Sink::Film(film) => film.picture(at, bytes),
            Sink::Directory(directory) => new_file(&directory.join(file()), bytes).map_err(MatroskaError::from),
        };
        match written {
            Ok(()) => (done.frames, done.bytes) = (done.frames + 1, done.bytes + bytes.len() as u64),
            Err(e) => wrong = Some(e),
        }
        if wrong.is_some() || stops() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    went.map_err(|e| failed(&read.path, &e))?;
    let ended = match sink {
        Sink::Bytes(mut into) => into.flush(),
        Sink::Film(film) => film.finish(),
        Sink::Directory(_) => Ok(()),
    };
    match wrong.or(ended.err().map(MatroskaError::from)) {
        // A reader that has seen enough is no error.
        Some(MatroskaError::Io(e)) if e.kind() == io::ErrorKind::BrokenPipe => Ok(done),
        Some(e) => Err(Failure::environment(format!("the export cannot be written: {e}"))),
        None => Ok(done),
    }
}

/// When the frames of this time are: what a film says of its length and rate before the first.
fn video_times(read: &Read, stream: Option<&str>, time_ns: &Range<u64>) -> Result<VideoTimes, Failure> {
    let mut times = VideoTimes::default();
    let add = &mut |frame: &FrameEntry| {
        let at = moment_ns(frame);
        if time_ns.contains(&at) {
            times.add(at);
        }
    };
    read.container.directory(stream, add).map_err(|e| failed(&read.path, &e))?;
    Ok(times)
}

/// The stream that was asked for, or the only one; of all of them only single pictures can be written.
fn chosen(read: &Read, export: &Export<'_>) -> Result<Option<String>, Failure> {
    let streams = read.container.streams().map_err(|e| failed(&read.path, &e))?;
    let names: Vec<&str> = streams.iter().map(|s| s.name.name.as_str()).collect();
    let usage = |what: String| Failure::usage(format!("{}: {what}", read.path.display()));
    let stream = match (export.stream, names.as_slice()) {
        (Some(wanted), _) if names.contains(&wanted) => Some(wanted),
        (Some(wanted), _) => {
            return Err(usage(format!("there is no stream {wanted}; there are: {}", names.join(", "))));
        }
        (None, [only]) => Some(*only),
        (None, _) if export.format == ExportFormat::Jpeg => None,
        (None, []) => return Err(usage("no stream was recorded".to_owned())),
        (None, _) => {
            return Err(usage(format!("which stream? There are: {}", names.join(", "))).remedy("--stream NAME"));
        }
    };
    Ok(stream.map(str::to_owned))
}

fn extension(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Jpeg => "jpg",
        FrameKind::Opaque => "bin",
    }
}

/// What a stream is called came from outside: no part of a path is made of it.
fn file_name(stream: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = stream.chars().map(safe).collect();
    if name.starts_with('.') || name.is_empty() { format!("_{name}") } else { name }
}

fn new_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_of_streams_are_no_paths() {
        assert_eq!(file_name("../../etc/passwd"), "_.._.._etc_passwd");
        assert_eq!((file_name(""), file_name("front"), file_name("a\nb")), ("_".into(), "front".into(), "a_b".into()));
    }
}
