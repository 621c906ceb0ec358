//! The read-back of what a phase wrote, and second looks at what seems wrong.

use super::cold::drop_caches;
use super::own_files::Files;
use super::work::{OpenTarget, PhaseWork};
use model::{BlockStream, Failure};
use std::collections::BTreeMap;
use std::fs::File;
use std::hash::BuildHasher;
use std::sync::Arc;
use sys::{BufferPool, DirectAlignment, errno::EIO};
use workload::{BlockOp, OpKind, OpResult, ReadAgain, Verified, WrittenData};

/// Direct reads are of whole pieces of this size, which suits every device (logical sectors have at most 4 KiB).
const DIRECT_PIECE: u64 = 4096;

/// A run that has written nothing yet, with an id and a secret of its own.
pub(crate) fn nothing_written() -> WrittenData {
    // The keys of the standard library's hash maps are the system's random numbers, drawn once a thread; SipHash makes
    // words of them that do not tell the keys.
    let random = |purpose: u64| std::hash::RandomState::new().hash_one(purpose);
    WrittenData::new(random(1), [random(2), random(3)])
}

/// There is no memory for what verified data must hold.
pub(crate) fn out_of_memory(phase: &str, error: &workload::VerifyStateError) -> Failure {
    Failure::environment(format!("{phase}: {error}"))
        .remedy("verify a smaller region or larger blocks, or verify with fewer files")
}

/// What is known of where the reads of a part of a phase came from: [`model::VerifyReads`] without what is the same for the whole
/// target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadEvidence {
    /// Whether all went past the page cache.
    pub direct: bool,
    /// Pages that were left in the caches before; `None` if it cannot be told, or was not tried.
    pub resident_pages: Option<u64>,
    /// What the lowest layers read meanwhile.
    pub device_read_bytes: Option<u64>,
}

/// Reads places again, past the page cache where that can be.
#[derive(Debug)]
pub(super) struct Rereader {
    files: Files,
    /// Of each file a descriptor with O_DIRECT; `None` where there is none. Empty before the first suspect.
    direct: Vec<Option<File>>,
}

impl Rereader {
    pub(super) fn new(files: Files) -> Self {
        Self { files, direct: Vec::new() }
    }

    fn reread_direct(&mut self, file: usize, offset: u64, buffer: &mut [u8]) -> Result<(), i32> {
        if self.direct.is_empty() {
            self.direct = self.files.iter().map(|f| sys::reopen(f, false, true).ok()).collect();
        }
        let Some(Some(direct)) = self.direct.get(file) else { return Err(EIO) };
        let start = offset / DIRECT_PIECE * DIRECT_PIECE;
        let skipped = (offset - start) as usize;
        let len = (skipped + buffer.len()).next_multiple_of(DIRECT_PIECE as usize);
        let mut pool = BufferPool::new(1, len).map_err(|_| EIO)?;
        let whole = pool.buffer_mut(0);
        // A file may end within the last piece.
        read_whole(direct, start, whole, skipped + buffer.len())?;
        buffer.copy_from_slice(&whole[skipped..skipped + buffer.len()]);
        Ok(())
    }

    fn reread_buffered(&mut self, file: usize, offset: u64, buffer: &mut [u8]) -> Result<(), i32> {
        let file = self.files.get(file).ok_or(EIO)?;
        // Only what is clean can be dropped. What cannot be written or dropped is read as it is: no worse than before.
        let _ = sys::sync_data(file);
        let _ = sys::drop_cached(file, offset, buffer.len() as u64);
        read_whole(file, offset, buffer, buffer.len())
    }
}

/// Reads into a buffer until so many bytes of it are filled; EIO where there are no more.
fn read_whole(file: &File, offset: u64, buffer: &mut [u8], least: usize) -> Result<(), i32> {
    let mut got = 0;
    while got < least {
        match sys::read_at(file, &mut buffer[got..], offset + got as u64)? {
            0 => return Err(EIO),
            n => got += n,
        }
    }
    Ok(())
}

impl ReadAgain for Rereader {
    fn reread(&mut self, file: usize, offset: u64, buffer: &mut [u8]) -> Result<(), i32> {
        // Where the device fails, both say so.
        self.reread_direct(file, offset, buffer).or_else(|_| self.reread_buffered(file, offset, buffer))
    }
}

/// The way past the page cache for a stream whose own went through it; `None` where there is none, or it has another unit
/// than `unit`, of which all offsets and lengths are multiples.
pub(super) fn reopen_direct(way: &OpenTarget, stream: BlockStream<'_>, unit: u64) -> Option<OpenTarget> {
    let again = |file: &Arc<File>| {
        let sector = match sys::file_facts(file).map(|f| f.direct) {
            Ok(DirectAlignment::Supported { offset_bytes, .. }) => u64::from(offset_bytes.max(1)),
            Ok(DirectAlignment::Unsupported) => return None,
            Ok(DirectAlignment::NotTold) | Err(_) => DIRECT_PIECE,
        };
        let direct = sys::reopen(file, false, true).ok().filter(|_| unit.is_multiple_of(sector))?;
        // Some file systems grant the flag and refuse the I/O.
        let mut pool = BufferPool::new(1, sector.max(DIRECT_PIECE) as usize).ok()?;
        match sys::read_at(&direct, pool.buffer_mut(0), stream.block.region_start_bytes) {
            // The device's own errors are found, and counted, by the read-back.
            Ok(_) | Err(EIO) => Some(Arc::new(direct)),
            Err(_) => None,
        }
    };
    let files: Files = way.files.iter().map(again).collect::<Option<_>>()?;
    Some(OpenTarget { files, direct: true, ..OpenTarget::default() })
}

/// Before the read-back: what the stream wrote is made durable, whose failures are counted, and leaves the caches. The pages that stayed; `None` if it
/// cannot be told.
pub(super) fn make_cold(
    job: PhaseWork<'_>,
    verified: &mut Verified,
    files: &Files,
    stream: BlockStream<'_>,
    direct: bool,
    errors: &mut BTreeMap<String, u64>,
) -> Option<u64> {
    let sync = BlockOp { kind: OpKind::Fsync, ..BlockOp::default() };
    verified.on_submit(&sync);
    let flushed = files.iter().map(sys::sync_all).fold(Ok(()), Result::and);
    if let (Err(errno), true) = (flushed, errors.is_empty()) {
        // Also where nothing was to be written any more: the device says that something is gone. Of writes that failed it says
        // nothing new.
        *errors.entry(sys::errno_name(errno)).or_default() += 1;
    }
    // What a failed fsync covered may be gone, and is said to be lost late.
    verified.on_end(&sync, OpResult { at_ns: 0, result: flushed.map(|()| 0) });
    let mut left = Some(0);
    let mut method = String::new();
    for file in files {
        let (start, len) = (stream.block.region_start_bytes, stream.block.region_bytes);
        let dropped = drop_caches(file, job.device, start, len, &job.options.backing_files);
        left = left.zip(dropped.resident_pages).map(|(a, b)| a + b);
        method = dropped.method;
    }
    left = left.filter(|_| !job.options.hidden_backing);
    let way = if direct { "direct" } else { "through the page cache" };
    verified.read_method(match left {
        Some(0) => format!("{way}; the page cache was dropped before"),
        Some(pages) => format!("{way}; {pages} pages stayed in the page cache ({method})"),
        None => format!("{way}; whether the page cache was dropped cannot be told ({method})"),
    });
    left
}
