//! The inner loops: one function each, never inlined, so that the project's checks find them in the compiler's output by name.

use crate::{Access, Direction, Mode, Width, access};

/// From where, to where, and how many accesses or blocks.
type Loop = unsafe fn(*const u8, *mut u8, usize);

/// Loops over single accesses, or over blocks of them.
macro_rules! loops {
    ($($name:ident of $one:ident, $bytes:expr;)+) => {$(
        #[inline(never)]
        unsafe fn $name(from: *const u8, to: *mut u8, count: usize) {
            for at in (0..count * $bytes).step_by($bytes) {
                // SAFETY: the callers in this file keep to the bytes that theirs promised.
                unsafe { access::$one(from.add(at), to.add(at)) }
            }
        }
    )+};
}

/// Loops over stores of the same bytes.
macro_rules! fills {
    ($($name:ident of $store:ident, $bytes:literal;)+) => {$(
        #[inline(never)]
        unsafe fn $name(to: *mut u8, value: u8, count: usize) {
            let word = [value; $bytes];
            for at in (0..count * $bytes).step_by($bytes) {
                // SAFETY: as above.
                unsafe { access::$store(word.as_ptr(), to.add(at)) }
            }
        }
    )+};
}

/// Bytes of a block of a burst.
const BLOCK: usize = 64;

loops! {
    read_1 of load_1, 1;
    read_2 of load_2, 2;
    read_4 of load_4, 4;
    read_burst of load_block, BLOCK;
    write_1 of store_1, 1;
    write_2 of store_2, 2;
    write_4 of store_4, 4;
    write_burst of store_block, BLOCK;
}
#[cfg(target_pointer_width = "64")]
loops! {
    read_8 of load_8, 8;
    write_8 of store_8, 8;
}
#[cfg(all(not(miri), any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon"))))]
loops! {
    read_stream of stream_in, BLOCK;
    write_stream of stream_out, BLOCK;
}
#[cfg(all(not(miri), target_arch = "aarch64", target_feature = "neon"))]
loops! {
    read_16 of move_16, 16;
    write_16 of move_16, 16;
}

fills! {
    fill_1 of store_1, 1;
    fill_2 of store_2, 2;
    fill_4 of store_4, 4;
}
#[cfg(target_pointer_width = "64")]
fills! {
    fill_8 of store_8, 8;
}

/// x86's loops over vectors, which are assembly as a whole.
#[cfg(all(target_arch = "x86_64", not(miri)))]
macro_rules! vectors {
    ($($name:ident of $all:ident;)+) => {$(
        #[inline(never)]
        unsafe fn $name(from: *const u8, to: *mut u8, count: usize) {
            // SAFETY: as above; the processor has the registers.
            unsafe { access::$all(from, to, count) }
        }
    )+};
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
vectors! {
    read_16 of load_vectors_16;
    read_32 of load_vectors_32;
    read_64 of load_vectors_64;
    write_16 of store_vectors_16;
    write_32 of store_vectors_32;
    write_64 of store_vectors_64;
}

/// The loop over accesses of one width.
fn of_width(width: Width, direction: Direction) -> Loop {
    let (read, write): (Loop, Loop) = match width {
        Width::B1 => (read_1, write_1),
        Width::B2 => (read_2, write_2),
        Width::B4 => (read_4, write_4),
        #[cfg(target_pointer_width = "64")]
        Width::B8 => (read_8, write_8),
        #[cfg(all(not(miri), any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon"))))]
        Width::B16 => (read_16, write_16),
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        Width::B32 => (read_32, write_32),
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        Width::B64 => (read_64, write_64),
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        _ => unreachable!("the width was looked at"),
    };
    if direction == Direction::Read { read } else { write }
}

/// The loop over blocks; `None` where single accesses are asked for.
fn of_blocks(access: Access, direction: Direction) -> Option<Loop> {
    let (read, write): (Loop, Loop) = match access.mode {
        _ if access.width != Mode::BURST_WIDTH => return None,
        Mode::Plain | Mode::Repeat => return None,
        #[cfg(all(not(miri), any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon"))))]
        Mode::Streaming if access::streams() => (read_stream, write_stream),
        Mode::Burst | Mode::Streaming => (read_burst, write_burst),
    };
    Some(if direction == Direction::Read { read } else { write })
}

/// Copies `bytes` bytes; the device is where the direction says.
///
/// # Safety
/// They are valid from `from` on and to `to`; the device's side is aligned to the width; they are whole accesses; the processor has
/// them.
pub(crate) unsafe fn copy(access: Access, direction: Direction, from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if access.mode == Mode::Repeat {
        // SAFETY: as the caller says.
        return unsafe { access::repeat(from, to, bytes) };
    }
    let blocks = of_blocks(access, direction).filter(|_| bytes >= BLOCK);
    let in_blocks = if blocks.is_some() { bytes - bytes % BLOCK } else { 0 };
    let singles = (bytes - in_blocks) / access.width.bytes();
    // SAFETY: parts of what the caller promised.
    unsafe {
        if let Some(blocks) = blocks {
            blocks(from, to, in_blocks / BLOCK);
        }
        if singles > 0 {
            of_width(access.width, direction)(from.add(in_blocks), to.add(in_blocks), singles);
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
                let access = Access { width: wider, mode: Mode::Plain };
                let piece = [value; BLOCK];
                for at in (0..bytes).step_by(wider.bytes()) {
                    copy(access, Direction::Write, piece.as_ptr(), to.add(at), wider.bytes());
                }
            }
        }
    }
}
