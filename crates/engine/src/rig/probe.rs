//! A short durable write before the plan is made, so that its size fits the target's speed.

use crate::{Control, DataGenerator};
use model::Ns;
use std::fs::File;
use std::os::unix::fs::FileExt;
use sys::{BufferPool, Epoch};

/// Bytes of one write.
const BLOCK: u64 = 1 << 20;
/// Through the page cache: sync this often, so that no long queue of dirty pages has to be waited for.
const SYNC_EVERY: u64 = 4 << 20;
/// Rounds through the page cache: the first one, small because a slow path takes seconds for it, and the largest.
const FIRST_ROUND: u64 = 256 << 10;
const LARGEST_ROUND: u64 = 4 << 20;
/// A round that takes this long says enough; a shorter one is mostly its sync.
const TELLING_NS: Ns = 100_000_000;

/// What the probe found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteProbe {
    /// Bytes written and made durable.
    pub bytes: u64,
    /// Time, the last sync included.
    pub ns: Ns,
    /// Past the page cache.
    pub direct: bool,
    /// Rate of a round through the page cache (write, then sync), where `direct` went past it.
    pub round_bytes_per_s: Option<f64>,
}

impl WriteProbe {
    /// Bytes per second; `None` if it was stopped before the first block.
    pub fn bytes_per_s(&self) -> Option<f64> {
        (self.bytes > 0 && self.ns > 0).then(|| self.bytes as f64 * 1e9 / self.ns as f64)
    }
}

/// Writes 1 MiB blocks from the start of the file until bytes or time are used up, at least one, and syncs. What was written
/// is added to `written`, whatever happens.
///
/// # Errors
/// The errno.
pub(crate) fn write_probe(
    file: &File,
    direct: bool,
    max_bytes: u64,
    max_ns: Ns,
    control: &Control,
    written: &mut u64,
) -> Result<WriteProbe, i32> {
    let mut writer = Writer::new(file, BLOCK, 0x5eed, written)?;
    let epoch = Epoch::start();
    let mut bytes = 0;
    loop {
        writer.write(bytes)?;
        bytes += BLOCK;
        if !direct && bytes % SYNC_EVERY == 0 {
            sys::sync_data(file)?;
        }
        if bytes + BLOCK > max_bytes || epoch.elapsed_ns() >= max_ns || control.stopped() {
            break;
        }
    }
    sys::sync_data(file)?;
    Ok(WriteProbe { bytes, ns: epoch.elapsed_ns(), direct, round_bytes_per_s: None })
}

/// Rounds of buffered writes from the start of the file, each with its sync and twice as large as the one before, until
/// one takes long enough or may grow no more. What goes through the page cache may be a hundred times slower than what
/// goes past it (a block device whose pages are written back one by one under a cap of operations), and a sync cannot be
/// interrupted: rounds planned by the direct rate would take minutes. Returns the last rate; what was written is added to
/// `written`, whatever happens.
///
/// # Errors
/// The errno.
pub(crate) fn round_probe(
    file: &File,
    max_bytes: u64,
    control: &Control,
    written: &mut u64,
) -> Result<Option<f64>, i32> {
    let mut writer = Writer::new(file, FIRST_ROUND, 0x5eee, written)?;
    let mut rate = None;
    let mut round = FIRST_ROUND;
    while round <= max_bytes.min(LARGEST_ROUND) && !control.stopped() {
        let epoch = Epoch::start();
        for offset in (0..round).step_by(FIRST_ROUND as usize) {
            writer.write(offset)?;
        }
        sys::sync_data(file)?;
        let ns = epoch.elapsed_ns().max(1);
        rate = Some(round as f64 * 1e9 / ns as f64);
        if ns >= TELLING_NS {
            break;
        }
        round *= 2;
    }
    Ok(rate)
}

/// Writes blocks of one size, no two alike.
struct Writer<'a> {
    file: &'a File,
    pool: BufferPool,
    content: DataGenerator,
    written: &'a mut u64,
}

impl<'a> Writer<'a> {
    fn new(file: &'a File, block: u64, seed: u64, written: &'a mut u64) -> Result<Self, i32> {
        let mut pool = BufferPool::new(1, block as usize).map_err(|e| e.raw_os_error().unwrap_or(0))?;
        let content = DataGenerator::new(seed);
        content.fill(0, pool.buffer_mut(0));
        Ok(Self { file, pool, content, written })
    }

    /// Writes a whole block. Of one that fails all bytes may have been written, and count as such.
    fn write(&mut self, offset: u64) -> Result<(), i32> {
        self.content.stamp(self.pool.buffer_mut(0), offset);
        let block = self.pool.buffer(0);
        *self.written += block.len() as u64;
        self.file.write_all_at(block, offset).map_err(|e| e.raw_os_error().unwrap_or(0))
    }
}
