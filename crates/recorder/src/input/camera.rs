//! Cameras of Video4Linux 2: pictures are copied out of the driver's buffers, and the buffers given back at once.
//!
//! A sensor waits for nobody: what has no room in the ring is lost, and so is what the driver had no buffer for, which the numbers
//! of its pictures tell.

use super::{JpegParser, PictureBytes, Producer, RingFull, stream};
use crate::container::{FrameKind, Loss};
use crate::frame_channel::{FrameChannel, StreamSender};
use std::io;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use sys::{JPEG_FORMATS, VideoCamera, VideoPicture, VideoSettings};

/// Whoever waits for a picture looks at its reason to stop that often.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// A CRC32C is made of so much at once, while it is in the cache.
const SUM_BYTES: usize = 128 << 10;
/// More pictures are not missed at once: a driver that begins to count anew has lost none.
const MAX_MISSED: u32 = 1 << 20;

/// Why a text says no format of a camera.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}: what is asked of a camera is a format of four letters, WIDTHxHEIGHT, or both, then @FRAMES_PER_S: 1280x720@30"
)]
pub struct CameraFormatError(String);

/// `1280x720@30`, `YUYV`, `MJPG,640x480`.
///
/// # Errors
/// It is not written so.
pub fn parse_camera_format(text: &str) -> Result<VideoSettings, CameraFormatError> {
    let wrong = || CameraFormatError(text.to_owned());
    let mut settings = VideoSettings::default();
    let (rest, rate) = text.split_once('@').map_or((text, None), |(rest, rate)| (rest, Some(rate)));
    if let Some(rate) = rate {
        settings.frames_per_s = Some(rate.parse().ok().filter(|n| (1..=10_000).contains(n)).ok_or_else(wrong)?);
    }
    for part in rest.split(',').filter(|part| !part.is_empty()) {
        let size = part.split_once('x').and_then(|(width, height)| {
            let pixels = |text: &str| text.parse().ok().filter(|n: &u32| (1..=1 << 16).contains(n));
            Some((pixels(width)?, pixels(height)?))
        });
        match (size, <[u8; 4]>::try_from(part.as_bytes())) {
            (Some(size), _) if settings.size.is_none() => settings.size = Some(size),
            (None, Ok(fourcc)) if settings.fourcc.is_none() && fourcc.is_ascii() && fourcc[0].is_ascii_alphabetic() => {
                settings.fourcc = Some(fourcc);
            }
            _ => return Err(wrong()),
        }
    }
    if rest.is_empty() && rate.is_none() { Err(wrong()) } else { Ok(settings) }
}

/// Starts a camera, with a thread that takes its pictures.
///
/// # Errors
/// No thread can be had.
pub fn capture(camera: VideoCamera, name: &str, channel: FrameChannel) -> io::Result<Producer> {
    let called = name.to_owned();
    let jpeg = JPEG_FORMATS.contains(&camera.format().fourcc);
    let kind = if jpeg { FrameKind::Jpeg } else { FrameKind::Opaque };
    // Here, so that their numbers are in order.
    let sender = stream(channel, name, kind, RingFull::Drop);
    let body = move || {
        let mut taking = CaptureLoop { camera, sender: sender?, jpeg, next: None };
        taking.all().map_err(|e| format!("{called}: {}", why(&e)))
    };
    std::thread::Builder::new().name(format!("in {name}")).spawn(body)
}

/// Why a camera ended, in words.
fn why(e: &io::Error) -> String {
    match e.raw_os_error().map(sys::errno_name).as_deref() {
        Some("EIO") => "its driver gave up (EIO)".to_owned(),
        Some("ENODEV") => "it is gone (ENODEV)".to_owned(),
        Some("ENOSPC") => {
            "its bus has no room for so much (ENOSPC): a smaller size, fewer pictures a second".to_owned()
        }
        Some(name) => name.to_owned(),
        None => e.to_string(),
    }
}

struct CaptureLoop {
    camera: VideoCamera,
    sender: StreamSender,
    jpeg: bool,
    /// The number of the next picture.
    next: Option<u32>,
}

impl CaptureLoop {
    fn all(&mut self) -> io::Result<()> {
        self.camera.start()?;
        let begun = Instant::now();
        while !self.sender.channel().is_stopping() {
            if let Some(picture) = self.camera.next(POLL_INTERVAL)? {
                self.missed(picture.sequence);
                self.take(&picture)?;
                self.camera.give_back(picture)?;
            }
        }
        match self.next {
            Some(_) => Ok(()),
            None => Err(io::Error::other(format!("no picture came in {:.1} s", begun.elapsed().as_secs_f64()))),
        }
    }

    /// Numbers that were passed over are pictures for which the driver had no buffer.
    fn missed(&mut self, sequence: u32) {
        let missed = self.next.map_or(0, |next| sequence.wrapping_sub(next));
        if (1..MAX_MISSED).contains(&missed) {
            self.sender.receive_lost(missed.into(), 0, Loss::Missed);
        }
        self.next = Some(sequence.wrapping_add(1));
    }

    fn take(&mut self, picture: &VideoPicture) -> io::Result<()> {
        if picture.is_broken || picture.bytes == 0 {
            self.sender.receive_lost(1, picture.bytes, Loss::Damaged);
            return Ok(());
        }
        let mut piece = match self.sender.piece(picture.bytes) {
            Ok(piece) => piece,
            Err(loss) => {
                self.sender.receive_lost(1, picture.bytes, loss);
                return Ok(());
            }
        };
        let mut walk = JpegParser::default();
        let mut sum = 0;
        let mut length = None;
        for from in (0..picture.bytes).step_by(SUM_BYTES) {
            let part = &mut piece.bytes_mut()[from..picture.bytes.min(from + SUM_BYTES)];
            self.camera.copy(picture, from, part)?;
            // What stands behind a picture is no part of it.
            let used = match if self.jpeg { walk.parse(part) } else { PictureBytes::More } {
                PictureBytes::More => part.len(),
                PictureBytes::End(n) => {
                    length = Some(from + n);
                    n
                }
                PictureBytes::Broken(_) => break,
            };
            sum = crc32c::crc32c_append(sum, &part[..used]);
            if length.is_some() {
                break;
            }
        }
        let Some(length) = length.or((!self.jpeg).then_some(picture.bytes)) else {
            self.sender.receive_lost(1, picture.bytes, Loss::Damaged);
            return Ok(());
        };
        piece.truncate(length);
        let sequence = self.sender.receive(length);
        self.sender.send(sequence, picture.monotonic_ns.map_or(0, unix_time_ns), piece, sum);
        Ok(())
    }
}

/// A moment of the monotonic clock, of a moment ago, as nanoseconds since 1970.
fn unix_time_ns(monotonic_ns: u64) -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let now_ns = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
    let age = Duration::from_nanos(now_ns.saturating_sub(monotonic_ns));
    let taken = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(age);
    u64::try_from(taken.as_nanos()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_of_a_camera_is_read() {
        let settings = |fourcc: Option<&[u8; 4]>, size, frames_per_s| VideoSettings {
            fourcc: fourcc.copied(),
            size,
            frames_per_s,
        };
        assert_eq!(parse_camera_format("1280x720@30"), Ok(settings(None, Some((1280, 720)), Some(30))));
        assert_eq!(parse_camera_format("YUYV,640x480"), Ok(settings(Some(b"YUYV"), Some((640, 480)), None)));
        assert_eq!(parse_camera_format("640x480,MJPG@5"), Ok(settings(Some(b"MJPG"), Some((640, 480)), Some(5))));
        assert_eq!(parse_camera_format("@60"), Ok(settings(None, None, Some(60))));
        for wrong in
            ["", "640", "640x", "0x480", "640x480@0", "MJPEG", "1x1,2x2", "YUYV,MJPG", "640x480@x", "640x99999"]
        {
            assert!(parse_camera_format(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_clock_of_pictures_is_that_of_1970() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        let monotonic = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let second_ago = monotonic.tv_sec as u64 * 1_000_000_000 + monotonic.tv_nsec as u64 - 1_000_000_000;
        assert!(unix_time_ns(second_ago).abs_diff(now - 1_000_000_000) < 500_000_000);
    }
}
