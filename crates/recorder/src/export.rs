//! Pictures as a film that players take: Matroska (RFC 9559) with one track of motion JPEG, its times those of arrival or capture.
//!
//! Written as it comes: lengths that are not known yet are said to be unknown, so that nothing is written twice and a pipe will do. How
//! long it is and its rate of pictures stand before the first of them, and have to be known ([`VideoTimes`]).

use std::collections::BTreeMap;
use std::io::{self, Write};

/// Times are in milliseconds.
const NS_PER_TICK: u64 = 1_000_000;
/// A block's time is told from its cluster's in 16 bits with a sign.
const MAX_TICKS_IN_CLUSTER: u64 = 30_000;
/// Clusters are that long at most, so that a player can begin somewhere.
const CLUSTER_BYTES: usize = 4 << 20;

/// Intervals between pictures are told apart by so much.
const INTERVAL_STEP_NS: u64 = 100_000;
/// A film of a single picture shows it for so long.
const ALONE_NS: u64 = 1_000_000_000;

/// The times of the pictures of a film, gone through before it is written.
#[derive(Clone, Debug, Default)]
pub struct VideoTimes {
    pictures: u64,
    first_ns: u64,
    last_ns: u64,
    /// How often pictures came so long one after the other.
    intervals: BTreeMap<u64, u64>,
}

impl VideoTimes {
    /// One more picture, of this moment; in their order.
    pub fn add(&mut self, at_ns: u64) {
        if self.pictures == 0 {
            (self.first_ns, self.last_ns) = (at_ns, at_ns);
        } else {
            let interval = at_ns.saturating_sub(self.last_ns) / INTERVAL_STEP_NS;
            *self.intervals.entry(interval).or_default() += 1;
        }
        self.pictures += 1;
        self.last_ns = self.last_ns.max(at_ns);
    }

    /// The moment of the last; `None` without any.
    pub fn last_ns(&self) -> Option<u64> {
        (self.pictures > 0).then_some(self.last_ns)
    }

    /// How long each is shown: the mean of what is about as long as the median, so that gaps are none of the rate; of pictures that
    /// come in bursts the mean of all.
    pub fn picture_ns(&self) -> u64 {
        let count = self.pictures.saturating_sub(1);
        let mean = (self.last_ns - self.first_ns).checked_div(count).filter(|ns| *ns > 0);
        let Some(mean) = mean else { return ALONE_NS };
        let mut below = 0;
        let median = self.intervals.iter().find(|(_, n)| {
            below += **n;
            2 * below >= count
        });
        let median = median.map_or(0, |(interval, _)| *interval);
        let usual = self.intervals.range(median / 2..=median + median / 2);
        let (n, sum) = usual.fold((0, 0), |(n, sum), (interval, times)| (n + times, sum + interval * times));
        let usual = (sum * INTERVAL_STEP_NS).checked_div(n).unwrap_or(0).saturating_add(INTERVAL_STEP_NS / 2);
        let long: u64 = self.intervals.range(median + median / 2 + 1..).map(|(_, times)| *times).sum();
        // Few long ones are gaps; many are how they come.
        if long * 16 <= count { usual.min(mean) } else { mean }
    }

    /// How long all of it is.
    pub fn duration_ns(&self) -> u64 {
        if self.pictures == 0 { 0 } else { (self.last_ns - self.first_ns).saturating_add(self.picture_ns()) }
    }
}

/// Why a picture cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum MatroskaError {
    /// The picture has no header with its size; its sequence number.
    #[error("frame {0} is not a JPEG picture with a size")]
    NoPicture(u64),
    /// What it is written to failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A film that is being written.
pub struct Matroska<W> {
    into: W,
    times: VideoTimes,
    /// The time of the first picture, and of the cluster, ticks.
    start: Option<u64>,
    cluster: Option<u64>,
    cluster_bytes: usize,
    pictures: u64,
}

/// An element: its id as it is written, its length, its content.
fn element(id: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = id_bytes(id);
    bytes.extend(length_bytes(content.len() as u64));
    bytes.extend_from_slice(content);
    bytes
}

fn id_bytes(id: u32) -> Vec<u8> {
    id.to_be_bytes().into_iter().skip_while(|b| *b == 0).collect()
}

/// A length in eight bytes.
fn length_bytes(length: u64) -> [u8; 8] {
    (length | 1 << 56).to_be_bytes()
}

/// A length that is not known.
const UNKNOWN: [u8; 8] = [0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];

fn number(id: u32, value: u64) -> Vec<u8> {
    element(id, &value.to_be_bytes())
}

impl<W: Write> Matroska<W> {
    /// Into this, of pictures that have these times.
    pub fn new(into: W, times: VideoTimes) -> Self {
        Self { into, times, start: None, cluster: None, cluster_bytes: 0, pictures: 0 }
    }

    /// Pictures that were written.
    pub fn pictures(&self) -> u64 {
        self.pictures
    }

    /// One more picture, of this moment, nanoseconds. The first one says how large all are.
    ///
    /// # Errors
    /// It is no picture, or cannot be written.
    pub fn picture(&mut self, at_ns: u64, jpeg: &[u8]) -> Result<(), MatroskaError> {
        let start = match self.start {
            Some(start) => start,
            None => {
                let (width, height) = size(jpeg).ok_or(MatroskaError::NoPicture(self.pictures))?;
                self.head(width, height)?;
                *self.start.insert(at_ns / NS_PER_TICK)
            }
        };
        // A clock that stepped back shows the picture at the moment of the one before.
        let tick = (at_ns / NS_PER_TICK).saturating_sub(start).max(self.cluster.unwrap_or(0));
        let cluster = match self.cluster {
            Some(cluster) if tick - cluster < MAX_TICKS_IN_CLUSTER && self.cluster_bytes < CLUSTER_BYTES => cluster,
            _ => {
                self.into.write_all(&id_bytes(0x1f43_b675))?;
                self.into.write_all(&UNKNOWN)?;
                self.into.write_all(&number(0xe7, tick))?;
                self.cluster_bytes = 0;
                *self.cluster.insert(tick)
            }
        };
        self.into.write_all(&id_bytes(0xa3))?;
        self.into.write_all(&length_bytes(jpeg.len() as u64 + 4))?;
        let [high, low] = ((tick - cluster) as u16).to_be_bytes();
        // Track 1, its time, a key frame.
        self.into.write_all(&[0x81, high, low, 0x80])?;
        self.into.write_all(jpeg)?;
        self.cluster_bytes += jpeg.len();
        self.pictures += 1;
        Ok(())
    }

    fn head(&mut self, width: u16, height: u16) -> io::Result<()> {
        let text = |id, text: &str| element(id, text.as_bytes());
        let ebml = [
            number(0x4286, 1),
            number(0x42f7, 1),
            number(0x42f2, 4),
            number(0x42f3, 8),
            text(0x4282, "matroska"),
            number(0x4287, 4),
            number(0x4285, 2),
        ]
        .concat();
        let ticks = self.times.duration_ns() as f64 / NS_PER_TICK as f64;
        let info = [
            number(0x002a_d7b1, NS_PER_TICK),
            element(0x4489, &ticks.to_be_bytes()),
            text(0x4d80, "narrows"),
            text(0x5741, "narrows"),
        ]
        .concat();
        let video = [number(0xb0, width.into()), number(0xba, height.into())].concat();
        let track = [
            number(0xd7, 1),
            number(0x73c5, 1),
            number(0x83, 1),
            number(0x9c, 0),
            // What a picture lasts: players take their rate from it.
            number(0x0023_e383, self.times.picture_ns()),
            text(0x86, "V_MJPEG"),
            element(0xe0, &video),
        ]
        .concat();
        self.into.write_all(&element(0x1a45_dfa3, &ebml))?;
        self.into.write_all(&id_bytes(0x1853_8067))?;
        self.into.write_all(&UNKNOWN)?;
        self.into.write_all(&element(0x1549_a966, &info))?;
        self.into.write_all(&element(0x1654_ae6b, &element(0xae, &track)))
    }

    /// All of it is written.
    ///
    /// # Errors
    /// It cannot be.
    pub fn finish(mut self) -> io::Result<()> {
        self.into.flush()
    }
}

/// Width and height of a picture, by its frame header (ITU-T T.81, B.2.2).
fn size(jpeg: &[u8]) -> Option<(u16, u16)> {
    let mut at = 2;
    loop {
        let [0xff, code] = *jpeg.get(at..at + 2)? else { return None };
        if code == 0xff {
            at += 1;
            continue;
        }
        let length = u16::from_be_bytes(jpeg.get(at + 2..at + 4)?.try_into().ok()?);
        if matches!(code, 0xc0..=0xcf) && !matches!(code, 0xc4 | 0xc8 | 0xcc) {
            let field = |from: usize| Some(u16::from_be_bytes(jpeg.get(from..from + 2)?.try_into().ok()?));
            return Some((field(at + 7)?, field(at + 5)?));
        }
        if code == 0xda {
            return None;
        }
        at += 2 + usize::from(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Generated;

    fn times(moments_ms: impl IntoIterator<Item = u64>) -> VideoTimes {
        let mut times = VideoTimes::default();
        moments_ms.into_iter().for_each(|ms| times.add(ms * 1_000_000));
        times
    }

    #[test]
    fn the_rate_is_that_of_the_camera_whatever_was_lost_and_how_it_came() {
        let is = |times: &VideoTimes, ms: f64| {
            let picture = times.picture_ns() as f64 / 1e6;
            assert!((picture / ms - 1.0).abs() < 0.01, "{picture} ms, and not {ms}");
        };
        is(&times((0..100).map(|n| 7000 + n * 40)), 40.0);
        // A quarter of an hour is missing.
        let gap = times((0..100).map(|n| n * 40 + if n >= 50 { 900_000 } else { 0 }));
        is(&gap, 40.0);
        assert_eq!(gap.duration_ns() / 1_000_000_000, 904);
        // Jitter of a quarter, as arrivals have.
        is(&times((0..1001).map(|n| n * 40 + [0, 10, 3, 7][n as usize % 4])), 40.0);
        is(&times((0..400).map(|n| n / 4 * 160)), 160.0 * 99.0 / 399.0);
        is(&times([5]), 1000.0);
        is(&times([5, 5, 5]), 1000.0);
        // A clock that stepped back.
        assert_eq!(times([100, 140, 0, 40]).duration_ns() / 1_000_000, 40 + 13);
        assert_eq!((VideoTimes::default().duration_ns(), VideoTimes::default().last_ns()), (0, None));
    }

    #[test]
    fn a_film_says_its_size_and_every_picture_its_moment() {
        let camera = Generated::parse("1x20KB@25", 1).unwrap();
        let mut bytes = Vec::new();
        let mut times = VideoTimes::default();
        (0..3).for_each(|n| times.add(5_000_000_000 + n * 40_000_000));
        let mut film = Matroska::new(&mut bytes, times);
        let mut jpeg = vec![0; 20_000];
        for n in 0..3 {
            camera.make(0, n, &mut jpeg);
            film.picture(5_000_000_000 + n * 40_000_000, &jpeg).unwrap();
        }
        assert!(film.picture(0, &jpeg).is_ok(), "a clock that stepped back");
        assert_eq!(film.pictures(), 4);
        film.finish().unwrap();
        let find = |needle: &[u8]| bytes.windows(needle.len()).position(|w| w == needle);
        assert!(bytes.starts_with(&[0x1a, 0x45, 0xdf, 0xa3]) && find(b"V_MJPEG").is_some());
        let duration = [&[0x44, 0x89, 1, 0, 0, 0, 0, 0, 0, 8][..], &120f64.to_be_bytes()].concat();
        let picture = [&[0x23, 0xe3, 0x83, 1, 0, 0, 0, 0, 0, 0, 8][..], &40_000_000u64.to_be_bytes()].concat();
        assert!(find(&duration).is_some() && find(&picture).is_some());
        assert_eq!(size(&jpeg), Some((64, 48)));
        assert!(find(&[0x81, 0, 40, 0x80, 0xff, 0xd8]).is_some() && find(&[0x81, 0, 80, 0x80, 0xff, 0xd8]).is_some());
        let none = Matroska::new(Vec::new(), VideoTimes::default()).picture(0, b"no picture");
        assert!(matches!(none, Err(MatroskaError::NoPicture(0))));
        assert_eq!([size(&[0xff, 0xd8, 0xff, 0xda, 0, 2]), size(&[]), size(&[0xff; 9])], [None; 3]);
    }
}
