//! Cameras of Video4Linux 2: buffers of the driver's, mapped, that are filled one after the other.
//!
//! Structures and numbers are those of k:include/uapi/linux/videodev2.h, the order of calls that of
//! k:Documentation/userspace-api/media/v4l/mmap.rst. Only the single-planar interface is used.
#![allow(unsafe_code)]

use crate::Mapping;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, Setter, Updater, ioctl, opcode};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

const GROUP: u8 = b'V';
const VIDIOC_QUERYCAP: Opcode = opcode::read::<Capability>(GROUP, 0);
const VIDIOC_ENUM_FMT: Opcode = opcode::read_write::<FormatDescription>(GROUP, 2);
const VIDIOC_G_FMT: Opcode = opcode::read_write::<Format>(GROUP, 4);
const VIDIOC_S_FMT: Opcode = opcode::read_write::<Format>(GROUP, 5);
const VIDIOC_REQBUFS: Opcode = opcode::read_write::<BuffersRequest>(GROUP, 8);
const VIDIOC_QUERYBUF: Opcode = opcode::read_write::<Buffer>(GROUP, 9);
const VIDIOC_QBUF: Opcode = opcode::read_write::<Buffer>(GROUP, 15);
const VIDIOC_DQBUF: Opcode = opcode::read_write::<Buffer>(GROUP, 17);
const VIDIOC_STREAMON: Opcode = opcode::write::<i32>(GROUP, 18);
const VIDIOC_G_PARM: Opcode = opcode::read_write::<StreamParameters>(GROUP, 21);
const VIDIOC_S_PARM: Opcode = opcode::read_write::<StreamParameters>(GROUP, 22);

const CAP_VIDEO_CAPTURE: u32 = 0x1;
const CAP_VIDEO_CAPTURE_MPLANE: u32 = 0x1000;
const CAP_STREAMING: u32 = 0x0400_0000;
const CAP_DEVICE_CAPS: u32 = 0x8000_0000;
const BUF_TYPE_VIDEO_CAPTURE: u32 = 1;
const MEMORY_MMAP: u32 = 1;
const BUF_FLAG_ERROR: u32 = 0x40;
const TIMESTAMP_MASK: u32 = 0xe000;
const TIMESTAMP_MONOTONIC: u32 = 0x2000;
const CAP_TIMEPERFRAME: u32 = 0x1000;

/// VIDEO_MAJOR (k:include/media/v4l2-dev.h).
const VIDEO_MAJOR: u32 = 81;
/// Buffers that the driver is asked for: what it has while ours are copied.
const BUFFERS: u32 = 8;
/// No driver has more.
const MAX_BUFFERS: u32 = 64;
/// Formats that are looked at.
const MAX_FORMATS: u32 = 256;

#[repr(C)]
#[derive(Clone, Copy)]
struct Capability {
    driver: [u8; 16],
    card: [u8; 32],
    bus_info: [u8; 32],
    version: u32,
    capabilities: u32,
    device_caps: u32,
    reserved: [u32; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct FormatDescription {
    index: u32,
    kind: u32,
    flags: u32,
    description: [u8; 32],
    pixel_format: u32,
    media_bus_code: u32,
    reserved: [u32; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct PixelFormat {
    width: u32,
    height: u32,
    pixel_format: u32,
    field: u32,
    bytes_per_line: u32,
    size_image: u32,
    rest: [u32; 6],
}

/// The union of 200 bytes; as `struct v4l2_window` has pointers it is aligned like them.
#[repr(C)]
#[derive(Clone, Copy)]
union FormatUnion {
    pixels: PixelFormat,
    raw: [u8; 200],
    _alignment: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Format {
    kind: u32,
    format: FormatUnion,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct BuffersRequest {
    count: u32,
    kind: u32,
    memory: u32,
    capabilities: u32,
    flags: u8,
    reserved: [u8; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Buffer {
    index: u32,
    kind: u32,
    bytes_used: u32,
    flags: u32,
    field: u32,
    timestamp_s: i64,
    timestamp_us: i64,
    timecode: [u32; 4],
    sequence: u32,
    memory: u32,
    /// A union; for mapped buffers its first 32 bits are the offset.
    offset: [u8; size_of::<usize>()],
    length: u32,
    reserved: u32,
    request: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct StreamParameters {
    kind: u32,
    capability: u32,
    capture_mode: u32,
    numerator: u32,
    denominator: u32,
    rest: [u32; 46],
}

/// What is asked of a camera; what is left out stays as it is set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VideoSettings {
    /// The four letters of a format of pixels, such as `MJPG`; without it a compressed one, if there is one.
    pub fourcc: Option<[u8; 4]>,
    /// Width and height.
    pub size: Option<(u32, u32)>,
    /// Pictures a second.
    pub frames_per_s: Option<u32>,
}

/// What the camera gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VideoFormat {
    /// The four letters of the format (V4L2 fourcc).
    pub fourcc: [u8; 4],
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// The longest picture, bytes.
    pub most_bytes: u32,
    /// Pictures a second, as a fraction; `None` where the driver does not say.
    pub frames_per_s: Option<(u32, u32)>,
}

impl VideoFormat {
    /// Its format in letters: `MJPG`.
    pub fn letters(&self) -> String {
        letters(self.fourcc)
    }
}

/// The formats of pictures that are JPEG.
pub const JPEG_FORMATS: [[u8; 4]; 2] = [*b"MJPG", *b"JPEG"];

/// A picture that has been filled, and is the driver's again once it is given back.
#[derive(Clone, Copy, Debug)]
pub struct VideoPicture {
    index: u32,
    /// Length of the picture, bytes.
    pub bytes: usize,
    /// Counts pictures; where it jumps the driver had no buffer for those between.
    pub sequence: u32,
    /// When it was taken, by the monotonic clock, nanoseconds; `None` where the driver uses another.
    pub monotonic_ns: Option<u64>,
    /// The driver says that its data are wrong.
    pub is_broken: bool,
}

/// A camera that is open.
#[derive(Debug)]
pub struct VideoCamera {
    file: OwnedFd,
    buffers: Vec<Mapping>,
    format: VideoFormat,
}

fn unsupported(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, what)
}

impl VideoCamera {
    /// Opens a camera, sets what is asked of it, and has its buffers mapped. Drivers change what they cannot do: what they
    /// give is in [`VideoCamera::format`].
    ///
    /// # Errors
    /// What open(2) says; EBUSY where somebody else uses it; `Unsupported` where it is no camera, or one that gives frames in
    /// several planes only, or has no such format.
    pub fn open(path: &Path, settings: &VideoSettings) -> io::Result<Self> {
        if !cfg!(feature = "v4l2") {
            return Err(unsupported("this program was built without V4L2 (cargo build --features v4l2)".into()));
        }
        // Opening alone does something to some devices (a watchdog): nothing is opened that is no device of V4L.
        let handle = crate::open_handle(path, crate::SymlinkPolicy::Follow)?;
        let known = rustix::fs::fstat(&handle)?;
        let is_video = FileType::from_raw_mode(known.st_mode) == FileType::CharacterDevice
            && rustix::fs::major(known.st_rdev) == VIDEO_MAJOR;
        if !is_video {
            return Err(unsupported("it is not a camera of V4L2".into()));
        }
        let name = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let file = rustix::fs::open(name, OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?;
        is_camera(&file)?;
        let format = choose(&file, settings)?;
        let mut camera = Self { file, buffers: Vec::new(), format };
        camera.map()?;
        Ok(camera)
    }

    /// The format that the camera gives.
    pub fn format(&self) -> VideoFormat {
        self.format
    }

    fn map(&mut self) -> io::Result<()> {
        let mut request = BuffersRequest {
            count: BUFFERS,
            kind: BUF_TYPE_VIDEO_CAPTURE,
            memory: MEMORY_MMAP,
            ..BuffersRequest::default()
        };
        // SAFETY: the argument is a struct v4l2_requestbuffers, which the kernel fills with plain integers.
        unsafe { ioctl(&self.file, Updater::<{ VIDIOC_REQBUFS }, _>::new(&mut request)) }?;
        for index in 0..request.count.min(MAX_BUFFERS) {
            let mut buffer = self.named(index);
            // SAFETY: the argument is a struct v4l2_buffer of mapped memory, which the kernel fills with plain integers.
            unsafe { ioctl(&self.file, Updater::<{ VIDIOC_QUERYBUF }, _>::new(&mut buffer)) }?;
            let offset = u32::from_ne_bytes([buffer.offset[0], buffer.offset[1], buffer.offset[2], buffer.offset[3]]);
            self.buffers.push(Mapping::of_part(&self.file, offset.into(), buffer.length.into(), false)?);
        }
        if self.buffers.is_empty() { Err(Errno::NOMEM.into()) } else { Ok(()) }
    }

    fn named(&self, index: u32) -> Buffer {
        Buffer { index, kind: BUF_TYPE_VIDEO_CAPTURE, memory: MEMORY_MMAP, ..Buffer::default() }
    }

    fn queue(&self, index: u32) -> io::Result<()> {
        // SAFETY: the argument is a struct v4l2_buffer of mapped memory.
        Ok(unsafe { ioctl(&self.file, Updater::<{ VIDIOC_QBUF }, _>::new(&mut self.named(index))) }?)
    }

    /// Starts it: from now on it fills buffers.
    ///
    /// # Errors
    /// The driver's; ENOSPC where the bus has no room for its data.
    pub fn start(&self) -> io::Result<()> {
        (0..self.buffers.len() as u32).try_for_each(|index| self.queue(index))?;
        // SAFETY: the argument is an int.
        Ok(unsafe { ioctl(&self.file, Setter::<{ VIDIOC_STREAMON }, i32>::new(BUF_TYPE_VIDEO_CAPTURE as i32)) }?)
    }

    /// The next picture, if one comes within this time.
    ///
    /// # Errors
    /// ENODEV where the camera is gone; EIO where the driver gives up.
    pub fn next(&self, within: Duration) -> io::Result<Option<VideoPicture>> {
        let wait = rustix::time::Timespec {
            tv_sec: within.as_secs().try_into().unwrap_or(1),
            tv_nsec: within.subsec_nanos() as _,
        };
        match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&wait)) {
            Ok(0) | Err(Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(e) => return Err(e.into()),
        }
        let mut buffer = self.named(0);
        // SAFETY: the argument is a struct v4l2_buffer of mapped memory, which the kernel fills with plain integers.
        match unsafe { ioctl(&self.file, Updater::<{ VIDIOC_DQBUF }, _>::new(&mut buffer)) } {
            Ok(()) => {}
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            Err(e) => return Err(e.into()),
        }
        let length = self.buffers.get(buffer.index as usize).map_or(0, Mapping::len);
        let moment = u64::try_from(buffer.timestamp_s)
            .ok()
            .and_then(|s| s.checked_mul(1_000_000_000)?.checked_add(u64::try_from(buffer.timestamp_us).ok()? * 1000));
        Ok(Some(VideoPicture {
            index: buffer.index,
            bytes: u64::from(buffer.bytes_used).min(length) as usize,
            sequence: buffer.sequence,
            monotonic_ns: moment.filter(|_| buffer.flags & TIMESTAMP_MASK == TIMESTAMP_MONOTONIC),
            is_broken: buffer.flags & BUF_FLAG_ERROR != 0,
        }))
    }

    /// Copies a part of a picture.
    ///
    /// # Errors
    /// EIO where its memory does not answer any more.
    pub fn copy(&self, picture: &VideoPicture, from: usize, into: &mut [u8]) -> io::Result<()> {
        let buffer = self.buffers.get(picture.index as usize).ok_or(Errno::INVAL)?;
        buffer.load(from as u64, into).map_err(io::Error::from_raw_os_error)
    }

    /// Gives a picture back.
    ///
    /// # Errors
    /// ENODEV where the camera is gone.
    pub fn give_back(&self, picture: VideoPicture) -> io::Result<()> {
        self.queue(picture.index)
    }
}

fn is_camera(file: &OwnedFd) -> io::Result<()> {
    // SAFETY: the kernel fills a struct v4l2_capability with plain integers.
    let able = unsafe { ioctl(file, Getter::<{ VIDIOC_QUERYCAP }, Capability>::new()) }.map_err(|e| match e {
        Errno::NOTTY | Errno::INVAL => unsupported("it is not a camera of V4L2".into()),
        e => e.into(),
    })?;
    let own = if able.capabilities & CAP_DEVICE_CAPS != 0 { able.device_caps } else { able.capabilities };
    match (own & CAP_VIDEO_CAPTURE, own & CAP_VIDEO_CAPTURE_MPLANE) {
        (0, 0) => Err(unsupported("it takes no pictures (metadata, output, or a tuner)".into())),
        (0, _) => Err(unsupported("it gives pictures in several planes only, which are not supported".into())),
        _ if own & CAP_STREAMING == 0 => Err(unsupported("its driver maps no buffers".into())),
        _ => Ok(()),
    }
}

/// The formats of a camera, in the order in which its driver has them.
fn formats(file: &impl AsFd) -> Vec<[u8; 4]> {
    let format = |index| {
        let mut description = FormatDescription { index, kind: BUF_TYPE_VIDEO_CAPTURE, ..FormatDescription::default() };
        // SAFETY: the argument is a struct v4l2_fmtdesc, which the kernel fills with plain integers.
        unsafe { ioctl(file, Updater::<{ VIDIOC_ENUM_FMT }, _>::new(&mut description)) }.ok()?;
        Some(description.pixel_format.to_le_bytes())
    };
    (0..MAX_FORMATS).map_while(format).collect()
}

fn letters(fourcc: [u8; 4]) -> String {
    fourcc.iter().map(|b| if b.is_ascii_graphic() { *b as char } else { '?' }).collect()
}

/// Sets format and rate, as far as the driver can.
fn choose(file: &OwnedFd, settings: &VideoSettings) -> io::Result<VideoFormat> {
    let there = formats(file);
    let fourcc = match settings.fourcc {
        Some(wanted) if !there.contains(&wanted) => {
            let known: Vec<String> = there.into_iter().map(letters).collect();
            return Err(unsupported(format!("it has no format {}; it has {}", letters(wanted), known.join(", "))));
        }
        Some(wanted) => Some(wanted),
        None => JPEG_FORMATS.into_iter().find(|jpeg| there.contains(jpeg)),
    };
    let mut format = Format { kind: BUF_TYPE_VIDEO_CAPTURE, format: FormatUnion { raw: [0; 200] } };
    // SAFETY: the argument is a struct v4l2_format; of a capture's the kernel fills the variant of pixels.
    unsafe { ioctl(file, Updater::<{ VIDIOC_G_FMT }, _>::new(&mut format)) }?;
    // SAFETY: every variant is plain integers, and all 200 bytes were given a value above.
    let mut pixels = unsafe { format.format.pixels };
    pixels.pixel_format = fourcc.map_or(pixels.pixel_format, u32::from_le_bytes);
    (pixels.width, pixels.height) = settings.size.unwrap_or((pixels.width, pixels.height));
    // Their lengths follow from that.
    (pixels.bytes_per_line, pixels.size_image) = (0, 0);
    format.format.pixels = pixels;
    // SAFETY: as above.
    unsafe { ioctl(file, Updater::<{ VIDIOC_S_FMT }, _>::new(&mut format)) }?;
    // SAFETY: as above.
    let pixels = unsafe { format.format.pixels };
    let got = pixels.pixel_format.to_le_bytes();
    if settings.fourcc.is_some_and(|wanted| wanted != got) {
        return Err(unsupported(format!("it gives {} instead of what was asked for", letters(got))));
    }
    Ok(VideoFormat {
        fourcc: got,
        width: pixels.width,
        height: pixels.height,
        most_bytes: pixels.size_image,
        frames_per_s: rate(file, settings.frames_per_s),
    })
}

/// The rate, set where one is asked for; `None` where the driver has none.
fn rate(file: &OwnedFd, wanted: Option<u32>) -> Option<(u32, u32)> {
    let mut parameters = StreamParameters {
        kind: BUF_TYPE_VIDEO_CAPTURE,
        capability: 0,
        capture_mode: 0,
        numerator: 0,
        denominator: 0,
        rest: [0; 46],
    };
    // SAFETY: the argument is a struct v4l2_streamparm of a capture, which the kernel fills with plain integers.
    unsafe { ioctl(file, Updater::<{ VIDIOC_G_PARM }, _>::new(&mut parameters)) }.ok()?;
    if let Some(wanted) = wanted.filter(|_| parameters.capability & CAP_TIMEPERFRAME != 0) {
        (parameters.numerator, parameters.denominator) = (1, wanted);
        // SAFETY: as above.
        unsafe { ioctl(file, Updater::<{ VIDIOC_S_PARM }, _>::new(&mut parameters)) }.ok()?;
    }
    (parameters.numerator > 0).then_some((parameters.denominator, parameters.numerator))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_as_long_as_the_kernels() {
        // On 64-bit machines; printed there by a C program that includes videodev2.h.
        let wide = cfg!(target_pointer_width = "64");
        assert_eq!((size_of::<Capability>(), size_of::<FormatDescription>()), (104, 64));
        assert_eq!((size_of::<BuffersRequest>(), size_of::<StreamParameters>()), (20, 204));
        assert_eq!(size_of::<Format>(), if wide { 208 } else { 204 });
        assert_eq!(size_of::<Buffer>(), if wide { 88 } else { 80 });
    }

    // Workspace tests have the feature, for the program has.
    #[cfg(feature = "v4l2")]
    #[test]
    fn what_is_no_camera_says_so() {
        let settings = VideoSettings::default();
        assert_eq!(
            VideoCamera::open(Path::new("/nonexistent/video"), &settings).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        let error = VideoCamera::open(Path::new("/dev/null"), &settings).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string()),
            (io::ErrorKind::Unsupported, "it is not a camera of V4L2".into())
        );
    }
}
