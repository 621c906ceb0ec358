//! Where a JPEG picture ends, by its segments (ITU-T T.81, annex B): a thumbnail within a segment has markers of its own, which
//! are no markers of the picture.

/// How far into a picture a stream of bytes is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ParseState {
    /// Before its first byte.
    #[default]
    Start,
    /// Its first byte was there.
    StartMarker,
    /// Where a marker has to be.
    Marker,
    /// The first byte of one was there.
    MarkerCode,
    /// Before the length of a segment.
    Length { scan: bool },
    /// Its first byte was there.
    LengthLow { scan: bool, high: u8 },
    /// Within a segment.
    Segment { scan: bool, left: u16 },
    /// Within coded data.
    Scan,
    /// The first byte of what may be a marker was there.
    ScanMarker,
}

/// What some bytes are to a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureBytes {
    /// All of them belong to it, and more will.
    More,
    /// It ends behind so many of them.
    End(usize),
    /// What came up to there is no picture, or not all of one. The next may begin there.
    Broken(usize),
}

/// Follows a picture through bytes as they come.
#[derive(Clone, Copy, Debug, Default)]
pub struct JpegParser {
    at: ParseState,
}

const SOI: u8 = 0xd8;
const EOI: u8 = 0xd9;
const SOS: u8 = 0xda;
const TEM: u8 = 0x01;
const RESTARTS: std::ops::RangeInclusive<u8> = 0xd0..=0xd7;

impl JpegParser {
    /// Goes on through `bytes`. After an end or a break it begins anew.
    pub fn parse(&mut self, bytes: &[u8]) -> PictureBytes {
        let mut i = 0;
        while i < bytes.len() {
            let byte = bytes[i];
            let next = match self.at {
                ParseState::Start if byte == 0xff => ParseState::StartMarker,
                ParseState::StartMarker if byte == SOI => ParseState::Marker,
                ParseState::StartMarker if byte == 0xff => ParseState::StartMarker,
                ParseState::Start | ParseState::StartMarker => return self.broken(i + 1),
                ParseState::Marker if byte == 0xff => ParseState::MarkerCode,
                ParseState::Marker => return self.broken(i),
                ParseState::MarkerCode => match byte {
                    // Fill bytes may stand before a code.
                    0xff => ParseState::MarkerCode,
                    EOI => return self.finish_picture(i + 1),
                    SOS => ParseState::Length { scan: true },
                    // A picture begins within the picture: this one was cut off.
                    SOI => return self.cut_off(i + 1),
                    0 => return self.broken(i),
                    TEM => ParseState::Marker,
                    _ if RESTARTS.contains(&byte) => ParseState::Marker,
                    _ => ParseState::Length { scan: false },
                },
                ParseState::Length { scan } => ParseState::LengthLow { scan, high: byte },
                ParseState::LengthLow { scan, high } => match u16::from_be_bytes([high, byte]) {
                    0 | 1 => return self.broken(i),
                    2 => after(scan),
                    length => ParseState::Segment { scan, left: length - 2 },
                },
                ParseState::Segment { scan, left } => {
                    let count = usize::from(left).min(bytes.len() - i);
                    let left = left - count as u16;
                    i += count;
                    self.at = if left == 0 { after(scan) } else { ParseState::Segment { scan, left } };
                    continue;
                }
                ParseState::Scan => {
                    // Coded data are long: whatever is no marker is passed over at once.
                    match bytes[i..].iter().position(|b| *b == 0xff) {
                        Some(distance) => {
                            i += distance + 1;
                            self.at = ParseState::ScanMarker;
                        }
                        None => i = bytes.len(),
                    }
                    continue;
                }
                ParseState::ScanMarker => match byte {
                    0 => ParseState::Scan,
                    0xff => ParseState::ScanMarker,
                    _ if RESTARTS.contains(&byte) => ParseState::Scan,
                    EOI => return self.finish_picture(i + 1),
                    SOI => return self.cut_off(i + 1),
                    SOS => ParseState::Length { scan: true },
                    _ => ParseState::Length { scan: false },
                },
            };
            self.at = next;
            i += 1;
        }
        PictureBytes::More
    }

    fn finish_picture(&mut self, behind: usize) -> PictureBytes {
        self.at = ParseState::Start;
        PictureBytes::End(behind)
    }

    fn broken(&mut self, behind: usize) -> PictureBytes {
        self.at = ParseState::Start;
        PictureBytes::Broken(behind.max(1))
    }

    /// The marker that begins the next picture has been seen.
    fn cut_off(&mut self, behind: usize) -> PictureBytes {
        self.at = if behind >= 2 { ParseState::Start } else { ParseState::StartMarker };
        PictureBytes::Broken(behind.saturating_sub(2))
    }
}

fn after(scan: bool) -> ParseState {
    if scan { ParseState::Scan } else { ParseState::Marker }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture as small as its segments allow, with a thumbnail in its Exif data.
    fn picture() -> Vec<u8> {
        let thumbnail = [0xff, 0xd8, 0xff, 0xda, 0, 2, 7, 0xff, 0xd9];
        let mut bytes = vec![0xff, 0xd8, 0xff, 0xe1, 0, 2 + thumbnail.len() as u8];
        bytes.extend(thumbnail);
        bytes.extend([0xff, 0xdb, 0, 4, 1, 2, 0xff, 0xff, 0xda, 0, 3, 9]);
        bytes.extend([1, 2, 0xff, 0, 3, 0xff, 0xd0, 4, 0xff, 0xc4, 0, 2, 0xff, 0xda, 0, 2, 5, 0xff, 0xd9]);
        bytes
    }

    fn pieces(bytes: &[u8], size: usize) -> Vec<(bool, Vec<u8>)> {
        let mut walk = JpegParser::default();
        let mut found = Vec::new();
        let mut frame = Vec::new();
        let mut rest = bytes.to_vec();
        while !rest.is_empty() {
            let chunk: Vec<u8> = rest[..size.min(rest.len())].to_vec();
            let (whole, count) = match walk.parse(&chunk) {
                PictureBytes::More => (None, chunk.len()),
                PictureBytes::End(n) => (Some(true), n),
                PictureBytes::Broken(n) => (Some(false), n),
            };
            frame.extend(rest.drain(..count));
            if let Some(whole) = whole {
                found.push((whole, std::mem::take(&mut frame)));
            }
        }
        found
    }

    #[test]
    fn pictures_end_where_their_segments_say_however_they_come() {
        let two = [picture(), picture()].concat();
        for size in 1..=two.len() {
            assert_eq!(pieces(&two, size), [(true, picture()), (true, picture())], "in pieces of {size}");
        }
    }

    /// What lies behind a cut may be taken for the content of a segment, which is no longer than 64 KiB.
    #[test]
    fn what_is_broken_or_cut_off_takes_little_with_it() {
        let whole =
            |bytes: &[u8], size| pieces(bytes, size).into_iter().filter(|p| p.0).map(|p| p.1).collect::<Vec<_>>();
        let many = picture().repeat(1600);
        for cut in 2..picture().len() - 1 {
            let stream = [&picture()[..cut], &many[..]].concat();
            let found = whole(&stream, 1000);
            assert!(found.len() > 100 && found.iter().rev().take(100).all(|p| *p == picture()), "cut at {cut}");
        }
        assert_eq!(whole(&[&b"noise"[..], &picture()].concat(), 1000), [picture()]);
        assert!(whole(&[0xff; 100], 7).is_empty());
    }
}
