//! Frames by shared memory: a ring in a memfd that a producer fills and hands over by the socket.
//!
//! Layout, little-endian: at 0 `NFRSHM01`, at 8 the length of the data (a multiple of 16), at 16 whether it overwrites (0: it
//! waits for us, 1: it does not), at 64 bytes written, at 128 bytes read, at 192 bytes that are written or being written, at 256
//! frames written, all since the start; the data from 4096 on. A frame is as in a pipe, padded to 16 bytes; it goes on at the start
//! where the data end. A producer that waits keeps "written" at most a length before "read". One that overwrites raises 192 first,
//! then writes, then raises 64 and 256: what was being read meanwhile is known to be lost by that, and it is gone on at 64.

use super::bytes::{FRAME_HEAD_BYTES, parse_frame_head};
use crate::container::Loss;
use crate::frame_channel::StreamSender;
use crate::ring::Piece;
use std::io;
use std::time::Duration;
use sys::SharedMemory;

const MAGIC: u64 = u64::from_le_bytes(*b"NFRSHM01");
const LENGTH_AT: usize = 8;
const OVERWRITES_AT: usize = 16;
const WRITTEN_AT: usize = 64;
const READ_AT: usize = 128;
const BEING_WRITTEN_AT: usize = 192;
const FRAMES_AT: usize = 256;
const DATA_AT: usize = 4096;
const UNIT: u64 = 16;
/// A smaller ring holds no frame worth the name.
const MIN_BYTES: u64 = 4096;
/// More frames are not lost at once: a stranger says how many.
const MAX_LOST: u64 = 1 << 32;
/// How long nothing is looked for where nothing has come.
const PAUSE: Duration = Duration::from_micros(500);
/// A CRC32C is made of so much at once, while it is in the nearest cache.
const SUM_BYTES: usize = 16 << 10;

/// A ring that was handed over.
pub(super) struct SharedRing {
    memory: SharedMemory,
    length: u64,
    overwrites: bool,
    /// Where we are, and how many frames we know of. Ours alone: what stands in the memory anybody may change.
    read: u64,
    frames: u64,
}

enum RingRead {
    Nothing,
    Frame,
    /// Frames were overwritten before they were read.
    Lapped(u64),
}

impl SharedRing {
    /// Of memory that cannot be taken away.
    ///
    /// # Errors
    /// It is no such ring.
    pub fn new(memory: SharedMemory) -> io::Result<Self> {
        let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
        if memory.bytes() < DATA_AT || memory.load(0) != MAGIC {
            return Err(invalid("the memory that was handed over is not a ring of frames"));
        }
        let length = memory.load(LENGTH_AT);
        let room = (memory.bytes() - DATA_AT) as u64;
        if length < MIN_BYTES || length > room || !length.is_multiple_of(UNIT) {
            return Err(invalid("the ring that was handed over says another length than it has"));
        }
        let overwrites = memory.load(OVERWRITES_AT) != 0;
        Ok(Self { memory, length, overwrites, read: 0, frames: 0 })
    }

    /// Copies a frame's bytes from a place of the data; their CRC32C. They are read from memory once: the sum is made of what was
    /// copied while it is in the cache.
    fn take_frame(&self, at: u64, into: &mut [u8]) -> u32 {
        let mut at = at;
        into.chunks_mut(SUM_BYTES).fold(0, |sum, chunk| {
            self.copy(at, chunk);
            at += chunk.len() as u64;
            crc32c::crc32c_append(sum, chunk)
        })
    }

    /// Copies from a place of the data, which begin anew where they end.
    fn copy(&self, at: u64, into: &mut [u8]) {
        let at = (at % self.length) as usize;
        let first = into.len().min(self.length as usize - at);
        let (head, rest) = into.split_at_mut(first);
        self.memory.read(DATA_AT + at, head);
        self.memory.read(DATA_AT, rest);
    }

    /// Whether what lay at `from` has been overwritten by now, or may be.
    fn is_overwritten(&self, from: u64) -> bool {
        self.overwrites && self.memory.load(BEING_WRITTEN_AT).saturating_sub(from) > self.length
    }

    /// What was overwritten is lost: it is gone on where the producer is.
    fn skip_overwritten(&mut self) -> RingRead {
        let (frames, written) = (self.memory.load(FRAMES_AT), self.memory.load(WRITTEN_AT));
        let lost = frames.saturating_sub(self.frames);
        (self.read, self.frames) = (written, frames);
        RingRead::Lapped(lost)
    }

    /// Takes the next frame.
    ///
    /// # Errors
    /// What is there is no frame: where the next one begins nobody can know.
    fn next(&mut self, sender: &mut StreamSender) -> io::Result<RingRead> {
        let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
        let there = self.memory.load(WRITTEN_AT).saturating_sub(self.read);
        if there == 0 {
            return Ok(RingRead::Nothing);
        }
        if there > self.length {
            return if self.overwrites {
                Ok(self.skip_overwritten())
            } else {
                Err(invalid("more was written than the ring holds"))
            };
        }
        let mut head = [0; FRAME_HEAD_BYTES];
        self.copy(self.read, &mut head);
        if self.is_overwritten(self.read) {
            return Ok(self.skip_overwritten());
        }
        let frame = parse_frame_head(&head).filter(|(length, _)| u64::from(*length) + UNIT <= there);
        let Some((length, capture_ns)) = frame else { return Err(invalid("what came is not a head of a frame")) };
        let whole = FRAME_HEAD_BYTES as u64 + u64::from(length).next_multiple_of(UNIT);
        let piece = sender.piece(length as usize).map(|mut piece: Piece| {
            let sum = self.take_frame(self.read + FRAME_HEAD_BYTES as u64, piece.bytes_mut());
            (piece, sum)
        });
        if self.is_overwritten(self.read) {
            return Ok(self.skip_overwritten());
        }
        self.read += whole;
        self.frames += 1;
        self.memory.store(READ_AT, self.read);
        let sequence = sender.receive(length as usize);
        match piece {
            Ok((piece, sum)) => sender.send(sequence, capture_ns, piece, sum),
            Err(loss) => sender.lose(sequence, loss),
        }
        Ok(RingRead::Frame)
    }

    /// Takes frames until the producer is gone and nothing of it is left, or it is to end.
    ///
    /// # Errors
    /// What came is no frame.
    pub fn take_all(&mut self, sender: &mut StreamSender, is_gone: impl Fn() -> bool) -> io::Result<()> {
        loop {
            // Asked before it is looked: what it left before it went is taken.
            let ends = is_gone() || sender.channel().is_stopping();
            match self.next(sender) {
                Ok(RingRead::Frame) => {}
                Ok(RingRead::Lapped(lost)) => sender.receive_lost(lost.min(MAX_LOST), 0, Loss::RingFull),
                Ok(RingRead::Nothing) if ends => return Ok(()),
                Ok(RingRead::Nothing) => std::thread::sleep(PAUSE),
                Err(e) => {
                    sender.receive_lost(1, 0, Loss::Damaged);
                    return Err(e);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::FrameKind;
    use crate::frame_channel::{Arrival, FrameChannel, FrameReceiver, FrameSource, Polled};
    use crate::input::frame_head;
    use crate::ring::Ring;
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
    use std::sync::Arc;
    use sys::{Epoch, EventFd};

    const LENGTH: u64 = 8192;

    /// A producer's side.
    struct Producer {
        memory: SharedMemory,
        written: u64,
        frames: u64,
    }

    impl Producer {
        fn put(&mut self, content: &[u8]) {
            let mut record = frame_head(content.len() as u32, 5).to_vec();
            record.extend_from_slice(content);
            record.resize(record.len().next_multiple_of(16), 0);
            self.memory.store(BEING_WRITTEN_AT, self.written + record.len() as u64);
            for (i, byte) in record.iter().enumerate() {
                self.memory.write(DATA_AT + ((self.written + i as u64) % LENGTH) as usize, &[*byte]);
            }
            (self.written, self.frames) = (self.written + record.len() as u64, self.frames + 1);
            self.memory.store(WRITTEN_AT, self.written);
            self.memory.store(FRAMES_AT, self.frames);
        }
    }

    fn pair(overwrites: bool) -> (Producer, SharedRing, StreamSender, FrameReceiver) {
        let file = memfd_create("frames", MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&file, DATA_AT as u64 + LENGTH).unwrap();
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).unwrap();
        let memory = SharedMemory::of(&file).unwrap();
        for (at, n) in [(0, MAGIC), (LENGTH_AT, LENGTH), (OVERWRITES_AT, overwrites.into())] {
            memory.store(at, n);
        }
        let ring = SharedRing::new(SharedMemory::of(&file).unwrap()).unwrap();
        let event_fd = Arc::new(EventFd::new().unwrap());
        let (channel, receiver) =
            FrameChannel::new(Ring::new(1 << 20).unwrap(), 1 << 20, Epoch::start(), event_fd, Arc::default());
        let sender = channel.stream("x", FrameKind::Opaque, true).unwrap();
        (Producer { memory, written: 0, frames: 0 }, ring, sender, receiver)
    }

    fn came(receiver: &mut FrameReceiver) -> (Vec<Vec<u8>>, u64) {
        let mut frames = Vec::new();
        let mut lost = 0;
        while let Polled::Arrival(arrival) = receiver.poll(0) {
            match arrival {
                Arrival::Frame(frame) => {
                    assert_eq!((crc32c::crc32c(frame.data.bytes()), frame.capture_ns), (frame.sum, 5));
                    frames.push(frame.data.bytes().to_vec());
                }
                Arrival::Lost { count, .. } => lost += count,
            }
        }
        (frames, lost)
    }

    #[test]
    fn frames_come_whole_through_the_end_of_the_ring() {
        let (mut producer, mut ring, mut sender, mut receiver) = pair(false);
        let sent: Vec<Vec<u8>> = (0..40u8).map(|n| vec![n; 1000 + usize::from(n)]).collect();
        for (i, content) in sent.iter().enumerate() {
            producer.put(content);
            if i % 5 == 4 {
                ring.take_all(&mut sender, || true).unwrap();
                assert_eq!(producer.memory.load(READ_AT), producer.written);
            }
        }
        assert_eq!(came(&mut receiver), (sent, 0));
    }

    #[test]
    fn what_was_overwritten_is_counted_and_what_follows_is_whole() {
        let (mut producer, mut ring, mut sender, mut receiver) = pair(true);
        (0..30u8).for_each(|n| producer.put(&[n; 1000]));
        ring.take_all(&mut sender, || true).unwrap();
        producer.put(b"after");
        ring.take_all(&mut sender, || true).unwrap();
        drop(sender);
        assert_eq!(came(&mut receiver), (vec![b"after".to_vec()], 30));
    }

    #[test]
    fn what_a_stranger_writes_is_no_frame_and_no_crash() {
        let far = u64::MAX;
        for (at, number) in
            [(WRITTEN_AT, far), (WRITTEN_AT, 16), (WRITTEN_AT, LENGTH), (BEING_WRITTEN_AT, far), (FRAMES_AT, far)]
        {
            for overwrites in [false, true] {
                let (mut producer, mut ring, mut sender, mut receiver) = pair(overwrites);
                producer.put(&[1; 100]);
                producer.memory.store(at, number);
                let _ = ring.take_all(&mut sender, || true);
                drop(sender);
                let (frames, _) = came(&mut receiver);
                assert!(frames.iter().all(|f| *f == [1; 100]), "{at} {number}");
            }
        }
        let (producer, ..) = pair(false);
        for (at, number) in [(0, 1), (LENGTH_AT, 1 << 40), (LENGTH_AT, 4097), (LENGTH_AT, 0)] {
            let file = memfd_create("frames", MemfdFlags::ALLOW_SEALING).unwrap();
            ftruncate(&file, DATA_AT as u64 + LENGTH).unwrap();
            fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).unwrap();
            let memory = SharedMemory::of(&file).unwrap();
            for (at, n) in [(0, MAGIC), (LENGTH_AT, LENGTH), (at, number)] {
                memory.store(at, n);
            }
            assert!(SharedRing::new(memory).is_err());
        }
        drop(producer);
    }
}
