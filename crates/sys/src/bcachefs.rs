//! bcachefs: its scrub (fs/bcachefs_ioctl.h of bcachefs-tools; Linux 6.15 to 6.17, and as a module of its own since then).
#![allow(unsafe_code)]

use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, Updater, ioctl, opcode};
use std::ffi::{OsStr, c_void};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;
use std::path::Path;

/// `struct fs_sysfs_path` (k:include/uapi/linux/fs.h, Linux 6.9).
#[repr(C)]
struct SysfsPath {
    length: u8,
    name: [u8; 128],
}

const FS_IOC_GETFSSYSFSPATH: Opcode = opcode::read::<SysfsPath>(0x15, 1);

/// The numbers of the devices of the bcachefs that a file is on, ascending; `None` where it is on none, or the kernel is older than 6.9.
pub fn bcachefs_devices(file: &File) -> Option<Vec<u32>> {
    let directory = directory_in_sysfs(file).ok().filter(|d| d.starts_with("bcachefs/"))?;
    let members = std::fs::read_dir(Path::new("/sys/fs").join(directory)).ok()?;
    let number = |name: &OsStr| name.to_str()?.strip_prefix("dev-")?.parse().ok();
    let mut devices: Vec<u32> = members.filter_map(|member| number(&member.ok()?.file_name())).collect();
    devices.sort_unstable();
    Some(devices)
}

/// Where a file system has its directory below `/sys/fs`, as `bcachefs/UUID`: ENOTTY where it has none, or on a kernel older than 6.9.
fn directory_in_sysfs(file: &File) -> io::Result<String> {
    let mut path = SysfsPath { length: 0, name: [0; 128] };
    // SAFETY: the argument is a struct fs_sysfs_path, which the kernel fills with plain bytes.
    unsafe { ioctl(file, Updater::<{ FS_IOC_GETFSSYSFSPATH }, SysfsPath>::new(&mut path))? };
    let name = &path.name[..(path.length as usize).min(path.name.len())];
    String::from_utf8(name.to_vec()).map_err(io::Error::other)
}

/// `struct bpos`: a place in one of its trees.
type Position = [u32; 5];

/// `struct bch_ioctl_data`: 112 bytes.
#[repr(C)]
struct DataJob {
    operation: u16,
    first_tree: u8,
    last_tree: u8,
    flags: u32,
    start: Position,
    end: Position,
    /// Of a scrub: its device, and one bit for each kind of data.
    device: u32,
    kinds: u32,
    unused: [u32; 14],
}

const BCH_IOCTL_DATA: Opcode = opcode::write::<DataJob>(0xbc, 10);
const BCH_DATA_OP_SCRUB: u16 = 0;
const _: () = assert!(size_of::<DataJob>() == 112 && BCH_IOCTL_DATA == 0x4070_bc0a);

// SAFETY: the number is of an ioctl that reads a struct bch_ioctl_data, which is the layout of `DataJob`, and returns a descriptor
// that belongs to the caller.
unsafe impl Ioctl for DataJob {
    type Output = File;
    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        BCH_IOCTL_DATA
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(self).cast()
    }

    unsafe fn output_from_ptr(out: IoctlOutput, _: *mut c_void) -> rustix::io::Result<File> {
        // SAFETY: a successful call returns a new descriptor, owned by nobody else.
        Ok(unsafe { File::from_raw_fd(out) })
    }
}

/// A scrub of one device that runs in the kernel until it is done or this is dropped.
#[derive(Debug)]
pub struct BcachefsScrub<R = File>(R);

/// What a scrub has done so far, in sectors of 512 bytes (`struct bch_ioctl_data_event`, 128 bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BcachefsScrubbed {
    /// It has come to its end, or its device is gone.
    pub ended: bool,
    /// Its device went offline.
    pub offline: bool,
    /// Sectors that were read.
    pub done: u64,
    /// Sectors that were wrong, and are mended.
    pub corrected: u64,
    /// Sectors that are wrong, and of which no good copy is there.
    pub uncorrected: u64,
}

impl BcachefsScrub {
    /// Reads all that this device of the file system holds and checks it. What is wrong and has a good copy elsewhere is mended:
    /// this file system has no scrub that leaves it.
    ///
    /// # Errors
    /// EPERM without CAP_SYS_ADMIN; ENOTTY or EINVAL on a kernel that has no such scrub, or where there is no such device.
    pub fn start(file: &File, device: u32) -> io::Result<Self> {
        let job = DataJob {
            operation: BCH_DATA_OP_SCRUB,
            first_tree: 0,
            last_tree: 0,
            flags: 0,
            start: [0; 5],
            end: [0; 5],
            device,
            kinds: u32::MAX,
            unused: [0; 14],
        };
        // SAFETY: see the implementation of `Ioctl`.
        Ok(Self(unsafe { ioctl(file, job) }?))
    }
}

impl<R: Read> BcachefsScrub<R> {
    /// How far it is; returns at once.
    ///
    /// # Errors
    /// Of reading the descriptor; `UnexpectedEof` for an answer that is shorter than it must be.
    pub fn state(&mut self) -> io::Result<BcachefsScrubbed> {
        let mut event = [0; 128];
        self.0.read_exact(&mut event)?;
        let number = |at: usize| u64::from_ne_bytes(std::array::from_fn(|i| event[at + i]));
        // The second byte is 0 while it runs, 1 at its end, 2 where the device is gone.
        Ok(BcachefsScrubbed {
            ended: event[1] != 0,
            offline: event[1] == 2,
            done: number(32),
            corrected: number(48),
            uncorrected: number(56),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event as the header lays it out: type, ret, six bytes; kind of data, tree, two bytes, position; four numbers.
    fn event(ret: u8, numbers: [u64; 4]) -> Vec<u8> {
        let mut bytes = vec![0, ret, 0, 0, 0, 0, 0, 0, 254, 0, 0, 0];
        bytes.extend([7; 20]);
        bytes.extend(numbers.iter().flat_map(|n| n.to_ne_bytes()));
        bytes.resize(128, 9);
        bytes
    }

    #[test]
    fn what_a_scrub_of_bcachefs_says_of_itself_is_read() {
        let says: Vec<u8> = [event(0, [10, 90, 1, 0]), event(1, [90, 90, 8, 16]), event(2, [40, 90, 0, 0])].concat();
        let mut scrub = BcachefsScrub(&says[..]);
        let all = [(); 3].map(|()| scrub.state().unwrap());
        let of = |ended, offline, done, corrected, uncorrected| BcachefsScrubbed {
            ended,
            offline,
            done,
            corrected,
            uncorrected,
        };
        assert_eq!(all, [of(false, false, 10, 1, 0), of(true, false, 90, 8, 16), of(true, true, 40, 0, 0)]);
        assert_eq!(scrub.state().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn another_file_system_has_no_such_scrub() {
        let file = tempfile::tempfile().unwrap();
        let e = BcachefsScrub::start(&file, 0).unwrap_err();
        assert!(matches!(e.raw_os_error(), Some(libc::ENOTTY | libc::EINVAL | libc::EOPNOTSUPP)), "{e}");
        // A kernel older than 6.9 and some file systems do not tell where they are in /sys/fs; who does has its kind first.
        match directory_in_sysfs(&file) {
            Ok(path) => assert!(path.contains('/') && !path.starts_with("bcachefs/"), "{path}"),
            Err(e) => assert!(matches!(e.raw_os_error(), Some(libc::ENOTTY | libc::EINVAL)), "{e}"),
        }
    }
}
