//! Reads beside the writes of a soak, so that the interface carries data in both directions; what they read is not looked at.

use conduct::admission::FileIdentity;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use sys::BufferPool;
use workload::Random;

const BLOCK: usize = 64 << 10;
/// What the seed is used for, beside what the writes use it for.
const BESIDE: u64 = 0x6265_7369_6465;

/// A second opening of what is soaked, past the page cache.
pub(crate) struct ConcurrentReads(File);

/// Ends the reads, however the work ends.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl ConcurrentReads {
    /// Of the same object.
    ///
    /// # Errors
    /// What keeps it from being read past the page cache, in words.
    pub(crate) fn open(path: &Path, object: Option<FileIdentity>) -> Result<Self, String> {
        let file = File::open(path).and_then(|file| sys::reopen(&file, false, true)).map_err(|e| e.to_string())?;
        let same = file.metadata().is_ok_and(|m| object == Some(FileIdentity::of(&m)));
        same.then_some(Self(file)).ok_or_else(|| "something else is there".into())
    }

    /// Reads places at random of this region while the work runs; how many bytes.
    pub(crate) fn run_with_reads<T>(&self, region: Range<u64>, seed: u64, work: impl FnOnce() -> T) -> (T, u64) {
        let places = (region.end - region.start) / BLOCK as u64;
        let ended = AtomicBool::new(places == 0);
        std::thread::scope(|scope| {
            let reads = scope.spawn(|| {
                let Ok(mut pool) = BufferPool::new(1, BLOCK) else { return 0 };
                let (mut bytes, mut random) = (0, Random::new(seed, BESIDE));
                while !ended.load(Ordering::Relaxed) {
                    let at = region.start + random.below(places) * BLOCK as u64;
                    // What cannot be read here is what the soak itself will meet.
                    bytes += self.0.read_at(pool.buffer_mut(0), at).unwrap_or(0) as u64;
                }
                bytes
            });
            let done = {
                let _ends = StopOnDrop(&ended);
                work()
            };
            (done, reads.join().unwrap_or(0))
        })
    }
}
