//! Single accesses: `load` moves one from the device's side to memory, which may have any alignment, `store` the other way. And what
//! the processor has beyond its architecture.

/// Loads and stores of integers by `volatile`: the compiler makes one access of each, of that width.
#[cfg(any(miri, not(any(target_arch = "aarch64", target_arch = "arm", target_arch = "riscv64"))))]
macro_rules! volatile {
    ($load:ident, $store:ident, $word:ty) => {
        /// # Safety
        /// `from` is valid and aligned, `to` is valid.
        #[inline(always)]
        pub(crate) unsafe fn $load(from: *const u8, to: *mut u8) {
            // SAFETY: as the caller says.
            unsafe { $crate::access::to_memory::<$word>(to, from.cast::<$word>().read_volatile()) }
        }

        /// # Safety
        /// `to` is valid and aligned, `from` is valid.
        #[inline(always)]
        pub(crate) unsafe fn $store(from: *const u8, to: *mut u8) {
            // SAFETY: as the caller says.
            unsafe { to.cast::<$word>().write_volatile($crate::access::from_memory::<$word>(from)) }
        }
    };
}

/// Loads and stores by one instruction each, without a write-back of the address: a hypervisor that emulates a device's memory is
/// told the register by the processor for these alone (Linux, arch/arm64/include/asm/io.h).
#[cfg(all(not(miri), any(target_arch = "aarch64", target_arch = "arm", target_arch = "riscv64")))]
macro_rules! instruction {
    ($load:ident, $store:ident, $word:ty, $by:ty, $read:literal, $write:literal) => {
        /// # Safety
        /// `from` is valid and aligned, `to` is valid.
        #[inline(always)]
        pub(crate) unsafe fn $load(from: *const u8, to: *mut u8) {
            let word: $by;
            // SAFETY: one aligned load from where the caller says that there is something.
            unsafe {
                core::arch::asm!($read, word = out(reg) word, at = in(reg) from, options(nostack, preserves_flags));
                $crate::access::to_memory::<$word>(to, word as $word);
            }
        }

        /// # Safety
        /// `to` is valid and aligned, `from` is valid.
        #[inline(always)]
        pub(crate) unsafe fn $store(from: *const u8, to: *mut u8) {
            // SAFETY: one aligned store to where the caller says that there is something.
            unsafe {
                let word: $by = <$by>::from($crate::access::from_memory::<$word>(from));
                core::arch::asm!($write, word = in(reg) word, at = in(reg) to, options(nostack, preserves_flags));
            }
        }
    };
}

/// Blocks of 64 bytes by single words.
#[cfg(any(
    miri,
    all(target_arch = "aarch64", not(target_feature = "neon")),
    not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "arm"))
))]
macro_rules! block_of_words {
    ($load:path, $store:path, $bytes:literal) => {
        /// # Safety
        /// 64 bytes are valid; `from` is aligned to a word.
        #[inline(always)]
        pub(crate) unsafe fn load_block(from: *const u8, to: *mut u8) {
            for at in (0..64).step_by($bytes) {
                // SAFETY: as the caller says.
                unsafe { $load(from.add(at), to.add(at)) }
            }
        }

        /// # Safety
        /// 64 bytes are valid; `to` is aligned to a word.
        #[inline(always)]
        pub(crate) unsafe fn store_block(from: *const u8, to: *mut u8) {
            for at in (0..64).step_by($bytes) {
                // SAFETY: as the caller says.
                unsafe { $store(from.add(at), to.add(at)) }
            }
        }
    };
}

#[cfg_attr(all(target_arch = "x86_64", not(miri)), path = "access/x86_64.rs")]
#[cfg_attr(all(target_arch = "aarch64", not(miri)), path = "access/aarch64.rs")]
#[cfg_attr(all(target_arch = "arm", not(miri)), path = "access/arm.rs")]
#[cfg_attr(all(target_arch = "riscv64", not(miri)), path = "access/riscv64.rs")]
#[cfg_attr(
    any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "arm", target_arch = "riscv64"))),
    path = "access/portable.rs"
)]
mod architecture;

pub(crate) use architecture::*;

/// A store to ordinary memory. RISC-V without fast misaligned stores makes bytes of one that may be misaligned.
///
/// # Safety
/// `to` is valid for the write.
#[inline(always)]
pub(crate) unsafe fn to_memory<T>(to: *mut u8, value: T) {
    let to = to.cast::<T>();
    if cfg!(target_arch = "riscv64") && to.is_aligned() {
        // SAFETY: as the caller says, and it is aligned.
        unsafe { to.write(value) }
    } else {
        // SAFETY: as the caller says.
        unsafe { to.write_unaligned(value) }
    }
}

/// A load from ordinary memory.
///
/// # Safety
/// `from` is valid for the read.
#[inline(always)]
pub(crate) unsafe fn from_memory<T>(from: *const u8) -> T {
    let from = from.cast::<T>();
    if cfg!(target_arch = "riscv64") && from.is_aligned() {
        // SAFETY: as the caller says, and it is aligned.
        unsafe { from.read() }
    } else {
        // SAFETY: as the caller says.
        unsafe { from.read_unaligned() }
    }
}
