//! How programs write frames that have no container of ours: a file for each, one that grows, reserved blocks, a device.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use sys::BufferPool;

/// Direct writes begin and end at multiples of this.
const BLOCK: u64 = 4096;
/// So many files that are not flushed are kept open.
const MOST_OPEN: usize = 256;

/// A way to write frames, one after the other.
pub(super) trait Way {
    /// Writes one.
    ///
    /// # Errors
    /// What the calls say.
    fn write(&mut self, frame: &[u8]) -> io::Result<()>;

    /// Makes all that was written durable.
    ///
    /// # Errors
    /// What the calls say.
    fn flush(&mut self) -> io::Result<()>;
}

/// Creates a file that was not there.
pub(super) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// A file for each frame.
pub(super) struct FilePerFrame {
    directory: PathBuf,
    handle: File,
    open: Vec<File>,
    count: u64,
}

impl FilePerFrame {
    pub fn new(directory: &Path) -> io::Result<Self> {
        let handle = sys::open_directory(directory)?;
        Ok(Self { directory: directory.to_owned(), handle, open: Vec::new(), count: 0 })
    }
}

impl Way for FilePerFrame {
    fn write(&mut self, frame: &[u8]) -> io::Result<()> {
        if self.open.len() >= MOST_OPEN {
            self.flush()?;
        }
        let mut file = create(&self.directory.join(format!("frame-{:08}.jpg", self.count)))?;
        self.count += 1;
        file.write_all(frame)?;
        self.open.push(file);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        for file in self.open.drain(..) {
            file.sync_all()?;
        }
        // Their names, too (fsync(2)).
        self.handle.sync_all()
    }
}

/// One file, or device, from its start on.
pub(super) struct Appending(pub File);

impl Way for Appending {
    fn write(&mut self, frame: &[u8]) -> io::Result<()> {
        self.0.write_all(frame)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// Past the page cache, from aligned memory, in blocks that are there.
pub(super) struct Direct {
    file: File,
    buffer: BufferPool,
    offset: u64,
}

impl Direct {
    /// A file is given `reserved` bytes first.
    pub fn new(file: File, reserved: Option<u64>, frame_bytes: u64) -> io::Result<Self> {
        if let Some(bytes) = reserved {
            sys::reserve_durably(&file, bytes)?;
        }
        sys::set_direct(&file, true)?;
        let bytes = usize::try_from(frame_bytes.next_multiple_of(BLOCK)).unwrap_or(usize::MAX);
        Ok(Self { file, buffer: BufferPool::new(1, bytes)?, offset: 0 })
    }
}

impl Way for Direct {
    fn write(&mut self, frame: &[u8]) -> io::Result<()> {
        let length = frame.len().next_multiple_of(BLOCK as usize);
        let buffer = self.buffer.buffer_mut(0);
        let Some(aligned) = buffer.get_mut(..length) else { return Err(io::ErrorKind::InvalidInput.into()) };
        aligned[..frame.len()].copy_from_slice(frame);
        aligned[frame.len()..].fill(0);
        self.file.write_all_at(aligned, self.offset)?;
        self.offset += length as u64;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
}
