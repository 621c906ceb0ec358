//! Whether the data that come back are those that were written, and if not, what happened to them.
//!
//! [`Stamper`] fills blocks with sectors that say who wrote them, where, when and which version they are, and checks
//! blocks that were read, several times faster than devices deliver them. [`Passes`] and [`Versions`], which keeps its
//! knowledge in [`Table`]s, know what each place must hold. [`classify()`] says what happened to a place that was found wrong, and [`Ledger`] what all of them mean together.
//! [`Medium`] is a disk in memory that does wrong what it is told to do wrong.
//!
//! Invariants:
//! - A false alarm is the worst bug that such a room can have: what is not proven wrong is not reported.
//! - The secret from which payloads are made never reaches the target.
//! - Values in, values out: the same bytes and the same expectation give the same answer.
//!
//! Deliberately absent: I/O, clocks, allocation on the fast path, `unsafe`; re-reading, dropping caches and saving
//! evidence are the caller's.

mod block;
mod classify;
mod damage;
mod expected;
mod keystream;
mod known;
mod ledger;
mod medium;
mod passes;
mod sector;
mod sizes;
mod stamp;
mod table;
mod versions;
mod xxh3;

pub use block::{AllowedGenerations, Intact, Stamper, Suspect, Write};
pub use classify::{CheckedBlock, Judgement, Origin, REREADS, classify, is_rest_of_torn, points_to};
pub use expected::{Expected, FailureDoubt, Interruption};
pub use keystream::Secret;
pub use known::KnownData;
pub use ledger::{Conclusion, Ledger};
pub use medium::{Armed, Medium, NextRead, NextWrite};
pub use passes::Passes;
pub use stamp::{
    MAX_WRITE_SECTORS, PAYLOAD_BYTES, PAYLOAD_WORDS, PayloadSum, SECTOR_BYTES, STAMP_BYTES, Sector, Stamp,
};
pub use table::{Table, TooManyUnits};
pub use versions::{CheckMode, Versions};
