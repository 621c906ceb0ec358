//! Frames from a stream of bytes: pictures one behind the other, or frames with their length before them.

use super::jpeg::{JpegParser, PictureBytes};
use super::reading::Reading;
use crate::container::{FrameKind, Loss};
use crate::frame_channel::StreamSender;
use crate::ring::Piece;
use std::io;
use std::os::fd::AsFd;

/// What is read at once from a producer, at most and at least: half of a picture as they come, because what lies behind the
/// end of one is copied.
const CHUNK_BYTES: usize = 128 << 10;
const MIN_CHUNK_BYTES: usize = 4 << 10;
/// The first piece for a picture, where none has come before.
const FIRST_PIECE: usize = 256 << 10;
/// A CRC32C is made of so much at once, while it is in the cache.
const SUM_BYTES: usize = 256 << 10;

/// Before each frame: this, its length, and when it was made, nanoseconds since 1970 (0: not known), little-endian.
pub const FRAME_MAGIC: [u8; 4] = *b"NFR1";
/// Length of that.
pub const FRAME_HEAD_BYTES: usize = 16;

/// The head of a frame of so many bytes.
pub fn frame_head(length: u32, capture_ns: u64) -> [u8; FRAME_HEAD_BYTES] {
    let mut head = [0; FRAME_HEAD_BYTES];
    head[..4].copy_from_slice(&FRAME_MAGIC);
    head[4..8].copy_from_slice(&length.to_le_bytes());
    head[8..].copy_from_slice(&capture_ns.to_le_bytes());
    head
}

/// What a head says; `None` where it is none.
pub fn parse_frame_head(head: &[u8; FRAME_HEAD_BYTES]) -> Option<(u32, u64)> {
    let (magic, rest) = head.split_at(4);
    let (length, capture) = rest.split_at(4);
    let length = u32::from_le_bytes(length.try_into().ok()?);
    (magic == FRAME_MAGIC).then_some((length, u64::from_le_bytes(capture.try_into().ok()?)))
}

/// What kind of frames a stream of bytes has, by the first four of them.
pub fn kind_of(first: &[u8]) -> Option<FrameKind> {
    match first {
        [0xff, 0xd8, ..] => Some(FrameKind::Jpeg),
        _ if first.starts_with(&FRAME_MAGIC) => Some(FrameKind::Opaque),
        _ => None,
    }
}

/// Brings frames that have their length before them, until the end; `first` bytes were read already.
///
/// # Errors
/// What read(2) says.
pub fn framed<F: AsFd>(reading: &mut Reading<'_, F>, first: &[u8], sender: &mut StreamSender) -> io::Result<()> {
    let mut head = [0; FRAME_HEAD_BYTES];
    let mut have = first.len().min(FRAME_HEAD_BYTES);
    head[..have].copy_from_slice(&first[..have]);
    let mut scratch = Vec::new();
    loop {
        have += reading.read_all(&mut head[have..])?;
        if have < FRAME_HEAD_BYTES {
            lose_truncated(reading, sender, have);
            return Ok(());
        }
        have = 0;
        let Some((length, capture_ns)) = parse_frame_head(&head) else {
            // Where the next frame would begin nobody can know.
            sender.receive_lost(1, FRAME_HEAD_BYTES, Loss::Damaged);
            return Err(io::Error::new(io::ErrorKind::InvalidData, "what came is not a head of a frame"));
        };
        let length = length as usize;
        let mut piece = match sender.piece(length) {
            Ok(piece) => piece,
            // It was being waited for when the end came.
            Err(Loss::RingFull) if reading.is_stopping() => return Ok(()),
            Err(loss) => {
                sender.receive_lost(1, length, loss);
                if !skip(reading, length, &mut scratch)? {
                    return Ok(());
                }
                continue;
            }
        };
        let (mut done, mut sum) = (0, 0);
        while done < length {
            let end = length.min(done + SUM_BYTES);
            let count = reading.read_all(&mut piece.bytes_mut()[done..end])?;
            sum = crc32c::crc32c_append(sum, &piece.bytes()[done..done + count]);
            done += count;
            if count == 0 || done < end {
                lose_truncated(reading, sender, FRAME_HEAD_BYTES + done);
                return Ok(());
            }
        }
        let sequence = sender.receive(length);
        sender.send(sequence, capture_ns, piece, sum);
        if reading.is_stopping() {
            return Ok(());
        }
    }
}

/// The producer is at its end within a frame. One that we ended has not sent it yet: nothing is lost.
fn lose_truncated<F: AsFd>(reading: &Reading<'_, F>, sender: &mut StreamSender, have: usize) {
    if have > 0 && !reading.is_stopping() {
        sender.receive_lost(1, have, Loss::CutOff);
    }
}

/// Reads what has no place; whether all of it came.
fn skip<F: AsFd>(reading: &mut Reading<'_, F>, mut length: usize, scratch: &mut Vec<u8>) -> io::Result<bool> {
    scratch.resize(CHUNK_BYTES, 0);
    while length > 0 {
        let count = length.min(CHUNK_BYTES);
        if reading.read_all(&mut scratch[..count])? < count {
            return Ok(false);
        }
        length -= count;
    }
    Ok(true)
}

/// A picture that is being read.
struct GrowingPicture {
    /// `None`: it is lost, for that reason, and only passed over.
    piece: Result<Piece, Loss>,
    have: usize,
    sum: u32,
}

/// Brings pictures that come one behind the other, until the end; `first` bytes were read already. They are read to where they
/// stay; what of the next one was read with the end of one is copied.
///
/// # Errors
/// What read(2) says.
pub fn pictures<F: AsFd>(reading: &mut Reading<'_, F>, first: &[u8], sender: &mut StreamSender) -> io::Result<()> {
    let mut walk = JpegParser::default();
    let mut usual = FIRST_PIECE;
    let mut growing = GrowingPicture::begin(sender, usual);
    let mut carried = first.to_vec();
    let mut scratch = vec![0; CHUNK_BYTES];
    loop {
        growing.make_room(sender, carried.len());
        let count = if carried.is_empty() {
            let into = growing.room(&mut scratch, usual / 2);
            reading.read_some(into)?
        } else {
            let into = growing.room(&mut scratch, CHUNK_BYTES);
            into[..carried.len()].copy_from_slice(&carried);
            std::mem::take(&mut carried).len()
        };
        if count == 0 {
            lose_truncated(reading, sender, growing.have);
            return Ok(());
        }
        let before = growing.sum;
        let new = &growing.room(&mut scratch, CHUNK_BYTES)[..count];
        let (used, whole) = match walk.parse(new) {
            PictureBytes::More => (count, None),
            PictureBytes::End(n) => (n, Some(true)),
            PictureBytes::Broken(n) => (n, Some(false)),
        };
        carried.extend_from_slice(&new[used..]);
        growing.sum = crc32c::crc32c_append(before, &new[..used]);
        growing.have += used;
        let Some(whole) = whole else { continue };
        let done = std::mem::replace(&mut growing, GrowingPicture { piece: Err(Loss::Damaged), have: 0, sum: 0 });
        if whole {
            usual = (done.have + done.have / 4).max(usual - usual / 16).max(MIN_CHUNK_BYTES);
        }
        done.send(sender, whole);
        if reading.is_stopping() {
            return Ok(());
        }
        growing = GrowingPicture::begin(sender, usual.max(carried.len()));
    }
}

impl GrowingPicture {
    fn begin(sender: &mut StreamSender, length: usize) -> Self {
        Self { piece: sender.piece(length), have: 0, sum: 0 }
    }

    /// A larger piece where the one it has is full.
    fn make_room(&mut self, sender: &mut StreamSender, least: usize) {
        let Ok(piece) = &self.piece else { return };
        let length = piece.bytes().len();
        if length > self.have + least.max(1) - 1 {
            return;
        }
        // Both are there while one is copied: a picture of half the ring has no place.
        let larger = (2 * length).max(self.have + least);
        self.piece = if larger + length > sender.channel().ring.bytes() {
            Err(Loss::TooLarge)
        } else {
            sender.piece(larger).map(|mut larger| {
                larger.bytes_mut()[..self.have].copy_from_slice(&piece.bytes()[..self.have]);
                larger
            })
        };
    }

    /// Where the next bytes go, so many at most.
    fn room<'a>(&'a mut self, scratch: &'a mut [u8], most: usize) -> &'a mut [u8] {
        let room = match &mut self.piece {
            Ok(piece) => &mut piece.bytes_mut()[self.have..],
            Err(_) => scratch,
        };
        let most = room.len().min(most.clamp(MIN_CHUNK_BYTES, CHUNK_BYTES));
        &mut room[..most]
    }

    fn send(self, sender: &mut StreamSender, whole: bool) {
        match self.piece {
            Ok(mut piece) if whole => {
                piece.truncate(self.have);
                let sequence = sender.receive(self.have);
                sender.send(sequence, 0, piece, self.sum);
            }
            Err(loss) if whole => sender.receive_lost(1, self.have, loss),
            _ => sender.receive_lost(1, self.have, Loss::Damaged),
        }
    }
}
