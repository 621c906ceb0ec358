//! Room of a recording in a file: taken as it is needed, and given back where it was not.

use crate::superblocks::{cannot, failed, refused};
use model::{Failure, FailureKind};
use recorder::{Container, Geometry, SpaceProvider, Store, Superblock};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Segments that are reserved ahead of the one that is written to: at first, and once the writer has had to wait for them.
const AHEAD: u64 = 2;
const MOST_AHEAD: u64 = 16;

/// That so much is needed, and is not there beside what always stays free.
pub(crate) fn no_room(file: &File, path: &Path, needed: u64) -> Failure {
    let free = sys::space_of(file).map_or(0, |space| space.available_bytes);
    let [free, needed] = [free, needed].map(model::bytes_text);
    let what = format!("{needed} are needed, {free} are free, and a part of that always stays free");
    Failure { kind: FailureKind::Environment, ..refused(path, &what) }
        .remedy("free some space, or name another directory; --size SIZE takes so much at once")
}

/// The file of a container that grows, by a descriptor of its own: through the page cache.
#[derive(Debug)]
pub(crate) struct Growing {
    file: File,
    superblock: Superblock,
    /// So many segments have room.
    segments: AtomicU64,
    /// So many were asked for.
    wanted: AtomicU64,
    /// So many are reserved ahead.
    ahead: AtomicU64,
    /// Whoever makes it longer.
    one: Mutex<()>,
}

impl Growing {
    /// Room for the first segment at least.
    pub fn begin(file: &File, path: &Path, superblock: &Superblock, next_segment: u64) -> Result<Self, Failure> {
        let length = Store::length(file).map_err(|e| cannot(path, &e))?;
        let Geometry { first_segment, segment_bytes, block_bytes, .. } = superblock.geometry;
        let there = length.saturating_sub(first_segment + block_bytes) / segment_bytes;
        let own = sys::reopen(file, true, false).map_err(|e| cannot(path, &e))?;
        let growing = Self {
            file: own,
            superblock: superblock.clone(),
            // Of what was cut off the rest of the last segment stays as it is.
            segments: AtomicU64::new(there.max(next_segment)),
            wanted: AtomicU64::new(next_segment),
            ahead: AtomicU64::new(AHEAD),
            one: Mutex::new(()),
        };
        if !growing.ensure(next_segment + 1) {
            return Err(no_room(file, path, superblock.geometry.segment_bytes));
        }
        Ok(growing)
    }

    /// Takes room before it is needed. That there is no more is said to who needs it.
    pub fn ahead(&self) {
        self.reserve(self.wanted.load(Ordering::Relaxed) + self.ahead.load(Ordering::Relaxed));
    }

    /// As many of these segments as have room get it; whether all have.
    fn reserve(&self, segments: u64) -> bool {
        let _one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        let there = self.segments.load(Ordering::Acquire);
        let Some(lacking) = segments.checked_sub(there).filter(|n| *n > 0) else { return true };
        let segment = self.superblock.geometry.segment_bytes;
        let length = self.superblock.geometry.bytes_of(there);
        // Beyond its limit (ulimit -f) a process gets a signal.
        let limit = sys::file_size_limit().map_or(u64::MAX, |limit| limit.saturating_sub(length));
        let more = lacking.min(conduct::free_bytes(&self.file).unwrap_or(0).min(limit) / segment);
        if more == 0 || self.lengthen(there, there + more).is_err() {
            return false;
        }
        self.segments.store(there + more, Ordering::Release);
        more == lacking
    }

    /// The second copy of the superblock goes with the end: as it is written the file is longer.
    fn lengthen(&self, from: u64, to: u64) -> io::Result<()> {
        let geometry = self.superblock.geometry;
        let end = geometry.bytes_of(to);
        let start = geometry.bytes_of(from) - geometry.block_bytes;
        match sys::reserve_behind(&self.file, start, end - start) {
            Err(e) if e.raw_os_error() == Some(sys::errno::EOPNOTSUPP) => {}
            other => other?,
        }
        self.file.write_all_at(&self.superblock.encode(), end - geometry.block_bytes)
    }
}

impl SpaceProvider for Growing {
    fn ensure(&self, segments: u64) -> bool {
        self.wanted.fetch_max(segments, Ordering::Relaxed);
        if self.segments.load(Ordering::Acquire) >= segments {
            return true;
        }
        let ahead = self.ahead.load(Ordering::Relaxed);
        self.ahead.store((2 * ahead).min(MOST_AHEAD), Ordering::Relaxed);
        self.reserve(segments)
    }
}

/// Cuts a file off behind what the container in it holds, where that is to be: how many bytes it was longer.
pub(crate) fn give_back(file: &File, path: &Path) -> Result<u64, Failure> {
    // What is written here is no whole number of pages of memory.
    let file = sys::reopen(file, true, false).map_err(|e| cannot(path, &e))?;
    let container = Container::open(&file).map_err(|e| failed(path, &e))?;
    let length = Store::length(&file).map_err(|e| cannot(path, &e))?;
    let ending = container.tail_footer().map_err(|e| failed(path, &e))?;
    let Some(ending) = ending.filter(|ending| ending.bytes < length) else { return Ok(0) };
    let cut = || {
        if let Some((place, footer)) = &ending.footer {
            file.write_all_at(footer, *place)?;
        }
        file.write_all_at(&container.superblock.encode(), ending.superblock)?;
        // What goes first is durable: a crash leaves the one or the other.
        file.sync_all()?;
        file.set_len(ending.bytes)?;
        file.sync_all()
    };
    cut().map_err(|e| cannot(path, &e))?;
    Ok(length - ending.bytes)
}

/// The last segment of a file that was cut off gets its last block, before others come behind it.
pub(crate) fn put_footer_back(file: &File, path: &Path) -> Result<(), Failure> {
    let Ok(container) = Container::open(file) else { return Ok(()) };
    let Some((place, footer)) = container.last_footer() else { return Ok(()) };
    file.write_all_at(&footer, place).and_then(|()| file.sync_data()).map_err(|e| cannot(path, &e))
}
