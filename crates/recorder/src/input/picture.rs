//! Pictures that can be looked at, of any size in bytes: a small baseline JPEG (ITU-T T.81), with noise in application segments
//! before its tables.

/// Width and height, pixels.
const WIDTH: u16 = 64;
const HEIGHT: u16 = 48;
/// An application segment holds so many bytes, its length's two apart.
const SEGMENT_BYTES: usize = 65_533;
const APP15: u8 = 0xef;
/// Bits of a DC coefficient's difference, and the code of each category, all of one length.
const DC_CODE_BITS: u32 = 4;

/// Writes bits, the high ones first, with a zero behind each 0xff.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    held: u32,
    count: u32,
}

impl Bits {
    fn put(&mut self, value: u32, bits: u32) {
        for bit in (0..bits).rev() {
            self.held = self.held << 1 | (value >> bit & 1);
            self.count += 1;
            if self.count == 8 {
                self.bytes.push(self.held as u8);
                if self.held as u8 == 0xff {
                    self.bytes.push(0);
                }
                (self.held, self.count) = (0, 0);
            }
        }
    }

    fn end(mut self) -> Vec<u8> {
        while self.count > 0 {
            self.put(1, 1);
        }
        self.bytes
    }
}

fn segment(into: &mut Vec<u8>, marker: u8, content: &[u8]) {
    into.extend([0xff, marker]);
    into.extend((content.len() as u16 + 2).to_be_bytes());
    into.extend(content);
}

/// What follows the noise: tables, and grey bars that move by a block with each number.
pub fn tail(number: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    let mut quantisation = vec![0];
    quantisation.extend([8; 64]);
    segment(&mut bytes, 0xdb, &quantisation);
    let [h, w] = [HEIGHT, WIDTH].map(u16::to_be_bytes);
    segment(&mut bytes, 0xc0, &[8, h[0], h[1], w[0], w[1], 1, 1, 0x11, 0]);
    // DC: categories 0 to 11, each of four bits. AC: only "end of block", of one bit.
    let mut dc = vec![0x00];
    dc.extend((1..=16).map(|length| if length == DC_CODE_BITS { 12 } else { 0 }));
    dc.extend(0..12);
    segment(&mut bytes, 0xc4, &dc);
    let mut ac = vec![0x10];
    ac.extend((1..=16).map(|length| u8::from(length == 1)));
    ac.push(0x00);
    segment(&mut bytes, 0xc4, &ac);
    segment(&mut bytes, 0xda, &[1, 1, 0x00, 0, 63, 0]);
    let (columns, rows) = (u64::from(WIDTH / 8), u64::from(HEIGHT / 8));
    let mut bits = Bits::default();
    let mut before = 0i32;
    for _row in 0..rows {
        for column in 0..columns {
            let bar = (column + number) % columns;
            // Of a quantised DC coefficient a step is one grey level here.
            let level = bar as i32 * 32 - 112;
            let difference = level - before;
            before = level;
            let category = 32 - difference.unsigned_abs().leading_zeros();
            bits.put(category, DC_CODE_BITS);
            let value = if difference < 0 { difference - 1 } else { difference };
            bits.put(value as u32, category);
            bits.put(0, 1);
        }
    }
    bytes.extend(bits.end());
    bytes.extend([0xff, 0xd9]);
    bytes
}

/// A picture of exactly `into.len()` bytes, if that is enough for one; `noise` fills what is not the picture.
pub fn make(into: &mut [u8], number: u64, mut noise: impl FnMut(&mut [u8])) {
    let tail = tail(number);
    // What is left over, after whole segments, must be long enough for one, or nothing.
    let Some(mut room) = into.len().checked_sub(2 + tail.len()).filter(|room| *room == 0 || *room >= 4) else {
        return noise(into);
    };
    into[..2].copy_from_slice(&[0xff, 0xd8]);
    let mut at = 2;
    while room > 0 {
        let mut take = room.min(SEGMENT_BYTES + 4);
        if (1..4).contains(&(room - take)) {
            take -= 4;
        }
        into[at..at + 2].copy_from_slice(&[0xff, APP15]);
        into[at + 2..at + 4].copy_from_slice(&((take - 2) as u16).to_be_bytes());
        noise(&mut into[at + 4..at + take]);
        (at, room) = (at + take, room - take);
    }
    into[at..].copy_from_slice(&tail);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::jpeg::{JpegParser, PictureBytes};

    #[test]
    fn pictures_of_any_size_end_where_they_end() {
        for extra in [0, 4, 5, 100, 65_537, 65_538, 65_541, 131_074, 131_075, 1_000_000] {
            let mut bytes = vec![0; 2 + tail(3).len() + extra];
            make(&mut bytes, 3, |noise| noise.fill(0xff));
            assert_eq!(JpegParser::default().parse(&bytes), PictureBytes::End(bytes.len()), "{extra}");
        }
    }
}
