//! Reads beside the writes of a soak, so that the interface carries data in both directions; what they read is not looked at.

use crate::admission::Object;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const BLOCK: usize = 64 << 10;
/// Enough for every logical block size.
const ALIGNMENT: usize = 4096;

/// A second opening of what is soaked, past the page cache.
pub(super) struct Busy {
    file: File,
    buffer: Vec<u8>,
}

impl Busy {
    /// Of the same object.
    ///
    /// # Errors
    /// What keeps it from being read past the page cache, in words.
    pub(super) fn open(path: &Path, object: Option<Object>) -> Result<Self, String> {
        let file = File::open(path).and_then(|file| sys::reopen(&file, false, true)).map_err(|e| e.to_string())?;
        let same = file.metadata().is_ok_and(|m| object == Some(Object::of(&m)));
        same.then(|| Self { file, buffer: vec![0; BLOCK + ALIGNMENT] })
            .ok_or_else(|| "something else stands there".into())
    }

    /// Reads places at random of this region while the work runs; how many bytes.
    pub(super) fn beside<T>(&mut self, region: Range<u64>, seed: u64, work: impl FnOnce() -> T) -> (T, u64) {
        let places = (region.end - region.start) / BLOCK as u64;
        let ended = AtomicBool::new(places == 0);
        std::thread::scope(|scope| {
            let reads = scope.spawn(|| {
                let start = self.buffer.as_ptr().align_offset(ALIGNMENT);
                let block = &mut self.buffer[start..start + BLOCK];
                let (mut bytes, mut random) = (0u64, seed | 1);
                while !ended.load(Ordering::Relaxed) {
                    // xorshift64 (Marsaglia 2003).
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    let at = region.start + random % places * BLOCK as u64;
                    // What cannot be read here is what the soak itself will meet.
                    bytes += self.file.read_at(block, at).unwrap_or(0) as u64;
                }
                bytes
            });
            let done = work();
            ended.store(true, Ordering::Relaxed);
            (done, reads.join().unwrap_or(0))
        })
    }
}
