//! Calls of a recording, made again.

mod archive;
mod calls;
pub mod directory;
mod dpkg;
mod source;

pub use calls::ReplayedCalls;
pub use dpkg::{ARCHIVES, Dpkg, ROOT, dpkg_is_there, needs_preinstall, room_for};
pub use source::{CallOp, ReplaySource};

/// What files that are made hold.
pub struct MadeData<'a> {
    /// Data that do not compress.
    pub piece: Vec<u8>,
    /// Makes a part of them, which goes to this offset, differ from all others.
    pub stamp: &'a mut dyn FnMut(&mut [u8], u64),
}
