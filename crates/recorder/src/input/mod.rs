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
pub use camera::{WishError, capture, parse_wish};
pub use generator::{Generated, GeneratedError, InTime};
pub use jpeg::{PictureBytes, Walk};
pub use socket::{HELLO_MAGIC, SHARED_MAGIC, listen};

use crate::container::FrameKind;
use crate::frame::{Doors, Inflow};
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
const MAKERS_NICE: i32 = 5;

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
pub fn read(file: OwnedFd, name: &str, full: RingFull, doors: Doors) -> io::Result<Producer> {
    let called = name.to_owned();
    let body = move || {
        let failed = |e: io::Error| format!("{called}: {e}");
        let _ = rustix::pipe::fcntl_setpipe_size(&file, PIPE_BYTES);
        let stop = std::sync::Arc::clone(&doors.stop);
        let stops = move || stop.load(std::sync::atomic::Ordering::Relaxed);
        let mut reading = Reading::new(file.as_fd(), &stops);
        let mut first = [0; 4];
        let count = reading.all(&mut first).map_err(failed)?;
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
        let mut inflow = stream(doors, &called, kind, full)?;
        match kind {
            FrameKind::Jpeg => bytes::pictures(&mut reading, first, &mut inflow),
            FrameKind::Opaque => bytes::framed(&mut reading, first, &mut inflow),
        }
        .map_err(failed)
    };
    std::thread::Builder::new().name(format!("in {name}")).spawn(body)
}

/// Starts the made-up cameras, each with a thread.
///
/// # Errors
/// No thread can be had.
pub fn generate(cameras: Generated, doors: &Doors) -> io::Result<Vec<Producer>> {
    let full = if cameras.frames_per_s.is_some() { RingFull::Drop } else { RingFull::Wait };
    let start = |camera: u32| {
        let name = format!("camera-{}", camera + 1);
        // Here, so that their numbers are in order.
        let inflow = stream(doors.clone(), &name, FrameKind::Jpeg, full);
        std::thread::Builder::new().name(name).spawn(move || {
            behind_the_writer();
            cameras.bring(camera, &mut inflow?);
            Ok(())
        })
    };
    (0..cameras.streams).map(start).collect()
}

/// A real camera takes no processor from the writer: neither does one that is made up, unless a nice value was asked for (on Linux
/// it is a thread's own: setpriority(2), "C library/kernel differences").
fn behind_the_writer() {
    if getpriority_process(None) == Ok(0) {
        let _ = setpriority_process(None, MAKERS_NICE);
    }
}

/// One more stream.
fn stream(doors: Doors, name: &str, kind: FrameKind, full: RingFull) -> Result<Inflow, String> {
    let none = || format!("{name}: a recording has {} streams at most", crate::container::MOST_STREAMS);
    doors.stream(name, kind, full == RingFull::Wait).ok_or_else(none)
}
