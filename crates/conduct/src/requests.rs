//! Block requests of a disk, whoever makes them, as text of blkparse's form (Q lines), from the kernel's event `block:block_bio_queue`
//! (k:include/trace/events/block.h) in an instance of tracefs of our own (Documentation/trace/ftrace.rst).

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where tracefs is mounted.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Buffer of the kernel for each processor, in KiB: some 60,000 requests.
const BUFFER_KIB: &str = "8192";
/// How long nothing is looked for.
const PAUSE: Duration = Duration::from_millis(20);

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedRequests {
    /// Requests that were written down.
    pub requests: u64,
    /// Requests that the kernel's buffer had no room for.
    pub lost: u64,
}

/// The part of a disk that is recorded, in sectors of 512 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SectorRange {
    major: u32,
    minor: u32,
    start: u64,
    sectors: u64,
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
        let event = "events/block/block_bio_queue";
        // A dev_t of the kernel's own.
        instance.set(
            &format!("{event}/filter"),
            &format!("dev == {}", u64::from(part.major) << 20 | u64::from(part.minor)),
        )?;
        instance.set(&format!("{event}/enable"), "1")?;
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
        let _ = self.set("events/block/block_bio_queue/enable", "0");
        let _ = fs::remove_dir(&self.0);
    }
}

/// What a line of trace_pipe says.
#[derive(Debug, PartialEq, Eq)]
enum TraceLine<'t> {
    Request { cpu: u32, pid: u32, seconds: &'t str, rwbs: &'t str, sector: u64, sectors: u64, name: &'t str },
    Lost(u64),
}

/// `  dd-812   [001] ..... 20312.898313: block_bio_queue: 254,0 RA 1447624 + 8 [dd]`; a name may hold anything.
fn trace_line(line: &str) -> Option<TraceLine<'_>> {
    if let Some(lost) = line.split_once("[LOST ").and_then(|(_, rest)| rest.strip_suffix(" EVENTS]")) {
        return Some(TraceLine::Lost(lost.parse().ok()?));
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
    Some(TraceLine::Request {
        cpu,
        pid,
        seconds,
        rwbs,
        sector: sector.parse().ok()?,
        sectors: sectors.parse().ok()?,
        name,
    })
}

/// Writes down the requests of a block device, from just before `begins` until `done` says so. Requests of a partition count from
/// its start.
///
/// # Errors
/// What `begins` says; and by `failure`: `NotFound` where tracefs is not mounted, `PermissionDenied` without root, `InvalidInput` for what
/// is no block device, those of writing.
pub fn record_requests<E>(
    device: &Path,
    begins: impl FnOnce() -> Result<(), E>,
    done: impl Fn() -> bool,
    out: &mut impl Write,
    failure: impl Fn(io::Error) -> E,
) -> Result<RecordedRequests, E> {
    let part = SectorRange::of(device).map_err(&failure)?;
    let instance = TraceInstance::new(part).map_err(&failure)?;
    begins()?;
    follow(&instance, part, done, out).map_err(failure)
}

fn follow(
    instance: &TraceInstance,
    part: SectorRange,
    done: impl Fn() -> bool,
    out: &mut impl Write,
) -> io::Result<RecordedRequests> {
    let mut pipe = instance.pipe()?;
    let (mut recorded, mut kept, mut buffer) = (RecordedRequests::default(), Vec::new(), vec![0; 1 << 16]);
    let mut ends = false;
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => {}
            Ok(read) => {
                kept.extend_from_slice(&buffer[..read]);
                let whole = kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
                let text = String::from_utf8_lossy(&kept[..whole]).into_owned();
                kept.drain(..whole);
                for line in text.lines() {
                    take(line, part, &mut recorded, out)?;
                }
                continue;
            }
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(e) => return Err(e),
        }
        // What was under way at the end is still read.
        if ends {
            return Ok(recorded);
        }
        ends = done();
        if ends {
            instance.set("events/block/block_bio_queue/enable", "0")?;
        }
        std::thread::sleep(PAUSE);
    }
}

fn take(line: &str, part: SectorRange, recorded: &mut RecordedRequests, out: &mut impl Write) -> io::Result<()> {
    match trace_line(line) {
        Some(TraceLine::Lost(lost)) => recorded.lost += lost,
        Some(TraceLine::Request { cpu, pid, seconds, rwbs, sector, sectors, name }) => {
            // A flush names no sector of its own.
            let inside = sector.checked_sub(part.start).filter(|s| s.saturating_add(sectors) <= part.sectors);
            let Some(sector) = inside.or((sectors == 0).then_some(0)) else { return Ok(()) };
            recorded.requests += 1;
            let (number, SectorRange { major, minor, .. }) = (recorded.requests, part);
            write!(out, "{major:>3},{minor:<3} {cpu:>2} {number:>8} {seconds:>14} {pid:>5}  Q {rwbs:>3} {sector}")?;
            if sectors > 0 {
                write!(out, " + {sectors}")?;
            }
            writeln!(out, " [{name}]")?;
        }
        None => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_become_lines_of_blkparse() {
        let part = SectorRange { major: 254, minor: 0, start: 1000, sectors: 5000 };
        let (mut recorded, mut out) = (RecordedRequests::default(), Vec::new());
        for line in [
            "           cargo-16769   [001] ..... 20312.898313: block_bio_queue: 254,0 RA 1448 + 8 [cargo]",
            "     my [x] - y-77      [000] d..1. 20312.9: block_bio_queue: 254,0 WS 5992 + 8 [my [x] - y]",
            "           cargo-16769   [001] ..... 20313.000001: block_bio_queue: 254,0 R 5993 + 8 [cargo]",
            "           cargo-16769   [001] ..... 20313.000001: block_bio_queue: 254,0 R 999 + 8 [cargo]",
            "   jbd2/vda1-8-201   [001] ..... 20313.100000: block_bio_queue: 254,0 FF 0 + 0 [jbd2/vda1-8]",
            "CPU:1 [LOST 31 EVENTS]",
            "nothing of the kind",
        ] {
            take(line, part, &mut recorded, &mut out).unwrap();
        }
        assert_eq!(recorded, RecordedRequests { requests: 3, lost: 31 });
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            lines,
            [
                "254,0 1 1 20312.898313 16769 Q RA 448 + 8 [cargo]",
                "254,0 0 2 20312.9 77 Q WS 4992 + 8 [my [x] - y]",
                "254,0 1 3 20313.100000 201 Q FF 0 [jbd2/vda1-8]"
            ]
        );
        assert!(spec::is_trace(&text));
        let refused = record_requests(Path::new("/dev/null"), || Ok(()), || true, &mut Vec::new(), |e| e).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    }
}
