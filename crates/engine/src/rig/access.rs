//! The way to a descriptor with O_DIRECT, where there is one.

use model::{Access, StreamPlan};
use std::fs::File;
use std::io;
use std::ops::Deref;
use sys::BufferPool;
use sys::error_name;

/// Whether a stream goes past the page cache.
pub(super) fn is_direct(stream: &StreamPlan) -> bool {
    stream.path.access == Access::Direct
}

/// How O_DIRECT is had on this target; found out at the first direct phase.
#[derive(Debug, Default)]
pub(crate) enum DirectWay {
    /// Not asked yet.
    #[default]
    Unknown,
    /// A second, independent opening.
    Reopened(File),
    /// Without /proc: the one description is switched for the time of a phase.
    Switched,
    /// There is none; why.
    Refused(String),
}

/// Errors by which a file system says that it has no direct I/O, at open or at the first operation.
fn means_unsupported(e: &io::Error) -> bool {
    matches!(error_name(e).as_str(), "EINVAL" | "EOPNOTSUPP" | "ENOTBLK" | "ENOSYS")
}

/// A descriptor with O_DIRECT, for one phase: buffered phases must not find the flag set.
#[derive(Debug)]
pub(crate) struct Direct {
    file: File,
    switched: bool,
}

impl Deref for Direct {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        if self.switched {
            // Taking a flag away cannot be refused; should it be, the next buffered phase fails with EINVAL and is told.
            let _ = sys::set_direct(&self.file, false);
        }
    }
}

impl DirectWay {
    /// A descriptor for as long as it is kept.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn open(&mut self, file: &File, writable: bool) -> Result<Direct, String> {
        if matches!(self, Self::Unknown) {
            *self = match sys::reopen(file, writable, true) {
                Ok(again) => Self::Reopened(again),
                Err(e) if means_unsupported(&e) => Self::Refused(format!("{} at open", error_name(&e))),
                // No /proc, or one that does not let us follow its links.
                Err(_) => Self::Switched,
            };
        }
        let of = |f: &File, switched| f.try_clone().map(|file| Direct { file, switched }).map_err(|e| error_name(&e));
        match self {
            Self::Reopened(again) => of(again, false),
            Self::Switched => {
                let direct = of(file, true)?;
                sys::set_direct(&direct, true).map(|()| direct).map_err(|e| {
                    let reason = format!("{} by fcntl", error_name(&e));
                    *self = Self::Refused(reason.clone());
                    reason
                })
            }
            Self::Refused(reason) => Err(reason.clone()),
            Self::Unknown => Err("not tried".into()),
        }
    }

    /// Finds out with one operation whether the first one is accepted: some file systems grant the flag and refuse the I/O.
    /// A read of data, or with `written`, which it is added to, a write of data that the layout will write again.
    pub(crate) fn try_first(&mut self, file: &File, offset: u64, block: u64, written: Option<&mut u64>) {
        if !matches!(self, Self::Unknown) {
            return;
        }
        // The reopened descriptor serves all later phases, so it may write if ours may.
        let writable = written.is_some() || sys::is_writable(file).unwrap_or(false);
        let Ok(direct) = self.open(file, writable) else { return };
        let Ok(mut pool) = BufferPool::new(1, block as usize) else { return };
        let buffer = pool.buffer_mut(0);
        let result = match written {
            None => sys::read_at(&*direct, buffer, offset).map(|_| ()),
            Some(written) => {
                crate::DataGenerator::new(0x7e57).fill(0, buffer);
                sys::write_at(&*direct, buffer, offset).map(|n| *written += n as u64)
            }
        };
        drop(direct);
        // Any other error is the device's and belongs to the phase.
        if let Err(e) = result.map_err(io::Error::from_raw_os_error)
            && means_unsupported(&e)
        {
            *self = Self::Refused(format!("{} at the first operation", error_name(&e)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn switching_leaves_the_description_as_it_was() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).or_else(|_| tempfile::tempdir()).unwrap();
        let (file, _) = sys::create_temporary(&sys::open_directory(directory.path()).unwrap()).unwrap();
        file.write_all_at(&vec![1; 8192], 0).unwrap();
        let mut way = DirectWay::Switched;
        match way.open(&file, true) {
            Ok(direct) => assert!(sys::is_direct(&direct).unwrap()),
            Err(reason) => println!("SKIPPED: no O_DIRECT here: {reason}"),
        }
        assert!(!sys::is_direct(&file).unwrap());
    }

    #[test]
    fn the_first_read_decides() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).or_else(|_| tempfile::tempdir()).unwrap();
        let (file, _) = sys::create_temporary(&sys::open_directory(directory.path()).unwrap()).unwrap();
        file.write_all_at(&vec![1; 8192], 0).unwrap();
        let mut way = DirectWay::default();
        way.try_first(&file, 0, 4096, None);
        assert!(!matches!(way, DirectWay::Unknown));
        assert!(!sys::is_direct(&file).unwrap());
    }
}
