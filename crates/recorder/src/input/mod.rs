//! Where frames come from: pipes and files, sockets, cameras, and such that are made up. Each producer has a thread of its own.

mod bytes;
mod camera;
mod generator;
mod jpeg;
mod picture;
mod reading;
mod shared;
mod socket;

pub use bytes::{FRAME_HEAD_BYTES, FRAME_MAGIC, frame_head, parse_frame_head};
pub use camera::{CameraFormatError, capture, parse_camera_format};
pub use generator::{Generated, GeneratedError, GeneratedSource};
pub use jpeg::{JpegParser, PictureBytes};
pub use socket::{HELLO_MAGIC, SHARED_MAGIC, listen};

use crate::container::FrameKind;
use crate::frame_channel::{FrameChannel, StreamSender};
use reading::Reading;
use rustix::fs::{Mode, OFlags};
use rustix::process::{getpriority_process, setpriority_process};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::thread::JoinHandle;

/// Bytes that a pipe is asked to hold: fewer switches between the producer and us (pipe(7), F_SETPIPE_SZ).
const PIPE_BYTES: usize = 1 << 20;

/// Nice value of threads that make frames up: a third of the writer's share where both want a processor (sched(7)).
const PRODUCER_NICE: i32 = 5;

/// A producer that has been started: what it says at its end.
pub type Producer = JoinHandle<Result<(), String>>;

/// Whether a producer that is faster than the storage waits, or what it has is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingFull {
    /// It is not read from until there is room.
    Wait,
    /// Its frames are lost, and counted.
    Drop,
}

/// Opens a pipe or file that frames come by, without waiting for a writer.
///
/// # Errors
/// What open(2) says.
pub fn open(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?)
}

/// Starts reading what comes by a descriptor. What kind of frames it has is seen from its first bytes.
///
/// # Errors
/// No thread can be had.
pub fn read(file: OwnedFd, name: &str, full: RingFull, channel: FrameChannel) -> io::Result<Producer> {
    let called = name.to_owned();
    let body = move || {
        let failed = |e: io::Error| format!("{called}: {e}");
        let _ = rustix::pipe::fcntl_setpipe_size(&file, PIPE_BYTES);
        let stop = std::sync::Arc::clone(&channel.stop);
        let stops = move || stop.load(std::sync::atomic::Ordering::Relaxed);
        let mut reading = Reading::new(file.as_fd(), &stops);
        let mut first = [0; 4];
        let count = reading.read_all(&mut first).map_err(failed)?;
        let first = &first[..count];
        let Some(kind) = bytes::kind_of(first) else {
            return if count == 0 {
                Ok(())
            } else {
                Err(format!(
                    "{called}: what came is neither JPEG pictures nor frames with their length before them ({})",
                    first.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
                ))
            };
        };
        let mut sender = stream(channel, &called, kind, full)?;
        match kind {
            FrameKind::Jpeg => bytes::pictures(&mut reading, first, &mut sender),
            FrameKind::Opaque => bytes::framed(&mut reading, first, &mut sender),
        }
        .map_err(failed)
    };
    std::thread::Builder::new().name(format!("in {name}")).spawn(body)
}

/// Starts the made-up cameras, each with a thread.
///
/// # Errors
/// No thread can be had.
pub fn generate(cameras: Generated, channel: &FrameChannel) -> io::Result<Vec<Producer>> {
    let full = if cameras.frames_per_s.is_some() { RingFull::Drop } else { RingFull::Wait };
    let start = |camera: u32| {
        let name = format!("camera-{}", camera + 1);
        // Here, so that their numbers are in order.
        let sender = stream(channel.clone(), &name, FrameKind::Jpeg, full);
        std::thread::Builder::new().name(name).spawn(move || {
            lower_priority();
            cameras.produce(camera, &mut sender?);
            Ok(())
        })
    };
    (0..cameras.streams).map(start).collect()
}

/// A real camera takes no processor from the writer: neither does one that is made up, unless a nice value was asked for (on Linux
/// it is a thread's own: setpriority(2), "C library/kernel differences").
fn lower_priority() {
    if getpriority_process(None) == Ok(0) {
        let _ = setpriority_process(None, PRODUCER_NICE);
    }
}

/// Registers a stream for a producer.
fn stream(channel: FrameChannel, name: &str, kind: FrameKind, full: RingFull) -> Result<StreamSender, String> {
    let none = || format!("{name}: a recording has {} streams at most", crate::container::MAX_STREAMS);
    channel.stream(name, kind, full == RingFull::Wait).ok_or_else(none)
}
