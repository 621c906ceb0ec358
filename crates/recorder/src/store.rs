//! What a container is read from.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes at places; nothing is written by it.
pub trait Store {
    /// Reads bytes at a place; fewer than asked only at the end.
    ///
    /// # Errors
    /// What the storage says.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;

    /// How long it is.
    ///
    /// # Errors
    /// What the storage says.
    fn length(&self) -> io::Result<u64>;
}

impl Store for File {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < into.len() {
            match FileExt::read_at(self, &mut into[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(done)
    }

    fn length(&self) -> io::Result<u64> {
        // Of a block device, too, the end is where seeking to it leads.
        rustix::fs::seek(self, rustix::fs::SeekFrom::End(0)).map_err(Into::into)
    }
}

impl<S: Store> Store for &S {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, into)
    }

    fn length(&self) -> io::Result<u64> {
        (**self).length()
    }
}

impl Store for &[u8] {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}
