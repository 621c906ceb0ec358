//! Requests of a block device as they are made, by whomever: the kernel's event `block:block_bio_queue` (k:include/trace/events/block.h) in an
//! instance of tracefs of our own (Documentation/trace/ftrace.rst).

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Where tracefs is mounted.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Buffer of the kernel for each processor, in KiB: some 60,000 requests.
const BUFFER_KIB: &str = "8192";
/// The event.
const EVENT: &str = "events/block/block_bio_queue";

/// The part of a disk that is recorded, in sectors of 512 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorRange {
    pub major: u32,
    pub minor: u32,
    pub start: u64,
    pub sectors: u64,
}

impl SectorRange {
    /// Of a block device: requests are told of the disk that a partition is of.
    fn of(device: &Path) -> io::Result<Self> {
        let facts = fs::metadata(device)?;
        if !facts.file_type().is_block_device() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a block device"));
        }
        let (major, minor) = (rustix::fs::major(facts.rdev()), rustix::fs::minor(facts.rdev()));
        let place = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}"))?;
        let number = |name: &str| -> io::Result<u64> {
            fs::read_to_string(place.join(name))?.trim().parse().map_err(io::Error::other)
        };
        let sectors = number("size")?;
        if !place.join("partition").exists() {
            return Ok(Self { major, minor, start: 0, sectors });
        }
        let disk = place.parent().unwrap_or(&place).join("dev");
        let disk = fs::read_to_string(disk)?;
        let (major, minor) = disk.trim().split_once(':').ok_or_else(|| io::Error::other("the disk has no number"))?;
        let parse = |text: &str| text.parse::<u32>().map_err(io::Error::other);
        Ok(Self { major: parse(major)?, minor: parse(minor)?, start: number("start")?, sectors })
    }
}

/// An instance of tracefs, which is gone when this is dropped.
struct TraceInstance(PathBuf);

impl TraceInstance {
    fn new(part: SectorRange) -> io::Result<Self> {
        let mounted = TRACEFS.iter().map(Path::new).find(|place| place.join("instances").is_dir());
        let mounted = mounted.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "tracefs is not mounted"))?;
        let place = mounted.join("instances").join(format!("narrows-{}", std::process::id()));
        fs::create_dir(&place)?;
        let instance = Self(place);
        instance.set("buffer_size_kb", BUFFER_KIB)?;
        // A dev_t of the kernel's own.
        instance.set(
            &format!("{EVENT}/filter"),
            &format!("dev == {}", u64::from(part.major) << 20 | u64::from(part.minor)),
        )?;
        instance.set(&format!("{EVENT}/enable"), "1")?;
        Ok(instance)
    }

    fn set(&self, name: &str, value: &str) -> io::Result<()> {
        fs::write(self.0.join(name), value)
    }

    fn pipe(&self) -> io::Result<File> {
        let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
        fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(self.0.join("trace_pipe"))
    }
}

impl Drop for TraceInstance {
    fn drop(&mut self) {
        let _ = self.set(&format!("{EVENT}/enable"), "0");
        let _ = fs::remove_dir(&self.0);
    }
}

/// The requests of a device, from now on until they are stopped.
pub struct BlockRequests {
    instance: TraceInstance,
    pipe: File,
    pub part: SectorRange,
    /// What was read and has no end yet.
    kept: Vec<u8>,
    buffer: Vec<u8>,
}

impl BlockRequests {
    /// Of a disk or a partition.
    ///
    /// # Errors
    /// `NotFound` where tracefs is not mounted, `PermissionDenied` without root, `InvalidInput` for what is no block device.
    pub fn of(device: &Path) -> io::Result<Self> {
        let part = SectorRange::of(device)?;
        let instance = TraceInstance::new(part)?;
        let pipe = instance.pipe()?;
        Ok(Self { instance, pipe, part, kept: Vec::new(), buffer: vec![0; 1 << 16] })
    }

    /// No more requests are taken; those that were are still to be read.
    ///
    /// # Errors
    /// Those of writing.
    pub fn stop(&self) -> io::Result<()> {
        self.instance.set(&format!("{EVENT}/enable"), "0")
    }

    /// Hands on what there is now; whether there was anything.
    ///
    /// # Errors
    /// Those of reading, and of who takes them.
    pub fn read(&mut self, mut take: impl FnMut(TracedRequest<'_>) -> io::Result<()>) -> io::Result<bool> {
        match self.pipe.read(&mut self.buffer) {
            Ok(0) => Ok(false),
            Ok(read) => {
                self.kept.extend_from_slice(&self.buffer[..read]);
                let whole = self.kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
                let text = String::from_utf8_lossy(&self.kept[..whole]).into_owned();
                self.kept.drain(..whole);
                text.lines().filter_map(traced_request).try_for_each(&mut take)?;
                Ok(true)
            }
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(false),
            Err(e) => Err(e),
        }
    }
}

/// What a line of trace_pipe says.
#[derive(Debug, PartialEq, Eq)]
pub enum TracedRequest<'t> {
    Request {
        cpu: u32,
        pid: u32,
        seconds: &'t str,
        rwbs: &'t str,
        sector: u64,
        sectors: u64,
        name: &'t str,
    },
    /// So many more had no room in the kernel's buffer.
    Lost(u64),
}

/// `  dd-812   [001] ..... 20312.898313: block_bio_queue: 254,0 RA 1447624 + 8 [dd]`; a name may hold anything.
pub fn traced_request(line: &str) -> Option<TracedRequest<'_>> {
    if let Some(lost) = line.split_once("[LOST ").and_then(|(_, rest)| rest.strip_suffix(" EVENTS]")) {
        return Some(TracedRequest::Lost(lost.parse().ok()?));
    }
    let (before, request) = line.split_once(": block_bio_queue: ")?;
    let (before, seconds) = before.rsplit_once(' ')?;
    let (task, cpu) = before.rsplit_once(" [")?;
    let cpu = cpu.split_once(']')?.0.parse().ok()?;
    let pid = task.trim_end().rsplit_once('-')?.1.parse().ok()?;
    let (request, name) = request.split_once(" [")?;
    let mut words = request.split(' ');
    let [_, rwbs, sector, "+", sectors] = std::array::from_fn(|_| words.next().unwrap_or("")) else { return None };
    let name = name.strip_suffix(']').unwrap_or(name);
    Some(TracedRequest::Request {
        cpu,
        pid,
        seconds,
        rwbs,
        sector: sector.parse().ok()?,
        sectors: sectors.parse().ok()?,
        name,
    })
}
