//! Where frames come from, opened before anything is written, and started.

use crate::{Input, Recording};
use model::{Failure, FailureKind};
use recorder::FrameChannel;
use recorder::input::{Generated, Producer, RingFull, capture, generate, listen, open, read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use sys::VideoCamera;

/// Sockets that were made go when nobody listens there any more, however it ended.
pub(crate) struct Sockets<'a>(pub &'a [Input]);

impl Drop for Sockets<'_> {
    fn drop(&mut self) {
        for input in self.0 {
            if let Input::Socket(path) = input
                && is_left_behind(path)
            {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// Whether it is a socket at which nobody listens.
fn is_left_behind(path: &Path) -> bool {
    let refused = |e: std::io::Error| e.kind() == std::io::ErrorKind::ConnectionRefused;
    path.symlink_metadata().is_ok_and(|m| m.file_type().is_socket())
        && std::os::unix::net::UnixStream::connect(path).is_err_and(refused)
}

pub(crate) fn open_input(input: &Input) -> Result<(Opened, String), Failure> {
    let cannot = |what: &str, e: std::io::Error| Failure::environment(format!("{what}: {e}"));
    Ok(match input {
        Input::Stdin { name } => {
            let file = rustix::io::dup(std::io::stdin()).map_err(|e| cannot("stdin", e.into()))?;
            (Opened::Bytes(file), name.clone())
        }
        Input::Path { name, path } => {
            let file = open(path).map_err(|e| cannot(&path.display().to_string(), e))?;
            (Opened::Bytes(file), name.clone())
        }
        Input::Camera { name, path, wish } => {
            let camera = VideoCamera::open(path, wish).map_err(|e| camera_failed(path, &e))?;
            (Opened::Camera(camera), name.clone())
        }
        Input::Socket(path) => (Opened::Socket(bind(path)?), String::new()),
        Input::Cameras(cameras) => (Opened::Cameras(*cameras), String::new()),
    })
}

fn camera_failed(path: &Path, e: &std::io::Error) -> Failure {
    use std::io::ErrorKind::{NotFound, PermissionDenied, ResourceBusy, Unsupported};
    let (kind, remedy) = match e.kind() {
        Unsupported => {
            (FailureKind::Usage, "ls /dev/v4l/by-id shows what is there; v4l2-ctl --list-formats-ext what it can")
        }
        NotFound => (FailureKind::Environment, "ls /dev/v4l/by-id shows which cameras there are"),
        PermissionDenied => (FailureKind::Environment, "be a member of the group that it belongs to (video), or root"),
        ResourceBusy => (FailureKind::Environment, "another program has it: fuser -v shows which"),
        _ => (FailureKind::Environment, "dmesg may say more"),
    };
    Failure::new(kind, format!("{}: {e}", path.display())).remedy(remedy)
}

/// An input that is open.
pub(crate) enum Opened {
    Bytes(OwnedFd),
    Camera(VideoCamera),
    Socket(UnixListener),
    Cameras(Generated),
}

pub(crate) fn start(
    inputs: Vec<(Opened, String)>,
    full: RingFull,
    channel: FrameChannel,
) -> Result<Vec<Producer>, Failure> {
    let cannot = |e: std::io::Error| {
        Failure::environment(format!("no thread for a producer: {e}")).remedy(engine::NO_THREAD_REMEDY)
    };
    let mut producers = Vec::new();
    for (input, name) in inputs {
        match input {
            Opened::Bytes(file) => producers.push(read(file, &name, full, channel.clone()).map_err(cannot)?),
            Opened::Camera(camera) => producers.push(capture(camera, &name, channel.clone()).map_err(cannot)?),
            Opened::Socket(socket) => producers.push(listen(socket, full, channel.clone()).map_err(cannot)?),
            Opened::Cameras(cameras) => producers.extend(generate(cameras, &channel).map_err(cannot)?),
        }
    }
    Ok(producers)
}

/// A socket at a place where nothing is, or where one was left behind.
///
/// # Errors
/// Somebody listens there, or something else is there.
pub fn bind(path: &Path) -> Result<UnixListener, Failure> {
    let cannot = |e: std::io::Error| Failure::environment(format!("{}: {e}", path.display()));
    if is_left_behind(path) {
        std::fs::remove_file(path).map_err(cannot)?;
    }
    UnixListener::bind(path).map_err(cannot)
}

impl Input {
    /// Bytes of the largest frame of cameras that are made up; of others that is not known before.
    pub fn largest_generated_frame(&self) -> Option<u64> {
        match self {
            Self::Cameras(cameras) => Some(cameras.most_frame_bytes()),
            _ => None,
        }
    }
}

impl Recording<'_> {
    /// Bytes of the largest frame that is known to come, 0 where none is.
    pub(crate) fn largest_generated_frame(&self) -> u64 {
        self.inputs.iter().filter_map(Input::largest_generated_frame).max().unwrap_or(0)
    }
}
