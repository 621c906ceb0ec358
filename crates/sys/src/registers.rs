//! A device's register, through /dev/mem.
#![allow(unsafe_code)]

use rustix::fs::{Mode, OFlags, open};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
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
    let register = MappedRegister::new(address, OFlags::RDONLY, ProtFlags::READ)?;
    // SAFETY: the register lies within the mapping, which lives as long as it.
    Ok(u32::from_le(unsafe { register.address().read_volatile() }))
}

/// Writes 32 bits at a physical address with one aligned access.
///
/// What a write does is up to the device: the caller knows the register, that its driver is bound, and has written down how it is undone.
///
/// # Errors
/// As [`read_physical_u32`].
pub fn write_physical_u32(address: u64, value: u32) -> io::Result<()> {
    let register = MappedRegister::new(address, OFlags::RDWR, ProtFlags::READ | ProtFlags::WRITE)?;
    // SAFETY: as above; nothing of ours refers to the device's memory.
    unsafe { register.address().write_volatile(value.to_le()) };
    Ok(())
}

/// The page with a register, mapped while this lives.
struct MappedRegister {
    page: *mut c_void,
    offset: usize,
}

impl MappedRegister {
    fn new(address: u64, flags: OFlags, protection: ProtFlags) -> io::Result<Self> {
        if !address.is_multiple_of(4) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "a register of 32 bits is aligned to four bytes"));
        }
        let start = address & !(crate::page_size() - 1);
        // O_SYNC asks for an uncached mapping (k:drivers/char/mem.c uncached_access).
        let memory = open("/dev/mem", flags | OFlags::SYNC | OFlags::CLOEXEC, Mode::empty())?;
        let length = rustix::param::page_size();
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing of ours.
        let page = unsafe { mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, &memory, start)? };
        Ok(Self { page, offset: (address - start) as usize })
    }

    fn address(&self) -> *mut u32 {
        // SAFETY: the offset is below the page size and a multiple of four, as is the page.
        unsafe { self.page.cast::<u8>().add(self.offset).cast::<u32>() }
    }
}

impl Drop for MappedRegister {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made above, which nothing refers to any more.
        let _ = unsafe { munmap(self.page, rustix::param::page_size()) };
    }
}

#[cfg(test)]
mod tests {
    use super::{read_physical_u32, write_physical_u32};

    #[test]
    fn an_address_between_registers_is_refused_before_anything_is_opened() {
        assert_eq!(read_physical_u32(2).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
        assert_eq!(write_physical_u32(6, 0).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    }
}
