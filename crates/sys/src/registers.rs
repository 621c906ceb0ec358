//! Reading a device's register through /dev/mem.
#![allow(unsafe_code)]

use rustix::fs::{Mode, OFlags, open};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io::{self, ErrorKind};

/// Reads 32 bits at a physical address with one aligned access, through a mapping that cannot be written to.
///
/// Reading a register of a device without clock or power can hang the machine, and some registers change when they are
/// read: the caller knows that the device's driver is bound and what the register does.
///
/// # Errors
/// `InvalidInput` for an address that is not a multiple of four; EACCES or EPERM without root's rights, under lockdown,
/// or where the kernel keeps /dev/mem from the region (CONFIG_STRICT_DEVMEM); ENOENT without /dev/mem.
pub fn read_physical_u32(address: u64) -> io::Result<u32> {
    if !address.is_multiple_of(4) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "a register of 32 bits is aligned to four bytes"));
    }
    let page = crate::page_size();
    let start = address & !(page - 1);
    // O_SYNC asks for an uncached mapping (k:drivers/char/mem.c uncached_access).
    let memory = open("/dev/mem", OFlags::RDONLY | OFlags::SYNC | OFlags::CLOEXEC, Mode::empty())?;
    let length = rustix::param::page_size();
    // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing of ours.
    let mapping = unsafe { mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, &memory, start)? };
    let offset = (address - start) as usize;
    // SAFETY: offset is below the page size and a multiple of four, as is the page; the mapping lives until munmap.
    let value = unsafe { mapping.cast::<u8>().add(offset).cast::<u32>().read_volatile() };
    // SAFETY: exactly the mapping made above, which nothing refers to any more.
    unsafe { munmap(mapping, length)? };
    Ok(u32::from_le(value))
}

#[cfg(test)]
mod tests {
    use super::read_physical_u32;

    #[test]
    fn an_address_between_registers_is_refused_before_anything_is_opened() {
        assert_eq!(read_physical_u32(2).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    }
}
