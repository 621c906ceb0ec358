//! How large a sector, its stamp and its payload are.

pub const SECTOR_BYTES: usize = 512;
pub const STAMP_BYTES: usize = 64;
pub const PAYLOAD_BYTES: usize = SECTOR_BYTES - STAMP_BYTES;
/// The payload in words of 64 bits.
pub const PAYLOAD_WORDS: usize = PAYLOAD_BYTES / 8;

/// On a line of the cache of its own: what crosses lines is stored and loaded twice.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Aligned<T>(pub(crate) T);
