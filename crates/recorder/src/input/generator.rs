//! Cameras that are made up: pictures of a size at a rate, the same for the same seed.

use super::picture;
use crate::account::{Account, Accounts};
use crate::container::{FrameKind, Loss};
use crate::frame_channel::{Arrival, Frame, FrameSource, Polled, StreamSender};
use crate::ring::Ring;
use model::random::mix;
use model::{CameraStreams, Ns};
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

/// Whoever sleeps looks at its reason to stop that often.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// A camera of which a frame had no room looks for some again after so long: what is due meanwhile is counted, and takes no processor.
const RETRY_DELAY: Duration = Duration::from_millis(2);
/// A CRC32C is made of so much at once, while it is in the cache.
const SUM_BYTES: usize = 128 << 10;
const NS_PER_S: f64 = 1e9;

/// What the cameras are like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Generated {
    /// Number of cameras.
    pub streams: u32,
    /// Bytes of a picture.
    pub frame_bytes: u64,
    /// Pictures a second; `None`: as fast as they are taken.
    pub frames_per_s: Option<f64>,
    /// By how much sizes and moments differ, as a share of them.
    pub jitter: f64,
    /// Pictures that come at once, with the time between them before.
    pub burst: u32,
    /// Pictures in all, of each; `None`: without end.
    pub frames: Option<u64>,
    /// Of sizes, moments and content.
    pub seed: u64,
}

/// Most cameras that are made up at once; each has a thread.
const MAX_CAMERAS: u32 = 32;
/// Largest picture that is made.
const MAX_FRAME_BYTES: u64 = 1 << 30;

/// Why a text says no cameras.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GeneratedError {
    /// It is not written so.
    #[error("{0}: cameras are given as COUNTxSIZE@FRAMES_PER_S, for example 4x2MB@30, 1x1MB@max, or 4x1080p30")]
    Unknown(String),
    /// It asks for more than are made.
    #[error("{0}: at most {MAX_CAMERAS} cameras are generated at once; fewer with larger frames bring as much")]
    TooMany(String),
    /// Its frames are larger than any that is made.
    #[error("{0}: a generated frame has at most 1 GiB")]
    TooLarge(String),
}

impl Generated {
    /// `4x2MB@30`, or `@max`.
    ///
    /// # Errors
    /// It is not written so.
    pub fn parse(text: &str, seed: u64) -> Result<Self, GeneratedError> {
        let parts = || {
            let (streams, rest) = text.split_once('x')?;
            let Some((size, rate)) = rest.split_once('@') else { return Self::of_usual_pictures(text, seed) };
            let frames_per_s = match rate {
                "max" => None,
                _ => Some(rate.parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0)?),
            };
            let frame_bytes = model::parse_bytes(size).ok()?;
            let streams = streams.parse().ok()?;
            Some(Self { streams, frame_bytes, frames_per_s, jitter: 0.0, burst: 1, frames: None, seed })
        };
        let cameras: Option<Self> = parts().filter(|cameras: &Self| cameras.streams > 0 && cameras.frame_bytes > 0);
        match cameras {
            None => Err(GeneratedError::Unknown(text.to_owned())),
            Some(cameras) if cameras.streams > MAX_CAMERAS => Err(GeneratedError::TooMany(text.to_owned())),
            Some(cameras) if cameras.frame_bytes > MAX_FRAME_BYTES => Err(GeneratedError::TooLarge(text.to_owned())),
            Some(cameras) => Ok(cameras),
        }
    }

    /// `4x1080p30`: pictures of which a usual rate is assumed.
    fn of_usual_pictures(text: &str, seed: u64) -> Option<Self> {
        let CameraStreams { count: streams, bytes_per_s, frames_per_s, .. } = CameraStreams::parse(text)?;
        let frame_bytes = (bytes_per_s / frames_per_s?) as u64;
        Some(Self { streams, frame_bytes, frames_per_s, jitter: 0.0, burst: 1, frames: None, seed })
    }

    /// Bytes of the largest picture that may come.
    pub fn most_frame_bytes(&self) -> u64 {
        (self.frame_bytes as f64 * (1.0 + self.jitter)).ceil() as u64
    }

    /// Bytes a second of all together, where they have a rate.
    pub fn bytes_per_s(&self) -> Option<f64> {
        Some(self.frames_per_s? * self.frame_bytes as f64 * f64::from(self.streams))
    }

    /// From -1 to 1, for the frame of a stream and a purpose.
    fn chance(&self, stream: u32, number: u64, purpose: u64) -> f64 {
        let drawn = draw(self.seed ^ u64::from(stream) << 48 ^ purpose << 56, number);
        (drawn >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// When the picture of this number is due, after the start.
    pub fn due_ns(&self, stream: u32, number: u64) -> Option<Ns> {
        let rate = self.frames_per_s?;
        let burst = u64::from(self.burst.max(1));
        let slot = number / burst * burst;
        let moment = slot as f64 + 0.5 * self.jitter * self.chance(stream, slot, 1);
        Some((moment.max(0.0) / rate * NS_PER_S) as Ns)
    }

    /// How many bytes it has.
    pub fn bytes(&self, stream: u32, number: u64) -> usize {
        let size = self.frame_bytes as f64 * (1.0 + self.jitter * self.chance(stream, number, 2));
        (size as usize).max(1)
    }

    /// Makes it; its CRC32C.
    pub fn make(&self, stream: u32, number: u64, into: &mut [u8]) -> u32 {
        let state = draw(self.seed ^ u64::from(stream), number);
        let mut lanes = [1, 2, 3, 4].map(|lane| draw(state, lane) | 1);
        picture::make(into, number, |noise| fill(noise, &mut lanes));
        into.chunks(SUM_BYTES).fold(0, crc32c::crc32c_append)
    }

    /// Brings the pictures of one stream until they are all there, or it is to end. What comes at a rate waits for nobody.
    pub fn produce(&self, stream: u32, sender: &mut StreamSender) {
        let epoch = sender.channel().epoch;
        let stops = sender.channel().stop.clone();
        let stops = || stops.load(std::sync::atomic::Ordering::Relaxed);
        let start = epoch.elapsed_ns();
        let due_ns = |number| self.due_ns(stream, number).map(|due| start.saturating_add(due));
        let frames = self.frames.unwrap_or(u64::MAX);
        let mut next = 0;
        while next < frames {
            let number = next;
            next += 1;
            let due = due_ns(number);
            while let Some(left) = due.map(|due| due.saturating_sub(epoch.elapsed_ns())).filter(|left| *left > 0) {
                if stops() {
                    return;
                }
                sleep(Duration::from_nanos(left).min(POLL_INTERVAL));
            }
            if stops() {
                return;
            }
            let bytes = self.bytes(stream, number);
            match sender.piece(bytes) {
                Ok(mut piece) => {
                    let sequence = sender.receive(bytes);
                    let sum = self.make(stream, number, piece.bytes_mut());
                    sender.send(sequence, 0, piece, sum);
                }
                // What comes as fast as it is taken was never there when it is not taken.
                Err(_) if self.frames_per_s.is_none() && stops() => return,
                Err(loss) => {
                    sleep(RETRY_DELAY);
                    let now = epoch.elapsed_ns();
                    let mut lost = bytes;
                    while next < frames && due_ns(next).is_some_and(|due| due <= now) && !stops() {
                        lost = lost.saturating_add(self.bytes(stream, next));
                        next += 1;
                    }
                    sender.receive_lost(next - number, lost, loss);
                }
            }
        }
    }
}

/// Made-up cameras in the time of the device, as on a simulated one: no threads, and nothing that comes from outside.
pub struct GeneratedSource {
    cameras: Generated,
    ring: Arc<Ring>,
    largest_frame: u64,
    streams: Vec<(Arc<Account>, u64)>,
    /// What has come and was not taken yet.
    came: VecDeque<Arrival>,
    until: Ns,
    ended: bool,
}

impl GeneratedSource {
    /// The cameras, as streams of these accounts, from the device's moment 0 on.
    pub fn new(cameras: Generated, ring: Arc<Ring>, largest_frame: u64, accounts: &Accounts) -> Self {
        let join = |n| Some((accounts.join(&format!("camera-{}", n + 1), FrameKind::Jpeg)?, 0));
        let streams = (0..cameras.streams).filter_map(join).collect();
        Self { cameras, ring, largest_frame, streams, came: VecDeque::new(), until: Ns::MAX, ended: false }
    }

    /// The same, until this moment.
    pub fn until(self, until: Ns) -> Self {
        Self { until, ..self }
    }

    /// The stream whose next picture is due first, and when.
    fn next(&self) -> Option<(usize, Ns)> {
        let left = |(_, number): &(Arc<Account>, u64)| self.cameras.frames.is_none_or(|frames| *number < frames);
        let due = |n: usize, number| self.cameras.due_ns(n as u32, number).unwrap_or(0);
        let all = self.streams.iter().enumerate().filter(|(_, stream)| left(stream));
        all.map(|(n, (_, number))| (n, due(n, *number))).min_by_key(|(n, due)| (*due, self.streams[*n].1))
    }

    /// What is due by now comes, whether somebody takes it or not. When the next is due; `None`: it is the last, or there is no
    /// room for what has no moment of its own.
    fn bring_due(&mut self, now: Ns) -> Option<Ns> {
        loop {
            let (camera, due) = self.next().filter(|(_, due)| *due < self.until)?;
            if due > now {
                return Some(due);
            }
            let (account, number) = self.streams[camera].clone();
            let bytes = self.cameras.bytes(camera as u32, number);
            let piece = match self.ring.take(bytes) {
                _ if bytes as u64 > self.largest_frame => Err(Loss::TooLarge),
                Some(piece) => Ok(piece),
                None if self.cameras.frames_per_s.is_none() => return None,
                None => Err(Loss::RingFull),
            };
            self.streams[camera].1 += 1;
            let sequence = account.add_received(1, bytes as u64);
            self.came.push_back(match piece {
                Ok(mut data) => {
                    let sum = self.cameras.make(camera as u32, number, data.bytes_mut());
                    let arrived = if self.cameras.frames_per_s.is_some() { due } else { now };
                    data.clear_rest();
                    let data = Arc::new(data);
                    Arrival::Frame(Frame { account, sequence, capture_ns: 0, arrived, data, sum })
                }
                Err(loss) => {
                    account.add_lost(loss, 1);
                    Arrival::Lost { account, sequence, count: 1, loss }
                }
            });
        }
    }
}

impl FrameSource for GeneratedSource {
    fn poll(&mut self, now: Ns) -> Polled {
        let over = self.ended || (self.cameras.frames_per_s.is_none() && now >= self.until);
        let next = if over { None } else { self.bring_due(now) };
        match (self.came.pop_front(), next) {
            (Some(arrival), _) => Polled::Arrival(arrival),
            (None, Some(due)) => Polled::Until(due),
            (None, None) if !over && self.next().is_some_and(|(_, due)| due < self.until) => Polled::Nothing,
            (None, None) => Polled::Ended,
        }
    }

    fn end(&mut self) {
        self.ended = true;
    }
}

/// A number drawn for a number.
fn draw(seed: u64, number: u64) -> u64 {
    mix(mix(seed).wrapping_add(number))
}

/// Noise from four generators side by side (xorshift64, Marsaglia 2003), which a compiler makes one of vectors.
fn fill(into: &mut [u8], lanes: &mut [u64; 4]) {
    let mut chunks = into.chunks_exact_mut(32);
    for chunk in &mut chunks {
        for (lane, bytes) in lanes.iter_mut().zip(chunk.chunks_exact_mut(8)) {
            *lane ^= *lane << 13;
            *lane ^= *lane >> 7;
            *lane ^= *lane << 17;
            bytes.copy_from_slice(&lane.to_le_bytes());
        }
    }
    for (i, byte) in chunks.into_remainder().iter_mut().enumerate() {
        *byte = lanes[i / 8].to_le_bytes()[i % 8];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cameras_are_read_and_the_same_seed_makes_the_same() {
        let cameras = Generated::parse("4x2MB@30", 7).unwrap();
        assert_eq!((cameras.streams, cameras.frame_bytes, cameras.bytes_per_s()), (4, 2_000_000, Some(240e6)));
        assert_eq!(Generated::parse("1x1KiB@max", 7).unwrap().frames_per_s, None);
        for wrong in ["", "4", "4x2MB", "0x1MB@3", "1x0@3", "1x1MB@0", "1x1MB@-1", "1x1MB@inf", "99x1MB@1", "axb@c"] {
            assert!(Generated::parse(wrong, 7).is_err(), "{wrong}");
        }
        for many in ["40x1MB@1", "33x1080p30"] {
            let said = Generated::parse(many, 7).unwrap_err().to_string();
            assert!(said.contains("at most 32 cameras"), "{said}");
        }
        assert!(Generated::parse("1x2GiB@1", 7).unwrap_err().to_string().contains("at most 1 GiB"));
        let jittering = Generated { jitter: 0.2, burst: 3, ..cameras };
        let sizes: Vec<usize> = (0..100).map(|n| jittering.bytes(1, n)).collect();
        assert!(
            sizes.iter().all(|n| (1_600_000..=2_400_000).contains(n) && *n as u64 <= jittering.most_frame_bytes())
                && sizes[0] != sizes[1]
        );
        assert_eq!(jittering.due_ns(0, 3), jittering.due_ns(0, 5));
        assert!(jittering.due_ns(0, 6) > jittering.due_ns(0, 5));
        let make = |stream, number| {
            let mut bytes = vec![0; 100_000];
            (jittering.make(stream, number, &mut bytes), bytes)
        };
        assert_eq!(make(2, 5), make(2, 5));
        assert_ne!(make(2, 5).1, make(2, 6).1);
        assert_eq!(make(2, 5).0, crc32c::crc32c(&make(2, 5).1));
    }
}
