//! A short durable write before the plan is made, so that its size fits the target's speed.

use crate::{Content, Control};
use model::Ns;
use std::fs::File;
use sys::{BufferPool, Epoch};

/// Bytes of one write.
const BLOCK: u64 = 1 << 20;
/// Through the page cache: sync this often, so that no long queue of dirty pages has to be waited for.
const SYNC_EVERY: u64 = 4 << 20;

/// What the probe found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteProbe {
    /// Bytes written and made durable.
    pub bytes: u64,
    /// Time, the last sync included.
    pub ns: Ns,
    /// Past the page cache.
    pub direct: bool,
}

impl WriteProbe {
    /// Bytes per second; `None` if it was stopped before the first block.
    pub fn bytes_per_s(&self) -> Option<f64> {
        (self.bytes > 0 && self.ns > 0).then(|| self.bytes as f64 * 1e9 / self.ns as f64)
    }
}

/// Writes 1 MiB blocks from the start of the file until bytes or time are used up, at least one, and syncs.
///
/// # Errors
/// The bytes that were written and the errno.
pub(crate) fn write_probe(
    file: &File,
    direct: bool,
    max_bytes: u64,
    max_ns: Ns,
    seed: u64,
    control: &Control,
) -> Result<WriteProbe, (u64, i32)> {
    let errno = |e: std::io::Error| e.raw_os_error().unwrap_or(0);
    let mut pool = BufferPool::new(1, BLOCK as usize).map_err(|e| (0, errno(e)))?;
    let mut content = Content::new(seed);
    content.fill(0, pool.buffer_mut(0));
    let epoch = Epoch::start();
    let mut bytes = 0;
    loop {
        content.stamp(pool.buffer_mut(0), bytes);
        let mut done = 0;
        while done < BLOCK {
            match sys::write_at(file, &pool.buffer(0)[done as usize..], bytes + done) {
                Ok(0) => return Err((bytes + done, 0)),
                Ok(n) => done += n as u64,
                Err(e) => return Err((bytes + done, e)),
            }
        }
        bytes += BLOCK;
        if !direct && bytes % SYNC_EVERY == 0 {
            sys::sync_data(file).map_err(|e| (bytes, e))?;
        }
        if bytes + BLOCK > max_bytes || epoch.elapsed_ns() >= max_ns || control.stopped() {
            break;
        }
    }
    sys::sync_data(file).map_err(|e| (bytes, e))?;
    Ok(WriteProbe { bytes, ns: epoch.elapsed_ns(), direct })
}
