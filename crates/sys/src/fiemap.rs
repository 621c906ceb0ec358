//! Where the data of a file lie (k:Documentation/filesystems/fiemap.rst).
#![allow(unsafe_code)]

use crate::file::{next_data, next_hole};
use rustix::io::Errno;
use rustix::ioctl::{Updater, ioctl, opcode};
use std::fs::File;
use std::io;

/// Extents asked for in one call.
const BATCH: usize = 128;

/// FIEMAP_FLAG_SYNC: write delayed allocations out first.
const FLAG_SYNC: u32 = 1;

const EXTENT_LAST: u32 = 0x1;
const EXTENT_ENCODED: u32 = 0x8;
const EXTENT_DATA_INLINE: u32 = 0x200;
const EXTENT_DATA_TAIL: u32 = 0x400;
const EXTENT_UNWRITTEN: u32 = 0x800;
const EXTENT_SHARED: u32 = 0x2000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First byte in the file.
    pub offset: u64,
    /// First byte on the device, where `known`.
    pub physical: u64,
    /// Length in bytes.
    pub len: u64,
    flags: u32,
}

impl Extent {
    /// Allocated but never written: reads give zeros without touching the device.
    pub fn unwritten(&self) -> bool {
        self.flags & EXTENT_UNWRITTEN != 0
    }
    /// Compressed or encrypted on the device.
    pub fn encoded(&self) -> bool {
        self.flags & EXTENT_ENCODED != 0
    }
    /// Within metadata or packed with others' data.
    pub fn inline(&self) -> bool {
        self.flags & (EXTENT_DATA_INLINE | EXTENT_DATA_TAIL) != 0
    }
    /// Shared with another file (reflink, snapshot).
    pub fn shared(&self) -> bool {
        self.flags & EXTENT_SHARED != 0
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Header {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

#[repr(C)]
struct Request {
    header: Header,
    extents: [RawExtent; BATCH],
}

const _: () = assert!(size_of::<Header>() == 32 && size_of::<RawExtent>() == 56);

/// FS_IOC_FIEMAP: `_IOWR('f', 11, struct fiemap)`; the size in the number is the header's alone.
const FS_IOC_FIEMAP: rustix::ioctl::Opcode = opcode::read_write::<Header>(b'f', 11);

/// The extents of `file` that overlap a range, in order; holes are what is between them. At most `limit` extents are
/// returned: a longer answer means a very fragmented file and is cut.
///
/// # Errors
/// EOPNOTSUPP or ENOTTY where the file system cannot tell (tmpfs, NFS, most FUSE).
pub fn extents(file: &File, offset: u64, len: u64, limit: usize) -> io::Result<Vec<Extent>> {
    let end = offset.saturating_add(len);
    let mut at = offset;
    let mut found = Vec::new();
    let zero = RawExtent { logical: 0, physical: 0, length: 0, reserved64: [0; 2], flags: 0, reserved: [0; 3] };
    let mut request = Box::new(Request {
        header: Header { start: 0, length: 0, flags: 0, mapped_extents: 0, extent_count: 0, reserved: 0 },
        extents: [zero; BATCH],
    });
    while at < end && found.len() < limit {
        request.header = Header {
            start: at,
            length: end - at,
            flags: FLAG_SYNC,
            mapped_extents: 0,
            extent_count: BATCH as u32,
            reserved: 0,
        };
        // SAFETY: the opcode is FS_IOC_FIEMAP, whose argument is a struct fiemap followed by `extent_count` extents;
        // `Request` has that layout (sizes asserted above), is exclusively borrowed and outlives the call. The kernel
        // writes plain integers, for which every bit pattern is valid.
        unsafe { ioctl(file, Updater::<{ FS_IOC_FIEMAP }, Request>::new(&mut request))? };
        let mapped = (request.header.mapped_extents as usize).min(BATCH);
        for raw in &request.extents[..mapped] {
            found.push(Extent { offset: raw.logical, physical: raw.physical, len: raw.length, flags: raw.flags });
        }
        let Some(last) = request.extents[..mapped].last() else { break };
        let next = last.logical.saturating_add(last.length);
        if last.flags & EXTENT_LAST != 0 || next <= at {
            break;
        }
        at = next;
    }
    found.truncate(limit);
    Ok(found)
}

/// How much of a range holds data that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenRange {
    /// Bytes in written extents.
    pub written_bytes: u64,
    /// Bytes in extents that are allocated but unwritten.
    pub unwritten_bytes: u64,
    pub hole_bytes: u64,
    /// Bytes that are compressed or encrypted by the file system (counted as written too).
    pub encoded_bytes: u64,
    /// Bytes within metadata (counted as written too).
    pub inline_bytes: u64,
    /// Number of extents; `None` where only holes could be asked for.
    pub extents: Option<usize>,
}

/// Sums up a range, by FIEMAP, else by SEEK_HOLE and SEEK_DATA, which see holes but count some unwritten extents as
/// data. Of files in more than a million extents only the first million are looked at.
///
/// # Errors
/// Where neither is supported.
pub fn written(file: &File, offset: u64, len: u64) -> io::Result<WrittenRange> {
    const LIMIT: usize = 1 << 20;
    match extents(file, offset, len, LIMIT) {
        // A cut list says nothing of what follows it: the part that it covers is what is summed up.
        Ok(list) if list.len() == LIMIT => {
            let end = list.last().map_or(offset, |e| e.offset.saturating_add(e.len));
            Ok(sum(&list, offset, end.saturating_sub(offset).min(len)))
        }
        Ok(list) => Ok(sum(&list, offset, len)),
        Err(e) if unsupported(&e) => by_seeking(file, offset, len),
        Err(e) => Err(e),
    }
}

fn unsupported(e: &io::Error) -> bool {
    [Errno::OPNOTSUPP, Errno::NOTTY, Errno::INVAL, Errno::NOSYS, Errno::PERM, Errno::ACCESS]
        .iter()
        .any(|x| e.raw_os_error() == Some(x.raw_os_error()))
}

fn sum(list: &[Extent], offset: u64, len: u64) -> WrittenRange {
    let end = offset.saturating_add(len);
    let mut w = WrittenRange { extents: Some(list.len()), ..WrittenRange::default() };
    for e in list {
        let n = e.offset.saturating_add(e.len).min(end).saturating_sub(e.offset.max(offset));
        if e.unwritten() {
            w.unwritten_bytes += n;
        } else {
            w.written_bytes += n;
            w.encoded_bytes += if e.encoded() { n } else { 0 };
            w.inline_bytes += if e.inline() { n } else { 0 };
        }
    }
    w.hole_bytes = len.saturating_sub(w.written_bytes + w.unwritten_bytes);
    w
}

fn by_seeking(file: &File, offset: u64, len: u64) -> io::Result<WrittenRange> {
    let end = offset.saturating_add(len);
    let mut at = offset;
    let mut w = WrittenRange::default();
    while at < end {
        let Some(data) = next_data(file, at)? else { break };
        let hole = next_hole(file, data)?;
        w.written_bytes += hole.min(end).saturating_sub(data);
        if hole <= at {
            break;
        }
        at = hole;
    }
    w.hole_bytes = len.saturating_sub(w.written_bytes);
    Ok(w)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn sums_clip_to_the_range() {
        let e = |offset, len, flags| Extent { offset, physical: 0, len, flags };
        let w = sum(&[e(0, 100, 0), e(100, 50, EXTENT_UNWRITTEN), e(200, 1000, EXTENT_ENCODED)], 50, 250);
        assert_eq!(w.written_bytes, 50 + 100);
        assert_eq!(w.unwritten_bytes, 50);
        assert_eq!(w.hole_bytes, 50);
        assert_eq!(w.encoded_bytes, 100);
    }

    #[test]
    fn written_and_hole_are_told_apart() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).or_else(|_| tempfile::tempdir()).unwrap();
        let (file, _) = crate::create_temporary(&crate::open_directory(directory.path()).unwrap()).unwrap();
        file.set_len(4 << 20).unwrap();
        file.write_all_at(&vec![7; 1 << 20], 0).unwrap();
        file.sync_all().unwrap();
        match written(&file, 0, 4 << 20) {
            Ok(w) => {
                assert_eq!(w.written_bytes + w.unwritten_bytes + w.hole_bytes, 4 << 20);
                assert!(w.written_bytes >= 1 << 20);
            }
            Err(e) => println!("SKIPPED: this file system tells neither extents nor holes: {e}"),
        }
    }

    #[test]
    fn seeking_stands_in() {
        let (file, _) = crate::create_temporary(&crate::open_directory(&std::env::temp_dir()).unwrap()).unwrap();
        file.set_len(4 << 20).unwrap();
        file.write_all_at(&vec![7; 1 << 20], 1 << 20).unwrap();
        let w = by_seeking(&file, 0, 4 << 20).unwrap();
        assert!(w.written_bytes >= 1 << 20);
        assert_eq!(w.written_bytes + w.hole_bytes, 4 << 20);
    }
}
