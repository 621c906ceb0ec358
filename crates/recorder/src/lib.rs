//! Streams of frames onto storage, at the speed of the device: the container, its writer, reader and recovery.
//!
//! Invariants:
//! - What was acknowledged is on the storage: written and flushed, it and all before it. Memory is given back only then.
//! - Of every frame that came it is known what became of it: durable, lost with its reason, or in flight.
//! - A frame is copied once, from where it was received to where it is written from; its CRC32C is made when it comes.
//! - Nothing that is read is believed without a CRC32C of this container.
//!
//! Deliberately absent: which target may be written to, arguments, wording.

mod account;
mod container;
#[cfg(test)]
mod crash_tests;
mod damage;
mod ending;
mod export;
mod frame;
pub mod input;
mod item;
mod opening;
mod read_error;
mod reader;
#[cfg(test)]
mod reader_tests;
mod ring;
mod run;
mod store;
mod verify;
mod writer;

pub use account::{Account, Accounts, Counted};
pub use container::{
    BLOCK_BYTES, BatchHeader, ContainerError, Entry, FrameEntry, FrameKind, Geometry, Held, Identity, Loss, MOST_PINS,
    MOST_STREAMS, Payload, Pins, RECORD_BYTES, SegmentFooter, SegmentHeader, SharedPins, StreamName, Superblock,
    VERSION, WhenFull,
};
pub use damage::Damage;
pub use ending::Ending;
pub use export::{FilmTimes, Matroska, MatroskaError};
pub use frame::{Arrival, Doors, Frame, Hall, Inflow, Inlet, Taken};
pub use read_error::ReadError;
pub use reader::{BatchAt, Container, FrameAt, Segment, Span, StreamHeld, VisitFrame};
pub use ring::{Piece, Ring};
pub use run::{DEPTH, PIECE_BYTES, Ran, on, run};
pub use store::Store;
pub use verify::Verified;
pub use writer::{FrameTime, MOST_FRAME_TIMES, Room, WriterData, WriterSettings, WriterSource, Written, writer};
