//! How much of a file is in the page cache.
#![allow(unsafe_code)]

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// cachestat(2), Linux 6.5: number 451 on every architecture that this program is built for
/// (k:arch/*/kernel/syscalls/syscall*.tbl, k:scripts/syscall.tbl).
const SYS_CACHESTAT: libc::c_long = 451;

#[repr(C)]
struct Range {
    offset: u64,
    len: u64,
}

#[repr(C)]
#[derive(Default)]
struct Counts {
    cache: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Pages of a range by state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachedPages {
    /// In the page cache.
    pub resident: u64,
    /// Of those, dirty; `None` where only mincore could be asked.
    pub dirty: Option<u64>,
    /// Of those, being written back.
    pub writeback: Option<u64>,
    /// Which call told: `cachestat` or `mincore`.
    pub source: &'static str,
}

/// Size of a page, the unit of [`CachedPages`], bytes: 4 KiB nearly everywhere, 16 KiB on a Raspberry Pi 5.
pub fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

/// Pages of a range that are in the page cache, by cachestat(2), else by mincore(2).
///
/// # Errors
/// EPERM where the kernel hides it: the caller must own the file or be able to write to it (mincore since Linux 5.2,
/// cachestat since 6.14 and in the stable kernels that took the change).
pub fn resident_pages(file: &File, offset: u64, len: u64) -> io::Result<CachedPages> {
    if len == 0 {
        return Ok(CachedPages { resident: 0, dirty: Some(0), writeback: Some(0), source: "cachestat" });
    }
    match cachestat(file, offset, len) {
        Ok(c) => Ok(CachedPages {
            resident: c.cache,
            dirty: Some(c.dirty),
            writeback: Some(c.writeback),
            source: "cachestat",
        }),
        // ENOSYS: before 6.5. EPERM may also come from a seccomp filter that does not know the call.
        Err(e) if [Errno::NOSYS, Errno::PERM, Errno::OPNOTSUPP].iter().any(|x| is(&e, *x)) => {
            Ok(CachedPages { resident: mincore(file, offset, len)?, dirty: None, writeback: None, source: "mincore" })
        }
        Err(e) => Err(e),
    }
}

fn is(e: &io::Error, errno: Errno) -> bool {
    e.raw_os_error() == Some(errno.raw_os_error())
}

fn cachestat(file: &File, offset: u64, len: u64) -> io::Result<Counts> {
    let range = Range { offset, len };
    let mut counts = Counts::default();
    let flags: libc::c_uint = 0;
    // SAFETY: cachestat(fd, const struct cachestat_range *, struct cachestat *, unsigned int); both structs have the
    // kernel's layout (k:include/uapi/linux/mman.h) and outlive the call; a kernel without it answers ENOSYS.
    let r = unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut counts, flags) };
    if r == 0 { Ok(counts) } else { Err(io::Error::last_os_error()) }
}

/// mincore answers "resident" for every page of a file that the caller neither owns nor may write
/// (k:mm/mincore.c, can_do_mincore); this is not told apart from the truth, so such files are refused here.
fn mincore(file: &File, offset: u64, len: u64) -> io::Result<u64> {
    let stat = rustix::fs::fstat(file)?;
    let uid = rustix::process::geteuid();
    let writable = rustix::fs::fcntl_getfl(file)?.contains(rustix::fs::OFlags::RDWR);
    if !(uid.is_root() || stat.st_uid == uid.as_raw() || writable) {
        return Err(Errno::PERM.into());
    }
    let page = rustix::param::page_size() as u64;
    // One window at a time, so that a 32-bit address space suffices.
    let window = 64 << 20;
    let mut at = offset / page * page;
    let end = offset + len;
    let mut resident = 0;
    let mut states = vec![0u8; (window / page) as usize];
    while at < end {
        let n = (end - at).min(window);
        let pages = n.div_ceil(page) as usize;
        // SAFETY: a fresh mapping at an address of the kernel's choice, of a length that fits usize (64 MiB); it is
        // never accessed, only asked about.
        let map =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), n as usize, ProtFlags::READ, MapFlags::SHARED, file, at)? };
        // SAFETY: `map` is a mapping of `n` bytes, `states` has room for a byte for each of its pages.
        let r = unsafe { libc::mincore(map.cast(), n as usize, states.as_mut_ptr()) };
        let error = io::Error::last_os_error();
        // SAFETY: the mapping made above; nothing refers to it.
        unsafe { rustix::mm::munmap(map, n as usize)? };
        if r != 0 {
            return Err(error);
        }
        resident += states[..pages].iter().filter(|s| **s & 1 != 0).count() as u64;
        at += n;
    }
    Ok(resident)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn written_pages_are_resident_by_both_ways() {
        let file = tempfile::tempfile().unwrap();
        let page = rustix::param::page_size();
        file.write_all_at(&vec![3; 16 * page], 0).unwrap();
        file.set_len(64 * page as u64).unwrap();
        assert_eq!(mincore(&file, 0, 64 * page as u64).unwrap(), 16);
        assert_eq!(resident_pages(&file, 0, 64 * page as u64).unwrap().resident, 16);
        assert_eq!(resident_pages(&file, 8 * page as u64, 4 * page as u64).unwrap().resident, 4);
        assert_eq!(resident_pages(&file, 0, 0).unwrap().resident, 0);
    }

    #[test]
    fn dropped_pages_are_gone_where_there_is_a_device() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).or_else(|_| tempfile::tempdir()).unwrap();
        let (file, _) = crate::create_temporary(&crate::open_directory(directory.path()).unwrap()).unwrap();
        file.write_all_at(&vec![3; 1 << 20], 0).unwrap();
        file.sync_all().unwrap();
        crate::drop_cached(&file, 0, 1 << 20).unwrap();
        let left = resident_pages(&file, 0, 1 << 20).unwrap();
        let facts = rustix::fs::fstatfs(&file).unwrap();
        if facts.f_type as u64 == 0x0102_1994 {
            println!("SKIPPED: tmpfs pages have nowhere to go");
        } else {
            assert_eq!(left.resident, 0, "{left:?}");
        }
    }
}
