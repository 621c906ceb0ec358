//! Pictures as a film that players take: Matroska (RFC 9559) with one track of motion JPEG, its times those of arrival or capture.
//!
//! Written as it comes: lengths that are not known yet are said to be unknown, so that nothing is written twice and a pipe will do.

use std::io::{self, Write};

/// Times are in milliseconds.
const NS_PER_TICK: u64 = 1_000_000;
/// A block's time is told from its cluster's in 16 bits with a sign.
const MOST_TICKS_IN_CLUSTER: u64 = 30_000;
/// Clusters are that long at most, so that a player can begin somewhere.
const CLUSTER_BYTES: usize = 4 << 20;

/// Why a picture cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum MatroskaError {
    /// It says no size.
    #[error("frame {0} is no JPEG picture with a size")]
    NoPicture(u64),
    /// What it is written to failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A film that is being written.
pub struct Matroska<W> {
    into: W,
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
    /// Into this.
    pub fn new(into: W) -> Self {
        Self { into, start: None, cluster: None, cluster_bytes: 0, pictures: 0 }
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
            Some(cluster) if tick - cluster < MOST_TICKS_IN_CLUSTER && self.cluster_bytes < CLUSTER_BYTES => cluster,
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
        let info = [number(0x002a_d7b1, NS_PER_TICK), text(0x4d80, "narrows"), text(0x5741, "narrows")].concat();
        let video = [number(0xb0, width.into()), number(0xba, height.into())].concat();
        let track = [
            number(0xd7, 1),
            number(0x73c5, 1),
            number(0x83, 1),
            number(0x9c, 0),
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

    #[test]
    fn a_film_says_its_size_and_every_picture_its_moment() {
        let camera = Generated::parse("1x20KB@25", 1).unwrap();
        let mut bytes = Vec::new();
        let mut film = Matroska::new(&mut bytes);
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
        assert_eq!(size(&jpeg), Some((64, 48)));
        assert!(find(&[0x81, 0, 40, 0x80, 0xff, 0xd8]).is_some() && find(&[0x81, 0, 80, 0x80, 0xff, 0xd8]).is_some());
        let none = Matroska::new(Vec::new()).picture(0, b"no picture");
        assert!(matches!(none, Err(MatroskaError::NoPicture(0))));
        assert_eq!([size(&[0xff, 0xd8, 0xff, 0xda, 0, 2]), size(&[]), size(&[0xff; 9])], [None; 3]);
    }
}
