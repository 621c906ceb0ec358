//! Whether the data that come back are those that were written, and if not, what happened to them.
//!
//! [`Stamper`] fills blocks with sectors that say who wrote them, where, when and which version they are, and checks
//! blocks that were read, several times faster than devices deliver them.
//!
//! Invariants:
//! - A false alarm is the worst bug that such a room can have: what is not proven wrong is not reported.
//! - The secret from which payloads are made never reaches the target.
//! - Values in, values out: the same bytes and the same expectation give the same answer.
//!
//! Deliberately absent: I/O, clocks, allocation on the fast path, `unsafe`; re-reading, dropping caches and saving
//! evidence are the caller's.

mod block;
mod keystream;
mod stamp;
mod verify_kind;

pub use block::{Allowed, Intact, Stamper, Suspect, Write};
pub use keystream::Secret;
pub use stamp::{
    MAX_WRITE_SECTORS, PAYLOAD_BYTES, PAYLOAD_WORDS, PayloadSum, SECTOR_BYTES, STAMP_BYTES, Sector, Stamp,
};
pub use verify_kind::{UnknownVerify, VerifyKind};
