//! Records streams of frames (camera pictures, or any records of bytes) at the speed of the device: producers put frames into a ring
//! of memory ([`input`], [`Ring`]), the writer packs them into batches of a container file or device ([`WriterSource`]), and the
//! reader lists, verifies, exports and recovers what is there ([`Container`]).
//!
//! Invariants:
//! - What was acknowledged is on the storage: written and flushed, it and all before it. Memory is given back only then.
//! - Of every frame that came it is known what became of it: durable, lost with its reason, or in flight.
//! - A frame of 64 KiB or more is written from where it was received to; shorter ones are copied once more. How much was is counted.
//!   Its CRC32C is made when it comes.
//! - Nothing that is read is believed without a CRC32C of this container.
//!
//! Deliberately absent: which target may be written to, arguments, wording.

mod account;
mod container;
#[cfg(test)]
mod crash_tests;
mod damage;
mod export;
mod frame_channel;
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
mod tail_footer;
mod verify;
mod writer;

pub use account::{Account, Accounts, StreamCounters};
pub use container::{
    BLOCK_BYTES, BatchHeader, ContainerError, Entry, FrameEntry, FrameKind, Geometry, Identity, Loss, MAX_PINS,
    MAX_STREAMS, PayloadLocation, Pins, RECORD_BYTES, SegmentFooter, SegmentHeader, SegmentStream, SharedPins,
    StreamName, Superblock, VERSION, WhenFull,
};
pub use damage::Damage;
pub use export::{Matroska, MatroskaError, VideoTimes};
pub use frame_channel::{Arrival, Frame, FrameChannel, FrameReceiver, FrameSource, Polled, StreamSender};
pub use read_error::ReadError;
pub use reader::{BatchLocation, Container, FrameLocation, FrameVisitor, Gap, Segment, Span, StreamContents};
pub use ring::{LENT_BYTES, Piece, Ring};
pub use run::{DEPTH, PIECE_BYTES, RecordingOutcome, run, run_on_device};
pub use store::Store;
pub use tail_footer::TailFooter;
pub use verify::Verified;
pub use writer::{FrameTime, MAX_FRAME_TIMES, SpaceProvider, WriterOutcome, WriterSettings, WriterSource};
