//! The inner loops: one function each, never inlined, so that the project's checks find them in the compiler's output by name.

use crate::{Access, Mode, Width, access};

/// A loop of loads, one of stores, and one of stores of the same bytes.
macro_rules! words {
    ($read:ident, $write:ident, $fill:ident, $load:ident, $store:ident, $bytes:literal) => {
        #[inline(never)]
        unsafe fn $read(from: *const u8, to: *mut u8, count: usize) {
            for at in (0..count * $bytes).step_by($bytes) {
                // SAFETY: the callers in this file keep to the bytes that theirs promised.
                unsafe { access::$load(from.add(at), to.add(at)) }
            }
        }

        #[inline(never)]
        unsafe fn $write(to: *mut u8, from: *const u8, count: usize) {
            for at in (0..count * $bytes).step_by($bytes) {
                // SAFETY: as above.
                unsafe { access::$store(to.add(at), from.add(at)) }
            }
        }

        #[inline(never)]
        unsafe fn $fill(to: *mut u8, value: u8, count: usize) {
            let word = [value; $bytes];
            for at in (0..count * $bytes).step_by($bytes) {
                // SAFETY: as above.
                unsafe { access::$store(to.add(at), word.as_ptr()) }
            }
        }
    };
}

words!(read_1, write_1, fill_1, load_1, store_1, 1);
words!(read_2, write_2, fill_2, load_2, store_2, 2);
words!(read_4, write_4, fill_4, load_4, store_4, 4);
#[cfg(target_pointer_width = "64")]
words!(read_8, write_8, fill_8, load_8, store_8, 8);

/// The same of vectors, whose loops the architecture has.
#[cfg(all(not(miri), any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon"))))]
macro_rules! vectors {
    ($read:ident, $write:ident, $load:ident, $store:ident) => {
        #[inline(never)]
        unsafe fn $read(from: *const u8, to: *mut u8, count: usize) {
            // SAFETY: as above; the processor has the registers.
            unsafe { access::$load(from, to, count) }
        }

        #[inline(never)]
        unsafe fn $write(to: *mut u8, from: *const u8, count: usize) {
            // SAFETY: as above.
            unsafe { access::$store(to, from, count) }
        }
    };
}

#[cfg(all(not(miri), any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon"))))]
vectors!(read_16, write_16, load_vectors_16, store_vectors_16);
#[cfg(all(target_arch = "x86_64", not(miri)))]
vectors!(read_32, write_32, load_vectors_32, store_vectors_32);
#[cfg(all(target_arch = "x86_64", not(miri)))]
vectors!(read_64, write_64, load_vectors_64, store_vectors_64);

/// Loops over blocks of 64 bytes.
macro_rules! blocks {
    ($read:ident, $write:ident, $load:ident, $store:ident) => {
        #[inline(never)]
        unsafe fn $read(from: *const u8, to: *mut u8, count: usize) {
            for at in (0..count * BLOCK).step_by(BLOCK) {
                // SAFETY: as above.
                unsafe { access::$load(from.add(at), to.add(at)) }
            }
        }

        #[inline(never)]
        unsafe fn $write(to: *mut u8, from: *const u8, count: usize) {
            for at in (0..count * BLOCK).step_by(BLOCK) {
                // SAFETY: as above.
                unsafe { access::$store(to.add(at), from.add(at)) }
            }
        }
    };
}

/// Bytes of a block of a burst.
const BLOCK: usize = 64;

blocks!(read_burst, write_burst, load_block, store_block);
#[cfg(all(not(miri), any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon"))))]
blocks!(read_stream, write_stream, stream_in, stream_out);

/// The bytes of a run that are whole blocks, where it is a burst.
fn in_blocks(access: Access, bytes: usize) -> usize {
    let burst = matches!(access.mode, Mode::Burst | Mode::Streaming) && access.width == Mode::BURST_WIDTH;
    if burst { bytes - bytes % BLOCK } else { 0 }
}

/// Reads `bytes` bytes.
///
/// # Safety
/// They are valid from `from` on, which is aligned to the width, and to `to`; they are whole accesses; the processor has them.
pub(crate) unsafe fn read(access: Access, from: *const u8, to: *mut u8, bytes: usize) {
    let blocks = in_blocks(access, bytes);
    // SAFETY: parts of what the caller promised.
    unsafe {
        match access.mode {
            _ if bytes == 0 => return,
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Mode::Repeat => return access::repeat(from, to, bytes),
            #[cfg(all(not(miri), any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon"))))]
            Mode::Streaming if access::streams() => read_stream(from, to, blocks / BLOCK),
            _ => read_burst(from, to, blocks / BLOCK),
        }
        let (from, to, rest) = (from.add(blocks), to.add(blocks), bytes - blocks);
        if rest == 0 {
            return;
        }
        let count = rest / access.width.bytes();
        match access.width {
            Width::B1 => read_1(from, to, count),
            Width::B2 => read_2(from, to, count),
            Width::B4 => read_4(from, to, count),
            #[cfg(target_pointer_width = "64")]
            Width::B8 => read_8(from, to, count),
            #[cfg(all(not(miri), any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon"))))]
            Width::B16 => read_16(from, to, count),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Width::B32 => read_32(from, to, count),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Width::B64 => read_64(from, to, count),
            #[cfg(not(all(target_arch = "x86_64", not(miri))))]
            _ => unreachable!("the width was looked at"),
        }
    }
}

/// Writes `bytes` bytes.
///
/// # Safety
/// As for reading, with `to` aligned and writable.
pub(crate) unsafe fn write(access: Access, to: *mut u8, from: *const u8, bytes: usize) {
    let blocks = in_blocks(access, bytes);
    // SAFETY: parts of what the caller promised.
    unsafe {
        match access.mode {
            _ if bytes == 0 => return,
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Mode::Repeat => return access::repeat(from, to, bytes),
            #[cfg(all(not(miri), any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon"))))]
            Mode::Streaming if access::streams() => write_stream(to, from, blocks / BLOCK),
            _ => write_burst(to, from, blocks / BLOCK),
        }
        let (to, from, rest) = (to.add(blocks), from.add(blocks), bytes - blocks);
        if rest == 0 {
            return;
        }
        let count = rest / access.width.bytes();
        match access.width {
            Width::B1 => write_1(to, from, count),
            Width::B2 => write_2(to, from, count),
            Width::B4 => write_4(to, from, count),
            #[cfg(target_pointer_width = "64")]
            Width::B8 => write_8(to, from, count),
            #[cfg(all(not(miri), any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon"))))]
            Width::B16 => write_16(to, from, count),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Width::B32 => write_32(to, from, count),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Width::B64 => write_64(to, from, count),
            #[cfg(not(all(target_arch = "x86_64", not(miri))))]
            _ => unreachable!("the width was looked at"),
        }
    }
}

/// Writes `bytes` bytes of one value.
///
/// # Safety
/// As for writing.
pub(crate) unsafe fn fill(width: Width, to: *mut u8, value: u8, bytes: usize) {
    let count = bytes / width.bytes();
    // SAFETY: parts of what the caller promised.
    unsafe {
        match width {
            Width::B1 => fill_1(to, value, count),
            Width::B2 => fill_2(to, value, count),
            Width::B4 => fill_4(to, value, count),
            #[cfg(target_pointer_width = "64")]
            Width::B8 => fill_8(to, value, count),
            wider => {
                let (access, piece) = (Access { width: wider, mode: Mode::Plain }, [value; BLOCK]);
                for at in (0..bytes).step_by(wider.bytes()) {
                    write(access, to.add(at), piece.as_ptr(), wider.bytes());
                }
            }
        }
    }
}
