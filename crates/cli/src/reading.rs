//! A text that a command was told to read. Reading must end: a name is looked at before it is opened, a device or a file of
//! the kernel that waits for its next line (/proc/kmsg, trace_pipe) is refused, and whoever waits for a pipe or a terminal
//! is told so. No handler of signals is needed: where none is installed a signal ends the program at once, and where one is
//! it ends the reading.

use crate::looked_at::{LookedAt, kind_name};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fstat, fstatfs};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// A pipe that has given nothing for so long is waited for, and that is said.
const PATIENCE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
/// Numbers of file systems whose files are the kernel's answers (include/uapi/linux/magic.h): proc, sysfs, debugfs, tracefs,
/// securityfs, cgroup, cgroup2.
const KERNEL_FILES: [u32; 7] = [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0x0027_e0eb, 0x6367_7270];

/// What is being read.
pub struct Reading {
    from: File,
    /// In words, for the message that it is waited for: `the workload from stdin`.
    what: String,
    /// What it is, where it may give nothing for a while.
    waits: Option<&'static str>,
}

/// Whether a pipe will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipes {
    /// What a shell substitutes: `<(command)`.
    Taken,
    /// A file is meant.
    Refused,
}

/// Opens a file; `what` is what it holds, in words.
///
/// # Errors
/// Those of open(2), and [`io::ErrorKind::InvalidInput`] for what is no text to be read.
pub fn file(path: &Path, pipes: Pipes, what: &str) -> io::Result<Reading> {
    let found = LookedAt::at(path)?.ok_or(Errno::NOENT)?;
    match found.kind() {
        FileType::RegularFile if is_kernel_file(&found) => return Err(kernel_file()),
        FileType::RegularFile => {}
        FileType::Fifo if pipes == Pipes::Taken => {}
        kind => return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {}", kind_name(kind)))),
    }
    let from = found.open(OFlags::RDONLY)?;
    let waits = (found.kind() == FileType::Fifo).then_some("a pipe");
    Ok(Reading { from, what: format!("{what} from {}", path.display()), waits })
}

/// Stdin; `what` is what it holds, in words.
///
/// # Errors
/// As [`file()`].
pub fn stdin(what: &str) -> io::Result<Reading> {
    let stdin = io::stdin();
    if is_kernel_file(&stdin) {
        return Err(kernel_file());
    }
    let waits = match FileType::from_raw_mode(fstat(&stdin)?.st_mode) {
        _ if stdin.is_terminal() => Some("a terminal"),
        FileType::RegularFile => None,
        kind => Some(kind_name(kind)),
    };
    let own: OwnedFd = stdin.as_fd().try_clone_to_owned()?;
    let mut reading = Reading { from: own.into(), what: format!("{what} from stdin"), waits };
    if reading.waits == Some("a terminal") {
        reading.say("Ctrl-D ends it");
    }
    Ok(reading)
}

impl Reading {
    /// Its size, where it is a file.
    pub fn size_bytes(&self) -> u64 {
        self.from.metadata().map_or(0, |m| m.len())
    }

    /// The file once more, where it is one that can be read again from its start.
    pub fn again(&self) -> io::Result<Option<File>> {
        let is_file = self.from.metadata()?.is_file();
        is_file.then(|| self.from.try_clone()).transpose()
    }

    fn say(&mut self, more: &str) {
        if let Some(kind) = self.waits.take() {
            let text = report::text::plain(&format!("reading {}, {kind}; {more}", self.what), false);
            let _ = writeln!(io::stderr().lock(), "narrows: {text}");
        }
    }

    /// Returns when there is something to read, or an end. What has no poll(2) is always ready.
    fn wait(&mut self) -> io::Result<()> {
        loop {
            let patience = self.waits.is_some().then_some(&PATIENCE);
            match poll(&mut [PollFd::new(&self.from.as_fd(), PollFlags::IN)], patience) {
                Ok(0) => self.say("it has given nothing yet; Ctrl-C ends the waiting"),
                Ok(_) => return Ok(()),
                // As an error of another kind: what reads to the end goes on after EINTR.
                Err(Errno::INTR) => return Err(io::Error::other("interrupted by a signal")),
                Err(e) => return Err(e.into()),
            }
        }
    }
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.wait()?;
            match self.from.read(buffer) {
                // Another reader of the pipe was faster.
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {
                    return Err(io::Error::other("interrupted by a signal"));
                }
                other => return other,
            }
        }
    }
}

fn kernel_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is a file of the kernel, and its reading need not end")
}

fn is_kernel_file(file: impl AsFd) -> bool {
    fstatfs(file).is_ok_and(|stat| KERNEL_FILES.contains(&(stat.f_type as u32)))
}
