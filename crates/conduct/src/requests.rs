//! Block requests of a disk, whoever makes them, as text of blkparse's form (Q lines).

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;
use sys::{BlockRequests, SectorRange, TracedRequest};

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

/// Writes down the requests of a block device, from just before `begins` until `done` says so. Requests of a partition count from
/// its start.
///
/// # Errors
/// What `begins` says; and by `failure`: those of [`BlockRequests::of`] and of writing.
pub fn record_requests<E>(
    device: &Path,
    begins: impl FnOnce() -> Result<(), E>,
    done: impl Fn() -> bool,
    out: &mut impl Write,
    failure: impl Fn(io::Error) -> E,
) -> Result<RecordedRequests, E> {
    let requests = BlockRequests::of(device).map_err(&failure)?;
    begins()?;
    follow(requests, done, out).map_err(failure)
}

fn follow(mut requests: BlockRequests, done: impl Fn() -> bool, out: &mut impl Write) -> io::Result<RecordedRequests> {
    let (part, mut recorded) = (requests.part, RecordedRequests::default());
    let mut ends = false;
    loop {
        if requests.read(|request| take(request, part, &mut recorded, out))? {
            continue;
        }
        // What was under way at the end is still read.
        if ends {
            return Ok(recorded);
        }
        ends = done();
        if ends {
            requests.stop()?;
        }
        std::thread::sleep(PAUSE);
    }
}

fn take(
    request: TracedRequest<'_>,
    part: SectorRange,
    recorded: &mut RecordedRequests,
    out: &mut impl Write,
) -> io::Result<()> {
    let (cpu, pid, seconds, rwbs, sector, sectors, name) = match request {
        TracedRequest::Lost(lost) => {
            recorded.lost += lost;
            return Ok(());
        }
        TracedRequest::Request { cpu, pid, seconds, rwbs, sector, sectors, name } => {
            (cpu, pid, seconds, rwbs, sector, sectors, name)
        }
    };
    // A flush names no sector of its own.
    let inside = sector.checked_sub(part.start).filter(|s| s.saturating_add(sectors) <= part.sectors);
    let Some(sector) = inside.or((sectors == 0).then_some(0)) else { return Ok(()) };
    recorded.requests += 1;
    let (number, SectorRange { major, minor, .. }) = (recorded.requests, part);
    write!(out, "{major:>3},{minor:<3} {cpu:>2} {number:>8} {seconds:>14} {pid:>5}  Q {rwbs:>3} {sector}")?;
    if sectors > 0 {
        write!(out, " + {sectors}")?;
    }
    writeln!(out, " [{name}]")
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
            if let Some(request) = sys::traced_request(line) {
                take(request, part, &mut recorded, &mut out).unwrap();
            }
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
